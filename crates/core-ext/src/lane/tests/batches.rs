//! Answers of several frames, on connections of their own.

use super::*;

fn batch_rig() -> (Rig, ConnId) {
    batch_rig_of(sizing())
}

fn batch_rig_of(sizing: LaneSizing) -> (Rig, ConnId) {
    let mut rig = Rig::new(sizing);
    rig.submit_batch(0);
    let conns = rig.open_all();
    assert_eq!(conns[0].class(), Class::Batch);
    assert_eq!(rig.flush(conns[0]), [0]);
    (rig, conns[0])
}

#[test]
fn parts_come_as_they_arrive_up_to_the_last() {
    let bytes = [part(1, false), part(2, false), part(3, true)].concat();
    for piece in [1, 5, 30, bytes.len()] {
        let (mut rig, conn) = batch_rig();
        for bytes in bytes.chunks(piece) {
            assert!(rig.outcomes.all.is_empty());
            rig.receive(conn, bytes).unwrap();
        }
        assert!(matches!(&rig.outcomes.all[&0], Outcome::Parts(keys) if *keys == [1, 2, 3]));
        assert_eq!((rig.counters().answers, rig.counters().in_flight), (1, 0));
    }
}

#[test]
fn one_request_at_a_time_on_each() {
    let (mut rig, first) = batch_rig();
    rig.submit_batch(1);
    rig.submit_batch(2);
    let second = rig.open_all()[0];
    assert_eq!((rig.flush(first), rig.flush(second)), (vec![], vec![1]));
    rig.receive(first, &part(9, false)).unwrap();
    assert!(rig.flush(first).is_empty(), "the answer is not at its end");
    rig.receive(first, &part(9, true)).unwrap();
    assert_eq!(rig.flush(first), [2]);
}

/// Counts parts.
struct Count<'a>(&'a std::cell::Cell<u32>);
impl Sink<u32> for Count<'_> {
    fn answer(&mut self, _: u32, _: &[u8]) {
        unreachable!("batches have parts");
    }
    fn part(&mut self, token: &mut u32, body: &[u8], last: bool) {
        assert!(*token == 0 && last && body.len() > 60);
        self.0.set(self.0.get() + 1);
    }
    fn failed(&mut self, _: u32, failure: &Failure) {
        panic!("{failure:?}");
    }
}

#[test]
fn the_last_of_several_messages_in_one_frame_ends_the_answer() {
    let (mut rig, conn) = batch_rig();
    let body = [&part(1, false)[8..], &part(2, true)[8..]].concat();
    let messages = std::cell::Cell::new(0);
    rig.lane.received(conn, &frame(FrameType::Message, &body), rig.now, &mut Count(&messages)).unwrap();
    assert_eq!((messages.get(), rig.lane.in_flight()), (1, 0));
}

#[test]
fn an_answer_with_more_bytes_than_are_taken_fails_and_its_rest_is_dropped() {
    let body = part(1, false).len() as u64 - 8;
    let (mut rig, conn) = batch_rig_of(LaneSizing { max_batch_answer_bytes: 3 * body, ..sizing() });
    rig.receive(conn, &[part(1, false), part(2, false), part(3, true)].concat()).unwrap();
    assert!(matches!(&rig.outcomes.all[&0], Outcome::Parts(keys) if *keys == [1, 2, 3]), "so many are taken");
    // The count begins anew; the last frame counts, too.
    for (key, last) in [(5, false), (6, true)] {
        rig.submit_batch(key);
        assert_eq!(rig.flush(conn), [key]);
        rig.receive(conn, &[part(1, false), part(2, false), part(3, false)].concat()).unwrap();
        rig.receive(conn, &part(4, last)).unwrap();
        assert_eq!(rig.outcomes.failure(key), (format!("AnswerTooLarge({})", 3 * body), true));
        assert_eq!((rig.outcomes.phase(key), &rig.outcomes.parts[&key]), (Phase::Receiving, &vec![1, 2, 3]));
        if !last {
            rig.submit_batch(7);
            assert_eq!((rig.flush(conn), rig.counters().orphans), (vec![], 1), "its answer has not ended");
            rig.receive(conn, &part(5, true)).unwrap();
            assert_eq!(rig.flush(conn), [7]);
            rig.receive(conn, &part(7, true)).unwrap();
        }
    }
    let counters = rig.counters();
    assert_eq!((counters.orphans, counters.in_flight, counters.late_answers), (0, 0, 2));
    // The rest that does not come costs the connection.
    rig.submit_batch(8);
    rig.flush(conn);
    rig.receive(conn, &[part(1, false), part(2, false), part(3, false), part(4, false)].concat()).unwrap();
    rig.pass(1001);
    rig.lane.trim(rig.now);
    assert_eq!(rig.lane.close_request(), Some(conn));
}

