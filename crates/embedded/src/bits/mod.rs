//! Bit operations on blobs. Semantics follow the golden group `bits`.
//!
//! A payload is checked as a whole before the bin is looked at; offsets and sizes are in bits, but for resize, insert
//! and remove, which count bytes. A negative offset counts from the end.

mod modify;
mod range;
mod read;

pub(crate) use modify::modify;
pub(crate) use read::read;

use crate::code;
use crate::payload::Payload;

/// Largest offset or size, in bytes: no message is longer.
const MAX_BYTES: u64 = 128 * 1024 * 1024;
/// Largest integer, in bits.
const MAX_INT_BITS: u64 = 64;

/// Numbers of operations.
mod op {
    pub(super) const RESIZE: u64 = 0;
    pub(super) const INSERT: u64 = 1;
    pub(super) const REMOVE: u64 = 2;
    pub(super) const SET: u64 = 3;
    pub(super) const OR: u64 = 4;
    pub(super) const XOR: u64 = 5;
    pub(super) const AND: u64 = 6;
    pub(super) const NOT: u64 = 7;
    pub(super) const SHIFT_LEFT: u64 = 8;
    pub(super) const SHIFT_RIGHT: u64 = 9;
    pub(super) const ADD: u64 = 10;
    pub(super) const SUBTRACT: u64 = 11;
    pub(super) const SET_INT: u64 = 12;
    pub(super) const GET: u64 = 50;
    pub(super) const COUNT: u64 = 51;
    pub(super) const SCAN_LEFT: u64 = 52;
    pub(super) const SCAN_RIGHT: u64 = 53;
    pub(super) const GET_INT: u64 = 54;
}

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
