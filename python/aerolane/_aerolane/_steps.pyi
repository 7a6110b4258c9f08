"""Steps: what builders do with a bin, or with a part of it."""

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

from ._cdt import (
    BitPolicy,
    BitwiseOverflowActions,
    BitwiseResizeFlags,
    ListOrderType,
    ListSortFlags,
    MapOrder,
    StringNumericType,
)
from ._expression import FilterExpression
from ._results import HllConfig
from ._values import HLL, Key

_P_co = TypeVar("_P_co", covariant=True)

class _BinVerbs:
    """The verbs of the builder that a bin belongs to."""

    def delete(self, keys: Key | list[Key], /, *more_keys: Key) -> Any:
        """Deletes records. The result for a record that does not exist has the code `KEY_NOT_FOUND_ERROR`.

        Takes a `Key`, several of them, or a list of keys.
        """
    def exists(self, keys: Key | list[Key], /, *more_keys: Key) -> Any:
        """Checks whether records exist. `as_bool()` of a result returns the answer.

        Takes a `Key`, several of them, or a list of keys.
        """
    def update(self, keys: Key | list[Key], /, *more_keys: Key) -> Any:
        """Writes bins of an existing record; other bins stay as they are. Fails with `RecordNotFoundError` if the
        record does not exist.

        Takes a `Key`, several of them, or a list of keys.
        """
    def touch(self, keys: Key | list[Key], /, *more_keys: Key) -> Any:
        """Resets the time to live of records and increments their generation. The result for a record that does not
        exist has the code `KEY_NOT_FOUND_ERROR`.

        Takes a `Key`, several of them, or a list of keys.
        """
    def upsert(self, keys: Key | list[Key], /, *more_keys: Key) -> Any:
        """Writes bins. Creates the record if it does not exist; other bins stay as they are.

        Takes a `Key`, several of them, or a list of keys.
        """
    def insert(self, keys: Key | list[Key], /, *more_keys: Key) -> Any:
        """Writes bins of a new record. Fails with `RecordExistsError` if the record exists.

        Takes a `Key`, several of them, or a list of keys.
        """
    def replace(self, keys: Key | list[Key], /, *more_keys: Key) -> Any:
        """Replaces all bins of the record. Creates the record if it does not exist.

        Takes a `Key`, several of them, or a list of keys.
        """
    def replace_if_exists(self, keys: Key | list[Key], /, *more_keys: Key) -> Any:
        """Replaces all bins of an existing record. Fails with `RecordNotFoundError` if the record does not exist.

        Takes a `Key`, several of them, or a list of keys.
        """

class _CollectionReads(Generic[_P_co]):
    """Steps that read a value: a bin, or a part of a list or map."""

    def list_join(self, separator: str | None = None) -> _P_co:
        """Joins the str items, with `separator` between them. Requires server 8.2 or later."""
    def list_get(self, index: int) -> _P_co:
        """Reads the item at an index."""
    def list_get_range(self, index: int, count: int | None = None) -> _P_co:
        """Reads `count` items starting at an index, or all of them if `count` is `None`."""
    def map_size(self) -> _P_co:
        """Reads the number of entries."""
    def str_strlen(self) -> _P_co:
        """Reads the number of characters."""
    def str_substr(self, start: int, end: int | None = None) -> _P_co:
        """Reads the characters from `start` up to, but not including, `end`, or to the end of the str."""
    def str_char_at(self, index: int) -> _P_co:
        """Reads the character at an index."""
    def str_find(self, needle: str, occurrence: int | None = None) -> _P_co:
        """Reads the index of the first occurrence of `needle`, or -1 if there is none. `occurrence` is the number of
        another one; -1 is the last.
        """
    def str_contains(self, needle: str) -> _P_co:
        """Reads whether the str contains `needle`."""
    def str_starts_with(self, prefix: str) -> _P_co:
        """Reads whether the str starts with `prefix`."""
    def str_ends_with(self, suffix: str) -> _P_co:
        """Reads whether the str ends with `suffix`."""
    def str_to_integer(self) -> _P_co:
        """Parses the str as an int."""
    def str_to_double(self) -> _P_co:
        """Parses the str as a float."""
    def str_byte_length(self) -> _P_co:
        """Reads the length in bytes of UTF-8."""
    def str_is_numeric(self, numeric_type: StringNumericType | None = None) -> _P_co:
        """Reads whether the str is a number, of the given kind if there is one."""
    def str_is_upper(self) -> _P_co:
        """Reads whether all letters are upper case."""
    def str_is_lower(self) -> _P_co:
        """Reads whether all letters are lower case."""
    def str_to_blob(self) -> _P_co:
        """Reads the str as bytes of UTF-8."""
    def str_split(self, separator: str | None = None) -> _P_co:
        """Splits the str into a list, at each separator, or into characters if there is no separator."""
    def str_b64_decode(self) -> _P_co:
        """Decodes the str as base64, to bytes."""
    def str_regex_compare(self, pattern: str, flags: int | None = None) -> _P_co:
        """Reads whether a regular expression (ICU) matches. `flags` are bits of `StringRegexFlags`."""
    def list_size(self) -> _P_co:
        """Reads the number of items."""

