"""Expressions on lists and maps."""

from collections.abc import Iterable

from ._cdt import CTX, ExpType, ListPolicy, ListReturnType, ListSortFlags, MapPolicy, MapReturnType
from ._expression import FilterExpression

class _CollectionExpressions:
    """What of `FilterExpression` is about lists and maps."""

    @staticmethod
    def list_join(bin: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression:
        """The str items of a list, concatenated. Server 8.2 and later."""
    @staticmethod
    def list_append(
        policy: ListPolicy, value: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The list with a value appended."""
    @staticmethod
    def list_append_items(
        policy: ListPolicy, list: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The list with the items of another list appended."""
    @staticmethod
    def list_clear(bin: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression:
        """The list without items."""
    @staticmethod
    def list_sort(sort_flags: ListSortFlags, bin: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression:
        """The list, sorted."""
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
    def list_set(
        policy: ListPolicy,
        index: FilterExpression,
        value: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The list with another value at an index."""
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
    def map_size(bin: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression:
        """How many pairs a map has."""
    @staticmethod
    def map_clear(bin: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression:
        """The map without pairs."""
    @staticmethod
    def list_size(bin: FilterExpression, ctx: Iterable[CTX] | None) -> FilterExpression:
        """How many items a list has."""
    @staticmethod
    def list_join_by_separator(
        separator: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The str items of a list, joined by a separator. Server 8.2 and later."""
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
        """The items from `value_begin` (inclusive; None: no lower bound) to `value_end` (exclusive; None: no upper
        bound).
        """
    @staticmethod
    def list_get_by_value_list(
        return_type: ListReturnType, values: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """All items that are in a list."""
    @staticmethod
    def list_get_by_index_range(
        return_type: ListReturnType, index: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The items starting at an index."""
    @staticmethod
    def list_get_by_index_range_count(
        return_type: ListReturnType,
        index: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """`count` items starting at an index."""
    @staticmethod
    def list_get_by_rank_range(
        return_type: ListReturnType, rank: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The items starting at a rank."""
    @staticmethod
    def list_get_by_rank_range_count(
        return_type: ListReturnType,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """`count` items starting at a rank."""
    @staticmethod
    def list_get_by_value_relative_rank_range(
        return_type: ListReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The items starting at a rank relative to that of a value."""
    @staticmethod
    def list_get_by_value_relative_rank_range_count(
        return_type: ListReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """`count` items starting at a rank relative to that of a value."""
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
        """The list without the items from `value_begin` (inclusive; None: no lower bound) to `value_end` (exclusive;
        None: no upper bound).
        """
    @staticmethod
    def list_remove_by_value_relative_rank_range(
        return_type: ListReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The list without the items starting at a rank relative to that of a value."""
    @staticmethod
    def list_remove_by_value_relative_rank_range_count(
        return_type: ListReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The list without `count` items starting at a rank relative to that of a value."""
    @staticmethod
    def list_remove_by_index(
        return_type: ListReturnType, index: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The list without the item at an index."""
    @staticmethod
    def list_remove_by_index_range(
        return_type: ListReturnType, index: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The list without the items starting at an index."""
    @staticmethod
    def list_remove_by_index_range_count(
        return_type: ListReturnType,
        index: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The list without `count` items starting at an index."""
    @staticmethod
    def list_remove_by_rank(
        return_type: ListReturnType, rank: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The list without the item at a rank: 0 is the smallest."""
    @staticmethod
    def list_remove_by_rank_range(
        return_type: ListReturnType, rank: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The list without the items starting at a rank."""
    @staticmethod
    def list_remove_by_rank_range_count(
        return_type: ListReturnType,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The list without `count` items starting at a rank."""
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
        """The pairs with values from `value_begin` (inclusive; None: no lower bound) to `value_end` (exclusive;
        None: no upper bound).
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
        """The pairs with keys from `key_begin` (inclusive; None: no lower bound) to `key_end` (exclusive; None: no
        upper bound).
        """
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
        """The pairs starting at an index relative to that of a key."""
    @staticmethod
    def map_get_by_key_relative_index_range_count(
        return_type: MapReturnType,
        key: FilterExpression,
        index: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """`count` pairs starting at an index relative to that of a key."""
    @staticmethod
    def map_get_by_value_relative_rank_range(
        return_type: MapReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The pairs starting at a rank relative to that of a value."""
    @staticmethod
    def map_get_by_value_relative_rank_range_count(
        return_type: MapReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """`count` pairs starting at a rank relative to that of a value."""
    @staticmethod
    def map_get_by_index_range(
        return_type: MapReturnType, index: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The pairs starting at an index."""
    @staticmethod
    def map_get_by_index_range_count(
        return_type: MapReturnType,
        index: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """`count` pairs starting at an index."""
    @staticmethod
    def map_get_by_rank_range(
        return_type: MapReturnType, rank: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The pairs starting at a rank."""
    @staticmethod
    def map_get_by_rank_range_count(
        return_type: MapReturnType,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """`count` pairs starting at a rank."""
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
        """The map without the keys from `key_begin` (inclusive; None: no lower bound) to `key_end` (exclusive; None:
        no upper bound).
        """
    @staticmethod
    def map_remove_by_key_relative_index_range(
        return_type: MapReturnType,
        key: FilterExpression,
        index: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The map without the pairs starting at an index relative to that of a key."""
    @staticmethod
    def map_remove_by_key_relative_index_range_count(
        return_type: MapReturnType,
        key: FilterExpression,
        index: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The map without `count` pairs starting at an index relative to that of a key."""
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
        """The map without the values from `value_begin` (inclusive; None: no lower bound) to `value_end` (exclusive;
        None: no upper bound).
        """
    @staticmethod
    def map_remove_by_value_relative_rank_range(
        return_type: MapReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The map without the pairs starting at a rank relative to that of a value."""
    @staticmethod
    def map_remove_by_value_relative_rank_range_count(
        return_type: MapReturnType,
        value: FilterExpression,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The map without `count` pairs starting at a rank relative to that of a value."""
    @staticmethod
    def map_remove_by_index(
        return_type: MapReturnType, index: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The map without the pair at an index."""
    @staticmethod
    def map_remove_by_index_range(
        return_type: MapReturnType, index: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The map without the pairs starting at an index."""
    @staticmethod
    def map_remove_by_index_range_count(
        return_type: MapReturnType,
        index: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The map without `count` pairs starting at an index."""
    @staticmethod
    def map_remove_by_rank(
        return_type: MapReturnType, rank: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The map without the pair at a rank: 0 has the smallest value."""
    @staticmethod
    def map_remove_by_rank_range(
        return_type: MapReturnType, rank: FilterExpression, bin: FilterExpression, ctx: Iterable[CTX] | None
    ) -> FilterExpression:
        """The map without the pairs starting at a rank."""
    @staticmethod
    def map_remove_by_rank_range_count(
        return_type: MapReturnType,
        rank: FilterExpression,
        count: FilterExpression,
        bin: FilterExpression,
        ctx: Iterable[CTX] | None,
    ) -> FilterExpression:
        """The map without `count` pairs starting at a rank."""
