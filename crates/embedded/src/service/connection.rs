//! One connection: what it has received, what it has to send, and whose turn it is.
//!
//! Epoll is edge-triggered here: `readable` and `writable` stay set until the kernel says "would block" (or gives less
//! than was asked for), and a connection that could go on but has used up its share asks for another turn.

mod conditioned;

use super::dispatch::{coded_answer, dispatch, request_kind, service_kind, time_limit};
use super::link::{Entry, Link};
use super::outbox::Outbox;
use super::transport::Transport;
use super::{ListenerId, ahead};
use crate::clock::Now;
use crate::cluster::{ConnectionPermit, Counters, Node};
use crate::code;
use crate::faults::{BlackHole, RequestFault, Target, Watch};
use crate::request::{Answered, ConnectionWaker, Producer, Request, Session, error_answer};
use aerolane_wire::WireErrorKind;
use aerolane_wire::message::MESSAGE_HEADER_SIZE;
use aerolane_wire::proto::{Frame, FrameType, MAX_BODY_SIZE, PROTO_HEADER_SIZE, ProtoHeader, split_frame};
use mio::event::Event;
use mio::net::TcpStream;
use std::io::{self, ErrorKind, Read};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Above this many unsent bytes a connection reads and answers nothing more.
const OUT_BOUND: usize = 1024 * 1024;
/// A streamed answer is continued when fewer bytes than this are unsent.
const STREAM_BOUND: usize = 256 * 1024;
/// Reads per turn, so that a busy connection does not starve the others.
const READS_PER_TURN: usize = 4;
/// How often a stalled connection looks whether the rules were cleared.
const STALL_CHECK: Duration = Duration::from_millis(20);
/// How often a connection looks whether a schedule has gone on.
const WATCH_CHECK: Duration = Duration::from_millis(1);
/// Frame type of the server's cross-datacentre replication.
pub(super) const XDR_FRAME: u8 = 5;
/// Capacity that an idle connection may keep.
const KEEP_CAPACITY: usize = 64 * 1024;
/// Whether a read that returns less than was asked for means that the socket is empty. So it is with epoll and kqueue;
/// on Windows only "would block" arms the next event.
const SHORT_READ_IS_ALL: bool = cfg!(unix);

/// What a connection wants after its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The next event.
    Wait,
    /// Another turn, after the others.
    Again,
    /// A turn at this time.
    At(Instant),
    /// To be closed.
    Close,
}

impl Turn {
    /// The same, with a turn at this time if there is none before.
    fn at_latest(self, when: Instant) -> Self {
        match self {
            Self::Wait => Self::At(when),
            Self::At(at) => Self::At(at.min(when)),
            Self::Again | Self::Close => self,
        }
    }
}

/// What stands in the way of the next frame.
enum State {
    /// Nothing.
    Open,
    /// A fault, or the line of the node: the frame at the head waits; the fault that was drawn for it is in `drawn`.
    Delayed(Instant),
    /// A fault: never, until the rules are cleared (the count of clears was this).
    Stalled(u64),
    /// A fault: the answer waits.
    Holding { until: Instant, answer: Vec<u8>, fault: RequestFault },
    /// The frame before is in service until then.
    Occupied(Instant),
    /// The frame before was the last one that a schedule has waited for; the next one waits until that has gone on.
    Watched(Arc<Watch>),
    /// A fault: this answer leaves byte by byte.
    Splitting { answer: Vec<u8>, sent: usize, close: bool },
    /// An answer that is still being produced.
    Streaming(Box<dyn Producer>),
    /// The same, with a fault that has to have the answer as a whole, or as far as it goes.
    Gathering { producer: Box<dyn Producer>, answer: Vec<u8>, fault: RequestFault },
    /// All is answered; close when it is sent.
    Closing { reset: bool },
}

/// A connection that a listener has accepted.
pub(super) struct Accepted {
    /// The listener it came through.
    pub(super) listener: ListenerId,
    pub(super) node: Arc<Node>,
    /// Its place among the connections that the node may have.
    pub(super) permit: ConnectionPermit,
    pub(super) stream: TcpStream,
    pub(super) peer: SocketAddr,
    /// Its number at the node.
    pub(super) number: u64,
    /// A fault: it is served after that.
    pub(super) delay: Option<Duration>,
}

