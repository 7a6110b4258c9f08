//! Futures that the loop polls on its own thread: batches, further attempts of single calls, and the wait for what the
//! control plane does.

use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use aerolane::raw::driver::host::HostHandle;
use pyo3::prelude::*;

use super::inbox::Inbox;
use crate::fork;

/// Makes a result, on the loop's thread.
pub(crate) type MakeResult = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;

/// What the future of a task gives.
pub(super) enum Given {
    Result(MakeResult),
    /// The task may go on.
    Part(RunPart),
}

/// Runs the next part of a task, on the loop's thread.
pub(super) type RunPart = Box<dyn FnOnce(Python<'_>) -> PyResult<AfterPart> + Send>;

/// What there is after a part of a task.
pub(super) enum AfterPart {
    Over(Py<PyAny>),
    /// A future to poll before the next one.
    Wait(TaskFuture),
}

/// The future of a task. Runs no Python code: that is done between futures, and by what makes the result.
pub(super) type TaskFuture = Pin<Box<dyn Future<Output = Given> + Send>>;

/// Work that runs Python code now and then, on the thread of its loop.
pub(crate) trait InParts: Send + Sized + 'static {
    /// Goes on until there is a result, or something to wait for.
    fn go_on(self, py: Python<'_>) -> PyResult<Pause<Self>>;

    /// What becomes of it when nobody waits for it any more.
    fn on_cancel(&self) -> OnCancel {
        OnCancel::Drop
    }
}

/// Why such work has stopped.
pub(crate) enum Pause<W> {
    Over(Py<PyAny>),
    /// It goes on after this, which runs no Python code.
    Wait(Pin<Box<dyn Future<Output = W> + Send>>),
}

/// The work as a task.
pub(super) fn in_parts<W: InParts>(wait: Pin<Box<dyn Future<Output = W> + Send>>) -> TaskFuture {
    Box::pin(async move {
        let work = wait.await;
        Given::Part(Box::new(move |py| {
            Ok(match work.go_on(py)? {
                Pause::Over(result) => AfterPart::Over(result),
                Pause::Wait(wait) => AfterPart::Wait(in_parts(wait)),
            })
        }))
    })
}

/// What becomes of a future when its operation is cancelled.
pub(crate) enum OnCancel {
    /// It is dropped.
    Drop,
    /// It is polled to its end.
    GoOn,
    /// It is dropped, and the exception is given what is known by then.
    Tell(Tell),
}

/// Attaches to an exception what a call that was cancelled has done.
pub(crate) type Tell = Box<dyn FnOnce(Python<'_>, &PyErr) + Send>;

/// Makes the future of an operation once its loop is known, given a handle to the loop's lane.
pub(super) type StartFuture = Box<dyn FnOnce(HostHandle) -> (TaskFuture, OnCancel) + Send>;

/// A future, and what it takes to poll it.
pub(super) struct Task {
    future: ManuallyDrop<TaskFuture>,
    wakes: Arc<TaskWaker>,
    forks: u32,
    on_cancel: OnCancel,
}

/// Names the task in the inbox of its lane.
struct TaskWaker {
    inbox: Arc<Inbox>,
    id: u64,
    /// It stands in the inbox.
    queued: AtomicBool,
}

impl Task {
    pub(super) fn new(id: u64, inbox: &Arc<Inbox>, (future, on_cancel): (TaskFuture, OnCancel)) -> Self {
        let wakes = Arc::new(TaskWaker { inbox: Arc::clone(inbox), id, queued: AtomicBool::new(false) });
        Self { future: ManuallyDrop::new(future), wakes, forks: fork::forks(), on_cancel }
    }

    pub(super) fn id(&self) -> u64 {
        self.wakes.id
    }

    /// What is to become of it now that its operation is cancelled.
    pub(super) fn take_on_cancel(&mut self) -> OnCancel {
        std::mem::replace(&mut self.on_cancel, OnCancel::Drop)
    }

    /// Polls another future, from now on.
    pub(super) fn go_on(&mut self, future: TaskFuture) {
        *self.future = future;
    }

    pub(super) fn poll(&mut self) -> Poll<Given> {
        // Before it is polled: a wake-up from here on is one more poll.
        self.wakes.queued.store(false, Ordering::Release);
        let waker = Waker::from(Arc::clone(&self.wakes));
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        // In a forked child, locks that the future takes may be held for ever.
        if self.forks == fork::forks() {
            // SAFETY: dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.future) }
        }
    }
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            self.inbox.post(self.id);
        }
    }
}
