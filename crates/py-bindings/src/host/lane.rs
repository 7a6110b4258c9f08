//! The lane of one event loop: its sockets are watched by the loop, and all I/O happens on the loop's thread.
//!
//! One turn ([`Lane::turn`]) takes in what has come, wakes the tasks that waited for it, each in its own context, and
//! then writes all that those tasks have submitted, in one flush. Nothing is borrowed while tasks run.

use std::cell::{Cell, RefCell, RefMut};
use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use aerolane::Error;
use aerolane::client::{RawAttempt, RawClient, RawFailure};
use aerolane::driver::host::{HostDriver, WatchChange};
use aerolane::lane::{Class, Failure, Millis, Sink, Ticket};
use pyo3::exceptions::{PyKeyboardInterrupt, PyNotImplementedError, PyRuntimeError, PySystemExit};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit, ffi, intern};

use super::asyncio::{self, ContextApi};
use super::inbox::{Inbox, Posted};
use super::op::{OpRef, Owned, Status};
use super::running::{OnThread, Running};
use super::work::{Entry, Part, Posting, Token, Work};
use crate::core::ClientCore;
use crate::{errors, fork};

/// Tasks that one turn wakes before the loop's other callbacks get theirs.
const WAKES_PER_TURN: usize = 256;
/// Request buffers that are kept for later, and how large they may be.
const SPARE_BUFFERS: usize = 1024;
const SPARE_CAPACITY: usize = 4 * 1024;

/// A client's lane on one event loop. Internal.
#[pyclass(frozen, module = "aerolane._aerolane", name = "_Lane")]
pub(crate) struct Lane {
    event_loop: Py<PyAny>,
    core: Weak<ClientCore>,
    inbox: Arc<Inbox>,
    /// The loop watches sockets; otherwise all calls go over the control plane's runtime.
    direct: bool,
    local: ManuallyDrop<OnThread<Local>>,
    forks: u32,
}

/// What is touched on the loop's thread only.
struct Local {
    /// `None` where the loop cannot watch the client's sockets, and after the end.
    driver: RefCell<Option<HostDriver<Token>>>,
    /// Operations with an outcome, whose callers are to be woken.
    ready: RefCell<Vec<OpRef>>,
    failed: RefCell<Vec<(Token, RawFailure)>>,
    /// The clock, as of the beginning of the turn under way.
    now: Cell<Option<Instant>>,
    flush_is_due: Cell<bool>,
    /// Requests that have no outcome yet.
    outstanding: Cell<usize>,
    timer: RefCell<Option<(Py<PyAny>, Millis)>>,
    spare: RefCell<Vec<Vec<u8>>>,
    /// Operations whose result is posted, by number.
    tasks: RefCell<HashMap<u64, Token>>,
    next_task: Cell<u64>,
    ended: Cell<bool>,
}

impl Drop for Lane {
    fn drop(&mut self) {
        // SAFETY: dropped once, here.
        let local = unsafe { ManuallyDrop::take(&mut self.local) };
        if self.forks != fork::forks() {
            // In a forked child all of it is the parent's: locks may be held for ever.
            local.into_inner().forget_after_fork();
        }
    }
}

/// Takes the outcomes from the driver.
struct Collect<'a, 'py> {
    py: Python<'py>,
    local: &'a Local,
}

impl Sink<Token> for Collect<'_, '_> {
    fn answer(&mut self, token: Token, body: &[u8]) {
        self.local.outstanding.set(self.local.outstanding.get().saturating_sub(1));
        let op = token.op.get();
        let accept = |entry: &Entry| {
            let (attempt, _) = entry.attempt.as_ref()?;
            let call = &entry.call;
            Some(call.raw().accept(body, attempt.node(), |body| call.result(self.py, body)))
        };
        // Taken out: making the result can run finalizers, which may cancel this very operation.
        let work = op.work.take();
        let outcome = match &work {
            Work::Entry(entry) => accept(entry),
            Work::Many(many) => match many.parts.get(token.index as usize) {
                Some(Part::Entry(entry)) => accept(entry),
                _ => None,
            },
            _ => None,
        };
        if op.is_over() {
            return;
        }
        *op.work.borrow_mut() = work;
        match outcome {
            Some(Ok(result)) => self.local.finish(self.py, token, result),
            Some(Err(error)) => self.local.failed.borrow_mut().push((token, RawFailure::Answered(error))),
            None => {}
        }
    }

