//! Nodes of a cluster, as Python sees them.

use std::sync::Arc;

use aerospike_core::Node as CoreNode;
use pyo3::prelude::*;

use super::control;
use crate::argument::{argument, optional};
use crate::command::Executable;
use crate::core::ClientCore;
use crate::policy::AdminPolicy;
use crate::{errors, host};

/// A node, and the client that knows it.
pub(crate) struct NodeRef {
    pub(crate) core: Arc<ClientCore>,
    pub(crate) node: Arc<CoreNode>,
}

impl NodeRef {
    /// The active nodes.
    ///
    /// # Errors
    /// The client is closed.
    pub(crate) fn all(py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Vec<Self>> {
        core.check_open(py)?;
        let nodes = core.raw.asynchronous().nodes();
        Ok(nodes.into_iter().map(|node| Self { core: Arc::clone(core), node }).collect())
    }

    /// The active node of this name.
    ///
    /// # Errors
    /// There is none, or the client is closed.
    pub(crate) fn named(py: Python<'_>, core: &Arc<ClientCore>, name: &str) -> PyResult<Self> {
        core.check(py)?;
        let node = core.raw.asynchronous().get_node(name).map_err(|e| errors::to_py(py, &e))?;
        Ok(Self { core: Arc::clone(core), node })
    }

    pub(crate) fn host(&self) -> (String, u16) {
        let host = self.node.host();
        (host.name, host.port)
    }

    pub(crate) fn aliases(&self) -> Vec<(String, u16)> {
        self.node.aliases().into_iter().map(|host| (host.name, host.port)).collect()
    }

    pub(crate) fn describe(&self) -> String {
        let active = if self.node.is_active() { "True" } else { "False" };
        format!("Node(name='{}', address='{}', is_active={active})", self.node.name(), self.node.address())
    }

    pub(crate) fn info(
        &self,
        command: &str,
        policy: Option<&Bound<'_, AdminPolicy>>,
    ) -> PyResult<impl Executable + use<>> {
        control::info_of(&self.core, Arc::clone(&self.node), command, policy)
    }
}

/// Defines a class of nodes with what all of them have, and the methods given.
macro_rules! node_class {
    ($(#[$meta:meta])* $class:ident { $($rest:tt)* }) => {
        $(#[$meta])*
        pub(crate) struct $class(pub(crate) $crate::client::NodeRef);

        #[pymethods]
        impl $class {
            /// The node's name on the server.
            #[getter]
            fn name(&self) -> &str {
                self.0.node.name()
            }

            /// The address of the node, as `host:port`.
            #[getter]
            fn address(&self) -> &str {
                self.0.node.address()
            }

            /// The address of the node, as `(host, port)`.
            #[getter]
            fn host(&self) -> (String, u16) {
                self.0.host()
            }

            /// Whether the node is part of the cluster now.
            #[getter]
            fn is_active(&self) -> bool {
                self.0.node.is_active()
            }

            /// The version of the node's server.
            #[getter]
            fn version(&self) -> $crate::client::Version {
                $crate::client::Version::of(&self.0.node)
            }

            /// How many times in a row the client failed to read the node's state.
            #[getter]
            fn failures(&self) -> usize {
                self.0.node.failures()
            }

            /// A number that changes whenever partitions move to or from the node; -1: not known yet.
            #[getter]
            fn partition_generation(&self) -> isize {
                self.0.node.partition_generation()
            }

            /// A number that changes whenever the cluster is rebalanced; -1: not known yet.
            #[getter]
            fn rebalance_generation(&self) -> isize {
                self.0.node.rebalance_generation()
            }

            /// All known addresses of the node, as `(host, port)`.
            fn aliases(&self) -> Vec<(String, u16)> {
                self.0.aliases()
            }

            fn __repr__(&self) -> String {
                self.0.describe()
            }

            $($rest)*
        }
    };
}

pub(crate) use node_class;

node_class! {
    /// A node of a cluster. Stays valid when the node leaves: then `is_active` is `False`.
    #[pyclass(frozen, module = "aerolane.native")]
    Node {
        /// Sends an info command to the node. Awaitable of a dict of the answers by command.
        #[pyo3(signature = (command, *, policy=None))]
        fn info(
            &self,
            py: Python<'_>,
            command: &Bound<'_, PyAny>,
            policy: Option<&Bound<'_, PyAny>>,
        ) -> PyResult<Py<PyAny>> {
            host::at_await(py, "info", || {
                let (command, policy) = (argument("command", command)?, optional("policy", policy)?);
                self.0.info(command, policy)?.start(py, &self.0.core)
            })
        }

        /// Sends an info command to the node. Returns a dict of the answers by command.
        #[pyo3(signature = (command, *, policy=None))]
        fn info_blocking(
            &self,
            py: Python<'_>,
            command: &str,
            policy: Option<&Bound<'_, AdminPolicy>>,
        ) -> PyResult<Py<PyAny>> {
            self.0.info(command, policy)?.block(py, &self.0.core)
        }
    }
}
