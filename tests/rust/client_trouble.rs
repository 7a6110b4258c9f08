//! What calls get when the cluster misbehaves: timeouts, resets, garbage, full pools, closing.

mod common;

use std::time::{Duration, Instant};

use aerolane::{
    BatchOperation, BatchPolicy, BatchReadPolicy, Bins, Client, ClientConfig, Error, ErrorKind, Phase, PoolSizing,
    ReadPolicy, Replica, SyncClient, Value, WhenFull, WritePolicy, as_bin,
};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
use common::{Target, policy};

fn read_within(ms: u32, retries: usize) -> ReadPolicy {
    let mut policy = ReadPolicy::default();
    policy.base_policy.total_timeout = ms;
    policy.base_policy.max_retries = retries;
    policy
}

fn write_within(ms: u32, retries: usize) -> WritePolicy {
    let mut policy = WritePolicy::default();
    policy.base_policy.total_timeout = ms;
    policy.base_policy.max_retries = retries;
    policy
}

fn set(target: &Target, rule: &FaultRule) {
    target.faults().set_fault(None, rule).unwrap();
}

fn with_pool(pool: PoolSizing) -> ClientConfig {
    ClientConfig { pool: Some(pool), ..ClientConfig::from(policy()) }
}

/// Fails in time: not before the timeout, and not long after it.
fn times_out<T: std::fmt::Debug>(ms: u64, call: impl FnOnce() -> Result<T, Error>) -> Error {
    let start = Instant::now();
    let error = call().unwrap_err();
    let took = start.elapsed();
    assert!(error.is_client_timeout(), "{error:?}");
    assert!(took >= Duration::from_millis(ms), "{took:?}: {error:?}");
    assert!(took < Duration::from_millis(ms + 500), "{took:?}: {error:?}");
    error
}

