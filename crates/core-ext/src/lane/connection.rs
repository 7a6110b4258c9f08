//! One connection of a lane: out-buffer, FIFO of entries, in-buffer.

use std::borrow::Cow;
use std::collections::VecDeque;

use aerolane_wire::message::{MESSAGE_HEADER_SIZE, info3, pass_message};
use aerolane_wire::proto::{FrameType, MAX_BODY_SIZE, PROTO_HEADER_SIZE, split_frame};
use aerolane_wire::{WireError, WireResult};

use super::large::Large;
use super::sizing::Reading;
use super::types::{Class, Failure, FailureKind, Lateness, Millis, NodeCounters, Sink, Ticket};
use crate::command::compress::{inflate, is_compressed_request, is_refusal};
use crate::metrics::{Answered, Meter, Stamp, is_compressed, result_code};

/// Buffers that grew beyond this are given back when they run empty.
const KEEP_CAPACITY: usize = 64 * 1024;

/// A request as the lane knows it, beside its bytes.
#[derive(Debug)]
pub(super) struct Call<T> {
    /// Whom to tell; `None`: the caller has given up.
    pub(super) token: Option<T>,
    pub(super) ticket: Ticket,
    pub(super) deadline: Millis,
    pub(super) stamp: Stamp,
    /// When it was submitted: microseconds on the lane's clock, which wrap after 71 minutes.
    pub(super) submitted: u32,
    /// What kind of request it is (see [`kind`](super::kind)).
    pub(super) kind: u8,
}

/// What a connection adds to while it takes in answers.
pub(super) struct Account<'a> {
    pub(super) counters: &'a mut NodeCounters,
    pub(super) meter: &'a mut Meter,
    pub(super) reading: &'a mut Reading,
    /// Most bytes of the answer to a batch.
    pub(super) max_answer: u64,
}

/// One request in flight. Without a token it is an orphan.
#[derive(Debug)]
pub(super) struct Entry<T> {
    call: Call<T>,
    /// Size of the request in bytes.
    len: u32,
    /// Where the request starts in the connection's stream of sent bytes.
    start: u64,
}

#[derive(Debug)]
pub(super) struct Connection<T> {
    pub(super) serial: u32,
    class: Class,
    /// Bytes that wait for the next flush.
    out: Vec<u8>,
    /// Total bytes ever put into `out`.
    queued_total: u64,
    /// Of these, how many may have reached the server.
    sent_total: u64,
    entries: VecDeque<Entry<T>>,
    /// Bytes of a frame that has not come whole yet.
    partial: Vec<u8>,
    /// In their place, the body of one that is large.
    large: Option<Large>,
    /// Whole frames of the answer to the first entry have come, and more are to come.
    begun: bool,
    /// Of an answer of several frames: the bytes of those that have come.
    answer_bytes: u64,
    /// The same, as they are once they are unpacked.
    unpacked_bytes: u64,
    /// Whether the batch that is in flight, one at a time, went compressed.
    compressed: bool,
    bytes_in_flight: u64,
    orphans: usize,
    /// No deadline of an entry is earlier.
    earliest: Millis,
    /// When the entry at the front became an orphan.
    blocked_since: Option<Millis>,
    last_used: Millis,
    /// When the last answer came, in nanoseconds, if requests were in flight behind it.
    busy_since: Option<u64>,
    /// The driver knows that output waits, and has not come for it yet.
    flush_asked: bool,
    /// An answer has come: this connection worked.
    pub(super) proven: bool,
    /// Takes no further requests, and is closed as soon as nobody waits for an answer.
    pub(super) retired: bool,
    /// The driver has been told to close it.
    pub(super) close_asked: bool,
}

impl<T> Call<T> {
    /// How many milliseconds ago it was submitted, rounded up; wraps after 71 minutes.
    pub(super) fn age(&self, now: Millis) -> u64 {
        // Milliseconds are whole ones: it may have been submitted later in the present one.
        u64::from((now.0 as u32).wrapping_add(1).wrapping_mul(1000).wrapping_sub(self.submitted) / 1000)
    }

    /// It has as much time as it had when it was submitted.
    pub(super) fn renew(&mut self, now: Millis) {
        self.deadline = self.deadline.plus(self.age(now));
        self.submitted = (now.0 as u32).wrapping_mul(1000);
    }
}

