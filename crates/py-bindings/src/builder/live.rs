//! The rows of a chain, as the nodes answer.

use std::sync::Arc;
use std::task::Poll;

use aerolane::raw::RawOutcome;
use pyo3::prelude::*;

use super::execute::Several;
use super::on_error::{Judge, Verdict};
use super::result::{Outcome, Row};
use super::verb::Verb;
use crate::batch::live::{ItemsInTransit, Live, Taken};
use crate::batch::rows::Rows;
use crate::core::ClientCore;
use crate::errors;
use crate::key::Key;

/// What became of a row: its place in the chain.
pub(super) struct Item {
    place: usize,
    verb: Verb,
    outcome: Outcome,
}

/// Rows under way.
pub(super) struct LiveRows {
    live: Live<Item>,
    keys: Vec<Py<Key>>,
    judge: Arc<Judge>,
}

impl LiveRows {
    /// Starts the batches of a chain.
    pub(super) fn begin(py: Python<'_>, core: &Arc<ClientCore>, several: Several, judge: Judge) -> Self {
        let Several { policy, runs, parts, .. } = several;
        let of_rows: Vec<_> =
            parts.iter().flat_map(|part| std::iter::repeat_n((part.verb, part.operate), part.rows)).collect();
        let keys = runs.iter().flat_map(Rows::keys).map(|key| key.key.clone_ref(py)).collect();
        let judge = Arc::new(judge);
        let of_judge = Arc::clone(&judge);
        let item = move |place: usize, outcome: &RawOutcome<'_>| {
            let (verb, operate) = of_rows[place];
            let outcome = Outcome::of(outcome, verb, operate);
            let wanted = of_judge.verdict(verb, &outcome) != Verdict::LeaveOut;
            wanted.then_some(Item { place, verb, outcome })
        };
        // A row that has failed says so itself.
        let live = Live::begin(core, policy, runs, |_| true, item);
        Self { live, keys, judge }
    }

    /// What is made of an item; `None`: the handler has heard of it.
    fn admit(&self, py: Python<'_>, item: Item) -> PyResult<Option<Row>> {
        let Item { place, verb, outcome } = item;
        let row = Row { key: Some(self.keys[place].clone_ref(py)), index: place as i32, outcome };
        self.judge.admit(py, verb, row)
    }

    /// The next row, if it is there; `None`: the end.
    pub(super) fn take(&self, py: Python<'_>) -> PyResult<Poll<Option<Row>>> {
        loop {
            match self.live.take() {
                Taken::Item(item) => {
                    if let Some(row) = self.admit(py, item)? {
                        return Ok(Poll::Ready(Some(row)));
                    }
                }
                Taken::Nothing => return Ok(Poll::Pending),
                Taken::End => return Ok(Poll::Ready(None)),
                Taken::Failed(error) => return Err(errors::to_py(py, &error)),
            }
        }
    }

    /// The next row, for the calling thread to wait for; `None`: the end.
    pub(super) fn next_blocking(&self, py: Python<'_>) -> PyResult<Option<Row>> {
        loop {
            match self.live.next_blocking(py)? {
                Taken::Item(item) => {
                    if let Some(row) = self.admit(py, item)? {
                        return Ok(Some(row));
                    }
                }
                Taken::Nothing | Taken::End => return Ok(None),
                Taken::Failed(error) => return Err(errors::to_py(py, &error)),
            }
        }
    }

    /// The operation of what `made` makes of rows: of the next one (`Some` of one, or none at the end), or of all that are left.
    /// What the handler is to hear is told it before.
    pub(super) fn gather(
        self: &Arc<Self>,
        py: Python<'_>,
        all: bool,
        made: impl FnOnce(Python<'_>, Vec<Row>) -> PyResult<Py<PyAny>> + Send + 'static,
    ) -> PyResult<Py<PyAny>> {
        let (this, judge) = (Arc::clone(self), Arc::clone(&self.judge));
        let enough = move |item: &Item| !all && judge.verdict(item.verb, &item.outcome) != Verdict::Tell;
        self.live.gather(py, enough, move |py, mut arrived: ItemsInTransit<Item>| {
            let mut rows = Vec::new();
            while let Some(taken) = arrived.take() {
                match taken {
                    Taken::Item(item) => rows.extend(this.admit(py, item)?),
                    Taken::Nothing | Taken::End => {}
                    Taken::Failed(error) => return Err(errors::to_py(py, &error)),
                }
            }
            made(py, rows)
        })
    }

    /// Ends the batches.
    pub(super) fn close(&self, py: Python<'_>) {
        self.live.close(py);
    }
}
