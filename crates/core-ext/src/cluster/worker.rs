//! Follows the cluster and publishes snapshots of it.

use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use aerospike_core::{Client, Host, Node};
use tokio::sync::Notify;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

use super::fetch::{self, NodeAddresses, Ownership};
use super::{Shared, Tunable, every};
use crate::error::{Error, Result};
use crate::topology::{NodeId, TopologyBuilder};

/// The least time between two refreshes that the data path asked for.
const LEAST_PAUSE: Duration = Duration::from_millis(50);
/// A node that lost a partition to another is asked again, this often between two looks at most.
const MAX_CHASES: u8 = 3;
/// How long the first map may take to become complete once every node has answered.
const GRACE: Duration = Duration::from_secs(1);

/// Limits of the time between two looks at the nodes' generations; within them, a quarter of the tend interval.
const SHORTEST_LOOK: Duration = Duration::from_millis(100);
const LONGEST_LOOK: Duration = Duration::from_secs(1);

/// The data path's wish for a fresh map.
#[derive(Debug, Default)]
pub(super) struct RefreshRequests {
    pending: AtomicBool,
    notify: Notify,
}

impl RefreshRequests {
    pub(super) fn request(&self) {
        // Under a storm of errors only the first one pays for the wake-up.
        if !self.pending.load(Ordering::Relaxed) && !self.pending.swap(true, Ordering::AcqRel) {
            self.notify.notify_one();
        }
    }

    /// Ends when there is a request. May be dropped and called again: the request stays until it is taken.
    async fn wait(&self) {
        while !self.pending.load(Ordering::Acquire) {
            self.notify.notified().await;
        }
    }

    /// From here on, a request asks for another refresh.
    fn take(&self) {
        self.pending.store(false, Ordering::Release);
    }
}

/// Who is asked at a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Nodes whose partition generation has changed.
    Changed,
    /// All nodes.
    All,
}

pub(super) struct Worker {
    shared: Arc<Shared>,
    core: Client,
    builder: TopologyBuilder,
    nodes: HashMap<NodeId, Followed>,
    /// A certificate name for nodes that have lost theirs because aerospike-core talks to them in clear.
    seed_tls_name: Option<String>,
    login_only: bool,
    tuned: Tunable,
    /// The nodes that aerospike-core saw at the last look.
    present: Vec<(NodeId, Arc<Node>)>,
    /// Questions under way. A node that is slow to answer, or whose name is slow to resolve, delays nobody else.
    asked: JoinSet<Answer>,
    /// The names of the nodes that are being located.
    located: HashSet<String>,
    locate: Locate,
}

/// Finds out where a node listens.
type Locate = Box<dyn Fn(Arc<Node>, Duration) -> Pin<Box<dyn Future<Output = NodeAddresses> + Send>> + Send + Sync>;

/// The answer to a question.
enum Answer {
    Ownership(NodeId, Result<Ownership>),
    NodeAddresses(Arc<Node>, NodeAddresses),
}

/// What is known about a node beside what snapshots tell.
#[derive(Debug)]
struct Followed {
    host: Host,
    /// The generation of the claims taken in; `None` when they are to be asked for again.
    generation: Option<isize>,
    last_error: Option<Error>,
    asking: Asking,
    /// By namespace, as far as racks are preferred.
    racks: Vec<(String, usize)>,
    /// How often it was asked since the last look because it lost partitions.
    chases: u8,
}

/// Whether a node is being asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asking {
    No,
    Yes,
    /// And its answer may be too old by now: ask again after it.
    AndAgain,
}

impl Followed {
    fn new(host: Host) -> Self {
        Self { host, generation: None, last_error: None, asking: Asking::No, racks: Vec::new(), chases: 0 }
    }
}

impl Worker {
    pub(super) fn new(shared: Arc<Shared>, core: Client, hosts: &[Host]) -> Self {
        let policy = &shared.policy;
        #[cfg(feature = "tls")]
        let login_only = policy.tls_policy.as_ref().is_some_and(|tls| tls.for_login_only);
        #[cfg(not(feature = "tls"))]
        let login_only = false;
        let tuned = shared.tunable.borrow().clone();
        let login = login_only.then(|| Arc::clone(policy));
        Self {
            builder: TopologyBuilder::new(tuned.max_error_rate, tuned.error_rate_window, tuned.rack_ids.is_some()),
            tuned,
            core,
            nodes: HashMap::new(),
            seed_tls_name: hosts.iter().find_map(|host| host.tls_name.clone()),
            login_only,
            shared,
            present: Vec::new(),
            asked: JoinSet::new(),
            located: HashSet::new(),
            locate: Box::new(move |node, timeout| {
                let login = login.clone();
                Box::pin(async move { fetch::node_addresses(&node, login.as_deref(), timeout).await })
            }),
        }
    }

