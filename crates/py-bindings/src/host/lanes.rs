//! The lanes of one client: one for each event loop that has used it.

use std::sync::Arc;

use parking_lot::RwLock;
use pyo3::prelude::*;

use super::lane::Lane;
use crate::core::ClientCore;

/// The lanes of one client.
#[derive(Default)]
pub(crate) struct Lanes(RwLock<Vec<Py<Lane>>>);

impl Lanes {
    /// The lane of an event loop, made when there is none yet.
    pub(super) fn of<'py>(
        &self,
        py: Python<'py>,
        client: &Arc<ClientCore>,
        event_loop: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Lane>> {
        let found =
            self.0.read().iter().find(|lane| lane.get().event_loop().is(event_loop)).map(|lane| lane.clone_ref(py));
        if let Some(lane) = found {
            return Ok(lane.into_bound(py));
        }
        let lane = Lane::open(py, client, event_loop)?;
        self.0.write().push(lane.clone().unbind());
        // Asking a loop whether it is closed runs Python code: not under the lock, and nobody misses his lane meanwhile.
        let all: Vec<_> = self.0.read().iter().map(|lane| lane.clone_ref(py)).collect();
        for other in all {
            if other.get().has_ended(py) {
                drop(self.remove(&other));
            }
        }
        Ok(lane)
    }

    /// Takes one out.
    pub(super) fn remove(&self, lane: &Py<Lane>) -> Option<Py<Lane>> {
        let mut lanes = self.0.write();
        let index = lanes.iter().position(|other| other.is(lane))?;
        Some(lanes.swap_remove(index))
    }
}
