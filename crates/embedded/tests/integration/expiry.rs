//! Records that expire: unseen at once, and gone with the next sweep. Time is moved, not waited for.

use crate::common::{Raw, digest};
use aerolane_embedded::{EmbeddedCluster, NamespaceOptions};
use aerolane_wire::message::{MessageHeader, MessageWriter, field, info2, op};
use aerolane_wire::particle::Particle;
use std::time::{Duration, Instant};

const NEVER: u32 = u32::MAX;

/// A request that writes bin `n` with a TTL.
fn put(digest: [u8; 20], value: i64, ttl: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let header = MessageHeader { info2: info2::WRITE, record_ttl: ttl, ..MessageHeader::default() };
    let mut message = MessageWriter::frame(&mut out, &header);
    message.field(field::NAMESPACE, b"test");
    message.field(field::SET, b"s");
    message.field(field::DIGEST, &digest);
    message.op(op::WRITE, b"n", Particle::Integer(value)).unwrap();
    message.finish().unwrap();
    out
}

/// A request that touches, and gives a new TTL.
fn touch(digest: [u8; 20], ttl: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let header = MessageHeader { info2: info2::WRITE, record_ttl: ttl, ..MessageHeader::default() };
    let mut message = MessageWriter::frame(&mut out, &header);
    message.field(field::NAMESPACE, b"test");
    message.field(field::DIGEST, &digest);
    message.op(op::TOUCH, b"", Particle::Nil).unwrap();
    message.finish().unwrap();
    out
}

impl Raw {
    fn code(&mut self, request: &[u8]) -> u8 {
        self.send(request);
        self.answer().unwrap().code
    }

    /// A value of `namespace/test`.
    fn stat(&mut self, name: &str) -> String {
        let all = self.info("namespace/test");
        let prefix = format!("{name}=");
        all.split(';').find_map(|pair| pair.strip_prefix(&prefix)).unwrap_or_else(|| panic!("no {name}")).to_owned()
    }
}

fn value_of(text: &str, name: &str, separator: char) -> u64 {
    let prefix = format!("{name}=");
    text.split(separator).find_map(|pair| pair.strip_prefix(&prefix)).unwrap().parse().unwrap()
}

fn cluster(nodes: usize, period: u32) -> (EmbeddedCluster, Vec<Raw>) {
    let options = NamespaceOptions::new("test").nsup_period(period);
    let cluster = EmbeddedCluster::builder().nodes(nodes).namespace_with(options).service_threads(1).start().unwrap();
    let nodes = cluster.nodes().iter().map(|node| Raw::connect(node.address)).collect();
    (cluster, nodes)
}

#[test]
fn expired_records_are_unseen_at_once_and_gone_with_the_sweep() {
    let (cluster, mut nodes) = cluster(3, 0);
    assert_eq!(nodes[0].info("sindex-create:namespace=test;set=s;indexname=i;bin=n;type=numeric"), "ok");
    for pid in 0..300 {
        let ttl = if pid < 200 { 10_000 } else { NEVER };
        assert_eq!(nodes[0].code(&put(digest(pid, 1), i64::from(pid), ttl)), 0);
    }
    // One of them lives on.
    assert_eq!(nodes[0].code(&touch(digest(7, 1), 100_000)), 0);
    cluster.advance_clock(Duration::from_secs(9_900)).unwrap();
    assert_eq!(cluster.sweep(), 0);
    assert_eq!(nodes[0].get(digest(3, 1)).unwrap().code, 0);

    cluster.advance_clock(Duration::from_secs(200)).unwrap();
    assert_eq!(nodes[0].get(digest(3, 1)).unwrap().code, 2);
    assert_eq!(nodes[0].get(digest(7, 1)).unwrap().code, 0);
    assert_eq!(cluster.record_count("test"), Some(300), "nothing sweeps by itself with period 0");

    assert_eq!(cluster.sweep(), 199);
    assert_eq!(cluster.record_count("test"), Some(101));
    // Each record is held by two nodes, and each of them counts it.
    let entries = |node: &mut Raw| value_of(&node.info("sindex-stat:namespace=test;indexname=i"), "entries", ';');
    assert_eq!(nodes.iter_mut().map(entries).sum::<u64>(), 202);
    let mut sum = |name: &str| nodes.iter_mut().map(|node| node.stat(name).parse::<u64>().unwrap()).sum::<u64>();
    assert_eq!((sum("expired_objects"), sum("non_expirable_objects"), sum("objects")), (398, 200, 202));
    assert_eq!(sum("evicted_objects"), 0);
    let sets: u64 = nodes.iter_mut().map(|node| value_of(&node.info("sets/test/s"), "objects", ':')).sum();
    assert_eq!(sets, 202);
    for node in &mut nodes {
        let share: f64 = node.stat("nsup_cycle_deleted_pct").parse().unwrap();
        assert!((50.0..80.0).contains(&share), "{share}");
    }
    assert_eq!(cluster.sweep(), 0);
}

#[test]
fn a_record_that_has_expired_can_be_written_anew() {
    let (cluster, mut nodes) = cluster(1, 0);
    let node = &mut nodes[0];
    for value in 0..2 {
        assert_eq!(node.code(&put(digest(5, 1), value, 10)), 0);
    }
    cluster.advance_clock(Duration::from_secs(12)).unwrap();
    assert_eq!(node.code(&touch(digest(5, 1), 10)), 2);
    assert_eq!(node.code(&put(digest(5, 1), 3, NEVER)), 0);
    assert_eq!(node.get(digest(5, 1)).unwrap().generation, 1);
    assert_eq!(cluster.sweep(), 0);
    assert_eq!(cluster.record_count("test"), Some(1));
}

