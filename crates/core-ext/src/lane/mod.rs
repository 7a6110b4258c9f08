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
//! read and dropped and never reaches anybody else. What the driver has not taken yet can still be taken back: it is
//! never sent once its caller was told so.

mod adaptive;
mod connection;
mod group;
mod kind;
mod large;
mod line;
mod measure;
mod schedule;
mod sizing;
mod types;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use aerolane_wire::WireError;

use crate::metrics::{AnswerCounter, Meter, Metrics, Stamp};
use connection::{Call, Connection};
use group::{ConnectionGroup, GroupLimits, Placed};
use kind::Kinds;
pub(crate) use kind::is_slow;
pub(crate) use large::RESERVED_AT_ONCE;
pub(crate) use types::LATE;
use types::Lateness;
pub use types::{Class, ConnId, Failure, FailureKind, Full, LaneSizing, Millis, NodeCounters, Sink, Ticket};

const CLASSES: usize = Class::ALL.len();
/// With fewer connections than this to a node, slow requests get none of their own.
const APART_FROM: usize = 16;

/// Requests that were measured to be slow begin with a connection each, up to this many per node.
const KNOWN_SLOW_SPREAD: usize = 32;

#[derive(Debug)]
struct NodeLane<T> {
    groups: [ConnectionGroup<T>; CLASSES],
    kinds: Kinds,
    /// The node left the cluster (or the lane was closed): nothing is opened any more.
    gone: bool,
}

/// All the connections that one thread owns. `T` is what the driver wants back with each outcome.
#[derive(Debug)]
pub struct Lane<T> {
    sizing: LaneSizing,
    limits: [GroupLimits; CLASSES],
    nodes: Vec<NodeLane<T>>,
    next_ticket: u64,
    next_serial: u32,
    /// No deadline is earlier than this.
    earliest: Millis,
    lateness: Lateness,
    /// Connections with output that the driver has not heard of.
    to_flush: Vec<ConnId>,
    to_open: Vec<(u16, Class)>,
    to_close: Vec<ConnId>,
    in_flight: usize,
    /// The driver's latest reading of the clock, in nanoseconds since its epoch.
    nanos: u64,
    /// Why, once everything has been closed.
    closed: Option<FailureKind>,
    /// Where answers are measured, if at all, and the shard in which they are counted there.
    metrics: Option<Arc<Metrics>>,
    shard: usize,
}

impl<T> NodeLane<T> {
    /// The class on whose connections a request goes, and its kind.
    fn place_of(&mut self, class: Class, request: &[u8], max: usize) -> (Class, u8) {
        if class != Class::Single {
            return (class, 0);
        }
        let kind = self.kinds.of(request);
        // Where the fast ones have taken nearly all connections, they hardly share any, and a slow request finds one idle there.
        let has_room = || self.groups[Class::Slow.index()].requests() < self.most(Class::Slow, max);
        let slow = max >= APART_FROM && (is_slow(request) || (self.kinds.is_slow(kind) && has_room()));
        let slow = slow && self.groups[Class::Slow.index()].is_of_use();
        (if slow { Class::Slow } else { Class::Single }, kind)
    }

    /// The most connections that this class may have: fast and slow requests share the maximum. The slow ones may always
    /// have some, or they would wait for ever.
    fn most(&self, class: Class, max: usize) -> usize {
        match class {
            Class::Single if max >= APART_FROM => {
                max - self.groups[Class::Slow.index()].taken().clamp(max / APART_FROM, max - 1)
            }
            Class::Slow => max - self.groups[Class::Single.index()].taken().min(max - 1),
            Class::Single | Class::Batch => max,
        }
    }

    /// The limits of a class, given those of every node.
    fn limits(&self, class: Class, limits: GroupLimits) -> GroupLimits {
        if class != Class::Slow || !self.kinds.has_slow() {
            return limits;
        }
        let max = self.most(class, limits.max);
        GroupLimits { max, spread: KNOWN_SLOW_SPREAD.min(max), fair_share: 1, known_slow: true, ..limits }
    }
}

