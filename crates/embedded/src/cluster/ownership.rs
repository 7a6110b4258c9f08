//! Which node owns which partition: rendezvous hashing over the live nodes.
//!
//! Every node gets a weight for every partition, from a hash of both; the nodes in falling order of weight are the
//! partition's succession list. The first is the master, the next ones are its replicas. A node that leaves or joins
//! moves only the partitions that it owned or will own, as in a real cluster.

use std::collections::BTreeMap;

use super::NodeId;

/// Partitions of a namespace.
pub(crate) const PARTITIONS: usize = aerolane_wire::digest::PARTITIONS;

/// Bytes of a partition bitmap.
pub(crate) const BITMAP_BYTES: usize = PARTITIONS / 8;

/// The succession lists of all partitions. Immutable: every change of the cluster makes a new one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ownership {
    nodes: Vec<NodeId>,
    /// `nodes.len()` entries per partition: indices into `nodes`, the master first.
    succession: Vec<u16>,
}

impl Ownership {
    /// The lists for these nodes. `forced` names partitions whose master is given by hand; a forced master that is not
    /// among the nodes counts for nothing.
    pub(crate) fn new(nodes: &[NodeId], forced: &BTreeMap<u16, NodeId>) -> Self {
        let mut order: Vec<u16> = Vec::with_capacity(nodes.len());
        let mut succession = Vec::with_capacity(nodes.len() * PARTITIONS);
        for pid in 0..PARTITIONS as u16 {
            order.clear();
            order.extend(0..nodes.len() as u16);
            let master = forced.get(&pid);
            order.sort_by_cached_key(|&index| {
                let id = nodes[index as usize];
                (Some(&id) != master, std::cmp::Reverse(weight(id, pid)))
            });
            succession.extend_from_slice(&order);
        }
        Self { nodes: nodes.to_vec(), succession }
    }

    /// The nodes that partitions are spread over.
    pub(crate) fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// The nodes that hold the partition if it is kept `replicas` times, the master first.
    pub(crate) fn owners(&self, pid: u16, replicas: usize) -> impl Iterator<Item = NodeId> + '_ {
        let n = self.nodes.len();
        let list = self.succession.get(pid as usize * n..(pid as usize + 1) * n).unwrap_or_default();
        list.iter().take(replicas).map(|&index| self.nodes[index as usize])
    }

    /// The master of the partition; `None` if no node is live.
    pub(crate) fn master(&self, pid: u16) -> Option<NodeId> {
        self.owners(pid, 1).next()
    }

    /// Whether the node is one of the first `replicas` of the partition.
    pub(crate) fn is_owner(&self, node: NodeId, pid: u16, replicas: usize) -> bool {
        self.owners(pid, replicas).any(|owner| owner == node)
    }

    /// The partitions that the node holds as replica number `replica` (0: as master), as the bitmap of the info
    /// protocol: partition 0 is the highest bit of byte 0.
    pub(crate) fn bitmap(&self, node: NodeId, replica: usize) -> [u8; BITMAP_BYTES] {
        let mut bits = [0; BITMAP_BYTES];
        for pid in 0..PARTITIONS as u16 {
            if self.owners(pid, replica + 1).nth(replica) == Some(node) {
                bits[pid as usize / 8] |= 0x80 >> (pid % 8);
            }
        }
        bits
    }
}

/// The weight of a node for a partition: a 64-bit mix (the finaliser of `SplitMix64`), so that close ids spread well.
fn weight(node: NodeId, pid: u16) -> u64 {
    let mut x = node.0 ^ (u64::from(pid) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masters(map: &Ownership, node: NodeId) -> usize {
        (0..PARTITIONS as u16).filter(|&pid| map.master(pid) == Some(node)).count()
    }

    fn ids(n: u64) -> Vec<NodeId> {
        (1..=n).map(|i| NodeId(0xA0AE_0000_0000_0000 + i)).collect()
    }

    #[test]
    fn partitions_are_spread_evenly_and_each_has_distinct_owners() {
        let nodes = ids(3);
        let map = Ownership::new(&nodes, &BTreeMap::new());
        for node in &nodes {
            let masters = masters(&map, *node);
            assert!((1200..1550).contains(&masters), "{masters} of 4096");
        }
        for pid in 0..4096 {
            let owners: Vec<_> = map.owners(pid, 2).collect();
            assert_eq!(owners.len(), 2);
            assert_ne!(owners[0], owners[1]);
            assert_eq!(map.owners(pid, 9).count(), 3);
        }
    }

    #[test]
    fn a_node_that_leaves_moves_only_its_own_partitions_to_their_next_replica() {
        let nodes = ids(4);
        let before = Ownership::new(&nodes, &BTreeMap::new());
        let after = Ownership::new(&nodes[..3], &BTreeMap::new());
        for pid in 0..4096 {
            let old: Vec<_> = before.owners(pid, 4).filter(|id| *id != nodes[3]).collect();
            assert_eq!(old, after.owners(pid, 3).collect::<Vec<_>>());
        }
    }

    #[test]
    fn bitmaps_cover_each_partition_once_per_replica() {
        let nodes = ids(3);
        let map = Ownership::new(&nodes, &BTreeMap::new());
        for replica in 0..2 {
            let mut sum = [0u8; BITMAP_BYTES];
            for node in &nodes {
                for (s, b) in sum.iter_mut().zip(map.bitmap(*node, replica)) {
                    assert_eq!(*s & b, 0);
                    *s |= b;
                }
            }
            assert_eq!(sum, [0xff; BITMAP_BYTES]);
        }
    }

    #[test]
    fn a_forced_master_wins_while_it_lives() {
        let nodes = ids(3);
        let forced: BTreeMap<u16, NodeId> = (0..4096).map(|pid| (pid, nodes[2])).collect();
        let map = Ownership::new(&nodes, &forced);
        assert_eq!(masters(&map, nodes[2]), 4096);
        let without = Ownership::new(&nodes[..2], &forced);
        assert!(masters(&without, nodes[0]) > 1500);
        assert_eq!(Ownership::new(&[], &forced).master(7), None);
    }
}
