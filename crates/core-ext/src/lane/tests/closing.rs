//! What is closed and when: idle, blocked, of a node that left, of a lane that ends.

use super::*;

#[test]
fn idle_connections_are_closed_to_the_minimum() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { min: 2, max: 5, ..sizing() }, 5);
    rig.now = rig.now.plus(9_999);
    rig.trim();
    assert!(rig.close_asked().is_empty());
    rig.submit(0);
    rig.flush(conns[0]);
    rig.now = rig.now.plus(1);
    rig.trim();
    let closing = rig.close_asked();
    assert_eq!(closing, [conns[4], conns[3], conns[2]]);
    rig.trim();
    assert!(rig.close_asked().is_empty(), "named once");
    for conn in closing {
        rig.closed(conn);
    }
    rig.answer(conns[0], &[0]);
    let counters = rig.counters();
    assert_eq!((counters.open, counters.idle, counters.closed), (2, 2, 3));
    assert!(!rig.lane.wants_open() && rig.outcomes.answered() == [0]);
}

#[test]
fn a_connection_about_to_be_closed_gets_no_request() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { min: 0, max: 1, wait: false, ..sizing() }, 1);
    rig.now = rig.now.plus(10_000);
    rig.trim();
    rig.submit(0);
    assert_eq!(rig.counters().queued, 1, "nor is it refused, although one connection is the maximum");
    assert!(!rig.lane.wants_open());
    assert_eq!(rig.close_asked(), conns);
    rig.closed(conns[0]);
    assert!(rig.outcomes.all.is_empty(), "it had never answered, but it was the lane that ended it");
    let conns = rig.open_all();
    assert_eq!(rig.flush(conns[0]), [0]);
}

#[test]
fn beyond_the_maximum_idle_connections_are_closed_at_once() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { min: 4, max: 4, ..sizing() }, 4);
    for key in 0..4 {
        rig.submit(key);
    }
    rig.flush_all();
    rig.lane.resize(LaneSizing { max: 2, ..sizing() });
    rig.trim();
    assert!(rig.close_asked().is_empty());
    rig.answer(conns[0], &[0]);
    rig.answer(conns[1], &[1]);
    rig.answer(conns[2], &[2]);
    rig.trim();
    assert_eq!(rig.close_asked(), [conns[2], conns[1]]);
}

#[test]
fn a_connection_blocked_by_an_orphan_is_replaced() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { max: 1, ..sizing() }, 1);
    rig.try_submit(0, Class::Single, 10, 0).unwrap();
    rig.try_submit(1, Class::Single, 1500, 0).unwrap();
    rig.flush(conns[0]);
    rig.pass(10);
    rig.try_submit(2, Class::Single, 60_000, 0).unwrap();
    rig.pass(1000);
    rig.trim();
    assert!(rig.close_asked().is_empty(), "1 still hopes");
    rig.pass(500);
    rig.trim();
    assert_eq!(rig.close_asked(), conns);
    rig.closed(conns[0]);
    let conns = rig.open_all();
    assert_eq!(rig.flush(conns[0]), [2]);
    rig.answer(conns[0], &[2]);
    assert_eq!(rig.outcomes.answered(), [2]);
    assert_eq!((rig.counters().orphans, rig.counters().open), (0, 1));
}

#[test]
fn an_orphan_blocks_from_the_moment_it_is_in_front() {
    let (mut rig, conns) = Rig::with_open(sizing(), 1);
    let tickets: Vec<_> = (0..3).map(|key| rig.submit(key)).collect();
    rig.flush(conns[0]);
    rig.cancel(tickets[1]);
    rig.pass(900);
    rig.answer(conns[0], &[0]);
    rig.cancel(tickets[2]);
    rig.now = rig.now.plus(999);
    rig.trim();
    assert!(rig.close_asked().is_empty());
    rig.now = rig.now.plus(1);
    rig.trim();
    assert_eq!(rig.close_asked(), conns);
    // The late answers come after all.
    rig.answer(conns[0], &[1, 2]);
    assert_eq!(rig.counters().late_answers, 2);
    rig.closed(conns[0]);
    assert_eq!(rig.counters().in_flight, 0);
}

#[test]
fn of_a_node_that_left_what_was_sent_is_still_answered() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { max: 3, depth: 1, ..sizing() }, 2);
    for key in 0..6 {
        rig.submit(key);
    }
    rig.flush_all();
    assert!(rig.lane.wants_open());
    rig.lane.node_gone(0, &mut rig.outcomes);
    assert_eq!(rig.asked_to_open(), 0);
    for key in 2..6 {
        assert_eq!(rig.outcomes.failure(key), ("NodeGone".into(), false));
    }
    assert!(rig.close_asked().is_empty());
    rig.answer(conns[1], &[1]);
    assert_eq!(rig.close_asked(), [conns[1]]);
    rig.closed(conns[1]);
    assert!(!rig.lane.wants_open());
    rig.pass(1000);
    assert_eq!(rig.outcomes.failure(0), expired(true));
    assert_eq!(rig.close_asked(), [conns[0]]);
    rig.closed(conns[0]);
    assert_eq!(rig.outcomes.answered(), [1]);
    assert!(!rig.lane.is_busy());
}

