//! The native client (`aerolane.native`).
//!
//! * [`native`]: the commands about one record, with the arguments of this client's methods
//! * [`control`]: the commands that the control plane carries out
//! * [`connect`](mod@connect), [`local`], [`node`], [`stats`], [`version`]

mod connect;
pub(crate) mod control;
mod local;
mod native;
mod node;
mod shared;
mod stats;
pub(crate) mod thread;
mod version;

use std::sync::Arc;

use aerolane::raw::command::encode::WriteKind;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::admin::{Privilege, commands as admin};
use crate::argument::{argument, optional};
use crate::batch::commands as batch;
use crate::cdt::Flags;
use crate::command::single::Overrides;
use crate::command::{Executable, twins};
use crate::core::ClientCore;
use crate::key::Key;
use crate::metrics::{ClusterMetrics, MetricsPolicy};
use crate::policy::{
    AdminPolicy, BatchDeletePolicy, BatchPolicy, BatchReadPolicy, BatchUDFPolicy, BatchWritePolicy, Expiration,
    QueryPolicy, ReadPolicy, TxnRollPolicy, TxnVerifyPolicy, WritePolicy,
};
use crate::query::{PartitionFilter, QueryPlan, Statement, commands as query};
use crate::txn::{Txn, commands as transaction};
use crate::writer::{SyncWriter, TableArguments, Writer};
use crate::{host, index, metrics, udf};

pub(crate) use connect::{close, close_blocking, connect_blocking};
use native::CallOptions;
pub(crate) use node::{Node, NodeRef, node_class};
pub(crate) use version::Version;

/// A client for a cluster, for any number of threads and event loops. Created by `new_client` or `new_client_blocking`.
///
/// Each method that talks to the cluster returns an awaitable; the method of the same name with the suffix `_blocking`
/// does the same on the calling thread, without the GIL. Without a policy, the default policy is used. Closing the
/// client, leaving its context manager or dropping the last reference to it closes all connections; later calls raise
/// `ClientClosedError`.
#[pyclass(frozen, weakref, name = "Client", module = "aerolane.native")]
pub(crate) struct Client {
    core: Arc<ClientCore>,
    seeds: Box<str>,
}

impl Client {
    pub(crate) fn core(&self) -> &Arc<ClientCore> {
        &self.core
    }

    pub(crate) fn new(core: Arc<ClientCore>, seeds: Box<str>) -> Self {
        Self { core, seeds }
    }
}

