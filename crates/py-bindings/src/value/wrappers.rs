//! Classes for values that Python has no type for.

use std::hash::{DefaultHasher, Hash, Hasher};

use aerolane::sync::Mutex;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyString, PyTuple, PyType};

use super::{Refused, encode};
use crate::errors;

/// A GeoJSON value: `GeoJSON('{"type": "Point", "coordinates": [1, 2]}')`, or from the equivalent dict.
///
/// It keeps the text unchanged; the server validates it. It compares equal to its text and has the same hash, so do not
/// set `value` while it is in a set or a key of a dict. Raises `TypeError` for anything but a str, dict or `GeoJSON`,
/// and for a dict that cannot be written as JSON.
#[pyclass(frozen, module = "aerolane", name = "GeoJSON")]
pub(crate) struct GeoJson {
    text: Mutex<Py<PyString>>,
}

impl GeoJson {
    pub(super) fn text<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.string(py).into_bound(py).into_any()
    }

    fn string(&self, py: Python<'_>) -> Py<PyString> {
        self.text.lock().clone_ref(py)
    }

    /// From a str.
    pub(super) fn of<'py>(py: Python<'py>, text: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let text = text.cast_into::<PyString>()?.unbind();
        Ok(Bound::new(py, Self { text: Mutex::new(text) })?.into_any())
    }
}

/// The text of a GeoJSON value: of a str, of a dict, or of a `GeoJSON`.
pub(crate) fn geojson_text<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
    let py = value.py();
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.clone());
    }
    if let Ok(geo) = value.cast::<GeoJson>() {
        return Ok(geo.get().string(py).into_bound(py));
    }
    if value.is_instance_of::<PyDict>() {
        return Ok(json(py)?.call_method1(intern!(py, "dumps"), (value,))?.cast_into::<PyString>()?);
    }
    let kind = value.get_type();
    Err(PyTypeError::new_err(format!("GeoJSON is made from a str, a dict or a GeoJSON, not from {}", kind.name()?)))
}

fn json(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import(intern!(py, "json"))
}

#[pymethods]
impl GeoJson {
    #[new]
    #[pyo3(signature = (v))]
    fn new(v: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { text: Mutex::new(geojson_text(v)?.unbind()) })
    }

    /// The text. Can be set to anything that the constructor accepts.
    #[getter]
    fn value(&self, py: Python<'_>) -> Py<PyString> {
        self.string(py)
    }

    #[setter]
    fn set_value(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let text = geojson_text(value)?.unbind();
        let before = std::mem::replace(&mut *self.text.lock(), text);
        drop(before);
        Ok(())
    }

    /// The same as `repr()`.
    fn as_string(&self, py: Python<'_>) -> PyResult<String> {
        self.__repr__(py)
    }

    fn __str__(&self, py: Python<'_>) -> Py<PyString> {
        self.string(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("GeoJSON({})", self.string(py).bind(py).repr()?))
    }

    fn __eq__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        let other = match other.cast::<Self>() {
            Ok(other) => other.get().text(py),
            Err(_) if other.is_instance_of::<PyString>() => other.clone(),
            Err(_) => return Ok(py.NotImplemented().into_bound(py)),
        };
        Ok(self.text(py).eq(other)?.into_pyobject(py)?.to_owned().into_any())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.string(py).bind(py).hash()
    }

    fn __getnewargs__(&self, py: Python<'_>) -> (Py<PyString>,) {
        (self.string(py),)
    }
}

/// A HyperLogLog value, as the server returned it: `HLL(bytes)`.
///
/// Takes bytes, another bytes-like object, or a sequence of integers from 0 to 255. It compares equal to bytes and to
/// sequences of integers with the same content and has the hash of the bytes, so do not set `value` while it is in a
/// set or a key of a dict.
#[pyclass(frozen, module = "aerolane", name = "HLL")]
pub(crate) struct Hll {
    bytes: Mutex<Py<PyBytes>>,
}

impl Hll {
    pub(super) fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.bytes.lock().clone_ref(py).into_bound(py)
    }

    pub(super) fn of<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        Ok(Bound::new(py, Self { bytes: Mutex::new(PyBytes::new(py, bytes).unbind()) })?.into_any())
    }
}

