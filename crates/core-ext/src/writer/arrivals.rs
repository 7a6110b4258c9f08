//! How fast a program hands records over, and whether it waits for each.

use std::time::{Duration, Instant};

/// How fast records come in.
#[derive(Debug)]
pub(super) struct Arrivals {
    last: Instant,
    /// The time between two records, in nanoseconds: a moving average.
    interval: u64,
    /// Most of the records that were answered last had somebody who waited for them.
    awaited: bool,
    /// The next record was kept waiting for room.
    held_up: bool,
}

impl Arrivals {
    /// The weight of one record in the average is 1 / 2^SHIFT.
    const SHIFT: u32 = 7;

    pub(super) const fn new(now: Instant, linger: Duration) -> Self {
        Self { last: now, interval: linger.as_nanos() as u64, awaited: false, held_up: false }
    }

    /// Takes in that a record came; whether there was a pause before it.
    pub(super) fn came(&mut self, now: Instant, linger: Duration) -> bool {
        let gap = now.saturating_duration_since(self.last);
        self.last = now;
        if std::mem::take(&mut self.held_up) {
            // The pause was the writer's, and says nothing about the program.
            return false;
        }
        let paused = !linger.is_zero() && gap >= linger;
        self.interval = if paused {
            // A pause. What was before it says nothing any more.
            linger.as_nanos() as u64
        } else {
            self.interval - (self.interval >> Self::SHIFT) + (gap.as_nanos() as u64 >> Self::SHIFT)
        };
        paused
    }

    /// Whether so many records are to be expected within `linger`, and nobody waits for the single one: a program that hands
    /// records over as fast as it can. One that waits for each outcome before it goes on would only be slowed down.
    pub(super) fn are_dense(&self, records: usize, linger: Duration) -> bool {
        !self.awaited && u128::from(self.interval) * records as u128 <= linger.as_nanos()
    }

    /// The next record was kept waiting for room.
    pub(super) const fn held_up(&mut self) {
        self.held_up = true;
    }

    /// Whether somebody waited for most of the records that were answered last.
    pub(super) const fn are_awaited(&self) -> bool {
        self.awaited
    }

    /// Takes in whether somebody waited for most of the records that were answered last.
    pub(super) const fn were_awaited(&mut self, awaited: bool) {
        self.awaited = awaited;
    }
}
