//! What the host drivers of one client share: the pool, and what they tell of themselves.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use super::read_ahead::Watched;
use crate::config::PoolSizing;
use crate::connect::BlockingStream;
use crate::error::Error;
use crate::lane::{Class, LaneSizing, NodeCounters};
use crate::sync::Mutex;
use crate::topology::NodeId;

/// So many requests are worth another connection: all callers are on the loop's thread, which has less to do for a request
/// than a thread of the server (decision 0002).
const FAIR_SHARE: u16 = 8;

/// A connection that was opened for a driver, or why not.
pub(super) type Opened = (u16, Class, Result<BlockingStream, Error>);

/// The host drivers of one client.
pub(crate) struct Hosts {
    sizing: PoolSizing,
    members: Mutex<Members>,
}

#[derive(Default)]
struct Members {
    ports: Vec<Arc<Port>>,
    /// What drivers that are gone had counted, by node.
    left: Vec<NodeCounters>,
    /// In ms: [`LaneSizing::idle_after`].
    idle_timeout: u32,
}

/// Where other threads leave word for one driver.
pub(super) struct Port {
    opened: Mutex<Vec<Opened>>,
    /// There is something to look at: opened connections, another share, another topology, the end.
    news: AtomicBool,
    /// How many drivers share the pool.
    sharers: AtomicU32,
    /// In ms: [`LaneSizing::idle_after`].
    idle_timeout: AtomicU32,
    /// What the driver published last, by node.
    counters: Mutex<Vec<NodeCounters>>,
    pub(super) watched: Watched,
    wake: Box<dyn Fn() + Send + Sync>,
}

/// A driver's place among the others; dropped, its share goes to them.
pub(super) struct Registration {
    pub(super) port: Arc<Port>,
    sizing: PoolSizing,
    hosts: Weak<Hosts>,
}

impl Hosts {
    /// `sizing` is for all drivers together; for `idle_timeout` see [`LaneSizing::idle_after`].
    pub(crate) fn new(sizing: PoolSizing, idle_timeout: u32) -> Arc<Self> {
        let members = Members { idle_timeout, ..Members::default() };
        Arc::new(Self { sizing, members: Mutex::new(members) })
    }

    pub(super) fn join(self: &Arc<Self>, wake: impl Fn() + Send + Sync + 'static) -> Registration {
        let port = Arc::new(Port {
            opened: Mutex::default(),
            news: AtomicBool::new(true),
            sharers: AtomicU32::new(1),
            idle_timeout: AtomicU32::new(0),
            counters: Mutex::default(),
            watched: Watched::default(),
            wake: Box::new(wake),
        });
        self.change(|members| members.ports.push(Arc::clone(&port)), Some(&port));
        Registration { port, sizing: self.sizing.clone(), hosts: Arc::downgrade(self) }
    }

    /// The counts of a node, over all drivers. Not older than [`PUBLISH_EVERY`](super::PUBLISH_EVERY) while a
    /// driver's loop turns.
    pub(crate) fn counters(&self, node: NodeId) -> NodeCounters {
        let members = self.members.lock();
        let mut sum = members.left.get(node.index()).copied().unwrap_or_default();
        for port in &members.ports {
            if let Some(counters) = port.counters.lock().get(node.index()) {
                sum.add(counters);
            }
        }
        sum
    }

    /// Changes how long a connection may be idle.
    pub(crate) fn set_idle_timeout(&self, millis: u32) {
        if self.members.lock().idle_timeout != millis {
            self.change(|members| members.idle_timeout = millis, None);
        }
    }

    /// Changes who is there, or what they are to know, and tells all but `except` of their new shares.
    fn change(&self, change: impl FnOnce(&mut Members), except: Option<&Arc<Port>>) {
        let ports = {
            let mut members = self.members.lock();
            change(&mut members);
            let sharers = members.ports.len() as u32;
            for port in &members.ports {
                port.sharers.store(sharers, Ordering::Relaxed);
                port.idle_timeout.store(members.idle_timeout, Ordering::Relaxed);
            }
            members.ports.clone()
        };
        // Without the lock: what `wake` does is the loops' affair.
        for port in ports.iter().filter(|port| !except.is_some_and(|except| Arc::ptr_eq(port, except))) {
            port.ring();
        }
    }
}

impl Registration {
    /// The driver's present share of the pool.
    pub(super) fn share(&self) -> LaneSizing {
        let sharers = NonZeroU32::new(self.port.sharers.load(Ordering::Relaxed)).unwrap_or(NonZeroU32::MIN);
        let sizing =
            LaneSizing::from(&self.sizing.per_lane(sharers)).idle_after(self.port.idle_timeout.load(Ordering::Relaxed));
        LaneSizing { fair_share: FAIR_SHARE, ..sizing }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let Some(hosts) = self.hosts.upgrade() else { return };
        let counted = std::mem::take(&mut *self.port.counters.lock());
        hosts.change(
            |members| {
                members.ports.retain(|port| !Arc::ptr_eq(port, &self.port));
                if members.left.len() < counted.len() {
                    members.left.resize(counted.len(), NodeCounters::default());
                }
                for (sum, counters) in members.left.iter_mut().zip(&counted) {
                    sum.add(&without_gauges(counters));
                }
            },
            None,
        );
    }
}

impl Port {
    /// There is news: the loop is to tick.
    pub(super) fn ring(&self) {
        self.news.store(true, Ordering::Release);
        (self.wake)();
    }

    pub(super) fn has_news(&self) -> bool {
        self.news.load(Ordering::Relaxed)
    }

    pub(super) fn take_news(&self) -> bool {
        self.has_news() && self.news.swap(false, Ordering::Acquire)
    }

    pub(super) fn leave(&self, opened: Opened) {
        self.opened.lock().push(opened);
        self.ring();
    }

    pub(super) fn take_opened(&self) -> Vec<Opened> {
        std::mem::take(&mut *self.opened.lock())
    }

    pub(super) fn publish(&self, counters: impl Iterator<Item = NodeCounters>) {
        let mut published = self.counters.lock();
        published.clear();
        published.extend(counters);
    }
}

/// What stays of a driver's counts when its connections are gone: those it had are closed by now.
fn without_gauges(counters: &NodeCounters) -> NodeCounters {
    NodeCounters {
        open: 0,
        opening: 0,
        idle: 0,
        in_flight: 0,
        queued: 0,
        orphans: 0,
        recovering: 0,
        in_use: 0,
        service: 0,
        round_trip: 0,
        closed: counters.closed + counters.open,
        ..*counters
    }
}
