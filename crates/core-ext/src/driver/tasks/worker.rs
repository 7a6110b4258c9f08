//! Which runtime the calling thread is a worker of.
//!
//! Tokio tells a thread which runtime it is on only with a count of the runtime's handle, which all its workers share. But a
//! thread that has polled a task of a multi-thread runtime is a worker of it for as long as both live. It may turn another
//! runtime meanwhile only under `block_in_place`, and then another thread takes its place: lanes of that runtime are driven
//! whatever the thread does. Of a current-thread runtime nothing like that holds.

use std::cell::Cell;

use tokio::runtime::Id;

thread_local! {
    static RUNTIME: Cell<Option<Id>> = const { Cell::new(None) };
}

/// The multi-thread runtime that the calling thread is a worker of, as far as that is known. It may have ended.
#[inline]
pub(crate) fn runtime() -> Option<Id> {
    RUNTIME.get()
}

/// The calling thread polls a task of this multi-thread runtime.
#[inline]
pub(super) fn polls_for(runtime: Id) {
    RUNTIME.set(Some(runtime));
}
