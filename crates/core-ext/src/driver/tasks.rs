//! The async driver: a lane behind a lock, and one tokio task per connection that reads, writes and wakes callers.
//!
//! The tasks live on the runtime of the callers (a current-thread runtime has one lane, a multi-thread one a few), so an
//! answer wakes its caller on the same thread, without a hop. A flush is a wake-up of the connection's task, queued
//! behind the callers that are about to submit; so what a burst of answers sets off leaves in one write.

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Notify;

use super::mark::{self, Mark};
use super::slots::Slots;
use crate::Error;
use crate::connect::Stream;
use crate::lane::{Class, ConnId, Failure, FailureKind, Full, Lane, LaneSizing, Millis, NodeCounters, Ticket};

/// Size of the buffer that sockets are read into. One per thread.
const READ_BUFFER: usize = 64 * 1024;
/// Reads of one connection in a row before others get their turn.
const READS_PER_TURN: usize = 8;
/// How often idle and blocked connections are looked for.
const TRIM_EVERY: Duration = Duration::from_secs(1);

thread_local! {
    static READ: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BUFFER].into_boxed_slice());
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Who opens the connections of a lane: the cluster, or a test.
pub(crate) trait Opener: Send + Sync + 'static {
    /// Opens a connection to a node, logged in and ready.
    fn open(&self, node: u16, class: Class) -> Pin<Box<dyn Future<Output = Result<Stream, Error>> + Send + '_>>;

    /// A connection was lost: the topology may have changed.
    fn lost(&self);
}

/// A lane, shared by the tasks that submit to it and those that drive it.
pub(crate) struct SharedLane {
    state: Mutex<State>,
    epoch: Instant,
    runtime: Handle,
    /// On a multi-thread runtime a flush lets the other woken tasks of its worker go first.
    yields: bool,
    opener: Arc<dyn Opener>,
    ticker: Notify,
}

struct State {
    lane: Lane<u32>,
    slots: Slots,
    connections: Vec<Driven>,
    /// When the ticker wakes up next; [`Millis::NEVER`] while there is none.
    ticker_wakes: Option<Millis>,
    /// Flushes wait until the last woken caller has taken its outcome.
    put_off: bool,
    closed: bool,
    was_used: bool,
}

impl State {
    /// Wakes the tasks of all connections with output.
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
}

