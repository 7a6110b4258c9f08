//! The writers of Rust programs: async and blocking.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use aerospike_core::{Bin, Key, Value, WritePolicy};

use super::counts::{Progress, WriterMetrics};
use super::options::WriterOptions;
use super::outcome::Outcome;
use super::outcome_list::{NewOutcome, OutcomeList};
use super::put::{MakeKey, PutQueue, PutShapes};
use super::raw::RawWriter;
use super::record::{Change, RecordKey, encode_bins};
use super::shape;
use super::stream::Outcomes;
use crate::client::{Client, RawOps, RawShape, SyncClient};
use crate::error::Result;
use crate::metrics::{MetricsExport, MetricsExporter};
use crate::operations::Operation;

/// Writes records in bulk, with the outcome of each one known.
///
/// Records are handed over one by one; the writer gathers those that go to the same node into batches, sends a lone record at
/// once as a single command, tries again what is worth it, and bounds what is outstanding. Each call returns at once with an
/// [`Outcome`], to be awaited, asked or dropped; it waits only while
/// [`max_outstanding_records`](WriterOptions::max_outstanding_records) or
/// [`max_outstanding_bytes`](WriterOptions::max_outstanding_bytes) are reached.
///
/// * Two writes of the same key take effect in the order in which they were handed over, also across retries: the second one is
///   not sent before the first has its outcome. (A write whose attempt timed out is in doubt, and what a stalled server does
///   with it later is out of the writer's hands.)
/// * The policy says what is written: expiration, generation, filter, user key. Its timeouts and retries do not apply; those
///   are the writer's. A transaction is refused.
/// * Dropping the last handle lets what is outstanding go on in the background; [`close`](Self::close) waits for it, and says
///   what did not go.
///
/// Cheap to clone. Not for reads, and not where a single record's latency is all that matters: use the client there.
///
/// ```no_run
/// # use aerolane::*;
/// # async fn demo(client: &Client) -> Result<()> {
/// let writer = client.writer(WriterOptions::default())?;
/// let policy = WritePolicy::default();
/// let mut outcomes = Vec::new();
/// for id in 0..100_000 {
///     outcomes.push(writer.put(&policy, &as_key!("test", "demo", id), &[as_bin!("n", id)]).await?);
/// }
/// for outcome in outcomes {
///     let written = outcome.await?;
///     assert!(written.generation() > 0);
/// }
/// let left = writer.close(None).await;
/// assert!(left.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Writer(RawWriter<RecordKey>, Arc<PutShapes<RecordKey>>);

/// [`Writer`] for code without async: a call blocks its thread while there is no room for a further record. The requests are
/// sent on the client's own control thread.
#[derive(Clone)]
pub struct SyncWriter(RawWriter<RecordKey>, Arc<PutShapes<RecordKey>>);

