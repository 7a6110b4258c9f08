//! The sync side: the calling thread does the I/O, with the GIL released.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::OnceLock;

use aerolane::raw::{BUFFERS_KEEP, RawClient, with_buffers};
use pyo3::prelude::*;

use crate::call::Call;
use crate::fork;

thread_local! {
    /// Whether this is Python's main thread, as of so many forks.
    static MAIN: Cell<Option<(u32, bool)>> = const { Cell::new(None) };
}

/// Carries out a call whose request `encode` writes. A signal handler that raises ends it.
pub(crate) fn run(
    py: Python<'_>,
    client: &RawClient,
    call: &Call,
    encode: impl FnOnce(&Call, &mut Vec<u8>) -> PyResult<()>,
) -> PyResult<Py<PyAny>> {
    with_buffers(|request, answer| {
        encode(call, request)?;
        exchange(py, client, call, request, answer)
    })
}

fn exchange(
    py: Python<'_>,
    client: &RawClient,
    call: &Call,
    request: &[u8],
    answer: &mut Vec<u8>,
) -> PyResult<Py<PyAny>> {
    let (raw, policy) = (call.raw(), call.policy.base());
    let take = |body: &[u8]| answer.extend_from_slice(body);
    if !gets_signals(py)? {
        let taken = py.detach(|| client.call_blocking(policy, raw, request, take));
        return match taken {
            Ok(()) => call.result(py, taken_out(answer)),
            Err(error) => call.failed(py, &error),
        };
    }
    let signals = Signals::default();
    let taken = py.detach(|| client.call_interruptible(policy, raw, request, &|| signals.raised(), take));
    match (taken, signals.take()) {
        (_, Some(raised)) => Err(raised),
        (Ok(()), None) => call.result(py, taken_out(answer)),
        (Err(error), None) => call.failed(py, &error),
    }
}

/// An answer of this thread. One whose memory would be given back goes with it.
fn taken_out(answer: &mut Vec<u8>) -> Cow<'_, [u8]> {
    if answer.len() > BUFFERS_KEEP { Cow::Owned(std::mem::take(answer)) } else { Cow::Borrowed(answer) }
}

/// What a signal handler of Python has raised.
#[derive(Default)]
pub(crate) struct Signals(OnceLock<PyErr>);

impl Signals {
    /// Runs the handlers of signals that have come; whether one of them has raised.
    #[allow(clippy::redundant_closure)] // the method itself is not general enough
    pub(crate) fn raised(&self) -> bool {
        match Python::attach(|py| Python::check_signals(py)) {
            Ok(()) => false,
            Err(error) => {
                // It is asked until it says true.
                let _ = self.0.set(error);
                true
            }
        }
    }

    pub(crate) fn take(self) -> Option<PyErr> {
        self.0.into_inner()
    }
}

/// Whether signal handlers run on this thread: on Python's main thread they do.
pub(crate) fn gets_signals(py: Python<'_>) -> PyResult<bool> {
    let forks = fork::forks();
    match MAIN.get() {
        Some((then, main)) if then == forks => Ok(main),
        _ => find_out(py, forks),
    }
}

#[cold]
fn find_out(py: Python<'_>, forks: u32) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    let main = main.eq(threading.call_method0("get_ident")?)?;
    MAIN.set(Some((forks, main)));
    Ok(main)
}
