//! Every kind of fault, from the handle and by the admin command, seen from the wire.

use crate::common::{Raw, digest, get, put};
use aerolane_embedded::EmbeddedCluster;
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
use std::io::{ErrorKind, Write as _};
use std::time::{Duration, Instant};

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
