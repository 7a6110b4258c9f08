"""Expressions that the server evaluates."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, final

from ._cdt import (
    CTX,
    BitPolicy,
    BitwiseOverflowActions,
    BitwiseResizeFlags,
    ExpType,
    HLLPolicy,
    ListPolicy,
    ListReturnType,
    ListSortFlags,
    LoopVarPart,
    MapPolicy,
    MapReturnType,
    StringNumericType,
)
from ._values import GeoJSON

@final
class FilterExpression:
    """An expression that the server evaluates: `FilterExpression.gt(FilterExpression.int_bin("age"),
    FilterExpression.int_val(17))`.
    """

    def base64(self) -> str:
        """The expression's bytes as base64 text: what other clients and `from_base64` take."""
    @staticmethod
    def from_base64(b64: str) -> FilterExpression:
        """From the text of `base64`, also of other clients."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @staticmethod
    def key(exp_type: ExpType) -> FilterExpression:
        """The user key of the record, if it was stored with it (`send_key`), as a value of this type."""
    @staticmethod
    def key_exists() -> FilterExpression:
        """Whether the user key was stored with the record."""
    @staticmethod
    def int_bin(name: str) -> FilterExpression:
        """The value of an int bin."""
    @staticmethod
    def string_bin(name: str) -> FilterExpression:
        """The value of a str bin."""
    @staticmethod
    def blob_bin(name: str) -> FilterExpression:
        """The value of a bytes bin."""
    @staticmethod
    def bool_bin(name: str) -> FilterExpression:
        """The value of a bool bin."""
    @staticmethod
    def float_bin(name: str) -> FilterExpression:
        """The value of a float bin."""
    @staticmethod
    def geo_bin(name: str) -> FilterExpression:
        """The value of a GeoJSON bin."""
    @staticmethod
    def list_bin(name: str) -> FilterExpression:
        """The value of a list bin."""
    @staticmethod
    def map_bin(name: str) -> FilterExpression:
        """The value of a map bin."""
    @staticmethod
    def hll_bin(name: str) -> FilterExpression:
        """The value of an HLL bin."""
    @staticmethod
    def bin_exists(name: str) -> FilterExpression:
        """Whether there is a bin of this name."""
    @staticmethod
    def bin_type(name: str) -> FilterExpression:
        """The particle type of a bin, an int; 0: there is none."""
    @staticmethod
    def set_name() -> FilterExpression:
        """The name of the record's set."""
    @staticmethod
    def record_size() -> FilterExpression:
        """The size of the record, in bytes. Server 7.0 and later."""
    @staticmethod
    def last_update() -> FilterExpression:
        """When the record was last written, in ns since 1970-01-01 00:00:00 UTC."""
    @staticmethod
    def since_update() -> FilterExpression:
        """How long ago the record was last written, in ms."""
    @staticmethod
    def void_time() -> FilterExpression:
        """When the record expires, in ns since 1970-01-01 00:00:00 UTC; -1: never."""
    @staticmethod
    def ttl() -> FilterExpression:
        """How long until the record expires, in s; -1: never."""
    @staticmethod
    def is_tombstone() -> FilterExpression:
        """Whether the record was deleted and has left a tombstone."""
    @staticmethod
    def digest_modulo(modulo: int) -> FilterExpression:
        """The remainder of the record's digest, taken as a number: picks records at random."""
    @staticmethod
    def val(value: Any) -> FilterExpression:
        """A constant, by the type of a Python value: `None`, bool, int, float, str, bytes, list, tuple, dict (as by
        `map_val`) or `GeoJSON`.
        """
    @staticmethod
    def int_val(val: int) -> FilterExpression:
        """An int."""
    @staticmethod
    def bool_val(val: bool) -> FilterExpression:
        """A bool."""
    @staticmethod
    def string_val(val: str) -> FilterExpression:
        """A str."""
    @staticmethod
    def float_val(val: float) -> FilterExpression:
        """A float."""
    @staticmethod
    def blob_val(val: bytes | bytearray | memoryview | Sequence[int]) -> FilterExpression:
        """Bytes: a bytes-like object, or a sequence of ints of 0 to 255."""
    @staticmethod
    def list_val(val: Iterable[Any]) -> FilterExpression:
        """A list: any sequence of values. Dicts in it are sorted by key."""
    @staticmethod
    def map_val(val: Mapping[Any, Any]) -> FilterExpression:
        """A key-ordered map: a dict or another mapping. Dicts in it are sorted by key."""
    @staticmethod
    def geo_val(val: str | dict[str, Any] | GeoJSON) -> FilterExpression:
        """A GeoJSON value: its text, a dict, or a `GeoJSON`."""
    @staticmethod
    def nil() -> FilterExpression:
        """Nil: smaller than every other value."""
    @staticmethod
    def infinity() -> FilterExpression:
        """Larger than every other value."""
    @staticmethod
    def wildcard() -> FilterExpression:
        """Equal to every value."""
    @staticmethod
    def eq(left: FilterExpression, right: FilterExpression) -> FilterExpression:
        """Whether two values are equal."""
    @staticmethod
    def ne(left: FilterExpression, right: FilterExpression) -> FilterExpression:
        """Whether two values are not equal."""
    @staticmethod
    def gt(left: FilterExpression, right: FilterExpression) -> FilterExpression:
        """Whether the left value is greater than the right one."""
    @staticmethod
    def ge(left: FilterExpression, right: FilterExpression) -> FilterExpression:
        """Whether the left value is greater than the right one, or equal."""
    @staticmethod
    def lt(left: FilterExpression, right: FilterExpression) -> FilterExpression:
        """Whether the left value is less than the right one."""
    @staticmethod
    def le(left: FilterExpression, right: FilterExpression) -> FilterExpression:
        """Whether the left value is less than the right one, or equal."""
    @staticmethod
    def regex_compare(regex: str, flags: int | None, bin: FilterExpression) -> FilterExpression:
        """Whether a POSIX regular expression matches a string. `flags`: bits of `RegexFlag`."""
    @staticmethod
    def geo_compare(left: FilterExpression, right: FilterExpression) -> FilterExpression:
        """Whether a point lies within a region: one of the two GeoJSON values is the region."""
    @staticmethod
    def in_list(value: FilterExpression, list: FilterExpression) -> FilterExpression:
        """Whether a list contains a value. Server 8.1.2 and later."""
    @staticmethod
    def map_keys(map: FilterExpression) -> FilterExpression:
        """The keys of a map, as a list. Server 8.1.2 and later."""
    @staticmethod
    def map_values(map: FilterExpression) -> FilterExpression:
        """The values of a map, as a list. Server 8.1.2 and later."""
    @staticmethod
    def not_(exp: FilterExpression) -> FilterExpression:
        """Whether an expression is false."""
    @staticmethod
    def and_(exps: Iterable[FilterExpression]) -> FilterExpression:
        """Whether all expressions are true."""
    @staticmethod
    def or_(exps: Iterable[FilterExpression]) -> FilterExpression:
        """Whether any expression is true."""
    @staticmethod
    def xor(exps: Iterable[FilterExpression]) -> FilterExpression:
        """Whether exactly one expression is true; the same as `exclusive`."""
    @staticmethod
    def exclusive(exps: Iterable[FilterExpression]) -> FilterExpression:
        """Whether exactly one expression is true."""
    @staticmethod
    def cond(exps: Iterable[FilterExpression]) -> FilterExpression:
        """A choice: conditions and values in turn, and at the end the value for when no condition is true. All
        values must have one type.
        """
    @staticmethod
    def exp_let(exps: Iterable[FilterExpression]) -> FilterExpression:
        """Variables for an expression: `exp_let([def_("x", ..), .., expression that uses var("x")])`."""
    @staticmethod
    def def_(name: str, value: FilterExpression) -> FilterExpression:
        """A variable of an `exp_let`: its name and its value."""
    @staticmethod
    def var(name: str) -> FilterExpression:
        """The value of a variable of an `exp_let`."""
    @staticmethod
    def from_server_compiled_ael(ael: str) -> FilterExpression:
        """Text in Aerospike's expression language, which the server parses. Server 8.2 and later."""
    @staticmethod
    def unknown() -> FilterExpression:
        """What cannot be evaluated: an error, unless the operation says that it is none."""
    @staticmethod
    def to_string(src: FilterExpression) -> FilterExpression:
        """An int, float, bool or bytes as a str. Server 8.2 and later."""
    @staticmethod
    def num_add(exps: Iterable[FilterExpression]) -> FilterExpression:
        """The sum of ints, or of floats."""
    @staticmethod
    def num_sub(exps: Iterable[FilterExpression]) -> FilterExpression:
        """The first number less all others; of one number, its negative."""
    @staticmethod
    def num_mul(exps: Iterable[FilterExpression]) -> FilterExpression:
        """The product of ints, or of floats."""
    @staticmethod
    def num_div(exps: Iterable[FilterExpression]) -> FilterExpression:
        """The first number divided by all others; of one number, its reciprocal."""
    @staticmethod
    def num_pow(base: FilterExpression, exponent: FilterExpression) -> FilterExpression:
        """A float to the power of another one."""
    @staticmethod
    def num_log(num: FilterExpression, base: FilterExpression) -> FilterExpression:
        """The logarithm of a float, to a base (a float)."""
    @staticmethod
    def num_mod(numerator: FilterExpression, denominator: FilterExpression) -> FilterExpression:
        """The remainder of the division of two ints."""
    @staticmethod
    def num_abs(value: FilterExpression) -> FilterExpression:
        """A number without its sign."""
    @staticmethod
    def num_floor(num: FilterExpression) -> FilterExpression:
        """The largest whole number that is not greater than a float; a float."""
    @staticmethod
    def num_ceil(num: FilterExpression) -> FilterExpression:
        """The smallest whole number that is not less than a float; a float."""
    @staticmethod
    def to_int(num: FilterExpression) -> FilterExpression:
        """A float as an int; what stands behind its point is cut off."""
    @staticmethod
    def to_float(num: FilterExpression) -> FilterExpression:
        """An int as a float."""
    @staticmethod
    def int_and(exps: Iterable[FilterExpression]) -> FilterExpression:
        """The bitwise and of ints."""
    @staticmethod
    def int_or(exps: Iterable[FilterExpression]) -> FilterExpression:
        """The bitwise or of ints."""
    @staticmethod
    def int_xor(exps: Iterable[FilterExpression]) -> FilterExpression:
        """The bitwise exclusive or of ints."""
    @staticmethod
    def int_not(exp: FilterExpression) -> FilterExpression:
        """An int with all bits inverted."""
    @staticmethod
    def int_lshift(value: FilterExpression, shift: FilterExpression) -> FilterExpression:
        """An int, shifted to the left by a number of bits."""
    @staticmethod
    def int_rshift(value: FilterExpression, shift: FilterExpression) -> FilterExpression:
        """An int, shifted to the right by a number of bits; zeros come in."""
    @staticmethod
    def int_arshift(value: FilterExpression, shift: FilterExpression) -> FilterExpression:
        """An int, shifted to the right by a number of bits; its sign comes in."""
    @staticmethod
    def int_count(exp: FilterExpression) -> FilterExpression:
        """How many bits of an int are set."""
    @staticmethod
    def int_lscan(value: FilterExpression, search: FilterExpression) -> FilterExpression:
        """The position of the first bit of an int, from the highest on, that is as `search` (a bool) says; -1: none."""
    @staticmethod
    def int_rscan(value: FilterExpression, search: FilterExpression) -> FilterExpression:
        """The position of the last bit of an int, from the lowest on, that is as `search` (a bool) says; -1: none."""
    @staticmethod
    def min(exps: Iterable[FilterExpression]) -> FilterExpression:
        """The smallest of ints, or of floats."""
    @staticmethod
    def max(exps: Iterable[FilterExpression]) -> FilterExpression:
        """The largest of ints, or of floats."""
    @staticmethod
    def list_size(bin: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression:
        """How many items a list has."""
    @staticmethod
    def list_join(bin: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression:
        """The str items of a list, one behind the other. Server 8.2 and later."""
    @staticmethod
    def list_join_by_separator(
        separator: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The str items of a list, with a separator between them. Server 8.2 and later."""
    @staticmethod
    def list_get_by_index(
        return_type: ListReturnType,
        value_type: ExpType,
        index: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The item at an index. `value_type`: the type of the result."""
    @staticmethod
    def list_get_by_rank(
        return_type: ListReturnType,
        value_type: ExpType,
        rank: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The item at a rank: 0 is the smallest. `value_type`: the type of the result."""
    @staticmethod
    def list_get_by_value(
        return_type: ListReturnType, value: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """All items that are equal to a value."""
    @staticmethod
    def list_get_by_value_range(
        return_type: ListReturnType,
        value_begin: FilterExpression | None,
        value_end: FilterExpression | None,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The items from `value_begin` (None: from the smallest) to before `value_end` (None: to the largest)."""
    @staticmethod
    def list_get_by_value_list(
        return_type: ListReturnType, values: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """All items that are in a list."""
    @staticmethod
    def list_get_by_index_range(
        return_type: ListReturnType, index: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The items from an index on."""
    @staticmethod
    def list_get_by_index_range_count(
        return_type: ListReturnType,
        index: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """So many items, from an index on."""
    @staticmethod
    def list_get_by_rank_range(
        return_type: ListReturnType, rank: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The items from a rank on."""
    @staticmethod
    def list_get_by_rank_range_count(
        return_type: ListReturnType,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """So many items, from a rank on."""
    @staticmethod
    def list_get_by_value_relative_rank_range(
        return_type: ListReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The items from a rank on that is relative to that of a value."""
    @staticmethod
    def list_get_by_value_relative_rank_range_count(
        return_type: ListReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """So many items, from a rank on that is relative to that of a value."""
    @staticmethod
    def list_append(
        policy: ListPolicy, value: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The list with a value behind its last item."""
    @staticmethod
    def list_append_items(
        policy: ListPolicy, list: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The list with the items of another one behind its last item."""
    @staticmethod
    def list_insert(
        policy: ListPolicy,
        index: FilterExpression,
        value: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The list with a value inserted at an index."""
    @staticmethod
    def list_insert_items(
        policy: ListPolicy,
        index: FilterExpression,
        list: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The list with the items of another one inserted at an index."""
    @staticmethod
    def list_increment(
        policy: ListPolicy,
        index: FilterExpression,
        value: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The list with the number at an index increased by a value."""
    @staticmethod
    def list_set(
        policy: ListPolicy,
        index: FilterExpression,
        value: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The list with another value at an index."""
    @staticmethod
    def list_clear(bin: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression:
        """The list without items."""
    @staticmethod
    def list_sort(sort_flags: ListSortFlags, bin: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression:
        """The list, sorted."""
    @staticmethod
    def list_remove_by_value(
        return_type: ListReturnType, value: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The list without the items that are equal to a value."""
    @staticmethod
    def list_remove_by_value_list(
        return_type: ListReturnType, values: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The list without the items that are in another one."""
    @staticmethod
    def list_remove_by_value_range(
        return_type: ListReturnType,
        value_begin: FilterExpression | None,
        value_end: FilterExpression | None,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The list without the items from `value_begin` (None: from the smallest) to before `value_end` (None: to
        the largest).
        """
    @staticmethod
    def list_remove_by_value_relative_rank_range(
        return_type: ListReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The list without the items from a rank on that is relative to that of a value."""
    @staticmethod
    def list_remove_by_value_relative_rank_range_count(
        return_type: ListReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The list without so many items from a rank on that is relative to that of a value."""
    @staticmethod
    def list_remove_by_index(
        return_type: ListReturnType, index: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The list without the item at an index."""
    @staticmethod
    def list_remove_by_index_range(
        return_type: ListReturnType, index: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The list without the items from an index on."""
    @staticmethod
    def list_remove_by_index_range_count(
        return_type: ListReturnType,
        index: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The list without so many items from an index on."""
    @staticmethod
    def list_remove_by_rank(
        return_type: ListReturnType, rank: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The list without the item at a rank: 0 is the smallest."""
    @staticmethod
    def list_remove_by_rank_range(
        return_type: ListReturnType, rank: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The list without the items from a rank on."""
    @staticmethod
    def list_remove_by_rank_range_count(
        return_type: ListReturnType,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The list without so many items from a rank on."""
    @staticmethod
    def map_size(bin: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression:
        """How many pairs a map has."""
    @staticmethod
    def map_get_by_key(
        return_type: MapReturnType,
        value_type: ExpType,
        key: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The pair of a key. `value_type`: the type of the result."""
    @staticmethod
    def map_get_by_rank(
        return_type: MapReturnType,
        value_type: ExpType,
        rank: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The pair at a rank: 0 has the smallest value. `value_type`: the type of the result."""
    @staticmethod
    def map_get_by_index(
        return_type: MapReturnType,
        value_type: ExpType,
        index: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The pair at an index, in the order of keys. `value_type`: the type of the result."""
    @staticmethod
    def map_get_by_value(
        return_type: MapReturnType, value: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """All pairs whose values are equal to one."""
    @staticmethod
    def map_get_by_value_range(
        return_type: MapReturnType,
        value_begin: FilterExpression | None,
        value_end: FilterExpression | None,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The pairs with values from `value_begin` (None: from the smallest) to before `value_end` (None: to the
        largest).
        """
    @staticmethod
    def map_get_by_value_list(
        return_type: MapReturnType, values: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """All pairs whose values are in a list."""
    @staticmethod
    def map_get_by_key_range(
        return_type: MapReturnType,
        key_begin: FilterExpression | None,
        key_end: FilterExpression | None,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The pairs with keys from `key_begin` (None: from the smallest) to before `key_end` (None: to the largest)."""
    @staticmethod
    def map_get_by_key_list(
        return_type: MapReturnType, keys: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """All pairs whose keys are in a list."""
    @staticmethod
    def map_get_by_key_relative_index_range(
        return_type: MapReturnType,
        key: FilterExpression,
        index: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The pairs from an index on that is relative to that of a key."""
    @staticmethod
    def map_get_by_key_relative_index_range_count(
        return_type: MapReturnType,
        key: FilterExpression,
        index: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """So many pairs, from an index on that is relative to that of a key."""
    @staticmethod
    def map_get_by_value_relative_rank_range(
        return_type: MapReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The pairs from a rank on that is relative to that of a value."""
    @staticmethod
    def map_get_by_value_relative_rank_range_count(
        return_type: MapReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """So many pairs, from a rank on that is relative to that of a value."""
    @staticmethod
    def map_get_by_index_range(
        return_type: MapReturnType, index: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The pairs from an index on."""
    @staticmethod
    def map_get_by_index_range_count(
        return_type: MapReturnType,
        index: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """So many pairs, from an index on."""
    @staticmethod
    def map_get_by_rank_range(
        return_type: MapReturnType, rank: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The pairs from a rank on."""
    @staticmethod
    def map_get_by_rank_range_count(
        return_type: MapReturnType,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """So many pairs, from a rank on."""
    @staticmethod
    def map_put(
        policy: MapPolicy,
        key: FilterExpression,
        value: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The map with a value for a key."""
    @staticmethod
    def map_put_items(
        policy: MapPolicy, map: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The map with the pairs of another one."""
    @staticmethod
    def map_increment(
        policy: MapPolicy,
        key: FilterExpression,
        incr: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The map with the number of a key increased by a value."""
    @staticmethod
    def map_clear(bin: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression:
        """The map without pairs."""
    @staticmethod
    def map_remove_by_key(
        return_type: MapReturnType, key: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The map without a key."""
    @staticmethod
    def map_remove_by_key_list(
        return_type: MapReturnType, keys: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The map without the keys of a list."""
    @staticmethod
    def map_remove_by_key_range(
        return_type: MapReturnType,
        key_begin: FilterExpression | None,
        key_end: FilterExpression | None,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The map without the keys from `key_begin` (None: from the smallest) to before `key_end` (None: to the
        largest).
        """
    @staticmethod
    def map_remove_by_key_relative_index_range(
        return_type: MapReturnType,
        key: FilterExpression,
        index: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The map without the pairs from an index on that is relative to that of a key."""
    @staticmethod
    def map_remove_by_key_relative_index_range_count(
        return_type: MapReturnType,
        key: FilterExpression,
        index: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The map without so many pairs from an index on that is relative to that of a key."""
    @staticmethod
    def map_remove_by_value(
        return_type: MapReturnType, value: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The map without the pairs whose values are equal to one."""
    @staticmethod
    def map_remove_by_value_list(
        return_type: MapReturnType, values: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The map without the pairs whose values are in a list."""
    @staticmethod
    def map_remove_by_value_range(
        return_type: MapReturnType,
        value_begin: FilterExpression | None,
        value_end: FilterExpression | None,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The map without the values from `value_begin` (None: from the smallest) to before `value_end` (None: to
        the largest).
        """
    @staticmethod
    def map_remove_by_value_relative_rank_range(
        return_type: MapReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The map without the pairs from a rank on that is relative to that of a value."""
    @staticmethod
    def map_remove_by_value_relative_rank_range_count(
        return_type: MapReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The map without so many pairs from a rank on that is relative to that of a value."""
    @staticmethod
    def map_remove_by_index(
        return_type: MapReturnType, index: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The map without the pair at an index."""
    @staticmethod
    def map_remove_by_index_range(
        return_type: MapReturnType, index: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The map without the pairs from an index on."""
    @staticmethod
    def map_remove_by_index_range_count(
        return_type: MapReturnType,
        index: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The map without so many pairs from an index on."""
    @staticmethod
    def map_remove_by_rank(
        return_type: MapReturnType, rank: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The map without the pair at a rank: 0 has the smallest value."""
    @staticmethod
    def map_remove_by_rank_range(
        return_type: MapReturnType, rank: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The map without the pairs from a rank on."""
    @staticmethod
    def map_remove_by_rank_range_count(
        return_type: MapReturnType,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The map without so many pairs from a rank on."""
    @staticmethod
    def bit_resize(
        policy: BitPolicy, byte_size: FilterExpression, resize_flags: BitwiseResizeFlags, bin: FilterExpression
    ) -> FilterExpression:
        """The blob with another size, in bytes."""
    @staticmethod
    def bit_insert(
        policy: BitPolicy, byte_offset: FilterExpression, value: FilterExpression, bin: FilterExpression
    ) -> FilterExpression:
        """The blob with bytes inserted at an offset in bytes."""
    @staticmethod
    def bit_remove(
        policy: BitPolicy, byte_offset: FilterExpression, byte_size: FilterExpression, bin: FilterExpression
    ) -> FilterExpression:
        """The blob without some bytes. Offset and size are in bytes."""
    @staticmethod
    def bit_set(
        policy: BitPolicy,
        bit_offset: FilterExpression,
        bit_size: FilterExpression,
        value: FilterExpression,
        bin: FilterExpression,
    ) -> FilterExpression:
        """The blob with bits set to those of `value` (bytes). Offsets and sizes are in bits, as in all that follow."""
    @staticmethod
    def bit_or(
        policy: BitPolicy,
        bit_offset: FilterExpression,
        bit_size: FilterExpression,
        value: FilterExpression,
        bin: FilterExpression,
    ) -> FilterExpression:
        """The blob after a bitwise or with `value` (bytes)."""
    @staticmethod
    def bit_xor(
        policy: BitPolicy,
        bit_offset: FilterExpression,
        bit_size: FilterExpression,
        value: FilterExpression,
        bin: FilterExpression,
    ) -> FilterExpression:
        """The blob after a bitwise exclusive or with `value` (bytes)."""
    @staticmethod
    def bit_and(
        policy: BitPolicy,
        bit_offset: FilterExpression,
        bit_size: FilterExpression,
        value: FilterExpression,
        bin: FilterExpression,
    ) -> FilterExpression:
        """The blob after a bitwise and with `value` (bytes)."""
    @staticmethod
    def bit_not(
        policy: BitPolicy, bit_offset: FilterExpression, bit_size: FilterExpression, bin: FilterExpression
    ) -> FilterExpression:
        """The blob with bits inverted."""
    @staticmethod
    def bit_lshift(
        policy: BitPolicy,
        bit_offset: FilterExpression,
        bit_size: FilterExpression,
        shift: FilterExpression,
        bin: FilterExpression,
    ) -> FilterExpression:
        """The blob with bits shifted to the left."""
    @staticmethod
    def bit_rshift(
        policy: BitPolicy,
        bit_offset: FilterExpression,
        bit_size: FilterExpression,
        shift: FilterExpression,
        bin: FilterExpression,
    ) -> FilterExpression:
        """The blob with bits shifted to the right."""
    @staticmethod
    def bit_add(
        policy: BitPolicy,
        bit_offset: FilterExpression,
        bit_size: FilterExpression,
        value: FilterExpression,
        signed: bool,
        action: BitwiseOverflowActions,
        bin: FilterExpression,
    ) -> FilterExpression:
        """The blob with `value` added to an integer of up to 64 bits."""
    @staticmethod
    def bit_subtract(
        policy: BitPolicy,
        bit_offset: FilterExpression,
        bit_size: FilterExpression,
        value: FilterExpression,
        signed: bool,
        action: BitwiseOverflowActions,
        bin: FilterExpression,
    ) -> FilterExpression:
        """The blob with `value` subtracted from an integer of up to 64 bits."""
    @staticmethod
    def bit_set_int(
        policy: BitPolicy,
        bit_offset: FilterExpression,
        bit_size: FilterExpression,
        value: FilterExpression,
        bin: FilterExpression,
    ) -> FilterExpression:
        """The blob with an integer of up to 64 bits set."""
    @staticmethod
    def bit_get(bit_offset: FilterExpression, bit_size: FilterExpression, bin: FilterExpression) -> FilterExpression:
        """Bits, as bytes."""
    @staticmethod
    def bit_count(bit_offset: FilterExpression, bit_size: FilterExpression, bin: FilterExpression) -> FilterExpression:
        """How many bits are set."""
    @staticmethod
    def bit_lscan(
        bit_offset: FilterExpression, bit_size: FilterExpression, value: FilterExpression, bin: FilterExpression
    ) -> FilterExpression:
        """The offset of the first bit that is as `value` (a bool) says; -1: none."""
    @staticmethod
    def bit_rscan(
        bit_offset: FilterExpression, bit_size: FilterExpression, value: FilterExpression, bin: FilterExpression
    ) -> FilterExpression:
        """The offset of the last bit that is as `value` (a bool) says; -1: none."""
    @staticmethod
    def bit_get_int(
        bit_offset: FilterExpression, bit_size: FilterExpression, signed: bool, bin: FilterExpression
    ) -> FilterExpression:
        """An integer of up to 64 bits."""
    @staticmethod
    def bit_b64_encode(bin: FilterExpression) -> FilterExpression:
        """The blob as base64 text. Server 8.2 and later."""
    @staticmethod
    def bit_b64_encode_range(
        byte_offset: FilterExpression, byte_size: FilterExpression, invert_size: bool, bin: FilterExpression
    ) -> FilterExpression:
        """Bytes as base64 text; with `invert_size` their number counts from the end. Server 8.2 and later."""
    @staticmethod
    def hll_init(policy: HLLPolicy, index_bit_count: FilterExpression, bin: FilterExpression) -> FilterExpression:
        """A new HLL. `index_bit_count`: 4 to 16, as everywhere here."""
    @staticmethod
    def hll_init_with_min_hash(
        policy: HLLPolicy, index_bit_count: FilterExpression, min_hash_count: FilterExpression, bin: FilterExpression
    ) -> FilterExpression:
        """A new HLL with min-hash bits (`min_hash_count`: 4 to 51)."""
    @staticmethod
    def hll_add(policy: HLLPolicy, list: FilterExpression, bin: FilterExpression) -> FilterExpression:
        """The HLL with the values of a list."""
    @staticmethod
    def hll_add_with_index(
        policy: HLLPolicy, list: FilterExpression, index_bit_count: FilterExpression, bin: FilterExpression
    ) -> FilterExpression:
        """The HLL with the values of a list; a new one if there is none."""
    @staticmethod
    def hll_add_with_index_and_min_hash(
        policy: HLLPolicy,
        list: FilterExpression,
        index_bit_count: FilterExpression,
        min_hash_count: FilterExpression,
        bin: FilterExpression,
    ) -> FilterExpression:
        """The HLL with the values of a list; a new one with min-hash bits if there is none."""
    @staticmethod
    def hll_get_count(bin: FilterExpression) -> FilterExpression:
        """About how many values were added."""
    @staticmethod
    def hll_get_union(list: FilterExpression, bin: FilterExpression) -> FilterExpression:
        """The union with a list of HLLs."""
    @staticmethod
    def hll_get_union_count(list: FilterExpression, bin: FilterExpression) -> FilterExpression:
        """About how many values the union with a list of HLLs has."""
    @staticmethod
    def hll_get_intersect_count(list: FilterExpression, bin: FilterExpression) -> FilterExpression:
        """About how many values the intersection with a list of HLLs has."""
    @staticmethod
    def hll_get_similarity(list: FilterExpression, bin: FilterExpression) -> FilterExpression:
        """How similar the HLL is to a list of HLLs: a float of 0 to 1."""
    @staticmethod
    def hll_describe(bin: FilterExpression) -> FilterExpression:
        """A list of the numbers of index bits and of min-hash bits."""
    @staticmethod
    def hll_may_contain(list: FilterExpression, bin: FilterExpression) -> FilterExpression:
        """1 if all values of a list may have been added, 0 if one was certainly not."""
    @staticmethod
    def string_strlen(src: FilterExpression) -> FilterExpression:
        """How many characters a str has. Server 8.2 and later, as all of these."""
    @staticmethod
    def string_substr(start: FilterExpression, src: FilterExpression) -> FilterExpression:
        """The characters from an index on; negative ones count from the end, here and in what follows."""
    @staticmethod
    def string_substr_range(start: FilterExpression, end: FilterExpression, src: FilterExpression) -> FilterExpression:
        """The characters from `start` to before `end`."""
    @staticmethod
    def string_char_at(index: FilterExpression, src: FilterExpression) -> FilterExpression:
        """The character at an index."""
    @staticmethod
    def string_find(needle: FilterExpression, src: FilterExpression) -> FilterExpression:
        """The index of the first occurrence of a str; -1: none."""
    @staticmethod
    def string_find_nth(
        needle: FilterExpression, occurrence: FilterExpression, src: FilterExpression
    ) -> FilterExpression:
        """The index of an occurrence of a str, 1 is the first and -1 the last; -1: none."""
    @staticmethod
    def string_contains(needle: FilterExpression, src: FilterExpression) -> FilterExpression:
        """Whether a str contains another one."""
    @staticmethod
    def string_starts_with(prefix: FilterExpression, src: FilterExpression) -> FilterExpression:
        """Whether a str starts with another one."""
    @staticmethod
    def string_ends_with(suffix: FilterExpression, src: FilterExpression) -> FilterExpression:
        """Whether a str ends with another one."""
    @staticmethod
    def string_to_integer(src: FilterExpression) -> FilterExpression:
        """The int that a str spells."""
    @staticmethod
    def string_to_double(src: FilterExpression) -> FilterExpression:
        """The float that a str spells."""
    @staticmethod
    def string_byte_length(src: FilterExpression) -> FilterExpression:
        """How many bytes of UTF-8 a str has."""
    @staticmethod
    def string_is_numeric(src: FilterExpression) -> FilterExpression:
        """Whether a str spells a number."""
    @staticmethod
    def string_is_numeric_typed(numeric_type: StringNumericType, src: FilterExpression) -> FilterExpression:
        """Whether a str spells a number of this kind."""
    @staticmethod
    def string_is_upper(src: FilterExpression) -> FilterExpression:
        """Whether all letters are upper case."""
    @staticmethod
    def string_is_lower(src: FilterExpression) -> FilterExpression:
        """Whether all letters are lower case."""
    @staticmethod
    def string_to_blob(src: FilterExpression) -> FilterExpression:
        """The UTF-8 of a str, as bytes."""
    @staticmethod
    def string_split(src: FilterExpression) -> FilterExpression:
        """The characters of a str, as a list."""
    @staticmethod
    def string_split_by_separator(separator: FilterExpression, src: FilterExpression) -> FilterExpression:
        """The parts of a str between separators, as a list."""
    @staticmethod
    def string_b64_decode(src: FilterExpression) -> FilterExpression:
        """The bytes whose base64 text a str is."""
    @staticmethod
    def string_regex_compare(pattern: FilterExpression, src: FilterExpression) -> FilterExpression:
        """Whether a regular expression (ICU) matches."""
    @staticmethod
    def string_regex_compare_with_flags(
        pattern: FilterExpression, regex_flags: int | None, src: FilterExpression
    ) -> FilterExpression:
        """Whether a regular expression (ICU) matches. `regex_flags`: bits of `StringRegexFlags`."""
    @staticmethod
    def string_insert(
        flags: int | None, index: FilterExpression, value: FilterExpression, src: FilterExpression
    ) -> FilterExpression:
        """The str with another one inserted at an index. `flags`: bits of `StringWriteFlags`, here and in what
        follows.
        """
    @staticmethod
    def string_overwrite(
        flags: int | None, index: FilterExpression, value: FilterExpression, src: FilterExpression
    ) -> FilterExpression:
        """The str with another one written over it from an index on."""
    @staticmethod
    def string_concat(flags: int | None, values: FilterExpression, src: FilterExpression) -> FilterExpression:
        """The str with those of a list behind it."""
    @staticmethod
    def string_append(flags: int | None, value: FilterExpression, src: FilterExpression) -> FilterExpression:
        """The str with another one behind it."""
    @staticmethod
    def string_prepend(flags: int | None, value: FilterExpression, src: FilterExpression) -> FilterExpression:
        """The str with another one in front of it."""
    @staticmethod
    def string_snip(
        flags: int | None, start: FilterExpression, end: FilterExpression, src: FilterExpression
    ) -> FilterExpression:
        """The str without the characters from `start` to before `end`."""
    @staticmethod
    def string_snip_from(start: FilterExpression, src: FilterExpression) -> FilterExpression:
        """The str without the characters from an index on."""
    @staticmethod
    def string_replace(
        flags: int | None, needle: FilterExpression, replacement: FilterExpression, src: FilterExpression
    ) -> FilterExpression:
        """The str with the first occurrence of `needle` replaced."""
    @staticmethod
    def string_replace_all(
        flags: int | None, needle: FilterExpression, replacement: FilterExpression, src: FilterExpression
    ) -> FilterExpression:
        """The str with all occurrences of `needle` replaced."""
    @staticmethod
    def string_upper(flags: int | None, src: FilterExpression) -> FilterExpression:
        """The str in upper case."""
    @staticmethod
    def string_lower(flags: int | None, src: FilterExpression) -> FilterExpression:
        """The str in lower case."""
    @staticmethod
    def string_case_fold(flags: int | None, src: FilterExpression) -> FilterExpression:
        """What strs that differ in case only have in common."""
    @staticmethod
    def string_normalize_nfc(flags: int | None, src: FilterExpression) -> FilterExpression:
        """The str in Unicode normal form C."""
    @staticmethod
    def string_trim_start(flags: int | None, src: FilterExpression) -> FilterExpression:
        """The str without white space at its start."""
    @staticmethod
    def string_trim_end(flags: int | None, src: FilterExpression) -> FilterExpression:
        """The str without white space at its end."""
    @staticmethod
    def string_trim(flags: int | None, src: FilterExpression) -> FilterExpression:
        """The str without white space at both ends."""
    @staticmethod
    def string_pad_start(
        flags: int | None, target_length: FilterExpression, pad_string: FilterExpression, src: FilterExpression
    ) -> FilterExpression:
        """The str, padded at its start up to a number of characters."""
    @staticmethod
    def string_pad_end(
        flags: int | None, target_length: FilterExpression, pad_string: FilterExpression, src: FilterExpression
    ) -> FilterExpression:
        """The str, padded at its end up to a number of characters."""
    @staticmethod
    def string_repeat(flags: int | None, count: FilterExpression, src: FilterExpression) -> FilterExpression:
        """The str, so many times."""
    @staticmethod
    def string_regex_replace(
        pattern: FilterExpression, replacement: FilterExpression, regex_flags: int | None, src: FilterExpression
    ) -> FilterExpression:
        """The str with what a regular expression (ICU) matches replaced. `regex_flags`: bits of `StringRegexFlags`;
        `GLOBAL` replaces all matches.
        """
    @staticmethod
    def bool_loop_var(part: LoopVarPart) -> FilterExpression:
        """The key, value or index of the element that a path is at, a bool. Server 8.1.1 and later, as all of these."""
    @staticmethod
    def int_loop_var(part: LoopVarPart) -> FilterExpression:
        """The key, value or index of the element that a path is at, an int."""
    @staticmethod
    def float_loop_var(part: LoopVarPart) -> FilterExpression:
        """The key, value or index of the element that a path is at, a float."""
    @staticmethod
    def string_loop_var(part: LoopVarPart) -> FilterExpression:
        """The key, value or index of the element that a path is at, a str."""
    @staticmethod
    def list_loop_var(part: LoopVarPart) -> FilterExpression:
        """The value of the element that a path is at, a list."""
    @staticmethod
    def map_loop_var(part: LoopVarPart) -> FilterExpression:
        """The value of the element that a path is at, a map."""
    @staticmethod
    def blob_loop_var(part: LoopVarPart) -> FilterExpression:
        """The key, value or index of the element that a path is at, bytes."""
    @staticmethod
    def hll_loop_var(part: LoopVarPart) -> FilterExpression:
        """The value of the element that a path is at, an HLL."""
    @staticmethod
    def nil_loop_var(part: LoopVarPart) -> FilterExpression:
        """The value of the element that a path is at, nil."""
    @staticmethod
    def geo_json_loop_var(part: LoopVarPart) -> FilterExpression:
        """The value of the element that a path is at, GeoJSON."""
    @staticmethod
    def remove_result() -> FilterExpression:
        """As the result of an expression that modifies what a path selects: removes it. Server 8.1.1 and later."""
    @staticmethod
    def exp_select_by_path(
        return_type: ExpType, flag: int | None, bin_exp: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """What a path selects, as `flag` (bits of `SelectFlags`) says. `return_type` is the type of the result.
        Server 8.1.1 and later, as all of these.
        """
    @staticmethod
    def exp_modify_by_path(
        return_type: ExpType,
        flag: int | None,
        bin_exp: FilterExpression,
        modify_exp: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """`bin_exp` with what a path selects set to what `modify_exp` gives for it. `flag`: bits of `ModifyFlags`."""
    @staticmethod
    def exp_select_values(
        return_type: ExpType, bin_exp: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """A list of the values that a path selects."""
    @staticmethod
    def exp_select_map_keys(
        return_type: ExpType, bin_exp: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """A list of the map keys that a path selects."""
    @staticmethod
    def exp_select_map_entries(
        return_type: ExpType, bin_exp: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """A list of the keys and values that a path selects, in turn."""
    @staticmethod
    def exp_select_matching_tree(
        return_type: ExpType, bin_exp: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """`bin_exp` with nothing but what a path selects."""
    @staticmethod
    def exp_modify(
        return_type: ExpType, bin_exp: FilterExpression, modify_exp: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """`bin_exp` with what a path selects set to what `modify_exp` gives for it."""
    @staticmethod
    def exp_modify_no_fail(
        return_type: ExpType, bin_exp: FilterExpression, modify_exp: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """As `exp_modify`; what has another type than the path says stays as it is."""
    @staticmethod
    def exp_remove(return_type: ExpType, bin_exp: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression:
        """`bin_exp` without what a path selects."""

def in_list(value: FilterExpression, list_exp: FilterExpression) -> FilterExpression:
    """Whether a list contains a value. Server 8.1.2 and later."""

def map_keys(map_exp: FilterExpression) -> FilterExpression:
    """The keys of a map, as a list. Server 8.1.2 and later."""

def map_values(map_exp: FilterExpression) -> FilterExpression:
    """The values of a map, as a list. Server 8.1.2 and later."""
