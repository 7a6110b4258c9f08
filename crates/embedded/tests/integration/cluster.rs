//! Nodes, ownership, generations, namespaces: what the cluster does, seen from its handle and from the wire.

use crate::common::{Raw, digest, put, scan, scan_with};
use aerolane_embedded::{ClusterError, EmbeddedCluster, NamespaceOptions, NodeId};
use aerolane_wire::message::field;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn cluster(nodes: usize, factor: usize) -> EmbeddedCluster {
    EmbeddedCluster::builder().nodes(nodes).replication_factor(factor).start().unwrap()
}

fn generations(raw: &mut Raw) -> [u64; 3] {
    ["partition-generation", "rebalance-generation", "peers-generation"].map(|name| raw.info(name).parse().unwrap())
}

/// The partitions that a node says it is master of.
fn mastered(raw: &mut Raw) -> BTreeSet<u16> {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let map = raw.info("replicas");
    let bits = STANDARD.decode(map.split(',').nth(2).unwrap()).unwrap();
    assert_eq!(bits.len(), 512);
    (0..4096).filter(|pid| bits[usize::from(*pid) / 8] & (0x80 >> (pid % 8)) != 0).collect()
}

#[test]
fn nodes_know_each_other_and_share_the_partitions() {
    let cluster = cluster(3, 2);
    let nodes = cluster.nodes();
    assert_eq!(cluster.seeds().split(',').count(), 3);
    let mut all = BTreeSet::new();
    for node in &nodes {
        let mut raw = Raw::connect(node.address);
        assert_eq!(raw.info("node"), node.id.to_string());
        assert_eq!(node.id.to_string().len(), 16);
        assert_eq!(generations(&mut raw), [0, 1, 2]);
        assert!(raw.info("replicas").starts_with("test:0,2,"));
        let peers = raw.info("peers-clear-std");
        assert!(peers.starts_with("2,3000,["), "{peers}");
        for other in nodes.iter().filter(|other| other.id != node.id) {
            assert!(peers.contains(&format!("[{},,[{}]]", other.id, other.address)), "{peers}");
        }
        assert!(!peers.contains(&node.id.to_string()));
        let mine = mastered(&mut raw);
        assert!(mine.iter().all(|pid| cluster.master(*pid) == Some(node.id)));
        assert!((1200..1550).contains(&mine.len()));
        all.extend(mine);
        assert_eq!(raw.info("service-clear-std"), node.address.to_string());
        assert_eq!(raw.info("cluster-stable:size=3"), raw.info("cluster-stable"));
        assert!(raw.info("statistics").contains(";cluster_size=3;"));
    }
    assert_eq!(all.len(), 4096);
}

#[test]
fn changes_of_the_members_show_in_all_generations() {
    let cluster = cluster(3, 2);
    let nodes = cluster.nodes();
    let mut first = Raw::connect(nodes[0].address);
    let mut second = Raw::connect(nodes[1].address);
    let key = first.info("cluster-stable");
    let old = mastered(&mut first);

    cluster.stop_node(nodes[1].id).unwrap();
    assert!(second.frame().is_err(), "connections of a stopped node are closed");
    assert!(std::net::TcpStream::connect(nodes[1].address).is_err(), "its port is closed, too");
    assert_eq!(generations(&mut first), [1, 2, 3]);
    assert_ne!(first.info("cluster-stable"), key);
    let grown = mastered(&mut first);
    assert!(grown.is_superset(&old) && grown.len() > old.len());
    assert!(!first.info("peers-clear-std").contains(&nodes[1].id.to_string()));
    assert_eq!(cluster.nodes().iter().filter(|n| n.live).count(), 2);

    cluster.start_node(nodes[1].id).unwrap();
    let mut second = Raw::connect(nodes[1].address);
    // A new process: its generations begin anew.
    assert_eq!(generations(&mut second), [0, 1, 2]);
    assert_eq!(generations(&mut first), [2, 3, 4]);
    assert_eq!(mastered(&mut first), old);

    let added = cluster.add_node().unwrap();
    assert_eq!(
        mastered(&mut Raw::connect(added.address)).len(),
        4096 - {
            let masters = |n: &aerolane_embedded::NodeInfo| mastered(&mut Raw::connect(n.address)).len();
            nodes.iter().map(masters).sum::<usize>()
        }
    );
    cluster.set_master(7, Some(nodes[0].id)).unwrap();
    assert_eq!(cluster.master(7), Some(nodes[0].id));
    assert_eq!(generations(&mut first), [4, 4, 5]);
    let last = first.info("cluster-stable:size=4");
    let hexadecimal = last.split_whitespace().last().map(|number| u64::from_str_radix(number, 16));
    assert!(last != key && hexadecimal.is_some_and(|number| number.is_ok()), "{last}");
}

