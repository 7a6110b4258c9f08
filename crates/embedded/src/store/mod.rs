//! The records of one namespace, on all nodes of the cluster.
//!
//! 4096 partitions, each with a lock and, for each node that holds it, a hash table ([`Partition`]); a record is one
//! allocation (see [`Record`]).
//!
//! * `copies`: a partition on all its nodes: who answers, and how writes reach the replicas
//! * `sides`: the same while nodes do not see each other
//! * `rebalance`: who holds it when nodes come or go
//! * `migration`: how records move then, and how conflicts are resolved
//! * `links`: how late writes reach each node, who sees whom
//! * `device`: how much each node's storage takes
//! * `table`: records by digest
//! * `expected`, `fetch`: what comes into the caches before it is needed

mod config;
mod copies;
mod device;
mod expected;
mod fetch;
mod layout;
mod links;
mod migration;
mod monitors;
mod partition;
mod provisional;
mod rebalance;
mod scripts;
mod sets;
mod sides;
mod sweep;
mod table;

pub(crate) use config::NamespaceConfig;
pub(crate) use copies::{Copies, Purpose, Site};
pub use device::DeviceLimit;
pub(crate) use expected::Expected;
pub(crate) use layout::{BIN_HEADER, Bin, Record, RecordParts};
pub(crate) use links::Links;
pub(crate) use migration::AtomicConflict;
pub use migration::ConflictResolution;
pub(crate) use monitors::{MONITOR_SET, Monitors, monitor_digest};
pub(crate) use partition::Partition;
pub(crate) use rebalance::Plan;
pub(crate) use sets::{SetId, Sets};
pub(crate) use sides::Sides;
pub(crate) use sweep::{Eviction, SweepLimits, Swept};

use crate::clock::Now;
use crate::code;
use crate::index::Index;
use crate::request::TxnId;
use crate::udf::Registry;
use aerolane_wire::digest::PARTITIONS;
use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

/// A node among those that the cluster has had, by the order in which they were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(crate) struct Slot(pub(crate) u8);

/// Clocks that are farther apart stop writes of records that can expire.
const MAX_SKEW_MS: u64 = 40_000;

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
    /// How late writes reach each node.
    pub(crate) links: Arc<Links>,
    /// Which version of a record is kept of two.
    pub(crate) conflict: AtomicConflict,
    /// Whether the nodes that the cluster starts with become its roster.
    pub(crate) has_roster: bool,
    /// Bytes of records from which on a node takes no more writes; 0: no limit.
    pub(crate) data_limit: AtomicU64,
    /// Whether nodes that stop have their records when they come back.
    pub(crate) keeps_records: bool,
    /// Which records scripts work on.
    pub(crate) scripts: scripts::Scripts,
    /// Counts the rebalances: in strong-consistency mode clients believe the map with the highest.
    pub(crate) regime: AtomicU32,
    partitions: Box<[Locked]>,
}

/// A partition behind its lock. It begins with a cache line, so that a request looks at as few as possible.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Locked(Mutex<Sides>);

/// Four cache lines, with room for two copies.
#[cfg(test)]
const _: () = assert!(size_of::<Locked>() <= 256, "every request looks at all of a partition");

