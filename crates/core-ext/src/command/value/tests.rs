use std::collections::HashMap;

use aerospike_core::operations::cdt_context;
use proptest::prelude::*;

use super::*;

fn bytes_of(value: &Value) -> Vec<u8> {
    let mut out = vec![];
    encode(value, &mut out).unwrap();
    out
}

/// What comes back for a value: the wire knows no insertion-ordered or hashed maps, and bins no single precision.
fn there_and_back(value: &Value) -> Value {
    decode(particle_type_of(value).unwrap(), &bytes_of(value)).unwrap()
}

/// The msgpack that aerospike-core writes for a value, taken out of a context (an id byte and the value in a list).
fn core_msgpack(value: &Value) -> Result<Vec<u8>, aerospike_core::Error> {
    let bytes = cdt_context::to_bytes(&[cdt_context::ctx_list_value(value.clone())])?;
    assert_eq!(bytes[..2], [0x92, 0x13]);
    Ok(bytes[2..].to_vec())
}

fn nest(levels: usize) -> Value {
    (0..levels).fold(Value::Int(1), |inner, _| Value::List(vec![inner]))
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Nil),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::Int),
        (-300i64..70_000).prop_map(Value::Int),
        any::<f64>().prop_map(Value::from),
        any::<f32>().prop_map(Value::from),
        ".{0,40}".prop_map(Value::String),
        prop::collection::vec(any::<u8>(), 0..300).prop_map(Value::Blob),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Value::Hll),
        "[a-z{}]{0,30}".prop_map(Value::GeoJson),
    ]
}

fn key() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::Int),
        ".{0,8}".prop_map(Value::String),
        prop::collection::vec(any::<u8>(), 0..8).prop_map(Value::Blob),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 60, 20, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..20).prop_map(Value::List),
            prop::collection::vec((key(), inner.clone()), 0..20)
                .prop_map(|pairs| Value::OrderedMap(pairs.into_iter().collect())),
            prop::collection::btree_map(key(), inner, 0..20).prop_map(Value::SortedMap),
        ]
    })
}

/// Bins hold doubles only.
fn as_bin(value: Value) -> Value {
    match value {
        Value::Float(v @ FloatValue::F32(_)) => Value::from(f64::from(v)),
        other => other,
    }
}

proptest! {
    #[test]
    fn every_value_comes_back(value in any_value()) {
        let back = there_and_back(&value);
        prop_assert_eq!(format!("{back:?}"), format!("{:?}", as_bin(value)));
    }

    #[test]
    fn msgpack_is_byte_for_byte_that_of_aerospike_core(value in any_value()) {
        let ours = match &value {
            Value::List(_) | Value::OrderedMap(_) | Value::SortedMap(_) => bytes_of(&value),
            scalar => bytes_of(&Value::List(vec![scalar.clone()]))[1..].to_vec(),
        };
        prop_assert_eq!(ours, core_msgpack(&value).unwrap());
    }

    #[test]
    fn garbage_never_panics(kind in 0u8..30, bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode(kind, &bytes);
    }

    #[test]
    fn damaged_collections_are_errors_or_values(value in any_value(), at in any::<prop::sample::Index>(), byte: u8) {
        let mut bytes = bytes_of(&Value::List(vec![value]));
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = decode(particle_type::LIST, &bytes);
        prop_assert!(decode(particle_type::LIST, &bytes[..at]).is_err());
    }
}

#[test]
fn maps_keep_their_kind_and_hashed_ones_come_back_in_order_of_arrival() {
    let pair = (Value::from("k"), Value::from(1));
    let hashed = Value::HashMap(HashMap::from([pair.clone()]));
    assert!(matches!(there_and_back(&hashed), Value::OrderedMap(m) if m.len() == 1));
    assert_eq!(bytes_of(&hashed), [0x81, 0xa2, 3, b'k', 1]);
    let sorted = Value::SortedMap(BTreeMap::from([pair.clone()]));
    assert_eq!(bytes_of(&sorted), [0x82, 0xc7, 0, 1, 0xc0, 0xa2, 3, b'k', 1]);
    assert!(matches!(there_and_back(&sorted), Value::SortedMap(_)));
    let kept = decode(particle_type::MAP, &[0x83, 0xc7, 0, 8, 0xc0, 2, 1, 1, 2]).unwrap();
    let Value::KeyValueList(pairs) = kept else { panic!("{kept:?}") };
    assert_eq!(pairs, [(Value::Int(2), Value::Int(1)), (Value::Int(1), Value::Int(2))]);
}

