//! Connecting and closing.

use std::sync::Arc;

use aerolane::ClientConfig;
use aerolane::raw::RawClient;
use aerospike_core::ToHosts;
use pyo3::prelude::*;

use super::Client;
use super::thread::in_thread;
use crate::argument::argument;
use crate::core::{ClientCore, Origin};
use crate::policy::ClientPolicy;
use crate::{errors, host, logging, metrics};

/// Connects, on this thread. Gives up the GIL meanwhile.
pub(crate) fn connect_blocking(
    py: Python<'_>,
    config: &ClientConfig,
    seeds: &(dyn ToHosts + Send + Sync),
    origin: Origin,
) -> PyResult<Arc<ClientCore>> {
    logging::refresh_log_levels(py)?;
    let raw = py.detach(|| RawClient::connect_blocking(config, seeds)).map_err(|e| errors::to_py(py, &e))?;
    let core = ClientCore::new(raw, Some(origin));
    let client = Arc::downgrade(&core);
    core.raw.overlay().on_metrics(move || {
        // Without an interpreter (it is ending) nobody exports any more.
        Python::try_attach(|py| {
            if let Some(core) = client.upgrade().filter(|core| !core.is_foreign()) {
                metrics::switched(py, &core);
            }
        });
    });
    Ok(core)
}

/// Closes a client, on this thread. Gives up the GIL meanwhile.
pub(crate) fn close_blocking(py: Python<'_>, core: &Arc<ClientCore>) {
    // What was forked with the parent is the parent's to close.
    if !core.is_foreign() {
        metrics::finish(py, core);
        py.detach(|| core.raw.close_blocking());
    }
}

/// Closes a client; gives a coroutine.
pub(crate) fn close(py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
    let core = Arc::clone(core);
    in_thread(py, "close", move |py| {
        close_blocking(py, &core);
        Ok(py.None())
    })
}

/// Connects to the cluster that the seeds belong to. Returns a coroutine of a `Client`.
///
/// `seeds` is one or several addresses, `"host:port,host:port"`; 3000 is the default port.
///
/// Raises `ConnectionError` if no seed can be reached, with the reason for each; `ValueError` for invalid seeds or
/// policies.
#[pyfunction]
pub(super) fn new_client(py: Python<'_>, policy: &Bound<'_, PyAny>, seeds: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    host::at_await(py, "new_client", || {
        let policy: &Bound<'_, ClientPolicy> = argument("policy", policy)?;
        let (config, seeds) = (policy.get().config(py)?, argument::<String>("seeds", seeds)?);
        let origin = Origin::here(py, &seeds)?;
        in_thread(py, "new_client", move |py| {
            let core = connect_blocking(py, &config, &seeds, origin)?;
            Ok(Py::new(py, Client::new(core, seeds.into()))?.into_any())
        })
    })
}

/// Connects to the cluster that the seeds belong to and returns a `Client`. The same as `new_client`, for code without
/// async.
#[pyfunction]
pub(super) fn new_client_blocking(py: Python<'_>, policy: &Bound<'_, ClientPolicy>, seeds: &str) -> PyResult<Client> {
    let core = connect_blocking(py, &policy.get().config(py)?, &seeds, Origin::here(py, seeds)?)?;
    Ok(Client::new(core, seeds.into()))
}
