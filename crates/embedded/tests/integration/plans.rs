//! Conditions of queries as text, and the question which index serves them, as nodes of 8.2 know them.

use crate::common::{Raw, digest};
use aerolane_embedded::EmbeddedCluster;
use aerolane_wire::message::{Message, MessageHeader, MessageWriter, field, info1, info2, info3, op, query_where};
use aerolane_wire::particle::Particle;

const OK: u8 = 0;
const PARAMETER: u8 = 4;
const UNSUPPORTED: u8 = 16;
const NAMESPACE: u8 = 20;
const INDEX_NOT_FOUND: u8 = 201;

/// Records 0 to 19 of set `s`, and indexes of three kinds.
fn start(build: &str) -> (EmbeddedCluster, Raw) {
    let cluster = EmbeddedCluster::builder().nodes(1).namespace("test").build(build).start().unwrap();
    let mut raw = Raw::connect(cluster.nodes()[0].address);
    for n in 0..20_u8 {
        let mut out = Vec::new();
        let header = MessageHeader { info2: info2::WRITE, ..MessageHeader::default() };
        let mut message = MessageWriter::frame(&mut out, &header);
        message.field(field::NAMESPACE, b"test");
        message.field(field::SET, b"s");
        message.field(field::DIGEST, &digest(u16::from(n), n));
        message.op(op::WRITE, b"n", Particle::Integer(n.into())).unwrap();
        message.finish().unwrap();
        raw.send(&out);
        raw.frame().unwrap();
    }
    for (name, definition) in
        [("by_n", "bin=n;type=numeric"), ("by_t", "bin=t;type=string"), ("by_l", "bin=l;type=numeric;indextype=list")]
    {
        assert_eq!(raw.info(&format!("sindex-create:namespace=test;set=s;indexname={name};{definition}")), "ok");
    }
    (cluster, raw)
}

