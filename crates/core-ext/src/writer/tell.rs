//! Tells those who listen what became of records.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Waker;

use super::block::{Ends, OwnedBlock, RowOwner};
use super::core::{Done, DoneBlock};
use super::driver::{Inner, Row, WriterKey};
use super::outcome::{CellRef, Outcome};
use super::owner_queue::OwnerQueue;
use super::stream::Queue;

/// Outcomes that are being told.
struct Telling<'a, K: WriterKey> {
    queue: Option<&'a Arc<Queue<K>>>,
    /// Somebody listens to each outcome.
    listens: bool,
    heard: Vec<Outcome<K>>,
    count: usize,
    /// Those that somebody waited for.
    awaited: usize,
    /// What is free for others.
    records: usize,
    bytes: usize,
}

impl<K: WriterKey> Telling<'_, K> {
    fn tell(&mut self, outcome: Outcome<K>) {
        // A record in the queue keeps its room, so that the queue is bounded.
        let queued = self.queue.is_some_and(|queue| queue.push(outcome.clone()));
        self.records += usize::from(!queued);
        if self.listens {
            self.heard.push(outcome);
        }
    }
}

fn wake(wakers: impl IntoIterator<Item = Waker>) {
    for waker in wakers {
        if catch_unwind(AssertUnwindSafe(|| waker.wake())).is_err() {
            crate::logging::error!("the waker of a caller panicked");
        }
    }
}

impl<K: WriterKey> Inner<K> {
    /// Gives records their outcomes, and their room to others. Tells whether somebody waited for most of them.
    pub(super) fn tell(
        &self,
        done: Vec<Done<CellRef<K>, Row>>,
        done_blocks: Vec<DoneBlock<OwnedBlock<K>, Ends>>,
        queue: Option<&Arc<Queue<K>>>,
    ) -> bool {
        let on_done = self.on_done.lock().clone();
        let on_progress = self.on_progress.lock().clone();
        let (heard, listens) = (Vec::new(), on_done.is_some());
        let mut telling = Telling { queue, listens, heard, count: done.len(), awaited: 0, records: 0, bytes: 0 };
        for block in done_blocks {
            self.tell_block(block, &mut telling);
        }
        let mut owners = OwnerQueue::default();
        for Done { tag, bytes, delivery, .. } in done {
            let is_told = !(self.options.failures_only && delivery.is_ok());
            let (wakers, is_awaited) = tag.set(delivery);
            telling.awaited += usize::from(is_awaited);
            wake(wakers);
            telling.bytes += self.room_of(bytes) as usize;
            if tag.owner().is_some() {
                telling.records += 1;
                owners.push(tag);
            } else if is_told {
                telling.tell(Outcome::new(tag));
            } else {
                telling.records += 1;
            }
        }
        owners.tell();
        let Telling { heard, count, awaited, records, bytes, .. } = telling;
        if let (Some(on_done), false) = (on_done, heard.is_empty())
            && catch_unwind(AssertUnwindSafe(|| on_done(&heard))).is_err()
        {
            crate::logging::error!("a callback for the outcomes of a writer panicked");
        }
        if let (Some(on_progress), true) = (on_progress, count > 0)
            && catch_unwind(AssertUnwindSafe(|| on_progress(count))).is_err()
        {
            crate::logging::error!("a callback for the progress of a writer panicked");
        }
        self.records.give_back(records);
        self.bytes.add_permits(bytes);
        2 * awaited > count
    }

    /// Tells of the rows that were confirmed with their block.
    fn tell_block(&self, block: DoneBlock<OwnedBlock<K>, Ends>, telling: &mut Telling<'_, K>) {
        let DoneBlock { rows, confirmed, room, handed_over, ends } = block;
        telling.count += confirmed;
        telling.bytes += room;
        let outcomes = match &rows.owner {
            RowOwner::Outcomes(outcomes) => Arc::clone(outcomes),
            RowOwner::Table(owner) => {
                telling.records += confirmed;
                if confirmed > 0 && catch_unwind(AssertUnwindSafe(|| owner.confirmed(confirmed))).is_err() {
                    crate::logging::error!("the owner of the rows of a writer panicked");
                }
                return;
            }
        };
        let (wakers, waiting) = outcomes.end(rows, handed_over, ends);
        telling.awaited += waiting;
        wake(wakers);
        if self.options.failures_only || !(telling.listens || telling.queue.is_some()) {
            telling.records += confirmed;
            return;
        }
        for row in outcomes.confirmed() {
            telling.tell(Outcome::of_row(&outcomes, row));
        }
    }
}
