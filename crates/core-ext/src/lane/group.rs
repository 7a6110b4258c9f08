//! The connections of one class to one node, and the requests that wait for room on them.

use aerolane_wire::WireResult;

use super::adaptive::{Adaptive, FIRST_DEPTH, SLOW_GAP};
use super::connection::{Account, Call, Connection, NO_ROOM};
use super::kind::Kinds;
use super::line::Line;
use super::sizing::{Bounds, Fixed, Reading, Sizing};
use super::types::{Class, Failure, FailureKind, Full, Lateness, Millis, NodeCounters, Sink, Ticket};
use crate::metrics::{AnswerCounter, Meter};

/// The limits of a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct GroupLimits {
    /// Connections kept open.
    pub(super) min: usize,
    /// Most connections.
    pub(super) max: usize,
    /// Connections to open while each has as many entries as `fair_share`.
    pub(super) spread: usize,
    /// So many entries are worth another connection.
    pub(super) fair_share: usize,
    /// Most entries on each.
    pub(super) depth: usize,
    /// Most request bytes in flight on each.
    pub(super) max_bytes: u64,
    /// Most requests in line.
    pub(super) max_waiting: usize,
    /// Most bytes of requests in line.
    pub(super) max_waiting_bytes: u64,
    /// Most bytes of the answer to a batch.
    pub(super) max_answer: u64,
    /// Whether requests may wait for a place that another one holds.
    pub(super) wait: bool,
    /// Requests were measured to be slow: no search has to find that connections pay, and to wait for one that is being
    /// opened takes less time than a request in front.
    pub(super) known_slow: bool,
}

/// How many connections may be in the middle of being opened per group: enough to grow quickly, too few to storm a node.
const MAX_OPENING: usize = 16;

#[derive(Debug)]
pub(super) struct ConnectionGroup<T> {
    class: Class,
    pub(super) conns: Vec<Option<Connection<T>>>,
    /// [`Connection::load`] of each slot, [`NO_ROOM`] for empty ones: side by side, so that the least is found quickly.
    loads: Vec<u16>,
    open: usize,
    /// Of the open ones, those that take no further requests.
    retired: usize,
    /// Asked for or being opened by the driver.
    opening: usize,
    /// A connection could not be opened, or was lost before an answer came, and no new one has brought an answer since.
    pub(super) failing: bool,
    line: Line<T>,
    sizing: Box<dyn Sizing>,
    /// How many connections requests were spread over of late.
    in_use: usize,
    pub(super) counters: NodeCounters,
    /// Answers when the driver was late the last time, and when it was so with more of them than the time before.
    answers_before: u64,
    moved: Millis,
    pub(super) meter: Meter,
    /// Of the node, to all lanes.
    answers: AnswerCounter,
}

/// How many connections so many requests are worth while nothing speaks for more.
fn start(requests: usize, limits: GroupLimits) -> usize {
    // Most of the time there is nothing to divide.
    let shares = if requests <= limits.fair_share || limits.spread == 1 {
        limits.spread.min(1)
    } else {
        requests.div_ceil(limits.fair_share).min(limits.spread)
    };
    shares.max(limits.min).clamp(1, limits.max)
}

/// Between which widths to search, for so many requests.
fn bounds(requests: usize, limits: GroupLimits) -> Bounds {
    let start = start(requests, limits);
    Bounds { least: if limits.known_slow { start } else { 1 }, start, max: limits.max }
}

/// Where a request went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placed {
    /// On a connection: its slot and serial, if the driver is to be told that output waits there; whether another
    /// connection is wanted.
    On { flush: Option<(usize, u32)>, grow: bool },
    /// In line.
    InLine,
}

impl<T> ConnectionGroup<T> {
    pub(super) fn new(class: Class, meter: Meter, answers: AnswerCounter) -> Self {
        Self {
            class,
            conns: Vec::new(),
            loads: Vec::new(),
            open: 0,
            retired: 0,
            opening: 0,
            failing: false,
            line: Line::new(),
            sizing: match class {
                Class::Single | Class::Slow => Box::new(Adaptive::new(answers.clone())),
                // One request at a time: the line says how many are needed.
                Class::Batch => Box::new(Fixed(usize::MAX)),
            },
            in_use: 0,
            counters: NodeCounters::default(),
            answers_before: 0,
            moved: Millis(0),
            meter,
            answers,
        }
    }