    fn part(&mut self, _token: &mut Token, _body: &[u8], _last: bool) {
        debug_assert!(false, "no batch is submitted here");
    }

    fn failed(&mut self, token: Token, failure: &Failure) {
        self.local.outstanding.set(self.local.outstanding.get().saturating_sub(1));
        self.local.failed.borrow_mut().push((token, RawFailure::Lost(failure.clone())));
    }
}

impl Local {
    /// Lets go of the sockets, and of nothing else.
    fn forget_after_fork(self) {
        let Self { driver, ready, failed, timer, spare, tasks, .. } = self;
        if let Some(driver) = driver.into_inner() {
            driver.forget_after_fork();
        }
        std::mem::forget((ready, failed, timer, spare, tasks));
    }

    /// The driver. Not to be had while it is at work: a finalizer that the garbage collector runs in the middle of a turn
    /// calls a client.
    fn driver(&self) -> Option<RefMut<'_, HostDriver<Token>>> {
        RefMut::filter_map(self.driver.try_borrow_mut().ok()?, Option::as_mut).ok()
    }

    /// Fails whatever waits for a posted result, with the error that `make` gives.
    fn fail_tasks(&self, py: Python<'_>, make: impl Fn() -> PyErr) {
        let tasks = std::mem::take(&mut *self.tasks.borrow_mut());
        for (_, token) in tasks {
            self.finish(py, token, Err(make()));
        }
    }

    /// A request has its result: so has its operation, if it was the last one.
    fn finish(&self, py: Python<'_>, token: Token, result: PyResult<Py<PyAny>>) {
        let op = token.op.get();
        let outcome = match op.work.take() {
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
                self.recycle(entry);
                result
            }
            Work::None | Work::Task(_) | Work::Later(..) => result,
        };
        match outcome {
            Ok(result) => op.resolve(result),
            Err(error) => token.op.reject(py, error),
        }
        self.ready.borrow_mut().push(token.op);
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

    fn expect(&self, token: Token) -> u64 {
        let id = self.next_task.get();
        self.next_task.set(id + 1);
        self.tasks.borrow_mut().insert(id, token);
        id
    }

    fn now(&self) -> Instant {
        self.now.get().unwrap_or_else(Instant::now)
    }
}

impl Lane {
    /// Makes the lane of the running loop.
    pub(super) fn open<'py>(
        py: Python<'py>,
        client: &Arc<ClientCore>,
        event_loop: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Self>> {
        let inbox = Inbox::new().map_err(|e| PyRuntimeError::new_err(format!("cannot open a pair of sockets: {e}")))?;
        let waker = Arc::clone(&inbox);
        // Over TLS, what came and what can be read are two things.
        let direct = client.raw.watches_plainly();
        let driver = direct.then(|| client.raw.host_driver(move || waker.wake()));
        let local = Local {
            driver: RefCell::new(driver),
            ready: RefCell::default(),
            failed: RefCell::default(),
            now: Cell::new(None),
            flush_is_due: Cell::new(false),
            outstanding: Cell::new(0),
            timer: RefCell::default(),
            spare: RefCell::default(),
            tasks: RefCell::default(),
            next_task: Cell::new(0),
            ended: Cell::new(false),
        };
        let lane = Self {
            event_loop: event_loop.clone().unbind(),
            core: Arc::downgrade(client),
            inbox: Arc::clone(&inbox),
            direct,
            local: ManuallyDrop::new(OnThread::new(local)),
            forks: fork::forks(),
        };
        let lane = Bound::new(py, lane)?;
        let watch = Bound::new(py, Watch { lane: lane.clone().unbind() })?;
        event_loop.call_method1(intern!(py, "add_reader"), (inbox.as_raw_fd(), watch)).map_err(|error| {
            if error.is_instance_of::<PyNotImplementedError>(py) {
                let text = format!(
                    "an aerolane client needs an event loop that watches sockets (loop.add_reader), and {event_loop} does \
                     not: use asyncio's selector loop or uvloop, or the blocking client in threads"
                );
                PyRuntimeError::new_err(text)
            } else {
                error
            }
        })?;
        Ok(lane)
    }

