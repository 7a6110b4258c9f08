//! Rows that come in blocks, each of them the rows of one request: they need no state of their own.
//!
//! A block is queued, sent and confirmed as a whole. A row gets a slot as soon as there is something to say about it
//! alone: when it has failed, when its block is taken apart (it is too old, or there are fewer tokens than rows), or when a younger
//! record of its key has to wait for it. From then on it is a record like others.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aerolane_wire::digest::Digest;

use super::slots::{NONE, Slot, SlotRef, Stage};
use super::youngest::Holder;
use super::{Core, Payload, Router, Tag};
use crate::writer::delivery::AttemptEnd;
use crate::writer::retry::RetryClass;

/// Rows for one node, of different keys.
pub(in crate::writer) trait Block<T, P> {
    type Ends: BlockEnds;

    fn digests(&self) -> &[Digest];

    /// What a row takes in a request, about.
    fn bytes(&self, row: usize) -> usize;

    /// The number of a row as a record; `first`: that of the first.
    fn sequence(&self, first: u64, row: usize) -> u64;

    /// How long after the first one a row was handed over.
    fn after(&self, row: usize) -> Duration;

    /// Whom a row belongs to that is to be a record of its own.
    fn tag(&self, row: usize) -> T;

    /// What a row does.
    fn payload(&self, row: usize) -> P;

    /// Takes rows out, whose places are given in order.
    fn remove(&mut self, rows: &[usize]);

    /// No further row will be added.
    fn closed(&mut self);
}

/// How the rows of a block have ended that was sent.
pub(in crate::writer) trait BlockEnds {
    fn is_ok(&self, row: usize) -> bool;

    fn end(&self, row: usize) -> AttemptEnd;
}

/// A block without an outcome.
#[derive(Debug)]
pub(super) struct Outstanding<B> {
    pub(super) rows: Arc<B>,
    pub(super) node: u16,
    pub(super) count: usize,
    pub(super) bytes: usize,
    /// The first row.
    pub(super) handed_over: Instant,
    /// When it was sent.
    sent: Option<Instant>,
    /// Rows that have slots.
    observed: Vec<(usize, u32)>,
}

/// A block on its way.
#[derive(Debug)]
pub(in crate::writer) struct BlockRef<B> {
    first: u64,
    pub(in crate::writer) rows: Arc<B>,
}

/// A block that is over. So many of its rows were confirmed, and the others are records of their own.
#[derive(Debug)]
pub(in crate::writer) struct DoneBlock<B, E> {
    pub(in crate::writer) rows: Arc<B>,
    pub(in crate::writer) confirmed: usize,
    /// The room that they have taken of [`WriterOptions::max_outstanding_bytes`](crate::WriterOptions::max_outstanding_bytes).
    pub(in crate::writer) room: usize,
    /// When the first row was handed over.
    pub(in crate::writer) handed_over: Instant,
    /// How the rows have ended, when they were sent and answered; `None`: all are records of their own.
    pub(in crate::writer) ends: Option<(E, Instant, Instant)>,
}

impl<B> Outstanding<B> {
    pub(super) fn new(rows: B, node: u16, handed_over: Instant) -> Self {
        Self { rows: Arc::new(rows), node, count: 0, bytes: 0, handed_over, sent: None, observed: Vec::new() }
    }

    /// A row as a record of its own, without what it does. `first`: the number of the first row.
    fn record<T: Tag, P>(&self, first: u64, row: usize) -> Slot<T, P>
    where
        B: Block<T, P>,
    {
        let handed_over = self.handed_over + self.rows.after(row);
        Slot::new(self.rows.sequence(first, row), self.rows.tag(row), None, self.rows.bytes(row), handed_over)
    }
}

