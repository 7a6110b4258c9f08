//! Which partitions a query reads, and how far it has come in them.

use std::fmt::Write as _;
use std::sync::Arc;

use aerolane::raw::{Cursor, PartitionPlace};
use aerolane::sync::Mutex;
use aerolane_wire::digest::{DIGEST_SIZE, Digest, partition_id};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::stream::Stream;
use crate::errors;
use crate::key::Key;

/// Which partitions a query reads, and how far they have been read: `PartitionFilter()` selects all 4,096 of them.
///
/// A query does not change the filter that it is called with, so the filter can be used for any number of queries. The
/// `Recordset` has a filter of its own, `recordset.partition_filter_sync()`, which advances with each record that is
/// read. Pass that filter to another query to continue after the last record. This is how to read results in pages
/// (`QueryPolicy.max_records`), until the filter is `done()`. It can be pickled, to continue in another process.
///
/// The partitions can be changed by setting `begin`, `count`, `digest` or `partitions`; they are then read from the
/// position that was set. Whether they exist is checked when the filter is used, which raises `InvalidArgumentError` (a
/// `ValueError`) otherwise.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct PartitionFilter(Mutex<State>);

struct State {
    /// The digest that it began behind.
    digest: Option<Digest>,
    position: Position,
}

enum Position {
    At(Cursor),
    /// As far as this query has been read.
    Reading(Arc<Stream>),
    /// At the beginning of these partitions (the first, and how many), or behind the digest. Not checked yet.
    Begin(usize, usize),
}

impl PartitionFilter {
    fn of(digest: Option<Digest>, cursor: Cursor) -> Self {
        Self(Mutex::new(State { digest, position: Position::At(cursor) }))
    }

    /// The filter of a query that begins where this one stands, and where that is.
    ///
    /// # Errors
    /// As [`cursor`](Self::cursor).
    pub(crate) fn for_query(&self, py: Python<'_>) -> PyResult<(Self, Cursor)> {
        let cursor = self.cursor(py)?;
        let digest = self.0.lock().digest;
        Ok((Self::of(digest, cursor.clone()), cursor))
    }

    /// # Errors
    /// The partitions that were set do not exist, or do not go with the digest.
    pub(crate) fn cursor(&self, py: Python<'_>) -> PyResult<Cursor> {
        let (position, digest) = {
            let state = self.0.lock();
            match &state.position {
                Position::At(cursor) => return Ok(cursor.clone()),
                Position::Reading(stream) => (Ok(Arc::clone(stream)), None),
                Position::Begin(begin, count) => (Err((*begin, *count)), state.digest),
            }
        };
        let (begin, count) = match position {
            Ok(stream) => return Ok(stream.cursor()),
            Err(range) => range,
        };
        let cursor = match digest {
            None => Cursor::range(begin, count),
            Some(digest) if (begin, count) == (partition_id(&digest).into(), 1) => return Ok(Cursor::behind(digest)),
            Some(digest) => Err(aerolane::Error::invalid_argument(format!(
                "the digest is one of partition {}, the filter reads {count} from partition {begin} on",
                partition_id(&digest)
            ))),
        };
        cursor.map_err(|e| errors::to_py(py, &e))
    }

    /// The first partition, and how many.
    pub(crate) fn extent(&self) -> (usize, usize) {
        let stream = match &self.0.lock().position {
            Position::At(cursor) => return (cursor.begin().into(), cursor.places().len()),
            Position::Begin(begin, count) => return (*begin, *count),
            Position::Reading(stream) => Arc::clone(stream),
        };
        let cursor = stream.cursor();
        (cursor.begin().into(), cursor.places().len())
    }

    /// Sets where it stands. What that was before is given back, to be dropped without the lock.
    fn put(&self, position: Position) -> Position {
        std::mem::replace(&mut self.0.lock().position, position)
    }

    /// From now on it stands where the query stands.
    pub(crate) fn follow(&self, stream: &Arc<Stream>) {
        drop(self.put(Position::Reading(Arc::clone(stream))));
    }

