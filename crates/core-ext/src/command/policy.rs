//! What the time and retry settings of a policy mean, as aerospike-core defines them.

use std::time::{Duration, Instant};

use aerospike_core::BasePolicy;

/// The longest pause between two attempts, whatever the multiplier says.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(60);

/// Time for the whole call, all attempts together. `None`: no limit.
#[must_use]
pub fn total_timeout(policy: &BasePolicy) -> Option<Duration> {
    millis(policy.total_timeout)
}

/// When the call that starts at `now` must be over. `None`: no limit.
#[must_use]
pub fn deadline(policy: &BasePolicy, now: Instant) -> Option<Instant> {
    total_timeout(policy).map(|timeout| now + timeout)
}

/// Time that one attempt may wait for its answer: the socket timeout, never more than the total one. `None`: no limit.
#[must_use]
pub fn socket_timeout(policy: &BasePolicy) -> Option<Duration> {
    millis(socket_timeout_ms(policy))
}

/// The timeout that is sent to the server, in milliseconds: the socket timeout, or 0 (none) without a total timeout.
#[must_use]
pub fn server_timeout_ms(policy: &BasePolicy) -> u32 {
    if policy.total_timeout == 0 { 0 } else { socket_timeout_ms(policy) }
}

/// How many attempts a call may take: the first one and `max_retries` more.
#[must_use]
pub fn max_attempts(policy: &BasePolicy) -> u64 {
    (policy.max_retries as u64).saturating_add(1)
}

fn socket_timeout_ms(policy: &BasePolicy) -> u32 {
    socket_timeout_within(policy, policy.total_timeout)
}

/// The socket timeout in milliseconds where the whole call may take `total_ms`. 0: no limit.
#[must_use]
pub fn socket_timeout_within(policy: &BasePolicy, total_ms: u32) -> u32 {
    match (policy.socket_timeout, total_ms) {
        (0, other) | (other, 0) => other,
        (socket, total) => socket.min(total),
    }
}

fn millis(ms: u32) -> Option<Duration> {
    (ms > 0).then(|| Duration::from_millis(u64::from(ms)))
}

/// The pauses between the attempts of one call: `sleep_between_retries`, growing by `sleep_multiplier`, at most a minute.
#[derive(Debug, Clone, Copy)]
pub struct RetryPauses {
    next: Duration,
    multiplier: f64,
}

impl RetryPauses {
    /// The pauses that this policy asks for.
    #[must_use]
    pub fn new(policy: &BasePolicy) -> Self {
        Self {
            next: Duration::from_millis(u64::from(policy.sleep_between_retries)),
            multiplier: policy.sleep_multiplier,
        }
    }

    /// The pause before the next attempt; zero when the policy asks for none.
    pub fn take(&mut self) -> Duration {
        let pause = self.next;
        if self.multiplier > 1.0 && self.multiplier.is_finite() {
            self.next = Duration::try_from_secs_f64(pause.as_secs_f64() * self.multiplier)
                .unwrap_or(MAX_RETRY_PAUSE)
                .min(MAX_RETRY_PAUSE);
        }
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aerospike_core::ReadPolicy;

    fn policy(total: u32, socket: u32) -> BasePolicy {
        BasePolicy { total_timeout: total, socket_timeout: socket, ..ReadPolicy::default().base_policy }
    }

    #[test]
    fn timeouts_resolve_as_in_aerospike_core() {
        let cases = [((0, 0), (None, 0)), ((0, 7), (Some(7), 0)), ((9, 0), (Some(9), 9)), ((9, 7), (Some(7), 7))];
        for ((total, socket), (wait, server)) in cases {
            let p = policy(total, socket);
            assert_eq!(socket_timeout(&p), wait.map(Duration::from_millis));
            assert_eq!(server_timeout_ms(&p), server);
        }
        assert_eq!(socket_timeout(&policy(7, 9)), Some(Duration::from_millis(7)));
        let now = Instant::now();
        assert_eq!(deadline(&policy(0, 9), now), None);
        assert_eq!(deadline(&policy(5, 9), now), Some(now + Duration::from_millis(5)));
    }

    #[test]
    fn pauses_grow_to_a_minute_and_never_shrink() {
        let pauses = |ms, multiplier, n| {
            let base = BasePolicy { sleep_between_retries: ms, sleep_multiplier: multiplier, ..policy(0, 0) };
            let mut pauses = RetryPauses::new(&base);
            (0..n).map(|_| pauses.take().as_millis()).collect::<Vec<_>>()
        };
        assert_eq!(pauses(500, 2.0, 3), [500, 1000, 2000]);
        assert_eq!(pauses(500, 0.5, 2), [500, 500]);
        assert_eq!(pauses(500, f64::NAN, 2), [500, 500]);
        assert_eq!(pauses(50_000, 1e300, 3), [50_000, 60_000, 60_000]);
        assert_eq!(pauses(0, 2.0, 2), [0, 0]);
    }
}
