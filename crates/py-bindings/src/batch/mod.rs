//! Batches: keys and operations of Python straight into the requests of each node, answers straight into Python objects.
//!
//! * [`shape`]: what rows do, encoded with the GIL; rows that do the same share it
//! * [`rows`]: keys as rows; requests are written out of them without the GIL
//! * [`run`]: a batch, carried out on the calling thread or over the lane of the event loop; [`implicit`]: as a transaction
//! * [`record`]: the outcome of a row; [`results`]: the list of them
//! * [`live`], [`stream`]: rows that come as the nodes answer
//! * [`commands`], [`ops`]: the calls, and the rows of `Client.batch`

pub(crate) mod commands;
pub(crate) mod implicit;
pub(crate) mod live;
mod ops;
mod record;
pub(crate) mod results;
pub(crate) mod rows;
pub(crate) mod run;
pub(crate) mod shape;
mod stream;

use pyo3::prelude::*;

use crate::instance::prepare;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<record::BatchRecord>()?;
    prepare::<record::BatchRecord>(module.py())?;
    module.add_class::<stream::BatchRecordStream>()?;
    results::register(module)?;
    ops::register(module)
}
