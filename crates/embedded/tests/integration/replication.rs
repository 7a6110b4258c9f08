//! What replicas have and when: lag, lost nodes, nodes that come back, migrations, rosters.

use crate::common::{Raw, batch, digest, get, open, put, scan, value, write};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
use aerolane_embedded::{Builder, ConflictResolution, EmbeddedCluster, NamespaceOptions, NodeInfo};
use aerolane_wire::batch::RowHeader;
use aerolane_wire::message::{MessageHeader, field, info1, info2, info3, op};
use aerolane_wire::particle::Particle;
use std::time::{Duration, Instant};

/// The longest lag that there is.
const LONGEST: Duration = Duration::from_secs(600);
const OK: u8 = 0;
const NOT_FOUND: u8 = 2;
const OUT_OF_SPACE: u8 = 8;
const TIMEOUT: u8 = 9;
const UNAVAILABLE: u8 = 11;

fn builder(nodes: usize) -> Builder {
    EmbeddedCluster::builder().nodes(nodes).replication_factor(2)
}

fn keeping(nodes: usize, policy: ConflictResolution) -> EmbeddedCluster {
    let options = NamespaceOptions::new("test").keep_records(true).conflict_resolution(policy);
    builder(nodes).namespace_with(options).start().unwrap()
}

/// The nodes that hold a partition, the master first: those that answer a query over it.
fn owners(cluster: &EmbeddedCluster, pid: u16) -> Vec<NodeInfo> {
    let master = cluster.master(pid);
    let holds = |node: &NodeInfo| {
        let mut raw = Raw::connect(node.address);
        raw.send(&scan([pid]));
        !raw.until_last().iter().any(|answer| answer.partition_done && answer.code == UNAVAILABLE)
    };
    let mut nodes: Vec<_> = cluster.nodes().into_iter().filter(|node| node.live && holds(node)).collect();
    nodes.sort_by_key(|node| Some(node.id) != master);
    nodes
}

/// A request of `put` that is answered when the master has it.
fn put_on_master(digest: [u8; 20], value: i64) -> Vec<u8> {
    let mut request = put(digest, value);
    // Frame header 8, then header size, info1, info2, info3.
    request[8 + 3] |= info3::COMMIT_MASTER;
    request
}

#[test]
fn a_lagging_replica_answers_with_the_record_of_before() {
    let cluster = builder(3).start().unwrap();
    let (pid, key) = (7, digest(7, 1));
    let nodes = owners(&cluster, pid);
    assert_eq!(nodes.len(), 2);
    let mut raws = open(&nodes);
    assert_eq!(raws[0].put(key, 1).unwrap().code, OK);
    assert_eq!((value(&mut raws[0], key), value(&mut raws[1], key)), (Ok(1), Ok(1)), "without lag both have it");
    cluster.set_replication_lag(Some(nodes[1].id), LONGEST).unwrap();
    raws[0].send(&put_on_master(key, 2));
    assert_eq!(raws[0].answer().unwrap().code, OK);
    assert_eq!((value(&mut raws[0], key), value(&mut raws[1], key)), (Ok(2), Ok(1)));
    // Who asks the replica to write is forwarded to the master.
    raws[1].send(&put_on_master(key, 3));
    assert_eq!(raws[1].answer().unwrap().generation, 3);
    assert_eq!((value(&mut raws[0], key), value(&mut raws[1], key)), (Ok(3), Ok(1)));
    // A node that holds nothing of the partition asks its master.
    let third = cluster.nodes().into_iter().find(|node| !nodes.contains(node)).unwrap();
    assert_eq!(value(&mut Raw::connect(third.address), key), Ok(3));
    cluster.set_replication_lag(None, Duration::ZERO).unwrap();
    assert_eq!(value(&mut raws[1], key), Ok(3), "what was on its way has arrived");
}

