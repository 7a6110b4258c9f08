//! Operations on strings.

use aerolane_wire::msgpack::Writer;
use aerolane_wire::operation::string;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::BaseOperation;
use super::table::{bits, operations, text, utf8};
use crate::cdt::{ByteFlags, Choice, Ctx, NumericType};
use crate::value::{self, Refused};

/// Operations on string bins, and with `ctx` on strings nested in lists and maps. Server 8.2 and later.
///
/// Indexes and lengths count characters; negative indexes count from the end. `flags`: bits of `StringWriteFlags`.
#[pyclass(frozen, extends = BaseOperation, module = "aerolane.native")]
pub(crate) struct StringOperation;

/// Two strs as one argument.
pub(crate) fn pair<'a>(
    first: &'a Bound<'_, PyString>,
    second: &'a Bound<'_, PyString>,
) -> impl FnOnce(&mut Writer<'_>) -> Result<(), Refused> + 'a {
    |writer| Ok(string::pair(writer, utf8(first)?, utf8(second)?))
}

/// A str, or several, as one argument that is a list.
pub(crate) fn strings<'a>(value: &'a Bound<'_, PyAny>) -> impl FnOnce(&mut Writer<'_>) -> Result<(), Refused> + 'a {
    |writer| {
        let each = |writer: &mut Writer<'_>, item: &Bound<'_, PyAny>| match item.cast::<PyString>() {
            Ok(text) => Ok(writer.str(utf8(text)?)),
            Err(_) => Err(Refused::wrong_type(format!("a str was expected, not {}", item.get_type().name()?))),
        };
        if value.is_instance_of::<PyString>() {
            writer.list(1);
            return each(writer, value);
        }
        value::pack_items(writer, value, each)
    }
}

/// Flags come behind the end: without one there is no place for them.
pub(crate) fn snip_flags(end: Option<i64>, flags: Option<ByteFlags>) -> Result<Option<i64>, Refused> {
    match (end, bits(flags)) {
        (None, 0) => Ok(None),
        (None, _) => Err(Refused::value("snip takes flags only together with an end")),
        (Some(_), flags) => Ok(Some(flags)),
    }
}

