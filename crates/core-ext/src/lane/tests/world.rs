//! A small world in simulated time: callers, a driver, a network and servers, with all that can go wrong.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::*;

pub(super) const NODES: u16 = 3;

/// How often things go wrong, each as one in so many (0: never).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Faults {
    /// Callers that give up, per step.
    pub(super) cancel: u32,
    /// Attempts to open that fail.
    pub(super) refuse: u32,
    /// Requests before whose execution the connection is reset.
    pub(super) drop_before: u32,
    /// Requests after whose execution the connection is reset.
    pub(super) drop_after: u32,
    /// Resets from the middle of nowhere, per step and connection.
    pub(super) reset: u32,
    /// Requests whose answer takes seconds.
    pub(super) stall: u32,
    /// Answers that are garbage.
    pub(super) garbage: u32,
    /// Nodes that leave, per step; they come back after a while.
    pub(super) leave: u32,
    /// Changes of size, per step.
    pub(super) resize: u32,
    /// Whether the lane is closed in the middle of it all, instead of coming to rest.
    pub(super) close: bool,
    /// Not a fault: at most so many bytes are written and read at once (0: no limit).
    pub(super) piece: u32,
}

/// One connection, as driver, network and server see it.
struct Link {
    id: ConnId,
    /// What the driver has taken and not written.
    out: Vec<u8>,
    /// For each request in `out` that has not been begun: its key and where it starts.
    unbegun: VecDeque<(u32, usize)>,
    /// How many bytes at the start of the next output belong to a request that has been begun.
    begun_rest: usize,
    server_in: Vec<u8>,
    /// Answers on their way, with the time of their arrival.
    answers: VecDeque<(Millis, Vec<u8>)>,
    reset_at: Option<Millis>,
}

/// What the callers know.
#[derive(Default)]
struct Callers {
    /// Those that wait.
    live: BTreeMap<u32, (u16, Class, Ticket)>,
    /// They were told that their request was not executed.
    unsent: BTreeSet<u32>,
    /// They were told that it may have been, because a connection ended.
    lost_sent: BTreeSet<u32>,
    outcomes: u64,
    answered: u64,
}

impl Callers {
    fn done(&mut self, token: u32) {
        assert!(self.live.remove(&token).is_some(), "token {token} has its outcome already, or never was");
        self.outcomes += 1;
    }
}

impl Sink<u32> for Callers {
    fn answer(&mut self, token: u32, body: &[u8]) {
        assert_eq!(key_of(body), token, "the answer of another");
        self.answered += 1;
        self.done(token);
    }

    fn part(&mut self, token: &mut u32, body: &[u8], last: bool) {
        assert_eq!(key_of(body), *token, "the answer of another");
        assert!(self.live.contains_key(token));
        if last {
            self.answered += 1;
            self.done(*token);
        }
    }

    fn failed(&mut self, token: u32, failure: &Failure) {
        if !failure.sent {
            self.unsent.insert(token);
        } else if !matches!(failure.kind, FailureKind::Expired) {
            self.lost_sent.insert(token);
        }
        self.done(token);
    }
}

pub(super) struct World {
    lane: Lane<u32>,
    sizing: LaneSizing,
    faults: Faults,
    rng: Xoshiro256PlusPlus,
    now: Millis,
    callers: Callers,
    next_key: u32,
    openings: Vec<(Millis, u16, Class)>,
    links: Vec<Link>,
    /// Nodes that left, until they come back.
    away: BTreeMap<u16, Millis>,
    /// Requests of which a byte was written, and those that a server executed.
    begun: BTreeSet<u32>,
    executed: BTreeSet<u32>,
    trimmed: Millis,
}

impl World {
    pub(super) fn new(seed: u64, sizing: LaneSizing, faults: Faults) -> Self {
        Self {
            lane: Lane::new(sizing),
            sizing,
            faults,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            now: Millis(1),
            callers: Callers::default(),
            next_key: 0,
            openings: Vec::new(),
            links: Vec::new(),
            away: BTreeMap::new(),
            begun: BTreeSet::new(),
            executed: BTreeSet::new(),
            trimmed: Millis(0),
        }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.rng.next_u64() % bound.max(1)
    }