#[test]
fn a_stalled_node_times_out_and_a_late_answer_reaches_nobody() {
    let target = Target::embedded(1);
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    for id in 0..10_i64 {
        client.put(&WritePolicy::default(), &target.key(id), &[as_bin!("id", id)]).unwrap();
    }
    set(&target, &FaultRule::new(FaultAction::AnswerDelay(Duration::from_millis(300))).times(2));
    let error = times_out(100, || client.get(&read_within(100, 0), &target.key(1), Bins::All));
    assert!(!error.in_doubt() && error.phase() == Phase::Sent, "{error:?}");
    let error = times_out(100, || client.put(&write_within(100, 0), &target.key(2), &[as_bin!("id", -2)]));
    assert!(error.in_doubt(), "{error:?}");
    // While and after the late answers come, everybody gets his own.
    for id in (0..10_i64).cycle().take(400) {
        let record = client.get(&ReadPolicy::default(), &target.key(id), Bins::All).unwrap();
        assert_eq!(record.bins["id"], Value::Int(if id == 2 { -2 } else { id }));
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(client.stats().total.timeouts, 2, "{}", client.stats());
}

#[test]
fn socket_timeouts_are_retried_within_the_total_timeout() {
    let target = Target::embedded(1);
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    client.put(&WritePolicy::default(), &target.key(1), &[as_bin!("n", 1)]).unwrap();
    set(&target, &FaultRule::new(FaultAction::Stall).on(RequestKind::Read).times(2));
    let mut read = read_within(2000, 5);
    read.base_policy.socket_timeout = 100;
    let start = Instant::now();
    assert_eq!(client.get(&read, &target.key(1), Bins::All).unwrap().bins["n"], Value::Int(1));
    assert!((200..1500).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
    assert_eq!(client.stats().total.retries, 2);
}

#[test]
fn answers_in_pieces_and_without_a_timeout() {
    let target = Target::embedded(1);
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    client.put(&WritePolicy::default(), &target.key(1), &[as_bin!("n", 1), as_bin!("s", "x".repeat(3000))]).unwrap();
    set(&target, &FaultRule::new(FaultAction::Split));
    for timeout in [0, 1000] {
        let record = client.get(&read_within(timeout, 0), &target.key(1), Bins::All).unwrap();
        assert_eq!(record.bins["n"], Value::Int(1));
        let mut rows: Vec<_> =
            (0..3).map(|_| BatchOperation::read(&BatchReadPolicy::default(), target.key(1), Bins::All)).collect();
        client.batch(&BatchPolicy::default(), &mut rows).unwrap();
        assert!(rows.iter().all(|row| row.record().is_some()));
    }
}

#[test]
fn a_reset_makes_a_write_in_doubt_and_a_read_try_again() {
    let target = Target::embedded(1);
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let key = target.key(1);
    client.put(&WritePolicy::default(), &key, &[as_bin!("n", 1)]).unwrap();
    for action in [FaultAction::DropBefore, FaultAction::DropAfter, FaultAction::Truncate(12)] {
        set(&target, &FaultRule::new(action.clone()).on(RequestKind::Write).times(1));
        let error = client.add(&write_within(1000, 0), &key, &[as_bin!("n", 1)]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Connection), "{action:?}: {error:?}");
        assert!(error.in_doubt(), "{action:?}: {error:?}");
        target.faults().clear_faults();
        set(&target, &FaultRule::new(action.clone()).on(RequestKind::Read).times(1));
        client.get(&ReadPolicy::default(), &key, Bins::All).unwrap();
        target.faults().clear_faults();
    }
    let record = client.get(&ReadPolicy::default(), &key, Bins::All).unwrap();
    assert_eq!(record.bins["n"], Value::Int(3), "two of the three were executed");
}

#[test]
fn garbage_is_an_error_and_costs_the_connection() {
    let target = Target::embedded(1);
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let key = target.key(1);
    client.put(&WritePolicy::default(), &key, &[as_bin!("n", 1)]).unwrap();
    let endless = vec![2, 3, 0, 0, 0xff, 0xff, 0xff, 0xff];
    let mut two_frames = vec![2, 3, 0, 0, 0, 0, 0, 22, 22];
    two_frames.extend([0; 21]);
    two_frames.extend(two_frames.clone());
    for bytes in [vec![7; 40], endless, b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), two_frames] {
        set(&target, &FaultRule::new(FaultAction::Garbage(bytes.clone())).on(RequestKind::Read).times(1));
        let error = client.get(&read_within(300, 0), &key, Bins::All).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::BadResponse), "{bytes:?}: {error:?}");
        target.faults().clear_faults();
        client.get(&ReadPolicy::default(), &key, Bins::All).unwrap();
    }
}

#[test]
fn a_full_pool_fails_at_once_or_waits_as_asked() {
    let target = Target::embedded(1);
    let pool = PoolSizing { min: 0, max: 2, when_full: WhenFull::Fail, ..PoolSizing::default() };
    let fails = SyncClient::with_config(with_pool(pool.clone()), target.seeds()).unwrap();
    let waits = SyncClient::with_config(with_pool(PoolSizing { when_full: WhenFull::Wait, ..pool }), target.seeds());
    let waits = waits.unwrap();
    let key = target.key(1);
    waits.put(&WritePolicy::default(), &key, &[as_bin!("n", 1)]).unwrap();
    set(&target, &FaultRule::new(FaultAction::AnswerDelay(Duration::from_millis(200))).on(RequestKind::Read));
    std::thread::scope(|scope| {
        let slow = |client: SyncClient| {
            let key = key.clone();
            move || client.get(&ReadPolicy::default(), &key, Bins::All)
        };
        let busy = [scope.spawn(slow(fails.clone())), scope.spawn(slow(fails.clone()))];
        std::thread::sleep(Duration::from_millis(60));
        let start = Instant::now();
        let error = fails.get(&ReadPolicy::default(), &key, Bins::All).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::PoolExhausted { limit: 2, size: 2, waiting: 0 }), "{error:?}");
        assert!(start.elapsed() < Duration::from_millis(100), "{:?}", start.elapsed());
        for thread in busy {
            thread.join().unwrap().unwrap();
        }
        // Six at a time on two connections: three rounds.
        let start = Instant::now();
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(slow(waits.clone()))).collect();
        std::thread::sleep(Duration::from_millis(60));
        let stats = waits.stats();
        assert_eq!((stats.total.open, stats.total.busy, stats.total.queued), (2, 2, 4), "{stats}");
        // Who cannot wait that long fails in time, and leaves the line.
        let error = times_out(50, || waits.get(&read_within(50, 0), &key, Bins::All));
        assert!(error.phase() == Phase::Queued && error.attempts() == 1, "{error:?}");
        for thread in threads {
            thread.join().unwrap().unwrap();
        }
        assert!((550..1500).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
        assert_eq!(waits.stats().total.queued, 0);
    });
    assert_eq!(fails.stats().total.refused, 1);
}

