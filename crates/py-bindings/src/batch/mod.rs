//! Batches: many records in one call.
//!
//! * [`convert`]: rows between Python and the Rust client
//! * [`record`]: `BatchRecord`
//! * [`rows`]: the rows of `Client.batch`
//! * [`commands`]: what the client's methods carry out

pub(crate) mod commands;
mod convert;
mod record;
mod rows;

use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<record::BatchRecord>()?;
    module.add_class::<rows::BatchReadOp>()?;
    module.add_class::<rows::BatchWriteOp>()?;
    module.add_class::<rows::BatchDeleteOp>()
}
