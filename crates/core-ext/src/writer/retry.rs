//! What a failed attempt means for a record: the classes of failures, the pauses between attempts, and the budget of
//! retries.

use std::time::{Duration, Instant};

use aerospike_core::ResultCode;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::error::{Error, ErrorKind};

/// What kind of failure an attempt ended in, and so what the writer does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RetryClass {
    /// The partition has moved or has no owner at the moment: the record goes to its new owner, at once the first time, and
    /// this does not count as a retry.
    Moved,
    /// The server has too much to do: the record is sent again after a pause. Where the whole node is meant
    /// ([`CLASSES`] says which), the rate of records to it falls.
    Throttled,
    /// The connection was lost, or no answer came in time: the record is sent again after a pause, if repeating it is safe
    /// (or nothing was sent).
    Transient,
    /// Another attempt would end in the same way: the record has failed.
    Permanent,
}

/// The class of each result code of the server that is worth another attempt, and whether it speaks for the whole node: then
/// the rate of records to it falls, and its retries are bounded by that and not by the budget. All other codes are [`RetryClass::Permanent`].
pub const CLASSES: &[(ResultCode, RetryClass, bool)] = &[
    (ResultCode::PartitionUnavailable, RetryClass::Moved, false),
    (ResultCode::ClusterKeyMismatch, RetryClass::Moved, false),
    (ResultCode::DeviceOverload, RetryClass::Throttled, true),
    (ResultCode::QuotaExceeded, RetryClass::Throttled, true),
    (ResultCode::ServerMemError, RetryClass::Throttled, true),
    (ResultCode::BatchQueuesFull, RetryClass::Throttled, true),
    (ResultCode::BatchMaxRequestsExceeded, RetryClass::Throttled, true),
    (ResultCode::KeyBusy, RetryClass::Throttled, false),
    (ResultCode::MrtBlocked, RetryClass::Throttled, false),
    (ResultCode::Timeout, RetryClass::Transient, false),
];

impl RetryClass {
    /// The class of a failure, and whether it slows its node down.
    #[must_use]
    pub fn of(error: &Error) -> (Self, bool) {
        if let Some(code) = error.server_result_code() {
            let known = CLASSES.iter().find(|(known, ..)| *known == code);
            // A row that could not be routed carries both.
            return known.map_or((Self::Permanent, false), |(_, class, slows)| (*class, *slows));
        }
        match error.kind() {
            ErrorKind::InvalidNode => (Self::Moved, false),
            // The client's own way to say that the node has too much to do.
            ErrorKind::MaxErrorRate => (Self::Throttled, true),
            ErrorKind::Timeout
            | ErrorKind::Connection
            | ErrorKind::ConnectionPoolEmpty
            | ErrorKind::NoMoreConnections
            | ErrorKind::PoolExhausted { .. }
            | ErrorKind::ConnectFailed { .. }
            | ErrorKind::Io(_)
            | ErrorKind::BadResponse
            // Whoever waited for a lone record, and sent it.
            | ErrorKind::Interrupted => (Self::Transient, false),
            _ => (Self::Permanent, false),
        }
    }

    /// Its name in small letters.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Moved => "moved",
            Self::Throttled => "throttled",
            Self::Transient => "transient",
            Self::Permanent => "permanent",
        }
    }
}

/// Random parts of pauses.
#[derive(Debug)]
pub(super) struct Jitter(SplitMix64);

impl Jitter {
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// A random part of a time.
    pub(super) fn part_of(&mut self, time: Duration) -> Duration {
        time.mul_f64((self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64)
    }
}

/// The upper bound of the pause before a retry, counted from 1.
pub(super) fn backoff(first: Duration, most: Duration, retry: u32) -> Duration {
    let doublings = retry.saturating_sub(1).min(31);
    first.checked_mul(1 << doublings).map_or(most, |bound| bound.min(most))
}

/// The pause before a record goes on after so many moved partitions in a row: none at first, then longer, as the nodes
/// need a while to agree.
pub(super) fn pause_after_move(in_a_row: u32) -> Duration {
    const FIRST: Duration = Duration::from_millis(2);
    const MOST: Duration = Duration::from_millis(100);
    match in_a_row {
        0 | 1 => Duration::ZERO,
        n => backoff(FIRST, MOST, n - 1),
    }
}

/// The retries that may be made: successes and time earn them, retries spend them.
#[derive(Debug)]
pub(super) struct RetryBudget {
    balance: f64,
    per_success: f64,
    per_second: f64,
    at: Instant,
}

impl RetryBudget {
    /// The most that can be saved up, and what there is at first.
    const MOST: f64 = 1000.0;

