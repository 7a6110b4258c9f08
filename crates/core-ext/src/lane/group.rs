//! The connections of one class to one node, and the requests that wait for room on them.

use std::collections::VecDeque;

use super::connection::Connection;
use super::types::{Class, Failure, FailureKind, Full, Millis, NodeCounters, Sink, Ticket};

/// A request that waits for room. Its bytes stand in [`Group::bytes`], in the same order.
#[derive(Debug)]
struct Waiting<T> {
    /// `None`: given up while waiting; its bytes are skipped when its turn comes.
    token: Option<T>,
    ticket: Ticket,
    deadline: Millis,
    len: u32,
}

/// The limits of a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) max: usize,
    pub(super) depth: usize,
    pub(super) max_bytes: u64,
    pub(super) wait: bool,
}

/// How many connections may be in the middle of being opened per group: enough to grow quickly, too few to storm a node.
const MAX_OPENING: usize = 4;

#[derive(Debug)]
pub(super) struct Group<T> {
    class: Class,
    pub(super) conns: Vec<Option<Connection<T>>>,
    open: usize,
    /// Asked for or being opened by the driver.
    pub(super) opening: usize,
    waiting: VecDeque<Waiting<T>>,
    /// The bytes of the waiting requests; those before `bytes_at` are used up.
    bytes: Vec<u8>,
    bytes_at: usize,
    pub(super) counters: NodeCounters,
}

/// Where a request went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placed {
    /// On the connection in this slot.
    On(usize),
    /// In line.
    InLine,
}

impl<T> Group<T> {
    pub(super) fn new(class: Class) -> Self {
        Self {
            class,
            conns: Vec::new(),
            open: 0,
            opening: 0,
            waiting: VecDeque::new(),
            bytes: Vec::new(),
            bytes_at: 0,
            counters: NodeCounters::default(),
        }
    }

    pub(super) fn submit(
        &mut self,
        request: &[u8],
        entry: (T, Ticket, Millis),
        now: Millis,
        limits: Limits,
    ) -> Result<Placed, (Full, T)> {
        let (token, ticket, deadline) = entry;
        if self.waiting.is_empty()
            && let Some(slot) = self.best(request.len(), limits)
            && let Some(conn) = &mut self.conns[slot]
        {
            conn.push(request, (Some(token), ticket, deadline), now);
            self.counters.requests += 1;
            self.counters.in_flight += 1;
            return Ok(Placed::On(slot));
        }
        if !limits.wait && self.open >= limits.max {
            self.counters.refused += 1;
            let limit = limits.max * limits.depth;
            let in_flight = self.counters.in_flight as usize;
            let full = Full { limit, in_flight, size: self.open, waiting: self.waiting.len() };
            return Err((full, token));
        }
        self.counters.requests += 1;
        self.counters.queued += 1;
        self.bytes.extend_from_slice(request);
        self.waiting.push_back(Waiting { token: Some(token), ticket, deadline, len: request.len() as u32 });
        Ok(Placed::InLine)
    }

    /// The open connection with the fewest entries, if one has room.
    fn best(&self, len: usize, limits: Limits) -> Option<usize> {
        let mut best: Option<(usize, usize)> = None;
        for (slot, conn) in self.conns.iter().enumerate() {
            let Some(conn) = conn else { continue };
            let load = conn.entries.len();
            if best.is_none_or(|(_, least)| load < least) && conn.has_room(limits.depth, limits.max_bytes, len) {
                best = Some((slot, load));
                if load == 0 {
                    break;
                }
            }
        }
        best.map(|(slot, _)| slot)
    }

    /// Puts waiting requests onto connections with room; `moved` hears slot and serial of each connection that got one.
    pub(super) fn advance(&mut self, now: Millis, limits: Limits, mut moved: impl FnMut(usize, u32)) {
        while let Some(first) = self.waiting.front() {
            let len = first.len as usize;
            if first.token.is_some() {
                let Some(slot) = self.best(len, limits) else { return };
                let Some(first) = self.waiting.pop_front() else { return };
                if let Some(conn) = &mut self.conns[slot] {
                    let request = &self.bytes[self.bytes_at..self.bytes_at + len];
                    conn.push(request, (first.token, first.ticket, first.deadline), now);
                    self.counters.queued -= 1;
                    self.counters.in_flight += 1;
                    moved(slot, conn.serial);
                }
            } else {
                self.waiting.pop_front();
            }
            self.consume(len);
        }
    }

