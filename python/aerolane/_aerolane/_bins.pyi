"""Bins of builders, and parts of lists and maps in them: `bin(name).on_map_key(key)`."""

from collections.abc import Iterable
from typing import Any, Generic, TypeVar, final

from ._cdt import ExpType, ListOrderType, ListReturnType, MapOrder, MapReturnType, ModifyFlags, SelectFlags
from ._expression import FilterExpression
from ._steps import _BinReads, _BinVerbs, _BinWrites, _CollectionReads, _CollectionWrites
from ._values import Key

_P_co = TypeVar("_P_co", covariant=True)

class _ReadNavigation(Generic[_P_co]):
    """Navigation into lists and maps, to read a part of them."""

    def on_map_key(self, key: Any, *, create_type: MapOrder | None = None) -> CdtReadBuilder[_P_co]:
        """Selects the value of a map key. `create_type` creates a map of this order there if there is none, so that
        a write inside of it succeeds.
        """
    def on_map_index(self, index: int) -> CdtReadBuilder[_P_co]:
        """Selects the map entry at an index, in key order."""
    def on_map_rank(self, rank: int) -> CdtReadBuilder[_P_co]:
        """Selects the map entry at a rank: 0 has the smallest value."""
    def on_map_value(self, value: Any) -> CdtReadInvertableBuilder[_P_co]:
        """Selects the map entries with this value."""
    def on_map_index_range(self, index: int, count: int | None = None) -> CdtReadInvertableBuilder[_P_co]:
        """Selects `count` map entries starting at an index, or all of them if `count` is `None`."""
    def on_map_key_range(self, start: Any, end: Any) -> CdtReadInvertableBuilder[_P_co]:
        """Selects the map entries with keys from `start` up to, but not including, `end`. `None` leaves a side open."""
    def on_map_rank_range(self, rank: int, count: int | None = None) -> CdtReadInvertableBuilder[_P_co]:
        """Selects `count` map entries starting at a rank, or all of them if `count` is `None`."""
    def on_map_value_range(self, start: Any, end: Any) -> CdtReadInvertableBuilder[_P_co]:
        """Selects the map entries with values from `start` up to, but not including, `end`. `None` leaves a side
        open.
        """
    def on_map_key_relative_index_range(
        self, key: Any, index: int, count: int | None = None
    ) -> CdtReadInvertableBuilder[_P_co]:
        """Selects `count` map entries, or all of them, starting at an index relative to that of `key`."""
    def on_map_value_relative_rank_range(
        self, value: Any, rank: int, count: int | None = None
    ) -> CdtReadInvertableBuilder[_P_co]:
        """Selects `count` map entries, or all of them, starting at a rank relative to that of `value`."""
    def on_map_key_list(self, keys: Iterable[Any]) -> CdtReadInvertableBuilder[_P_co]:
        """Selects the map entries with one of these keys."""
    def on_map_value_list(self, values: Iterable[Any]) -> CdtReadInvertableBuilder[_P_co]:
        """Selects the map entries with one of these values."""
    def on_list_index(
        self, index: int, *, order: ListOrderType | None = None, pad: bool = False
    ) -> CdtReadBuilder[_P_co]:
        """Selects the list item at an index. `order` creates a list of this order there if there is none. With
        `pad`, the list around it may be shorter than the index.
        """
    def on_list_rank(self, rank: int) -> CdtReadBuilder[_P_co]:
        """Selects the list item at a rank: 0 is the smallest."""
    def on_list_value(self, value: Any) -> CdtReadInvertableBuilder[_P_co]:
        """Selects the list items with this value."""
    def on_list_index_range(self, index: int, count: int | None = None) -> CdtReadInvertableBuilder[_P_co]:
        """Selects `count` list items starting at an index, or all of them if `count` is `None`."""
    def on_list_rank_range(self, rank: int, count: int | None = None) -> CdtReadInvertableBuilder[_P_co]:
        """Selects `count` list items starting at a rank, or all of them if `count` is `None`."""
    def on_list_value_range(self, start: Any, end: Any) -> CdtReadInvertableBuilder[_P_co]:
        """Selects the list items from `start` up to, but not including, `end`. `None` leaves a side open."""
    def on_list_value_relative_rank_range(
        self, value: Any, rank: int, count: int | None = None
    ) -> CdtReadInvertableBuilder[_P_co]:
        """Selects `count` list items, or all of them, starting at a rank relative to that of `value`."""
    def on_list_value_list(self, values: Iterable[Any]) -> CdtReadInvertableBuilder[_P_co]:
        """Selects the list items with one of these values."""

