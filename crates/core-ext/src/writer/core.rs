//! What a writer does, without I/O: which record goes when and where, and what an answer means for it.
//!
//! Time and the cluster's map are arguments. A driver hands records over ([`Core::push`]), asks which nodes to start a
//! sender for ([`Core::begin`]), lets each sender take its rows ([`Core::fill`]) and give them back with their answers
//! ([`Core::ended`]), and calls [`Core::tick`] when [`Core::next_wake`] says so. Outcomes are taken from [`Core::done`].
//!
//! Order: of all records of one key only the oldest is ever queued or in flight. The next one follows when that has its
//! outcome, so neither batches nor retries can change places.

mod blocks;
mod node;
mod open;
mod slots;
mod youngest;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::time::{Duration, Instant};

use aerolane_wire::digest::Digest;

use super::arrivals::Arrivals;
use super::counts::{Counts, NodeCounts};
use super::delivery::{AttemptEnd, Delivery, Written};
use super::options::WriterOptions;
use super::rate::Limiter;
use super::retry::{Jitter, RetryBudget, RetryClass, backoff, pause_after_move};
use crate::error::{Error, Result};
use blocks::Outstanding;
pub(super) use blocks::{Block, BlockEnds, BlockRef, DoneBlock};
use node::NodeQueue;
pub(super) use open::{NewRow, Opener};
pub(super) use slots::SlotRef;
use slots::{NONE, Slot, Slots, Stage};
use youngest::{Holder, Youngest};

/// Whom a record belongs to, as far as the core has to know.
pub(super) trait Tag: Clone {
    fn digest(&self) -> &Digest;

    fn namespace(&self) -> &str;
}

/// What is to be written.
pub(super) trait Payload {
    /// Whether a second execution makes no difference.
    fn repeats_safely(&self) -> bool;

    /// Whether it is a success when there is no such record.
    fn may_be_missing(&self) -> bool;
}

/// The cluster's map.
pub(super) trait Router {
    /// Differs from map to map.
    fn version(&self) -> u64;

    /// The index of the node that owns the key's partition; `None`: nobody does at the moment.
    fn node(&self, namespace: &str, digest: &Digest) -> Option<u16>;

    /// Why nothing is sent to a node at the moment.
    fn refusal(&self, node: u16) -> Option<Error>;
}

/// A record on its way.
#[derive(Debug)]
pub(super) struct Sent<T, P> {
    pub(super) slot_ref: SlotRef,
    pub(super) tag: T,
    pub(super) payload: P,
}

/// A record with its outcome.
#[derive(Debug)]
pub(super) struct Done<T, P> {
    pub(super) tag: T,
    pub(super) bytes: usize,
    pub(super) delivery: Delivery,
    /// To be dropped where nobody waits for it.
    _payload: Option<P>,
}

/// The records of a writer that have no outcome yet.
pub(super) struct Core<T, P, B: Block<T, P>> {
    options: WriterOptions,
    slots: Slots<T, P>,
    youngest: Youngest,
    /// Blocks of rows, by the number of their first row.
    blocks: BTreeMap<u64, Outstanding<B>>,
    nodes: Vec<NodeQueue>,
    /// Where the next look for a node begins.
    turn: usize,
    unowned: Vec<SlotRef>,
    pausing: BinaryHeap<Reverse<(Instant, u32, u64)>>,
    awaiting_budget: VecDeque<SlotRef>,
    total: Limiter,
    budget: RetryBudget,
    jitter: Jitter,
    map_version: u64,
    next_sequence: u64,
    outstanding: usize,
    outstanding_bytes: usize,
    arrivals: Arrivals,
    /// Who waits for all that was handed over.
    hurried: usize,
    /// Who waits for room for another record.
    short_of_room: usize,
    wants_refresh: bool,
    /// A record was taken that may need a sender, or a moment of the timer.
    stirred: bool,
    counts: Counts,
    done: Vec<Done<T, P>>,
    done_blocks: Vec<DoneBlock<B, B::Ends>>,
}

