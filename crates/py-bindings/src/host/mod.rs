//! The async side: a lane on each event loop.
//!
//! Each function here gives an [`op`], an object that is at once awaitable, Future-like and Coroutine-like.

mod asyncio;
mod inbox;
mod lane;
mod lanes;
mod op;
mod running;
mod work;

use std::future::Future;
use std::sync::Arc;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::call::Call;
use crate::core::ClientCore;
use crate::errors;
use inbox::{Inbox, Make, Posted};
use lane::Lane;
pub(crate) use lanes::Lanes;
use op::OpRef;
use work::{Entry, Many, Part, Posting, Starter, Work};

/// Starts a call over the lane of the running event loop. Called outside of a loop, it starts when it is first awaited.
pub(crate) fn submit(
    py: Python<'_>,
    client: &Arc<ClientCore>,
    call: Call,
    encode: impl FnOnce(&mut Vec<u8>) -> PyResult<()>,
) -> PyResult<Py<PyAny>> {
    client.check(py)?;
    let lane = running::lane(py, client)?;
    let mut request = lane.as_ref().map(|lane| lane.get().buffer()).unwrap_or_default();
    encode(&mut request)?;
    let entry = Entry { core: Arc::clone(client), call, request, attempt: None };
    let op = OpRef::new(py, lane.as_ref(), Work::Entry(entry))?;
    if let Some(lane) = &lane {
        Lane::submit(lane, &op)?;
    }
    Ok(op.into_any())
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
    let mut parts = Vec::with_capacity(count);
    for index in 0..count {
        let mut request = lane.as_ref().map(|lane| lane.get().buffer()).unwrap_or_default();
        let call = next(index, &mut request)?;
        parts.push(Part::Entry(Entry { core: Arc::clone(client), call, request, attempt: None }));
    }
    let mut many = Many { parts, left: count };
    let op = if count == 0 {
        let empty = many.results(py)?;
        let op = OpRef::new(py, lane.as_ref(), Work::None)?;
        op.get().resolve(empty);
        op
    } else {
        OpRef::new(py, lane.as_ref(), Work::Many(Box::new(many)))?
    };
    if let Some(lane) = &lane {
        Lane::submit(lane, &op)?;
    }
    Ok(op.into_any())
}

/// Runs a future on the control plane's runtime; `convert` makes its result on the loop's thread.
pub(crate) fn spawn<T: Send + 'static>(
    py: Python<'_>,
    client: &Arc<ClientCore>,
    future: impl Future<Output = aerolane::Result<T>> + Send + 'static,
    convert: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Py<PyAny>> {
    let core = Arc::clone(client);
    later(
        py,
        client,
        Box::new(move |_, lane, id| {
            let reply = Reply { inbox: Arc::clone(lane.get().inbox()), id, sent: false };
            let abort = core.raw.spawn(async move {
                let outcome = future.await;
                reply.send(Box::new(move |py| made(py, outcome, convert)));
            });
            Ok(Some(abort))
        }),
    )
}

/// The result that a task owes its operation. A task that is dropped unfinished (the client is closed, and the control
/// plane's runtime with it) says so.
struct Reply {
    inbox: Arc<Inbox>,
    id: u64,
    sent: bool,
}

impl Reply {
    fn send(mut self, result: Make) {
        self.sent = true;
        self.inbox.post(self.id, Posted::Made(result));
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if !self.sent {
            let closed = |py: Python<'_>| Err(errors::to_py(py, &aerolane::Error::client_closed()));
            self.inbox.post(self.id, Posted::Made(Box::new(closed)));
        }
    }
}

fn made<T>(
    py: Python<'_>,
    outcome: aerolane::Result<T>,
    convert: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    match outcome {
        Ok(value) => convert(py, value),
        Err(error) => Err(errors::to_py(py, &error)),
    }
}

fn later(py: Python<'_>, client: &Arc<ClientCore>, starter: Starter) -> PyResult<Py<PyAny>> {
    client.check(py)?;
    let lane = running::lane(py, client)?;
    let op = OpRef::new(py, lane.as_ref(), Work::Later(client.clone(), starter))?;
    if let Some(lane) = &lane {
        begin(py, lane, &op)?;
    }
    Ok(op.into_any())
}

/// Starts what is behind an operation on its lane.
fn begin(py: Python<'_>, lane: &Bound<'_, Lane>, op: &OpRef) -> PyResult<()> {
    let work = op.get().work.take();
    match work {
        Work::Later(_core, starter) => {
            let id = lane.get().expect(op.clone_ref(py))?;
            let abort = starter(py, lane, id).inspect_err(|_| lane.get().forget(id))?;
            *op.get().work.borrow_mut() = Work::Task(Posting { id, abort, call: None });
            Ok(())
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
        Work::Entry(entry) => Arc::clone(&entry.core),
        Work::Later(core, _) => Arc::clone(core),
        Work::Many(many) => match many.parts.first() {
            Some(Part::Entry(entry)) => Arc::clone(&entry.core),
            _ => return Ok(()),
        },
        Work::None | Work::Task(_) => return Ok(()),
    };
    let Some(lane) = running::lane(py, &client)? else {
        return Err(PyRuntimeError::new_err(
            "an operation was awaited outside of an asyncio event loop; on other loops use the blocking client in a \
             thread (with anyio: `await anyio.to_thread.run_sync(...)`)",
        ));
    };
    *op.get().lane.borrow_mut() = Some(lane.clone().unbind());
    begin(py, &lane, op)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Lane>()?;
    module.add_class::<lane::Watch>()?;
    op::register(module)
}
