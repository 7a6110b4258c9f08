//! Records, decoded when they are looked at.

use std::borrow::Cow;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use aerolane_wire::WireError;
use aerolane_wire::message::{MESSAGE_HEADER_SIZE, Message, MessageHeader, MessageReader, Op};
use aerospike_core::CITRUSLEAF_EPOCH_UNIX_SECS;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use pyo3::{Borrowed, PyTraverseError, PyVisit, ffi};

use crate::errors;
use crate::instance::{Instance, instance, prepare};
use crate::key::Key;
use crate::small_bytes::SmallBytes;
use crate::value;

/// A record that was read: its bins, its generation, and when it expires.
///
/// Bins are decoded on first access; if they are malformed, that access raises. Two records are equal if their keys,
/// bins, generations and expirations are. Records are not hashable, because their bins are a dict.
#[pyclass(frozen, module = "aerolane")]
pub(crate) struct Record {
    key: Option<Py<Key>>,
    bins: Once,
    results: Once,
    /// Whether this is the answer to an `operate`.
    operate: bool,
    /// The message; at least its header is there.
    body: Body,
}

/// A message: the body of an answer.
pub(crate) type Body = SmallBytes<88>;

/// A Python object that is made when it is first asked for.
pub(crate) struct Once(AtomicPtr<ffi::PyObject>);

impl Once {
    pub(crate) const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    pub(crate) fn get<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let object = self.0.load(Ordering::Acquire);
        // SAFETY: null, or an object to which `self` holds a reference until it is dropped.
        unsafe { Bound::from_borrowed_ptr_or_opt(py, object) }
    }

    /// Of several threads that make one at the same time, the first one's stays.
    pub(crate) fn set<'py>(&self, py: Python<'py>, object: Bound<'py, PyAny>) -> Bound<'py, PyAny> {
        self.set_first(py, object).0
    }

    /// [`set`](Self::set), and whether this was the first one.
    pub(crate) fn set_first<'py>(&self, py: Python<'py>, object: Bound<'py, PyAny>) -> (Bound<'py, PyAny>, bool) {
        let pointer = object.as_ptr();
        match self.0.compare_exchange(ptr::null_mut(), pointer, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                // The reference that `self` holds.
                let _ = object.clone().into_ptr();
                (object, true)
            }
            // SAFETY: not null, and as in `get`.
            Err(first) => (unsafe { Bound::from_borrowed_ptr(py, first) }, false),
        }
    }

    /// Drops the object where it is known that the thread is attached.
    #[cfg(Py_GIL_DISABLED)]
    #[inline]
    pub(crate) fn let_go(&mut self, py: Python<'_>) {
        let object = std::mem::replace(self.0.get_mut(), ptr::null_mut());
        // SAFETY: null, or the reference of `set`, given back once.
        drop(unsafe { Bound::from_owned_ptr_or_opt(py, object) });
    }

    /// For `__traverse__` of what holds it.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        // SAFETY: the garbage collector runs on an attached thread. Nothing is counted.
        let py = unsafe { Python::assume_attached() };
        // SAFETY: null, or an object to which `self` holds a reference.
        match unsafe { Borrowed::from_ptr_or_opt(py, self.0.load(Ordering::Acquire)) } {
            Some(object) => visit.call(object.as_unbound()),
            None => Ok(()),
        }
    }
}

impl Drop for Once {
    fn drop(&mut self) {
        let object = *self.0.get_mut();
        if !object.is_null() {
            // SAFETY: the reference of `set`, given back once. Python objects are dropped on attached threads; should
            // this one not be, PyO3 waits with it.
            Python::attach(|py| drop(unsafe { Bound::from_owned_ptr(py, object) }));
        }
    }
}

impl Instance for Record {
    #[cfg(Py_GIL_DISABLED)]
    #[inline]
    fn let_go(&mut self, py: Python<'_>) -> bool {
        if let Some(key) = self.key.take() {
            drop(key.into_bound(py));
        }
        self.bins.let_go(py);
        self.results.let_go(py);
        true
    }
}

impl Record {
    /// The object of the body of an answer whose result code is good.
    #[inline]
    pub(crate) fn new(py: Python<'_>, key: Option<Py<Key>>, body: Body, operate: bool) -> PyResult<Py<Self>> {
        let record = Self::of(key, body, operate)?;
        instance(py, || record)
    }

