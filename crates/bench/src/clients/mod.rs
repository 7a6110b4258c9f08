//! The clients under measurement: each connects, starts the workers of a [`Stage`] and keeps them alive.
//!
//! A measured process serves one client and ends, so this module leaks its client and policies: the workers share them
//! through `&'static` references and pay no reference counting per operation.

pub(crate) mod aerolane;
pub(crate) mod calls;
pub(crate) mod core;
mod floor;
mod rows;
mod socket;
mod tokio_host;

use std::time::{Duration, Instant};

pub use tokio_host::TokioHost;

use crate::client_kind::ClientKind;
use crate::conductor::{Stage, conduct};
use crate::measure::{Done, Failure};
use crate::report::RunResult;
use crate::spec::RunSpec;
use crate::worker::drive_thread;
use crate::workload::Request;

/// Why a run could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The runtime of the harness could not be built.
    #[error("the tokio runtime did not start")]
    Runtime(#[source] std::io::Error),
    /// A worker thread could not be started.
    #[error("worker thread {index} did not start")]
    Thread {
        /// Which one.
        index: usize,
        /// Why.
        source: std::io::Error,
    },
    /// The client did not connect.
    #[error("{client} did not connect to {seeds}: {reason}")]
    Connect {
        /// Which client.
        client: ClientKind,
        /// Where to.
        seeds: String,
        /// The client's words.
        reason: String,
    },
    /// Connected, but the cluster did not become usable in time.
    #[error("{client} connected to {seeds}, but the partition map was not complete after {waited:?}")]
    NotReady {
        /// Which client.
        client: ClientKind,
        /// Where to.
        seeds: String,
        /// How long was waited.
        waited: Duration,
    },
    /// The cluster has no such namespace.
    #[error("{seeds} has no namespace `{namespace}`")]
    NoNamespace {
        /// The cluster.
        seeds: String,
        /// The namespace.
        namespace: String,
    },
    /// The certificate of the cluster is not usable.
    #[error("the cluster's certificate is not usable: {reason}")]
    Tls {
        /// What is wrong with it.
        reason: String,
    },
    /// The set could not be emptied.
    #[error("emptying the set failed: {reason}")]
    Truncate {
        /// The client's words.
        reason: String,
    },
    /// The records could not be written before the run.
    #[error("loading the records failed: {reason}")]
    Load {
        /// The client's words.
        reason: String,
    },
}

/// Runs `spec` in this process and returns its figures.
///
/// # Errors
/// When the client does not connect or a worker cannot be started. Failing operations are figures, not errors.
pub fn run(spec: &RunSpec) -> Result<RunResult, ClientError> {
    match spec.client {
        ClientKind::CoreAsync => conduct(spec, core::start_async),
        ClientKind::CoreSync => conduct(spec, core::start_sync),
        ClientKind::FloorAsync => conduct(spec, floor::start_async),
        ClientKind::FloorSync => conduct(spec, floor::start_sync),
        ClientKind::FloorSocket => conduct(spec, socket::start),
        ClientKind::AerolaneAsync => conduct(spec, aerolane::start_async),
        ClientKind::AerolaneLocal => conduct(spec, aerolane::start_local),
        ClientKind::AerolaneSync => conduct(spec, aerolane::start_sync),
    }
}

/// Writes every record of the key space once, and the large ones of a run that reads such.
///
/// # Errors
/// When the client does not connect or any write fails for good.
pub fn load(spec: &RunSpec) -> Result<(), ClientError> {
    core::load(spec)
}

/// Empties the set.
///
/// # Errors
/// When the client does not connect or the cluster refuses.
pub fn truncate(spec: &RunSpec) -> Result<(), ClientError> {
    core::truncate(spec)
}

/// Polls `ready` until it says yes or `limit` is over.
fn wait_until(limit: Duration, ready: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    while !ready() {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// Starts one thread per busy worker; each makes its requests with `call`.
fn spawn_threads<F>(stage: &Stage, call: F) -> Result<(), ClientError>
where
    F: Fn(Request) -> Result<Done, Failure> + Send + Clone + 'static,
{
    for (index, part) in stage.parts().enumerate() {
        let call = call.clone();
        std::thread::Builder::new()
            .name(format!("worker-{index}"))
            .spawn(move || drive_thread(part, call))
            .map_err(|source| ClientError::Thread { index, source })?;
    }
    Ok(())
}
