//! How many connections of a group carry requests: found out while running.
//!
//! A server works on one request of a connection at a time. Two costs pull in opposite directions: requests that share a
//! connection share its system calls, and requests that share a connection wait for each other. Which of the two matters
//! depends on the **service time**, how long the request at the head occupies the connection: with 5 µs two or three
//! connections are best, with 1 ms as many as there are requests. No passive signal tells a server whose requests take
//! long from one whose processors are busy; both show long gaps between answers. So [`Adaptive`] tries: it uses more
//! connections for some answers and looks whether requests come back sooner (decision 0017 has the models compared).
//!
//! Time and everything measured are arguments, as in the rest of the lane.

use std::fmt;

use super::kind::Counts;

/// One read of a connection that brought at least one answer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reading {
    /// When, in nanoseconds.
    pub(super) now: u64,
    /// How many answers it brought.
    pub(super) answers: u32,
    /// Nanoseconds since the read before, if requests were in flight on the connection all the time.
    pub(super) gap: Option<u64>,
    /// Otherwise, how long the first of its requests took, in nanoseconds: nothing was in front of it.
    pub(super) alone: Option<u64>,
    /// Requests in flight and in line, those just answered included.
    pub(super) requests: usize,
    /// Of these, in flight.
    pub(super) in_flight: usize,
    /// Connections that take requests.
    pub(super) usable: usize,
    /// How many answers of each kind.
    pub(super) kinds: Counts,
}

impl Reading {
    /// At `now` (nanoseconds), with so many requests in flight and in line.
    pub(super) fn new(now: u64, requests: usize, in_flight: usize) -> Self {
        Self { now, requests, in_flight, ..Self::default() }
    }

    /// One more answer, to a request submitted at this microsecond. `busy_since`: when the connection brought the answer
    /// before it, if requests were in flight ever since.
    #[inline]
    pub(super) fn answered(&mut self, kind: u8, submitted: u32, busy_since: Option<u64>) {
        if self.answers == 0 {
            match busy_since {
                Some(since) => self.gap = Some(self.now.saturating_sub(since)),
                None => self.alone = Some(1000 * u64::from(((self.now / 1000) as u32).wrapping_sub(submitted))),
            }
        }
        self.answers += 1;
        self.kinds[usize::from(kind)] += 1;
    }
}

/// Decides how many connections of a group carry requests: its width.
///
/// The caller spreads requests over the first [`width`](Self::width) connections, least loaded first, and opens
/// connections as requests need them. [`Fixed`] never changes; [`Adaptive`] follows what it is told.
pub(super) trait Sizing: fmt::Debug + Send {
    /// The most connections to use; never 0.
    fn width(&self, bounds: Bounds) -> usize;

    /// The most requests to put on one connection. The others are better kept until it is known which connection has an
    /// answer first, and are not stuck on it when further ones are opened.
    fn depth(&self) -> usize;

    /// Takes in what a read showed. May change the width.
    fn read(&mut self, reading: &Reading, bounds: Bounds);

    /// What was measured last.
    fn measured(&self) -> Measured;
}

/// The bounds of a width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    /// Never fewer, also where a search has found fewer.
    pub(super) least: usize,
    /// Where the search begins: as many as the requests of this moment are worth while nothing speaks for more.
    pub(super) start: usize,
    /// Never more.
    pub(super) max: usize,
}

/// What a group measures of its server, in microseconds; 0 where nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Measured {
    /// Mean time between two answers of a busy connection: how long a request occupies it.
    pub(super) service: f64,
    /// Mean time of a request that found its connection idle: network, service and wake-ups.
    pub(super) round_trip: f64,
}

/// Always the same width.
#[derive(Debug)]
pub(super) struct Fixed(pub(super) usize);

impl Sizing for Fixed {
    fn width(&self, _: Bounds) -> usize {
        self.0
    }

    fn depth(&self) -> usize {
        usize::MAX
    }

    fn read(&mut self, _: &Reading, _: Bounds) {}

    fn measured(&self) -> Measured {
        Measured::default()
    }
}
