//! What all nodes of a cluster share: namespaces, members, ownership, users, index definitions.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard, RwLock};

use super::access::Access;
use super::ownership::{Ownership, PARTITIONS};
use super::roster::{Quorum, Roster};
use super::{Node, NodeId};
use crate::admin::Security;
use crate::clock::{self, Clock, Now};
use crate::conditions::Conditions;
use crate::info::{SecondaryIndexes, TypeNames};
use crate::scan::Queries;
use crate::store::{Copies, Links, Namespace, Plan, Sides, Slot};
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
    /// What each side of the cluster sees; one side, unless it is split.
    views: RwLock<Vec<Arc<View>>>,
    /// Counts rebalances, those of each side on their own.
    versions: AtomicU32,
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

/// One state of the cluster, as the nodes of one side see it: immutable, replaced at every change.
#[derive(Debug)]
pub(crate) struct View {
    /// The live nodes that see each other, by falling id: the first is the principal.
    members: Vec<(NodeId, Weak<Node>)>,
    /// Who owns what.
    pub(crate) ownership: Ownership,
    /// Changes with the members: 48 random bits.
    pub(crate) cluster_key: u64,
    /// When the members last changed.
    pub(crate) rebalanced: Instant,
}

impl View {
    /// What nodes that see each other have to know.
    fn of<'n>(nodes: impl Iterator<Item = &'n Arc<Node>>, ownership: Ownership, now: Instant) -> Self {
        let mut members: Vec<_> = nodes.map(|node| (node.id, Arc::downgrade(node))).collect();
        members.sort_by_key(|(id, _)| std::cmp::Reverse(*id));
        Self { members, ownership, cluster_key: new_cluster_key(), rebalanced: now }
    }

    fn ids(&self) -> Vec<NodeId> {
        self.members.iter().map(|(id, _)| *id).collect()
    }

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
        let view = View::of(std::iter::empty(), Ownership::default(), Instant::now());
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
            views: RwLock::new(vec![Arc::new(view)]),
            versions: AtomicU32::new(0),
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

    /// The cluster as a node sees it now.
    pub(crate) fn view(&self, node: Slot) -> Arc<View> {
        let views = self.views.read();
        // There is always one, and a side that is not there yet is the first one.
        Arc::clone(views.get(self.links.side(node)).unwrap_or(&views[0]))
    }

    /// What each side sees.
    fn views(&self) -> Vec<Arc<View>> {
        self.views.read().clone()
    }

    /// All live nodes, whether they see each other or not.
    pub(crate) fn members(&self) -> Vec<Arc<Node>> {
        self.views().iter().flat_map(|view| view.members().collect::<Vec<_>>()).collect()
    }

    /// Whether the cluster is split.
    pub(crate) fn is_split(&self) -> bool {
        self.views.read().len() > 1
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

    /// The acting master of a partition as a node sees it; `None` if no node runs, or the partition is unavailable.
    pub(crate) fn master(&self, namespace: &Namespace, pid: u16, seen_by: Slot) -> Option<NodeId> {
        let slot = namespace.copies(seen_by, pid).columns(1).next().flatten()?;
        Some(self.id(slot))
    }

    /// Sets the live nodes. What a node that has gone had not copied is lost; partitions move to the nodes that are there and
    /// see each other, unless they are held.
    pub(crate) fn set_members(&self, nodes: &[Arc<Node>]) {
        let now = Instant::now();
        let forced = self.forced.lock();
        let held = self.held.load(Ordering::Relaxed);
        let (mut gone, mut come) = (Vec::new(), Vec::new());
        let views = self.views().into_iter().enumerate().map(|(side, old)| {
            let here = || nodes.iter().filter(|node| self.links.side(node.slot) == side);
            let ids: Vec<NodeId> = here().map(|node| node.id).collect();
            let before = old.ids();
            if ids.len() == before.len() && ids.iter().all(|id| before.contains(id)) {
                return old;
            }
            gone.extend(before.iter().filter(|id| !ids.contains(id)).map(|id| self.slot(*id)));
            come.extend(ids.iter().filter(|id| !before.contains(id)).map(|id| self.slot(*id)));
            let ownership = if held { old.ownership.clone() } else { Ownership::new(&ids, &forced, &self.racks) };
            Arc::new(View::of(here(), ownership, now))
        });
        let views: Vec<_> = views.collect();
        self.replace(&views, None, now, |namespace, _, sides| {
            for copies in sides.iter_mut() {
                for node in &gone {
                    copies.node_gone(&namespace.sets, &namespace.links, *node, held || namespace.keeps_records, now);
                }
                for node in &come {
                    copies.node_back(&namespace.sets, *node);
                }
            }
        });
    }

    /// From now on nodes see only those of their own group. A node in none of them, also one that is added later, is in the
    /// first one. One group of all nodes: they see each other again.
    pub(crate) fn divide(&self, groups: &[Vec<NodeId>]) {
        let now = Instant::now();
        let forced = self.forced.lock();
        if self.held.swap(false, Ordering::Relaxed) {
            self.rebuild(&forced, None, Instant::now());
        }
        let slots: Vec<Vec<Slot>> =
            groups.iter().map(|group| group.iter().map(|id| self.slot(*id)).collect()).collect();
        // A partition that is not divided yet has one side, which all nodes are on.
        if slots.len() > 1 {
            self.links.set_sides(&slots);
        }
        let nodes = self.members();
        let all: Vec<NodeId> = nodes.iter().map(|node| node.id).collect();
        let whole = Ownership::new(&all, &forced, &self.racks);
        let views = slots.iter().map(|group| {
            let here = || nodes.iter().filter(|node| slots.len() == 1 || group.contains(&node.slot));
            let ids: Vec<NodeId> = here().map(|node| node.id).collect();
            Arc::new(View::of(here(), Ownership::new(&ids, &forced, &self.racks), now))
        });
        self.replace(&views.collect::<Vec<_>>(), None, now, |namespace, pid, sides| {
            let rank =
                |node: Slot| whole.owners(pid, usize::MAX).position(|id| self.slot(id) == node).unwrap_or(usize::MAX);
            sides.divide(&slots, namespace.strong_consistency, rank);
        });
        if slots.len() == 1 {
            self.links.set_sides(&[]);
        }
    }

    /// Makes these the present views, and gives all partitions of those that are new their owners, after `before`. Of
    /// partitions that are held only `moved`, which is moved by hand.
    fn replace(
        &self,
        views: &[Arc<View>],
        moved: Option<u16>,
        now: Instant,
        before: impl Fn(&Namespace, u16, &mut Sides),
    ) {
        let old = self.views();
        let held = self.held.load(Ordering::Relaxed);
        let at_once = self.migration_rate.load(Ordering::Relaxed) == AT_ONCE;
        let is_new = |side: usize| old.len() != views.len() || !Arc::ptr_eq(&old[side], &views[side]);
        let version = || self.versions.fetch_add(1, Ordering::Relaxed) + 1;
        let changed: Vec<_> = views.iter().enumerate().filter(|(side, _)| is_new(*side)).collect();
        let live: Vec<Vec<NodeId>> = changed.iter().map(|(_, view)| view.ids()).collect();
        let versions: Vec<u32> = changed.iter().map(|_| version()).collect();
        let mut succession = Vec::new();
        for (namespace, roster) in self.namespaces.iter().zip(&self.rosters) {
            let (quorums, revive): (Vec<_>, bool) = {
                let roster = roster.lock();
                (live.iter().map(|live| Quorum::new(&roster.nodes, live, &self.racks)).collect(), roster.revive)
            };
            let strict = namespace.strong_consistency;
            let wanted = self.replication_factor(namespace, usize::MAX);
            namespace.regime.fetch_add(1, Ordering::AcqRel);
            for pid in 0..PARTITIONS as u16 {
                let mut sides = namespace.sides(pid);
                before(namespace, pid, &mut sides);
                for (at, (side, view)) in changed.iter().enumerate() {
                    let (live, quorum) = (&live[at], quorums[at].as_ref());
                    let copies: &mut Copies = sides.of(*side);
                    if !held || moved == Some(pid) {
                        succession.clear();
                        // While partitions are held, nodes that are down have their places in the view.
                        let eligible =
                            |id: &NodeId| (!held || live.contains(id)) && quorum.is_none_or(|quorum| quorum.has(*id));
                        let owners = view.ownership.owners(pid, usize::MAX).filter(eligible);
                        succession.extend(owners.map(|id| self.slot(id)));
                        let plan = Plan {
                            succession: &succession,
                            factor: self.replication_factor(namespace, view.ownership.nodes().len()),
                            strict,
                            quorum: quorum.is_none_or(|quorum| quorum.allows(pid, wanted, live)),
                            // Without a roster a partition stays available with whatever there is.
                            revive: revive || quorum.is_none(),
                            version: versions[at],
                        };
                        copies.rebalance(&namespace.sets, &plan);
                    }
                    if at_once && copies.is_migrating() {
                        copies.migrate(&namespace.sets, &namespace.links, namespace.conflict.load(), usize::MAX, now);
                    }
                }
            }
        }
        *self.views.write() = views.to_vec();
        self.compare_clocks();
        // Who learns of a change finds it.
        for (side, view) in &changed {
            let stays = old.len() == views.len() && old[*side].cluster_key == view.cluster_key;
            let members: Vec<_> = view.members().collect();
            for node in &members {
                if stays {
                    node.generations.owners_changed();
                } else {
                    node.generations.members_changed(members.len() - 1);
                }
            }
            if !stays {
                let names: Vec<_> = members.iter().map(|node| node.name.as_str()).collect();
                let what = if views.len() > 1 { "a side of the cluster" } else { "the cluster" };
                log::info!("{what} has {} nodes: {}", names.len(), names.join(", "));
            }
        }
    }

    /// Finds out how far the clocks of nodes that see each other are apart.
    fn compare_clocks(&self) {
        let skew = |view: &Arc<View>| {
            let ahead: Vec<i64> = view.members().map(|node| node.clock.ahead_ms()).collect();
            ahead.iter().max().zip(ahead.iter().min()).map_or(0, |(most, least)| most.abs_diff(*least))
        };
        let skews: Vec<u64> = self.views().iter().map(skew).collect();
        self.links.set_skews(&skews);
    }

    /// What a time is by the clock of the cluster, which its nodes follow unless theirs were moved.
    pub(super) fn time(&self, now: Now) -> Now {
        now.shifted(self.clock.ahead_ms())
    }

    /// Sets all clocks to the system's time.
    pub(crate) fn reset_clocks(&self, nodes: &[Arc<Node>]) {
        self.clock.reset();
        for node in nodes {
            node.clock.reset();
        }
        self.compare_clocks();
    }

    /// Moves the clock of a node, or that of the cluster, forward, or back; `false` if it would be too far away.
    pub(crate) fn shift_clock(&self, node: Option<&Node>, by_ms: i64) -> bool {
        let clock = node.map_or(&self.clock, |node| &node.clock);
        let shifted = clock.shift(by_ms);
        self.compare_clocks();
        shifted
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
    pub(crate) fn recluster(&self, now: Instant) {
        let forced = self.forced.lock();
        if !self.has_roster() {
            return;
        }
        for roster in &self.rosters {
            let mut roster = roster.lock();
            let roster = &mut *roster;
            roster.nodes.clone_from(&roster.pending);
        }
        self.rebuild(&forced, None, now);
        for roster in &self.rosters {
            roster.lock().revive = false;
        }
    }

    /// Makes the live nodes the roster of the namespaces that are to have one from the start.
    pub(crate) fn enroll(&self) {
        let live: Vec<NodeId> = self.members().iter().map(|node| node.id).collect();
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
        let (mut moved, mut changed, now) = (0, false, Instant::now());
        for namespace in &self.namespaces {
            let (some, owners) = namespace.migrate(most - moved, now);
            moved += some;
            changed |= owners;
        }
        if changed {
            for node in self.members() {
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
            self.rebuild(&forced, None, Instant::now());
        }
    }

    /// Makes a node the master of a partition for as long as it lives, or ends that (`None`).
    pub(crate) fn force_master(&self, pid: u16, node: Option<NodeId>) {
        let mut forced = self.forced.lock();
        match node {
            Some(node) => forced.insert(pid, node),
            None => forced.remove(&pid),
        };
        self.rebuild(&forced, Some(pid), Instant::now());
    }

    /// Ends all that [`ClusterState::force_master`] has done.
    pub(crate) fn unforce_masters(&self) {
        let mut forced = self.forced.lock();
        if !forced.is_empty() {
            forced.clear();
            self.rebuild(&forced, None, Instant::now());
        }
    }

    /// Partitions with a master given by hand.
    pub(crate) fn forced_masters(&self) -> Vec<(u16, NodeId)> {
        self.forced.lock().iter().map(|(pid, id)| (*pid, *id)).collect()
    }

    /// `moved`: a partition whose master was changed by hand.
    fn rebuild(&self, forced: &BTreeMap<u16, NodeId>, moved: Option<u16>, now: Instant) {
        let held = self.held.load(Ordering::Relaxed);
        let mut lost = Vec::new();
        let views = self.views().into_iter().map(|old| {
            let live = old.ids();
            let ids = if held { old.ownership.nodes() } else { &live[..] };
            // Nodes whose place was held, and that have not come back.
            let gone = old.ownership.nodes().iter().filter(|id| !held && !live.contains(id));
            lost.extend(gone.map(|id| self.slot(*id)));
            Arc::new(View {
                members: old.members.clone(),
                ownership: Ownership::new(ids, forced, &self.racks),
                cluster_key: old.cluster_key,
                rebalanced: old.rebalanced,
            })
        });
        let views: Vec<_> = views.collect();
        self.replace(&views, moved, now, |namespace, _, sides| {
            for copies in sides.iter_mut() {
                for node in &lost {
                    copies.node_gone(&namespace.sets, &namespace.links, *node, namespace.keeps_records, now);
                }
            }
        });
    }
}

/// 48 random bits, never 0.
fn new_cluster_key() -> u64 {
    let mut bytes = [0; 8];
    // Without entropy the clock will do: the key only has to differ from the last one.
    if getrandom::fill(&mut bytes).is_err() {
        bytes = clock::now_ms().to_le_bytes();
    }
    (u64::from_le_bytes(bytes) & 0xffff_ffff_ffff) | 1
}
