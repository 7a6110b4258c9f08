//! Work that blocks (connecting, closing), for event loops.

use std::sync::Arc;

use aerolane::sync::Mutex;
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCFunction, PyModule};

static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// Runs `work` on a thread of its own; gives a coroutine of its result, which goes by this name in Python's warning about
/// a coroutine that was never awaited. In a running loop the work begins at once, outside of one when it is awaited.
pub(crate) fn in_thread(
    py: Python<'_>,
    name: &str,
    work: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Py<PyAny>> {
    let module = MODULE.get_or_try_init(py, || py.import("aerolane._python.threads").map(Bound::unbind))?;
    let work = Arc::new(Mutex::new(Some(work)));
    let function = PyCFunction::new_closure(py, None, None, move |args, _| {
        let work = work.lock().take();
        match work {
            Some(work) => work(args.py()),
            None => Err(PyRuntimeError::new_err("this work has been done")),
        }
    })?;
    module.bind(py).call_method1(intern!(py, "in_thread"), (function, name)).map(Bound::unbind)
}