    pub(super) fn event_loop(&self) -> &Py<PyAny> {
        &self.event_loop
    }

    /// Whether it is a lane of this client.
    pub(super) fn is_of(&self, client: &Arc<ClientCore>) -> bool {
        std::ptr::eq(self.core.as_ptr(), Arc::as_ptr(client))
    }

    pub(super) fn inbox(&self) -> &Arc<Inbox> {
        &self.inbox
    }

    /// The loop is closed, or the lane is.
    pub(super) fn has_ended(&self, py: Python<'_>) -> bool {
        let closed = self.event_loop.bind(py).call_method0(intern!(py, "is_closed"));
        closed.and_then(|closed| closed.is_truthy()).unwrap_or(true)
    }

    /// What is touched on the loop's thread only: called by the loop, and where it runs.
    fn local(&self) -> PyResult<&Local> {
        if self.forks != fork::forks() {
            return Err(PyRuntimeError::new_err("the lane belongs to the parent process"));
        }
        // SAFETY: a loop runs on one thread at a time, and that is this one. It may have run on another one before; what
        // is left there of operations that were under way does not get past `OnThread::get`.
        Ok(unsafe { self.local.adopt() })
    }

    /// A buffer for a request.
    pub(super) fn buffer(&self) -> Vec<u8> {
        self.local.get().and_then(|local| local.spare.borrow_mut().pop()).unwrap_or_default()
    }

    /// Puts the requests of an operation on the lane.
    pub(super) fn submit(slf: &Bound<'_, Self>, op: &OpRef) -> PyResult<()> {
        let py = slf.py();
        let local = slf.get().local()?;
        if local.ended.get() {
            op.reject(py, errors::to_py(py, &Error::client_closed()));
            return Ok(());
        }
        let idle = local.outstanding.get() == 0;
        let mut work = op.get().work.borrow_mut();
        match &mut *work {
            Work::Entry(entry) => {
                let token = Token { op: op.clone_ref(py), index: 0 };
                if let Some((token, failure)) = slf.get().send(local, entry, token) {
                    drop(work);
                    Self::fail(slf, token, failure);
                }
            }
            Work::Many(many) => {
                let mut unsent = Vec::new();
                for (index, part) in many.parts.iter_mut().enumerate() {
                    let Part::Entry(entry) = part else { continue };
                    let token = Token { op: op.clone_ref(py), index: index as u32 };
                    unsent.extend(slf.get().send(local, entry, token));
                }
                drop(work);
                for (token, failure) in unsent {
                    Self::fail(slf, token, failure);
                }
            }
            Work::None | Work::Task(_) | Work::Later(..) => return Ok(()),
        }
        if local.now.get().is_some() || local.flush_is_due.get() {
            // The turn, or the flush that is due, takes it along.
            return Ok(());
        }
        if idle && local.ready.borrow().is_empty() {
            return Self::flush(slf);
        }
        // What is over before it was sent is let go of in that turn, too.
        local.flush_is_due.set(true);
        slf.get().soon(slf, intern!(py, "_flush"))
    }

    /// Puts one request on the lane. If it does not take it: why, or `None` when there is no way over the lane at all.
    fn send(&self, local: &Local, entry: &mut Entry, token: Token) -> Option<(Token, Option<RawFailure>)> {
        let now = local.now();
        let (policy, call) = (entry.call.policy.base(), entry.call.raw());
        let attempt = if self.direct { entry.core.raw.begin(policy, call, now) } else { None };
        let (Some(attempt), Some(mut driver)) = (attempt, local.driver()) else {
            return Some((token, None));
        };
        let deadline = driver.deadline(attempt.deadline());
        let at = driver.millis(now);
        match driver.submit(attempt.node_id(), Class::Single, &entry.request, deadline, at, token) {
            Ok(ticket) => {
                entry.attempt = Some((attempt, ticket));
                local.outstanding.set(local.outstanding.get() + 1);
                None
            }
            Err((full, token)) => {
                let label = attempt.node().label();
                let error = Error::pool_exhausted(full.limit, full.size, full.waiting, label);
                entry.attempt = None;
                Some((token, Some(RawFailure::Refused(error))))
            }
        }
    }

