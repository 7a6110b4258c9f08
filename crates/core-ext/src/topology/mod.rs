//! The cluster as one immutable snapshot: nodes, and which node owns which partition.
//!
//! A lane asks its snapshot for a node for every request, so [`Topology::namespace`] and [`NamespaceMap::route`]
//! neither allocate nor hash nor lock: a few string compares, then an array index. The control plane
//! ([`Cluster`](crate::cluster::Cluster)) builds a new snapshot when the cluster changes and publishes it whole.

mod breaker;
mod builder;
mod claims;
mod node;
mod outage;
mod route;

use std::sync::Arc;

pub use breaker::Breaker;
pub use builder::TopologyBuilder;
pub use claims::{NamespaceClaim, parse_replicas};
pub use node::{NodeId, NodeInfo};
pub(crate) use outage::{Outage, Turn};
pub use route::Route;

use crate::error::{Error, Result};

/// Partitions of a namespace, fixed by the server.
pub const PARTITIONS: usize = 4096;

/// The cluster at one moment.
#[derive(Debug, Default)]
pub struct Topology {
    version: u64,
    /// By [`NodeId`]; ids are never given to another node.
    nodes: Vec<NodeSlot>,
    active: Vec<NodeId>,
    namespaces: Vec<Arc<NamespaceMap>>,
    cluster_name: Option<Arc<str>>,
}

#[derive(Debug, Clone)]
struct NodeSlot {
    info: Arc<NodeInfo>,
    active: bool,
}

/// Who owns the partitions of one namespace.
#[derive(Debug, Clone)]
pub struct NamespaceMap {
    name: Box<str>,
    strong_consistency: bool,
    replication_factor: usize,
    /// `replica * PARTITIONS + partition`; [`NodeId::NONE`] where no active node owns it.
    owners: Box<[NodeId]>,
    /// The regime under which each owner claimed its partition; same order as `owners`.
    regimes: Box<[u32]>,
    /// By [`NodeId`]: the place of the node's rack in the client's list of preferred racks, `NOT_PREFERRED` if none.
    /// Empty when the client prefers no rack.
    rack_ranks: Box<[u8]>,
    /// Active nodes of the whole cluster, for [`Replica::Random`](aerospike_core::Replica::Random).
    active: Box<[NodeId]>,
}

impl Topology {
    /// Grows by one with every snapshot that is published; 0 before the first.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The name that the nodes report, if the cluster has one.
    #[must_use]
    pub fn cluster_name(&self) -> Option<&str> {
        self.cluster_name.as_deref()
    }

    /// The node with this id, also when it has left the cluster. `None` for ids of later snapshots.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Option<&Arc<NodeInfo>> {
        self.nodes.get(id.index()).map(|slot| &slot.info)
    }

    /// Whether the node is part of the cluster in this snapshot.
    #[must_use]
    pub fn is_active(&self, id: NodeId) -> bool {
        self.nodes.get(id.index()).is_some_and(|slot| slot.active)
    }

    /// The nodes of the cluster, by ascending id.
    #[must_use]
    pub fn active_nodes(&self) -> impl ExactSizeIterator<Item = &Arc<NodeInfo>> {
        self.active.iter().map(|id| &self.nodes[id.index()].info)
    }

    /// One more than the highest id in use: the length of an array indexed by [`NodeId::index`].
    #[must_use]
    pub fn node_slots(&self) -> usize {
        self.nodes.len()
    }

    /// The active node of this name.
    #[must_use]
    pub fn node_by_name(&self, name: &str) -> Option<&Arc<NodeInfo>> {
        self.active_nodes().find(|node| node.name() == name)
    }

    /// The partition map of a namespace.
    ///
    /// # Errors
    /// `InvalidNamespace`, naming the namespaces that the cluster has.
    pub fn namespace(&self, name: &str) -> Result<&NamespaceMap> {
        // A cluster has a handful of namespaces: comparing names beats hashing one.
        match self.namespaces.iter().find(|map| *map.name == *name) {
            Some(map) => Ok(map),
            None => Err(Error::invalid_namespace(name, self.namespaces.iter().map(|map| &*map.name))),
        }
    }

    /// The namespaces, in the order in which the nodes first reported them.
    #[must_use]
    pub fn namespaces(&self) -> impl ExactSizeIterator<Item = &NamespaceMap> {
        self.namespaces.iter().map(|map| &**map)
    }

    /// Whether at least one namespace is known and every partition of every namespace has an active master.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.namespaces.is_empty() && self.namespaces.iter().all(|map| map.unowned_partitions() == 0)
    }

    /// The node for a request, in one call: [`namespace`](Self::namespace) and [`NamespaceMap::route`].
    pub fn route(&self, namespace: &str, partition: u16, route: &mut Route, spread: u32) -> Result<NodeId> {
        self.namespace(namespace)?.route(partition, route, spread)
    }
}

impl NamespaceMap {
    /// The namespace's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the namespace is in strong-consistency mode.
    #[must_use]
    pub fn strong_consistency(&self) -> bool {
        self.strong_consistency
    }

    /// Copies of each record that the cluster keeps at present.
    #[must_use]
    pub fn replication_factor(&self) -> usize {
        self.replication_factor
    }

    /// The active owner of a partition's replica (0: the master), if there is one.
    #[must_use]
    pub fn owner(&self, replica: usize, partition: u16) -> Option<NodeId> {
        let partition = usize::from(partition);
        if replica >= self.replication_factor || partition >= PARTITIONS {
            return None;
        }
        self.owners.get(replica * PARTITIONS + partition).copied().filter(|id| *id != NodeId::NONE)
    }

    /// The regime under which the owner claimed a partition's replica; 0 outside strong consistency.
    #[must_use]
    pub fn regime(&self, replica: usize, partition: u16) -> u32 {
        self.regimes.get(replica * PARTITIONS + usize::from(partition)).copied().unwrap_or(0)
    }

    /// Partitions that have no active master.
    #[must_use]
    pub fn unowned_partitions(&self) -> usize {
        self.owners.iter().take(PARTITIONS).filter(|id| **id == NodeId::NONE).count()
    }
}

#[cfg(test)]
mod tests;
