"""Operations, for `operate` and batches."""

from collections.abc import Iterable, Mapping
from typing import Any, final

from typing_extensions import disjoint_base

from ._cdt import (
    CTX,
    BitPolicy,
    BitwiseOverflowActions,
    BitwiseResizeFlags,
    ListOrderType,
    ListPolicy,
    ListReturnType,
    ListSortFlags,
    MapOrder,
    MapPolicy,
    MapReturnType,
    StringNumericType,
)
from ._expression import FilterExpression
from ._values import HLL

@disjoint_base
class BaseOperation:
    """The base class of all operations; it cannot be instantiated.

    An operation is encoded when it is created: changing a list or a policy afterwards has no effect, and values that
    cannot be sent raise at once. Operations are immutable and can be reused, from any number of threads.

    Constructors raise `TypeError` for arguments of the wrong type, `OverflowError` for ints of more than 64 bits, and
    `InvalidArgumentError` (a `ValueError`) for values that cannot be sent and bin names of more than 15 bytes.
    """

    @property
    def bin_name(self) -> str | None:
        """The name of the bin; `None` for operations on the whole record."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Operation(BaseOperation):
    """An operation of an `operate` call on a whole bin or on the record: `Operation.put("a", 1)`,
    `Operation.get_bin("a")`, ...
    """

    @staticmethod
    def get() -> Operation:
        """Reads all bins."""
    @staticmethod
    def add(bin_name: str, value: Any) -> Operation:
        """Adds to an int or float bin; creates the bin if it is missing."""
    @staticmethod
    def append(bin_name: str, value: Any) -> Operation:
        """Appends to a str or bytes bin; creates the bin if it is missing."""
    @staticmethod
    def prepend(bin_name: str, value: Any) -> Operation:
        """Prepends to a str or bytes bin; creates the bin if it is missing."""
    @staticmethod
    def delete() -> Operation:
        """Deletes the record."""
    @staticmethod
    def put(bin_name: str, value: Any) -> Operation:
        """Writes a bin; `None` removes it."""
    @staticmethod
    def touch() -> Operation:
        """Resets the TTL and increments the generation. Fails if the record does not exist."""
    @staticmethod
    def get_bin(bin_name: str) -> Operation:
        """Reads one bin."""
    @staticmethod
    def get_header() -> Operation:
        """Reads no bins, only the generation and expiration."""

@final
class ListOperation(BaseOperation):
    """Operations on list bins, and with `set_context` on lists nested in bins.

    Negative indexes and ranks count from the end. Operations that select items return what `return_type` says.
    """

    @staticmethod
    def create(bin_name: str, order: ListOrderType, pad: bool, persist_index: bool) -> ListOperation:
        """Creates the list if it is missing. `pad`: inside a context that ends with an index, pads the enclosing
        list with nil up to that index. `persist_index`: stores the list's index with it (not inside a context).
        """
    @staticmethod
    def create_with_index(bin_name: str, order: ListOrderType) -> ListOperation:
        """Creates the list if it is missing, with a stored index."""
    def set_context(self, ctx: Iterable[CTX] | None) -> ListOperation:
        """Returns the same operation for a list nested in the bin: `ctx` is the path to it. This operation does not
        change.
        """
    @staticmethod
    def get(bin_name: str, index: int) -> ListOperation:
        """Returns the item at an index."""
    @staticmethod
    def size(bin_name: str) -> ListOperation:
        """Returns how many items there are."""
    @staticmethod
    def join(bin_name: str, separator: str | None = None) -> ListOperation:
        """Returns the str items, joined by `separator`. Server 8.2 and later."""
    @staticmethod
    def pop(bin_name: str, index: int) -> ListOperation:
        """Removes and returns the item at an index."""
    @staticmethod
    def clear(bin_name: str) -> ListOperation:
        """Removes all items."""
    @staticmethod
    def get_range(bin_name: str, index: int, count: int) -> ListOperation:
        """Returns `count` items starting at an index."""
    @staticmethod
    def set(bin_name: str, index: int, value: Any) -> ListOperation:
        """Sets the item at an index."""
    @staticmethod
    def set_with_policy(bin_name: str, policy: ListPolicy, index: int, value: Any) -> ListOperation:
        """Sets the item at an index."""
    @staticmethod
    def remove(bin_name: str, index: int) -> ListOperation:
        """Removes the item at an index. Returns how many were removed."""
    @staticmethod
    def remove_range(bin_name: str, index: int, count: int) -> ListOperation:
        """Removes `count` items starting at an index. Returns how many were removed."""
    @staticmethod
    def get_range_from(bin_name: str, index: int) -> ListOperation:
        """Returns the items starting at an index."""
    @staticmethod
    def pop_range(bin_name: str, index: int, count: int) -> ListOperation:
        """Removes and returns `count` items starting at an index."""
    @staticmethod
    def pop_range_from(bin_name: str, index: int) -> ListOperation:
        """Removes and returns the items starting at an index."""
    @staticmethod
    def remove_range_from(bin_name: str, index: int) -> ListOperation:
        """Removes the items starting at an index. Returns how many were removed."""
    @staticmethod
    def trim(bin_name: str, index: int, count: int) -> ListOperation:
        """Removes all items except `count` items starting at an index. Returns how many were removed."""
    @staticmethod
    def append(bin_name: str, value: Any, policy: ListPolicy) -> ListOperation:
        """Appends a value; creates the list if it is missing. Returns the new size."""
    @staticmethod
    def append_items(bin_name: str, values: Iterable[Any], policy: ListPolicy) -> ListOperation:
        """Appends values; creates the list if it is missing. Returns the new size."""
    @staticmethod
    def insert(bin_name: str, index: int, value: Any, policy: ListPolicy) -> ListOperation:
        """Inserts a value at an index. Returns the new size."""
    @staticmethod
    def insert_items(bin_name: str, index: int, values: Iterable[Any], policy: ListPolicy) -> ListOperation:
        """Inserts values at an index. Returns the new size."""
    @staticmethod
    def increment(bin_name: str, index: int, value: int, policy: ListPolicy) -> ListOperation:
        """Adds to the number at an index. Returns the sum."""
    @staticmethod
    def increment_by_one(bin_name: str, index: int) -> ListOperation:
        """Adds 1 to the number at an index. Returns the sum."""
    @staticmethod
    def increment_by_one_with_policy(bin_name: str, policy: ListPolicy, index: int) -> ListOperation:
        """Adds 1 to the number at an index. Returns the sum."""
    @staticmethod
    def sort(bin_name: str, flags: ListSortFlags) -> ListOperation:
        """Sorts the list."""
    @staticmethod
    def set_order(bin_name: str, order: ListOrderType) -> ListOperation:
        """Sets the order of the list; creates it if it is missing."""
    @staticmethod
    def set_order_with_index(bin_name: str, order: ListOrderType) -> ListOperation:
        """The same as `set_order`, and stores the index of an ordered list with it."""
    @staticmethod
    def get_by_index(bin_name: str, index: int, return_type: ListReturnType) -> ListOperation:
        """Selects the item at an index."""
    @staticmethod
    def get_by_index_range(bin_name: str, index: int, count: int | None, return_type: ListReturnType) -> ListOperation:
        """Selects the items starting at an index; `count`: how many, None: all."""
    @staticmethod
    def get_by_rank(bin_name: str, rank: int, return_type: ListReturnType) -> ListOperation:
        """Selects the item at a rank: 0 is the smallest."""
    @staticmethod
    def get_by_rank_range(bin_name: str, rank: int, count: int | None, return_type: ListReturnType) -> ListOperation:
        """Selects the items starting at a rank; `count`: how many, None: all."""
    @staticmethod
    def get_by_value(bin_name: str, value: Any, return_type: ListReturnType) -> ListOperation:
        """Selects all items that are equal to a value."""
    @staticmethod
    def get_by_value_range(bin_name: str, begin: Any, end: Any, return_type: ListReturnType) -> ListOperation:
        """Selects the items from `begin` (inclusive; None: no lower bound) to `end` (exclusive; None: no upper
        bound).
        """
    @staticmethod
    def get_by_value_list(bin_name: str, values: Iterable[Any], return_type: ListReturnType) -> ListOperation:
        """Selects all items that are among some values."""
    @staticmethod
    def get_by_value_relative_rank_range(
        bin_name: str, value: Any, rank: int, count: int | None, return_type: ListReturnType
    ) -> ListOperation:
        """Selects the items starting at a rank relative to that of a value; `count`: how many, None: all."""
    @staticmethod
    def remove_by_index(bin_name: str, index: int, return_type: ListReturnType) -> ListOperation:
        """Removes the item at an index."""
    @staticmethod
    def remove_by_index_range(
        bin_name: str, index: int, count: int | None, return_type: ListReturnType
    ) -> ListOperation:
        """Removes the items starting at an index; `count`: how many, None: all."""
    @staticmethod
    def remove_by_rank(bin_name: str, rank: int, return_type: ListReturnType) -> ListOperation:
        """Removes the item at a rank: 0 is the smallest."""
    @staticmethod
    def remove_by_rank_range(bin_name: str, rank: int, count: int | None, return_type: ListReturnType) -> ListOperation:
        """Removes the items starting at a rank; `count`: how many, None: all."""
    @staticmethod
    def remove_by_value(bin_name: str, value: Any, return_type: ListReturnType) -> ListOperation:
        """Removes all items that are equal to a value."""
    @staticmethod
    def remove_by_value_range(bin_name: str, begin: Any, end: Any, return_type: ListReturnType) -> ListOperation:
        """Removes the items from `begin` (inclusive; None: no lower bound) to `end` (exclusive; None: no upper
        bound).
        """
    @staticmethod
    def remove_by_value_list(bin_name: str, values: Iterable[Any], return_type: ListReturnType) -> ListOperation:
        """Removes all items that are among some values."""
    @staticmethod
    def remove_by_value_relative_rank_range(
        bin_name: str, value: Any, rank: int, count: int | None, return_type: ListReturnType
    ) -> ListOperation:
        """Removes the items starting at a rank relative to that of a value; `count`: how many, None: all."""

@final
class MapOperation(BaseOperation):
    """Operations on map bins, and with `set_context` on maps nested in bins.

    Negative indexes and ranks count from the end. Operations that select entries return what `return_type` says.
    """

    @staticmethod
    def create(bin_name: str, order: MapOrder) -> MapOperation:
        """Creates the map if it is missing."""
    @staticmethod
    def create_with_index(bin_name: str, order: MapOrder) -> MapOperation:
        """Creates the map if it is missing, with a stored index (not inside a context)."""
    def set_context(self, ctx: Iterable[CTX] | None) -> MapOperation:
        """Returns the same operation for a map nested in the bin: `ctx` is the path to it. This operation does not
        change.
        """
    @staticmethod
    def size(bin_name: str) -> MapOperation:
        """Returns how many pairs there are."""
    @staticmethod
    def clear(bin_name: str) -> MapOperation:
        """Removes all pairs."""
    @staticmethod
    def put(bin_name: str, key: Any, value: Any, policy: MapPolicy) -> MapOperation:
        """Sets the value of a key; creates the map if it is missing. Returns the new size."""
    @staticmethod
    def put_items(
        bin_name: str, items: Mapping[Any, Any] | Iterable[tuple[Any, Any]], policy: MapPolicy
    ) -> MapOperation:
        """Sets the values of several keys; creates the map if it is missing. `items`: a sequence of pairs, or a
        mapping. Returns the new size.
        """
    @staticmethod
    def increment_value(bin_name: str, key: Any, value: int, policy: MapPolicy) -> MapOperation:
        """Adds to the number of a key; creates the map and the key if they are missing. Returns the sum."""
    @staticmethod
    def decrement_value(bin_name: str, key: Any, value: int, policy: MapPolicy) -> MapOperation:
        """Subtracts from the number of a key; creates the map and the key if they are missing. Returns the
        difference.
        """
    @staticmethod
    def set_map_policy(bin_name: str, policy: MapPolicy) -> MapOperation:
        """Sets the order of the map; creates it if it is missing."""
    @staticmethod
    def set_policy(bin_name: str, policy: MapPolicy) -> MapOperation:
        """Sets the order of the map, and whether its index is stored; creates it if it is missing."""
    @staticmethod
    def get_by_key(bin_name: str, key: Any, return_type: MapReturnType) -> MapOperation:
        """Selects the pair of a key."""
    @staticmethod
    def get_by_key_range(bin_name: str, begin: Any, end: Any, return_type: MapReturnType) -> MapOperation:
        """Selects the pairs with keys from `begin` (inclusive; None: no lower bound) to `end` (exclusive; None: no
        upper bound).
        """
    @staticmethod
    def get_by_key_list(bin_name: str, keys: Iterable[Any], return_type: MapReturnType) -> MapOperation:
        """Selects all pairs whose keys are among these."""
    @staticmethod
    def get_by_key_relative_index_range(
        bin_name: str, key: Any, index: int, count: int | None, return_type: MapReturnType
    ) -> MapOperation:
        """Selects the pairs starting at an index relative to that of a key; `count`: how many, None: all."""
    @staticmethod
    def get_by_index(bin_name: str, index: int, return_type: MapReturnType) -> MapOperation:
        """Selects the pair at an index, in the order of keys."""
    @staticmethod
    def get_by_index_range(bin_name: str, index: int, count: int, return_type: MapReturnType) -> MapOperation:
        """Selects `count` pairs starting at an index."""
    @staticmethod
    def get_by_index_range_from(bin_name: str, index: int, return_type: MapReturnType) -> MapOperation:
        """Selects the pairs starting at an index."""
    @staticmethod
    def get_by_rank(bin_name: str, rank: int, return_type: MapReturnType) -> MapOperation:
        """Selects the pair at a rank: 0 has the smallest value."""
    @staticmethod
    def get_by_rank_range(bin_name: str, rank: int, count: int, return_type: MapReturnType) -> MapOperation:
        """Selects `count` pairs starting at a rank."""
    @staticmethod
    def get_by_rank_range_from(bin_name: str, rank: int, return_type: MapReturnType) -> MapOperation:
        """Selects the pairs starting at a rank."""
    @staticmethod
    def get_by_value(bin_name: str, value: Any, return_type: MapReturnType) -> MapOperation:
        """Selects all pairs whose values are equal to one."""
    @staticmethod
    def get_by_value_range(bin_name: str, begin: Any, end: Any, return_type: MapReturnType) -> MapOperation:
        """Selects the pairs with values from `begin` (inclusive; None: no lower bound) to `end` (exclusive; None: no
        upper bound).
        """
    @staticmethod
    def get_by_value_list(bin_name: str, values: Iterable[Any], return_type: MapReturnType) -> MapOperation:
        """Selects all pairs whose values are among these."""
    @staticmethod
    def get_by_value_relative_rank_range(
        bin_name: str, value: Any, rank: int, count: int | None, return_type: MapReturnType
    ) -> MapOperation:
        """Selects the pairs starting at a rank relative to that of a value; `count`: how many, None: all."""
    @staticmethod
    def remove_by_key(bin_name: str, key: Any, return_type: MapReturnType) -> MapOperation:
        """Removes the pair of a key."""
    @staticmethod
    def remove_by_key_range(bin_name: str, begin: Any, end: Any, return_type: MapReturnType) -> MapOperation:
        """Removes the pairs with keys from `begin` (inclusive; None: no lower bound) to `end` (exclusive; None: no
        upper bound).
        """
    @staticmethod
    def remove_by_key_list(bin_name: str, keys: Iterable[Any], return_type: MapReturnType) -> MapOperation:
        """Removes all pairs whose keys are among these."""
    @staticmethod
    def remove_by_key_relative_index_range(
        bin_name: str, key: Any, index: int, count: int | None, return_type: MapReturnType
    ) -> MapOperation:
        """Removes the pairs starting at an index relative to that of a key; `count`: how many, None: all."""
    @staticmethod
    def remove_by_index(bin_name: str, index: int, return_type: MapReturnType) -> MapOperation:
        """Removes the pair at an index, in the order of keys."""
    @staticmethod
    def remove_by_index_range(bin_name: str, index: int, count: int, return_type: MapReturnType) -> MapOperation:
        """Removes `count` pairs starting at an index."""
    @staticmethod
    def remove_by_index_range_from(bin_name: str, index: int, return_type: MapReturnType) -> MapOperation:
        """Removes the pairs starting at an index."""
    @staticmethod
    def remove_by_rank(bin_name: str, rank: int, return_type: MapReturnType) -> MapOperation:
        """Removes the pair at a rank: 0 has the smallest value."""
    @staticmethod
    def remove_by_rank_range(bin_name: str, rank: int, count: int, return_type: MapReturnType) -> MapOperation:
        """Removes `count` pairs starting at a rank."""
    @staticmethod
    def remove_by_rank_range_from(bin_name: str, rank: int, return_type: MapReturnType) -> MapOperation:
        """Removes the pairs starting at a rank."""
    @staticmethod
    def remove_by_value(bin_name: str, value: Any, return_type: MapReturnType) -> MapOperation:
        """Removes all pairs whose values are equal to one."""
    @staticmethod
    def remove_by_value_range(bin_name: str, begin: Any, end: Any, return_type: MapReturnType) -> MapOperation:
        """Removes the pairs with values from `begin` (inclusive; None: no lower bound) to `end` (exclusive; None: no
        upper bound).
        """
    @staticmethod
    def remove_by_value_list(bin_name: str, values: Iterable[Any], return_type: MapReturnType) -> MapOperation:
        """Removes all pairs whose values are among these."""
    @staticmethod
    def remove_by_value_relative_rank_range(
        bin_name: str, value: Any, rank: int, count: int | None, return_type: MapReturnType
    ) -> MapOperation:
        """Removes the pairs starting at a rank relative to that of a value; `count`: how many, None: all."""

@final
class BitOperation(BaseOperation):
    """Operations on the bits of bytes bins. Offsets and sizes are in bits, except those named `byte_..`. Bit 0 is
    the highest bit of the first byte; negative offsets count from the end. Values are bytes-like objects.
    """

    @staticmethod
    def resize(
        bin_name: str, byte_size: int, resize_flags: BitwiseResizeFlags | None, policy: BitPolicy
    ) -> BitOperation:
        """Resizes the blob to a number of bytes; creates it if it is missing."""
    @staticmethod
    def insert(bin_name: str, byte_offset: int, value: Any, policy: BitPolicy) -> BitOperation:
        """Inserts bytes."""
    @staticmethod
    def remove(bin_name: str, byte_offset: int, byte_size: int, policy: BitPolicy) -> BitOperation:
        """Removes bytes."""
    @staticmethod
    def set(bin_name: str, bit_offset: int, bit_size: int, value: Any, policy: BitPolicy) -> BitOperation:
        """Sets bits."""
    @staticmethod
    def or_(bin_name: str, bit_offset: int, bit_size: int, value: Any, policy: BitPolicy) -> BitOperation:
        """Bitwise or."""
    @staticmethod
    def xor(bin_name: str, bit_offset: int, bit_size: int, value: Any, policy: BitPolicy) -> BitOperation:
        """Bitwise exclusive or."""
    @staticmethod
    def and_(bin_name: str, bit_offset: int, bit_size: int, value: Any, policy: BitPolicy) -> BitOperation:
        """Bitwise and."""
    @staticmethod
    def not_(bin_name: str, bit_offset: int, bit_size: int, policy: BitPolicy) -> BitOperation:
        """Inverts bits."""
    @staticmethod
    def lshift(bin_name: str, bit_offset: int, bit_size: int, shift: int, policy: BitPolicy) -> BitOperation:
        """Shifts bits to the left."""
    @staticmethod
    def rshift(bin_name: str, bit_offset: int, bit_size: int, shift: int, policy: BitPolicy) -> BitOperation:
        """Shifts bits to the right."""
    @staticmethod
    def add(
        bin_name: str,
        bit_offset: int,
        bit_size: int,
        value: int,
        signed: bool,
        action: BitwiseOverflowActions,
        policy: BitPolicy,
    ) -> BitOperation:
        """Adds to an integer of 1 to 64 bits."""
    @staticmethod
    def subtract(
        bin_name: str,
        bit_offset: int,
        bit_size: int,
        value: int,
        signed: bool,
        action: BitwiseOverflowActions,
        policy: BitPolicy,
    ) -> BitOperation:
        """Subtracts from an integer of 1 to 64 bits."""
    @staticmethod
    def set_int(bin_name: str, bit_offset: int, bit_size: int, value: int, policy: BitPolicy) -> BitOperation:
        """Sets an integer of 1 to 64 bits."""
    @staticmethod
    def get(bin_name: str, bit_offset: int, bit_size: int) -> BitOperation:
        """Returns bits, as bytes."""
    @staticmethod
    def count(bin_name: str, bit_offset: int, bit_size: int) -> BitOperation:
        """Returns how many bits are set."""
    @staticmethod
    def lscan(bin_name: str, bit_offset: int, bit_size: int, value: bool) -> BitOperation:
        """Returns the offset of the first bit that equals `value`; -1 if there is none."""
    @staticmethod
    def rscan(bin_name: str, bit_offset: int, bit_size: int, value: bool) -> BitOperation:
        """Returns the offset of the last bit that equals `value`; -1 if there is none."""
    @staticmethod
    def get_int(bin_name: str, bit_offset: int, bit_size: int, signed: bool) -> BitOperation:
        """Returns an integer of 1 to 64 bits."""
    @staticmethod
    def b64_encode(
        bin_name: str, byte_offset: int | None = None, byte_size: int | None = None, invert_size: bool = False
    ) -> BitOperation:
        """Returns the blob, or some bytes of it, as base64 text. Offset and size are given both or not at all; with
        `invert_size` the size counts from the end. Server 8.2 and later.
        """

@final
class HllOperation(BaseOperation):
    """Operations on HLLs (`HyperLogLog` sketches), which estimate how many distinct values were added.

    `index_bit_count` (4 to 16): more bits are more accurate and take more space. `min_hash_bit_count` (4 to 51): for
    similarities and for intersections of more than two HLLs. -1 means the bin's own setting, or none. `flags`: bits of
    `HLLWriteFlags`. HLLs to compare with are `HLL` objects, as read from a bin.
    """

    @staticmethod
    def init(
        bin_name: str, index_bit_count: int, min_hash_bit_count: int = ..., flags: int | None = None
    ) -> HllOperation:
        """Creates an HLL, or clears an existing one."""
    @staticmethod
    def add(
        bin_name: str,
        values: Iterable[Any],
        index_bit_count: int = ...,
        min_hash_bit_count: int = ...,
        flags: int | None = None,
    ) -> HllOperation:
        """Adds values; creates the HLL if it is missing and `index_bit_count` is given. Returns how many of the
        values changed the HLL.
        """
    @staticmethod
    def get_count(bin_name: str) -> HllOperation:
        """Returns the approximate number of values that were added."""
    @staticmethod
    def describe(bin_name: str) -> HllOperation:
        """Returns a list of the numbers of index bits and of min-hash bits."""
    @staticmethod
    def refresh_count(bin_name: str) -> HllOperation:
        """Returns the same as `get_count` and stores it with the bin."""
    @staticmethod
    def fold(bin_name: str, index_bit_count: int) -> HllOperation:
        """Folds the HLL to fewer index bits; it must have no min-hash bits."""
    @staticmethod
    def get_union(bin_name: str, hll_list: Iterable[HLL]) -> HllOperation:
        """Returns the union with other HLLs, an `HLL`."""
    @staticmethod
    def get_union_count(bin_name: str, hll_list: Iterable[HLL]) -> HllOperation:
        """Returns the approximate number of values in the union with other HLLs."""
    @staticmethod
    def get_intersect_count(bin_name: str, hll_list: Iterable[HLL]) -> HllOperation:
        """Returns the approximate number of values in the intersection with other HLLs."""
    @staticmethod
    def get_similarity(bin_name: str, hll_list: Iterable[HLL]) -> HllOperation:
        """Returns how similar the HLL is to others: a float from 0 to 1."""
    @staticmethod
    def set_union(bin_name: str, hll_list: Iterable[HLL], flags: int | None = None) -> HllOperation:
        """Sets the bin to the union with other HLLs."""

@final
class StringOperation(BaseOperation):
    """Operations on string bins, and with `ctx` on strings nested in lists and maps. Server 8.2 and later.

    Indexes and lengths count characters; negative indexes count from the end. `flags`: bits of `StringWriteFlags`.
    """

    @staticmethod
    def strlen(bin: str, *, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Returns how many characters there are."""
    @staticmethod
    def substr(bin: str, start: int, end: int | None = None, *, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Returns the characters from `start` on, to before `end` if that is given."""
    @staticmethod
    def char_at(bin: str, index: int, *, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Returns the character at an index."""
    @staticmethod
    def find(
        bin: str, needle: str, occurrence: int | None = None, *, ctx: Iterable[CTX] | None = None
    ) -> StringOperation:
        """Returns the index of an occurrence of a str (by default the first; -1: the last), or -1 if there is none."""
    @staticmethod
    def contains(bin: str, needle: str, *, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Returns whether it contains a str."""
    @staticmethod
    def starts_with(bin: str, prefix: str, *, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Returns whether it starts with a str."""
    @staticmethod
    def ends_with(bin: str, suffix: str, *, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Returns whether it ends with a str."""
    @staticmethod
    def to_integer(bin: str, *, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Returns the int that it spells."""
    @staticmethod
    def to_double(bin: str, *, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Returns the float that it spells."""
    @staticmethod
    def byte_length(bin: str, *, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Returns how many bytes of UTF-8 it has."""
    @staticmethod
    def is_numeric(
        bin: str, numeric_type: StringNumericType | None = None, *, ctx: Iterable[CTX] | None = None
    ) -> StringOperation:
        """Returns whether it spells a number (of this kind)."""
    @staticmethod
    def is_upper(bin: str, *, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Returns whether all letters are upper case."""
    @staticmethod
    def is_lower(bin: str, *, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Returns whether all letters are lower case."""
    @staticmethod
    def to_blob(bin: str, *, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Returns its UTF-8, as bytes."""
    @staticmethod
    def split(bin: str, separator: str | None = None, *, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Returns its parts between separators, or its characters, as a list."""
    @staticmethod
    def b64_decode(bin: str, *, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Returns the bytes that its base64 text encodes."""
    @staticmethod
    def regex_compare(
        bin: str, pattern: str, flags: int | None = None, *, ctx: Iterable[CTX] | None = None
    ) -> StringOperation:
        """Returns whether a regular expression (ICU) matches. `flags`: bits of `StringRegexFlags`."""
    @staticmethod
    def insert(
        bin: str, index: int, value: str, *, flags: int | None = None, ctx: Iterable[CTX] | None = None
    ) -> StringOperation:
        """Inserts a str at an index."""
    @staticmethod
    def overwrite(
        bin: str, index: int, value: str, *, flags: int | None = None, ctx: Iterable[CTX] | None = None
    ) -> StringOperation:
        """Writes a str over it from an index on."""
    @staticmethod
    def concat(
        bin: str, value: str | Iterable[str], *, flags: int | None = None, ctx: Iterable[CTX] | None = None
    ) -> StringOperation:
        """Appends a str, or each str of a sequence."""
    @staticmethod
    def append(bin: str, value: str, *, flags: int | None = None, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Appends a str."""
    @staticmethod
    def prepend(bin: str, value: str, *, flags: int | None = None, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Prepends a str."""
    @staticmethod
    def snip(
        bin: str, start: int, end: int | None = None, *, flags: int | None = None, ctx: Iterable[CTX] | None = None
    ) -> StringOperation:
        """Removes the characters from `start` up to but not including `end`, or to the end of the str (then without
        flags).
        """
    @staticmethod
    def replace(
        bin: str, needle: str, replacement: str, *, flags: int | None = None, ctx: Iterable[CTX] | None = None
    ) -> StringOperation:
        """Replaces the first occurrence of `needle`."""
    @staticmethod
    def replace_all(
        bin: str, needle: str, replacement: str, *, flags: int | None = None, ctx: Iterable[CTX] | None = None
    ) -> StringOperation:
        """Replaces all occurrences of `needle`."""
    @staticmethod
    def upper(bin: str, *, flags: int | None = None, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Makes all letters upper case."""
    @staticmethod
    def lower(bin: str, *, flags: int | None = None, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Makes all letters lower case."""
    @staticmethod
    def case_fold(bin: str, *, flags: int | None = None, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Folds its case, for comparisons that ignore case."""
    @staticmethod
    def normalize_nfc(bin: str, *, flags: int | None = None, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Makes it Unicode normal form C."""
    @staticmethod
    def trim_start(bin: str, *, flags: int | None = None, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Removes white space at the start."""
    @staticmethod
    def trim_end(bin: str, *, flags: int | None = None, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Removes white space at the end."""
    @staticmethod
    def trim(bin: str, *, flags: int | None = None, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Removes white space at both ends."""
    @staticmethod
    def pad_start(
        bin: str, target_length: int, pad_string: str, *, flags: int | None = None, ctx: Iterable[CTX] | None = None
    ) -> StringOperation:
        """Pads it at the start to a number of characters."""
    @staticmethod
    def pad_end(
        bin: str, target_length: int, pad_string: str, *, flags: int | None = None, ctx: Iterable[CTX] | None = None
    ) -> StringOperation:
        """Pads it at the end to a number of characters."""
    @staticmethod
    def repeat(bin: str, count: int, *, flags: int | None = None, ctx: Iterable[CTX] | None = None) -> StringOperation:
        """Repeats it a number of times."""
    @staticmethod
    def regex_replace(
        bin: str,
        pattern: str,
        replacement: str,
        flags: int | None = None,
        *,
        write_flags: int | None = None,
        ctx: Iterable[CTX] | None = None,
    ) -> StringOperation:
        """Replaces what a regular expression (ICU) matches. `flags`: bits of `StringRegexFlags`; `GLOBAL` replaces
        all matches. `write_flags`: bits of `StringWriteFlags`.
        """
    @staticmethod
    def to_string(bin: str) -> StringOperation:
        """Returns an int, float, bool or bytes bin as a str."""

@final
class CdtOperation(BaseOperation):
    """Operations on everything that a path (a sequence of `CTX`) selects inside a list or map. A path can select
    many elements. Server 8.1.1 and later.
    """

    @staticmethod
    def select_by_path(bin_name: str, flag: int | None, ctx: Iterable[CTX] | None) -> CdtOperation:
        """Returns what the path selects, as `flag` (bits of `SelectFlags`) says."""
    @staticmethod
    def modify_by_path(
        bin_name: str, flag: int | None, exp: FilterExpression, ctx: Iterable[CTX] | None
    ) -> CdtOperation:
        """Sets each element that the path selects to the value of an expression. `flag`: bits of `ModifyFlags`."""
    @staticmethod
    def select_values(bin_name: str, ctx: Iterable[CTX] | None) -> CdtOperation:
        """Returns a list of the values that the path selects."""
    @staticmethod
    def select_map_keys(bin_name: str, ctx: Iterable[CTX] | None) -> CdtOperation:
        """Returns a list of the map keys that the path selects."""
    @staticmethod
    def select_map_entries(bin_name: str, ctx: Iterable[CTX] | None) -> CdtOperation:
        """Returns a list of alternating keys and values that the path selects."""
    @staticmethod
    def select_matching_tree(bin_name: str, ctx: Iterable[CTX] | None) -> CdtOperation:
        """Returns the collection, reduced to what the path selects."""
    @staticmethod
    def modify(bin_name: str, exp: FilterExpression, ctx: Iterable[CTX] | None) -> CdtOperation:
        """Sets each element that the path selects to the value of an expression."""
    @staticmethod
    def modify_no_fail(bin_name: str, exp: FilterExpression, ctx: Iterable[CTX] | None) -> CdtOperation:
        """The same as `modify`, but leaves elements unchanged if their type does not fit the path."""
    @staticmethod
    def remove(bin_name: str, ctx: Iterable[CTX] | None) -> CdtOperation:
        """Removes what the path selects."""

@final
class ExpOperation(BaseOperation):
    """Operations that evaluate a `FilterExpression`."""

    @staticmethod
    def read(name: str, exp: FilterExpression, flags: int | None = None) -> ExpOperation:
        """Returns the value of an expression as a bin of this name. `flags`: bits of `ExpReadFlags`."""
    @staticmethod
    def write(bin_name: str, exp: FilterExpression, flags: int | None = None) -> ExpOperation:
        """Writes the value of an expression to a bin. `flags`: bits of `ExpWriteFlags`."""

def has_any_write_op(operations: Iterable[BaseOperation]) -> bool:
    """Whether any of the operations can change a record. Takes the same operations as `operate`.

    Raises `TypeError` if one of them is not an operation, and `InvalidArgumentError` if there are none.
    """
