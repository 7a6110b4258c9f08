//! The running cluster: its nodes, and what can be done to them.

use super::builder::{Builder, MAX_NODES};
use super::nsup::Supervisor;
use super::{ClusterError, ClusterState, Node, NodeId};
use crate::clock::Now;
use crate::conditions::Conditions;
use crate::faults::{FaultRule, RuleId};
use crate::service::{BACKLOG, ListenerId, Service, TransportFactory, default_threads};
use crate::store::{DeviceLimit, Slot};
use parking_lot::Mutex;
use socket2::{Domain, Socket, Type};
use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A running cluster. Dropping it stops all nodes; their records are gone then.
///
/// All methods may be called from any thread. None of them waits for clients.
pub struct EmbeddedCluster {
    state: Arc<ClusterState>,
    service: Service,
    transport: Option<TransportFactory>,
    settings: Builder,
    nodes: Mutex<Vec<Entry>>,
    /// A node of the first group, while the cluster is split.
    first_group: Mutex<Option<NodeId>>,
    /// Removes expired records until the cluster goes.
    _supervisor: Supervisor,
    #[cfg(feature = "tls")]
    certificate: Option<String>,
}

/// A node and what it listens through while it is live.
struct Entry {
    node: Arc<Node>,
    listeners: Vec<ListenerId>,
    /// Its ports while it is stopped: bound, so that nothing else gets them, but nobody listens.
    kept: Vec<Port>,
}

/// A node of a cluster, as [`EmbeddedCluster::nodes`] shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeInfo {
    /// Identity.
    pub id: NodeId,
    /// Where the node listens (or did, if it is stopped; it will be the same when it is started again).
    pub address: SocketAddr,
    /// The same with TLS, if the cluster has it.
    pub tls_address: Option<SocketAddr>,
    /// Whether the node runs.
    pub live: bool,
}

/// Counts of one node since the cluster was started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeStats {
    /// Connections accepted.
    pub connections_opened: u64,
    /// Connections closed, by either side.
    pub connections_closed: u64,
    /// Frames with info text.
    pub infos: u64,
    /// Frames with LOGIN, AUTHENTICATE and the like.
    pub logins: u64,
    /// Single-record messages.
    pub records: u64,
    /// Batch messages.
    pub batches: u64,
    /// Rows of batch messages.
    pub batch_rows: u64,
    /// Queries.
    pub queries: u64,
    /// Records that queries have answered.
    pub query_records: u64,
}

impl std::fmt::Debug for EmbeddedCluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EmbeddedCluster").field("nodes", &self.nodes()).finish_non_exhaustive()
    }
}

