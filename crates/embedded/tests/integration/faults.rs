//! Every kind of fault, from the handle and by the admin command, seen from the wire.

use crate::common::{Raw, batch, digest, get, put, write};
use aerolane_embedded::EmbeddedCluster;
use aerolane_embedded::faults::{Direction, FaultAction, FaultRule, RequestKind};
use aerolane_wire::batch::RowHeader;
use aerolane_wire::message::{MessageHeader, field, info1, op};
use aerolane_wire::particle::Particle;
use std::io::{ErrorKind, Write as _};
use std::time::{Duration, Instant};

/// A batch that reads these records.
fn batch_get(digests: &[[u8; 20]]) -> Vec<u8> {
    batch(digests.len() as u32, MessageHeader::default(), |rows, n| {
        rows.row(n, &digests[n as usize], &RowHeader::read(info1::READ | info1::GET_ALL, 0, 0), |row| {
            row.field(field::NAMESPACE, b"test");
            Ok(())
        })
    })
}

fn cluster() -> EmbeddedCluster {
    EmbeddedCluster::builder().nodes(1).start().unwrap()
}

fn connect(cluster: &EmbeddedCluster) -> Raw {
    Raw::connect(cluster.nodes()[0].address)
}

fn set(cluster: &EmbeddedCluster, rule: &FaultRule) {
    cluster.set_fault(None, rule).unwrap();
}

#[test]
fn drops_before_and_after_executing() {
    let cluster = cluster();
    set(&cluster, &FaultRule::new(FaultAction::DropBefore).on(RequestKind::Write).times(1));
    assert!(connect(&cluster).put(digest(1, 1), 1).is_err());
    assert_eq!(cluster.record_count("test"), Some(0));
    set(&cluster, &FaultRule::new(FaultAction::DropAfter).on(RequestKind::Write).times(1));
    let error = connect(&cluster).put(digest(1, 1), 1).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof), "{error}");
    assert_eq!(cluster.record_count("test"), Some(1));
    // Both rules have struck as often as they may.
    assert_eq!(connect(&cluster).put(digest(1, 2), 1).unwrap().code, 0);
}

#[test]
fn delays_hold_back_one_connection_and_not_the_others() {
    let cluster = cluster();
    // Long enough for a busy machine to do the rest meanwhile.
    let delay = Duration::from_secs(4);
    set(&cluster, &FaultRule::new(FaultAction::Delay(delay)).on(RequestKind::Write));
    let (mut slow, mut quick) = (connect(&cluster), connect(&cluster));
    let start = Instant::now();
    slow.send(&put(digest(1, 1), 1));
    assert_eq!(quick.get(digest(2, 1)).unwrap().code, 2);
    assert!(start.elapsed() < delay, "{:?}", start.elapsed());
    assert_eq!(cluster.record_count("test"), Some(0), "not executed yet");
    assert_eq!(slow.answer().unwrap().code, 0);
    assert!(start.elapsed() >= delay);
    cluster.clear_faults();
    set(&cluster, &FaultRule::new(FaultAction::AnswerDelay(delay)).on(RequestKind::Write));
    let start = Instant::now();
    slow.send(&put(digest(3, 1), 1));
    while cluster.record_count("test") != Some(2) {
        assert!(start.elapsed() < delay, "executed at once");
    }
    assert_eq!(slow.answer().unwrap().code, 0);
    assert!(start.elapsed() >= delay);
}

#[test]
fn a_stalled_connection_goes_on_when_the_rules_are_cleared() {
    let cluster = cluster();
    set(&cluster, &FaultRule::new(FaultAction::Stall).on(RequestKind::Read));
    let mut raw = connect(&cluster);
    raw.send(&get(digest(1, 1)));
    raw.timeout(Duration::from_millis(200));
    assert_eq!(raw.frame().unwrap_err().kind(), ErrorKind::WouldBlock);
    raw.timeout(Duration::from_secs(60));
    cluster.clear_faults();
    assert_eq!(raw.answer().unwrap().code, 2);
}

