//! What an operation is waiting for.

use std::sync::Arc;

use aerolane::client::RawAttempt;
use aerolane::lane::Ticket;
use pyo3::prelude::*;
use tokio::task::AbortHandle;

use super::lane::Lane;
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
    /// A task elsewhere, which posts its result under this number. `call` makes the result of a raw answer.
    Task { id: u64, abort: Option<AbortHandle>, call: Option<(Arc<ClientCore>, Call)> },
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

impl Work {
    /// The caller has given up.
    pub(super) fn abandon(self, py: Python<'_>, lane: &Bound<'_, Lane>) {
        match self {
            Self::Entry(entry) => {
                if let Some((attempt, ticket)) = &entry.attempt {
                    lane.get().abandon(py, attempt, *ticket);
                }
            }
            Self::Task { id, abort, .. } => {
                if let Some(abort) = abort {
                    abort.abort();
                }
                lane.get().forget(id);
            }
            Self::None | Self::Later(..) => {}
        }
    }
}
