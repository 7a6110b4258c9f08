//! What a `ClusterDefinition` has said, ready to connect.

use std::sync::Arc;

use aerolane::ClientConfig;
use pyo3::prelude::*;

use super::seeds::Seeds;
use crate::client::connect_blocking;
use crate::core::{ClientCore, Origin};
use crate::system::TransactionSettings;

/// Where a cluster is and how to talk to it. May connect any number of times.
#[derive(Clone)]
pub(super) struct Connector {
    pub(super) config: ClientConfig,
    pub(super) seeds: Seeds,
    pub(super) transactions: TransactionSettings,
}

impl Connector {
    /// To be made while the caller's frame runs.
    pub(super) fn origin(&self, py: Python<'_>) -> PyResult<Origin> {
        Origin::here(py, &self.seeds.to_string())
    }

    /// Connects, on this thread. Gives up the GIL meanwhile.
    pub(super) fn connect(&self, py: Python<'_>, origin: Origin) -> PyResult<Arc<ClientCore>> {
        let core = connect_blocking(py, &self.config, &self.seeds, origin)?;
        core.set_transaction_rules(self.transactions.in_force());
        Ok(core)
    }
}
