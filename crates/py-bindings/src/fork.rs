//! Whether this process was forked since a client was made: its threads and its share of the sockets are the parent's.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Once};

use arc_swap::ArcSwap;

/// How many forks lie between this process and the one that loaded the module.
static FORKS: AtomicU32 = AtomicU32::new(0);

extern "C" fn in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// The number of forks so far. It differs from an earlier reading exactly in a child that was forked since.
pub(crate) fn forks() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// Has forks counted from here on.
pub(crate) fn watch() {
    static ONCE: Once = Once::new();
    // SAFETY: the handler only counts, which is safe in a child of a process with threads.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    });
}

/// A value that each process has for itself: a forked child begins with a new one, as nobody there would ever release the
/// locks of the parent's.
pub(crate) struct PerProcess<T>(LazyLock<ArcSwap<InProcess<T>>>);

/// The value of one process: the one with so many forks before it.
struct InProcess<T> {
    forks: u32,
    value: Arc<T>,
}

impl<T: Default> PerProcess<T> {
    pub(crate) const fn new() -> Self {
        Self(LazyLock::new(|| ArcSwap::from(InProcess::new())))
    }

    /// That of this process.
    pub(crate) fn current(&self) -> Arc<T> {
        let present = self.0.load();
        if present.forks == forks() {
            return Arc::clone(&present.value);
        }
        let fresh = InProcess::new();
        self.0.store(Arc::clone(&fresh));
        Arc::clone(&fresh.value)
    }
}

impl<T: Default> InProcess<T> {
    fn new() -> Arc<Self> {
        Arc::new(Self { forks: forks(), value: Arc::default() })
    }
}