impl<T: Tag, P: Payload, B: Block<T, P>> Core<T, P, B> {
    pub(super) fn new(options: WriterOptions, seed: u64, now: Instant) -> Self {
        Self {
            total: Limiter::new(options.max_records_per_second, options.max_bytes_per_second, now),
            budget: RetryBudget::new(options.retries_per_success, options.min_retries_per_second, now),
            arrivals: Arrivals::new(now, options.linger),
            options,
            slots: Slots::default(),
            youngest: Youngest::default(),
            blocks: BTreeMap::new(),
            nodes: Vec::new(),
            turn: 0,
            unowned: Vec::new(),
            pausing: BinaryHeap::new(),
            awaiting_budget: VecDeque::new(),
            jitter: Jitter::new(seed),
            map_version: 0,
            next_sequence: 0,
            outstanding: 0,
            outstanding_bytes: 0,
            hurried: 0,
            short_of_room: 0,
            wants_refresh: false,
            stirred: false,
            counts: Counts::default(),
            done: Vec::new(),
            done_blocks: Vec::new(),
        }
    }

    /// Takes a record; gives its number.
    pub(super) fn push(&mut self, tag: T, payload: P, bytes: usize, now: Instant, router: &impl Router) -> u64 {
        self.follow(now, router);
        self.stirred |= self.arrivals.came(now, self.options.linger);
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        let digest = *tag.digest();
        let index = self.slots.push(Slot::new(sequence, tag, Some(payload), bytes, now));
        // The timer has to know of the oldest record.
        self.stirred |= self.outstanding == 0;
        self.outstanding += 1;
        self.outstanding_bytes += bytes;
        self.counts.handed_over += 1;
        self.counts.bytes += bytes as u64;
        let before = match self.youngest.insert(digest, Holder::Slot(index)) {
            Some(Holder::Slot(before)) => before,
            Some(Holder::Block(first)) => self.observe(first, &digest),
            None => NONE,
        };
        if before == NONE {
            self.queue(index, now, router, false);
        } else {
            self.slots[before].follower = index;
            self.slots[index].leader = before;
        }
        sequence
    }

    /// Whether there may be something to begin, or a new moment to wake at, since this was asked last: after most records that
    /// [`push`](Self::push) takes there is neither.
    pub(super) const fn stirred(&mut self) -> bool {
        std::mem::replace(&mut self.stirred, false)
    }

    /// A node to start a sender for. The sender is to call [`fill`](Self::fill).
    pub(super) fn begin(&mut self, now: Instant) -> Option<u16> {
        let count = self.nodes.len();
        for step in 0..count {
            let index = (self.turn + step) % count;
            if self.is_ready(index, now) {
                self.nodes[index].in_flight += 1;
                self.nodes[index].starting += 1;
                self.turn = (index + 1) % count;
                return Some(index as u16);
            }
        }
        None
    }

    fn is_ready(&mut self, index: usize, now: Instant) -> bool {
        if self.holds_the_room(&self.nodes[index]) {
            self.nodes[index].width.widen(now);
        }
        let options = &self.options;
        let node = &self.nodes[index];
        // What senders that have not begun will take.
        let starting = node.starting.saturating_sub(node.blocks.len());
        let claimed = starting * options.batch_records;
        let block = node.blocks.len() > node.starting;
        if (node.records + node.open_rows <= claimed && !block)
            || node.in_flight >= node.width.most(options.batches_in_flight, now)
        {
            return false;
        }
        let is_wide = node.in_flight >= options.batches_in_flight;
        let full = block
            || node.records.saturating_sub(claimed) >= options.batch_records
            || node.bytes.saturating_sub(starting * options.batch_bytes) >= options.batch_bytes;
        if node.is_refused(now) {
            return false;
        }
        let ready = full
            || (starting == 0
                && !is_wide
                && (self.hurried > 0
                    || (node.in_flight == 0 && (self.short_of_room > 0 || self.is_calm(now)))
                    || self.lingers_until(index).is_some_and(|at| at <= now)));
        ready && self.allowed(index, now).is_some()
    }

    /// Whether what a node holds keeps others from handing records over for the others.
    fn holds_the_room(&self, node: &NodeQueue) -> bool {
        // Those in flight are about so many: when it comes to more batches than usual, they are full.
        let held = node.records + node.block_rows + node.open_rows + node.in_flight * self.options.batch_records;
        self.short_of_room > 0 && self.nodes.len() > 1 && 2 * held > self.outstanding
    }

