//! Tables that are read: whatever has columns, as values that can be encoded without a Python object for each.
//!
//! * [`memory`]: memory of others, read within its bounds
//! * [`column`]: the values of a column, and their encoding
//! * [`types`], [`import`], [`stream`]: Arrow schemas, arrays and streams, checked
//! * [`numpy`]: structured arrays, and arrays as columns
//! * [`dict`]: dicts of sequences
//! * [`objects`]: Python objects that cannot be written, seen before anything is

mod column;
mod dict;
mod import;
mod memory;
mod numpy;
mod objects;
mod stream;
mod types;

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

pub(crate) use column::{Column, KeyKind, Unfit};

use crate::errors;

/// Why a table cannot be read on.
pub(crate) enum Fault {
    /// The producer has failed, or has handed over what no table is.
    Table(String),
    Python(PyErr),
}

impl Fault {
    pub(crate) fn into_py(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Table(text) => errors::invalid_argument(py, text),
            Self::Python(error) => error,
        }
    }
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

/// Some rows of a table. The memory of its columns is given back when it is dropped.
pub(crate) struct Part {
    pub(crate) rows: usize,
    pub(crate) columns: Vec<Column>,
}

/// Where a table's parts come from.
pub(crate) trait Source: Send {
    /// The next part; `None`: there is none. May wait, without the GIL.
    ///
    /// # Errors
    /// The source has failed, or its part is malformed. It is not asked again.
    fn next(&mut self) -> Result<Option<Part>, Fault>;
}

/// A table: the names and kinds of its columns, and its parts.
pub(crate) struct Input {
    pub(crate) columns: Vec<Named>,
    pub(crate) source: Box<dyn Source>,
}

/// A column before its values are looked at.
pub(crate) struct Named {
    pub(crate) name: Box<str>,
    /// What keys its values can be.
    pub(crate) key: KeyKind,
    /// How it calls its type.
    pub(crate) type_name: String,
    /// Why its values cannot be written.
    pub(crate) refused: Option<String>,
    /// Its values are Python objects.
    pub(crate) objects: bool,
}

impl Input {
    /// Opens a table.
    ///
    /// # Errors
    /// It is none that can be read.
    pub(crate) fn open(table: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = table.py();
        if let Some(columns) = stream::of(table)? {
            let mut input = columns.into_table(py)?;
            objects::refuse_addresses(table, input.columns.iter_mut())?;
            return Ok(input);
        }
        if numpy::is_array(table)? {
            return numpy::structured(table);
        }
        if table.is_instance_of::<PyDict>() || table.hasattr(intern!(py, "items"))? {
            return dict::of(table);
        }
        Err(PyTypeError::new_err(format!(
            "a table is a dict of sequences, a structured numpy array, or has __arrow_c_stream__ or __arrow_c_array__ (pyarrow, \
             polars, pandas, DuckDB), not {}",
            table.get_type().name()?
        )))
    }
}
