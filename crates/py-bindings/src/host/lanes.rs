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
        let (ended, rest): (Vec<_>, Vec<_>) = {
            let mut lanes = self.0.write();
            let all = std::mem::take(&mut *lanes);
            drop(lanes);
            // Asking a loop runs Python code: not under the lock.
            all.into_iter().partition(|lane| lane.get().has_ended(py))
        };
        {
            let mut lanes = self.0.write();
            lanes.extend(rest);
            lanes.push(lane.clone().unbind());
        }
        drop(ended);
        Ok(lane)
    }

    /// All lanes; none is left.
    pub(crate) fn take(&self) -> Vec<Py<Lane>> {
        std::mem::take(&mut *self.0.write())
    }
}
