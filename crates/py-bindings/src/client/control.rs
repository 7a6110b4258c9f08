//! The commands that the control plane carries out: info, truncate.

use std::sync::Arc;

use aerolane::raw::RawClient;
use aerospike_core::{AdminPolicy as CoreAdmin, IndexMap, Node as CoreNode};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::command::{Control, Executable};
use crate::core::ClientCore;
use crate::key::check_names;
use crate::policy::AdminPolicy;

/// The most bytes of an info command that are sent.
const MAX_INFO_COMMAND: usize = 64 * 1024;

fn checked(command: &str) -> PyResult<String> {
    if command.is_empty() || command.len() > MAX_INFO_COMMAND {
        let size = command.len();
        return Err(PyValueError::new_err(format!(
            "the info command has {size} bytes, it must have 1 to {MAX_INFO_COMMAND}"
        )));
    }
    // A newline separates commands: several are fine. Other control characters never belong there.
    match command.chars().find(|c| c.is_control() && *c != '\n') {
        Some(c) => Err(PyValueError::new_err(format!("the info command has the character {c:?} in it"))),
        None => Ok(command.to_owned()),
    }
}

fn to_dict(py: Python<'_>, answers: Answers) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in answers {
        dict.set_item(name, value)?;
    }
    Ok(dict)
}

/// Sends an info command to one node.
pub(crate) fn info(_py: Python<'_>, core: &Arc<ClientCore>, command: &str) -> PyResult<impl Executable + use<>> {
    let (raw, command) = (RawClient::clone(&core.raw), checked(command)?);
    Ok(Control {
        future: async move { ask_one(&raw, &command).await.map(|(_, answers)| answers) },
        convert: |py: Python<'_>, answers| Ok(to_dict(py, answers)?.into_any().unbind()),
    })
}

/// Sends an info command to a certain node.
pub(crate) fn info_of(
    core: &Arc<ClientCore>,
    node: Arc<CoreNode>,
    command: &str,
    policy: Option<&Bound<'_, AdminPolicy>>,
) -> PyResult<impl Executable + use<>> {
    let (raw, command, policy) = (RawClient::clone(&core.raw), checked(command)?, AdminPolicy::in_force(policy));
    Ok(Control {
        future: async move { raw.ask(&node, &policy, &[&command]).await },
        convert: |py: Python<'_>, answers| Ok(to_dict(py, answers)?.into_any().unbind()),
    })
}

/// The answers of a node, by command.
pub(crate) type Answers = IndexMap<String, String>;

/// What each node answers to an info command, by its name: they are asked one after the other.
pub(crate) async fn ask_all(raw: &RawClient, command: &str) -> aerolane::Result<Vec<(String, Answers)>> {
    // Says that the client is closed, or that it knows no node.
    let client = raw.asynchronous();
    client.random_node()?;
    let mut all = Vec::new();
    for node in client.nodes() {
        let answers = raw.ask(&node, &CoreAdmin::default(), &[command]).await?;
        all.push((node.name().to_owned(), answers));
    }
    Ok(all)
}

/// What one of the nodes answers to an info command, and its name.
pub(crate) async fn ask_one(raw: &RawClient, command: &str) -> aerolane::Result<(String, Answers)> {
    let node = raw.asynchronous().random_node()?;
    Ok((node.name().to_owned(), raw.ask(&node, &CoreAdmin::default(), &[command]).await?))
}

/// Sends an info command to each node, one after the other.
pub(crate) fn info_on_all_nodes(
    _py: Python<'_>,
    core: &Arc<ClientCore>,
    command: &str,
) -> PyResult<impl Executable + use<>> {
    let (raw, command) = (RawClient::clone(&core.raw), checked(command)?);
    Ok(Control {
        future: async move { ask_all(&raw, &command).await },
        convert: |py: Python<'_>, all| {
            let dict = PyDict::new(py);
            for (node, answers) in all {
                dict.set_item(node, to_dict(py, answers)?)?;
            }
            Ok(dict.into_any().unbind())
        },
    })
}

/// Fails for a namespace that the cluster is known not to have. Servers accept such commands, and do nothing.
pub(crate) fn check_known(raw: &RawClient, namespace: &str) -> aerolane::Result<()> {
    let topology = raw.cluster().topology();
    // Without a node there is nothing to know.
    if topology.namespaces().len() == 0 { Ok(()) } else { topology.namespace(namespace).map(drop) }
}

/// Removes the records of a set, or of a namespace.
pub(crate) fn truncate(
    _py: Python<'_>,
    core: &Arc<ClientCore>,
    namespace: &str,
    set_name: &str,
    before_nanos: Option<i64>,
    policy: Option<&Bound<'_, AdminPolicy>>,
) -> PyResult<impl Executable + use<>> {
    check_names(namespace, set_name)?;
    if before_nanos.is_some_and(|nanos| nanos < 0) {
        return Err(PyValueError::new_err("before_nanos must not be negative: nanoseconds since 1970"));
    }
    let policy = AdminPolicy::in_force(policy);
    let (raw, namespace, set_name) = (RawClient::clone(&core.raw), namespace.to_owned(), set_name.to_owned());
    Ok(Control {
        future: async move {
            check_known(&raw, &namespace)?;
            raw.asynchronous().truncate(&policy, &namespace, &set_name, before_nanos.unwrap_or(0)).await
        },
        convert: |py: Python<'_>, ()| Ok(py.None()),
    })
}