#[test]
fn a_write_is_answered_when_the_replicas_have_it_or_in_doubt() {
    let cluster = builder(2).start().unwrap();
    let key = digest(7, 1);
    let nodes = owners(&cluster, 7);
    let mut raws = open(&nodes);
    let lag = Duration::from_millis(80);
    cluster.set_replication_lag(None, lag).unwrap();
    let begun = Instant::now();
    assert_eq!(raws[0].put(key, 1).unwrap().code, OK);
    assert!(begun.elapsed() >= lag);
    assert_eq!(value(&mut raws[1], key), Ok(1), "who has the answer finds the write on the replica");
    // The request's own timeout of 30 ms comes first: the write is there, and the client does not know.
    let mut hasty = put(key, 2);
    hasty[8 + 14..8 + 18].copy_from_slice(&30_u32.to_be_bytes());
    raws[0].send(&hasty);
    assert_eq!(raws[0].answer().unwrap().code, TIMEOUT);
    assert_eq!(value(&mut raws[0], key), Ok(2));
    assert!(cluster.set_replication_lag(None, 2 * LONGEST).is_err());
}

/// A batch that writes these records, with a limit of 30 ms.
fn hasty_batch(digests: &[[u8; 20]], header: &RowHeader) -> Vec<u8> {
    let limit = MessageHeader { transaction_ttl: 30, ..MessageHeader::default() };
    batch(digests.len() as u32, limit, |rows, n| {
        rows.row(n, &digests[n as usize], header, |row| {
            row.field(field::NAMESPACE, b"test");
            row.op(op::WRITE, b"i", Particle::Integer(5))
        })
    })
}

#[test]
fn rows_of_a_batch_are_in_doubt_when_the_replicas_take_too_long() {
    let cluster = builder(2).start().unwrap();
    let (keys, nodes) = ([digest(7, 1), digest(7, 2)], owners(&cluster, 7));
    let mut raws = open(&nodes);
    cluster.set_replication_lag(None, LONGEST).unwrap();
    let mut codes = |info3| -> Vec<u8> {
        let header = RowHeader { info3, ..RowHeader::write(0, info2::WRITE, 0, 0, 0) };
        raws[0].send(&hasty_batch(&keys, &header));
        raws[0].until_last().iter().filter(|answer| !answer.last).map(|answer| answer.code).collect()
    };
    assert_eq!(codes(0), [TIMEOUT; 2]);
    assert_eq!(codes(info3::COMMIT_MASTER), [OK; 2]);
    assert_eq!((value(&mut raws[0], keys[1]), value(&mut raws[1], keys[1])), (Ok(5), Err(NOT_FOUND)));
}

#[test]
fn a_held_partition_whose_master_is_down_times_out_until_it_is_moved_by_hand() {
    let cluster = builder(3).start().unwrap();
    let (key, nodes) = (digest(7, 1), owners(&cluster, 7));
    let mut replica = Raw::connect(nodes[1].address);
    assert_eq!(replica.put(key, 1).unwrap().code, OK);
    cluster.hold_partitions(true);
    cluster.stop_node(nodes[0].id).unwrap();
    let limit = Duration::from_millis(30);
    let mut hasty = put(key, 2);
    hasty[8 + 14..8 + 18].copy_from_slice(&(limit.as_millis() as u32).to_be_bytes());
    let begun = Instant::now();
    replica.send(&hasty);
    assert_eq!(replica.answer().unwrap().code, TIMEOUT);
    assert!(begun.elapsed() >= limit, "as long as a server waits that has forwarded it");
    assert_eq!(value(&mut replica, key), Ok(1), "the replica answers reads");
    cluster.set_master(7, Some(nodes[1].id)).unwrap();
    assert_eq!(cluster.master(7), Some(nodes[1].id));
    assert_eq!(replica.put(key, 3).unwrap().code, OK);
    // All others are where they were.
    let other = (0..4096).find(|pid| cluster.master(*pid) == Some(nodes[0].id));
    assert!(other.is_some());
}