    fn one_in(&mut self, chance: u32) -> bool {
        chance > 0 && self.below(u64::from(chance)) == 0
    }

    /// Submits `requests`, about `per_step` in a millisecond, then waits for all outcomes and checks them.
    pub(super) fn run(mut self, requests: u32, per_step: u64) -> Summary {
        while self.next_key < requests {
            for _ in 0..=self.below(2 * per_step) {
                self.submit();
            }
            self.step();
        }
        let end = self.now.plus(60_000);
        self.faults.leave = 0;
        if self.faults.close {
            self.lane.close_all(&FailureKind::Closed, &mut self.callers);
            assert!(self.callers.live.is_empty(), "no outcome: {:?}", self.callers.live);
            self.check();
        }
        while !self.callers.live.is_empty() || self.lane.is_busy() || (self.faults.close && !self.links.is_empty()) {
            self.step();
            assert!(self.now < end, "these are left: {:?}", self.callers.live);
        }
        self.settled()
    }

    fn submit(&mut self) {
        let key = self.next_key;
        self.next_key += 1;
        let node = self.below(u64::from(NODES)) as u16;
        let class = if self.one_in(8) { Class::Batch } else { Class::Single };
        let padding = match self.below(20) {
            0 => self.below(3000),
            1 => 20_000,
            _ => self.below(60),
        };
        let deadline = match self.below(10) {
            0 => Millis::NEVER,
            1 => self.now.plus(self.below(20)),
            2 => self.now.plus(self.below(3000)),
            _ => self.now.plus(500),
        };
        match self.lane.submit(node, class, &request(key, padding as usize), deadline, self.now, key) {
            Ok(ticket) => assert!(self.callers.live.insert(key, (node, class, ticket)).is_none()),
            Err((full, token)) => {
                assert_eq!(token, key);
                let bound = self.sizing.max_waiting as usize;
                let bytes = full.waiting_bytes + padding as usize + 64;
                let full_of_bytes = full.waiting > 0 && bytes as u64 > self.sizing.max_waiting_bytes;
                assert!(full.waiting >= bound || full_of_bytes || !self.sizing.wait, "{full:?}");
                self.callers.unsent.insert(key);
            }
        }
        if self.one_in(3) {
            self.drive();
        }
    }

    fn step(&mut self) {
        self.now = self.now.plus(1);
        if self.one_in(self.faults.cancel) {
            self.cancel();
        }
        if self.one_in(self.faults.resize) {
            self.sizing.max = 1 + self.below(8) as u16;
            self.sizing.min = self.sizing.min.min(self.sizing.max);
            self.lane.resize(self.sizing);
        }
        self.topology();
        self.open();
        for index in 0..self.links.len() {
            self.serve(index);
        }
        self.read();
        if self.lane.next_deadline().is_some_and(|due| due <= self.now) {
            self.lane.expire(self.now, &mut self.callers);
        }
        if self.now.since(self.trimmed) >= 250 {
            self.trimmed = self.now;
            self.lane.trim(self.now);
        }
        self.drive();
        self.check();
    }

    fn cancel(&mut self) {
        let at = self.below(u64::from(self.next_key)) as u32;
        let Some((&key, &(node, class, ticket))) = self.callers.live.range(at..).next() else { return };
        assert_eq!(self.lane.cancel(node, class, ticket, self.now), Some(key));
        self.callers.done(key);
        assert_eq!(self.lane.cancel(node, class, ticket, self.now), None);
    }

    fn topology(&mut self) {
        if self.one_in(self.faults.leave) {
            let node = self.below(u64::from(NODES)) as u16;
            self.lane.node_gone(node, &mut self.callers);
            self.away.insert(node, self.now.plus(300));
        }
        let now = self.now;
        self.away.retain(|&node, &mut until| {
            if until <= now {
                self.lane.node_back(node);
            }
            until > now
        });
    }

    fn open(&mut self) {
        let (due, later): (Vec<_>, Vec<_>) = self.openings.drain(..).partition(|o| o.0 <= self.now);
        self.openings = later;
        for (_, node, class) in due {
            if self.one_in(self.faults.refuse) {
                let error = crate::Error::client_error("refused");
                self.lane.open_failed(node, class, &error, &mut self.callers);
                continue;
            }
            let id = self.lane.opened(node, class, self.now);
            self.links.push(Link {
                id,
                out: Vec::new(),
                unbegun: VecDeque::new(),
                begun_rest: 0,
                server_in: Vec::new(),
                answers: VecDeque::new(),
                reset_at: None,
            });
        }
    }

