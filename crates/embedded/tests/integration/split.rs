//! Clusters that are split: each group of nodes has a map, masters and records of its own, until they are healed.

use crate::common::{Raw, digest, open, scan, value};
use aerolane_embedded::{ClusterError, ConflictResolution, EmbeddedCluster, NamespaceOptions, NodeId, NodeInfo};
use std::time::Duration;

const OK: u8 = 0;
const NOT_FOUND: u8 = 2;
const UNAVAILABLE: u8 = 11;

fn cluster(nodes: usize, options: NamespaceOptions) -> EmbeddedCluster {
    EmbeddedCluster::builder().nodes(nodes).replication_factor(2).namespace_with(options).start().unwrap()
}

fn ids(nodes: &[NodeInfo]) -> Vec<NodeId> {
    nodes.iter().map(|node| node.id).collect()
}

fn statistic(raw: &mut Raw, command: &str, name: &str) -> String {
    let text = raw.info(command);
    let found = text.split(';').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    found.unwrap_or_else(|| panic!("{name} in {text}")).to_owned()
}

#[test]
fn each_group_is_a_cluster_of_its_own() {
    let cluster = cluster(5, NamespaceOptions::new("test"));
    let nodes = cluster.nodes();
    let mut raws = open(&nodes);
    for pid in 0..200 {
        assert_eq!(raws[0].put(digest(pid, 1), 1).unwrap().code, OK);
    }
    let before: Vec<String> = raws.iter_mut().map(|raw| raw.info("partition-generation")).collect();
    let (small, large) = (ids(&nodes[..2]), ids(&nodes[2..]));
    cluster.split(&[&small]).unwrap();
    for (raw, node) in raws.iter_mut().zip(&nodes) {
        let own = if small.contains(&node.id) { &small } else { &large };
        assert_eq!(statistic(raw, "statistics", "cluster_size"), own.len().to_string());
        assert_eq!(statistic(raw, "statistics", "cluster_principal"), own.iter().max().unwrap().to_string());
        assert!(raw.info(&format!("cluster-stable:size={}", own.len())).len() > 4);
        let peers = raw.info("peers-clear-std");
        for other in cluster.nodes() {
            let listed = own.contains(&other.id) && other.id != node.id;
            assert_eq!(peers.contains(&other.id.to_string()), listed, "{peers}");
        }
        assert_ne!(raw.info("partition-generation"), before[nodes.iter().position(|n| n == node).unwrap()]);
        for pid in 0..64 {
            let master = cluster.master_of("test", pid, Some(node.id)).unwrap().unwrap();
            assert!(own.contains(&master), "masters are of the same group");
        }
    }
    let keys: Vec<String> = raws.iter_mut().map(|raw| statistic(raw, "statistics", "cluster_key")).collect();
    assert!(keys[0] == keys[1] && keys[1] != keys[2] && keys[2] == keys[4]);
    // Two copies within each group: one of its nodes can go.
    assert_eq!(cluster.master(7), cluster.master_of("test", 7, Some(small[1])).unwrap());
    let written = digest(300, 1);
    assert_eq!(raws[2].put(written, 1).unwrap().code, OK);
    let master = cluster.master_of("test", 300, Some(large[0])).unwrap().unwrap();
    cluster.stop_node(master).unwrap();
    let at = nodes.iter().position(|node| large.contains(&node.id) && node.id != master).unwrap();
    assert_eq!(value(&mut raws[at], written), Ok(1));
    assert_eq!(value(&mut raws[0], written), Err(NOT_FOUND), "the other group knows nothing of it");
    cluster.start_node(master).unwrap();
    cluster.clear_faults();
    assert_eq!(value(&mut raws[0], written), Ok(1));
    assert_eq!(statistic(&mut raws[0], "statistics", "cluster_size"), "5");
}

#[test]
fn records_diverge_and_conflicts_are_resolved_when_it_is_healed() {
    for (policy, expected) in [(ConflictResolution::Generation, 13), (ConflictResolution::LastUpdateTime, 21)] {
        let cluster = cluster(2, NamespaceOptions::new("test").conflict_resolution(policy));
        let nodes = cluster.nodes();
        let mut raws = open(&nodes);
        let pids = 0..100;
        for pid in pids.clone() {
            assert_eq!(raws[0].put(digest(pid, 1), 1).unwrap().code, OK);
        }
        cluster.split(&[[nodes[0].id], [nodes[1].id]]).unwrap();
        for pid in pids.clone() {
            for value in 11..=13 {
                assert_eq!(raws[0].put(digest(pid, 1), value).unwrap().code, OK);
            }
            assert_eq!(raws[0].put(digest(pid, 2), 5).unwrap().code, OK);
        }
        std::thread::sleep(Duration::from_millis(5));
        for pid in pids.clone() {
            // Later, but of a lower generation.
            assert_eq!(raws[1].put(digest(pid, 1), 21).unwrap().generation, 2);
            assert_eq!(raws[1].put(digest(pid, 3), 6).unwrap().code, OK);
            let seen: Vec<_> = raws.iter_mut().map(|raw| value(raw, digest(pid, 1))).collect();
            assert_eq!(seen, [Ok(13), Ok(21)], "both have answered for their master's write");
            assert_eq!(value(&mut raws[1], digest(pid, 2)), Err(NOT_FOUND));
        }
        assert_eq!(cluster.record_count("test"), Some(300), "each counted once");
        cluster.heal();
        for pid in pids.clone() {
            for raw in &mut raws {
                assert_eq!(value(raw, digest(pid, 1)), Ok(expected), "{policy}");
                assert_eq!((value(raw, digest(pid, 2)), value(raw, digest(pid, 3))), (Ok(5), Ok(6)));
            }
        }
        assert_eq!(cluster.record_count("test"), Some(300));
        let masters = |node: NodeId| pids.clone().filter(|pid| cluster.master(*pid) == Some(node)).count();
        assert!(masters(nodes[0].id) > 20 && masters(nodes[1].id) > 20, "both are masters again");
        cluster.heal();
        assert_eq!(value(&mut raws[0], digest(7, 2)), Ok(5), "healing twice does nothing");
    }
}

