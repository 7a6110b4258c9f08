//! The records of a query as Arrow columns, gathered when somebody asks for them.

use std::sync::Arc;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use super::recordset::Recordset;
use super::stream::{Stream, Taken};
use crate::client::twin::block_on;
use crate::columns::{Builder, Chunk, Failure, Schema, Source};
use crate::core::ClientCore;
use crate::errors;

/// A query on its way into columns.
pub(super) struct Columns {
    core: Arc<ClientCore>,
    stream: Arc<Stream>,
    /// Keeps the query going.
    recordset: Py<Recordset>,
    builder: Builder,
    /// How it has ended.
    over: Option<Result<(), Failure>>,
}

impl Columns {
    pub(super) fn new(recordset: &Bound<'_, Recordset>, builder: Builder) -> Self {
        let (core, stream) = recordset.get().parts();
        Self { core, stream, recordset: recordset.clone().unbind(), builder, over: None }
    }

    /// Waits for records until there are enough of them, or no more.
    fn gather(&mut self, py: Python<'_>) -> PyResult<()> {
        let (stream, builder) = (&self.stream, &mut self.builder);
        let future = async move {
            while !builder.is_full() {
                match stream.take().1 {
                    Taken::Record(raw) => {
                        let malformed = |e| aerolane::Error::bad_response(format!("a record is malformed: {e}"));
                        builder.push(&raw.body).map_err(malformed)?;
                    }
                    Taken::Nothing => stream.ready().await,
                    Taken::End => return Ok(true),
                    Taken::Failed(error) => return Err(error),
                }
            }
            Ok(false)
        };
        let ended = block_on(py, &self.core, future)?.map_err(|e| errors::to_py(py, &e));
        if !matches!(ended, Ok(false)) {
            self.recordset.get().settle();
        }
        if ended? {
            self.over = Some(Ok(()));
        }
        Ok(())
    }
}

/// An exception, for those who know no Python.
fn failure(py: Python<'_>, error: &PyErr) -> Failure {
    let code = if error.is_instance_of::<PyKeyboardInterrupt>(py) { libc::EINTR } else { libc::EIO };
    Failure { code, text: error.to_string() }
}

impl Source for Columns {
    fn schema(&self) -> &Arc<Schema> {
        self.builder.schema()
    }

    fn next(&mut self) -> Result<Option<Arc<Chunk>>, Failure> {
        if self.over.is_none() {
            let gathered = Python::try_attach(|py| self.gather(py).map_err(|error| failure(py, &error)));
            let shut_down = || Failure { code: libc::EIO, text: "Python is shutting down".to_owned() };
            if let Err(failure) = gathered.unwrap_or_else(|| Err(shut_down())) {
                self.over = Some(Err(failure));
            }
        }
        match (self.builder.take(), &self.over) {
            // What came before an error counts.
            (Some(chunk), _) => Ok(Some(chunk)),
            (None, Some(Err(failure))) => Err(failure.clone()),
            (None, _) => Ok(None),
        }
    }
}
