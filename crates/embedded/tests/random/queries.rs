//! Queries over the primary index and over secondary ones.

use super::requests::{Request, info};
use super::{Random, expressions, values};
use crate::live::nodes::Ends;
use aerolane_wire::digest::partition_id;
use aerolane_wire::message::{MessageHeader, MessageWriter, field, info1, info3, op};
use aerolane_wire::particle::{Particle, particle_type};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};

/// `i + 1`, as an expression.
const SUCCESSOR: &[u8] = &[0x93, 20, 0x93, 81, 2, 0xa1, b'i', 1];
/// The first element of a list.
const FIRST: &[u8] = &[0x92, 0x10, 0];

/// The indexes of a set: name, bin, type, part of the bin.
const INDEXES: [(&str, &str, &str, &str); 9] = [
    ("i", "i", "numeric", "default"),
    ("s", "s", "string", "default"),
    ("b", "b", "blob", "default"),
    ("g", "g", "geo2dsphere", "default"),
    ("ln", "l", "numeric", "list"),
    ("ls", "l", "string", "list"),
    ("mk", "m", "string", "mapkeys"),
    ("mkn", "m", "numeric", "mapkeys"),
    ("mv", "m", "numeric", "mapvalues"),
];

/// The commands that make the indexes of a set, and wait for them.
pub(super) fn indexes(set: &str) -> Vec<Request> {
    let mut all = Vec::new();
    for (name, bin, kind, part) in INDEXES {
        all.push(info(
            &format!(
                "sindex-create:namespace=test;set={set};indexname={set}{name};bin={bin};type={kind};indextype={part}"
            ),
            0,
        ));
    }
    let first = BASE64.encode(FIRST);
    all.push(info(
        &format!("sindex-create:namespace=test;set={set};indexname={set}c;bin=l;type=numeric;context={first}"),
        0,
    ));
    let successor = BASE64.encode(SUCCESSOR);
    all.push(info(&format!("sindex-create:namespace=test;set={set};indexname={set}x;exp={successor};type=numeric"), 0));
    all.push(info("status", 2500));
    all
}

/// The commands that drop them.
pub(super) fn drop_indexes(set: &str) -> Vec<Request> {
    let names = INDEXES.iter().map(|(name, ..)| *name).chain(["c", "x"]);
    names.map(|name| info(&format!("sindex-delete:namespace=test;set={set};indexname={set}{name}"), 0)).collect()
}

fn request(
    random: &mut Random,
    set: &str,
    digests: &[[u8; 20]],
    note: &str,
    fill: impl FnOnce(&mut MessageWriter<'_>),
) -> Request {
    let mut ids: Vec<u16> = digests.iter().map(partition_id).collect();
    ids.dedup();
    if random.once_in(4) {
        ids.truncate(1);
    }
    let ids: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
    let no_bins = if random.once_in(4) { info1::NO_BIN_DATA } else { 0 };
    let header =
        MessageHeader { info1: info1::READ | no_bins, info3: info3::PARTITION_DONE, ..MessageHeader::default() };
    let mut bytes = Vec::new();
    let mut message = MessageWriter::frame(&mut bytes, &header);
    message.field(field::NAMESPACE, b"test");
    message.field(field::SET, set.as_bytes());
    message.field(field::PARTITIONS, &ids);
    if random.once_in(3) {
        message.field(field::FILTER, &expressions::filter(random));
    }
    fill(&mut message);
    if no_bins == 0 && random.once_in(4) {
        for name in ["i", "l", "none"] {
            message.op(op::READ, name.as_bytes(), Particle::Nil).unwrap();
        }
    }
    message.finish().unwrap();
    Request::new(bytes, Ends::Last, note)
}

/// A query over the primary index.
pub(super) fn scan(random: &mut Random, set: &str, digests: &[[u8; 20]]) -> Request {
    request(random, set, digests, "scan", |_| {})
}

/// A query over a secondary index.
pub(super) fn index(random: &mut Random, set: &str, digests: &[[u8; 20]]) -> Request {
    let which = random.below(INDEXES.len() + 2);
    let (name, bin, kind, part) = *INDEXES.get(which).unwrap_or(&match which.saturating_sub(INDEXES.len()) {
        0 => ("c", "l", "numeric", "default"),
        _ => ("x", "", "numeric", "default"),
    });
    let (particle, begin, end) = match kind {
        "numeric" => {
            let begin = random.between(-4, 9);
            let end = begin + random.between(-1, 6);
            (particle_type::INTEGER, begin.to_be_bytes().to_vec(), end.to_be_bytes().to_vec())
        }
        "string" => {
            let text = values::text(random).to_vec();
            (particle_type::STRING, text.clone(), text)
        }
        "blob" => {
            let blob = values::blob(random);
            (particle_type::BLOB, blob.clone(), blob)
        }
        _ => {
            let all = if random.once_in(2) { values::POINTS } else { values::REGIONS };
            let text = random.pick(&all).as_bytes().to_vec();
            (particle_type::GEOJSON, text.clone(), text)
        }
    };
    // By the index's name, or by what it is on.
    let by_name = name == "x" || random.once_in(4);
    let bin = if by_name { "" } else { bin };
    let mut range = vec![1, bin.len() as u8];
    range.extend_from_slice(bin.as_bytes());
    range.push(particle);
    for bound in [begin, end] {
        range.extend_from_slice(&(bound.len() as u32).to_be_bytes());
        range.extend_from_slice(&bound);
    }
    let note = format!("query {name} {range:02x?}");
    request(random, set, digests, &note, |message| {
        message.field(field::INDEX_RANGE, &range);
        if by_name {
            message.field(field::INDEX_NAME, format!("{set}{name}").as_bytes());
            return;
        }
        match part {
            "list" => message.field(field::INDEX_TYPE, &[1]),
            "mapkeys" => message.field(field::INDEX_TYPE, &[2]),
            "mapvalues" => message.field(field::INDEX_TYPE, &[3]),
            _ => {}
        }
        if name == "c" {
            message.field(field::INDEX_CONTEXT, FIRST);
        }
    })
}
