//! Reads ahead while the program keeps its event loop busy.
//!
//! A server writes an answer with a blocking send: one whose client does not read holds up a thread of the server, and with
//! it the requests of all its other clients, as soon as the answers on their way fill the buffers of the socket (300 answers
//! of 100 kB do). So while a driver has requests in flight, the control thread looks now and then whether its loop turns. If
//! answers lie in the sockets and the loop does not come for them, it takes them out; the driver finds them before what is in
//! the sockets. Neither the lane nor the interpreter is touched.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::sharing::Port;
use crate::sync::Mutex;

/// How often it looks whether the loop turns.
const LOOK_EVERY: Duration = Duration::from_millis(25);
/// How often it reads while the loop does not, and answers come.
const READ_EVERY: Duration = Duration::from_millis(2);
/// The pauses grow to this where nothing comes: the server is slow, or the loop has ended.
const LONGEST_PAUSE: Duration = Duration::from_millis(200);
/// After so many looks at a driver that has nothing in flight it looks no more, until it is told.
const LOOKS_AT_IDLE: u32 = 4;
/// Most bytes that are taken from one socket ahead of the loop. The server waits behind them, as it would without us.
const MOST_EARLY: usize = 64 << 20;
const CHUNK: usize = 256 * 1024;

/// A socket that the loop's thread owns, and the control thread reads from while that thread is busy.
#[derive(Debug)]
pub(super) struct SharedSocket {
    pub(super) tcp: TcpStream,
    /// Locked for each read: bytes must not overtake each other.
    early: Mutex<ReadAhead>,
}

/// Bytes that were read ahead; those before `used` are handed in.
#[derive(Debug, Default)]
struct ReadAhead {
    bytes: Vec<u8>,
    used: usize,
}

impl From<TcpStream> for SharedSocket {
    fn from(tcp: TcpStream) -> Self {
        Self { tcp, early: Mutex::default() }
    }
}

impl SharedSocket {
    /// Reads with `read`, first what was read ahead. Also says whether it was that.
    pub(super) fn read_with<R>(&self, read: impl FnOnce(&mut Source<'_>) -> R) -> (R, bool) {
        let mut early = self.early.lock();
        let ahead = !early.bytes.is_empty();
        (read(&mut Source { tcp: &self.tcp, early: &mut early }), ahead)
    }

    /// Whether something is to be read before what is in the socket.
    pub(super) fn has_early(&self) -> bool {
        !self.early.lock().bytes.is_empty()
    }

    fn has_arrived(&self) -> bool {
        matches!(self.tcp.peek(&mut [0]), Ok(1..))
    }

    /// Takes what is in the socket. Says whether there was anything. The end of the connection is for the loop to find.
    fn read_ahead(&self) -> bool {
        // Who holds the lock reads: the loop turns.
        let Some(mut early) = self.early.try_lock() else { return false };
        let begun = early.bytes.len();
        while early.bytes.len() < MOST_EARLY {
            let end = early.bytes.len();
            early.bytes.resize(end + CHUNK, 0);
            let read = (&self.tcp).read(&mut early.bytes[end..]);
            early.bytes.truncate(end + read.as_ref().map_or(0, |&n| n));
            if !matches!(read, Ok(CHUNK)) {
                break;
            }
        }
        early.bytes.len() > begun
    }
}

/// What a connection's bytes are read from: those that were read ahead, then the socket.
pub(super) struct Source<'a> {
    tcp: &'a TcpStream,
    early: &'a mut ReadAhead,
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.early.bytes.is_empty() {
            return (&*self.tcp).read(buffer);
        }
        let n = (&self.early.bytes[self.early.used..]).read(buffer)?;
        self.early.used += n;
        if self.early.used == self.early.bytes.len() {
            *self.early = ReadAhead::default();
        }
        Ok(n)
    }
}

impl Write for Source<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.tcp).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the control thread sees of a driver.
#[derive(Debug, Default)]
pub(super) struct Watched {
    sockets: Mutex<Vec<Weak<SharedSocket>>>,
    /// Requests are in flight.
    pub(super) busy: AtomicBool,
    /// Set by the loop whenever it calls the driver.
    pub(super) turned: AtomicBool,
    /// Something was read ahead.
    relieved: AtomicBool,
    /// The control thread looks.
    looks: AtomicBool,
}

