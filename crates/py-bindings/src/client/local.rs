//! `_LocalClient`: the peers' client for one thread.

use std::sync::Arc;

use pyo3::prelude::*;

use super::native::{self, CallOptions};
use super::{control, shared};
use crate::command::Executable;
use crate::command::single::Overrides;
use crate::core::ClientCore;
use crate::key::Key;
use crate::metrics::{self, ClusterMetrics, MetricsPolicy};
use crate::policy::{ClientPolicy, Expiration, ReadPolicy, WritePolicy};

/// A blocking client for the thread that created it or any other.
///
/// In other clients, a client of this name gives each thread its own runtime, cluster tend and pool. Here, the calling
/// thread always does its own I/O; clients with equal policies and seeds share one tend and one bounded pool, however
/// many threads create one.
#[pyclass(frozen, weakref, name = "_LocalClient", module = "aerolane.native")]
pub(super) struct LocalClient {
    core: Arc<ClientCore>,
}

#[pymethods]
impl LocalClient {
    /// Connects. Raises `ConnectionError` when no seed can be used, with the reason of each.
    #[new]
    fn new(py: Python<'_>, policy: &Bound<'_, ClientPolicy>, seeds: &str) -> PyResult<Self> {
        let core = shared::connect(py, policy.get().config(py)?, seeds)?;
        Ok(Self { core })
    }

    /// The cluster name that the policy requires.
    #[getter]
    fn cluster_name(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.core.check(py)?;
        Ok(self.core.raw.asynchronous().cluster_name())
    }

    /// The cluster name that the nodes report.
    #[getter]
    fn server_cluster_name(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.core.check(py)?;
        Ok(self.core.raw.asynchronous().server_cluster_name())
    }

    /// Whether a namespace is in strong-consistency mode; `None` if the cluster does not have the namespace.
    fn is_strong_consistency(&self, py: Python<'_>, namespace: &str) -> PyResult<Option<bool>> {
        self.core.check(py)?;
        Ok(self.core.mode(namespace))
    }

    /// As `Client.get_blocking`.
    #[pyo3(signature = (key, bins=None, *, policy=None, policy_sc=None, filter_expression=None, txn=None))]
    #[allow(clippy::too_many_arguments)] // the arguments of the Python method
    fn get_blocking(
        &self,
        py: Python<'_>,
        key: &Bound<'_, Key>,
        bins: Option<&Bound<'_, PyAny>>,
        policy: Option<&Bound<'_, ReadPolicy>>,
        policy_sc: Option<&Bound<'_, ReadPolicy>>,
        filter_expression: Option<&Bound<'_, PyAny>>,
        txn: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let options = CallOptions { filter_expression, txn };
        native::get(py, &self.core, key, bins, policy, policy_sc, options)?.block(py, &self.core)
    }

    /// As `Client.put_blocking`.
    #[pyo3(signature = (key, bins, *, policy=None, policy_sc=None, txn=None))]
    fn put_blocking(
        &self,
        py: Python<'_>,
        key: &Bound<'_, Key>,
        bins: &Bound<'_, PyAny>,
        policy: Option<&Bound<'_, WritePolicy>>,
        policy_sc: Option<&Bound<'_, WritePolicy>>,
        txn: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let options = CallOptions { filter_expression: None, txn };
        native::put(py, &self.core, key, bins, policy, policy_sc, options)?.block(py, &self.core)
    }

    /// As `Client.delete_blocking`.
    #[pyo3(signature = (key, *, policy=None))]
    fn delete_blocking(
        &self,
        py: Python<'_>,
        key: &Bound<'_, Key>,
        policy: Option<&Bound<'_, WritePolicy>>,
    ) -> PyResult<Py<PyAny>> {
        native::delete(py, &self.core, key, policy)?.block(py, &self.core)
    }

    /// As `Client.touch_blocking`.
    #[pyo3(signature = (key, *, policy=None))]
    fn touch_blocking(
        &self,
        py: Python<'_>,
        key: &Bound<'_, Key>,
        policy: Option<&Bound<'_, WritePolicy>>,
    ) -> PyResult<Py<PyAny>> {
        native::touch(py, &self.core, key, policy)?.block(py, &self.core)
    }

    /// As `Client.exists_blocking`.
    #[pyo3(signature = (key, *, policy=None))]
    fn exists_blocking(
        &self,
        py: Python<'_>,
        key: &Bound<'_, Key>,
        policy: Option<&Bound<'_, ReadPolicy>>,
    ) -> PyResult<Py<PyAny>> {
        native::exists(py, &self.core, key, policy)?.block(py, &self.core)
    }

    /// As `Client.operate_blocking`.
    #[pyo3(signature = (key, operations, *, policy=None, policy_sc=None, record_exists_action=None, expiration=None,
        generation=None, durable_delete=None, filter_expression=None, txn=None))]
    #[allow(clippy::too_many_arguments)] // the arguments of the Python method
    fn operate_blocking(
        &self,
        py: Python<'_>,
        key: &Bound<'_, Key>,
        operations: &Bound<'_, PyAny>,
        policy: Option<&Bound<'_, WritePolicy>>,
        policy_sc: Option<&Bound<'_, WritePolicy>>,
        record_exists_action: Option<&Bound<'_, PyAny>>,
        expiration: Option<&Bound<'_, Expiration>>,
        generation: Option<u32>,
        durable_delete: Option<bool>,
        filter_expression: Option<&Bound<'_, PyAny>>,
        txn: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let overrides = Overrides { record_exists_action, expiration, generation, durable_delete };
        let options = CallOptions { filter_expression, txn };
        native::operate(py, &self.core, key, operations, policy, policy_sc, overrides, options)?.block(py, &self.core)
    }

    /// As `Client.info_blocking`.
    fn info_blocking(&self, py: Python<'_>, command: &str) -> PyResult<Py<PyAny>> {
        control::info(py, &self.core, command)?.block(py, &self.core)
    }

    /// Enables metrics, or changes their policy (`None`: the default policy). Calls in flight are not measured.
    /// Changing `latency_unit` discards what was measured.
    #[pyo3(signature = (policy=None))]
    fn enable_metrics(&self, py: Python<'_>, policy: Option<&Bound<'_, MetricsPolicy>>) -> PyResult<()> {
        self.core.check(py)?;
        metrics::enable(py, &self.core, policy);
        Ok(())
    }

    /// Disables metrics. What was measured is kept.
    fn disable_metrics(&self, py: Python<'_>) -> PyResult<()> {
        self.core.check(py)?;
        metrics::disable(py, &self.core, false);
        Ok(())
    }

    /// Whether metrics are on.
    fn metrics_enabled(&self, py: Python<'_>) -> PyResult<bool> {
        self.core.check(py)?;
        Ok(metrics::enabled(&self.core.raw))
    }

    /// A snapshot of the metrics: a `ClusterMetrics`. Takes a few hundred microseconds, so do not call it for every
    /// operation.
    fn metrics(&self, py: Python<'_>) -> PyResult<ClusterMetrics> {
        self.core.check(py)?;
        metrics::snapshot(py, &self.core.raw)
    }

    #[allow(clippy::unused_self)]
    fn __repr__(&self) -> &'static str {
        "<_LocalClient>"
    }
}