    /// The connection in a slot, if it is still the one with this serial.
    pub(super) fn live(&mut self, slot: u16, serial: u32) -> Option<&mut Connection<T>> {
        self.conns.get_mut(usize::from(slot))?.as_mut().filter(|c| c.serial == serial)
    }

    pub(super) fn submit(
        &mut self,
        request: &[u8],
        call: Call<T>,
        now: Millis,
        limits: GroupLimits,
    ) -> Result<Placed, (Full, Option<T>)> {
        // Nobody overtakes the line: what waits in front may be large and need a connection to run empty.
        if self.line.is_empty() {
            let width = self.width(self.requests() + 1, limits);
            if let Some(slot) = self.best(width, request.len(), limits)
                && let Some(conn) = &mut self.conns[slot]
            {
                conn.push(request, call, now);
                self.loads[slot] = conn.load();
                self.counters.requests += 1;
                self.counters.in_flight += 1;
                let flush = conn.ask_to_flush().then_some((slot, conn.serial));
                return Ok(Placed::On { flush, grow: self.may_grow_to(width, limits) });
            }
        }
        let (limit, in_flight) = (limits.max * limits.depth, self.counters.in_flight as usize);
        let waiting = self.line.len();
        // Without waiting for others a request may still wait for a connection that is to be opened.
        let usable = self.open - self.retired;
        let full = waiting >= limits.max_waiting || !self.line.has_room_for(request.len(), limits.max_waiting_bytes);
        if full || (!limits.wait && (usable >= limits.max || in_flight + waiting >= limit)) {
            self.counters.refused += 1;
            let waiting_bytes = self.line.bytes();
            return Err((Full { limit, in_flight, size: self.open, waiting, waiting_bytes }, call.token));
        }
        self.counters.requests += 1;
        self.counters.queued += 1;
        self.counters.waited += 1;
        self.line.push(request, call);
        Ok(Placed::InLine)
    }

    /// How many connections are to carry so many requests.
    fn width(&self, requests: usize, limits: GroupLimits) -> usize {
        if requests == 0 {
            return limits.min;
        }
        let width = self.sizing.width(bounds(requests, limits)).min(requests);
        // Who is not to wait finds room as long as there is any, and where few requests may share a connection (one over
        // TLS), their number says how many are needed.
        let room = if limits.wait && limits.depth > FIRST_DEPTH { 1 } else { requests.div_ceil(limits.depth) };
        width.max(room).max(limits.min)
    }

    /// How many slots at the front hold so many connections that take requests.
    fn slots_of(&self, needed: usize) -> usize {
        let mut end = needed.min(self.loads.len());
        let mut usable = end - self.loads[..end].iter().filter(|&&load| load == NO_ROOM).count();
        while usable < needed && end < self.loads.len() {
            usable += usize::from(self.loads[end] != NO_ROOM);
            end += 1;
        }
        end
    }

    /// Of as many connections as `needed`, the one with the fewest requests, and fewer than `depth`.
    fn least_loaded(&self, needed: usize, depth: usize) -> Option<usize> {
        /// Beyond so many, two passes are faster that the processor does many at a time.
        const FEW: usize = 16;
        if needed > FEW {
            let slots = &self.loads[..self.slots_of(needed)];
            let least = slots.iter().copied().min().filter(|&least| usize::from(least) < depth)?;
            return slots.iter().position(|&load| load == least);
        }
        let (mut least, mut found, mut usable) = (depth, None, 0);
        for (slot, &load) in self.loads.iter().enumerate() {
            if load == NO_ROOM {
                continue;
            }
            if usize::from(load) < least {
                (least, found) = (usize::from(load), Some(slot));
            }
            usable += 1;
            if usable == needed || load == 0 {
                break;
            }
        }
        found
    }

    /// The connection for one more request, if one has room: of as many as all requests are worth, the one with the fewest.
    ///
    /// The others rest until they are needed, or idle for long enough to be closed. After a burst had opened many, the
    /// requests would otherwise be spread thinly over all of them for good, and every write and read would carry little.
    fn best(&self, width: usize, len: usize, limits: GroupLimits) -> Option<usize> {
        let adapts = limits.wait && limits.min < limits.max;
        let depth = if !adapts {
            limits.depth
        } else if limits.known_slow && self.awaits_another(width, limits) {
            1
        } else {
            self.sizing.depth().min(limits.depth)
        };
        let slot = self.least_loaded(width, depth)?;
        let has_room_for =
            |slot: usize| self.conns[slot].as_ref().is_some_and(|c| c.has_room_for(len, limits.max_bytes));
        if has_room_for(slot) {
            return Some(slot);
        }
        // Rare: the bytes in flight are the limit.
        let loads = self.loads.iter().enumerate();
        let with_room = loads.filter(|&(slot, &load)| usize::from(load) < depth && has_room_for(slot));
        with_room.min_by_key(|&(_, &load)| load).map(|(slot, _)| slot)
    }

