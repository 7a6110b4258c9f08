//! A lane's turn of the loop: takes in what has come, wakes the tasks that waited for it, each in its own context, and then
//! writes all that those tasks have submitted, in one flush. Nothing is borrowed while tasks run.

use std::time::{Duration, Instant};

use aerolane::Error;
use aerolane::raw::driver::host::{HostDriver, WatchChange};
use aerolane::raw::lane::Millis;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PySystemExit};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit, intern};

use super::asyncio::{self, ContextApi};
use super::guarded;
use super::lane::Lane;
use super::local::{Collect, Entered, Local, WAKES_PER_TURN};
use super::op::{OpRef, Owned};
use super::running::Running;
use super::work::Token;
use crate::{errors, fork};

impl Lane {
    /// Takes in what `work` brings, wakes whom it concerns, writes what they submit.
    fn turn(
        slf: &Bound<'_, Self>,
        work: impl FnOnce(&mut HostDriver<Token>, Millis, &mut Collect<'_, '_>),
    ) -> PyResult<()> {
        let py = slf.py();
        let local = slf.get().local()?;
        let now = Instant::now();
        let within = local.now.replace(Some(now)).is_some();
        let watched = if within { Self::nested(slf, local) } else { Ok(()) };
        slf.get().inbox.begin_turn();
        let running = Running::enter(slf);
        if let Some(mut driver) = local.driver() {
            let at = driver.set_time(now);
            work(&mut driver, at, &mut Collect { py, local });
        }
        Self::settle(slf, local);
        Self::poll_woken(slf, local);
        let woken = Self::wake(slf, local.wakes_left.get());
        drop(running);
        // If this was an inner turn: from here on the outer one does not take along what tasks submit, and what wakes futures.
        local.now.set(None);
        local.entered.take();
        let flushed = Self::flush(slf);
        slf.get().inbox.end_turn();
        if !(local.ready.borrow().is_empty() && slf.get().inbox.is_empty()) {
            Self::go_on_soon(slf, local)?;
        }
        woken.and(flushed).and(watched)
    }

    /// A task that a turn has woken runs the loop, which calls the lane: from now on tasks are woken by the loop itself. The
    /// callback that the outer turn began with cannot be called again before that is over, as it has a context of its own, which
    /// is entered: another one takes its place.
    #[cold]
    fn nested(slf: &Bound<'_, Self>, local: &Local) -> PyResult<()> {
        let py = slf.py();
        local.nests.set(true);
        let event_loop = slf.get().event_loop.bind(py);
        let (add_reader, add_writer) = (intern!(py, "add_reader"), intern!(py, "add_writer"));
        match local.entered.take() {
            Entered::Nothing => Ok(()),
            Entered::Reader(fd) => {
                let readable = slf.getattr(intern!(py, "_readable"))?;
                asyncio::watch(event_loop, add_reader, fd, &readable, Some(fd))
            }
            Entered::Writer(fd) => {
                let writable = slf.getattr(intern!(py, "_writable"))?;
                asyncio::watch(event_loop, add_writer, fd, &writable, Some(fd))
            }
            Entered::Inbox(watch) => {
                asyncio::watch(event_loop, add_reader, slf.get().inbox.as_raw_fd(), watch.bind(py), None)
            }
        }
    }

    /// Has the loop call the lane again, after its other callbacks.
    fn go_on_soon(slf: &Bound<'_, Self>, local: &Local) -> PyResult<()> {
        if local.more_is_due.get() {
            return Ok(());
        }
        slf.get().soon(slf, intern!(slf.py(), "_more"))?;
        local.more_is_due.set(true);
        Ok(())
    }

    pub(super) fn soon(&self, slf: &Bound<'_, Self>, name: &Bound<'_, pyo3::types::PyString>) -> PyResult<()> {
        let event_loop = self.event_loop.bind(slf.py());
        guarded::call_method(event_loop, intern!(slf.py(), "call_soon"), (slf.getattr(name)?,), None).map(drop)
    }

    /// Reads and writes in the middle of a turn that takes long. Whom the answers concern is woken in a turn of its own.
    pub(super) fn catch_up(slf: &Bound<'_, Self>, local: &Local) -> PyResult<()> {
        let py = slf.py();
        local.overdue_at.set(None);
        if let Some(mut driver) = local.driver() {
            let at = driver.set_time(local.now());
            driver.catch_up(at, &mut Collect { py, local });
        }
        Self::written(slf, local)
    }

