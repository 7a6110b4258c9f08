//! Compressed frames (Enterprise Edition): when a request becomes one, and what an answer holds.

use aerolane_wire::compress::{compress, decompress};
use aerolane_wire::message::{MESSAGE_HEADER_SIZE, MessageReader};
use aerolane_wire::proto::{self, Frame, FrameType, MAX_BODY_SIZE, PROTO_HEADER_SIZE};
use aerolane_wire::{WireError, WireResult};
use aerospike_core::ResultCode;

use crate::error::{Error, Result};

/// Compresses the frame that starts at `start` and reaches to the end, if it has more than `threshold` bytes and
/// becomes smaller by it.
pub fn request(out: &mut Vec<u8>, start: usize, threshold: usize) {
    let plain = out.len() - start;
    if plain <= threshold {
        return;
    }
    let mut packed = Vec::with_capacity(plain / 2);
    // If the compressor should fail, the plain frame goes out: every server takes it.
    if compress(&mut packed, &out[start..]).is_ok() && packed.len() < plain {
        out.truncate(start);
        out.extend_from_slice(&packed);
    }
}

/// The body of a message frame, inflated if it came compressed. `scratch` keeps the inflated bytes.
///
/// Fails if the announced size is beyond the bound of a frame or not the size that comes out, or if the inflated
/// bytes are not one message frame.
pub fn message_body<'a>(frame: &Frame<'a>, scratch: &'a mut Vec<u8>) -> Result<&'a [u8]> {
    match frame.header.frame_type {
        FrameType::Message => Ok(frame.body),
        FrameType::CompressedMessage => Ok(inflate(frame.body, scratch)?),
        other => Err(Error::bad_response(format!("a frame of type {other:?} where a message was expected"))),
    }
}

/// The body of the message frame in the body of a compressed one; see [`message_body`].
pub(crate) fn inflate<'a>(body: &[u8], scratch: &'a mut Vec<u8>) -> WireResult<&'a [u8]> {
    scratch.clear();
    decompress(scratch, body, PROTO_HEADER_SIZE + MAX_BODY_SIZE)?;
    match proto::split_frame(scratch, MAX_BODY_SIZE)? {
        Some((inner, size)) if inner.header.frame_type == FrameType::Message && size == scratch.len() => Ok(inner.body),
        _ => Err(WireError::invalid("a compressed frame that does not hold exactly one message frame", 0)),
    }
}

/// Whether a frame is compressed, to be asked of a request of ours.
pub(crate) fn is_compressed_request(frame: &[u8]) -> bool {
    frame.get(1) == Some(&(FrameType::CompressedMessage as u8))
}

/// Whether the body of the first frame of an answer says that the server takes no compressed requests. It is then the
/// whole answer, also of a batch, although it is not marked as its last message: the server has not looked into the
/// request (golden group `malformed`, scenario compressed).
///
/// To be asked only of answers to compressed requests: else the first row of a batch may have this outcome for reasons of
/// its own, and other frames follow.
pub(crate) fn is_refusal(body: &[u8]) -> bool {
    body.len() == MESSAGE_HEADER_SIZE
        && MessageReader::new(body)
            .is_ok_and(|message| ResultCode::from(message.header().result_code) == ResultCode::EnterpriseOnly)
}

/// Gives `decode` the message of an answer as a lane hands it out: a message body, or a whole compressed frame.
///
/// The two cannot be confused: a message begins with the size of its header (22), a frame with its version (2).
pub fn with_plain_body<R>(answer: &[u8], decode: impl FnOnce(&[u8]) -> Result<R>) -> Result<R> {
    if answer.first() != Some(&proto::PROTO_VERSION) {
        return decode(answer);
    }
    match proto::split_frame(answer, MAX_BODY_SIZE)? {
        Some((frame, total)) if total == answer.len() => decode(message_body(&frame, &mut Vec::new())?),
        _ => Err(Error::bad_response("an answer that is not exactly one frame")),
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
    fn answers_of_a_lane_are_decoded_plain_or_compressed() {
        let body = [22; 1000];
        assert_eq!(with_plain_body(&body, |plain| Ok(plain.len())).unwrap(), 1000);
        let mut packed = frame(&body);
        request(&mut packed, 1, 0);
        assert!(with_plain_body(&packed[1..], |plain| Ok(plain == body)).unwrap());
        let cut = &packed[1..packed.len() - 1];
        assert!(with_plain_body(cut, |_| Ok(())).is_err());
    }

    #[test]
    fn small_and_incompressible_frames_stay_plain() {
        let small = frame(&[7; 100]);
        let mut out = small.clone();
        request(&mut out, 1, 128);
        assert_eq!(out, small);
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .take(500)
        .collect();
        let dense = frame(&noise);
        let mut out = dense.clone();
        request(&mut out, 1, 0);
        assert_eq!(out, dense);
    }

    #[test]
    fn wrong_sizes_and_garbage_are_errors() {
        let mut packed = frame(&[7; 1000]);
        request(&mut packed, 1, 0);
        let open = |bytes: &[u8]| {
            let mut whole = vec![2, 4, 0, 0, 0, 0, 0, 0];
            whole.extend_from_slice(bytes);
            proto::end_frame(&mut whole, 0).unwrap();
            let (frame, _) = proto::split_frame(&whole, MAX_BODY_SIZE).unwrap().unwrap();
            message_body(&frame, &mut vec![]).map(<[u8]>::len)
        };
        let body = &packed[9..];
        assert_eq!(open(body).unwrap(), 1000);
        for cut in 0..body.len() {
            assert!(open(&body[..cut]).is_err(), "{cut}");
        }
        for announced in [0u64, 7, 1007, 1009, u64::MAX, 200 << 20] {
            let mut wrong = body.to_vec();
            wrong[..8].copy_from_slice(&announced.to_be_bytes());
            assert!(open(&wrong).is_err(), "{announced}");
        }
        for inner in [&b"2"[..], &[2, 3, 0, 0, 0, 0, 0, 1], &[2, 1, 0, 0, 0, 0, 0, 0], &[2, 3, 0, 0, 0, 0, 0, 0, 9]] {
            let mut wrong = vec![];
            compress(&mut wrong, inner).unwrap();
            assert!(open(&wrong[8..]).is_err(), "{inner:?}");
        }
    }

    #[test]
    fn other_frames_are_no_answers() {
        let (frame, _) = proto::split_frame(&[2, 1, 0, 0, 0, 0, 0, 0], MAX_BODY_SIZE).unwrap().unwrap();
        assert!(message_body(&frame, &mut vec![]).unwrap_err().to_string().contains("Info"));
    }
}
