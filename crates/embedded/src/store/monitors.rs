//! The monitors of a namespace: which transactions are open, until when, and what they may write.

use super::Namespace;
use crate::clock::Now;
use crate::code;
use crate::request::TxnId;
use aerolane_wire::digest::{digest_integer, partition_id};
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::time::Instant;

/// The set of all monitors.
pub(crate) const MONITOR_SET: &[u8] = b"<ERO~MRT";

/// The digest of a transaction's monitor.
pub(crate) fn monitor_digest(id: TxnId) -> [u8; 20] {
    digest_integer(MONITOR_SET, id.cast_signed())
}

/// Most records that a transaction may write.
pub(crate) const MAX_WRITES: usize = 4096;

type Digest = [u8; 20];

/// One open transaction that writes.
#[derive(Debug)]
struct Monitor {
    id: TxnId,
    /// Seconds since 2010.
    deadline: u32,
    /// The records that it may write.
    keys: HashSet<Digest>,
    /// Set once it is certain to be committed: from then on it is rolled forward, whoever does it.
    committed: bool,
}

impl Monitor {
    fn is_over(&self, now: u32) -> bool {
        now > self.deadline
    }
}

/// All monitors of a namespace, by the digests of their keys.
///
/// Locked for moments, also while a partition is locked; never the other way round.
#[derive(Debug, Default)]
pub(crate) struct Monitors(Mutex<HashMap<Digest, Monitor>>);

impl Monitors {
    /// How many transactions that write are open.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// Opens a transaction; gives its deadline.
    pub(crate) fn open(&self, id: TxnId, keys: &[Digest], deadline: u32, now: u32) -> Result<u32, u8> {
        let mut monitors = self.0.lock();
        if monitors.get(&monitor_digest(id)).is_some_and(|monitor| !monitor.is_over(now)) {
            return Err(code::TXN_MONITOR_EXISTS);
        }
        if keys.len() > MAX_WRITES {
            return Err(code::TXN_TOO_MANY_WRITES);
        }
        let monitor = Monitor { id, deadline, keys: keys.iter().copied().collect(), committed: false };
        monitors.insert(monitor_digest(id), monitor);
        Ok(deadline)
    }

    /// Adds records that an open transaction is to write; gives its deadline.
    pub(crate) fn add(&self, monitor: &Digest, keys: &[Digest], now: u32) -> Result<u32, u8> {
        let mut monitors = self.0.lock();
        let monitor = monitors.get_mut(monitor).ok_or(code::TXN_EXPIRED)?;
        if monitor.committed {
            return Err(code::TXN_COMMITTED);
        }
        if monitor.is_over(now) {
            return Err(code::TXN_EXPIRED);
        }
        let new = keys.iter().filter(|key| !monitor.keys.contains(*key)).collect::<HashSet<_>>().len();
        if monitor.keys.len() + new > MAX_WRITES {
            return Err(code::TXN_TOO_MANY_WRITES);
        }
        monitor.keys.extend(keys);
        Ok(monitor.deadline)
    }

    /// Whether a transaction may write a record now.
    pub(crate) fn admit(&self, id: TxnId, key: &Digest, now: u32) -> Result<(), u8> {
        let monitors = self.0.lock();
        let monitor = monitors.get(&monitor_digest(id)).ok_or(code::TXN_EXPIRED)?;
        if monitor.committed {
            return Err(code::TXN_COMMITTED);
        }
        if monitor.is_over(now) {
            return Err(code::TXN_EXPIRED);
        }
        if monitor.keys.contains(key) { Ok(()) } else { Err(code::PARAMETER) }
    }

    /// From now on the transaction can only be rolled forward.
    pub(crate) fn commit(&self, monitor: &Digest, now: u32) -> Result<(), u8> {
        let mut monitors = self.0.lock();
        match monitors.get_mut(monitor) {
            Some(monitor) if monitor.committed => Err(code::TXN_COMMITTED),
            Some(monitor) if !monitor.is_over(now) => {
                monitor.committed = true;
                Ok(())
            }
            // Its deadline has passed: it is rolled back, or was.
            _ => Err(code::TXN_ABORTED),
        }
    }

    /// Forgets a transaction; `false` if there is none. Records that nobody has rolled are rolled now.
    pub(crate) fn close(&self, namespace: &Namespace, monitor: &Digest, now: Now) -> bool {
        let closed = self.0.lock().remove(monitor);
        if let Some(monitor) = &closed {
            roll(namespace, monitor, now.instant);
        }
        closed.is_some()
    }

    /// Ends the transactions whose deadline has passed.
    pub(crate) fn expire(&self, namespace: &Namespace, now: Now) {
        let mut over = Vec::new();
        self.0.lock().retain(|_, monitor| {
            let is_over = monitor.is_over(now.seconds());
            if is_over {
                let keys = std::mem::take(&mut monitor.keys);
                over.push(Monitor { keys, ..*monitor });
            }
            !is_over
        });
        for monitor in &over {
            roll(namespace, monitor, now.instant);
        }
    }
}

/// Rolls all records that a transaction still holds.
fn roll(namespace: &Namespace, monitor: &Monitor, now: Instant) {
    for key in &monitor.keys {
        namespace.roll(partition_id(key), key, (monitor.id, monitor.committed), now);
    }
}
