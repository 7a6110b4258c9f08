//! What all nodes of a cluster share: namespaces, members, ownership, users, index definitions.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard, RwLock};

use super::access::Access;
use super::ownership::{Ownership, PARTITIONS};
use super::roster::{Quorum, Roster};
use super::{Node, NodeId};
use crate::admin::Security;
use crate::clock::Clock;
use crate::conditions::Conditions;
use crate::info::{SecondaryIndexes, TypeNames};
use crate::scan::Queries;
use crate::store::{Copies, Links, Namespace, Plan, Slot};
use crate::udf::Registry;

/// Migrations take no time.
const AT_ONCE: u64 = u64::MAX;

/// What all nodes of a cluster share.
#[derive(Debug)]
pub(crate) struct ClusterState {
    /// The namespaces, in the order they were configured.
    pub(crate) namespaces: Vec<Arc<Namespace>>,
    /// The replication factor of each namespace.
    replication: Vec<usize>,
    /// The roster of each namespace.
    rosters: Vec<Mutex<Roster>>,
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
    /// How many records a second move when owners change, or [`AT_ONCE`].
    migration_rate: AtomicU64,
    /// How many connections a node has at a time; 0: no limit.
    pub(crate) connection_limit: usize,
    /// How late writes reach each node.
    pub(crate) links: Arc<Links>,
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
    /// Whether nodes are on racks.
    pub(super) fn are_there(&self) -> bool {
        !self.racks.is_empty()
    }

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
    pub(crate) replication_lag: Duration,
    pub(crate) migration_rate: Option<u32>,
    pub(crate) connection_limit: usize,
}

