//! Which partitions a query reads, and how far it has come in them.

use std::fmt::Write as _;
use std::sync::Arc;

use aerolane::queries::{Cursors, PartitionCursor, RawStream};
use aerolane_wire::digest::{DIGEST_SIZE, Digest};
use parking_lot::Mutex;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors;
use crate::key::Key;

/// Which partitions a query reads, and how far it has come: `PartitionFilter()` is all 4,096 of them.
///
/// A query moves its filter on with each record that is taken from it. Handed to another query, the filter goes on behind
/// the last record: so results are read in pages (`QueryPolicy.max_records`), until `done()`. It can be pickled, to go on in
/// another process. A filter that is handed to two queries at once follows the second one.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct PartitionFilter {
    /// The digest that it began behind.
    digest: Option<Digest>,
    place: Mutex<Place>,
}

enum Place {
    Here(Cursors),
    /// As far as this query has been read.
    There(Arc<RawStream>),
}

impl PartitionFilter {
    fn of(cursors: Cursors) -> Self {
        Self { digest: None, place: Mutex::new(Place::Here(cursors)) }
    }

    pub(crate) fn cursors(&self) -> Cursors {
        let stream = match &*self.place.lock() {
            Place::Here(cursors) => return cursors.clone(),
            Place::There(stream) => Arc::clone(stream),
        };
        stream.cursors()
    }

    /// From now on it stands where the query stands.
    pub(crate) fn follow(&self, stream: &Arc<RawStream>) {
        let place = Place::There(Arc::clone(stream));
        let before = std::mem::replace(&mut *self.place.lock(), place);
        drop(before);
    }

    /// The query is over, or nobody reads it any more.
    pub(crate) fn settle(&self, stream: &Arc<RawStream>) {
        let mut place = self.place.lock();
        let before = match &*place {
            Place::There(mine) if Arc::ptr_eq(mine, stream) => {
                std::mem::replace(&mut *place, Place::Here(stream.cursors()))
            }
            _ => return,
        };
        drop(place);
        drop(before);
    }

    fn range(py: Python<'_>, begin: usize, count: usize) -> PyResult<Self> {
        Cursors::range(begin, count).map(Self::of).map_err(|e| errors::to_py(py, &e))
    }
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
        Self::of(Cursors::default())
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

    /// The partition of a key, from behind this key on.
    #[staticmethod]
    fn by_key(key: &Bound<'_, Key>) -> Self {
        let digest = key.get().digest();
        Self { digest: Some(*digest), place: Mutex::new(Place::Here(Cursors::after(digest))) }
    }

    /// The partitions from `begin` on, `count` of them. Raises `InvalidArgumentError` (a `ValueError`) for none, or one
    /// beyond 4095.
    #[staticmethod]
    fn by_range(py: Python<'_>, begin: usize, count: usize) -> PyResult<Self> {
        Self::range(py, begin, count)
    }

    /// The first partition.
    #[getter]
    fn begin(&self) -> u16 {
        self.cursors().begin()
    }

    /// How many partitions.
    #[getter]
    fn count(&self) -> usize {
        self.cursors().iter().len()
    }

    /// The digest of the key of `by_key`, as 40 hex digits; else `None`.
    #[getter]
    fn digest(&self) -> Option<String> {
        self.digest.as_ref().map(hex)
    }

    /// How far each partition has been read: a list of `PartitionStatus`.
    #[getter]
    fn partitions(&self) -> Vec<PartitionStatus> {
        self.cursors().iter().map(|(id, cursor)| PartitionStatus { id, cursor: *cursor }).collect()
    }

    /// Whether nothing is left in any of the partitions.
    fn done(&self) -> bool {
        self.cursors().is_done()
    }

    fn __repr__(&self) -> String {
        let cursors = self.cursors();
        let (begin, count) = (cursors.begin(), cursors.iter().len());
        let done = cursors.iter().filter(|(_, cursor)| cursor.done).count();
        format!("<PartitionFilter of {count} partitions from {begin} on, {done} done>")
    }

