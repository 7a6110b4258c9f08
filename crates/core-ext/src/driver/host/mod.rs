//! The host driver: a lane inside of a foreign event loop, all I/O on the loop's own thread.
//!
//! The loop owns the waiting; the driver owns the sockets. After every call the loop takes what it is to watch
//! ([`HostDriver::watch_change`]) and when it is to call again ([`HostDriver::next_tick`]). What happens elsewhere comes
//! in through [`HostDriver::tick`], after `wake` was called: connections that were opened (a login must not hold up the
//! loop), nodes that left or came back, another share of the pool, the closing of the client.
//!
//! A driver is made by [`RawClient::host_driver`](crate::client::RawClient::host_driver).

mod exchange;
mod read_ahead;
mod sharing;
mod sockets;
mod stream;

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::os::fd::RawFd;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

pub(crate) use exchange::HostExchange;
pub use exchange::HostHandle;
use exchange::{DriverSide, EntryOwner, FutureQueue, OutcomeRouter};
pub(crate) use sharing::Hosts;
use sharing::Registration;
use sockets::{Socket, Sockets};
use stream::HostStream;

use crate::Error;
use crate::clock;
use crate::cluster::{Cluster, Subscription, TopologyView};
use crate::connect::BlockingStream;
use crate::driver::low_water_mark::PATIENCE;
use crate::driver::{close_reason, empty, log_closed};
use crate::lane::{Class, ConnId, FailureKind, Full, LATE, Lane, LaneSizing, Millis, NodeCounters, Sink, Ticket};
use crate::metrics::{self, Metrics, Stamp};
use crate::topology::NodeId;

/// Reads of one socket in a row before the loop gets its turn again.
const READS_PER_TURN: usize = 4;
/// The same before anything expires: as much as a socket holds.
const READS_OF_ALL: usize = 128;
const READ_BUFFER: usize = 64 * 1024;
/// A connection's buffer that grew beyond this is given back.
const KEEP_CAPACITY: usize = 64 * 1024;
/// How often idle and blocked connections are looked for, in milliseconds.
const TRIM_EVERY: u64 = 1000;
/// How old the counts of a busy driver in the client's statistics get, in milliseconds.
const PUBLISH_EVERY: u64 = 100;

/// What the loop is to watch from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchChange {
    /// A new socket: watch it for reading.
    Add(RawFd),
    /// Whether to watch it for writing, too.
    Writable(RawFd, bool),
    /// Stop watching. The socket is closed with the next call to the driver after this was taken, not before: until
    /// then its number is not given to another.
    Remove(RawFd),
}

/// A lane and its sockets, driven by a loop that says "readable" (for as long as there is something to read, not only
/// when it comes), "writable" and "tick".
///
/// Not `Sync`: it lives on the loop's thread. `T` is what the loop wants back with each outcome. It keeps no client
/// alive: once the client is closed or gone, all that is in flight fails with [`FailureKind::Closed`] in the next tick,
/// which `wake` asks for. Dropping it closes its sockets.
pub struct HostDriver<T> {
    lane: Lane<EntryOwner<T>>,
    metrics: Arc<Metrics>,
    cluster: Weak<Cluster>,
    /// Where futures leave their requests.
    queue: DriverSide,
    sockets: Sockets,
    changes: VecDeque<WatchChange>,
    /// Removed, kept until the loop has been told.
    removed: Vec<HostStream>,
    nodes: Nodes,
    share: LaneSizing,
    registration: Registration,
    closed: bool,
    read_buffer: Box<[u8]>,
    /// The last reading of the clock that was handed in.
    now: Millis,
    trim_at: Millis,
    /// When raised marks are looked after; [`Millis::NEVER`] while there is none with anything in flight.
    patience: Millis,
    /// The log is to say that the loop was busy for so long.
    warning: Option<Duration>,
    /// When the counts are published; [`Millis::NEVER`] while they have not changed.
    publish_at: Millis,
}