    /// A request was not taken, or has failed: its error, or another attempt.
    fn fail(slf: &Bound<'_, Self>, token: Token, failure: Option<RawFailure>) {
        let py = slf.py();
        let Ok(local) = slf.get().local() else { return };
        let of_entry = |entry: &Entry| match (&failure, &entry.attempt) {
            (Some(failure), Some((attempt, _))) => {
                let (policy, call) = (entry.call.policy.base(), entry.call.raw());
                entry.core.raw.finish(policy, call, attempt, failure.clone(), local.now())
            }
            (Some(RawFailure::Refused(error)), None) => Some(error.clone()),
            _ => None,
        };
        let error = match &*token.op.get().work.borrow() {
            Work::Entry(entry) => of_entry(entry),
            Work::Many(many) => match many.parts.get(token.index as usize) {
                Some(Part::Entry(entry)) => of_entry(entry),
                _ => return,
            },
            Work::None | Work::Task(_) | Work::Later(..) => return,
        };
        match error {
            Some(error) => local.finish(py, token, Err(errors::to_py(py, &error))),
            None => Self::resume(slf, local, token, failure),
        }
    }

    /// Hands a call to the control plane's runtime: from its start, or from behind its first attempt.
    fn resume(slf: &Bound<'_, Self>, local: &Local, token: Token, failure: Option<RawFailure>) {
        let lane = slf.get();
        let op = token.op.clone_ref(slf.py());
        let index = token.index as usize;
        let mut work = op.get().work.borrow_mut();
        let entry = match &mut *work {
            Work::Many(many) => match std::mem::replace(&mut many.parts[index], Part::Over(slf.py().None())) {
                Part::Entry(entry) => entry,
                other => {
                    many.parts[index] = other;
                    return;
                }
            },
            other => match std::mem::take(other) {
                Work::Entry(entry) => entry,
                taken => {
                    *other = taken;
                    return;
                }
            },
        };
        let id = local.expect(token);
        let Entry { core, call, request, attempt } = entry;
        let raw = RawClient::clone(&core.raw);
        let policy = call.policy.clone();
        let inbox = Arc::clone(&lane.inbox);
        let begun = attempt.map(|(attempt, _)| attempt).zip(failure);
        let about = call.owned();
        let abort = core.raw.spawn(async move {
            let outcome = raw.resume(policy.base(), about.raw(), &request, begun).await;
            inbox.post(id, Posted::Answer(outcome));
        });
        let posting = Posting { id, abort: Some(abort), call: Some((core, call)) };
        match &mut *work {
            Work::Many(many) => many.parts[index] = Part::Task(posting),
            other => *other = Work::Task(posting),
        }
    }

    /// A number under which the result of an operation is posted.
    pub(super) fn expect(&self, op: OpRef) -> PyResult<u64> {
        Ok(self.local()?.expect(Token { op, index: 0 }))
    }

    /// Nobody waits for what is posted under this number.
    pub(super) fn forget(&self, id: u64) {
        if let Some(local) = self.local.get() {
            let token = local.tasks.borrow_mut().remove(&id);
            drop(token);
        }
    }

    /// The caller of a request has given up.
    pub(super) fn abandon(&self, attempt: &RawAttempt, ticket: Ticket) {
        let Some(local) = self.local.get() else { return };
        let token = local.driver().and_then(|mut driver| {
            let now = driver.millis(local.now());
            driver.cancel(attempt.node_id(), Class::Single, ticket, now)
        });
        if token.is_some() {
            local.outstanding.set(local.outstanding.get().saturating_sub(1));
        }
    }