    #[inline]
    fn of(key: Option<Py<Key>>, body: Body, operate: bool) -> PyResult<Self> {
        if body.len() < MESSAGE_HEADER_SIZE {
            let error = WireError::truncated(MESSAGE_HEADER_SIZE - body.len(), body.len());
            return Err(Python::attach(|py| errors::malformed(py, &error)));
        }
        Ok(Self { key, bins: Once::new(), results: Once::new(), operate, body })
    }

    fn header(&self) -> MessageHeader {
        MessageHeader::decode(&self.body).unwrap_or_default()
    }

    fn message(&self, py: Python<'_>) -> PyResult<Message<'_>> {
        Message::decode(&self.body).map_err(|e| errors::malformed(py, &e))
    }

    pub(crate) fn all_bins<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let bins = match self.bins.get(py) {
            Some(bins) => bins,
            None => self.bins.set(py, self.decode(py)?.into_any()),
        };
        Ok(bins.cast_into()?)
    }

    fn decode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let malformed = |e: WireError| errors::malformed(py, &e);
        // Each byte is looked at once.
        let mut reader = MessageReader::new(&self.body).map_err(malformed)?;
        let bins = PyDict::new(py);
        let mut count = 0;
        while let Some(op) = reader.next_op().map_err(malformed)? {
            if let Some((name, value)) = self.named(py, &op)? {
                bins.set_item(name, value)?;
                count += 1;
            }
        }
        if reader.finish().map_err(malformed)? < self.body.len() || bins.len() != count {
            return self.decode_repeated(py, &self.message(py)?);
        }
        Ok(bins)
    }

    /// With several results of one bin: they make a list.
    #[cold]
    fn decode_repeated<'py>(&self, py: Python<'py>, message: &Message<'_>) -> PyResult<Bound<'py, PyDict>> {
        let bins = PyDict::new(py);
        let mut several: Vec<Bound<'py, PyAny>> = Vec::new();
        for op in message.ops() {
            let Some((name, value)) = self.named(py, &op)? else { continue };
            match bins.get_item(&name)? {
                None => bins.set_item(name, value)?,
                Some(first) => {
                    let mut known = false;
                    for other in &several {
                        known |= other.eq(&name)?;
                    }
                    if known {
                        first.cast::<PyList>()?.append(value)?;
                    } else {
                        bins.set_item(&name, PyList::new(py, [first, value])?)?;
                        several.push(name);
                    }
                }
            }
        }
        Ok(bins)
    }

    /// The bin that an operation answers for. `None`: it answers for no bin, or the bin is not there.
    #[inline]
    #[allow(clippy::type_complexity)] // A pair of objects.
    fn named<'py>(&self, py: Python<'py>, op: &Op<'_>) -> PyResult<Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
        if op.name.is_empty() {
            return Ok(None);
        }
        let value = value::decode(py, op.particle_type, op.value)?.into_bound(py);
        if value.is_none() && !self.operate {
            return Ok(None);
        }
        match value::bin_name(py, op.name)? {
            Some(name) => Ok(Some((name, value))),
            None => Err(errors::malformed(py, &WireError::invalid("a bin name that is not UTF-8", 0))),
        }
    }

    fn all_results<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        if !self.operate {
            return Ok(None);
        }
        if let Some(results) = self.results.get(py) {
            return Ok(Some(results.cast_into()?));
        }
        let results = PyList::empty(py);
        for op in self.message(py)?.ops() {
            results.append(value::decode(py, op.particle_type, op.value)?)?;
        }
        Ok(Some(self.results.set(py, results.into_any()).cast_into()?))
    }

    /// Whether two operations answer for this bin.
    fn is_repeated(message: &Message<'_>, name: &[u8]) -> bool {
        message.ops().filter(|op| op.name == name).nth(1).is_some()
    }
}

#[pymethods]
impl Record {
    /// The key that was used to read the record.
    #[getter]
    pub(crate) fn key(&self, py: Python<'_>) -> Option<Py<Key>> {
        self.key.as_ref().map(|key| key.clone_ref(py))
    }

