//! How many records and bytes may go out: token buckets, and how the rate to a node follows what the node says.

use std::time::{Duration, Instant};

/// How much of a second's tokens can be saved up for a burst.
const BURST: f64 = 0.1;
/// When all records of a request are throttled, the rate falls by this part; when some are, by their share of it.
const DECREASE: f64 = 0.5;
/// A rate falls at most once in so long: what is in flight when it falls says nothing about the new rate.
const ROUND: Duration = Duration::from_millis(100);
/// Each round without a throttling answer adds this part of the rate that was too high.
const INCREASE: f64 = 0.02;
/// A rate that has come to so many times the one that was too high is no limit any more.
const FREE_AT: f64 = 2.0;
/// The lowest rate that a node is throttled to, in records a second.
const LEAST: f64 = 10.0;

/// A token bucket. It may go into debt, so that one record larger than the bucket passes, too.
#[derive(Debug)]
pub(super) struct Bucket {
    /// Tokens a second; `None`: no limit.
    rate: Option<f64>,
    tokens: f64,
    at: Instant,
}

impl Bucket {
    pub(super) fn new(rate: Option<f64>, now: Instant) -> Self {
        Self { rate, tokens: rate.map_or(0.0, |rate| (rate * BURST).max(1.0)), at: now }
    }

    fn set_rate(&mut self, rate: Option<f64>, now: Instant) {
        self.refill(now);
        if self.rate.is_none() {
            self.tokens = 0.0;
        }
        self.rate = rate;
    }

    fn refill(&mut self, now: Instant) {
        if let Some(rate) = self.rate {
            let passed = now.saturating_duration_since(self.at).as_secs_f64();
            self.tokens = (self.tokens + rate * passed).min((rate * BURST).max(1.0));
        }
        self.at = self.at.max(now);
    }

    /// How many tokens can be taken now, at least one; `None`: none, before [`ready_at`](Self::ready_at).
    pub(super) fn available(&mut self, now: Instant) -> Option<usize> {
        self.refill(now);
        match self.rate {
            None => Some(usize::MAX),
            Some(_) if self.tokens >= 1.0 => Some(self.tokens as usize),
            Some(_) => None,
        }
    }

    pub(super) fn spend(&mut self, tokens: usize) {
        if self.rate.is_some() {
            self.tokens -= tokens as f64;
        }
    }

    /// When there will be a token.
    pub(super) fn ready_at(&self) -> Instant {
        match self.rate {
            Some(rate) if self.tokens < 1.0 => {
                self.at + Duration::from_secs_f64(((1.0 - self.tokens) / rate).clamp(1e-4, 3600.0))
            }
            _ => self.at,
        }
    }
}

/// Two buckets: records and bytes.
#[derive(Debug)]
pub(super) struct Limiter {
    pub(super) records: Bucket,
    pub(super) bytes: Bucket,
}

impl Limiter {
    pub(super) fn new(records: Option<f64>, bytes: Option<f64>, now: Instant) -> Self {
        Self { records: Bucket::new(records, now), bytes: Bucket::new(bytes, now) }
    }

    /// How many records and bytes can go now; `None`: nothing before [`ready_at`](Self::ready_at).
    pub(super) fn available(&mut self, now: Instant) -> Option<(usize, usize)> {
        self.records.available(now).zip(self.bytes.available(now))
    }

    pub(super) fn spend(&mut self, records: usize, bytes: usize) {
        self.records.spend(records);
        self.bytes.spend(bytes);
    }

    pub(super) fn ready_at(&self) -> Instant {
        self.records.ready_at().max(self.bytes.ready_at())
    }
}

/// The rate of records to a node: none but the configured one while all is well; falls by up to a half when the node
/// says that it is too much, and comes back step by step (additive increase, multiplicative decrease).
#[derive(Debug)]
pub(super) struct Pace {
    configured: Option<f64>,
    limit: Option<f64>,
    /// The rate that was too high.
    too_high: f64,
    cut_at: Option<Instant>,
    raised_at: Instant,
    throttled: u64,
    /// Records that the node has taken in this round, when that began, and the rate of the last rounds.
    taken: u64,
    round: Instant,
    measured: f64,
}

impl Pace {
    pub(super) const fn new(configured: Option<f64>, now: Instant) -> Self {
        Self {
            configured,
            limit: configured,
            too_high: 0.0,
            cut_at: None,
            raised_at: now,
            throttled: 0,
            taken: 0,
            round: now,
            measured: 0.0,
        }
    }

    /// The present limit in records a second.
    pub(super) const fn limit(&self) -> Option<f64> {
        self.limit
    }

    /// How many throttling answers there were.
    pub(super) const fn throttled(&self) -> u64 {
        self.throttled
    }

