//! Which figures a snapshot of a client has, by name: what exporters in text go by. The names are those of
//! `aerolane.observability` in Python, so one dashboard serves both.

use std::fmt::Debug;

use aerospike_core::ResultCode;

use super::{
    COMMAND_TYPE_COUNT, ClusterMetrics, CommandMetric, CommandType, Histogram, LatencyUnit, NodeMetricsSnapshot,
};

/// What all names begin with.
pub(super) const PREFIX: &str = "aerolane_client_";

/// A figure of the cluster (`M` is [`ClusterMetrics`]), or of each node.
pub(super) struct Figure<M> {
    pub(super) name: &'static str,
    pub(super) is_counter: bool,
    pub(super) help: &'static str,
    pub(super) value: fn(&M) -> u64,
}

macro_rules! figures {
    ($($kind:ident $name:ident $help:literal = $($path:ident).+;)*) => {
        &[$(Figure {
            name: stringify!($name),
            is_counter: figures!(@ $kind),
            help: $help,
            value: |of| of.$($path).+ as u64,
        },)*]
    };
    (@ counter) => { true };
    (@ gauge) => { false };
}

pub(super) const CLUSTER: &[Figure<ClusterMetrics>] = figures! {
    counter nodes_invalid "Hosts that another node named and that turned out not to be nodes." = nodes_invalid;
    counter exceeded_max_retries "Calls that failed after all attempts that their policy allows." = exceeded_max_retries;
    counter exceeded_total_timeout "Calls that failed because their total timeout had passed." = exceeded_total_timeout;
    gauge total_nodes "Nodes in the cluster." = total_nodes;
    gauge recover_queue_size "Connections that wait for answers to abandoned requests." = recover_queue_size;
};

pub(super) const NODE: &[Figure<NodeMetricsSnapshot>] = figures! {
    counter connections_attempts "Attempts to open a connection." = counters.connections_attempts;
    counter connections_successful "Connections that were opened." = counters.connections_successful;
    counter connections_failed "Connections that could not be opened." = counters.connections_failed;
    counter connections_timeout_errors "Connections that could not be opened in time." = counters.connections_timeout_errors;
    counter connections_other_errors "Connections not opened for other reasons than time, TLS or login." = counters.connections_other_errors;
    counter connections_tls_errors "Connections whose TLS handshake failed." = counters.connections_tls_errors;
    counter connections_auth_errors "Connections whose login was refused." = counters.connections_auth_errors;
    counter circuit_breaker_hits "Requests not sent because the node's circuit breaker was open." = counters.circuit_breaker_hits;
    counter connections_pool_empty "Requests that found no room on a connection and waited." = counters.connections_pool_empty;
    counter connections_pool_overflow "Connections closed because the pool had no room for them." = counters.connections_pool_overflow;
    counter connections_idle_dropped "Connections closed because they had been idle for too long." = counters.connections_idle_dropped;
    counter connections_closed "Connections closed, for any reason." = counters.connections_closed;
    counter connections_closed_error "Connections lost, or closed after a failure." = counters.connections_closed_error;
    counter connections_closed_node_removed "Connections closed because the node had left the cluster." = counters.connections_closed_node_removed;
    counter tends_total "Requests of the tend thread for the node's state." = counters.tends_total;
    counter tends_successful "Requests of the tend thread that the node answered." = counters.tends_successful;
    counter tends_failed "Requests of the tend thread that failed." = counters.tends_failed;
    counter partition_map_updates "Changes of the node's part of the partition map." = counters.partition_map_updates;
    counter node_added "Times that the node joined the cluster." = counters.node_added;
    counter node_removed "Times that the node left the cluster." = counters.node_removed;
    counter transaction_retry_count "Attempts other than the first one of a call." = counters.transaction_retry_count;
    counter transaction_error_count "Calls that finally failed at this node while metrics were on." = counters.transaction_error_count;
    counter requests "Requests taken by the client's own connections." = traffic.requests;
    counter answers "Requests answered on the client's own connections." = traffic.answers;
    counter timeouts "Requests that timed out on the client's own connections." = traffic.timeouts;
    counter refused "Requests refused because the connections and the queue were full." = traffic.refused;
    counter late_answers "Answers that arrived for abandoned requests." = traffic.late_answers;
    counter bytes_sent "Bytes of requests written by the client's own connections." = traffic.bytes_sent;
    counter bytes_received "Bytes of answers read by the client's own connections." = traffic.bytes_received;
    gauge open_connections "Open connections." = counters.connections_open;
    gauge connections_in_use "Connections in use." = counters.connections_in_use;
    gauge connections_in_pool "Idle connections." = counters.connections_in_pool;
    gauge connections_recovering "Connections that wait for answers to abandoned requests." = counters.connections_recovering;
    gauge error_rate "Failures in the current window of the circuit breaker." = counters.error_rate;
};