    /// Whether a node holds up the others, or has done so just now.
    pub(super) fn has_a_slow_node(&self, now: Instant) -> bool {
        self.nodes.iter().any(|node| node.width.is_wide(now))
    }

    /// Whether a record goes at once, even alone: no request was sent just now that is still in flight, and records do not come
    /// in so fast that a larger batch is worth the wait.
    fn is_calm(&self, now: Instant) -> bool {
        /// A batch of so many costs little more per record than a full one.
        const WORTH: usize = 32;
        let linger = self.options.linger;
        let is_slow = |at: Instant| now.saturating_duration_since(at) >= linger;
        self.nodes.iter().all(|node| node.in_flight == node.starting || node.sent.is_none_or(is_slow))
            && !self.arrivals.are_dense(self.nodes.len() * WORTH.min(self.options.batch_records), linger)
    }

    /// When the oldest record that a node gathers has waited for long enough.
    fn lingers_until(&mut self, index: usize) -> Option<Instant> {
        let queue = &mut self.nodes[index].queue;
        while queue.front().is_some_and(|slot_ref| !self.slots.is_at(*slot_ref, Stage::Queued)) {
            queue.pop_front();
        }
        let queued = queue.front().map(|slot_ref| self.slots[slot_ref.slot].since);
        let oldest = queued.into_iter().chain(self.oldest_open(index)).min()?;
        Some(oldest + self.options.linger)
    }

    /// The rows of a sender that was begun: a block, or those in `rows`. If there is neither, the sender is over.
    pub(super) fn fill(
        &mut self,
        node: u16,
        now: Instant,
        router: &impl Router,
        rows: &mut Vec<Sent<T, P>>,
    ) -> Option<BlockRef<B>> {
        self.close_oldest(usize::from(node));
        let block = self.fill_block(node, now, router);
        if block.is_none() {
            self.fill_rows(node, now, router, rows);
        }
        block
    }

    /// [`fill`](Self::fill) where there is no block.
    pub(super) fn fill_rows(&mut self, node: u16, now: Instant, router: &impl Router, rows: &mut Vec<Sent<T, P>>) {
        self.follow(now, router);
        let index = usize::from(node);
        self.nodes[index].starting -= 1;
        let Some((records, bytes)) = self.allowed_by(router, index, now) else {
            self.nodes[index].in_flight -= 1;
            return;
        };
        let most = self.options.batch_records.min(records);
        let most_bytes = self.options.batch_bytes.min(bytes);
        let mut taken = 0;
        rows.reserve(most.min(self.nodes[index].records));
        while rows.len() < most
            && let Some(&slot_ref) = self.nodes[index].queue.front()
        {
            if !self.slots.is_at(slot_ref, Stage::Queued) {
                self.nodes[index].queue.pop_front();
                continue;
            }
            let slot = &mut self.slots[slot_ref.slot];
            if !rows.is_empty() && taken + slot.bytes > most_bytes {
                break;
            }
            self.nodes[index].queue.pop_front();
            (slot.stage, slot.since) = (Stage::InFlight, now);
            taken += slot.bytes;
            let (Some(tag), Some(payload)) = (slot.tag.clone(), slot.payload.take()) else { continue };
            rows.push(Sent { slot_ref, tag, payload });
        }
        let queue = &mut self.nodes[index];
        if rows.is_empty() {
            queue.in_flight -= 1;
            return;
        }
        queue.records -= rows.len();
        queue.bytes -= taken;
        self.sends(index, rows.len(), taken, now);
    }

    /// How many records and bytes may go to a node now.
    fn allowed(&mut self, index: usize, now: Instant) -> Option<(usize, usize)> {
        let (records, bytes) = self.total.available(now)?;
        let (node_records, node_bytes) = self.nodes[index].limiter.available(now)?;
        Some((records.min(node_records), bytes.min(node_bytes)))
    }

    /// The same, if the node is sent anything at all.
    fn allowed_by(&mut self, router: &impl Router, index: usize, now: Instant) -> Option<(usize, usize)> {
        if router.refusal(index as u16).is_some() {
            self.nodes[index].refuse(now);
            return None;
        }
        self.allowed(index, now)
    }