#[test]
fn the_period_can_be_changed_while_the_cluster_runs() {
    let (cluster, mut nodes) = cluster(1, 0);
    let node = &mut nodes[0];
    assert_eq!(node.stat("nsup-period"), "0");
    assert_eq!(node.code(&put(digest(5, 1), 1, 10)), 0);
    cluster.advance_clock(Duration::from_secs(12)).unwrap();
    assert_eq!(node.info("set-config:context=namespace;namespace=test;nsup-period=1"), "ok");
    assert_eq!(node.stat("nsup-period"), "1");
    let deadline = Instant::now() + Duration::from_secs(60);
    // A sweep is counted when it has ended.
    while node.stat("expired_objects") != "1" {
        assert!(Instant::now() < deadline, "nothing sweeps");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(cluster.record_count("test"), Some(0));
    assert!(node.info("set-config:context=namespace;namespace=test;nsup-period=x").starts_with("ERROR:4:"));
    assert_eq!(node.info("set-config:context=namespace;namespace=test;nsup-period=2H"), "ok");
    assert_eq!(node.stat("nsup-period"), "7200");
}

#[test]
fn without_sweeps_nothing_may_expire_unless_it_is_allowed() {
    let (_cluster, mut nodes) = cluster(1, 1);
    let node = &mut nodes[0];
    let set = |node: &mut Raw, what: &str| node.info(&format!("set-config:context=namespace;namespace=test;{what}"));
    assert_eq!(set(node, "nsup-period=0"), "ok");
    assert_eq!(node.code(&put(digest(5, 1), 1, 10)), 22);
    assert_eq!(node.code(&put(digest(5, 1), 1, NEVER)), 0);
    assert_eq!(node.code(&put(digest(5, 1), 1, 0)), 0, "the default is to live for ever");
    assert_eq!(node.code(&touch(digest(5, 1), 100)), 22);
    assert_eq!(set(node, "default-ttl=100"), "ERROR:4:invalid set-config parameter");
    assert_eq!(set(node, "allow-ttl-without-nsup=maybe"), "ERROR:4:invalid set-config parameter");
    assert_eq!(set(node, "allow-ttl-without-nsup=true"), "ok");
    assert_eq!(node.stat("allow-ttl-without-nsup"), "true");
    assert_eq!(node.code(&put(digest(5, 1), 1, 10)), 0);
    assert_eq!(set(node, "default-ttl=100"), "ok");
    assert_eq!(set(node, "allow-ttl-without-nsup=false"), "ok");
    assert_eq!(node.code(&put(digest(5, 1), 1, 0)), 22, "now the default is to expire");
    assert_eq!(node.code(&put(digest(5, 1), 1, NEVER - 1)), 0, "this one keeps what it has");
    assert_eq!(node.code(&put(digest(6, 1), 1, NEVER - 1)), 22, "a new one has nothing to keep");
}

#[test]
fn eviction_takes_what_would_expire_soon() {
    let (cluster, mut nodes) = cluster(1, 0);
    let node = &mut nodes[0];
    for (n, ttl) in [(1, 50), (2, 500), (3, NEVER)] {
        assert_eq!(node.code(&put(digest(n, 1), 1, ttl)), 0);
    }
    assert_eq!(node.info("eviction-reset:namespace=test;ttl=315360001"), "ERROR:4:ttl too big");
    assert_eq!(node.info("eviction-reset:namespace=test;ttl="), "ERROR:4:missing 'ttl' value");
    let asked = Instant::now();
    assert_eq!(node.info("eviction-reset:namespace=test;ttl=0x64"), "ok");
    assert_ne!(node.stat("smd_evict_void_time"), "0");
    assert_eq!(node.stat("evict_void_time"), "0");
    assert_eq!(cluster.sweep(), 1);
    assert_eq!((node.stat("evicted_objects"), node.stat("expired_objects")), ("1".into(), "0".into()));
    let ttl: u64 = node.stat("evict_ttl").parse().unwrap();
    // The clock counts whole seconds.
    let passed = asked.elapsed().as_secs() + 1;
    assert!((100_u64.saturating_sub(passed)..=100).contains(&ttl), "{ttl} after {passed} s");
    assert_eq!(node.stat("evict_void_time"), node.stat("smd_evict_void_time"));
    assert_eq!(node.get(digest(2, 1)).unwrap().code, 0);
    // What is carried out is not carried out again.
    assert_eq!(node.code(&put(digest(1, 1), 1, 20)), 0);
    assert_eq!(cluster.sweep(), 0);
    assert_eq!(node.info("eviction-reset:namespace=test"), "ok");
    assert_eq!(node.stat("smd_evict_void_time"), "0");
}

#[test]
fn clock_and_sweep_have_commands_too() {
    let (cluster, mut nodes) = cluster(2, 0);
    assert_eq!(nodes[0].code(&put(digest(1, 1), 1, 3600)), 0);
    assert_eq!(nodes[0].info("aerolane-clock"), "ahead=0");
    assert_eq!(nodes[0].info("aerolane-clock:advance=2H"), "ahead=7200");
    assert_eq!(nodes[1].info("aerolane-clock"), "ahead=7200", "there is one clock");
    assert_eq!(nodes[1].info("aerolane-sweep"), "removed=1");
    for wrong in ["", "x", "-1", "3651D", "99999999999999999999"] {
        assert!(nodes[0].info(&format!("aerolane-clock:advance={wrong}")).starts_with("ERROR:4:"), "{wrong}");
    }
    assert!(cluster.advance_clock(Duration::from_secs(315_360_000)).is_err());
    assert_eq!(nodes[0].info("aerolane-clock"), "ahead=7200");
}
