//! The incremental frame decoder: any chunking gives what whole input gives.
#![no_main]

use aerolane_wire::proto::{FrameDecoder, split_frame};
use libfuzzer_sys::fuzz_target;

const MAX_BODY: usize = 1 << 20;

fuzz_target!(|input: (u8, Vec<u8>)| {
    let (step, bytes) = input;
    let (mut whole, mut rest) = (vec![], &bytes[..]);
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
    for piece in bytes.chunks(usize::from(step) + 1) {
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
});
