//! Steps on the bits of blobs.

use aerolane_wire::msgpack::Writer;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::cdt::BitPolicy;
use crate::operation::{BaseOperation, Kind};
use crate::value::Refused;

/// The write flags of a policy; without one there are none.
pub(in crate::builder) fn bit_flags(policy: Option<&BitPolicy>) -> i64 {
    policy.map_or(0, BitPolicy::flags_number)
}

/// An operation on a blob.
pub(in crate::builder) fn bytes_op<K: Kind>(
    name: &Bound<'_, PyString>,
    encode: impl FnOnce(&mut Vec<u8>) -> K,
) -> PyResult<BaseOperation> {
    BaseOperation::encoded(name, true, encode)
}

/// Bytes as an argument.
pub(in crate::builder) fn blob<'a>(
    value: &'a Bound<'_, PyAny>,
) -> impl FnOnce(&mut Writer<'_>) -> Result<(), Refused> + 'a {
    crate::operation::bit::blob(value)
}

macro_rules! bit_reads {
    ($class:ident) => {
        $crate::builder::steps::steps! {
            $class;
            /// Reads bits, as bytes.
            bit_get(bit_offset: i64, bit_size: i64)
                = |name| bytes_op(name, |out| wire::bit::get(out, bit_offset, bit_size));
            /// Reads the number of bits that are set.
            bit_count(bit_offset: i64, bit_size: i64)
                = |name| bytes_op(name, |out| wire::bit::count(out, bit_offset, bit_size));
            /// Reads the offset of the first bit that equals `value`; -1 if there is none.
            bit_lscan(bit_offset: i64, bit_size: i64, value: bool)
                = |name| bytes_op(name, |out| wire::bit::lscan(out, bit_offset, bit_size, value));
            /// Reads the offset of the last bit that equals `value`; -1 if there is none.
            bit_rscan(bit_offset: i64, bit_size: i64, value: bool)
                = |name| bytes_op(name, |out| wire::bit::rscan(out, bit_offset, bit_size, value));
            /// Reads an integer of 1 to 64 bits.
            bit_get_int(bit_offset: i64, bit_size: i64, signed: bool)
                = |name| bytes_op(name, |out| wire::bit::get_int(out, bit_offset, bit_size, signed.then_some(1)));
            /// Reads the blob, or some bytes of it, as base64 text. Pass both the offset and the size, or neither. With
            /// `invert_size`, the size counts from the end. Requires server 8.2 or later.
            #[pyo3(signature = (byte_offset=None, byte_size=None, invert_size=false))]
            bit_b64_encode(byte_offset: Option<i64>, byte_size: Option<i64>, invert_size: bool)
                = |name| bytes_op(name, |out| $crate::operation::bit::base64(out, byte_offset, byte_size, invert_size));
        }
    };
}

macro_rules! bit_writes {
    ($class:ident) => {
        $crate::builder::steps::steps! {
            $class;
            /// Resizes the blob to `byte_size` bytes. Creates it if it is missing.
            #[pyo3(signature = (byte_size, resize_flags=None, policy=None))]
            bit_resize(byte_size: i64, resize_flags: Option<Choice<Resize>>, policy: Option<PyRef<'py, BitPolicy>>)
                = |name| bytes_op(name, |out| {
                    let how = resize_flags.map_or(0, |flags| flags.0 as i64);
                    wire::bit::resize(out, byte_size, bit_flags(policy.as_deref()), Some(how))
                });
            /// Inserts bytes.
            #[pyo3(signature = (byte_offset, value, policy=None))]
            bit_insert(byte_offset: i64, value: Bound<'py, PyAny>, policy: Option<PyRef<'py, BitPolicy>>)
                = |name| bytes_op(name, |out| {
                    wire::bit::insert(out, byte_offset, blob(&value), bit_flags(policy.as_deref()))
                });
            /// Removes bytes.
            #[pyo3(signature = (byte_offset, byte_size, policy=None))]
            bit_remove(byte_offset: i64, byte_size: i64, policy: Option<PyRef<'py, BitPolicy>>)
                = |name| bytes_op(name, |out| {
                    wire::bit::remove(out, byte_offset, byte_size, bit_flags(policy.as_deref()))
                });
            /// Sets bits.
            #[pyo3(signature = (bit_offset, bit_size, value, policy=None))]
            bit_set(bit_offset: i64, bit_size: i64, value: Bound<'py, PyAny>, policy: Option<PyRef<'py, BitPolicy>>)
                = |name| bytes_op(name, |out| {
                    wire::bit::set(out, bit_offset, bit_size, blob(&value), bit_flags(policy.as_deref()))
                });
            /// Combines bits with `value` by bitwise or.
            #[pyo3(signature = (bit_offset, bit_size, value, policy=None))]
            bit_or(bit_offset: i64, bit_size: i64, value: Bound<'py, PyAny>, policy: Option<PyRef<'py, BitPolicy>>)
                = |name| bytes_op(name, |out| {
                    wire::bit::or(out, bit_offset, bit_size, blob(&value), bit_flags(policy.as_deref()))
                });
            /// Combines bits with `value` by bitwise exclusive or.
            #[pyo3(signature = (bit_offset, bit_size, value, policy=None))]
            bit_xor(bit_offset: i64, bit_size: i64, value: Bound<'py, PyAny>, policy: Option<PyRef<'py, BitPolicy>>)
                = |name| bytes_op(name, |out| {
                    wire::bit::xor(out, bit_offset, bit_size, blob(&value), bit_flags(policy.as_deref()))
                });
            /// Combines bits with `value` by bitwise and.
            #[pyo3(signature = (bit_offset, bit_size, value, policy=None))]
            bit_and(bit_offset: i64, bit_size: i64, value: Bound<'py, PyAny>, policy: Option<PyRef<'py, BitPolicy>>)
                = |name| bytes_op(name, |out| {
                    wire::bit::and(out, bit_offset, bit_size, blob(&value), bit_flags(policy.as_deref()))
                });
            /// Inverts bits.
            #[pyo3(signature = (bit_offset, bit_size, policy=None))]
            bit_not(bit_offset: i64, bit_size: i64, policy: Option<PyRef<'py, BitPolicy>>)
                = |name| bytes_op(name, |out| {
                    wire::bit::not(out, bit_offset, bit_size, bit_flags(policy.as_deref()))
                });
            /// Shifts bits to the left.
            #[pyo3(signature = (bit_offset, bit_size, shift, policy=None))]
            bit_lshift(bit_offset: i64, bit_size: i64, shift: i64, policy: Option<PyRef<'py, BitPolicy>>)
                = |name| bytes_op(name, |out| {
                    wire::bit::lshift(out, bit_offset, bit_size, shift, bit_flags(policy.as_deref()))
                });
            /// Shifts bits to the right.
            #[pyo3(signature = (bit_offset, bit_size, shift, policy=None))]
            bit_rshift(bit_offset: i64, bit_size: i64, shift: i64, policy: Option<PyRef<'py, BitPolicy>>)
                = |name| bytes_op(name, |out| {
                    wire::bit::rshift(out, bit_offset, bit_size, shift, bit_flags(policy.as_deref()))
                });
            /// Adds to an integer of 1 to 64 bits. `action` says what to do on overflow.
            #[pyo3(signature = (bit_offset, bit_size, value, signed, action, policy=None))]
            bit_add(
                bit_offset: i64, bit_size: i64, value: i64, signed: bool, action: Choice<Overflow>,
                policy: Option<PyRef<'py, BitPolicy>>
            ) = |name| bytes_op(name, |out| {
                    let flags = bit_flags(policy.as_deref());
                    wire::bit::add(out, bit_offset, bit_size, value, flags, action.0.number(signed))
                });
            /// Subtracts from an integer of 1 to 64 bits. `action` says what to do on overflow.
            #[pyo3(signature = (bit_offset, bit_size, value, signed, action, policy=None))]
            bit_subtract(
                bit_offset: i64, bit_size: i64, value: i64, signed: bool, action: Choice<Overflow>,
                policy: Option<PyRef<'py, BitPolicy>>
            ) = |name| bytes_op(name, |out| {
                    let flags = bit_flags(policy.as_deref());
                    wire::bit::subtract(out, bit_offset, bit_size, value, flags, action.0.number(signed))
                });
            /// Sets an integer of 1 to 64 bits.
            #[pyo3(signature = (bit_offset, bit_size, value, policy=None))]
            bit_set_int(bit_offset: i64, bit_size: i64, value: i64, policy: Option<PyRef<'py, BitPolicy>>)
                = |name| bytes_op(name, |out| {
                    wire::bit::set_int(out, bit_offset, bit_size, value, bit_flags(policy.as_deref()))
                });
        }
    };
}

pub(in crate::builder) use {bit_reads, bit_writes};
