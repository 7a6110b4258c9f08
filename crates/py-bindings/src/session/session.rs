//! Sessions: the fast path, with the policies of a behavior.

use std::sync::Arc;

use aerospike_core::{ReadPolicy, WritePolicy};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyString};

use super::dataset::DataSet;
use crate::behavior::Behavior;
use crate::client::twin::Twin;
use crate::client::{check_open, control, mode, single};
use crate::core::ClientCore;
use crate::host;
use crate::key::Key;
use crate::request;

/// What sessions of both kinds are made of.
pub(super) struct Common {
    core: Arc<ClientCore>,
    behavior: Py<Behavior>,
    read: ByMode<ReadPolicy>,
    write: ByMode<WritePolicy>,
}

/// A policy for namespaces that are available in partitions, and one for those that are strongly consistent.
struct ByMode<P> {
    available: Arc<P>,
    consistent: Arc<P>,
    /// They are alike: no need to look.
    alike: bool,
}

impl<P: PartialEq> ByMode<P> {
    fn new(available: Arc<P>, consistent: Arc<P>) -> Self {
        let alike = available == consistent;
        Self { available, consistent, alike }
    }

    #[inline]
    fn of(&self, core: &ClientCore, key: &Bound<'_, Key>) -> Arc<P> {
        let consistent = !self.alike && mode(core, key.get().namespace()) == Some(true);
        Arc::clone(if consistent { &self.consistent } else { &self.available })
    }
}

impl Common {
    pub(super) fn new(py: Python<'_>, core: &Arc<ClientCore>, behavior: Option<Py<Behavior>>) -> PyResult<Self> {
        let behavior = Behavior::in_force(py, behavior.as_ref().map(|behavior| behavior.bind(py)))?;
        let settings = behavior.get().policies();
        let read = ByMode::new(settings.read_point(false), settings.read_point(true));
        let write = ByMode::new(settings.write_point(false), settings.write_point(true));
        Ok(Self { core: Arc::clone(core), behavior, read, write })
    }

    #[inline]
    fn get<'a>(&self, key: &'a Bound<'_, Key>, bins: Option<&'a Bound<'_, PyAny>>) -> impl Twin {
        single::get(key, bins, self.read.of(&self.core, key))
    }

    #[inline]
    fn put<'a>(&self, key: &'a Bound<'_, Key>, bins: &'a Bound<'_, PyAny>) -> impl Twin {
        single::write(request::put, key, bins, self.write.of(&self.core, key))
    }

    fn truncate(
        &self,
        py: Python<'_>,
        dataset: &Bound<'_, DataSet>,
        before_nanos: Option<i64>,
    ) -> PyResult<impl Twin + use<>> {
        let (namespace, set) = dataset.get().names();
        control::truncate(py, &self.core, namespace, set, before_nanos, None)
    }

    fn is_namespace_sc(&self, py: Python<'_>, namespace: &str) -> PyResult<bool> {
        check_open(py, &self.core)?;
        mode(&self.core, namespace).ok_or_else(|| {
            let topology = self.core.raw.cluster().topology();
            let error = topology.namespace(namespace).err();
            error.map_or_else(
                || pyo3::exceptions::PyLookupError::new_err(namespace.to_owned()),
                |error| crate::errors::to_py(py, &error),
            )
        })
    }
}

/// The keys in a list or another iterable.
pub(crate) fn keys<'py>(keys: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, Key>>> {
    use pyo3::exceptions::PyTypeError;
    if keys.is_instance_of::<PyString>() || keys.is_instance_of::<Key>() {
        let kind = keys.get_type();
        return Err(PyTypeError::new_err(format!("keys must be a list of Key, not {}", kind.name()?)));
    }
    let mut all = Vec::with_capacity(keys.len().unwrap_or(0));
    for (index, key) in PyIterator::from_object(keys)?.enumerate() {
        let key = key?;
        match key.cast_into::<Key>() {
            Ok(key) => all.push(key),
            Err(error) => {
                let kind = error.into_inner().get_type().name()?.to_string();
                return Err(PyTypeError::new_err(format!("keys[{index}] must be a Key, not {kind}")));
            }
        }
    }
    Ok(all)
}

/// Reads and writes with the policies of a behavior, from asyncio. Made by `create_session`.
#[pyclass(frozen, module = "aerolane")]
pub(crate) struct Session(pub(super) Common);

#[pymethods]
impl Session {
    /// The behavior that the policies come from.
    #[getter]
    fn behavior(&self, py: Python<'_>) -> Py<Behavior> {
        self.0.behavior.clone_ref(py)
    }

    /// Another session of the same cluster, with another behavior.
    fn session_for(&self, py: Python<'_>, behavior: Py<Behavior>) -> PyResult<Self> {
        Common::new(py, &self.0.core, Some(behavior)).map(Self)
    }

    /// Reads a record: all its bins, those of `bins` (a list of names), or, with an empty list, none. Awaitable of a
    /// `Record`.
    ///
    /// Raises `RecordNotFoundError` when there is none.
    #[pyo3(signature = (key, bins=None))]
    fn get(&self, py: Python<'_>, key: &Bound<'_, Key>, bins: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        self.0.get(key, bins).start(py, &self.0.core)
    }

