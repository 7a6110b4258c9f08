//! Python values to and from wire bytes, with nothing in between.
//!
//! * [`encode`](mod@encode): a Python object as bytes of a request
//! * [`decode`](mod@decode): bytes of an answer as a Python object
//! * [`refused`]: why an object cannot be sent, with the way to it
//! * [`buffer`], [`numpy`], [`pairs`]: objects that only say what they can do
//! * [`items`]: sequences that are arguments of operations
//! * [`names`]: bin names, kept as interned strings
//! * [`wrappers`]: classes for what Python has no type for

mod buffer;
mod decode;
mod encode;
mod items;
mod names;
mod numpy;
mod pairs;
mod refused;
mod wrappers;

use pyo3::prelude::*;

pub(crate) use decode::decode;
pub(crate) use encode::encode_value;
pub(crate) use encode::{pack_comparable, pack_comparable_map, pack_key, pack_mapping, pack_value};
pub(crate) use items::pack_items;
pub(crate) use names::bin_name;
pub(crate) use pairs::each_pair;
pub(crate) use refused::Refused;

/// An integer of 64 bits, an `OverflowError` if it is larger: for keys, too.
pub(crate) use encode::integer;
/// The text of a str: for keys, too.
pub(crate) use encode::utf8;
/// What is no plain Python value by its type: for keys, too.
pub(crate) use encode::{ValueKind, look};

pub(crate) use wrappers::{GeoJson, Hll, bytes_of, geojson_text};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    wrappers::register(module)
}
