"""Keys, records and values."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self, SupportsIndex, TypeAlias, final, overload

from typing_extensions import Buffer

_UserKey: TypeAlias = int | str | bytes | bytearray | memoryview

@final
class Key:
    """Names a record: `Key(namespace, set, key)`.

    `namespace`: 1 to 31 bytes. `set`: at most 63 bytes; `None` and `""` are the null set. `key`: an int (64 bits; one
    without a sign is the signed one with the same bits), a str, or bytes (or another bytes-like object); numpy integers
    are ints. The digest, by which the server knows the record, is computed once, here. Keys are immutable and hashable,
    and equal when namespace and digest are.

    Raises `TypeError` for a key of another type (`bool` is none), `OverflowError` for an int beyond 64 bits, and
    `InvalidArgumentError` (a `ValueError`) for an empty or too long namespace, a too long set name, or a str that is
    not UTF-8.
    """

    def __new__(cls, namespace: str, set: str | None, key: _UserKey) -> Self: ...
    @staticmethod
    def from_int_user_key(namespace: str, set: str | None, key: int) -> Key:
        """The key whose user key is the decimal text of `key`, as a **str**: `Key(namespace, set, str(key))`, only
        faster.

        `key`: an int (64 bits, signed). Raises as `Key` does.
        """
    @staticmethod
    def key_with_digest(namespace: str, set: str | None, digest: str | bytes | bytearray) -> Key:
        """The key of a record of which only the digest is known: 20 bytes (or another bytes-like object), or 40 hex
        digits as a str.

        Raises `InvalidArgumentError` (a `ValueError`) for another length or text that is not hex, `TypeError` for
        another type.
        """
    @property
    def namespace(self) -> str:
        """The namespace."""
    @property
    def set_name(self) -> str:
        """The set, `""` for the null set."""
    @property
    def value(self) -> int | str | bytes | None:
        """The user key: int, str or bytes; `None` if only the digest is known."""
    @property
    def user_key(self) -> int | str | bytes | None:
        """The user key: the same as `value`."""
    @property
    def digest(self) -> str:
        """The digest as 40 hex digits."""
    @property
    def digest_bytes(self) -> bytes:
        """The digest as 20 bytes."""
    @property
    def partition_id(self) -> int:
        """The partition that holds the record, 0 to 4095."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Key: ...
    def __deepcopy__(self, _memo: Any) -> Key: ...

@final
class Record:
    """A record as it was read: its bins, its generation, and when it expires.

    Bins are decoded when they are looked at for the first time; an answer whose bins are malformed raises then. Records
    are equal when key, bins, generation and expiration are. Not hashable, as the bins are a dict.
    """

    @property
    def key(self) -> Key | None:
        """The key that the record was asked for with."""
    @property
    def bins(self) -> dict[str, Any]:
        """The bins, by name: always the same dict. Bins that are not there are missing; in answers to `operate` they
        are `None`, and several results of one bin are a list.
        """
    def bin(self, name: str) -> Any:
        """The value of one bin, `None` if it is not there. Until `bins` has been looked at, only this bin is
        decoded.
        """
    @property
    def generation(self) -> int:
        """How often the record has been written."""
    @property
    def expiration(self) -> int | None:
        """When the record expires, in seconds since 2010-01-01 00:00:00 UTC; `None`: never."""
    @property
    def ttl(self) -> int | None:
        """Seconds until the record expires, by the clock of this machine; `None`: never. At least 1: the record was
        there when it was read, whatever the clocks say.
        """
    @property
    def results(self) -> list[Any] | None:
        """The results of an `operate`, in order, as the server answers: `None` for an operation on a bin that has
        nothing to say; a touch of the record is not answered for. `None` for other calls.
        """
    def operation_result(self, i: int) -> Any:
        """The `i`-th of `results`, from 0; `None` if there is none."""
    def __eq__(self, other: object, /) -> bool: ...
    @staticmethod
    def _restore(key: Key | None, body: bytes, operate: bool, bins: dict[str, Any] | None, /) -> Record: ...

@final
class FastRng:
    """A random number generator for benchmarks: xoshiro256++. A whole number costs about a third of `random.randrange`.
    Not for secrets.

    `FastRng(seed)`: the same seed (0 to 2**64 - 1) gives the same numbers; `FastRng()`: a seed of its own. May be
    shared by threads, but one for each is faster.
    """

    def __new__(cls, seed: int | None = None) -> Self: ...
    def next_u64(self) -> int:
        """A random integer from 0 to 2**64 - 1."""
    def random(self) -> float:
        """A random float, at least 0 and below 1."""
    def gen_below(self, max: int) -> int:
        """A random integer from 0 to `max - 1`. Raises `ValueError` if `max` is 0."""
    def randint(self, lo: int, hi: int) -> int:
        """A random integer from `lo` to `hi`, both included (64 bits, signed). Raises `ValueError` if `lo > hi`."""
    def randrange(self, start: int, stop: int | None = None) -> int:
        """A random integer from `start` to `stop - 1` (64 bits, signed); `randrange(n)`: from 0 to `n - 1`. Raises
        `ValueError` if there is none.
        """

