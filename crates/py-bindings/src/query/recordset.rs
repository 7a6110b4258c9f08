//! The records of a query, as they come.

use std::sync::Arc;

use aerolane::raw::RawRecords;
use aerolane_wire::WireError;
use pyo3::exceptions::PyStopAsyncIteration;
use pyo3::prelude::*;

use super::arrow::ArrowStream;
use super::gather::Gatherer;
use super::partitions::PartitionFilter;
use super::stream::{Raw, Stream, Taken};
use super::to_arrow::{ArrowArguments, ArrowRequest, to_arrow};
use crate::columns::{Layout, NumpyRecords, Table};
use crate::command::{Control, Executable, block_on};
use crate::core::ClientCore;
use crate::host::Pace;
use crate::instance::instance;
use crate::record::Record;
use crate::streams::stream_methods;
use crate::{errors, host};

/// After so many records without a pause the control plane, while it makes arrays, looks after its other work.
pub(super) const RECORDS_PER_PAUSE: usize = 4096;

/// The records of a query as they arrive. Iterate over it with `for` or `async for`, from any number of threads or
/// tasks; each record goes to one of them.
///
/// The client buffers few records (`QueryPolicy.record_queue_size`, and a frame of at most 1 MiB for each node): while
/// nobody reads, the servers wait. An error is raised by the iteration and ends it; the records before it are valid,
/// and `partition_filter` says where to continue. If a task is cancelled at the moment its record arrives, that record
/// is lost. Closing the recordset, leaving its context manager or dropping it ends the query.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct Recordset {
    core: Arc<ClientCore>,
    stream: Arc<Stream>,
    /// The records are results of operations.
    operate: bool,
    filter: Py<PartitionFilter>,
    pace: Pace,
}

/// A record that cannot be read.
pub(super) fn malformed(error: WireError) -> aerolane::Error {
    aerolane::Error::bad_response(format!("a record is malformed: {error}"))
}

/// A record that was taken for a task. If the task does not get it (it was cancelled), the stream takes it back.
struct RecordInTransit {
    stream: Arc<Stream>,
    taken: Option<(u64, Taken)>,
}

impl Drop for RecordInTransit {
    fn drop(&mut self) {
        if let Some((number, taken)) = self.taken.take() {
            self.stream.give_back(number, taken);
        }
    }
}

impl Recordset {
    /// The records are results of operations, or of a function.
    pub(crate) fn new(
        core: Arc<ClientCore>,
        records: RawRecords,
        names: (String, String),
        (operate, results): (bool, bool),
        filter: Py<PartitionFilter>,
    ) -> Self {
        let stream = Arc::new(Stream::new(records, names, results));
        filter.get().follow(&stream);
        Self { core, stream, operate, filter, pace: Pace::default() }
    }

    /// A record as Python sees it.
    fn record(&self, py: Python<'_>, raw: Raw) -> PyResult<Py<Record>> {
        let key = raw.key.map(|key| instance(py, || key)).transpose()?;
        Record::new(py, key, raw.body, self.operate)
    }

    /// What a taken thing is to Python; `None` for the end, and for nothing.
    fn convert(&self, py: Python<'_>, taken: Taken) -> PyResult<Option<Py<Record>>> {
        match taken {
            Taken::Record(record) => self.record(py, record).map(Some),
            Taken::Failed(error) => {
                self.settle();
                Err(errors::to_py(py, &error))
            }
            _ => {
                self.settle();
                Ok(None)
            }
        }
    }

