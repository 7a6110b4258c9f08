//! Info text: lines cover the input, and answers with a tab are written to the same bytes.
#![no_main]

use aerolane_wire::info::{AnswerWriter, Answers, Command, Lines, encode_request, pairs};
use aerolane_wire::proto::PROTO_HEADER_SIZE;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
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
});
