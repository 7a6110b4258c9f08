//! What Python hears of a table that was written.

use std::sync::Arc;
use std::time::Duration;

use aerolane::batch::FailureSummary;
use aerolane_wire::particle::particle_type;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyCapsule, PyInt, PyString, PyType};

use super::tally::{Counts, Failure, Key, Result};
use crate::columns::frames::frames;
use crate::columns::{ArrowRecords, Builder, Schema};
use crate::{errors, sequence};

/// The outcome of the rows of a table, as returned by `write_table`.
#[pyclass(frozen, module = "aerolane")]
pub(crate) struct TableSummary {
    counts: Counts,
    elapsed: Duration,
    summary: FailureSummary,
    failures: Py<FailedRows>,
}

impl TableSummary {
    pub(super) fn new(py: Python<'_>, result: Result) -> PyResult<Self> {
        let Result { counts, failures, summary, elapsed } = result;
        Ok(Self { counts, elapsed, summary, failures: Py::new(py, FailedRows { rows: failures.into() })? })
    }
}

/// Gives the exception that has ended the table what became of the rows until then, as `summary`.
pub(super) fn add_summary(py: Python<'_>, error: &PyErr, result: Result) {
    let attached = TableSummary::new(py, result).and_then(|summary| {
        error.add_note(py, format!("while writing a table: {}", text(summary.counts)))?;
        error.value(py).setattr("summary", Py::new(py, summary)?)
    });
    // What has failed first counts; an exception that takes no attribute stays as it is.
    drop(attached);
}

#[pymethods]
impl TableSummary {
    /// The number of rows that were read from the table. After an exception, some of them may not have been passed to
    /// the writer.
    #[getter]
    const fn rows(&self) -> u64 {
        self.counts.rows
    }

    /// The number of rows that the server confirmed.
    #[getter]
    const fn ok(&self) -> u64 {
        self.counts.ok
    }

    /// The number of rows that failed: refused by the server, given up, or impossible to send.
    #[getter]
    const fn failed(&self) -> u64 {
        self.counts.failed
    }

    /// The number of failed rows that may have been written nevertheless.
    #[getter]
    const fn in_doubt(&self) -> u64 {
        self.counts.in_doubt
    }

    /// The number of rows with nothing to write: all their bins are null, and nulls do not change bins.
    #[getter]
    const fn skipped(&self) -> u64 {
        self.counts.skipped
    }

    /// The number of rows without an outcome: 0, unless the call was interrupted.
    #[getter]
    const fn outstanding(&self) -> u64 {
        self.counts.outstanding()
    }

    /// The duration in seconds.
    #[getter]
    fn elapsed(&self) -> f64 {
        self.elapsed.as_secs_f64()
    }

    /// The rows that failed, ordered by row number; at most `keep_failures` of them.
    #[getter]
    fn failures(&self, py: Python<'_>) -> Py<FailedRows> {
        self.failures.clone_ref(py)
    }

    /// Raises `BatchFailedError` if a row failed; its `records` are the failed rows. It is in doubt if one of them is.
    fn raise_for_failures(&self, py: Python<'_>) -> PyResult<()> {
        if self.counts.failed == 0 {
            return Ok(());
        }
        let rows = usize::try_from(self.counts.rows).unwrap_or(usize::MAX);
        Err(errors::rows_failed(py, &self.summary.error(rows), self.failures.bind(py)))
    }

    fn __repr__(&self) -> String {
        format!("<TableSummary {}>", text(self.counts))
    }
}

/// What became of the rows.
pub(super) fn text(counts: Counts) -> String {
    let Counts { rows, ok, failed, in_doubt, skipped, .. } = counts;
    let outstanding = match counts.outstanding() {
        0 => String::new(),
        outstanding => format!(", {outstanding} outstanding"),
    };
    format!("{rows} rows: {ok} ok, {failed} failed ({in_doubt} in doubt), {skipped} skipped{outstanding}")
}

/// The rows of a table that failed: a sequence of `FailedRow`.
///
/// `pyarrow.table(rows)`, `polars.DataFrame(rows)` and everything else that supports the Arrow `PyCapsule` interface
/// read them as the columns `row`, `key`, `result_code`, `in_doubt` and `message`.
#[pyclass(frozen, sequence, module = "aerolane")]
pub(crate) struct FailedRows {
    rows: Arc<[Failure]>,
}

frames!(FailedRows);

