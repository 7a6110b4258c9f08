//! A batch row: key, operation and, after the call, its outcome.

use aerospike_core::{
    BatchDeletePolicy, BatchReadPolicy, BatchUdfPolicy, BatchWritePolicy, Bins, Key, Record, ResultCode, Value,
};

use super::patch::RowPatches;
use super::policy::RowPolicy;
use super::{BatchRecord, RowAnswer};
use crate::command;
use crate::command::decode::Want;
use crate::error::{Error, Result};
use crate::operations::{Operation, to_core};

/// One row of a batch call.
///
/// Build rows with [`read`](Self::read), [`read_ops`](Self::read_ops), [`write`](Self::write),
/// [`delete`](Self::delete) and [`udf`](Self::udf), pass them to `Client::batch`, then look at the outcome.
#[derive(Clone, Debug)]
pub struct BatchOperation {
    row: BatchRecord,
    kind: BatchKind,
}

/// What a row does.
#[derive(Clone, Debug)]
pub(crate) enum BatchKind {
    Read { policy: RowPolicy<BatchReadPolicy>, bins: Bins },
    ReadOps { policy: RowPolicy<BatchReadPolicy>, ops: Vec<Operation> },
    Write { policy: RowPolicy<BatchWritePolicy>, ops: Vec<Operation> },
    Delete { policy: RowPolicy<BatchDeletePolicy> },
    Udf(Box<Udf>),
}

#[derive(Clone, Debug)]
pub(crate) struct Udf {
    pub(crate) policy: BatchUdfPolicy,
    pub(crate) package: String,
    pub(crate) function: String,
    pub(crate) args: Vec<Value>,
}

/// Building rows.
impl BatchOperation {
    /// Inlined with its callers, so that a row is built in its place in the caller's list: it has some 450 bytes.
    #[allow(clippy::inline_always)] // measured: three copies of a row less
    #[inline(always)]
    const fn new(key: Key, has_write: bool, kind: BatchKind) -> Self {
        Self { row: BatchRecord::new(key, has_write), kind }
    }

    /// Reads bins: all, some, or none (generation and expiration only).
    ///
    /// [`Record::results`] is filled as `get` fills it: if the batch's
    /// [`populate_positional_results`](aerospike_core::BasePolicy::populate_positional_results) asks for it. (In
    /// aerospike-core that depends on how many rows go to one node.)
    #[must_use]
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub fn read(policy: &BatchReadPolicy, key: Key, bins: Bins) -> Self {
        Self::new(key, false, BatchKind::Read { policy: RowPolicy::of(policy), bins })
    }

    /// Reads with operations. None of them may write.
    ///
    /// Each of them answers, as in [`operate`](crate::Client::operate) with
    /// [`respond_per_each_op`](aerospike_core::WritePolicy::respond_per_each_op): what is not there is
    /// [`Value::Nil`](aerospike_core::Value::Nil), in [`Record::bins`] and in [`Record::results`]. Only beside a read of
    /// all bins the server leaves it out. (In aerospike-core that depends on how many rows go to one node.)
    #[must_use]
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub fn read_ops(policy: &BatchReadPolicy, key: Key, ops: impl Into<Vec<Operation>>) -> Self {
        let kind = BatchKind::ReadOps { policy: RowPolicy::of(policy), ops: ops.into() };
        Self::new(key, false, kind)
    }

    /// Writes with operations. At least one of them must write.
    #[must_use]
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub fn write(policy: &BatchWritePolicy, key: Key, ops: impl Into<Vec<Operation>>) -> Self {
        let kind = BatchKind::Write { policy: RowPolicy::of(policy), ops: ops.into() };
        Self::new(key, true, kind)
    }

    /// Deletes the record.
    #[must_use]
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub fn delete(policy: &BatchDeletePolicy, key: Key) -> Self {
        Self::new(key, true, BatchKind::Delete { policy: RowPolicy::of(policy) })
    }

    /// Applies a function of a registered UDF module.
    #[must_use]
    pub fn udf(
        policy: &BatchUdfPolicy,
        key: Key,
        package_name: impl Into<String>,
        function_name: impl Into<String>,
        args: impl Into<Vec<Value>>,
    ) -> Self {
        let udf = Udf {
            policy: policy.clone(),
            package: package_name.into(),
            function: function_name.into(),
            args: args.into(),
        };
        Self::new(key, true, BatchKind::Udf(Box::new(udf)))
    }
}

/// The outcome.
impl BatchOperation {
    /// The record, if the row succeeded.
    #[must_use]
    pub const fn record(&self) -> Option<&Record> {
        self.row.record.as_ref()
    }

    /// Moves the record out.
    pub const fn take_record(&mut self) -> Option<Record> {
        self.row.record.take()
    }

    /// The row's result code, see [`BatchRecord::result_code`].
    #[must_use]
    pub fn result_code(&self) -> Option<ResultCode> {
        self.row.result_code()
    }

    /// Whether a write may have been applied despite an error.
    #[must_use]
    pub fn in_doubt(&self) -> bool {
        self.row.in_doubt()
    }

