//! Which node owns which partition: rendezvous hashing over the live nodes.
//!
//! Every node gets a weight for every partition, from a hash of both; the nodes in falling order of weight are the
//! partition's succession list. The first is the master, the next ones are its replicas. A node that leaves or joins
//! moves only the partitions that it owned or will own, as in a real cluster.

use std::collections::BTreeMap;

use super::{NodeId, Racks};

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
    /// among the nodes counts for nothing. With racks, nodes that follow each other are on different ones as far as there are, so that
    /// a partition's copies are, too.
    pub(crate) fn new(nodes: &[NodeId], forced: &BTreeMap<u16, NodeId>, racks: &Racks) -> Self {
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
            if racks.are_there() {
                spread(&mut order, |index| racks.of(nodes[usize::from(index)]));
            }
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
}

/// Reorders nodes as little as it takes for those that follow each other to be on different racks, until all racks have had
/// their turn, and so on.
fn spread(order: &mut [u16], rack: impl Fn(u16) -> Option<u32>) {
    let mut seen = Vec::new();
    for at in 0..order.len() {
        let next = (at..order.len()).find(|next| !seen.contains(&rack(order[*next])));
        let next = next.unwrap_or_else(|| {
            seen.clear();
            at
        });
        seen.push(rack(order[next]));
        order[at..=next].rotate_right(1);
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

    const NO_RACKS: Racks = Racks { first_id: 0, racks: Vec::new() };

    fn masters(map: &Ownership, node: NodeId) -> usize {
        (0..PARTITIONS as u16).filter(|&pid| map.owners(pid, 1).next() == Some(node)).count()
    }

    fn ids(n: u64) -> Vec<NodeId> {
        (1..=n).map(|i| NodeId(0xA0AE_0000_0000_0000 + i)).collect()
    }

    #[test]
    fn partitions_are_spread_evenly_and_each_has_distinct_owners() {
        let nodes = ids(3);
        let map = Ownership::new(&nodes, &BTreeMap::new(), &NO_RACKS);
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
        let before = Ownership::new(&nodes, &BTreeMap::new(), &NO_RACKS);
        let after = Ownership::new(&nodes[..3], &BTreeMap::new(), &NO_RACKS);
        for pid in 0..4096 {
            let old: Vec<_> = before.owners(pid, 4).filter(|id| *id != nodes[3]).collect();
            assert_eq!(old, after.owners(pid, 3).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_forced_master_wins_while_it_lives() {
        let nodes = ids(3);
        let forced: BTreeMap<u16, NodeId> = (0..4096).map(|pid| (pid, nodes[2])).collect();
        let map = Ownership::new(&nodes, &forced, &NO_RACKS);
        assert_eq!(masters(&map, nodes[2]), 4096);
        let without = Ownership::new(&nodes[..2], &forced, &NO_RACKS);
        assert!(masters(&without, nodes[0]) > 1500);
        assert_eq!(Ownership::new(&[], &forced, &NO_RACKS).owners(7, 1).next(), None);
    }

    #[test]
    fn copies_are_on_different_racks() {
        let nodes = ids(6);
        let racks = Racks { first_id: nodes[0].0, racks: vec![7, 8] };
        let (with, without) =
            (Ownership::new(&nodes, &BTreeMap::new(), &racks), Ownership::new(&nodes, &BTreeMap::new(), &NO_RACKS));
        for pid in 0..4096 {
            let list: Vec<_> = with.owners(pid, 6).map(|id| racks.of(id)).collect();
            for pair in list.chunks(2) {
                assert_ne!(pair[0], pair[1]);
            }
            assert_eq!(with.owners(pid, 1).next(), without.owners(pid, 1).next(), "masters are the same");
            assert_eq!(with.owners(pid, 6).collect::<std::collections::BTreeSet<_>>().len(), 6);
        }
    }
}
