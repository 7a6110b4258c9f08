//! The 8-byte proto header in front of every frame, and the incremental frame decoder.
//!
//! Layout (checked against a server, golden group `malformed`): version (1 byte), type (1 byte), body size
//! (48 bits, big-endian). Version 2 everywhere but in admin frames, where the server takes 0 and 2.

use crate::{WireError, WireErrorKind, WireResult};

/// Size of the proto header in bytes.
pub const PROTO_HEADER_SIZE: usize = 8;
/// The protocol version of everything we send.
pub const PROTO_VERSION: u8 = 2;
/// The largest body that a server takes (128 MiB); above it, it closes the connection.
pub const MAX_BODY_SIZE: usize = 128 * 1024 * 1024;

/// What a frame holds. (Type 5 is for replication between clusters; a server takes it from clients and never answers.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FrameType {
    /// Info text, both ways.
    Info = 1,
    /// Login and user administration.
    Admin = 2,
    /// A message: single-record, batch, query.
    Message = 3,
    /// A zlib-compressed message behind an 8-byte size of the whole plain frame. Enterprise Edition only.
    CompressedMessage = 4,
}

impl FrameType {
    /// The type with this byte, if there is one.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Self::Info,
            2 => Self::Admin,
            3 => Self::Message,
            4 => Self::CompressedMessage,
            _ => return None,
        })
    }
}

/// A decoded proto header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProtoHeader {
    /// The version byte as it came (0 is possible in admin frames).
    pub version: u8,
    /// What the body holds.
    pub frame_type: FrameType,
    /// Size of the body in bytes, at most [`MAX_BODY_SIZE`].
    pub body_size: usize,
}

impl ProtoHeader {
    /// Decodes the header from the first 8 bytes; the body size must not exceed `max_body`.
    pub fn decode(bytes: &[u8; PROTO_HEADER_SIZE], max_body: usize) -> WireResult<Self> {
        let word = u64::from_be_bytes(*bytes);
        let (version, type_byte) = (bytes[0], bytes[1]);
        let Some(frame_type) = FrameType::from_byte(type_byte) else {
            return Err(WireError::new(WireErrorKind::FrameType(type_byte), 1));
        };
        if version != PROTO_VERSION && !(version == 0 && frame_type == FrameType::Admin) {
            return Err(WireError::new(WireErrorKind::Version(version), 0));
        }
        let body_size = word & 0xffff_ffff_ffff;
        if body_size > max_body as u64 {
            let kind = WireErrorKind::TooLarge { what: "frame size", value: body_size, limit: max_body as u64 };
            return Err(WireError::new(kind, 2));
        }
        Ok(Self { version, frame_type, body_size: body_size as usize })
    }

    /// The 8 bytes of the header.
    #[must_use]
    #[inline]
    pub fn encode(self) -> [u8; PROTO_HEADER_SIZE] {
        let mut bytes = (self.body_size as u64).to_be_bytes();
        bytes[0] = self.version;
        bytes[1] = self.frame_type as u8;
        bytes
    }
}

/// Appends a header with a size to be filled in by [`end_frame`]; returns where the frame starts.
#[inline]
pub fn begin_frame(out: &mut Vec<u8>, frame_type: FrameType) -> usize {
    let start = out.len();
    out.extend_from_slice(&ProtoHeader { version: PROTO_VERSION, frame_type, body_size: 0 }.encode());
    start
}

/// Fills in the size of the frame that starts at `start` and reaches to the end of `out`.
#[inline]
pub fn end_frame(out: &mut [u8], start: usize) -> WireResult<()> {
    let size = out.len().saturating_sub(start + PROTO_HEADER_SIZE);
    if size > MAX_BODY_SIZE {
        let kind = WireErrorKind::TooLarge { what: "frame size", value: size as u64, limit: MAX_BODY_SIZE as u64 };
        return Err(WireError::new(kind, size));
    }
    out[start + 2..start + PROTO_HEADER_SIZE].copy_from_slice(&(size as u64).to_be_bytes()[2..]);
    Ok(())
}

/// One whole frame, borrowed from the received bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The header.
    pub header: ProtoHeader,
    /// The body, `header.body_size` bytes.
    pub body: &'a [u8],
}