    /// A sender sends rows to a node.
    fn sends(&mut self, index: usize, rows: usize, bytes: usize, now: Instant) {
        let queue = &mut self.nodes[index];
        queue.sent = Some(now);
        queue.limiter.spend(rows, bytes);
        self.total.spend(rows, bytes);
        queue.counts.requests += 1;
        queue.counts.records += rows as u64;
        // Under a rate for all nodes, senders of several nodes begin before the first of them takes every token. The
        // others come first next time.
        self.turn = (index + 1) % self.nodes.len();
        self.counts.requests += 1;
        self.counts.singles += u64::from(rows == 1);
        self.counts.attempts += rows as u64;
    }

    /// The rows of a sender, with what became of them. The sender may begin anew if [`begin`](Self::begin) says so.
    pub(super) fn ended(
        &mut self,
        node: u16,
        rows: impl Iterator<Item = (SlotRef, P, AttemptEnd)>,
        now: Instant,
        router: &impl Router,
    ) {
        self.follow(now, router);
        let (mut taken, mut throttled) = (0, 0);
        self.done.reserve(rows.size_hint().0);
        for (slot_ref, payload, end) in rows {
            match &end.result {
                Ok(_) => taken += 1,
                Err(error) => throttled += usize::from(RetryClass::of(error).1),
            }
            self.attempted(slot_ref, payload, end, now, router);
        }
        self.answered(node, taken, throttled, now, router);
    }

    /// A node has answered a request: so many of its records were taken, and so many throttled.
    fn answered(&mut self, node: u16, taken: usize, throttled: usize, now: Instant, router: &impl Router) {
        self.budget.succeeded(taken);
        let queue = &mut self.nodes[usize::from(node)];
        queue.in_flight -= 1;
        if queue.pace.answered(taken, throttled, now) {
            queue.pace.apply(&mut queue.limiter.records, now);
        }
        self.pay(now, router);
    }

    fn attempted(&mut self, slot_ref: SlotRef, payload: P, mut end: AttemptEnd, now: Instant, router: &impl Router) {
        if !self.slots.is_at(slot_ref, Stage::InFlight) {
            // It was given up meanwhile.
            return;
        }
        let options = &self.options;
        let slot = &mut self.slots[slot_ref.slot];
        slot.tries.add(slot.handed_over, (slot.since, now), &mut end);
        let safe = payload.repeats_safely() || options.repeat_in_doubt;
        let missing = payload.may_be_missing();
        slot.payload = Some(payload);
        let error = match end.result {
            Ok(written) => return self.complete(slot_ref.slot, Ok(written), now, router),
            Err(error) if missing && error.is_not_found() => {
                return self.complete(slot_ref.slot, Ok(Written::missing()), now, router);
            }
            Err(error) => error,
        };
        slot.in_doubt |= error.in_doubt();
        let (class, _) = RetryClass::of(&error);
        self.counts.failed_attempts[class as usize] += 1;
        if class == RetryClass::Permanent || (error.in_doubt() && !safe) {
            return self.complete(slot_ref.slot, Err(error), now, router);
        }
        let pause = if class == RetryClass::Moved {
            self.wants_refresh = true;
            slot.moves += 1;
            pause_after_move(slot.moves)
        } else {
            slot.moves = 0;
            slot.retries += 1;
            if slot.retries > options.max_retries {
                let text = format!("gave up after {} retries", options.max_retries);
                return self.complete(slot_ref.slot, Err(given_up(&text, error)), now, router);
            }
            self.jitter.part_of(backoff(options.backoff, options.max_backoff, slot.retries))
        };
        slot.since = now;
        slot.last_error = Some(error);
        if now + pause >= slot.handed_over + options.record_ttl {
            return self.expire(slot_ref.slot, now, router);
        }
        let counted = class != RetryClass::Moved;
        if counted || !pause.is_zero() {
            slot.stage = Stage::Pausing;
            self.pausing.push(Reverse((now + pause, slot_ref.slot, slot_ref.sequence)));
        } else {
            self.queue(slot_ref.slot, now, router, true);
        }
    }

