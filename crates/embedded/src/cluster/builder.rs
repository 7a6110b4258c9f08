//! How a cluster is set up before it starts.

use super::access::Access;
use super::{ClusterError, ClusterParts, EmbeddedCluster, NodeId, Racks};
use crate::admin::{FirstUser, SESSION_TTL, Security};
use crate::conditions::Conditions;
use crate::info::BUILD;
use crate::store::{ConflictResolution, Namespace};
#[cfg(feature = "tls")]
use crate::tls::TlsOptions;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Most nodes of a cluster.
pub(super) const MAX_NODES: usize = 128;
/// The highest number of a rack.
const MAX_RACK: u32 = 1_000_000;
/// The first node's id if nothing else is said.
const FIRST_NODE_ID: u64 = 0xA0AE_0000_0000_0001;
/// Names the variable that holds the seed of clusters that are given none.
const SEED: &str = "AEROLANE_SEED";
/// Longest TTL that the server takes: ten years, in seconds.
const MAX_TTL: u32 = 315_360_000;

/// Settings of a cluster to be started. Made by [`EmbeddedCluster::builder`].
///
/// ```
/// let cluster = aerolane_embedded::EmbeddedCluster::builder().nodes(3).namespace("test").start()?;
/// assert_eq!(cluster.nodes().len(), 3);
/// println!("seeds: {}", cluster.seeds());
/// # Ok::<(), aerolane_embedded::ClusterError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing runs before `start`"]
pub struct Builder {
    pub(super) nodes: usize,
    replication_factor: usize,
    namespaces: Vec<NamespaceOptions>,
    pub(super) host: IpAddr,
    pub(super) port: u16,
    pub(super) tls_port: u16,
    cluster_name: Option<String>,
    build: String,
    pub(super) first_id: u64,
    pub(super) threads: Option<usize>,
    users: Vec<FirstUser>,
    session_ttl: u32,
    racks: Vec<u32>,
    pub(super) access: Access,
    conditions: Conditions,
    seed: Option<u64>,
    replication_lag: Duration,
    migration_rate: Option<u32>,
    connection_limit: usize,
    #[cfg(feature = "tls")]
    pub(super) tls: Option<TlsOptions>,
}

/// Settings of one namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct NamespaceOptions {
    name: String,
    replication_factor: Option<usize>,
    default_ttl: u32,
    max_record_size: u32,
    nsup_period: u32,
    strong_consistency: bool,
    roster: bool,
    keep_records: bool,
    conflict_resolution: ConflictResolution,
    data_limit: u64,
}

