//! Operations on string bins (server 8.2 and later).
//!
//! Names, arguments and meaning are those of [`aerospike_core::operations::string`], whose policy and flag types are
//! re-exported here.

use aerolane_wire::message::op;
use aerolane_wire::msgpack::Writer;
use aerolane_wire::operation::string;
pub use aerospike_core::operations::string::*;

use super::encoded::{Outcome as _, Traits, room};
use super::macros::constructors;
use super::{Operation, core};
use crate::error::{Error, Result};

/// Writes a list of strings, for the encoders.
fn texts<'t>(texts: &'t [&str]) -> impl FnOnce(&mut Writer<'_>) -> Result<()> + use<'t> {
    move |writer| {
        writer.list(texts.len());
        for text in texts {
            writer.str(text.as_bytes());
        }
        Ok(())
    }
}

/// The bits of a policy, which does not tell them: found by comparing with the policies of known bits.
fn flags(policy: StringPolicy) -> Result<i64> {
    (0..=0xff)
        .find(|bits| policy == StringPolicy::new(StringWriteFlags::from_bits(*bits)))
        .ok_or_else(|| Error::invalid_argument("its write flags have bits above the lowest eight"))
}

/// Writes a list of two strings, for the encoders.
fn pair(first: &str, second: &str) -> impl FnOnce(&mut Writer<'_>) -> Result<()> {
    |writer| {
        string::pair(writer, first.as_bytes(), second.as_bytes());
        Ok(())
    }
}

/// As [`aerospike_core::operations::string::concat_list`].
#[must_use]
pub fn concat_list(policy: &StringPolicy, bin: impl Into<String>, values: &[&str]) -> Operation {
    let policy = *policy;
    let mut value = room();
    let kind = flags(policy).and_then(|flags| string::concat(&mut value, texts(values), flags).outcome());
    let values: Vec<String> = values.iter().map(|text| (*text).to_owned()).collect();
    Operation::encoded(bin.into(), Traits::NESTS, kind, value, move |bin| {
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        core::string::concat_list(&policy, bin, &values)
    })
}

/// As [`aerospike_core::operations::string::to_string`].
#[must_use]
pub fn to_string(bin: impl Into<String>) -> Operation {
    let traits = Traits::WHOLE_BIN;
    Operation::encoded(bin.into(), traits, Ok(op::TO_STRING), Vec::new(), |bin| core::string::to_string(bin))
}

constructors! {
    string, Traits::NESTS, bin;

    strlen(bin: bin) |out| string::strlen(out);
    substr_from(bin: bin, start: i64) |out| string::substr(out, start, None);
    substr(bin: bin, start: i64, end: i64) |out| string::substr(out, start, Some(end));
    char_at(bin: bin, index: i64) |out| string::char_at(out, index);
    find(bin: bin, needle: text) |out| string::find(out, needle.as_bytes(), None);
    find_nth(bin: bin, needle: text, occurrence: i64) |out| string::find(out, needle.as_bytes(), Some(occurrence));
    contains(bin: bin, needle: text) |out| string::contains(out, needle.as_bytes());
    starts_with(bin: bin, prefix: text) |out| string::starts_with(out, prefix.as_bytes());
    ends_with(bin: bin, suffix: text) |out| string::ends_with(out, suffix.as_bytes());
    to_integer(bin: bin) |out| string::to_integer(out);
    to_double(bin: bin) |out| string::to_double(out);
    byte_length(bin: bin) |out| string::byte_length(out);
    is_numeric(bin: bin) |out| string::is_numeric(out, None);
    is_numeric_typed(bin: bin, numeric_type: StringNumericType)
        |out| string::is_numeric(out, Some(numeric_type as i64));
    is_upper(bin: bin) |out| string::is_upper(out);
    is_lower(bin: bin) |out| string::is_lower(out);
    to_blob(bin: bin) |out| string::to_blob(out);
    split(bin: bin) |out| string::split(out, None);
    split_by_separator(bin: bin, separator: text) |out| string::split(out, Some(separator.as_bytes()));
    b64_decode(bin: bin) |out| string::b64_decode(out);
    regex_compare(bin: bin, pattern: text) |out| string::regex_compare(out, pattern.as_bytes(), None);
    regex_compare_with_flags(bin: bin, pattern: text, regex_flags: StringRegexFlags)
        |out| string::regex_compare(out, pattern.as_bytes(), Some(regex_flags.bits()));
    insert(policy: StringPolicy, bin: bin, index: i64, value: text)
        |out| string::insert(out, index, value.as_bytes(), flags(policy)?);
    overwrite(policy: StringPolicy, bin: bin, index: i64, value: text)
        |out| string::overwrite(out, index, value.as_bytes(), flags(policy)?);
    concat(policy: StringPolicy, bin: bin, value: text)
        |out| string::concat(out, texts(&[&value]), flags(policy)?);
    append(policy: StringPolicy, bin: bin, value: text)
        |out| string::append(out, value.as_bytes(), flags(policy)?);
    prepend(policy: StringPolicy, bin: bin, value: text)
        |out| string::prepend(out, value.as_bytes(), flags(policy)?);
    /// Like aerospike-core, does not send the policy: write flags have no place in this form of the operation.
    snip_from(policy: StringPolicy, bin: bin, start: i64) |out| string::snip(out, start, None, None);
    snip(policy: StringPolicy, bin: bin, start: i64, end: i64)
        |out| string::snip(out, start, Some(end), Some(flags(policy)?));
    replace(policy: StringPolicy, bin: bin, needle: text, replacement: text)
        |out| string::replace(out, pair(&needle, &replacement), flags(policy)?);
    replace_all(policy: StringPolicy, bin: bin, needle: text, replacement: text)
        |out| string::replace_all(out, pair(&needle, &replacement), flags(policy)?);
    upper(policy: StringPolicy, bin: bin) |out| string::upper(out, flags(policy)?);
    lower(policy: StringPolicy, bin: bin) |out| string::lower(out, flags(policy)?);
    case_fold(policy: StringPolicy, bin: bin) |out| string::case_fold(out, flags(policy)?);
    normalize_nfc(policy: StringPolicy, bin: bin) |out| string::normalize_nfc(out, flags(policy)?);
    trim_start(policy: StringPolicy, bin: bin) |out| string::trim_start(out, flags(policy)?);
    trim_end(policy: StringPolicy, bin: bin) |out| string::trim_end(out, flags(policy)?);
    trim(policy: StringPolicy, bin: bin) |out| string::trim(out, flags(policy)?);
    pad_start(policy: StringPolicy, bin: bin, target_length: i64, pad_string: text)
        |out| string::pad_start(out, target_length, pad_string.as_bytes(), flags(policy)?);
    pad_end(policy: StringPolicy, bin: bin, target_length: i64, pad_string: text)
        |out| string::pad_end(out, target_length, pad_string.as_bytes(), flags(policy)?);
    repeat(policy: StringPolicy, bin: bin, count: i64) |out| string::repeat(out, count, flags(policy)?);
    regex_replace(policy: StringPolicy, bin: bin, pattern: text, replacement: text, regex_flags: StringRegexFlags)
        |out| string::regex_replace(out, pair(&pattern, &replacement), regex_flags.bits(), flags(policy)?);
}
