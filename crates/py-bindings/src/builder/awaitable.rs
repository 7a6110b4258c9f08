//! `stream()` of builders for asyncio: what can be awaited, and also entered.

use aerolane::sync::Mutex;
use pyo3::exceptions::{PyRuntimeError, PyStopIteration};
use pyo3::intern;
use pyo3::prelude::*;

use super::chain::Shared;
use super::execute::{TerminalKind, execute};
use super::stream::RecordStream;
use super::surface::Surface;
use crate::host;

/// A stream that has not started. `await` it, or enter it with `async with`, which also closes it. Nothing is sent
/// before that.
#[pyclass(frozen, module = "aerolane")]
pub(crate) struct AwaitableStream {
    chain: PyResult<Shared>,
    on_error: Option<Py<PyAny>>,
    /// Its lock is never held while Python code can run.
    entered: Mutex<Option<Py<RecordStream>>>,
}

impl AwaitableStream {
    pub(super) fn new(chain: PyResult<Shared>, on_error: Option<&Bound<'_, PyAny>>) -> Self {
        Self { chain, on_error: on_error.map(|on_error| on_error.clone().unbind()), entered: Mutex::default() }
    }

    /// Starts it: what awaiting it goes through.
    fn start<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let chain = || match &self.chain {
            Ok(chain) => Ok(Shared::clone(chain)),
            Err(error) => Err(error.clone_ref(py)),
        };
        let on_error = self.on_error.as_ref().map(|on_error| on_error.bind(py));
        let started = execute(py, chain, on_error, Surface::Async, TerminalKind::Live)?;
        started.bind(py).call_method0(intern!(py, "__await__"))
    }
}

#[pymethods]
impl AwaitableStream {
    fn __await__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.start(py)
    }

    fn __aenter__(slf: &Bound<'_, Self>) -> PyResult<Entering> {
        let awaited = slf.get().start(slf.py())?.unbind();
        Ok(Entering { awaited, stream: slf.clone().unbind() })
    }

    #[pyo3(signature = (*_exception))]
    fn __aexit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let entered = self.entered.lock().take();
        let Some(stream) = entered else {
            return Err(PyRuntimeError::new_err("this stream has not been entered"));
        };
        stream.get().0.close(py);
        host::ready(py, false.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    /// Returns the class itself: `AwaitableStream[T]` is for annotations.
    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, pyo3::types::PyType>,
        _item: &Bound<'py, PyAny>,
    ) -> Bound<'py, pyo3::types::PyType> {
        class.clone()
    }

    #[allow(clippy::unused_self)] // a method of Python
    fn __repr__(&self) -> &'static str {
        "<stream to be awaited, or entered with async with>"
    }
}

/// The start of a stream, which keeps it for the end of the block. A coroutine.
#[pyclass(frozen, module = "aerolane._aerolane")]
pub(super) struct Entering {
    awaited: Py<PyAny>,
    stream: Py<AwaitableStream>,
}

impl Entering {
    /// Keeps the stream that the awaitable has given.
    fn kept<'py>(&self, py: Python<'py>, outcome: PyResult<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        if let Err(error) = &outcome
            && error.is_instance_of::<PyStopIteration>(py)
        {
            let stream = error.value(py).getattr(intern!(py, "value"))?.cast_into::<RecordStream>()?;
            *self.stream.get().entered.lock() = Some(stream.unbind());
        }
        outcome
    }
}

#[pymethods]
impl Entering {
    fn __await__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.send(py.None().into_bound(py))
    }

    fn send<'py>(&self, value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = value.py();
        let outcome = self.awaited.bind(py).call_method1(intern!(py, "send"), (value,));
        self.kept(py, outcome)
    }

    #[pyo3(signature = (*exception))]
    fn throw<'py>(&self, exception: &Bound<'py, pyo3::types::PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let py = exception.py();
        let outcome = self.awaited.bind(py).call_method1(intern!(py, "throw"), exception);
        self.kept(py, outcome)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.awaited.bind(py).call_method0(intern!(py, "close")).map(drop)
    }
}