    /// What time brings: pauses that are over, records that are too old.
    pub(super) fn tick(&mut self, now: Instant, router: &impl Router) {
        self.follow(now, router);
        while let Some(Reverse((due, slot, sequence))) = self.pausing.peek().copied()
            && due <= now
        {
            self.pausing.pop();
            if !self.slots.is_at(SlotRef { slot, sequence }, Stage::Pausing) {
                continue;
            }
            let record = &self.slots[slot];
            let is_paced = record.last_error.as_ref().is_some_and(|error| RetryClass::of(error).1);
            if record.moves > 0 {
                // Not a retry that counts.
                self.queue(slot, now, router, true);
            } else if is_paced {
                // The rate of records to its node sees to it that there are not too many.
                self.counts.retries += 1;
                self.queue(slot, now, router, true);
            } else {
                self.slots[slot].stage = Stage::AwaitingBudget;
                self.awaiting_budget.push_back(SlotRef { slot, sequence });
            }
        }
        self.pay(now, router);
        let mut unowned = std::mem::take(&mut self.unowned);
        unowned.retain(|slot_ref| self.slots.is_at(*slot_ref, Stage::Unowned));
        self.wants_refresh |= !unowned.is_empty();
        self.unowned = unowned;
        self.expire_blocks(now, router);
        let mut slot = self.slots.oldest();
        while slot != NONE {
            let record = &self.slots[slot];
            let newer = record.newer;
            if now < record.handed_over + self.options.record_ttl {
                break;
            }
            if !matches!(record.stage, Stage::InFlight | Stage::InBlock) {
                self.expire(slot, now, router);
            }
            slot = newer;
        }
    }

    /// Lets retries go that the budget pays for.
    fn pay(&mut self, now: Instant, router: &impl Router) {
        while let Some(&slot_ref) = self.awaiting_budget.front() {
            if self.slots.is_at(slot_ref, Stage::AwaitingBudget) {
                if !self.budget.pay(now) {
                    return;
                }
                self.counts.retries += 1;
                self.queue(slot_ref.slot, now, router, true);
            }
            self.awaiting_budget.pop_front();
        }
    }

    /// When [`tick`](Self::tick), and then [`begin`](Self::begin), are to be called at the latest.
    pub(super) fn next_wake(&mut self, now: Instant) -> Option<Instant> {
        /// How often is looked for owners, and for records that are too old and in flight.
        const SOON: Duration = Duration::from_millis(20);
        let mut next = None;
        let mut earlier = |at: Instant| next = Some(next.map_or(at, |next: Instant| next.min(at)));
        if let Some(Reverse((due, ..))) = self.pausing.peek() {
            earlier(*due);
        }
        if !self.awaiting_budget.is_empty()
            && let Some(at) = self.budget.next()
        {
            earlier(at);
        }
        if !self.unowned.is_empty() {
            earlier(now + SOON);
        }
        let oldest = self.slots.get(self.slots.oldest()).map(|slot| slot.handed_over);
        let block = self.blocks.first_key_value().map(|(_, block)| block.handed_over);
        for handed_over in [oldest, block].into_iter().flatten() {
            let expires = handed_over + self.options.record_ttl;
            earlier(if expires <= now { now + SOON } else { expires });
        }
        for index in 0..self.nodes.len() {
            let node = &self.nodes[index];
            let nothing = node.records == 0 && node.blocks.is_empty() && node.open.is_empty();
            if nothing || node.in_flight >= self.options.batches_in_flight || node.starting > 0 {
                continue;
            }
            let limited = self.total.ready_at().max(node.limiter.ready_at()).max(node.refused_until.unwrap_or(now));
            let lingers = if node.blocks.is_empty() { self.lingers_until(index) } else { None };
            earlier(lingers.map_or(limited, |at| at.max(limited)).max(now + Duration::from_micros(100)));
        }
        next
    }

