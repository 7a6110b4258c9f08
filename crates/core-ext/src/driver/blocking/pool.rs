//! The connections of one kind to one node, for threads that block.
//!
//! Idle connections lie in shards, one per thread as long as there are no more threads than shards: a thread finds its
//! own connection again behind a lock that it has for itself. When all places are taken, callers stand in one line,
//! first come first served, and get the next connection that is given back.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::net::TcpStream;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::connection::{Tally, ThreadConnection};
use super::interrupt::{Interrupt, SLICE};
use crate::clock;
use crate::connect::BlockingStream;
use crate::driver::fork::DeadSocket;
use crate::driver::log_closed;
use crate::lane::{Full, NodeCounters};
use crate::metrics::Meter;
use crate::sync::{Condvar, Mutex};

/// Most shards of a pool.
const MAX_SHARDS: usize = 64;
/// A connection of another shard that has rested for this long is taken before a new one is opened.
const ABANDONED_AFTER: Duration = Duration::from_secs(1);
// Why connections are closed, for the log.
const CLOSED_BY_NODE: &str = "closed by the node while idle";
pub(super) const CLOSED_BY_CLIENT: &str = "closed by the client";
const NODE_GONE: &str = "the node has left the cluster";

/// The limits of a pool.
#[derive(Debug, Clone, Copy)]
pub(super) struct PoolLimits {
    /// Connections kept when idle.
    pub(super) min: usize,
    /// Most connections.
    pub(super) max: usize,
    /// Most callers in line.
    pub(super) max_waiting: usize,
    /// Wait for a place, or fail at once.
    pub(super) wait: bool,
}

#[derive(Debug)]
pub(super) struct Pool {
    limits: PoolLimits,
    shards: Box<[Shard]>,
    /// Open or being opened.
    taken: AtomicUsize,
    opening: AtomicUsize,
    /// The length of the line, to be seen without its lock.
    waiting: AtomicUsize,
    line: Mutex<VecDeque<Arc<Waiter>>>,
    /// All open sockets, for closing. Touched when connections are opened and closed.
    sockets: Mutex<HashMap<u64, Arc<TcpStream>>>,
    next_serial: AtomicU64,
    /// Connections are closed instead of being kept, and nobody gets one.
    closed: AtomicBool,
    opened: AtomicU64,
    open_failures: AtomicU64,
    closed_count: AtomicU64,
    closed_error: AtomicU64,
    closed_idle: AtomicU64,
    closed_gone: AtomicU64,
    waited: AtomicU64,
    refused: AtomicU64,
    timeouts_in_line: AtomicU64,
}

/// On cache lines of its own: each thread writes to its shard all the time.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard(Mutex<IdleConnections>);

#[derive(Debug, Default)]
struct IdleConnections {
    /// The most recently used one is last.
    #[allow(clippy::vec_box)] // moved in and out at every call, as a pointer
    idle: Vec<Box<ThreadConnection>>,
    tally: Tally,
}

#[derive(Debug, Default)]
struct Waiter {
    grant: Mutex<Option<Grant>>,
    given: Condvar,
    /// It runs foreign code, which may wait for those behind it: they go first. Changed with the line locked.
    away: AtomicBool,
}

/// What a caller may use.
#[derive(Debug)]
enum Grant {
    ThreadConnection(Box<ThreadConnection>),
    /// A place, to open a connection for.
    OpenPermit,
    Closed,
}

