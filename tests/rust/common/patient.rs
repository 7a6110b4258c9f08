//! Policies for calls whose time is not what a test is about.

use std::sync::Arc;

use aerospike_core::{AdminPolicy, BatchPolicy, QueryPolicy, ReadPolicy, Txn, WritePolicy};

/// In milliseconds: longer than a machine that tests run on is busy with something else, or stands still.
pub(crate) const PATIENCE_MS: u32 = 60_000;

/// A policy as it is by default, but with the time of [`PATIENCE_MS`] where the default has a limit.
pub(crate) trait Patient: Default {
    fn patient() -> Self;
}

macro_rules! patient {
    ($($policy:ty),*) => {$(
        impl Patient for $policy {
            fn patient() -> Self {
                let mut policy = Self::default();
                let base = &mut policy.base_policy;
                base.socket_timeout = PATIENCE_MS;
                base.total_timeout = if base.total_timeout == 0 { 0 } else { PATIENCE_MS };
                policy
            }
        }
    )*};
}

patient!(ReadPolicy, WritePolicy, BatchPolicy, QueryPolicy);

impl Patient for AdminPolicy {
    fn patient() -> Self {
        Self { timeout: PATIENCE_MS }
    }
}

/// [`BatchPolicy::write_default`], as patient.
#[allow(dead_code)] // not every test file writes batches
pub(crate) fn patient_writes() -> BatchPolicy {
    let mut policy = BatchPolicy::patient();
    policy.base_policy.max_retries = BatchPolicy::write_default().base_policy.max_retries;
    policy
}

/// A policy for writes of a transaction.
#[allow(dead_code)] // not every test file has transactions
pub(crate) fn writing(txn: &Arc<Txn>) -> WritePolicy {
    let mut policy = WritePolicy { durable_delete: true, ..WritePolicy::patient() };
    policy.base_policy.txn = Some(Arc::clone(txn));
    policy
}

/// A policy for reads of a transaction.
#[allow(dead_code)] // not every test file has transactions
pub(crate) fn reading(txn: &Arc<Txn>) -> ReadPolicy {
    let mut policy = ReadPolicy::patient();
    policy.base_policy.txn = Some(Arc::clone(txn));
    policy
}
