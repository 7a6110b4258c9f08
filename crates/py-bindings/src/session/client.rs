//! `Client("host:port")` and `SyncClient("host:port")`: the clients of the SDK's first versions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aerolane::ClientConfig;
use aerolane::raw::cluster::Cluster;
use aerolane::sync::RwLock;
use arc_swap::ArcSwap;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::seeds::Seeds;
use super::session::{Common, Session, SyncSession};
use super::transaction::{SyncTransactionalSession, TransactionalSession};
use crate::ael::IndexesMonitor;
use crate::behavior::{Behavior, BehaviorArgument};
use crate::builder::context::Context;
use crate::builder::surface::{QueryBuilder, SyncQueryBuilder};
use crate::client::thread::in_thread;
use crate::client::{self, Client as NativeClient, connect_blocking};
use crate::core::{ClientCore, Origin};
use crate::dataset::DataSet;
use crate::errors;
use crate::fork;
use crate::index::builder::{IndexBuilder, SyncIndexBuilder};
use crate::policy::ClientPolicy;

/// A client that connects later than it is made.
struct LazyClient {
    config: ClientConfig,
    seeds: Seeds,
    origin: Origin,
    slot: ArcSwap<Slot>,
    monitor: Option<Py<IndexesMonitor>>,
    after_fork: AfterFork,
}

/// What a client does that was connected when its process was forked, in the child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterFork {
    /// It raises until it is connected anew.
    Error,
    /// It connects when it is first used.
    Reconnect,
}

impl AfterFork {
    fn of(py: Python<'_>, name: &str) -> PyResult<Self> {
        match name {
            "error" => Ok(Self::Error),
            "reconnect" => Ok(Self::Reconnect),
            _ => {
                let text = format!("after_fork is {name:?}, it must be \"error\" or \"reconnect\"");
                Err(errors::invalid_argument(py, text))
            }
        }
    }
}

/// What a client is connected to in one process: a forked child begins anew, as nobody there would ever release the lock.
struct Slot {
    forks: u32,
    /// There was one before, in the parent process.
    inherited: bool,
    /// The client is connected, or was in the parent process: told without the lock, which a fork may leave held.
    connected: AtomicBool,
    core: RwLock<Option<Arc<ClientCore>>>,
}

impl Slot {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            forks: fork::forks(),
            inherited: false,
            connected: AtomicBool::new(false),
            core: RwLock::new(None),
        })
    }

    /// That of a child, in the place of the parent's.
    fn after_fork(parent: &Self) -> Arc<Self> {
        Arc::new(Self {
            forks: fork::forks(),
            inherited: true,
            connected: AtomicBool::new(parent.connected.load(Ordering::Relaxed)),
            core: RwLock::new(None),
        })
    }
}

impl LazyClient {
    fn new(
        py: Python<'_>,
        seeds: String,
        policy: Option<&Bound<'_, ClientPolicy>>,
        max_error_rate: Option<u32>,
        error_rate_window: Option<u32>,
        monitor: Option<Py<IndexesMonitor>>,
        after_fork: &str,
    ) -> PyResult<Self> {
        let after_fork = AfterFork::of(py, after_fork)?;
        let default;
        let policy = if let Some(policy) = policy {
            policy
        } else {
            default = py.get_type::<ClientPolicy>().call0()?.cast_into::<ClientPolicy>()?;
            &default
        };
        let mut config = policy.get().config(py)?;
        if let Some(rate) = max_error_rate {
            config.policy.max_error_rate = rate as usize;
        }
        if let Some(window) = error_rate_window {
            config.policy.error_rate_window = window as usize;
        }
        Cluster::check_seeds(&config.policy, &seeds).map_err(|e| errors::to_py(py, &e))?;
        let origin = Origin::here(py, &seeds)?;
        Ok(Self { config, seeds: Seeds::Text(seeds), origin, slot: ArcSwap::new(Slot::new()), monitor, after_fork })
    }

    /// What this process is connected to.
    fn slot(&self) -> Arc<Slot> {
        let slot = self.slot.load_full();
        if slot.forks == fork::forks() {
            return slot;
        }
        // Another thread may be faster. What is the parent's is left as it is: it may have been changed at that very moment.
        std::mem::forget(self.slot.compare_and_swap(&slot, Slot::after_fork(&slot)));
        std::mem::forget(slot);
        self.slot.load_full()
    }

