//! Tables: columns whose rows become records, without a Python object for any of them.
//!
//! * [`plan`]: which columns become what, checked before anything is written
//! * [`rows`]: rows as encoded records
//! * [`tally`]: what became of the rows
//! * [`job`]: reads the table, hands its rows over, waits
//! * [`summary`]: what Python hears

mod job;
mod plan;
mod rows;
mod summary;
mod tally;

use pyo3::prelude::*;

pub(super) use job::{Job, Stop};
pub(super) use plan::{Arguments, Plan};

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    summary::register(module)
}
