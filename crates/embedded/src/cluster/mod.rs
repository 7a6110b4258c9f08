//! The cluster: its nodes, namespaces, and who owns which partition.

mod access;
mod builder;
mod error;
mod handle;
mod node;
mod nsup;
mod ownership;
mod roster;
mod state;
mod workers;

pub use builder::{Builder, NamespaceOptions};
pub use error::ClusterError;
pub use handle::{EmbeddedCluster, NodeInfo, NodeStats};
pub use node::NodeId;
pub(crate) use node::{ConnectionPermit, Counters, Node};
pub(crate) use ownership::{BITMAP_BYTES, PARTITIONS};
pub(crate) use state::{ClusterParts, ClusterState, Racks, View};
