//! The host driver over TLS: the same lane, the same loop, and one request at a time on each connection.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::policy;
use crate::poll_loop::Loop;
use aerolane::raw::RawClient;
use aerolane::raw::lane::{Class, FailureKind, NodeCounters};
use aerolane::{AuthMode, ClientConfig, ClientPolicy, Key, PoolSizing, TlsPolicy, Value, as_key};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
use aerolane_embedded::{EmbeddedCluster, TlsOptions};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::version::{TLS12, TLS13};

/// A cluster with a login, and a client that has at most so many connections to each node.
fn start(nodes: usize, max: u32, version: &'static rustls::SupportedProtocolVersion) -> (EmbeddedCluster, RawClient) {
    let options = TlsOptions::self_signed("db.test");
    let embedded = EmbeddedCluster::builder().nodes(nodes).user("ann", "secret").tls(options).start().unwrap();
    let mut roots = rustls::RootCertStore::empty();
    let pem = embedded.certificate_pem().unwrap();
    roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let ports = embedded.nodes().into_iter().map(|node| node.tls_address.unwrap().port());
    let seeds: Vec<_> = ports.map(|port| format!("127.0.0.1:db.test:{port}")).collect();
    let auth_mode = AuthMode::Internal("ann".into(), "secret".into());
    let policy = ClientPolicy { tls_policy: Some(TlsPolicy::new(tls)), auth_mode, ..policy() };
    let pool = PoolSizing::default().with_min(1).with_max(max).with_depth(16);
    let config = ClientConfig::from(policy).with_pool(pool);
    let client = RawClient::connect_blocking(&config, &seeds.join(",")).unwrap();
    (embedded, client)
}

fn key(id: u32) -> Key {
    as_key!("test", "host-tls", i64::from(id))
}

/// The counts of all nodes.
fn counters(host: &Loop) -> NodeCounters {
    let topology = host.client.as_ref().unwrap().cluster().topology();
    let mut sum = NodeCounters::default();
    topology.active_nodes().for_each(|node| sum.add(&host.driver.counters(node.id())));
    sum
}

/// More requests at once than there are connections, some of which are given up.
#[test]
fn one_request_at_a_time_on_each_connection() {
    for version in [&TLS12, &TLS13] {
        let (_embedded, client) = start(2, 3, version);
        let mut host = Loop::of(&client);
        for token in 0..200 {
            host.put(token, &key(token), Value::Int(token.into()));
            assert!(counters(&host).in_flight <= 6);
        }
        host.turn_until("all are written", |host| {
            assert!(counters(host).in_flight <= 6);
            host.outcomes.0.len() == 200
        });
        host.outcomes.0.clear();
        let given_up: BTreeSet<u32> = (0..200).filter(|token| token % 7 == 3).collect();
        for token in 0..200 {
            let (to, ticket) = host.get(token, &key(token), 60_000);
            if given_up.contains(&token) {
                let now = host.now();
                assert_eq!(host.driver.cancel(to, Class::Single, ticket, now), Some(token));
            }
        }
        host.turn_until("all are read", |host| host.outcomes.0.len() == 200 - given_up.len());
        for token in (0..200).filter(|token| !given_up.contains(token)) {
            assert_eq!(host.value(token), Value::Int(token.into()));
        }
        let counters = counters(&host);
        assert!((2..=6).contains(&counters.open), "{counters:?}");
        assert!(counters.answers >= 371, "all of it went over this lane: {counters:?}");
    }
}

#[test]
fn large_values_both_ways() {
    for version in [&TLS12, &TLS13] {
        let (_embedded, client) = start(1, 4, version);
        let mut host = Loop::of(&client);
        // Many records, and more than a socket takes at once.
        let value = Value::from("x".repeat(1_000_000));
        for token in 0..6 {
            host.put(token, &key(token), value.clone());
        }
        host.turn_until("all are written", |host| host.outcomes.0.len() == 6);
        host.outcomes.0.clear();
        for token in 0..6 {
            host.get(token, &key(token), 60_000);
        }
        host.turn_until("all are read", |host| host.outcomes.0.len() == 6);
        for token in 0..6 {
            assert!(host.value(token) == value);
        }
    }
}

