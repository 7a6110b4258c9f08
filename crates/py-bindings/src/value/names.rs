//! Bin names of answers, as Python strings that are made once.

use std::ffi::c_char;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;

/// Longest name that is kept; also the longest that a bin can have.
const LONGEST: usize = 15;
/// How many names are kept in a process. Each place is filled once and for ever, so that no lock is needed.
const PLACES: usize = 2048;
/// How many places a name may take. If all are taken by others, it is made anew each time.
const TRIES: usize = 4;

struct Name {
    /// The bytes, then zeros, then the length.
    bytes: u128,
    /// An interned string that is never given back.
    string: *mut ffi::PyObject,
}

static NAMES: [AtomicPtr<Name>; PLACES] = [const { AtomicPtr::new(ptr::null_mut()) }; PLACES];

/// The string for a bin name. `None`: it is not UTF-8.
#[inline]
pub(crate) fn bin_name<'py>(py: Python<'py>, name: &[u8]) -> PyResult<Option<Bound<'py, PyAny>>> {
    if name.len() > LONGEST {
        return new_string(py, name);
    }
    let mut bytes = [0; 16];
    bytes[..name.len()].copy_from_slice(name);
    bytes[LONGEST] = name.len() as u8;
    let bytes = u128::from_le_bytes(bytes);
    let first = place(bytes);
    for offset in 0..TRIES {
        let at = &NAMES[(first + offset) % PLACES];
        let kept = at.load(Ordering::Acquire);
        if kept.is_null() {
            return keep(py, at, bytes, name);
        }
        // SAFETY: what is published in a place is complete, immutable, and never freed.
        let kept = unsafe { &*kept };
        if kept.bytes == bytes {
            // SAFETY: the string is never given back, and the thread is attached.
            return Ok(Some(unsafe { Bound::from_borrowed_ptr(py, kept.string) }));
        }
    }
    new_string(py, name)
}

#[inline]
fn place(bytes: u128) -> usize {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let folded = (bytes as u64) ^ ((bytes >> 64) as u64).rotate_left(23);
    (folded.wrapping_mul(MULTIPLIER) >> 48) as usize % PLACES
}

#[cold]
fn keep<'py>(py: Python<'py>, at: &AtomicPtr<Name>, bytes: u128, name: &[u8]) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(string) = new_string(py, name)? else { return Ok(None) };
    let mut pointer = string.into_ptr();
    // SAFETY: an owned reference to a str that nobody else has; it may be replaced by an equal one.
    unsafe { ffi::PyUnicode_InternInPlace(&raw mut pointer) };
    // SAFETY: the owned reference that interning has left.
    let string = unsafe { Bound::from_owned_ptr(py, pointer) };
    let fresh = Box::into_raw(Box::new(Name { bytes, string: string.clone().into_ptr() }));
    if at.compare_exchange(ptr::null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire).is_err() {
        // SAFETY: not published, so it is still ours alone, with the reference in it.
        unsafe {
            let unused = Box::from_raw(fresh);
            ffi::Py_DECREF(unused.string);
        }
    }
    Ok(Some(string))
}

fn new_string<'py>(py: Python<'py>, name: &[u8]) -> PyResult<Option<Bound<'py, PyAny>>> {
    if std::str::from_utf8(name).is_err() {
        return Ok(None);
    }
    // SAFETY: valid UTF-8 of this length; a new reference comes back, or null with an exception.
    let string = unsafe { ffi::PyUnicode_FromStringAndSize(name.as_ptr().cast::<c_char>(), name.len() as isize) };
    // SAFETY: as above.
    unsafe { Bound::from_owned_ptr_or_err(py, string) }.map(Some)
}
