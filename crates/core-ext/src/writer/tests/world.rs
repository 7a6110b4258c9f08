//! A writer's core in simulated time: nodes that answer after a while, maps that change, and a check that every record has
//! exactly one outcome and that no two records of a key are in flight.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use aerolane_wire::digest::Digest;
use aerospike_core::ResultCode;

use crate::error::Error;
use crate::writer::core::{
    Block, BlockEnds, BlockRef, Core, Done, DoneBlock, NewRow, Opener, Payload, Router, Sent, Tag,
};
use crate::writer::delivery::{AttemptEnd, Delivery, Tries, Written};
use crate::writer::options::WriterOptions;

pub(super) const MS: Duration = Duration::from_millis(1);

#[derive(Debug, Clone)]
pub(super) struct Name {
    pub(super) digest: Digest,
    pub(super) number: usize,
}

impl Tag for Name {
    fn digest(&self) -> &Digest {
        &self.digest
    }

    fn namespace(&self) -> &'static str {
        "test"
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum What {
    Put,
    Add,
    Delete,
}

impl Payload for What {
    fn repeats_safely(&self) -> bool {
        *self != Self::Add
    }

    fn may_be_missing(&self) -> bool {
        *self == Self::Delete
    }
}

/// Keys go to nodes by their first byte.
pub(super) struct Map {
    pub(super) version: u64,
    pub(super) nodes: u16,
    pub(super) orphaned: bool,
    /// A node that is sent nothing.
    pub(super) refused: Option<u16>,
}

impl Router for Map {
    fn version(&self) -> u64 {
        self.version
    }

    fn node(&self, _namespace: &str, digest: &Digest) -> Option<u16> {
        (!self.orphaned).then(|| (u16::from(digest[0]) + self.version as u16) % self.nodes)
    }

    fn refusal(&self, node: u16) -> Option<Error> {
        (self.refused == Some(node)).then(|| Error::max_error_rate(&Arc::from("node")))
    }
}

/// How a node answers a record (its number, how often it was tried).
pub(super) type Answer = Box<dyn FnMut(u16, usize, u32) -> Result<Written, Error>>;

/// Rows that are handed over together, or one by one.
#[derive(Default)]
pub(super) struct HandedBlock {
    digests: Vec<Digest>,
    rows: Vec<Row>,
    /// They are puts of this kind, each with an outcome.
    puts: Option<usize>,
    closed: bool,
    /// Rows that became records of their own.
    apart: RefCell<Vec<usize>>,
}

#[derive(Clone)]
struct Row {
    name: Name,
    what: What,
    bytes: usize,
    after: Duration,
}

/// Bytes of each record and row.
pub(super) const BYTES: usize = 100;

impl Block<Name, What> for HandedBlock {
    type Ends = Ends;

    fn digests(&self) -> &[Digest] {
        &self.digests
    }

    fn bytes(&self, row: usize) -> usize {
        self.rows[row].bytes
    }

    fn sequence(&self, first: u64, row: usize) -> u64 {
        if self.puts.is_some() { self.rows[row].name.number as u64 } else { first + row as u64 }
    }

    fn after(&self, row: usize) -> Duration {
        self.rows[row].after
    }

    fn tag(&self, row: usize) -> Name {
        self.apart.borrow_mut().push(row);
        self.rows[row].name.clone()
    }

    fn payload(&self, row: usize) -> What {
        self.rows[row].what
    }

    fn remove(&mut self, rows: &[usize]) {
        for row in rows.iter().rev() {
            self.digests.remove(*row);
            self.rows.remove(*row);
        }
        self.apart.borrow_mut().clear();
    }

    fn closed(&mut self) {
        assert!(!std::mem::replace(&mut self.closed, true));
    }
}

/// Adds a put to a block of its kind.
struct Adds(Row, usize);

impl Opener<HandedBlock> for Adds {
    fn fits(&self, block: &HandedBlock) -> bool {
        block.puts == Some(self.1)
    }

    fn open(&self, first: u64, _node: u16, room: usize) -> HandedBlock {
        assert!(room > 0);
        assert_eq!(first, self.0.name.number as u64);
        HandedBlock { puts: Some(self.1), ..HandedBlock::default() }
    }

    fn add(mut self, block: &mut HandedBlock, sequence: u64, after: Duration) {
        assert!(!block.closed && sequence == self.0.name.number as u64);
        self.0.after = after;
        block.digests.push(self.0.name.digest);
        block.rows.push(self.0);
    }
}

/// How the rows of a block have ended.
pub(super) struct Ends(Vec<Result<Written, Error>>);

impl BlockEnds for Ends {
    fn is_ok(&self, row: usize) -> bool {
        self.0[row].is_ok()
    }

