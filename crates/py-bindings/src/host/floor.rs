//! Operations without a client: what the awaitable and the event loop cost by themselves.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::asyncio;
use super::lane::Lane;
use super::op::OpRef;
use super::work::Work;

/// Creates operations that complete without I/O, each with the result `None`; their tasks are woken in the next turn of
/// the event loop. For the floor of `aerolane.bench`. Internal.
#[pyclass(frozen, module = "aerolane._aerolane", name = "_Floor")]
pub(crate) struct Floor {
    lane: Py<Lane>,
}

#[pymethods]
impl Floor {
    #[new]
    fn new(py: Python<'_>) -> PyResult<Self> {
        let event_loop = asyncio::running_loop(py)?;
        if event_loop.is_none() {
            return Err(PyRuntimeError::new_err("there is no running event loop"));
        }
        Ok(Self { lane: Lane::without_client(py, &event_loop)?.unbind() })
    }

    /// An operation; the arguments are those of `get` or `put`.
    #[pyo3(signature = (_key, _bins=None))]
    fn call(&self, py: Python<'_>, _key: &Bound<'_, PyAny>, _bins: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        let lane = self.lane.bind(py);
        let op = OpRef::new(py, Some(lane), Work::None)?;
        op.resolve(py.None());
        Lane::over(lane, op.clone_ref(py))?;
        Ok(op.into_any())
    }
}
