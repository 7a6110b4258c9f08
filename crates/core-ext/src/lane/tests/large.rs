//! Answers that are large, among small ones.

use super::*;
use crate::lane::large::LARGE;

/// A lane with requests on its one connection that have been sent.
fn rig(requests: u32) -> (Rig, ConnId) {
    let (mut rig, conns) = Rig::with_open(LaneSizing { max: 1, depth: 8, ..sizing() }, 1);
    for key in 0..requests {
        rig.submit(key);
    }
    rig.flush(conns[0]);
    (rig, conns[0])
}

/// An answer whose body has at least so many bytes.
fn large(key: u32, size: usize) -> Vec<u8> {
    message(key, &MessageHeader::default(), size)
}

#[test]
fn they_match_whatever_the_pieces_and_in_memory_of_their_own_unless_they_come_whole() {
    /// Whether each answer came in memory of its own.
    #[derive(Default)]
    struct Came(Vec<(u32, bool)>);
    impl Sink<u32> for Came {
        fn answer(&mut self, token: u32, body: &[u8]) {
            assert_eq!(key_of(body), token);
            self.0.push((token, false));
        }
        fn answer_owned(&mut self, token: u32, body: Vec<u8>) {
            assert_eq!(key_of(&body), token);
            assert_eq!(body.capacity(), body.len());
            self.0.push((token, true));
        }
        fn part(&mut self, _: &mut u32, _: &[u8], _: bool) {}
        fn failed(&mut self, token: u32, failure: &Failure) {
            panic!("{token}: {failure:?}");
        }
    }
    let bytes = [answer(0), large(1, LARGE), large(2, 5 * LARGE), answer(3), answer(4), large(5, 900_000)].concat();
    for (piece, owned) in [(7, true), (1000, true), (LARGE - 1, true), (LARGE * 2, true), (2_000_000, false)] {
        let (mut rig, conn) = rig(6);
        let mut came = Came::default();
        for bytes in bytes.chunks(piece) {
            rig.lane.received(conn, bytes, rig.now, &mut came).unwrap();
        }
        let tokens: Vec<_> = came.0.iter().map(|(token, _)| *token).collect();
        assert_eq!(tokens, [0, 1, 2, 3, 4, 5], "pieces of {piece}");
        assert_eq!((came.0[0].1, came.0[5].1), (false, owned), "pieces of {piece}");
        let counters = rig.counters();
        assert_eq!((counters.answers, counters.in_flight, counters.bytes_received), (6, 0, bytes.len() as u64));
    }
}

#[test]
fn one_that_is_late_goes_to_nobody_and_the_next_one_to_its_own() {
    let (mut rig, conn) = rig(2);
    let bytes = [large(0, 900_000), answer(1)].concat();
    rig.receive(conn, &bytes[..100_000]).unwrap();
    rig.pass(500);
    rig.lane.expire(rig.now, &mut rig.outcomes);
    rig.pass(501);
    assert_eq!(rig.outcomes.failure(0), ("Expired".to_owned(), true));
    assert_eq!(rig.outcomes.phase(0), Phase::Receiving);
    rig.receive(conn, &bytes[100_000..]).unwrap();
    let counters = rig.counters();
    assert_eq!((counters.late_answers, counters.in_flight, counters.orphans), (2, 0, 0));
}

#[test]
fn one_that_nobody_asked_for_is_not_gathered() {
    let (mut rig, conn) = rig(1);
    let bytes = [answer(0), large(1, 900_000)].concat();
    rig.receive(conn, &bytes[..200_000]).unwrap_err();
    assert_eq!(rig.outcomes.answered(), [0]);
    assert_eq!(rig.counters().open, 0);
}

#[test]
fn what_is_malformed_behind_one_is_found_where_it_stands() {
    let (mut rig, conn) = rig(2);
    let mut bytes = large(0, 2 * LARGE);
    let end = bytes.len();
    bytes.extend_from_slice(&[9; 16]);
    rig.receive(conn, &bytes[..LARGE]).unwrap();
    let error = rig.receive(conn, &bytes[LARGE..]).unwrap_err();
    assert!(error.offset >= end - LARGE, "{error:?}");
    assert_eq!(rig.outcomes.answered(), [0]);
}