    /// Takes in what `work` brings, wakes whom it concerns, writes what they submit.
    fn turn(
        slf: &Bound<'_, Self>,
        work: impl FnOnce(&mut HostDriver<Token>, Millis, &mut Collect<'_, '_>),
    ) -> PyResult<()> {
        let py = slf.py();
        let local = slf.get().local()?;
        let now = Instant::now();
        let outer = local.now.replace(Some(now));
        let running = Running::enter(slf);
        if let Some(mut driver) = local.driver() {
            let at = driver.millis(now);
            work(&mut driver, at, &mut Collect { py, local });
        }
        Self::settle(slf);
        let woken = Self::wake(slf, WAKES_PER_TURN);
        drop(running);
        local.now.set(outer);
        let flushed = Self::flush(slf);
        if !local.ready.borrow().is_empty() {
            slf.get().soon(slf, intern!(py, "_more"))?;
        }
        woken.and(flushed)
    }

    fn soon(&self, slf: &Bound<'_, Self>, name: &Bound<'_, pyo3::types::PyString>) -> PyResult<()> {
        let event_loop = self.event_loop.bind(slf.py());
        event_loop.call_method1(intern!(slf.py(), "call_soon"), (slf.getattr(name)?,)).map(drop)
    }

    /// Writes all that waits, and follows what the driver wants the loop to watch.
    fn flush(slf: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        let local = slf.get().local()?;
        local.flush_is_due.set(false);
        if let Some(mut driver) = local.driver() {
            driver.flush(&mut Collect { py, local });
        }
        if !local.failed.borrow().is_empty() {
            Self::settle(slf);
            slf.get().soon(slf, intern!(py, "_more"))?;
        }
        Self::follow(slf)
    }

    /// Decides what becomes of failed attempts.
    fn settle(slf: &Bound<'_, Self>) {
        let Ok(local) = slf.get().local() else { return };
        let failed = std::mem::take(&mut *local.failed.borrow_mut());
        for (token, failure) in failed {
            Self::fail(slf, token, Some(failure));
        }
    }

    /// Wakes those whose operations have an outcome, at most so many.
    fn wake(slf: &Bound<'_, Self>, most: usize) -> PyResult<()> {
        let py = slf.py();
        let lane = slf.get();
        let local = lane.local()?;
        let mut ready = std::mem::take(&mut *local.ready.borrow_mut());
        let count = ready.len().min(most);
        let api = ContextApi::find();
        let mut raised = None;
        for op in ready.drain(..count) {
            if raised.is_some() {
                lane.wake_later(py, &op);
                continue;
            }
            let Some((callback, context)) = op.take_callbacks() else { continue };
            let context = context.bind(py);
            let call = || {
                // SAFETY: callable and argument are alive; the list ends with null.
                unsafe {
                    let end: *mut ffi::PyObject = std::ptr::null_mut();
                    let result = ffi::PyObject_CallFunctionObjArgs(callback.raw(), op.as_any().as_ptr(), end);
                    Bound::from_owned_ptr_or_err(py, result).map(drop)
                }
            };
            let outcome = match api.and_then(|api| api.run(py, &context, call)) {
                Some(outcome) => outcome,
                None => lane.call_soon(py, &callback, op.as_any().bind(py), &context),
            };
            if let Err(error) = outcome {
                if error.is_instance_of::<PySystemExit>(py) || error.is_instance_of::<PyKeyboardInterrupt>(py) {
                    raised = Some(error);
                } else {
                    asyncio::report(py, lane.event_loop.bind(py), &error);
                }
            }
            for (callback, context) in op.get().take_more() {
                if let Err(error) = lane.call_soon(py, &callback, op.as_any().bind(py), &context.bind(py)) {
                    asyncio::report(py, lane.event_loop.bind(py), &error);
                }
            }
        }
        // What was woken may have made others ready: they stand behind those that had to wait.
        let mut now_ready = local.ready.borrow_mut();
        ready.append(&mut now_ready);
        *now_ready = ready;
        raised.map_or(Ok(()), Err)
    }

    /// Wakes one operation's callers in a turn of the loop of their own.
    pub(super) fn wake_later(&self, py: Python<'_>, op: &OpRef) {
        let callbacks = op.take_callbacks().into_iter().chain(op.get().take_more());
        for (callback, context) in callbacks {
            // The loop is closed: nobody can be woken any more.
            let _ = self.call_soon(py, &callback, op.as_any().bind(py), &context.bind(py));
        }
    }

