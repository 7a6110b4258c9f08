//! Exporters of a cluster: those that the program has added, and the files that settings ask for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aerolane::metrics::{ClusterMetrics as Snapshot, Exports, MetricsExport, MetricsWriter};
use aerolane::sync::Mutex;
use aerolane_config::{Exporter, Metrics};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyModule, PyTuple};

use super::snapshot::ClusterMetrics;
use super::writer;
use crate::core::ClientCore;
use crate::lock::LockAttached;

/// The logger is `aerolane.metrics`.
pub(crate) const LOG: &str = "aerolane::metrics";
/// How long closing waits for the last snapshots to be exported, all exporters together.
const LAST_EXPORTS: Duration = Duration::from_secs(5);

/// The exporters of one cluster. No Python code runs while the lock is held.
#[derive(Default)]
pub(crate) struct Exporters(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    settings: Metrics,
    added: Vec<Added>,
    file: Option<FileExport>,
}

/// An exporter of the program.
struct Added {
    exporter: Py<PyAny>,
    /// A lock of Python, shared by all entries of one exporter.
    turn: Py<PyAny>,
    export: Arc<MetricsExport>,
}

/// The files in `report_dir`.
struct FileExport {
    directory: String,
    limit: u64,
    export: Arc<MetricsExport>,
}

impl Inner {
    fn interval(&self) -> Duration {
        self.settings.export_interval.unwrap_or(MetricsExport::DEFAULT_INTERVAL)
    }

    /// Whether the settings let exporters of the program have snapshots.
    fn calls_added(&self) -> bool {
        matches!(self.settings.exporter, None | Some(Exporter::Custom))
    }

    /// The directory and the size limit of the files that the settings ask for.
    fn files(&self) -> Option<(&str, u64)> {
        let directory = self.settings.report_dir.as_deref().filter(|directory| !directory.is_empty())?;
        let wanted = matches!(self.settings.exporter, None | Some(Exporter::File));
        wanted.then(|| (directory, self.settings.report_size_limit.unwrap_or(0)))
    }

    /// Those that get snapshots now.
    fn active(&self) -> Vec<Arc<MetricsExport>> {
        let added = if self.calls_added() { &self.added[..] } else { &[] };
        added
            .iter()
            .map(|added| &added.export)
            .chain(self.file.iter().map(|file| &file.export))
            .map(Arc::clone)
            .collect()
    }

    fn pause(&mut self) {
        self.added.iter().for_each(|added| added.export.pause());
        // What was pushed before is still written.
        self.file = None;
    }

    fn restart(&mut self, core: &Arc<ClientCore>) {
        let interval = self.interval();
        for added in &self.added {
            if self.calls_added() {
                restart(&added.export, interval);
            } else {
                added.export.pause();
            }
        }
        let wanted = self.files().map(|(directory, limit)| (directory.to_owned(), limit));
        let Some((directory, limit)) = wanted else {
            if self.settings.exporter == Some(Exporter::File) {
                log::warn!(target: LOG, "the exporter of metrics is \"file\", and there is no report_dir: nothing is exported");
            }
            self.file = None;
            return;
        };
        if self.file.as_ref().is_none_or(|file| file.directory != directory || file.limit != limit) {
            let made =
                MetricsWriter::new(&directory, limit).and_then(|writer| MetricsExport::on_thread(writer, source(core)));
            self.file = match made {
                Ok(export) => Some(FileExport { directory, limit, export: Arc::new(export) }),
                Err(error) => {
                    log::warn!(target: LOG, "metrics are not written to {directory:?}: {error}");
                    None
                }
            };
        }
        if let Some(file) = &self.file {
            restart(&file.export, interval);
        }
    }
}

fn restart(export: &MetricsExport, interval: Duration) {
    if let Err(error) = export.restart(interval) {
        log::warn!(target: LOG, "metrics are not exported: {error}");
    }
}

/// Snapshots of a client, as long as it is open.
fn source(core: &Arc<ClientCore>) -> impl Fn() -> Option<Snapshot> + Send + Sync + 'static {
    let core = Arc::downgrade(core);
    move || core.upgrade().filter(|core| !core.raw.cluster().is_closed()).map(|core| core.raw.sync().metrics())
}

