//! Bit and HLL operations on bins.

use super::bin_set::BinSet;
use crate::exp::BinSource;
use crate::value::Value;
use crate::{bits, code, hll};
use aerolane_wire::message::{Op, op};
use aerolane_wire::particle::particle_type;
use std::borrow::Cow;

/// Payloads of bit operations have to come as blobs; those of HLL operations may come as anything.
fn check(op: &Op<'_>) -> Result<(), u8> {
    let is_bits = matches!(op.kind, op::BITS_READ | op::BITS_MODIFY);
    if is_bits && op.particle_type != particle_type::BLOB { Err(code::BIN_TYPE) } else { Ok(()) }
}

/// What a reading operation says of a bin: nothing if it is missing.
pub(super) fn read(op: &Op<'_>, bin: Option<(u8, &[u8])>) -> Result<Option<Value<'static>>, u8> {
    let Some((kind, value)) = bin else { return Ok(None) };
    check(op)?;
    let read = if op.kind == op::BITS_READ { bits::read } else { hll::read };
    read(op.value, kind, value).map(Some)
}

/// Carries out a modifying operation; gives its answer.
pub(super) fn modify<'a>(op: &Op<'a>, bins: &mut BinSet<'a>, max_size: usize) -> Result<Option<Value<'static>>, u8> {
    check(op)?;
    let bin = bins.bin(op.name);
    let (kind, value, answer) = if op.kind == op::BITS_MODIFY {
        (particle_type::BLOB, bits::modify(op.value, bin, max_size)?, None)
    } else {
        let modified = hll::modify(op.value, bin)?;
        (particle_type::HLL, modified.value, modified.answer)
    };
    if let Some(value) = value {
        bins.set(op.name, kind, Cow::Owned(value));
    }
    Ok(answer)
}
