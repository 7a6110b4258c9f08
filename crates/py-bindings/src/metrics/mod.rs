//! Metrics: their policy, and the snapshots that `Client.metrics()` gives.
//!
//! * [`policy`]: what is measured, and how it is shown
//! * [`snapshot`], [`histogram`]: what was measured
//! * [`exporters`], [`writer`]: where it goes at regular intervals
//! * [`dict`], [`canonical`]: the same as plain dicts, with the names of aerospike-native and of the SDKs

mod canonical;
mod dict;
pub(crate) mod exporters;
mod histogram;
mod policy;
mod snapshot;
mod writer;

use std::sync::Arc;

use aerolane::metrics as measure;
use aerolane::raw::RawClient;
use aerolane_config::{LatencyUnit, Metrics};
use pyo3::prelude::*;

use crate::core::ClientCore;
pub(crate) use exporters::{Exporters, add, added, finish, remove};
pub(crate) use policy::MetricsPolicy;
pub(crate) use snapshot::ClusterMetrics;

/// Switches metrics on.
pub(crate) fn enable(py: Python<'_>, core: &Arc<ClientCore>, policy: Option<&Bound<'_, MetricsPolicy>>) {
    core.raw.sync().enable_metrics(MetricsPolicy::in_force(policy).as_ref().clone());
    exporters::restart_all(py, core);
}

/// Switches metrics on or off as settings say; they may leave it as it is. Exporters go by them from now on.
pub(crate) fn apply(py: Python<'_>, core: &Arc<ClientCore>, settings: &Metrics) {
    exporters::configure(py, core, settings);
    match settings.enabled {
        None if enabled(&core.raw) => exporters::restart_all(py, core),
        None => {}
        Some(false) => disable(py, core, false),
        Some(true) => {
            // Which features are used is told by the calls that were measured.
            let operational = settings.operational_enabled == Some(true) || settings.usage_enabled == Some(true);
            let mut policy = measure::MetricsPolicy { operational, ..measure::MetricsPolicy::default() };
            if let Some(unit) = settings.latency_unit {
                policy.latency_unit = match unit {
                    LatencyUnit::Milliseconds => measure::LatencyUnit::Milliseconds,
                    LatencyUnit::Microseconds => measure::LatencyUnit::Microseconds,
                };
            }
            if let Some(columns) = settings.latency_columns {
                policy.latency_columns = columns as usize;
            }
            if let Some(shift) = settings.latency_shift {
                policy.latency_shift = shift;
            }
            if let Some(labels) = &settings.labels {
                policy.labels = measure::Labels::with_pairs(vec![labels.iter().cloned().collect()]);
            }
            if let (Some(range), Some(threshold)) = (settings.sampler_range, settings.sampler_threshold) {
                policy.sampler = measure::Sampler::new(u64::from(range), u64::from(threshold));
            }
            core.raw.sync().enable_metrics(policy);
            exporters::restart_all(py, core);
        }
    }
}

/// Switches metrics off, once exporters have been given what was measured last. `wait`: until they are done with it, for some
/// seconds at most.
pub(crate) fn disable(py: Python<'_>, core: &Arc<ClientCore>, wait: bool) {
    if enabled(&core.raw) {
        let exports = exporters::pause_all(py, core);
        if wait {
            exporters::wait(py, &exports);
        }
    }
    core.raw.sync().disable_metrics();
}

/// Metrics have been switched elsewhere, or have another policy: exporters go by that.
pub(crate) fn switched(py: Python<'_>, core: &Arc<ClientCore>) {
    if enabled(&core.raw) {
        exporters::restart_all(py, core);
    } else {
        exporters::pause_all(py, core);
    }
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
    module.add_class::<writer::MetricsWriter>()?;
    module.add_class::<ClusterMetrics>()
}
