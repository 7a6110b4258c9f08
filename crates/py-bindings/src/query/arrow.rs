//! Records as a stream of Arrow columns: those of a query, gathered when somebody asks for them, or those of keys, which are there.

use std::sync::{Arc, OnceLock};

use aerolane::sync::Mutex;
use pyo3::exceptions::{PyKeyboardInterrupt, PyStopAsyncIteration, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::gather::{Gatherer, SharedSchema};
use super::recordset::Recordset;
use crate::columns::frames::frames;
use crate::columns::{ArrowRecords, Chunk, Failure, Schema, Source, attached, schema_capsule, stream_capsule};
use crate::command::block_on;
use crate::core::ClientCore;
use crate::{errors, host};

/// The records of a query as a stream of Arrow record batches, as returned by `Recordset.to_arrow(schema)`. Also those that a
/// session has read by their keys: these are in memory already.
///
/// `pyarrow.RecordBatchReader.from_stream(stream)` and everything else that supports the Arrow `PyCapsule` interface
/// can read the record batches without copying them, once. Each batch is collected when the reader asks for it, on the
/// reader's thread, without the GIL. For which values are null, see `ArrowRecords`. If the query fails, the stream ends
/// after the records that had arrived; the reader raises an error of its own (pyarrow: `OSError`) with our message.
///
/// `for part in stream` yields the records in parts of `batch_rows`, each an `ArrowRecords`, and raises errors of the
/// query as they are. In asyncio, `await stream` returns all remaining records as one `ArrowRecords`, held in memory;
/// `async for part in stream` yields them in parts of `batch_rows`. The event loop keeps running meanwhile. Errors of the
/// query are raised there, after the records that had arrived. If a task is cancelled while it waits, nothing is lost:
/// the next reader of the stream gets what was collected.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct ArrowStream {
    /// What it reads; `None`: the records are there.
    query: Option<RunningQuery>,
    /// The columns, as soon as they are known.
    schema: SharedSchema,
    state: Mutex<ReadState>,
}

/// The query of a stream.
struct RunningQuery {
    core: Arc<ClientCore>,
    /// Keeps the query going.
    recordset: Py<Recordset>,
}

/// Who reads the stream.
enum ReadState {
    Unread(Box<Gatherer>),
    /// Tasks of event loops.
    Tasks(Arc<Shared>),
    /// Nobody, or somebody: there is nothing to wait for.
    Gathered(std::vec::IntoIter<Arc<Chunk>>),
    /// It was handed over.
    HandedOver,
}

impl ArrowStream {
    pub(super) fn new(recordset: &Bound<'_, Recordset>, gatherer: Gatherer) -> Self {
        let (core, _) = recordset.get().parts();
        let (schema, state) = (gatherer.schema(), Mutex::new(ReadState::Unread(Box::new(gatherer))));
        Self { query: Some(RunningQuery { core, recordset: recordset.clone().unbind() }), schema, state }
    }

    /// Of records that are there.
    pub(crate) fn gathered(schema: Arc<Schema>, chunks: Vec<Arc<Chunk>>) -> Self {
        let state = Mutex::new(ReadState::Gathered(chunks.into_iter()));
        Self { query: None, schema: SharedSchema::new(OnceLock::from(schema)), state }
    }

    fn query(&self) -> PyResult<&RunningQuery> {
        self.query.as_ref().ok_or_else(read_once)
    }

    /// At most so many of the chunks that are there; `None`: it is a query.
    fn take_gathered(&self, most: usize) -> Option<Vec<Arc<Chunk>>> {
        let ReadState::Gathered(chunks) = &mut *self.state.lock() else { return None };
        Some(chunks.take(most).collect())
    }

    /// All records are going to be held: all of them can settle the types.
    fn whole(&self) {
        if let ReadState::Unread(gatherer) = &mut *self.state.lock() {
            gatherer.look_at_all();
        }
    }

    /// The columns, which the first records may have to settle: the calling thread waits for these.
    fn settled(&self, py: Python<'_>) -> PyResult<Arc<Schema>> {
        if let Some(schema) = self.schema.get() {
            return Ok(Arc::clone(schema));
        }
        let RunningQuery { core, .. } = self.query()?;
        let shared = {
            let mut state = self.state.lock();
            match std::mem::replace(&mut *state, ReadState::HandedOver) {
                ReadState::Unread(mut gatherer) => {
                    drop(state);
                    // Meanwhile others see that it is being read.
                    let settled = block_on(py, core, gatherer.settle());
                    *self.state.lock() = ReadState::Unread(gatherer);
                    return settled?.map_err(|error| errors::to_py(py, &error));
                }
                ReadState::Tasks(shared) => {
                    *state = ReadState::Tasks(Arc::clone(&shared));
                    shared
                }
                ReadState::Gathered(_) | ReadState::HandedOver => return Err(read_once()),
            }
        };
        let settled = async { shared.gatherer.lock().await.settle().await };
        block_on(py, core, settled)?.map_err(|error| errors::to_py(py, &error))
    }

