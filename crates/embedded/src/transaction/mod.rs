//! Transactions over several records, in namespaces in strong-consistency mode.
//!
//! A transaction writes *provisional* versions of records, which only its own requests see; everyone else reads what was
//! committed before and is refused when it writes. Its *monitor* knows its deadline and the records that it may write:
//! clients add them before they write. At the end clients roll each record forward or back, and close the monitor; what
//! they leave undone is done here once the deadline has passed.
//!
//! The Community Edition has none of this, so nothing could be recorded: it follows what is published about
//! transactions (documentation, result codes) and what the vendor's clients send and expect.
//!
//! * this module: whether a request may go on; what it says about a transaction is in [`TxnPart`](crate::request::TxnPart)
//! * [`monitor_request`]: the requests that clients send to the monitors, which their namespace keeps

mod monitor_request;

pub(crate) use monitor_request::execute as execute_monitor;

use crate::request::{AnswerFields, RecordOutcome, RecordRequest, VERSION_SIZE};
use crate::store::{Namespace, Partition, Record, Site};
use crate::{clock, code};
use aerolane_wire::message::{field, info2, info4};

/// What a field takes beside its value: size and type.
const FIELD_OVERHEAD: usize = 5;

/// Whether a request does with its record what no plain request does: the outcome, if so.
pub(crate) fn step(
    namespace: &Namespace,
    partition: &mut Site<'_>,
    request: &RecordRequest<'_>,
    now_ms: u64,
) -> Option<RecordOutcome> {
    let txn = &request.txn;
    if txn.info4 & (info4::TXN_ROLL_FORWARD | info4::TXN_ROLL_BACK) != 0 {
        let Some(id) = txn.id else { return Some(RecordOutcome::error(code::PARAMETER)) };
        // A record that the transaction does not hold has been rolled before.
        partition.roll(request.digest, id, txn.info4 & info4::TXN_ROLL_FORWARD != 0);
        return Some(RecordOutcome::default());
    }
    if txn.info4 & info4::TXN_VERIFY_READ != 0 {
        return Some(RecordOutcome::error(verify(partition, request, now_ms)));
    }
    admit(namespace, partition, request, now_ms).err().map(RecordOutcome::error)
}

/// Whether a record is still what the transaction has read.
fn verify(partition: &Partition, request: &RecordRequest<'_>, now_ms: u64) -> u8 {
    // A record that another transaction holds is about to change.
    if partition.holder(request.digest).is_some_and(|holder| Some(holder) != request.txn.id) {
        return code::TXN_BLOCKED;
    }
    match request.txn.version {
        None => code::PARAMETER,
        Some(version) if version == committed_version(partition, request.digest, now_ms) => code::OK,
        Some(_) => code::TXN_VERSION_MISMATCH,
    }
}

/// Whether a request may touch its record.
fn admit(namespace: &Namespace, partition: &Partition, request: &RecordRequest<'_>, now_ms: u64) -> Result<(), u8> {
    let writes = request.info2 & info2::WRITE != 0;
    let holder = partition.holder(request.digest);
    let Some(id) = request.txn.id else {
        // Others read what was committed. Whether a function writes turns out later.
        return if writes && holder.is_some() && request.udf.is_none() { Err(code::TXN_BLOCKED) } else { Ok(()) };
    };
    if holder.is_some_and(|holder| holder != id) {
        return Err(code::TXN_BLOCKED);
    }
    if holder.is_none()
        && let Some(version) = request.txn.version
        && version != committed_version(partition, request.digest, now_ms)
    {
        return Err(code::TXN_VERSION_MISMATCH);
    }
    if !writes {
        return Ok(());
    }
    let deadline = request.txn.deadline.ok_or(code::PARAMETER)?;
    let now = clock::seconds(now_ms);
    if now > deadline {
        return Err(code::TXN_EXPIRED);
    }
    namespace.monitors.admit(id, request.digest, now)?;
    if holder.is_some() && request.txn.info4 & info4::TXN_ON_LOCKING_ONLY != 0 {
        return Err(code::TXN_ALREADY_LOCKED);
    }
    Ok(())
}

/// What the answer to a request of a transaction tells: the version of what was read, or of what was not written. A
/// record that the transaction holds has none: nobody else can change it.
pub(crate) fn answer_fields(partition: &Partition, request: &RecordRequest<'_>, code: u8, now_ms: u64) -> AnswerFields {
    let refused = matches!(code, code::TXN_BLOCKED..=code::TXN_MONITOR_EXISTS);
    if request.txn.id.is_none() || refused || partition.holder(request.digest).is_some() {
        return AnswerFields::NONE;
    }
    AnswerFields { version: Some(committed_version(partition, request.digest, now_ms)), ..AnswerFields::NONE }
}

/// The version of a record that everyone sees: another one after each write, 0 where there is no record.
fn committed_version(partition: &Partition, digest: &[u8; 20], now_ms: u64) -> u64 {
    const TIME_BITS: u32 = 40;
    let current = partition.find(digest).filter(|record| !record.is_expired(clock::seconds(now_ms)));
    current.map_or(0, |record: &Record| {
        u64::from(record.generation()) << TIME_BITS | record.last_update_ms() & ((1 << TIME_BITS) - 1)
    })
}

/// Puts the fields of an answer in front of its operations, which start at `at`; says how many there are.
#[inline]
pub(crate) fn insert_fields(out: &mut Vec<u8>, at: usize, fields: &AnswerFields) -> u16 {
    if fields.version.is_none() && fields.deadline.is_none() { 0 } else { insert_some(out, at, fields) }
}

fn insert_some(out: &mut Vec<u8>, at: usize, fields: &AnswerFields) -> u16 {
    let mut bytes = Vec::with_capacity(2 * FIELD_OVERHEAD + VERSION_SIZE + 4);
    let mut count = 0;
    let mut push = |kind: u8, value: &[u8]| {
        bytes.extend_from_slice(&(1 + value.len() as u32).to_be_bytes());
        bytes.push(kind);
        bytes.extend_from_slice(value);
        count += 1;
    };
    if let Some(version) = fields.version {
        push(field::RECORD_VERSION, &version.to_le_bytes()[..VERSION_SIZE]);
    }
    if let Some(deadline) = fields.deadline {
        push(field::MRT_DEADLINE, &deadline.to_le_bytes());
    }
    out.splice(at..at, bytes);
    count
}
