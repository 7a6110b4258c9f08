//! How long a server takes to answer, measured on a shared connection.

use std::time::{Duration, Instant};

use crate::clock;

/// A round trip of this length counts as long: requests that come while somebody reads then leave at once. Where it is
/// shorter, sending them costs more than waiting for the next round.
const LONG: Duration = Duration::from_micros(300);
/// One round in so many is measured, with two readings of the clock.
const EVERY: u32 = 16;

/// An estimate that about one round trip in nine undercuts: what the client's own threads wait for a processor is in most
/// of them.
#[derive(Debug, Default)]
pub(super) struct RoundTrip {
    estimate: Option<Duration>,
    /// When the request that is measured was sent.
    sent: Option<Instant>,
    /// How many answers come until its own has come.
    answers_left: usize,
    /// Rounds until the next one is measured.
    rounds_left: u32,
}

impl RoundTrip {
    /// Whether requests that come while somebody reads should leave at once.
    pub(super) fn is_long(&self) -> bool {
        self.estimate.is_some_and(|estimate| estimate >= LONG)
    }

    /// Requests are about to be sent, when so many others have not been answered.
    pub(super) fn sending(&mut self, ahead: usize) {
        if self.rounds_left > 0 {
            self.rounds_left -= 1;
        } else if self.sent.is_none() {
            self.sent = Some(clock::now());
            self.answers_left = ahead + 1;
        }
    }

    /// So many answers have come.
    pub(super) fn received(&mut self, answers: usize) {
        let Some(sent) = self.sent else { return };
        self.answers_left = self.answers_left.saturating_sub(answers);
        if self.answers_left == 0 {
            self.sent = None;
            self.rounds_left = EVERY - 1;
            self.measured(clock::now().saturating_duration_since(sent));
        }
    }

    /// The connection is another one.
    pub(super) fn restart(&mut self) {
        self.sent = None;
    }

    fn measured(&mut self, time: Duration) {
        let estimate = self.estimate.unwrap_or(time);
        // Eight steps up make one down.
        self.estimate = Some(time.clamp(estimate / 8 * 7, estimate + estimate / 64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(times: impl IntoIterator<Item = u64>) -> RoundTrip {
        let mut round_trip = RoundTrip::default();
        times.into_iter().for_each(|micros| round_trip.measured(Duration::from_micros(micros)));
        round_trip
    }

    #[test]
    fn short_ones_count_more_than_long_ones() {
        assert!(!RoundTrip::default().is_long());
        assert!(after([400]).is_long() && !after([30]).is_long());
        // Most of the time the client's threads wait for a processor.
        assert!(!after((0..1000).map(|n| if n % 3 == 0 { 40 } else { 2000 })).is_long());
        // Now and then a reading is off.
        assert!(after((0..1000).map(|n| if n % 20 == 0 { 5 } else { 420 })).is_long());
    }

    #[test]
    fn a_change_is_followed() {
        let up = after((0..1000).map(|n| if n < 500 { 30 } else { 500 }));
        assert!(up.is_long(), "{up:?}");
        let down = after((0..1000).map(|n| if n < 950 { 4000 } else { 30 }));
        assert!(!down.is_long(), "{down:?}");
    }

    #[test]
    fn the_answer_that_counts_is_that_of_the_request_that_was_measured() {
        let mut round_trip = RoundTrip::default();
        round_trip.sending(3);
        round_trip.sending(7);
        round_trip.received(3);
        assert!(round_trip.estimate.is_none());
        round_trip.received(2);
        assert!(round_trip.estimate.is_some() && round_trip.sent.is_none());
        // The next one is measured after some rounds.
        round_trip.sending(0);
        assert!(round_trip.sent.is_none());
    }
}
