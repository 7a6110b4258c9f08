//! The error detail that a server (8.2 and later) attaches to a failure when the policy asks for it.
//!
//! A msgpack map in a field of its own: 1 subcode, 2 message, 3 expression trace (again a map). It is diagnostic only,
//! so nothing in it can make an answer fail: what is malformed or unknown is left out.

use aerolane_wire::message::{Message, field};
use aerolane_wire::msgpack::{Element, Reader};
use aerospike_core::server_error::EXP_TRACE_LANG_MSGPACK;
use aerospike_core::{ExpressionTrace, ServerErrorDetail};

/// The detail attached to an answer, if there is one.
pub(super) fn of(message: &Message<'_>) -> Option<ServerErrorDetail> {
    // Almost no answer has fields at all.
    if message.header.n_fields == 0 {
        return None;
    }
    parse(message.field(field::ERROR_DETAIL)?)
}

fn parse(bytes: &[u8]) -> Option<ServerErrorDetail> {
    let mut reader = Reader::new(bytes);
    let mut detail = ServerErrorDetail::default();
    let mut found = false;
    pairs(&mut reader, |key, element, reader| {
        let known = match (key, element) {
            (1, Element::Int(code)) => u32::try_from(code).map(|code| detail.sub_code = code).is_ok(),
            (2, Element::Bytes(text)) => {
                detail.message = lossy(text);
                true
            }
            (3, Element::Map(header)) if header.len > 0 => {
                detail.exp_trace = Some(trace(reader, header.len)?);
                true
            }
            (_, element) => {
                skip_rest(reader, element)?;
                false
            }
        };
        found |= known;
        Some(())
    });
    found.then_some(detail)
}

/// The trace map, whose header has been read.
fn trace(reader: &mut Reader<'_>, len: usize) -> Option<ExpressionTrace> {
    let mut trace = ExpressionTrace { lang: Some(EXP_TRACE_LANG_MSGPACK), ..ExpressionTrace::default() };
    for _ in 0..len {
        let key = key(reader)?;
        match (key, reader.read().ok()?) {
            (1, Element::Int(v)) => trace.phase = word(v),
            (2, Element::Int(v)) => trace.byte_offset = word(v),
            (3, Element::Bytes(v)) => trace.op = Some(lossy(v)),
            (4, Element::Int(v)) => trace.depth = word(v),
            (5, Element::List(header)) => trace.path = Some(texts(reader, header.len)?),
            (6, Element::Bytes(v)) => trace.snippet = Some(lossy(v)),
            (7, Element::Int(v)) => trace.outcome = word(v),
            (8, Element::Int(v)) => trace.lang = word(v),
            (9, Element::Int(v)) => trace.ael_offset = word(v),
            (10, Element::Int(v)) => trace.ael_span = word(v),
            (13, Element::List(header)) => trace.operands = Some(texts(reader, header.len)?),
            (_, element) => skip_rest(reader, element)?,
        }
    }
    Some(trace)
}

/// Calls `each` for every pair of the map at the front, until it or the bytes give up.
fn pairs<'a>(reader: &mut Reader<'a>, mut each: impl FnMut(i64, Element<'a>, &mut Reader<'a>) -> Option<()>) {
    let Ok(Element::Map(header)) = reader.read() else { return };
    for _ in 0..header.len {
        let Some(key) = key(reader) else { return };
        let Ok(element) = reader.read() else { return };
        if each(key, element, reader).is_none() {
            return;
        }
    }
}

/// Integer keys only; -1 for others, which are not known anyway.
fn key(reader: &mut Reader<'_>) -> Option<i64> {
    match reader.read().ok()? {
        Element::Int(key) => Some(key),
        element => skip_rest(reader, element).map(|()| -1),
    }
}

fn texts(reader: &mut Reader<'_>, len: usize) -> Option<Vec<String>> {
    let mut texts = Vec::with_capacity(len);
    for _ in 0..len {
        match reader.read().ok()? {
            Element::Bytes(text) => texts.push(lossy(text)),
            element => skip_rest(reader, element)?,
        }
    }
    Some(texts)
}

/// Skips the elements of a collection whose header has been read.
fn skip_rest(reader: &mut Reader<'_>, element: Element<'_>) -> Option<()> {
    let values = match element {
        Element::List(header) => header.len,
        Element::Map(header) => header.len * 2,
        _ => 0,
    };
    (0..values).try_for_each(|_| reader.skip().ok().map(drop))
}

fn word(value: i64) -> Option<u32> {
    u32::try_from(value).ok()
}

/// Texts of the detail have no particle type in front, unlike strings in bins.
fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use aerolane_wire::message::{MessageHeader, MessageWriter};
    use aerolane_wire::msgpack::Writer;

    fn full() -> Vec<u8> {
        let mut out = vec![];
        let mut w = Writer::new(&mut out);
        w.map(4);
        w.int(1);
        w.int(11);
        w.int(99);
        w.list(2);
        w.int(5);
        w.nil();
        w.int(2);
        w.bare(b"no such thing");
        w.int(3);
        w.map(4);
        w.int(1);
        w.int(1);
        w.int(5);
        w.list(2);
        w.bare(b"and");
        w.bare(b"eq");
        w.int(77);
        w.map(1);
        w.int(1);
        w.int(2);
        w.int(13);
        w.list(1);
        w.bare(b"15");
        out
    }

    #[test]
    fn all_parts_are_read_and_unknown_ones_skipped() {
        let detail = parse(&full()).unwrap();
        assert_eq!((detail.sub_code, detail.message.as_str()), (11, "no such thing"));
        let trace = detail.exp_trace.unwrap();
        assert_eq!((trace.phase, trace.lang), (Some(1), Some(EXP_TRACE_LANG_MSGPACK)));
        assert_eq!(trace.path, Some(vec!["and".to_owned(), "eq".to_owned()]));
        assert_eq!(trace.operands, Some(vec!["15".to_owned()]));
    }

    #[test]
    fn damage_costs_only_the_detail() {
        let whole = full();
        for at in 0..whole.len() {
            let _ = parse(&whole[..at]);
            for byte in [0, 0x7f, 0x80, 0xc1, 0xdd, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = byte;
                let _ = parse(&damaged);
            }
        }
        assert_eq!(parse(&[]), None);
        assert_eq!(parse(&[0x80]), None);
        assert_eq!(parse(&[0x81, 0x01, 0xc0]), None);
    }

    #[test]
    fn it_is_found_among_the_fields_of_an_answer() {
        let mut out = vec![];
        let mut writer = MessageWriter::bare(&mut out, &MessageHeader { result_code: 4, ..MessageHeader::default() });
        writer.field(3, &[0; 7]);
        writer.field(field::ERROR_DETAIL, &full());
        writer.finish().unwrap();
        assert_eq!(of(&Message::decode(&out).unwrap()).unwrap().sub_code, 11);
    }
}