    /// The query is over, or nobody reads it any more.
    pub(crate) fn settle(&self, stream: &Arc<Stream>) {
        let mut state = self.0.lock();
        let before = match &state.position {
            Position::Reading(mine) if Arc::ptr_eq(mine, stream) => {
                std::mem::replace(&mut state.position, Position::At(stream.cursor()))
            }
            _ => return,
        };
        drop(state);
        drop(before);
    }

    pub(crate) fn range(py: Python<'_>, begin: usize, count: usize) -> PyResult<Self> {
        Cursor::range(begin, count).map(|cursor| Self::of(None, cursor)).map_err(|e| errors::to_py(py, &e))
    }
}

/// A digest from 40 hex digits.
fn digest_of(py: Python<'_>, text: &str) -> PyResult<Digest> {
    let digits = text.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| {
        let digit = |at: usize| char::from(pair[at]).to_digit(16);
        Some((digit(0)? << 4 | digit(1)?) as u8)
    };
    let bytes: Option<Vec<u8>> = digits.0.iter().map(byte).collect();
    let digest = bytes.filter(|_| digits.1.is_empty()).and_then(|bytes| bytes.try_into().ok());
    digest.ok_or_else(|| errors::invalid_argument(py, format!("a digest is {} hex digits", 2 * DIGEST_SIZE)))
}

