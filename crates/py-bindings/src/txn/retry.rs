//! Which failures of a transaction are worth another attempt, and the pause before it. As in the SDK of Aerospike (1.0).

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use aerolane::{Error, ErrorKind};
use aerospike_core::{CommitErrorType, ResultCode};
use pyo3::intern;
use pyo3::prelude::*;

use super::enums::CommitFailure;
use crate::errors;
use crate::policy::enums::Named;

/// Another transaction holds a record.
const BLOCKED: ResultCode = ResultCode::MrtBlocked;
/// A record has changed since the transaction read it.
const CHANGED: ResultCode = ResultCode::MrtVersionMismatch;

/// The pause before another attempt, around a mean one; `None`: there is to be none. A commit that may have gone through,
/// and one that the server will bring to its end, must not be repeated.
pub(crate) fn pause(error: &Error, mean: Duration) -> Option<Duration> {
    if let ErrorKind::Commit { error_type, .. } = error.kind() {
        let over = error.in_doubt() || matches!(error_type, CommitErrorType::RollForwardAbandoned);
        return (!over).then(|| spread(mean));
    }
    if error.matches(&[CHANGED]) {
        return Some(Duration::ZERO);
    }
    error.matches(&[BLOCKED]).then(|| spread(mean))
}

/// [`pause`] after an exception, which may be the caller's own.
pub(crate) fn pause_after(py: Python<'_>, error: &PyErr, mean: Duration) -> Option<Duration> {
    if !errors::is_ours(py, error) {
        return None;
    }
    let value = error.value(py);
    if errors::is_commit_error(py, error) {
        let in_doubt = value.getattr(intern!(py, "in_doubt")).and_then(|flag| flag.is_truthy()).unwrap_or(true);
        let kind = value.getattr(intern!(py, "commit_error_type"));
        let kind = kind.and_then(|kind| CommitFailure::from_python(&kind, "commit_error_type"));
        let over = in_doubt || matches!(kind, Ok(CommitFailure::RollForwardAbandoned));
        return (!over).then(|| spread(mean));
    }
    let code = value.getattr(intern!(py, "result_code")).ok()?.extract::<i32>().ok()?;
    let is = |other: ResultCode| code == i32::from(u8::from(other));
    if is(CHANGED) {
        return Some(Duration::ZERO);
    }
    is(BLOCKED).then(|| spread(mean))
}

/// Half to one and a half times as long: transactions that have met must not meet again.
fn spread(mean: Duration) -> Duration {
    // A hasher of its own keys is as random as this has to be.
    let random = RandomState::new().hash_one(0_u8) >> 11;
    mean.mul_f64(0.5 + random as f64 / (1_u64 << 53) as f64)
}
