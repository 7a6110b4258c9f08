//! The record store of one namespace, shared by all nodes of the cluster.
//!
//! 4096 partitions, each with a lock and a hash table of its own; a record is one allocation (see [`Record`]).
//! Replicas are not copied: a partition's records go when the last of its owners goes, and the cluster says so by
//! [`Namespace::drop_partition`].

mod config;
mod expiry;
mod layout;
mod partition;
mod sets;

pub(crate) use config::NamespaceConfig;
pub(crate) use expiry::Reaper;
pub(crate) use layout::{BIN_HEADER, Bin, Record, RecordParts};
pub(crate) use partition::Partition;
pub(crate) use sets::{SetId, Sets};

use aerolane_wire::digest::PARTITIONS;
use parking_lot::{Mutex, MutexGuard};

/// One namespace: configuration, sets and records.
#[derive(Debug)]
pub(crate) struct Namespace {
    /// Name, at most 31 bytes.
    pub(crate) name: String,
    /// Settings, changeable while running.
    pub(crate) config: NamespaceConfig,
    /// Sets seen so far.
    pub(crate) sets: Sets,
    partitions: Box<[Mutex<Partition>]>,
}

impl Namespace {
    /// An empty namespace with default settings.
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            config: NamespaceConfig::default(),
            sets: Sets::default(),
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

    /// Number of records, expired ones that were not reaped yet included.
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

    /// Removes the records that have expired by `now` (seconds since 2010); says how many.
    pub(crate) fn reap(&self, now: u32) -> u64 {
        self.partitions.iter().map(|partition| partition.lock().reap(&self.sets, now)).sum()
    }
}
