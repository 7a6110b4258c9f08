//! Operations on the bits of blobs.

use aerolane_wire::msgpack::Writer;
use aerolane_wire::operation::bit;
use pyo3::prelude::*;

use super::BaseOperation;
use super::table::operations;
use crate::cdt::{BitPolicy, Choice, Overflow, Resize};
use crate::value::{self, Refused};

/// Operations on the bits of bytes bins. Offsets and sizes are in bits, except those named `byte_..`. Bit 0 is the
/// highest bit of the first byte; negative offsets count from the end. Values are bytes-like objects.
#[pyclass(frozen, extends = BaseOperation, module = "aerolane.native")]
pub(crate) struct BitOperation;

pub(crate) fn blob<'a>(value: &'a Bound<'_, PyAny>) -> impl FnOnce(&mut Writer<'_>) -> Result<(), Refused> + 'a {
    |writer| Ok(writer.blob(value::bytes_of(value)?.as_bytes()))
}

/// The blob, or some bytes of it, as base64 text.
pub(crate) fn base64(
    out: &mut Vec<u8>,
    byte_offset: Option<i64>,
    byte_size: Option<i64>,
    invert_size: bool,
) -> Result<u8, Refused> {
    match (byte_offset, byte_size) {
        (Some(offset), Some(size)) => Ok(bit::b64_encode(out, Some(offset), Some(size), invert_size.then_some(1))),
        (None, None) if !invert_size => Ok(bit::b64_encode(out, None, None, None)),
        _ => Err(Refused::value("byte_offset and byte_size are given both or not at all")),
    }
}

operations! {
    BitOperation, answers: true;

    /// Resizes the blob to a number of bytes; creates it if it is missing.
    resize(bin_name; byte_size: i64, resize_flags: Option<Choice<Resize>>, policy: PyRef<'_, BitPolicy>)
        = |out| bit::resize(out, byte_size, policy.flags_number(), Some(resize_flags.map_or(0, |f| f.0 as i64)));
    /// Inserts bytes.
    insert(bin_name; byte_offset: i64, value: Bound<'_, PyAny>, policy: PyRef<'_, BitPolicy>)
        = |out| bit::insert(out, byte_offset, blob(&value), policy.flags_number());
    /// Removes bytes.
    remove(bin_name; byte_offset: i64, byte_size: i64, policy: PyRef<'_, BitPolicy>)
        = |out| bit::remove(out, byte_offset, byte_size, policy.flags_number());
    /// Sets bits.
    set(bin_name; bit_offset: i64, bit_size: i64, value: Bound<'_, PyAny>, policy: PyRef<'_, BitPolicy>)
        = |out| bit::set(out, bit_offset, bit_size, blob(&value), policy.flags_number());
    /// Bitwise or.
    or_(bin_name; bit_offset: i64, bit_size: i64, value: Bound<'_, PyAny>, policy: PyRef<'_, BitPolicy>)
        = |out| bit::or(out, bit_offset, bit_size, blob(&value), policy.flags_number());
    /// Bitwise exclusive or.
    xor(bin_name; bit_offset: i64, bit_size: i64, value: Bound<'_, PyAny>, policy: PyRef<'_, BitPolicy>)
        = |out| bit::xor(out, bit_offset, bit_size, blob(&value), policy.flags_number());
    /// Bitwise and.
    and_(bin_name; bit_offset: i64, bit_size: i64, value: Bound<'_, PyAny>, policy: PyRef<'_, BitPolicy>)
        = |out| bit::and(out, bit_offset, bit_size, blob(&value), policy.flags_number());
    /// Inverts bits.
    not_(bin_name; bit_offset: i64, bit_size: i64, policy: PyRef<'_, BitPolicy>)
        = |out| bit::not(out, bit_offset, bit_size, policy.flags_number());
    /// Shifts bits to the left.
    lshift(bin_name; bit_offset: i64, bit_size: i64, shift: i64, policy: PyRef<'_, BitPolicy>)
        = |out| bit::lshift(out, bit_offset, bit_size, shift, policy.flags_number());
    /// Shifts bits to the right.
    rshift(bin_name; bit_offset: i64, bit_size: i64, shift: i64, policy: PyRef<'_, BitPolicy>)
        = |out| bit::rshift(out, bit_offset, bit_size, shift, policy.flags_number());
    /// Adds to an integer of 1 to 64 bits.
    add(
        bin_name; bit_offset: i64, bit_size: i64, value: i64, signed: bool, action: Choice<Overflow>,
        policy: PyRef<'_, BitPolicy>
    ) = |out| bit::add(out, bit_offset, bit_size, value, policy.flags_number(), action.0.number(signed));
    /// Subtracts from an integer of 1 to 64 bits.
    subtract(
        bin_name; bit_offset: i64, bit_size: i64, value: i64, signed: bool, action: Choice<Overflow>,
        policy: PyRef<'_, BitPolicy>
    ) = |out| bit::subtract(out, bit_offset, bit_size, value, policy.flags_number(), action.0.number(signed));
    /// Sets an integer of 1 to 64 bits.
    set_int(bin_name; bit_offset: i64, bit_size: i64, value: i64, policy: PyRef<'_, BitPolicy>)
        = |out| bit::set_int(out, bit_offset, bit_size, value, policy.flags_number());
    /// Returns bits, as bytes.
    get(bin_name; bit_offset: i64, bit_size: i64) = |out| bit::get(out, bit_offset, bit_size);
    /// Returns how many bits are set.
    count(bin_name; bit_offset: i64, bit_size: i64) = |out| bit::count(out, bit_offset, bit_size);
    /// Returns the offset of the first bit that equals `value`; -1 if there is none.
    lscan(bin_name; bit_offset: i64, bit_size: i64, value: bool) = |out| bit::lscan(out, bit_offset, bit_size, value);
    /// Returns the offset of the last bit that equals `value`; -1 if there is none.
    rscan(bin_name; bit_offset: i64, bit_size: i64, value: bool) = |out| bit::rscan(out, bit_offset, bit_size, value);
    /// Returns an integer of 1 to 64 bits.
    get_int(bin_name; bit_offset: i64, bit_size: i64, signed: bool)
        = |out| bit::get_int(out, bit_offset, bit_size, signed.then_some(1));
    /// Returns the blob, or some bytes of it, as base64 text. Offset and size are given both or not at all; with
    /// `invert_size` the size counts from the end. Server 8.2 and later.
    #[pyo3(signature = (bin_name, byte_offset=None, byte_size=None, invert_size=false))]
    b64_encode(bin_name; byte_offset: Option<i64>, byte_size: Option<i64>, invert_size: bool)
        = |out| base64(out, byte_offset, byte_size, invert_size);
}
