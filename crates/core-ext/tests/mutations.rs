//! Answers of a server, damaged: they may be refused, but never panic or hang, and are never taken for another's.
//!
//! The corpus are the golden exchanges; the damage is pseudo-random with fixed seeds, so that a failure comes again.
//! The fuzz targets in `fuzz/` make the same checks with coverage, on nightly Rust.

#[path = "../fuzz/checks.rs"]
mod checks;
#[path = "../../wire/tests/support/mod.rs"]
mod support;

use aerolane_wire::info::Answers;
use aerolane_wire::proto::{FrameType, PROTO_HEADER_SIZE, split_frame};
use support::damage::{Random, each_damaged};

const MAX_BODY: usize = 8 << 20;

/// The recorded answers that `fits` takes, none so large that the time goes into copying.
fn corpus(fits: impl Fn(&support::Exchange) -> bool) -> Vec<Vec<u8>> {
    let fitting = support::exchanges()
        .into_iter()
        .filter(|exchange| (PROTO_HEADER_SIZE..20_000).contains(&exchange.response.len()) && fits(exchange));
    fitting.map(|exchange| exchange.response).collect()
}

/// Runs a check on damaged copies of the corpus, for some time. The undamaged ones come first: many must be read.
fn run(corpus: &[Vec<u8>], mut check: impl FnMut(&[u8], &mut Random) -> usize) {
    assert!(corpus.len() >= 20, "{} recorded answers", corpus.len());
    let read = corpus.iter().filter(|bytes| check(bytes, &mut Random(1)) > 0).count();
    assert!(read * 4 > corpus.len(), "only {read} of {} answers were read", corpus.len());
    let (mutations, items) = each_damaged(corpus, check);
    println!("{mutations} mutations of {} answers, {items} items read", corpus.len());
    assert!(items > 0, "some of the damage should leave something to read");
}

/// Bodies of the whole frames at the front; compressed ones with their headers, as a lane hands them out.
fn answers(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    while let Ok(Some((frame, size))) = split_frame(bytes, MAX_BODY) {
        found.push(match frame.header.frame_type {
            FrameType::CompressedMessage => &bytes[..size],
            _ => frame.body,
        });
        bytes = &bytes[size..];
    }
    found
}

#[test]
fn answers_about_one_record() {
    let corpus = corpus(|exchange| exchange.end == "frame" && exchange.response[1] == 3);
    run(&corpus, |bytes, _| answers(bytes).into_iter().map(checks::answer).sum());
}

#[test]
fn answers_to_batches() {
    let corpus = corpus(|exchange| exchange.end == "last" && exchange.scenario.starts_with("batch"));
    run(&corpus, |bytes, random| checks::batch(if random.below(4) == 0 { 3 } else { 200 }, bytes));
}

#[test]
fn partition_maps() {
    let recorded = corpus(|exchange| exchange.scenario.starts_with("info"));
    let mut found = Vec::new();
    for bytes in &recorded {
        for answer in Answers::new(&bytes[PROTO_HEADER_SIZE..]) {
            if let (b"replicas", Some(text)) = (answer.command, answer.text) {
                found.push(text.to_vec());
            }
        }
    }
    assert!(!found.is_empty());
    // There are few, and they are all alike: what differs is the damage. It leaves the first bytes alone, where frames have
    // their header.
    let text = |text: &[u8]| [&[0; PROTO_HEADER_SIZE][..], text].concat();
    let mut corpus: Vec<_> = found.iter().cycle().take(20).map(|found| text(found)).collect();
    corpus.push(text(&[&found[0][..], b";", &found[0]].concat()));
    run(&corpus, |bytes, _| checks::replicas(bytes.get(PROTO_HEADER_SIZE..).unwrap_or_default()));
}
