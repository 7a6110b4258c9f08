//! `InfoCommands`: the info commands that programs ask most, each as a method.

use std::sync::Arc;

use aerolane::raw::RawClient;
use aerolane_wire::info::Answer;
use pyo3::prelude::*;

use super::answer::{AnswerText, INDEXES, of_all, of_one};
use super::merge;
use super::views::View;
use crate::argument::argument;
use crate::builder::surface::Surface;
use crate::client::control::{self, ask_all, ask_one};
use crate::command::{Control, Executable};
use crate::core::ClientCore;
use crate::errors;
use crate::query::statement::check_namespace;

/// Part of a command: a name that would not change it.
fn part<'a>(py: Python<'_>, what: &str, name: &'a str) -> PyResult<&'a str> {
    let bad = name.chars().find(|c| matches!(c, ';' | ':' | '=' | '/') || c.is_control());
    if let Some(bad) = bad {
        let text = format!("the {what} {name:?} has the character {bad:?} in it");
        return Err(errors::invalid_argument(py, text));
    }
    if name.is_empty() || name.len() > 255 {
        return Err(errors::invalid_argument(
            py,
            format!("the {what} has {} bytes, it must have 1 to 255", name.len()),
        ));
    }
    Ok(name)
}

fn namespace<'a>(py: Python<'_>, name: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    let name = argument("namespace", name)?;
    check_namespace(py, name)?;
    part(py, "namespace", name)
}

fn any_namespace<'a>(py: Python<'_>, name: Option<&'a Bound<'_, PyAny>>) -> PyResult<Option<&'a str>> {
    match name.filter(|name| !name.is_none()) {
        Some(name) => namespace(py, name).map(Some),
        None => Ok(None),
    }
}

/// Asks all nodes.
fn all<F>(core: &Arc<ClientCore>, command: String, convert: F) -> impl Executable + use<F>
where
    F: FnOnce(Python<'_>, Vec<AnswerText>) -> PyResult<Py<PyAny>> + Send + 'static,
{
    let raw = RawClient::clone(&core.raw);
    Control { future: async move { of_all(&command, ask_all(&raw, &command).await?) }, convert }
}

/// Asks one of the nodes for something; `None`: it does not have it.
fn one(core: &Arc<ClientCore>, command: String, view: View) -> impl Executable + use<> {
    let raw = RawClient::clone(&core.raw);
    let convert = move |py: Python<'_>, said: AnswerText| match said.text {
        Some(text) => merge::detail(py, view, &text),
        None => Ok(py.None()),
    };
    Control { future: async move { of_one(&command, ask_one(&raw, &command).await?) }, convert }
}

/// Whether all nodes know the same cluster, and none is about to join or leave.
fn stable(core: &Arc<ClientCore>) -> impl Executable + use<> {
    const COMMAND: &str = "cluster-stable";
    let raw = RawClient::clone(&core.raw);
    Control {
        future: async move { ask_all(&raw, COMMAND).await },
        convert: |py: Python<'_>, all: Vec<(String, control::Answers)>| {
            // A node of an unstable cluster gives an error, others the key of their cluster.
            let key = |answers: &control::Answers| {
                let text = answers.get(COMMAND)?;
                let error = Answer { command: COMMAND.as_bytes(), text: Some(text.as_bytes()) }.error();
                error.is_none().then(|| text.clone())
            };
            let keys: Option<Vec<String>> = all.iter().map(|(_, answers)| key(answers)).collect();
            let same = keys.is_some_and(|keys| keys.windows(2).all(|two| two[0] == two[1]));
            Ok(same.into_pyobject(py)?.to_owned().into_any().unbind())
        },
    }
}

