//! Work that blocks (connecting, closing), for event loops.

use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCFunction;

/// The event loop that runs on this thread. Raises `RuntimeError` outside of one.
fn running_loop(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.import("asyncio")?.call_method0("get_running_loop")
}

/// Runs `work` on a thread of the loop's executor; gives a future of its result.
pub(crate) fn in_thread(
    py: Python<'_>,
    work: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Py<PyAny>> {
    let event_loop = running_loop(py)?;
    let work = Arc::new(Mutex::new(Some(work)));
    let function = PyCFunction::new_closure(py, None, None, move |args, _| {
        let work = work.lock().take();
        match work {
            Some(work) => work(args.py()),
            None => Err(PyRuntimeError::new_err("this work has been done")),
        }
    })?;
    Ok(event_loop.call_method1("run_in_executor", (py.None(), function))?.unbind())
}

/// A future that has its result already.
pub(crate) fn ready(py: Python<'_>, result: Py<PyAny>) -> PyResult<Py<PyAny>> {
    let future = running_loop(py)?.call_method0("create_future")?;
    future.call_method1("set_result", (result,))?;
    Ok(future.unbind())
}
