//! Classes for values that Python has no type for.

use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple, PyType};

use super::{Refused, encode};

/// A GeoJSON value: `GeoJSON('{"type": "Point", "coordinates": [1, 2]}')`.
///
/// Holds the text as it is; the server checks it. Raises `TypeError` if it is no str.
#[pyclass(frozen, module = "aerolane", name = "GeoJSON")]
pub(crate) struct GeoJson {
    text: Py<PyString>,
}

impl GeoJson {
    pub(super) fn text<'a, 'py>(&'a self, py: Python<'py>) -> &'a Bound<'py, PyAny> {
        self.text.bind(py).as_any()
    }

    /// From a str.
    pub(super) fn of<'py>(py: Python<'py>, text: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let text = text.cast_into::<PyString>()?.unbind();
        Ok(Bound::new(py, Self { text })?.into_any())
    }
}

#[pymethods]
impl GeoJson {
    #[new]
    #[pyo3(signature = (v, /))]
    fn new(v: Bound<'_, PyString>) -> Self {
        Self { text: v.unbind() }
    }

    /// The text.
    #[getter]
    fn value(&self, py: Python<'_>) -> Py<PyString> {
        self.text.clone_ref(py)
    }

    /// The text.
    fn as_string(&self, py: Python<'_>) -> Py<PyString> {
        self.text.clone_ref(py)
    }

    fn __str__(&self, py: Python<'_>) -> Py<PyString> {
        self.text.clone_ref(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("GeoJSON({})", self.text.bind(py).repr()?))
    }

    fn __eq__(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        self.text.bind(py).as_any().eq(other.text.bind(py))
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.text.bind(py).hash()
    }

    fn __getnewargs__(&self, py: Python<'_>) -> (Py<PyString>,) {
        (self.text.clone_ref(py),)
    }
}

/// A HyperLogLog value, as the server made it: `HLL(bytes)`.
///
/// Takes bytes, another bytes-like object, or a sequence of integers from 0 to 255.
#[pyclass(frozen, module = "aerolane", name = "HLL")]
pub(crate) struct Hll {
    bytes: Py<PyBytes>,
}

impl Hll {
    pub(super) fn bytes<'a>(&'a self, py: Python<'a>) -> &'a [u8] {
        self.bytes.as_bytes(py)
    }

    pub(super) fn of<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        Ok(Bound::new(py, Self { bytes: PyBytes::new(py, bytes).unbind() })?.into_any())
    }
}

#[pymethods]
impl Hll {
    #[new]
    #[pyo3(signature = (v, /))]
    fn new(v: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { bytes: bytes_of(v)?.unbind() })
    }

    /// The bytes.
    #[getter]
    fn value(&self, py: Python<'_>) -> Py<PyBytes> {
        self.bytes.clone_ref(py)
    }

    /// The bytes, as text for people.
    fn as_string(&self, py: Python<'_>) -> PyResult<String> {
        self.__repr__(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("HLL({})", self.bytes.bind(py).repr()?))
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.bytes(py).len()
    }

    fn __bytes__(&self, py: Python<'_>) -> Py<PyBytes> {
        self.bytes.clone_ref(py)
    }

    fn __eq__(&self, py: Python<'_>, other: &Self) -> bool {
        self.bytes(py) == other.bytes(py)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.bytes.bind(py).hash()
    }

    fn __getnewargs__(&self, py: Python<'_>) -> (Py<PyBytes>,) {
        (self.bytes.clone_ref(py),)
    }
}

/// A value of a particle type that this client does not know: `UnknownValue(particle_type, data)`.
///
/// Comes in answers as it was stored, and can be written back as a whole bin.
#[pyclass(frozen, module = "aerolane")]
pub(crate) struct UnknownValue {
    kind: u8,
    bytes: Py<PyBytes>,
}

impl UnknownValue {
    pub(super) fn kind(&self) -> u8 {
        self.kind
    }

    pub(super) fn bytes<'a>(&'a self, py: Python<'a>) -> &'a [u8] {
        self.bytes.as_bytes(py)
    }

    pub(super) fn of<'py>(py: Python<'py>, kind: u8, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        Ok(Bound::new(py, Self { kind, bytes: PyBytes::new(py, bytes).unbind() })?.into_any())
    }
}

#[pymethods]
impl UnknownValue {
    #[new]
    #[pyo3(signature = (particle_type, data, /))]
    fn new(particle_type: u8, data: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { kind: particle_type, bytes: bytes_of(data)?.unbind() })
    }

    /// The particle type, 0 to 255.
    #[getter]
    fn particle_type(&self) -> u8 {
        self.kind
    }

    /// The bytes.
    #[getter]
    fn data(&self, py: Python<'_>) -> Py<PyBytes> {
        self.bytes.clone_ref(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("UnknownValue({}, {})", self.kind, self.bytes.bind(py).repr()?))
    }

    fn __eq__(&self, py: Python<'_>, other: &Self) -> bool {
        self.kind == other.kind && self.bytes(py) == other.bytes(py)
    }

    fn __hash__(&self, py: Python<'_>) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.kind, self.bytes(py)).hash(&mut hasher);
        hasher.finish()
    }

    fn __getnewargs__(&self, py: Python<'_>) -> (u8, Py<PyBytes>) {
        (self.kind, self.bytes.clone_ref(py))
    }
}

