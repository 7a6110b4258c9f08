//! The public classes of sessions: clusters and clients, sessions, data sets.
//!
//! What exists in two kinds, for asyncio and for code without async, is two classes of one Python name, in `aerolane`
//! and in `aerolane.sync`.

mod admin;
mod awaitable;
mod client;
mod cluster;
mod connector;
mod definition;
mod host;
mod named;
mod retrying;
mod seeds;
#[allow(clippy::module_inception)] // a session is what it defines
mod session;
mod tls_builder;
mod transaction;

use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<host::Host>()?;
    module.add_class::<client::Client>()?;
    module.add_class::<client::SyncClient>()?;
    module.add_class::<definition::ClusterDefinition>()?;
    module.add_class::<tls_builder::TlsBuilder>()?;
    module.add_class::<awaitable::AwaitableContext>()?;
    module.add_class::<cluster::Cluster>()?;
    module.add_class::<cluster::ClusterNode>()?;
    module.add_class::<session::Session>()?;
    transaction::register(module)?;
    let py = module.py();
    module.add("NamespaceScStatus", session::status_class(py)?)?;
    module.add("SyncClusterDefinition", py.get_type::<definition::SyncClusterDefinition>())?;
    module.add("SyncCluster", py.get_type::<cluster::SyncCluster>())?;
    module.add("SyncNode", py.get_type::<cluster::SyncClusterNode>())?;
    module.add("SyncSession", py.get_type::<session::SyncSession>())?;
    session::install_fast_calls(py)
}