    /// Takes in what the node answered: so many records taken, so many throttled. Whether the limit has changed.
    pub(super) fn answered(&mut self, taken: usize, throttled: usize, now: Instant) -> bool {
        let before = self.limit;
        self.taken += taken as u64;
        let passed = now.saturating_duration_since(self.round);
        if passed >= ROUND {
            let rate = self.taken as f64 / passed.as_secs_f64();
            self.measured = if self.measured > 0.0 { 0.5 * self.measured + 0.5 * rate } else { rate };
            (self.taken, self.round) = (0, now);
        }
        if throttled > 0 {
            self.throttled += throttled as u64;
            if self.cut_at.is_none_or(|at| now.saturating_duration_since(at) >= ROUND) {
                let share = throttled as f64 / (taken + throttled) as f64;
                self.cut(share, now);
            }
        } else {
            self.raise(now);
        }
        before != self.limit
    }

    fn cut(&mut self, share: f64, now: Instant) {
        // What has been taken in a round that is not over counts, too, or the first throttling answers would find no rate.
        let passed = now.saturating_duration_since(self.round).max(ROUND).as_secs_f64();
        let seen = self.measured.max(self.taken as f64 / passed);
        let rate = self.limit.map_or(seen, |limit| if seen > 0.0 { limit.min(seen) } else { limit });
        self.too_high = rate.max(LEAST);
        self.limit = Some((rate * (1.0 - DECREASE * share)).max(LEAST));
        (self.cut_at, self.raised_at) = (Some(now), now);
    }

    fn raise(&mut self, now: Instant) {
        let (Some(limit), Some(_)) = (self.limit, self.cut_at) else { return };
        let rounds = now.saturating_duration_since(self.raised_at).as_secs_f64() / ROUND.as_secs_f64();
        if rounds < 1.0 {
            return;
        }
        self.raised_at = now;
        let raised = limit + (self.too_high * INCREASE).max(1.0) * rounds;
        let free = self.configured.unwrap_or(self.too_high * FREE_AT);
        if raised >= free {
            (self.limit, self.cut_at) = (self.configured, None);
        } else {
            self.limit = Some(raised);
        }
    }

    /// Applies the present limit to the bucket of the node.
    pub(super) fn apply(&self, bucket: &mut Bucket, now: Instant) {
        bucket.set_rate(self.limit, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_bucket_gives_its_rate_and_takes_debt_back() {
        let start = Instant::now();
        let mut bucket = Bucket::new(Some(100.0), start);
        assert_eq!(bucket.available(start), Some(10));
        bucket.spend(60);
        assert_eq!(bucket.available(start), None);
        let ready = bucket.ready_at() - start;
        assert!((505..515).contains(&ready.as_millis()), "{ready:?}");
        assert_eq!(bucket.available(start + SECOND), Some(10), "no more than a burst is saved up");
        let mut taken = 0;
        for ms in 1000..6000 {
            if let Some(tokens) = bucket.available(start + Duration::from_millis(ms)) {
                bucket.spend(tokens);
                taken += tokens;
            }
        }
        assert!((500..515).contains(&taken), "{taken}");
        assert_eq!(Bucket::new(None, start).available(start), Some(usize::MAX));
    }

    #[test]
    fn a_rate_halves_once_a_round_and_comes_back_step_by_step() {
        let start = Instant::now();
        let mut pace = Pace::new(None, start);
        let mut now = start;
        for _ in 0..20 {
            now += Duration::from_millis(50);
            assert!(!pace.answered(500, 0, now));
        }
        assert_eq!(pace.limit(), None);
        pace.answered(0, 5, now);
        let limit = pace.limit().unwrap();
        assert!((4000.0..6000.0).contains(&limit), "{limit}: half of 10,000");
        pace.answered(0, 5, now + Duration::from_millis(10));
        assert_eq!(pace.limit(), Some(limit), "not twice in a round");
        assert_eq!(pace.throttled(), 10);
        pace.answered(0, 5, now + Duration::from_millis(150));
        let halved = pace.limit().unwrap();
        assert!(halved < limit, "{halved}");
        let mut last = halved;
        for _ in 0..10 {
            now += Duration::from_millis(200);
            pace.answered(10, 0, now);
            let raised = pace.limit().unwrap();
            assert!(raised >= last);
            last = raised;
        }
        assert!(last > halved);
        for _ in 0..1000 {
            now += Duration::from_millis(200);
            pace.answered(10, 0, now);
        }
        assert_eq!(pace.limit(), None, "free again");
    }

    #[test]
    fn a_configured_rate_is_the_ceiling() {
        let start = Instant::now();
        let mut pace = Pace::new(Some(200.0), start);
        pace.answered(30, 1, start + SECOND);
        assert!(pace.limit().unwrap() < 200.0);
        let mut now = start + SECOND;
        for _ in 0..10_000 {
            now += Duration::from_millis(100);
            pace.answered(1, 0, now);
        }
        assert_eq!(pace.limit(), Some(200.0));
    }
}
