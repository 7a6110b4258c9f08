//! The words of a lane: time, classes of connections, tickets, failures, and who is told of outcomes.

use std::fmt;
use std::sync::Arc;

use aerolane_wire::WireError;

use crate::config::{PoolSizing, WhenFull};
use crate::error::{Error, Phase};

/// A point in time, in whole milliseconds since an epoch that the driver chooses.
///
/// Deadlines need no finer grain: policies give them in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub u64);

impl Millis {
    /// Never: the deadline of a request without a timeout.
    pub const NEVER: Self = Self(u64::MAX);

    /// This point plus `ms` milliseconds; stays at [`Millis::NEVER`].
    #[must_use]
    pub const fn plus(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this point, 0 if it is not later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// The classes of connections. A slow request delays all that are behind it on its connection. So batches never share a
/// connection with single-record requests, and slow single-record requests do not share one with fast ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Pipelined: single-record requests, one frame answers one request.
    Single,
    /// One request at a time, answered by several frames: batches.
    Batch,
    /// As `Single`, for UDFs, and for kinds of requests (reads or writes of a namespace) whose service time is eight times
    /// that of others or more. The lane itself moves requests of class `Single` here; nobody submits them as such.
    Slow,
}

impl Class {
    /// All, in index order.
    pub const ALL: [Self; 3] = [Self::Single, Self::Batch, Self::Slow];

    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

/// Names an entry inside its lane. Tickets only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub(crate) u64);

/// Names a connection of a lane. A name is never used for two connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ConnId {
    pub(crate) node: u16,
    pub(crate) class: Class,
    pub(crate) slot: u16,
    pub(crate) serial: u32,
}

impl ConnId {
    /// The node (see [`crate::topology::NodeId`]) at the other end.
    #[must_use]
    pub const fn node(self) -> u16 {
        self.node
    }

    /// What it is for.
    #[must_use]
    pub const fn class(self) -> Class {
        self.class
    }
}

/// Sizes of one lane, per node: its share of [`PoolSizing`].
///
/// How many connections carry requests is measured at run time, between these bounds. `min == max` fixes the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneSizing {
    /// Pipelined connections kept open also when idle.
    pub min: u16,
    /// Most pipelined connections, at least 1: an upper bound. Fast and slow requests ([`Class::Slow`]) share it.
    pub max: u16,
    /// Where the search for the number of connections starts: at most this many pipelined connections, over all nodes, one
    /// for each [`fair_share`](Self::fair_share) entries. This is the number for a fast server, where nothing better is
    /// found.
    pub spread: u16,
    /// The search starts with one connection for each `fair_share` entries, up to [`spread`](Self::spread).
    pub fair_share: u16,
    /// Most entries in flight on one pipelined connection, at least 1: an upper bound. The lane puts fewer on it where each
    /// takes long, unless [`wait`](Self::wait) is off or `min == max`. With 1 the number of connections adapts, too.
    pub depth: u16,
    /// Most request bytes in flight on one connection. A larger request goes alone.
    pub max_bytes_in_flight: u32,
    /// Most connections for batches, at least 1.
    pub max_batch: u16,
    /// Most requests in line, for each class of connections. Beyond it they are refused with [`Full`].
    pub max_waiting: u32,
    /// Most bytes of requests in line, for each class of connections. A request that is larger still waits where no other
    /// does.
    pub max_waiting_bytes: u64,
    /// Most bytes of a node's answer to a batch: the sink is given no more of it, and told [`FailureKind::AnswerTooLarge`].
    pub max_batch_answer_bytes: u64,
    /// When everything is full: wait in line (true) or fail at once (false).
    pub wait: bool,
    /// Connections idle for longer (milliseconds) are closed, down to `min`. 0: never.
    pub idle_ms: u64,
    /// A connection whose oldest orphan waits for longer than this (milliseconds) and that nobody else waits on is
    /// closed.
    pub orphan_ms: u64,
}

/// Below the 60 s after which servers used to close idle connections.
const IDLE_MS: u64 = 55_000;
/// How long a place may be lost to an answer that does not come.
const ORPHAN_MS: u64 = 1_000;

impl LaneSizing {
    /// With [`ClientPolicy::idle_timeout`](crate::policy::ClientPolicy::idle_timeout), in milliseconds; 0: what is usual.
    pub(crate) fn idle_after(self, idle_timeout: u32) -> Self {
        if idle_timeout == 0 { self } else { Self { idle_ms: u64::from(idle_timeout), ..self } }
    }
}

