//! One node.

use super::nsup::SweepCounts;
use super::workers::Workers;
use super::{ClusterState, View};
use crate::clock::{Clock, Now};
use crate::conditions::NodeConditions;
use crate::faults::Faults;
use crate::random::Seed;
use crate::store::{Namespace, Slot};
use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Identity of a node, unique in its cluster. Shown as info commands tell it: hexadecimal, upper case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u64);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:X}", self.0)
    }
}

impl FromStr for NodeId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u64::from_str_radix(text, 16).map(Self)
    }
}

/// What a connection knows about the node that it is connected to.
#[derive(Debug)]
pub(crate) struct Node {
    /// The cluster that the node belongs to.
    pub(crate) cluster: Arc<ClusterState>,
    /// Identity.
    pub(crate) id: NodeId,
    /// The same in the store.
    pub(crate) slot: Slot,
    /// Node id as info commands tell it, such as `A0AE000000000001`.
    pub(crate) name: String,
    /// Where the node listens.
    pub(crate) address: SocketAddr,
    /// Where it listens with TLS, if it does.
    pub(crate) tls_address: Option<SocketAddr>,
    /// The faults installed on this node.
    pub(crate) faults: Faults,
    /// How long its requests take.
    pub(crate) conditions: NodeConditions,
    /// What info commands tell about changes of the cluster.
    pub(crate) generations: Generations,
    /// Counts of what the node has done.
    pub(crate) counters: Counters,
    /// What sweeps for expired records have found, by namespace.
    pub(super) sweeps: Box<[SweepCounts]>,
    /// How far its clock is from the cluster's.
    pub(crate) clock: Clock,
    /// Background jobs and aggregations that run.
    pub(crate) jobs: AtomicUsize,
    /// The threads that run scripts.
    pub(crate) workers: Workers,
    /// Clients' connections.
    seats: AtomicUsize,
    live: AtomicBool,
    /// Milliseconds between `born` and the last start.
    started_ms: AtomicU64,
    born: Instant,
}

impl Node {
    /// A node that is not live yet.
    pub(crate) fn new(
        cluster: Arc<ClusterState>,
        id: NodeId,
        address: SocketAddr,
        tls_address: Option<SocketAddr>,
    ) -> Self {
        let seed = Seed { cluster: cluster.seed, node: id.0 };
        let conditions = NodeConditions::new(seed, cluster.default_conditions());
        let sweeps = cluster.namespaces.iter().map(|_| SweepCounts::default()).collect();
        let slot = cluster.slot(id);
        Self {
            cluster,
            id,
            slot,
            name: id.to_string(),
            address,
            tls_address,
            faults: Faults::new(seed),
            conditions,
            generations: Generations::default(),
            counters: Counters::default(),
            sweeps,
            clock: Clock::default(),
            jobs: AtomicUsize::new(0),
            workers: Workers::default(),
            seats: AtomicUsize::new(0),
            live: AtomicBool::new(false),
            started_ms: AtomicU64::new(0),
            born: Instant::now(),
        }
    }

    /// The cluster as the node sees it.
    pub(crate) fn view(&self) -> Arc<View> {
        self.cluster.view(self.slot)
    }

    /// How far the node's clock is ahead of the system's, in milliseconds; negative: behind.
    #[inline]
    pub(crate) fn ahead_ms(&self) -> i64 {
        self.cluster.clock.ahead_ms() + self.clock.ahead_ms()
    }

    /// What the node takes a time for: its clock may have been moved.
    #[inline]
    pub(crate) fn time(&self, now: Now) -> Now {
        now.shifted(self.ahead_ms())
    }

    /// Whether the node takes part in the cluster.
    pub(crate) fn is_live(&self) -> bool {
        self.live.load(Ordering::Acquire)
    }

