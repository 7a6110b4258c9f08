//! What a client's connections do and have done, as Python objects.

use std::time::Duration;

use aerolane::{ClientStats, ConnectionStats};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// `{"nodes": [..], "total": {..}, "loop_busy": {..}, "topology_version": n}`.
pub(super) fn to_dict<'py>(py: Python<'py>, stats: &ClientStats) -> PyResult<Bound<'py, PyDict>> {
    let nodes = PyList::empty(py);
    for node in &stats.nodes {
        let dict = counts(py, &node.connections)?;
        dict.set_item("name", &node.name)?;
        dict.set_item("host", &node.host)?;
        dict.set_item("active", node.active)?;
        dict.set_item("errors", node.errors)?;
        dict.set_item("breaker_open", node.breaker_open)?;
        nodes.append(dict)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("nodes", nodes)?;
    dict.set_item("total", counts(py, &stats.total)?)?;
    let busy = PyDict::new(py);
    busy.set_item("count", stats.loop_busy.count)?;
    busy.set_item("total", stats.loop_busy.total.as_secs_f64())?;
    busy.set_item("longest", stats.loop_busy.longest.as_secs_f64())?;
    dict.set_item("loop_busy", busy)?;
    dict.set_item("topology_version", stats.topology_version)?;
    Ok(dict)
}

fn counts<'py>(py: Python<'py>, stats: &ConnectionStats) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, count) in [
        ("open", stats.open),
        ("idle", stats.idle),
        ("busy", stats.busy),
        ("opening", stats.opening),
        ("in_flight", stats.in_flight),
        ("queued", stats.queued),
        ("orphans", stats.orphans),
        ("in_use", stats.in_use),
        ("requests", stats.requests),
        ("answers", stats.answers),
        ("retries", stats.retries),
        ("timeouts", stats.timeouts),
        ("refused", stats.refused),
        ("late_answers", stats.late_answers),
        ("opened", stats.opened),
        ("closed", stats.closed),
        ("open_failures", stats.open_failures),
        ("bytes_sent", stats.bytes_sent),
        ("bytes_received", stats.bytes_received),
    ] {
        dict.set_item(name, count)?;
    }
    dict.set_item("service_time_us", micros(stats.service_time))?;
    dict.set_item("round_trip_us", micros(stats.round_trip))?;
    Ok(dict)
}

/// In microseconds; None stays None.
fn micros(time: Option<Duration>) -> Option<f64> {
    time.map(|time| time.as_secs_f64() * 1e6)
}
