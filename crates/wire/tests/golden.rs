//! Every recorded exchange is decoded completely and encoded again, to the same bytes.
//!
//! "Completely" means: frames, messages, fields, operations, batch rows, particles, msgpack elements (values, CDT
//! arguments, contexts, expressions, UDF arguments), info lines, admin fields. Only what this crate has no type for is
//! copied through: payloads of strings and blobs, fields that are a name or a few words (partition lists, index ranges).
//!
//! Rules for what may fail, and how:
//! 1. Answers of the server never fail.
//! 2. Requests of the recorded clients never fail.
//! 3. A request made by hand may fail with a typed error, if the server refused it as well (no answer, or one with a
//!    result code), or if it is one of [`LENIENT`], where the server looks away.
//! 4. A request made by hand may come back different in what the server does not look at either: the header-size byte
//!    of messages.

mod support;

use std::collections::BTreeMap;

use aerolane_wire::admin::{self, AdminMessage};
use aerolane_wire::batch::{BatchRows, BatchWriter};
use aerolane_wire::compress;
use aerolane_wire::digest::digest;
use aerolane_wire::info::{self, AnswerWriter, Answers, Lines};
use aerolane_wire::message::{Field, Message, MessageWriter, Messages, Op, field, op};
use aerolane_wire::msgpack::{self, Reader, Writer};
use aerolane_wire::particle::{GeoJson, Particle};
use aerolane_wire::proto::{self, Frame, FrameType, MAX_BODY_SIZE, PROTO_HEADER_SIZE};
use aerolane_wire::{WireError, WireResult};
use serde_json::Value;
use support::Exchange;

/// Requests that we refuse and the server takes: where, and why.
const LENIENT: &[(&str, u64, &str)] = &[
    ("exp/malformed-ops", 12, "bytes after the arguments of an expression"),
    ("exp/malformed-ops", 28, "bytes after the arguments of an expression"),
    ("info/request-forms", 19, "a tab in a command; in the answer it could not be told from the separator"),
    ("list/malformed", 24, "bytes after the arguments of a list operation"),
    ("malformed/ops", 19, "a read with a value; the server does not look at it"),
    ("udf/errors", 20, "UDF arguments of no bytes count as no arguments"),
    ("udf/errors", 22, "UDF arguments that are no msgpack count as no arguments"),
];

/// What is checked, at least. Fewer means that something is skipped.
const MINIMUMS: &[(&str, u64)] = &[
    ("admin fields", 30),
    ("admin messages", 56),
    ("argument lists", 15_330),
    ("batch repetitions", 10_160),
    ("batch rows", 10_350),
    ("compressed frames", 7),
    ("digests", 23),
    ("exchanges", 15_306),
    ("fields", 47_820),
    ("frames", 30_840),
    ("info answers", 860),
    ("info commands", 830),
    ("messages", 40_600),
    ("messages compared with the recorder's reading", 30_000),
    ("msgpack elements", 154_700),
    ("operations", 110_700),
    ("particles", 95_400),
];

/// What happens exactly so often. More means that something is refused or lost that was not before.
const EXCEPTIONS: &[(&str, u64)] = &[
    // 128 as a 16-bit integer, by aerospike-core 2.2.0.
    ("longer forms", 1),
    ("longer forms by hand", 4),
    ("malformed requests", 113),
    ("malformed requests that the server takes", LENIENT.len() as u64),
    ("requests with another header size", 3),
    ("short integers by hand", 4),
];

