//! Where the outcomes of a lane's entries wait for their callers.

use std::task::Waker;

use crate::driver::empty;
use crate::lane::{Failure, Sink};

/// A slot's buffer that grew beyond this is given back.
const KEEP_CAPACITY: usize = 64 * 1024;

#[derive(Debug)]
enum Outcome {
    /// Not in use.
    Free,
    /// In flight or in line.
    Pending,
    /// The answer is in the buffer.
    Answered,
    Failed(Failure),
}

#[derive(Debug)]
struct Slot {
    outcome: Outcome,
    waker: Option<Waker>,
    /// The answer. Kept between uses, so that the steady state allocates nothing.
    buffer: Vec<u8>,
    /// The round in which it got its outcome.
    round: u32,
}

/// What a caller finds in its slot.
pub(crate) enum Taken {
    /// Nothing yet. A waker that was replaced is to be dropped without the lane's lock; see [`Slots::release`].
    Pending(Option<Waker>),
    /// The outcome; the slot is free again.
    Outcome(Result<(), Failure>),
}

/// The slots of one lane. An index is the token of an entry.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    all: Vec<Slot>,
    free: Vec<u32>,
    /// Outcomes of this round that their callers have not taken yet.
    untaken: usize,
    /// Counts the times that untaken outcomes were forgotten.
    round: u32,
    /// The least number of free slots since the last trim: so many were of no use.
    spare: usize,
    /// Wakers of the slots that got their outcome, to be woken once the lane's lock is released.
    pub(crate) ready: Vec<Waker>,
}

impl Slots {
    pub(crate) fn claim(&mut self, waker: &Waker) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.all.push(Slot { outcome: Outcome::Free, waker: None, buffer: Vec::new(), round: 0 });
            (self.all.len() - 1) as u32
        });
        self.spare = self.spare.min(self.free.len());
        let slot = &mut self.all[index as usize];
        slot.outcome = Outcome::Pending;
        slot.waker = Some(waker.clone());
        index
    }

    /// Takes the outcome, if it is there; otherwise `waker` is woken when it comes.
    /// The answer is exchanged for `buffer`, whose allocation stays with the slot.
    pub(crate) fn take(&mut self, index: u32, waker: &Waker, buffer: &mut Vec<u8>) -> Taken {
        let slot = &mut self.all[index as usize];
        match std::mem::replace(&mut slot.outcome, Outcome::Free) {
            Outcome::Free | Outcome::Pending => {
                slot.outcome = Outcome::Pending;
                if slot.waker.as_ref().is_some_and(|old| old.will_wake(waker)) {
                    return Taken::Pending(None);
                }
                Taken::Pending(slot.waker.replace(waker.clone()))
            }
            Outcome::Answered => {
                buffer.clear();
                std::mem::swap(buffer, &mut slot.buffer);
                empty(&mut slot.buffer, KEEP_CAPACITY);
                self.count_taken(index);
                self.free.push(index);
                Taken::Outcome(Ok(()))
            }
            Outcome::Failed(failure) => {
                self.count_taken(index);
                self.free.push(index);
                Taken::Outcome(Err(failure))
            }
        }
    }

    /// Whether its entry has no outcome yet.
    pub(crate) fn is_pending(&self, index: u32) -> bool {
        matches!(self.all[index as usize].outcome, Outcome::Pending)
    }

    /// How many outcomes their callers have not taken yet: so many callers are about to run.
    pub(crate) const fn untaken(&self) -> usize {
        self.untaken
    }

    /// Counts no longer on those who have not taken their outcomes so far: they may never be polled again.
    pub(crate) fn forget_untaken(&mut self) {
        self.untaken = 0;
        self.round = self.round.wrapping_add(1);
    }

    /// The caller has given up, and the lane has let go of the token. The waker is to be dropped without the lane's
    /// lock: with it may go the last hold on a task, and that task's own exchanges.
    #[must_use]
    pub(crate) fn release(&mut self, index: u32) -> Option<Waker> {
        let slot = &mut self.all[index as usize];
        let outcome = std::mem::replace(&mut slot.outcome, Outcome::Free);
        empty(&mut slot.buffer, KEEP_CAPACITY);
        let waker = slot.waker.take();
        if matches!(outcome, Outcome::Answered | Outcome::Failed(_)) {
            self.count_taken(index);
        }
        self.free.push(index);
        waker
    }

    /// Gives back the buffers of slots that were free all the time since the last call: what a past peak needed.
    pub(crate) fn trim(&mut self) {
        for &index in &self.free[..self.spare] {
            self.all[index as usize].buffer = Vec::new();
        }
        self.spare = self.free.len();
    }

    fn count_taken(&mut self, index: u32) {
        if self.all[index as usize].round == self.round {
            self.untaken -= 1;
        }
    }

    fn finish(&mut self, index: u32, outcome: Outcome) {
        let slot = &mut self.all[index as usize];
        slot.outcome = outcome;
        slot.round = self.round;
        self.untaken += 1;
        if let Some(waker) = slot.waker.take() {
            self.ready.push(waker);
        }
    }
}

impl Sink<u32> for Slots {
    fn answer(&mut self, token: u32, body: &[u8]) {
        let buffer = &mut self.all[token as usize].buffer;
        buffer.clear();
        buffer.extend_from_slice(body);
        self.finish(token, Outcome::Answered);
    }

    fn answer_owned(&mut self, token: u32, body: Vec<u8>) {
        self.all[token as usize].buffer = body;
        self.finish(token, Outcome::Answered);
    }

    fn part(&mut self, token: &mut u32, body: &[u8], last: bool) {
        self.all[*token as usize].buffer.extend_from_slice(body);
        if last {
            self.finish(*token, Outcome::Answered);
        }
    }

    fn failed(&mut self, token: u32, failure: &Failure) {
        empty(&mut self.all[token as usize].buffer, KEEP_CAPACITY);
        self.finish(token, Outcome::Failed(failure.clone()));
    }
}
