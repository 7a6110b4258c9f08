//! Bytes from a server, in any pieces: no panic, one outcome for each entry, nothing left behind.
//!
//! The input is a program. Its first byte picks the class of connections; then each step is a byte that says what happens
//! and how many of the bytes behind it are received.
#![no_main]

use aerolane::config::PoolSizing;
use aerolane::raw::lane::{Class, Failure, FailureKind, Lane, LaneSizing, Millis, Sink};
use libfuzzer_sys::fuzz_target;

/// Which tokens have had their outcome.
#[derive(Default)]
struct Outcomes(Vec<bool>);

impl Outcomes {
    fn done(&mut self, token: usize) {
        assert!(!std::mem::replace(&mut self.0[token], true), "two outcomes");
    }
}

impl Sink<usize> for Outcomes {
    fn answer(&mut self, token: usize, body: &[u8]) {
        assert!(body.len() >= 22);
        self.done(token);
    }

    fn part(&mut self, token: &mut usize, body: &[u8], last: bool) {
        assert!(!self.0[*token] && body.len() >= 22);
        if last {
            self.done(*token);
        }
    }

    fn failed(&mut self, token: usize, _: &Failure) {
        self.done(token);
    }
}

fuzz_target!(|program: &[u8]| {
    let Some((&first, mut rest)) = program.split_first() else { return };
    let class = class_of(first);
    let mut pool = PoolSizing::default();
    (pool.max, pool.depth, pool.batch_max, pool.max_bytes_in_flight) = (1, 4, 1, 1024);
    let mut lane = Lane::new(LaneSizing::from(&pool));
    let (mut outcomes, mut tickets) = (Outcomes::default(), Vec::new());
    let (mut conn, mut now) = (None, Millis(0));
    while let Some((&step, more)) = rest.split_first() {
        let length = usize::from(step >> 2).min(more.len());
        let (bytes, later) = more.split_at(length);
        match step & 3 {
            0 => {
                let token = outcomes.0.len();
                outcomes.0.push(false);
                let Ok(ticket) = lane.submit(0, class, &[7; 100], now.plus(20), now, token) else { return };
                tickets.push(ticket);
                rest = more;
            }
            1 => {
                let ticket = tickets.get(usize::from(step >> 2)).copied();
                if let Some(token) = ticket.and_then(|ticket| lane.cancel(0, class, ticket, now)) {
                    outcomes.done(token);
                }
                rest = more;
            }
            2 => {
                now = now.plus(u64::from(step >> 2));
                lane.expire(now, &mut outcomes);
                lane.trim(now);
                rest = more;
            }
            _ => {
                if let Some(conn) = conn {
                    let mut out = Vec::new();
                    lane.take_output(conn, &mut out);
                    let result = lane.received(conn, bytes, now, &mut outcomes);
                    assert!(result.is_ok() || lane.entries_on(conn) == 0);
                }
                rest = later;
            }
        }
        while let Some(id) = lane.close_request() {
            lane.closed(id, &FailureKind::Closed, now, &mut outcomes);
        }
        while let Some((node, class)) = lane.open_request() {
            let id = lane.opened(node, class, now);
            if id.class() == class_of(first) {
                conn = Some(id);
            }
        }
    }
    lane.close_all(&FailureKind::Closed, &mut outcomes);
    let counters = lane.counters(0);
    assert_eq!((counters.in_flight, counters.queued, counters.orphans, lane.in_flight()), (0, 0, 0, 0));
    assert!(outcomes.0.iter().all(|done| *done), "no outcome");
});

/// The class of connections that the first byte picks.
fn class_of(first: u8) -> Class {
    if first & 1 == 0 { Class::Single } else { Class::Batch }
}
