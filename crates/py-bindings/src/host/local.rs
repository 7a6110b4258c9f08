//! What a lane's loop touches, on its own thread.

use std::borrow::Cow;
use std::cell::{Cell, RefCell, RefMut};
use std::collections::{HashMap, VecDeque};
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use aerolane::raw::RawFailure;
use aerolane::raw::driver::host::{HostDriver, HostHandle};
use aerolane::raw::lane::{Failure, Millis, Sink};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use super::client_ref::LaneClientRef;
use super::op::OpRef;
use super::turn::Watch;
use super::work::{Entry, Part, Token, Work};

/// Request buffers that are kept for later, and how large they may be.
const SPARE_BUFFERS: usize = 1024;
const SPARE_CAPACITY: usize = 4 * 1024;

/// A request that has waited so long to be written leaves with the next submission: the turn of the loop takes long.
const OVERDUE: Duration = Duration::from_micros(200);

/// Tasks that are woken before the loop's other callbacks get their turn, however many connections have answers: with 256 for
/// each connection, the loop's timers came late by up to 0.9 s (decision 0006).
pub(super) const WAKES_PER_TURN: usize = 256;

/// A callback of the lane's that a loop keeps, and calls each time in the same context.
#[derive(Default)]
pub(super) enum Entered {
    #[default]
    Nothing,
    Reader(RawFd),
    Writer(RawFd),
    Inbox(Py<Watch>),
}

/// What is touched on the loop's thread only.
pub(super) struct Local {
    /// `None` on a lane without a client, and after the end.
    pub(super) driver: RefCell<Option<HostDriver<Token>>>,
    /// The way of futures onto the driver's lane; `None` on a lane without a client.
    handle: Option<HostHandle>,
    /// Operations with an outcome, whose callers are to be woken.
    pub(super) ready: RefCell<VecDeque<OpRef>>,
    /// How many of them may be woken before the loop's other callbacks have had their turn.
    pub(super) wakes_left: Cell<usize>,
    /// The loop is going to call the lane for the others.
    pub(super) more_is_due: Cell<bool>,
    /// Tasks run the loop from within, or may: they are never run in a callback of the lane's.
    pub(super) nests: Cell<bool>,
    /// What the loop has called, while it may wake tasks.
    pub(super) entered: Cell<Entered>,
    pub(super) failed: RefCell<Vec<(Token, RawFailure)>>,
    /// The clock, as of the beginning of the turn under way.
    pub(super) now: Cell<Option<Instant>>,
    pub(super) flush_is_due: Cell<bool>,
    /// The clock as of the latest submission.
    submitted_at: Cell<Option<Instant>>,
    /// When the oldest request that waits to be written has waited for too long.
    pub(super) overdue_at: Cell<Option<Instant>>,
    /// Requests that have no outcome yet.
    pub(super) outstanding: Cell<usize>,
    pub(super) timer: RefCell<Option<(Py<PyAny>, Millis)>>,
    pub(super) spare: RefCell<Vec<Vec<u8>>>,
    pub(super) hold: LaneClientRef,
    /// Whose futures are polled here, by number.
    pub(super) tasks: RefCell<HashMap<u64, Token>>,
    pub(super) next_task: Cell<u64>,
    pub(super) ended: Cell<bool>,
}

/// Takes the outcomes from the driver.
pub(super) struct Collect<'a, 'py> {
    pub(super) py: Python<'py>,
    pub(super) local: &'a Local,
}

impl Sink<Token> for Collect<'_, '_> {
    fn answer(&mut self, token: Token, body: &[u8]) {
        self.answered(token, Cow::Borrowed(body));
    }

    fn answer_owned(&mut self, token: Token, body: Vec<u8>) {
        self.answered(token, Cow::Owned(body));
    }

    fn part(&mut self, _token: &mut Token, _body: &[u8], _last: bool) {
        debug_assert!(false, "batches are submitted by futures");
    }

