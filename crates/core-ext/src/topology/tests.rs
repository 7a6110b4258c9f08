//! Snapshots, claims and routing, on clusters put together by hand.

use aerospike_core::{ReadModeSc, Replica, ResultCode};

use super::claims::tests::text;
use super::*;
use crate::error::ErrorKind;

/// Three nodes; partition `p` has node `p % 3` as master, `(p + 1) % 3` and `(p + 2) % 3` as further replicas.
fn three(rack_aware: bool) -> (TopologyBuilder, [NodeId; 3]) {
    let mut builder = TopologyBuilder::new(100, 1, rack_aware);
    let ids = [0, 1, 2].map(|n| {
        let host = format!("10.0.0.{n}:3000");
        builder.upsert_node(&format!("BB{n}"), &host, None, vec![host.parse().unwrap()], vec![]).unwrap()
    });
    for (n, id) in ids.iter().enumerate() {
        builder.apply_claims(*id, &claims_of(n, 0));
    }
    (builder, ids)
}

fn claims_of(n: usize, regime: u32) -> Vec<NamespaceClaim> {
    let owner = |replica: usize| move |p: usize| (p + replica) % 3 == n;
    parse_replicas(&text("test", regime, &[&owner(0), &owner(1), &owner(2)])).unwrap()
}

fn attempts(map: &NamespaceMap, partition: u16, mut route: Route, timeout: bool, count: usize) -> Vec<usize> {
    (0..count)
        .map(|i| {
            if i > 0 {
                route.next_attempt(timeout);
            }
            map.route(partition, &mut route, i as u32).unwrap().index()
        })
        .collect()
}

#[test]
fn a_snapshot_is_made_only_when_something_changed() {
    let (mut builder, ids) = three(false);
    let topology = builder.snapshot().unwrap();
    assert_eq!(topology.version(), 1);
    assert!(topology.is_complete());
    assert_eq!(topology.active_nodes().len(), 3);
    assert!(builder.snapshot().is_none());
    builder.apply_claims(ids[0], &claims_of(0, 0));
    builder.retain_active(&ids);
    builder.upsert_node("BB0", "10.0.0.0:3000", None, vec!["10.0.0.0:3000".parse().unwrap()], vec![]).unwrap();
    assert!(builder.snapshot().is_none(), "the same again is no change");
    builder.upsert_node("BB0", "10.9.9.9:3000", None, vec!["10.9.9.9:3000".parse().unwrap()], vec![]).unwrap();
    let moved = builder.snapshot().unwrap();
    assert_eq!(moved.version(), 2);
    assert_eq!(&**moved.node(ids[0]).unwrap().label(), "BB0: 10.9.9.9:3000");
    assert!(Arc::ptr_eq(moved.node(ids[0]).unwrap().breaker(), topology.node(ids[0]).unwrap().breaker()));
}

#[test]
fn every_replica_policy_routes_as_it_should() {
    let (mut builder, _) = three(false);
    let topology = builder.snapshot().unwrap();
    let map = topology.namespace("test").unwrap();
    let read = |replica| Route::read(map, replica, ReadModeSc::Session);
    // Partition 4: master node 1, then 2, then 0.
    assert_eq!(attempts(map, 4, read(Replica::Master), false, 4), [1, 1, 1, 1]);
    assert_eq!(attempts(map, 4, read(Replica::Sequence), false, 5), [1, 2, 0, 1, 2]);
    assert_eq!(attempts(map, 4, read(Replica::Sequence), true, 3), [1, 2, 0], "a read moves on after a timeout");
    assert_eq!(attempts(map, 4, read(Replica::MasterProles), false, 4), [1, 2, 0, 1]);
    assert_eq!(attempts(map, 4, Route::write(Replica::Sequence), false, 4), [1, 2, 0, 1]);
    assert_eq!(attempts(map, 4, Route::write(Replica::PreferRack), false, 3), [1, 2, 0]);
    assert_eq!(attempts(map, 4, Route::write(Replica::Sequence), true, 3), [1, 1, 1], "a write stays after a timeout");
    for replica in [Replica::Master, Replica::MasterProles, Replica::Random] {
        assert_eq!(attempts(map, 4, Route::write(replica), false, 3), [1, 1, 1], "{replica:?}");
    }
    let random = attempts(map, 4, read(Replica::Random), false, 6);
    assert!((0..3).all(|n| random.contains(&n)), "{random:?}");
    assert!(random.windows(2).all(|w| w[0] != w[1]), "a retry goes to another node: {random:?}");
}