#[test]
fn the_rest_of_an_abandoned_answer_is_dropped() {
    let (mut rig, conn) = batch_rig();
    rig.receive(conn, &part(1, false)).unwrap();
    rig.pass(1000);
    assert_eq!(rig.outcomes.failure(0), expired(true));
    rig.submit_batch(7);
    rig.receive(conn, &part(2, false)).unwrap();
    assert!(rig.flush(conn).is_empty());
    rig.receive(conn, &part(3, true)).unwrap();
    assert_eq!(rig.outcomes.parts[&0], [1], "nothing came after the failure");
    assert_eq!(rig.counters().late_answers, 1);
    assert_eq!(rig.flush(conn), [7]);
}

#[test]
fn malformed_answers_end_the_connection() {
    let trailing = [&part(1, true)[8..], &part(2, false)[8..]].concat();
    let cut = &part(1, true)[8..30];
    for (body, frame_type) in [
        (&trailing[..], FrameType::Message),
        (cut, FrameType::Message),
        (&[], FrameType::Message),
        (&[0; 40], FrameType::CompressedMessage),
        (&packed(&frame(FrameType::Info, b"what?"))[8..], FrameType::CompressedMessage),
        (&packed(&packed(&part(1, true)))[8..], FrameType::CompressedMessage),
    ] {
        let (mut rig, conn) = batch_rig();
        rig.receive(conn, &frame(frame_type, body)).unwrap_err();
        assert!(rig.outcomes.failure(0).0.starts_with("Garbage"));
        assert_eq!((rig.counters().open, rig.lane.in_flight()), (0, 0));
    }
}

/// A compressed frame with this one in it.
fn packed(frame: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    aerolane_wire::compress::compress(&mut out, frame).unwrap();
    out
}

#[test]
fn compressed_parts_are_inflated() {
    let bytes = [packed(&part(1, false)), part(2, false), packed(&part(3, true))].concat();
    for piece in [1, 30, bytes.len()] {
        let (mut rig, conn) = batch_rig();
        for bytes in bytes.chunks(piece) {
            rig.receive(conn, bytes).unwrap();
        }
        assert!(matches!(&rig.outcomes.all[&0], Outcome::Parts(keys) if *keys == [1, 2, 3]));
    }
}

/// What a server says that takes no compressed requests: not marked as the last message.
fn refusal(result_code: u8) -> Vec<u8> {
    let mut out = Vec::new();
    let header = MessageHeader { result_code, ..MessageHeader::default() };
    MessageWriter::frame(&mut out, &header).finish().unwrap();
    out
}

/// Keeps the last part, and whether it ended the answer.
#[derive(Default)]
struct Parts(Vec<(usize, bool)>);
impl Sink<u32> for Parts {
    fn answer(&mut self, _: u32, _: &[u8]) {
        unreachable!("batches have parts");
    }
    fn part(&mut self, _: &mut u32, body: &[u8], last: bool) {
        self.0.push((body.len(), last));
    }
    fn failed(&mut self, _: u32, failure: &Failure) {
        panic!("{failure:?}");
    }
}

#[test]
fn a_refusal_ends_the_answer_to_a_compressed_request_and_no_other() {
    // A compressed request is a whole answer with 25 alone in its first frame; other codes, a plain request, or a frame
    // in front of it make it the outcome of a row.
    for (compressed, before, code, last) in
        [(true, false, 25, true), (false, false, 25, false), (true, false, 22, false), (true, true, 25, false)]
    {
        let mut rig = Rig::new(sizing());
        let plain = request(0, 200);
        let bytes = if compressed { packed(&plain) } else { plain };
        rig.lane.submit(0, Class::Batch, &bytes, Millis(1000), rig.now, 0).unwrap();
        let conn = rig.open_all()[0];
        assert!(rig.lane.take_output(conn, &mut Vec::new()));
        rig.lane.unwritten(conn, 0);
        let mut parts = Parts::default();
        if before {
            rig.lane.received(conn, &part(1, false), rig.now, &mut parts).unwrap();
        }
        rig.lane.received(conn, &refusal(code), rig.now, &mut parts).unwrap();
        assert_eq!(parts.0.last(), Some(&(22, last)), "{compressed} {before} {code}");
        assert_eq!(rig.lane.in_flight(), usize::from(!last));
    }
}
