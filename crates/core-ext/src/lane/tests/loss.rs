//! Connections that end with requests on them.

use super::*;

#[test]
fn sent_and_unsent_are_told_apart_exactly() {
    let size = request(0, 0).len();
    for written in 0..=3 * size {
        let (mut rig, conns) = Rig::with_open(sizing(), 1);
        for key in 0..3 {
            rig.submit(key);
        }
        let mut out = Vec::new();
        rig.lane.take_output(conns[0], &mut out);
        rig.submit(3);
        rig.lane.unwritten(conns[0], out.len() - written);
        rig.lose(conns[0]);
        for key in 0..4 {
            assert_eq!(
                rig.outcomes.failure(key),
                lost(written > key as usize * size),
                "{written} bytes, request {key}"
            );
        }
        assert_eq!((rig.counters().in_flight, rig.lane.in_flight(), rig.counters().open), (0, 0, 0));
    }
}

#[test]
fn returned_output_is_not_sent() {
    let (mut rig, conns) = Rig::with_open(sizing(), 1);
    rig.submit(0);
    rig.submit(1);
    let mut out = Vec::new();
    rig.lane.take_output(conns[0], &mut out);
    rig.lane.return_output(conns[0], &out[out.len() / 2..]);
    rig.lose(conns[0]);
    assert_eq!((rig.outcomes.failure(0), rig.outcomes.failure(1)), (lost(true), lost(false)));
}

#[test]
fn taken_and_not_heard_of_again_counts_as_sent() {
    let (mut rig, conns) = Rig::with_open(sizing(), 1);
    rig.submit(0);
    rig.flush(conns[0]);
    rig.submit(1);
    rig.lose(conns[0]);
    assert_eq!((rig.outcomes.failure(0), rig.outcomes.failure(1)), (lost(true), lost(false)));
}

#[test]
fn those_in_line_get_another_connection() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { max: 1, ..sizing() }, 1);
    for key in 0..9 {
        rig.submit(key);
    }
    rig.flush(conns[0]);
    rig.answer(conns[0], &[0]);
    rig.lose(conns[0]);
    assert_eq!((1..5).map(|key| rig.outcomes.failure(key).1).collect::<Vec<_>>(), [true, true, true, false]);
    let conns = rig.open_all();
    assert_eq!(rig.flush(conns[0]), [5, 6, 7, 8]);
    rig.answer(conns[0], &[5, 6, 7, 8]);
    assert_eq!(rig.outcomes.answered(), [0, 5, 6, 7, 8]);
}

/// Also one that is open already, and that a narrow width has left idle: nothing would ever be answered there.
#[test]
fn those_in_line_get_a_connection_that_was_idle() {
    let (mut rig, conns) = Rig::with_open(LaneSizing { depth: 100, ..sizing() }, 2);
    for key in 0..20 {
        rig.submit(key);
    }
    rig.flush_all();
    assert_eq!((rig.lane.entries_on(conns[0]), rig.lane.entries_on(conns[1])), (16, 0));
    rig.lose(conns[0]);
    assert_eq!(rig.flush_all(), [(conns[1], vec![16, 17, 18, 19])]);
}

#[test]
fn orphans_end_silently() {
    let (mut rig, conns) = Rig::with_open(sizing(), 1);
    let ticket = rig.submit(0);
    rig.submit(1);
    rig.flush(conns[0]);
    rig.cancel(ticket);
    rig.lose(conns[0]);
    assert_eq!(rig.outcomes.all.len(), 1);
    assert_eq!((rig.counters().orphans, rig.counters().late_answers, rig.counters().closed), (0, 0, 1));
}

#[test]
fn an_answer_cut_short_is_no_answer() {
    let (mut rig, conns) = Rig::with_open(sizing(), 1);
    rig.submit(0);
    rig.flush(conns[0]);
    let bytes = answer(0);
    rig.receive(conns[0], &bytes[..bytes.len() - 1]).unwrap();
    rig.lose(conns[0]);
    assert_eq!(rig.outcomes.failure(0), lost(true));
}

#[test]
fn figures_from_a_confused_driver_do_not_overflow() {
    let (mut rig, conns) = Rig::with_open(sizing(), 1);
    rig.submit(0);
    rig.lane.unwritten(conns[0], usize::MAX);
    rig.lane.return_output(conns[0], &[1; 5000]);
    assert_eq!(rig.counters().bytes_sent, 0);
    rig.lose(conns[0]);
    assert_eq!(rig.outcomes.failure(0), lost(false));
}

#[test]
fn the_request_whose_answer_had_begun_is_told_apart() {
    let answered_in_part = |end: fn(&mut Rig, ConnId)| {
        let (mut rig, conns) = Rig::with_open(sizing(), 1);
        for key in 0..4 {
            rig.submit(key);
        }
        rig.flush(conns[0]);
        // One whole, and a few bytes of the next.
        rig.receive(conns[0], &[&answer(0)[..], &answer(1)[..10]].concat()).unwrap();
        rig.submit(4);
        end(&mut rig, conns[0]);
        [1, 2, 3].map(|key| rig.outcomes.phase(key))
    };
    let first = [Phase::Receiving, Phase::Sent, Phase::Sent];
    assert_eq!(answered_in_part(Rig::lose), first);
    assert_eq!(answered_in_part(|rig, _| rig.pass(1000)), first);

    // What is no answer came in place of the first one.
    let (mut rig, conns) = Rig::with_open(sizing(), 1);
    rig.submit(0);
    rig.submit(1);
    rig.flush(conns[0]);
    rig.receive(conns[0], b"garbage!").unwrap_err();
    assert_eq!([0, 1].map(|key| rig.outcomes.phase(key)), [Phase::Receiving, Phase::Sent]);

    // Of a batch a whole frame had come, and then nothing.
    let mut rig = Rig::new(sizing());
    rig.submit_batch(0);
    let conn = rig.open_all()[0];
    rig.flush(conn);
    rig.receive(conn, &part(0, false)).unwrap();
    rig.lose(conn);
    assert_eq!(rig.outcomes.phase(0), Phase::Receiving);
    // The next one on such a connection begins anew.
    rig.submit_batch(1);
    let conn = rig.open_all()[0];
    rig.flush(conn);
    rig.receive(conn, &[part(1, false), part(1, true)].concat()).unwrap();
    rig.submit_batch(2);
    assert_eq!(rig.flush(conn), [2]);
    rig.lose(conn);
    assert_eq!(rig.outcomes.phase(2), Phase::Sent);
}
