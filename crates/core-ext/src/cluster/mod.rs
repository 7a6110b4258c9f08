//! The control plane: one per cluster and process, whatever the number of lanes.
//!
//! All clusters of a process share one thread, `aerolane-ctl`, with a tokio runtime of its own. On it live each
//! cluster's `aerospike_core::Client` (discovery, tend, and all operations that are not ours) and the worker that follows
//! the nodes' partition maps and publishes [`Topology`] snapshots. Data paths read snapshots, ask for a refresh when an
//! answer shows that theirs is old, and are told of new ones. The thread ends with the last cluster.

mod control;
mod fetch;
mod lifecycle;
mod listeners;
mod seeds;
mod tunable;
mod worker;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::ThreadId;

use aerospike_core::{Client, ClientPolicy, ToHosts};
use arc_swap::{ArcSwap, Cache};
use tokio::runtime::Handle;
use tokio::sync::{oneshot, watch};

pub(crate) use control::every;
use control::{ControlLease, check_may_wait};
use listeners::Listeners;
pub use listeners::Subscription;
pub(crate) use tunable::Tunable;
use worker::RefreshRequests;

use crate::client::Watch;
use crate::config::ClientConfig;
use crate::connect::{self, Connector};
use crate::dynamic::{self, Overlay};
use crate::error::{Error, Result};
use crate::metrics::Metrics;
use crate::topology::{NamespaceMap, NodeId, NodeInfo, Outage, Topology};

/// A connected cluster: its topology, its login sessions, and aerospike-core's client.
///
/// Dropping it closes everything in the background, without blocking. [`close`](Self::close) waits until it is closed.
pub struct Cluster {
    shared: Arc<Shared>,
    core: Client,
    runtime: Handle,
    control: ThreadId,
}

/// What the control thread and the users of the cluster share.
#[derive(Debug)]
struct Shared {
    policy: Arc<ClientPolicy>,
    /// What may change while the cluster is open.
    tunable: watch::Sender<Tunable>,
    metrics: Arc<Metrics>,
    connector: Connector,
    topology: Arc<ArcSwap<Topology>>,
    listeners: Listeners,
    refresh: RefreshRequests,
    stage: watch::Sender<Stage>,
    /// It is no longer open. What every call asks, who would all count on one cache line in asking for `stage`.
    closing: AtomicBool,
    /// What goes over the policies of calls, which every call asks, too.
    overlay: Overlay,
    watch: Watch,
    /// Threads within [`Cluster::block_on`], which use the runtime's reactor.
    visitors: AtomicUsize,
    /// Each task of [`Cluster::spawn`] has a reference.
    tasks: Arc<()>,
}

