//! What holds for every input of a decoder: it may be refused, but nothing panics, hangs or allocates beyond the input,
//! and what is taken in can be written again.
//!
//! The fuzz targets beside this file run these checks with coverage, `tests/mutations.rs` on damaged golden exchanges.
//! Each gives how many items it has read.

use aerolane_wire::admin::{AdminMessage, encode_block};
use aerolane_wire::batch::{BatchRow, BatchRows, BatchWriter};
use aerolane_wire::compress::{compress, decompress, plain_size};
use aerolane_wire::info::{AnswerWriter, Answers, Command, Lines, encode_request, pairs};
use aerolane_wire::message::{
    MESSAGE_HEADER_SIZE, Message, MessageReader, MessageWriter, Messages, pass_message, pass_message_with,
};
use aerolane_wire::msgpack::{self, Element, MAX_DEPTH, Reader, Writer, validate};
use aerolane_wire::operation::context;
use aerolane_wire::particle::{GeoJson, Particle};
use aerolane_wire::proto::{FrameDecoder, PROTO_HEADER_SIZE, split_frame};
use aerolane_wire::{WireError, WireResult};

/// Most bytes of one frame: as many as any input has, and a bound for what a header may announce.
const MAX_BODY: usize = 1 << 20;

/// The incremental frame decoder: any chunking gives what whole input gives.
pub(crate) fn frame(bytes: &[u8], step: usize) -> usize {
    let (mut whole, mut rest) = (vec![], bytes);
    let end = loop {
        match split_frame(rest, MAX_BODY) {
            Ok(Some((frame, size))) => {
                whole.push((frame.header, frame.body.to_vec()));
                rest = &rest[size..];
            }
            other => break other.map(|_| ()),
        }
    };
    let (mut decoder, mut pieces, mut failed) = (FrameDecoder::new(MAX_BODY), vec![], Ok(()));
    for piece in bytes.chunks(step.max(1)) {
        decoder.extend(piece);
        loop {
            match decoder.next_frame() {
                Ok(Some(frame)) => pieces.push((frame.header, frame.body.to_vec())),
                Ok(None) => break,
                Err(error) => {
                    failed = Err(error);
                    break;
                }
            }
        }
        if failed.is_err() {
            break;
        }
    }
    assert_eq!(whole, pieces);
    assert_eq!(end, failed);
    whole.len()
}

/// Messages: what is read is written to the same bytes (but for the header-size byte), and all ways through a message
/// come to the same.
pub(crate) fn message(body: &[u8]) -> usize {
    let (mut at, mut items) = (0, 0);
    for message in Messages::new(body) {
        let Ok(message) = message else {
            // It looks at less, so it may find nothing wrong.
            let _ = pass_message(&body[at..]);
            return items;
        };
        let mut out = vec![];
        let mut writer = MessageWriter::bare(&mut out, &message.header);
        message.fields().for_each(|field| writer.field(field.kind, field.value));
        message.ops().for_each(|op| writer.raw_op(&op).expect("what was read can be written"));
        writer.finish().expect("what was read can be written");
        assert_eq!(usize::from(out[0]), MESSAGE_HEADER_SIZE);
        assert_eq!(out[1..], body[at + 1..at + out.len()]);
        other_ways(&body[at..], &message, out.len());
        at += out.len();
        items += message.fields().count() + message.ops().count();
    }
    assert_eq!(at, body.len());
    items
}

