//! Operations on strings.

use aerolane_wire::operation::string::code;
use pyo3::prelude::*;

use super::FilterExpression;
use super::part::{Exp, Module, Part, Quoted, call, modify as modified};
use super::table::expressions;
use crate::cdt::{Choice, Ctx, ExpType, Flags, NumericType};

fn read(gives: ExpType, arguments: &[&dyn Part], src: &Exp) -> PyResult<FilterExpression> {
    call(Module::String, gives, arguments, &Ctx::default(), src)
}

fn modify(arguments: &[&dyn Part], src: &Exp) -> PyResult<FilterExpression> {
    modified(Module::String, ExpType::String, arguments, &Ctx::default(), src)
}

expressions! {
    /// How many characters a str has. Server 8.2 and later, like all of these.
    string_strlen(src: Exp) = read(ExpType::Int, &[&code::STRLEN], &src);
    /// The characters from an index on; negative ones count from the end, here and in what follows.
    string_substr(start: Exp, src: Exp) = read(ExpType::String, &[&code::SUBSTR, &start], &src);
    /// The characters from `start` up to but not including `end`.
    string_substr_range(start: Exp, end: Exp, src: Exp) = read(ExpType::String, &[&code::SUBSTR, &start, &end], &src);
    /// The character at an index.
    string_char_at(index: Exp, src: Exp) = read(ExpType::String, &[&code::CHAR_AT, &index], &src);
    /// The index of the first occurrence of a str; -1 if there is none.
    string_find(needle: Exp, src: Exp) = read(ExpType::Int, &[&code::FIND, &needle], &src);
    /// The index of an occurrence of a str (1: the first, -1: the last); -1 if there is none.
    string_find_nth(needle: Exp, occurrence: Exp, src: Exp)
        = read(ExpType::Int, &[&code::FIND, &needle, &occurrence], &src);
    /// Whether a str contains another one.
    string_contains(needle: Exp, src: Exp) = read(ExpType::Bool, &[&code::CONTAINS, &needle], &src);
    /// Whether a str starts with another one.
    string_starts_with(prefix: Exp, src: Exp) = read(ExpType::Bool, &[&code::STARTS_WITH, &prefix], &src);
    /// Whether a str ends with another one.
    string_ends_with(suffix: Exp, src: Exp) = read(ExpType::Bool, &[&code::ENDS_WITH, &suffix], &src);
    /// The int that a str spells.
    string_to_integer(src: Exp) = read(ExpType::Int, &[&code::TO_INTEGER], &src);
    /// The float that a str spells.
    string_to_double(src: Exp) = read(ExpType::Float, &[&code::TO_DOUBLE], &src);
    /// How many bytes of UTF-8 a str has.
    string_byte_length(src: Exp) = read(ExpType::Int, &[&code::BYTE_LENGTH], &src);
    /// Whether a str spells a number.
    string_is_numeric(src: Exp) = read(ExpType::Bool, &[&code::IS_NUMERIC], &src);
    /// Whether a str spells a number of this kind.
    string_is_numeric_typed(numeric_type: Choice<NumericType>, src: Exp)
        = read(ExpType::Bool, &[&code::IS_NUMERIC, &(numeric_type.0 as u8)], &src);
    /// Whether all letters are upper case.
    string_is_upper(src: Exp) = read(ExpType::Bool, &[&code::IS_UPPER], &src);
    /// Whether all letters are lower case.
    string_is_lower(src: Exp) = read(ExpType::Bool, &[&code::IS_LOWER], &src);
    /// The UTF-8 of a str, as bytes.
    string_to_blob(src: Exp) = read(ExpType::Blob, &[&code::TO_BLOB], &src);
    /// The characters of a str, as a list.
    string_split(src: Exp) = read(ExpType::List, &[&code::SPLIT], &src);
    /// The parts of a str between separators, as a list.
    string_split_by_separator(separator: Exp, src: Exp) = read(ExpType::List, &[&code::SPLIT, &separator], &src);
    /// The bytes that a str encodes as base64.
    string_b64_decode(src: Exp) = read(ExpType::Blob, &[&code::B64_DECODE], &src);
    /// Whether a regular expression (ICU) matches.
    string_regex_compare(pattern: Exp, src: Exp) = read(ExpType::Bool, &[&code::REGEX_COMPARE, &pattern], &src);
    /// Whether a regular expression (ICU) matches. `regex_flags`: bits of `StringRegexFlags`.
    string_regex_compare_with_flags(pattern: Exp, regex_flags: Flags, src: Exp)
        = read(ExpType::Bool, &[&code::REGEX_COMPARE, &pattern, &regex_flags.0], &src);
    /// The str with another one inserted at an index. `flags`: bits of `StringWriteFlags`, here and in what follows.
    string_insert(flags: Flags, index: Exp, value: Exp, src: Exp)
        = modify(&[&code::INSERT, &index, &value, &flags.0], &src);
    /// The str with another one written over it from an index on.
    string_overwrite(flags: Flags, index: Exp, value: Exp, src: Exp)
        = modify(&[&code::OVERWRITE, &index, &value, &flags.0], &src);
    /// The str with the strs of a list appended.
    string_concat(flags: Flags, values: Exp, src: Exp) = modify(&[&code::CONCAT, &values, &flags.0], &src);
    /// The str with another one appended.
    string_append(flags: Flags, value: Exp, src: Exp) = modify(&[&code::APPEND, &value, &flags.0], &src);
    /// The str with another one prepended.
    string_prepend(flags: Flags, value: Exp, src: Exp) = modify(&[&code::PREPEND, &value, &flags.0], &src);
    /// The str without the characters from `start` up to but not including `end`.
    string_snip(flags: Flags, start: Exp, end: Exp, src: Exp) = modify(&[&code::SNIP, &start, &end, &flags.0], &src);
    /// The str without the characters from an index on.
    string_snip_from(start: Exp, src: Exp) = modify(&[&code::SNIP, &start], &src);
    /// The str with the first occurrence of `needle` replaced.
    string_replace(flags: Flags, needle: Exp, replacement: Exp, src: Exp)
        = modify(&[&code::REPLACE, &Quoted(&[&needle, &replacement]), &flags.0], &src);
    /// The str with all occurrences of `needle` replaced.
    string_replace_all(flags: Flags, needle: Exp, replacement: Exp, src: Exp)
        = modify(&[&code::REPLACE_ALL, &Quoted(&[&needle, &replacement]), &flags.0], &src);
    /// The str in upper case.
    string_upper(flags: Flags, src: Exp) = modify(&[&code::UPPER, &flags.0], &src);
    /// The str in lower case.
    string_lower(flags: Flags, src: Exp) = modify(&[&code::LOWER, &flags.0], &src);
    /// The str with its case folded, for comparisons that ignore case.
    string_case_fold(flags: Flags, src: Exp) = modify(&[&code::CASE_FOLD, &flags.0], &src);
    /// The str in Unicode normal form C.
    string_normalize_nfc(flags: Flags, src: Exp) = modify(&[&code::NORMALIZE_NFC, &flags.0], &src);
    /// The str without white space at its start.
    string_trim_start(flags: Flags, src: Exp) = modify(&[&code::TRIM_START, &flags.0], &src);
    /// The str without white space at its end.
    string_trim_end(flags: Flags, src: Exp) = modify(&[&code::TRIM_END, &flags.0], &src);
    /// The str without white space at both ends.
    string_trim(flags: Flags, src: Exp) = modify(&[&code::TRIM, &flags.0], &src);
    /// The str, padded at its start up to a number of characters.
    string_pad_start(flags: Flags, target_length: Exp, pad_string: Exp, src: Exp)
        = modify(&[&code::PAD_START, &target_length, &pad_string, &flags.0], &src);
    /// The str, padded at its end up to a number of characters.
    string_pad_end(flags: Flags, target_length: Exp, pad_string: Exp, src: Exp)
        = modify(&[&code::PAD_END, &target_length, &pad_string, &flags.0], &src);
    /// The str, repeated a number of times.
    string_repeat(flags: Flags, count: Exp, src: Exp) = modify(&[&code::REPEAT, &count, &flags.0], &src);
    /// The str with what a regular expression (ICU) matches replaced. `regex_flags`: bits of `StringRegexFlags`;
    /// `GLOBAL` replaces all matches.
    string_regex_replace(pattern: Exp, replacement: Exp, regex_flags: Flags, src: Exp)
        = modify(&[&code::REGEX_REPLACE, &Quoted(&[&pattern, &replacement]), &regex_flags.0, &0_u8], &src);
}
