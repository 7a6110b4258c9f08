//! Requests that are wrong in one place: sizes, counts, kinds, flags, names, values.
//!
//! What operations carry stays as it was made: the recorded server does not survive all that is wrong in there.

use super::Random;
use aerolane_wire::message::{MESSAGE_HEADER_SIZE, Message};
use aerolane_wire::proto::PROTO_HEADER_SIZE;

const FIRST_FIELD: usize = PROTO_HEADER_SIZE + MESSAGE_HEADER_SIZE;

/// A field or an operation: where its four bytes of size stand, and where it ends.
type Part = (usize, usize);

/// Makes a request wrong; says how.
pub(super) fn break_request(random: &mut Random, bytes: &mut Vec<u8>) -> String {
    let (fields, ops) = parts(bytes);
    let what = match random.below(9) {
        0 => {
            // The numbers of fields and of operations.
            let at = *random.pick(&[PROTO_HEADER_SIZE + 19, PROTO_HEADER_SIZE + 21]);
            bytes[at] = bytes[at].wrapping_add(*random.pick(&[1, 0xff]));
            format!("count at {at} {}", bytes[at])
        }
        1 => {
            let (at, end) = *random.pick(&fields);
            let size = *random.pick(&[0, end - at - 5, end - at - 3, 0x7fff_ffff, 0xffff_ffff]);
            bytes[at..at + 4].copy_from_slice(&(size as u32).to_be_bytes());
            format!("size of the field at {at}: {size}")
        }
        2 if !ops.is_empty() => {
            let (at, end) = *random.pick(&ops);
            let size = *random.pick(&[0, 3, end - at - 5, end - at - 3, 0x7fff_ffff, 0xffff_ffff]);
            bytes[at..at + 4].copy_from_slice(&(size as u32).to_be_bytes());
            format!("size of the operation at {at}: {size}")
        }
        3 if !ops.is_empty() => {
            let (at, _) = *random.pick(&ops);
            bytes[at + 7] = *random.pick(&[0, 15, 16, 200, 255]);
            format!("length of the name at {at}: {}", bytes[at + 7])
        }
        4 if !ops.is_empty() => {
            let (at, _) = *random.pick(&ops);
            bytes[at + 4] = *random.pick(&[0, 6, 20, 21, 128, 255]);
            format!("type of the operation at {at}: {}", bytes[at + 4])
        }
        5 if !ops.is_empty() => {
            let (at, _) = *random.pick(&ops);
            bytes[at + 5] = *random.pick(&[5, 6, 10, 22, 24, 255]);
            format!("type of the value at {at}: {}", bytes[at + 5])
        }
        6 => {
            // Another namespace, or a digest that is too short.
            let at = random.pick(&fields).0;
            if bytes[at + 4] == 0 {
                bytes[at + 5] = b'x';
            } else {
                bytes.remove(at + 5);
                let size = u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()).wrapping_sub(1);
                bytes[at..at + 4].copy_from_slice(&size.to_be_bytes());
            }
            format!("contents of the field at {at}")
        }
        7 => {
            let cut = 1 + random.below(8);
            bytes.truncate(bytes.len().saturating_sub(cut).max(FIRST_FIELD));
            format!("{cut} bytes fewer")
        }
        _ => {
            let more = 1 + random.below(8);
            bytes.extend(std::iter::repeat_n(0, more));
            format!("{more} bytes more")
        }
    };
    let size = (bytes.len() - PROTO_HEADER_SIZE) as u64;
    bytes[2..PROTO_HEADER_SIZE].copy_from_slice(&size.to_be_bytes()[2..]);
    what
}

/// The fields and the operations of a sound request.
fn parts(bytes: &[u8]) -> (Vec<Part>, Vec<Part>) {
    let Ok((message, _)) = Message::decode_prefix(&bytes[PROTO_HEADER_SIZE..]) else { return Default::default() };
    let mut at = FIRST_FIELD;
    let mut take = |n: u16| -> Vec<Part> {
        let next = |_| {
            let size = u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
            let part = (at, at + 4 + size);
            at = part.1;
            part
        };
        (0..n).map(next).collect()
    };
    let fields = take(message.header.n_fields);
    (fields, take(message.header.n_ops))
}