#[test]
fn trouble_is_told_as_without_tls() {
    let (embedded, client) = start(1, 2, &TLS13);
    let mut host = Loop::of(&client);
    let rule = |action, on| embedded.set_fault(None, &FaultRule::new(action).on(on).times(1)).unwrap();
    host.put(0, &key(1), Value::from("x".repeat(20_000)));
    host.turn_until("written", |host| host.outcomes.0.remove(&0).is_some());

    // Each byte in a record of its own.
    rule(FaultAction::Split, RequestKind::Read);
    host.get(1, &key(1), 60_000);
    host.turn_until("read in pieces", |host| host.outcomes.0.contains_key(&1));
    assert_eq!(host.value(1), Value::from("x".repeat(20_000)));

    // The connection ends in the middle of an answer of two records.
    rule(FaultAction::Truncate(17_000), RequestKind::Read);
    host.get(3, &key(1), 60_000);
    host.turn_until("lost", |host| host.outcomes.0.contains_key(&3));
    let failure = host.outcomes.0.remove(&3).unwrap().unwrap_err();
    assert!(failure.sent && failure.begun, "{failure:?}");
    assert!(matches!(failure.kind, FailureKind::ConnectionLost(io::ErrorKind::UnexpectedEof)), "{failure:?}");

    rule(FaultAction::DropAfter, RequestKind::Write);
    host.put(4, &key(2), Value::Int(4));
    host.turn_until("lost", |host| host.outcomes.0.contains_key(&4));
    let failure = host.outcomes.0.remove(&4).unwrap().unwrap_err();
    assert!(failure.sent && matches!(failure.kind, FailureKind::ConnectionLost(_)), "{failure:?}");

    rule(FaultAction::Garbage(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()), RequestKind::Read);
    host.get(5, &key(1), 60_000);
    host.turn_until("garbage", |host| host.outcomes.0.contains_key(&5));
    let failure = host.outcomes.0.remove(&5).unwrap().unwrap_err();
    assert!(matches!(failure.kind, FailureKind::Garbage(_)), "{failure:?}");

    rule(FaultAction::Stall, RequestKind::Read);
    let begun = Instant::now();
    host.get(2, &key(1), 100);
    host.turn_until("expired", |host| host.outcomes.0.contains_key(&2));
    assert!(begun.elapsed() >= Duration::from_millis(100));
    let failure = host.outcomes.0.remove(&2).unwrap().unwrap_err();
    assert!(matches!(failure.kind, FailureKind::Expired), "{failure:?}");
    // Last, as the request that nobody waits for any more may meet the next rule.
    embedded.clear_faults();
    host.get(6, &key(2), 60_000);
    host.turn_until("answered on another connection", |host| host.outcomes.0.contains_key(&6));
    assert_eq!(host.value(6), Value::Int(4), "it was executed");
}

#[test]
fn the_end_while_requests_are_under_way() {
    let (embedded, client) = start(1, 2, &TLS13);
    let mut host = Loop::of(&client);
    let value = Value::from("x".repeat(1_000_000));
    host.put(0, &key(1), value.clone());
    host.turn_until("written", |host| host.outcomes.0.remove(&0).is_some());
    embedded.set_fault(None, &FaultRule::new(FaultAction::Stall).on(RequestKind::Write)).unwrap();
    for token in 1..=3 {
        host.put(token, &key(token), value.clone());
    }
    host.turn_until("two are sent", |host| (counters(host).in_flight, counters(host).queued) == (2, 1));
    host.driver.flush(&mut host.outcomes);
    host.driver.close(&mut host.outcomes);
    host.follow_changes();
    assert!(host.watched.is_empty());
    for token in 1..=3 {
        let failure = host.outcomes.0.remove(&token).unwrap().unwrap_err();
        assert!(matches!(failure.kind, FailureKind::Closed), "{failure:?}");
        assert_eq!(failure.sent, token < 3, "{token}: only the third has waited in line");
    }
}
