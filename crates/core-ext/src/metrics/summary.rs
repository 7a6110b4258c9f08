//! Figures that those who collect metrics ask for: sums of what was measured, by namespace and by kind of use.

use std::collections::BTreeMap;

use aerospike_core::ResultCode;

use super::snapshot::{ClusterMetrics, LatencyType, NodeMetricsSnapshot};
use super::{COMMAND_TYPE_COUNT, CommandType};

/// What a node was asked about one namespace, and how that ended: [`NodeMetricsSnapshot::namespace_summary`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct NamespaceSummary {
    /// Answers with an error that is none of the following. No failure counts twice.
    pub errors: u64,
    /// Answers saying that the server ran out of time.
    pub timeouts: u64,
    /// Answers saying that too many requests wait for the record.
    pub key_busy: u64,
    /// Answers saying that the record would be too big.
    pub record_too_big: u64,
    /// Answers saying that the device cannot keep up.
    pub device_overload: u64,
    /// Bytes of answers.
    pub bytes_in: u64,
    /// Bytes of requests.
    pub bytes_out: u64,
    /// The buckets of the latencies, in the order of [`LatencyType::ALL`]; what was not measured is left out.
    pub latency: Vec<(LatencyType, Vec<u64>)>,
}

impl LatencyType {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Conn, Self::Write, Self::Read, Self::Batch, Self::Query];

    /// Returns what the latencies of a kind of calls are part of.
    const fn of(kind: CommandType) -> Self {
        match kind {
            CommandType::Get | CommandType::GetHeader | CommandType::Exists => Self::Read,
            CommandType::BatchRead | CommandType::BatchWrite => Self::Batch,
            CommandType::Query | CommandType::Scan => Self::Query,
            _ => Self::Write,
        }
    }

    /// The name in exported metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Conn => "conn",
            Self::Write => "write",
            Self::Read => "read",
            Self::Batch => "batch",
            Self::Query => "query",
        }
    }
}

fn kinds() -> impl Iterator<Item = CommandType> {
    (1..COMMAND_TYPE_COUNT).map(CommandType::from_index)
}

impl NodeMetricsSnapshot {
    /// Sums up what was measured in a namespace.
    #[must_use]
    pub fn namespace_summary(&self, namespace: &str) -> NamespaceSummary {
        let mut summary = NamespaceSummary::default();
        let (mut received, mut sent) = (0.0, 0.0);
        let mut latency: [Option<Vec<u64>>; LatencyType::ALL.len()] = [const { None }; LatencyType::ALL.len()];
        let mut add = |of: LatencyType, buckets: &[u64]| {
            let sum = latency[of as usize].get_or_insert_with(|| vec![0; buckets.len()]);
            sum.iter_mut().zip(buckets).for_each(|(sum, count)| *sum += count);
        };
        for kind in kinds() {
            for (code, count) in self.result_codes(namespace, kind) {
                *match code {
                    ResultCode::Ok => continue,
                    ResultCode::Timeout => &mut summary.timeouts,
                    ResultCode::KeyBusy => &mut summary.key_busy,
                    ResultCode::RecordTooBig => &mut summary.record_too_big,
                    ResultCode::DeviceOverload => &mut summary.device_overload,
                    _ => &mut summary.errors,
                } += count;
            }
            let Some(metric) = self.detailed_metric(namespace, kind) else { continue };
            received += metric.bytes_received.sum();
            sent += metric.bytes_sent.sum();
            add(LatencyType::of(kind), metric.latency.buckets());
            add(LatencyType::Conn, metric.connection_aq.buckets());
        }
        // Whole numbers, as far as an f64 has them.
        (summary.bytes_in, summary.bytes_out) = (received as u64, sent as u64);
        summary.latency = LatencyType::ALL.into_iter().zip(latency).filter_map(|(of, sum)| Some((of, sum?))).collect();
        summary
    }

    /// Returns how many requests of each kind were answered, in all namespaces.
    fn answers(&self) -> impl Iterator<Item = (CommandType, u64)> {
        let namespaces = self.detailed_namespaces();
        kinds().map(move |kind| {
            let answered = |name: &&str| self.detailed_metric(name, kind).map_or(0, |metric| metric.latency.count());
            (kind, namespaces.iter().map(answered).sum())
        })
    }
}

impl ClusterMetrics {
    /// Returns how many calls were answered while they were measured: requests, without those that repeat another one. A
    /// batch or a query counts once for each node that it went to.
    #[must_use]
    pub fn command_count(&self) -> u64 {
        let node = &self.cluster_aggregated;
        let answered: u64 = node.answers().map(|(_, count)| count).sum();
        answered.saturating_sub(node.counters.transaction_retry_count)
    }

    /// Returns how many requests there were of each shape, under the names that Aerospike's SDKs have for features:
    /// `feature.shape.point`, `.batch` and `.query`, and `feature.udf.record`. What was not used is left out.
    #[must_use]
    pub fn usage(&self) -> BTreeMap<&'static str, u64> {
        let mut usage = BTreeMap::new();
        for (kind, count) in self.cluster_aggregated.answers().filter(|(_, count)| *count > 0) {
            let shape = match LatencyType::of(kind) {
                LatencyType::Batch => "feature.shape.batch",
                LatencyType::Query => "feature.shape.query",
                _ => "feature.shape.point",
            };
            *usage.entry(shape).or_default() += count;
            if matches!(kind, CommandType::Udf) {
                *usage.entry("feature.udf.record").or_default() += count;
            }
        }
        usage
    }

    /// Returns the value of a label, if it is set and not empty: `"cluster"`, `"app_id"`, or one of
    /// [`MetricsPolicy::labels`](super::MetricsPolicy).
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        let sets = self.cluster_aggregated.labels.entries();
        sets.iter().find_map(|labels| labels.get(name)).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns the labels that the user has set, by name.
    #[must_use]
    pub fn user_labels(&self) -> BTreeMap<&str, &str> {
        /// Labels that aerospike-core sets.
        const OWN: [&str; 4] = ["node", "host", "cluster", "app_id"];
        let all = self.cluster_aggregated.labels.entries().iter().flatten();
        all.map(|(name, value)| (name.as_str(), value.as_str())).filter(|(name, _)| !OWN.contains(name)).collect()
    }
}
