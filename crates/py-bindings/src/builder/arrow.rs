//! `to_arrow` of the results of queries, and of reads by keys.

use std::sync::Arc;

use aerospike_core::ResultCode;
use pyo3::prelude::*;

use super::result::{Outcome, Row};
use super::stream::{Phase, RecordStream, Results, Source, SyncRecordStream};
use crate::columns::{ArrowUnfit, Builder, Chunk, Identity, Inference, Schema};
use crate::errors;
use crate::query::ArrowStream;
use crate::query::recordset::Recordset;
use crate::query::to_arrow::{ArrowArguments, ArrowRequest, to_arrow};

impl Results {
    /// What is left as Arrow columns. The stream counts as read then.
    fn to_arrow(&self, py: Python<'_>, asked: &ArrowArguments<'_, '_>) -> PyResult<ArrowStream> {
        self.check(py)?;
        let refused = |text: &'static str| Err(errors::to_py(py, &aerolane::Error::client_error(text)));
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
                self.replace(py, Source::One(None), Phase::Read);
                Ok(stream)
            }
            Ok(None) => self.rows_to_arrow(py, &asked.checked(py)?),
            Err(text) => refused(text),
        }
    }

    /// The rows of reads by keys. If that fails, they are left to be read one by one.
    fn rows_to_arrow(&self, py: Python<'_>, asked: &ArrowRequest) -> PyResult<ArrowStream> {
        let (mut source, mut rows, mut hidden) =
            (self.replace(py, Source::One(None), Phase::Read), Vec::new(), Vec::new());
        while let Some(row) = source.take(&mut hidden) {
            rows.push(row);
        }
        match gathered(py, &rows, asked) {
            Ok((schema, chunks)) => Ok(ArrowStream::gathered(schema, chunks)),
            Err(error) => {
                self.replace(py, Source::Rows(rows.into_iter()), Phase::Open);
                Err(error)
            }
        }
    }

    fn replace(&self, py: Python<'_>, source: Source, phase: Phase) -> Source {
        let mut state = self.state(py);
        state.phase = phase;
        std::mem::replace(&mut state.source, source)
    }
}

/// The message of a row's record; `None`: there is no record.
fn message(row: &Row) -> Option<&[u8]> {
    if let Outcome::Answered { body, .. } = &row.outcome { Some(body) } else { None }
}

fn identity(row: &Row) -> Identity<'_> {
    row.key.as_ref().map_or_else(Identity::default, |key| {
        let key = key.get();
        Identity { key: key.typed_user_key(), digest: Some(key.digest()) }
    })
}

/// Columns of rows. Raises the failure of the first row that has one; a record that is missing is none.
fn gathered(py: Python<'_>, rows: &[Row], asked: &ArrowRequest) -> PyResult<(Arc<Schema>, Vec<Arc<Chunk>>)> {
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
    let ArrowRequest { wanted, batch_rows, sample } = asked;
    let columns = py.detach(|| {
        let schema = if let Some(schema) = wanted.known() {
            schema
        } else {
            let mut seen = Inference::default();
            let sample = sample.map_or(usize::MAX, |rows| usize::try_from(rows).unwrap_or(usize::MAX));
            for row in rows.iter().take(sample) {
                match message(row) {
                    Some(message) => seen.look(message, Some(identity(row)))?,
                    None => seen.look_at_missing(identity(row))?,
                }
            }
            wanted.settle(&seen).map_err(ArrowUnfit::Misfit)?
        };
        let schema = Arc::new(schema);
        let (mut builder, mut chunks) = (Builder::new(Arc::clone(&schema), *batch_rows), Vec::new());
        for row in rows {
            match message(row) {
                Some(message) => builder.push(message, Some(identity(row)))?,
                None => builder.push_missing(identity(row))?,
            }
            if builder.is_full() {
                chunks.extend(builder.take());
            }
        }
        chunks.extend(builder.take());
        Ok((schema, chunks))
    });
    columns.map_err(|unfit: ArrowUnfit| errors::to_py(py, &unfit.into()))
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