impl NamespaceOptions {
    /// A namespace with default settings: the cluster's replication factor, records that never expire, records of at
    /// most 1 MiB, a sweep for expired ones every second.
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            name,
            replication_factor: None,
            default_ttl: 0,
            max_record_size: 1024 * 1024,
            nsup_period: 1,
            strong_consistency: false,
            roster: false,
            keep_records: false,
            conflict_resolution: ConflictResolution::default(),
            data_limit: 0,
        }
    }

    /// How many nodes hold each partition. Default: what the cluster says.
    pub fn replication_factor(mut self, factor: usize) -> Self {
        self.replication_factor = Some(factor);
        self
    }

    /// TTL in seconds of records that are written with the namespace's default TTL. Default 0: they never expire. At
    /// most 315,360,000 (ten years).
    pub fn default_ttl(mut self, seconds: u32) -> Self {
        self.default_ttl = seconds;
        self
    }

    /// Largest record in bytes. Default 1 MiB, at most 8 MiB.
    pub fn max_record_size(mut self, bytes: u32) -> Self {
        self.max_record_size = bytes;
        self
    }

    /// Seconds between two sweeps that remove expired records (the server's `nsup-period`). Default 1. With 0 there are
    /// none but those of [`EmbeddedCluster::sweep`]; expired records are not shown meanwhile. (On a server with period 0
    /// nothing can be written that expires, unless `allow-ttl-without-nsup` is set, as it is here then.)
    pub fn nsup_period(mut self, seconds: u32) -> Self {
        self.nsup_period = seconds;
        self
    }

    /// Puts the namespace into strong-consistency mode, as the Enterprise Edition has it: transactions work, deletes
    /// have to be durable (result 22 otherwise), and the cluster takes compressed requests. Default: off. Without a
    /// [`roster`](Self::roster), partitions stay available as long as a node is there.
    pub fn strong_consistency(mut self, on: bool) -> Self {
        self.strong_consistency = on;
        self
    }

    /// Makes the nodes that the cluster starts with the roster of the namespace, so that partitions become unavailable
    /// (result 11) that a real cluster in strong-consistency mode would not answer for. It takes
    /// [`strong_consistency`](Self::strong_consistency). Default: no roster; the info commands `roster-set` and `recluster` can make one.
    pub fn roster(mut self, on: bool) -> Self {
        self.roster = on;
        self
    }

    /// Whether nodes that stop still have their records when they are started again, as with storage on a device. What was
    /// written meanwhile and what they bring is brought together as [`conflict_resolution`](Self::conflict_resolution) says; records that
    /// were deleted meanwhile come back with them, as in the server. Default: off, as with storage in memory.
    pub fn keep_records(mut self, on: bool) -> Self {
        self.keep_records = on;
        self
    }

    /// Which version of a record is kept of two. Default: the one with the higher generation.
    pub fn conflict_resolution(mut self, policy: ConflictResolution) -> Self {
        self.conflict_resolution = policy;
        self
    }

    /// Bytes of records (with what the cluster keeps beside them: 42 bytes each) from which on a node takes no writes for
    /// this namespace any more: result 8, "out of space", as with `stop-writes`. Deletes still work. Default 0: no limit.
    pub fn data_limit(mut self, bytes: u64) -> Self {
        self.data_limit = bytes;
        self
    }

    fn check(&self, nodes: usize) -> Result<(), ClusterError> {
        let name = &self.name;
        let printable = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        if name.is_empty() || name.len() > 31 || !printable {
            let text = format!("namespace name {name:?}: 1 to 31 letters, digits, '_' or '-' expected");
            return Err(ClusterError::Setting(text));
        }
        if self.default_ttl > MAX_TTL {
            let text = format!("default TTL {} of namespace {name}: at most {MAX_TTL} seconds", self.default_ttl);
            return Err(ClusterError::Setting(text));
        }
        if !(1024..=8 * 1024 * 1024).contains(&self.max_record_size) {
            let text = format!("max record size {} of namespace {name}: 1 KiB to 8 MiB", self.max_record_size);
            return Err(ClusterError::Setting(text));
        }
        if self.roster && !self.strong_consistency {
            return Err(ClusterError::Setting(format!("roster of namespace {name}: only with strong consistency")));
        }
        check_replication(self.replication_factor.unwrap_or(1), nodes)
    }

    fn build(&self) -> Namespace {
        let mut namespace = Namespace::new(&self.name);
        namespace.strong_consistency = self.strong_consistency;
        namespace.has_roster = self.roster;
        namespace.keeps_records = self.keep_records;
        namespace.conflict.store(self.conflict_resolution);
        namespace.data_limit.store(self.data_limit, Ordering::Relaxed);
        namespace.config.default_ttl.store(self.default_ttl, Ordering::Relaxed);
        namespace.config.max_record_size.store(self.max_record_size, Ordering::Relaxed);
        namespace.config.nsup_period.store(self.nsup_period, Ordering::Relaxed);
        namespace.config.allow_ttl_without_nsup.store(self.nsup_period == 0, Ordering::Relaxed);
        namespace
    }
}

/// The seed for clusters that are given none.
fn seed_of_environment() -> Result<u64, ClusterError> {
    let Some(text) = std::env::var_os(SEED) else { return Ok(0) };
    let number = text.to_str().and_then(|text| text.parse().ok());
    number.ok_or_else(|| ClusterError::Setting(format!("{SEED}={}: a whole number expected", text.display())))
}

/// Longest replication lag.
const MAX_LAG: Duration = Duration::from_secs(600);

