//! Which rows of a batch have failed, for its columns.

use aerolane::Error;
use aerolane::batch::FailureSummary;
use aerospike_core::{ClientResultCode, ResultCode};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::errors;

/// The rows of a batch that have failed, by number.
#[derive(Debug, Default)]
pub(crate) struct RowFailures(Vec<(usize, Error)>);

impl RowFailures {
    /// Takes a failed row in, and gives its result code. Without an error: the server has left the row out.
    pub(crate) fn add(&mut self, row: usize, error: Option<&Error>) -> i32 {
        let left_out = || Error::bad_response("the server left the row out of its answer");
        self.0.push((row, error.cloned().unwrap_or_else(left_out)));
        error.map_or(i32::from(ClientResultCode::NoResponse), Error::result_code)
    }

    fn failed(&self, missing: bool) -> impl Iterator<Item = (usize, &Error)> {
        let counts = move |error: &Error| missing || error.server_result_code() != Some(ResultCode::KeyNotFoundError);
        self.0.iter().filter(move |(_, error)| counts(error)).map(|(row, error)| (*row, error))
    }

    /// A list of (row number, exception).
    pub(crate) fn list<'py>(&self, py: Python<'py>, missing: bool) -> PyResult<Bound<'py, PyList>> {
        let failed = self.failed(missing).map(|(row, error)| (row, errors::to_py(py, error).into_value(py)));
        PyList::new(py, failed.collect::<Vec<_>>())
    }

    /// Raises `BatchFailedError` if there are some of a batch with so many rows.
    pub(crate) fn raise(&self, py: Python<'_>, missing: bool, rows: usize) -> PyResult<()> {
        let mut summary = FailureSummary::default();
        for (row, error) in self.failed(missing) {
            summary.add(row, error.server_result_code(), Some(error), error.in_doubt());
        }
        if summary.is_empty() {
            return Ok(());
        }
        Err(errors::rows_failed(py, &summary.error(rows), self.list(py, missing)?.as_any()))
    }
}

/// Defines the methods of a class with rows of a batch, their failures and their number in its fields.
macro_rules! row_failures {
    ($class:ident, $failures:ident, $rows:ident) => {
        #[pymethods]
        impl $class {
            /// The rows that failed, as a list of (row number, exception); with `missing=False`, without those whose record
            /// does not exist.
            #[pyo3(signature = (*, missing=true))]
            fn failures<'py>(&self, py: Python<'py>, missing: bool) -> PyResult<Bound<'py, pyo3::types::PyList>> {
                self.$failures.list(py, missing)
            }

            /// Raises `BatchFailedError` if a row failed; its `records` are what `failures()` returns.
            ///
            /// With `missing=False`, a record that does not exist is not a failure.
            #[pyo3(signature = (*, missing=true))]
            fn raise_for_failures(&self, py: Python<'_>, missing: bool) -> PyResult<()> {
                self.$failures.raise(py, missing, self.$rows)
            }
        }
    };
}

pub(super) use row_failures;
