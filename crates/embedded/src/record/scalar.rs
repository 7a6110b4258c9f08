//! Operations that change a scalar: add, append, prepend.

use super::bin_set::BinSet;
use crate::code;
use crate::particle::{checked, is_type};
use aerolane_wire::message::Op;
use aerolane_wire::particle::particle_type as t;
use std::borrow::Cow;

/// Adds to a number; a bin that is missing gets the value.
pub(super) fn incr<'a>(bins: &mut BinSet<'a>, op: &Op<'a>) -> Result<(), u8> {
    if !is_type(op.particle_type) {
        return Err(code::PARAMETER);
    }
    let Some(bin) = bins.get(op.name) else {
        bins.set(op.name, op.particle_type, checked(op.particle_type, op.value)?);
        return Ok(());
    };
    if bin.kind == t::GEOJSON {
        return Err(code::UNKNOWN);
    }
    if bin.kind != op.particle_type || !matches!(bin.kind, t::INTEGER | t::FLOAT) {
        return Err(code::BIN_TYPE);
    }
    let added = checked(op.particle_type, op.value)?;
    let (Ok(old), Ok(added)) = (<[u8; 8]>::try_from(&*bin.value), <[u8; 8]>::try_from(&*added)) else {
        return Err(code::PARAMETER);
    };
    let sum = if bin.kind == t::INTEGER {
        i64::from_be_bytes(old).wrapping_add(i64::from_be_bytes(added)).to_be_bytes()
    } else {
        (f64::from_be_bytes(old) + f64::from_be_bytes(added)).to_be_bytes()
    };
    bins.set(op.name, op.particle_type, Cow::Owned(sum.to_vec()));
    Ok(())
}

/// Which end is added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Front,
    Back,
}

/// Appends or prepends to a string or blob; a bin that is missing gets the value.
pub(super) fn extend<'a>(bins: &mut BinSet<'a>, op: &Op<'a>, end: End, max_size: usize) -> Result<(), u8> {
    if !is_type(op.particle_type) {
        return Err(code::PARAMETER);
    }
    let Some(bin) = bins.get(op.name) else {
        bins.set(op.name, op.particle_type, checked(op.particle_type, op.value)?);
        return Ok(());
    };
    if bin.kind == t::GEOJSON {
        return Err(code::UNKNOWN);
    }
    let blob_like = matches!(bin.kind, t::STRING | t::BLOB | 7..=12);
    if !blob_like || bin.kind != op.particle_type {
        return Err(code::BIN_TYPE);
    }
    if bin.value.len() + op.value.len() > max_size {
        return Err(code::RECORD_TOO_BIG);
    }
    let joined = match end {
        End::Front => [op.value, &bin.value].concat(),
        End::Back => [&bin.value, op.value].concat(),
    };
    bins.set(op.name, op.particle_type, Cow::Owned(joined));
    Ok(())
}
