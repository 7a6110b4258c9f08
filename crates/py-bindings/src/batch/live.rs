//! Batches under way: what has been heard of their rows, for any number of threads and tasks to take.

use std::collections::VecDeque;
use std::sync::Arc;

use aerolane::Error;
use aerolane::raw::{RawClient, RawOutcome};
use aerolane::sync::Mutex;
use aerospike_core::BatchPolicy;
use pyo3::prelude::*;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use super::rows::Rows;
use crate::command::block_on;
use crate::core::ClientCore;
use crate::host::{self, Pace};

/// Batches under way, whose rows become items of type `T`. Dropping it ends them.
pub(crate) struct Live<T: Send + 'static> {
    core: Arc<ClientCore>,
    feed: Arc<Feed<T>>,
    task: AbortHandle,
    pace: Pace,
}

/// What has been heard and not been taken yet. Its lock is never held while Python code can run.
struct Feed<T> {
    state: Mutex<State<T>>,
    changed: Notify,
}

struct State<T> {
    items: VecDeque<T>,
    end: End,
    /// The rows, which a thread of Python is to drop: they have the keys.
    spent: Vec<Rows>,
    closed: bool,
}

/// Whether the batches are over.
enum End {
    NotYet,
    /// With a failure that is still to be told.
    Failed(Error),
    Reached,
}

/// What there is just now.
pub(crate) enum Taken<T> {
    Item(T),
    /// Nothing yet.
    Nothing,
    /// No more.
    End,
    /// It has failed as a whole. Said once; then it is at its end.
    Failed(Error),
}

impl<T> Feed<T> {
    fn new() -> Self {
        let state = State { items: VecDeque::new(), end: End::NotYet, spent: Vec::new(), closed: false };
        Self { state: Mutex::new(state), changed: Notify::new() }
    }

    /// Says whether anybody wants to hear more.
    fn item(&self, item: T) -> bool {
        let mut state = self.state.lock();
        let open = !state.closed;
        if open {
            state.items.push_back(item);
        }
        drop(state);
        self.changed.notify_waiters();
        open
    }

    fn end(&self, spent: Vec<Rows>, failed: Option<Error>) {
        let mut state = self.state.lock();
        state.end = failed.map_or(End::Reached, End::Failed);
        state.spent = spent;
        drop(state);
        self.changed.notify_waiters();
    }

