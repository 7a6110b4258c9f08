//! Calls whose request the caller has encoded and whose answer the caller decodes: what language bindings stand on.
//!
//! Everything else is as with the other clients: routing, pools and lanes, deadlines, retries, errors. Three ways:
//!
//! * [`RawClient::call_blocking`]: the calling thread does it all
//! * [`RawClient::begin`]: the first attempt goes over a lane of a foreign event loop ([`RawClient::host_driver`]);
//!   what comes after it, rare and slow by nature, through [`RawClient::finish`] or, as a future that the loop polls,
//!   [`RawClient::resume_on`]. So do batches ([`RawClient::batch_on`])
//! * [`RawClient::resume`] from the start: on the control plane's runtime, for loops that cannot watch sockets

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use aerospike_core::metrics::CommandType;
use aerospike_core::{BasePolicy, BatchPolicy, ToHosts};

use super::asynchronous::{Client, Shared};
use super::attempts::{Attempt, Attempts, Next, Subject};
use super::batch::{self, RawBatch, RawKey, RawOutcome, on_pools};
use super::execute::{known, on_lane, on_thread, wait};
use super::sync::SyncClient;
use super::txn::{self, RecordId};
use super::watch::Ended;
use crate::clock;
use crate::cluster::Cluster;
use crate::command::compress::with_plain_body;
use crate::command::decode;
use crate::config::ClientConfig;
use crate::driver::blocking::{Interrupt, Job};
use crate::driver::fork::DeadSocket;
use crate::driver::host::{HostDriver, HostHandle};
use crate::driver::lane_ref::LaneRef;
use crate::dynamic::{self, Overlay};
use crate::error::{Error, Result};
use crate::lane::{Failure, Full};
use crate::metrics::{MetricKey, Stamp, is_compressed};
use crate::sync::Mutex;
use crate::topology::{NodeId, NodeInfo, Route};

/// What the client must know of a request about one record.
#[derive(Debug, Clone, Copy)]
pub struct RawCall<'a> {
    /// Name of the namespace.
    pub namespace: &'a str,
    /// Name of the set, for logs; empty: the null set, or not known.
    pub set: &'a str,
    /// Partition of the key, 0 to 4095.
    pub partition: u16,
    /// What it is counted as in [metrics](crate::metrics). `Get` will do for all reads of bins: those of the header only
    /// are told from their requests.
    pub kind: CommandType,
    /// Whether it can change the record: it goes to the master and can be in doubt.
    pub writes: bool,
    /// Whether "there is no such record" is an answer like others (`exists`, `delete`) and no error.
    pub may_be_missing: bool,
}

impl<'a> RawCall<'a> {
    const fn what(&self) -> (CommandType, bool) {
        (self.kind, self.writes)
    }

    const fn subject(&self) -> Subject<'a> {
        Subject { namespace: self.namespace, set: self.set }
    }

    /// Gives the message in an answer (the body of a frame) to `take`, unless it says that the request failed.
    ///
    /// # Errors
    /// The server's result code as an error, or that the answer is malformed.
    pub fn accept<R>(&self, answer: &[u8], node: &NodeInfo, take: impl FnOnce(&[u8]) -> R) -> Result<R> {
        self.accept_from(answer, || Ok(Arc::clone(node.label())), take)
    }

    /// [`accept`](Self::accept) that asks for the node's name when there is an error to name it.
    fn accept_from<R>(
        &self,
        answer: &[u8],
        node: impl FnOnce() -> Result<Arc<str>>,
        take: impl FnOnce(&[u8]) -> R,
    ) -> Result<R> {
        with_plain_body(answer, |body| {
            decode::found(body, !self.may_be_missing, node)?;
            Ok(take(body))
        })
    }
}

/// An attempt that was begun, and what later ones have to know of it.
#[derive(Debug, Clone)]
pub struct RawAttempt {
    /// Not the node itself: several loops would count references to it all the time.
    node: NodeId,
    deadline: Option<Instant>,
    started: Instant,
    route: Route,
    metric_key: MetricKey,
    stamp: Stamp,
}

impl RawAttempt {
    /// The number of the node that the request goes to, as lanes take it.
    #[must_use]
    pub const fn node_id(&self) -> NodeId {
        self.node
    }

