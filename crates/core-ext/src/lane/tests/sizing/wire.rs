//! The bytes that client and servers exchange: real frames. The first four bytes of the digest are the token.

use aerolane_wire::message::{MESSAGE_HEADER_SIZE, MessageHeader, MessageWriter, field, info1, info2, op};
use aerolane_wire::particle::Particle;
use aerolane_wire::proto::{MAX_BODY_SIZE, PROTO_HEADER_SIZE, split_frame};

/// Where the token stands in the body of a frame: behind the header, and size and type of the first field.
const TOKEN: usize = MESSAGE_HEADER_SIZE + 5;

/// Frames that are encoded once and sent often.
pub(super) struct Frames {
    read: Vec<u8>,
    write: Vec<u8>,
    answer: Vec<u8>,
}

impl Frames {
    pub(super) fn new() -> Self {
        let frame = |info1, info2| {
            let mut out = Vec::new();
            let header = MessageHeader { info1, info2, ..MessageHeader::default() };
            let mut writer = MessageWriter::frame(&mut out, &header);
            writer.field(field::DIGEST, &[0; 20]);
            if info2 & info2::WRITE != 0 {
                // Without an operation it would pass for a UDF.
                writer.op(op::TOUCH, b"", Particle::Nil).unwrap();
            }
            writer.finish().unwrap();
            out
        };
        Self { read: frame(info1::READ | info1::GET_ALL, 0), write: frame(0, info2::WRITE), answer: frame(0, 0) }
    }

    /// A request.
    pub(super) fn request(&mut self, token: u32, write: bool) -> &[u8] {
        let frame = if write { &mut self.write } else { &mut self.read };
        frame[PROTO_HEADER_SIZE + TOKEN..][..4].copy_from_slice(&token.to_be_bytes());
        frame
    }

    /// Appends the answer to a request.
    pub(super) fn answer(&mut self, out: &mut Vec<u8>, token: u32) {
        self.answer[PROTO_HEADER_SIZE + TOKEN..][..4].copy_from_slice(&token.to_be_bytes());
        out.extend_from_slice(&self.answer);
    }
}

/// The token in the body of a frame.
pub(super) fn token(body: &[u8]) -> u32 {
    u32::from_be_bytes(*body[TOKEN..].first_chunk().unwrap())
}

/// Calls `each` with the token of each request in these bytes, and whether it writes.
pub(super) fn each_request(mut bytes: &[u8], mut each: impl FnMut(u32, bool)) {
    while let Some((frame, size)) = split_frame(bytes, MAX_BODY_SIZE).unwrap() {
        each(token(frame.body), frame.body[2] & info2::WRITE != 0);
        bytes = &bytes[size..];
    }
    assert!(bytes.is_empty(), "only whole requests are flushed");
}
