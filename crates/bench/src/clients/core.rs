//! `aerospike_core::Client`, from tasks and from threads that block on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use aerospike_core::{AdminPolicy, BatchOperation, Bin, Client, Key, operations};

use super::calls::{Policies, client_policy, perform_batch, perform_list_get, perform_single, prebuilt_rows};
use super::rows::PrebuiltRows;
use super::{ClientError, TokioHost, spawn_threads, wait_until};
use crate::conductor::Stage;
use crate::measure::{Done, Failure};
use crate::spec::RunSpec;
use crate::workload::{KeySpace, Request, Workload};

/// How long a cluster may take to have an owner for every partition.
const READY_LIMIT: Duration = Duration::from_secs(20);
/// Writers that load the records.
const LOADERS: u64 = 64;
/// Tries per record while loading.
const LOAD_TRIES: u32 = 5;

pub(crate) fn connect(host: &TokioHost, spec: &RunSpec) -> Result<&'static Client, ClientError> {
    let policy = client_policy(spec)?;
    let seeds = spec.seeds.clone();
    let connected = host.run(async move { Client::new(&policy, &seeds).await });
    let client: &'static Client = match connected {
        Ok(client) => Box::leak(Box::new(client)),
        Err(error) => {
            return Err(ClientError::Connect {
                client: spec.client,
                seeds: spec.seeds.clone(),
                reason: error.to_string(),
            });
        }
    };
    if !wait_until(READY_LIMIT, || client.partition_map_complete()) {
        return Err(ClientError::NotReady { client: spec.client, seeds: spec.seeds.clone(), waited: READY_LIMIT });
    }
    let namespace = &spec.space.namespace;
    if client.is_strong_consistency(namespace).is_none() {
        return Err(ClientError::NoNamespace { seeds: spec.seeds.clone(), namespace: namespace.clone() });
    }
    Ok(client)
}

/// Tasks on tokio.
pub(super) fn start_async(stage: &Stage) -> Result<TokioHost, ClientError> {
    let host = TokioHost::start(stage.spec())?;
    let client = connect(&host, stage.spec())?;
    let policies = Policies::leak(stage.spec());
    let single = move |request| single(client, policies, request);
    if stage.spec().workload == Workload::ListGet {
        host.spawn_busy(stage, move |request| list_get(client, policies, request));
    } else if stage.spec().batch == 1 {
        host.spawn_busy(stage, single);
    } else {
        let rows = prebuilt_rows!(stage, policies, BatchOperation, operations::put);
        host.spawn_busy(stage, move |request| batch(client, policies, rows, request));
    }
    host.spawn_beside(stage, single);
    Ok(host)
}

/// Threads; each one blocks on the shared runtime's handle for every call.
pub(super) fn start_sync(stage: &Stage) -> Result<TokioHost, ClientError> {
    let host = TokioHost::start(stage.spec())?;
    let client = connect(&host, stage.spec())?;
    let policies = Policies::leak(stage.spec());
    let handle = host.handle().clone();
    if stage.spec().workload == Workload::ListGet {
        spawn_threads(stage, move |request| handle.block_on(list_get(client, policies, request)))?;
    } else if stage.spec().batch == 1 {
        spawn_threads(stage, move |request| handle.block_on(single(client, policies, request)))?;
    } else {
        let rows = prebuilt_rows!(stage, policies, BatchOperation, operations::put);
        spawn_threads(stage, move |request| handle.block_on(batch(client, policies, rows, request)))?;
    }
    Ok(host)
}

async fn single(client: &'static Client, policies: &'static Policies, request: Request) -> Result<Done, Failure> {
    perform_single!(client, policies, request, .await)
}

async fn list_get(client: &'static Client, policies: &'static Policies, request: Request) -> Result<Done, Failure> {
    perform_list_get!(client, policies, request, operations::lists::get, .await)
}

async fn batch(
    client: &'static Client,
    policies: &'static Policies,
    rows: &'static PrebuiltRows<BatchOperation>,
    request: Request,
) -> Result<Done, Failure> {
    perform_batch!(client, policies, rows, request, BatchOperation, operations::put, .await)
}

/// Writes every record of a run once, with a few tries per record.
pub(super) fn load(spec: &RunSpec) -> Result<(), ClientError> {
    let host = TokioHost::start(spec)?;
    let client = connect(&host, spec)?;
    let policies = Policies::leak(spec);
    let workload = spec.workload;
    load_space(&host, client, policies, spec.space.clone(), move |id| workload.bin(id))?;
    if let Some(large) = spec.background {
        load_space(&host, client, policies, large.space(&spec.space), move |_| large.bin())?;
    }
    host.run(async move {
        let _ = client.close().await;
    });
    Ok(())
}

/// Empties the set of a run.
pub(super) fn truncate(spec: &RunSpec) -> Result<(), ClientError> {
    let host = TokioHost::start(spec)?;
    let client = connect(&host, spec)?;
    let KeySpace { namespace, set, .. } = spec.space.clone();
    host.run(async move {
        client
            .truncate(&AdminPolicy::default(), &namespace, &set, 0)
            .await
            .map_err(|error| ClientError::Truncate { reason: error.to_string() })?;
        let _ = client.close().await;
        Ok(())
    })
}

fn load_space(
    host: &TokioHost,
    client: &'static Client,
    policies: &'static Policies,
    space: KeySpace,
    bin: impl Fn(u64) -> Bin + Copy + Send + 'static,
) -> Result<(), ClientError> {
    let space: &'static KeySpace = Box::leak(Box::new(space));
    let next = Arc::new(AtomicU64::new(0));
    let writers: Vec<_> = (0..LOADERS)
        .map(|_| {
            let next = next.clone();
            host.handle().spawn(async move {
                loop {
                    let id = next.fetch_add(1, Ordering::Relaxed);
                    if id >= space.keys {
                        return Ok(());
                    }
                    write_with_retries(client, policies, space.key(id), bin(id))
                        .await
                        .map_err(|reason| format!("record {id} {reason}"))?;
                }
            })
        })
        .collect();
    host.run(async move {
        for writer in writers {
            match writer.await {
                Ok(Ok(())) => {}
                Ok(Err(reason)) => return Err(ClientError::Load { reason }),
                Err(panic) => return Err(ClientError::Load { reason: panic.to_string() }),
            }
        }
        Ok(())
    })
}

async fn write_with_retries(client: &Client, policies: &Policies, key: Key, bin: Bin) -> Result<(), String> {
    let bins = [bin];
    let mut tries = 1;
    loop {
        match client.put(&policies.write, &key, &bins).await {
            Ok(()) => return Ok(()),
            Err(error) if tries >= LOAD_TRIES => return Err(format!("after {tries} tries: {error}")),
            Err(_) => tokio::time::sleep(Duration::from_millis(50 << tries)).await,
        }
        tries += 1;
    }
}
