//! Service times and latency, seen from the wire. An answer must not come early; how late it is depends on the machine, so
//! upper bounds are those that only a wrong order of magnitude exceeds.

use crate::common::{Raw, digest, get, put};
use aerolane_embedded::conditions::{Conditions, ConditionsError, ServiceKind, ServiceTime};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
use aerolane_embedded::{ClusterError, EmbeddedCluster, NamespaceOptions};
use aerolane_wire::message::{MessageHeader, MessageWriter, field, info1, info2, op};
use aerolane_wire::particle::Particle;
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);
/// What a machine that stands still for ten seconds, twice, does not exceed.
const GENEROUS: Duration = Duration::from_secs(25);

fn conditions(text: &str) -> Conditions {
    text.parse().unwrap()
}

fn cluster(text: &str) -> EmbeddedCluster {
    EmbeddedCluster::builder().conditions(conditions(text)).start().unwrap()
}

fn connect(cluster: &EmbeddedCluster) -> Raw {
    Raw::connect(cluster.nodes()[0].address)
}

/// A connection that the node has taken over.
fn ready(cluster: &EmbeddedCluster) -> Raw {
    let mut raw = connect(cluster);
    assert_eq!(raw.info("status"), "ok");
    raw
}

/// How long one request takes.
fn time(raw: &mut Raw, request: &[u8]) -> Duration {
    let start = Instant::now();
    raw.send(request);
    raw.frame().unwrap();
    start.elapsed()
}

/// A request of this kind that is answered in one frame, though maybe with an error.
fn request(kind: ServiceKind) -> Vec<u8> {
    let header = match kind {
        ServiceKind::Read => return get(digest(1, 1)),
        ServiceKind::Write => return put(digest(1, 1), 1),
        ServiceKind::Batch => MessageHeader { info1: info1::READ | info1::BATCH, ..MessageHeader::default() },
        ServiceKind::Query => MessageHeader { info1: info1::READ, ..MessageHeader::default() },
        _ => MessageHeader { info2: info2::WRITE, ..MessageHeader::default() },
    };
    let mut out = Vec::new();
    let mut message = MessageWriter::frame(&mut out, &header);
    message.field(field::NAMESPACE, b"test");
    if kind == ServiceKind::Udf {
        message.field(field::DIGEST, &digest(1, 1));
        message.field(field::UDF_PACKAGE, b"missing");
        message.field(field::UDF_FUNCTION, b"missing");
        message.field(field::UDF_ARGUMENTS, &[0x90]);
    }
    message.finish().unwrap();
    out
}

#[test]
fn each_kind_of_request_takes_its_time() {
    let cluster = cluster("service-time=read=20ms,write=30ms,batch=40ms,query=50ms,udf=60ms");
    let mut raw = connect(&cluster);
    for (kind, millis) in ServiceKind::ALL.into_iter().zip([20, 30, 40, 50, 60]) {
        let taken = time(&mut raw, &request(kind));
        assert!(taken >= millis * MS && taken < GENEROUS, "{}: {taken:?}", kind.name());
    }
    // A write that also reads is a write.
    let mut operate = Vec::new();
    let header = MessageHeader { info1: info1::READ, info2: info2::WRITE, ..MessageHeader::default() };
    let mut message = MessageWriter::frame(&mut operate, &header);
    message.field(field::NAMESPACE, b"test");
    message.field(field::DIGEST, &digest(1, 1));
    message.op(op::WRITE, b"i", Particle::Integer(2)).unwrap();
    message.op(op::READ, b"i", Particle::Nil).unwrap();
    message.finish().unwrap();
    assert!(time(&mut raw, &operate) >= 30 * MS);
}

#[test]
fn what_has_no_service_time_is_not_delayed_by_it() {
    let cluster = cluster("service-time=write=600s");
    let mut raw = connect(&cluster);
    let start = Instant::now();
    assert_eq!(raw.info("status"), "ok");
    assert_eq!(raw.get(digest(1, 1)).unwrap().code, 2);
    // A write in service does not hold up other connections, and no end of the cluster.
    raw.send(&put(digest(1, 1), 1));
    while cluster.record_count("test") != Some(1) {
        assert!(start.elapsed() < GENEROUS);
    }
    assert_eq!(connect(&cluster).get(digest(1, 1)).unwrap().code, 0);
    raw.timeout(100 * MS);
    assert!(raw.frame().is_err(), "executed, but not answered");
    cluster.shutdown();
    assert!(start.elapsed() < GENEROUS);
}

