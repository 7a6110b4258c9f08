//! A batch whose rows come as its nodes answer.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aerolane::Error;
use aerolane::client::RawOutcome;
use aerospike_core::BatchPolicy;
use parking_lot::Mutex;
use pyo3::exceptions::PyStopAsyncIteration;
use pyo3::prelude::*;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use super::record::{BatchRecord, Outcome};
use super::rows::{RowKey, Rows};
use super::run::is_answered;

use crate::command::{Twin, block_on};
use crate::core::ClientCore;
use crate::host::Pace;
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
        let news = Arc::new(News::default());
        let operate: Vec<bool> = keys.iter().map(|key| key.operate).collect();
        let teller = Teller { news: Arc::clone(&news), told: Arc::default() };
        let (told, tell) = (Arc::clone(&teller.told), Arc::clone(&news));
        let on_row = move |row: usize, outcome: RawOutcome<'_>| {
            if is_answered(&outcome) {
                told.store(true, Ordering::Relaxed);
            }
            tell.row(row, Outcome::new(&outcome, operate[row]))
        };
        let task = core.raw.spawn_batch(policy, rows, on_row, move |rows, result| teller.end(rows, result));
        let keys = keys.into_iter().map(|key| key.key).collect();
        let stream = BatchRecordStream { core: Arc::clone(core), news, keys, task, pace: Pace::default() };
        Ok(Py::new(py, stream)?.into_any())
    }
}

impl Twin for Streamed {
    fn start(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
        let stream = self.begin(py, core)?;
        host::ready_as(py, "batch_stream", stream)
    }

    fn block(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
        self.begin(py, core)
    }
}

/// What has been heard of a batch and not been taken yet. Its lock is never held while Python code can run.
#[derive(Default)]
struct News {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    rows: VecDeque<(usize, Outcome)>,
    end: End,
    /// The rows, which a thread of Python is to drop: they have the keys.
    spent: Option<Rows>,
    closed: bool,
}

/// Whether the batch is over.
#[derive(Default)]
enum End {
    #[default]
    NotYet,
    /// With a failure that is still to be raised.
    Failed(Error),
    Reached,
}

enum Taken {
    Row(usize, Outcome),
    Nothing,
    End,
    Failed(Error),
}

impl News {
    /// Says whether anybody wants to hear more.
    fn row(&self, row: usize, outcome: Outcome) -> bool {
        let mut state = self.state.lock();
        let open = !state.closed;
        if open {
            state.rows.push_back((row, outcome));
        }
        drop(state);
        self.changed.notify_waiters();
        open
    }

    fn end(&self, spent: Option<Rows>, failed: Option<Error>) {
        let mut state = self.state.lock();
        state.end = failed.map_or(End::Reached, End::Failed);
        state.spent = spent;
        drop(state);
        self.changed.notify_waiters();
    }

    fn take(&self) -> Taken {
        let mut state = self.state.lock();
        if state.closed {
            return Taken::End;
        }
        if let Some((row, outcome)) = state.rows.pop_front() {
            return Taken::Row(row, outcome);
        }
        match state.end {
            End::NotYet => Taken::Nothing,
            End::Reached => Taken::End,
            End::Failed(_) => match std::mem::replace(&mut state.end, End::Reached) {
                End::Failed(error) => Taken::Failed(error),
                _ => Taken::End,
            },
        }
    }

