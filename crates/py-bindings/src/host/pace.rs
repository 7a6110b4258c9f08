//! How much is given without a pause.

use std::sync::atomic::{AtomicUsize, Ordering};

/// After so many things that were there already, other tasks of the event loop have a turn.
const READY_PER_TURN: usize = 256;

/// Counts what a stream gives at once.
#[derive(Default)]
pub(crate) struct Pace(AtomicUsize);

impl Pace {
    /// Whether the next thing is to come in a later turn of the loop, although it may be there.
    pub(crate) fn wants_a_turn(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) % READY_PER_TURN == READY_PER_TURN - 1
    }
}
