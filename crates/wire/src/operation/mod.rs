//! Operations on collections, bits, HLLs and strings, and operations that evaluate expressions: what stands in
//! the value of an operation of a request.
//!
//! One function per operation, in a module per kind of bin:
//!
//! | module | operations | op types ([`op`]) | particle type of the request |
//! |---|---|---|---|
//! | [`list`], [`map`] | of lists and maps | `CDT_READ`, `CDT_MODIFY` | blob |
//! | [`path`] | on what a path selects inside a collection | `CDT_READ`, `CDT_MODIFY` | blob |
//! | [`bit`] | on the bits of blobs | `BITS_READ`, `BITS_MODIFY` | blob |
//! | [`hll`] | of HLLs | `HLL_READ`, `HLL_MODIFY` | blob |
//! | [`string`] | of strings (server 8.2 and later) | `STRING_READ`, `STRING_MODIFY`, `TO_STRING` | string |
//! | [`exp`] | that evaluate an expression | `EXP_READ`, `EXP_MODIFY` | blob |
//!
//! # How to use them
//!
//! A function appends the operation's value to a buffer, in one pass, and gives the op type. What is a number or a
//! flag is an argument; what is a value is written by the caller, by a closure that gets a [`Writer`] and appends
//! exactly one msgpack element (for "a list of values": one list, with its header). So there is no value type here,
//! and an error of the caller's own comes back as it is; the buffer then holds the front of an operation, and the
//! caller takes it back.
//!
//! ```
//! use aerolane_wire::WireResult;
//! use aerolane_wire::message::{MessageHeader, MessageWriter, op};
//! use aerolane_wire::operation::{self, context, list};
//!
//! // As when an operation object is made: its op type and its value.
//! let mut value = vec![];
//! let kind = list::append::<()>(&mut value, |w| Ok(w.str(b"milk")), Some(0), Some(0))?;
//! assert_eq!(kind, op::CDT_MODIFY);
//!
//! // A context is put in front of it, and may be put there later: here ["shopping"][-1].
//! let (mut key, mut index) = (vec![], vec![]);
//! let levels = [
//!     (context::map_key::<()>(&mut key, |w| Ok(w.str(b"shopping")))?, &key[..]),
//!     (context::list_index(&mut index, -1), &index[..]),
//! ];
//! let mut nested = vec![];
//! context::nest(&mut nested, levels.iter().copied(), 0, &value);
//!
//! // As when a request is written.
//! let mut frame = vec![];
//! let mut message = MessageWriter::frame(&mut frame, &MessageHeader::default());
//! let append = |out: &mut Vec<u8>| -> WireResult<()> { Ok(out.extend_from_slice(&nested)) };
//! message.op_with(kind, operation::particle_type(kind), b"bin", append).unwrap();
//! message.finish().unwrap();
//! # Ok::<(), ()>(())
//! ```
//!
//! Arguments that end an operation's list may be left out where they are an `Option`: `None` writes nothing (and what
//! stands behind it must be `None`, too, unless a function says otherwise). Numbers are 64 bits wide so that flags of
//! later servers can be sent; none is checked here, the server answers those it does not know with a parameter error.
//! Negative indexes and ranks count from the end.
//!
//! # Sources
//!
//! Codes, order of arguments and flags are those of the recorded exchanges of two clients (golden groups `list`,
//! `map`, `ctx`, `bits`, `hll`, `exp`, `strings` and `rust`; `tests/operations.rs` rebuilds their requests through
//! these functions), and of aerospike-core 3.0.0, whose bytes the tests of the client crate compare with.

mod macros;

pub mod bit;
pub mod context;
pub mod exp;
pub mod hll;
pub mod list;
pub mod map;
pub mod path;
pub mod string;

use crate::message::op;
use crate::msgpack::Writer;
use crate::particle::particle_type;

use macros::operations;

/// The particle type that the value of an operation has in a request, by its op type. For the op types of this
/// module; for the others it is that of the bin's value, or nil where there is none, which is what this gives.
#[must_use]
pub const fn particle_type(kind: u8) -> u8 {
    match kind {
        op::CDT_READ
        | op::CDT_MODIFY
        | op::BITS_READ
        | op::BITS_MODIFY
        | op::HLL_READ
        | op::HLL_MODIFY
        | op::EXP_READ
        | op::EXP_MODIFY => particle_type::BLOB,
        op::STRING_READ | op::STRING_MODIFY => particle_type::STRING,
        _ => particle_type::NIL,
    }
}

/// Whether operations of this type can change the record. Types that this version does not know count as writes.
#[must_use]
pub const fn is_write(kind: u8) -> bool {
    !matches!(
        kind,
        op::READ | op::CDT_READ | op::BITS_READ | op::HLL_READ | op::EXP_READ | op::STRING_READ | op::TO_STRING
    )
}

/// Starts the list of an operation: its code and `arguments` arguments, which the caller appends.
fn begin(out: &mut Vec<u8>, code: u8, arguments: usize) -> Writer<'_> {
    let mut writer = Writer::new(out);
    writer.list(1 + arguments);
    writer.uint(u64::from(code));
    writer
}

/// Whether a request that only reads must ask for an answer to each operation
/// ([`info2::RESPOND_ALL_OPS`](crate::message::info2::RESPOND_ALL_OPS)) because it holds this one: only then do the
/// answers line up with the operations. `value`: as the functions of this module have written it, without a context.
///
/// A request that writes always asks. So does aerospike-core 3.0.0; reads of lists and by paths are not among them.
#[must_use]
pub fn wants_all_answers(kind: u8, value: &[u8]) -> bool {
    match kind {
        op::BITS_READ | op::HLL_READ | op::EXP_READ | op::STRING_READ | op::TO_STRING => true,
        // One byte of list header, then the code, which is below 0x80 for all but paths.
        op::CDT_READ => value.get(1).is_some_and(|code| (map::code::SET_TYPE..0x80).contains(code)),
        _ => false,
    }
}
