//! What a connected cluster takes over when the file changes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Weak};
use std::time::{Duration, Instant};

use aerolane::sync::Mutex;
use aerolane_config::{Metrics, System};
use pyo3::prelude::*;

use super::AtConnect;
use super::file::File;
use crate::core::ClientCore;
use crate::metrics;
use crate::system::TransactionRules;

/// How often it is looked whether the file has changed.
const PERIOD: Duration = Duration::from_secs(1);

/// A cluster that goes by a file.
pub(crate) struct Follow {
    core: Weak<ClientCore>,
    file: Arc<File>,
    cluster: Option<String>,
    /// What the program says: the file goes before it.
    program: System,
    seen: AtomicU64,
    metrics: Mutex<Metrics>,
}

impl Follow {
    /// Has a cluster go by the file until it is closed. The control thread looks at the time, one of its helpers at the
    /// file.
    pub(crate) fn start(
        py: Python<'_>,
        core: &Arc<ClientCore>,
        at: &AtConnect,
        cluster: Option<String>,
        program: System,
    ) {
        let now = program.merge(&at.system(cluster.as_deref()));
        take_over(core, &now);
        metrics::apply(py, core, &now.metrics);
        let follow = Arc::new(Self {
            core: Arc::downgrade(core),
            file: Arc::clone(&at.file),
            cluster,
            program,
            metrics: Mutex::new(now.metrics),
            seen: AtomicU64::new(at.loaded.as_ref().map_or(0, |loaded| loaded.version)),
        });
        core.raw.spawn(async move {
            loop {
                tokio::time::sleep(until_next()).await;
                let _turn = follow.file.turn.lock().await;
                let follow = Arc::clone(&follow);
                // The file may be on a disk that is slow, and the interpreter may be busy.
                if tokio::task::spawn_blocking(move || follow.look()).await.is_err() {
                    return;
                }
            }
        });
    }

    fn look(&self) {
        let Some(loaded) = self.file.look().filter(|now| now.version != self.seen.load(Ordering::Relaxed)) else {
            return;
        };
        let done = Python::try_attach(|py| {
            let applied = self.file.apply_behaviors(py);
            if let Some(core) = self.core.upgrade() {
                let now = self.program.merge(&loaded.config.system(self.cluster.as_deref()));
                take_over(&core, &now);
                // What the program has switched meanwhile stays, unless the file says something else than before.
                let before = std::mem::replace(&mut *self.metrics.lock(), now.metrics.clone());
                if before != now.metrics {
                    metrics::apply(py, &core, &now.metrics);
                }
            }
            applied.unwrap_or_else(|error| error.write_unraisable(py, None));
        });
        if done.is_some() {
            self.seen.store(loaded.version, Ordering::Relaxed);
        }
    }
}

/// Has a cluster go by settings that may change while it is open.
pub(crate) fn take_over(core: &ClientCore, system: &System) {
    core.set_transaction_rules(TransactionRules::of(&system.transactions));
}

/// All clusters look at the same moments, so that one look at the file serves them.
fn until_next() -> Duration {
    static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);
    let since = BEGINNING.elapsed().as_nanos() % PERIOD.as_nanos();
    PERIOD.saturating_sub(Duration::from_nanos(since as u64))
}