pub(super) fn check_lag(lag: Duration) -> Result<(), ClusterError> {
    let text = || ClusterError::Setting(format!("replication lag {lag:?}: at most 10 minutes"));
    if lag <= MAX_LAG { Ok(()) } else { Err(text()) }
}

fn check_replication(factor: usize, nodes: usize) -> Result<(), ClusterError> {
    if factor == 0 || factor > MAX_NODES {
        let text = format!("replication factor {factor}: 1 to {MAX_NODES} expected (with {nodes} nodes)");
        return Err(ClusterError::Setting(text));
    }
    Ok(())
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            nodes: 1,
            replication_factor: 2,
            namespaces: Vec::new(),
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
            tls_port: 0,
            cluster_name: None,
            build: BUILD.to_owned(),
            first_id: FIRST_NODE_ID,
            threads: None,
            users: Vec::new(),
            session_ttl: SESSION_TTL,
            racks: Vec::new(),
            access: Access::default(),
            conditions: Conditions::new(),
            seed: None,
            replication_lag: Duration::ZERO,
            migration_rate: None,
            connection_limit: 0,
            #[cfg(feature = "tls")]
            tls: None,
        }
    }
}

impl Builder {
    /// How many nodes. Default 1, at most 128.
    pub fn nodes(mut self, nodes: usize) -> Self {
        self.nodes = nodes;
        self
    }

    /// How many nodes hold each partition, in namespaces that do not say it themselves. Default 2; with fewer nodes, all
    /// of them.
    pub fn replication_factor(mut self, factor: usize) -> Self {
        self.replication_factor = factor;
        self
    }

    /// Adds a namespace with default settings. Without any, there is one namespace, `test`.
    pub fn namespace(self, name: impl Into<String>) -> Self {
        self.namespace_with(NamespaceOptions::new(name))
    }

    /// Adds a namespace with settings of its own.
    pub fn namespace_with(mut self, options: NamespaceOptions) -> Self {
        self.namespaces.push(options);
        self
    }

    /// Sets the default TTL of all namespaces added so far; see [`NamespaceOptions::default_ttl`].
    pub fn default_ttl(mut self, seconds: u32) -> Self {
        if self.namespaces.is_empty() {
            self = self.namespace("test");
        }
        for namespace in &mut self.namespaces {
            namespace.default_ttl = seconds;
        }
        self
    }

    /// Sets the period of sweeps of all namespaces added so far; see [`NamespaceOptions::nsup_period`].
    pub fn nsup_period(mut self, seconds: u32) -> Self {
        if self.namespaces.is_empty() {
            self = self.namespace("test");
        }
        for namespace in &mut self.namespaces {
            namespace.nsup_period = seconds;
        }
        self
    }

    /// The port of the first node; node `n` (from 0) listens on `port + n`. Default 0: any free ports, different ones at
    /// every start.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// The address that nodes listen on, and tell clients if [`advertise`](Self::advertise) says no other. Default `127.0.0.1`;
    /// it should stay a loopback address outside of containers, as the cluster has no protection worth the name. With
    /// `0.0.0.0` or `::` nodes listen on all addresses, and tell clients the loopback one.
    pub fn host(mut self, host: IpAddr) -> Self {
        self.host = host;
        self
    }

    /// The address that nodes tell clients in place of the one that they listen on, as the server's `access-address`: from a
    /// container, that of the host. Ports are the same outside.
    pub fn advertise(mut self, address: IpAddr) -> Self {
        self.access.standard = Some(address);
        self
    }

    /// The address for clients that ask for alternate ones, as the server's `alternate-access-address`. Default: that for all.
    pub fn advertise_alternate(mut self, address: IpAddr) -> Self {
        self.access.alternate = Some(address);
        self
    }

    /// The cluster's name. Default none, which the server shows as `null`.
    pub fn cluster_name(mut self, name: impl Into<String>) -> Self {
        self.cluster_name = Some(name.into());
        self
    }

    /// The build that nodes say they are, for what clients make of it. Default `8.1.2.0`. What nodes can do stays the
    /// same, but for two things that they know from 8.2 on: the index type `integer`, and conditions of queries as text with
    /// the question which index serves them.
    pub fn build(mut self, build: impl Into<String>) -> Self {
        self.build = build.into();
        self
    }