/// The load of a connection that takes no request now.
pub(super) const NO_ROOM: u16 = u16::MAX;

impl<T> Connection<T> {
    pub(super) fn new(serial: u32, class: Class, now: Millis) -> Self {
        Self {
            serial,
            class,
            out: Vec::new(),
            queued_total: 0,
            sent_total: 0,
            entries: VecDeque::new(),
            partial: Vec::new(),
            large: None,
            begun: false,
            answer_bytes: 0,
            unpacked_bytes: 0,
            compressed: false,
            bytes_in_flight: 0,
            orphans: 0,
            earliest: Millis::NEVER,
            blocked_since: None,
            last_used: now,
            busy_since: None,
            flush_asked: false,
            proven: false,
            retired: false,
            close_asked: false,
        }
    }

    /// How many entries another request would stand behind; [`NO_ROOM`] if none may be put there: it would wait for
    /// an answer that is late already, or the connection is about to be closed.
    pub(super) fn load(&self) -> u16 {
        if self.retired || self.orphans > 0 { NO_ROOM } else { self.entries.len().min(usize::from(NO_ROOM - 1)) as u16 }
    }

    /// Whether a request of this size may be put behind the others: the bytes in flight are bounded, but a request
    /// that is larger than the bound may go alone.
    pub(super) fn has_room_for(&self, len: usize, max_bytes: u64) -> bool {
        self.entries.is_empty() || self.bytes_in_flight + len as u64 <= max_bytes
    }

    /// Whether the driver is to be told that output waits: once, until it has come for it.
    pub(super) fn ask_to_flush(&mut self) -> bool {
        !std::mem::replace(&mut self.flush_asked, true)
    }

    /// Entries in flight, orphans included.
    pub(super) fn in_flight(&self) -> usize {
        self.entries.len()
    }

    /// Whether somebody waits for an answer from here.
    pub(super) fn is_awaited(&self) -> bool {
        self.entries.len() > self.orphans
    }

    /// Whether answers are still to come that nobody wants.
    pub(super) fn is_recovering(&self) -> bool {
        self.orphans > 0
    }

    /// Idle since when; `None`: something is in flight.
    pub(super) fn idle_since(&self) -> Option<Millis> {
        self.entries.is_empty().then_some(self.last_used)
    }

    /// Whether nothing but orphans is left, the first of them in front for `limit` milliseconds.
    pub(super) fn is_stuck(&self, now: Millis, limit: u64) -> bool {
        !self.is_awaited() && self.blocked_since.is_some_and(|since| now.since(since) >= limit)
    }

    pub(super) fn push(&mut self, request: &[u8], call: Call<T>, now: Millis) {
        let deadline = call.deadline;
        let (len, start) = (request.len() as u32, self.queued_total);
        if self.class == Class::Batch {
            self.compressed = is_compressed_request(request);
        }
        self.out.extend_from_slice(request);
        self.entries.push_back(Entry { call, len, start });
        self.queued_total += request.len() as u64;
        self.bytes_in_flight += request.len() as u64;
        self.earliest = self.earliest.min(deadline);
        self.last_used = now;
    }

    /// Hands all waiting bytes to the driver: `buffer` (empty) is exchanged for them.
    pub(super) fn take_output(&mut self, buffer: &mut Vec<u8>) -> bool {
        debug_assert!(buffer.is_empty(), "the driver's buffer is written out before it takes more");
        self.flush_asked = false;
        if self.out.is_empty() {
            return false;
        }
        std::mem::swap(&mut self.out, buffer);
        if self.out.capacity() > KEEP_CAPACITY {
            self.out = Vec::new();
        }
        self.sent_total = self.queued_total;
        true
    }

    /// Whether a part of the answer to the first entry has come.
    fn has_begun(&self) -> bool {
        self.begun || self.is_partial()
    }

    /// A read that brought answers is over: the next one that finds requests in flight shows how long they occupy the
    /// connection.
    pub(super) fn answered(&mut self, nanos: u64) {
        self.busy_since = (!self.entries.is_empty()).then_some(nanos);
    }

    /// Where in the stream the bytes begin that the driver has not taken.
    fn taken_total(&self) -> u64 {
        self.queued_total - self.out.len() as u64
    }