#[test]
fn partitions_that_are_held_move_nowhere() {
    let cluster = cluster(2, 1);
    let nodes = cluster.nodes();
    let [mut first, mut second] = [0, 1].map(|at| Raw::connect(nodes[at].address));
    let shares = [mastered(&mut first), mastered(&mut second)];
    let pid = *shares[1].first().unwrap();
    assert_eq!(first.put(digest(pid, 1), 1).unwrap().code, 0);
    cluster.hold_partitions(true);
    cluster.stop_node(nodes[1].id).unwrap();
    assert_eq!(mastered(&mut first), shares[0], "nobody claims those of the other");
    cluster.start_node(nodes[1].id).unwrap();
    assert_eq!(mastered(&mut Raw::connect(nodes[1].address)), shares[1]);
    assert_eq!(cluster.record_count("test"), Some(1));
    cluster.stop_node(nodes[1].id).unwrap();
    cluster.hold_partitions(false);
    assert_eq!((mastered(&mut first).len(), cluster.record_count("test")), (4096, Some(0)));
}

#[test]
fn records_survive_as_long_as_one_owner_does() {
    let cluster = cluster(3, 2);
    let nodes = cluster.nodes();
    let mut raw = Raw::connect(nodes[0].address);
    for pid in 0..300 {
        // Any node executes requests for any partition, as a node that proxies them.
        assert_eq!(raw.put(digest(pid, 1), pid.into()).unwrap().code, 0);
    }
    cluster.stop_node(nodes[1].id).unwrap();
    cluster.stop_node(nodes[2].id).unwrap();
    assert_eq!(cluster.record_count("test"), Some(300), "one after the other: replicas are made in between");
    cluster.start_node(nodes[1].id).unwrap();
    cluster.start_node(nodes[2].id).unwrap();
    cluster.stop_nodes(&[nodes[1].id, nodes[2].id]).unwrap();
    let left = cluster.record_count("test").unwrap();
    assert!(left > 100 && left < 300, "both owners of some partitions went at once: {left}");
    cluster.stop_node(nodes[0].id).unwrap();
    assert_eq!(cluster.record_count("test"), Some(0));
    assert_eq!(cluster.seeds(), "");
    assert_eq!(cluster.master(0), None);
}

#[test]
fn scans_answer_for_held_partitions_only() {
    let cluster = cluster(3, 1);
    let node = cluster.nodes()[0];
    let mut raw = Raw::connect(node.address);
    let (own, foreign): (Vec<u16>, Vec<u16>) = (0..64).partition(|pid| cluster.master(*pid) == Some(node.id));
    for pid in 0..64 {
        for n in 1..4 {
            raw.put(digest(pid, n), 1).unwrap();
        }
    }
    raw.send(&scan(0..64));
    let answers = raw.until_last();
    let unavailable: Vec<_> = answers.iter().filter(|a| a.partition_done).collect();
    assert!(unavailable.iter().all(|a| a.code == 11 && foreign.contains(&(a.generation as u16))));
    assert_eq!(unavailable.len(), foreign.len());
    let records: Vec<_> = answers.iter().filter_map(|a| a.digest).collect();
    assert_eq!(records.len(), own.len() * 3);
    // Falling digests inside a partition.
    for pid in &own {
        let of: Vec<u8> = records.iter().filter(|d| d[..2] == pid.to_le_bytes()).map(|d| d[2]).collect();
        assert_eq!(of, [3, 2, 1]);
    }
    assert_eq!(answers.last().map(|a| a.code), Some(0));
}