#[test]
fn requests_of_one_connection_are_served_one_after_the_other() {
    let cluster = cluster("service-time=read=5ms,write=10ms");
    let mut raw = ready(&cluster);
    let requests: Vec<u8> = (0..20).flat_map(|n| [put(digest(n, 1), n.into()), get(digest(n, 1))].concat()).collect();
    let start = Instant::now();
    raw.send(&requests);
    for n in 0..20_u32 {
        assert_eq!(raw.answer().unwrap().code, 0);
        assert!(start.elapsed() >= (n * 15 + 10) * MS);
        assert_eq!(raw.answer().unwrap().bins[0].1, i64::from(n).to_be_bytes(), "in order");
        assert!(start.elapsed() >= (n + 1) * 15 * MS);
    }
}

/// A read of a record that does not exist on each connection, all of them at the same time.
fn read_at_once(connections: &mut [Raw]) {
    for raw in &mut *connections {
        raw.send(&get(digest(1, 1)));
    }
    for raw in connections {
        assert_eq!(raw.answer().unwrap().code, 2);
    }
}

#[test]
fn requests_of_many_connections_are_served_at_the_same_time() {
    let cluster = cluster("service-time=1s");
    let mut connections: Vec<Raw> = (0..60).map(|_| ready(&cluster)).collect();
    let start = Instant::now();
    read_at_once(&mut connections);
    let taken = start.elapsed();
    assert!(taken >= 1000 * MS && taken < GENEROUS, "{taken:?}, where one after the other takes 60 s");
}

#[test]
fn no_more_requests_than_the_limit_are_in_service() {
    let cluster = cluster("service-time=100ms;in-service=3");
    let mut connections: Vec<Raw> = (0..10).map(|_| ready(&cluster)).collect();
    let start = Instant::now();
    read_at_once(&mut connections);
    assert!(start.elapsed() >= 400 * MS, "ten requests, three at a time");
}

#[test]
fn who_waits_for_service_is_served_in_order_of_arrival() {
    let settings = EmbeddedCluster::builder().service_threads(1);
    let cluster = settings.conditions(conditions("service-time=100ms;in-service=1")).start().unwrap();
    let mut connections: Vec<Raw> = (0..4).map(|_| ready(&cluster)).collect();
    let start = Instant::now();
    // Two each: the second one of a connection comes in line when its first one is answered, behind all the others.
    for raw in &mut connections {
        raw.send(&[put(digest(1, 1), 1), put(digest(1, 1), 2)].concat());
    }
    for (place, raw) in (1..).zip(&mut connections) {
        assert_eq!(raw.answer().unwrap().generation, place, "a write is executed when its service begins");
        assert!(start.elapsed() >= place * 100 * MS);
    }
    for (place, raw) in (5..).zip(&mut connections) {
        assert_eq!(raw.answer().unwrap().generation, place);
        assert!(start.elapsed() >= place * 100 * MS);
    }
}

#[test]
fn requests_in_line_are_not_executed_yet() {
    let cluster = cluster("service-time=1s;in-service=1");
    let (mut first, mut second) = (ready(&cluster), ready(&cluster));
    let start = Instant::now();
    first.send(&put(digest(1, 1), 1));
    while cluster.record_count("test") != Some(1) {
        assert!(start.elapsed() < GENEROUS);
    }
    second.send(&put(digest(2, 1), 1));
    std::thread::sleep(200 * MS);
    let count = cluster.record_count("test");
    // If the machine stands still for so long, there is nothing to see.
    assert!(count == Some(1) || start.elapsed() >= 1000 * MS);
    assert_eq!(second.answer().unwrap().code, 0);
    assert!(start.elapsed() >= 2000 * MS);
    assert_eq!(first.answer().unwrap().code, 0);
}

#[test]
fn a_request_that_waits_in_line_beyond_its_time_limit_is_not_executed() {
    let cluster = cluster("service-time=write=300ms;in-service=1");
    let (mut first, mut second) = (ready(&cluster), ready(&cluster));
    let start = Instant::now();
    first.send(&put(digest(1, 1), 1));
    while cluster.record_count("test") != Some(1) {
        assert!(start.elapsed() < GENEROUS);
    }
    let mut hasty = put(digest(2, 1), 1);
    // Frame header 8; the time limit in milliseconds is the word at byte 14 of the message.
    hasty[8 + 14..8 + 18].copy_from_slice(&1_u32.to_be_bytes());
    second.send(&hasty);
    let code = second.answer().unwrap().code;
    // If the machine stands still for so long, there is no line.
    assert!(code == 9 && cluster.record_count("test") == Some(1) || start.elapsed() >= 600 * MS);
    hasty[8 + 14..8 + 18].copy_from_slice(&600_000_u32.to_be_bytes());
    second.send(&hasty);
    assert_eq!((first.answer().unwrap().code, second.answer().unwrap().code), (0, 0));
}

