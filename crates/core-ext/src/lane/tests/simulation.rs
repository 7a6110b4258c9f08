//! Long and short random runs of the simulated world: nobody gets another's answer, everybody gets one outcome, what is
//! said about "sent" is true, and everything is released in the end. (The checks are in [`World`].)

use proptest::prelude::*;

use super::world::{Faults, World};
use super::*;

#[test]
fn on_a_good_network_everything_is_answered() {
    let sizing = LaneSizing { max: 4, max_waiting: 1 << 20, ..sizing() };
    for (seed, piece) in [(1, 0), (2, 8000), (3, 300)] {
        let summary = World::new(seed, sizing, Faults { piece, ..Faults::default() }).run(5_000, 3);
        let counters = summary.counters;
        assert_eq!(counters.opened, counters.open, "no connection was lost");
        assert_eq!(counters.answers + counters.late_answers, summary.executed);
        assert_eq!(counters.requests, counters.answers + counters.timeouts);
        assert!(piece == 300 || counters.answers > 4_000, "{counters:?}");
    }
}

/// With as many connections as the requests need, whose limits change, and with as many as what is measured says.
#[test]
fn through_all_that_can_go_wrong() {
    for (depth, per_step, resize) in [(8, 8, 1000), (40, 16, 0)] {
        all_goes_wrong(depth, per_step, resize);
    }
}

fn all_goes_wrong(depth: u16, per_step: u64, resize: u32) {
    let faults = Faults {
        cancel: 4,
        refuse: 10,
        drop_before: 800,
        drop_after: 800,
        reset: 4000,
        stall: 1000,
        garbage: 2000,
        leave: 500,
        resize,
        close: false,
        piece: 20_000,
    };
    let sizing = LaneSizing { max: 6, depth, max_batch: 4, max_bytes_in_flight: 30_000, ..sizing() };
    let summary = World::new(7, sizing, faults).run(200_000, per_step);
    let counters = summary.counters;
    // All of it did happen, and most requests still got their answer.
    assert!(counters.answers > 80_000, "{counters:?}");
    for (what, count) in [
        ("timeouts", counters.timeouts),
        ("late answers", counters.late_answers),
        ("closed", counters.closed),
        ("failures to open", counters.open_failures),
        ("refused", counters.refused),
    ] {
        assert!(count > 50, "{what}: {counters:?}");
    }
}

fn chance() -> impl Strategy<Value = u32> {
    prop_oneof![2 => Just(0u32), 1 => 2..20u32, 1 => 20..1000u32]
}

fn faults() -> impl Strategy<Value = Faults> {
    let first = (chance(), prop_oneof![Just(0u32), 2..50u32], chance(), chance(), chance());
    let second = (chance(), chance(), chance(), chance(), prop_oneof![Just(0u32), 1..5000u32]);
    (first, second, any::<bool>()).prop_map(|(first, second, close)| {
        let (cancel, refuse, drop_before, drop_after, reset) = first;
        let (stall, garbage, leave, resize, piece) = second;
        // A node that leaves all the time, or a writer of single bytes, would only be waited for.
        let (leave, piece) = (if leave > 0 { leave + 20 } else { 0 }, if piece > 0 { piece + 200 } else { 0 });
        Faults { cancel, refuse, drop_before, drop_after, reset, stall, garbage, leave, resize, close, piece }
    })
}

fn sizings() -> impl Strategy<Value = LaneSizing> {
    let bytes = prop_oneof![Just(100u32), 1000..50_000u32, Just(1 << 20)];
    let waiting = (prop_oneof![0..20u32, Just(10_000)], prop_oneof![100..5000u64, Just(1 << 20)]);
    // Above sixteen the number of connections follows what is measured.
    let depth = prop_oneof![3 => 1..9u16, 1 => 17..40u16];
    (0..3u16, 1..5u16, depth, bytes, 1..4u16, waiting, any::<bool>()).prop_map(
        |(min, more, depth, max_bytes_in_flight, max_batch, (max_waiting, max_waiting_bytes), wait)| LaneSizing {
            min,
            max: min + more,
            depth,
            spread: 1 + more % 4,
            fair_share: 1 + depth % 3,
            max_bytes_in_flight,
            max_batch,
            max_waiting,
            max_waiting_bytes,
            max_batch_answer_bytes: 1 << 20,
            wait,
            idle_ms: 50,
            orphan_ms: 100,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn through_anything(seed: u64, sizing in sizings(), faults in faults(), requests in 1..150u32, pace in 1..20u64) {
        World::new(seed, sizing, faults).run(requests, pace);
    }
}
