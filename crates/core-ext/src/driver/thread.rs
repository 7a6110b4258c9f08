//! Numbers of threads.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of the calling thread, from 0 in the order in which threads first asked: neighbours get different lanes and
/// connections.
#[inline]
pub(crate) fn number() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: Cell<Option<NonZeroUsize>> = const { Cell::new(None) };
    }
    let number = NUMBER.get().unwrap_or_else(|| {
        let number = NonZeroUsize::MIN.saturating_add(THREADS.fetch_add(1, Ordering::Relaxed));
        NUMBER.set(Some(number));
        number
    });
    number.get() - 1
}