#[test]
fn latency_is_paid_each_way() {
    let cluster = cluster("latency=50ms");
    let start = Instant::now();
    let mut raw = connect(&cluster);
    assert_eq!(raw.info("status"), "ok");
    assert!(start.elapsed() >= 200 * MS, "a round trip to connect, another one to ask");
    assert!(time(&mut raw, &get(digest(1, 1))) >= 100 * MS);
    let start = Instant::now();
    assert_eq!(raw.info("status"), "ok");
    assert!(start.elapsed() >= 100 * MS);
    cluster.set_conditions(None, &conditions("latency=30ms;service-time=20ms")).unwrap();
    assert!(time(&mut raw, &get(digest(1, 1))) >= 80 * MS);
}

#[test]
fn latency_does_not_occupy_the_connection() {
    let cluster = cluster("latency=100ms");
    let mut raw = ready(&cluster);
    let start = Instant::now();
    for n in 0..400 {
        raw.send(&put(digest(n, 1), n.into()));
    }
    for _ in 0..400 {
        assert_eq!(raw.answer().unwrap().code, 0);
    }
    let taken = start.elapsed();
    assert!(taken >= 200 * MS && taken < GENEROUS, "{taken:?}, where one after the other takes 80 s");
}

#[test]
fn jitter_keeps_the_order_of_a_connection() {
    let cluster = cluster("latency=3ms~3ms;service-time=50%:exp:200us+50%:0s;in-service=4;seed=11");
    let mut connections: Vec<Raw> = (0..6).map(|_| connect(&cluster)).collect();
    for round in 0..10 {
        for (at, raw) in (0..).zip(&mut connections) {
            for n in 0..10 {
                let key = digest(round * 10 + n, at);
                raw.send(&put(key, n.into()));
                raw.send(&get(key));
            }
        }
        for raw in &mut connections {
            for n in 0..10_i64 {
                assert_eq!(raw.answer().unwrap().code, 0);
                assert_eq!(raw.answer().unwrap().bins[0].1, n.to_be_bytes());
            }
        }
    }
}

#[test]
fn a_batch_is_one_service_however_long_its_answer() {
    let cluster = cluster("service-time=batch=2s");
    let mut raw = ready(&cluster);
    let rows = 20_000_u32;
    let mut body = rows.to_be_bytes().to_vec();
    body.push(0);
    for row in 0..rows {
        body.extend_from_slice(&row.to_be_bytes());
        body.extend_from_slice(&digest((row % 4096) as u16, (row / 4096) as u8));
        if row == 0 {
            body.push(0);
            body.push(info1::READ | info1::GET_ALL);
            body.extend_from_slice(&1_u16.to_be_bytes());
            body.extend_from_slice(&0_u16.to_be_bytes());
            body.extend_from_slice(&5_u32.to_be_bytes());
            body.push(field::NAMESPACE);
            body.extend_from_slice(b"test");
        } else {
            body.push(1);
        }
    }
    let mut request = Vec::new();
    let header = MessageHeader { info1: info1::READ | info1::BATCH, ..MessageHeader::default() };
    let mut message = MessageWriter::frame(&mut request, &header);
    message.field(field::BATCH, &body);
    message.finish().unwrap();
    let start = Instant::now();
    raw.send(&request);
    let mut frames = 0;
    let mut answered = 0;
    loop {
        let messages = raw.messages().unwrap();
        assert!(start.elapsed() >= 2000 * MS);
        frames += 1;
        answered += messages.len();
        if messages.last().is_some_and(|message| message.last) {
            break;
        }
    }
    assert!(frames > 1 && answered > 1000, "{frames} frames, {answered} rows");
    assert!(start.elapsed() < GENEROUS);
}

#[test]
fn queries_stream_on_after_their_service() {
    let cluster = cluster("service-time=query=50ms;latency=20ms");
    let mut raw = ready(&cluster);
    let writes: Vec<u8> = (0..20).flat_map(|pid| (0..=255).flat_map(move |n| put(digest(pid, n), 1))).collect();
    raw.send(&writes);
    for _ in 0..20 * 256 {
        raw.answer().unwrap();
    }
    let start = Instant::now();
    raw.send(&[crate::common::scan(0..20), get(digest(1, 1))].concat());
    assert_eq!(raw.until_last().len(), 20 * 256 + 1);
    assert!(start.elapsed() >= 90 * MS);
    assert_eq!(raw.answer().unwrap().code, 0);
}

