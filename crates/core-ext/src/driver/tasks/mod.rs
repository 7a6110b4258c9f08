//! The async driver: a lane behind a lock, and one tokio task per connection that reads, writes and wakes callers.
//!
//! The tasks live on the runtime of the callers (a current-thread runtime has one lane, a multi-thread one a few), so an
//! answer wakes its caller on the same thread, without a hop. A flush is a wake-up of the connection's task, queued
//! behind the callers that are about to submit; so what a burst of answers sets off leaves in one write.

mod connection;
mod exchange;
mod opening;
mod socket;
mod ticker;
pub(crate) mod worker;

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;
use std::time::{Duration, Instant};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Notify;

use super::empty;
use super::fork::DeadSocket;
use super::slots::Slots;
use crate::Error;
use crate::clock;
use crate::connect::Stream;
use crate::lane::{Class, ConnId, Failure, FailureKind, Full, Lane, LaneSizing, Millis, NodeCounters, Ticket};
use crate::metrics::{self, Metrics, Stamp};

pub(crate) use exchange::Exchange;
use opening::Opening;

use crate::sync::{Mutex, MutexGuard};

/// A thread's buffers that grew beyond this are given back.
const KEEP_CAPACITY: usize = 64 * 1024;

const NANOS_PER_MILLI: u64 = 1_000_000;
/// A request that has waited so long (nanoseconds) to be written leaves with the next submission: the connection's task does not
/// run.
const OVERDUE: u64 = 200_000;
/// Where the runtime's tasks do not run, a request that has no more than so many milliseconds left when it is written has its time anew: nobody may
/// look for its answer before.
const LEAST_LEFT: u64 = 50;

thread_local! {
    static DIRECT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// An empty list for wakers, which goes round among the lanes that the thread wakes for.
    static READY: RefCell<Vec<Waker>> = const { RefCell::new(Vec::new()) };
}

/// Who opens the connections of a lane: the cluster, or a test.
pub(crate) trait Opener: Send + Sync + 'static {
    /// Opens a connection to a node, logged in and ready.
    fn open(&self, node: u16, class: Class) -> Pin<Box<dyn Future<Output = Result<Stream, Error>> + Send + '_>>;

    /// A connection was lost: the topology may have changed.
    fn lost(&self);

    /// A connection to this node was closed, by either side. Called without a lock.
    fn closed(&self, _node: u16, _why: &FailureKind) {}

    /// Where answers are measured, if at all.
    fn metrics(&self) -> Option<Arc<Metrics>> {
        None
    }
}

/// A lane, shared by the tasks that submit to it and those that drive it.
pub(crate) struct SharedLane {
    state: Mutex<State>,
    epoch: Instant,
    runtime: Handle,
    /// Of a multi-thread runtime; a flush then lets the other woken tasks of its worker go first.
    workers_of: Option<tokio::runtime::Id>,
    opener: Arc<dyn Opener>,
    ticker: Notify,
    metrics: Option<Arc<Metrics>>,
}

struct State {
    lane: Lane<u32>,
    slots: Slots,
    connections: Vec<Driven>,
    /// The latest reading of the clock, by whoever had one. While connections are open the ticker sees to it that it is
    /// no older than about a second.
    latest: Millis,
    /// When the ticker wakes up next; `None` while there is none.
    ticker_wakes: Option<Millis>,
    /// The ticker was late the last time: the runtime's tasks do not run when they are due.
    behind: bool,
    /// Since when, in nanoseconds, the oldest request waits to be written.
    unsent_since: Option<u64>,
    /// Flushes wait until the last woken caller has taken its outcome; on one thread only.
    put_off: bool,
    /// How often in a row a tick ended such a wait: some callers do not run, though woken.
    cut_short: u32,
    /// So many flushes are not put off, as it was in vain.
    at_once: u32,
    closed: bool,
}

impl State {
    /// Wakes the tasks of all connections with output, if they wait for callers and the last of those has run.
    fn flush_if_drained(&mut self) {
        if self.put_off && self.slots.untaken() == 0 {
            self.cut_short = 0;
            self.flush_all();
        }
    }

    /// The wait for callers ended with a tick. A stray one means little, a second one in a row that some caller does not
    /// take its outcome (a stream whose consumer is busy, a future that is kept and not polled): flushes do without it.
    fn put_off_in_vain(&mut self) {
        /// At 1 ms each, 64 flushes then cost some 20 µs more on average.
        const AT_ONCE: u32 = 64;
        self.cut_short += 1;
        if self.cut_short > 1 {
            self.slots.forget_untaken();
            self.at_once = AT_ONCE;
            self.flush_all();
        }
    }

