//! Sockets in a forked child: it has a copy of every descriptor, of the same connections that its parent goes on using.
//!
//! The child must not use or shut down what they refer to, and cannot drop their owners (threads that it does not have
//! may hold locks, and tokio would take the parent's sockets off the `epoll` that both share). So each descriptor is made
//! to refer to a dead socket instead: the connection is the parent's alone again, and the number still belongs to
//! its owner, used or not.

use std::io;
use std::os::fd::AsRawFd;

/// A socket that is connected to nothing.
pub(crate) struct DeadSocket(socket2::Socket);

impl DeadSocket {
    pub(crate) fn new() -> io::Result<Self> {
        socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).map(Self)
    }

    /// Has the descriptor refer to the dead socket. In this process; others that share the connection keep it.
    pub(crate) fn replace(&self, socket: &impl AsRawFd) {
        let fd = socket.as_raw_fd();
        // SAFETY: both descriptors are open and borrowed for the calls. The number stays open and with its owner, who
        // reads and writes an unconnected socket (errors) from here on. The standard library has no `dup2`.
        unsafe {
            if libc::dup2(self.0.as_raw_fd(), fd) == fd {
                libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
            }
        }
    }
}
