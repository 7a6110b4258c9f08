//! Recorded answers to queries, whole and damaged: they may be refused, but never panic, and nothing is read twice.

#[path = "../../../../wire/tests/support/mod.rs"]
mod support;

use std::time::Instant;

use aerolane_wire::message::field;
use aerolane_wire::proto::{PROTO_HEADER_SIZE, split_frame};
use aerospike_core::ResultCode;

use self::support::damage::each_damaged;
use super::frame::Continuation;
use super::*;
use crate::topology::{Topology, TopologyBuilder, parse_replicas};

/// One node, which owns everything.
fn topology() -> Topology {
    let mut builder = TopologyBuilder::new(0, 1, false);
    let node = builder.upsert_node("A1", "somewhere:3000", None, vec![], vec![]).unwrap();
    // 4096 ones in base64, and the bits that pad the last byte.
    let claims = parse_replicas(&format!("test:0,1,{}8=", "/".repeat(682))).unwrap();
    builder.apply_claims(node, &claims);
    builder.snapshot().unwrap()
}

/// The rounds of a query of everything, whose node was asked for all partitions.
fn rounds(topology: &Topology) -> Rounds {
    let mut rounds = Rounds::new("test", false, QueryPolicy::default(), Cursor::all(), Instant::now());
    rounds.next_round(topology).unwrap();
    assert_eq!((rounds.asked.len(), rounds.asked[0].partitions.len()), (1, 4096));
    rounds
}

/// Takes in an answer, as far as it can be understood; says how many records it gave.
fn take(topology: &Topology, mut bytes: &[u8]) -> usize {
    let (mut rounds, mut given) = (rounds(topology), 0);
    while let Ok(Some((frame, size))) = split_frame(bytes, 1 << 20) {
        bytes = &bytes[size..];
        let Ok((mut frame, records, continuation)) = Frame::look_through(frame.body.to_vec()) else { break };
        let mut found = 0;
        while let Some(part) = frame.next() {
            match rounds.take(0, part) {
                Ok(taken) => found += u32::from(taken == MessageKind::Record),
                Err(_) => return given,
            }
        }
        given += found as usize;
        if continuation != Continuation::More {
            break;
        }
        assert_eq!(records, found, "what was seen of an answer is what comes of it");
    }
    rounds.ended(0, Ok(()));
    let _ = rounds.after_round();
    given
}

#[test]
fn damaged_answers_are_refused_or_read() {
    let of_queries = support::exchanges().into_iter().filter(|exchange| {
        let group = exchange.scenario.split('/').next().unwrap_or_default();
        matches!(group, "scan" | "query") && (PROTO_HEADER_SIZE..20_000).contains(&exchange.response.len())
    });
    let corpus: Vec<_> = of_queries.map(|exchange| exchange.response).collect();
    let topology = topology();
    let whole: usize = corpus.iter().map(|bytes| take(&topology, bytes)).sum();
    assert!(corpus.len() > 300 && whole > 400, "{whole} records in {} answers", corpus.len());
    let (mutations, records) = each_damaged(&corpus, |bytes, _| take(&topology, bytes));
    println!("{mutations} mutations of {} answers, {records} records read of them", corpus.len());
    assert!(records > 10, "some of the damage should leave something to read");
}

#[test]
fn the_error_of_a_missing_index_names_it() {
    let missing = || Error::server_bare(ResultCode::IndexNotFound);
    let said = |query: &RawQuery, error| query.explain(error).base_message();
    // One range, of the bin "age"; what is behind the name is not looked at.
    let range = [&[1, 3][..], b"age", &[1, 0, 0]].concat();
    let by_bin = RawQuery::new("test").field(field::SET, b"users").field(field::INDEX_RANGE, &range);
    assert_eq!(
        said(&by_bin, missing()),
        "Index not found: no index of test.users on bin \"age\" can answer the filter"
    );
    let by_name = by_bin.clone().field(field::INDEX_NAME, b"by_age");
    assert_eq!(said(&by_name, missing()), "Index not found: namespace test has no index \"by_age\"");
    let kept = by_name.explain(missing());
    assert_eq!(kept.server_result_code(), Some(ResultCode::IndexNotFound));
    // Not what is no index's, nor where there is nothing to name; a range that is cut off is no reason to panic.
    let other = Error::server_bare(ResultCode::Timeout);
    assert_eq!(said(&by_name, other.clone()), other.base_message());
    assert_eq!(said(&RawQuery::new("test"), missing()), missing().base_message());
    let cut = RawQuery::new("test").field(field::INDEX_RANGE, &[1, 200, b'a']);
    assert_eq!(said(&cut, missing()), "Index not found: no index of test on bin \"a\" can answer the filter");
}