    /// What the driver does after each call.
    fn drive(&mut self) {
        while let Some(id) = self.lane.flush_request() {
            if let Some(index) = self.links.iter().position(|l| l.id == id) {
                self.write(index);
            }
        }
        while let Some(id) = self.lane.close_request() {
            if let Some(index) = self.links.iter().position(|l| l.id == id) {
                self.end(index, &FailureKind::Closed);
            }
        }
        // A socket that was full has room again.
        for index in 0..self.links.len() {
            if !self.links[index].out.is_empty() {
                self.write(index);
            }
        }
        while let Some((node, class)) = self.lane.open_request() {
            let due = self.now.plus(1 + self.below(20));
            self.openings.push((due, node, class));
        }
    }

    fn write(&mut self, index: usize) {
        loop {
            let link = &mut self.links[index];
            if link.out.is_empty() {
                if !self.lane.take_output(link.id, &mut link.out) {
                    assert!(!self.lane.has_output(link.id));
                    return;
                }
                let mut at = link.begun_rest;
                while at < link.out.len() {
                    let (frame, size) = split_frame(&link.out[at..], MAX_BODY_SIZE).unwrap().expect("whole requests");
                    link.unbegun.push_back((key_of(frame.body), at));
                    at += size;
                }
            }
            let len = self.links[index].out.len();
            let most = if self.faults.piece > 0 { self.below(u64::from(self.faults.piece)) as usize } else { len };
            let written = most.min(len);
            let give_back = self.one_in(8);
            let link = &mut self.links[index];
            link.server_in.extend(link.out.drain(..written));
            link.begun_rest = link.begun_rest.saturating_sub(written);
            while let Some(&(key, start)) = link.unbegun.front().filter(|(_, start)| *start < written) {
                self.begun.insert(key);
                link.unbegun.pop_front();
                let next = link.unbegun.front().map_or(len, |(_, start)| *start);
                link.begun_rest = next.saturating_sub(written.max(start));
            }
            for (_, start) in &mut link.unbegun {
                *start -= written;
            }
            if link.out.is_empty() {
                self.lane.unwritten(link.id, 0);
                continue;
            }
            if give_back {
                self.lane.return_output(link.id, &link.out);
                link.out.clear();
                link.unbegun.clear();
                if !self.lane.has_output(link.id) {
                    return;
                }
                continue;
            }
            self.lane.unwritten(link.id, link.out.len());
            return;
        }
    }

    /// The server reads requests, executes them, and answers, strictly in order.
    fn serve(&mut self, index: usize) {
        if self.one_in(self.faults.reset) {
            self.links[index].reset_at.get_or_insert(self.now);
        }
        if self.links[index].reset_at.is_some() {
            return;
        }
        for key in keys(&mut self.links[index].server_in) {
            let before = self.links[index].answers.back().map_or(self.now, |a| a.0);
            let delay = if self.one_in(self.faults.stall) { 100 + self.below(3000) } else { self.below(6) };
            let at = before.max(self.now.plus(delay));
            if self.one_in(self.faults.drop_before) {
                self.links[index].reset_at = Some(at);
                return;
            }
            assert!(self.executed.insert(key), "request {key} was executed twice");
            if self.one_in(self.faults.drop_after) {
                self.links[index].reset_at = Some(at);
                return;
            }
            let mut bytes = Vec::new();
            if self.one_in(self.faults.garbage) {
                bytes = frame(FrameType::Info, b"what?");
            } else if self.links[index].id.class() == Class::Batch {
                for _ in 0..self.below(4) {
                    bytes.extend(part(key, false));
                }
                bytes.extend(part(key, true));
            } else {
                bytes.extend(answer(key));
            }
            self.links[index].answers.push_back((at, bytes));
        }
    }

