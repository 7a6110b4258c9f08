//! The server's clock: milliseconds and seconds since 2010-01-01 UTC.

use std::time::{SystemTime, UNIX_EPOCH};

/// 2010-01-01T00:00:00Z in Unix seconds: where void times count from.
pub(crate) const EPOCH_2010: u64 = 1_262_304_000;

/// Milliseconds since 2010-01-01 UTC. Last-update times are kept in this unit.
pub(crate) fn now_ms() -> u64 {
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64);
    unix.saturating_sub(EPOCH_2010 * 1000)
}

/// Seconds since 2010-01-01 UTC. Void times are in this unit.
pub(crate) const fn seconds(ms: u64) -> u32 {
    (ms / 1000) as u32
}
