//! The async side: a lane on each event loop.
//!
//! Each function here gives an [`op`], an object that is at once awaitable, Coroutine-like and, for its task, Future-like.

mod asyncio;
mod client_ref;
mod floor;
mod guarded;
mod inbox;
mod item;
mod lane;
mod lanes;
mod local;
mod op;
mod origin;
mod pace;
mod running;
mod stop;
mod task;
mod turn;
mod work;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;

use aerolane::raw::driver::host::HostHandle;
use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;

use crate::call::Call;
use crate::core::ClientCore;
use crate::errors;
use client_ref::ClientRef;
use lane::Lane;
pub(crate) use lanes::Lanes;
use op::OpRef;
#[cfg(Py_GIL_DISABLED)]
pub(crate) use op::slots::attached;
pub(crate) use op::slots::{method, slot};
pub(crate) use pace::Pace;
use task::{Given, StartFuture, TaskFuture};
pub(crate) use task::{InParts, MakeResult, OnCancel, Pause};
use work::{Entry, Many, Part, Work};

/// Starts a call over the lane of the running event loop. Called outside of a loop, it starts when it is first awaited.
pub(crate) fn submit(
    py: Python<'_>,
    client: &Arc<ClientCore>,
    call: Call,
    encode: impl FnOnce(&Call, &mut Vec<u8>) -> PyResult<()>,
) -> PyResult<Py<PyAny>> {
    client.check(py)?;
    let lane = running::lane(py, client)?;
    let mut request = lane.as_ref().map(|lane| lane.get().buffer()).unwrap_or_default();
    encode(&call, &mut request)?;
    let entry = Entry { core: hold(lane.as_ref(), client), call, request, attempt: None };
    let op = OpRef::new(py, lane.as_ref(), Work::Entry(entry))?;
    if let Some(lane) = &lane {
        Lane::submit(lane, &op)?;
    }
    Ok(op.into_any())
}

/// The client, for an operation on a lane, or on none so far.
fn hold(lane: Option<&Bound<'_, Lane>>, client: &Arc<ClientCore>) -> Arc<ClientRef> {
    lane.and_then(|lane| lane.get().hold(client)).unwrap_or_else(|| ClientRef::new(client))
}

/// Starts several calls at once: one object, whose outcome is the list of their results and exceptions, in order.
/// `next` makes a call and encodes its request; its error is that of the whole.
pub(crate) fn submit_many(
    py: Python<'_>,
    client: &Arc<ClientCore>,
    count: usize,
    mut next: impl FnMut(usize, &mut Vec<u8>) -> PyResult<Call>,
) -> PyResult<Py<PyAny>> {
    client.check(py)?;
    let lane = running::lane(py, client)?;
    let core = hold(lane.as_ref(), client);
    let mut parts = Vec::with_capacity(count);
    for index in 0..count {
        let mut request = lane.as_ref().map(|lane| lane.get().buffer()).unwrap_or_default();
        let call = next(index, &mut request)?;
        parts.push(Part::Entry(Entry { core: Arc::clone(&core), call, request, attempt: None }));
    }
    let mut many = Many { parts, left: count };
    let op = if count == 0 {
        let empty = many.results(py)?;
        let op = OpRef::new(py, lane.as_ref(), Work::None)?;
        op.resolve(empty);
        op
    } else {
        OpRef::new(py, lane.as_ref(), Work::Many(Box::new(many)))?
    };
    if let Some(lane) = &lane {
        Lane::submit(lane, &op)?;
    }
    Ok(op.into_any())
}

/// Runs a future on the control plane's runtime; `convert` makes its result on the loop's thread. Awaiting it gives the loop
/// a turn in any case.
pub(crate) fn spawn<T: Send + 'static>(
    py: Python<'_>,
    client: &Arc<ClientCore>,
    future: impl Future<Output = aerolane::Result<T>> + Send + 'static,
    convert: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Py<PyAny>> {
    let cluster = Arc::clone(client.raw.cluster());
    drive(py, client, move |_| async move {
        let outcome = in_a_later_turn(cluster.run(future)).await.and_then(std::convert::identity);
        let made: MakeResult = Box::new(move |py| match outcome {
            Ok(value) => convert(py, value),
            Err(error) => Err(errors::to_py(py, &error)),
        });
        made
    })
}

/// What a future gives, but not at its first poll, which is made where the operation is called: another thread may be done
/// with its part by then, and whoever awaits one such operation after the other would have the loop to himself.
async fn in_a_later_turn<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut first = true;
    let polled = poll_fn(|context| {
        let at_once = std::mem::take(&mut first);
        future.as_mut().poll(context).map(|outcome| (outcome, at_once))
    });
    let (outcome, at_once) = polled.await;
    if at_once {
        // On the loop's thread, outside of tokio, it wakes the operation: the lane polls it in its next turn.
        tokio::task::yield_now().await;
    }
    outcome
}

/// An operation that is over: awaiting it gives its result at once, without a turn of the loop.
pub(crate) fn ready(py: Python<'_>, result: Py<PyAny>) -> PyResult<Py<PyAny>> {
    ready_as(py, "ready", result)
}

/// As [`ready`], with the name of what gave it.
pub(crate) fn ready_as(py: Python<'_>, name: &'static str, result: Py<PyAny>) -> PyResult<Py<PyAny>> {
    let op = OpRef::named(py, None, Work::None, name)?;
    op.resolve(result);
    Ok(op.into_any())
}