    /// `loop.call_soon(callback, argument, context=context)`.
    pub(super) fn call_soon(
        &self,
        py: Python<'_>,
        callback: &Owned,
        argument: &Bound<'_, PyAny>,
        context: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        asyncio::call_soon(py, self.event_loop.bind(py), &callback.bind(py), argument, context)
    }

    /// Brings what the loop watches, and its timer, in line with what the driver wants.
    fn follow(slf: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        let lane = slf.get();
        let local = lane.local()?;
        let event_loop = lane.event_loop.bind(py);
        loop {
            let change = local.driver().and_then(|mut driver| driver.watch_change());
            match change {
                None => break,
                Some(WatchChange::Add(fd)) => {
                    let readable = slf.getattr(intern!(py, "_readable"))?;
                    event_loop.call_method1(intern!(py, "add_reader"), (fd, readable, fd))?;
                }
                Some(WatchChange::Writable(fd, true)) => {
                    let writable = slf.getattr(intern!(py, "_writable"))?;
                    event_loop.call_method1(intern!(py, "add_writer"), (fd, writable, fd))?;
                }
                Some(WatchChange::Writable(fd, false)) => {
                    event_loop.call_method1(intern!(py, "remove_writer"), (fd,))?;
                }
                Some(WatchChange::Remove(fd)) => {
                    event_loop.call_method1(intern!(py, "remove_reader"), (fd,))?;
                    event_loop.call_method1(intern!(py, "remove_writer"), (fd,))?;
                }
            }
        }
        Self::arm(slf, local)
    }

    /// Sets the loop's timer to the driver's next tick. A timer that fires too early is left as it is.
    fn arm(slf: &Bound<'_, Self>, local: &Local) -> PyResult<()> {
        let py = slf.py();
        let due = local.driver().and_then(|driver| Some((driver.next_tick()?, driver.millis(local.now()))));
        let Some((next, now)) = due else { return Ok(()) };
        if local.timer.borrow().as_ref().is_some_and(|(_, due)| *due <= next) {
            return Ok(());
        }
        let event_loop = slf.get().event_loop.bind(py);
        let delay = Duration::from_millis(next.since(now).max(1)).as_secs_f64();
        let tick = slf.getattr(intern!(py, "_tick"))?;
        let handle = event_loop.call_method1(intern!(py, "call_later"), (delay, tick))?;
        let previous = local.timer.replace(Some((handle.unbind(), next)));
        if let Some((previous, _)) = previous {
            previous.call_method0(py, intern!(py, "cancel"))?;
        }
        Ok(())
    }

    /// Gives posted results to their operations.
    fn take_posted(slf: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        let local = slf.get().local()?;
        for (id, posted) in slf.get().inbox.take() {
            let Some(token) = local.tasks.borrow_mut().remove(&id) else { continue };
            if token.op.get().status() != Status::Pending {
                continue;
            }
            let posting = match &mut *token.op.get().work.borrow_mut() {
                Work::Many(many) => {
                    match std::mem::replace(&mut many.parts[token.index as usize], Part::Over(py.None())) {
                        Part::Task(posting) => Some(posting),
                        _ => None,
                    }
                }
                Work::Task(posting) => Some(Posting { id, abort: None, call: posting.call.take() }),
                _ => None,
            };
            let result = match (posted, posting) {
                (Posted::Made(make), _) => make(py),
                (Posted::Answer(Ok(body)), Some(Posting { call: Some((_core, call)), .. })) => call.result(py, &body),
                (Posted::Answer(Err(error)), _) => Err(errors::to_py(py, &error)),
                (Posted::Answer(Ok(_)), _) => continue,
            };
            local.finish(py, token, result);
        }
        Ok(())
    }

    /// Another thread has something for the lane: a new connection, a result, the end of the client.
    fn woken(slf: &Bound<'_, Self>) -> PyResult<()> {
        let local = slf.get().local()?;
        slf.get().inbox.drain();
        Self::take_posted(slf)?;
        let turned = Self::turn(slf, |driver, now, sink| driver.tick(now, sink));
        if slf.get().core.upgrade().is_none_or(|core| core.raw.cluster().is_closed()) {
            Self::end(slf, local)?;
        }
        turned
    }