    /// Whether the node answers for the partition: for reads as master or as a complete replica, for writes as master.
    pub(crate) fn owns(&self, namespace: &Namespace, pid: u16, write: bool) -> bool {
        namespace.copies(self.slot, pid).place(self.slot).is_some_and(|place| place == 0 || !write)
    }

    /// Seconds since the node was last started.
    pub(crate) fn uptime(&self, now: Instant) -> u64 {
        let now = now.saturating_duration_since(self.born).as_millis() as u64;
        now.saturating_sub(self.started_ms.load(Ordering::Relaxed)) / 1000
    }

    /// Marks the node as live or gone. A start is that of a new process: generations begin anew.
    pub(super) fn set_live(&self, live: bool) {
        if live {
            self.started_ms.store(self.born.elapsed().as_millis() as u64, Ordering::Relaxed);
            self.generations.reset();
        }
        self.live.store(live, Ordering::Release);
    }
}

/// A connection's place among those that a node takes, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPermit(Arc<Node>);

impl ConnectionPermit {
    /// `None`: the node has as many connections as it takes.
    pub(crate) fn take(node: &Arc<Node>) -> Option<Self> {
        let limit = node.cluster.connection_limit;
        let taken = node.seats.fetch_add(1, Ordering::AcqRel);
        let permit = Self(Arc::clone(node));
        (limit == 0 || taken < limit).then_some(permit)
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.0.seats.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The counters that tell clients that something has changed. They count from the start of the node, as in the server.
#[derive(Debug, Default)]
pub(crate) struct Generations {
    /// Changes of the partition map since the first one.
    partition: AtomicU64,
    /// Rebalances; 1 after the first.
    rebalance: AtomicU64,
    /// Changes of the list of peers.
    peers: AtomicU64,
    /// Changes of the cluster's members.
    cluster: AtomicU64,
}

impl Generations {
    pub(crate) fn partition(&self) -> u64 {
        self.partition.load(Ordering::Acquire)
    }

    pub(crate) fn rebalance(&self) -> u64 {
        self.rebalance.load(Ordering::Acquire)
    }

    pub(crate) fn peers(&self) -> u64 {
        self.peers.load(Ordering::Acquire)
    }

    pub(crate) fn cluster(&self) -> u64 {
        self.cluster.load(Ordering::Acquire)
    }

    fn reset(&self) {
        self.partition.store(0, Ordering::Release);
        self.rebalance.store(0, Ordering::Release);
        self.peers.store(0, Ordering::Release);
        self.cluster.store(0, Ordering::Release);
    }

    /// Members have come or gone; `peers` of them are the node's peers now.
    pub(super) fn members_changed(&self, peers: usize) {
        // The first balance of a node leaves partition generation 0 (golden scenario `connect/c-client`); it has by
        // then seen each of its peers once.
        let first = self.rebalance.fetch_add(1, Ordering::AcqRel) == 0;
        self.cluster.fetch_add(1, Ordering::AcqRel);
        self.partition.fetch_add(u64::from(!first), Ordering::AcqRel);
        self.peers.fetch_add(if first { peers as u64 } else { 1 }, Ordering::AcqRel);
    }

    /// Owners of partitions have changed among the same members.
    pub(super) fn owners_changed(&self) {
        self.partition.fetch_add(1, Ordering::AcqRel);
    }
}

/// Counts of what a node has done since the cluster was started.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) connections_opened: AtomicU64,
    pub(crate) connections_closed: AtomicU64,
    pub(crate) infos: AtomicU64,
    pub(crate) logins: AtomicU64,
    pub(crate) records: AtomicU64,
    pub(crate) batches: AtomicU64,
    pub(crate) batch_rows: AtomicU64,
    pub(crate) queries: AtomicU64,
    pub(crate) query_records: AtomicU64,
}

impl Counters {
    /// Adds to one of the counters.
    #[inline]
    pub(crate) fn add(counter: &AtomicU64, n: u64) {
        counter.fetch_add(n, Ordering::Relaxed);
    }
}
