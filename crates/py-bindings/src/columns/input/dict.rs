//! Dicts of sequences as tables: lists, numpy arrays and Arrow arrays, side by side.

use std::collections::VecDeque;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyString};

use super::column::{Column, KeyKind, Values};
use super::{Fault, Input, Named, Part, Source, numpy, objects, stream};
use crate::errors;

/// A column in the pieces that it has come in.
struct Pieces(VecDeque<Column>);

impl Pieces {
    fn rows(&self) -> usize {
        self.0.iter().map(|piece| piece.rows).sum()
    }
}

/// A dict of sequences as a table.
pub(super) fn of(dict: &Bound<'_, PyAny>) -> PyResult<Input> {
    let py = dict.py();
    let (mut columns, mut values) = (Vec::<Named>::new(), Vec::new());
    for item in dict.call_method0(intern!(py, "items"))?.try_iter()? {
        let (name, sequence): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item?.extract()?;
        let Ok(name) = name.cast_into::<PyString>() else {
            return Err(PyTypeError::new_err("the columns of a table have names of type str"));
        };
        let (named, pieces) = column(name.to_str()?, &sequence)?;
        columns.push(named);
        values.push(pieces);
    }
    let mut lengths = columns.iter().zip(&values).map(|(named, pieces)| (&named.name, pieces.rows()));
    if let Some((first, rows)) = lengths.next()
        && let Some((other, others)) = lengths.find(|(_, others)| *others != rows)
    {
        let text = format!("the column '{first}' has {rows} rows, and '{other}' has {others}");
        return Err(errors::invalid_argument(py, text));
    }
    Ok(Input { columns, source: Box::new(Zipped(values)) })
}

fn column(name: &str, sequence: &Bound<'_, PyAny>) -> PyResult<(Named, Pieces)> {
    let py = sequence.py();
    if let Some(arrays) = stream::of(sequence)? {
        let (mut field, mut from) = arrays.into_column(py)?;
        field.name = name.into();
        let mut named = Named::of(&field);
        objects::refuse_addresses(sequence, std::iter::once(&mut named))?;
        let mut pieces = VecDeque::new();
        // They are all there: a column of a dict is no stream.
        while let Some(piece) = from.next(&field.of).map_err(|fault| fault.into_py(py))? {
            pieces.extend((piece.rows > 0).then_some(piece));
        }
        return Ok((named, Pieces(pieces)));
    }
    if numpy::is_array(sequence)?
        && let Some((named, column)) = numpy::column_of(name, sequence)?
    {
        return Ok((named, Pieces([column].into())));
    }
    let kind = sequence.get_type();
    let text = sequence.is_instance_of::<PyString>()
        || sequence.is_instance_of::<PyBytes>()
        || sequence.is_instance_of::<PyByteArray>();
    // SAFETY: the object is alive, the thread attached.
    if text || unsafe { ffi::PySequence_Check(sequence.as_ptr()) } == 0 {
        return Err(PyTypeError::new_err(format!(
            "the column '{name}' must be a sequence of values, a numpy array or an Arrow array, not {}",
            kind.name()?
        )));
    }
    let mut named = Named {
        name: name.into(),
        key: KeyKind::Each,
        type_name: kind.name()?.to_string(),
        refused: None,
        objects: true,
    };
    objects::refuse_unknown_types(&mut named, sequence)?;
    let values = Values::Objects(Arc::new(sequence.clone().unbind()));
    let column = Column { offset: 0, rows: sequence.len()?, valid: None, values, _held: None };
    Ok((named, Pieces([column].into())))
}

/// Columns side by side: a part ends where a piece of one of them does.
struct Zipped(Vec<Pieces>);

impl Source for Zipped {
    fn next(&mut self) -> Result<Option<Part>, Fault> {
        for pieces in &mut self.0 {
            while pieces.0.front().is_some_and(|piece| piece.rows == 0) {
                pieces.0.pop_front();
            }
        }
        let fronts = self.0.iter().map(|pieces| pieces.0.front().map_or(0, |piece| piece.rows));
        let Some(rows) = fronts.min().filter(|rows| *rows > 0) else { return Ok(None) };
        let mut columns = Vec::with_capacity(self.0.len());
        for pieces in &mut self.0 {
            if let Some(piece) = pieces.0.front_mut() {
                columns.push(piece.slice(0, rows));
                *piece = piece.slice(rows, piece.rows - rows);
            }
        }
        Ok(Some(Part { rows, columns }))
    }
}
