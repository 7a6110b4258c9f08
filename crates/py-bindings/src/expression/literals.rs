//! Constants.

use aerolane_wire::msgpack::Writer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::FilterExpression;
use super::part::{QUOTED, constant};
use super::table::expressions;
use crate::value::{self, Refused, ValueKind};

/// The expression of a value that `write` encodes.
fn of(
    given: &Bound<'_, PyAny>,
    write: impl FnOnce(&mut Writer<'_>) -> Result<(), Refused>,
) -> PyResult<FilterExpression> {
    constant(|writer| write(writer).map_err(|refused| refused.into_py(given.py(), "the value of an expression")))
}

fn quoted(items: &Bound<'_, PyAny>) -> PyResult<FilterExpression> {
    of(items, |writer| {
        writer.list(2);
        writer.uint(u64::from(QUOTED));
        value::pack_items(writer, items, value::pack_comparable)
    })
}

fn blob(bytes: &Bound<'_, PyAny>) -> PyResult<FilterExpression> {
    let bytes = value::bytes_of(bytes)?;
    constant(|writer| {
        writer.blob(bytes.as_bytes());
        Ok(())
    })
}

/// A value of any type that a constant can have.
fn any(given: &Bound<'_, PyAny>) -> PyResult<FilterExpression> {
    match value::look(given).map_err(|refused| refused.into_py(given.py(), "the value of an expression"))? {
        ValueKind::List | ValueKind::Tuple => quoted(given),
        ValueKind::Buffer(_) => blob(given),
        ValueKind::Map | ValueKind::SortedMap => of(given, |writer| value::pack_comparable_map(writer, given)),
        ValueKind::Hll(_) | ValueKind::Special(_) | ValueKind::Unknown(_) => {
            let kind = given.get_type().name()?;
            Err(PyTypeError::new_err(format!("there is no constant of type {kind}")))
        }
        _ => of(given, |writer| value::pack_comparable(writer, given)),
    }
}

expressions! {
    /// A constant, by the type of a Python value: `None`, bool, int, float, str, bytes, list, tuple, dict (as by
    /// `map_val`) or `GeoJSON`.
    ///
    /// Raises `TypeError` for other types.
    val(value: Bound<'_, PyAny>) = any(&value);
    /// An int.
    int_val(val: i64) = constant(|writer| Ok(writer.int(val)));
    /// A bool.
    bool_val(val: bool) = constant(|writer| Ok(writer.bool(val)));
    /// A str.
    string_val(val: Bound<'_, PyString>) = of(&val, |writer| Ok(writer.str(value::utf8(&val)?)));
    /// A float.
    float_val(val: f64) = constant(|writer| Ok(writer.float(val)));
    /// Bytes: a bytes-like object, or a sequence of ints of 0 to 255.
    blob_val(val: Bound<'_, PyAny>) = blob(&val);
    /// A list: any sequence of values. Dicts in it are sorted by key.
    list_val(val: Bound<'_, PyAny>) = quoted(&val);
    /// A key-ordered map: a dict or another mapping. Dicts in it are sorted by key.
    map_val(val: Bound<'_, PyAny>) = of(&val, |writer| value::pack_comparable_map(writer, &val));
    /// A GeoJSON value: its text, a dict, or a `GeoJSON`.
    geo_val(val: Bound<'_, PyAny>) = of(&val, |writer| Ok(writer.geojson(value::utf8(value::geojson_text(&val)?.as_any())?)));
    /// Nil: smaller than every other value.
    nil() = constant(|writer| Ok(writer.nil()));
    /// Larger than every other value.
    infinity() = constant(|writer| Ok(writer.infinity()));
    /// Equal to every value.
    wildcard() = constant(|writer| Ok(writer.wildcard()));
}
