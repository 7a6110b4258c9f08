//! Sockets that block, used without blocking.

use std::io;
use std::net::TcpStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
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
    let read = PollFlags::IN | PollFlags::HUP | PollFlags::ERR;
    let events = if or_read { PollFlags::IN | PollFlags::OUT } else { PollFlags::OUT };
    let mut entries = [PollFd::new(socket, events)];
    let longest = longest.clamp(Duration::from_millis(1), Duration::from_secs(60));
    poll(&mut entries, Timespec::try_from(longest).ok().as_ref())?;
    Ok(entries[0].revents().intersects(read))
}
