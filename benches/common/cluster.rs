//! A cluster with one record, and every client connected to it.

use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aerolane::{Client, ClientConfig, LaneRuntime, PoolSizing, SyncClient};
use aerolane_embedded::EmbeddedCluster;
use aerospike_core::{Bins, ClientPolicy, Key, ReadPolicy, Value, WritePolicy, as_bin};
use tokio::runtime::Runtime;

/// Threads of each runtime.
const THREADS: usize = 2;

/// The cluster to measure on: the one that `AEROSPIKE_HOST` names, or an embedded one in this process.
pub(crate) struct Target {
    _embedded: Option<EmbeddedCluster>,
    pub(crate) seeds: String,
    pub(crate) key: Arc<Key>,
}

impl Target {
    /// Starts or finds the cluster and writes the record.
    pub(crate) fn start() -> Self {
        let key = Arc::new(Key::new("test", "bench", Value::Int(1)).expect("integers are valid keys"));
        let (embedded, seeds) = match std::env::var("AEROSPIKE_HOST") {
            Ok(seeds) if !seeds.is_empty() => (None, seeds),
            _ => {
                let cluster = EmbeddedCluster::builder().nodes(3).namespace("test").start().expect("embedded cluster");
                let seeds = cluster.seeds();
                (Some(cluster), seeds)
            }
        };
        let client = SyncClient::new(&ClientPolicy::default(), &seeds).expect("connect");
        client.put(&WritePolicy::default(), &key, &[as_bin!("b0", 42)]).expect("put");
        Self { _embedded: embedded, seeds, key }
    }
}

/// A tokio runtime for the asynchronous clients.
pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build().expect("runtime")
}

/// A client with `connections` per node (`None`: its default), ready to run `n` gets spread over `callers` callers.
pub(crate) trait Door {
    /// The name in the report.
    const NAME: &'static str;
    /// Connects.
    fn connect(target: &Target, connections: Option<usize>) -> Self;
    /// The time that `n` gets take.
    fn gets(&self, target: &Target, callers: u64, n: u64) -> Duration;
}

fn policy(connections: Option<usize>) -> ClientPolicy {
    let mut policy = ClientPolicy::default();
    if let Some(connections) = connections {
        policy.max_conns_per_node = connections;
    }
    policy
}

fn config(connections: Option<usize>) -> ClientConfig {
    let pool = connections.map(|max| PoolSizing::default().with_max(max as u32));
    ClientConfig::from(policy(connections)).with_pool(pool)
}

/// The share of one of `callers` callers in `n` calls.
fn share(n: u64, callers: u64, caller: u64) -> u64 {
    n / callers + u64::from(caller < n % callers)
}

/// `aerospike_core::Client` on tokio.
pub(crate) struct CoreAsync {
    runtime: Runtime,
    client: Arc<aerospike_core::Client>,
}

impl Door for CoreAsync {
    const NAME: &'static str = "aerospike-core async";

    fn connect(target: &Target, connections: Option<usize>) -> Self {
        let runtime = runtime();
        let client = runtime.block_on(aerospike_core::Client::new(&policy(connections), &target.seeds));
        Self { runtime, client: Arc::new(client.expect("connect")) }
    }

    fn gets(&self, target: &Target, callers: u64, n: u64) -> Duration {
        on_tasks(&self.runtime, callers, n, |calls| {
            let (client, key) = (self.client.clone(), target.key.clone());
            async move {
                let policy = ReadPolicy::default();
                for _ in 0..calls {
                    client.get(&policy, &key, Bins::All).await.expect("get");
                }
            }
        })
    }
}

/// `aerospike_core::Client` from threads that block on it.
pub(crate) struct CoreSync(CoreAsync);

impl Door for CoreSync {
    const NAME: &'static str = "aerospike-core block_on";

    fn connect(target: &Target, connections: Option<usize>) -> Self {
        Self(CoreAsync::connect(target, connections))
    }