class _WriteNavigation(Generic[_P_co]):
    """Navigation into lists and maps, to change a part of them."""

    def on_map_key(self, key: Any, *, create_type: MapOrder | None = None) -> CdtWriteBuilder[_P_co]:
        """Selects the value of a map key. `create_type` creates a map of this order there if there is none, so that
        a write inside of it succeeds.
        """
    def on_map_index(self, index: int) -> CdtWriteBuilder[_P_co]:
        """Selects the map entry at an index, in key order."""
    def on_map_rank(self, rank: int) -> CdtWriteBuilder[_P_co]:
        """Selects the map entry at a rank: 0 has the smallest value."""
    def on_map_value(self, value: Any) -> CdtWriteInvertableBuilder[_P_co]:
        """Selects the map entries with this value."""
    def on_map_index_range(self, index: int, count: int | None = None) -> CdtWriteInvertableBuilder[_P_co]:
        """Selects `count` map entries starting at an index, or all of them if `count` is `None`."""
    def on_map_key_range(self, start: Any, end: Any) -> CdtWriteInvertableBuilder[_P_co]:
        """Selects the map entries with keys from `start` up to, but not including, `end`. `None` leaves a side open."""
    def on_map_rank_range(self, rank: int, count: int | None = None) -> CdtWriteInvertableBuilder[_P_co]:
        """Selects `count` map entries starting at a rank, or all of them if `count` is `None`."""
    def on_map_value_range(self, start: Any, end: Any) -> CdtWriteInvertableBuilder[_P_co]:
        """Selects the map entries with values from `start` up to, but not including, `end`. `None` leaves a side
        open.
        """
    def on_map_key_relative_index_range(
        self, key: Any, index: int, count: int | None = None
    ) -> CdtWriteInvertableBuilder[_P_co]:
        """Selects `count` map entries, or all of them, starting at an index relative to that of `key`."""
    def on_map_value_relative_rank_range(
        self, value: Any, rank: int, count: int | None = None
    ) -> CdtWriteInvertableBuilder[_P_co]:
        """Selects `count` map entries, or all of them, starting at a rank relative to that of `value`."""
    def on_map_key_list(self, keys: Iterable[Any]) -> CdtWriteInvertableBuilder[_P_co]:
        """Selects the map entries with one of these keys."""
    def on_map_value_list(self, values: Iterable[Any]) -> CdtWriteInvertableBuilder[_P_co]:
        """Selects the map entries with one of these values."""
    def on_list_index(
        self, index: int, *, order: ListOrderType | None = None, pad: bool = False
    ) -> CdtWriteBuilder[_P_co]:
        """Selects the list item at an index. `order` creates a list of this order there if there is none. With
        `pad`, the list around it may be shorter than the index.
        """
    def on_list_rank(self, rank: int) -> CdtWriteBuilder[_P_co]:
        """Selects the list item at a rank: 0 is the smallest."""
    def on_list_value(self, value: Any) -> CdtWriteInvertableBuilder[_P_co]:
        """Selects the list items with this value."""
    def on_list_index_range(self, index: int, count: int | None = None) -> CdtWriteInvertableBuilder[_P_co]:
        """Selects `count` list items starting at an index, or all of them if `count` is `None`."""
    def on_list_rank_range(self, rank: int, count: int | None = None) -> CdtWriteInvertableBuilder[_P_co]:
        """Selects `count` list items starting at a rank, or all of them if `count` is `None`."""
    def on_list_value_range(self, start: Any, end: Any) -> CdtWriteInvertableBuilder[_P_co]:
        """Selects the list items from `start` up to, but not including, `end`. `None` leaves a side open."""
    def on_list_value_relative_rank_range(
        self, value: Any, rank: int, count: int | None = None
    ) -> CdtWriteInvertableBuilder[_P_co]:
        """Selects `count` list items, or all of them, starting at a rank relative to that of `value`."""
    def on_list_value_list(self, values: Iterable[Any]) -> CdtWriteInvertableBuilder[_P_co]:
        """Selects the list items with one of these values."""

class _Paths(Generic[_P_co]):
    """Navigation to many elements at once."""

    def on_each_child(self) -> CdtPathBuilder[_P_co]:
        """Selects all items of the list, or all values of the map. Requires server 8.1.1 or later."""
    def on_each_child_where(self, predicate: FilterExpression) -> CdtPathBuilder[_P_co]:
        """Selects the items or values for which an expression is true. Requires server 8.1.1 or later."""
    def on_map_keys_in(self, keys: Iterable[Any]) -> CdtPathBuilder[_P_co]:
        """Selects the values of these map keys. Requires server 8.1.2 or later."""

