//! Requests of futures that the loop polls on its own thread: batches, and further attempts of single calls.
//!
//! A future cannot borrow the driver. It leaves its request in a queue, from which the driver fetches it with its next
//! [`flush`](super::HostDriver::flush) or [`tick`](super::HostDriver::tick), and finds its outcome there.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;

use crate::Error;
use crate::driver::empty;
use crate::driver::slots::{Slots, Taken};
use crate::driver::tasks::ExchangeError;
use crate::lane::{Class, Failure, FailureKind, Full, Millis, Sink, Ticket};
use crate::metrics::Stamp;
use crate::sync::Mutex;

/// A thread's buffer that grew beyond this is given back.
const KEEP_CAPACITY: usize = 64 * 1024;

thread_local! {
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Who submitted an entry of the lane, and gets its outcome.
pub(super) enum EntryOwner<T> {
    /// The loop, with its token.
    Loop(T),
    /// A future, with its slot.
    Future(u32),
}

/// How futures reach the lane of a driver; see [`HostDriver::handle`](super::HostDriver::handle).
#[derive(Clone, Debug)]
pub struct HostHandle(Arc<FutureQueue>);

/// Where futures and the driver meet. Both are on the loop's thread, but a future may be dropped on another one.
#[derive(Debug)]
pub(super) struct FutureQueue {
    epoch: Instant,
    /// There is something for the driver.
    news: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    slots: Slots,
    /// By slot.
    places: Vec<RequestState>,
    /// Requests that the driver is to submit.
    left: Vec<Submission>,
    /// Slots whose futures have given up.
    given_up: Vec<u32>,
    closed: bool,
}

/// Where the request of a slot is.
#[derive(Debug, Clone, Copy)]
enum RequestState {
    /// Not with the driver: in `left`, or nowhere.
    Queued,
    Lane(u16, Class, Ticket),
    Refused(Full),
}

#[derive(Debug)]
struct Submission {
    slot: u32,
    node: u16,
    class: Class,
    deadline: Millis,
    now: Millis,
    stamp: Stamp,
    request: Vec<u8>,
}

/// One request and its answer. Dropped before the end, it becomes an orphan: its answer goes to nobody else.
pub(crate) struct HostExchange {
    queue: Arc<FutureQueue>,
    /// Until the first poll; its slot is not set.
    unsent: Option<Result<Submission, Error>>,
    slot: Option<u32>,
}

impl HostHandle {
    pub(super) fn new(queue: &Arc<FutureQueue>) -> Self {
        Self(Arc::clone(queue))
    }

    pub(crate) fn exchange(
        &self,
        node: u16,
        class: Class,
        (now, deadline, stamp): (Instant, Option<Instant>, Stamp),
        request: Result<Vec<u8>, Error>,
    ) -> HostExchange {
        let queue = Arc::clone(&self.0);
        let (now, deadline) = (queue.millis(now), queue.deadline(deadline));
        let unsent = request.map(|request| Submission { slot: 0, node, class, deadline, now, stamp, request });
        HostExchange { queue, unsent: Some(unsent), slot: None }
    }
}

impl HostExchange {
    /// Leaves the request at the first call; later takes the answer and gives it to `decode`.
    pub(crate) fn poll_with<R>(
        &mut self,
        cx: &mut Context<'_>,
        decode: impl FnOnce(&[u8]) -> R,
    ) -> Poll<Result<R, ExchangeError>> {
        let mut guard = self.queue.state.lock();
        let state = &mut *guard;
        let Some(slot) = self.slot else {
            let submission = match self.unsent.take() {
                None => return Poll::Pending,
                Some(Err(error)) => return Poll::Ready(Err(ExchangeError::Encode(error))),
                Some(Ok(submission)) => submission,
            };
            if state.closed {
                return Poll::Ready(Err(ExchangeError::Failed(closed(false))));
            }
            let slot = state.slots.claim(cx.waker());
            if state.places.len() <= slot as usize {
                state.places.resize(slot as usize + 1, RequestState::Queued);
            }
            state.places[slot as usize] = RequestState::Queued;
            state.left.push(Submission { slot, ..submission });
            self.slot = Some(slot);
            self.queue.news.store(true, Ordering::Release);
            return Poll::Pending;
        };
        let place = state.places[slot as usize];
        let mut answer = ANSWER.take();
        let taken = state.slots.take(slot, cx.waker(), &mut answer);
        // A waker that is dropped may drop a future, which comes back here.
        drop(guard);
        let result = match (taken, place) {
            (Taken::Pending(replaced), _) => {
                drop(replaced);
                Poll::Pending
            }
            (Taken::Outcome(outcome), place) => {
                self.slot = None;
                Poll::Ready(match (outcome, place) {
                    (Ok(()), _) => Ok(decode(&answer)),
                    (Err(_), RequestState::Refused(full)) => Err(ExchangeError::Full(full)),
                    (Err(failure), _) => Err(ExchangeError::Failed(failure)),
                })
            }
        };
        empty(&mut answer, KEEP_CAPACITY);
        ANSWER.set(answer);
        result
    }
}

impl Drop for HostExchange {
    fn drop(&mut self) {
        let Some(slot) = self.slot.take() else { return };
        let mut state = self.queue.state.lock();
        // The lane may name the slot until the driver has taken the request back.
        state.given_up.push(slot);
        self.queue.news.store(true, Ordering::Release);
    }
}

impl FutureQueue {
    pub(super) fn new(epoch: Instant) -> Arc<Self> {
        Arc::new(Self { epoch, news: AtomicBool::new(false), state: Mutex::default() })
    }

    pub(super) fn millis(&self, at: Instant) -> Millis {
        Millis(at.saturating_duration_since(self.epoch).as_millis() as u64)
    }

    pub(super) fn nanos(&self, at: Instant) -> u64 {
        at.saturating_duration_since(self.epoch).as_nanos() as u64
    }

    pub(super) fn deadline(&self, at: Option<Instant>) -> Millis {
        let Some(at) = at else { return Millis::NEVER };
        Millis(at.saturating_duration_since(self.epoch).as_nanos().div_ceil(1_000_000) as u64)
    }

    pub(super) fn has_news(&self) -> bool {
        self.news.load(Ordering::Relaxed)
    }

    /// Gives what was left here to the driver: `cancel` first, which takes a request back from the lane, then `submit`.
    pub(super) fn fetch<D, T>(
        &self,
        driver: &mut D,
        mut cancel: impl FnMut(&mut D, u16, Class, Ticket),
        mut submit: impl FnMut(&mut D, &OutgoingRequest, EntryOwner<T>) -> Result<Ticket, (Full, EntryOwner<T>)>,
    ) {
        if !self.news.swap(false, Ordering::Acquire) {
            return;
        }
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let mut dropped = Vec::new();
        for slot in state.given_up.drain(..) {
            match state.places[slot as usize] {
                RequestState::Lane(node, class, ticket) => cancel(driver, node, class, ticket),
                RequestState::Queued => state.left.retain(|submission| submission.slot != slot),
                RequestState::Refused(_) => {}
            }
            dropped.extend(state.slots.release(slot));
        }
        for Submission { slot, node, class, deadline, now, stamp, request } in state.left.drain(..) {
            let outgoing = OutgoingRequest { node, class, deadline, now, stamp, request };
            state.places[slot as usize] = match submit(driver, &outgoing, EntryOwner::Future(slot)) {
                Ok(ticket) => RequestState::Lane(node, class, ticket),
                Err((full, _)) => {
                    state.slots.failed(slot, &closed(false));
                    RequestState::Refused(full)
                }
            };
        }
        let refused = std::mem::take(&mut state.slots.ready);
        drop(guard);
        drop(dropped);
        refused.into_iter().for_each(std::task::Waker::wake);
    }

    /// Wakes the futures that got their outcomes.
    pub(super) fn wake(&self) {
        let ready = std::mem::take(&mut self.state.lock().slots.ready);
        for waker in ready {
            waker.wake();
        }
    }

    /// There is no lane any more: what is still with it has failed, and nothing is taken from here on.
    pub(super) fn close(&self) {
        {
            let mut guard = self.state.lock();
            let State { slots, places, left, closed: is_closed, .. } = &mut *guard;
            if std::mem::replace(is_closed, true) {
                return;
            }
            for submission in left.drain(..) {
                slots.failed(submission.slot, &closed(false));
            }
            for (slot, place) in places.iter().enumerate() {
                if matches!(place, RequestState::Lane(..)) && slots.is_pending(slot as u32) {
                    slots.failed(slot as u32, &closed(true));
                }
            }
        }
        self.wake();
    }
}

/// A request to be submitted.
pub(super) struct OutgoingRequest {
    pub(super) node: u16,
    pub(super) class: Class,
    pub(super) deadline: Millis,
    pub(super) now: Millis,
    pub(super) stamp: Stamp,
    pub(super) request: Vec<u8>,
}

const fn closed(sent: bool) -> Failure {
    Failure::new(FailureKind::Closed, sent)
}

/// The queue, as its driver holds it.
pub(super) struct DriverSide(pub(super) Arc<FutureQueue>);

impl Drop for DriverSide {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Passes each outcome to its owner: the loop, or a future.
pub(super) struct OutcomeRouter<'a, S> {
    sink: &'a mut S,
    queue: Arc<FutureQueue>,
    /// A future has got its outcome.
    woken: bool,
}

impl<'a, S> OutcomeRouter<'a, S> {
    pub(super) fn new(sink: &'a mut S, queue: &DriverSide) -> Self {
        Self { sink, queue: Arc::clone(&queue.0), woken: false }
    }
}

impl<S> Drop for OutcomeRouter<'_, S> {
    fn drop(&mut self) {
        if self.woken {
            self.queue.wake();
        }
    }
}

