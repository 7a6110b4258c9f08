//! `aerospike_core::Client`, from tasks and from threads that block on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use aerospike_core::{BatchOperation, Client, operations};

use super::calls::{Policies, client_policy, perform};
use super::{DoorError, TokioHost, spawn_threads, wait_until};
use crate::conductor::Stage;
use crate::measure::{Done, Failure};
use crate::spec::RunSpec;
use crate::worker::{drive_idle_task, drive_task, drive_thread};
use crate::workload::{KeySpace, Request};

/// How long a cluster may take to have an owner for every partition.
const READY_LIMIT: Duration = Duration::from_secs(20);
/// Writers that load the records.
const LOADERS: u64 = 64;
/// Tries per record while loading.
const LOAD_TRIES: u32 = 5;

pub(crate) fn connect(host: &TokioHost, spec: &RunSpec) -> Result<&'static Client, DoorError> {
    let policy = client_policy(spec);
    let seeds = spec.seeds.clone();
    let connected = host.run(async move { Client::new(&policy, &seeds).await });
    let client: &'static Client = match connected {
        Ok(client) => Box::leak(Box::new(client)),
        Err(error) => {
            return Err(DoorError::Connect {
                client: spec.client,
                seeds: spec.seeds.clone(),
                reason: error.to_string(),
            });
        }
    };
    if !wait_until(READY_LIMIT, || client.partition_map_complete()) {
        return Err(DoorError::NotReady { client: spec.client, seeds: spec.seeds.clone(), waited: READY_LIMIT });
    }
    let namespace = &spec.space.namespace;
    if client.is_strong_consistency(namespace).is_none() {
        return Err(DoorError::NoNamespace { seeds: spec.seeds.clone(), namespace: namespace.clone() });
    }
    Ok(client)
}

/// Tasks on tokio.
pub(super) fn start_async(stage: &Stage) -> Result<TokioHost, DoorError> {
    let host = TokioHost::start(stage.spec())?;
    let client = connect(&host, stage.spec())?;
    let policies = Policies::leak(stage.spec());
    let call = move |request| call(client, policies, request);
    for part in stage.parts() {
        host.handle().spawn(async move {
            let _ = part.results.send(drive_task(part.source, part.recorder, call).await);
        });
    }
    for part in stage.idle_parts() {
        host.handle().spawn(async move {
            let _ = part.results.send(drive_idle_task(part.source, call, part.stopped).await);
        });
    }
    Ok(host)
}

/// Threads; each one blocks on the shared runtime's handle for every call.
pub(super) fn start_sync(stage: &Stage) -> Result<TokioHost, DoorError> {
    let host = TokioHost::start(stage.spec())?;
    let client = connect(&host, stage.spec())?;
    let policies = Policies::leak(stage.spec());
    let handle = host.handle().clone();
    spawn_threads(stage.parts(), move |part| {
        let stats =
            drive_thread(part.source, part.recorder, |request| handle.block_on(call(client, policies, request)));
        let _ = part.results.send(stats);
    })?;
    Ok(host)
}

async fn call(client: &'static Client, policies: &'static Policies, request: Request) -> Result<Done, Failure> {
    perform!(client, policies, request, BatchOperation, operations::put, .await)
}

/// Writes every record of the key space once, with a few tries per record.
pub(super) fn load(spec: &RunSpec) -> Result<(), DoorError> {
    let host = TokioHost::start(spec)?;
    let client = connect(&host, spec)?;
    let policies = Policies::leak(spec);
    let space: &'static KeySpace = Box::leak(Box::new(spec.space.clone()));
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
                    write_with_retries(client, policies, space, id).await?;
                }
            })
        })
        .collect();
    host.run(async move {
        for writer in writers {
            match writer.await {
                Ok(Ok(())) => {}
                Ok(Err(reason)) => return Err(DoorError::Load { reason }),
                Err(panic) => return Err(DoorError::Load { reason: panic.to_string() }),
            }
        }
        let _ = client.close().await;
        Ok(())
    })
}

async fn write_with_retries(client: &Client, policies: &Policies, space: &KeySpace, id: u64) -> Result<(), String> {
    let key = space.key(id);
    let bins = [KeySpace::bin(id)];
    let mut tries = 1;
    loop {
        match client.put(&policies.write, &key, &bins).await {
            Ok(()) => return Ok(()),
            Err(error) if tries >= LOAD_TRIES => return Err(format!("record {id} after {tries} tries: {error}")),
            Err(_) => tokio::time::sleep(Duration::from_millis(50 << tries)).await,
        }
        tries += 1;
    }
}
