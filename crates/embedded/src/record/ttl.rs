//! TTL words: what a write makes of the void time, and when a read touches.

use crate::code;
use crate::store::{NamespaceConfig, Record};
use std::sync::atomic::Ordering;

/// Ten years: the largest TTL in seconds.
const MAX_TTL: u32 = 315_360_000;
/// Never expires.
const NEVER: u32 = u32::MAX;
/// Keep the void time as it is.
const KEEP: u32 = u32::MAX - 1;

/// Whether a TTL word of a write can be taken; `is_new`: there is no record yet.
#[inline]
pub(super) fn check(config: &NamespaceConfig, word: u32, is_new: bool) -> Result<(), u8> {
    let word = if word == KEEP && is_new { 0 } else { word };
    let expires = match word {
        0 => config.default_ttl.load(Ordering::Relaxed) != 0,
        NEVER | KEEP => false,
        1..=MAX_TTL => true,
        _ => return Err(code::PARAMETER),
    };
    if expires && config.refuses_ttls() { Err(code::FORBIDDEN) } else { Ok(()) }
}

/// The void time after a write at `now` (seconds since 2010); `old` is the void time of the record that is there.
pub(super) fn void_time(config: &NamespaceConfig, word: u32, now: u32, old: Option<u32>) -> u32 {
    let default = || match config.default_ttl.load(Ordering::Relaxed) {
        0 => 0,
        ttl => now.saturating_add(ttl),
    };
    match word {
        0 => default(),
        NEVER => 0,
        KEEP => old.unwrap_or_else(default),
        ttl => now.saturating_add(ttl),
    }
}

/// The new void time if a read with this TTL word is to touch the record: when at most that percentage is left of the
/// TTL that the last write gave it. As in the server, the word of a read of what never expires is not looked at.
pub(super) fn read_touch(config: &NamespaceConfig, word: u32, record: &Record, now_ms: u64) -> Result<Option<u32>, u8> {
    let void_time = record.void_time();
    if void_time == 0 {
        return Ok(None);
    }
    let percent = match word {
        0 => config.default_read_touch_ttl_pct.load(Ordering::Relaxed),
        NEVER => return Ok(None),
        1..=100 => word,
        _ => return Err(code::PARAMETER),
    };
    if percent == 0 {
        return Ok(None);
    }
    let ttl = void_time.saturating_sub((record.last_update_ms() / 1000) as u32);
    let left = u64::from(ttl) * u64::from(percent) / 100;
    let now = (now_ms / 1000) as u32;
    let touch = now >= void_time.saturating_sub(left as u32);
    Ok(touch.then(|| now.saturating_add(ttl)))
}