class _Answers(Generic[_P_co]):
    """What to return about the selected elements."""

    def exists(self) -> _P_co:
        """Returns whether anything is selected."""
    def count(self) -> _P_co:
        """Returns the number of selected elements."""
    def and_filter(self, predicate: FilterExpression) -> CdtPathBuilder[_P_co]:
        """Keeps what is selected only where an expression is true. Requires server 8.1.2 or later."""
    def get_values(self) -> _P_co:
        """Returns the selected values."""
    def get_keys(self) -> _P_co:
        """Returns the selected keys. Only for maps."""
    def get_keys_and_values(self) -> _P_co:
        """Returns the selected keys and values. Only for maps."""
    def get_as_map(self) -> _P_co:
        """Returns the selected entries as a dict. Only for maps."""
    def get_as_ordered_map(self) -> _P_co:
        """Returns the selected entries as a `SortedMap`. Only for maps."""
    def get_indexes(self) -> _P_co:
        """Returns the indexes of the selected elements."""
    def get_reverse_indexes(self) -> _P_co:
        """Returns the indexes of the selected elements, counted from the end."""
    def get_ranks(self) -> _P_co:
        """Returns the ranks of the selected elements: 0 is the smallest."""
    def get_reverse_ranks(self) -> _P_co:
        """Returns the ranks of the selected elements, where 0 is the largest."""

class _OtherAnswers(Generic[_P_co]):
    """What to return about the elements that are not selected."""

    def get_all_other_values(self) -> _P_co:
        """Returns the values that are not selected."""
    def get_all_other_keys(self) -> _P_co:
        """Returns the keys that are not selected. Only for maps."""
    def get_all_other_keys_and_values(self) -> _P_co:
        """Returns the keys and values that are not selected. Only for maps."""
    def count_all_others(self) -> _P_co:
        """Returns the number of elements that are not selected."""
    def get_all_other_indexes(self) -> _P_co:
        """Returns the indexes of the elements that are not selected."""
    def get_all_other_reverse_indexes(self) -> _P_co:
        """Returns the indexes of the elements that are not selected, counted from the end."""
    def get_all_other_ranks(self) -> _P_co:
        """Returns the ranks of the elements that are not selected."""
    def get_all_other_reverse_ranks(self) -> _P_co:
        """Returns the ranks of the elements that are not selected, where 0 is the largest."""

class _Writes(Generic[_P_co]):
    """Changes to the selected elements."""

    def remove(self, *, return_type: ListReturnType | MapReturnType | None = None) -> _P_co:
        """Removes what is selected. Returns what `return_type` (a `ListReturnType` or `MapReturnType`) asks for, by
        default nothing.
        """
    def set_to(self, value: Any) -> _P_co:
        """Sets the value of the selected map key."""
    def add(self, value: int) -> _P_co:
        """Adds to the number at the selected map key."""

@final
class CdtReadBuilder(_ReadNavigation[_P_co], _Paths[_P_co], _Answers[_P_co], _CollectionReads[_P_co]):
    """Reads a part of a list or map. Methods `on_..` navigate further; each other method adds one operation and
    returns the builder.
    """

    @classmethod
    def __class_getitem__(cls, _item: Any) -> type[CdtReadBuilder[Any]]: ...

@final
class CdtReadInvertableBuilder(
    _ReadNavigation[_P_co], _Paths[_P_co], _Answers[_P_co], _OtherAnswers[_P_co], _CollectionReads[_P_co]
):
    """Like `CdtReadBuilder`, for steps that can be inverted: `get_all_other_..` read what is not selected."""

    @classmethod
    def __class_getitem__(cls, _item: Any) -> type[CdtReadInvertableBuilder[Any]]: ...

@final
class CdtWriteBuilder(
    _WriteNavigation[_P_co],
    _Paths[_P_co],
    _Answers[_P_co],
    _Writes[_P_co],
    _CollectionReads[_P_co],
    _CollectionWrites[_P_co],
):
    """Reads and changes a part of a list or map. Methods `on_..` navigate further; each other method adds one
    operation and returns the builder.
    """

    @classmethod
    def __class_getitem__(cls, _item: Any) -> type[CdtWriteBuilder[Any]]: ...

@final
class CdtWriteInvertableBuilder(
    _WriteNavigation[_P_co],
    _Paths[_P_co],
    _Answers[_P_co],
    _OtherAnswers[_P_co],
    _Writes[_P_co],
    _CollectionReads[_P_co],
    _CollectionWrites[_P_co],
):
    """Like `CdtWriteBuilder`, for steps that can be inverted: `get_all_other_..` and `remove_all_others` are about
    what is not selected.
    """

    def remove_all_others(self, *, return_type: ListReturnType | MapReturnType | None = None) -> _P_co:
        """Removes what is not selected. Returns what `return_type` (a `ListReturnType` or `MapReturnType`) asks for,
        by default nothing.
        """
    @classmethod
    def __class_getitem__(cls, _item: Any) -> type[CdtWriteInvertableBuilder[Any]]: ...

