//! How long a request is in service: a distribution.

use super::{ConditionsError, duration};
use crate::random;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A whole, in the unit that shares of a mixture are counted in: a ten-thousandth of a percent.
const WHOLE: u32 = 1_000_000;
/// [`WHOLE`] by one percent.
const PERCENT: f64 = 10_000.0;

/// How long a server works on a request: always the same, exponentially distributed, or a mixture of such times.
///
/// As text, in the grammar of the command line:
///
/// | text | meaning |
/// |---|---|
/// | `80us` | always 80 µs |
/// | `exp:80us` | exponentially distributed with a mean of 80 µs |
/// | `99%:80us+1%:20ms` | 80 µs for 99 of 100 requests on average, 20 ms for the others |
/// | `90%:exp:80us+9.5%:1ms+0.5%:exp:20ms` | the same, with more shares and of both shapes |
///
/// A duration is a number with a unit: `us` (or `µs`), `ms` or `s`, at most 10 minutes. The percentages of a mixture add
/// up to 100 and have four decimals at most.
///
/// ```
/// use aerolane_embedded::conditions::ServiceTime;
/// use std::time::Duration;
///
/// let time: ServiceTime = "99%:80us+1%:20ms".parse()?;
/// assert_eq!(time.mean(), Duration::from_nanos(279_200));
/// # Ok::<(), aerolane_embedded::conditions::ConditionsError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceTime {
    /// At least one; their shares add up to [`WHOLE`].
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    share: u32,
    shape: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Fixed(Duration),
    Exponential(Duration),
}

impl ServiceTime {
    /// Always this long. Zero means that requests are answered as fast as the embedded cluster can.
    #[must_use]
    pub fn fixed(time: Duration) -> Self {
        Self::single(Shape::Fixed(time))
    }

    /// Exponentially distributed with this mean.
    #[must_use]
    pub fn exponential(mean: Duration) -> Self {
        Self::single(Shape::Exponential(mean))
    }

    /// Each of these times for its share of the requests, in percent, drawn at random.
    ///
    /// # Errors
    /// [`ConditionsError::Shares`] if the percentages do not add up to 100, [`ConditionsError::Nested`] if one of the
    /// times is a mixture itself.
    pub fn mixture(shares: impl IntoIterator<Item = (f64, Self)>) -> Result<Self, ConditionsError> {
        let mut parts = Vec::new();
        for (percent, time) in shares {
            let [Part { shape, .. }] = time.parts[..] else { return Err(ConditionsError::Nested) };
            if !(0.0..=100.0).contains(&percent) {
                return Err(ConditionsError::Shares(percent));
            }
            parts.push(Part { share: (percent * PERCENT).round() as u32, shape });
        }
        Self::of(parts)
    }

    fn single(shape: Shape) -> Self {
        Self { parts: vec![Part { share: WHOLE, shape }] }
    }

    fn of(parts: Vec<Part>) -> Result<Self, ConditionsError> {
        let sum: u64 = parts.iter().map(|part| u64::from(part.share)).sum();
        if sum == u64::from(WHOLE) { Ok(Self { parts }) } else { Err(ConditionsError::Shares(sum as f64 / PERCENT)) }
    }

    /// The mean.
    #[must_use]
    pub fn mean(&self) -> Duration {
        let weighted = self.parts.iter().map(|part| part.shape.mean().as_nanos() * u128::from(part.share));
        Duration::from_nanos((weighted.sum::<u128>() / u128::from(WHOLE)) as u64)
    }

    /// Whether requests take no time at all.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.parts.iter().all(|part| part.shape.mean().is_zero())
    }

    /// Draws a time.
    pub(super) fn sample(&self, generator: &mut Xoshiro256PlusPlus) -> Duration {
        let mut shape = self.parts[0].shape;
        if self.parts.len() > 1 {
            let mut drawn = random::fraction(generator) * f64::from(WHOLE);
            for part in &self.parts {
                shape = part.shape;
                drawn -= f64::from(part.share);
                if drawn < 0.0 {
                    break;
                }
            }
        }
        match shape {
            Shape::Fixed(time) => time,
            // The fraction is below 1, so the logarithm is finite: at most 37 times the mean.
            Shape::Exponential(mean) => mean.mul_f64(-(1.0 - random::fraction(generator)).ln()),
        }
    }

    pub(super) fn check(&self) -> Result<(), ConditionsError> {
        self.parts.iter().try_for_each(|part| duration::check(part.shape.mean()))
    }
}

impl Default for ServiceTime {
    /// No time at all.
    fn default() -> Self {
        Self::fixed(Duration::ZERO)
    }
}

impl Shape {
    const fn mean(self) -> Duration {
        match self {
            Self::Fixed(time) | Self::Exponential(time) => time,
        }
    }

    fn parse(text: &str) -> Result<Self, ConditionsError> {
        match text.strip_prefix("exp:") {
            Some(mean) => duration::parse(mean).map(Self::Exponential),
            None => duration::parse(text).map(Self::Fixed),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(time) => write!(f, "{}", duration::Shown(*time)),
            Self::Exponential(mean) => write!(f, "exp:{}", duration::Shown(*mean)),
        }
    }
}

impl FromStr for ServiceTime {
    type Err = ConditionsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if !text.contains(['%', '+']) {
            return Shape::parse(text).map(Self::single);
        }
        let parts = text.split('+').map(|part| {
            let bad = || ConditionsError::Share(part.to_owned());
            let (percent, time) = part.split_once("%:").ok_or_else(bad)?;
            Ok(Part { share: parse_percent(percent).ok_or_else(bad)?, shape: Shape::parse(time)? })
        });
        Self::of(parts.collect::<Result<_, _>>()?)
    }
}

