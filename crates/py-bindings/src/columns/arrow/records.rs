//! What Python sees.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::chunk::Chunk;
use super::export::{Failure, Source, schema_capsule, stream_capsule};
use super::schema::Schema;
use crate::columns::failures::{RowFailures, row_failures};
use crate::columns::frames::frames;

/// Records as Arrow columns, as returned by `batch_read(.., as_arrow=schema)` and `await Recordset.to_arrow(schema)`.
///
/// `pyarrow.table(records)`, `polars.DataFrame(records)` and everything else that supports the Arrow `PyCapsule`
/// interface can use the columns without copying them, any number of times. A batch has one row for each key, in order;
/// a query has one row for each record that it finds.
///
/// A value is null if the record or the bin is missing, or if the value does not fit the column and that is not an error
/// (see `ArrowColumns`). These fit:
///
/// * an int in an integer column that can hold it, in a date, time, timestamp or duration column (as a count of its
///   unit), in a `uint64` column (as the number with the same bits), and up to 2**53 in a float column
/// * a float in a float column, rounded, unless it becomes infinite
/// * a bool in a `bool` column
/// * a str or GeoJSON in a text column; these, bytes and an HLL in a column of bytes
/// * a list in a list column, a dict in a struct, or in a map whose keys fit
/// * any value in a `json` column
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct ArrowRecords {
    schema: Arc<Schema>,
    chunks: Arc<[Arc<Chunk>]>,
    rows: usize,
    /// Empty: 0 for each row.
    result_codes: Vec<i32>,
    failures: RowFailures,
}

row_failures!(ArrowRecords, failures, rows);

/// Chunks that are there.
struct Gathered {
    schema: Arc<Schema>,
    chunks: Arc<[Arc<Chunk>]>,
    next: usize,
}

impl Source for Gathered {
    fn schema(&mut self) -> Result<Arc<Schema>, Failure> {
        Ok(Arc::clone(&self.schema))
    }

    fn next(&mut self) -> Result<Option<Arc<Chunk>>, Failure> {
        let chunk = self.chunks.get(self.next).cloned();
        self.next += 1;
        Ok(chunk)
    }
}

impl ArrowRecords {
    /// Of records that were read by their keys.
    pub(crate) fn of_keys(
        schema: &Arc<Schema>,
        chunks: Vec<Arc<Chunk>>,
        result_codes: Vec<i32>,
        failures: RowFailures,
    ) -> Self {
        let rows = chunks.iter().map(|chunk| chunk.rows).sum();
        Self { schema: Arc::clone(schema), chunks: chunks.into(), rows, result_codes, failures }
    }

    /// Of records that a query has found.
    pub(crate) fn of_query(schema: &Arc<Schema>, chunks: Vec<Arc<Chunk>>) -> Self {
        Self::of_keys(schema, chunks, Vec::new(), RowFailures::default())
    }

    /// For `__arrow_c_schema__`.
    pub(crate) fn schema_capsule<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    /// For `__arrow_c_stream__`.
    pub(crate) fn stream_capsule<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let source = Gathered { schema: Arc::clone(&self.schema), chunks: Arc::clone(&self.chunks), next: 0 };
        stream_capsule(py, Box::new(source))
    }
}

frames!(ArrowRecords);

#[pymethods]
impl ArrowRecords {
    /// The result code of each row, as a list. 0: the record was found; 2: it does not exist; for others see
    /// `ResultCode`.
    #[getter]
    fn result_codes(&self) -> Vec<i32> {
        if self.result_codes.is_empty() { vec![0; self.rows] } else { self.result_codes.clone() }
    }

    /// The columns' names and types, of the Arrow `PyCapsule` interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.schema_capsule(py)
    }

    /// The columns, of the Arrow `PyCapsule` interface. They keep their types, whatever `requested_schema` is.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        self.stream_capsule(py)
    }

    fn __len__(&self) -> usize {
        self.rows
    }

    fn __repr__(&self) -> String {
        format!("<ArrowRecords of {} rows, {} columns>", self.rows, self.schema.len())
    }
}
