//! Arrays of numpy, without numpy's C interface.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::column::{Column, KeyKind, Number, NumberKind, Values};
use super::memory::Cells;
use super::{Fault, Input, Named, Part, Source};
use crate::errors;

/// Whether an object is an array of numpy. Does not import numpy.
pub(super) fn is_array(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    let modules = py.import("sys")?.getattr("modules")?;
    let Ok(numpy) = modules.cast::<PyDict>()?.get_item("numpy").map(|numpy| numpy.filter(|numpy| !numpy.is_none()))
    else {
        return Ok(false);
    };
    match numpy {
        Some(numpy) => object.is_instance(&numpy.getattr("ndarray")?),
        None => Ok(false),
    }
}

/// The cells of an array of one dimension: where they begin, their distance, and how many there are.
struct Memory {
    start: *const u8,
    stride: isize,
    rows: usize,
    held: Arc<dyn Send + Sync>,
}

impl Memory {
    fn of(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        let py = array.py();
        let shape: Vec<usize> = array.getattr("shape")?.extract()?;
        let [rows] = shape[..] else {
            let text = format!("{what} has {} dimensions, it must have one: a row for each record", shape.len());
            return Err(errors::invalid_argument(py, text));
        };
        if array.is_instance(&py.import("numpy.ma")?.getattr("MaskedArray")?)? {
            let text = format!("{what} is a masked array, whose mask would be lost: use filled(), or an Arrow table");
            return Err(PyTypeError::new_err(text));
        }
        let (stride,): (isize,) = array.getattr("strides")?.extract()?;
        let data: (usize, bool) = array.getattr(intern!(py, "__array_interface__"))?.get_item("data")?.extract()?;
        // An array keeps its memory where it is while somebody else holds a reference to it.
        Ok(Self { start: data.0 as *const u8, stride, rows, held: Arc::new(array.clone().unbind()) })
    }

    /// The cells of a field that begins at `offset`.
    fn cells(&self, offset: usize, size: usize) -> Option<Cells> {
        // SAFETY: numpy vouches for rows of this distance; a field lies within its row.
        unsafe { Cells::strided(self.start.wrapping_add(offset), self.stride, size, self.rows) }
    }
}

/// What a dtype makes of a cell.
enum Cell {
    Number(Number),
    Bytes { trimmed: bool },
    Text { swapped: bool },
    Object,
}

impl Cell {
    /// `Err`: its values cannot be written.
    fn of(dtype: &Bound<'_, PyAny>) -> PyResult<Result<(Self, usize), String>> {
        let (kind, size): (char, usize) = (dtype.getattr("kind")?.extract()?, dtype.getattr("itemsize")?.extract()?);
        let order: String = dtype.getattr("byteorder")?.extract()?;
        let swapped = match &*order {
            ">" => cfg!(target_endian = "little"),
            "<" => cfg!(target_endian = "big"),
            _ => false,
        };
        let number = |kind| Cell::Number(Number { kind, size: size as u8, swapped });
        let cell = match (kind, size) {
            ('b', 1) => number(NumberKind::Bool),
            ('i', 1 | 2 | 4 | 8) => number(NumberKind::Int),
            ('u', 1 | 2 | 4 | 8) => number(NumberKind::Uint),
            ('f', 2 | 4 | 8) => number(NumberKind::Float),
            ('M' | 'm', 8) => number(NumberKind::Time),
            ('S', 1..) => Self::Bytes { trimmed: true },
            ('V', 1..) if dtype.getattr("names")?.is_none() && dtype.getattr("subdtype")?.is_none() => {
                Self::Bytes { trimmed: false }
            }
            ('U', 4..) => Self::Text { swapped },
            ('O', _) => Self::Object,
            _ => {
                let text = "columns of numpy are bool, ints, floats up to 64 bits, datetime64, timedelta64, S, U or V of a size";
                return Ok(Err(format!("it is {}: {text}", dtype.str()?)));
            }
        };
        Ok(Ok((cell, size)))
    }

