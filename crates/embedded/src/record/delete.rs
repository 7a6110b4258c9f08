//! Deleting a record. All answers have generation 0.

use super::request::{Outcome, RecordOutcome, RecordRequest};
use super::{filter, write};
use crate::store::Namespace;
use crate::{clock, code};
use aerolane_wire::digest::partition_id;
use aerolane_wire::message::info2;

/// Deletes a record.
pub(super) fn delete(namespace: &Namespace, request: &RecordRequest<'_>, now_ms: u64) -> Outcome {
    let error = |code| Err(RecordOutcome::error(code));
    if request.info2 & info2::DURABLE_DELETE != 0 {
        return error(code::ENTERPRISE_ONLY);
    }
    let mut partition = namespace.partition(partition_id(request.digest));
    let Some(record) = partition.find(request.digest) else {
        return error(code::NOT_FOUND);
    };
    // An expired record goes without questions.
    if !record.is_expired(clock::seconds(now_ms)) {
        let checks = write::set_matches(namespace, request, record)
            .and_then(|()| write::generation_matches(request, u32::from(record.generation())))
            .and_then(|()| filter::check(namespace, request, record, now_ms))
            .and_then(|()| write::key_matches(request, record));
        if let Err(code) = checks {
            return error(code);
        }
    }
    partition.remove(&namespace.sets, request.digest);
    Ok(RecordOutcome::default())
}
