//! A lane: all the connections that one thread (or one event loop) owns, with their queues. A state machine without I/O.
//!
//! Bytes and time are arguments, so a lane can be tested in simulated time on a simulated network, fuzzed, and driven
//! by any loop. A driver ([`crate::driver`]) does five things:
//!
//! 1. it opens the connections that [`Lane::open_request`] asks for and says [`Lane::opened`] or [`Lane::open_failed`];
//! 2. after each call it looks at [`Lane::flush_request`] and writes what [`Lane::take_output`] hands out;
//! 3. it reads and hands in what came with [`Lane::received`];
//! 4. it calls [`Lane::expire`] when [`Lane::next_deadline`] has come, and [`Lane::trim`] now and then;
//! 5. it says [`Lane::closed`] when a connection ends, and ends those that [`Lane::close_request`] names.
//!
//! The server answers strictly in request order, one at a time per connection, and there are no request ids: matching
//! is first in, first out. An entry whose caller has given up stays in the FIFO as an orphan, so that its late answer is
//! read and dropped and never reaches anybody else.

mod connection;
mod group;
mod types;

#[cfg(test)]
mod tests;

use aerolane_wire::WireError;

use group::{Group, Limits, Placed};
pub use types::{
    Class, ConnId, Failure, FailureKind, Full, LaneSizing, Millis, NodeCounters, Sink, Ticket,
};

#[derive(Debug)]
struct NodeLane<T> {
    groups: [Group<T>; 2],
    /// The node left the cluster: nothing is opened any more.
    gone: bool,
}

/// All the connections that one thread owns. `T` is what the driver wants back with each outcome.
#[derive(Debug)]
pub struct Lane<T> {
    sizing: LaneSizing,
    nodes: Vec<NodeLane<T>>,
    next_ticket: u64,
    next_serial: u32,
    /// No deadline is earlier than this.
    earliest: Millis,
    /// Connections with output that were not asked to be flushed since.
    to_flush: Vec<ConnId>,
    to_open: Vec<(u16, Class)>,
    to_close: Vec<ConnId>,
    in_flight: usize,
}

impl<T> Lane<T> {
    /// A lane without connections.
    #[must_use]
    pub fn new(sizing: LaneSizing) -> Self {
        Self {
            sizing,
            nodes: Vec::new(),
            next_ticket: 0,
            next_serial: 0,
            earliest: Millis::NEVER,
            to_flush: Vec::new(),
            to_open: Vec::new(),
            to_close: Vec::new(),
            in_flight: 0,
        }
    }

    /// Changes the sizes: what is open beyond them stays until it is idle.
    pub fn resize(&mut self, sizing: LaneSizing) {
        self.sizing = sizing;
    }

    /// Takes a request (one whole frame) for a node. It is put behind others on the least loaded connection, or in
    /// line until there is room; the outcome comes through a [`Sink`], with `token`.
    ///
    /// # Errors
    ///
    /// [`Full`], with the token, when everything is full and the lane is not to wait.
    pub fn submit(
        &mut self,
        node: u16,
        class: Class,
        request: &[u8],
        deadline: Millis,
        now: Millis,
        token: T,
    ) -> Result<Ticket, (Full, T)> {
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        let limits = self.limits(class);
        let group = &mut self.node(node).groups[class.index()];
        match group.submit(request, (token, ticket, deadline), now, limits)? {
            Placed::On(slot) => {
                self.in_flight += 1;
                self.mark_flush(node, class, slot);
            }
            Placed::InLine => self.ask_to_open(node, class),
        }
        self.earliest = self.earliest.min(deadline);
        Ok(ticket)
    }

    /// The caller has given up. In line, the request is never sent; in flight, it becomes an orphan.
    /// `None`: the entry has had its outcome already.
    pub fn cancel(&mut self, node: u16, class: Class, ticket: Ticket, now: Millis) -> Option<T> {
        self.nodes.get_mut(usize::from(node))?.groups[class.index()].cancel(ticket, now)
    }