operations! {
    StringOperation, answers: true;

    /// Returns how many characters there are.
    #[pyo3(signature = (bin, *, ctx=None))]
    strlen(bin; ctx: Option<Ctx>) = string::strlen, in ctx;
    /// Returns the characters from `start` on, to before `end` if that is given.
    #[pyo3(signature = (bin, start, end=None, *, ctx=None))]
    substr(bin; start: i64, end: Option<i64>, ctx: Option<Ctx>) = |out| string::substr(out, start, end), in ctx;
    /// Returns the character at an index.
    #[pyo3(signature = (bin, index, *, ctx=None))]
    char_at(bin; index: i64, ctx: Option<Ctx>) = |out| string::char_at(out, index), in ctx;
    /// Returns the index of an occurrence of a str (by default the first; -1: the last), or -1 if there is none.
    #[pyo3(signature = (bin, needle, occurrence=None, *, ctx=None))]
    find(bin; needle: Bound<'_, PyString>, occurrence: Option<i64>, ctx: Option<Ctx>)
        = |out| Ok(string::find(out, utf8(&needle)?, occurrence)), in ctx;
    /// Returns whether it contains a str.
    #[pyo3(signature = (bin, needle, *, ctx=None))]
    contains(bin; needle: Bound<'_, PyString>, ctx: Option<Ctx>)
        = |out| Ok(string::contains(out, utf8(&needle)?)), in ctx;
    /// Returns whether it starts with a str.
    #[pyo3(signature = (bin, prefix, *, ctx=None))]
    starts_with(bin; prefix: Bound<'_, PyString>, ctx: Option<Ctx>)
        = |out| Ok(string::starts_with(out, utf8(&prefix)?)), in ctx;
    /// Returns whether it ends with a str.
    #[pyo3(signature = (bin, suffix, *, ctx=None))]
    ends_with(bin; suffix: Bound<'_, PyString>, ctx: Option<Ctx>)
        = |out| Ok(string::ends_with(out, utf8(&suffix)?)), in ctx;
    /// Returns the int that it spells.
    #[pyo3(signature = (bin, *, ctx=None))]
    to_integer(bin; ctx: Option<Ctx>) = string::to_integer, in ctx;
    /// Returns the float that it spells.
    #[pyo3(signature = (bin, *, ctx=None))]
    to_double(bin; ctx: Option<Ctx>) = string::to_double, in ctx;
    /// Returns how many bytes of UTF-8 it has.
    #[pyo3(signature = (bin, *, ctx=None))]
    byte_length(bin; ctx: Option<Ctx>) = string::byte_length, in ctx;
    /// Returns whether it spells a number (of this kind).
    #[pyo3(signature = (bin, numeric_type=None, *, ctx=None))]
    is_numeric(bin; numeric_type: Option<Choice<NumericType>>, ctx: Option<Ctx>)
        = |out| string::is_numeric(out, numeric_type.map(|kind| kind.0 as i64)), in ctx;
    /// Returns whether all letters are upper case.
    #[pyo3(signature = (bin, *, ctx=None))]
    is_upper(bin; ctx: Option<Ctx>) = string::is_upper, in ctx;
    /// Returns whether all letters are lower case.
    #[pyo3(signature = (bin, *, ctx=None))]
    is_lower(bin; ctx: Option<Ctx>) = string::is_lower, in ctx;
    /// Returns its UTF-8, as bytes.
    #[pyo3(signature = (bin, *, ctx=None))]
    to_blob(bin; ctx: Option<Ctx>) = string::to_blob, in ctx;
    /// Returns its parts between separators, or its characters, as a list.
    #[pyo3(signature = (bin, separator=None, *, ctx=None))]
    split(bin; separator: Option<Bound<'_, PyString>>, ctx: Option<Ctx>)
        = |out| Ok(string::split(out, text(separator.as_ref())?)), in ctx;
    /// Returns the bytes that its base64 text encodes.
    #[pyo3(signature = (bin, *, ctx=None))]
    b64_decode(bin; ctx: Option<Ctx>) = string::b64_decode, in ctx;
    /// Returns whether a regular expression (ICU) matches. `flags`: bits of `StringRegexFlags`.
    #[pyo3(signature = (bin, pattern, flags=None, *, ctx=None))]
    regex_compare(bin; pattern: Bound<'_, PyString>, flags: Option<ByteFlags>, ctx: Option<Ctx>)
        = |out| Ok(string::regex_compare(out, utf8(&pattern)?, Some(bits(flags)))), in ctx;
    /// Inserts a str at an index.
    #[pyo3(signature = (bin, index, value, *, flags=None, ctx=None))]
    insert(bin; index: i64, value: Bound<'_, PyString>, flags: Option<ByteFlags>, ctx: Option<Ctx>)
        = |out| Ok(string::insert(out, index, utf8(&value)?, bits(flags))), in ctx;
    /// Writes a str over it from an index on.
    #[pyo3(signature = (bin, index, value, *, flags=None, ctx=None))]
    overwrite(bin; index: i64, value: Bound<'_, PyString>, flags: Option<ByteFlags>, ctx: Option<Ctx>)
        = |out| Ok(string::overwrite(out, index, utf8(&value)?, bits(flags))), in ctx;
    /// Appends a str, or each str of a sequence.
    #[pyo3(signature = (bin, value, *, flags=None, ctx=None))]
    concat(bin; value: Bound<'_, PyAny>, flags: Option<ByteFlags>, ctx: Option<Ctx>)
        = |out| string::concat(out, strings(&value), bits(flags)), in ctx;
    /// Appends a str.
    #[pyo3(signature = (bin, value, *, flags=None, ctx=None))]
    append(bin; value: Bound<'_, PyString>, flags: Option<ByteFlags>, ctx: Option<Ctx>)
        = |out| Ok(string::append(out, utf8(&value)?, bits(flags))), in ctx;
    /// Prepends a str.
    #[pyo3(signature = (bin, value, *, flags=None, ctx=None))]
    prepend(bin; value: Bound<'_, PyString>, flags: Option<ByteFlags>, ctx: Option<Ctx>)
        = |out| Ok(string::prepend(out, utf8(&value)?, bits(flags))), in ctx;
    /// Removes the characters from `start` up to but not including `end`, or to the end of the str (then without
    /// flags).
    #[pyo3(signature = (bin, start, end=None, *, flags=None, ctx=None))]
    snip(bin; start: i64, end: Option<i64>, flags: Option<ByteFlags>, ctx: Option<Ctx>)
        = |out| Ok(string::snip(out, start, end, snip_flags(end, flags)?)), in ctx;
    /// Replaces the first occurrence of `needle`.
    #[pyo3(signature = (bin, needle, replacement, *, flags=None, ctx=None))]
    replace(bin; needle: Bound<'_, PyString>, replacement: Bound<'_, PyString>, flags: Option<ByteFlags>, ctx: Option<Ctx>)
        = |out| string::replace(out, pair(&needle, &replacement), bits(flags)), in ctx;
    /// Replaces all occurrences of `needle`.
    #[pyo3(signature = (bin, needle, replacement, *, flags=None, ctx=None))]
    replace_all(bin; needle: Bound<'_, PyString>, replacement: Bound<'_, PyString>, flags: Option<ByteFlags>, ctx: Option<Ctx>)
        = |out| string::replace_all(out, pair(&needle, &replacement), bits(flags)), in ctx;
    /// Makes all letters upper case.
    #[pyo3(signature = (bin, *, flags=None, ctx=None))]
    upper(bin; flags: Option<ByteFlags>, ctx: Option<Ctx>) = |out| string::upper(out, bits(flags)), in ctx;
    /// Makes all letters lower case.
    #[pyo3(signature = (bin, *, flags=None, ctx=None))]
    lower(bin; flags: Option<ByteFlags>, ctx: Option<Ctx>) = |out| string::lower(out, bits(flags)), in ctx;
    /// Folds its case, for comparisons that ignore case.
    #[pyo3(signature = (bin, *, flags=None, ctx=None))]
    case_fold(bin; flags: Option<ByteFlags>, ctx: Option<Ctx>) = |out| string::case_fold(out, bits(flags)), in ctx;
    /// Makes it Unicode normal form C.
    #[pyo3(signature = (bin, *, flags=None, ctx=None))]
    normalize_nfc(bin; flags: Option<ByteFlags>, ctx: Option<Ctx>) = |out| string::normalize_nfc(out, bits(flags)), in ctx;
    /// Removes white space at the start.
    #[pyo3(signature = (bin, *, flags=None, ctx=None))]
    trim_start(bin; flags: Option<ByteFlags>, ctx: Option<Ctx>) = |out| string::trim_start(out, bits(flags)), in ctx;
    /// Removes white space at the end.
    #[pyo3(signature = (bin, *, flags=None, ctx=None))]
    trim_end(bin; flags: Option<ByteFlags>, ctx: Option<Ctx>) = |out| string::trim_end(out, bits(flags)), in ctx;
    /// Removes white space at both ends.
    #[pyo3(signature = (bin, *, flags=None, ctx=None))]
    trim(bin; flags: Option<ByteFlags>, ctx: Option<Ctx>) = |out| string::trim(out, bits(flags)), in ctx;
    /// Pads it at the start to a number of characters.
    #[pyo3(signature = (bin, target_length, pad_string, *, flags=None, ctx=None))]
    pad_start(bin; target_length: i64, pad_string: Bound<'_, PyString>, flags: Option<ByteFlags>, ctx: Option<Ctx>)
        = |out| Ok(string::pad_start(out, target_length, utf8(&pad_string)?, bits(flags))), in ctx;
    /// Pads it at the end to a number of characters.
    #[pyo3(signature = (bin, target_length, pad_string, *, flags=None, ctx=None))]
    pad_end(bin; target_length: i64, pad_string: Bound<'_, PyString>, flags: Option<ByteFlags>, ctx: Option<Ctx>)
        = |out| Ok(string::pad_end(out, target_length, utf8(&pad_string)?, bits(flags))), in ctx;
    /// Repeats it a number of times.
    #[pyo3(signature = (bin, count, *, flags=None, ctx=None))]
    repeat(bin; count: i64, flags: Option<ByteFlags>, ctx: Option<Ctx>) = |out| string::repeat(out, count, bits(flags)), in ctx;
    /// Replaces what a regular expression (ICU) matches. `flags`: bits of `StringRegexFlags`; `GLOBAL` replaces all
    /// matches. `write_flags`: bits of `StringWriteFlags`.
    #[pyo3(signature = (bin, pattern, replacement, flags=None, *, write_flags=None, ctx=None))]
    regex_replace(
        bin; pattern: Bound<'_, PyString>, replacement: Bound<'_, PyString>, flags: Option<ByteFlags>, write_flags: Option<ByteFlags>,
        ctx: Option<Ctx>
    ) = |out| string::regex_replace(out, pair(&pattern, &replacement), bits(flags), bits(write_flags)), in ctx;
    /// Returns an int, float, bool or bytes bin as a str.
    to_string(bin) = |_out| aerolane_wire::message::op::TO_STRING;
}