    /// Writes all that waits, and follows what the driver wants the loop to watch.
    pub(super) fn flush(slf: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        let local = slf.get().local()?;
        local.flush_is_due.set(false);
        local.overdue_at.set(None);
        if let Some(mut driver) = local.driver() {
            driver.flush(&mut Collect { py, local });
        }
        Self::written(slf, local)
    }

    /// Takes in what a write has shown.
    fn written(slf: &Bound<'_, Self>, local: &Local) -> PyResult<()> {
        if !local.failed.borrow().is_empty() {
            Self::settle(slf, local);
            Self::go_on_soon(slf, local)?;
        }
        Self::follow(slf)
    }

    /// Decides what becomes of failed attempts.
    fn settle(slf: &Bound<'_, Self>, local: &Local) {
        let failed = std::mem::take(&mut *local.failed.borrow_mut());
        for (token, failure) in failed {
            Self::fail(slf, local, token, Some(failure));
        }
    }

    /// Polls the futures that were woken.
    fn poll_woken(slf: &Bound<'_, Self>, local: &Local) {
        let py = slf.py();
        for id in slf.get().inbox.take() {
            let token = local.tasks.borrow().get(&id).map(|token| token.clone_ref(py));
            let Some(token) = token else { continue };
            let task = token.op.get().work.borrow_mut().take_task(py, token.index);
            if let Some(task) = task {
                Self::poll(py, local, token, task);
            }
        }
    }

    /// Wakes those whose operations have an outcome, at most so many. Each stays in line until it is its turn: a task that runs
    /// the loop wakes the others from within.
    fn wake(slf: &Bound<'_, Self>, most: usize) -> PyResult<()> {
        let py = slf.py();
        let lane = slf.get();
        let local = lane.local()?;
        let count = local.ready.borrow().len().min(most);
        local.wakes_left.set(local.wakes_left.get().saturating_sub(count));
        let api = ContextApi::find();
        let mut raised = None;
        for _ in 0..count {
            let Some(op) = local.ready.borrow_mut().pop_front() else { break };
            if raised.is_some() || local.nests.get() {
                lane.wake_later(py, &op);
                continue;
            }
            let Some((callback, context)) = op.take_callbacks() else { continue };
            let context = context.bind(py);
            // SAFETY: callback and operation are alive.
            let call = || unsafe { guarded::call_with(py, callback.raw(), op.as_any().as_ptr()).map(drop) };
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
                    asyncio::watch(event_loop, intern!(py, "add_reader"), fd, &readable, Some(fd))?;
                }
                Some(WatchChange::Writable(fd, true)) => {
                    let writable = slf.getattr(intern!(py, "_writable"))?;
                    asyncio::watch(event_loop, intern!(py, "add_writer"), fd, &writable, Some(fd))?;
                }
                Some(WatchChange::Writable(fd, false)) => {
                    guarded::call_method(event_loop, intern!(py, "remove_writer"), (fd,), None)?;
                }
                Some(WatchChange::Remove(fd)) => {
                    // What another has under that number is not ours.
                    match local.entered.take() {
                        Entered::Reader(entered) | Entered::Writer(entered) if entered == fd => {}
                        other => local.entered.set(other),
                    }
                    guarded::call_method(event_loop, intern!(py, "remove_reader"), (fd,), None)?;
                    guarded::call_method(event_loop, intern!(py, "remove_writer"), (fd,), None)?;
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
        let handle = asyncio::call_later(event_loop, delay, &tick)?;
        let previous = local.timer.replace(Some((handle, next)));
        if let Some((previous, _)) = previous {
            guarded::call_method(previous.bind(py), intern!(py, "cancel"), (), None)?;
        }
        Ok(())
    }

    fn tick(slf: &Bound<'_, Self>) -> PyResult<()> {
        let mut warning = None;
        let turned = Self::turn(slf, |driver, now, sink| {
            driver.tick(now, sink);
            warning = driver.take_warning();
        });
        match warning {
            Some(warning) => turned.and(log(slf.py(), &warning)),
            None => turned,
        }
    }

    /// Another thread has something for the lane: a new connection, a result, the end of the client.
    fn woken(slf: &Bound<'_, Self>, watch: &Bound<'_, Watch>) -> PyResult<()> {
        let local = slf.get().local()?;
        slf.get().inbox.drain();
        local.enter(Entered::Inbox(watch.clone().unbind()));
        let turned = Self::tick(slf);
        if slf.get().core.upgrade().is_none_or(|core| core.raw.cluster().is_closed()) {
            Self::end(slf, local)?;
        }
        turned
    }

    /// The client is closed: all fails, and the loop is to forget the lane.
    fn end(slf: &Bound<'_, Self>, local: &Local) -> PyResult<()> {
        let py = slf.py();
        if !Self::close(py, local) {
            return Ok(());
        }
        Self::settle(slf, local);
        Self::poll_woken(slf, local);
        // What runs elsewhere for them may never come to its end.
        local.fail_tasks(py, || errors::to_py(py, &Error::client_closed()));
        let woken = Self::wake(slf, usize::MAX);
        Self::follow(slf)?;
        if let Some((timer, _)) = local.timer.take() {
            guarded::call_method(timer.bind(py), intern!(py, "cancel"), (), None)?;
        }
        // The last call after the changes were taken: its sockets are closed.
        drop(local.driver.take());
        let event_loop = slf.get().event_loop.bind(py);
        guarded::call_method(event_loop, intern!(py, "remove_reader"), (slf.get().inbox.as_raw_fd(),), None)?;
        woken
    }

    /// The loop does not watch the lane any more: it is closed, or gone.
    fn unwatched(slf: &Bound<'_, Self>) {
        let (py, lane) = (slf.py(), slf.get());
        if lane.forks != fork::forks() {
            return;
        }
        if let Some(core) = lane.core.upgrade() {
            core.lanes.remove(slf.as_unbound());
        }
        // On another thread nothing can be done here; the sockets are closed when the lane is freed.
        let Some(local) = lane.local.get() else { return };
        if !Self::close(py, local) {
            return;
        }
        // Nobody can be woken any more. What is in flight would keep itself and the lane alive: it ends here.
        local.drop_all(py, || PyRuntimeError::new_err("the event loop was closed before the operation completed"));
        drop(local.timer.take());
        drop(local.driver.try_borrow_mut().ok().and_then(|mut driver| driver.take()));
    }

    /// Ends what is on the lane. False: it has ended before.
    fn close(py: Python<'_>, local: &Local) -> bool {
        if local.ended.replace(true) {
            return false;
        }
        if let Some(mut driver) = local.driver() {
            driver.close(&mut Collect { py, local });
        }
        true
    }
}

/// What the loop calls when the inbox has something. Freed by the loop when it is closed, which nothing else tells of.
#[pyclass(frozen, module = "aerolane._aerolane", name = "_Watch")]
pub(crate) struct Watch {
    lane: Py<Lane>,
}

impl Watch {
    pub(super) fn new(lane: &Bound<'_, Lane>) -> Self {
        Self { lane: lane.clone().unbind() }
    }
}

#[pymethods]
impl Watch {
    fn __call__(slf: &Bound<'_, Self>) -> PyResult<()> {
        Lane::woken(slf.get().lane.bind(slf.py()), slf)
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
        slf.get().local()?.enter(Entered::Reader(fd));
        Self::turn(slf, |driver, now, sink| driver.readable(fd, now, sink))
    }

