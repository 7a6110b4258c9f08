//! Metrics: their policy, and the snapshots that `Client.metrics()` gives.
//!
//! * [`policy`]: what is measured, and how it is shown
//! * [`snapshot`], [`histogram`]: what was measured
//! * [`dict`], [`canonical`]: the same as plain dicts, with the names of aerospike-native and of the SDKs

mod canonical;
mod dict;
mod histogram;
mod policy;
mod snapshot;

use aerolane::client::RawClient;
use pyo3::prelude::*;

pub(crate) use policy::MetricsPolicy;
pub(crate) use snapshot::ClusterMetrics;

/// Switches metrics on.
pub(crate) fn enable(client: &RawClient, policy: Option<&Bound<'_, MetricsPolicy>>) {
    client.sync().enable_metrics(MetricsPolicy::in_force(policy).as_ref().clone());
}

/// Switches metrics off.
pub(crate) fn disable(client: &RawClient) {
    client.sync().disable_metrics();
}

/// Whether metrics are on.
pub(crate) fn enabled(client: &RawClient) -> bool {
    client.sync().metrics_enabled()
}

/// The metrics at this moment.
pub(crate) fn snapshot(py: Python<'_>, client: &RawClient) -> PyResult<ClusterMetrics> {
    // It takes locks that threads and lanes hold for moments, and sums up for some hundred microseconds.
    let metrics = py.detach(|| client.sync().metrics());
    ClusterMetrics::new(py, metrics, enabled(client))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    policy::register(module)?;
    module.add_class::<histogram::Histogram>()?;
    module.add_class::<snapshot::CommandMetric>()?;
    module.add_class::<snapshot::NodeMetricsSnapshot>()?;
    module.add_class::<ClusterMetrics>()
}
