//! The seeds: reading them, and finding out why none of them works.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use aerospike_core::{Host, ToHosts};
use tokio::task::JoinSet;

use super::Shared;
use crate::error::{ConnectFailure, Error, ErrorKind, Phase, Result};

/// The most seeds that are taken.
const MAX_SEEDS: usize = 1024;
/// The most addresses of one seed that are tried.
const MAX_ADDRESSES: usize = 64;
/// The longest host name that DNS allows.
const MAX_NAME: usize = 253;

/// Reads the list of seeds. `tls`: the policy has TLS, so a seed may name a certificate (`host:certificate name:port`).
///
/// # Errors
/// `InvalidArgument` naming the seed that is no address.
pub(super) fn parse(hosts: &(dyn ToHosts + Send + Sync), tls: bool) -> Result<Vec<Host>> {
    let hosts = hosts.to_hosts()?;
    if hosts.is_empty() || hosts.len() > MAX_SEEDS {
        return Err(Error::invalid_argument(format!("{} seeds were given; 1 to {MAX_SEEDS} are allowed", hosts.len())));
    }
    for host in &hosts {
        if host.port == 0 {
            return Err(Error::invalid_argument(format!("seed {host}: 0 is not a port")));
        }
        if !is_host_name(&host.name) {
            return Err(Error::invalid_argument(format!(
                "seed {:?} is neither a host name nor an address",
                host.name.chars().take(80).collect::<String>()
            )));
        }
        // aerospike-core takes any last part of a seed that is not a number for a certificate name, with the default port.
        if let Some(name) = host.tls_name.as_deref().filter(|name| !tls || !is_host_name(name)) {
            let name: String = name.chars().take(80).collect();
            let text = if tls {
                format!("seed {host}: {name:?} cannot be the name of a certificate")
            } else {
                format!(
                    "seed {:?}: {name:?} is not a port, which is a number from 1 to 65535 (and not the name of a \
                     certificate: ClientPolicy::tls_policy is not set)",
                    format!("{}:{name}", host.name)
                )
            };
            return Err(Error::invalid_argument(text));
        }
    }
    Ok(hosts)
}

fn is_host_name(name: &str) -> bool {
    // "256.0.0.1" is no name: the resolver would be asked for it.
    let numbers = |name: &str| name.split('.').all(|label| label.bytes().all(|b| b.is_ascii_digit()));
    if name.contains('.') && numbers(name) && name.parse::<Ipv4Addr>().is_err() {
        return false;
    }
    let labels_fit = name.trim_end_matches('.').split('.').all(|label| {
        !label.is_empty()
            && label.len() <= 63
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    });
    let address = name.split_once('%').map_or(name, |(address, _zone)| address);
    name.len() <= MAX_NAME && labels_fit || address.parse::<Ipv6Addr>().is_ok()
}

/// The address, when the name is one.
pub(super) fn as_ip(name: &str) -> Option<IpAddr> {
    name.parse().ok()
}

/// Tries all addresses of all seeds at once, until one is a node of the right cluster that lets us in.
///
/// aerospike-core would find out the same, but reports it as one text. Bounded by the policy's timeouts.
///
/// # Errors
/// `ClusterNameMismatch` or `CredentialsRefused` if that is what the nodes that answered said, else `ConnectFailed`.
pub(super) async fn probe(shared: &Arc<Shared>, hosts: &[Host]) -> Result<()> {
    let mut tries = JoinSet::new();
    for host in hosts {
        tries.spawn(resolve_and_probe(Arc::clone(shared), host.clone()));
    }
    let mut failures = Vec::new();
    while let Some(done) = tries.join_next().await {
        match done {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(mut list)) => failures.append(&mut list),
            Err(e) => return Err(Error::client_error(format!("trying a seed failed: {e}"))),
        }
    }
    // In the order in which the seeds were given, not in which they failed.
    failures.sort_by_key(|f| hosts.iter().position(|h| h.address() == *f.host));
    Err(worst(failures))
}

/// Of all the reasons the one that explains most.
fn worst(failures: Vec<ConnectFailure>) -> Error {
    let is_name = |e: &Error| matches!(e.kind(), ErrorKind::ClusterNameMismatch { .. });
    let is_login = |e: &Error| matches!(e.kind(), ErrorKind::CredentialsRefused { .. });
    let pick = |test: &dyn Fn(&Error) -> bool| failures.iter().find(|f| test(&f.reason)).map(|f| f.reason.clone());
    match pick(&is_login).or_else(|| pick(&is_name)) {
        Some(error) if failures.len() == 1 => error,
        Some(error) => error.with_sub_errors(vec![Error::connect_failed(failures)]),
        None => Error::connect_failed(failures),
    }
}

