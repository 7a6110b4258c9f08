//! Aerolane's three client types.

use std::future::Future;
use std::num::NonZeroUsize;

use aerolane::{BatchOperation, Client, ClientConfig, LaneRuntime, LocalClient, SyncClient, operations};
use aerospike_core::ResultCode;

use super::calls::{
    BatchRow, CallError, Policies, client_policy, perform_batch, perform_list_get, perform_single, prebuilt_rows,
};
use super::rows::PrebuiltRows;
use super::{ClientError, TokioHost, spawn_threads};
use crate::conductor::{Part, Stage};
use crate::measure::{Done, Failure};
use crate::spec::RunSpec;
use crate::worker::{drive_idle_task, drive_task};
use crate::workload::{Request, Workload};

impl CallError for aerolane::Error {
    fn is_missing_record(&self) -> bool {
        self.is_not_found()
    }

    fn is_timeout(&self) -> bool {
        self.is_client_timeout() || self.matches(&[ResultCode::Timeout])
    }
}

impl BatchRow for BatchOperation {
    fn code(&self) -> Option<ResultCode> {
        self.result_code()
    }

    fn reason(&self) -> String {
        self.error().map_or_else(|| "not carried out".to_owned(), ToString::to_string)
    }
}

fn config(spec: &RunSpec) -> Result<ClientConfig, ClientError> {
    Ok(ClientConfig::from(client_policy(spec)?).with_lanes(NonZeroUsize::new(spec.lanes)))
}

fn refused(spec: &RunSpec, error: &aerolane::Error) -> ClientError {
    ClientError::Connect { client: spec.client, seeds: spec.seeds.clone(), reason: error.to_string() }
}

fn check_namespace(core: &aerospike_core::Client, spec: &RunSpec) -> Result<(), ClientError> {
    let namespace = &spec.space.namespace;
    match core.is_strong_consistency(namespace) {
        Some(_) => Ok(()),
        None => Err(ClientError::NoNamespace { seeds: spec.seeds.clone(), namespace: namespace.clone() }),
    }
}

/// Connects the asynchronous client from a task of `host`.
pub(crate) fn connect(host: &TokioHost, spec: &RunSpec) -> Result<Client, ClientError> {
    let (config, seeds) = (config(spec)?, spec.seeds.clone());
    let client =
        host.run(async move { Client::with_config(config, &seeds).await }).map_err(|error| refused(spec, &error))?;
    check_namespace(client.core(), spec)?;
    Ok(client)
}

/// Connects the blocking client.
pub(crate) fn connect_sync(spec: &RunSpec) -> Result<SyncClient, ClientError> {
    let client = SyncClient::with_config(config(spec)?, &spec.seeds).map_err(|error| refused(spec, &error))?;
    check_namespace(client.core(), spec)?;
    Ok(client)
}

/// Tasks on tokio.
pub(super) fn start_async(stage: &Stage) -> Result<TokioHost, ClientError> {
    let host = TokioHost::start(stage.spec())?;
    let client: &'static Client = Box::leak(Box::new(connect(&host, stage.spec())?));
    let policies = Policies::leak(stage.spec());
    let single = move |request| single_async(client, policies, request);
    if stage.spec().workload == Workload::ListGet {
        host.spawn_busy(stage, move |request| list_get_async(client, policies, request));
    } else if stage.spec().batch == 1 {
        host.spawn_busy(stage, single);
    } else {
        let rows = rows(stage, policies);
        host.spawn_busy(stage, move |request| batch_async(client, policies, rows, request));
    }
    host.spawn_beside(stage, single);
    Ok(host)
}

