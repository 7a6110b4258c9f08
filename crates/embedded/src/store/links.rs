//! How nodes reach each other: how long copies of writes take to each node, and which nodes do not see each other.

use super::Slot;
use super::device::Devices;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// The lag and the side of each node, shared by all namespaces of a cluster.
#[derive(Debug)]
pub(crate) struct Links {
    /// Whether any node lags: all that writes look at otherwise.
    any: AtomicBool,
    /// Microseconds, by slot.
    lags: Box<[AtomicU64]>,
    /// What the nodes' devices take.
    pub(crate) devices: Devices,
    /// Whether any clocks differ.
    skewed: AtomicBool,
    /// How far the clocks are apart, by side, in milliseconds.
    skews: Box<[AtomicU64]>,
    /// Whether the cluster is split.
    split: AtomicBool,
    /// The side of each node, by slot.
    sides: Box<[AtomicU8]>,
}

impl Default for Links {
    fn default() -> Self {
        Self::new(Duration::ZERO)
    }
}

fn micros(lag: Duration) -> u64 {
    u64::try_from(lag.as_micros()).unwrap_or(u64::MAX)
}

impl Links {
    /// All nodes with the same lag.
    pub(crate) fn new(lag: Duration) -> Self {
        let lags = (0..=usize::from(u8::MAX)).map(|_| AtomicU64::new(micros(lag))).collect();
        let sides = (0..=usize::from(u8::MAX)).map(|_| AtomicU8::new(0)).collect();
        Self {
            any: AtomicBool::new(!lag.is_zero()),
            lags,
            devices: Devices::default(),
            skewed: AtomicBool::new(false),
            skews: (0..=usize::from(u8::MAX)).map(|_| AtomicU64::new(0)).collect(),
            split: AtomicBool::new(false),
            sides,
        }
    }

    /// How far the clocks of the nodes that a node sees are apart, in milliseconds.
    #[inline]
    pub(crate) fn skew_ms(&self, node: Slot) -> u64 {
        if !self.skewed.load(Ordering::Relaxed) {
            return 0;
        }
        self.skews.get(self.side(node)).map_or(0, |skew| skew.load(Ordering::Relaxed))
    }

    /// Sets how far the clocks of each side are apart.
    pub(crate) fn set_skews(&self, skews: &[u64]) {
        for (own, skew) in self.skews.iter().zip(skews) {
            own.store(*skew, Ordering::Relaxed);
        }
        self.skewed.store(skews.iter().any(|skew| *skew != 0), Ordering::Relaxed);
    }

    /// The side of a node; 0 unless the cluster is split.
    #[inline]
    pub(crate) fn side(&self, node: Slot) -> usize {
        if !self.split.load(Ordering::Relaxed) {
            return 0;
        }
        self.sides[usize::from(node.0)].load(Ordering::Relaxed).into()
    }

    /// Says who is on which side; whoever is on none is on the first.
    pub(crate) fn set_sides(&self, nodes: &[Vec<Slot>]) {
        for (at, own) in self.sides.iter().enumerate() {
            let side = nodes.iter().position(|side| side.iter().any(|node| usize::from(node.0) == at));
            // There are no more sides than nodes, of which there are 128 at most.
            own.store(side.unwrap_or(0) as u8, Ordering::Relaxed);
        }
        self.split.store(nodes.len() > 1, Ordering::Relaxed);
    }

    /// How late writes reach a node.
    #[inline]
    pub(crate) fn lag(&self, node: Slot) -> Duration {
        if !self.any.load(Ordering::Relaxed) {
            return Duration::ZERO;
        }
        Duration::from_micros(self.lags[usize::from(node.0)].load(Ordering::Relaxed))
    }

    /// Sets how late writes reach a node, or (`None`) all nodes, those included that are yet to come.
    pub(crate) fn set_lag(&self, node: Option<Slot>, lag: Duration) {
        for (at, own) in self.lags.iter().enumerate() {
            if node.is_none_or(|node| usize::from(node.0) == at) {
                own.store(micros(lag), Ordering::Relaxed);
            }
        }
        self.any.store(self.lags.iter().any(|lag| lag.load(Ordering::Relaxed) != 0), Ordering::Relaxed);
    }
}