/// The task of a connection, as the lane sees it.
struct Driven {
    id: ConnId,
    waker: Option<Waker>,
    /// To write at once when nothing else is in flight. `None` over TLS.
    direct: Option<Arc<tokio::net::TcpStream>>,
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
        let yields = runtime.runtime_flavor() != RuntimeFlavor::CurrentThread;
        Arc::new(Self {
            state: Mutex::new(State {
                lane: Lane::new(sizing),
                slots: Slots::default(),
                connections: Vec::new(),
                ticker_wakes: None,
                put_off: false,
                closed: false,
                was_used: false,
            }),
            epoch: Instant::now(),
            runtime,
            yields,
            opener,
            ticker: Notify::new(),
        })
    }

    /// This moment on the lane's clock.
    pub(crate) fn millis(&self, at: Instant) -> Millis {
        Millis(at.saturating_duration_since(self.epoch).as_millis() as u64)
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
        Exchange { lane: self, node, class, now: self.millis(now), deadline, encode: Some(encode), entry: None }
    }

    /// The counts of a node.
    pub(crate) fn counters(&self, node: u16) -> NodeCounters {
        self.state.lock().lane.counters(node)
    }

    /// The lane's share of the pool has changed.
    pub(crate) fn resize(&self, sizing: LaneSizing) {
        self.state.lock().lane.resize(sizing);
    }

    /// Whether it had connections once, and now has none and nothing to do: its runtime has ended.
    pub(crate) fn was_used_and_is_empty(&self) -> bool {
        let state = self.state.lock();
        state.was_used && state.connections.is_empty() && !state.lane.is_busy()
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

    /// Fails all that is in flight and closes the connections.
    pub(crate) fn close(self: &Arc<Self>) {
        let mut state = self.state.lock();
        state.closed = true;
        let State { lane, slots, connections, .. } = &mut *state;
        lane.close_all(&FailureKind::Closed, slots);
        for driven in connections {
            if let Some(stream) = &driven.direct {
                // The task may never be polled again (its runtime may have stopped turning): end the connection here.
                let _ = socket2::SockRef::from(&**stream).shutdown(std::net::Shutdown::Both);
            }
        }
        self.settle(state);
        self.ticker.notify_one();
    }

    fn submit(
        self: &Arc<Self>,
        node: u16,
        class: Class,
        request: &[u8],
        (deadline, now): (Millis, Millis),
        waker: &Waker,
    ) -> Result<(u32, Ticket), ExchangeError> {
        let mut state = self.state.lock();
        if state.closed {
            return Err(ExchangeError::Failed(Failure { kind: FailureKind::Closed, sent: false }));
        }
        let slot = state.slots.claim(waker);
        let ticket = match state.lane.submit(node, class, request, deadline, now, slot) {
            Ok(ticket) => ticket,
            Err((full, slot)) => {
                state.slots.release(slot);
                return Err(ExchangeError::Full(full));
            }
        };
        if state.ticker_wakes.is_some_and(|wakes| deadline < wakes) {
            self.ticker.notify_one();
        }
        if state.lane.in_flight() == 1 {
            self.write_directly(&mut state);
        }
        self.settle(state);
        Ok((slot, ticket))
    }

    /// With nothing else in flight there is nothing to wait for: the caller writes, without a detour over the task.
    fn write_directly(&self, state: &mut State) {
        let Some(id) = state.lane.flush_request() else { return };
        let Some(driven) = state.connections.iter_mut().find(|d| d.id == id) else { return };
        if let Some(stream) = &driven.direct {
            REQUEST.with_borrow_mut(|buffer| {
                buffer.clear();
                if state.lane.take_output(id, buffer) {
                    let written = stream.try_write(buffer).unwrap_or(0);
                    if written < buffer.len() {
                        // The task goes on from here; it also meets the error, if there was one.
                        state.lane.return_output(id, &buffer[written..]);
                    }
                }
            });
            if !state.lane.has_output(id) {
                return;
            }
        }
        if let Some(waker) = &driven.waker {
            waker.wake_by_ref();
        }
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
        let mut ready = std::mem::take(&mut state.slots.ready);
        drop(guard);
        self.spawn_openings(to_open);
        for waker in ready.drain(..) {
            waker.wake();
        }
        // The list's allocation goes back, unless somebody else has put a new one there.
        let mut state = self.state.lock();
        if state.slots.ready.capacity() == 0 {
            state.slots.ready = ready;
        }
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
            self.runtime.spawn(tick(Arc::clone(self)));
        }
    }

    fn received(self: &Arc<Self>, id: ConnId, bytes: &[u8]) -> io::Result<()> {
        let now = self.millis(Instant::now());
        let mut state = self.state.lock();
        let State { lane, slots, .. } = &mut *state;
        let result = lane.received(id, bytes, now, slots);
        self.settle(state);
        result.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }
}

/// One request and its answer. Dropped before the end, it becomes an orphan: its answer goes to nobody else.
pub(crate) struct Exchange<'a, E> {
    lane: &'a Arc<SharedLane>,
    node: u16,
    class: Class,
    now: Millis,
    deadline: Millis,
    encode: Option<E>,
    entry: Option<(u32, Ticket)>,
}