/// Which nodes the lane takes to be part of the cluster.
struct Nodes {
    view: TopologyView,
    version: u64,
    /// By index.
    active: Vec<bool>,
    _news: Subscription,
}

impl<T> HostDriver<T> {
    /// A driver without connections, which shares the pool with the client's others.
    pub(crate) fn new(cluster: &Arc<Cluster>, hosts: &Arc<Hosts>, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let registration = hosts.join(wake);
        let share = registration.share();
        let port = Arc::downgrade(&registration.port);
        let news = cluster.on_change(move |_| {
            if let Some(port) = port.upgrade() {
                port.ring();
            }
        });
        let mut driver = Self {
            lane: Lane::new(share).measured(Some(cluster.metrics())),
            metrics: Arc::clone(cluster.metrics()),
            cluster: Arc::downgrade(cluster),
            queue: DriverSide(FutureQueue::new(crate::clock::epoch())),
            sockets: Sockets::default(),
            changes: VecDeque::new(),
            removed: Vec::new(),
            nodes: Nodes { view: cluster.topology_view(), version: 0, active: Vec::new(), _news: news },
            share,
            registration,
            closed: false,
            read_buffer: vec![0; READ_BUFFER].into_boxed_slice(),
            now: Millis(0),
            trim_at: Millis(0),
            patience: Millis::NEVER,
            warning: None,
            publish_at: Millis::NEVER,
        };
        // Ahead of use. What has changed since is met in the first tick.
        for node in cluster.topology().active_nodes() {
            driver.lane.warm(node.id().index() as u16);
        }
        driver.open_wanted();
        driver
    }

    /// A moment on the lane's clock.
    #[must_use]
    pub fn millis(&self, at: Instant) -> Millis {
        self.queue.0.millis(at)
    }

    /// Sets the present moment, and says what it is on the lane's clock. Call it before [`submit`](Self::submit),
    /// [`readable`](Self::readable) and [`tick`](Self::tick): what is measured of the servers stands on it.
    pub fn set_time(&mut self, at: Instant) -> Millis {
        let nanos = self.queue.0.nanos(at);
        self.lane.set_time(nanos);
        Millis(nanos / 1_000_000)
    }

    /// The first tick of the lane's clock that is not before this deadline, for [`submit`](Self::submit): nothing
    /// expires early.
    #[must_use]
    pub fn deadline(&self, at: Option<Instant>) -> Millis {
        self.queue.0.deadline(at)
    }

    /// Takes a request (one whole frame); see [`Lane::submit`]. Nothing is written before [`flush`](Self::flush).
    ///
    /// # Errors
    /// [`Full`], with the token.
    pub fn submit(
        &mut self,
        node: NodeId,
        class: Class,
        request: &[u8],
        deadline: Millis,
        now: Millis,
        token: T,
    ) -> Result<Ticket, (Full, T)> {
        self.submit_stamped(node, class, request, (deadline, now, Stamp::NONE), token)
    }

    /// [`submit`](Self::submit) of a request that is to be measured, with its deadline, the present moment and its stamp
    /// ([`RawAttempt::stamp`](crate::client::RawAttempt::stamp)).
    ///
    /// # Errors
    /// As `submit`.
    pub fn submit_stamped(
        &mut self,
        node: NodeId,
        class: Class,
        request: &[u8],
        when: (Millis, Millis, Stamp),
        token: T,
    ) -> Result<Ticket, (Full, T)> {
        self.now = when.1;
        let placed = self.place(node, class, request, when, EntryOwner::Loop(token));
        placed.map_err(|(full, token)| match token {
            EntryOwner::Loop(token) => (full, token),
            EntryOwner::Future(_) => unreachable!("the lane gives back the token that it was given"),
        })
    }

    /// A way onto this lane for futures that are polled on the loop's thread. What they leave is taken along by the
    /// next [`flush`](Self::flush) or [`tick`](Self::tick); their wakers are called from inside of the driver's methods,
    /// and must not call the driver.
    #[must_use]
    pub fn handle(&self) -> HostHandle {
        HostHandle::new(&self.queue.0)
    }