    /// Writes bins, a dict of values by name; a value of `None` removes its bin. Other bins of the record stay as they
    /// are. Awaitable of `None`.
    fn put(&self, py: Python<'_>, key: &Bound<'_, Key>, bins: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.0.put(key, bins).start(py, &self.0.core)
    }

    /// Reads many records, each as `get` does, all at once. Awaitable of a list: for each key, in order, its `Record`
    /// or the exception that `get` would have raised.
    #[pyo3(signature = (keys, bins=None))]
    fn get_many(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        bins: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let keys = self::keys(keys)?;
        host::submit_many(py, &self.0.core, keys.len(), |index, out| {
            let command = single::get(&keys[index], bins, self.0.read.of(&self.0.core, &keys[index]));
            (command.encode)(out)?;
            Ok(command.call)
        })
    }

    /// Writes the same bins to many records, each as `put` does, all at once. Awaitable of a list: for each key, in
    /// order, `None` or the exception that `put` would have raised.
    fn put_many(&self, py: Python<'_>, keys: &Bound<'_, PyAny>, bins: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let keys = self::keys(keys)?;
        host::submit_many(py, &self.0.core, keys.len(), |index, out| {
            let policy = self.0.write.of(&self.0.core, &keys[index]);
            let command = single::write(request::put, &keys[index], bins, policy);
            (command.encode)(out)?;
            Ok(command.call)
        })
    }

    /// Sends an info command to one of the nodes. Awaitable of the answers by command, a dict.
    fn info(&self, py: Python<'_>, command: &str) -> PyResult<Py<PyAny>> {
        control::info(py, &self.0.core, command)?.start(py, &self.0.core)
    }

    /// Removes all records of a set that were last written before `before_nanos`, nanoseconds since 1970; `None`: all
    /// there are now. Awaitable of `None`.
    #[pyo3(signature = (dataset, before_nanos=None))]
    fn truncate(&self, py: Python<'_>, dataset: &Bound<'_, DataSet>, before_nanos: Option<i64>) -> PyResult<Py<PyAny>> {
        self.0.truncate(py, dataset, before_nanos)?.start(py, &self.0.core)
    }

    /// Whether a namespace is in strong-consistency mode. Awaitable of a bool.
    fn is_namespace_sc(&self, py: Python<'_>, namespace: &str) -> PyResult<Py<PyAny>> {
        let consistent = self.0.is_namespace_sc(py, namespace)?;
        crate::client::thread::ready(py, consistent.into_pyobject(py)?.to_owned().into_any().unbind())
    }
}

/// Reads and writes with the policies of a behavior, on the calling thread. Made by `create_session`. Any number of
/// threads may use one session.
#[pyclass(frozen, name = "Session", module = "aerolane.sync")]
pub(crate) struct SyncSession(pub(super) Common);

#[pymethods]
impl SyncSession {
    /// The behavior that the policies come from.
    #[getter]
    fn behavior(&self, py: Python<'_>) -> Py<Behavior> {
        self.0.behavior.clone_ref(py)
    }

    /// Another session of the same cluster, with another behavior.
    fn session_for(&self, py: Python<'_>, behavior: Py<Behavior>) -> PyResult<Self> {
        Common::new(py, &self.0.core, Some(behavior)).map(Self)
    }

    /// Reads a record: all its bins, those of `bins` (a list of names), or, with an empty list, none. Gives a `Record`.
    ///
    /// Raises `RecordNotFoundError` when there is none.
    #[pyo3(signature = (key, bins=None))]
    fn get(&self, py: Python<'_>, key: &Bound<'_, Key>, bins: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        self.0.get(key, bins).block(py, &self.0.core)
    }

    /// Writes bins, a dict of values by name; a value of `None` removes its bin. Other bins of the record stay as they
    /// are.
    fn put(&self, py: Python<'_>, key: &Bound<'_, Key>, bins: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.0.put(key, bins).block(py, &self.0.core)
    }

    /// Sends an info command to one of the nodes; gives the answers by command, a dict.
    fn info(&self, py: Python<'_>, command: &str) -> PyResult<Py<PyAny>> {
        control::info(py, &self.0.core, command)?.block(py, &self.0.core)
    }

    /// Removes all records of a set that were last written before `before_nanos`, nanoseconds since 1970; `None`: all
    /// there are now.
    #[pyo3(signature = (dataset, before_nanos=None))]
    fn truncate(&self, py: Python<'_>, dataset: &Bound<'_, DataSet>, before_nanos: Option<i64>) -> PyResult<Py<PyAny>> {
        self.0.truncate(py, dataset, before_nanos)?.block(py, &self.0.core)
    }

    /// Whether a namespace is in strong-consistency mode.
    fn is_namespace_sc(&self, py: Python<'_>, namespace: &str) -> PyResult<bool> {
        self.0.is_namespace_sc(py, namespace)
    }
}
