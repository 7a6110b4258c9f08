//! What random requests have found (`tests/differential.rs`): each answer is the one that a real server has given.

use crate::common::{Raw, batch, digest, get, put, write};
use aerolane_embedded::EmbeddedCluster;
use aerolane_wire::WireError;
use aerolane_wire::batch::RowHeader;
use aerolane_wire::message::{Message, MessageHeader, field, info1, op};
use aerolane_wire::particle::Particle;

const OK: u8 = 0;
const PARAMETER: u8 = 4;
const BIN_NAME: u8 = 21;

/// The same request with another TTL.
fn with_ttl(mut request: Vec<u8>, ttl: u32) -> Vec<u8> {
    request[8 + 10..8 + 14].copy_from_slice(&ttl.to_be_bytes());
    request
}

/// A request that reads one bin by an operation with this payload.
fn look_up(digest: [u8; 20], kind: u8, name: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut request = write(digest, |message| message.op(kind, name, Particle::Blob(payload)).unwrap());
    (request[8 + 1], request[8 + 2]) = (info1::READ, 0);
    request
}

fn code(raw: &mut Raw, request: &[u8]) -> u8 {
    raw.send(request);
    raw.answer().unwrap().code
}

#[test]
fn only_reads_of_what_expires_have_their_share_looked_at() {
    let cluster = EmbeddedCluster::builder().nodes(1).start().unwrap();
    let mut raw = Raw::connect(cluster.nodes()[0].address);
    let [forever, expires] = [1, 2].map(|n| digest(7, n));
    assert_eq!(code(&mut raw, &put(forever, 1)), OK);
    assert_eq!(code(&mut raw, &with_ttl(put(expires, 1), 1000)), OK);
    assert_eq!(code(&mut raw, &with_ttl(get(forever), 101)), OK);
    assert_eq!(code(&mut raw, &with_ttl(get(expires), 101)), PARAMETER);
    assert_eq!(code(&mut raw, &with_ttl(get(expires), 100)), OK);
}

#[test]
fn what_is_not_there_is_read_without_a_look_at_the_operation() {
    let cluster = EmbeddedCluster::builder().nodes(1).start().unwrap();
    let mut raw = Raw::connect(cluster.nodes()[0].address);
    let key = digest(7, 1);
    assert_eq!(raw.put(key, 1).unwrap().code, OK);
    assert_eq!(code(&mut raw, &look_up(key, op::CDT_READ, b"none", b"bc")), OK);
    assert_eq!(code(&mut raw, &look_up(key, op::CDT_READ, b"i", b"bc")), PARAMETER);
    assert_eq!(code(&mut raw, &look_up(key, op::CDT_READ, b"no\0ne", b"bc")), BIN_NAME);
}

#[test]
fn rows_that_another_node_answers_keep_the_kind_of_their_operations() {
    let cluster = EmbeddedCluster::builder().nodes(2).replication_factor(1).start().unwrap();
    let pid = (0..4096).find(|pid| cluster.master(*pid) == Some(cluster.nodes()[0].id)).unwrap();
    let key = digest(pid, 1);
    let list = |message: &mut aerolane_wire::message::MessageWriter<'_>| {
        message.op(op::WRITE, b"l", Particle::List(&[0x91, 5])).unwrap();
    };
    let request = batch(1, MessageHeader::default(), |rows, n| {
        rows.row(n, &key, &RowHeader::read(info1::READ, 0, 0), |row| {
            row.field(field::NAMESPACE, b"test");
            // How many elements there are.
            row.op(op::CDT_READ, b"l", Particle::Blob(&[0x91, 16]))?;
            Ok::<_, WireError>(())
        })
    });
    let kinds = [0, 1].map(|node| {
        let mut raw = Raw::connect(cluster.nodes()[node].address);
        assert_eq!(code(&mut raw, &write(key, list)), OK);
        raw.send(&request);
        let (_, body) = raw.frame().unwrap();
        let (row, _) = Message::decode_prefix(&body).unwrap();
        row.ops().next().unwrap().kind
    });
    assert_eq!(kinds, [op::READ, op::CDT_READ]);
}
