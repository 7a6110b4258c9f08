//! Bounds: entries and bytes in flight, the line, and what is refused.

use super::*;

#[test]
fn the_depth_is_the_most_in_flight_and_the_rest_waits_in_order() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { max: 1, ..sizing() }, 1);
    for key in 0..11 {
        rig.submit(key);
    }
    let counters = rig.counters();
    assert_eq!((counters.in_flight, counters.queued), (4, 7));
    let mut order = rig.flush(conns[0]);
    while order.len() < 11 {
        let first = order[order.len() - rig.lane.entries_on(conns[0])];
        rig.answer(conns[0], &[first]);
        assert!(rig.lane.entries_on(conns[0]) <= 4);
        order.extend(rig.flush(conns[0]));
    }
    assert_eq!(order, (0..11).collect::<Vec<_>>(), "first come, first served");
}

#[test]
fn nobody_overtakes_those_in_line() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { max: 1, ..sizing() }, 1);
    for key in 0..6 {
        rig.submit(key);
    }
    rig.flush(conns[0]);
    rig.answer(conns[0], &[0]);
    rig.submit(6);
    rig.answer(conns[0], &[1, 2]);
    assert_eq!(rig.flush(conns[0]), [4, 5, 6]);
}

#[test]
fn the_bytes_in_flight_are_bounded() {
    let bound = 10_000;
    let sizing = LaneSizing { min: 2, max_bytes_in_flight: bound, depth: 16, ..sizing() };
    let (mut rig, conns) = Rig::with_open(sizing, 2);
    for key in 0..8 {
        rig.try_submit(key, Class::Single, 1000, 4000).unwrap();
    }
    let mut in_flight = Vec::new();
    for &conn in &conns {
        let mut out = Vec::new();
        rig.lane.take_output(conn, &mut out);
        assert!(out.len() <= bound as usize && out.len() > 8000, "{}", out.len());
        in_flight.push(keys(&mut out));
    }
    assert_eq!(in_flight, [[0, 2], [1, 3]]);
    assert_eq!(rig.counters().queued, 4);
    rig.answer(conns[0], &[0]);
    assert_eq!(rig.flush(conns[0]), [4]);
}

#[test]
fn a_request_beyond_the_bound_goes_alone_and_is_not_starved() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { min: 2, max_bytes_in_flight: 1000, ..sizing() }, 2);
    rig.submit(0);
    rig.submit(1);
    rig.submit(2);
    rig.try_submit(3, Class::Single, 1000, 5000).unwrap();
    for key in 4..8 {
        rig.submit(key);
    }
    assert_eq!((rig.flush(conns[0]), rig.flush(conns[1])), (vec![0, 2], vec![1]));
    rig.answer(conns[0], &[0]);
    assert!(rig.flush(conns[0]).is_empty(), "the large one is first in line, and needs a connection to itself");
    rig.answer(conns[1], &[1]);
    assert_eq!(rig.flush(conns[1]), [3]);
    assert_eq!(rig.flush(conns[0]), [4, 5, 6], "those behind it go on where there is room");
    rig.answer(conns[1], &[3]);
    assert_eq!(rig.flush(conns[1]), [7]);
}

#[test]
fn room_for_small_ones_is_found_where_bytes_are_the_limit() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { max_bytes_in_flight: 1000, ..sizing() }, 2);
    rig.try_submit(0, Class::Single, 1000, 5000).unwrap();
    rig.submit(1);
    rig.submit(2);
    rig.submit(3);
    assert_eq!((rig.flush(conns[0]), rig.flush(conns[1])), (vec![0], vec![1, 2, 3]), "not on the least loaded one");
}

#[test]
fn failing_when_full_names_the_limit() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { wait: false, ..sizing() }, 2);
    for key in 0..8 {
        rig.submit(key);
    }
    let full = rig.try_submit(8, Class::Single, 1000, 0).unwrap_err();
    assert_eq!(full, Full { limit: 8, in_flight: 8, size: 2, waiting: 0, waiting_bytes: 0 });
    assert_eq!(full.to_string(), "8 of 8 requests in flight, 0 waiting (0 bytes)");
    assert_eq!(rig.counters().refused, 1);
    rig.flush(conns[0]);
    rig.answer(conns[0], &[0]);
    rig.submit(9);
    let counters = rig.counters();
    assert_eq!((counters.requests, counters.in_flight, counters.queued), (9, 8, 0));
}

