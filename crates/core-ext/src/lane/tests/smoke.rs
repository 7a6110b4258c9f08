//! What the fuzz target `lane_received` does, on generated input: any bytes, in any pieces.

use proptest::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::*;

/// Hands `bytes` to a lane with a few requests of each class in flight. Nothing may panic, and after an error nothing is
/// left of the connection.
fn feed(bytes: &[u8], mut piece: impl FnMut() -> usize, class: Class) {
    let mut rig = Rig::new(LaneSizing { min: 0, max: 1, max_batch: 1, ..sizing() });
    for key in 0..3 {
        rig.try_submit(key, class, 1000, 0).unwrap();
    }
    let conn = rig.open_all()[0];
    rig.flush(conn);
    let mut rest = bytes;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(piece().clamp(1, rest.len()));
        rest = later;
        let mut any = Any::default();
        if rig.lane.received(conn, now, rig.now, &mut any).is_err() {
            assert_eq!((rig.lane.entries_on(conn), rig.lane.counters(0).open), (0, 0));
            break;
        }
        assert!(any.failed == 0 && any.answers <= 3);
        let mut out = Vec::new();
        rig.lane.take_output(conn, &mut out);
    }
    let mut any = Any::default();
    rig.lane.close_all(&FailureKind::Closed, &mut any);
    let counters = rig.counters();
    assert_eq!((counters.in_flight, counters.queued, counters.orphans, rig.lane.in_flight()), (0, 0, 0, 0));
}

#[derive(Default)]
struct Any {
    answers: usize,
    failed: usize,
}

impl Sink<u32> for Any {
    fn answer(&mut self, _: u32, body: &[u8]) {
        assert!(body.len() >= 8);
        self.answers += 1;
    }

    fn part(&mut self, _: &mut u32, _: &[u8], last: bool) {
        self.answers += usize::from(last);
    }

    fn failed(&mut self, _: u32, _: &Failure) {
        self.failed += 1;
    }
}

/// Good answers, to be spoilt.
fn corpus() -> Vec<Vec<u8>> {
    vec![
        [answer(0), answer(1), answer(2)].concat(),
        [part(0, false), part(0, false), part(0, true), part(1, true), part(2, true)].concat(),
        frame(FrameType::Message, &[&part(0, false)[8..], &part(0, true)[8..]].concat()),
        [answer(0), frame(FrameType::CompressedMessage, &[0; 50])].concat(),
        frame(FrameType::Info, b"build\t8.1.2\n"),
        frame(FrameType::Admin, &[0; 16]),
        vec![2, 3, 0, 0, 8, 0, 0, 0, 22],
    ]
}

#[test]
fn spoilt_answers() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let corpus = corpus();
    for round in 0..20_000 {
        let mut bytes = corpus[round % corpus.len()].clone();
        for _ in 0..rng.next_u64() % 4 {
            let at = rng.next_u64() as usize % bytes.len();
            match rng.next_u64() % 4 {
                0 => bytes[at] = rng.next_u64() as u8,
                1 => bytes[at] ^= 1 << (rng.next_u64() % 8),
                2 => bytes.truncate(at.max(1)),
                _ => bytes.extend_from_slice(&corpus[at % corpus.len()]),
            }
        }
        let class = if rng.next_u64() % 2 == 0 { Class::Single } else { Class::Batch };
        feed(&bytes, || rng.next_u64() as usize % 40, class);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200), piece in 1..50usize, batch: bool) {
        feed(&bytes, || piece, if batch { Class::Batch } else { Class::Single });
    }

    #[test]
    fn framed_bytes(bodies in proptest::collection::vec((1..5u8, proptest::collection::vec(0..40u8, 0..60)), 1..5), batch: bool) {
        let bytes: Vec<u8> =
            bodies.iter().flat_map(|(kind, body)| frame(FrameType::from_byte(*kind).unwrap(), body)).collect();
        feed(&bytes, || 13, if batch { Class::Batch } else { Class::Single });
    }
}
