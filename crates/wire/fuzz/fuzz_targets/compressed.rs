//! Compressed frames: never more than the limit, and what comes out survives our own compression.
#![no_main]

use aerolane_wire::compress::{compress, decompress, plain_size};
use aerolane_wire::proto::PROTO_HEADER_SIZE;
use libfuzzer_sys::fuzz_target;

const LIMIT: usize = 1 << 16;

fuzz_target!(|body: &[u8]| {
    let mut out = vec![];
    if decompress(&mut out, body, LIMIT).is_err() {
        assert!(out.is_empty());
        return;
    }
    assert_eq!(Ok(out.len()), plain_size(body, LIMIT));
    let (mut packed, mut again) = (vec![], vec![]);
    compress(&mut packed, &out).expect("small enough");
    decompress(&mut again, &packed[PROTO_HEADER_SIZE..], LIMIT).expect("what was written can be read");
    assert_eq!(out, again);
});
