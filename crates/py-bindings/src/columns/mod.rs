//! Records as columns: bins go from the answers straight into the rows of a numpy array, or into Arrow columns, without
//! the GIL.
//!
//! * [`dtype`]: what a numpy dtype says of its fields
//! * [`table`]: rows that are filled from answers
//! * [`records`]: the arrays, as Python sees them
//! * [`arrow`]: Arrow columns
//! * [`failures`]: the rows that have failed
//! * [`plain`]: types without parts, by Arrow's names
//! * [`frames`]: these as frames of other libraries
//! * [`input`]: the other way: tables that are read

mod arrow;
mod dtype;
mod failures;
pub(crate) mod frames;
mod input;
mod plain;
mod records;
mod table;

use pyo3::prelude::*;

pub(crate) use arrow::{
    ArrowColumns, ArrowRecords, Builder, Chunk, Failure, Identity, Inference, Options, Schema, Source,
    Unfit as ArrowUnfit, Wanted, as_arrow, attached, gather, schema_capsule, stream_capsule,
};
pub(crate) use dtype::Layout;
pub(crate) use failures::RowFailures;
pub(crate) use input::{Fault, Input, KeyKind, Part, Unfit};
pub(crate) use records::NumpyRecords;
pub(crate) use table::Table;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ArrowColumns>()?;
    module.add_class::<ArrowRecords>()?;
    module.add_class::<NumpyRecords>()
}
