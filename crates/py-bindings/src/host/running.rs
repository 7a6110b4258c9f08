//! Which event loop runs on this thread, and which thread this is.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;

use super::asyncio;
use super::lane::Lane;
use crate::core::ClientCore;

thread_local! {
    /// The lane whose callback runs on this thread: what its woken tasks call needs no search.
    static CURRENT: Cell<*mut ffi::PyObject> = const { Cell::new(ptr::null_mut()) };
}

/// A number that no other living thread has; never 0.
pub(crate) fn thread_token() -> usize {
    CURRENT.with(|current| ptr::from_ref(current).addr())
}

/// What lives on one thread at a time and is touched there only.
pub(super) struct OnThread<T> {
    thread: AtomicUsize,
    value: T,
}

// SAFETY: other threads get no reference to the value (`get`); they may drop it, for which `T: Send` is enough.
unsafe impl<T: Send> Sync for OnThread<T> {}

impl<T> OnThread<T> {
    /// Binds the value to this thread.
    pub(super) fn new(value: T) -> Self {
        Self { thread: AtomicUsize::new(thread_token()), value }
    }

    /// The value, for who has it alone.
    pub(super) fn into_inner(self) -> T {
        self.value
    }

    /// The value, on any thread.
    ///
    /// # Safety
    /// No other thread runs meanwhile.
    pub(super) unsafe fn peek(&self) -> &T {
        &self.value
    }

    /// The value, on its thread.
    pub(super) fn get(&self) -> Option<&T> {
        (self.thread.load(Ordering::Relaxed) == thread_token()).then_some(&self.value)
    }

    /// The value, which moves to this thread if it is another's.
    ///
    /// # Safety
    /// No other thread uses the value, nor will it without having it moved back.
    pub(super) unsafe fn adopt(&self) -> &T {
        let token = thread_token();
        if self.thread.load(Ordering::Relaxed) != token {
            self.thread.store(token, Ordering::Relaxed);
        }
        &self.value
    }
}

/// Says that the callback of a lane runs, until it is dropped.
pub(super) struct Running<'a> {
    previous: *mut ffi::PyObject,
    _lane: PhantomData<&'a ()>,
}

impl<'a> Running<'a> {
    pub(super) fn enter(lane: &'a Bound<'_, Lane>) -> Self {
        Self { previous: CURRENT.replace(lane.as_ptr()), _lane: PhantomData }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        CURRENT.set(self.previous);
    }
}

/// The lane of the running event loop; `None` outside of one.
pub(super) fn lane<'py>(py: Python<'py>, client: &Arc<ClientCore>) -> PyResult<Option<Bound<'py, Lane>>> {
    let current = CURRENT.get();
    if !current.is_null() {
        // SAFETY: a lane, kept alive by the `Running` that put it there and takes it away.
        let lane = unsafe { Bound::from_borrowed_ptr(py, current).cast_into_unchecked::<Lane>() };
        if lane.get().is_of(client) {
            return Ok(Some(lane));
        }
    }
    let event_loop = asyncio::running_loop(py)?;
    if event_loop.is_none() {
        return Ok(None);
    }
    client.lanes.of(py, client, &event_loop).map(Some)
}
