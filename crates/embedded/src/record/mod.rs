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
mod overwrite;
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
use crate::clock::Now;
use crate::code;
use crate::faults::RequestKind;
use crate::request::{Answered, RecordFields, RecordOutcome, RecordRequest, Request, error_answer, offload};
use crate::store::{MONITOR_SET, Namespace, Purpose, Site, Slot};
use crate::transaction;
use aerolane_wire::digest::partition_id;
use aerolane_wire::message::{MESSAGE_HEADER_SIZE, Message, MessageHeader, info1, info2, info3};
use aerolane_wire::proto::{self, FrameType};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a server works on a request at most (its `transaction-max-ms`).
const TRANSACTION_MAX: Duration = Duration::from_secs(1);

/// How long a node works on a request at most whose header has this time limit, in milliseconds (0: none).
pub(crate) fn patience(transaction_ttl: u32) -> Duration {
    match transaction_ttl {
        0 => TRANSACTION_MAX,
        ttl => Duration::from_millis(ttl.into()).min(TRANSACTION_MAX),
    }
}

/// Executes one request on one record that came to `node`. Appends the operations of the answer to `out` (none if it
/// fails); the caller writes the message header around them.
#[inline]
pub(crate) fn execute(
    node: Slot,
    namespace: &Namespace,
    request: &RecordRequest<'_>,
    now: Now,
    out: &mut Vec<u8>,
) -> RecordOutcome {
    if request.udf.is_some() && request.info2 & (info2::WRITE | info2::DELETE) == info2::WRITE {
        return apply::execute(node, namespace, request, now, out);
    }
    let writes = request.info2 & info2::WRITE != 0;
    if !namespace.strong_consistency {
        let purpose = if writes { Purpose::Write } else { Purpose::Read };
        let resolve = writes || request.info1 & info1::READ_MODE_AP_ALL != 0;
        return match namespace.site(node, request.digest, purpose, resolve, now.instant) {
            Ok(mut site) => {
                let outcome = perform(namespace, &mut site, request, now, out);
                RecordOutcome { lag: site.lag, ..outcome }
            }
            Err(code) => RecordOutcome::unreached(code),
        };
    }
    if request.set == Some(MONITOR_SET) {
        if let Err(code) = namespace.site(node, request.digest, Purpose::Write, false, now.instant) {
            return RecordOutcome::unreached(code);
        }
        return transaction::execute_monitor(namespace, request, now);
    }
    // Replicas answer only those who say that they can do with an older record.
    let relaxed = request.info3 & (info3::SC_READ_TYPE | info3::SC_READ_RELAX) == info3::SC_READ_RELAX;
    let purpose = match (writes, relaxed && request.txn.id.is_none()) {
        (true, _) => Purpose::Write,
        (false, true) => Purpose::Read,
        (false, false) => Purpose::MasterRead,
    };
    let mut partition = match namespace.site(node, request.digest, purpose, false, now.instant) {
        Ok(site) => site,
        Err(code) => return RecordOutcome::unreached(code),
    };
    if let Some(outcome) = transaction::step(namespace, &mut partition, request, now.ms) {
        return outcome;
    }
    let outcome = perform(namespace, &mut partition, request, now, out);
    // Still under the lock: the version has to be that of what was read.
    let fields = transaction::answer_fields(&partition, request, outcome.code, now.ms);
    RecordOutcome { fields, lag: partition.lag, ..outcome }
}

/// What a request does to its partition.
#[inline]
fn perform(
    namespace: &Namespace,
    partition: &mut Site<'_>,
    request: &RecordRequest<'_>,
    now: Now,
    out: &mut Vec<u8>,
) -> RecordOutcome {
    let start = out.len();
    let outcome = if request.info2 & info2::WRITE != 0 {
        if request.info2 & info2::DELETE != 0 {
            delete::delete(namespace, partition, request, now.ms)
        } else if let Some(code) = namespace.refuses_writes(partition.node(), now.instant) {
            Err(RecordOutcome::error(code))
        } else {
            write::write(namespace, partition, request, now.ms, out)
        }
    } else if request.info1 & info1::READ != 0 {
        read::read(namespace, partition, request, now.ms, out)
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
#[inline]
pub(crate) fn answer(
    request: &mut Request<'_>,
    namespace: &Namespace,
    message: &Message<'_>,
    fields: &RecordFields<'_>,
    out: &mut Vec<u8>,
) -> Answered {
    let refuse = |code: u8, out: &mut Vec<u8>| {
        error_answer(out, code);
        Answered::Done
    };
    let record = match RecordRequest::from_message(message, fields, namespace.strong_consistency) {
        Ok(record) => record,
        Err(code) => return refuse(code, out),
    };
    let access = Access::of(record.info1, record.info2, record.udf.is_some());
    let permitted = admin::grants(request.node, request.session).and_then(|grants| {
        let set = record.set.unwrap_or_default();
        admin::permit_data(grants.as_deref(), access, namespace.name.as_bytes(), set, request.now)
    });
    if let Err(code) = permitted {
        return refuse(code, out);
    }
    if request.node.faults.armed() && refused(request, namespace, &record) {
        return refuse(code::UNAVAILABLE, out);
    }
    request.session.records += 1;
    let patience = patience(message.header.transaction_ttl);
    if record.udf.is_some() {
        let (node, name) = (Arc::clone(request.node), namespace.name.clone());
        return offload(request, move |body, sender, now| {
            let Some(namespace) = node.cluster.namespace(name.as_bytes()) else { return };
            let Ok(message) = Message::decode(body) else { return };
            let fields = RecordFields::of(&message);
            let transactions = namespace.strong_consistency;
            let Ok(record) = RecordRequest::from_message(&message, &fields, transactions) else { return };
            let mut out = Vec::new();
            let until = carry_out(node.slot, namespace, &record, patience, now, &mut out);
            sender.send(&mut out, until);
        });
    }
    let from = out.len();
    match carry_out(request.node.slot, namespace, &record, patience, request.now, out) {
        None => Answered::Done,
        Some(until) => Answered::Later { from, until },
    }
}

/// Carries a request out and appends its answer; says when that may leave, if not at once.
#[inline]
fn carry_out(
    node: Slot,
    namespace: &Namespace,
    record: &RecordRequest<'_>,
    patience: Duration,
    now: Now,
    out: &mut Vec<u8>,
) -> Option<Instant> {
    let frame = proto::begin_frame(out, FrameType::Message);
    let start = out.len();
    out.extend_from_slice(&[0; MESSAGE_HEADER_SIZE]);
    let outcome = execute(node, namespace, record, now, out);
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
    let (time, too_long) = outcome.wait(record.info2, record.info3, patience)?;
    if too_long {
        out.truncate(frame);
        error_answer(out, code::TIMEOUT);
    }
    Some(now.after_work().instant + time)
}

/// Whether a fault rule refuses requests for partitions that the node does not own. Otherwise they are answered, as a
/// server answers them that forwards them to the owner.
#[cold]
fn refused(request: &Request<'_>, namespace: &Namespace, record: &RecordRequest<'_>) -> bool {
    let write = record.info2 & info2::WRITE != 0;
    let kind = if write { RequestKind::Write } else { RequestKind::Read };
    let node = request.node;
    // Only requests for partitions of other nodes count for the rule.
    !node.owns(namespace, partition_id(record.digest), write) && node.faults.rejects_unowned(kind)
}
