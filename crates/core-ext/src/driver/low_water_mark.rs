//! The receive low-water mark of a connection: how many bytes must have come before the kernel wakes us.
//!
//! The server sends its answers one by one. Without a mark each of them wakes us; with it a wake-up finds many, and what
//! they set off leaves in one flush. Two rules keep it from ever stalling (both were met as stalls of 40 ms, until a
//! delayed ACK): it never asks for more than is certain to come, and a timer of about a millisecond takes it back.

use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

use aerolane_wire::message::MESSAGE_HEADER_SIZE;
use aerolane_wire::proto::PROTO_HEADER_SIZE;

/// The size of the smallest answer.
const SMALLEST_ANSWER: usize = PROTO_HEADER_SIZE + MESSAGE_HEADER_SIZE;
/// Most answers to wait for (decision 0002 has the figures).
const MOST_ANSWERS: usize = 64;
/// After this time the mark is taken back.
pub(crate) const PATIENCE: Duration = Duration::from_millis(1);

/// The mark of one socket.
#[derive(Debug)]
pub(crate) struct LowWaterMark {
    /// In answers; 1 is the kernel's own behaviour.
    answers: usize,
    /// Never raised: the system does not take it (not Linux), or bytes of the socket are not bytes of answers.
    off: bool,
}

impl LowWaterMark {
    pub(crate) const fn new() -> Self {
        Self { answers: 1, off: !cfg!(target_os = "linux") }
    }

    /// One that is never raised: for TLS, where one request at a time is in flight.
    pub(crate) const fn off() -> Self {
        Self { answers: 1, off: true }
    }

    /// Whether the kernel waits for more than one answer.
    pub(crate) const fn is_raised(&self) -> bool {
        self.answers > 1
    }

    /// Sets the mark for a socket with so many requests in flight: half of their answers, as a power of two (so that it
    /// changes rarely). It is raised only where that is said to be due: after something was sent or received.
    pub(crate) fn set_for(&mut self, in_flight: usize, may_raise: bool, socket: &impl AsRawFd) {
        let half = (in_flight / 2).clamp(1, MOST_ANSWERS);
        let answers = 1 << half.ilog2();
        // A mark that is lower than it could be costs a wake-up; one that is too high would stall.
        if answers < self.answers || (may_raise && answers > self.answers) {
            self.set(answers, socket);
        }
    }

    /// After a read: takes the mark down when fewer answers may be to come than it waits for. Otherwise it stays as it
    /// is, also with nothing in flight: most often more is sent at once, for which it fits. (An answer of which a part
    /// has come counts for none: less than the smallest answer may be left of it.)
    pub(crate) fn keep_below(&mut self, in_flight: usize, socket: &impl AsRawFd) {
        if in_flight > 0 && in_flight <= self.answers {
            self.set_for(in_flight, false, socket);
        }
    }

    /// Takes the mark back; what has come is signalled at once.
    pub(crate) fn lower(&mut self, socket: &impl AsRawFd) {
        if self.is_raised() {
            self.set(1, socket);
        }
    }

    fn set(&mut self, answers: usize, socket: &impl AsRawFd) {
        if self.off {
            return;
        }
        let bytes = if answers == 1 { 1 } else { answers * SMALLEST_ANSWER };
        match set_low_water_mark(socket, bytes) {
            Ok(()) => self.answers = answers,
            Err(_) => self.off = true,
        }
    }
}

fn set_low_water_mark(socket: &impl AsRawFd, bytes: usize) -> io::Result<()> {
    let value = bytes as libc::c_int;
    // SAFETY: the descriptor is open (it is borrowed for the call), and the pointer and length are those of a live
    // `c_int`. No crate of ours' wraps this option.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVLOWAT,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