    fn take(&self) -> Taken<T> {
        let mut state = self.state.lock();
        if state.closed {
            return Taken::End;
        }
        if let Some(item) = state.items.pop_front() {
            return Taken::Item(item);
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
    fn give_back(&self, taken: Taken<T>) {
        let mut state = self.state.lock();
        match taken {
            Taken::Item(item) => state.items.push_front(item),
            Taken::Failed(error) => state.end = End::Failed(error),
            Taken::Nothing | Taken::End => return,
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// The next thing to be taken, once there is one.
    async fn next(&self) -> Taken<T> {
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

/// Tells the end, whatever happens: dropped before, that the client was closed.
struct EndGuard<T> {
    feed: Arc<Feed<T>>,
    /// A row has told something that goes before the failure of a whole batch.
    told: bool,
}

impl<T> Drop for EndGuard<T> {
    fn drop(&mut self) {
        let over = !matches!(self.feed.state.lock().end, End::NotYet);
        if !over {
            self.feed.end(Vec::new(), Some(Error::client_closed()));
        }
    }
}

/// Items that were taken for a task. If it does not get them (it was cancelled), the next one who asks gets them.
pub(crate) struct ItemsInTransit<T> {
    feed: Arc<Feed<T>>,
    taken: VecDeque<Taken<T>>,
}

impl<T> ItemsInTransit<T> {
    /// What has come, in order. What is left when it is dropped is given back.
    pub(crate) fn take(&mut self) -> Option<Taken<T>> {
        self.taken.pop_front()
    }
}

impl<T> Drop for ItemsInTransit<T> {
    fn drop(&mut self) {
        while let Some(taken) = self.taken.pop_back() {
            self.feed.give_back(taken);
        }
    }
}

impl<T: Send + 'static> Live<T> {
    /// Starts batches, which are carried out one after the other. `item` makes an item of what becomes of a row (by its place
    /// among all rows); `None`: nobody has to hear of it. `tells`: whether that goes before the failure of a whole batch, which
    /// then is not told, if each of its rows has been heard of.
    pub(crate) fn begin(
        core: &Arc<ClientCore>,
        policy: Arc<BatchPolicy>,
        runs: Vec<Rows>,
        tells: fn(&RawOutcome<'_>) -> bool,
        mut item: impl FnMut(usize, &RawOutcome<'_>) -> Option<T> + Send + 'static,
    ) -> Self {
        let feed = Arc::new(Feed::new());
        let mut guard = EndGuard { feed: Arc::clone(&feed), told: false };
        let raw = RawClient::clone(&core.raw);
        let task = core.raw.spawn(async move {
            let (mut spent, mut failed, mut first, mut open) = (Vec::with_capacity(runs.len()), None, 0, true);
            // Whether rows are left of which nobody has heard: the client was closed.
            let mut silent = false;
            for mut rows in runs {
                let mut heard = 0;
                let on_row = |row: usize, outcome: RawOutcome<'_>| {
                    heard += 1;
                    guard.told |= tells(&outcome);
                    open = item(first + row, &outcome).is_none_or(|item| guard.feed.item(item));
                    open
                };
                if let Err(error) = raw.batch_telling(&policy, &mut rows, on_row).await {
                    silent |= heard < rows.len();
                    failed = failed.or(Some(error));
                }
                first += rows.len();
                spent.push(rows);
                if !open {
                    break;
                }
            }
            guard.feed.end(spent, failed.filter(|_| silent || !guard.told));
        });
        Self { core: Arc::clone(core), feed, task, pace: Pace::default() }
    }

    pub(crate) fn core(&self) -> &Arc<ClientCore> {
        &self.core
    }

    /// What there is just now; now and then nothing, so that other tasks of the loop have a turn.
    pub(crate) fn take(&self) -> Taken<T> {
        if self.pace.wants_a_turn() { Taken::Nothing } else { self.feed.take() }
    }

    /// What comes next, for the calling thread to wait for.
    pub(crate) fn next_blocking(&self, py: Python<'_>) -> PyResult<Taken<T>> {
        match self.feed.take() {
            Taken::Nothing => block_on(py, &self.core, self.feed.next()),
            taken => Ok(taken),
        }
    }

    /// The operation of what `made` makes of all that comes until `enough` says so of an item, or of the end.
    pub(crate) fn gather(
        &self,
        py: Python<'_>,
        enough: impl Fn(&T) -> bool + Send + 'static,
        made: impl FnOnce(Python<'_>, ItemsInTransit<T>) -> PyResult<Py<PyAny>> + Send + 'static,
    ) -> PyResult<Py<PyAny>> {
        let mut arrived = ItemsInTransit { feed: Arc::clone(&self.feed), taken: VecDeque::new() };
        let gathering = async move {
            loop {
                let taken = arrived.feed.next().await;
                let last = if let Taken::Item(item) = &taken { enough(item) } else { true };
                arrived.taken.push_back(taken);
                if last {
                    return Ok(arrived);
                }
            }
        };
        host::spawn(py, &self.core, gathering, made)
    }

    /// Whether items may still come.
    pub(crate) fn is_active(&self) -> bool {
        !self.core.is_foreign() && {
            let state = self.feed.state.lock();
            !state.closed && (matches!(state.end, End::NotYet) || !state.items.is_empty())
        }
    }

    /// Ends the batches; what was not taken is dropped. A second call does nothing.
    pub(crate) fn close(&self, py: Python<'_>) {
        if !self.core.is_foreign() {
            py.detach(|| self.end());
        }
    }

    fn end(&self) {
        let mut state = self.feed.state.lock();
        state.closed = true;
        let dropped = (std::mem::take(&mut state.items), std::mem::take(&mut state.spent));
        drop(state);
        drop(dropped);
        self.feed.changed.notify_waiters();
        self.task.abort();
    }
}

impl<T: Send + 'static> Drop for Live<T> {
    fn drop(&mut self) {
        if self.core.is_foreign() {
            // Of the parent process: its threads are not here. Its count never falls to 0, so nothing of it is dropped.
            std::mem::forget(Arc::clone(&self.feed));
            return;
        }
        self.end();
    }
}
