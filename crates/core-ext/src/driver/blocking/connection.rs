//! One connection of a thread: writes a request, reads its answer, by a deadline.
//!
//! The kernel keeps the time: `SO_SNDTIMEO` and `SO_RCVTIMEO` are set when the value changes, which it does not from
//! call to call with the same policy. The clock is read only when a call is interrupted or served in pieces.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use aerolane_wire::WireError;
use aerolane_wire::proto::{Frame, FrameType, MAX_BODY_SIZE, PROTO_HEADER_SIZE, ProtoHeader, split_frame};

use super::interrupt::Interrupt;
use super::ready;
use crate::clock;
use crate::connect::BlockingStream;
use crate::driver::close_reason;
use crate::driver::layer::Layer;
use crate::driver::low_water_mark::LowWaterMark;
use crate::lane::{Failure, FailureKind, RESERVED_AT_ONCE};
use crate::metrics::Meter;

/// What a connection's buffer has at first: most answers fit, so that one read takes them.
const FIRST_BUFFER: usize = 4 * 1024;
/// A buffer that grew beyond this is given back when the connection is.
const KEEP_BUFFER: usize = 256 * 1024;

/// What is read from the socket of a TLS connection at a time: the largest record, with room for what encryption adds.
const READ_CIPHERTEXT: usize = 18 * 1024;

thread_local! {
    /// A thread's room to read into.
    static CIPHERTEXT: Cell<Box<[u8]>> = Cell::default();
}

/// What a connection did since it was taken from its pool.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) requests: u64,
    pub(super) answers: u64,
    pub(super) timeouts: u64,
    pub(super) bytes_sent: u64,
    pub(super) bytes_received: u64,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.answers += other.answers;
        self.timeouts += other.timeouts;
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
    }
}

/// An open connection, used by one thread at a time.
#[derive(Debug)]
pub(super) struct ThreadConnection {
    /// Shared with the pool, which shuts it down when the client is closed.
    socket: Arc<TcpStream>,
    layer: Layer,
    /// All of it is initialised; the first `filled` bytes have been received.
    input: Vec<u8>,
    filled: usize,
    /// How much of `filled` has been handed out as frames.
    consumed: usize,
    read_timeout: Option<Duration>,
    write_timeout: Option<Duration>,
    /// Names the connection in its pool.
    pub(super) serial: u64,
    /// When its last call began.
    pub(super) last_used: Instant,
    /// It has answered before: it may have died since.
    pub(super) reused: bool,
    pub(super) tally: Tally,
    /// Of its answers, whoever waits for them.
    pub(super) meter: Meter,
    mark: LowWaterMark,
    /// A signal ended [`read_once`](Self::read_once); whoever looks resets it.
    pub(super) signalled: bool,
    /// Its node, for the log.
    pub(super) node: Arc<str>,
    /// Why it is closed when it is dropped, for the log.
    pub(super) closing: Cow<'static, str>,
}

/// The connection is of no use any more.
#[derive(Debug)]
pub(super) enum Broken {
    /// The deadline passed.
    Expired,
    /// The caller was interrupted.
    Interrupted,
    Lost(io::ErrorKind),
    Garbage(WireError),
}

impl Broken {
    /// Why the connection is closed, for the log.
    pub(super) fn reason(&self) -> Cow<'static, str> {
        match self {
            Self::Expired => close_reason(&FailureKind::Expired),
            Self::Interrupted => close_reason(&FailureKind::Interrupted),
            Self::Lost(kind) => close_reason(&FailureKind::ConnectionLost(*kind)),
            Self::Garbage(error) => close_reason(&FailureKind::Garbage(*error)),
        }
    }

    pub(super) fn failure(self, sent: bool, begun: bool) -> Failure {
        let kind = match self {
            Self::Expired => FailureKind::Expired,
            Self::Interrupted => FailureKind::Interrupted,
            Self::Lost(kind) => FailureKind::ConnectionLost(kind),
            Self::Garbage(error) => FailureKind::Garbage(error),
        };
        Failure::new(kind, sent).begun(begun)
    }
}

impl From<WireError> for Broken {
    fn from(error: WireError) -> Self {
        Self::Garbage(error)
    }
}

