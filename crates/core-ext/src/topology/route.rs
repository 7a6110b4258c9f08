//! Which node a request goes to: aerospike-core's replica policies on our snapshot.

use aerospike_core::{ReadModeSc, Replica};

use super::{NamespaceMap, NodeId, PARTITIONS};
use crate::error::{Error, Result};

/// The routing state of one operation over all its attempts.
///
/// Reads follow the policy's `Replica`. Writes go to the master, with `Sequence` and `PreferRack` also to the other
/// replicas when they are retried (the server forwards them).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    replica: Replica,
    is_write: bool,
    linearize: bool,
    /// Where in the list of replicas the next attempt begins.
    sequence: u32,
    /// The node of the attempt before.
    previous: NodeId,
}

impl Route {
    /// For a write.
    #[must_use]
    pub const fn write(replica: Replica) -> Self {
        let replica = match replica {
            Replica::Sequence | Replica::PreferRack => Replica::Sequence,
            Replica::Master | Replica::MasterProles | Replica::Random => Replica::Master,
        };
        Self { replica, is_write: true, linearize: false, sequence: 0, previous: NodeId::NONE }
    }

    /// For a read. In a strongly consistent namespace the read mode comes before the replica policy: `Session` reads
    /// from the master, `Linearize` does not prefer a rack.
    #[must_use]
    pub fn read(map: &NamespaceMap, replica: Replica, mode: ReadModeSc) -> Self {
        let (replica, linearize) = match mode {
            _ if !map.strong_consistency() => (replica, false),
            ReadModeSc::Session => (Replica::Master, false),
            ReadModeSc::Linearize if replica == Replica::PreferRack => (Replica::Sequence, true),
            ReadModeSc::Linearize => (replica, true),
            _ => (replica, false),
        };
        Self { replica, is_write: false, linearize, sequence: 0, previous: NodeId::NONE }
    }

    /// Prepares the next attempt. After a client-side timeout writes and linearized reads stay where they are;
    /// otherwise the next replica's turn comes.
    pub const fn next_attempt(&mut self, client_timeout: bool) {
        if !client_timeout || !(self.is_write || self.linearize) {
            self.sequence = self.sequence.wrapping_add(1);
        }
    }

    /// The node of the latest attempt; [`NodeId::NONE`] before the first.
    #[must_use]
    pub const fn previous(&self) -> NodeId {
        self.previous
    }
}

impl NamespaceMap {
    /// The node for the next attempt of an operation on a partition (0 to 4095).
    ///
    /// `spread` is any number that differs from operation to operation (a counter of the lane): `MasterProles` and
    /// `Random` use it to take turns.
    ///
    /// # Errors
    /// `InvalidNode` when no active node owns the partition, in a strongly consistent namespace with the result code of a node
    /// that is asked for it (11). `InvalidArgument` for `PreferRack` without rack ids in the client policy, and for a partition
    /// that does not exist.
    #[inline]
    pub fn route(&self, partition: u16, route: &mut Route, spread: u32) -> Result<NodeId> {
        let partition = usize::from(partition);
        if partition >= PARTITIONS {
            return Err(no_partition(partition));
        }
        let node = match route.replica {
            Replica::Master => self.candidate(0, partition),
            Replica::Sequence => self.in_sequence(partition, route),
            Replica::MasterProles => self.from(spread, partition).map(|(_, node)| node),
            Replica::Random => self.any_node(spread, route.previous),
            Replica::PreferRack => self.by_rack(partition, route)?,
        };
        match node {
            Some(node) => {
                route.previous = node;
                Ok(node)
            }
            None => Err(self.no_owner(partition)),
        }
    }

    #[inline]
    fn candidate(&self, replica: usize, partition: usize) -> Option<NodeId> {
        self.owners.get(replica * PARTITIONS + partition).copied().filter(|id| *id != NodeId::NONE)
    }

    /// The first owner at or after a place in the circle of replicas, and its place.
    #[inline]
    fn from(&self, start: u32, partition: usize) -> Option<(u32, NodeId)> {
        let factor = self.replication_factor as u32;
        // A factor of 0 gives an empty range.
        (0..factor).find_map(|step| {
            let ahead = start.wrapping_add(step);
            // A division costs more than all else here, and nearly all calls begin with the master.
            let place = if ahead < factor { ahead } else { (start % factor + step) % factor };
            Some((ahead, self.candidate(place as usize, partition)?))
        })
    }

    fn in_sequence(&self, partition: usize, route: &mut Route) -> Option<NodeId> {
        let (sequence, node) = self.from(route.sequence, partition)?;
        route.sequence = sequence;
        Some(node)
    }

    fn any_node(&self, spread: u32, previous: NodeId) -> Option<NodeId> {
        let count = self.active.len();
        let index = spread as usize % count.max(1);
        let node = *self.active.get(index)?;
        // A retry goes elsewhere if there is an elsewhere.
        Some(if node == previous { self.active[(index + 1) % count] } else { node })
    }

    /// The owner on the most preferred rack; then any other owner; then the one that failed before.
    fn by_rack(&self, partition: usize, route: &mut Route) -> Result<Option<NodeId>> {
        if self.rack_ranks.is_empty() {
            return Err(Error::invalid_argument("Replica::PreferRack needs ClientPolicy::rack_ids"));
        }
        let factor = self.replication_factor as u32;
        let mut best: Option<(u16, u32, NodeId)> = None;
        for step in 0..factor {
            let place = (route.sequence % factor + step) % factor;
            let Some(node) = self.candidate(place as usize, partition) else { continue };
            let rank = if node == route.previous {
                u16::MAX
            } else {
                self.rack_ranks.get(node.index()).copied().map_or(u16::from(u8::MAX), u16::from)
            };
            if best.is_none_or(|(least, ..)| rank < least) {
                best = Some((rank, route.sequence.wrapping_add(step), node));
            }
        }
        Ok(best.map(|(_, sequence, node)| {
            route.sequence = sequence;
            node
        }))
    }

    #[cold]
    fn no_owner(&self, partition: usize) -> Error {
        if self.active.is_empty() {
            return Error::invalid_node("the cluster has no active node");
        }
        let message = format!(
            "partition {partition} of namespace {} is unavailable: no active node owns it (a node is missing, or the \
             cluster is still forming; {} of {PARTITIONS} partitions have no master)",
            self.name,
            self.unowned_partitions()
        );
        // With strong consistency this is a state of the cluster, for which its nodes have a result code. Programs wait for
        // that code, whether a node was left to ask or not.
        if self.strong_consistency { Error::partition_unavailable(message) } else { Error::invalid_node(message) }
    }
}

#[cold]
fn no_partition(partition: usize) -> Error {
    Error::invalid_argument(format!("there is no partition {partition}"))
}
