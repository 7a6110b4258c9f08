//! All conditions of a node together.

use super::{ConditionsError, Latency, ServiceKind, ServiceTime, ServiceTimes};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// How many requests a node has in service at once if nothing else is said.
pub const DEFAULT_IN_SERVICE: usize = 64;
/// The highest limit of requests in service.
pub const MAX_IN_SERVICE: usize = 65_536;

/// How a node's server and network behave. The default is an ideal cluster: no service time and no latency.
///
/// ```
/// use aerolane_embedded::EmbeddedCluster;
/// use aerolane_embedded::conditions::{Conditions, ServiceKind, ServiceTime};
/// use std::time::Duration;
///
/// let conditions = Conditions::new()
///     .service_time(ServiceKind::Read, ServiceTime::exponential(Duration::from_micros(80)))
///     .service_time(ServiceKind::Write, "99%:300us+1%:20ms".parse()?)
///     .in_service(16)
///     .latency(Duration::from_micros(150));
/// let cluster = EmbeddedCluster::builder().conditions(conditions).start()?;
/// // While it runs, of all nodes or of one.
/// cluster.set_conditions(None, &Conditions::new())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// As text: `service-time=read=80us,write=300us;in-service=64;latency=150us~30us;seed=7`, each part optional.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Conditions {
    times: ServiceTimes,
    in_service: usize,
    latency: Latency,
    seed: u64,
}

impl Default for Conditions {
    fn default() -> Self {
        Self { times: ServiceTimes::default(), in_service: DEFAULT_IN_SERVICE, latency: Latency::ZERO, seed: 0 }
    }
}

impl Conditions {
    /// An ideal cluster: no service time and no latency.
    pub fn new() -> Self {
        Self::default()
    }

    /// How long requests of this kind are in service. Default: no time.
    pub fn service_time(mut self, kind: ServiceKind, time: ServiceTime) -> Self {
        self.times.set(kind, time);
        self
    }

    /// How long requests of each kind are in service.
    pub fn service_times(mut self, times: ServiceTimes) -> Self {
        self.times = times;
        self
    }

    /// How many requests a node has in service at once, 1 to 65,536. The others wait in line, in order of arrival. It has
    /// no effect unless at least one kind of request has a service time. Default 64.
    pub fn in_service(mut self, limit: usize) -> Self {
        self.in_service = limit;
        self
    }

    /// The latency between client and node **each way**; a round trip has twice as much. Default: none.
    pub fn latency(mut self, one_way: Duration) -> Self {
        self.latency.one_way = one_way;
        self
    }

    /// How far the latency strays from its mean, at most as far as the latency itself. See [`Latency::jitter`].
    /// Default: not at all.
    pub fn jitter(mut self, jitter: Duration) -> Self {
        self.latency.jitter = jitter;
        self
    }

    /// Seeds the random numbers. Each node and each kind of request draws its own, from the start whenever conditions
    /// are set: the n-th read of a node always has the same service time. The jitter of the n-th connection of a node that
    /// comes under the conditions also repeats. Default 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Whether there is neither a service time nor a latency.
    #[must_use]
    pub fn are_ideal(&self) -> bool {
        !self.have_service() && self.latency == Latency::ZERO
    }

    /// Checks that everything is in range. Starting a cluster and [`set_conditions`] do so, too.
    ///
    /// [`set_conditions`]: crate::EmbeddedCluster::set_conditions
    ///
    /// # Errors
    /// [`ConditionsError::InService`], [`ConditionsError::Jitter`] or [`ConditionsError::TooLong`].
    pub fn check(&self) -> Result<(), ConditionsError> {
        if !(1..=MAX_IN_SERVICE).contains(&self.in_service) {
            return Err(ConditionsError::InService(self.in_service.to_string()));
        }
        self.times.check()?;
        self.latency.check()
    }

    pub(super) fn have_service(&self) -> bool {
        !self.times.are_zero()
    }