impl ThreadConnection {
    /// Takes over a stream that has no timeouts set.
    pub(super) fn new((stream, node): (BlockingStream, Arc<str>), serial: u64, meter: Meter, now: Instant) -> Self {
        let (socket, layer) = Layer::of_blocking(stream);
        Self {
            socket: Arc::new(socket),
            layer,
            input: vec![0; FIRST_BUFFER],
            filled: 0,
            consumed: 0,
            read_timeout: None,
            write_timeout: None,
            serial,
            last_used: now,
            reused: false,
            tally: Tally::default(),
            meter,
            mark: LowWaterMark::new(),
            signalled: false,
            node,
            closing: Cow::Borrowed("given up before its answer was read"),
        }
    }

    pub(super) fn socket(&self) -> &Arc<TcpStream> {
        &self.socket
    }

    /// Writes a request; `now` is a recent reading of the clock. An error: it has not been sent whole, so the server
    /// cannot have executed it.
    pub(super) fn send(
        &mut self,
        request: &[u8],
        now: Instant,
        deadline: Option<Instant>,
        interrupt: Interrupt<'_>,
    ) -> Result<(), Broken> {
        self.filled = 0;
        self.consumed = 0;
        self.tally.requests += 1;
        self.write_all(request, now, deadline, interrupt)
    }

    fn write_all(
        &mut self,
        request: &[u8],
        now: Instant,
        deadline: Option<Instant>,
        interrupt: Interrupt<'_>,
    ) -> Result<(), Broken> {
        let mut written = 0;
        let mut at = now;
        while written < request.len() {
            self.write_until(deadline, at, interrupt)?;
            match self.write_some(&request[written..]) {
                Ok(0) => return Err(Broken::Lost(io::ErrorKind::WriteZero)),
                Ok(n) => {
                    written += n;
                    self.tally.bytes_sent += n as u64;
                    if written == request.len() {
                        break;
                    }
                }
                Err(error) => pass_if_temporary(&error, interrupt)?,
            }
            at = clock::now();
        }
        self.flush(at, deadline, interrupt)
    }

    /// Writes as much as the socket takes at once, and says how much that was. For pipelined requests.
    pub(super) fn write_now(&mut self, requests: &[u8]) -> Result<usize, Broken> {
        let written = ready::write_now(&self.socket, requests).map_err(|error| Broken::Lost(error.kind()))?;
        self.tally.bytes_sent += written as u64;
        Ok(written)
    }

    /// Waits until more can be written, for at most `timeout`, but reads what comes before that: the server may take no more
    /// until somebody does. Says whether anything came.
    #[cold]
    pub(super) fn read_or_write(&mut self, timeout: Duration) -> Result<bool, Broken> {
        // With a mark the kernel would say nothing of a few bytes.
        self.lower_mark();
        match ready::wait(&self.socket, true, timeout) {
            Ok(true) => self.read_once(timeout.max(Duration::from_micros(1))),
            Ok(false) => Ok(false),
            Err(error) => self.passed(&error),
        }
    }

