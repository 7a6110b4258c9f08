//! What is known about a record, and its bins.

use pyo3::prelude::*;
use pyo3::types::PyString;

use super::FilterExpression;
use super::part::{Bare, Part, Parts, list};
use super::table::expressions;
use crate::cdt::{Choice, ExpType};
use crate::operation::checked_name;

const DIGEST_MODULO: u8 = 64;
const LAST_UPDATE: u8 = 66;
const SINCE_UPDATE: u8 = 67;
const VOID_TIME: u8 = 68;
const TTL: u8 = 69;
const SET_NAME: u8 = 70;
const KEY_EXISTS: u8 = 71;
const IS_TOMBSTONE: u8 = 72;
const RECORD_SIZE: u8 = 74;
const KEY: u8 = 80;
const BIN: u8 = 81;
const BIN_TYPE: u8 = 82;
const NOT_EQUAL: u8 = 2;

pub(super) fn bin(name: &Bound<'_, PyString>, kind: ExpType) -> PyResult<FilterExpression> {
    list(&[&BIN, &kind, &Bare(checked_name(name)?)])
}

/// `bin_type`, as an argument.
struct BinType<'a>(&'a str);

impl Part for BinType<'_> {
    fn write(&self, out: &mut Parts) {
        out.list(&[&BIN_TYPE, &Bare(self.0)]);
    }
}

expressions! {
    /// The user key of the record, if it was stored with it (`send_key`), as a value of this type.
    key(exp_type: Choice<ExpType>) = list(&[&KEY, &exp_type.0]);
    /// Whether the user key was stored with the record.
    key_exists() = list(&[&KEY_EXISTS]);
    /// The value of an int bin.
    int_bin(name: Bound<'_, PyString>) = bin(&name, ExpType::Int);
    /// The value of a str bin.
    string_bin(name: Bound<'_, PyString>) = bin(&name, ExpType::String);
    /// The value of a bytes bin.
    blob_bin(name: Bound<'_, PyString>) = bin(&name, ExpType::Blob);
    /// The value of a bool bin.
    bool_bin(name: Bound<'_, PyString>) = bin(&name, ExpType::Bool);
    /// The value of a float bin.
    float_bin(name: Bound<'_, PyString>) = bin(&name, ExpType::Float);
    /// The value of a GeoJSON bin.
    geo_bin(name: Bound<'_, PyString>) = bin(&name, ExpType::Geo);
    /// The value of a list bin.
    list_bin(name: Bound<'_, PyString>) = bin(&name, ExpType::List);
    /// The value of a map bin.
    map_bin(name: Bound<'_, PyString>) = bin(&name, ExpType::Map);
    /// The value of an HLL bin.
    hll_bin(name: Bound<'_, PyString>) = bin(&name, ExpType::Hll);
    /// Whether there is a bin of this name.
    bin_exists(name: Bound<'_, PyString>) = list(&[&NOT_EQUAL, &BinType(checked_name(&name)?), &0_i64]);
    /// The particle type of a bin, an int; 0: there is none.
    bin_type(name: Bound<'_, PyString>) = list(&[&BIN_TYPE, &Bare(checked_name(&name)?)]);
    /// The name of the record's set.
    set_name() = list(&[&SET_NAME]);
    /// The size of the record, in bytes. Server 7.0 and later.
    record_size() = list(&[&RECORD_SIZE]);
    /// When the record was last written, in ns since 1970-01-01 00:00:00 UTC.
    last_update() = list(&[&LAST_UPDATE]);
    /// How long ago the record was last written, in ms.
    since_update() = list(&[&SINCE_UPDATE]);
    /// When the record expires, in ns since 1970-01-01 00:00:00 UTC; -1: never.
    void_time() = list(&[&VOID_TIME]);
    /// How long until the record expires, in s; -1: never.
    ttl() = list(&[&TTL]);
    /// Whether the record was deleted and has left a tombstone.
    is_tombstone() = list(&[&IS_TOMBSTONE]);
    /// The remainder of the record's digest as a number; use it to sample records.
    digest_modulo(modulo: i64) = list(&[&DIGEST_MODULO, &modulo]);
}