    fn end(&self, row: usize) -> AttemptEnd {
        AttemptEnd { result: self.0[row].clone(), node: Some(Arc::from("n")) }
    }
}

/// What a request holds.
pub(super) enum Held {
    Records(Vec<Sent<Name, What>>),
    Block(BlockRef<HandedBlock>),
}

impl Held {
    fn names(&self) -> Vec<Name> {
        match self {
            Self::Records(rows) => rows.iter().map(|sent| sent.tag.clone()).collect(),
            Self::Block(block) => block.rows.rows.iter().map(|row| row.name.clone()).collect(),
        }
    }
}

/// A request in flight: when it is answered, its node and rows.
pub(super) type Flying = (Instant, u16, Held);

pub(super) struct World {
    pub(super) core: Core<Name, What, HandedBlock>,
    pub(super) map: Map,
    pub(super) start: Instant,
    pub(super) now: Instant,
    pub(super) latency: Duration,
    /// Of one node that is slower than the others.
    pub(super) slow: Option<(u16, Duration)>,
    pub(super) answer: Answer,
    /// Whether a node throttles a request as a whole.
    pub(super) refuses: Box<dyn FnMut(u16, Duration) -> bool>,
    /// Requests in flight.
    pub(super) flying: Vec<Flying>,
    /// Sizes of requests, with their nodes and moments.
    pub(super) requests: Vec<(Duration, u16, usize)>,
    pub(super) tries: HashMap<usize, u32>,
    /// Which key is in flight, by number of the record.
    pub(super) busy: BTreeMap<Digest, usize>,
    /// The records that took effect, in order.
    pub(super) effects: Vec<usize>,
    pub(super) outcomes: BTreeMap<usize, Delivery>,
    /// How many rows were confirmed with their blocks, and the sizes of blocks when they were sent.
    pub(super) confirmed: usize,
    pub(super) blocks: Vec<usize>,
    /// How many puts became rows.
    pub(super) rows: usize,
    /// How many kinds of puts there are, which cannot be rows of one block.
    pub(super) kinds: usize,
    pub(super) handed: usize,
    pub(super) most_flying: usize,
}

impl World {
    pub(super) fn new(
        options: WriterOptions,
        answer: impl FnMut(u16, usize, u32) -> Result<Written, Error> + 'static,
    ) -> Self {
        let start = Instant::now();
        Self {
            core: Core::new(options, 7, start),
            map: Map { version: 1, nodes: 3, orphaned: false, refused: None },
            start,
            now: start,
            latency: MS,
            slow: None,
            answer: Box::new(answer),
            refuses: Box::new(|_, _| false),
            flying: Vec::new(),
            requests: Vec::new(),
            tries: HashMap::new(),
            busy: BTreeMap::new(),
            effects: Vec::new(),
            outcomes: BTreeMap::new(),
            confirmed: 0,
            blocks: Vec::new(),
            rows: 0,
            kinds: 1,
            handed: 0,
            most_flying: 0,
        }
    }

    pub(super) fn hand(&mut self, key: u8, what: What) {
        self.hand_sized(key, what, BYTES);
    }

    pub(super) fn hand_sized(&mut self, key: u8, what: What, bytes: usize) {
        let mut digest = [key; 20];
        digest[1] = 0;
        self.hand_of(digest, what, bytes);
    }

    pub(super) fn hand_of(&mut self, digest: Digest, what: What, bytes: usize) {
        let tag = Name { digest, number: self.handed };
        let wakes = self.core.next_wake(self.now);
        self.core.wants_refresh();
        let adds = Adds(Row { name: tag.clone(), what, bytes, after: Duration::ZERO }, self.handed % self.kinds);
        let row = NewRow { namespace: tag.namespace(), digest: &digest, bytes };
        let is_row = what == What::Put && self.core.push_row(row, adds, self.now, &self.map);
        self.rows += usize::from(is_row);
        if !is_row {
            let sequence = self.core.push(tag, what, bytes, self.now, &self.map);
            assert_eq!(sequence, self.handed as u64);
        }
        self.handed += 1;
        if self.core.stirred() {
            self.settle();
        } else {
            // As the driver does nothing then, there must be nothing to do.
            assert_eq!(self.core.begin(self.now), None);
            assert!(wakes.is_some_and(|wakes| self.core.next_wake(self.now).is_some_and(|now| now >= wakes)));
            assert!(!self.core.wants_refresh() && self.core.done().is_empty());
        }
    }

    /// Starts senders, which take their rows once all of them have begun, and takes outcomes.
    pub(super) fn settle(&mut self) {
        let mut begun = VecDeque::new();
        loop {
            begun.extend(std::iter::from_fn(|| self.core.begin(self.now)));
            let Some(node) = begun.pop_front() else { break };
            let mut rows = Vec::new();
            let block = self.core.fill(node, self.now, &self.map, &mut rows);
            assert!(rows.is_empty() || block.is_none());
            let held = match block {
                Some(block) => Held::Block(block),
                None if rows.is_empty() => continue,
                None => Held::Records(rows),
            };
            let names = held.names();
            for name in &names {
                let other = self.busy.insert(name.digest, name.number);
                assert_eq!(other, None, "two records of a key are in flight");
                *self.tries.entry(name.number).or_default() += 1;
            }
            self.requests.push((self.now - self.start, node, names.len()));
            if matches!(held, Held::Block(_)) {
                self.blocks.push(names.len());
            }
            let latency = self.slow.filter(|(slow, _)| *slow == node).map_or(self.latency, |(_, latency)| latency);
            self.flying.push((self.now + latency, node, held));
            self.most_flying = self.most_flying.max(self.flying.len());
        }
        for Done { tag, delivery, .. } in self.core.done() {
            assert!(self.outcomes.insert(tag.number, delivery).is_none(), "a second outcome of {}", tag.number);
        }
        for done in self.core.done_blocks() {
            self.block_done(done);
        }
    }

