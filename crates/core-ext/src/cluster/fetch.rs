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
    /// The racks that the node is on, by namespace; none, if they were not asked for, or the server has no racks.
    pub(super) racks: Vec<(String, usize)>,
}

/// Asks a node which partitions it owns, and on which racks it is.
pub(super) async fn ownership(node: &Node, with_racks: bool, timeout: Duration) -> Result<Ownership> {
    const COMMANDS: [&str; 3] = ["replicas", "partition-generation", "rack-ids"];
    let answers = info(node, &COMMANDS[..2 + usize::from(with_racks)], timeout).await?;
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
    let racks = if with_racks { racks(field("rack-ids")?) } else { Vec::new() };
    Ok(Ownership { generation, claims: parse_replicas(field("replicas")?)?, racks })
}

/// The racks of a node: `namespace:rack;..`. None where the server has no racks, which it answers by an error.
fn racks(answer: &str) -> Vec<(String, usize)> {
    let one = |entry: &str| {
        let (namespace, rack) = entry.split_once(':')?;
        Some((namespace.to_owned(), rack.trim().parse().ok()?))
    };
    answer.split(';').filter_map(one).collect()
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
pub(super) struct NodeAddresses {
    /// Where it listens, the address that aerospike-core uses first.
    pub(super) addresses: Vec<SocketAddr>,
    /// Where to log in over TLS, when aerospike-core itself talks to the node in clear.
    pub(super) login: Vec<SocketAddr>,
}

/// Finds out where a node can be reached; `login`: the policy, when logins go elsewhere.
pub(super) async fn node_addresses(node: &Node, login: Option<&ClientPolicy>, timeout: Duration) -> NodeAddresses {
    let login = async {
        match login {
            Some(policy) => login_addresses(node, policy, timeout).await,
            None => Vec::new(),
        }
    };
    let (addresses, login) = tokio::join!(addresses(node, timeout), login);
    NodeAddresses { addresses, login }
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
            Err(error) => crate::logging::warn!("node {}: {error}", node.name()),
        }
    }
    found
}

async fn login_addresses(node: &Node, policy: &ClientPolicy, timeout: Duration) -> Vec<SocketAddr> {
    let command = if policy.use_services_alternate { "service-tls-alt" } else { "service-tls-std" };
    let answers = match info(node, &[command], timeout).await {
        Ok(answers) => answers,
        Err(error) => {
            crate::logging::warn!("node {} did not tell its TLS address: {error}", node.name());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn racks_of_answers() {
        assert_eq!(racks("test:1;bar:20"), [("test".to_owned(), 1), ("bar".to_owned(), 20)]);
        assert_eq!(racks("test:1;bar;baz:x;:"), [("test".to_owned(), 1)]);
        for none in ["", "ERROR::enterprise-only", "ERROR:4:not supported", "error"] {
            assert_eq!(racks(none), [], "{none}");
        }
    }
}