    /// The connected cluster. In a forked child it is connected to before, if the client is to reconnect there.
    fn core(&self, py: Python<'_>) -> PyResult<Arc<ClientCore>> {
        let slot = self.slot();
        let reconnects =
            self.after_fork == AfterFork::Reconnect && slot.inherited && slot.connected.load(Ordering::Relaxed);
        if reconnects && slot.core.read().is_none() {
            self.connect(py)?;
        }
        self.connected_core()
    }

    fn connected_core(&self) -> PyResult<Arc<ClientCore>> {
        let slot = self.slot();
        let core = slot.core.read().clone();
        core.ok_or_else(|| {
            PyRuntimeError::new_err(if slot.inherited {
                "the client was made before this process was forked, and its connections belong to the parent process: connect \
                 it anew (enter it, or call connect())"
            } else {
                "the client is not connected: enter it (`with` or `async with`), or call connect()"
            })
        })
    }

    /// Connects, unless it is connected already in this process.
    fn connect(&self, py: Python<'_>) -> PyResult<()> {
        if self.open().is_some() {
            return Ok(());
        }
        let core = connect_blocking(py, &self.config, &self.seeds, self.origin.clone_ref(py))?;
        // Another thread may have been faster: its connection is the one then, and this one is closed.
        let surplus = {
            let slot = self.slot();
            let mut place = slot.core.write();
            slot.connected.store(true, Ordering::Relaxed);
            match &*place {
                Some(other) if !other.raw.cluster().is_closed() => Some(core),
                _ => place.replace(core),
            }
        };
        if let Some(surplus) = surplus {
            client::close_blocking(py, &surplus);
        }
        match &self.monitor {
            Some(monitor) => monitor.get().begin(py, &self.connected_core()?),
            None => Ok(()),
        }
    }

    fn open(&self) -> Option<Arc<ClientCore>> {
        self.slot().core.read().clone().filter(|core| !core.raw.cluster().is_closed())
    }

    fn is_connected(&self) -> bool {
        self.open().is_some_and(|core| core.is_connected())
    }

    fn close(&self, py: Python<'_>) {
        let slot = self.slot();
        // Nor is it connected in children from here on.
        slot.connected.store(false, Ordering::Relaxed);
        let core = slot.core.read().clone();
        if let Some(core) = core {
            client::close_blocking(py, &core);
        }
    }

    /// What a session is that a client opens; `None`: one that nobody sees.
    fn context(
        &self,
        py: Python<'_>,
        client: Option<Py<PyAny>>,
        behavior: Option<BehaviorArgument>,
    ) -> PyResult<Arc<Context>> {
        let core = self.core(py)?;
        core.check_open(py)?;
        Context::new(py, &core, client, behavior.map(|given| given.0))
    }

    fn native(&self, py: Python<'_>) -> PyResult<NativeClient> {
        Ok(NativeClient::new(self.core(py)?, self.seeds.to_string().into()))
    }

    fn describe(&self, class: &str) -> String {
        let Seeds::Text(seeds) = &self.seeds else { return class.to_owned() };
        format!("{class}('{seeds}')")
    }
}

/// Checks an argument of the first versions of the SDK of Aerospike, which asks for the indexes of a cluster so often. Here
/// they are asked for when a query needs them.
fn check_interval(py: Python<'_>, seconds: Option<f64>) -> PyResult<()> {
    match seconds {
        Some(seconds) if seconds.is_nan() || seconds < 0.0 => Err(errors::invalid_argument(
            py,
            format!("index_refresh_interval is {seconds}, it must be 0 or more seconds"),
        )),
        _ => Ok(()),
    }
}

