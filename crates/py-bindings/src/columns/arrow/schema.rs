//! The columns that were asked for.

use std::ffi::{CStr, CString};

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::abi::ArrowSchema;
use crate::errors;
use crate::operation::checked_name;

/// Columns, each of a bin.
#[derive(Debug, Clone)]
pub(crate) struct Schema {
    pub(super) fields: Vec<Field>,
}

#[derive(Debug, Clone)]
pub(super) struct Field {
    /// The bin's name.
    pub(super) name: CString,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int,
    Float,
    /// Offsets of 32 bits.
    Text,
    LargeText,
    Bytes,
    LargeBytes,
}

impl Kind {
    /// The type in the C data interface.
    pub(super) const fn format(self) -> &'static CStr {
        match self {
            Self::Bool => c"b",
            Self::Int => c"l",
            Self::Float => c"g",
            Self::Text => c"u",
            Self::LargeText => c"U",
            Self::Bytes => c"z",
            Self::LargeBytes => c"Z",
        }
    }

    fn of_format(format: &[u8]) -> Option<Self> {
        [Self::Bool, Self::Int, Self::Float, Self::Text, Self::LargeText, Self::Bytes, Self::LargeBytes]
            .into_iter()
            .find(|kind| kind.format().to_bytes() == format)
    }

    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "bool" => Self::Bool,
            "int64" => Self::Int,
            "float64" => Self::Float,
            "utf8" => Self::Text,
            "large_utf8" => Self::LargeText,
            "binary" => Self::Bytes,
            "large_binary" => Self::LargeBytes,
            _ => return None,
        })
    }
}

fn not_a_column(name: &str, what: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "the column '{name}' is {what}: bins become bool, int64, float64, utf8, large_utf8, binary or large_binary"
    ))
}

impl Schema {
    /// Of a dict or pairs of names and names of types, or of an object that has `__arrow_c_schema__`.
    pub(crate) fn of(schema: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = schema.py();
        let fields = if schema.hasattr("__arrow_c_schema__")? {
            Self::fields_of_capsule(&schema.call_method0("__arrow_c_schema__")?)?
        } else {
            let pairs = match schema.cast::<PyDict>() {
                Ok(dict) => dict.items().into_any(),
                Err(_) => schema.clone(),
            };
            let mut fields = Vec::new();
            for pair in pairs.try_iter()? {
                let pair: (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract().map_err(|_| {
                    PyTypeError::new_err("a schema is a dict of names and types, pairs of them, or an Arrow schema")
                })?;
                let name = pair.0.cast_into::<PyString>()?;
                let text = checked_name(&name)?;
                let Ok(kind) = pair.1.extract::<&str>() else {
                    return Err(not_a_column(text, &format!("{}", pair.1.repr()?)));
                };
                let kind = Kind::named(kind).ok_or_else(|| not_a_column(text, &format!("'{kind}'")))?;
                fields.push((text.to_owned(), kind));
            }
            fields
        };
        if fields.is_empty() {
            return Err(errors::invalid_argument(py, "the schema has no columns"));
        }
        let mut schema = Self { fields: Vec::with_capacity(fields.len()) };
        for (name, kind) in fields {
            let named = |what| errors::invalid_argument(py, format!("a column of the schema {what}"));
            if name.is_empty() {
                return Err(named("has no name"));
            }
            let name = CString::new(name).map_err(|_| named("has a name with a NUL"))?;
            if schema.fields.iter().any(|field| field.name == name) {
                return Err(named(&format!("is there twice: {}", name.to_string_lossy())));
            }
            schema.fields.push(Field { name, kind });
        }
        Ok(schema)
    }

    fn fields_of_capsule(capsule: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Kind)>> {
        let py = capsule.py();
        // SAFETY: a live object; the call checks that it is a capsule of this name.
        let pointer = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), c"arrow_schema".as_ptr()) };
        if pointer.is_null() {
            return Err(PyErr::fetch(py));
        }
        let broken = || PyTypeError::new_err("the Arrow schema must be one of a table: a struct of columns");
        // SAFETY: so the interface defines the name; the capsule outlives this look.
        let top = unsafe { &*pointer.cast::<ArrowSchema>() };
        if top.release.is_none() || string(top.format) != Some(c"+s") {
            return Err(broken());
        }
        let count = usize::try_from(top.n_children).map_err(|_| broken())?;
        let mut fields = Vec::new();
        for place in 0..count {
            // SAFETY: a schema has so many children, each of which it owns.
            let child = unsafe { (*top.children.add(place)).as_ref() }.ok_or_else(broken)?;
            let (Some(name), Some(format)) = (string(child.name), string(child.format)) else { return Err(broken()) };
            let name = name.to_str().map_err(|_| broken())?;
            checked_name(&PyString::new(py, name))?;
            let kind = Kind::of_format(format.to_bytes()).filter(|_| child.dictionary.is_null());
            let what = || {
                format!(
                    "of the Arrow format {format:?}{}",
                    if child.dictionary.is_null() { "" } else { ", encoded by a dictionary" }
                )
            };
            fields.push((name.to_owned(), kind.ok_or_else(|| not_a_column(name, &what()))?));
        }
        Ok(fields)
    }

    /// How many columns.
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    /// The names of the bins.
    pub(crate) fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let names: Vec<_> = self.fields.iter().map(|field| field.name.to_string_lossy()).collect();
        Ok(names.into_pyobject(py)?.into_any())
    }
}

/// A string of a schema that is looked at.
fn string<'a>(start: *const std::ffi::c_char) -> Option<&'a CStr> {
    // SAFETY: strings of a schema end with a NUL and live as long as it does, which the callers of this see to.
    (!start.is_null()).then(|| unsafe { CStr::from_ptr(start) })
}
