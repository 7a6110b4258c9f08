//! Asking nodes what they own.

use std::net::SocketAddr;
use std::time::Duration;

use aerospike_core::{AdminPolicy, ClientPolicy, Node, ToHosts};

use super::seeds;
use crate::error::{Error, Result};
use crate::topology::{NamespaceClaim, parse_replicas};

/// The most addresses of a node that are kept.
const MAX_ADDRESSES: usize = 16;

/// What a node said.
#[derive(Debug)]
pub(super) struct Ownership {
    /// Changes whenever the claims do.
    pub(super) generation: isize,
    pub(super) claims: Vec<NamespaceClaim>,
}

/// Asks a node which partitions it owns.
pub(super) async fn ownership(node: &Node, timeout: Duration) -> Result<Ownership> {
    let answers = info(node, &["replicas", "partition-generation"], timeout).await?;
    let field = |name: &str| {
        answers
            .iter()
            .find(|(command, _)| command == name)
            .map(|(_, text)| text.as_str())
            .ok_or_else(|| Error::bad_response(format!("the node did not answer the info command {name:?}")))
    };
    let generation = field("partition-generation")?.trim();
    let generation = generation.parse().map_err(|_| {
        Error::bad_response(format!("partition-generation is {:?}", generation.chars().take(40).collect::<String>()))
    })?;
    Ok(Ownership { generation, claims: parse_replicas(field("replicas")?)? })
}

async fn info(node: &Node, commands: &[&str], timeout: Duration) -> Result<Vec<(String, String)>> {
    let policy = AdminPolicy { timeout: u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX) };
    // aerospike-core bounds each step of it; this bounds the whole, with room for opening a connection.
    match tokio::time::timeout(timeout * 4, node.info(&policy, commands)).await {
        Ok(answers) => Ok(answers?.into_iter().collect()),
        Err(_) => Err(Error::timeout("the node did not answer an info command in time")),
    }
}

/// Where a node can be reached.
#[derive(Debug, Default)]
pub(super) struct Whereabouts {
    /// Where it listens, the address that aerospike-core uses first.
    pub(super) addresses: Vec<SocketAddr>,
    /// Where to log in over TLS, when aerospike-core itself talks to the node in clear.
    pub(super) login: Vec<SocketAddr>,
}

/// Finds out where a node can be reached; `login`: the policy, when logins go elsewhere.
pub(super) async fn whereabouts(node: &Node, login: Option<&ClientPolicy>, timeout: Duration) -> Whereabouts {
    let login = async {
        match login {
            Some(policy) => login_addresses(node, policy, timeout).await,
            None => Vec::new(),
        }
    };
    let (addresses, login) = tokio::join!(addresses(node, timeout), login);
    Whereabouts { addresses, login }
}

async fn addresses(node: &Node, timeout: Duration) -> Vec<SocketAddr> {
    let mut found: Vec<SocketAddr> = Vec::new();
    for host in std::iter::once(node.host()).chain(node.aliases()) {
        match seeds::resolve(&host.name, host.port, timeout).await {
            Ok(list) => {
                for address in list {
                    if !found.contains(&address) && found.len() < MAX_ADDRESSES {
                        found.push(address);
                    }
                }
            }
            Err(error) => log::warn!("node {}: {error}", node.name()),
        }
    }
    found
}

async fn login_addresses(node: &Node, policy: &ClientPolicy, timeout: Duration) -> Vec<SocketAddr> {
    let command = if policy.use_services_alternate { "service-tls-alt" } else { "service-tls-std" };
    let answers = match info(node, &[command], timeout).await {
        Ok(answers) => answers,
        Err(error) => {
            log::warn!("node {} did not tell its TLS address: {error}", node.name());
            return Vec::new();
        }
    };
    let mut found = Vec::new();
    for entry in answers.iter().flat_map(|(_, text)| text.split([';', ','])).map(str::trim).filter(|e| !e.is_empty()) {
        for mut host in entry.to_hosts().unwrap_or_default() {
            if let Some(mapped) = policy.ip_map.as_ref().and_then(|map| map.get(&host.name)) {
                host.name.clone_from(mapped);
            }
            found.extend(seeds::resolve(&host.name, host.port, timeout).await.unwrap_or_default());
        }
        if found.len() >= MAX_ADDRESSES {
            break;
        }
    }
    found.truncate(MAX_ADDRESSES);
    found
}