@final
class GeoJSON:
    """A GeoJSON value: `GeoJSON('{"type": "Point", "coordinates": [1, 2]}')`, or from a dict with the same in it.

    Holds the text as it is; the server checks it. It is equal to its text, and hashed like it: do not set `value` while
    it is in a set or a key of a dict. Raises `TypeError` for what is no str, dict or `GeoJSON`, and for a dict that is
    no JSON.
    """

    def __new__(cls, v: str | dict[str, Any] | GeoJSON) -> Self: ...
    @property
    def value(self) -> str:
        """The text. It can be set, to whatever the constructor takes."""
    @value.setter
    def value(self, value: str | dict[str, Any] | GeoJSON) -> None: ...
    def as_string(self) -> str:
        """The value as `repr` shows it."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[str]: ...

@final
class HLL:
    """A HyperLogLog value, as the server made it: `HLL(bytes)`.

    Takes bytes, another bytes-like object, or a sequence of integers from 0 to 255. It is equal to bytes, and to
    sequences of integers, with the same in them, and hashed like bytes: do not set `value` while it is in a set or a
    key of a dict.
    """

    def __new__(cls, v: bytes | bytearray | memoryview | Sequence[int] | HLL) -> Self: ...
    @property
    def value(self) -> bytes:
        """The bytes. They can be set, to whatever the constructor takes."""
    @value.setter
    def value(self, value: bytes | bytearray | memoryview | Sequence[int] | HLL) -> None: ...
    def as_string(self) -> str:
        """The value as `repr` shows it."""
    def __len__(self) -> int: ...
    def __bytes__(self) -> bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[bytes]: ...

@final
class UnknownValue:
    """A value of a particle type that this client does not know: `UnknownValue(particle_type, data)`.

    Comes in answers as it was stored, and can be written back as a whole bin.
    """

    def __new__(cls, particle_type: int, data: bytes | bytearray | memoryview, /) -> Self: ...
    @property
    def particle_type(self) -> int:
        """The particle type, 0 to 255."""
    @property
    def data(self) -> bytes:
        """The bytes."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[int, bytes]: ...

@final
class SpecialValue:
    """Bounds in arguments of collection operations: NULL (nil), INFINITY (larger than everything), WILDCARD (any
    value).
    """

    NULL: ClassVar[SpecialValue]
    INFINITY: ClassVar[SpecialValue]
    WILDCARD: ClassVar[SpecialValue]
    def __int__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

class SortedMap(dict[Any, Any]):
    """A dict that is stored as a key-ordered map: `SortedMap({'a': 1})`.

    The server searches such a map by halving, where it walks an unordered one. The order is part of the stored value
    and stays until the whole map is written anew. Key-ordered maps come back as this class, so that reading and writing
    back changes nothing. Iteration is in the order of insertion; what comes from the server is sorted.
    """

class Blob(bytearray):
    """Bytes under another name, for code that has them so: `Blob(b"ab")`, `Blob([97, 98])`.

    A bytearray whose slices and sums are `Blob`s; bins with bytes come back as bytes. It is equal to bytes-like objects
    and to lists and tuples of ints with the same in them, and hashed like bytes: do not change it while it is in a set
    or a key of a dict. `value`: the bytes, which can be set. Raises `TypeError` for what are no bytes, `ValueError` for
    ints that are none.
    """

    def __init__(self, v: Iterable[SupportsIndex] | bytes | bytearray | memoryview) -> None: ...
    @property
    def value(self) -> bytes:
        """The bytes."""
    @value.setter
    def value(self, value: Iterable[SupportsIndex] | bytes | bytearray | memoryview) -> None: ...
    def as_string(self) -> str:
        """The bytes as ints, as text for people."""
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> int: ...
    @overload
    def __getitem__(self, index: slice, /) -> Blob: ...
    def __add__(self, other: Buffer, /) -> Blob: ...
    def __hash__(self) -> int: ...  # type: ignore[override]

class List(list[Any]):
    """A list under another name, for code that has it so: `List([1, 2])`.

    Bins with lists come back as lists. `value`: the items as a plain list, which can be set. Raises `TypeError` for
    what is no sequence.
    """

    def __init__(self, v: Iterable[Any]) -> None: ...
    @property
    def value(self) -> list[Any]:
        """The items as a plain list."""
    @value.setter
    def value(self, value: Iterable[Any]) -> None: ...
    def as_string(self) -> str:
        """What is in it, as text for people."""

class Map(dict[Any, Any]):
    """A dict under another name, for code that has it so: `Map({"a": 1})`. It is stored as an unordered map.

    Bins with maps come back as dicts. `value`: the pairs as a plain dict, which can be set. Raises `TypeError` for what
    is no mapping.
    """

    def __init__(self, v: Mapping[Any, Any]) -> None: ...
    @property
    def value(self) -> dict[Any, Any]:
        """The pairs as a plain dict."""
    @value.setter
    def value(self, value: Mapping[Any, Any]) -> None: ...
    def as_string(self) -> str:
        """What is in it, as text for people."""

def geojson(geo_str: str | dict[str, Any] | GeoJSON) -> GeoJSON:
    """A GeoJSON value, from its text, from a dict, or from two numbers: `geojson("-122.0, 37.5")` is the point with
    this longitude and latitude, in degrees.

    Raises `InvalidArgumentError` (a `ValueError`) for text that is neither two numbers nor JSON with a `"type"`,
    `TypeError` for another type.
    """

def null() -> None:
    """The value of a bin that is not there: `None`."""
