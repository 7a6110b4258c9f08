//! The namespace supervisor: looks for expired records in every namespace's own period, and evicts records when it is
//! told to (`eviction-reset:namespace=..;ttl=..`).
//!
//! A sweep goes through the copies of all nodes; every node counts what its own ones have. What a node shows is named as in
//! the server.

use super::ownership::PARTITIONS;
use super::{ClusterState, Node};
use crate::clock::Now;
use crate::store::{Namespace, Slot, SweepLimits, Swept};
use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the thread looks whether a namespace's period is over.
const TICK: Duration = Duration::from_millis(100);

/// What a node's sweeps of one namespace have found.
#[derive(Debug, Default)]
pub(crate) struct SweepCounts {
    /// Records removed because they had expired, since the cluster was started.
    pub(crate) expired: AtomicU64,
    /// Records removed before they had, since the cluster was started.
    pub(crate) evicted: AtomicU64,
    /// Records that never expire, by the last sweep.
    pub(crate) lasting: AtomicU64,
    /// How many of the records the last sweep has removed, in hundredths of a percent.
    pub(crate) removed_share: AtomicU64,
    /// Seconds that the last sweep took.
    pub(crate) seconds: AtomicU64,
}

impl SweepCounts {
    fn note(&self, swept: Swept, evicting: bool, took: Duration) {
        let removed = if evicting { &self.evicted } else { &self.expired };
        removed.fetch_add(swept.removed, Ordering::Relaxed);
        self.lasting.store(swept.lasting, Ordering::Relaxed);
        let share = (swept.removed * 10_000).checked_div(swept.removed + swept.left);
        self.removed_share.store(share.unwrap_or(0), Ordering::Relaxed);
        self.seconds.store(took.as_secs(), Ordering::Relaxed);
    }
}

impl ClusterState {
    /// Removes what has expired, or is to be evicted, from a namespace; says how many records those were.
    pub(crate) fn sweep(&self, namespace: &Namespace, begun: Now) -> u64 {
        let now = self.time(begun).seconds();
        let evict = namespace.eviction.take(now);
        let members = self.members();
        // Each node by its own clock, if it sweeps: a node that is down by the cluster's.
        let own: HashMap<Slot, SweepLimits> = members
            .iter()
            .map(|node| {
                let now = if namespace.stops_for_skew(node.slot) { 0 } else { node.time(begun).seconds() };
                (node.slot, SweepLimits { now, evict })
            })
            .collect();
        let limits = |node: Slot| own.get(&node).copied().unwrap_or(SweepLimits { now, evict });
        let mut removed = 0;
        let mut by_node: HashMap<Slot, Swept> = HashMap::new();
        for pid in 0..PARTITIONS as u16 {
            let swept = namespace.sweep(pid, limits, begun.instant);
            // What a record's copies have in common is counted once.
            removed += swept.iter().map(|(_, swept)| swept.removed).max().unwrap_or(0);
            for (node, swept) in swept {
                *by_node.entry(node).or_default() += swept;
            }
        }
        let Some(at) = self.namespaces.iter().position(|ns| ns.name == namespace.name) else { return removed };
        for node in members {
            let swept = by_node.get(&node.slot).copied().unwrap_or_default();
            node.sweeps[at].note(swept, evict != 0, begun.after_work().instant - begun.instant);
        }
        removed
    }
}

impl Node {
    /// What the node's sweeps of a namespace have found.
    pub(crate) fn sweep_counts(&self, namespace: &Namespace) -> Option<&SweepCounts> {
        let at = self.cluster.namespaces.iter().position(|ns| ns.name == namespace.name)?;
        self.sweeps.get(at)
    }
}

/// The thread. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Supervisor {
    stop: Arc<(Mutex<bool>, Condvar)>,
    join: Option<JoinHandle<()>>,
}

impl Supervisor {
    /// Starts the thread.
    pub(super) fn start(cluster: Arc<ClusterState>) -> io::Result<Self> {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let seen = Arc::clone(&stop);
        let join = std::thread::Builder::new().name("aerolane-nsup".to_owned()).spawn(move || {
            let mut last: Vec<_> = cluster.namespaces.iter().map(|_| Instant::now()).collect();
            let (stopped, changed) = &*seen;
            loop {
                let mut stopped = stopped.lock();
                if !*stopped {
                    changed.wait_for(&mut stopped, TICK);
                }
                if *stopped {
                    return;
                }
                drop(stopped);
                cluster.migrate_for(TICK);
                for (namespace, last) in cluster.namespaces.iter().zip(&mut last) {
                    namespace.expire_transactions(cluster.time(Now::read()));
                    let period = namespace.config.nsup_period.load(Ordering::Relaxed);
                    let due = last.elapsed() >= Duration::from_secs(u64::from(period)) || namespace.eviction.is_due();
                    if period > 0 && due {
                        *last = Instant::now();
                        cluster.sweep(namespace, Now::read());
                    }
                }
            }
        })?;
        Ok(Self { stop, join: Some(join) })
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        *self.stop.0.lock() = true;
        self.stop.1.notify_all();
        if let Some(join) = self.join.take() {
            // Nothing is left to do for a thread that has panicked.
            let _ = join.join();
        }
    }
}