    /// For tasks of event loops.
    fn shared(&self) -> PyResult<Arc<Shared>> {
        let mut state = self.state.lock();
        let shared = match std::mem::replace(&mut *state, ReadState::HandedOver) {
            ReadState::Unread(gatherer) => Arc::new(Shared::new(*gatherer)),
            ReadState::Tasks(shared) => shared,
            ReadState::Gathered(_) | ReadState::HandedOver => return Err(read_once()),
        };
        *state = ReadState::Tasks(Arc::clone(&shared));
        Ok(shared)
    }

    /// The operation of the next part.
    fn anext(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        if let Some(chunks) = this.take_gathered(1) {
            return match this.part(py, chunks)? {
                Some(part) => host::item(py, part),
                None => Err(PyStopAsyncIteration::new_err(())),
            };
        }
        let (query, shared) = (this.query()?, this.shared()?);
        let next = async move {
            let mut parts = ChunksInTransit::new(shared);
            parts.next().await?;
            Ok(parts)
        };
        let slf = slf.clone().unbind();
        host::spawn(py, &query.core, next, move |py, parts: ChunksInTransit| slf.get().arrived(py, parts, false))
    }

    /// What has come, as Python sees it.
    fn arrived(&self, py: Python<'_>, mut parts: ChunksInTransit, all: bool) -> PyResult<Py<PyAny>> {
        if all || parts.chunks.is_empty() {
            self.query()?.recordset.get().settle();
        }
        if !all && parts.chunks.is_empty() {
            return Err(PyStopAsyncIteration::new_err(()));
        }
        self.records(py, std::mem::take(&mut parts.chunks))
    }

    fn records(&self, py: Python<'_>, chunks: Vec<Arc<Chunk>>) -> PyResult<Py<PyAny>> {
        let Some(schema) = self.schema.get() else {
            return Err(errors::to_py(py, &aerolane::Error::client_error("the columns of the stream are not known")));
        };
        Ok(Py::new(py, ArrowRecords::of_query(schema, chunks))?.into_any())
    }

    /// A part, if there is one.
    fn part(&self, py: Python<'_>, chunks: Vec<Arc<Chunk>>) -> PyResult<Option<Py<PyAny>>> {
        if chunks.is_empty() { Ok(None) } else { self.records(py, chunks).map(Some) }
    }
}

fn read_once() -> PyErr {
    PyValueError::new_err("the stream of a query can be read once")
}

frames!(ArrowStream, whole);

#[pymethods]
impl ArrowStream {
    /// Ends the query. Records that were not read are dropped. A second call does nothing.
    fn close(&self, py: Python<'_>) {
        match &self.query {
            Some(query) => query.recordset.get().stop(py),
            None => drop(self.take_gathered(usize::MAX)),
        }
    }

    /// The columns' names and types, of the Arrow `PyCapsule` interface. If the records settle the types, the first of them
    /// are read now, and kept.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.settled(py)?)
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
        let gatherer = {
            let mut state = self.state.lock();
            match std::mem::replace(&mut *state, ReadState::HandedOver) {
                ReadState::Unread(gatherer) => gatherer,
                ReadState::Gathered(chunks) => {
                    drop(state);
                    return ArrowRecords::of_query(&self.settled(py)?, chunks.collect()).stream_capsule(py);
                }
                other => {
                    *state = other;
                    return Err(read_once());
                }
            }
        };
        let RunningQuery { core, recordset } = self.query()?;
        let (core, recordset) = (Arc::clone(core), recordset.clone_ref(py));
        stream_capsule(py, Box::new(Columns { core, recordset, gatherer: *gatherer, failed: None }))
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let (py, this) = (slf.py(), slf.get());
        if let Some(chunks) = this.take_gathered(1) {
            return this.part(py, chunks);
        }
        let (query, shared) = (this.query()?, this.shared()?);
        let next = async {
            let mut parts = ChunksInTransit::new(shared);
            parts.next().await?;
            Ok(parts)
        };
        let parts = block_on(py, &query.core, next)?.map_err(|error: aerolane::Error| errors::to_py(py, &error))?;
        if parts.chunks.is_empty() {
            query.recordset.get().settle();
            return Ok(None);
        }
        this.arrived(py, parts, false).map(Some)
    }

    fn __aiter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __anext__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        Self::anext(slf).or_else(|error| host::failed(slf.py(), error))
    }

    fn __await__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        if let Some(chunks) = this.take_gathered(usize::MAX) {
            return host::ready(py, this.records(py, chunks)?)?.call_method0(py, "__await__");
        }
        let (query, shared) = (this.query()?, this.shared()?);
        let all = async move {
            shared.gatherer.lock().await.look_at_all();
            let mut parts = ChunksInTransit::new(shared);
            while parts.next().await? {}
            Ok(parts)
        };
        let slf = slf.clone().unbind();
        let all =
            host::spawn(py, &query.core, all, move |py, parts: ChunksInTransit| slf.get().arrived(py, parts, true))?;
        all.call_method0(py, "__await__")
    }

    fn __repr__(&self) -> String {
        let state = match &*self.state.lock() {
            ReadState::Unread(_) => "not read yet",
            ReadState::Gathered(chunks) if chunks.len() > 0 => "not read yet",
            ReadState::Tasks(_) | ReadState::Gathered(_) => "being read",
            ReadState::HandedOver => "handed over",
        };
        match self.schema.get() {
            Some(schema) => format!("<ArrowStream of {} columns, {state}>", schema.len()),
            None => format!("<ArrowStream, {state}>"),
        }
    }
}

