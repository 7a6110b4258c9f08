//! Whole requests, in scenarios.

use super::collections::{self, Kind};
use super::expressions::{self, Type, bin_of};
use super::{Random, malformed, queries, scripts, values};
use crate::live::nodes::Ends;
use aerolane_wire::message::{Message, MessageHeader, MessageWriter, field, info1, info2, info3, op};
use aerolane_wire::particle::particle_type;
use aerolane_wire::proto::{FrameType, PROTO_HEADER_SIZE, begin_frame, end_frame};

/// One request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) bytes: Vec<u8>,
    pub(crate) ends: Ends,
    /// What it is, for people.
    pub(crate) note: String,
    /// The records that it may change, or else is about.
    pub(crate) digests: Vec<[u8; 20]>,
    /// How long to wait before it, in milliseconds.
    pub(crate) wait_ms: u64,
    /// Whether it is wrong on purpose.
    pub(crate) malformed: bool,
    /// Whether it is about nodes, not about records.
    pub(crate) info: bool,
}

impl Request {
    pub(crate) fn new(bytes: Vec<u8>, ends: Ends, note: impl Into<String>) -> Self {
        Self { bytes, ends, note: note.into(), digests: Vec::new(), wait_ms: 0, malformed: false, info: false }
    }

    /// Whether it reads one record and changes nothing.
    pub(crate) fn only_reads(&self) -> bool {
        let header = self.bytes.get(PROTO_HEADER_SIZE..).and_then(|body| MessageHeader::decode(body).ok());
        !self.info && header.is_some_and(|header| header.info1 & info1::BATCH == 0 && header.info2 == 0)
    }
}

/// Records of a scenario.
const RECORDS: usize = 4;
/// HLLs that are kept to be used as arguments.
const HLLS: usize = 8;

/// Requests about a few records of one set.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(super) random: Random,
    seed: u64,
    number: u32,
    /// How many records a partition has.
    together: usize,
    pub(super) set: String,
    step: usize,
    steps: usize,
    pub(super) hlls: Vec<Vec<u8>>,
    /// What comes next, before anything new is made up; the next one last.
    planned: Vec<Request>,
    /// Whether there are indexes.
    indexed: bool,
}

impl Scenario {
    /// A scenario of so many requests, beside those that look at what became of a record. Its records are in one partition,
    /// if one node is to be asked for all of them, or in several.
    pub(crate) fn new(seed: u64, number: u32, steps: usize, one_partition: bool) -> Self {
        let mut random = Random::new(seed ^ (u64::from(number) << 20));
        let set = format!("r{seed}-{number}");
        let indexed = number % 5 == 4;
        let mut planned = Vec::new();
        if indexed {
            planned.extend(queries::indexes(&set));
        }
        if number % 5 == 3 || number.is_multiple_of(10) {
            planned.extend(scripts::register());
        }
        planned.reverse();
        let _ = random.below(2);
        let together = if one_partition { RECORDS } else { 2 };
        Self { random, seed, number, together, set, step: 0, steps, hlls: Vec::new(), planned, indexed }
    }

    /// The digests of its records.
    pub(crate) fn digests(&self) -> Vec<[u8; 20]> {
        (0..RECORDS).map(|n| self.digest(n)).collect()
    }

    fn digest(&self, n: usize) -> [u8; 20] {
        let mut digest = [n as u8 + 1; 20];
        let partition = (self.number * 7 + (n / self.together) as u32) as u16 & 0xfff;
        digest[..2].copy_from_slice(&partition.to_le_bytes());
        digest[4..8].copy_from_slice(&self.number.to_be_bytes());
        // Of another seed, so that a server that has seen one run takes another one: a record keeps its set.
        digest[8..16].copy_from_slice(&self.seed.to_be_bytes());
        digest
    }

    /// Takes HLLs from an answer, to be used in later requests.
    pub(crate) fn learn(&mut self, answer: &[u8]) {
        let Ok((message, _)) = Message::decode_prefix(answer.get(PROTO_HEADER_SIZE..).unwrap_or_default()) else {
            return;
        };
        for op in message.ops().filter(|op| op.particle_type == particle_type::HLL && op.value.len() < 2000) {
            if self.hlls.len() == HLLS {
                self.hlls.remove(0);
            }
            self.hlls.push(op.value.to_vec());
        }
    }

    /// A request that reads all bins of a record.
    pub(crate) fn look(&self, digest: &[u8; 20]) -> Request {
        let header = MessageHeader { info1: info1::READ | info1::GET_ALL, ..MessageHeader::default() };
        let bytes = self.message(header, digest, |_| {});
        Request::new(bytes, Ends::Frame, "get")
    }

    /// A request that deletes a record, so that two servers have the same again.
    pub(crate) fn forget(digest: &[u8; 20]) -> Request {
        let header = MessageHeader { info2: info2::WRITE | info2::DELETE, ..MessageHeader::default() };
        let mut bytes = Vec::new();
        let mut message = MessageWriter::frame(&mut bytes, &header);
        message.field(field::NAMESPACE, b"test");
        // Whatever its set is: a malformed request may have made it in another one.
        message.field(field::DIGEST, digest);
        message.finish().unwrap();
        Request::new(bytes, Ends::Frame, "delete")
    }

