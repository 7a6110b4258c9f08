//! The blocking client.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Weak;
use std::time::Duration;

use aerospike_core::query::RecordStream;
use aerospike_core::{BatchPolicy, Bin, Bins, ClientPolicy, ReadPolicy, ToHosts};
use futures_core::Stream;

use super::asynchronous::{Client, Shared};
use super::attempts::{Attempt, Attempts};
use super::batch::{Delegated, batch_needs_core, on_pools};
use super::commands::{Apply, Command, Delete, Exists, Get, Operate, Touch, Write};
use super::core_methods::prelude::*;
use super::core_methods::{core_methods, of_change, of_core};
use super::execute::{on_thread, subject};
use super::lanes::Lanes;
use super::methods::single_record_methods;
use super::query::IdleStreams;
use super::query::plan::{check_servers, check_statement};
use crate::batch::{BatchOperation, BatchRecord};
use crate::clock;
use crate::cluster::{Cluster, every};
use crate::command::encode::WriteKind;
use crate::command::operations_need_core;
use crate::config::ClientConfig;
use crate::connect::BlockingStream;
use crate::driver::blocking::{BlockingOpener, Interrupt, Job, Pools, with_request};
use crate::driver::host::Hosts;
use crate::driver::tasks::ExchangeError;
use crate::dynamic;
use crate::error::{Error, Phase};
use crate::metrics::Metrics;
use crate::operations::{Operation, to_core};
use crate::task::Task;
use crate::topology::{NodeId, NodeInfo};

/// A client for code without async: each call blocks its thread until the answer is there.
///
/// The calling thread itself does the I/O, on a connection that stays with it from call to call. Use one client for
/// all threads; cloning is cheap, and the last clone that is dropped closes everything. There are at most
/// [`PoolSizing::max`](crate::PoolSizing::max) connections per node; when all are in use, calls wait in line for one
/// until their deadline.
///
/// Do not call it on a thread of an async runtime, whose tasks would stand still meanwhile: use [`Client`] there.
///
/// ```no_run
/// use aerolane::SyncClient;
/// use aerospike_core::{Bins, ClientPolicy, ReadPolicy, WritePolicy, as_bin, as_key};
///
/// # fn main() -> aerolane::Result<()> {
/// let client = SyncClient::new(&ClientPolicy::default(), &"127.0.0.1:3000")?;
/// let key = as_key!("test", "demo", "alice");
/// client.put(&WritePolicy::default(), &key, &[as_bin!("visits", 1)])?;
/// let record = client.get(&ReadPolicy::default(), &key, Bins::All)?;
/// println!("{:?}", record.bins);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SyncClient {
    pub(crate) shared: Arc<Shared>,
}

impl SyncClient {
    /// Connects to the cluster that the seeds belong to, with the default pool.
    pub fn new(policy: &ClientPolicy, hosts: &(dyn ToHosts + Send + Sync)) -> Result<Self> {
        Self::with_config(ClientConfig::from(policy.clone()), hosts)
    }

    /// Connects to the cluster that the seeds belong to.
    #[allow(clippy::needless_pass_by_value)] // as `Client::with_config`
    pub fn with_config(config: ClientConfig, hosts: &(dyn ToHosts + Send + Sync)) -> Result<Self> {
        config.validate()?;
        let (config, file) = dynamic::at_connect(config);
        let cluster = Cluster::connect_blocking(&config.policy, hosts)?;
        cluster.watch().set(&config);
        cluster.follow(file);
        let shared = Shared::new(cluster, &config);
        for node in shared.cluster.topology().active_nodes() {
            shared.pools.warm(node);
        }
        Ok(Self { shared })
    }

    single_record_methods! { () () }
    core_methods! { () () }

