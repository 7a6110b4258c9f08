//! The cluster: its nodes, namespaces, and who owns which partition.

mod node;

pub(crate) use node::Node;

use crate::store::Namespace;
use std::sync::Arc;

/// A running cluster. Dropping it stops all nodes.
#[derive(Debug)]
pub struct EmbeddedCluster {}

/// What all nodes of a cluster share.
#[derive(Debug)]
pub(crate) struct ClusterState {
    /// The namespaces, in the order they were configured. One store serves all nodes.
    pub(crate) namespaces: Vec<Arc<Namespace>>,
}

impl ClusterState {
    /// The namespace with this name.
    #[inline]
    pub(crate) fn namespace(&self, name: &[u8]) -> Option<&Arc<Namespace>> {
        self.namespaces.iter().find(|ns| ns.name.as_bytes() == name)
    }
}
