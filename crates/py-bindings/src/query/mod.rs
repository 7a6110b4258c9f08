//! Queries and scans.
//!
//! * [`statement`], [`filter`]: what is asked for
//! * [`partitions`]: which partitions, and how far they have been read
//! * [`recordset`]: the records, as they come
//! * [`arrow`]: the same, as Arrow columns, which [`gather`] fills; [`to_arrow`]: how programs ask for them
//! * [`plan`]: which index the servers choose
//! * [`commands`]: the calls
//! * [`tasks`]: work that the servers do in the background

mod arrow;
pub(crate) mod commands;
pub(crate) mod enums;
pub(crate) mod filter;
mod gather;
pub(crate) mod indexes;
pub(crate) mod partitions;
pub(crate) mod plan;
pub(crate) mod recordset;
pub(crate) mod statement;
pub(crate) mod stream;
pub(crate) mod tasks;
pub(crate) mod to_arrow;

use pyo3::prelude::*;

pub(crate) use arrow::ArrowStream;
pub(crate) use filter::Filter;
pub(crate) use partitions::PartitionFilter;
pub(crate) use plan::QueryPlan;
pub(crate) use statement::Statement;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    enums::register(module)?;
    module.add_class::<filter::Filter>()?;
    module.add_class::<statement::Statement>()?;
    module.add_class::<partitions::PartitionFilter>()?;
    module.add_class::<partitions::PartitionStatus>()?;
    module.add_class::<recordset::Recordset>()?;
    module.add_class::<plan::QueryPlan>()?;
    module.add_class::<arrow::ArrowStream>()?;
    tasks::register(module)
}
