//! Connections are opened for need, a few at a time, and a node that is down is not stormed.

use super::*;
use crate::lane::kind::Counts;

#[test]
fn a_request_opens_a_connection_and_goes_out_on_it() {
    let mut rig = Rig::new(sizing());
    rig.submit(0);
    assert!(rig.lane.wants_open() && rig.lane.is_busy());
    assert_eq!((rig.counters().opening, rig.counters().queued), (1, 1));
    let conns = rig.open_all();
    assert_eq!(rig.flush_all(), [(conns[0], vec![0])]);
    rig.answer(conns[0], &[0]);
    let counters = rig.counters();
    assert_eq!((counters.open, counters.opening, counters.idle, counters.opened), (1, 0, 1, 1));
    assert!(!rig.lane.is_busy() && !rig.lane.wants_open());
}

#[test]
fn warming_opens_the_minimum() {
    let mut rig = Rig::new(LaneSizing { min: 3, max: 8, ..sizing() });
    rig.lane.warm(0);
    rig.lane.warm(0);
    assert_eq!(rig.open_all().len(), 3);
    rig.lane.warm(0);
    assert!(!rig.lane.wants_open());
}

#[test]
fn without_a_minimum_nothing_is_opened_ahead_of_use() {
    let mut rig = Rig::new(LaneSizing { min: 0, ..sizing() });
    rig.lane.warm(0);
    rig.trim();
    assert!(!rig.lane.wants_open());
    rig.submit(0);
    assert_eq!(rig.open_all().len(), 1);
}

#[test]
fn opened_are_as_many_as_the_line_needs() {
    let mut rig = Rig::new(LaneSizing { max: 100, ..sizing() });
    for key in 0..4 {
        rig.submit(key);
    }
    assert_eq!(rig.asked_to_open(), 1, "depth is 4");
    rig.submit(4);
    assert_eq!(rig.asked_to_open(), 1);
    for key in 5..160 {
        rig.submit(key);
    }
    assert_eq!(rig.asked_to_open(), 14, "never more than 16 at a time");
    for opened in 1..=16 {
        rig.lane.opened(0, Class::Single, rig.now);
        assert_eq!(rig.counters().queued, 160 - 4 * opened);
    }
    let conns = rig.open_all();
    assert_eq!(conns.len(), 24, "each that is opened makes way for the next, without another request");
    assert_eq!((rig.counters().open, rig.counters().queued), (40, 0));
}

/// Writes were measured to be slow.
fn rig_with_slow_writes(sizing: LaneSizing) -> Rig {
    let mut rig = Rig::new(sizing);
    rig.submit(1000);
    let conns = rig.open_all();
    rig.flush_all();
    rig.answer(conns[0], &[1000]);
    let kinds = &mut rig.lane.nodes[0].kinds;
    for n in 0..4000 {
        let (mut counts, write) = (Counts::default(), n % 2);
        counts[write] = 1;
        kinds.learn(&counts, ([5_000, 300_000][write], true), 150_000 * n as u64);
    }
    assert!(kinds.has_slow());
    rig
}

/// To open a connection takes less time than a slow request in front, but only if it can be opened.
#[test]
fn slow_requests_wait_for_a_connection_of_their_own() {
    let mut rig = rig_with_slow_writes(LaneSizing { max: 64, depth: 128, ..sizing() });
    let submit = |rig: &mut Rig, key| rig.try_submit(key, Class::Slow, 1000, 0).unwrap();
    submit(&mut rig, 0);
    let first = rig.open_all();
    submit(&mut rig, 1);
    assert_eq!((rig.asked_to_open(), rig.counters().queued), (1, 1), "the first connection would take it");
    let second = rig.lane.opened(0, Class::Slow, rig.now);
    assert_eq!(rig.flush_all(), [(first[0], vec![0]), (second, vec![1])]);
    rig.answer(first[0], &[0]);
    submit(&mut rig, 2);
    submit(&mut rig, 3);
    assert_eq!((rig.asked_to_open(), rig.counters().queued), (1, 1), "one found a connection idle");
    assert_eq!(rig.flush_all(), [(first[0], vec![2])]);
    let error = crate::Error::client_error("refused");
    rig.lane.open_failed(0, Class::Slow, &error, &mut rig.outcomes);
    rig.answer(first[0], &[2]);
    submit(&mut rig, 4);
    assert_eq!(rig.counters().queued, 0, "nothing more can be opened: they share");
    rig.trim();
    assert_eq!(rig.asked_to_open(), 1, "it is tried again");
    submit(&mut rig, 5);
    assert_eq!(rig.counters().queued, 0, "it may fail again");
}