impl<E> Exchange<'_, E>
where
    E: FnOnce(&mut Vec<u8>) -> Result<(), Error>,
{
    /// Encodes and submits at the first call; later takes the answer and gives its message to `decode`.
    pub(crate) fn poll_with<R>(
        &mut self,
        cx: &mut Context<'_>,
        decode: impl FnOnce(&[u8]) -> R,
    ) -> Poll<Result<R, ExchangeError>> {
        let Some((slot, _)) = self.entry else {
            let Some(encode) = self.encode.take() else { return Poll::Pending };
            // Taken out, not borrowed, while foreign code (the encoding of values) and the lane run.
            let mut request = REQUEST.take();
            request.clear();
            let submitted = encode(&mut request)
                .map_err(ExchangeError::Encode)
                .and_then(|()| {
                    self.lane.submit(self.node, self.class, &request, (self.deadline, self.now), cx.waker())
                });
            request.shrink_to(READ_BUFFER);
            REQUEST.set(request);
            return match submitted {
                Ok(entry) => {
                    self.entry = Some(entry);
                    Poll::Pending
                }
                Err(error) => Poll::Ready(Err(error)),
            };
        };
        let mut answer = ANSWER.take();
        let taken = {
            let mut state = self.lane.state.lock();
            let taken = state.slots.take(slot, cx.waker(), &mut answer);
            if state.put_off && state.slots.untaken() == 0 {
                state.flush_all();
            }
            taken
        };
        let result = match taken {
            None => Poll::Pending,
            Some(Ok(())) => {
                self.entry = None;
                Poll::Ready(Ok(decode(&answer)))
            }
            Some(Err(failure)) => {
                self.entry = None;
                Poll::Ready(Err(ExchangeError::Failed(failure)))
            }
        };
        answer.shrink_to(READ_BUFFER);
        ANSWER.set(answer);
        result
    }
}

impl<E> Drop for Exchange<'_, E> {
    fn drop(&mut self) {
        if let Some((slot, ticket)) = self.entry.take() {
            let now = self.lane.millis(Instant::now());
            let mut state = self.lane.state.lock();
            // If the lane has let go of it, its outcome lies in the slot, unread.
            let _ = state.lane.cancel(self.node, self.class, ticket, now);
            state.slots.release(slot);
            if state.put_off && state.slots.untaken() == 0 {
                state.flush_all();
            }
        }
    }
}

/// A connection being opened. If its runtime ends first, the lane hears of it.
struct Opening {
    lane: Arc<SharedLane>,
    node: u16,
    class: Class,
    done: bool,
}

impl Opening {
    async fn run(mut self) {
        let opener = Arc::clone(&self.lane.opener);
        let opened = opener.open(self.node, self.class).await;
        self.done = true;
        match opened {
            Ok(stream) => self.attach(stream),
            Err(error) => {
                self.failed(&error);
                opener.lost();
            }
        }
    }

    fn attach(&self, stream: Stream) {
        let now = self.lane.millis(Instant::now());
        let (io, direct) = match stream {
            Stream::Plain(stream) => {
                let stream = Arc::new(stream);
                (Io::Tcp(Arc::clone(&stream)), Some(stream))
            }
            #[cfg(feature = "tls")]
            Stream::Tls(stream) => (Io::Tls(stream), None),
        };
        let mut state = self.lane.state.lock();
        if state.closed {
            return;
        }
        let id = state.lane.opened(self.node, self.class, now);
        state.was_used = true;
        state.connections.push(Driven { id, waker: None, direct, close: false });
        let connection = Connection {
            lane: Arc::clone(&self.lane),
            id,
            io,
            out: Vec::new(),
            written: 0,
            put_off: PutOff::No,
            mark: Mark::new(),
            patience: Box::pin(tokio::time::sleep(mark::PATIENCE)),
            patient: false,
            end: None,
        };
        self.lane.settle(state);
        self.lane.runtime.spawn(connection);
    }

    fn failed(&self, error: &Error) {
        let mut state = self.lane.state.lock();
        let State { lane, slots, .. } = &mut *state;
        lane.open_failed(self.node, self.class, error, slots);
        self.lane.settle(state);
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        if !self.done {
            self.failed(&Error::client_error("the runtime that was opening a connection has ended"));
        }
    }
}

enum Io {
    Tcp(Arc<tokio::net::TcpStream>),
    #[cfg(feature = "tls")]
    Tls(Box<tokio_rustls::client::TlsStream<tokio::net::TcpStream>>),
}