    /// Locates nodes in another way.
    #[cfg(test)]
    pub(super) fn locate_with(
        &mut self,
        locate: impl Fn(Arc<Node>) -> Pin<Box<dyn Future<Output = NodeAddresses> + Send>> + Send + Sync + 'static,
    ) {
        self.locate = Box::new(move |node, _| locate(node));
    }

    /// Waits for a map in which every partition has a master. A cluster that is up but has lost partitions is taken as
    /// it is, after a grace period; one that gives no map at all is an error.
    pub(super) async fn first_map(&mut self) -> Result<()> {
        let start = Instant::now();
        let limit = (self.tuned.answer_timeout * 4).max(GRACE * 2);
        loop {
            self.look(Scope::All);
            let round = Instant::now() + self.tuned.answer_timeout;
            while !self.builder.is_complete() {
                match tokio::time::timeout_at(round, self.asked.join_next()).await {
                    Ok(Some(answer)) => self.answered(answer),
                    Ok(None) | Err(_) => break,
                }
            }
            if self.builder.is_complete() {
                return Ok(());
            }
            let waited = start.elapsed();
            let has_map = self.builder.namespace_names().next().is_some();
            let all_answered = self.located.is_empty() && self.nodes.values().all(|node| node.generation.is_some());
            if has_map && (waited >= limit || all_answered && waited >= GRACE) {
                crate::logging::warn!(
                    "some partitions have no master; operations on them fail until the cluster has recovered"
                );
                return Ok(());
            }
            if waited >= limit {
                return Err(self.no_map());
            }
            tokio::time::sleep(LEAST_PAUSE).await;
        }
    }

    fn no_map(&self) -> Error {
        let reasons = self.nodes.values().filter_map(|node| node.last_error.clone()).collect();
        Error::connection(format!(
            "{} nodes were found, and no usable partition map came together: nodes still starting, or a user without \
             the right to read cluster metadata",
            self.nodes.len()
        ))
        .with_sub_errors(reasons)
    }

    /// Follows the cluster, for ever.
    pub(super) async fn run(&mut self) {
        let interval = Duration::from_millis(u64::from(self.shared.policy.tend_interval));
        // aerospike-core's tend notices changes; looking at what it noticed costs next to nothing.
        let mut looks = every((interval / 4).clamp(SHORTEST_LOOK, LONGEST_LOOK));
        let mut tends = every(interval);
        let shared = Arc::clone(&self.shared);
        let mut tunable = shared.tunable.subscribe();
        // What has changed before this.
        tunable.mark_changed();
        let mut earliest = Instant::now();
        let mut pause = LEAST_PAUSE;
        let mut served = u64::MAX;
        loop {
            tokio::select! {
                _ = looks.tick() => self.look(Scope::Changed),
                _ = tends.tick() => self.builder.tick_breakers(),
                Ok(()) = tunable.changed() => {
                    let tuned = tunable.borrow_and_update().clone();
                    self.tune(tuned);
                }
                Some(answer) = self.asked.join_next() => self.answered(answer),
                () = async {
                    shared.refresh.wait().await;
                    tokio::time::sleep_until(earliest).await;
                } => {
                    shared.refresh.take();
                    // What did not help is done less and less often.
                    let version = self.shared.topology.load().version();
                    pause = if version == served { (pause * 2).min(interval) } else { LEAST_PAUSE };
                    served = version;
                    earliest = Instant::now() + pause;
                    self.look(Scope::All);
                }
            }
        }
    }

    /// Goes by other settings.
    fn tune(&mut self, tuned: Tunable) {
        self.builder.set_error_limits(tuned.max_error_rate, tuned.error_rate_window);
        self.builder.set_rack_aware(tuned.rack_ids.is_some());
        let asked = self.asks_for_racks();
        self.tuned = tuned;
        if self.asks_for_racks() && !asked {
            self.look(Scope::All);
        }
        self.settle();
    }

    /// Whether we ask nodes for their racks: aerospike-core does only if there were racks to prefer when it connected.
    fn asks_for_racks(&self) -> bool {
        self.tuned.rack_ids.is_some() && self.shared.policy.rack_ids.is_none()
    }

