//! `BatchRecord`: a key and what became of it.

use aerolane::{BatchOperation, Error};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use super::convert;
use crate::errors;
use crate::key::Key;
use crate::record::Record;

/// A row of a batch: a key and what became of it.
///
/// A row that failed has no `record` (or, of a UDF, one with the reason); `result_code` says why, and `error` is the
/// exception that a call for this record alone would have raised.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct BatchRecord {
    key: Py<Key>,
    record: Option<Py<Record>>,
    error: Option<Error>,
    in_doubt: bool,
}

impl BatchRecord {
    pub(super) fn new(py: Python<'_>, key: &Py<Key>, row: &mut BatchOperation, operate: bool) -> PyResult<Self> {
        let record = match row.record() {
            Some(record) => Some(Py::new(py, convert::record(py, key.clone_ref(py), record, operate)?)?),
            None => None,
        };
        Ok(Self { key: key.clone_ref(py), record, error: row.error().cloned(), in_doubt: row.in_doubt() })
    }
}

#[pymethods]
impl BatchRecord {
    /// The key.
    #[getter]
    fn key(&self, py: Python<'_>) -> Py<Key> {
        self.key.clone_ref(py)
    }

    /// The `Record` of a row that succeeded (without bins where an operation gives none), else `None`.
    #[getter]
    fn record(&self, py: Python<'_>) -> Option<Py<Record>> {
        self.record.as_ref().map(|record| record.clone_ref(py))
    }

    /// A `ResultCode`; `None` for a row that the server left out.
    #[getter]
    fn result_code<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let code = match (&self.error, &self.record) {
            (Some(error), _) => error.result_code(),
            (None, Some(_)) => 0,
            (None, None) => return Ok(None),
        };
        let class = CLASS
            .get_or_try_init(py, || Ok::<_, PyErr>(py.import("aerolane._aerolane")?.getattr("ResultCode")?.unbind()))?;
        class.bind(py).call1((code,)).map(Some)
    }

    /// Whether the write may have been applied although the row failed. Never for reads.
    #[getter]
    fn in_doubt(&self) -> bool {
        self.in_doubt
    }

    /// The exception of a row that failed, else `None`.
    #[getter]
    fn error<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.error.as_ref().map(|error| errors::to_py(py, error).into_value(py).into_bound(py).into_any())
    }

    /// The server's subcode of the failure, or `None`.
    #[getter]
    fn sub_code(&self) -> Option<u32> {
        self.error.as_ref().map(Error::sub_code).filter(|code| *code != 0)
    }

    /// The text that the server attached to the failure, or `None`.
    #[getter]
    fn server_message(&self) -> Option<&str> {
        self.error.as_ref().and_then(Error::server_message)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let code = match self.result_code(py)? {
            Some(code) => code.getattr("name")?.to_string(),
            None => "None".into(),
        };
        Ok(format!("BatchRecord({}, {code})", self.key.bind(py).repr()?))
    }
}
