//! Aggregations: a Lua function over the records of a query. It runs on a thread of its own, as it may take long; what
//! comes out goes through a short queue to the connection.

use super::background::Slot;
use super::finish;
use super::registry::Entry;
use super::request::QueryRequest;
use super::select::{Picked, Selector};
use crate::clock::Now;
use crate::cluster::{Counters, Node};
use crate::code;
use crate::exp::Expression;
use crate::record;
use crate::request::Producer;
use crate::udf::{self, ScriptRecord, StreamCall};
use aerolane_wire::message::{MESSAGE_HEADER_SIZE, MessageHeader};
use aerolane_wire::particle::particle_type;
use aerolane_wire::proto::{FrameType, begin_frame, end_frame};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::time::{Duration, Instant};

/// Values that wait for the connection.
const QUEUE: usize = 64;
/// Bytes after which the rest is left to the next call.
const BYTES_PER_CALL: usize = 128 * 1024;
/// How long the connection waits before it looks for more.
const PAUSE: Duration = Duration::from_millis(1);
/// Stack of the thread: values are walked as deep as they are nested.
const STACK_SIZE: usize = 8 * 1024 * 1024;

/// The connection's side of an aggregation.
pub(super) struct Aggregation {
    frames: Receiver<Vec<u8>>,
    resume_at: Option<Instant>,
}

impl Aggregation {
    /// Starts an aggregation; the error is a result code.
    pub(super) fn start(
        node: Arc<Node>,
        query: QueryRequest,
        call: StreamCall,
        entry: Entry,
        now: Now,
    ) -> Result<Self, u8> {
        let slot = Slot::take(&node).ok_or(code::FORBIDDEN)?;
        let (sender, frames) = sync_channel(QUEUE);
        let job = move || {
            let _slot = slot;
            run(&node, now, &query, &call, &entry, &sender);
        };
        let thread = std::thread::Builder::new().name("aerolane-stream".to_owned()).stack_size(STACK_SIZE);
        thread.spawn(job).map_err(|_| code::FORBIDDEN)?;
        Ok(Self { frames, resume_at: None })
    }
}

impl Producer for Aggregation {
    fn produce(&mut self, now: Now, out: &mut Vec<u8>) -> bool {
        self.resume_at = None;
        let start = out.len();
        while out.len() - start < BYTES_PER_CALL {
            match self.frames.try_recv() {
                Ok(frame) => out.extend_from_slice(&frame),
                Err(TryRecvError::Disconnected) => return true,
                Err(TryRecvError::Empty) => {
                    self.resume_at = Some(now.instant + PAUSE);
                    return false;
                }
            }
        }
        false
    }

    fn resume_at(&self, _now: Instant) -> Option<Instant> {
        self.resume_at
    }
}

fn run(
    node: &Arc<Node>,
    now: Now,
    query: &QueryRequest,
    call: &StreamCall,
    entry: &Entry,
    frames: &SyncSender<Vec<u8>>,
) {
    let mut walk =
        Walk { node, begun: now, query, entry, selector: Selector::new(node.slot, query), next: 0, picked: Vec::new() };
    let outcome = udf::aggregate(
        &query.namespace.modules,
        call,
        now,
        || walk.next(),
        |kind, value| !entry.is_aborted() && frames.send(answer(b"SUCCESS", kind, &value)).is_ok(),
    );
    let mut last = Vec::new();
    if entry.is_aborted() {
        finish(&mut last, aerolane_wire::ResultCode::SCAN_ABORT.0);
    } else if let Err(text) = outcome {
        last = answer(b"FAILURE", particle_type::STRING, text.as_bytes());
        finish(&mut last, code::UNKNOWN);
    } else {
        finish(&mut last, code::OK);
    }
    // A connection that has gone does not want it any more.
    let _ = frames.send(last);
}

/// A frame with one value.
fn answer(name: &[u8], kind: u8, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(64 + value.len());
    let frame = begin_frame(&mut out, FrameType::Message);
    let header = MessageHeader { n_ops: 1, ..MessageHeader::default() };
    debug_assert_eq!(header.encode().len(), MESSAGE_HEADER_SIZE);
    out.extend_from_slice(&header.encode());
    record::append_bin(name, kind, value, &mut out);
    let ended = end_frame(&mut out, frame);
    debug_assert!(ended.is_ok(), "values of scripts are limited to far less than a frame");
    out
}

/// Goes through the records of a query, one at a time.
struct Walk<'a> {
    node: &'a Node,
    begun: Now,
    query: &'a QueryRequest,
    entry: &'a Entry,
    selector: Selector,
    /// Which of the query's partitions comes next.
    next: usize,
    /// Of the present partition, the next one last.
    picked: Vec<Picked>,
}

impl Walk<'_> {
    fn next(&mut self) -> Option<ScriptRecord> {
        loop {
            if self.entry.is_aborted() {
                return None;
            }
            let now = self.node.time(self.begun.after_work());
            let Some(picked) = self.picked.pop() else {
                let wanted = self.query.partitions.get(self.next)?;
                self.next += 1;
                self.entry.progress(self.next);
                if self.node.owns(&self.query.namespace, wanted.partition, self.query.of_node) {
                    let picked = self.selector.pick(wanted.partition, wanted.after.as_ref(), now);
                    self.picked = picked.map(|(picked, _)| picked).unwrap_or_default();
                }
                continue;
            };
            let pid = aerolane_wire::digest::partition_id(&picked.digest);
            let namespace = &self.query.namespace;
            let Some(partition) = namespace.answering(self.node.slot, pid, now.instant) else { continue };
            let Some(found) = partition.find(&picked.digest).filter(|r| self.selector.takes(r, now.seconds())) else {
                continue;
            };
            let filter = self.query.filter.as_deref().and_then(|filter| Expression::parse_filter(filter).ok());
            if !filter.is_none_or(|filter| record::passes(namespace, &filter, found, now.ms)) {
                continue;
            }
            Counters::add(&self.node.counters.query_records, 1);
            self.entry.answered(1);
            let mut record = record::stored_record(namespace, found, None, now.seconds());
            record.read_only = true;
            return Some(record);
        }
    }
}