    fn gets(&self, target: &Target, callers: u64, n: u64) -> Duration {
        on_threads(callers, n, |calls| {
            let (handle, policy) = (self.0.runtime.handle(), ReadPolicy::default());
            for _ in 0..calls {
                handle.block_on(self.0.client.get(&policy, &target.key, Bins::All)).expect("get");
            }
        })
    }
}

/// `aerolane::Client`.
pub(crate) struct Async {
    runtime: Runtime,
    client: Client,
}

impl Door for Async {
    const NAME: &'static str = "aerolane async";

    fn connect(target: &Target, connections: Option<usize>) -> Self {
        let runtime = runtime();
        let client = runtime.block_on(Client::with_config(config(connections), &target.seeds)).expect("connect");
        Self { runtime, client }
    }

    fn gets(&self, target: &Target, callers: u64, n: u64) -> Duration {
        on_tasks(&self.runtime, callers, n, |calls| {
            let (client, key) = (self.client.clone(), target.key.clone());
            async move {
                let policy = ReadPolicy::default();
                for _ in 0..calls {
                    client.get(&policy, &key, Bins::All).await.expect("get");
                }
            }
        })
    }
}

/// `aerolane::LocalClient`.
pub(crate) struct Local {
    lanes: LaneRuntime,
    _client: Async,
}

impl Door for Local {
    const NAME: &'static str = "aerolane local";

    fn connect(target: &Target, connections: Option<usize>) -> Self {
        let client = Async::connect(target, connections);
        let threads = NonZeroUsize::new(THREADS).expect("not zero");
        Self { lanes: LaneRuntime::new(&client.client, threads).expect("threads"), _client: client }
    }

    fn gets(&self, target: &Target, callers: u64, n: u64) -> Duration {
        let started = Instant::now();
        let tasks: Vec<_> = (0..callers)
            .map(|caller| {
                let key = target.key.clone();
                self.lanes.spawn(move |client| async move {
                    let policy = ReadPolicy::default();
                    for _ in 0..share(n, callers, caller) {
                        client.get(&policy, &key, Bins::All).await.expect("get");
                    }
                })
            })
            .collect();
        for task in tasks {
            task.wait().expect("task");
        }
        started.elapsed()
    }
}

/// `aerolane::SyncClient`.
pub(crate) struct Sync(SyncClient);

impl Door for Sync {
    const NAME: &'static str = "aerolane sync";

    fn connect(target: &Target, connections: Option<usize>) -> Self {
        Self(SyncClient::with_config(config(connections), &target.seeds).expect("connect"))
    }

    fn gets(&self, target: &Target, callers: u64, n: u64) -> Duration {
        on_threads(callers, n, |calls| {
            let policy = ReadPolicy::default();
            for _ in 0..calls {
                self.0.get(&policy, &target.key, Bins::All).expect("get");
            }
        })
    }
}

/// Runs what `calls` makes of its share of the calls on as many tasks as there are callers.
fn on_tasks<F>(runtime: &Runtime, callers: u64, n: u64, calls: impl Fn(u64) -> F) -> Duration
where
    F: Future<Output = ()> + Send + 'static,
{
    let started = Instant::now();
    let tasks: Vec<_> = (0..callers).map(|caller| runtime.spawn(calls(share(n, callers, caller)))).collect();
    runtime.block_on(async {
        for task in tasks {
            task.await.expect("task");
        }
    });
    started.elapsed()
}

/// Runs `calls` on as many threads as there are callers. One caller uses this thread.
fn on_threads(callers: u64, n: u64, calls: impl Fn(u64) + std::marker::Sync) -> Duration {
    let started = Instant::now();
    if callers == 1 {
        calls(n);
    } else {
        std::thread::scope(|scope| {
            for caller in 0..callers {
                let calls = &calls;
                scope.spawn(move || calls(share(n, callers, caller)));
            }
        });
    }
    started.elapsed()
}