    /// What was taken has come to nobody.
    fn give_back(&self, taken: Taken) {
        let mut state = self.state.lock();
        match taken {
            Taken::Row(row, outcome) => state.rows.push_front((row, outcome)),
            Taken::Failed(error) => state.end = End::Failed(error),
            Taken::Nothing | Taken::End => return,
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// The next thing to be taken, once there is one.
    async fn next(&self) -> Taken {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            // Before looking: what changes from now on wakes.
            changed.as_mut().enable();
            match self.take() {
                Taken::Nothing => changed.await,
                taken => return taken,
            }
        }
    }
}

/// Tells the end of a batch, whatever happens: dropped before, that the client was closed.
struct Teller {
    news: Arc<News>,
    /// Whether the server has answered any row.
    told: Arc<AtomicBool>,
}

impl Teller {
    fn end(self, rows: Rows, result: aerolane::Result<()>) {
        let answered = self.told.load(Ordering::Relaxed);
        self.news.end(Some(rows), result.err().filter(|_| !answered));
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        let over = !matches!(self.news.state.lock().end, End::NotYet);
        if !over {
            self.news.end(None, Some(Error::client_closed()));
        }
    }
}

/// What was taken, on its way to the loop's thread. If it does not get there (the task was cancelled), the next one who
/// asks has it.
struct OnTheWay {
    news: Arc<News>,
    taken: Option<Taken>,
}

impl Drop for OnTheWay {
    fn drop(&mut self) {
        if let Some(taken) = self.taken.take() {
            self.news.give_back(taken);
        }
    }
}

/// The rows of a batch, as its nodes answer: iterate over it with `for` or `async for`, on any number of threads or tasks
/// (each row comes to one of them).
///
/// Each item is a pair: the row's place in `ops`, and its `BatchRecord`. Every row comes once, in any order; one that
/// failed says so itself. When the request to a node fails as a whole, its rows have that error; it is raised at the end
/// when no row was answered by the server at all. Closing the stream, leaving it as a context manager and dropping it end
/// the batch: writes that were sent until then may be carried out.
#[pyclass(frozen, module = "aerolane.native")]
pub(super) struct BatchRecordStream {
    core: Arc<ClientCore>,
    news: Arc<News>,
    keys: Vec<Py<Key>>,
    task: AbortHandle,
    pace: Pace,
}

impl BatchRecordStream {
    /// The item that was taken; `None` for the end.
    fn item(&self, py: Python<'_>, taken: Taken) -> PyResult<Option<Py<PyAny>>> {
        match taken {
            Taken::Row(row, outcome) => {
                let record = BatchRecord::of(py, self.keys[row].clone_ref(py), outcome)?;
                Ok(Some((row, record).into_pyobject(py)?.into_any().unbind()))
            }
            Taken::Failed(error) => Err(errors::to_py(py, &error)),
            Taken::Nothing | Taken::End => Ok(None),
        }
    }

    fn end(&self) {
        let mut state = self.news.state.lock();
        state.closed = true;
        let dropped = (std::mem::take(&mut state.rows), state.spent.take());
        drop(state);
        drop(dropped);
        self.news.changed.notify_waiters();
        self.task.abort();
    }

    /// The operation of the next item.
    fn anext(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        this.core.check(py)?;
        let over = || PyStopAsyncIteration::new_err(());
        let taken = if this.pace.wants_a_turn() { Taken::Nothing } else { this.news.take() };
        if !matches!(taken, Taken::Nothing) {
            return host::ready_as(py, "__anext__", this.item(py, taken)?.ok_or_else(over)?);
        }
        let news = Arc::clone(&this.news);
        let next = async move {
            let taken = news.next().await;
            Ok(OnTheWay { news, taken: Some(taken) })
        };
        let slf = slf.clone().unbind();
        host::spawn(py, &this.core, next, move |py, mut arrived: OnTheWay| {
            let taken = arrived.taken.take().unwrap_or(Taken::End);
            slf.get().item(py, taken)?.ok_or_else(over)
        })
    }
}

impl Drop for BatchRecordStream {
    fn drop(&mut self) {
        if self.core.is_foreign() {
            // Of the parent process: its threads are not here. Its count never falls to 0, so nothing of it is dropped.
            std::mem::forget(Arc::clone(&self.news));
            return;
        }
        self.end();
    }
}

stream_methods!(BatchRecordStream);

#[pymethods]
impl BatchRecordStream {
    /// Ends the batch. Rows that were not taken are dropped. A second call does nothing.
    fn close(&self, py: Python<'_>) {
        if !self.core.is_foreign() {
            py.detach(|| self.end());
        }
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.core.check(py)?;
        let taken = match self.news.take() {
            Taken::Nothing => block_on(py, &self.core, self.news.next())?,
            taken => taken,
        };
        self.item(py, taken)
    }

    fn __repr__(&self) -> String {
        let active = !self.core.is_foreign() && {
            let state = self.news.state.lock();
            !state.closed && (matches!(state.end, End::NotYet) || !state.rows.is_empty())
        };
        format!("<BatchRecordStream of {} rows, {}>", self.keys.len(), if active { "active" } else { "over" })
    }
}
