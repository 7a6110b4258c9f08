//! Sessions: the fast path, with the policies of a behavior.

use std::sync::Arc;

use aerolane::raw::command::encode::WriteKind;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyList, PyString, PyTuple};

use super::admin::{indexes, modules};
use super::named::{Named, dataset_of};
use super::retrying::{self, Plan, TransactionRun};
use super::transaction::{SyncTransactionalSession, TransactionalSession};
use crate::argument::{argument, optional};
use crate::batch::rows::{check_keys, checked_key, each_item, room};
use crate::behavior::{Behavior, BehaviorArgument};
use crate::builder::background::{BackgroundTaskSession, SyncBackgroundTaskSession};
use crate::builder::context::Context;
use crate::builder::surface::{
    DataSetWriteBuilder, QueryBuilder, Surface, SyncDataSetWriteBuilder, SyncQueryBuilder, SyncUdfFunctionBuilder,
    SyncWriteSegmentBuilder, UdfFunctionBuilder, WriteSegmentBuilder,
};
use crate::builder::verb::{Verb, verbs};
use crate::client::control;
use crate::command::Executable;
use crate::command::single;
use crate::core::ClientCore;
use crate::dataset::DataSet;
use crate::fast_call::fast_call;
use crate::index::builder::{Arguments, IndexBuilder, SyncIndexBuilder};
use crate::info::commands::{InfoCommands, SyncInfoCommands};
use crate::instance::instance;
use crate::key::Key;
use crate::txn::{self, Txn};
use crate::writer::{SyncWriter, TableArguments, Writer};
use crate::{errors, host, index, info, udf};

/// What sessions of both kinds are made of.
pub(super) struct Common(Arc<Context>);

impl Common {
    pub(super) fn of(context: Arc<Context>) -> Self {
        Self(context)
    }

    /// Returns another session of the same cluster with another behavior.
    fn session_for(&self, py: Python<'_>, behavior: Py<Behavior>) -> PyResult<Self> {
        self.0.derived(py, behavior, None).map(Self)
    }

    /// Refuses calls of a transaction that has ended.
    #[inline]
    fn check_txn(&self, py: Python<'_>) -> PyResult<()> {
        self.0.check_txn(py)
    }

    fn core(&self) -> &Arc<ClientCore> {
        &self.0.core
    }

    fn behavior(&self, py: Python<'_>) -> Py<Behavior> {
        self.0.behavior.clone_ref(py)
    }

    /// For people, as in the SDK of Aerospike.
    fn describe(&self, py: Python<'_>) -> PyResult<String> {
        let name = PyString::new(py, self.0.behavior.get().name());
        let txn = if self.0.txn.is_some() { ", in a transaction" } else { "" };
        Ok(format!("Session(behavior={}{txn})", name.repr()?))
    }

    #[inline]
    fn get<'a>(&self, key: &'a Bound<'_, Key>, bins: Option<&'a Bound<'_, PyAny>>) -> impl Executable {
        single::get(self.core(), key, bins, self.0.read(key.get()))
    }

    #[inline]
    fn put<'a>(&self, key: &'a Bound<'_, Key>, bins: &'a Bound<'_, PyAny>) -> impl Executable {
        single::write(self.core(), WriteKind::Put, key, bins, self.0.write(key.get()))
    }

    fn truncate(
        &self,
        py: Python<'_>,
        dataset: &Bound<'_, DataSet>,
        before_nanos: Option<i64>,
    ) -> PyResult<impl Executable + use<>> {
        let (namespace, set) = dataset.get().names();
        control::truncate(py, self.core(), namespace, set, before_nanos, None)
    }

    fn is_namespace_sc(&self, py: Python<'_>, namespace: &str) -> PyResult<bool> {
        self.core().check_open(py)?;
        let topology = self.core().raw.cluster().topology();
        let namespace = topology.namespace(namespace).map_err(|e| errors::to_py(py, &e))?;
        Ok(namespace.strong_consistency())
    }

    fn namespace_sc_status(&self, py: Python<'_>, namespace: &str) -> PyResult<Py<PyAny>> {
        self.core().check_open(py)?;
        let status = match self.core().mode(namespace) {
            Some(true) => (true, String::new()),
            Some(false) => (false, format!("the namespace {namespace:?} is in AP mode")),
            None => (false, format!("the cluster has no namespace {namespace:?}")),
        };
        Ok(status_class(py)?.call1(status)?.unbind())
    }
}