#[test]
fn a_master_that_dies_takes_what_it_had_not_copied_with_it() {
    let cluster = builder(3).start().unwrap();
    let (kept, lost) = (digest(7, 1), digest(7, 2));
    let nodes = owners(&cluster, 7);
    let mut raws = open(&nodes);
    assert_eq!(raws[0].put(kept, 1).unwrap().code, OK);
    cluster.set_replication_lag(None, LONGEST).unwrap();
    for (key, value) in [(kept, 2), (lost, 2)] {
        raws[0].send(&put_on_master(key, value));
        assert_eq!(raws[0].answer().unwrap().code, OK, "acknowledged");
    }
    cluster.stop_node(nodes[0].id).unwrap();
    assert_eq!(cluster.master(7), Some(nodes[1].id));
    assert_eq!((value(&mut raws[1], kept), value(&mut raws[1], lost)), (Ok(1), Err(NOT_FOUND)));
    // Its replicas are complete again, on the third node.
    let now = owners(&cluster, 7);
    assert_eq!((now.len(), value(&mut open(&now)[1], kept)), (2, Ok(1)));
}

#[test]
fn a_node_that_comes_back_brings_its_records_and_conflicts_are_resolved() {
    for (policy, expected) in [(ConflictResolution::Generation, 3), (ConflictResolution::LastUpdateTime, 9)] {
        let cluster = keeping(2, policy);
        let [both, old, gone] = [1, 2, 3].map(|n| digest(7, n));
        let nodes = owners(&cluster, 7);
        let mut raws = open(&nodes);
        assert_eq!(raws[0].put(gone, 1).unwrap().code, OK);
        cluster.set_replication_lag(None, LONGEST).unwrap();
        // Three writes on the master alone, and one record that only it has.
        for (key, value) in [(both, 1), (both, 2), (both, 3), (old, 5)] {
            raws[0].send(&put_on_master(key, value));
            assert_eq!(raws[0].answer().unwrap().code, OK);
        }
        cluster.stop_node(nodes[0].id).unwrap();
        cluster.set_replication_lag(None, Duration::ZERO).unwrap();
        // A later write of a lower generation on the other node; one record is deleted there.
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(raws[1].put(both, 9).unwrap().generation, 1);
        raws[1].send(&delete(gone));
        assert_eq!(raws[1].answer().unwrap().code, OK);
        assert_eq!(value(&mut raws[1], old), Err(NOT_FOUND));
        cluster.start_node(nodes[0].id).unwrap();
        let mut raws = open(&nodes);
        for raw in &mut raws {
            assert_eq!(value(raw, both), Ok(expected), "{policy}");
            assert_eq!(value(raw, old), Ok(5));
            assert_eq!(value(raw, gone), Ok(1), "deletes that are not durable are undone, as in the server");
        }
        assert_eq!(cluster.record_count("test"), Some(3));
        assert_eq!(cluster.master(7), Some(nodes[0].id));
    }
}

fn delete(digest: [u8; 20]) -> Vec<u8> {
    let mut request = write(digest, |_| {});
    request[8 + 2] |= info2::DELETE;
    request
}

#[test]
fn a_node_without_storage_comes_back_empty_and_is_filled() {
    let cluster = builder(2).start().unwrap();
    let nodes = cluster.nodes();
    let mut raw = Raw::connect(nodes[1].address);
    for pid in 0..64 {
        assert_eq!(raw.put(digest(pid, 1), pid.into()).unwrap().code, OK);
    }
    cluster.stop_node(nodes[0].id).unwrap();
    raw.send(&delete(digest(3, 1)));
    assert_eq!(raw.answer().unwrap().code, OK);
    cluster.start_node(nodes[0].id).unwrap();
    assert_eq!(cluster.record_count("test"), Some(63), "nobody brings back what was deleted");
    cluster.stop_node(nodes[1].id).unwrap();
    let mut raw = Raw::connect(nodes[0].address);
    let found = (0..64).filter(|pid| value(&mut raw, digest(*pid, 1)) == Ok((*pid).into())).count();
    assert_eq!(found, 63);
}