impl Io {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Tcp(stream) => loop {
                std::task::ready!(stream.poll_read_ready(cx))?;
                let mut got = None;
                // A read that does not fill the buffer has emptied the socket: said as "would block", it spares the
                // second read that would find that out.
                let result = stream.try_io(tokio::io::Interest::READABLE, || {
                    let n = recv(stream, buffer)?;
                    got = Some(n);
                    if n > 0 && n < buffer.len() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
                });
                match (got, result) {
                    (Some(n), _) => return Poll::Ready(Ok(n)),
                    (None, Err(e)) if e.kind() == io::ErrorKind::WouldBlock => {}
                    (None, Err(e)) if e.kind() == io::ErrorKind::Interrupted => {}
                    (None, Err(e)) => return Poll::Ready(Err(e)),
                    (None, Ok(())) => {}
                }
            },
            #[cfg(feature = "tls")]
            Self::Tls(stream) => {
                let mut buffer = tokio::io::ReadBuf::new(buffer);
                std::task::ready!(tokio::io::AsyncRead::poll_read(Pin::new(&mut **stream), cx, &mut buffer))?;
                Poll::Ready(Ok(buffer.filled().len()))
            }
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Tcp(stream) => loop {
                std::task::ready!(stream.poll_write_ready(cx))?;
                match stream.try_write(bytes) {
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                    other => return Poll::Ready(other),
                }
            },
            #[cfg(feature = "tls")]
            Self::Tls(stream) => tokio::io::AsyncWrite::poll_write(Pin::new(&mut **stream), cx, bytes),
        }
    }

    /// TLS holds written bytes back until flushed.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(_) => Poll::Ready(Ok(())),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => tokio::io::AsyncWrite::poll_flush(Pin::new(&mut **stream), cx),
        }
    }
}

fn recv(stream: &tokio::net::TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    io::Read::read(&mut &*socket2::SockRef::from(stream), buffer)
}

/// Whether a flush was put off: callers that were woken and have not run yet are likely to submit, and what they want is to
/// leave in the same write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PutOff {
    No,
    /// By one turn of the scheduler.
    Yielded,
    /// Until the last of them has taken its outcome, or the patience is at its end: one may never be polled again.
    UntilDrained,
}

/// The task of one connection.
struct Connection {
    lane: Arc<SharedLane>,
    id: ConnId,
    io: Io,
    out: Vec<u8>,
    written: usize,
    put_off: PutOff,
    mark: Mark,
    /// Takes the mark back. Armed at each flush, so that no answer waits longer.
    patience: Pin<Box<tokio::time::Sleep>>,
    patient: bool,
    end: Option<FailureKind>,
}

