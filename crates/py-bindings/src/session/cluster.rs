//! Connected clusters.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::admin::modules;
use super::session::{Common, Session, SyncSession};
use super::transaction::{SyncTransactionalSession, TransactionalSession};
use crate::argument::{argument, optional};
use crate::behavior::BehaviorArgument;
use crate::builder::context::Context;
use crate::builder::surface::Surface;
use crate::client::{self, NodeRef, Version, node_class};
use crate::command::Executable;
use crate::core::ClientCore;
use crate::metrics::{self, ClusterMetrics, MetricsPolicy};
use crate::system::Dataclass;
use crate::{host, info, udf};

node_class! {
    /// A node of a cluster. Stays valid when the node leaves: then `is_active` is `False`.
    #[pyclass(frozen, name = "Node", module = "aerolane")]
    ClusterNode {
        /// Sends an info command to this node. Awaitable of the answers by command, a dict.
        fn info(&self, py: Python<'_>, command: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
            host::at_await(py, "info", || {
                self.0.info(argument("command", command)?, None)?.start(py, &self.0.core)
            })
        }
    }
}

node_class! {
    /// A node of a cluster. Stays valid when the node leaves: then `is_active` is `False`.
    #[pyclass(frozen, name = "Node", module = "aerolane.sync")]
    SyncClusterNode {
        /// Sends an info command to this node; gives the answers by command, a dict.
        fn info(&self, py: Python<'_>, command: &str) -> PyResult<Py<PyAny>> {
            self.0.info(command, None)?.block(py, &self.0.core)
        }
    }
}

/// The oldest version of the active nodes.
pub(super) fn oldest(py: Python<'_>, core: &ClientCore) -> PyResult<Option<Version>> {
    core.check(py)?;
    Ok(core.raw.asynchronous().nodes().iter().map(|node| Version::of(node)).min())
}

