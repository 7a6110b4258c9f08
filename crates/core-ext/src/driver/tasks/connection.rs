//! The task of one connection: reads, hands in, writes.

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use super::socket::Socket;
use super::{KEEP_CAPACITY, SharedLane, State, worker};
use crate::clock;
use crate::driver::empty;
use crate::driver::low_water_mark::{self, LowWaterMark};
use crate::lane::{ConnId, FailureKind};

/// Size of the buffer that sockets are read into. One per thread.
const READ_BUFFER: usize = 64 * 1024;
/// Reads of one connection in a row before others get their turn.
const READS_PER_TURN: usize = 8;

thread_local! {
    static READ: RefCell<Box<[u8]>> = RefCell::default();
}

/// Lends the thread's buffer. What is handed in with it wakes callers, who may come back here: they find none, and take another.
fn with_buffer<R>(read: impl FnOnce(&mut [u8]) -> R) -> R {
    let mut buffer = READ.take();
    if buffer.is_empty() {
        buffer = vec![0; READ_BUFFER].into_boxed_slice();
    }
    let result = read(&mut buffer);
    READ.set(buffer);
    result
}

/// Whether a flush was put off: callers that were woken and have not run yet are likely to submit, and what they want is to
/// leave in the same write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deferral {
    No,
    /// By one turn of the scheduler, where the runtime has several workers: those that this worker runs have run by then. The
    /// others are not waited for: the worker that has them may itself wait milliseconds for a processor.
    Yielded,
    /// On one thread: until the last of them has taken its outcome, or the patience is at its end: one may never be polled again.
    UntilDrained,
}

/// The task of one connection.
pub(super) struct ConnectionTask {
    lane: Arc<SharedLane>,
    id: ConnId,
    io: Socket,
    out: Vec<u8>,
    written: usize,
    /// See [`Driven::held`](super::Driven::held).
    held: Arc<AtomicBool>,
    put_off: Deferral,
    mark: LowWaterMark,
    /// Ticks while something is in flight under a raised mark, or a flush is put off: a tick in which nothing came takes
    /// the mark back. Not armed anew for each flush: that would wake the runtime's driver each time.
    patience: Pin<Box<tokio::time::Sleep>>,
    /// Whether it is armed.
    patient: bool,
    /// Whether something came since the last tick.
    progress: bool,
    end: Option<FailureKind>,
}

impl ConnectionTask {
    pub(super) fn new(lane: Arc<SharedLane>, id: ConnId, io: Socket, held: Arc<AtomicBool>) -> Self {
        let mark = if io.is_tls() { LowWaterMark::off() } else { LowWaterMark::new() };
        Self {
            lane,
            id,
            io,
            out: Vec::new(),
            written: 0,
            held,
            put_off: Deferral::No,
            mark,
            patience: Box::pin(tokio::time::sleep(low_water_mark::PATIENCE)),
            patient: false,
            progress: false,
            end: None,
        }
    }

    /// Reads and hands in all that is there. True: something came. `now`: also if the runtime does not know of it.
    fn read(&mut self, cx: &mut Context<'_>, now: bool) -> io::Result<bool> {
        let Self { io, lane, id, .. } = self;
        let mut take = |bytes: &[u8]| lane.received(*id, bytes);
        if now {
            while with_buffer(|buffer| io.read_now(buffer, &mut take))? {}
            // Not before: the ticker, on another thread, expires what is not answered as soon as it finds this.
            lane.has_read(*id);
        }
        for turn in 0..READS_PER_TURN {
            match with_buffer(|buffer| io.poll_read(cx, buffer, &mut take)) {
                Poll::Pending => return Ok(turn > 0),
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => return Err(error),
            }
        }
        cx.waker().wake_by_ref();
        Ok(true)
    }

    /// Writes all that waits, as far as the socket takes it.
    fn write(&mut self, cx: &mut Context<'_>, came: bool, ticked: bool) -> io::Result<()> {
        let lane = Arc::clone(&self.lane);
        loop {
            match self.io.poll_write(cx, &self.out, &mut self.written) {
                Poll::Ready(result) => result?,
                Poll::Pending => {
                    let mut state = lane.state.lock();
                    state.lane.unwritten(self.id, self.unsent());
                    self.held.store(true, Ordering::Relaxed);
                    return Ok(());
                }
            }
            let wrote = !self.out.is_empty();
            empty(&mut self.out, KEEP_CAPACITY);
            self.written = 0;
            let mut state = lane.state.lock();
            if self.held.load(Ordering::Relaxed) {
                state.lane.unwritten(self.id, 0);
                self.held.store(false, Ordering::Relaxed);
            }
            if !state.lane.has_output(self.id) {
                let to_await = state.lane.answers_to_await(self.id);
                drop(state);
                self.put_off = Deferral::No;
                self.set_mark(to_await, wrote || came);
                return Ok(());
            }
            if !came && !ticked && state.slots.untaken() > 0 && self.put_off(cx, &mut state) {
                return Ok(());
            }
            self.put_off = Deferral::No;
            let now = lane.millis(clock::now());
            state.latest = state.latest.max(now);
            state.renew_output(self.id, now);
            state.unsent_since = None;
            if state.lane.take_output(self.id, &mut self.out) {
                self.held.store(true, Ordering::Relaxed);
            }
        }
    }

