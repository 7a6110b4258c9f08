//! The outcomes of a writer as they come.

use std::future::poll_fn;
use std::sync::Arc;

use aerolane::Outcome as RawOutcome;
use aerolane::writer::Outcomes as RawOutcomes;
use arc_swap::ArcSwapOption;
use pyo3::exceptions::{PyStopAsyncIteration, PyStopIteration};
use pyo3::prelude::*;

use super::key::WrittenKey;
use super::outcome::Outcome;
use crate::command::block_on;
use crate::core::ClientCore;
use crate::host::{self, MakeResult, Pace};
use crate::streams::stream_methods;

type Stream = RawOutcomes<WrittenKey>;

/// The outcomes of a writer as they arrive: `async for outcome in writer.outcomes()`, or `for` without asyncio. Each is
/// an `Outcome` that is done. The iteration ends when the writer is closed and nothing is outstanding.
///
/// An outcome that was not read counts as outstanding, so read them in a different task or thread from the one that
/// passes records to the writer. Closing it, or leaving its context manager, ends that.
#[pyclass(frozen, module = "aerolane")]
pub(crate) struct Outcomes {
    stream: ArcSwapOption<Stream>,
    core: Arc<ClientCore>,
    pace: Pace,
}

/// An outcome that was taken for a task. If the task does not get it (it was cancelled), the stream takes it back.
struct OutcomeInTransit {
    stream: Arc<Stream>,
    outcome: Option<RawOutcome<WrittenKey>>,
}

impl Drop for OutcomeInTransit {
    fn drop(&mut self) {
        if let Some(outcome) = self.outcome.take() {
            self.stream.put_back(&outcome);
        }
    }
}

impl Outcomes {
    pub(super) fn new(stream: Stream, core: &Arc<ClientCore>) -> Self {
        let stream = ArcSwapOption::from_pointee(stream);
        Self { stream, core: Arc::clone(core), pace: Pace::default() }
    }

    fn made(&self, py: Python<'_>, outcome: RawOutcome<WrittenKey>) -> PyResult<Py<PyAny>> {
        Ok(Outcome::object(py, outcome, None, &self.core)?.into_any())
    }

    fn close(&self, _py: Python<'_>) {
        self.stream.store(None);
    }

    fn anext(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        this.core.check(py)?;
        let Some(stream) = this.stream.load_full() else { return Err(PyStopAsyncIteration::new_err(())) };
        if !this.pace.wants_a_turn() {
            let waker = std::task::Waker::noop();
            match stream.poll_outcome(&std::task::Context::from_waker(waker)) {
                std::task::Poll::Ready(Some(outcome)) => return host::item(py, this.made(py, outcome)?),
                std::task::Poll::Ready(None) => return Err(PyStopAsyncIteration::new_err(())),
                std::task::Poll::Pending => {}
            }
        }
        let slf = slf.clone().unbind();
        host::drive(py, &this.core, move |_| async move {
            // On the loop's thread, outside of tokio, it wakes the operation for a later turn.
            tokio::task::yield_now().await;
            let outcome = poll_fn(|cx| stream.poll_outcome(cx)).await;
            let mut arrived = OutcomeInTransit { stream, outcome };
            let made: MakeResult = Box::new(move |py| match arrived.outcome.take() {
                Some(outcome) => slf.get().made(py, outcome),
                None => Err(PyStopAsyncIteration::new_err(())),
            });
            made
        })
    }
}

impl Drop for Outcomes {
    fn drop(&mut self) {
        if self.core.is_foreign() {
            // Its lock may be held for ever.
            std::mem::forget(self.stream.swap(None));
        }
    }
}

stream_methods!(Outcomes);

#[pymethods]
impl Outcomes {
    fn __next__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let Some(stream) = self.stream.load_full() else { return Err(PyStopIteration::new_err(())) };
        match block_on(py, &self.core, poll_fn(|cx| stream.poll_outcome(cx)))? {
            Some(outcome) => self.made(py, outcome),
            None => Err(PyStopIteration::new_err(())),
        }
    }

    /// Stops reading outcomes.
    #[pyo3(name = "close")]
    fn py_close(&self, py: Python<'_>) {
        self.close(py);
    }
}
