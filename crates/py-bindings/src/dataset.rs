//! `DataSet`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyFloat, PyInt, PyString, PyTuple};

use crate::instance::instance;
use crate::key::{Key, check_names};

/// A set of a namespace, which creates the keys of its records.
///
/// `set_name` is `None` (or empty) for records without a set.
#[pyclass(frozen, eq, hash, module = "aerolane")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct DataSet {
    namespace: Box<str>,
    set: Option<Box<str>>,
}

impl DataSet {
    pub(crate) fn names(&self) -> (&str, &str) {
        (&self.namespace, self.set.as_deref().unwrap_or_default())
    }

    fn key<'py>(&self, identifier: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, key) = (identifier.py(), Key::new(&self.namespace, self.set.as_deref(), identifier)?);
        Ok(instance(py, || key)?.into_bound(py).into_any())
    }

    fn key_of_digest<'py>(&self, digest: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let class = digest.py().get_type::<Key>();
        class.call_method1("key_with_digest", (&*self.namespace, self.names().1, digest))
    }
}

#[pymethods]
impl DataSet {
    #[new]
    #[pyo3(signature = (namespace, set_name=None))]
    fn new(namespace: &str, set_name: Option<&str>) -> PyResult<Self> {
        check_names(namespace, set_name.unwrap_or_default())?;
        Ok(Self { namespace: namespace.into(), set: set_name.filter(|set| !set.is_empty()).map(Into::into) })
    }

    /// The set of this name in a namespace. The same as the constructor.
    #[staticmethod]
    #[pyo3(signature = (namespace, set_name=None))]
    fn of(namespace: &str, set_name: Option<&str>) -> PyResult<Self> {
        Self::new(namespace, set_name)
    }

    /// The namespace.
    #[getter]
    fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The set's name, or `None`.
    #[getter]
    fn set_name(&self) -> Option<&str> {
        self.set.as_deref()
    }

    /// The key of a record, by its user key: a `str`, an `int` (64 bits) or `bytes`.
    fn id<'py>(&self, identifier: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.key(identifier)
    }

    /// The keys of several records, by their user keys: `ids(1, 2, 3)` or `ids([1, 2, 3])`.
    #[pyo3(signature = (*identifiers))]
    fn ids<'py>(&self, identifiers: &Bound<'py, PyTuple>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        each(identifiers, |identifier| self.key(identifier))
    }

    /// The key of a record, by its digest: 20 bytes, or 40 hexadecimal digits.
    fn id_from_digest<'py>(&self, digest: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.key_of_digest(digest)
    }

    /// The keys of several records, by their digests.
    #[pyo3(signature = (*digests))]
    fn ids_from_digests<'py>(&self, digests: &Bound<'py, PyTuple>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        each(digests, |digest| self.key_of_digest(digest))
    }

    /// The key for a `str`, an `int`, `bytes`, a `bytearray` (as bytes), or a `float` without a fraction (as an int).
    ///
    /// Raises `TypeError` for others.
    fn id_for_object<'py>(&self, obj: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if obj.is_instance_of::<PyInt>() || obj.is_instance_of::<PyString>() || obj.is_instance_of::<PyBytes>() {
            return self.key(obj);
        }
        if let Ok(bytes) = obj.cast::<PyByteArray>() {
            return self.key(PyBytes::new(obj.py(), &bytes.to_vec()).as_any());
        }
        if let Ok(number) = obj.cast::<PyFloat>() {
            if !number.call_method0("is_integer")?.is_truthy()? {
                let text = format!("Cannot use float {number} as key identifier: only whole ones, as the int they are");
                return Err(PyTypeError::new_err(text));
            }
            return self.key(&number.call_method0("__int__")?);
        }
        let kind = obj.get_type();
        Err(PyTypeError::new_err(format!(
            "Cannot construct a key for object of type {}: give a str, an int or bytes, such as str(obj)",
            kind.name()?
        )))
    }

    fn __repr__(&self) -> String {
        match &self.set {
            Some(set) => format!("DataSet('{}', '{set}')", self.namespace),
            None => format!("DataSet('{}')", self.namespace),
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (&str, Option<&str>)) {
        (py.get_type::<Self>().into_any(), (&self.namespace, self.set.as_deref()))
    }
}

/// Applies `make` to each argument, or to each item of the only one if that is a list or a tuple.
fn each<'py>(
    arguments: &Bound<'py, PyTuple>,
    make: impl Fn(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    use pyo3::types::PyList;
    if arguments.len() == 1 {
        let only = arguments.get_item(0)?;
        if only.is_instance_of::<PyList>() || only.is_instance_of::<PyTuple>() {
            return only.try_iter()?.map(|item| make(&item?)).collect();
        }
    }
    arguments.iter().map(|argument| make(&argument)).collect()
}
