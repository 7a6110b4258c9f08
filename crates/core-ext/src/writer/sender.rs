//! Tasks that send batches, one after the other.

use std::sync::Arc;

use super::block::{Ends, OwnedBlock, left_out};
use super::core::{BlockRef, Sent, SlotRef};
use super::delivery::{AttemptEnd, Written};
use super::driver::{Inner, Row, WriterKey};
use super::outcome::CellRef;
use crate::client::{RawOutcome, SentBlock, WrittenRows};
use crate::error::Result;

/// A task of a writer; dropped before its end, it ends what is outstanding.
pub(super) struct Guard<K: WriterKey>(pub(super) Option<Arc<Inner<K>>>);

impl<K: WriterKey> Guard<K> {
    fn defuse(mut self) {
        self.0 = None;
    }
}

impl<K: WriterKey> Drop for Guard<K> {
    fn drop(&mut self) {
        if let Some(inner) = self.0.take() {
            inner.abandon();
        }
    }
}

/// The rows of one request, each with its slot.
pub(super) struct Batch<K: WriterKey> {
    pub(super) rows: WrittenRows<CellRef<K>>,
    slot_refs: Vec<SlotRef>,
}

impl<K: WriterKey> Batch<K> {
    pub(super) fn of(sent: &mut Vec<Sent<CellRef<K>, Row>>) -> Self {
        let mut rows = WrittenRows::with_capacity(sent.len());
        let mut slot_refs = Vec::with_capacity(sent.len());
        for Sent { slot_ref, tag, payload } in sent.drain(..) {
            slot_refs.push(slot_ref);
            rows.push(tag, payload.0);
        }
        Self { rows, slot_refs }
    }

    /// What became of a record alone.
    pub(super) fn end_of_one(self, end: AttemptEnd) -> Option<(SlotRef, Row, AttemptEnd)> {
        let (slot_ref, mut shape) = (self.slot_refs.into_iter().next()?, None);
        self.rows.into_parts(|_, of, _, _| shape = Some(of));
        Some((slot_ref, Row(shape?), end))
    }

    /// What became of the rows; `whole`: of the batch.
    pub(super) fn ends(self, whole: &Result<()>) -> Vec<(SlotRef, Row, AttemptEnd)> {
        let mut slot_refs = self.slot_refs.into_iter();
        let mut ends = Vec::with_capacity(slot_refs.len());
        self.rows.into_parts(|_, shape, outcome, node| {
            let Some(slot_ref) = slot_refs.next() else { return };
            let result = match outcome {
                RawOutcome::Answered(body) => Written::of(body).map_err(|error| error.force_in_doubt(true)),
                RawOutcome::Failed(error) => Err(error.clone()),
                RawOutcome::Pending => Err(left_out(whole)),
            };
            ends.push((slot_ref, Row(shape), AttemptEnd { result, node }));
        });
        ends
    }
}

/// Sends batch after batch, as long as there is one to send.
pub(super) async fn send<K: WriterKey>(guard: Guard<K>, first: u16) {
    let mut next = Some(first);
    let mut rows = Vec::new();
    while let (Some(inner), Some(node)) = (&guard.0, next.take()) {
        let (block, other) = inner.act_as_sender(|state, now, map| state.core.fill(node, now, map, &mut rows));
        if rows.is_empty() && block.is_none() {
            next = other;
            continue;
        }
        if let Some(other) = other {
            inner.spawn_sender(other);
        }
        let other = match block {
            Some(block) => send_block(inner, node, block).await,
            None => send_rows(inner, node, &mut rows).await,
        };
        next = other;
        // A fast server, or a stalled runtime, must not keep other tasks from their turn.
        tokio::task::yield_now().await;
    }
    guard.defuse();
}

/// Sends rows, and gives the node that the sender goes on with.
async fn send_rows<K: WriterKey>(
    inner: &Arc<Inner<K>>,
    node: u16,
    rows: &mut Vec<Sent<CellRef<K>, Row>>,
) -> Option<u16> {
    let mut batch = Batch::of(rows);
    let whole = batch.rows.write(&inner.shared, &inner.policy).await;
    let ends = batch.ends(&whole);
    inner.act_as_sender(|state, now, map| state.core.ended(node, ends.into_iter(), now, map)).1
}

/// The same with a block.
async fn send_block<K: WriterKey>(inner: &Arc<Inner<K>>, node: u16, block: BlockRef<OwnedBlock<K>>) -> Option<u16> {
    let mut sent = SentBlock::new(Arc::clone(&block.rows));
    let whole = sent.write(&inner.shared, &inner.policy).await;
    let ends = Ends { answers: sent.into_answers(), whole };
    inner.act_as_sender(|state, now, map| state.core.block_ended(node, block, ends, now, map)).1
}
