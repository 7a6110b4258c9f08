//! Conditions that the embedded cluster is to serve under. The strings go to its program as they are.

use serde::{Deserialize, Serialize};

/// How slow the embedded cluster and the network to it are to be. `None`: as fast as they can.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conditions {
    /// How long a request occupies its connection, by kind: `read=80us,write=300us`.
    pub service_time: Option<String>,
    /// Most requests in service at a time.
    pub in_service: Option<String>,
    /// Network latency.
    pub latency: Option<String>,
}

impl Conditions {
    fn each(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let named =
            [("--service-time", &self.service_time), ("--in-service", &self.in_service), ("--latency", &self.latency)];
        named.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)))
    }

    /// The options that were given.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        self.each().map(|(name, _)| name).collect()
    }

    /// The arguments for the program of the embedded cluster.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        self.each().flat_map(|(name, value)| [name.to_owned(), value.to_owned()]).collect()
    }

    /// For the headline; empty without conditions.
    #[must_use]
    pub fn describe(&self) -> String {
        let words =
            |(name, value): (&str, &str)| [", ", &name.trim_start_matches('-').replace('-', " "), " ", value].concat();
        self.each().map(words).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_asked_for_is_passed_on() {
        assert!(Conditions::default().arguments().is_empty());
        let conditions = Conditions {
            service_time: Some("read=80us,write=300us".into()),
            in_service: None,
            latency: Some("150us".into()),
        };
        assert_eq!(conditions.arguments(), ["--service-time", "read=80us,write=300us", "--latency", "150us"]);
        assert_eq!(conditions.describe(), ", service time read=80us,write=300us, latency 150us");
    }
}
