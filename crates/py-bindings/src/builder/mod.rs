//! Builders: what a session does with records, said step by step.
//!
//! `session.upsert(key).put({..}).execute()`. A builder is checked with each call, and encodes what it is told at once; a
//! terminal (`execute`, `first`, ..) sends that. See `docs/decisions/0021`.
//!
//! * [`verb`]: what can be done; [`chain`], [`whole`], [`link`]: what a builder has been told; [`ops`]: the operations in it, encoded
//! * [`surface`], [`methods`]: the classes, for asyncio and for code without it; [`bin`], [`cdt`], [`steps`]: what is done with bins
//! * [`bin_target`]: the bin and the servers that an operation is for
//! * [`rows`]: rows of a table as records
//! * [`early`]: the names that the first versions of the SDK had for some of it
//! * [`background`]: what the servers do with all records of a set, in the background
//! * [`execute`]: one record → one request, several → one batch, a [`dataset`] → a query, with the index
//!   of a [`selection`] and a [`hint`]
//! * [`result`], [`stream`], [`answers`], [`live`], [`awaitable`]: what comes of it, [`arrow`] as columns; [`on_error`]: who hears of failures
//! * [`context`]: the session behind it

mod answers;
mod arrow;
mod awaitable;
pub(crate) mod background;
mod bin;
mod bin_target;
mod cdt;
mod chain;
pub(crate) mod context;
mod dataset;
mod early;
mod execute;
pub(crate) mod expiration;
mod hint;
mod hll_config;
mod link;
mod live;
mod methods;
mod on_error;
mod operation_result;
mod ops;
mod result;
mod rows;
mod selection;
mod steps;
mod stream;
pub(crate) mod surface;
pub(crate) mod verb;
mod whole;

use pyo3::prelude::*;

use crate::instance::prepare;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    background::register(module)?;
    module.add_class::<surface::QueryBuilder>()?;
    module.add_class::<surface::WriteSegmentBuilder>()?;
    module.add_class::<surface::UdfBuilder>()?;
    module.add_class::<surface::UdfFunctionBuilder>()?;
    module.add_class::<surface::DataSetWriteBuilder>()?;
    module.add_class::<surface::RowWriteBuilder>()?;
    module.add_class::<bin::QueryBinBuilder>()?;
    module.add_class::<bin::WriteBinBuilder>()?;
    module.add_class::<cdt::CdtReadBuilder>()?;
    module.add_class::<cdt::CdtReadInvertableBuilder>()?;
    module.add_class::<cdt::CdtWriteBuilder>()?;
    module.add_class::<cdt::CdtWriteInvertableBuilder>()?;
    module.add_class::<cdt::CdtPathBuilder>()?;
    module.add_class::<stream::RecordStream>()?;
    module.add_class::<awaitable::AwaitableStream>()?;
    module.add_class::<result::RecordResult>()?;
    module.add_class::<operation_result::OperationResult>()?;
    module.add_class::<hll_config::HllConfig>()?;
    module.add_class::<hint::QueryHint>()?;
    module.add_class::<selection::QueryExplanation>()?;
    module.add("SyncQueryBuilder", py.get_type::<surface::SyncQueryBuilder>())?;
    module.add("SyncWriteSegmentBuilder", py.get_type::<surface::SyncWriteSegmentBuilder>())?;
    module.add("SyncDataSetWriteBuilder", py.get_type::<surface::SyncDataSetWriteBuilder>())?;
    module.add("SyncRowWriteBuilder", py.get_type::<surface::SyncRowWriteBuilder>())?;
    module.add("SyncUdfBuilder", py.get_type::<surface::SyncUdfBuilder>())?;
    module.add("SyncUdfFunctionBuilder", py.get_type::<surface::SyncUdfFunctionBuilder>())?;
    module.add("SyncRecordStream", py.get_type::<stream::SyncRecordStream>())?;
    module.add("ErrorStrategy", on_error::strategy(py)?)?;
    module.add("ErrorHandler", on_error::handler(py)?)?;
    prepare::<surface::QueryBuilder>(py)?;
    prepare::<surface::SyncQueryBuilder>(py)?;
    prepare::<surface::WriteSegmentBuilder>(py)?;
    prepare::<surface::SyncWriteSegmentBuilder>(py)?;
    prepare::<result::RecordResult>(py)?;
    prepare::<stream::RecordStream>(py)?;
    prepare::<stream::SyncRecordStream>(py)?;
    surface::WriteSegmentBuilder::install_fast_calls(py)?;
    surface::SyncWriteSegmentBuilder::install_fast_calls(py)
}
