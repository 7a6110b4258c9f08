//! Walking through partitions and answering their records, some at a time.

use super::registry::Entry;
use super::request::{QueryRequest, Wanted};
use super::select::{Picked, Selector};
use super::{finish, unavailable};
use crate::clock::Now;
use crate::cluster::{Counters, Node};
use crate::code;
use crate::exp::Expression;
use crate::record;
use crate::request::{Slice, Sliced};
use crate::store::Record;
use aerolane_wire::ResultCode;
use aerolane_wire::message::{MESSAGE_HEADER_SIZE, Message, MessageHeader, field, info1};
use aerolane_wire::proto::{FrameType, PROTO_HEADER_SIZE, begin_frame, end_frame};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Records share a frame up to this size.
const FRAME_BYTES: usize = 128 * 1024;
/// Bytes after which the rest is left to the next call.
const BYTES_PER_CALL: usize = 128 * 1024;
/// Records that are looked at before the rest is left to the next call.
const RECORDS_PER_CALL: usize = 20_000;
/// Records that are copied under one lock.
const RECORDS_PER_LOCK: usize = 64;

/// How often a query that waits for its rate looks whether it was aborted.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// A query that is being answered.
pub(super) struct Run {
    node: Arc<Node>,
    query: QueryRequest,
    entry: Entry,
    /// Which of the query's partitions comes next.
    next: usize,
    /// Records of the present partition that are still to be answered, the next one last.
    picked: Vec<Picked>,
    /// Records that may still be answered.
    left: u64,
    selector: Selector,
    started: Instant,
    answered: u64,
    /// A pause, for the rate that the query asks for.
    resume_at: Option<Instant>,
    /// The last slice got little done.
    slow: bool,
}

impl Run {
    pub(super) fn new(node: Arc<Node>, query: QueryRequest, entry: Entry, now: Now) -> Self {
        let selector = Selector::new(node.slot, &query);
        let left = query.max_records.unwrap_or(u64::MAX);
        Self {
            node,
            query,
            entry,
            next: 0,
            picked: Vec::new(),
            left,
            selector,
            started: now.instant,
            answered: 0,
            resume_at: None,
            slow: false,
        }
    }

    /// Whether the query has to wait for the sake of its rate. Pauses are short, so that an aborted query ends soon.
    fn pauses(&mut self, now: Now) -> bool {
        let rate = self.query.records_per_second;
        if rate == 0 {
            return false;
        }
        let now = now.instant;
        let due = self.started + Duration::from_secs_f64(self.answered as f64 / f64::from(rate));
        self.resume_at = (now < due && !self.entry.is_aborted()).then(|| due.min(now + LONGEST_PAUSE));
        self.resume_at.is_some()
    }

    /// Appends more of the answer; `true`: that was all.
    pub(super) fn answer(&mut self, now: Now, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        let mut looked_at = 0;
        let mut frame = None;
        let first = self.answered;
        self.slow = false;
        if self.pauses(now) {
            return false;
        }
        let mut slice = Slice::begin(now);
        let mut over = false;
        loop {
            if self.entry.is_aborted() {
                close(&mut frame, out);
                finish(out, ResultCode::SCAN_ABORT.0);
                return true;
            }
            if self.left == 0 {
                break;
            }
            let paced = self.answered > first && self.pauses(now);
            if out.len() - start > BYTES_PER_CALL || looked_at > RECORDS_PER_CALL || paced || over {
                // One with pauses has time.
                self.slow = slice.was_slow() && self.query.records_per_second == 0;
                close(&mut frame, out);
                return false;
            }
            if self.picked.is_empty() {
                let Some(Wanted { partition: pid, after }) = self.query.partitions.get(self.next).copied() else {
                    break;
                };
                self.next += 1;
                self.entry.progress(self.next);
                let Some((picked, looked)) = self.selector.pick(pid, after.as_ref(), now) else {
                    close(&mut frame, out);
                    unavailable(out, pid);
                    continue;
                };
                self.picked = picked;
                looked_at += looked;
                over = slice.step();
            } else {
                looked_at += RECORDS_PER_LOCK;
                over = self.answer_some(now, &mut slice, &mut frame, out);
            }
        }
        close(&mut frame, out);
        finish(out, code::OK);
        true
    }

