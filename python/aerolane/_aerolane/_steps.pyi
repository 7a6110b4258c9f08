"""What is done with one bin, and with what is nested in it. Made from the tables of the extension."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar, final

from ._cdt import (
    BitPolicy,
    BitwiseOverflowActions,
    BitwiseResizeFlags,
    ExpType,
    ListOrderType,
    ListReturnType,
    ListSortFlags,
    MapOrder,
    MapReturnType,
    ModifyFlags,
    SelectFlags,
    StringNumericType,
)
from ._expression import FilterExpression
from ._results import HllConfig
from ._values import HLL, Key

_P_co = TypeVar("_P_co", covariant=True)

class _Verbs:
    """The verbs of the builder that a bin came from, where they are typed."""

    def upsert(self, keys: Key | list[Key], /, *more_keys: Key) -> Any:
        """Writes bins; creates the record if it is missing. Other bins stay as they are."""
    def insert(self, keys: Key | list[Key], /, *more_keys: Key) -> Any:
        """Writes bins of a new record. Fails with `RecordExistsError` if there is one."""
    def update(self, keys: Key | list[Key], /, *more_keys: Key) -> Any:
        """Writes bins of a record that exists. Fails with `RecordNotFoundError` if there is none. Other bins stay as
        they are.
        """
    def replace(self, keys: Key | list[Key], /, *more_keys: Key) -> Any:
        """Writes bins in place of all that the record has; creates it if it is missing."""
    def replace_if_exists(self, keys: Key | list[Key], /, *more_keys: Key) -> Any:
        """Writes bins in place of all that the record has. Fails with `RecordNotFoundError` if there is none."""
    def delete(self, keys: Key | list[Key], /, *more_keys: Key) -> Any:
        """Deletes records. The result of one that was missing has the code `KEY_NOT_FOUND_ERROR`."""
    def touch(self, keys: Key | list[Key], /, *more_keys: Key) -> Any:
        """Renews when records expire, and counts up their generation. The result of one that was missing has the
        code `KEY_NOT_FOUND_ERROR`.
        """
    def exists(self, keys: Key | list[Key], /, *more_keys: Key) -> Any:
        """Asks whether records exist: `as_bool()` of a result tells."""

class _CollectionReads(Generic[_P_co]):
    """What can be read of a value."""

    def list_size(self) -> _P_co:
        """Answers with how many items there are."""
    def list_join(self, separator: str | None = None) -> _P_co:
        """Answers with the str items, one behind the other with `separator` between them. Server 8.2 and
        later.
        """
    def list_get(self, index: int) -> _P_co:
        """Answers with the item at an index."""
    def list_get_range(self, index: int, count: int | None = None) -> _P_co:
        """Answers with so many items from an index on; `None`: with all of them."""
    def map_size(self) -> _P_co:
        """Answers with how many pairs there are."""
    def str_strlen(self) -> _P_co:
        """Answers with how many characters there are."""
    def str_substr(self, start: int, end: int | None = None) -> _P_co:
        """Answers with the characters from `start` on, to before `end` if that is given."""
    def str_char_at(self, index: int) -> _P_co:
        """Answers with the character at an index."""
    def str_find(self, needle: str, occurrence: int | None = None) -> _P_co:
        """Answers with the index of an occurrence of a str: the first one, or that of this number (-1: the
        last); -1: none.
        """
    def str_contains(self, needle: str) -> _P_co:
        """Answers with whether it contains a str."""
    def str_starts_with(self, prefix: str) -> _P_co:
        """Answers with whether it starts with a str."""
    def str_ends_with(self, suffix: str) -> _P_co:
        """Answers with whether it ends with a str."""
    def str_to_integer(self) -> _P_co:
        """Answers with the int that it spells."""
    def str_to_double(self) -> _P_co:
        """Answers with the float that it spells."""
    def str_byte_length(self) -> _P_co:
        """Answers with how many bytes of UTF-8 it has."""
    def str_is_numeric(self, numeric_type: StringNumericType | None = None) -> _P_co:
        """Answers with whether it spells a number (of this kind)."""
    def str_is_upper(self) -> _P_co:
        """Answers with whether all letters are upper case."""
    def str_is_lower(self) -> _P_co:
        """Answers with whether all letters are lower case."""
    def str_to_blob(self) -> _P_co:
        """Answers with its UTF-8, as bytes."""
    def str_split(self, separator: str | None = None) -> _P_co:
        """Answers with its parts between separators, or its characters, as a list."""
    def str_b64_decode(self) -> _P_co:
        """Answers with the bytes whose base64 text it is."""
    def str_regex_compare(self, pattern: str, flags: int | None = None) -> _P_co:
        """Answers with whether a regular expression (ICU) matches. `flags`: bits of `StringRegexFlags`."""

class _CollectionWrites(Generic[_P_co]):
    """What can be written to a value."""

    def list_add(self, value: Any, *, unique: bool = False, bounded: bool = False, no_fail: bool = False) -> _P_co:
        """Puts a value where it belongs in an ordered list; creates the list if it is missing. Answers with the
        new size.

        `unique`: fails if the list has it already. `bounded`: fails for an index behind the end. `no_fail`:
        what fails so is no error.
        """
    def list_append(self, value: Any, *, unique: bool = False, bounded: bool = False, no_fail: bool = False) -> _P_co:
        """Puts a value behind the last item; creates the list if it is missing. Answers with the new size.
        Flags as those of `list_add`.
        """
    def list_append_items(
        self,
        items: Sequence[Any],
        *,
        unique: bool = False,
        bounded: bool = False,
        no_fail: bool = False,
        partial: bool = False,
    ) -> _P_co:
        """Puts values behind the last item; creates the list if it is missing. Answers with the new size.
        `partial`: with `no_fail`, those that do not fail are taken.
        """
    def list_add_items(
        self,
        items: Sequence[Any],
        *,
        unique: bool = False,
        bounded: bool = False,
        no_fail: bool = False,
        partial: bool = False,
    ) -> _P_co:
        """Puts values where they belong in an ordered list; creates the list if it is missing. Answers with the
        new size.
        """
    def list_create(self, order: ListOrderType, *, pad: bool = True, persist_index: bool = False) -> _P_co:
        """Creates the list if it is missing. `pad`: inside of a list, that is padded with nil up to the index.
        `persist_index`: the list's index is stored with it.
        """
    def list_set_order(self, order: ListOrderType) -> _P_co:
        """Sets the order of the list; creates it if it is missing."""
    def list_clear(self) -> _P_co:
        """Removes all items."""
    def list_sort(self, flags: ListSortFlags = ...) -> _P_co:
        """Sorts the list."""
    def list_insert(
        self, index: int, value: Any, *, unique: bool = False, bounded: bool = False, no_fail: bool = False
    ) -> _P_co:
        """Inserts a value at an index. Answers with the new size."""
    def list_insert_items(
        self,
        index: int,
        items: Sequence[Any],
        *,
        unique: bool = False,
        bounded: bool = False,
        no_fail: bool = False,
        partial: bool = False,
    ) -> _P_co:
        """Inserts values at an index. Answers with the new size."""
    def list_set(self, index: int, value: Any) -> _P_co:
        """Sets the item at an index."""
    def list_increment(self, index: int, value: int = 1) -> _P_co:
        """Adds to the number at an index. Answers with the sum."""
    def list_remove(self, index: int) -> _P_co:
        """Removes the item at an index. Answers with how many were removed."""
    def list_remove_range(self, index: int, count: int | None = None) -> _P_co:
        """Removes so many items from an index on; `None`: all of them. Answers with how many were removed."""
    def list_pop(self, index: int) -> _P_co:
        """Removes the item at an index, and answers with it."""
    def list_pop_range(self, index: int, count: int | None = None) -> _P_co:
        """Removes so many items from an index on (`None`: all of them), and answers with them."""
    def list_trim(self, index: int, count: int) -> _P_co:
        """Removes what is not among so many items from an index on. Answers with how many were removed."""
    def map_upsert_items(
        self,
        items: Mapping[Any, Any] | Sequence[tuple[Any, Any]],
        *,
        order: MapOrder | None = None,
        persist_index: bool = False,
        no_fail: bool = False,
        partial: bool = False,
    ) -> _P_co:
        """Sets the values of keys: a mapping, or a sequence of pairs; creates the map if it is missing. Answers
        with the new size.

        `order`, `persist_index`: of a map that is created. `no_fail`: what is refused is no error. `partial`:
        with `no_fail`, the pairs that are not refused are taken.
        """
    def map_insert_items(
        self,
        items: Mapping[Any, Any] | Sequence[tuple[Any, Any]],
        *,
        order: MapOrder | None = None,
        persist_index: bool = False,
        no_fail: bool = False,
        partial: bool = False,
    ) -> _P_co:
        """Sets the values of keys that the map does not have. Otherwise as `map_upsert_items`."""
    def map_update_items(
        self,
        items: Mapping[Any, Any] | Sequence[tuple[Any, Any]],
        *,
        order: MapOrder | None = None,
        persist_index: bool = False,
        no_fail: bool = False,
        partial: bool = False,
    ) -> _P_co:
        """Sets the values of keys that the map has. Otherwise as `map_upsert_items`."""
    def map_clear(self) -> _P_co:
        """Removes all pairs."""
    def map_create(self, order: MapOrder) -> _P_co:
        """Creates the map if it is missing."""
    def map_set_policy(self, order: MapOrder) -> _P_co:
        """Sets the order of the map; creates it if it is missing."""
    def str_insert(self, index: int, value: str, *, flags: int | None = None) -> _P_co:
        """Inserts a str at an index."""
    def str_overwrite(self, index: int, value: str, *, flags: int | None = None) -> _P_co:
        """Writes a str over it from an index on."""
    def str_concat(self, value: str | Sequence[str], *, flags: int | None = None) -> _P_co:
        """Puts a str, or each of a list of them, behind it."""
    def str_append(self, value: str, *, flags: int | None = None) -> _P_co:
        """Puts a str behind it."""
    def str_prepend(self, value: str, *, flags: int | None = None) -> _P_co:
        """Puts a str in front of it."""
    def str_replace(self, needle: str, replacement: str, *, flags: int | None = None) -> _P_co:
        """Replaces the first occurrence of `needle`."""
    def str_replace_all(self, needle: str, replacement: str, *, flags: int | None = None) -> _P_co:
        """Replaces all occurrences of `needle`."""
    def str_upper(self, *, flags: int | None = None) -> _P_co:
        """Makes all letters upper case."""
    def str_lower(self, *, flags: int | None = None) -> _P_co:
        """Makes all letters lower case."""
    def str_case_fold(self, *, flags: int | None = None) -> _P_co:
        """Makes it what strs that differ in case only have in common."""
    def str_normalize_nfc(self, *, flags: int | None = None) -> _P_co:
        """Makes it Unicode normal form C."""
    def str_trim_start(self, *, flags: int | None = None) -> _P_co:
        """Removes white space at the start."""
    def str_trim_end(self, *, flags: int | None = None) -> _P_co:
        """Removes white space at the end."""
    def str_trim(self, *, flags: int | None = None) -> _P_co:
        """Removes white space at both ends."""
    def str_pad_start(self, target_length: int, pad_string: str, *, flags: int | None = None) -> _P_co:
        """Pads it at the start, up to so many characters."""
    def str_pad_end(self, target_length: int, pad_string: str, *, flags: int | None = None) -> _P_co:
        """Pads it at the end, up to so many characters."""
    def str_repeat(self, count: int, *, flags: int | None = None) -> _P_co:
        """Repeats it so many times."""
    def str_snip(self, start: int, end: int | None = None, *, flags: int | None = None) -> _P_co:
        """Removes the characters from `start` to before `end`, or to the end of the str (then without
        flags).
        """
    def str_regex_replace(
        self, pattern: str, replacement: str, flags: int | None = None, *, write_flags: int | None = None
    ) -> _P_co:
        """Replaces what a regular expression (ICU) matches. `flags`: bits of `StringRegexFlags`; `GLOBAL`
        replaces all matches. `write_flags`: bits of `StringWriteFlags`.
        """

class _BinReads(Generic[_P_co]):
    """What can be read of a value."""

    def get(self) -> _P_co:
        """Reads the bin."""
    def read_as_string(self) -> _P_co:
        """Answers with an int, float, bool or bytes bin as a str. Server 8.2 and later."""
    def select_from(self, expression: FilterExpression | str, *, ignore_eval_failure: bool = False) -> _P_co:
        """Answers with what an expression evaluates to, as a bin of this name. `ignore_eval_failure`: with
        `None` if it cannot be evaluated.
        """
    def hll_get_count(self) -> _P_co:
        """Answers with about how many values were added."""
    def hll_describe(self) -> _P_co:
        """Answers with the numbers of index bits and of min-hash bits: `get_hll_config` of the result reads
        it.
        """
    def hll_get_union(self, hll_list: Sequence[HLL]) -> _P_co:
        """Answers with the union with other HLLs, an `HLL`."""
    def hll_get_union_count(self, hll_list: Sequence[HLL]) -> _P_co:
        """Answers with about how many values the union with other HLLs has."""
    def hll_get_intersect_count(self, hll_list: Sequence[HLL]) -> _P_co:
        """Answers with about how many values the intersection with other HLLs has."""
    def hll_get_similarity(self, hll_list: Sequence[HLL]) -> _P_co:
        """Answers with how similar the HLL is to others: a float of 0 to 1."""
    def bit_get(self, bit_offset: int, bit_size: int) -> _P_co:
        """Answers with bits, as bytes."""
    def bit_count(self, bit_offset: int, bit_size: int) -> _P_co:
        """Answers with how many bits are set."""
    def bit_lscan(self, bit_offset: int, bit_size: int, value: bool) -> _P_co:
        """Answers with the offset of the first bit that is as `value` says; -1: none."""
    def bit_rscan(self, bit_offset: int, bit_size: int, value: bool) -> _P_co:
        """Answers with the offset of the last bit that is as `value` says; -1: none."""
    def bit_get_int(self, bit_offset: int, bit_size: int, signed: bool) -> _P_co:
        """Answers with an integer of 1 to 64 bits."""
    def bit_b64_encode(
        self, byte_offset: int | None = None, byte_size: int | None = None, invert_size: bool = False
    ) -> _P_co:
        """Answers with the blob, or some bytes of it, as base64 text. Offset and size are given both or not at
        all; with `invert_size` the size counts from the end. Server 8.2 and later.
        """

class _BinWrites(Generic[_P_co]):
    """What can be written to a value."""

    def set_to(self, value: Any) -> _P_co:
        """Writes the bin; `None` removes it."""
    def set_to_geo_json(self, geo_json: str) -> _P_co:
        """Writes a geometry, a GeoJSON text."""
    def add(self, value: float) -> _P_co:
        """Adds to an int or float bin; creates the bin if it is missing."""
    def increment_by(self, value: float) -> _P_co:
        """As `add`, for code written for the first versions of the SDK of Aerospike."""
    def append(self, value: str | bytes) -> _P_co:
        """Appends to a str or bytes bin; creates the bin if it is missing."""
    def prepend(self, value: str | bytes) -> _P_co:
        """Prepends to a str or bytes bin; creates the bin if it is missing."""
    def remove(self) -> _P_co:
        """Removes the bin."""
    def insert_from(
        self,
        expression: FilterExpression | str,
        *,
        ignore_op_failure: bool = False,
        ignore_eval_failure: bool = False,
        delete_if_null: bool = False,
    ) -> _P_co:
        """Writes what an expression evaluates to, if the bin does not exist. `ignore_op_failure`: it is no
        error if it does. `ignore_eval_failure`: nor that the expression cannot be evaluated. `delete_if_null`:
        a result of nil deletes the bin.
        """
    def update_from(
        self,
        expression: FilterExpression | str,
        *,
        ignore_op_failure: bool = False,
        ignore_eval_failure: bool = False,
        delete_if_null: bool = False,
    ) -> _P_co:
        """Writes what an expression evaluates to, if the bin exists. Otherwise as `insert_from`."""
    def upsert_from(
        self,
        expression: FilterExpression | str,
        *,
        ignore_op_failure: bool = False,
        ignore_eval_failure: bool = False,
        delete_if_null: bool = False,
    ) -> _P_co:
        """Writes what an expression evaluates to. Otherwise as `insert_from`."""
    def hll_init(
        self,
        config: HllConfig,
        *,
        create_only: bool = False,
        update_only: bool = False,
        no_fail: bool = False,
        allow_fold: bool = False,
    ) -> _P_co:
        """Creates an HLL, or empties one. `create_only`: fails if the bin exists; `update_only`: if it does
        not; `no_fail`: that is no error.
        """
    def hll_add(
        self,
        values: Sequence[Any],
        *,
        config: HllConfig | None = None,
        create_only: bool = False,
        update_only: bool = False,
        no_fail: bool = False,
        allow_fold: bool = False,
    ) -> _P_co:
        """Adds values; creates the HLL if it is missing and `config` is given. Answers with how many of the
        values changed the HLL.
        """
    def hll_set_union(
        self,
        hll_list: Sequence[HLL],
        *,
        create_only: bool = False,
        update_only: bool = False,
        no_fail: bool = False,
        allow_fold: bool = False,
    ) -> _P_co:
        """Sets the bin to the union with other HLLs. `allow_fold`: the result may have fewer index bits."""
    def hll_fold(self, index_bit_count: int) -> _P_co:
        """Folds the HLL to fewer index bits; it must have no min-hash bits."""
    def hll_refresh_count(self) -> _P_co:
        """Answers as `hll_get_count`, and stores that with the bin."""
    def bit_resize(
        self, byte_size: int, resize_flags: BitwiseResizeFlags | None = None, policy: BitPolicy | None = None
    ) -> _P_co:
        """Makes the blob so many bytes long; creates it if it is missing."""
    def bit_insert(
        self, byte_offset: int, value: bytes | bytearray | memoryview, policy: BitPolicy | None = None
    ) -> _P_co:
        """Inserts bytes."""
    def bit_remove(self, byte_offset: int, byte_size: int, policy: BitPolicy | None = None) -> _P_co:
        """Removes bytes."""
    def bit_set(
        self, bit_offset: int, bit_size: int, value: bytes | bytearray | memoryview, policy: BitPolicy | None = None
    ) -> _P_co:
        """Sets bits."""
    def bit_or(
        self, bit_offset: int, bit_size: int, value: bytes | bytearray | memoryview, policy: BitPolicy | None = None
    ) -> _P_co:
        """Bitwise or."""
    def bit_xor(
        self, bit_offset: int, bit_size: int, value: bytes | bytearray | memoryview, policy: BitPolicy | None = None
    ) -> _P_co:
        """Bitwise exclusive or."""
    def bit_and(
        self, bit_offset: int, bit_size: int, value: bytes | bytearray | memoryview, policy: BitPolicy | None = None
    ) -> _P_co:
        """Bitwise and."""
    def bit_not(self, bit_offset: int, bit_size: int, policy: BitPolicy | None = None) -> _P_co:
        """Inverts bits."""
    def bit_lshift(self, bit_offset: int, bit_size: int, shift: int, policy: BitPolicy | None = None) -> _P_co:
        """Shifts bits to the left."""
    def bit_rshift(self, bit_offset: int, bit_size: int, shift: int, policy: BitPolicy | None = None) -> _P_co:
        """Shifts bits to the right."""
    def bit_add(
        self,
        bit_offset: int,
        bit_size: int,
        value: int,
        signed: bool,
        action: BitwiseOverflowActions,
        policy: BitPolicy | None = None,
    ) -> _P_co:
        """Adds to an integer of 1 to 64 bits. `action`: what becomes of an overflow."""
    def bit_subtract(
        self,
        bit_offset: int,
        bit_size: int,
        value: int,
        signed: bool,
        action: BitwiseOverflowActions,
        policy: BitPolicy | None = None,
    ) -> _P_co:
        """Subtracts from an integer of 1 to 64 bits. `action`: what becomes of an overflow."""
    def bit_set_int(self, bit_offset: int, bit_size: int, value: int, policy: BitPolicy | None = None) -> _P_co:
        """Sets an integer of 1 to 64 bits."""

class _ReadNavigation(Generic[_P_co]):
    """The way into lists and maps, for what is read there."""

    def on_map_key(self, key: Any, *, create_type: MapOrder | None = None) -> CdtReadBuilder[_P_co]:
        """The value of a map's key. `create_type`: a map of this order is created there if there is none, for
        what is written inside of it.
        """
    def on_map_index(self, index: int) -> CdtReadBuilder[_P_co]:
        """The pair of a map at an index, in the order of keys."""
    def on_map_rank(self, rank: int) -> CdtReadBuilder[_P_co]:
        """The pair of a map at a rank: 0 has the smallest value."""
    def on_map_value(self, value: Any) -> CdtReadInvertableBuilder[_P_co]:
        """The pairs of a map whose value is equal to one."""
    def on_map_index_range(self, index: int, count: int | None = None) -> CdtReadInvertableBuilder[_P_co]:
        """So many pairs of a map from an index on; `None`: all of them."""
    def on_map_key_range(self, start: Any, end: Any) -> CdtReadInvertableBuilder[_P_co]:
        """The pairs of a map with keys from `start` (`None`: from the smallest) to before `end` (`None`: to the
        largest).
        """
    def on_map_rank_range(self, rank: int, count: int | None = None) -> CdtReadInvertableBuilder[_P_co]:
        """So many pairs of a map from a rank on; `None`: all of them."""
    def on_map_value_range(self, start: Any, end: Any) -> CdtReadInvertableBuilder[_P_co]:
        """The pairs of a map with values from `start` to before `end`."""
    def on_map_key_relative_index_range(
        self, key: Any, index: int, count: int | None = None
    ) -> CdtReadInvertableBuilder[_P_co]:
        """So many pairs of a map, from an index on that is relative to that of a key."""
    def on_map_value_relative_rank_range(
        self, value: Any, rank: int, count: int | None = None
    ) -> CdtReadInvertableBuilder[_P_co]:
        """So many pairs of a map, from a rank on that is relative to that of a value."""
    def on_map_key_list(self, keys: Iterable[Any]) -> CdtReadInvertableBuilder[_P_co]:
        """The pairs of a map whose keys are among these."""
    def on_map_value_list(self, values: Iterable[Any]) -> CdtReadInvertableBuilder[_P_co]:
        """The pairs of a map whose values are among these."""
    def on_list_index(
        self, index: int, *, order: ListOrderType | None = None, pad: bool = False
    ) -> CdtReadBuilder[_P_co]:
        """The item of a list at an index. `order`, `pad`: a list of this order is created there if there is
        none, and the list around it may be shorter than the index.
        """
    def on_list_rank(self, rank: int) -> CdtReadBuilder[_P_co]:
        """The item of a list at a rank: 0 is the smallest."""
    def on_list_value(self, value: Any) -> CdtReadInvertableBuilder[_P_co]:
        """The items of a list that are equal to a value."""
    def on_list_index_range(self, index: int, count: int | None = None) -> CdtReadInvertableBuilder[_P_co]:
        """So many items of a list from an index on; `None`: all of them."""
    def on_list_rank_range(self, rank: int, count: int | None = None) -> CdtReadInvertableBuilder[_P_co]:
        """So many items of a list from a rank on; `None`: all of them."""
    def on_list_value_range(self, start: Any, end: Any) -> CdtReadInvertableBuilder[_P_co]:
        """The items of a list from `start` to before `end`."""
    def on_list_value_relative_rank_range(
        self, value: Any, rank: int, count: int | None = None
    ) -> CdtReadInvertableBuilder[_P_co]:
        """So many items of a list, from a rank on that is relative to that of a value."""
    def on_list_value_list(self, values: Iterable[Any]) -> CdtReadInvertableBuilder[_P_co]:
        """The items of a list that are among these."""
    def on_each_child(self) -> CdtPathBuilder[_P_co]:
        """All items of the list, or values of the map. Server 8.1.1 and later."""
    def on_each_child_where(self, predicate: FilterExpression) -> CdtPathBuilder[_P_co]:
        """Those for which an expression is true. Server 8.1.1 and later."""
    def on_map_keys_in(self, keys: Iterable[Any]) -> CdtPathBuilder[_P_co]:
        """The values of some keys. Server 8.1.2 and later."""

class _WriteNavigation(Generic[_P_co]):
    """The way into lists and maps, for what is done there."""

    def on_map_key(self, key: Any, *, create_type: MapOrder | None = None) -> CdtWriteBuilder[_P_co]:
        """The value of a map's key. `create_type`: a map of this order is created there if there is none, for
        what is written inside of it.
        """
    def on_map_index(self, index: int) -> CdtWriteBuilder[_P_co]:
        """The pair of a map at an index, in the order of keys."""
    def on_map_rank(self, rank: int) -> CdtWriteBuilder[_P_co]:
        """The pair of a map at a rank: 0 has the smallest value."""
    def on_map_value(self, value: Any) -> CdtWriteInvertableBuilder[_P_co]:
        """The pairs of a map whose value is equal to one."""
    def on_map_index_range(self, index: int, count: int | None = None) -> CdtWriteInvertableBuilder[_P_co]:
        """So many pairs of a map from an index on; `None`: all of them."""
    def on_map_key_range(self, start: Any, end: Any) -> CdtWriteInvertableBuilder[_P_co]:
        """The pairs of a map with keys from `start` (`None`: from the smallest) to before `end` (`None`: to the
        largest).
        """
    def on_map_rank_range(self, rank: int, count: int | None = None) -> CdtWriteInvertableBuilder[_P_co]:
        """So many pairs of a map from a rank on; `None`: all of them."""
    def on_map_value_range(self, start: Any, end: Any) -> CdtWriteInvertableBuilder[_P_co]:
        """The pairs of a map with values from `start` to before `end`."""
    def on_map_key_relative_index_range(
        self, key: Any, index: int, count: int | None = None
    ) -> CdtWriteInvertableBuilder[_P_co]:
        """So many pairs of a map, from an index on that is relative to that of a key."""
    def on_map_value_relative_rank_range(
        self, value: Any, rank: int, count: int | None = None
    ) -> CdtWriteInvertableBuilder[_P_co]:
        """So many pairs of a map, from a rank on that is relative to that of a value."""
    def on_map_key_list(self, keys: Iterable[Any]) -> CdtWriteInvertableBuilder[_P_co]:
        """The pairs of a map whose keys are among these."""
    def on_map_value_list(self, values: Iterable[Any]) -> CdtWriteInvertableBuilder[_P_co]:
        """The pairs of a map whose values are among these."""
    def on_list_index(
        self, index: int, *, order: ListOrderType | None = None, pad: bool = False
    ) -> CdtWriteBuilder[_P_co]:
        """The item of a list at an index. `order`, `pad`: a list of this order is created there if there is
        none, and the list around it may be shorter than the index.
        """
    def on_list_rank(self, rank: int) -> CdtWriteBuilder[_P_co]:
        """The item of a list at a rank: 0 is the smallest."""
    def on_list_value(self, value: Any) -> CdtWriteInvertableBuilder[_P_co]:
        """The items of a list that are equal to a value."""
    def on_list_index_range(self, index: int, count: int | None = None) -> CdtWriteInvertableBuilder[_P_co]:
        """So many items of a list from an index on; `None`: all of them."""
    def on_list_rank_range(self, rank: int, count: int | None = None) -> CdtWriteInvertableBuilder[_P_co]:
        """So many items of a list from a rank on; `None`: all of them."""
    def on_list_value_range(self, start: Any, end: Any) -> CdtWriteInvertableBuilder[_P_co]:
        """The items of a list from `start` to before `end`."""
    def on_list_value_relative_rank_range(
        self, value: Any, rank: int, count: int | None = None
    ) -> CdtWriteInvertableBuilder[_P_co]:
        """So many items of a list, from a rank on that is relative to that of a value."""
    def on_list_value_list(self, values: Iterable[Any]) -> CdtWriteInvertableBuilder[_P_co]:
        """The items of a list that are among these."""
    def on_each_child(self) -> CdtPathBuilder[_P_co]:
        """All items of the list, or values of the map. Server 8.1.1 and later."""
    def on_each_child_where(self, predicate: FilterExpression) -> CdtPathBuilder[_P_co]:
        """Those for which an expression is true. Server 8.1.1 and later."""
    def on_map_keys_in(self, keys: Iterable[Any]) -> CdtPathBuilder[_P_co]:
        """The values of some keys. Server 8.1.2 and later."""

class _Answers(Generic[_P_co]):
    """What is read of what is selected."""

    def and_filter(self, predicate: FilterExpression) -> CdtPathBuilder[_P_co]:
        """What is selected, if an expression is true for it. Server 8.1.2 and later."""
    def get_values(self) -> _P_co:
        """Answers with the values."""
    def get_keys(self) -> _P_co:
        """Answers with the keys. Only for maps."""
    def get_keys_and_values(self) -> _P_co:
        """Answers with keys and values. Only for maps."""
    def get_as_map(self) -> _P_co:
        """Answers with a dict. Only for maps."""
    def get_as_ordered_map(self) -> _P_co:
        """Answers with a `SortedMap`. Only for maps."""
    def count(self) -> _P_co:
        """Answers with how many there are."""
    def get_indexes(self) -> _P_co:
        """Answers with indexes, from the front."""
    def get_reverse_indexes(self) -> _P_co:
        """Answers with indexes, from the end."""
    def get_ranks(self) -> _P_co:
        """Answers with ranks: 0 is the smallest."""
    def get_reverse_ranks(self) -> _P_co:
        """Answers with ranks, where 0 is the largest."""
    def exists(self) -> _P_co:
        """Answers with whether there is any."""

class _OtherAnswers(Generic[_P_co]):
    """What is read of what is not selected."""

    def get_all_other_values(self) -> _P_co:
        """Answers with the values of all others."""
    def get_all_other_keys(self) -> _P_co:
        """Answers with the keys of all others. Only for maps."""
    def get_all_other_keys_and_values(self) -> _P_co:
        """Answers with keys and values of all others. Only for maps."""
    def count_all_others(self) -> _P_co:
        """Answers with how many others there are."""
    def get_all_other_indexes(self) -> _P_co:
        """Answers with the indexes of all others."""
    def get_all_other_reverse_indexes(self) -> _P_co:
        """Answers with the indexes of all others, from the end."""
    def get_all_other_ranks(self) -> _P_co:
        """Answers with the ranks of all others."""
    def get_all_other_reverse_ranks(self) -> _P_co:
        """Answers with the ranks of all others, where 0 is the largest."""

class _Writes(Generic[_P_co]):
    """What is done with what is selected."""

    def set_to(self, value: Any) -> _P_co:
        """Sets the value of the key that is selected."""
    def add(self, value: int) -> _P_co:
        """Adds to the number of the key that is selected."""
    def remove(self, *, return_type: ListReturnType | MapReturnType | None = None) -> _P_co:
        """Removes what is selected. Answers as `return_type` says; by default with nothing."""

@final
class CdtReadBuilder(_ReadNavigation[_P_co], _Answers[_P_co], _CollectionReads[_P_co]):
    """What is read of a part of a list or map."""

    @classmethod
    def __class_getitem__(cls, _item: Any) -> type[CdtReadBuilder[Any]]: ...

@final
class CdtReadInvertableBuilder(_ReadNavigation[_P_co], _Answers[_P_co], _OtherAnswers[_P_co], _CollectionReads[_P_co]):
    """As `CdtReadBuilder`; `get_all_other_..` read what is not selected."""

    @classmethod
    def __class_getitem__(cls, _item: Any) -> type[CdtReadInvertableBuilder[Any]]: ...

@final
class CdtWriteBuilder(
    _WriteNavigation[_P_co], _Answers[_P_co], _Writes[_P_co], _CollectionReads[_P_co], _CollectionWrites[_P_co]
):
    """What is done with a part of a list or map."""

    @classmethod
    def __class_getitem__(cls, _item: Any) -> type[CdtWriteBuilder[Any]]: ...

@final
class CdtWriteInvertableBuilder(
    _WriteNavigation[_P_co],
    _Answers[_P_co],
    _OtherAnswers[_P_co],
    _Writes[_P_co],
    _CollectionReads[_P_co],
    _CollectionWrites[_P_co],
):
    """As `CdtWriteBuilder`; `.._all_other..` are for what is not selected."""

    @classmethod
    def __class_getitem__(cls, _item: Any) -> type[CdtWriteInvertableBuilder[Any]]: ...
    def remove_all_others(self, *, return_type: ListReturnType | MapReturnType | None = None) -> _P_co:
        """Removes what is not selected."""

@final
class CdtPathBuilder(Generic[_P_co]):
    """What a path selects inside of a bin: there may be many places. Server 8.1.1 and later."""

    @classmethod
    def __class_getitem__(cls, _item: Any) -> type[CdtPathBuilder[Any]]: ...
    def on_each_child(self) -> CdtPathBuilder[_P_co]:
        """All items of lists, and values of maps."""
    def on_each_child_where(self, predicate: FilterExpression) -> CdtPathBuilder[_P_co]:
        """Those for which an expression is true."""
    def on_map_key(self, key: Any) -> CdtPathBuilder[_P_co]:
        """The value of a key."""
    def on_list_index(self, index: int) -> CdtPathBuilder[_P_co]:
        """The item at an index."""
    def on_map_value(self, value: Any) -> CdtPathBuilder[_P_co]:
        """The first value of a map that is equal to this one."""
    def on_list_value(self, value: Any) -> CdtPathBuilder[_P_co]:
        """The first item of a list that is equal to this one."""
    def on_map_keys_in(self, keys: Iterable[Any]) -> CdtPathBuilder[_P_co]:
        """The values of some keys. Server 8.1.2 and later."""
    def and_filter(self, predicate: FilterExpression) -> CdtPathBuilder[_P_co]:
        """Of what the step before selects, that for which an expression is true, too. Server 8.1.2 and later."""
    def collect_values(self, *, no_fail: bool = False) -> _P_co:
        """Answers with a list of the values. `no_fail`: what has another type than the path says is left out."""
    def collect_values_as_expression_read(
        self, bin_type: ExpType, *, no_fail: bool = False, ignore_eval_failure: bool = False
    ) -> _P_co:
        """Answers with a list of the values, which an expression collects. `bin_type`: `ExpType.MAP` or
        `ExpType.LIST`, what the bin is. `no_fail`: as for `collect_values`. `ignore_eval_failure`: where the
        expression fails, as for a bin of the other type, the answer is `None`.
        """
    def collect_map_keys(self, *, no_fail: bool = False) -> _P_co:
        """Answers with a list of the keys."""
    def collect_map_entries(self, *, no_fail: bool = False) -> _P_co:
        """Answers with a list of keys and values, in turn."""
    def collect_matching_tree(self, *, no_fail: bool = False) -> _P_co:
        """Answers with the collection, with nothing in it but what is selected."""
    def collect_by_path(self, flags: SelectFlags | int) -> _P_co:
        """Answers as flags say: bits of `SelectFlags`."""
    def modify_by(self, expression: FilterExpression, flags: ModifyFlags | int | None = None) -> _P_co:
        """Sets what is selected to what an expression gives for it. `flags`: bits of `ModifyFlags`."""
    def modify_no_fail(self, expression: FilterExpression) -> _P_co:
        """As `modify_by`; what has another type than the path says stays as it is."""
    def remove_matches(self) -> _P_co:
        """Removes what is selected."""

@final
class QueryBinBuilder(_Verbs, _ReadNavigation[_P_co], _BinReads[_P_co], _CollectionReads[_P_co]):
    """What is read of one bin. Each method adds one operation, and gives the builder back."""

    @classmethod
    def __class_getitem__(cls, _item: Any) -> type[QueryBinBuilder[Any]]: ...

@final
class WriteBinBuilder(
    _Verbs,
    _WriteNavigation[_P_co],
    _BinReads[_P_co],
    _BinWrites[_P_co],
    _CollectionReads[_P_co],
    _CollectionWrites[_P_co],
):
    """What is done with one bin. Each method adds one operation, and gives the builder back."""

    def bin(self, bin_name: str) -> WriteBinBuilder[_P_co]:
        """Does something with another bin, as the builder does."""
    def query(self, keys: Key | list[Key], /, *more_keys: Key) -> Any:
        """Goes on with the next operation of the chain, as the builder does."""
    def execute_udf(self, keys: Key | list[Key], /, *more_keys: Key) -> Any:
        """Goes on with the next operation of the chain, as the builder does."""
    def execute(self, on_error: Any = None) -> Any:
        """Carries the chain out, as the builder does."""
    def stream(self, on_error: Any = None) -> Any:
        """Carries the chain out, as the builder does, and gives results as the nodes answer."""
    @classmethod
    def __class_getitem__(cls, _item: Any) -> type[WriteBinBuilder[Any]]: ...
