//! Operations on whole bins and on the record, for `operate` and batches.

use aerolane::command::check;
use aerolane_wire::message::op;
use aerolane_wire::particle::particle_type;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::small_bytes::SmallBytes;
use crate::{errors, value};

/// One of the operations of an `operate` call: `Operation.put("a", 1)`, `Operation.get_bin("a")`, ...
///
/// A value is encoded when the operation is made: changing a list afterwards changes nothing, and values that cannot be
/// sent raise at once. Operations are immutable and can be used often, by many threads.
///
/// Raises `TypeError`, `OverflowError` and `InvalidArgumentError` (a `ValueError`) for values that cannot be sent, and
/// the last for bin names beyond 15 bytes, too.
#[pyclass(frozen, module = "aerolane")]
pub(crate) struct Operation {
    what: What,
    /// See [`op`].
    kind: u8,
    particle_type: u8,
    name_len: u8,
    /// Bin name, value.
    bytes: SmallBytes<48>,
}

/// What an operation asks for in the header of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Reads all bins.
    ReadAll,
    /// Reads no bins.
    ReadHeader,
    /// Reads a bin.
    Read,
    /// Changes the record.
    Write,
}

impl Operation {
    fn bare(what: What, kind: u8) -> Self {
        Self { what, kind, particle_type: particle_type::NIL, name_len: 0, bytes: SmallBytes::concat([]) }
    }

    fn with_value(kind: u8, name: &Bound<'_, PyString>, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = name.py();
        let name = checked_name(name)?;
        let mut bytes = Vec::with_capacity(48);
        bytes.extend_from_slice(name.as_bytes());
        let particle_type =
            value::encode_value(value, &mut bytes).map_err(|refused| refused.into_py(py, &format!("bin '{name}'")))?;
        let name_len = name.len() as u8;
        Ok(Self { what: What::Write, kind, particle_type, name_len, bytes: SmallBytes::concat([&bytes]) })
    }

    pub(crate) fn what(&self) -> What {
        self.what
    }

    /// See [`op`].
    pub(crate) fn kind(&self) -> u8 {
        self.kind
    }

    /// The bin's name; empty for the whole record.
    pub(crate) fn name(&self) -> &[u8] {
        &self.bytes[..usize::from(self.name_len)]
    }

    fn name_text(&self) -> &str {
        std::str::from_utf8(self.name()).unwrap_or_default() // It was copied out of a str.
    }

    /// Particle type and bytes of the value.
    pub(crate) fn value(&self) -> (u8, &[u8]) {
        (self.particle_type, &self.bytes[usize::from(self.name_len)..])
    }
}

/// A bin name that is not too long.
pub(crate) fn checked_name<'a>(name: &'a Bound<'_, PyString>) -> PyResult<&'a str> {
    let text = value::utf8(name).map_err(|refused| refused.into_py(name.py(), "bin name"))?;
    // SAFETY: UTF-8, as CPython has made it from a str.
    let text = unsafe { std::str::from_utf8_unchecked(text) };
    check::bin_name(text).map_err(|e| errors::to_py(name.py(), &e))?;
    Ok(text)
}

#[pymethods]
impl Operation {
    /// Reads all bins.
    #[staticmethod]
    fn get() -> Self {
        Self::bare(What::ReadAll, op::READ)
    }

    /// Reads one bin.
    #[staticmethod]
    fn get_bin(bin_name: &Bound<'_, PyString>) -> PyResult<Self> {
        let name = checked_name(bin_name)?;
        let bytes = SmallBytes::concat([name.as_bytes()]);
        let name_len = name.len() as u8;
        Ok(Self { what: What::Read, kind: op::READ, particle_type: particle_type::NIL, name_len, bytes })
    }

    /// Reads no bins: the answer has generation and expiration only.
    #[staticmethod]
    fn get_header() -> Self {
        Self::bare(What::ReadHeader, op::READ)
    }