/// [`LaneSizing::fair_share`] where callers are on several threads: so many requests are enough to justify what another
/// connection costs the client (decision 0002).
const FAIR_SHARE: u16 = 64;

impl From<&PoolSizing> for LaneSizing {
    /// The sizes of one lane, given its share ([`PoolSizing::per_lane`]). Numbers beyond what a lane can count are
    /// taken as the most that it can.
    fn from(share: &PoolSizing) -> Self {
        let short = |value: u32| u16::try_from(value).unwrap_or(u16::MAX);
        Self {
            min: short(share.min),
            max: short(share.max),
            spread: short(share.spread),
            fair_share: FAIR_SHARE,
            depth: short(share.depth),
            max_bytes_in_flight: u32::try_from(share.max_bytes_in_flight).unwrap_or(u32::MAX),
            max_batch: short(share.batch_max),
            max_waiting: u32::try_from(share.max_waiting).unwrap_or(u32::MAX),
            max_waiting_bytes: share.max_waiting_bytes as u64,
            max_batch_answer_bytes: share.max_batch_answer_bytes as u64,
            wait: share.when_full == WhenFull::Wait,
            idle_ms: IDLE_MS,
            orphan_ms: ORPHAN_MS,
        }
    }
}

/// Why an entry got no answer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum FailureKind {
    /// Its deadline passed.
    Expired,
    /// Its caller was interrupted and has given up.
    Interrupted,
    /// The connection was lost.
    ConnectionLost(std::io::ErrorKind),
    /// No connection to the node could be opened.
    OpenFailed(crate::Error),
    /// Something came that is no answer; the connection was given up.
    Garbage(WireError),
    /// The answer to a batch has more than so many bytes ([`LaneSizing::max_batch_answer_bytes`]). The rest is dropped.
    AnswerTooLarge(u64),
    /// The client was closed, or the runtime that drove the connection has ended.
    Closed,
    /// The node left the cluster.
    NodeGone,
}

/// An entry that got no answer.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Why.
    pub kind: FailureKind,
    /// Whether at least one byte of the request may have reached the server, or may yet reach it. If not, it is not
    /// executed.
    pub sent: bool,
    /// Whether a part of the answer had come.
    pub begun: bool,
    /// For how many milliseconds of its time its driver did not run: the program kept the event loop busy.
    pub loop_busy: u32,
}

impl Failure {
    /// A failure before any of the answer has come.
    #[must_use]
    pub const fn new(kind: FailureKind, sent: bool) -> Self {
        Self { kind, sent, begun: false, loop_busy: 0 }
    }

    /// With whether a part of the answer had come.
    #[must_use]
    pub fn begun(self, begun: bool) -> Self {
        Self { begun, ..self }
    }

    /// How far the request had come.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        match (self.sent, self.begun) {
            (false, _) => Phase::Queued,
            (true, false) => Phase::Sent,
            (true, true) => Phase::Receiving,
        }
    }
}

/// A driver that comes so many milliseconds too late did not run when it was due: the program kept its thread.
pub(crate) const LATE: u64 = 10;

/// When the driver came late the last time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lateness {
    /// When it came, on the lane's clock.
    came: Millis,
    /// By how many milliseconds.
    by: u64,
}

impl Lateness {
    pub(super) const fn new(came: Millis, by: u64) -> Self {
        Self { came, by }
    }

    /// Whether a driver that is late by so much now kept a request of this age from leaving, or did before.
    pub(super) fn held_up(self, age: u64, now: Millis, late: u64) -> bool {
        late >= LATE || u64::from(self.within(age, now)) >= LATE
    }

    /// How many of the last `age` milliseconds (rounded up) it takes.
    pub(super) fn within(self, age: u64, now: Millis) -> u32 {
        self.by.min(age.saturating_sub(now.since(self.came) + 1)) as u32
    }
}

/// A request that the lane does not take: [`LaneSizing::max_waiting`] are in line, or would have more than
/// [`LaneSizing::max_waiting_bytes`] with it, or everything is full and [`LaneSizing::wait`] is off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full {
    /// The most requests that may be in flight to this node on this lane.
    pub limit: usize,
    /// How many are.
    pub in_flight: usize,
    /// How many connections are open.
    pub size: usize,
    /// How many wait in line.
    pub waiting: usize,
    /// How many bytes they have. 0 where each keeps its own.
    pub waiting_bytes: usize,
}