#[test]
fn slow_requests_do_not_wait_for_a_connection_that_the_fast_ones_have() {
    let mut rig = rig_with_slow_writes(LaneSizing { max: 16, spread: 64, fair_share: 1, depth: 128, ..sizing() });
    for key in 0..100 {
        rig.submit(key);
    }
    assert_eq!(rig.open_all().len(), 14, "beside the first one; one more is kept for slow requests");
    rig.flush_all();
    rig.try_submit(100, Class::Slow, 1000, 0).unwrap();
    let slow = rig.open_all();
    rig.try_submit(101, Class::Slow, 1000, 0).unwrap();
    assert_eq!((slow.len(), rig.asked_to_open()), (1, 0));
    assert_eq!(rig.flush_all(), [(slow[0], vec![100, 101])]);
}

/// UDFs have connections of their own, however fast they are.
#[test]
fn requests_that_were_not_measured_share_connections() {
    let mut rig = Rig::new(LaneSizing { max: 64, depth: 128, ..sizing() });
    for key in 0..16 {
        rig.try_submit(key, Class::Slow, 1000, 0).unwrap();
    }
    assert_eq!((rig.open_all().len(), rig.counters().queued), (1, 0));
}

#[test]
fn slow_requests_begin_with_a_connection_each() {
    let mut rig = rig_with_slow_writes(LaneSizing { max: 64, depth: 128, ..sizing() });
    for key in 0..80 {
        rig.try_submit(key, Class::Slow, 1000, 0).unwrap();
    }
    let conns = rig.open_all();
    assert_eq!((conns.len(), rig.counters().queued), (32, 0), "up to so many");
    assert!(rig.flush_all().iter().all(|(_, keys)| (1..=4).contains(&keys.len())));
}

#[test]
fn never_more_than_the_maximum_is_opened() {
    let mut rig = Rig::new(sizing());
    for key in 0..100 {
        rig.submit(key);
    }
    assert_eq!(rig.open_all().len(), 2);
    rig.submit(100);
    rig.trim();
    assert!(!rig.lane.wants_open());
    for key in 200..300 {
        rig.submit_batch(key);
    }
    assert_eq!(rig.open_all().len(), 2);
}

#[test]
fn those_in_line_hear_that_nothing_can_be_opened() {
    let mut rig = Rig::new(LaneSizing { max: 8, ..sizing() });
    for key in 0..8 {
        rig.submit(key);
    }
    assert_eq!(rig.asked_to_open(), 2);
    rig.open_fails();
    assert!(rig.outcomes.all.is_empty(), "the other one may still do");
    rig.submit(8);
    assert_eq!(rig.asked_to_open(), 0);
    rig.open_fails();
    for key in 0..9 {
        let (kind, sent) = rig.outcomes.failure(key);
        assert!(kind.starts_with("OpenFailed") && !sent, "{kind}");
    }
    let counters = rig.counters();
    assert_eq!((counters.open_failures, counters.queued, counters.opening), (2, 0, 0));
    assert!(!rig.lane.is_busy());
}

#[test]
fn while_opening_fails_one_is_tried_at_a_time() {
    let mut rig = Rig::new(LaneSizing { min: 2, max: 8, ..sizing() });
    rig.lane.warm(0);
    assert_eq!(rig.asked_to_open(), 2);
    rig.open_fails();
    rig.open_fails();
    assert_eq!(rig.asked_to_open(), 0, "nobody waits, so nothing is tried before it is time");
    rig.trim();
    assert_eq!(rig.asked_to_open(), 1);
    rig.trim();
    assert_eq!(rig.asked_to_open(), 0);
    rig.open_fails();
    for key in 0..50 {
        rig.submit(key);
    }
    assert_eq!(rig.asked_to_open(), 1);
    let conn = rig.lane.opened(0, Class::Single, rig.now);
    assert_eq!(rig.asked_to_open(), 0, "it is open, but that does not prove much");
    rig.flush(conn);
    rig.answer(conn, &[0]);
    assert_eq!(rig.asked_to_open(), 7, "it works again: as many as the maximum leaves");
}