/// The message at the front of `bytes`, passed over and read front to back.
fn other_ways(bytes: &[u8], message: &Message<'_>, size: usize) {
    assert_eq!(pass_message(bytes), Ok((size, message.header.info3)));
    let mut fields = vec![];
    assert_eq!(pass_message_with(bytes, |kind, value| fields.push((kind, value))), pass_message(bytes));
    let fields = fields.into_iter().map(|(kind, value)| (kind, &bytes[value]));
    assert!(fields.eq(message.fields().map(|field| (field.kind, field.value))));
    let mut reader = MessageReader::new(bytes).expect("decoded before");
    assert_eq!(reader.header(), message.header);
    assert_eq!(reader.clone().finish(), Ok(size));
    assert_eq!(reader.clone().next_op(), Ok(message.ops().next()), "fields are passed over");
    for field in message.fields() {
        assert_eq!(reader.next_field(), Ok(Some(field)));
    }
    assert_eq!(reader.next_field(), Ok(None));
    assert_eq!(reader.max_ops_left(), message.ops().count());
    for op in message.ops() {
        assert_eq!(reader.next_op(), Ok(Some(op)));
    }
    assert_eq!(reader.next_op(), Ok(None));
    assert_eq!(reader.finish(), Ok(size));
}

/// Msgpack: bounded, and what is read is written to the same bytes.
pub(crate) fn msgpack(bytes: &[u8]) -> usize {
    let (mut reader, mut out, mut reserved) = (Reader::new(bytes), vec![], 0);
    let (mut values, mut items) = (0, 0);
    let whole = loop {
        if reader.is_empty() && reader.depth() == 0 {
            break true;
        }
        let at = reader.offset();
        let Ok(element) = reader.read() else { break false };
        items += 1;
        assert!(reader.depth() <= MAX_DEPTH);
        values += usize::from(reader.depth() == 0);
        let marker = match element {
            Element::List(header) => {
                reserved += header.len;
                header.marker
            }
            Element::Map(header) => {
                reserved += header.len;
                header.marker
            }
            _ => None,
        };
        assert!(reserved <= bytes.len());
        let start = out.len();
        Writer::new(&mut out).element_as(&element, reader.form()).expect("what was read can be written");
        // An order marker may stand in a longer form than ours, whatever the form of the header.
        let read = &bytes[at..reader.offset()];
        if marker.is_none_or(|m| {
            m.data.is_empty() && (read.ends_with(&[0xc7, 0, m.kind]) || read.ends_with(&[0xc7, 0, m.kind, 0xc0]))
        }) {
            assert_eq!(out[start..], *read);
        }
    };
    assert_eq!(whole && values == 1, validate(bytes).is_ok());
    let (mut reader, mut passed) = (Reader::new(bytes), 0);
    while let Ok(value) = reader.skip() {
        assert!(validate(value).is_ok());
        passed += 1;
    }
    assert_eq!(passed, values);
    items
}

/// Contexts of operations: what is taken apart can be put together, and is then taken apart alike.
pub(crate) fn context(bytes: &[u8]) -> usize {
    let levels = match context::levels(bytes) {
        Ok(levels) => levels,
        Err(error) => {
            assert!(error.offset <= bytes.len());
            return 0;
        }
    };
    assert!(levels.len() * 2 <= bytes.len());
    assert!(levels.iter().all(|(_, value)| validate(value).is_ok()));
    let mut out = vec![];
    context::list(&mut out, levels.iter().copied());
    assert!(out.len() <= bytes.len());
    assert_eq!(context::levels(&out).as_ref(), Ok(&levels));
    levels.len()
}

/// Batch fields: what is read can be written, and is then read alike.
pub(crate) fn batch(value: &[u8]) -> usize {
    let Ok(rows) = BatchRows::decode(value) else { return 0 };
    let flags = rows.flags;
    assert!(rows.count as usize <= value.len());
    let Ok(rows) = rows.collect::<WireResult<Vec<BatchRow<'_>>>>() else { return 0 };
    let mut out = vec![];
    let mut writer = BatchWriter::begin(&mut out, flags);
    for row in &rows {
        writer
            .row(row.index, row.digest, &row.header, |out| {
                row.fields().for_each(|field| out.field(field.kind, field.value));
                row.ops().try_for_each(|op| out.raw_op(&op))?;
                Ok::<_, WireError>(())
            })
            .expect("what was read can be written");
    }
    writer.finish();
    assert!(out.len() <= value.len());
    let again = BatchRows::decode(&out).expect("what was written can be read");
    let mut n = 0;
    for (row, again) in rows.iter().zip(again) {
        let again = again.expect("what was written can be read");
        assert!(!row.repeat || again.repeat);
        assert_eq!(
            (row.index, row.digest, row.header, row.n_ops()),
            (again.index, again.digest, again.header, again.n_ops())
        );
        assert!(row.fields().eq(again.fields()) && row.ops().eq(again.ops()));
        n += 1;
    }
    assert_eq!(n, rows.len());
    n
}

