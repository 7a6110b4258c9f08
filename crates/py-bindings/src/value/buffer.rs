//! Bytes of objects with the buffer protocol: bytearray, memoryview, array, ...

use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;

use pyo3::ffi;
use pyo3::prelude::*;

use super::Refused;

/// A view of an object's bytes. While it is there, the object does not move or resize them.
pub(crate) struct View(Box<ffi::Py_buffer>);

impl View {
    /// Whether the object has the buffer protocol.
    pub(super) fn is_offered(object: &Bound<'_, PyAny>) -> bool {
        // SAFETY: the object is alive, the thread attached.
        unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) != 0 }
    }

    pub(super) fn of(object: &Bound<'_, PyAny>) -> Result<Self, Refused> {
        let mut view = Box::new(MaybeUninit::<ffi::Py_buffer>::zeroed());
        // SAFETY: the object is alive, the thread attached, and the view has room for what is written.
        let failed = unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), view.as_mut_ptr(), ffi::PyBUF_FULL_RO) } != 0;
        if failed {
            return Err(PyErr::fetch(object.py()).into());
        }
        // SAFETY: every bit pattern of its fields is valid (it was zeroed), and it was filled in without an error.
        let view = Self(unsafe { Box::from_raw(Box::into_raw(view).cast::<ffi::Py_buffer>()) });
        if view.holds_objects() {
            return Err(Refused::wrong_type("a buffer of Python objects is not supported"));
        }
        Ok(view)
    }

    /// Addresses of objects are no data.
    fn holds_objects(&self) -> bool {
        if self.0.format.is_null() {
            return false;
        }
        // SAFETY: not null: a C string that lives as long as the view.
        unsafe { CStr::from_ptr(self.0.format) }.to_bytes().contains(&b'O')
    }

    pub(crate) fn len(&self) -> usize {
        usize::try_from(self.0.len).unwrap_or(0)
    }

    /// Appends the bytes, in C order.
    pub(crate) fn copy_to(&self, py: Python<'_>, out: &mut Vec<u8>) -> PyResult<()> {
        let len = self.len();
        if len == 0 {
            return Ok(());
        }
        out.reserve(len);
        let order = b'C' as c_char;
        // SAFETY: there is room for `len` bytes behind the end of `out`. The view is held, so its memory stays where it
        // is; another thread may write to it meanwhile, which gives old or new bytes, as with every buffer in Python.
        unsafe {
            let to = out.as_mut_ptr().add(out.len());
            if ffi::PyBuffer_IsContiguous(&raw const *self.0, order) != 0 {
                std::ptr::copy_nonoverlapping(self.0.buf.cast::<u8>(), to, len);
            } else if ffi::PyBuffer_ToContiguous(to.cast(), &raw const *self.0, self.0.len, order) != 0 {
                return Err(PyErr::fetch(py));
            }
            out.set_len(out.len() + len);
        }
        Ok(())
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: it was filled in by `PyObject_GetBuffer`, and is released once, here. Views live on the stack of an
        // encoder, which runs attached.
        unsafe { ffi::PyBuffer_Release(&raw mut *self.0) };
    }
}
