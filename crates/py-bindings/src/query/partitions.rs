//! Which partitions a query reads, and how far it has come in them.

use std::fmt::Write as _;
use std::sync::Arc;

use aerolane::client::{Cursor, PartitionPlace};
use aerolane_wire::digest::{DIGEST_SIZE, Digest};
use parking_lot::Mutex;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::stream::Stream;
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
    Here(Cursor),
    /// As far as this query has been read.
    There(Arc<Stream>),
}

impl PartitionFilter {
    fn of(cursors: Cursor) -> Self {
        Self { digest: None, place: Mutex::new(Place::Here(cursors)) }
    }

    pub(crate) fn cursor(&self) -> Cursor {
        let stream = match &*self.place.lock() {
            Place::Here(cursor) => return cursor.clone(),
            Place::There(stream) => Arc::clone(stream),
        };
        stream.cursor()
    }

    /// From now on it stands where the query stands.
    pub(crate) fn follow(&self, stream: &Arc<Stream>) {
        let place = Place::There(Arc::clone(stream));
        let before = std::mem::replace(&mut *self.place.lock(), place);
        drop(before);
    }

    /// The query is over, or nobody reads it any more.
    pub(crate) fn settle(&self, stream: &Arc<Stream>) {
        let mut place = self.place.lock();
        let before = match &*place {
            Place::There(mine) if Arc::ptr_eq(mine, stream) => {
                std::mem::replace(&mut *place, Place::Here(stream.cursor()))
            }
            _ => return,
        };
        drop(place);
        drop(before);
    }

    fn range(py: Python<'_>, begin: usize, count: usize) -> PyResult<Self> {
        Cursor::range(begin, count).map(Self::of).map_err(|e| errors::to_py(py, &e))
    }
}

fn hex(digest: &Digest) -> String {
    digest.iter().fold(String::with_capacity(2 * DIGEST_SIZE), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn from_hex(text: &str) -> Option<Digest> {
    let mut digest = Digest::default();
    if text.len() != 2 * DIGEST_SIZE || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (at, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..][..2], 16).ok()?;
    }
    Some(digest)
}

#[pymethods]
impl PartitionFilter {
    #[new]
    fn new() -> Self {
        Self::of(Cursor::all())
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
        Self { digest: Some(*digest), place: Mutex::new(Place::Here(Cursor::behind(*digest))) }
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
        self.cursor().begin()
    }

    /// How many partitions.
    #[getter]
    fn count(&self) -> usize {
        self.cursor().places().len()
    }

    /// The digest of the key of `by_key`, as 40 hex digits; else `None`.
    #[getter]
    fn digest(&self) -> Option<String> {
        self.digest.as_ref().map(hex)
    }

    /// How far each partition has been read: a list of `PartitionStatus`, which are copies. Set to such a list, of
    /// partitions that follow each other, the filter goes on from there; set to None, it begins anew.
    ///
    /// Raises `InvalidArgumentError` (a `ValueError`) for no partitions, and for some that do not follow each other.
    #[getter]
    fn partitions(&self) -> Vec<PartitionStatus> {
        let cursor = self.cursor();
        let ids = cursor.begin()..;
        ids.zip(cursor.places()).map(|(id, place)| PartitionStatus { id, place: Mutex::new(*place) }).collect()
    }

    #[setter(partitions)]
    fn set_partitions(&self, py: Python<'_>, partitions: Option<Vec<PyRef<'_, PartitionStatus>>>) -> PyResult<()> {
        let cursor = if let Some(partitions) = partitions {
            let begin = partitions.first().map_or(0, |first| usize::from(first.id));
            if partitions.iter().zip(begin..).any(|(status, id)| usize::from(status.id) != id) {
                return Err(errors::invalid_argument(py, "the partitions of a filter follow each other"));
            }
            let places = partitions.iter().map(|status| *status.place.lock()).collect();
            Cursor::with_places(begin, places)
        } else {
            let cursor = self.cursor();
            Cursor::range(usize::from(cursor.begin()), cursor.places().len())
        };
        let place = Place::Here(cursor.map_err(|e| errors::to_py(py, &e))?);
        let before = std::mem::replace(&mut *self.place.lock(), place);
        drop(before);
        Ok(())
    }

    /// Whether nothing is left in any of the partitions.
    fn done(&self) -> bool {
        self.cursor().is_done()
    }

    fn __repr__(&self) -> String {
        let cursor = self.cursor();
        let (begin, count) = (cursor.begin(), cursor.places().len());
        let done = cursor.places().iter().filter(|place| !place.open).count();
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
        let places = states.iter().map(|state| {
            let (flags, state) = (state[0], &state[1..]);
            Some(PartitionPlace {
                open: flags & 1 == 0,
                last: (flags & 2 != 0).then_some(*state.first_chunk()?),
                index_value: u64::from_le_bytes(*state.last_chunk()?),
            })
        });
        let places: Vec<_> = places.collect::<Option<_>>().ok_or_else(bad)?;
        let mut filter = Self::of(Cursor::with_places(begin, places).map_err(|e| errors::to_py(py, &e))?);
        filter.digest = digest.map(|digest| digest.try_into().map_err(|_| bad())).transpose()?;
        Ok(filter)
    }

