//! The wire codec by itself: frames in and out of buffers that are reused, as on a connection.

use std::hint::black_box;

use aerolane_wire::batch::{BatchWriter, RowHeader, flags};
use aerolane_wire::digest::{Digest, digest, digest_integer};
use aerolane_wire::message::{Message, MessageHeader, MessageWriter, Messages, field, info1, info2, info3, op};
use aerolane_wire::particle::{Particle, particle_type};
use aerolane_wire::proto::{MAX_BODY_SIZE, split_frame};
use aerolane_wire::{WireError, WireResult};

use super::{BATCH, HotPath, Run};

const NAMESPACE: &[u8] = b"test";
const SET: &[u8] = b"users";
const BIN: &[u8] = b"b0";

pub(super) fn paths() -> Vec<HotPath> {
    vec![
        HotPath { name: "wire/encode get", prepare: || encode(get) },
        HotPath { name: "wire/encode put", prepare: || encode(put) },
        HotPath { name: "wire/encode operate", prepare: || encode(operate) },
        HotPath { name: "wire/encode batch of 128", prepare: || encode(batch) },
        HotPath { name: "wire/decode record", prepare: decode_record },
        HotPath { name: "wire/decode batch of 128", prepare: decode_batch },
        HotPath { name: "wire/digest of an integer", prepare: digest_of_integer },
        HotPath { name: "wire/digest of a string", prepare: digest_of_string },
    ]
}

/// Runs an encoder on one buffer, over and over.
fn encode(one: fn(&mut Vec<u8>, &[Digest]) -> WireResult<()>) -> Run {
    let digests: Vec<Digest> = (0..BATCH as i64).map(|id| digest_integer(SET, id)).collect();
    let mut buffer = Vec::with_capacity(64 * 1024);
    Box::new(move |n| {
        for _ in 0..n {
            buffer.clear();
            one(&mut buffer, black_box(&digests)).expect("constant input");
            black_box(&buffer);
        }
    })
}

fn key_fields(writer: &mut MessageWriter<'_>, digest: &Digest) {
    writer.field(field::NAMESPACE, NAMESPACE);
    writer.field(field::SET, SET);
    writer.field(field::DIGEST, digest);
}

fn get(out: &mut Vec<u8>, digests: &[Digest]) -> WireResult<()> {
    let header = MessageHeader { info1: info1::READ | info1::GET_ALL, transaction_ttl: 1000, ..Default::default() };
    let mut writer = MessageWriter::frame(out, &header);
    key_fields(&mut writer, &digests[0]);
    writer.finish()
}

fn put(out: &mut Vec<u8>, digests: &[Digest]) -> WireResult<()> {
    let header = MessageHeader { info2: info2::WRITE, transaction_ttl: 1000, ..Default::default() };
    let mut writer = MessageWriter::frame(out, &header);
    key_fields(&mut writer, &digests[0]);
    writer.op(op::WRITE, BIN, Particle::Integer(42))?;
    writer.finish()
}

/// Adds to a number, appends to a string, reads both.
fn operate(out: &mut Vec<u8>, digests: &[Digest]) -> WireResult<()> {
    let header = MessageHeader { info1: info1::READ, info2: info2::WRITE, transaction_ttl: 1000, ..Default::default() };
    let mut writer = MessageWriter::frame(out, &header);
    key_fields(&mut writer, &digests[0]);
    writer.op(op::INCR, BIN, Particle::Integer(1))?;
    writer.op(op::APPEND, b"log", Particle::String(b"seen;"))?;
    writer.op(op::READ, BIN, Particle::Nil)?;
    writer.op(op::READ, b"log", Particle::Nil)?;
    writer.finish()
}

fn batch(out: &mut Vec<u8>, digests: &[Digest]) -> WireResult<()> {
    let header = MessageHeader { info1: info1::BATCH, transaction_ttl: 1000, ..Default::default() };
    let mut writer = MessageWriter::frame(out, &header);
    writer.field_with(field::BATCH, |out| {
        let mut rows = BatchWriter::begin(out, flags::INLINE | flags::RESPOND_ALL_KEYS);
        let row = RowHeader::read(info1::READ | info1::GET_ALL, 0, 0);
        for (index, digest) in digests.iter().enumerate() {
            if index == 0 {
                rows.row(0, digest, &row, |row| {
                    row.field(field::NAMESPACE, NAMESPACE);
                    row.field(field::SET, SET);
                    Ok::<(), WireError>(())
                })?;
            } else {
                rows.repeat(index as u32, digest)?;
            }
        }
        rows.finish();
        Ok::<(), WireError>(())
    })?;
    writer.finish()
}

/// The frame that answers a `get` of one integer bin.
pub(super) fn record_answer() -> Vec<u8> {
    let mut frame = Vec::new();
    let header = MessageHeader { generation: 3, record_ttl: 500_000_000, ..Default::default() };
    let mut writer = MessageWriter::frame(&mut frame, &header);
    writer.op(op::READ, BIN, Particle::Integer(42)).expect("constant input");
    writer.finish().expect("constant input");
    frame
}

/// The frame that answers a batch read of [`BATCH`] records with one integer bin each.
pub(super) fn batch_answer() -> Vec<u8> {
    let mut body = Vec::new();
    for index in 0..=BATCH as u32 {
        let last = index == BATCH as u32;
        let header = MessageHeader {
            info3: if last { info3::LAST } else { 0 },
            transaction_ttl: index,
            generation: 1,
            ..Default::default()
        };
        let mut writer = MessageWriter::bare(&mut body, &header);
        if !last {
            writer.op(op::READ, BIN, Particle::Integer(i64::from(index))).expect("constant input");
        }
        writer.finish().expect("constant input");
    }
    let mut frame = Vec::new();
    let start = aerolane_wire::proto::begin_frame(&mut frame, aerolane_wire::proto::FrameType::Message);
    frame.extend_from_slice(&body);
    aerolane_wire::proto::end_frame(&mut frame, start).expect("constant input");
    frame
}

/// Looks at every operation of a message, as a client must.
fn sum_of(message: &Message<'_>) -> i64 {
    message
        .ops()
        .map(|op| match Particle::decode(op.particle_type, op.value) {
            Ok(Particle::Integer(value)) => value + op.name.len() as i64,
            other => panic!("constant input decoded to {other:?}"),
        })
        .sum()
}

fn decode_record() -> Run {
    let answer = record_answer();
    Box::new(move |n| {
        for _ in 0..n {
            let (frame, _) = split_frame(black_box(&answer), MAX_BODY_SIZE).expect("valid").expect("whole");
            black_box(sum_of(&Message::decode(frame.body).expect("valid")));
        }
    })
}

fn decode_batch() -> Run {
    let answer = batch_answer();
    Box::new(move |n| {
        for _ in 0..n {
            let (frame, _) = split_frame(black_box(&answer), MAX_BODY_SIZE).expect("valid").expect("whole");
            for message in Messages::new(frame.body) {
                black_box(sum_of(&message.expect("valid")));
            }
        }
    })
}

fn digest_of_integer() -> Run {
    Box::new(|n| {
        for id in 0..n {
            black_box(digest_integer(black_box(SET), id as i64));
        }
    })
}

fn digest_of_string() -> Run {
    Box::new(|n| {
        for _ in 0..n {
            black_box(digest(black_box(SET), particle_type::STRING, black_box(b"user-0000012345")));
        }
    })
}
