//! Whether this process was forked since a client was made: its threads and its share of the sockets are the parent's.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

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
