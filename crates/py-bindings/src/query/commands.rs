//! The calls: queries, and work on what they find.

use std::sync::Arc;

use aerolane::client::{RawClient, RawQuery};
use pyo3::prelude::*;

use super::partitions::PartitionFilter;
use super::recordset::Recordset;
use super::statement::{self, Asked, Runs, Statement};
use super::tasks::ExecuteTask;
use crate::batch::shape;
use crate::client::twin::{Control, Twin};
use crate::core::ClientCore;
use crate::policy::{QueryPolicy, WritePolicy};
use crate::{errors, txn};

/// Starts a query of records.
pub(crate) fn query(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    statement: &Bound<'_, Statement>,
    partition_filter: Option<&Bound<'_, PartitionFilter>>,
    policy: Option<&Bound<'_, QueryPolicy>>,
) -> PyResult<impl Twin + use<>> {
    let policy = QueryPolicy::in_force(policy);
    txn::refuse(py, &policy.base_policy, "a query")?;
    let filter = match partition_filter {
        Some(filter) => filter.clone().unbind(),
        None => Py::new(py, PartitionFilter::all())?,
    };
    let Asked { query, operate, names } = statement.get().reads(py)?;
    let cursor = filter.get().cursor();
    let (raw, core) = (RawClient::clone(&core.raw), Arc::clone(core));
    Ok(Control {
        future: async move { raw.query(Arc::unwrap_or_clone(policy), query, cursor) },
        convert: move |py: Python<'_>, records| {
            Ok(Py::new(py, Recordset::new(core, records, names, operate, filter))?.into_any())
        },
    })
}

/// Starts operations on all records that a query finds, in the background.
pub(crate) fn operate(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    statement: &Bound<'_, Statement>,
    operations: &Bound<'_, PyAny>,
    policy: Option<&Bound<'_, WritePolicy>>,
) -> PyResult<impl Twin + use<>> {
    let ((what, ops), writes) = shape::operations(operations)?;
    if what != 0 || !writes {
        let text = "the operations of query_operate only write; a query carries out those that read";
        return Err(errors::invalid_argument(py, text));
    }
    background(py, core, statement.get().background().ops(ops), policy)
}

/// Starts a function on all records that a query finds, in the background.
pub(crate) fn execute_udf(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    statement: &Bound<'_, Statement>,
    package_name: &str,
    function_name: &str,
    args: Option<&Bound<'_, PyAny>>,
    policy: Option<&Bound<'_, WritePolicy>>,
) -> PyResult<impl Twin + use<>> {
    let function = statement::function(py, package_name, function_name, args)?;
    background(py, core, function.add(statement.get().background(), Runs::Background), policy)
}

fn background(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    query: RawQuery,
    policy: Option<&Bound<'_, WritePolicy>>,
) -> PyResult<impl Twin + use<>> {
    let policy = WritePolicy::in_force(policy);
    txn::refuse(py, &policy.base_policy, "a background query")?;
    let future = core.raw.query_background(policy, query);
    let core = Arc::clone(core);
    Ok(Control { future, convert: move |py: Python<'_>, id| Ok(Py::new(py, ExecuteTask::new(core, id))?.into_any()) })
}
