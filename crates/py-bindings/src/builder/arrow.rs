//! `to_arrow` of the results of queries.

use pyo3::prelude::*;

use super::stream::{Phase, RecordStream, Results, Source, SyncRecordStream};
use crate::errors;
use crate::query::ArrowStream;
use crate::query::recordset::Recordset;
use crate::query::to_arrow::{ArrowArguments, to_arrow};

impl Results {
    /// What is left of a query as Arrow columns. The stream counts as read then.
    fn to_arrow(&self, py: Python<'_>, asked: &ArrowArguments<'_, '_>) -> PyResult<ArrowStream> {
        self.check(py)?;
        let refused = |text: &'static str| Err(errors::to_py(py, &aerolane::Error::client_error(text)));
        let (records, left) = {
            let state = self.state(py);
            match &state.source {
                Source::Records(chunks) if chunks.chunked => {
                    return refused(
                        "to_arrow() reads a query as a whole: leave out chunk_size(), batch_rows bounds memory",
                    );
                }
                Source::Records(chunks) => match &chunks.records {
                    Some(records) => (records.clone_ref(py), chunks.left),
                    None => return refused("the query of this stream has not begun"),
                },
                _ => {
                    return refused(
                        "to_arrow() is for queries: read records by their keys with client.native.batch_read(keys, as_arrow=True)",
                    );
                }
            }
        };
        let stream = Recordset::arrow(records.bind(py), asked, left)?;
        let mut state = self.state(py);
        state.phase = Phase::Read;
        let before = std::mem::replace(&mut state.source, Source::One(None));
        drop(state);
        drop(before);
        Ok(stream)
    }
}

macro_rules! of_results {
    ($($class:ident)*) => {$(
        to_arrow!(
            /// The remaining results of a query as a stream of Arrow record batches: an `ArrowStream`, for `to_polars()`,
            /// `to_pandas()`, `to_pyarrow()` and everything that reads the Arrow `PyCapsule` interface. The arguments are
            /// those of `Recordset.to_arrow`; without a schema, the types are those of the records. Afterwards the stream
            /// counts as read.
            ///
            /// Raises `ClientError` if this is not the stream of a query, if the query has `chunk_size()`, and if the stream
            /// has been read or closed. Also raises the errors of `Recordset.to_arrow`.
            $class, |slf, asked| slf.get().0.to_arrow(slf.py(), &asked)
        );
    )*};
}

of_results!(RecordStream SyncRecordStream);
