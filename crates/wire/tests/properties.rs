//! Round trips of everything that can be encoded, and: any chunking of a stream gives the same frames.

mod model;

use aerolane_wire::admin::{self, AdminHeader, AdminMessage};
use aerolane_wire::batch::{BatchRows, BatchWriter, RowHeader, row_flags};
use aerolane_wire::compress;
use aerolane_wire::info::{self, AnswerWriter, Answers, Lines};
use aerolane_wire::message::{Field, Message, MessageHeader, MessageWriter, Messages, Op, pass_message};
use aerolane_wire::msgpack::{self, MAX_DEPTH, Reader, Writer};
use aerolane_wire::particle::Particle;
use aerolane_wire::proto::{self, FrameDecoder, FrameType, MAX_BODY_SIZE, PROTO_HEADER_SIZE, ProtoHeader};
use aerolane_wire::{ResultCode, WireError, WireErrorKind, WireResult};
use model::{Item, items};
use proptest::collection::vec;
use proptest::prelude::*;

type RawField = (u8, Vec<u8>);
/// Kind, particle type, name, value.
type RawOp = (u8, u8, Vec<u8>, Vec<u8>);

fn fields() -> impl Strategy<Value = Vec<RawField>> {
    vec((any::<u8>(), vec(any::<u8>(), 0..40)), 0..5)
}

fn ops() -> impl Strategy<Value = Vec<RawOp>> {
    vec((any::<u8>(), any::<u8>(), vec(any::<u8>(), 0..20), vec(any::<u8>(), 0..40)), 0..5)
}

fn headers() -> impl Strategy<Value = MessageHeader> {
    (any::<[u8; 5]>(), any::<[u32; 3]>()).prop_map(|([info1, info2, info3, info4, result_code], words)| MessageHeader {
        info1,
        info2,
        info3,
        info4,
        result_code,
        generation: words[0],
        record_ttl: words[1],
        transaction_ttl: words[2],
        ..MessageHeader::default()
    })
}

fn write_message(mut writer: MessageWriter<'_>, fields: &[RawField], ops: &[RawOp]) -> WireResult<()> {
    for (kind, value) in fields {
        writer.field(*kind, value);
    }
    for (kind, particle_type, name, value) in ops {
        writer.op(*kind, name, Particle::Unknown(*particle_type, value))?;
    }
    writer.finish()
}

fn is_same(message: &Message<'_>, fields: &[RawField], ops: &[RawOp]) -> bool {
    let op = |op: Op<'_>| (op.kind, op.particle_type, op.name.to_vec(), op.value.to_vec());
    message.fields().map(|f| (f.kind, f.value.to_vec())).eq(fields.iter().cloned())
        && message.ops().map(op).eq(ops.iter().cloned())
}

#[derive(Debug, Clone)]
struct Row {
    index: u32,
    digest: [u8; 20],
    header: RowHeader,
    fields: Vec<RawField>,
    ops: Vec<RawOp>,
}

/// Rows from few shapes, so that repetitions come up often.
fn rows() -> impl Strategy<Value = Vec<Row>> {
    let header =
        (any::<u8>(), any::<[u8; 4]>(), any::<u16>(), any::<u32>()).prop_map(|(flags, info, generation, ttl)| {
            let has = |flag: u8| flags & flag != 0;
            RowHeader {
                flags: flags & 0x1e,
                info1: info[0],
                info2: if has(row_flags::INFO) { info[1] } else { 0 },
                info3: if has(row_flags::INFO) { info[2] } else { 0 },
                info4: if has(row_flags::INFO4) { info[3] } else { 0 },
                generation: if has(row_flags::GENERATION) { generation } else { 0 },
                ttl: if has(row_flags::TTL) { ttl } else { 0 },
            }
        });
    let shapes = vec((header, fields(), ops()), 1..3);
    let picks = vec((any::<prop::sample::Index>(), any::<u32>(), any::<[u8; 20]>()), 0..12);
    (shapes, picks).prop_map(|(shapes, picks)| {
        let row = |(pick, index, digest): (prop::sample::Index, u32, [u8; 20])| {
            let (header, fields, ops) = pick.get(&shapes).clone();
            Row { index, digest, header, fields, ops }
        };
        picks.into_iter().map(row).collect()
    })
}

