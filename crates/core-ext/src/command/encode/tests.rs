use aerolane_wire::message::Message;
use aerospike_core::{Value, as_bin, as_key};

use super::*;
use crate::operations::{self, get, get_bin, put};

fn message_of(out: &[u8]) -> Message<'_> {
    let (frame, size) = proto::split_frame(out, proto::MAX_BODY_SIZE).unwrap().unwrap();
    assert_eq!(size, out.len());
    Message::decode(frame.body).unwrap()
}

#[test]
fn a_get_of_all_bins_is_a_bare_header_and_three_fields() {
    let key = as_key!("test", "users", "u1");
    let mut out = vec![];
    read(&ReadPolicy::default().base_policy, &key, &Bins::All, 1000, &mut out).unwrap();
    let message = message_of(&out);
    assert_eq!(message.header.info1, info1::READ | info1::GET_ALL);
    assert_eq!((message.header.transaction_ttl, message.header.n_fields, message.header.n_ops), (1000, 3, 0));
    assert_eq!(message.field(field::SET), Some(&b"users"[..]));
    assert_eq!(message.field(field::DIGEST), Some(&key.digest()[..]));
}

#[test]
fn requests_are_appended_and_an_error_leaves_the_buffer_alone() {
    let key = as_key!("test", "s", 1);
    let policy = WritePolicy::default();
    let mut out = b"before".to_vec();
    touch(&policy, &key, 0, &mut out).unwrap();
    let good = out.clone();
    let bad_values = [Value::Infinity, Value::KeyValueList(vec![]), Value::List(vec![Value::Unknown(1, vec![])])];
    for value in bad_values {
        let bins = [as_bin!("fine", 1), Bin::new("bad", value)];
        let error = write(&policy, &key, &bins, WriteKind::Put, 0, &mut out).unwrap_err();
        assert!(error.to_string().contains("'bad'"), "{error}");
        assert_eq!(out, good);
    }
    let long = as_bin!("sixteen_bytes_xx", 1);
    assert!(write(&policy, &key, std::slice::from_ref(&long), WriteKind::Add, 0, &mut out).is_err());
    assert!(write(&policy, &key, &[], WriteKind::Put, 0, &mut out).is_err());
    assert!(operate(&policy, &key, &[], 0, &mut out).is_err());
    assert!(operate(&policy, &key, &[operations::touch(), operations::put(&long)], 0, &mut out).is_err());
    let theirs = aerospike_core::operations::lists::size("l");
    assert!(operate(&policy, &key, &[theirs.into()], 0, &mut out).is_err());
    assert!(operate(&policy, &key, &[operations::lists::size("sixteen_bytes_xx")], 0, &mut out).is_err());
    let refused = operations::lists::set("l", 0, Value::Nil);
    assert!(operate(&policy, &key, &[operations::touch(), refused], 0, &mut out).is_err());
    let no_namespace = as_key!("", "s", 1);
    assert!(read(&policy.base_policy, &no_namespace, &Bins::All, 0, &mut out).is_err());
    assert!(exists(&ReadPolicy::default(), &no_namespace, 0, &mut out).is_err());
    assert!(delete(&policy, &no_namespace, 0, &mut out).is_err());
    assert_eq!(out, good);
}

#[test]
fn a_key_made_from_a_digest_may_hold_what_cannot_be_sent() {
    let key = Key::with_digest("test", "s", Some(Value::Infinity), [1; 20]);
    let policy = WritePolicy { send_key: true, ..WritePolicy::default() };
    let mut out = vec![];
    let error = touch(&policy, &key, 0, &mut out).unwrap_err();
    assert!(error.to_string().contains("record key"), "{error}");
    assert!(out.is_empty());
    delete(&policy, &key, 0, &mut out).unwrap();
}

#[test]
fn a_request_above_the_size_of_a_frame_is_refused_before_it_is_sent() {
    let bin = Bin::new("b", Value::Blob(vec![0; proto::MAX_BODY_SIZE]));
    let mut out = vec![];
    let key = as_key!("test", "s", 1);
    let error = write(&WritePolicy::default(), &key, &[bin], WriteKind::Put, 0, &mut out).unwrap_err();
    assert!(matches!(error.kind(), crate::ErrorKind::RecordTooBig { size, .. } if *size > proto::MAX_BODY_SIZE));
    assert!(out.is_empty());
}

#[test]
fn the_strong_consistency_read_mode_reaches_plain_reads() {
    let mut base = ReadPolicy::default().base_policy;
    for (mode, bits) in [(ReadModeSc::Linearize, 0x40), (ReadModeSc::AllowReplica, 0x80), (ReadModeSc::Session, 0)] {
        base.read_mode_sc = mode;
        let mut out = vec![];
        read(&base, &as_key!("test", "s", 1), &Bins::None, 0, &mut out).unwrap();
        assert_eq!(message_of(&out).header.info3, bits);
    }
}

#[test]
fn a_read_of_all_bins_never_asks_for_all_answers() {
    let key = as_key!("test", "s", 1);
    let flags = |ops: &[Operation], each| {
        let policy = WritePolicy { respond_per_each_op: each, ..WritePolicy::default() };
        let mut out = vec![];
        operate(&policy, &key, ops, 0, &mut out).unwrap();
        let header = message_of(&out).header;
        (header.info1, header.info2)
    };
    let bin = as_bin!("a", 1);
    assert_eq!(flags(&[get(), put(&bin)], true), (0x03, 0x01));
    assert_eq!(flags(&[get_bin("a"), put(&bin)], false), (0x01, 0x81));
    assert_eq!(flags(&[get_bin("a")], false), (0x01, 0x00));
    assert_eq!(flags(&[get_bin("a")], true), (0x01, 0x80));
}

#[test]
fn large_requests_are_compressed_when_the_policy_says_so() {
    let mut policy = WritePolicy::default();
    policy.base_policy.use_compression = true;
    let bins = [Bin::new("b", Value::Blob(vec![7; 10_000]))];
    let key = as_key!("test", "s", 1);
    let (mut plain, mut packed) = (vec![], vec![1, 2, 3]);
    write(&policy, &key, &bins, WriteKind::Put, 0, &mut packed).unwrap();
    policy.base_policy.use_compression = false;
    write(&policy, &key, &bins, WriteKind::Put, 0, &mut plain).unwrap();
    assert!(packed.len() < 300);
    let (frame, _) = proto::split_frame(&packed[3..], proto::MAX_BODY_SIZE).unwrap().unwrap();
    assert_eq!(compress::message_body(&frame, &mut vec![]).unwrap(), &plain[8..]);
}