#[test]
fn with_one_open_requests_do_not_hammer_for_more() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { max: 8, ..sizing() }, 1);
    let mut attempts = 0;
    for key in 0..1000 {
        rig.submit(key);
        while rig.lane.open_request().is_some() {
            attempts += 1;
            rig.open_fails();
        }
    }
    assert_eq!(attempts, 1);
    assert!(rig.outcomes.all.is_empty(), "they wait for the one that is open");
    rig.trim();
    assert_eq!(rig.asked_to_open(), 1);
    rig.flush(conns[0]);
    rig.answer(conns[0], &[0, 1, 2, 3]);
    assert_eq!(rig.flush(conns[0]), [4, 5, 6, 7]);
}

#[test]
fn a_server_that_takes_connections_and_ends_them_is_not_stormed() {
    let mut rig = Rig::new(LaneSizing { min: 2, max: 8, ..sizing() });
    rig.lane.warm(0);
    for _ in 0..2 {
        assert!(rig.lane.open_request().is_some());
        let conn = rig.lane.opened(0, Class::Single, rig.now);
        rig.lose(conn);
    }
    assert_eq!(rig.asked_to_open(), 0);
    // Requests are each told, and ask for one connection at a time.
    for key in 0..20 {
        rig.submit(key);
    }
    assert_eq!(rig.asked_to_open(), 1);
    let conn = rig.lane.opened(0, Class::Single, rig.now);
    assert_eq!(rig.flush(conn), [0, 1, 2, 3]);
    assert_eq!(rig.asked_to_open(), 0);
    rig.lose(conn);
    assert_eq!(rig.asked_to_open(), 0);
    assert_eq!(rig.outcomes.all.len(), 20, "nothing is left to wait for");
    rig.trim();
    assert_eq!(rig.asked_to_open(), 1, "once in a while it is tried again");
}

#[test]
fn a_driver_that_opens_unasked_breaks_nothing() {
    let mut rig = Rig::new(sizing());
    let conn = rig.lane.opened(0, Class::Single, rig.now);
    rig.open_fails();
    rig.submit(0);
    assert_eq!(rig.flush(conn), [0]);
    assert_eq!(rig.counters().opening, 0);
}

#[test]
fn connections_are_opened_by_what_is_in_flight_up_to_the_spread() {
    let mut rig = Rig::new(LaneSizing { max: 8, spread: 3, fair_share: 2, depth: 8, ..sizing() });
    rig.submit(0);
    let mut conns = rig.open_all();
    rig.submit(1);
    assert!(!rig.lane.wants_open(), "two are a fair share");
    rig.submit(2);
    rig.submit(3);
    conns.extend(rig.open_all());
    assert_eq!(
        (conns.len(), rig.counters().in_flight),
        (2, 4),
        "a third one waits for nothing, but gets a second connection"
    );
    for key in 4..12 {
        rig.submit(key);
        conns.extend(rig.open_all());
    }
    assert_eq!((conns.len(), rig.counters().queued), (3, 0), "no more than the spread while there is room");
    let loads: Vec<usize> = conns.iter().map(|&conn| rig.flush(conn).len()).collect();
    assert_eq!(loads, [4, 4, 4]);
}

#[test]
fn beyond_the_first_none_is_tried_while_a_node_refuses() {
    let mut rig = Rig::new(LaneSizing { max: 8, spread: 3, fair_share: 1, depth: 8, ..sizing() });
    rig.submit(0);
    rig.open_all();
    rig.submit(1);
    assert_eq!(rig.asked_to_open(), 1);
    rig.open_fails();
    for key in 2..6 {
        rig.submit(key);
    }
    assert!(!rig.lane.wants_open() && rig.counters().queued == 0, "all go on the one that is open");
}

#[test]
fn several_nodes_are_several_threads_already() {
    let mut rig = Rig::new(LaneSizing { max: 8, spread: 3, fair_share: 1, depth: 8, ..sizing() });
    rig.lane.warm(2);
    rig.open_all();
    for key in 0..6 {
        rig.submit(key);
        rig.open_all();
    }
    assert_eq!(rig.counters().open, 1, "one for each of three nodes");
    rig.lane.node_gone(1, &mut rig.outcomes);
    rig.submit(6);
    rig.open_all();
    assert_eq!(rig.counters().open, 2, "three over two nodes");
}
