//! The async side: a lane on each event loop.
//!
//! Each function here gives an object that is at once awaitable, Future-like and Coroutine-like.

use std::future::Future;
use std::sync::Arc;

use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;

use crate::call::Call;
use crate::core::ClientCore;

/// Starts a call over the lane of the running event loop. Called outside of a loop, it starts when it is first awaited.
pub(crate) fn submit(
    py: Python<'_>,
    client: &Arc<ClientCore>,
    call: Call,
    encode: impl FnOnce(&mut Vec<u8>) -> PyResult<()>,
) -> PyResult<Py<PyAny>> {
    let _ = (py, client, call, encode);
    Err(PyNotImplementedError::new_err("being written"))
}

/// Runs a future on the control plane's runtime; `convert` makes its result on the loop's thread.
pub(crate) fn spawn<T: Send + 'static>(
    py: Python<'_>,
    client: &Arc<ClientCore>,
    future: impl Future<Output = aerolane::Result<T>> + Send + 'static,
    convert: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Py<PyAny>> {
    let _ = (py, client, future, convert);
    Err(PyNotImplementedError::new_err("being written"))
}

/// Runs a function that blocks on a thread of its own; `convert` makes its result on the loop's thread.
pub(crate) fn spawn_blocking<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> aerolane::Result<T> + Send + 'static,
    convert: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Py<PyAny>> {
    let _ = (py, work, convert);
    Err(PyNotImplementedError::new_err("being written"))
}

pub(crate) fn register(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
