//! The server's clock: milliseconds and seconds since 2010-01-01 UTC.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// 2010-01-01T00:00:00Z in Unix seconds: where void times count from.
pub(crate) const EPOCH_2010: u64 = 1_262_304_000;

/// Farthest that a clock can be from the system's: ten years, the longest TTL.
const MAX_AWAY_MS: u64 = 315_360_000 * 1000;

/// Milliseconds since 2010-01-01 UTC. Last-update times are kept in this unit.
pub(crate) fn now_ms() -> u64 {
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64);
    unix.saturating_sub(EPOCH_2010 * 1000)
}

/// Seconds since 2010-01-01 UTC. Void times are in this unit.
pub(crate) const fn seconds(ms: u64) -> u32 {
    (ms / 1000) as u32
}

/// How far a clock is from the system's: that of a cluster, or of a node from its cluster's.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    ahead_ms: AtomicI64,
}

impl Clock {
    /// How far it is ahead, in milliseconds; negative: behind.
    #[inline]
    pub(crate) fn ahead_ms(&self) -> i64 {
        self.ahead_ms.load(Ordering::Relaxed)
    }

    /// Moves it forward, or back; `false` if it would be more than ten years away.
    pub(crate) fn shift(&self, by_ms: i64) -> bool {
        let near = |ahead: &i64| ahead.unsigned_abs() <= MAX_AWAY_MS;
        let sum = |ahead: i64| ahead.checked_add(by_ms).filter(near);
        self.ahead_ms.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum).is_ok()
    }

    /// Ends that it is away from the system's.
    pub(crate) fn reset(&self) {
        self.ahead_ms.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_goes_forward_and_back_by_ten_years_at_most() {
        let clock = Clock::default();
        assert!(clock.shift(3_600_000));
        assert!(!clock.shift(315_360_000_000) && !clock.shift(i64::MAX));
        assert_eq!(clock.ahead_ms(), 3_600_000);
        assert!(clock.shift(-5_000_000));
        assert_eq!(clock.ahead_ms(), -1_400_000);
        assert!(!clock.shift(-315_360_000_000) && !clock.shift(i64::MIN));
    }
}
