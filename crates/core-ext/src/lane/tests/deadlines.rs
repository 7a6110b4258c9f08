//! Deadlines and callers that give up: what was sent, what is never sent, and late answers.

use super::*;

#[test]
fn a_late_answer_goes_to_nobody() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { max: 1, ..sizing() }, 1);
    rig.try_submit(0, Class::Single, 50, 0).unwrap();
    rig.submit(1);
    assert_eq!(rig.flush(conns[0]), [0, 1]);
    rig.pass(49);
    assert!(rig.outcomes.all.is_empty());
    rig.pass(1);
    assert_eq!(rig.outcomes.failure(0), expired(true));
    let counters = rig.counters();
    assert_eq!((counters.timeouts, counters.orphans, counters.in_flight), (1, 1, 2));
    rig.submit(2);
    assert_eq!(rig.counters().queued, 1, "nobody is put behind a late answer");
    rig.answer(conns[0], &[0]);
    let counters = rig.counters();
    assert_eq!((counters.late_answers, counters.orphans, counters.answers), (1, 0, 0));
    assert_eq!(rig.flush(conns[0]), [2]);
    rig.answer(conns[0], &[1, 2]);
    assert_eq!(rig.outcomes.answered(), [1, 2]);
    assert_eq!(rig.lane.in_flight(), 0);
}

#[test]
fn what_expires_before_it_was_taken_is_never_sent() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { max: 1, ..sizing() }, 1);
    rig.submit(0);
    rig.flush(conns[0]);
    rig.try_submit(1, Class::Single, 10, 50).unwrap();
    rig.try_submit(2, Class::Single, 900, 9).unwrap();
    rig.try_submit(3, Class::Single, 10, 0).unwrap();
    rig.try_submit(4, Class::Single, 10, 0).unwrap();
    rig.try_submit(5, Class::Single, 900, 0).unwrap();
    rig.pass(10);
    for key in [1, 3, 4] {
        assert_eq!(rig.outcomes.failure(key), expired(false));
    }
    let counters = rig.counters();
    assert_eq!((counters.in_flight, counters.queued, counters.orphans, counters.timeouts), (3, 0, 0, 3));
    assert_eq!(rig.lane.in_flight(), 3);
    assert_eq!(rig.flush(conns[0]), [2, 5], "told 'not sent', so not sent; and 5 has got the room");
    rig.answer(conns[0], &[0, 2, 5]);
    assert_eq!(rig.outcomes.answered(), [0, 2, 5]);
}

#[test]
fn what_the_driver_holds_may_still_be_sent() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { max: 1, ..sizing() }, 1);
    rig.try_submit(0, Class::Single, 10, 0).unwrap();
    rig.try_submit(1, Class::Single, 10, 0).unwrap();
    let mut out = Vec::new();
    rig.lane.take_output(conns[0], &mut out);
    rig.lane.unwritten(conns[0], out.len() - 3);
    rig.pass(10);
    // The driver will go on writing them: only a connection that ends stops it.
    assert_eq!((rig.outcomes.failure(0), rig.outcomes.failure(1)), (expired(true), expired(true)));
    rig.lane.unwritten(conns[0], 0);
    rig.answer(conns[0], &[0, 1]);
    assert_eq!(rig.counters().late_answers, 2);
}

#[test]
fn of_returned_output_the_part_that_was_not_begun_is_taken_back() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { max: 1, ..sizing() }, 1);
    for key in 0..3 {
        rig.try_submit(key, Class::Single, 10, 0).unwrap();
    }
    let mut stream = Vec::new();
    rig.lane.take_output(conns[0], &mut stream);
    rig.lane.return_output(conns[0], &stream[5..]);
    stream.truncate(5);
    rig.pass(10);
    assert_eq!((rig.outcomes.failure(0), rig.outcomes.failure(1)), (expired(true), expired(false)));
    rig.submit(3);
    assert_eq!(rig.counters().queued, 1, "behind an orphan");
    let mut rest = Vec::new();
    rig.lane.take_output(conns[0], &mut rest);
    stream.extend(rest);
    assert_eq!(keys(&mut stream), [0], "a request that was begun is brought to its end");
    rig.answer(conns[0], &[0]);
    assert_eq!(rig.flush(conns[0]), [3]);
}