#[test]
fn healing_moves_records_at_the_rate_of_migrations() {
    let cluster = cluster(2, NamespaceOptions::new("test"));
    let nodes = cluster.nodes();
    let mut raws = open(&nodes);
    cluster.split(&[[nodes[0].id]]).unwrap();
    for (raw, n) in raws.iter_mut().zip([1, 2]) {
        for pid in 0..50 {
            assert_eq!(raw.put(digest(pid, n), 1).unwrap().code, OK);
        }
    }
    cluster.set_migration_rate(Some(0));
    cluster.heal();
    assert_eq!(cluster.migrating("test"), Some(4096));
    // Whoever answers for a partition has only what its own group had, until records have moved.
    let found = |raws: &mut [Raw], pid| [1, 2].map(|n| value(&mut raws[0], digest(pid, n)).is_ok());
    for pid in 0..50 {
        let first = cluster.master(pid) == Some(nodes[0].id);
        assert_eq!(found(&mut raws, pid), [first, !first]);
    }
    while cluster.migrate(10) == 10 {}
    assert_eq!(cluster.migrating("test"), Some(0));
    assert!((0..50).all(|pid| found(&mut raws, pid) == [true, true]));
}

#[test]
fn a_group_without_a_copy_begins_without_records_and_keeps_its_indexes() {
    let cluster = cluster(4, NamespaceOptions::new("test").replication_factor(1));
    let nodes = cluster.nodes();
    let mut raws = open(&nodes);
    assert_eq!(raws[0].info("sindex-create:ns=test;set=s;indexname=i;bin=i;type=numeric"), "ok");
    for pid in 0..100 {
        assert_eq!(raws[0].put(digest(pid, 1), 1).unwrap().code, OK);
    }
    cluster.split(&[&ids(&nodes[..1])]).unwrap();
    let lacking: Vec<u16> = (0..100).filter(|pid| value(&mut raws[0], digest(*pid, 1)) == Err(NOT_FOUND)).collect();
    assert!((40..100).contains(&lacking.len()), "{}", lacking.len());
    for pid in &lacking {
        assert_eq!(raws[0].put(digest(*pid, 2), 2).unwrap().code, OK);
    }
    let entries =
        |raw: &mut Raw| statistic(raw, "sindex-stat:ns=test;indexname=i", "entries").parse::<usize>().unwrap();
    assert_eq!(entries(&mut raws[0]), 100, "what it had, and what was written");
    cluster.heal();
    assert_eq!(cluster.record_count("test"), Some(100 + lacking.len() as u64));
    assert_eq!(raws.iter_mut().map(entries).sum::<usize>(), 100 + lacking.len());
}

#[test]
fn with_a_roster_the_minority_is_unavailable_and_adopts_what_the_majority_has() {
    let options = NamespaceOptions::new("test").strong_consistency(true).roster(true);
    let cluster = cluster(3, options);
    let nodes = cluster.nodes();
    let mut raws = open(&nodes);
    for pid in 0..200 {
        assert_eq!(raws[0].put(digest(pid, 1), 1).unwrap().code, OK);
    }
    cluster.split(&[[nodes[0].id]]).unwrap();
    for pid in 0..200 {
        let codes: Vec<u8> = raws.iter_mut().map(|raw| raw.put(digest(pid, 1), 2).unwrap().code).collect();
        assert_eq!(codes, [UNAVAILABLE, OK, OK]);
        assert_eq!(value(&mut raws[0], digest(pid, 1)), Err(UNAVAILABLE), "nor are its reads");
        assert_eq!(cluster.master_of("test", pid, Some(nodes[0].id)).unwrap(), None);
    }
    assert_eq!(statistic(&mut raws[0], "namespace/test", "unavailable_partitions"), "4096");
    assert_eq!(statistic(&mut raws[1], "namespace/test", "unavailable_partitions"), "0");
    raws[0].send(&scan([7]));
    assert!(raws[0].until_last().iter().any(|answer| answer.code == UNAVAILABLE && answer.partition_done));
    cluster.heal();
    for pid in 0..200 {
        for raw in &mut raws {
            assert_eq!(value(raw, digest(pid, 1)), Ok(2));
        }
    }
    assert_eq!(statistic(&mut raws[0], "namespace/test", "unavailable_partitions"), "0");
}