#[test]
fn answers_are_cut_split_replaced_and_coded() {
    let cluster = cluster();
    connect(&cluster).put(digest(1, 1), 77).unwrap();
    let whole = {
        let mut raw = connect(&cluster);
        raw.send(&get(digest(1, 1)));
        raw.frame().unwrap().1
    };
    set(&cluster, &FaultRule::new(FaultAction::Truncate(11)).on(RequestKind::Read).times(1));
    let mut raw = connect(&cluster);
    raw.send(&get(digest(1, 1)));
    assert_eq!(raw.rest().0.len(), 11);

    cluster.clear_faults();
    set(&cluster, &FaultRule::new(FaultAction::Split).on(RequestKind::Read).times(1));
    let mut raw = connect(&cluster);
    raw.send(&get(digest(1, 1)));
    assert_eq!(raw.frame().unwrap().1, whole);

    cluster.clear_faults();
    set(&cluster, &FaultRule::new(FaultAction::Result(18)).on(RequestKind::Read).skip(1).times(2));
    let codes: Vec<u8> = (0..4).map(|_| raw.get(digest(1, 1)).unwrap().code).collect();
    assert_eq!(codes, [0, 18, 18, 0]);

    cluster.clear_faults();
    set(&cluster, &FaultRule::new(FaultAction::Garbage(b"\xff\xff\xff".to_vec())).times(1));
    raw.send(&get(digest(1, 1)));
    raw.timeout(Duration::from_secs(1));
    let (bytes, _) = raw.rest();
    assert_eq!(bytes, b"\xff\xff\xff");
}

#[test]
fn refused_connections_are_reset() {
    let cluster = cluster();
    set(&cluster, &FaultRule::new(FaultAction::Refuse).times(1));
    let mut refused = connect(&cluster);
    assert!(refused.rest().0.is_empty());
    assert_eq!(connect(&cluster).info("status"), "ok");
}

#[test]
fn unowned_partitions_can_be_refused() {
    let cluster = EmbeddedCluster::builder().nodes(2).replication_factor(1).start().unwrap();
    let nodes = cluster.nodes();
    let pid = (0..4096).find(|pid| cluster.master(*pid) == Some(nodes[1].id)).unwrap();
    let mut raw = Raw::connect(nodes[0].address);
    assert_eq!(raw.put(digest(pid, 1), 1).unwrap().code, 0, "a node answers for others");
    cluster.set_fault(Some(nodes[0].id), &FaultRule::new(FaultAction::RejectUnowned)).unwrap();
    assert_eq!(raw.put(digest(pid, 1), 1).unwrap().code, 11);
    assert_eq!(raw.get(digest(pid, 1)).unwrap().code, 11);
    assert_eq!(Raw::connect(nodes[1].address).get(digest(pid, 1)).unwrap().code, 0);
    cluster.set_master(pid, Some(nodes[0].id)).unwrap();
    assert_eq!(raw.get(digest(pid, 1)).unwrap().code, 0);
}

#[test]
fn the_admin_command_does_the_same() {
    let cluster = EmbeddedCluster::builder().nodes(2).start().unwrap();
    let nodes = cluster.nodes();
    let mut raw = Raw::connect(nodes[0].address);
    let other = nodes[1].id;
    assert_eq!(raw.info("aerolane-fault:add;result=9;on=read;times=1"), format!("node={};id=1", nodes[0].id));
    assert_eq!(raw.get(digest(1, 1)).unwrap().code, 9);
    assert_eq!(raw.get(digest(1, 1)).unwrap().code, 2);
    assert!(raw.info(&format!("aerolane-fault:add;stall;on=info;node={other}")).starts_with("node="));
    let list = raw.info("aerolane-fault:list");
    assert!(list.contains("result=9;on=read;times=1;struck=1") && list.contains(";stall;on=info;struck=0"), "{list}");
    // The command itself is never struck, even by a rule for all info requests.
    assert_eq!(Raw::connect(nodes[1].address).info("aerolane-fault:remove;id=1"), "ok");
    assert_eq!(raw.info("aerolane-fault:remove;id=7"), "ERROR:4:no such rule");
    assert_eq!(raw.info(&format!("aerolane-fault:master;partition=9;node={other}")), "ok");
    assert_eq!(cluster.master(9), Some(other));
    assert_eq!(raw.info("aerolane-fault:clear"), "ok");
    assert_eq!(raw.info("aerolane-fault:list"), "");
    for bad in ["", "add", "add;delay=-1", "add;stall;node=zz", "add;stall;node=1", "master;partition=4096", "nope"] {
        assert!(raw.info(&format!("aerolane-fault:{bad}")).starts_with("ERROR:4:"), "{bad}");
    }
    assert_eq!(raw.info("status"), "ok");
}

#[test]
fn requests_behind_a_fault_stay_in_order() {
    let cluster = cluster();
    set(&cluster, &FaultRule::new(FaultAction::Delay(Duration::from_millis(30))).probability(0.3));
    let mut raw = connect(&cluster);
    let mut pipeline = Vec::new();
    for n in 0..40_u8 {
        pipeline.write_all(&put(digest(n.into(), 1), n.into())).unwrap();
        pipeline.write_all(&get(digest(n.into(), 1))).unwrap();
    }
    raw.send(&pipeline);
    for n in 0..40_u8 {
        assert_eq!(raw.answer().unwrap().code, 0);
        assert_eq!(raw.answer().unwrap().bins[0].1, i64::from(n).to_be_bytes());
    }
}