/// What [`Pool::check_out`] gives.
#[derive(Debug)]
pub(super) enum CheckedOut<'a> {
    /// A connection.
    Ready(Lease<'a>),
    /// The right to open one.
    Open(OpenPermit<'a>),
}

/// Why there is no connection.
#[derive(Debug)]
pub(super) enum Refused {
    Full(Full),
    /// The deadline passed in line.
    Expired,
    /// The caller was interrupted in line.
    Interrupted,
    Closed,
}

impl Pool {
    pub(super) fn new(limits: PoolLimits) -> Self {
        let shards = limits.max.next_power_of_two().min(MAX_SHARDS);
        Self {
            limits,
            shards: (0..shards).map(|_| Shard::default()).collect(),
            taken: AtomicUsize::new(0),
            opening: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            line: Mutex::default(),
            sockets: Mutex::default(),
            next_serial: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            opened: AtomicU64::new(0),
            open_failures: AtomicU64::new(0),
            closed_count: AtomicU64::new(0),
            closed_error: AtomicU64::new(0),
            closed_idle: AtomicU64::new(0),
            closed_gone: AtomicU64::new(0),
            waited: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            timeouts_in_line: AtomicU64::new(0),
        }
    }

    /// A connection for the thread of this number, or the right to open one.
    pub(super) fn check_out(
        &self,
        thread: usize,
        now: Instant,
        deadline: Option<Instant>,
        interrupt: Interrupt<'_>,
    ) -> Result<CheckedOut<'_>, Refused> {
        // Who comes while others stand in line stands behind them.
        if self.waiting.load(Ordering::Relaxed) == 0
            && let Some(connection) = self.shard(thread).0.lock().idle.pop()
        {
            return Ok(CheckedOut::Ready(self.lease(connection, thread)));
        }
        self.check_out_slowly(thread, now, deadline, interrupt)
    }

    #[cold]
    fn check_out_slowly(
        &self,
        thread: usize,
        now: Instant,
        deadline: Option<Instant>,
        interrupt: Interrupt<'_>,
    ) -> Result<CheckedOut<'_>, Refused> {
        if self.is_closed() {
            return Err(Refused::Closed);
        }
        if let Some(free) = self.find_free(thread, now) {
            return Ok(free);
        }
        let waiter = {
            let mut line = self.line.lock();
            if !self.limits.wait || line.len() >= self.limits.max_waiting {
                self.refused.fetch_add(1, Ordering::Relaxed);
                return Err(Refused::Full(self.full(line.len())));
            }
            let waiter = Arc::new(Waiter::default());
            line.push_back(Arc::clone(&waiter));
            self.waiting.store(line.len(), Ordering::SeqCst);
            waiter
        };
        self.waited.fetch_add(1, Ordering::Relaxed);
        // Whoever gave a connection back before the line was seen has left it in a shard.
        self.serve();
        let (grant, interrupted) = self.wait(&waiter, deadline, interrupt);
        match grant {
            Some(Grant::Closed) => Err(Refused::Closed),
            // What was given in between goes to the next in line.
            Some(Grant::ThreadConnection(connection)) if interrupted => {
                self.give_back(connection);
                Err(Refused::Interrupted)
            }
            Some(Grant::OpenPermit) if interrupted => {
                self.free_place();
                Err(Refused::Interrupted)
            }
            Some(Grant::ThreadConnection(connection)) => {
                Ok(CheckedOut::Ready(self.lease_waited_for(connection, thread)))
            }
            Some(Grant::OpenPermit) => Ok(CheckedOut::Open(self.permit(thread))),
            None if interrupted => Err(Refused::Interrupted),
            None => {
                self.timeouts_in_line.fetch_add(1, Ordering::Relaxed);
                Err(Refused::Expired)
            }
        }
    }

    /// [`check_out`](Self::check_out) without a wait.
    pub(super) fn check_out_free(&self, thread: usize, now: Instant) -> Option<CheckedOut<'_>> {
        if self.is_closed() || self.waiting.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let own = self.shard(thread).0.lock().idle.pop();
        match own {
            Some(connection) => Some(CheckedOut::Ready(self.lease(connection, thread))),
            None => self.find_free(thread, now),
        }
    }

    /// What is free beyond the thread's own connections, unless others stand in line.
    fn find_free(&self, thread: usize, now: Instant) -> Option<CheckedOut<'_>> {
        if self.waiting.load(Ordering::Relaxed) > 0 {
            return None;
        }
        if let Some(connection) = self.steal(thread, |c| now.duration_since(c.last_used) >= ABANDONED_AFTER) {
            return Some(CheckedOut::Ready(self.lease(connection, thread)));
        }
        if self.take_place() {
            return Some(CheckedOut::Open(self.permit(thread)));
        }
        self.steal(thread, |_| true).map(|connection| CheckedOut::Ready(self.lease(connection, thread)))
    }

    /// Waits for a grant until the deadline, or until the caller is interrupted: says whether that was it.
    fn wait(&self, waiter: &Arc<Waiter>, deadline: Option<Instant>, interrupt: Interrupt<'_>) -> (Option<Grant>, bool) {
        let mut interrupted = false;
        let mut grant = waiter.grant.lock();
        loop {
            if let Some(grant) = grant.take() {
                return (Some(grant), false);
            }
            let until = if interrupt.is_asked() {
                let slice = clock::now() + SLICE;
                Some(deadline.map_or(slice, |deadline| deadline.min(slice)))
            } else {
                deadline
            };
            match until {
                None => grant = waiter.given.wait(grant),
                Some(until) => {
                    let timed_out;
                    (grant, timed_out) = waiter.given.wait_until(grant, until);
                    if timed_out {
                        if deadline.is_some_and(|deadline| until >= deadline) {
                            break;
                        }
                        // Foreign code runs without the lock, and without a grant that others may need meanwhile.
                        drop(grant);
                        if self.step_aside(waiter) {
                            interrupted = interrupt.came();
                            self.step_back(waiter);
                        }
                        grant = waiter.grant.lock();
                        if interrupted {
                            break;
                        }
                    }
                }
            }
        }
        drop(grant);
        let mut line = self.line.lock();
        line.retain(|other| !Arc::ptr_eq(other, waiter));
        self.waiting.store(line.len(), Ordering::SeqCst);
        drop(line);
        // It may have been given in between; it is used then, and the deadline is looked at again.
        (waiter.grant.lock().take(), interrupted)
    }

    /// Keeps the caller's place in line, but lets those behind it go first; not if it has a grant.
    fn step_aside(&self, waiter: &Waiter) -> bool {
        let _line = self.line.lock();
        let aside = waiter.grant.lock().is_none();
        waiter.away.store(aside, Ordering::Relaxed);
        aside
    }

    fn step_back(&self, waiter: &Waiter) {
        let line = self.line.lock();
        waiter.away.store(false, Ordering::Relaxed);
        drop(line);
        // What was given back while nobody else stood in line is still there.
        self.serve();
    }

    /// Gives what is free to those in line.
    fn serve(&self) {
        if self.waiting.load(Ordering::SeqCst) == 0 {
            return;
        }
        let mut line = self.line.lock();
        while let Some(next) = line.iter().position(|waiter| !waiter.away.load(Ordering::Relaxed)) {
            let grant = if self.is_closed() {
                Grant::Closed
            } else if let Some(connection) = self.steal(0, |_| true) {
                Grant::ThreadConnection(connection)
            } else if self.take_place() {
                Grant::OpenPermit
            } else {
                break;
            };
            if let Some(waiter) = line.remove(next) {
                *waiter.grant.lock() = Some(grant);
                waiter.given.notify_one();
            }
        }
        self.waiting.store(line.len(), Ordering::SeqCst);
    }

    /// An idle connection from any shard, beginning behind the thread's own.
    fn steal(&self, thread: usize, fits: impl Fn(&ThreadConnection) -> bool) -> Option<Box<ThreadConnection>> {
        (0..self.shards.len()).find_map(|step| {
            let mut resting = self.shard(thread + 1 + step).0.lock();
            let index = resting.idle.iter().rposition(|c| fits(c))?;
            Some(resting.idle.remove(index))
        })
    }

    fn take_place(&self) -> bool {
        let max = self.limits.max;
        self.taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| (n < max).then_some(n + 1)).is_ok()
    }

    fn free_place(&self) {
        self.taken.fetch_sub(1, Ordering::SeqCst);
        self.serve();
    }

    fn shard(&self, thread: usize) -> &Shard {
        // The number of shards is a power of two.
        &self.shards[thread & (self.shards.len() - 1)]
    }

    fn lease(&self, connection: Box<ThreadConnection>, thread: usize) -> Lease<'_> {
        Lease { pool: self, thread, connection: Some(connection), waited: false }
    }

    fn lease_waited_for(&self, connection: Box<ThreadConnection>, thread: usize) -> Lease<'_> {
        Lease { pool: self, thread, connection: Some(connection), waited: true }
    }

    fn permit(&self, thread: usize) -> OpenPermit<'_> {
        self.opening.fetch_add(1, Ordering::Relaxed);
        OpenPermit { pool: self, thread, used: false }
    }

    fn full(&self, waiting: usize) -> Full {
        let size = self.taken.load(Ordering::Relaxed);
        Full { limit: self.limits.max, in_flight: size, size, waiting, waiting_bytes: 0 }
    }

    /// Takes a connection back from [`Lease::keep`].
    pub(super) fn give_back(&self, connection: Box<ThreadConnection>) {
        let last_used = connection.last_used;
        self.lease(connection, 0).give_back(last_used);
    }

    /// Closes a connection from [`Lease::keep`].
    pub(super) fn discard_broken(&self, connection: Box<ThreadConnection>) {
        self.closed_error.fetch_add(1, Ordering::Relaxed);
        self.discard(connection, 0);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Lets go of a connection and its place.
    fn discard(&self, connection: Box<ThreadConnection>, thread: usize) {
        self.forget(connection, thread);
        self.free_place();
    }

    /// Lets go of a connection, whose place stays taken.
    fn forget(&self, connection: Box<ThreadConnection>, thread: usize) {
        self.shard(thread).0.lock().tally.add(&connection.tally);
        self.sockets.lock().remove(&connection.serial);
        self.closed_count.fetch_add(1, Ordering::Relaxed);
        log_closed(&connection.node, &connection.closing);
        drop(connection);
    }

    /// Closes idle connections that the peer has closed.
    pub(super) fn sweep(&self) {
        self.drop_idle(&self.closed_error, CLOSED_BY_NODE, ThreadConnection::has_died);
    }

    /// Closes connections that have been idle for `idle`, the minimum excepted.
    pub(super) fn trim(&self, now: Instant, idle: Duration) {
        let mut spare = self.taken.load(Ordering::SeqCst).saturating_sub(self.limits.min);
        self.drop_idle(&self.closed_idle, "idle for long", |connection| {
            let old = spare > 0 && now.saturating_duration_since(connection.last_used) >= idle;
            spare -= usize::from(old);
            old
        });
    }

    /// Closes the idle connections that `out` names, and counts them in `reason`, too.
    fn drop_idle(&self, reason: &AtomicU64, why: &'static str, mut out: impl FnMut(&ThreadConnection) -> bool) {
        for (index, shard) in self.shards.iter().enumerate() {
            // Discarded outside of the lock, which `discard` takes, too.
            let gone: Vec<_> = shard.0.lock().idle.extract_if(.., |c| out(c)).collect();
            for mut connection in gone {
                connection.closing = Cow::Borrowed(why);
                reason.fetch_add(1, Ordering::Relaxed);
                self.discard(connection, index);
            }
        }
    }

    /// Closes all connections, those in use too, and sends away who stands in line. Nobody gets a connection until
    /// [`reopen`](Self::reopen).
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.drop_idle(&AtomicU64::new(0), CLOSED_BY_CLIENT, |_| true);
        for socket in self.sockets.lock().values() {
            ThreadConnection::shut_down(socket);
        }
        self.serve();
    }

    /// Gives up all connections of a forked child's copy. Locks that are held are so for ever: then it leaves them.
    pub(super) fn disown(&self, dead: &DeadSocket) {
        self.closed.store(true, Ordering::SeqCst);
        if let Some(sockets) = self.sockets.try_lock() {
            sockets.values().for_each(|socket| dead.replace(&**socket));
        }
    }

    /// Closes what is idle; connections in use are closed when they are given back. Who stands in line is sent away.
    pub(super) fn retire(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.drop_idle(&self.closed_gone, NODE_GONE, |_| true);
        self.serve();
    }

    /// Takes connections again.
    pub(super) fn reopen(&self) {
        self.closed.store(false, Ordering::SeqCst);
    }

    /// How many connections the minimum still asks for.
    pub(super) fn missing(&self) -> usize {
        self.limits.min.saturating_sub(self.taken.load(Ordering::Relaxed))
    }

    /// A place for a connection ahead of use.
    pub(super) fn permit_ahead(&self, thread: usize) -> Option<OpenPermit<'_>> {
        (!self.is_closed() && self.take_place()).then(|| self.permit(thread))
    }

    pub(super) fn counters(&self) -> NodeCounters {
        let load = |n: &AtomicU64| n.load(Ordering::Relaxed);
        let (mut idle, mut tally) = (0, Tally::default());
        for shard in &self.shards {
            let resting = shard.0.lock();
            idle += resting.idle.len() as u64;
            tally.add(&resting.tally);
        }
        let opening = self.opening.load(Ordering::Relaxed) as u64;
        let open = (self.taken.load(Ordering::Relaxed) as u64).saturating_sub(opening);
        let in_flight = open.saturating_sub(idle);
        NodeCounters {
            open,
            opening,
            idle,
            in_flight,
            queued: self.waiting.load(Ordering::Relaxed) as u64,
            requests: tally.requests + in_flight,
            answers: tally.answers,
            timeouts: tally.timeouts + load(&self.timeouts_in_line),
            refused: load(&self.refused),
            opened: load(&self.opened),
            open_failures: load(&self.open_failures),
            closed: load(&self.closed_count),
            closed_error: load(&self.closed_error),
            closed_idle: load(&self.closed_idle),
            closed_gone: load(&self.closed_gone),
            waited: load(&self.waited),
            bytes_sent: tally.bytes_sent,
            bytes_received: tally.bytes_received,
            ..NodeCounters::default()
        }
    }
}

