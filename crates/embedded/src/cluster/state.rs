//! What all nodes of a cluster share: namespaces, members, ownership, users, index definitions.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use parking_lot::{Mutex, RwLock};

use super::access::Access;
use super::ownership::{Ownership, PARTITIONS};
use super::{Node, NodeId};
use crate::admin::Security;
use crate::clock::Clock;
use crate::conditions::Conditions;
use crate::info::{SecondaryIndexes, TypeNames};
use crate::scan::Queries;
use crate::store::Namespace;
use crate::udf::Registry;

/// What all nodes of a cluster share.
#[derive(Debug)]
pub(crate) struct ClusterState {
    /// The namespaces, in the order they were configured. One store serves all nodes.
    pub(crate) namespaces: Vec<Arc<Namespace>>,
    /// The replication factor of each namespace.
    replication: Vec<usize>,
    /// Name of the cluster; `null` if it has none, as the server says.
    pub(crate) cluster_name: String,
    /// The build that nodes say they are.
    pub(crate) build: String,
    /// Users, if security is on.
    pub(crate) security: Option<Security>,
    /// Definitions of secondary indexes.
    pub(crate) indexes: SecondaryIndexes,
    /// Lua modules.
    pub(crate) modules: Arc<Registry>,
    /// Queries that run, or ran a moment ago.
    pub(crate) queries: Queries,
    /// The name that TLS certificates are for.
    pub(crate) tls_name: Option<String>,
    /// The racks of nodes.
    pub(crate) racks: Racks,
    /// The addresses that nodes tell.
    pub(crate) access: Access,
    /// What time it is.
    pub(crate) clock: Clock,
    /// What random numbers come from.
    pub(crate) seed: u64,
    /// The conditions of nodes that are yet to come.
    conditions: Mutex<Conditions>,
    view: RwLock<Arc<View>>,
    /// Serialises changes.
    forced: Mutex<BTreeMap<u16, NodeId>>,
    /// Partitions stay where they are when nodes come and go.
    held: AtomicBool,
}

/// One state of the cluster: immutable, replaced at every change.
#[derive(Debug)]
pub(crate) struct View {
    /// The live nodes, by falling id: the first is the principal.
    members: Vec<(NodeId, Weak<Node>)>,
    /// Who owns what.
    pub(crate) ownership: Ownership,
    /// Changes with the members: 48 random bits.
    pub(crate) cluster_key: u64,
    /// When the members last changed.
    pub(crate) rebalanced: Instant,
}

impl View {
    /// The live nodes, by falling id.
    pub(crate) fn members(&self) -> impl Iterator<Item = Arc<Node>> + '_ {
        self.members.iter().filter_map(|(_, node)| node.upgrade())
    }

    /// How many nodes are live.
    pub(crate) fn size(&self) -> usize {
        self.members.len()
    }

    /// The principal: the highest id.
    pub(crate) fn principal(&self) -> Option<NodeId> {
        self.members.first().map(|(id, _)| *id)
    }
}

/// The racks of nodes, by the order in which they were made.
#[derive(Debug)]
pub(crate) struct Racks {
    pub(super) first_id: u64,
    pub(super) racks: Vec<u32>,
}

impl Racks {
    /// The rack of a node, if there are any.
    pub(crate) fn of(&self, node: NodeId) -> Option<u32> {
        let ordinal = usize::try_from(node.0.wrapping_sub(self.first_id)).ok()?;
        self.racks.get(ordinal.checked_rem(self.racks.len())?).copied()
    }
}

/// What [`ClusterState::new`] takes.
#[derive(Debug)]
pub(crate) struct ClusterParts {
    /// Namespaces with their replication factors.
    pub(crate) namespaces: Vec<(Namespace, usize)>,
    pub(crate) cluster_name: String,
    pub(crate) build: String,
    pub(crate) security: Option<Security>,
    pub(crate) tls_name: Option<String>,
    pub(crate) racks: Racks,
    pub(crate) access: Access,
    pub(crate) conditions: Conditions,
    pub(crate) seed: u64,
}

impl ClusterState {
    pub(crate) fn new(parts: ClusterParts) -> Self {
        let modules = Arc::<Registry>::default();
        let share = |(mut namespace, factor): (Namespace, usize)| {
            namespace.modules = Arc::clone(&modules);
            (Arc::new(namespace), factor.max(1))
        };
        let (namespaces, replication) = parts.namespaces.into_iter().map(share).unzip();
        let view = View {
            members: Vec::new(),
            ownership: Ownership::default(),
            cluster_key: new_cluster_key(),
            rebalanced: Instant::now(),
        };
        Self {
            namespaces,
            replication,
            cluster_name: parts.cluster_name,
            indexes: SecondaryIndexes::new(TypeNames::of(&parts.build)),
            build: parts.build,
            security: parts.security,
            modules,
            queries: Queries::default(),
            tls_name: parts.tls_name,
            racks: parts.racks,
            access: parts.access,
            clock: Clock::default(),
            seed: parts.seed,
            conditions: Mutex::new(parts.conditions),
            view: RwLock::new(Arc::new(view)),
            forced: Mutex::default(),
            held: AtomicBool::new(false),
        }
    }

    /// The conditions of a new node.
    pub(crate) fn default_conditions(&self) -> Conditions {
        self.conditions.lock().clone()
    }

