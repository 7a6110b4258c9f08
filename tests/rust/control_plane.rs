//! The control plane against the embedded cluster: discovery, ownership that moves, nodes that come and go, login, TLS,
//! and a tend that fails for a while.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::common::control_threads;
use aerolane::raw::cluster::Cluster;
use aerolane::raw::topology::{PARTITIONS, Topology};
use aerolane::{BatchOperation, Error, ErrorKind, SyncClient};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
use aerolane_embedded::{EmbeddedCluster, NamespaceOptions, TlsOptions};
use aerospike_core::{
    AdminPolicy, AuthMode, BasePolicy, BatchPolicy, BatchReadPolicy, Bins, ClientPolicy, ReadPolicy, Replica,
    ResultCode, TlsPolicy, WritePolicy, as_bin, as_key,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const SOON: Duration = Duration::from_secs(60);

fn policy() -> ClientPolicy {
    ClientPolicy { tend_interval: 250, timeout: 20_000, login_timeout: 20_000, ..ClientPolicy::default() }
}

async fn connect(embedded: &EmbeddedCluster) -> Arc<Cluster> {
    Cluster::connect(&policy(), &embedded.seeds()).await.unwrap()
}

/// Waits until the snapshot is as it should be.
async fn until(cluster: &Cluster, what: &str, test: impl Fn(&Topology) -> bool) {
    let start = Instant::now();
    while !test(&cluster.topology()) {
        assert!(start.elapsed() < SOON, "not in time: {what}; {cluster:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The host of a partition's master in the client's snapshot.
fn master(topology: &Topology, partition: u16) -> Option<String> {
    let id = topology.namespace("test").ok()?.owner(0, partition)?;
    topology.node(id).map(|node| node.host().to_owned())
}

/// Whether the client's map is exactly the cluster's.
fn agrees(topology: &Topology, embedded: &EmbeddedCluster) -> bool {
    let nodes = embedded.nodes();
    (0..PARTITIONS as u16).all(|partition| {
        let owner = embedded.master(partition).and_then(|id| nodes.iter().find(|node| node.id == id));
        master(topology, partition) == owner.map(|node| node.address.to_string())
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_snapshot_is_complete_and_right() {
    let embedded = EmbeddedCluster::builder().nodes(3).replication_factor(2).start().unwrap();
    let cluster = connect(&embedded).await;
    let topology = cluster.topology();
    assert!(topology.is_complete());
    assert_eq!(topology.active_nodes().len(), 3);
    assert!(agrees(&topology, &embedded));
    let map = topology.namespace("test").unwrap();
    assert_eq!(map.replication_factor(), 2);
    assert!((0..PARTITIONS as u16).all(|p| map.owner(1, p).is_some() && map.owner(1, p) != map.owner(0, p)));
    let error = topology.namespace("nope").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidNamespace) && error.to_string().contains("test"), "{error}");
    cluster.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_seed_is_enough() {
    let embedded = EmbeddedCluster::builder().nodes(3).start().unwrap();
    let seeds = format!("127.0.0.1:1,{}", embedded.nodes()[1].address);
    let cluster = Cluster::connect(&policy(), &seeds).await.unwrap();
    assert_eq!(cluster.topology().active_nodes().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moved_partition_is_followed_at_once_when_asked() {
    let embedded = EmbeddedCluster::builder().nodes(3).start().unwrap();
    // So slow a tend that it cannot be what helps.
    let slow = ClientPolicy { tend_interval: 600_000, timeout: 20_000, ..ClientPolicy::default() };
    let cluster = Cluster::connect(&slow, &embedded.seeds()).await.unwrap();
    let heard = Arc::new(AtomicU64::new(0));
    let listening = {
        let heard = Arc::clone(&heard);
        cluster.on_change(move |topology| heard.store(topology.version(), Ordering::SeqCst))
    };
    let mut view = cluster.topology_view();
    let before = view.current().version();
    let old = embedded.master(77).unwrap();
    let other = embedded.nodes().into_iter().find(|node| node.id != old).unwrap();
    embedded.set_master(77, Some(other.id)).unwrap();
    cluster.request_refresh();
    until(&cluster, "partition 77 moved", |topology| {
        master(topology, 77).as_deref() == Some(&*other.address.to_string())
    })
    .await;
    assert!(view.current().version() > before);
    assert!(heard.load(Ordering::SeqCst) > before);
    drop(listening);
    // And back again.
    embedded.set_master(77, None).unwrap();
    cluster.request_refresh();
    until(&cluster, "partition 77 is back", |topology| agrees(topology, &embedded)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_requests_for_a_refresh_are_few_questions() {
    let embedded = EmbeddedCluster::builder().nodes(2).start().unwrap();
    let cluster = Cluster::connect(&ClientPolicy { timeout: 20_000, ..ClientPolicy::default() }, &embedded.seeds())
        .await
        .unwrap();
    let asked = || embedded.nodes().iter().map(|node| embedded.stats(node.id).unwrap().infos).sum::<u64>();
    let before = asked();
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(1) {
        for _ in 0..1000 {
            cluster.request_refresh();
        }
        tokio::task::yield_now().await;
    }
    // The tend asks each node some times a second itself.
    let (asked, seconds) = (asked() - before, start.elapsed().as_secs());
    assert!(asked < 60 * seconds, "{asked} info requests in {seconds} s");
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_leave_come_back_and_join() {
    let embedded = EmbeddedCluster::builder().nodes(3).replication_factor(2).start().unwrap();
    let cluster = connect(&embedded).await;
    let gone = embedded.nodes()[2];
    let id_of = |host: &str| {
        let topology = cluster.topology();
        topology.active_nodes().find(|node| node.host() == host).map(|node| node.id())
    };
    let id = id_of(&gone.address.to_string()).unwrap();
    embedded.stop_node(gone.id).unwrap();
    cluster.request_refresh();
    until(&cluster, "its partitions have moved", |topology| agrees(topology, &embedded)).await;
    until(&cluster, "the node is retired", |topology| !topology.is_active(id)).await;
    assert!(cluster.topology().is_complete());
    assert!(cluster.topology().node(id).is_some(), "its slot is kept");

    embedded.start_node(gone.id).unwrap();
    until(&cluster, "it is back", |topology| topology.is_active(id)).await;
    until(&cluster, "and owns its share", |topology| agrees(topology, &embedded)).await;
    assert_eq!(id_of(&gone.address.to_string()), Some(id));

    let new = embedded.add_node().unwrap();
    until(&cluster, "a fourth node", |topology| topology.active_nodes().len() == 4).await;
    until(&cluster, "and its share", |topology| agrees(topology, &embedded)).await;
    assert_ne!(id_of(&new.address.to_string()), Some(id));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tend_that_fails_for_a_while_changes_nothing() {
    let embedded = EmbeddedCluster::builder().nodes(3).start().unwrap();
    let fast = ClientPolicy { tend_interval: 250, timeout: 300, ..ClientPolicy::default() };
    let cluster = Cluster::connect(&fast, &embedded.seeds()).await.unwrap();
    let rule = FaultRule::new(FaultAction::DropBefore).on(RequestKind::Info);
    embedded.set_fault(None, &rule).unwrap();
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(4) {
        cluster.request_refresh();
        let topology = cluster.topology();
        assert!(topology.is_complete(), "the last good map stays in force");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // The data path still gets connections.
    let topology = cluster.topology();
    let node = topology.active_nodes().next().unwrap();
    cluster.connector().open(node, SOON).await.unwrap();
    embedded.clear_faults();
    let new = embedded.add_node().unwrap();
    until(&cluster, "the tend has recovered", |topology| {
        topology.active_nodes().any(|node| node.host() == new.address.to_string())
    })
    .await;
    until(&cluster, "and the map is right", |topology| agrees(topology, &embedded)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stalled_node_does_not_delay_what_others_tell() {
    let embedded = EmbeddedCluster::builder().nodes(3).start().unwrap();
    // Both would last longer than it is waited.
    let patient = ClientPolicy { tend_interval: 600_000, timeout: 300_000, ..ClientPolicy::default() };
    let cluster = Cluster::connect(&patient, &embedded.seeds()).await.unwrap();
    let nodes = embedded.nodes();
    embedded.set_fault(Some(nodes[0].id), &FaultRule::new(FaultAction::Stall).on(RequestKind::Info)).unwrap();
    for round in 0..2 {
        let partition =
            (0..PARTITIONS as u16).find(|p| embedded.master(*p) == Some(nodes[1 + round].id)).expect("owns some");
        let to = nodes[2 - round];
        embedded.set_master(partition, Some(to.id)).unwrap();
        cluster.request_refresh();
        let host = to.address.to_string();
        until(&cluster, "moved", |topology| master(topology, partition).as_deref() == Some(&*host)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cluster_name_is_checked() {
    let embedded = EmbeddedCluster::builder().cluster_name("dev").start().unwrap();
    let named = |name: &str| ClientPolicy { cluster_name: Some(name.into()), ..policy() };
    let cluster = Cluster::connect(&named("dev"), &embedded.seeds()).await.unwrap();
    assert_eq!(cluster.topology().cluster_name(), Some("dev"));
    let error = Cluster::connect(&named("prod"), &embedded.seeds()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ClusterNameMismatch { .. }), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn users_log_in_and_strangers_do_not() {
    let embedded = EmbeddedCluster::builder().nodes(2).user("ann", "secret").session_ttl(2).start().unwrap();
    let with = |user: &str, password: &str| ClientPolicy {
        auth_mode: AuthMode::Internal(user.into(), password.into()),
        ..policy()
    };
    for stranger in [with("ann", "wrong"), with("bob", "secret"), policy()] {
        let start = Instant::now();
        let error = Cluster::connect(&stranger, &embedded.seeds()).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::CredentialsRefused { .. }), "{error:?}");
        assert!(start.elapsed() < SOON);
    }
    let cluster = Cluster::connect(&with("ann", "secret"), &embedded.seeds()).await.unwrap();
    let logins = || embedded.nodes().iter().map(|node| embedded.stats(node.id).unwrap().logins).sum::<u64>();
    let topology = cluster.topology();
    let connector = cluster.connector();
    for round in 0..2 {
        let before = logins();
        for node in topology.active_nodes() {
            let mut stream = connector.open(node, SOON).await.unwrap();
            assert_eq!(ask_name(&mut stream).await, node.name());
            let mut blocking = tokio::task::block_in_place(|| connector.open_blocking(node, SOON)).unwrap();
            assert_eq!(ask_name_blocking(&mut blocking), node.name());
        }
        assert!(logins() > before, "each connection authenticates");
        if round == 0 {
            // The session ends on both sides.
            tokio::time::sleep(Duration::from_millis(2200)).await;
        }
    }
}

fn tls_policy(embedded: &EmbeddedCluster) -> TlsPolicy {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;
    let mut roots = rustls::RootCertStore::empty();
    let pem = embedded.certificate_pem().unwrap();
    roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsPolicy::new(config)
}

fn tls_seeds(embedded: &EmbeddedCluster, name: &str) -> String {
    let port = |address: &std::net::SocketAddr| format!("{}:{name}:{}", Ipv4Addr::LOCALHOST, address.port());
    embedded.nodes().iter().map(|node| port(&node.tls_address.unwrap())).collect::<Vec<_>>().join(",")
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_with_the_right_name_works_and_with_another_does_not() {
    let embedded = EmbeddedCluster::builder().nodes(2).tls(TlsOptions::self_signed("db.test")).start().unwrap();
    let secure = ClientPolicy { tls_policy: Some(tls_policy(&embedded)), ..policy() };
    let cluster = Cluster::connect(&secure, &tls_seeds(&embedded, "db.test")).await.unwrap();
    let topology = cluster.topology();
    assert_eq!(topology.active_nodes().len(), 2);
    for node in topology.active_nodes() {
        let mut stream = cluster.connector().open(node, SOON).await.unwrap();
        assert!(stream.is_tls());
        assert_eq!(ask_name(&mut stream).await, node.name());
        let mut blocking = tokio::task::block_in_place(|| cluster.connector().open_blocking(node, SOON)).unwrap();
        assert!(blocking.is_tls());
        assert_eq!(ask_name_blocking(&mut blocking), node.name());
    }
    let error = Cluster::connect(&secure, &tls_seeds(&embedded, "evil.test")).await.unwrap_err();
    let ErrorKind::ConnectFailed { failures } = error.kind() else { panic!("{error:?}") };
    assert_eq!(failures.len(), 2);
    assert!(error.to_string().contains("TLS handshake"), "{error}");
    // The plain port does not speak TLS; the TLS port does not speak plain.
    let error = Cluster::connect(&secure, &embedded.seeds().replace(':', ":db.test:")).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ConnectFailed { .. }), "{error:?}");
    let error = Cluster::connect(&policy(), &embedded.tls_seeds()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ConnectFailed { .. }), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_for_the_login_only_leaves_the_rest_plain() {
    let options = TlsOptions::self_signed("db.test");
    let embedded = EmbeddedCluster::builder().nodes(2).user("ann", "secret").tls(options).start().unwrap();
    let mixed = ClientPolicy {
        tls_policy: Some(tls_policy(&embedded).with_login_only(true)),
        auth_mode: AuthMode::Internal("ann".into(), "secret".into()),
        ..policy()
    };
    let cluster = Cluster::connect(&mixed, &tls_seeds(&embedded, "db.test")).await.unwrap();
    let topology = cluster.topology();
    assert_eq!(topology.active_nodes().len(), 2);
    for node in topology.active_nodes() {
        let mut stream = cluster.connector().open(node, SOON).await.unwrap();
        assert!(!stream.is_tls());
        assert_eq!(ask_name(&mut stream).await, node.name());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_node_refuses_and_a_stalled_one_times_out() {
    let embedded = EmbeddedCluster::builder().nodes(2).user("ann", "secret").start().unwrap();
    let ann = ClientPolicy { auth_mode: AuthMode::Internal("ann".into(), "secret".into()), ..policy() };
    let cluster = Cluster::connect(&ann, &embedded.seeds()).await.unwrap();
    let topology = cluster.topology();
    let node = topology.active_nodes().next().unwrap();
    let id = embedded.nodes().into_iter().find(|n| n.address.to_string() == node.host()).unwrap().id;
    embedded.set_fault(Some(id), &FaultRule::new(FaultAction::Stall).on(RequestKind::Admin)).unwrap();
    let start = Instant::now();
    let error = cluster.connector().open(node, Duration::from_millis(300)).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Connection), "{error:?}");
    assert!((Duration::from_millis(300)..SOON).contains(&start.elapsed()));
    embedded.clear_faults();
    embedded.stop_node(id).unwrap();
    let error = cluster.connector().open(node, SOON).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Connection), "{error:?}");
    assert_eq!(error.node(), Some(&**node.label()));
}

#[tokio::test(flavor = "multi_thread")]
async fn aerospike_core_runs_on_the_control_thread() {
    let embedded = EmbeddedCluster::builder().nodes(2).start().unwrap();
    let cluster = connect(&embedded).await;
    let core = cluster.core().clone();
    let info = cluster.run(async move { core.info(&AdminPolicy { timeout: 20_000 }, &["build"]).await }).await;
    assert!(info.unwrap().unwrap().contains_key("build"));
    let panicked = cluster.run(async { panic!("on purpose") }).await;
    assert!(matches!(panicked.unwrap_err().kind(), ErrorKind::Client));

    // From a thread without a runtime, and from one that belongs to a runtime.
    let ask = |cluster: &Cluster| -> Result<bool, Error> {
        let core = cluster.core();
        let answer = cluster.block_on(core.info(&AdminPolicy { timeout: 20_000 }, &["build"]))?;
        Ok(answer?.contains_key("build"))
    };
    assert!(ask(&cluster).unwrap());
    std::thread::scope(|scope| assert!(scope.spawn(|| ask(&cluster)).join().unwrap().unwrap()));

    // Closing ends what is under way, and refuses what comes after.
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| cluster.block_on(std::future::pending::<()>()));
        std::thread::sleep(Duration::from_millis(50));
        cluster.close_blocking();
        assert!(matches!(waiting.join().unwrap().unwrap_err().kind(), ErrorKind::ClientClosed));
    });
    assert!(cluster.is_closed());
    assert!(matches!(ask(&cluster).unwrap_err().kind(), ErrorKind::ClientClosed));
    assert!(matches!(cluster.run(async {}).await.unwrap_err().kind(), ErrorKind::ClientClosed));
    cluster.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callback_may_close_the_cluster() {
    let embedded = EmbeddedCluster::builder().nodes(2).start().unwrap();
    let cluster = connect(&embedded).await;
    let weak = Arc::downgrade(&cluster);
    let _listening = cluster.on_change(move |_| {
        if let Some(cluster) = weak.upgrade() {
            cluster.close_blocking();
        }
    });
    let other = embedded.nodes()[0].id;
    embedded
        .set_master(5, Some(if embedded.master(5) == Some(other) { embedded.nodes()[1].id } else { other }))
        .unwrap();
    cluster.request_refresh();
    tokio::time::timeout(SOON, cluster.closing()).await.expect("closed by the callback");
    cluster.close().await;
}

#[test]
fn nothing_outlives_a_dropped_cluster() {
    let embedded = EmbeddedCluster::builder().nodes(2).start().unwrap();
    // Other tests of this file have clusters, too: wait until this one's thread is gone, by its connections.
    let open = || {
        let stats = embedded.nodes().into_iter().map(|node| embedded.stats(node.id).unwrap());
        stats.map(|s| s.connections_opened - s.connections_closed).sum::<u64>()
    };
    let cluster = Cluster::connect_blocking(&policy(), &embedded.seeds()).unwrap();
    assert!(control_threads() >= 1);
    assert!(open() > 0);
    let start = Instant::now();
    drop(cluster);
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    while open() > 0 {
        assert!(start.elapsed() < SOON, "{} connections are left", open());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_is_not_there_yet_may_be_waited_for() {
    let embedded = EmbeddedCluster::builder().nodes(1).start().unwrap();
    let node = embedded.nodes()[0];
    embedded.stop_node(node.id).unwrap();
    let patient = ClientPolicy { fail_if_not_connected: false, timeout: 300, ..policy() };
    let cluster = Cluster::connect(&patient, &node.address.to_string()).await.unwrap();
    let error = cluster.topology().namespace("test").map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("no partition map"), "{error}");
    embedded.start_node(node.id).unwrap();
    until(&cluster, "the node is found", Topology::is_complete).await;
    let topology = cluster.topology();
    let mut route = aerolane::raw::topology::Route::write(Replica::Master);
    assert!(topology.route("test", 0, &mut route, 0).is_ok());
}

/// The client finds only one node of three, which owns nothing.
#[test]
fn a_client_that_knows_only_a_minority_is_told_that_partitions_are_unavailable() {
    let strict = NamespaceOptions::new("test").strong_consistency(true).roster(true);
    let embedded = EmbeddedCluster::builder().nodes(3).namespace_with(strict).start().unwrap();
    let nodes = embedded.nodes();
    embedded.split(&[[nodes[0].id]]).unwrap();
    let client = SyncClient::new(&policy(), &nodes[0].address.to_string()).unwrap();
    let key = as_key!("test", "minority", 1);
    let base = BasePolicy { total_timeout: 300, max_retries: 0, ..BasePolicy::default() };
    let read = ReadPolicy { base_policy: base.clone() };
    let write = WritePolicy { base_policy: base.clone(), ..WritePolicy::default() };
    let mut rows = [BatchOperation::read(&BatchReadPolicy::default(), key.clone(), Bins::All)];
    let batch = client.batch(&BatchPolicy { base_policy: base, ..BatchPolicy::default() }, &mut rows);
    let failures = [
        client.put(&write, &key, &[as_bin!("n", 1)]).unwrap_err(),
        client.get(&read, &key, Bins::All).unwrap_err(),
        batch.unwrap_err(),
    ];
    for error in failures {
        assert_eq!(error.result_code(), i32::from(u8::from(ResultCode::PartitionUnavailable)), "{error}");
        assert!(error.to_string().contains("of namespace test is unavailable"), "{error}");
        assert!(!error.in_doubt(), "nothing was sent");
    }
    embedded.heal();
    let start = Instant::now();
    while client.put(&write, &key, &[as_bin!("n", 1)]).is_err() {
        assert!(start.elapsed() < SOON, "the whole cluster is found");
    }
}

fn name_request() -> Vec<u8> {
    let mut request = Vec::new();
    aerolane_wire::info::encode_request(&mut request, [&b"node"[..]]).unwrap();
    request
}

fn name_in(body: &[u8]) -> String {
    let answer = aerolane_wire::info::Answers::new(body).next().unwrap();
    String::from_utf8(answer.text.unwrap().to_vec()).unwrap()
}

fn body_size(head: [u8; 8]) -> usize {
    aerolane_wire::proto::ProtoHeader::decode(&head, 1 << 20).unwrap().body_size
}

/// Uses a fresh connection, to see that it is one.
async fn ask_name(stream: &mut aerolane::raw::connect::Stream) -> String {
    let mut head = [0; 8];
    stream.write_all(&name_request()).await.unwrap();
    stream.read_exact(&mut head).await.unwrap();
    let mut body = vec![0; body_size(head)];
    stream.read_exact(&mut body).await.unwrap();
    name_in(&body)
}

fn ask_name_blocking(stream: &mut aerolane::raw::connect::BlockingStream) -> String {
    use std::io::{Read, Write};
    let mut head = [0; 8];
    stream.write_all(&name_request()).unwrap();
    stream.read_exact(&mut head).unwrap();
    let mut body = vec![0; body_size(head)];
    stream.read_exact(&mut body).unwrap();
    name_in(&body)
}
