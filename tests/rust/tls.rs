//! TLS and a login, on connections of our own, through each of the three clients.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::any_client::{AnyClient, Kind, reading, until, within, writing};
use crate::common::{Patient, policy};
use aerolane::{
    AuthMode, BatchOperation, BatchPolicy, BatchReadPolicy, Bins, ClientConfig, ClientPolicy, Error, ErrorKind, Key,
    Phase, PoolSizing, TlsPolicy, Value, as_bin, as_key,
};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
use aerolane_embedded::{EmbeddedCluster, TlsOptions};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// A cluster with a certificate for `db.test` and the user ann, its TLS seeds, and a policy that trusts it.
fn cluster(nodes: usize) -> (EmbeddedCluster, String, ClientPolicy) {
    let options = TlsOptions::self_signed("db.test");
    let embedded = EmbeddedCluster::builder().nodes(nodes).user("ann", "secret").tls(options).start().unwrap();
    let mut roots = rustls::RootCertStore::empty();
    let pem = embedded.certificate_pem().unwrap();
    roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let addresses = embedded.nodes().into_iter().map(|node| node.tls_address.unwrap().port());
    let seeds: Vec<_> = addresses.map(|port| format!("127.0.0.1:db.test:{port}")).collect();
    let policy = ClientPolicy { tls_policy: Some(TlsPolicy::new(tls)), auth_mode: ann("secret"), ..policy() };
    (embedded, seeds.join(","), policy)
}

fn ann(password: &str) -> AuthMode {
    AuthMode::Internal("ann".into(), password.into())
}

fn key(id: i64) -> Key {
    as_key!("test", "tls", id)
}

fn id_of(client: &AnyClient, id: i64) -> Value {
    client.get(&reading(60_000, 2), &key(id), Bins::All).unwrap().bins["id"].clone()
}

#[test]
fn calls_of_many_threads_and_batches() {
    within(300, || {
        let (_embedded, seeds, policy) = cluster(2);
        for kind in Kind::ALL {
            let client = AnyClient::open(kind, policy.clone(), &seeds).unwrap();
            // Far more than one TLS record and one socket buffer.
            let big = "x".repeat(300_000);
            std::thread::scope(|scope| {
                for thread in 0..4_i64 {
                    let (client, big) = (client.clone(), &big);
                    scope.spawn(move || {
                        for id in thread * 10..thread * 10 + 10 {
                            let bins = [as_bin!("id", id), as_bin!("big", big.as_str())];
                            client.put(&writing(60_000, 0), &key(id), &bins).unwrap();
                            let record = client.get(&reading(60_000, 0), &key(id), Bins::All).unwrap();
                            assert_eq!(record.bins["id"], Value::Int(id));
                            assert_eq!(record.bins["big"], Value::from(big.as_str()));
                        }
                    });
                }
            });
            let read = BatchReadPolicy::default();
            let rows: Vec<_> = (0..40).map(|id| BatchOperation::read(&read, key(id), Bins::All)).collect();
            let mut batch = BatchPolicy::patient();
            batch.base_policy.total_timeout = 60_000;
            let (rows, result) = client.batch(&batch, rows);
            result.unwrap();
            assert!((0..40).zip(&rows).all(|(id, row)| row.record().unwrap().bins["id"] == Value::Int(id)), "{kind:?}");
        }
    });
}

/// The server reads one request per TLS record, so a connection carries one at a time, whatever the pool's depth.
#[test]
fn one_request_at_a_time_on_each_connection() {
    within(300, || {
        let (embedded, seeds, policy) = cluster(1);
        let pool = PoolSizing::default().with_min(0).with_max(6).with_depth(64);
        for kind in Kind::ALL {
            let config = ClientConfig::from(policy.clone()).with_pool(pool.clone());
            let client = AnyClient::open(kind, config, &seeds).unwrap();
            client.put(&writing(60_000, 0), &key(1), &[as_bin!("id", 1)]).unwrap();
            embedded.set_fault(None, &FaultRule::new(FaultAction::Stall).on(RequestKind::Read)).unwrap();
            let threads: Vec<_> = (0..10)
                .map(|_| {
                    let client = client.clone();
                    std::thread::spawn(move || client.get(&reading(0, 0), &key(1), Bins::All))
                })
                .collect();
            let places = u64::from(6 / kind.lanes());
            until("all places are taken", || {
                let total = client.stats().total;
                (total.in_flight, total.queued) == (places, 10 - places)
            });
            assert_eq!(client.stats().total.busy, places, "{}", client.stats());
            embedded.clear_faults();
            for thread in threads {
                assert_eq!(thread.join().unwrap().unwrap().bins["id"], Value::Int(1));
            }
        }
    });
}

#[test]
fn trouble_is_told_as_without_tls() {
    within(300, || {
        let (embedded, seeds, policy) = cluster(1);
        for kind in Kind::ALL {
            let client = AnyClient::open(kind, policy.clone(), &seeds).unwrap();
            client.put(&writing(60_000, 0), &key(1), &[as_bin!("id", 1)]).unwrap();
            let rule = |action, on| embedded.set_fault(None, &FaultRule::new(action).on(on).times(1)).unwrap();

            rule(FaultAction::Stall, RequestKind::Read);
            let start = Instant::now();
            let error = client.get(&reading(80, 0), &key(1), Bins::All).unwrap_err();
            assert!(error.is_client_timeout() && error.phase() == Phase::Sent, "{kind:?}: {error:?}");
            assert!((80..30_000).contains(&start.elapsed().as_millis()), "{kind:?}: {:?}", start.elapsed());
            embedded.clear_faults();
            assert_eq!(id_of(&client, 1), Value::Int(1));

            rule(FaultAction::DropAfter, RequestKind::Write);
            let error = client.add(&writing(60_000, 0), &key(1), &[as_bin!("id", 1)]).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Connection) && error.in_doubt(), "{kind:?}: {error:?}");
            embedded.clear_faults();
            assert_eq!(id_of(&client, 1), Value::Int(2), "it was executed");

            rule(FaultAction::Garbage(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()), RequestKind::Read);
            let error = client.get(&reading(60_000, 0), &key(1), Bins::All).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::BadResponse), "{kind:?}: {error:?}");
            embedded.clear_faults();

            rule(FaultAction::Split, RequestKind::Read);
            assert_eq!(id_of(&client, 1), Value::Int(2));
            embedded.clear_faults();
        }
    });
}

#[test]
fn strangers_are_told_why() {
    within(300, || {
        let (_embedded, seeds, policy) = cluster(1);
        let quick = ClientPolicy { timeout: 20_000, login_timeout: 20_000, ..policy };
        let refused = |kind, policy: ClientPolicy, seeds: &str| -> Error {
            let start = Instant::now();
            let error = AnyClient::open(kind, policy, seeds).err().expect("refused");
            // None of the time limits had to end it.
            assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
            error
        };
        for kind in Kind::ALL {
            let wrong = ClientPolicy { auth_mode: ann("guess"), ..quick.clone() };
            let error = refused(kind, wrong, &seeds);
            assert!(matches!(error.kind(), ErrorKind::CredentialsRefused { .. }), "{kind:?}: {error:?}");
            let error = refused(kind, quick.clone(), &seeds.replace("db.test", "other.test"));
            assert!(error.to_string().contains("TLS handshake"), "{kind:?}: {error}");
            let in_clear = ClientPolicy { tls_policy: None, ..quick.clone() };
            let error = refused(kind, in_clear, &seeds.replace("db.test:", ""));
            assert!(matches!(error.kind(), ErrorKind::ConnectFailed { .. }), "{kind:?}: {error:?}");
        }
    });
}
