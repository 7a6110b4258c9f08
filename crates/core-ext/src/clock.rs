//! The clock, as drivers and clients read it: in one place, so that a test can count the readings of an operation.

use std::time::Instant;

#[cfg(debug_assertions)]
thread_local! {
    static READINGS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// This moment.
#[inline]
pub(crate) fn now() -> Instant {
    #[cfg(debug_assertions)]
    READINGS.set(READINGS.get() + 1);
    Instant::now()
}

/// How often this thread has read the clock for a driver or a client. Only in builds with debug assertions.
#[cfg(debug_assertions)]
#[must_use]
pub fn readings() -> u64 {
    READINGS.get()
}
