//! The calls: queries, and work on what they find.

use std::future::Future;
use std::sync::Arc;

use aerolane::query_where;
use aerolane::raw::{RawClient, RawQuery};
use aerospike_core::{QueryPolicy as CoreQuery, WritePolicy as CoreWrite};
use pyo3::prelude::*;

use super::filter::MAX_INDEX_NAME;
use super::partitions::PartitionFilter;
use super::plan::QueryPlan;
use super::recordset::Recordset;
use super::statement::{self, FunctionMode, QuerySpec, Statement};
use super::stream::{Raw, Stream, Taken};
use super::tasks::ExecuteTask;
use crate::batch::shape;
use crate::cdt::Flags;
use crate::command::{Control, Executable};
use crate::core::ClientCore;
use crate::instance::instance;
use crate::policy::{QueryPolicy, WritePolicy};
use crate::record::Record;
use crate::{errors, txn};

/// Asks which index the servers would choose for a condition.
#[allow(clippy::too_many_arguments)] // the arguments of the Python method
pub(crate) fn explain(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    namespace: &str,
    ael: &str,
    set_name: Option<&str>,
    index_name_hint: Option<&str>,
    explain_where_flags: Option<Flags>,
    policy: Option<&Bound<'_, QueryPolicy>>,
) -> PyResult<impl Executable + use<>> {
    statement::check_namespace(py, namespace)?;
    statement::check_set(py, set_name.unwrap_or_default())?;
    if let Some(size) = index_name_hint.map(str::len).filter(|size| *size > MAX_INDEX_NAME) {
        let text = format!("an index name has at most {MAX_INDEX_NAME} bytes, not {size}");
        return Err(errors::invalid_argument(py, text));
    }
    let where_flags = match explain_where_flags {
        None => query_where::EXPLAIN,
        Some(Flags(flags)) => u8::try_from(flags)
            .map_err(|_| errors::invalid_argument(py, format!("explain_where_flags has unknown flags: {flags:#x}")))?,
    };
    let policy = QueryPolicy::in_force(policy);
    txn::refuse(py, &policy.base_policy, "a query")?;
    let owned = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
    let (set_name, index_name_hint) = (owned(set_name), owned(index_name_hint));
    let (client, namespace, ael) = (core.raw.asynchronous(), namespace.to_owned(), ael.to_owned());
    Ok(Control {
        future: async move {
            let (set, hint) = (set_name.as_deref(), index_name_hint.as_deref());
            client.query_explain(&policy, &namespace, set, &ael, hint, Some(where_flags)).await
        },
        convert: move |py: Python<'_>, plan| Ok(Py::new(py, QueryPlan { plan, where_flags })?.into_any()),
    })
}

/// Starts a query of the records that a plan finds.
pub(crate) fn with_plan(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    statement: &Bound<'_, Statement>,
    partition_filter: Option<&Bound<'_, PartitionFilter>>,
    plan: &Bound<'_, QueryPlan>,
    policy: Option<&Bound<'_, QueryPolicy>>,
) -> PyResult<impl Executable + use<>> {
    let asked = statement.get().reads_by(py, &plan.get().plan)?;
    read(py, core, asked, partition_filter, QueryPolicy::in_force(policy), |_, records| Ok(records.into_any()))
}

/// Starts a query of records.
pub(crate) fn query(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    statement: &Bound<'_, Statement>,
    partition_filter: Option<&Bound<'_, PartitionFilter>>,
    policy: Option<&Bound<'_, QueryPolicy>>,
) -> PyResult<impl Executable + use<>> {
    let asked = statement.get().reads(py)?;
    read(py, core, asked, partition_filter, QueryPolicy::in_force(policy), |_, records| Ok(records.into_any()))
}