    /// Reads, writes and deletes many records, each row with its own outcome.
    ///
    /// The requests of all nodes are written before the first answer is read
    /// ([`Concurrency::Sequential`](aerospike_core::Concurrency): node by node), those of a large batch part by part: at most
    /// 1,000 rows and about 1 MiB each, four in flight per node. The default `total_timeout` (1,000 ms) is 1 s for each
    /// started 5,000 rows or 8 MiB of requests; others hold as they are. A failing row (no such record,
    /// filtered out, a wrong generation) fails alone: look at [`BatchOperation::error`]. `Err` is the first failure of a
    /// whole request after its retries; its rows carry it too, and rows of other nodes keep their outcomes. An argument
    /// that cannot be sent fails the whole call before anything is sent.
    ///
    /// For batches with writes use [`BatchPolicy::write_default`], which does not retry.
    pub fn batch(&self, policy: &BatchPolicy, rows: &mut [BatchOperation]) -> Result<()> {
        let needs_core = batch_needs_core(policy, rows)?;
        if policy.base_policy.txn.is_some() {
            return self.shared.cluster.block_on(txn::batch(&self.shared, policy, rows))??;
        }
        if needs_core {
            let overlaid = self.shared.cluster.overlay().batch(policy);
            let policy = overlaid.as_deref().unwrap_or(policy);
            let mut delegated = Delegated::new(rows, self.shared.cluster.overlay().rows())?;
            let result = self.core_call(self.core().batch(policy, delegated.core_rows()));
            return delegated.finish(result);
        }
        on_pools(&self.shared.cluster, &self.shared.pools, policy, rows, Interrupt::default(), None)
    }

    /// [`batch`](Self::batch) that tells `on_row` of each row (its place in `rows`, its outcome) as the answers arrive,
    /// each row once. `false` ends the batch: rows that were not answered stay pending, and `Ok` is returned.
    pub fn batch_foreach(
        &self,
        policy: &BatchPolicy,
        rows: &mut [BatchOperation],
        mut on_row: impl FnMut(usize, &BatchRecord) -> bool,
    ) -> Result<()> {
        if batch_needs_core(policy, rows)? || policy.base_policy.txn.is_some() {
            let result = self.batch(policy, rows);
            let heard = rows.iter().enumerate().all(|(index, row)| on_row(index, row.batch_record()));
            return if heard { result } else { Ok(()) };
        }
        let mut on_row = |index: usize, rows: &[BatchOperation]| on_row(index, rows[index].batch_record());
        on_pools(&self.shared.cluster, &self.shared.pools, policy, rows, Interrupt::default(), Some(&mut on_row))
    }

    /// Reads the records that a statement selects: a scan without a filter, a query with one.
    pub fn query(
        &self,
        policy: &QueryPolicy,
        partition_filter: PartitionFilter,
        statement: Statement,
    ) -> Result<Records> {
        txn::refuse(&policy.base_policy, "a query")?;
        let overlaid = self.shared.cluster.overlay().query(policy);
        let policy = overlaid.as_deref().unwrap_or(policy);
        let statement = statement.into_core()?;
        let recordset = self.core_call(self.core().query(policy, partition_filter, statement))?;
        Ok(Records { stream: recordset.into_stream(), client: self.clone() })
    }

    /// [`query`](Self::query) by a plan of [`query_explain`](Self::query_explain); see
    /// [`Client::query_with_plan`](super::Client::query_with_plan).
    pub fn query_with_plan(
        &self,
        policy: &QueryPolicy,
        partition_filter: PartitionFilter,
        statement: Statement,
        plan: QueryPlan,
    ) -> Result<Records> {
        check_statement(policy, &statement, &plan)?;
        check_servers(&self.nodes())?;
        let overlaid = self.shared.cluster.overlay().query(policy);
        let policy = overlaid.as_deref().unwrap_or(policy);
        let statement = statement.into_core()?;
        let recordset = self.core_call(self.core().query_with_plan(policy, partition_filter, statement, plan))?;
        Ok(Records { stream: recordset.into_stream(), client: self.clone() })
    }

    /// [`query`](Self::query) with a callback per record, called on this thread. `false` ends the query.
    pub fn query_foreach(
        &self,
        policy: &QueryPolicy,
        partition_filter: PartitionFilter,
        statement: Statement,
        mut callback: impl FnMut(Result<Record>) -> bool,
    ) -> Result<()> {
        let mut records = self.query(policy, partition_filter, statement)?;
        if !records.all(&mut callback) {
            records.close();
        }
        Ok(())
    }