    /// The slot of the connection that takes the first request in line, if one has room.
    pub(super) fn slot_for_first_in_line(&self, limits: GroupLimits) -> Option<usize> {
        let len = self.line.front_len()?;
        self.best(self.width(self.requests() + 1, limits), len, limits)
    }

    /// Puts waiting requests onto connections with room; `moved` hears each time where one went.
    pub(super) fn advance(&mut self, now: Millis, limits: GroupLimits, mut moved: impl FnMut(Option<(usize, u32)>)) {
        while let Some(slot) = self.slot_for_first_in_line(limits) {
            let Some(conn) = &mut self.conns[slot] else { return };
            let meter = &mut self.meter;
            self.line.pop(|request, call| {
                meter.placed(call.stamp);
                conn.push(request, call, now);
            });
            self.loads[slot] = conn.load();
            self.counters.queued -= 1;
            self.counters.in_flight += 1;
            moved(conn.ask_to_flush().then_some((slot, conn.serial)));
        }
    }

    /// Whether so many connections are to be used, and another one of them is about to open.
    fn awaits_another(&self, width: usize, limits: GroupLimits) -> bool {
        let usable = self.open - self.retired;
        usable < width && !self.failing && (self.opening > 0 || self.may_grow_to(width, limits))
    }

    /// Whether fewer connections are open or on their way than so many, and more may be opened.
    fn may_grow_to(&self, width: usize, limits: GroupLimits) -> bool {
        let at_hand = self.open - self.retired + self.opening;
        at_hand < limits.max.min(width) && !self.failing
    }

    /// How many connections to open now; they count as being opened from here on.
    ///
    /// While they fail, one is tried at a time: for requests in line that have nothing else to wait for, and `again`
    /// and again.
    pub(super) fn open_wanted(&mut self, limits: GroupLimits, again: bool) -> usize {
        if self.open + self.opening >= limits.max || self.opening >= MAX_OPENING {
            return 0;
        }
        let usable = self.open - self.retired;
        let wanted = self.width(self.requests(), limits) + self.blocked(limits);
        let mut count = wanted
            .saturating_sub(usable + self.opening)
            .min(limits.max - self.open - self.opening)
            .min(MAX_OPENING - self.opening);
        if self.failing {
            let due = self.opening == 0 && (again || (self.open == 0 && !self.line.is_empty()));
            count = count.min(usize::from(due));
        }
        self.opening += count;
        count
    }

    /// While requests wait in line: how many connections have no room for the first of them, other than by their depth.
    /// Others are opened in their place.
    fn blocked(&self, limits: GroupLimits) -> usize {
        let Some(len) = self.line.front_len() else { return 0 };
        let conns = self.conns.iter().flatten().filter(|conn| !conn.retired);
        conns.filter(|conn| conn.load() == NO_ROOM || !conn.has_room_for(len, limits.max_bytes)).count()
    }

    /// Requests in flight and in line.
    pub(super) fn requests(&self) -> usize {
        self.counters.in_flight as usize + self.line.len()
    }

    /// A connection that was asked for is not going to be opened.
    pub(super) fn forget_opening(&mut self) {
        self.opening = self.opening.saturating_sub(1);
    }

    pub(super) fn opened(&mut self, serial: u32, now: Millis) -> usize {
        self.forget_opening();
        self.open += 1;
        self.counters.opened += 1;
        let conn = Some(Connection::new(serial, self.class, now));
        if let Some(slot) = self.conns.iter().position(Option::is_none) {
            self.conns[slot] = conn;
            self.loads[slot] = 0;
            slot
        } else {
            self.conns.push(conn);
            self.loads.push(0);
            self.conns.len() - 1
        }
    }

    /// An attempt to open failed. With no connection left to wait for, those in line hear it at once.
    pub(super) fn open_failed(&mut self, error: &crate::Error, sink: &mut impl Sink<T>) {
        self.forget_opening();
        self.failing = true;
        self.counters.open_failures += 1;
        if self.open == 0 && self.opening == 0 && !self.line.is_empty() {
            self.fail_waiting(&FailureKind::OpenFailed(error.clone()), sink);
        }
    }

    /// Connections open and on their way.
    pub(super) const fn taken(&self) -> usize {
        self.open + self.opening
    }