/// Reads a percentage from 0 to 100 with four decimals at most, in units of [`WHOLE`].
fn parse_percent(text: &str) -> Option<u32> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str, most: usize| (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole, 3) || !digits(decimals, 4) {
        return None;
    }
    let share = whole.parse::<u32>().ok()? * 10_000 + format!("{decimals:0<4}").parse::<u32>().ok()?;
    (share <= WHOLE).then_some(share)
}

impl fmt::Display for ServiceTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [Part { share: WHOLE, shape }] = self.parts[..] {
            return shape.fmt(f);
        }
        for (at, part) in self.parts.iter().enumerate() {
            let plus = if at == 0 { "" } else { "+" };
            write!(f, "{plus}{}%:{}", f64::from(part.share) / PERCENT, part.shape)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<ServiceTime, ConditionsError> {
        text.parse()
    }

    #[test]
    fn times_are_shown_as_they_are_written() {
        for text in [
            "80us",
            "0s",
            "exp:80us",
            "99%:80us+1%:20ms",
            "90%:exp:80us+9.5%:1ms+0.5%:exp:20ms",
            "99.9999%:1us+0.0001%:1s",
        ] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
        // A whole share is no mixture.
        assert_eq!(parse("100%:80us").unwrap(), parse("80us").unwrap());
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, error) in [
            ("", ConditionsError::Duration(String::new())),
            ("80", ConditionsError::Duration("80".to_owned())),
            ("exp:", ConditionsError::Duration(String::new())),
            ("exp:exp:1us", ConditionsError::Duration("exp:1us".to_owned())),
            ("99%:80us", ConditionsError::Shares(99.0)),
            ("99%:80us+2%:1ms", ConditionsError::Shares(101.0)),
            ("99%:80us+1%", ConditionsError::Share("1%".to_owned())),
            ("99%:80us+1ms", ConditionsError::Share("1ms".to_owned())),
            ("80us+", ConditionsError::Share("80us".to_owned())),
            ("-1%:1us+101%:1us", ConditionsError::Share("-1%:1us".to_owned())),
            ("99.00001%:1us+1%:1us", ConditionsError::Share("99.00001%:1us".to_owned())),
            ("50%:1us+50%:50%:1us", ConditionsError::Duration("50%:1us".to_owned())),
            ("50%:1us+50%:601s", ConditionsError::TooLong("601s".to_owned())),
        ] {
            assert_eq!(parse(text), Err(error), "{text}");
        }
        let mixture = parse("50%:1us+50%:2us").unwrap();
        assert_eq!(ServiceTime::mixture([(100.0, mixture)]), Err(ConditionsError::Nested));
        assert_eq!(ServiceTime::mixture([]), Err(ConditionsError::Shares(0.0)));
        let time = || ServiceTime::fixed(Duration::from_millis(1));
        assert!(ServiceTime::mixture([(f64::NAN, time())]).is_err());
        assert!(ServiceTime::mixture([(-1.0, time()), (101.0, time())]).is_err());
        assert_eq!(ServiceTime::mixture([(99.0, time()), (1.0, ServiceTime::default())]), parse("99%:1ms+1%:0s"));
    }

    #[test]
    fn samples_have_the_shape_that_was_asked_for() {
        let mut generator = random::Seed::default().generator(1, 3);
        let mut sample = |text: &str| -> Vec<Duration> {
            let time = parse(text).unwrap();
            (0..100_000).map(|_| time.sample(&mut generator)).collect()
        };
        assert!(sample("80us").iter().all(|time| *time == Duration::from_micros(80)));
        let exponential = sample("exp:80us");
        let mean = exponential.iter().sum::<Duration>() / 100_000;
        assert!((78..82).contains(&mean.as_micros()), "{mean:?}");
        // 1/e of the values exceed the mean.
        let above = exponential.iter().filter(|time| time.as_micros() >= 80).count();
        assert!((36_000..37_600).contains(&above), "{above}");
        let mixed = sample("99%:80us+1%:20ms");
        let slow = mixed.iter().filter(|time| **time == Duration::from_millis(20)).count();
        assert!((850..1150).contains(&slow), "{slow}");
        assert!(mixed.iter().all(|time| [80, 20_000].contains(&time.as_micros())));
    }

    #[test]
    fn the_same_seed_draws_the_same_times() {
        let time = parse("50%:exp:80us+50%:1ms").unwrap();
        let draw = |seed| -> Vec<Duration> {
            let mut generator = random::Seed::default().generator(seed, 0);
            (0..100).map(|_| time.sample(&mut generator)).collect()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    fn any_shape() -> impl Strategy<Value = Shape> {
        let time = (0..=600_000_000_000_u64).prop_map(Duration::from_nanos);
        prop_oneof![time.clone().prop_map(Shape::Fixed), time.prop_map(Shape::Exponential)]
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_again(shapes in prop::collection::vec(any_shape(), 2..5), cut in 0..=WHOLE) {
            let last = shapes.len() - 1;
            let shares = shapes.iter().enumerate().map(|(at, shape)| {
                let share = match at {
                    0 => cut,
                    at if at == last => WHOLE - cut,
                    _ => 0,
                };
                Part { share, shape: *shape }
            });
            let time = ServiceTime::of(shares.collect()).unwrap();
            prop_assert_eq!(&parse(&time.to_string()).unwrap(), &time);
            let single = ServiceTime::single(shapes[0]);
            prop_assert_eq!(&parse(&single.to_string()).unwrap(), &single);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "([0-9]{1,3}%:|exp:|[0-9]{1,3}(us|ms|s)|\\+){0,8}|.{0,20}") {
            if let Ok(time) = parse(&text) {
                prop_assert!(time.check().is_ok() && time.mean() <= duration::MAX);
            }
        }
    }
}