/// Tasks on Aerolane's own threads.
pub(super) fn start_local(stage: &Stage) -> Result<(LaneRuntime, TokioHost), ClientError> {
    let spec = stage.spec();
    let host = TokioHost::start(spec)?;
    let client = connect(&host, spec)?;
    let policies = Policies::leak(spec);
    let threads = NonZeroUsize::new(spec.runtime_threads()).unwrap_or(NonZeroUsize::MIN);
    let runtime = LaneRuntime::new(&client, threads).map_err(|error| refused(spec, &error))?;
    if spec.workload == Workload::ListGet {
        spawn_tasks(&runtime, stage.parts(), move |client, request| list_get_local(client, policies, request));
    } else if spec.batch == 1 {
        spawn_tasks(&runtime, stage.parts(), move |client, request| single_local(client, policies, request));
    } else {
        let rows = rows(stage, policies);
        spawn_tasks(&runtime, stage.parts(), move |client, request| batch_local(client, policies, rows, request));
    }
    for part in stage.idle_parts() {
        runtime.spawn(move |client| async move {
            let client: &'static LocalClient = Box::leak(Box::new(client));
            let call = move |request| single_local(client, policies, request);
            drive_idle_task(part, call).await;
        });
    }
    spawn_tasks(&runtime, stage.background_parts(), move |client, request| single_local(client, policies, request));
    // The tasks' clients keep the cluster open.
    Ok((runtime, host))
}

fn rows(stage: &Stage, policies: &'static Policies) -> &'static PrebuiltRows<BatchOperation> {
    prebuilt_rows!(stage, policies, BatchOperation, operations::put)
}

fn spawn_tasks<F, Fut>(runtime: &LaneRuntime, parts: impl Iterator<Item = Part>, call: F)
where
    F: Fn(&'static LocalClient, Request) -> Fut + Copy + Send + 'static,
    Fut: Future<Output = Result<Done, Failure>> + 'static,
{
    for part in parts {
        runtime.spawn(move |client| async move {
            // Each task keeps its client for good: the run's end is the process's end.
            let client: &'static LocalClient = Box::leak(Box::new(client));
            let call = move |request| call(client, request);
            drive_task(part, call).await;
        });
    }
}

/// Threads.
pub(super) fn start_sync(stage: &Stage) -> Result<(), ClientError> {
    let client: &'static SyncClient = Box::leak(Box::new(connect_sync(stage.spec())?));
    let policies = Policies::leak(stage.spec());
    if stage.spec().workload == Workload::ListGet {
        spawn_threads(stage, move |request| perform_list_get!(client, policies, request, operations::lists::get,))
    } else if stage.spec().batch == 1 {
        spawn_threads(stage, move |request| perform_single!(client, policies, request,))
    } else {
        let rows = rows(stage, policies);
        spawn_threads(stage, move |request| {
            perform_batch!(client, policies, rows, request, BatchOperation, operations::put,)
        })
    }
}

async fn single_async(client: &'static Client, policies: &'static Policies, request: Request) -> Result<Done, Failure> {
    perform_single!(client, policies, request, .await)
}

async fn list_get_async(
    client: &'static Client,
    policies: &'static Policies,
    request: Request,
) -> Result<Done, Failure> {
    perform_list_get!(client, policies, request, operations::lists::get, .await)
}

async fn batch_async(
    client: &'static Client,
    policies: &'static Policies,
    rows: &'static PrebuiltRows<BatchOperation>,
    request: Request,
) -> Result<Done, Failure> {
    perform_batch!(client, policies, rows, request, BatchOperation, operations::put, .await)
}

async fn single_local(
    client: &'static LocalClient,
    policies: &'static Policies,
    request: Request,
) -> Result<Done, Failure> {
    perform_single!(client, policies, request, .await)
}

async fn list_get_local(
    client: &'static LocalClient,
    policies: &'static Policies,
    request: Request,
) -> Result<Done, Failure> {
    perform_list_get!(client, policies, request, operations::lists::get, .await)
}

async fn batch_local(
    client: &'static LocalClient,
    policies: &'static Policies,
    rows: &'static PrebuiltRows<BatchOperation>,
    request: Request,
) -> Result<Done, Failure> {
    perform_batch!(client, policies, rows, request, BatchOperation, operations::put, .await)
}