/// A connection in use. Dropped, it is closed: its stream may hold a late answer. [`Lease::give_back`] keeps it.
#[derive(Debug)]
pub(super) struct Lease<'a> {
    pool: &'a Pool,
    thread: usize,
    connection: Option<Box<ThreadConnection>>,
    /// The caller had to wait for it: in line, or until it was open.
    pub(super) waited: bool,
}

/// Only dropping and giving back take the connection out.
const IN_USE: &str = "a lease has its connection until it is given back";

impl Deref for Lease<'_> {
    type Target = ThreadConnection;

    fn deref(&self) -> &ThreadConnection {
        self.connection.as_deref().expect(IN_USE)
    }
}

impl DerefMut for Lease<'_> {
    fn deref_mut(&mut self) -> &mut ThreadConnection {
        self.connection.as_deref_mut().expect(IN_USE)
    }
}

impl<'a> Lease<'a> {
    /// Closes the connection and keeps its place, to open another one.
    pub(super) fn replace(mut self) -> OpenPermit<'a> {
        let (pool, thread) = (self.pool, self.thread);
        if let Some(mut connection) = self.connection.take() {
            connection.closing = Cow::Borrowed(CLOSED_BY_NODE);
            pool.closed_error.fetch_add(1, Ordering::Relaxed);
            pool.forget(connection, thread);
        }
        pool.permit(thread)
    }

    /// Takes the connection out for good; its place stays taken until [`Pool::give_back`] or [`Pool::discard_broken`].
    pub(super) fn keep(mut self) -> Box<ThreadConnection> {
        self.connection.take().expect(IN_USE)
    }

    /// Puts the connection back into the pool; `now` is about when it was used.
    pub(super) fn give_back(mut self, now: Instant) {
        let Some(mut connection) = self.connection.take() else { return };
        connection.rest(now);
        let tally = std::mem::take(&mut connection.tally);
        let mut resting = self.pool.shard(self.thread).0.lock();
        resting.tally.add(&tally);
        // Looked at under the lock: whoever closes the pool empties the shards after setting it.
        if self.pool.closed.load(Ordering::Relaxed) {
            drop(resting);
            self.pool.closed_gone.fetch_add(1, Ordering::Relaxed);
            connection.closing = Cow::Borrowed(NODE_GONE);
            self.pool.discard(connection, self.thread);
            return;
        }
        resting.idle.push(connection);
        drop(resting);
        // After the push: who joins the line later looks into the shards itself.
        if self.pool.waiting.load(Ordering::Relaxed) > 0 {
            self.pool.serve();
        }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.pool.closed_error.fetch_add(1, Ordering::Relaxed);
            self.pool.discard(connection, self.thread);
        }
    }
}