/// Answers are counted apart for each class.
const _: () = assert!(Class::ALL.len() == crate::metrics::KINDS);

impl<T> Lane<T> {
    /// A lane without connections.
    #[must_use]
    pub fn new(sizing: LaneSizing) -> Self {
        Self {
            sizing,
            limits: Class::ALL.map(|class| limits(sizing, class, 1)),
            nodes: Vec::new(),
            next_ticket: 0,
            next_serial: 0,
            earliest: Millis::NEVER,
            lateness: Lateness::default(),
            to_flush: Vec::new(),
            to_open: Vec::new(),
            to_close: Vec::new(),
            in_flight: 0,
            nanos: 0,
            closed: None,
            metrics: None,
            shard: 0,
        }
    }

    /// With metrics for its answers.
    pub(crate) fn measured(mut self, metrics: Option<&Arc<Metrics>>) -> Self {
        self.metrics = metrics.cloned();
        self.shard = metrics.map_or(0, |metrics| metrics.answers.shard());
        self
    }

    /// Changes the sizes. What is open beyond the maximum is closed by [`Lane::trim`] as soon as it is idle.
    pub fn resize(&mut self, sizing: LaneSizing) {
        self.sizing = sizing;
        self.set_limits();
    }

    /// Sets the present moment, in nanoseconds since the driver's epoch. Call it before [`submit`](Self::submit) and
    /// [`received`](Self::received) with the reading of the clock that the driver has anyway: the number of connections
    /// in use follows what is measured with it. Time never goes back here; an older moment is ignored.
    pub fn set_time(&mut self, nanos: u64) {
        self.nanos = self.nanos.max(nanos);
    }

    /// Takes a request (one whole frame) for a node. It is put behind others on the least loaded connection, or in
    /// line until there is room; the outcome comes through a [`Sink`], with `token`. For a node that has left the
    /// cluster, or once the lane was closed, the outcome is a failure with the next [`Lane::expire`], which is due at
    /// once then.
    ///
    /// # Errors
    ///
    /// [`Full`], with the token, when the line has its full length or bytes, or everything is full and the lane is not to
    /// wait.
    pub fn submit(
        &mut self,
        node: u16,
        class: Class,
        request: &[u8],
        deadline: Millis,
        now: Millis,
        token: T,
    ) -> Result<Ticket, (Full, T)> {
        self.submit_stamped(node, class, request, (deadline, now, Stamp::NONE), token)
    }

    /// [`submit`](Self::submit) of a request that is to be measured, with its deadline, the present moment and its stamp.
    ///
    /// # Errors
    /// As `submit`.
    pub fn submit_stamped(
        &mut self,
        node: u16,
        class: Class,
        request: &[u8],
        (deadline, now, stamp): (Millis, Millis, Stamp),
        token: T,
    ) -> Result<Ticket, (Full, T)> {
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        let gone = self.node(node).gone;
        let max = self.limits[Class::Slow.index()].max;
        let lane = &mut self.nodes[usize::from(node)];
        let (class, kind) = lane.place_of(class, request, max);
        let limits = lane.limits(class, self.limits[class.index()]);
        let submitted = (self.nanos / 1000) as u32;
        let call = Call { token: Some(token), ticket, deadline, stamp, submitted, kind };
        let placed = match lane.groups[class.index()].submit(request, call, now, limits) {
            Ok(placed) => placed,
            Err((full, Some(token))) => return Err((full, token)),
            Err((_, None)) => unreachable!("a refused call comes back whole"),
        };
        match placed {
            Placed::On { flush, grow } => {
                self.in_flight += 1;
                if grow {
                    self.ask_to_open(node, class, false);
                }
                if let Some((slot, serial)) = flush {
                    self.to_flush.push(ConnId { node, class, slot: slot as u16, serial });
                }
            }
            Placed::InLine if gone => self.earliest = self.earliest.min(now),
            Placed::InLine => self.ask_to_open(node, class, false),
        }
        self.earliest = self.earliest.min(deadline);
        Ok(ticket)
    }

