//! Clusters that clients made alike share.

use std::sync::{Arc, LazyLock, Weak};

use aerolane::ClientConfig;
use aerolane::client::RawClient;
use arc_swap::ArcSwap;
use parking_lot::Mutex;
use pyo3::prelude::*;

use crate::core::ClientCore;
use crate::{errors, fork};

/// Of one process: a forked child begins with none, as nobody there would ever release the lock.
struct Registry {
    forks: u32,
    entries: Mutex<Vec<Entry>>,
}

struct Entry {
    config: ClientConfig,
    seeds: String,
    core: Weak<ClientCore>,
}

static REGISTRY: LazyLock<ArcSwap<Registry>> = LazyLock::new(|| ArcSwap::from(Registry::new()));

impl Registry {
    fn new() -> Arc<Self> {
        Arc::new(Self { forks: fork::forks(), entries: Mutex::default() })
    }

    fn current() -> Arc<Self> {
        let registry = REGISTRY.load_full();
        if registry.forks == fork::forks() {
            return registry;
        }
        let fresh = Self::new();
        REGISTRY.store(Arc::clone(&fresh));
        fresh
    }

    /// The cluster that was connected with the same policy and seeds, or a new one. Callers take turns, so that many
    /// threads that start at once connect once.
    fn connect(&self, config: ClientConfig, seeds: &str) -> aerolane::Result<Arc<ClientCore>> {
        let mut entries = self.entries.lock();
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
    py.detach(|| Registry::current().connect(config, seeds)).map_err(|e| errors::to_py(py, &e))
}