/// How an async method gives what is there already: [`ready`], or [`item`].
pub(crate) type Ready = fn(Python<'_>, Py<PyAny>) -> PyResult<Py<PyAny>>;

/// What `__anext__` gives where the next item is there.
pub(crate) fn item(py: Python<'_>, value: Py<PyAny>) -> PyResult<Py<PyAny>> {
    item::item(py, value)
}

/// An operation that has failed: awaiting it raises the error. For `__anext__`, which must not raise itself: `anext` of
/// Python 3.11 with a default crashes then.
pub(crate) fn failed(py: Python<'_>, error: PyErr) -> PyResult<Py<PyAny>> {
    let op = OpRef::named(py, None, Work::None, "__anext__")?;
    op.reject(py, error);
    Ok(op.into_any())
}

/// What an async method gives: the operation that `call` makes, or one that has failed with its error. A method that raised would
/// take the calls beside it along (`gather(put(a), put(b))`, where the first has been sent); a coroutine does not raise either
/// before it is awaited.
#[inline]
pub(crate) fn at_await(
    py: Python<'_>,
    name: &'static str,
    call: impl FnOnce() -> PyResult<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    match call() {
        Ok(op) => Ok(op),
        Err(error) => refused(py, name, error),
    }
}

#[cold]
fn refused(py: Python<'_>, name: &'static str, error: PyErr) -> PyResult<Py<PyAny>> {
    // A Ctrl-C while the arguments were looked at is meant for the caller.
    if !error.is_instance_of::<PyException>(py) {
        return Err(error);
    }
    let op = OpRef::named(py, None, Work::None, name)?;
    op.note_origin(py);
    op.reject(py, error);
    Ok(op.into_any())
}

/// Runs a future on the thread of the running event loop; what it gives makes the result there. It must run no Python code.
/// `start` makes it, given the way onto the loop's lane.
pub(crate) fn drive<F: Future<Output = MakeResult> + Send + 'static>(
    py: Python<'_>,
    client: &Arc<ClientCore>,
    start: impl FnOnce(HostHandle) -> F + Send + 'static,
) -> PyResult<Py<PyAny>> {
    drive_by(py, client, move |handle| (start(handle), OnCancel::Drop))
}

/// [`drive`], where `start` says what becomes of the future when nobody waits for it any more.
pub(crate) fn drive_by<F: Future<Output = MakeResult> + Send + 'static>(
    py: Python<'_>,
    client: &Arc<ClientCore>,
    start: impl FnOnce(HostHandle) -> (F, OnCancel) + Send + 'static,
) -> PyResult<Py<PyAny>> {
    client.check(py)?;
    let start = move |handle| {
        let (future, on_cancel) = start(handle);
        let future: TaskFuture = Box::pin(async move { Given::Result(future.await) });
        (future, on_cancel)
    };
    later(py, client, Box::new(start))
}

/// Runs work that runs Python code now and then, on the thread of the running event loop.
pub(crate) fn in_parts<W: InParts>(py: Python<'_>, client: &Arc<ClientCore>, work: W) -> PyResult<Py<PyAny>> {
    client.check(py)?;
    let on_cancel = work.on_cancel();
    match work.go_on(py)? {
        Pause::Over(result) => ready(py, result),
        Pause::Wait(wait) => later(py, client, Box::new(move |_| (task::in_parts(wait), on_cancel))),
    }
}

/// An operation that starts now, or, called outside of a loop, when it is first awaited.
fn later(py: Python<'_>, client: &Arc<ClientCore>, start: StartFuture) -> PyResult<Py<PyAny>> {
    let lane = running::lane(py, client)?;
    let work = Work::Later(Arc::clone(client), start);
    let op = OpRef::new(py, lane.as_ref(), work)?;
    if let Some(lane) = &lane {
        begin(lane, &op)?;
    }
    Ok(op.into_any())
}

/// Starts what is behind an operation on its lane.
fn begin(lane: &Bound<'_, Lane>, op: &OpRef) -> PyResult<()> {
    let work = op.get().work.take();
    match work {
        Work::Later(_core, starter) => {
            let handle = lane.get().local()?.handle()?;
            Lane::begin(lane, op, starter(handle))
        }
        work => {
            *op.get().work.borrow_mut() = work;
            Lane::submit(lane, op)
        }
    }
}

/// Starts an operation that was called outside of a loop, on the loop that runs now.
fn start(py: Python<'_>, op: &OpRef) -> PyResult<()> {
    let client = match &*op.get().work.borrow() {
        Work::Entry(entry) => Arc::clone(entry.core.core()),
        Work::Later(core, _) => Arc::clone(core),
        Work::Many(many) => match many.parts.first() {
            Some(Part::Entry(entry)) => Arc::clone(entry.core.core()),
            _ => return Ok(()),
        },
        Work::None | Work::Task(_) | Work::Cancelled(_) => return Ok(()),
    };
    let Some(lane) = running::lane(py, &client)? else {
        return Err(PyRuntimeError::new_err(
            "an operation was awaited outside of an asyncio event loop; on other loops use the blocking client in a \
             thread (with anyio: `await anyio.to_thread.run_sync(...)`)",
        ));
    };
    *op.get().lane.borrow_mut() = Some(lane.clone().unbind());
    begin(&lane, op)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Lane>()?;
    module.add_class::<floor::Floor>()?;
    module.add_class::<turn::Watch>()?;
    item::register(module.py())?;
    #[cfg(Py_GIL_DISABLED)]
    stop::register(module.py())?;
    op::register(module)
}
