//! The sync side: the calling thread does the I/O, with the GIL released.

use std::cell::Cell;

use aerolane::client::RawClient;
use pyo3::prelude::*;

use crate::call::Call;
use crate::errors;

thread_local! {
    static REQUEST: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    static ANSWER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A buffer of a thread that grew beyond this is given back.
const KEEP: usize = 64 * 1024;

/// Carries out a call whose request `encode` writes.
pub(crate) fn run(
    py: Python<'_>,
    client: &RawClient,
    call: &Call,
    encode: impl FnOnce(&mut Vec<u8>) -> PyResult<()>,
) -> PyResult<Py<PyAny>> {
    // Taken out, not borrowed: encoding runs foreign code, which may call the client, too.
    let mut request = REQUEST.take();
    request.clear();
    let mut answer = ANSWER.take();
    answer.clear();
    let result = encode(&mut request).and_then(|()| {
        let raw = call.raw();
        let policy = call.policy.base();
        let taken = py.detach(|| client.call_blocking(policy, raw, &request, |body| answer.extend_from_slice(body)));
        match taken {
            Ok(()) => call.result(py, &answer),
            Err(error) => Err(errors::to_py(py, &error)),
        }
    });
    request.shrink_to(KEEP);
    answer.shrink_to(KEEP);
    REQUEST.set(request);
    ANSWER.set(answer);
    result
}
