//! What Python sees.

use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::chunk::{Builder, Chunk};
use super::export::{Failure, Source, schema_capsule, stream_capsule};
use super::schema::Schema;

/// Records of a batch as Arrow columns: what `batch_read(.., as_arrow=schema)` gives.
///
/// `pyarrow.table(records)`, `polars.DataFrame(records)` and whatever else knows the Arrow `PyCapsule` interface take the
/// columns over without a copy, any number of times. A row for each key, in order.
///
/// A place is null if the record or the bin is missing, or if the value does not fit the column. Fits: an int in an
/// `int64`, and in a `float64` up to 2**53; a float in a `float64`; a bool in a `bool`; a str in `utf8` and `large_utf8`; a
/// str or bytes in `binary` and `large_binary`.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct ArrowRecords {
    schema: Arc<Schema>,
    chunks: Arc<[Arc<Chunk>]>,
    result_codes: Vec<i32>,
}

/// Chunks that are there.
struct Gathered {
    schema: Arc<Schema>,
    chunks: Arc<[Arc<Chunk>]>,
    next: usize,
}

impl Source for Gathered {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn next(&mut self) -> Result<Option<Arc<Chunk>>, Failure> {
        let chunk = self.chunks.get(self.next).cloned();
        self.next += 1;
        Ok(chunk)
    }
}

impl ArrowRecords {
    /// `builder` has what is not in a chunk yet.
    pub(crate) fn new(mut chunks: Vec<Arc<Chunk>>, mut builder: Builder, result_codes: Vec<i32>) -> Self {
        chunks.extend(builder.take());
        Self { schema: Arc::clone(builder.schema()), chunks: chunks.into(), result_codes }
    }
}

#[pymethods]
impl ArrowRecords {
    /// The result code of each row, a list. 0: there is a record; 2: there is none; others: see `ResultCode`.
    #[getter]
    fn result_codes(&self) -> Vec<i32> {
        self.result_codes.clone()
    }

    /// The columns' names and types, of the Arrow `PyCapsule` interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    /// The columns, of the Arrow `PyCapsule` interface. They keep their types, whatever `requested_schema` is.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let source = Gathered { schema: Arc::clone(&self.schema), chunks: Arc::clone(&self.chunks), next: 0 };
        stream_capsule(py, Box::new(source))
    }

    fn __len__(&self) -> usize {
        self.result_codes.len()
    }

    fn __repr__(&self) -> String {
        format!("<ArrowRecords of {} rows, {} columns>", self.result_codes.len(), self.schema.fields.len())
    }
}

/// Records of a query as Arrow columns, as they come: what `Recordset.to_arrow(schema)` gives.
///
/// `pyarrow.RecordBatchReader.from_stream(stream)`, and whatever else knows the Arrow `PyCapsule` interface, takes record
/// batches from it without a copy, once. Each is gathered when it is asked for, on the thread that asks, without the GIL.
/// What is null: see `ArrowRecords`. An error of the query ends the stream, behind what came before it; the reader raises it
/// as its own kind of error (pyarrow: `OSError`) with the text of ours.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct ArrowStream {
    schema: Arc<Schema>,
    source: Mutex<Option<Box<dyn Source>>>,
}

impl ArrowStream {
    pub(crate) fn new(source: Box<dyn Source>) -> Self {
        Self { schema: Arc::clone(source.schema()), source: Mutex::new(Some(source)) }
    }
}

#[pymethods]
impl ArrowStream {
    /// The columns' names and types, of the Arrow `PyCapsule` interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    /// The stream, of the Arrow `PyCapsule` interface. Columns keep their types, whatever `requested_schema` is. Raises
    /// `ValueError` the second time.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let source = self.source.lock().take();
        let source = source.ok_or_else(|| PyValueError::new_err("the stream of a query can be read once"))?;
        stream_capsule(py, source)
    }

    fn __repr__(&self) -> String {
        let state = if self.source.lock().is_some() { "not read yet" } else { "handed over" };
        format!("<ArrowStream of {} columns, {state}>", self.schema.fields.len())
    }
}
