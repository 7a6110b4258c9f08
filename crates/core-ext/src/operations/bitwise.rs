//! Operations on the bits of blob bins.
//!
//! Names, arguments and meaning are those of [`aerospike_core::operations::bitwise`], whose policy and flag types are
//! re-exported here.

use super::{Operation, forward};
use aerospike_core::Value;
pub use aerospike_core::operations::bitwise::*;

forward! {
    bitwise;
    fn resize(bin: impl Into<String>, byte_size: i64, resize_flags: BitwiseResizeFlags, policy: &BitPolicy);
    fn insert(bin: impl Into<String>, byte_offset: i64, value: Value, policy: &BitPolicy);
    fn remove(bin: impl Into<String>, byte_offset: i64, byte_size: i64, policy: &BitPolicy);
    fn set(bin: impl Into<String>, bit_offset: i64, bit_size: i64, value: Value, policy: &BitPolicy);
    fn or(bin: impl Into<String>, bit_offset: i64, bit_size: i64, value: Value, policy: &BitPolicy);
    fn xor(bin: impl Into<String>, bit_offset: i64, bit_size: i64, value: Value, policy: &BitPolicy);
    fn and(bin: impl Into<String>, bit_offset: i64, bit_size: i64, value: Value, policy: &BitPolicy);
    fn not(bin: impl Into<String>, bit_offset: i64, bit_size: i64, policy: &BitPolicy);
    fn lshift(bin: impl Into<String>, bit_offset: i64, bit_size: i64, shift: i64, policy: &BitPolicy);
    fn rshift(bin: impl Into<String>, bit_offset: i64, bit_size: i64, shift: i64, policy: &BitPolicy);
    fn add(
        bin: impl Into<String>,
        bit_offset: i64,
        bit_size: i64,
        value: i64,
        signed: bool,
        action: BitwiseOverflowActions,
        policy: &BitPolicy,
    );
    fn subtract(
        bin: impl Into<String>,
        bit_offset: i64,
        bit_size: i64,
        value: i64,
        signed: bool,
        action: BitwiseOverflowActions,
        policy: &BitPolicy,
    );
    fn set_int(bin: impl Into<String>, bit_offset: i64, bit_size: i64, value: i64, policy: &BitPolicy);
    fn get(bin: impl Into<String>, bit_offset: i64, bit_size: i64);
    fn count(bin: impl Into<String>, bit_offset: i64, bit_size: i64);
    fn lscan(bin: impl Into<String>, bit_offset: i64, bit_size: i64, value: bool);
    fn rscan(bin: impl Into<String>, bit_offset: i64, bit_size: i64, value: bool);
    fn get_int(bin: impl Into<String>, bit_offset: i64, bit_size: i64, signed: bool);
    fn b64_encode(bin: impl Into<String>);
    fn b64_encode_range(bin: impl Into<String>, byte_offset: i64, byte_size: i64, invert_size: bool);
}