/// Bounds in arguments of collection operations: NULL (nil), INFINITY (larger than everything), WILDCARD (any value).
#[pyclass(frozen, eq, hash, module = "aerolane")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SpecialValue {
    /// Smaller than everything: the value nil.
    #[pyo3(name = "NULL")]
    Null,
    /// Larger than everything.
    #[pyo3(name = "INFINITY")]
    Infinity,
    /// Equal to any value.
    #[pyo3(name = "WILDCARD")]
    Wildcard,
}

#[pymethods]
impl SpecialValue {
    #[allow(clippy::trivially_copy_pass_by_ref)] // As PyO3 calls it.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let name = match self {
            Self::Null => "NULL",
            Self::Infinity => "INFINITY",
            Self::Wildcard => "WILDCARD",
        };
        let args = (py.get_type::<Self>(), name).into_pyobject(py)?.into_any();
        Ok((py.import("builtins")?.getattr("getattr")?, args))
    }
}

const SORTED_MAP_DOC: &str = "\
A dict that is stored as a key-ordered map: `SortedMap({'a': 1})`.

The server searches such a map by halving, where it walks an unordered one. The order is part of the stored value and
stays until the whole map is written anew. Key-ordered maps come back as this class, so that reading and writing back
changes nothing. Iteration is in the order of insertion; what comes from the server is sorted.";

/// A subclass of dict (which cannot be written in Rust for the stable ABI of 3.11).
static SORTED_MAP: PyOnceLock<Py<PyType>> = PyOnceLock::new();

fn sorted_map(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let class = SORTED_MAP.get_or_try_init(py, || {
        let body = PyDict::new(py);
        body.set_item("__doc__", SORTED_MAP_DOC)?;
        body.set_item("__module__", "aerolane")?;
        body.set_item("__slots__", PyTuple::empty(py))?;
        let repr = c"lambda self: f'SortedMap({dict.__repr__(self)})'";
        body.set_item("__repr__", py.eval(repr, None, None)?)?;
        let bases = PyTuple::new(py, [py.get_type::<PyDict>()])?;
        let class = py.get_type::<PyType>().call1(("SortedMap", bases, body))?;
        Ok::<_, PyErr>(class.cast_into::<PyType>()?.unbind())
    })?;
    Ok(class.bind(py))
}

pub(super) fn new_sorted_map(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    sorted_map(py)?.call0()
}

pub(super) fn is_sorted_map(value: &Bound<'_, PyAny>) -> Result<bool, Refused> {
    let class = sorted_map(value.py())?;
    Ok(value.get_type_ptr() == class.as_type_ptr() || value.is_instance(class)?)
}

/// The bytes of a bytes-like object or of a sequence of small integers. An int is neither: `bytes(5)` is no "5".
pub(crate) fn bytes_of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    if let Ok(bytes) = value.cast_exact::<PyBytes>() {
        return Ok(bytes.clone());
    }
    let py = value.py();
    let mut out = Vec::new();
    match encode::look(value).map_err(|refused| refused.into_py(py, ""))? {
        encode::Look::Bytes => Ok(value.cast::<PyBytes>()?.clone()),
        encode::Look::Buffer(view) => {
            view.copy_to(py, &mut out)?;
            Ok(PyBytes::new(py, &out))
        }
        encode::Look::List | encode::Look::Tuple => {
            out = value.extract::<Vec<u8>>()?;
            Ok(PyBytes::new(py, &out))
        }
        _ => {
            let kind = value.get_type().name()?;
            Err(PyTypeError::new_err(format!("a bytes-like object was expected, not {kind}")))
        }
    }
}

/// A GeoJSON value.
#[pyfunction]
fn geojson(geo_str: Bound<'_, PyString>) -> GeoJson {
    GeoJson::new(geo_str)
}

/// The value of a bin that is not there: `None`.
#[pyfunction]
fn null(py: Python<'_>) -> Py<PyAny> {
    py.None()
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<GeoJson>()?;
    module.add_class::<Hll>()?;
    module.add_class::<UnknownValue>()?;
    module.add_class::<SpecialValue>()?;
    module.add("SortedMap", sorted_map(module.py())?)?;
    let source = std::ffi::CString::new(include_str!("containers.py"))?;
    let made = PyModule::from_code(module.py(), &source, c"aerolane/_containers.py", c"aerolane._containers")?;
    for name in ["Blob", "List", "Map"] {
        module.add(name, made.getattr(name)?)?;
    }
    module.add_function(wrap_pyfunction!(geojson, module)?)?;
    module.add_function(wrap_pyfunction!(null, module)?)
}
