//! The arrays, as Python sees them.

use std::ffi::c_int;
use std::mem::ManuallyDrop;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::dtype::valid_dtype;
use super::failures::{RowFailures, row_failures};
use super::table::Table;

/// Memory that numpy arrays share: it lives as long as they do.
#[pyclass(frozen)]
struct Memory {
    /// What is left of the `Vec`; arrays write to it, so no reference into it is ever made here.
    start: *mut u8,
    len: usize,
    capacity: usize,
}

// SAFETY: the bytes are this object's own, and Rust does not look at them once they are here: arrays do, and it is for
// those who share an array between threads to take turns, as with any other array.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    fn new(bytes: Vec<u8>) -> Self {
        let mut bytes = ManuallyDrop::new(bytes);
        Self { start: bytes.as_mut_ptr(), len: bytes.len(), capacity: bytes.capacity() }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the parts of the `Vec` of `new`, put together once; each view keeps a reference to this object.
        drop(unsafe { Vec::from_raw_parts(self.start, self.len, self.capacity) });
    }
}

#[pymethods]
impl Memory {
    /// # Safety
    /// `view` is a view to be filled in, as the interpreter calls it.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let Self { start, len, .. } = *slf.get();
        // SAFETY: so many bytes are there; `PyBuffer_FillInfo` keeps a reference to their owner in the view.
        let filled =
            unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start.cast(), len as ffi::Py_ssize_t, 0, flags) };
        if filled < 0 { Err(PyErr::fetch(slf.py())) } else { Ok(()) }
    }
}

/// An array over bytes, without a copy.
fn array(py: Python<'_>, bytes: Vec<u8>, dtype: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let numpy = py.import("numpy")?;
    if bytes.is_empty() {
        return Ok(numpy.call_method1("empty", (0, dtype))?.unbind());
    }
    let memory = Py::new(py, Memory::new(bytes))?;
    let named = PyDict::new(py);
    named.set_item("dtype", dtype)?;
    Ok(numpy.call_method("frombuffer", (memory,), Some(&named))?.unbind())
}

/// An array over numbers: their bytes are copied, which is little beside the rows.
fn numbers<T, const N: usize>(
    py: Python<'_>,
    numbers: &[T],
    bytes: impl Fn(&T) -> [u8; N],
    dtype: &str,
) -> PyResult<Py<PyAny>> {
    let all: Vec<u8> = numbers.iter().flat_map(bytes).collect();
    array(py, all, &dtype.into_pyobject(py)?.into_any())
}

/// Records as numpy arrays, as returned by `batch_read(.., as_numpy=dtype)` and `Recordset.to_numpy(dtype)`.
///
/// A bin that is missing or whose value does not fit the field is not `valid`; `batch_records` then contains 0, or NaN
/// in a float field. These fit: an int in an int field that can hold it, and up to 2**53 in a float field; a float in a
/// float field (`f4` rounds it); a bool in a bool field; a str or bytes in an `S` or `V` field and a str in a `U`
/// field, if it is not too long. Nothing is truncated.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct NumpyRecords {
    records: Py<PyAny>,
    valid: Py<PyAny>,
    result_codes: Py<PyAny>,
    meta: Py<PyAny>,
    failures: RowFailures,
    len: usize,
}

row_failures!(NumpyRecords, failures, len);

impl NumpyRecords {
    pub(crate) fn new(py: Python<'_>, table: Table, dtype: &Bound<'_, PyAny>) -> PyResult<Self> {
        let len = table.len();
        let valid = valid_dtype(py, &table.layout)?;
        let meta = py.import("numpy")?.getattr("dtype")?.call1((vec![("gen", "u4"), ("expiration", "u4")],))?;
        let pairs = table.generations.iter().zip(&table.expirations);
        let pairs: Vec<u8> = pairs.flat_map(|(a, b)| [a.to_ne_bytes(), b.to_ne_bytes()]).flatten().collect();
        Ok(Self {
            records: array(py, table.rows, dtype)?,
            valid: array(py, table.valid, &valid)?,
            result_codes: numbers(py, &table.result_codes, |code| code.to_ne_bytes(), "i4")?,
            meta: array(py, pairs, &meta)?,
            failures: table.failures,
            len,
        })
    }
}

#[pymethods]
impl NumpyRecords {
    /// The bins: a structured array of the requested dtype, with one row for each key or record, in order.
    #[getter]
    fn batch_records(&self, py: Python<'_>) -> Py<PyAny> {
        self.records.clone_ref(py)
    }

    /// Which bins are valid: a structured array of bools with the same fields.
    #[getter]
    fn valid(&self, py: Python<'_>) -> Py<PyAny> {
        self.valid.clone_ref(py)
    }

    /// The result code of each row, as an array of i4. 0: the record was found; 2: it does not exist; for others see
    /// `ResultCode`.
    #[getter]
    fn result_codes(&self, py: Python<'_>) -> Py<PyAny> {
        self.result_codes.clone_ref(py)
    }

    /// The generation (`gen`) of each record and its `expiration` in seconds since 2010-01-01 00:00:00 UTC (0: never),
    /// as a structured array of u4.
    #[getter]
    fn meta(&self, py: Python<'_>) -> Py<PyAny> {
        self.meta.clone_ref(py)
    }

    /// The bins as a `numpy.ma.MaskedArray` that hides values that are not valid. Its data is `batch_records` itself.
    fn masked<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let numpy = py.import("numpy")?;
        let valid = self.valid.bind(py);
        let mask = numpy.call_method1("empty_like", (valid,))?;
        for name in valid.getattr("dtype")?.getattr("names")?.try_iter()? {
            let name = name?;
            mask.set_item(&name, numpy.call_method1("logical_not", (valid.get_item(&name)?,))?)?;
        }
        let named = PyDict::new(py);
        named.set_item("mask", mask)?;
        numpy.getattr("ma")?.call_method("MaskedArray", (&self.records,), Some(&named))
    }

    fn __len__(&self) -> usize {
        self.len
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let dtype = self.records.bind(py).getattr("dtype")?;
        Ok(format!("<NumpyRecords of {} rows, {}>", self.len, dtype.str()?))
    }
}
