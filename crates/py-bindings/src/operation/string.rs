//! Operations on strings.

use aerolane_wire::msgpack::Writer;
use aerolane_wire::operation::string;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::BaseOperation;
use super::table::{operations, text, utf8};
use crate::cdt::{Choice, Ctx, Flags, NumericType};
use crate::value::{self, Refused};

/// Operations on str bins, and with `ctx` on strs inside of lists and maps. Server 8.2 and later.
///
/// Indexes and lengths count characters; negative indexes count from the end. `flags`: bits of `StringWriteFlags`.
#[pyclass(frozen, extends = BaseOperation, module = "aerolane.native")]
pub(crate) struct StringOperation;

/// Two strs as one argument.
fn pair<'a>(
    first: &'a Bound<'_, PyString>,
    second: &'a Bound<'_, PyString>,
) -> impl FnOnce(&mut Writer<'_>) -> Result<(), Refused> + 'a {
    |writer| Ok(string::pair(writer, utf8(first)?, utf8(second)?))
}

/// A str, or several, as one argument that is a list.
fn strings<'a>(value: &'a Bound<'_, PyAny>) -> impl FnOnce(&mut Writer<'_>) -> Result<(), Refused> + 'a {
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
fn snip_flags(end: Option<i64>, flags: Flags) -> Result<Option<i64>, Refused> {
    match (end, flags.0) {
        (None, 0) => Ok(None),
        (None, _) => Err(Refused::value("snip takes flags only together with an end")),
        (Some(_), flags) => Ok(Some(flags)),
    }
}