    /// Whether it takes requests: some connection does, or one may still be opened.
    pub(super) const fn is_of_use(&self) -> bool {
        self.open > self.retired || !self.failing
    }

    /// Whether requests stand in line.
    pub(super) fn has_line(&self) -> bool {
        !self.line.is_empty()
    }

    /// Lets go of a connection; its entries fail. If it never worked, that counts as a failure to open one.
    pub(super) fn close(&mut self, slot: usize, kind: &FailureKind, sink: &mut impl Sink<T>) {
        let Some(mut conn) = self.conns[slot].take() else { return };
        self.loads[slot] = NO_ROOM;
        self.open -= 1;
        self.retired -= usize::from(conn.retired);
        self.counters.closed += 1;
        let lost = matches!(kind, FailureKind::ConnectionLost(_) | FailureKind::Garbage(_));
        self.counters.closed_error += u64::from(lost && !conn.retired);
        conn.fail_all(kind, &mut self.counters, sink);
        while let Some(None) = self.conns.last() {
            self.conns.pop();
            self.loads.pop();
        }
        if !conn.retired && !conn.proven {
            self.failing = true;
            if self.open == 0 && self.opening == 0 {
                self.fail_waiting(kind, sink);
            }
        }
    }

    /// Takes in bytes; see [`Connection::received`].
    pub(super) fn received(
        &mut self,
        (slot, serial): (u16, u32),
        bytes: &[u8],
        (now, nanos, limits): (Millis, u64, GroupLimits),
        kinds: &mut Kinds,
        sink: &mut impl Sink<T>,
    ) -> WireResult<()> {
        let (slot, requests) = (usize::from(slot), self.requests());
        let Some(conn) = self.conns.get_mut(slot).and_then(Option::as_mut) else { return Ok(()) };
        if conn.serial != serial {
            return Ok(());
        }
        let proven = conn.proven;
        let mut reading = Reading::new(nanos, requests, self.counters.in_flight as usize);
        let account = &mut Account {
            counters: &mut self.counters,
            meter: &mut self.meter,
            reading: &mut reading,
            max_answer: limits.max_answer,
        };
        let result = conn.received(bytes, now, account, sink);
        self.loads[slot] = conn.load();
        if reading.answers > 0 {
            conn.answered(nanos);
            self.answers.add(reading.answers);
        }
        // One request alone shows nothing of sharing, and its driver spares the reading of the clock.
        if reading.answers > 0 && reading.requests > 1 {
            reading.usable = self.open - self.retired;
            self.sizing.read(&reading, bounds(requests, limits));
            if let Some(took) = reading.gap.or(reading.alone) {
                kinds.learn(&reading.kinds, (took, reading.gap.is_some()), nanos);
            }
        }
        if proven != conn.proven {
            self.failing = false;
        }
        self.in_use = self.width(requests, limits).min(self.open);
        result
    }

    /// Puts no more requests on this connection.
    fn retire(&mut self, slot: usize) {
        if let Some(conn) = &mut self.conns[slot]
            && !conn.retired
        {
            conn.retired = true;
            self.retired += 1;
            self.loads[slot] = NO_ROOM;
        }
    }

    /// Puts no more requests on any connection: the node has left the cluster.
    pub(super) fn retire_all(&mut self) {
        self.counters.closed_gone += (self.open - self.retired) as u64;
        (0..self.conns.len()).for_each(|slot| self.retire(slot));
    }

    /// Retires connections that are stuck behind an old orphan, that are idle for long beyond the minimum, and that are
    /// idle beyond the maximum. Gives back memory.
    pub(super) fn trim(&mut self, now: Millis, (idle_ms, orphan_ms): (u64, u64), limits: GroupLimits) {
        self.line.shrink();
        let mut usable = self.open - self.retired;
        for slot in (0..self.conns.len()).rev() {
            let Some(conn) = self.conns[slot].as_ref().filter(|c| !c.retired) else { continue };
            let idle = conn.idle_since();
            let excess = match idle {
                Some(_) if usable > limits.max => true,
                Some(since) => idle_ms > 0 && usable > limits.min && now.since(since) >= idle_ms,
                None => conn.is_stuck(now, orphan_ms),
            };
            if excess {
                usable -= 1;
                self.counters.closed_idle += u64::from(idle.is_some());
                self.retire(slot);
            }
        }
    }