/// A client for asyncio: `async with Client("localhost:3000") as client`.
///
/// In a forked child it is not connected: connect it there anew. With `after_fork="reconnect"` (default `"error"`), a client
/// that was connected at the fork does so by itself: its first `create_session()`, or other use, blocks until it has.
/// Sessions of the parent process do not work there.
///
/// `seeds`: one or several addresses, `"host:port,host:port"`; 3000 is the default port. `policy`: a `ClientPolicy`.
/// `max_error_rate`, `error_rate_window`: go before what the policy says. `index_refresh_interval` is accepted for code written
/// for the first versions of the SDK of Aerospike: here the indexes of a cluster are asked for when a query needs them.
/// `indexes_monitor`: an `IndexesMonitor` of `aerolane.ael`, which begins with the connection.
///
/// Raises `InvalidArgumentError` for seeds that are no addresses, and another `after_fork`.
#[pyclass(frozen, weakref, module = "aerolane")]
pub(crate) struct Client(Arc<LazyClient>);

#[pymethods]
impl Client {
    #[new]
    #[pyo3(signature = (
        seeds, policy=None, index_refresh_interval=None, *, max_error_rate=None, error_rate_window=None,
        indexes_monitor=None, after_fork="error"
    ))]
    #[allow(clippy::too_many_arguments)] // keywords of Python
    fn new(
        py: Python<'_>,
        seeds: String,
        policy: Option<&Bound<'_, ClientPolicy>>,
        index_refresh_interval: Option<f64>,
        max_error_rate: Option<u32>,
        error_rate_window: Option<u32>,
        indexes_monitor: Option<Py<IndexesMonitor>>,
        after_fork: &str,
    ) -> PyResult<Self> {
        check_interval(py, index_refresh_interval)?;
        let lazy = LazyClient::new(py, seeds, policy, max_error_rate, error_rate_window, indexes_monitor, after_fork)?;
        Ok(Self(Arc::new(lazy)))
    }

    /// Connects, unless the client is connected already in this process. Awaitable of `None`.
    ///
    /// Raises `ConnectionError` when no seed can be used, with the reason of each.
    fn connect(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let lazy = Arc::clone(&self.0);
        in_thread(py, "Client.connect", move |py| {
            lazy.connect(py)?;
            Ok(py.None())
        })
    }

    /// As `connect`, on this thread: for code written for the first versions of the SDK of Aerospike.
    fn connect_blocking(&self, py: Python<'_>) -> PyResult<()> {
        self.0.connect(py)
    }

    /// As `close`, on this thread.
    fn close_blocking(&self, py: Python<'_>) {
        self.0.close(py);
    }

    /// A session whose calls belong to a new transaction: a context manager, which commits at its end.
    #[pyo3(signature = (behavior=None))]
    fn transaction_session(
        slf: &Bound<'_, Self>,
        behavior: Option<BehaviorArgument>,
    ) -> PyResult<Py<TransactionalSession>> {
        Self::transaction(slf, behavior)
    }

    /// Closes all connections. Operations under way fail with `ClientClosedError`. A second call does nothing.
    /// Awaitable.
    fn close(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let lazy = Arc::clone(&self.0);
        in_thread(py, "Client.close", move |py| {
            lazy.close(py);
            Ok(py.None())
        })
    }

    fn __aenter__(slf: Py<Self>, py: Python<'_>) -> PyResult<Py<PyAny>> {
        in_thread(py, "Client.__aenter__", move |py| {
            slf.get().0.connect(py)?;
            Ok(slf.into_any())
        })
    }

    #[pyo3(signature = (*_exception))]
    fn __aexit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.close(py)
    }

    fn __repr__(&self) -> String {
        self.0.describe("Client")
    }
}

/// A client for code without async: `with SyncClient("localhost:3000") as client`. Any number of threads may use it.
///
/// Arguments are those of `Client`. `current_thread_runtime` is accepted for code written for the SDK, where it gives
/// each thread a runtime of its own, with a cluster tend and a pool of its own as the price. Here the calling thread
/// does its I/O itself in any case, on one shared cluster and one bounded pool: it changes nothing.
#[pyclass(frozen, weakref, module = "aerolane")]
pub(crate) struct SyncClient {
    lazy: LazyClient,
    current_thread_runtime: bool,
}