    /// The client is closed: all fails, and the loop is to forget the lane.
    fn end(slf: &Bound<'_, Self>, local: &Local) -> PyResult<()> {
        if local.ended.replace(true) {
            return Ok(());
        }
        let py = slf.py();
        if let Some(mut driver) = local.driver() {
            driver.close(&mut Collect { py, local });
        }
        Self::settle(slf);
        // What runs elsewhere for them may never come to its end.
        local.fail_tasks(py, || errors::to_py(py, &Error::client_closed()));
        let woken = Self::wake(slf, usize::MAX);
        Self::follow(slf)?;
        if let Some((timer, _)) = local.timer.take() {
            timer.call_method0(py, intern!(py, "cancel"))?;
        }
        // The last call after the changes were taken: its sockets are closed.
        drop(local.driver.take());
        let event_loop = slf.get().event_loop.bind(py);
        event_loop.call_method1(intern!(py, "remove_reader"), (slf.get().inbox.as_raw_fd(),))?;
        woken
    }

    /// The loop does not watch the lane any more: it is closed, or gone.
    fn unwatched(slf: &Bound<'_, Self>) {
        let (py, lane) = (slf.py(), slf.get());
        if lane.forks != fork::forks() {
            return;
        }
        let listed = lane.core.upgrade().and_then(|core| core.lanes.remove(slf.as_unbound()));
        drop(listed);
        // On another thread nothing can be done here; the sockets are closed when the lane is freed.
        let Some(local) = lane.local.get() else { return };
        if local.ended.replace(true) {
            return;
        }
        // Nobody can be woken any more. What is in flight would keep itself and the lane alive: it ends here.
        let closed = || PyRuntimeError::new_err("the event loop was closed before the operation had ended");
        if let Some(mut driver) = local.driver() {
            driver.close(&mut Collect { py, local });
        }
        let failed = std::mem::take(&mut *local.failed.borrow_mut());
        for (token, _) in failed {
            local.finish(py, token, Err(closed()));
        }
        local.fail_tasks(py, closed);
        for op in std::mem::take(&mut *local.ready.borrow_mut()) {
            drop((op.take_callbacks(), op.get().take_more()));
        }
        drop(local.timer.take());
        drop(local.driver.try_borrow_mut().ok().and_then(|mut driver| driver.take()));
    }
}

/// What the loop calls when the inbox has something. Freed by the loop when it is closed, which nothing else tells of.
#[pyclass(frozen, module = "aerolane._aerolane", name = "_Watch")]
pub(crate) struct Watch {
    lane: Py<Lane>,
}

#[pymethods]
impl Watch {
    fn __call__(&self, py: Python<'_>) -> PyResult<()> {
        Lane::woken(self.lane.bind(py))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.lane)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // SAFETY: freed by the interpreter, on an attached thread; at its own end, too, when `attach` would refuse.
        unsafe { Python::attach_unchecked(|py| Lane::unwatched(self.lane.bind(py))) }
    }
}

#[pymethods]
impl Lane {
    /// A socket has something to read.
    fn _readable(slf: &Bound<'_, Self>, fd: i32) -> PyResult<()> {
        Self::turn(slf, |driver, now, sink| driver.readable(fd, now, sink))
    }

    /// A socket takes bytes again.
    fn _writable(slf: &Bound<'_, Self>, fd: i32) -> PyResult<()> {
        Self::turn(slf, |driver, _, sink| driver.writable(fd, sink))
    }

    /// The end of a turn of the loop in which tasks have submitted.
    fn _flush(slf: &Bound<'_, Self>) -> PyResult<()> {
        if slf.get().local()?.ready.borrow().is_empty() { Self::flush(slf) } else { Self::turn(slf, |_, _, _| {}) }
    }

    /// More are to be woken than one turn may.
    fn _more(slf: &Bound<'_, Self>) -> PyResult<()> {
        Self::turn(slf, |_, _, _| {})
    }

    /// The timer.
    fn _tick(slf: &Bound<'_, Self>) -> PyResult<()> {
        slf.get().local()?.timer.replace(None);
        Self::turn(slf, |driver, now, sink| driver.tick(now, sink))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.event_loop)
    }
}
