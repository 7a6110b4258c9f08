//! The seeds of a cluster, as they were given.

use aerospike_core::{Host as CoreHost, ToHosts};

use super::host::Host;

/// A text that the client reads, or hosts.
#[derive(Clone)]
pub(crate) enum Seeds {
    Text(String),
    Hosts(Vec<Host>),
}

impl ToHosts for Seeds {
    fn to_hosts(&self) -> aerospike_core::Result<Vec<CoreHost>> {
        match self {
            Self::Text(text) => text.to_hosts(),
            Self::Hosts(hosts) => Ok(hosts.iter().map(Host::core).collect()),
        }
    }
}