    fn failed(&mut self, token: Token, failure: &Failure) {
        self.local.outstanding.set(self.local.outstanding.get().saturating_sub(1));
        self.local.failed.borrow_mut().push((token, RawFailure::Lost(failure.clone())));
    }
}

impl Collect<'_, '_> {
    #[inline]
    fn answered(&mut self, token: Token, body: Cow<'_, [u8]>) {
        self.local.outstanding.set(self.local.outstanding.get().saturating_sub(1));
        let op = token.op.get();
        let accept = |entry: &Entry| {
            let (attempt, _) = entry.attempt.as_ref()?;
            let call = &entry.call;
            Some(entry.core.raw.accept(call.raw(), attempt, body, |body| call.result(self.py, body)))
        };
        // Taken out: making the result can run finalizers, which may cancel this very operation.
        let work = op.work.take();
        let outcome = work.entry(token.index).and_then(accept);
        if op.is_over() {
            return;
        }
        match outcome {
            Some(Ok(result)) => self.local.finish_work(self.py, token, work, result),
            Some(Err(error)) => {
                *op.work.borrow_mut() = work;
                self.local.failed.borrow_mut().push((token, RawFailure::Answered(error)));
            }
            None => *op.work.borrow_mut() = work,
        }
    }
}

impl Local {
    pub(super) fn new(driver: Option<HostDriver<Token>>) -> Self {
        Self {
            handle: driver.as_ref().map(HostDriver::handle),
            driver: RefCell::new(driver),
            ready: RefCell::default(),
            wakes_left: Cell::new(WAKES_PER_TURN),
            more_is_due: Cell::new(false),
            nests: Cell::new(false),
            entered: Cell::default(),
            failed: RefCell::default(),
            now: Cell::new(None),
            flush_is_due: Cell::new(false),
            submitted_at: Cell::new(None),
            overdue_at: Cell::new(None),
            outstanding: Cell::new(0),
            timer: RefCell::default(),
            spare: RefCell::default(),
            hold: LaneClientRef::default(),
            tasks: RefCell::default(),
            next_task: Cell::new(0),
            ended: Cell::new(false),
        }
    }

    /// Lets go of the sockets, and of nothing else.
    pub(super) fn forget_after_fork(self) {
        let Self { driver, ready, failed, timer, spare, hold, tasks, entered, .. } = self;
        if let Some(driver) = driver.into_inner() {
            driver.forget_after_fork();
        }
        std::mem::forget((ready, failed, timer, spare, hold, tasks, entered));
    }

    /// What the garbage collector is to know of.
    ///
    /// # Safety
    /// No thread has the timer in its hands.
    pub(super) unsafe fn visit_timer(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        // SAFETY: as the caller says.
        match unsafe { &*self.timer.as_ptr() } {
            Some((timer, _)) => visit.call(timer),
            None => Ok(()),
        }
    }

