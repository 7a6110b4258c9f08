"""Keys, records and values."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self, SupportsIndex, TypeAlias, final, overload

from typing_extensions import Buffer

_UserKey: TypeAlias = int | str | bytes | bytearray | memoryview

@final
class Key:
    """Identifies a record: `Key(namespace, set, key)`.

    `namespace`: 1 to 31 bytes. `set`: at most 63 bytes; `None` and `""` are the null set. `key`: an int (64 bits; an
    unsigned one is stored as the signed one with the same bits), a str, or bytes (or another bytes-like object); numpy
    integers are ints. The digest, by which the server identifies the record, is computed once, here. Keys are immutable
    and hashable; two keys are equal if their namespaces and digests are.

    Raises `TypeError` for a key of another type (including `bool`), `OverflowError` for an int of more than 64 bits,
    and `InvalidArgumentError` (a `ValueError`) if the namespace is empty or too long, the set name is too long, or a
    str cannot be encoded as UTF-8.
    """

    def __new__(cls, namespace: str, set: str | None, key: _UserKey) -> Self: ...
    @property
    def namespace(self) -> str:
        """The namespace."""
    @property
    def set_name(self) -> str:
        """The set; `""` for the null set."""
    @property
    def value(self) -> int | str | bytes | None:
        """The user key: int, str or bytes; `None` if only the digest is known."""
    @staticmethod
    def from_int_user_key(namespace: str, set: str | None, key: int) -> Key:
        """The key whose user key is the decimal digits of `key` as a **str**: the same as `Key(namespace, set,
        str(key))`, but faster.

        `key`: an int (64 bits, signed). Raises what `Key` raises.
        """
    @staticmethod
    def key_with_digest(namespace: str, set: str | None, digest: str | bytes | bytearray) -> Key:
        """The key of a record whose digest alone is known: 20 bytes (or another bytes-like object), or 40 hex digits as
        a str.

        Raises `InvalidArgumentError` (a `ValueError`) for any other length or text that is not hex, `TypeError` for any
        other type.
        """
    @property
    def digest_bytes(self) -> bytes:
        """The digest as 20 bytes."""
    @property
    def digest(self) -> str:
        """The digest as 40 hex digits."""
    @property
    def user_key(self) -> int | str | bytes | None:
        """The user key: the same as `value`."""
    @property
    def partition_id(self) -> int:
        """The partition that holds the record, 0 to 4095."""
    def __copy__(self) -> Key: ...
    def __deepcopy__(self, _memo: Any) -> Key: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Record:
    """A record that was read: its bins, its generation, and when it expires.

    Bins are decoded on first access; if they are malformed, that access raises. Two records are equal if their keys,
    bins, generations and expirations are. Records are not hashable, because their bins are a dict.
    """

    @property
    def key(self) -> Key | None:
        """The key that was used to read the record."""
    @property
    def bins(self) -> dict[str, Any]:
        """The bins by name, always the same dict. It has no entry for a missing bin. In results of `operate`, a
        missing bin is `None`, and several results for one bin are a list.
        """
    def bin(self, name: str) -> Any:
        """The value of one bin; `None` if the record does not have it. Only this bin is decoded, unless `bins` was
        accessed before.
        """
    @property
    def generation(self) -> int:
        """How often the record has been written."""
    @property
    def expiration(self) -> int | None:
        """When the record expires, in seconds since 2010-01-01 00:00:00 UTC; `None` if never."""
    @property
    def ttl(self) -> int | None:
        """Seconds until the record expires, by the clock of this machine; `None` if it never expires. It is at least
        1, since the record existed when it was read, even if the clocks disagree.
        """
    @property
    def results(self) -> list[Any] | None:
        """The results of `operate` in order, as the server returns them: `None` for an operation on a bin that has
        no result; a touch of the record has no entry. `None` for other calls.
        """
    def operation_result(self, i: int) -> Any:
        """The `i`-th of `results`, from 0; `None` if there is none."""
    @staticmethod
    def _restore(key: Key | None, body: bytes, operate: bool, bins: dict[str, Any] | None, /) -> Record:
        """As pickle needs it: the answer as it came, and the bins, if they have been looked at (and perhaps
        changed).
        """
    def __eq__(self, other: object, /) -> bool: ...

@final
class FastRng:
    """A random number generator for benchmarks (xoshiro256++). An integer costs about a third of `random.randrange`. Do
    not use it for secrets.

    `FastRng(seed)`: the same seed (0 to 2**64 - 1) produces the same numbers. `FastRng()`: a random seed. Threads can
    share one, but one per thread is faster.
    """

    def __new__(cls, seed: int | None = None) -> Self: ...
    def next_u64(self) -> int:
        """A random integer from 0 to 2**64 - 1."""
    def random(self) -> float:
        """A random float, at least 0 and below 1."""
    def gen_below(self, max: int) -> int:
        """A random integer from 0 to `max - 1`. Raises `ValueError` if `max` is 0."""
    def randint(self, lo: int, hi: int) -> int:
        """A random integer from `lo` to `hi`, both inclusive (64 bits, signed). Raises `ValueError` if `lo > hi`."""
    def randrange(self, start: int, stop: int | None = None) -> int:
        """A random integer from `start` to `stop - 1` (64 bits, signed); `randrange(n)`: from 0 to `n - 1`. Raises
        `ValueError` for an empty range.
        """

@final
class GeoJSON:
    """A GeoJSON value: `GeoJSON('{"type": "Point", "coordinates": [1, 2]}')`, or from the equivalent dict.

    It keeps the text unchanged; the server validates it. It compares equal to its text and has the same hash, so do not
    set `value` while it is in a set or a key of a dict. Raises `TypeError` for anything but a str, dict or `GeoJSON`,
    and for a dict that cannot be written as JSON.
    """

    def __new__(cls, v: str | dict[str, Any] | GeoJSON) -> Self: ...
    def as_string(self) -> str:
        """The same as `repr()`."""
    @property
    def value(self) -> str:
        """The text. Can be set to anything that the constructor accepts."""
    @value.setter
    def value(self, value: str | dict[str, Any] | GeoJSON) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs__(self) -> tuple[str]: ...
    def __hash__(self) -> int: ...

@final
class HLL:
    """A HyperLogLog value, as the server returned it: `HLL(bytes)`.

    Takes bytes, another bytes-like object, or a sequence of integers from 0 to 255. It compares equal to bytes and to
    sequences of integers with the same content and has the hash of the bytes, so do not set `value` while it is in a
    set or a key of a dict.
    """

    def __new__(cls, v: bytes | bytearray | memoryview | Sequence[int] | HLL) -> Self: ...
    def as_string(self) -> str:
        """The same as `repr()`."""
    @property
    def value(self) -> bytes:
        """The bytes. Can be set to anything that the constructor accepts."""
    @value.setter
    def value(self, value: bytes | bytearray | memoryview | Sequence[int] | HLL) -> None: ...
    def __bytes__(self) -> bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs__(self) -> tuple[bytes]: ...
    def __hash__(self) -> int: ...
    def __len__(self) -> int: ...

@final
class UnknownValue:
    """A value of a particle type that this client does not know: `UnknownValue(particle_type, data)`.

    It is returned as stored and can be written back as a whole bin.
    """

    def __new__(cls, particle_type: int, data: bytes | bytearray | memoryview, /) -> Self: ...
    @property
    def particle_type(self) -> int:
        """The particle type, 0 to 255."""
    @property
    def data(self) -> bytes:
        """The bytes."""
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs__(self) -> tuple[int, bytes]: ...
    def __hash__(self) -> int: ...

@final
class SpecialValue:
    """Special bounds for arguments of collection operations: NULL (nil), INFINITY (larger than everything), WILDCARD
    (any value).
    """

    NULL: ClassVar[SpecialValue]
    INFINITY: ClassVar[SpecialValue]
    WILDCARD: ClassVar[SpecialValue]
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __int__(self) -> int: ...

class SortedMap(dict[Any, Any]):
    """A dict that is stored as a key-ordered map: `SortedMap({'a': 1})`.

    The server searches such a map by halving, where it walks an unordered one. The order is part of the stored value
    and stays until the whole map is written anew. Key-ordered maps come back as this class, so that reading and writing
    back changes nothing. Iteration is in the order of insertion; what comes from the server is sorted.
    """

class Blob(bytearray):
    """Bytes under another name, for code that uses this class: `Blob(b"ab")`, `Blob([97, 98])`.

    A bytearray whose slices and sums are `Blob`s; bins with bytes are read as bytes. It compares equal to bytes-like
    objects and to lists and tuples of ints with the same content and has the hash of the bytes, so do not change it
    while it is in a set or a key of a dict. `value`: the bytes, which can be set. Raises `TypeError` for anything that
    is not bytes or a sequence of ints, `ValueError` for ints outside 0 to 255.
    """

    def as_string(self) -> str:
        """The bytes as a readable list of ints."""
    @property
    def value(self) -> bytes:
        """The bytes."""
    @value.setter
    def value(self, value: Iterable[SupportsIndex] | bytes | bytearray | memoryview) -> None: ...
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> int: ...
    @overload
    def __getitem__(self, index: slice, /) -> Blob: ...
    def __add__(self, other: Buffer, /) -> Blob: ...
    def __hash__(self) -> int: ...  # type: ignore[override]
    def __init__(self, v: Iterable[SupportsIndex] | bytes | bytearray | memoryview) -> None: ...

class List(list[Any]):
    """A list under another name, for code that uses this class: `List([1, 2])`.

    Bins with lists are read as lists. `value`: the items as a plain list, which can be set. Raises `TypeError` for
    anything that is not a sequence.
    """

    def as_string(self) -> str:
        """The content as readable text."""
    @property
    def value(self) -> list[Any]:
        """The items as a plain list."""
    @value.setter
    def value(self, value: Iterable[Any]) -> None: ...
    def __init__(self, v: Iterable[Any]) -> None: ...

class Map(dict[Any, Any]):
    """A dict under another name, for code that uses this class: `Map({"a": 1})`. It is stored as an unordered map.

    Bins with maps are read as dicts. `value`: the pairs as a plain dict, which can be set. Raises `TypeError` for
    anything that is not a mapping.
    """

    def as_string(self) -> str:
        """The content as readable text."""
    @property
    def value(self) -> dict[Any, Any]:
        """The pairs as a plain dict."""
    @value.setter
    def value(self, value: Mapping[Any, Any]) -> None: ...
    def __init__(self, v: Mapping[Any, Any]) -> None: ...

def geojson(geo_str: str | dict[str, Any] | GeoJSON) -> GeoJSON:
    """A GeoJSON value from text, a dict, or two numbers: `geojson("-122.0, 37.5")` is the point with this longitude and
    latitude in degrees.

    Raises `InvalidArgumentError` (a `ValueError`) for text that is neither two numbers nor JSON with a `"type"`,
    `TypeError` for another type.
    """

def null() -> None:
    """The value of a missing bin: `None`."""