/// Defines the methods of both, with what their calls wait by.
macro_rules! writer_methods {
    ($hand_over:ident, ($($async:tt)*) ($($wait:tt)*)) => {
        /// Writes bins; a nil value removes its bin. Other bins of the record stay as they are.
        ///
        /// # Errors
        /// `WriterClosed`, `ClientClosed`, `InvalidNamespace`, or `InvalidArgument` for what cannot be sent. All else is
        /// the outcome's.
        pub $($async)* fn put(&self, policy: &WritePolicy, key: &Key, bins: &[Bin]) -> Result<Outcome> {
            match try_put(&self.0, &self.1, policy, key, bins)? {
                Ok(outcome) => Ok(outcome),
                Err((key, shape)) => self.0.$hand_over(key, shape) $($wait)*,
            }
        }

        /// [`put`](Self::put) of many records, one after the other, for less. `outcomes` gets theirs, in order: also of those before
        /// an error, or before the caller has stopped waiting.
        ///
        /// # Errors
        /// As [`put`](Self::put), of the first record that has one. Those before it were handed over.
        pub $($async)* fn put_many(
            &self,
            policy: &WritePolicy,
            records: &[(Key, Vec<Bin>)],
            outcomes: &mut OutcomeList,
        ) -> Result<()> {
            let template = shape::write(self.0.batch_policy(), policy, 0, RawOps::default())?;
            let mut queue = PutQueue::default();
            let mut records = records.iter();
            while !records.as_slice().is_empty() {
                let gathered = gather(&mut records, &mut queue);
                while !queue.is_empty() {
                    let made = &mut |outcome: NewOutcome<'_, RecordKey>| outcomes.push(outcome);
                    if let Some((key, shape)) = self.1.put_all(&self.0, &template, &mut queue, sibling, made)? {
                        outcomes.push(self.0.$hand_over(key, shape) $($wait)*?);
                    }
                }
                gathered?;
            }
            Ok(())
        }

        /// Carries out several operations on a record, of which at least one writes. What they return is
        /// [`Written::record`](super::Written::record).
        ///
        /// # Errors
        /// As [`put`](Self::put).
        pub $($async)* fn operate(
            &self,
            policy: &WritePolicy,
            key: &Key,
            operations: &[Operation],
        ) -> Result<Outcome> {
            self.change(policy, key, Change::Operate(operations)) $($wait)*
        }

        /// Deletes a record. One that is not there counts as deleted:
        /// [`Written::existed`](super::Written::existed) tells.
        ///
        /// # Errors
        /// As [`put`](Self::put).
        pub $($async)* fn delete(&self, policy: &WritePolicy, key: &Key) -> Result<Outcome> {
            self.change(policy, key, Change::Delete) $($wait)*
        }

        /// Resets the TTL of a record (to the policy's expiration) and counts up its generation.
        ///
        /// # Errors
        /// As [`put`](Self::put).
        pub $($async)* fn touch(&self, policy: &WritePolicy, key: &Key) -> Result<Outcome> {
            self.change(policy, key, Change::Touch) $($wait)*
        }

        /// Applies a function of a UDF module to a record. What it returns is the bin `SUCCESS` of
        /// [`Written::record`](super::Written::record).
        ///
        /// # Errors
        /// As [`put`](Self::put).
        pub $($async)* fn execute_udf(
            &self,
            policy: &WritePolicy,
            key: &Key,
            package_name: &str,
            function_name: &str,
            args: &[Value],
        ) -> Result<Outcome> {
            let change = Change::Udf { package: package_name, function: function_name, args };
            self.change(policy, key, change) $($wait)*
        }

        $($async)* fn change(&self, policy: &WritePolicy, key: &Key, change: Change<'_>) -> Result<Outcome> {
            let shape = change.shape(self.0.batch_policy(), policy)?;
            self.0.$hand_over(RecordKey::of(key)?, shape) $($wait)*
        }

        /// The outcomes of records as they come, from now on.
        ///
        /// # Errors
        /// `InvalidArgument`: somebody takes them already.
        pub fn outcomes(&self) -> Result<Outcomes> {
            self.0.outcomes()
        }

        /// Calls back with each outcome, on the thread that has got it: it must not block. In place of an earlier callback.
        pub fn on_outcome(&self, callback: impl Fn(&Outcome) + Send + Sync + 'static) {
            self.0.on_outcomes(move |outcomes| outcomes.iter().for_each(&callback));
        }

        /// Calls back with the number of records that got their outcomes since the last time, on the thread that has got
        /// them: for progress bars. In place of an earlier callback.
        pub fn on_progress(&self, callback: impl Fn(usize) + Send + Sync + 'static) {
            self.0.on_progress(callback);
        }

        /// Whether the writer takes no more records.
        #[must_use]
        pub fn is_closed(&self) -> bool {
            self.0.is_closed()
        }

        /// How far it has come.
        #[must_use]
        pub fn progress(&self) -> Progress {
            self.0.progress()
        }

        /// What it has counted.
        #[must_use]
        pub fn metrics(&self) -> WriterMetrics {
            self.0.metrics()
        }

        /// Gives an exporter what it has counted, after each interval and on a thread of its own, so that one which fails or blocks
        /// costs no record. Ends when the handle is dropped; [`MetricsExport::finish`], called after [`close`](Self::close), exports
        /// the rest. [`LogExporter`](super::LogExporter) and [`JsonLines`](super::JsonLines) are exporters;
        /// [`WriterMetrics::to_prometheus`] needs none.
        ///
        /// ```no_run
        /// # use std::time::Duration;
        /// use aerolane::writer::JsonLines;
        ///
        /// # fn demo(writer: &aerolane::SyncWriter) -> Result<(), Box<dyn std::error::Error>> {
        /// let file = std::fs::File::create("writer.jsonl")?;
        /// let export = writer.export_metrics(Duration::from_secs(10), JsonLines::new(file))?;
        /// // ... records ...
        /// writer.close(None)?;
        /// export.finish(Duration::from_secs(5));
        /// # Ok(())
        /// # }
        /// ```
        ///
        /// # Errors
        /// `InvalidArgument` for an interval below [`MetricsExport::LEAST_INTERVAL`]; when there is no thread to be had.
        pub fn export_metrics(
            &self,
            interval: Duration,
            exporter: impl MetricsExporter<WriterMetrics>,
        ) -> Result<MetricsExport<WriterMetrics>> {
            self.0.export_metrics(interval, exporter)
        }
    };
}