    /// Puts a record into the queue of its node.
    fn queue(&mut self, slot: u32, now: Instant, router: &impl Router, first: bool) {
        let record = &mut self.slots[slot];
        let Some(tag) = &record.tag else { return };
        let slot_ref = SlotRef { slot, sequence: record.sequence };
        let Some(node) = router.node(tag.namespace(), tag.digest()) else {
            record.stage = Stage::Unowned;
            self.stirred = true;
            self.unowned.push(slot_ref);
            self.wants_refresh = true;
            return;
        };
        (record.stage, record.node, record.since) = (Stage::Queued, node, now);
        let bytes = record.bytes;
        let (batch_records, batch_bytes) = (self.options.batch_records, self.options.batch_bytes);
        let (hurried, usual) = (self.hurried + self.short_of_room > 0, self.options.batches_in_flight);
        let queue = self.node(node, now);
        queue.records += 1;
        queue.bytes += bytes;
        let full =
            queue.records >= (queue.starting + 1) * batch_records || queue.bytes >= (queue.starting + 1) * batch_bytes;
        let stirred = queue.records == 1 || hurried || (full && queue.in_flight < queue.width.most(usual, now));
        if first {
            queue.queue.push_front(slot_ref);
        } else {
            queue.queue.push_back(slot_ref);
        }
        self.stirred |= stirred;
    }

    fn node(&mut self, node: u16, now: Instant) -> &mut NodeQueue {
        let index = usize::from(node);
        while self.nodes.len() <= index {
            self.nodes.push(NodeQueue::new(&self.options, now));
        }
        &mut self.nodes[index]
    }

    /// Sends what is queued to the nodes of a new map.
    fn follow(&mut self, now: Instant, router: &impl Router) {
        if router.version() == self.map_version {
            return;
        }
        self.map_version = router.version();
        let mut queued: Vec<SlotRef> = std::mem::take(&mut self.unowned);
        for node in &mut self.nodes {
            queued.extend(node.queue.drain(..));
            (node.records, node.bytes) = (0, 0);
        }
        queued.retain(|slot_ref| {
            self.slots.is_at(*slot_ref, Stage::Queued) || self.slots.is_at(*slot_ref, Stage::Unowned)
        });
        queued.extend(self.take_open_apart());
        queued.sort_by_key(|slot_ref| slot_ref.sequence);
        for slot_ref in queued {
            let since = self.slots[slot_ref.slot].since;
            self.queue(slot_ref.slot, since.min(now), router, false);
        }
    }

    fn expire(&mut self, slot: u32, now: Instant, router: &impl Router) {
        let record = &mut self.slots[slot];
        let sent = record.tries.made() > 0;
        let error = Error::record_expired(self.options.record_ttl, sent);
        let why = || {
            let tag = record.tag.as_ref()?;
            router.refusal(router.node(tag.namespace(), tag.digest())?)
        };
        let error = match record.last_error.take().or_else(why) {
            Some(last) => error.with_cause(last),
            None => error,
        };
        self.counts.expired += 1;
        self.complete(slot, Err(error), now, router);
    }

    /// A record has its outcome.
    fn complete(&mut self, slot: u32, result: Result<Written>, now: Instant, router: &impl Router) {
        let record = &mut self.slots[slot];
        let took = now.saturating_duration_since(record.handed_over);
        let tries = std::mem::take(&mut record.tries);
        let result = result.map_err(|error| {
            let in_doubt = record.in_doubt;
            error.force_in_doubt(in_doubt).with_attempts(tries.made()).with_elapsed(took)
        });
        if result.is_ok() {
            self.counts.ok += 1;
        } else {
            self.counts.failed += 1;
            self.counts.in_doubt += u64::from(record.in_doubt);
        }
        if record.stage == Stage::Queued {
            let queue = &mut self.nodes[usize::from(record.node)];
            queue.records -= 1;
            queue.bytes -= record.bytes;
        }
        record.last_error = None;
        let delivery = tries.over(record.sequence, took, result);
        let bytes = record.bytes;
        let (leader, follower) = (record.leader, record.follower);
        let (tag, payload) = (record.tag.take(), record.payload.take());
        self.outstanding -= 1;
        self.outstanding_bytes -= bytes;
        // The line of its key. A record may leave it from behind others: when it is too old, and they are in flight.
        match leader {
            NONE => {}
            leader => self.slots[leader].follower = follower,
        }
        match (follower, &tag) {
            (NONE, Some(tag)) if leader == NONE => self.youngest.remove(tag.digest()),
            (NONE, Some(tag)) => drop(self.youngest.insert(*tag.digest(), Holder::Slot(leader))),
            (NONE, None) => {}
            (follower, _) => self.slots[follower].leader = leader,
        }
        if let Some(tag) = tag {
            self.done.push(Done { tag, bytes, delivery, _payload: payload });
        }
        self.slots.free(slot);
        if leader == NONE && follower != NONE {
            self.queue(follower, now, router, false);
        }
    }

