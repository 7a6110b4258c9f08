//! Clusters that clients made alike share.

use std::sync::{Arc, Weak};

use aerolane::ClientConfig;
use aerolane::raw::RawClient;
use aerolane::sync::Mutex;
use pyo3::prelude::*;

use crate::core::ClientCore;
use crate::errors;
use crate::fork::PerProcess;

/// The clusters of this process.
static CLUSTERS: PerProcess<Clusters> = PerProcess::new();

#[derive(Default)]
struct Clusters(Mutex<Vec<Entry>>);

struct Entry {
    config: ClientConfig,
    seeds: String,
    core: Weak<ClientCore>,
}

impl Clusters {
    /// The cluster that was connected with the same policy and seeds, or a new one. Callers take turns, so that many
    /// threads that start at once connect once.
    fn connect(&self, config: ClientConfig, seeds: &str) -> aerolane::Result<Arc<ClientCore>> {
        let mut entries = self.0.lock();
        entries.retain(|entry| entry.core.strong_count() > 0);
        let alike = entries.iter().filter(|entry| entry.seeds == seeds && entry.config == config);
        if let Some(core) = alike.filter_map(|entry| entry.core.upgrade()).find(|core| !core.raw.cluster().is_closed())
        {
            return Ok(core);
        }
        let core = ClientCore::new(RawClient::connect_blocking(&config, &seeds.to_owned())?, None);
        entries.push(Entry { config, seeds: seeds.to_owned(), core: Arc::downgrade(&core) });
        Ok(core)
    }
}

/// The cluster that was connected with the same policy and seeds and is still in use, or a new one. Gives up the GIL.
pub(super) fn connect(py: Python<'_>, config: ClientConfig, seeds: &str) -> PyResult<Arc<ClientCore>> {
    py.detach(|| CLUSTERS.current().connect(config, seeds)).map_err(|e| errors::to_py(py, &e))
}
