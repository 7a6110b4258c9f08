//! Filter expressions of requests.

use crate::code;
use crate::exp::{Context, Expression, compiled};
use crate::request::RecordRequest;
use crate::store::{Namespace, Record};

/// Checks a record that exists against the filter of a request; the error is a result code.
#[inline]
pub(super) fn check(
    namespace: &Namespace,
    request: &RecordRequest<'_>,
    record: &Record,
    now_ms: u64,
) -> Result<(), u8> {
    request.filter.map_or(Ok(()), |filter| evaluate(namespace, filter, record, now_ms))
}

fn evaluate(namespace: &Namespace, filter: &[u8], record: &Record, now_ms: u64) -> Result<(), u8> {
    let filter = compiled(filter)?;
    if passes(namespace, &Expression::parse_filter(&filter)?, record, now_ms) {
        Ok(())
    } else {
        Err(code::FILTERED_OUT)
    }
}

/// Whether a filter lets a record pass.
pub(crate) fn passes(namespace: &Namespace, filter: &Expression<'_>, record: &Record, now_ms: u64) -> bool {
    filter.matches(&context(namespace, record, now_ms))
}

/// What expressions see of a stored record.
pub(super) fn context<'a>(namespace: &'a Namespace, record: &'a Record, now_ms: u64) -> Context<'a> {
    Context {
        bins: record,
        record: Some(record),
        digest: record.digest(),
        set_name: namespace.sets.name(record.set_id()),
        now_ms,
    }
}
