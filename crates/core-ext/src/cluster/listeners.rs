//! Who wants to know about new snapshots.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::topology::Topology;

type Callback = dyn Fn(&Arc<Topology>) + Send + Sync;

/// The callbacks of one cluster.
#[derive(Default)]
pub(super) struct Listeners(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    next: u64,
    callbacks: Vec<(u64, Arc<Callback>)>,
}

/// Keeps a callback registered; dropping it ends the calls. (One that runs at that moment still ends.)
pub struct Subscription {
    id: u64,
    listeners: Weak<Mutex<Inner>>,
}

impl Listeners {
    pub(super) fn add(&self, callback: impl Fn(&Arc<Topology>) + Send + Sync + 'static) -> Subscription {
        let mut inner = lock(&self.0);
        let id = inner.next;
        inner.next += 1;
        inner.callbacks.push((id, Arc::new(callback)));
        Subscription { id, listeners: Arc::downgrade(&self.0) }
    }

    pub(super) fn notify(&self, topology: &Arc<Topology>) {
        // Called without the lock: a callback may subscribe or unsubscribe.
        let callbacks = lock(&self.0).callbacks.clone();
        for (id, callback) in callbacks {
            if catch_unwind(AssertUnwindSafe(|| callback(topology))).is_err() {
                crate::logging::error!("a topology callback panicked; it is not called again");
                lock(&self.0).remove(id);
            }
        }
    }
}

impl Inner {
    fn remove(&mut self, id: u64) {
        self.callbacks.retain(|(other, _)| *other != id);
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(listeners) = self.listeners.upgrade() {
            lock(&listeners).remove(self.id);
        }
    }
}

fn lock(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    // Callbacks run outside the lock, so nothing within it panics.
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Listeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Listeners({})", lock(&self.0).callbacks.len())
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Subscription({})", self.id)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn calls_those_who_still_listen() {
        let listeners = Listeners::default();
        let count = Arc::new(AtomicU32::new(0));
        let counting = || {
            let count = Arc::clone(&count);
            move |_: &Arc<Topology>| {
                count.fetch_add(1, Ordering::SeqCst);
            }
        };
        let first = listeners.add(counting());
        let second = listeners.add(counting());
        let topology = Arc::default();
        listeners.notify(&topology);
        assert_eq!(count.load(Ordering::SeqCst), 2);
        drop(first);
        listeners.notify(&topology);
        assert_eq!(count.load(Ordering::SeqCst), 3);
        drop(second);
        listeners.notify(&topology);
        assert_eq!(count.load(Ordering::SeqCst), 3);
    }

    #[test]
    fn a_panic_stops_only_the_one_who_panicked() {
        let listeners = Listeners::default();
        let count = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&count);
        let _bad = listeners.add(|_| panic!("on purpose"));
        let _good = listeners.add(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
        });
        listeners.notify(&Arc::default());
        listeners.notify(&Arc::default());
        assert_eq!(count.load(Ordering::SeqCst), 2);
        assert_eq!(format!("{listeners:?}"), "Listeners(1)");
    }
}