/// `NamespaceScStatus`, a named tuple.
pub(super) fn status_class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || {
        let fields = [("is_sc", py.get_type::<PyBool>()), ("detail", py.get_type::<PyString>())];
        let class = py.import("typing")?.getattr("NamedTuple")?.call1(("NamespaceScStatus", fields.to_vec()))?;
        class.setattr("__module__", "aerolane")?;
        class.setattr(
            "__doc__",
            "Whether a namespace is in strong-consistency mode (`is_sc`), and if it is not, why (`detail`).",
        )?;
        Ok::<_, PyErr>(class.unbind())
    })?;
    Ok(class.bind(py))
}

/// The keys in a list or another iterable.
fn keys<'py>(keys: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, Key>>> {
    check_keys(keys)?;
    let mut all = Vec::with_capacity(room(keys));
    each_item(keys, |place, item| {
        all.push(checked_key(place, item)?);
        Ok(())
    })?;
    Ok(all)
}

/// The arguments of one call for each key.
fn with_each_key<'py>(
    keys: Vec<Bound<'py, Key>>,
    bins: Option<&Bound<'py, PyAny>>,
    py: Python<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let arguments = PyList::empty(py);
    for key in keys {
        arguments.append((key, bins))?;
    }
    Ok(arguments.into_any())
}

/// The same of keys that an async iterable gives as it is asked for them; `None` if `keys` is none.
fn with_each_async_key<'py>(
    keys: &Bound<'py, PyAny>,
    bins: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = keys.py();
    if keys.is_exact_instance_of::<PyList>() || !keys.hasattr(pyo3::intern!(py, "__aiter__"))? {
        return Ok(None);
    }
    py.import("aerolane.concurrent._event_loop")?.getattr("with_each_key")?.call1((keys, bins)).map(Some)
}

/// One call of `method` for each of `arguments`, with bounded concurrency: exceptions stand in the place of results. `module`
/// says how.
fn many(
    session: &Bound<'_, PyAny>,
    module: &str,
    method: &str,
    arguments: Bound<'_, PyAny>,
    concurrency: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let py = session.py();
    let named = PyDict::new(py);
    named.set_item("raise_on_first_error", false)?;
    if let Some(concurrency) = concurrency {
        named.set_item("concurrency", concurrency)?;
    }
    let run = py.import(module)?.getattr("execute_concurrent_with_args")?;
    run.call((session, method, arguments), Some(&named)).map(Bound::unbind)
}

/// Reads and writes records with the policies of a behavior, for asyncio. `create_session` makes one.
#[pyclass(frozen, subclass, weakref, module = "aerolane")]
pub(crate) struct Session(pub(super) Common);

