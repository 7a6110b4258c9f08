//! A frame of a query's answer, looked through once as it comes: where its messages lie, and what the query has to know
//! of each. Whoever consumes the records walks their messages a second time, to decode them, and nobody does so in
//! between.

use std::ops::Range;

use aerolane_wire::digest::{DIGEST_SIZE, Digest};
use aerolane_wire::message::{field, info3, pass_message_with};
use aerospike_core::ResultCode;

use crate::command::decode::result_code;
use crate::error::Result;

/// A frame's body, with its messages known.
#[derive(Debug)]
pub(super) struct Frame {
    body: Vec<u8>,
    messages: Vec<MessageLayout>,
    /// How many of them were handed out, and where the next one begins.
    next: usize,
    at: usize,
}

/// What was seen of a message. Sizes and places fit, as a body has at most 128 MiB.
#[derive(Debug, Clone, Copy)]
struct MessageLayout {
    size: u32,
    /// Where in the message the digest lies; 0: it has none.
    digest: u32,
    /// Where in the message the record's value in the index lies; 0: it has none.
    index_value: u32,
}

/// A message of a frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'a> {
    /// All of it.
    pub(super) message: &'a [u8],
    seen: MessageLayout,
}

/// Whether an answer goes on after a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Continuation {
    More,
    /// It says that it is the last one.
    Last,
    /// It says that the query has failed; a query that is refused is answered without the mark of the last one.
    Failed,
}

impl Frame {
    /// Looks through a body. Also says how many records it holds, and whether more frames follow.
    ///
    /// # Errors
    /// Its messages cannot be told apart.
    pub(super) fn look_through(body: Vec<u8>) -> Result<(Self, u32, Continuation)> {
        let mut messages = Vec::with_capacity((body.len() / USUAL_SIZE).min(MOST_ROOM) + 1);
        let (mut at, mut records, mut continuation) = (0, 0, Continuation::More);
        while continuation == Continuation::More && at < body.len() {
            let message = &body[at..];
            let mut seen = MessageLayout { size: 0, digest: 0, index_value: 0 };
            let look = |kind: u8, value: Range<usize>| match kind {
                field::DIGEST if value.len() == DIGEST_SIZE => seen.digest = value.start as u32,
                field::BVALS if value.len() == size_of::<u64>() => seen.index_value = value.start as u32,
                _ => {}
            };
            let (size, flags) = pass_message_with(message, look).map_err(|error| error.shifted(at))?;
            seen.size = size as u32;
            messages.push(seen);
            at += size;
            if flags & info3::LAST != 0 {
                continuation = Continuation::Last;
            } else if flags & info3::PARTITION_DONE == 0 {
                match result_code(message) {
                    Some(ResultCode::Ok) => records += 1,
                    _ => continuation = Continuation::Failed,
                }
            }
        }
        Ok((Self { body, messages, next: 0, at: 0 }, records, continuation))
    }

    /// The next message.
    pub(super) fn next(&mut self) -> Option<Part<'_>> {
        let seen = *self.messages.get(self.next)?;
        let message = &self.body[self.at..][..seen.size as usize];
        self.next += 1;
        self.at += message.len();
        Some(Part { message, seen })
    }
}

/// Room for messages of this size, in bytes, is there from the beginning; up to so many of them.
const USUAL_SIZE: usize = 100;
const MOST_ROOM: usize = 16 * 1024;