#[test]
fn long_answers_are_cut_and_split_too_and_other_requests_stream_on() {
    let cluster = cluster();
    let mut raw = connect(&cluster);
    for n in 0..=255 {
        for pid in 0..20 {
            raw.send(&put(digest(pid, n), 1));
            raw.answer().unwrap();
        }
    }
    let whole = {
        raw.send(&crate::common::scan(0..20));
        raw.until_last().len()
    };
    assert_eq!(whole, 20 * 256 + 1);
    set(&cluster, &FaultRule::new(FaultAction::Truncate(150_000)).on(RequestKind::Query).times(1));
    raw.send(&crate::common::scan(0..20));
    assert_eq!(raw.rest().0.len(), 150_000);
    // A rule is still there, but it strikes something else.
    set(&cluster, &FaultRule::new(FaultAction::Split).on(RequestKind::Write));
    let mut raw = connect(&cluster);
    raw.send(&crate::common::scan(0..20));
    assert_eq!(raw.until_last().len(), whole);
    assert_eq!(raw.put(digest(1, 1), 1).unwrap().code, 0);
}

#[test]
fn rules_are_about_sets_keys_and_connections() {
    let cluster = cluster();
    set(&cluster, &FaultRule::new(FaultAction::Result(1)).set("s"));
    set(&cluster, &FaultRule::new(FaultAction::Result(2)).key_prefix("user-"));
    set(&cluster, &FaultRule::new(FaultAction::Result(3)).digest(digest(9, 9)));
    set(&cluster, &FaultRule::new(FaultAction::Result(4)).connection(2));
    let mut raw = connect(&cluster);
    // Of several results the last one counts.
    let key = |key: &[u8], n| {
        write(digest(1, n), |message| {
            message.field(field::KEY, &[b"\x03", key].concat());
            message.op(op::WRITE, b"i", Particle::Integer(1)).unwrap();
        })
    };
    for (request, code) in [
        (put(digest(1, 1), 1), 1),
        (key(b"user-1", 2), 2),
        (key(b"use", 3), 1),
        (put(digest(9, 9), 1), 3),
        (get(digest(9, 9)), 3),
    ] {
        raw.send(&request);
        assert_eq!(raw.answer().unwrap().code, code);
    }
    let mut second = connect(&cluster);
    second.send(&get(digest(1, 1)));
    assert_eq!(second.answer().unwrap().code, 4);
    assert_eq!(connect(&cluster).get(digest(1, 1)).unwrap().code, 2, "of no set");
    assert_eq!(cluster.record_count("test"), Some(0));
}

#[test]
fn rows_of_a_batch_have_results_of_their_own() {
    let cluster = cluster();
    let mut raw = connect(&cluster);
    for n in 0..6 {
        raw.put(digest(1, n), 1).unwrap();
    }
    let digests: Vec<_> = (0..6).map(|n| digest(1, n)).collect();
    let mut codes = || -> Vec<u8> {
        raw.send(&batch_get(&digests));
        let answers = raw.until_last();
        answers.iter().filter(|answer| !answer.last).map(|answer| answer.code).collect()
    };
    let row = |code| FaultRule::new(FaultAction::Result(code)).on(RequestKind::BatchRow);
    set(&cluster, &row(14).skip(1).times(2));
    set(&cluster, &row(18).digest(digest(1, 5)));
    assert_eq!(codes(), [0, 14, 14, 0, 0, 18]);
    assert_eq!(codes(), [0, 0, 0, 0, 0, 18]);
    cluster.clear_faults();
    // A whole batch is about a set, if any of its rows is.
    set(&cluster, &FaultRule::new(FaultAction::Result(9)).on(RequestKind::Batch).digest(digest(1, 3)));
    assert_eq!(codes(), [0; 0]);
    let error = cluster.set_fault(None, &FaultRule::new(FaultAction::Split).on(RequestKind::BatchRow)).unwrap_err();
    assert!(error.to_string().contains("use the action \"result\""), "{error}");
}

