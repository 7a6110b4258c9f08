//! The host driver: a lane inside of a foreign event loop, all I/O on the loop's own thread.
//!
//! The loop owns the waiting; the driver owns the sockets. After every call the loop takes what it is to watch
//! ([`HostDriver::watch_change`]) and when it is to call again ([`HostDriver::next_tick`]). Connections are opened
//! elsewhere (a login must not hold up the loop) and come in through [`HostDriver::tick`], after `wake` was called.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, Weak};
use std::time::Instant;

use parking_lot::Mutex;

use crate::Error;
use crate::cluster::Cluster;
use crate::connect::Stream;
use crate::lane::{Class, ConnId, FailureKind, Full, Lane, LaneSizing, Millis, NodeCounters, Sink, Ticket};
use crate::topology::NodeId;

/// Reads of one socket in a row before the loop gets its turn again.
const READS_PER_TURN: usize = 4;
const READ_BUFFER: usize = 64 * 1024;

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

/// A connection that was opened for the loop, or why not.
type Opened = (u16, Class, Result<TcpStream, Error>);

/// Where the openers leave connections for the loop.
struct Inbox {
    opened: Mutex<Vec<Opened>>,
    wake: Box<dyn Fn() + Send + Sync>,
}

struct Socket {
    id: ConnId,
    stream: TcpStream,
    out: Vec<u8>,
    written: usize,
    watches_writable: bool,
}

/// A lane and its sockets, driven by a loop that says "readable" (for as long as there is something to read, not only
/// when it comes), "writable" and "tick". Plain TCP only.
///
/// Not `Sync`: it lives on the loop's thread. `T` is what the loop wants back with each outcome.
pub struct HostDriver<T> {
    lane: Lane<T>,
    cluster: Weak<Cluster>,
    epoch: Instant,
    sockets: Vec<Socket>,
    changes: VecDeque<WatchChange>,
    /// Removed, kept until the loop has been told.
    removed: Vec<TcpStream>,
    inbox: Arc<Inbox>,
    read_buffer: Box<[u8]>,
    trim_at: Millis,
}