/// One connection of a service thread.
pub(super) struct Connection {
    /// The listener it came through.
    pub(super) listener: ListenerId,
    node: Arc<Node>,
    _seat: ConnectionPermit,
    stream: TcpStream,
    transport: Option<Box<dyn Transport>>,
    session: Session,
    /// Received and not answered: begins with a frame, mostly a partial one.
    input: Vec<u8>,
    output: Outbox,
    /// What is on the way, under conditions; `input` is empty then.
    link: Option<Box<Link>>,
    /// Version of the node's conditions that `link` follows.
    conditions: u64,
    state: State,
    drawn: Option<RequestFault>,
    /// A fault: what does not get through.
    black_hole: BlackHole,
    readable: bool,
    writable: bool,
    /// The client's end of stream was announced: a short read may not be the last one.
    read_closed: bool,
    /// Stands in the thread's list of ready connections.
    queued: bool,
    /// A timer is set for this time.
    timer: Option<Instant>,
}

impl Connection {
    pub(super) fn new(
        accepted: Accepted,
        transport: Option<Box<dyn Transport>>,
        waking: ConnectionWaker,
    ) -> io::Result<Self> {
        let Accepted { listener, node, permit, stream, peer, number, delay } = accepted;
        stream.set_nodelay(true)?;
        Counters::add(&node.counters.connections_opened, 1);
        log::info!("{}: {peer} has connected (connection {number})", node.name);
        let session = Session {
            peer,
            connection: number,
            common_name: None,
            user: None,
            grants: None,
            user_agent_set: false,
            waking,
            records: 0,
        };
        let mut connection = Self {
            listener,
            node,
            _seat: permit,
            stream,
            transport,
            session,
            input: Vec::new(),
            output: Outbox::default(),
            link: None,
            conditions: 0,
            state: delay.map_or(State::Open, |delay| State::Delayed(Instant::now() + delay)),
            drawn: None,
            black_hole: BlackHole::default(),
            readable: false,
            writable: true,
            read_closed: false,
            queued: false,
            timer: None,
        };
        if connection.node.conditions.version() != 0 {
            connection.follow_conditions(true);
        }
        Ok(connection)
    }

    /// Takes note of an event; `true`: put the connection on the list of ready ones.
    pub(super) fn note(&mut self, event: &Event) -> bool {
        self.readable |= event.is_readable() || event.is_read_closed() || event.is_error();
        self.read_closed |= event.is_read_closed() || event.is_error();
        self.writable |= event.is_writable();
        self.queue()
    }

    /// `true`, once per turn: put the connection on the list of ready ones.
    pub(super) fn queue(&mut self) -> bool {
        !std::mem::replace(&mut self.queued, true)
    }

    /// Whether a timer has to be set for `when`; it is taken to be set then.
    pub(super) fn wants_timer(&mut self, when: Instant) -> bool {
        let wanted = self.timer.is_none_or(|set| when < set);
        if wanted {
            self.timer = Some(when);
        }
        wanted
    }

    /// A timer of this connection has gone off.
    pub(super) fn timer_fired(&mut self) -> bool {
        self.timer = None;
        self.queue()
    }

    /// Does what can be done now, by the system's clock.
    pub(super) fn turn(&mut self, now: Now, buffer: &mut [u8]) -> Turn {
        self.queued = false;
        let now = self.node.time(now);
        if self.node.conditions.version() != self.conditions {
            self.follow_conditions(false);
        }
        if self.node.faults.armed() || self.black_hole != BlackHole::default() {
            self.black_hole = self.node.faults.black_hole(self.session.connection, self.black_hole);
        }
        let turn = match self.link {
            None => self.advance(now, buffer),
            Some(_) => self.advance_under_conditions(now, buffer),
        };
        let turn = turn.unwrap_or(Turn::Close);
        self.count_records();
        if self.black_hole == BlackHole::default() { turn } else { turn.at_latest(Instant::now() + STALL_CHECK) }
    }

    /// Adds what was answered to the node's count. Not for each record, as all threads share the counter; but before the answers
    /// leave, so that who has one finds it counted.
    fn count_records(&mut self) {
        if self.session.records > 0 {
            Counters::add(&self.node.counters.records, std::mem::take(&mut self.session.records));
        }
    }

