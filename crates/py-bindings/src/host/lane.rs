//! The lane of one event loop: its sockets are watched by the loop, and all I/O happens on the loop's thread.
//!
//! Here operations are put on the lane, and taken up again after a failed attempt; [`turn`](super::turn) is what the loop
//! calls.

use std::mem::ManuallyDrop;
use std::sync::{Arc, Weak};
use std::task::Poll;

use aerolane::Error;
use aerolane::raw::lane::{Class, Ticket};
use aerolane::raw::{RawAttempt, RawFailure};
use pyo3::exceptions::{PyNotImplementedError, PyRuntimeError};
use pyo3::intern;
use pyo3::prelude::*;

use super::asyncio;
use super::client_ref::ClientRef;
use super::guarded;
use super::inbox::Inbox;
use super::local::Local;
use super::op::OpRef;
use super::origin;
use super::running::OnThread;
use super::task::{AfterPart, Given, MakeResult, OnCancel, Task, TaskFuture, Tell};
use super::turn::Watch;
use super::work::{Entry, Part, Token, Work};
use crate::core::ClientCore;
use crate::{errors, fork};

/// A client's lane on one event loop. Internal.
#[pyclass(frozen, weakref, module = "aerolane._aerolane", name = "_Lane")]
pub(crate) struct Lane {
    pub(super) event_loop: Py<PyAny>,
    pub(super) core: Weak<ClientCore>,
    pub(super) inbox: Arc<Inbox>,
    pub(super) local: ManuallyDrop<OnThread<Local>>,
    pub(super) forks: u32,
    /// Operations remember where they were called.
    pub(super) notes_origins: bool,
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

impl Lane {
    /// Makes the lane of the running loop.
    pub(super) fn open<'py>(
        py: Python<'py>,
        client: &Arc<ClientCore>,
        event_loop: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Self>> {
        let inbox = new_inbox()?;
        let waker = Arc::clone(&inbox);
        let driver = client.raw.host_driver(move || waker.wake());
        Self::watched(py, event_loop, Arc::downgrade(client), inbox, Local::new(Some(driver)))
    }

    /// A lane that has only its loop.
    pub(super) fn without_client<'py>(py: Python<'py>, event_loop: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        Self::watched(py, event_loop, Weak::new(), new_inbox()?, Local::new(None))
    }