    /// As pickle needs it: 30 bytes for each partition.
    #[staticmethod]
    #[pyo3(signature = (begin, states, digest, /))]
    fn _restore(py: Python<'_>, begin: usize, states: &[u8], digest: Option<&[u8]>) -> PyResult<Self> {
        let (states, rest) = states.as_chunks::<STATE>();
        let bad = || errors::invalid_argument(py, "this is no pickled PartitionFilter");
        if !rest.is_empty() {
            return Err(bad());
        }
        let mut filter = Self::range(py, begin, states.len())?;
        let mut cursors = filter.cursors();
        for (at, state) in states.iter().enumerate() {
            let (flags, state) = (state[0], &state[1..]);
            let (Some(digest), Some(bval)) = (state.first_chunk(), state.last_chunk()) else { return Err(bad()) };
            if let Some(cursor) = cursors.get_mut((begin + at) as u16) {
                *cursor = PartitionCursor {
                    done: flags & 1 != 0,
                    after: (flags & 2 != 0).then_some(*digest),
                    bval: u64::from_le_bytes(*bval),
                };
            }
        }
        filter.place = Mutex::new(Place::Here(cursors));
        filter.digest = digest.map(|digest| digest.try_into().map_err(|_| bad())).transpose()?;
        Ok(filter)
    }

    #[allow(clippy::type_complexity)] // What pickle wants.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let cursors = self.cursors();
        let mut states = Vec::with_capacity(cursors.iter().len() * STATE);
        for (_, cursor) in cursors.iter() {
            states.push(u8::from(cursor.done) | u8::from(cursor.after.is_some()) << 1);
            states.extend_from_slice(&cursor.after.unwrap_or_default());
            states.extend_from_slice(&cursor.bval.to_le_bytes());
        }
        let digest = self.digest.map(|digest| PyBytes::new(py, &digest));
        let args = ("_restore", cursors.begin(), PyBytes::new(py, &states), digest);
        let call = py.import("operator")?.getattr("methodcaller")?.call1(args)?;
        Ok((call, (py.get_type::<Self>(),).into_pyobject(py)?.into_any()))
    }
}

/// Flags, digest, bval.
const STATE: usize = 1 + DIGEST_SIZE + 8;

/// How far one partition has been read: `PartitionStatus(id)` is one that has not been begun.
#[pyclass(frozen, module = "aerolane.native", eq)]
#[derive(Clone, PartialEq)]
pub(crate) struct PartitionStatus {
    id: u16,
    cursor: PartitionCursor,
}

#[pymethods]
impl PartitionStatus {
    #[new]
    fn new(py: Python<'_>, id: usize) -> PyResult<Self> {
        Cursors::range(id, 1).map_err(|e| errors::to_py(py, &e))?;
        Ok(Self { id: id as u16, cursor: PartitionCursor::default() })
    }

    /// The partition, 0 to 4095.
    #[getter]
    fn id(&self) -> u16 {
        self.id
    }

    /// Whether something may be left in it.
    #[getter]
    fn retry(&self) -> bool {
        !self.cursor.done
    }

    /// The digest of the last record that was read, as 40 hex digits; `None`: none yet.
    #[getter]
    fn digest(&self) -> Option<String> {
        self.cursor.after.as_ref().map(hex)
    }

    /// That record's place in the secondary index; `None`: none yet, or no index.
    #[getter]
    fn bval(&self) -> Option<u64> {
        Some(self.cursor.bval).filter(|bval| *bval != 0)
    }

    /// The property of this name: `"id"`, `"retry"`, `"digest"` or `"bval"`. Raises `KeyError` for another.
    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let name: &str = key.extract().map_err(|_| PyTypeError::new_err("the name of a property is a str"))?;
        Ok(match name {
            "id" => self.id.into_pyobject(py)?.into_any(),
            "retry" => self.retry().into_pyobject(py)?.to_owned().into_any(),
            "digest" => self.digest().into_pyobject(py)?.into_any(),
            "bval" => self.bval().into_pyobject(py)?.into_any(),
            other => return Err(PyKeyError::new_err(other.to_owned())),
        })
    }

    fn __repr__(&self) -> String {
        let digest = self.digest().map_or_else(|| "None".to_owned(), |digest| format!("'{digest}'"));
        let retry = if self.retry() { "True" } else { "False" };
        format!("<PartitionStatus {}: retry={retry}, digest={digest}>", self.id)
    }
}