    fn consume(&mut self, len: usize) {
        /// Used-up bytes are moved away once they are this many and half of the buffer.
        const COMPACT_AT: usize = 64 * 1024;
        self.bytes_at += len;
        if self.bytes_at == self.bytes.len() {
            self.bytes.clear();
            self.bytes.shrink_to(COMPACT_AT);
            self.bytes_at = 0;
        } else if self.bytes_at >= COMPACT_AT && self.bytes_at * 2 >= self.bytes.len() {
            self.bytes.drain(..self.bytes_at);
            self.bytes_at = 0;
        }
    }

    /// How many connections to open now.
    pub(super) fn wanted(&self, min: usize, limits: Limits) -> usize {
        let for_waiting = self.waiting.len().div_ceil(limits.depth);
        let target = (self.open + for_waiting).max(min).min(limits.max);
        target.saturating_sub(self.open + self.opening).min(MAX_OPENING.saturating_sub(self.opening))
    }

    pub(super) fn opened(&mut self, serial: u32, now: Millis) -> usize {
        self.opening -= 1;
        self.open += 1;
        self.counters.opened += 1;
        let conn = Connection::new(serial, self.class, now);
        if let Some(slot) = self.conns.iter().position(Option::is_none) {
            self.conns[slot] = Some(conn);
            slot
        } else {
            self.conns.push(Some(conn));
            self.conns.len() - 1
        }
    }

    /// An attempt to open failed. With no connection left to wait for, those in line hear it at once.
    pub(super) fn open_failed(&mut self, error: &crate::Error, sink: &mut impl Sink<T>) {
        self.opening -= 1;
        self.counters.open_failures += 1;
        if self.open == 0 && self.opening == 0 {
            self.fail_waiting(&FailureKind::OpenFailed(error.clone()), sink);
        }
    }

    pub(super) fn close(&mut self, slot: usize, kind: &FailureKind, sink: &mut impl Sink<T>) {
        if let Some(mut conn) = self.conns[slot].take() {
            conn.fail_all(kind, &mut self.counters, sink);
            self.open -= 1;
            self.counters.closed += 1;
        }
    }

    /// The least recently used connection that has been idle for `idle_ms`, if there are more than `min`.
    pub(super) fn idle(&self, now: Millis, idle_ms: u64, min: usize) -> Option<usize> {
        if self.open <= min {
            return None;
        }
        let idle = |c: &Connection<T>| c.entries.is_empty() && now.since(c.last_used) >= idle_ms;
        let slots = self.conns.iter().enumerate();
        let (_, slot) = slots
            .filter_map(|(slot, c)| c.as_ref().filter(|c| idle(c)).map(|c| (c.last_used, slot)))
            .min_by_key(|&(used, _)| used)?;
        Some(slot)
    }

    /// Turns expired entries into orphans and fails expired waiters; says the earliest deadline left.
    pub(super) fn expire(&mut self, now: Millis, sink: &mut impl Sink<T>) -> Millis {
        let mut earliest = Millis::NEVER;
        for conn in self.conns.iter_mut().flatten() {
            earliest = earliest.min(conn.expire(now, &mut self.counters, sink));
        }
        for waiting in &mut self.waiting {
            if waiting.deadline > now {
                if waiting.token.is_some() {
                    earliest = earliest.min(waiting.deadline);
                }
            } else if let Some(token) = waiting.token.take() {
                self.counters.timeouts += 1;
                self.counters.queued -= 1;
                sink.failed(token, &Failure { kind: FailureKind::Expired, sent: false });
            }
        }
        earliest
    }

    /// The caller of this entry has given up: in line it is never sent, in flight it becomes an orphan.
    pub(super) fn cancel(&mut self, ticket: Ticket, now: Millis) -> Option<T> {
        if let Ok(index) = self.waiting.binary_search_by_key(&ticket, |w| w.ticket) {
            let token = self.waiting[index].token.take()?;
            self.counters.queued -= 1;
            return Some(token);
        }
        self.conns.iter_mut().flatten().find_map(|conn| conn.cancel(ticket, now, &mut self.counters))
    }

    pub(super) fn fail_waiting(&mut self, kind: &FailureKind, sink: &mut impl Sink<T>) {
        for waiting in self.waiting.drain(..) {
            if let Some(token) = waiting.token {
                self.counters.queued -= 1;
                sink.failed(token, &Failure { kind: kind.clone(), sent: false });
            }
        }
        self.bytes.clear();
        self.bytes_at = 0;
    }

    pub(super) fn is_busy(&self) -> bool {
        self.counters.in_flight > 0 || !self.waiting.is_empty() || self.opening > 0
    }

    pub(super) fn snapshot(&self) -> NodeCounters {
        let idle = self.conns.iter().flatten().filter(|c| c.entries.is_empty()).count();
        NodeCounters { open: self.open as u64, opening: self.opening as u64, idle: idle as u64, ..self.counters }
    }
}
