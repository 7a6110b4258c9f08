//! Durations as text: `80us`, `1.5ms`, `2s`.

use super::ConditionsError;
use std::fmt;
use std::time::Duration;

/// The longest duration of any condition: what is longer is a stall, and [`faults`](crate::faults) has a rule for it.
pub(super) const MAX: Duration = Duration::from_secs(600);
/// [`MAX`], for error messages.
pub(super) const MAX_TEXT: &str = "10 minutes";
/// Most digits behind the decimal point: a nanosecond written in seconds.
const MAX_DECIMALS: usize = 9;

/// Reads a number with the unit `us` (or `µs`), `ms` or `s`. The number may have decimals, but no sign and no exponent.
pub(crate) fn parse(text: &str) -> Result<Duration, ConditionsError> {
    let bad = || ConditionsError::Duration(text.to_owned());
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(bad)?;
    let (number, unit) = text.split_at(unit_at);
    // The micro sign and the Greek letter look the same.
    let nanos: u128 = match unit {
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return Err(bad()),
    };
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || decimals.is_empty() || decimals.len() > MAX_DECIMALS || decimals.contains('.') {
        return Err(bad());
    }
    let too_long = || ConditionsError::TooLong(text.to_owned());
    // Only digits are left, so what does not fit is too large.
    let whole: u64 = whole.parse().map_err(|_| too_long())?;
    let fraction: u64 = decimals.parse().map_err(|_| bad())?;
    let total = u128::from(whole) * nanos + u128::from(fraction) * nanos / 10_u128.pow(decimals.len() as u32);
    if total > MAX.as_nanos() {
        return Err(too_long());
    }
    Ok(Duration::from_nanos(total as u64))
}

/// Refuses what is longer than [`MAX`].
pub(super) fn check(duration: Duration) -> Result<(), ConditionsError> {
    if duration <= MAX { Ok(()) } else { Err(ConditionsError::TooLong(Shown(duration).to_string())) }
}

/// Shows a duration as [`parse`] reads it, exactly.
pub(super) struct Shown(pub(super) Duration);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        let (per_unit, unit) = match nanos {
            n if n.is_multiple_of(1_000_000_000) => (1_000_000_000, "s"),
            n if n.is_multiple_of(1_000_000) => (1_000_000, "ms"),
            _ => (1_000, "us"),
        };
        write!(f, "{}", nanos / per_unit)?;
        match nanos % per_unit {
            0 => {}
            // Nanoseconds that are left over are thousandths of the smallest unit.
            rest => write!(f, ".{}", format!("{rest:03}").trim_end_matches('0'))?,
        }
        f.write_str(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_and_decimals_are_read_exactly() {
        for (text, nanos) in [
            ("80us", 80_000),
            ("80\u{b5}s", 80_000),
            ("80\u{3bc}s", 80_000),
            ("1.5ms", 1_500_000),
            ("0.000000001s", 1),
            ("0s", 0),
            ("2s", 2_000_000_000),
            ("600s", 600_000_000_000),
            ("007.50us", 7_500),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_duration_is_refused() {
        for text in [
            "",
            "80",
            "us",
            ".5us",
            "5.us",
            "1.2.3us",
            "-1us",
            "+1us",
            "1e3us",
            "80 us",
            " 80us",
            "80us ",
            "80ns",
            "80m",
            "1min",
            "infs",
            "NaNs",
            "0.0000000001s",
            "٣us",
        ] {
            assert_eq!(parse(text), Err(ConditionsError::Duration(text.to_owned())), "{text}");
        }
        for text in ["600.000000001s", "601s", "600001ms", "99999999999999999999999999s"] {
            assert_eq!(parse(text), Err(ConditionsError::TooLong(text.to_owned())), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_again(nanos in 0..=600_000_000_000_u64) {
            let duration = Duration::from_nanos(nanos);
            prop_assert_eq!(parse(&Shown(duration).to_string()), Ok(duration));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9.a-zµ ]{0,12}|.{0,12}") {
            if let Ok(duration) = parse(&text) {
                prop_assert!(duration <= MAX);
            }
        }
    }
}