#[test]
fn the_sequence_skips_what_is_missing_and_remembers_it() {
    let (mut builder, ids) = three(false);
    builder.retain_active(&[ids[0], ids[2]]);
    let topology = builder.snapshot().unwrap();
    let map = topology.namespace("test").unwrap();
    assert!(!topology.is_active(ids[1]) && topology.node(ids[1]).is_some());
    // Partition 4: its master, node 1, is gone.
    let read = |replica| Route::read(map, replica, ReadModeSc::Session);
    assert_eq!(attempts(map, 4, read(Replica::Sequence), false, 3), [2, 0, 2]);
    assert_eq!(attempts(map, 4, Route::write(Replica::Sequence), false, 3), [2, 0, 2]);
    let error = map.route(4, &mut read(Replica::Master), 0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidNode));
    assert!(error.to_string().contains("partition 4 of namespace test"), "{error}");
    assert!(!topology.is_complete());
    assert_eq!(map.unowned_partitions(), PARTITIONS / 3);
}

#[test]
fn strong_consistency_overrides_the_replica_policy() {
    let (mut builder, ids) = three(true);
    for (n, id) in ids.iter().enumerate() {
        builder.apply_claims(*id, &claims_of(n, 5));
    }
    let topology = builder.snapshot().unwrap();
    let map = topology.namespace("test").unwrap();
    assert!(map.strong_consistency());
    assert_eq!(map.regime(0, 4), 5);
    let session = Route::read(map, Replica::MasterProles, ReadModeSc::Session);
    assert_eq!(attempts(map, 4, session, false, 3), [1, 1, 1]);
    let linear = Route::read(map, Replica::PreferRack, ReadModeSc::Linearize);
    assert_eq!(attempts(map, 4, linear, false, 3), [1, 2, 0]);
    assert_eq!(attempts(map, 4, linear, true, 3), [1, 1, 1], "a linearized read stays after a timeout");
    let replica = Route::read(map, Replica::Sequence, ReadModeSc::AllowReplica);
    assert_eq!(attempts(map, 4, replica, true, 3), [1, 2, 0]);
}

#[test]
fn preferred_racks_come_first_in_their_order() {
    let (mut builder, ids) = three(true);
    // The client prefers rack A, then B; node 0 is on B, node 2 on A, node 1 on neither.
    builder.set_rack_rank(ids[0], "test", Some(1));
    builder.set_rack_rank(ids[2], "test", Some(0));
    builder.set_rack_rank(ids[2], "no such namespace", Some(0));
    let topology = builder.snapshot().unwrap();
    let map = topology.namespace("test").unwrap();
    let mut route = Route::read(map, Replica::PreferRack, ReadModeSc::Session);
    for partition in 0..3 {
        let mut first = route;
        assert_eq!(map.route(partition, &mut first, 0).unwrap(), ids[2]);
    }
    assert_eq!(map.route(4, &mut route, 0).unwrap(), ids[2]);
    route.next_attempt(false);
    assert_eq!(map.route(4, &mut route, 0).unwrap(), ids[0], "not the node that just failed");
    // With the other two gone, the node that failed is better than none.
    builder.retain_active(&[ids[0]]);
    let topology = builder.snapshot().unwrap();
    route.next_attempt(false);
    assert_eq!(topology.route("test", 4, &mut route, 0).unwrap(), ids[0]);
}