impl Part<'_> {
    /// The flags of its header, see [`info3`].
    pub(super) const fn flags(&self) -> u8 {
        self.message[3]
    }

    pub(super) const fn result_code(&self) -> u8 {
        self.message[5]
    }

    /// The record's digest.
    pub(super) fn digest(&self) -> Option<&Digest> {
        self.found(self.seen.digest)
    }

    /// The record's value in the index that the query goes by; 0 without an index.
    pub(super) fn index_value(&self) -> u64 {
        self.found(self.seen.index_value).map_or(0, |value| u64::from_le_bytes(*value))
    }

    fn found<const N: usize>(&self, place: u32) -> Option<&[u8; N]> {
        let at = (place > 0).then_some(place as usize)?;
        self.message.get(at..)?.first_chunk()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aerolane_wire::message::{MessageHeader, MessageWriter, op};
    use aerolane_wire::particle::Particle;

    /// A message with a set and a bin in front of, and behind, what is looked for.
    fn message(info3: u8, result_code: u8, fields: &[(u8, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let header = MessageHeader { info3, result_code, generation: 7, ..MessageHeader::default() };
        let mut writer = MessageWriter::bare(&mut bytes, &header);
        writer.field(field::SET, b"people");
        for (kind, value) in fields {
            writer.field(*kind, value);
        }
        writer.op(op::READ, b"n", Particle::Integer(1)).unwrap();
        writer.finish().unwrap();
        bytes
    }

    fn record(digest: &[u8], index_value: &[u8]) -> Vec<u8> {
        message(0, 0, &[(field::DIGEST, digest), (field::BVALS, index_value)])
    }

    #[test]
    fn messages_come_in_order_with_what_was_seen_of_them() {
        let (first, second) = (record(&[1; 20], &9_u64.to_le_bytes()), message(0, 0, &[(field::DIGEST, &[2; 20])]));
        let done = message(info3::PARTITION_DONE, 11, &[]);
        let last = message(info3::LAST, 0, &[]);
        let body = [&first[..], &second, &done, &last, &first].concat();
        let (mut frame, records, continuation) = Frame::look_through(body).unwrap();
        assert_eq!((records, continuation), (2, Continuation::Last));
        let expected = [
            (&first, Some(&[1; 20]), 9, 0, 0),
            (&second, Some(&[2; 20]), 0, 0, 0),
            (&done, None, 0, info3::PARTITION_DONE, 11),
            (&last, None, 0, info3::LAST, 0),
        ];
        for (message, digest, index_value, flags, result_code) in expected {
            let part = frame.next().unwrap();
            assert_eq!((part.message, part.digest(), part.index_value()), (&message[..], digest, index_value));
            assert_eq!((part.flags(), part.result_code()), (flags, result_code));
        }
        assert!(frame.next().is_none(), "what comes behind the last message is not looked at");
    }

    #[test]
    fn a_failure_is_the_end() {
        let body = [record(&[1; 20], &[0; 8]), message(0, 4, &[]), record(&[2; 20], &[0; 8])].concat();
        let (mut frame, records, continuation) = Frame::look_through(body).unwrap();
        assert_eq!((records, continuation), (1, Continuation::Failed));
        let codes: Vec<_> = std::iter::from_fn(|| frame.next().map(|part| part.result_code())).collect();
        assert_eq!(codes, [0, 4]);
    }

    #[test]
    fn fields_of_a_wrong_size_are_none() {
        for size in [0, 19, 21] {
            let (mut frame, ..) = Frame::look_through(record(&vec![1; size], &[1; 7])).unwrap();
            let part = frame.next().unwrap();
            assert_eq!((part.digest(), part.index_value()), (None, 0), "{size}");
        }
    }

    #[test]
    fn nothing_outside_of_a_damaged_body_is_looked_at() {
        let whole = [record(&[1; 20], &[3; 8]), message(info3::LAST, 0, &[])].concat();
        for cut in 1..whole.len() {
            // Between two messages it is whole.
            assert_eq!(Frame::look_through(whole[..cut].to_vec()).is_ok(), cut == record(&[1; 20], &[3; 8]).len());
        }
        for at in 0..whole.len() {
            for byte in [0, 1, 0x7f, 0xff] {
                let mut body = whole.clone();
                body[at] = byte;
                let Ok((mut frame, ..)) = Frame::look_through(body) else { continue };
                let mut size = 0;
                while let Some(part) = frame.next() {
                    size += part.message.len();
                    let _ = (part.digest(), part.index_value(), part.flags(), part.result_code());
                }
                assert!(size <= whole.len());
            }
        }
    }
}
