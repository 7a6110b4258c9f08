//! Executing the rows of a batch, some at a time.

use super::{finish, is_failure};
use crate::admin::{self, Access, Grants};
use crate::clock::Now;
use crate::cluster::Node;
use crate::code;
use crate::faults::{RecordTarget, RequestKind};
use crate::record;
use crate::request::{RecordOutcome, RecordRequest, Slice, TxnPart, UdfCall, field_error};
use crate::transaction::insert_fields;
use aerolane_wire::batch::{BatchMark, BatchRow, BatchRows, flags};
use aerolane_wire::digest::partition_id;
use aerolane_wire::message::{MESSAGE_HEADER_SIZE, MessageHeader, field, info2, op};
use aerolane_wire::proto::{FrameType, PROTO_HEADER_SIZE, begin_frame, end_frame};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Rows of an answer share a frame up to this size.
const FRAME_BYTES: usize = 128 * 1024;
/// Bytes after which the rest is left to the next call.
const BYTES_PER_CALL: usize = 256 * 1024;

/// A batch that is being executed.
pub(super) struct Run {
    node: Arc<Node>,
    /// What the user may do, if security is on.
    grants: Option<Arc<Grants>>,
    flags: u8,
    /// The number of the client's connection, for faults.
    connection: u64,
    /// How long a row waits at most for what its write has to reach.
    patience: Duration,
    /// Rows of partitions that the node does not own are answered with "unavailable" (a fault).
    rejects_unowned: bool,
    /// Behind the rows that are done.
    mark: Option<BatchMark>,
    /// The first error of a row, unless rows with errors are asked for without that.
    error: Option<u8>,
    /// When all replicas have what was written: answers of batches wait for that.
    replicated: Option<Instant>,
    /// The last slice got little done.
    slow: bool,
}

impl Run {
    pub(super) fn new(
        node: Arc<Node>,
        grants: Option<Arc<Grants>>,
        value: &[u8],
        connection: u64,
        patience: Duration,
    ) -> Self {
        let rejects_unowned = node.faults.rejects_unowned(RequestKind::Batch);
        let flags = BatchRows::decode(value).map_or(0, |rows| rows.flags);
        Self {
            node,
            grants,
            flags,
            connection,
            patience,
            rejects_unowned,
            mark: None,
            error: None,
            replicated: None,
            slow: false,
        }
    }

    /// When all replicas have what was written so far, if they do not have it yet.
    pub(super) fn replicated(&self) -> Option<Instant> {
        self.replicated
    }

    /// Whether the last call got little done in its time.
    pub(super) fn is_slow(&self) -> bool {
        self.slow
    }

    /// Executes more rows of the batch field `value` and appends their answers; `true`: that was all.
    pub(super) fn proceed(&mut self, value: &[u8], filter: Option<&[u8]>, now: Now, out: &mut Vec<u8>) -> bool {
        let first = out.len();
        let mut frame = Frame::new(out);
        let rows = match &self.mark {
            Some(mark) => BatchRows::resume(value, mark),
            None => BatchRows::decode(value),
        };
        let Ok(mut rows) = rows else {
            finish(out, code::PARAMETER);
            return true;
        };
        let mut slice = Slice::begin(now);
        let mut over = false;
        loop {
            if over || frame.out.len() - first > BYTES_PER_CALL {
                (self.slow, self.mark) = (slice.was_slow(), Some(rows.mark()));
                frame.close();
                return false;
            }
            // All rows were checked before the first was executed.
            let Some(Ok(row)) = rows.next() else { break };
            let start = frame.begin_message();
            let body = frame.out.len();
            let mut outcome = self.execute(&row, filter, now, frame.out);
            if let Some((time, too_long)) = outcome.wait(row.header.info2, row.header.info3, self.patience) {
                if too_long {
                    frame.out.truncate(body);
                    outcome = RecordOutcome::error(code::TIMEOUT);
                }
                self.replicated = self.replicated.max(Some(now.after_work().instant + time));
            }
            if is_failure(outcome.code) && self.flags & flags::RESPOND_ALL_KEYS == 0 {
                self.error.get_or_insert(outcome.code);
            }
            if self.error.is_some() && self.flags & flags::REPORT_ERROR_RECORDS == 0 {
                // Nothing but the error is answered from here on; rows of frames that are complete have gone out.
                frame.drop_rows();
            } else {
                frame.end_message(start, &outcome, row.index);
            }
            over = slice.step();
        }
        frame.close();
        finish(out, self.error.unwrap_or(code::OK));
        true
    }

