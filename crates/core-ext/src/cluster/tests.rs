//! Clusters that cannot be connected to. (Those that can are in `tests/rust`, on the embedded cluster.)

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use aerolane_embedded::EmbeddedCluster;
use aerospike_core::AuthMode;

use super::worker::Worker;
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
    assert!(error.to_string().contains("not an Aerospike server: it answers with \"HTTP/1.1\""), "{error}");
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
async fn a_dropped_connect_ends() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let seeds = listener.local_addr().unwrap().to_string();
    let slow = ClientPolicy { timeout: 60_000, ..ClientPolicy::default() };
    let (_, started) = Cluster::launch(&slow, &seeds.as_str()).unwrap();
    let (mut connection, _) = tokio::task::spawn_blocking(move || listener.accept()).await.unwrap().unwrap();
    drop(started);
    connection.set_read_timeout(Some(Duration::from_secs(50))).unwrap();
    let rest = tokio::task::spawn_blocking(move || connection.read_to_end(&mut Vec::new()));
    rest.await.unwrap().expect("closed long before the time is over");
}

#[test]
fn the_control_thread_is_not_waited_for_on_itself() {
    let lease = ControlLease::new().unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let seeds = closed().to_string();
    lease.runtime().spawn(async move { sender.send(Cluster::connect_blocking(&quick(), &seeds)) });
    let error = receiver.recv().unwrap().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Client), "{error:?}");
}

/// Nobody knows where a new node is: its name does not resolve. The others are followed meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_does_not_resolve_keeps_no_other_node_waiting() {
    let embedded = EmbeddedCluster::builder().nodes(2).start().unwrap();
    let policy = ClientPolicy { tend_interval: 250, ..policy() };
    let hosts = seeds::parse(&embedded.seeds(), false).unwrap();
    let core = Client::new(&policy, &hosts).await.unwrap();
    let shared = Arc::new(Shared::new(Arc::new(policy)).unwrap());
    let mut worker = Worker::new(Arc::clone(&shared), core.clone(), &hosts);
    worker.first_map().await.unwrap();

    let (asked, mut asking) = tokio::sync::mpsc::unbounded_channel();
    worker.locate_with(move |_| {
        let _ = asked.send(());
        Box::pin(std::future::pending())
    });
    let following = tokio::spawn(async move { worker.run().await });
    embedded.add_node().unwrap();
    asking.recv().await.expect("the new node is looked for");
    let nodes = embedded.nodes();
    let owner = || {
        let topology = shared.topology.load();
        let owner = topology.namespace("test").unwrap().owner(0, 5).unwrap();
        topology.node(owner).unwrap().host().to_owned()
    };
    for _ in 0..2 {
        let before = owner();
        let other = nodes[..2].iter().find(|node| node.address.to_string() != before).unwrap();
        embedded.set_master(5, Some(other.id)).unwrap();
        shared.refresh.request();
        let start = Instant::now();
        while owner() == before {
            assert!(start.elapsed() < Duration::from_secs(60), "the topology stands still");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    following.abort();
    core.close().await.unwrap();
}

/// What a task does when it is dropped is done when the cluster is closed.
#[test]
fn tasks_have_ended_when_the_cluster_is_closed() {
    struct Slow(Arc<AtomicBool>);
    impl Drop for Slow {
        fn drop(&mut self) {
            std::thread::sleep(Duration::from_millis(50));
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let embedded = EmbeddedCluster::builder().nodes(1).start().unwrap();
    let cluster = Cluster::connect_blocking(&policy(), &embedded.seeds()).unwrap();
    let (ended, (polled, running)) = (Arc::new(AtomicBool::new(false)), std::sync::mpsc::channel());
    let slow = Slow(Arc::clone(&ended));
    cluster.spawn(async move {
        polled.send(()).unwrap();
        std::future::pending::<()>().await;
        drop(slow);
    });
    running.recv().unwrap();
    cluster.close_blocking();
    assert!(ended.load(Ordering::SeqCst));
}

/// A task that holds the last reference to its cluster ends with it.
#[test]
fn the_last_reference_may_go_with_a_task() {
    let embedded = EmbeddedCluster::builder().nodes(1).start().unwrap();
    let cluster = Cluster::connect_blocking(&policy(), &embedded.seeds()).unwrap();
    let (holder, (polled, running)) = (Arc::clone(&cluster), std::sync::mpsc::channel());
    let mut stage = cluster.shared.stage.subscribe();
    let task = cluster.spawn(async move {
        polled.send(()).unwrap();
        std::future::pending::<()>().await;
        drop(holder);
    });
    running.recv().unwrap();
    cluster.begin_close();
    drop(cluster);
    // On a runtime of its own: the control thread may be the one that hangs.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ended = runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(60), async {
            reached(&mut stage, Stage::Closed).await;
            task.await.unwrap()
        })
        .await
    });
    assert!(ended.expect("the control thread hangs").is_none());
}
