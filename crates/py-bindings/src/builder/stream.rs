//! `RecordStream`: the results of a chain, to be read once.

use std::sync::Arc;
use std::task::Poll;

use aerolane::Error;
use aerolane::batch::FailureSummary;
use aerolane::sync::Mutex;
use aerospike_core::QueryPolicy;
use pyo3::exceptions::PyStopAsyncIteration;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::answers::Answers;
use super::execute::empty;
use super::live::LiveRows;
use super::result::{RecordResult, Row};
use super::surface::Surface;
use crate::batch::results::raised;
use crate::core::ClientCore;
use crate::instance::Instance;
use crate::lock::LockAttached;
use crate::query::recordset::Recordset;
use crate::query::statement::QuerySpec;
use crate::query::{PartitionFilter, commands as query};
use crate::record::Record;
use crate::{errors, host};

/// Where results come from.
pub(super) enum Source {
    /// One that is there, or none.
    One(Option<Row>),
    /// Some that are there.
    Rows(std::vec::IntoIter<Row>),
    /// Those of a batch.
    Batch(Box<Answers>),
    /// A query, which may be one of several.
    Records(Box<Chunks>),
    /// Rows that come as nodes answer.
    Live(Arc<LiveRows>),
}

impl Source {
    /// The next one that is there; `hidden`: where those before go that the caller does not see, to be dropped without a lock.
    #[inline]
    pub(super) fn take(&mut self, hidden: &mut Vec<Row>) -> Option<Row> {
        match self {
            Self::One(row) => row.take(),
            Self::Rows(rows) => rows.next(),
            Self::Batch(answers) => answers.next(hidden, |row| row),
            Self::Records(_) | Self::Live(_) => None,
        }
    }
}

/// The records of a query that is read in chunks, or of one that is not.
pub(super) struct Chunks {
    core: Arc<ClientCore>,
    asked: QuerySpec,
    policy: Arc<QueryPolicy>,
    filter: Py<PartitionFilter>,
    /// Whether others may follow.
    pub(super) chunked: bool,
    /// How many records are left to be given; `None`: no limit.
    pub(super) left: Option<u64>,
    pub(super) records: Option<Py<Recordset>>,
}

impl Chunks {
    pub(super) fn new(
        core: Arc<ClientCore>,
        asked: QuerySpec,
        policy: Arc<QueryPolicy>,
        filter: Py<PartitionFilter>,
        chunk_size: Option<u64>,
        limit: Option<u64>,
    ) -> Self {
        Self { core, asked, policy, filter, chunked: chunk_size.is_some(), left: limit, records: None }
    }

    /// With the records of the chunk that is being read, behind which the next one begins.
    pub(super) fn with(self, py: Python<'_>, records: Py<Recordset>) -> Self {
        Self { filter: records.get().partition_filter_sync(py), records: Some(records), ..self }
    }
}

/// How far a stream has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Open,
    /// To its end.
    Read,
    Closed,
}

pub(super) struct State {
    pub(super) source: Source,
    pub(super) phase: Phase,
    /// `has_more_chunks` has not been asked yet.
    first_chunk: bool,
}

/// The results of a chain. Its lock is never held while Python code can run.
pub(super) struct Results(Mutex<State>);

/// What comes next.
enum Next {
    Result(Option<Py<RecordResult>>),
    /// What this query gives.
    Of(Py<Recordset>),
    /// What comes of these rows.
    Live(Arc<LiveRows>),
}

impl Results {
    #[inline]
    pub(super) fn new(source: Source) -> Self {
        Self(Mutex::new(State { source, phase: Phase::Open, first_chunk: true }))
    }

