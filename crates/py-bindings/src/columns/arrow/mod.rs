//! Records as Arrow columns, handed over through the Arrow `PyCapsule` interface without a copy.
//!
//! * [`schema`]: the columns that were asked for
//! * [`chunk`]: columns that are filled from answers
//! * [`abi`]: Arrow's C data and stream interfaces
//! * [`export`]: chunks, schemas and streams in the form of these
//! * [`records`]: what Python sees

pub(super) mod abi;
mod chunk;
mod export;
mod records;
mod schema;

pub(crate) use chunk::{Builder, Chunk};
pub(crate) use export::{Failure, Source, attached, schema_capsule, stream_capsule};
pub(crate) use records::ArrowRecords;
pub(crate) use schema::Schema;
