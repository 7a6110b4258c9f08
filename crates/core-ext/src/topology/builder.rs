//! Gathers what the nodes report, and makes snapshots of it.

use std::net::SocketAddr;
use std::sync::Arc;

use super::{Breaker, NamespaceClaim, NamespaceMap, NodeId, NodeInfo, NodeSlot, PARTITIONS, Topology};
use crate::error::{Error, Result};
use crate::logging::event;

/// The rank of a node on none of the preferred racks.
pub(super) const NOT_PREFERRED: u8 = u8::MAX;

/// The mutable side of the topology, owned by the control plane.
#[derive(Debug)]
pub struct TopologyBuilder {
    version: u64,
    pub(super) nodes: Vec<NodeSlot>,
    namespaces: Vec<Building>,
    cluster_name: Option<Arc<str>>,
    rack_aware: bool,
    max_error_rate: usize,
    error_rate_window: usize,
    pub(super) changed: bool,
}

#[derive(Debug)]
struct Building {
    name: Box<str>,
    strong_consistency: bool,
    factor: usize,
    owners: Vec<NodeId>,
    regimes: Vec<u32>,
    /// By node.
    rack_ranks: Vec<u8>,
    /// The nodes whose latest answer names the namespace, whether they own partitions of it or not.
    reported_by: Vec<NodeId>,
}

impl TopologyBuilder {
    /// Empty; breakers of its nodes open at these limits (see [`Breaker::new`]).
    #[must_use]
    pub fn new(max_error_rate: usize, error_rate_window: usize, rack_aware: bool) -> Self {
        Self {
            version: 0,
            nodes: Vec::new(),
            namespaces: Vec::new(),
            cluster_name: None,
            rack_aware,
            max_error_rate,
            error_rate_window,
            changed: false,
        }
    }

    /// Changes the limits of all breakers, see [`Breaker::new`].
    pub(crate) fn set_error_limits(&mut self, max_error_rate: usize, error_rate_window: usize) {
        (self.max_error_rate, self.error_rate_window) = (max_error_rate, error_rate_window);
        for slot in &self.nodes {
            slot.info.breaker().set_limits(max_error_rate, error_rate_window);
        }
    }

    /// Changes whether snapshots tell racks.
    pub(crate) fn set_rack_aware(&mut self, rack_aware: bool) {
        self.changed |= self.rack_aware != rack_aware;
        self.rack_aware = rack_aware;
    }

    /// Adds a node, or updates where it listens. Its id and breaker stay the same for life.
    ///
    /// # Errors
    /// `Client` when more nodes were seen than ids exist (65,535).
    pub fn upsert_node(
        &mut self,
        name: &str,
        host: &str,
        tls_name: Option<&str>,
        addresses: Vec<SocketAddr>,
        login_addresses: Vec<SocketAddr>,
    ) -> Result<NodeId> {
        let known = self.nodes.iter().position(|slot| slot.info.name() == name);
        let id = NodeId::from_index(known.unwrap_or(self.nodes.len()));
        if id == NodeId::NONE {
            return Err(Error::client_error("more nodes were seen than one client can tell apart (65,535)"));
        }
        let breaker = match known {
            Some(at) => Arc::clone(self.nodes[at].info.breaker()),
            None => Arc::new(Breaker::new(self.max_error_rate, self.error_rate_window)),
        };
        let info = NodeInfo::new(id, name, host, addresses, breaker)
            .with_tls_name(tls_name)
            .with_login_addresses(login_addresses);
        match self.nodes.get_mut(id.index()) {
            None => {
                event!(info, "node added to the cluster", node = info.label());
                self.nodes.push(NodeSlot { info: Arc::new(info), active: true });
            }
            Some(slot) if slot.active && slot.info.same_place(&info) => return Ok(id),
            Some(slot) => {
                let change = if slot.active { "moved" } else { "returned" };
                event!(info, "node changed in the cluster", node = info.label(), change = change);
                *slot = NodeSlot { info: Arc::new(info), active: true };
            }
        }
        self.changed = true;
        Ok(id)
    }