    /// Sets the conditions of nodes that are yet to come.
    pub(crate) fn set_default_conditions(&self, conditions: &Conditions) {
        self.conditions.lock().clone_from(conditions);
    }

    /// The namespace with this name.
    #[inline]
    pub(crate) fn namespace(&self, name: &[u8]) -> Option<&Arc<Namespace>> {
        self.namespaces.iter().find(|ns| ns.name.as_bytes() == name)
    }

    /// The cluster as it is now.
    pub(crate) fn view(&self) -> Arc<View> {
        self.view.read().clone()
    }

    /// How often a namespace keeps each record while `nodes` nodes are live. 1 at least, so that clients always find a
    /// master column in the map.
    pub(crate) fn replication_factor(&self, namespace: &Namespace, nodes: usize) -> usize {
        let at = self.namespaces.iter().position(|ns| ns.name == namespace.name);
        at.map_or(1, |at| self.replication[at]).min(nodes).max(1)
    }

    /// Whether the node holds the partition: for reads as master or as replica, for writes as master.
    pub(crate) fn owns(&self, node: &Node, namespace: &Namespace, pid: u16, write: bool) -> bool {
        let view = self.view();
        let replicas = if write { 1 } else { self.replication_factor(namespace, view.size()) };
        view.ownership.is_owner(node.id, pid, replicas)
    }

    /// Sets the live nodes. Partitions all of whose owners are gone lose their records; the rest move at once, unless
    /// they are held.
    pub(crate) fn set_members(&self, nodes: &[Arc<Node>]) {
        let forced = self.forced.lock();
        let mut members: Vec<_> = nodes.iter().map(|node| (node.id, Arc::downgrade(node))).collect();
        members.sort_by_key(|(id, _)| std::cmp::Reverse(*id));
        let ids: Vec<NodeId> = members.iter().map(|(id, _)| *id).collect();
        let old = self.view();
        let ownership = if self.held.load(Ordering::Relaxed) {
            old.ownership.clone()
        } else {
            self.drop_orphaned_partitions(&old, &ids);
            Ownership::new(&ids, &forced)
        };
        let view = View { members, ownership, cluster_key: new_cluster_key(), rebalanced: Instant::now() };
        *self.view.write() = Arc::new(view);
        for node in nodes {
            node.generations.members_changed(nodes.len() - 1);
        }
        let names: Vec<_> = nodes.iter().map(|node| node.name.as_str()).collect();
        log::info!("the cluster has {} nodes: {}", names.len(), names.join(", "));
    }

    fn drop_orphaned_partitions(&self, old: &View, live: &[NodeId]) {
        if old.size() == 0 {
            return;
        }
        for namespace in &self.namespaces {
            let factor = self.replication_factor(namespace, old.size());
            for pid in 0..PARTITIONS as u16 {
                if !old.ownership.owners(pid, factor).any(|owner| live.contains(&owner)) {
                    namespace.drop_partition(pid);
                }
            }
        }
    }

    /// Keeps partitions where they are from now on, or lets them move to the nodes that are live.
    pub(crate) fn hold_partitions(&self, hold: bool) {
        let forced = self.forced.lock();
        if self.held.swap(hold, Ordering::Relaxed) && !hold {
            let old = self.view();
            let live: Vec<NodeId> = old.members.iter().map(|(id, _)| *id).collect();
            self.drop_orphaned_partitions(&old, &live);
            self.rebuild(&forced);
        }
    }

    /// Makes a node the master of a partition for as long as it lives, or ends that (`None`).
    pub(crate) fn force_master(&self, pid: u16, node: Option<NodeId>) {
        let mut forced = self.forced.lock();
        match node {
            Some(node) => forced.insert(pid, node),
            None => forced.remove(&pid),
        };
        self.rebuild(&forced);
    }

    /// Ends all that [`ClusterState::force_master`] has done.
    pub(crate) fn unforce_masters(&self) {
        let mut forced = self.forced.lock();
        if !forced.is_empty() {
            forced.clear();
            self.rebuild(&forced);
        }
    }

    /// Partitions with a master given by hand.
    pub(crate) fn forced_masters(&self) -> Vec<(u16, NodeId)> {
        self.forced.lock().iter().map(|(pid, id)| (*pid, *id)).collect()
    }

    fn rebuild(&self, forced: &BTreeMap<u16, NodeId>) {
        let old = self.view();
        let ids: Vec<NodeId> = if self.held.load(Ordering::Relaxed) {
            old.ownership.nodes().to_vec()
        } else {
            old.members.iter().map(|(id, _)| *id).collect()
        };
        let view = View {
            members: old.members.clone(),
            ownership: Ownership::new(&ids, forced),
            cluster_key: old.cluster_key,
            rebalanced: old.rebalanced,
        };
        *self.view.write() = Arc::new(view);
        for node in old.members() {
            node.generations.owners_changed();
        }
    }
}

/// 48 random bits, never 0.
fn new_cluster_key() -> u64 {
    let mut bytes = [0; 8];
    // Without entropy the clock will do: the key only has to differ from the last one.
    if getrandom::fill(&mut bytes).is_err() {
        bytes = crate::clock::now_ms().to_le_bytes();
    }
    (u64::from_le_bytes(bytes) & 0xffff_ffff_ffff) | 1
}