impl Locked {
    fn lock(&self) -> MutexGuard<'_, Sides> {
        self.0.lock()
    }

    /// Fetches the partition, without its records, into the cache.
    #[inline]
    fn fetch(&self) {
        fetch::fetch_all(self);
    }
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
            links: Arc::default(),
            conflict: AtomicConflict::default(),
            has_roster: false,
            data_limit: AtomicU64::new(0),
            keeps_records: false,
            scripts: scripts::Scripts::default(),
            regime: AtomicU32::new(0),
            partitions: (0..PARTITIONS).map(|_| Locked::default()).collect(),
        }
    }

    /// An empty namespace of a cluster of one node.
    #[cfg(test)]
    pub(crate) fn on_one_node(name: &str) -> Self {
        let namespace = Self::new(name);
        let plan = Plan { succession: &[Slot(0)], factor: 1, strict: false, quorum: true, revive: false, version: 1 };
        for id in 0..PARTITIONS as u16 {
            namespace.sides(id).of(0).rebalance(&namespace.sets, &plan);
        }
        namespace
    }

    /// Locks a partition (`id` is taken modulo 4096) on all nodes. Hold it briefly, and never two at a time.
    #[inline]
    pub(crate) fn sides(&self, id: u16) -> MutexGuard<'_, Sides> {
        self.partition(id).lock()
    }

    #[inline]
    fn partition(&self, id: u16) -> &Locked {
        &self.partitions[usize::from(id) % self.partitions.len()]
    }

    /// The same, on the nodes that a node sees.
    #[inline]
    pub(crate) fn copies(&self, node: Slot, id: u16) -> MappedMutexGuard<'_, Copies> {
        // Asked under the lock, so that nobody sees a partition and a side of different times.
        MutexGuard::map(self.sides(id), |sides| sides.of(self.links.side(node)))
    }

    /// Locks a partition for a request about a record that came to `node`. The error is a result code.
    #[inline]
    pub(crate) fn site(
        &self,
        node: Slot,
        digest: &[u8; 20],
        purpose: Purpose,
        resolve: bool,
        now: Instant,
    ) -> Result<Site<'_>, u8> {
        let copies = self.copies(node, aerolane_wire::digest::partition_id(digest));
        let mut site = Site::new(copies, &self.sets, &self.links, (node, purpose), now)?;
        if resolve {
            site.resolve(self.conflict.load(), digest);
        }
        Ok(site)
    }

    /// Why a node takes no writes now, if so: a result code.
    #[inline]
    pub(crate) fn refuses_writes(&self, node: Slot, now: Instant) -> Option<u8> {
        if self.links.devices.is_overloaded(node, now) {
            Some(code::DEVICE_OVERLOAD)
        } else if self.stops_for_skew(node) {
            Some(code::FORBIDDEN)
        } else if self.stops_writes(node) {
            Some(code::OUT_OF_SPACE)
        } else {
            None
        }
    }

    /// Whether the clocks of the nodes that a node sees are too far apart for records that expire: as in the server, which
    /// then writes and sweeps nothing.
    #[inline]
    pub(crate) fn stops_for_skew(&self, node: Slot) -> bool {
        self.links.skew_ms(node) > MAX_SKEW_MS && self.config.nsup_period.load(Ordering::Relaxed) != 0
    }

    /// Whether a node has run out of room for records.
    #[inline]
    pub(crate) fn stops_writes(&self, node: Slot) -> bool {
        let limit = self.data_limit.load(Ordering::Relaxed);
        limit != 0 && self.sets.bytes(node) >= limit
    }

    /// Locks what a node answers for of a partition: as its master, or as a replica that is complete.
    pub(crate) fn answering(&self, node: Slot, id: u16, now: Instant) -> Option<MappedMutexGuard<'_, Partition>> {
        let mut copies = self.copies(node, id);
        copies.settle(&self.sets, &self.links, now);
        MappedMutexGuard::try_map(copies, |copies| copies.answering(node)).ok()
    }

    /// Rolls a record that a transaction has left.
    pub(super) fn roll(&self, id: u16, digest: &[u8; 20], (txn, forward): (TxnId, bool), now: Instant) {
        for copies in self.sides(id).iter_mut() {
            copies.roll(&self.sets, &self.links, digest, (txn, forward), now);
        }
    }

    /// Builds an index, as long as it is not dropped. Records that are written meanwhile are in it, too.
    pub(crate) fn build_index(&self, index: &Arc<Index>, now: Now) {
        for (done, partition) in self.partitions.iter().enumerate() {
            let mut partition = partition.lock();
            // Asked under the lock: whoever drops it comes by here later.
            if index.is_dropped() {
                return;
            }
            partition.iter_mut().for_each(|copies| copies.index(&self.sets, index));
            drop(partition);
            let percent = (done + 1) * 100 / self.partitions.len();
            index.progress(percent as u64, (now.after_work().instant - now.instant).as_millis() as u64);
        }
    }

    /// Forgets an index.
    pub(crate) fn drop_index(&self, index: &Arc<Index>) {
        index.mark_dropped();
        for partition in &self.partitions {
            partition.lock().iter_mut().for_each(|copies| copies.drop_index(index));
        }
    }

    /// Number of records, each counted once, expired ones that no sweep has removed yet included.
    pub(crate) fn record_count(&self) -> u64 {
        let masters = |sides: &Sides| sides.iter().filter_map(Copies::master_partition).map(Partition::len).sum();
        let count = |sides: &Sides| -> usize {
            if !sides.are_several() {
                return masters(sides);
            }
            let records = sides.iter().filter_map(Copies::master_partition).flat_map(Partition::iter);
            records.map(|record| *record.digest()).collect::<HashSet<_>>().len()
        };
        self.partitions.iter().map(|p| count(&p.lock()) as u64).sum()
    }

    /// Removes the records last updated before `before_ms` (milliseconds since 2010), of one set or of all.
    pub(crate) fn truncate(&self, set: Option<SetId>, before_ms: u64) {
        let keeps = |r: &Record| r.last_update_ms() >= before_ms || set.is_some_and(|set| r.set_id() != set);
        for partition in &self.partitions {
            partition.lock().iter_mut().for_each(|copies| copies.retain(&self.sets, keeps));
        }
    }

    /// Number of records that transactions hold.
    pub(crate) fn provisional_count(&self) -> u64 {
        let count = |copies: &Copies| copies.master_partition().map_or(0, Partition::provisional_count) as u64;
        self.partitions.iter().map(|p| p.lock().iter().map(count).sum::<u64>()).sum()
    }

    /// How many partitions records are still to be moved of, and how many are unavailable: on any side, or on that of a node.
    pub(crate) fn unfinished(&self, node: Option<Slot>) -> (usize, usize) {
        let add = |(migrating, unavailable): (usize, usize), partition: &Locked| {
            let mut sides = partition.lock();
            let (moves, lacks) = match node {
                Some(node) => {
                    let copies = sides.of(self.links.side(node));
                    (copies.is_migrating(), copies.is_unavailable())
                }
                None => (sides.iter().any(Copies::is_migrating), sides.iter().any(Copies::is_unavailable)),
            };
            (migrating + usize::from(moves), unavailable + usize::from(lacks))
        };
        self.partitions.iter().fold((0, 0), add)
    }

    /// Moves at most so many records on in each partition that is due, until `most` are moved; says how many those were, and
    /// whether owners have changed.
    pub(crate) fn migrate(&self, most: usize, now: Instant) -> (usize, bool) {
        let (mut moved, mut changed) = (0, false);
        for partition in &self.partitions {
            for copies in partition.lock().iter_mut() {
                if copies.is_migrating() {
                    let (some, owners) =
                        copies.migrate(&self.sets, &self.links, self.conflict.load(), most - moved, now);
                    moved += some;
                    changed |= owners;
                }
            }
            if moved >= most {
                break;
            }
        }
        (moved, changed)
    }

    /// Ends the transactions whose deadline has passed.
    pub(crate) fn expire_transactions(&self, now: Now) {
        if self.strong_consistency {
            self.monitors.expire(self, now);
        }
    }
}
