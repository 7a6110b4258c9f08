//! What a numpy dtype says of its fields.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::errors;
use crate::operation::checked_name;

/// The fields of a structured dtype, each of them a bin.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(super) fields: Vec<Field>,
    /// Bytes of a row.
    pub(super) stride: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: Box<str>,
    pub(super) offset: usize,
    pub(super) size: usize,
    pub(super) kind: Kind,
    /// Whether the bytes of numbers and characters stand in the other order than this machine's.
    pub(super) swapped: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int,
    Uint,
    Float,
    /// Bytes, filled up with zeros.
    Bytes,
    /// Text in UCS-4, filled up with zeros.
    Text,
}

/// The largest row, in bytes: what an answer can hold many times over.
const MAX_STRIDE: usize = 1 << 20;

impl Layout {
    /// Of a structured dtype, or what `numpy.dtype` makes one of; also gives the dtype itself.
    pub(crate) fn of<'py>(dtype: &Bound<'py, PyAny>) -> PyResult<(Self, Bound<'py, PyAny>)> {
        let py = dtype.py();
        let dtype = py.import("numpy")?.getattr("dtype")?.call1((dtype,))?;
        let names = dtype.getattr("names")?;
        if names.is_none() {
            return Err(PyTypeError::new_err(format!(
                "the dtype must be structured, a field for each bin: numpy.dtype([('age', 'i8'), ..]), not {}",
                dtype.str()?
            )));
        }
        let described = dtype.getattr("fields")?;
        let mut fields = Vec::new();
        for name in names.cast_into::<PyTuple>()? {
            let name = name.cast_into::<PyString>()?;
            let described = described.get_item(&name)?.cast_into::<PyTuple>()?;
            fields.push(Field::of(&name, &described.get_item(0)?, described.get_item(1)?.extract()?)?);
        }
        let stride = dtype.getattr("itemsize")?.extract()?;
        if fields.is_empty() || stride == 0 || stride > MAX_STRIDE {
            let text = format!("a row of the dtype has {stride} bytes, it must have 1 to {MAX_STRIDE}");
            return Err(errors::invalid_argument(py, text));
        }
        Ok((Self { fields, stride }, dtype))
    }

    /// The names of the bins.
    pub(crate) fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let names: Vec<&str> = self.fields.iter().map(|field| &*field.name).collect();
        Ok(names.into_pyobject(py)?.into_any())
    }
}

impl Field {
    fn of(name: &Bound<'_, PyString>, dtype: &Bound<'_, PyAny>, offset: usize) -> PyResult<Self> {
        let py = name.py();
        let text = checked_name(name)?;
        let (kind, size): (char, usize) = (dtype.getattr("kind")?.extract()?, dtype.getattr("itemsize")?.extract()?);
        let kind = match (kind, size) {
            ('b', 1) => Kind::Bool,
            ('i', 1 | 2 | 4 | 8) => Kind::Int,
            ('u', 1 | 2 | 4 | 8) => Kind::Uint,
            ('f', 4 | 8) => Kind::Float,
            ('S', 1..) => Kind::Bytes,
            ('V', 1..) if dtype.getattr("names")?.is_none() && dtype.getattr("subdtype")?.is_none() => Kind::Bytes,
            ('U', 1..) => Kind::Text,
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "the field '{text}' is {}: bins become bool, i1 to i8, u1 to u8, f4, f8, S, U or V of a size",
                    dtype.str()?
                )));
            }
        };
        let order: String = dtype.getattr("byteorder")?.extract()?;
        let swapped = match &*order {
            ">" => cfg!(target_endian = "little"),
            "<" => cfg!(target_endian = "big"),
            _ => false,
        };
        if text.is_empty() {
            return Err(errors::invalid_argument(py, "a field of the dtype has no name"));
        }
        Ok(Self { name: text.into(), offset, size, kind, swapped })
    }
}

/// The dtype of which bins are valid: a bool for each field.
pub(super) fn valid_dtype<'py>(py: Python<'py>, layout: &Layout) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(py);
    let names: Vec<&str> = layout.fields.iter().map(|field| &*field.name).collect();
    fields.set_item("formats", vec!["?"; names.len()])?;
    fields.set_item("names", names)?;
    py.import("numpy")?.getattr("dtype")?.call1((fields,))
}
