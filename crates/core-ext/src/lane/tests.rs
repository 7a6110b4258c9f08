//! A lane driven the way a driver does it, in simulated time and without a network.

mod backpressure;
mod batches;
mod client_bound;
mod closing;
mod deadlines;
mod few;
mod garbage;
mod large;
mod lateness;
mod line;
mod loss;
mod matching;
mod opening;
mod siblings;
mod simulation;
mod sizing;
mod smoke;
mod world;

use std::collections::BTreeMap;

use aerolane_wire::message::{Message, MessageHeader, MessageWriter, field, info3};
use aerolane_wire::proto::{FrameType, MAX_BODY_SIZE, begin_frame, end_frame, split_frame};

use super::*;
use crate::error::Phase;

/// A request whose key is found again by the server; padded to about `padding` bytes more.
fn request(key: u32, padding: usize) -> Vec<u8> {
    message(key, &MessageHeader::default(), padding)
}

/// The answer to a key.
fn answer(key: u32) -> Vec<u8> {
    message(key, &MessageHeader::default(), 0)
}

/// One frame of a batch answer.
fn part(key: u32, last: bool) -> Vec<u8> {
    message(key, &MessageHeader { info3: if last { info3::LAST } else { 0 }, ..MessageHeader::default() }, 0)
}

fn message(key: u32, header: &MessageHeader, padding: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = MessageWriter::frame(&mut out, header);
    writer.field(field::DIGEST, &key.to_be_bytes());
    if padding > 0 {
        writer.field(field::SET, &vec![0xaa; padding]);
    }
    writer.finish().unwrap();
    out
}

/// A frame of any type and content.
fn frame(frame_type: FrameType, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let start = begin_frame(&mut out, frame_type);
    out.extend_from_slice(body);
    end_frame(&mut out, start).unwrap();
    out
}

/// The key in a message.
fn key_of(body: &[u8]) -> u32 {
    u32::from_be_bytes(Message::decode(body).unwrap().field(field::DIGEST).unwrap().try_into().unwrap())
}

/// Splits whole frames off the front of `bytes`; their keys.
fn keys(bytes: &mut Vec<u8>) -> Vec<u32> {
    let mut keys = Vec::new();
    let mut used = 0;
    while let Some((frame, size)) = split_frame(&bytes[used..], MAX_BODY_SIZE).unwrap() {
        keys.push(key_of(frame.body));
        used += size;
    }
    bytes.drain(..used);
    keys
}

fn sizing() -> LaneSizing {
    LaneSizing {
        min: 1,
        max: 2,
        spread: 1,
        fair_share: 2,
        depth: 4,
        max_bytes_in_flight: 1 << 20,
        max_batch: 2,
        max_waiting: 1000,
        max_waiting_bytes: 1 << 30,
        max_batch_answer_bytes: 1 << 30,
        wait: true,
        idle_ms: 10_000,
        orphan_ms: 1000,
    }
}

/// What became of a token.
#[derive(Debug, Clone)]
enum Outcome {
    /// The key in the answer.
    Answer(u32),
    /// The keys in the parts, the last one included.
    Parts(Vec<u32>),
    Failed(Failure),
}

/// Hears outcomes, one for each token.
#[derive(Debug, Default)]
struct Outcomes {
    all: BTreeMap<u32, Outcome>,
    parts: BTreeMap<u32, Vec<u32>>,
}

impl Outcomes {
    fn put(&mut self, token: u32, outcome: Outcome) {
        let before = self.all.insert(token, outcome);
        assert!(before.is_none(), "token {token} had {before:?} already");
    }

    /// The failure of a token: what kind, and whether it was sent.
    fn failure(&self, token: u32) -> (String, bool) {
        match self.all.get(&token) {
            Some(Outcome::Failed(Failure { kind, sent, .. })) => (format!("{kind:?}"), *sent),
            other => panic!("token {token} should have failed: {other:?}"),
        }
    }

    /// How far the request of a token that failed had come.
    fn phase(&self, token: u32) -> Phase {
        match self.all.get(&token) {
            Some(Outcome::Failed(failure)) => failure.phase(),
            other => panic!("token {token} should have failed: {other:?}"),
        }
    }

    fn answered(&self) -> Vec<u32> {
        let answered = |(token, outcome): (&u32, &Outcome)| match outcome {
            Outcome::Answer(key) => {
                assert_eq!(key, token, "the answer of another");
                Some(*token)
            }
            _ => None,
        };
        self.all.iter().filter_map(answered).collect()
    }
}

impl Sink<u32> for Outcomes {
    fn answer(&mut self, token: u32, body: &[u8]) {
        self.put(token, Outcome::Answer(key_of(body)));
    }

    fn part(&mut self, token: &mut u32, body: &[u8], last: bool) {
        let parts = self.parts.entry(*token).or_default();
        parts.push(key_of(body));
        if last {
            let parts = std::mem::take(parts);
            self.put(*token, Outcome::Parts(parts));
        }
    }

    fn failed(&mut self, token: u32, failure: &Failure) {
        self.put(token, Outcome::Failed(failure.clone()));
    }
}