    fn watched<'py>(
        py: Python<'py>,
        event_loop: &Bound<'py, PyAny>,
        core: Weak<ClientCore>,
        inbox: Arc<Inbox>,
        local: Local,
    ) -> PyResult<Bound<'py, Self>> {
        let lane = Self {
            event_loop: event_loop.clone().unbind(),
            core,
            inbox: Arc::clone(&inbox),
            local: ManuallyDrop::new(OnThread::new(local)),
            forks: fork::forks(),
            notes_origins: origin::wanted(py),
        };
        lane.local()?.nests.set(asyncio::may_nest(event_loop));
        let lane = Bound::new(py, lane)?;
        let watch = Bound::new(py, Watch::new(&lane))?;
        asyncio::watch(event_loop, intern!(py, "add_reader"), inbox.as_raw_fd(), &watch, None).map_err(|error| {
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

    /// The loop is closed, or the lane is.
    pub(super) fn has_ended(&self, py: Python<'_>) -> bool {
        let closed = guarded::call_method(self.event_loop.bind(py), intern!(py, "is_closed"), (), None);
        closed.and_then(|closed| closed.is_truthy()).unwrap_or(true)
    }

    /// What is touched on the loop's thread only: called by the loop, and where it runs.
    pub(super) fn local(&self) -> PyResult<&Local> {
        if self.forks != fork::forks() {
            return Err(PyRuntimeError::new_err("the lane belongs to the parent process"));
        }
        // SAFETY: a loop runs on one thread at a time, and that is this one. It may have run on another one before; what
        // is left there of operations that were under way does not get past `OnThread::get`.
        Ok(unsafe { self.local.adopt() })
    }

    /// The client, for one more operation of this lane.
    pub(super) fn hold(&self, client: &Arc<ClientCore>) -> Option<Arc<ClientRef>> {
        self.local.get().map(|local| local.hold.on(client))
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
                let unsent = Self::send(local, entry, token);
                // Also before it is written: that may fail at once.
                drop(work);
                if let Some((token, failure)) = unsent {
                    Self::fail(slf, local, token, failure);
                }
            }
            Work::Many(many) => {
                let mut unsent = Vec::new();
                for (index, part) in many.parts.iter_mut().enumerate() {
                    let Part::Entry(entry) = part else { continue };
                    let token = Token { op: op.clone_ref(py), index: index as u32 };
                    unsent.extend(Self::send(local, entry, token));
                }
                drop(work);
                for (token, failure) in unsent {
                    Self::fail(slf, local, token, failure);
                }
            }
            Work::None | Work::Task(_) | Work::Later(..) | Work::Cancelled(_) => return Ok(()),
        }
        Self::submitted(slf, local, idle)
    }

    /// Something was put on the lane: it is written with all else of this turn, or at once if nothing else is under way.
    fn submitted(slf: &Bound<'_, Self>, local: &Local, at_once: bool) -> PyResult<()> {
        if local.now.get().is_some() || local.flush_is_due.get() {
            // The turn, or the flush that is due, takes it along, unless others have waited for that too long already.
            return if local.wait_for_write() { Self::catch_up(slf, local) } else { Ok(()) };
        }
        if at_once && local.ready.borrow().is_empty() {
            return Self::flush(slf);
        }
        // What is over before it was sent is let go of in that turn, too.
        local.flush_is_due.set(true);
        local.wait_anew();
        slf.get().soon(slf, intern!(slf.py(), "_flush"))
    }

    /// Has those woken who wait for an operation that has its outcome.
    pub(super) fn over(slf: &Bound<'_, Self>, op: OpRef) -> PyResult<()> {
        let local = slf.get().local()?;
        local.ready.borrow_mut().push_back(op);
        Self::submitted(slf, local, false)
    }

    /// Begins an operation that is a future.
    pub(super) fn begin(slf: &Bound<'_, Self>, op: &OpRef, future: (TaskFuture, OnCancel)) -> PyResult<()> {
        let py = slf.py();
        let local = slf.get().local()?;
        if local.ended.get() {
            op.reject(py, errors::to_py(py, &Error::client_closed()));
            return Ok(());
        }
        Self::spawn(slf, local, Token { op: op.clone_ref(py), index: 0 }, future);
        // Batches have connections of their own: nothing else would leave in the same write.
        Self::submitted(slf, local, true)
    }

    /// Puts one request on the lane. If it does not take it: why, or `None` when there is no way over the lane now.
    fn send(local: &Local, entry: &mut Entry, token: Token) -> Option<(Token, Option<RawFailure>)> {
        let now = local.moment();
        let (policy, call) = (entry.call.policy.base(), entry.call.raw());
        let (Some(attempt), Some(mut driver)) = (entry.core.raw.begin(policy, call, now), local.driver()) else {
            return Some((token, None));
        };
        let deadline = driver.deadline(attempt.deadline());
        let at = driver.set_time(now);
        let when = (deadline, at, attempt.stamp(&entry.request));
        match driver.submit_stamped(attempt.node_id(), Class::Single, &entry.request, when, token) {
            Ok(ticket) => {
                entry.attempt = Some((attempt, ticket));
                local.outstanding.set(local.outstanding.get() + 1);
                None
            }
            Err((full, token)) => {
                let error = entry.core.raw.full(&attempt, full);
                entry.attempt = None;
                Some((token, Some(RawFailure::Refused(error))))
            }
        }
    }

    /// A request was not taken, or has failed: its error, or another attempt.
    pub(super) fn fail(slf: &Bound<'_, Self>, local: &Local, token: Token, failure: Option<RawFailure>) {
        let py = slf.py();
        let failed = {
            let work = token.op.get().work.borrow();
            let Some(entry) = work.entry(token.index) else { return };
            let error = match (&failure, &entry.attempt) {
                (Some(failure), Some((attempt, _))) => {
                    let (policy, call) = (entry.call.policy.base(), entry.call.raw());
                    entry.core.raw.finish(policy, call, attempt, failure.clone(), local.now())
                }
                (Some(RawFailure::Refused(error)), None) => Some(error.clone()),
                _ => None,
            };
            error.map(|error| (error, entry.call.outcome.is_none().then(|| entry.call.key.clone_ref(py))))
        };
        match failed {
            // It may run code of the caller's, which must not find the operation borrowed.
            Some((error, None)) => {
                let entry = token.op.get().work.borrow_mut().take_entry(py, token.index);
                let outcome = entry.map(|entry| entry.call.failed(py, &error));
                local.finish(py, token, outcome.unwrap_or_else(|| Err(errors::to_py(py, &error))));
            }
            Some((error, Some(key))) => local.finish(py, token, Err(errors::of_record(py, &error, &key))),
            None => Self::resume(slf, local, token, failure),
        }
    }

    /// Goes on with a call as a future: from its start, or from behind its first attempt.
    fn resume(slf: &Bound<'_, Self>, local: &Local, token: Token, failure: Option<RawFailure>) {
        let Some(entry) = token.op.get().work.borrow_mut().take_entry(slf.py(), token.index) else { return };
        let handle = match local.handle() {
            Ok(handle) => handle,
            Err(error) => return local.finish(slf.py(), token, Err(error)),
        };
        let Entry { core, call, request, attempt } = entry;
        let begun = attempt.map(|(attempt, _)| attempt).zip(failure);
        let future: TaskFuture = Box::pin(async move {
            let outcome = core.raw.resume_on(&handle, call.policy.base(), call.raw(), &request, begun).await;
            let made: MakeResult = Box::new(move |py| match outcome {
                Ok(body) => call.result(py, body.into()),
                Err(error) => call.failed(py, &error),
            });
            // Kept open to the end.
            drop(core);
            Given::Result(made)
        });
        Self::spawn(slf, local, token, (future, OnCancel::Drop));
    }

    /// Polls a future, from now on whenever it is woken.
    fn spawn(slf: &Bound<'_, Self>, local: &Local, token: Token, future: (TaskFuture, OnCancel)) {
        let id = local.expect(token.clone_ref(slf.py()));
        Self::poll(slf.py(), local, token, Task::new(id, &slf.get().inbox, future));
    }

    /// Polls a future that was taken out of its operation.
    pub(super) fn poll(py: Python<'_>, local: &Local, token: Token, mut task: Task) {
        loop {
            let polled = task.poll();
            if token.op.get().is_over() {
                // The Python code of a part has cancelled it.
                if let OnCancel::Tell(tell) = task.take_on_cancel() {
                    *token.op.get().work.borrow_mut() = Work::Cancelled(tell);
                }
                return local.forget(task.id());
            }
            let given = match polled {
                Poll::Pending => return token.op.get().work.borrow_mut().put_task(token.index, task),
                Poll::Ready(given) => given,
            };
            let part = match given {
                Given::Result(make) => {
                    local.forget(task.id());
                    drop(task);
                    return local.finish(py, token, make(py));
                }
                Given::Part(part) => part,
            };
            let outcome = match part(py) {
                Ok(AfterPart::Wait(future)) => {
                    task.go_on(future);
                    continue;
                }
                Ok(AfterPart::Over(result)) => Ok(result),
                Err(error) => Err(error),
            };
            local.forget(task.id());
            return local.finish(py, token, outcome);
        }
    }

    /// Nobody waits for this future any more.
    pub(super) fn drop_task(slf: &Bound<'_, Self>, mut task: Task) -> Option<Tell> {
        let local = slf.get().local.get()?;
        let id = task.id();
        let tell = match task.take_on_cancel() {
            OnCancel::GoOn if !local.ended.get() => {
                if let Ok(op) = OpRef::named(slf.py(), Some(slf), Work::Task(task), "writer") {
                    op.need_not_be_awaited();
                    local.expect_as(id, Token { op, index: 0 });
                    return None;
                }
                None
            }
            OnCancel::Tell(tell) => Some(tell),
            OnCancel::GoOn | OnCancel::Drop => None,
        };
        local.forget(id);
        tell
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
}

fn new_inbox() -> PyResult<Arc<Inbox>> {
    Inbox::new().map_err(|e| PyRuntimeError::new_err(format!("cannot open a pair of sockets: {e}")))
}