@final
class CdtPathBuilder(Generic[_P_co]):
    """Reads and changes what a path selects inside of a bin, which may be many elements. Requires server 8.1.1 or
    later. Methods `on_..` navigate further; each other method adds one operation and returns the builder.
    """

    def on_each_child(self) -> CdtPathBuilder[_P_co]:
        """Selects all items of the list, or all values of the map. Requires server 8.1.1 or later."""
    def on_each_child_where(self, predicate: FilterExpression) -> CdtPathBuilder[_P_co]:
        """Selects the items or values for which an expression is true. Requires server 8.1.1 or later."""
    def on_map_keys_in(self, keys: Iterable[Any]) -> CdtPathBuilder[_P_co]:
        """Selects the values of these map keys. Requires server 8.1.2 or later."""
    def and_filter(self, predicate: FilterExpression) -> CdtPathBuilder[_P_co]:
        """Keeps what is selected only where an expression is true. Requires server 8.1.2 or later."""
    def on_map_key(self, key: Any) -> CdtPathBuilder[_P_co]:
        """Selects the value of a map key."""
    def on_list_index(self, index: int) -> CdtPathBuilder[_P_co]:
        """Selects the list item at an index."""
    def on_map_value(self, value: Any) -> CdtPathBuilder[_P_co]:
        """Selects the first map entry with this value."""
    def on_list_value(self, value: Any) -> CdtPathBuilder[_P_co]:
        """Selects the first list item with this value."""
    def collect_values(self, *, no_fail: bool = False) -> _P_co:
        """Returns a list of the selected values. With `no_fail`, elements whose type does not fit the path are left
        out.
        """
    def collect_values_as_expression_read(
        self, bin_type: ExpType, *, no_fail: bool = False, ignore_eval_failure: bool = False
    ) -> _P_co:
        """Returns a list of the selected values, collected by an expression. `bin_type` is the type of the bin:
        `ExpType.MAP` or `ExpType.LIST`. `no_fail` works as in `collect_values`. With `ignore_eval_failure`, an
        expression that fails, as for a bin of the other type, returns `None`.
        """
    def collect_map_keys(self, *, no_fail: bool = False) -> _P_co:
        """Returns a list of the selected keys. `no_fail` works as in `collect_values`."""
    def collect_map_entries(self, *, no_fail: bool = False) -> _P_co:
        """Returns a flat list of the selected entries: a key, its value, the next key. `no_fail` works as in
        `collect_values`.
        """
    def collect_matching_tree(self, *, no_fail: bool = False) -> _P_co:
        """Returns the whole collection, reduced to what is selected. `no_fail` works as in `collect_values`."""
    def collect_by_path(self, flags: SelectFlags | int) -> _P_co:
        """Returns what flags ask for: bits of `SelectFlags`."""
    def modify_by(self, expression: FilterExpression, flags: ModifyFlags | int | None = None) -> _P_co:
        """Sets each selected element to the value of an expression. `flags` are bits of `ModifyFlags`."""
    def modify_no_fail(self, expression: FilterExpression) -> _P_co:
        """Like `modify_by`, but leaves elements alone whose type does not fit the path."""
    def remove_matches(self) -> _P_co:
        """Removes what is selected."""
    @classmethod
    def __class_getitem__(cls, _item: Any) -> type[CdtPathBuilder[Any]]: ...

@final
class QueryBinBuilder(_BinVerbs, _ReadNavigation[_P_co], _Paths[_P_co], _BinReads[_P_co], _CollectionReads[_P_co]):
    """Reads one bin: `query(keys).bin(name)`. Each step adds one operation and returns the builder."""

    @classmethod
    def __class_getitem__(cls, _item: Any) -> type[QueryBinBuilder[Any]]: ...

@final
class WriteBinBuilder(
    _BinVerbs,
    _WriteNavigation[_P_co],
    _Paths[_P_co],
    _BinReads[_P_co],
    _BinWrites[_P_co],
    _CollectionReads[_P_co],
    _CollectionWrites[_P_co],
):
    """Reads and changes one bin: `upsert(keys).bin(name)`, and the same for the other verbs that write. Each step
    adds one operation and returns the builder.
    """

    def stream(self, on_error: Any = None) -> Any:
        """Executes the chain and streams its results: `stream` of the builder."""
    def query(self, keys: Key | list[Key], /, *more_keys: Key) -> Any:
        """Continues the chain with records to read."""
    def execute(self, on_error: Any = None) -> Any:
        """Executes the chain: `execute` of the builder."""
    def execute_udf(self, keys: Key | list[Key], /, *more_keys: Key) -> Any:
        """Continues the chain with a function to apply to records."""
    def bin(self, bin_name: str) -> WriteBinBuilder[_P_co]:
        """Continues with another bin of the same builder."""
    @classmethod
    def __class_getitem__(cls, _item: Any) -> type[WriteBinBuilder[Any]]: ...
