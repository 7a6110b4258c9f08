//! Batches: rows, their outcome, and their way to and from the wire.
//!
//! [`BatchOperation`] and [`BatchRecord`] have the functions of aerospike-core's types of these names; they are ours
//! because the vendor's rows cannot be looked into. [`encode()`] writes the rows that go to one node as one frame,
//! [`Answers`] takes that node's answer apart.

mod answer;
mod encode;
mod failures;
mod operation;
mod patch;
mod policy;
mod record;
mod single;

pub use answer::{Answers, Progress, RowAnswer};
pub use encode::encode;
pub use failures::{BatchFailures, FailureSummary};
pub use operation::BatchOperation;
pub use record::BatchRecord;
pub use single::{decode_single, encode_single, fits_single};

pub(crate) use encode::{
    answering_each, delete_header, encode_patched, frame_of_rows, patched_header, read_header, udf_header, write_flags,
    write_header,
};
pub(crate) use operation::BatchKind;
pub(crate) use patch::{RowPatch, RowPatches};
pub(crate) use single::encode_single_patched;

#[cfg(test)]
mod tests;
