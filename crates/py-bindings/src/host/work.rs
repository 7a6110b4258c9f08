//! What an operation is waiting for.

use std::sync::Arc;

use aerolane::raw::RawAttempt;
use aerolane::raw::lane::Ticket;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::client_ref::ClientRef;
use super::lane::Lane;
use super::op::OpRef;
use super::task::{StartFuture, Task, Tell};
use crate::call::Call;
use crate::core::ClientCore;

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
    /// A future that the loop polls.
    Task(Task),
    /// One that is not started yet.
    Later(Arc<ClientCore>, StartFuture),
    /// It was cancelled, and this knows what it had done.
    Cancelled(Tell),
}

/// One request about one record.
pub(super) struct Entry {
    pub(super) core: Arc<ClientRef>,
    pub(super) call: Call,
    /// One whole frame; kept for another attempt.
    pub(super) request: Vec<u8>,
    /// Its first attempt, once it is on the lane.
    pub(super) attempt: Option<(RawAttempt, Ticket)>,
}

/// Where one of several requests stands.
pub(super) enum Part {
    Entry(Entry),
    Task(Task),
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

    fn take(&mut self, py: Python<'_>, index: u32) -> Part {
        std::mem::replace(&mut self.parts[index as usize], Part::Over(py.None()))
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

impl Token {
    pub(super) fn clone_ref(&self, py: Python<'_>) -> Self {
        Self { op: self.op.clone_ref(py), index: self.index }
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
    /// The request of a token.
    pub(super) fn entry(&self, index: u32) -> Option<&Entry> {
        match self {
            Self::Entry(entry) => Some(entry),
            Self::Many(many) => match many.parts.get(index as usize)? {
                Part::Entry(entry) => Some(entry),
                Part::Task(_) | Part::Over(_) => None,
            },
            Self::None | Self::Task(_) | Self::Later(..) | Self::Cancelled(_) => None,
        }
    }

    /// Takes the request of a token out.
    pub(super) fn take_entry(&mut self, py: Python<'_>, index: u32) -> Option<Entry> {
        self.entry(index)?;
        match self {
            Self::Many(many) => match many.take(py, index) {
                Part::Entry(entry) => Some(entry),
                Part::Task(_) | Part::Over(_) => None,
            },
            _ => match std::mem::take(self) {
                Self::Entry(entry) => Some(entry),
                _ => None,
            },
        }
    }

    /// Takes the future of a token out.
    pub(super) fn take_task(&mut self, py: Python<'_>, index: u32) -> Option<Task> {
        match self {
            Self::Many(many) => match many.parts.get(index as usize)? {
                Part::Task(_) => match many.take(py, index) {
                    Part::Task(task) => Some(task),
                    Part::Entry(_) | Part::Over(_) => None,
                },
                Part::Entry(_) | Part::Over(_) => None,
            },
            Self::Task(_) => match std::mem::take(self) {
                Self::Task(task) => Some(task),
                _ => None,
            },
            Self::None | Self::Entry(_) | Self::Later(..) | Self::Cancelled(_) => None,
        }
    }

    /// Puts a future in the place of what was taken.
    pub(super) fn put_task(&mut self, index: u32, task: Task) {
        match self {
            Self::Many(many) => many.parts[index as usize] = Part::Task(task),
            other => *other = Self::Task(task),
        }
    }

    /// The caller has given up. Gives what is left of it.
    pub(super) fn abandon(self, lane: &Bound<'_, Lane>) -> Self {
        match self {
            Self::Entry(entry) => entry.abandon(lane),
            Self::Task(task) => return Lane::drop_task(lane, task).map_or(Self::None, Self::Cancelled),
            Self::Many(many) => {
                for part in many.parts {
                    match part {
                        Part::Entry(entry) => entry.abandon(lane),
                        // The parts of a whole tell nothing of themselves.
                        Part::Task(task) => drop(Lane::drop_task(lane, task)),
                        Part::Over(_) => {}
                    }
                }
            }
            Self::None | Self::Later(..) | Self::Cancelled(_) => {}
        }
        Self::None
    }
}
