//! What the Python package and the benchmarks stand on: requests that the caller encodes, and the parts that a client is made
//! of. **Without promises**: anything here may change or go in any version, a patch version included.
//!
//! * [`RawClient`]: routing, connections, deadlines, retries and errors of a client, for requests that the caller encodes and
//!   whose answers it decodes. [`driver::host`] drives its connections on a foreign event loop
//! * [`RawBatch`], [`RawQuery`]: the same for batches and queries
//! * `RawWriter` and `BlockWriter`, in [`writer`](crate::writer): the same for writing in bulk
//! * [`lane`], [`driver`], [`topology`], [`cluster`], [`connect`], [`command`]: state machines, encoders and decoders
//!
//! A service uses [`Client`](crate::Client), [`LocalClient`](crate::LocalClient) or [`SyncClient`](crate::SyncClient).

pub use crate::client::{
    BUFFERS_KEEP, BlockOps, BlockShape, Cursor, PartitionPlace, RawAttempt, RawBatch, RawCall, RawClient, RawFailure,
    RawKey, RawOps, RawOutcome, RawOutcomes, RawQuery, RawRecords, RawShape, RecordId, set_txn_timeout, txn_namespace,
    txn_timeout, with_buffers,
};
pub use crate::{clock, cluster, command, connect, driver, lane, topology};