/// Takes over what settings say of exporters.
pub(super) fn configure(py: Python<'_>, core: &Arc<ClientCore>, settings: &Metrics) {
    core.exporters.0.lock_py_attached(py).settings = settings.clone();
}

/// Begins to export, or goes on by other settings.
pub(super) fn restart_all(py: Python<'_>, core: &Arc<ClientCore>) {
    core.exporters.0.lock_py_attached(py).restart(core);
}

/// Exports one more snapshot, and then nothing until [`restart_all`]. Gives the exports that work on it.
pub(super) fn pause_all(py: Python<'_>, core: &Arc<ClientCore>) -> Vec<Arc<MetricsExport>> {
    let active = core.exporters.0.lock_py_attached(py).active();
    push(py, core, &active);
    core.exporters.0.lock_py_attached(py).pause();
    active
}

/// Exports one more snapshot, waits until that is done, for some seconds at most, and forgets all exporters.
pub(crate) fn finish(py: Python<'_>, core: &Arc<ClientCore>) {
    if core.raw.cluster().is_closed() {
        return;
    }
    let exports = if super::enabled(&core.raw) { pause_all(py, core) } else { Vec::new() };
    wait(py, &exports);
    let inner = std::mem::take(&mut *core.exporters.0.lock_py_attached(py));
    drop(inner);
}

/// Waits until exporters have what was pushed, for some seconds at most.
pub(super) fn wait(py: Python<'_>, exports: &[Arc<MetricsExport>]) {
    let deadline = Instant::now() + LAST_EXPORTS;
    let late = py.detach(|| exports.iter().filter(|export| !export.wait_until(deadline)).count());
    if late > 0 {
        log::warn!(target: LOG, "exporters of metrics that were not done with the last snapshot within {LAST_EXPORTS:?}: {late}");
    }
}

fn push(py: Python<'_>, core: &Arc<ClientCore>, exports: &[Arc<MetricsExport>]) {
    if exports.is_empty() {
        return;
    }
    let last = py.detach(|| core.raw.sync().metrics());
    for export in exports {
        export.push(last.clone());
    }
}

/// The exporters that the program has added, in that order.
pub(crate) fn added<'py>(py: Python<'py>, core: &ClientCore) -> PyResult<Bound<'py, PyTuple>> {
    core.check(py)?;
    PyTuple::new(py, objects(py, core))
}

fn objects(py: Python<'_>, core: &ClientCore) -> Vec<Py<PyAny>> {
    core.exporters.0.lock_py_attached(py).added.iter().map(|added| added.exporter.clone_ref(py)).collect()
}

/// Adds an exporter; `on_loop`: of a client for asyncio, whose exporters are async.
pub(crate) fn add(core: &Arc<ClientCore>, exporter: &Bound<'_, PyAny>, on_loop: bool) -> PyResult<()> {
    let py = exporter.py();
    core.check_open(py)?;
    let event_loop = check(exporter, on_loop)?;
    let class = exporter.get_type();
    let (export, exports) = MetricsExport::paused(class.qualname()?.to_string(), source(core));
    let executable = {
        let inner = core.exporters.0.lock_py_attached(py);
        let found = inner.added.iter().find(|added| added.exporter.is(exporter));
        found.map(|added| added.turn.clone_ref(py))
    };
    let turn = match executable {
        Some(turn) => turn,
        None => new_turn(py)?,
    };
    let exports = Bound::new(py, PyExports(Mutex::new(exports)))?;
    start_in_turn(exports.as_any(), exporter, &turn, event_loop.as_ref())?;
    let on = super::enabled(&core.raw);
    let called = {
        let mut inner = core.exporters.0.lock_py_attached(py);
        let called = inner.calls_added();
        if on && called {
            restart(&export, inner.interval());
        }
        inner.added.push(Added { exporter: exporter.clone().unbind(), turn, export: Arc::new(export) });
        called
    };
    if !called {
        log::warn!(
            target: LOG,
            "the metrics setting `exporter` is not \"custom\": {} gets no snapshots",
            class.qualname()?
        );
    }
    Ok(())
}

/// Removes an exporter. False: there is none like it.
pub(crate) fn remove(core: &ClientCore, exporter: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = exporter.py();
    core.check(py)?;
    for object in objects(py, core) {
        if !object.bind(py).eq(exporter)? {
            continue;
        }
        let removed = {
            let mut inner = core.exporters.0.lock_py_attached(py);
            // Another thread may have been faster.
            let index = inner.added.iter().position(|added| added.exporter.is(&object));
            index.map(|index| inner.added.remove(index))
        };
        return Ok(removed.is_some());
    }
    Ok(false)
}

