//! Recorded answers to queries, whole and damaged: they may be refused, but never panic, and nothing is read twice.

#[path = "../../../../wire/tests/support/mod.rs"]
mod support;

use std::time::Instant;

use aerolane_wire::proto::{PROTO_HEADER_SIZE, split_frame};

use self::support::damage::each_damaged;
use super::frame::Goes;
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

/// The course of a query of everything, whose node was asked for all partitions.
fn course(topology: &Topology) -> Course {
    let mut course = Course::new("test", false, QueryPolicy::default(), Cursor::all(), Instant::now());
    course.next_round(topology).unwrap();
    assert_eq!((course.asked.len(), course.asked[0].partitions.len()), (1, 4096));
    course
}

/// Takes in an answer, as far as it can be understood; says how many records it gave.
fn take(topology: &Topology, mut bytes: &[u8]) -> usize {
    let (mut course, mut given) = (course(topology), 0);
    while let Ok(Some((frame, size))) = split_frame(bytes, 1 << 20) {
        bytes = &bytes[size..];
        let Ok((mut frame, records, goes)) = Frame::look_through(frame.body.to_vec()) else { break };
        let mut found = 0;
        while let Some(part) = frame.next() {
            match course.take(0, part) {
                Ok(taken) => found += u32::from(taken == Taken::Record),
                Err(_) => return given,
            }
        }
        given += found as usize;
        if goes != Goes::On {
            break;
        }
        assert_eq!(records, found, "what was seen of an answer is what comes of it");
    }
    course.ended(0, Ok(()));
    let _ = course.after_round();
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