    /// The driver could not write the last `unwritten` bytes of what it took.
    pub(super) fn unwritten(&mut self, unwritten: usize) {
        self.sent_total = self.taken_total().saturating_sub(unwritten as u64);
    }

    /// Puts taken bytes back: they have not been sent.
    pub(super) fn return_output(&mut self, bytes: &[u8]) {
        self.sent_total = self.taken_total().saturating_sub(bytes.len() as u64);
        self.out.splice(..0, bytes.iter().copied());
    }

    pub(super) fn output_len(&self) -> usize {
        self.out.len()
    }

    /// Takes in received bytes and tells of the answers in them. An error: the stream is unusable.
    pub(super) fn received(
        &mut self,
        bytes: &[u8],
        now: Millis,
        account: &mut Account<'_>,
        sink: &mut impl Sink<T>,
    ) -> WireResult<()> {
        account.counters.bytes_received += bytes.len() as u64;
        self.last_used = now;
        let mut before = 0;
        if let Some(large) = &mut self.large {
            before = large.take(bytes);
            let Some(large) = self.large.take_if(|large| large.is_whole()) else { return Ok(()) };
            self.answer(Cow::Owned(large.into_body()), now, account, sink).map_err(|e| e.shifted(before))?;
        }
        let bytes = &bytes[before..];
        if self.partial.is_empty() {
            let used = self.frames(bytes, now, account, sink).map_err(|e| e.shifted(before))?;
            let rest = &bytes[used..];
            self.large = self.large_at(rest);
            if self.large.is_none() {
                self.partial.extend_from_slice(rest);
            }
            return self.check_asked_for(before + used);
        }
        // The buffer is taken out for the walk, so that its frames can be borrowed while `self` changes.
        self.partial.extend_from_slice(bytes);
        let mut whole = std::mem::take(&mut self.partial);
        let used = self.frames(&whole, now, account, sink)?;
        self.large = self.large_at(&whole[used..]);
        if used == whole.len() || self.large.is_some() {
            whole.clear();
            whole.shrink_to(KEEP_CAPACITY);
        } else {
            whole.drain(..used);
            if whole.len() < whole.capacity() / 4 {
                whole.shrink_to((whole.len() * 2).max(KEEP_CAPACITY));
            }
        }
        self.partial = whole;
        self.check_asked_for(used)
    }

    /// The large answer that `rest`, which is no whole frame, begins with. Batches come in frames that are put together elsewhere.
    fn large_at(&self, rest: &[u8]) -> Option<Large> {
        if rest.is_empty() || self.class == Class::Batch { None } else { Large::begin(rest) }
    }

    /// Whether a part of a frame has come.
    fn is_partial(&self) -> bool {
        !self.partial.is_empty() || self.large.is_some()
    }

    /// Nothing is kept of an answer that nobody asked for: it is not worth waiting for the rest of it.
    fn check_asked_for(&self, at: usize) -> WireResult<()> {
        if self.is_partial() && self.entries.front().is_none_or(|e| e.start >= self.sent_total) {
            return Err(WireError::invalid("the start of an answer that nobody asked for", at));
        }
        Ok(())
    }

    /// Walks the whole frames at the front of `bytes`; says how many bytes they have.
    fn frames(
        &mut self,
        bytes: &[u8],
        now: Millis,
        account: &mut Account<'_>,
        sink: &mut impl Sink<T>,
    ) -> WireResult<usize> {
        let mut used = 0;
        while let Some((frame, size)) = split_frame(&bytes[used..], MAX_BODY_SIZE).map_err(|e| e.shifted(used))? {
            match frame.header.frame_type {
                FrameType::Message | FrameType::CompressedMessage => {}
                FrameType::Info | FrameType::Admin => {
                    return Err(WireError::invalid("an info or admin frame among answers", used + 1));
                }
            }
            let body = match frame.header.frame_type {
                // A compressed frame is handed out whole: its body starts with the plain size, not with a message.
                FrameType::CompressedMessage => &bytes[used..used + size],
                _ => frame.body,
            };
            self.answer(Cow::Borrowed(body), now, account, sink).map_err(|e| e.shifted(used))?;
            used += size;
        }
        Ok(used)
    }

