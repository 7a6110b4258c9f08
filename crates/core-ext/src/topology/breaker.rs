//! The circuit breaker: stops sending to a node that only fails.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use aerospike_core::ResultCode;

/// Counts a node's errors; open when there were more than `ClientPolicy::max_error_rate` within
/// `ClientPolicy::error_rate_window` tend intervals.
///
/// What counts as an error: a failure of the connection, a client-side timeout, and the server codes `Timeout`,
/// `DeviceOverload` and `KeyBusy`, as in aerospike-core.
#[derive(Debug)]
pub struct Breaker {
    errors: AtomicU32,
    /// The most errors per window; `u32::MAX` when the breaker is off.
    limit: u32,
    window: u32,
    ticks: AtomicU32,
    retries: AtomicU64,
    refusals: AtomicU64,
    failures: AtomicU64,
}

impl Breaker {
    /// A closed breaker. A `max_error_rate` of 0 turns it off; a window of 0 is taken as 1.
    #[must_use]
    pub fn new(max_error_rate: usize, error_rate_window: usize) -> Self {
        Self {
            errors: AtomicU32::new(0),
            limit: match max_error_rate {
                0 => u32::MAX,
                n => u32::try_from(n).unwrap_or(u32::MAX),
            },
            window: u32::try_from(error_rate_window).unwrap_or(u32::MAX).max(1),
            ticks: AtomicU32::new(0),
            retries: AtomicU64::new(0),
            refusals: AtomicU64::new(0),
            failures: AtomicU64::new(0),
        }
    }

    /// Whether nothing may be sent now. One relaxed load.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.errors.load(Ordering::Relaxed) > self.limit
    }

    /// Counts one error.
    pub fn record_error(&self) {
        if self.limit != u32::MAX {
            // Saturating: 2^32 errors within a window would otherwise close the breaker again.
            let _ = self.errors.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_add(1));
        }
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
        self.errors.load(Ordering::Relaxed)
    }

    /// One tend interval has passed; called by the control plane. Ends the window when it is full.
    pub(crate) fn tick(&self) {
        if self.ticks.fetch_add(1, Ordering::Relaxed) + 1 >= self.window {
            self.ticks.store(0, Ordering::Relaxed);
            self.errors.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
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
    fn the_count_saturates() {
        let breaker = Breaker::new(1, 1);
        breaker.errors.store(u32::MAX, Ordering::Relaxed);
        breaker.record_error();
        assert!(breaker.is_open());
    }

    #[test]
    fn the_servers_overload_codes_count() {
        let counted: Vec<u8> = (0..=255).filter(|rc| Breaker::counts(ResultCode::from(*rc))).collect();
        assert_eq!(counted, [9, 14, 18]);
    }
}