    fn read(&mut self) {
        let mut index = 0;
        'links: while index < self.links.len() {
            let mut bytes = Vec::new();
            let link = &mut self.links[index];
            while link.answers.front().is_some_and(|a| a.0 <= self.now) {
                bytes.extend(link.answers.pop_front().map(|a| a.1).unwrap_or_default());
            }
            let (id, reset) = (link.id, link.reset_at.is_some_and(|at| at <= self.now));
            let piece =
                if self.faults.piece > 0 { self.below(u64::from(self.faults.piece)) as usize + 1 } else { 1 << 20 };
            for bytes in bytes.chunks(piece) {
                if self.lane.received(id, bytes, self.now, &mut self.callers).is_err() {
                    self.end(index, &FailureKind::ConnectionLost(std::io::ErrorKind::InvalidData));
                    continue 'links;
                }
                self.drive_reads();
            }
            if reset {
                if let Some(index) = self.links.iter().position(|l| l.id == id) {
                    self.end(index, &FailureKind::ConnectionLost(std::io::ErrorKind::ConnectionReset));
                }
            } else {
                index += 1;
            }
        }
    }

    /// Between the pieces of what was read, new output may leave, but no connection is ended.
    fn drive_reads(&mut self) {
        if self.one_in(2) {
            while let Some(id) = self.lane.flush_request() {
                if let Some(index) = self.links.iter().position(|l| l.id == id) {
                    self.write(index);
                }
            }
        }
    }

    fn end(&mut self, index: usize, kind: &FailureKind) {
        let link = self.links.swap_remove(index);
        self.lane.unwritten(link.id, link.out.len());
        self.lane.closed(link.id, kind, self.now, &mut self.callers);
    }

    /// What must be true at any time.
    fn check(&mut self) {
        let (mut in_flight, mut live) = (0, 0);
        for node in 0..NODES {
            let counters = self.lane.counters(node);
            in_flight += counters.in_flight;
            live += counters.in_flight - counters.orphans + counters.queued;
            assert!(counters.queued <= 2 * u64::from(self.sizing.max_waiting), "{counters:?}");
            if self.faults.resize == 0 {
                let most = u64::from(self.sizing.max + self.sizing.max_batch);
                assert!(counters.open + counters.opening <= most, "{counters:?}");
            }
        }
        assert_eq!(in_flight, self.lane.in_flight() as u64);
        // Where a change of size makes room, the line moves with the next answer.
        assert!(self.faults.resize > 0 || !self.lane.waits_in_vain(), "in line while a connection has room");
        assert_eq!(live, self.callers.live.len() as u64, "those who wait, and those that the lane knows");
        let opening: u64 = (0..NODES).map(|node| self.lane.counters(node).opening).sum();
        assert_eq!(opening, self.openings.len() as u64);
        for index in 0..self.links.len() {
            let id = self.links[index].id;
            let depth = if id.class() == Class::Batch { 1 } else { usize::from(self.sizing.depth) };
            assert!(self.lane.entries_on(id) <= depth);
            assert!(self.links[index].out.is_empty() || self.faults.piece > 0);
        }
    }

    /// What must be true once everybody has an outcome.
    fn settled(self) -> Summary {
        let mut sum = NodeCounters::default();
        for node in 0..NODES {
            sum.add(&self.lane.counters(node));
        }
        assert_eq!((sum.in_flight, sum.queued, sum.orphans, sum.opening), (0, 0, 0, 0));
        assert_eq!(sum.open, self.links.len() as u64);
        assert_eq!(sum.idle, sum.open);
        assert_eq!(sum.opened, sum.open + sum.closed);
        assert_eq!(sum.answers, self.callers.answered);
        assert_eq!(sum.requests, self.callers.outcomes);
        assert_eq!(sum.requests + sum.refused, u64::from(self.next_key));
        if let Some(key) = self.executed.intersection(&self.callers.unsent).next() {
            panic!("request {key} was executed, and its caller told that it was not");
        }
        if let Some(key) = self.begun.intersection(&self.callers.unsent).next() {
            panic!("request {key} was begun, and its caller told that nothing was sent");
        }
        if let Some(key) = self.callers.lost_sent.difference(&self.begun).next() {
            panic!("nothing of request {key} was sent, and its caller left in doubt");
        }
        Summary { counters: sum, executed: self.executed.len() as u64 }
    }
}

/// What came out of a run.
#[derive(Debug)]
pub(super) struct Summary {
    pub(super) counters: NodeCounters,
    pub(super) executed: u64,
}