#[test]
fn without_a_roster_nothing_is_merged_in_strong_consistency_mode() {
    let cluster = cluster(2, NamespaceOptions::new("test").strong_consistency(true));
    let nodes = cluster.nodes();
    let mut raws = open(&nodes);
    cluster.split(&[[nodes[0].id]]).unwrap();
    for (raw, n) in raws.iter_mut().zip([1, 2]) {
        for pid in 0..100 {
            assert_eq!(raw.put(digest(pid, n), 1).unwrap().code, OK, "both stay available");
        }
    }
    cluster.heal();
    for pid in 0..100 {
        let found = [1, 2].map(|n| value(&mut raws[0], digest(pid, n)).is_ok());
        assert_ne!(found[0], found[1], "one of the groups has lost its writes");
        assert_eq!(found, [1, 2].map(|n| value(&mut raws[1], digest(pid, n)).is_ok()), "and all agree on which");
    }
}

#[test]
fn writes_on_their_way_to_another_group_are_lost() {
    let cluster = cluster(2, NamespaceOptions::new("test"));
    let nodes = cluster.nodes();
    let mut raws = open(&nodes);
    let key = digest(7, 1);
    let master = usize::from(cluster.master(7) == Some(nodes[1].id));
    assert_eq!(raws[master].put(key, 1).unwrap().code, OK);
    cluster.set_replication_lag(None, Duration::from_secs(600)).unwrap();
    let mut request = crate::common::put(key, 2);
    request[8 + 3] |= aerolane_wire::message::info3::COMMIT_MASTER;
    raws[master].send(&request);
    assert_eq!(raws[master].answer().unwrap().code, OK);
    cluster.split(&[[nodes[0].id]]).unwrap();
    cluster.set_replication_lag(None, Duration::ZERO).unwrap();
    assert_eq!([master, 1 - master].map(|at| value(&mut raws[at], key)), [Ok(2), Ok(1)]);
}

#[test]
fn nodes_come_and_go_while_it_is_split() {
    let cluster = cluster(3, NamespaceOptions::new("test").keep_records(true));
    let nodes = cluster.nodes();
    cluster.split(&[&ids(&nodes[..2])]).unwrap();
    let mut raws = open(&nodes);
    let key = digest(7, 1);
    assert_eq!((raws[0].put(key, 1).unwrap().code, raws[2].put(key, 2).unwrap().code), (OK, OK));
    cluster.stop_node(nodes[2].id).unwrap();
    assert_eq!(cluster.master_of("test", 7, Some(nodes[2].id)).unwrap(), None, "nobody is left in the group");
    assert_eq!(value(&mut raws[0], key), Ok(1));
    let added = cluster.add_node().unwrap();
    assert_eq!(statistic(&mut Raw::connect(added.address), "statistics", "cluster_size"), "3", "the first group");
    cluster.start_node(nodes[2].id).unwrap();
    let mut back = Raw::connect(nodes[2].address);
    assert_eq!((value(&mut back, key), statistic(&mut back, "statistics", "cluster_size")), (Ok(2), "1".to_owned()));
    cluster.hold_partitions(true);
    cluster.stop_node(nodes[1].id).unwrap();
    cluster.heal();
    assert_eq!(statistic(&mut back, "statistics", "cluster_size"), "3", "healing ends the hold");
    assert_eq!(value(&mut raws[0], key), value(&mut back, key));
}

#[test]
fn groups_that_make_no_sense_are_refused() {
    let cluster = cluster(3, NamespaceOptions::new("test"));
    let [a, b, c] = <[NodeId; 3]>::try_from(ids(&cluster.nodes())).unwrap();
    let setting = |groups: &[Vec<NodeId>]| match cluster.split(groups) {
        Err(ClusterError::Setting(text)) => text,
        other => panic!("{other:?}"),
    };
    assert!(setting(&[]).contains("at least 2"));
    assert!(setting(&[vec![a, b, c]]).contains("at least 2"));
    assert!(setting(&[vec![a], vec![]]).contains("no nodes"));
    assert!(setting(&[vec![a, b], vec![b]]).contains("twice"));
    let nobody: NodeId = "ABC".parse().unwrap();
    assert!(matches!(cluster.split(&[[nobody]]), Err(ClusterError::UnknownNode(_))));
    cluster.split(&[[a], [b]]).unwrap();
    assert!(setting(&[vec![a]]).contains("already"));
    assert_eq!(cluster.master_of("test", 7, Some(c)).unwrap(), Some(c), "who is in none is a group, too");
    assert!(matches!(cluster.master_of("nothing", 7, None), Err(ClusterError::UnknownNamespace(_))));
    assert!(matches!(cluster.master_of("test", 4096, None), Err(ClusterError::Setting(_))));
}
