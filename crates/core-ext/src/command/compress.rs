//! Compressed frames (Enterprise Edition): zlib behind the size of the plain frame.

use std::io::{Read, Write};

use aerolane_wire::proto::{self, FrameType, MAX_BODY_SIZE, PROTO_HEADER_SIZE, PROTO_VERSION, ProtoHeader};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use crate::error::{Error, Result};

/// Proto header and size word in front of the compressed bytes.
const PREFIX: usize = PROTO_HEADER_SIZE + 8;

/// Compresses the frame that starts at `start` and reaches to the end, if it has more than `threshold` bytes and
/// becomes smaller by it.
pub(crate) fn request(out: &mut Vec<u8>, start: usize, threshold: usize) {
    let plain = out.len() - start;
    if plain <= threshold {
        return;
    }
    let mut encoder = ZlibEncoder::new(Vec::with_capacity(plain / 2), Compression::fast());
    // Writing to a vector cannot fail; if it did, the plain frame goes out, which every server takes.
    let Ok(compressed) = encoder.write_all(&out[start..]).and_then(|()| encoder.finish()) else { return };
    if PREFIX + compressed.len() >= plain {
        return;
    }
    let header = ProtoHeader {
        version: PROTO_VERSION,
        frame_type: FrameType::CompressedMessage,
        body_size: compressed.len() + 8,
    };
    out.truncate(start);
    out.extend_from_slice(&header.encode());
    out.extend_from_slice(&(plain as u64).to_be_bytes());
    out.extend_from_slice(&compressed);
}

/// The body of the message frame inside the body of a compressed frame.
///
/// Fails if the announced size is beyond the bound of a frame, or not the size that comes out.
pub fn inflate(body: &[u8]) -> Result<Vec<u8>> {
    let Some((size, compressed)) = body.split_first_chunk::<8>() else {
        return Err(Error::bad_response("a compressed frame without its size"));
    };
    let size = u64::from_be_bytes(*size);
    let Some(inner) = size.checked_sub(PROTO_HEADER_SIZE as u64).filter(|inner| *inner <= MAX_BODY_SIZE as u64) else {
        return Err(Error::bad_response(format!("a compressed frame that announces {size} bytes")));
    };
    let mut decoder = ZlibDecoder::new(compressed).take(size + 1);
    let mut head = [0; PROTO_HEADER_SIZE];
    let mut plain = Vec::new();
    let read = decoder.read_exact(&mut head).and_then(|()| decoder.read_to_end(&mut plain));
    read.map_err(|e| Error::bad_response(format!("a compressed frame that cannot be inflated: {e}")))?;
    let header = ProtoHeader::decode(&head, MAX_BODY_SIZE)?;
    if plain.len() as u64 != inner || header.body_size != plain.len() || header.frame_type != FrameType::Message {
        return Err(Error::bad_response("a compressed frame that does not hold one message of the announced size"));
    }
    Ok(plain)
}

/// The body of a message frame, inflated if it came compressed. `scratch` keeps the inflated bytes.
pub fn message_body<'a>(frame: &proto::Frame<'a>, scratch: &'a mut Vec<u8>) -> Result<&'a [u8]> {
    match frame.header.frame_type {
        FrameType::Message => Ok(frame.body),
        FrameType::CompressedMessage => {
            *scratch = inflate(frame.body)?;
            Ok(scratch)
        }
        other => Err(Error::bad_response(format!("a frame of type {other:?} where a message was expected"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(body: &[u8]) -> Vec<u8> {
        let mut out = vec![0xee];
        let start = proto::begin_frame(&mut out, FrameType::Message);
        out.extend_from_slice(body);
        proto::end_frame(&mut out, start).unwrap();
        out
    }

    #[test]
    fn a_frame_that_shrinks_is_compressed_and_comes_back() {
        let plain = frame(&[7; 1000]);
        let mut out = plain.clone();
        request(&mut out, 1, 128);
        assert!(out.len() < 100 && out[0] == 0xee);
        let (packed, total) = proto::split_frame(&out[1..], MAX_BODY_SIZE).unwrap().unwrap();
        assert_eq!((packed.header.frame_type, total), (FrameType::CompressedMessage, out.len() - 1));
        let mut scratch = vec![];
        assert_eq!(message_body(&packed, &mut scratch).unwrap(), [7; 1000]);
    }

    #[test]
    fn small_and_incompressible_frames_stay_plain() {
        let small = frame(&[7; 100]);
        let mut out = small.clone();
        request(&mut out, 1, 128);
        assert_eq!(out, small);
        let noise: Vec<u8> = (0u32..500).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let dense = frame(&noise);
        let mut out = dense.clone();
        request(&mut out, 1, 0);
        assert_eq!(out, dense);
    }

    #[test]
    fn wrong_sizes_and_garbage_are_errors() {
        let mut out = frame(&[7; 1000]);
        request(&mut out, 1, 0);
        let body = out[9..].to_vec();
        assert_eq!(inflate(&body).unwrap().len(), 1000);
        for cut in 0..body.len() {
            assert!(inflate(&body[..cut]).is_err(), "{cut}");
        }
        for announced in [0u64, 7, 1007, 1009, u64::MAX, 200 << 20] {
            let mut wrong = body.clone();
            wrong[..8].copy_from_slice(&announced.to_be_bytes());
            assert!(inflate(&wrong).is_err(), "{announced}");
        }
        assert!(inflate(&[&1008u64.to_be_bytes()[..], &[0x55; 40]].concat()).is_err());
    }
}
