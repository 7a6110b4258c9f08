//! One node.

use super::ClusterState;
use crate::faults::Faults;
use std::sync::Arc;

/// What a connection knows about the node that it is connected to.
#[derive(Debug)]
pub(crate) struct Node {
    /// The cluster that the node belongs to.
    pub(crate) cluster: Arc<ClusterState>,
    /// Node id as info commands tell it, such as `BB9000000000000`.
    pub(crate) name: String,
    /// The faults installed on this node.
    pub(crate) faults: Faults,
}
