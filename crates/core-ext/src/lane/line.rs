//! The line of requests that wait for room on a connection.

use std::collections::VecDeque;

use super::connection::Call;
use super::types::{Millis, Ticket};

/// A request that waits. Its bytes stand in [`Line::bytes`], in the same order.
#[derive(Debug)]
struct Waiting<T> {
    /// Without a token: given up while waiting; its bytes are skipped.
    call: Call<T>,
    len: u32,
}

/// Requests in the order of their tickets, first come first served.
#[derive(Debug)]
pub(super) struct Line<T> {
    /// The front is never one that was given up.
    queue: VecDeque<Waiting<T>>,
    /// How many in `queue` were given up.
    dead: usize,
    /// How many bytes those have.
    dead_bytes: usize,
    /// The bytes of the waiting requests; those before `used` are done with.
    bytes: Vec<u8>,
    used: usize,
    /// No deadline in line is earlier.
    earliest: Millis,
    /// Each deadline is at or after the one in front of it: the expired stand in front, and no others are looked at.
    ascending: bool,
}

/// Beyond this, buffers that are mostly empty are made smaller by [`Line::shrink`].
const KEEP_WAITING: usize = 256;
const KEEP_BYTES: usize = 64 * 1024;
/// A sweep over a line with mixed deadlines looks at all of it. Longer lines than this are swept less often than every
/// millisecond, so that sweeps stay a small part of the work whatever the length.
const SWEPT_PER_MILLI: usize = 8192;