    fn flush_all(&mut self) {
        self.put_off = false;
        for driven in &self.connections {
            if let Some(waker) = &driven.waker
                && self.lane.has_output(driven.id)
            {
                waker.wake_by_ref();
            }
        }
    }

    /// Where there is nothing to wait for, the caller writes, without a detour over the task. A batch is given back, to be
    /// written without the lock.
    fn write_directly(&mut self) -> Option<BatchWrite> {
        let id = self.lane.flush_request()?;
        self.write_to(id)
    }

    /// Writes all that waits, if that has waited for long: the connections' tasks do not run. `nanos`: the present moment.
    fn write_if_overdue(&mut self, nanos: u64) {
        let since = *self.unsent_since.get_or_insert(nanos);
        if nanos.saturating_sub(since) <= OVERDUE {
            return;
        }
        self.unsent_since = None;
        let ids: Vec<ConnId> = self.connections.iter().map(|driven| driven.id).collect();
        for id in ids {
            // Batches are written at once, by who submits them.
            if id.class() != Class::Batch && self.lane.has_output(id) {
                self.renew_output(id, self.latest);
                let batch = self.write_to(id);
                debug_assert!(batch.is_none(), "no batch here");
            }
        }
    }

    /// What is to be written to a connection now must not count as late already, because its task did not run for long.
    fn renew_output(&mut self, id: ConnId, now: Millis) {
        let until = if self.behind { now.plus(LEAST_LEFT) } else { now };
        if self.lane.next_deadline().is_some_and(|due| due <= until) {
            self.lane.renew_output(id, until);
        }
    }

    fn write_to(&mut self, id: ConnId) -> Option<BatchWrite> {
        let driven = self.connections.iter_mut().find(|d| d.id == id)?;
        if driven.direct && !driven.held.load(Ordering::Relaxed) {
            let stream = &driven.tcp;
            if id.class() == Class::Batch {
                let mut bytes = DIRECT.take();
                bytes.clear();
                self.lane.take_output(id, &mut bytes);
                return Some(BatchWrite { id, stream: Arc::clone(stream), bytes });
            }
            DIRECT.with_borrow_mut(|buffer| {
                buffer.clear();
                if self.lane.take_output(id, buffer) {
                    let written = stream.try_write(buffer).unwrap_or(0);
                    if written < buffer.len() {
                        // The task goes on from here; it also meets the error, if there was one.
                        self.lane.return_output(id, &buffer[written..]);
                    }
                    empty(buffer, KEEP_CAPACITY);
                }
            });
            if !self.lane.has_output(id) {
                return None;
            }
        }
        if let Some(waker) = &driven.waker {
            waker.wake_by_ref();
        }
        None
    }
}

/// A batch on its way to the socket. Nobody else writes there: the connection takes no other request before the answer.
struct BatchWrite {
    id: ConnId,
    stream: Arc<tokio::net::TcpStream>,
    bytes: Vec<u8>,
}

/// The task of a connection, as the lane sees it.
struct Driven {
    id: ConnId,
    waker: Option<Waker>,
    tcp: Arc<tokio::net::TcpStream>,
    /// Requests may be written there at once when nothing else is in flight. Not over TLS, where the session is the task's.
    direct: bool,
    /// The task holds bytes that it is writing, without the lock, or that the socket has not taken: nobody else may write.
    /// Changes under the lane's lock.
    held: Arc<AtomicBool>,
    /// The task is to read whatever is there, also where the runtime has not looked.
    read_now: bool,
    close: bool,
}

/// Why an exchange gave no answer.
#[derive(Debug)]
pub(crate) enum ExchangeError {
    /// The request could not be encoded. Nothing was sent.
    Encode(Error),
    /// Everything is full, and the pool is not to wait.
    Full(Full),
    /// It was taken, and failed.
    Failed(Failure),
}

impl SharedLane {
    pub(crate) fn new(sizing: LaneSizing, runtime: Handle, opener: Arc<dyn Opener>) -> Arc<Self> {
        let metrics = opener.metrics();
        let workers_of = (runtime.runtime_flavor() != RuntimeFlavor::CurrentThread).then(|| runtime.id());
        Arc::new(Self {
            state: Mutex::new(State {
                lane: Lane::new(sizing).measured(metrics.as_ref()),
                slots: Slots::default(),
                connections: Vec::new(),
                latest: Millis(0),
                ticker_wakes: None,
                behind: false,
                unsent_since: None,
                put_off: false,
                cut_short: 0,
                at_once: 0,
                closed: false,
            }),
            epoch: clock::epoch(),
            runtime,
            workers_of,
            opener,
            ticker: Notify::new(),
            metrics,
        })
    }

