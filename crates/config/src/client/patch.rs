//! What the sections of a file say, over policies: a property that a section does not have stays as it is.

use aerospike_core::policy::{QueryDuration, ReadModeAp, ReadModeSc, Replica};
use aerospike_core::{BasePolicy, BatchPolicy, QueryPolicy, ReadPolicy, WritePolicy};

use crate::system::LatencyUnit;

pub(super) fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

/// What every section about calls may say. Times are milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BasePatch {
    /// Copies that a read consults in a namespace of the AP mode.
    pub read_mode_ap: Option<ReadModeAp>,
    /// Consistency of a read in a namespace of the SC mode.
    pub read_mode_sc: Option<ReadModeSc>,
    /// Which node is asked.
    pub replica: Option<Replica>,
    /// Most time for one attempt.
    pub socket_timeout: Option<u32>,
    /// Most time for the whole call.
    pub total_timeout: Option<u32>,
    /// How long a connection whose answer is late is kept for it.
    pub timeout_delay: Option<u32>,
    /// Most attempts after the first one.
    pub max_retries: Option<u32>,
    /// Pause between two attempts.
    pub sleep_between_retries: Option<u32>,
    /// By what the pause grows after each attempt.
    pub sleep_multiplier: Option<f64>,
    /// Whether reads fill `Record::results`.
    pub populate_positional_results: Option<bool>,
    /// How much the server tells about a failure, 0 to 3.
    pub error_detail_verbosity: Option<u8>,
}

impl BasePatch {
    /// Sets the properties of a policy that the section has.
    pub fn apply(&self, policy: &mut BasePolicy) {
        set(&mut policy.read_mode_ap, self.read_mode_ap);
        set(&mut policy.read_mode_sc, self.read_mode_sc);
        set(&mut policy.replica, self.replica);
        set(&mut policy.socket_timeout, self.socket_timeout);
        set(&mut policy.total_timeout, self.total_timeout);
        set(&mut policy.timeout_delay, self.timeout_delay);
        set(&mut policy.max_retries, self.max_retries.map(|n| n as usize));
        set(&mut policy.sleep_between_retries, self.sleep_between_retries);
        set(&mut policy.sleep_multiplier, self.sleep_multiplier);
        set(&mut policy.populate_positional_results, self.populate_positional_results);
        set(&mut policy.error_detail_verbosity, self.error_detail_verbosity);
    }
}

/// Whether a section says nothing, so that there is nothing to apply.
macro_rules! says_nothing {
    ($($patch:ident),+) => {$(
        impl $patch {
            /// Whether it changes nothing.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                *self == Self::default()
            }
        }
    )+};
}
says_nothing!(ReadPatch, WritePatch, QueryPatch, BatchPatch, RowPatch, MetricsPatch);

/// Reads of single records.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ReadPatch {
    /// What every section may say.
    pub base: BasePatch,
}

impl ReadPatch {
    /// Sets the properties of a policy that the section has.
    pub fn apply(&self, policy: &mut ReadPolicy) {
        self.base.apply(&mut policy.base_policy);
    }
}

/// Writes of single records.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WritePatch {
    /// What every section may say.
    pub base: BasePatch,
    /// Whether the user key is stored with the record.
    pub send_key: Option<bool>,
    /// Whether a delete leaves a tombstone.
    pub durable_delete: Option<bool>,
    /// Whether the write counts as one of cross-datacentre replication.
    pub xdr: Option<bool>,
}

impl WritePatch {
    /// Sets the properties of a policy that the section has.
    pub fn apply(&self, policy: &mut WritePolicy) {
        self.base.apply(&mut policy.base_policy);
        set(&mut policy.send_key, self.send_key);
        set(&mut policy.durable_delete, self.durable_delete);
        set(&mut policy.xdr, self.xdr);
    }
}

/// Queries.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct QueryPatch {
    /// What every section may say.
    pub base: BasePatch,
    /// How many records lie ready.
    pub record_queue_size: Option<u32>,
    /// How long the query is expected to take.
    pub expected_duration: Option<QueryDuration>,
    /// Whether bins are read.
    pub include_bin_data: Option<bool>,
}

impl QueryPatch {
    /// Sets the properties of a policy that the section has.
    pub fn apply(&self, policy: &mut QueryPolicy) {
        self.base.apply(&mut policy.base_policy);
        set(&mut policy.record_queue_size, self.record_queue_size.map(|n| n as usize));
        set(&mut policy.expected_duration, self.expected_duration);
        set(&mut policy.include_bin_data, self.include_bin_data);
    }
}

/// Batches, and the end of transactions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BatchPatch {
    /// What every section may say.
    pub base: BasePatch,
    /// Whether the server may handle rows of namespaces in memory on the thread that received them.
    pub allow_inline: Option<bool>,
    /// The same for namespaces on SSD.
    pub allow_inline_ssd: Option<bool>,
    /// Whether the server goes on after a row that failed.
    pub respond_all_keys: Option<bool>,
}

impl BatchPatch {
    /// Sets the properties of a policy that the section has.
    pub fn apply(&self, policy: &mut BatchPolicy) {
        self.base.apply(&mut policy.base_policy);
        set(&mut policy.allow_inline, self.allow_inline);
        set(&mut policy.allow_inline_ssd, self.allow_inline_ssd);
        set(&mut policy.respond_all_keys, self.respond_all_keys);
    }
}

/// Rows of batches that change records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowPatch {
    /// Whether the user key is stored with the record.
    pub send_key: Option<bool>,
    /// Whether a delete leaves a tombstone.
    pub durable_delete: Option<bool>,
}

/// Metrics.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MetricsPatch {
    /// Whether anything is measured; `None`: as it is.
    pub enabled: Option<bool>,
    /// Names and values that go along with each snapshot.
    pub labels: Option<Vec<(String, String)>>,
    /// Whether latencies and counts of commands are measured.
    pub operational: Option<bool>,
    /// The unit of latencies.
    pub latency_unit: Option<LatencyUnit>,
    /// How many buckets a histogram has.
    pub latency_columns: Option<u32>,
    /// By what power of two each bucket is wider than the one before.
    pub latency_shift: Option<u32>,
}