async fn resolve_and_probe(shared: Arc<Shared>, host: Host) -> std::result::Result<(), Vec<ConnectFailure>> {
    let failure = |address, reason: Error| ConnectFailure {
        host: host.address().into(),
        address,
        reason: reason.with_phase(Phase::Connecting),
    };
    let timeout = shared.connector.connect_timeout();
    let addresses = match resolve(&host.name, host.port, timeout).await {
        Ok(addresses) => addresses,
        Err(error) => return Err(vec![failure(None, error)]),
    };
    let label: Arc<str> = host.address().into();
    let mut tries = JoinSet::new();
    for address in addresses {
        let (shared, label, tls_name) = (Arc::clone(&shared), Arc::clone(&label), host.tls_name.clone());
        tries.spawn(async move {
            let result = shared.connector.probe(address, tls_name.as_deref(), &label).await;
            (address, result.and_then(|probe| check_name(&shared, probe.cluster_name.as_deref())))
        });
    }
    let mut failures = Vec::new();
    while let Some(done) = tries.join_next().await {
        match done {
            Ok((_, Ok(()))) => return Ok(()),
            Ok((address, Err(error))) => failures.push(failure(Some(address), error)),
            Err(e) => failures.push(failure(None, Error::client_error(format!("trying it failed: {e}")))),
        }
    }
    Err(failures)
}

fn check_name(shared: &Shared, found: Option<&str>) -> Result<()> {
    match shared.policy.cluster_name.as_deref() {
        Some(expected) if found != Some(expected) => Err(Error::cluster_name_mismatch(expected, found)),
        _ => Ok(()),
    }
}

/// All addresses of a name, without doubles.
pub(super) async fn resolve(name: &str, port: u16, timeout: Duration) -> Result<Vec<std::net::SocketAddr>> {
    if let Some(ip) = as_ip(name) {
        return Ok(vec![(ip, port).into()]);
    }
    let found = tokio::time::timeout(timeout, tokio::net::lookup_host((name, port)))
        .await
        .map_err(|_| Error::connection(format!("the name {name} was not resolved in time (DNS)")))?
        .map_err(|e| Error::connection(format!("the name {name} cannot be resolved: {e}")))?;
    let mut addresses = Vec::new();
    for address in found.take(MAX_ADDRESSES) {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() {
        return Err(Error::connection(format!("the name {name} has no address")));
    }
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_that_are_no_addresses_are_refused_at_once() {
        for text in [
            "",
            ",",
            "a b",
            "host:",
            ":3000",
            "host:99999",
            "host:0",
            "!!!:3000",
            "-..-:1",
            "höst:3000",
            "a..b:3000",
            "127.0.0.1:4090x",
            "host:port",
            "host:30 00",
            "host:-1",
            "host:3000x:3000",
            "host:name:3000",
            "host:1:2:3",
            "host:65536",
            "256.0.0.1:3000",
            "1.2.3.4.5:3000",
            "localhost:3000,",
            "::1",
            "::1:3000",
            "[::1",
            "[::1]:",
            "[::1]:x",
            "[::1]:0",
            "[::1]:70000",
            "[]:3000",
            "[:::1]:3000",
            "[1.2.3.4::]:3000",
        ] {
            let error = parse(&text, false).expect_err(text);
            assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "{text:?}: {error:?}");
        }
        let long = "a".repeat(64);
        assert!(parse(&long.as_str(), false).is_err());
        assert!(parse(&Vec::<Host>::new(), false).is_err());
        assert!(parse(&vec![Host::new("h", 1); MAX_SEEDS + 1], false).is_err());
        let error = parse(&"127.0.0.1:4090x", false).unwrap_err();
        assert!(error.to_string().contains("\"127.0.0.1:4090x\": \"4090x\" is not a port"), "{error}");
        assert!(parse(&"host:no name!:3000", true).is_err());
    }

    #[test]
    fn good_seeds_are_taken() {
        let text = "localhost,10.0.0.1:3100,[::1]:3000,db-1.example.com:tls.example.com:4333,under_score.:3000";
        assert_eq!(parse(&text, true).unwrap().len(), 5);
        assert_eq!(parse(&"127.0.0.1:3000,[::1]:3000,[fe80::1]:3000,db,10.0.0.1", false).unwrap().len(), 5);
        assert_eq!(parse(&"db:6072bb5c-b902.example.com", true).unwrap()[0].port, 3000);
        assert_eq!(parse(&vec![Host::new("fe80::1%eth0", 3000)], false).unwrap().len(), 1);
    }

    #[test]
    fn the_reason_that_explains_most_comes_first() {
        let failure = |reason: Error| ConnectFailure { host: "h:1".into(), address: None, reason };
        let refused = || failure(Error::connection("refused"));
        let login = || failure(Error::credentials_refused(62, Some("ann"), &Arc::from("h:1")));
        let name = || failure(Error::cluster_name_mismatch("a", Some("b")));
        assert_eq!(worst(vec![refused(), refused()]).kind().name(), "ConnectFailed");
        assert_eq!(worst(vec![refused(), name()]).kind().name(), "ClusterNameMismatch");
        let error = worst(vec![name(), refused(), login()]);
        assert_eq!(error.kind().name(), "CredentialsRefused");
        assert!(error.to_string().contains("refused"), "the others are told, too: {error}");
        assert!(worst(vec![login()]).sub_errors().is_empty());
    }
}
