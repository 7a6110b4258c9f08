//! Where records are kept that have no outcome yet, in the order of their age.

use std::ops::{Index, IndexMut};
use std::time::Instant;

use crate::error::Error;
use crate::writer::delivery::Tries;

/// No slot.
pub(super) const NONE: u32 = u32::MAX;

/// Names a record among those that are outstanding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::writer) struct SlotRef {
    pub(super) slot: u32,
    pub(super) sequence: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Free,
    /// Behind an older record of the same key.
    Behind,
    Queued,
    /// Until its pause is over.
    Pausing,
    /// Until the budget pays for the retry.
    AwaitingBudget,
    /// Until somebody owns its partition.
    Unowned,
    /// A row of a block, which is queued or in flight: there is something to say about the row alone.
    InBlock,
    InFlight,
}

/// A record without an outcome.
#[derive(Debug)]
pub(super) struct Slot<T, P> {
    pub(super) stage: Stage,
    pub(super) sequence: u64,
    pub(super) tag: Option<T>,
    /// Not while it is in flight.
    pub(super) payload: Option<P>,
    pub(super) node: u16,
    pub(super) bytes: usize,
    /// The records before and after it of the same key.
    pub(super) leader: u32,
    pub(super) follower: u32,
    pub(super) older: u32,
    pub(super) newer: u32,
    pub(super) handed_over: Instant,
    pub(super) since: Instant,
    pub(super) retries: u32,
    pub(super) moves: u32,
    pub(super) in_doubt: bool,
    pub(super) tries: Tries,
    pub(super) last_error: Option<Error>,
}

impl<T, P> Slot<T, P> {
    pub(super) fn new(sequence: u64, tag: T, payload: Option<P>, bytes: usize, now: Instant) -> Self {
        Self {
            stage: Stage::Behind,
            sequence,
            tag: Some(tag),
            payload,
            node: 0,
            bytes,
            leader: NONE,
            follower: NONE,
            older: NONE,
            newer: NONE,
            handed_over: now,
            since: now,
            retries: 0,
            moves: 0,
            in_doubt: false,
            tries: Tries::default(),
            last_error: None,
        }
    }
}

/// The slots of a writer.
#[derive(Debug)]
pub(super) struct Slots<T, P> {
    all: Vec<Slot<T, P>>,
    free: Vec<u32>,
    oldest: u32,
    youngest: u32,
}

impl<T, P> Default for Slots<T, P> {
    fn default() -> Self {
        Self { all: Vec::new(), free: Vec::new(), oldest: NONE, youngest: NONE }
    }
}

impl<T, P> Slots<T, P> {
    /// The oldest record's slot, or none.
    pub(super) const fn oldest(&self) -> u32 {
        self.oldest
    }

    pub(super) const fn youngest(&self) -> u32 {
        self.youngest
    }

    /// The record in a slot, if it is one.
    pub(super) fn get(&self, slot: u32) -> Option<&Slot<T, P>> {
        self.all.get(slot as usize)
    }

    /// Whether the record is still there, at this stage.
    pub(super) fn is_at(&self, slot_ref: SlotRef, stage: Stage) -> bool {
        let slot = &self[slot_ref.slot];
        slot.sequence == slot_ref.sequence && slot.stage == stage
    }

    /// Takes the youngest record of all.
    pub(super) fn push(&mut self, slot: Slot<T, P>) -> u32 {
        self.insert_behind(slot, self.youngest)
    }

    /// Takes a record that may be older than others. `near`: a slot from which to look for its place, if it is in use.
    pub(super) fn insert(&mut self, slot: Slot<T, P>, near: u32) -> u32 {
        let sequence = slot.sequence;
        let mut older = self.youngest;
        if self.get(near).is_some_and(|near| near.stage != Stage::Free && near.sequence < sequence) {
            older = near;
            while self.get(self[older].newer).is_some_and(|newer| newer.sequence < sequence) {
                older = self[older].newer;
            }
        } else {
            while self.get(older).is_some_and(|older| older.sequence > sequence) {
                older = self[older].older;
            }
        }
        self.insert_behind(slot, older)
    }

    fn insert_behind(&mut self, mut slot: Slot<T, P>, older: u32) -> u32 {
        let newer = self.get(older).map_or(self.oldest, |older| older.newer);
        (slot.older, slot.newer) = (older, newer);
        let index = if let Some(free) = self.free.pop() {
            self[free] = slot;
            free
        } else {
            self.all.push(slot);
            self.all.len() as u32 - 1
        };
        self.link(older, index);
        self.link(index, newer);
        index
    }

    /// Gives a slot back.
    pub(super) fn free(&mut self, slot: u32) {
        let (older, newer) = (self[slot].older, self[slot].newer);
        self[slot].stage = Stage::Free;
        self.link(older, newer);
        self.free.push(slot);
    }

    /// Makes two slots, one of which may be none, neighbours.
    fn link(&mut self, older: u32, newer: u32) {
        match older {
            NONE => self.oldest = newer,
            older => self[older].newer = newer,
        }
        match newer {
            NONE => self.youngest = older,
            newer => self[newer].older = older,
        }
    }
}

impl<T, P> Index<u32> for Slots<T, P> {
    type Output = Slot<T, P>;

    #[inline]
    fn index(&self, slot: u32) -> &Slot<T, P> {
        &self.all[slot as usize]
    }
}

impl<T, P> IndexMut<u32> for Slots<T, P> {
    #[inline]
    fn index_mut(&mut self, slot: u32) -> &mut Slot<T, P> {
        &mut self.all[slot as usize]
    }
}
