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
    /// The columns, as soon as they are known.
    schema: SharedSchema,
    records: Records,
}

/// Where records come from.
enum Records {
    Query(RunningQuery),
    /// They are there; `None`: they were handed over.
    Rows(Mutex<Option<std::vec::IntoIter<Arc<Chunk>>>>),
}

struct RunningQuery {
    core: Arc<ClientCore>,
    /// Keeps the query going.
    recordset: Py<Recordset>,
    state: Mutex<ReadState>,
}

/// Who reads a query.
enum ReadState {
    Unread(Box<Gatherer>),
    /// Tasks of event loops.
    Tasks(Arc<Shared>),
    /// It was handed over.
    HandedOver,
}

impl RunningQuery {
    /// The columns, which the first records settle: the calling thread waits for these.
    fn settled(&self, py: Python<'_>) -> PyResult<Arc<Schema>> {
        let shared = {
            let mut state = self.state.lock();
            match std::mem::replace(&mut *state, ReadState::HandedOver) {
                ReadState::Unread(mut gatherer) => {
                    drop(state);
                    // Meanwhile others see that it is being read.
                    let settled = block_on(py, &self.core, gatherer.settle());
                    *self.state.lock() = ReadState::Unread(gatherer);
                    return settled?.map_err(|error| errors::to_py(py, &error));
                }
                ReadState::Tasks(shared) => {
                    *state = ReadState::Tasks(Arc::clone(&shared));
                    shared
                }
                ReadState::HandedOver => return Err(read_once()),
            }
        };
        let settled = async { shared.gatherer.lock().await.settle().await };
        block_on(py, &self.core, settled)?.map_err(|error| errors::to_py(py, &error))
    }

    /// For tasks of event loops.
    fn shared(&self) -> PyResult<Arc<Shared>> {
        let mut state = self.state.lock();
        let shared = match std::mem::replace(&mut *state, ReadState::HandedOver) {
            ReadState::Unread(gatherer) => Arc::new(Shared::new(*gatherer)),
            ReadState::Tasks(shared) => shared,
            ReadState::HandedOver => return Err(read_once()),
        };
        *state = ReadState::Tasks(Arc::clone(&shared));
        Ok(shared)
    }

    /// For a reader that knows the Arrow interface.
    fn hand_over(&self, py: Python<'_>) -> PyResult<Columns> {
        let gatherer = {
            let mut state = self.state.lock();
            match std::mem::replace(&mut *state, ReadState::HandedOver) {
                ReadState::Unread(gatherer) => gatherer,
                other => {
                    *state = other;
                    return Err(read_once());
                }
            }
        };
        let (core, recordset) = (Arc::clone(&self.core), self.recordset.clone_ref(py));
        Ok(Columns { core, recordset, gatherer: *gatherer, failed: None })
    }
}

impl ArrowStream {
    pub(super) fn new(recordset: &Bound<'_, Recordset>, gatherer: Gatherer) -> Self {
        let (core, _) = recordset.get().parts();
        let (schema, state) = (gatherer.schema(), Mutex::new(ReadState::Unread(Box::new(gatherer))));
        Self { schema, records: Records::Query(RunningQuery { core, recordset: recordset.clone().unbind(), state }) }
    }

    /// Of records that are there.
    pub(crate) fn of_rows(schema: Arc<Schema>, chunks: Vec<Arc<Chunk>>) -> Self {
        let records = Records::Rows(Mutex::new(Some(chunks.into_iter())));
        Self { schema: SharedSchema::new(OnceLock::from(schema)), records }
    }

    /// All records are going to be held: all of them can settle the types.
    fn whole(&self) {
        if let Records::Query(query) = &self.records
            && let ReadState::Unread(gatherer) = &mut *query.state.lock()
        {
            gatherer.look_at_all();
        }
    }

    /// The operation of the next part.
    fn anext(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let query = match &this.records {
            Records::Query(query) => query,
            Records::Rows(left) => {
                let part = this.part(py, take(left, 1)?)?;
                return part.map_or_else(|| Err(PyStopAsyncIteration::new_err(())), |part| host::item(py, part));
            }
        };
        let shared = query.shared()?;
        let next = async move {
            let mut parts = ChunksInTransit::new(shared);
            parts.next().await?;
            Ok(parts)
        };
        let slf = slf.clone().unbind();
        host::spawn(py, &query.core, next, move |py, parts: ChunksInTransit| {
            let part = slf.get().came(py, parts)?;
            part.ok_or_else(|| PyStopAsyncIteration::new_err(()))
        })
    }

