//! Steps on strings. Server 8.2 and later.

use aerolane_wire::msgpack::Writer;
use pyo3::prelude::*;
use pyo3::types::PyString;

pub(in crate::builder) use crate::operation::string::snip_flags;
use crate::operation::{BaseOperation, Kind};
use crate::value::Refused;

/// An operation on a str.
pub(in crate::builder) fn string_op<K: Kind>(
    name: &Bound<'_, PyString>,
    encode: impl FnOnce(&mut Vec<u8>) -> K,
) -> PyResult<BaseOperation> {
    BaseOperation::encoded(name, true, encode)
}

/// Two strs as one argument.
pub(in crate::builder) fn pair<'a>(
    first: &'a Bound<'_, PyString>,
    second: &'a Bound<'_, PyString>,
) -> impl FnOnce(&mut Writer<'_>) -> Result<(), Refused> + 'a {
    crate::operation::string::pair(first, second)
}

/// A str, or several, as one argument.
pub(in crate::builder) fn strings<'a>(
    value: &'a Bound<'_, PyAny>,
) -> impl FnOnce(&mut Writer<'_>) -> Result<(), Refused> + 'a {
    crate::operation::string::strings(value)
}

macro_rules! string_reads {
    ($class:ident) => {
        $crate::builder::steps::steps! {
            $class;
            /// Reads the number of characters.
            str_strlen()
                = |name| string_op(name, wire::string::strlen);
            /// Reads the characters from `start` up to, but not including, `end`, or to the end of the str.
            #[pyo3(signature = (start, end=None))]
            str_substr(start: i64, end: Option<i64>)
                = |name| string_op(name, |out| wire::string::substr(out, start, end));
            /// Reads the character at an index.
            str_char_at(index: i64)
                = |name| string_op(name, |out| wire::string::char_at(out, index));
            /// Reads the index of the first occurrence of `needle`, or -1 if there is none. `occurrence` is the number of
            /// another one; -1 is the last.
            #[pyo3(signature = (needle, occurrence=None))]
            str_find(needle: Bound<'py, PyString>, occurrence: Option<i64>)
                = |name| string_op(name, |out| Ok(wire::string::find(out, utf8(&needle)?, occurrence)));
            /// Reads whether the str contains `needle`.
            str_contains(needle: Bound<'py, PyString>)
                = |name| string_op(name, |out| Ok(wire::string::contains(out, utf8(&needle)?)));
            /// Reads whether the str starts with `prefix`.
            str_starts_with(prefix: Bound<'py, PyString>)
                = |name| string_op(name, |out| Ok(wire::string::starts_with(out, utf8(&prefix)?)));
            /// Reads whether the str ends with `suffix`.
            str_ends_with(suffix: Bound<'py, PyString>)
                = |name| string_op(name, |out| Ok(wire::string::ends_with(out, utf8(&suffix)?)));
            /// Parses the str as an int.
            str_to_integer()
                = |name| string_op(name, wire::string::to_integer);
            /// Parses the str as a float.
            str_to_double()
                = |name| string_op(name, wire::string::to_double);
            /// Reads the length in bytes of UTF-8.
            str_byte_length()
                = |name| string_op(name, wire::string::byte_length);
            /// Reads whether the str is a number, of the given kind if there is one.
            #[pyo3(signature = (numeric_type=None))]
            str_is_numeric(numeric_type: Option<Choice<NumericType>>)
                = |name| string_op(name, |out| wire::string::is_numeric(out, numeric_type.map(|kind| kind.0 as i64)));
            /// Reads whether all letters are upper case.
            str_is_upper()
                = |name| string_op(name, wire::string::is_upper);
            /// Reads whether all letters are lower case.
            str_is_lower()
                = |name| string_op(name, wire::string::is_lower);
            /// Reads the str as bytes of UTF-8.
            str_to_blob()
                = |name| string_op(name, wire::string::to_blob);
            /// Splits the str into a list, at each separator, or into characters if there is no separator.
            #[pyo3(signature = (separator=None))]
            str_split(separator: Option<Bound<'py, PyString>>)
                = |name| string_op(name, |out| Ok(wire::string::split(out, text(separator.as_ref())?)));
            /// Decodes the str as base64, to bytes.
            str_b64_decode()
                = |name| string_op(name, wire::string::b64_decode);
            /// Reads whether a regular expression (ICU) matches. `flags` are bits of `StringRegexFlags`.
            #[pyo3(signature = (pattern, flags=None))]
            str_regex_compare(pattern: Bound<'py, PyString>, flags: Option<ByteFlags>)
                = |name| string_op(name, |out| Ok(wire::string::regex_compare(out, utf8(&pattern)?, Some(bits(flags)))));
        }
    };
}

macro_rules! string_writes {
    ($class:ident) => {
        $crate::builder::steps::steps! {
            $class;
            /// Inserts a str at an index. `flags`, here and in the methods below, are bits of `StringWriteFlags`.
            #[pyo3(signature = (index, value, *, flags=None))]
            str_insert(index: i64, value: Bound<'py, PyString>, flags: Option<ByteFlags>)
                = |name| string_op(name, |out| Ok(wire::string::insert(out, index, utf8(&value)?, bits(flags))));
            /// Overwrites the characters from an index on.
            #[pyo3(signature = (index, value, *, flags=None))]
            str_overwrite(index: i64, value: Bound<'py, PyString>, flags: Option<ByteFlags>)
                = |name| string_op(name, |out| Ok(wire::string::overwrite(out, index, utf8(&value)?, bits(flags))));
            /// Appends a str, or each str of a list.
            #[pyo3(signature = (value, *, flags=None))]
            str_concat(value: Bound<'py, PyAny>, flags: Option<ByteFlags>)
                = |name| string_op(name, |out| wire::string::concat(out, strings(&value), bits(flags)));
            /// Appends a str.
            #[pyo3(signature = (value, *, flags=None))]
            str_append(value: Bound<'py, PyString>, flags: Option<ByteFlags>)
                = |name| string_op(name, |out| Ok(wire::string::append(out, utf8(&value)?, bits(flags))));
            /// Prepends a str.
            #[pyo3(signature = (value, *, flags=None))]
            str_prepend(value: Bound<'py, PyString>, flags: Option<ByteFlags>)
                = |name| string_op(name, |out| Ok(wire::string::prepend(out, utf8(&value)?, bits(flags))));
            /// Replaces the first occurrence of `needle`.
            #[pyo3(signature = (needle, replacement, *, flags=None))]
            str_replace(needle: Bound<'py, PyString>, replacement: Bound<'py, PyString>, flags: Option<ByteFlags>)
                = |name| string_op(name, |out| wire::string::replace(out, pair(&needle, &replacement), bits(flags)));
            /// Replaces all occurrences of `needle`.
            #[pyo3(signature = (needle, replacement, *, flags=None))]
            str_replace_all(needle: Bound<'py, PyString>, replacement: Bound<'py, PyString>, flags: Option<ByteFlags>)
                = |name| string_op(name, |out| {
                    wire::string::replace_all(out, pair(&needle, &replacement), bits(flags))
                });
            /// Converts to upper case.
            #[pyo3(signature = (*, flags=None))]
            str_upper(flags: Option<ByteFlags>)
                = |name| string_op(name, |out| wire::string::upper(out, bits(flags)));
            /// Converts to lower case.
            #[pyo3(signature = (*, flags=None))]
            str_lower(flags: Option<ByteFlags>)
                = |name| string_op(name, |out| wire::string::lower(out, bits(flags)));
            /// Folds the case, so that strs that differ only in case become equal.
            #[pyo3(signature = (*, flags=None))]
            str_case_fold(flags: Option<ByteFlags>)
                = |name| string_op(name, |out| wire::string::case_fold(out, bits(flags)));
            /// Converts to Unicode normalization form C.
            #[pyo3(signature = (*, flags=None))]
            str_normalize_nfc(flags: Option<ByteFlags>)
                = |name| string_op(name, |out| wire::string::normalize_nfc(out, bits(flags)));
            /// Removes white space at the start.
            #[pyo3(signature = (*, flags=None))]
            str_trim_start(flags: Option<ByteFlags>)
                = |name| string_op(name, |out| wire::string::trim_start(out, bits(flags)));
            /// Removes white space at the end.
            #[pyo3(signature = (*, flags=None))]
            str_trim_end(flags: Option<ByteFlags>)
                = |name| string_op(name, |out| wire::string::trim_end(out, bits(flags)));
            /// Removes white space at both ends.
            #[pyo3(signature = (*, flags=None))]
            str_trim(flags: Option<ByteFlags>)
                = |name| string_op(name, |out| wire::string::trim(out, bits(flags)));
            /// Pads the str at the start, up to `target_length` characters.
            #[pyo3(signature = (target_length, pad_string, *, flags=None))]
            str_pad_start(target_length: i64, pad_string: Bound<'py, PyString>, flags: Option<ByteFlags>)
                = |name| string_op(name, |out| {
                    Ok(wire::string::pad_start(out, target_length, utf8(&pad_string)?, bits(flags)))
                });
            /// Pads the str at the end, up to `target_length` characters.
            #[pyo3(signature = (target_length, pad_string, *, flags=None))]
            str_pad_end(target_length: i64, pad_string: Bound<'py, PyString>, flags: Option<ByteFlags>)
                = |name| string_op(name, |out| {
                    Ok(wire::string::pad_end(out, target_length, utf8(&pad_string)?, bits(flags)))
                });
            /// Repeats the str `count` times.
            #[pyo3(signature = (count, *, flags=None))]
            str_repeat(count: i64, flags: Option<ByteFlags>)
                = |name| string_op(name, |out| wire::string::repeat(out, count, bits(flags)));
            /// Removes the characters from `start` up to, but not including, `end`, or to the end of the str. Flags
            /// need an `end`.
            #[pyo3(signature = (start, end=None, *, flags=None))]
            str_snip(start: i64, end: Option<i64>, flags: Option<ByteFlags>)
                = |name| string_op(name, |out| Ok(wire::string::snip(out, start, end, snip_flags(end, flags)?)));
            /// Replaces what a regular expression (ICU) matches. `flags` are bits of `StringRegexFlags`; `GLOBAL`
            /// replaces all matches. `write_flags` are bits of `StringWriteFlags`.
            #[pyo3(signature = (pattern, replacement, flags=None, *, write_flags=None))]
            str_regex_replace(
                pattern: Bound<'py, PyString>, replacement: Bound<'py, PyString>, flags: Option<ByteFlags>,
                write_flags: Option<ByteFlags>
            ) = |name| string_op(name, |out| {
                    wire::string::regex_replace(out, pair(&pattern, &replacement), bits(flags), bits(write_flags))
                });
        }
    };
}

pub(in crate::builder) use {string_reads, string_writes};