#[pymethods]
impl Hll {
    #[new]
    #[pyo3(signature = (v))]
    fn new(v: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { bytes: Mutex::new(hll_bytes(v)?.unbind()) })
    }

    /// The bytes. Can be set to anything that the constructor accepts.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.bytes(py)
    }

    #[setter]
    fn set_value(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = hll_bytes(value)?.unbind();
        let before = std::mem::replace(&mut *self.bytes.lock(), bytes);
        drop(before);
        Ok(())
    }

    /// The same as `repr()`.
    fn as_string(&self, py: Python<'_>) -> PyResult<String> {
        self.__repr__(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("HLL({})", self.bytes(py).repr()?))
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.bytes(py).as_bytes().len()
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.bytes(py)
    }

    fn __eq__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        let like_bytes = other.is_instance_of::<PyBytes>() || other.is_instance_of::<PyByteArray>();
        let other = if let Ok(other) = other.cast::<Self>() {
            Some(other.get().bytes(py))
        } else if like_bytes || other.is_instance_of::<PyList>() || other.is_instance_of::<PyTuple>() {
            // A list of something else is just not equal.
            bytes_of(other).ok()
        } else {
            return Ok(py.NotImplemented().into_bound(py));
        };
        let equal = other.is_some_and(|other| other.as_bytes() == self.bytes(py).as_bytes());
        Ok(equal.into_pyobject(py)?.to_owned().into_any())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.bytes(py).hash()
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>,) {
        (self.bytes(py),)
    }
}

/// The bytes of a HyperLogLog value.
fn hll_bytes<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    match value.cast::<Hll>() {
        Ok(hll) => Ok(hll.get().bytes(value.py())),
        Err(_) => bytes_of(value),
    }
}

/// A value of a particle type that this client does not know: `UnknownValue(particle_type, data)`.
///
/// It is returned as stored and can be written back as a whole bin.
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

/// Special bounds for arguments of collection operations: NULL (nil), INFINITY (larger than everything), WILDCARD (any
/// value).
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
        encode::ValueKind::Bytes => Ok(value.cast::<PyBytes>()?.clone()),
        encode::ValueKind::Buffer(view) => {
            view.copy_to(py, &mut out)?;
            Ok(PyBytes::new(py, &out))
        }
        encode::ValueKind::List | encode::ValueKind::Tuple => {
            out = value.extract::<Vec<u8>>()?;
            Ok(PyBytes::new(py, &out))
        }
        _ => {
            let kind = value.get_type().name()?;
            Err(PyTypeError::new_err(format!("a bytes-like object was expected, not {kind}")))
        }
    }
}

/// A GeoJSON value from text, a dict, or two numbers: `geojson("-122.0, 37.5")` is the point with this longitude and
/// latitude in degrees.
///
/// Raises `InvalidArgumentError` (a `ValueError`) for text that is neither two numbers nor JSON with a `"type"`, `TypeError`
/// for another type.
#[pyfunction]
fn geojson(geo_str: &Bound<'_, PyAny>) -> PyResult<GeoJson> {
    let py = geo_str.py();
    let text = geojson_text(geo_str)?;
    let pair = text.to_str()?.split_once(',').and_then(|(longitude, latitude)| {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        Some((number(longitude)?, number(latitude)?))
    });
    let made = match pair {
        Some((longitude, latitude)) => {
            let point = PyDict::new(py);
            point.set_item("type", "Point")?;
            point.set_item("coordinates", vec![longitude, latitude])?;
            Some(point.into_any())
        }
        None => json(py)?.call_method1(intern!(py, "loads"), (&text,)).ok().filter(has_type),
    };
    let Some(made) = made else {
        let text =
            "this is neither GeoJSON (an object with a \"type\") nor a longitude and a latitude (\"-122.0, 37.5\")";
        return Err(errors::invalid_argument(py, text));
    };
    GeoJson::new(&made)
}

fn has_type(object: &Bound<'_, PyAny>) -> bool {
    object.cast::<PyDict>().is_ok_and(|object| object.contains(intern!(object.py(), "type")).unwrap_or(false))
}

/// The value of a missing bin: `None`.
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
    let made = module.py().import("aerolane._python.containers")?;
    for name in ["Blob", "List", "Map"] {
        module.add(name, made.getattr(name)?)?;
    }
    module.add_function(wrap_pyfunction!(geojson, module)?)?;
    module.add_function(wrap_pyfunction!(null, module)?)
}
