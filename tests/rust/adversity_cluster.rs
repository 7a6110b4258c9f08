//! What calls get when nodes die, stall, leave, come back and join, and when the tend fails, through each of the three
//! clients: at most the requests in flight are lost, and everything else finds its way.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::any_client::{AnyClient, Kind, on_embedded, reading, until, within, writing};
use crate::common::{Patient, Target, patient_writes, policy};
use aerolane::{
    BatchOperation, BatchPolicy, BatchReadPolicy, BatchWritePolicy, Bins, ClientConfig, ClientPolicy, ErrorKind, Key,
    Phase, Replica, ResultCode, Value, as_bin, operations,
};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
use aerolane_embedded::{EmbeddedCluster, NodeId};

const REPLICAS: [Replica; 5] =
    [Replica::Master, Replica::Sequence, Replica::MasterProles, Replica::Random, Replica::PreferRack];

/// Runs a scenario on each client, on a cluster of 3 nodes of its own each time.
fn on_each(config: impl Into<ClientConfig>, scenario: impl Fn(&Target, &AnyClient) + Send + 'static) {
    if !on_embedded("changes the cluster") {
        return;
    }
    let config = config.into();
    within(360, move || {
        for kind in Kind::ALL {
            let target = Target::embedded(3);
            let client = AnyClient::open(kind, config.clone(), target.seeds()).unwrap();
            scenario(&target, &client);
        }
    });
}

fn master(target: &Target, key: &Key) -> NodeId {
    target.faults().master(aerolane_wire::digest::partition_id(&key.digest())).unwrap()
}

/// Keys of one node.
fn keys_of(target: &Target, node: NodeId, count: usize) -> Vec<Key> {
    (0_i64..).map(|id| target.key(id)).filter(|key| master(target, key) == node).take(count).collect()
}

fn put(client: &AnyClient, key: &Key, n: i64) {
    client.put(&writing(60_000, 0), key, &[as_bin!("n", n)]).unwrap();
}

fn put_all(client: &AnyClient, keys: &[Key], n: i64) {
    for key in keys {
        put(client, key, n);
    }
}