impl Connection {
    /// Reads and hands in all that is there. True: something came.
    fn read(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        for turn in 0..READS_PER_TURN {
            let mut buffer = READ.take();
            if buffer.is_empty() {
                buffer = vec![0; READ_BUFFER].into_boxed_slice();
            }
            let polled = self.io.poll_read(cx, &mut buffer);
            let handed = match polled {
                Poll::Ready(Ok(n)) if n > 0 => self.lane.received(self.id, &buffer[..n]),
                _ => Ok(()),
            };
            READ.set(buffer);
            handed?;
            match polled {
                Poll::Pending => return Ok(turn > 0),
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) => return Err(error),
            }
        }
        cx.waker().wake_by_ref();
        Ok(true)
    }

    /// Writes all that waits, as far as the socket takes it.
    fn write(&mut self, cx: &mut Context<'_>, came: bool) -> io::Result<()> {
        let lane = Arc::clone(&self.lane);
        loop {
            while self.written < self.out.len() {
                match self.io.poll_write(cx, &self.out[self.written..]) {
                    Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                    Poll::Ready(Ok(n)) => self.written += n,
                    Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                    Poll::Ready(Err(error)) => return Err(error),
                    Poll::Pending => {
                        let mut state = lane.state.lock();
                        state.lane.unwritten(self.id, self.out.len() - self.written);
                        return Ok(());
                    }
                }
            }
            let wrote = !self.out.is_empty();
            self.out.clear();
            self.written = 0;
            if self.io.poll_flush(cx)?.is_pending() {
                return Ok(());
            }
            let mut state = lane.state.lock();
            if wrote {
                state.lane.unwritten(self.id, 0);
            }
            if !state.lane.has_output(self.id) {
                let in_flight = state.lane.entries_on(self.id);
                drop(state);
                self.put_off = PutOff::No;
                self.set_mark(cx, in_flight, wrote);
                return Ok(());
            }
            if !came && state.slots.untaken() > 0 && self.put_off(cx, &mut state) {
                return Ok(());
            }
            self.put_off = PutOff::No;
            state.lane.take_output(self.id, &mut self.out);
        }
    }

    fn put_off(&mut self, cx: &mut Context<'_>, state: &mut State) -> bool {
        match self.put_off {
            PutOff::No if self.lane.yields => {
                self.put_off = PutOff::Yielded;
                cx.waker().wake_by_ref();
                true
            }
            PutOff::No | PutOff::Yielded => {
                self.put_off = PutOff::UntilDrained;
                state.put_off = true;
                self.be_patient(cx)
            }
            PutOff::UntilDrained => self.patience.as_mut().poll(cx).is_pending(),
        }
    }

    /// Arms the timer; false: it has fired already.
    fn be_patient(&mut self, cx: &mut Context<'_>) -> bool {
        self.patience.as_mut().reset(tokio::time::Instant::now() + mark::PATIENCE);
        self.patient = self.patience.as_mut().poll(cx).is_pending();
        self.patient
    }

    fn set_mark(&mut self, cx: &mut Context<'_>, in_flight: usize, wrote: bool) {
        let Io::Tcp(stream) = &self.io else { return };
        if self.patient && !wrote && self.patience.as_mut().poll(cx).is_ready() {
            self.patient = false;
            self.mark.lower(&**stream);
            return;
        }
        self.mark.set_for(in_flight, &**stream);
        if wrote && self.mark.is_raised() {
            self.be_patient(cx);
        }
    }

    /// Leaves a waker with the lane; true: the lane wants the connection closed.
    fn check_in(&self, cx: &mut Context<'_>) -> bool {
        let mut state = self.lane.state.lock();
        let closed = state.closed;
        match state.connections.iter_mut().find(|d| d.id == self.id) {
            Some(driven) => {
                if !driven.waker.as_ref().is_some_and(|w| w.will_wake(cx.waker())) {
                    driven.waker = Some(cx.waker().clone());
                }
                driven.close || closed
            }
            None => true,
        }
    }
}

impl Future for Connection {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if this.check_in(cx) {
            this.end = Some(FailureKind::Closed);
            return Poll::Ready(());
        }
        // Reads come first and go on while a write waits: the server must never block on us.
        match this.read(cx).and_then(|came| this.write(cx, came)) {
            Ok(()) => Poll::Pending,
            Err(error) => {
                this.end = Some(FailureKind::ConnectionLost(error.kind()));
                Poll::Ready(())
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let lost = matches!(self.end, Some(FailureKind::ConnectionLost(_)));
        let kind = self.end.take().unwrap_or(FailureKind::Closed);
        let mut state = self.lane.state.lock();
        state.connections.retain(|d| d.id != self.id);
        let State { lane, slots, .. } = &mut *state;
        lane.unwritten(self.id, self.out.len() - self.written);
        lane.closed(self.id, &kind, slots);
        self.lane.settle(state);
        if lost {
            self.lane.opener.lost();
        }
    }
}

/// The lane's one timer: expires what is due, trims, and ends when there is nothing left to look after.
async fn tick(lane: Arc<SharedLane>) {
    let mut trimmed = Instant::now();
    loop {
        let now = Instant::now();
        let millis = lane.millis(now);
        let wake = {
            let mut guard = lane.state.lock();
            let state = &mut *guard;
            if state.closed || (state.connections.is_empty() && !state.lane.is_busy()) {
                state.ticker_wakes = None;
                return;
            }
            state.lane.expire(millis, &mut state.slots);
            if now.duration_since(trimmed) >= TRIM_EVERY {
                trimmed = now;
                state.lane.trim(millis);
            }
            let latest = millis.plus(TRIM_EVERY.as_millis() as u64);
            let wake = state.lane.next_deadline().map_or(latest, |d| d.min(latest)).max(millis.plus(1));
            state.ticker_wakes = Some(wake);
            lane.settle(guard);
            wake
        };
        let at = lane.epoch + Duration::from_millis(wake.0);
        tokio::select! {
            () = tokio::time::sleep_until(at.into()) => {}
            () = lane.ticker.notified() => {}
        }
    }
}