#[test]
fn the_old_master_answers_until_a_partition_has_moved() {
    let cluster = builder(2).replication_factor(1).migration_rate(Some(0)).start().unwrap();
    let mut raw = Raw::connect(cluster.nodes()[0].address);
    for pid in 0..512 {
        for n in 1..=4 {
            assert_eq!(raw.put(digest(pid, n), 1).unwrap().code, OK);
        }
    }
    let before: Vec<_> = (0..512).map(|pid| cluster.master(pid)).collect();
    let added = cluster.add_node().unwrap();
    let mut third = Raw::connect(added.address);
    assert_eq!((0..512).map(|pid| cluster.master(pid)).collect::<Vec<_>>(), before, "nothing has moved yet");
    let left = cluster.migrating("test").unwrap();
    assert!(left > 1000, "{left} partitions are to be moved");
    assert_eq!(raw.info("cluster-stable"), "ERROR:7:unstable cluster");
    assert!(!raw.info("cluster-stable:ignore-migrations=true").starts_with("ERROR"));
    assert!(raw.info("namespace/test").contains(&format!(";migrate_tx_partitions_remaining={left};")));
    // Writes go on meanwhile, whoever is asked, and the new node has them when it becomes master.
    let generation: u64 = third.info("partition-generation").parse().unwrap();
    let mut moved = 0;
    for round in 0_i64.. {
        let some = cluster.migrate(100);
        moved += some;
        for pid in [0, 100, 200, 300, 400, 500] {
            assert_eq!(third.put(digest(pid, 1), round).unwrap().code, OK);
            assert_eq!(value(&mut raw, digest(pid, 1)), Ok(round));
        }
        if some < 100 {
            break;
        }
    }
    assert!(moved > 400, "{moved} records");
    assert_eq!((cluster.migrating("test"), cluster.record_count("test")), (Some(0), Some(2048)));
    assert!(third.info("partition-generation").parse::<u64>().unwrap() > generation, "clients are told");
    let own: Vec<u16> = (0..512).filter(|pid| cluster.master(*pid) == Some(added.id)).collect();
    assert!(own.len() > 100);
    third.send(&scan(own.iter().copied()));
    let found = third.until_last().iter().filter(|answer| answer.digest.is_some()).count();
    assert_eq!(found, own.len() * 4);
    assert!(!raw.info("cluster-stable").starts_with("ERROR"));
}