    /// This moment on the lane's clock.
    pub(crate) fn millis(&self, at: Instant) -> Millis {
        Millis(self.nanos(at) / NANOS_PER_MILLI)
    }

    /// This moment in nanoseconds since the lane was made.
    fn nanos(&self, at: Instant) -> u64 {
        at.saturating_duration_since(self.epoch).as_nanos() as u64
    }

    /// The first tick of the lane's clock that is not before this deadline: nothing expires early.
    pub(crate) fn deadline(&self, at: Option<Instant>) -> Millis {
        let Some(at) = at else { return Millis::NEVER };
        Millis(at.saturating_duration_since(self.epoch).as_nanos().div_ceil(1_000_000) as u64)
    }

    /// Opens the minimum of connections to a node ahead of use.
    pub(crate) fn warm(self: &Arc<Self>, node: u16) {
        let mut state = self.state.lock();
        state.lane.warm(node);
        self.settle(state);
    }

    /// Starts an exchange; nothing is done before it is polled.
    pub(crate) fn exchange<E>(
        self: &Arc<Self>,
        node: u16,
        class: Class,
        now: Instant,
        deadline: Millis,
        encode: E,
    ) -> Exchange<'_, E>
    where
        E: FnOnce(&mut Vec<u8>) -> Result<(), Error>,
    {
        Exchange {
            lane: self,
            node,
            class,
            nanos: self.nanos(now),
            deadline,
            stamp: Stamp::NONE,
            encode: Some(encode),
            entry: None,
        }
    }

    /// The ticker comes so much too late: the program has kept the runtime's threads busy.
    fn note_busy(&self, late: Duration, now: Instant) {
        if self.metrics.as_ref().is_some_and(|metrics| metrics.busy_loops.note(late, now)) {
            crate::logging::warn!("{}", metrics::busy_warning(late));
        }
    }

    /// The counts of a node.
    pub(crate) fn counters(&self, node: u16) -> NodeCounters {
        self.state.lock().lane.counters(node)
    }

    /// The lane's share of the pool has changed.
    pub(crate) fn resize(&self, sizing: LaneSizing) {
        self.state.lock().lane.resize(sizing);
    }

    /// A node that had left the cluster is part of it again.
    pub(crate) fn node_back(&self, node: u16) {
        self.state.lock().lane.node_back(node);
    }

    /// The node has left the cluster.
    pub(crate) fn node_gone(self: &Arc<Self>, node: u16) {
        let mut state = self.state.lock();
        let State { lane, slots, .. } = &mut *state;
        lane.node_gone(node, slots);
        self.settle(state);
    }

    /// Gives up the connections of a forked child's copy. A lock that is held is so for ever: then it leaves them.
    pub(crate) fn disown(&self, dead: &DeadSocket) {
        let Some(state) = self.state.try_lock() else { return };
        state.connections.iter().for_each(|driven| dead.replace(&*driven.tcp));
    }

    /// Fails all that is in flight and closes the connections.
    pub(crate) fn close(self: &Arc<Self>) {
        let mut state = self.state.lock();
        state.closed = true;
        let State { lane, slots, connections, .. } = &mut *state;
        lane.close_all(&FailureKind::Closed, slots);
        for driven in connections {
            // The task may never be polled again (its runtime may have stopped turning): end the connection here.
            let _ = socket2::SockRef::from(&*driven.tcp).shutdown(std::net::Shutdown::Both);
        }
        self.settle(state);
        self.ticker.notify_one();
    }

    fn submit(
        self: &Arc<Self>,
        node: u16,
        class: Class,
        request: &[u8],
        (deadline, nanos, stamp): (Millis, u64, Stamp),
        waker: &Waker,
    ) -> Result<(u32, Ticket), ExchangeError> {
        let mut state = self.state.lock();
        if state.closed {
            return Err(ExchangeError::Failed(Failure::new(FailureKind::Closed, false)));
        }
        let now = Millis(nanos / NANOS_PER_MILLI);
        state.latest = state.latest.max(now);
        state.lane.set_time(nanos);
        let slot = state.slots.claim(waker);
        let ticket = match state.lane.submit_stamped(node, class, request, (deadline, now, stamp), slot) {
            Ok(ticket) => ticket,
            Err((full, slot)) => {
                let waker = state.slots.release(slot);
                drop(state);
                drop(waker);
                return Err(ExchangeError::Full(full));
            }
        };
        if state.ticker_wakes.is_some_and(|wakes| deadline < wakes) {
            self.ticker.notify_one();
        }
        if state.ticker_wakes.is_none() && state.lane.next_deadline().is_some_and(|due| due <= now) {
            // A node that has left the cluster: without connections there may be no ticker to say so. Where there is one, it
            // sees to it that answers are read before anything expires.
            let State { lane, slots, .. } = &mut *state;
            lane.expire(now, slots);
        }
        // A batch has its connection for itself: nothing else would leave in the same write.
        let batch = if state.lane.in_flight() == 1 || class == Class::Batch {
            state.write_directly()
        } else {
            state.write_if_overdue(nanos);
            None
        };
        self.settle(state);
        if let Some(batch) = batch {
            self.write_batch(batch);
        }
        Ok((slot, ticket))
    }