    /// The caller has given up; see [`Lane::cancel`].
    pub fn cancel(&mut self, node: NodeId, class: Class, ticket: Ticket, now: Millis) -> Option<T> {
        self.publish_soon();
        match self.lane.cancel(node.index() as u16, class, ticket, now)? {
            EntryOwner::Loop(token) => Some(token),
            EntryOwner::Future(_) => None,
        }
    }

    /// Writes all that waits. Call it once at the end of a turn of the loop, not for every request.
    pub fn flush(&mut self, sink: &mut impl Sink<T>) {
        let sink = &mut OutcomeRouter::new(sink, &self.queue);
        self.close_removed();
        self.fetch();
        self.write_all(sink);
        self.note_turn();
    }

    /// The socket can be read: hands in all that came.
    pub fn readable(&mut self, fd: RawFd, now: Millis, sink: &mut impl Sink<T>) {
        self.resume_with(now, self.late(now), &mut OutcomeRouter::new(sink, &self.queue));
        self.close_removed();
        // Before answers make room: what a future has taken back must not be sent any more.
        self.fetch();
        let Some(index) = self.sockets.with_fd(fd) else { return };
        if !self.read(index, READS_PER_TURN, &mut OutcomeRouter::new(sink, &self.queue)) {
            return;
        }
        let socket = self.sockets.get_mut(index);
        if socket.mark.is_raised() {
            let to_await = self.lane.answers_to_await(socket.id);
            socket.mark.keep_below(to_await, &socket.stream);
        }
    }

    /// The socket can be written: goes on where it had to stop.
    pub fn writable(&mut self, fd: RawFd, sink: &mut impl Sink<T>) {
        self.close_removed();
        if let Some(index) = self.sockets.with_fd(fd) {
            self.write(index, &mut OutcomeRouter::new(sink, &self.queue));
        }
    }

    /// In the middle of a turn of the loop that takes long: reads what has come, and writes what waits. The server goes on
    /// working, and is not held up by answers that nobody takes.
    pub fn catch_up(&mut self, now: Millis, sink: &mut impl Sink<T>) {
        let sink = &mut OutcomeRouter::new(sink, &self.queue);
        self.resume_with(now, self.late(now), sink);
        self.close_removed();
        self.fetch();
        self.read_all(READS_PER_TURN, sink);
        self.write_all(sink);
    }

    /// Takes in what happened elsewhere, reads before it expires what is due, looks after low-water marks, and trims.
    pub fn tick(&mut self, now: Millis, sink: &mut impl Sink<T>) {
        let sink = &mut OutcomeRouter::new(sink, &self.queue);
        let late = self.late(now);
        self.note_lateness(now, late);
        let all_read = self.resume_with(now, late, sink);
        self.close_removed();
        self.fetch();
        if self.registration.port.take_news() {
            self.hear(sink);
        }
        if self.lane.next_deadline().is_some_and(|due| due <= now) {
            if !all_read {
                // What has been answered is delivered, however late the loop comes to it.
                self.read_all(READS_OF_ALL, sink);
                self.lane.renew_unsent(now, late);
            }
            self.lane.expire(now, sink);
        }
        if now >= self.patience {
            self.look_after_marks(sink);
        }
        if now >= self.trim_at {
            self.trim_at = now.plus(TRIM_EVERY);
            self.lane.trim(now);
            self.look_for_ends(sink);
        }
        self.close_asked(sink);
        self.open_wanted();
        self.write_all(sink);
        if now >= self.publish_at {
            self.publish();
        }
        self.note_turn();
    }

    /// The loop runs at this moment: to be called before [`flush`](Self::flush) where nothing else was in the same turn. If that
    /// is late, it has not run, and requests could not leave: once the answers that have come are taken in, those that are
    /// due and have not been sent have their time anew.
    pub fn resume(&mut self, now: Millis, sink: &mut impl Sink<T>) {
        self.resume_with(now, self.late(now), &mut OutcomeRouter::new(sink, &self.queue));
    }

