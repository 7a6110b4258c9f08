//! Rosters: the nodes that a namespace in strong-consistency mode is to have, so that it knows how many are missing.
//!
//! Without a roster (the default) partitions stay available as long as a node is there. With one, a partition is available
//! if all nodes that hold it by the roster are there, or one of them and more than half of the roster, or exactly half with
//! its master by the roster. Changes wait until the cluster is told to carry them out (`recluster`), as in the server.

use super::ownership::Ownership;
use super::{NodeId, Racks};
use std::collections::BTreeMap;

/// The roster of a namespace.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    /// What counts; empty: there is no roster.
    pub(crate) nodes: Vec<NodeId>,
    /// What counts from the next `recluster` on.
    pub(crate) pending: Vec<NodeId>,
    /// Whether partitions that have lost all copies begin anew with the next `recluster`.
    pub(crate) revive: bool,
}

/// A roster, taken apart for a rebalance.
#[derive(Debug)]
pub(super) struct Quorum {
    owners: Ownership,
    /// How many of the roster are there.
    present: usize,
}

impl Quorum {
    /// `None` without a roster.
    pub(super) fn new(roster: &[NodeId], live: &[NodeId], racks: &Racks) -> Option<Self> {
        let present = roster.iter().filter(|id| live.contains(id)).count();
        (!roster.is_empty()).then(|| Self { owners: Ownership::new(roster, &BTreeMap::new(), racks), present })
    }

    /// Whether a partition is available.
    pub(super) fn allows(&self, pid: u16, factor: usize, live: &[NodeId]) -> bool {
        let all = self.owners.nodes().len();
        let owners = || self.owners.owners(pid, factor);
        let here = owners().filter(|id| live.contains(id)).count();
        let has_master = owners().next().is_some_and(|id| live.contains(&id));
        here == factor.min(all) || (2 * self.present > all && here > 0) || (2 * self.present == all && has_master)
    }

    /// Whether a node is on the roster.
    pub(super) fn has(&self, id: NodeId) -> bool {
        self.owners.nodes().contains(&id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minority_with_one_owner_is_not_enough() {
        let nodes: Vec<NodeId> = (1..=4).map(NodeId).collect();
        let racks = Racks { first_id: 0, racks: Vec::new() };
        let owners = Ownership::new(&nodes, &BTreeMap::new(), &racks);
        for pid in 0..64 {
            let [master, replica] = [0, 1].map(|at| owners.owners(pid, 2).nth(at).unwrap());
            let others: Vec<NodeId> = nodes.iter().copied().filter(|id| ![master, replica].contains(id)).collect();
            let allowed = |live: &[NodeId]| Quorum::new(&nodes, live, &racks).unwrap().allows(pid, 2, live);
            assert!(allowed(&nodes));
            assert!(allowed(&[master, replica]), "all owners");
            assert!(allowed(&[replica, others[0], others[1]]), "most nodes and an owner");
            assert!(allowed(&[master, others[0]]) && !allowed(&[replica, others[0]]), "half of the nodes");
            assert!(!allowed(&others) && !allowed(&[master]) && !allowed(&[]));
        }
        assert!(Quorum::new(&[], &nodes, &racks).is_none());
    }
}