    /// Writes a batch. Not under the lock: some µs, for which the other threads of the lane would wait.
    fn write_batch(&self, BatchWrite { id, stream, mut bytes }: BatchWrite) {
        let written = stream.try_write(&bytes).unwrap_or(0);
        if written < bytes.len() {
            // The task goes on from here; it also meets the error, if there was one.
            let mut state = self.state.lock();
            state.lane.return_output(id, &bytes[written..]);
            if let Some(Driven { waker: Some(waker), .. }) = state.connections.iter().find(|d| d.id == id) {
                waker.wake_by_ref();
            }
        }
        empty(&mut bytes, KEEP_CAPACITY);
        DIRECT.set(bytes);
    }

    /// Does what the lane asks for, then wakes (without the lock) whoever got an outcome.
    fn settle(self: &Arc<Self>, mut guard: MutexGuard<'_, State>) {
        let state = &mut *guard;
        while let Some(id) = state.lane.flush_request() {
            if let Some(Driven { waker: Some(waker), .. }) = state.connections.iter().find(|d| d.id == id) {
                waker.wake_by_ref();
            }
        }
        while let Some(id) = state.lane.close_request() {
            if let Some(driven) = state.connections.iter_mut().find(|d| d.id == id) {
                driven.close = true;
                if let Some(waker) = &driven.waker {
                    waker.wake_by_ref();
                }
            }
        }
        let to_open = if state.lane.wants_open() { self.openings(state) } else { Vec::new() };
        if state.slots.ready.is_empty() {
            drop(guard);
            self.spawn_openings(to_open);
            return;
        }
        // Taken out, not borrowed: a waker that is woken may come back here.
        let mut ready = READY.try_with(RefCell::take).unwrap_or_default();
        std::mem::swap(&mut ready, &mut state.slots.ready);
        drop(guard);
        self.spawn_openings(to_open);
        for waker in ready.drain(..) {
            waker.wake();
        }
        // At the end of a thread the list may be gone.
        let _ = READY.try_with(|list| list.replace(ready));
    }

    fn openings(self: &Arc<Self>, state: &mut State) -> Vec<Opening> {
        let requests = std::iter::from_fn(|| state.lane.open_request());
        requests.map(|(node, class)| Opening { lane: Arc::clone(self), node, class, done: false }).collect()
    }

    /// Not under the lock: a runtime that has ended drops the task at once, and the task then tells the lane.
    fn spawn_openings(self: &Arc<Self>, openings: Vec<Opening>) {
        if openings.is_empty() {
            return;
        }
        for opening in openings {
            self.runtime.spawn(opening.run());
        }
        let start = {
            let mut state = self.state.lock();
            let start = state.ticker_wakes.is_none();
            if start {
                state.ticker_wakes = Some(Millis(0));
            }
            start
        };
        if start {
            self.runtime.spawn(ticker::tick(Arc::clone(self)));
        }
    }

    fn received(self: &Arc<Self>, id: ConnId, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.state.lock();
        let metrics = self.metrics.as_ref().filter(|metrics| metrics.is_measuring());
        let mut moment = 0;
        if metrics.is_some() || state.lane.needs_time(id) {
            let now = clock::now();
            let nanos = self.nanos(now);
            state.latest = Millis(nanos / NANOS_PER_MILLI);
            state.lane.set_time(nanos);
            moment = metrics.map_or(0, |metrics| metrics.micros(now));
        }
        let State { lane, slots, latest: now, .. } = &mut *state;
        let now = *now;
        let result = lane.received_at(id, bytes, (now, moment), slots);
        self.settle(state);
        result.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// The connection's task has read at once, as it was to.
    fn has_read(&self, id: ConnId) {
        let mut state = self.state.lock();
        if let Some(driven) = state.connections.iter_mut().find(|driven| driven.id == id) {
            driven.read_now = false;
        }
    }
}

#[cfg(test)]
impl SharedLane {
    /// Holds the lane's lock, to see who needs it.
    pub(crate) fn hold(&self) -> impl Sized + '_ {
        self.state.lock()
    }
}
