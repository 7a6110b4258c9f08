//! Bit operations on blobs. Semantics follow the golden group `bits`.
//!
//! A payload is checked as a whole before the bin is looked at; offsets and sizes are in bits, but for resize, insert
//! and remove, which count bytes. A negative offset counts from the end.
//!
//! Where it differs from the server, beyond what is recorded there: a partial operation that begins behind the first
//! byte ends with the blob (the server reckons with a size from its beginning), and the smallest 64-bit integer is no
//! offset (the server takes it for 0).

mod modify;
mod range;
mod read;

pub(crate) use modify::modify;
pub(crate) use read::read;

use crate::code;
use crate::payload::Payload;
use aerolane_wire::operation::bit::code as op;

/// Largest offset or size, in bytes: no message is longer.
const MAX_BYTES: u64 = 128 * 1024 * 1024;
/// Largest integer, in bits.
const MAX_INT_BITS: u64 = 64;

/// The integer is signed: flag of add, subtract and get.
const SIGNED: u64 = 1;

/// An offset of at most `max` in both directions.
fn offset(payload: &mut Payload<'_>, max: u64) -> Result<i64, u8> {
    let offset = payload.int()?;
    if offset.unsigned_abs() <= max { Ok(offset) } else { Err(code::PARAMETER) }
}

/// A size from `min` to `max`.
fn size(payload: &mut Payload<'_>, min: u64, max: u64) -> Result<usize, u8> {
    let size = payload.uint()?;
    if (min..=max).contains(&size) { Ok(size as usize) } else { Err(code::PARAMETER) }
}

/// Flags, of which only some are allowed; 0 if there is no such argument.
fn flags(payload: &mut Payload<'_>, allowed: u64) -> Result<u64, u8> {
    let flags = if payload.has_more() { payload.uint()? } else { 0 };
    if flags & !allowed == 0 { Ok(flags) } else { Err(code::PARAMETER) }
}

/// The place that an offset means in a blob with `len` units; a negative one has to lie inside.
fn place(offset: i64, len: usize) -> Result<usize, u8> {
    let place = if offset < 0 { len as i64 + offset } else { offset };
    usize::try_from(place).map_err(|_| code::PARAMETER)
}
