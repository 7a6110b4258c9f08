//! Arrow streams and arrays, handed over through the Arrow `PyCapsule` interface.

use std::ffi::CStr;
use std::sync::Arc;

use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;

use super::column::{Column, Values};
use super::import::Owned;
use super::types::{Field, Type};
use super::{Fault, Input, Named, Part, Source};
use crate::columns::arrow::abi::{ArrowArray, ArrowArrayStream, ArrowSchema};
use crate::errors;

/// Arrays of one schema.
pub(super) struct Arrays {
    schema: ArrowSchema,
    pub(super) from: ImportSource,
}

pub(super) enum ImportSource {
    Stream(ArrowArrayStream),
    One(Option<ArrowArray>),
}

/// The arrays of an object that hands some over; `None`: it does not.
pub(super) fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Arrays>> {
    let py = object.py();
    if object.hasattr(intern!(py, "__arrow_c_stream__"))? {
        let capsule = object.call_method0(intern!(py, "__arrow_c_stream__"))?;
        // SAFETY: so the interface defines what is in a capsule of this name.
        let stream = unsafe { taken::<ArrowArrayStream>(&capsule, c"arrow_array_stream")? };
        return Arrays::of_stream(py, stream).map(Some);
    }
    if object.hasattr(intern!(py, "__arrow_c_array__"))? {
        let pair = object.call_method0(intern!(py, "__arrow_c_array__"))?;
        let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
        // SAFETY: as above.
        let (schema, array) =
            unsafe { (taken::<ArrowSchema>(&schema, c"arrow_schema")?, taken::<ArrowArray>(&array, c"arrow_array")?) };
        if schema.release.is_none() || array.release.is_none() {
            return Err(errors::invalid_argument(py, "the Arrow array has already been consumed"));
        }
        return Ok(Some(Arrays { schema, from: ImportSource::One(Some(array)) }));
    }
    Ok(None)
}

/// What each of the interface's structs has.
trait Released {
    fn forget(&mut self);
}

macro_rules! released {
    ($($name:ident),*) => {$(
        impl Released for $name {
            fn forget(&mut self) {
                self.release = None;
            }
        }
    )*};
}

released!(ArrowSchema, ArrowArray, ArrowArrayStream);

/// Moves what is in a capsule out of it, as the interface wants it: the struct in the capsule counts as released then.
///
/// # Safety
/// A capsule of this name holds such a struct.
unsafe fn taken<T: Released>(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<T> {
    // SAFETY: a live object; the call checks that it is a capsule of this name.
    let pointer = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr()) };
    if pointer.is_null() {
        return Err(PyErr::fetch(capsule.py()));
    }
    // SAFETY: promised by the caller; nobody else uses it while this thread is attached to hand it over.
    unsafe {
        let taken = pointer.cast::<T>().read();
        (*pointer.cast::<T>()).forget();
        Ok(taken)
    }
}

/// What a stream says about its last error.
fn last_error(stream: &mut ArrowArrayStream, code: i32) -> String {
    const LONGEST: usize = 4096;
    // SAFETY: the stream was not released; a text lives until its next call.
    let text = unsafe {
        let text = stream.get_last_error.map_or(std::ptr::null(), |get_last_error| get_last_error(stream));
        if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    };
    let text: String = text.chars().take(LONGEST).collect();
    format!("the table's producer has failed (error {code}): {text}")
}

impl Arrays {
    fn of_stream(py: Python<'_>, mut stream: ArrowArrayStream) -> PyResult<Self> {
        let (Some(get_schema), Some(_), Some(_)) = (stream.get_schema, stream.get_next, stream.release) else {
            return Err(errors::invalid_argument(py, "the Arrow stream has already been consumed"));
        };
        let mut schema = ArrowSchema::EMPTY;
        // SAFETY: the stream was not released, and `schema` is a place for one.
        let code = unsafe { get_schema(&raw mut stream, &raw mut schema) };
        if code != 0 {
            return Err(errors::invalid_argument(py, last_error(&mut stream, code)));
        }
        if schema.release.is_none() {
            return Err(errors::invalid_argument(py, "the Arrow stream has no schema"));
        }
        Ok(Self { schema, from: ImportSource::Stream(stream) })
    }

    /// As a table.
    pub(super) fn into_table(self, py: Python<'_>) -> PyResult<Input> {
        // SAFETY: the schema was not released.
        let fields = unsafe { Field::of_table(&self.schema) }.map_err(|text| errors::invalid_argument(py, text))?;
        let Some(fields) = fields else {
            return Err(errors::invalid_argument(
                py,
                "the Arrow data are one column, not a table: a struct of columns",
            ));
        };
        let columns = fields.iter().map(Named::of).collect();
        let names = fields.iter().map(|field| field.name.clone()).collect();
        let of = Type::Struct { names, fields: fields.into_iter().map(|field| field.of).collect() };
        Ok(Input { columns, source: Box::new(Batches { arrays: self.from, of }) })
    }

    /// As a column: its type, and where its arrays come from.
    pub(super) fn into_column(self, py: Python<'_>) -> PyResult<(Field, ImportSource)> {
        // SAFETY: the schema was not released.
        let field = unsafe { Field::of(&self.schema) }.map_err(|text| errors::invalid_argument(py, text))?;
        Ok((field, self.from))
    }
}

impl Named {
    pub(super) fn of(field: &Field) -> Self {
        Self {
            name: field.name.clone(),
            key: field.of.key(),
            type_name: format!("Arrow format '{}'", field.format),
            refused: field.of.refusal().map(str::to_owned),
            objects: false,
        }
    }
}

impl ImportSource {
    /// The next array as a column; `None`: there is none.
    pub(super) fn next(&mut self, of: &Type) -> Result<Option<Column>, Fault> {
        let array = match self {
            Self::One(array) => array.take(),
            Self::Stream(stream) => {
                let mut array = ArrowArray::EMPTY;
                let Some(get_next) = stream.get_next else { return Ok(None) };
                // SAFETY: the stream was not released, and `array` is a place for one.
                let code = unsafe { get_next(stream, &raw mut array) };
                if code != 0 {
                    return Err(Fault::Table(last_error(stream, code)));
                }
                Some(array)
            }
        };
        match array.filter(|array| array.release.is_some()) {
            None => Ok(None),
            Some(array) => Arc::new(Owned::new(array)).column(of).map(Some).map_err(Fault::Table),
        }
    }
}

/// The record batches of a table.
struct Batches {
    arrays: ImportSource,
    of: Type,
}

impl Source for Batches {
    fn next(&mut self) -> Result<Option<Part>, Fault> {
        let Some(batch) = self.arrays.next(&self.of)? else { return Ok(None) };
        let is_null = |row| batch.valid.is_some_and(|valid| valid.bit(batch.offset + row) != Some(true));
        if batch.valid.is_some() && (0..batch.rows).any(is_null) {
            return Err(Fault::Table("the table has rows that are null as a whole".to_owned()));
        }
        let Values::Structs { fields, .. } = &batch.values else {
            return Err(Fault::Table("the table has a part that is no table".to_owned()));
        };
        let columns = fields.iter().map(|field| field.slice(batch.offset, batch.rows)).collect();
        Ok(Some(Part { rows: batch.rows, columns }))
    }
}