    /// Ends all records, those in flight in doubt, with what `error` makes of whether a record is in flight.
    pub(super) fn give_up(&mut self, error: impl Fn(bool) -> Error, now: Instant, router: &impl Router) {
        self.take_blocks_apart();
        // From the youngest on: nothing is queued anew.
        while self.slots.youngest() != NONE {
            let slot = self.slots.youngest();
            let record = &mut self.slots[slot];
            let in_flight = record.stage == Stage::InFlight;
            let error = error(in_flight);
            if in_flight {
                record.in_doubt = true;
                let mut end = AttemptEnd { result: Err(error.clone().force_in_doubt(true)), node: None };
                record.tries.add(record.handed_over, (record.since, now), &mut end);
            }
            let error = match record.last_error.take() {
                Some(last) => error.with_cause(last),
                None => error,
            };
            self.complete(slot, Err(error), now, router);
        }
    }

    /// While somebody waits for what was handed over, batches do not wait for more records.
    pub(super) const fn hurry(&mut self, hurried: bool) {
        self.hurried = if hurried { self.hurried + 1 } else { self.hurried - 1 };
    }

    /// Whether somebody waited for most of the records that were answered last.
    pub(super) const fn awaited(&mut self, awaited: bool) {
        self.arrivals.were_awaited(awaited);
    }

    /// While somebody waits for room, nodes that have nothing else to do take what is there.
    pub(super) const fn wait_for_room(&mut self, waits: bool) {
        if waits {
            self.short_of_room += 1;
        } else {
            self.short_of_room -= 1;
            self.arrivals.held_up();
        }
    }

    /// The number of the oldest record without an outcome.
    pub(super) fn oldest(&self) -> Option<u64> {
        let slot = self.slots.get(self.slots.oldest()).map(|slot| slot.sequence);
        let block = self.blocks.first_key_value().map(|(first, _)| *first);
        slot.into_iter().chain(block).min()
    }

    /// The number of the next record.
    pub(super) const fn next_sequence(&self) -> u64 {
        self.next_sequence
    }

    /// Whether there is one record alone, of a program that awaits each.
    pub(super) fn is_lone_and_awaited(&self) -> bool {
        self.outstanding == 1 && self.blocks.is_empty() && self.arrivals.are_awaited()
    }

    pub(super) const fn outstanding(&self) -> (usize, usize) {
        (self.outstanding, self.outstanding_bytes)
    }

    /// Whether the map should be read anew; says so once.
    pub(super) const fn wants_refresh(&mut self) -> bool {
        std::mem::replace(&mut self.wants_refresh, false)
    }

    /// The outcomes since the last call.
    pub(super) fn done(&mut self) -> Vec<Done<T, P>> {
        std::mem::take(&mut self.done)
    }

    /// The blocks that are over since the last call.
    pub(super) fn done_blocks(&mut self) -> Vec<DoneBlock<B, B::Ends>> {
        std::mem::take(&mut self.done_blocks)
    }

    pub(super) const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The nodes that records were sent to, by index: what was counted, records in the queue, requests in flight, the limit
    /// of records a second, throttling answers.
    pub(super) fn node_counts(&self) -> impl Iterator<Item = (usize, NodeCounts)> {
        self.nodes.iter().enumerate().map(|(index, node)| {
            let counts = NodeCounts {
                queued: node.records + node.block_rows + node.open_rows,
                in_flight: node.in_flight,
                records_per_second_limit: node.pace.limit(),
                throttled: node.pace.throttled(),
                ..node.counts
            };
            (index, counts)
        })
    }
}

/// The failure of a record that is not tried again, for this reason.
fn given_up(why: &str, error: Error) -> Error {
    Error::ended_by(error, why, true)
}