#[test]
fn scans_keep_their_rate_and_can_be_aborted() {
    let cluster = cluster(1, 1);
    let address = cluster.nodes()[0].address;
    let mut raw = Raw::connect(address);
    for n in 0..40 {
        raw.put(digest(5, n), 1).unwrap();
    }
    let request = |rate: u32, id: u64| {
        scan_with([5], move |message| {
            message.field(field::RECORDS_PER_SECOND, &rate.to_be_bytes());
            message.field(field::QUERY_ID, &id.to_be_bytes());
        })
    };
    let start = Instant::now();
    raw.send(&request(100, 1));
    assert_eq!(raw.until_last().len(), 41);
    assert!(start.elapsed() >= Duration::from_millis(200), "{:?}", start.elapsed());

    let mut control = Raw::connect(address);
    raw.send(&request(1, 2));
    let deadline = Instant::now() + Duration::from_secs(60);
    while !control.info("query-show:trid=2").contains("status=active") {
        assert!(Instant::now() < deadline);
    }
    let mut other = Raw::connect(address);
    other.send(&request(0, 2));
    assert_eq!(other.answer().unwrap().code, 4, "the number of a running query is taken");
    assert_eq!(control.info("query-abort:trid=2"), "ok");
    assert_eq!(raw.until_last().last().map(|a| a.code), Some(15));
    // A client that leaves ends its query, too.
    other.send(&request(1, 3));
    while !control.info("query-show:trid=3").contains("status=active") {
        assert!(Instant::now() < deadline);
    }
    drop(other);
    while control.info("query-show:trid=3").contains("status=active") {
        assert!(Instant::now() < deadline, "the query of a client that has gone goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn several_namespaces_with_settings_of_their_own() {
    let cluster = EmbeddedCluster::builder()
        .nodes(2)
        .namespace_with(NamespaceOptions::new("once").replication_factor(1).default_ttl(100))
        .namespace("test")
        .cluster_name("mine")
        .build("7.0.0.5")
        .start()
        .unwrap();
    let mut raw = Raw::connect(cluster.nodes()[0].address);
    assert_eq!(raw.info("namespaces"), "once;test");
    assert_eq!(raw.info("cluster-name"), "mine");
    assert_eq!(raw.info("build"), "7.0.0.5");
    assert!(raw.info("version").ends_with(" build 7.0.0.5"));
    let map = raw.info("replicas");
    assert!(map.starts_with("once:0,1,") && map.contains(";test:0,2,"));
    assert!(raw.info("namespace/once").contains(";default-ttl=100;"));
    assert!(raw.info("namespace/test").contains(";effective_replication_factor=2;"));
    assert_eq!(raw.info("set-config:context=namespace;namespace=test;default-ttl=2D"), "ok");
    assert!(raw.info("get-config:context=namespace;namespace=test").contains("default-ttl=172800;"));
    raw.put(digest(1, 1), 5).unwrap();
    assert!(raw.info("sets/test/s").starts_with("objects=1:"));
    assert_eq!((cluster.record_count("test"), cluster.record_count("nope")), (Some(1), None));
}

#[test]
fn settings_out_of_range_and_ports_in_use_are_told() {
    let told = |builder: aerolane_embedded::Builder, part: &str| match builder.start() {
        Err(ClusterError::Setting(text)) => assert!(text.contains(part), "{text}"),
        other => panic!("{part}: {other:?}"),
    };
    let builder = EmbeddedCluster::builder;
    told(builder().nodes(0), "0 nodes");
    told(builder().nodes(129), "129 nodes");
    told(builder().replication_factor(0), "replication factor 0");
    told(builder().namespace(""), "namespace name");
    told(builder().namespace("a".repeat(32)), "namespace name");
    told(builder().namespace("a;b"), "namespace name");
    told(builder().namespace("a").namespace("a"), "twice");
    told(builder().default_ttl(400_000_000), "default TTL");
    told(builder().cluster_name("a\nb"), "cluster name");
    for build in ["", "8.1.2", "8.1.2.0.1", "8.1.2.x", "8.1.2.0\n", "99999.1.1.1"] {
        told(builder().build(build), "four numbers");
    }
    told(builder().nodes(3).port(65_534), "do not fit");
    told(builder().first_node_id(0), "node id");
    told(builder().user("", "x"), "user name");

    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    assert!(matches!(builder().port(port).start(), Err(ClusterError::Bind { address, .. }) if address.port() == port));

    let cluster = cluster(1, 1);
    let nobody: NodeId = "FF".parse().unwrap();
    assert!(matches!(cluster.stop_node(nobody), Err(ClusterError::UnknownNode(id)) if id == nobody));
    assert!(matches!(cluster.start_node(nobody), Err(ClusterError::UnknownNode(_))));
    assert!(matches!(cluster.set_master(1, Some(nobody)), Err(ClusterError::UnknownNode(_))));
    assert!(matches!(cluster.set_master(4096, None), Err(ClusterError::Setting(_))));
}

#[test]
fn a_stopped_node_keeps_its_ports() {
    let cluster = cluster(2, 1);
    let node = cluster.nodes()[0];
    for _ in 0..2 {
        cluster.stop_node(node.id).unwrap();
        // It is for nobody else, whom the system would give any free port, and nobody answers there.
        let other = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        assert_eq!(other.bind(&node.address.into()).unwrap_err().kind(), ErrorKind::AddrInUse);
        assert_eq!(TcpStream::connect(node.address).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        cluster.start_node(node.id).unwrap();
        assert_eq!(Raw::connect(node.address).info("node"), node.id.to_string());
    }
}

#[test]
fn dropping_the_cluster_closes_everything() {
    let cluster = EmbeddedCluster::builder().nodes(2).start().unwrap();
    let addresses: Vec<_> = cluster.nodes().iter().map(|n| n.address).collect();
    let mut raw = Raw::connect(addresses[0]);
    raw.send(&put(digest(1, 1), 1));
    raw.answer().unwrap();
    cluster.shutdown();
    assert!(raw.rest().0.is_empty());
    for address in addresses {
        assert!(std::net::TcpStream::connect(address).is_err());
        // The port is free again.
        std::net::TcpListener::bind(address).unwrap();
    }
}

#[test]
fn nodes_tell_the_addresses_that_they_are_told_to() {
    let cluster = EmbeddedCluster::builder()
        .nodes(2)
        .host([0, 0, 0, 0].into())
        .advertise([10, 1, 2, 3].into())
        .advertise_alternate([192, 0, 2, 9].into())
        .start()
        .unwrap();
    let [first, second] = [0, 1].map(|at| cluster.nodes()[at].address.port());
    assert_eq!(cluster.seeds(), format!("10.1.2.3:{first},10.1.2.3:{second}"));
    let mut node = Raw::connect(([127, 0, 0, 1], first).into());
    assert_eq!(node.info("service-clear-std"), format!("10.1.2.3:{first}"));
    assert_eq!(node.info("service-clear-alt"), format!("192.0.2.9:{first}"));
    assert!(node.info("peers-clear-std").ends_with(&format!("[10.1.2.3:{second}]]]")));
    assert!(node.info("peers-clear-alt").ends_with(&format!("[192.0.2.9:{second}]]]")));
    assert_eq!(node.info("services-alternate"), format!("192.0.2.9:{second}"));
}

#[test]
fn nodes_that_listen_everywhere_tell_the_loopback_address() {
    let cluster = EmbeddedCluster::builder().host([0, 0, 0, 0].into()).start().unwrap();
    let port = cluster.nodes()[0].address.port();
    assert_eq!(cluster.seeds(), format!("127.0.0.1:{port}"));
    assert_eq!(Raw::connect(([127, 0, 0, 1], port).into()).info("service-clear-std"), cluster.seeds());
}