    /// Writes a bin; `None` removes it.
    #[staticmethod]
    fn put(bin_name: &Bound<'_, PyString>, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::with_value(op::WRITE, bin_name, value)
    }

    /// Adds to an int or float bin; creates the bin if it is missing.
    #[staticmethod]
    fn add(bin_name: &Bound<'_, PyString>, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::with_value(op::INCR, bin_name, value)
    }

    /// Appends to a str or bytes bin; creates the bin if it is missing.
    #[staticmethod]
    fn append(bin_name: &Bound<'_, PyString>, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::with_value(op::APPEND, bin_name, value)
    }

    /// Prepends to a str or bytes bin; creates the bin if it is missing.
    #[staticmethod]
    fn prepend(bin_name: &Bound<'_, PyString>, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::with_value(op::PREPEND, bin_name, value)
    }

    /// Resets the TTL and counts up the generation. Fails if the record does not exist.
    #[staticmethod]
    fn touch() -> Self {
        Self::bare(What::Write, op::TOUCH)
    }

    /// Deletes the record.
    #[staticmethod]
    fn delete() -> Self {
        Self::bare(What::Write, op::DELETE)
    }

    /// Name of the bin; `None` for operations on the whole record.
    #[getter]
    fn bin_name(&self) -> Option<&str> {
        Some(self.name_text()).filter(|name| !name.is_empty())
    }

    fn __eq__(&self, other: &Self) -> bool {
        let parts = |o: &Self| (o.what, o.kind, o.particle_type, o.name_len);
        parts(self) == parts(other) && *self.bytes == *other.bytes
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        (self.kind, self.particle_type, self.name_len, &*self.bytes).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let name = PyString::new(py, self.name_text()).repr()?;
        let call = match (self.what, self.kind) {
            (What::ReadAll, _) => return Ok("Operation.get()".to_owned()),
            (What::ReadHeader, _) => return Ok("Operation.get_header()".to_owned()),
            (What::Read, _) => return Ok(format!("Operation.get_bin({name})")),
            (What::Write, op::TOUCH) => return Ok("Operation.touch()".to_owned()),
            (What::Write, op::DELETE) => return Ok("Operation.delete()".to_owned()),
            (What::Write, op::INCR) => "add",
            (What::Write, op::APPEND) => "append",
            (What::Write, op::PREPEND) => "prepend",
            (What::Write, _) => "put",
        };
        let (kind, bytes) = self.value();
        let value = value::decode(py, kind, bytes)?;
        Ok(format!("Operation.{call}({name}, {})", value.bind(py).repr()?))
    }
}

/// The operations of a call, taken out of a sequence.
pub(crate) struct Operations<'py>(Vec<Bound<'py, Operation>>);

impl<'py> Operations<'py> {
    /// From an iterable of operations.
    ///
    /// Raises `TypeError` if one is none, and `InvalidArgumentError` if there are none or too many.
    pub(crate) fn of(operations: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = operations.py();
        let mut list = Vec::with_capacity(operations.len().unwrap_or(0).min(check::MAX_OPS));
        for (index, operation) in operations.try_iter()?.enumerate() {
            list.push(operation?.cast_into::<Operation>().map_err(|e| {
                let kind = e.into_inner().get_type();
                PyTypeError::new_err(format!("operations[{index}] is no operation but of type {kind}"))
            })?);
            check::count(list.len(), "operations").map_err(|e| errors::to_py(py, &e))?;
        }
        if list.is_empty() {
            return Err(errors::invalid_argument(py, "there are no operations to carry out"));
        }
        Ok(Self(list))
    }

    /// Whether any of them can change the record: then the call goes to the master and can be in doubt.
    pub(crate) fn write(&self) -> bool {
        self.iter().any(|operation| operation.what == What::Write)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Operation> {
        self.0.iter().map(Bound::get)
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Operation>()
}
