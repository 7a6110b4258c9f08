//! Whether the calls to a node share connections: found out by trying both.
//!
//! Sharing halves what a call costs the client where the server answers in microseconds. Where a request occupies its
//! connection for longer, each call waits for all in front of it, and a connection for each call is several times as fast.
//! Neither is seen from the other, so now and then the other way is tried for some calls, and the one in which calls
//! come back sooner is kept (decision 0017).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::sync::Mutex;

/// With fewer calls in flight a connection for each costs less in any case; a mixture of both costs most (decision 0014).
pub(super) const SHARE_FROM: usize = 10;
const SHARE_UNTIL: usize = 4;
/// Calls in flight are sampled once in so many calls.
const SAMPLE_EVERY: u64 = 16;
/// A way of working is measured over at least so many samples, and for so long.
const SAMPLES: u32 = 16;
const SPAN: Duration = Duration::from_millis(10);
/// A difference by this factor is plain; others are measured again, so many times at most: on a busy machine one comparison
/// may be off by half.
const PLAIN: f64 = 2.0;
const COMPARISONS: u32 = 4;
/// A trial that is plainly worse after so many samples ends.
const FEW_SAMPLES: u32 = 4;
/// Sharing may take this much more time than a connection for each call: it costs half the processor time.
const WORTH: f64 = 1.15;
/// How long the winner is used before the other way is tried again: at first, and at most.
const BACK_OFF: Duration = Duration::from_secs(1);
const MOST_BACK_OFF: Duration = Duration::from_secs(32);
/// A change of the time per call by this factor, twice in a row, asks for a new trial.
const CHANGED: f64 = 2.0;
/// What comes in so short a time after a trial is not looked at.
const REST: Duration = Duration::from_millis(50);

const ONE_CALL: u64 = 1 << IN_FLIGHT_BITS;
const IN_FLIGHT_BITS: u32 = 24;
const IN_FLIGHT: u64 = ONE_CALL - 1;

/// The single-record calls to a node. On cache lines of its own: every call changes it twice.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Sharing {
    /// How many calls have begun, and in the lower bits how many are in flight.
    calls: AtomicU64,
    /// Calls share connections. Rarely written.
    share: AtomicBool,
    trial: Mutex<Trial>,
}

/// One call in flight.
pub(super) struct InFlight<'a>(&'a Sharing);

/// What a call is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Share a connection.
    pub(super) share: bool,
    /// How many calls are in flight, this one included.
    pub(super) in_flight: usize,
}

