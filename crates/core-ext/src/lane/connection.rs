//! One connection of a lane: out-buffer, FIFO of entries, in-buffer.

use std::collections::VecDeque;

use aerolane_wire::message::{MESSAGE_HEADER_SIZE, Message, info3};
use aerolane_wire::proto::{FrameType, MAX_BODY_SIZE, split_frame};
use aerolane_wire::{WireError, WireResult};

use super::types::{Class, Failure, FailureKind, Millis, NodeCounters, Sink, Ticket};

/// Buffers that grew beyond this are given back when they run empty.
const KEEP_CAPACITY: usize = 64 * 1024;

/// One request in flight.
#[derive(Debug)]
pub(super) struct Entry<T> {
    /// Whom to tell; `None`: an orphan.
    pub(super) token: Option<T>,
    pub(super) ticket: Ticket,
    pub(super) deadline: Millis,
    /// Size of the request in bytes.
    pub(super) len: u32,
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
    pub(super) entries: VecDeque<Entry<T>>,
    /// Bytes of a frame that has not come whole yet.
    partial: Vec<u8>,
    pub(super) bytes_in_flight: u64,
    pub(super) orphans: u32,
    /// When the entry at the front became an orphan.
    pub(super) blocked_since: Option<Millis>,
    pub(super) last_used: Millis,
}

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
            bytes_in_flight: 0,
            orphans: 0,
            blocked_since: None,
            last_used: now,
        }
    }

    /// Whether another request of this size may be put behind the others.
    pub(super) fn has_room(&self, depth: usize, max_bytes: u64, len: usize) -> bool {
        self.entries.is_empty()
            || (self.entries.len() < depth
                && self.orphans == 0
                && self.bytes_in_flight + len as u64 <= max_bytes)
    }

    pub(super) fn push(&mut self, request: &[u8], entry: (Option<T>, Ticket, Millis), now: Millis) {
        let (token, ticket, deadline) = entry;
        self.out.extend_from_slice(request);
        self.entries.push_back(Entry { token, ticket, deadline, len: request.len() as u32, start: self.queued_total });
        self.queued_total += request.len() as u64;
        self.bytes_in_flight += request.len() as u64;
        self.last_used = now;
    }

    /// Hands all waiting bytes to the driver: `buffer` (empty) is exchanged for them.
    pub(super) fn take_output(&mut self, buffer: &mut Vec<u8>) -> bool {
        debug_assert!(buffer.is_empty(), "the driver's buffer is written out before it takes more");
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

    /// The driver could not write the last `unwritten` bytes of what it took.
    pub(super) fn unwritten(&mut self, unwritten: usize) {
        let taken = self.queued_total - self.out.len() as u64;
        self.sent_total = taken - unwritten as u64;
    }

    /// Puts taken bytes back: they have not been sent.
    pub(super) fn return_output(&mut self, bytes: &[u8]) {
        self.sent_total = self.queued_total - self.out.len() as u64 - bytes.len() as u64;
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
        counters: &mut NodeCounters,
        sink: &mut impl Sink<T>,
    ) -> WireResult<()> {
        counters.bytes_received += bytes.len() as u64;
        self.last_used = now;
        if self.partial.is_empty() {
            let used = self.frames(bytes, now, counters, sink)?;
            self.partial.extend_from_slice(&bytes[used..]);
            return Ok(());
        }
        // The buffer is taken out for the walk, so that its frames can be borrowed while `self` changes.
        self.partial.extend_from_slice(bytes);
        let mut whole = std::mem::take(&mut self.partial);
        let used = self.frames(&whole, now, counters, sink)?;
        if used == whole.len() {
            whole.clear();
            whole.shrink_to(KEEP_CAPACITY);
        } else {
            whole.drain(..used);
        }
        self.partial = whole;
        Ok(())
    }

    /// Walks the whole frames at the front of `bytes`; says how many bytes they have.
    fn frames(
        &mut self,
        bytes: &[u8],
        now: Millis,
        counters: &mut NodeCounters,
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
            self.answer(body, now, counters, sink).map_err(|e| e.shifted(used))?;
            used += size;
        }
        Ok(used)
    }

    fn answer(
        &mut self,
        body: &[u8],
        now: Millis,
        counters: &mut NodeCounters,
        sink: &mut impl Sink<T>,
    ) -> WireResult<()> {
        let Some(front) = self.entries.front_mut() else {
            return Err(WireError::invalid("an answer that nobody asked for", 0));
        };
        if front.start >= self.sent_total {
            return Err(WireError::invalid("an answer to a request that was not sent", 0));
        }
        if self.class == Class::Batch {
            let last = is_last(body)?;
            if let Some(token) = &mut front.token {
                sink.part(token, body, last);
            }
            if !last {
                return Ok(());
            }
        } else if body.len() < MESSAGE_HEADER_SIZE {
            return Err(WireError::truncated(MESSAGE_HEADER_SIZE - body.len(), body.len()));
        }
        let Some(entry) = self.entries.pop_front() else { return Ok(()) };
        self.bytes_in_flight -= u64::from(entry.len);
        counters.in_flight -= 1;
        if let Some(token) = entry.token {
            counters.answers += 1;
            if self.class == Class::Single {
                sink.answer(token, body);
            }
        } else {
            counters.late_answers += 1;
            counters.orphans -= 1;
            self.orphans -= 1;
            self.blocked_since = self.entries.front().filter(|e| e.token.is_none()).map(|_| now);
        }
        Ok(())
    }

    /// Turns entries past their deadline into orphans; says the earliest deadline left.
    pub(super) fn expire(&mut self, now: Millis, counters: &mut NodeCounters, sink: &mut impl Sink<T>) -> Millis {
        let mut earliest = Millis::NEVER;
        for (index, entry) in self.entries.iter_mut().enumerate() {
            if entry.token.is_none() {
                continue;
            }
            if entry.deadline > now {
                earliest = earliest.min(entry.deadline);
                continue;
            }
            if let Some(token) = entry.token.take() {
                counters.timeouts += 1;
                counters.orphans += 1;
                self.orphans += 1;
                if index == 0 {
                    self.blocked_since.get_or_insert(now);
                }
                sink.failed(token, &Failure { kind: FailureKind::Expired, sent: entry.start < self.sent_total });
            }
        }
        earliest
    }

    /// Makes the entry an orphan, if it is here; says whether it was.
    pub(super) fn cancel(&mut self, ticket: Ticket, now: Millis, counters: &mut NodeCounters) -> Option<T> {
        let index = self.entries.binary_search_by_key(&ticket, |e| e.ticket).ok()?;
        let token = self.entries[index].token.take()?;
        counters.orphans += 1;
        self.orphans += 1;
        if index == 0 {
            self.blocked_since.get_or_insert(now);
        }
        Some(token)
    }

    /// Fails all entries, oldest first.
    pub(super) fn fail_all(&mut self, kind: &FailureKind, counters: &mut NodeCounters, sink: &mut impl Sink<T>) {
        counters.in_flight -= self.entries.len() as u64;
        counters.orphans -= u64::from(self.orphans);
        self.orphans = 0;
        let sent_total = self.sent_total;
        for entry in self.entries.drain(..) {
            if let Some(token) = entry.token {
                sink.failed(token, &Failure { kind: kind.clone(), sent: entry.start < sent_total });
            }
        }
    }
}

/// Whether the final message of a multi-message answer is in this frame.
fn is_last(body: &[u8]) -> WireResult<bool> {
    if aerolane_wire::proto::ProtoHeader::decode(body.first_chunk().unwrap_or(&[0; 8]), MAX_BODY_SIZE)
        .is_ok_and(|h| h.frame_type == FrameType::CompressedMessage)
    {
        return Err(WireError::invalid("a compressed batch answer that was not asked for", 0));
    }
    let mut at = 0;
    while at < body.len() {
        let (message, size) = Message::decode_prefix(&body[at..]).map_err(|e| e.shifted(at))?;
        if message.header.info3 & info3::LAST != 0 {
            return Ok(true);
        }
        at += size;
    }
    Ok(false)
}
