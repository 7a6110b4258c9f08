//! The outcomes of many records that were handed over together.

use std::sync::Arc;

use aerolane::batch::FailureSummary;
use pyo3::exceptions::PyIndexError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySlice};

use super::key::WrittenKey;
use super::options::limit;
use super::outcome::{Outcome, wait_blocking};
use crate::core::ClientCore;
use crate::host::MakeResult;
use crate::{errors, host, sequence};

/// The outcomes of `put_many`, in the order of its records: a sequence of `Outcome`.
///
/// `await` it (or call `result()`, without asyncio) to wait until each record has its outcome, and to raise
/// `BatchFailedError` if one of them has failed. `Outcome` objects are created on demand.
#[pyclass(frozen, sequence, weakref, module = "aerolane")]
pub(crate) struct OutcomeList {
    outcomes: Arc<aerolane::OutcomeList<WrittenKey>>,
    core: Arc<ClientCore>,
}

impl OutcomeList {
    pub(super) fn new(outcomes: aerolane::OutcomeList<WrittenKey>, core: &Arc<ClientCore>) -> Self {
        Self { outcomes: Arc::new(outcomes), core: Arc::clone(core) }
    }

    fn object<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Bound<'py, Outcome>> {
        let outcome = self.outcomes.get(place).ok_or_else(|| PyIndexError::new_err("there is no such outcome"))?;
        Outcome::object(py, outcome, None, &self.core).map(|outcome| outcome.into_bound(py))
    }

    /// The awaitable of this object. `raises`: of the exception, if a record has failed.
    fn waiting(slf: &Bound<'_, Self>, raises: bool) -> PyResult<Py<PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let kept = slf.clone().unbind();
        let make = move |py: Python<'_>| {
            if raises {
                kept.get().raise_for_failures(py)?;
            }
            Ok(kept.into_any())
        };
        if this.done() {
            return match make(py) {
                Ok(result) => host::ready(py, result),
                Err(error) => host::failed(py, error),
            };
        }
        let outcomes = Arc::clone(&this.outcomes);
        host::drive(py, &this.core, move |_| async move {
            outcomes.done().await;
            let made: MakeResult = Box::new(make);
            made
        })
    }
}

#[pymethods]
impl OutcomeList {
    fn __len__(&self) -> usize {
        self.outcomes.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let len = self.outcomes.len();
        if let Ok(slice) = index.cast::<PySlice>() {
            let range = slice.indices(len.cast_signed())?;
            let places = (0..range.slicelength).map(|step| range.start + step.cast_signed() * range.step);
            let part = places.map(|place| self.object(py, place.cast_unsigned()));
            return Ok(PyList::new(py, part.collect::<PyResult<Vec<_>>>()?)?.into_any());
        }
        let place = sequence::place(len, index.extract()?).unwrap_or(len);
        Ok(self.object(py, place)?.into_any())
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        sequence::iterator(slf)
    }

    fn __await__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        Self::waiting(slf, true)?.into_bound(py).call_method0(intern!(py, "__await__"))
    }

    /// An awaitable that returns this object once each record has its outcome, also if some failed.
    fn wait(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        Self::waiting(slf, false)
    }

    /// Blocks the calling thread until each record has its outcome, for at most `timeout` seconds (`None`: without a
    /// limit), and returns this object. Do not call it on the thread of an event loop, which it would block: `await` it
    /// there.
    ///
    /// Raises `BatchFailedError` if a record failed, and `TimeoutError` if an outcome is missing in time. In a callback
    /// of a writer it raises `ClientError` if an outcome is missing, because no record makes progress until the
    /// callback returns.
    #[pyo3(signature = (timeout=None))]
    fn result<'py>(slf: Bound<'py, Self>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<Bound<'py, Self>> {
        let (py, this) = (slf.py(), slf.get());
        this.core.check(py)?;
        let timeout = limit("timeout", timeout)?;
        if !this.done() {
            let missing = "some of the records have no outcome yet";
            wait_blocking(py, &this.core, timeout, this.outcomes.done(), || this.done(), missing)?;
        }
        this.raise_for_failures(py)?;
        Ok(slf)
    }

    /// Whether each record has its outcome.
    fn done(&self) -> bool {
        // The last ones come last, as a rule.
        self.outcomes.is_done()
    }

    /// The number of records that the server has confirmed so far.
    #[getter]
    fn ok(&self) -> usize {
        self.outcomes.confirmed()
    }

    /// The number of records that have failed so far.
    #[getter]
    fn failed(&self) -> usize {
        self.outcomes.errors().count()
    }

    /// The outcomes of the records that have failed so far, in order.
    fn failures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let failed = self.outcomes.errors().map(|(place, _)| self.object(py, place));
        PyList::new(py, failed.collect::<PyResult<Vec<_>>>()?)
    }

    /// Raises `BatchFailedError` if a record has failed so far; its `records` are the `Outcome`s of these. It is in
    /// doubt if one of them is.
    fn raise_for_failures(&self, py: Python<'_>) -> PyResult<()> {
        let mut summary = FailureSummary::default();
        for (place, error) in self.outcomes.errors() {
            summary.add(place, error.server_result_code(), Some(error), error.in_doubt());
        }
        if summary.is_empty() {
            return Ok(());
        }
        Err(errors::rows_failed(py, &summary.error(self.outcomes.len()), self.failures(py)?.as_any()))
    }

    fn __repr__(&self) -> String {
        let (ok, failed) = (self.ok(), self.failed());
        let outstanding = self.outcomes.len() - ok - failed;
        format!("<OutcomeList {}: {ok} ok, {failed} failed, {outstanding} outstanding>", self.outcomes.len())
    }
}
