//! One service thread: an epoll, its listeners and its connections.

use super::ListenerId;
use super::alarm::Alarm;
use super::connection::{Accepted, Connection, Turn};
use super::listener::Listener;
use super::transport::TransportFactory;
use crate::clock::{Now, SystemClock};
use crate::cluster::{ConnectionPermit, Node};
use crate::request::ConnectionWaker;
use mio::event::Event;
use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token, Waker};
use parking_lot::Mutex;
use slab::Slab;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

const WAKER: Token = Token(usize::MAX);
const ALARM: Token = Token(usize::MAX - 1);
/// Tokens of listeners have this bit, tokens of connections do not.
const LISTENER_BIT: usize = 1 << (usize::BITS - 2);
/// Size of the buffer that all connections of a thread read into.
const READ_BUFFER: usize = 256 * 1024;
/// How long accepting rests after an error such as "too many open files".
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// What other threads ask of a service thread.
pub(super) enum Command {
    /// Register a listener.
    Listen {
        id: ListenerId,
        node: Arc<Node>,
        listener: TcpListener,
        transport: Option<TransportFactory>,
        ack: Sender<io::Result<()>>,
    },
    /// Take over an accepted connection.
    Adopt { accepted: Accepted, transport: Option<TransportFactory> },
    /// A connection (by its key, which may be another's by now) has something to look at.
    Look(usize),
    /// The faults of a node have changed: its listeners may have to follow.
    FollowFaults,
    /// Close a listener, or its connections; the sender is dropped when that is done.
    Close { id: ListenerId, what: Close, ack: Sender<()> },
    /// Close everything and end the thread.
    Stop,
}

/// What of a listener is to be closed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Close {
    Listener,
    Connections,
}

/// The way into a service thread.
#[derive(Debug)]
pub(super) struct Mailbox {
    /// `None`: the thread has ended.
    queue: Mutex<Option<Vec<Command>>>,
    waker: Waker,
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Command")
    }
}

impl Mailbox {
    pub(super) fn new(poll: &Poll) -> io::Result<Self> {
        Ok(Self { queue: Mutex::new(Some(Vec::new())), waker: Waker::new(poll.registry(), WAKER)? })
    }

    pub(super) fn send(&self, command: Command) {
        if let Some(queue) = &mut *self.queue.lock() {
            queue.push(command);
        }
        // It fails only if the thread's poll is gone; then nobody is to read the command.
        let _ = self.waker.wake();
    }
}

/// State of a service thread.
pub(super) struct ServiceThread {
    poll: Poll,
    index: usize,
    mailboxes: Arc<[Mailbox]>,
    /// Connections dealt out so far by all threads: they go round.
    dealt: Arc<AtomicUsize>,
    listeners: Slab<Listener>,
    connections: Slab<Connection>,
    /// Connections with something to do. A key may stand here for a connection that is gone.
    ready: Vec<usize>,
    /// When to look again at a connection or a listener (by token).
    timers: BinaryHeap<Reverse<(Instant, usize)>>,
    /// Goes off at the first of them.
    alarm: Alarm,
}

impl ServiceThread {
    pub(super) fn new(poll: Poll, index: usize, mailboxes: Arc<[Mailbox]>, dealt: Arc<AtomicUsize>) -> Self {
        let alarm = Alarm::new(&poll, ALARM);
        Self {
            poll,
            index,
            mailboxes,
            dealt,
            listeners: Slab::new(),
            connections: Slab::new(),
            ready: Vec::new(),
            timers: BinaryHeap::new(),
            alarm,
        }
    }

    /// Serves until it is told to stop. All sockets are closed when it returns.
    pub(super) fn run(mut self) {
        let mut events = Events::with_capacity(1024);
        let mut buffer = vec![0; READ_BUFFER].into_boxed_slice();
        let mut turns = Vec::new();
        let mut clock = SystemClock::new();
        loop {
            let timeout = if self.ready.is_empty() {
                match self.timers.peek() {
                    Some(Reverse((at, _))) => self.alarm.set(*at),
                    None => None,
                }
            } else {
                Some(Duration::ZERO)
            };
            if let Err(error) = self.poll.poll(&mut events, timeout) {
                if error.kind() == io::ErrorKind::Interrupted {
                    continue;
                }
                return;
            }
            for event in &events {
                match event.token() {
                    WAKER => {
                        if self.obey() {
                            return;
                        }
                    }
                    ALARM => self.alarm.gone_off(),
                    Token(t) if t & LISTENER_BIT != 0 => self.accept(t & !LISTENER_BIT),
                    Token(key) => self.note(key, event),
                }
            }
            let now = clock.now();
            self.fire_timers(now.instant);
            std::mem::swap(&mut turns, &mut self.ready);
            for key in turns.drain(..) {
                self.turn(key, now, &mut buffer);
            }
        }
    }

