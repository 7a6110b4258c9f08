//! The outcome of a row of a batch.

use aerolane::Error;
use aerolane::raw::RawOutcome;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;
use pyo3::{PyTraverseError, PyVisit, ffi};

use super::results::results;
use super::rows::{RowKey, Rows};
use crate::errors;
use crate::instance::{Instance, instance};
use crate::key::Key;
use crate::record::{Body, Once, Record};

/// A key and the outcome of its row.
///
/// A row has a `record` if it succeeded (without bins for writes and deletes that return nothing), an `error` if it
/// failed, and neither if the server left it out. A row whose record is missing or filtered out has failed; the batch
/// itself still succeeds. The record is created on first access. Each row has its own copy of the answer, so keeping
/// one row does not keep the others in memory.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct BatchRecord {
    key: Py<Key>,
    /// The record or the exception.
    made: Once,
    outcome: Outcome,
}

/// An outcome of its own, without Python.
pub(super) enum Outcome {
    Pending,
    Answered { body: Body, operate: bool },
    Failed(Error),
}

impl Outcome {
    #[inline]
    pub(super) fn new(outcome: &RawOutcome<'_>, operate: bool) -> Self {
        match outcome {
            RawOutcome::Answered(message) => Self::Answered { body: Body::concat([message]), operate },
            RawOutcome::Failed(error) => Self::Failed((*error).clone()),
            _ => Self::Pending,
        }
    }
}

/// Nothing in it makes cycles before there is an exception ([`error`](BatchRecord::error)): most rows never cost the garbage
/// collector anything.
impl Instance for BatchRecord {
    #[cfg(Py_GIL_DISABLED)]
    const MAY_BE_TRACKED: bool = true;

    #[cfg(Py_GIL_DISABLED)]
    #[inline]
    fn let_go(&mut self, py: Python<'_>) -> bool {
        self.made.let_go(py);
        false
    }
}

impl BatchRecord {
    #[inline]
    fn new<'py>(
        py: Python<'py>,
        RowKey { key, operate }: RowKey,
        outcome: &RawOutcome<'_>,
    ) -> PyResult<Bound<'py, Self>> {
        Self::of(py, key, Outcome::new(outcome, operate))
    }

    #[inline]
    pub(super) fn of(py: Python<'_>, key: Py<Key>, outcome: Outcome) -> PyResult<Bound<'_, Self>> {
        Ok(instance(py, || Self { key, made: Once::new(), outcome })?.into_bound(py))
    }

    /// The list of a batch's rows.
    pub(super) fn list(py: Python<'_>, mut rows: Rows) -> PyResult<Bound<'_, PyAny>> {
        let mut records = Vec::with_capacity(rows.len());
        let mut failed = None;
        rows.drain(|key, outcome| match Self::new(py, key, &outcome) {
            Ok(record) => records.push(record),
            Err(error) => failed = Some(error),
        });
        match failed {
            None => results(&PyList::new(py, records)?),
            Some(error) => Err(error),
        }
    }

    pub(super) fn failure(&self) -> Option<&Error> {
        if let Outcome::Failed(error) = &self.outcome { Some(error) } else { None }
    }

    fn attribute<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Self::error(slf).map(|error| error.getattr(name)).transpose()
    }
}

#[pymethods]
impl BatchRecord {
    /// The key.
    #[getter]
    fn key(&self, py: Python<'_>) -> Py<Key> {
        self.key.clone_ref(py)
    }

    /// Whether the row succeeded.
    #[getter]
    pub(super) fn is_ok(&self) -> bool {
        matches!(self.outcome, Outcome::Answered { .. })
    }

    /// The record, if the row succeeded, else `None`.
    #[getter]
    fn record<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Outcome::Answered { body, operate } = &self.outcome else { return Ok(None) };
        if let Some(record) = self.made.get(py) {
            return Ok(Some(record));
        }
        let record = Record::new(py, Some(self.key.clone_ref(py)), body.clone(), *operate)?.into_bound(py);
        Ok(Some(self.made.set(py, record.into_any())))
    }

    /// The row's exception, which is not raised here; `None` if the row did not fail.
    #[getter]
    fn error<'py>(slf: &Bound<'py, Self>) -> Option<Bound<'py, PyAny>> {
        let (py, row) = (slf.py(), slf.get());
        let error = row.failure()?;
        if let Some(exception) = row.made.get(py) {
            return Some(exception);
        }
        let exception = errors::of_record(py, error, &row.key).into_value(py).into_bound(py).into_any();
        let (exception, first) = row.made.set_first(py, exception);
        if first {
            // Whoever raises it makes a cycle: it knows the frame, and a variable there the row.
            // SAFETY: of a type with garbage collection, whole, and not tracked so far: there is one first.
            unsafe { ffi::PyObject_GC_Track(slf.as_ptr().cast()) };
        }
        Some(exception)
    }

    /// The row's `ResultCode`: `OK`, or the code of its error; `None` if the server left the row out.
    #[getter]
    fn result_code<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        static OK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        match &self.outcome {
            Outcome::Pending => Ok(None),
            Outcome::Answered { .. } => {
                let ok = OK.get_or_try_init(py, || errors::result_code(py, 0).map(Bound::unbind))?;
                Ok(Some(ok.bind(py).clone()))
            }
            Outcome::Failed(error) => errors::result_code(py, error.result_code()).map(Some),
        }
    }

    /// Whether the write may have been applied although the row failed. Never true for reads.
    #[getter]
    fn in_doubt(&self) -> bool {
        self.failure().is_some_and(Error::in_doubt)
    }

    /// The server's sub-code of the failure, when it was asked for (`error_detail_verbosity`) and given.
    #[getter]
    fn sub_code<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Self::attribute(slf, "sub_code")
    }

    /// The server's text about the failure, when it was asked for and given.
    #[getter]
    fn server_message(&self) -> Option<&str> {
        self.failure().and_then(Error::server_message)
    }

    /// Where in an expression the failure was, when it was asked for and given: an `ExpressionTrace`.
    #[getter]
    fn exp_trace<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Self::attribute(slf, "exp_trace")
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.made.traverse(&visit)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let key = self.key.bind(py).repr()?;
        Ok(match &self.outcome {
            Outcome::Pending => format!("BatchRecord(key={key}, result_code=None)"),
            Outcome::Answered { .. } => {
                let record = self.record(py)?.map(|record| record.repr()).transpose()?;
                format!("BatchRecord(key={key}, record={})", record.map_or_else(String::new, |text| text.to_string()))
            }
            Outcome::Failed(error) => {
                let code = errors::result_code(py, error.result_code())?;
                let in_doubt = if error.in_doubt() { ", in doubt" } else { "" };
                // A code without a name is its number.
                format!("BatchRecord(key={key}, {}{in_doubt})", code.getattr("name").unwrap_or(code))
            }
        })
    }
}