#[test]
fn closing_wakes_threads_that_are_blocked() {
    let target = Target::embedded(1);
    let pool = PoolSizing { max: 1, ..PoolSizing::default() };
    let client = SyncClient::with_config(with_pool(pool), target.seeds()).unwrap();
    let key = target.key(1);
    set(&target, &FaultRule::new(FaultAction::Stall));
    let start = Instant::now();
    std::thread::scope(|scope| {
        let forever = read_within(0, 0);
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let (client, key, forever) = (&client, &key, forever.clone());
                scope.spawn(move || client.get(&forever, key, Bins::All))
            })
            .collect();
        std::thread::sleep(Duration::from_millis(100));
        client.close().unwrap();
        for thread in threads {
            let error = thread.join().unwrap().unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::ClientClosed), "{error:?}");
        }
    });
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
}

#[test]
fn connections_that_died_at_rest_cost_nothing() {
    let target = Target::embedded(1);
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let key = target.key(1);
    let warm = || {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| client.get(&ReadPolicy::default(), &key, Bins::All));
            }
        });
    };
    client.put(&WritePolicy::default(), &key, &[as_bin!("n", 1)]).unwrap();
    warm();
    let node = target.faults().nodes()[0].id;
    target.faults().stop_node(node).unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    target.faults().start_node(node).unwrap();
    // Neither in doubt nor in need of a retry that counts: the dead ones are noticed before anything is sent.
    client.put(&write_within(5000, 0), &key, &[as_bin!("n", 2)]).unwrap();
    warm();
    assert_eq!(client.get(&read_within(5000, 0), &key, Bins::All).unwrap().bins["n"], Value::Int(2));
}

#[test]
fn a_node_that_fails_takes_only_its_rows_along() {
    let target = Target::embedded(3);
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let tasks = runtime.block_on(Client::new(&policy(), target.seeds())).unwrap();
    for id in 0..100_i64 {
        client.put(&WritePolicy::default(), &target.key(id), &[as_bin!("id", id)]).unwrap();
    }
    let victim = target.faults().nodes()[0].id;
    let reads = || -> Vec<_> {
        let read = BatchReadPolicy::default();
        (0..100_i64).map(|id| BatchOperation::read(&read, target.key(id), Bins::All)).collect()
    };
    let mut batch = BatchPolicy::default();
    batch.base_policy.replica = Replica::Master;
    batch.base_policy.max_retries = 0;
    batch.base_policy.total_timeout = 500;
    let rule = FaultRule::new(FaultAction::DropAfter).on(RequestKind::Batch);
    let check = |rows: &[BatchOperation], result: Result<(), Error>| {
        let error = result.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Connection), "{error:?}");
        let (good, bad): (Vec<_>, Vec<_>) = rows.iter().enumerate().partition(|(_, row)| row.record().is_some());
        assert!(good.len() > 30 && bad.len() > 10, "{} {}", good.len(), bad.len());
        for (id, row) in good {
            assert_eq!(row.record().unwrap().bins["id"], Value::Int(id as i64));
        }
        for (_, row) in bad {
            assert!(!row.in_doubt() && row.node() == error.node(), "{row:?}");
        }
    };
    let mut rows = reads();
    target.faults().set_fault(Some(victim), &rule).unwrap();
    let result = client.batch(&batch, &mut rows);
    check(&rows, result);
    let result = runtime.block_on(tasks.batch(&batch, &mut rows));
    check(&rows, result);

    // With retries on the other replicas everything comes.
    batch.base_policy.replica = Replica::Sequence;
    batch.base_policy.max_retries = 2;
    batch.base_policy.total_timeout = 2000;
    client.batch(&batch, &mut rows).unwrap();
    assert!(rows.iter().all(|row| row.record().is_some()));
    let mut rows = reads();
    runtime.block_on(tasks.batch(&batch, &mut rows)).unwrap();
    assert!(rows.iter().all(|row| row.record().is_some()));

    // Writes of the lost request are in doubt, the others are done.
    let write = aerolane::BatchWritePolicy::default();
    let mut rows: Vec<_> = (0..100_i64)
        .map(|id| {
            let put = aerolane::operations::put(&as_bin!("id", id));
            BatchOperation::write(&write, target.key(id), vec![put])
        })
        .collect();
    let error = client.batch(&BatchPolicy::write_default(), &mut rows).unwrap_err();
    assert!(error.in_doubt(), "{error:?}");
    assert!(rows.iter().any(BatchOperation::in_doubt) && rows.iter().any(|row| row.record().is_some()));
    assert!(rows.iter().all(|row| row.in_doubt() != row.record().is_some()));
}