impl Shared {
    /// Hashes the password, which takes some 50 ms: not for a thread that has other things to do.
    fn new(policy: Arc<ClientPolicy>) -> Result<Self> {
        let metrics = Metrics::new();
        Ok(Self {
            tunable: watch::Sender::new(Tunable::from(&*policy)),
            connector: Connector::new(&policy)?.measured(&metrics),
            metrics,
            policy,
            topology: Arc::new(ArcSwap::from_pointee(Topology::default())),
            listeners: Listeners::default(),
            refresh: RefreshRequests::default(),
            stage: watch::Sender::new(Stage::Open),
            closing: AtomicBool::new(false),
            overlay: Overlay::default(),
            watch: Watch::default(),
            visitors: AtomicUsize::new(0),
            tasks: Arc::new(()),
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Stage {
    Open,
    Closing,
    /// Tasks on the control thread end.
    Ending,
    Closed,
}

/// Waits until a cluster is closing, ending or closed. Gives back nothing: what `wait_for` gives holds the lock of the value, and what
/// is dropped next may be the last reference to the cluster, which takes it.
async fn reached(current: &mut watch::Receiver<Stage>, stage: Stage) {
    // Fails only when the sender is gone, and the cluster with it.
    let _ = current.wait_for(|current| *current >= stage).await;
}

/// Where a cluster lives.
struct Control {
    runtime: Handle,
    thread: ThreadId,
}

/// What the control thread hands over when the cluster is up.
struct Started {
    shared: Arc<Shared>,
    core: Client,
}

impl Cluster {
    /// Connects: tries all seeds, checks the cluster's name, logs in, discovers the nodes, and waits for the first
    /// partition map. Runs on the control thread, so any executor may await it; dropping the future stops it.
    ///
    /// # Errors
    /// * `InvalidArgument`: an impossible policy, or seeds that are no addresses; before anything is sent
    /// * `ConnectFailed`: no seed could be used; lists every address with its reason
    /// * `ClusterNameMismatch`, `CredentialsRefused`
    /// * `Connection`: the nodes answered, and no partition map came together
    pub async fn connect(policy: &ClientPolicy, hosts: &(dyn ToHosts + Send + Sync)) -> Result<Arc<Self>> {
        let (control, started) = Self::launch(policy, hosts)?;
        Self::assemble(control, started.await)
    }

    /// [`connect`](Self::connect) for threads: blocks the calling one.
    ///
    /// # Errors
    /// As `connect`, and `Client` on the control thread.
    pub fn connect_blocking(policy: &ClientPolicy, hosts: &(dyn ToHosts + Send + Sync)) -> Result<Arc<Self>> {
        let (control, started) = Self::launch(policy, hosts)?;
        check_may_wait(control.thread)?;
        Self::assemble(control, connect::block_on(started))
    }

    /// Checks seeds without connecting: [`connect`](Self::connect) with this policy takes them.
    ///
    /// # Errors
    /// `InvalidArgument` naming the seed that is no address.
    pub fn check_seeds(policy: &ClientPolicy, hosts: &(dyn ToHosts + Send + Sync)) -> Result<()> {
        seeds::parse(hosts, connect::tls_configured(policy)).map(drop)
    }

    fn launch(
        policy: &ClientPolicy,
        hosts: &(dyn ToHosts + Send + Sync),
    ) -> Result<(Control, oneshot::Receiver<Result<Started>>)> {
        ClientConfig::from(policy.clone()).validate()?;
        let hosts = seeds::parse(hosts, connect::tls_configured(policy))?;
        let policy = Arc::new(policy.clone());
        let (sender, receiver) = oneshot::channel();
        let lease = ControlLease::new()?;
        let control = Control { runtime: lease.runtime().clone(), thread: lease.thread() };
        control.runtime.spawn(lifecycle::live(lease, policy, hosts, sender));
        Ok((control, receiver))
    }

    fn assemble(
        control: Control,
        started: std::result::Result<Result<Started>, oneshot::error::RecvError>,
    ) -> Result<Arc<Self>> {
        let started = started.unwrap_or_else(|_| Err(Error::client_error("the control plane ended unexpectedly")));
        let Started { shared, core } = started?;
        Ok(Arc::new(Self { shared, core, runtime: control.runtime, control: control.thread }))
    }

    /// aerospike-core's client, for everything that is not ours.
    ///
    /// Its sockets belong to the runtime that opened them: run its operations with [`run`](Self::run) or
    /// [`block_on`](Self::block_on), so that they outlive no runtime of the caller.
    #[must_use]
    pub fn core(&self) -> &Client {
        &self.core
    }

    /// The policy that the cluster was connected with.
    #[must_use]
    pub fn policy(&self) -> &Arc<ClientPolicy> {
        &self.shared.policy
    }

    /// Opens connections to the cluster's nodes.
    #[must_use]
    pub fn connector(&self) -> &Connector {
        &self.shared.connector
    }

    /// The metrics of what goes over our own connections.
    pub(crate) fn metrics(&self) -> &Arc<Metrics> {
        &self.shared.metrics
    }

    /// What goes over the policies of calls.
    #[must_use]
    #[inline]
    pub fn overlay(&self) -> &Overlay {
        &self.shared.overlay
    }

    /// What the client tells of single operations.
    #[inline]
    pub(crate) fn watch(&self) -> &Watch {
        &self.shared.watch
    }

    /// Goes by a configuration file, if there is one, until the cluster is closed.
    pub(crate) fn follow(self: &Arc<Self>, file: dynamic::Followed) {
        dynamic::follow(self, file);
    }

    /// Has an open cluster go by those settings of a policy that may change: see [`Tunable`].
    #[cfg(feature = "dynamic-config")]
    pub(crate) fn tune(&self, policy: &ClientPolicy) {
        self.shared.connector.set_time_limits(policy);
        let now = Tunable::from(policy);
        self.shared.tunable.send_if_modified(|tunable| {
            let changes = *tunable != now;
            *tunable = now;
            changes
        });
    }

    /// How long a connection may be idle, in ms, at present; 0: what is usual.
    pub(crate) fn idle_timeout(&self) -> u32 {
        self.shared.tunable.borrow().idle_timeout
    }

    /// Does something that may block, such as reading a file, on a helper of the control thread.
    ///
    /// # Errors
    /// `Client` when there is no thread to be had.
    pub(crate) async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let lease = ControlLease::new()?;
        let done = lease.runtime().spawn_blocking(work).await;
        done.map_err(|_| Error::client_error("a thread of the control plane ended unexpectedly"))
    }

    /// The present snapshot.
    #[must_use]
    pub fn topology(&self) -> Arc<Topology> {
        self.shared.topology.load_full()
    }

    /// The present snapshot, for a look within one call: cheaper than [`topology`](Self::topology), not to be kept.
    pub(crate) fn snapshot(&self) -> arc_swap::Guard<Arc<Topology>> {
        self.shared.topology.load()
    }

    /// Whether a namespace is in strong-consistency mode, by the present snapshot; `None` for one that it does not have.
    /// A few string compares: cheap enough to be asked for every request.
    #[must_use]
    pub fn strong_consistency(&self, namespace: &str) -> Option<bool> {
        let snapshot = self.snapshot();
        snapshot.namespaces().find(|map| map.name() == namespace).map(NamespaceMap::strong_consistency)
    }

    /// The control thread's runtime.
    pub(crate) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// Opens a connection within the policy's time limits; see [`Connector::open`].
    pub(crate) async fn open(&self, node: &NodeInfo) -> Result<connect::Stream> {
        let connector = self.connector();
        connector.open(node, connector.connect_timeout() + connector.login_timeout()).await
    }

    /// A view for one lane or thread, which keeps the snapshot it saw last: looking costs one relaxed load as long as
    /// nothing changed.
    #[must_use]
    pub fn topology_view(&self) -> TopologyView {
        TopologyView(Cache::new(Arc::clone(&self.shared.topology)))
    }

    /// Calls back after each new snapshot and when the cluster begins to close, on the control thread, until the
    /// subscription is dropped. The callback must
    /// not block; a panic in it is logged, and it is not called again.
    #[must_use = "the subscription ends when it is dropped"]
    pub fn on_change(&self, callback: impl Fn(&Arc<Topology>) + Send + Sync + 'static) -> Subscription {
        self.shared.listeners.add(callback)
    }

    /// Asks for a fresh partition map at once: after an answer from a node that does not own the partition, or when a
    /// node's connections break. Cheap, and bounded: however often it is called, the nodes are asked some ten times
    /// a second at most, and less often when nothing has changed.
    pub fn request_refresh(&self) {
        self.shared.refresh.request();
    }

    /// Tries to reach a node that is down, on behalf of calls that go to other nodes meanwhile.
    pub(crate) fn look_for(&self, node: NodeId) {
        let Some(node) = self.snapshot().node(node).cloned() else { return };
        if let Some(probe) = Outage::probe(node.breaker()) {
            let shared = Arc::clone(&self.shared);
            self.runtime.spawn(async move {
                shared.connector.look_for(&node).await;
                drop(probe);
            });
        }
    }

    /// Runs a future on the control thread's runtime, where aerospike-core's sockets live. Dropping the result cancels
    /// it.
    ///
    /// # Errors
    /// `ClientClosed`, or `Client` if the future panicked.
    pub async fn run<F>(&self, future: F) -> Result<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        if self.is_closed() {
            return Err(Error::client_closed());
        }
        let mut task = AbortOnDrop(self.spawn(future));
        match (&mut task.0).await {
            Ok(Some(output)) => Ok(output),
            Err(e) if e.is_panic() => Err(Error::client_error("the operation panicked; this is a bug of the client")),
            Ok(None) | Err(_) => Err(Error::client_closed()),
        }
    }

    /// Spawns a future on the control thread. It is dropped, and gives `None`, when the cluster is
    /// closed.
    pub(crate) fn spawn<F>(&self, future: F) -> tokio::task::JoinHandle<Option<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let (mut stage, task) = (self.shared.stage.subscribe(), Arc::clone(&self.shared.tasks));
        self.runtime.spawn(async move {
            let output = tokio::select! {
                biased;
                () = reached(&mut stage, Stage::Ending) => None,
                output = future => Some(output),
            };
            // The future has been dropped.
            drop(task);
            output
        })
    }

    /// Runs a future to its end on this thread, with the control thread's reactor: for blocking callers. May be called
    /// on any thread but the control thread itself.
    ///
    /// # Errors
    /// `ClientClosed` (also when it is closed meanwhile), or `Client` on the control thread.
    pub fn block_on<F: Future>(&self, future: F) -> Result<F::Output> {
        check_may_wait(self.control)?;
        let _visit = Visit::enter(&self.shared);
        let mut stage = self.shared.stage.subscribe();
        let _context = self.runtime.enter();
        connect::block_on(async {
            tokio::select! {
                biased;
                () = reached(&mut stage, Stage::Closing) => Err(Error::client_closed()),
                output = future => Ok(output),
            }
        })
    }

    /// Whether [`close`](Self::close) was called.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.closing.load(Ordering::Acquire)
    }