    /// Carries out what stands in the mailbox; `true`: stop.
    fn obey(&mut self) -> bool {
        let commands = self.mailboxes[self.index].queue.lock().as_mut().map(std::mem::take).unwrap_or_default();
        for command in commands {
            match command {
                Command::Listen { id, node, listener, transport, ack } => {
                    // The asker waits for the answer; if it is gone, so is its interest.
                    let _ = ack.send(self.add_listener(Listener::new(id, node, listener, transport)));
                }
                Command::Adopt { accepted, transport } => {
                    self.adopt(accepted, transport.as_ref());
                }
                Command::Look(key) => {
                    if self.connections.get_mut(key).is_some_and(Connection::queue) {
                        self.ready.push(key);
                    }
                }
                Command::FollowFaults => self.follow_faults(),
                Command::Close { id, what, ack } => {
                    match what {
                        Close::Listener => self.listeners.retain(|_, l| l.id != id),
                        Close::Connections => self.connections.retain(|_, c| c.listener != id),
                    }
                    drop(ack);
                }
                Command::Stop => return true,
            }
        }
        false
    }

    fn add_listener(&mut self, mut listener: Listener) -> io::Result<()> {
        let entry = self.listeners.vacant_entry();
        self.poll.registry().register(&mut listener.socket, Token(entry.key() | LISTENER_BIT), Interest::READABLE)?;
        let (mailboxes, index) = (Arc::clone(&self.mailboxes), self.index);
        listener.node.faults.tell(index, move || mailboxes[index].send(Command::FollowFaults));
        entry.insert(listener);
        self.follow_faults();
        Ok(())
    }

    fn follow_faults(&mut self) {
        let all: Vec<usize> = self.listeners.iter().map(|(key, _)| key).collect();
        for key in all {
            if self.listeners.get_mut(key).is_some_and(Listener::follow_faults) {
                self.accept(key);
            }
        }
    }

    fn accept(&mut self, key: usize) {
        while let Some(listener) = self.listeners.get_mut(key) {
            match listener.accept() {
                Ok((stream, peer)) => {
                    let (number, accept_fault) = listener.node.faults.next_connection();
                    if accept_fault.refused {
                        // Lingering for 0 s turns the close into a reset. If that fails, it is an ordinary close.
                        let _ = socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO));
                        continue;
                    }
                    let Some(permit) = ConnectionPermit::take(&listener.node) else {
                        log::warn!("{}: {peer} is refused: too many connections", listener.node.name);
                        continue;
                    };
                    let (node, transport) = (Arc::clone(&listener.node), listener.transport.clone());
                    let accepted = Accepted {
                        listener: listener.id,
                        node,
                        permit,
                        stream,
                        peer,
                        number,
                        delay: accept_fault.delay,
                    };
                    let to = self.dealt.fetch_add(1, Ordering::Relaxed) % self.mailboxes.len();
                    if to == self.index {
                        self.adopt(accepted, transport.as_ref());
                    } else {
                        self.mailboxes[to].send(Command::Adopt { accepted, transport });
                    }
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => return,
                    io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted => {}
                    _ => {
                        self.timers.push(Reverse((Instant::now() + ACCEPT_PAUSE, key | LISTENER_BIT)));
                        return;
                    }
                },
            }
        }
    }

    /// Takes a connection in. One that fails already here is closed; the client sees that.
    fn adopt(&mut self, mut accepted: Accepted, transport: Option<&TransportFactory>) {
        let entry = self.connections.vacant_entry();
        let interest = Interest::READABLE | Interest::WRITABLE;
        if self.poll.registry().register(&mut accepted.stream, Token(entry.key()), interest).is_err() {
            return;
        }
        let Ok(transport) = transport.map(|make| make()).transpose() else { return };
        let (mailboxes, index, key) = (Arc::clone(&self.mailboxes), self.index, entry.key());
        let waking = ConnectionWaker(Arc::new(move || mailboxes[index].send(Command::Look(key))));
        if let Ok(connection) = Connection::new(accepted, transport, waking) {
            entry.insert(connection);
        }
    }

    fn note(&mut self, key: usize, event: &Event) {
        if self.connections.get_mut(key).is_some_and(|connection| connection.note(event)) {
            self.ready.push(key);
        }
    }

    fn fire_timers(&mut self, now: Instant) {
        while let Some(Reverse((at, token))) = self.timers.peek().copied() {
            if at > now {
                return;
            }
            self.timers.pop();
            if token & LISTENER_BIT != 0 {
                self.accept(token & !LISTENER_BIT);
            } else if self.connections.get_mut(token).is_some_and(Connection::timer_fired) {
                self.ready.push(token);
            }
        }
    }

    fn turn(&mut self, key: usize, now: Now, buffer: &mut [u8]) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        // A panic is a bug of ours; it ends this connection and no other.
        let turn = catch_unwind(AssertUnwindSafe(|| connection.turn(now, buffer))).unwrap_or(Turn::Close);
        match turn {
            Turn::Wait => {}
            Turn::Again => {
                if connection.queue() {
                    self.ready.push(key);
                }
            }
            Turn::At(when) => {
                if connection.wants_timer(when) {
                    self.timers.push(Reverse((when, key)));
                }
            }
            Turn::Close => {
                self.connections.remove(key);
            }
        }
    }
}

impl Drop for ServiceThread {
    /// Whoever waits for a command that was not obeyed learns it by the end of its channel.
    fn drop(&mut self) {
        *self.mailboxes[self.index].queue.lock() = None;
    }
}
