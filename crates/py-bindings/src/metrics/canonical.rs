//! A snapshot as one document of the shape that exporters of Aerospike's SDKs take, whatever language they are for.

use std::collections::BTreeMap;

use aerolane::metrics::{ClusterMetrics, LatencyUnit, NodeMetricsSnapshot};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Whether calls were measured.
pub(super) fn measured(metrics: &ClusterMetrics) -> bool {
    !metrics.cluster_aggregated.detailed_namespaces().is_empty()
}

/// The document.
pub(super) fn document<'py>(py: Python<'py>, metrics: &ClusterMetrics, enabled: bool) -> PyResult<Bound<'py, PyDict>> {
    let all = &metrics.cluster_aggregated;
    let (nodes, departed) = (PyList::empty(py), PyList::empty(py));
    let mut server_timeouts = 0;
    // In an order that does not change from one document to the next.
    for (address, of) in metrics.nodes.iter().collect::<BTreeMap<_, _>>() {
        let (one, timeouts) = node(py, address, of)?;
        server_timeouts += timeouts;
        if of.is_active {
            nodes.append(one)?;
        } else if metrics.departed.contains(address) {
            departed.append(one)?;
        }
    }
    let measured = self::measured(metrics);
    let columns = all.connection_opening.buckets().len();
    let document = PyDict::new(py);
    document.set_item("timestamp", timestamp(py, metrics)?)?;
    document.set_item("client_type", ClusterMetrics::CLIENT_TYPE)?;
    document.set_item("client_version", env!("CARGO_PKG_VERSION"))?;
    document.set_item("cluster_name", metrics.label("cluster").unwrap_or_default())?;
    document.set_item("app_id", metrics.label("app_id").unwrap_or(ClusterMetrics::NO_APP_ID))?;
    document.set_item("labels", metrics.user_labels())?;
    document.set_item("metrics_enabled", enabled)?;
    document.set_item("operational_metrics_enabled", enabled && measured)?;
    document.set_item("usage_metrics_enabled", enabled && measured)?;
    document.set_item(
        "latency_unit",
        match all.latency_unit {
            LatencyUnit::Microseconds => "microseconds",
            LatencyUnit::Milliseconds => "milliseconds",
        },
    )?;
    document.set_item("cluster", cluster(py, metrics, server_timeouts)?)?;
    document.set_item("nodes", nodes)?;
    document.set_item("nodes_departed", departed)?;
    document.set_item("usage", metrics.usage())?;
    document.set_item("latency_columns", columns)?;
    document.set_item("latency_shift", all.connection_opening.shift())?;
    Ok(document)
}

/// When it was taken, in ISO 8601 and UTC.
fn timestamp<'py>(py: Python<'py>, metrics: &ClusterMetrics) -> PyResult<Bound<'py, PyAny>> {
    let since = metrics.taken_at.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let datetime = py.import("datetime")?;
    let utc = datetime.getattr("timezone")?.getattr("utc")?;
    datetime.getattr("datetime")?.call_method1("fromtimestamp", (since.as_secs_f64(), utc))?.call_method0("isoformat")
}

fn fields<'py>(py: Python<'py>, fields: &[(&str, u64)]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    fields.iter().try_for_each(|(name, value)| dict.set_item(name, value))?;
    Ok(dict)
}

fn cluster<'py>(py: Python<'py>, metrics: &ClusterMetrics, server_timeouts: u64) -> PyResult<Bound<'py, PyDict>> {
    let counters = &metrics.cluster_aggregated.counters;
    let cluster = PyDict::new(py);
    let connections = [
        ("opened", counters.connections_successful),
        ("closed", counters.connections_closed),
        ("in_use", metrics.connections_in_use),
        ("in_pool", metrics.connections_in_pool),
    ];
    cluster.set_item("connections", fields(py, &connections)?)?;
    let nodes = [("active", metrics.total_nodes as u64), ("invalid", metrics.nodes_invalid)];
    cluster.set_item("nodes", fields(py, &nodes)?)?;
    cluster.set_item("recover_queue", fields(py, &[("size", metrics.recover_queue_size)])?)?;
    cluster.set_item("command_timeout_client", metrics.exceeded_max_retries + metrics.exceeded_total_timeout)?;
    cluster.set_item("command_timeout_server", server_timeouts)?;
    cluster.set_item("cpu_percent", metrics.cpu_percent)?;
    cluster.set_item("memory_bytes", metrics.memory_bytes)?;
    cluster.set_item("command_retries", counters.transaction_retry_count)?;
    cluster.set_item("command_count", metrics.command_count())?;
    Ok(cluster)
}

/// A node, and how often it ran out of time.
fn node<'py>(py: Python<'py>, address: &str, node: &NodeMetricsSnapshot) -> PyResult<(Bound<'py, PyDict>, u64)> {
    let (host, port) = address.rsplit_once(':').unwrap_or((address, ""));
    let counters = &node.counters;
    let connections = [
        ("opened", counters.connections_successful),
        ("closed", counters.connections_closed),
        ("in_use", counters.connections_in_use),
        ("in_pool", counters.connections_in_pool),
        ("open_failure", counters.connections_failed),
        ("tls_handshake_failure", counters.connections_tls_errors),
        ("auth_failure", counters.connections_auth_errors),
        ("closed_idle", counters.connections_idle_dropped),
        ("closed_error", counters.connections_closed_error),
        ("closed_node_removed", counters.connections_closed_node_removed),
        ("pool_exhausted", counters.connections_pool_empty),
    ];
    let (namespaces, mut all_timeouts) = (PyList::empty(py), 0);
    let mut names = node.detailed_namespaces();
    names.sort_unstable();
    for name in names {
        let (of, timeouts) = namespace(py, node, name)?;
        all_timeouts += timeouts;
        namespaces.append(of)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("name", &node.name)?;
    dict.set_item("address", host)?;
    dict.set_item("port", port.parse::<u16>().ok())?;
    dict.set_item("error_rate", counters.error_rate)?;
    dict.set_item("connections", fields(py, &connections)?)?;
    dict.set_item("namespaces", namespaces)?;
    Ok((dict, all_timeouts))
}

/// A namespace of a node, and how often the node ran out of time in it. No failure counts twice.
fn namespace<'py>(py: Python<'py>, node: &NodeMetricsSnapshot, name: &str) -> PyResult<(Bound<'py, PyDict>, u64)> {
    let of = node.namespace_summary(name);
    let dict = PyDict::new(py);
    dict.set_item("name", name)?;
    for (field, count) in [
        ("errors", of.errors),
        ("timeouts", of.timeouts),
        ("key_busy", of.key_busy),
        ("record_too_big", of.record_too_big),
        ("device_overload", of.device_overload),
        ("bytes_in", of.bytes_in),
        ("bytes_out", of.bytes_out),
    ] {
        dict.set_item(field, count)?;
    }
    let latency = PyDict::new(py);
    for (kind, buckets) in of.latency {
        latency.set_item(kind.as_str(), buckets)?;
    }
    dict.set_item("latency", latency)?;
    Ok((dict, of.timeouts))
}
