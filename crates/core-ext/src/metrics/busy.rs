//! How often the program did not let its event loop run.

use std::time::{Duration, Instant};

use crate::sync::Mutex;

/// A driver that runs so much too late counts: the program kept the thread for itself.
const COUNTED: Duration = Duration::from_millis(100);
/// The log hears of what is this long, half of what a call may take by default.
const LOGGED: Duration = Duration::from_millis(500);
/// The log gets a line this often at most.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// Times during which the program kept an event loop, or the threads of an async runtime, busy while requests were under way:
/// no answer was read and no request sent. Not the server's fault, and not a reason for errors: answers that have come are
/// delivered however late the loop comes to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LoopBusy {
    /// How often for 0.1 s or more. Each event loop and each lane of a runtime counts.
    pub count: u64,
    /// For how long in all.
    pub total: Duration,
    /// The longest.
    pub longest: Duration,
}

/// Counts them, for all drivers of a client.
#[derive(Debug, Default)]
pub(crate) struct BusyLoops(Mutex<(LoopBusy, Option<Instant>)>);

impl BusyLoops {
    /// A driver with requests under way ran so much too late. True, at most once a minute: the log is to say so.
    pub(crate) fn note(&self, late: Duration, now: Instant) -> bool {
        if late < COUNTED {
            return false;
        }
        let (counts, logged) = &mut *self.0.lock();
        counts.count += 1;
        counts.total += late;
        counts.longest = counts.longest.max(late);
        let due = late >= LOGGED && logged.is_none_or(|at| now.saturating_duration_since(at) >= LOG_EVERY);
        if due {
            *logged = Some(now);
        }
        due
    }

    pub(crate) fn counts(&self) -> LoopBusy {
        self.0.lock().0
    }
}

/// What the log says.
pub(crate) fn warning(late: Duration) -> String {
    format!(
        "the program kept its event loop busy for {late:.1?} while requests were under way; none was sent and no answer read \
         meanwhile (the client's statistics count this as loop_busy)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_counts_and_the_log_hears_of_it_once_a_minute() {
        let (loops, begun) = (BusyLoops::default(), Instant::now());
        let at = |seconds| begun + Duration::from_secs(seconds);
        assert!(!loops.note(Duration::from_millis(99), at(0)));
        assert_eq!(loops.counts(), LoopBusy::default());
        assert!(!loops.note(Duration::from_millis(499), at(0)));
        let logged = [0, 1, 59, 60, 61].map(|second| loops.note(Duration::from_millis(500 + second), at(second)));
        assert_eq!(logged, [true, false, false, true, false]);
        let LoopBusy { count, total, longest } = loops.counts();
        assert_eq!((count, total.as_millis(), longest.as_millis()), (6, 3180, 561));
    }
}
