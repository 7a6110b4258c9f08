//! The metrics of a client: what was measured on its own connections and what aerospike-core has, put together.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use super::asynchronous::Shared;
use super::stats::ConnectionStats;
use crate::error::Result;
use crate::metrics::{
    ClusterMetrics, Labels, MetricsExport, MetricsExporter, MetricsPolicy, NodeMetricsSnapshot, memory_bytes,
};
use crate::topology::NodeId;

impl Shared {
    pub(super) fn enable_metrics(&self, policy: MetricsPolicy) {
        self.cluster.core().enable_metrics(policy.clone());
        self.cluster.metrics().enable(policy);
    }

    pub(super) fn disable_metrics(&self) {
        self.cluster.metrics().disable();
        self.cluster.core().disable_metrics();
    }

    /// Exports snapshots until the client is closed, or dropped.
    pub(super) fn export_metrics(
        self: &Arc<Self>,
        interval: Duration,
        exporter: impl MetricsExporter,
    ) -> Result<MetricsExport> {
        let shared = Arc::downgrade(self);
        let source =
            move || shared.upgrade().filter(|shared| !shared.cluster.is_closed()).map(|shared| shared.metrics());
        let export = MetricsExport::on_thread(exporter, source)?;
        export.restart(interval)?;
        Ok(export)
    }

    /// The snapshot for `metrics()`.
    pub(super) fn metrics(&self) -> ClusterMetrics {
        let metrics = self.cluster.metrics();
        let policy = metrics.policy();
        let core = self.cluster.core().metrics();
        let measured = metrics.measured();
        let topology = self.cluster.topology();

        let mut nodes = HashMap::new();
        let mut add = |host: &str, fill: &dyn Fn(&mut NodeMetricsSnapshot)| {
            fill(nodes.entry(host.to_owned()).or_insert_with(|| NodeMetricsSnapshot::new(&policy)));
        };
        for node in (0..topology.node_slots()).filter_map(|index| topology.node(NodeId::from_index(index))) {
            let (id, breaker, active) = (node.id(), node.breaker(), topology.is_active(node.id()));
            let counters = self.counters(id);
            let openings = metrics.openings.of(id.index(), policy.latency_unit);
            // A node under a new name at the same address is another node at the same place.
            add(node.host(), &|snapshot| {
                if active || snapshot.name.is_empty() {
                    node.name().clone_into(&mut snapshot.name);
                }
                snapshot.is_active |= active;
                snapshot.add_traffic(&counters, &ConnectionStats::new(&counters, breaker.retries()));
                snapshot.add_openings(&openings);
                let sums = &mut snapshot.counters;
                sums.circuit_breaker_hits += breaker.refusals();
                sums.transaction_retry_count += breaker.retries();
                sums.transaction_error_count += breaker.failed_calls();
                sums.error_rate += u64::from(breaker.errors());
                if let Some(measured) = measured.get(id.index()) {
                    snapshot.add_measured(measured, |namespace| metrics.namespace(namespace).to_owned());
                }
            });
        }
        for (host, measured) in &core.nodes {
            add(host, &|snapshot| snapshot.add_core(measured));
        }

        let mut all = NodeMetricsSnapshot::new(&policy);
        for node in nodes.values() {
            all.aggregate(node);
        }
        all.labels = Labels::clone(&core.cluster_aggregated.labels);
        let load = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
        ClusterMetrics {
            total_nodes: topology.active_nodes().count(),
            open_connections: all.open_connections(),
            connections_in_use: all.connections_in_use(),
            connections_in_pool: all.connections_in_pool(),
            recover_queue_size: all.connections_recovering(),
            nodes_invalid: core.nodes_invalid,
            exceeded_max_retries: core.exceeded_max_retries + load(&metrics.exceeded_max_retries),
            exceeded_total_timeout: core.exceeded_total_timeout + load(&metrics.exceeded_total_timeout),
            departed: Vec::new(),
            taken_at: SystemTime::now(),
            cpu_percent: metrics.process.cpu_percent(),
            memory_bytes: memory_bytes(),
            nodes,
            cluster_aggregated: all,
        }
    }
}