#[test]
fn failing_when_full_waits_for_connections_still_to_be_opened() {
    let mut rig = Rig::new(LaneSizing { wait: false, ..sizing() });
    for key in 0..8 {
        rig.submit(key);
    }
    let full = rig.try_submit(8, Class::Single, 1000, 0).unwrap_err();
    let size = request(8, 0).len();
    let expected = Full { limit: 8, in_flight: 0, size: 0, waiting: 8, waiting_bytes: 8 * size };
    assert_eq!(full, expected, "there is no place for a ninth");
    assert_eq!(rig.open_all().len(), 2);
    assert_eq!((rig.counters().in_flight, rig.counters().queued), (8, 0));
}

#[test]
fn the_line_has_a_bound_of_its_own() {
    let (mut rig, _) = Rig::with_open(LaneSizing { max: 1, max_waiting: 3, ..sizing() }, 1);
    let tickets: Vec<_> = (0..7).map(|key| rig.submit(key)).collect();
    let full = rig.try_submit(7, Class::Single, 1000, 0).unwrap_err();
    let waiting_bytes = 3 * request(7, 0).len();
    assert_eq!(full, Full { limit: 4, in_flight: 4, size: 1, waiting: 3, waiting_bytes });
    assert_eq!(rig.cancel(tickets[5]), Some(5));
    rig.submit(8);
    assert_eq!(rig.try_submit(9, Class::Single, 1000, 0).unwrap_err().waiting, 3);
}

#[test]
fn the_bytes_in_line_have_a_bound_of_their_own() {
    let (small, large) = (request(0, 0).len(), request(0, 5000).len());
    let max_waiting_bytes = 3 * small as u64;
    let bounded = LaneSizing { max: 1, depth: 1, max_waiting_bytes, max_batch: 1, ..sizing() };
    let (mut rig, conns) = Rig::with_open(bounded, 1);
    rig.submit(0);
    // More than the bound, but alone.
    rig.try_submit(1, Class::Single, 1000, 5000).unwrap();
    let full = rig.try_submit(2, Class::Single, 1000, 0).unwrap_err();
    assert_eq!(full, Full { limit: 1, in_flight: 1, size: 1, waiting: 1, waiting_bytes: large });
    rig.flush(conns[0]);
    rig.answer(conns[0], &[0]);
    // Up to the bound, without those that have given up or expired.
    let tickets: Vec<_> = (3..6).map(|key| rig.submit(key)).collect();
    assert_eq!(rig.try_submit(6, Class::Single, 1000, 0).unwrap_err().waiting_bytes, 3 * small);
    assert_eq!(rig.cancel(tickets[1]), Some(4));
    rig.try_submit(7, Class::Single, 10, 0).unwrap();
    assert_eq!(rig.try_submit(8, Class::Single, 1000, 1).unwrap_err().waiting_bytes, 3 * small);
    rig.pass(20);
    rig.submit(9);
    assert_eq!(rig.try_submit(10, Class::Single, 1000, 5000).unwrap_err().waiting, 3);
    // What does not wait is not bounded by it; other classes have lines of their own.
    rig.try_submit(11, Class::Batch, 1000, 5000).unwrap();
    rig.flush(conns[0]);
    for (answered, next) in [(1, 3), (3, 5), (5, 9)] {
        rig.answer(conns[0], &[answered]);
        assert_eq!(rig.flush(conns[0]), [next]);
    }
    rig.answer(conns[0], &[9]);
    rig.try_submit(12, Class::Single, 1000, 5000).unwrap();
    assert_eq!((rig.flush(conns[0]), rig.counters().refused), (vec![12], 4));
}

#[test]
fn sizes_come_from_the_pool() {
    let pool =
        crate::config::PoolSizing { max: 1_000_000, depth: 16, max_waiting: 7, ..crate::config::PoolSizing::default() };
    let lane = LaneSizing::from(&pool);
    assert_eq!((lane.min, lane.max, lane.depth, lane.max_batch), (1, u16::MAX, 16, 64));
    assert_eq!((lane.max_bytes_in_flight, lane.max_waiting, lane.wait), (1 << 20, 7, true));
    assert_eq!((lane.max_waiting_bytes, lane.max_batch_answer_bytes), (256 << 20, 1 << 30));
}
