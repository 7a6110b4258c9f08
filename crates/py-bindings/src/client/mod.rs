//! The native client.

use std::sync::Arc;

use aerolane::client::RawClient;
use aerolane::{ClientConfig, ClientPolicy};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::call::{Becomes, Call, PolicyRef};
use crate::core::ClientCore;
use crate::key::Key;
use crate::policy::{ReadPolicy, WritePolicy};
use crate::{blocking, errors, host, request};

/// A client for a cluster.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct Client {
    core: Arc<ClientCore>,
}

#[pymethods]
impl Client {
    #[pyo3(signature = (key, *, policy=None))]
    fn get(&self, py: Python<'_>, key: &Bound<'_, Key>, policy: Option<&Bound<'_, ReadPolicy>>) -> PyResult<Py<PyAny>> {
        let policy = ReadPolicy::in_force(policy);
        let call = Call {
            key: key.clone().unbind(),
            policy: PolicyRef::Read(policy.clone()),
            writes: false,
            becomes: Becomes::Record,
        };
        let timeout = call.policy.server_timeout_ms();
        host::submit(py, &self.core, call, |out| request::get(&policy, key.get(), None, timeout, out))
    }

    #[pyo3(signature = (key, bins, *, policy=None))]
    fn put(
        &self,
        py: Python<'_>,
        key: &Bound<'_, Key>,
        bins: &Bound<'_, PyDict>,
        policy: Option<&Bound<'_, WritePolicy>>,
    ) -> PyResult<Py<PyAny>> {
        let policy = WritePolicy::in_force(policy);
        let call = Call {
            key: key.clone().unbind(),
            policy: PolicyRef::Write(policy.clone()),
            writes: true,
            becomes: Becomes::Nothing,
        };
        let timeout = call.policy.server_timeout_ms();
        host::submit(py, &self.core, call, |out| request::put(&policy, key.get(), bins, timeout, out))
    }

    #[pyo3(signature = (key, *, policy=None))]
    fn get_blocking(
        &self,
        py: Python<'_>,
        key: &Bound<'_, Key>,
        policy: Option<&Bound<'_, ReadPolicy>>,
    ) -> PyResult<Py<PyAny>> {
        let policy = ReadPolicy::in_force(policy);
        let call = Call {
            key: key.clone().unbind(),
            policy: PolicyRef::Read(policy.clone()),
            writes: false,
            becomes: Becomes::Record,
        };
        let timeout = call.policy.server_timeout_ms();
        blocking::run(py, &self.core.raw, &call, |out| request::get(&policy, key.get(), None, timeout, out))
    }

    #[pyo3(signature = (key, bins, *, policy=None))]
    fn put_blocking(
        &self,
        py: Python<'_>,
        key: &Bound<'_, Key>,
        bins: &Bound<'_, PyDict>,
        policy: Option<&Bound<'_, WritePolicy>>,
    ) -> PyResult<Py<PyAny>> {
        let policy = WritePolicy::in_force(policy);
        let call = Call {
            key: key.clone().unbind(),
            policy: PolicyRef::Write(policy.clone()),
            writes: true,
            becomes: Becomes::Nothing,
        };
        let timeout = call.policy.server_timeout_ms();
        blocking::run(py, &self.core.raw, &call, |out| request::put(&policy, key.get(), bins, timeout, out))
    }
}

/// Connects to the cluster that `seeds` ("host:port,host:port") belong to.
#[pyfunction]
fn new_client_blocking(py: Python<'_>, seeds: &str) -> PyResult<Client> {
    let config = ClientConfig::from(ClientPolicy::default());
    let seeds = seeds.to_owned();
    let raw = py.detach(|| RawClient::connect_blocking(&config, &seeds)).map_err(|e| errors::to_py(py, &e))?;
    Ok(Client { core: ClientCore::new(raw) })
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Client>()?;
    module.add_function(wrap_pyfunction!(new_client_blocking, module)?)
}
