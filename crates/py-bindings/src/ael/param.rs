//! Python objects as parameters of a text.

use aerolane::ael::Param;
use aerolane_wire::msgpack::Writer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::value::{self, ValueKind};

pub(super) fn params(given: &Bound<'_, PyTuple>) -> PyResult<Vec<Param>> {
    given.iter().enumerate().map(|(at, value)| param(at, &value)).collect()
}

/// A parameter: the same bytes that a constant of an expression has for this object.
fn param(at: usize, given: &Bound<'_, PyAny>) -> PyResult<Param> {
    let py = given.py();
    let refused = |refused: value::Refused| refused.into_py(py, &format!("parameter {at}"));
    let mut bytes = Vec::with_capacity(16);
    let writer = &mut Writer::new(&mut bytes);
    match value::look(given).map_err(refused)? {
        ValueKind::List | ValueKind::Tuple => value::pack_items(writer, given, value::pack_comparable),
        ValueKind::Buffer(_) => {
            writer.blob(value::bytes_of(given)?.as_bytes());
            Ok(())
        }
        ValueKind::Map | ValueKind::SortedMap => value::pack_comparable_map(writer, given),
        _ => value::pack_comparable(writer, given),
    }
    .map_err(refused)?;
    Param::packed(bytes).ok_or_else(|| {
        let kind = given.get_type().name().map_or_else(|_| "this type".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("parameter {at}: an expression has no constant of type {kind}"))
    })
}
