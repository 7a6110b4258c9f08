//! The outcome of a record that was handed over.

use std::sync::Arc;
use std::time::Duration;

use aerolane::writer::{Delivery, WriteAttempt as RawAttempt, Written as RawWritten};
use aerolane::{Error, Outcome as RawOutcome};
use pyo3::exceptions::PyTimeoutError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;

use super::key::WrittenKey;
use super::options::limit;
use crate::blocking::{Signals, gets_signals};
use crate::command::block_on;
use crate::core::ClientCore;
use crate::host::{MakeResult, OnCancel};
use crate::key::Key;
use crate::record::{Body, Record};
use crate::{errors, host};

/// The server's confirmation of a record that a writer has written.
#[pyclass(frozen, module = "aerolane")]
pub(crate) struct Written {
    written: RawWritten,
    key: Py<Key>,
}

#[pymethods]
impl Written {
    /// The generation of the record after the write. After a delete: what the server returns, usually 0.
    #[getter]
    fn generation(&self) -> u32 {
        self.written.generation()
    }

    /// The remaining time to live of the record on the server in seconds; `None` if it never expires.
    #[getter]
    fn ttl(&self) -> Option<u64> {
        self.written.time_to_live().map(|left| left.as_secs())
    }

    /// False if a delete found no record. Such a delete counts as a success.
    #[getter]
    fn existed(&self) -> bool {
        self.written.existed()
    }

    /// The results of operations, or of a function (in the bin `SUCCESS`), as a `Record`; `None` if there are none.
    #[getter]
    fn record(&self, py: Python<'_>) -> PyResult<Option<Py<Record>>> {
        match self.written.message() {
            [] => Ok(None),
            body => Record::new(py, Some(self.key.clone_ref(py)), Body::concat([body]), true).map(Some),
        }
    }

    fn __repr__(&self) -> String {
        format!("<Written generation={} existed={}>", self.written.generation(), self.written.existed())
    }
}

/// One attempt to write a record.
#[pyclass(frozen, module = "aerolane")]
pub(crate) struct WriteAttempt(RawAttempt);

#[pymethods]
impl WriteAttempt {
    /// The node, as `NAME: host:port`; `None` if none could be chosen.
    #[getter]
    fn node(&self) -> Option<&str> {
        self.0.node.as_deref()
    }

    /// When it was sent, in seconds after the record was passed to the writer.
    #[getter]
    fn after(&self) -> f64 {
        self.0.after.as_secs_f64()
    }

    /// The duration in seconds.
    #[getter]
    fn took(&self) -> f64 {
        self.0.took.as_secs_f64()
    }

    /// The result code of the attempt; 0: it was confirmed.
    #[getter]
    fn result_code(&self) -> i32 {
        self.0.code
    }

    /// Whether the attempt may have been executed although it failed.
    #[getter]
    fn in_doubt(&self) -> bool {
        self.0.in_doubt
    }

    fn __repr__(&self) -> String {
        let (code, node) = (self.0.code, self.0.node.as_deref().unwrap_or("no node"));
        format!("<WriteAttempt result_code={code} at {node}, {:.6} s>", self.0.took.as_secs_f64())
    }
}

/// The outcome of a record that was handed to a writer.
///
/// `await` it (or call `result()`, without asyncio) for the server's confirmation, a `Written`, or to raise the
/// exception of a record that failed. It can be awaited any number of times, and a cancelled wait loses nothing. If you
/// do not need it, drop it: the record is written in any case. Until `done()`, its other properties are `None` or
/// empty.
#[pyclass(frozen, weakref, module = "aerolane")]
pub(crate) struct Outcome {
    raw: RawOutcome<WrittenKey>,
    /// The key with which the record was handed over, where it is known.
    key: Option<Py<Key>>,
    core: Arc<ClientCore>,
}

impl Outcome {
    /// The object. Programs keep many of them, and nothing in one makes cycles: the garbage collector is not to look at them.
    pub(super) fn object(
        py: Python<'_>,
        outcome: RawOutcome<WrittenKey>,
        key: Option<&Bound<'_, Key>>,
        core: &Arc<ClientCore>,
    ) -> PyResult<Py<Self>> {
        let key = key.map(|key| key.clone().unbind());
        let object = Py::new(py, Self { raw: outcome, key, core: Arc::clone(core) })?;
        // SAFETY: every class of ours has garbage collection, and this one has no `__traverse__`.
        unsafe { ffi::PyObject_GC_UnTrack(object.as_ptr().cast()) };
        Ok(object)
    }

    fn key_of(&self, py: Python<'_>) -> PyResult<Py<Key>> {
        match &self.key {
            Some(key) => Ok(key.clone_ref(py)),
            None => self.raw.record_key().object(py),
        }
    }

    /// What awaiting it gives, if there is an outcome.
    fn made(&self, py: Python<'_>) -> Option<PyResult<Py<PyAny>>> {
        let made = match self.raw.result()? {
            Ok(written) => self.key_of(py).and_then(|key| Py::new(py, Written { written, key })).map(Py::into_any),
            Err(error) => self.key_of(py).and_then(|key| Err(errors::of_record(py, &error, &key))),
        };
        Some(made)
    }

    /// Sends the record on the calling thread, if it is left to whoever waits for it.
    fn send_lone(&self, py: Python<'_>) -> PyResult<()> {
        let Some(record) = self.raw.take_over() else { return Ok(()) };
        if !gets_signals(py)? {
            py.detach(|| record.send_here(None));
            return Ok(());
        }
        let signals = Signals::default();
        py.detach(|| record.send_here(Some(&|| signals.raised())));
        signals.take().map_or(Ok(()), Err)
    }