#[pymethods]
impl Session {
    /// The behavior that the session takes its policies from.
    #[getter]
    fn behavior(&self, py: Python<'_>) -> Py<Behavior> {
        self.0.behavior(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.0.describe(py)
    }

    /// Returns another session of the same cluster with another behavior.
    fn session_for(&self, py: Python<'_>, behavior: BehaviorArgument) -> PyResult<Self> {
        self.0.session_for(py, behavior.0).map(Self)
    }

    /// Reads a record: all its bins, or only those of the list `bins`; an empty list reads none. Awaitable of a
    /// `Record`.
    ///
    /// Raises `RecordNotFoundError` if the record does not exist.
    #[pyo3(signature = (key, bins=None))]
    fn get(&self, py: Python<'_>, key: &Bound<'_, PyAny>, bins: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        host::at_await(py, "get", || {
            self.0.check_txn(py)?;
            self.0.get(argument("key", key)?, bins).start(py, self.0.core())
        })
    }

    /// Writes bins, given as a dict; a value of `None` removes its bin. Other bins of the record stay as they are.
    /// Awaitable of `None`.
    fn put(&self, py: Python<'_>, key: &Bound<'_, PyAny>, bins: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        host::at_await(py, "put", || {
            self.0.check_txn(py)?;
            self.0.put(argument("key", key)?, bins).start(py, self.0.core())
        })
    }

    /// Reads many records, each as `get` does, all at once, or `concurrency` at a time (in a transaction 100 by default).
    /// Awaitable of a list with, for each key in order, its `Record`, or the exception that `get` would have raised.
    ///
    /// `keys` is an iterable, or an async iterable. The keys of the latter are read as they come, `concurrency` (100 by
    /// default) at a time.
    #[pyo3(signature = (keys, bins=None, *, concurrency=None))]
    fn get_many(
        slf: &Bound<'_, Self>,
        keys: &Bound<'_, PyAny>,
        bins: Option<&Bound<'_, PyAny>>,
        concurrency: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let (py, this) = (slf.py(), &slf.get().0);
        host::at_await(py, "get_many", || {
            this.check_txn(py)?;
            if let Some(arguments) = with_each_async_key(keys, bins)? {
                return many(slf.as_any(), "aerolane.concurrent", "get", arguments, concurrency);
            }
            let keys = self::keys(keys)?;
            // What is sent all at once knows nothing of transactions.
            if concurrency.is_some() || this.0.txn.is_some() {
                return many(slf.as_any(), "aerolane.concurrent", "get", with_each_key(keys, bins, py)?, concurrency);
            }
            host::submit_many(py, this.core(), keys.len(), |index, out| {
                let command = single::get(this.core(), &keys[index], bins, this.0.read(keys[index].get()));
                (command.encode)(&command.call, out)?;
                Ok(command.call)
            })
        })
    }

    /// Writes the same bins to many records, each as `put` does, all at once, or `concurrency` at a time (in a transaction
    /// 100 by default). Awaitable of a list with, for each key in order, `None`, or the exception that `put` would have
    /// raised.
    ///
    /// `keys` is an iterable, or an async iterable. Records of the latter's keys are written as the keys come,
    /// `concurrency` (100 by default) at a time.
    #[pyo3(signature = (keys, bins, *, concurrency=None))]
    fn put_many(
        slf: &Bound<'_, Self>,
        keys: &Bound<'_, PyAny>,
        bins: &Bound<'_, PyAny>,
        concurrency: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let (py, this) = (slf.py(), &slf.get().0);
        host::at_await(py, "put_many", || {
            this.check_txn(py)?;
            if let Some(arguments) = with_each_async_key(keys, Some(bins))? {
                return many(slf.as_any(), "aerolane.concurrent", "put", arguments, concurrency);
            }
            let keys = self::keys(keys)?;
            if concurrency.is_some() || this.0.txn.is_some() {
                return many(
                    slf.as_any(),
                    "aerolane.concurrent",
                    "put",
                    with_each_key(keys, Some(bins), py)?,
                    concurrency,
                );
            }
            host::submit_many(py, this.core(), keys.len(), |index, out| {
                let policy = this.0.write(keys[index].get());
                let command = single::write(this.core(), WriteKind::Put, &keys[index], bins, policy);
                (command.encode)(&command.call, out)?;
                Ok(command.call)
            })
        })
    }

    /// Calls `operation`, an async function, with a session in a new transaction, then commits:
    /// `await session.do_in_transaction(transfer)`. Awaitable of what `operation` returns.
    ///
    /// Repeats all of it if it conflicts with another transaction (`MRT_BLOCKED`, `MRT_VERSION_MISMATCH`), or if the
    /// commit fails and nothing of it was applied. If `operation` raises anything else, its writes are rolled back.
    ///
    /// `max_attempts` includes the first attempt. `sleep_between_retries` is in seconds, or a timedelta; each pause is
    /// half to one and a half times as long, and there is none after an `MRT_VERSION_MISMATCH`. Both default to the
    /// cluster's `TransactionSettings`: 10 attempts, 20 ms.
    ///
    /// Raises what the last attempt raised.
    #[pyo3(signature = (operation, *, max_attempts=None, sleep_between_retries=None))]
    fn do_in_transaction(
        &self,
        py: Python<'_>,
        operation: &Bound<'_, PyAny>,
        max_attempts: Option<&Bound<'_, PyAny>>,
        sleep_between_retries: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        host::at_await(py, "do_in_transaction", || {
            let plan = Plan::of(self.0.core(), max_attempts, sleep_between_retries)?;
            Ok(Py::new(py, TransactionRun::new(&self.0.0, operation, plan)?)?.into_any())
        })
    }

    /// Sends an info command to one of the nodes. Awaitable of a dict of answers by command. Without a command, returns
    /// an `InfoCommands` object, whose methods are the most common commands.
    #[pyo3(signature = (command=None))]
    fn info(&self, py: Python<'_>, command: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        let Some(command) = command else {
            return Ok(Py::new(py, InfoCommands::of(self.0.core()))?.into_any());
        };
        host::at_await(py, "info", || {
            control::info(py, self.0.core(), argument("command", command)?)?.start(py, self.0.core())
        })
    }