    fn answer(
        &mut self,
        body: Cow<'_, [u8]>,
        now: Millis,
        Account { counters, meter, reading, max_answer }: &mut Account<'_>,
        sink: &mut impl Sink<T>,
    ) -> WireResult<()> {
        let Some(front) = self.entries.front_mut() else {
            return Err(WireError::invalid("an answer that nobody asked for", 0));
        };
        if front.start >= self.sent_total {
            return Err(WireError::invalid("an answer to a request that was not sent", 0));
        }
        if self.class == Class::Batch {
            let mut inflated = Vec::new();
            let (body, received) = if is_compressed(&body) {
                (inflate(&body[PROTO_HEADER_SIZE..], &mut inflated)?, body.len())
            } else {
                (&*body, PROTO_HEADER_SIZE + body.len())
            };
            let end = match end_of_answer(body)? {
                None if self.compressed && !self.begun && is_refusal(body) => Some(result_code(body)),
                end => end,
            };
            self.unpacked_bytes += body.len() as u64;
            if self.unpacked_bytes <= *max_answer {
                if let Some(token) = &mut front.call.token {
                    sink.part(token, body, end.is_some());
                }
            } else if let Some(token) = front.call.token.take() {
                let kind = FailureKind::AnswerTooLarge(*max_answer);
                sink.failed(token, &Failure::new(kind, true).begun(true));
                counters.orphans += 1;
                self.orphans += 1;
                self.blocked_since.get_or_insert(now);
            }
            self.begun = end.is_none();
            self.answer_bytes += received as u64;
            let Some(code) = end else { return Ok(()) };
            self.unpacked_bytes = 0;
            let received = std::mem::take(&mut self.answer_bytes);
            let sent = u64::from(front.len);
            meter.answered(front.call.stamp, || Answered { sent, received, result_code: Some(code) });
        } else if body.len() < MESSAGE_HEADER_SIZE {
            return Err(WireError::truncated(MESSAGE_HEADER_SIZE - body.len(), body.len()));
        } else {
            meter.answered(front.call.stamp, || Answered::of_frame(front.len, &body));
        }
        self.proven = true;
        let Some(entry) = self.entries.pop_front() else { return Ok(()) };
        self.bytes_in_flight -= u64::from(entry.len);
        counters.in_flight -= 1;
        reading.answered(entry.call.kind, entry.call.submitted, self.busy_since);
        self.busy_since = None;
        if let Some(token) = entry.call.token {
            counters.answers += 1;
            if self.class != Class::Batch {
                match body {
                    Cow::Borrowed(body) => sink.answer(token, body),
                    Cow::Owned(body) => sink.answer_owned(token, body),
                }
            }
        } else {
            counters.late_answers += 1;
            counters.orphans -= 1;
            self.orphans -= 1;
        }
        if self.orphans > 0 {
            self.blocked_since = self.entries.front().filter(|e| e.call.token.is_none()).map(|_| now);
        } else {
            self.blocked_since = None;
        }
        Ok(())
    }

    /// Ends the wait for entries past their deadline; says the earliest deadline left. What the driver has taken
    /// becomes an orphan, as it may be executed; what it has not is taken back and never sent.
    pub(super) fn expire(
        &mut self,
        now: Millis,
        late: Lateness,
        counters: &mut NodeCounters,
        sink: &mut impl Sink<T>,
    ) -> Millis {
        if now < self.earliest {
            return self.earliest;
        }
        let (taken_total, begun) = (self.taken_total(), self.has_begun());
        let (mut earliest, mut taken_back) = (Millis::NEVER, false);
        for (index, entry) in self.entries.iter_mut().enumerate() {
            if entry.call.token.is_none() {
                continue;
            }
            if entry.call.deadline > now {
                earliest = earliest.min(entry.call.deadline);
                continue;
            }
            let Some(token) = entry.call.token.take() else { continue };
            let sent = entry.start < taken_total;
            counters.timeouts += 1;
            if sent {
                counters.orphans += 1;
                self.orphans += 1;
                if index == 0 {
                    self.blocked_since.get_or_insert(now);
                }
            } else {
                taken_back = true;
            }
            let begun = index == 0 && begun;
            let loop_busy = late.within(entry.call.age(now), now);
            sink.failed(token, &Failure { kind: FailureKind::Expired, sent, begun, loop_busy });
        }
        if taken_back {
            self.take_back(counters);
        }
        self.earliest = earliest;
        earliest
    }