    /// The operation of the next record.
    fn anext(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let made = |_: Python<'_>, record: Option<Py<Record>>| match record {
            Some(record) => Ok(record.into_any()),
            None => Err(PyStopAsyncIteration::new_err(())),
        };
        Self::next_as(slf, host::item, made)
    }

    /// The operation of what `made` makes of the next record; of `None` at the end.
    pub(crate) fn next_as(
        slf: &Bound<'_, Self>,
        ready: host::Ready,
        made: impl FnOnce(Python<'_>, Option<Py<Record>>) -> PyResult<Py<PyAny>> + Send + 'static,
    ) -> PyResult<Py<PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        this.core.check(py)?;
        let taken = if this.pace.wants_a_turn() { Taken::Nothing } else { this.stream.take().1 };
        if !matches!(taken, Taken::Nothing) {
            let record = this.convert(py, taken)?;
            return ready(py, made(py, record)?);
        }
        let stream = Arc::clone(&this.stream);
        let next = async move {
            loop {
                match stream.take() {
                    (_, Taken::Nothing) => stream.ready().await,
                    taken => return Ok(RecordInTransit { stream: Arc::clone(&stream), taken: Some(taken) }),
                }
            }
        };
        let slf = slf.clone().unbind();
        host::spawn(py, &this.core, next, move |py, mut arrived: RecordInTransit| {
            let taken = arrived.taken.take().map_or(Taken::End, |(_, taken)| taken);
            let record = slf.get().convert(py, taken)?;
            made(py, record)
        })
    }

    /// The next record, for the calling thread to wait for.
    pub(crate) fn next_blocking(&self, py: Python<'_>) -> PyResult<Option<Py<Record>>> {
        self.core.check(py)?;
        loop {
            match self.stream.take().1 {
                Taken::Nothing => block_on(py, &self.core, self.stream.ready())?,
                taken => return self.convert(py, taken),
            }
        }
    }

    /// The operation of what `made` makes of all records that are left, or of so many.
    pub(crate) fn rest_as(
        slf: &Bound<'_, Self>,
        most: Option<u64>,
        made: impl FnOnce(Python<'_>, Vec<Py<Record>>) -> PyResult<Py<PyAny>> + Send + 'static,
    ) -> PyResult<Py<PyAny>> {
        let stream = Arc::clone(&slf.get().stream);
        // Dropped before all has come, it would end the query.
        let whole = slf.clone().unbind();
        let future = async move {
            let mut records: Vec<Raw> = Vec::new();
            loop {
                if most.is_some_and(|most| records.len() as u64 >= most) {
                    return Ok(records);
                }
                match stream.take().1 {
                    Taken::Record(record) => {
                        records.push(record);
                        if records.len().is_multiple_of(RECORDS_PER_PAUSE) {
                            // The control plane has other work to do.
                            tokio::task::yield_now().await;
                        }
                    }
                    Taken::Nothing => stream.ready().await,
                    Taken::End => return Ok(records),
                    Taken::Failed(error) => return Err(error),
                }
            }
        };
        host::spawn(slf.py(), &slf.get().core, future, move |py, records| {
            let this = whole.get();
            this.settle();
            let records = records.into_iter().map(|record| this.record(py, record)).collect::<PyResult<Vec<_>>>()?;
            made(py, records)
        })
    }

    /// Ends the query, and keeps how far it was read.
    pub(crate) fn stop(&self, py: Python<'_>) {
        if !self.core.is_foreign() {
            py.detach(|| self.end());
        }
    }

    /// All records that are left, as arrays.
    fn numpy(slf: &Bound<'_, Self>, dtype: &Bound<'_, PyAny>) -> PyResult<impl Executable + use<>> {
        let (layout, dtype) = Layout::of(dtype)?;
        let (stream, dtype) = (Arc::clone(&slf.get().stream), dtype.unbind());
        // Dropped before all has come, it would end the query.
        let whole = slf.clone().unbind();
        let future = async move {
            let mut table = Table::new(layout);
            loop {
                match stream.pass(|message| table.push(message).map_err(malformed)) {
                    Taken::Record(()) => {
                        if table.len().is_multiple_of(RECORDS_PER_PAUSE) {
                            // The control plane has other work to do.
                            tokio::task::yield_now().await;
                        }
                    }
                    Taken::Nothing => stream.ready().await,
                    Taken::End => return Ok(table),
                    Taken::Failed(error) => return Err(error),
                }
            }
        };
        Ok(Control {
            future,
            convert: move |py: Python<'_>, table| {
                whole.get().settle();
                Ok(Py::new(py, NumpyRecords::new(py, table, dtype.bind(py))?)?.into_any())
            },
        })
    }

    /// The records that have not been taken, as Arrow columns. `left`: how many of them; `None`: all.
    pub(crate) fn arrow(
        slf: &Bound<'_, Self>,
        asked: &ArrowArguments<'_, '_>,
        left: Option<u64>,
    ) -> PyResult<ArrowStream> {
        let py = slf.py();
        slf.get().core.check(py)?;
        let ArrowRequest { wanted, batch_rows, sample } = asked.checked(py)?;
        let stream = Arc::clone(&slf.get().stream);
        Ok(ArrowStream::new(slf, Gatherer::new(stream, wanted, batch_rows, sample, left)))
    }

    /// What goes on reading needs.
    pub(super) fn parts(&self) -> (Arc<ClientCore>, Arc<Stream>) {
        (Arc::clone(&self.core), Arc::clone(&self.stream))
    }

    /// The filter keeps where it is, without the query.
    pub(super) fn settle(&self) {
        self.filter.get().settle(&self.stream);
    }

    fn end(&self) {
        self.stream.close();
        self.settle();
    }
}