    /// Answers some records of the present partition under one lock; `true`: the slice is over.
    fn answer_some(&mut self, now: Now, slice: &mut Slice, frame: &mut Option<usize>, out: &mut Vec<u8>) -> bool {
        let Some(last) = self.picked.last() else { return false };
        let pid = aerolane_wire::digest::partition_id(&last.digest);
        let Some(partition) = self.query.namespace.answering(self.node.slot, pid, now.instant) else {
            // It has moved away meanwhile: the client asks its new owner for the rest.
            self.picked.clear();
            close(frame, out);
            unavailable(out, pid);
            return false;
        };
        // It was found good when the query began; taking it apart costs little beside the records.
        let filter = self.query.filter.as_deref().and_then(|filter| Expression::parse_filter(filter).ok());
        let projection = self.query.projection.as_deref().and_then(|body| Message::decode(body).ok());
        let start = out.len();
        let (mut answered, mut over) = (0, false);
        let most = match self.query.records_per_second {
            0 => RECORDS_PER_LOCK,
            rate => RECORDS_PER_LOCK.min(rate as usize),
        };
        for _ in 0..most {
            if over || self.left == 0 || out.len() - start > BYTES_PER_CALL {
                break;
            }
            over = slice.step();
            let Some(Picked { digest, place }) = self.picked.pop() else { break };
            // A record that has gone since is left out, or does not belong any more.
            let Some(record) = partition.find(&digest).filter(|r| self.selector.takes(r, now.seconds())) else {
                continue;
            };
            let place = self.selector.has_index().then_some(place);
            if !filter.as_ref().is_none_or(|f| record::passes(&self.query.namespace, f, record, now.ms)) {
                continue;
            }
            let message = begin(frame, out);
            if write_record(&self.query, projection.as_ref(), record, place, now.ms, out) {
                end(frame, message, out);
                self.left -= 1;
                answered += 1;
            } else {
                out.truncate(message);
            }
        }
        Counters::add(&self.node.counters.query_records, answered);
        self.entry.answered(answered);
        self.answered += answered;
        over
    }
}

impl Sliced for Run {
    fn proceed(&mut self, now: Now, out: &mut Vec<u8>) -> bool {
        self.answer(now, out)
    }

    fn not_before(&self) -> Option<Instant> {
        self.resume_at
    }

    fn is_slow(&self) -> bool {
        self.slow
    }

    fn hurry(&mut self) {
        self.query.records_per_second = 0;
    }
}

/// Opens a frame if none is open; answers where the next message stands.
fn begin(frame: &mut Option<usize>, out: &mut Vec<u8>) -> usize {
    if frame.is_none() {
        *frame = Some(begin_frame(out, FrameType::Message));
    }
    out.len()
}

/// Ends a message; one that is too much for the frame goes into a new one.
fn end(frame: &mut Option<usize>, message: usize, out: &mut Vec<u8>) {
    let start = frame.unwrap_or(message);
    if out.len() - start > FRAME_BYTES && message > start + PROTO_HEADER_SIZE {
        let tail = out.split_off(message);
        close(frame, out);
        *frame = Some(begin_frame(out, FrameType::Message));
        out.extend_from_slice(&tail);
    }
}

/// Closes the frame; one without a message is taken back.
fn close(frame: &mut Option<usize>, out: &mut Vec<u8>) {
    let Some(start) = frame.take() else { return };
    if out.len() == start + PROTO_HEADER_SIZE {
        out.truncate(start);
        return;
    }
    let ended = end_frame(out, start);
    debug_assert!(ended.is_ok(), "a frame holds at most 128 KiB, or one record");
}

/// Appends a record's message; `false` if none of the wanted bins is there, or an operation fails, and then it is to be
/// taken back. `projection` is the message whose operations are to be done, `place` where the record stands in the index.
fn write_record(
    query: &QueryRequest,
    projection: Option<&Message<'_>>,
    record: &Record,
    place: Option<i64>,
    now_ms: u64,
    out: &mut Vec<u8>,
) -> bool {
    let namespace = &query.namespace;
    let start = out.len();
    out.extend_from_slice(&[0; MESSAGE_HEADER_SIZE]);
    let mut n_fields = 2;
    write_field(out, field::NAMESPACE, namespace.name.as_bytes());
    write_field(out, field::DIGEST, record.digest());
    let set = namespace.sets.name(record.set_id());
    if !set.is_empty() {
        write_field(out, field::SET, set);
        n_fields += 1;
    }
    if let Some(key) = record.key() {
        write_field(out, field::KEY, key);
        n_fields += 1;
    }
    if let Some(place) = place {
        write_field(out, field::BVALS, &place.to_le_bytes());
        n_fields += 1;
    }
    let mut n_ops = 0;
    let bins = out.len();
    if query.no_bin_data {
    } else if let Some(message) = projection {
        match record::project(namespace, record, message.ops(), now_ms, out) {
            Ok(n) if n > 0 => n_ops = n,
            _ => return false,
        }
    } else if query.bins.is_empty() {
        out.extend_from_slice(record.raw_bins());
        n_ops = record.n_bins();
    } else {
        for bin in query.bins.iter().filter_map(|name| record.bin(name)) {
            out.extend_from_slice(bin.raw);
            n_ops += 1;
        }
        if n_ops == 0 {
            return false;
        }
    }
    record::hide_index_marks(namespace, out, bins);
    let header = MessageHeader {
        info1: if query.no_bin_data { info1::NO_BIN_DATA } else { 0 },
        generation: record.generation().into(),
        record_ttl: record.void_time(),
        n_fields,
        n_ops,
        ..MessageHeader::default()
    };
    out[start..start + MESSAGE_HEADER_SIZE].copy_from_slice(&header.encode());
    true
}

fn write_field(out: &mut Vec<u8>, kind: u8, value: &[u8]) {
    out.extend_from_slice(&(value.len() as u32 + 1).to_be_bytes());
    out.push(kind);
    out.extend_from_slice(value);
}
