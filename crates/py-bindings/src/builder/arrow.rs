//! `to_arrow` of the results of queries, and of reads by keys.

use aerospike_core::ResultCode;
use pyo3::prelude::*;

use super::result::{Outcome, Row};
use super::stream::{Phase, RecordStream, Results, Source, SyncRecordStream};
use crate::columns::Identity;
use crate::query::ArrowStream;
use crate::query::recordset::Recordset;
use crate::query::to_arrow::{ArrowArguments, ArrowRequest, to_arrow};
use crate::{columns, errors};

impl Results {
    /// What is left as Arrow columns. The stream counts as read then.
    fn to_arrow(&self, py: Python<'_>, asked: &ArrowArguments<'_, '_>) -> PyResult<ArrowStream> {
        self.check(py)?;
        let query = match &self.state(py).source {
            Source::Records(chunks) if chunks.chunked => {
                Err("to_arrow() reads a query as a whole: leave out chunk_size(), batch_rows bounds memory")
            }
            Source::Records(chunks) => match &chunks.records {
                Some(records) => Ok(Some((records.clone_ref(py), chunks.left))),
                None => Err("the query of this stream has not begun"),
            },
            Source::Live(_) => Err("to_arrow() needs all rows of a call: use execute() instead of stream()"),
            Source::One(_) | Source::Rows(_) | Source::Batch(_) => Ok(None),
        };
        match query {
            Ok(Some((records, left))) => {
                let stream = Recordset::arrow(records.bind(py), asked, left)?;
                drop(self.take(py));
                Ok(stream)
            }
            Ok(None) => {
                let asked = asked.checked(py)?;
                self.rows_to_arrow(py, &asked)
            }
            Err(text) => Err(errors::to_py(py, &aerolane::Error::client_error(text))),
        }
    }

    /// The rows of reads by keys. If that fails, they are left to be read one by one.
    fn rows_to_arrow(&self, py: Python<'_>, asked: &ArrowRequest) -> PyResult<ArrowStream> {
        let (mut source, mut rows, mut hidden) = (self.take(py), Vec::new(), Vec::new());
        while let Some(row) = source.take(&mut hidden) {
            rows.push(row);
        }
        let stream = gathered(py, &rows, asked);
        if stream.is_err() {
            let mut state = self.state(py);
            // Another thread may have closed it meanwhile.
            if state.phase == Phase::Read {
                (state.phase, state.source) = (Phase::Open, Source::Rows(rows.into_iter()));
            }
        }
        stream
    }

    /// Takes all that is left.
    fn take(&self, py: Python<'_>) -> Source {
        let mut state = self.state(py);
        state.phase = Phase::Read;
        std::mem::replace(&mut state.source, Source::One(None))
    }
}

/// Columns of rows. Raises the failure of the first row that has one; a record that is missing is none.
fn gathered(py: Python<'_>, rows: &[Row], asked: &ArrowRequest) -> PyResult<ArrowStream> {
    for row in rows {
        match &row.outcome {
            Outcome::Answered { .. } => {}
            Outcome::Failed(error) if error.matches(&[ResultCode::KeyNotFoundError]) => {}
            Outcome::Failed(error) => return Err(row.raised(py, error)),
            Outcome::Done | Outcome::Record(_) | Outcome::Returned { .. } | Outcome::Value(_) => {
                let text = "to_arrow() is for records: a result of this stream has none";
                return Err(errors::to_py(py, &aerolane::Error::client_error(text)));
            }
        }
    }
    let messages = || {
        rows.iter().map(|row| {
            let identity = row.key.as_ref().map_or_else(Identity::default, |key| Identity::of(key.get()));
            let message = if let Outcome::Answered { body, .. } = &row.outcome { Some(&**body) } else { None };
            (identity, message)
        })
    };
    let columns = py.detach(|| columns::gather(&asked.wanted, asked.batch_rows, asked.sample, messages));
    let (schema, chunks) = columns.map_err(|unfit| errors::to_py(py, &unfit.into()))?;
    Ok(ArrowStream::of_rows(schema, chunks))
}

macro_rules! of_results {
    ($($class:ident)*) => {$(
        to_arrow!(
            /// The remaining results of a query, or of reads by keys, as a stream of Arrow record batches: an `ArrowStream`,
            /// for `to_polars()`, `to_pandas()`, `to_pyarrow()` and everything that reads the Arrow `PyCapsule` interface. The
            /// arguments are those of `Recordset.to_arrow`; without a schema, the types are those of the records. Afterwards
            /// the stream counts as read.
            ///
            /// Of reads by keys there is one row for each result, in order. A result without a record, as
            /// `include_missing_keys()` gives it, is a row of nulls. If another one is not `is_ok`, its error is raised, and the
            /// stream can still be read. Types are those of all records, if `infer_schema_length` does not say otherwise.
            ///
            /// Raises `ClientError` if a result has no record (as that of a delete), if this is what `stream()` gives, if the query
            /// has `chunk_size()`, and if the stream has been read or closed. Also raises the errors of `Recordset.to_arrow`.
            $class, |slf, asked| slf.get().0.to_arrow(slf.py(), &asked)
        );
    )*};
}

of_results!(RecordStream SyncRecordStream);