#[test]
fn what_cannot_be_sent_is_named() {
    let mut out = vec![];
    let mut refused = |value: &Value| encode(value, &mut out).unwrap_err();
    assert_eq!(refused(&Value::Infinity), ValueError::Bound("infinity"));
    assert_eq!(refused(&Value::Wildcard), ValueError::Bound("the wildcard"));
    assert!(matches!(refused(&Value::MultiResult(vec![])), ValueError::AnswerOnly(_)));
    assert!(matches!(refused(&Value::KeyValueList(vec![])), ValueError::AnswerOnly(_)));
    assert!(matches!(refused(&Value::List(vec![Value::KeyValueList(vec![])])), ValueError::AnswerOnly(_)));
    assert_eq!(refused(&Value::List(vec![Value::Unknown(9, vec![])])), ValueError::UnknownInside(9));
    for key in [Value::Nil, Value::Bool(true), Value::from(1.5), nest(1), Value::GeoJson(String::new())] {
        let map = Value::OrderedMap(IndexMap::from([(key.clone(), Value::Nil)]));
        assert!(matches!(refused(&map), ValueError::MapKey(_)), "{key:?}");
        assert!(core_msgpack(&map).is_err(), "aerospike-core refuses it, too");
    }
}

#[test]
fn unknown_particles_go_back_as_they_came() {
    let value = decode(9, b"pickle").unwrap();
    assert_eq!(value, Value::Unknown(9, b"pickle".to_vec()));
    assert_eq!((particle_type_of(&value).unwrap(), bytes_of(&value)), (9, b"pickle".to_vec()));
}

#[test]
fn nesting_is_bounded_both_ways() {
    let deepest = nest(MAX_DEPTH);
    assert_eq!(there_and_back(&deepest), deepest);
    let mut out = vec![];
    assert_eq!(encode(&nest(MAX_DEPTH + 1), &mut out), Err(ValueError::TooDeep));
    let mut bytes = vec![0x91; 100_000];
    bytes.push(1);
    assert!(decode(particle_type::LIST, &bytes).is_err());
    let mut args = vec![];
    assert_eq!(encode_arguments(&[nest(MAX_DEPTH)], &mut args), Err(ValueError::TooDeep));
    encode_arguments(&[nest(MAX_DEPTH - 1)], &mut args).unwrap();
}

#[test]
fn malformed_collections_are_refused() {
    for (kind, bytes) in [
        (particle_type::LIST, &[][..]),
        (particle_type::LIST, &[0x80]),
        (particle_type::MAP, &[0x90]),
        (particle_type::LIST, &[0x91]),
        (particle_type::LIST, &[0x90, 0x01]),
        (particle_type::LIST, &[0xdd, 0xff, 0xff, 0xff, 0xff]),
        (particle_type::MAP, &[0xdf, 0xff, 0xff, 0xff, 0xff]),
        (particle_type::MAP, &[0x81, 0xc3, 0x01]),
        (particle_type::MAP, &[0x81, 0x90, 0x01]),
        (particle_type::MAP, &[0x82, 0xc7, 0, 1, 0xc0, 0xca, 0, 0, 0, 0, 1]),
        (particle_type::LIST, &[0x91, 0xa0]),
        (particle_type::LIST, &[0x91, 0xa2, 3, 0xff]),
        (particle_type::STRING, &[0xff]),
        (particle_type::INTEGER, &[1, 2, 3]),
        (particle_type::FLOAT, &[1, 2, 3, 4]),
        (particle_type::BOOL, &[2]),
        (particle_type::GEOJSON, &[0, 0]),
    ] {
        assert!(decode(kind, bytes).is_err(), "{kind} {bytes:?}");
    }
}

#[test]
fn arguments_are_one_list_and_may_hold_bounds() {
    let mut out = vec![];
    encode_arguments(&[Value::Infinity, Value::Wildcard, Value::from("a")], &mut out).unwrap();
    assert_eq!(out, [0x93, 0xd4, 0xff, 1, 0xd4, 0xff, 0, 0xa2, 3, b'a']);
}