/// What the tasks that read a stream share.
struct Shared {
    gatherer: tokio::sync::Mutex<Gatherer>,
    /// Chunks that have come to nobody: their tasks were cancelled.
    returned: Mutex<Vec<Arc<Chunk>>>,
}

impl Shared {
    fn new(gatherer: Gatherer) -> Self {
        Self { gatherer: tokio::sync::Mutex::new(gatherer), returned: Mutex::default() }
    }

    fn returned(&self) -> Option<Arc<Chunk>> {
        self.returned.lock().pop()
    }

    async fn next(&self) -> Result<Option<Arc<Chunk>>, aerolane::Error> {
        if let Some(chunk) = self.returned() {
            return Ok(Some(chunk));
        }
        let mut gatherer = self.gatherer.lock().await;
        match gatherer.next().await? {
            None => Ok(self.returned()),
            chunk => Ok(chunk),
        }
    }
}

/// Chunks that were taken for a task. If it does not get them (it was cancelled), the stream takes them back.
struct ChunksInTransit {
    shared: Arc<Shared>,
    chunks: Vec<Arc<Chunk>>,
}

impl ChunksInTransit {
    fn new(shared: Arc<Shared>) -> Self {
        Self { shared, chunks: Vec::new() }
    }

    /// Takes one more; false: there is none.
    async fn next(&mut self) -> Result<bool, aerolane::Error> {
        let chunk = self.shared.next().await?;
        let more = chunk.is_some();
        self.chunks.extend(chunk);
        Ok(more)
    }
}

impl Drop for ChunksInTransit {
    fn drop(&mut self) {
        if !self.chunks.is_empty() {
            self.shared.returned.lock().append(&mut self.chunks);
        }
    }
}

/// A query on its way into columns, for readers that know the Arrow interface.
struct Columns {
    core: Arc<ClientCore>,
    /// Keeps the query going.
    recordset: Py<Recordset>,
    gatherer: Gatherer,
    failed: Option<Failure>,
}

/// An exception, for those who know no Python.
fn failure(py: Python<'_>, error: &PyErr) -> Failure {
    let code = if error.is_instance_of::<PyKeyboardInterrupt>(py) { libc::EINTR } else { libc::EIO };
    Failure { code, text: error.to_string() }
}

impl Columns {
    /// What `ask` gives. An error is given again each time.
    fn ask<'a, R: Send, F: Future<Output = Result<R, aerolane::Error>> + Send>(
        &'a mut self,
        ask: impl FnOnce(&'a mut Gatherer) -> F,
        is_end: impl FnOnce(&R) -> bool,
    ) -> Result<R, Failure> {
        let Self { core, recordset, gatherer, failed } = self;
        if let Some(failure) = failed {
            return Err(failure.clone());
        }
        let asked = attached(|py| {
            let given = block_on(py, core, ask(gatherer)).and_then(|given| given.map_err(|e| errors::to_py(py, &e)));
            if !given.as_ref().is_ok_and(|given| !is_end(given)) {
                recordset.get().settle();
            }
            given.map_err(|error| failure(py, &error))
        });
        let shut_down = || Failure { code: libc::EIO, text: "Python is shutting down".to_owned() };
        let asked = asked.unwrap_or_else(|| Err(shut_down()));
        *failed = asked.as_ref().err().cloned();
        asked
    }
}

impl Source for Columns {
    fn schema(&mut self) -> Result<Arc<Schema>, Failure> {
        if let Some(schema) = self.gatherer.schema().get() {
            return Ok(Arc::clone(schema));
        }
        self.ask(Gatherer::settle, |_| false)
    }

    fn next(&mut self) -> Result<Option<Arc<Chunk>>, Failure> {
        self.ask(Gatherer::next, Option::is_none)
    }
}