    /// The body of the next frame of the answer, and whether it came compressed. Bytes behind it stay for the next call.
    pub(super) fn receive(
        &mut self,
        now: Instant,
        deadline: Option<Instant>,
        interrupt: Interrupt<'_>,
    ) -> Result<Frame<'_>, Broken> {
        let mut at = now;
        let total = loop {
            if let Some(total) = self.whole_frame()? {
                break total;
            }
            self.make_room();
            self.set_read_timeout(interrupt.slice(left(deadline, at)?))?;
            match self.read_some() {
                Ok(0) => return Err(Broken::Lost(io::ErrorKind::UnexpectedEof)),
                Ok(n) => {
                    self.filled += n;
                    self.tally.bytes_received += n as u64;
                    // Nearly always this was all, and the clock need not be asked.
                    if let Some(total) = self.whole_frame()? {
                        break total;
                    }
                }
                Err(error) => pass_if_temporary(&error, interrupt)?,
            }
            at = clock::now();
        };
        let start = self.consumed;
        self.consumed += total;
        match split_frame(&self.input[start..start + total], MAX_BODY_SIZE)? {
            Some((frame, _))
                if matches!(frame.header.frame_type, FrameType::Message | FrameType::CompressedMessage) =>
            {
                Ok(frame)
            }
            _ => Err(WireError::invalid("an info or admin frame where an answer was expected", 1).into()),
        }
    }

    /// Reads once, for at most `timeout`; says whether anything came. For pipelined requests.
    pub(super) fn read_once(&mut self, timeout: Duration) -> Result<bool, Broken> {
        self.make_room();
        self.set_read_timeout(Some(timeout))?;
        match self.read_some() {
            Ok(0) => Err(Broken::Lost(io::ErrorKind::UnexpectedEof)),
            Ok(n) => {
                self.filled += n;
                self.tally.bytes_received += n as u64;
                Ok(true)
            }
            Err(error) => self.passed(&error),
        }
    }

    /// Nothing came.
    fn passed(&mut self, error: &io::Error) -> Result<bool, Broken> {
        self.signalled |= error.kind() == io::ErrorKind::Interrupted;
        pass_if_temporary(error, Interrupt::default()).map(|()| false)
    }

    /// The next frame that has come whole.
    pub(super) fn next_frame(&mut self) -> Result<Option<Frame<'_>>, WireError> {
        match split_frame(&self.input[self.consumed..self.filled], MAX_BODY_SIZE)? {
            Some((frame, total)) => {
                self.consumed += total;
                Ok(Some(frame))
            }
            None => Ok(None),
        }
    }

    /// Lets the kernel wait for about half of the answers to so many requests; says whether it now waits for more than
    /// one.
    pub(super) fn set_mark(&mut self, in_flight: usize, may_raise: bool) -> bool {
        self.mark.set_for(in_flight, may_raise, &*self.socket);
        self.mark.is_raised()
    }

    /// Takes the mark back.
    pub(super) fn lower_mark(&mut self) {
        self.mark.lower(&*self.socket);
    }

    /// Whether several requests may be on it at a time. Over TLS the server takes one per TLS record.
    pub(super) fn can_pipeline(&self) -> bool {
        !self.layer.is_tls()
    }

    /// Whether everything that came has been handed out: the connection is ready for another request.
    pub(super) fn is_drained(&self) -> bool {
        self.consumed == self.filled
    }

    /// Whether any byte of an answer has come since it was taken from its pool.
    pub(super) fn has_received(&self) -> bool {
        self.tally.bytes_received > 0
    }

    /// Prepares it for its time in the pool.
    pub(super) fn rest(&mut self, now: Instant) {
        self.last_used = now;
        self.reused = true;
        self.give_back();
    }

    /// Gives back what a large answer needed, once all that was received has been consumed.
    pub(super) fn give_back(&mut self) {
        if self.input.len() > KEEP_BUFFER && self.consumed == self.filled {
            self.input = vec![0; FIRST_BUFFER];
            self.filled = 0;
            self.consumed = 0;
        }
    }

    /// Whether the peer has closed it (or says something unasked) while it rested. Costs three system calls.
    pub(super) fn has_died(&self) -> bool {
        if self.socket.set_nonblocking(true).is_err() {
            return true;
        }
        let peeked = self.socket.peek(&mut [0]);
        if self.socket.set_nonblocking(false).is_err() {
            return true;
        }
        match peeked {
            Ok(0) => true,
            // Over TLS the server may send session tickets of its own accord.
            Ok(_) => !self.layer.is_tls(),
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        }
    }

    /// Wakes whoever is blocked on it.
    pub(super) fn shut_down(socket: &TcpStream) {
        // Fails when the peer has done so already.
        let _ = socket.shutdown(Shutdown::Both);
    }

    /// The size of the frame at the front of what has not been handed out, once it is there whole.
    fn whole_frame(&self) -> Result<Option<usize>, WireError> {
        let bytes = &self.input[self.consumed..self.filled];
        Ok(split_frame(bytes, MAX_BODY_SIZE)?.map(|(_, total)| total))
    }

    /// Room to read into. The buffer grows with the bytes that came; an announced size is believed up to [`RESERVED_AT_ONCE`].
    fn make_room(&mut self) {
        if self.consumed > 0 {
            self.input.copy_within(self.consumed..self.filled, 0);
            self.filled -= self.consumed;
            self.consumed = 0;
        }
        if self.filled == self.input.len() {
            let announced = self.input.first_chunk::<PROTO_HEADER_SIZE>().map_or(0, |head| {
                ProtoHeader::decode(head, MAX_BODY_SIZE).map_or(0, |h| PROTO_HEADER_SIZE + h.body_size)
            });
            let most = (self.input.len() * 2).max(RESERVED_AT_ONCE);
            // Whole pages beyond the frame: the next frame of the same answer often follows at once.
            self.input.resize(most.min(announced.max(self.filled + 1).next_multiple_of(FIRST_BUFFER)), 0);
        }
    }

    fn set_read_timeout(&mut self, timeout: Option<Duration>) -> Result<(), Broken> {
        if timeout != self.read_timeout {
            self.socket.set_read_timeout(timeout).map_err(|e| Broken::Lost(e.kind()))?;
            self.read_timeout = timeout;
        }
        Ok(())
    }

    fn write_until(&mut self, deadline: Option<Instant>, now: Instant, interrupt: Interrupt<'_>) -> Result<(), Broken> {
        let timeout = interrupt.slice(left(deadline, now)?);
        if !will_do(self.write_timeout, timeout) {
            self.socket.set_write_timeout(timeout).map_err(|e| Broken::Lost(e.kind()))?;
            self.write_timeout = timeout;
        }
        Ok(())
    }

    fn read_some(&mut self) -> io::Result<usize> {
        if self.layer.is_tls() {
            return self.read_decrypted();
        }
        (&*self.socket).read(&mut self.input[self.filled..])
    }

    /// Reads until an answer, or a part of one, came: over TLS a read may bring none.
    fn read_decrypted(&mut self) -> io::Result<usize> {
        let Self { layer, socket, input, filled, .. } = self;
        let mut end = *filled;
        let mut ciphertext = CIPHERTEXT.take();
        if ciphertext.is_empty() {
            ciphertext = vec![0; READ_CIPHERTEXT].into_boxed_slice();
        }
        let result = loop {
            let read = layer.read(&mut &**socket, &mut ciphertext, |plaintext| {
                let from = end;
                end += plaintext.len();
                if end > input.len() {
                    input.resize(end, 0);
                }
                input[from..end].copy_from_slice(plaintext);
                Ok(())
            });
            match read {
                // An error behind an answer is met again by the next read.
                _ if end > *filled => break Ok(end - *filled),
                Ok(_) => {}
                Err(error) => break Err(error),
            }
        };
        CIPHERTEXT.set(ciphertext);
        result
    }

    fn write_some(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.layer.is_tls() {
            return (&*self.socket).write(bytes);
        }
        let mut written = 0;
        self.layer.write(&mut &*self.socket, bytes, &mut written)?;
        if written == 0 { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(written) }
    }

    /// Writes what a write over TLS had to keep back.
    fn flush(&mut self, now: Instant, deadline: Option<Instant>, interrupt: Interrupt<'_>) -> Result<(), Broken> {
        let mut at = now;
        while self.layer.holds_output() {
            match self.layer.write(&mut &*self.socket, &[], &mut 0) {
                Ok(()) if !self.layer.holds_output() => break,
                Ok(()) => pass_if_temporary(&io::ErrorKind::WouldBlock.into(), interrupt)?,
                Err(error) => pass_if_temporary(&error, interrupt)?,
            }
            at = at.max(clock::now());
            self.write_until(deadline, at, interrupt)?;
        }
        Ok(())
    }
}

/// Whether a write timeout that is set need not be changed. One that is a little too long will do: only a write that
/// blocks would notice, and setting another costs every other call a system call.
fn will_do(set: Option<Duration>, wanted: Option<Duration>) -> bool {
    match (set, wanted) {
        (Some(set), Some(wanted)) => wanted <= set && set.saturating_sub(wanted) <= wanted / 8,
        (set, wanted) => set == wanted,
    }
}

/// The time left, for a timeout of the socket: never zero, which would mean none.
fn left(deadline: Option<Instant>, now: Instant) -> Result<Option<Duration>, Broken> {
    match deadline.map(|deadline| deadline.saturating_duration_since(now)) {
        Some(Duration::ZERO) => Err(Broken::Expired),
        // The kernel counts microseconds.
        Some(left) => Ok(Some(left.max(Duration::from_micros(1)))),
        None => Ok(None),
    }
}

/// Interruptions and timeouts of the socket: the caller and the deadline decide whether to go on.
fn pass_if_temporary(error: &io::Error, interrupt: Interrupt<'_>) -> Result<(), Broken> {
    match error.kind() {
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut if interrupt.came() => {
            Err(Broken::Interrupted)
        }
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Ok(()),
        kind => Err(Broken::Lost(kind)),
    }
}
