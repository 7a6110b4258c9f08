//! Messages: what is read is written to the same bytes (but for the header-size byte).
#![no_main]

use aerolane_wire::message::{MESSAGE_HEADER_SIZE, MessageWriter, Messages};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    let mut at = 0;
    for message in Messages::new(body) {
        let Ok(message) = message else { return };
        let mut out = vec![];
        let mut writer = MessageWriter::bare(&mut out, &message.header);
        message.fields().for_each(|field| writer.field(field.kind, field.value));
        message.ops().for_each(|op| writer.raw_op(&op).expect("what was read can be written"));
        writer.finish().expect("what was read can be written");
        assert_eq!(usize::from(out[0]), MESSAGE_HEADER_SIZE);
        assert_eq!(out[1..], body[at + 1..at + out.len()]);
        at += out.len();
    }
    assert_eq!(at, body.len());
});
