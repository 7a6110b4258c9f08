//! Clocks that jump, and devices that do not keep up.

use crate::common::{Raw, digest, put, write};
use aerolane_embedded::{DeviceLimit, EmbeddedCluster, NamespaceOptions};
use aerolane_wire::message::{field, info2, op};
use aerolane_wire::particle::Particle;
use std::time::Duration;

const OK: u8 = 0;
const NOT_FOUND: u8 = 2;
const DEVICE_OVERLOAD: u8 = 18;
const FORBIDDEN: u8 = 22;
const HOUR: i64 = 3_600_000;

/// A request that writes a record with this TTL.
fn put_for(digest: [u8; 20], seconds: u32) -> Vec<u8> {
    let mut request = put(digest, 1);
    // Frame header 8; the TTL is the word at byte 10 of the message.
    request[8 + 10..8 + 14].copy_from_slice(&seconds.to_be_bytes());
    request
}

fn code(raw: &mut Raw, request: &[u8]) -> u8 {
    raw.send(request);
    raw.answer().unwrap().code
}

#[test]
fn a_clock_goes_back_and_records_live_longer_while_last_updates_stay() {
    let cluster = EmbeddedCluster::builder().start().unwrap();
    let mut raw = Raw::connect(cluster.nodes()[0].address);
    let key = digest(7, 1);
    assert_eq!(code(&mut raw, &put_for(key, 60)), OK);
    cluster.shift_clock(None, HOUR).unwrap();
    assert_eq!(raw.get(key).unwrap().code, NOT_FOUND);
    cluster.shift_clock(None, -2 * HOUR).unwrap();
    let other = digest(7, 2);
    assert_eq!(code(&mut raw, &put_for(other, 60)), OK);
    assert_eq!(raw.info("aerolane-clock"), "ahead=-3600");
    cluster.shift_clock(None, 0).unwrap();
    assert_eq!(raw.get(other).unwrap().code, OK);
    cluster.reset_clocks();
    assert_eq!(raw.get(other).unwrap().code, NOT_FOUND, "it was written an hour ago");
    assert!(cluster.shift_clock(None, i64::MIN).is_err() && cluster.shift_clock(None, 315_360_000_001).is_err());
    assert_eq!(raw.info("aerolane-clock:advance=5;back=2"), "ahead=3");
    assert!(raw.info("aerolane-clock:back=99999999999999999").starts_with("ERROR:4:bad 'back'"));
}

#[test]
fn a_later_write_is_not_older_than_the_one_before() {
    // Which of two versions is the later one is what a write of a master that is behind decides when the nodes are split.
    let options = NamespaceOptions::new("test").nsup_period(0);
    let cluster = EmbeddedCluster::builder().nodes(2).namespace_with(options).start().unwrap();
    let nodes = cluster.nodes();
    let key = digest(7, 1);
    let master = nodes.iter().find(|node| cluster.master(7) == Some(node.id)).unwrap();
    let mut raw = Raw::connect(master.address);
    assert_eq!(raw.put(key, 1).unwrap().code, OK);
    cluster.shift_clock(Some(master.id), -HOUR).unwrap();
    assert_eq!(raw.put(key, 2).unwrap().code, OK);
    // What was updated before a time that lies between both is truncated.
    let nanoseconds = |back: u64| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        now.as_nanos() - Duration::from_secs(back).as_nanos()
    };
    let mut other = Raw::connect(nodes.iter().find(|node| node.id != master.id).unwrap().address);
    assert_eq!(other.info(&format!("truncate:namespace=test;set=s;lut={}", nanoseconds(1800))), "ok");
    assert_eq!(raw.get(key).unwrap().code, OK);
}

#[test]
fn clocks_that_are_far_apart_stop_writes_of_those_that_see_each_other() {
    let cluster = EmbeddedCluster::builder().nodes(3).start().unwrap();
    let nodes = cluster.nodes();
    let mut raws: Vec<Raw> = nodes.iter().map(|node| Raw::connect(node.address)).collect();
    let key = digest(7, 1);
    assert_eq!(code(&mut raws[0], &put_for(key, 5000)), OK);
    cluster.shift_clock(Some(nodes[0].id), 40_000).unwrap();
    assert_eq!(raws[1].put(key, 1).unwrap().code, OK, "forty seconds are tolerated");
    cluster.shift_clock(Some(nodes[0].id), 1).unwrap();
    for raw in &mut raws {
        assert_eq!(raw.put(key, 2).unwrap().code, FORBIDDEN);
        assert_eq!(raw.get(key).unwrap().code, OK);
        assert!(raw.info("namespace/test").contains("clock_skew_stop_writes=true;"));
        assert!(raw.info("statistics").contains("cluster_clock_skew_ms=40001;"));
    }
    // Nothing is removed either, although it has expired by the clocks of all nodes.
    assert_eq!(code(&mut raws[0], &put_for(digest(7, 2), 10)), FORBIDDEN);
    cluster.shift_clock(None, 2 * HOUR).unwrap();
    assert_eq!(cluster.sweep(), 0);
    // Whoever does not see the node does not mind.
    cluster.split(&[[nodes[0].id]]).unwrap();
    let codes: Vec<u8> = raws.iter_mut().map(|raw| raw.put(digest(7, 3), 2).unwrap().code).collect();
    assert_eq!(codes, [OK; 3]);
    cluster.heal();
    assert_eq!(raws[1].put(key, 2).unwrap().code, FORBIDDEN);
    cluster.reset_clocks();
    assert_eq!(raws[1].put(key, 2).unwrap().code, OK);
}

