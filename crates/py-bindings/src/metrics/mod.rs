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
use aerolane::metrics as core;
use aerolane_config::{LatencyUnit, Metrics};
use pyo3::prelude::*;

pub(crate) use policy::MetricsPolicy;
pub(crate) use snapshot::ClusterMetrics;

/// Switches metrics on.
pub(crate) fn enable(client: &RawClient, policy: Option<&Bound<'_, MetricsPolicy>>) {
    client.sync().enable_metrics(MetricsPolicy::in_force(policy).as_ref().clone());
}

/// Switches metrics on or off as settings say; they may leave it as it is.
pub(crate) fn apply(client: &RawClient, settings: &Metrics) {
    match settings.enabled {
        None => {}
        Some(false) => disable(client),
        Some(true) => {
            // Which features are used is told by the calls that were measured.
            let operational = settings.operational_enabled == Some(true) || settings.usage_enabled == Some(true);
            let mut policy = core::MetricsPolicy { operational, ..core::MetricsPolicy::default() };
            if let Some(unit) = settings.latency_unit {
                policy.latency_unit = match unit {
                    LatencyUnit::Milliseconds => core::LatencyUnit::Milliseconds,
                    LatencyUnit::Microseconds => core::LatencyUnit::Microseconds,
                };
            }
            if let Some(columns) = settings.latency_columns {
                policy.latency_columns = columns as usize;
            }
            if let Some(shift) = settings.latency_shift {
                policy.latency_shift = shift;
            }
            if let Some(labels) = &settings.labels {
                policy.labels = core::Labels::with_pairs(vec![labels.iter().cloned().collect()]);
            }
            if let (Some(range), Some(threshold)) = (settings.sampler_range, settings.sampler_threshold) {
                policy.sampler = core::Sampler::new(u64::from(range), u64::from(threshold));
            }
            client.sync().enable_metrics(policy);
        }
    }
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