/// Checks that an exporter can be called. Gives the event loop that an async one runs on.
fn check<'py>(exporter: &Bound<'py, PyAny>, on_loop: bool) -> PyResult<Option<Bound<'py, PyAny>>> {
    let is_async = is_async(exporter)?;
    // It writes on a thread of its own.
    let writes_itself = exporter.is_exact_instance_of::<writer::MetricsWriter>();
    if on_loop && !is_async && !writes_itself {
        let class = exporter.get_type().qualname()?;
        return Err(PyTypeError::new_err(format!(
            "{class}.export() is not async: a cluster for asyncio takes exporters with `async def export()`"
        )));
    }
    if is_async { loop_for(exporter, on_loop).map(Some) } else { Ok(None) }
}

/// Whether the method `export` of an exporter is async.
///
/// # Errors
/// `TypeError`: it has no such method.
pub(crate) fn is_async(exporter: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = exporter.py();
    let method = exporter.getattr_opt(intern!(py, "export"))?.filter(PyAnyMethods::is_callable);
    let Some(method) = method else {
        let class = exporter.get_type().qualname()?;
        return Err(PyTypeError::new_err(format!("{class} is not an exporter of metrics: it has no method export()")));
    };
    py.import(intern!(py, "inspect"))?.call_method1(intern!(py, "iscoroutinefunction"), (method,))?.is_truthy()
}

/// The event loop that an async exporter runs on: the running one.
///
/// # Errors
/// `TypeError`: it is added to what has no event loop. `RuntimeError`: none is running.
pub(crate) fn loop_for<'py>(exporter: &Bound<'py, PyAny>, on_loop: bool) -> PyResult<Bound<'py, PyAny>> {
    let py = exporter.py();
    if !on_loop {
        let class = exporter.get_type().qualname()?;
        return Err(PyTypeError::new_err(format!(
            "{class}.export() is async: what is of aerolane.sync takes exporters with a plain export()"
        )));
    }
    let running = py.import(intern!(py, "asyncio"))?.call_method0(intern!(py, "_get_running_loop"))?;
    if running.is_none() {
        return Err(PyRuntimeError::new_err(
            "no event loop is running: add exporters of metrics from a coroutine, whose loop they will run on",
        ));
    }
    Ok(running)
}

/// Has an exporter called on a thread of its own, or by that on its event loop. `exports` has the snapshots.
pub(crate) fn start(
    exports: &Bound<'_, PyAny>,
    exporter: &Bound<'_, PyAny>,
    event_loop: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    start_in_turn(exports, exporter, &new_turn(exports.py())?, event_loop)
}

fn start_in_turn(
    exports: &Bound<'_, PyAny>,
    exporter: &Bound<'_, PyAny>,
    turn: &Py<PyAny>,
    event_loop: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let py = exports.py();
    threads(py)?.call_method1(intern!(py, "start"), (exports, exporter, turn, event_loop))?;
    Ok(())
}

fn new_turn(py: Python<'_>) -> PyResult<Py<PyAny>> {
    Ok(py.import(intern!(py, "threading"))?.call_method0(intern!(py, "Lock"))?.unbind())
}

fn threads(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("aerolane._python.exporter_threads").map(Bound::unbind))?;
    Ok(module.bind(py))
}

/// The snapshots of one exporter, for its thread.
#[pyclass(frozen, name = "_Exports", module = "aerolane")]
struct PyExports(Mutex<Exports>);

#[pymethods]
impl PyExports {
    /// Waits for the next snapshot; `None`: there will be no more.
    fn next(&self, py: Python<'_>) -> PyResult<Option<ClusterMetrics>> {
        // Only the thread of the exporter calls this.
        let metrics = py.detach(|| self.0.lock().next());
        metrics.map(|metrics| ClusterMetrics::new(py, metrics, true)).transpose()
    }

    /// Tells how the export went: `None`, or the text of an error.
    fn exported(&self, error: Option<String>) {
        self.0.lock().exported(error.map_or(Ok(()), Err));
    }
}
