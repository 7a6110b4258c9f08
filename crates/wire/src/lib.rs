//! The Aerospike wire protocol, in both directions.
//!
//! No I/O, no clock, no async: bytes in, borrowed views out; values in, bytes appended to the caller's buffer.
//! A client and a server are both built on this crate, so every item can be encoded and decoded.
//!
//! * [`proto`]: the 8-byte proto header and the incremental frame decoder
//! * [`message`]: message header, fields and operations of requests and answers
//! * [`particle`]: bin values as they stand on the wire
//! * [`msgpack`]: the msgpack dialect of lists, maps and CDT arguments
//! * [`operation`]: the values of operations on collections, bits, HLLs and strings, and of expressions
//! * [`batch`]: batch-index requests
//! * [`info`]: info text
//! * [`admin`]: LOGIN and AUTHENTICATE
//! * [`compress`]: compressed message frames
//! * [`digest`]: record digests and partition ids
//! * [`result_code`]: result codes of the server
//!
//! Everything that comes from outside is bounded and checked; malformed input is a [`WireError`] naming the offset.

pub mod admin;
pub mod batch;
mod bytes;
pub mod compress;
pub mod digest;
mod error;
pub mod info;
pub mod message;
pub mod msgpack;
pub mod operation;
pub mod particle;
pub mod proto;
pub mod result_code;
mod ripemd;

pub use error::{WireError, WireErrorKind, WireResult};
pub use result_code::ResultCode;