    pub(super) fn message(
        &self,
        header: MessageHeader,
        digest: &[u8; 20],
        fill: impl FnOnce(&mut MessageWriter<'_>),
    ) -> Vec<u8> {
        let mut out = Vec::new();
        let mut message = MessageWriter::frame(&mut out, &header);
        message.field(field::NAMESPACE, b"test");
        message.field(field::SET, self.set.as_bytes());
        message.field(field::DIGEST, digest);
        fill(&mut message);
        message.finish().unwrap();
        out
    }

    /// The next request; `None` if that was all.
    pub(crate) fn next(&mut self) -> Option<Request> {
        if let Some(planned) = self.planned.pop() {
            return Some(planned);
        }
        if self.step == self.steps {
            if std::mem::take(&mut self.indexed) {
                // A namespace has room for few.
                self.planned = queries::drop_indexes(&self.set);
                return self.planned.pop();
            }
            return None;
        }
        self.step += 1;
        let which = self.random.below(RECORDS);
        let (digest, digests) = (self.digest(which), self.digests());
        Some(match self.random.below(if self.indexed { 40 } else { 32 }) {
            0..=3 => self.put(digest),
            4 if self.random.once_in(3) => Self::forget(&digest),
            5 | 6 => self.filtered_read(digest),
            32..=39 => queries::index(&mut self.random, &self.set, &digests),
            22..=26 => self.single(digest),
            27..=29 => self.batch(),
            30 => self.broken(digest),
            7 => queries::scan(&mut self.random, &self.set, &digests),
            8 | 9 if self.number % 5 == 3 => scripts::call(&mut self.random, &self.set, digest),
            _ => self.operate(digest),
        })
    }

    /// A request that is wrong in one place.
    fn broken(&mut self, digest: [u8; 20]) -> Request {
        let mut request = match self.random.below(3) {
            0 => self.put(digest),
            1 => self.single(digest),
            _ => self.operate(digest),
        };
        let how = malformed::break_request(&mut self.random, &mut request.bytes);
        request.note = format!("malformed ({how}) {}", request.note);
        request.malformed = true;
        request
    }

    /// Writes some bins.
    fn put(&mut self, digest: [u8; 20]) -> Request {
        let random = &mut self.random;
        let info3 = if random.once_in(6) {
            *random.pick(&[info3::CREATE_OR_REPLACE, info3::REPLACE_ONLY, info3::UPDATE_ONLY])
        } else {
            0
        };
        let info2 = info2::WRITE | if random.once_in(15) { info2::CREATE_ONLY } else { 0 };
        let n = 1 + random.below(5);
        let bins: Vec<(u8, &str, Vec<u8>)> = (0..n)
            .map(|_| {
                let kind = *random.pick(&[
                    Type::Bool,
                    Type::Int,
                    Type::Str,
                    Type::List,
                    Type::List,
                    Type::Map,
                    Type::Map,
                    Type::Blob,
                    Type::Float,
                    Type::Geo,
                ]);
                let particle = particle_of(kind);
                let name = if random.once_in(25) { bin_of(Type::Int) } else { bin_of(kind) };
                (particle, name, values::particle(random, particle))
            })
            .collect();
        let key = random.once_in(10);
        let bytes = self.message(MessageHeader { info2, info3, ..MessageHeader::default() }, &digest, |message| {
            if key {
                message.field(field::KEY, b"\x03key");
            }
            message.encoded_ops(
                &encoded(bins.iter().map(|(kind, name, value)| (op::WRITE, *kind, *name, &value[..]))),
                n as u32,
            );
        });
        Request { digests: vec![digest], ..Request::new(bytes, Ends::Frame, "put") }
    }

    fn filtered_read(&mut self, digest: [u8; 20]) -> Request {
        let filter = expressions::filter(&mut self.random);
        let header = MessageHeader { info1: info1::READ | info1::NO_BIN_DATA, ..MessageHeader::default() };
        let bytes = self.message(header, &digest, |message| message.field(field::FILTER, &filter));
        Request { digests: vec![digest], ..Request::new(bytes, Ends::Frame, format!("filter {filter:02x?}")) }
    }

    /// One operation, seldom several.
    fn operate(&mut self, digest: [u8; 20]) -> Request {
        let writes = !self.random.once_in(3);
        let n = if self.random.once_in(4) { 2 + self.random.below(3) } else { 1 };
        let ops: Vec<(u8, &str, Vec<u8>)> = (0..n).map(|_| operation(&mut self.random, writes, &self.hlls)).collect();
        let note =
            ops.iter().map(|(kind, name, value)| format!("{kind} {name} {value:02x?}")).collect::<Vec<_>>().join(", ");
        let reads = ops
            .iter()
            .any(|(kind, ..)| matches!(*kind, op::READ | op::CDT_READ | op::BITS_READ | op::HLL_READ | op::EXP_READ));
        let all = if self.random.once_in(3) { info2::RESPOND_ALL_OPS } else { 0 };
        let header = MessageHeader {
            info1: if reads { info1::READ } else { 0 },
            info2: all | if writes { info2::WRITE } else { 0 },
            ..MessageHeader::default()
        };
        let filter = self.random.once_in(15).then(|| expressions::filter(&mut self.random));
        let bytes = self.message(header, &digest, |message| {
            if let Some(filter) = &filter {
                message.field(field::FILTER, filter);
            }
            message.encoded_ops(
                &encoded(ops.iter().map(|(kind, name, value)| (*kind, particle_of_op(*kind), *name, &value[..]))),
                n as u32,
            );
        });
        let note = format!("info2 {:02x} {}{note}", header.info2, if filter.is_some() { "filtered " } else { "" });
        Request { digests: vec![digest], ..Request::new(bytes, Ends::Frame, note) }
    }
}

fn particle_of(kind: Type) -> u8 {
    match kind {
        Type::Bool => particle_type::BOOL,
        Type::Int => particle_type::INTEGER,
        Type::Str => particle_type::STRING,
        Type::List => particle_type::LIST,
        Type::Map => particle_type::MAP,
        Type::Blob => particle_type::BLOB,
        Type::Float => particle_type::FLOAT,
        Type::Geo => particle_type::GEOJSON,
        Type::Hll => particle_type::HLL,
    }
}

pub(super) fn particle_of_op(kind: u8) -> u8 {
    match kind {
        op::READ => particle_type::NIL,
        op::INCR => particle_type::INTEGER,
        op::APPEND | op::PREPEND => particle_type::STRING,
        _ => particle_type::BLOB,
    }
}

/// Operations as they stand in a message.
pub(super) fn encoded<'a>(ops: impl Iterator<Item = (u8, u8, &'a str, &'a [u8])>) -> Vec<u8> {
    let mut out = Vec::new();
    for (kind, particle, name, value) in ops {
        out.extend_from_slice(&(4 + name.len() as u32 + value.len() as u32).to_be_bytes());
        out.extend_from_slice(&[kind, particle, 0, name.len() as u8]);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(value);
    }
    out
}

