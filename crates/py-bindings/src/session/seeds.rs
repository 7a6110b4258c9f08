//! The seeds of a cluster, as they were given.

use std::fmt;

use aerospike_core::{Host as CoreHost, ToHosts};

use super::host::Host;

/// A text that the client reads, or hosts.
#[derive(Clone)]
pub(crate) enum Seeds {
    Text(String),
    Hosts(Vec<Host>),
}

impl fmt::Display for Seeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Hosts(hosts) => {
                let hosts: Vec<_> = hosts.iter().map(|host| host.core().to_string()).collect();
                f.write_str(&hosts.join(","))
            }
        }
    }
}

impl ToHosts for Seeds {
    fn to_hosts(&self) -> aerospike_core::Result<Vec<CoreHost>> {
        match self {
            Self::Text(text) => text.to_hosts(),
            Self::Hosts(hosts) => Ok(hosts.iter().map(Host::core).collect()),
        }
    }
}