impl EmbeddedCluster {
    /// Settings of a new cluster.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(super) fn start(settings: Builder) -> Result<Self, ClusterError> {
        let state = Arc::new(ClusterState::new(settings.parts()?));
        #[cfg(feature = "tls")]
        let (transport, certificate) = match &settings.tls {
            Some(options) => {
                let (factory, certificate) = options.transport().map_err(ClusterError::Tls)?;
                (Some(factory), Some(certificate))
            }
            None => (None, None),
        };
        #[cfg(not(feature = "tls"))]
        let transport = None;
        let service = Service::start(settings.threads.unwrap_or_else(default_threads))?;
        let ids = settings.ids();
        let supervisor = Supervisor::start(Arc::clone(&state))?;
        let cluster = Self {
            state,
            service,
            transport,
            settings,
            nodes: Mutex::default(),
            first_group: Mutex::default(),
            _supervisor: supervisor,
            #[cfg(feature = "tls")]
            certificate,
        };
        {
            let mut nodes = cluster.nodes.lock();
            // All ports first: no client may see a node before all are there.
            let mut bound = Vec::new();
            for (index, id) in ids.enumerate() {
                let (node, sockets) = cluster.bind(id, index)?;
                bound.push(sockets);
                nodes.push(Entry { node, listeners: Vec::new(), kept: Vec::new() });
            }
            for entry in nodes.iter() {
                entry.node.set_live(true);
            }
            cluster.publish(&nodes);
            cluster.state.enroll();
            for (entry, sockets) in nodes.iter_mut().zip(bound) {
                entry.listeners = cluster.listen(&entry.node, sockets)?;
            }
        }
        Ok(cluster)
    }

    /// Seeds of all live nodes, as clients take them: `127.0.0.1:3000,127.0.0.1:3001`.
    #[must_use]
    pub fn seeds(&self) -> String {
        join(self.nodes().iter().filter(|node| node.live).map(|node| self.state.access.standard(node.address)))
    }

    /// The same for TLS; empty if the cluster has no TLS.
    #[must_use]
    pub fn tls_seeds(&self) -> String {
        let nodes = self.nodes();
        let addresses = nodes.iter().filter(|node| node.live).filter_map(|node| node.tls_address);
        join(addresses.map(|address| self.state.access.standard(address)))
    }

    /// The certificate (PEM) that clients have to trust; `None` without TLS.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn certificate_pem(&self) -> Option<&str> {
        self.certificate.as_deref()
    }

    /// All nodes, stopped ones included, in the order they were added.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeInfo> {
        let info = |node: &Node| NodeInfo {
            id: node.id,
            address: node.address,
            tls_address: node.tls_address,
            live: node.is_live(),
        };
        self.nodes.lock().iter().map(|entry| info(&entry.node)).collect()
    }

    /// The master of a partition of the first namespace; `None` if no node runs, or the partition is unavailable. In a cluster
    /// that is split, it is the one of the first group. See [`master_of`](Self::master_of).
    #[must_use]
    pub fn master(&self, partition: u16) -> Option<NodeId> {
        let namespace = self.state.namespaces.first()?;
        self.state.master(namespace, partition, self.first_slot())
    }

    /// The master of a partition of a namespace, as a node sees it (`None`: as the first group of a cluster that is
    /// [split](Self::split)); `None` if no node runs, or the partition is unavailable.
    ///
    /// # Errors
    /// [`ClusterError::UnknownNamespace`], [`ClusterError::UnknownNode`]; [`ClusterError::Setting`] for a partition above 4095.
    pub fn master_of(
        &self,
        namespace: &str,
        partition: u16,
        seen_by: Option<NodeId>,
    ) -> Result<Option<NodeId>, ClusterError> {
        check_partition(partition)?;
        let unknown = || ClusterError::UnknownNamespace(namespace.to_owned());
        let found = self.state.namespace(namespace.as_bytes()).ok_or_else(unknown)?;
        let seen_by = seen_by.map_or(Ok(self.first_slot()), |id| self.node(id).map(|node| node.slot))?;
        Ok(self.state.master(found, partition, seen_by))
    }

    /// The name of the first namespace.
    #[cfg(feature = "control")]
    pub(crate) fn first_namespace(&self) -> &str {
        self.state.namespaces.first().map_or("", |namespace| &namespace.name)
    }

    /// A node of the first group.
    fn first_slot(&self) -> Slot {
        self.first_group
            .lock()
            .map_or_else(|| self.state.slot(NodeId(self.settings.first_id)), |id| self.state.slot(id))
    }

    /// Splits the cluster into groups of nodes that do not see each other: each is a cluster of its own, with a principal, a
    /// partition map and masters for all partitions, and takes writes. Nodes that are in no group are one more group; a
    /// node that is added meanwhile joins the first one. Clients still reach all nodes.
    ///
    /// A group that has no copy of a partition begins it without records. Writes on their way to another group are lost. In
    /// strong-consistency mode with a [`roster`](crate::NamespaceOptions::roster), a partition is available in one group at most. Users, UDFs,
    /// indexes and truncations stay common to all nodes. Partitions that are [held](Self::hold_partitions) move again.
    ///
    /// [`heal`](Self::heal) ends it, and so does [`clear_faults`](Self::clear_faults).
    ///
    /// # Errors
    /// [`ClusterError::UnknownNode`]; [`ClusterError::Setting`] for a node that is in two groups, a group without nodes, a single
    /// group, and if the cluster is split already. Then nothing is changed.
    ///
    /// ```
    /// let cluster = aerolane_embedded::EmbeddedCluster::builder().nodes(3).start()?;
    /// let ids: Vec<_> = cluster.nodes().iter().map(|node| node.id).collect();
    /// cluster.split(&[&ids[..1], &ids[1..]])?;
    /// assert_eq!(cluster.master_of("test", 7, Some(ids[0]))?, Some(ids[0]));
    /// assert_ne!(cluster.master_of("test", 7, Some(ids[1]))?, Some(ids[0]));
    /// cluster.heal();
    /// # Ok::<(), aerolane_embedded::ClusterError>(())
    /// ```
    pub fn split(&self, groups: &[impl AsRef<[NodeId]>]) -> Result<(), ClusterError> {
        let setting = |text: String| Err(ClusterError::Setting(text));
        let nodes = self.nodes.lock();
        if self.state.is_split() {
            return setting("the cluster is split already: heal it first".to_owned());
        }
        let mut left: Vec<NodeId> = nodes.iter().map(|entry| entry.node.id).collect();
        let mut sides: Vec<Vec<NodeId>> = Vec::with_capacity(groups.len() + 1);
        for group in groups.iter().map(AsRef::as_ref) {
            if group.is_empty() {
                return setting("a group of a split has no nodes".to_owned());
            }
            for id in group {
                match left.iter().position(|other| other == id) {
                    Some(at) => drop(left.swap_remove(at)),
                    None if nodes.iter().any(|entry| entry.node.id == *id) => {
                        return setting(format!("node {id} is listed twice in the groups of a split"));
                    }
                    None => return Err(ClusterError::UnknownNode(*id)),
                }
            }
            sides.push(group.to_vec());
        }
        if !left.is_empty() {
            sides.push(left);
        }
        if sides.len() < 2 {
            return setting(format!("{} group of a split: at least 2 expected", sides.len()));
        }
        *self.first_group.lock() = sides.first().and_then(|side| side.first()).copied();
        self.state.divide(&sides);
        Ok(())
    }

    /// Lets all nodes see each other again after a [`split`](Self::split): they have one partition map, and records that the groups
    /// have written differently are resolved as [`ConflictResolution`](crate::ConflictResolution) says. In strong-consistency mode nothing is
    /// merged: what the group has stays that the partition was available in last. Does nothing to a cluster that is not split.
    pub fn heal(&self) {
        self.heal_among(&self.nodes.lock());
    }

    fn heal_among(&self, nodes: &[Entry]) {
        if self.state.is_split() {
            *self.first_group.lock() = None;
            self.state.divide(&[nodes.iter().map(|entry| entry.node.id).collect()]);
        }
    }

    /// Stops a node, as a crash does: its connections are closed, new ones are refused, and its partitions move to the others
    /// at once. Records of partitions that no other node holds are lost, or not there until it comes back
    /// ([`NamespaceOptions::keep_records`](crate::NamespaceOptions::keep_records)); so is what its replicas have not received yet
    /// ([`set_replication_lag`](Self::set_replication_lag)). Stopping a stopped node does nothing.
    ///
    /// # Errors
    /// [`ClusterError::UnknownNode`].
    pub fn stop_node(&self, id: NodeId) -> Result<(), ClusterError> {
        self.stop_nodes(&[id])
    }

    /// Stops several nodes at once: partitions all of whose owners are among them lose their records.
    ///
    /// # Errors
    /// [`ClusterError::UnknownNode`]; then none is stopped.
    pub fn stop_nodes(&self, ids: &[NodeId]) -> Result<(), ClusterError> {
        let mut nodes = self.nodes.lock();
        if let Some(id) = ids.iter().find(|id| !nodes.iter().any(|entry| entry.node.id == **id)) {
            return Err(ClusterError::UnknownNode(*id));
        }
        let mut changed = false;
        for entry in nodes.iter_mut().filter(|entry| ids.contains(&entry.node.id) && entry.node.is_live()) {
            for listener in entry.listeners.drain(..) {
                self.service.close(listener);
            }
            // A port that cannot be kept is taken again when the node starts.
            entry.kept = addresses(&entry.node).map(reserve).collect::<Result<_, _>>().unwrap_or_default();
            entry.node.set_live(false);
            changed = true;
        }
        if changed {
            self.publish(&nodes);
        }
        Ok(())
    }

    /// Starts a stopped node on its old port; its share of the partitions moves to it at once. Starting a running node
    /// does nothing.
    ///
    /// # Errors
    /// [`ClusterError::UnknownNode`]; [`ClusterError::Bind`] if something else has taken the port.
    pub fn start_node(&self, id: NodeId) -> Result<(), ClusterError> {
        let mut nodes = self.nodes.lock();
        let Some(at) = nodes.iter().position(|entry| entry.node.id == id) else {
            return Err(ClusterError::UnknownNode(id));
        };
        let node = Arc::clone(&nodes[at].node);
        if node.is_live() {
            return Ok(());
        }
        let mut ports = std::mem::take(&mut nodes[at].kept);
        if ports.is_empty() {
            ports = addresses(&node).map(reserve).collect::<Result<_, _>>()?;
        }
        let sockets = ports.into_iter().map(open).collect::<Result<_, _>>()?;
        node.set_live(true);
        self.publish(&nodes);
        nodes[at].listeners = self.listen(&node, sockets)?;
        Ok(())
    }

    /// Adds a node and starts it. Its id is the highest so far plus 1; its port, if ports are given, too.
    ///
    /// # Errors
    /// [`ClusterError::Setting`] above 128 nodes; [`ClusterError::Bind`] if the port is in use.
    pub fn add_node(&self) -> Result<NodeInfo, ClusterError> {
        let mut nodes = self.nodes.lock();
        if nodes.len() >= MAX_NODES {
            return Err(ClusterError::Setting(format!("the cluster has {MAX_NODES} nodes already")));
        }
        let id = NodeId(self.settings.first_id + nodes.len() as u64);
        let (node, sockets) = self.bind(id, nodes.len())?;
        node.set_live(true);
        nodes.push(Entry { node: Arc::clone(&node), listeners: Vec::new(), kept: Vec::new() });
        self.publish(&nodes);
        if let Some(entry) = nodes.last_mut() {
            entry.listeners = self.listen(&node, sockets)?;
        }
        Ok(NodeInfo { id, address: node.address, tls_address: node.tls_address, live: true })
    }

    /// Makes a node the master of a partition for as long as it lives; `None` gives the partition back. Clients learn it
    /// by the partition generation, as of any other move.
    ///
    /// # Errors
    /// [`ClusterError::UnknownNode`]; [`ClusterError::Setting`] for a partition above 4095.
    pub fn set_master(&self, partition: u16, node: Option<NodeId>) -> Result<(), ClusterError> {
        check_partition(partition)?;
        if let Some(id) = node.filter(|id| !self.nodes.lock().iter().any(|entry| entry.node.id == *id)) {
            return Err(ClusterError::UnknownNode(id));
        }
        self.state.force_master(partition, node);
        Ok(())
    }

    /// While `hold` is true, no partition moves: those of a node that stops have no owner until it starts again, as in a
    /// real cluster until the other nodes have agreed that it is gone. With `false` they move, and what moves without a
    /// copy on a live node loses its records. [`clear_faults`](Self::clear_faults) does the same.
    pub fn hold_partitions(&self, hold: bool) {
        let _nodes = self.nodes.lock();
        self.state.hold_partitions(hold);
    }

    /// Installs a fault on a node (running or not), or on all nodes (`None`).
    ///
    /// # Errors
    /// [`ClusterError::UnknownNode`]; [`ClusterError::Setting`] for a rule that makes no sense, and if the node has 64 rules already.
    pub fn set_fault(&self, node: Option<NodeId>, rule: &FaultRule) -> Result<Vec<RuleId>, ClusterError> {
        let nodes = self.nodes.lock();
        if let Some(id) = node.filter(|id| !nodes.iter().any(|entry| entry.node.id == *id)) {
            return Err(ClusterError::UnknownNode(id));
        }
        let chosen = nodes.iter().filter(|entry| node.is_none_or(|id| entry.node.id == id));
        chosen.map(|entry| entry.node.faults.install(rule.clone()).map_err(ClusterError::Setting)).collect()
    }

    /// Removes a fault from a node; `false` if it is gone already. Stalled connections go on when a node's last rule goes.
    ///
    /// # Errors
    /// [`ClusterError::UnknownNode`].
    pub fn remove_fault(&self, node: NodeId, rule: RuleId) -> Result<bool, ClusterError> {
        Ok(self.node(node)?.faults.remove(rule))
    }

    /// How many requests a fault of a node has struck; `None` if the rule is gone.
    ///
    /// # Errors
    /// [`ClusterError::UnknownNode`].
    pub fn fault_struck(&self, node: NodeId, rule: RuleId) -> Result<Option<u64>, ClusterError> {
        Ok(self.node(node)?.faults.struck(rule))
    }

    /// Sets how late writes reach their replicas on a node, or on all nodes (`None`) and those that are added later; at most
    /// ten minutes.
    ///
    /// Meanwhile a read that the replica answers shows the record of before. A write is answered when all replicas have it,
    /// or, after the request's timeout or a second, with result 9 ("timeout"), although it was carried out; one with commit level
    /// "master" is answered at once. If the master stops before its replicas have a write, the write is lost. What is on its
    /// way arrives by the new lag: with a lag of zero, at once.
    ///
    /// # Errors
    /// [`ClusterError::UnknownNode`]; [`ClusterError::Setting`] for more than ten minutes.
    pub fn set_replication_lag(&self, node: Option<NodeId>, lag: Duration) -> Result<(), ClusterError> {
        super::builder::check_lag(lag)?;
        let slot = node.map(|id| self.node(id).map(|node| node.slot)).transpose()?;
        self.state.links.set_lag(slot, lag);
        Ok(())
    }

    /// Sets how many records a second move when owners change: `None` for all at once (the default), 0 for none but those of
    /// [`migrate`](Self::migrate). Until a node that becomes the master of a partition has all of its records, the one of before answers for it, as in a real cluster.
    pub fn set_migration_rate(&self, records_per_second: Option<u32>) {
        self.state.set_migration_rate(records_per_second);
    }

    /// Moves at most so many records on that are to be moved; says how many those were. Fewer than asked for: all that is to
    /// be moved has been.
    pub fn migrate(&self, records: usize) -> usize {
        self.state.migrate(records)
    }

    /// How many partitions of a namespace records are still to be moved of; `None` if there is no such namespace.
    #[must_use]
    pub fn migrating(&self, namespace: &str) -> Option<usize> {
        self.state.namespace(namespace.as_bytes()).map(|namespace| namespace.unfinished(None).0)
    }

    /// Changes the limit of [`NamespaceOptions::data_limit`](crate::NamespaceOptions::data_limit); 0 ends it.
    ///
    /// # Errors
    /// [`ClusterError::UnknownNamespace`].
    pub fn set_data_limit(&self, namespace: &str, bytes: u64) -> Result<(), ClusterError> {
        let unknown = || ClusterError::UnknownNamespace(namespace.to_owned());
        let namespace = self.state.namespace(namespace.as_bytes()).ok_or_else(unknown)?;
        namespace.data_limit.store(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Changes the service times and the latency of a node (running or not), or of all nodes (`None`) and those that are
    /// added later. [`Conditions::new`] ends all of them.
    ///
    /// # Errors
    /// [`ClusterError::UnknownNode`]; [`ClusterError::Conditions`]. Then nothing is changed.
    pub fn set_conditions(&self, node: Option<NodeId>, conditions: &Conditions) -> Result<(), ClusterError> {
        conditions.check()?;
        if let Some(id) = node {
            self.node(id)?.conditions.set(conditions);
            return Ok(());
        }
        // With the list locked no node is added meanwhile.
        let nodes = self.nodes.lock();
        self.state.set_default_conditions(conditions);
        for entry in nodes.iter() {
            entry.node.conditions.set(conditions);
        }
        Ok(())
    }

    /// The conditions of a node as they are now.
    ///
    /// # Errors
    /// [`ClusterError::UnknownNode`].
    pub fn conditions(&self, node: NodeId) -> Result<Conditions, ClusterError> {
        Ok(self.node(node)?.conditions.current())
    }

    fn node(&self, id: NodeId) -> Result<Arc<Node>, ClusterError> {
        let nodes = self.nodes.lock();
        let found = nodes.iter().find(|entry| entry.node.id == id);
        found.map(|entry| Arc::clone(&entry.node)).ok_or(ClusterError::UnknownNode(id))
    }

    /// The nodes whose requests a schedule counts: one of them, or all that there are.
    pub(crate) fn counted_nodes(&self, id: Option<NodeId>) -> Result<Vec<Arc<Node>>, ClusterError> {
        match id {
            Some(id) => Ok(vec![self.node(id)?]),
            None => Ok(self.nodes.lock().iter().map(|entry| Arc::clone(&entry.node)).collect()),
        }
    }

    /// Removes all faults from all nodes, heals a [split](Self::split), and gives partitions back that were moved or held by
    /// hand.
    pub fn clear_faults(&self) {
        let nodes = self.nodes.lock();
        for entry in nodes.iter() {
            entry.node.faults.clear();
        }
        self.heal_among(&nodes);
        self.state.hold_partitions(false);
        self.state.unforce_masters();
    }

    /// What everything random in this cluster comes from: to be printed by a test that fails, and given to [`Builder::seed`] to
    /// have the same run again.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.state.seed
    }

    /// What a node has done since the cluster was started; `None` if there is no such node.
    #[must_use]
    pub fn stats(&self, node: NodeId) -> Option<NodeStats> {
        let nodes = self.nodes.lock();
        let counters = &nodes.iter().find(|entry| entry.node.id == node)?.node.counters;
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Some(NodeStats {
            connections_opened: get(&counters.connections_opened),
            connections_closed: get(&counters.connections_closed),
            infos: get(&counters.infos),
            logins: get(&counters.logins),
            records: get(&counters.records),
            batches: get(&counters.batches),
            batch_rows: get(&counters.batch_rows),
            queries: get(&counters.queries),
            query_records: get(&counters.query_records),
        })
    }

    /// The last thousand lines that UDFs have logged (`info`, `warn`, `debug`, `trace`, `print`), oldest first, each with
    /// its level in front.
    #[must_use]
    pub fn udf_log(&self) -> Vec<String> {
        self.state.modules.log()
    }

    /// Number of records of a namespace (each counted once, whatever the replication factor); `None` if there is no such
    /// namespace.
    #[must_use]
    pub fn record_count(&self, namespace: &str) -> Option<u64> {
        self.state.namespace(namespace.as_bytes()).map(|ns| ns.record_count())
    }

    /// Puts the cluster's clock forward, so that tests of TTLs need not wait: records expire, and what is written from now
    /// on has the new time. Sessions of users and timeouts of queries are not touched by it.
    /// [`shift_clock`](Self::shift_clock) also puts it back, or that of a single node. No clock can be ahead by more than ten years.
    ///
    /// Clients tell how many seconds a record has left by the void time that a node answers and their own clock: they
    /// show records that are written later as living longer by as much as the clock is ahead.
    ///
    /// # Errors
    /// [`ClusterError::Setting`] for more than ten years.
    ///
    /// ```
    /// # use std::time::Duration;
    /// let cluster = aerolane_embedded::EmbeddedCluster::builder().start()?;
    /// cluster.advance_clock(Duration::from_secs(3600))?;
    /// let expired = cluster.sweep();
    /// # assert_eq!(expired, 0);
    /// # Ok::<(), aerolane_embedded::ClusterError>(())
    /// ```
    pub fn advance_clock(&self, by: Duration) -> Result<(), ClusterError> {
        self.shift_clock(None, i64::try_from(by.as_millis()).unwrap_or(i64::MAX))
    }

    /// Moves the clock of a node (running or not), or of the whole cluster (`None`), forward, or back where `milliseconds` is
    /// negative. A node's clock then differs from the others' by that.
    ///
    /// Records get their times from the master's clock, and each node removes what has expired by its own. The last update of a record
    /// never goes back, as in the server: a write of a master that is behind keeps the one of before. Where the clocks of nodes
    /// that see each other are more than 40 seconds apart, writes and reads that touch are refused with result 22
    /// ("forbidden") and nothing is removed, in namespaces with an
    /// [`nsup_period`](crate::NamespaceOptions::nsup_period) above 0.
    ///
    /// # Errors
    /// [`ClusterError::UnknownNode`]; [`ClusterError::Setting`] if the clock would be more than ten years away from the system's (a node's:
    /// from the cluster's).
    pub fn shift_clock(&self, node: Option<NodeId>, milliseconds: i64) -> Result<(), ClusterError> {
        let node = node.map(|id| self.node(id)).transpose()?;
        let text = || ClusterError::Setting("a clock can be moved by ten years at most".to_owned());
        self.state.shift_clock(node.as_deref(), milliseconds).then_some(()).ok_or_else(text)
    }

    /// Sets all clocks to the system's time again.
    pub fn reset_clocks(&self) {
        let nodes: Vec<_> = self.nodes.lock().iter().map(|entry| Arc::clone(&entry.node)).collect();
        self.state.reset_clocks(&nodes);
    }

    /// Limits what the storage of a node takes, or of all nodes that there are (`None`); `None` as the limit ends it.
    ///
    /// Records that are written wait in a queue of their master and of each replica (one that [lags](Self::set_replication_lag) does not
    /// count them), until they are flushed at the rate of the limit. While more bytes wait than the limit says, the node as
    /// master refuses writes and UDFs with result 18 ("device overload"), as the server does beyond its
    /// `max-write-cache`. Reads and deletes are answered.
    ///
    /// # Errors
    /// [`ClusterError::UnknownNode`].
    pub fn set_device_limit(&self, node: Option<NodeId>, limit: Option<DeviceLimit>) -> Result<(), ClusterError> {
        for node in self.counted_nodes(node)? {
            self.state.links.devices.set(node.slot, limit, Instant::now());
        }
        Ok(())
    }

    /// Removes all records that have expired, now, whatever the periods of the namespaces; says how many those were.
    pub fn sweep(&self) -> u64 {
        self.state.namespaces.iter().map(|namespace| self.state.sweep(namespace, Now::read())).sum()
    }

    /// Stops all nodes and threads. Dropping the cluster does the same.
    pub fn shutdown(self) {
        drop(self);
    }

    /// Makes the live nodes the members of the cluster.
    fn publish(&self, nodes: &[Entry]) {
        let live: Vec<_> = nodes.iter().filter(|e| e.node.is_live()).map(|e| Arc::clone(&e.node)).collect();
        self.state.set_members(&live);
    }

    /// Binds the ports of a new node.
    fn bind(&self, id: NodeId, index: usize) -> Result<(Arc<Node>, Vec<TcpListener>), ClusterError> {
        let address = |base: u16| -> Result<SocketAddr, ClusterError> {
            let port = match base {
                0 => 0,
                base => u16::try_from(usize::from(base) + index)
                    .map_err(|_| ClusterError::Setting(format!("there is no port for node number {index}")))?,
            };
            Ok(SocketAddr::new(self.settings.host, port))
        };
        let plain = bind(address(self.settings.port)?)?;
        let plain_address = plain.local_addr()?;
        let mut sockets = vec![plain];
        let mut tls_address = None;
        if self.transport.is_some() {
            let socket = bind(address(self.settings.tls_port)?)?;
            tls_address = Some(socket.local_addr()?);
            sockets.push(socket);
        }
        Ok((Arc::new(Node::new(Arc::clone(&self.state), id, plain_address, tls_address)), sockets))
    }

    /// Lets a node listen on bound sockets: the first one is plain, the second one has TLS.
    fn listen(&self, node: &Arc<Node>, sockets: Vec<TcpListener>) -> Result<Vec<ListenerId>, ClusterError> {
        let mut listeners = Vec::with_capacity(sockets.len());
        for (index, socket) in sockets.into_iter().enumerate() {
            let transport = if index == 0 { None } else { self.transport.clone() };
            listeners.push(self.service.listen(Arc::clone(node), socket, transport)?);
        }
        Ok(listeners)
    }
}

