//! What `client.metrics()` gives.

use std::collections::{BTreeMap, HashMap};
use std::time::SystemTime;

use aerospike_core::ResultCode;
use aerospike_core::metrics::COMMAND_TYPE_COUNT;

use super::histogram::Histogram;
use super::measured::{Measured, Requests};
use super::opening::Opened;
use super::{CommandType, Counters, Labels, LatencyUnit, MetricsPolicy};
use crate::client::ConnectionStats;
use crate::lane::NodeCounters;

/// The metrics of a client at one moment: `client.metrics()`.
///
/// What goes over its own connections and what aerospike-core carries out, together. Sums over nodes and lanes are not
/// taken at one instant: calls that end meanwhile may be in one of them and not yet in another.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClusterMetrics {
    /// By node, under its address (`host:port`). Nodes that have left the cluster stay, with no open connections.
    pub nodes: HashMap<String, NodeMetricsSnapshot>,
    /// All nodes together. Has the labels.
    pub cluster_aggregated: NodeMetricsSnapshot,
    /// How many nodes are part of the cluster.
    pub total_nodes: usize,
    /// Gauge: open connections.
    pub open_connections: u64,
    /// Gauge: of these, those that are in use.
    pub connections_in_use: u64,
    /// Gauge: of these, those at rest.
    pub connections_in_pool: u64,
    /// Gauge: connections that still wait for answers which nobody wants any more.
    pub recover_queue_size: u64,
    /// How often a host that another node named could not be taken for a node. Counted while metrics are on.
    pub nodes_invalid: u64,
    /// Calls that failed because they were tried as often as their policy allows.
    pub exceeded_max_retries: u64,
    /// Calls that failed because their total time was over.
    pub exceeded_total_timeout: u64,
    /// Addresses of the nodes that have left the cluster since the snapshot before, in those that an exporter gets. Otherwise
    /// none.
    pub departed: Vec<String>,
    /// When it was taken.
    pub taken_at: SystemTime,
    /// How much of a processor the whole process has used since the snapshot before, in percent.
    pub cpu_percent: f64,
    /// The memory that the whole process occupies, in bytes; 0 on systems other than Linux.
    pub memory_bytes: u64,
}

impl ClusterMetrics {
    /// What this client is to those who collect metrics of several.
    pub const CLIENT_TYPE: &'static str = "aerolane";
    /// The name of an application that has not said any.
    pub const NO_APP_ID: &'static str = "not-set";
}

/// The metrics of one node, or of all.
///
/// The counters of connections and retries count from the making of the client, those of the tend thread (`tends_*`,
/// `partition_map_updates`, `node_*`) while metrics are on, histograms and result codes while they are on with
/// [`MetricsPolicy::operational`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NodeMetricsSnapshot {
    /// The node's name; empty with all nodes together.
    pub name: String,
    /// Whether the node is part of the cluster; false with all nodes together.
    pub is_active: bool,
    /// The unit of all times in the histograms.
    pub latency_unit: LatencyUnit,
    /// The labels of the policy; only with all nodes together.
    pub labels: Labels,
    /// Counters and gauges, by aerospike-core's names.
    pub counters: Counters,
    /// What the client's own connections do and have done: requests, bytes, timeouts, ...
    pub traffic: ConnectionStats,
    /// How long it took to open connections, the login included.
    pub connection_opening: Histogram,
    /// By kind.
    commands: Vec<Histogram>,
    detailed: BTreeMap<String, BTreeMap<usize, CommandMetric>>,
    result_codes: HashMap<(String, usize), HashMap<ResultCode, u64>>,
    shape: (u32, usize),
}

/// The requests of one kind in one namespace. Each attempt counts.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CommandMetric {
    /// How long they waited until they were put on a connection; most do not wait.
    pub connection_aq: Histogram,
    /// How long their answers took: from the beginning of the attempt to the arrival of its (last) bytes. Answers that
    /// say that the call failed count, too. Those of several requests that come at once have the same end.
    pub latency: Histogram,
    /// How long it took to parse answers: of what aerospike-core carries out. Ours are parsed where they are used.
    pub parsing: Histogram,
    /// Sizes of requests, in bytes.
    pub bytes_sent: Histogram,
    /// Sizes of answers, in bytes.
    pub bytes_received: Histogram,
}

impl CommandMetric {
    fn new((shift, columns): (u32, usize)) -> Self {
        let [connection_aq, latency, parsing, bytes_sent, bytes_received] =
            std::array::from_fn(|_| Histogram::new(shift, columns));
        Self { connection_aq, latency, parsing, bytes_sent, bytes_received }
    }

    fn merge(&mut self, other: &Self) {
        self.connection_aq.merge(&other.connection_aq);
        self.latency.merge(&other.latency);
        self.parsing.merge(&other.parsing);
        self.bytes_sent.merge(&other.bytes_sent);
        self.bytes_received.merge(&other.bytes_received);
    }
}