/// A connect that hangs, and comes through when the rule is gone: the system sends its first packet again after a second.
#[cfg(target_os = "linux")]
#[test]
fn connects_vanish_until_the_rule_goes() {
    use std::net::TcpStream;
    let cluster = EmbeddedCluster::builder().nodes(2).start().unwrap();
    let nodes = cluster.nodes();
    let mut open = Raw::connect(nodes[0].address);
    assert_eq!(open.info("node"), nodes[0].id.to_string());
    let rule = FaultRule::new(FaultAction::BlackHole(Direction::Connects));
    let ids = cluster.set_fault(Some(nodes[0].id), &rule).unwrap();
    // The thread that listens learns of it a moment later.
    let begun = Instant::now();
    let short = Duration::from_millis(200);
    while TcpStream::connect_timeout(&nodes[0].address, short).is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
    for _ in 0..3 {
        let error = TcpStream::connect_timeout(&nodes[0].address, short).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }
    assert_eq!(open.info("node"), nodes[0].id.to_string(), "open connections are served");
    assert_eq!(Raw::connect(nodes[1].address).info("node"), nodes[1].id.to_string());
    let late = std::thread::spawn({
        let address = nodes[0].address;
        move || Raw::connect(address).info("node")
    });
    std::thread::sleep(short);
    cluster.remove_fault(nodes[0].id, ids[0]).unwrap();
    assert_eq!(late.join().unwrap(), nodes[0].id.to_string());
    assert_eq!(Raw::connect(nodes[0].address).info("node"), nodes[0].id.to_string());
    // A node that stops and starts meanwhile is as deaf as before.
    cluster.set_fault(Some(nodes[0].id), &rule).unwrap();
    cluster.stop_node(nodes[0].id).unwrap();
    cluster.start_node(nodes[0].id).unwrap();
    let begun = Instant::now();
    while TcpStream::connect_timeout(&nodes[0].address, short).is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
    cluster.clear_faults();
    assert_eq!(Raw::connect(nodes[0].address).info("node"), nodes[0].id.to_string());
}

#[test]
fn what_falls_into_a_black_hole_arrives_when_it_is_gone() {
    let cluster = cluster();
    let node = cluster.nodes()[0].id;
    let silent = |raw: &mut Raw| {
        raw.timeout(Duration::from_millis(100));
        assert_eq!(raw.frame().unwrap_err().kind(), ErrorKind::WouldBlock);
        raw.timeout(Duration::from_secs(60));
    };
    let (mut open, mut other) = (connect(&cluster), connect(&cluster));
    assert_eq!((open.info("status"), other.info("status")), ("ok".to_owned(), "ok".to_owned()));
    for (n, direction, executed) in [(1, Direction::Requests, 0), (2, Direction::Answers, 2), (3, Direction::Both, 2)] {
        let hole = FaultRule::new(FaultAction::BlackHole(direction)).connection(1);
        let id = cluster.set_fault(Some(node), &hole).unwrap()[0];
        open.send(&put(digest(1, n), 1));
        silent(&mut open);
        assert_eq!(cluster.record_count("test"), Some(executed), "{direction:?}");
        assert_eq!(cluster.fault_struck(node, id).unwrap(), Some(1));
        assert_eq!(other.info("status"), "ok");
        assert!(cluster.remove_fault(node, id).unwrap());
        assert_eq!(open.answer().unwrap().code, 0);
        assert_eq!(cluster.record_count("test"), Some(u64::from(n)));
    }
    // It is there for new connections, too, and under conditions.
    cluster.set_conditions(None, &"latency=100us".parse().unwrap()).unwrap();
    for direction in [Direction::Requests, Direction::Answers] {
        set(&cluster, &FaultRule::new(FaultAction::BlackHole(direction)));
        let mut new = connect(&cluster);
        new.send(&get(digest(1, 1)));
        open.send(&get(digest(1, 2)));
        silent(&mut new);
        silent(&mut open);
        cluster.clear_faults();
        assert_eq!((new.answer().unwrap().code, open.answer().unwrap().code), (0, 0));
    }
}

#[test]
fn new_connections_are_served_late() {
    let cluster = cluster();
    let delay = Duration::from_millis(300);
    set(&cluster, &FaultRule::new(FaultAction::ConnectDelay(delay)).times(1));
    let start = Instant::now();
    let mut late = connect(&cluster);
    late.send(&get(digest(1, 1)));
    assert_eq!(late.answer().unwrap().code, 2);
    assert!(start.elapsed() >= delay, "{:?}", start.elapsed());
    assert_eq!(late.get(digest(1, 1)).unwrap().code, 2);
}

#[test]
fn a_seed_gives_the_same_run_again() {
    let struck = |seed| -> Vec<bool> {
        let cluster = EmbeddedCluster::builder().nodes(1).seed(seed).start().unwrap();
        assert_eq!(cluster.seed(), seed);
        set(&cluster, &FaultRule::new(FaultAction::Result(9)).probability(0.5));
        let mut raw = connect(&cluster);
        (0..64).map(|n| raw.get(digest(1, n)).unwrap().code == 9).collect()
    };
    let first = struck(1);
    assert_eq!(struck(1), first);
    assert_ne!(struck(2), first);
}