/// How much of each kind was checked; grows only.
#[derive(Default)]
struct Counts(BTreeMap<&'static str, u64>);

impl Counts {
    fn add(&mut self, what: &'static str, n: u64) {
        *self.0.entry(what).or_default() += n;
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Request,
    Answer,
}

/// Re-encodes one direction of one exchange.
struct Walk<'c> {
    side: Side,
    by_hand: bool,
    counts: &'c mut Counts,
}

impl Walk<'_> {
    fn frames(&mut self, bytes: &[u8]) -> WireResult<Vec<u8>> {
        let (mut out, mut at) = (vec![], 0);
        while at < bytes.len() {
            let Some((frame, size)) = proto::split_frame(&bytes[at..], MAX_BODY_SIZE).map_err(|e| e.shifted(at))?
            else {
                return Err(WireError::truncated(1, bytes.len()));
            };
            let start = out.len();
            self.frame(frame, &mut out).map_err(|e| e.shifted(at + PROTO_HEADER_SIZE))?;
            // Encoders always write version 2; old clients send 0 in admin frames.
            out[start] = frame.header.version;
            self.counts.add("frames", 1);
            at += size;
        }
        Ok(out)
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Vec<u8>) -> WireResult<()> {
        match frame.header.frame_type {
            FrameType::Info => self.info(frame.body, out),
            FrameType::Admin => self.admin(frame.body, out),
            FrameType::CompressedMessage => self.compressed(frame.body, out),
            FrameType::Message => {
                let start = proto::begin_frame(out, FrameType::Message);
                // A message is at least a header; an empty body holds none.
                let messages: WireResult<Vec<_>> = Messages::new(frame.body).collect();
                let messages = messages?;
                if messages.is_empty() {
                    Message::decode(frame.body)?;
                }
                if self.side == Side::Request {
                    Message::decode(frame.body)?;
                }
                for message in messages {
                    self.message(&message, out)?;
                }
                proto::end_frame(out, start)
            }
        }
    }

    fn info(&mut self, body: &[u8], out: &mut Vec<u8>) -> WireResult<()> {
        if self.side == Side::Request {
            let mut lines = Lines::new(body);
            let commands: Vec<_> = lines.by_ref().collect();
            self.counts.add("info commands", commands.len() as u64);
            let start = out.len();
            info::encode_request(out, commands)?;
            // What the server ignores: a last line without its end. Our encoder cannot write one.
            if !lines.rest().is_empty() {
                assert!(self.by_hand, "a client sent an unterminated line");
                out.extend_from_slice(lines.rest());
                proto::end_frame(out, start)?;
            }
            return Ok(());
        }
        let mut writer = AnswerWriter::begin(out);
        for answer in Answers::new(body) {
            writer.answer(answer.command, answer.text.ok_or(WireError::invalid("an info answer without a tab", 0))?);
            self.counts.add("info answers", 1);
        }
        writer.finish()
    }

    fn admin(&mut self, body: &[u8], out: &mut Vec<u8>) -> WireResult<()> {
        let message = AdminMessage::decode(body)?;
        self.counts.add("admin messages", 1);
        self.counts.add("admin fields", u64::from(message.n_fields));
        admin::encode(out, message.header, message.fields())
    }

    /// Compressed bytes depend on the compressor, so: what is inside is walked, and survives our own compression.
    fn compressed(&mut self, body: &[u8], out: &mut Vec<u8>) -> WireResult<()> {
        let (mut plain, mut again, mut packed) = (vec![], vec![], vec![]);
        compress::decompress(&mut plain, body, MAX_BODY_SIZE)?;
        assert_eq!(self.frames(&plain)?, plain);
        compress::compress(&mut packed, &plain)?;
        compress::decompress(&mut again, &packed[PROTO_HEADER_SIZE..], plain.len())?;
        assert_eq!(again, plain);
        self.counts.add("compressed frames", 1);
        let start = proto::begin_frame(out, FrameType::CompressedMessage);
        out.extend_from_slice(body);
        proto::end_frame(out, start)
    }

    fn message(&mut self, message: &Message<'_>, out: &mut Vec<u8>) -> WireResult<()> {
        self.counts.add("messages", 1);
        self.check_digest(message);
        let mut writer = MessageWriter::bare(out, &message.header);
        for field in message.fields() {
            writer.field_with(field.kind, |out| self.field(field, out))?;
        }
        for operation in message.ops() {
            self.op(&operation, |value| writer.raw_op(&Op { value, ..operation }))?;
        }
        writer.finish()
    }

    /// Where a request has both key and digest, they belong together.
    fn check_digest(&mut self, message: &Message<'_>) {
        let part = |kind| message.field(kind);
        if let (Some([kind, key @ ..]), Some(wanted), false) =
            (part(field::KEY), part(field::DIGEST), self.by_hand || self.side == Side::Answer)
        {
            assert_eq!(digest(part(field::SET).unwrap_or_default(), *kind, key), wanted);
            self.counts.add("digests", 1);
        }
    }

    fn field(&mut self, field: Field<'_>, out: &mut Vec<u8>) -> WireResult<()> {
        self.counts.add("fields", 1);
        match field.kind {
            field::BATCH | field::BATCH_WITH_SET => self.batch(field.value, out),
            field::FILTER | field::UDF_ARGUMENTS | field::INDEX_CONTEXT | field::INDEX_EXPRESSION => {
                self.msgpack(field.value, out)
            }
            field::KEY => {
                let [kind, value @ ..] = field.value else {
                    return Err(WireError::invalid("a key field without a type", 0));
                };
                out.push(*kind);
                self.particle(*kind, value, out)
            }
            // Names, digests, words and partition lists: bytes as far as this crate goes.
            _ => {
                out.extend_from_slice(field.value);
                Ok(())
            }
        }
    }

    fn batch(&mut self, value: &[u8], out: &mut Vec<u8>) -> WireResult<()> {
        let mut rows = BatchRows::decode(value)?;
        let (flags, count) = (rows.flags, rows.count);
        let (mut automatic, start) = (vec![], out.len());
        let mut auto = BatchWriter::begin(&mut automatic, flags);
        let mut writer = BatchWriter::begin(out, flags);
        for row in rows.by_ref() {
            let row = row?;
            self.counts.add("batch rows", 1);
            // What a client repeats, we would repeat.
            auto.row(row.index, row.digest, &row.header, |out| {
                row.fields().for_each(|field| out.field(field.kind, field.value));
                row.ops().try_for_each(|op| out.raw_op(&op))
            })?;
            if row.repeat {
                self.counts.add("batch repetitions", 1);
                writer.repeat(row.index, row.digest)?;
                continue;
            }
            writer.full_row(row.index, row.digest, &row.header, |out| {
                for field in row.fields() {
                    let mut value = vec![];
                    self.field(field, &mut value)?;
                    out.field(field.kind, &value);
                }
                for operation in row.ops() {
                    self.op(&operation, |value| out.raw_op(&Op { value, ..operation }))?;
                }
                Ok::<_, WireError>(())
            })?;
        }
        assert_eq!(writer.rows(), count);
        writer.finish();
        auto.finish();
        if automatic.len() < out.len() - start {
            self.counts.add("batches that we write shorter", 1);
        }
        let again: Vec<_> = BatchRows::decode(&automatic)?.collect::<WireResult<_>>()?;
        for (row, again) in BatchRows::decode(value)?.zip(again) {
            let row = row?;
            assert!(!row.repeat || again.repeat, "a repeated row did not become one");
            assert_eq!((row.index, row.digest, row.header), (again.index, again.digest, again.header));
            assert!(row.fields().eq(again.fields()) && row.ops().eq(again.ops()));
        }
        if rows.rest().is_empty() {
            return Ok(());
        }
        assert!(self.by_hand && self.side == Side::Request);
        out.extend_from_slice(rows.rest());
        Ok(())
    }

    /// Decodes the value of an operation, and gives it to `write` as encoded again.
    fn op(&mut self, op: &Op<'_>, write: impl FnOnce(&[u8]) -> WireResult<()>) -> WireResult<()> {
        self.counts.add("operations", 1);
        let mut value = vec![];
        let arguments = matches!(
            op.kind,
            op::CDT_READ
                | op::CDT_MODIFY
                | op::EXP_READ
                | op::EXP_MODIFY
                | op::BITS_READ
                | op::BITS_MODIFY
                | op::HLL_READ
                | op::HLL_MODIFY
        );
        if self.side == Side::Request && arguments {
            self.arguments(op.value, &mut value)?;
        } else {
            self.particle(op.particle_type, op.value, &mut value)?;
        }
        write(&value)
    }

    /// Arguments of a CDT, bit, HLL or expression operation: a list; or, as old clients write it, the operation's
    /// number as a 16-bit word and a list of the other arguments, if there are any.
    fn arguments(&mut self, value: &[u8], out: &mut Vec<u8>) -> WireResult<()> {
        self.counts.add("argument lists", 1);
        if let [0, number, rest @ ..] = value {
            out.extend_from_slice(&[0, *number]);
            return if rest.is_empty() { Ok(()) } else { self.msgpack(rest, out) };
        }
        self.msgpack(value, out)
    }

    fn particle(&mut self, kind: u8, value: &[u8], out: &mut Vec<u8>) -> WireResult<()> {
        let particle = Particle::decode(kind, value)?;
        assert_eq!(particle.particle_type(), kind);
        self.counts.add("particles", 1);
        match particle {
            Particle::List(bytes) | Particle::Map(bytes) => return self.msgpack(bytes, out),
            // Shorter forms of integers come from no client.
            Particle::Integer(_) if value.len() != 8 => {
                assert!(self.by_hand && self.side == Side::Request);
                self.counts.add("short integers by hand", 1);
                out.extend_from_slice(value);
            }
            // The server adds cells.
            Particle::GeoJson(_) => GeoJson::decode(value)?.encode(out),
            // Reads carry no value, whatever type they name; hand-made ones even some bytes.
            Particle::Nil if !value.is_empty() => {
                assert!(self.by_hand);
                out.extend_from_slice(value);
            }
            other => other.encode(out),
        }
        Ok(())
    }

    fn msgpack(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> WireResult<()> {
        let (start, mut reader) = (out.len(), Reader::new(bytes));
        let mut writer = Writer::new(out);
        loop {
            let element = reader.read()?;
            self.counts.add("msgpack elements", 1);
            let before = writer.buffer().len();
            writer.element(&element);
            if writer.buffer()[before] != reader.form() {
                writer.buffer().truncate(before);
                writer.element_as(&element, reader.form())?;
                self.counts.add(if self.by_hand { "longer forms by hand" } else { "longer forms" }, 1);
            }
            if reader.depth() == 0 {
                break;
            }
        }
        reader.finish()?;
        msgpack::validate(bytes)?;
        assert_eq!(out[start..], *bytes, "msgpack differs");
        Ok(())
    }
}

/// Whether the server refused the request: no answer, or one with a result code.
fn refused(exchange: &Exchange) -> bool {
    if exchange.closed_after || matches!(exchange.end.as_str(), "closed" | "none") {
        return true;
    }
    let mut rest = &exchange.response[..];
    while let Ok(Some((frame, size))) = proto::split_frame(rest, MAX_BODY_SIZE) {
        let failed = match frame.header.frame_type {
            FrameType::Admin => AdminMessage::decode(frame.body).is_ok_and(|m| !m.header.result_code.is_ok()),
            FrameType::Message => Messages::new(frame.body).any(|m| m.is_ok_and(|m| m.header.result_code != 0)),
            _ => false,
        };
        if failed {
            return true;
        }
        rest = &rest[size..];
    }
    false
}

/// Compares our reading of messages with the recorder's: an encoder that makes the same mistake as the decoder would
/// not be found out otherwise.
fn compare_messages(bytes: &[u8], decoded: &Value, counts: &mut Counts) -> Result<(), String> {
    let (mut rest, mut entries) = (bytes, decoded.as_array().into_iter().flatten());
    while let (Ok(Some((frame, size))), Some(entry)) = (proto::split_frame(rest, MAX_BODY_SIZE), entries.next()) {
        rest = &rest[size..];
        if frame.header.frame_type != FrameType::Message {
            continue;
        }
        let readings: Vec<_> = entry["messages"].as_array().map_or_else(|| vec![entry], |list| list.iter().collect());
        for (message, reading) in Messages::new(frame.body).zip(readings) {
            let Ok(message) = message else { break };
            // What the recorder cut short or could not read says nothing.
            if !reading.is_object() || !reading["undecoded"].is_null() {
                break;
            }
            let header = message.header;
            let number = |name: &str| reading[name].as_u64().unwrap_or_default();
            let words = [
                ("result", u64::from(header.result_code)),
                ("generation", header.generation.into()),
                (if reading["ttl"].is_null() { "void_time" } else { "ttl" }, header.record_ttl.into()),
                (
                    if reading["timeout_ms"].is_null() { "transaction_ttl_or_batch_index" } else { "timeout_ms" },
                    header.transaction_ttl.into(),
                ),
            ];
            if let Some((name, found)) = words.iter().find(|(name, found)| number(name) != *found) {
                return Err(format!("{name} read as {found}, recorded as {}", number(name)));
            }
            let list = |name: &str| reading[name].as_array().map(Vec::as_slice).unwrap_or_default();
            let cut = list("ops").iter().chain(list("fields")).any(|item| !item.is_object());
            if !cut && (list("ops").len(), list("fields").len()) != (header.n_ops.into(), header.n_fields.into()) {
                return Err("number of operations or fields".to_owned());
            }
            for (op, read) in message.ops().zip(list("ops")) {
                let name = read["bin"].as_str().filter(|name| name.is_ascii() && !name.contains("...("));
                if name.is_some_and(|name| name.as_bytes() != op.name) {
                    return Err(format!("bin {name:?}"));
                }
            }
            counts.add("messages compared with the recorder's reading", 1);
        }
    }
    Ok(())
}

/// Sets the header-size byte of all messages to 22, as nobody looks at it.
fn with_plain_header_size(bytes: &[u8]) -> Vec<u8> {
    let (mut out, mut at) = (bytes.to_vec(), 0);
    while let Ok(Some((frame, size))) = proto::split_frame(&bytes[at..], MAX_BODY_SIZE) {
        if frame.header.frame_type == FrameType::Message && !frame.body.is_empty() {
            out[at + PROTO_HEADER_SIZE] = 22;
        }
        at += size;
    }
    out
}

#[test]
fn every_exchange_survives_decoding_and_encoding() {
    let exchanges = support::exchanges();
    let (mut counts, mut failures) = (Counts::default(), vec![]);
    let mut malformed: BTreeMap<&str, u64> = BTreeMap::new();
    for exchange in &exchanges {
        counts.add("exchanges", 1);
        let by_hand = exchange.driver == "raw";
        for (bytes, decoded) in
            [(&exchange.request, &exchange.decoded_request), (&exchange.response, &exchange.decoded_response)]
        {
            if let Err(text) = compare_messages(bytes, decoded, &mut counts) {
                failures.push(format!("{text}: {}", exchange.place()));
            }
        }
        match (Walk { side: Side::Answer, by_hand, counts: &mut counts }).frames(&exchange.response) {
            Ok(again) if again == exchange.response => {}
            Ok(_) => failures.push(format!("answer differs: {}", exchange.place())),
            Err(error) => failures.push(format!("answer: {error}: {}", exchange.place())),
        }
        match (Walk { side: Side::Request, by_hand, counts: &mut counts }).frames(&exchange.request) {
            Ok(again) if again == exchange.request => {}
            Ok(again) if by_hand && again == with_plain_header_size(&exchange.request) => {
                counts.add("requests with another header size", 1);
            }
            Ok(_) => failures.push(format!("request differs: {}", exchange.place())),
            Err(_) if by_hand && refused(exchange) => {
                counts.add("malformed requests", 1);
                *malformed.entry(&exchange.scenario).or_default() += 1;
            }
            Err(_) if by_hand && LENIENT.iter().any(|l| (l.0, l.1) == (&exchange.scenario, exchange.step)) => {
                counts.add("malformed requests that the server takes", 1);
            }
            Err(error) => failures.push(format!("request: {error}: {}", exchange.place())),
        }
    }
    for (what, n) in &counts.0 {
        println!("{n:>8} {what}");
    }
    println!("malformed, by scenario: {malformed:?}");
    let count = |what| counts.0.get(what).copied().unwrap_or_default();
    for (what, n) in MINIMUMS.iter().filter(|(what, n)| count(what) < *n) {
        failures.push(format!("{} {what}, less than {n}", count(what)));
    }
    for (what, n) in EXCEPTIONS.iter().filter(|(what, n)| count(what) != *n) {
        failures.push(format!("{} {what}, not {n}", count(what)));
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
