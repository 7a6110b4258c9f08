//! Which of several reasons to refuse a request is the one that is answered: as a real server does it, which random requests
//! have shown (`differential.rs`).

use crate::common::{Raw, digest, open, put};
use aerolane_embedded::{EmbeddedCluster, NamespaceOptions};
use aerolane_wire::message::{MessageHeader, MessageWriter, field, info1, info2, op};
use aerolane_wire::particle::particle_type;
use std::time::Duration;

const OK: u8 = 0;
const NOT_FOUND: u8 = 2;
const GENERATION: u8 = 3;
const PARAMETER: u8 = 4;
const BIN_TYPE: u8 = 12;
const BIN_NAME: u8 = 21;

fn start() -> (EmbeddedCluster, Raw) {
    let cluster = EmbeddedCluster::builder().namespace("test").start().unwrap();
    let client = open(&cluster.nodes()).remove(0);
    (cluster, client)
}

/// The result of a request about a record of this set, with one operation.
fn ask(
    client: &mut Raw,
    header: MessageHeader,
    set: &[u8],
    (kind, particle, name, value): (u8, u8, &[u8], &[u8]),
) -> u8 {
    let mut out = Vec::new();
    let mut message = MessageWriter::frame(&mut out, &header);
    message.field(field::NAMESPACE, b"test");
    message.field(field::SET, set);
    message.field(field::DIGEST, &digest(1, 1));
    let size = (4 + name.len() + value.len()) as u32;
    let head = [&size.to_be_bytes()[..], &[kind, particle, 0, name.len() as u8]].concat();
    message.encoded_ops(&[&head, name, value].concat(), 1);
    message.finish().unwrap();
    client.send(&out);
    client.answer().unwrap().code
}

#[test]
fn a_name_with_a_nul_byte_is_refused_before_anything_else() {
    let (_cluster, mut client) = start();
    let header = MessageHeader { info2: info2::WRITE, ..MessageHeader::default() };
    // There is no record, the operation makes no sense, and it reads without the flag for it.
    for kind in [op::CDT_READ, op::CDT_MODIFY, op::BITS_MODIFY, op::INCR, op::READ] {
        let code = ask(&mut client, header, b"s", (kind, particle_type::BLOB, b"a\0b", &[0xc1]));
        assert_eq!(code, BIN_NAME, "operation {kind}");
    }
    // The name of a touch does not count.
    client.put(digest(1, 1), 1).unwrap();
    assert_eq!(ask(&mut client, header, b"s", (op::TOUCH, 0, b"a\0b", &[])), OK);
}

#[test]
fn a_generation_is_looked_at_before_the_set() {
    let (_cluster, mut client) = start();
    client.send(&put(digest(1, 1), 1));
    assert_eq!(client.answer().unwrap().code, OK);
    let header = MessageHeader { info2: info2::WRITE | info2::GENERATION, ..MessageHeader::default() };
    let write = (op::WRITE, particle_type::INTEGER, &b"i"[..], &2_u64.to_be_bytes()[..]);
    for (generation, set, code) in [(2, b"other", GENERATION), (1, b"other", PARAMETER)] {
        assert_eq!(ask(&mut client, MessageHeader { generation, ..header }, set, write), code, "{generation}");
    }
    assert_eq!(ask(&mut client, MessageHeader { generation: 1, ..header }, b"s", write), OK);
}

#[test]
fn reads_and_deletes_look_at_the_set_before_the_expiry() {
    let options = NamespaceOptions::new("test").nsup_period(0);
    let cluster = EmbeddedCluster::builder().namespace_with(options).start().unwrap();
    let mut client = open(&cluster.nodes()).remove(0);
    let value = (op::WRITE, particle_type::INTEGER, &b"i"[..], &1_u64.to_be_bytes()[..]);
    let write = MessageHeader { info2: info2::WRITE, record_ttl: 10, ..MessageHeader::default() };
    assert_eq!(ask(&mut client, write, b"s", value), OK);
    cluster.advance_clock(Duration::from_secs(12)).unwrap();
    let get = (op::READ, 0, &b"i"[..], &[][..]);
    let read = MessageHeader { info1: info1::READ, ..MessageHeader::default() };
    assert_eq!(ask(&mut client, read, b"other", get), PARAMETER);
    assert_eq!(ask(&mut client, read, b"s", get), NOT_FOUND);
    // It can still be deleted, as any other record.
    let delete = MessageHeader { info2: info2::WRITE | info2::DELETE, ..MessageHeader::default() };
    let of_generation = MessageHeader { info2: delete.info2 | info2::GENERATION, generation: 2, ..delete };
    assert_eq!(ask(&mut client, delete, b"other", value), PARAMETER);
    assert_eq!(ask(&mut client, of_generation, b"s", value), GENERATION);
    assert_eq!(ask(&mut client, delete, b"s", value), OK);
    assert_eq!(ask(&mut client, delete, b"s", value), NOT_FOUND);
}

#[test]
fn an_unknown_type_is_refused_before_one_that_does_not_fit() {
    let (_cluster, mut client) = start();
    client.put(digest(1, 1), 1).unwrap();
    let header = MessageHeader { info1: info1::READ, info2: info2::WRITE, ..MessageHeader::default() };
    for kind in [op::APPEND, op::PREPEND] {
        assert_eq!(ask(&mut client, header, b"s", (kind, particle_type::STRING, b"i", b"x")), BIN_TYPE);
        for unknown in [0, 5, 6, 22, 255] {
            assert_eq!(ask(&mut client, header, b"s", (kind, unknown, b"i", b"x")), PARAMETER, "type {unknown}");
        }
    }
    let one = 1_f64.to_be_bytes();
    assert_eq!(ask(&mut client, header, b"s", (op::INCR, particle_type::FLOAT, b"i", &one)), BIN_TYPE);
    assert_eq!(ask(&mut client, header, b"s", (op::INCR, 6, b"i", &one)), PARAMETER);
}