operations! {
    StringOperation, answers: true;

    /// Answers with how many characters there are.
    #[pyo3(signature = (bin, *, ctx=None))]
    strlen(bin; ctx: Option<Ctx>) = |out| string::strlen(out), in ctx;
    /// Answers with the characters from `start` on, to before `end` if that is given.
    #[pyo3(signature = (bin, start, end=None, *, ctx=None))]
    substr(bin; start: i64, end: Option<i64>, ctx: Option<Ctx>) = |out| string::substr(out, start, end), in ctx;
    /// Answers with the character at an index.
    #[pyo3(signature = (bin, index, *, ctx=None))]
    char_at(bin; index: i64, ctx: Option<Ctx>) = |out| string::char_at(out, index), in ctx;
    /// Answers with the index of an occurrence of a str: the first one, or that of this number (-1: the last); -1:
    /// none.
    #[pyo3(signature = (bin, needle, occurrence=None, *, ctx=None))]
    find(bin; needle: Bound<'_, PyString>, occurrence: Option<i64>, ctx: Option<Ctx>)
        = |out| Ok(string::find(out, utf8(&needle)?, occurrence)), in ctx;
    /// Answers with whether it contains a str.
    #[pyo3(signature = (bin, needle, *, ctx=None))]
    contains(bin; needle: Bound<'_, PyString>, ctx: Option<Ctx>)
        = |out| Ok(string::contains(out, utf8(&needle)?)), in ctx;
    /// Answers with whether it starts with a str.
    #[pyo3(signature = (bin, prefix, *, ctx=None))]
    starts_with(bin; prefix: Bound<'_, PyString>, ctx: Option<Ctx>)
        = |out| Ok(string::starts_with(out, utf8(&prefix)?)), in ctx;
    /// Answers with whether it ends with a str.
    #[pyo3(signature = (bin, suffix, *, ctx=None))]
    ends_with(bin; suffix: Bound<'_, PyString>, ctx: Option<Ctx>)
        = |out| Ok(string::ends_with(out, utf8(&suffix)?)), in ctx;
    /// Answers with the int that it spells.
    #[pyo3(signature = (bin, *, ctx=None))]
    to_integer(bin; ctx: Option<Ctx>) = |out| string::to_integer(out), in ctx;
    /// Answers with the float that it spells.
    #[pyo3(signature = (bin, *, ctx=None))]
    to_double(bin; ctx: Option<Ctx>) = |out| string::to_double(out), in ctx;
    /// Answers with how many bytes of UTF-8 it has.
    #[pyo3(signature = (bin, *, ctx=None))]
    byte_length(bin; ctx: Option<Ctx>) = |out| string::byte_length(out), in ctx;
    /// Answers with whether it spells a number (of this kind).
    #[pyo3(signature = (bin, numeric_type=None, *, ctx=None))]
    is_numeric(bin; numeric_type: Option<Choice<NumericType>>, ctx: Option<Ctx>)
        = |out| string::is_numeric(out, numeric_type.map(|kind| kind.0 as i64)), in ctx;
    /// Answers with whether all letters are upper case.
    #[pyo3(signature = (bin, *, ctx=None))]
    is_upper(bin; ctx: Option<Ctx>) = |out| string::is_upper(out), in ctx;
    /// Answers with whether all letters are lower case.
    #[pyo3(signature = (bin, *, ctx=None))]
    is_lower(bin; ctx: Option<Ctx>) = |out| string::is_lower(out), in ctx;
    /// Answers with its UTF-8, as bytes.
    #[pyo3(signature = (bin, *, ctx=None))]
    to_blob(bin; ctx: Option<Ctx>) = |out| string::to_blob(out), in ctx;
    /// Answers with its parts between separators, or its characters, as a list.
    #[pyo3(signature = (bin, separator=None, *, ctx=None))]
    split(bin; separator: Option<Bound<'_, PyString>>, ctx: Option<Ctx>)
        = |out| Ok(string::split(out, text(separator.as_ref())?)), in ctx;
    /// Answers with the bytes whose base64 text it is.
    #[pyo3(signature = (bin, *, ctx=None))]
    b64_decode(bin; ctx: Option<Ctx>) = |out| string::b64_decode(out), in ctx;
    /// Answers with whether a regular expression (ICU) matches. `flags`: bits of `StringRegexFlags`.
    #[pyo3(signature = (bin, pattern, flags=Flags::NONE, *, ctx=None))]
    regex_compare(bin; pattern: Bound<'_, PyString>, flags: Flags, ctx: Option<Ctx>)
        = |out| Ok(string::regex_compare(out, utf8(&pattern)?, Some(flags.0))), in ctx;
    /// Inserts a str at an index.
    #[pyo3(signature = (bin, index, value, *, flags=Flags::NONE, ctx=None))]
    insert(bin; index: i64, value: Bound<'_, PyString>, flags: Flags, ctx: Option<Ctx>)
        = |out| Ok(string::insert(out, index, utf8(&value)?, flags.0)), in ctx;
    /// Writes a str over it from an index on.
    #[pyo3(signature = (bin, index, value, *, flags=Flags::NONE, ctx=None))]
    overwrite(bin; index: i64, value: Bound<'_, PyString>, flags: Flags, ctx: Option<Ctx>)
        = |out| Ok(string::overwrite(out, index, utf8(&value)?, flags.0)), in ctx;
    /// Puts a str, or each of a sequence of them, behind it.
    #[pyo3(signature = (bin, value, *, flags=Flags::NONE, ctx=None))]
    concat(bin; value: Bound<'_, PyAny>, flags: Flags, ctx: Option<Ctx>)
        = |out| string::concat(out, strings(&value), flags.0), in ctx;
    /// Puts a str behind it.
    #[pyo3(signature = (bin, value, *, flags=Flags::NONE, ctx=None))]
    append(bin; value: Bound<'_, PyString>, flags: Flags, ctx: Option<Ctx>)
        = |out| Ok(string::append(out, utf8(&value)?, flags.0)), in ctx;
    /// Puts a str in front of it.
    #[pyo3(signature = (bin, value, *, flags=Flags::NONE, ctx=None))]
    prepend(bin; value: Bound<'_, PyString>, flags: Flags, ctx: Option<Ctx>)
        = |out| Ok(string::prepend(out, utf8(&value)?, flags.0)), in ctx;
    /// Removes the characters from `start` to before `end`, or to the end of the str (then without flags).
    #[pyo3(signature = (bin, start, end=None, *, flags=Flags::NONE, ctx=None))]
    snip(bin; start: i64, end: Option<i64>, flags: Flags, ctx: Option<Ctx>)
        = |out| Ok(string::snip(out, start, end, snip_flags(end, flags)?)), in ctx;
    /// Replaces the first occurrence of `needle`.
    #[pyo3(signature = (bin, needle, replacement, *, flags=Flags::NONE, ctx=None))]
    replace(bin; needle: Bound<'_, PyString>, replacement: Bound<'_, PyString>, flags: Flags, ctx: Option<Ctx>)
        = |out| string::replace(out, pair(&needle, &replacement), flags.0), in ctx;
    /// Replaces all occurrences of `needle`.
    #[pyo3(signature = (bin, needle, replacement, *, flags=Flags::NONE, ctx=None))]
    replace_all(bin; needle: Bound<'_, PyString>, replacement: Bound<'_, PyString>, flags: Flags, ctx: Option<Ctx>)
        = |out| string::replace_all(out, pair(&needle, &replacement), flags.0), in ctx;
    /// Makes all letters upper case.
    #[pyo3(signature = (bin, *, flags=Flags::NONE, ctx=None))]
    upper(bin; flags: Flags, ctx: Option<Ctx>) = |out| string::upper(out, flags.0), in ctx;
    /// Makes all letters lower case.
    #[pyo3(signature = (bin, *, flags=Flags::NONE, ctx=None))]
    lower(bin; flags: Flags, ctx: Option<Ctx>) = |out| string::lower(out, flags.0), in ctx;
    /// Makes it what strs that differ in case only have in common.
    #[pyo3(signature = (bin, *, flags=Flags::NONE, ctx=None))]
    case_fold(bin; flags: Flags, ctx: Option<Ctx>) = |out| string::case_fold(out, flags.0), in ctx;
    /// Makes it Unicode normal form C.
    #[pyo3(signature = (bin, *, flags=Flags::NONE, ctx=None))]
    normalize_nfc(bin; flags: Flags, ctx: Option<Ctx>) = |out| string::normalize_nfc(out, flags.0), in ctx;
    /// Removes white space at the start.
    #[pyo3(signature = (bin, *, flags=Flags::NONE, ctx=None))]
    trim_start(bin; flags: Flags, ctx: Option<Ctx>) = |out| string::trim_start(out, flags.0), in ctx;
    /// Removes white space at the end.
    #[pyo3(signature = (bin, *, flags=Flags::NONE, ctx=None))]
    trim_end(bin; flags: Flags, ctx: Option<Ctx>) = |out| string::trim_end(out, flags.0), in ctx;
    /// Removes white space at both ends.
    #[pyo3(signature = (bin, *, flags=Flags::NONE, ctx=None))]
    trim(bin; flags: Flags, ctx: Option<Ctx>) = |out| string::trim(out, flags.0), in ctx;
    /// Pads it at the start, up to so many characters.
    #[pyo3(signature = (bin, target_length, pad_string, *, flags=Flags::NONE, ctx=None))]
    pad_start(bin; target_length: i64, pad_string: Bound<'_, PyString>, flags: Flags, ctx: Option<Ctx>)
        = |out| Ok(string::pad_start(out, target_length, utf8(&pad_string)?, flags.0)), in ctx;
    /// Pads it at the end, up to so many characters.
    #[pyo3(signature = (bin, target_length, pad_string, *, flags=Flags::NONE, ctx=None))]
    pad_end(bin; target_length: i64, pad_string: Bound<'_, PyString>, flags: Flags, ctx: Option<Ctx>)
        = |out| Ok(string::pad_end(out, target_length, utf8(&pad_string)?, flags.0)), in ctx;
    /// Repeats it so many times.
    #[pyo3(signature = (bin, count, *, flags=Flags::NONE, ctx=None))]
    repeat(bin; count: i64, flags: Flags, ctx: Option<Ctx>) = |out| string::repeat(out, count, flags.0), in ctx;
    /// Replaces what a regular expression (ICU) matches. `flags`: bits of `StringRegexFlags`; `GLOBAL` replaces all
    /// matches. `write_flags`: bits of `StringWriteFlags`.
    #[pyo3(signature = (bin, pattern, replacement, flags=Flags::NONE, *, write_flags=Flags::NONE, ctx=None))]
    regex_replace(
        bin; pattern: Bound<'_, PyString>, replacement: Bound<'_, PyString>, flags: Flags, write_flags: Flags,
        ctx: Option<Ctx>
    ) = |out| string::regex_replace(out, pair(&pattern, &replacement), flags.0, write_flags.0), in ctx;
    /// Answers with an int, float, bool or bytes bin as a str.
    to_string(bin) = |_out| aerolane_wire::message::op::TO_STRING;
}