proptest! {
    // What fails once gets a test of its own, below.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn proto_headers(version in prop_oneof![Just((2, 3)), Just((2, 1)), Just((0, 2)), Just((2, 4))], size in 0..=MAX_BODY_SIZE) {
        let frame_type = FrameType::from_byte(version.1).unwrap();
        let header = ProtoHeader { version: version.0, frame_type, body_size: size };
        prop_assert_eq!(ProtoHeader::decode(&header.encode(), MAX_BODY_SIZE), Ok(header));
        let small = ProtoHeader::decode(&header.encode(), 1000);
        prop_assert_eq!(small.is_ok(), size <= 1000);
    }

    #[test]
    fn any_chunking_gives_the_same_frames(
        bodies in vec((1..=4_u8, vec(any::<u8>(), 0..200)), 0..8),
        cuts in vec(1..50_usize, 1..60),
    ) {
        let mut stream = vec![];
        for (kind, body) in &bodies {
            let start = proto::begin_frame(&mut stream, FrameType::from_byte(*kind).unwrap());
            stream.extend_from_slice(body);
            proto::end_frame(&mut stream, start).unwrap();
        }
        let (mut decoder, mut frames, mut rest) = (FrameDecoder::new(MAX_BODY_SIZE), vec![], &stream[..]);
        for cut in cuts.iter().cycle() {
            let (piece, tail) = rest.split_at((*cut).min(rest.len()));
            if cut % 2 == 0 { decoder.extend(piece) } else { decoder.spare().extend_from_slice(piece) }
            while let Some(frame) = decoder.next_frame().unwrap() {
                frames.push((frame.header.frame_type as u8, frame.body.to_vec()));
            }
            rest = tail;
            if rest.is_empty() { break }
        }
        prop_assert_eq!(frames, bodies);
        prop_assert!(decoder.pending().is_empty());
    }

    #[test]
    fn messages(list in vec((headers(), fields(), ops()), 1..4)) {
        let mut body = vec![];
        for (header, fields, ops) in &list {
            write_message(MessageWriter::bare(&mut body, header), fields, ops).unwrap();
        }
        let read: Vec<_> = Messages::new(&body).collect::<WireResult<_>>().unwrap();
        prop_assert_eq!(read.len(), list.len());
        for (message, (header, fields, ops)) in read.iter().zip(&list) {
            let counts = MessageHeader { n_fields: fields.len() as u16, n_ops: ops.len() as u16, ..*header };
            prop_assert_eq!(message.header, counts);
            prop_assert!(is_same(message, fields, ops));
        }
        prop_assert_eq!(Message::decode(&body).is_ok(), list.len() == 1);
        for cut in 0..body.len() {
            let whole = Messages::new(&body[..cut]).take_while(Result::is_ok).count();
            prop_assert!(whole < list.len());
            let (first, _) = pass_message(&body).unwrap();
            prop_assert_eq!(pass_message(&body[..cut]).is_ok(), cut >= first);
        }
    }

    #[test]
    fn framed_messages(header in headers(), fields in fields(), ops in ops(), prefix in vec(any::<u8>(), 0..9)) {
        let mut out = prefix.clone();
        write_message(MessageWriter::frame(&mut out, &header), &fields, &ops).unwrap();
        let (frame, size) = proto::split_frame(&out[prefix.len()..], MAX_BODY_SIZE).unwrap().unwrap();
        prop_assert_eq!(size, out.len() - prefix.len());
        prop_assert!(is_same(&Message::decode(frame.body).unwrap(), &fields, &ops));
        MessageWriter::frame(&mut out, &header).abort();
        prop_assert_eq!(out.len(), prefix.len() + size);
    }

    #[test]
    fn operations_as_received(version in any::<u8>(), time in any::<[u8; 8]>(), value in vec(any::<u8>(), 0..20)) {
        let update_time = (version & 1 != 0).then_some(&time);
        let op = Op { kind: 2, particle_type: 4, version, name: b"bin", update_time, value: &value };
        let mut out = vec![];
        let mut writer = MessageWriter::bare(&mut out, &MessageHeader::default());
        writer.raw_op(&op).unwrap();
        writer.finish().unwrap();
        prop_assert_eq!(Message::decode(&out).unwrap().ops().next(), Some(op));
    }

    #[test]
    fn particles(integer in any::<i64>(), float in any::<f64>(), bytes in vec(any::<u8>(), 0..40), flag in any::<bool>()) {
        let all = [
            Particle::Nil, Particle::Integer(integer), Particle::Float(float), Particle::Bool(flag),
            Particle::String(&bytes), Particle::Blob(&bytes), Particle::Hll(&bytes), Particle::GeoJson(&bytes),
            Particle::List(&bytes), Particle::Map(&bytes), Particle::Unknown(77, &bytes),
        ];
        for particle in all {
            let mut out = vec![];
            particle.encode(&mut out);
            prop_assert_eq!(Particle::decode(particle.particle_type(), &out), Ok(particle));
        }
    }

    #[test]
    fn msgpack_values(list in vec(items(), 1..3)) {
        let mut out = vec![];
        for item in &list {
            item.write(&mut Writer::new(&mut out));
        }
        let mut reader = Reader::new(&out);
        for item in &list {
            prop_assert_eq!(&Item::read(&mut reader).unwrap(), item);
        }
        reader.finish().unwrap();
        let mut skipper = Reader::new(&out);
        let mut parts = vec![];
        while !skipper.is_empty() {
            parts.push(skipper.skip().unwrap());
        }
        prop_assert_eq!(parts.len(), list.len());
        prop_assert_eq!(parts.concat(), out.clone());
        prop_assert_eq!(msgpack::validate(&out).is_ok(), list.len() == 1);
        for cut in (0..parts[0].len()).step_by(1 + parts[0].len() / 64) {
            prop_assert!(msgpack::validate(&out[..cut]).is_err());
        }
    }

    #[test]
    fn skipping_inside_collections_leaves_the_rest(before in vec(items(), 0..3), skipped in items(), after in vec(items(), 0..3)) {
        let all: Vec<_> = before.iter().chain([&skipped]).chain(&after).cloned().collect();
        let mut out = vec![];
        // Ordered, so that a first element that is an ext is not read as the marker.
        Item::List(1, vec![Item::List(1, all)]).write(&mut Writer::new(&mut out));
        let mut reader = Reader::new(&out);
        for _ in 0..2 {
            reader.read().unwrap();
        }
        for item in &before {
            prop_assert_eq!(&Item::read(&mut reader).unwrap(), item);
        }
        let bytes = reader.skip().unwrap();
        prop_assert_eq!(Item::read(&mut Reader::new(bytes)).unwrap(), skipped);
        for item in &after {
            prop_assert_eq!(&Item::read(&mut reader).unwrap(), item);
        }
        prop_assert_eq!(reader.depth(), 0);
        reader.finish().unwrap();
    }

    #[test]
    fn every_form_of_an_integer_is_read_alike(value in any::<i64>(), shift in 0..64_u32, form in 0xcc..=0xd3_u8) {
        let element = msgpack::Element::Int(value >> shift);
        let mut out = vec![];
        let fits = Writer::new(&mut out).element_as(&element, form).is_ok();
        prop_assert_eq!(fits, !out.is_empty());
        if fits {
            let mut reader = Reader::new(&out);
            prop_assert_eq!(reader.read().unwrap(), element);
            prop_assert_eq!(reader.form(), form);
        }
    }

    #[test]
    fn batches(rows in rows(), flags in any::<u8>()) {
        let mut out = vec![];
        let mut writer = BatchWriter::begin(&mut out, flags);
        for row in &rows {
            writer.row(row.index, &row.digest, &row.header, |out| {
                row.fields.iter().for_each(|(kind, value)| out.field(*kind, value));
                for (kind, particle_type, name, value) in &row.ops {
                    out.op(*kind, name, Particle::Unknown(*particle_type, value))?;
                }
                Ok::<_, WireError>(())
            }).unwrap();
        }
        prop_assert_eq!(writer.rows() as usize, rows.len());
        writer.finish();

        let decoded = BatchRows::decode(&out).unwrap();
        prop_assert_eq!((decoded.flags, decoded.count as usize), (flags, rows.len()));
        let mut last: Option<&Row> = None;
        let mut n = 0;
        for (read, row) in decoded.zip(&rows) {
            let read = read.unwrap();
            prop_assert_eq!((read.index, read.digest, read.header), (row.index, &row.digest, row.header));
            prop_assert!(read.fields().map(|f| (f.kind, f.value.to_vec())).eq(row.fields.iter().cloned()));
            let op = |op: Op<'_>| (op.kind, op.particle_type, op.name.to_vec(), op.value.to_vec());
            prop_assert!(read.ops().map(op).eq(row.ops.iter().cloned()));
            let same = last.is_some_and(|l| (l.header, &l.fields, &l.ops) == (row.header, &row.fields, &row.ops));
            prop_assert_eq!(read.repeat, same);
            last = Some(row);
            n += 1;
        }
        prop_assert_eq!(n, rows.len());
        // A reader goes on where another one has stopped.
        let mut first = BatchRows::decode(&out).unwrap();
        loop {
            let resumed = BatchRows::resume(&out, &first.mark()).unwrap();
            prop_assert_eq!(format!("{:?}", resumed.collect::<Vec<_>>()), format!("{:?}", first.clone().collect::<Vec<_>>()));
            if first.next().is_none() {
                break;
            }
        }
        for cut in 5..out.len() {
            let complete = BatchRows::decode(&out[..cut]).is_ok_and(|mut rows| rows.all(|row| row.is_ok()));
            prop_assert!(!complete);
        }
    }

    #[test]
    fn info_text(pairs in vec(("[a-z/:=;-]{0,20}", "[^\n]{0,30}"), 0..8)) {
        let mut out = vec![];
        info::encode_request(&mut out, pairs.iter().map(|(command, _)| command.as_bytes())).unwrap();
        let lines = Lines::new(&out[PROTO_HEADER_SIZE..]);
        prop_assert!(lines.eq(pairs.iter().map(|(command, _)| command.as_bytes())));

        let mut out = vec![];
        let mut writer = AnswerWriter::begin(&mut out);
        for (command, text) in &pairs {
            writer.answer(command.as_bytes(), text.as_bytes());
        }
        writer.finish().unwrap();
        let answers = Answers::new(&out[PROTO_HEADER_SIZE..]).map(|answer| (answer.command, answer.text.unwrap()));
        prop_assert!(answers.eq(pairs.iter().map(|(command, text)| (command.as_bytes(), text.as_bytes()))));
    }

    #[test]
    fn admin_messages(scheme in any::<u8>(), code in any::<u8>(), command in any::<u8>(), fields in fields()) {
        let header = AdminHeader { scheme, result_code: ResultCode(code), command };
        let mut out = vec![];
        admin::encode(&mut out, header, fields.iter().map(|(kind, value)| Field { kind: *kind, value })).unwrap();
        let message = AdminMessage::decode(&out[PROTO_HEADER_SIZE..]).unwrap();
        prop_assert_eq!(message.header, header);
        prop_assert!(message.fields().map(|f| (f.kind, f.value.to_vec())).eq(fields));
    }

    #[test]
    fn compressed_frames(plain in vec(any::<u8>(), 8..2000)) {
        let (mut packed, mut out) = (vec![], vec![]);
        compress::compress(&mut packed, &plain).unwrap();
        compress::decompress(&mut out, &packed[PROTO_HEADER_SIZE..], plain.len()).unwrap();
        prop_assert_eq!(out, plain);
    }
}