    pub(super) const fn new(per_success: f64, per_second: f64, now: Instant) -> Self {
        Self { balance: Self::MOST, per_success, per_second, at: now }
    }

    pub(super) fn succeeded(&mut self, records: usize) {
        self.balance = (self.balance + self.per_success * records as f64).min(Self::MOST);
    }

    /// Pays for one retry, if there is enough.
    pub(super) fn pay(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.at = self.at.max(now);
        self.balance = (self.balance + passed * self.per_second).min(Self::MOST);
        if self.balance < 1.0 {
            return false;
        }
        self.balance -= 1.0;
        true
    }

    /// When time alone will have earned the next retry.
    pub(super) fn next(&self) -> Option<Instant> {
        let missing = (1.0 - self.balance).max(0.0);
        if self.per_second <= 0.0 {
            // Only a success earns one.
            return None;
        }
        Some(self.at + Duration::from_secs_f64((missing / self.per_second).clamp(0.001, 3600.0)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn failures_have_their_classes() {
        let server = |code| RetryClass::of(&Error::server(code, &Arc::from("node")));
        assert_eq!(server(ResultCode::PartitionUnavailable), (RetryClass::Moved, false));
        assert_eq!(server(ResultCode::DeviceOverload), (RetryClass::Throttled, true));
        assert_eq!(server(ResultCode::KeyBusy), (RetryClass::Throttled, false));
        assert_eq!(server(ResultCode::Timeout), (RetryClass::Transient, false));
        for code in [ResultCode::GenerationError, ResultCode::RecordTooBig, ResultCode::RoleViolation] {
            assert_eq!(server(code), (RetryClass::Permanent, false), "{code:?}");
        }
        assert_eq!(RetryClass::of(&Error::timeout("t")).0, RetryClass::Transient);
        assert_eq!(RetryClass::of(&Error::connection("c")).0, RetryClass::Transient);
        assert_eq!(RetryClass::of(&Error::invalid_node("n")).0, RetryClass::Moved);
        assert_eq!(RetryClass::of(&Error::client_closed()).0, RetryClass::Permanent);
        assert_eq!(RetryClass::of(&Error::invalid_argument("a")).0, RetryClass::Permanent);
        // A row without an owner, as batches report it.
        let unroutable = Error::server_bare(ResultCode::PartitionUnavailable).with_cause(Error::invalid_node("n"));
        assert_eq!(RetryClass::of(&unroutable).0, RetryClass::Moved);
    }

    #[test]
    fn pauses_double_up_to_their_bound_and_are_random_parts_of_it() {
        let (first, most) = (Duration::from_millis(10), Duration::from_millis(70));
        let bounds: Vec<_> = (1..6).map(|retry| backoff(first, most, retry).as_millis()).collect();
        assert_eq!(bounds, [10, 20, 40, 70, 70]);
        assert_eq!(backoff(Duration::from_secs(1 << 40), Duration::MAX, 40), Duration::MAX);
        assert_eq!(pause_after_move(1), Duration::ZERO);
        assert_eq!(pause_after_move(2), Duration::from_millis(2));
        assert_eq!(pause_after_move(50), Duration::from_millis(100));
        let mut jitter = Jitter::new(7);
        let parts: Vec<_> = (0..1000).map(|_| jitter.part_of(most)).collect();
        assert!(parts.iter().all(|part| *part < most));
        let mean = parts.iter().sum::<Duration>() / 1000;
        assert!((30..40).contains(&mean.as_millis()), "{mean:?}");
    }

    #[test]
    fn a_budget_is_earned_by_successes_and_by_time() {
        let start = Instant::now();
        let mut budget = RetryBudget::new(0.5, 10.0, start);
        assert_eq!((0..2000).filter(|_| budget.pay(start)).count(), 1000);
        budget.succeeded(8);
        assert_eq!((0..100).filter(|_| budget.pay(start)).count(), 4);
        let next = budget.next().unwrap();
        assert!(next > start && next <= start + Duration::from_millis(101), "{:?}", next - start);
        assert_eq!((0..100).filter(|_| budget.pay(start + Duration::from_secs(1))).count(), 10);
        let mut unpaid = RetryBudget::new(0.0, 0.0, start);
        while unpaid.pay(start) {}
        assert_eq!(unpaid.next(), None);
    }
}