#[test]
fn in_line_too_a_deadline_is_kept() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { max: 1, depth: 1, ..sizing() }, 1);
    rig.submit(0);
    rig.flush(conns[0]);
    for (key, timeout) in [(1, 30), (2, 10), (3, 20), (4, 500)] {
        rig.try_submit(key, Class::Single, timeout, 0).unwrap();
    }
    for (key, left) in [(2, 3), (3, 2), (1, 1)] {
        assert!(!rig.outcomes.all.contains_key(&key));
        rig.pass(10);
        assert_eq!(rig.outcomes.failure(key), expired(false));
        assert_eq!(rig.counters().queued, left);
    }
    rig.answer(conns[0], &[0]);
    assert_eq!(rig.flush(conns[0]), [4]);
}

#[test]
fn without_timeouts_there_is_no_timer() {
    let (mut rig, conns) = Rig::with_open(sizing(), 1);
    let now = rig.now;
    rig.lane.submit(0, Class::Single, &request(0, 0), Millis::NEVER, now, 0).unwrap();
    assert_eq!(rig.lane.next_deadline(), None);
    rig.submit(1);
    assert_eq!(rig.lane.next_deadline(), Some(now.plus(1000)));
    rig.pass(1000);
    assert_eq!(rig.lane.next_deadline(), None);
    rig.now = Millis(u64::MAX - 1);
    rig.lane.expire(rig.now, &mut rig.outcomes);
    assert_eq!(rig.outcomes.all.len(), 1);
    rig.flush(conns[0]);
    rig.answer(conns[0], &[0]);
    assert_eq!(rig.outcomes.answered(), [0]);
}

#[test]
fn a_deadline_that_has_passed_already_fails_at_once() {
    let (mut rig, conns) = Rig::with_open(sizing(), 1);
    rig.try_submit(0, Class::Single, 0, 0).unwrap();
    assert_eq!(rig.lane.next_deadline(), Some(rig.now));
    rig.pass(0);
    assert_eq!(rig.outcomes.failure(0), expired(false));
    assert!(rig.flush(conns[0]).is_empty());
}

#[test]
fn cancelled_in_line_or_unflushed_is_never_sent() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { max: 1, depth: 3, ..sizing() }, 1);
    let tickets: Vec<_> = (0..6).map(|key| rig.submit(key)).collect();
    assert_eq!(rig.cancel(tickets[4]), Some(4), "in line");
    assert_eq!(rig.cancel(tickets[1]), Some(1), "in the out-buffer");
    assert_eq!(rig.cancel(tickets[1]), None, "only once");
    assert_eq!(rig.flush(conns[0]), [0, 2, 3]);
    assert_eq!((rig.counters().queued, rig.counters().orphans), (1, 0));
    rig.answer(conns[0], &[0, 2, 3]);
    assert_eq!(rig.cancel(tickets[0]), None, "it has its answer");
    assert_eq!(rig.flush(conns[0]), [5]);
    rig.answer(conns[0], &[5]);
    assert_eq!(rig.outcomes.all.len(), 4, "a cancelled one gets no outcome");
}

#[test]
fn after_everything_was_taken_back_the_driver_is_told_of_new_output() {
    let (mut rig, conns) = Rig::with_open(sizing(), 1);
    let ticket = rig.submit(0);
    assert_eq!(rig.lane.flush_request(), Some(conns[0]));
    assert_eq!(rig.cancel(ticket), Some(0));
    assert!(!rig.lane.has_output(conns[0]), "so the driver does not come for it");
    rig.submit(1);
    assert_eq!(rig.lane.flush_request(), Some(conns[0]));
    assert_eq!(rig.flush(conns[0]), [1]);
}

#[test]
fn cancelled_in_flight_becomes_an_orphan() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { max: 1, ..sizing() }, 1);
    let tickets: Vec<_> = (0..3).map(|key| rig.submit(key)).collect();
    rig.flush(conns[0]);
    assert_eq!(rig.cancel(tickets[1]), Some(1));
    assert_eq!((rig.counters().orphans, rig.counters().in_flight), (1, 3));
    rig.answer(conns[0], &[0, 1, 2]);
    assert_eq!(rig.outcomes.answered(), [0, 2]);
    assert_eq!((rig.counters().orphans, rig.counters().late_answers, rig.counters().answers), (0, 1, 2));
}

#[test]
fn a_large_request_that_is_given_up_lets_the_others_pass() {
    for expire in [false, true] {
        let (mut rig, conns) = Rig::with_open(LaneSizing { max: 1, max_bytes_in_flight: 1000, ..sizing() }, 1);
        rig.submit(0);
        let large = rig.try_submit(1, Class::Single, 10, 5000).unwrap();
        rig.submit(2);
        assert_eq!(rig.flush(conns[0]), [0]);
        rig.lane.flush_request();
        if expire {
            rig.pass(10);
        } else {
            rig.cancel(large);
        }
        assert_eq!(rig.flush_all(), [(conns[0], vec![2])]);
    }
}
