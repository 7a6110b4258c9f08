//! The server's clock: milliseconds and seconds since 2010-01-01 UTC.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// 2010-01-01T00:00:00Z in Unix seconds: where void times count from.
pub(crate) const EPOCH_2010: u64 = 1_262_304_000;

/// Farthest that a clock can be put forward: ten years, the longest TTL.
const MAX_AHEAD_MS: u64 = 315_360_000 * 1000;

/// Milliseconds since 2010-01-01 UTC. Last-update times are kept in this unit.
pub(crate) fn now_ms() -> u64 {
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64);
    unix.saturating_sub(EPOCH_2010 * 1000)
}

/// Seconds since 2010-01-01 UTC. Void times are in this unit.
pub(crate) const fn seconds(ms: u64) -> u32 {
    (ms / 1000) as u32
}

/// The clock of a cluster: the system's, or ahead of it.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    ahead_ms: AtomicU64,
}

impl Clock {
    /// How far it is ahead of the system's, in milliseconds.
    #[inline]
    pub(crate) fn ahead_ms(&self) -> u64 {
        self.ahead_ms.load(Ordering::Relaxed)
    }

    /// Milliseconds since 2010-01-01 UTC, as the cluster has it.
    pub(crate) fn now_ms(&self) -> u64 {
        now_ms() + self.ahead_ms()
    }

    /// Puts it forward; `false` if it would be more than ten years ahead.
    pub(crate) fn advance(&self, by: Duration) -> bool {
        let by = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        let sum = |ahead: u64| ahead.checked_add(by).filter(|ahead| *ahead <= MAX_AHEAD_MS);
        self.ahead_ms.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_goes_forward_by_ten_years_at_most() {
        let clock = Clock::default();
        assert!(clock.advance(Duration::from_secs(3600)));
        assert!(clock.now_ms() >= now_ms() + 3_600_000 - 1000);
        assert!(!clock.advance(Duration::from_secs(315_360_000)) && !clock.advance(Duration::MAX));
        assert_eq!(clock.ahead_ms(), 3_600_000);
    }
}