    /// The driver. Not to be had while it is at work: a finalizer that the garbage collector runs in the middle of a turn
    /// calls a client.
    pub(super) fn driver(&self) -> Option<RefMut<'_, HostDriver<Token>>> {
        RefMut::filter_map(self.driver.try_borrow_mut().ok()?, Option::as_mut).ok()
    }

    /// The way of futures onto the driver's lane.
    pub(super) fn handle(&self) -> PyResult<HostHandle> {
        self.handle.clone().ok_or_else(|| PyRuntimeError::new_err("the lane has no client"))
    }

    /// Fails what has a future, with the error that `make` gives.
    pub(super) fn fail_tasks(&self, py: Python<'_>, make: impl Fn() -> PyErr) {
        let tasks = std::mem::take(&mut *self.tasks.borrow_mut());
        for (_, token) in tasks {
            self.finish(py, token, Err(make()));
        }
    }

    /// Fails all that is left, when nobody can be woken any more.
    pub(super) fn drop_all(&self, py: Python<'_>, make: impl Fn() -> PyErr) {
        let failed = std::mem::take(&mut *self.failed.borrow_mut());
        for (token, _) in failed {
            self.finish(py, token, Err(make()));
        }
        self.fail_tasks(py, make);
        for op in std::mem::take(&mut *self.ready.borrow_mut()) {
            drop((op.take_callbacks(), op.get().take_more()));
        }
    }

    /// A request has its result: so has its operation, if it was the last one.
    pub(super) fn finish(&self, py: Python<'_>, token: Token, result: PyResult<Py<PyAny>>) {
        let work = token.op.get().work.take();
        self.finish_work(py, token, work, result);
    }

    /// [`finish`](Self::finish), with what was taken out of the operation.
    #[inline]
    fn finish_work(&self, py: Python<'_>, token: Token, work: Work, result: PyResult<Py<PyAny>>) {
        let op = token.op.get();
        let mut untold = false;
        let outcome = match work {
            Work::Many(mut many) => {
                let index = token.index as usize;
                let part = std::mem::replace(&mut many.parts[index], Part::Over(py.None()));
                if let Part::Entry(entry) = part {
                    self.recycle(entry);
                }
                let result = result.unwrap_or_else(|error| error.into_value(py).into_any());
                let Some(results) = many.finish(py, index, result) else {
                    *op.work.borrow_mut() = Work::Many(many);
                    return;
                };
                results
            }
            Work::Entry(entry) => {
                untold = entry.call.outcome.is_some();
                self.recycle(entry);
                result
            }
            Work::None | Work::Task(_) | Work::Later(..) | Work::Cancelled(_) => result,
        };
        match outcome {
            Ok(result) if untold => token.op.resolve_untold(result),
            Ok(result) => token.op.resolve(result),
            Err(error) => token.op.reject(py, error),
        }
        self.ready.borrow_mut().push_back(token.op);
    }

    /// Keeps the request's buffer for another one.
    fn recycle(&self, entry: Entry) {
        let mut request = entry.request;
        if request.capacity() <= SPARE_CAPACITY {
            let mut spare = self.spare.borrow_mut();
            if spare.len() < SPARE_BUFFERS {
                request.clear();
                spare.push(request);
            }
        }
    }

    pub(super) fn expect(&self, token: Token) -> u64 {
        let id = self.next_task.get();
        self.next_task.set(id + 1);
        self.tasks.borrow_mut().insert(id, token);
        id
    }

    /// A future is another operation's from here on.
    pub(super) fn expect_as(&self, id: u64, token: Token) {
        let before = self.tasks.borrow_mut().insert(id, token);
        drop(before);
    }

    pub(super) fn forget(&self, id: u64) {
        let token = self.tasks.borrow_mut().remove(&id);
        drop(token);
    }

    /// The loop has called the lane. Within a turn it is the outer call that counts.
    pub(super) fn enter(&self, entered: Entered) {
        if self.now.get().is_none() {
            self.entered.set(entered);
        }
    }

    pub(super) fn now(&self) -> Instant {
        self.now.get().unwrap_or_else(Instant::now)
    }

    /// The clock, read anew: the tasks that a turn wakes may work for long.
    pub(super) fn moment(&self) -> Instant {
        let now = Instant::now();
        if self.now.get().is_some() {
            self.now.set(Some(now));
        }
        self.submitted_at.set(Some(now));
        now
    }

    /// The request submitted last waits to be written. Whether the first of those that do has waited for too long.
    pub(super) fn wait_for_write(&self) -> bool {
        match (self.overdue_at.get(), self.submitted_at.get()) {
            (Some(at), Some(now)) => now > at,
            (None, _) => {
                self.wait_anew();
                false
            }
            (Some(_), None) => false,
        }
    }

    /// The request submitted last is the first that waits to be written.
    pub(super) fn wait_anew(&self) {
        self.overdue_at.set(self.submitted_at.get().map(|now| now + OVERDUE));
    }
}