class _CollectionWrites(Generic[_P_co]):
    """Steps that change a value: a bin, or a part of a list or map."""

    def list_add(self, value: Any, *, unique: bool = False, bounded: bool = False, no_fail: bool = False) -> _P_co:
        """Adds a value at its sorted position in an ordered list. Creates the list if it is missing. Returns the new
        size.

        `unique` fails if the list already has the value, `bounded` fails for an index beyond the end of the list, and
        `no_fail` turns these failures into no-ops.
        """
    def list_append(self, value: Any, *, unique: bool = False, bounded: bool = False, no_fail: bool = False) -> _P_co:
        """Appends a value. Creates the list if it is missing. Returns the new size. Takes the same flags as
        `list_add`.
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
        """Appends values. Creates the list if it is missing. Returns the new size. Takes the same flags as
        `list_add`; with `partial` and `no_fail`, the values that do not fail are still appended.
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
        """Adds values at their sorted positions in an ordered list. Creates the list if it is missing. Returns the
        new size. Takes the same flags as `list_append_items`.
        """
    def list_create(self, order: ListOrderType, *, pad: bool = True, persist_index: bool = False) -> _P_co:
        """Creates the list if it is missing. In a nested list, `pad` fills the gap up to the index with nil.
        `persist_index` stores the list's index with it.
        """
    def list_set_order(self, order: ListOrderType) -> _P_co:
        """Sets the order of the list. Creates the list if it is missing."""
    def list_clear(self) -> _P_co:
        """Removes all items."""
    def list_sort(self, flags: ListSortFlags = ...) -> _P_co:
        """Sorts the list."""
    def list_insert(
        self, index: int, value: Any, *, unique: bool = False, bounded: bool = False, no_fail: bool = False
    ) -> _P_co:
        """Inserts a value at an index. Returns the new size. Takes the same flags as `list_add`."""
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
        """Inserts values at an index. Returns the new size. Takes the same flags as `list_append_items`."""
    def list_set(self, index: int, value: Any) -> _P_co:
        """Sets the item at an index."""
    def list_increment(self, index: int, value: int = 1) -> _P_co:
        """Adds to the number at an index. Returns the sum."""
    def list_remove(self, index: int) -> _P_co:
        """Removes the item at an index. Returns the number of items removed."""
    def list_remove_range(self, index: int, count: int | None = None) -> _P_co:
        """Removes `count` items starting at an index, or all of them if `count` is `None`. Returns the number of
        items removed.
        """
    def list_pop(self, index: int) -> _P_co:
        """Removes the item at an index and returns it."""
    def list_pop_range(self, index: int, count: int | None = None) -> _P_co:
        """Removes `count` items starting at an index, or all of them if `count` is `None`, and returns them."""
    def list_trim(self, index: int, count: int) -> _P_co:
        """Keeps `count` items starting at an index and removes all others. Returns the number of items removed."""
    def map_upsert_items(
        self,
        items: Mapping[Any, Any] | Sequence[tuple[Any, Any]],
        *,
        order: MapOrder | None = None,
        persist_index: bool = False,
        no_fail: bool = False,
        partial: bool = False,
    ) -> _P_co:
        """Writes entries, given as a mapping or a sequence of pairs. Creates the map if it is missing. Returns the new
        size.

        `order` and `persist_index` apply to a map that is created. `no_fail` turns an entry that cannot be written into
        a no-op; with `partial` as well, the other entries are still written.
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
        """Writes entries whose keys the map does not have. Fails for the others. Takes the same arguments as
        `map_upsert_items`.
        """
    def map_update_items(
        self,
        items: Mapping[Any, Any] | Sequence[tuple[Any, Any]],
        *,
        order: MapOrder | None = None,
        persist_index: bool = False,
        no_fail: bool = False,
        partial: bool = False,
    ) -> _P_co:
        """Writes entries whose keys the map has. Fails for the others. Takes the same arguments as
        `map_upsert_items`.
        """
    def map_clear(self) -> _P_co:
        """Removes all entries."""
    def map_create(self, order: MapOrder) -> _P_co:
        """Creates the map if it is missing."""
    def map_set_policy(self, order: MapOrder) -> _P_co:
        """Sets the order of the map. Creates the map if it is missing."""
    def str_insert(self, index: int, value: str, *, flags: int | None = None) -> _P_co:
        """Inserts a str at an index. `flags`, here and in the methods below, are bits of `StringWriteFlags`."""
    def str_overwrite(self, index: int, value: str, *, flags: int | None = None) -> _P_co:
        """Overwrites the characters from an index on."""
    def str_concat(self, value: str | Sequence[str], *, flags: int | None = None) -> _P_co:
        """Appends a str, or each str of a list."""
    def str_append(self, value: str, *, flags: int | None = None) -> _P_co:
        """Appends a str."""
    def str_prepend(self, value: str, *, flags: int | None = None) -> _P_co:
        """Prepends a str."""
    def str_replace(self, needle: str, replacement: str, *, flags: int | None = None) -> _P_co:
        """Replaces the first occurrence of `needle`."""
    def str_replace_all(self, needle: str, replacement: str, *, flags: int | None = None) -> _P_co:
        """Replaces all occurrences of `needle`."""
    def str_upper(self, *, flags: int | None = None) -> _P_co:
        """Converts to upper case."""
    def str_lower(self, *, flags: int | None = None) -> _P_co:
        """Converts to lower case."""
    def str_case_fold(self, *, flags: int | None = None) -> _P_co:
        """Folds the case, so that strs that differ only in case become equal."""
    def str_normalize_nfc(self, *, flags: int | None = None) -> _P_co:
        """Converts to Unicode normalization form C."""
    def str_trim_start(self, *, flags: int | None = None) -> _P_co:
        """Removes white space at the start."""
    def str_trim_end(self, *, flags: int | None = None) -> _P_co:
        """Removes white space at the end."""
    def str_trim(self, *, flags: int | None = None) -> _P_co:
        """Removes white space at both ends."""
    def str_pad_start(self, target_length: int, pad_string: str, *, flags: int | None = None) -> _P_co:
        """Pads the str at the start, up to `target_length` characters."""
    def str_pad_end(self, target_length: int, pad_string: str, *, flags: int | None = None) -> _P_co:
        """Pads the str at the end, up to `target_length` characters."""
    def str_repeat(self, count: int, *, flags: int | None = None) -> _P_co:
        """Repeats the str `count` times."""
    def str_snip(self, start: int, end: int | None = None, *, flags: int | None = None) -> _P_co:
        """Removes the characters from `start` up to, but not including, `end`, or to the end of the str. Flags need
        an `end`.
        """
    def str_regex_replace(
        self, pattern: str, replacement: str, flags: int | None = None, *, write_flags: int | None = None
    ) -> _P_co:
        """Replaces what a regular expression (ICU) matches. `flags` are bits of `StringRegexFlags`; `GLOBAL`
        replaces all matches. `write_flags` are bits of `StringWriteFlags`.
        """

class _BinReads(Generic[_P_co]):
    """Steps that read a bin."""

    def bit_get(self, bit_offset: int, bit_size: int) -> _P_co:
        """Reads bits, as bytes."""
    def bit_count(self, bit_offset: int, bit_size: int) -> _P_co:
        """Reads the number of bits that are set."""
    def bit_lscan(self, bit_offset: int, bit_size: int, value: bool) -> _P_co:
        """Reads the offset of the first bit that equals `value`; -1 if there is none."""
    def bit_rscan(self, bit_offset: int, bit_size: int, value: bool) -> _P_co:
        """Reads the offset of the last bit that equals `value`; -1 if there is none."""
    def bit_get_int(self, bit_offset: int, bit_size: int, signed: bool) -> _P_co:
        """Reads an integer of 1 to 64 bits."""
    def bit_b64_encode(
        self, byte_offset: int | None = None, byte_size: int | None = None, invert_size: bool = False
    ) -> _P_co:
        """Reads the blob, or some bytes of it, as base64 text. Pass both the offset and the size, or neither. With
        `invert_size`, the size counts from the end. Requires server 8.2 or later.
        """
    def get(self) -> _P_co:
        """Reads the bin."""
    def read_as_string(self) -> _P_co:
        """Reads an int, float, bool or bytes bin as a str. Requires server 8.2 or later."""
    def select_from(self, expression: FilterExpression | str, *, ignore_eval_failure: bool = False) -> _P_co:
        """Evaluates an expression and returns its value under the name of this bin. With `ignore_eval_failure`, an
        expression that cannot be evaluated returns `None`.
        """
    def hll_get_count(self) -> _P_co:
        """Reads the estimated number of values that were added."""
    def hll_get_union(self, hll_list: Sequence[HLL]) -> _P_co:
        """Reads the union with other HLLs, as an `HLL`."""
    def hll_get_union_count(self, hll_list: Sequence[HLL]) -> _P_co:
        """Reads the estimated number of values in the union with other HLLs."""
    def hll_get_intersect_count(self, hll_list: Sequence[HLL]) -> _P_co:
        """Reads the estimated number of values in the intersection with other HLLs."""
    def hll_get_similarity(self, hll_list: Sequence[HLL]) -> _P_co:
        """Reads the estimated similarity to other HLLs, a float from 0 to 1."""
    def hll_describe(self) -> _P_co:
        """Reads the numbers of index bits and of min-hash bits. `get_hll_config()` of the result returns them."""

class _BinWrites(Generic[_P_co]):
    """Steps that change a bin."""

    def bit_resize(
        self, byte_size: int, resize_flags: BitwiseResizeFlags | None = None, policy: BitPolicy | None = None
    ) -> _P_co:
        """Resizes the blob to `byte_size` bytes. Creates it if it is missing."""
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
        """Combines bits with `value` by bitwise or."""
    def bit_xor(
        self, bit_offset: int, bit_size: int, value: bytes | bytearray | memoryview, policy: BitPolicy | None = None
    ) -> _P_co:
        """Combines bits with `value` by bitwise exclusive or."""
    def bit_and(
        self, bit_offset: int, bit_size: int, value: bytes | bytearray | memoryview, policy: BitPolicy | None = None
    ) -> _P_co:
        """Combines bits with `value` by bitwise and."""
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
        """Adds to an integer of 1 to 64 bits. `action` says what to do on overflow."""
    def bit_subtract(
        self,
        bit_offset: int,
        bit_size: int,
        value: int,
        signed: bool,
        action: BitwiseOverflowActions,
        policy: BitPolicy | None = None,
    ) -> _P_co:
        """Subtracts from an integer of 1 to 64 bits. `action` says what to do on overflow."""
    def bit_set_int(self, bit_offset: int, bit_size: int, value: int, policy: BitPolicy | None = None) -> _P_co:
        """Sets an integer of 1 to 64 bits."""
    def hll_init(
        self,
        config: HllConfig,
        *,
        create_only: bool = False,
        update_only: bool = False,
        no_fail: bool = False,
        allow_fold: bool = False,
    ) -> _P_co:
        """Creates an HLL, or resets it if it exists. `create_only` fails if the bin exists, `update_only` if it does
        not, and `no_fail` turns these failures into no-ops.
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
        """Adds values. Creates the HLL if it is missing and `config` is given. Returns how many of the values
        changed the HLL. Takes the same flags as `hll_init`.
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
        """Sets the bin to the union with other HLLs. `allow_fold` lets the result have fewer index bits. Takes the
        same flags as `hll_init`.
        """
    def hll_fold(self, index_bit_count: int) -> _P_co:
        """Folds the HLL to fewer index bits. It must have no min-hash bits."""
    def hll_refresh_count(self) -> _P_co:
        """Updates the count that is cached in the bin, and returns it as `hll_get_count` does."""
    def remove(self) -> _P_co:
        """Removes the bin."""
    def set_to(self, value: Any) -> _P_co:
        """Writes the bin. `None` removes it."""
    def set_to_geo_json(self, geo_json: str) -> _P_co:
        """Writes a GeoJSON geometry, given as text."""
    def add(self, value: float) -> _P_co:
        """Adds to an int or float bin. Creates the bin if it is missing."""
    def increment_by(self, value: float) -> _P_co:
        """Same as `add`. For code written for the first versions of the Aerospike SDK."""
    def append(self, value: str | bytes) -> _P_co:
        """Appends to a str or bytes bin. Creates the bin if it is missing."""
    def prepend(self, value: str | bytes) -> _P_co:
        """Prepends to a str or bytes bin. Creates the bin if it is missing."""
    def insert_from(
        self,
        expression: FilterExpression | str,
        *,
        ignore_op_failure: bool = False,
        ignore_eval_failure: bool = False,
        delete_if_null: bool = False,
    ) -> _P_co:
        """Writes the value of an expression if the bin does not exist.

        Two flags turn failures into no-ops: `ignore_op_failure` if the bin exists, `ignore_eval_failure` if the
        expression cannot be evaluated. With `delete_if_null`, an expression that evaluates to nil deletes the bin.
        """
    def update_from(
        self,
        expression: FilterExpression | str,
        *,
        ignore_op_failure: bool = False,
        ignore_eval_failure: bool = False,
        delete_if_null: bool = False,
    ) -> _P_co:
        """Writes the value of an expression if the bin exists. Takes the same flags as `insert_from`;
        `ignore_op_failure` is for a bin that does not exist.
        """
    def upsert_from(
        self,
        expression: FilterExpression | str,
        *,
        ignore_op_failure: bool = False,
        ignore_eval_failure: bool = False,
        delete_if_null: bool = False,
    ) -> _P_co:
        """Writes the value of an expression. Takes the same flags as `insert_from`."""