    /// Why the row failed.
    #[must_use]
    pub const fn error(&self) -> Option<&Error> {
        self.row.error()
    }

    /// The node behind a failed row.
    #[must_use]
    pub fn node(&self) -> Option<&str> {
        self.row.node()
    }

    /// Key and outcome.
    #[must_use]
    pub const fn batch_record(&self) -> &BatchRecord {
        &self.row
    }

    /// Key and outcome, moved out.
    #[must_use]
    pub fn into_batch_record(self) -> BatchRecord {
        self.row
    }
}

/// For the client.
impl BatchOperation {
    /// The key.
    #[must_use]
    pub const fn key(&self) -> &Key {
        &self.row.key
    }

    /// Whether the row can change its record: then it goes to the master.
    #[must_use]
    pub const fn has_write(&self) -> bool {
        self.row.has_write()
    }

    /// Whether the row has no outcome yet.
    #[must_use]
    pub const fn is_pending(&self) -> bool {
        self.row.is_pending()
    }

    pub(crate) const fn kind(&self) -> &BatchKind {
        &self.kind
    }

    /// Whether only aerospike-core can encode this row.
    pub(crate) fn needs_core(&self) -> bool {
        match &self.kind {
            BatchKind::ReadOps { ops, .. } | BatchKind::Write { ops, .. } => command::operations_need_core(ops),
            BatchKind::Read { .. } | BatchKind::Delete { .. } | BatchKind::Udf(_) => false,
        }
    }

    /// Back to pending, at the start of a call.
    pub(crate) fn clear(&mut self) {
        self.row.clear();
    }

    /// Takes in what the server said. `requests_sent` counts the requests that held this row, for "in doubt"; `results`:
    /// fill the results of plain reads, too.
    ///
    /// # Errors
    /// The answer cannot be understood; the row is pending then.
    #[inline]
    pub(crate) fn answer(&mut self, answer: &mut RowAnswer<'_, '_>, results: bool, requests_sent: u32) -> Result<()> {
        let plain_read = matches!(self.kind, BatchKind::Read { .. });
        let want = Want { results: results || !plain_read, ..Want::OPERATE };
        if let Some(error) = answer.decode(want, &mut self.row.record)? {
            self.row.error = Some(error.set_in_doubt(self.row.has_write(), requests_sent));
        }
        Ok(())
    }

    /// Takes in the outcome of a row that went alone.
    pub(crate) fn succeed(&mut self, record: Record) {
        self.row.set_ok(record);
    }

    /// Marks the row as failed.
    pub(crate) fn fail(&mut self, error: Error) {
        self.row.set_error(error, None);
    }

    /// Gives the row its own copy of a failure of the whole request, unless it has an outcome. Reads are never in doubt.
    pub(crate) fn stamp_unanswered(&mut self, cause: &Error) {
        if self.row.is_pending() {
            let error = cause.clone();
            self.row.set_error(if self.has_write() { error } else { error.force_in_doubt(false) }, None);
        }
    }

    /// The same row for aerospike-core, without outcome; `patches` go over its policy.
    ///
    /// # Errors
    /// An operation of it cannot be sent.
    pub(crate) fn to_core(&self, patches: RowPatches) -> Result<aerospike_core::BatchOperation> {
        use aerospike_core::BatchOperation as Core;
        let key = self.row.key.clone();
        let set = |field: &mut bool, value: Option<bool>| *field = value.unwrap_or(*field);
        Ok(match &self.kind {
            BatchKind::Write { policy, ops } if patches.active => {
                let mut policy = BatchWritePolicy::clone(policy);
                set(&mut policy.send_key, patches.write.send_key);
                set(&mut policy.durable_delete, patches.write.durable_delete);
                Core::write(&policy, key, to_core(ops)?)
            }
            BatchKind::Delete { policy } if patches.active => {
                let mut policy = BatchDeletePolicy::clone(policy);
                set(&mut policy.send_key, patches.delete.send_key);
                set(&mut policy.durable_delete, patches.delete.durable_delete);
                Core::delete(&policy, key)
            }
            BatchKind::Udf(udf) if patches.active => {
                let mut policy = udf.policy.clone();
                set(&mut policy.send_key, patches.udf.send_key);
                set(&mut policy.durable_delete, patches.udf.durable_delete);
                Core::udf(&policy, key, udf.package.as_str(), udf.function.as_str(), udf.args.clone())
            }
            BatchKind::Read { policy, bins } => Core::read(policy, key, bins.clone()),
            BatchKind::ReadOps { policy, ops } => Core::read_ops(policy, key, to_core(ops)?),
            BatchKind::Write { policy, ops } => Core::write(policy, key, to_core(ops)?),
            BatchKind::Delete { policy } => Core::delete(policy, key),
            BatchKind::Udf(udf) => {
                Core::udf(&udf.policy, key, udf.package.as_str(), udf.function.as_str(), udf.args.clone())
            }
        })
    }

    /// Takes over the outcome that aerospike-core found for this row.
    pub(crate) fn absorb(&mut self, core: aerospike_core::BatchOperation) {
        self.row.absorb(core.into_batch_record());
    }
}
