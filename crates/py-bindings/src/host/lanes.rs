//! The lanes of one client: one for each event loop that has used it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aerolane::sync::RwLock;
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};

use super::lane::Lane;
use crate::core::ClientCore;

const LOG: &str = "aerolane::client";

/// The lanes of one client. None is kept alive: what the loop calls keeps it, and it the loop, which goes when nobody else has
/// it.
#[derive(Default)]
pub(crate) struct Lanes {
    entries: RwLock<Vec<Entry>>,
    /// How many event loops have ended that the client was used on.
    ended_loops: AtomicUsize,
}

/// So many event loops that have ended are worth a warning: the program makes a new one for each call or request.
const MANY_LOOPS: usize = 10;

struct Entry {
    /// Where loop and lane are, or were.
    event_loop: usize,
    lane: usize,
    alive: Py<PyWeakrefReference>,
}

impl Lanes {
    /// The lane of an event loop, made when there is none yet.
    pub(super) fn of<'py>(
        &self,
        py: Python<'py>,
        client: &Arc<ClientCore>,
        event_loop: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Lane>> {
        let at = event_loop.as_ptr().addr();
        {
            let entries = self.entries.read();
            // Of lanes that are gone nothing comes. One that is alive has its loop: it is this one.
            let mut here = entries.iter().filter(|entry| entry.event_loop == at);
            // SAFETY: only references to lanes are put there.
            if let Some(lane) = here.find_map(|entry| unsafe { entry.alive.bind(py).upgrade_as_unchecked::<Lane>() }) {
                return Ok(lane);
            }
        }
        let lane = Lane::open(py, client, event_loop)?;
        let alive = PyWeakrefReference::new(lane.as_any())?.unbind();
        self.entries.write().push(Entry { event_loop: at, lane: lane.as_ptr().addr(), alive });
        self.prune(py);
        Ok(lane)
    }

    /// Forgets lanes that are gone or whose loop is closed.
    fn prune(&self, py: Python<'_>) {
        // Asking a loop whether it is closed runs Python code, and so may giving a lane back: not under the lock. Everybody keeps
        // his lane meanwhile.
        let all: Vec<_> = self.entries.read().iter().map(|entry| (entry.lane, entry.alive.clone_ref(py))).collect();
        for (at, alive) in all {
            // SAFETY: as above.
            let lane = unsafe { alive.bind(py).upgrade_as_unchecked::<Lane>() };
            if lane.is_none_or(|lane| lane.get().has_ended(py)) {
                self.take_out(|entry| entry.lane == at && entry.alive.is(&alive));
            }
        }
    }

    /// Takes one out whose loop is closed or gone.
    pub(super) fn remove(&self, lane: &Py<Lane>) {
        let at = lane.as_ptr().addr();
        self.take_out(|entry| entry.lane == at);
    }

    fn take_out(&self, wanted: impl Fn(&Entry) -> bool) {
        let mut entries = self.entries.write();
        let entry = entries.iter().position(wanted).map(|index| entries.swap_remove(index));
        drop(entries);
        if entry.is_some() && self.ended_loops.fetch_add(1, Ordering::Relaxed) + 1 == MANY_LOOPS {
            log::warn!(
                target: LOG,
                "a client was used on {MANY_LOOPS} event loops that have ended, and opened connections of its own on each: \
                 keep one event loop, or use SyncClient (see \"Event loops\" in the documentation)"
            );
        }
    }
}