/// Kinds of latencies, several kinds of calls together: for [`NodeMetricsSnapshot::latency`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LatencyType {
    /// How long calls of all kinds waited for a place on a connection.
    Conn,
    /// Calls that write: `Put`, `Delete`, `Operate`, `Udf`.
    Write,
    /// Calls that read: `Get`, `GetHeader`, `Exists`.
    Read,
    /// Requests of batches: `BatchRead`, `BatchWrite`.
    Batch,
    /// Requests of queries: `Query`, `Scan`.
    Query,
}

impl NodeMetricsSnapshot {
    /// An empty one, in the shape that the policy asks for.
    pub(crate) fn new(policy: &MetricsPolicy) -> Self {
        let shape = (policy.latency_shift, policy.latency_columns);
        let empty = Histogram::new(shape.0, shape.1);
        Self {
            name: String::new(),
            is_active: false,
            latency_unit: policy.latency_unit,
            labels: Labels::new(),
            counters: Counters::default(),
            traffic: ConnectionStats::default(),
            connection_opening: empty.clone(),
            commands: vec![empty; COMMAND_TYPE_COUNT],
            detailed: BTreeMap::new(),
            result_codes: HashMap::new(),
            shape,
        }
    }

    /// The latencies of a kind of calls, in all namespaces; `None` for [`CommandType::None`].
    #[must_use]
    pub fn command_histogram(&self, kind: CommandType) -> Option<&Histogram> {
        (kind != CommandType::None).then(|| &self.commands[kind.index()])
    }

    /// The latencies of several kinds of calls together, in all namespaces.
    #[must_use]
    pub fn latency(&self, latency_type: LatencyType) -> Histogram {
        let kinds: &[CommandType] = match latency_type {
            LatencyType::Conn => {
                let mut all = Histogram::new(self.shape.0, self.shape.1);
                for metric in self.detailed.values().flat_map(BTreeMap::values) {
                    all.merge(&metric.connection_aq);
                }
                return all;
            }
            LatencyType::Write => &[CommandType::Put, CommandType::Delete, CommandType::Operate, CommandType::Udf],
            LatencyType::Read => &[CommandType::Get, CommandType::GetHeader, CommandType::Exists],
            LatencyType::Batch => &[CommandType::BatchRead, CommandType::BatchWrite],
            LatencyType::Query => &[CommandType::Query, CommandType::Scan],
        };
        let mut all = Histogram::new(self.shape.0, self.shape.1);
        for kind in kinds {
            all.merge(&self.commands[kind.index()]);
        }
        all
    }

    /// What was measured of a kind of calls in a namespace, if anything was.
    #[must_use]
    pub fn detailed_metric(&self, namespace: &str, kind: CommandType) -> Option<&CommandMetric> {
        self.detailed.get(namespace)?.get(&kind.index())
    }

    /// How often this result code was the answer to a kind of calls in a namespace.
    #[must_use]
    pub fn result_code_count(&self, namespace: &str, kind: CommandType, result_code: ResultCode) -> u64 {
        let counts = self.result_codes.get(&(namespace.to_owned(), kind.index()));
        counts.and_then(|counts| counts.get(&result_code)).copied().unwrap_or(0)
    }

    /// All result codes of a kind of calls in a namespace, in no order.
    pub fn result_codes(&self, namespace: &str, kind: CommandType) -> impl Iterator<Item = (ResultCode, u64)> {
        let counts = self.result_codes.get(&(namespace.to_owned(), kind.index()));
        counts.into_iter().flatten().map(|(code, count)| (*code, *count))
    }

    /// The namespaces of which something was measured, in order.
    #[must_use]
    pub fn detailed_namespaces(&self) -> Vec<&str> {
        self.detailed.keys().map(String::as_str).collect()
    }

    /// Gauge: open connections.
    #[must_use]
    pub const fn open_connections(&self) -> u64 {
        self.counters.connections_open
    }

    /// Gauge: connections in use.
    #[must_use]
    pub const fn connections_in_use(&self) -> u64 {
        self.counters.connections_in_use
    }

    /// Gauge: connections at rest.
    #[must_use]
    pub const fn connections_in_pool(&self) -> u64 {
        self.counters.connections_in_pool
    }

    /// Gauge: connections that still wait for answers which nobody wants any more.
    #[must_use]
    pub const fn connections_recovering(&self) -> u64 {
        self.counters.connections_recovering
    }

    /// Gauge: failures in the present window of the circuit breaker.
    #[must_use]
    pub const fn error_rate(&self) -> u64 {
        self.counters.error_rate
    }

    /// Adds what our recorders hold.
    pub(crate) fn add_measured(&mut self, measured: &Measured, name_of: impl Fn(usize) -> String) {
        let (shift, columns) = self.shape;
        let shaped = |fine: &Histogram| fine.shaped(shift, columns);
        for (&(namespace, kind), requests) in &measured.0 {
            let Requests { latency, bytes_sent, bytes_received, result_codes, .. } = requests;
            let metric = CommandMetric {
                connection_aq: shaped(&requests.connection_aq()),
                latency: shaped(latency),
                parsing: Histogram::new(shift, columns),
                bytes_sent: shaped(bytes_sent),
                bytes_received: shaped(bytes_received),
            };
            let codes = result_codes.iter().map(|(code, count)| (ResultCode::from(*code), *count));
            let latency = metric.latency.clone();
            self.add(&name_of(namespace), kind, &metric, &latency, codes);
        }
    }

