//! Exporters of what a writer counts: the mechanism of [`crate::metrics`], for the snapshots of writers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aerolane::metrics::{Exports, MetricsExport};
use aerolane::sync::Mutex;
use aerolane::writer::{RawWriter, WriterMetrics};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::key::WrittenKey;
use super::metrics as shown;
use crate::core::ClientCore;
use crate::errors;
use crate::lock::LockAttached;
use crate::metrics::exporters;

/// How long closing waits for the last snapshots to be exported, all exporters together.
const LAST_EXPORTS: Duration = Duration::from_secs(5);
/// How often it looks whether they are.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The exporters of one writer. No Python code runs while the lock is held.
#[derive(Default)]
pub(super) struct Exporters(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    added: Vec<Added>,
    /// They have had the last snapshot.
    finished: bool,
}

struct Added {
    exporter: Py<PyAny>,
    export: Arc<MetricsExport<WriterMetrics>>,
}

/// The last snapshot of a writer on its way to the exporters.
pub(super) struct Last(Vec<Arc<MetricsExport<WriterMetrics>>>, Instant);

impl Exporters {
    /// Adds an exporter that is called after each interval. `on_loop`: of a writer for asyncio, whose exporters may be async.
    pub(super) fn add(
        &self,
        raw: &RawWriter<WrittenKey>,
        exporter: &Bound<'_, PyAny>,
        interval: Duration,
        on_loop: bool,
    ) -> PyResult<()> {
        let py = exporter.py();
        let event_loop =
            if exporters::is_async(exporter)? { Some(exporters::loop_for(exporter, on_loop)?) } else { None };
        let name = exporter.get_type().qualname()?.to_string();
        let (export, exports) = MetricsExport::paused(name, raw.metrics_source());
        export.restart(interval).map_err(|error| errors::to_py(py, &error))?;
        let exports = Bound::new(py, WriterExports(Mutex::new(exports)))?;
        exporters::start(exports.as_any(), exporter, event_loop.as_ref())?;
        let added = Added { exporter: exporter.clone().unbind(), export: Arc::new(export) };
        self.0.lock_py_attached(py).added.push(added);
        Ok(())
    }

    /// Removes an exporter. False: there is none like it.
    pub(super) fn remove(&self, exporter: &Bound<'_, PyAny>) -> bool {
        let mut inner = self.0.lock_py_attached(exporter.py());
        let index = inner.added.iter().position(|added| added.exporter.is(exporter));
        let removed = index.map(|index| inner.added.remove(index));
        // The object may be the last of its kind: it goes without the lock.
        drop(inner);
        removed.is_some()
    }

    /// Gives all exporters the last snapshot. Runs no Python code.
    pub(super) fn finish(&self, py: Python<'_>, raw: &RawWriter<WrittenKey>) -> Last {
        let exports: Vec<_> = {
            let mut inner = self.0.lock_py_attached(py);
            let finished = std::mem::replace(&mut inner.finished, true);
            let added = if finished { &[] } else { &inner.added[..] };
            added.iter().map(|added| Arc::clone(&added.export)).collect()
        };
        if !exports.is_empty() {
            let last = raw.metrics();
            for export in &exports {
                export.push(last.clone());
                export.end();
            }
        }
        Last(exports, Instant::now() + LAST_EXPORTS)
    }
}

impl Last {
    /// Waits until it has been exported.
    pub(super) fn wait(&self, py: Python<'_>) {
        let late = py.detach(|| self.0.iter().filter(|export| !export.wait_until(self.1)).count());
        Self::tell(late);
    }

    /// The same for tasks; `core` is whose control thread has a timer.
    pub(super) async fn waited(self, core: Arc<ClientCore>) {
        if self.0.is_empty() {
            return;
        }
        let (done, waits) = tokio::sync::oneshot::channel();
        let _ = core.raw.spawn(async move {
            let late = || self.0.iter().filter(|export| !export.wait_until(Instant::now())).count();
            while late() > 0 && Instant::now() < self.1 {
                tokio::time::sleep(LOOK_EVERY).await;
            }
            Self::tell(late());
            // Nobody may wait any more.
            let _ = done.send(());
        });
        // An error: the client was closed meanwhile.
        let _ = waits.await;
    }

    fn tell(late: usize) {
        if late > 0 {
            log::warn!(
                target: exporters::LOG,
                "exporters of a writer's metrics that were not done with the last snapshot within {LAST_EXPORTS:?}: {late}"
            );
        }
    }
}

/// The snapshots of one exporter, for its thread.
#[pyclass(frozen, name = "_WriterExports", module = "aerolane")]
struct WriterExports(Mutex<Exports<WriterMetrics>>);

#[pymethods]
impl WriterExports {
    /// Waits for the next snapshot; `None`: there will be no more.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        // Only the thread of the exporter calls this.
        let metrics = py.detach(|| self.0.lock().next());
        metrics.map(|metrics| shown::snapshot(py, &metrics)).transpose()
    }

    /// Tells how the export went: `None`, or the text of an error.
    fn exported(&self, error: Option<String>) {
        self.0.lock().exported(error.map_or(Ok(()), Err));
    }
}
