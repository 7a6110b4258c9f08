//! The writer of records that the caller has encoded: what [`Writer`](super::Writer), [`SyncWriter`](super::SyncWriter)
//! and bindings to other languages stand on.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use aerospike_core::BatchPolicy;
use tokio::runtime::Handle;

use super::block::{BlockOwner, BlockWriter};
use super::counts::{Progress, WriterMetrics};
use super::driver::{Inner, Owner, SenderRuntime, WriterKey};
use super::options::WriterOptions;
use super::outcome::Outcome;
use super::stream::Outcomes;
use crate::client::{BlockShape, RawClient, RawShape, Shared};
use crate::error::Result;
use crate::metrics::{MetricsExport, MetricsExporter};

/// A writer of encoded records. Cheap to clone; see [`Writer`](super::Writer) for what it does.
pub struct RawWriter<K: WriterKey>(Arc<Owner<K>>);

impl<K: WriterKey> Clone for RawWriter<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: WriterKey> RawWriter<K> {
    /// A writer whose requests are sent on the control plane's thread.
    ///
    /// # Errors
    /// A setting is out of its bounds, or the client is closed.
    pub fn new(client: &RawClient, options: WriterOptions) -> Result<Self> {
        Self::of(&client.shared, options, SenderRuntime::Control)
    }

    /// A writer whose requests are sent on the runtime of the calling task, if there is one.
    pub(super) fn here(shared: &Arc<Shared>, options: WriterOptions) -> Result<Self> {
        let runs = Handle::try_current().map_or(SenderRuntime::Control, SenderRuntime::Here);
        Self::of(shared, options, runs)
    }

    pub(super) fn on_control(shared: &Arc<Shared>, options: WriterOptions) -> Result<Self> {
        Self::of(shared, options, SenderRuntime::Control)
    }

    fn of(shared: &Arc<Shared>, options: WriterOptions, runs: SenderRuntime) -> Result<Self> {
        Ok(Self(Arc::new(Owner(Inner::new(Arc::clone(shared), options, runs)?))))
    }

    pub(super) fn inner(&self) -> &Arc<Inner<K>> {
        &self.0.0
    }

    /// The policy of the writer's batches: for [`RawShape`]s.
    #[must_use]
    pub fn batch_policy(&self) -> &BatchPolicy {
        self.0.0.batch_policy()
    }

    /// The settings.
    #[must_use]
    pub fn options(&self) -> &WriterOptions {
        self.0.0.options()
    }

    /// Hands a record over if there is room; gives it back if there is none.
    ///
    /// # Errors
    /// The writer or the client is closed, or the cluster has no such namespace.
    pub fn try_hand_over(&self, key: K, shape: RawShape) -> Result<std::result::Result<Outcome<K>, (K, RawShape)>> {
        self.0.0.try_hand_over(key, shape)
    }

    /// Hands a record over, as soon as there is room. A caller that stops waiting before has not handed it over.
    ///
    /// # Errors
    /// As [`try_hand_over`](Self::try_hand_over).
    pub async fn hand_over(&self, key: K, shape: RawShape) -> Result<Outcome<K>> {
        self.0.0.hand_over(key, shape).await
    }

    /// Hands rows over by the million: many that do the same to records of one set. `owner` hears their outcomes, and nobody
    /// else does.
    ///
    /// # Errors
    /// The cluster has no such namespace.
    pub fn blocks(&self, shape: BlockShape, owner: Arc<dyn BlockOwner<K>>) -> Result<BlockWriter<K>> {
        BlockWriter::new(Arc::clone(&self.0.0), shape, owner)
    }

    /// [`hand_over`](Self::hand_over) for threads.
    ///
    /// # Errors
    /// As [`try_hand_over`](Self::try_hand_over).
    pub fn hand_over_blocking(&self, key: K, shape: RawShape) -> Result<Outcome<K>> {
        match self.0.0.try_hand_over(key, shape)? {
            Ok(outcome) => Ok(outcome),
            Err((key, shape)) => self.0.0.block_on(self.hand_over(key, shape))?,
        }
    }

    /// Waits until all records that were handed over before have their outcomes.
    pub async fn flush(&self) {
        self.0.0.flush().await;
    }

    /// [`flush`](Self::flush) for threads.
    ///
    /// # Errors
    /// `ClientClosed`: the client was closed meanwhile.
    pub fn flush_blocking(&self) -> Result<()> {
        self.0.0.block_on(self.flush())
    }

    /// Takes no more records, and waits for what is outstanding, at most for `limit`. Gives the records that have not been
    /// confirmed by then, in the order in which they were handed over: their outcomes say whether they were sent.
    pub async fn close(&self, limit: Option<Duration>) -> Vec<Outcome<K>> {
        self.0.0.drain(limit).await
    }

    /// [`close`](Self::close) for threads.
    ///
    /// # Errors
    /// `ClientClosed`: the client was closed meanwhile, and with it the writer.
    pub fn close_blocking(&self, limit: Option<Duration>) -> Result<Vec<Outcome<K>>> {
        self.0.0.refuse_more();
        if self.progress().outstanding == 0 {
            return Ok(Vec::new());
        }
        self.0.0.block_on(self.close(limit))
    }

    /// Whether the writer takes no more records.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.0.is_closed()
    }

    /// The outcomes as they come, from now on.
    ///
    /// # Errors
    /// `InvalidArgument`: somebody takes them already.
    pub fn outcomes(&self) -> Result<Outcomes<K>> {
        self.0.0.outcomes()
    }

    /// Calls back with outcomes, some at a time, on the thread that has got them. In place of an earlier callback.
    pub fn on_outcomes(&self, callback: impl Fn(&[Outcome<K>]) + Send + Sync + 'static) {
        self.0.0.on_done(Arc::new(callback));
    }

    /// Calls back with the number of records that got their outcomes since the last time. In place of an earlier callback.
    pub fn on_progress(&self, callback: impl Fn(usize) + Send + Sync + 'static) {
        self.0.0.on_progress(Arc::new(callback));
    }

    /// How far it has come.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.0.0.progress()
    }

    /// What it has counted.
    #[must_use]
    pub fn metrics(&self) -> WriterMetrics {
        self.0.0.metrics()
    }

    /// Gives what it has counted for as long as the writer is there, which it does not keep: the source of an export.
    pub fn metrics_source(&self) -> impl Fn() -> Option<WriterMetrics> + Send + Sync + use<K> {
        let inner = Arc::downgrade(&self.0.0);
        move || inner.upgrade().map(|inner| inner.metrics())
    }

    /// Gives an exporter what it has counted, after each interval and on a thread of its own, until the handle is dropped.
    ///
    /// # Errors
    /// `InvalidArgument` for an interval below [`MetricsExport::LEAST_INTERVAL`]; when there is no thread to be had.
    pub fn export_metrics(
        &self,
        interval: Duration,
        exporter: impl MetricsExporter<WriterMetrics>,
    ) -> Result<MetricsExport<WriterMetrics>> {
        let export = MetricsExport::on_thread(exporter, self.metrics_source())?;
        export.restart(interval)?;
        Ok(export)
    }
}

impl<K: WriterKey> fmt::Debug for RawWriter<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawWriter").field("progress", &self.progress()).finish_non_exhaustive()
    }
}