/// `levels` lists around one integer.
fn nested(levels: usize) -> Vec<u8> {
    let mut out = vec![0x91; levels];
    out.push(7);
    out
}

#[test]
fn nesting_is_bounded_whatever_its_shape() {
    assert!(msgpack::validate(&nested(MAX_DEPTH)).is_ok());
    let error = msgpack::validate(&nested(MAX_DEPTH + 1)).unwrap_err();
    assert_eq!(error, WireError::new(WireErrorKind::TooDeep, MAX_DEPTH));
    assert_eq!(msgpack::validate(&nested(1_000_000)).unwrap_err().kind, WireErrorKind::TooDeep);
    // Maps nested in keys, and in values behind a key.
    for level in [&[0x81][..], &[0x81, 1]] {
        let deep = level.repeat(MAX_DEPTH + 1);
        let error = msgpack::validate(&[deep, vec![0xc0; 2 * MAX_DEPTH + 2]].concat()).unwrap_err();
        assert_eq!(error.kind, WireErrorKind::TooDeep);
    }
    // Wide is not deep.
    let wide = [&[0xdc, 0x10, 0x00][..], &[0x91, 0x90].repeat(0x1000)].concat();
    assert!(msgpack::validate(&wide).is_ok());
}

#[test]
fn announced_lengths_are_checked_before_anything_is_believed() {
    let kind = |bytes: &[u8]| msgpack::validate(bytes).unwrap_err().kind;
    assert!(matches!(kind(&[0xdd, 0xff, 0xff, 0xff, 0xff]), WireErrorKind::Truncated { .. }));
    assert!(matches!(kind(&[0xdf, 0xff, 0xff, 0xff, 0xff, 1]), WireErrorKind::Truncated { .. }));
    assert!(matches!(kind(&[0xdb, 0xff, 0xff, 0xff, 0xff, 3]), WireErrorKind::Truncated { .. }));
    assert!(matches!(kind(&[0xc9, 0xff, 0xff, 0xff, 0xff, 3]), WireErrorKind::Truncated { .. }));
    // Each level alone announces no more than there are bytes, but all of them together do.
    let greedy = [[0xdc, 0x00, 0x80]; 100].concat();
    assert!(matches!(kind(&greedy), WireErrorKind::Truncated { .. }));
    let mut reader = Reader::new(&greedy);
    let announced: usize = std::iter::from_fn(|| match reader.read() {
        Ok(msgpack::Element::List(header)) => Some(header.len),
        _ => None,
    })
    .sum();
    assert!(announced <= greedy.len());
}

