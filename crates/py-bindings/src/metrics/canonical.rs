//! A snapshot as one document of the shape that exporters of Aerospike's SDKs take, whatever language they are for.

use std::collections::BTreeMap;

use aerolane::ResultCode;
use aerolane::metrics::{ClusterMetrics, CommandType, Histogram, LatencyUnit, NodeMetricsSnapshot};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::dict::COMMANDS;

/// What this client is to those who collect metrics of several.
const CLIENT_TYPE: &str = "aerolane";
/// The name of an application that has not said any.
const NO_NAME: &str = "not-set";
/// Labels that are fields of the document; the others are the user's.
const FIELDS: [&str; 4] = ["node", "host", "cluster", "app_id"];

/// The group of kinds of calls that a kind belongs to.
fn group(kind: CommandType) -> &'static str {
    match kind {
        CommandType::Get | CommandType::GetHeader | CommandType::Exists => "read",
        CommandType::BatchRead | CommandType::BatchWrite => "batch",
        CommandType::Query | CommandType::Scan => "query",
        _ => "write",
    }
}

/// How many requests of each kind were answered, in all namespaces.
fn answers(node: &NodeMetricsSnapshot) -> impl Iterator<Item = (CommandType, u64)> + '_ {
    COMMANDS.iter().map(|&(kind, _)| {
        let namespaces = node.detailed_namespaces();
        let answered = |name: &&str| node.detailed_metric(name, kind).map_or(0, |metric| metric.latency.count());
        (kind, namespaces.iter().map(answered).sum())
    })
}

/// Calls: requests that were answered, those that repeat another one left out.
pub(super) fn command_count(metrics: &ClusterMetrics) -> u64 {
    let node = &metrics.cluster_aggregated;
    let answered: u64 = answers(node).map(|(_, count)| count).sum();
    answered.saturating_sub(node.counters.transaction_retry_count)
}

/// Requests by what they were, under the names that SDKs have for features; what was not used is left out.
pub(super) fn usage(metrics: &ClusterMetrics) -> BTreeMap<&'static str, u64> {
    let mut usage = BTreeMap::new();
    for (kind, count) in answers(&metrics.cluster_aggregated).filter(|(_, count)| *count > 0) {
        let shape = match group(kind) {
            "batch" => "feature.shape.batch",
            "query" => "feature.shape.query",
            _ => "feature.shape.point",
        };
        *usage.entry(shape).or_default() += count;
        if matches!(kind, CommandType::Udf) {
            *usage.entry("feature.udf.record").or_default() += count;
        }
    }
    usage
}

/// The document.
pub(super) fn document<'py>(py: Python<'py>, metrics: &ClusterMetrics, enabled: bool) -> PyResult<Bound<'py, PyDict>> {
    let all = &metrics.cluster_aggregated;
    let nodes = PyList::empty(py);
    let mut server_timeouts = 0;
    // In an order that does not change from one document to the next.
    for (address, of) in metrics.nodes.iter().collect::<BTreeMap<_, _>>() {
        let (one, timeouts) = node(py, address, of)?;
        server_timeouts += timeouts;
        nodes.append(one)?;
    }
    let (labels, mut cluster_name, mut app_id) = (PyDict::new(py), "", NO_NAME);
    for (name, value) in all.labels.entries().iter().flatten() {
        match name.as_str() {
            "cluster" => cluster_name = value,
            "app_id" if !value.is_empty() => app_id = value,
            name if FIELDS.contains(&name) => {}
            name => labels.set_item(name, value)?,
        }
    }
    let measured = !all.detailed_namespaces().is_empty();
    let columns = all.connection_opening.buckets().len();
    let document = PyDict::new(py);
    document.set_item("timestamp", now(py)?)?;
    document.set_item("client_type", CLIENT_TYPE)?;
    document.set_item("client_version", env!("CARGO_PKG_VERSION"))?;
    document.set_item("cluster_name", cluster_name)?;
    document.set_item("app_id", app_id)?;
    document.set_item("labels", labels)?;
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
    // Which nodes have left since the last export only an exporter knows; those that have are among the nodes here.
    document.set_item("nodes_departed", PyList::empty(py))?;
    document.set_item("usage", usage(metrics))?;
    document.set_item("latency_columns", columns)?;
    document.set_item("latency_shift", all.connection_opening.shift())?;
    Ok(document)
}

/// The time in ISO 8601, in UTC.
fn now(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let datetime = py.import("datetime")?;
    let utc = datetime.getattr("timezone")?.getattr("utc")?;
    datetime.getattr("datetime")?.call_method1("now", (utc,))?.call_method0("isoformat")
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
    cluster.set_item("command_retries", counters.transaction_retry_count)?;
    cluster.set_item("command_count", command_count(metrics))?;
    Ok(cluster)
}

/// A node, and how often it ran out of time.
fn node<'py>(py: Python<'py>, address: &str, node: &NodeMetricsSnapshot) -> PyResult<(Bound<'py, PyDict>, u64)> {
    let (host, port) = address.rsplit_once(':').unwrap_or((address, ""));
    let name = node.labels.entries().iter().find_map(|labels| labels.get("node")).map_or("", String::as_str);
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
    dict.set_item("name", name)?;
    dict.set_item("address", host)?;
    dict.set_item("port", port.parse::<u16>().ok())?;
    dict.set_item("error_rate", counters.error_rate)?;
    dict.set_item("connections", fields(py, &connections)?)?;
    dict.set_item("namespaces", namespaces)?;
    Ok((dict, all_timeouts))
}

/// A namespace of a node, and how often the node ran out of time in it. No failure counts twice.
fn namespace<'py>(py: Python<'py>, node: &NodeMetricsSnapshot, name: &str) -> PyResult<(Bound<'py, PyDict>, u64)> {
    let (mut errors, mut timeouts, mut busy, mut too_big, mut overload) = (0, 0, 0, 0, 0);
    let (mut received, mut sent) = (0.0, 0.0);
    let mut latency: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    let mut add = |group: &'static str, histogram: &Histogram| {
        let sum = latency.entry(group).or_insert_with(|| vec![0; histogram.buckets().len()]);
        sum.iter_mut().zip(histogram.buckets()).for_each(|(sum, count)| *sum += count);
    };
    for (kind, _) in COMMANDS {
        for (code, count) in node.result_codes(name, kind) {
            match code {
                ResultCode::Ok => {}
                ResultCode::Timeout => timeouts += count,
                ResultCode::KeyBusy => busy += count,
                ResultCode::RecordTooBig => too_big += count,
                ResultCode::DeviceOverload => overload += count,
                _ => errors += count,
            }
        }
        let Some(metric) = node.detailed_metric(name, kind) else { continue };
        received += metric.bytes_received.sum();
        sent += metric.bytes_sent.sum();
        add(group(kind), &metric.latency);
        add("conn", &metric.connection_aq);
    }
    let dict = PyDict::new(py);
    dict.set_item("name", name)?;
    for (field, count) in [
        ("errors", errors),
        ("timeouts", timeouts),
        ("key_busy", busy),
        ("record_too_big", too_big),
        ("device_overload", overload),
    ] {
        dict.set_item(field, count)?;
    }
    // Whole numbers, as far as a f64 has them.
    dict.set_item("bytes_in", received as u64)?;
    dict.set_item("bytes_out", sent as u64)?;
    dict.set_item("latency", latency)?;
    Ok((dict, timeouts))
}