    /// For an answer that is to be measured; `request` is that of the call. For
    /// [`HostDriver::submit_stamped`].
    #[must_use]
    #[inline]
    pub fn stamp(&self, request: &[u8]) -> Stamp {
        if self.stamp.is_none() { Stamp::NONE } else { self.stamp.of_read(request) }
    }

    /// When this attempt is to end; for [`HostDriver::deadline`].
    #[must_use]
    pub const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
}

/// Why an attempt has failed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RawFailure {
    /// The server said so, or its answer could not be understood: an error of [`RawCall::accept`].
    Answered(Error),
    /// No answer came.
    Lost(Failure),
    /// The request was not taken: the pool is full and not to wait.
    Refused(Error),
}

/// A client for requests that the caller encodes. Cheap to clone; shares everything with the clients that it is made
/// from or into.
#[derive(Clone)]
pub struct RawClient {
    pub(crate) shared: Arc<Shared>,
}

impl RawClient {
    /// Connects to the cluster that the seeds belong to. No connections are opened ahead of use.
    pub fn connect_blocking(config: &ClientConfig, hosts: &(dyn ToHosts + Send + Sync)) -> Result<Self> {
        config.validate()?;
        let (config, file) = dynamic::at_connect(config.clone());
        let cluster = Cluster::connect_blocking(&config.policy, hosts)?;
        cluster.watch().set(&config);
        cluster.follow(file);
        Ok(Self { shared: Shared::new(cluster, &config) })
    }

    /// The async client of the same cluster.
    #[must_use]
    pub fn asynchronous(&self) -> Client {
        Client { shared: Arc::clone(&self.shared) }
    }

    /// The blocking client of the same cluster.
    #[must_use]
    pub fn sync(&self) -> SyncClient {
        SyncClient { shared: Arc::clone(&self.shared) }
    }

    /// What goes over the policies of calls: to be asked before a request is encoded. Batches, queries and the ends of
    /// transactions ask it themselves.
    #[must_use]
    #[inline]
    pub fn overlay(&self) -> &Overlay {
        self.shared.cluster.overlay()
    }

    /// The control plane of the cluster.
    #[must_use]
    pub fn cluster(&self) -> &Arc<Cluster> {
        &self.shared.cluster
    }

    /// Runs a future on the control plane's runtime. Aborting the handle drops it.
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> tokio::task::AbortHandle {
        self.shared.cluster.spawn(future).abort_handle()
    }

    /// Carries out a call, all attempts of it, on this thread. `request` is one whole frame, encoded with
    /// [`server_timeout_ms`](crate::command::policy::server_timeout_ms) of the same policy.
    pub fn call_blocking<R>(
        &self,
        policy: &BasePolicy,
        call: RawCall<'_>,
        request: &[u8],
        take: impl FnMut(&[u8]) -> R,
    ) -> Result<R> {
        self.call_here(policy, call, request, Interrupt::default(), take)
    }

    /// [`call_blocking`](Self::call_blocking) that asks `interrupted` whether to go on: whenever a signal ends a system
    /// call that it waits in, and after about 50 ms in which nothing came. For threads that have signals to look
    /// after; it adds no system call to a call that is answered sooner. A connection that is being opened is waited
    /// for without asking.
    ///
    /// # Errors
    /// As `call_blocking`; `Interrupted` once `interrupted` has said true, which it is then not asked again. What was
    /// sent may still be executed: then the error of a write is in doubt.
    pub fn call_interruptible<R>(
        &self,
        policy: &BasePolicy,
        call: RawCall<'_>,
        request: &[u8],
        interrupted: &dyn Fn() -> bool,
        take: impl FnMut(&[u8]) -> R,
    ) -> Result<R> {
        self.call_here(policy, call, request, Interrupt::by(interrupted), take)
    }

    fn call_here<R>(
        &self,
        policy: &BasePolicy,
        call: RawCall<'_>,
        request: &[u8],
        interrupt: Interrupt<'_>,
        mut take: impl FnMut(&[u8]) -> R,
    ) -> Result<R> {
        let Shared { cluster, pools, .. } = &*self.shared;
        let now = clock::now();
        let attempts = Attempts::new(cluster, policy, call.subject(), call.what(), now);
        on_thread(cluster, attempts, (call.partition, now), interrupt, |Attempt { node, deadline, metric_key }, now| {
            let metric_key = if metric_key.is_none() { metric_key } else { metric_key.of_read(request) };
            let job = Job { request, now, deadline, reads: !call.writes, metric_key, interrupt };
            pools.exchange(node, job, |body| call.accept(body, node, &mut take))
        })
    }