/// Info text: lines cover the input, and answers with a tab are written to the same bytes.
pub(crate) fn info(body: &[u8]) -> usize {
    let mut lines = Lines::new(body);
    let all: Vec<_> = lines.by_ref().collect();
    assert_eq!(all.iter().map(|line| line.len() + 1).sum::<usize>() + lines.rest().len(), body.len());
    for line in &all {
        let command = Command::parse(line);
        let _ = command.parameter(b"namespace");
        assert!(pairs(command.parameters, b';').count() <= line.len());
    }
    let mut out = vec![];
    match encode_request(&mut out, all.iter().copied()) {
        Ok(()) => assert_eq!(out[PROTO_HEADER_SIZE..], body[..body.len() - lines.rest().len()]),
        Err(_) => assert!(out.is_empty() && all.iter().any(|line| line.contains(&b'\t'))),
    }
    let mut out = vec![];
    let mut writer = AnswerWriter::begin(&mut out);
    let mut exact = body.last().is_none_or(|byte| *byte == b'\n');
    for answer in Answers::new(body) {
        let _ = answer.error();
        exact &= answer.text.is_some();
        writer.answer(answer.command, answer.text.unwrap_or_default());
    }
    writer.finish().expect("small enough");
    if exact {
        assert_eq!(out[PROTO_HEADER_SIZE..], *body);
    }
    all.len()
}

/// Admin messages: what is read is written to the same bytes, but for the unused ones of the header.
pub(crate) fn admin(body: &[u8]) -> usize {
    let Ok((message, size)) = AdminMessage::decode_prefix(body) else { return 0 };
    let _ = message.session();
    let mut out = vec![];
    encode_block(&mut out, message.header, message.fields()).expect("what was read can be written");
    assert_eq!(out.len(), size);
    assert_eq!((&out[..4], &out[16..]), (&body[..4], &body[16..size]));
    assert_eq!(AdminMessage::decode(body).is_ok(), size == body.len());
    message.fields().count()
}

/// Particles: what is read is written to the same bytes, but for short integers, cells and bytes behind nil.
pub(crate) fn particle(input: &[u8]) -> usize {
    let [kind, value @ ..] = input else { return 0 };
    if let Ok(particle) = msgpack::particle(input) {
        assert_eq!(particle.particle_type(), *kind);
    }
    let Ok(particle) = Particle::decode(*kind, value) else { return 0 };
    assert_eq!(particle.particle_type(), *kind);
    let mut out = vec![];
    match particle {
        Particle::Nil => return 1,
        Particle::Integer(_) if value.len() < 8 => return 1,
        Particle::GeoJson(_) => GeoJson::decode(value).expect("read before").encode(&mut out),
        other => other.encode(&mut out),
    }
    assert_eq!(out, value);
    1
}

/// Compressed frames: never more than the limit, and what comes out survives our own compression.
pub(crate) fn compressed(body: &[u8]) -> usize {
    const LIMIT: usize = 1 << 16;
    let mut out = vec![];
    if decompress(&mut out, body, LIMIT).is_err() {
        assert!(out.is_empty());
        return 0;
    }
    assert_eq!(Ok(out.len()), plain_size(body, LIMIT));
    let (mut packed, mut again) = (vec![], vec![]);
    compress(&mut packed, &out).expect("small enough");
    decompress(&mut again, &packed[PROTO_HEADER_SIZE..], LIMIT).expect("what was written can be read");
    assert_eq!(out, again);
    out.len()
}
