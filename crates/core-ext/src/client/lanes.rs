//! The lanes of a client: which one a caller uses.
//!
//! A lane is driven on the runtime of its callers, so each runtime has lanes of its own: one on a current-thread
//! runtime, as many as
//! [`ClientConfig::lanes`](crate::ClientConfig::lanes) says on a multi-thread one. Callers outside of any
//! tokio runtime share a lane on the control plane's, and so do those on runtimes without I/O or timers.

mod runtime;
mod thread_lanes;

use std::future::Future;
use std::hash::{Hash, Hasher};
use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use arc_swap::ArcSwap;
use tokio::runtime::{Handle, RuntimeFlavor};

use runtime::{RuntimeWatch, has_drivers};
pub(crate) use thread_lanes::CallerLane;
use thread_lanes::ThreadLanes;

use crate::cluster::Cluster;
use crate::config::{ClientConfig, PoolSizing};
use crate::connect::Stream;
use crate::driver::fork::DeadSocket;
use crate::driver::tasks::{Opener, SharedLane, worker};
use crate::driver::{close_reason, log_closed, thread};
use crate::error::Error;
use crate::lane::{Class, FailureKind, LaneSizing, NodeCounters};
use crate::metrics::Metrics;
use crate::sync::Mutex;
use crate::topology::{NodeId, Topology};

/// The lanes of one runtime.
struct RuntimeLanes {
    runtime: tokio::runtime::Id,
    lanes: Vec<Arc<SharedLane>>,
    /// They are those of the control plane's runtime.
    borrowed: bool,
    watch: RuntimeWatch,
}

/// All the lanes of a client.
pub(crate) struct Lanes {
    cluster: Weak<Cluster>,
    fallback: Handle,
    config: ClientConfig,
    sizing: PoolSizing,
    /// At present, in ms: [`LaneSizing::idle_after`].
    idle_timeout: AtomicU32,
    all: ArcSwap<Vec<Arc<RuntimeLanes>>>,
    /// Of these, those that a thread has used.
    by_thread: ThreadLanes,
    /// Held while lanes are added or the client closes.
    changes: Mutex<Closed>,
    /// Which nodes the lanes take to be part of the cluster, by index.
    active: Mutex<Vec<bool>>,
}

#[derive(Debug, Default)]
struct Closed(bool);

impl Lanes {
    pub(crate) fn new(cluster: &Arc<Cluster>, config: &ClientConfig) -> Self {
        Self {
            cluster: Arc::downgrade(cluster),
            fallback: cluster.runtime().clone(),
            config: config.clone(),
            sizing: config.pool_sizing(),
            idle_timeout: AtomicU32::new(cluster.idle_timeout()),
            all: ArcSwap::default(),
            by_thread: ThreadLanes::default(),
            changes: Mutex::default(),
            active: Mutex::default(),
        }
    }

    /// Changes how long a connection may be idle: [`LaneSizing::idle_after`].
    pub(crate) fn set_idle_timeout(&self, millis: u32) {
        if self.idle_timeout.load(Ordering::Relaxed) != millis {
            // Held also while lanes are added.
            let closed = self.changes.lock();
            self.idle_timeout.store(millis, Ordering::Relaxed);
            if !closed.0 {
                self.share_among(&self.all.load(), 0);
            }
        }
    }

    /// The sizes of all lanes together.
    pub(crate) fn sizing(&self) -> &PoolSizing {
        &self.sizing
    }

    /// The lane for the calling thread.
    pub(crate) fn caller_lane(self: &Arc<Self>) -> Result<CallerLane, Error> {
        if let Some(lane) = worker::runtime().and_then(|runtime| self.by_thread.lane(runtime)) {
            return Ok(lane);
        }
        // What this says must not be kept: a thread turns one runtime after the other, and a `LocalSet`'s tasks go from one to
        // the other with it.
        let current = Handle::try_current();
        let handle = current.as_ref().unwrap_or(&self.fallback);
        let id = handle.id();
        if let Some(lane) = self.by_thread.lane(id) {
            return Ok(lane);
        }
        let known = self.all.load().iter().find(|lanes| lanes.runtime == id).cloned();
        let lanes = known.map_or_else(
            || {
                let count = match handle.runtime_flavor() {
                    RuntimeFlavor::CurrentThread => 1,
                    _ => self.config.lane_count(handle.metrics().num_workers()),
                };
                self.add(handle, count)
            },
            Ok,
        )?;
        Ok(self.by_thread.learn(lanes))
    }

