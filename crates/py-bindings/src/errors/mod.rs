//! Exceptions.

use aerolane::Error;
use aerolane_wire::WireError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The exception for an error of the client.
pub(crate) fn to_py(_py: Python<'_>, error: &Error) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// The exception for an answer that cannot be understood.
pub(crate) fn malformed(_py: Python<'_>, error: &WireError) -> PyErr {
    PyRuntimeError::new_err(format!("the answer is malformed: {error}"))
}

pub(crate) fn register(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
