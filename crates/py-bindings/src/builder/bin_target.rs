//! What an operation of a builder is made for: the name of a bin, and the servers that are to carry it out.

use aerolane::ael::Version;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::ops::Deref;

use super::chain::Shared;
use super::steps::since::{PERSISTED_INDEX, since};
use crate::errors;

/// The name of a bin, and the cluster of a builder.
pub(super) struct BinTarget<'a, 'py> {
    chain: &'a Shared,
    name: &'a Bound<'py, PyString>,
}

impl<'py> Deref for BinTarget<'_, 'py> {
    type Target = Bound<'py, PyString>;

    fn deref(&self) -> &Self::Target {
        self.name
    }
}

impl<'a, 'py> BinTarget<'a, 'py> {
    pub(super) fn new(chain: &'a Shared, name: &'a Bound<'py, PyString>) -> Self {
        Self { chain, name }
    }

    /// The version of the oldest active node; `None` while none is known.
    pub(super) fn oldest_server(&self) -> Option<Version> {
        oldest(self.chain)
    }

    /// Refuses a step that the oldest node of the cluster does not have.
    pub(super) fn check(&self, step: &str) -> PyResult<()> {
        check_step(self.name.py(), self.chain, step)
    }

    /// Refuses an index that is to be stored with a list or map, if a node of the cluster cannot.
    pub(super) fn check_persisted(&self, persist_index: bool) -> PyResult<()> {
        if !persist_index {
            return Ok(());
        }
        require(self.name.py(), self.chain, "persist_index", PERSISTED_INDEX)
    }
}

/// Refuses a step that the oldest node of the cluster does not have.
pub(super) fn check_step(py: Python<'_>, chain: &Shared, step: &str) -> PyResult<()> {
    match since(step) {
        None => Ok(()),
        Some(since) => require(py, chain, &format!("{step}()"), since),
    }
}

/// Refuses what only servers from a version on have, if a node of the cluster is older.
fn require(py: Python<'_>, chain: &Shared, what: &str, since: Version) -> PyResult<()> {
    match oldest(chain) {
        Some(oldest) if oldest < since => {
            let text = format!("{what} needs server {since} or later, and the oldest node of the cluster is {oldest}");
            Err(errors::invalid_argument(py, text))
        }
        _ => Ok(()),
    }
}

fn oldest(chain: &Shared) -> Option<Version> {
    chain.context.oldest_server()
}