/// Defines the class of a surface.
macro_rules! commands {
    ($surface:ident: $class:ident in $module:literal) => {
        /// Info commands to the nodes as methods, as returned by `session.info()`. For asyncio, all methods but
        /// `get_cluster_size` return an awaitable.
        ///
        /// Merged results have one entry for each item, with the numbers of the first node that reports it; the methods
        /// named `.._per_node` return the answer of each node. They raise an error if a node does not answer or refuses
        /// the command.
        #[pyclass(frozen, name = "InfoCommands", module = $module)]
        pub(crate) struct $class(Arc<ClientCore>);

        impl $class {
            pub(crate) fn of(core: &Arc<ClientCore>) -> Self {
                Self(Arc::clone(core))
            }

            fn run<T: Executable>(
                &self,
                py: Python<'_>,
                name: &'static str,
                command: impl FnOnce() -> PyResult<T>,
            ) -> PyResult<Py<PyAny>> {
                Surface::$surface.run(py, &self.0, name, command)
            }
        }

        #[pymethods]
        impl $class {
            /// The server versions of the nodes, as a set of str.
            fn build(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                self.run(py, "build", || Ok(all(&self.0, "build".to_owned(), |py, all| merge::texts(py, &all, None))))
            }

            /// The namespaces of the cluster: a set of str.
            fn namespaces(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                self.run(py, "namespaces", || {
                    Ok(all(&self.0, "namespaces".to_owned(), |py, all| merge::texts(py, &all, Some(';'))))
                })
            }

            /// One node's details of a namespace: a `NamespaceDetail`, or `None` if the node does not have the
            /// namespace.
            fn namespace_details(&self, py: Python<'_>, namespace: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                self.run(py, "namespace_details", || {
                    let namespace = self::namespace(py, namespace)?;
                    Ok(one(&self.0, format!("namespace/{namespace}"), View::NamespaceDetail))
                })
            }

            /// Each node's details of a namespace: a dict of `NamespaceDetail` by node, without nodes that do not have
            /// it.
            fn namespace_details_per_node(&self, py: Python<'_>, namespace: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                self.run(py, "namespace_details_per_node", || {
                    let command = format!("namespace/{}", self::namespace(py, namespace)?);
                    Ok(all(&self.0, command, |py, all| merge::details(py, View::NamespaceDetail, &all)))
                })
            }

            /// The sets of a namespace, or of all (`None`): a list of `SetDetail`, ordered by name.
            #[pyo3(signature = (namespace=None))]
            fn sets(&self, py: Python<'_>, namespace: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
                self.run(py, "sets", || {
                    let command = match any_namespace(py, namespace)? {
                        Some(namespace) => format!("sets/{namespace}"),
                        None => "sets".to_owned(),
                    };
                    Ok(all(&self.0, command, |py, all| merge::sets(py, &all, None)))
                })
            }

            /// The details of one set: a `SetDetail`, or `None` if there is no such set.
            fn set(
                &self,
                py: Python<'_>,
                namespace: &Bound<'_, PyAny>,
                name: &Bound<'_, PyAny>,
            ) -> PyResult<Py<PyAny>> {
                self.run(py, "set", || {
                    let command = format!("sets/{}", self::namespace(py, namespace)?);
                    let name: String = argument("name", name)?;
                    Ok(all(&self.0, command, move |py, all| merge::sets(py, &all, Some(&name))))
                })
            }

            /// The sets of a namespace on each node: a dict of lists of `SetDetail` by node.
            fn sets_per_node(&self, py: Python<'_>, namespace: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                self.run(py, "sets_per_node", || {
                    let command = format!("sets/{}", self::namespace(py, namespace)?);
                    Ok(all(&self.0, command, |py, all| merge::sets_per_node(py, &all)))
                })
            }

            /// The secondary indexes of a namespace, or of all (`None`): a list of `Sindex`.
            #[pyo3(signature = (namespace=None))]
            fn secondary_indexes(&self, py: Python<'_>, namespace: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
                self.run(py, "secondary_indexes", || {
                    let only = any_namespace(py, namespace)?.map(str::to_owned);
                    Ok(all(&self.0, INDEXES.to_owned(), move |py, all| {
                        merge::indexes(py, &all, only.as_deref(), Some(View::Sindex))
                    }))
                })
            }

            /// The secondary indexes on each node: a dict of lists of `Sindex` by node.
            #[pyo3(signature = (namespace=None))]
            fn secondary_indexes_per_node(
                &self,
                py: Python<'_>,
                namespace: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Py<PyAny>> {
                self.run(py, "secondary_indexes_per_node", || {
                    let only = any_namespace(py, namespace)?.map(str::to_owned);
                    Ok(all(&self.0, INDEXES.to_owned(), move |py, all| {
                        merge::indexes_per_node(py, &all, only.as_deref())
                    }))
                })
            }

            /// One node's statistics of a secondary index: a `SindexDetail`, or `None` if the node does not have the
            /// index.
            fn secondary_index_details(
                &self,
                py: Python<'_>,
                namespace: &Bound<'_, PyAny>,
                index_name: &Bound<'_, PyAny>,
            ) -> PyResult<Py<PyAny>> {
                self.run(py, "secondary_index_details", || {
                    Ok(one(&self.0, details_of_index(py, namespace, index_name)?, View::SindexDetail))
                })
            }

            /// Each node's statistics of a secondary index: a dict of `SindexDetail` by node, without nodes that do not
            /// have it. The index is built once `is_ready` is true on all of them.
            fn secondary_index_details_per_node(
                &self,
                py: Python<'_>,
                namespace: &Bound<'_, PyAny>,
                index_name: &Bound<'_, PyAny>,
            ) -> PyResult<Py<PyAny>> {
                self.run(py, "secondary_index_details_per_node", || {
                    let command = details_of_index(py, namespace, index_name)?;
                    Ok(all(&self.0, command, |py, all| merge::details(py, View::SindexDetail, &all)))
                })
            }

            /// Whether all nodes agree on which nodes are part of the cluster.
            fn is_cluster_stable(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                self.run(py, "is_cluster_stable", || Ok(stable(&self.0)))
            }

            /// The number of active nodes. Nothing is sent.
            fn get_cluster_size(&self, py: Python<'_>) -> PyResult<usize> {
                self.0.check_open(py)?;
                Ok(self.0.raw.asynchronous().nodes().len())
            }

            /// Sends an info command to one of the nodes. Returns a dict of the answers by command.
            fn info(&self, py: Python<'_>, command: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                self.run(py, "info", || control::info(py, &self.0, argument("command", command)?))
            }

            /// Sends an info command to each node. Returns a dict of their answers by node, each a dict by command.
            fn info_on_all_nodes(&self, py: Python<'_>, command: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                self.run(py, "info_on_all_nodes", || {
                    control::info_on_all_nodes(py, &self.0, argument("command", command)?)
                })
            }
        }
    };
}

/// The command for what nodes count for an index.
fn details_of_index(py: Python<'_>, namespace: &Bound<'_, PyAny>, index: &Bound<'_, PyAny>) -> PyResult<String> {
    let (namespace, index) = (self::namespace(py, namespace)?, argument("index_name", index)?);
    Ok(format!("sindex/{namespace}/{}", part(py, "index name", index)?))
}

commands!(Async: InfoCommands in "aerolane");
commands!(Sync: SyncInfoCommands in "aerolane.sync");

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<InfoCommands>()?;
    module.add("SyncInfoCommands", module.py().get_type::<SyncInfoCommands>())
}