impl ClusterState {
    pub(crate) fn new(parts: ClusterParts) -> Self {
        let modules = Arc::<Registry>::default();
        let links = Arc::new(Links::new(parts.replication_lag));
        let share = |(mut namespace, factor): (Namespace, usize)| {
            namespace.modules = Arc::clone(&modules);
            namespace.links = Arc::clone(&links);
            (Arc::new(namespace), factor.max(1))
        };
        let (namespaces, replication): (Vec<_>, _) = parts.namespaces.into_iter().map(share).unzip();
        let view = View {
            members: Vec::new(),
            ownership: Ownership::default(),
            cluster_key: new_cluster_key(),
            rebalanced: Instant::now(),
        };
        Self {
            rosters: namespaces.iter().map(|_: &Arc<Namespace>| Mutex::default()).collect(),
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
            migration_rate: AtomicU64::new(parts.migration_rate.map_or(AT_ONCE, u64::from)),
            connection_limit: parts.connection_limit,
            links,
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

    /// The place of a node among those that the cluster has had.
    pub(crate) fn slot(&self, id: NodeId) -> Slot {
        // A cluster has 128 nodes at most, whose ids count up.
        Slot(id.0.wrapping_sub(self.racks.first_id) as u8)
    }

    fn id(&self, slot: Slot) -> NodeId {
        NodeId(self.racks.first_id.wrapping_add(slot.0.into()))
    }

    /// The acting master of a partition of the first namespace; `None` if no node runs, or the partition is unavailable.
    pub(crate) fn master(&self, pid: u16) -> Option<NodeId> {
        let slot = self.namespaces.first()?.copies(pid).columns(1).next().flatten()?;
        Some(self.id(slot))
    }

    /// Sets the live nodes. What a node that has gone had not copied is lost; partitions move to the nodes that are there,
    /// unless they are held.
    pub(crate) fn set_members(&self, nodes: &[Arc<Node>]) {
        let forced = self.forced.lock();
        let mut members: Vec<_> = nodes.iter().map(|node| (node.id, Arc::downgrade(node))).collect();
        members.sort_by_key(|(id, _)| std::cmp::Reverse(*id));
        let ids: Vec<NodeId> = members.iter().map(|(id, _)| *id).collect();
        let old = self.view();
        let held = self.held.load(Ordering::Relaxed);
        let ownership = if held { old.ownership.clone() } else { Ownership::new(&ids, &forced, &self.racks) };
        let was = |id: &NodeId| old.members.iter().any(|(old, _)| old == id);
        let gone: Vec<Slot> =
            old.members.iter().filter(|(id, _)| !ids.contains(id)).map(|(id, _)| self.slot(*id)).collect();
        let come: Vec<Slot> = ids.iter().filter(|id| !was(id)).map(|id| self.slot(*id)).collect();
        let view = View { members, ownership, cluster_key: new_cluster_key(), rebalanced: Instant::now() };
        self.replace(view, None, |namespace, copies| {
            for node in &gone {
                copies.node_gone(&namespace.sets, &namespace.links, *node, held || namespace.keeps_records);
            }
            for node in &come {
                copies.node_back(&namespace.sets, *node);
            }
        });
        for node in nodes {
            node.generations.members_changed(nodes.len() - 1);
        }
        let names: Vec<_> = nodes.iter().map(|node| node.name.as_str()).collect();
        log::info!("the cluster has {} nodes: {}", names.len(), names.join(", "));
    }

    /// Makes a view the present one, and gives all partitions their owners, after `before`. Of those that are held only
    /// `moved`, which is moved by hand.
    fn replace(&self, view: View, moved: Option<u16>, before: impl Fn(&Namespace, &mut Copies)) {
        let held = self.held.load(Ordering::Relaxed);
        let at_once = self.migration_rate.load(Ordering::Relaxed) == AT_ONCE;
        let mut succession = Vec::with_capacity(view.size());
        let live: Vec<NodeId> = view.members.iter().map(|(id, _)| *id).collect();
        for (namespace, roster) in self.namespaces.iter().zip(&self.rosters) {
            let (quorum, revive) = {
                let roster = roster.lock();
                (Quorum::new(&roster.nodes, &live, &self.racks), roster.revive)
            };
            let factor = self.replication_factor(namespace, view.ownership.nodes().len());
            namespace.regime.fetch_add(1, Ordering::AcqRel);
            for pid in 0..PARTITIONS as u16 {
                let mut copies = namespace.copies(pid);
                before(namespace, &mut copies);
                if !held || moved == Some(pid) {
                    succession.clear();
                    // While partitions are held, nodes that are down have their places in the view.
                    let eligible = |id: &NodeId| {
                        (!held || live.contains(id)) && quorum.as_ref().is_none_or(|quorum| quorum.has(*id))
                    };
                    succession.extend(view.ownership.owners(pid, usize::MAX).filter(eligible).map(|id| self.slot(id)));
                    let wanted = self.replication_factor(namespace, usize::MAX);
                    let available = quorum.as_ref().is_none_or(|quorum| quorum.allows(pid, wanted, &live));
                    let strict = quorum.is_some();
                    let plan = Plan { succession: &succession, factor, strict, quorum: available, revive };
                    copies.rebalance(&namespace.sets, &plan);
                }
                if at_once && copies.is_migrating() {
                    copies.migrate(&namespace.sets, &namespace.links, namespace.conflict.load(), usize::MAX);
                }
            }
        }
        *self.view.write() = Arc::new(view);
    }

    /// The roster of a namespace.
    pub(crate) fn roster(&self, namespace: &Namespace) -> MutexGuard<'_, Roster> {
        let at = self.namespaces.iter().position(|ns| ns.name == namespace.name);
        // Namespaces are those of this cluster.
        self.rosters[at.unwrap_or(0)].lock()
    }

    /// Whether any namespace has a roster, or is to have one.
    pub(crate) fn has_roster(&self) -> bool {
        self.rosters.iter().any(|roster| {
            let roster = roster.lock();
            !roster.nodes.is_empty() || !roster.pending.is_empty()
        })
    }

    /// Carries out what has changed in rosters. Without any there is nothing to do.
    pub(crate) fn recluster(&self) {
        let forced = self.forced.lock();
        if !self.has_roster() {
            return;
        }
        for roster in &self.rosters {
            let mut roster = roster.lock();
            let roster = &mut *roster;
            roster.nodes.clone_from(&roster.pending);
        }
        self.rebuild(&forced, None);
        for roster in &self.rosters {
            roster.lock().revive = false;
        }
    }

    /// Makes the live nodes the roster of the namespaces that are to have one from the start.
    pub(crate) fn enroll(&self) {
        let live: Vec<NodeId> = self.view().members.iter().map(|(id, _)| *id).collect();
        for (namespace, roster) in self.namespaces.iter().zip(&self.rosters) {
            if namespace.has_roster {
                let mut roster = roster.lock();
                (roster.nodes, roster.pending) = (live.clone(), live.clone());
            }
        }
    }

    /// Moves at most so many records on; says how many those were.
    pub(crate) fn migrate(&self, most: usize) -> usize {
        // Owners stay who they are meanwhile.
        let _forced = self.forced.lock();
        let (mut moved, mut changed) = (0, false);
        for namespace in &self.namespaces {
            let (some, owners) = namespace.migrate(most - moved);
            moved += some;
            changed |= owners;
        }
        if changed {
            for node in self.view().members() {
                node.generations.owners_changed();
            }
        }
        moved
    }

    /// How many records a second move when owners change: `None` for all at once, 0 for none but those of
    /// [`migrate`](Self::migrate).
    pub(crate) fn set_migration_rate(&self, rate: Option<u32>) {
        self.migration_rate.store(rate.map_or(AT_ONCE, u64::from), Ordering::Relaxed);
        if rate.is_none() {
            self.migrate(usize::MAX);
        }
    }

    /// Moves what is to be moved in this time by the rate that is set.
    pub(super) fn migrate_for(&self, time: Duration) {
        let rate = self.migration_rate.load(Ordering::Relaxed);
        if rate != AT_ONCE && rate != 0 {
            self.migrate((rate as f64 * time.as_secs_f64()).ceil() as usize);
        }
    }

    /// Keeps partitions where they are from now on, or lets them move to the nodes that are live.
    pub(crate) fn hold_partitions(&self, hold: bool) {
        let forced = self.forced.lock();
        if self.held.swap(hold, Ordering::Relaxed) && !hold {
            self.rebuild(&forced, None);
        }
    }

    /// Makes a node the master of a partition for as long as it lives, or ends that (`None`).
    pub(crate) fn force_master(&self, pid: u16, node: Option<NodeId>) {
        let mut forced = self.forced.lock();
        match node {
            Some(node) => forced.insert(pid, node),
            None => forced.remove(&pid),
        };
        self.rebuild(&forced, Some(pid));
    }

    /// Ends all that [`ClusterState::force_master`] has done.
    pub(crate) fn unforce_masters(&self) {
        let mut forced = self.forced.lock();
        if !forced.is_empty() {
            forced.clear();
            self.rebuild(&forced, None);
        }
    }

    /// Partitions with a master given by hand.
    pub(crate) fn forced_masters(&self) -> Vec<(u16, NodeId)> {
        self.forced.lock().iter().map(|(pid, id)| (*pid, *id)).collect()
    }

    /// `moved`: a partition whose master was changed by hand.
    fn rebuild(&self, forced: &BTreeMap<u16, NodeId>, moved: Option<u16>) {
        let old = self.view();
        let live: Vec<NodeId> = old.members.iter().map(|(id, _)| *id).collect();
        let held = self.held.load(Ordering::Relaxed);
        let ids = if held { old.ownership.nodes() } else { &live[..] };
        let view = View {
            members: old.members.clone(),
            ownership: Ownership::new(ids, forced, &self.racks),
            cluster_key: old.cluster_key,
            rebalanced: old.rebalanced,
        };
        // Nodes whose place was held, and that have not come back.
        let lost = old.ownership.nodes().iter().filter(|id| !held && !live.contains(id));
        let lost: Vec<Slot> = lost.map(|id| self.slot(*id)).collect();
        self.replace(view, moved, |namespace, copies| {
            for node in &lost {
                copies.node_gone(&namespace.sets, &namespace.links, *node, namespace.keeps_records);
            }
        });
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