#[test]
fn rack_preference_without_racks_is_an_argument_error() {
    let (mut builder, _) = three(false);
    let topology = builder.snapshot().unwrap();
    let map = topology.namespace("test").unwrap();
    let mut route = Route::read(map, Replica::PreferRack, ReadModeSc::Session);
    let error = map.route(0, &mut route, 0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidArgument));
    assert!(error.to_string().contains("rack_ids"), "{error}");
}

#[test]
fn unknown_namespaces_and_partitions_are_errors() {
    let (mut builder, _) = three(false);
    let topology = builder.snapshot().unwrap();
    let error = topology.namespace("tset").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidNamespace));
    assert!(error.to_string().contains("\"tset\", only: test"), "{error}");
    assert!(Topology::default().namespace("test").unwrap_err().to_string().contains("no partition map"));
    let map = topology.namespace("test").unwrap();
    let error = map.route(4096, &mut Route::write(Replica::Master), 0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidArgument));
    assert_eq!(map.owner(3, 0), None);
    assert_eq!(map.owner(0, 4096), None);
    assert!(map.owner(2, 4095).is_some());
}

#[test]
fn the_latest_claim_wins_and_the_loser_is_asked_again() {
    let (mut builder, ids) = three(false);
    builder.snapshot();
    let all = parse_replicas(&text("test", 0, &[&|p| p == 4, &|_| false, &|_| false])).unwrap();
    assert_eq!(builder.apply_claims(ids[0], &all), [ids[1]]);
    let topology = builder.snapshot().unwrap();
    let map = topology.namespace("test").unwrap();
    assert_eq!(map.owner(0, 4), Some(ids[0]));
    assert_eq!(map.owner(0, 0), Some(ids[0]), "no longer claimed, but nobody else does");
    // The loser's answer was the newer one after all.
    assert_eq!(builder.apply_claims(ids[1], &claims_of(1, 0)), [ids[0]]);
    assert_eq!(builder.snapshot().unwrap().namespace("test").unwrap().owner(0, 4), Some(ids[1]));
}

#[test]
fn older_regimes_lose_unless_the_owner_is_gone_or_gave_it_up() {
    let (mut builder, ids) = three(false);
    for (n, id) in ids.iter().enumerate() {
        builder.apply_claims(*id, &claims_of(n, 9));
    }
    let claim =
        |regime| parse_replicas(&text("test", regime, &[&|p| p == 4 || p == 5, &|_| false, &|_| false])).unwrap();
    assert_eq!(builder.apply_claims(ids[0], &claim(8)), []);
    let owner = |builder: &mut TopologyBuilder, p| {
        builder.changed = true;
        builder.snapshot().unwrap().namespace("test").unwrap().owner(0, p)
    };
    assert_eq!(owner(&mut builder, 4), Some(ids[1]), "an older regime");
    // Node 1 says that it owns nothing any more: then an older regime is better than a guess.
    builder.apply_claims(ids[1], &parse_replicas(&text("test", 2, &[&|_| false, &|_| false, &|_| false])).unwrap());
    builder.apply_claims(ids[0], &claim(8));
    assert_eq!(owner(&mut builder, 4), Some(ids[0]));
    // Node 2 leaves: its partition 5 goes to whoever claims it.
    builder.retain_active(&[ids[0], ids[1]]);
    builder.apply_claims(ids[0], &claim(1));
    assert_eq!(owner(&mut builder, 5), Some(ids[0]));
}

#[test]
fn a_node_that_returns_has_its_old_id() {
    let (mut builder, ids) = three(false);
    assert!(builder.has_active_beside(&ids[..2]));
    builder.retain_active(&ids[..2]);
    assert!(!builder.has_active_beside(&ids[..2]));
    assert!(!builder.is_complete());
    builder.snapshot();
    let back = builder.upsert_node("BB2", "10.0.0.77:3000", None, vec![], vec![]).unwrap();
    assert_eq!(back, ids[2]);
    assert!(builder.is_complete());
    let topology = builder.snapshot().unwrap();
    assert_eq!(topology.node_slots(), 3);
    assert_eq!(topology.node_by_name("BB2").unwrap().host(), "10.0.0.77:3000");
}