    /// Entries whose deadline has passed, that the driver has not taken, and that were held up at their age in milliseconds,
    /// have all their time anew. Whether there are any.
    pub(super) fn renew_unsent(&mut self, now: Millis, held_up: impl Fn(u64) -> bool) -> bool {
        if now < self.earliest || self.out.is_empty() {
            return false;
        }
        let mut any = false;
        let first = self.entries.partition_point(|e| e.start < self.taken_total());
        for Entry { call, .. } in self.entries.range_mut(first..) {
            if call.deadline <= now && held_up(call.age(now)) {
                call.renew(now);
                any = true;
            }
        }
        let deadlines = self.entries.iter().filter(|e| e.call.token.is_some()).map(|e| e.call.deadline);
        self.earliest = deadlines.min().unwrap_or(Millis::NEVER);
        any
    }

    /// Ends the wait for an entry, as [`expire`](Self::expire) does. `None`: it is not here.
    pub(super) fn cancel(&mut self, ticket: Ticket, now: Millis, counters: &mut NodeCounters) -> Option<T> {
        let index = self.entries.binary_search_by_key(&ticket, |e| e.call.ticket).ok()?;
        let taken_total = self.taken_total();
        let entry = &mut self.entries[index];
        let token = entry.call.token.take()?;
        if entry.start >= taken_total {
            self.take_back(counters);
            return Some(token);
        }
        counters.orphans += 1;
        self.orphans += 1;
        if index == 0 {
            self.blocked_since.get_or_insert(now);
        }
        Some(token)
    }

    /// Removes the entries that nobody waits for and that the driver has not taken, with their bytes.
    fn take_back(&mut self, counters: &mut NodeCounters) {
        let base = self.taken_total();
        let first = self.entries.partition_point(|e| e.start < base);
        // What stands in front of the first of them is the rest of a request that has been sent in part.
        let mut to = self.entries.get(first).map_or(self.out.len(), |e| (e.start - base) as usize);
        let mut kept = first;
        for index in first..self.entries.len() {
            let entry = &mut self.entries[index];
            let (from, len) = ((entry.start - base) as usize, entry.len as usize);
            if entry.call.token.is_none() {
                self.bytes_in_flight -= len as u64;
                counters.in_flight -= 1;
                continue;
            }
            entry.start = base + to as u64;
            self.out.copy_within(from..from + len, to);
            to += len;
            self.entries.swap(kept, index);
            kept += 1;
        }
        self.entries.truncate(kept);
        self.out.truncate(to);
        self.queued_total = base + to as u64;
        if self.out.is_empty() {
            // The driver may find nothing and not come; it is to be told of the next output.
            self.flush_asked = false;
        }
    }

    /// Fails all entries, oldest first.
    pub(super) fn fail_all(&mut self, kind: &FailureKind, counters: &mut NodeCounters, sink: &mut impl Sink<T>) {
        counters.in_flight -= self.entries.len() as u64;
        counters.orphans -= self.orphans as u64;
        self.orphans = 0;
        // What is no answer has come in place of the first one.
        let begun = self.has_begun() || matches!(kind, FailureKind::Garbage(_));
        let sent_total = self.sent_total;
        for (index, entry) in self.entries.drain(..).enumerate() {
            if let Some(token) = entry.call.token {
                let (sent, begun) = (entry.start < sent_total, index == 0 && begun);
                sink.failed(token, &Failure::new(kind.clone(), sent).begun(begun));
            }
        }
    }
}

/// The result code of the final message of a multi-message answer, if it is in this frame.
fn end_of_answer(body: &[u8]) -> WireResult<Option<u8>> {
    let mut at = 0;
    loop {
        let message = &body[at..];
        let (size, flags) = pass_message(message).map_err(|e| e.shifted(at))?;
        at += size;
        let last = flags & info3::LAST != 0;
        match (last, at == body.len()) {
            (true, true) => return Ok(Some(result_code(message))),
            (false, true) => return Ok(None),
            (true, false) => return Err(WireError::invalid("a message behind the last one of an answer", at)),
            (false, false) => {}
        }
    }
}