    pub(super) fn state(&self, py: Python<'_>) -> aerolane::sync::MutexGuard<'_, State> {
        self.0.lock_py_attached(py)
    }

    /// See [`Instance`].
    #[cfg(Py_GIL_DISABLED)]
    #[inline]
    fn let_go(&mut self, py: Python<'_>) -> bool {
        let Source::One(row) = &mut self.0.get_mut().source else { return false };
        let Some(Row { key, outcome, .. }) = row else { return true };
        if let Some(key) = key.take() {
            drop(key.into_bound(py));
        }
        matches!(outcome, super::result::Outcome::Done | super::result::Outcome::Answered { .. })
    }

    /// Refuses to begin once more.
    pub(super) fn check(&self, py: Python<'_>) -> PyResult<()> {
        let text = match self.0.lock_py_attached(py).phase {
            Phase::Open => return Ok(()),
            Phase::Read => {
                "this stream has been read to its end, and gives its results once: keep the list of collect(), or execute again"
            }
            Phase::Closed => "this stream has been closed: read it before that, or execute again",
        };
        Err(errors::to_py(py, &aerolane::Error::client_error(text)))
    }

    #[inline]
    fn next(&self, py: Python<'_>) -> PyResult<Next> {
        let mut hidden = Vec::new();
        let mut state = self.0.lock_py_attached(py);
        if state.phase == Phase::Closed {
            return Ok(Next::Result(None));
        }
        if let Source::Records(chunks) = &state.source {
            let records =
                chunks.records.as_ref().filter(|_| chunks.left != Some(0)).map(|records| records.clone_ref(py));
            return Ok(match records {
                Some(records) => Next::Of(records),
                None => Next::Result(None),
            });
        }
        if let Source::Live(rows) = &state.source {
            return Ok(Next::Live(Arc::clone(rows)));
        }
        let row = state.source.take(&mut hidden);
        if row.is_none() {
            state.phase = Phase::Read;
        }
        // An object that is made may set off the garbage collector.
        drop(state);
        Ok(Next::Result(row.map(|row| row.into_python(py)).transpose()?))
    }

    /// A record has come of the query, or its end.
    fn came(&self, py: Python<'_>, record: bool) {
        let mut state = self.0.lock_py_attached(py);
        if let Source::Records(chunks) = &mut state.source
            && let Some(left) = &mut chunks.left
            && record
        {
            *left = left.saturating_sub(1);
        }
        if !record && state.phase == Phase::Open {
            state.phase = Phase::Read;
        }
    }

    /// The next result, for the calling thread to wait for.
    fn next_blocking(&self, py: Python<'_>) -> PyResult<Option<Py<RecordResult>>> {
        let row = match self.next(py)? {
            Next::Result(Some(result)) => return Ok(Some(result)),
            Next::Result(None) => None,
            Next::Of(records) => {
                let record = records.get().next_blocking(py)?;
                self.came(py, record.is_some());
                record.map(|record| Row::of_query(py, record))
            }
            Next::Live(rows) => rows.next_blocking(py)?,
        };
        if row.is_none() {
            self.came(py, false);
        }
        row.map(|row| row.into_python(py)).transpose()
    }

    /// All that is left, for the calling thread to wait for.
    fn rest_blocking(&self, py: Python<'_>) -> PyResult<Vec<Py<RecordResult>>> {
        let mut all = self.rest_of_batch(py)?;
        while let Some(result) = self.next_blocking(py)? {
            all.push(result);
        }
        Ok(all)
    }

    /// What is left of the rows of a batch, taken out as a whole.
    fn rest_of_batch(&self, py: Python<'_>) -> PyResult<Vec<Py<RecordResult>>> {
        let mut state = self.0.lock_py_attached(py);
        if !matches!(state.source, Source::Batch(_)) {
            return Ok(Vec::new());
        }
        let source = std::mem::replace(&mut state.source, Source::One(None));
        drop(state);
        let Source::Batch(mut answers) = source else { return Ok(Vec::new()) };
        let (mut all, mut hidden) = (Vec::with_capacity(answers.left()), Vec::new());
        while let Some(result) = answers.next(&mut hidden, |row| row.into_python(py)) {
            all.push(result?);
        }
        Ok(all)
    }

    pub(super) fn close(&self, py: Python<'_>) {
        let mut state = self.0.lock_py_attached(py);
        state.phase = Phase::Closed;
        let source = std::mem::replace(&mut state.source, Source::One(None));
        drop(state);
        match source {
            Source::Records(chunks) => {
                if let Some(records) = &chunks.records {
                    records.get().stop(py);
                }
            }
            Source::Live(rows) => rows.close(py),
            Source::One(_) | Source::Rows(_) | Source::Batch(_) => {}
        }
    }

    /// The next chunk, if there may be one: what to ask for it. `Err`: what is known already.
    fn next_chunk(&self, py: Python<'_>) -> Result<Chunks, bool> {
        let mut state = self.0.lock_py_attached(py);
        if std::mem::take(&mut state.first_chunk) {
            return Err(true);
        }
        let closed = state.phase == Phase::Closed;
        let Source::Records(chunks) = &state.source else { return Err(false) };
        if closed || !chunks.chunked || chunks.left == Some(0) {
            return Err(false);
        }
        Ok(Chunks {
            core: Arc::clone(&chunks.core),
            asked: chunks.asked.clone(),
            policy: Arc::clone(&chunks.policy),
            filter: chunks.filter.clone_ref(py),
            chunked: true,
            left: chunks.left,
            records: None,
        })
    }

    fn put_chunk(&self, py: Python<'_>, chunks: Chunks) {
        let mut state = self.0.lock_py_attached(py);
        if state.phase == Phase::Closed {
            return;
        }
        state.phase = Phase::Open;
        let before = std::mem::replace(&mut state.source, Source::Records(Box::new(chunks)));
        drop(state);
        drop(before);
    }
}

/// A list as a result.
fn listed(py: Python<'_>, results: Vec<Py<RecordResult>>) -> PyResult<Py<PyAny>> {
    Ok(PyList::new(py, results)?.into_any().unbind())
}

fn truth(py: Python<'_>, truth: bool) -> PyResult<Py<PyAny>> {
    Ok(truth.into_pyobject(py)?.to_owned().into_any().unbind())
}

/// What is made of the next result.
fn popped(py: Python<'_>, result: Option<Py<RecordResult>>, or_raise: bool) -> PyResult<Py<PyAny>> {
    match result {
        None if or_raise => Err(empty(py)),
        None => Ok(py.None()),
        Some(result) => {
            if or_raise {
                result.get().check(py)?;
            }
            Ok(result.into_any())
        }
    }
}

/// Whether more chunks are to come, as a command: it starts the query of the next one.
fn more<T>(py: Python<'_>, stream: Py<T>, of: fn(&T) -> &Results, surface: Surface) -> PyResult<Py<PyAny>>
where
    T: pyo3::PyClass<Frozen = pyo3::pyclass::boolean_struct::True> + Send + Sync,
{
    let chunks = match of(stream.get()).next_chunk(py) {
        Err(known) => return surface.ready(py, truth(py, known)?),
        Ok(chunks) => chunks,
    };
    if chunks.filter.get().cursor(py)?.is_done() {
        return surface.ready(py, truth(py, false)?);
    }
    let (core, filter) = (Arc::clone(&chunks.core), chunks.filter.clone_ref(py));
    let (asked, policy) = (chunks.asked.clone(), Arc::clone(&chunks.policy));
    let executable = query::read(py, &core, asked, Some(filter.bind(py)), policy, move |py, records| {
        of(stream.get()).put_chunk(py, chunks.with(py, records));
        truth(py, true)
    })?;
    surface.carry_out(py, &core, executable)
}

/// The results of a chain, for asyncio. Iterate over it with `async for`, or call one of its methods. It can be read
/// once.
///
/// Queries and `stream()` return results as they arrive. Leaving the stream as a context manager, or calling `close()`,
/// stops them; writes that were sent before may still be executed.
#[pyclass(frozen, module = "aerolane")]
pub(crate) struct RecordStream(pub(super) Results);

/// The results of a chain. Iterate over it with `for`, or call one of its methods. It can be read once.
///
/// Queries and `stream()` return results as they arrive. Leaving the stream as a context manager, or calling `close()`,
/// stops them; writes that were sent before may still be executed.
#[pyclass(frozen, name = "RecordStream", module = "aerolane.sync")]
pub(crate) struct SyncRecordStream(pub(super) Results);

impl Instance for RecordStream {
    #[cfg(Py_GIL_DISABLED)]
    #[inline]
    fn let_go(&mut self, py: Python<'_>) -> bool {
        self.0.let_go(py)
    }
}

impl Instance for SyncRecordStream {
    #[cfg(Py_GIL_DISABLED)]
    #[inline]
    fn let_go(&mut self, py: Python<'_>) -> bool {
        self.0.let_go(py)
    }
}

impl RecordStream {
    /// The operation of what `made` makes of the next result.
    fn next_as(
        slf: &Bound<'_, Self>,
        ready: host::Ready,
        made: impl FnOnce(Python<'_>, Option<Py<RecordResult>>) -> PyResult<Py<PyAny>> + Send + 'static,
    ) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let result = match slf.get().0.next(py)? {
            Next::Of(records) => {
                let stream = slf.clone().unbind();
                return Recordset::next_as(records.bind(py), ready, move |py, record: Option<Py<Record>>| {
                    stream.get().0.came(py, record.is_some());
                    made(py, record.map(|record| Row::of_query(py, record).into_python(py)).transpose()?)
                });
            }
            Next::Live(rows) => match rows.take(py)? {
                Poll::Ready(row) => row.map(|row| row.into_python(py)).transpose()?,
                Poll::Pending => {
                    let stream = slf.clone().unbind();
                    return rows.gather(py, false, move |py, mut rows| {
                        let row = rows.pop();
                        if row.is_none() {
                            stream.get().0.came(py, false);
                        }
                        made(py, row.map(|row| row.into_python(py)).transpose()?)
                    });
                }
            },
            Next::Result(result) => result,
        };
        if result.is_none() {
            slf.get().0.came(py, false);
        }
        ready(py, made(py, result)?)
    }

    /// The operation of what `made` makes of all results that are left.
    fn rest_as(
        slf: &Bound<'_, Self>,
        made: impl FnOnce(Python<'_>, Vec<Py<RecordResult>>) -> PyResult<Py<PyAny>> + Send + 'static,
    ) -> PyResult<Py<PyAny>> {
        let (py, this) = (slf.py(), &slf.get().0);
        let mut all = this.rest_of_batch(py)?;
        loop {
            match this.next(py)? {
                Next::Result(Some(result)) => all.push(result),
                Next::Result(None) => {
                    this.came(py, false);
                    return host::ready(py, made(py, all)?);
                }
                Next::Live(rows) => {
                    let stream = slf.clone().unbind();
                    return rows.gather(py, true, move |py, rows| {
                        stream.get().0.came(py, false);
                        let results = rows.into_iter().map(|row| row.into_python(py)).collect::<PyResult<Vec<_>>>()?;
                        made(py, results)
                    });
                }
                Next::Of(records) => {
                    let (stream, most) = (slf.clone().unbind(), this.left(py));
                    return Recordset::rest_as(records.bind(py), most, move |py, records| {
                        let this = &stream.get().0;
                        let results = records.into_iter().map(|record| {
                            this.came(py, true);
                            Row::of_query(py, record).into_python(py)
                        });
                        let results = results.collect::<PyResult<Vec<_>>>()?;
                        this.came(py, false);
                        made(py, results)
                    });
                }
            }
        }
    }
}

impl Results {
    /// How many records are left to be given.
    fn left(&self, py: Python<'_>) -> Option<u64> {
        match &self.0.lock_py_attached(py).source {
            Source::Records(chunks) => chunks.left,
            _ => None,
        }
    }
}

#[pymethods]
impl RecordStream {
    /// Itself. Raises `ClientError` for a stream that has been read, or closed.
    fn __aiter__(slf: Py<Self>, py: Python<'_>) -> PyResult<Py<Self>> {
        slf.get().0.check(py)?;
        Ok(slf)
    }

    fn __anext__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        Self::next_as(slf, host::item, |_, result| match result {
            Some(result) => Ok(result.into_any()),
            None => Err(PyStopAsyncIteration::new_err(())),
        })
        .or_else(|error| host::failed(slf.py(), error))
    }

    /// Starts the next chunk of a query with `chunk_size()`, and returns whether there is one. The first call always
    /// returns `True`. Awaitable. Use it as `while await stream.has_more_chunks(): async for result in stream: ...`.
    fn has_more_chunks(slf: Py<Self>, py: Python<'_>) -> PyResult<Py<PyAny>> {
        host::at_await(py, "has_more_chunks", || more(py, slf, |stream| &stream.0, Surface::Async))
    }

    /// Returns the next result, or `None` at the end. Leaves the stream open. Awaitable.
    fn pop(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        host::at_await(slf.py(), "pop", || Self::next_as(slf, host::ready, |py, result| popped(py, result, false)))
    }

    /// Returns the next result, or raises its failure. Raises `RecordNotFoundError` at the end. Leaves the stream open.
    /// Awaitable.
    fn pop_or_raise(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        host::at_await(slf.py(), "pop_or_raise", || {
            Self::next_as(slf, host::ready, |py, result| popped(py, result, true))
        })
    }

    /// Returns the next result, or `None` at the end, and closes the stream. Awaitable.
    fn first(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        host::at_await(py, "first", || {
            slf.get().0.check(py)?;
            let stream = slf.clone().unbind();
            Self::next_as(slf, host::ready, move |py, result| {
                stream.get().0.close(py);
                popped(py, result, false)
            })
        })
    }

    /// Returns the next result, or raises its failure, and closes the stream. Raises `RecordNotFoundError` at the end.
    /// Awaitable.
    fn first_or_raise(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        host::at_await(py, "first_or_raise", || {
            slf.get().0.check(py)?;
            let stream = slf.clone().unbind();
            Self::next_as(slf, host::ready, move |py, result| {
                stream.get().0.close(py);
                popped(py, result, true)
            })
        })
    }

    /// Returns the first value that a function returned, or `None`, and closes the stream. Awaitable.
    fn first_udf_result(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        host::at_await(py, "first_udf_result", || {
            slf.get().0.check(py)?;
            Self::rest_as(slf, first_udf_result)
        })
    }

    /// Returns a list of all remaining results. Awaitable.
    fn collect(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        host::at_await(py, "collect", || {
            slf.get().0.check(py)?;
            Self::rest_as(slf, listed)
        })
    }

    /// Returns a list of the failures among all remaining results. Awaitable.
    fn failures(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        host::at_await(py, "failures", || {
            slf.get().0.check(py)?;
            Self::rest_as(slf, failures)
        })
    }

    /// Returns a list of all remaining results, or raises `BatchFailedError` if there are failures among them; its
    /// `records` are the failures. Awaitable.
    fn raise_for_failures(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        host::at_await(py, "raise_for_failures", || {
            slf.get().0.check(py)?;
            Self::rest_as(slf, without_failures)
        })
    }

    /// Stops a running query and drops the remaining results. Calling it again does nothing.
    fn close(&self, py: Python<'_>) {
        self.0.close(py);
    }

    fn __aenter__(slf: Py<Self>, py: Python<'_>) -> PyResult<Py<PyAny>> {
        host::ready(py, slf.into_any())
    }

    #[pyo3(signature = (*_exception))]
    fn __aexit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.0.close(py);
        host::ready(py, truth(py, false)?)
    }
}

fn failures(py: Python<'_>, results: Vec<Py<RecordResult>>) -> PyResult<Py<PyAny>> {
    listed(py, results.into_iter().filter(|result| !result.get().is_ok()).collect())
}

/// All of them, if none is a failure.
fn without_failures(py: Python<'_>, results: Vec<Py<RecordResult>>) -> PyResult<Py<PyAny>> {
    let mut summary = FailureSummary::default();
    for (place, result) in results.iter().enumerate() {
        if let Some(error) = result.get().failure() {
            let row = result.get().place().unwrap_or(place);
            summary.add(row, Error::server_result_code(error), Some(error), error.in_doubt());
        }
    }
    if summary.is_empty() {
        return listed(py, results);
    }
    let rows = results.len();
    let failed = failures(py, results)?;
    Err(raised(py, &summary, rows, failed.bind(py)))
}

fn first_udf_result(py: Python<'_>, results: Vec<Py<RecordResult>>) -> PyResult<Py<PyAny>> {
    for result in results {
        if let Some(value) = result.get().udf_result(py)?.filter(|value| !value.is_none()) {
            return Ok(value.unbind());
        }
    }
    Ok(py.None())
}

#[pymethods]
impl SyncRecordStream {
    /// Itself. Raises `ClientError` for a stream that has been read, or closed.
    fn __iter__(slf: Py<Self>, py: Python<'_>) -> PyResult<Py<Self>> {
        slf.get().0.check(py)?;
        Ok(slf)
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<RecordResult>>> {
        self.0.next_blocking(py)
    }

    /// Starts the next chunk of a query with `chunk_size()`, and returns whether there is one. The first call always
    /// returns `True`. Use it as `while stream.has_more_chunks(): for result in stream: ...`.
    fn has_more_chunks(slf: Py<Self>, py: Python<'_>) -> PyResult<Py<PyAny>> {
        more(py, slf, |stream| &stream.0, Surface::Sync)
    }

    /// Returns the next result, or `None` at the end. Leaves the stream open.
    fn pop(&self, py: Python<'_>) -> PyResult<Option<Py<RecordResult>>> {
        self.0.next_blocking(py)
    }

    /// Returns the next result, or raises its failure. Raises `RecordNotFoundError` at the end. Leaves the stream open.
    fn pop_or_raise(&self, py: Python<'_>) -> PyResult<Py<RecordResult>> {
        let result = self.0.next_blocking(py)?.ok_or_else(|| empty(py))?;
        result.get().check(py)?;
        Ok(result)
    }

    /// Returns the next result, or `None` at the end, and closes the stream.
    fn first(&self, py: Python<'_>) -> PyResult<Option<Py<RecordResult>>> {
        self.0.check(py)?;
        let first = self.0.next_blocking(py);
        self.0.close(py);
        first
    }

    /// Returns the next result, or raises its failure, and closes the stream. Raises `RecordNotFoundError` at the end.
    fn first_or_raise(&self, py: Python<'_>) -> PyResult<Py<RecordResult>> {
        let result = self.first(py)?.ok_or_else(|| empty(py))?;
        result.get().check(py)?;
        Ok(result)
    }

    /// Returns the first value that a function returned, or `None`, and closes the stream.
    fn first_udf_result(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.0.check(py)?;
        first_udf_result(py, self.0.rest_blocking(py)?)
    }

    /// Returns a list of all remaining results.
    fn collect(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.0.check(py)?;
        listed(py, self.0.rest_blocking(py)?)
    }

    /// Returns a list of the failures among all remaining results.
    fn failures(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.0.check(py)?;
        failures(py, self.0.rest_blocking(py)?)
    }

    /// Returns a list of all remaining results, or raises `BatchFailedError` if there are failures among them; its
    /// `records` are the failures.
    fn raise_for_failures(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.0.check(py)?;
        without_failures(py, self.0.rest_blocking(py)?)
    }

    /// Stops a running query and drops the remaining results. Calling it again does nothing.
    fn close(&self, py: Python<'_>) {
        self.0.close(py);
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> bool {
        self.0.close(py);
        false
    }
}