    fn advance(&mut self, now: Now, buffer: &mut [u8]) -> io::Result<Turn> {
        let mut reads = 0;
        loop {
            self.flush()?;
            if let Some(turn) = self.resume(now) {
                return Ok(turn);
            }
            if self.output.len() > OUT_BOUND {
                return Ok(Turn::Wait);
            }
            if self.black_hole.requests {
                return Ok(Turn::Wait);
            }
            if self.serve_input(now) {
                continue;
            }
            if !self.readable {
                return Ok(Turn::Wait);
            }
            if reads == READS_PER_TURN {
                return Ok(Turn::Again);
            }
            reads += 1;
            match self.read(buffer) {
                Ok(0) => self.state = State::Closing { reset: false },
                Ok(n) => self.take_in(&buffer[..n], now),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => self.readable = false,
                    ErrorKind::Interrupted => {}
                    _ => return Err(error),
                },
            }
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(transport) = &mut self.transport {
            return transport.read(&mut self.stream, buffer);
        }
        let n = self.stream.read(buffer)?;
        if SHORT_READ_IS_ALL && n < buffer.len() && !self.read_closed {
            self.readable = false;
        }
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.count_records();
        if !self.writable || self.black_hole.answers {
            return Ok(());
        }
        self.writable = match &mut self.transport {
            None => self.output.send(|bytes| io::Write::write(&mut self.stream, bytes))?,
            Some(transport) => {
                let all = self.output.send(|bytes| transport.write(&mut self.stream, bytes))?;
                transport.flush(&mut self.stream)? && all
            }
        };
        Ok(())
    }

    /// Gets the state out of the way if that can be done now; otherwise says what to wait for.
    fn resume(&mut self, now: Now) -> Option<Turn> {
        match &mut self.state {
            State::Open => None,
            State::Delayed(until) if Instant::now() < *until => Some(Turn::At(*until)),
            State::Watched(watch) if !watch.is_over() => Some(Turn::At(Instant::now() + WATCH_CHECK)),
            State::Delayed(_) | State::Watched(_) => {
                self.state = State::Open;
                None
            }
            State::Occupied(until) => {
                if Instant::now() < *until {
                    // The answer leaves by a time of its own.
                    let more = self.link.as_ref().is_some_and(|link| link.holds() || link.ended);
                    return Some(if more { Turn::At(*until) } else { Turn::Wait });
                }
                self.state = State::Open;
                None
            }
            State::Stalled(clears) => {
                if self.read_closed {
                    return Some(Turn::Close);
                }
                if self.node.faults.clears() == *clears {
                    return Some(Turn::At(Instant::now() + STALL_CHECK));
                }
                self.state = State::Open;
                None
            }
            State::Holding { until, answer, fault } => {
                if Instant::now() < *until {
                    return Some(Turn::At(*until));
                }
                let (answer, fault) = (std::mem::take(answer), std::mem::take(fault));
                self.state = State::Open;
                self.deliver(answer, fault);
                Some(Turn::Again)
            }
            State::Splitting { answer, sent, close } => {
                if !self.output.is_empty() {
                    return Some(Turn::Wait);
                }
                match answer.get(*sent) {
                    Some(byte) => {
                        self.output.bytes().push(*byte);
                        if let Some(link) = self.link.as_mut().filter(|_| *sent > 0) {
                            link.send_behind(self.output.len(), Instant::now());
                        }
                        *sent += 1;
                    }
                    None if *close => self.state = State::Closing { reset: false },
                    None => self.state = State::Open,
                }
                Some(Turn::Again)
            }
            State::Streaming(producer) => {
                if self.output.len() >= STREAM_BOUND {
                    return Some(Turn::Wait);
                }
                if let Some(until) = self.link.as_ref().and_then(|link| link.occupied(Instant::now())) {
                    return Some(Turn::At(until));
                }
                if let Some(at) = producer.resume_at(now.instant).filter(|at| now.instant < *at) {
                    // What is answered already goes out meanwhile.
                    return Some(if self.read_closed { Turn::Close } else { Turn::At(at) });
                }
                if producer.produce(now, self.output.bytes()) {
                    self.state = State::Open;
                }
                Some(Turn::Again)
            }
            State::Gathering { producer, answer, fault } => {
                if let Some(until) = self.link.as_ref().and_then(|link| link.occupied(Instant::now())) {
                    return Some(Turn::At(until));
                }
                if let Some(at) = producer.resume_at(now.instant).filter(|at| now.instant < *at) {
                    return Some(if self.read_closed { Turn::Close } else { Turn::At(at) });
                }
                let enough = fault.truncate.unwrap_or(usize::MAX);
                if producer.produce(now, answer) || answer.len() >= enough {
                    let (answer, fault) = (std::mem::take(answer), std::mem::take(fault));
                    self.state = State::Open;
                    self.answered(answer, fault);
                }
                Some(Turn::Again)
            }
            State::Closing { reset } => {
                if let Some(at) = self.link.as_mut().and_then(|link| link.closes_later(Instant::now())) {
                    return Some(Turn::At(at));
                }
                if !self.output.is_empty() {
                    return Some(Turn::Wait);
                }
                if *reset {
                    // Lingering for 0 s turns the close into a reset. If that fails, it is an ordinary close.
                    let _ = socket2::SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
                }
                Some(Turn::Close)
            }
        }
    }

