//! What one record does: read, write, delete, touch, exists, operate.
//!
//! [`answer`] serves single-record frames; [`execute`] is the same without framing, for batch rows and background
//! queries. Order of checks, and which errors carry the record's generation, follow the golden groups `record` and
//! `operate`.

mod apply;
mod bin_set;
mod blob_ops;
mod delete;
mod expression;
mod filter;
mod index_mark;
mod project;
mod read;
mod scalar;
mod ttl;
mod write;

pub(crate) use apply::{append as append_bin, stored_record};
pub(crate) use filter::passes;
pub(crate) use index_mark::hide as hide_index_marks;
pub(crate) use project::project;

use crate::admin::{self, Access};
use crate::code;
use crate::faults::RequestKind;
use crate::request::{RecordOutcome, RecordRequest, Request, error_answer};
use crate::store::{MONITOR_SET, Namespace, Partition};
use crate::transaction;
use aerolane_wire::digest::partition_id;
use aerolane_wire::message::{MESSAGE_HEADER_SIZE, Message, MessageHeader, info1, info2};
use aerolane_wire::proto::{self, FrameType};

/// Executes one request on one record. Appends the operations of the answer to `out` (none if it fails); the caller
/// writes the message header around them.
pub(crate) fn execute(
    namespace: &Namespace,
    request: &RecordRequest<'_>,
    now_ms: u64,
    out: &mut Vec<u8>,
) -> RecordOutcome {
    if !namespace.strong_consistency {
        return perform(namespace, &mut namespace.partition(partition_id(request.digest)), request, now_ms, out);
    }
    if request.set == Some(MONITOR_SET) {
        return transaction::execute_monitor(namespace, request, now_ms);
    }
    let mut partition = namespace.partition(partition_id(request.digest));
    if let Some(outcome) = transaction::step(namespace, &mut partition, request, now_ms) {
        return outcome;
    }
    let outcome = perform(namespace, &mut partition, request, now_ms, out);
    // Still under the lock: the version has to be that of what was read.
    let fields = transaction::answer_fields(&partition, request, outcome.code, now_ms);
    RecordOutcome { fields, ..outcome }
}

/// What a request does to its partition.
fn perform(
    namespace: &Namespace,
    partition: &mut Partition,
    request: &RecordRequest<'_>,
    now_ms: u64,
    out: &mut Vec<u8>,
) -> RecordOutcome {
    let start = out.len();
    let outcome = if request.info2 & info2::WRITE != 0 {
        if request.info2 & info2::DELETE != 0 {
            delete::delete(namespace, partition, request, now_ms)
        } else if let Some(call) = &request.udf {
            apply::apply(namespace, partition, request, call, now_ms, out)
        } else {
            write::write(namespace, partition, request, now_ms, out)
        }
    } else if request.info1 & info1::READ != 0 {
        read::read(namespace, partition, request, now_ms, out)
    } else {
        Err(RecordOutcome::error(code::PARAMETER))
    };
    match outcome {
        Ok(outcome) => {
            // Values of scripts show it.
            if request.udf.is_none() {
                index_mark::hide(namespace, out, start);
            }
            outcome
        }
        Err(error) => {
            out.truncate(start);
            error
        }
    }
}

/// Whether a record may be deleted in this way: in strong-consistency mode only durably, which in the Community Edition
/// no namespace does.
fn may_delete(namespace: &Namespace, request: &RecordRequest<'_>) -> Result<(), u8> {
    match (namespace.strong_consistency, request.info2 & info2::DURABLE_DELETE != 0) {
        (true, false) => Err(code::FORBIDDEN),
        (false, true) => Err(code::ENTERPRISE_ONLY),
        _ => Ok(()),
    }
}

/// Answers a single-record message with one frame.
pub(crate) fn answer(request: &mut Request<'_>, namespace: &Namespace, message: &Message<'_>, out: &mut Vec<u8>) {
    let record = match RecordRequest::from_message(message, namespace.strong_consistency) {
        Ok(record) => record,
        Err(code) => return error_answer(out, code),
    };
    let access = Access::of(record.info1, record.info2, record.udf.is_some());
    let permitted = admin::grants(request.node, request.session).and_then(|grants| {
        let set = record.set.unwrap_or_default();
        admin::permit_data(grants.as_deref(), access, namespace.name.as_bytes(), set, request.now_ms)
    });
    if let Err(code) = permitted {
        return error_answer(out, code);
    }
    if request.node.faults.armed() && refused(request, namespace, &record) {
        return error_answer(out, code::UNAVAILABLE);
    }
    let frame = proto::begin_frame(out, FrameType::Message);
    let start = out.len();
    out.extend_from_slice(&[0; MESSAGE_HEADER_SIZE]);
    let outcome = execute(namespace, &record, request.now_ms, out);
    let n_fields = transaction::insert_fields(out, start + MESSAGE_HEADER_SIZE, &outcome.fields);
    let header = MessageHeader {
        result_code: outcome.code,
        generation: outcome.generation,
        record_ttl: outcome.void_time,
        n_fields,
        n_ops: outcome.n_ops,
        ..MessageHeader::default()
    };
    out[start..start + MESSAGE_HEADER_SIZE].copy_from_slice(&header.encode());
    if proto::end_frame(out, frame).is_err() {
        // Many reads of one large bin can ask for more than a frame holds.
        out.truncate(frame);
        error_answer(out, code::RECORD_TOO_BIG);
    }
    request.session.records += 1;
}

/// Whether a fault rule refuses requests for partitions that the node does not own. Otherwise they are answered, as a
/// server answers them that proxies to the owner: the store is shared.
#[cold]
fn refused(request: &Request<'_>, namespace: &Namespace, record: &RecordRequest<'_>) -> bool {
    let write = record.info2 & info2::WRITE != 0;
    let kind = if write { RequestKind::Write } else { RequestKind::Read };
    let node = request.node;
    // Only requests for partitions of other nodes count for the rule.
    !node.cluster.owns(node, namespace, partition_id(record.digest), write) && node.faults.rejects_unowned(kind)
}
