//! The lanes of one client: one for each event loop that has used it.

use std::sync::Arc;

use parking_lot::RwLock;
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};

use super::lane::Lane;
use crate::core::ClientCore;

/// The lanes of one client. None is kept alive: what the loop calls keeps it, and it the loop, which goes when nobody else has
/// it.
#[derive(Default)]
pub(crate) struct Lanes(RwLock<Vec<Entry>>);

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
            let entries = self.0.read();
            // Of lanes that are gone nothing comes. One that is alive has its loop: it is this one.
            let mut here = entries.iter().filter(|entry| entry.event_loop == at);
            // SAFETY: only references to lanes are put there.
            if let Some(lane) = here.find_map(|entry| unsafe { entry.alive.bind(py).upgrade_as_unchecked::<Lane>() }) {
                return Ok(lane);
            }
        }
        let lane = Lane::open(py, client, event_loop)?;
        let alive = PyWeakrefReference::new(lane.as_any())?.unbind();
        self.0.write().push(Entry { event_loop: at, lane: lane.as_ptr().addr(), alive });
        self.prune(py);
        Ok(lane)
    }

    /// Forgets lanes that are gone or whose loop is closed.
    fn prune(&self, py: Python<'_>) {
        // Asking a loop whether it is closed runs Python code, and so may giving a lane back: not under the lock. Everybody keeps
        // his lane meanwhile.
        let all: Vec<_> = self.0.read().iter().map(|entry| (entry.lane, entry.alive.clone_ref(py))).collect();
        for (at, alive) in all {
            // SAFETY: as above.
            let lane = unsafe { alive.bind(py).upgrade_as_unchecked::<Lane>() };
            if lane.is_none_or(|lane| lane.get().has_ended(py)) {
                self.forget(at, &alive);
            }
        }
    }

    fn forget(&self, at: usize, alive: &Py<PyWeakrefReference>) {
        let mut entries = self.0.write();
        let entry = entries.iter().position(|entry| entry.lane == at && entry.alive.is(alive));
        let entry = entry.map(|index| entries.swap_remove(index));
        drop(entries);
        drop(entry);
    }

    /// Takes one out.
    pub(super) fn remove(&self, lane: &Py<Lane>) {
        let at = lane.as_ptr().addr();
        let mut entries = self.0.write();
        let entry = entries.iter().position(|entry| entry.lane == at).map(|index| entries.swap_remove(index));
        drop(entries);
        drop(entry);
    }
}
