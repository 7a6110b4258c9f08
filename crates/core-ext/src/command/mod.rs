//! Requests and answers of single records: aerospike-core's policies, keys and values straight to and from wire bytes.
//!
//! * [`encode`]: one function per command, each appends one whole frame
//! * [`decode`]: what the body of an answer means
//! * `expression`: the bytes of filter expressions
//! * [`value`]: values to and from particles and msgpack
//! * [`compress`]: compressed frames
//! * [`check`]: what is refused before anything is sent
//! * [`policy`]: timeouts and retries of a policy

pub mod check;
pub mod compress;
pub mod decode;
mod detail;
pub mod encode;
mod expression;
pub mod policy;
pub mod value;

use crate::operations::Operation;

/// Whether an `operate` with these operations must be left to aerospike-core: one of them was made there.
#[must_use]
pub fn operations_need_core(operations: &[Operation]) -> bool {
    operations.iter().any(|operation| operation.as_core().is_some())
}

/// Whether any of these operations can change the record: then the call goes to the master and can be in doubt.
#[must_use]
pub fn operations_write(operations: &[Operation]) -> bool {
    operations.iter().any(Operation::is_write)
}