    /// The node of this name, if it was ever added.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<&NodeInfo> {
        self.nodes.iter().map(|slot| &*slot.info).find(|info| info.name() == name)
    }

    /// Retires every active node that is not among these. Its partitions count as unowned until others claim them,
    /// its id is kept.
    pub fn retain_active(&mut self, present: &[NodeId]) {
        for (index, slot) in self.nodes.iter_mut().enumerate() {
            if slot.active && !present.contains(&NodeId::from_index(index)) {
                slot.active = false;
                event!(info, "node removed from the cluster", node = slot.info.label());
                self.changed = true;
            }
        }
    }

    /// Whether a node that is not among these is active.
    #[must_use]
    pub fn has_active_beside(&self, present: &[NodeId]) -> bool {
        let mut active = self.nodes.iter().enumerate().filter(|(_, slot)| slot.active);
        active.any(|(index, _)| !present.contains(&NodeId::from_index(index)))
    }

    /// Sets the cluster's name.
    pub fn set_cluster_name(&mut self, name: Option<&str>) {
        if self.cluster_name.as_deref() != name {
            self.cluster_name = name.map(Into::into);
            self.changed = true;
        }
    }

    /// Sets the place of a node's rack in the client's list, for one namespace; `None`: on no preferred rack.
    pub fn set_rack_rank(&mut self, node: NodeId, namespace: &str, rank: Option<usize>) {
        let Some(map) = self.namespaces.iter_mut().find(|map| *map.name == *namespace) else { return };
        let rank = rank.and_then(|r| u8::try_from(r).ok()).unwrap_or(NOT_PREFERRED);
        if map.rack_ranks.len() <= node.index() {
            map.rack_ranks.resize(node.index() + 1, NOT_PREFERRED);
        }
        if map.rack_ranks[node.index()] != rank {
            map.rack_ranks[node.index()] = rank;
            self.changed = true;
        }
    }

    /// Names of the namespaces seen so far.
    pub fn namespace_names(&self) -> impl Iterator<Item = &str> {
        self.namespaces.iter().map(|map| &*map.name)
    }

    /// Takes in what a node claims to own, and returns the nodes that lost a partition by it: they are to be asked
    /// again, in case theirs was the newer answer.
    ///
    /// A claim wins over one of an older regime or of the same one (outside strong consistency all regimes are 0, so
    /// the latest answer wins), and over a node that is gone. A node that no longer claims what it owned stays the
    /// owner until another claims it: it still forwards requests.
    pub fn apply_claims(&mut self, node: NodeId, claims: &[NamespaceClaim]) -> Vec<NodeId> {
        let mut displaced = Vec::new();
        for map in &mut self.namespaces {
            let reported = claims.iter().any(|claim| claim.name == map.name);
            if !reported && let Some(at) = map.reported_by.iter().position(|id| *id == node) {
                map.reported_by.swap_remove(at);
                self.changed = true;
            }
        }
        for claim in claims {
            let at = self.namespaces.iter().position(|map| map.name == claim.name).unwrap_or_else(|| {
                self.namespaces.push(Building::new(&claim.name));
                self.namespaces.len() - 1
            });
            self.changed |= self.namespaces[at].apply(node, claim, &self.nodes, &mut displaced);
        }
        displaced
    }

    /// Whether every partition of every namespace seen so far has an active master (and there is a namespace).
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.namespaces.is_empty()
            && self.namespaces.iter().all(|map| {
                map.owners.len() >= PARTITIONS && map.owners[..PARTITIONS].iter().all(|id| is_active(&self.nodes, *id))
            })
    }

    /// One tend interval has passed, for all breakers.
    pub fn tick_breakers(&self) {
        for slot in &self.nodes {
            if slot.info.breaker().tick() {
                event!(info, "circuit breaker closed: requests are sent to the node again", node = slot.info.label());
            }
        }
    }

    /// A new snapshot, if anything changed since the last one.
    pub fn snapshot(&mut self) -> Option<Topology> {
        if !std::mem::take(&mut self.changed) {
            return None;
        }
        self.version += 1;
        let active: Vec<NodeId> =
            (0..self.nodes.len()).filter(|i| self.nodes[*i].active).map(NodeId::from_index).collect();
        let namespaces = self
            .namespaces
            .iter()
            .filter(|map| active.is_empty() || map.is_present(&self.nodes))
            .map(|map| Arc::new(map.freeze(&self.nodes, &active, self.rack_aware)))
            .collect();
        Some(Topology {
            version: self.version,
            nodes: self.nodes.clone(),
            active,
            namespaces,
            cluster_name: self.cluster_name.clone(),
        })
    }
}

impl Building {
    fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            strong_consistency: false,
            factor: 0,
            owners: Vec::new(),
            regimes: Vec::new(),
            rack_ranks: Vec::new(),
            reported_by: Vec::new(),
        }
    }

    /// Whether the cluster has the namespace: an active node reports it, if only with no partition available, or is the last
    /// known owner of a partition.
    fn is_present(&self, nodes: &[NodeSlot]) -> bool {
        self.reported_by.iter().chain(&self.owners).any(|id| is_active(nodes, *id))
    }

    /// Returns whether anything changed that a snapshot shows.
    fn apply(&mut self, node: NodeId, claim: &NamespaceClaim, nodes: &[NodeSlot], displaced: &mut Vec<NodeId>) -> bool {
        let mut changed = false;
        if !self.reported_by.contains(&node) {
            self.reported_by.push(node);
            changed = true;
        }
        let strong = claim.regime != 0;
        if (self.factor, self.strong_consistency) != (claim.replication_factor(), strong) {
            self.factor = claim.replication_factor();
            self.strong_consistency = strong;
            self.owners.resize(self.factor * PARTITIONS, NodeId::NONE);
            self.regimes.resize(self.factor * PARTITIONS, 0);
            changed = true;
        }
        for replica in 0..self.factor {
            for partition in 0..PARTITIONS {
                let at = replica * PARTITIONS + partition;
                let owner = self.owners[at];
                if !claim.owns(replica, partition) {
                    if owner == node {
                        // Kept as a guess; any claim is better.
                        self.regimes[at] = 0;
                    }
                    continue;
                }
                let owner_active = is_active(nodes, owner);
                if owner != node && owner_active && claim.regime < self.regimes[at] {
                    continue;
                }
                if owner != node {
                    if owner_active && !displaced.contains(&owner) {
                        displaced.push(owner);
                    }
                    self.owners[at] = node;
                    changed = true;
                }
                self.regimes[at] = claim.regime;
            }
        }
        changed
    }

    fn freeze(&self, nodes: &[NodeSlot], active: &[NodeId], rack_aware: bool) -> NamespaceMap {
        let rack_ranks = if rack_aware {
            let mut ranks = self.rack_ranks.clone();
            ranks.resize(nodes.len(), NOT_PREFERRED);
            ranks.into()
        } else {
            Box::default()
        };
        NamespaceMap {
            name: self.name.clone(),
            strong_consistency: self.strong_consistency,
            replication_factor: self.factor,
            owners: self.owners.iter().map(|id| if is_active(nodes, *id) { *id } else { NodeId::NONE }).collect(),
            regimes: self.regimes.clone().into(),
            rack_ranks,
            active: active.into(),
        }
    }
}

fn is_active(nodes: &[NodeSlot], id: NodeId) -> bool {
    nodes.get(id.index()).is_some_and(|slot| slot.active)
}
