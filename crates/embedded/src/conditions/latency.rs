//! How long bytes are on the way.

use super::{ConditionsError, duration};
use crate::random;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The latency between client and node, **each way**: a round trip has twice as much.
///
/// As text: `150us`, or with jitter `150us~30us`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Latency {
    /// The mean of one way.
    pub one_way: Duration,
    /// Bytes that are sent together are on the way for `one_way - jitter` to `one_way + jitter`, all equally likely, but
    /// never overtake what was sent before them.
    pub jitter: Duration,
}

impl Latency {
    /// No latency.
    pub const ZERO: Self = Self { one_way: Duration::ZERO, jitter: Duration::ZERO };

    pub(super) fn check(&self) -> Result<(), ConditionsError> {
        duration::check(self.one_way)?;
        if self.jitter > self.one_way { Err(ConditionsError::Jitter(*self)) } else { Ok(()) }
    }

    /// Draws the time of one way.
    pub(crate) fn sample(&self, generator: &mut Xoshiro256PlusPlus) -> Duration {
        if self.jitter.is_zero() {
            return self.one_way;
        }
        self.one_way.saturating_sub(self.jitter) + self.jitter.mul_f64(2.0 * random::fraction(generator))
    }
}

impl FromStr for Latency {
    type Err = ConditionsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let latency = match text.split_once('~') {
            None => Self { one_way: duration::parse(text)?, jitter: Duration::ZERO },
            Some((one_way, jitter)) => Self { one_way: duration::parse(one_way)?, jitter: duration::parse(jitter)? },
        };
        latency.check().map(|()| latency)
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", duration::Shown(self.one_way))?;
        if self.jitter.is_zero() { Ok(()) } else { write!(f, "~{}", duration::Shown(self.jitter)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_shown_as_they_are_written() {
        for text in ["150us", "150us~30us", "1ms~1ms", "0s"] {
            assert_eq!(text.parse::<Latency>().unwrap().to_string(), text);
        }
        for (text, error) in [
            ("150", ConditionsError::Duration("150".to_owned())),
            ("150us~", ConditionsError::Duration(String::new())),
            ("150us~1us~1us", ConditionsError::Duration("1us~1us".to_owned())),
            ("700s", ConditionsError::TooLong("700s".to_owned())),
        ] {
            assert_eq!(text.parse::<Latency>(), Err(error), "{text}");
        }
        let error = "30us~150us".parse::<Latency>().unwrap_err();
        assert_eq!(error.to_string(), "the jitter of 150us is larger than the latency of 30us");
    }

    #[test]
    fn jitter_goes_both_ways() {
        let mut generator = random::Seed::default().generator(0, 0);
        let latency: Latency = "100us~40us".parse().unwrap();
        let drawn: Vec<u128> = (0..10_000).map(|_| latency.sample(&mut generator).as_micros()).collect();
        assert!(drawn.iter().all(|micros| (60..=140).contains(micros)));
        let mean = drawn.iter().sum::<u128>() / 10_000;
        assert!((98..102).contains(&mean), "{mean}");
        assert!(drawn.iter().min() < Some(&65) && drawn.iter().max() > Some(&135));
    }
}
