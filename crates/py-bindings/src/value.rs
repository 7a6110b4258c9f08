//! Python values to and from wire bytes.

use aerolane_wire::particle::{Particle, particle_type};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

/// Appends the value; gives its particle type.
pub(crate) fn encode(value: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<u8> {
    if let Ok(number) = value.cast::<PyInt>() {
        out.extend_from_slice(&number.extract::<i64>()?.to_be_bytes());
        return Ok(particle_type::INTEGER);
    }
    if let Ok(text) = value.cast::<PyString>() {
        out.extend_from_slice(text.to_cow()?.as_bytes());
        return Ok(particle_type::STRING);
    }
    Err(PyTypeError::new_err("unsupported"))
}

pub(crate) fn decode(py: Python<'_>, kind: u8, bytes: &[u8]) -> PyResult<Py<PyAny>> {
    Ok(match Particle::decode(kind, bytes).map_err(|e| crate::errors::malformed(py, &e))? {
        Particle::Integer(v) => v.into_pyobject(py)?.into_any().unbind(),
        Particle::String(v) => PyString::new(py, &String::from_utf8_lossy(v)).into_any().unbind(),
        _ => py.None(),
    })
}

pub(crate) fn register(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
