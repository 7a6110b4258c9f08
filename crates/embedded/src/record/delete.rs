//! Deleting a record. All answers have generation 0.

use super::{filter, may_delete, write};
use crate::code;
use crate::request::{Outcome, RecordOutcome, RecordRequest};
use crate::store::{Namespace, Site};

/// Deletes a record.
pub(super) fn delete(
    namespace: &Namespace,
    partition: &mut Site<'_>,
    request: &RecordRequest<'_>,
    now_ms: u64,
) -> Outcome {
    let error = |code| Err(RecordOutcome::error(code));
    if let Err(code) = may_delete(namespace, request) {
        return error(code);
    }
    let Some(record) = partition.view(request.digest, request.txn.id) else {
        return error(code::NOT_FOUND);
    };
    // Whether it has expired does not matter: until the sweep it is deleted, or not, as any other.
    let checks = write::set_matches(namespace, request, record)
        .and_then(|()| write::generation_matches(request, u32::from(record.generation())))
        .and_then(|()| filter::check(namespace, request, record, now_ms))
        .and_then(|()| write::key_matches(request, record));
    if let Err(code) = checks {
        return error(code);
    }
    partition.remove_for(request.digest, request.txn.id);
    Ok(RecordOutcome::default())
}