    /// The loop comes to a tick: whether the program has kept it from that.
    fn note_lateness(&mut self, now: Millis, late: u64) {
        if late < LATE || !self.lane.is_busy() {
            return;
        }
        self.lane.came_late(now, late);
        let late = Duration::from_millis(late);
        if self.metrics.busy_loops.note(late, clock::now()) {
            self.warning = Some(late);
        }
    }

    /// What the log is to say, at most once a minute: for how long the program has kept the loop busy.
    pub fn take_warning(&mut self) -> Option<String> {
        self.warning.take().map(metrics::busy_warning)
    }

    /// True: all sockets have been read.
    fn resume_with(&mut self, now: Millis, late: u64, sink: &mut impl Sink<EntryOwner<T>>) -> bool {
        self.now = now;
        if self.registration.port.watched.take_relieved() {
            self.read_early(sink);
        }
        let behind = late >= LATE && self.lane.next_deadline().is_some_and(|due| due <= now);
        if behind {
            self.read_all(READS_OF_ALL, sink);
            self.lane.renew_unsent(now, late);
        }
        behind
    }

    /// The next change to what the loop watches, in order.
    pub fn watch_change(&mut self) -> Option<WatchChange> {
        self.changes.pop_front()
    }

    /// When [`tick`](Self::tick) is to be called at the latest; `None` while there is nothing to look after.
    #[must_use]
    pub fn next_tick(&self) -> Option<Millis> {
        if self.registration.port.has_news() {
            return Some(self.now);
        }
        let next = self.due();
        (next != Millis::NEVER).then_some(next)
    }

    /// By how many milliseconds the loop comes too late for that.
    fn late(&self, now: Millis) -> u64 {
        now.since(self.due())
    }

    /// When there is something to look after by the clock.
    fn due(&self) -> Millis {
        let trim = if self.sockets.is_empty() { Millis::NEVER } else { self.trim_at };
        let deadline = self.lane.next_deadline().unwrap_or(Millis::NEVER);
        trim.min(deadline).min(self.patience).min(self.publish_at)
    }

    /// Fails everything, now and from now on, and closes the sockets.
    pub fn close(&mut self, sink: &mut impl Sink<T>) {
        self.end_all(&mut OutcomeRouter::new(sink, &self.queue));
        self.queue.0.close();
    }

    fn end_all(&mut self, sink: &mut impl Sink<EntryOwner<T>>) {
        self.closed = true;
        self.lane.close_all(&FailureKind::Closed, sink);
        while let Some(socket) = self.sockets.pop() {
            self.changes.push_back(WatchChange::Remove(socket.fd()));
            self.log_closed(socket.id, &FailureKind::Closed);
            self.removed.push(socket.stream);
        }
        self.patience = Millis::NEVER;
        self.publish();
    }

    /// Lets go of a driver in a forked child: its sockets are closed there, which the parent does not notice, and
    /// everything else of it is leaked, tokens included. Never blocks. See
    /// [`RawClient::forget_after_fork`](crate::client::RawClient::forget_after_fork).
    pub fn forget_after_fork(mut self) {
        drop(std::mem::take(&mut self.sockets));
        self.removed.clear();
        std::mem::forget(self);
    }

    /// The counts of a node.
    #[must_use]
    pub fn counters(&self, node: NodeId) -> NodeCounters {
        self.lane.counters(node.index() as u16)
    }
}

