//! Clusters that cannot be connected to. (Those that can are in `tests/rust`, on the embedded cluster.)

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use aerospike_core::AuthMode;

use super::*;
use crate::error::ErrorKind;

fn policy() -> ClientPolicy {
    ClientPolicy { timeout: 20_000, login_timeout: 20_000, ..ClientPolicy::default() }
}

/// For those who never answer.
fn quick() -> ClientPolicy {
    ClientPolicy { timeout: 300, login_timeout: 300, ..ClientPolicy::default() }
}

fn closed() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// A server that gives the same bytes to whoever sends anything.
fn parrot(answer: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // Ends with the test process.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(answer);
            std::thread::spawn(move || stream.read_to_end(&mut Vec::new()));
        }
    });
    address
}

fn info_answer(text: &str) -> &'static [u8] {
    let mut out = vec![2, 1, 0, 0, 0, 0, 0, 0];
    out[7] = u8::try_from(text.len()).unwrap();
    out.extend_from_slice(text.as_bytes());
    out.leak()
}

async fn refused(policy: &ClientPolicy, seeds: &str) -> Error {
    let start = Instant::now();
    let error = Cluster::connect(policy, &seeds).await.expect_err(seeds);
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    error
}

#[tokio::test]
async fn unreachable_seeds_are_all_listed() {
    let (a, b) = (closed(), closed());
    let error = refused(&quick(), &format!("{a},{b},no-such-host.invalid:3000")).await;
    let ErrorKind::ConnectFailed { failures } = error.kind() else { panic!("{error:?}") };
    assert_eq!(failures.len(), 3, "{error}");
    let text = error.to_string();
    for part in [&a.to_string(), &b.to_string(), "no-such-host.invalid:3000"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(error.result_code(), -8);
}

#[test]
fn the_blocking_twin_fails_alike() {
    let error = Cluster::connect_blocking(&policy(), &closed().to_string()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ConnectFailed { .. }), "{error:?}");
    let error = Cluster::connect_blocking(&policy(), &"no host!").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "{error:?}");
}

#[tokio::test]
async fn a_seed_that_says_nothing_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let error = refused(&quick(), &listener.local_addr().unwrap().to_string()).await;
    assert!(error.to_string().contains("no answer in time"), "{error}");
}

#[tokio::test]
async fn a_seed_that_is_no_aerospike_node_is_told_so() {
    let web = parrot(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    let error = refused(&policy(), &web.to_string()).await;
    let ErrorKind::ConnectFailed { failures } = error.kind() else { panic!("{error:?}") };
    assert!(matches!(failures[0].reason.kind(), ErrorKind::BadResponse), "{error}");
}

#[tokio::test]
async fn another_clusters_name_is_an_error_of_its_own() {
    let node = parrot(info_answer("node\tBB9\ncluster-name\tdev\n"));
    let wanted = ClientPolicy { cluster_name: Some("prod".into()), ..policy() };
    let error = refused(&wanted, &format!("{node},{}", closed())).await;
    assert!(matches!(error.kind(), ErrorKind::ClusterNameMismatch { .. }), "{error:?}");
    assert!(error.to_string().contains("\"dev\", not \"prod\""), "{error}");
}

#[tokio::test]
async fn refused_credentials_are_an_error_of_their_own() {
    let mut answer = Vec::new();
    aerolane_wire::admin::encode_result(&mut answer, aerolane_wire::ResultCode(62)).unwrap();
    let node = parrot(answer.leak());
    let ann = ClientPolicy { auth_mode: AuthMode::Internal("ann".into(), "wrong".into()), ..policy() };
    let error = refused(&ann, &node.to_string()).await;
    assert!(matches!(error.kind(), ErrorKind::CredentialsRefused { .. }), "{error:?}");
    // And the other way round: the node wants a login, and none is configured.
    let node = parrot(info_answer("ERROR:80:not authenticated\n"));
    let error = refused(&policy(), &node.to_string()).await;
    assert!(matches!(error.kind(), ErrorKind::CredentialsRefused { user: None, .. }), "{error:?}");
}

#[tokio::test]
async fn impossible_policies_are_refused_before_anything_is_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let seeds = listener.local_addr().unwrap().to_string();
    let error = Cluster::connect(&ClientPolicy { timeout: 0, ..policy() }, &seeds.as_str()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidArgument));
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "nobody has come");
}

#[tokio::test]
async fn a_dropped_connect_ends_its_thread() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let seeds = listener.local_addr().unwrap().to_string();
    let slow = ClientPolicy { timeout: 60_000, ..ClientPolicy::default() };
    let (thread, started) = Cluster::launch(&slow, &seeds.as_str()).unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!thread.is_finished());
    drop(started);
    tokio::task::spawn_blocking(move || thread.join()).await.unwrap().unwrap();
}
