//! What can be wrong with conditions.

use super::duration::{self, MAX_TEXT};
use super::{Latency, MAX_IN_SERVICE};
use std::fmt;

/// What is wrong with conditions: [`Conditions`](super::Conditions) are refused as a whole.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ConditionsError {
    /// This text is not a duration.
    Duration(String),
    /// A duration (as it was written) is longer than 10 minutes.
    TooLong(String),
    /// This text is not a share of a mixture, such as `99%:80us`.
    Share(String),
    /// The shares of a mixture add up to this many percent.
    Shares(f64),
    /// The shares of a mixture may be fixed or exponential, not mixtures themselves.
    Nested,
    /// This text is not a kind of request and its time, such as `read=80us`.
    Pair(String),
    /// There is no kind of request with this name.
    Kind(String),
    /// This kind of request is listed twice.
    Twice(String),
    /// The limit of requests in service is out of range.
    InService(String),
    /// The jitter is larger than the latency.
    Jitter(Latency),
    /// This text is not a seed.
    Seed(String),
    /// There is no setting with this name.
    Setting(String),
}

impl fmt::Display for ConditionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duration(text) => {
                write!(f, "{text:?} is not a duration: expected a number and a unit (us, ms or s), such as 80us")
            }
            Self::TooLong(text) => write!(f, "{text} is too long: expected at most {MAX_TEXT}"),
            Self::Share(text) => {
                write!(f, "{text:?} is not a share of a mixture: expected a percentage and a time, such as 99%:80us")
            }
            Self::Shares(sum) => write!(f, "the shares of a mixture add up to {sum}%: expected 100%"),
            Self::Nested => {
                f.write_str("a share of a mixture cannot be a mixture: expected a fixed or exponential time")
            }
            Self::Pair(text) => write!(f, "{text:?} is not a kind of request and its time: expected such as read=80us"),
            Self::Kind(name) => {
                write!(f, "unknown kind of request {name:?}: expected read, write, batch, query, udf or all")
            }
            Self::Twice(name) => write!(f, "{name} is listed twice"),
            Self::InService(text) => {
                write!(f, "the limit of requests in service is {text}: expected 1 to {MAX_IN_SERVICE}")
            }
            Self::Jitter(Latency { one_way, jitter }) => write!(
                f,
                "the jitter of {} is larger than the latency of {}",
                duration::Shown(*jitter),
                duration::Shown(*one_way)
            ),
            Self::Seed(text) => write!(f, "{text:?} is not a seed: expected a whole number from 0 to 2^64 - 1"),
            Self::Setting(name) => {
                write!(f, "unknown setting {name:?}: expected service-time, in-service, latency or seed")
            }
        }
    }
}

impl std::error::Error for ConditionsError {}
