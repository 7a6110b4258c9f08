//! A large answer on its way: it gathers in memory of its own, which goes to whoever asked for it. It is copied once less than one
//! that is handed over from a read, and what grows with it is not copied again and again.

use aerolane_wire::proto::{FrameType, MAX_BODY_SIZE, PROTO_HEADER_SIZE, ProtoHeader};

/// From this size of a body on.
pub(super) const LARGE: usize = 32 * 1024;
/// So much memory is taken on the word of a header; more as bytes come.
pub(crate) const RESERVED_AT_ONCE: usize = 1024 * 1024;

/// The body of one frame that has not come whole yet.
#[derive(Debug)]
pub(super) struct Large {
    body: Vec<u8>,
    size: usize,
}

impl Large {
    /// `bytes` begin with a frame that is not whole: takes what has come of its body, if that is large, and a plain message.
    pub(super) fn begin(bytes: &[u8]) -> Option<Self> {
        let (header, begun) = bytes.split_first_chunk::<PROTO_HEADER_SIZE>()?;
        let ProtoHeader { body_size: size, frame_type, .. } = ProtoHeader::decode(header, MAX_BODY_SIZE).ok()?;
        if size < LARGE || frame_type != FrameType::Message {
            return None;
        }
        let mut body = Vec::with_capacity(size.min(RESERVED_AT_ONCE.max(begun.len())));
        body.extend_from_slice(begun);
        Some(Self { body, size })
    }

    /// Takes what is its own of bytes that have come. Says how many these are.
    pub(super) fn take(&mut self, bytes: &[u8]) -> usize {
        let own = bytes.len().min(self.size - self.body.len());
        if self.body.capacity() - self.body.len() < own {
            // Twice the memory, but no more than the whole: it is kept for as long as the answer.
            let more = self.body.len().max(own).min(self.size - self.body.len());
            self.body.reserve_exact(more);
        }
        self.body.extend_from_slice(&bytes[..own]);
        own
    }

    pub(super) fn is_whole(&self) -> bool {
        self.body.len() == self.size
    }

    pub(super) fn into_body(self) -> Vec<u8> {
        self.body
    }
}

#[cfg(test)]
mod tests {
    use aerolane_wire::proto::{begin_frame, end_frame};

    use super::*;

    fn frame(kind: FrameType, size: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let start = begin_frame(&mut out, kind);
        out.extend((0..size).map(|n| (n % 251) as u8));
        end_frame(&mut out, start).unwrap();
        out
    }

    #[test]
    fn what_comes_in_pieces_is_whole_in_the_end_and_takes_nothing_of_what_follows() {
        for size in [LARGE, LARGE + 1, RESERVED_AT_ONCE, 3 * RESERVED_AT_ONCE + 17] {
            let whole = frame(FrameType::Message, size);
            let mut large = Large::begin(&whole[..PROTO_HEADER_SIZE + 5]).unwrap();
            let mut rest = [&whole[PROTO_HEADER_SIZE + 5..], b"next"].concat();
            while !large.is_whole() {
                let piece = rest.len().min(60_000);
                let own = large.take(&rest[..piece]);
                assert!(own > 0);
                rest.drain(..own);
            }
            assert_eq!(rest, b"next");
            assert_eq!(large.take(&rest), 0);
            let body = large.into_body();
            assert_eq!(body, whole[PROTO_HEADER_SIZE..]);
            assert_eq!(body.capacity(), size);
        }
    }

    #[test]
    fn only_plain_messages_that_are_large_and_whose_header_is_there() {
        assert!(Large::begin(&frame(FrameType::Message, LARGE - 1)).is_none());
        assert!(Large::begin(&frame(FrameType::CompressedMessage, LARGE)).is_none());
        assert!(Large::begin(&frame(FrameType::Message, LARGE)[..PROTO_HEADER_SIZE - 1]).is_none());
        assert!(Large::begin(&[]).is_none());
    }

    #[test]
    fn a_header_alone_reserves_little() {
        let mut header = frame(FrameType::Message, LARGE);
        header.truncate(PROTO_HEADER_SIZE);
        // 100 MiB, it says.
        header[2..PROTO_HEADER_SIZE].copy_from_slice(&(100u64 << 20).to_be_bytes()[2..]);
        assert!(Large::begin(&header).unwrap().body.capacity() <= RESERVED_AT_ONCE);
    }
}