impl Drop for Recordset {
    fn drop(&mut self) {
        if self.core.is_foreign() {
            // Of the parent process: its threads are not here. Its count never falls to 0, so nothing of it is dropped.
            std::mem::forget(Arc::clone(&self.stream));
            return;
        }
        self.end();
    }
}

stream_methods!(Recordset);

#[pymethods]
impl Recordset {
    /// Whether more records may arrive.
    #[getter]
    fn active(&self) -> bool {
        !self.core.is_foreign() && self.stream.is_active()
    }

    /// Ends the query. Records that were not read are dropped. A second call does nothing.
    fn close(&self, py: Python<'_>) {
        self.stop(py);
    }

    /// The partition filter of the query, which says how far it has been read. Pass it to another query to continue
    /// there. Awaitable.
    fn partition_filter(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        host::ready_as(py, "partition_filter", self.partition_filter_sync(py).into_any())
    }

    /// The partition filter of the query, which says how far it has been read. Pass it to another query to continue
    /// there.
    pub(crate) fn partition_filter_sync(&self, py: Python<'_>) -> Py<PartitionFilter> {
        self.filter.clone_ref(py)
    }

    /// The remaining records as numpy arrays. `dtype`: a structured dtype with a field for each bin (`[("age", "i8"),
    /// ("name", "S16")]`). Awaitable of `NumpyRecords`.
    ///
    /// All records are held in memory; read large results in pages (`QueryPolicy.max_records`). Raises `TypeError` if a
    /// field has a type that bins cannot be converted to, and the errors that the iteration would raise.
    fn to_numpy(slf: &Bound<'_, Self>, dtype: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        host::at_await(py, "to_numpy", || Self::numpy(slf, dtype)?.start(py, &slf.get().core))
    }

    /// The same as `to_numpy`, on the calling thread.
    fn to_numpy_blocking(slf: &Bound<'_, Self>, dtype: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Self::numpy(slf, dtype)?.block(slf.py(), &slf.get().core)
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<Record>>> {
        self.next_blocking(py)
    }

    fn __repr__(&self) -> String {
        let state = if self.active() { "active" } else { "over" };
        let (namespace, set) = self.stream.name();
        format!("<Recordset of {namespace:?}, set {set:?}, {state}>")
    }
}

to_arrow!(
    /// The remaining records as a stream of Arrow record batches: an `ArrowStream`, which pyarrow, polars and others read
    /// through the Arrow `PyCapsule` interface.
    ///
    /// Without a `schema`, the columns and their types are those of the first `infer_schema_length` records (default:
    /// 10,000, and at most 32 MiB); a later value that does not fit is an error. `await stream`, `to_pyarrow()`,
    /// `to_pandas()` and `to_polars()` hold all records anyway, and use all of them. `schema`: a column for each bin, as a
    /// dict (`{"age": "int64", "name": "utf8"}`), as pairs, or as an Arrow schema (such as pyarrow's); or an
    /// `ArrowColumns`, which also describes the other arguments and how types are determined.
    ///
    /// Types: `bool`, `int8` to `int64`, `uint8` to `uint64`, `float16` to `float64`, `utf8`, `large_utf8`, `string_view`,
    /// `binary`, `large_binary`, `binary_view`, `fixed_size_binary[20]`, `date32`, `date64`, `time32[s]` and so on, `timestamp[us]`,
    /// `timestamp[ms, tz=UTC]`, `duration[ns]`, `null`, `json` (any value, as JSON text), `list<int64>`, `large_list<utf8>`,
    /// `list_view<..>`, `fixed_size_list<float32>[3]`, `struct<x: int64, y: utf8>`, `map<utf8, int64>`, `dictionary<utf8>`.
    ///
    /// Returns at once. Records are read when the reader asks for the next batch, on the reader's thread. In asyncio,
    /// await the stream or iterate over it with `async for` to get `ArrowRecords`. A batch has at most `batch_rows`
    /// records (1 to 2**24) and at most about 32 MiB. Raises `TypeError` for a column of another type, and
    /// `InvalidArgumentError` for invalid bin names.
    Recordset, |slf, asked| Self::arrow(slf, &asked, None)
);