/// The right to open a connection. Dropped unused, it goes to the next in line.
#[derive(Debug)]
pub(super) struct OpenPermit<'a> {
    pool: &'a Pool,
    thread: usize,
    used: bool,
}

impl<'a> OpenPermit<'a> {
    /// The connection is open.
    pub(super) fn fill(mut self, stream: (BlockingStream, Arc<str>), meter: Meter, now: Instant) -> Lease<'a> {
        self.used = true;
        let pool = self.pool;
        pool.opening.fetch_sub(1, Ordering::Relaxed);
        pool.opened.fetch_add(1, Ordering::Relaxed);
        let serial = pool.next_serial.fetch_add(1, Ordering::Relaxed);
        let connection = Box::new(ThreadConnection::new(stream, serial, meter, now));
        pool.sockets.lock().insert(serial, Arc::clone(connection.socket()));
        if pool.is_closed() {
            // Closing may have looked at the list before this one was in it.
            ThreadConnection::shut_down(connection.socket());
        }
        pool.lease_waited_for(connection, self.thread)
    }

    /// It could not be opened.
    pub(super) fn fail(self) {
        self.pool.open_failures.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for OpenPermit<'_> {
    fn drop(&mut self) {
        if !self.used {
            self.pool.opening.fetch_sub(1, Ordering::Relaxed);
            self.pool.free_place();
        }
    }
}
