//! aerospike-core 3.0.0, unmodified, on the embedded cluster.

use crate::patient::Patient;
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
use aerolane_embedded::{EmbeddedCluster, NodeId, TlsOptions};
use aerospike_core::operations;
use aerospike_core::{
    AdminPolicy, AuthMode, BatchDeletePolicy, BatchOperation, BatchPolicy, BatchReadPolicy, BatchWritePolicy, Bin,
    Bins, Client, ClientPolicy, Error, Expiration, GenerationPolicy, Host, Key, PartitionFilter, QueryPolicy,
    ReadPolicy, Record, RecordExistsAction, ResultCode, Statement, TlsPolicy, Value, WritePolicy, as_bin, as_key,
};
use rustls::pki_types::pem::PemObject as _;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn cluster(nodes: usize) -> EmbeddedCluster {
    EmbeddedCluster::builder().nodes(nodes).replication_factor(2).namespace("test").start().unwrap()
}

/// Tends as often as the client allows, so that changes of the cluster are seen soon.
fn policy() -> ClientPolicy {
    ClientPolicy { tend_interval: 250, timeout: 20_000, login_timeout: 20_000, ..ClientPolicy::default() }
}

async fn connect(cluster: &EmbeddedCluster) -> Client {
    // One seed: the client has to find the other nodes by itself.
    let seed = cluster.seeds().split(',').next().unwrap().to_owned();
    let client = Client::new(&policy(), &seed).await.unwrap();
    let live = cluster.nodes().iter().filter(|n| n.live).count();
    wait_until("the client knows all nodes", || client.nodes().len() == live).await;
    client
}

async fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}: not within 60 s");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn code(error: &Error) -> Option<ResultCode> {
    error.server_result_code()
}

fn int(record: &Record, bin: &str) -> i64 {
    match record.bins.get(bin) {
        Some(Value::Int(n)) => *n,
        other => panic!("bin {bin}: {other:?}"),
    }
}