/// Starts a query; `made` makes something of its records.
pub(crate) fn read<F>(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    asked: QuerySpec,
    partition_filter: Option<&Bound<'_, PartitionFilter>>,
    policy: Arc<CoreQuery>,
    made: F,
) -> PyResult<impl Executable + use<F>>
where
    F: FnOnce(Python<'_>, Py<Recordset>) -> PyResult<Py<PyAny>> + Send + 'static,
{
    txn::refuse(py, &policy.base_policy, "a query")?;
    let all = Py::new(py, PartitionFilter::all())?;
    let planned = std::future::ready(Ok((asked, policy)));
    read_planned(py, core, planned, partition_filter.unwrap_or(all.bind(py)), |py, records, _, _| made(py, records))
}

/// Starts a query of which is found out first what it asks for. `made` gets its records, what was asked for, and its policy.
pub(crate) fn read_planned<P, F>(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    planned: P,
    partition_filter: &Bound<'_, PartitionFilter>,
    made: F,
) -> PyResult<impl Executable + use<P, F>>
where
    P: Future<Output = aerolane::Result<(QuerySpec, Arc<CoreQuery>)>> + Send + 'static,
    F: FnOnce(Python<'_>, Py<Recordset>, QuerySpec, Arc<CoreQuery>) -> PyResult<Py<PyAny>> + Send + 'static,
{
    let (filter, cursor) = partition_filter.get().for_query(py)?;
    let filter = Py::new(py, filter)?;
    let (raw, core) = (RawClient::clone(&core.raw), Arc::clone(core));
    Ok(Control {
        future: async move {
            let (asked, policy) = planned.await?;
            let records = raw.query(CoreQuery::clone(&policy), asked.query.clone(), cursor)?;
            Ok((records, asked, policy))
        },
        convert: move |py: Python<'_>, (records, asked, policy): (_, QuerySpec, _)| {
            let of = (asked.operate, asked.query.has_function());
            let records = Py::new(py, Recordset::new(core, records, asked.names.clone(), of, filter))?;
            made(py, records, asked, policy)
        },
    })
}

/// Reads the first record that a query finds, of which is found out first what it asks for.
pub(crate) fn first<P, F>(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    planned: P,
    partition_filter: &Bound<'_, PartitionFilter>,
    made: F,
) -> PyResult<impl Executable + use<P, F>>
where
    P: Future<Output = aerolane::Result<(QuerySpec, Arc<CoreQuery>)>> + Send + 'static,
    F: FnOnce(Python<'_>, Option<Py<Record>>) -> PyResult<Py<PyAny>> + Send + 'static,
{
    let cursor = partition_filter.get().cursor(py)?;
    let raw = RawClient::clone(&core.raw);
    Ok(Control {
        future: async move {
            let (QuerySpec { query, operate, names }, policy) = planned.await?;
            let function = query.has_function();
            let stream = Stream::new(raw.query(Arc::unwrap_or_clone(policy), query, cursor)?, names, function);
            let taken = loop {
                match stream.take().1 {
                    Taken::Nothing => stream.ready().await,
                    Taken::Record(record) => break Some(record),
                    Taken::End => break None,
                    Taken::Failed(error) => return Err(error),
                }
            };
            stream.close();
            Ok((taken, operate))
        },
        convert: move |py: Python<'_>, (taken, operate): (Option<Raw>, bool)| {
            let record = taken.map(|raw| {
                let key = raw.key.map(|key| instance(py, || key)).transpose()?;
                Record::new(py, key, raw.body, operate)
            });
            made(py, record.transpose()?)
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
) -> PyResult<impl Executable + use<>> {
    let ((what, ops), writes) = shape::operations(operations)?;
    if what != 0 || !writes {
        let text = "the operations of query_operate only write; a query carries out those that read";
        return Err(errors::invalid_argument(py, text));
    }
    background(py, core, statement.get().background().ops(ops), WritePolicy::in_force(policy))
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
) -> PyResult<impl Executable + use<>> {
    let function = statement::function(py, package_name, function_name, args)?;
    let query = function.add(statement.get().background(), FunctionMode::Background);
    background(py, core, query, WritePolicy::in_force(policy))
}

/// Starts work on all records that a query finds, in the background.
pub(crate) fn background(
    py: Python<'_>,
    core: &Arc<ClientCore>,
    query: RawQuery,
    policy: Arc<CoreWrite>,
) -> PyResult<impl Executable + use<>> {
    txn::refuse(py, &policy.base_policy, "a background query")?;
    let future = core.raw.query_background(policy, query);
    let core = Arc::clone(core);
    Ok(Control { future, convert: move |py: Python<'_>, id| Ok(Py::new(py, ExecuteTask::new(core, id))?.into_any()) })
}