impl Drop for EmbeddedCluster {
    fn drop(&mut self) {
        // Background jobs end when their node is not live any more.
        for entry in self.nodes.lock().iter() {
            entry.node.set_live(false);
        }
        self.service.stop();
    }
}

fn check_partition(partition: u16) -> Result<(), ClusterError> {
    if usize::from(partition) >= super::PARTITIONS {
        return Err(ClusterError::Setting(format!("partition {partition}: 0 to 4095 expected")));
    }
    Ok(())
}

/// Where a node listens: plain, then with TLS.
fn addresses(node: &Node) -> impl Iterator<Item = SocketAddr> {
    [Some(node.address), node.tls_address].into_iter().flatten()
}

/// An address that is taken, where nobody listens yet.
struct Port {
    address: SocketAddr,
    socket: Socket,
}

/// Takes an address. `SO_REUSEADDR`, so that a node can be started again while old connections linger.
fn reserve(address: SocketAddr) -> Result<Port, ClusterError> {
    let taken = || {
        let domain = if matches!(address.ip(), IpAddr::V4(_)) { Domain::IPV4 } else { Domain::IPV6 };
        let socket = Socket::new(domain, Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        Ok(socket)
    };
    let socket = taken().map_err(|error| ClusterError::Bind { address, error })?;
    Ok(Port { address, socket })
}

fn open(Port { address, socket }: Port) -> Result<TcpListener, ClusterError> {
    socket.listen(BACKLOG).map_err(|error| ClusterError::Bind { address, error })?;
    Ok(socket.into())
}

fn bind(address: SocketAddr) -> Result<TcpListener, ClusterError> {
    open(reserve(address)?)
}

fn join(addresses: impl Iterator<Item = SocketAddr>) -> String {
    let mut text = String::new();
    for address in addresses {
        let comma = if text.is_empty() { "" } else { "," };
        let written = write!(text, "{comma}{address}");
        debug_assert!(written.is_ok(), "writing to a string does not fail");
    }
    text
}
