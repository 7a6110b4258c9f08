//! What holds for every answer of a server: it may be refused, but nothing panics, hangs or allocates beyond it, and what
//! is taken in can be sent again.
//!
//! The fuzz targets beside this file run these checks with coverage, `tests/mutations.rs` on damaged golden exchanges.
//! Each gives how many items it has read.

use std::sync::Arc;

use aerolane::batch::{Answers, Progress};
use aerolane::raw::command::compress::with_plain_body;
use aerolane::raw::command::decode::{self, Want};
use aerolane::raw::command::value;
use aerolane::raw::topology::{PARTITIONS, Route, TopologyBuilder, parse_replicas};
use aerolane::{ReadModeSc, Record, Replica, Value};
use aerolane_wire::proto::{MAX_BODY_SIZE, split_frame};

fn node() -> Arc<str> {
    "A1: somewhere:3000".into()
}

/// All that a single-record call can want of an answer.
const WANTS: [Want; 4] = [
    Want::OPERATE,
    Want { bins: true, results: false, nil_bins: false },
    Want { bins: true, results: true, nil_bins: false },
    Want { bins: false, results: false, nil_bins: false },
];

/// An answer to one record, as a lane hands it out. The commands agree on whether it is a success.
pub(crate) fn answer(answer: &[u8]) -> usize {
    let node = node();
    let mut items = 0;
    let write = with_plain_body(answer, |body| decode::write(body, &node));
    let exists = with_plain_body(answer, |body| decode::exists(body, &node));
    match (&write, &exists) {
        (Ok(()), Ok(exists)) => assert!(exists),
        (Err(error), Ok(exists)) => assert!(error.is_not_found() && !exists),
        (Err(_), Err(_)) => {}
        (Ok(()), Err(error)) => panic!("a success for a write alone: {error}"),
    }
    for want in WANTS {
        match with_plain_body(answer, |body| decode::record(body, want, &node)) {
            Ok(record) => {
                assert!(write.is_ok());
                items += 1 + record_again(&record);
            }
            // Of a success, its values may be malformed.
            Err(error) => assert!(write.is_err() || want.bins, "{error}"),
        }
    }
    items
}

/// The answer to a batch of so many rows: frames, one after the other.
pub(crate) fn batch(rows: usize, mut bytes: &[u8]) -> usize {
    let node = node();
    let mut answers = Answers::new(rows);
    let (mut seen, mut items) = (vec![false; rows], 0);
    while let Ok(Some((frame, size))) = split_frame(bytes, MAX_BODY_SIZE) {
        bytes = &bytes[size..];
        let progress = answers.frame(frame.body, &node, |place, row| {
            assert!(!std::mem::replace(&mut seen[place as usize], true), "row {place} was answered twice");
            let mut record = None;
            if row.decode(Want::OPERATE, &mut record)?.is_none() {
                items += record_again(record.as_ref().expect("a success has a record"));
            }
            items += 1;
            Ok(())
        });
        assert!(answers.left() as usize <= seen.iter().filter(|seen| !**seen).count());
        if !matches!(progress, Ok(Progress::More)) {
            break;
        }
    }
    items
}

/// What values come to when they are sent and read again.
fn record_again(record: &Record) -> usize {
    let results = record.results.iter().flatten();
    record.bins.values().chain(results).map(value_again).sum()
}

fn value_again(value: &Value) -> usize {
    if let Value::MultiResult(values) = value {
        return values.iter().map(value_again).sum();
    }
    let (mut once, mut twice) = (Vec::new(), Vec::new());
    // Not all that a server answers can be sent.
    let Ok(kind) = value::particle_type_of(value) else { return 1 };
    if value::encode(value, &mut once).is_err() {
        return 1;
    }
    let again = value::decode(kind, &once).expect("what was written can be read");
    value::encode(&again, &mut twice).expect("what was read can be written again");
    assert_eq!(once, twice);
    1
}

/// The answer to `replicas`: a map that was made of it knows an owner for what it claims, and no other.
pub(crate) fn replicas(text: &[u8]) -> usize {
    let Ok(claims) = std::str::from_utf8(text).map_err(drop).and_then(|text| parse_replicas(text).map_err(drop)) else {
        return 0;
    };
    let mut builder = TopologyBuilder::new(100, 1, false);
    let id = builder.upsert_node("A1", "somewhere:3000", None, vec![], vec![]).expect("the first node");
    builder.apply_claims(id, &claims);
    let topology = builder.snapshot().expect("a node is new");
    for claim in &claims {
        let owned = |replica| (0..PARTITIONS).filter(move |partition| claim.owns(replica, *partition));
        let masters = owned(0).count();
        let Ok(map) = topology.namespace(&claim.name) else {
            assert!((0..claim.replication_factor()).all(|replica| owned(replica).count() == 0));
            continue;
        };
        assert_eq!(map.unowned_partitions(), PARTITIONS - masters);
        for partition in (0..PARTITIONS).step_by(97) {
            let mut route = Route::read(map, Replica::Master, ReadModeSc::Session);
            assert_eq!(map.route(partition as u16, &mut route, 0).is_ok(), claim.owns(0, partition));
        }
    }
    claims.len()
}
