//! Operations on the bits of blob bins.
//!
//! Names, arguments and meaning are those of [`aerospike_core::operations::bitwise`], whose policy and flag types are
//! re-exported here.

use aerolane_wire::operation::bit;
pub use aerospike_core::operations::bitwise::*;

use super::encoded::{Traits, one};
use super::macros::constructors;

fn flags(policy: BitPolicy) -> i64 {
    policy.flags.bits().into()
}

/// What happens on overflow, and whether the integer has a sign.
fn overflow(action: &BitwiseOverflowActions, signed: bool) -> i64 {
    action.clone() as i64 | i64::from(signed)
}

constructors! {
    bitwise, Traits::NESTS, bin;

    resize(bin: bin, byte_size: i64, resize_flags: BitwiseResizeFlags, policy: BitPolicy)
        |out| bit::resize(out, byte_size, flags(policy), Some(resize_flags.bits().into()));
    insert(bin: bin, byte_offset: i64, value: value, policy: BitPolicy)
        |out| bit::insert(out, byte_offset, one(&value), flags(policy));
    remove(bin: bin, byte_offset: i64, byte_size: i64, policy: BitPolicy)
        |out| bit::remove(out, byte_offset, byte_size, flags(policy));
    set(bin: bin, bit_offset: i64, bit_size: i64, value: value, policy: BitPolicy)
        |out| bit::set(out, bit_offset, bit_size, one(&value), flags(policy));
    or(bin: bin, bit_offset: i64, bit_size: i64, value: value, policy: BitPolicy)
        |out| bit::or(out, bit_offset, bit_size, one(&value), flags(policy));
    xor(bin: bin, bit_offset: i64, bit_size: i64, value: value, policy: BitPolicy)
        |out| bit::xor(out, bit_offset, bit_size, one(&value), flags(policy));
    and(bin: bin, bit_offset: i64, bit_size: i64, value: value, policy: BitPolicy)
        |out| bit::and(out, bit_offset, bit_size, one(&value), flags(policy));
    not(bin: bin, bit_offset: i64, bit_size: i64, policy: BitPolicy)
        |out| bit::not(out, bit_offset, bit_size, flags(policy));
    lshift(bin: bin, bit_offset: i64, bit_size: i64, shift: i64, policy: BitPolicy)
        |out| bit::lshift(out, bit_offset, bit_size, shift, flags(policy));
    rshift(bin: bin, bit_offset: i64, bit_size: i64, shift: i64, policy: BitPolicy)
        |out| bit::rshift(out, bit_offset, bit_size, shift, flags(policy));
    add(
        bin: bin, bit_offset: i64, bit_size: i64, value: i64, signed: bool, action: BitwiseOverflowActions,
        policy: BitPolicy
    ) |out| bit::add(out, bit_offset, bit_size, value, flags(policy), overflow(&action, signed));
    subtract(
        bin: bin, bit_offset: i64, bit_size: i64, value: i64, signed: bool, action: BitwiseOverflowActions,
        policy: BitPolicy
    ) |out| bit::subtract(out, bit_offset, bit_size, value, flags(policy), overflow(&action, signed));
    set_int(bin: bin, bit_offset: i64, bit_size: i64, value: i64, policy: BitPolicy)
        |out| bit::set_int(out, bit_offset, bit_size, value, flags(policy));
    get(bin: bin, bit_offset: i64, bit_size: i64) |out| bit::get(out, bit_offset, bit_size);
    count(bin: bin, bit_offset: i64, bit_size: i64) |out| bit::count(out, bit_offset, bit_size);
    lscan(bin: bin, bit_offset: i64, bit_size: i64, value: bool) |out| bit::lscan(out, bit_offset, bit_size, value);
    rscan(bin: bin, bit_offset: i64, bit_size: i64, value: bool) |out| bit::rscan(out, bit_offset, bit_size, value);
    get_int(bin: bin, bit_offset: i64, bit_size: i64, signed: bool)
        |out| bit::get_int(out, bit_offset, bit_size, signed.then_some(1));
    b64_encode(bin: bin) |out| bit::b64_encode(out, None, None, None);
    b64_encode_range(bin: bin, byte_offset: i64, byte_size: i64, invert_size: bool)
        |out| bit::b64_encode(out, Some(byte_offset), Some(byte_size), invert_size.then_some(1));
}