    /// The caller has given up. A request that the driver has not taken is never sent; one that it has becomes an
    /// orphan. `None`: the entry has had its outcome already.
    pub fn cancel(&mut self, node: u16, class: Class, ticket: Ticket, now: Millis) -> Option<T> {
        let groups = &mut self.nodes.get_mut(usize::from(node))?.groups;
        let classes: &[Class] = if class == Class::Single { &[Class::Single, Class::Slow] } else { &[class] };
        let (class, token, taken_back) = classes.iter().find_map(|&class| {
            let group = &mut groups[class.index()];
            let before = group.counters.in_flight;
            let token = group.cancel(ticket, now)?;
            Some((class, token, before - group.counters.in_flight))
        })?;
        self.in_flight -= taken_back as usize;
        // A large request that stood in front may have held up smaller ones.
        self.advance(node, class, now);
        self.name_closing(node, class);
        Some(token)
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
        if self.node(node).gone {
            self.node(node).groups[class.index()].retire_all();
            self.name_closing(node, class);
        }
        self.advance(node, class, now);
        self.ask_to_open(node, class, false);
        ConnId { node, class, slot: slot as u16, serial }
    }

    /// A connection that was asked for could not be opened. While none is open, requests in line ask for one more at a
    /// time; beyond that only [`Lane::trim`] and [`Lane::warm`] ask again: a node that is down is not stormed.
    pub fn open_failed(&mut self, node: u16, class: Class, error: &crate::Error, sink: &mut impl Sink<T>) {
        self.node(node).groups[class.index()].open_failed(error, sink);
    }

    /// Asks for the `min` connections of a node ahead of use.
    pub fn warm(&mut self, node: u16) {
        self.ask_to_open(node, Class::Single, true);
    }

    /// A connection with output. It is named once, until [`Lane::take_output`] was called for it; the driver goes on
    /// by itself while [`Lane::has_output`].
    pub fn flush_request(&mut self) -> Option<ConnId> {
        self.to_flush.pop()
    }

    /// Hands all that waits on a connection to the driver: `buffer`, which must be empty, is exchanged for it.
    /// From here on these requests count as sent, unless [`Lane::unwritten`] says otherwise; the driver keeps at
    /// writing them until the connection ends. False: nothing waits.
    pub fn take_output(&mut self, conn: ConnId, buffer: &mut Vec<u8>) -> bool {
        let Some(group) = self.group(conn) else { return false };
        let Some(connection) = group.live(conn.slot, conn.serial) else { return false };
        let taken = connection.take_output(buffer);
        group.counters.bytes_sent += buffer.len() as u64;
        taken
    }

    /// The last `unwritten` bytes of what the driver took are still with it: they have not been sent.
    pub fn unwritten(&mut self, conn: ConnId, unwritten: usize) {
        if let Some(connection) = self.live(conn) {
            connection.unwritten(unwritten);
        }
    }

    /// Puts bytes that were taken and could not be written back in front of what waits on the connection.
    pub fn return_output(&mut self, conn: ConnId, bytes: &[u8]) {
        let Some(group) = self.group(conn) else { return };
        if let Some(connection) = group.live(conn.slot, conn.serial) {
            connection.return_output(bytes);
            group.counters.bytes_sent = group.counters.bytes_sent.saturating_sub(bytes.len() as u64);
        }
    }

    /// Whether bytes wait to be taken on this connection.
    #[must_use]
    pub fn has_output(&mut self, conn: ConnId) -> bool {
        self.live(conn).is_some_and(|c| c.output_len() > 0)
    }

    /// How many entries are in flight on this connection, orphans included.
    #[must_use]
    pub fn entries_on(&mut self, conn: ConnId) -> usize {
        self.live(conn).map_or(0, |c| c.in_flight())
    }

    /// How many answers the driver may wait for on this connection before it wants to be woken (see
    /// [`LaneSizing`]); at most those that are to come.
    #[must_use]
    pub fn answers_to_await(&self, conn: ConnId) -> usize {
        let node = self.nodes.get(usize::from(conn.node));
        node.map_or(0, |node| node.groups[conn.class.index()].answers_to_await(conn.slot, conn.serial))
    }

