//! Decoders on damaged input: they may refuse it, but never panic, hang or allocate beyond it.
//!
//! The corpus are the golden exchanges; the damage is pseudo-random with fixed seeds, so that a failure comes again.
//! The fuzz targets in `fuzz/` make the same checks with coverage, on nightly Rust.

#[path = "../fuzz/checks.rs"]
mod checks;
mod support;

use aerolane_wire::compress;
use aerolane_wire::message::{Messages, field};
use aerolane_wire::msgpack::{Element, ListHeader, Reader, validate};
use aerolane_wire::operation::context;
use aerolane_wire::particle::Particle;
use aerolane_wire::proto::{FrameType, PROTO_HEADER_SIZE, split_frame};
use support::damage::each_damaged;

/// Enough for every frame of the corpus, and a bound for what damaged ones may announce.
const MAX_BODY: usize = 8 << 20;

/// Runs every check of a decoder that could meet these bytes. Gives the number of items read, so that nothing is optimised
/// away.
fn decode(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    let mut items = checks::frame(bytes, 1 + bytes.len() / 3);
    while let Ok(Some((frame, size))) = split_frame(rest, MAX_BODY) {
        assert_eq!(frame.body.len() + PROTO_HEADER_SIZE, size);
        items += match frame.header.frame_type {
            FrameType::Info => checks::info(frame.body),
            FrameType::Admin => checks::admin(frame.body),
            FrameType::Message => messages(frame.body),
            FrameType::CompressedMessage => {
                let mut plain = vec![];
                let plain =
                    compress::decompress(&mut plain, frame.body, MAX_BODY).map_or(0, |()| messages(&plain[8..]));
                plain + checks::compressed(frame.body)
            }
        };
        rest = &rest[size..];
    }
    items
}

/// Messages, and what their fields and operations hold.
fn messages(body: &[u8]) -> usize {
    let mut items = checks::message(body);
    for message in Messages::new(body) {
        let Ok(message) = message else { break };
        assert_eq!(message.fields().count(), usize::from(message.header.n_fields));
        assert_eq!(message.ops().count(), usize::from(message.header.n_ops));
        for item in message.fields() {
            items += match item.kind {
                field::BATCH => checks::batch(item.value),
                field::FILTER | field::UDF_ARGUMENTS => msgpack(item.value),
                field::INDEX_CONTEXT => msgpack(item.value) + checks::context(item.value),
                _ => 0,
            };
        }
        for op in message.ops() {
            items += checks::particle(&[&[op.particle_type], op.value].concat());
            match Particle::decode(op.particle_type, op.value) {
                Ok(Particle::List(value) | Particle::Map(value) | Particle::Blob(value)) => {
                    items += msgpack(value) + context_of(value).map_or(0, checks::context);
                }
                Ok(_) => {}
                Err(error) => assert!(error.offset <= op.value.len()),
            }
        }
    }
    items
}

/// The context in the value of an operation that has one: `[0xff, context, operation]`.
fn context_of(value: &[u8]) -> Option<&[u8]> {
    let mut reader = Reader::new(value);
    let Element::List(ListHeader { len: 3, .. }) = reader.read().ok()? else { return None };
    let nested = Element::Int(i64::from(context::NESTED));
    if reader.read().ok()? == nested { reader.skip().ok() } else { None }
}

/// Msgpack, and where its errors are.
fn msgpack(bytes: &[u8]) -> usize {
    if let Err(error) = validate(bytes) {
        assert!(error.offset <= bytes.len());
    }
    checks::msgpack(bytes)
}

#[test]
fn damaged_exchanges_are_refused_or_read() {
    // One of a few, evenly over all groups, and none so large that the time goes into copying.
    let corpus: Vec<_> = support::exchanges()
        .into_iter()
        .step_by(7)
        .flat_map(|exchange| [exchange.request, exchange.response])
        .filter(|bytes| (PROTO_HEADER_SIZE..20_000).contains(&bytes.len()))
        .collect();
    assert!(corpus.len() > 3000);
    let (mutations, items) = each_damaged(&corpus, |bytes, _| decode(bytes));
    println!("{mutations} mutations of {} messages, {items} items read", corpus.len());
    assert!(items as u64 > mutations, "most of the damage should leave something to read");
}

#[test]
fn every_prefix_and_every_byte_of_small_inputs() {
    let corpus = support::exchanges();
    let small = corpus.iter().filter(|exchange| exchange.request.len() < 120).step_by(97);
    for exchange in small {
        for end in 0..exchange.request.len() {
            decode(&exchange.request[..end]);
            for byte in [0, 0x7f, 0x80, 0xff] {
                let mut bytes = exchange.request.clone();
                bytes[end] = byte;
                decode(&bytes);
            }
        }
    }
}
