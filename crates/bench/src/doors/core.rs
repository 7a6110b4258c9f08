//! `aerospike_core::Client`, from tasks and from threads that block on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use aerospike_core::{
    BatchOperation, BatchPolicy, BatchReadPolicy, BatchWritePolicy, Bin, Bins, Client, ClientPolicy, Error, Key,
    ReadPolicy, RecordExistsAction, ResultCode, WritePolicy, operations,
};

use super::{DoorError, TokioHost, batch_failure, spawn_threads, wait_until};
use crate::conductor::Stage;
use crate::measure::{Done, Failure};
use crate::spec::RunSpec;
use crate::worker::{drive_idle_task, drive_task, drive_thread};
use crate::workload::{KeySpace, Request, Workload};

/// How long a cluster may take to have an owner for every partition.
const READY_LIMIT: Duration = Duration::from_secs(20);
/// Writers that load the records.
const LOADERS: u64 = 64;
/// Tries per record while loading.
const LOAD_TRIES: u32 = 5;

/// The policies of a run, made once.
#[derive(Debug, Default)]
pub(super) struct Policies {
    pub(super) read: ReadPolicy,
    pub(super) write: WritePolicy,
    pub(super) batch: BatchPolicy,
    pub(super) batch_read: BatchReadPolicy,
    pub(super) batch_write: BatchWritePolicy,
}

impl Policies {
    pub(super) fn new(spec: &RunSpec) -> Self {
        let mut policies = Self::default();
        if let Some(timeout) = spec.settings.timeout_ms {
            policies.read.base_policy.total_timeout = timeout;
            policies.write.base_policy.total_timeout = timeout;
            policies.batch.base_policy.total_timeout = timeout;
        }
        if matches!(spec.workload, Workload::ReadReplace { .. }) {
            policies.write.record_exists_action = RecordExistsAction::Replace;
            policies.batch_write.record_exists_action = RecordExistsAction::Replace;
        }
        policies
    }
}

/// The client policy of a run.
pub(super) fn client_policy(spec: &RunSpec) -> ClientPolicy {
    let settings = &spec.settings;
    let mut policy =
        ClientPolicy { use_services_alternate: settings.use_services_alternate, ..ClientPolicy::default() };
    if let Some(max) = settings.max_conns_per_node {
        policy.max_conns_per_node = max;
    }
    if let Some(pools) = settings.conn_pools_per_node {
        policy.conn_pools_per_node = pools;
    }
    policy
}

fn connect(host: &TokioHost, spec: &RunSpec) -> Result<&'static Client, DoorError> {
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
    let policies: &'static Policies = Box::leak(Box::new(Policies::new(stage.spec())));
    let call = move |request| perform(client, policies, request);
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
    let policies: &'static Policies = Box::leak(Box::new(Policies::new(stage.spec())));
    let handle = host.handle().clone();
    spawn_threads(stage.parts(), move |part| {
        let stats =
            drive_thread(part.source, part.recorder, |request| handle.block_on(perform(client, policies, request)));
        let _ = part.results.send(stats);
    })?;
    Ok(host)
}

async fn perform(client: &'static Client, policies: &'static Policies, request: Request) -> Result<Done, Failure> {
    match request {
        Request::Read(key) => read_outcome(client.get(&policies.read, &key, Bins::All).await),
        Request::Write(key, bin) => match client.put(&policies.write, &key, &[bin]).await {
            Ok(()) => Ok(Done { records: 1, not_found: 0 }),
            Err(error) => Err(failure(&error)),
        },
        Request::BatchRead(keys) => {
            let mut rows = batch_reads(policies, keys);
            let sent = client.batch(&policies.batch, &mut rows).await;
            batch_outcome(&rows, sent)
        }
        Request::BatchWrite(records) => {
            let mut rows = batch_writes(policies, &records);
            let sent = client.batch(&policies.batch, &mut rows).await;
            batch_outcome(&rows, sent)
        }
    }
}

pub(super) fn batch_reads(policies: &Policies, keys: Vec<Key>) -> Vec<BatchOperation> {
    keys.into_iter().map(|key| BatchOperation::read(&policies.batch_read, key, Bins::All)).collect()
}

pub(super) fn batch_writes(policies: &Policies, records: &[(Key, Bin)]) -> Vec<BatchOperation> {
    records
        .iter()
        .map(|(key, bin)| BatchOperation::write(&policies.batch_write, key.clone(), vec![operations::put(bin)]))
        .collect()
}

fn read_outcome<R>(answer: Result<R, Error>) -> Result<Done, Failure> {
    match answer {
        Ok(_) => Ok(Done { records: 1, not_found: 0 }),
        Err(error) if error.matches(&[ResultCode::KeyNotFoundError]) => Ok(Done { records: 1, not_found: 1 }),
        Err(error) => Err(failure(&error)),
    }
}

fn failure(error: &Error) -> Failure {
    Failure { timeout: error.is_client_timeout() || error.matches(&[ResultCode::Timeout]), message: error.to_string() }
}

/// A batch counts as done when each of its rows was answered with success or not-found.
fn batch_outcome(rows: &[BatchOperation], sent: Result<(), Error>) -> Result<Done, Failure> {
    let (mut not_found, mut failed, mut timeouts) = (0, 0, 0);
    let mut first = None;
    for row in rows {
        match row.result_code() {
            Some(ResultCode::Ok) => {}
            Some(ResultCode::KeyNotFoundError) => not_found += 1,
            code => {
                failed += 1;
                timeouts += usize::from(matches!(code, Some(ResultCode::Timeout)));
                first.get_or_insert(row);
            }
        }
    }
    match (sent, first) {
        // The call's own result says "failed" also when the only failures are records that do not exist.
        (_, None) => Ok(Done { records: rows.len() as u64, not_found }),
        (Err(error), _) => Err(failure(&error)),
        (Ok(()), Some(row)) => {
            let message = row.error().map_or_else(|| "not executed".to_owned(), ToString::to_string);
            Err(batch_failure(rows.len(), failed, timeouts, &message))
        }
    }
}

/// Writes every record of the key space once, with a few tries per record.
pub(super) fn load(spec: &RunSpec) -> Result<(), DoorError> {
    let host = TokioHost::start(spec)?;
    let client = connect(&host, spec)?;
    let policies: &'static Policies = Box::leak(Box::new(Policies::new(spec)));
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