impl Full {
    /// The error of a request to this node that was refused.
    #[must_use]
    pub fn error(&self, node: &Arc<str>) -> Error {
        Error::pool_exhausted(self.limit, self.size, (self.waiting, self.waiting_bytes), node)
    }
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { in_flight, limit, waiting, waiting_bytes, .. } = self;
        write!(f, "{in_flight} of {limit} requests in flight, {waiting} waiting ({waiting_bytes} bytes)")
    }
}

/// Who is told what became of an entry. Called from inside the lane: keep it short, never call back.
pub trait Sink<T> {
    /// The one answer of a [`Class::Single`] entry: a whole frame body (a message).
    fn answer(&mut self, token: T, body: &[u8]);

    /// [`answer`](Self::answer), of a large one that stands in memory of its own.
    fn answer_owned(&mut self, token: T, body: Vec<u8>) {
        self.answer(token, &body);
    }

    /// One of the frame bodies that answer a [`Class::Batch`] entry; `last` with the final one.
    fn part(&mut self, token: &mut T, body: &[u8], last: bool);

    /// No (further) answer comes.
    fn failed(&mut self, token: T, failure: &Failure);
}

/// What a lane counts, per node. All but the gauges only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NodeCounters {
    /// Gauge: open connections.
    pub open: u64,
    /// Gauge: connections being opened.
    pub opening: u64,
    /// Gauge: open connections with nothing in flight.
    pub idle: u64,
    /// Gauge: entries in flight.
    pub in_flight: u64,
    /// Gauge: requests waiting for room.
    pub queued: u64,
    /// Gauge: orphans, entries whose caller has given up.
    pub orphans: u64,
    /// Gauge: open connections with orphans.
    pub recovering: u64,
    /// Gauge: connections that requests are spread over, as of the latest answer: those that the measurements justify.
    pub in_use: u64,
    /// Gauge: the mean service time in nanoseconds, for which a single-record request occupies its connection. 0: not known.
    pub service: u64,
    /// Gauge: the mean time in nanoseconds of a single-record request with no other in front of it on its connection. 0: not
    /// known.
    pub round_trip: u64,
    /// Requests taken.
    pub requests: u64,
    /// Answers handed out.
    pub answers: u64,
    /// Late answers read and dropped.
    pub late_answers: u64,
    /// Entries whose deadline passed.
    pub timeouts: u64,
    /// Requests refused because everything was full.
    pub refused: u64,
    /// Requests that had to wait for a connection or a place on one.
    pub waited: u64,
    /// Connections opened.
    pub opened: u64,
    /// Attempts to open that failed.
    pub open_failures: u64,
    /// Connections closed, for any reason.
    pub closed: u64,
    /// Of these, those that were lost or brought garbage.
    pub closed_error: u64,
    /// Of these, those that had been idle for long, or were beyond the maximum.
    pub closed_idle: u64,
    /// Of these, those to nodes that had left the cluster.
    pub closed_gone: u64,
    /// Bytes handed to the driver.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
}

/// The weighted mean of two values, of which 0 says that it is not known.
fn mean((a, weight_a): (u64, u64), (b, weight_b): (u64, u64)) -> u64 {
    let weight_a = if a == 0 { 0 } else { weight_a };
    let weight_b = if b == 0 { 0 } else { weight_b };
    (a * weight_a + b * weight_b).checked_div(weight_a + weight_b).unwrap_or_default()
}

impl NodeCounters {
    /// Adds up the counts of another lane. Times are means, weighted by the connections in use.
    pub fn add(&mut self, other: &Self) {
        self.service = mean((self.service, self.in_use), (other.service, other.in_use));
        self.round_trip = mean((self.round_trip, self.in_use), (other.round_trip, other.in_use));
        self.in_use += other.in_use;
        self.open += other.open;
        self.opening += other.opening;
        self.idle += other.idle;
        self.in_flight += other.in_flight;
        self.queued += other.queued;
        self.orphans += other.orphans;
        self.recovering += other.recovering;
        self.requests += other.requests;
        self.answers += other.answers;
        self.late_answers += other.late_answers;
        self.timeouts += other.timeouts;
        self.refused += other.refused;
        self.waited += other.waited;
        self.opened += other.opened;
        self.open_failures += other.open_failures;
        self.closed += other.closed;
        self.closed_error += other.closed_error;
        self.closed_idle += other.closed_idle;
        self.closed_gone += other.closed_gone;
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
    }
}