fn get(client: &AnyClient, key: &Key) -> i64 {
    match client.get(&reading(60_000, 5), key, Bins::All).unwrap().bins["n"] {
        Value::Int(n) => n,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn a_node_that_dies_with_requests_in_flight() {
    on_each(policy(), |target, client| {
        let node = target.faults().nodes()[1].id;
        let keys = keys_of(target, node, 12);
        put_all(client, &keys, 1);
        // Executed or not: the answers never come.
        for kind in [RequestKind::Read, RequestKind::Write] {
            let stall = FaultRule::new(FaultAction::AnswerDelay(Duration::from_secs(600))).on(kind);
            target.faults().set_fault(Some(node), &stall).unwrap();
        }
        let threads: Vec<_> = (0..12)
            .map(|id| {
                let (client, key) = (client.clone(), keys[id].clone());
                std::thread::spawn(move || match id % 3 {
                    // No time limit: only the loss of the connection can end the wait.
                    0 => client.put(&writing(0, 0), &key, &[as_bin!("n", 2)]).map(|()| 2),
                    1 => client.put(&writing(60_000, 5), &key, &[as_bin!("n", 2)]).map(|()| 2),
                    _ => client.get(&reading(60_000, 5), &key, Bins::All).map(|record| match record.bins["n"] {
                        Value::Int(n) => n,
                        ref other => panic!("{other:?}"),
                    }),
                })
            })
            .collect();
        until("all are under way", || client.stats().total.in_flight == 12);
        std::thread::sleep(Duration::from_millis(200));
        target.faults().stop_node(node).unwrap();
        for (id, thread) in threads.into_iter().enumerate() {
            let outcome = thread.join().unwrap();
            match id % 3 {
                0 => {
                    let error = outcome.unwrap_err();
                    assert!(matches!(error.kind(), ErrorKind::Connection), "{error:?}");
                    assert!(error.in_doubt() && error.phase() == Phase::Sent, "{error:?}");
                    assert!(error.node().is_some() && error.elapsed().is_some(), "{error:?}");
                }
                1 => assert_eq!(outcome.unwrap(), 2, "tried again, on the other node"),
                _ => assert_eq!(outcome.unwrap(), 1, "tried again, on the other node"),
            }
        }
        // And life goes on.
        for key in &keys {
            put(client, key, 7);
            assert_eq!(get(client, key), 7);
        }
        let total = client.stats().total;
        assert_eq!((total.in_flight, total.queued), (0, 0), "{}", client.stats());
    });
}

#[test]
fn after_the_loss_of_a_node_every_replica_policy_finds_the_record() {
    let racks = ClientPolicy { rack_ids: Some(vec![0]), ..policy() };
    on_each(racks, |target, client| {
        let keys: Vec<_> = (0..30_i64).map(|id| target.key(id)).collect();
        for (n, key) in keys.iter().enumerate() {
            put(client, key, n as i64);
        }
        for (round, node) in target.faults().nodes().iter().enumerate() {
            target.faults().stop_node(node.id).unwrap();
            for replica in REPLICAS {
                for (n, key) in keys.iter().enumerate() {
                    let mut read = reading(60_000, 2);
                    read.base_policy.replica = replica;
                    let record = client.get(&read, key, Bins::All);
                    let record = record.unwrap_or_else(|error| panic!("{replica:?}, round {round}: {error}"));
                    assert_eq!(record.bins["n"], Value::Int(n as i64), "{replica:?}");
                }
                let mut write = writing(60_000, 2);
                write.base_policy.replica = replica;
                client.put(&write, &keys[round], &[as_bin!("n", round as i64)]).unwrap();
                let mut batch = BatchPolicy::patient();
                (batch.base_policy.total_timeout, batch.base_policy.max_retries) = (60_000, 5);
                batch.base_policy.replica = replica;
                let row = |key: &Key| BatchOperation::read(&BatchReadPolicy::default(), key.clone(), Bins::All);
                let (rows, result) = client.batch(&batch, keys.iter().map(row).collect());
                result.unwrap_or_else(|error| panic!("{replica:?}, round {round}: {error}"));
                for (n, row) in rows.iter().enumerate() {
                    assert_eq!(row.record().unwrap().bins["n"], Value::Int(n as i64), "{replica:?}");
                }
            }
            target.faults().start_node(node.id).unwrap();
            // The next one goes only when this one is back for the client, too: two lost nodes lose records.
            until("the node is back", || client.stats().nodes.iter().filter(|node| node.active).count() == 3);
        }
    });
}

#[test]
fn traffic_goes_on_while_nodes_stop_start_and_join() {
    on_each(policy(), |target, client| {
        let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for thread in 0..6_i64 {
                let (stop, done) = (&stop, &done);
                scope.spawn(move || {
                    let mut last = [0_i64; 10];
                    let (mut write, mut read) = (writing(60_000, 20), reading(60_000, 20));
                    write.base_policy.sleep_between_retries = 5;
                    read.base_policy.sleep_between_retries = 5;
                    while !stop.load(Ordering::Relaxed) {
                        for (id, last) in (0..).zip(&mut last) {
                            let key = target.key(thread * 1000 + id);
                            *last += 1;
                            let number = *last;
                            client.put(&write, &key, &[as_bin!("n", number), as_bin!("thread", thread)]).unwrap();
                            let record = client.get(&read, &key, Bins::All).unwrap();
                            assert_eq!(record.bins["n"], Value::Int(number));
                            assert_eq!(record.bins["thread"], Value::Int(thread));
                            done.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
            // Each step lasts until there was some traffic, however slow the machine is.
            let go_on = || {
                let before = done.load(Ordering::Relaxed);
                until("traffic goes on", || done.load(Ordering::Relaxed) >= before + 60);
            };
            let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let cluster = target.faults();
                go_on();
                let new = cluster.add_node().unwrap();
                until("the client uses the new node", || cluster.stats(new.id).unwrap().records > 20);
                for node in cluster.nodes() {
                    cluster.stop_node(node.id).unwrap();
                    go_on();
                    cluster.start_node(node.id).unwrap();
                    until("it is back", || client.stats().nodes.iter().filter(|node| node.active).count() == 4);
                    go_on();
                }
                let nodes = cluster.nodes();
                for partition in (0..4096).step_by(31) {
                    cluster.set_master(partition, Some(nodes[usize::from(partition) % 4].id)).unwrap();
                }
                go_on();
                cluster.set_fault(None, &FaultRule::new(FaultAction::RejectUnowned)).unwrap();
                go_on();
                cluster.clear_faults();
                go_on();
            }));
            stop.store(true, Ordering::Relaxed);
            run.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        });
        until("nothing in flight", || {
            let total = client.stats().total;
            (total.in_flight, total.queued, total.orphans) == (0, 0, 0)
        });
    });
}

#[test]
fn partitions_that_move_are_followed_without_waiting_for_the_tend() {
    // So slow a tend that it cannot be what helps.
    let slow = ClientPolicy { tend_interval: 600_000, ..ClientPolicy::default() };
    on_each(slow, |target, client| {
        let keys: Vec<_> = (0..20_i64).map(|id| target.key(id)).collect();
        put_all(client, &keys, 1);
        target.faults().set_fault(None, &FaultRule::new(FaultAction::RejectUnowned)).unwrap();
        let nodes = target.faults().nodes();
        for key in &keys {
            let partition = aerolane_wire::digest::partition_id(&key.digest());
            let old = master(target, key);
            let other = nodes.iter().find(|node| node.id != old).unwrap().id;
            target.faults().set_master(partition, Some(other)).unwrap();
        }
        let start = Instant::now();
        for key in &keys {
            let mut write = writing(60_000, 1_000);
            write.base_policy.sleep_between_retries = 20;
            write.base_policy.replica = Replica::Master;
            client.put(&write, key, &[as_bin!("n", 2)]).unwrap();
            assert_eq!(get(client, key), 2);
        }
        assert!(start.elapsed() < Duration::from_secs(100), "{:?}", start.elapsed());
    });
}

#[test]
fn a_tend_that_fails_for_a_while_stops_nothing() {
    let quick = ClientPolicy { timeout: 300, ..policy() };
    on_each(quick, |target, client| {
        let keys: Vec<_> = (0..20_i64).map(|id| target.key(id)).collect();
        let rule = |action| FaultRule::new(action).on(RequestKind::Info);
        for (round, action) in [FaultAction::DropBefore, FaultAction::Stall].into_iter().enumerate() {
            target.faults().set_fault(None, &rule(action)).unwrap();
            let start = Instant::now();
            // Some tends and more.
            while start.elapsed() < Duration::from_millis(1500) {
                for (n, key) in keys.iter().enumerate() {
                    put(client, key, n as i64);
                    assert_eq!(get(client, key), n as i64);
                }
            }
            target.faults().clear_faults();
            // It recovers: a new node is found and used.
            let new = target.faults().add_node().unwrap();
            until("the new node is found", || {
                client.stats().nodes.iter().filter(|node| node.active).count() == 4 + round
            });
            until("and used", || {
                put_all(client, &keys, 0);
                let any = (0..1000_i64).map(|id| target.key(id)).find(|key| master(target, key) == new.id);
                put(client, &any.unwrap(), 0);
                target.faults().stats(new.id).unwrap().records > 0
            });
        }
    });
}

#[test]
fn with_no_node_left_calls_end_in_time_and_begin_again_when_one_is_back() {
    on_each(policy(), |target, client| {
        let key = target.key("alone");
        put(client, &key, 1);
        let ids: Vec<_> = target.faults().nodes().iter().map(|node| node.id).collect();
        target.faults().stop_nodes(&ids).unwrap();
        let start = Instant::now();
        for _ in 0..3 {
            let error = client.get(&reading(300, 1000), &key, Bins::All).unwrap_err();
            assert!(!error.in_doubt() && error.elapsed().is_some(), "{error:?}");
        }
        // Without a limit it ends, too: what cannot be sent is not tried for ever.
        let error = client.put(&writing(0, 2), &key, &[as_bin!("n", 2)]).unwrap_err();
        assert!(error.attempts() >= 1, "{error:?}");
        assert!(start.elapsed() < Duration::from_secs(100), "{:?}", start.elapsed());
        let patient = {
            let (client, key) = (client.clone(), key.clone());
            let mut write = writing(60_000, 100_000);
            write.base_policy.sleep_between_retries = 20;
            std::thread::spawn(move || client.put(&write, &key, &[as_bin!("n", 3)]))
        };
        std::thread::sleep(Duration::from_millis(500));
        for id in ids {
            target.faults().start_node(id).unwrap();
        }
        patient.join().unwrap().unwrap();
        assert_eq!(get(client, &key), 3);
    });
}

#[test]
fn a_batch_write_that_was_sent_and_has_no_node_left_is_in_doubt() {
    if !on_embedded("stops a node") {
        return;
    }
    within(360, || {
        // Answers that do not come in time, or are lost with their connections; one row goes as a plain command.
        for (kind, lost, rows) in
            Kind::ALL.into_iter().flat_map(|kind| [(kind, false, 5), (kind, true, 5), (kind, true, 1)])
        {
            let cluster = EmbeddedCluster::builder().nodes(2).replication_factor(1).start().unwrap();
            let client = AnyClient::open(kind, policy(), &cluster.seeds()).unwrap();
            let node = cluster.nodes()[0].id;
            let owned = |key: &Key| cluster.master(aerolane_wire::digest::partition_id(&key.digest())) == Some(node);
            let keys = (0_i64..).map(|id| Key::new("test", "s", Value::Int(id)).unwrap()).filter(owned);
            let keys: Vec<_> = keys.take(rows).collect();
            for kind in [RequestKind::Batch, RequestKind::Write] {
                let late = FaultRule::new(FaultAction::AnswerDelay(Duration::from_secs(300))).on(kind);
                cluster.set_fault(None, &late).unwrap();
            }
            let write = |key: &Key| {
                BatchOperation::write(&BatchWritePolicy::default(), key.clone(), [operations::put(&as_bin!("n", 1))])
            };
            let mut rows: Vec<_> = keys.iter().map(write).collect();
            if rows.len() > 1 {
                rows.push(BatchOperation::read(&BatchReadPolicy::default(), keys[0].clone(), Bins::All));
            }
            let mut policy = patient_writes();
            policy.base_policy.max_retries = 1000;
            policy.base_policy.socket_timeout = if lost { 60_000 } else { 500 };
            let batch = {
                let client = client.clone();
                std::thread::spawn(move || client.batch(&policy, rows))
            };
            until("the writes are carried out", || cluster.record_count("test") == Some(keys.len() as u64));
            if !lost {
                until("their answers are overdue", || client.stats().total.timeouts > 0);
            }
            cluster.hold_partitions(true);
            cluster.stop_node(node).unwrap();
            let (rows, result) = batch.join().unwrap();
            for row in &rows {
                assert_eq!(row.result_code(), Some(ResultCode::PartitionUnavailable), "{row:?}");
                assert_eq!(row.in_doubt(), row.has_write(), "{row:?}");
                assert!(
                    row.error().unwrap().attempts() > 1 && !row.error().unwrap().sub_errors().is_empty(),
                    "{row:?}"
                );
            }
            let error = result.unwrap_err();
            assert!(error.in_doubt() && matches!(error.kind(), ErrorKind::InvalidNode), "{error:?}");
            // What was never sent is not in doubt.
            let (rows, result) = client.batch(&patient_writes(), keys.iter().map(write).collect());
            assert!(!result.unwrap_err().in_doubt() && !rows.iter().any(BatchOperation::in_doubt), "{rows:?}");
        }
    });
}