    /// Waits until a task (of an index, a UDF, a background query) has come to its end on all nodes, for at most
    /// `timeout`.
    ///
    /// # Errors
    /// `Timeout` when it takes longer.
    pub fn wait_for(&self, task: &impl Task, timeout: Option<Duration>) -> Result<()> {
        self.core_call(task.as_core().wait_till_complete(timeout)).map(drop)
    }

    /// Closes the client and all its clones: connections end, threads that are blocked in calls are woken, and these
    /// calls and later ones fail with `ClientClosed`.
    pub fn close(&self) -> Result<()> {
        self.shared.close_data_paths();
        self.shared.cluster.close_blocking();
        Ok(())
    }

    /// The client of aerospike-core beneath, for all that has no method here. Its futures are to be given to
    /// [`block_on`](Self::block_on).
    #[must_use]
    pub fn core(&self) -> &aerospike_core::Client {
        self.shared.cluster.core()
    }

    /// Blocks until a future of aerospike-core is ready.
    ///
    /// # Errors
    /// `ClientClosed`, also when the client is closed meanwhile.
    pub fn block_on<F: Future>(&self, future: F) -> Result<F::Output> {
        self.shared.cluster.block_on(future)
    }

    #[allow(clippy::needless_pass_by_value)] // as the async clients' `run`
    pub(super) fn run<C: Command>(&self, command: C) -> Result<C::Output> {
        let Shared { cluster, pools, .. } = &*self.shared;
        let now = clock::now();
        let partition = aerolane_wire::digest::partition_id(&command.key().digest());
        let what = (command.kind(), command.writes());
        let attempts = Attempts::new(cluster, command.base(), subject(command.key()), what, now);
        #[cfg(feature = "tracing")]
        let _span = cluster
            .watch()
            .has_spans()
            .then(|| super::span::of(command.kind(), subject(command.key()), None).entered());
        let timeout_ms = attempts.server_timeout_ms();
        let (reads, interrupt) = (!command.writes(), Interrupt::default());
        on_thread(cluster, attempts, (partition, now), interrupt, |Attempt { node, deadline, metric_key }, now| {
            with_request(
                |out| command.encode(timeout_ms, out),
                |request| {
                    let job = Job { request, now, deadline, reads, metric_key, interrupt };
                    pools.exchange(node, job, |body| command.decode(body, node.label()))
                },
            )
            .map_err(ExchangeError::Encode)?
        })
    }

    #[allow(clippy::needless_pass_by_value)] // as `run`
    fn in_txn<C: Command>(&self, command: C) -> Result<C::Output> {
        self.shared.cluster.block_on(txn::run(&self.shared, command))?
    }

    fn own_call<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        self.shared.cluster.block_on(call)?
    }

    pub(super) fn core_call<T>(&self, call: impl Future<Output = aerospike_core::Result<T>>) -> Result<T> {
        self.shared.check_open()?;
        let begun = clock::now();
        let outcome = self.shared.cluster.block_on(call).map_err(|error| error.with_phase(Phase::Sent))?;
        outcome.map_err(|error| of_core(&error, begun.elapsed()))
    }

    /// [`core_call`](Self::core_call) of a call that changes something.
    fn core_change<T>(&self, call: impl Future<Output = aerospike_core::Result<T>>) -> Result<T> {
        self.core_call(call).map_err(of_change)
    }
}

/// The records of a [`SyncClient::query`], as an iterator that blocks.
///
/// A failure of a node's stream is an item of its own; further ones may follow it. Dropping the iterator ends the
/// query.
pub struct Records {
    stream: RecordStream,
    client: SyncClient,
}

impl Records {
    /// Ends the query. Records that have arrived already can still be read.
    pub fn close(&self) {
        self.stream.as_ref().close();
    }

    /// Where to go on with another query; `None` while this one runs.
    #[must_use]
    pub fn partition_filter(&self) -> Option<PartitionFilter> {
        self.stream.partition_filter()
    }
}

