"""Expressions that the server evaluates."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, final

from ._cdt import CTX, ExpType, LoopVarPart
from ._expression_collections import _CollectionExpressions
from ._expression_values import _ValueExpressions
from ._values import GeoJSON

@final
class FilterExpression(_CollectionExpressions, _ValueExpressions):
    """An expression that the server evaluates: `FilterExpression.gt(FilterExpression.int_bin("age"),
    FilterExpression.int_val(17))`.

    As `filter_expression` of a policy, it decides for each record whether the call does anything. If it is false or
    cannot be evaluated, the call raises `FilteredOutError`; a query leaves the record out of its results.
    `ExpOperation` returns the value of an expression or writes it to a bin.

    All constructors are static methods. The argument `ctx` selects a nested list or map: a sequence of `CTX`, empty for
    the bin itself. The argument `bin` is the operand: a bin (`list_bin("a")`) or any expression of the right type. The
    server checks the types and answers with `ResultCode.PARAMETER_ERROR` if they do not fit.

    Expressions are immutable, encoded on creation, and can be reused, from any number of threads. Two expressions are
    equal if their encodings are equal. They can be pickled.

    Constructors raise `TypeError` for an argument of the wrong type, `OverflowError` for ints of more than 64 bits, and
    `InvalidArgumentError` (a `ValueError`) for values that cannot be sent, empty sequences of expressions and nesting
    of more than 256 levels.
    """

    def base64(self) -> str:
        """The encoded expression as base64 text, as accepted by other clients and `from_base64`."""
    @staticmethod
    def from_base64(b64: str) -> FilterExpression:
        """Decodes the text of `base64`, also of other clients.

        The bytes are not checked; the server refuses invalid ones. Raises `Base64DecodeError` (a `ValueError`) for text
        that is not base64.
        """
    @staticmethod
    def set_name() -> FilterExpression:
        """The name of the record's set."""
    @staticmethod
    def key(exp_type: ExpType) -> FilterExpression:
        """The user key of the record, if it was stored with it (`send_key`), as a value of this type."""
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
        """A float as an int; the fraction is cut off."""
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
        """An int, shifted to the right by a number of bits; zeros are shifted in."""
    @staticmethod
    def int_arshift(value: FilterExpression, shift: FilterExpression) -> FilterExpression:
        """An int, shifted to the right by a number of bits; the sign bit is copied."""
    @staticmethod
    def int_count(exp: FilterExpression) -> FilterExpression:
        """How many bits of an int are set."""
    @staticmethod
    def int_lscan(value: FilterExpression, search: FilterExpression) -> FilterExpression:
        """The position of the first bit of an int, counted from the highest bit, that equals `search` (a bool); -1
        if there is none.
        """
    @staticmethod
    def int_rscan(value: FilterExpression, search: FilterExpression) -> FilterExpression:
        """The position of the last bit of an int, searched from the lowest bit, that equals `search` (a bool); -1 if
        there is none.
        """
    @staticmethod
    def min(exps: Iterable[FilterExpression]) -> FilterExpression:
        """The smallest of ints, or of floats."""
    @staticmethod
    def max(exps: Iterable[FilterExpression]) -> FilterExpression:
        """The largest of ints, or of floats."""
    @staticmethod
    def val(value: Any) -> FilterExpression:
        """A constant, by the type of a Python value: `None`, bool, int, float, str, bytes, list, tuple, dict (as by
        `map_val`) or `GeoJSON`.

        Raises `TypeError` for other types.
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
        """A choice: alternating conditions and values, then the value to use if no condition is true. All values
        must have the same type.
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
        """Text in Aerospike's expression language, which the server parses. Server 8.2 and later. It must not be
        empty.
        """
    @staticmethod
    def unknown() -> FilterExpression:
        """An expression that cannot be evaluated: an error, unless the operation ignores it."""
    @staticmethod
    def to_string(src: FilterExpression) -> FilterExpression:
        """An int, float, bool or bytes as a str. Server 8.2 and later."""
    @staticmethod
    def bool_loop_var(part: LoopVarPart) -> FilterExpression:
        """The key, value or index of the current element of a path, a bool. Server 8.1.1 and later, like all of
        these.
        """
    @staticmethod
    def int_loop_var(part: LoopVarPart) -> FilterExpression:
        """The key, value or index of the current element of a path, an int."""
    @staticmethod
    def float_loop_var(part: LoopVarPart) -> FilterExpression:
        """The key, value or index of the current element of a path, a float."""
    @staticmethod
    def string_loop_var(part: LoopVarPart) -> FilterExpression:
        """The key, value or index of the current element of a path, a str."""
    @staticmethod
    def list_loop_var(part: LoopVarPart) -> FilterExpression:
        """The value of the current element of a path, a list."""
    @staticmethod
    def map_loop_var(part: LoopVarPart) -> FilterExpression:
        """The value of the current element of a path, a map."""
    @staticmethod
    def blob_loop_var(part: LoopVarPart) -> FilterExpression:
        """The key, value or index of the current element of a path, bytes."""
    @staticmethod
    def hll_loop_var(part: LoopVarPart) -> FilterExpression:
        """The value of the current element of a path, an HLL."""
    @staticmethod
    def nil_loop_var(part: LoopVarPart) -> FilterExpression:
        """The value of the current element of a path, nil."""
    @staticmethod
    def geo_json_loop_var(part: LoopVarPart) -> FilterExpression:
        """The value of the current element of a path, GeoJSON."""
    @staticmethod
    def remove_result() -> FilterExpression:
        """Removes the element, as the result of an expression that modifies what a path selects. Server 8.1.1 and
        later.
        """
    @staticmethod
    def exp_select_by_path(
        return_type: ExpType, flag: int | None, bin_exp: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """What a path selects, as `flag` (bits of `SelectFlags`) says. `return_type` is the type of the result. Server
        8.1.1 and later, like all of these.
        """
    @staticmethod
    def exp_modify_by_path(
        return_type: ExpType,
        flag: int | None,
        bin_exp: FilterExpression,
        modify_exp: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """`bin_exp` with each element that a path selects set to the value of `modify_exp`. `flag`: bits of
        `ModifyFlags`.
        """
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
        """A list of alternating keys and values that a path selects."""
    @staticmethod
    def exp_select_matching_tree(
        return_type: ExpType, bin_exp: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """`bin_exp` reduced to what a path selects."""
    @staticmethod
    def exp_modify(
        return_type: ExpType, bin_exp: FilterExpression, modify_exp: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """`bin_exp` with each element that a path selects set to the value of `modify_exp`."""
    @staticmethod
    def exp_modify_no_fail(
        return_type: ExpType, bin_exp: FilterExpression, modify_exp: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The same as `exp_modify`, but leaves elements unchanged if their type does not fit the path."""
    @staticmethod
    def exp_remove(return_type: ExpType, bin_exp: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression:
        """`bin_exp` without what a path selects."""
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
        """The remainder of the record's digest as a number; use it to sample records."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def in_list(value: FilterExpression, list_exp: FilterExpression) -> FilterExpression:
    """Whether a list contains a value; the same as `FilterExpression.in_list`. Server 8.1.2 and later."""

def map_keys(map_exp: FilterExpression) -> FilterExpression:
    """The keys of a map as a list; the same as `FilterExpression.map_keys`. Server 8.1.2 and later."""

def map_values(map_exp: FilterExpression) -> FilterExpression:
    """The values of a map as a list; the same as `FilterExpression.map_values`. Server 8.1.2 and later."""
