//! Puts that become rows of blocks as they are handed over, one by one.
//!
//! Each node has blocks that are open: rows are added until a sender takes the block, or it is full. A record that would go alone
//! does not open one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aerolane_wire::digest::Digest;

use super::blocks::Outstanding;
use super::slots::{SlotRef, Stage};
use super::youngest::Holder;
use super::{Block, Core, Payload, Router, Tag};

/// The most blocks of a node that are open at a time: of records that have not the same names or policy.
const MOST_OPEN: usize = 4;
/// A new block has room for so many rows more than the last one had.
const LEAST_ROOM: usize = 8;
/// How long a block takes rows. Times of rows are counted from its first one, in few bits.
const OPEN_FOR: Duration = Duration::from_secs(1);

/// A put that is to become a row.
#[derive(Debug, Clone, Copy)]
pub(in crate::writer) struct NewRow<'a> {
    pub(in crate::writer) namespace: &'a str,
    pub(in crate::writer) digest: &'a Digest,
    /// What it takes in a request, about.
    pub(in crate::writer) bytes: usize,
}

/// How rows are added to blocks.
pub(in crate::writer) trait Opener<B> {
    /// Whether the row can be one of this block.
    fn fits(&self, block: &B) -> bool;

    /// A block of a node, without rows and with room for so many. `first`: the number of its first one.
    fn open(&self, first: u64, node: u16, room: usize) -> B;

    /// Adds the row: its number, and how long after the first one it was handed over.
    fn add(self, block: &mut B, sequence: u64, after: Duration);
}

impl<T: Tag, P: Payload, B: Block<T, P>> Core<T, P, B> {
    /// Takes a record as a row of a block. False: it is to be [pushed](Self::push), since it may go alone, has to wait for
    /// another one of its key, or has no node.
    pub(in crate::writer) fn push_row<O: Opener<B>>(
        &mut self,
        row: NewRow<'_>,
        opener: O,
        now: Instant,
        router: &impl Router,
    ) -> bool {
        self.follow(now, router);
        if self.outstanding == 0 {
            return false;
        }
        let NewRow { namespace, digest, bytes } = row;
        let Some(node) = router.node(namespace, digest) else { return false };
        let Some((first, is_new)) = self.open_block(node, bytes, &opener, now) else { return false };
        let sequence = self.next_sequence;
        if !self.youngest.insert_first(digest, Holder::Block(first)) {
            return false;
        }
        if is_new {
            // As full as the last one, about.
            let room =
                self.nodes[usize::from(node)].last_filled.saturating_add(LEAST_ROOM).min(self.options.batch_records);
            self.blocks.insert(first, Outstanding::new(opener.open(first, node, room), node, now));
        }
        let Some(block) = self.blocks.get_mut(&first) else { return false };
        let after = now.saturating_duration_since(block.handed_over);
        // Nobody else has an open block.
        let Some(rows) = Arc::get_mut(&mut block.rows) else { return false };
        opener.add(rows, sequence, after);
        block.count += 1;
        block.bytes += bytes;
        let options = &self.options;
        let full = block.count >= options.batch_records || block.bytes >= options.batch_bytes;
        self.stirred |= self.arrivals.came(now, options.linger);
        self.stirred |= is_new || self.hurried + self.short_of_room > 0;
        self.next_sequence += 1;
        self.outstanding += 1;
        self.outstanding_bytes += bytes;
        self.counts.handed_over += 1;
        self.counts.bytes += bytes as u64;
        let queue = &mut self.nodes[usize::from(node)];
        queue.open_rows += 1;
        if is_new {
            queue.open.push(first);
        }
        if full {
            self.close(first);
            let usual = self.options.batches_in_flight;
            let queue = &self.nodes[usize::from(node)];
            self.stirred |= queue.in_flight < queue.width.most(usual, now);
        }
        true
    }

    /// The open block of a node that a row of so many bytes is to be added to, and whether it is to be opened. `None`: too many
    /// are open.
    fn open_block(&mut self, node: u16, bytes: usize, opener: &impl Opener<B>, now: Instant) -> Option<(u64, bool)> {
        self.node(node, now);
        let open = &self.nodes[usize::from(node)].open;
        let found = open.iter().find_map(|first| {
            let block = self.blocks.get(first)?;
            opener.fits(&block.rows).then_some((*first, block))
        });
        let Some((first, block)) = found else {
            return (open.len() < MOST_OPEN).then_some((self.next_sequence, true));
        };
        let has_room = block.bytes + bytes <= self.options.batch_bytes;
        if has_room && now.saturating_duration_since(block.handed_over) < OPEN_FOR {
            return Some((first, false));
        }
        self.close(first);
        self.stirred = true;
        Some((self.next_sequence, true))
    }

    /// Adds no more rows to a block, if it is open: it is queued.
    pub(in crate::writer) fn close(&mut self, first: u64) {
        let Some(block) = self.blocks.get_mut(&first) else { return };
        let queue = &mut self.nodes[usize::from(block.node)];
        let Some(place) = queue.open.iter().position(|other| *other == first) else { return };
        queue.open.remove(place);
        queue.open_rows -= block.count;
        queue.last_filled = block.count;
        queue.blocks.push_back(first);
        queue.block_rows += block.count;
        if let Some(rows) = Arc::get_mut(&mut block.rows) {
            rows.closed();
        }
    }

    /// Closes the oldest open block of a node for a sender, if the sender has nothing else that has waited for longer.
    pub(super) fn close_oldest(&mut self, index: usize) {
        let queue = &self.nodes[index];
        let (Some(&first), true) = (queue.open.first(), queue.blocks.is_empty()) else { return };
        let Some(handed_over) = self.blocks.get(&first).map(|block| block.handed_over) else { return };
        let is_younger = queue.queue.front().is_some_and(|slot_ref| {
            self.slots.is_at(*slot_ref, Stage::Queued) && self.slots[slot_ref.slot].since < handed_over
        });
        if !is_younger {
            self.close(first);
        }
    }

    /// Makes records of the rows of all open blocks: they may have other nodes.
    pub(super) fn take_open_apart(&mut self) -> Vec<SlotRef> {
        let mut slots = Vec::new();
        for index in 0..self.nodes.len() {
            while let Some(&first) = self.nodes[index].open.first() {
                self.leave_queue(first);
                slots.extend(self.take_apart(first, Stage::Behind));
            }
        }
        slots.into_iter().map(|slot| SlotRef { slot, sequence: self.slots[slot].sequence }).collect()
    }

    /// When the first row of the oldest open block of a node was handed over.
    pub(super) fn oldest_open(&self, index: usize) -> Option<Instant> {
        let first = self.nodes[index].open.first()?;
        self.blocks.get(first).map(|block| block.handed_over)
    }
}
