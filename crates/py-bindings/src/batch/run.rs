//! A batch, carried out.

use std::sync::Arc;

use aerolane::ErrorKind;
use aerolane::client::RawOutcome;
use aerospike_core::BatchPolicy;
use pyo3::prelude::*;

use super::record::BatchRecord;
use super::rows::Rows;
use crate::blocking::{Signals, gets_signals};
use crate::client::check_open;
use crate::client::twin::{Twin, block_on};
use crate::core::ClientCore;
use crate::host::Make;
use crate::{errors, host};

/// A batch, ready to be carried out.
pub(crate) struct Batch<C> {
    pub(super) policy: Arc<BatchPolicy>,
    pub(super) rows: Rows,
    /// Makes the result of a batch that has not failed as a whole.
    pub(super) convert: C,
}

impl<C> Twin for Batch<C>
where
    C: FnOnce(Python<'_>, Rows) -> PyResult<Py<PyAny>> + Send + 'static,
{
    fn start(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
        check_open(py, core)?;
        let Self { policy, mut rows, convert } = self;
        let client = Arc::clone(core);
        host::drive(py, core, move |handle| async move {
            let ended = if policy.base_policy.txn.is_some() {
                let raw = (*client.raw).clone();
                let batch = async move {
                    let result = raw.batch_in_txn(&policy, &mut rows).await;
                    (rows, result)
                };
                client.raw.cluster().run(batch).await.map(|(rows, result)| match result {
                    Ok(result) => (rows, result, false),
                    Err(error) => (rows, Err(error), true),
                })
            } else {
                let (rows, result) = client.raw.batch_on(&handle, policy, rows).await;
                Ok((rows, result, false))
            };
            // Kept open to the end.
            drop(client);
            let made: Make = Box::new(move |py| match ended {
                Ok((rows, Err(error), true)) => Err(raised(py, rows, &error)),
                Ok((rows, result, _)) => finish(py, rows, result, convert),
                Err(error) => Err(errors::to_py(py, &error)),
            });
            made
        })
    }

    fn block(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
        core.check(py)?;
        let Self { policy, mut rows, convert } = self;
        if policy.base_policy.txn.is_some() {
            let batch = async {
                let result = core.raw.batch_in_txn(&policy, &mut rows).await;
                (rows, result)
            };
            return match block_on(py, core, batch)? {
                (rows, Ok(result)) => finish(py, rows, result, convert),
                (rows, Err(error)) => Err(raised(py, rows, &error)),
            };
        }
        if !gets_signals(py)? {
            let result = py.detach(|| core.raw.batch_blocking(&policy, &mut rows, None));
            return finish(py, rows, result, convert);
        }
        let signals = Signals::default();
        let result = py.detach(|| core.raw.batch_blocking(&policy, &mut rows, Some(&|| signals.raised())));
        match signals.take() {
            Some(raised) => Err(raised),
            None => finish(py, rows, result, convert),
        }
    }
}

/// The result of a batch. A failure of a whole request is raised when no row has an answer of the server, with the rows
/// as `records` of the exception; otherwise each row says what became of it.
fn finish(
    py: Python<'_>,
    rows: Rows,
    result: aerolane::Result<()>,
    convert: impl FnOnce(Python<'_>, Rows) -> PyResult<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    match result {
        Err(error) if !(0..rows.len()).any(|row| is_answered(&rows.outcome(row))) => Err(raised(py, rows, &error)),
        _ => match nowhere(&rows) {
            Some(error) => Err(raised(py, rows, &error)),
            None => convert(py, rows),
        },
    }
}

/// The error of a batch whose rows are all in namespaces that the cluster does not have: nothing was sent.
fn nowhere(rows: &Rows) -> Option<aerolane::Error> {
    let refused = |row: usize| match rows.outcome(row) {
        // What the client finds has a cause; the answer of a server has none.
        RawOutcome::Failed(error) => {
            error.cause().filter(|cause| matches!(cause.kind(), ErrorKind::InvalidNamespace)).cloned()
        }
        _ => None,
    };
    // The first row tells of nearly every batch that it is none.
    let first = if rows.is_empty() { None } else { refused(0) }?;
    (1..rows.len()).all(|row| refused(row).is_some()).then_some(first)
}

/// The exception of a batch that has failed as a whole, with its rows.
fn raised(py: Python<'_>, rows: Rows, error: &aerolane::Error) -> PyErr {
    match BatchRecord::list(py, rows) {
        Ok(rows) => errors::batch_to_py(py, error, &rows),
        Err(failed) => failed,
    }
}

/// Whether a row has an outcome of its own.
pub(super) fn is_answered(outcome: &RawOutcome<'_>) -> bool {
    match outcome {
        RawOutcome::Answered(_) => true,
        RawOutcome::Failed(error) => {
            error.server_result_code().is_some() || matches!(error.kind(), ErrorKind::UdfBadResponse)
        }
        _ => false,
    }
}