impl Watched {
    pub(super) fn add(&self, socket: &Arc<SharedSocket>) {
        let mut sockets = self.sockets.lock();
        sockets.retain(|socket| socket.strong_count() > 0);
        sockets.push(Arc::downgrade(socket));
    }

    /// Whether something was read ahead since the last time.
    pub(super) fn take_relieved(&self) -> bool {
        self.relieved.load(Ordering::Relaxed) && self.relieved.swap(false, Ordering::Acquire)
    }

    /// The loop has called the driver, with requests in flight or without. True: [`look_after`] is to be started.
    pub(super) fn turn(&self, busy: bool) -> bool {
        self.busy.store(busy, Ordering::Relaxed);
        self.turned.store(true, Ordering::Relaxed);
        busy && !self.looks.load(Ordering::Relaxed) && !self.looks.swap(true, Ordering::AcqRel)
    }

    fn sockets(&self) -> Vec<Arc<SharedSocket>> {
        self.sockets.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// Reads from all sockets. Says whether anything came.
    fn read_ahead(&self) -> bool {
        let came = self.sockets().iter().fold(false, |came, socket| socket.read_ahead() | came);
        if came {
            self.relieved.store(true, Ordering::Release);
        }
        came
    }
}

/// Looks after a driver while it has requests in flight. Keeps nothing alive: a loop may have stopped for good.
pub(super) async fn look_after(port: Weak<Port>) {
    let (mut idle, mut arrived, mut pause) = (0, false, LOOK_EVERY);
    loop {
        tokio::time::sleep(pause).await;
        let Some(port) = port.upgrade() else { return };
        let watched = &port.watched;
        if !watched.busy.load(Ordering::Relaxed) {
            idle += 1;
            if idle == LOOKS_AT_IDLE {
                watched.looks.store(false, Ordering::Release);
                return;
            }
            continue;
        }
        idle = 0;
        if watched.turned.swap(false, Ordering::Relaxed) {
            (arrived, pause) = (false, LOOK_EVERY);
            continue;
        }
        // A loop that waits for a slow server does not turn either: only what lies there from one look to the next shows that
        // nobody comes for it.
        if !arrived {
            arrived = watched.sockets().iter().any(|socket| socket.has_arrived());
            pause = if arrived { LOOK_EVERY } else { (2 * pause).min(LONGEST_PAUSE) };
        } else if watched.read_ahead() {
            pause = READ_EVERY;
            // The sockets are empty: nothing else tells the loop, once it turns again.
            port.ring();
        } else {
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn pair() -> (TcpStream, Arc<SharedSocket>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (tcp, _) = listener.accept().unwrap();
        tcp.set_nonblocking(true).unwrap();
        (server, Arc::new(tcp.into()))
    }

    fn read(socket: &SharedSocket, most: usize) -> io::Result<Vec<u8>> {
        let mut buffer = vec![0; most];
        let n = socket.read_with(|source| source.read(&mut buffer)).0?;
        buffer.truncate(n);
        Ok(buffer)
    }

    #[test]
    fn what_was_read_ahead_comes_first_and_whole() {
        let (mut server, socket) = pair();
        let watched = Watched::default();
        watched.add(&socket);
        assert!(!watched.read_ahead() && !watched.take_relieved());
        server.write_all(b"abcdef").unwrap();
        while !watched.read_ahead() {}
        assert!(watched.take_relieved() && !watched.take_relieved() && socket.has_early());
        server.write_all(b"ghi").unwrap();
        drop(server);
        assert_eq!(read(&socket, 4).unwrap(), b"abcd");
        assert_eq!(read(&socket, 4).unwrap(), b"ef");
        assert!(!socket.has_early());
        while !socket.has_arrived() {}
        assert_eq!(read(&socket, 4).unwrap(), b"ghi");
        // The end is not lost, whoever saw it first.
        while read(&socket, 4).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {}
        assert!(!watched.read_ahead());
        assert_eq!(read(&socket, 4).unwrap(), b"");
        drop(socket);
        assert!(watched.sockets().is_empty());
    }
}
