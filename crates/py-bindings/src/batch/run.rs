//! A batch, carried out.

use std::sync::Arc;

use aerolane::ErrorKind;
use aerolane::client::RawOutcome;
use aerospike_core::BatchPolicy;
use pyo3::intern;
use pyo3::prelude::*;

use super::record::BatchRecord;
use super::rows::Rows;
use crate::blocking::{Signals, gets_signals};
use crate::client::check_open;
use crate::client::twin::Twin;
use crate::core::ClientCore;
use crate::host::Make;
use crate::{errors, host, txn};

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
        txn::refuse(py, &self.policy.base_policy, "a batch")?;
        let Self { policy, rows, convert } = self;
        let client = Arc::clone(core);
        host::drive(py, core, move |handle| async move {
            // Lanes do not inflate answers of several frames.
            let ended = if let Some(handle) = handle.filter(|_| !policy.base_policy.use_compression) {
                Ok(client.raw.batch_on(&handle, policy, rows).await)
            } else {
                let raw = (*client.raw).clone();
                client.raw.cluster().run(async move { raw.batch(policy, rows).await }).await
            };
            // Kept open to the end.
            drop(client);
            let made: Make = Box::new(move |py| match ended {
                Ok((rows, result)) => finish(py, rows, result, convert),
                Err(error) => Err(errors::to_py(py, &error)),
            });
            made
        })
    }

    fn block(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
        core.check(py)?;
        txn::refuse(py, &self.policy.base_policy, "a batch")?;
        let Self { policy, mut rows, convert } = self;
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
/// as `batch_records` of the exception; otherwise each row says what became of it.
fn finish(
    py: Python<'_>,
    rows: Rows,
    result: aerolane::Result<()>,
    convert: impl FnOnce(Python<'_>, Rows) -> PyResult<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    match result {
        Err(error) if !(0..rows.len()).any(|row| is_answered(&rows.outcome(row))) => {
            let exception = errors::to_py(py, &error);
            exception.value(py).setattr(intern!(py, "batch_records"), BatchRecord::list(py, rows)?)?;
            Err(exception)
        }
        _ => convert(py, rows),
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
