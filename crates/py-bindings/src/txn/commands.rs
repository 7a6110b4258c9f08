//! The end of a transaction.

use std::sync::Arc;

use pyo3::prelude::*;

use super::Txn;
use super::enums::{AbortOutcome, CommitOutcome};
use crate::client::twin::{Control, Twin};
use crate::core::ClientCore;
use crate::policy::enums::Named;
use crate::policy::{TxnRollPolicy, TxnVerifyPolicy};

/// Verifies what the transaction has read, and makes its writes visible.
pub(crate) fn commit(
    _py: Python<'_>,
    core: &Arc<ClientCore>,
    txn: &Bound<'_, Txn>,
    verify: Option<&Bound<'_, TxnVerifyPolicy>>,
    roll: Option<&Bound<'_, TxnRollPolicy>>,
) -> PyResult<impl Twin + use<>> {
    let (client, txn) = (core.raw.asynchronous(), txn.get().shared());
    let (verify, roll) = (TxnVerifyPolicy::in_force(verify), TxnRollPolicy::in_force(roll));
    Ok(Control {
        future: async move { Box::pin(client.commit_with_policies(&verify, &roll, &txn)).await },
        convert: |py: Python<'_>, status| CommitOutcome::from(&status).to_python(py),
    })
}

/// Takes the transaction's writes back.
pub(crate) fn abort(
    _py: Python<'_>,
    core: &Arc<ClientCore>,
    txn: &Bound<'_, Txn>,
    roll: Option<&Bound<'_, TxnRollPolicy>>,
) -> PyResult<impl Twin + use<>> {
    let (client, txn, roll) = (core.raw.asynchronous(), txn.get().shared(), TxnRollPolicy::in_force(roll));
    Ok(Control {
        future: async move { Box::pin(client.abort_with_policy(&roll, &txn)).await },
        convert: |py: Python<'_>, status| AbortOutcome::from(&status).to_python(py),
    })
}
