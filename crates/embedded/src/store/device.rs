//! Devices that do not keep up with what is written: a queue of each node, as the server's `max-write-cache` bounds it.

use super::Slot;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// How much a node's storage takes before it is overloaded. See
/// [`EmbeddedCluster::set_device_limit`](crate::EmbeddedCluster::set_device_limit).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct DeviceLimit {
    write_cache: u64,
    flush_rate: u64,
}

impl DeviceLimit {
    /// A device that stands still: nothing is flushed. Writes are refused once more than this many bytes of records
    /// wait, which are those of the node as master and as a replica.
    pub const fn new(write_cache: u64) -> Self {
        Self { write_cache, flush_rate: 0 }
    }

    /// How many bytes a second the device takes. Default 0.
    pub const fn flush_rate(mut self, bytes_per_second: u64) -> Self {
        self.flush_rate = bytes_per_second;
        self
    }
}

/// The write queues of nodes whose devices have limits.
#[derive(Debug, Default)]
pub(crate) struct Devices {
    /// Whether any has: all that writes look at otherwise.
    any: AtomicBool,
    queues: Mutex<HashMap<Slot, Queue>>,
}

#[derive(Debug)]
struct Queue {
    limit: DeviceLimit,
    /// Bytes that wait to be flushed.
    waiting: f64,
    at: Instant,
}

impl Queue {
    /// What waits at this time.
    fn waits(&mut self, now: Instant) -> f64 {
        // Requests on several threads have not looked at the clock in the order in which they come here.
        let now = now.max(self.at);
        let flushed = (now - self.at).as_secs_f64() * self.limit.flush_rate as f64;
        (self.waiting, self.at) = ((self.waiting - flushed).max(0.0), now);
        self.waiting
    }
}

impl Devices {
    /// Sets the limit of a node's device, or ends it; what waits already goes on waiting.
    pub(crate) fn set(&self, node: Slot, limit: Option<DeviceLimit>, now: Instant) {
        let mut queues = self.queues.lock();
        match limit {
            None => drop(queues.remove(&node)),
            Some(limit) => {
                let queue = queues.entry(node).or_insert(Queue { limit, waiting: 0.0, at: now });
                queue.waits(now);
                queue.limit = limit;
            }
        }
        self.any.store(!queues.is_empty(), Ordering::Relaxed);
    }

    /// Counts what was written on a node.
    #[inline]
    pub(super) fn wrote(&self, node: Slot, bytes: usize, now: Instant) {
        if self.any.load(Ordering::Relaxed) {
            self.queue(node, bytes, now);
        }
    }

    /// Whether a node takes no writes.
    #[inline]
    pub(super) fn is_overloaded(&self, node: Slot, now: Instant) -> bool {
        self.any.load(Ordering::Relaxed) && self.queue(node, 0, now)
    }

    /// Adds bytes to what waits; says whether that is too much.
    #[cold]
    fn queue(&self, node: Slot, bytes: usize, now: Instant) -> bool {
        let mut queues = self.queues.lock();
        let Some(queue) = queues.get_mut(&node) else { return false };
        queue.waits(now);
        queue.waiting += bytes as f64;
        queue.waiting > queue.limit.write_cache as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_is_flushed_makes_room() {
        let limit = DeviceLimit::new(1000).flush_rate(100);
        let start = Instant::now();
        let mut queue = Queue { limit, waiting: 1500.0, at: start };
        assert!((queue.waits(start + Duration::from_secs(4)) - 1100.0).abs() < 1e-6);
        assert!((queue.waits(start + Duration::from_secs(6)) - 900.0).abs() < 1e-6);
        assert!(queue.waits(start + Duration::from_secs(60)).abs() < 1e-6);
    }

    #[test]
    fn requests_that_looked_at_the_clock_earlier_flush_nothing_twice() {
        let limit = DeviceLimit::new(1000).flush_rate(100);
        let start = Instant::now();
        let mut queue = Queue { limit, waiting: 1500.0, at: start };
        let at = |seconds| start + Duration::from_secs(seconds);
        for seconds in [4, 2, 4] {
            assert!((queue.waits(at(seconds)) - 1100.0).abs() < 1e-6, "{seconds}");
        }
    }

    #[test]
    fn each_node_has_a_queue_of_its_own() {
        let (devices, now) = (Devices::default(), Instant::now());
        devices.wrote(Slot(1), 5000, now);
        assert!(!devices.is_overloaded(Slot(1), now), "without a limit");
        devices.set(Slot(1), Some(DeviceLimit::new(1000)), now);
        devices.wrote(Slot(1), 1000, now);
        devices.wrote(Slot(2), 5000, now);
        assert!(!devices.is_overloaded(Slot(1), now) && !devices.is_overloaded(Slot(2), now));
        devices.wrote(Slot(1), 1, now);
        assert!(devices.is_overloaded(Slot(1), now));
        devices.set(Slot(1), Some(DeviceLimit::new(2000)), now);
        assert!(!devices.is_overloaded(Slot(1), now));
        devices.set(Slot(1), None, now);
        devices.wrote(Slot(1), 5000, now);
        assert!(!devices.is_overloaded(Slot(1), now));
    }
}