#[pymethods]
impl SyncClient {
    #[new]
    #[pyo3(signature = (
        seeds, policy=None, index_refresh_interval=None, *, max_error_rate=None, error_rate_window=None,
        current_thread_runtime=false, indexes_monitor=None, after_fork="error"
    ))]
    #[allow(clippy::too_many_arguments)] // keywords of Python
    fn new(
        py: Python<'_>,
        seeds: String,
        policy: Option<&Bound<'_, ClientPolicy>>,
        index_refresh_interval: Option<f64>,
        max_error_rate: Option<u32>,
        error_rate_window: Option<u32>,
        current_thread_runtime: bool,
        indexes_monitor: Option<Py<IndexesMonitor>>,
        after_fork: &str,
    ) -> PyResult<Self> {
        check_interval(py, index_refresh_interval)?;
        let lazy = LazyClient::new(py, seeds, policy, max_error_rate, error_rate_window, indexes_monitor, after_fork)?;
        Ok(Self { lazy, current_thread_runtime })
    }

    /// Connects, unless the client is connected already in this process.
    ///
    /// Raises `ConnectionError` when no seed can be used, with the reason of each.
    fn connect(&self, py: Python<'_>) -> PyResult<()> {
        self.lazy.connect(py)
    }

    /// A session whose calls belong to a new transaction: a context manager, which commits at its end.
    #[pyo3(signature = (behavior=None))]
    fn create_transactional_session(
        slf: &Bound<'_, Self>,
        behavior: Option<BehaviorArgument>,
    ) -> PyResult<Py<SyncTransactionalSession>> {
        Self::transaction(slf, behavior)
    }

    /// Removes all records of a set: as `truncate` of a session.
    #[pyo3(signature = (dataset, before_nanos=None))]
    fn truncate(&self, py: Python<'_>, dataset: &Bound<'_, DataSet>, before_nanos: Option<i64>) -> PyResult<Py<PyAny>> {
        self.default_session(py)?.truncate(py, dataset, before_nanos)
    }

    /// As it was given.
    #[getter]
    fn current_thread_runtime(&self) -> bool {
        self.current_thread_runtime
    }

    /// Closes all connections. Operations under way fail with `ClientClosedError`. A second call does nothing.
    fn close(&self, py: Python<'_>) {
        self.lazy.close(py);
    }

    fn __enter__(slf: Py<Self>, py: Python<'_>) -> PyResult<Py<Self>> {
        slf.get().lazy.connect(py)?;
        Ok(slf)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> bool {
        self.lazy.close(py);
        false
    }

    fn __repr__(&self) -> String {
        self.lazy.describe("SyncClient")
    }
}