#[test]
fn conditions_come_and_go_while_the_cluster_runs() {
    let cluster = EmbeddedCluster::builder().nodes(2).start().unwrap();
    let nodes = cluster.nodes();
    let mut connections = [Raw::connect(nodes[0].address), Raw::connect(nodes[1].address)];
    for raw in &mut connections {
        raw.put(digest(1, 1), 1).unwrap();
    }
    let slow = conditions("service-time=read=60ms;latency=20ms");
    cluster.set_conditions(Some(nodes[1].id), &slow).unwrap();
    assert_eq!(cluster.conditions(nodes[1].id).unwrap(), slow);
    assert!(cluster.conditions(nodes[0].id).unwrap().are_ideal());
    assert!(time(&mut connections[1], &get(digest(1, 1))) >= 100 * MS);
    // Half a request is on its way while the conditions end.
    let request = put(digest(2, 1), 2);
    connections[1].send(&request[..20]);
    cluster.set_conditions(None, &Conditions::new()).unwrap();
    connections[1].send(&request[20..]);
    assert_eq!(connections[1].answer().unwrap().code, 0);
    for raw in &mut connections {
        for _ in 0..100 {
            assert_eq!(raw.get(digest(1, 1)).unwrap().code, 0);
        }
    }
    cluster.set_conditions(None, &conditions("latency=40ms")).unwrap();
    let added = cluster.add_node().unwrap();
    assert!(time(&mut connections[0], &get(digest(1, 1))) >= 80 * MS);
    assert!(time(&mut Raw::connect(added.address), &get(digest(1, 1))) >= 80 * MS);
    let bad = Conditions::new().in_service(0);
    let error = cluster.set_conditions(None, &bad).unwrap_err();
    assert!(matches!(error, ClusterError::Conditions(ConditionsError::InService(_))), "{error}");
    assert!(EmbeddedCluster::builder().conditions(bad).start().is_err());
}

#[test]
fn faults_come_on_top() {
    let cluster = cluster("service-time=write=30ms;latency=20ms");
    let mut raw = ready(&cluster);
    let fault = |action, kind| {
        cluster.clear_faults();
        cluster.set_fault(None, &FaultRule::new(action).on(kind).times(1)).unwrap();
    };
    let write = put(digest(1, 1), 1);
    for action in [FaultAction::Delay(50 * MS), FaultAction::AnswerDelay(50 * MS)] {
        fault(action, RequestKind::Write);
        assert!(time(&mut raw, &write) >= 120 * MS);
        assert!(time(&mut raw, &write) >= 70 * MS);
    }
    fault(FaultAction::Split, RequestKind::Write);
    let start = Instant::now();
    raw.send(&write);
    assert_eq!(raw.answer().unwrap().generation, 5);
    assert!(start.elapsed() >= 70 * MS);
    fault(FaultAction::Result(18), RequestKind::Write);
    assert!(time(&mut raw, &write) >= 70 * MS);
    fault(FaultAction::Stall, RequestKind::Read);
    raw.send(&[get(digest(1, 1)), write.clone()].concat());
    raw.timeout(200 * MS);
    assert!(raw.frame().is_err(), "nothing comes");
    raw.timeout(Duration::from_secs(60));
    cluster.clear_faults();
    assert_eq!(raw.answer().unwrap().generation, 5);
    assert_eq!(raw.answer().unwrap().generation, 6);
    fault(FaultAction::Truncate(11), RequestKind::Write);
    let start = Instant::now();
    raw.send(&write);
    assert_eq!(raw.rest().0.len(), 11);
    assert!(start.elapsed() >= 70 * MS);
    for action in [FaultAction::DropAfter, FaultAction::DropBefore] {
        fault(action.clone(), RequestKind::Write);
        let mut raw = ready(&cluster);
        let start = Instant::now();
        raw.send(&write);
        assert!(raw.frame().is_err());
        assert!(start.elapsed() >= if action == FaultAction::DropAfter { 70 * MS } else { 40 * MS });
    }
    assert_eq!(ready(&cluster).get(digest(1, 1)).unwrap().generation, 8, "one was dropped after it was executed");
}

#[test]
fn requests_that_a_closed_connection_has_sent_are_executed() {
    let cluster = cluster("service-time=20ms;latency=100ms");
    let mut raw = connect(&cluster);
    raw.send(&put(digest(1, 1), 1));
    drop(raw);
    let start = Instant::now();
    while cluster.record_count("test") != Some(1) {
        assert!(start.elapsed() < GENEROUS);
        std::thread::sleep(MS);
    }
}

