//! A driver that comes late: what could not leave has its time anew, what was sent does not, and errors say so.

use super::*;

impl Rig {
    /// The driver did not run for so long; now it does what it should.
    fn come_late(&mut self, millis: u64) {
        let due = self.lane.next_deadline().unwrap();
        self.now = self.now.plus(millis);
        self.lane.set_time(self.now.0 * 1_000_000);
        self.lane.came_late(self.now, self.now.since(due));
        let late = self.now.since(due);
        self.lane.renew_unsent(self.now, late);
        self.lane.expire(self.now, &mut self.outcomes);
    }

    fn busy(&self, token: u32) -> u32 {
        match self.outcomes.all.get(&token) {
            Some(Outcome::Failed(failure)) => failure.loop_busy,
            other => panic!("token {token} should have failed: {other:?}"),
        }
    }
}

/// One connection with room for four, and so many requests that wait for 100 ms each.
fn crowded(requests: u32) -> (Rig, ConnId) {
    let (mut rig, conns) = Rig::with_open(LaneSizing { max: 1, ..sizing() }, 1);
    rig.lane.set_time(rig.now.0 * 1_000_000);
    for key in 0..requests {
        rig.try_submit(key, Class::Single, 100, 0).unwrap();
    }
    (rig, conns[0])
}

#[test]
fn what_was_not_taken_has_its_time_anew() {
    let (mut rig, conn) = crowded(3);
    rig.come_late(700);
    assert!(rig.outcomes.all.is_empty());
    rig.pass(99);
    assert_eq!(rig.flush(conn), [0, 1, 2]);
    rig.answer(conn, &[0, 1, 2]);
    assert_eq!(rig.outcomes.answered(), [0, 1, 2]);
}

#[test]
fn what_was_sent_has_not_and_its_error_says_for_how_long_the_loop_was_busy() {
    let (mut rig, conn) = crowded(2);
    rig.flush(conn);
    rig.come_late(700);
    assert_eq!((rig.outcomes.failure(0), rig.outcomes.failure(1)), (expired(true), expired(true)));
    assert_eq!((rig.busy(0), rig.busy(1)), (600, 600), "from the deadline on, at which the driver was to come");
}

#[test]
fn only_the_part_of_it_counts_that_a_request_has_met() {
    let (mut rig, conn) = crowded(1);
    rig.flush(conn);
    rig.come_late(700);
    rig.try_submit(7, Class::Single, 100, 0).unwrap();
    rig.pass(101);
    assert_eq!(rig.busy(7), 0);
}

#[test]
fn those_in_line_are_renewed_while_the_node_answers() {
    let (mut rig, conn) = crowded(8);
    assert_eq!(rig.flush(conn), [0, 1, 2, 3]);
    rig.answer(conn, &[0, 1, 2, 3]);
    assert_eq!(rig.flush(conn), [4, 5, 6, 7]);
    for key in 8..12 {
        rig.try_submit(key, Class::Single, 200, 0).unwrap();
    }
    rig.come_late(150);
    for key in 4..8 {
        assert_eq!(rig.outcomes.failure(key), expired(true));
    }
    // Nothing was answered meanwhile, but something was since they were submitted.
    rig.come_late(100);
    assert_eq!(rig.outcomes.answered(), [0, 1, 2, 3]);
    assert_eq!(rig.counters().queued, 4);
    // From now on the node is silent.
    rig.come_late(250);
    for key in 8..12 {
        assert_eq!(rig.outcomes.failure(key), expired(false));
    }
}

/// A deadline passes with a driver that is in time; before, it was late or not.
#[test]
fn a_driver_that_is_in_time_by_chance_and_was_late_before_renews_as_well() {
    for was_late in [false, true] {
        let (mut rig, conn) = crowded(4);
        rig.flush(conn);
        for key in 4..8 {
            rig.try_submit(key, Class::Single, 200, 0).unwrap();
        }
        rig.pass(50);
        rig.answer(conn, &[0]);
        if was_late {
            rig.lane.came_late(rig.now, 30);
        }
        rig.pass(50);
        for _ in 0..100 {
            rig.now = rig.now.plus(1);
            rig.lane.renew_unsent(rig.now, 0);
            rig.lane.expire(rig.now, &mut rig.outcomes);
        }
        let expired_ones = (4..8).filter(|key| rig.outcomes.all.contains_key(key)).count();
        assert_eq!(expired_ones, if was_late { 0 } else { 4 });
    }
}
