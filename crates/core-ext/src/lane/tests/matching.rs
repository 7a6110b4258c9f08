//! Answers go to whom they belong, requests to the least loaded connection.

use super::*;

#[test]
fn answers_match_in_order_whatever_the_pieces() {
    for piece in [1, 2, 3, 7, 8, 9, 50, 10_000] {
        let (mut rig, conns) = Rig::with_open(sizing(), 1);
        for key in 0..4 {
            rig.submit(key);
        }
        assert_eq!(rig.flush_all(), [(conns[0], vec![0, 1, 2, 3])]);
        let bytes: Vec<u8> = (0..4).flat_map(answer).collect();
        for bytes in bytes.chunks(piece) {
            rig.receive(conns[0], bytes).unwrap();
        }
        assert_eq!(rig.outcomes.answered(), [0, 1, 2, 3]);
        let counters = rig.counters();
        assert_eq!((counters.requests, counters.answers, counters.in_flight), (4, 4, 0));
        assert_eq!(counters.bytes_received, bytes.len() as u64);
        assert_eq!(counters.bytes_sent, 4 * request(0, 0).len() as u64);
    }
}

#[test]
fn the_least_loaded_connection_gets_the_next_request() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { min: 2, ..sizing() }, 2);
    for key in 0..5 {
        rig.submit(key);
    }
    assert_eq!(rig.flush_all(), [(conns[0], vec![0, 2, 4]), (conns[1], vec![1, 3])]);
    rig.answer(conns[0], &[0, 2]);
    rig.submit(5);
    rig.submit(6);
    assert_eq!(rig.flush_all(), [(conns[0], vec![5, 6])], "one is in flight there, two on the other");
    rig.answer(conns[0], &[4, 5, 6]);
    rig.answer(conns[1], &[1, 3]);
    assert_eq!(rig.outcomes.answered().len(), 7);
}

#[test]
fn a_connection_is_named_once_until_its_output_is_taken() {
    let (mut rig, conns) = Rig::with_open(sizing(), 1);
    rig.submit(0);
    rig.submit(1);
    assert_eq!(rig.lane.flush_request(), Some(conns[0]));
    assert_eq!(rig.lane.flush_request(), None);
    rig.submit(2);
    assert_eq!(rig.lane.flush_request(), None, "the driver is on its way");
    assert!(rig.lane.has_output(conns[0]));
    assert_eq!(rig.flush(conns[0]), [0, 1, 2]);
    assert!(!rig.lane.has_output(conns[0]));
    assert!(!rig.lane.take_output(conns[0], &mut Vec::new()));
    rig.submit(3);
    assert_eq!(rig.lane.flush_request(), Some(conns[0]));
}

#[test]
fn returned_output_comes_first_again() {
    let (mut rig, conns) = Rig::with_open(sizing(), 1);
    rig.submit(0);
    rig.submit(1);
    let mut out = Vec::new();
    rig.lane.take_output(conns[0], &mut out);
    let written = out.len() / 2 + 5;
    rig.lane.return_output(conns[0], &out[written..]);
    assert_eq!(rig.counters().bytes_sent, written as u64);
    rig.submit(2);
    let mut stream = out[..written].to_vec();
    out.clear();
    assert!(rig.lane.take_output(conns[0], &mut out));
    stream.extend_from_slice(&out);
    assert_eq!(keys(&mut stream), [0, 1, 2]);
    assert_eq!(rig.counters().bytes_sent, 3 * request(0, 0).len() as u64);
    rig.answer(conns[0], &[0, 1, 2]);
}

#[test]
fn classes_and_nodes_keep_apart() {
    let mut rig = Rig::new(sizing());
    let now = rig.now;
    for (node, class, key) in [(0, Class::Single, 1), (0, Class::Batch, 2), (3, Class::Single, 3)] {
        rig.lane.submit(node, class, &request(key, 0), now.plus(9), now, key).unwrap();
    }
    let conns = rig.open_all();
    assert_eq!(conns.len(), 3);
    assert_eq!(rig.lane.in_flight(), 3);
    for conn in conns {
        let expected = match (conn.node(), conn.class()) {
            (0, Class::Single) => 1,
            (0, Class::Batch) => 2,
            _ => 3,
        };
        assert_eq!(rig.flush(conn), [expected]);
        assert_eq!(rig.lane.entries_on(conn), 1);
    }
    assert_eq!((rig.lane.counters(0).in_flight, rig.lane.counters(3).in_flight), (2, 1));
    assert_eq!(rig.lane.counters(77), NodeCounters::default());
}

#[test]
fn names_of_ended_connections_mean_nothing() {
    let (mut rig, conns) = Rig::with_open(sizing(), 1);
    let old = conns[0];
    rig.submit(1);
    rig.flush(old);
    rig.answer(old, &[1]);
    rig.lose(old);
    let new = rig.open_all()[0];
    assert_eq!((new.slot, new.class, new.node), (old.slot, old.class, old.node));
    rig.submit(2);
    rig.flush(new);
    // All of these would break the matching if they reached the new connection in the old one's place.
    rig.receive(old, &answer(99)).unwrap();
    rig.lane.unwritten(old, 10);
    rig.lane.return_output(old, &request(7, 0));
    rig.lose(old);
    assert_eq!(rig.lane.entries_on(old), 0);
    assert!(!rig.lane.has_output(old) && !rig.lane.take_output(old, &mut Vec::new()));
    rig.answer(new, &[2]);
    assert_eq!(rig.outcomes.answered(), [1, 2]);
}