impl Sharing {
    /// A call begins.
    pub(super) fn enter(&self, now: Instant) -> (InFlight<'_>, Verdict) {
        let calls = self.calls.fetch_add(ONE_CALL + 1, Ordering::Relaxed) + ONE_CALL + 1;
        let (begun, in_flight) = (calls >> IN_FLIGHT_BITS, (calls & IN_FLIGHT) as usize);
        let shared = self.share.load(Ordering::Relaxed);
        let mut share = shared;
        if in_flight < SHARE_UNTIL {
            share = false;
        } else if begun % SAMPLE_EVERY == 0
            && (shared || in_flight >= SHARE_FROM)
            && let Some(mut trial) = self.trial.try_lock()
        {
            share = trial.sample(now, begun, in_flight);
        }
        if share != shared {
            self.share.store(share, Ordering::Relaxed);
        }
        (InFlight(self), Verdict { share, in_flight })
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Stage {
    /// Nothing is known: a connection for each call is measured first.
    #[default]
    First,
    /// The other way is measured.
    Second,
    /// One way has won.
    Decided,
}

/// Compares both ways. Time is an argument.
#[derive(Debug, Default)]
struct Trial {
    stage: Stage,
    /// What is in use.
    share: bool,
    span: Span,
    /// Microseconds per call the other way.
    other: f64,
    /// Logarithms of the time of shared calls to that of others, added up, and how many.
    ratios: f64,
    compared: u32,
    /// Sharing has won the last trial.
    won: bool,
    /// Microseconds per call in the way that has won, as it was then.
    base: f64,
    decided: Option<Instant>,
    /// The last span was unlike it.
    changed: bool,
    back_off: Duration,
}

/// Calls sampled over some time in one way.
#[derive(Debug, Clone, Copy, Default)]
struct Span {
    began: Option<(Instant, u64)>,
    samples: u32,
    in_flight: usize,
}

impl Span {
    /// The mean time of a call in microseconds, by Little's law.
    fn time_per_call(&self, now: Instant, begun: u64) -> f64 {
        let Some((since, first)) = self.began else { return 0.0 };
        let elapsed = now.saturating_duration_since(since).as_secs_f64() * 1e6;
        let calls = begun.saturating_sub(first).max(1) as f64;
        elapsed / calls * self.in_flight as f64 / f64::from(self.samples.max(1))
    }
}

impl Trial {
    /// Takes in how many calls are in flight at this moment, when so many have begun. Says whether to share from here on.
    fn sample(&mut self, now: Instant, begun: u64, in_flight: usize) -> bool {
        let rested = self.decided.map_or(Duration::MAX, |at| now.saturating_duration_since(at));
        if self.stage == Stage::Decided && rested < REST {
            // The calls of the way that has lost are still on their way.
            return self.share;
        }
        let Some((since, _)) = self.span.began else {
            self.span = Span { began: Some((now, begun)), samples: 0, in_flight: 0 };
            return self.share;
        };
        self.span.samples += 1;
        self.span.in_flight += in_flight;
        let enough = self.span.samples >= SAMPLES && now.saturating_duration_since(since) >= SPAN;
        let time = self.span.time_per_call(now, begun);
        match self.stage {
            Stage::First if enough => self.switch(Stage::Second, time),
            Stage::Second => {
                let plain = self.compared == 0 && self.span.samples >= FEW_SAMPLES && time > PLAIN * self.other;
                if enough || plain {
                    self.compare(now, time);
                }
            }
            Stage::Decided if enough => {
                let changed = time > CHANGED * self.base || CHANGED * time < self.base;
                let before = std::mem::replace(&mut self.changed, changed);
                if changed && before {
                    self.changed = false;
                    self.back_off = BACK_OFF;
                    self.switch(Stage::Second, time);
                } else if rested >= self.back_off {
                    self.back_off = (2 * self.back_off).min(MOST_BACK_OFF);
                    self.switch(Stage::Second, time);
                } else {
                    self.span = Span::default();
                }
            }
            Stage::First | Stage::Decided => {}
        }
        self.share
    }

    /// Goes on the other way; `time` is what a call took until now.
    fn switch(&mut self, stage: Stage, time: f64) {
        if self.stage != stage {
            (self.ratios, self.compared) = (0.0, 0);
        }
        self.stage = stage;
        self.other = time;
        self.share = !self.share;
        self.span = Span::default();
    }

    /// `time` is what a call takes in the way that is in use.
    fn compare(&mut self, now: Instant, time: f64) {
        let (shared, own) = if self.share { (time, self.other) } else { (self.other, time) };
        self.ratios += (shared / own).ln();
        self.compared += 1;
        let ratio = (self.ratios / f64::from(self.compared)).exp();
        if self.compared < COMPARISONS && ratio < PLAIN * WORTH && WORTH < PLAIN * ratio {
            self.switch(Stage::Second, time);
            return;
        }
        let share = ratio <= WORTH;
        if share != self.won {
            // What is known of the time before counts for nothing.
            self.back_off = BACK_OFF;
        }
        self.won = share;
        self.back_off = self.back_off.max(BACK_OFF);
        self.base = if share { shared } else { own };
        self.share = share;
        self.stage = Stage::Decided;
        self.decided = Some(now);
        self.span = Span::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Many callers, each of which takes so many microseconds per call, shared and not, one call after the other.
    fn run(trial: &mut Trial, at: &mut Instant, begun: &mut u64, callers: usize, times: (f64, f64), calls: u64) -> u64 {
        let mut shared = 0;
        for _ in 0..calls / SAMPLE_EVERY {
            let time = if trial.share { times.0 } else { times.1 };
            *begun += SAMPLE_EVERY;
            *at += Duration::from_secs_f64(SAMPLE_EVERY as f64 * time / callers as f64 / 1e6);
            shared += u64::from(trial.sample(*at, *begun, callers)) * SAMPLE_EVERY;
        }
        shared
    }

    #[test]
    fn sharing_wins_where_it_is_faster_or_nearly_as_fast() {
        for times in [(350.0, 500.0), (350.0, 350.0), (360.0, 340.0)] {
            let (mut trial, mut at, mut begun) = (Trial::default(), Instant::now(), 0);
            let shared = run(&mut trial, &mut at, &mut begun, 32, times, 1_000_000);
            assert!(shared > 980_000, "{shared} of a million calls with {times:?}");
        }
    }

    #[test]
    fn a_connection_each_wins_where_requests_take_long() {
        for times in [(3200.0, 1400.0), (700.0, 500.0)] {
            let (mut trial, mut at, mut begun) = (Trial::default(), Instant::now(), 0);
            let shared = run(&mut trial, &mut at, &mut begun, 32, times, 1_000_000);
            assert!(shared < 10_000, "{shared} of a million calls with {times:?}");
        }
    }

    #[test]
    fn a_change_of_the_server_is_followed() {
        let (mut trial, mut at, mut begun) = (Trial::default(), Instant::now(), 0);
        for (round, times) in [(350.0, 500.0), (3200.0, 1400.0), (350.0, 500.0)].into_iter().cycle().take(9).enumerate()
        {
            let shared = run(&mut trial, &mut at, &mut begun, 32, times, 100_000);
            let expected = times.0 <= times.1;
            assert_eq!(trial.share, expected, "round {round}");
            assert!((shared > 90_000) == expected, "round {round}: {shared} of 100,000 calls shared");
        }
    }

    #[test]
    fn few_calls_never_share() {
        let sharing = Sharing::default();
        let now = Instant::now();
        for call in 0..10_000 {
            let calls: Vec<_> = (0..3).map(|_| sharing.enter(now + Duration::from_micros(call))).collect();
            assert!(calls.iter().all(|(_, verdict)| !verdict.share));
        }
        let many: Vec<_> = (0..40).map(|_| sharing.enter(now)).collect();
        assert_eq!(many.last().map(|(_, verdict)| verdict.in_flight), Some(40));
        drop(many);
        assert_eq!(sharing.enter(now).1, Verdict { share: false, in_flight: 1 });
    }
}