    #[allow(clippy::type_complexity)] // What pickle wants.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let cursor = self.cursor();
        let mut states = Vec::with_capacity(cursor.places().len() * STATE);
        for place in cursor.places() {
            states.push(u8::from(!place.open) | u8::from(place.last.is_some()) << 1);
            states.extend_from_slice(&place.last.unwrap_or_default());
            states.extend_from_slice(&place.index_value.to_le_bytes());
        }
        let digest = self.digest.map(|digest| PyBytes::new(py, &digest));
        let args = ("_restore", cursor.begin(), PyBytes::new(py, &states), digest);
        let call = py.import("operator")?.getattr("methodcaller")?.call1(args)?;
        Ok((call, (py.get_type::<Self>(),).into_pyobject(py)?.into_any()))
    }
}

/// Flags, digest, bval.
const STATE: usize = 1 + DIGEST_SIZE + 8;

/// How far one partition has been read: `PartitionStatus(id)` is one that has not been begun.
///
/// Its properties can be set, to tell a filter from where to go on (`PartitionFilter.partitions`).
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct PartitionStatus {
    id: u16,
    place: Mutex<PartitionPlace>,
}

impl PartitionStatus {
    fn place(&self) -> PartitionPlace {
        *self.place.lock()
    }
}

fn name_of<'a>(key: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    key.extract().map_err(|_| PyTypeError::new_err("the name of a property is a str"))
}

#[pymethods]
impl PartitionStatus {
    #[new]
    fn new(py: Python<'_>, id: usize) -> PyResult<Self> {
        Cursor::range(id, 1).map_err(|e| errors::to_py(py, &e))?;
        Ok(Self { id: id as u16, place: Mutex::new(PartitionPlace { last: None, index_value: 0, open: true }) })
    }

    /// The partition, 0 to 4095.
    #[getter]
    fn id(&self) -> u16 {
        self.id
    }

    /// Whether something may be left in it.
    #[getter]
    fn retry(&self) -> bool {
        self.place().open
    }

    #[setter(retry)]
    fn set_retry(&self, retry: bool) {
        self.place.lock().open = retry;
    }

    /// The digest of the last record that was read, as 40 hex digits; `None`: none yet.
    #[getter]
    fn digest(&self) -> Option<String> {
        self.place().last.as_ref().map(hex)
    }

    #[setter(digest)]
    fn set_digest(&self, py: Python<'_>, digest: Option<&str>) -> PyResult<()> {
        let digest = digest.map(|text| {
            from_hex(text).ok_or_else(|| {
                errors::invalid_argument(py, format!("a digest has 40 hex digits; this is none: {text:?}"))
            })
        });
        self.place.lock().last = digest.transpose()?;
        Ok(())
    }

    /// That record's place in the secondary index; `None`: none yet, or no index.
    #[getter]
    fn bval(&self) -> Option<u64> {
        Some(self.place().index_value).filter(|bval| *bval != 0)
    }

    #[setter(bval)]
    fn set_bval(&self, bval: Option<u64>) {
        self.place.lock().index_value = bval.unwrap_or(0);
    }

    /// The property of this name: `"id"`, `"retry"`, `"digest"` or `"bval"`. Raises `KeyError` for another.
    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match name_of(key)? {
            "id" => self.id.into_pyobject(py)?.into_any(),
            "retry" => self.retry().into_pyobject(py)?.to_owned().into_any(),
            "digest" => self.digest().into_pyobject(py)?.into_any(),
            "bval" => self.bval().into_pyobject(py)?.into_any(),
            other => return Err(PyKeyError::new_err(other.to_owned())),
        })
    }

    /// Sets the property of this name: `"retry"`, `"digest"` or `"bval"`. Raises `KeyError` for another.
    fn __setitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        match name_of(key)? {
            "retry" => self.set_retry(value.extract()?),
            "digest" => self.set_digest(py, value.extract()?)?,
            "bval" => self.set_bval(value.extract()?),
            other => return Err(PyKeyError::new_err(other.to_owned())),
        }
        Ok(())
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.id == other.id && self.place() == other.place()
    }

    fn __repr__(&self) -> String {
        let digest = self.digest().map_or_else(|| "None".to_owned(), |digest| format!("'{digest}'"));
        let retry = if self.retry() { "True" } else { "False" };
        format!("<PartitionStatus {}: retry={retry}, digest={digest}>", self.id)
    }
}
