//! Operations that read bits.

use super::{MAX_BYTES, MAX_INT_BITS, SIGNED, flags, offset, op, place, range, size};
use crate::code;
use crate::payload::Payload;
use crate::value::Value;
use aerolane_wire::particle::particle_type;
use std::borrow::Cow;

/// Carries out a reading operation on a bin. The error is a result code.
pub(crate) fn read(payload: &[u8], kind: u8, blob: &[u8]) -> Result<Value<'static>, u8> {
    let mut payload = Payload::open(payload)?;
    let number = payload.number;
    let (arguments, max_size) = match number {
        op::GET | op::COUNT => (2..=2, MAX_BYTES * 8),
        op::LSCAN | op::RSCAN => (3..=3, MAX_BYTES * 8),
        op::GET_INT => (2..=3, MAX_INT_BITS),
        _ => return Err(code::PARAMETER),
    };
    payload.takes(arguments)?;
    let offset = offset(&mut payload, MAX_BYTES * 8)?;
    let size = size(&mut payload, 1, max_size)?;
    let wanted = matches!(number, op::LSCAN | op::RSCAN) && payload.bool()?;
    let flags = flags(&mut payload, SIGNED)?;

    if kind != particle_type::BLOB {
        return Err(code::BIN_TYPE);
    }
    let offset = place(offset, blob.len() * 8)?;
    if offset + size > blob.len() * 8 {
        return Err(code::NOT_APPLICABLE);
    }
    Ok(match number {
        op::GET => Value::Blob(Cow::Owned(range::extract(blob, offset, size))),
        op::COUNT => {
            let ones: u32 = range::extract(blob, offset, size).iter().map(|byte| byte.count_ones()).sum();
            Value::Int(i64::from(ones))
        }
        op::GET_INT if flags & SIGNED != 0 => Value::Int(range::signed(range::load(blob, offset, size), size)),
        op::GET_INT => Value::Int(range::load(blob, offset, size) as i64),
        op::LSCAN => Value::Int(range::scan(blob, offset, size, wanted, true)),
        _ => match range::scan(blob, offset, size, wanted, false) {
            -1 => Value::Int(overrun(blob, offset, wanted)),
            found => Value::Int(found),
        },
    })
}

/// What the server answers to a search from the right that finds nothing: it looks on to the beginning of the byte in
/// which the range begins, and tells what it finds there as a negative offset; -1 if there is nothing, either.
fn overrun(blob: &[u8], offset: usize, wanted: bool) -> i64 {
    let in_byte = (1..=offset % 8).map(|back| (back, offset - back));
    let mut found = in_byte.filter(|(_, bit)| (blob[bit / 8] & (0x80 >> (bit % 8)) != 0) == wanted);
    found.next().map_or(-1, |(back, _)| -(back as i64))
}
