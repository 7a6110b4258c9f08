//! Sockets that block, used without blocking.

use std::io;
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::Duration;

use socket2::SockRef;

/// A socket that the peer has closed gives an error, no signal.
#[cfg(not(target_vendor = "apple"))]
const FLAGS: i32 = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
/// The standard library has set an option to the same effect.
#[cfg(target_vendor = "apple")]
const FLAGS: i32 = libc::MSG_DONTWAIT;

/// Writes as much as the socket takes at once, and says how much that was.
pub(super) fn write_now(socket: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    let mut written = 0;
    while written < bytes.len() {
        match SockRef::from(socket).send_with_flags(&bytes[written..], FLAGS) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => written += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}

/// Waits until the socket takes more bytes, or has some to read if `or_read`; for so long at most. Says whether there is
/// anything to read (the end of the connection, for example).
///
/// # Errors
/// `Interrupted` by a signal.
pub(super) fn wait(socket: &TcpStream, or_read: bool, longest: Duration) -> io::Result<bool> {
    let events = if or_read { libc::POLLIN | libc::POLLOUT } else { libc::POLLOUT };
    let mut entry = libc::pollfd { fd: socket.as_raw_fd(), events, revents: 0 };
    let longest = longest.as_millis().clamp(1, 60_000) as libc::c_int;
    // SAFETY: `entry` is one live `pollfd` for the whole call, and its descriptor is that of a socket that is borrowed for it.
    let result = unsafe { libc::poll(&raw mut entry, 1, longest) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(entry.revents & (libc::POLLIN | libc::POLLHUP | libc::POLLERR) != 0)
}