/// Splits the front of `bytes` into a frame. `Ok(None)`: more bytes are needed.
///
/// The second value is the size of the whole frame, header included.
pub fn split_frame(bytes: &[u8], max_body: usize) -> WireResult<Option<(Frame<'_>, usize)>> {
    let Some(head) = bytes.first_chunk::<PROTO_HEADER_SIZE>() else {
        return Ok(None);
    };
    let header = ProtoHeader::decode(head, max_body)?;
    let total = PROTO_HEADER_SIZE + header.body_size;
    Ok(bytes.get(PROTO_HEADER_SIZE..total).map(|body| (Frame { header, body }, total)))
}

/// How much a [`FrameDecoder`] keeps allocated when it is empty.
const KEEP_CAPACITY: usize = 256 * 1024;

/// Turns bytes that arrive in any pieces into whole frames.
///
/// The buffer grows with the bytes that really came, never with an announced size.
#[derive(Debug, Default)]
pub struct FrameDecoder {
    buffer: Vec<u8>,
    /// How much of `buffer` has been handed out.
    consumed: usize,
    max_body: usize,
}

impl FrameDecoder {
    /// A decoder for frames with bodies of at most `max_body` bytes (see [`MAX_BODY_SIZE`]).
    #[must_use]
    pub const fn new(max_body: usize) -> Self {
        Self { buffer: Vec::new(), consumed: 0, max_body }
    }

    /// Takes in received bytes.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.compact();
        self.buffer.extend_from_slice(bytes);
    }

    /// The buffer to read into directly: append to it, never touch what is there.
    pub fn spare(&mut self) -> &mut Vec<u8> {
        self.compact();
        &mut self.buffer
    }

    /// The next whole frame, `None` when more bytes are needed. After an error the stream cannot be used on.
    pub fn next_frame(&mut self) -> WireResult<Option<Frame<'_>>> {
        match split_frame(&self.buffer[self.consumed..], self.max_body)? {
            Some((frame, total)) => {
                self.consumed += total;
                Ok(Some(frame))
            }
            None => Ok(None),
        }
    }

    /// Bytes that came and belong to no frame handed out yet.
    #[must_use]
    pub fn pending(&self) -> &[u8] {
        &self.buffer[self.consumed..]
    }

    /// Forgets everything (for a new connection).
    pub fn clear(&mut self) {
        self.buffer.clear();
        self.consumed = 0;
    }

    fn compact(&mut self) {
        if self.consumed == 0 {
            return;
        }
        if self.consumed == self.buffer.len() {
            self.buffer.clear();
            self.buffer.shrink_to(KEEP_CAPACITY);
        } else {
            self.buffer.drain(..self.consumed);
        }
        self.consumed = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(body: &[u8]) -> Vec<u8> {
        let mut out = vec![];
        let start = begin_frame(&mut out, FrameType::Message);
        out.extend_from_slice(body);
        end_frame(&mut out, start).unwrap();
        out
    }

    #[test]
    fn any_split_gives_the_same_frames() {
        let mut stream = frame(b"first");
        stream.extend(frame(b""));
        stream.extend(frame(&[7; 300]));
        for piece in 1..stream.len() {
            let mut decoder = FrameDecoder::new(MAX_BODY_SIZE);
            let mut bodies = vec![];
            for chunk in stream.chunks(piece) {
                decoder.extend(chunk);
                while let Some(frame) = decoder.next_frame().unwrap() {
                    bodies.push(frame.body.to_vec());
                }
            }
            assert_eq!(bodies, [b"first".to_vec(), vec![], vec![7; 300]]);
            assert!(decoder.pending().is_empty());
        }
    }

    #[test]
    fn bad_headers_name_the_offset() {
        let decode = |bytes: [u8; 8]| ProtoHeader::decode(&bytes, 100).unwrap_err();
        assert_eq!(decode([1, 3, 0, 0, 0, 0, 0, 0]), WireError::new(WireErrorKind::Version(1), 0));
        assert_eq!(decode([2, 9, 0, 0, 0, 0, 0, 0]), WireError::new(WireErrorKind::FrameType(9), 1));
        assert_eq!(decode([2, 3, 0, 0, 0, 0, 0, 101]).offset, 2);
        assert_eq!(decode([0, 3, 0, 0, 0, 0, 0, 1]).kind, WireErrorKind::Version(0));
        assert!(ProtoHeader::decode(&[0, 2, 0, 0, 0, 0, 0, 1], 100).is_ok());
    }
}
