//! Where tasks of a lane are named when they are to be polled. Other threads never attach to Python: they leave a number
//! here, and make a socket readable that the loop watches.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use aerolane::sync::Mutex;

use super::running::thread_token;

/// The numbers of a lane's tasks that are to be polled.
pub(super) struct Inbox {
    woken: Mutex<Vec<u64>>,
    /// Whether there are any: each turn of the lane asks, and mostly there are none. Set under the lock.
    any: AtomicBool,
    /// A byte is on its way.
    signalled: AtomicBool,
    /// The thread that is in a turn of the lane: it looks in here before the turn ends. 0: none.
    turning: AtomicUsize,
    reader: UnixStream,
    writer: UnixStream,
}

impl Inbox {
    pub(super) fn new() -> io::Result<Arc<Self>> {
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        writer.set_nonblocking(true)?;
        Ok(Arc::new(Self {
            woken: Mutex::default(),
            any: AtomicBool::new(false),
            signalled: AtomicBool::new(false),
            turning: AtomicUsize::new(0),
            reader,
            writer,
        }))
    }

    pub(super) fn as_raw_fd(&self) -> RawFd {
        self.reader.as_raw_fd()
    }

    /// This task is to be polled.
    pub(super) fn post(&self, id: u64) {
        let mut woken = self.woken.lock();
        woken.push(id);
        self.any.store(true, Ordering::Release);
        drop(woken);
        if self.turning.load(Ordering::Relaxed) != thread_token() {
            self.wake();
        }
    }

    /// Has the loop call the lane.
    pub(super) fn wake(&self) {
        if !self.signalled.swap(true, Ordering::AcqRel) {
            // One byte always fits: there is never more than one. If the loop's end is gone, nobody is to be woken.
            let _ = (&self.writer).write(&[0]);
        }
    }

    /// Takes the byte; from here on another one is sent.
    pub(super) fn drain(&self) {
        let mut bytes = [0; 16];
        let _ = (&self.reader).read(&mut bytes);
        // Not a mere store: a thread that found it set does not wake the loop again, and what it has posted has to be seen from
        // here on.
        self.signalled.swap(false, Ordering::AcqRel);
    }

    pub(super) fn take(&self) -> Vec<u64> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut woken = self.woken.lock();
        self.any.store(false, Ordering::Release);
        std::mem::take(&mut *woken)
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.any.load(Ordering::Acquire)
    }

    /// This thread begins a turn.
    pub(super) fn begin_turn(&self) {
        self.turning.store(thread_token(), Ordering::Relaxed);
    }

    /// The turn is over, and so is any that it lies within: nothing is taken in there any more before another one.
    pub(super) fn end_turn(&self) {
        self.turning.store(0, Ordering::Relaxed);
    }
}