    /// Carries out a batch on this thread; see [`SyncClient::batch`]. `interrupted` is asked as in
    /// [`call_interruptible`](Self::call_interruptible), if there is one.
    ///
    /// # Errors
    /// As [`SyncClient::batch`]; `Interrupted` once `interrupted` has said true: rows that were answered before keep
    /// their outcomes.
    pub fn batch_blocking<K: RawKey>(
        &self,
        policy: &BatchPolicy,
        rows: &mut RawBatch<K>,
        interrupted: Option<&dyn Fn() -> bool>,
    ) -> Result<()> {
        let Shared { cluster, pools, .. } = &*self.shared;
        let interrupt = interrupted.map_or_else(Interrupt::default, Interrupt::by);
        on_pools(cluster, pools, policy, rows, interrupt, None)
    }

    /// Carries out a batch on the control plane's runtime, which it must be spawned on; see [`Client::batch`]. The rows
    /// come back with their outcomes, whatever the result.
    pub async fn batch<K>(&self, policy: Arc<BatchPolicy>, mut rows: RawBatch<K>) -> (RawBatch<K>, Result<()>)
    where
        K: RawKey + Send + Sync + 'static,
    {
        let result = match self.shared.lanes.caller_lane() {
            Ok(lane) => self.batch_over(LaneRef::Tasks(&lane), &policy, &mut rows).await,
            Err(error) => Err(error),
        };
        (rows, result)
    }