fn hex(digest: &Digest) -> String {
    digest.iter().fold(String::with_capacity(2 * DIGEST_SIZE), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[pymethods]
impl PartitionFilter {
    #[new]
    fn new() -> Self {
        Self::of(None, Cursor::all())
    }

    /// All partitions.
    #[staticmethod]
    pub(crate) fn all() -> Self {
        Self::new()
    }

    /// One partition, 0 to 4095. Raises `InvalidArgumentError` (a `ValueError`) for another number.
    #[staticmethod]
    fn by_id(py: Python<'_>, id: usize) -> PyResult<Self> {
        Self::range(py, id, 1)
    }

    /// The partition of a key, starting after this key.
    #[staticmethod]
    fn by_key(key: &Bound<'_, Key>) -> Self {
        let digest = *key.get().digest();
        Self::of(Some(digest), Cursor::behind(digest))
    }

    /// `count` partitions starting at `begin`. Raises `InvalidArgumentError` (a `ValueError`) if there are none, or if
    /// one is beyond 4095.
    #[staticmethod]
    fn by_range(py: Python<'_>, begin: usize, count: usize) -> PyResult<Self> {
        Self::range(py, begin, count)
    }

    /// The first partition. Setting it moves the filter back to the beginning of its partitions.
    #[getter]
    fn begin(&self) -> usize {
        self.extent().0
    }

    #[setter]
    fn set_begin(&self, begin: usize) {
        let (_, count) = self.extent();
        drop(self.put(Position::Begin(begin, count)));
    }

    /// The number of partitions. Setting it moves the filter back to the beginning of its partitions.
    #[getter]
    fn count(&self) -> usize {
        self.extent().1
    }

    #[setter]
    fn set_count(&self, count: usize) {
        let (begin, _) = self.extent();
        drop(self.put(Position::Begin(begin, count)));
    }

    /// The digest of the key of `by_key`, as 40 hex digits, else `None`. Setting it moves the filter to just after this
    /// digest and limits it to the digest's partition (`begin` and `count` must be set, too); `None` moves it back to
    /// the beginning.
    #[getter]
    fn digest(&self) -> Option<String> {
        self.0.lock().digest.as_ref().map(hex)
    }

    #[setter]
    fn set_digest(&self, py: Python<'_>, digest: Option<&str>) -> PyResult<()> {
        let digest = digest.map(|text| digest_of(py, text)).transpose()?;
        let (begin, count) = self.extent();
        let mut state = self.0.lock();
        let before = std::mem::replace(&mut *state, State { digest, position: Position::Begin(begin, count) });
        drop(state);
        drop(before);
        Ok(())
    }

    /// How far each partition has been read: a list of `PartitionStatus`, which are copies. Setting it to such a list
    /// (of consecutive partitions, which determine `begin` and `count`) moves the filter to these positions; `None`
    /// moves it back to the beginning.
    #[getter]
    fn partitions(&self, py: Python<'_>) -> PyResult<Vec<PartitionStatus>> {
        let cursor = self.cursor(py)?;
        let ids = cursor.begin()..;
        Ok(ids
            .zip(cursor.places())
            .map(|(id, position)| PartitionStatus { id, position: Mutex::new(*position) })
            .collect())
    }

    #[setter]
    fn set_partitions(&self, py: Python<'_>, partitions: Option<Vec<PyRef<'_, PartitionStatus>>>) -> PyResult<()> {
        let position = match partitions {
            None => {
                let (begin, count) = self.extent();
                Position::Begin(begin, count)
            }
            Some(partitions) => {
                let begin = partitions.first().map_or(0, |first| usize::from(first.id));
                if !partitions.iter().zip(begin..).all(|(partition, id)| usize::from(partition.id) == id) {
                    let text = "the partitions of a filter follow each other by their ids";
                    return Err(errors::invalid_argument(py, text));
                }
                let places = partitions.iter().map(|partition| partition.position()).collect();
                Position::At(Cursor::with_places(begin, places).map_err(|e| errors::to_py(py, &e))?)
            }
        };
        drop(self.put(position));
        Ok(())
    }

    /// Whether all partitions have been read completely.
    fn done(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.cursor(py)?.is_done())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (begin, count) = self.extent();
        let done = self.cursor(py).map_or(0, |cursor| cursor.places().iter().filter(|position| !position.open).count());
        format!("<PartitionFilter of {count} partitions from {begin} on, {done} done>")
    }

    /// As pickle needs it: 30 bytes for each partition.
    #[staticmethod]
    #[pyo3(signature = (begin, states, digest, /))]
    fn _restore(py: Python<'_>, begin: usize, states: &[u8], digest: Option<&[u8]>) -> PyResult<Self> {
        let (states, rest) = states.as_chunks::<STATE>();
        let bad = || errors::invalid_argument(py, "not a pickled PartitionFilter");
        if !rest.is_empty() {
            return Err(bad());
        }
        let places = states.iter().map(|state| {
            let (flags, state) = (state[0], &state[1..]);
            Some(PartitionPlace {
                open: flags & 1 == 0,
                last: (flags & 2 != 0).then_some(*state.first_chunk()?),
                index_value: u64::from_le_bytes(*state.last_chunk()?),
            })
        });
        let places: Vec<_> = places.collect::<Option<_>>().ok_or_else(bad)?;
        let digest = digest.map(|digest| digest.try_into().map_err(|_| bad())).transpose()?;
        Ok(Self::of(digest, Cursor::with_places(begin, places).map_err(|e| errors::to_py(py, &e))?))
    }

    #[allow(clippy::type_complexity)] // What pickle wants.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let cursor = self.cursor(py)?;
        let mut states = Vec::with_capacity(cursor.places().len() * STATE);
        for position in cursor.places() {
            states.push(u8::from(!position.open) | u8::from(position.last.is_some()) << 1);
            states.extend_from_slice(&position.last.unwrap_or_default());
            states.extend_from_slice(&position.index_value.to_le_bytes());
        }
        let digest = self.0.lock().digest.map(|digest| PyBytes::new(py, &digest));
        let args = ("_restore", cursor.begin(), PyBytes::new(py, &states), digest);
        let call = py.import("operator")?.getattr("methodcaller")?.call1(args)?;
        Ok((call, (py.get_type::<Self>(),).into_pyobject(py)?.into_any()))
    }
}

/// Flags, digest, bval.
const STATE: usize = 1 + DIGEST_SIZE + 8;

/// How far one partition has been read, for `PartitionFilter.partitions`. `PartitionStatus(id)` is a partition of which
/// nothing has been read.
#[pyclass(frozen, module = "aerolane.native", eq)]
pub(crate) struct PartitionStatus {
    id: u16,
    position: Mutex<PartitionPlace>,
}