    fn key(&self) -> KeyKind {
        match self {
            Self::Number(Number { kind: NumberKind::Int | NumberKind::Uint | NumberKind::Time, .. }) => KeyKind::Int,
            Self::Number(_) => KeyKind::None,
            Self::Bytes { .. } => KeyKind::Blob,
            Self::Text { .. } => KeyKind::Text,
            Self::Object => KeyKind::Each,
        }
    }

    fn values(&self, cells: Cells) -> Option<Values> {
        Some(match self {
            Self::Number(number) => Values::Numbers(*number, cells),
            Self::Bytes { trimmed } => Values::Blobs { cells, trimmed: *trimmed },
            Self::Text { swapped } => Values::Ucs4 { cells, swapped: *swapped },
            Self::Object => return None,
        })
    }
}

/// A column, or why there is none.
fn column(memory: &Memory, dtype: &Bound<'_, PyAny>, name: &str, offset: usize) -> PyResult<(Named, Option<Column>)> {
    let cell = Cell::of(dtype)?;
    let key = cell.as_ref().map_or(KeyKind::None, |(cell, _)| cell.key());
    let mut named =
        Named { name: name.into(), key, type_name: dtype.str()?.to_string(), refused: None, objects: false };
    let values = match cell {
        Ok((cell, size)) => memory.cells(offset, size).and_then(|cells| cell.values(cells)),
        Err(text) => {
            named.refused = Some(text);
            Some(Values::Null)
        }
    };
    let column = values.map(|values| Column {
        offset: 0,
        rows: memory.rows,
        valid: None,
        values,
        _held: Some(Arc::clone(&memory.held)),
    });
    Ok((named, column))
}

/// A structured array as a table.
pub(super) fn structured(array: &Bound<'_, PyAny>) -> PyResult<Input> {
    let py = array.py();
    let dtype = array.getattr("dtype")?;
    let names = dtype.getattr("names")?;
    if names.is_none() {
        return Err(PyTypeError::new_err(format!(
            "the array must be structured, a field for each column, not {}: or give a dict of arrays",
            dtype.str()?
        )));
    }
    let memory = Memory::of(array, "the array")?;
    let described = dtype.getattr("fields")?;
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for name in names.cast_into::<PyTuple>()? {
        let name = name.cast_into::<PyString>()?;
        let described = described.get_item(&name)?.cast_into::<PyTuple>()?;
        let (mut named, column) =
            column(&memory, &described.get_item(0)?, name.to_str()?, described.get_item(1)?.extract()?)?;
        if column.is_none() {
            named.refused = Some("it holds Python objects: give a dict of sequences, or an Arrow table".to_owned());
        }
        columns.push(named);
        values.extend(column.or_else(|| Some(Column { values: Values::Null, ..null(memory.rows) })));
    }
    let source = Box::new(Once(Some(Part { rows: memory.rows, columns: values })));
    if columns.is_empty() {
        return Err(errors::invalid_argument(py, "the array has no fields"));
    }
    Ok(Input { columns, source })
}

const fn null(rows: usize) -> Column {
    Column { offset: 0, rows, valid: None, values: Values::Null, _held: None }
}

/// An array as a column of a dict; `None`: it holds Python objects.
pub(super) fn column_of(name: &str, array: &Bound<'_, PyAny>) -> PyResult<Option<(Named, Column)>> {
    let memory = Memory::of(array, &format!("the column '{name}'"))?;
    let (named, column) = column(&memory, &array.getattr("dtype")?, name, 0)?;
    Ok(column.map(|column| (named, column)))
}

/// A part that is there.
pub(super) struct Once(pub(super) Option<Part>);

impl Source for Once {
    fn next(&mut self) -> Result<Option<Part>, Fault> {
        Ok(self.0.take())
    }
}