#[test]
fn large_requests_and_answers_pass() {
    let namespace = NamespaceOptions::new("test").max_record_size(8 * 1024 * 1024);
    let settings = EmbeddedCluster::builder().namespace_with(namespace);
    let cluster = settings.conditions(conditions("service-time=1ms;latency=5ms")).start().unwrap();
    let mut raw = connect(&cluster);
    let blob = vec![7; 4 * 1024 * 1024];
    let mut write = Vec::new();
    let mut message =
        MessageWriter::frame(&mut write, &MessageHeader { info2: info2::WRITE, ..MessageHeader::default() });
    message.field(field::NAMESPACE, b"test");
    message.field(field::DIGEST, &digest(1, 1));
    message.op(op::WRITE, b"b", Particle::Blob(&blob)).unwrap();
    message.finish().unwrap();
    raw.send(&write);
    assert_eq!(raw.answer().unwrap().code, 0);
    raw.send(&get(digest(1, 1)).repeat(3));
    for _ in 0..3 {
        assert_eq!(raw.answer().unwrap().bins[0].1, blob);
    }
}

#[test]
fn what_is_not_the_protocol_ends_the_connection() {
    let cluster = cluster("service-time=10ms;latency=10ms");
    let mut raw = connect(&cluster);
    raw.send(&[&put(digest(1, 1), 1)[..], &[0xff; 64], &get(digest(1, 1))].concat());
    assert_eq!(raw.answer().unwrap().code, 0);
    assert!(raw.frame().is_err());
}

#[test]
fn the_admin_command_does_the_same() {
    let cluster = EmbeddedCluster::builder().nodes(2).start().unwrap();
    let nodes = cluster.nodes();
    let mut raw = Raw::connect(nodes[0].address);
    let text = "service-time=read=exp:60ms,write=99%:1ms+1%:20ms;in-service=8;latency=20ms~5ms;seed=3";
    assert_eq!(raw.info(&format!("aerolane-conditions:set;{text}")), "ok");
    assert_eq!(cluster.conditions(nodes[0].id).unwrap().to_string(), text);
    assert!(cluster.conditions(nodes[1].id).unwrap().are_ideal());
    assert_eq!(raw.info("aerolane-conditions:show"), format!("node={};{text}", nodes[0].id));
    assert_eq!(raw.info("aerolane-conditions:show;node=all").split('|').count(), 2);
    assert_eq!(raw.info("aerolane-conditions:set;node=all;latency=30ms"), "ok");
    assert!(time(&mut Raw::connect(nodes[1].address), &get(digest(1, 1))) >= 60 * MS);
    assert_eq!(
        cluster.conditions(cluster.add_node().unwrap().id).unwrap().to_string(),
        conditions("latency=30ms").to_string()
    );
    assert_eq!(raw.info("aerolane-conditions:clear;node=all"), "ok");
    assert!(cluster.nodes().iter().all(|node| cluster.conditions(node.id).unwrap().are_ideal()));
    for (bad, text) in [
        ("", "expected set, show or clear"),
        ("set;latency=fast", "\"fast\" is not a duration"),
        ("set;in-service=0", "the limit of requests in service is 0"),
        ("set;speed=1", "unknown setting \"speed\""),
        ("set;node=zz", "bad 'node'"),
        ("clear;latency=1ms", "unknown parameter 'latency'"),
    ] {
        let answer = raw.info(&format!("aerolane-conditions:{bad}"));
        assert!(answer.starts_with(&format!("ERROR:4:{text}")), "{bad}: {answer}");
    }
    // No fault strikes it.
    cluster.set_fault(None, &FaultRule::new(FaultAction::DropBefore)).unwrap();
    assert_eq!(raw.info("aerolane-conditions:clear"), "ok");
}

/// Epoll's own timeouts are milliseconds. The machine may be busy, but not all the time.
#[test]
fn times_are_exact_to_less_than_a_millisecond() {
    let time_of = ServiceTime::fixed(Duration::from_micros(300));
    let conditions = Conditions::new().service_time(ServiceKind::Read, time_of).latency(Duration::from_micros(100));
    let cluster = EmbeddedCluster::builder().conditions(conditions).start().unwrap();
    let mut raw = ready(&cluster);
    let start = Instant::now();
    let mut best = Duration::MAX;
    while best >= MS {
        best = best.min(time(&mut raw, &get(digest(1, 1))));
        assert!(best >= Duration::from_micros(500), "{best:?}");
        assert!(start.elapsed() < Duration::from_secs(60), "{best:?} at best");
    }
}
