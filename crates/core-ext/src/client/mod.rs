//! The clients: three types for one cluster.
//!
//! * [`Client`]: async, from any tokio runtime
//! * [`LocalClient`] on a [`LaneRuntime`]: tasks that live on threads of ours, each with a lane of its own
//! * [`SyncClient`]: blocking, from any thread

mod asynchronous;
mod attempts;
mod batch;
mod buffers;
mod commands;
mod core_methods;
mod execute;
mod lanes;
mod local;
mod methods;
mod metrics;
mod query;
mod raw;
#[cfg(feature = "tracing")]
mod span;
mod stats;
mod sync;
mod txn;
mod udf;
mod watch;

pub use asynchronous::Client;
pub(crate) use asynchronous::Shared;
pub(crate) use batch::{Block, BlockAnswers, BlockOutcome, SentBlock, WrittenRows};
#[doc(hidden)] // in `raw`
pub use batch::{BlockOps, BlockShape, RawBatch, RawKey, RawOps, RawOutcome, RawOutcomes, RawShape};
#[doc(hidden)] // in `raw`
pub use buffers::{BUFFERS_KEEP, with_buffers};
pub(crate) use execute::wait;
pub use local::{LaneRuntime, LaneTask, LaneTaskError, LocalClient};
#[doc(hidden)] // in `raw`
pub use query::{Cursor, PartitionPlace, RawQuery, RawRecords};
#[doc(hidden)] // in `raw`
pub use raw::{RawAttempt, RawCall, RawClient, RawFailure};
pub use stats::{ClientStats, ConnectionStats, NodeStats};
pub use sync::{Records, SyncClient};
#[doc(hidden)] // in `raw`
pub use txn::{RecordId, namespace_of as txn_namespace, set_timeout as set_txn_timeout, timeout_of as txn_timeout};
pub(crate) use watch::Watch;
