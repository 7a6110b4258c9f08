//! The server's clock: milliseconds and seconds since 2010-01-01 UTC.
//!
//! Whoever moves bytes or time reads it: the threads of connections, of a node's scripts, of the cluster. What answers
//! requests gets a [`Now`] from them and reads no clock, so that a made-up time serves as well.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// 2010-01-01T00:00:00Z in Unix seconds: where void times count from.
pub(crate) const EPOCH_2010: u64 = 1_262_304_000;

/// Farthest that a clock can be from the system's: ten years, the longest TTL.
const MAX_AWAY_MS: u64 = 315_360_000 * 1000;

/// The system's clock may be this old where it is read for every piece of work.
const READ_AGAIN: Duration = Duration::from_millis(10);

/// Two clocks that are read within this time are read at one time.
const AT_ONE_TIME: Duration = Duration::from_micros(20);
/// How often that is tried; there are machines on which reading a clock takes longer.
const MOST_TRIES: u32 = 8;

/// Time since 2010-01-01 UTC.
fn since_2010() -> Duration {
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    unix.saturating_sub(Duration::from_secs(EPOCH_2010))
}

/// Milliseconds since 2010-01-01 UTC. Last-update times are kept in this unit.
pub(crate) fn now_ms() -> u64 {
    since_2010().as_millis() as u64
}

/// How time goes on while a request is answered: asked where real work is metered.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Passing {
    /// As this clock says.
    Clock(fn() -> Instant),
    /// Work takes no time.
    #[cfg_attr(not(test), expect(dead_code, reason = "for worlds whose time is made up: so far in tests"))]
    Still,
}

/// The time of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    /// Milliseconds since 2010, as the node has it that was asked.
    pub(crate) ms: u64,
    /// The same by the system's clock, which all nodes have in common.
    pub(crate) system_ms: u64,
    /// What durations are reckoned with: it never goes back.
    pub(crate) instant: Instant,
    /// How it goes on.
    pub(crate) passing: Passing,
}

impl Now {
    /// What the system's clocks say.
    pub(crate) fn read() -> Self {
        Self::of_system(now_ms(), Instant::now())
    }

    fn of_system(ms: u64, instant: Instant) -> Self {
        Self { ms, system_ms: ms, instant, passing: Passing::Clock(Instant::now) }
    }

    /// The time after work that may have taken some.
    pub(crate) fn after_work(self) -> Self {
        let Passing::Clock(read) = self.passing else { return self };
        let instant = read();
        let passed = instant.saturating_duration_since(self.instant).as_millis() as u64;
        Self { ms: self.ms + passed, system_ms: self.system_ms + passed, instant, ..self }
    }

    /// The same for a node whose clock is so far ahead of the system's, in milliseconds; negative: behind.
    #[inline]
    pub(crate) fn shifted(self, ahead_ms: i64) -> Self {
        Self { ms: self.system_ms.saturating_add_signed(ahead_ms), ..self }
    }

    /// Seconds since 2010, as the node has it.
    pub(crate) const fn seconds(self) -> u32 {
        seconds(self.ms)
    }
}

/// The system's clocks for a thread that asks often: one of the two is read each time, both every 10 ms at most.
#[derive(Debug)]
pub(crate) struct SystemClock {
    read: Instant,
    since_2010: Duration,
}

impl SystemClock {
    /// Reads both.
    pub(crate) fn new() -> Self {
        let (read, since_2010) = Self::read_both();
        Self { read, since_2010 }
    }

    /// What time it is.
    pub(crate) fn now(&mut self) -> Now {
        let mut instant = Instant::now();
        if instant - self.read >= READ_AGAIN {
            (self.read, self.since_2010) = Self::read_both();
            instant = self.read;
        }
        let ms = (self.since_2010 + (instant - self.read)).as_millis() as u64;
        Now::of_system(ms, instant)
    }

    /// Both at one time. A thread that loses its processor in between would be off by that from the others, and a write
    /// could seem to come before a truncation that it came after.
    fn read_both() -> (Instant, Duration) {
        let mut before = Instant::now();
        let mut tries = 0;
        loop {
            let since_2010 = since_2010();
            let after = Instant::now();
            tries += 1;
            if after - before < AT_ONE_TIME || tries == MOST_TRIES {
                return (after, since_2010);
            }
            before = after;
        }
    }
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
    fn a_clock_that_is_asked_often_says_what_the_systems_does() {
        let mut clock = SystemClock::new();
        // Far enough apart that it was read again.
        for _ in 0..2 {
            let (own, systems) = (clock.now(), Now::read());
            assert!(own.ms.abs_diff(systems.ms) < 1000, "{own:?} {systems:?}");
            assert!(own.instant <= systems.instant);
            std::thread::sleep(READ_AGAIN);
        }
    }

    #[test]
    fn work_takes_time_if_there_is_a_clock() {
        let later: fn() -> Instant = || Instant::now() + Duration::from_secs(3600);
        let now = Now { passing: Passing::Clock(later), ..Now::read() }.shifted(-5000);
        let after = now.after_work();
        assert!(after.instant >= now.instant + Duration::from_secs(3600));
        assert!(after.ms >= now.ms + 3_600_000 && after.system_ms == after.ms + 5000);
        let still = Now { passing: Passing::Still, ..now };
        assert_eq!((still.after_work().ms, still.after_work().instant), (now.ms, now.instant));
    }

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