/// What both clients have, written once: `$lazy` is the field of their `LazyClient`.
macro_rules! client_methods {
    ($client:ident . $lazy:tt, $session:ident, $transactional:ident, $query:ident, $index:ident) => {
        #[pymethods]
        impl $client {
            /// A session with the policies of a behavior; `None`: `Behavior.DEFAULT`.
            ///
            /// Raises `RuntimeError` before the client has connected, and `ClientClosedError` after it was closed.
            #[pyo3(signature = (behavior=None))]
            fn create_session(slf: &Bound<'_, Self>, behavior: Option<BehaviorArgument>) -> PyResult<$session> {
                let client = slf.clone().into_any().unbind();
                slf.get().$lazy.context(slf.py(), Some(client), behavior).map(Common::of).map($session)
            }

            /// The native client, on the same connections. Closing one closes both.
            ///
            /// Raises `RuntimeError` before the client has connected.
            #[getter]
            fn native(&self, py: Python<'_>) -> PyResult<NativeClient> {
                self.$lazy.native(py)
            }

            /// As `native`, for code written for the SDK of Aerospike.
            #[getter]
            fn underlying_client(&self, py: Python<'_>) -> PyResult<NativeClient> {
                self.native(py)
            }

            /// Reads records: as `query` of a session with `Behavior.DEFAULT`, unless `behavior=` names another one.
            ///
            /// Raises `RuntimeError` before the client has connected, and `ClientClosedError` after it was closed.
            #[pyo3(signature = (keys=None, /, *more_keys, **named))]
            fn query<'py>(
                &self,
                py: Python<'py>,
                keys: Option<&Bound<'py, PyAny>>,
                more_keys: &Bound<'py, PyTuple>,
                named: Option<&Bound<'py, PyDict>>,
            ) -> PyResult<$query> {
                self.default_session(py)?.query(py, keys, more_keys, named)
            }

            /// Creates and drops a secondary index of a data set: as `index` of a session.
            ///
            /// Raises `RuntimeError` before the client has connected, and `ClientClosedError` after it was closed.
            #[pyo3(signature = (dataset=None, set_name=None, *, namespace=None, behavior=None))]
            fn index(
                &self,
                py: Python<'_>,
                dataset: Option<&Bound<'_, PyAny>>,
                set_name: Option<&Bound<'_, PyAny>>,
                namespace: Option<&Bound<'_, PyAny>>,
                behavior: Option<&Bound<'_, Behavior>>,
            ) -> PyResult<$index> {
                self.default_session(py)?.index(py, dataset, set_name, namespace, behavior)
            }

            /// A session whose calls belong to a new transaction, with the policies of a behavior (`None`: `Behavior.DEFAULT`): a
            /// context manager, which commits at its end.
            ///
            /// Raises `RuntimeError` before the client has connected, and `ClientClosedError` after it was closed.
            #[pyo3(signature = (behavior=None))]
            fn transaction(slf: &Bound<'_, Self>, behavior: Option<BehaviorArgument>) -> PyResult<Py<$transactional>> {
                let client = slf.clone().into_any().unbind();
                $transactional::of(slf.py(), &*slf.get().$lazy.context(slf.py(), Some(client), behavior)?)
            }

            /// Registers a UDF module from its source: as `register_udf` of a session.
            #[pyo3(signature = (body, server_path, language=None, *, policy=None))]
            fn register_udf(
                &self,
                py: Python<'_>,
                body: &Bound<'_, PyAny>,
                server_path: &Bound<'_, PyAny>,
                language: Option<&Bound<'_, PyAny>>,
                policy: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Py<PyAny>> {
                self.default_session(py)?.register_udf(py, body, server_path, language, policy)
            }

            /// Registers a UDF module from a file: as `register_udf_from_file` of a session.
            #[pyo3(signature = (client_path, server_path, language=None, *, policy=None))]
            fn register_udf_from_file(
                &self,
                py: Python<'_>,
                client_path: &Bound<'_, PyAny>,
                server_path: &Bound<'_, PyAny>,
                language: Option<&Bound<'_, PyAny>>,
                policy: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Py<PyAny>> {
                self.default_session(py)?.register_udf_from_file(py, client_path, server_path, language, policy)
            }

            /// Removes a UDF module: as `remove_udf` of a session.
            #[pyo3(signature = (server_path, *, policy=None))]
            fn remove_udf(
                &self,
                py: Python<'_>,
                server_path: &Bound<'_, PyAny>,
                policy: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Py<PyAny>> {
                self.default_session(py)?.remove_udf(py, server_path, policy)
            }

            /// Whether all nodes select the index of a query themselves (8.2).
            fn supports_query_selection(&self, py: Python<'_>) -> PyResult<bool> {
                let oldest = super::cluster::oldest(py, &*self.$lazy.core(py)?)?;
                Ok(oldest.is_some_and(|version| version.supports_query_selection()))
            }

            /// Whether all nodes compile expression text themselves (8.2).
            fn supports_server_compiled_ael(&self, py: Python<'_>) -> PyResult<bool> {
                let oldest = super::cluster::oldest(py, &*self.$lazy.core(py)?)?;
                Ok(oldest.is_some_and(|version| version.supports_server_compiled_ael()))
            }

            /// Whether the client is connected and knows an active node.
            #[getter]
            fn is_connected(&self) -> bool {
                self.$lazy.is_connected()
            }
        }
    };
}

/// Sessions for what clients do themselves.
macro_rules! default_session {
    ($client:ident . $lazy:tt, $session:ident) => {
        impl $client {
            fn default_session(&self, py: Python<'_>) -> PyResult<$session> {
                self.$lazy.context(py, None, None).map(Common::of).map($session)
            }
        }
    };
}

default_session!(Client.0, Session);
default_session!(SyncClient.lazy, SyncSession);
client_methods!(Client.0, Session, TransactionalSession, QueryBuilder, IndexBuilder);
client_methods!(SyncClient.lazy, SyncSession, SyncTransactionalSession, SyncQueryBuilder, SyncIndexBuilder);