    /// A connection to open. The driver answers with [`Lane::opened`] or [`Lane::open_failed`].
    pub fn open_request(&mut self) -> Option<(u16, Class)> {
        self.to_open.pop()
    }

    /// Whether connections are to be opened.
    #[must_use]
    pub fn wants_open(&self) -> bool {
        !self.to_open.is_empty()
    }

    /// A connection that was asked for is open (and logged in).
    pub fn opened(&mut self, node: u16, class: Class, now: Millis) -> ConnId {
        let serial = self.next_serial;
        self.next_serial = self.next_serial.wrapping_add(1);
        let slot = self.node(node).groups[class.index()].opened(serial, now);
        let id = ConnId { node, class, slot: slot as u16, serial };
        if self.node(node).gone {
            self.to_close.push(id);
        }
        self.advance(node, class, now);
        id
    }

    /// A connection that was asked for could not be opened. The next request (or [`Lane::trim`]) asks again: a node
    /// that is down is not stormed.
    pub fn open_failed(&mut self, node: u16, class: Class, error: &crate::Error, sink: &mut impl Sink<T>) {
        self.node(node).groups[class.index()].open_failed(error, sink);
    }

    /// Asks for the `min` connections of a node ahead of use.
    pub fn warm(&mut self, node: u16) {
        self.ask_to_open(node, Class::Single);
    }

    /// A connection that got output since it was last named here.
    pub fn flush_request(&mut self) -> Option<ConnId> {
        self.to_flush.pop()
    }

    /// Hands all that waits on a connection to the driver: `buffer`, which must be empty, is exchanged for it.
    /// From here on these requests count as sent, unless [`Lane::unwritten`] says otherwise. False: nothing waits.
    pub fn take_output(&mut self, conn: ConnId, buffer: &mut Vec<u8>) -> bool {
        let Some(group) = self.group(conn) else { return false };
        let Some(connection) = live(group, conn) else { return false };
        let taken = connection.take_output(buffer);
        group.counters.bytes_sent += buffer.len() as u64;
        taken
    }

    /// The last `unwritten` bytes of what the driver took are still with it: they have not been sent.
    pub fn unwritten(&mut self, conn: ConnId, unwritten: usize) {
        if let Some(connection) = self.group(conn).and_then(|g| live(g, conn)) {
            connection.unwritten(unwritten);
        }
    }

    /// Puts bytes that were taken and could not be written back in front of what waits on the connection.
    pub fn return_output(&mut self, conn: ConnId, bytes: &[u8]) {
        let Some(group) = self.group(conn) else { return };
        if let Some(connection) = live(group, conn) {
            connection.return_output(bytes);
            group.counters.bytes_sent -= bytes.len() as u64;
        }
    }

    /// Whether bytes wait to be taken on this connection.
    #[must_use]
    pub fn has_output(&mut self, conn: ConnId) -> bool {
        self.group(conn).and_then(|g| live(g, conn)).is_some_and(|c| c.output_len() > 0)
    }

    /// How many entries are in flight on this connection, orphans included.
    #[must_use]
    pub fn entries_on(&mut self, conn: ConnId) -> usize {
        self.group(conn).and_then(|g| live(g, conn)).map_or(0, |c| c.entries.len())
    }

    /// Takes in bytes that came on a connection, and tells `sink` of the answers in them.
    ///
    /// # Errors
    ///
    /// Bytes that are no answers. The connection is closed here and must be closed by the driver, too.
    pub fn received(
        &mut self,
        conn: ConnId,
        bytes: &[u8],
        now: Millis,
        sink: &mut impl Sink<T>,
    ) -> Result<(), WireError> {
        let Some(group) = self.group(conn) else { return Ok(()) };
        let before = group.counters.in_flight;
        let counters = &mut group.counters;
        let Some(Some(connection)) = group.conns.get_mut(usize::from(conn.slot)) else { return Ok(()) };
        if connection.serial != conn.serial {
            return Ok(());
        }
        let result = connection.received(bytes, now, counters, sink);
        let done = before - group.counters.in_flight;
        self.in_flight -= done as usize;
        match result {
            Ok(()) => {
                if done > 0 {
                    self.advance(conn.node, conn.class, now);
                }
                Ok(())
            }
            Err(error) => {
                self.closed(conn, &FailureKind::Garbage(error), sink);
                Err(error)
            }
        }
    }

