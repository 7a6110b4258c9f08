//! Local time, as files of metrics have it.

use std::time::{SystemTime, UNIX_EPOCH};

/// A moment in the time zone of the process: year, month, day, hour, minute, second.
fn fields(at: SystemTime) -> [i32; 6] {
    let seconds = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as libc::time_t;
    let mut tm = std::mem::MaybeUninit::<libc::tm>::uninit();
    // SAFETY: both pointers are valid for the call, and the function writes all of `tm` unless it gives null.
    let tm = unsafe {
        if libc::localtime_r(&raw const seconds, tm.as_mut_ptr()).is_null() {
            // A year beyond what an int holds: no clock says so.
            return [1970, 1, 1, 0, 0, 0];
        }
        tm.assume_init()
    };
    [tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec]
}

/// `20261123015658`, for names of files.
pub(super) fn compact(at: SystemTime) -> String {
    let [year, month, day, hour, minute, second] = fields(at);
    format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}")
}

/// `2026-11-23 01:56:58.539`.
pub(super) fn readable(at: SystemTime) -> String {
    let [year, month, day, hour, minute, second] = fields(at);
    let millis = at.duration_since(UNIX_EPOCH).unwrap_or_default().subsec_millis();
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{millis:03}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn local_time_is_at_most_a_day_from_utc() {
        // 2024-02-29 12:00:00.042 in UTC; no time zone is a whole day away, and all are whole minutes.
        let at = UNIX_EPOCH + Duration::from_millis(1_709_208_000_042);
        let [year, month, day, _, _, second] = fields(at);
        assert!(
            (year, second) == (2024, 0) && [(2, 29), (3, 1)].contains(&(month, day)),
            "{year} {month} {day} {second}"
        );
        assert!(readable(at).ends_with(":00.042"), "{}", readable(at));
        assert_eq!(readable(at).replace(['-', ' ', ':'], "")[..14], compact(at));
    }
}
