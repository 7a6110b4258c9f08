//! Compressed message frames (Enterprise Edition only; a Community Edition server answers code 25).
//!
//! Layout of the body (golden group `malformed`, scenario compressed): size of the whole plain frame with its proto
//! header (8 bytes, big-endian), then that frame as zlib data.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;

use crate::proto::{FrameType, PROTO_HEADER_SIZE, begin_frame, end_frame};
use crate::{WireError, WireErrorKind, WireResult};

/// Size of the word in front of the zlib data.
const SIZE_WORD: usize = 8;

/// Appends a compressed frame that holds `frame`, a whole plain frame with its proto header.
pub fn compress(out: &mut Vec<u8>, frame: &[u8]) -> WireResult<()> {
    let start = begin_frame(out, FrameType::CompressedMessage);
    out.extend_from_slice(&(frame.len() as u64).to_be_bytes());
    let mut encoder = ZlibEncoder::new(&mut *out, Compression::fast());
    let written = encoder.write_all(frame).and_then(|()| encoder.try_finish());
    drop(encoder);
    if written.is_err() {
        // A `Vec` takes every write, so only the compressor could fail.
        out.truncate(start);
        return Err(WireError::invalid("the frame cannot be compressed", 0));
    }
    end_frame(out, start)
}

/// The announced size of the plain frame, which must be at most `limit` and no less than a proto header.
pub fn plain_size(body: &[u8], limit: usize) -> WireResult<usize> {
    let Some(word) = body.first_chunk::<SIZE_WORD>() else {
        return Err(WireError::truncated(SIZE_WORD - body.len(), body.len()));
    };
    let size = u64::from_be_bytes(*word);
    if size > limit as u64 {
        let kind = WireErrorKind::TooLarge { what: "plain frame size", value: size, limit: limit as u64 };
        return Err(WireError::new(kind, 0));
    }
    if size < PROTO_HEADER_SIZE as u64 {
        return Err(WireError::new(WireErrorKind::TooSmall { what: "plain frame size", value: size }, 0));
    }
    Ok(size as usize)
}

/// Appends the plain frame (proto header included, not looked at) of a compressed frame's body to `out`.
///
/// The data must have exactly the announced size, which must be at most `limit`. `out` grows with the data that
/// really comes, not with the announced size. Its old length is restored after an error.
pub fn decompress(out: &mut Vec<u8>, body: &[u8], limit: usize) -> WireResult<()> {
    let size = plain_size(body, limit)?;
    let start = out.len();
    let mut decoder = ZlibDecoder::new(&body[SIZE_WORD..]);
    let result = (&mut decoder).take(size as u64 + 1).read_to_end(out);
    let kind = match (result, out.len() - start) {
        (Err(_), _) => WireErrorKind::Invalid("the zlib data is damaged"),
        (Ok(_), plain) if plain < size => WireErrorKind::Truncated { needed: size - plain },
        (Ok(_), plain) if plain > size => {
            WireErrorKind::TooLarge { what: "plain data", value: plain as u64, limit: size as u64 }
        }
        (Ok(_), _) => match body.len() - SIZE_WORD - decoder.total_in() as usize {
            0 => return Ok(()),
            extra => WireErrorKind::Trailing { extra },
        },
    };
    out.truncate(start);
    Err(WireError::new(kind, SIZE_WORD + decoder.total_in() as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_survive_compression() {
        for plain in [vec![7; 8], (0..4_000_u32).flat_map(u32::to_be_bytes).collect()] {
            let (mut packed, mut out) = (vec![], vec![1]);
            compress(&mut packed, &plain).unwrap();
            decompress(&mut out, &packed[8..], plain.len()).unwrap();
            assert_eq!(out[1..], plain);
            let too_small = decompress(&mut out, &packed[8..], plain.len() - 1).unwrap_err();
            assert!(matches!(too_small.kind, WireErrorKind::TooLarge { .. }));
            for cut in (8..packed.len()).step_by(1 + packed.len() / 20) {
                assert!(decompress(&mut out, &packed[8..cut], plain.len()).is_err());
            }
            packed.push(0);
            let trailing = decompress(&mut out, &packed[8..], plain.len()).unwrap_err();
            assert_eq!(trailing.kind, WireErrorKind::Trailing { extra: 1 });
            assert_eq!(out.len(), plain.len() + 1);
        }
    }

    #[test]
    fn a_bomb_stops_at_the_announced_size() {
        let mut packed = vec![];
        compress(&mut packed, &vec![0; 10_000_000]).unwrap();
        packed[8..16].copy_from_slice(&1000_u64.to_be_bytes());
        let mut out = vec![];
        let error = decompress(&mut out, &packed[8..], 1 << 20).unwrap_err();
        assert!(matches!(error.kind, WireErrorKind::TooLarge { .. }));
        assert!(out.capacity() < 10_000);
    }
}