impl<T: Tag, P: Payload, B: Block<T, P>> Core<T, P, B> {
    /// Takes rows for a node. Those that have to wait for others of their key become records of their own.
    pub(in crate::writer) fn push_block(&mut self, node: u16, mut rows: B, now: Instant, router: &impl Router) {
        self.follow(now, router);
        self.stirred = true;
        let first = self.next_sequence;
        let mut apart = Vec::new();
        for (row, digest) in rows.digests().iter().enumerate() {
            if !self.youngest.insert_first(digest, Holder::Block(first)) {
                apart.push(row);
            }
        }
        let records: Vec<_> = apart.iter().map(|&row| (rows.tag(row), rows.payload(row), rows.bytes(row))).collect();
        if !apart.is_empty() {
            rows.remove(&apart);
        }
        let count = rows.digests().len();
        if count > 0 {
            let bytes = (0..count).map(|row| rows.bytes(row)).sum();
            self.blocks.insert(first, Outstanding { count, bytes, ..Outstanding::new(rows, node, now) });
            self.next_sequence += count as u64;
            self.outstanding += count;
            self.outstanding_bytes += bytes;
            self.counts.handed_over += count as u64;
            self.counts.bytes += bytes as u64;
            let queue = self.node(node, now);
            queue.blocks.push_back(first);
            queue.block_rows += count;
        }
        for (tag, payload, bytes) in records {
            self.push(tag, payload, bytes, now, router);
        }
    }

    /// A block for a sender of this node that was begun, if one is due.
    pub(super) fn fill_block(&mut self, node: u16, now: Instant, router: &impl Router) -> Option<BlockRef<B>> {
        self.follow(now, router);
        let index = usize::from(node);
        let first = *self.nodes[index].blocks.front()?;
        let handed_over = self.blocks.get(&first)?.handed_over;
        // Whoever has waited for longer goes first.
        if let Some(slot_ref) = self.nodes[index].queue.front()
            && self.slots.is_at(*slot_ref, Stage::Queued)
            && self.slots[slot_ref.slot].since < handed_over
        {
            return None;
        }
        let (records, most_bytes) = self.allowed_by(router, index, now)?;
        let block = self.blocks.get_mut(&first)?;
        let (count, bytes) = (block.count, block.bytes);
        self.nodes[index].blocks.pop_front();
        self.nodes[index].block_rows -= count;
        if count > records || (count > 1 && bytes > most_bytes) {
            for slot in self.take_apart(first, Stage::Behind) {
                self.queue(slot, now, router, false);
            }
            return None;
        }
        block.sent = Some(now);
        let rows = Arc::clone(&block.rows);
        self.nodes[index].starting -= 1;
        self.sends(index, count, bytes, now);
        Some(BlockRef { first, rows })
    }

    /// What became of a block that a sender has sent to this node.
    pub(in crate::writer) fn block_ended(
        &mut self,
        node: u16,
        sent: BlockRef<B>,
        ends: B::Ends,
        now: Instant,
        router: &impl Router,
    ) {
        self.follow(now, router);
        let BlockRef { first, rows } = sent;
        let Some(mut block) = self.blocks.remove(&first) else {
            // It was given up meanwhile.
            return self.answered(node, 0, 0, now, router);
        };
        let mut observed = std::mem::take(&mut block.observed);
        observed.sort_unstable();
        let mut observed = observed.into_iter().peekable();
        let (mut confirmed, mut bytes, mut room) = (0, 0, 0);
        let (mut failed, mut taken, mut throttled) = (Vec::new(), 0, 0);
        for (row, digest) in rows.digests().iter().enumerate() {
            let slot = observed.next_if(|(place, _)| *place == row).map(|(_, slot)| slot);
            let ok = ends.is_ok(row);
            taken += usize::from(ok);
            if ok && slot.is_none() {
                self.youngest.remove(digest);
                let size = rows.bytes(row);
                bytes += size;
                room += size.min(self.options.max_outstanding_bytes);
                confirmed += 1;
            } else {
                failed.push((row, slot));
            }
        }
        self.counts.ok += confirmed as u64;
        self.outstanding -= confirmed;
        self.outstanding_bytes -= bytes;
        let (handed_over, sent) = (block.handed_over, block.sent.unwrap_or(now));
        let mut near = NONE;
        for (row, slot) in failed {
            near = slot.unwrap_or_else(|| self.adopt(block.record(first, row), &rows.digests()[row], near));
            let (record, end) = (&mut self.slots[near], ends.end(row));
            (record.stage, record.since) = (Stage::InFlight, sent);
            throttled += usize::from(end.result.as_ref().is_err_and(|error| RetryClass::of(error).1));
            let slot_ref = SlotRef { slot: near, sequence: record.sequence };
            self.attempted(slot_ref, rows.payload(row), end, now, router);
        }
        drop(block);
        self.done_blocks.push(DoneBlock { rows, confirmed, room, handed_over, ends: Some((ends, sent, now)) });
        self.answered(node, taken, throttled, now, router);
    }