#[test]
fn each_node_removes_what_has_expired_by_its_own_clock() {
    let options = NamespaceOptions::new("test").nsup_period(0);
    let cluster = EmbeddedCluster::builder().nodes(2).replication_factor(1).namespace_with(options).start().unwrap();
    let nodes = cluster.nodes();
    let mut raws: Vec<Raw> = nodes.iter().map(|node| Raw::connect(node.address)).collect();
    for pid in 0..100 {
        assert_eq!(code(&mut raws[0], &put_for(digest(pid, 1), 1000)), OK);
    }
    let ahead = (0..100).filter(|pid| cluster.master(*pid) == Some(nodes[0].id)).count() as u64;
    cluster.shift_clock(Some(nodes[0].id), HOUR).unwrap();
    assert_eq!(raws[1].put(digest(7, 1), 1).unwrap().code, OK, "without a sweep the clocks may be apart");
    assert_eq!(cluster.sweep(), ahead);
    assert_eq!(cluster.record_count("test"), Some(100 - ahead));
}

/// A request that writes a blob of this size.
fn put_blob(digest: [u8; 20], size: usize) -> Vec<u8> {
    let value = vec![7; size];
    write(digest, |message| message.op(op::WRITE, b"b", Particle::Blob(&value)).unwrap())
}

#[test]
fn a_device_that_stands_still_refuses_writes_until_it_goes_on() {
    let cluster = EmbeddedCluster::builder().nodes(2).replication_factor(1).start().unwrap();
    let nodes = cluster.nodes();
    let mut raw = Raw::connect(nodes[0].address);
    let (mine, others): (Vec<u16>, Vec<u16>) = (0..200).partition(|pid| cluster.master(*pid) == Some(nodes[0].id));
    assert_eq!(code(&mut raw, &put_blob(digest(mine[0], 1), 1000)), OK);
    cluster.set_device_limit(Some(nodes[0].id), Some(DeviceLimit::new(10_000))).unwrap();
    let codes: Vec<u8> = mine.iter().map(|pid| code(&mut raw, &put_blob(digest(*pid, 1), 1000))).collect();
    let taken = codes.iter().take_while(|code| **code == OK).count();
    assert!((9..=10).contains(&taken), "{taken}");
    assert!(codes[taken..].iter().all(|code| *code == DEVICE_OVERLOAD));
    assert_eq!(code(&mut raw, &put_blob(digest(others[0], 1), 1000)), OK, "the other node keeps up");
    assert_eq!(raw.get(digest(mine[0], 1)).unwrap().code, OK, "reads go on");
    let mut delete = write(digest(mine[0], 1), |_| {});
    delete[8 + 2] |= info2::DELETE;
    assert_eq!(code(&mut raw, &delete), OK, "deletes take no room");
    cluster.set_device_limit(None, None).unwrap();
    assert_eq!(code(&mut raw, &put_blob(digest(mine[0], 1), 1000)), OK);
    // A device that is quick enough is never overloaded.
    cluster.set_device_limit(None, Some(DeviceLimit::new(2000).flush_rate(u64::MAX))).unwrap();
    assert!(mine.iter().all(|pid| code(&mut raw, &put_blob(digest(*pid, 1), 1000)) == OK));
    assert!(cluster.set_device_limit(Some("ABC".parse().unwrap()), None).is_err());
}

#[test]
fn copies_count_at_the_devices_of_their_replicas() {
    let cluster = EmbeddedCluster::builder().nodes(2).start().unwrap();
    let nodes = cluster.nodes();
    let mut raw = Raw::connect(nodes[0].address);
    let of = |node: usize| (0..4096).find(|pid| cluster.master(*pid) == Some(nodes[node].id)).unwrap();
    cluster.set_device_limit(Some(nodes[1].id), Some(DeviceLimit::new(1500))).unwrap();
    for _ in 0..5 {
        assert_eq!(code(&mut raw, &put_blob(digest(of(0), 1), 1000)), OK, "a replica takes more");
    }
    assert_eq!(code(&mut raw, &put_blob(digest(of(1), 1), 10)), DEVICE_OVERLOAD);
    let udf = write(digest(of(1), 1), |message| {
        message.field(field::UDF_PACKAGE, b"m");
        message.field(field::UDF_FUNCTION, b"f");
        message.field(field::UDF_ARGUMENTS, &[0x90]);
    });
    assert_eq!(code(&mut raw, &udf), DEVICE_OVERLOAD);
}
