//! Admin messages: what is read is written to the same bytes, but for the unused ones of the header.
#![no_main]

use aerolane_wire::admin::{AdminMessage, encode_block};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    let Ok((message, size)) = AdminMessage::decode_prefix(body) else { return };
    let _ = message.session();
    let mut out = vec![];
    encode_block(&mut out, message.header, message.fields()).expect("what was read can be written");
    assert_eq!(out.len(), size);
    assert_eq!((&out[..4], &out[16..]), (&body[..4], &body[16..size]));
    assert_eq!(AdminMessage::decode(body).is_ok(), size == body.len());
});
