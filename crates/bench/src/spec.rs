//! What one measured run is: everything a child process needs to know.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::background::BackgroundLarge;
use crate::client_kind::ClientKind;
use crate::conditions::Conditions;
use crate::schedule::OpenLoop;
use crate::workload::{KeySpace, Workload};

/// The tokio runtime under the asynchronous clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum RuntimeKind {
    /// One thread.
    Current,
    /// A work-stealing pool of threads.
    Multi,
}

/// Settings of the client under test. `None` leaves the client's own default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientSettings {
    /// Upper limit of connections to one node.
    pub max_conns_per_node: Option<usize>,
    /// Number of pools the connections to one node are split over.
    pub conn_pools_per_node: Option<u8>,
    /// Whether to use the alternate addresses that nodes announce.
    pub use_services_alternate: bool,
    /// Total timeout of one operation in milliseconds.
    pub timeout_ms: Option<u32>,
    /// How often the client looks after its nodes, in milliseconds.
    pub tend_interval_ms: Option<u32>,
}

/// One client, one workload, one duration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// The client.
    pub client: ClientKind,
    /// Seeds, `host:port`, separated by commas. Empty for the floors.
    pub seeds: String,
    /// The certificate (PEM) that the client is to trust; it switches TLS on.
    pub tls_certificate: Option<String>,
    /// How slow the embedded cluster is. For the report only.
    pub conditions: Conditions,
    /// When operations are due. `None`: each worker makes its next call when the last one has ended.
    pub open_loop: Option<OpenLoop>,
    /// Tasks that read large records beside the workload.
    pub background: Option<BackgroundLarge>,
    /// The mix of operations.
    pub workload: Workload,
    /// The keys.
    pub space: KeySpace,
    /// Whether all keys, and the rows of batches, are built before the run.
    pub prebuilt_keys: bool,
    /// Records per call; 1 uses the single-record calls.
    pub batch: usize,
    /// Number of tasks (asynchronous clients).
    pub tasks: usize,
    /// Number of threads (blocking clients).
    pub threads: usize,
    /// Tasks that do one read at the start and then hold their client until the end.
    pub idle_tasks: usize,
    /// Unmeasured time before the measured phase, in milliseconds.
    pub warmup_ms: u64,
    /// Measured time in milliseconds.
    pub duration_ms: u64,
    /// One call in this many is timed.
    pub lat_sample_every: u64,
    /// The tokio runtime of the asynchronous clients.
    pub runtime: RuntimeKind,
    /// Threads of the multi-thread runtime, and those of a `LaneRuntime`; 0 means one per core.
    pub workers: usize,
    /// Lanes of Aerolane's clients; 0 means the client's own default.
    pub lanes: usize,
    /// Settings of the client.
    pub settings: ClientSettings,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Whether to write a line per second to stderr.
    pub ticker: bool,
}

impl RunSpec {
    /// Number of workers: tasks or threads, by the client's mode.
    #[must_use]
    pub fn concurrency(&self) -> usize {
        match self.client.mode() {
            crate::client_kind::Mode::Async => self.tasks,
            crate::client_kind::Mode::Sync => self.threads,
        }
    }

    /// Unmeasured time before the measured phase.
    #[must_use]
    pub fn warmup(&self) -> Duration {
        Duration::from_millis(self.warmup_ms)
    }

    /// Measured time.
    #[must_use]
    pub fn duration(&self) -> Duration {
        Duration::from_millis(self.duration_ms)
    }

    /// How long a worker may take to end after it was told to: the operation in flight, and some patience.
    #[must_use]
    pub fn stop_limit(&self) -> Duration {
        Duration::from_millis(u64::from(self.settings.timeout_ms.unwrap_or(1_000)).min(120_000))
            + Duration::from_secs(10)
            + if self.open_loop.is_some() { crate::schedule::DRAIN } else { Duration::ZERO }
    }

    /// Threads of the asynchronous runtime of this run.
    #[must_use]
    pub fn runtime_threads(&self) -> usize {
        match self.runtime {
            RuntimeKind::Current => 1,
            RuntimeKind::Multi => self.worker_threads(),
        }
    }

    /// Threads of a pool sized by `workers`.
    #[must_use]
    pub fn worker_threads(&self) -> usize {
        if self.workers > 0 {
            self.workers
        } else {
            std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
        }
    }
}