    /// Removes all records of a set that were last written before `before_nanos`, in nanoseconds since 1970, or all
    /// current records if that is `None`. Awaitable of `None`.
    #[pyo3(signature = (dataset, before_nanos=None))]
    fn truncate(
        &self,
        py: Python<'_>,
        dataset: &Bound<'_, PyAny>,
        before_nanos: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        host::at_await(py, "truncate", || {
            let (dataset, before_nanos) = (argument("dataset", dataset)?, optional("before_nanos", before_nanos)?);
            self.0.truncate(py, dataset, before_nanos)?.start(py, self.0.core())
        })
    }

    /// Checks whether a namespace is in strong-consistency mode, and if not, why. Awaitable of a `NamespaceScStatus`. A
    /// namespace that the cluster does not have counts as not in that mode.
    fn namespace_sc_status(&self, py: Python<'_>, namespace: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        host::at_await(py, "namespace_sc_status", || {
            host::ready(py, self.0.namespace_sc_status(py, argument("namespace", namespace)?)?)
        })
    }

    /// Checks whether a namespace is in strong-consistency mode. Awaitable of a bool.
    ///
    /// Raises `InvalidNamespaceError` if the cluster does not have the namespace.
    fn is_namespace_sc(&self, py: Python<'_>, namespace: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        host::at_await(py, "is_namespace_sc", || {
            let consistent = self.0.is_namespace_sc(py, argument("namespace", namespace)?)?;
            host::ready(py, consistent.into_pyobject(py)?.to_owned().into_any().unbind())
        })
    }
}

/// Reads and writes records with the policies of a behavior, on the calling thread. `create_session` makes one. Any
/// number of threads may share it.
#[pyclass(frozen, subclass, weakref, name = "Session", module = "aerolane.sync")]
pub(crate) struct SyncSession(pub(super) Common);