    /// A socket takes bytes again.
    fn _writable(slf: &Bound<'_, Self>, fd: i32) -> PyResult<()> {
        slf.get().local()?.enter(Entered::Writer(fd));
        Self::turn(slf, |driver, _, sink| driver.writable(fd, sink))
    }

    /// The end of a turn of the loop in which tasks have submitted.
    fn _flush(slf: &Bound<'_, Self>) -> PyResult<()> {
        let local = slf.get().local()?;
        if !local.ready.borrow().is_empty() {
            return Self::turn(slf, |driver, now, sink| driver.resume(now, sink));
        }
        if let Some(mut driver) = local.driver() {
            let now = driver.set_time(Instant::now());
            driver.resume(now, &mut Collect { py: slf.py(), local });
        }
        Self::flush(slf)
    }

    /// The loop's other callbacks have had their turn: the next ones may be woken.
    fn _more(slf: &Bound<'_, Self>) -> PyResult<()> {
        let local = slf.get().local()?;
        local.more_is_due.set(false);
        local.wakes_left.set(WAKES_PER_TURN);
        Self::turn(slf, |_, _, _| {})
    }

    /// The timer.
    fn _tick(slf: &Bound<'_, Self>) -> PyResult<()> {
        slf.get().local()?.timer.replace(None);
        Self::tick(slf)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.event_loop)?;
        // The timer knows the loop, too.
        // SAFETY: no thread runs while objects are traversed, and none has been stopped while it had the timer in its hands.
        unsafe { self.local.peek().visit_timer(&visit) }
    }
}

/// A warning in the program's log.
fn log(py: Python<'_>, warning: &str) -> PyResult<()> {
    let logging = py.import(intern!(py, "logging"))?;
    let logger = guarded::call_method(&logging, intern!(py, "getLogger"), ("aerolane",), None)?;
    guarded::call_method(&logger, intern!(py, "warning"), ("%s", warning), None).map(drop)
}
