//! Local time, as files of metrics have it.

use std::time::{SystemTime, UNIX_EPOCH};

/// A moment in the time zone of the process: year, month, day, hour, minute, second.
fn fields(at: SystemTime) -> [i64; 6] {
    let seconds = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as i64;
    local(seconds).unwrap_or_else(|| utc(seconds))
}

#[cfg(unix)]
fn local(seconds: i64) -> Option<[i64; 6]> {
    let time = seconds as libc::time_t;
    let mut tm = std::mem::MaybeUninit::<libc::tm>::uninit();
    // SAFETY: both pointers are valid for the call, and the function writes all of `tm` unless it gives null.
    let tm = unsafe {
        if libc::localtime_r(&raw const time, tm.as_mut_ptr()).is_null() {
            return None;
        }
        tm.assume_init()
    };
    Some([tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec].map(i64::from))
}

#[cfg(not(unix))]
fn local(_seconds: i64) -> Option<[i64; 6]> {
    None
}

/// In UTC, where there is no local time.
fn utc(seconds: i64) -> [i64; 6] {
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Counted in eras of 400 years from 1 March of the year 0, so that leap days come last.
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    [year, month, day, of_day / 3600, of_day / 60 % 60, of_day % 60]
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
    fn days_are_counted_as_calendars_do() {
        for (seconds, expected) in [
            (0, [1970, 1, 1, 0, 0, 0]),
            (951_782_399, [2000, 2, 28, 23, 59, 59]),
            (951_782_400, [2000, 2, 29, 0, 0, 0]),
            (1_709_164_800, [2024, 2, 29, 0, 0, 0]),
            (1_735_689_599, [2024, 12, 31, 23, 59, 59]),
            (4_107_542_400, [2100, 3, 1, 0, 0, 0]),
        ] {
            assert_eq!(utc(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn local_time_is_at_most_a_day_from_utc() {
        let at = UNIX_EPOCH + Duration::from_millis(1_709_208_000_042);
        let (local, utc) = (fields(at), utc(1_709_208_000));
        assert_eq!((local[0], local[5]), (utc[0], utc[5]));
        assert!(readable(at).ends_with(".042"));
        assert_eq!(compact(at).len(), 14);
    }
}
