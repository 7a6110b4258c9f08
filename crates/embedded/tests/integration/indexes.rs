//! Secondary indexes: they follow every change, whatever it is, and queries go on where they stopped.

use crate::common::{Raw, digest};
use aerolane_embedded::EmbeddedCluster;
use aerolane_wire::message::{Message, MessageHeader, MessageWriter, field, info1, info2, info3, op};
use aerolane_wire::particle::Particle;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// xorshift64*: the same choices every time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % n
    }
}

fn write(digest: [u8; 20], bin: Particle<'_>, delete: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let info2 = if delete { info2::WRITE | info2::DELETE } else { info2::WRITE };
    let mut message = MessageWriter::frame(&mut out, &MessageHeader { info2, ..MessageHeader::default() });
    message.field(field::NAMESPACE, b"test");
    message.field(field::SET, b"s");
    message.field(field::DIGEST, &digest);
    if !delete {
        message.op(op::WRITE, b"n", bin).unwrap();
    }
    message.finish().unwrap();
    out
}

fn range(bin: &[u8], begin: i64, end: i64) -> Vec<u8> {
    let mut range = vec![1, bin.len() as u8];
    range.extend_from_slice(bin);
    range.push(1);
    for bound in [begin, end] {
        range.extend_from_slice(&8_u32.to_be_bytes());
        range.extend_from_slice(&bound.to_be_bytes());
    }
    range
}

/// One record of a query's answer: place in the index, digest.
type Row = (i64, [u8; 20]);

/// A query of bin `n`; partitions, or rows to go on after.
fn query(
    raw: &mut Raw,
    bounds: (i64, i64),
    partitions: &[u16],
    after: &[Row],
    max: Option<u64>,
) -> Result<Vec<Row>, u8> {
    let mut out = Vec::new();
    let header = MessageHeader { info1: info1::READ, info3: info3::PARTITION_DONE, ..MessageHeader::default() };
    let mut message = MessageWriter::frame(&mut out, &header);
    message.field(field::NAMESPACE, b"test");
    message.field(field::SET, b"s");
    if !partitions.is_empty() {
        let ids: Vec<u8> = partitions.iter().flat_map(|id| id.to_le_bytes()).collect();
        message.field(field::PARTITIONS, &ids);
    }
    if !after.is_empty() {
        let digests: Vec<u8> = after.iter().flat_map(|(_, digest)| *digest).collect();
        let places: Vec<u8> = after.iter().flat_map(|(place, _)| place.to_le_bytes()).collect();
        message.field(field::DIGESTS, &digests);
        message.field(field::BVALS, &places);
    }
    if let Some(max) = max {
        message.field(field::MAX_RECORDS, &max.to_be_bytes());
    }
    message.field(field::INDEX_RANGE, &range(b"n", bounds.0, bounds.1));
    message.finish().unwrap();
    raw.send(&out);
    let mut rows = Vec::new();
    loop {
        let (kind, body) = raw.frame().unwrap();
        assert_eq!(kind, 3);
        let mut at = 0;
        while at < body.len() {
            let (message, size) = Message::decode_prefix(&body[at..]).unwrap();
            at += size;
            if message.header.result_code != 0 {
                return Err(message.header.result_code);
            }
            if message.header.info3 & info3::LAST != 0 {
                return Ok(rows);
            }
            let place = i64::from_le_bytes(message.field(field::BVALS).unwrap().try_into().unwrap());
            rows.push((place, message.field(field::DIGEST).unwrap().try_into().unwrap()));
        }
    }
}

fn start() -> (EmbeddedCluster, SocketAddr) {
    let cluster = EmbeddedCluster::builder().nodes(1).namespace("test").service_threads(2).start().unwrap();
    let address = cluster.nodes()[0].address;
    (cluster, address)
}

const CREATE: &str = "sindex-create:namespace=test;set=s;indexname=i;bin=n;type=numeric";

fn entries(raw: &mut Raw) -> u64 {
    let stat = raw.info("sindex-stat:namespace=test;indexname=i");
    stat.split(';').find_map(|part| part.strip_prefix("entries=")).unwrap().parse().unwrap()
}

#[test]
fn an_index_follows_random_changes() {
    let (_cluster, address) = start();
    let mut raw = Raw::connect(address);
    let partitions: Vec<u16> = (0..20).collect();
    let mut random = Random(42);
    let mut model: BTreeMap<[u8; 20], i64> = BTreeMap::new();
    for round in 0..4000_u32 {
        if round == 1000 {
            assert_eq!(raw.info(CREATE), "ok");
        }
        let key = digest(random.below(20) as u16, random.below(12) as u8);
        let value = random.below(50) as i64 - 25;
        let (request, new) = match random.below(10) {
            0 | 1 => (write(key, Particle::Nil, true), None),
            2 => (write(key, Particle::String(b"no number"), false), None),
            _ => (write(key, Particle::Integer(value), false), Some(value)),
        };
        raw.send(&request);
        assert!(matches!(raw.answer().unwrap().code, 0 | 2));
        match new {
            Some(value) => model.insert(key, value),
            None => model.remove(&key),
        };
        if round > 1000 && round % 100 == 0 {
            let (a, b) = (random.below(50) as i64 - 25, random.below(50) as i64 - 25);
            let bounds = (a.min(b), a.max(b));
            let mut expected: Vec<Row> = model.iter().map(|(key, n)| (*n, *key)).collect();
            expected.retain(|(n, _)| (bounds.0..=bounds.1).contains(n));
            // Partition by partition; in each by value, then digest.
            expected.sort_by_key(|(n, key)| (u16::from_le_bytes([key[0], key[1]]), *n, *key));
            assert_eq!(query(&mut raw, bounds, &partitions, &[], None).unwrap(), expected, "{bounds:?}");
            assert_eq!(entries(&mut raw), model.len() as u64);
        }
    }
    assert_eq!(raw.info("truncate:namespace=test;set=s"), "ok");
    assert_eq!(entries(&mut raw), 0);
}

