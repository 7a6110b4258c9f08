//! The async client.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use aerospike_core::{BatchPolicy, Bin, Bins, ClientPolicy, Key, ReadPolicy, Record, ToHosts, WritePolicy};

use super::batch::{Delegated, async_batch_methods, batch_needs_core, on_lane};
use super::commands::{Apply, Command, Delete, Exists, Get, Operate, Touch, Write};
use super::core_methods::prelude::*;
use super::core_methods::{core_methods, of_change, on_core, stream_methods};
use super::execute::execute;
use super::lanes::Lanes;
use super::methods::single_record_methods;
use super::query::IdleStreams;
use crate::batch::{BatchOperation, BatchRecord};
use crate::cluster::{Cluster, Subscription};
use crate::command::encode::WriteKind;
use crate::command::operations_need_core;
use crate::config::ClientConfig;
use crate::driver::blocking::Pools;
use crate::driver::host::Hosts;
use crate::driver::lane_ref::LaneRef;
use crate::dynamic;
use crate::error::{Error, Result};
use crate::operations::{Operation, to_core};

/// What a client shares with its clones and with the clients of other types that are made from it.
pub(crate) struct Shared {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) lanes: Arc<Lanes>,
    /// The connections of the blocking client.
    pub(crate) pools: Arc<Pools>,
    /// Connections for queries.
    pub(crate) queries: Arc<IdleStreams>,
    /// The lanes of foreign event loops.
    pub(crate) hosts: Arc<Hosts>,
    /// Tells the lanes of nodes that leave or come back.
    _following: Subscription,
}

impl Shared {
    pub(crate) fn new(cluster: Arc<Cluster>, config: &ClientConfig) -> Arc<Self> {
        let lanes = Arc::new(Lanes::new(&cluster, config));
        let queries = Arc::new(IdleStreams::default());
        let hosts = Hosts::new(lanes.sizing().clone(), cluster.idle_timeout());
        let pools = super::sync::pools(&cluster, config, &queries, (&lanes, &hosts));
        let follower = Arc::downgrade(&lanes);
        let following = cluster.on_change(move |topology| {
            if let Some(lanes) = follower.upgrade() {
                lanes.follow(topology);
            }
        });
        Arc::new(Self { cluster, lanes, pools, queries, hosts, _following: following })
    }

    /// # Errors
    /// `ClientClosed`.
    pub(crate) fn check_open(&self) -> Result<()> {
        if self.cluster.is_closed() { Err(Error::client_closed()) } else { Ok(()) }
    }

    /// Ends everything on our own connections; the cluster is still to be closed.
    pub(crate) fn close_data_paths(&self) {
        self.cluster.begin_close();
        self.pools.close();
        self.lanes.close();
        self.queries.close();
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The rest is closed on the control thread. Nothing here may wait: the last clone is dropped anywhere.
        self.close_data_paths();
    }
}

/// A client for a cluster, to be used from async code on any tokio runtime. Cheap to clone; the last clone that is
/// dropped closes everything, in the background: dropping never blocks.
///
/// Types and method names are those of `aerospike_core::Client`.
#[derive(Clone)]
pub struct Client {
    pub(crate) shared: Arc<Shared>,
}

impl Client {
    /// Connects to the cluster that the seeds belong to, with the default pool.
    pub async fn new(policy: &ClientPolicy, hosts: &(dyn ToHosts + Send + Sync)) -> Result<Self> {
        Self::with_config(ClientConfig::from(policy.clone()), hosts).await
    }

    /// Connects to the cluster that the seeds belong to.
    pub async fn with_config(config: ClientConfig, hosts: &(dyn ToHosts + Send + Sync)) -> Result<Self> {
        config.validate()?;
        let (config, file) = if dynamic::follows(&config) {
            Cluster::aside(move || dynamic::at_connect(config)).await?
        } else {
            dynamic::at_connect(config)
        };
        let cluster = Cluster::connect(&config.policy, hosts).await?;
        cluster.watch().set(&config);
        cluster.follow(file);
        let shared = Shared::new(cluster, &config);
        // The first look for a lane makes those of this runtime, and warms them.
        shared.lanes.caller_lane()?;
        Ok(Self { shared })
    }

    single_record_methods! { (async) (.await) }
    core_methods! { (async) (.await) }
    stream_methods! {}
    async_batch_methods! { |client| &*client.shared.lanes.caller_lane()? }

    /// The client of aerospike-core beneath, for all that has no method here.
    #[must_use]
    pub fn core(&self) -> &aerospike_core::Client {
        self.shared.cluster.core()
    }

    #[expect(clippy::manual_async_fn, reason = "holds its argument once; see `execute`")]
    fn run<C: Command>(&self, command: C) -> impl Future<Output = Result<C::Output>> {
        async move {
            let lane = self.shared.lanes.caller_lane()?;
            execute(&self.shared.cluster, &lane, command).await
        }
    }

    fn in_txn<C: Command>(&self, command: C) -> impl Future<Output = Result<C::Output>> {
        Box::pin(txn::run(&self.shared, command))
    }

    async fn own_call<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        Box::pin(call).await
    }

    /// On the heap: futures of aerospike-core have up to 30 KB, which those of all callers would carry along.
    fn core_call<T>(&self, call: impl Future<Output = aerospike_core::Result<T>>) -> impl Future<Output = Result<T>> {
        on_core(&self.shared.cluster, Box::pin(call))
    }

    /// [`core_call`](Self::core_call) of a call that changes something.
    fn core_change<T>(&self, call: impl Future<Output = aerospike_core::Result<T>>) -> impl Future<Output = Result<T>> {
        let call = self.core_call(call);
        async move { call.await.map_err(of_change) }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}