    /// A lane of its own for a runtime.
    pub(crate) fn add_one(self: &Arc<Self>, handle: &Handle) -> Result<Arc<SharedLane>, Error> {
        self.add(handle, 1).map(|lanes| Arc::clone(&lanes.lanes[0]))
    }

    fn add(self: &Arc<Self>, handle: &Handle, count: usize) -> Result<Arc<RuntimeLanes>, Error> {
        let runtime = handle.id();
        let is_fallback = runtime == self.fallback.id();
        // Both before the lock: what they do may end in `forget`.
        let borrowed = if is_fallback || has_drivers(handle) {
            None
        } else {
            crate::logging::warn!(
                "a tokio runtime without I/O or timers: its operations use the client's own (see `enable_all`)"
            );
            Some(self.add(&self.fallback, 1)?)
        };
        let lanes = Arc::downgrade(self);
        let watch =
            RuntimeWatch::watch(handle, move || lanes.upgrade().into_iter().for_each(|lanes| lanes.forget(runtime)));
        let closed = self.changes.lock();
        if closed.0 {
            return Err(Error::client_closed());
        }
        let all = self.all.load_full();
        if let Some(lanes) = all.iter().find(|lanes| lanes.runtime == runtime) {
            return Ok(Arc::clone(lanes));
        }
        if watch.is_over() && !is_fallback {
            // Its threads may still be inside of its context.
            drop(closed);
            return self.add(&self.fallback, 1);
        }
        let mut next = Vec::clone(&all);
        if let Some(borrowed) = borrowed {
            let added = Arc::new(RuntimeLanes { runtime, lanes: borrowed.lanes.clone(), borrowed: true, watch });
            next.push(Arc::clone(&added));
            self.all.store(Arc::new(next));
            return Ok(added);
        }
        let sizing = self.share_among(&all, count);
        let opener: Arc<dyn Opener> = Arc::new(ClusterOpener { cluster: Weak::clone(&self.cluster) });
        let lanes: Vec<_> = (0..count).map(|_| SharedLane::new(sizing, handle.clone(), Arc::clone(&opener))).collect();
        if let Some(cluster) = self.cluster.upgrade() {
            for node in cluster.topology().active_nodes() {
                for lane in &lanes {
                    lane.warm(node.id().index() as u16);
                }
            }
        }
        let added = Arc::new(RuntimeLanes { runtime, lanes, borrowed: false, watch });
        next.push(Arc::clone(&added));
        self.all.store(Arc::new(next));
        Ok(added)
    }

    /// The runtime has ended, and its connections with it: the others get its share.
    fn forget(&self, runtime: tokio::runtime::Id) {
        let closed = self.changes.lock();
        let all = self.all.load_full();
        if closed.0 || !all.iter().any(|lanes| lanes.runtime == runtime && lanes.watch.is_over()) {
            return;
        }
        let next: Vec<_> = all.iter().filter(|lanes| lanes.runtime != runtime).cloned().collect();
        self.share_among(&next, 0);
        self.all.store(Arc::new(next));
    }

    /// Gives these lanes, and `more` that are to come, equal shares of the pool.
    fn share_among(&self, all: &[Arc<RuntimeLanes>], more: usize) -> LaneSizing {
        let total = own_lanes(all).count() + more;
        let share = NonZeroU32::new(total as u32).unwrap_or(NonZeroU32::MIN);
        let sizing =
            LaneSizing::from(&self.sizing.per_lane(share)).idle_after(self.idle_timeout.load(Ordering::Relaxed));
        for lane in own_lanes(all) {
            lane.resize(sizing);
        }
        sizing
    }

    /// The counts of a node, over all lanes.
    pub(crate) fn counters(&self, node: NodeId) -> NodeCounters {
        let mut sum = NodeCounters::default();
        for lane in own_lanes(&self.all.load()) {
            sum.add(&lane.counters(node.index() as u16));
        }
        sum
    }

