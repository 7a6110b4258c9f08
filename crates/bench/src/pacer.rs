//! Sleeping until a point in time, to some microseconds and without burning a core.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Up to this rate the pacer wakes for each arrival.
const FINE_RATE: f64 = 20_000.0;
/// Least time between two wake-ups of the pacer above that rate.
const PAUSE: Duration = Duration::from_micros(50);

/// Least time between two wake-ups of the pacer: one costs some microseconds of a core that clients and servers share.
#[must_use]
pub fn coalescing(rate: f64) -> Duration {
    if rate > FINE_RATE { PAUSE } else { Duration::ZERO }
}

/// Returns at `time`, or at once if it is over.
pub fn sleep_until(time: Instant) {
    thread_local! {
        static PRECISE: Cell<bool> = const { Cell::new(false) };
    }
    if !PRECISE.replace(true) {
        remove_timer_slack();
    }
    let pause = time.saturating_duration_since(Instant::now());
    if !pause.is_zero() {
        std::thread::sleep(pause);
    }
}

/// By default Linux lets timers of a thread expire up to 50 µs late, to bundle wake-ups.
fn remove_timer_slack() {
    #[cfg(target_os = "linux")]
    // SAFETY: PR_SET_TIMERSLACK takes a number and changes a setting of the calling thread only.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_returns_early() {
        for micros in [0, 10, 100, 2_000] {
            let time = Instant::now() + Duration::from_micros(micros);
            sleep_until(time);
            assert!(Instant::now() >= time);
        }
    }
}
