//! The circuit breaker: stops sending to a node that only fails.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use aerospike_core::ResultCode;

use super::outage::Outage;
use crate::error::Error;
use crate::sync::Mutex;

/// In the count of errors: the node cannot be connected to. One load tells whether anything speaks against sending.
const DOWN: u32 = 1 << 31;
const MOST_ERRORS: u32 = DOWN - 1;

/// Counts a node's errors; open when there were more than `ClientPolicy::max_error_rate` within
/// `ClientPolicy::error_rate_window` tend intervals.
///
/// What counts as an error: a failed attempt to connect, the loss of connections (once, however many requests were in
/// flight), a client-side timeout, and the server codes `Timeout`, `DeviceOverload` and `KeyBusy`, as in aerospike-core.
#[derive(Debug)]
pub struct Breaker {
    /// With [`DOWN`].
    errors: AtomicU32,
    /// The most errors per window; [`MOST_ERRORS`] when the breaker is off.
    limit: AtomicU32,
    window: AtomicU32,
    ticks: AtomicU32,
    retries: AtomicU64,
    refusals: AtomicU64,
    failures: AtomicU64,
    /// When a loss of connections was last counted.
    lost: Mutex<Option<Instant>>,
    outage: Outage,
}

/// What a failed attempt to connect has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreachable {
    /// It opened the breaker.
    pub(crate) opened: bool,
    /// The node could be reached before, as far as was known.
    pub(crate) went_down: bool,
}

impl Breaker {
    /// A closed breaker. A `max_error_rate` of 0 turns it off; a window of 0 is taken as 1.
    #[must_use]
    pub fn new(max_error_rate: usize, error_rate_window: usize) -> Self {
        Self {
            errors: AtomicU32::new(0),
            limit: AtomicU32::new(limit(max_error_rate)),
            window: AtomicU32::new(window(error_rate_window)),
            ticks: AtomicU32::new(0),
            retries: AtomicU64::new(0),
            refusals: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            lost: Mutex::new(None),
            outage: Outage::default(),
        }
    }

    /// Changes the limits, which hold from the present window on.
    pub(crate) fn set_limits(&self, max_error_rate: usize, error_rate_window: usize) {
        self.limit.store(limit(max_error_rate), Ordering::Relaxed);
        self.window.store(window(error_rate_window), Ordering::Relaxed);
    }