#[test]
#[cfg(feature = "tls")]
fn everything_works_over_tls_with_a_login() {
    use std::sync::Arc;

    use aerolane::{AuthMode, ClientPolicy};
    use aerolane_embedded::{EmbeddedCluster, TlsOptions};
    use aerospike_core::TlsPolicy;
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;

    let options = TlsOptions::self_signed("db.test");
    let embedded = EmbeddedCluster::builder().nodes(2).user("ann", "secret").tls(options).start().unwrap();
    let mut roots = rustls::RootCertStore::empty();
    let pem = embedded.certificate_pem().unwrap();
    roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let secure = ClientPolicy {
        tls_policy: Some(TlsPolicy::new(tls)),
        auth_mode: AuthMode::Internal("ann".into(), "secret".into()),
        ..policy()
    };
    let seeds: Vec<_> =
        embedded.nodes().iter().map(|node| format!("127.0.0.1:db.test:{}", node.tls_address.unwrap().port())).collect();
    let client = SyncClient::new(&secure, &seeds.join(",")).unwrap();
    let key = |id: i64| aerolane::as_key!("test", "tls", id);
    let big = "x".repeat(300_000);
    std::thread::scope(|scope| {
        for thread in 0..4_i64 {
            let (client, big) = (&client, &big);
            scope.spawn(move || {
                for id in thread * 10..thread * 10 + 10 {
                    let bins = [as_bin!("id", id), as_bin!("big", big.as_str())];
                    client.put(&WritePolicy::default(), &key(id), &bins).unwrap();
                    let record = client.get(&ReadPolicy::default(), &key(id), Bins::All).unwrap();
                    assert_eq!(
                        (&record.bins["id"], &record.bins["big"]),
                        (&Value::Int(id), &Value::from(big.as_str()))
                    );
                }
            });
        }
    });
    let read = BatchReadPolicy::default();
    let mut rows: Vec<_> = (0..40).map(|id| BatchOperation::read(&read, key(id), Bins::All)).collect();
    let mut batch = BatchPolicy::default();
    batch.base_policy.total_timeout = 20_000;
    client.batch(&batch, &mut rows).unwrap();
    assert!((0..40).zip(&rows).all(|(id, row)| row.record().unwrap().bins["id"] == Value::Int(id)));
    let error = times_out(80, || {
        embedded.set_fault(None, &FaultRule::new(FaultAction::Stall)).unwrap();
        client.get(&read_within(80, 0), &key(1), Bins::All)
    });
    assert_eq!(error.phase(), Phase::Sent, "{error:?}");
}