impl<T> Lane<T> {
    /// Whether a request waits in line while a connection has room for it.
    fn waits_in_vain(&self) -> bool {
        let mut groups = self.nodes.iter().flat_map(|lane| Class::ALL.map(|class| (lane, class)));
        groups.any(|(lane, class)| {
            let limits = lane.limits(class, self.limits[class.index()]);
            lane.groups[class.index()].slot_for_first_in_line(limits).is_some()
        })
    }
}

/// A lane with node 0, its outcomes, and a clock. Tokens and keys are the same number.
struct Rig {
    lane: Lane<u32>,
    outcomes: Outcomes,
    now: Millis,
}

impl Rig {
    fn new(sizing: LaneSizing) -> Self {
        Self { lane: Lane::new(sizing), outcomes: Outcomes::default(), now: Millis(1000) }
    }

    /// With so many connections open.
    fn with_open(sizing: LaneSizing, count: usize) -> (Self, Vec<ConnId>) {
        let mut rig = Self::new(LaneSizing { min: count as u16, ..sizing });
        let mut conns = Vec::new();
        while conns.len() < count {
            rig.lane.warm(0);
            conns.extend(rig.open_all());
        }
        rig.lane.resize(sizing);
        (rig, conns)
    }

    fn submit(&mut self, key: u32) -> Ticket {
        self.try_submit(key, Class::Single, 1000, 0).unwrap()
    }

    fn submit_batch(&mut self, key: u32) -> Ticket {
        self.try_submit(key, Class::Batch, 1000, 0).unwrap()
    }

    fn try_submit(&mut self, key: u32, class: Class, timeout: u64, padding: usize) -> Result<Ticket, Full> {
        let deadline = self.now.plus(timeout);
        self.lane.submit(0, class, &request(key, padding), deadline, self.now, key).map_err(|(full, token)| {
            assert_eq!(token, key);
            full
        })
    }

    fn cancel(&mut self, ticket: Ticket) -> Option<u32> {
        self.lane.cancel(0, Class::Single, ticket, self.now)
    }

    /// Opens all connections that the lane asks for, until it asks for no more.
    fn open_all(&mut self) -> Vec<ConnId> {
        let mut opened = Vec::new();
        while let Some((node, class)) = self.lane.open_request() {
            opened.push(self.lane.opened(node, class, self.now));
        }
        opened
    }

    /// How many connections the lane asks for; the requests stay open.
    fn asked_to_open(&mut self) -> usize {
        std::iter::from_fn(|| self.lane.open_request()).count()
    }

    fn open_fails(&mut self) {
        let error = crate::Error::client_error("refused");
        self.lane.open_failed(0, Class::Single, &error, &mut self.outcomes);
    }

    /// Writes all that waits on a connection: the keys of the requests.
    fn flush(&mut self, conn: ConnId) -> Vec<u32> {
        let mut out = Vec::new();
        self.lane.take_output(conn, &mut out);
        let keys = keys(&mut out);
        assert!(out.is_empty(), "only whole requests are put out");
        keys
    }

    /// Writes on all connections that the lane names, by connection.
    fn flush_all(&mut self) -> Vec<(ConnId, Vec<u32>)> {
        let mut named: Vec<ConnId> = std::iter::from_fn(|| self.lane.flush_request()).collect();
        named.sort_by_key(|conn| (conn.node, conn.slot));
        named.into_iter().map(|conn| (conn, self.flush(conn))).collect()
    }

    fn receive(&mut self, conn: ConnId, bytes: &[u8]) -> Result<(), WireError> {
        self.lane.received(conn, bytes, self.now, &mut self.outcomes)
    }

    fn answer(&mut self, conn: ConnId, keys: &[u32]) {
        let bytes: Vec<u8> = keys.iter().flat_map(|&key| answer(key)).collect();
        self.receive(conn, &bytes).unwrap();
    }

    /// The driver has closed a connection, as it was to.
    fn closed(&mut self, conn: ConnId) {
        self.lane.closed(conn, &FailureKind::Closed, self.now, &mut self.outcomes);
    }

    fn lose(&mut self, conn: ConnId) {
        let kind = FailureKind::ConnectionLost(std::io::ErrorKind::ConnectionReset);
        self.lane.closed(conn, &kind, self.now, &mut self.outcomes);
    }

    /// Time goes on, and the lane's timer does what it should.
    fn pass(&mut self, millis: u64) {
        self.now = self.now.plus(millis);
        if self.lane.next_deadline().is_some_and(|due| due <= self.now) {
            self.lane.expire(self.now, &mut self.outcomes);
        }
    }

    fn trim(&mut self) {
        self.lane.trim(self.now);
    }

    fn close_asked(&mut self) -> Vec<ConnId> {
        std::iter::from_fn(|| self.lane.close_request()).collect()
    }

    fn counters(&self) -> NodeCounters {
        self.lane.counters(0)
    }
}

/// The failure that [`Rig::lose`] gives.
fn lost(sent: bool) -> (String, bool) {
    ("ConnectionLost(ConnectionReset)".into(), sent)
}

fn expired(sent: bool) -> (String, bool) {
    ("Expired".into(), sent)
}