    /// Whether [`received`](Self::received) decides anything by the time: where several requests are in flight, orphans
    /// or requests in line wait. If not, it only notes when the connection was last used, for which a time of about a
    /// second ago will do.
    #[must_use]
    pub fn needs_time(&mut self, conn: ConnId) -> bool {
        self.group(conn).is_some_and(|group| group.counters.in_flight > 1 || group.has_line())
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
        self.received_at(conn, bytes, (now, 0), sink)
    }

    /// [`received`](Self::received), with the moment for what is measured ([`Metrics::moment`]).
    pub(crate) fn received_at(
        &mut self,
        conn: ConnId,
        bytes: &[u8],
        (now, moment): (Millis, u64),
        sink: &mut impl Sink<T>,
    ) -> Result<(), WireError> {
        let nanos = self.nanos;
        let Some(lane) = self.nodes.get_mut(usize::from(conn.node)) else { return Ok(()) };
        let limits = lane.limits(conn.class, self.limits[conn.class.index()]);
        let NodeLane { groups, kinds, .. } = lane;
        let group = &mut groups[conn.class.index()];
        group.meter.moment = moment;
        let (before, failing) = (group.counters.in_flight, group.failing);
        let result = group.received((conn.slot, conn.serial), bytes, (now, nanos, limits), kinds, sink);
        let works_again = failing && !group.failing;
        let done = (before - group.counters.in_flight) as usize;
        self.in_flight -= done;
        if let Err(error) = result {
            self.closed(conn, &FailureKind::Garbage(error), now, sink);
        } else if done > 0 {
            self.advance(conn.node, conn.class, now);
            self.name_closing(conn.node, conn.class);
            if works_again {
                self.ask_to_open(conn.node, conn.class, false);
            }
        }
        if moment != 0
            && let Some(group) = self.group(conn)
        {
            group.meter.moment = 0;
        }
        result
    }

    /// A connection has ended. Its entries fail; requests in line get another one, one that is open or a new one, unless
    /// connections end before they brought an answer: then those in line fail, too, as when none can be opened.
    pub fn closed(&mut self, conn: ConnId, kind: &FailureKind, now: Millis, sink: &mut impl Sink<T>) {
        let Some(group) = self.group(conn) else { return };
        if group.live(conn.slot, conn.serial).is_none() {
            return;
        }
        let before = group.counters.in_flight;
        group.close(usize::from(conn.slot), kind, sink);
        let done = before - group.counters.in_flight;
        self.in_flight -= done as usize;
        // One that had been left idle is as good as a new one, and no answer on it would ever bring the line to it.
        self.advance(conn.node, conn.class, now);
        self.ask_to_open(conn.node, conn.class, false);
    }

    /// A connection that the driver is to close, and then to tell [`Lane::closed`]. Nobody waits for it any more.
    pub fn close_request(&mut self) -> Option<ConnId> {
        self.to_close.pop()
    }