    /// Waits until the cluster is being closed.
    pub async fn closing(&self) {
        reached(&mut self.shared.stage.subscribe(), Stage::Closing).await;
    }

    /// Closes aerospike-core's client, and ends all that runs for this cluster on the control thread. Operations under way
    /// there fail with `ClientClosed`. A second call only waits.
    pub async fn close(&self) {
        let mut stage = self.shared.stage.subscribe();
        self.begin_close();
        if check_may_wait(self.control).is_ok() {
            reached(&mut stage, Stage::Closed).await;
        }
    }

    /// [`close`](Self::close) for threads: blocks the calling one, unless it is the control thread.
    pub fn close_blocking(&self) {
        connect::block_on(self.close());
    }

    /// Begins to [`close`](Self::close): from here on operations fail with `ClientClosed`.
    pub(crate) fn begin_close(&self) {
        self.shared.closing.store(true, Ordering::Release);
        self.shared.stage.send_if_modified(|stage| {
            let open = *stage == Stage::Open;
            if open {
                *stage = Stage::Closing;
            }
            open
        });
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let topology = self.topology();
        f.debug_struct("Cluster")
            .field("stage", &*self.shared.stage.borrow())
            .field("version", &topology.version())
            .field("nodes", &topology.active_nodes().map(|node| node.label()).collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.begin_close();
    }
}

/// A lane's view of the topology; see [`Cluster::topology_view`].
#[derive(Debug, Clone)]
pub struct TopologyView(Cache<Arc<ArcSwap<Topology>>, Arc<Topology>>);

impl TopologyView {
    /// The present snapshot.
    pub fn current(&mut self) -> &Arc<Topology> {
        self.0.load()
    }
}

/// Cancels its task when dropped.
struct AbortOnDrop<T>(tokio::task::JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Keeps the runtime alive while a thread uses its reactor.
struct Visit<'a>(&'a AtomicUsize);

impl<'a> Visit<'a> {
    fn enter(shared: &'a Shared) -> Self {
        shared.visitors.fetch_add(1, Ordering::SeqCst);
        Self(&shared.visitors)
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests;
