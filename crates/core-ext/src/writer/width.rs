//! How many batches a node may have in flight.

use std::time::{Duration, Instant};

/// How many batches a node may have in flight: `batches_in_flight`, as a rule. One that answers slowly gathers records until it
/// holds most of the room, and what the others are sent waits for it. Such a node gets more batches (full ones) at a time: while
/// that is so, and for a while after, as it would otherwise hold up the others again and again.
#[derive(Debug, Default)]
pub(super) struct Width {
    wide_until: Option<Instant>,
}

impl Width {
    /// So many times as many.
    const WIDER: usize = 8;
    const STAYS_WIDE: Duration = Duration::from_secs(1);

    pub(super) fn most(&self, usual: usize, now: Instant) -> usize {
        usual * if self.is_wide(now) { Self::WIDER } else { 1 }
    }

    pub(super) fn is_wide(&self, now: Instant) -> bool {
        self.wide_until.is_some_and(|until| now < until)
    }

    /// The node holds up the others.
    pub(super) fn widen(&mut self, now: Instant) {
        self.wide_until = Some(now + Self::STAYS_WIDE);
    }
}
