//! The clock, as drivers and clients read it: in one place, so that a test can count the readings of an operation.

use std::time::{Duration, Instant, SystemTime};

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

/// Nanoseconds after which the clocks of all lanes agree; a power of two.
const COMMON: u64 = 1 << 35;

/// Where the clock of a lane begins: some seconds ago, so that the lanes of all clients, also of other hosts as far as their
/// clocks agree, show the same time but for a multiple of [`COMMON`]. Lanes try other numbers of connections at round
/// moments, and so together.
pub(crate) fn epoch() -> Instant {
    let now = now();
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    now.checked_sub(Duration::from_nanos(since.as_nanos() as u64 % COMMON)).unwrap_or(now)
}

/// How often this thread has read the clock for a driver or a client. Only in builds with debug assertions.
#[cfg(debug_assertions)]
#[must_use]
pub fn readings() -> u64 {
    READINGS.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_that_begin_at_different_times_have_the_same_clock() {
        let first = epoch();
        std::thread::sleep(Duration::from_millis(30));
        let second = epoch();
        let apart = second.saturating_duration_since(first).as_nanos() as u64 % COMMON;
        let apart = apart.min(COMMON - apart);
        assert!(apart < 10_000_000, "{apart} ns apart");
    }
}