#[test]
fn migrations_keep_their_rate_and_end() {
    let cluster = builder(1).migration_rate(Some(2000)).start().unwrap();
    let mut raw = Raw::connect(cluster.nodes()[0].address);
    for pid in 0..400 {
        assert_eq!(raw.put(digest(pid, 1), 1).unwrap().code, OK);
    }
    let begun = Instant::now();
    let added = cluster.add_node().unwrap();
    while cluster.migrating("test") != Some(0) {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    // Ticks of 200 records each: the first may come at once.
    assert!(begun.elapsed() >= Duration::from_millis(90));
    cluster.stop_node(cluster.nodes()[0].id).unwrap();
    let mut raw = Raw::connect(added.address);
    assert!((0..400).all(|pid| value(&mut raw, digest(pid, 1)) == Ok(1)));
    // What is held back goes on at once when the rate is taken away.
    cluster.set_migration_rate(Some(0));
    cluster.add_node().unwrap();
    assert!(cluster.migrating("test") > Some(0));
    cluster.set_migration_rate(None);
    assert_eq!(cluster.migrating("test"), Some(0));
}

#[test]
fn a_record_that_only_an_old_version_has_is_found_when_it_is_written() {
    let cluster = keeping(2, ConflictResolution::Generation);
    let [key, other] = [1, 2].map(|n| digest(7, n));
    let nodes = owners(&cluster, 7);
    let mut raws = open(&nodes);
    cluster.set_replication_lag(None, LONGEST).unwrap();
    for value in [1, 2] {
        for key in [key, other] {
            raws[0].send(&put_on_master(key, value));
            assert_eq!(raws[0].answer().unwrap().code, OK);
        }
    }
    cluster.stop_node(nodes[0].id).unwrap();
    cluster.set_replication_lag(None, Duration::ZERO).unwrap();
    cluster.set_migration_rate(Some(0));
    cluster.start_node(nodes[0].id).unwrap();
    let mut raws = open(&nodes);
    assert_eq!(value(&mut raws[0], key), Err(NOT_FOUND), "a read asks the acting master alone");
    let mut thorough = get(key);
    thorough[8 + 1] |= info1::READ_MODE_AP_ALL;
    raws[0].send(&thorough);
    assert_eq!(raws[0].answer().unwrap().generation, 2, "but one that asks for all");
    assert_eq!(raws[0].put(other, 3).unwrap().generation, 3, "and a write");
    cluster.set_migration_rate(None);
    assert_eq!((value(&mut raws[1], key), value(&mut raws[1], other)), (Ok(2), Ok(3)));
}

fn with_roster(nodes: usize) -> EmbeddedCluster {
    let options = NamespaceOptions::new("test").strong_consistency(true).roster(true).keep_records(true);
    builder(nodes).namespace_with(options).start().unwrap()
}

#[test]
fn a_partition_without_its_owners_is_unavailable() {
    let cluster = with_roster(5);
    let key = digest(7, 1);
    let nodes = owners(&cluster, 7);
    let other = cluster.nodes().into_iter().find(|node| !nodes.contains(node)).unwrap();
    let mut raw = Raw::connect(other.address);
    let regime = |raw: &mut Raw| raw.info("replicas").split([':', ',']).nth(1).unwrap().parse::<u32>().unwrap();
    let first = regime(&mut raw);
    assert!(first > 0);
    assert_eq!(raw.put(key, 1).unwrap().code, OK);
    cluster.stop_nodes(&[nodes[0].id, nodes[1].id]).unwrap();
    assert!(regime(&mut raw) > first, "clients believe the newer map");
    assert_eq!(raw.put(key, 2).unwrap().code, UNAVAILABLE);
    assert_eq!((value(&mut raw, key), cluster.master(7)), (Err(UNAVAILABLE), None));
    assert!(!raw.info("namespace/test").contains(";unavailable_partitions=0;"));
    assert_eq!(raw.info("cluster-stable"), "ERROR:7:unstable cluster");
    // One of its owners is enough, with most of the nodes.
    cluster.start_node(nodes[1].id).unwrap();
    assert_eq!(value(&mut raw, key), Ok(1));
    assert_eq!(raw.put(key, 3).unwrap().code, OK);
    cluster.start_node(nodes[0].id).unwrap();
    assert_eq!(value(&mut Raw::connect(nodes[0].address), key), Ok(3), "the newer record, whatever it had");
    assert!(raw.info("namespace/test").contains(";unavailable_partitions=0;"));
}

#[test]
fn rosters_are_changed_by_the_principal() {
    let options = NamespaceOptions::new("test").strong_consistency(true);
    let cluster = builder(3).namespace_with(options).start().unwrap();
    let nodes = cluster.nodes();
    let mut raws = open(&nodes);
    assert!(raws[0].info("roster:namespace=test").starts_with("roster=null:pending_roster=null:observed_nodes="));
    let all = nodes.iter().map(|node| node.id.to_string()).collect::<Vec<_>>().join(",");
    assert_eq!(raws[0].info(&format!("roster-set:namespace=test;nodes={all}")), "ok");
    assert_eq!(raws[0].info("recluster:"), "ignored-by-non-principal");
    assert_eq!(raws[2].info("recluster:"), "ok", "the highest id");
    assert!(raws[0].info("roster:namespace=test").starts_with(&format!("roster={all}:pending_roster={all}:")));
    assert_eq!(raws[0].info("roster-set:namespace=test;nodes=x!"), "ERROR:4:bad 'nodes'");
    // Without storage, what both owners had is gone: it takes a word of the operator to go on without it.
    for pid in 0..4096 {
        assert_eq!(raws[0].put(digest(pid, 1), 1).unwrap().code, OK);
    }
    cluster.stop_nodes(&[nodes[1].id, nodes[2].id]).unwrap();
    cluster.start_node(nodes[1].id).unwrap();
    cluster.start_node(nodes[2].id).unwrap();
    let lost = (0..4096).filter(|pid| cluster.master(*pid).is_none()).collect::<Vec<_>>();
    assert!(lost.len() > 1000, "{}", lost.len());
    let mut raw = Raw::connect(nodes[2].address);
    assert_eq!(raw.put(digest(lost[0], 1), 1).unwrap().code, UNAVAILABLE);
    assert_eq!((raw.info("revive:namespace=test"), raw.info("recluster:")), ("ok".to_owned(), "ok".to_owned()));
    assert_eq!(raw.put(digest(lost[0], 1), 1).unwrap().code, OK);
    assert_eq!(cluster.record_count("test"), Some(4096 - lost.len() as u64 + 1));
}

#[test]
fn a_full_node_stops_writes_and_takes_deletes() {
    let options = NamespaceOptions::new("test").data_limit(10_000);
    let cluster = builder(2).replication_factor(1).namespace_with(options).start().unwrap();
    let first = cluster.nodes()[0];
    let (mine, others): (Vec<u16>, Vec<u16>) = (0..1000).partition(|pid| cluster.master(*pid) == Some(first.id));
    let mut raw = Raw::connect(first.address);
    let codes: Vec<u8> = mine.iter().map(|pid| raw.put(digest(*pid, 1), 1).unwrap().code).collect();
    let taken = codes.iter().take_while(|code| **code == OK).count();
    assert!(taken > 100 && codes[taken..].iter().all(|code| *code == OUT_OF_SPACE), "{taken} of {}", mine.len());
    assert!(raw.info("namespace/test").contains(";stop_writes=true;"));
    assert_eq!(raw.put(digest(others[0], 1), 1).unwrap().code, OK, "the other node has room");
    assert_eq!(value(&mut raw, digest(mine[0], 1)), Ok(1), "reads go on");
    for pid in &mine[..10] {
        raw.send(&delete(digest(*pid, 1)));
        assert_eq!(raw.answer().unwrap().code, OK);
    }
    assert_eq!(raw.put(digest(mine[0], 1), 1).unwrap().code, OK, "there is room again");
    assert!(raw.info("namespace/test").contains(";stop_writes=false;"));
    cluster.set_data_limit("test", 0).unwrap();
    assert!(mine.iter().all(|pid| raw.put(digest(*pid, 1), 1).unwrap().code == OK));
    assert!(cluster.set_data_limit("nobody", 0).is_err());
}

#[test]
fn one_connection_too_many_is_closed() {
    let cluster = builder(2).connection_limit(3).start().unwrap();
    let nodes = cluster.nodes();
    let mut kept: Vec<Raw> = (0..3).map(|_| Raw::connect(nodes[0].address)).collect();
    for raw in &mut kept {
        assert_eq!(raw.info("node"), nodes[0].id.to_string());
    }
    assert_eq!(Raw::connect(nodes[0].address).rest().0, b"", "accepted, and closed");
    assert_eq!(Raw::connect(nodes[1].address).info("node"), nodes[1].id.to_string(), "each node has its own");
    drop(kept.pop());
    let begun = Instant::now();
    loop {
        let mut raw = Raw::connect(nodes[0].address);
        raw.send(&put(digest(1, 1), 1));
        if raw.answer().is_ok() {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
}

#[test]
fn a_rack_that_is_lost_leaves_its_records_on_the_other() {
    let cluster = builder(4).racks([1, 2]).start().unwrap();
    let mut raw = Raw::connect(cluster.nodes()[0].address);
    for pid in 0..256 {
        assert_eq!(raw.put(digest(pid, 1), 1).unwrap().code, OK);
    }
    let second: Vec<_> = cluster.nodes().iter().skip(1).step_by(2).map(|node| node.id).collect();
    cluster.stop_nodes(&second).unwrap();
    assert_eq!(cluster.record_count("test"), Some(256), "each record has a copy on each rack");
}

#[test]
fn a_slow_node_delays_no_other() {
    let cluster = builder(2).service_threads(1).start().unwrap();
    let nodes = cluster.nodes();
    let rule = FaultRule::new(FaultAction::Delay(LONGEST)).on(RequestKind::Read);
    cluster.set_fault(Some(nodes[0].id), &rule).unwrap();
    let [mut slow, mut quick] = [0, 1].map(|at| Raw::connect(nodes[at].address));
    slow.send(&get(digest(7, 1)));
    assert_eq!(quick.put(digest(7, 1), 1).unwrap().code, OK);
    assert_eq!(value(&mut quick, digest(7, 1)), Ok(1));
    assert_eq!(Raw::connect(nodes[0].address).info("node"), nodes[0].id.to_string(), "nor its own info");
}

/// Registers a module `slow`.
fn put_module(raw: &mut Raw, module: &str) {
    use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
    let content = BASE64.encode(module);
    let len = content.len();
    let put = format!("udf-put:filename=slow.lua;content={content};content-len={len};udf-type=LUA;");
    assert_eq!(raw.info(&put), "ok");
}

#[test]
fn scripts_that_run_long_delay_neither_other_nodes_nor_other_requests() {
    let cluster = builder(2).service_threads(1).start().unwrap();
    let nodes = cluster.nodes();
    let mut raws = open(&nodes);
    put_module(&mut raws[0], "function forever(rec) while true do end end");
    // Each takes a second of processor time, and four run at a time.
    let key = digest(7, 1);
    assert_eq!(raws[0].put(key, 1).unwrap().code, OK);
    let mut callers: Vec<Raw> = (0..12).map(|_| Raw::connect(nodes[0].address)).collect();
    for (n, caller) in callers.iter_mut().enumerate() {
        caller.send(&write(digest(7, n as u8), |message| {
            message.field(field::UDF_PACKAGE, b"slow");
            message.field(field::UDF_FUNCTION, b"forever");
            message.field(field::UDF_ARGUMENTS, &[0x90]);
        }));
    }
    for value_now in 2..50 {
        for raw in &mut raws {
            assert_eq!(raw.put(key, value_now).unwrap().code, OK, "in the partition that the scripts work on");
            assert_eq!(value(raw, key), Ok(value_now));
            assert!(raw.info("replicas").starts_with("test:0,2,"));
        }
    }
    let mut last = callers.pop().unwrap();
    last.timeout(Duration::from_millis(1));
    assert!(last.answer().is_err(), "scripts run on");
}

/// A list of so many numbers in no order, as it is stored.
fn unordered(numbers: u16) -> Vec<u8> {
    let mut list = vec![0xdc];
    list.extend(numbers.to_be_bytes());
    for n in 0..numbers {
        list.push(0xcd);
        list.extend(n.wrapping_mul(40_503).to_be_bytes());
    }
    list
}

#[test]
fn batches_and_queries_that_take_long_delay_neither_other_nodes_nor_other_requests() {
    let cluster = builder(2).service_threads(1).start().unwrap();
    let nodes = cluster.nodes();
    let mut raws = open(&nodes);
    let (key, large) = (digest(7, 1), digest(8, 1));
    let numbers = unordered(6_000);
    raws[0].send(&write(large, |message| message.op(op::WRITE, b"l", Particle::List(&numbers)).unwrap()));
    assert_eq!(raws[0].answer().unwrap().code, OK);
    let reads = |count: u32, call: &'static [u8]| {
        batch(count, MessageHeader::default(), |rows, n| {
            rows.row(n, &large, &RowHeader::read(info1::READ, 0, 0), |row| {
                row.field(field::NAMESPACE, b"test");
                row.op(op::CDT_READ, b"l", Particle::Blob(call))
            })
        })
    };
    // `get_by_rank(value, 0)` sorts the list, thousands of times.
    let smallest = &[0x93, 21, 7, 0];
    let slow = reads(4000, smallest);
    let mut callers: Vec<Raw> = (0..12).map(|_| Raw::connect(nodes[0].address)).collect();
    for caller in &mut callers {
        caller.send(&slow);
    }
    for value_now in 1..50 {
        for raw in &mut raws {
            assert_eq!(raw.put(key, value_now).unwrap().code, OK);
            assert_eq!(value(raw, key), Ok(value_now));
            assert!(raw.info("replicas").starts_with("test:0,2,"));
        }
    }
    let mut last = callers.pop().unwrap();
    last.timeout(Duration::from_millis(1));
    assert!(std::iter::repeat_with(|| last.messages()).take(100).any(|rows| rows.is_err()), "it goes on");
    drop(callers);
    // A shorter one is answered row by row, in its order.
    raws[0].send(&reads(40, smallest));
    let answers = raws[0].until_last();
    assert_eq!(answers.len(), 41);
    assert!(answers[..40].iter().all(|row| row.code == OK && row.bins[0].1 == 0_i64.to_be_bytes()));
    // Whoever does not read what is 18 KB a row keeps no thread from scripts.
    put_module(&mut raws[0], "function one(rec) return 1 end");
    let sorted = reads(2000, &[0x93, 26, 7, 0]);
    let mut deaf: Vec<Raw> = (0..8).map(|_| Raw::connect(nodes[0].address)).collect();
    for caller in &mut deaf {
        caller.send(&sorted);
    }
    for _ in 0..20 {
        raws[0].send(&write(key, |message| {
            message.field(field::UDF_PACKAGE, b"slow");
            message.field(field::UDF_FUNCTION, b"one");
            message.field(field::UDF_ARGUMENTS, &[0x90]);
        }));
        assert_eq!(raws[0].answer().unwrap().code, OK);
    }
}

#[test]
fn indexes_and_counts_are_those_of_each_node() {
    let cluster = builder(3).start().unwrap();
    let nodes = cluster.nodes();
    let mut raws = open(&nodes);
    assert_eq!(raws[0].info("sindex-create:ns=test;set=s;indexname=i;bin=i;type=numeric"), "ok");
    for pid in 0..300 {
        let integer = |message: &mut aerolane_wire::message::MessageWriter<'_>| {
            message.op(op::WRITE, b"i", Particle::Integer(pid.into())).unwrap();
        };
        raws[0].send(&write(digest(pid, 1), integer));
        assert_eq!(raws[0].answer().unwrap().code, OK);
    }
    let number = |text: &str, name: &str| -> u64 {
        let found = text.split([';', ':']).find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        found.unwrap_or_else(|| panic!("{name} in {text}")).parse().unwrap()
    };
    let sum = |raws: &mut [Raw], command: &str, name: &str| -> u64 {
        raws.iter_mut().map(|raw| number(&raw.info(command), name)).sum()
    };
    assert_eq!(sum(&mut raws, "sindex-stat:ns=test;indexname=i", "entries"), 600);
    assert_eq!(sum(&mut raws, "sets/test/s", "objects"), 600);
    assert_eq!(sum(&mut raws, "namespace/test", "master_objects"), 300);
    assert_eq!(sum(&mut raws, "namespace/test", "prole_objects"), 300);
    cluster.stop_node(nodes[1].id).unwrap();
    let mut raws = open(&[nodes[0], nodes[2]]);
    assert_eq!(sum(&mut raws, "sindex-stat:ns=test;indexname=i", "entries"), 600, "moved with their records");
    cluster.start_node(nodes[1].id).unwrap();
    let mut raws = open(&nodes);
    assert_eq!(sum(&mut raws, "sindex-stat:ns=test;indexname=i", "entries"), 600);
    assert_eq!(sum(&mut raws, "sets/test/s", "objects"), 600);
}
