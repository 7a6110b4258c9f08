//! A batch whose rows come as its nodes answer.

use std::sync::Arc;

use aerolane::raw::RawOutcome;
use aerospike_core::BatchPolicy;
use pyo3::exceptions::PyStopAsyncIteration;
use pyo3::prelude::*;

use super::live::{Live, Taken};
use super::record::{BatchRecord, Outcome};
use super::rows::{RowKey, Rows};
use super::run::is_answered;

use crate::command::Executable;
use crate::core::ClientCore;
use crate::key::Key;
use crate::streams::stream_methods;
use crate::{errors, host, txn};

/// A batch, ready to be started.
pub(crate) struct Streamed {
    pub(super) policy: Arc<BatchPolicy>,
    pub(super) rows: Rows,
    /// The keys of the rows, for the records that are made of them.
    pub(super) keys: Vec<RowKey>,
}

impl Streamed {
    fn begin(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
        core.check_open(py)?;
        txn::refuse(py, &self.policy.base_policy, "a streaming batch")?;
        let Self { policy, rows, keys } = self;
        let operate: Vec<bool> = keys.iter().map(|key| key.operate).collect();
        let item = move |row: usize, outcome: &RawOutcome<'_>| Some((row, Outcome::new(outcome, operate[row])));
        let live = Live::begin(core, policy, vec![rows], is_answered, item);
        let keys = keys.into_iter().map(|key| key.key).collect();
        Ok(Py::new(py, BatchRecordStream { live, keys })?.into_any())
    }
}

impl Executable for Streamed {
    fn start(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
        let stream = self.begin(py, core)?;
        host::ready_as(py, "batch_stream", stream)
    }

    fn block(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
        self.begin(py, core)
    }
}

/// The rows of a batch as the nodes answer. Iterate over it with `for` or `async for`, from any number of threads or
/// tasks; each row goes to one of them.
///
/// Each item is a pair of the row's index in `ops` and its `BatchRecord`. Every row comes exactly once, in any order,
/// failed ones included. If the whole request to a node fails, its rows have that error; it is raised at the end if the
/// server answered no row at all. Closing the stream, leaving its context manager or dropping it ends the batch; writes
/// that were already sent may still be executed.
#[pyclass(frozen, module = "aerolane.native")]
pub(super) struct BatchRecordStream {
    live: Live<(usize, Outcome)>,
    keys: Vec<Py<Key>>,
}

impl BatchRecordStream {
    /// The item that was taken; `None` for the end.
    fn item(&self, py: Python<'_>, taken: Taken<(usize, Outcome)>) -> PyResult<Option<Py<PyAny>>> {
        match taken {
            Taken::Item((row, outcome)) => {
                let record = BatchRecord::of(py, self.keys[row].clone_ref(py), outcome)?;
                Ok(Some((row, record).into_pyobject(py)?.into_any().unbind()))
            }
            Taken::Failed(error) => Err(errors::to_py(py, &error)),
            Taken::Nothing | Taken::End => Ok(None),
        }
    }

    /// The operation of the next item.
    fn anext(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        this.live.core().check(py)?;
        let over = || PyStopAsyncIteration::new_err(());
        let taken = this.live.take();
        if !matches!(taken, Taken::Nothing) {
            // The traceback of a row's error may lead to who holds what he awaited: the garbage collector knows operations,
            // and does not know items.
            let may_raise = matches!(taken, Taken::Item((_, Outcome::Failed(_) | Outcome::Pending)));
            let ready = if may_raise { host::ready } else { host::item };
            return ready(py, this.item(py, taken)?.ok_or_else(over)?);
        }
        let slf = slf.clone().unbind();
        this.live.gather(
            py,
            |_| true,
            move |py, mut arrived| {
                let taken = arrived.take().unwrap_or(Taken::End);
                slf.get().item(py, taken)?.ok_or_else(over)
            },
        )
    }
}

stream_methods!(BatchRecordStream);

#[pymethods]
impl BatchRecordStream {
    /// Ends the batch. Rows that were not read are dropped. A second call does nothing.
    fn close(&self, py: Python<'_>) {
        self.live.close(py);
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.live.core().check(py)?;
        let taken = self.live.next_blocking(py)?;
        self.item(py, taken)
    }

    fn __repr__(&self) -> String {
        let state = if self.live.is_active() { "active" } else { "over" };
        format!("<BatchRecordStream of {} rows, {state}>", self.keys.len())
    }
}
