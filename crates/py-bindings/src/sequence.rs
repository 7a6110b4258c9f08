//! What classes have in common that are sequences for Python.

use pyo3::prelude::*;

/// The place of an index, which may be negative, among so many.
pub(crate) fn place(len: usize, index: isize) -> Option<usize> {
    let place = if index < 0 { len.checked_add_signed(index) } else { usize::try_from(index).ok() };
    place.filter(|place| *place < len)
}

/// The iterator over an object with `__getitem__`.
pub(crate) fn iterator<'py, T>(sequence: &Bound<'py, T>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the object lives, and one with `__getitem__` can be iterated as a sequence; what is returned is a new
    // reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(sequence.py(), pyo3::ffi::PySeqIter_New(sequence.as_ptr())) }
}
