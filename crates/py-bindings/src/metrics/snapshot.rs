//! What was measured.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use aerolane::ResultCode;
use aerolane::metrics as core;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::histogram::Histogram;
use super::{canonical, dict};
use crate::policy::enums::Named;

/// The requests of one kind to one namespace. Each attempt counts.
#[pyclass(frozen, eq, module = "aerolane.native")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CommandMetric(core::CommandMetric);

#[pymethods]
impl CommandMetric {
    /// How long requests waited for room on a connection. Most do not wait.
    #[getter]
    fn connection_aq(&self) -> Histogram {
        Histogram(self.0.connection_aq.clone())
    }

    /// The time from the start of an attempt to its answer, including answers that report a failure.
    #[getter]
    fn latency(&self) -> Histogram {
        Histogram(self.0.latency.clone())
    }

    /// How long it took to parse answers, only for calls that aerospike-core carries out. Other answers are parsed when
    /// they are used, which may be never.
    #[getter]
    fn parsing(&self) -> Histogram {
        Histogram(self.0.parsing.clone())
    }

    /// The sizes of requests in bytes.
    #[getter]
    fn bytes_sent(&self) -> Histogram {
        Histogram(self.0.bytes_sent.clone())
    }

    /// The sizes of answers in bytes.
    #[getter]
    fn bytes_received(&self) -> Histogram {
        Histogram(self.0.bytes_received.clone())
    }

    fn __repr__(&self) -> String {
        let latency = &self.0.latency;
        format!("CommandMetric(count={}, average_latency={:.2})", latency.count(), latency.average())
    }
}

/// The metrics of one node, or of all.
///
/// Counters of connections, retries and bytes start when the client is created, whether metrics are on or not. Those of
/// the tend thread (`tends_*`, `partition_map_updates`, `node_*`) count while metrics are on, histograms and result
/// codes while they are on with `MetricsPolicy.operational`.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct NodeMetricsSnapshot(Arc<core::NodeMetricsSnapshot>);