    /// The service time of each kind of request.
    #[must_use]
    pub fn times(&self) -> &ServiceTimes {
        &self.times
    }

    /// How many requests a node has in service at once.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.in_service
    }

    /// The latency and its jitter.
    #[must_use]
    pub fn network(&self) -> Latency {
        self.latency
    }

    /// What the random numbers begin with.
    #[must_use]
    pub fn first_seed(&self) -> u64 {
        self.seed
    }

    /// Reads settings by name.
    pub(super) fn from_settings<'a>(
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, ConditionsError> {
        let mut conditions = Self::new();
        let mut seen = Vec::new();
        for (name, value) in settings {
            match name {
                "service-time" => conditions.times = value.parse()?,
                "in-service" => {
                    conditions.in_service =
                        value.parse().map_err(|_| ConditionsError::InService(format!("{value:?}")))?;
                }
                "latency" => conditions.latency = value.parse()?,
                "seed" => conditions.seed = value.parse().map_err(|_| ConditionsError::Seed(value.to_owned()))?,
                _ => return Err(ConditionsError::Setting(name.to_owned())),
            }
            if seen.contains(&name) {
                return Err(ConditionsError::Twice(name.to_owned()));
            }
            seen.push(name);
        }
        conditions.check().map(|()| conditions)
    }
}

impl FromStr for Conditions {
    type Err = ConditionsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let settings = text.split(';').filter(|setting| !setting.is_empty());
        Self::from_settings(settings.map(|setting| setting.split_once('=').unwrap_or((setting, ""))))
    }
}

impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { times, in_service, latency, seed } = self;
        write!(f, "service-time={times};in-service={in_service};latency={latency};seed={seed}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_shown_as_they_are_written() {
        let text = "service-time=read=80us,write=99%:300us+1%:exp:20ms;in-service=16;latency=150us~30us;seed=7";
        let conditions: Conditions = text.parse().unwrap();
        assert_eq!(conditions.to_string(), text);
        assert!(!conditions.are_ideal());
        assert_eq!("".parse::<Conditions>(), Ok(Conditions::new()));
        assert_eq!(Conditions::new().to_string(), "service-time=0s;in-service=64;latency=0s;seed=0");
        assert!("in-service=3;seed=1".parse::<Conditions>().unwrap().are_ideal());
        assert!(!"latency=1us".parse::<Conditions>().unwrap().are_ideal());
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, error) in [
            ("in-service=0", "the limit of requests in service is 0: expected 1 to 65536"),
            ("in-service=65537", "the limit of requests in service is 65537: expected 1 to 65536"),
            ("in-service=-1", "the limit of requests in service is \"-1\": expected 1 to 65536"),
            ("seed=x", "\"x\" is not a seed: expected a whole number from 0 to 2^64 - 1"),
            ("speed=1", "unknown setting \"speed\": expected service-time, in-service, latency or seed"),
            ("latency=1us;latency=2us", "latency is listed twice"),
            ("latency=1us~2us", "the jitter of 2us is larger than the latency of 1us"),
            (
                "service-time=read=fast",
                "\"fast\" is not a duration: expected a number and a unit (us, ms or s), such as 80us",
            ),
            ("service-time=99%:1us", "the shares of a mixture add up to 99%: expected 100%"),
        ] {
            assert_eq!(text.parse::<Conditions>().unwrap_err().to_string(), error, "{text}");
        }
        let long = Duration::from_secs(601);
        assert_eq!(Conditions::new().latency(long).check(), Err(ConditionsError::TooLong("601s".to_owned())));
        let conditions = Conditions::new().service_time(ServiceKind::Udf, ServiceTime::exponential(long));
        assert_eq!(conditions.check(), Err(ConditionsError::TooLong("601s".to_owned())));
        assert!(Conditions::new().jitter(Duration::from_micros(1)).check().is_err());
    }
}
