"""Expressions on bits, HyperLogLogs and strings."""

from ._cdt import BitPolicy, BitwiseOverflowActions, BitwiseResizeFlags, HLLPolicy, StringNumericType
from ._expression import FilterExpression

class _ValueExpressions:
    """What of `FilterExpression` is about bits, HyperLogLogs and strings."""

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
        """The offset of the first bit that equals `value` (a bool); -1 if there is none."""
    @staticmethod
    def bit_rscan(
        bit_offset: FilterExpression, bit_size: FilterExpression, value: FilterExpression, bin: FilterExpression
    ) -> FilterExpression:
        """The offset of the last bit that equals `value` (a bool); -1 if there is none."""
    @staticmethod
    def bit_get_int(
        bit_offset: FilterExpression, bit_size: FilterExpression, signed: bool, bin: FilterExpression
    ) -> FilterExpression:
        """An integer of up to 64 bits."""
    @staticmethod
    def bit_b64_encode(bin: FilterExpression) -> FilterExpression:
        """The blob as base64 text. Server 8.2 and later."""
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
    def hll_init(policy: HLLPolicy, index_bit_count: FilterExpression, bin: FilterExpression) -> FilterExpression:
        """A new HLL. `index_bit_count`: 4 to 16, as everywhere here."""
    @staticmethod
    def hll_add(policy: HLLPolicy, list: FilterExpression, bin: FilterExpression) -> FilterExpression:
        """The HLL with the values of a list."""
    @staticmethod
    def bit_b64_encode_range(
        byte_offset: FilterExpression, byte_size: FilterExpression, invert_size: bool, bin: FilterExpression
    ) -> FilterExpression:
        """Bytes as base64 text; with `invert_size` their number counts from the end. Server 8.2 and later."""
    @staticmethod
    def hll_init_with_min_hash(
        policy: HLLPolicy, index_bit_count: FilterExpression, min_hash_count: FilterExpression, bin: FilterExpression
    ) -> FilterExpression:
        """A new HLL with min-hash bits (`min_hash_count`: 4 to 51)."""
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
        """The approximate number of values that were added."""
    @staticmethod
    def hll_get_union(list: FilterExpression, bin: FilterExpression) -> FilterExpression:
        """The union with a list of HLLs."""
    @staticmethod
    def hll_get_union_count(list: FilterExpression, bin: FilterExpression) -> FilterExpression:
        """The approximate number of values in the union with a list of HLLs."""
    @staticmethod
    def hll_get_intersect_count(list: FilterExpression, bin: FilterExpression) -> FilterExpression:
        """The approximate number of values in the intersection with a list of HLLs."""
    @staticmethod
    def hll_get_similarity(list: FilterExpression, bin: FilterExpression) -> FilterExpression:
        """How similar the HLL is to a list of HLLs: a float from 0 to 1."""
    @staticmethod
    def hll_describe(bin: FilterExpression) -> FilterExpression:
        """A list of the numbers of index bits and of min-hash bits."""
    @staticmethod
    def hll_may_contain(list: FilterExpression, bin: FilterExpression) -> FilterExpression:
        """1 if all values of a list may have been added, 0 if one certainly was not."""
    @staticmethod
    def string_strlen(src: FilterExpression) -> FilterExpression:
        """How many characters a str has. Server 8.2 and later, like all of these."""
    @staticmethod
    def string_substr(start: FilterExpression, src: FilterExpression) -> FilterExpression:
        """The characters from an index on; negative ones count from the end, here and in what follows."""
    @staticmethod
    def string_substr_range(start: FilterExpression, end: FilterExpression, src: FilterExpression) -> FilterExpression:
        """The characters from `start` up to but not including `end`."""
    @staticmethod
    def string_char_at(index: FilterExpression, src: FilterExpression) -> FilterExpression:
        """The character at an index."""
    @staticmethod
    def string_find(needle: FilterExpression, src: FilterExpression) -> FilterExpression:
        """The index of the first occurrence of a str; -1 if there is none."""
    @staticmethod
    def string_find_nth(
        needle: FilterExpression, occurrence: FilterExpression, src: FilterExpression
    ) -> FilterExpression:
        """The index of an occurrence of a str (1: the first, -1: the last); -1 if there is none."""
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
        """The bytes that a str encodes as base64."""
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
        """The str with the strs of a list appended."""
    @staticmethod
    def string_append(flags: int | None, value: FilterExpression, src: FilterExpression) -> FilterExpression:
        """The str with another one appended."""
    @staticmethod
    def string_prepend(flags: int | None, value: FilterExpression, src: FilterExpression) -> FilterExpression:
        """The str with another one prepended."""
    @staticmethod
    def string_snip(
        flags: int | None, start: FilterExpression, end: FilterExpression, src: FilterExpression
    ) -> FilterExpression:
        """The str without the characters from `start` up to but not including `end`."""
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
        """The str with its case folded, for comparisons that ignore case."""
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
        """The str, repeated a number of times."""
    @staticmethod
    def string_regex_replace(
        pattern: FilterExpression, replacement: FilterExpression, regex_flags: int | None, src: FilterExpression
    ) -> FilterExpression:
        """The str with what a regular expression (ICU) matches replaced. `regex_flags`: bits of `StringRegexFlags`;
        `GLOBAL` replaces all matches.
        """