twins! { Client {
        /// The cluster name that the policy requires.
        #[getter]
        fn cluster_name(&self, py: Python<'_>) -> PyResult<Option<String>> {
            self.core.check(py)?;
            Ok(self.core.raw.asynchronous().cluster_name())
        }

        /// The cluster name that the nodes report.
        #[getter]
        fn server_cluster_name(&self, py: Python<'_>) -> PyResult<Option<String>> {
            self.core.check(py)?;
            Ok(self.core.raw.asynchronous().server_cluster_name())
        }

        /// The addresses that the client was created with.
        fn seeds(&self) -> &str {
            &self.seeds
        }

        /// The version of Aerolane.
        #[staticmethod]
        fn client_version() -> &'static str {
            env!("CARGO_PKG_VERSION")
        }

        /// The version of aerospike-core, which carries out rare commands.
        #[staticmethod]
        fn core_version() -> &'static str {
            aerolane::Client::client_version()
        }

        /// Whether a namespace is in strong-consistency mode; `None` if the cluster does not have the namespace.
        fn is_strong_consistency(&self, py: Python<'_>, namespace: &str) -> PyResult<Option<bool>> {
            self.core.check(py)?;
            Ok(self.core.mode(namespace))
        }

        /// Whether the client is open and knows an active node.
        fn is_connected(&self) -> bool {
            self.core.is_connected()
        }

        /// The active nodes.
        fn nodes(&self, py: Python<'_>) -> PyResult<Vec<Node>> {
            Ok(NodeRef::all(py, &self.core)?.into_iter().map(Node).collect())
        }

        /// The names of the active nodes.
        fn node_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
            self.core.check_open(py)?;
            Ok(self.core.raw.asynchronous().node_names())
        }

        /// The active node of this name. Raises `InvalidNodeError` if there is none.
        fn get_node(&self, py: Python<'_>, name: &str) -> PyResult<Node> {
            NodeRef::named(py, &self.core, name).map(Node)
        }

        /// Returns counts of connections and requests as a dict: `nodes` (a list with a dict for each node), `total`,
        /// `loop_busy` and `topology_version`.
        ///
        /// Gauges: connections `open`, `idle`, `busy`, `opening`; requests `in_flight`, `queued`, `orphans` (in flight,
        /// but the caller has given up); and, for calls from asyncio, how the client adapts to the speed of a node:
        ///
        /// * `in_use`: the number of connections over which requests are spread. At most `open`.
        /// * `service_time_us`: how long the node works on one single-record request, during which the connection
        ///   answers no other. A mean in microseconds; None until it has been measured.
        /// * `round_trip_us`: how long a single-record request takes if no other request is ahead of it on its
        ///   connection. A mean in microseconds; None until it has been measured.
        ///
        /// The two times of `total` are means, weighted by `in_use`. The other counts only grow. Blocking calls are not
        /// included in `in_use` and the times. The counts of event loops are up to 0.1 s old.
        ///
        /// `loop_busy` tells how often the program kept an event loop busy for 0.1 s or more while requests were in
        /// flight (`count`), and for how many seconds (`total`, `longest`).
        fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
            self.core.check(py)?;
            let stats = self.core.raw.asynchronous().stats();
            stats::to_dict(py, &stats)
        }

        /// Enables metrics, or changes their policy (`None`: the default policy). Calls in flight are not measured.
        /// Changing `latency_unit` discards what was measured.
        #[pyo3(signature = (policy=None))]
        fn enable_metrics(&self, py: Python<'_>, policy: Option<&Bound<'_, MetricsPolicy>>) -> PyResult<()> {
            self.core.check(py)?;
            metrics::enable(py, &self.core, policy);
            Ok(())
        }

        /// Disables metrics. What was measured is kept.
        fn disable_metrics(&self, py: Python<'_>) -> PyResult<()> {
            self.core.check(py)?;
            metrics::disable(py, &self.core, false);
            Ok(())
        }

        /// Whether metrics are on.
        fn metrics_enabled(&self, py: Python<'_>) -> PyResult<bool> {
            self.core.check(py)?;
            Ok(metrics::enabled(&self.core.raw))
        }

        /// A snapshot of the metrics: a `ClusterMetrics`. Takes a few hundred microseconds, so do not call it for every
        /// operation.
        fn metrics(&self, py: Python<'_>) -> PyResult<ClusterMetrics> {
            self.core.check(py)?;
            metrics::snapshot(py, &self.core.raw)
        }

        /// A writer for many records that reports the outcome of each one, for asyncio. Its settings are those of
        /// `Session.writer`; records without a policy of their own use the default policy.
        #[pyo3(signature = (**settings))]
        fn writer(&self, py: Python<'_>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Writer> {
            Writer::native(py, &self.core, settings)
        }

        /// The same as `writer`, for code without asyncio.
        #[pyo3(signature = (**settings))]
        fn writer_blocking(&self, py: Python<'_>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<SyncWriter> {
            SyncWriter::native(py, &self.core, settings)
        }

        /// Writes a table with a writer of its own; the other arguments are the writer's settings. See `write_table` of
        /// writers. Awaitable of a `TableSummary`.
        #[pyo3(signature = (table, dataset, *, key, bins=None, nulls=None, ttl=None, policy=None, record_exists_action=None, durable_delete=None, keep_failures=None, **settings))]
        #[allow(clippy::too_many_arguments)] // the arguments of the Python method
        fn write_table(
            &self,
            py: Python<'_>,
            table: &Bound<'_, PyAny>,
            dataset: &Bound<'_, PyAny>,
            key: &Bound<'_, PyAny>,
            bins: Option<&Bound<'_, PyAny>>,
            nulls: Option<&Bound<'_, PyAny>>,
            ttl: Option<&Bound<'_, PyAny>>,
            policy: Option<&Bound<'_, PyAny>>,
            record_exists_action: Option<&Bound<'_, PyAny>>,
            durable_delete: Option<&Bound<'_, PyAny>>,
            keep_failures: Option<&Bound<'_, PyAny>>,
            settings: Option<&Bound<'_, PyDict>>,
        ) -> PyResult<Py<PyAny>> {
            Writer::write_once(py, || Writer::native(py, &self.core, settings), &TableArguments {
                table, dataset, key, bins, nulls, ttl, policy, record_exists_action, durable_delete, keep_failures,
            })
        }

        /// The same as `write_table`, on the calling thread. Returns a `TableSummary`.
        #[pyo3(signature = (table, dataset, *, key, bins=None, nulls=None, ttl=None, policy=None, record_exists_action=None, durable_delete=None, keep_failures=None, **settings))]
        #[allow(clippy::too_many_arguments)] // the arguments of the Python method
        fn write_table_blocking(
            &self,
            py: Python<'_>,
            table: &Bound<'_, PyAny>,
            dataset: &Bound<'_, PyAny>,
            key: &Bound<'_, PyAny>,
            bins: Option<&Bound<'_, PyAny>>,
            nulls: Option<&Bound<'_, PyAny>>,
            ttl: Option<&Bound<'_, PyAny>>,
            policy: Option<&Bound<'_, PyAny>>,
            record_exists_action: Option<&Bound<'_, PyAny>>,
            durable_delete: Option<&Bound<'_, PyAny>>,
            keep_failures: Option<&Bound<'_, PyAny>>,
            settings: Option<&Bound<'_, PyDict>>,
        ) -> PyResult<Py<PyAny>> {
            SyncWriter::write_once(py, || SyncWriter::native(py, &self.core, settings), &TableArguments {
                table, dataset, key, bins, nulls, ttl, policy, record_exists_action, durable_delete, keep_failures,
            })
        }

        /// Closes all connections. Operations in flight fail with `ClientClosedError`. A second call does nothing.
        /// Awaitable.
        fn close(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
            close(py, &self.core)
        }

        /// Closes all connections. Operations in flight fail with `ClientClosedError`. A second call does nothing.
        #[pyo3(name = "close_blocking")]
        fn py_close_blocking(&self, py: Python<'_>) {
            close_blocking(py, &self.core);
        }

        /// Whether a record exists, as older clients return it: an awaitable of `(key, {"gen": .., "ttl": ..})`, with
        /// `None` instead of the metadata if the record does not exist.
        #[pyo3(signature = (key, *, policy=None))]
        fn exists_legacy(
            &self,
            py: Python<'_>,
            key: &Bound<'_, PyAny>,
            policy: Option<&Bound<'_, PyAny>>,
        ) -> PyResult<Py<PyAny>> {
            host::at_await(py, "exists_legacy", || {
                let (key, policy) = (argument("key", key)?, optional("policy", policy)?);
                native::exists_legacy(py, &self.core, key, policy)?.start(py, &self.core)
            })
        }

        fn __enter__(slf: Py<Self>) -> Py<Self> {
            slf
        }

        #[pyo3(signature = (*_exception))]
        fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> bool {
            close_blocking(py, &self.core);
            false
        }

        fn __aenter__(slf: Py<Self>, py: Python<'_>) -> PyResult<Py<PyAny>> {
            host::ready_as(py, "__aenter__", slf.into_any())
        }

        #[pyo3(signature = (*_exception))]
        fn __aexit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
            close(py, &self.core)
        }

        fn __repr__(&self) -> String {
            format!("<Client of {:?}, {}>", self.seeds, self.core.state())
        }
    }

    /// Reads a record: all its bins, only `bins` (a list of names), or none if it is an empty list.
    ///
    /// In strong-consistency namespaces, `policy_sc` is used instead of `policy`. Returns a `Record`; raises
    /// `RecordNotFoundError` if it does not exist.
    get, get_blocking
        (key, bins=None, *, policy=None, policy_sc=None, filter_expression=None, txn=None)
        (key: &Bound<'_, Key>, bins: Option<&Bound<'_, PyAny>>, policy: Option<&Bound<'_, ReadPolicy>>,
            policy_sc: Option<&Bound<'_, ReadPolicy>>, filter_expression: Option<&Bound<'_, PyAny>>,
            txn: Option<&Bound<'_, PyAny>>)
        => native::get [key, bins, policy, policy_sc, CallOptions { filter_expression, txn }];

    /// Writes bins, a dict of values by name; a value of `None` removes the bin. Other bins of the record do not
    /// change, unless `policy.record_exists_action` says otherwise.
    ///
    /// In strong-consistency namespaces, `policy_sc` is used instead of `policy`.
    put, put_blocking
        (key, bins, *, policy=None, policy_sc=None, txn=None)
        (key: &Bound<'_, Key>, bins: &Bound<'_, PyAny>, policy: Option<&Bound<'_, WritePolicy>>,
            policy_sc: Option<&Bound<'_, WritePolicy>>, txn: Option<&Bound<'_, PyAny>>)
        => native::put [key, bins, policy, policy_sc, CallOptions { filter_expression: None, txn }];

    /// Adds numbers to bins. A missing bin or record counts as 0.
    add, add_blocking
        (key, bins, *, policy=None)
        (key: &Bound<'_, Key>, bins: &Bound<'_, PyAny>, policy: Option<&Bound<'_, WritePolicy>>)
        => native::write [WriteKind::Add, key, bins, policy];

    /// Appends strings or bytes to bins.
    append, append_blocking
        (key, bins, *, policy=None)
        (key: &Bound<'_, Key>, bins: &Bound<'_, PyAny>, policy: Option<&Bound<'_, WritePolicy>>)
        => native::write [WriteKind::Append, key, bins, policy];

    /// Prepends strings or bytes to bins.
    prepend, prepend_blocking
        (key, bins, *, policy=None)
        (key: &Bound<'_, Key>, bins: &Bound<'_, PyAny>, policy: Option<&Bound<'_, WritePolicy>>)
        => native::write [WriteKind::Prepend, key, bins, policy];

    /// Deletes a record. Returns whether it existed.
    delete, delete_blocking
        (key, *, policy=None)
        (key: &Bound<'_, Key>, policy: Option<&Bound<'_, WritePolicy>>)
        => native::delete [key, policy];

    /// Resets the TTL of a record (to the policy's expiration) and increments its generation.
    ///
    /// Raises `RecordNotFoundError` if the record does not exist.
    touch, touch_blocking
        (key, *, policy=None)
        (key: &Bound<'_, Key>, policy: Option<&Bound<'_, WritePolicy>>)
        => native::touch [key, policy];

    /// Whether a record exists.
    exists, exists_blocking
        (key, *, policy=None)
        (key: &Bound<'_, Key>, policy: Option<&Bound<'_, ReadPolicy>>)
        => native::exists [key, policy];

    /// Executes several operations on one record, in order and atomically. Returns a `Record` with their results.
    ///
    /// In strong-consistency namespaces, `policy_sc` is used instead of `policy`. `record_exists_action`, `expiration`,
    /// `generation` (which the record must have) and `durable_delete` override the policy.
    operate, operate_blocking
        (key, operations, *, policy=None, policy_sc=None, record_exists_action=None, expiration=None, generation=None,
            durable_delete=None, filter_expression=None, txn=None)
        (key: &Bound<'_, Key>, operations: &Bound<'_, PyAny>, policy: Option<&Bound<'_, WritePolicy>>,
            policy_sc: Option<&Bound<'_, WritePolicy>>, record_exists_action: Option<&Bound<'_, PyAny>>,
            expiration: Option<&Bound<'_, Expiration>>, generation: Option<u32>, durable_delete: Option<bool>,
            filter_expression: Option<&Bound<'_, PyAny>>, txn: Option<&Bound<'_, PyAny>>)
        => native::operate [key, operations, policy, policy_sc,
            Overrides { record_exists_action, expiration, generation, durable_delete },
            CallOptions { filter_expression, txn }];

    /// Reads many records: all bins, only `bins`, or none if it is an empty list. Returns a list of `BatchRecord` in
    /// the order of the keys; the row of a record that does not exist has the result code `KEY_NOT_FOUND_ERROR`.
    ///
    /// If the whole request to a node fails (a timeout or a lost connection, after all retries), its rows have that
    /// error. It is raised if the server answered no row at all; the exception then has the rows as `records`.
    ///
    /// With `as_numpy`, a structured dtype with a field for each bin (`[("age", "i8"), ("name", "S16")]`), it returns
    /// `NumpyRecords`: numpy arrays that are filled straight from the answers, without the GIL. Raises `TypeError` if a
    /// field has a type that bins cannot be converted to.
    ///
    /// With `as_arrow`, it returns `ArrowRecords`: Arrow columns for pyarrow, polars and others. Pass `True` for columns
    /// whose types are those of the records, a schema with a column for each bin (as for `Recordset.to_arrow`), or an
    /// `ArrowColumns`, which can also add columns for keys and more. Raises `TypeError` if a column has a type that bins
    /// cannot be converted to, `InvalidArgumentError` if a bin has values of several types (see `ArrowColumns`), and
    /// `ValueError` if `as_numpy` is given as well.
    batch_read, batch_read_blocking
        (keys, bins=None, *, batch_policy=None, read_policy=None, as_numpy=None, as_arrow=None)
        (keys: &Bound<'_, PyAny>, bins: Option<&Bound<'_, PyAny>>, batch_policy: Option<&Bound<'_, BatchPolicy>>,
            read_policy: Option<&Bound<'_, BatchReadPolicy>>, as_numpy: Option<&Bound<'_, PyAny>>,
            as_arrow: Option<&Bound<'_, PyAny>>)
        => batch::read [keys, bins, batch_policy, read_policy, as_numpy, as_arrow];

    /// Writes many records: to each key the bins at the same index in `bins_list`. Returns a list of `BatchRecord`.
    ///
    /// Without `batch_policy`, nothing is retried. Raises `ValueError` if the lists differ in length.
    batch_write, batch_write_blocking
        (keys, bins_list, *, batch_policy=None, write_policy=None)
        (keys: &Bound<'_, PyAny>, bins_list: &Bound<'_, PyAny>, batch_policy: Option<&Bound<'_, BatchPolicy>>,
            write_policy: Option<&Bound<'_, BatchWritePolicy>>)
        => batch::write [keys, bins_list, batch_policy, write_policy];

    /// Executes operations on many records: on each key the operations at the same index in `operations_list`. Returns
    /// a list of `BatchRecord`.
    ///
    /// Without `batch_policy`, nothing is retried if an operation writes. Raises `ValueError` if the lists differ in
    /// length.
    batch_operate, batch_operate_blocking
        (keys, operations_list, *, batch_policy=None, write_policy=None)
        (keys: &Bound<'_, PyAny>, operations_list: &Bound<'_, PyAny>, batch_policy: Option<&Bound<'_, BatchPolicy>>,
            write_policy: Option<&Bound<'_, BatchWritePolicy>>)
        => batch::operate [keys, operations_list, batch_policy, write_policy];

    /// Deletes many records. Returns a list of `BatchRecord`. Without `batch_policy`, nothing is retried.
    batch_delete, batch_delete_blocking
        (keys, *, batch_policy=None, delete_policy=None)
        (keys: &Bound<'_, PyAny>, batch_policy: Option<&Bound<'_, BatchPolicy>>, delete_policy: Option<&Bound<'_, BatchDeletePolicy>>)
        => batch::delete [keys, batch_policy, delete_policy];

    /// Checks which of many records exist. Returns a list of bools. Raises the error of a row that failed for any other
    /// reason.
    batch_exists, batch_exists_blocking
        (keys, *, batch_policy=None, read_policy=None)
        (keys: &Bound<'_, PyAny>, batch_policy: Option<&Bound<'_, BatchPolicy>>, read_policy: Option<&Bound<'_, BatchReadPolicy>>)
        => batch::exists [keys, batch_policy, read_policy];

    /// Reads the generation and expiration of many records. Returns a list of `Record` without bins, `None` for records
    /// that do not exist. Raises the error of a row that failed for any other reason.
    batch_get_header, batch_get_header_blocking
        (keys, *, batch_policy=None, read_policy=None)
        (keys: &Bound<'_, PyAny>, batch_policy: Option<&Bound<'_, BatchPolicy>>, read_policy: Option<&Bound<'_, BatchReadPolicy>>)
        => batch::headers [keys, batch_policy, read_policy];

    /// Applies the function `function_name` of the UDF module `udf_name` (without `.lua`) to many records, with the
    /// same `args` (a list, or None). Returns a list of `BatchRecord`. The function's return value is in the bin
    /// `"SUCCESS"` of the row's record; if the function failed, the row has a `UdfError` with the server's message
    /// (file, line and what was wrong).
    ///
    /// Without `batch_policy`, nothing is retried. Raises what `execute_udf` raises for arguments that cannot be sent.
    batch_apply, batch_apply_blocking
        (keys, udf_name, function_name, args=None, *, batch_policy=None, udf_policy=None)
        (keys: &Bound<'_, PyAny>, udf_name: &str, function_name: &str, args: Option<&Bound<'_, PyAny>>,
            batch_policy: Option<&Bound<'_, BatchPolicy>>, udf_policy: Option<&Bound<'_, BatchUDFPolicy>>)
        => batch::apply [keys, udf_name, function_name, args, batch_policy, udf_policy];

    /// Executes a batch with rows of all kinds: `BatchReadOp`, `BatchWriteOp`, `BatchDeleteOp`, `BatchUDFOp`. Returns a
    /// list of `BatchRecord`.
    ///
    /// Without `batch_policy`, nothing is retried if a row writes.
    batch, batch_blocking
        (ops, *, batch_policy=None)
        (ops: &Bound<'_, PyAny>, batch_policy: Option<&Bound<'_, BatchPolicy>>)
        => batch::mixed [ops, batch_policy];

    /// The same as `batch`, but returns the rows as the nodes answer: a `BatchRecordStream` of pairs of a row's index
    /// in `ops` and its `BatchRecord`. Cannot be part of a transaction (`InvalidArgumentError`).
    batch_stream, batch_stream_blocking
        (ops, *, batch_policy=None)
        (ops: &Bound<'_, PyAny>, batch_policy: Option<&Bound<'_, BatchPolicy>>)
        => batch::stream [ops, batch_policy];

    /// Sends an info command to one of the nodes. Returns a dict of the answers by command.
    info, info_blocking
        (command)
        (command: &str)
        => control::info [command];

    /// Sends an info command to each node. Returns a dict of the answers by node name, each a dict by command.
    info_on_all_nodes, info_on_all_nodes_blocking
        (command)
        (command: &str)
        => control::info_on_all_nodes [command];

    /// Removes all records of a set (of the whole namespace if `set_name` is empty) that were last written before
    /// `before_nanos`, in nanoseconds since 1970. `None` or 0: all records that exist now.
    truncate, truncate_blocking
        (namespace, set_name, before_nanos=None, *, policy=None)
        (namespace: &str, set_name: &str, before_nanos: Option<i64>, policy: Option<&Bound<'_, AdminPolicy>>)
        => control::truncate [namespace, set_name, before_nanos, policy];

    /// Starts a query. Returns a `Recordset`; iterate over it to get the records.
    ///
    /// `statement`: which records and bins. `partition_filter`: which partitions to read, and from which position
    /// (`None`: all partitions); the query advances it, so the next query with it continues there. An unknown namespace
    /// raises at once; errors of the servers are raised by the iteration.
    query, query_blocking
        (statement, partition_filter=None, *, policy=None)
        (statement: &Bound<'_, Statement>, partition_filter: Option<&Bound<'_, PartitionFilter>>,
            policy: Option<&Bound<'_, QueryPolicy>>)
        => query::query [statement, partition_filter, policy];

    /// Asks the servers how they would find the records for which `ael`, an expression as text, is true. Returns a
    /// `QueryPlan`. Server 8.2 and later (`Version.supports_query_selection`).
    ///
    /// `set_name`: only records of this set; `None`: of all sets. `index_name_hint`: an index to prefer.
    /// `explain_where_flags`: bits of `QueryWhereFlags`; `None`: only `EXPLAIN`.
    ///
    /// Raises `AerospikeError` with the result code `UNSUPPORTED_FEATURE` if a node is older (nothing is sent then),
    /// `InvalidArgumentError` (a `ValueError`) for a blank condition, unknown flags, flags without `EXPLAIN`, and
    /// `HARD_HINT` without a hint, and the server's error for an invalid condition or an index that it cannot use.
    query_explain, query_explain_blocking
        (namespace, ael, *, set_name=None, index_name_hint=None, explain_where_flags=None, policy=None)
        (namespace: &str, ael: &str, set_name: Option<&str>, index_name_hint: Option<&str>,
            explain_where_flags: Option<Flags>, policy: Option<&Bound<'_, QueryPolicy>>)
        => query::explain [namespace, ael, set_name, index_name_hint, explain_where_flags, policy];

    /// Starts a query with a plan from `query_explain`. Returns a `Recordset`, as `query` does. The plan determines the
    /// condition and the index; `statement` determines which bins are returned, or which operations are executed.
    ///
    /// Raises `InvalidArgumentError` (a `ValueError`) if the statement has a filter or a different namespace or set
    /// than the plan, or if the policy has a filter expression; `FilteredOutError` if the plan says that no record can
    /// match; and what `query` raises.
    query_with_plan, query_with_plan_blocking
        (statement, partition_filter, plan, *, policy=None)
        (statement: &Bound<'_, Statement>, partition_filter: Option<&Bound<'_, PartitionFilter>>,
            plan: &Bound<'_, QueryPlan>, policy: Option<&Bound<'_, QueryPolicy>>)
        => query::with_plan [statement, partition_filter, plan, policy];

    /// Executes write operations on all records that a query finds, in the background on the servers. Returns an
    /// `ExecuteTask` to wait for.
    ///
    /// `write_policy.records_per_second` limits the rate. Raises the error of the first node that refuses the task;
    /// other nodes may still execute it (`in_doubt`).
    query_operate, query_operate_blocking
        (statement, operations, *, write_policy=None)
        (statement: &Bound<'_, Statement>, operations: &Bound<'_, PyAny>, write_policy: Option<&Bound<'_, WritePolicy>>)
        => query::operate [statement, operations, write_policy];

    /// Applies a function of a UDF module to all records that a query finds, in the background on the servers. Returns
    /// an `ExecuteTask` to wait for. `package_name`: the module's name without `.lua`.
    query_execute_udf, query_execute_udf_blocking
        (statement, package_name, function_name, args=None, *, write_policy=None)
        (statement: &Bound<'_, Statement>, package_name: &str, function_name: &str, args: Option<&Bound<'_, PyAny>>,
            write_policy: Option<&Bound<'_, WritePolicy>>)
        => query::execute_udf [statement, package_name, function_name, args, write_policy];

    /// Applies a function of a UDF module to one record and returns its result. `server_path`: the module's name
    /// without `.lua`. `args`: a list.
    ///
    /// Raises `UdfError` if the function fails, with the server's message: file, line and what was wrong.
    execute_udf, execute_udf_blocking
        (key, server_path, function_name, args=None, *, policy=None)
        (key: &Bound<'_, Key>, server_path: &str, function_name: &str, args: Option<&Bound<'_, PyAny>>,
            policy: Option<&Bound<'_, WritePolicy>>)
        => udf::execute [key, server_path, function_name, args, policy];

    /// Registers a UDF module under the name `server_path`, which ends in `.lua` (such as `"sums.lua"`). `udf_body`:
    /// its source, as str or bytes. Returns a `RegisterTask`: wait for it before the first call.
    ///
    /// Raises `UdfError` with the server's message if the source does not compile.
    register_udf, register_udf_blocking
        (udf_body, server_path, language=None, *, policy=None)
        (udf_body: &Bound<'_, PyAny>, server_path: &str, language: Option<&Bound<'_, PyAny>>,
            policy: Option<&Bound<'_, AdminPolicy>>)
        => udf::register [udf_body, server_path, language, policy];

    /// The same as `register_udf`, with the source from the file `client_path`, which is read at once. Raises `OSError`
    /// if it cannot be read.
    register_udf_from_file, register_udf_from_file_blocking
        (client_path, server_path, language=None, *, policy=None)
        (client_path: std::path::PathBuf, server_path: &str, language: Option<&Bound<'_, PyAny>>,
            policy: Option<&Bound<'_, AdminPolicy>>)
        => udf::register_from_file [client_path, server_path, language, policy];

    /// Removes a UDF module. Returns a `UdfRemoveTask` to wait for.
    remove_udf, remove_udf_blocking
        (server_path, *, policy=None)
        (server_path: &str, policy: Option<&Bound<'_, AdminPolicy>>)
        => udf::remove [server_path, policy];

    /// The registered UDF modules: a list of dicts with `filename`, `hash` and `type`.
    list_udf, list_udf_blocking
        (*, policy=None)
        (policy: Option<&Bound<'_, AdminPolicy>>)
        => udf::list [policy];

    /// Creates a secondary index on a bin, or on what `ctx` (a list of `CTX`) selects in it. `cit`: which items of a
    /// list or map are indexed (a `CollectionIndexType`). `set_name`: the set; `""` and `None` mean all records.
    /// Returns an `IndexTask`: wait for it before the first query.
    ///
    /// Raises `IndexFoundError` if a different index has this name. Creating the same index again is accepted.
    create_index, create_index_blocking
        (namespace, set_name, bin_name, index_name, index_type, cit=None, ctx=None, *, policy=None)
        (namespace: &str, set_name: Option<&str>, bin_name: &Bound<'_, PyString>, index_name: &str,
            index_type: &Bound<'_, PyAny>, cit: Option<&Bound<'_, PyAny>>, ctx: Option<&Bound<'_, PyAny>>,
            policy: Option<&Bound<'_, AdminPolicy>>)
        => index::create [namespace, set_name, bin_name, index_name, index_type, cit, ctx, policy];

    /// Creates a secondary index on the value of an expression (server 8.1 and later). Returns an `IndexTask`.
    create_index_using_expression, create_index_using_expression_blocking
        (namespace, set_name, index_name, index_type, expression, cit=None, *, policy=None)
        (namespace: &str, set_name: Option<&str>, index_name: &str, index_type: &Bound<'_, PyAny>,
            expression: &Bound<'_, PyAny>, cit: Option<&Bound<'_, PyAny>>, policy: Option<&Bound<'_, AdminPolicy>>)
        => index::create_using_expression [namespace, set_name, index_name, index_type, expression, cit, policy];

    /// Creates an index of the records of a set (server 8.1.2 and later). Returns an `IndexTask`.
    create_set_index, create_set_index_blocking
        (namespace, set_name, index_name, *, policy=None)
        (namespace: &str, set_name: &str, index_name: &str, policy: Option<&Bound<'_, AdminPolicy>>)
        => index::create_of_set [namespace, set_name, index_name, policy];

    /// Drops an index. Returns a `DropIndexTask`. The servers also accept the name of an index that does not exist.
    drop_index, drop_index_blocking
        (namespace, set_name, index_name, *, policy=None)
        (namespace: &str, set_name: Option<&str>, index_name: &str, policy: Option<&Bound<'_, AdminPolicy>>)
        => index::drop_index [namespace, set_name, index_name, policy];

    /// Creates a user with a password and roles (a list of names). Like all calls about users and roles, it raises
    /// `SecurityError` if security is not enabled on the cluster.
    create_user, create_user_blocking
        (user, password, roles, *, policy=None)
        (user: &str, password: &str, roles: Vec<String>, policy: Option<&Bound<'_, AdminPolicy>>)
        => admin::create_user [user, password, roles, policy];

    /// Creates a user who logs in with a TLS certificate.
    create_pki_user, create_pki_user_blocking
        (user, roles, *, policy=None)
        (user: &str, roles: Vec<String>, policy: Option<&Bound<'_, AdminPolicy>>)
        => admin::create_pki_user [user, roles, policy];

    /// Commits a transaction: verifies that the records it read have not changed, and makes its writes visible. Returns
    /// a `CommitStatus`.
    ///
    /// Raises `CommitFailedError` if the transaction could not be committed, with the stage as `commit_error_type`.
    /// Once `txn.state` is `COMMIT_FAILED`, only another commit can find out what happened. Raises `TransactionError`
    /// if the transaction was aborted.
    commit, commit_blocking
        (txn, *, verify_policy=None, roll_policy=None)
        (txn: &Bound<'_, Txn>, verify_policy: Option<&Bound<'_, TxnVerifyPolicy>>,
            roll_policy: Option<&Bound<'_, TxnRollPolicy>>)
        => transaction::commit [txn, verify_policy, roll_policy];

    /// Aborts a transaction and reverts its writes. Returns an `AbortStatus`.
    ///
    /// Raises `TransactionError` if the transaction was committed, or if its commit failed in doubt.
    abort, abort_blocking
        (txn, *, roll_policy=None)
        (txn: &Bound<'_, Txn>, roll_policy: Option<&Bound<'_, TxnRollPolicy>>)
        => transaction::abort [txn, roll_policy];

    /// Removes a user.
    drop_user, drop_user_blocking
        (user, *, policy=None)
        (user: &str, policy: Option<&Bound<'_, AdminPolicy>>)
        => admin::drop_user [user, policy];

    /// Changes a user's password. Users need no privilege to change their own.
    change_password, change_password_blocking
        (user, password, *, policy=None)
        (user: &str, password: &str, policy: Option<&Bound<'_, AdminPolicy>>)
        => admin::change_password [user, password, policy];

    /// Grants a user additional roles.
    grant_roles, grant_roles_blocking
        (user, roles, *, policy=None)
        (user: &str, roles: Vec<String>, policy: Option<&Bound<'_, AdminPolicy>>)
        => admin::grant_roles [user, roles, policy];

    /// Revokes roles from a user.
    revoke_roles, revoke_roles_blocking
        (user, roles, *, policy=None)
        (user: &str, roles: Vec<String>, policy: Option<&Bound<'_, AdminPolicy>>)
        => admin::revoke_roles [user, roles, policy];

    /// One user, or all: a list of `User`.
    query_users, query_users_blocking
        (user=None, *, policy=None)
        (user: Option<&str>, policy: Option<&Bound<'_, AdminPolicy>>)
        => admin::query_users [user, policy];

    /// One role, or all: a list of `Role`.
    query_roles, query_roles_blocking
        (role=None, *, policy=None)
        (role: Option<&str>, policy: Option<&Bound<'_, AdminPolicy>>)
        => admin::query_roles [role, policy];

    /// Creates a role. `privileges`: what it allows. `allowlist`: the addresses from which it can be used; empty: any.
    /// `read_quota`, `write_quota`: operations per second; 0: no limit.
    create_role, create_role_blocking
        (role_name, privileges, allowlist, read_quota, write_quota, *, policy=None)
        (role_name: &str, privileges: Vec<PyRef<'_, Privilege>>, allowlist: Vec<String>, read_quota: u32,
            write_quota: u32, policy: Option<&Bound<'_, AdminPolicy>>)
        => admin::create_role [role_name, privileges, allowlist, read_quota, write_quota, policy];

    /// Removes a role.
    drop_role, drop_role_blocking
        (role_name, *, policy=None)
        (role_name: &str, policy: Option<&Bound<'_, AdminPolicy>>)
        => admin::drop_role [role_name, policy];

    /// Grants a role additional privileges.
    grant_privileges, grant_privileges_blocking
        (role_name, privileges, *, policy=None)
        (role_name: &str, privileges: Vec<PyRef<'_, Privilege>>, policy: Option<&Bound<'_, AdminPolicy>>)
        => admin::grant_privileges [role_name, privileges, policy];

    /// Revokes privileges from a role.
    revoke_privileges, revoke_privileges_blocking
        (role_name, privileges, *, policy=None)
        (role_name: &str, privileges: Vec<PyRef<'_, Privilege>>, policy: Option<&Bound<'_, AdminPolicy>>)
        => admin::revoke_privileges [role_name, privileges, policy];

    /// Sets the addresses from which a role can be used; empty: any.
    set_allowlist, set_allowlist_blocking
        (role_name, allowlist, *, policy=None)
        (role_name: &str, allowlist: Vec<String>, policy: Option<&Bound<'_, AdminPolicy>>)
        => admin::set_allowlist [role_name, allowlist, policy];

    /// Sets a role's quotas: operations per second; 0: no limit.
    set_quotas, set_quotas_blocking
        (role_name, read_quota, write_quota, *, policy=None)
        (role_name: &str, read_quota: u32, write_quota: u32, policy: Option<&Bound<'_, AdminPolicy>>)
        => admin::set_quotas [role_name, read_quota, write_quota, policy];

    /// Sets the filter for records that are sent to a datacenter (cross-datacenter replication, Enterprise Edition);
    /// `None` removes it.
    set_xdr_filter, set_xdr_filter_blocking
        (datacenter, namespace, filter_expression=None, *, policy=None)
        (datacenter: &str, namespace: &str, filter_expression: Option<&Bound<'_, PyAny>>,
            policy: Option<&Bound<'_, AdminPolicy>>)
        => admin::set_xdr_filter [datacenter, namespace, filter_expression, policy];
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // The session has classes of these names.
    module.add("NativeClient", module.py().get_type::<Client>())?;
    module.add_class::<local::LocalClient>()?;
    module.add("NativeNode", module.py().get_type::<Node>())?;
    module.add_class::<Version>()?;
    module.add_function(wrap_pyfunction!(connect::new_client, module)?)?;
    module.add_function(wrap_pyfunction!(connect::new_client_blocking, module)?)
}