fn keys(set: &str, n: i64) -> Vec<Key> {
    (0..n).map(|i| as_key!("test", set, i)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn single_records() {
    let cluster = cluster(3);
    let client = connect(&cluster).await;
    let (rp, wp) = (ReadPolicy::patient(), WritePolicy::patient());
    for key in &keys("single", 200) {
        assert!(!client.exists(&rp, key).await.unwrap());
        assert_eq!(code(&client.get(&rp, key, Bins::All).await.unwrap_err()), Some(ResultCode::KeyNotFoundError));
        client.put(&wp, key, &[as_bin!("i", 1), as_bin!("s", "b"), as_bin!("f", 1.5)]).await.unwrap();
        client.add(&wp, key, &[as_bin!("i", 41)]).await.unwrap();
        client.append(&wp, key, &[as_bin!("s", "c")]).await.unwrap();
        client.prepend(&wp, key, &[as_bin!("s", "a")]).await.unwrap();
        client.touch(&wp, key).await.unwrap();
        let record = client.get(&rp, key, Bins::All).await.unwrap();
        assert_eq!((int(&record, "i"), record.generation), (42, 5));
        assert_eq!(record.bins.get("s"), Some(&Value::from("abc")));
        assert_eq!(record.bins.len(), 3);
        let some = client.get(&rp, key, Bins::Some(vec!["f".into(), "nope".into()])).await.unwrap();
        assert_eq!(some.bins.len(), 1);
        let header = client.get(&rp, key, Bins::None).await.unwrap();
        assert_eq!((header.bins.len(), header.generation), (0, 5));
        let ops = [operations::add(&as_bin!("i", 1)), operations::put(&as_bin!("n", 7)), operations::get()];
        let record = client.operate(&wp, key, &ops).await.unwrap();
        assert_eq!(record.generation, 6);
        assert!(client.exists(&rp, key).await.unwrap());
        assert!(client.delete(&wp, key).await.unwrap());
        assert!(!client.delete(&wp, key).await.unwrap());
    }
    // Each node got its share: the client follows the partition map.
    for node in cluster.nodes() {
        let records = cluster.stats(node.id).unwrap().records;
        assert!(records > 200, "{} had {records} requests", node.id);
    }
    client.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn write_policies_and_ttl() {
    let cluster = cluster(2);
    let client = connect(&cluster).await;
    let key = as_key!("test", "policies", "k");
    let bins = [as_bin!("a", 1)];
    let put = |wp: WritePolicy| {
        let (client, key, bins) = (&client, &key, &bins);
        async move { client.put(&wp, key, bins).await }
    };
    let with = |action| WritePolicy { record_exists_action: action, ..WritePolicy::patient() };
    let failure = put(with(RecordExistsAction::UpdateOnly)).await.unwrap_err();
    assert_eq!(code(&failure), Some(ResultCode::KeyNotFoundError));
    put(with(RecordExistsAction::CreateOnly)).await.unwrap();
    let failure = put(with(RecordExistsAction::CreateOnly)).await.unwrap_err();
    assert_eq!(code(&failure), Some(ResultCode::KeyExistsError));
    let generation = |generation| WritePolicy {
        generation_policy: GenerationPolicy::ExpectGenEqual,
        generation,
        ..WritePolicy::patient()
    };
    put(generation(1)).await.unwrap();
    assert_eq!(code(&put(generation(1)).await.unwrap_err()), Some(ResultCode::GenerationError));
    let start = Instant::now();
    put(WritePolicy { expiration: Expiration::Seconds(100), ..WritePolicy::patient() }).await.unwrap();
    let ttl = client.get(&ReadPolicy::patient(), &key, Bins::None).await.unwrap().time_to_live().unwrap();
    // Both clocks count whole seconds.
    let passed = start.elapsed() + Duration::from_secs(2);
    assert!(ttl <= Duration::from_secs(100) && ttl + passed >= Duration::from_secs(100), "{ttl:?} after {passed:?}");
    let short = WritePolicy { expiration: Expiration::Seconds(1), ..WritePolicy::patient() };
    put(short).await.unwrap();
    let start = Instant::now();
    while client.exists(&ReadPolicy::patient(), &key).await.unwrap() {
        assert!(start.elapsed() < Duration::from_secs(60), "the record does not expire");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    wait_until("the record is reaped", || cluster.record_count("test") == Some(0)).await;
    let nowhere = as_key!("nope", "policies", "k");
    assert!(client.put(&WritePolicy::patient(), &nowhere, &bins).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn batches() {
    let cluster = cluster(3);
    let client = connect(&cluster).await;
    let bp = BatchPolicy::patient();
    let (rp, wp, dp) = (BatchReadPolicy::default(), BatchWritePolicy::default(), BatchDeletePolicy::default());
    let keys = keys("batch", 3000);
    let mut writes: Vec<_> = keys
        .iter()
        .enumerate()
        .map(|(i, key)| {
            let ops = vec![operations::put(&as_bin!("i", i as i64)), operations::put(&as_bin!("s", "text"))];
            BatchOperation::write(&wp, key.clone(), ops)
        })
        .collect();
    client.batch(&bp, &mut writes).await.unwrap();
    assert!(writes.iter().all(|row| row.result_code() == Some(ResultCode::Ok)));
    assert_eq!(cluster.record_count("test"), Some(3000));

    let mut reads: Vec<_> = keys.iter().map(|key| BatchOperation::read(&rp, key.clone(), Bins::All)).collect();
    client.batch(&bp, &mut reads).await.unwrap();
    for (i, row) in reads.iter().enumerate() {
        assert_eq!(int(row.record().unwrap(), "i"), i as i64);
    }

    let absent = as_key!("test", "batch", "absent");
    let mut mixed = vec![
        BatchOperation::read(&rp, keys[0].clone(), Bins::Some(vec!["s".into()])),
        BatchOperation::write(&wp, keys[1].clone(), vec![operations::add(&as_bin!("i", 10)), operations::get_bin("i")]),
        BatchOperation::delete(&dp, keys[2].clone()),
        BatchOperation::read(&rp, absent.clone(), Bins::All),
        BatchOperation::delete(&dp, absent),
        BatchOperation::read(&rp, keys[3].clone(), Bins::None),
    ];
    client.batch(&bp, &mut mixed).await.unwrap();
    let codes: Vec<_> = mixed.iter().map(|row| row.result_code().unwrap()).collect();
    let (ok, missing) = (ResultCode::Ok, ResultCode::KeyNotFoundError);
    assert_eq!(codes, [ok, ok, ok, missing, missing, ok]);
    assert_eq!(mixed[0].record().unwrap().bins.len(), 1);
    assert_eq!(mixed[5].record().unwrap().bins.len(), 0);
    let record = client.get(&ReadPolicy::patient(), &keys[1], Bins::All).await.unwrap();
    assert_eq!(int(&record, "i"), 11);
    assert!(!client.exists(&ReadPolicy::patient(), &keys[2]).await.unwrap());

    // A row with an error does not take others with it.
    let mut rows = vec![
        BatchOperation::write(&wp, keys[4].clone(), vec![operations::append(&as_bin!("i", "x"))]),
        BatchOperation::read(&rp, keys[5].clone(), Bins::All),
    ];
    // The client tells of failed rows by an error for the whole, or not; the rows are what counts.
    let _ = client.batch(&bp, &mut rows).await;
    assert_eq!(rows[0].result_code(), Some(ResultCode::BinTypeError));
    assert_eq!(rows[1].result_code(), Some(ResultCode::Ok));

    let mut deletes: Vec<_> = keys.iter().map(|key| BatchOperation::delete(&dp, key.clone())).collect();
    let _ = client.batch(&bp, &mut deletes).await;
    assert_eq!(cluster.record_count("test"), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_answer_of_many_frames() {
    let cluster = cluster(2);
    let client = connect(&cluster).await;
    let big = "x".repeat(100_000);
    let keys = keys("big", 100);
    for key in &keys {
        client.put(&WritePolicy::patient(), key, &[as_bin!("b", big.as_str())]).await.unwrap();
    }
    let rp = BatchReadPolicy::default();
    let mut reads: Vec<_> = keys.iter().map(|key| BatchOperation::read(&rp, key.clone(), Bins::All)).collect();
    client.batch(&BatchPolicy::patient(), &mut reads).await.unwrap();
    for row in &reads {
        assert_eq!(row.record().unwrap().bins.get("b"), Some(&Value::from(big.as_str())));
    }
    assert_eq!(scan(&client, "big", Bins::All).await.len(), 100);
}

/// Scans a set (or everything, if it is empty); answers the digests.
async fn scan(client: &Client, set: &str, bins: Bins) -> BTreeSet<[u8; 20]> {
    scan_with(client, set, bins, PartitionFilter::all(), QueryPolicy::patient()).await
}

async fn scan_with(
    client: &Client,
    set: &str,
    bins: Bins,
    filter: PartitionFilter,
    policy: QueryPolicy,
) -> BTreeSet<[u8; 20]> {
    let found = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&found);
    let statement = Statement::new("test", set, bins);
    let mut query = client
        .query_foreach(&policy, filter, statement, move |record| {
            sink.lock().unwrap().push(record);
            async { true }
        })
        .await
        .unwrap();
    query.wait().await.unwrap();
    let found = std::mem::take(&mut *found.lock().unwrap());
    let total = found.len();
    let digests: BTreeSet<_> = found.into_iter().map(|r| r.unwrap().key.unwrap().digest()).collect();
    assert_eq!(digests.len(), total, "a record came twice");
    digests
}

#[tokio::test(flavor = "multi_thread")]
async fn scans_and_truncation() {
    let cluster = cluster(3);
    let client = connect(&cluster).await;
    for (set, n) in [("one", 1000), ("two", 500)] {
        for key in keys(set, n) {
            client.put(&WritePolicy::patient(), &key, &[as_bin!("i", 1), as_bin!("j", 2)]).await.unwrap();
        }
    }
    let expected: BTreeSet<[u8; 20]> = keys("one", 1000).iter().map(Key::digest).collect();
    assert_eq!(scan(&client, "one", Bins::All).await, expected);
    assert_eq!(scan(&client, "one", Bins::Some(vec!["j".into()])).await, expected);
    assert_eq!(scan(&client, "one", Bins::None).await, expected);
    assert_eq!(scan(&client, "two", Bins::All).await.len(), 500);
    assert_eq!(scan(&client, "", Bins::All).await.len(), 1500);
    assert_eq!(scan(&client, "none", Bins::All).await.len(), 0);
    let part =
        |begin| scan_with(&client, "one", Bins::All, PartitionFilter::by_range(begin, 2048), QueryPolicy::patient());
    let (low, high) = (part(0).await, part(2048).await);
    assert_eq!(low.union(&high).copied().collect::<BTreeSet<_>>(), expected);
    assert!(low.is_disjoint(&high) && low.len() > 350 && high.len() > 350);
    let some = QueryPolicy { max_records: 100, ..QueryPolicy::patient() };
    let some = scan_with(&client, "one", Bins::All, PartitionFilter::all(), some).await;
    assert!(!some.is_empty() && some.len() <= 100 && some.is_subset(&expected), "{}", some.len());

    client.truncate(&AdminPolicy::patient(), "test", "one", 0).await.unwrap();
    assert_eq!(scan(&client, "", Bins::All).await.len(), 500);
    client.truncate(&AdminPolicy::patient(), "test", "", 0).await.unwrap();
    assert_eq!(cluster.record_count("test"), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_come_and_go_under_a_running_client() {
    let cluster = cluster(3);
    let client = connect(&cluster).await;
    let keys = keys("moving", 500);
    for (i, key) in keys.iter().enumerate() {
        client.put(&WritePolicy::patient(), key, &[as_bin!("i", i as i64)]).await.unwrap();
    }
    let ids: Vec<NodeId> = cluster.nodes().iter().map(|node| node.id).collect();
    let all_there = async |what: &str| {
        for (i, key) in keys.iter().enumerate() {
            let mut tries = 0;
            let record = loop {
                match client.get(&ReadPolicy::patient(), key, Bins::All).await {
                    Ok(record) => break record,
                    // Until the next tend, the client may still ask a node that is gone.
                    Err(error) if tries < 100 && code(&error) != Some(ResultCode::KeyNotFoundError) => {
                        tries += 1;
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                    Err(error) => panic!("{what}: key {i}: {error}"),
                }
            };
            assert_eq!(int(&record, "i"), i as i64, "{what}");
        }
    };
    cluster.stop_node(ids[1]).unwrap();
    all_there("a node has stopped").await;
    wait_until("the client has forgotten the node", || client.nodes().len() == 2).await;
    all_there("the client knows").await;
    let before = cluster.stats(ids[1]).unwrap().records;

    cluster.start_node(ids[1]).unwrap();
    all_there("the node is back").await;
    wait_until("the client has found the node again", || client.nodes().len() == 3).await;
    let added = cluster.add_node().unwrap();
    wait_until("the client has found the new node", || client.nodes().len() == 4).await;
    let share = || cluster.stats(added.id).unwrap().records;
    let start = Instant::now();
    while share() == 0 || cluster.stats(ids[1]).unwrap().records == before {
        assert!(start.elapsed() < Duration::from_secs(60), "nodes that came get no requests");
        all_there("partitions move to the new node").await;
    }
    assert_eq!(scan(&client, "moving", Bins::All).await.len(), 500);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_replicas_a_stopped_node_takes_its_records_along() {
    let cluster = EmbeddedCluster::builder().nodes(2).replication_factor(1).start().unwrap();
    let client = connect(&cluster).await;
    let keys = keys("lost", 400);
    for key in &keys {
        client.put(&WritePolicy::patient(), key, &[as_bin!("i", 1)]).await.unwrap();
    }
    let nodes = cluster.nodes();
    let kept = keys.iter().filter(|k| cluster.master(k.partition_id() as u16) == Some(nodes[0].id)).count();
    cluster.stop_node(nodes[1].id).unwrap();
    assert_eq!(cluster.record_count("test"), Some(kept as u64));
    assert!((100..300).contains(&kept), "{kept}");
}

#[tokio::test(flavor = "multi_thread")]
async fn logins() {
    let cluster = EmbeddedCluster::builder().nodes(2).user("admin", "secret").start().unwrap();
    let with = |user: &str, password: &str| {
        let auth_mode = AuthMode::Internal(user.to_owned(), password.to_owned());
        ClientPolicy { auth_mode, fail_if_not_connected: true, ..policy() }
    };
    let client = Client::new(&with("admin", "secret"), &cluster.seeds()).await.unwrap();
    let key = as_key!("test", "auth", 1);
    client.put(&WritePolicy::patient(), &key, &[as_bin!("i", 1)]).await.unwrap();
    assert_eq!(int(&client.get(&ReadPolicy::patient(), &key, Bins::All).await.unwrap(), "i"), 1);
    assert!(Client::new(&with("admin", "wrong"), &cluster.seeds()).await.is_err());
    assert!(Client::new(&with("nobody", "secret"), &cluster.seeds()).await.is_err());
    let anonymous = ClientPolicy { fail_if_not_connected: true, ..policy() };
    assert!(Client::new(&anonymous, &cluster.seeds()).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_cluster_names_are_refused() {
    let cluster = EmbeddedCluster::builder().nodes(1).cluster_name("mine").start().unwrap();
    let named =
        |name: &str| ClientPolicy { cluster_name: Some(name.to_owned()), fail_if_not_connected: true, ..policy() };
    assert!(Client::new(&named("mine"), &cluster.seeds()).await.is_ok());
    assert!(Client::new(&named("other"), &cluster.seeds()).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn tls() {
    let cluster = EmbeddedCluster::builder()
        .nodes(3)
        .user("admin", "secret")
        .tls(TlsOptions::self_signed("nodes.example"))
        .start()
        .unwrap();
    let mut roots = rustls::RootCertStore::empty();
    let pem = cluster.certificate_pem().unwrap().as_bytes();
    for certificate in rustls::pki_types::CertificateDer::pem_slice_iter(pem) {
        roots.add(certificate.unwrap()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let policy = ClientPolicy {
        tls_policy: Some(TlsPolicy::new(config)),
        auth_mode: AuthMode::Internal("admin".to_owned(), "secret".to_owned()),
        fail_if_not_connected: true,
        ..policy()
    };
    let port = cluster.nodes()[0].tls_address.unwrap().port();
    let seed = vec![Host::new_tls("127.0.0.1", "nodes.example", port)];
    let client = Client::new(&policy, &seed).await.unwrap();
    wait_until("the client knows all nodes", || client.nodes().len() == 3).await;
    let big = "y".repeat(300_000);
    for key in &keys("tls", 50) {
        client.put(&WritePolicy::patient(), key, &[as_bin!("b", big.as_str())]).await.unwrap();
        let record = client.get(&ReadPolicy::patient(), key, Bins::All).await.unwrap();
        assert_eq!(record.bins.get("b"), Some(&Value::from(big.as_str())));
    }
    assert_eq!(scan(&client, "tls", Bins::All).await.len(), 50);
    let wrong = vec![Host::new_tls("127.0.0.1", "someone.else", port)];
    assert!(Client::new(&policy, &wrong).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_with_a_certificate_that_logs_in() {
    let mut params = rcgen::CertificateParams::default();
    params.distinguished_name.push(rcgen::DnType::CommonName, "ann");
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let tls = TlsOptions::self_signed("nodes.example").require_client_certificate(certificate.pem());
    let cluster = EmbeddedCluster::builder().nodes(3).user("root", "secret").tls(tls).start().unwrap();
    let mut roots = rustls::RootCertStore::empty();
    let pem = cluster.certificate_pem().unwrap().as_bytes();
    roots.add(rustls::pki_types::CertificateDer::from_pem_slice(pem).unwrap()).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap();
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_client_auth_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let as_whom = |auth_mode: AuthMode| ClientPolicy {
        tls_policy: Some(TlsPolicy::new(config.clone())),
        auth_mode,
        fail_if_not_connected: true,
        ..policy()
    };
    let port = cluster.nodes()[0].tls_address.unwrap().port();
    let seed = vec![Host::new_tls("127.0.0.1", "nodes.example", port)];
    let admin = AdminPolicy::patient();
    let root = as_whom(AuthMode::Internal("root".to_owned(), "secret".to_owned()));
    let root = Client::new(&root, &seed).await.unwrap();
    assert!(Client::new(&as_whom(AuthMode::Pki), &seed).await.is_err(), "no such user yet");
    root.create_pki_user(&admin, "ann", &["read-write"]).await.unwrap();
    let ann = Client::new(&as_whom(AuthMode::Pki), &seed).await.unwrap();
    wait_until("the client knows all nodes", || ann.nodes().len() == 3).await;
    for key in &keys("pki", 20) {
        ann.put(&WritePolicy::patient(), key, &[as_bin!("i", 1)]).await.unwrap();
        assert_eq!(ann.get(&ReadPolicy::patient(), key, Bins::All).await.unwrap().bins.len(), 1);
    }
    let refused = ann.create_pki_user(&admin, "ben", &[]).await.unwrap_err();
    assert_eq!(code(&refused), Some(ResultCode::RoleViolation));
    let refused = root.change_password(&admin, "ann", "secret").await.unwrap_err();
    assert_eq!(code(&refused), Some(ResultCode::ForbiddenPassword));
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_show_up_as_errors_of_the_client() {
    let cluster = cluster(1);
    let client = connect(&cluster).await;
    let key = as_key!("test", "faults", 1);
    let bins = [Bin::new("i", Value::from(1))];
    let wp = WritePolicy { base_policy: once(60_000), ..WritePolicy::patient() };
    let rp = ReadPolicy { base_policy: once(300) };
    let patient = ReadPolicy { base_policy: once(60_000) };
    let set = |action, kind| cluster.set_fault(None, &FaultRule::new(action).on(kind)).unwrap();

    set(FaultAction::Result(18), RequestKind::Write);
    assert_eq!(code(&client.put(&wp, &key, &bins).await.unwrap_err()), Some(ResultCode::DeviceOverload));
    assert_eq!(cluster.record_count("test"), Some(0));
    cluster.clear_faults();

    set(FaultAction::DropAfter, RequestKind::Write);
    let error = client.put(&wp, &key, &bins).await.unwrap_err();
    assert!(error.in_doubt(), "{error}");
    assert_eq!(cluster.record_count("test"), Some(1));
    cluster.clear_faults();

    for action in [FaultAction::Stall, FaultAction::DropBefore, FaultAction::Truncate(12)] {
        set(action.clone(), RequestKind::Read);
        assert!(client.get(&rp, &key, Bins::All).await.is_err(), "{action:?}");
        cluster.clear_faults();
    }
    set(FaultAction::Split, RequestKind::Read);
    assert_eq!(int(&client.get(&patient, &key, Bins::All).await.unwrap(), "i"), 1);
    cluster.clear_faults();

    set(FaultAction::Delay(Duration::from_millis(120)), RequestKind::Read);
    let start = Instant::now();
    client.get(&patient, &key, Bins::All).await.unwrap();
    assert!(start.elapsed() >= Duration::from_millis(120));
    cluster.clear_faults();
    assert_eq!(int(&client.get(&patient, &key, Bins::All).await.unwrap(), "i"), 1);
}

/// One attempt within so many milliseconds.
fn once(milliseconds: u32) -> aerospike_core::policy::BasePolicy {
    aerospike_core::policy::BasePolicy {
        total_timeout: milliseconds,
        socket_timeout: milliseconds,
        max_retries: 0,
        ..aerospike_core::policy::BasePolicy::default()
    }
}