#[pymethods]
impl SyncSession {
    /// The behavior that the session takes its policies from.
    #[getter]
    fn behavior(&self, py: Python<'_>) -> Py<Behavior> {
        self.0.behavior(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.0.describe(py)
    }

    /// Returns another session of the same cluster with another behavior.
    fn session_for(&self, py: Python<'_>, behavior: BehaviorArgument) -> PyResult<Self> {
        self.0.session_for(py, behavior.0).map(Self)
    }

    /// Reads a record: all its bins, or only those of the list `bins`; an empty list reads none. Returns a `Record`.
    ///
    /// Raises `RecordNotFoundError` if the record does not exist.
    #[pyo3(signature = (key, bins=None))]
    fn get(&self, py: Python<'_>, key: &Bound<'_, Key>, bins: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        self.0.check_txn(py)?;
        self.0.get(key, bins).block(py, self.0.core())
    }

    /// Writes bins, given as a dict; a value of `None` removes its bin. Other bins of the record stay as they are.
    fn put(&self, py: Python<'_>, key: &Bound<'_, Key>, bins: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.0.check_txn(py)?;
        self.0.put(key, bins).block(py, self.0.core())
    }

    /// Reads many records, each as `get` does, on threads, at most `concurrency` at a time (16 by default). Returns a
    /// list with, for each key in order, its `Record`, or the exception that `get` would have raised. For more than a
    /// few hundred records, a batch (`query(keys)`) costs less.
    #[pyo3(signature = (keys, bins=None, *, concurrency=None))]
    fn get_many(
        slf: &Bound<'_, Self>,
        keys: &Bound<'_, PyAny>,
        bins: Option<&Bound<'_, PyAny>>,
        concurrency: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        slf.get().0.check_txn(py)?;
        many(slf.as_any(), "aerolane.sync", "get", with_each_key(self::keys(keys)?, bins, py)?, concurrency)
    }

    /// Writes the same bins to many records, each as `put` does, on threads, at most `concurrency` at a time (16 by
    /// default). Returns a list with, for each key in order, `None`, or the exception that `put` would have raised.
    #[pyo3(signature = (keys, bins, *, concurrency=None))]
    fn put_many(
        slf: &Bound<'_, Self>,
        keys: &Bound<'_, PyAny>,
        bins: &Bound<'_, PyAny>,
        concurrency: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        slf.get().0.check_txn(py)?;
        many(slf.as_any(), "aerolane.sync", "put", with_each_key(self::keys(keys)?, Some(bins), py)?, concurrency)
    }

    /// Calls `operation` with a session in a new transaction, then commits: `session.do_in_transaction(transfer)`.
    /// Returns what `operation` returns.
    ///
    /// Repeats all of it if it conflicts with another transaction (`MRT_BLOCKED`, `MRT_VERSION_MISMATCH`), or if the
    /// commit fails and nothing of it was applied. If `operation` raises anything else, its writes are rolled back.
    ///
    /// `max_attempts` includes the first attempt. `sleep_between_retries` is in seconds, or a timedelta; each pause is
    /// half to one and a half times as long, and there is none after an `MRT_VERSION_MISMATCH`. Both default to the
    /// cluster's `TransactionSettings`: 10 attempts, 20 ms.
    ///
    /// Raises what the last attempt raised.
    #[pyo3(signature = (operation, *, max_attempts=None, sleep_between_retries=None))]
    fn do_in_transaction(
        &self,
        py: Python<'_>,
        operation: &Bound<'_, PyAny>,
        max_attempts: Option<&Bound<'_, PyAny>>,
        sleep_between_retries: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let plan = Plan::of(self.0.core(), max_attempts, sleep_between_retries)?;
        retrying::blocking(py, &self.0.0, operation, plan)
    }

    /// Sends an info command to one of the nodes. Returns a dict of answers by command. Without a command, returns an
    /// `InfoCommands` object, whose methods are the most common commands.
    #[pyo3(signature = (command=None))]
    fn info(&self, py: Python<'_>, command: Option<&str>) -> PyResult<Py<PyAny>> {
        let Some(command) = command else {
            return Ok(Py::new(py, SyncInfoCommands::of(self.0.core()))?.into_any());
        };
        control::info(py, self.0.core(), command)?.block(py, self.0.core())
    }

    /// Removes all records of a set that were last written before `before_nanos`, in nanoseconds since 1970, or all
    /// current records if that is `None`.
    #[pyo3(signature = (dataset, before_nanos=None))]
    pub(super) fn truncate(
        &self,
        py: Python<'_>,
        dataset: &Bound<'_, DataSet>,
        before_nanos: Option<i64>,
    ) -> PyResult<Py<PyAny>> {
        self.0.truncate(py, dataset, before_nanos)?.block(py, self.0.core())
    }

    /// Checks whether a namespace is in strong-consistency mode, and if not, why. Returns a `NamespaceScStatus`. A
    /// namespace that the cluster does not have counts as not in that mode.
    fn namespace_sc_status(&self, py: Python<'_>, namespace: &str) -> PyResult<Py<PyAny>> {
        self.0.namespace_sc_status(py, namespace)
    }

    /// Checks whether a namespace is in strong-consistency mode. Returns a bool.
    ///
    /// Raises `InvalidNamespaceError` if the cluster does not have the namespace.
    fn is_namespace_sc(&self, py: Python<'_>, namespace: &str) -> PyResult<bool> {
        self.0.is_namespace_sc(py, namespace)
    }
}

/// Installs fast calls for verbs of a record.
macro_rules! one_key {
    ($py:expr, $session:ident, $segment:ident: $($name:ident $verb:ident),*) => {
        $(
            fast_call!($py, $session::$name, |slf, key| {
                let Some(Ok(key)) = key.map(Bound::cast_exact::<Key>) else { return Ok(None) };
                slf.get().0.check_txn(slf.py())?;
                Ok(Some(instance(slf.py(), || $segment::of_key(&slf.get().0.0, Verb::$verb, key))?.into_any()))
            })?;
        )*
    };
}

/// Installs fast calls for what programs call most.
pub(super) fn install_fast_calls(py: Python<'_>) -> PyResult<()> {
    Session::install_fast_calls(py)?;
    SyncSession::install_fast_calls(py)
}

/// Defines how builders begin.
macro_rules! begins {
    (
        $session:ident: $query:ident, $segment:ident, $udf:ident, $table:ident, $transactional:ident, $background:ident,
        $writer:ident
    ) => {
        verbs!(named $session => Bound<'py, PyAny>);

        #[pymethods]
        impl $session {
            /// Returns a session in a new transaction, a context manager that commits at its end.
            fn transaction(&self, py: Python<'_>) -> PyResult<Py<$transactional>> {
                self.0.core().check_open(py)?;
                $transactional::of(py, &self.0.0)
            }

            /// Returns what starts background tasks, which the servers apply to all records of a set:
            /// `background_task().update(dataset).where("$.age > 65").bin("retired").set_to(True).execute()`.
            ///
            /// Raises `RuntimeError` in a session that belongs to a transaction.
            fn background_task(&self) -> PyResult<$background> {
                $background::of(&self.0.0)
            }

            /// A writer of many records, with the outcome of each one known: hands records over one by one, and gathers, sends
            /// and retries them by itself. Records without a policy of their own have that of the session's behavior.
            ///
            /// All settings are optional: `max_outstanding_records` (`None`: 10,000, and 20,000 while a node holds up the
            /// others), `max_outstanding_bytes` (64 MiB), `batch_records` (256), `batch_bytes` (256 KiB),
            /// `batches_in_flight` per node (4; up to eight times as many for a node that holds up the others), `linger`
            /// (0.001 s), `attempt_timeout` (5 s), `record_ttl` (30 s), `max_retries` (20), `backoff` (0.01 s),
            /// `max_backoff` (1 s), `repeat_in_doubt` (False), `retries_per_success` (0.2), `min_retries_per_second` (100),
            /// `max_records_per_second`, `max_bytes_per_second` and both `.._per_node` (None: no limit), `failures_only`
            /// (False), and the callbacks `on_outcome(outcome)` and `on_progress(count)`, which are called on a thread of
            /// the client. Raises `InvalidArgumentError` for a setting out of its bounds.
            #[pyo3(signature = (**settings))]
            fn writer(&self, py: Python<'_>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<$writer> {
                $writer::of(py, &self.0.0, settings)
            }

            /// The client or cluster that created the session.
            #[getter]
            fn client(&self, py: Python<'_>) -> Option<Py<PyAny>> {
                self.0.0.opened_by.as_ref().map(|client| client.clone_ref(py))
            }

            /// Writes a table with a writer of its own: each row is a record of `dataset`, its user key is in the column `key`.
            ///
            /// The arguments are those of `write_table` of a writer, but for `policy`, which is that of the session's behavior;
            /// others are settings of `writer()`. Gives a `TableSummary`; in asyncio, an awaitable of it.
            #[pyo3(signature = (table, dataset, *, key, bins=None, nulls=None, ttl=None, record_exists_action=None, durable_delete=None, keep_failures=None, **settings))]
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
                record_exists_action: Option<&Bound<'_, PyAny>>,
                durable_delete: Option<&Bound<'_, PyAny>>,
                keep_failures: Option<&Bound<'_, PyAny>>,
                settings: Option<&Bound<'_, PyDict>>,
            ) -> PyResult<Py<PyAny>> {
                let policy = None;
                $writer::write_once(py, || $writer::of(py, &self.0.0, settings), &TableArguments {
                    table, dataset, key, bins, nulls, ttl, policy, record_exists_action, durable_delete, keep_failures,
                })
            }

            /// Returns this session: a chain of its verbs is one batch,
            /// `session.batch().upsert(a).put({..}).delete(b).execute()`. For code written for the first versions of
            /// the Aerospike SDK.
            fn batch(slf: Py<Self>) -> Py<Self> {
                slf
            }

            /// The transaction that calls of this session belong to, a `Txn`; `None` without one, and after its end.
            // Its name in Rust: that of a getter `current_transaction` would be the one of the method below.
            #[getter(current_transaction)]
            fn txn_or_none(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                Txn::or_none(py, self.0.0.txn.as_ref().filter(|txn| !txn::is_over(txn)))
            }

            /// Returns `current_transaction`. For code written for the first versions of the Aerospike SDK.
            fn get_current_transaction(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                self.txn_or_none(py)
            }

            /// Applies a function of a UDF module to records: `execute_udf(key).function("module", "name").passing(1)`.
            #[pyo3(signature = (keys, /, *more_keys))]
            fn execute_udf(&self, keys: &Bound<'_, PyAny>, more_keys: &Bound<'_, PyTuple>) -> PyResult<$udf> {
                self.0.check_txn(keys.py())?;
                $udf::of_keys(&self.0.0, keys, more_keys)
            }

            /// Reads records: those of a `Key`, several keys, or a list of keys, or those that are found in a
            /// `DataSet`.
            ///
            /// Code written for the first versions of the Aerospike SDK may also say `query("test", "users")`, or use
            /// the names `key`, `keys_list`, `dataset`, `namespace` and `set_name`, and `behavior`.
            #[pyo3(signature = (keys=None, /, *more_keys, **named))]
            pub(in crate::session) fn query<'py>(
                &self,
                py: Python<'py>,
                keys: Option<&Bound<'py, PyAny>>,
                more_keys: &Bound<'py, PyTuple>,
                named: Option<&Bound<'py, PyDict>>,
            ) -> PyResult<$query> {
                match (keys, named) {
                    (Some(keys), None) if !keys.is_instance_of::<PyString>() => Self::read(&self.0.0, keys, more_keys),
                    (Some(keys), None) => {
                        // The names of a namespace and a set. One name alone is more likely a slip than a scan of all sets.
                        if more_keys.len() != 1 {
                            let text = "query() takes keys, a DataSet, or the names of a namespace and a set: query(\"test\", \"users\")";
                            return Err(PyTypeError::new_err(text));
                        }
                        let names = (keys, more_keys.get_item(0)?);
                        let dataset = py.get_type::<DataSet>().call1(names)?;
                        Self::read(&self.0.0, &dataset, &PyTuple::empty(py))
                    }
                    _ => {
                        let Named { keys, behavior } = Named::of(py, "query", keys, more_keys, named, true)?;
                        match behavior {
                            None => Self::read(&self.0.0, &keys, more_keys),
                            Some(behavior) => {
                                let context = self.0.0.derived(py, behavior, self.0.0.txn.clone())?;
                                Self::read(&context, &keys, more_keys)
                            }
                        }
                    }
                }
            }

            /// Same as `transaction`. For code written for the first versions of the Aerospike SDK.
            fn begin_transaction(&self, py: Python<'_>) -> PyResult<Py<$transactional>> {
                self.transaction(py)
            }

            /// Same as `transaction`. For code written for the first versions of the Aerospike SDK.
            fn transaction_session(&self, py: Python<'_>) -> PyResult<Py<$transactional>> {
                self.transaction(py)
            }
        }

        impl $session {
            /// Installs fast calls for the verbs of a record.
            fn install_fast_calls(py: Python<'_>) -> PyResult<()> {
                fast_call!(py, $session::query, |slf, key| {
                    let Some(Ok(key)) = key.map(Bound::cast_exact::<Key>) else { return Ok(None) };
                    slf.get().0.check_txn(slf.py())?;
                    Ok(Some(instance(slf.py(), || $query::of_key(&slf.get().0.0, key))?.into_any()))
                })?;
                one_key!(py, $session, $segment: upsert Upsert, insert Insert, update Update, replace Replace, delete Delete);
                Ok(())
            }

            /// The query of keys, or of a data set.
            fn read(
                context: &Arc<Context>,
                keys: &Bound<'_, PyAny>,
                more_keys: &Bound<'_, PyTuple>,
            ) -> PyResult<$query> {
                context.check_txn(keys.py())?;
                let Ok(dataset) = keys.cast::<DataSet>() else {
                    return $query::of_keys(context, keys, more_keys);
                };
                if !more_keys.is_empty() {
                    let text = "query() takes a DataSet alone, or keys: dataset.id(..) makes a key";
                    return Err(errors::invalid_argument(keys.py(), text));
                }
                Ok($query::of_dataset(context, dataset.get().names()))
            }

            /// Begins with what may be given by name.
            #[cold]
            fn begin_named<'py>(
                slf: &Bound<'py, Self>,
                verb: Verb,
                keys: Option<&Bound<'py, PyAny>>,
                more: &Bound<'py, PyTuple>,
                named: Option<&Bound<'py, PyDict>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let named = Named::of(slf.py(), verb.name(), keys, more, named, false)?;
                Self::begin(slf, verb, &named.keys, more)
            }

            fn core(&self) -> &Arc<ClientCore> {
                self.0.core()
            }

            fn begin<'py>(
                slf: &Bound<'py, Self>,
                verb: Verb,
                keys: &Bound<'py, PyAny>,
                more: &Bound<'py, PyTuple>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let (py, context) = (slf.py(), &slf.get().0.0);
                context.check_txn(py)?;
                if let Ok(dataset) = keys.cast::<DataSet>() {
                    let table = $table::of_set(py, context, verb, dataset.get().names(), more)?;
                    return Ok(Bound::new(py, table)?.into_any());
                }
                Ok(Bound::new(py, $segment::of_keys(context, verb, keys, more)?)?.into_any())
            }
        }
    };
}

begins!(
    Session: QueryBuilder, WriteSegmentBuilder, UdfFunctionBuilder, DataSetWriteBuilder, TransactionalSession,
    BackgroundTaskSession, Writer
);
begins!(
    SyncSession: SyncQueryBuilder, SyncWriteSegmentBuilder, SyncUdfFunctionBuilder, SyncDataSetWriteBuilder,
    SyncTransactionalSession, SyncBackgroundTaskSession, SyncWriter
);
modules!(Session, Async);
modules!(SyncSession, Sync);
indexes!(Session, Async, IndexBuilder);
indexes!(SyncSession, Sync, SyncIndexBuilder);