    /// The id of the first node, which is not 0; the next ones count up. Default `A0AE000000000001`.
    pub fn first_node_id(mut self, id: u64) -> Self {
        self.first_id = id;
        self
    }

    /// How many threads serve all nodes together. Default: as many as the machine has cores, at most 4.
    pub fn service_threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Adds a user that may do everything, and turns security on: every connection has to log in, and users have roles.
    /// Passwords are hashed the way clients do it (bcrypt), which takes some 50 ms each.
    pub fn user(mut self, name: impl Into<String>, password: impl Into<String>) -> Self {
        self.users.push((name.into(), password.into(), None));
        self
    }

    /// The same with a user of these roles: `user-admin`, `sys-admin`, `data-admin`, `udf-admin`, `sindex-admin`, `read`,
    /// `read-write`, `read-write-udf`, `write`, `truncate`. Other roles can be made once the cluster runs.
    pub fn user_with_roles(
        mut self,
        name: impl Into<String>,
        password: impl Into<String>,
        roles: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let roles = roles.into_iter().map(Into::into).collect();
        self.users.push((name.into(), password.into(), Some(roles)));
        self
    }

    /// How long the session of a login lasts, in seconds. Default 86,400 (a day).
    pub fn session_ttl(mut self, seconds: u32) -> Self {
        self.session_ttl = seconds;
        self
    }

    /// The racks of the nodes, as the Enterprise Edition has them: the first node is on the first of these racks, and so on, from
    /// the start again when there are more nodes. Copies of a partition are on different racks, as far as there are. Default: no
    /// racks.
    pub fn racks(mut self, racks: impl IntoIterator<Item = u32>) -> Self {
        self.racks = racks.into_iter().collect();
        self
    }

    /// How late writes reach their replicas, on all nodes, also on those that are added later; at most ten minutes. Default:
    /// not at all. See [`EmbeddedCluster::set_replication_lag`].
    pub fn replication_lag(mut self, lag: Duration) -> Self {
        self.replication_lag = lag;
        self
    }

    /// How many records a second move when owners change. Default (`None`): all at once. See
    /// [`EmbeddedCluster::set_migration_rate`].
    pub fn migration_rate(mut self, records_per_second: Option<u32>) -> Self {
        self.migration_rate = records_per_second;
        self
    }

    /// How many clients' connections a node has at a time: one more is accepted and closed, as by `proto-fd-max`. Default 0:
    /// no limit.
    pub fn connection_limit(mut self, connections: usize) -> Self {
        self.connection_limit = connections;
        self
    }

    /// Service times and latency of all nodes, also of those that are added later. Default: none.
    pub fn conditions(mut self, conditions: Conditions) -> Self {
        self.conditions = conditions;
        self
    }