    fn block_done(&mut self, done: DoneBlock<HandedBlock, Ends>) {
        let DoneBlock { rows, confirmed, room, handed_over, ends } = done;
        let apart = rows.apart.borrow();
        let ok = |row: &usize| ends.as_ref().is_some_and(|(ends, ..)| ends.is_ok(*row)) && !apart.contains(row);
        let confirmed_rows: Vec<_> = (0..rows.rows.len()).filter(ok).collect();
        assert_eq!(confirmed, confirmed_rows.len());
        assert_eq!(room, confirmed_rows.iter().map(|row| rows.rows[*row].bytes).sum::<usize>());
        if rows.puts.is_none() {
            self.confirmed += confirmed;
            return;
        }
        assert!(rows.closed);
        for row in confirmed_rows {
            let Some((ends, sent, answered)) = &ends else { continue };
            let Row { name, after, .. } = &rows.rows[row];
            let (handed_over, mut tries) = (handed_over + *after, Tries::default());
            tries.add(handed_over, (*sent, *answered), &mut ends.end(row));
            let delivery = tries.over(name.number as u64, *answered - handed_over, ends.0[row].clone());
            assert!(self.outcomes.insert(name.number, delivery).is_none(), "a second outcome of {}", name.number);
        }
    }

    /// Lets time pass until nothing is outstanding, or for so long.
    pub(super) fn run(&mut self, most: Duration) {
        let end = self.now + most;
        loop {
            let answered = self.flying.iter().map(|(at, ..)| *at).min();
            let wakes = self.core.next_wake(self.now);
            let Some(next) = answered.into_iter().chain(wakes).min() else { return };
            if next > end {
                self.now = end;
                return;
            }
            self.now = self.now.max(next);
            while let Some(index) = self.flying.iter().position(|(at, ..)| *at <= self.now) {
                let (_, node, held) = self.flying.remove(index);
                let refused = (self.refuses)(node, self.now - self.start);
                let answers: Vec<_> = held.names().iter().map(|name| self.answered(node, name, refused)).collect();
                match held {
                    Held::Records(rows) => {
                        let node_name = || Some(Arc::from(format!("n{node}")));
                        let ends = rows.into_iter().zip(answers).map(|(Sent { slot_ref, payload, .. }, result)| {
                            (slot_ref, payload, AttemptEnd { result, node: node_name() })
                        });
                        self.core.ended(node, ends, self.now, &self.map);
                    }
                    Held::Block(block) => self.core.block_ended(node, block, Ends(answers), self.now, &self.map),
                }
            }
            self.core.tick(self.now, &self.map);
            self.settle();
        }
    }

    fn answered(&mut self, node: u16, name: &Name, refused: bool) -> Result<Written, Error> {
        self.busy.remove(&name.digest);
        if refused {
            return server(ResultCode::DeviceOverload);
        }
        let result = (self.answer)(node, name.number, self.tries[&name.number]);
        if result.is_ok() {
            self.effects.push(name.number);
        }
        result
    }

    /// Hands rows over as a block for the node of the first. Keys are those of [`hand`](Self::hand).
    pub(super) fn hand_block(&mut self, rows: impl IntoIterator<Item = (u8, What)>) {
        let mut block = HandedBlock::default();
        for (key, what) in rows {
            let mut digest = [key; 20];
            digest[1] = 0;
            block.digests.push(digest);
            let name = Name { digest, number: self.handed };
            block.rows.push(Row { name, what, bytes: BYTES, after: Duration::ZERO });
            self.handed += 1;
        }
        let node = self.map.node("test", &block.digests[0]).unwrap_or(0);
        self.core.push_block(node, block, self.now, &self.map);
        assert!(self.core.stirred());
        self.settle();
    }

    pub(super) fn error(&self, number: usize) -> &Error {
        self.outcomes[&number].error().unwrap_or_else(|| panic!("{number} has succeeded"))
    }
}

#[allow(clippy::unnecessary_wraps)] // an answer, as the others
pub(super) fn ok() -> Result<Written, Error> {
    Ok(Written::with_generation(1))
}

pub(super) fn server(code: ResultCode) -> Result<Written, Error> {
    Err(Error::server(code, &Arc::from("node")))
}

pub(super) fn timed_out() -> Result<Written, Error> {
    Err(Error::timeout("no answer").set_in_doubt(true, 1))
}

pub(super) fn options() -> WriterOptions {
    WriterOptions::default()
}
