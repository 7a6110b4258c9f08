//! Records, decoded when they are looked at.

use aerolane_wire::message::Message;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::errors;
use crate::key::Key;
use crate::value;

/// A record as it was read.
#[pyclass(frozen, module = "aerolane")]
pub(crate) struct Record {
    key: Py<Key>,
    body: Box<[u8]>,
    operate: bool,
    bins: PyOnceLock<Py<PyDict>>,
}

impl Record {
    /// From the body of an answer whose result code is good.
    pub(crate) fn new(key: Py<Key>, body: &[u8], operate: bool) -> PyResult<Self> {
        Ok(Self { key, body: body.into(), operate, bins: PyOnceLock::new() })
    }

    fn decode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let _ = self.operate;
        let bins = PyDict::new(py);
        let message = Message::decode(&self.body).map_err(|e| errors::malformed(py, &e))?;
        for op in message.ops() {
            let name = String::from_utf8_lossy(op.name);
            bins.set_item(name, value::decode(py, op.particle_type, op.value)?)?;
        }
        Ok(bins)
    }
}

#[pymethods]
impl Record {
    /// The key that the record was asked for with.
    #[getter]
    fn key(&self, py: Python<'_>) -> Py<Key> {
        self.key.clone_ref(py)
    }

    /// The bins, by name.
    #[getter]
    fn bins<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let bins = self.bins.get_or_try_init(py, || self.decode(py).map(Bound::unbind))?;
        Ok(bins.bind(py).clone())
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Record>()
}
