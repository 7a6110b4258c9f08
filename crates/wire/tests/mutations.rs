//! Decoders on damaged input: they may refuse it, but never panic, hang or allocate beyond it.
//!
//! The corpus are the golden exchanges; the damage is pseudo-random with fixed seeds, so that a failure comes again.
//! The fuzz targets in `fuzz/` do the same with coverage, on nightly Rust.

mod support;

use std::time::{Duration, Instant};

use aerolane_wire::admin::AdminMessage;
use aerolane_wire::batch::BatchRows;
use aerolane_wire::compress;
use aerolane_wire::info::{Answers, Command, Lines, pairs};
use aerolane_wire::message::{Message, Messages, field, pass_message};
use aerolane_wire::msgpack::{self, Element, Reader};
use aerolane_wire::particle::Particle;
use aerolane_wire::proto::{FrameDecoder, FrameType, PROTO_HEADER_SIZE, split_frame};

/// Enough for every frame of the corpus, and a bound for what damaged ones may announce.
const MAX_BODY: usize = 8 << 20;
/// How long it may go on at most; slow machines see fewer mutations.
const TIME: Duration = Duration::from_secs(2);
/// Fewer than this, and the test would mean little.
const LEAST: u64 = 2000;

/// `xorshift64*`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// Damages `bytes` behind the proto header (which has a type and size that let the rest be reached), or anywhere.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    let from = if random.below(8) == 0 { 0 } else { PROTO_HEADER_SIZE.min(bytes.len()) };
    for _ in 0..=random.below(4) {
        let at = from + random.below(bytes.len() - from);
        match random.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff, 0xc7, 0xdd, 0xdf][random.below(8)],
            2 => bytes.truncate(at),
            3 => bytes.insert(at, random.next() as u8),
            4 if at < bytes.len() => drop(bytes.remove(at)),
            5 => {
                let end = (at + random.below(32)).min(bytes.len());
                let copy = bytes[at.min(end)..end].to_vec();
                let to = from + random.below(bytes.len() - from);
                bytes.splice(to..to, copy);
            }
            _ => {}
        }
        if bytes.len() <= from {
            return;
        }
    }
    // Let the frame size follow what is there, most of the time.
    if bytes.len() >= PROTO_HEADER_SIZE && random.below(4) != 0 {
        let size = (bytes.len() - PROTO_HEADER_SIZE) as u64;
        bytes[2..PROTO_HEADER_SIZE].copy_from_slice(&size.to_be_bytes()[2..]);
    }
}

/// Runs every decoder that could meet these bytes. Gives the number of items read, so that nothing is optimised away.
fn decode(bytes: &[u8]) -> u64 {
    let mut rest = bytes;
    let mut items = 0;
    while let Ok(Some((frame, size))) = split_frame(rest, MAX_BODY) {
        assert_eq!(frame.body.len() + PROTO_HEADER_SIZE, size);
        items += 1 + match frame.header.frame_type {
            FrameType::Info => info(frame.body),
            FrameType::Admin => admin(frame.body),
            FrameType::Message => messages(frame.body),
            FrameType::CompressedMessage => {
                let mut plain = vec![];
                compress::decompress(&mut plain, frame.body, MAX_BODY).map_or(0, |()| messages(&plain[8..]))
            }
        };
        rest = &rest[size..];
    }
    let mut decoder = FrameDecoder::new(MAX_BODY);
    for piece in bytes.chunks(1 + bytes.len() / 3) {
        decoder.extend(piece);
        while let Ok(Some(frame)) = decoder.next_frame() {
            items += frame.body.len() as u64;
        }
    }
    items
}

fn info(body: &[u8]) -> u64 {
    let of_line = |line| {
        let command = Command::parse(line);
        command.parameter(b"namespace").map_or(0, <[u8]>::len) + pairs(command.parameters, b';').count()
    };
    let lines: usize = Lines::new(body).map(of_line).sum();
    let errors = Answers::new(body).filter(|answer| answer.error().is_some()).count();
    (lines + errors) as u64
}

fn admin(body: &[u8]) -> u64 {
    AdminMessage::decode(body).map_or(0, |message| {
        assert_eq!(message.fields().count(), usize::from(message.n_fields));
        u64::from(message.session().is_some())
    })
}

/// Passing over a message comes to the same as reading it.
fn passing(body: &[u8]) {
    let mut at = 0;
    while at < body.len() {
        let passed = pass_message(&body[at..]);
        let Ok((message, size)) = Message::decode_prefix(&body[at..]) else { return };
        assert_eq!(passed, Ok((size, message.header.info3)));
        at += size;
    }
}

fn messages(body: &[u8]) -> u64 {
    passing(body);
    let mut items = 0;
    for message in Messages::new(body) {
        let Ok(message) = message else { break };
        assert_eq!(message.fields().count(), usize::from(message.header.n_fields));
        assert_eq!(message.ops().count(), usize::from(message.header.n_ops));
        for item in message.fields() {
            items += match item.kind {
                field::BATCH => batch(item.value),
                field::FILTER | field::UDF_ARGUMENTS | field::INDEX_CONTEXT => walk(item.value),
                _ => 1,
            };
        }
        for op in message.ops() {
            items += match Particle::decode(op.particle_type, op.value) {
                Ok(Particle::List(value) | Particle::Map(value) | Particle::Blob(value)) => walk(value),
                Ok(_) => 1,
                Err(error) => {
                    assert!(error.offset <= op.value.len());
                    0
                }
            };
        }
    }
    items
}

fn batch(value: &[u8]) -> u64 {
    BatchRows::decode(value).map_or(0, |rows| {
        assert!(rows.count as usize <= value.len());
        rows.map_while(Result::ok).map(|row| 1 + row.fields().count() as u64 + row.ops().count() as u64).sum()
    })
}

/// Walks msgpack; reserving what headers announce must stay within the input.
fn walk(bytes: &[u8]) -> u64 {
    let (mut reader, mut items, mut reserved) = (Reader::new(bytes), 0, 0);
    let result = loop {
        match reader.read() {
            Ok(element) => {
                items += 1;
                match element {
                    Element::List(header) => reserved += header.len,
                    Element::Map(header) => reserved += header.len,
                    Element::Bytes(payload) => drop(msgpack::particle(payload)),
                    _ => {}
                }
                if reader.depth() == 0 {
                    break reader.finish();
                }
            }
            Err(error) => break Err(error),
        }
    };
    assert!(items <= bytes.len() && reserved <= bytes.len());
    assert_eq!(msgpack::validate(bytes), result);
    if let Err(error) = result {
        assert!(error.offset <= bytes.len());
    }
    items as u64
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
    let (start, mut mutations, mut items) = (Instant::now(), 0_u64, 0);
    'time: for round in 1_u64.. {
        for (index, bytes) in corpus.iter().enumerate() {
            let mut random = Random(round << 32 | (index as u64 + 1));
            let mut bytes = bytes.clone();
            damage(&mut bytes, &mut random);
            items += decode(&bytes);
            mutations += 1;
            if mutations >= LEAST && start.elapsed() > TIME {
                break 'time;
            }
        }
    }
    println!("{mutations} mutations of {} messages, {items} items read", corpus.len());
    assert!(items > mutations, "most of the damage should leave something to read");
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