/// A message with a condition, and fields of its own.
fn asked(flags: u8, text: &[u8], info3: u8, fields: &[(u8, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    let header = MessageHeader { info1: info1::READ, info3, ..MessageHeader::default() };
    let mut message = MessageWriter::frame(&mut out, &header);
    if !fields.iter().any(|(kind, _)| *kind == field::NAMESPACE) {
        message.field(field::NAMESPACE, b"test");
    }
    for (kind, value) in fields {
        message.field(*kind, value);
    }
    message.field(field::QUERY_WHERE, &[&[flags], text].concat());
    message.finish().unwrap();
    out
}

/// Name, collection and range of the index; `None`: no index serves the text. Or the result code.
type Plan = Option<(String, u8, Vec<u8>)>;

fn explain(raw: &mut Raw, flags: u8, text: &[u8], fields: &[(u8, &[u8])]) -> Result<Plan, u8> {
    raw.send(&asked(query_where::EXPLAIN | flags, text, 0, fields));
    let (_, body) = raw.frame().unwrap();
    let answer = Message::decode(&body).unwrap();
    if answer.header.result_code != OK {
        return Err(answer.header.result_code);
    }
    let Some(name) = answer.field(field::INDEX_NAME) else {
        assert_eq!(answer.field(field::INDEX_RANGE), None);
        return Ok(None);
    };
    let collection = answer.field(field::INDEX_TYPE).map_or(0, |kind| kind[0]);
    let range = answer.field(field::INDEX_RANGE).unwrap().to_vec();
    Ok(Some((String::from_utf8(name.to_vec()).unwrap(), collection, range)))
}

fn integers(bin: &[u8], begin: i64, end: i64) -> Vec<u8> {
    let mut range = [&[1, bin.len() as u8], bin, &[1]].concat();
    for bound in [begin, end] {
        range.extend_from_slice(&[0, 0, 0, 8]);
        range.extend_from_slice(&bound.to_be_bytes());
    }
    range
}

const SET: (u8, &[u8]) = (field::SET, b"s");

#[test]
fn nodes_say_which_index_serves_a_text() {
    let (_cluster, mut raw) = start("8.2.0.0");
    let mut ask = |text: &str| explain(&mut raw, 0, text.as_bytes(), &[SET]).unwrap();
    let by_n = |begin, end| Some(("by_n".to_owned(), 0, integers(b"n", begin, end)));
    assert_eq!(ask("$.n > 3 and $.n <= 9"), by_n(4, 9));
    assert_eq!(ask("$.n == 7 and $.other == 1"), by_n(7, 7));
    let text = [&[1, 1][..], b"t", &[3, 0, 0, 0, 2], b"ab", &[0, 0, 0, 2], b"ab"].concat();
    assert_eq!(ask("$.t == 'ab'"), Some(("by_t".to_owned(), 0, text)));
    assert_eq!(ask("5 in $.l"), Some(("by_l".to_owned(), 1, integers(b"l", 5, 5))));
    for none in ["$.other == 1", "$.n == 1 or $.n == 2", "true"] {
        assert_eq!(ask(none), None, "{none}");
    }
    // An index on one set does not serve a query of all, or of another one.
    for fields in [&[][..], &[(field::SET, &b"other"[..])]] {
        assert_eq!(explain(&mut raw, 0, b"$.n == 7", fields), Ok(None));
    }
}

#[test]
fn hints_and_flags_count() {
    let (_cluster, mut raw) = start("8.2.0.0");
    let (require, hard) = (query_where::REQUIRE_INDEX, query_where::HARD_HINT);
    let mut ask = |flags, text: &str, hint: &str| {
        let plan = explain(&mut raw, flags, text.as_bytes(), &[SET, (field::INDEX_NAME, hint.as_bytes())]);
        plan.map(|plan| plan.map(|(name, ..)| name))
    };
    let both = "$.n == 7 and $.t == 'ab'";
    assert_eq!(ask(0, both, "by_t"), Ok(Some("by_t".to_owned())));
    assert_eq!(ask(hard, both, "by_n"), Ok(Some("by_n".to_owned())));
    // What cannot serve is no hint, unless it has to be.
    assert_eq!(ask(0, "$.n == 7", "by_t"), Ok(Some("by_n".to_owned())));
    assert_eq!(ask(hard, "$.n == 7", "by_t"), Err(INDEX_NOT_FOUND));
    assert_eq!(ask(require, "$.n == 7", ""), Ok(Some("by_n".to_owned())));
    assert_eq!(ask(require, "$.other == 7", ""), Err(INDEX_NOT_FOUND));
}

#[test]
fn what_is_no_question_is_refused() {
    let (_cluster, mut raw) = start("8.2.0.0");
    // The last one is fine, but the embedded cluster has no regular expressions of 8.2.
    for text in [&b"$.n =="[..], b"", b"$.n + 1", b"\xff", b"$.t =~ /a/"] {
        assert_eq!(explain(&mut raw, 0, text, &[SET]), Err(PARAMETER), "{text:?}");
        assert_eq!(run(&mut raw, text, &[]), Err(PARAMETER), "{text:?}");
    }
    for flags in [0x01, 0x10, 0x80] {
        assert_eq!(explain(&mut raw, flags, b"true", &[SET]), Err(PARAMETER), "{flags}");
    }
    assert_eq!(explain(&mut raw, 0, b"true", &[(field::NAMESPACE, b"nope")]), Err(NAMESPACE));
    assert_eq!(explain(&mut raw, 0, b"true", &[(field::SET, &[b's'; 64])]), Err(PARAMETER));
    assert_eq!(explain(&mut raw, 0, b"true", &[(field::INDEX_NAME, b"\xff")]), Err(PARAMETER));
}

/// How many records a query finds, or its result code.
fn run(raw: &mut Raw, text: &[u8], fields: &[(u8, &[u8])]) -> Result<usize, u8> {
    let partitions: Vec<u8> = (0..4096_u16).flat_map(u16::to_le_bytes).collect();
    let fields = [fields, &[SET, (field::PARTITIONS, &partitions)]].concat();
    raw.send(&asked(0, text, info3::PARTITION_DONE, &fields));
    let mut found = 0;
    loop {
        let (_, body) = raw.frame().unwrap();
        let mut at = 0;
        while at < body.len() {
            let (message, size) = Message::decode_prefix(&body[at..]).unwrap();
            at += size;
            match (message.header.result_code, message.header.info3 & info3::LAST) {
                (OK, 0) => found += 1,
                (OK, _) => return Ok(found),
                (code, _) => return Err(code),
            }
        }
    }
}

#[test]
fn queries_find_what_their_text_lets_pass() {
    let (_cluster, mut raw) = start("8.2.0.0");
    assert_eq!(run(&mut raw, b"$.n >= 5", &[]), Ok(15));
    // By a plan: the index without the name of its bin.
    let range = integers(b"", 3, 12);
    let plan = [(field::INDEX_NAME, &b"by_n"[..]), (field::INDEX_RANGE, &range)];
    assert_eq!(run(&mut raw, b"$.n >= 3 and $.n <= 12 and $.n % 2 == 0", &plan), Ok(5));
    assert_eq!(run(&mut raw, b"$.n >", &[]), Err(PARAMETER));
    let filter = [0x92, 0xcc, 0x80, 0xc4, 4, b't', b'r', b'u', b'e'];
    assert_eq!(run(&mut raw, b"true", &[(field::FILTER, &filter)]), Err(PARAMETER), "two conditions");
}

#[test]
fn nodes_before_8_2_know_nothing_of_it() {
    let (_cluster, mut raw) = start("8.1.2.0");
    assert_eq!(explain(&mut raw, 0, b"$.n == 7", &[SET]), Err(UNSUPPORTED));
    assert_eq!(run(&mut raw, b"$.n == 7", &[]), Ok(20));
}