    /// The awaitable of this object, or of its confirmation.
    fn waiting(slf: &Bound<'_, Self>, whole: bool) -> PyResult<Py<PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let make = move |py: Python<'_>, slf: Py<Self>| {
            let made = if whole { None } else { slf.get().made(py) };
            made.unwrap_or_else(|| Ok(slf.into_any()))
        };
        let kept = slf.clone().unbind();
        if this.raw.is_done() {
            return match make(py, kept) {
                Ok(result) => host::ready(py, result),
                Err(error) => host::failed(py, error),
            };
        }
        let outcome = this.raw.clone();
        host::drive_by(py, &this.core, move |lane| {
            // A lone record goes over the loop's own lane, also if the wait is cancelled.
            let lone = outcome.take_over();
            let on_cancel = if lone.is_some() { OnCancel::GoOn } else { OnCancel::Drop };
            let delivered = async move {
                if let Some(record) = lone {
                    record.send_on(lane).await;
                }
                outcome.done().await;
                let made: MakeResult = Box::new(move |py| make(py, kept));
                made
            };
            (delivered, on_cancel)
        })
    }
}

/// Blocks the calling thread until `is_done`, at most for a time; `done` waits for that, and `missing` is what to say when the time is
/// over.
pub(super) fn wait_blocking(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    timeout: Option<Duration>,
    done: impl Future<Output = ()> + Send,
    is_done: impl Fn() -> bool,
    missing: &'static str,
) -> PyResult<()> {
    let came = async {
        match timeout {
            None => done.await,
            Some(timeout) => drop(tokio::time::timeout(timeout, done).await),
        }
    };
    let waited = block_on(py, core, came);
    // A client that was closed meanwhile has given each record its outcome.
    if is_done() && (waited.is_ok() || core.raw.cluster().is_closed()) {
        return Ok(());
    }
    waited.and_then(|()| Err(PyTimeoutError::new_err(missing)))
}

#[pymethods]
impl Outcome {
    fn __await__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        Self::waiting(slf, false)?.into_bound(py).call_method0(intern!(py, "__await__"))
    }

    /// An awaitable that returns this object once there is an outcome, also if the record failed.
    fn wait(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        Self::waiting(slf, true)
    }

    /// Blocks the calling thread until there is an outcome, for at most `timeout` seconds (`None`: without a limit),
    /// and returns the server's confirmation. Do not call it on the thread of an event loop, which it would block:
    /// `await` it there.
    ///
    /// Raises the exception of a record that failed, and `TimeoutError` if there is no outcome in time. In a callback
    /// of a writer it raises `ClientError` if there is no outcome yet, because no record makes progress until the
    /// callback returns.
    #[pyo3(signature = (timeout=None))]
    fn result(&self, py: Python<'_>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        self.core.check(py)?;
        let timeout = limit("timeout", timeout)?;
        if let Some(made) = self.made(py) {
            return made;
        }
        if timeout.is_none() {
            self.send_lone(py)?;
            if let Some(made) = self.made(py) {
                return made;
            }
        }
        let missing = "the record has no outcome yet";
        wait_blocking(py, &self.core, timeout, self.raw.done(), || self.raw.is_done(), missing)?;
        match self.made(py) {
            Some(made) => made,
            None => unreachable!("it is there"),
        }
    }

    /// Whether there is an outcome.
    fn done(&self) -> bool {
        self.raw.is_done()
    }

    /// The exception, if the record failed, else `None`.
    fn exception<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(error) = self.raw.error() else { return Ok(None) };
        let key = self.key_of(py)?;
        Ok(Some(errors::of_record(py, error, &key).into_value(py).into_bound(py).into_any()))
    }

    /// Whether the server has confirmed the record.
    #[getter]
    fn ok(&self) -> bool {
        self.raw.is_done() && self.raw.error().is_none()
    }

    /// Whether the record failed but may have been written nevertheless.
    #[getter]
    fn in_doubt(&self) -> bool {
        self.raw.error().is_some_and(Error::in_doubt)
    }

    /// The key of the record.
    #[getter]
    fn key(&self, py: Python<'_>) -> PyResult<Py<Key>> {
        self.key_of(py)
    }

    /// The number of the record, counted from 0 in the order in which records were passed to the writer.
    #[getter]
    fn sequence(&self) -> Option<u64> {
        self.raw.sequence_and_took().map(|(sequence, _)| sequence)
    }

    /// The attempts, oldest first.
    #[getter]
    fn attempts(&self) -> Vec<WriteAttempt> {
        let attempts = self.raw.delivery().into_iter().flat_map(Delivery::attempts);
        attempts.map(WriteAttempt).collect()
    }

    /// The time in seconds that the record waited before it was first sent.
    #[getter]
    fn waited(&self) -> Option<f64> {
        self.raw.delivery().map(|delivery| delivery.waited().as_secs_f64())
    }

    /// The total time in seconds that its attempts were in flight.
    #[getter]
    fn in_flight(&self) -> Option<f64> {
        self.raw.delivery().map(|delivery| delivery.in_flight().as_secs_f64())
    }

    /// The time in seconds from passing the record to the writer to its outcome.
    #[getter]
    fn took(&self) -> Option<f64> {
        self.raw.sequence_and_took().map(|(_, took)| took.as_secs_f64())
    }

    fn __repr__(&self) -> String {
        match self.raw.delivery() {
            None => "<Outcome outstanding>".to_owned(),
            Some(delivery) => match delivery.result() {
                Ok(written) => format!("<Outcome ok generation={}>", written.generation()),
                Err(error) => format!("<Outcome failed: {error}>"),
            },
        }
    }
}