macro_rules! node_metrics {
    (
        { $($(#[doc = $doc:literal])* $name:ident = $($path:ident).+;)* }
        $($rest:tt)*
    ) => {
        #[pymethods]
        impl NodeMetricsSnapshot {
            $(
                $(#[doc = $doc])*
                #[getter]
                fn $name(&self) -> u64 {
                    self.0.$($path).+
                }
            )*

            $($rest)*
        }
    };
}

node_metrics! {
    {
        /// Gauge: open connections, including those being opened.
        open_connections = counters.connections_open;
        /// Attempts to open a connection.
        connections_attempts = counters.connections_attempts;
        /// Connections that were opened.
        connections_successful = counters.connections_successful;
        /// Connections that could not be opened.
        connections_failed = counters.connections_failed;
        /// Connections that could not be opened in time.
        connections_timeout_errors = counters.connections_timeout_errors;
        /// Connections that could not be opened for any other reason.
        connections_other_errors = counters.connections_other_errors;
        /// Connections that could not be opened because the TLS handshake failed.
        connections_tls_errors = counters.connections_tls_errors;
        /// Connections that could not be opened because the credentials were refused.
        connections_auth_errors = counters.connections_auth_errors;
        /// Requests that were not sent because the node's circuit breaker was open.
        circuit_breaker_hits = counters.circuit_breaker_hits;
        /// Requests that waited because no connection was free or had room.
        connections_pool_empty = counters.connections_pool_empty;
        /// Connections that were closed because the pool had no room for them.
        connections_pool_overflow = counters.connections_pool_overflow;
        /// Connections that were closed because they had been idle for too long.
        connections_idle_dropped = counters.connections_idle_dropped;
        /// Gauge: connections in use, or being opened.
        connections_in_use = counters.connections_in_use;
        /// Gauge: idle connections.
        connections_in_pool = counters.connections_in_pool;
        /// Connections that were closed, for any reason.
        connections_closed = counters.connections_closed;
        /// Connections that were lost, or were closed after a failure.
        connections_closed_error = counters.connections_closed_error;
        /// Connections that were closed because the node had left the cluster.
        connections_closed_node_removed = counters.connections_closed_node_removed;
        /// Gauge: connections that are still reading answers that nobody waits for any more.
        connections_recovering = counters.connections_recovering;
        /// How often the tend thread asked the node for its state.
        tends_total = counters.tends_total;
        /// How often the node answered the tend thread.
        tends_successful = counters.tends_successful;
        /// How often the node did not answer the tend thread.
        tends_failed = counters.tends_failed;
        /// How often the node's part of the partition map changed.
        partition_map_updates = counters.partition_map_updates;
        /// How often the node joined the cluster.
        node_added = counters.node_added;
        /// How often the node left the cluster.
        node_removed = counters.node_removed;
        /// Retries.
        transaction_retry_count = counters.transaction_retry_count;
        /// Calls that failed for good on this node while calls were measured, including those whose record does not
        /// exist.
        transaction_error_count = counters.transaction_error_count;
        /// Gauge: failures in the current window of the circuit breaker. 0 while `ClientPolicy.max_error_rate` is 0.
        error_rate = counters.error_rate;
        /// Requests accepted by the client's own connections.
        requests = traffic.requests;
        /// Requests answered on the client's own connections.
        answers = traffic.answers;
        /// Requests that timed out on the client's own connections.
        timeouts = traffic.timeouts;
        /// Requests that the client refused because all connections and queues were full.
        refused = traffic.refused;
        /// Answers that arrived after their callers had given up.
        late_answers = traffic.late_answers;
        /// Bytes of requests written to the client's own connections. (For queries and calls that aerospike-core
        /// carries out, see `sum` of `detailed_metric(..).bytes_sent`.)
        bytes_sent = traffic.bytes_sent;
        /// Bytes of answers read from the client's own connections.
        bytes_received = traffic.bytes_received;
    }

    /// The unit of all times, a `LatencyUnit`.
    #[getter]
    fn latency_unit(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.0.latency_unit.to_python(py)
    }

    /// The labels of the policy and the names of the cluster and the application, as a list of dicts. Only in the
    /// snapshot of all nodes.
    #[getter]
    fn labels(&self) -> Vec<HashMap<String, String>> {
        self.0.labels.entries().to_vec()
    }

    /// How long it took to open connections (TCP, TLS, login), without those of aerospike-core.
    #[getter]
    fn connection_opening(&self) -> Histogram {
        Histogram(self.0.connection_opening.clone())
    }

    /// The latencies of one kind of call (a `CommandType`) in all namespaces; `None` for `CommandType.NONE`.
    fn command_histogram(&self, command_type: &Bound<'_, PyAny>) -> PyResult<Option<Histogram>> {
        Ok(self.0.command_histogram(kind(command_type)?).cloned().map(Histogram))
    }

    /// The latencies of a group of calls (a `LatencyType`) in all namespaces.
    fn latency(&self, latency_type: &Bound<'_, PyAny>) -> PyResult<Histogram> {
        Ok(Histogram(self.0.latency(core::LatencyType::from_python(latency_type, "latency_type")?)))
    }

    /// The measurements of one kind of call in a namespace: a `CommandMetric`, or `None` if nothing was measured.
    fn detailed_metric(&self, namespace: &str, command_type: &Bound<'_, PyAny>) -> PyResult<Option<CommandMetric>> {
        Ok(self.0.detailed_metric(namespace, kind(command_type)?).cloned().map(CommandMetric))
    }

    /// How often one kind of call in a namespace was answered with a result code.
    fn result_code_count(&self, namespace: &str, command_type: &Bound<'_, PyAny>, result_code: i64) -> PyResult<u64> {
        let kind = kind(command_type)?;
        // Codes of the client are no answers.
        Ok(u8::try_from(result_code)
            .map_or(0, |code| self.0.result_code_count(namespace, kind, ResultCode::from(code))))
    }

    /// The namespaces for which something was measured.
    fn detailed_namespaces(&self) -> Vec<&str> {
        self.0.detailed_namespaces()
    }

    /// The snapshot as a dict of plain values, with the names that other clients export.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict::node(py, &self.0)
    }

    fn __repr__(&self) -> String {
        let requests: u64 = self.0.traffic.requests;
        let unit = self.0.latency_unit.as_str();
        format!("NodeMetricsSnapshot(latency_unit={unit}, open_connections={}, requests={requests})", self.0.open_connections())
    }
}

fn kind(command_type: &Bound<'_, PyAny>) -> PyResult<core::CommandType> {
    core::CommandType::from_python(command_type, "command_type")
}

/// A snapshot of a client's metrics, for all its connections and event loops together.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct ClusterMetrics {
    metrics: core::ClusterMetrics,
    /// Whether metrics were on.
    enabled: bool,
    nodes: Py<PyDict>,
    all: Py<NodeMetricsSnapshot>,
}

impl ClusterMetrics {
    pub(super) const fn measured(&self) -> &core::ClusterMetrics {
        &self.metrics
    }

    pub(super) fn new(py: Python<'_>, metrics: core::ClusterMetrics, enabled: bool) -> PyResult<Self> {
        let nodes = PyDict::new(py);
        for (host, node) in &metrics.nodes {
            nodes.set_item(host, Py::new(py, NodeMetricsSnapshot(Arc::new(node.clone())))?)?;
        }
        let all = Py::new(py, NodeMetricsSnapshot(Arc::new(metrics.cluster_aggregated.clone())))?;
        Ok(Self { metrics, enabled, nodes: nodes.unbind(), all })
    }
}

#[pymethods]
impl ClusterMetrics {
    /// The metrics of each node (`NodeMetricsSnapshot`) by its address, `"host:port"`. Nodes that have left the cluster
    /// stay.
    #[getter]
    fn nodes(&self, py: Python<'_>) -> Py<PyDict> {
        self.nodes.clone_ref(py)
    }

    /// The metrics of all nodes together.
    #[getter]
    fn cluster_aggregated(&self, py: Python<'_>) -> Py<NodeMetricsSnapshot> {
        self.all.clone_ref(py)
    }

    /// The number of nodes of the cluster.
    #[getter]
    fn total_nodes(&self) -> usize {
        self.metrics.total_nodes
    }

    /// Gauge: open connections.
    #[getter]
    fn open_connections(&self) -> u64 {
        self.metrics.open_connections
    }

    /// Gauge: connections in use.
    #[getter]
    fn connections_in_use(&self) -> u64 {
        self.metrics.connections_in_use
    }

    /// Gauge: idle connections.
    #[getter]
    fn connections_in_pool(&self) -> u64 {
        self.metrics.connections_in_pool
    }

    /// Gauge: connections that are still reading answers that nobody waits for any more.
    #[getter]
    fn recover_queue_size(&self) -> u64 {
        self.metrics.recover_queue_size
    }

    /// How often a host that a node reported turned out not to be a usable node. Counted while metrics are on.
    #[getter]
    fn nodes_invalid(&self) -> u64 {
        self.metrics.nodes_invalid
    }

    /// Calls that failed because they used up the retries of their policy.
    #[getter]
    fn exceeded_max_retries(&self) -> u64 {
        self.metrics.exceeded_max_retries
    }

    /// Calls that failed because their total timeout passed.
    #[getter]
    fn exceeded_total_timeout(&self) -> u64 {
        self.metrics.exceeded_total_timeout
    }

    /// The latencies of a group of calls (a `LatencyType`) on one node (its address, as in `nodes`), or on all nodes if
    /// it is `None`. Raises `KeyError` for an unknown node.
    #[pyo3(signature = (latency_type, node=None))]
    fn latency(&self, latency_type: &Bound<'_, PyAny>, node: Option<&str>) -> PyResult<Histogram> {
        let latency_type = core::LatencyType::from_python(latency_type, "latency_type")?;
        let of = match node {
            None => &self.metrics.cluster_aggregated,
            Some(node) => self.metrics.nodes.get(node).ok_or_else(|| PyKeyError::new_err(node.to_owned()))?,
        };
        Ok(Histogram(of.latency(latency_type)))
    }

    /// Whether metrics were on when the snapshot was taken.
    #[getter]
    fn metrics_enabled(&self) -> bool {
        self.enabled
    }

    /// Whether calls were measured, too, not only connections.
    #[getter]
    fn operational_metrics_enabled(&self) -> bool {
        self.enabled && canonical::measured(&self.metrics)
    }

    /// Whether the use of features was counted, which happens whenever calls are measured.
    #[getter]
    fn usage_metrics_enabled(&self) -> bool {
        self.operational_metrics_enabled()
    }

    /// Retries, on all nodes.
    #[getter]
    fn command_retries(&self) -> u64 {
        self.metrics.cluster_aggregated.counters.transaction_retry_count
    }

    /// Calls that were answered while calls were measured (`MetricsPolicy.operational`). A batch or a query counts once
    /// for each node that it was sent to.
    #[getter]
    fn command_count(&self) -> u64 {
        self.metrics.command_count()
    }

    /// The number of measured requests by feature: `{"feature.shape.point": 42}`. Shapes are `point`, `batch` and
    /// `query`; `feature.udf.record` counts functions on one record. Retries are included.
    #[getter]
    fn usage(&self) -> BTreeMap<&'static str, u64> {
        self.metrics.usage()
    }

    /// The snapshot as a document for exporters (JSON, OpenTelemetry, Prometheus) in the format that Aerospike's SDKs
    /// share: who measured what and when, and figures by cluster, node and namespace. `operational_metrics_enabled`
    /// says whether calls were measured. `nodes` are the active nodes; in a snapshot passed to an exporter,
    /// `nodes_departed` are the nodes that have left since the previous one.
    fn to_canonical_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        canonical::document(py, &self.metrics, self.enabled)
    }

    /// The snapshot as a dict of plain values, for exporters: each node under its address, all nodes together under
    /// `"cluster_aggregated_metrics"`, and the figures of the cluster under their names.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict::cluster(py, &self.metrics)
    }

    fn __repr__(&self) -> String {
        let (nodes, open) = (self.metrics.total_nodes, self.metrics.open_connections);
        format!("ClusterMetrics(total_nodes={nodes}, open_connections={open})")
    }
}
