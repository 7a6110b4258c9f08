//! A batch, carried out.

use std::sync::Arc;

use aerolane::ErrorKind;
use aerolane::raw::{RawClient, RawOutcome};
use aerospike_core::BatchPolicy;
use pyo3::prelude::*;

use super::implicit::Implicit;
use super::record::BatchRecord;
use super::rows::Rows;
use crate::blocking::{Signals, gets_signals};

use crate::command::{Executable, block_on};
use crate::core::ClientCore;
use crate::host::MakeResult;
use crate::{errors, host};

/// A batch, ready to be carried out.
pub(crate) struct Batch<C> {
    pub(super) policy: Arc<BatchPolicy>,
    pub(super) rows: Rows,
    /// Makes the result of a batch that has not failed as a whole.
    pub(super) convert: C,
}

impl<C> Batch<C>
where
    C: FnOnce(Python<'_>, Rows) -> PyResult<Py<PyAny>> + Send + 'static,
{
    fn alone(self) -> Batches<impl FnOnce(Python<'_>, Vec<Ran>) -> PyResult<Py<PyAny>> + Send + 'static> {
        let Self { policy, rows, convert } = self;
        let convert = move |py: Python<'_>, mut ran: Vec<Ran>| match ran.pop() {
            Some(Ran { rows, result: Err(error), refused: true }) => Err(raised(py, rows, &error)),
            Some(Ran { rows, result, .. }) => finish(py, rows, result, convert),
            None => Ok(py.None()),
        };
        Batches { policy, runs: vec![rows], implicit: None, convert }
    }
}

impl<C> Executable for Batch<C>
where
    C: FnOnce(Python<'_>, Rows) -> PyResult<Py<PyAny>> + Send + 'static,
{
    fn start(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
        self.alone().start(py, core)
    }

    fn block(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
        self.alone().block(py, core)
    }
}

/// Batches that are carried out one after the other.
pub(crate) struct Batches<C> {
    pub(crate) policy: Arc<BatchPolicy>,
    pub(crate) runs: Vec<Rows>,
    /// They become one transaction of their own.
    pub(crate) implicit: Option<Implicit>,
    /// Makes the result, whatever became of them.
    pub(crate) convert: C,
}

/// A batch that was carried out.
pub(crate) struct Ran {
    pub(crate) rows: Rows,
    pub(crate) result: aerolane::Result<()>,
    /// It was not carried out at all: its transaction does not take it.
    pub(crate) refused: bool,
}

impl<C> Executable for Batches<C>
where
    C: FnOnce(Python<'_>, Vec<Ran>) -> PyResult<Py<PyAny>> + Send + 'static,
{
    fn start(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
        core.check_open(py)?;
        let Self { policy, runs, implicit, convert } = self;
        let client = Arc::clone(core);
        if let Some(implicit) = implicit {
            return host::drive(py, core, move |_| async move {
                let carried_out = implicit.carry_out(RawClient::clone(&client.raw), policy, runs);
                let ran = client.raw.cluster().run(carried_out).await;
                drop(client);
                let made: MakeResult = Box::new(move |py| match ran {
                    Ok((runs, Ok(results))) => convert(py, Ran::all(runs, results)),
                    Ok((_, Err(error))) | Err(error) => Err(errors::to_py(py, &error)),
                });
                made
            });
        }
        host::drive(py, core, move |handle| async move {
            let mut all = Vec::with_capacity(runs.len());
            let mut failed = None;
            for mut rows in runs {
                if policy.base_policy.txn.is_none() {
                    let (rows, result) = client.raw.batch_on(&handle, Arc::clone(&policy), rows).await;
                    all.push(Ran { rows, result, refused: false });
                    continue;
                }
                let (raw, policy) = ((*client.raw).clone(), Arc::clone(&policy));
                let batch = async move {
                    let result = raw.batch_in_txn(&policy, &mut rows).await;
                    Ran::in_txn(rows, result)
                };
                match client.raw.cluster().run(batch).await {
                    Ok(ran) => all.push(ran),
                    Err(error) => {
                        failed = Some(error);
                        break;
                    }
                }
            }
            // Kept open to the end.
            drop(client);
            let made: MakeResult = Box::new(move |py| match failed {
                None => convert(py, all),
                Some(error) => Err(errors::to_py(py, &error)),
            });
            made
        })
    }

    fn block(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
        core.check(py)?;
        let Self { policy, runs, implicit, convert } = self;
        if let Some(implicit) = implicit {
            let carried_out = implicit.carry_out(RawClient::clone(&core.raw), policy, runs);
            let (runs, results) = block_on(py, core, carried_out)?;
            let results = results.map_err(|error| errors::to_py(py, &error))?;
            return convert(py, Ran::all(runs, results));
        }
        let mut all = Vec::with_capacity(runs.len());
        for mut rows in runs {
            if policy.base_policy.txn.is_some() {
                let batch = async {
                    let result = core.raw.batch_in_txn(&policy, &mut rows).await;
                    Ran::in_txn(rows, result)
                };
                all.push(block_on(py, core, batch)?);
                continue;
            }
            let result = if gets_signals(py)? {
                let signals = Signals::default();
                let result = py.detach(|| core.raw.batch_blocking(&policy, &mut rows, Some(&|| signals.raised())));
                if let Some(raised) = signals.take() {
                    return Err(raised);
                }
                result
            } else {
                py.detach(|| core.raw.batch_blocking(&policy, &mut rows, None))
            };
            all.push(Ran { rows, result, refused: false });
        }
        convert(py, all)
    }
}

impl Ran {
    fn in_txn(rows: Rows, result: aerolane::Result<aerolane::Result<()>>) -> Self {
        match result {
            Ok(result) => Self { rows, result, refused: false },
            Err(error) => Self { rows, result: Err(error), refused: true },
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
pub(crate) fn is_answered(outcome: &RawOutcome<'_>) -> bool {
    match outcome {
        RawOutcome::Answered(_) => true,
        RawOutcome::Failed(error) => {
            error.server_result_code().is_some() || matches!(error.kind(), ErrorKind::UdfBadResponse)
        }
        _ => false,
    }
}
