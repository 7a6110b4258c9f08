//! A row that is alone on its node goes there as a plain command, as in aerospike-core: the server carries it out at
//! once instead of putting it into a batch queue, and it can share a pipelined connection.

use std::sync::Arc;

use aerospike_core::expressions::Expression;
use aerospike_core::{BasePolicy, BatchPolicy, ReadTouchTtl, Record, WritePolicy};

use super::BatchOperation;
use super::operation::BatchKind;
use super::patch::RowPatches;
use crate::command::decode::{self, Want};
use crate::command::encode as single;
use crate::error::{Error, ErrorKind, Result};
use crate::operations::{Operation, Ours};

/// Whether a row can go as a plain command. Not UDFs, and not what only aerospike-core can encode.
#[must_use]
pub fn fits_single(row: &BatchOperation) -> bool {
    !matches!(row.kind(), BatchKind::Udf(_)) && !row.needs_core()
}

/// Appends the frame of a plain command that does what the row asks for.
pub fn encode_single(policy: &BatchPolicy, row: &BatchOperation, timeout_ms: u32, out: &mut Vec<u8>) -> Result<()> {
    encode_single_patched((policy, RowPatches::default()), row, timeout_ms, out)
}

/// [`encode_single`] with what goes over the policy of the row.
pub(crate) fn encode_single_patched(
    (policy, patches): (&BatchPolicy, RowPatches),
    row: &BatchOperation,
    timeout_ms: u32,
    out: &mut Vec<u8>,
) -> Result<()> {
    let key = row.key();
    match row.kind() {
        BatchKind::Read { policy: read, bins } => {
            let base = base_of(policy, read.filter_expression.as_ref(), Some(read.read_touch_ttl));
            single::read(&base, key, bins, timeout_ms, out)
        }
        BatchKind::ReadOps { policy: read, ops } => {
            if ops.iter().any(|op| op.ours().is_ok_and(Ours::is_write)) {
                return Err(Error::invalid_argument("a row that reads holds an operation that writes"));
            }
            let base_policy = base_of(policy, read.filter_expression.as_ref(), Some(read.read_touch_ttl));
            let write = WritePolicy { base_policy, respond_per_each_op: true, ..WritePolicy::default() };
            single::operate(&write, key, ops, timeout_ms, out)
        }
        BatchKind::Write { policy: row, ops } => {
            if !ops.iter().any(Operation::is_write) {
                return Err(Error::invalid_argument("a row that writes holds no operation that writes"));
            }
            let write = WritePolicy {
                base_policy: base_of(policy, row.filter_expression.as_ref(), None),
                record_exists_action: row.record_exists_action,
                generation_policy: row.generation_policy,
                commit_level: row.commit_level,
                generation: row.generation,
                expiration: row.expiration,
                send_key: patches.write.send_key.unwrap_or(row.send_key),
                respond_per_each_op: true,
                durable_delete: patches.write.durable_delete.unwrap_or(row.durable_delete),
                on_locking_only: row.on_locking_only,
                ..WritePolicy::default()
            };
            single::operate(&write, key, ops, timeout_ms, out)
        }
        BatchKind::Delete { policy: row } => {
            let write = WritePolicy {
                base_policy: base_of(policy, row.filter_expression.as_ref(), None),
                generation_policy: row.generation_policy,
                commit_level: row.commit_level,
                generation: row.generation,
                durable_delete: patches.delete.durable_delete.unwrap_or(row.durable_delete),
                ..WritePolicy::default()
            };
            single::delete(&write, key, timeout_ms, out)
        }
        BatchKind::Udf(_) => Err(Error::client_error("a UDF row cannot be sent as a single-record command")),
    }
}

/// What the answer to [`encode_single`]'s command says about the row; the inner error is the row's failure. The outer one:
/// the answer cannot be understood.
pub fn decode_single(
    policy: &BatchPolicy,
    row: &BatchOperation,
    body: &[u8],
    node: &Arc<str>,
) -> Result<Result<Record>> {
    let want = match row.kind() {
        BatchKind::Read { bins, .. } => Want::get(&policy.base_policy, bins),
        BatchKind::Delete { .. } => Want { bins: false, results: false, nil_bins: false },
        _ => Want::OPERATE,
    };
    match decode::record(body, want, node) {
        Ok(record) => Ok(Ok(record)),
        Err(error) if matches!(error.kind(), ErrorKind::Server { .. }) => Ok(Err(error)),
        Err(error) => Err(error),
    }
}

fn base_of(policy: &BatchPolicy, filter: Option<&Expression>, read_touch_ttl: Option<ReadTouchTtl>) -> BasePolicy {
    let mut base = policy.base_policy.clone();
    if let Some(filter) = filter {
        base.filter_expression = Some(filter.clone());
    }
    if let Some(ttl) = read_touch_ttl {
        base.read_touch_ttl = ttl;
    }
    base
}