#[test]
fn for_a_node_that_left_a_request_fails_with_the_next_sweep() {
    let (mut rig, conns) = Rig::with_open(sizing(), 1);
    rig.lane.node_gone(0, &mut rig.outcomes);
    assert_eq!(rig.close_asked(), conns);
    let now = rig.now;
    rig.lane.submit(0, Class::Single, &request(0, 0), Millis::NEVER, now, 0).unwrap();
    assert_eq!(rig.lane.next_deadline(), Some(now), "due at once");
    rig.pass(0);
    assert_eq!(rig.outcomes.failure(0), ("NodeGone".into(), false));
    assert_eq!((rig.asked_to_open(), rig.lane.next_deadline()), (0, None));
    // A connection that was in the middle of being opened.
    let late = rig.lane.opened(0, Class::Single, now);
    assert_eq!(rig.close_asked(), [late]);
    rig.closed(late);
    rig.trim();
    assert_eq!(rig.asked_to_open(), 0);

    rig.lane.node_back(0);
    rig.submit(1);
    let conns = rig.open_all();
    assert_eq!(rig.flush(conns[0]), [1]);
}

#[test]
fn closing_everything_fails_everything_once() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { max: 3, depth: 1, ..sizing() }, 2);
    for key in 0..6 {
        rig.submit(key);
    }
    rig.submit_batch(6);
    rig.flush(conns[0]);
    let (node, class) = rig.lane.open_request().expect("one is in the middle of being opened");
    rig.lane.close_all(&FailureKind::Closed, &mut rig.outcomes);
    for key in 0..7 {
        assert_eq!(rig.outcomes.failure(key), ("Closed".into(), key == 0));
    }
    let mut closing = rig.close_asked();
    closing.sort_by_key(|conn| conn.slot);
    assert_eq!(closing, conns);
    let counters = rig.counters();
    assert_eq!((counters.open, counters.in_flight, counters.queued, counters.opening), (0, 0, 0, 1));
    for conn in conns {
        rig.closed(conn);
    }
    let late = rig.lane.opened(node, class, rig.now);
    assert_eq!(rig.close_asked(), [late]);
    rig.closed(late);

    // It stays closed, also for nodes it has not met.
    for (node, key) in [(0, 7), (5, 8)] {
        rig.lane.node_back(node);
        rig.lane.submit(node, Class::Single, &request(key, 0), Millis::NEVER, rig.now, key).unwrap();
        rig.pass(0);
        assert_eq!(rig.outcomes.failure(key), ("Closed".into(), false));
    }
    rig.lane.warm(0);
    rig.trim();
    assert!(!rig.lane.is_busy() && !rig.lane.wants_open() && rig.lane.in_flight() == 0);
}

#[test]
fn a_lane_ends_also_when_slots_among_its_connections_are_empty() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { max: 4, ..sizing() }, 4);
    for conn in &conns[..3] {
        rig.lose(*conn);
    }
    rig.lane.close_all(&FailureKind::Closed, &mut rig.outcomes);
    assert_eq!(rig.close_asked(), [conns[3]]);
    assert_eq!(rig.counters().open, 0);
}

#[test]
fn after_a_burst_requests_gather_on_few_connections_and_the_others_are_closed() {
    let limits = LaneSizing { max: 8, ..sizing() };
    let (mut rig, conns) = Rig::with_open(limits, 8);
    let mut at = BTreeMap::new();
    let mut next = 0;
    let mut submit = |rig: &mut Rig, at: &mut BTreeMap<u32, ConnId>, count: u32| {
        for key in next..next + count {
            rig.submit(key);
        }
        next += count;
        for (conn, keys) in rig.flush_all() {
            at.extend(keys.into_iter().map(|key| (key, conn)));
        }
    };
    submit(&mut rig, &mut at, 32);
    assert!(conns.iter().all(|conn| at.values().any(|at| at == conn)), "a burst fills all of them");
    // From now on there are never more than 6 at a time: enough for two connections.
    for answered in 0..200 {
        let (&key, &conn) = at.first_key_value().unwrap();
        rig.answer(conn, &[key]);
        at.remove(&key);
        if answered >= 26 {
            submit(&mut rig, &mut at, 1);
        }
    }
    assert_eq!(at.len(), 6);
    let loads: Vec<usize> = conns.iter().map(|conn| at.values().filter(|at| *at == conn).count()).collect();
    assert_eq!(loads, [3, 3, 0, 0, 0, 0, 0, 0], "evenly on those that are needed");
    rig.now = rig.now.plus(9_999);
    submit(&mut rig, &mut at, 2);
    rig.now = rig.now.plus(1);
    rig.trim();
    let mut closing = rig.close_asked();
    closing.reverse();
    assert_eq!(closing, conns[2..]);
}
