//! Batches: rows go to their nodes as one request each, outcomes come back into the rows.
//!
//! [`BatchCall`] decides and takes outcomes in, without I/O; [`on_lane`] and [`on_pools`] carry it out. A group is the rows
//! that go to one node at the same time. When its request fails, its unanswered rows are routed anew, by the rules of
//! [`Attempts`](super::attempts::Attempts); the other groups go on.

mod block;
mod call;
mod delegate;
mod on_lane;
mod on_pools;
mod parts;
mod raw_rows;
mod raw_shape;
mod request;
mod rows;
mod written;

pub(crate) use block::{Block, BlockAnswers, BlockOutcome, SentBlock};
pub use block::{BlockOps, BlockShape};
pub(super) use delegate::Delegated;
pub(super) use on_lane::run as on_lane;
pub(super) use on_pools::run as on_pools;
pub use raw_rows::{RawBatch, RawOutcome, RawOutcomes};
pub use raw_shape::{RawKey, RawOps, RawShape};
pub(super) use rows::{Rows, Target, left_to_rows};
pub(crate) use written::WrittenRows;

use aerospike_core::BatchPolicy;

use crate::batch::BatchOperation;
use crate::client::txn;
use crate::error::Result;

/// Whether a batch must be left to aerospike-core as a whole: with operations that were made there.
///
/// # Errors
/// It belongs to a transaction, of which aerospike-core knows nothing.
pub(super) fn batch_needs_core(policy: &BatchPolicy, rows: &[BatchOperation]) -> Result<bool> {
    let needs_core = rows.iter().any(BatchOperation::needs_core);
    if needs_core {
        txn::refuse(&policy.base_policy, "an operation that was made by aerospike-core")?;
    }
    Ok(needs_core)
}

/// Defines the batch methods of an async client, which has `shared`, `core_call(future)` and a lane (`$lane`, of `$client`).
macro_rules! async_batch_methods {
    (|$client:ident| $lane:expr) => {
        /// Reads, writes and deletes many records, each row with its own outcome.
        ///
        /// The rows of one node are one request, or several if they are many: at most 1,000 rows and about 1 MiB each, four
        /// of them in flight. [`BatchPolicy::concurrency`] says whether the nodes work at the same time. The default
        /// `total_timeout` (1,000 ms) is 1 s for each started 5,000 rows or 8 MiB of requests; others hold as they are. A failing row (no such record, filtered out, a wrong generation) fails alone: look at
        /// [`BatchOperation::error`]. `Err` is the first failure of a whole request after its retries; its rows carry
        /// it too, and rows of other nodes keep their outcomes. An argument that cannot be sent fails the whole call
        /// before anything is sent.
        ///
        /// For batches with writes use [`BatchPolicy::write_default`], which does not retry.
        ///
        /// ```no_run
        /// # use aerolane::*;
        /// # async fn demo(client: &Client) -> Result<()> {
        /// let read = BatchReadPolicy::default();
        /// let mut rows: Vec<_> = (0..100)
        ///     .map(|id| BatchOperation::read(&read, as_key!("test", "demo", id), Bins::All))
        ///     .collect();
        /// client.batch(&BatchPolicy::default(), &mut rows).await?;
        /// for row in &rows {
        ///     match row.record() {
        ///         Some(record) => println!("{:?}", record.bins),
        ///         None => println!("{:?}: {:?}", row.key(), row.result_code()),
        ///     }
        /// }
        /// # Ok(())
        /// # }
        /// ```
        pub async fn batch(&self, policy: &BatchPolicy, rows: &mut [BatchOperation]) -> Result<()> {
            let needs_core = batch_needs_core(policy, rows)?;
            if policy.base_policy.txn.is_some() {
                return Box::pin(txn::batch(&self.shared, policy, rows)).await?;
            }
            if needs_core {
                let overlaid = self.shared.cluster.overlay().batch(policy);
                let policy = overlaid.as_deref().unwrap_or(policy);
                let mut delegated = Delegated::new(rows, self.shared.cluster.overlay().rows())?;
                let result = self.core_call(self.core().batch(policy, delegated.core_rows())).await;
                return delegated.finish(result);
            }
            let nobody = None::<fn(usize, &[BatchOperation]) -> std::future::Ready<bool>>;
            let $client = self;
            on_lane(&$client.shared.cluster, LaneRef::Tasks($lane), policy, rows, nobody).await
        }

        /// [`batch`](Self::batch) that tells `on_row` of each row (its place in `rows`, its outcome) as the answers
        /// arrive, each row once. `false` ends the batch: rows that were not answered stay pending, and `Ok` is
        /// returned. Nodes that answer while `on_row` waits are read afterwards.
        pub async fn batch_foreach<F, Fut>(
            &self,
            policy: &BatchPolicy,
            rows: &mut [BatchOperation],
            on_row: F,
        ) -> Result<()>
        where
            F: Fn(usize, &BatchRecord) -> Fut,
            Fut: Future<Output = bool>,
        {
            if batch_needs_core(policy, rows)? || policy.base_policy.txn.is_some() {
                let result = Box::pin(self.batch(policy, rows)).await;
                for (index, row) in rows.iter().enumerate() {
                    if !on_row(index, row.batch_record()).await {
                        return Ok(());
                    }
                }
                return result;
            }
            let $client = self;
            let on_row = |index: usize, rows: &[BatchOperation]| on_row(index, rows[index].batch_record());
            on_lane(&$client.shared.cluster, LaneRef::Tasks($lane), policy, rows, Some(on_row)).await
        }
    };
}

pub(super) use async_batch_methods;
