//! How long copies of writes take to reach each node.

use super::Slot;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// The lag of each node, shared by all namespaces of a cluster.
#[derive(Debug)]
pub(crate) struct Links {
    /// Whether any node lags: all that writes look at otherwise.
    any: AtomicBool,
    /// Microseconds, by slot.
    lags: Box<[AtomicU64]>,
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
        Self { any: AtomicBool::new(!lag.is_zero()), lags }
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