impl<T> Line<T> {
    pub(super) const fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            dead: 0,
            dead_bytes: 0,
            bytes: Vec::new(),
            used: 0,
            earliest: Millis::NEVER,
            ascending: true,
        }
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.queue.len() - self.dead
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// How many bytes wait.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len() - self.used - self.dead_bytes
    }

    /// Whether a request of this size may stand in line: alone it always may.
    pub(super) fn has_room_for(&self, len: usize, max_bytes: u64) -> bool {
        self.is_empty() || (self.bytes() + len) as u64 <= max_bytes
    }

    pub(super) fn push(&mut self, request: &[u8], call: Call<T>) {
        let deadline = call.deadline;
        self.ascending = self.queue.back().is_none_or(|last| self.ascending && last.call.deadline <= deadline);
        self.earliest = self.earliest.min(deadline);
        self.bytes.extend_from_slice(request);
        self.queue.push_back(Waiting { call, len: request.len() as u32 });
    }

    /// Size in bytes of the request in front.
    pub(super) fn front_len(&self) -> Option<usize> {
        self.queue.front().map(|w| w.len as usize)
    }

    /// Takes the request in front out of the line and hands it to `to`.
    pub(super) fn pop(&mut self, to: impl FnOnce(&[u8], Call<T>)) {
        let Some(Waiting { call, len }) = self.queue.pop_front() else { return };
        if call.token.is_some() {
            to(&self.bytes[self.used..self.used + len as usize], call);
        }
        self.used += len as usize;
        self.tidy();
    }

    /// Takes a request out of the line, wherever it stands. `None`: it is not (or no longer) in line.
    pub(super) fn cancel(&mut self, ticket: Ticket) -> Option<T> {
        let index = self.queue.binary_search_by_key(&ticket, |w| w.call.ticket).ok()?;
        let waiting = &mut self.queue[index];
        let token = waiting.call.token.take()?;
        self.dead += 1;
        self.dead_bytes += waiting.len as usize;
        self.tidy();
        Some(token)
    }

    /// Takes out the requests whose deadline has passed, with their age in milliseconds; says when to look again.
    pub(super) fn expire(&mut self, now: Millis, mut expired: impl FnMut(T, u64)) -> Millis {
        if now < self.earliest {
            return self.earliest;
        }
        if self.ascending {
            while let Some(first) = self.queue.front() {
                if first.call.deadline > now {
                    break;
                }
                let age = first.call.age(now);
                self.pop(|_, call| call.token.into_iter().for_each(|token| expired(token, age)));
            }
            self.earliest = self.queue.front().map_or(Millis::NEVER, |w| w.call.deadline);
            return self.earliest;
        }
        let mut earliest = Millis::NEVER;
        for waiting in &mut self.queue {
            if waiting.call.deadline > now {
                if waiting.call.token.is_some() {
                    earliest = earliest.min(waiting.call.deadline);
                }
            } else if let Some(token) = waiting.call.token.take() {
                self.dead += 1;
                self.dead_bytes += waiting.len as usize;
                expired(token, waiting.call.age(now));
            }
        }
        self.earliest = earliest.max(now.plus((self.queue.len() / SWEPT_PER_MILLI) as u64));
        self.tidy();
        self.earliest
    }

    /// Requests whose deadline has passed have all their time anew, if they were submitted before this moment, and held up at
    /// their age in milliseconds.
    pub(super) fn renew(&mut self, now: Millis, before: Millis, held_up: impl Fn(u64) -> bool) {
        if now < self.earliest {
            return;
        }
        for waiting in self.queue.iter_mut().filter(|waiting| waiting.call.deadline <= now) {
            let age = waiting.call.age(now);
            if age >= now.since(before) && held_up(age) {
                waiting.call.renew(now);
                self.ascending = false;
            }
        }
        let deadlines = self.queue.iter().filter(|w| w.call.token.is_some()).map(|w| w.call.deadline);
        self.earliest = deadlines.min().unwrap_or(Millis::NEVER);
    }

    /// Takes everything out.
    pub(super) fn drain(&mut self, mut to: impl FnMut(T)) {
        for waiting in self.queue.drain(..) {
            if let Some(token) = waiting.call.token {
                to(token);
            }
        }
        (self.dead, self.dead_bytes) = (0, 0);
        self.tidy();
    }

    /// Gives back memory that a past peak needed.
    pub(super) fn shrink(&mut self) {
        if self.queue.len() < self.queue.capacity() / 4 {
            self.queue.shrink_to((self.queue.len() * 2).max(KEEP_WAITING));
        }
        if self.bytes.len() < self.bytes.capacity() / 4 {
            self.bytes.shrink_to((self.bytes.len() * 2).max(KEEP_BYTES));
        }
    }

    /// Lets go of what was given up at the front, of used-up bytes, and of the rest that was given up once it is the
    /// greater part. Each request is moved a bounded number of times on average.
    fn tidy(&mut self) {
        if self.dead > 0 {
            while let Some(Waiting { call: Call { token: None, .. }, len }) = self.queue.front() {
                self.used += *len as usize;
                self.dead -= 1;
                self.dead_bytes -= *len as usize;
                self.queue.pop_front();
            }
        }
        if self.queue.is_empty() {
            self.bytes.clear();
            self.used = 0;
            self.earliest = Millis::NEVER;
            self.ascending = true;
        } else if (self.dead > KEEP_WAITING && self.dead * 2 > self.queue.len())
            || (self.dead_bytes > KEEP_BYTES && self.dead_bytes > self.bytes())
        {
            self.compact();
        } else if self.used >= KEEP_BYTES && self.used * 2 >= self.bytes.len() {
            self.bytes.drain(..self.used);
            self.used = 0;
        }
    }

    fn compact(&mut self) {
        let (bytes, mut from, mut to) = (&mut self.bytes, self.used, 0);
        self.queue.retain(|waiting| {
            let len = waiting.len as usize;
            let keep = waiting.call.token.is_some();
            if keep {
                bytes.copy_within(from..from + len, to);
                to += len;
            }
            from += len;
            keep
        });
        self.bytes.truncate(to);
        self.used = 0;
        (self.dead, self.dead_bytes) = (0, 0);
    }
}

#[cfg(test)]
impl<T> Line<T> {
    /// Bytes of memory held.
    pub(super) fn held(&self) -> usize {
        self.queue.capacity() * size_of::<Waiting<T>>() + self.bytes.capacity()
    }
}