    /// Answers what `bytes` brought; keeps what cannot be answered yet.
    fn take_in(&mut self, bytes: &[u8], now: Now) {
        if self.input.is_empty() {
            let served = self.serve(bytes, now);
            self.input.extend_from_slice(&bytes[served..]);
        } else {
            self.input.extend_from_slice(bytes);
        }
    }

    /// Answers frames that are kept in `input`; `true` if anything happened.
    fn serve_input(&mut self, now: Now) -> bool {
        if self.input.is_empty() {
            return false;
        }
        let mut input = std::mem::take(&mut self.input);
        let served = self.serve(&input, now);
        if served == input.len() {
            input.clear();
            input.shrink_to(KEEP_CAPACITY);
        } else {
            input.drain(..served);
        }
        self.input = input;
        served > 0 || !matches!(self.state, State::Open)
    }

    /// Answers the whole frames at the front of `bytes` as long as nothing stands in the way; says how much that was.
    fn serve(&mut self, bytes: &[u8], now: Now) -> usize {
        let (mut at, mut fetched) = (0, 0);
        while matches!(self.state, State::Open) && self.output.len() <= OUT_BOUND {
            if at >= fetched {
                fetched = at + ahead::fetch_records(&self.node, &bytes[at..]).max(1);
            }
            match split_frame(&bytes[at..], MAX_BODY_SIZE) {
                Ok(Some((frame, size))) => {
                    if !self.frame(frame, now) {
                        break;
                    }
                    at += size;
                }
                Ok(None) => break,
                Err(error) if error.kind == WireErrorKind::FrameType(XDR_FRAME) => {
                    match self.skip_xdr_frame(&bytes[at..]) {
                        Some(0) => break,
                        Some(size) => at += size,
                        None => return bytes.len(),
                    }
                }
                // Not the protocol: what came before is answered, then the connection is closed.
                Err(error) => {
                    log::warn!("{}: {} sends what is not the protocol: {error}", self.node.name, self.session.peer);
                    self.state = State::Closing { reset: false };
                    return bytes.len();
                }
            }
        }
        at
    }

    /// The server's internal frame type is taken and not answered, unless it is too short to be a message (golden
    /// scenario `malformed/proto-header`). Says how many bytes that were: 0 if more have to come, `None` if the
    /// header is bad and the connection ends.
    #[cold]
    fn skip_xdr_frame(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut head = *bytes.first_chunk::<PROTO_HEADER_SIZE>()?;
        head[1] = FrameType::Message as u8;
        let Ok(header) = ProtoHeader::decode(&head, MAX_BODY_SIZE) else {
            self.state = State::Closing { reset: false };
            return None;
        };
        let size = PROTO_HEADER_SIZE + header.body_size;
        if bytes.len() < size {
            return Some(0);
        }
        if header.body_size < MESSAGE_HEADER_SIZE {
            error_answer(self.output.bytes(), code::PARAMETER);
        }
        Some(size)
    }

    /// Answers one frame. `false`: it has to wait.
    #[inline]
    fn frame(&mut self, frame: Frame<'_>, now: Now) -> bool {
        if frame.header.frame_type == FrameType::Admin {
            self.ask_for_name();
        }
        if self.node.faults.armed() || self.drawn.is_some() || self.link.is_some() {
            return self.frame_under_rules(frame, now);
        }
        let mut request = Request { node: &self.node, session: &mut self.session, body: frame.body, now };
        match dispatch(frame.header.frame_type, &mut request, self.output.bytes()) {
            Answered::Done => {}
            Answered::Later { from, until } => {
                let answer = self.output.bytes().split_off(from);
                self.state = State::Holding { until, answer, fault: RequestFault::default() };
            }
            Answered::Close => self.state = State::Closing { reset: false },
            Answered::Stream(producer) => self.state = State::Streaming(producer),
        }
        true
    }

    /// Finds out what the client's certificate says, for a login that relies on it.
    #[cold]
    fn ask_for_name(&mut self) {
        if self.session.user.is_none() && self.session.common_name.is_none() {
            self.session.common_name = self.transport.as_ref().and_then(|transport| transport.common_name());
        }
    }

    /// [`Connection::frame`] while fault rules are installed, a schedule counts, or conditions are set.
    #[cold]
    fn frame_under_rules(&mut self, frame: Frame<'_>, now: Now) -> bool {
        let is_answered = self.frame_with_faults(frame, now);
        if is_answered && self.node.faults.armed() {
            for watch in self.node.faults.count(request_kind(frame)) {
                // Whoever has this answer can rely on it, also if the node is to be stopped now.
                if self.link.is_none() {
                    let _ = self.flush();
                }
                watch.answered();
                if matches!(self.state, State::Open) {
                    self.state = State::Watched(watch);
                }
            }
        }
        is_answered
    }

