//! Numbers with units.

use std::time::Duration;

/// Units of durations by their names, and how many nanoseconds each has.
const UNITS: [(&[&str], u128); 7] = [
    (&["ns", "nano", "nanos", "nanosecond", "nanoseconds"], 1),
    (&["us", "micro", "micros", "microsecond", "microseconds"], 1_000),
    (&["ms", "milli", "millis", "millisecond", "milliseconds"], 1_000_000),
    (&["s", "sec", "secs", "second", "seconds"], 1_000_000_000),
    (&["m", "min", "mins", "minute", "minutes"], 60 * 1_000_000_000),
    (&["h", "hr", "hrs", "hour", "hours"], 3_600 * 1_000_000_000),
    (&["d", "day", "days"], 86_400 * 1_000_000_000),
];
/// Longer numbers are none that anybody means.
const MAX_DIGITS: usize = 18;

/// A number without a sign, and the rest after it: `1.5`, as 15 and 10.
fn decimal(text: &str) -> Option<((u128, u128), &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let fits = |digits: &str| (1..=MAX_DIGITS).contains(&digits.len()) && !digits.contains('.');
    if !fits(whole) || !fits(part) {
        return None;
    }
    let scale = 10_u128.pow(part.len() as u32);
    let (whole, part): (u128, u128) = (whole.parse().ok()?, part.parse().ok()?);
    Some(((whole * scale + part, scale), rest))
}

/// A duration: a number and its unit, such as `250ms`, `1.5 s`, `2 minutes`. Units go from nanoseconds to days. What is
/// less than a microsecond is rounded up to one.
///
/// # Errors
/// What is wrong with the text.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("not a duration: {text:?} (write a number and its unit, such as 250ms, 1s or 5m)");
    let ((number, scale), unit) = decimal(text.trim()).ok_or_else(wrong)?;
    let unit = unit.trim_start();
    let (_, nanos) = UNITS.iter().find(|(names, _)| names.contains(&unit)).ok_or_else(wrong)?;
    let micros = (number * nanos).div_ceil(scale * 1_000);
    u64::try_from(micros).map(Duration::from_micros).map_err(|_| format!("the duration {text:?} is too long"))
}

/// A number of bytes with its unit, such as `512b`, `10mb`, `1.5 GB`: `b`, `kb`, `mb` and `gb`, which are powers of 1024.
///
/// # Errors
/// What is wrong with the text.
pub fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("not a size: {text:?} (write a number and b, kb, mb or gb, such as 10mb)");
    let lower = text.trim().to_ascii_lowercase();
    let ((number, scale), unit) = decimal(&lower).ok_or_else(wrong)?;
    let bytes: u128 = match unit.trim_start() {
        "b" => 1,
        "kb" => 1 << 10,
        "mb" => 1 << 20,
        "gb" => 1 << 30,
        _ => return Err(wrong()),
    };
    u64::try_from(number * bytes / scale).map_err(|_| format!("the size {text:?} is too large"))
}

/// A whole number as YAML writes it: decimal, or hexadecimal after `0x`, with `_` between digits. `None`: it is none.
pub(crate) fn whole(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = digits.strip_prefix("0x").map_or((10, digits), |rest| (16, rest));
    let first = digits.chars().next()?;
    // What begins with 0 is octal in one version of YAML and decimal in the other.
    if !first.is_digit(radix) || (radix == 10 && first == '0' && digits.len() > 1) || digits.len() > MAX_DIGITS {
        return None;
    }
    let number = i64::from_str_radix(&digits.replace('_', ""), radix).ok()?;
    Some(if negative { -number } else { number })
}

/// A bool as YAML writes it, in the version that has `yes` and `off`, too. `None`: it is none.
pub(crate) fn switch(text: &str) -> Option<bool> {
    // true, True and TRUE, but not tRUE.
    let mut letters = text.chars();
    let first_may_be_upper = letters.next().is_some_and(char::is_alphabetic);
    let rest = letters.as_str();
    let lower = text.to_ascii_lowercase();
    let consistent = rest == &lower[lower.len() - rest.len()..] || text == text.to_ascii_uppercase();
    match lower.as_str() {
        _ if !first_may_be_upper || !consistent => None,
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let micros = |text| duration(text).map(|span| span.as_micros());
        assert_eq!(micros("250ms"), Ok(250_000));
        assert_eq!(micros(" 1.5 s "), Ok(1_500_000));
        assert_eq!(micros("0s"), Ok(0));
        assert_eq!(micros("5m"), Ok(300_000_000));
        assert_eq!(micros("2 hours"), Ok(7_200_000_000));
        assert_eq!(micros("1d"), Ok(86_400_000_000));
        assert_eq!((micros("1ns"), micros("1001ns"), micros("7us")), (Ok(1), Ok(2), Ok(7)));
        for wrong in ["", "5", "s", "1 s s", "-1s", "+1s", "1.s", ".5s", "1.2.3s", "1e3s", "5MS", "1 fortnight", "é"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
        assert!(duration(&format!("{}d", "9".repeat(18))).unwrap_err().contains("too long"));
        assert!(duration(&format!("{}s", "9".repeat(19))).is_err());
    }

    #[test]
    fn sizes() {
        assert_eq!(size("512b"), Ok(512));
        assert_eq!(size(" 1.5 KB"), Ok(1536));
        assert_eq!(size("10mb"), Ok(10 << 20));
        assert_eq!(size("1gb"), Ok(1 << 30));
        for wrong in ["", "10", "mb", "-1b", "1tb", "1 mb b"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert!(size(&format!("{}gb", "9".repeat(18))).unwrap_err().contains("too large"));
    }

    #[test]
    fn whole_numbers_and_bools() {
        assert_eq!(["0", "12", "-3", "+4", "1_000", "0x1F"].map(whole), [0, 12, -3, 4, 1000, 31].map(Some));
        for wrong in ["", "-", "0x", "_1", "017", "1.0", "1e3", "true", "9999999999999999999"] {
            assert_eq!(whole(wrong), None, "{wrong}");
        }
        for (text, value) in [("true", true), ("Yes", true), ("ON", true), ("false", false), ("No", false)] {
            assert_eq!(switch(text), Some(value));
        }
        for wrong in ["", "tRUE", "y", "1", "İ", "é"] {
            assert_eq!(switch(wrong), None, "{wrong}");
        }
    }
}
