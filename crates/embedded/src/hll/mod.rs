//! HyperLogLog operations. Semantics and bytes follow the golden group `hll`.
//!
//! A bin's value is flags, index bits and min-hash bits (1 byte each), the cached count (8 bytes, little-endian, 0 =
//! not known) and the registers, bit-packed from the highest bit on.

mod estimate;
mod murmur;
mod operation;
mod sketch;

pub(crate) use operation::{modify, read};
pub(crate) use sketch::is_sound;
