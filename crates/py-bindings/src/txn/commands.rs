//! The end of a transaction.

use std::sync::Arc;

use aerospike_core as core;
use pyo3::prelude::*;

use super::Txn;
use super::enums::{AbortOutcome, CommitOutcome};
use crate::command::{Control, Executable};
use crate::core::ClientCore;
use crate::policy::enums::Named;
use crate::policy::{TxnRollPolicy, TxnVerifyPolicy};

/// How a transaction has ended.
pub(crate) enum Ended {
    Committed(CommitOutcome),
    Aborted(AbortOutcome),
}

/// Commits.
pub(crate) async fn committing(
    client: &aerolane::Client,
    txn: &Arc<core::Txn>,
    verify: &core::TxnVerifyPolicy,
    roll: &core::TxnRollPolicy,
) -> aerolane::Result<Ended> {
    let status = Box::pin(client.commit_with_policies(verify, roll, txn)).await?;
    Ok(Ended::Committed(CommitOutcome::from(&status)))
}

/// Aborts.
pub(crate) async fn aborting(
    client: &aerolane::Client,
    txn: &Arc<core::Txn>,
    roll: &core::TxnRollPolicy,
) -> aerolane::Result<Ended> {
    let status = Box::pin(client.abort_with_policy(roll, txn)).await?;
    Ok(Ended::Aborted(AbortOutcome::from(&status)))
}

/// Verifies what the transaction has read, and makes its writes visible.
pub(crate) fn commit(
    _py: Python<'_>,
    client: &Arc<ClientCore>,
    txn: &Bound<'_, Txn>,
    verify: Option<&Bound<'_, TxnVerifyPolicy>>,
    roll: Option<&Bound<'_, TxnRollPolicy>>,
) -> PyResult<impl Executable + use<>> {
    let (client, txn) = (client.raw.asynchronous(), txn.get().shared());
    let (verify, roll) = (TxnVerifyPolicy::in_force(verify), TxnRollPolicy::in_force(roll));
    Ok(Control {
        future: async move { Box::pin(client.commit_with_policies(&verify, &roll, &txn)).await },
        convert: |py: Python<'_>, status| CommitOutcome::from(&status).to_python(py),
    })
}

/// Takes the transaction's writes back.
pub(crate) fn abort(
    _py: Python<'_>,
    client: &Arc<ClientCore>,
    txn: &Bound<'_, Txn>,
    roll: Option<&Bound<'_, TxnRollPolicy>>,
) -> PyResult<impl Executable + use<>> {
    let (client, txn, roll) = (client.raw.asynchronous(), txn.get().shared(), TxnRollPolicy::in_force(roll));
    Ok(Control {
        future: async move { Box::pin(client.abort_with_policy(&roll, &txn)).await },
        convert: |py: Python<'_>, status| AbortOutcome::from(&status).to_python(py),
    })
}