    /// The next retired connection that nobody waits on any more and that the driver has not been told to close.
    pub(super) fn next_to_close(&mut self) -> Option<(usize, u32)> {
        if self.retired == 0 {
            return None;
        }
        let due = |c: &Connection<T>| c.retired && !c.close_asked && !c.is_awaited();
        let slot = self.conns.iter().position(|c| c.as_ref().is_some_and(due))?;
        let conn = self.conns[slot].as_mut()?;
        conn.close_asked = true;
        Some((slot, conn.serial))
    }

    /// Ends the wait for entries and requests in line whose deadline has passed; says the earliest deadline left.
    pub(super) fn expire(&mut self, now: Millis, late: Lateness, sink: &mut impl Sink<T>) -> Millis {
        let mut earliest = Millis::NEVER;
        for (conn, load) in self.conns.iter_mut().zip(&mut self.loads) {
            if let Some(conn) = conn {
                earliest = earliest.min(conn.expire(now, late, &mut self.counters, sink));
                *load = conn.load();
            }
        }
        let (counters, unconnected) = (&mut self.counters, self.open == 0);
        earliest.min(self.line.expire(now, |token, age| {
            counters.timeouts += 1;
            counters.queued -= 1;
            let kind = if unconnected {
                FailureKind::OpenFailed(crate::Error::not_connected_in_time())
            } else {
                FailureKind::Expired
            };
            let loop_busy = late.within(age, now);
            sink.failed(token, &Failure { loop_busy, ..Failure::new(kind, false) });
        }))
    }

    /// Requests whose deadline has passed while they could not leave, because their driver did not run, have their time anew.
    /// Those in line only where that may have held them up: since they were submitted the node has answered, others were about
    /// to leave, or a connection was being opened. With a node that is silent they end, however often the driver is late.
    pub(super) fn renew_unsent(&mut self, now: Millis, held_up: impl Fn(u64) -> bool + Copy) {
        let opens = self.opening > 0 && !self.failing;
        let mut moves = opens || self.counters.answers != self.answers_before;
        for conn in self.conns.iter_mut().flatten() {
            moves |= conn.renew_unsent(now, held_up);
        }
        if moves {
            self.answers_before = self.counters.answers;
            self.moved = now;
        }
        self.line.renew(now, self.moved, held_up);
    }

    /// The caller of this entry has given up: what the driver has taken becomes an orphan, all else is never sent.
    pub(super) fn cancel(&mut self, ticket: Ticket, now: Millis) -> Option<T> {
        if let Some(token) = self.line.cancel(ticket) {
            self.counters.queued -= 1;
            return Some(token);
        }
        for (conn, load) in self.conns.iter_mut().zip(&mut self.loads) {
            if let Some(conn) = conn
                && let Some(token) = conn.cancel(ticket, now, &mut self.counters)
            {
                *load = conn.load();
                return Some(token);
            }
        }
        None
    }

    pub(super) fn fail_waiting(&mut self, kind: &FailureKind, sink: &mut impl Sink<T>) {
        let counters = &mut self.counters;
        self.line.drain(|token| {
            counters.queued -= 1;
            sink.failed(token, &Failure::new(kind.clone(), false));
        });
    }

    pub(super) fn is_busy(&self) -> bool {
        self.counters.in_flight > 0 || !self.line.is_empty() || self.opening > 0
    }

    /// How many answers a driver may wait for on this connection before it is woken: those to come, if the server is
    /// fast. One that takes long gives a processor no work to save, and waiting would only delay what has come.
    pub(super) fn answers_to_await(&self, slot: u16, serial: u32) -> usize {
        let Some(conn) = self.conns.get(usize::from(slot)).and_then(Option::as_ref) else { return 0 };
        if conn.serial != serial {
            return 0;
        }
        let is_fast = self.sizing.measured().service <= SLOW_GAP;
        if is_fast { conn.in_flight() } else { conn.in_flight().min(1) }
    }

    pub(super) fn snapshot(&self) -> NodeCounters {
        let idle = self.conns.iter().flatten().filter(|c| c.in_flight() == 0).count();
        let recovering = self.conns.iter().flatten().filter(|c| c.is_recovering()).count();
        let measured = self.sizing.measured();
        NodeCounters {
            in_use: if self.class == Class::Batch { 0 } else { self.in_use.min(self.open) as u64 },
            service: (measured.service * 1e3) as u64,
            round_trip: (measured.round_trip * 1e3) as u64,
            open: self.open as u64,
            opening: self.opening as u64,
            idle: idle as u64,
            recovering: recovering as u64,
            ..self.counters
        }
    }
}