impl<T> HostDriver<T> {
    /// A driver without connections. `wake` is called from other threads when [`tick`](Self::tick) is to be called soon.
    pub fn new(cluster: &Arc<Cluster>, sizing: LaneSizing, wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            lane: Lane::new(sizing),
            cluster: Arc::downgrade(cluster),
            epoch: Instant::now(),
            sockets: Vec::new(),
            changes: VecDeque::new(),
            removed: Vec::new(),
            inbox: Arc::new(Inbox { opened: Mutex::default(), wake: Box::new(wake) }),
            read_buffer: vec![0; READ_BUFFER].into_boxed_slice(),
            trim_at: Millis(0),
        }
    }

    /// A moment on the lane's clock.
    #[must_use]
    pub fn millis(&self, at: Instant) -> Millis {
        Millis(at.saturating_duration_since(self.epoch).as_millis() as u64)
    }

    /// The first tick of the lane's clock that is not before this deadline, for [`submit`](Self::submit): nothing
    /// expires early.
    #[must_use]
    pub fn deadline(&self, at: Option<Instant>) -> Millis {
        let Some(at) = at else { return Millis::NEVER };
        Millis(at.saturating_duration_since(self.epoch).as_nanos().div_ceil(1_000_000) as u64)
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
        let ticket = self.lane.submit(node.index() as u16, class, request, deadline, now, token)?;
        self.open_wanted();
        Ok(ticket)
    }

    /// The caller has given up; see [`Lane::cancel`].
    pub fn cancel(&mut self, node: NodeId, class: Class, ticket: Ticket, now: Millis) -> Option<T> {
        self.lane.cancel(node.index() as u16, class, ticket, now)
    }

    /// Writes all that waits. Call it once at the end of a turn of the loop, not for every request.
    pub fn flush(&mut self, sink: &mut impl Sink<T>) {
        self.close_removed();
        self.write_all(sink);
    }

    fn write_all(&mut self, sink: &mut impl Sink<T>) {
        while let Some(id) = self.lane.flush_request() {
            if let Some(index) = self.sockets.iter().position(|s| s.id == id) {
                self.write(index, sink);
            }
        }
    }

    /// Closes the sockets that the loop has stopped to watch.
    fn close_removed(&mut self) {
        if self.changes.is_empty() {
            self.removed.clear();
        }
    }

    /// The socket can be read: hands in all that came.
    pub fn readable(&mut self, fd: RawFd, now: Millis, sink: &mut impl Sink<T>) {
        self.close_removed();
        for _ in 0..READS_PER_TURN {
            let Some(index) = self.find(fd) else { return };
            let socket = &mut self.sockets[index];
            match socket.stream.read(&mut self.read_buffer) {
                Ok(0) => return self.end(index, &FailureKind::ConnectionLost(io::ErrorKind::UnexpectedEof), sink),
                Ok(n) => {
                    if self.lane.received(socket.id, &self.read_buffer[..n], now, sink).is_err() {
                        return self.end(index, &FailureKind::ConnectionLost(io::ErrorKind::InvalidData), sink);
                    }
                    if n < self.read_buffer.len() {
                        return;
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return self.end(index, &FailureKind::ConnectionLost(e.kind()), sink),
            }
        }
    }

    /// The socket can be written: goes on where it had to stop.
    pub fn writable(&mut self, fd: RawFd, sink: &mut impl Sink<T>) {
        self.close_removed();
        if let Some(index) = self.find(fd) {
            self.write(index, sink);
        }
    }

    /// Takes in new connections, expires what is due, and trims.
    pub fn tick(&mut self, now: Millis, sink: &mut impl Sink<T>) {
        /// How often idle and blocked connections are looked for, in milliseconds.
        const TRIM_EVERY: u64 = 1000;
        self.close_removed();
        let opened = std::mem::take(&mut *self.inbox.opened.lock());
        for (node, class, outcome) in opened {
            match outcome {
                Ok(stream) => {
                    let id = self.lane.opened(node, class, now);
                    self.changes.push_back(WatchChange::Add(stream.as_raw_fd()));
                    self.sockets.push(Socket { id, stream, out: Vec::new(), written: 0, watches_writable: false });
                }
                Err(error) => self.lane.open_failed(node, class, &error, sink),
            }
        }
        self.lane.expire(now, sink);
        if now >= self.trim_at {
            self.trim_at = now.plus(TRIM_EVERY);
            self.lane.trim(now);
        }
        self.close_asked(sink);
        self.open_wanted();
        self.write_all(sink);
    }

    fn close_asked(&mut self, sink: &mut impl Sink<T>) {
        while let Some(id) = self.lane.close_request() {
            if let Some(index) = self.sockets.iter().position(|s| s.id == id) {
                self.end(index, &FailureKind::Closed, sink);
            }
        }
    }

    /// The node has left the cluster; see [`Lane::node_gone`].
    pub fn node_gone(&mut self, node: NodeId, sink: &mut impl Sink<T>) {
        self.lane.node_gone(node.index() as u16, sink);
        self.close_asked(sink);
    }

    /// A node that had left the cluster is part of it again.
    pub fn node_back(&mut self, node: NodeId) {
        self.lane.node_back(node.index() as u16);
    }

    /// The lane's share of the pool has changed; see [`Lane::resize`].
    pub fn resize(&mut self, sizing: LaneSizing) {
        self.lane.resize(sizing);
    }

    /// The next change to what the loop watches, in order.
    pub fn watch_change(&mut self) -> Option<WatchChange> {
        self.changes.pop_front()
    }

    /// When [`tick`](Self::tick) is to be called at the latest; `None` while there is nothing to look after.
    #[must_use]
    pub fn next_tick(&self) -> Option<Millis> {
        let trim = (!self.sockets.is_empty()).then_some(self.trim_at);
        match (self.lane.next_deadline(), trim) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Opens the minimum of connections to a node ahead of use.
    pub fn warm(&mut self, node: NodeId) {
        self.lane.warm(node.index() as u16);
        self.open_wanted();
    }

    /// Fails everything and closes the sockets.
    pub fn close(&mut self, sink: &mut impl Sink<T>) {
        self.lane.close_all(&FailureKind::Closed, sink);
        while let Some(socket) = self.sockets.pop() {
            self.changes.push_back(WatchChange::Remove(socket.stream.as_raw_fd()));
            self.removed.push(socket.stream);
        }
    }

    /// The counts of a node.
    #[must_use]
    pub fn counters(&self, node: NodeId) -> NodeCounters {
        self.lane.counters(node.index() as u16)
    }

    fn find(&self, fd: RawFd) -> Option<usize> {
        self.sockets.iter().position(|s| s.stream.as_raw_fd() == fd)
    }

    fn write(&mut self, index: usize, sink: &mut impl Sink<T>) {
        let socket = &mut self.sockets[index];
        let id = socket.id;
        let blocked = loop {
            while socket.written < socket.out.len() {
                match socket.stream.write(&socket.out[socket.written..]) {
                    Ok(n) if n > 0 => socket.written += n,
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                    other => {
                        let kind = other.map_or_else(|e| e.kind(), |_| io::ErrorKind::WriteZero);
                        return self.end(index, &FailureKind::ConnectionLost(kind), sink);
                    }
                }
            }
            if socket.written < socket.out.len() {
                self.lane.unwritten(id, socket.out.len() - socket.written);
                break true;
            }
            self.lane.unwritten(id, 0);
            socket.out.clear();
            socket.written = 0;
            if !self.lane.take_output(id, &mut socket.out) {
                break false;
            }
        };
        if socket.watches_writable != blocked {
            socket.watches_writable = blocked;
            self.changes.push_back(WatchChange::Writable(socket.stream.as_raw_fd(), blocked));
        }
    }

    fn end(&mut self, index: usize, kind: &FailureKind, sink: &mut impl Sink<T>) {
        let socket = self.sockets.swap_remove(index);
        self.changes.push_back(WatchChange::Remove(socket.stream.as_raw_fd()));
        self.removed.push(socket.stream);
        self.lane.unwritten(socket.id, socket.out.len() - socket.written);
        self.lane.closed(socket.id, kind, sink);
        if let (FailureKind::ConnectionLost(_), Some(cluster)) = (kind, self.cluster.upgrade()) {
            cluster.request_refresh();
        }
        self.open_wanted();
    }

    /// Has connections opened on the control plane's runtime.
    fn open_wanted(&mut self) {
        while let Some((node, class)) = self.lane.open_request() {
            let inbox = Arc::clone(&self.inbox);
            let cluster = Weak::clone(&self.cluster);
            let Some(runtime) = cluster.upgrade().map(|c| c.runtime().clone()) else {
                inbox.opened.lock().push((node, class, Err(Error::client_closed())));
                (inbox.wake)();
                continue;
            };
            runtime.spawn(async move {
                let outcome = open(&cluster, node).await;
                inbox.opened.lock().push((node, class, outcome));
                (inbox.wake)();
            });
        }
    }
}

async fn open(cluster: &Weak<Cluster>, node: u16) -> Result<TcpStream, Error> {
    let cluster = cluster.upgrade().ok_or_else(Error::client_closed)?;
    let info = cluster.topology().node(NodeId::from_index(usize::from(node))).cloned();
    let info = info.ok_or_else(|| Error::invalid_node("the node is not known"))?;
    match cluster.open(&info).await? {
        Stream::Plain(stream) => Ok(stream.into_std()?),
        #[cfg(feature = "tls")]
        Stream::Tls(_) => Err(Error::client_error("the host driver takes plain connections only")),
    }
}
