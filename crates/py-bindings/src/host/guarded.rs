//! Calls into Python that may never come back.
//!
//! Up to Python 3.13, a daemon thread that asks for the interpreter while this ends is itself ended, by `pthread_exit`
//! (issue 87135 of its tracker). That unwinds its stack, and unwinding compiled Rust that does not expect it aborts the process.
//! So calls that run Python code, which gives the interpreter away now and then, stand behind a guard: unwinding meets it
//! first, and there the thread stays until the process is over. Since 3.14 Python itself does so.

use std::ffi::c_void;
use std::hint::black_box;
use std::mem;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

type CallObjects = unsafe extern "C-unwind" fn(*mut ffi::PyObject, ...) -> *mut ffi::PyObject;
type Call =
    unsafe extern "C-unwind" fn(*mut ffi::PyObject, *mut ffi::PyObject, *mut ffi::PyObject) -> *mut ffi::PyObject;

/// Dropped only when the stack is unwound.
struct Park;

impl Drop for Park {
    fn drop(&mut self) {
        loop {
            // SAFETY: waits for a signal; has no other effect.
            unsafe { libc::pause() };
        }
    }
}

/// `callable(argument)`.
///
/// # Safety
/// Both are alive, the thread is attached.
pub(super) unsafe fn call_with(
    py: Python<'_>,
    callable: *mut ffi::PyObject,
    argument: *mut ffi::PyObject,
) -> PyResult<Bound<'_, PyAny>> {
    // The compiler must not recognise the function: it is declared elsewhere as one that does not unwind.
    let function = black_box(ffi::PyObject_CallFunctionObjArgs as *const c_void);
    // SAFETY: the same function, of which more is expected. Callable and argument are alive; the list ends with null.
    unsafe {
        let function = mem::transmute::<*const c_void, CallObjects>(function);
        let guard = Park;
        let result = function(callable, argument, std::ptr::null_mut::<ffi::PyObject>());
        mem::forget(guard);
        Bound::from_owned_ptr_or_err(py, result)
    }
}

/// `object.name(*arguments, **named)`.
pub(super) fn call_method<'py>(
    object: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
    arguments: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error: Into<PyErr>>,
    named: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let (method, arguments) = (object.getattr(name)?, arguments.into_pyobject(py).map_err(Into::into)?);
    let function = black_box(ffi::PyObject_Call as *const c_void);
    let named = named.map_or(std::ptr::null_mut(), Bound::as_ptr);
    // SAFETY: as above; `named` is null or a dict that is alive.
    unsafe {
        let function = mem::transmute::<*const c_void, Call>(function);
        let guard = Park;
        let result = function(method.as_ptr(), arguments.as_ptr(), named);
        mem::forget(guard);
        Bound::from_owned_ptr_or_err(py, result)
    }
}