    /// Whether nothing may be sent now. Two relaxed loads, of one cache line.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.errors() > self.limit.load(Ordering::Relaxed)
    }

    /// Whether anything speaks against sending: the breaker is open, or the node cannot be connected to. Two relaxed loads,
    /// of one cache line.
    #[inline]
    pub(crate) fn warns(&self) -> bool {
        self.errors.load(Ordering::Relaxed) > self.limit.load(Ordering::Relaxed)
    }

    /// Counts one error. Returns true if this error opened the breaker.
    pub fn record_error(&self) -> bool {
        let limit = self.limit.load(Ordering::Relaxed);
        if limit == MOST_ERRORS {
            return false;
        }
        // Saturating: too many errors within a window would otherwise close the breaker again.
        let more = |n: u32| (n & MOST_ERRORS < MOST_ERRORS).then(|| n + 1);
        let before = self.errors.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        before.is_ok_and(|before| before & MOST_ERRORS == limit)
    }

    /// Counts the loss of the connection under an attempt that began at this moment: once for all that were under way
    /// together. A thousand requests may share a few connections, and a node that goes down takes all of them along.
    /// Returns true if this loss opened the breaker.
    pub(crate) fn record_loss(&self, began: Instant, now: Instant) -> bool {
        let mut lost = self.lost.lock();
        let counts = lost.is_none_or(|lost| began >= lost);
        if counts {
            *lost = Some(now);
        }
        drop(lost);
        counts && self.record_error()
    }

    /// What is known of the attempts to connect to the node.
    pub(crate) fn outage(&self) -> &Outage {
        &self.outage
    }

    /// Counts a failed attempt to connect that began at this moment. Says what has changed by it.
    pub(crate) fn record_unreachable(&self, error: &Error, began: Instant, now: Instant) -> Unreachable {
        let opened = self.outage.failed(error, began, now) && self.record_error();
        let was_down = self.errors.fetch_or(DOWN, Ordering::Relaxed) & DOWN != 0;
        Unreachable { opened, went_down: !was_down }
    }

    /// Notes that the node took a connection. Returns true if the node was down until now.
    pub(crate) fn record_reachable(&self) -> bool {
        self.outage.ended();
        self.errors.load(Ordering::Relaxed) & DOWN != 0
            && self.errors.fetch_and(MOST_ERRORS, Ordering::Relaxed) & DOWN != 0
    }

    /// Whether the node cannot be connected to, as far as recent attempts show.
    pub(crate) fn is_down(&self, now: Instant) -> bool {
        if self.errors.load(Ordering::Relaxed) & DOWN == 0 {
            return false;
        }
        let down = self.outage.is_recent(now);
        if !down {
            // Nobody tries any more: not all connections were lost, or nothing was to be sent.
            self.errors.fetch_and(MOST_ERRORS, Ordering::Relaxed);
        }
        down
    }

    /// Counts an attempt at this node that was not the first one of its call.
    pub fn record_retry(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }

    /// How many retries went to this node.
    #[must_use]
    pub fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    /// Counts a request that was not sent because the breaker is open.
    pub fn record_refusal(&self) {
        self.refusals.fetch_add(1, Ordering::Relaxed);
    }

    /// How many requests were not sent because the breaker was open.
    #[must_use]
    pub fn refusals(&self) -> u64 {
        self.refusals.load(Ordering::Relaxed)
    }

    /// Counts a call that failed for good with an attempt at this node.
    pub fn record_failed_call(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    /// How many calls failed for good with an attempt at this node.
    #[must_use]
    pub fn failed_calls(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Whether an answer with this result code counts as an error of the node, and is worth another attempt.
    #[must_use]
    pub const fn counts(code: ResultCode) -> bool {
        matches!(code, ResultCode::Timeout | ResultCode::KeyBusy | ResultCode::DeviceOverload)
    }

    /// Errors in the present window.
    #[must_use]
    pub fn errors(&self) -> u32 {
        self.errors.load(Ordering::Relaxed) & MOST_ERRORS
    }

    /// One tend interval has passed; called by the control plane. Ends the window when it is full. Returns true if that
    /// closed the breaker.
    pub(crate) fn tick(&self) -> bool {
        if self.ticks.fetch_add(1, Ordering::Relaxed) + 1 < self.window.load(Ordering::Relaxed) {
            return false;
        }
        self.ticks.store(0, Ordering::Relaxed);
        let before = self.errors.fetch_and(DOWN, Ordering::Relaxed) & MOST_ERRORS;
        before > self.limit.load(Ordering::Relaxed)
    }
}

fn limit(max_error_rate: usize) -> u32 {
    match max_error_rate {
        0 => MOST_ERRORS,
        n => u32::try_from(n).unwrap_or(MOST_ERRORS).min(MOST_ERRORS),
    }
}

fn window(error_rate_window: usize) -> u32 {
    u32::try_from(error_rate_window).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn opens_above_the_limit_and_closes_with_the_window() {
        let breaker = Breaker::new(2, 3);
        for _ in 0..2 {
            breaker.record_error();
        }
        assert!(!breaker.is_open());
        breaker.record_error();
        assert!(breaker.is_open());
        breaker.tick();
        breaker.tick();
        assert!(breaker.is_open(), "two of three intervals have passed");
        breaker.tick();
        assert!(!breaker.is_open());
        assert_eq!(breaker.errors(), 0);
    }

    #[test]
    fn each_change_is_reported_once() {
        let (breaker, now) = (Breaker::new(2, 1), Instant::now());
        assert_eq!([(); 5].map(|()| breaker.record_error()), [false, false, true, false, false]);
        assert_eq!([(); 2].map(|()| breaker.tick()), [true, false]);
        let refused = Error::connection("refused");
        let changes = [(); 2].map(|()| breaker.record_unreachable(&refused, now, now).went_down);
        assert_eq!(changes, [true, false]);
        assert_eq!([(); 2].map(|()| breaker.record_reachable()), [true, false]);
    }

    #[test]
    fn zero_turns_it_off() {
        let breaker = Breaker::new(0, 1);
        for _ in 0..1000 {
            breaker.record_error();
        }
        assert!(!breaker.is_open());
    }

    #[test]
    fn a_window_of_zero_is_one_interval() {
        let breaker = Breaker::new(1, 0);
        breaker.record_error();
        breaker.record_error();
        assert!(breaker.is_open());
        breaker.tick();
        assert!(!breaker.is_open());
    }

    #[test]
    fn limits_may_change() {
        let breaker = Breaker::new(5, 3);
        (0..3).for_each(|_| _ = breaker.record_error());
        assert!(!breaker.is_open());
        breaker.set_limits(2, 1);
        assert!(breaker.is_open() && breaker.warns());
        breaker.tick();
        assert!(!breaker.is_open());
        breaker.set_limits(0, 1);
        (0..9).for_each(|_| _ = breaker.record_error());
        assert!(!breaker.is_open());
        assert_eq!(breaker.errors(), 0, "nothing is counted while it is off");
    }

    #[test]
    fn the_count_saturates() {
        let breaker = Breaker::new(1, 1);
        breaker.errors.store(MOST_ERRORS, Ordering::Relaxed);
        breaker.record_error();
        assert!(breaker.is_open() && !breaker.is_down(Instant::now()));
    }

    #[test]
    fn a_loss_counts_once_for_all_that_were_under_way() {
        let (breaker, start) = (Breaker::new(5, 1), Instant::now());
        let at = |millis| start + Duration::from_millis(millis);
        for began in 0..1000 {
            breaker.record_loss(at(began % 7), at(10));
        }
        assert_eq!(breaker.errors(), 1);
        // Each on its own: one after the other.
        for again in 1..=5 {
            breaker.record_loss(at(10 * again), at(10 * again + 5));
        }
        assert!(breaker.is_open());
    }

    #[test]
    fn a_node_that_cannot_be_reached_is_down_until_it_can() {
        let (breaker, now) = (Breaker::new(0, 1), Instant::now());
        let refused = Error::connection("refused");
        breaker.record_unreachable(&refused, now, now);
        assert!(breaker.warns() && breaker.is_down(now) && !breaker.is_open());
        breaker.tick();
        assert!(breaker.is_down(now), "that is not a matter of windows");
        breaker.record_reachable();
        assert!(!breaker.warns() && !breaker.is_down(now));
        breaker.record_unreachable(&refused, now, now);
        assert!(!breaker.is_down(now + Duration::from_secs(60)), "nobody has tried for long");
        assert!(!breaker.warns());
    }

    #[test]
    fn the_servers_overload_codes_count() {
        let counted: Vec<u8> = (0..=255).filter(|rc| Breaker::counts(ResultCode::from(*rc))).collect();
        assert_eq!(counted, [9, 14, 18]);
    }
}
