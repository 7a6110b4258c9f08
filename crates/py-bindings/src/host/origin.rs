//! Where operations are called, for the warning about one that was never awaited.
//!
//! As for coroutines, only a program that is being debugged pays for it: asyncio's debug mode (`python -X dev`,
//! `asyncio.run(.., debug=True)`), tracemalloc, or `sys.set_coroutine_origin_tracking_depth`.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;

use super::guarded;

static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

fn module(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    let module = MODULE.get_or_try_init(py, || py.import("aerolane._python.origins").map(Bound::unbind))?;
    Ok(module.bind(py))
}

/// Whether operations are to remember it. Asked once for each event loop, when a client is first used on it.
pub(super) fn wanted(py: Python<'_>) -> bool {
    here(py).is_some()
}

/// The stack of the caller as text; `None` if the program does not ask for it.
pub(super) fn here(py: Python<'_>) -> Option<Py<PyAny>> {
    let stack = module(py).and_then(|module| guarded::call_method(module, intern!(py, "here"), (), None));
    stack.ok().filter(|stack| !stack.is_none()).map(Bound::unbind)
}
