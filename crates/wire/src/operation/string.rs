//! Operations of strings (server 8.2 and later; earlier ones answer with a parameter error, golden group `strings`).
//!
//! Indexes and lengths count characters, and negative ones from the end, unless a name says bytes. Write flags:
//! 1 create-only, 2 update-only, 4 no-fail.
//!
//! An operation of type [`TO_STRING`](crate::message::op::TO_STRING) answers a number or blob as text; it has no value.

super::operations! {
    read STRING_READ, modify STRING_MODIFY;

    /// Answers the number of characters.
    STRLEN = 0: plain read strlen();
    /// Answers characters from `start` to before `end`, or to the end of the string.
    SUBSTR = 1: plain read substr(start: int, end: int_opt);
    /// Answers one character.
    CHAR_AT = 2: plain read char_at(index: int);
    /// Answers the index of the first (or of another) occurrence, or -1.
    FIND = 3: plain read find(needle: text, occurrence: int_opt);
    /// Answers whether it contains a string.
    CONTAINS = 4: plain read contains(needle: text);
    /// Answers whether it starts with a string.
    STARTS_WITH = 5: plain read starts_with(prefix: text);
    /// Answers whether it ends with a string.
    ENDS_WITH = 6: plain read ends_with(suffix: text);
    /// Answers the integer that it spells.
    TO_INTEGER = 7: plain read to_integer();
    /// Answers the float that it spells.
    TO_DOUBLE = 8: plain read to_double();
    /// Answers the number of bytes.
    BYTE_LENGTH = 9: plain read byte_length();
    /// Answers whether it spells a number. Kind: 0 any, 1 integer, 2 float.
    IS_NUMERIC = 10: plain read is_numeric(kind: int_opt);
    /// Answers whether all letters are upper case.
    IS_UPPER = 11: plain read is_upper();
    /// Answers whether all letters are lower case.
    IS_LOWER = 12: plain read is_lower();
    /// Answers its bytes as a blob.
    TO_BLOB = 13: plain read to_blob();
    /// Answers its parts as a list; without a separator its characters.
    SPLIT = 14: plain read split(separator: text_opt);
    /// Answers the blob whose base64 text it is.
    B64_DECODE = 15: plain read b64_decode();
    /// Answers whether a regular expression matches. Flags: 1 case-insensitive, 2 multiline, 4 dot matches all,
    /// 8 Unix lines.
    REGEX_COMPARE = 16: plain read regex_compare(pattern: text, regex_flags: int_opt);
    /// Inserts.
    INSERT = 50: plain modify insert(index: int, value: text, flags: int);
    /// Writes over what is there.
    OVERWRITE = 51: plain modify overwrite(index: int, value: text, flags: int);
    /// Appends each string of a list.
    CONCAT = 52: values modify concat(values: value, flags: int);
    /// Removes from `start` to before `end`, or to the end of the string (then without flags).
    SNIP = 53: plain modify snip(start: int, end: int_opt, flags: int_opt);
    /// Replaces the first occurrence; `pair` is a list of what to look for and what to put there.
    REPLACE = 54: values modify replace(pair: value, flags: int);
    /// Replaces all occurrences; `pair` as in [`replace`].
    REPLACE_ALL = 55: values modify replace_all(pair: value, flags: int);
    /// To upper case.
    UPPER = 56: plain modify upper(flags: int);
    /// To lower case.
    LOWER = 57: plain modify lower(flags: int);
    /// To what strings that differ in case only have in common.
    CASE_FOLD = 58: plain modify case_fold(flags: int);
    /// To Unicode normal form C.
    NORMALIZE_NFC = 59: plain modify normalize_nfc(flags: int);
    /// Removes white space at the start.
    TRIM_START = 60: plain modify trim_start(flags: int);
    /// Removes white space at the end.
    TRIM_END = 61: plain modify trim_end(flags: int);
    /// Removes white space at both ends.
    TRIM = 62: plain modify trim(flags: int);
    /// Pads at the start, up to a length.
    PAD_START = 63: plain modify pad_start(length: int, pad: text, flags: int);
    /// Pads at the end, up to a length.
    PAD_END = 64: plain modify pad_end(length: int, pad: text, flags: int);
    /// Repeats.
    REPEAT = 65: plain modify repeat(count: int, flags: int);
    /// Replaces what a regular expression matches; `pair` is a list of pattern and replacement, the regex flags are
    /// those of [`regex_compare`] and 16 for all matches.
    REGEX_REPLACE = 66: values modify regex_replace(pair: value, regex_flags: int, flags: int);
    /// Appends.
    APPEND = 67: plain modify append(value: text, flags: int);
    /// Prepends.
    PREPEND = 68: plain modify prepend(value: text, flags: int);
}

/// Writes a list of two strings: the `pair` of [`replace`] and its like.
pub fn pair(writer: &mut super::Writer<'_>, first: &[u8], second: &[u8]) {
    writer.list(2);
    writer.str(first);
    writer.str(second);
}
