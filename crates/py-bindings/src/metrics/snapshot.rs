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

/// The requests of one kind in one namespace. Each attempt counts.
#[pyclass(frozen, eq, module = "aerolane.native")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CommandMetric(core::CommandMetric);

#[pymethods]
impl CommandMetric {
    /// How long requests waited until they were put on a connection. Most do not wait.
    #[getter]
    fn connection_aq(&self) -> Histogram {
        Histogram(self.0.connection_aq.clone())
    }

    /// How long answers took, from the beginning of the attempt on; also those that say that the call failed.
    #[getter]
    fn latency(&self) -> Histogram {
        Histogram(self.0.latency.clone())
    }

    /// How long it took to parse answers: only of calls that aerospike-core carries out. Others are parsed where they are
    /// used, some of them never.
    #[getter]
    fn parsing(&self) -> Histogram {
        Histogram(self.0.parsing.clone())
    }

    /// Sizes of requests, in bytes.
    #[getter]
    fn bytes_sent(&self) -> Histogram {
        Histogram(self.0.bytes_sent.clone())
    }

    /// Sizes of answers, in bytes.
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
/// Counters of connections, retries and bytes count from the making of the client on, whether metrics are on or not;
/// those of the tend thread (`tends_*`, `partition_map_updates`, `node_*`) while they are on; histograms and result codes
/// while they are on with `MetricsPolicy.operational`.
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
        /// Gauge: open connections, those that are being opened included.
        open_connections = counters.connections_open;
        /// How often a connection was opened or was to be.
        connections_attempts = counters.connections_attempts;
        /// Connections that were opened.
        connections_successful = counters.connections_successful;
        /// Connections that could not be opened.
        connections_failed = counters.connections_failed;
        /// Of these, those that took too long.
        connections_timeout_errors = counters.connections_timeout_errors;
        /// Of these, those that failed for another reason.
        connections_other_errors = counters.connections_other_errors;
        /// Of these, those whose TLS handshake failed.
        connections_tls_errors = counters.connections_tls_errors;
        /// Of these, those whose credentials were refused.
        connections_auth_errors = counters.connections_auth_errors;
        /// Requests that were not sent because the node's circuit breaker was open.
        circuit_breaker_hits = counters.circuit_breaker_hits;
        /// Requests that found no free connection, or no room on one, and waited.
        connections_pool_empty = counters.connections_pool_empty;
        /// Connections that were closed because the pool had no room for them.
        connections_pool_overflow = counters.connections_pool_overflow;
        /// Connections that were closed because they had been idle for long.
        connections_idle_dropped = counters.connections_idle_dropped;
        /// Gauge: connections in use, or being opened.
        connections_in_use = counters.connections_in_use;
        /// Gauge: connections at rest.
        connections_in_pool = counters.connections_in_pool;
        /// Connections that were closed, for any reason.
        connections_closed = counters.connections_closed;
        /// Connections that were lost, or were closed after a failure.
        connections_closed_error = counters.connections_closed_error;
        /// Connections that were closed because the node had left the cluster.
        connections_closed_node_removed = counters.connections_closed_node_removed;
        /// Gauge: connections that still wait for answers which nobody wants any more.
        connections_recovering = counters.connections_recovering;
        /// How often the tend thread asked the node for its state.
        tends_total = counters.tends_total;
        /// How often it was told.
        tends_successful = counters.tends_successful;
        /// How often it was not.
        tends_failed = counters.tends_failed;
        /// How often the node's part of the partition map changed.
        partition_map_updates = counters.partition_map_updates;
        /// How often the node became part of the cluster.
        node_added = counters.node_added;
        /// How often it left the cluster.
        node_removed = counters.node_removed;
        /// Attempts that were not the first one of their call.
        transaction_retry_count = counters.transaction_retry_count;
        /// Calls that failed for good at this node while they were measured, a record that does not exist included.
        transaction_error_count = counters.transaction_error_count;
        /// Gauge: failures in the present window of the circuit breaker. 0 while `ClientPolicy.max_error_rate` is 0.
        error_rate = counters.error_rate;
        /// Requests that were taken by our own connections.
        requests = traffic.requests;
        /// Requests that were answered on our own connections.
        answers = traffic.answers;
        /// Requests whose time was over on our own connections.
        timeouts = traffic.timeouts;
        /// Requests that were refused because everything was full.
        refused = traffic.refused;
        /// Answers that came when nobody wanted them any more.
        late_answers = traffic.late_answers;
        /// Bytes of requests written by our own connections. (Queries and what aerospike-core carries out: `sum` of
        /// `detailed_metric(..).bytes_sent`.)
        bytes_sent = traffic.bytes_sent;
        /// Bytes of answers read by our own connections.
        bytes_received = traffic.bytes_received;
    }

    /// The unit of all times: a `LatencyUnit`.
    #[getter]
    fn latency_unit(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.0.latency_unit.to_python(py)
    }

    /// The labels of the policy, with the name of the cluster and of the application: a list of dicts. Only with all nodes
    /// together.
    #[getter]
    fn labels(&self) -> Vec<HashMap<String, String>> {
        self.0.labels.entries().to_vec()
    }

    /// How long it took to open connections (TCP, TLS, login), those of aerospike-core not included.
    #[getter]
    fn connection_opening(&self) -> Histogram {
        Histogram(self.0.connection_opening.clone())
    }

    /// The latencies of a kind of calls (a `CommandType`) in all namespaces; `None` for `CommandType.NONE`.
    fn command_histogram(&self, command_type: &Bound<'_, PyAny>) -> PyResult<Option<Histogram>> {
        Ok(self.0.command_histogram(kind(command_type)?).cloned().map(Histogram))
    }

    /// The latencies of several kinds of calls together (a `LatencyType`), in all namespaces.
    fn latency(&self, latency_type: &Bound<'_, PyAny>) -> PyResult<Histogram> {
        Ok(Histogram(self.0.latency(core::LatencyType::from_python(latency_type, "latency_type")?)))
    }

    /// What was measured of a kind of calls in a namespace: a `CommandMetric`, `None` if nothing was.
    fn detailed_metric(&self, namespace: &str, command_type: &Bound<'_, PyAny>) -> PyResult<Option<CommandMetric>> {
        Ok(self.0.detailed_metric(namespace, kind(command_type)?).cloned().map(CommandMetric))
    }

    /// How often a result code was the answer to a kind of calls in a namespace.
    fn result_code_count(&self, namespace: &str, command_type: &Bound<'_, PyAny>, result_code: i64) -> PyResult<u64> {
        let kind = kind(command_type)?;
        // Codes of the client are no answers.
        Ok(u8::try_from(result_code)
            .map_or(0, |code| self.0.result_code_count(namespace, kind, ResultCode::from(code))))
    }

    /// The namespaces of which something was measured.
    fn detailed_namespaces(&self) -> Vec<&str> {
        self.0.detailed_namespaces()
    }

    /// All of it as a dict of plain values, with the names of the other clients' exports.
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