    /// Executes one row; appends the operations of its answer.
    fn execute(&self, row: &BatchRow<'_>, filter: Option<&[u8]>, now: Now, out: &mut Vec<u8>) -> RecordOutcome {
        let (mut namespace, mut set, mut key, mut digest, mut own_filter) = (None, None, None, None, None);
        let mut udf = UdfCall::default();
        let (mut txn, mut txn_error) = (TxnPart { info4: row.header.info4, ..TxnPart::default() }, None);
        for field in row.fields() {
            let slot = match field.kind {
                field::NAMESPACE => &mut namespace,
                field::SET => &mut set,
                field::KEY => &mut key,
                field::DIGEST => &mut digest,
                field::FILTER => &mut own_filter,
                other => {
                    let Some(slot) = udf.slot(other) else {
                        if let Err(code) = txn.take(other, field.value) {
                            txn_error.get_or_insert(code);
                        }
                        continue;
                    };
                    slot
                }
            };
            // Of two fields of one type the first counts.
            slot.get_or_insert(field.value);
        }
        let digest: &[u8; 20] = match digest.map(TryInto::try_into) {
            None => row.digest,
            Some(Ok(digest)) => digest,
            Some(Err(_)) => return RecordOutcome::error(code::PARAMETER),
        };
        let Some(namespace) = namespace.and_then(|name| self.node.cluster.namespace(name)) else {
            return RecordOutcome::error(code::PARAMETER);
        };
        if !namespace.strong_consistency {
            // Its mere presence; golden group `batch`.
            if row.fields().any(|field| field_error(field.kind).is_some()) {
                return RecordOutcome::error(code::ENTERPRISE_ONLY);
            }
            txn = TxnPart::default();
        } else if let Some(code) = txn_error {
            return RecordOutcome::error(code);
        }
        let write = row.header.info2 & info2::WRITE != 0;
        if self.rejects_unowned && !self.node.owns(namespace, partition_id(digest), write) {
            return RecordOutcome::error(code::UNAVAILABLE);
        }
        if self.node.faults.armed() {
            let target = RecordTarget { set, key, digest: Some(digest) };
            if let Some(code) = self.node.faults.next_row(&target, self.connection) {
                return RecordOutcome::error(code);
            }
        }
        let access = Access::of(row.header.info1, row.header.info2, udf.given().is_some());
        let set_name = set.unwrap_or_default();
        let permitted = admin::permit_data(self.grants.as_deref(), access, namespace.name.as_bytes(), set_name, now);
        if let Err(code) = permitted {
            return RecordOutcome::error(code);
        }
        let request = RecordRequest {
            info1: row.header.info1,
            info2: row.header.info2,
            info3: row.header.info3,
            generation: row.header.generation.into(),
            record_ttl: row.header.ttl,
            set,
            digest,
            key,
            filter: own_filter.or(filter),
            ops: row.ops(),
            n_ops: row.n_ops(),
            udf: udf.given(),
            txn,
        };
        let start = out.len();
        let outcome = record::execute(self.node.slot, namespace, &request, now, out);
        // What another node has answered for this one is passed on as it is.
        let own = || self.node.owns(namespace, partition_id(digest), false);
        if !write && row.ops().any(|op| op.kind != op::READ) && own() {
            call_all_reads(&mut out[start..]);
        }
        outcome
    }
}

/// Rows that only read answer every operation as a plain read (golden scenario `batch/read-records`).
fn call_all_reads(mut ops: &mut [u8]) {
    while let Some(size) = ops.first_chunk::<4>() {
        let end = 4 + u32::from_be_bytes(*size) as usize;
        let Some((operation, rest)) = ops.split_at_mut_checked(end) else { return };
        if let Some(kind) = operation.get_mut(4) {
            *kind = op::READ;
        }
        ops = rest;
    }
}

/// A frame of rows that is being filled.
struct Frame<'o> {
    out: &'o mut Vec<u8>,
    start: Option<usize>,
}

impl<'o> Frame<'o> {
    fn new(out: &'o mut Vec<u8>) -> Self {
        Self { out, start: None }
    }

    /// Makes room for a message's header; answers where it stands.
    fn begin_message(&mut self) -> usize {
        if self.start.is_none() {
            self.start = Some(begin_frame(self.out, FrameType::Message));
        }
        let start = self.out.len();
        self.out.extend_from_slice(&[0; MESSAGE_HEADER_SIZE]);
        start
    }

    /// Fills in the header of the message at `start`. A message that is too much for the frame goes into a new one.
    fn end_message(&mut self, start: usize, outcome: &RecordOutcome, index: u32) {
        let n_fields = insert_fields(self.out, start + MESSAGE_HEADER_SIZE, &outcome.fields);
        let header = MessageHeader {
            result_code: outcome.code,
            generation: outcome.generation,
            record_ttl: outcome.void_time,
            transaction_ttl: index,
            n_fields,
            n_ops: outcome.n_ops,
            ..MessageHeader::default()
        };
        self.out[start..start + MESSAGE_HEADER_SIZE].copy_from_slice(&header.encode());
        let frame = self.start.unwrap_or(start);
        if self.out.len() - frame > FRAME_BYTES && start > frame + PROTO_HEADER_SIZE {
            let message = self.out.split_off(start);
            self.close();
            self.start = Some(begin_frame(self.out, FrameType::Message));
            self.out.extend_from_slice(&message);
        }
    }

    /// Takes back the rows of this frame.
    fn drop_rows(&mut self) {
        if let Some(start) = self.start.take() {
            self.out.truncate(start);
        }
    }

    fn close(&mut self) {
        if let Some(start) = self.start.take() {
            let ended = end_frame(self.out, start);
            debug_assert!(ended.is_ok(), "a frame holds at most 128 KiB, or one record");
        }
    }
}