/// What happens elsewhere.
impl<T> HostDriver<T> {
    fn hear(&mut self, sink: &mut impl Sink<EntryOwner<T>>) {
        for (node, class, outcome) in self.registration.port.take_opened() {
            match outcome {
                Ok(stream) => {
                    let id = self.lane.opened(node, class, self.now);
                    let socket = Socket::new(id, stream);
                    self.changes.push_back(WatchChange::Add(socket.fd()));
                    let is_tls = socket.stream.is_tls();
                    self.registration.port.watched.add(socket.stream.socket());
                    let index = self.sockets.insert(socket);
                    if is_tls {
                        // Bytes that came with the handshake are in the session, and not in the socket.
                        self.read(index, READS_PER_TURN, sink);
                    }
                }
                Err(error) => self.lane.open_failed(node, class, &error, sink),
            }
        }
        self.publish_soon();
        if self.closed {
            return;
        }
        let share = self.registration.share();
        if share != self.share {
            self.share = share;
            self.lane.resize(share);
            self.trim_at = self.now;
        }
        self.follow(sink);
        if self.cluster.upgrade().is_none_or(|cluster| cluster.is_closed()) {
            self.end_all(sink);
            self.queue.0.close();
        }
    }

    /// Follows the nodes that left, came, or came back.
    fn follow(&mut self, sink: &mut impl Sink<EntryOwner<T>>) {
        let Self { nodes, lane, .. } = self;
        let topology = nodes.view.current();
        if topology.version() == nodes.version {
            return;
        }
        nodes.version = topology.version();
        for index in 0..topology.node_slots() {
            let is_active = topology.is_active(NodeId::from_index(index));
            let was_active = nodes.active.get(index).copied();
            if was_active == Some(is_active) {
                continue;
            }
            if was_active.is_none() {
                nodes.active.push(is_active);
            }
            nodes.active[index] = is_active;
            if is_active {
                lane.node_back(index as u16);
                lane.warm(index as u16);
            } else {
                lane.node_gone(index as u16, sink);
            }
        }
    }

    /// Takes along what futures have left.
    fn fetch(&mut self) {
        if !self.queue.0.has_news() {
            return;
        }
        let queue = Arc::clone(&self.queue.0);
        queue.fetch(
            self,
            |driver, node, class, ticket| drop(driver.lane.cancel(node, class, ticket, driver.now)),
            |driver, outgoing, holder| {
                driver.now = driver.now.max(outgoing.now);
                let node = NodeId::from_index(usize::from(outgoing.node));
                driver.place(
                    node,
                    outgoing.class,
                    &outgoing.request,
                    (outgoing.deadline, outgoing.now, outgoing.stamp),
                    holder,
                )
            },
        );
    }

    fn place(
        &mut self,
        node: NodeId,
        class: Class,
        request: &[u8],
        when: (Millis, Millis, Stamp),
        holder: EntryOwner<T>,
    ) -> Result<Ticket, (Full, EntryOwner<T>)> {
        self.publish_soon();
        self.meet(node);
        let ticket = self.lane.submit_stamped(node.index() as u16, class, request, when, holder)?;
        if self.lane.wants_open() {
            self.open_wanted();
        }
        Ok(ticket)
    }

    /// A request is about to go to this node. It was routed by the present topology, of which the tick may be yet to
    /// come: a node that has come back must not be taken for gone.
    fn meet(&mut self, node: NodeId) {
        if self.nodes.active.get(node.index()) != Some(&false) {
            return;
        }
        let topology = self.nodes.view.current();
        if topology.version() != self.nodes.version && topology.is_active(node) {
            self.nodes.active[node.index()] = true;
            self.lane.node_back(node.index() as u16);
        }
    }

    /// Has connections opened on the control plane's runtime.
    fn open_wanted(&mut self) {
        while let Some((node, class)) = self.lane.open_request() {
            let port = Arc::clone(&self.registration.port);
            let cluster = Weak::clone(&self.cluster);
            let Some(control) = cluster.upgrade().filter(|cluster| !cluster.is_closed()) else {
                port.leave((node, class, Err(Error::client_closed())));
                continue;
            };
            control.spawn(async move {
                let outcome = open(&cluster, node).await;
                port.leave((node, class, outcome));
            });
        }
    }