/// The metrics of a client at one moment, of all its connections and event loops together.
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

    /// How many nodes the cluster has.
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

    /// Gauge: connections at rest.
    #[getter]
    fn connections_in_pool(&self) -> u64 {
        self.metrics.connections_in_pool
    }

    /// Gauge: connections that still wait for answers which nobody wants any more.
    #[getter]
    fn recover_queue_size(&self) -> u64 {
        self.metrics.recover_queue_size
    }

    /// How often a host that another node named could not be taken for a node. Counted while metrics are on.
    #[getter]
    fn nodes_invalid(&self) -> u64 {
        self.metrics.nodes_invalid
    }

    /// Calls that failed because they were tried as often as their policy allows.
    #[getter]
    fn exceeded_max_retries(&self) -> u64 {
        self.metrics.exceeded_max_retries
    }

    /// Calls that failed because their total time was over.
    #[getter]
    fn exceeded_total_timeout(&self) -> u64 {
        self.metrics.exceeded_total_timeout
    }

    /// The latencies of several kinds of calls together (a `LatencyType`), at a node (its address, as in `nodes`) or, with
    /// `None`, at all. Raises `KeyError` for a node that is not there.
    #[pyo3(signature = (latency_type, node=None))]
    fn latency(&self, latency_type: &Bound<'_, PyAny>, node: Option<&str>) -> PyResult<Histogram> {
        let latency_type = core::LatencyType::from_python(latency_type, "latency_type")?;
        let of = match node {
            None => &self.metrics.cluster_aggregated,
            Some(node) => self.metrics.nodes.get(node).ok_or_else(|| PyKeyError::new_err(node.to_owned()))?,
        };
        Ok(Histogram(of.latency(latency_type)))
    }

    /// Whether metrics were on at this moment.
    #[getter]
    fn metrics_enabled(&self) -> bool {
        self.enabled
    }

    /// Whether calls were measured, and not only connections.
    #[getter]
    fn operational_metrics_enabled(&self) -> bool {
        self.enabled && canonical::measured(&self.metrics)
    }

    /// Whether it was counted which features are used: it is where calls are measured.
    #[getter]
    fn usage_metrics_enabled(&self) -> bool {
        self.operational_metrics_enabled()
    }

    /// Attempts that were not the first one of their call, at all nodes.
    #[getter]
    fn command_retries(&self) -> u64 {
        self.metrics.cluster_aggregated.counters.transaction_retry_count
    }

    /// Calls that were answered while they were measured (`MetricsPolicy.operational`). A batch or a query counts once for
    /// each node that it went to.
    #[getter]
    fn command_count(&self) -> u64 {
        self.metrics.command_count()
    }

    /// Requests by what they were, as far as they were measured: `{"feature.shape.point": 42}`. Shapes are `point`, `batch`
    /// and `query`; `feature.udf.record` counts functions on one record. Retries are included.
    #[getter]
    fn usage(&self) -> BTreeMap<&'static str, u64> {
        self.metrics.usage()
    }

    /// All of it as a document for exporters (JSON, OpenTelemetry, Prometheus) of the shape that the SDKs for Aerospike
    /// share: who measured what when, and figures by cluster, by node and by namespace. `operational_metrics_enabled` says
    /// whether calls were measured. `nodes` are the active nodes; in a snapshot that an exporter gets, `nodes_departed` are
    /// those that have left since the one before.
    fn to_canonical_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        canonical::document(py, &self.metrics, self.enabled)
    }

    /// All of it as a dict of plain values, for exporters: by node under its address, all nodes together under
    /// `"cluster_aggregated_metrics"`, and the figures of the cluster under their names.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict::cluster(py, &self.metrics)
    }

    fn __repr__(&self) -> String {
        let (nodes, open) = (self.metrics.total_nodes, self.metrics.open_connections);
        format!("ClusterMetrics(total_nodes={nodes}, open_connections={open})")
    }
}
