//! Heap allocations per `get` and `put` of one integer bin, for every client, on a real or embedded cluster.
//!
//! Keys, bins and policies are made before. The allocations of all threads of the process are counted, so a client
//! cannot hide them on threads of its own; the tend is slowed down meanwhile.

use std::future::Future;
use std::num::NonZeroUsize;

use aerolane::LaneRuntime;
use aerospike_core::{Bins, Key, ReadPolicy, WritePolicy};

use super::heap;
use crate::client_kind::ClientKind;
use crate::clients::{ClientError, TokioHost, aerolane as aerolane_client, core as core_client};
use crate::conditions::Conditions;
use crate::spec::{ClientSettings, RunSpec, RuntimeKind};
use crate::workload::{KeyKind, KeySpace, Workload};

/// Calls before the count.
const WARM_UP: u64 = 2_000;
/// Calls that are counted.
const COUNTED: u64 = 5_000;
/// Long enough that hardly any tend falls into the count.
const TEND_INTERVAL_MS: u32 = 30_000;

/// Allocations per call of every client, `<client> get` and `<client> put`. For Aerolane's also those of a `get`
/// that do not belong to the record that it returns: they are to be 0.
///
/// # Errors
/// When a client does not connect or an operation fails.
pub fn allocations(seeds: &str) -> Result<Vec<(String, f64)>, ClientError> {
    let mut figures = Vec::new();
    for client in [
        ClientKind::CoreAsync,
        ClientKind::CoreSync,
        ClientKind::AerolaneAsync,
        ClientKind::AerolaneLocal,
        ClientKind::AerolaneSync,
    ] {
        let spec = spec(client, seeds);
        let [get, put] = count_client(&spec)?;
        figures.push((format!("{client} get"), get));
        if client.name().starts_with("aerolane") {
            figures.push((format!("{client} get, beside the record"), (get - record_allocations()).max(0.0)));
        }
        figures.push((format!("{client} put"), put));
    }
    Ok(figures)
}

/// Allocations of the record that a `get` returns.
fn record_allocations() -> f64 {
    super::hot_path_allocations("client/decode record").first().map_or(0.0, |(_, count)| *count)
}

fn spec(client: ClientKind, seeds: &str) -> RunSpec {
    RunSpec {
        client,
        seeds: seeds.to_owned(),
        tls_certificate: None,
        conditions: Conditions::default(),
        open_loop: None,
        background: None,
        workload: Workload::ReadUpdate { read_pct: 50 },
        space: KeySpace { namespace: "test".to_owned(), set: "counts".to_owned(), keys: 1, kind: KeyKind::Int },
        prebuilt_keys: false,
        batch: 1,
        tasks: 1,
        threads: 1,
        idle_tasks: 0,
        warmup_ms: 0,
        duration_ms: 0,
        lat_sample_every: 1,
        runtime: RuntimeKind::Multi,
        workers: 1,
        lanes: 1,
        settings: ClientSettings { tend_interval_ms: Some(TEND_INTERVAL_MS), ..ClientSettings::default() },
        seed: 1,
        ticker: false,
    }
}

/// Runs one asynchronous call again and again and returns its allocations.
macro_rules! count_calls {
    ($call:expr $(, $wait:tt $await:tt)?) => {{
        for _ in 0..WARM_UP {
            $call $($wait $await)?.map_err(|error| failed(&error))?;
        }
        let before = heap::allocations();
        for _ in 0..COUNTED {
            $call $($wait $await)?.map_err(|error| failed(&error))?;
        }
        (heap::allocations() - before) as f64 / COUNTED as f64
    }};
}

/// Counts `put`, then `get` of the record that it wrote; gives back get and put.
macro_rules! count_both {
    ($client:expr, $key:expr $(, $wait:tt $await:tt)?) => {{
        let (read, write, bins) = (ReadPolicy::default(), WritePolicy::default(), [KeySpace::bin(42)]);
        let put = count_calls!($client.put(&write, $key, &bins) $(, $wait $await)?);
        let get = count_calls!($client.get(&read, $key, Bins::All) $(, $wait $await)?);
        Ok::<[f64; 2], ClientError>([get, put])
    }};
}

fn failed(error: &impl std::fmt::Display) -> ClientError {
    ClientError::Load { reason: error.to_string() }
}

fn count_client(spec: &RunSpec) -> Result<[f64; 2], ClientError> {
    let key: &'static Key = Box::leak(Box::new(spec.space.key(0)));
    match spec.client {
        ClientKind::CoreAsync => {
            let host = TokioHost::start(spec)?;
            let client = core_client::connect(&host, spec)?;
            host.run(async move { count_both!(client, key, . await) })
        }
        ClientKind::CoreSync => {
            let host = TokioHost::start(spec)?;
            let client = core_client::connect(&host, spec)?;
            let blocking = BlockOn { host: &host, client };
            count_both!(blocking, key)
        }
        ClientKind::AerolaneAsync => {
            let host = TokioHost::start(spec)?;
            let client = aerolane_client::connect(&host, spec)?;
            host.run(async move { count_both!(client, key, . await) })
        }
        ClientKind::AerolaneLocal => {
            let host = TokioHost::start(spec)?;
            let client = aerolane_client::connect(&host, spec)?;
            let lanes = LaneRuntime::new(&client, NonZeroUsize::MIN).map_err(|error| failed(&error))?;
            let task = lanes.spawn(move |client| async move { count_both!(client, key, . await) });
            task.wait().map_err(|error| failed(&error))?
        }
        ClientKind::AerolaneSync => {
            let client = aerolane_client::connect_sync(spec)?;
            count_both!(client, key)
        }
        ClientKind::FloorAsync | ClientKind::FloorSync | ClientKind::FloorSocket => Ok([0.0; 2]),
    }
}

/// aerospike-core with blocking methods, as the thread workers use it.
struct BlockOn<'a> {
    host: &'a TokioHost,
    client: &'static aerospike_core::Client,
}

impl BlockOn<'_> {
    fn wait<T>(&self, call: impl Future<Output = T>) -> T {
        self.host.handle().block_on(call)
    }

    fn get(&self, policy: &ReadPolicy, key: &Key, bins: Bins) -> aerospike_core::Result<aerospike_core::Record> {
        self.wait(self.client.get(policy, key, bins))
    }

    fn put(&self, policy: &WritePolicy, key: &Key, bins: &[aerospike_core::Bin]) -> aerospike_core::Result<()> {
        self.wait(self.client.put(policy, key, bins))
    }
}