    /// The loop turns; while requests are in flight the control thread sees to it that it does.
    fn note_turn(&self) {
        if self.registration.port.watched.turn(self.lane.in_flight() > 0)
            && let Some(cluster) = self.cluster.upgrade()
        {
            cluster.runtime().spawn(read_ahead::look_after(Arc::downgrade(&self.registration.port)));
        }
    }

    fn publish_soon(&mut self) {
        if self.publish_at == Millis::NEVER {
            self.publish_at = self.now.plus(PUBLISH_EVERY);
        }
    }

    fn publish(&mut self) {
        self.publish_at = Millis::NEVER;
        let nodes = self.nodes.active.len();
        self.registration.port.publish((0..nodes).map(|node| self.lane.counters(node as u16)));
    }
}

/// The sockets.
impl<T> HostDriver<T> {
    /// Closes the sockets that the loop has stopped to watch.
    fn close_removed(&mut self) {
        if !self.removed.is_empty() && self.changes.is_empty() {
            self.removed.clear();
        }
    }

    fn close_asked(&mut self, sink: &mut impl Sink<EntryOwner<T>>) {
        while let Some(id) = self.lane.close_request() {
            if let Some(index) = self.sockets.of(id) {
                self.end(index, &FailureKind::Closed, sink);
            }
        }
    }

    fn write_all(&mut self, sink: &mut impl Sink<EntryOwner<T>>) {
        while let Some(id) = self.lane.flush_request() {
            if let Some(index) = self.sockets.of(id) {
                self.write(index, sink);
            }
        }
    }

    /// Reads what is there, at most so often in a row, and hands it in. False: the connection has ended.
    fn read(&mut self, index: usize, reads: usize, sink: &mut impl Sink<EntryOwner<T>>) -> bool {
        let (lane, metrics, now) = (&mut self.lane, &self.metrics, self.now);
        let socket = self.sockets.get_mut(index);
        let mut lost = None;
        for _ in 0..reads {
            let hand_in = |bytes: &[u8]| {
                socket.progress = true;
                let received = lane.received_at(socket.id, bytes, (now, metrics.moment()), sink);
                received.map_err(|_| io::ErrorKind::InvalidData.into())
            };
            match socket.stream.read(&mut self.read_buffer, hand_in) {
                Ok(true) => {}
                Ok(false) => break,
                Err(e) => {
                    lost = Some(e.kind());
                    break;
                }
            }
        }
        if let Some(lost) = lost {
            self.end(index, &FailureKind::ConnectionLost(lost), sink);
            return false;
        }
        // A message of the TLS protocol may want an answer.
        if !socket.watches_writable && socket.stream.holds_output() {
            return self.write(index, sink);
        }
        true
    }

    /// Writes what waits. False: the connection has ended.
    fn write(&mut self, index: usize, sink: &mut impl Sink<EntryOwner<T>>) -> bool {
        let socket = self.sockets.get_mut(index);
        let id = socket.id;
        let blocked = loop {
            if let Err(e) = socket.stream.write(&socket.out, &mut socket.written) {
                self.end(index, &FailureKind::ConnectionLost(e.kind()), sink);
                return false;
            }
            self.lane.unwritten(id, socket.unsent());
            if socket.written < socket.out.len() || socket.stream.holds_output() {
                break true;
            }
            empty(&mut socket.out, KEEP_CAPACITY);
            socket.written = 0;
            if !self.lane.take_output(id, &mut socket.out) {
                break false;
            }
        };
        if !blocked {
            // What a blocked socket has not taken is in flight for the lane, and nobody answers it yet.
            socket.mark.set_for(self.lane.answers_to_await(id), true, &socket.stream);
        }
        if socket.mark.is_raised() && self.patience == Millis::NEVER {
            self.patience = after_patience(self.now);
        }
        if socket.watches_writable != blocked {
            socket.watches_writable = blocked;
            self.changes.push_back(WatchChange::Writable(socket.fd(), blocked));
        }
        true
    }