/// An operation: its type, bin and value.
pub(super) fn operation(random: &mut Random, writes: bool, hlls: &[Vec<u8>]) -> (u8, &'static str, Vec<u8>) {
    let modify = writes && !random.once_in(4);
    // Seldom on a bin of another type, or one that is not there.
    let bin = |random: &mut Random, name: &'static str| match random.below(25) {
        0 => *random.pick(&["i", "s", "l", "m", "b", "f"]),
        1 => "x",
        _ => name,
    };
    let pair = |read: u8, write: u8| if modify { write } else { read };
    match random.below(20) {
        0..=5 => {
            (pair(op::CDT_READ, op::CDT_MODIFY), bin(random, "l"), collections::operation(random, Kind::List, modify))
        }
        6..=11 => {
            (pair(op::CDT_READ, op::CDT_MODIFY), bin(random, "m"), collections::operation(random, Kind::Map, modify))
        }
        12 | 13 => (pair(op::BITS_READ, op::BITS_MODIFY), bin(random, "b"), collections::bits(random, modify)),
        14 => (pair(op::HLL_READ, op::HLL_MODIFY), bin(random, "h"), collections::hll(random, modify, hlls)),
        15 if modify => (op::INCR, bin(random, "i"), values::int(random).to_be_bytes().to_vec()),
        16 if modify => (*random.pick(&[op::APPEND, op::PREPEND]), bin(random, "s"), values::text(random).to_vec()),
        15 | 16 => (op::READ, *random.pick(&["i", "s", "l", "m"]), Vec::new()),
        _ => {
            let (flags, expression, name) = if modify {
                let kind =
                    *random.pick(&[Type::Int, Type::Str, Type::List, Type::Map, Type::Blob, Type::Float, Type::Bool]);
                let name = if random.once_in(4) { "x" } else { bin_of(kind) };
                (random.between(0, 31), expressions::of(random, kind), name)
            } else {
                (*random.pick(&[0, 0, 16]), expressions::any(random), "e")
            };
            let mut value = vec![0x92];
            value.extend_from_slice(&expression);
            aerolane_wire::msgpack::Writer::new(&mut value).int(flags);
            (pair(op::EXP_READ, op::EXP_MODIFY), name, value)
        }
    }
}

/// A request with one info command.
pub(super) fn info(command: &str, wait_ms: u64) -> Request {
    let mut bytes = Vec::new();
    let start = begin_frame(&mut bytes, FrameType::Info);
    bytes.extend_from_slice(command.as_bytes());
    bytes.push(b'\n');
    end_frame(&mut bytes, start).unwrap();
    let note: String = command.chars().take(80).collect();
    Request { wait_ms, info: true, ..Request::new(bytes, Ends::Frame, note) }
}
