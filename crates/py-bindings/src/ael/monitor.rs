//! `IndexesMonitor`: the secondary indexes of a cluster, listed again and again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aerolane::ael::listed::Listed;
use aerolane::sync::{Condvar, Mutex};
use pyo3::exceptions::{PyRuntimeError, PyTimeoutError};
use pyo3::prelude::*;
use tokio::task::AbortHandle;

use super::index::{Index, IndexContext};
use crate::client::Client as NativeClient;
use crate::core::ClientCore;
use crate::errors;
use crate::lock::LockAttached;

/// How long `wait_until_ready` waits unless it is told.
const READY_WITHIN: f64 = 30.0;
/// How often one who waits is asked whether the program was interrupted.
const SIGNALS: Duration = Duration::from_millis(100);
/// The longest interval and wait, in seconds: what a clock can count without overflow.
const MOST_SECONDS: f64 = 1e9;

#[derive(Default)]
struct State {
    task: Option<AbortHandle>,
    /// As it was listed last; `None`: the first list has not come.
    listed: Option<Arc<[Listed]>>,
    /// Why the last attempt gave no list.
    failed: Option<String>,
}

impl State {
    fn is_ready(&self) -> bool {
        self.listed.is_some() || self.failed.is_some()
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    came: Condvar,
}

/// Keeps a list of the secondary indexes of a cluster, for `parse_ael_with_index` and `with_index_context`.
///
/// `refresh_interval`: seconds between two updates (default 5). Queries of sessions need no monitor, since they ask for
/// the indexes when they need them. A client that is given a monitor (`indexes_monitor=`) starts it on connecting.
///
/// Raises `InvalidArgumentError` unless the interval is a number above 0.
#[pyclass(frozen, weakref, module = "aerolane.ael")]
pub(crate) struct IndexesMonitor {
    interval: Duration,
    shared: Arc<Shared>,
}

/// A number of seconds, from `least` on, which is not negative.
fn seconds(py: Python<'_>, what: &str, value: f64, least: f64) -> PyResult<Duration> {
    if (least..=MOST_SECONDS).contains(&value) {
        return Ok(Duration::from_secs_f64(value));
    }
    let text = format!("{what} is {value}, it must be a number of seconds from {least} to {MOST_SECONDS}");
    Err(errors::invalid_argument(py, text))
}

#[pymethods]
impl IndexesMonitor {
    #[new]
    #[pyo3(signature = (refresh_interval=5.0))]
    fn new(py: Python<'_>, refresh_interval: f64) -> PyResult<Self> {
        let interval = seconds(py, "refresh_interval", refresh_interval, 0.001)?;
        Ok(Self { interval, shared: Arc::default() })
    }

    /// Starts to monitor the indexes of a connected client: a `Client`, a `SyncClient`, or one of `aerolane.native`.
    /// Does nothing if the monitor is running. It stops when the client is closed.
    fn start(&self, client: &Bound<'_, PyAny>) -> PyResult<()> {
        let native = match client.cast::<NativeClient>() {
            Ok(native) => native.clone(),
            Err(_) => client.getattr("native")?.cast_into::<NativeClient>()?,
        };
        self.begin(client.py(), native.get().core())
    }

    /// Waits until the first list has arrived or could not be read; in that case there are no indexes to choose from.
    /// `timeout`: seconds (default 30).
    ///
    /// Raises `RuntimeError` if the monitor was not started, and Python's `TimeoutError`.
    #[pyo3(signature = (timeout=None))]
    fn wait_until_ready(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        let wait = seconds(py, "timeout", timeout.unwrap_or(READY_WITHIN), 0.0)?;
        let until = Instant::now() + wait;
        let ready = loop {
            let look_again = until.min(Instant::now() + SIGNALS);
            let ready = py.detach(|| {
                let mut state = self.shared.state.lock();
                while !state.is_ready() && state.task.is_some() {
                    let timed_out;
                    (state, timed_out) = self.shared.came.wait_until(state, look_again);
                    if timed_out {
                        break;
                    }
                }
                if state.task.is_none() { None } else { Some(state.is_ready()) }
            });
            py.check_signals()?;
            if ready != Some(false) || Instant::now() >= until {
                break ready;
            }
        };
        match ready {
            Some(true) => Ok(()),
            Some(false) => {
                let text = format!("the nodes have not listed their indexes within {} s", wait.as_secs_f64());
                Err(PyTimeoutError::new_err(text))
            }
            None => Err(PyRuntimeError::new_err("the monitor was not started: call start(client)")),
        }
    }

    /// Stops the monitor; the latest list stays. A second call does nothing.
    fn stop(&self, py: Python<'_>) {
        let task = self.shared.state.lock_py_attached(py).task.take();
        self.shared.came.notify_all();
        if let Some(task) = task {
            task.abort();
        }
    }

    /// The indexes of a namespace that queries can use, from the latest list. `None` if there are none, or the first
    /// list has not arrived yet.
    fn get_index_context(&self, py: Python<'_>, namespace: &str) -> PyResult<Option<IndexContext>> {
        let Some(listed) = self.shared.state.lock_py_attached(py).listed.clone() else { return Ok(None) };
        // One entry for each name: nodes may list an index that they are building.
        let of: BTreeMap<_, _> = listed
            .iter()
            .filter(|one| one.namespace == namespace && one.readable)
            .map(|one| (one.index.name.as_deref(), one))
            .collect();
        if of.is_empty() {
            return Ok(None);
        }
        let indexes = of.into_values().map(|one| Py::new(py, Index::of_listed(py, one)?)).collect::<PyResult<_>>()?;
        Ok(Some(IndexContext::of(namespace.to_owned(), indexes)))
    }
}

impl IndexesMonitor {
    /// Begins to ask for the indexes of a cluster, unless it has begun already.
    pub(crate) fn begin(&self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<()> {
        core.check_open(py)?;
        let mut state = self.shared.state.lock_py_attached(py);
        if state.task.as_ref().is_some_and(|task| !task.is_finished()) {
            return Ok(());
        }
        (state.listed, state.failed) = (None, None);
        let (shared, interval, of) = (Arc::clone(&self.shared), self.interval, Arc::downgrade(core));
        state.task = Some(core.raw.spawn(async move {
            // The client is not kept open: it is there while somebody else uses it.
            while let Some(core) = of.upgrade().filter(|core| !core.raw.cluster().is_closed()) {
                let found = core.indexes.list(&core.raw).await;
                drop(core);
                {
                    let mut state = shared.state.lock();
                    match found {
                        Ok(listed) => (state.listed, state.failed) = (Some(listed), None),
                        // What was listed before is better than nothing.
                        Err(error) => state.failed = Some(error.to_string()),
                    }
                }
                shared.came.notify_all();
                tokio::time::sleep(interval).await;
            }
        }));
        Ok(())
    }
}

impl Drop for IndexesMonitor {
    fn drop(&mut self) {
        if let Some(task) = self.shared.state.lock().task.take() {
            task.abort();
        }
    }
}