impl<T, S: Sink<T>> Sink<EntryOwner<T>> for OutcomeRouter<'_, S> {
    fn answer(&mut self, token: EntryOwner<T>, body: &[u8]) {
        match token {
            EntryOwner::Loop(token) => self.sink.answer(token, body),
            EntryOwner::Future(slot) => {
                self.queue.state.lock().slots.answer(slot, body);
                self.woken = true;
            }
        }
    }

    fn answer_owned(&mut self, token: EntryOwner<T>, body: Vec<u8>) {
        match token {
            EntryOwner::Loop(token) => self.sink.answer_owned(token, body),
            EntryOwner::Future(slot) => {
                self.queue.state.lock().slots.answer_owned(slot, body);
                self.woken = true;
            }
        }
    }

    fn part(&mut self, token: &mut EntryOwner<T>, body: &[u8], last: bool) {
        match token {
            EntryOwner::Loop(token) => self.sink.part(token, body, last),
            EntryOwner::Future(slot) => {
                self.queue.state.lock().slots.part(slot, body, last);
                self.woken |= last;
            }
        }
    }

    fn failed(&mut self, token: EntryOwner<T>, failure: &Failure) {
        match token {
            EntryOwner::Loop(token) => self.sink.failed(token, failure),
            EntryOwner::Future(slot) => {
                self.queue.state.lock().slots.failed(slot, failure);
                self.woken = true;
            }
        }
    }
}