#[test]
fn counts_that_a_message_cannot_hold_are_refused() {
    let mut out = vec![];
    let mut writer = MessageWriter::bare(&mut out, &MessageHeader::default());
    for _ in 0..=u16::MAX {
        writer.field(0, b"");
        writer.op(1, b"", Particle::Nil).unwrap();
    }
    let error = writer.finish().unwrap_err();
    let kind = WireErrorKind::TooLarge { what: "number of fields", value: 65_536, limit: 65_535 };
    assert_eq!(error.kind, kind);
    let mut writer = MessageWriter::bare(&mut out, &MessageHeader::default());
    assert!(writer.op(1, &[b'x'; 256], Particle::Nil).is_err());
    assert!(writer.op(1, &[b'x'; 255], Particle::Nil).is_ok());
}

#[test]
fn batch_errors() {
    let mut out = vec![];
    let mut batch = BatchWriter::begin(&mut out, 0);
    assert!(batch.repeat(0, &[0; 20]).is_err());
    batch.row(0, &[0; 20], &RowHeader::read(1, 0, 0), |_| Ok::<_, WireError>(())).unwrap();
    batch.repeat(1, &[1; 20]).unwrap();
    batch.finish();
    assert_eq!(BatchRows::decode(&out).unwrap().count(), 2);
    // A repetition in front; more rows than bytes.
    let first = [&[0, 0, 0, 1, 0][..], &[0; 24], &[row_flags::REPEAT]].concat();
    assert!(BatchRows::decode(&first).unwrap().next().unwrap().is_err());
    assert!(matches!(
        BatchRows::decode(&[0xff, 0xff, 0xff, 0xff, 0]).unwrap_err().kind,
        WireErrorKind::TooLarge { .. }
    ));
    let error = batch_error(&out[..out.len() - 1]);
    assert_eq!(error, WireError::truncated(1, out.len() - 1));
}

fn batch_error(value: &[u8]) -> WireError {
    BatchRows::decode(value).unwrap().find_map(Result::err).unwrap()
}