    /// A slot for a row of a block, for which a younger record of its key is to wait.
    pub(super) fn observe(&mut self, first: u64, digest: &Digest) -> u32 {
        let Some(block) = self.blocks.get_mut(&first) else { return NONE };
        let Some(row) = block.rows.digests().iter().position(|other| other == digest) else { return NONE };
        let slot = self.slots.insert(block.record(first, row), NONE);
        self.slots[slot].stage = Stage::InBlock;
        block.observed.push((row, slot));
        slot
    }

    /// A slot for a row of a block, which is the youngest record of its key; `near`: the slot of an older one.
    fn adopt(&mut self, record: Slot<T, P>, digest: &Digest, near: u32) -> u32 {
        let slot = self.slots.insert(record, near);
        self.youngest.insert(*digest, Holder::Slot(slot));
        slot
    }

    /// All rows of a block as records of their own at this stage, those that are not in flight with what they do. Leaves
    /// the queue of its node as it is.
    pub(super) fn take_apart(&mut self, first: u64, stage: Stage) -> Vec<u32> {
        let mut slots = Vec::new();
        let Some(block) = self.blocks.remove(&first) else { return slots };
        let mut near = NONE;
        for (row, digest) in block.rows.digests().iter().enumerate() {
            let observed = block.observed.iter().find(|(place, _)| *place == row).map(|(_, slot)| *slot);
            let slot = observed.unwrap_or_else(|| self.adopt(block.record(first, row), digest, near));
            near = slot;
            let record = &mut self.slots[slot];
            record.stage = stage;
            record.payload = (stage != Stage::InFlight).then(|| block.rows.payload(row));
            if let Some(sent) = block.sent {
                record.since = sent;
            }
            slots.push(slot);
        }
        let Outstanding { rows, handed_over, .. } = block;
        self.done_blocks.push(DoneBlock { rows, confirmed: 0, room: 0, handed_over, ends: None });
        slots
    }

    /// Ends rows that are too old, of blocks that are not in flight. Those of the same block that are not queue by themselves.
    pub(super) fn expire_blocks(&mut self, now: Instant, router: &impl Router) {
        let old: Vec<u64> = self
            .blocks
            .iter()
            .take_while(|(_, block)| now >= block.handed_over + self.options.record_ttl)
            .filter(|(_, block)| block.sent.is_none())
            .map(|(first, _)| *first)
            .collect();
        for first in old {
            self.leave_queue(first);
            for slot in self.take_apart(first, Stage::Behind) {
                if now >= self.slots[slot].handed_over + self.options.record_ttl {
                    self.expire(slot, now, router);
                } else {
                    self.queue(slot, now, router, false);
                }
            }
        }
    }

    /// Makes records of all rows of all blocks: all of them are to be given up.
    pub(super) fn take_blocks_apart(&mut self) {
        while let Some((&first, block)) = self.blocks.first_key_value() {
            let stage = if block.sent.is_some() { Stage::InFlight } else { Stage::Behind };
            self.leave_queue(first);
            self.take_apart(first, stage);
        }
    }

    /// Takes a block that is not in flight out of the queue of its node.
    pub(super) fn leave_queue(&mut self, first: u64) {
        self.close(first);
        let Some(block) = self.blocks.get(&first).filter(|block| block.sent.is_none()) else { return };
        let queue = &mut self.nodes[usize::from(block.node)];
        queue.blocks.retain(|other| *other != first);
        queue.block_rows -= block.count;
    }
}