#[test]
fn a_query_goes_on_after_any_record() {
    let (_cluster, address) = start();
    let mut raw = Raw::connect(address);
    assert_eq!(raw.info(CREATE), "ok");
    for n in 0..60_u8 {
        raw.send(&write(digest(5, n), Particle::Integer(i64::from(n % 7) - 3), false));
        assert_eq!(raw.answer().unwrap().code, 0);
    }
    let all = query(&mut raw, (-10, 10), &[5], &[], None).unwrap();
    assert_eq!(all.len(), 60);
    assert!(all.is_sorted());
    for at in 0..all.len() {
        let rest = query(&mut raw, (-10, 10), &[], &[all[at]], None).unwrap();
        assert_eq!(rest, all[at + 1..], "after {at}");
    }
    let pages = query(&mut raw, (-10, 10), &[5], &[], Some(25)).unwrap();
    assert_eq!(pages, all[..25]);
    let page = query(&mut raw, (-10, 10), &[], &[all[24]], Some(25)).unwrap();
    assert_eq!(page, all[25..50]);
    // The record that was answered last has gone.
    raw.send(&write(all[24].1, Particle::Nil, true));
    assert_eq!(raw.answer().unwrap().code, 0);
    assert_eq!(query(&mut raw, (-10, 10), &[], &[all[24]], None).unwrap(), all[25..]);
    // Expired records are not answered, reaped or not; then they are gone from the index.
    assert_eq!(raw.info("sindex-delete:namespace=test;indexname=i"), "ok");
    assert_eq!(query(&mut raw, (-10, 10), &[5], &[], None), Err(201));
}

#[test]
fn a_large_index_is_built_beside_writes_and_can_be_dropped_meanwhile() {
    let (_cluster, address) = start();
    let mut raw = Raw::connect(address);
    let key = |n: u32| {
        let mut key = digest((n % 4096) as u16, 1);
        key[4..8].copy_from_slice(&n.to_be_bytes());
        key
    };
    for chunk in 0..60_u32 {
        let mut requests = Vec::new();
        for n in 0..500 {
            requests.extend(write(key(chunk * 500 + n), Particle::Integer(i64::from(chunk * 500 + n)), false));
        }
        raw.send(&requests);
        for _ in 0..500 {
            assert_eq!(raw.answer().unwrap().code, 0);
        }
    }
    for _ in 0..3 {
        assert_eq!(raw.info(CREATE), "ok");
        assert_eq!(raw.info("sindex-delete:namespace=test;indexname=i"), "ok");
    }
    assert_eq!(raw.info(CREATE), "ok");
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut n = 0;
    while !raw.info("sindex-stat:namespace=test;indexname=i").contains("load_pct=100") {
        assert!(Instant::now() < deadline, "the index is not built");
        raw.send(&write(key(n), Particle::Integer(-1), false));
        assert_eq!(raw.answer().unwrap().code, 0);
        n += 1;
    }
    assert_eq!(entries(&mut raw), 30_000);
    let all: Vec<u16> = (0..4096).collect();
    assert_eq!(query(&mut raw, (-1, -1), &all, &[], None).unwrap().len(), n as usize);
    assert_eq!(query(&mut raw, (20_000, 29_999), &all, &[], None).unwrap().len(), 10_000);
}

#[test]
fn records_that_expire_leave_the_index() {
    let (cluster, address) = start();
    let mut raw = Raw::connect(address);
    assert_eq!(raw.info(CREATE), "ok");
    let mut request = write(digest(3, 1), Particle::Integer(1), false);
    // TTL of ten seconds: the record-ttl word of the header.
    request[8 + 10..8 + 14].copy_from_slice(&10_u32.to_be_bytes());
    raw.send(&request);
    assert_eq!(raw.answer().unwrap().code, 0);
    assert_eq!(query(&mut raw, (1, 1), &[3], &[], None).unwrap().len(), 1);
    cluster.advance_clock(Duration::from_secs(12)).unwrap();
    assert_eq!(query(&mut raw, (1, 1), &[3], &[], None).unwrap(), [], "before any sweep");
    cluster.sweep();
    assert_eq!(entries(&mut raw), 0);
}