impl Iterator for Records {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Result<Record>> {
        let stream = &mut self.stream;
        let next = std::future::poll_fn(|cx| Pin::new(&mut *stream).poll_next(cx));
        match self.client.shared.cluster.block_on(next) {
            Ok(record) => Some(record?.map_err(Error::from)),
            Err(closed) => {
                // Said once, then the records are at their end.
                let first = self.stream.as_ref().is_active();
                self.close();
                first.then_some(Err(closed))
            }
        }
    }
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").field("active", &self.stream.as_ref().is_active()).finish_non_exhaustive()
    }
}

impl From<&Client> for SyncClient {
    /// A blocking client for the same cluster; it is closed together with the async one.
    fn from(client: &Client) -> Self {
        Self { shared: Arc::clone(&client.shared) }
    }
}

impl From<&SyncClient> for Client {
    /// An async client for the same cluster; it is closed together with the blocking one.
    fn from(client: &SyncClient) -> Self {
        Self { shared: Arc::clone(&client.shared) }
    }
}

impl Client {
    /// A blocking client for the same cluster, for threads beside the async code. It shares discovery and is closed
    /// together with this one; its connections are its own.
    #[must_use]
    pub fn sync(&self) -> SyncClient {
        SyncClient::from(self)
    }
}

impl fmt::Debug for SyncClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncClient").finish_non_exhaustive()
    }
}

/// The pools of a client, and the task that looks after them and all other connections that may be idle.
pub(super) fn pools(
    cluster: &Arc<Cluster>,
    config: &ClientConfig,
    queries: &Arc<IdleStreams>,
    (lanes, hosts): (&Arc<Lanes>, &Arc<Hosts>),
) -> Arc<Pools> {
    let pools = Arc::new(Pools::new(Box::new(Opener(Arc::downgrade(cluster))), config.pool_sizing()));
    let connections = (Arc::downgrade(&pools), Arc::downgrade(queries));
    let drivers = (Arc::downgrade(lanes), Arc::downgrade(hosts));
    cluster.spawn(look_after(connections, drivers, Arc::downgrade(cluster)));
    pools
}

/// Opens connections without keeping a closed client alive.
struct Opener(Weak<Cluster>);

impl BlockingOpener for Opener {
    fn open(&self, node: &NodeInfo, timeout: Option<Duration>) -> Result<BlockingStream> {
        let cluster = self.0.upgrade().ok_or_else(Error::client_closed)?;
        let connector = cluster.connector();
        let limit = connector.connect_timeout() + connector.login_timeout();
        connector.open_blocking(node, timeout.map_or(limit, |timeout| timeout.min(limit)))
    }

    fn metrics(&self) -> Option<Arc<Metrics>> {
        self.0.upgrade().map(|cluster| Arc::clone(cluster.metrics()))
    }

    fn lost(&self, _node: NodeId) {
        if let Some(cluster) = self.0.upgrade() {
            cluster.request_refresh();
        }
    }
}

/// Closes idle connections and those of nodes that are gone, as long as the client lives. Lanes do that themselves, and are
/// told when what counts as idle has changed.
async fn look_after(
    (pools, queries): (Weak<Pools>, Weak<IdleStreams>),
    (lanes, hosts): (Weak<Lanes>, Weak<Hosts>),
    cluster: Weak<Cluster>,
) {
    const EVERY: Duration = Duration::from_secs(1);
    /// Before a server with its former default (`proto-fd-idle-ms` of 60 s) does.
    const IDLE: Duration = Duration::from_secs(55);
    let mut looks = every(EVERY);
    loop {
        looks.tick().await;
        let (Some(pools), Some(cluster)) = (pools.upgrade(), cluster.upgrade()) else { return };
        if pools.is_closed() {
            return;
        }
        let topology = cluster.topology();
        let millis = cluster.idle_timeout();
        let idle = if millis > 0 { Duration::from_millis(millis.into()) } else { IDLE };
        pools.trim(Some(idle), |node| topology.is_active(node));
        if let Some(queries) = queries.upgrade() {
            queries.trim(idle, |node| topology.is_active(node));
        }
        if let Some(lanes) = lanes.upgrade() {
            lanes.set_idle_timeout(millis);
        }
        if let Some(hosts) = hosts.upgrade() {
            hosts.set_idle_timeout(millis);
        }
    }
}
