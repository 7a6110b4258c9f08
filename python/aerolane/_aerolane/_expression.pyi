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
    def base64(self) -> str: ...
    @staticmethod
    def from_base64(b64: str) -> FilterExpression: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @staticmethod
    def key(exp_type: ExpType) -> FilterExpression: ...
    @staticmethod
    def key_exists() -> FilterExpression: ...
    @staticmethod
    def int_bin(name: str) -> FilterExpression: ...
    @staticmethod
    def string_bin(name: str) -> FilterExpression: ...
    @staticmethod
    def blob_bin(name: str) -> FilterExpression: ...
    @staticmethod
    def bool_bin(name: str) -> FilterExpression: ...
    @staticmethod
    def float_bin(name: str) -> FilterExpression: ...
    @staticmethod
    def geo_bin(name: str) -> FilterExpression: ...
    @staticmethod
    def list_bin(name: str) -> FilterExpression: ...
    @staticmethod
    def map_bin(name: str) -> FilterExpression: ...
    @staticmethod
    def hll_bin(name: str) -> FilterExpression: ...
    @staticmethod
    def bin_exists(name: str) -> FilterExpression: ...
    @staticmethod
    def bin_type(name: str) -> FilterExpression: ...
    @staticmethod
    def set_name() -> FilterExpression: ...
    @staticmethod
    def record_size() -> FilterExpression: ...
    @staticmethod
    def last_update() -> FilterExpression: ...
    @staticmethod
    def since_update() -> FilterExpression: ...
    @staticmethod
    def void_time() -> FilterExpression: ...
    @staticmethod
    def ttl() -> FilterExpression: ...
    @staticmethod
    def is_tombstone() -> FilterExpression: ...
    @staticmethod
    def digest_modulo(modulo: int) -> FilterExpression: ...
    @staticmethod
    def val(value: Any) -> FilterExpression: ...
    @staticmethod
    def int_val(val: int) -> FilterExpression: ...
    @staticmethod
    def bool_val(val: bool) -> FilterExpression: ...
    @staticmethod
    def string_val(val: str) -> FilterExpression: ...
    @staticmethod
    def float_val(val: float) -> FilterExpression: ...
    @staticmethod
    def blob_val(val: bytes | bytearray | memoryview | Sequence[int]) -> FilterExpression: ...
    @staticmethod
    def list_val(val: Iterable[Any]) -> FilterExpression: ...
    @staticmethod
    def map_val(val: Mapping[Any, Any]) -> FilterExpression: ...
    @staticmethod
    def geo_val(val: str | dict[str, Any] | GeoJSON) -> FilterExpression: ...
    @staticmethod
    def nil() -> FilterExpression: ...
    @staticmethod
    def infinity() -> FilterExpression: ...
    @staticmethod
    def wildcard() -> FilterExpression: ...
    @staticmethod
    def eq(left: FilterExpression, right: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def ne(left: FilterExpression, right: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def gt(left: FilterExpression, right: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def ge(left: FilterExpression, right: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def lt(left: FilterExpression, right: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def le(left: FilterExpression, right: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def regex_compare(regex: str, flags: int | None, bin: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def geo_compare(left: FilterExpression, right: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def in_list(value: FilterExpression, list: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def map_keys(map: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def map_values(map: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def not_(exp: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def and_(exps: Iterable[FilterExpression]) -> FilterExpression: ...
    @staticmethod
    def or_(exps: Iterable[FilterExpression]) -> FilterExpression: ...
    @staticmethod
    def xor(exps: Iterable[FilterExpression]) -> FilterExpression: ...
    @staticmethod
    def exclusive(exps: Iterable[FilterExpression]) -> FilterExpression: ...
    @staticmethod
    def cond(exps: Iterable[FilterExpression]) -> FilterExpression: ...
    @staticmethod
    def exp_let(exps: Iterable[FilterExpression]) -> FilterExpression: ...
    @staticmethod
    def def_(name: str, value: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def var(name: str) -> FilterExpression: ...
    @staticmethod
    def from_server_compiled_ael(ael: str) -> FilterExpression: ...
    @staticmethod
    def unknown() -> FilterExpression: ...
    @staticmethod
    def to_string(src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def num_add(exps: Iterable[FilterExpression]) -> FilterExpression: ...
    @staticmethod
    def num_sub(exps: Iterable[FilterExpression]) -> FilterExpression: ...
    @staticmethod
    def num_mul(exps: Iterable[FilterExpression]) -> FilterExpression: ...
    @staticmethod
    def num_div(exps: Iterable[FilterExpression]) -> FilterExpression: ...
    @staticmethod
    def num_pow(base: FilterExpression, exponent: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def num_log(num: FilterExpression, base: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def num_mod(numerator: FilterExpression, denominator: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def num_abs(value: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def num_floor(num: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def num_ceil(num: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def to_int(num: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def to_float(num: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def int_and(exps: Iterable[FilterExpression]) -> FilterExpression: ...
    @staticmethod
    def int_or(exps: Iterable[FilterExpression]) -> FilterExpression: ...
    @staticmethod
    def int_xor(exps: Iterable[FilterExpression]) -> FilterExpression: ...
    @staticmethod
    def int_not(exp: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def int_lshift(value: FilterExpression, shift: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def int_rshift(value: FilterExpression, shift: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def int_arshift(value: FilterExpression, shift: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def int_count(exp: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def int_lscan(value: FilterExpression, search: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def int_rscan(value: FilterExpression, search: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def min(exps: Iterable[FilterExpression]) -> FilterExpression: ...
    @staticmethod
    def max(exps: Iterable[FilterExpression]) -> FilterExpression: ...
    @staticmethod
    def list_size(bin: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression: ...
    @staticmethod
    def list_join(bin: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression: ...
    @staticmethod
    def list_join_by_separator(
        separator: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def list_get_by_index(
        return_type: ListReturnType,
        value_type: ExpType,
        index: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def list_get_by_rank(
        return_type: ListReturnType,
        value_type: ExpType,
        rank: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def list_get_by_value(
        return_type: ListReturnType, value: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def list_get_by_value_range(
        return_type: ListReturnType,
        value_begin: FilterExpression | None,
        value_end: FilterExpression | None,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def list_get_by_value_list(
        return_type: ListReturnType, values: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def list_get_by_index_range(
        return_type: ListReturnType, index: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def list_get_by_index_range_count(
        return_type: ListReturnType,
        index: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def list_get_by_rank_range(
        return_type: ListReturnType, rank: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def list_get_by_rank_range_count(
        return_type: ListReturnType,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def list_get_by_value_relative_rank_range(
        return_type: ListReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def list_get_by_value_relative_rank_range_count(
        return_type: ListReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def list_append(
        policy: ListPolicy, value: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def list_append_items(
        policy: ListPolicy, list: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def list_insert(
        policy: ListPolicy,
        index: FilterExpression,
        value: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def list_insert_items(
        policy: ListPolicy,
        index: FilterExpression,
        list: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def list_increment(
        policy: ListPolicy,
        index: FilterExpression,
        value: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def list_set(
        policy: ListPolicy,
        index: FilterExpression,
        value: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def list_clear(bin: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression: ...
    @staticmethod
    def list_sort(sort_flags: ListSortFlags, bin: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression: ...
    @staticmethod
    def list_remove_by_value(
        return_type: ListReturnType, value: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def list_remove_by_value_list(
        return_type: ListReturnType, values: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def list_remove_by_value_range(
        return_type: ListReturnType,
        value_begin: FilterExpression | None,
        value_end: FilterExpression | None,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def list_remove_by_value_relative_rank_range(
        return_type: ListReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def list_remove_by_value_relative_rank_range_count(
        return_type: ListReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def list_remove_by_index(
        return_type: ListReturnType, index: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def list_remove_by_index_range(
        return_type: ListReturnType, index: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def list_remove_by_index_range_count(
        return_type: ListReturnType,
        index: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def list_remove_by_rank(
        return_type: ListReturnType, rank: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def list_remove_by_rank_range(
        return_type: ListReturnType, rank: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def list_remove_by_rank_range_count(
        return_type: ListReturnType,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_size(bin: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression: ...
    @staticmethod
    def map_get_by_key(
        return_type: MapReturnType,
        value_type: ExpType,
        key: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_get_by_rank(
        return_type: MapReturnType,
        value_type: ExpType,
        rank: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_get_by_index(
        return_type: MapReturnType,
        value_type: ExpType,
        index: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_get_by_value(
        return_type: MapReturnType, value: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def map_get_by_value_range(
        return_type: MapReturnType,
        value_begin: FilterExpression | None,
        value_end: FilterExpression | None,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_get_by_value_list(
        return_type: MapReturnType, values: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def map_get_by_key_range(
        return_type: MapReturnType,
        key_begin: FilterExpression | None,
        key_end: FilterExpression | None,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_get_by_key_list(
        return_type: MapReturnType, keys: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def map_get_by_key_relative_index_range(
        return_type: MapReturnType,
        key: FilterExpression,
        index: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_get_by_key_relative_index_range_count(
        return_type: MapReturnType,
        key: FilterExpression,
        index: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_get_by_value_relative_rank_range(
        return_type: MapReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_get_by_value_relative_rank_range_count(
        return_type: MapReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_get_by_index_range(
        return_type: MapReturnType, index: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def map_get_by_index_range_count(
        return_type: MapReturnType,
        index: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_get_by_rank_range(
        return_type: MapReturnType, rank: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def map_get_by_rank_range_count(
        return_type: MapReturnType,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_put(
        policy: MapPolicy,
        key: FilterExpression,
        value: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_put_items(
        policy: MapPolicy, map: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def map_increment(
        policy: MapPolicy,
        key: FilterExpression,
        incr: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_clear(bin: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression: ...
    @staticmethod
    def map_remove_by_key(
        return_type: MapReturnType, key: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def map_remove_by_key_list(
        return_type: MapReturnType, keys: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def map_remove_by_key_range(
        return_type: MapReturnType,
        key_begin: FilterExpression | None,
        key_end: FilterExpression | None,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_remove_by_key_relative_index_range(
        return_type: MapReturnType,
        key: FilterExpression,
        index: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_remove_by_key_relative_index_range_count(
        return_type: MapReturnType,
        key: FilterExpression,
        index: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_remove_by_value(
        return_type: MapReturnType, value: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def map_remove_by_value_list(
        return_type: MapReturnType, values: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def map_remove_by_value_range(
        return_type: MapReturnType,
        value_begin: FilterExpression | None,
        value_end: FilterExpression | None,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_remove_by_value_relative_rank_range(
        return_type: MapReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_remove_by_value_relative_rank_range_count(
        return_type: MapReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_remove_by_index(
        return_type: MapReturnType, index: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def map_remove_by_index_range(
        return_type: MapReturnType, index: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def map_remove_by_index_range_count(
        return_type: MapReturnType,
        index: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def map_remove_by_rank(
        return_type: MapReturnType, rank: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def map_remove_by_rank_range(
        return_type: MapReturnType, rank: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def map_remove_by_rank_range_count(
        return_type: MapReturnType,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def bit_resize(
        policy: BitPolicy, byte_size: FilterExpression, resize_flags: BitwiseResizeFlags, bin: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def bit_insert(
        policy: BitPolicy, byte_offset: FilterExpression, value: FilterExpression, bin: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def bit_remove(
        policy: BitPolicy, byte_offset: FilterExpression, byte_size: FilterExpression, bin: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def bit_set(
        policy: BitPolicy,
        bit_offset: FilterExpression,
        bit_size: FilterExpression,
        value: FilterExpression,
        bin: FilterExpression,
    ) -> FilterExpression: ...
    @staticmethod
    def bit_or(
        policy: BitPolicy,
        bit_offset: FilterExpression,
        bit_size: FilterExpression,
        value: FilterExpression,
        bin: FilterExpression,
    ) -> FilterExpression: ...
    @staticmethod
    def bit_xor(
        policy: BitPolicy,
        bit_offset: FilterExpression,
        bit_size: FilterExpression,
        value: FilterExpression,
        bin: FilterExpression,
    ) -> FilterExpression: ...
    @staticmethod
    def bit_and(
        policy: BitPolicy,
        bit_offset: FilterExpression,
        bit_size: FilterExpression,
        value: FilterExpression,
        bin: FilterExpression,
    ) -> FilterExpression: ...
    @staticmethod
    def bit_not(
        policy: BitPolicy, bit_offset: FilterExpression, bit_size: FilterExpression, bin: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def bit_lshift(
        policy: BitPolicy,
        bit_offset: FilterExpression,
        bit_size: FilterExpression,
        shift: FilterExpression,
        bin: FilterExpression,
    ) -> FilterExpression: ...
    @staticmethod
    def bit_rshift(
        policy: BitPolicy,
        bit_offset: FilterExpression,
        bit_size: FilterExpression,
        shift: FilterExpression,
        bin: FilterExpression,
    ) -> FilterExpression: ...
    @staticmethod
    def bit_add(
        policy: BitPolicy,
        bit_offset: FilterExpression,
        bit_size: FilterExpression,
        value: FilterExpression,
        signed: bool,
        action: BitwiseOverflowActions,
        bin: FilterExpression,
    ) -> FilterExpression: ...
    @staticmethod
    def bit_subtract(
        policy: BitPolicy,
        bit_offset: FilterExpression,
        bit_size: FilterExpression,
        value: FilterExpression,
        signed: bool,
        action: BitwiseOverflowActions,
        bin: FilterExpression,
    ) -> FilterExpression: ...
    @staticmethod
    def bit_set_int(
        policy: BitPolicy,
        bit_offset: FilterExpression,
        bit_size: FilterExpression,
        value: FilterExpression,
        bin: FilterExpression,
    ) -> FilterExpression: ...
    @staticmethod
    def bit_get(
        bit_offset: FilterExpression, bit_size: FilterExpression, bin: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def bit_count(
        bit_offset: FilterExpression, bit_size: FilterExpression, bin: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def bit_lscan(
        bit_offset: FilterExpression, bit_size: FilterExpression, value: FilterExpression, bin: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def bit_rscan(
        bit_offset: FilterExpression, bit_size: FilterExpression, value: FilterExpression, bin: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def bit_get_int(
        bit_offset: FilterExpression, bit_size: FilterExpression, signed: bool, bin: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def bit_b64_encode(bin: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def bit_b64_encode_range(
        byte_offset: FilterExpression, byte_size: FilterExpression, invert_size: bool, bin: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def hll_init(policy: HLLPolicy, index_bit_count: FilterExpression, bin: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def hll_init_with_min_hash(
        policy: HLLPolicy, index_bit_count: FilterExpression, min_hash_count: FilterExpression, bin: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def hll_add(policy: HLLPolicy, list: FilterExpression, bin: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def hll_add_with_index(
        policy: HLLPolicy, list: FilterExpression, index_bit_count: FilterExpression, bin: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def hll_add_with_index_and_min_hash(
        policy: HLLPolicy,
        list: FilterExpression,
        index_bit_count: FilterExpression,
        min_hash_count: FilterExpression,
        bin: FilterExpression,
    ) -> FilterExpression: ...
    @staticmethod
    def hll_get_count(bin: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def hll_get_union(list: FilterExpression, bin: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def hll_get_union_count(list: FilterExpression, bin: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def hll_get_intersect_count(list: FilterExpression, bin: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def hll_get_similarity(list: FilterExpression, bin: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def hll_describe(bin: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def hll_may_contain(list: FilterExpression, bin: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_strlen(src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_substr(start: FilterExpression, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_substr_range(
        start: FilterExpression, end: FilterExpression, src: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def string_char_at(index: FilterExpression, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_find(needle: FilterExpression, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_find_nth(
        needle: FilterExpression, occurrence: FilterExpression, src: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def string_contains(needle: FilterExpression, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_starts_with(prefix: FilterExpression, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_ends_with(suffix: FilterExpression, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_to_integer(src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_to_double(src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_byte_length(src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_is_numeric(src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_is_numeric_typed(numeric_type: StringNumericType, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_is_upper(src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_is_lower(src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_to_blob(src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_split(src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_split_by_separator(separator: FilterExpression, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_b64_decode(src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_regex_compare(pattern: FilterExpression, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_regex_compare_with_flags(
        pattern: FilterExpression, regex_flags: int | None, src: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def string_insert(
        flags: int | None, index: FilterExpression, value: FilterExpression, src: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def string_overwrite(
        flags: int | None, index: FilterExpression, value: FilterExpression, src: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def string_concat(flags: int | None, values: FilterExpression, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_append(flags: int | None, value: FilterExpression, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_prepend(flags: int | None, value: FilterExpression, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_snip(
        flags: int | None, start: FilterExpression, end: FilterExpression, src: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def string_snip_from(start: FilterExpression, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_replace(
        flags: int | None, needle: FilterExpression, replacement: FilterExpression, src: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def string_replace_all(
        flags: int | None, needle: FilterExpression, replacement: FilterExpression, src: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def string_upper(flags: int | None, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_lower(flags: int | None, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_case_fold(flags: int | None, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_normalize_nfc(flags: int | None, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_trim_start(flags: int | None, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_trim_end(flags: int | None, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_trim(flags: int | None, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_pad_start(
        flags: int | None, target_length: FilterExpression, pad_string: FilterExpression, src: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def string_pad_end(
        flags: int | None, target_length: FilterExpression, pad_string: FilterExpression, src: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def string_repeat(flags: int | None, count: FilterExpression, src: FilterExpression) -> FilterExpression: ...
    @staticmethod
    def string_regex_replace(
        pattern: FilterExpression, replacement: FilterExpression, regex_flags: int | None, src: FilterExpression
    ) -> FilterExpression: ...
    @staticmethod
    def bool_loop_var(part: LoopVarPart) -> FilterExpression: ...
    @staticmethod
    def int_loop_var(part: LoopVarPart) -> FilterExpression: ...
    @staticmethod
    def float_loop_var(part: LoopVarPart) -> FilterExpression: ...
    @staticmethod
    def string_loop_var(part: LoopVarPart) -> FilterExpression: ...
    @staticmethod
    def list_loop_var(part: LoopVarPart) -> FilterExpression: ...
    @staticmethod
    def map_loop_var(part: LoopVarPart) -> FilterExpression: ...
    @staticmethod
    def blob_loop_var(part: LoopVarPart) -> FilterExpression: ...
    @staticmethod
    def hll_loop_var(part: LoopVarPart) -> FilterExpression: ...
    @staticmethod
    def nil_loop_var(part: LoopVarPart) -> FilterExpression: ...
    @staticmethod
    def geo_json_loop_var(part: LoopVarPart) -> FilterExpression: ...
    @staticmethod
    def remove_result() -> FilterExpression: ...
    @staticmethod
    def exp_select_by_path(
        return_type: ExpType, flag: int | None, bin_exp: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def exp_modify_by_path(
        return_type: ExpType,
        flag: int | None,
        bin_exp: FilterExpression,
        modify_exp: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression: ...
    @staticmethod
    def exp_select_values(
        return_type: ExpType, bin_exp: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def exp_select_map_keys(
        return_type: ExpType, bin_exp: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def exp_select_map_entries(
        return_type: ExpType, bin_exp: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def exp_select_matching_tree(
        return_type: ExpType, bin_exp: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def exp_modify(
        return_type: ExpType, bin_exp: FilterExpression, modify_exp: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def exp_modify_no_fail(
        return_type: ExpType, bin_exp: FilterExpression, modify_exp: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression: ...
    @staticmethod
    def exp_remove(return_type: ExpType, bin_exp: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression: ...

def in_list(value: FilterExpression, list_exp: FilterExpression) -> FilterExpression:
    """Whether a list contains a value. Server 8.1.2 and later."""

def map_keys(map_exp: FilterExpression) -> FilterExpression:
    """The keys of a map, as a list. Server 8.1.2 and later."""

def map_values(map_exp: FilterExpression) -> FilterExpression:
    """The values of a map, as a list. Server 8.1.2 and later."""
