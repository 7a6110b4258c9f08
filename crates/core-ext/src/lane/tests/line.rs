//! The line against a plain model of it.

use std::collections::VecDeque;

use proptest::prelude::*;

use crate::lane::connection::Call;
use crate::lane::line::Line;
use crate::lane::{Millis, Ticket};
use crate::metrics::Stamp;

fn call(token: u64, deadline: Millis) -> Call<u64> {
    Call { token: Some(token), ticket: Ticket(token), deadline, stamp: Stamp::NONE, submitted: 0, kind: 0 }
}

#[derive(Debug, Clone)]
enum Step {
    Push { len: usize, timeout: u64 },
    Pop,
    Cancel(usize),
    Pass(u64),
    Drain,
    Shrink,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0..40usize, 0..60u64).prop_map(|(len, timeout)| Step::Push { len, timeout }),
        // The same timeout for all: deadlines ascend.
        8 => (0..40usize).prop_map(|len| Step::Push { len, timeout: 30 }),
        4 => Just(Step::Pop),
        4 => (0..1000usize).prop_map(Step::Cancel),
        3 => (0..20u64).prop_map(Step::Pass),
        1 => Just(Step::Shrink),
    ];
    prop_oneof![
        4 => proptest::collection::vec(step.clone(), 0..200),
        1 => proptest::collection::vec(prop_oneof![60 => step, 1 => Just(Step::Drain)], 200..2000),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_line_does_what_a_plain_list_does(steps in steps()) {
        let mut line = Line::new();
        let mut model: VecDeque<(u64, u64, Vec<u8>)> = VecDeque::new();
        let (mut now, mut next) = (Millis(0), 0u64);
        for step in steps {
            match step {
                Step::Push { len, timeout } => {
                    let bytes = vec![next as u8; len];
                    line.push(&bytes, call(next, now.plus(timeout)));
                    model.push_back((next, now.0 + timeout, bytes));
                    next += 1;
                }
                Step::Pop => {
                    let mut popped = None;
                    line.pop(|bytes, call| {
                        assert_eq!(Some(call.ticket), call.token.map(Ticket));
                        popped = Some((call.ticket.0, call.deadline.0, bytes.to_vec()));
                    });
                    prop_assert_eq!(popped, model.pop_front());
                }
                Step::Cancel(index) => {
                    let ticket = next.saturating_sub(1 + index as u64 % (next + 1));
                    let at = model.iter().position(|(token, ..)| *token == ticket);
                    prop_assert_eq!(line.cancel(Ticket(ticket)), at.map(|at| model.remove(at).unwrap().0));
                }
                Step::Pass(millis) => {
                    now = now.plus(millis);
                    let mut expired = Vec::new();
                    let due = line.expire(now, |token, _| expired.push(token));
                    let dead: Vec<u64> = model.iter().filter(|w| w.1 <= now.0).map(|w| w.0).collect();
                    model.retain(|w| w.1 > now.0);
                    prop_assert_eq!(expired, dead);
                    let earliest = model.iter().map(|w| w.1).min().map_or(Millis::NEVER, Millis);
                    prop_assert!(due <= earliest && (due > now || model.is_empty()), "{:?} {:?}", due, earliest);
                }
                Step::Drain => {
                    let mut drained = Vec::new();
                    line.drain(|token| drained.push(token));
                    prop_assert_eq!(drained, model.drain(..).map(|w| w.0).collect::<Vec<_>>());
                }
                Step::Shrink => line.shrink(),
            }
            prop_assert_eq!(line.len(), model.len());
            prop_assert_eq!(line.is_empty(), model.is_empty());
            prop_assert_eq!(line.front_len(), model.front().map(|w| w.2.len()));
        }
    }
}

#[test]
fn those_that_gave_up_behind_one_that_waits_on_take_no_memory() {
    let mut line = Line::new();
    line.push(&[0; 100], call(0, Millis::NEVER));
    for ticket in 1..200_000 {
        line.push(&[0; 100], call(ticket, Millis(ticket)));
        if ticket % 2 == 0 {
            assert_eq!(line.cancel(Ticket(ticket)), Some(ticket));
        } else {
            line.expire(Millis(ticket), |_, _| ());
        }
        assert_eq!(line.len(), 1);
        assert!(line.held() < 100_000, "{} bytes", line.held());
    }
}

#[test]
fn a_past_peak_is_given_back() {
    let mut line = Line::new();
    for ticket in 0..100_000 {
        line.push(&[0; 100], call(ticket, Millis::NEVER));
    }
    for _ in 0..99_990 {
        line.pop(|_, _| ());
    }
    assert!(line.held() > 4_000_000);
    line.shrink();
    assert!(line.held() < 200_000, "{} bytes", line.held());
    line.pop(|bytes, call| assert_eq!((bytes, call.token), (&[0; 100][..], Some(99_990))));
}

#[test]
fn long_lines_with_mixed_deadlines_are_swept_less_often() {
    let mut line = Line::new();
    for ticket in 0..100_000u64 {
        line.push(&[], call(ticket, Millis(1 + ticket.wrapping_mul(7919) % 1000)));
    }
    let (mut now, mut sweeps, mut expired) = (Millis(0), 0, 0);
    while expired < 100_000 {
        let due = line.expire(now, |_, _| expired += 1);
        assert!(due <= now.plus(13).max(Millis(1)) || due == Millis::NEVER, "{due:?} at {now:?}");
        now = due;
        sweeps += 1;
    }
    assert!((77..1000).contains(&sweeps), "{sweeps} sweeps");
}