    /// Seeds everything random: which requests a fault with a probability strikes, and service times and jitter, together with the
    /// seed of the conditions. The same seed gives the same run again for the same requests in the same order. Default: the number in
    /// the environment variable `AEROLANE_SEED`, and 0 without it. [`EmbeddedCluster::seed`] tells which it is.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Lets every node listen with TLS too, on a second port.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, options: TlsOptions) -> Self {
        self.tls = Some(options);
        self
    }

    /// The TLS port of the first node, as [`Builder::port`]. Default 0: any free ports.
    #[cfg(feature = "tls")]
    pub fn tls_port(mut self, port: u16) -> Self {
        self.tls_port = port;
        self
    }

    /// Starts the cluster: when this returns, all nodes listen and know each other.
    ///
    /// # Errors
    /// [`ClusterError::Setting`] and [`ClusterError::Conditions`] for settings out of range, [`ClusterError::Bind`] for a port in use,
    /// [`ClusterError::Io`] if the system refuses a thread, [`ClusterError::Tls`] for a certificate that does not work.
    pub fn start(self) -> Result<EmbeddedCluster, ClusterError> {
        EmbeddedCluster::start(self)
    }

    /// The ids of the nodes that the cluster starts with.
    pub(super) fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        let first = self.first_id;
        (0..self.nodes as u64).map(move |n| NodeId(first.wrapping_add(n)))
    }

    /// The nodes of such a cluster, which nobody serves: without sockets and threads.
    #[cfg(test)]
    pub(crate) fn nodes_alone(&self) -> Result<Vec<std::sync::Arc<super::Node>>, ClusterError> {
        use super::{ClusterState, Node};
        use std::sync::Arc;
        let state = Arc::new(ClusterState::new(self.parts()?));
        let address = std::net::SocketAddr::new(self.host, 0);
        let nodes: Vec<_> = self.ids().map(|id| Arc::new(Node::new(Arc::clone(&state), id, address, None))).collect();
        for node in &nodes {
            node.set_live(true);
        }
        state.set_members(&nodes);
        Ok(nodes)
    }

    /// Checks the settings and makes what nodes share.
    pub(super) fn parts(&self) -> Result<ClusterParts, ClusterError> {
        let setting = |text: String| Err(ClusterError::Setting(text));
        if self.nodes == 0 || self.nodes > MAX_NODES {
            return setting(format!("{} nodes: 1 to {MAX_NODES} expected", self.nodes));
        }
        if self.first_id == 0 || self.first_id.checked_add(MAX_NODES as u64).is_none() {
            return setting(format!("node id {:X} is out of range", self.first_id));
        }
        for port in [self.port, self.tls_port] {
            if port != 0 && usize::from(port) + self.nodes - 1 > usize::from(u16::MAX) {
                return setting(format!("{} nodes do not fit above port {port}", self.nodes));
            }
        }
        if let Some(rack) = self.racks.iter().find(|rack| **rack > MAX_RACK) {
            return setting(format!("rack {rack}: 0 to {MAX_RACK} expected"));
        }
        check_replication(self.replication_factor, self.nodes)?;
        self.conditions.check()?;
        check_lag(self.replication_lag)?;
        let cluster_name = self.cluster_name.as_deref().unwrap_or("null");
        if cluster_name.is_empty() || cluster_name.len() > 63 || cluster_name.contains(['\n', '\t', ';']) {
            return setting(format!("cluster name {cluster_name:?}: 1 to 63 bytes, no line ends, tabs or ';'"));
        }
        let build = &self.build;
        let mut parts = build.split('.');
        let numbers = parts.by_ref().take(4).filter(|part| part.len() <= 4 && part.parse::<u16>().is_ok()).count();
        if numbers != 4 || parts.next().is_some() {
            return setting(format!("build {build:?}: four numbers expected, as in {BUILD:?}"));
        }
        let default = [NamespaceOptions::new("test")];
        let wanted = if self.namespaces.is_empty() { &default[..] } else { &self.namespaces };
        if wanted.len() > 32 {
            return setting(format!("{} namespaces: at most 32", wanted.len()));
        }
        let mut namespaces: Vec<(Namespace, usize)> = Vec::with_capacity(wanted.len());
        for options in wanted {
            options.check(self.nodes)?;
            if namespaces.iter().any(|(ns, _)| ns.name == options.name) {
                return setting(format!("namespace {} is there twice", options.name));
            }
            namespaces.push((options.build(), options.replication_factor.unwrap_or(self.replication_factor)));
        }
        let security = if self.users.is_empty() { None } else { Some(Security::new(&self.users, self.session_ttl)?) };
        #[cfg(feature = "tls")]
        let tls_name = self.tls.as_ref().map(|tls| tls.name().to_owned());
        #[cfg(not(feature = "tls"))]
        let tls_name = None;
        Ok(ClusterParts {
            namespaces,
            cluster_name: cluster_name.to_owned(),
            build: build.clone(),
            security,
            tls_name,
            racks: Racks { first_id: self.first_id, racks: self.racks.clone() },
            access: self.access,
            conditions: self.conditions.clone(),
            seed: self.seed.map_or_else(seed_of_environment, Ok)?,
            replication_lag: self.replication_lag,
            migration_rate: self.migration_rate,
            connection_limit: self.connection_limit,
        })
    }
}