    /// Looks at what aerospike-core sees, and asks nodes for their partitions.
    fn look(&mut self, scope: Scope) {
        let nodes: Vec<Arc<Node>> = self.core.nodes().into_iter().filter(|node| node.is_active()).collect();
        if nodes.is_empty() {
            // aerospike-core sees nobody at the moment. Our own connections may still work, and know best themselves.
            return;
        }
        let mut present = Vec::with_capacity(nodes.len());
        for node in nodes {
            if let Some(id) = self.follow(&node, scope) {
                present.push((id, node));
            }
        }
        self.present = present;
        let somebody_missing = self.builder.has_active_beside(&self.present_ids());
        for node in self.nodes.values_mut() {
            node.chases = 0;
        }
        for (id, node) in self.present.clone() {
            match scope {
                Scope::All => self.ask(id, &node),
                Scope::Changed if self.is_asked(id) => {}
                Scope::Changed if somebody_missing || self.is_stale(id, &node) => self.ask(id, &node),
                Scope::Changed => {}
            }
        }
        self.settle();
    }

    fn present_ids(&self) -> Vec<NodeId> {
        self.present.iter().map(|(id, _)| *id).collect()
    }

    fn is_asked(&self, id: NodeId) -> bool {
        self.nodes.get(&id).is_some_and(|followed| followed.asking != Asking::No)
    }

    /// Asks a node, now or as soon as it has answered what it was asked before.
    fn ask(&mut self, id: NodeId, node: &Arc<Node>) {
        let Some(followed) = self.nodes.get_mut(&id) else { return };
        if followed.asking != Asking::No {
            followed.asking = Asking::AndAgain;
            return;
        }
        followed.asking = Asking::Yes;
        let (node, timeout) = (Arc::clone(node), self.tuned.answer_timeout);
        let with_racks = self.asks_for_racks();
        self.asked.spawn(async move { Answer::Ownership(id, fetch::ownership(&node, with_racks, timeout).await) });
    }

    fn answered(&mut self, answer: std::result::Result<Answer, JoinError>) {
        match answer {
            Ok(Answer::Ownership(id, ownership)) => self.owns(id, ownership),
            Ok(Answer::NodeAddresses(node, found)) => self.is_at(&node, found),
            Err(error) => {
                // It is not known whose: ask whoever needs it at the next look.
                crate::logging::error!("asking a node for its partitions failed: {error}");
                self.nodes.values_mut().for_each(|followed| followed.asking = Asking::No);
                self.located.clear();
            }
        }
    }

    /// Takes in which partitions a node says that it owns.
    fn owns(&mut self, id: NodeId, answer: Result<Ownership>) {
        let Some(followed) = self.nodes.get_mut(&id) else { return };
        let again = followed.asking == Asking::AndAgain;
        followed.asking = Asking::No;
        match answer {
            Ok(ownership) => {
                followed.generation = Some(ownership.generation);
                followed.racks = ownership.racks;
                followed.last_error = None;
                self.retire_missing(id);
                for lost in self.builder.apply_claims(id, &ownership.claims) {
                    self.chase(lost);
                }
            }
            Err(error) => {
                crate::logging::debug!("the partitions of {} are not known at present: {error}", followed.host);
                followed.generation = None;
                followed.last_error = Some(error);
            }
        }
        if again && let Some((_, node)) = self.present.iter().find(|(other, _)| *other == id).cloned() {
            self.ask(id, &node);
        }
        self.settle();
    }

    /// Retires the nodes that aerospike-core no longer sees. They are believed gone only on the word of one that is
    /// there: when nobody answers, it is rather our tend that fails than the whole cluster, and the last map stays in
    /// force.
    fn retire_missing(&mut self, witness: NodeId) {
        let ids = self.present_ids();
        if ids.contains(&witness) && self.builder.has_active_beside(&ids) {
            self.builder.retain_active(&ids);
            self.nodes.retain(|id, _| ids.contains(id));
        }
    }

    /// Asks a node that lost a partition to another: its own answer may have been the newer one.
    fn chase(&mut self, id: NodeId) {
        let Some((_, node)) = self.present.iter().find(|(other, _)| *other == id).cloned() else { return };
        let Some(followed) = self.nodes.get_mut(&id) else { return };
        if followed.chases < MAX_CHASES {
            followed.chases += 1;
            self.ask(id, &node);
        } else {
            // At the next look.
            followed.generation = None;
        }
    }

