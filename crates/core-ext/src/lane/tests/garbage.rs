//! Bytes that are no answers: the connection is given up, and nobody gets what is not theirs.

use super::*;

/// A connection with two requests sent and one that is not.
fn rig() -> (Rig, ConnId) {
    let (mut rig, conns) = Rig::with_open(sizing(), 1);
    rig.submit(0);
    rig.submit(1);
    rig.flush(conns[0]);
    rig.submit(2);
    (rig, conns[0])
}

#[test]
fn garbage_fails_the_entries_of_its_connection() {
    let mut huge = answer(0);
    huge[2..8].copy_from_slice(&[0, 0, 0xff, 0, 0, 0]);
    let cases: [(&str, Vec<u8>); 7] = [
        ("version", [1, 3, 0, 0, 0, 0, 0, 30].into()),
        ("frame type", [2, 9, 0, 0, 0, 0, 0, 30].into()),
        ("too large", huge),
        ("info", frame(FrameType::Info, b"namespaces\ttest\n")),
        ("admin", frame(FrameType::Admin, &[0; 16])),
        ("no whole message header", frame(FrameType::Message, &[22; 21])),
        ("empty", frame(FrameType::Message, &[])),
    ];
    for (what, bytes) in cases {
        let (mut rig, conn) = rig();
        let error = rig.receive(conn, &bytes).expect_err(what);
        for key in 0..3 {
            let (kind, sent) = rig.outcomes.failure(key);
            assert_eq!((kind, sent), (format!("Garbage({error:?})"), key < 2), "{what}");
        }
        assert_eq!((rig.counters().open, rig.lane.in_flight(), rig.counters().in_flight), (0, 0, 0));
        rig.receive(conn, &answer(0)).unwrap();
        assert_eq!(rig.outcomes.all.len(), 3);
    }
}

#[test]
fn answers_before_the_garbage_count() {
    let (mut rig, conn) = rig();
    let error = rig.receive(conn, &[answer(0), b"garbage!".to_vec()].concat()).unwrap_err();
    assert_eq!(error.offset, answer(0).len() + 1, "as seen from the bytes handed in");
    assert_eq!(rig.outcomes.answered(), [0]);
    assert_eq!(rig.outcomes.all.len(), 3);
}

#[test]
fn an_answer_that_nobody_asked_for_is_garbage() {
    let (mut rig, conn) = rig();
    rig.receive(conn, &[answer(0), answer(1), answer(2)].concat()).unwrap_err();
    assert_eq!(rig.outcomes.answered(), [0, 1], "request 2 has not been sent");
    assert!(rig.outcomes.failure(2).0.contains("not sent"));

    let (mut rig, conns) = Rig::with_open(sizing(), 1);
    rig.receive(conns[0], &answer(0)).unwrap_err();
    assert_eq!(rig.counters().open, 0);
}

#[test]
fn the_start_of_an_unasked_answer_is_not_kept() {
    let (mut fresh, conns) = Rig::with_open(sizing(), 1);
    fresh.receive(conns[0], &[2, 3, 0]).unwrap_err();
    let (mut rig, conn) = rig();
    rig.receive(conn, &[answer(0), answer(1), vec![2]].concat()).unwrap_err();
    assert_eq!(rig.outcomes.answered(), [0, 1]);
}

#[test]
fn a_compressed_answer_is_handed_out_with_its_frame_header() {
    struct Body(Vec<u8>);
    impl Sink<u32> for Body {
        fn answer(&mut self, _: u32, body: &[u8]) {
            self.0 = body.to_vec();
        }
        fn part(&mut self, _: &mut u32, _: &[u8], _: bool) {}
        fn failed(&mut self, _: u32, _: &Failure) {}
    }
    let (mut rig, conn) = rig();
    let mut body = Body(Vec::new());
    let bytes = frame(FrameType::CompressedMessage, &[3; 40]);
    rig.lane.received(conn, &bytes, rig.now, &mut body).unwrap();
    assert_eq!(body.0, bytes);
}

#[test]
fn nothing_received_is_nothing() {
    let (mut rig, conn) = rig();
    rig.receive(conn, &[]).unwrap();
    rig.answer(conn, &[0, 1]);
    rig.receive(conn, &[]).unwrap();
    assert_eq!(rig.outcomes.answered(), [0, 1]);
}