#[test]
fn fewer_replicas_and_vanished_namespaces_are_followed() {
    let (mut builder, ids) = three(false);
    let one = |n: usize| parse_replicas(&text("test", 0, &[&move |p: usize| p % 3 == n])).unwrap();
    for (n, id) in ids.iter().enumerate() {
        builder.apply_claims(*id, &one(n));
    }
    let map = builder.snapshot().unwrap();
    assert_eq!(map.namespace("test").unwrap().replication_factor(), 1);
    assert_eq!(map.namespace("test").unwrap().owner(1, 0), None);
    builder.apply_claims(ids[2], &parse_replicas(&text("only-on-2", 0, &[&|_| true])).unwrap());
    assert_eq!(builder.snapshot().unwrap().namespaces().len(), 2);
    builder.retain_active(&ids[..2]);
    assert_eq!(builder.snapshot().unwrap().namespaces().len(), 1, "no active node has it");
}

#[test]
fn a_namespace_without_an_available_partition_is_known_and_unavailable() {
    let mut builder = TopologyBuilder::new(1, 1, false);
    let ids = ["BB0", "BB1"].map(|name| builder.upsert_node(name, "10.0.0.1:3000", None, vec![], vec![]).unwrap());
    let nothing = |name| parse_replicas(&text(name, 0, &[&|_| false, &|_| false])).unwrap();
    builder.apply_claims(ids[0], &nothing("test"));
    builder.apply_claims(ids[1], &nothing("test"));
    let topology = builder.snapshot().unwrap();
    assert!(!topology.is_complete());
    let map = topology.namespace("test").unwrap();
    let error = map.route(4, &mut Route::write(Replica::Sequence), 0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidNode));
    assert!(error.to_string().contains("partition 4 of namespace test is unavailable"), "{error}");
    assert!(topology.namespace("other").unwrap_err().to_string().contains("only: test"));
    // It is gone with the last node that reports it: one leaves, the other has it no more.
    builder.retain_active(&ids[..1]);
    assert_eq!(builder.snapshot().unwrap().namespaces().len(), 1);
    builder.apply_claims(ids[0], &nothing("other"));
    let names: Vec<_> = builder.snapshot().unwrap().namespaces().map(|map| map.name().to_owned()).collect();
    assert_eq!(names, ["other"]);
}

#[test]
fn with_strong_consistency_an_unavailable_partition_has_the_result_code_of_a_node() {
    let mut builder = TopologyBuilder::new(1, 1, false);
    let node = builder.upsert_node("BB0", "10.0.0.1:3000", None, vec![], vec![]).unwrap();
    builder.apply_claims(node, &parse_replicas(&text("sc", 7, &[&|p| p != 4, &|_| false])).unwrap());
    let topology = builder.snapshot().unwrap();
    let map = topology.namespace("sc").unwrap();
    for mut route in [Route::write(Replica::Sequence), Route::read(map, Replica::Sequence, ReadModeSc::Session)] {
        assert_eq!(map.route(5, &mut route, 0).unwrap(), node);
        let error = map.route(4, &mut route, 0).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidNode), "{error}");
        assert_eq!(error.result_code(), i32::from(u8::from(ResultCode::PartitionUnavailable)), "{error}");
        assert!(error.to_string().contains("1 of 4096 partitions have no master"), "{error}");
        // It is no answer: what was sent once before is in doubt.
        assert!(error.set_in_doubt(true, 1).in_doubt());
    }
}

#[test]
fn ids_run_out_with_an_error() {
    let mut builder = TopologyBuilder::new(1, 1, false);
    let slot = NodeSlot {
        info: Arc::new(NodeInfo::new(NodeId::from_index(0), "A", "a:1", vec![], Arc::new(Breaker::new(1, 1)))),
        active: false,
    };
    builder.nodes = vec![slot; NodeId::CAPACITY];
    assert!(builder.upsert_node("NEW", "b:1", None, vec![], vec![]).is_err());
}