/// Hands a put over as a row of a block. `Err`: it is to be handed over as this record.
fn try_put(
    writer: &RawWriter<RecordKey>,
    shapes: &PutShapes<RecordKey>,
    policy: &WritePolicy,
    key: &Key,
    bins: &[Bin],
) -> Result<std::result::Result<Outcome, (RecordKey, RawShape)>> {
    let template = shape::write(writer.batch_policy(), policy, 0, RawOps::default())?;
    let key = RecordKey::of(key)?;
    let mut ops = RawOps::in_kept_buffer();
    encode_bins(bins, &mut ops)?;
    Ok(shapes.put(writer, &template, &key, ops, || sibling(&key))?.map_err(|shape| (key, shape)))
}

/// Makes keys of the set of this one.
fn sibling(of: &RecordKey) -> MakeKey<RecordKey> {
    let of = of.clone();
    Box::new(move |digest, user_key| of.sibling(digest, user_key))
}

/// Queues records until they are to be handed over.
fn gather(records: &mut std::slice::Iter<'_, (Key, Vec<Bin>)>, queue: &mut PutQueue<RecordKey>) -> Result<()> {
    while !queue.is_full()
        && let Some((key, bins)) = records.next()
    {
        let key = RecordKey::of(key)?;
        let mut ops = queue.ops();
        encode_bins(bins, &mut ops)?;
        queue.push(key, ops);
    }
    Ok(())
}

impl Writer {
    writer_methods! { hand_over, (async) (.await) }

    /// Waits until all records that were handed over before have their outcomes, whatever these are.
    pub async fn flush(&self) {
        self.0.flush().await;
    }

    /// Takes no more records, and waits for what is outstanding, at most for `limit` (`None`: until each record has its
    /// outcome, which [`record_ttl`](WriterOptions::record_ttl) bounds).
    ///
    /// Gives the records that have no confirmation by then, in the order in which they were handed over. Their outcomes are
    /// `WriterClosed`, in doubt for those that were in flight.
    pub async fn close(&self, limit: Option<Duration>) -> Vec<Outcome> {
        self.0.close(limit).await
    }
}

impl SyncWriter {
    writer_methods! { hand_over_blocking, () () }

    /// Waits until all records that were handed over before have their outcomes, whatever these are.
    ///
    /// # Errors
    /// `ClientClosed`: the client was closed meanwhile.
    pub fn flush(&self) -> Result<()> {
        self.0.flush_blocking()
    }

    /// Takes no more records, and waits for what is outstanding; see [`Writer::close`].
    ///
    /// # Errors
    /// `ClientClosed`: the client was closed meanwhile.
    pub fn close(&self, limit: Option<Duration>) -> Result<Vec<Outcome>> {
        self.0.close_blocking(limit)
    }
}

impl Client {
    /// A writer of many records. Its requests are sent on the runtime of the calling task.
    ///
    /// # Errors
    /// `InvalidArgument`: a setting is out of its bounds. `ClientClosed`.
    pub fn writer(&self, options: WriterOptions) -> Result<Writer> {
        RawWriter::here(&self.shared, options).map(|raw| Writer(raw, Arc::default()))
    }
}

impl SyncClient {
    /// A writer of many records; see [`Client::writer`].
    ///
    /// # Errors
    /// `InvalidArgument`: a setting is out of its bounds. `ClientClosed`.
    pub fn writer(&self, options: WriterOptions) -> Result<SyncWriter> {
        RawWriter::on_control(&self.shared, options).map(|raw| SyncWriter(raw, Arc::default()))
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Writer").field(&self.progress()).finish()
    }
}

impl fmt::Debug for SyncWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SyncWriter").field(&self.progress()).finish()
    }
}