    /// A connection has ended. Its entries fail; requests in line get another one.
    pub fn closed(&mut self, conn: ConnId, kind: &FailureKind, sink: &mut impl Sink<T>) {
        let Some(group) = self.group(conn) else { return };
        if live(group, conn).is_none() {
            return;
        }
        let before = group.counters.in_flight;
        group.close(usize::from(conn.slot), kind, sink);
        let done = before - group.counters.in_flight;
        self.in_flight -= done as usize;
        self.ask_to_open(conn.node, conn.class);
    }

    /// A connection that the driver is to close; the lane has let go of it or will when told [`Lane::closed`].
    pub fn close_request(&mut self) -> Option<ConnId> {
        self.to_close.pop()
    }

    /// When [`Lane::expire`] is to be called next. May be too early (an answer came in time), never too late.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Millis> {
        (self.earliest != Millis::NEVER).then_some(self.earliest)
    }

    /// Fails the entries whose deadline has passed; those in flight become orphans. Cheap until a deadline has come.
    pub fn expire(&mut self, now: Millis, sink: &mut impl Sink<T>) {
        if now >= self.earliest {
            let mut earliest = Millis::NEVER;
            for group in self.nodes.iter_mut().flat_map(|n| &mut n.groups) {
                earliest = earliest.min(group.expire(now, sink));
            }
            self.earliest = earliest;
        }
    }

    /// Closes connections that are blocked by an old orphan, and those idle for long beyond the minimum; asks for
    /// those missing to the minimum.
    pub fn trim(&mut self, now: Millis) {
        let LaneSizing { orphan_ms, idle_ms, min, .. } = self.sizing;
        for (node, lane) in self.nodes.iter_mut().enumerate() {
            for class in Class::ALL {
                let group = &mut lane.groups[class.index()];
                for (slot, conn) in group.conns.iter().enumerate() {
                    let Some(conn) = conn else { continue };
                    let blocked = conn.blocked_since.is_some_and(|since| now.since(since) >= orphan_ms);
                    if blocked && conn.entries.iter().all(|e| e.token.is_none()) {
                        self.to_close.push(ConnId { node: node as u16, class, slot: slot as u16, serial: conn.serial });
                    }
                }
                let keep = if class == Class::Single && !lane.gone { usize::from(min) } else { 0 };
                if idle_ms > 0
                    && let Some(slot) = group.idle(now, idle_ms, keep)
                    && let Some(Some(conn)) = group.conns.get(slot)
                {
                    self.to_close.push(ConnId { node: node as u16, class, slot: slot as u16, serial: conn.serial });
                }
            }
        }
        for node in 0..self.nodes.len() {
            if self.nodes[node].groups[0].counters.opened > 0 {
                self.ask_to_open(node as u16, Class::Single);
            }
        }
    }

    /// The node has left the cluster: requests in line fail, connections are closed as soon as they are answered.
    pub fn node_gone(&mut self, node: u16, sink: &mut impl Sink<T>) {
        let Some(lane) = self.nodes.get_mut(usize::from(node)) else { return };
        lane.gone = true;
        for class in Class::ALL {
            let group = &mut lane.groups[class.index()];
            group.fail_waiting(&FailureKind::NodeGone, sink);
            for (slot, conn) in group.conns.iter().enumerate() {
                if let Some(conn) = conn {
                    self.to_close.push(ConnId { node, class, slot: slot as u16, serial: conn.serial });
                }
            }
        }
    }

    /// A node that had left the cluster is part of it again.
    pub fn node_back(&mut self, node: u16) {
        self.node(node).gone = false;
    }

    /// Fails everything; all connections are to be closed.
    pub fn close_all(&mut self, kind: &FailureKind, sink: &mut impl Sink<T>) {
        for (node, lane) in self.nodes.iter_mut().enumerate() {
            for class in Class::ALL {
                let group = &mut lane.groups[class.index()];
                group.fail_waiting(kind, sink);
                for slot in 0..group.conns.len() {
                    if let Some(conn) = &group.conns[slot] {
                        let id = ConnId { node: node as u16, class, slot: slot as u16, serial: conn.serial };
                        self.to_close.push(id);
                        group.close(slot, kind, sink);
                    }
                }
            }
        }
        self.to_open.clear();
        self.in_flight = 0;
        self.earliest = Millis::NEVER;
    }

    /// Requests on connections of this lane, orphans included.
    #[must_use]
    pub const fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Whether anything is in flight, in line, or being opened.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.nodes.iter().flat_map(|n| &n.groups).any(Group::is_busy)
    }

    /// The counts of a node; zeros for one that this lane has not met.
    #[must_use]
    pub fn counters(&self, node: u16) -> NodeCounters {
        let mut sum = NodeCounters::default();
        if let Some(lane) = self.nodes.get(usize::from(node)) {
            for group in &lane.groups {
                sum.add(&group.snapshot());
            }
        }
        sum
    }

    fn limits(&self, class: Class) -> Limits {
        let LaneSizing { max, depth, max_bytes_in_flight, max_batch, wait, .. } = self.sizing;
        let (max, depth) = match class {
            Class::Single => (max, depth),
            Class::Batch => (max_batch, 1),
        };
        Limits {
            max: usize::from(max.max(1)),
            depth: usize::from(depth.max(1)),
            max_bytes: u64::from(max_bytes_in_flight),
            wait,
        }
    }

    fn node(&mut self, node: u16) -> &mut NodeLane<T> {
        let index = usize::from(node);
        while self.nodes.len() <= index {
            self.nodes.push(NodeLane { groups: [Group::new(Class::Single), Group::new(Class::Batch)], gone: false });
        }
        &mut self.nodes[index]
    }

    fn group(&mut self, conn: ConnId) -> Option<&mut Group<T>> {
        Some(&mut self.nodes.get_mut(usize::from(conn.node))?.groups[conn.class.index()])
    }

    fn mark_flush(&mut self, node: u16, class: Class, slot: usize) {
        let Some(lane) = self.nodes.get(usize::from(node)) else { return };
        if let Some(Some(conn)) = lane.groups[class.index()].conns.get(slot) {
            let id = ConnId { node, class, slot: slot as u16, serial: conn.serial };
            if !self.to_flush.contains(&id) {
                self.to_flush.push(id);
            }
        }
    }

    fn advance(&mut self, node: u16, class: Class, now: Millis) {
        let limits = self.limits(class);
        let Some(lane) = self.nodes.get_mut(usize::from(node)) else { return };
        let (to_flush, in_flight) = (&mut self.to_flush, &mut self.in_flight);
        lane.groups[class.index()].advance(now, limits, |slot, serial| {
            *in_flight += 1;
            let id = ConnId { node, class, slot: slot as u16, serial };
            if !to_flush.contains(&id) {
                to_flush.push(id);
            }
        });
    }

    fn ask_to_open(&mut self, node: u16, class: Class) {
        let limits = self.limits(class);
        let min = if class == Class::Single { usize::from(self.sizing.min) } else { 0 };
        let lane = self.node(node);
        if lane.gone {
            return;
        }
        let group = &mut lane.groups[class.index()];
        let wanted = group.wanted(min, limits);
        group.opening += wanted;
        self.to_open.extend(std::iter::repeat_n((node, class), wanted));
    }
}

fn live<T>(group: &mut Group<T>, conn: ConnId) -> Option<&mut connection::Connection<T>> {
    group.conns.get_mut(usize::from(conn.slot))?.as_mut().filter(|c| c.serial == conn.serial)
}
