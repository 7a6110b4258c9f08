//! `BatchRecords`, the list that batches give: a list that can say which of its rows have failed.
//!
//! A class of Python, as a list cannot be extended by extension modules for several versions of Python.

use aerolane::Error;
use aerolane::batch::FailureSummary;
use aerospike_core::ResultCode;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyModule};

use super::record::BatchRecord;
use crate::errors;

static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The class.
pub(super) fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    let class = CLASS.get_or_try_init(py, || {
        let module = py.import("aerolane._python.batch_results")?;
        module.setattr("_failures", wrap_pyfunction!(failures, &module)?)?;
        Ok::<_, PyErr>(module.getattr("BatchRecords")?.unbind())
    })?;
    Ok(class.bind(py))
}

/// The rows as such a list.
pub(super) fn results<'py>(rows: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyAny>> {
    class(rows.py())?.call1((rows,))
}

/// The rows that did not succeed, or, with `raises`, the exception for them.
#[pyfunction]
fn failures<'py>(rows: &Bound<'py, PyList>, missing: bool, raises: bool) -> PyResult<Bound<'py, PyList>> {
    let py = rows.py();
    let failed = PyList::empty(py);
    let mut summary = FailureSummary::default();
    for (place, item) in rows.iter().enumerate() {
        let row = item.cast::<BatchRecord>()?.get();
        if row.is_ok() {
            continue;
        }
        let error = row.failure();
        let code = error.and_then(Error::server_result_code);
        if !missing && code == Some(ResultCode::KeyNotFoundError) {
            continue;
        }
        if raises {
            summary.add(place, code, error, error.is_some_and(Error::in_doubt));
        }
        failed.append(item)?;
    }
    if raises && !failed.is_empty() {
        return Err(raised(py, &summary, rows.len(), &results(&failed)?));
    }
    Ok(failed)
}

/// The exception for the rows that have failed.
pub(crate) fn raised(py: Python<'_>, summary: &FailureSummary, rows: usize, failed: &Bound<'_, PyAny>) -> PyErr {
    errors::rows_failed(py, &summary.error(rows), failed)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add(intern!(module.py(), "BatchRecords"), class(module.py())?)
}