    /// Carries a batch out on the control plane's runtime, which it must be spawned on. `on_row` hears of each row (its place,
    /// its outcome) as the answers arrive, each row once; `false` ends the batch, and rows that were not answered stay pending.
    ///
    /// # Errors
    /// As [`batch`](Self::batch).
    pub async fn batch_telling<K>(
        &self,
        policy: &BatchPolicy,
        rows: &mut RawBatch<K>,
        on_row: impl FnMut(usize, RawOutcome<'_>) -> bool + Send,
    ) -> Result<()>
    where
        K: RawKey + Send + Sync + 'static,
    {
        let lane = self.shared.lanes.caller_lane()?;
        let on_row = Mutex::new(on_row);
        let told = |row: usize, rows: &RawBatch<K>| std::future::ready((*on_row.lock())(row, rows.outcome(row)));
        batch::on_lane(&self.shared.cluster, LaneRef::Tasks(&lane), policy, rows, Some(told)).await
    }

    /// [`batch`](Self::batch) over the lane of a foreign event loop, on whose thread the future is polled.
    pub async fn batch_on<K>(
        &self,
        host: &HostHandle,
        policy: Arc<BatchPolicy>,
        mut rows: RawBatch<K>,
    ) -> (RawBatch<K>, Result<()>)
    where
        K: RawKey + Send + Sync + 'static,
    {
        let result = self.batch_over(LaneRef::Host(host), &policy, &mut rows).await;
        (rows, result)
    }

    async fn batch_over<K>(&self, lane: LaneRef<'_>, policy: &BatchPolicy, rows: &mut RawBatch<K>) -> Result<()>
    where
        K: RawKey + Send + Sync + 'static,
    {
        let nobody = None::<fn(usize, &RawBatch<K>) -> std::future::Ready<bool>>;
        batch::on_lane(&self.shared.cluster, lane, policy, rows, nobody).await
    }

    /// A call of the transaction that its policy names; `set` and `digest` are those of its record. Gives the message of
    /// the answer.
    ///
    /// The future is for any runtime, or for [`Cluster::block_on`]. When it is dropped before its end, a write is in doubt,
    /// and the end of the transaction looks after it.
    pub async fn call_in_txn(
        &self,
        policy: &BasePolicy,
        call: RawCall<'_>,
        record: RecordId<'_>,
        request: &[u8],
    ) -> Result<Vec<u8>> {
        self.shared.check_open()?;
        let accept = |body: &[u8], node: &NodeInfo| call.accept(body, node, <[u8]>::to_vec);
        txn::call(&self.shared, policy, record, call.writes, request, accept).await
    }

    /// A batch of the transaction that its policy names; else as [`batch`](Self::batch).
    ///
    /// # Errors
    /// The outer one: no row was sent. The inner one: as [`batch`](Self::batch).
    pub async fn batch_in_txn<K>(&self, policy: &BatchPolicy, rows: &mut RawBatch<K>) -> Result<Result<()>>
    where
        K: RawKey + Send + Sync + 'static,
    {
        self.shared.check_open()?;
        txn::batch(&self.shared, policy, rows).await
    }

    /// Where the first attempt of a call goes. `None`: something stands in the way (an unknown namespace, a node that
    /// is not to be bothered now, a client that is closed, which lanes may not have heard yet); [`resume`](Self::resume) finds out what, and waits where that helps.
    #[must_use]
    pub fn begin(&self, policy: &BasePolicy, call: RawCall<'_>, now: Instant) -> Option<RawAttempt> {
        let mut attempts = Attempts::new(&self.shared.cluster, policy, call.subject(), call.what(), now);
        let topology = self.shared.cluster.snapshot();
        let Attempt { node, deadline, .. } = attempts.next(&topology, call.partition, now).ok()?;
        Some(RawAttempt {
            node: node.id(),
            deadline,
            started: now,
            route: attempts.route()?,
            metric_key: attempts.metric_key(),
            stamp: attempts.stamp(now),
        })
    }

    /// Gives the message in the answer to an attempt to `take`, unless it says that the request failed. What is owned stays so,
    /// unless it is compressed.
    ///
    /// # Errors
    /// As [`RawCall::accept`].
    pub fn accept<R>(
        &self,
        call: RawCall<'_>,
        attempt: &RawAttempt,
        answer: Cow<'_, [u8]>,
        take: impl FnOnce(Cow<'_, [u8]>) -> R,
    ) -> Result<R> {
        let cluster = &self.shared.cluster;
        let label = || known(&cluster.snapshot(), attempt.node).map(|node| Arc::clone(node.label()));
        let take = |body: Cow<'_, [u8]>| {
            if cluster.watch().is_on() {
                self.tell_answered(call, attempt);
            }
            take(body)
        };
        if matches!(answer, Cow::Borrowed(_)) || is_compressed(&answer) {
            return call.accept_from(&answer, label, |body| take(Cow::Borrowed(body)));
        }
        call.accept_from(&answer, label, |_| ())?;
        Ok(take(answer))
    }

    /// The call has succeeded with its first attempt.
    #[cold]
    fn tell_answered(&self, call: RawCall<'_>, attempt: &RawAttempt) {
        let cluster = &self.shared.cluster;
        cluster.watch().ended(&Ended {
            command: call.kind,
            namespace: call.namespace,
            set: call.set,
            rows: None,
            node: cluster.snapshot().node(attempt.node).map(|node| &**node.label()),
            attempts: 1,
            elapsed: clock::now().duration_since(attempt.started),
            error: None,
        });
    }

    /// The error of an attempt whose request was not taken, because the pool is full and not to wait.
    #[must_use]
    pub fn full(&self, attempt: &RawAttempt, full: Full) -> Error {
        match known(&self.shared.cluster.snapshot(), attempt.node) {
            Ok(node) => full.error(node.label()),
            Err(error) => error,
        }
    }

    /// The first attempt has failed. The error of the call, or `None` if it is to be tried again: then
    /// [`resume`](Self::resume).
    #[must_use]
    pub fn finish(
        &self,
        policy: &BasePolicy,
        call: RawCall<'_>,
        attempt: &RawAttempt,
        failure: RawFailure,
        now: Instant,
    ) -> Option<Error> {
        let cluster = &self.shared.cluster;
        let mut attempts = attempt.resume(cluster, policy, call);
        match attempts.failed_with(known(&cluster.snapshot(), attempt.node), failure, now) {
            Next::Retry(_) => None,
            Next::GiveUp(error) => Some(attempts.given_up(error)),
        }
    }

    /// Carries out a call on the control plane's runtime, from its start or from behind its first attempt, of which
    /// [`finish`](Self::finish) said that it is to be tried again. The answer is the body of a message.
    pub async fn resume(
        &self,
        policy: &BasePolicy,
        call: RawCall<'_>,
        request: &[u8],
        begun: Option<(RawAttempt, RawFailure)>,
    ) -> Result<Vec<u8>> {
        let lane = self.shared.lanes.caller_lane()?;
        self.resume_over(LaneRef::Tasks(&lane), policy, call, request, begun).await
    }

    /// [`resume`](Self::resume) over the lane of a foreign event loop, on whose thread the future is polled.
    pub async fn resume_on(
        &self,
        host: &HostHandle,
        policy: &BasePolicy,
        call: RawCall<'_>,
        request: &[u8],
        begun: Option<(RawAttempt, RawFailure)>,
    ) -> Result<Vec<u8>> {
        self.resume_over(LaneRef::Host(host), policy, call, request, begun).await
    }

    async fn resume_over(
        &self,
        lane: LaneRef<'_>,
        policy: &BasePolicy,
        call: RawCall<'_>,
        request: &[u8],
        begun: Option<(RawAttempt, RawFailure)>,
    ) -> Result<Vec<u8>> {
        let cluster = &self.shared.cluster;
        let mut now = clock::now();
        let mut attempts = match begun {
            None => Attempts::new(cluster, policy, call.subject(), call.what(), now),
            Some((attempt, failure)) => {
                let mut attempts = attempt.resume(cluster, policy, call);
                // `finish` has counted it.
                attempts.set_repeated(true);
                let next = attempts.failed_with(known(&cluster.snapshot(), attempt.node), failure, now);
                attempts.set_repeated(false);
                match next {
                    Next::GiveUp(error) => return Err(attempts.given_up(error)),
                    Next::Retry(pause) if pause.is_zero() => {}
                    Next::Retry(pause) => {
                        wait(cluster, pause).await;
                        now = clock::now();
                    }
                }
                attempts
            }
        };
        let encode = |out: &mut Vec<u8>| {
            out.extend_from_slice(request);
            Ok(())
        };
        let decode = |answer: &[u8], node: &NodeInfo| call.accept(answer, node, <[u8]>::to_vec);
        on_lane(cluster, lane, &mut attempts, (call.partition, now), encode, decode).await
    }

    /// A lane for a foreign event loop. The client's drivers share its pool, each with at least one connection per
    /// node; the minimum is opened ahead of use.
    ///
    /// `wake` is called on other threads, and on this one, when [`HostDriver::tick`] is to be called soon. It must not
    /// block, nor own the client or the driver.
    #[must_use]
    pub fn host_driver<T>(&self, wake: impl Fn() + Send + Sync + 'static) -> HostDriver<T> {
        HostDriver::new(&self.shared.cluster, &self.shared.hosts, wake)
    }

    /// Lets go of a client in a forked child, whose threads it does not have there: its connections are left to the
    /// parent, which does not notice, and everything else of it is leaked. Never blocks. What else refers to the client
    /// in the child must not be used any more (calls would fail), but may be dropped.
    ///
    /// Sockets of the control plane stay open in the child. For its drivers, see [`HostDriver::forget_after_fork`].
    pub fn forget_after_fork(self) {
        // Without descriptors for it, the child's copies stay open, too.
        if let Ok(dead) = DeadSocket::new() {
            self.shared.pools.disown(&dead);
            self.shared.lanes.disown(&dead);
        }
        // Its count never falls to 0, so nothing of it is dropped.
        std::mem::forget(self);
    }

    /// Closes the client, also for the clients that share it; see [`SyncClient::close`].
    pub fn close_blocking(&self) {
        self.shared.close_data_paths();
        self.shared.cluster.close_blocking();
    }
}

impl RawAttempt {
    fn resume<'a>(&self, cluster: &'a Cluster, policy: &'a BasePolicy, call: RawCall<'a>) -> Attempts<'a> {
        Attempts::resume(cluster, policy, call.subject(), call.what(), self.started, (self.route, self.metric_key))
    }
}

impl Attempts<'_> {
    fn failed_with(&mut self, node: Result<&Arc<NodeInfo>>, failure: RawFailure, now: Instant) -> Next {
        match (node, failure) {
            (Ok(node), RawFailure::Answered(error)) => self.answered(node, error, now),
            (Ok(node), RawFailure::Lost(failure)) => self.lost(node, failure, now),
            (Err(error), _) | (_, RawFailure::Refused(error)) => Next::GiveUp(self.refused(error, now)),
        }
    }
}

impl From<&Client> for RawClient {
    fn from(client: &Client) -> Self {
        Self { shared: Arc::clone(&client.shared) }
    }
}

impl From<&SyncClient> for RawClient {
    fn from(client: &SyncClient) -> Self {
        Self { shared: Arc::clone(&client.shared) }
    }
}

impl fmt::Debug for RawClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawClient").finish_non_exhaustive()
    }
}