#[pymethods]
impl FailedRows {
    fn __len__(&self) -> usize {
        self.rows.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyAny>> {
        match sequence::place(self.rows.len(), index) {
            Some(place) => failed_row(py, &self.rows[place]),
            None => Err(PyIndexError::new_err("there is no such failed row")),
        }
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        sequence::iterator(slf)
    }

    /// The columns' names and types, of the Arrow `PyCapsule` interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.columns(py)?.schema_capsule(py)
    }

    /// The columns, of the Arrow `PyCapsule` interface. They keep their types, whatever `requested_schema` is.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        self.columns(py)?.stream_capsule(py)
    }

    fn __repr__(&self) -> String {
        format!("<FailedRows: {}>", self.rows.len())
    }
}

impl FailedRows {
    /// The type of the column of keys: that of all of them, or text.
    fn key_type(&self) -> &'static str {
        let mut types = self.rows.iter().filter_map(|row| match row.key {
            Key::None => None,
            Key::Int(_) => Some("int64"),
            Key::Text(_) => Some("utf8"),
            Key::Blob(_) => Some("binary"),
        });
        let first = types.next().unwrap_or("utf8");
        if types.all(|other| other == first) { first } else { "utf8" }
    }

    fn columns(&self, py: Python<'_>) -> PyResult<ArrowRecords> {
        /// Rows of a chunk.
        const CHUNK: usize = 1 << 16;
        let key_type = self.key_type();
        let schema =
            [("row", "uint64"), ("key", key_type), ("result_code", "int32"), ("in_doubt", "bool"), ("message", "utf8")];
        let mut builder = Builder::new(Arc::new(Schema::named(&schema)?), CHUNK);
        let mut chunks = Vec::new();
        for failure in &*self.rows {
            let int = |number: i64| (particle_type::INTEGER, number.to_be_bytes().to_vec());
            let key = match (&failure.key, key_type) {
                (Key::None, _) => (particle_type::NIL, Vec::new()),
                (Key::Int(number), "int64") => int(*number),
                (Key::Int(number), _) => (particle_type::STRING, number.to_string().into_bytes()),
                (Key::Text(text), _) => (particle_type::STRING, text.as_bytes().to_vec()),
                (Key::Blob(bytes), "binary") => (particle_type::BLOB, bytes.to_vec()),
                (Key::Blob(bytes), _) => (particle_type::STRING, format!("{bytes:02x?}").into_bytes()),
            };
            let row = [
                int(failure.row.cast_signed()),
                key,
                int(i64::from(failure.code)),
                (particle_type::BOOL, vec![u8::from(failure.in_doubt)]),
                (particle_type::STRING, failure.message.as_bytes().to_vec()),
            ];
            let values = row.iter().map(|(kind, value)| (*kind, &value[..]));
            builder.push_values(values).map_err(|unfit| errors::to_py(py, &unfit.into()))?;
            if builder.is_full() {
                chunks.extend(builder.take());
            }
        }
        chunks.extend(builder.take());
        Ok(ArrowRecords::of_query(builder.schema(), chunks))
    }
}

fn failed_row_class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || {
        let fields: [(&str, Bound<'_, PyType>); 5] = [
            ("row", py.get_type::<PyInt>()),
            ("key", py.get_type::<PyAny>()),
            ("result_code", py.get_type::<PyAny>()),
            ("in_doubt", py.get_type::<PyBool>()),
            ("message", py.get_type::<PyString>()),
        ];
        let class = py.import("typing")?.getattr("NamedTuple")?.call1(("FailedRow", fields.to_vec()))?;
        class.setattr("__module__", "aerolane")?;
        class.setattr(
            "__doc__",
            "A failed row of a table: its number, counted from 0; its key (`None` if the key is null or cannot be sent); the \
             `ResultCode`; whether it may have been written nevertheless; and the reason.",
        )?;
        Ok::<_, PyErr>(class.unbind())
    })?;
    Ok(class.bind(py))
}

fn failed_row<'py>(py: Python<'py>, failure: &Failure) -> PyResult<Bound<'py, PyAny>> {
    let key = match &failure.key {
        Key::None => py.None().into_bound(py),
        Key::Int(number) => number.into_pyobject(py)?.into_any(),
        Key::Text(text) => PyString::new(py, text).into_any(),
        Key::Blob(bytes) => PyBytes::new(py, bytes).into_any(),
    };
    let code = errors::result_code(py, failure.code)?;
    failed_row_class(py)?.call1((failure.row, key, code, failure.in_doubt, &*failure.message))
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TableSummary>()?;
    module.add_class::<FailedRows>()?;
    module.add("FailedRow", failed_row_class(module.py())?)
}