    /// Adds what our connections do and have done.
    pub(crate) fn add_traffic(&mut self, node: &NodeCounters, traffic: &ConnectionStats) {
        let counters = &mut self.counters;
        counters.connections_open += node.open + node.opening;
        counters.connections_in_pool += node.idle;
        counters.connections_in_use += (node.open + node.opening).saturating_sub(node.idle);
        counters.connections_recovering += node.recovering;
        counters.connections_pool_empty += node.waited;
        counters.connections_idle_dropped += node.closed_idle;
        counters.connections_closed += node.closed;
        counters.connections_closed_error += node.closed_error;
        counters.connections_closed_node_removed += node.closed_gone;
        self.traffic.add(traffic);
    }

    /// Adds how the opening of our connections went.
    pub(crate) fn add_openings(&mut self, opened: &Opened) {
        let counters = &mut self.counters;
        counters.connections_attempts += opened.successful + opened.failed();
        counters.connections_successful += opened.successful;
        counters.connections_failed += opened.failed();
        counters.connections_timeout_errors += opened.timeouts;
        counters.connections_tls_errors += opened.tls;
        counters.connections_auth_errors += opened.auth;
        counters.connections_other_errors += opened.other;
        self.connection_opening.merge(&opened.latency.shaped(self.shape.0, self.shape.1));
    }

    /// Adds what aerospike-core has measured.
    pub(crate) fn add_core(&mut self, core: &aerospike_core::metrics::NodeMetricsSnapshot) {
        add_counters(&mut self.counters, &core.counters);
        let kinds = (1..COMMAND_TYPE_COUNT).map(CommandType::from_index);
        for kind in kinds.clone() {
            if let Some(latency) = core.command_histogram(kind) {
                self.commands[kind.index()].merge(&latency.into());
            }
        }
        let empty = Histogram::new(self.shape.0, self.shape.1);
        for namespace in core.detailed_namespaces() {
            for kind in kinds.clone() {
                let Some(metric) = core.detailed_metric(namespace, kind) else { continue };
                let metric = CommandMetric {
                    connection_aq: (&metric.connection_aq).into(),
                    latency: (&metric.latency).into(),
                    parsing: (&metric.parsing).into(),
                    bytes_sent: (&metric.bytes_sent).into(),
                    bytes_received: (&metric.bytes_received).into(),
                };
                let codes = (0..=u8::MAX).map(ResultCode::from);
                let codes = codes.map(|code| (code, core.result_code_count(namespace, kind, code)));
                // Its latencies by kind are already in.
                self.add(namespace, kind.index(), &metric, &empty, codes.filter(|(_, count)| *count > 0));
            }
        }
    }

    fn add(
        &mut self,
        namespace: &str,
        kind: usize,
        metric: &CommandMetric,
        latency: &Histogram,
        codes: impl Iterator<Item = (ResultCode, u64)>,
    ) {
        self.commands[kind].merge(latency);
        let kinds = self.detailed.entry(namespace.to_owned()).or_default();
        kinds.entry(kind).or_insert_with(|| CommandMetric::new(self.shape)).merge(metric);
        let counts = self.result_codes.entry((namespace.to_owned(), kind)).or_default();
        for (code, count) in codes {
            *counts.entry(code).or_default() += count;
        }
    }

    /// Adds another node.
    pub(crate) fn aggregate(&mut self, other: &Self) {
        add_counters(&mut self.counters, &other.counters);
        self.traffic.add(&other.traffic);
        self.connection_opening.merge(&other.connection_opening);
        self.commands.iter_mut().zip(&other.commands).for_each(|(sum, histogram)| sum.merge(histogram));
        let empty = Histogram::new(self.shape.0, self.shape.1);
        for (namespace, kinds) in &other.detailed {
            for (kind, metric) in kinds {
                let codes = other.result_codes.get(&(namespace.clone(), *kind));
                let codes = codes.into_iter().flatten().map(|(code, count)| (*code, *count));
                self.add(namespace, *kind, metric, &empty, codes);
            }
        }
    }
}

fn add_counters(sum: &mut Counters, other: &Counters) {
    macro_rules! add {
        ($($name:ident)*) => {
            // Named one by one: a counter that is new in aerospike-core does not get lost.
            let Counters { $($name),* } = other;
            $(sum.$name += $name;)*
        };
    }
    add! {
        connections_attempts connections_successful connections_failed connections_timeout_errors
        connections_other_errors connections_tls_errors connections_auth_errors circuit_breaker_hits
        connections_pool_empty connections_pool_overflow connections_idle_dropped connections_open connections_in_use
        connections_in_pool connections_recovering connections_closed connections_closed_error
        connections_closed_node_removed tends_total tends_successful tends_failed partition_map_updates node_added
        node_removed transaction_retry_count transaction_error_count error_rate
    }
}
