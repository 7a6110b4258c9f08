//! What an operation is waiting for.

use std::sync::Arc;

use aerolane::client::RawAttempt;
use aerolane::lane::Ticket;
use pyo3::prelude::*;
use pyo3::types::PyList;
use tokio::task::AbortHandle;

use super::lane::Lane;
use super::op::OpRef;
use crate::call::Call;
use crate::core::ClientCore;

/// Starts a task for an operation once its loop is known; gives the handle that stops it, if it can be stopped.
pub(super) type Starter = Box<dyn FnOnce(Python<'_>, &Bound<'_, Lane>, u64) -> PyResult<Option<AbortHandle>> + Send>;

/// What is behind an operation.
#[derive(Default)]
pub(super) enum Work {
    /// Nothing (any more).
    #[default]
    None,
    /// One request about one record.
    Entry(Entry),
    /// Several requests with one outcome: the list of theirs.
    Many(Box<Many>),
    /// A task elsewhere, which posts its result under a number.
    Task(Posting),
    /// A task that is not started yet.
    Later(Arc<ClientCore>, Starter),
}

/// One request about one record.
pub(super) struct Entry {
    pub(super) core: Arc<ClientCore>,
    pub(super) call: Call,
    /// One whole frame; kept for another attempt.
    pub(super) request: Vec<u8>,
    /// Its first attempt, once it is on the lane.
    pub(super) attempt: Option<(RawAttempt, Ticket)>,
}

/// A task elsewhere whose result is posted.
pub(super) struct Posting {
    pub(super) id: u64,
    pub(super) abort: Option<AbortHandle>,
    /// Makes the result of a raw answer; keeps the client open meanwhile.
    pub(super) call: Option<(Arc<ClientCore>, Call)>,
}

/// Where one of several requests stands.
pub(super) enum Part {
    Entry(Entry),
    Task(Posting),
    /// Its result, or its exception.
    Over(Py<PyAny>),
}

/// Several requests with one outcome.
pub(super) struct Many {
    pub(super) parts: Vec<Part>,
    pub(super) left: usize,
}

impl Many {
    /// One of the requests has its result (or exception). The list of all when it was the last.
    pub(super) fn finish(&mut self, py: Python<'_>, index: usize, result: Py<PyAny>) -> Option<PyResult<Py<PyAny>>> {
        self.parts[index] = Part::Over(result);
        self.left -= 1;
        (self.left == 0).then(|| self.results(py))
    }

    /// The list of results, once all are there.
    pub(super) fn results(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let results = self.parts.drain(..).map(|part| match part {
            Part::Over(result) => result,
            Part::Entry(_) | Part::Task(_) => py.None(),
        });
        Ok(PyList::new(py, results.collect::<Vec<_>>())?.into_any().unbind())
    }
}

/// An operation, and which of its requests.
pub(super) struct Token {
    pub(super) op: OpRef,
    pub(super) index: u32,
}

impl Posting {
    fn abandon(self, lane: &Bound<'_, Lane>) {
        if let Some(abort) = self.abort {
            abort.abort();
        }
        lane.get().forget(self.id);
    }
}

impl Entry {
    fn abandon(self, lane: &Bound<'_, Lane>) {
        if let Some((attempt, ticket)) = &self.attempt {
            lane.get().abandon(attempt, *ticket);
        }
    }
}

impl Work {
    /// The caller has given up.
    pub(super) fn abandon(self, lane: &Bound<'_, Lane>) {
        match self {
            Self::Entry(entry) => entry.abandon(lane),
            Self::Task(posting) => posting.abandon(lane),
            Self::Many(many) => {
                for part in many.parts {
                    match part {
                        Part::Entry(entry) => entry.abandon(lane),
                        Part::Task(posting) => posting.abandon(lane),
                        Part::Over(_) => {}
                    }
                }
            }
            Self::None | Self::Later(..) => {}
        }
    }
}
