//! Snapshots as plain dicts, with the names that exports of Aerospike's clients have.

use aerolane::metrics::{ClusterMetrics, CommandType, Counters, Histogram, NodeMetricsSnapshot};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Kinds of calls, with the names of their histograms.
pub(super) const COMMANDS: [(CommandType, &str); 11] = [
    (CommandType::Get, "get_metrics"),
    (CommandType::GetHeader, "get_header_metrics"),
    (CommandType::Exists, "exists_metrics"),
    (CommandType::Put, "put_metrics"),
    (CommandType::Delete, "delete_metrics"),
    (CommandType::Operate, "operate_metrics"),
    (CommandType::Query, "query_metrics"),
    (CommandType::Scan, "scan_metrics"),
    (CommandType::Udf, "udf_metrics"),
    (CommandType::BatchRead, "batch_read_metrics"),
    (CommandType::BatchWrite, "batch_write_metrics"),
];

pub(super) fn cluster<'py>(py: Python<'py>, metrics: &ClusterMetrics) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (host, metrics) in &metrics.nodes {
        dict.set_item(host, node(py, metrics)?)?;
    }
    dict.set_item("cluster_aggregated_metrics", node(py, &metrics.cluster_aggregated)?)?;
    dict.set_item("total_nodes", metrics.total_nodes)?;
    for (name, count) in [
        ("open_connections", metrics.open_connections),
        ("connections_in_use", metrics.connections_in_use),
        ("connections_in_pool", metrics.connections_in_pool),
        ("recover_queue_size", metrics.recover_queue_size),
        ("nodes_invalid", metrics.nodes_invalid),
        ("exceeded_max_retries", metrics.exceeded_max_retries),
        ("exceeded_total_timeout", metrics.exceeded_total_timeout),
    ] {
        dict.set_item(name, count)?;
    }
    Ok(dict)
}

pub(super) fn node<'py>(py: Python<'py>, node: &NodeMetricsSnapshot) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("latency_unit", node.latency_unit.as_str())?;
    if !node.labels.entries().is_empty() {
        dict.set_item("labels", node.labels.entries().to_vec())?;
    }
    counters(&dict, &node.counters)?;
    for (name, count) in [
        ("requests", node.traffic.requests),
        ("answers", node.traffic.answers),
        ("timeouts", node.traffic.timeouts),
        ("refused", node.traffic.refused),
        ("late_answers", node.traffic.late_answers),
        ("bytes_sent", node.traffic.bytes_sent),
        ("bytes_received", node.traffic.bytes_received),
    ] {
        dict.set_item(name, count)?;
    }
    dict.set_item("connection_opening_metrics", histogram(py, &node.connection_opening)?)?;
    for (kind, name) in COMMANDS {
        if let Some(latency) = node.command_histogram(kind) {
            dict.set_item(name, histogram(py, latency)?)?;
        }
    }
    let (detailed, codes) = (PyDict::new(py), PyDict::new(py));
    for namespace in node.detailed_namespaces() {
        let (metrics_of, codes_of) = (PyDict::new(py), PyDict::new(py));
        for (kind, _) in COMMANDS {
            let Some(metric) = node.detailed_metric(namespace, kind) else { continue };
            let command = PyDict::new(py);
            command.set_item("connection_aq", histogram(py, &metric.connection_aq)?)?;
            command.set_item("latency", histogram(py, &metric.latency)?)?;
            command.set_item("parsing", histogram(py, &metric.parsing)?)?;
            command.set_item("bytes_sent", histogram(py, &metric.bytes_sent)?)?;
            command.set_item("bytes_received", histogram(py, &metric.bytes_received)?)?;
            metrics_of.set_item(kind.as_str(), command)?;
            let counts = PyDict::new(py);
            for (code, count) in node.result_codes(namespace, kind) {
                counts.set_item(code.into_string(), count)?;
            }
            if !counts.is_empty() {
                codes_of.set_item(kind.as_str(), counts)?;
            }
        }
        detailed.set_item(namespace, metrics_of)?;
        codes.set_item(namespace, codes_of)?;
    }
    dict.set_item("detailed_metrics", detailed)?;
    dict.set_item("detailed_resultcode_counts", codes)?;
    Ok(dict)
}

fn counters(dict: &Bound<'_, PyDict>, counters: &Counters) -> PyResult<()> {
    for (name, count) in [
        ("connections_attempts", counters.connections_attempts),
        ("connections_successful", counters.connections_successful),
        ("connections_failed", counters.connections_failed),
        ("connections_error_timeout", counters.connections_timeout_errors),
        ("connections_error_other", counters.connections_other_errors),
        ("connections_error_tls", counters.connections_tls_errors),
        ("connections_error_auth", counters.connections_auth_errors),
        ("circuit_breaker_hits", counters.circuit_breaker_hits),
        ("connections_pool_empty", counters.connections_pool_empty),
        ("connections_pool_overflow", counters.connections_pool_overflow),
        ("connections_idle_dropped", counters.connections_idle_dropped),
        ("open_connections", counters.connections_open),
        ("connections_in_use", counters.connections_in_use),
        ("connections_in_pool", counters.connections_in_pool),
        ("connections_recovering", counters.connections_recovering),
        ("closed_connections", counters.connections_closed),
        ("connections_closed_error", counters.connections_closed_error),
        ("connections_closed_node_removed", counters.connections_closed_node_removed),
        ("tends_total", counters.tends_total),
        ("tends_successful", counters.tends_successful),
        ("tends_failed", counters.tends_failed),
        ("partition_map_updates", counters.partition_map_updates),
        ("node_added_count", counters.node_added),
        ("node_removed_count", counters.node_removed),
        ("transaction_retry_count", counters.transaction_retry_count),
        ("transaction_error_count", counters.transaction_error_count),
        ("error_rate", counters.error_rate),
    ] {
        dict.set_item(name, count)?;
    }
    Ok(())
}

fn histogram<'py>(py: Python<'py>, histogram: &Histogram) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("buckets", histogram.buckets().to_vec())?;
    dict.set_item("count", histogram.count())?;
    dict.set_item("min", histogram.min())?;
    dict.set_item("max", histogram.max())?;
    dict.set_item("sum", histogram.sum())?;
    Ok(dict)
}
