//! What a record of a writer does, by the policy of a single write. Its timeouts and retries do not count: those are the
//! writer's.

use aerolane_wire::WireError;
use aerolane_wire::message::op;
use aerolane_wire::particle::particle_type;
use aerospike_core::{BatchDeletePolicy, BatchPolicy, BatchUdfPolicy, BatchWritePolicy, WritePolicy};

use crate::client::{RawOps, RawShape};
use crate::command::encode::too_big;
use crate::error::{Error, Result};

/// Writes with operations; `info1`: what they also read. `batch`: of the writer.
///
/// # Errors
/// `InvalidArgument`: the policy names a transaction, or the filter or the generation cannot be sent.
pub fn write(batch: &BatchPolicy, policy: &WritePolicy, info1: u8, ops: RawOps) -> Result<RawShape> {
    check(policy)?;
    let row = BatchWritePolicy {
        filter_expression: policy.base_policy.filter_expression.clone(),
        record_exists_action: policy.record_exists_action,
        generation_policy: policy.generation_policy,
        commit_level: policy.commit_level,
        generation: policy.generation,
        expiration: policy.expiration,
        send_key: policy.send_key,
        durable_delete: policy.durable_delete,
        on_locking_only: policy.on_locking_only,
    };
    Ok(RawShape::write(batch, &row, info1, ops)?.answering_once())
}

/// Resets the TTL.
///
/// # Errors
/// As [`write()`].
pub fn touch(batch: &BatchPolicy, policy: &WritePolicy) -> Result<RawShape> {
    let mut ops = RawOps::default();
    ops.push(op::TOUCH, particle_type::NIL, b"", |_| Ok::<_, WireError>(())).map_err(too_big)?;
    write(batch, policy, 0, ops)
}

/// Deletes the record.
///
/// # Errors
/// As [`write()`].
pub fn delete(batch: &BatchPolicy, policy: &WritePolicy) -> Result<RawShape> {
    check(policy)?;
    let row = BatchDeletePolicy {
        filter_expression: policy.base_policy.filter_expression.clone(),
        generation_policy: policy.generation_policy,
        generation: policy.generation,
        commit_level: policy.commit_level,
        durable_delete: policy.durable_delete,
        send_key: policy.send_key,
    };
    RawShape::delete(batch, &row)
}

/// Applies a function of a UDF module: package, name. `arguments`: a packed list.
///
/// # Errors
/// As [`write()`].
pub fn udf(batch: &BatchPolicy, policy: &WritePolicy, function: (&str, &str), arguments: &[u8]) -> Result<RawShape> {
    check(policy)?;
    let row = BatchUdfPolicy {
        filter_expression: policy.base_policy.filter_expression.clone(),
        commit_level: policy.commit_level,
        durable_delete: policy.durable_delete,
        send_key: policy.send_key,
        expiration: policy.expiration,
        on_locking_only: policy.on_locking_only,
    };
    RawShape::udf(batch, &row, function, arguments)
}

fn check(policy: &WritePolicy) -> Result<()> {
    if policy.base_policy.txn.is_some() {
        return Err(Error::invalid_argument(
            "a writer cannot take part in a transaction: use put, operate or batch of the client",
        ));
    }
    Ok(())
}
