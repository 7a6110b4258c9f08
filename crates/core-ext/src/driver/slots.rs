//! Where the outcomes of a lane's entries wait for their callers.

use std::task::Waker;

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
}

/// The slots of one lane. An index is the token of an entry.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Outcomes that their callers have not taken yet.
    untaken: usize,
    /// Wakers of the slots that got their outcome, to be woken once the lane's lock is released.
    pub(crate) ready: Vec<Waker>,
}

impl Slots {
    pub(crate) fn claim(&mut self, waker: &Waker) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { outcome: Outcome::Free, waker: None, buffer: Vec::new() });
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[index as usize];
        slot.outcome = Outcome::Pending;
        slot.waker = Some(waker.clone());
        index
    }

    /// Takes the outcome, if it is there; otherwise `waker` is woken when it comes.
    /// The answer is exchanged for `buffer`, whose allocation stays with the slot.
    pub(crate) fn take(&mut self, index: u32, waker: &Waker, buffer: &mut Vec<u8>) -> Option<Result<(), Failure>> {
        let slot = &mut self.slots[index as usize];
        match std::mem::replace(&mut slot.outcome, Outcome::Free) {
            Outcome::Free | Outcome::Pending => {
                slot.outcome = Outcome::Pending;
                match &mut slot.waker {
                    Some(old) => old.clone_from(waker),
                    none => *none = Some(waker.clone()),
                }
                None
            }
            Outcome::Answered => {
                self.untaken -= 1;
                buffer.clear();
                std::mem::swap(buffer, &mut slot.buffer);
                slot.buffer.shrink_to(KEEP_CAPACITY);
                self.release(index);
                Some(Ok(()))
            }
            Outcome::Failed(failure) => {
                self.untaken -= 1;
                self.release(index);
                Some(Err(failure))
            }
        }
    }

    /// How many outcomes their callers have not taken yet: so many callers are about to run.
    pub(crate) const fn untaken(&self) -> usize {
        self.untaken
    }

    /// The caller has given up, and the lane has let go of the token.
    pub(crate) fn release(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        if matches!(slot.outcome, Outcome::Answered | Outcome::Failed(_)) {
            self.untaken -= 1;
        }
        slot.outcome = Outcome::Free;
        slot.waker = None;
        slot.buffer.clear();
        self.free.push(index);
    }

    fn finish(&mut self, index: u32, outcome: Outcome) {
        let slot = &mut self.slots[index as usize];
        slot.outcome = outcome;
        self.untaken += 1;
        if let Some(waker) = slot.waker.take() {
            self.ready.push(waker);
        }
    }
}

impl Sink<u32> for Slots {
    fn answer(&mut self, token: u32, body: &[u8]) {
        let buffer = &mut self.slots[token as usize].buffer;
        buffer.clear();
        buffer.extend_from_slice(body);
        self.finish(token, Outcome::Answered);
    }

    fn part(&mut self, token: &mut u32, body: &[u8], last: bool) {
        self.slots[*token as usize].buffer.extend_from_slice(body);
        if last {
            self.finish(*token, Outcome::Answered);
        }
    }

    fn failed(&mut self, token: u32, failure: &Failure) {
        self.slots[token as usize].buffer.clear();
        self.finish(token, Outcome::Failed(failure.clone()));
    }
}
