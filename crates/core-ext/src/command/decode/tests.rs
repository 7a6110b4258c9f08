use aerolane_wire::message::{MessageHeader, MessageWriter, op};
use aerolane_wire::particle::Particle;
use aerospike_core::ReadPolicy;
use proptest::prelude::*;

use super::*;

fn node() -> Arc<str> {
    "A1: 10.0.0.1:3000".into()
}

/// An answer with these bins.
fn answer(result_code: u8, ops: &[(&[u8], Particle<'_>)]) -> Vec<u8> {
    let header = MessageHeader { result_code, generation: 3, record_ttl: 99, ..MessageHeader::default() };
    let mut out = vec![];
    let mut writer = MessageWriter::bare(&mut out, &header);
    for (name, value) in ops {
        writer.op(op::READ, name, *value).unwrap();
    }
    writer.finish().unwrap();
    out
}

const ALL: Want = Want { bins: true, results: false, nil_bins: false };

#[test]
fn bins_come_in_order_with_generation_and_expiration() {
    let body = answer(0, &[(b"b", Particle::Integer(1)), (b"a", Particle::String(b"x")), (b"n", Particle::Nil)]);
    let record = record(&body, ALL, &node()).unwrap();
    assert_eq!(record.bins.keys().collect::<Vec<_>>(), ["b", "a"], "a nil bin of a get says nothing");
    assert_eq!((record.generation, record.expiration(), &record.results), (3, 99, &None));
}

#[test]
fn several_answers_for_one_bin_become_one_multi_result() {
    let body = answer(
        0,
        &[
            (b"a", Particle::Integer(1)),
            (b"", Particle::Nil),
            (b"a", Particle::Nil),
            (b"b", Particle::Bool(true)),
            (b"a", Particle::Integer(2)),
        ],
    );
    let record = record(&body, Want::OPERATE, &node()).unwrap();
    let merged = Value::MultiResult(vec![Value::Int(1), Value::Nil, Value::Int(2)]);
    assert_eq!(record.bins.get("a"), Some(&merged));
    assert_eq!((record.bins.len(), record.results.unwrap().len()), (2, 5));
}

#[test]
fn what_is_wanted_follows_the_call() {
    let mut policy = ReadPolicy::default().base_policy;
    assert_eq!(Want::get(&policy, &Bins::All), ALL);
    policy.populate_positional_results = true;
    assert!(Want::get(&policy, &Bins::from(["a"])).results);
    assert_eq!(Want::get(&policy, &Bins::None), Want { bins: false, results: false, nil_bins: false });
    let body = answer(0, &[(b"a", Particle::Integer(1))]);
    assert!(record(&body, Want::get(&policy, &Bins::None), &node()).unwrap().bins.is_empty());
}

#[test]
fn failures_name_code_and_node() {
    for code in [2u8, 3, 27, 9, 200] {
        let error = record(&answer(code, &[]), ALL, &node()).unwrap_err();
        assert_eq!(error.result_code(), i32::from(code));
        assert_eq!((error.node(), error.phase()), (Some("A1: 10.0.0.1:3000"), Phase::Receiving));
    }
    assert!(record(&answer(2, &[]), ALL, &node()).unwrap_err().is_not_found());
    assert!(write(&answer(2, &[]), &node()).is_err());
    assert!(!exists(&answer(2, &[]), &node()).unwrap());
    assert!(!delete(&answer(2, &[]), &node()).unwrap());
    assert!(exists(&answer(0, &[]), &node()).unwrap());
    assert!(exists(&answer(27, &[]), &node()).is_err());
    assert!(delete(&answer(22, &[]), &node()).is_err());
    assert_eq!(result_code(&answer(13, &[])), Some(ResultCode::RecordTooBig));
    assert_eq!(result_code(&[0; 5]), None);
}

#[test]
fn garbage_is_a_bad_response_that_says_where() {
    let text = |ops: &[(&[u8], Particle<'_>)]| record(&answer(0, ops), ALL, &node()).unwrap_err().to_string();
    let bad_text = text(&[(b"ok", Particle::Integer(1)), (b"bad", Particle::String(&[b'a', 0xff]))]);
    assert!(bad_text.contains("'bad'") && bad_text.contains("UTF-8"), "{bad_text}");
    assert!(text(&[(&[0xff], Particle::Integer(1))]).contains("bin name"));
    assert!(text(&[(b"l", Particle::List(&[0x91]))]).contains("'l'"));
    let whole = answer(0, &[(b"a", Particle::Integer(1))]);
    for cut in 0..whole.len() {
        let error = record(&whole[..cut], ALL, &node()).unwrap_err();
        assert!(matches!(error.kind(), crate::ErrorKind::BadResponse), "{error}");
    }
    let longer = [&whole[..], &[0]].concat();
    assert!(record(&longer, ALL, &node()).is_err());
}

proptest! {
    #[test]
    fn random_bodies_never_panic(mut body in prop::collection::vec(any::<u8>(), 0..300), small: bool) {
        // Few operations of a good answer lead deeper.
        if small && body.len() > 22 {
            body[5] = 0;
            body[18..22].copy_from_slice(&[0, 0, 0, 1]);
        }
        let _ = record(&body, Want::OPERATE, &node());
        let _ = write(&body, &node());
    }

    #[test]
    fn damaged_answers_never_panic(at in 0usize..64, byte: u8) {
        let list = [0x92, 0xa2, 3, b'x', 0x81, 1, 2];
        let mut body = answer(0, &[(b"bin", Particle::List(&list)), (b"i", Particle::Integer(7))]);
        let at = at % body.len();
        body[at] = byte;
        let _ = record(&body, Want::OPERATE, &node());
    }
}
