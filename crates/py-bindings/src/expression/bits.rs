//! Operations on the bits of blobs. Negative offsets count from the end.

use aerolane_wire::operation::bit::code;
use pyo3::prelude::*;

use super::FilterExpression;
use super::part::{Exp, Module, OneIf, Part, call, modify as modified};
use super::table::expressions;
use crate::cdt::{BitPolicy, Choice, Ctx, ExpType, Overflow, Resize};

fn read(gives: ExpType, arguments: &[&dyn Part], bin: &Exp) -> PyResult<FilterExpression> {
    call(Module::Bits, gives, arguments, &Ctx::default(), bin)
}

fn modify(arguments: &[&dyn Part], bin: &Exp) -> PyResult<FilterExpression> {
    modified(Module::Bits, ExpType::Blob, arguments, &Ctx::default(), bin)
}

expressions! {
    /// The blob with another size, in bytes.
    bit_resize(policy: PyRef<'_, BitPolicy>, byte_size: Exp, resize_flags: Choice<Resize>, bin: Exp)
        = modify(&[&code::RESIZE, &byte_size, &policy.flags_number(), &(resize_flags.0 as u8)], &bin);
    /// The blob with bytes inserted at an offset in bytes.
    bit_insert(policy: PyRef<'_, BitPolicy>, byte_offset: Exp, value: Exp, bin: Exp)
        = modify(&[&code::INSERT, &byte_offset, &value, &policy.flags_number()], &bin);
    /// The blob without some bytes. Offset and size are in bytes.
    bit_remove(policy: PyRef<'_, BitPolicy>, byte_offset: Exp, byte_size: Exp, bin: Exp)
        = modify(&[&code::REMOVE, &byte_offset, &byte_size, &policy.flags_number()], &bin);
    /// The blob with bits set to those of `value` (bytes). Offsets and sizes are in bits, as in all that follow.
    bit_set(policy: PyRef<'_, BitPolicy>, bit_offset: Exp, bit_size: Exp, value: Exp, bin: Exp)
        = modify(&[&code::SET, &bit_offset, &bit_size, &value, &policy.flags_number()], &bin);
    /// The blob after a bitwise or with `value` (bytes).
    bit_or(policy: PyRef<'_, BitPolicy>, bit_offset: Exp, bit_size: Exp, value: Exp, bin: Exp)
        = modify(&[&code::OR, &bit_offset, &bit_size, &value, &policy.flags_number()], &bin);
    /// The blob after a bitwise exclusive or with `value` (bytes).
    bit_xor(policy: PyRef<'_, BitPolicy>, bit_offset: Exp, bit_size: Exp, value: Exp, bin: Exp)
        = modify(&[&code::XOR, &bit_offset, &bit_size, &value, &policy.flags_number()], &bin);
    /// The blob after a bitwise and with `value` (bytes).
    bit_and(policy: PyRef<'_, BitPolicy>, bit_offset: Exp, bit_size: Exp, value: Exp, bin: Exp)
        = modify(&[&code::AND, &bit_offset, &bit_size, &value, &policy.flags_number()], &bin);
    /// The blob with bits inverted.
    bit_not(policy: PyRef<'_, BitPolicy>, bit_offset: Exp, bit_size: Exp, bin: Exp)
        = modify(&[&code::NOT, &bit_offset, &bit_size, &policy.flags_number()], &bin);
    /// The blob with bits shifted to the left.
    bit_lshift(policy: PyRef<'_, BitPolicy>, bit_offset: Exp, bit_size: Exp, shift: Exp, bin: Exp)
        = modify(&[&code::LSHIFT, &bit_offset, &bit_size, &shift, &policy.flags_number()], &bin);
    /// The blob with bits shifted to the right.
    bit_rshift(policy: PyRef<'_, BitPolicy>, bit_offset: Exp, bit_size: Exp, shift: Exp, bin: Exp)
        = modify(&[&code::RSHIFT, &bit_offset, &bit_size, &shift, &policy.flags_number()], &bin);
    /// The blob with `value` added to an integer of up to 64 bits.
    bit_add(
        policy: PyRef<'_, BitPolicy>, bit_offset: Exp, bit_size: Exp, value: Exp, signed: bool, action:
        Choice<Overflow>, bin: Exp,
    )
        = modify(&[&code::ADD, &bit_offset, &bit_size, &value, &policy.flags_number(), &action.0.number(signed)], &bin);
    /// The blob with `value` subtracted from an integer of up to 64 bits.
    bit_subtract(
        policy: PyRef<'_, BitPolicy>, bit_offset: Exp, bit_size: Exp, value: Exp, signed: bool, action:
        Choice<Overflow>, bin: Exp,
    )
        = modify(&[
            &code::SUBTRACT, &bit_offset, &bit_size, &value, &policy.flags_number(), &action.0.number(signed),
        ], &bin);
    /// The blob with an integer of up to 64 bits set.
    bit_set_int(policy: PyRef<'_, BitPolicy>, bit_offset: Exp, bit_size: Exp, value: Exp, bin: Exp)
        = modify(&[&code::SET_INT, &bit_offset, &bit_size, &value, &policy.flags_number()], &bin);
    /// Bits, as bytes.
    bit_get(bit_offset: Exp, bit_size: Exp, bin: Exp)
        = read(ExpType::Blob, &[&code::GET, &bit_offset, &bit_size], &bin);
    /// How many bits are set.
    bit_count(bit_offset: Exp, bit_size: Exp, bin: Exp)
        = read(ExpType::Int, &[&code::COUNT, &bit_offset, &bit_size], &bin);
    /// The offset of the first bit that equals `value` (a bool); -1 if there is none.
    bit_lscan(bit_offset: Exp, bit_size: Exp, value: Exp, bin: Exp)
        = read(ExpType::Int, &[&code::LSCAN, &bit_offset, &bit_size, &value], &bin);
    /// The offset of the last bit that equals `value` (a bool); -1 if there is none.
    bit_rscan(bit_offset: Exp, bit_size: Exp, value: Exp, bin: Exp)
        = read(ExpType::Int, &[&code::RSCAN, &bit_offset, &bit_size, &value], &bin);
    /// An integer of up to 64 bits.
    bit_get_int(bit_offset: Exp, bit_size: Exp, signed: bool, bin: Exp)
        = read(ExpType::Int, &[&code::GET_INT, &bit_offset, &bit_size, &OneIf(signed)], &bin);
    /// The blob as base64 text. Server 8.2 and later.
    bit_b64_encode(bin: Exp) = read(ExpType::String, &[&code::B64_ENCODE], &bin);
    /// Bytes as base64 text; with `invert_size` their number counts from the end. Server 8.2 and later.
    bit_b64_encode_range(byte_offset: Exp, byte_size: Exp, invert_size: bool, bin: Exp)
        = read(ExpType::String, &[&code::B64_ENCODE, &byte_offset, &byte_size, &OneIf(invert_size)], &bin);
}
