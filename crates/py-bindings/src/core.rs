//! What the front doors of one Python client share.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use aerolane::client::RawClient;
use pyo3::prelude::*;

use crate::host::Lanes;
use crate::{errors, fork};

/// One cluster, and the lanes of the event loops that use it.
pub(crate) struct ClientCore {
    pub(crate) raw: ManuallyDrop<RawClient>,
    pub(crate) lanes: Lanes,
    /// As it was when the client was made.
    forks: u32,
}

impl ClientCore {
    pub(crate) fn new(raw: RawClient) -> Arc<Self> {
        fork::watch();
        Arc::new(Self { raw: ManuallyDrop::new(raw), lanes: Lanes::default(), forks: fork::forks() })
    }

    /// Whether the client belongs to a process that this one was forked from. Nothing of it may be used then: its
    /// threads do not exist here, its locks may be held for ever, and its sockets are the parent's.
    pub(crate) fn is_foreign(&self) -> bool {
        self.forks != fork::forks()
    }

    /// Refuses a call in a forked child.
    #[inline]
    pub(crate) fn check(&self, py: Python<'_>) -> PyResult<()> {
        if self.is_foreign() { Err(forked(py)) } else { Ok(()) }
    }
}

#[cold]
fn forked(py: Python<'_>) -> PyErr {
    let text = "the client was made before this process was forked, and belongs to the parent process: make a new one in \
                the child (for example in gunicorn's post_fork, or multiprocessing's initializer)";
    errors::to_py(py, &aerolane::Error::client_error(text))
}

impl Drop for ClientCore {
    fn drop(&mut self) {
        // SAFETY: dropped once, here.
        let raw = unsafe { ManuallyDrop::take(&mut self.raw) };
        if self.is_foreign() {
            // Closing would wait for threads that are not here.
            raw.forget_after_fork();
        }
    }
}