    /// Answers one frame, with what the rules want of it. `false`: it has to wait.
    fn frame_with_faults(&mut self, frame: Frame<'_>, now: Now) -> bool {
        let draw = || {
            let kind = self.node.faults.armed().then(|| request_kind(frame))?;
            let message = if frame.header.frame_type == FrameType::Message { frame.body } else { &[] };
            let fault =
                self.node.faults.next_request(&Target { kind, connection: self.session.connection, message })?;
            let (node, peer, kind) = (&self.node.name, self.session.peer, kind.name());
            log::info!("{node}: a fault strikes a request ({kind}) of {peer}: {fault}");
            Some(fault)
        };
        let mut fault = self.drawn.take().or_else(draw).unwrap_or_default();
        if fault.stall {
            self.state = State::Stalled(self.node.faults.clears());
            return false;
        }
        if let Some(delay) = fault.delay.take() {
            self.wait(Instant::now() + delay, fault);
            return false;
        }
        if fault.drop_before {
            self.state = State::Closing { reset: true };
            return true;
        }
        if let Some(link) = &mut self.link {
            let now = Instant::now();
            // What was appended before is not part of this answer.
            link.send_off(self.output.len(), now);
            match link.enter(&self.node.conditions, || service_kind(frame), now) {
                Entry::Later(begin) => {
                    self.wait(begin, fault);
                    return false;
                }
                Entry::Now(end) if end > now => self.state = State::Occupied(end),
                Entry::Now(_) => {}
            }
            if !link.in_line.is_zero() && time_limit(frame).is_some_and(|limit| link.in_line > limit) {
                // As a server does that comes to it too late.
                fault.result_code.get_or_insert(code::TIMEOUT);
            }
        }
        let mut answer = Vec::new();
        if let Some(code) = fault.result_code {
            coded_answer(&mut answer, request_kind(frame), code);
        } else {
            let mut request = Request { node: &self.node, session: &mut self.session, body: frame.body, now };
            match dispatch(frame.header.frame_type, &mut request, &mut answer) {
                Answered::Done => {}
                Answered::Later { until, .. } => {
                    let delay = until.saturating_duration_since(Instant::now());
                    fault.answer_delay = Some(fault.answer_delay.unwrap_or_default() + delay);
                }
                Answered::Close => self.state = State::Closing { reset: false },
                Answered::Stream(producer) if fault == RequestFault::default() => {
                    self.output.bytes().extend_from_slice(&answer);
                    self.state = State::Streaming(producer);
                    return true;
                }
                Answered::Stream(mut producer) => {
                    producer.hurry();
                    self.state = State::Gathering { producer, answer, fault };
                    return true;
                }
            }
        }
        self.answered(answer, fault);
        true
    }

    /// An answer is there that a fault may delay or change.
    fn answered(&mut self, answer: Vec<u8>, mut fault: RequestFault) {
        if fault.drop_after {
            self.state = State::Closing { reset: true };
        } else if let Some(delay) = fault.answer_delay.take() {
            let now = Instant::now();
            let link = self.link.as_mut();
            let until = link.as_ref().and_then(|link| link.occupied(now)).unwrap_or(now) + delay;
            if let Some(link) = link {
                link.occupy(until);
            }
            self.state = State::Holding { until, answer, fault };
        } else {
            self.deliver(answer, fault);
        }
    }

    /// Lets the frame at the head wait; the fault that was drawn for it stays with it.
    fn wait(&mut self, until: Instant, fault: RequestFault) {
        if let Some(link) = &mut self.link {
            link.occupy(until);
        }
        self.state = State::Delayed(until);
        self.drawn = Some(fault);
    }

    /// Hands an answer over to be sent, as the fault wants it.
    fn deliver(&mut self, mut answer: Vec<u8>, fault: RequestFault) {
        let mut close = matches!(self.state, State::Closing { .. });
        if let Some(garbage) = fault.garbage {
            answer = garbage;
        }
        if let Some(length) = fault.truncate {
            answer.truncate(length);
            close = true;
        }
        if fault.split {
            self.state = State::Splitting { answer, sent: 0, close };
            return;
        }
        self.output.bytes().extend_from_slice(&answer);
        if close {
            self.state = State::Closing { reset: false };
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        Counters::add(&self.node.counters.connections_closed, 1);
        log::info!("{}: the connection of {} is closed", self.node.name, self.session.peer);
    }
}