/// Defines a class of clusters with what both kinds have, and the methods given.
macro_rules! cluster_class {
    ($(#[$meta:meta])* $class:ident, $session:ident, $transactional:ident, $node:ident { $($rest:tt)* }) => {
        $(#[$meta])*
        pub(crate) struct $class {
            core: Arc<ClientCore>,
        }

        impl $class {
            pub(super) fn new(core: Arc<ClientCore>) -> Self {
                Self { core }
            }

            pub(super) fn core(&self) -> &Arc<ClientCore> {
                &self.core
            }

            /// What a session is that this cluster opens.
            fn context(slf: &Bound<'_, Self>, behavior: Option<BehaviorArgument>) -> PyResult<Arc<Context>> {
                let (py, core) = (slf.py(), &slf.get().core);
                core.check_open(py)?;
                Context::new(py, core, Some(slf.clone().into_any().unbind()), behavior.map(|given| given.0))
            }
        }

        #[pymethods]
        impl $class {
            /// A session with the policies of a behavior; `None`: `Behavior.DEFAULT`.
            #[pyo3(signature = (behavior=None))]
            fn create_session(slf: &Bound<'_, Self>, behavior: Option<BehaviorArgument>) -> PyResult<$session> {
                Self::context(slf, behavior).map(Common::of).map($session)
            }

            /// A session whose calls belong to a new transaction, with the policies of a behavior (`None`: `Behavior.DEFAULT`): a
            /// context manager, which commits at its end.
            #[pyo3(signature = (behavior=None))]
            fn transaction(slf: &Bound<'_, Self>, behavior: Option<BehaviorArgument>) -> PyResult<Py<$transactional>> {
                $transactional::of(slf.py(), &*Self::context(slf, behavior)?)
            }

            /// As `transaction`, for code written for the first versions of the SDK of Aerospike.
            #[pyo3(signature = (behavior=None))]
            fn create_transactional_session(
                slf: &Bound<'_, Self>,
                behavior: Option<BehaviorArgument>,
            ) -> PyResult<Py<$transactional>> {
                Self::transaction(slf, behavior)
            }

            /// The cluster's name as its nodes report it, or `None`.
            #[getter]
            fn cluster_name(&self, py: Python<'_>) -> PyResult<Option<String>> {
                self.core.check(py)?;
                let client = self.core.raw.asynchronous();
                Ok(client.server_cluster_name().or_else(|| client.cluster_name()))
            }

            /// The active nodes.
            fn nodes(&self, py: Python<'_>) -> PyResult<Vec<$node>> {
                Ok(NodeRef::all(py, &self.core)?.into_iter().map($node).collect())
            }

            /// The active node of this name. Raises `InvalidNodeError` when there is none.
            fn get_node(&self, py: Python<'_>, name: &str) -> PyResult<$node> {
                NodeRef::named(py, &self.core, name).map($node)
            }

            /// The names of the active nodes.
            fn node_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
                self.core.check_open(py)?;
                Ok(self.core.raw.asynchronous().node_names())
            }

            /// The oldest version of the active nodes; `None` when there are none.
            fn server_version(&self, py: Python<'_>) -> PyResult<Option<Version>> {
                oldest(py, &self.core)
            }

            /// Whether all nodes compile expression text themselves (8.2).
            fn supports_ael(&self, py: Python<'_>) -> PyResult<bool> {
                Ok(oldest(py, &self.core)?.is_some_and(|version| version.supports_server_compiled_ael()))
            }

            /// Whether queries may carry operations of all kinds that read (8.1.2).
            fn supports_query_operations(&self, py: Python<'_>) -> PyResult<bool> {
                Ok(oldest(py, &self.core)?.is_some_and(|version| version.supports_query_ops_projection_ext()))
            }

            /// Whether all nodes have string operations (8.2).
            fn supports_string_operations(&self, py: Python<'_>) -> PyResult<bool> {
                Ok(oldest(py, &self.core)?.is_some_and(|version| version.supports_string_operations()))
            }

            /// Whether all nodes select the index of a query themselves (8.2).
            fn supports_query_selection(&self, py: Python<'_>) -> PyResult<bool> {
                Ok(oldest(py, &self.core)?.is_some_and(|version| version.supports_query_selection()))
            }

            /// Switches metrics on, or changes their policy (`None`: the default one). See `aerolane.native.MetricsPolicy`.
            #[pyo3(signature = (policy=None))]
            fn enable_metrics(&self, py: Python<'_>, policy: Option<&Bound<'_, MetricsPolicy>>) -> PyResult<()> {
                self.core.check_open(py)?;
                metrics::enable(py, &self.core, policy);
                Ok(())
            }

            /// The exporters of metrics that were added, in that order: a tuple.
            #[getter]
            fn exporters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                metrics::added(py, &self.core)
            }

            /// Removes an exporter of metrics, one entry of it if it was added several times. An export that is under way
            /// comes to its end. `False`: there is no such exporter.
            fn remove_exporter(&self, exporter: &Bound<'_, PyAny>) -> PyResult<bool> {
                metrics::remove(&self.core, exporter)
            }

            /// Whether metrics are on.
            fn metrics_enabled(&self, py: Python<'_>) -> PyResult<bool> {
                self.core.check(py)?;
                Ok(metrics::enabled(&self.core.raw))
            }

            /// The metrics at this moment: a `ClusterMetrics`. Takes some hundred microseconds; not to be called for every
            /// operation.
            fn metrics_snapshot(&self, py: Python<'_>) -> PyResult<ClusterMetrics> {
                self.core.check_open(py)?;
                metrics::snapshot(py, &self.core.raw)
            }

            /// The `TransactionSettings` in force: what was given, and the defaults for the rest.
            #[getter]
            fn transaction_settings(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                Ok(self.core.transaction_rules().settings().to_python(py)?.unbind())
            }

            /// Whether the cluster is open and an active node is known.
            #[getter]
            fn is_connected(&self) -> bool {
                self.core.is_connected()
            }

            fn __repr__(&self) -> String {
                let state = self.core.state();
                if self.core.is_foreign() {
                    return format!("<Cluster {state}>");
                }
                format!("<Cluster of {} nodes, {state}>", self.core.raw.asynchronous().nodes().len())
            }

            $($rest)*
        }
    };
}

