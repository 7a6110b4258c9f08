//! Records as Arrow columns, handed over through the Arrow `PyCapsule` interface without a copy.
//!
//! * [`wanted`]: the columns that somebody asks for, and [`infer`]: the types that records have
//! * [`types`], [`schema`]: types and columns
//! * [`value`]: values as they come, [`json`] as JSON, [`half`] as floats of 16 bits
//! * [`column`], [`chunk`]: columns that are filled from answers
//! * [`rows`]: columns of rows that are in memory
//! * [`abi`]: Arrow's C data and stream interfaces
//! * [`export`]: chunks, schemas and streams in the form of these
//! * [`records`]: what Python sees

pub(super) mod abi;
mod chunk;
mod column;
mod export;
mod half;
mod infer;
mod json;
mod records;
mod rows;
mod schema;
mod types;
mod value;
mod wanted;

pub(crate) use chunk::{Builder, Chunk, Identity, Unfit};
pub(crate) use export::{Failure, Source, attached, schema_capsule, stream_capsule};
pub(crate) use infer::Inference;
pub(crate) use records::ArrowRecords;
pub(crate) use rows::gather;
pub(crate) use schema::Schema;
pub(crate) use wanted::{ArrowColumns, Options, Wanted, as_arrow};
