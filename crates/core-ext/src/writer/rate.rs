//! How many records and bytes may go out: token buckets.

use std::time::{Duration, Instant};

/// How much of a second's tokens can be saved up for a burst.
const BURST: f64 = 0.1;
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

    pub(super) fn set_rate(&mut self, rate: Option<f64>, now: Instant) {
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
}