impl PartitionStatus {
    fn position(&self) -> PartitionPlace {
        *self.position.lock()
    }
}

impl PartialEq for PartitionStatus {
    fn eq(&self, other: &Self) -> bool {
        // One lock at a time: it may be the same.
        let (mine, others) = (self.position(), other.position());
        self.id == other.id && mine == others
    }
}

#[pymethods]
impl PartitionStatus {
    #[new]
    fn new(py: Python<'_>, id: usize) -> PyResult<Self> {
        let cursor = Cursor::range(id, 1).map_err(|e| errors::to_py(py, &e))?;
        Ok(Self { id: cursor.begin(), position: Mutex::new(cursor.places()[0]) })
    }

    /// The partition, 0 to 4095.
    #[getter]
    fn id(&self) -> u16 {
        self.id
    }

    /// Whether the partition may have more records.
    #[getter]
    fn retry(&self) -> bool {
        self.position().open
    }

    #[setter]
    fn set_retry(&self, retry: bool) {
        self.position.lock().open = retry;
    }

    /// The digest of the last record that was read, as 40 hex digits; `None` if none was. Setting it raises
    /// `InvalidArgumentError` (a `ValueError`) if the value is not a digest or belongs to another partition.
    #[getter]
    fn digest(&self) -> Option<String> {
        self.position().last.as_ref().map(hex)
    }

    #[setter]
    fn set_digest(&self, py: Python<'_>, digest: Option<&str>) -> PyResult<()> {
        let digest = digest.map(|text| digest_of(py, text)).transpose()?;
        if let Some(other) = digest.as_ref().map(partition_id).filter(|other| *other != self.id) {
            let text = format!("the digest is one of partition {other}, not of {}", self.id);
            return Err(errors::invalid_argument(py, text));
        }
        self.position.lock().last = digest;
        Ok(())
    }

    /// The position of that record in the secondary index; `None` if there is no such record or no index.
    #[getter]
    fn bval(&self) -> Option<u64> {
        Some(self.position().index_value).filter(|bval| *bval != 0)
    }

    #[setter]
    fn set_bval(&self, bval: Option<u64>) {
        self.position.lock().index_value = bval.unwrap_or(0);
    }

    /// The property of this name: `"id"`, `"retry"`, `"digest"` or `"bval"`. Raises `KeyError` for another.
    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match property(key)?.as_str() {
            "id" => self.id.into_pyobject(py)?.into_any(),
            "retry" => self.retry().into_pyobject(py)?.to_owned().into_any(),
            "digest" => self.digest().into_pyobject(py)?.into_any(),
            "bval" => self.bval().into_pyobject(py)?.into_any(),
            other => return Err(no_property(other)),
        })
    }

    /// Sets the property of this name: `"retry"`, `"digest"` or `"bval"`. Raises `KeyError` for another, and
    /// `InvalidArgumentError` (a `ValueError`) for `"id"`.
    fn __setitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        match property(key)?.as_str() {
            "retry" => self.set_retry(value.extract()?),
            "digest" => self.set_digest(py, value.extract()?)?,
            "bval" => self.set_bval(value.extract()?),
            "id" => return Err(errors::invalid_argument(py, "'id' cannot be set: make another PartitionStatus")),
            other => return Err(no_property(other)),
        }
        Ok(())
    }

    fn __repr__(&self) -> String {
        let digest = self.digest().map_or_else(|| "None".to_owned(), |digest| format!("'{digest}'"));
        let retry = if self.retry() { "True" } else { "False" };
        format!("<PartitionStatus {}: retry={retry}, digest={digest}>", self.id)
    }
}

fn no_property(name: &str) -> PyErr {
    PyKeyError::new_err(format!("there is no property '{name}', only 'id', 'bval', 'retry' and 'digest'"))
}

fn property(key: &Bound<'_, PyAny>) -> PyResult<String> {
    key.extract().map_err(|_| PyTypeError::new_err("the name of a property is a str"))
}