    /// Reads where answers are to come. A loop may tell only once of a socket with an error (libuv does, and watches it no
    /// more); where answers lay in front of the error, that call has read them and not met it.
    fn look_for_ends(&mut self, sink: &mut impl Sink<EntryOwner<T>>) {
        self.read_all(READS_PER_TURN, sink);
    }

    /// Reads what was read ahead, all of it: the loop is not told of it again.
    fn read_early(&mut self, sink: &mut impl Sink<EntryOwner<T>>) {
        // From behind: an end moves the last socket to its place.
        for index in (0..self.sockets.len()).rev() {
            while self.sockets.get(index).is_some_and(|socket| socket.stream.socket().has_early()) {
                if !self.read(index, READS_OF_ALL, sink) {
                    break;
                }
            }
        }
    }

    /// Reads wherever answers are to come, each socket at most so often.
    fn read_all(&mut self, reads: usize, sink: &mut impl Sink<EntryOwner<T>>) {
        // From behind: an end moves the last socket to its place.
        for index in (0..self.sockets.len()).rev() {
            if self.lane.entries_on(self.sockets.get_mut(index).id) > 0 {
                self.read(index, reads, sink);
            }
        }
    }

    /// Nothing came under a raised mark since the last time: what is there is read, and the mark taken back.
    fn look_after_marks(&mut self, sink: &mut impl Sink<EntryOwner<T>>) {
        self.patience = Millis::NEVER;
        // From behind: an end moves the last socket to its place.
        for index in (0..self.sockets.len()).rev() {
            let socket = self.sockets.get_mut(index);
            if !socket.mark.is_raised() || self.lane.entries_on(socket.id) == 0 {
                continue;
            }
            if !std::mem::take(&mut socket.progress) {
                if !self.read(index, READS_PER_TURN, sink) {
                    continue;
                }
                let socket = self.sockets.get_mut(index);
                socket.progress = false;
                socket.mark.lower(&socket.stream);
            }
            if self.sockets.get_mut(index).mark.is_raised() {
                self.patience = after_patience(self.now);
            }
        }
    }

    #[cold]
    fn log_closed(&self, id: ConnId, why: &FailureKind) {
        // A client that is gone has closed all its connections.
        let Some(cluster) = self.cluster.upgrade() else { return };
        if let Some(node) = cluster.snapshot().node(NodeId::from_index(usize::from(id.node))) {
            log_closed(node.label(), &close_reason(why));
        }
    }

    fn end(&mut self, index: usize, kind: &FailureKind, sink: &mut impl Sink<EntryOwner<T>>) {
        let socket = self.sockets.remove(index);
        self.changes.push_back(WatchChange::Remove(socket.fd()));
        self.lane.unwritten(socket.id, socket.unsent());
        self.lane.closed(socket.id, kind, self.now, sink);
        self.removed.push(socket.stream);
        self.publish_soon();
        self.log_closed(socket.id, kind);
        if let (FailureKind::ConnectionLost(_), Some(cluster)) = (kind, self.cluster.upgrade()) {
            cluster.request_refresh();
        }
        self.open_wanted();
    }
}

impl<T> fmt::Debug for HostDriver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostDriver")
            .field("sockets", &self.sockets.len())
            .field("in_flight", &self.lane.in_flight())
            .field("closed", &self.closed)
            .finish_non_exhaustive()
    }
}

/// The tick of the lane's clock at which the patience has passed whole; at most one tick more.
const fn after_patience(now: Millis) -> Millis {
    now.plus(PATIENCE.as_millis() as u64 + 1)
}

async fn open(cluster: &Weak<Cluster>, node: u16) -> Result<BlockingStream, Error> {
    let cluster = cluster.upgrade().ok_or_else(Error::client_closed)?;
    let info = cluster.topology().node(NodeId::from_index(usize::from(node))).cloned();
    let info = info.ok_or_else(|| Error::invalid_node("the node is not known"))?;
    Ok(cluster.open(&info).await?.into_std()?)
}