/// A histogram that each kind of commands has, by namespace.
pub(super) struct Distribution {
    pub(super) name: &'static str,
    pub(super) help: &'static str,
    /// Its values are times, in the unit of the snapshot.
    pub(super) is_time: bool,
    pub(super) of: fn(&CommandMetric) -> &Histogram,
}

pub(super) const DISTRIBUTIONS: &[Distribution] = &[
    Distribution {
        name: "command_duration_seconds",
        help: "How long answers took from the beginning of the attempt, failures included.",
        is_time: true,
        of: |metric| &metric.latency,
    },
    Distribution {
        name: "connection_wait_seconds",
        help: "How long requests waited until they were put on a connection.",
        is_time: true,
        of: |metric| &metric.connection_aq,
    },
    Distribution {
        name: "request_size_bytes",
        help: "Sizes of requests.",
        is_time: false,
        of: |metric| &metric.bytes_sent,
    },
    Distribution {
        name: "response_size_bytes",
        help: "Sizes of answers.",
        is_time: false,
        of: |metric| &metric.bytes_received,
    },
];

/// What was measured of one kind of commands in one namespace.
pub(super) struct Measured<'a> {
    pub(super) namespace: &'a str,
    /// `get`, `batch_read`, ...
    pub(super) command: String,
    pub(super) metric: &'a CommandMetric,
    /// `OK`, `KEY_NOT_FOUND_ERROR`, ..., in order.
    pub(super) results: Vec<(String, u64)>,
}

/// All that was measured, by namespace and kind.
pub(super) fn measured(metrics: &ClusterMetrics) -> Vec<Measured<'_>> {
    let all = &metrics.cluster_aggregated;
    let mut found = Vec::new();
    for namespace in all.detailed_namespaces() {
        for kind in (1..COMMAND_TYPE_COUNT).map(CommandType::from_index) {
            let Some(metric) = all.detailed_metric(namespace, kind) else { continue };
            let codes = all.result_codes(namespace, kind).filter(|(_, count)| *count > 0);
            let mut results: Vec<_> = codes.map(|(code, count)| (code_name(code), count)).collect();
            results.sort();
            found.push(Measured { namespace, command: snake(kind), metric, results });
        }
    }
    found
}

/// How many seconds one unit of the snapshot's times has.
pub(super) const fn unit_seconds(unit: LatencyUnit) -> f64 {
    match unit {
        LatencyUnit::Microseconds => 1e-6,
        LatencyUnit::Milliseconds => 1e-3,
    }
}

/// The upper ends of a histogram's buckets but the last, and how many values each has. Times are cut off to whole units: what
/// counts as 3 µs may have taken almost 4.
pub(super) fn buckets(histogram: &Histogram, is_time: bool) -> impl Iterator<Item = (u64, u64)> {
    let bound = move |(index, count): (usize, &u64)| Some((histogram.upper_bound(index)? + u64::from(is_time), *count));
    histogram.buckets().iter().enumerate().filter_map(bound)
}

fn code_name(code: ResultCode) -> String {
    match code {
        ResultCode::Unknown(code) => code.to_string(),
        code => snake(code).to_uppercase(),
    }
}

/// `BatchRead` as `batch_read`.
fn snake(variant: impl Debug) -> String {
    let mut name = String::new();
    for letter in format!("{variant:?}").chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    name
}