    /// The part that has come of a query, if there was one.
    fn came(&self, py: Python<'_>, mut parts: ChunksInTransit) -> PyResult<Option<Py<PyAny>>> {
        let part = self.part(py, std::mem::take(&mut parts.chunks))?;
        if part.is_none() {
            self.settle();
        }
        Ok(part)
    }

    /// The query has ended: its partition filter keeps where.
    fn settle(&self) {
        if let Records::Query(query) = &self.records {
            query.recordset.get().settle();
        }
    }

    fn part(&self, py: Python<'_>, chunks: Vec<Arc<Chunk>>) -> PyResult<Option<Py<PyAny>>> {
        if chunks.is_empty() { Ok(None) } else { self.all(py, chunks).map(Some) }
    }

    fn all(&self, py: Python<'_>, chunks: Vec<Arc<Chunk>>) -> PyResult<Py<PyAny>> {
        Ok(Py::new(py, self.gathered(py, chunks)?)?.into_any())
    }

    fn gathered(&self, py: Python<'_>, chunks: Vec<Arc<Chunk>>) -> PyResult<ArrowRecords> {
        let Some(schema) = self.schema.get() else {
            return Err(errors::to_py(py, &aerolane::Error::client_error("the columns of the stream are not known")));
        };
        Ok(ArrowRecords::of_query(schema, chunks))
    }
}

/// At most so many chunks.
fn take(left: &Mutex<Option<std::vec::IntoIter<Arc<Chunk>>>>, most: usize) -> PyResult<Vec<Arc<Chunk>>> {
    left.lock().as_mut().map(|chunks| chunks.take(most).collect()).ok_or_else(read_once)
}

fn read_once() -> PyErr {
    PyValueError::new_err("the stream of a query can be read once")
}

frames!(ArrowStream, whole);

#[pymethods]
impl ArrowStream {
    /// Ends the query, if it is one. Records that were not read are dropped. A second call does nothing.
    fn close(&self, py: Python<'_>) {
        match &self.records {
            Records::Query(query) => query.recordset.get().stop(py),
            Records::Rows(left) => drop(take(left, usize::MAX)),
        }
    }

    /// The columns' names and types, of the Arrow `PyCapsule` interface. If the records settle the types, the first of them
    /// are read now, and kept.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = match (self.schema.get(), &self.records) {
            (Some(schema), _) => Arc::clone(schema),
            (None, Records::Query(query)) => query.settled(py)?,
            (None, Records::Rows(_)) => return Err(read_once()),
        };
        schema_capsule(py, &schema)
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
        match &self.records {
            Records::Query(query) => stream_capsule(py, Box::new(query.hand_over(py)?)),
            Records::Rows(left) => {
                let chunks = left.lock().take().ok_or_else(read_once)?;
                self.gathered(py, chunks.collect())?.stream_capsule(py)
            }
        }
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let query = match &self.records {
            Records::Query(query) => query,
            Records::Rows(left) => return self.part(py, take(left, 1)?),
        };
        let shared = query.shared()?;
        let next = async {
            let mut parts = ChunksInTransit::new(shared);
            parts.next().await?;
            Ok(parts)
        };
        let parts = block_on(py, &query.core, next)?.map_err(|error: aerolane::Error| errors::to_py(py, &error))?;
        self.came(py, parts)
    }

    fn __aiter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __anext__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        Self::anext(slf).or_else(|error| host::failed(slf.py(), error))
    }

    fn __await__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let query = match &this.records {
            Records::Query(query) => query,
            Records::Rows(left) => {
                let all = this.all(py, take(left, usize::MAX)?)?;
                return host::ready(py, all)?.call_method0(py, "__await__");
            }
        };
        let shared = query.shared()?;
        let all = async move {
            shared.gatherer.lock().await.look_at_all();
            let mut parts = ChunksInTransit::new(shared);
            while parts.next().await? {}
            Ok(parts)
        };
        let slf = slf.clone().unbind();
        let all = host::spawn(py, &query.core, all, move |py, mut parts: ChunksInTransit| {
            slf.get().settle();
            slf.get().all(py, std::mem::take(&mut parts.chunks))
        })?;
        all.call_method0(py, "__await__")
    }

    fn __repr__(&self) -> String {
        let state = match &self.records {
            Records::Query(query) => match &*query.state.lock() {
                ReadState::Unread(_) => "not read yet",
                ReadState::Tasks(_) => "being read",
                ReadState::HandedOver => "handed over",
            },
            Records::Rows(left) => match &*left.lock() {
                Some(chunks) if chunks.len() > 0 => "not read yet",
                Some(_) => "being read",
                None => "handed over",
            },
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
