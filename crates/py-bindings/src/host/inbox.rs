//! What other threads have for a lane. They never attach to Python: they leave it here, and make a socket readable that
//! the loop watches.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aerolane::Error;
use parking_lot::Mutex;
use pyo3::prelude::*;

/// Makes a result, on the loop's thread.
pub(super) type Make = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;

/// The result of a task.
pub(super) enum Posted {
    /// The body of a message, or why there is none.
    Answer(Result<Vec<u8>, Error>),
    /// Made on the loop's thread.
    Made(Make),
}

/// Where other threads leave results for a lane.
pub(super) struct Inbox {
    posted: Mutex<Vec<(u64, Posted)>>,
    /// A byte is on its way.
    woken: AtomicBool,
    reader: UnixStream,
    writer: UnixStream,
}

impl Inbox {
    pub(super) fn new() -> io::Result<Arc<Self>> {
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        writer.set_nonblocking(true)?;
        Ok(Arc::new(Self { posted: Mutex::default(), woken: AtomicBool::new(false), reader, writer }))
    }

    pub(super) fn as_raw_fd(&self) -> RawFd {
        self.reader.as_raw_fd()
    }

    pub(super) fn post(&self, id: u64, posted: Posted) {
        self.posted.lock().push((id, posted));
        self.wake();
    }

    /// Has the loop call the lane.
    pub(super) fn wake(&self) {
        if !self.woken.swap(true, Ordering::AcqRel) {
            // One byte always fits: there is never more than one. If the loop's end is gone, nobody is to be woken.
            let _ = (&self.writer).write(&[0]);
        }
    }

    /// Takes the byte; from here on another one is sent.
    pub(super) fn drain(&self) {
        let mut bytes = [0; 16];
        let _ = (&self.reader).read(&mut bytes);
        self.woken.store(false, Ordering::Release);
    }

    pub(super) fn take(&self) -> Vec<(u64, Posted)> {
        std::mem::take(&mut *self.posted.lock())
    }
}