    fn settle(&mut self) {
        self.set_racks();
        self.builder.set_cluster_name(self.core.server_cluster_name().as_deref());
        self.publish();
    }

    /// The id of a node whose place is known, old as it may be. Has it located if it is not known, has changed or may have.
    fn follow(&mut self, node: &Arc<Node>, scope: Scope) -> Option<NodeId> {
        let host = node.host();
        let info = self.builder.node(node.name());
        let followed = info.and_then(|info| Some((info, self.nodes.get(&info.id())?)));
        // A name may have got other addresses: look again when something is wrong.
        let look_again = scope == Scope::All && super::seeds::as_ip(&host.name).is_none();
        let is_settled = followed.is_some_and(|(info, followed)| !info.addresses().is_empty() && followed.host == host);
        let id = followed.map(|(info, _)| info.id());
        if (look_again || !is_settled) && !self.located.contains(node.name()) {
            self.located.insert(node.name().to_owned());
            let (node, found) = (Arc::clone(node), (self.locate)(Arc::clone(node), self.tuned.answer_timeout));
            self.asked.spawn(async move { Answer::NodeAddresses(node, found.await) });
        }
        id
    }

    /// Adds a node or notes its new place.
    fn is_at(&mut self, node: &Arc<Node>, found: NodeAddresses) {
        self.located.remove(node.name());
        if !node.is_active() {
            return;
        }
        let host = node.host();
        let known = self.builder.node(node.name()).filter(|info| self.nodes.contains_key(&info.id()));
        if let Some(info) = known
            && found.addresses.is_empty()
            && self.nodes.get(&info.id()).is_some_and(|followed| followed.host == host)
        {
            // A name that is not resolved at present: the node is rather where it was than nowhere.
            return;
        }
        let tls_name = host.tls_name.as_deref().or(self.seed_tls_name.as_deref().filter(|_| self.login_only));
        match self.builder.upsert_node(node.name(), &host.address(), tls_name, found.addresses, found.login) {
            Ok(id) => {
                let followed = self.nodes.entry(id).or_insert_with(|| Followed::new(host.clone()));
                if followed.host != host {
                    followed.host = host;
                    followed.generation = None;
                }
                let is_new = followed.generation.is_none();
                if !self.present.iter().any(|(other, _)| *other == id) {
                    self.present.push((id, Arc::clone(node)));
                }
                if is_new && !self.is_asked(id) {
                    self.ask(id, node);
                }
                self.settle();
            }
            Err(error) => crate::logging::error!("node {} is ignored: {error}", node.name()),
        }
    }

    /// Whether the node's claims may have changed since they were taken in.
    fn is_stale(&self, id: NodeId, node: &Node) -> bool {
        let seen = self.nodes.get(&id).and_then(|followed| followed.generation);
        // aerospike-core sets a negative one to make itself ask again; that says nothing about ours.
        let now = node.partition_generation();
        seen.is_none_or(|seen| now >= 0 && seen != now)
    }

    fn set_racks(&mut self) {
        let Some(racks) = &self.tuned.rack_ids else { return };
        let namespaces: Vec<String> = self.builder.namespace_names().map(Into::into).collect();
        for namespace in &namespaces {
            for (id, node) in &self.present {
                let own = self.nodes.get(id).map_or(&[][..], |followed| &followed.racks);
                let is_on = |rack: usize| {
                    node.has_rack(namespace, rack) || own.iter().any(|(name, own)| name == namespace && *own == rack)
                };
                let rank = racks.iter().position(|rack| is_on(*rack));
                self.builder.set_rack_rank(*id, namespace, rank);
            }
        }
    }

    fn publish(&mut self) {
        let Some(topology) = self.builder.snapshot() else { return };
        let topology = Arc::new(topology);
        self.shared.topology.store(Arc::clone(&topology));
        self.shared.listeners.notify(&topology);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_request_is_not_lost_when_waiting_is_interrupted() {
        let requests = RefreshRequests::default();
        let soon = Duration::from_millis(10);
        requests.request();
        requests.request();
        // Waits, and is dropped while it does something else after that.
        let interrupted = async {
            requests.wait().await;
            std::future::pending::<()>().await;
        };
        assert!(tokio::time::timeout(soon, interrupted).await.is_err());
        tokio::time::timeout(soon, requests.wait()).await.expect("still there");
        requests.take();
        assert!(tokio::time::timeout(soon, requests.wait()).await.is_err(), "taken");
        requests.request();
        tokio::time::timeout(soon, requests.wait()).await.expect("a new one");
    }
}