    /// The bins by name, always the same dict. It has no entry for a missing bin. In results of `operate`, a missing
    /// bin is `None`, and several results for one bin are a list.
    #[getter]
    fn bins<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.all_bins(py)
    }

    /// The value of one bin; `None` if the record does not have it. Only this bin is decoded, unless `bins` was
    /// accessed before.
    pub(crate) fn bin<'py>(&self, py: Python<'py>, name: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.bins.get(py).is_none() {
            let message = self.message(py)?;
            let wanted = name.to_cow()?;
            let wanted = wanted.as_bytes();
            let Some(op) = message.ops().find(|op| op.name == wanted && !wanted.is_empty()) else { return Ok(None) };
            if !self.operate || !Self::is_repeated(&message, wanted) {
                return Ok(Some(value::decode(py, op.particle_type, op.value)?.into_bound(py)));
            }
        }
        self.all_bins(py)?.get_item(name)
    }

    /// How often the record has been written.
    #[getter]
    fn generation(&self) -> u32 {
        self.header().generation
    }

    /// When the record expires, in seconds since 2010-01-01 00:00:00 UTC; `None` if never.
    #[getter]
    fn expiration(&self) -> Option<u32> {
        Some(self.header().record_ttl).filter(|seconds| *seconds != 0)
    }

    /// Seconds until the record expires, by the clock of this machine; `None` if it never expires. It is at least 1,
    /// since the record existed when it was read, even if the clocks disagree.
    #[getter]
    fn ttl(&self) -> Option<u64> {
        self.expiration().map(seconds_left)
    }

    /// The results of `operate` in order, as the server returns them: `None` for an operation on a bin that has no
    /// result; a touch of the record has no entry. `None` for other calls.
    #[getter]
    pub(crate) fn results<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        self.all_results(py)
    }

    /// The `i`-th of `results`, from 0; `None` if there is none.
    pub(crate) fn operation_result<'py>(&self, py: Python<'py>, i: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.all_results(py)? {
            Some(results) if i < results.len() => results.get_item(i).map(Some),
            _ => Ok(None),
        }
    }

    fn __eq__(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        let (mine, others) = (self.header(), other.header());
        let keys = match (&self.key, &other.key) {
            (Some(a), Some(b)) => a.bind(py).eq(b)?,
            (a, b) => a.is_none() && b.is_none(),
        };
        Ok(keys
            && mine.generation == others.generation
            && mine.record_ttl == others.record_ttl
            && self.all_bins(py)?.eq(other.all_bins(py)?)?)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let key = match &self.key {
            Some(key) => key.bind(py).repr()?.to_string(),
            None => "None".to_owned(),
        };
        let ttl = self.ttl().map_or_else(|| "None".to_owned(), |ttl| ttl.to_string());
        let bins = self.all_bins(py)?.repr()?;
        Ok(format!("Record(key={key}, generation={}, ttl={ttl}, bins={bins})", self.generation()))
    }

    /// As pickle needs it: the answer as it came, and the bins, if they have been looked at (and perhaps changed).
    #[staticmethod]
    #[pyo3(signature = (key, body, operate, bins, /))]
    fn _restore(key: Option<Py<Key>>, body: &[u8], operate: bool, bins: Option<Bound<'_, PyDict>>) -> PyResult<Self> {
        let record = Self::of(key, Cow::Borrowed(body).into(), operate)?;
        Message::decode(&record.body).map_err(|e| Python::attach(|py| errors::malformed(py, &e)))?;
        if let Some(bins) = bins {
            record.bins.set(bins.py(), bins.clone().into_any());
        }
        Ok(record)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let args = ("_restore", self.key(py), PyBytes::new(py, &self.body), self.operate, self.bins.get(py));
        let call = py.import("operator")?.getattr("methodcaller")?.call1(args)?;
        Ok((call, (py.get_type::<Self>(),).into_pyobject(py)?.into_any()))
    }
}

/// Seconds until a time that counts from 2010-01-01 00:00:00 UTC, by the clock of this machine; at least 1.
pub(crate) fn seconds_left(expiration: u32) -> u64 {
    let expires = u64::from(expiration) + CITRUSLEAF_EPOCH_UNIX_SECS;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    expires.saturating_sub(now).max(1)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Record>()?;
    prepare::<Record>(module.py())
}
