//! When records expire, as the verbs of builders say it.

use std::time::{SystemTime, UNIX_EPOCH};

use aerospike_core::Expiration;
use pyo3::prelude::*;
use pyo3::types::{PyDateTime, PyDelta, PyDeltaAccess};

use crate::errors;
use crate::policy;
use crate::policy::kinds::{whole_number, wrong_type};

/// The most that the server takes: ten years.
const MOST_SECONDS: i64 = 315_360_000;

/// In so many seconds. -1, -2 and 0 stand for "never", "no change" and "as the server is configured", as in the SDK of
/// Aerospike.
pub(super) fn seconds(value: &Bound<'_, PyAny>) -> PyResult<Expiration> {
    Ok(match whole_number(value, "seconds", -2, MOST_SECONDS)? {
        -2 => Expiration::DontUpdate,
        -1 => Expiration::Never,
        0 => Expiration::NamespaceDefault,
        seconds => Expiration::Seconds(seconds as u32),
    })
}

/// After a timedelta, in whole seconds.
pub(super) fn after(duration: &Bound<'_, PyAny>) -> PyResult<Expiration> {
    let delta = duration.cast::<PyDelta>().map_err(|_| wrong_type(duration, "duration", "a timedelta"))?;
    let whole = i64::from(delta.get_days()) * 86_400 + i64::from(delta.get_seconds());
    if !(1..=MOST_SECONDS).contains(&whole) {
        let text = format!(
            "duration is {duration}, it must be 1 second to ten years: never_expire(), with_no_change_in_expiration() and \
             expiry_from_server_default() say the rest"
        );
        return Err(errors::invalid_argument(duration.py(), text));
    }
    Ok(Expiration::Seconds(whole as u32))
}

/// An `Expiration`, a number of [`seconds`], or a timedelta.
pub(crate) fn any(value: &Bound<'_, PyAny>) -> PyResult<Expiration> {
    if let Ok(expiration) = value.cast::<policy::Expiration>() {
        return Ok(expiration.get().0);
    }
    if value.is_instance_of::<PyDelta>() { after(value) } else { seconds(value) }
}

/// At a time. A datetime without a time zone is one of local time.
pub(super) fn at(when: &Bound<'_, PyAny>) -> PyResult<Expiration> {
    let when = when.cast::<PyDateTime>().map_err(|_| wrong_type(when, "when", "a datetime"))?;
    let timestamp: f64 = when.call_method0("timestamp")?.extract()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |now| now.as_secs_f64());
    let seconds = timestamp - now;
    if !(1.0..=MOST_SECONDS as f64).contains(&seconds) {
        let text = format!("when must be in the future, by 1 second to ten years: {when}");
        return Err(errors::invalid_argument(when.py(), text));
    }
    Ok(Expiration::Seconds(seconds as u32))
}