    /// When [`Lane::expire`] is to be called next. May be too early (an answer came in time). Too late only when more
    /// than 8192 requests with deadlines in no order are in line: by 1 ms for each 8192.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Millis> {
        (self.earliest != Millis::NEVER).then_some(self.earliest)
    }

    /// Fails the entries whose deadline has passed; those that the driver has taken become orphans. Cheap until a
    /// deadline has come.
    pub fn expire(&mut self, now: Millis, sink: &mut impl Sink<T>) {
        if now < self.earliest {
            return;
        }
        self.earliest = Millis::NEVER;
        let lateness = self.lateness;
        for node in 0..self.nodes.len() {
            for class in Class::ALL {
                let lane = &mut self.nodes[node];
                let group = &mut lane.groups[class.index()];
                let (in_flight, timeouts) = (group.counters.in_flight, group.counters.timeouts);
                if lane.gone {
                    group.fail_waiting(self.closed.as_ref().unwrap_or(&FailureKind::NodeGone), sink);
                }
                self.earliest = self.earliest.min(group.expire(now, lateness, sink));
                self.in_flight -= (in_flight - group.counters.in_flight) as usize;
                if group.counters.timeouts != timeouts {
                    self.advance(node as u16, class, now);
                    self.name_closing(node as u16, class);
                }
            }
        }
    }

    /// The driver comes so many milliseconds too late: what expires from here on says so.
    pub fn came_late(&mut self, now: Millis, by: u64) {
        self.lateness = Lateness::new(now, by);
    }

    /// Requests whose deadline has passed, and which the driver has not taken because it did not run when it was due, have
    /// their time anew: it comes so many milliseconds too `late` now, or [came late](Self::came_late) since they were
    /// submitted. What has been taken does not: the server had all the time that it was given. Call it before
    /// [`expire`](Self::expire), and read the sockets before that.
    pub fn renew_unsent(&mut self, now: Millis, late: u64) {
        if now < self.earliest {
            return;
        }
        let lateness = self.lateness;
        let held_up = |age| lateness.held_up(age, now, late);
        for lane in &mut self.nodes {
            for group in &mut lane.groups {
                group.renew_unsent(now, held_up);
            }
        }
    }

    /// The same for what the driver is about to take from one connection.
    pub fn renew_output(&mut self, conn: ConnId, now: Millis) {
        if let Some(connection) = self.live(conn) {
            connection.renew_unsent(now, |_| true);
        }
    }

    /// Closes connections that are blocked by an old orphan, and those idle for long beyond the minimum; asks for
    /// those missing to the minimum.
    pub fn trim(&mut self, now: Millis) {
        for node in 0..self.nodes.len() {
            for class in Class::ALL {
                let limits = self.limits[class.index()];
                let LaneSizing { idle_ms, orphan_ms, .. } = self.sizing;
                let group = &mut self.nodes[node].groups[class.index()];
                group.trim(now, (idle_ms, orphan_ms), limits);
                let known = group.counters.opened + group.counters.open_failures > 0;
                self.name_closing(node as u16, class);
                if known {
                    self.ask_to_open(node as u16, class, true);
                }
            }
        }
    }

    /// The node has left the cluster: requests in line fail, connections are closed as soon as they are answered.
    pub fn node_gone(&mut self, node: u16, sink: &mut impl Sink<T>) {
        let Some(lane) = self.nodes.get_mut(usize::from(node)) else { return };
        lane.gone = true;
        for class in Class::ALL {
            let group = &mut lane.groups[class.index()];
            self.to_open.retain(|&asked| {
                let keep = asked != (node, class);
                if !keep {
                    group.forget_opening();
                }
                keep
            });
            group.fail_waiting(&FailureKind::NodeGone, sink);
            group.retire_all();
        }
        for class in Class::ALL {
            self.name_closing(node, class);
        }
        self.set_limits();
    }

    /// A node that had left the cluster is part of it again.
    pub fn node_back(&mut self, node: u16) {
        self.node(node).gone = self.closed.is_some();
        self.set_limits();
    }

    /// Fails everything, now and from now on; all connections are to be closed.
    pub fn close_all(&mut self, kind: &FailureKind, sink: &mut impl Sink<T>) {
        self.closed = Some(kind.clone());
        for (node, class) in self.to_open.drain(..) {
            self.nodes[usize::from(node)].groups[class.index()].forget_opening();
        }
        for (node, lane) in self.nodes.iter_mut().enumerate() {
            lane.gone = true;
            for class in Class::ALL {
                let group = &mut lane.groups[class.index()];
                group.fail_waiting(kind, sink);
                for slot in (0..group.conns.len()).rev() {
                    // Closing a connection also lets go of empty slots before it.
                    if let Some(Some(conn)) = group.conns.get(slot) {
                        if !conn.close_asked {
                            self.to_close.push(ConnId {
                                node: node as u16,
                                class,
                                slot: slot as u16,
                                serial: conn.serial,
                            });
                        }
                        group.close(slot, kind, sink);
                    }
                }
            }
        }
        self.to_flush.clear();
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
        self.nodes.iter().flat_map(|n| &n.groups).any(ConnectionGroup::is_busy)
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

    fn node(&mut self, node: u16) -> &mut NodeLane<T> {
        let index = usize::from(node);
        if index >= self.nodes.len() {
            let gone = self.closed.is_some();
            for index in self.nodes.len()..=index {
                let meter = || Meter::new(self.metrics.as_ref(), index as u16);
                let answers = |class: Class| match (&self.metrics, class) {
                    // Nothing is decided by the answers to batches.
                    (None, _) | (_, Class::Batch) => AnswerCounter::default(),
                    (Some(metrics), _) => metrics.answers.counter(index, class.index(), self.shard),
                };
                let groups = Class::ALL.map(|class| ConnectionGroup::new(class, meter(), answers(class)));
                self.nodes.push(NodeLane { groups, kinds: Kinds::default(), gone });
            }
            self.set_limits();
        }
        &mut self.nodes[index]
    }

    /// To be called when nodes come and go, too: several nodes are several threads that work for this lane already.
    fn set_limits(&mut self) {
        let nodes = self.nodes.iter().filter(|node| !node.gone).count();
        self.limits = Class::ALL.map(|class| limits(self.sizing, class, nodes.max(1)));
    }

    fn group(&mut self, conn: ConnId) -> Option<&mut ConnectionGroup<T>> {
        Some(&mut self.nodes.get_mut(usize::from(conn.node))?.groups[conn.class.index()])
    }

    fn live(&mut self, conn: ConnId) -> Option<&mut Connection<T>> {
        self.group(conn)?.live(conn.slot, conn.serial)
    }

    fn advance(&mut self, node: u16, class: Class, now: Millis) {
        let Some(lane) = self.nodes.get_mut(usize::from(node)) else { return };
        let limits = lane.limits(class, self.limits[class.index()]);
        let (to_flush, in_flight) = (&mut self.to_flush, &mut self.in_flight);
        lane.groups[class.index()].advance(now, limits, |flush| {
            *in_flight += 1;
            to_flush.extend(flush.map(|(slot, serial)| ConnId { node, class, slot: slot as u16, serial }));
        });
    }

    /// Tells the driver of the retired connections that nobody waits on any more.
    fn name_closing(&mut self, node: u16, class: Class) {
        let Some(lane) = self.nodes.get_mut(usize::from(node)) else { return };
        while let Some((slot, serial)) = lane.groups[class.index()].next_to_close() {
            self.to_close.push(ConnId { node, class, slot: slot as u16, serial });
        }
    }

    fn ask_to_open(&mut self, node: u16, class: Class, again: bool) {
        if self.node(node).gone {
            return;
        }
        let of_all = self.limits[class.index()];
        let lane = &mut self.nodes[usize::from(node)];
        let limits = GroupLimits { max: lane.most(class, of_all.max), ..lane.limits(class, of_all) };
        let count = lane.groups[class.index()].open_wanted(limits, again);
        self.to_open.extend(std::iter::repeat_n((node, class), count));
    }
}

fn limits(sizing: LaneSizing, class: Class, nodes: usize) -> GroupLimits {
    let LaneSizing {
        min,
        max,
        spread,
        depth,
        max_bytes_in_flight,
        max_batch,
        max_waiting,
        max_waiting_bytes,
        wait,
        ..
    } = sizing;
    let (min, max, spread, depth) = match class {
        Class::Single => (min, max, spread, depth),
        Class::Slow => (0, max, spread, depth),
        Class::Batch => (0, max_batch, 1, 1),
    };
    let max = usize::from(max.max(1));
    GroupLimits {
        min: usize::from(min).min(max),
        max,
        spread: usize::from(spread).div_ceil(nodes).clamp(1, max),
        fair_share: usize::from(sizing.fair_share.max(1)),
        depth: usize::from(depth.max(1)),
        max_bytes: u64::from(max_bytes_in_flight),
        max_waiting: max_waiting as usize,
        max_waiting_bytes,
        max_answer: sizing.max_batch_answer_bytes,
        wait,
        known_slow: false,
    }
}