cluster_class! {
    /// A connected cluster, for asyncio. Made by `ClusterDefinition.connect()`. One serves any number of event loops.
    #[pyclass(frozen, weakref, module = "aerolane")]
    Cluster, Session, TransactionalSession, ClusterNode {
        /// Adds an exporter of metrics: an object with `async def export(self, snapshot)`, or a `MetricsWriter`. While metrics are
        /// on, it is given a `MetricsSnapshot` after each `MetricsSettings.export_interval` (30 s unless set), and one more by
        /// `disable_metrics()` and `close()`. It runs on the event loop that runs now.
        ///
        /// What it raises is logged. After three failures in a row it is suspended, and tried again every ten intervals. It is
        /// called only if `MetricsSettings.exporter` is CUSTOM or not set.
        ///
        /// Raises `TypeError` for an object without such a method, `RuntimeError` outside of an event loop.
        fn add_exporter(&self, exporter: &Bound<'_, PyAny>) -> PyResult<()> {
            metrics::add(&self.core, exporter, true)
        }

        /// Switches metrics off. What was measured stays. Exporters are given a last snapshot; this does not wait until they
        /// have it.
        fn disable_metrics(&self, py: Python<'_>) -> PyResult<()> {
            self.core.check_open(py)?;
            metrics::disable(py, &self.core, false);
            Ok(())
        }

        /// Closes all connections. Operations under way fail with `ClientClosedError`. A second call does nothing. While metrics
        /// are on, exporters are given a last snapshot before, for which this waits 5 s at most. Awaitable.
        fn close(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
            client::close(py, &self.core)
        }

        fn __aenter__(slf: Py<Self>, py: Python<'_>) -> PyResult<Py<PyAny>> {
            host::ready(py, slf.into_any())
        }

        #[pyo3(signature = (*_exception))]
        fn __aexit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
            client::close(py, &self.core)
        }
    }
}

cluster_class! {
    /// A connected cluster, for code without async. Made by `aerolane.sync.ClusterDefinition.connect()`. One serves any
    /// number of threads.
    #[pyclass(frozen, weakref, name = "Cluster", module = "aerolane.sync")]
    SyncCluster, SyncSession, SyncTransactionalSession, SyncClusterNode {
        /// Adds an exporter of metrics: an object with a method `export(snapshot)`. While metrics are on, it is given a
        /// `MetricsSnapshot` after each `MetricsSettings.export_interval` (30 s unless set), and one more by `disable_metrics()` and
        /// `close()`. Each exporter is called on a thread of its own, so it may block.
        ///
        /// What it raises is logged. After three failures in a row it is suspended, and tried again every ten intervals. It is
        /// called only if `MetricsSettings.exporter` is CUSTOM or not set.
        ///
        /// Raises `TypeError` for an object without such a method, and for one whose `export` is async.
        fn add_exporter(&self, exporter: &Bound<'_, PyAny>) -> PyResult<()> {
            metrics::add(&self.core, exporter, false)
        }

        /// Switches metrics off. What was measured stays. Exporters are given a last snapshot; this waits until they have
        /// exported it, for 5 s at most.
        fn disable_metrics(&self, py: Python<'_>) -> PyResult<()> {
            self.core.check_open(py)?;
            metrics::disable(py, &self.core, true);
            Ok(())
        }

        /// Closes all connections. Operations under way fail with `ClientClosedError`. A second call does nothing. While metrics
        /// are on, exporters are given a last snapshot before, for which this waits 5 s at most.
        fn close(&self, py: Python<'_>) {
            client::close_blocking(py, &self.core);
        }

        fn __enter__(slf: Py<Self>) -> Py<Self> {
            slf
        }

        #[pyo3(signature = (*_exception))]
        fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> bool {
            client::close_blocking(py, &self.core);
            false
        }
    }
}

modules!(Cluster, Async);
modules!(SyncCluster, Sync);
