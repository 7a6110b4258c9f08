//! `OperationResult`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};

/// What an operation returned. Each method returns it as one type, and raises `TypeError` if it has another one.
#[pyclass(frozen, module = "aerolane")]
pub(crate) struct OperationResult(Py<PyAny>);

impl OperationResult {
    pub(super) fn new(value: Py<PyAny>) -> Self {
        Self(value)
    }

    /// The value if `fits` says that it is of the type; `None` if the operation has nothing to say.
    fn maybe<'py>(
        &self,
        py: Python<'py>,
        wanted: &str,
        fits: impl FnOnce(&Bound<'py, PyAny>) -> bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = self.0.bind(py);
        if value.is_none() {
            return Ok(None);
        }
        if fits(value) {
            return Ok(Some(value.clone()));
        }
        let kind = value.get_type();
        Err(PyTypeError::new_err(format!("the operation answered with {}, not {wanted}", kind.name()?)))
    }
}

#[pymethods]
impl OperationResult {
    #[new]
    fn of(value: Py<PyAny>) -> Self {
        Self(value)
    }

    /// The value itself.
    #[getter]
    fn value(&self, py: Python<'_>) -> Py<PyAny> {
        self.0.clone_ref(py)
    }

    /// Returns an int. 0 if the operation returned nothing; 0 or 1 for a bool.
    fn get_int<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.maybe(py, "int", PyAnyMethods::is_instance_of::<PyInt>)? {
            None => Ok(0_i32.into_pyobject(py)?.into_any()),
            Some(truth) if truth.is_instance_of::<PyBool>() => {
                Ok(i32::from(truth.is_truthy()?).into_pyobject(py)?.into_any())
            }
            Some(int) => Ok(int),
        }
    }

    /// Returns a float. 0.0 if the operation returned nothing. An int is converted.
    fn get_float(&self, py: Python<'_>) -> PyResult<f64> {
        let fits = |value: &Bound<'_, PyAny>| value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>();
        self.maybe(py, "float", fits)?.map_or(Ok(0.0), |number| number.extract())
    }

    /// Returns a bool. `False` if the operation returned nothing. An int is true unless it is 0.
    fn get_bool(&self, py: Python<'_>) -> PyResult<bool> {
        self.maybe(py, "bool", PyAnyMethods::is_instance_of::<PyInt>)?.map_or(Ok(false), |value| value.is_truthy())
    }

    /// Returns a str, or `None` if the operation returned nothing.
    fn get_string<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.maybe(py, "str", PyAnyMethods::is_instance_of::<PyString>)
    }

    /// Returns bytes, or `None` if the operation returned nothing. A bytearray is converted.
    fn get_bytes<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let fits =
            |value: &Bound<'_, PyAny>| value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>();
        let found = self.maybe(py, "bytes", fits)?;
        Ok(found.map(|value| match value.cast::<PyByteArray>() {
            Ok(bytes) => PyBytes::new(py, &bytes.to_vec()).into_any(),
            Err(_) => value,
        }))
    }

    /// Same as `get_int`. For code written for the first versions of the Aerospike SDK.
    fn get_long<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.get_int(py)
    }

    /// Same as `get_float`. For code written for the first versions of the Aerospike SDK.
    fn get_double(&self, py: Python<'_>) -> PyResult<f64> {
        self.get_float(py)
    }

    /// Returns a list, or `None` if the operation returned nothing.
    fn get_list<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.maybe(py, "list", PyAnyMethods::is_instance_of::<PyList>)
    }

    /// Returns a dict, or `None` if the operation returned nothing.
    fn get_map<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.maybe(py, "dict", PyAnyMethods::is_instance_of::<PyDict>)
    }

    fn __eq__(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        self.0.bind(py).eq(other.0.bind(py))
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.0.bind(py).hash()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("OperationResult({})", self.0.bind(py).repr()?))
    }
}
