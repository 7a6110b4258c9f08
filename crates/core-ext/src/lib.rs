//! Aerolane: a client for the Aerospike database with a data path of its own.
//!
//! Types and method names are those of `aerospike_core`; a service changes one line:
//!
//! ```no_run
//! use aerolane::*; // was: use aerospike_core::*;
//!
//! # async fn demo() -> Result<()> {
//! let client = Client::new(&ClientPolicy::default(), &"127.0.0.1:3000").await?;
//! let key = as_key!("test", "demo", "alice");
//! client.put(&WritePolicy::default(), &key, &[as_bin!("visits", 1)]).await?;
//! let record = client.get(&ReadPolicy::default(), &key, Bins::All).await?;
//! assert_eq!(record.bins["visits"], Value::Int(1));
//! # Ok(())
//! # }
//! ```
//!
//! * [`Client`]: async, from any tokio runtime
//! * [`LaneRuntime`] and [`LocalClient`]: tasks on threads of ours, each with a lane of its own
//! * [`SyncClient`]: blocking, from any thread
//!
//! Reads, writes, `operate`, functions on one record and batches, in transactions too, go over connections of our own. What
//! is rare or long (queries, UDF modules, users, indexes) is carried out by aerospike-core beneath, through the same client
//! or [`Client::core`].
//! [`raw`] is for language bindings, and promises nothing. The [`manual`] tells how all of it works.

#![warn(missing_debug_implementations)]

#[cfg(not(unix))]
compile_error!(
    "Aerolane runs on Linux and macOS: its drivers stand on the sockets and signals of Unix. On Windows it runs under WSL 2."
);

pub mod ael;
pub mod batch;
pub mod client;
pub mod concurrent;
pub mod config;
pub mod dynamic;
pub mod error;
mod key;
mod logging;
pub mod manual;
pub mod mapping;
pub mod metrics;
mod names;
pub mod operations;
pub mod query;
pub mod raw;
#[cfg(feature = "serialization")]
mod serialize;
pub mod task;
pub mod writer;

// What bindings and benchmarks use of these, they find in `raw`.
#[doc(hidden)]
pub mod clock;
#[doc(hidden)]
pub mod cluster;
#[doc(hidden)]
pub mod command;
#[doc(hidden)]
pub mod connect;
#[doc(hidden)]
pub mod driver;
#[doc(hidden)]
pub mod lane;
#[doc(hidden)]
pub mod sync;
#[doc(hidden)]
pub mod topology;

pub use aerolane_wire::message::query_where;
#[cfg(feature = "tls")]
pub use aerospike_core::TlsPolicy;
pub use aerospike_core::{
    AbortStatus, AdminPolicy, AuthMode, BasePolicy, BatchDeletePolicy, BatchPolicy, BatchReadPolicy, BatchUdfPolicy,
    BatchWritePolicy, Bin, Bins, CITRUSLEAF_EPOCH_UNIX_SECS, COMMIT_FAILED_ABORT_MESSAGE, ClientPolicy,
    ClientResultCode, CollectionIndexType, CommandType, CommitErrorType, CommitLevel, CommitStatus, Concurrency,
    DropIndexTask, EqFilterValue, ExecuteTask, Expiration, ExpressionTrace, FloatValue, GenerationPolicy, Host,
    IndexMap, IndexTask, IndexType, Key, Labels, LatencyUnit, MapCollection, MapLike, MetricsPolicy, Node,
    PartitionFilter, PoolGauges, Privilege, PrivilegeCode, QueryDuration, QueryHandle, QueryPlan, QueryPolicy,
    QuerySelection, RangeFilterValue, ReadModeAp, ReadModeSc, ReadPolicy, ReadTouchTtl, Record, RecordExistsAction,
    RegexFlags, RegisterTask, Replica, ResultCode, Role, Sampler, ServerErrorDetail, ToHosts, Txn, TxnRollPolicy,
    TxnState, TxnVerifyPolicy, UdfLang, UdfRemoveTask, User, Value, Version, WritePolicy, as_bin, as_blob, as_geo,
    as_key, as_list, as_map, as_ord_map, as_sorted_map, as_val, as_values, citrusleaf_epoch, expressions, from_ael,
    policy, sampler, server_error, txn,
};
#[doc(hidden)] // as in aerospike-core
pub use aerospike_core::{
    FLAG_ENC_VARINT, FLAG_EXPLAIN, FLAG_HARD_HINT, FLAG_KNOWN, FLAG_REQUIRE_INDEX, ParticleType, QueryWhereWire,
    SERVER_COMPILED_AEL_EXPRESSION_OP, pack_ael_server_filter,
};
pub use batch::{BatchFailures, BatchOperation, BatchRecord};
pub use client::{
    Client, ClientStats, ConnectionStats, LaneRuntime, LaneTask, LaneTaskError, LocalClient, NodeStats, Records,
    SyncClient,
};
pub use config::{ClientConfig, PoolSizing, WhenFull};
pub use error::{Error, ErrorKind, Phase, Result};
pub use key::key;
pub use mapping::RecordMapper;
pub use metrics::{ClusterMetrics, LoopBusy, NodeMetricsSnapshot};
pub use operations::{
    ListOrderType, ListPolicy, ListReturnType, ListSortFlags, ListWriteFlags, MapPolicy, MapReturnType, MapWriteFlags,
    Operation,
};
pub use query::{Recordset, Statement};
pub use task::Task;
pub use writer::{Outcome, OutcomeList, SyncWriter, Writer, WriterOptions};

/// The errors, under the name of aerospike-core's module.
pub mod errors {
    pub use crate::error::{Error, ErrorKind, Result};
}

/// The examples of the README and of these pages compile.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/start.md")]
    struct Start;
}
