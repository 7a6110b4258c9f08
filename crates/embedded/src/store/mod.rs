//! The record store of one namespace, shared by all nodes of the cluster.
//!
//! 4096 partitions, each with a lock and a hash table of its own; a record is one allocation (see [`Record`]).
//! Replicas are not copied: a partition's records go when the last of its owners goes, and the cluster says so by
//! [`Namespace::drop_partition`].

mod config;
mod layout;
mod monitors;
mod partition;
mod provisional;
mod sets;
mod sweep;

pub(crate) use config::NamespaceConfig;
pub(crate) use layout::{BIN_HEADER, Bin, Record, RecordParts};
pub(crate) use monitors::{MONITOR_SET, Monitors, monitor_digest};
pub(crate) use partition::Partition;
pub(crate) use sets::{Set, SetId, Sets};
pub(crate) use sweep::{Eviction, Limits, Swept};

use crate::index::Index;
use crate::udf::Registry;
use aerolane_wire::digest::PARTITIONS;
use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// One namespace: configuration, sets and records.
#[derive(Debug)]
pub(crate) struct Namespace {
    /// Name, at most 31 bytes.
    pub(crate) name: String,
    /// Settings, changeable while running.
    pub(crate) config: NamespaceConfig,
    /// Sets seen so far.
    pub(crate) sets: Sets,
    /// Whether it is in strong-consistency mode: then it has transactions, and deletes have to be durable.
    pub(crate) strong_consistency: bool,
    /// Whether there has been a map with a persisted index, whose mark answers do not show.
    pub(crate) persists_indexes: AtomicBool,
    /// Open transactions.
    pub(crate) monitors: Monitors,
    /// What is to be evicted before it expires.
    pub(crate) eviction: Eviction,
    /// Lua modules, shared by all namespaces of the cluster.
    pub(crate) modules: Arc<Registry>,
    partitions: Box<[Mutex<Partition>]>,
}

impl Namespace {
    /// An empty namespace with default settings.
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            config: NamespaceConfig::default(),
            sets: Sets::default(),
            strong_consistency: false,
            persists_indexes: AtomicBool::new(false),
            monitors: Monitors::default(),
            eviction: Eviction::default(),
            modules: Arc::default(),
            partitions: (0..PARTITIONS).map(|_| Mutex::default()).collect(),
        }
    }

    /// Locks a partition (`id` is taken modulo 4096). Hold it briefly, and never two at a time.
    #[inline]
    pub(crate) fn partition(&self, id: u16) -> MutexGuard<'_, Partition> {
        self.partitions[usize::from(id) % self.partitions.len()].lock()
    }

    /// Forgets all records of a partition: its last owner is gone.
    pub(crate) fn drop_partition(&self, id: u16) {
        self.partition(id).clear(&self.sets);
    }

    /// Builds an index, as long as it is not dropped. Records that are written meanwhile are in it, too.
    pub(crate) fn build_index(&self, index: &Arc<Index>) {
        let started = Instant::now();
        for (done, partition) in self.partitions.iter().enumerate() {
            let mut partition = partition.lock();
            // Asked under the lock: whoever drops it comes by here later.
            if index.is_dropped() {
                return;
            }
            partition.index(&self.sets, index);
            drop(partition);
            let percent = (done + 1) * 100 / self.partitions.len();
            index.progress(percent as u64, started.elapsed().as_millis() as u64);
        }
    }

    /// Forgets an index.
    pub(crate) fn drop_index(&self, index: &Arc<Index>) {
        index.mark_dropped();
        for partition in &self.partitions {
            partition.lock().entries.remove(index);
        }
    }

    /// Number of records, expired ones that no sweep has removed yet included.
    pub(crate) fn record_count(&self) -> u64 {
        self.partitions.iter().map(|p| p.lock().len() as u64).sum()
    }

    /// Removes the records last updated before `before_ms` (milliseconds since 2010), of one set or of all.
    pub(crate) fn truncate(&self, set: Option<SetId>, before_ms: u64) {
        for partition in &self.partitions {
            partition
                .lock()
                .retain(&self.sets, |r| r.last_update_ms() >= before_ms || set.is_some_and(|set| r.set_id() != set));
        }
    }

    /// Number of records that transactions hold.
    pub(crate) fn provisional_count(&self) -> u64 {
        self.partitions.iter().map(|p| p.lock().provisional_count() as u64).sum()
    }

    /// Ends the transactions whose deadline has passed by `now` (seconds since 2010).
    pub(crate) fn expire_transactions(&self, now: u32) {
        if self.strong_consistency {
            self.monitors.expire(self, now);
        }
    }
}
