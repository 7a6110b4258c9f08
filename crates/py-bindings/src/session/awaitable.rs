//! `AwaitableContext`: what can be awaited, and also entered.

use std::sync::Arc;

use aerolane::sync::Mutex;
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;

use super::cluster::Cluster;
use super::connector::Connector;
use crate::client;
use crate::client::thread::in_thread;
use crate::core::Origin;

/// A connection to be made: `await` it, or enter it with `async with`, which also closes it. It connects when it is
/// awaited or entered, each time anew. Tasks may enter one at the same time: each leaves its own.
#[pyclass(frozen, weakref, module = "aerolane")]
pub(crate) struct AwaitableContext {
    connector: Connector,
    origin: Origin,
    entered: Arc<Mutex<Vec<Entered>>>,
}

/// A task, and the cluster that it has entered.
type Entered = (Py<PyAny>, Py<Cluster>);

/// The cluster that a connector connects to.
fn connected(py: Python<'_>, connector: &Connector, origin: Origin) -> PyResult<Py<Cluster>> {
    Py::new(py, Cluster::new(connector.connect(py, origin)?))
}

/// The task that runs.
fn current_task(py: Python<'_>) -> PyResult<Py<PyAny>> {
    Ok(py.import(intern!(py, "asyncio"))?.call_method0(intern!(py, "current_task"))?.unbind())
}

impl AwaitableContext {
    pub(super) fn new(py: Python<'_>, connector: Connector) -> PyResult<Self> {
        let origin = connector.origin(py)?;
        Ok(Self { connector, origin, entered: Arc::default() })
    }
}

#[pymethods]
impl AwaitableContext {
    fn __await__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (connector, origin) = (self.connector.clone(), self.origin.clone_ref(py));
        let future = in_thread(py, "connect", move |py| Ok(connected(py, &connector, origin)?.into_any()))?;
        future.bind(py).call_method0("__await__")
    }

    fn __aenter__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let (connector, origin) = (self.connector.clone(), self.origin.clone_ref(py));
        let (entered, task) = (Arc::clone(&self.entered), current_task(py)?);
        in_thread(py, "connect", move |py| {
            let cluster = connected(py, &connector, origin)?;
            entered.lock().push((task, cluster.clone_ref(py)));
            Ok(cluster.into_any())
        })
    }

    #[pyo3(signature = (*_exception))]
    fn __aexit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let task = current_task(py)?;
        let left = {
            let mut entered = self.entered.lock();
            // What another task has entered, as some test frameworks do, is left in the reverse order.
            let mine = entered.iter().rposition(|(of, _)| of.is(&task)).or(entered.len().checked_sub(1));
            mine.map(|at| entered.remove(at))
        };
        match left {
            Some((_, cluster)) => client::close(py, cluster.get().core()),
            None => Err(PyRuntimeError::new_err("this has not been entered")),
        }
    }

    /// `AwaitableContext[T]` is `AwaitableContext`: for annotations.
    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, pyo3::types::PyType>,
        _item: &Bound<'py, PyAny>,
    ) -> Bound<'py, pyo3::types::PyType> {
        class.clone()
    }
}