    /// Tells the lanes of nodes that have left or come back. Called on the control thread only, one topology after the
    /// other.
    pub(crate) fn follow(&self, topology: &Topology) {
        let changed = self.changed(topology);
        if changed.is_empty() {
            return;
        }
        let all = self.all.load_full();
        for (index, is_active) in changed {
            for lane in own_lanes(&all) {
                // Wakes callers, who may use the client: without a lock. What one of them does wrong is not to keep the
                // news from the other lanes.
                let told = catch_unwind(AssertUnwindSafe(|| {
                    if is_active { lane.node_back(index) } else { lane.node_gone(index) }
                }));
                if told.is_err() {
                    crate::logging::error!("the waker of a caller panicked");
                }
            }
        }
    }

    /// The nodes that have left or come back since the last call, and whether they are active.
    fn changed(&self, topology: &Topology) -> Vec<(u16, bool)> {
        // Held also while lanes are added: one that is added after this meets nodes as of this topology.
        let _changes = self.changes.lock();
        let mut active = self.active.lock();
        active.resize(topology.node_slots(), true);
        let mut changed = Vec::new();
        for (index, was_active) in active.iter_mut().enumerate() {
            let is_active = topology.is_active(NodeId::from_index(index));
            if std::mem::replace(was_active, is_active) != is_active {
                changed.push((index as u16, is_active));
            }
        }
        changed
    }

    /// Gives up the connections of a forked child's copy.
    pub(crate) fn disown(&self, dead: &DeadSocket) {
        own_lanes(&self.all.load()).for_each(|lane| lane.disown(dead));
    }

    /// Fails what is in flight, closes all connections, takes nothing any more.
    pub(crate) fn close(&self) {
        // From here on no lanes are added. Not under the lock: closing wakes callers.
        self.changes.lock().0 = true;
        let all = self.all.load_full();
        for lane in own_lanes(&all) {
            lane.close();
        }
        for lanes in all.iter() {
            lanes.watch.unwatch();
        }
        // Lanes stay in the list, so that late callers hear "closed" instead of getting new ones.
    }
}

impl RuntimeLanes {
    /// The same lane for all operations of one task: what a burst of answers sets off is then submitted to the lane
    /// that the answers came on. Outside of tasks, the same lane for all operations of one thread.
    fn pick(&self) -> usize {
        match self.lanes.len() {
            1 => 0,
            lanes => {
                let number = tokio::task::try_id().map_or_else(|| thread::number() as u64, number_of);
                (number % lanes as u64) as usize
            }
        }
    }
}

/// Each lane once.
fn own_lanes(all: &[Arc<RuntimeLanes>]) -> impl Iterator<Item = &Arc<SharedLane>> {
    all.iter().filter(|lanes| !lanes.borrowed).flat_map(|lanes| &lanes.lanes)
}

/// The number within a task id, which shows it only to hashers.
fn number_of(id: tokio::task::Id) -> u64 {
    #[derive(Default)]
    struct Number(u64);

    impl Hasher for Number {
        fn finish(&self) -> u64 {
            self.0
        }

        fn write(&mut self, bytes: &[u8]) {
            for byte in bytes {
                self.0 = self.0.wrapping_mul(31).wrapping_add(u64::from(*byte));
            }
        }

        fn write_u64(&mut self, n: u64) {
            self.0 = n;
        }
    }

    let mut number = Number::default();
    id.hash(&mut number);
    number.finish()
}

struct ClusterOpener {
    /// Weak: connections being opened do not keep a closed client alive.
    cluster: Weak<Cluster>,
}

impl Opener for ClusterOpener {
    fn open(&self, node: u16, _class: Class) -> Pin<Box<dyn Future<Output = Result<Stream, Error>> + Send + '_>> {
        Box::pin(async move {
            let cluster = self.cluster.upgrade().ok_or_else(Error::client_closed)?;
            let info = cluster.topology().node(NodeId::from_index(usize::from(node))).cloned();
            let info = info.ok_or_else(|| Error::invalid_node("the node is not known"))?;
            cluster.open(&info).await
        })
    }

    fn metrics(&self) -> Option<Arc<Metrics>> {
        self.cluster.upgrade().map(|cluster| Arc::clone(cluster.metrics()))
    }

    fn lost(&self) {
        if let Some(cluster) = self.cluster.upgrade() {
            cluster.request_refresh();
        }
    }

    fn closed(&self, node: u16, why: &FailureKind) {
        let Some(cluster) = self.cluster.upgrade() else { return };
        if let Some(info) = cluster.snapshot().node(NodeId::from_index(usize::from(node))) {
            log_closed(info.label(), &close_reason(why));
        }
    }
}

#[cfg(test)]
mod tests;