    fn put_off(&mut self, cx: &mut Context<'_>, state: &mut State) -> bool {
        match self.put_off {
            Deferral::No if self.lane.workers_of.is_some() => {
                self.put_off = Deferral::Yielded;
                cx.waker().wake_by_ref();
                true
            }
            Deferral::Yielded => false,
            Deferral::No if state.at_once > 0 => {
                state.at_once -= 1;
                false
            }
            Deferral::No => {
                self.put_off = Deferral::UntilDrained;
                state.put_off = true;
                self.be_patient(cx);
                true
            }
            Deferral::UntilDrained => true,
        }
    }

    /// How many bytes of `out` have surely not been sent.
    fn unsent(&self) -> usize {
        self.out.len() - self.written + self.io.unsent()
    }

    fn be_patient(&mut self, cx: &mut Context<'_>) {
        if !self.patient {
            self.patience.as_mut().reset(tokio::time::Instant::now() + low_water_mark::PATIENCE);
            self.patient = true;
            if self.patience.as_mut().poll(cx).is_ready() {
                cx.waker().wake_by_ref();
            }
        }
    }

    /// One tick of the patience, if it is due.
    fn tick(&mut self, cx: &mut Context<'_>) -> bool {
        if !self.patient || self.patience.as_mut().poll(cx).is_pending() {
            return false;
        }
        self.patient = false;
        if std::mem::replace(&mut self.put_off, Deferral::No) == Deferral::UntilDrained {
            self.lane.state.lock().put_off_in_vain();
        }
        if !self.progress {
            self.mark.lower(&**self.io.tcp());
        }
        self.progress = false;
        true
    }

    fn set_mark(&mut self, to_await: usize, may_raise: bool) {
        self.mark.set_for(to_await, may_raise, &**self.io.tcp());
    }

    /// Leaves a waker with the lane. `None`: the lane wants the connection closed; else whether to read at once.
    fn check_in(&self, cx: &mut Context<'_>) -> Option<bool> {
        let mut state = self.lane.state.lock();
        let closed = state.closed;
        match state.connections.iter_mut().find(|d| d.id == self.id) {
            Some(driven) => {
                if !driven.waker.as_ref().is_some_and(|w| w.will_wake(cx.waker())) {
                    driven.waker = Some(cx.waker().clone());
                }
                let read_now = driven.read_now;
                (!driven.close && !closed).then_some(read_now)
            }
            None => None,
        }
    }
}

impl Future for ConnectionTask {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if let Some(runtime) = this.lane.workers_of {
            worker::polls_for(runtime);
        }
        let Some(read_now) = this.check_in(cx) else {
            this.end = Some(FailureKind::Closed);
            return Poll::Ready(());
        };
        // Reads come first and go on while a write waits: the server must never block on us.
        let turn = this.read(cx, read_now).and_then(|came| {
            this.progress |= came;
            let ticked = this.tick(cx);
            this.write(cx, came, ticked)?;
            if this.mark.is_raised() {
                // Also while a write waits: it may wait for long, and answers must not.
                this.be_patient(cx);
            }
            Ok(())
        });
        match turn {
            Ok(()) => Poll::Pending,
            Err(error) => {
                this.end = Some(FailureKind::ConnectionLost(error.kind()));
                Poll::Ready(())
            }
        }
    }
}

impl Drop for ConnectionTask {
    fn drop(&mut self) {
        let lost = matches!(self.end, Some(FailureKind::ConnectionLost(_)));
        let kind = self.end.take().unwrap_or(FailureKind::Closed);
        let unsent = self.unsent();
        let now = self.lane.millis(clock::now());
        let mut state = self.lane.state.lock();
        state.connections.retain(|d| d.id != self.id);
        let State { lane, slots, .. } = &mut *state;
        lane.unwritten(self.id, unsent);
        lane.closed(self.id, &kind, now, slots);
        self.lane.settle(state);
        self.lane.opener.closed(self.id.node, &kind);
        if lost {
            self.lane.opener.lost();
        }
    }
}
