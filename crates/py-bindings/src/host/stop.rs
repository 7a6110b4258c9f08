//! `StopIteration` with a value: how an awaitable hands over its outcome.

use std::ptr;

use pyo3::ffi;

#[cfg(Py_GIL_DISABLED)]
pub(super) use recycled::{register, stop};

#[cfg(not(Py_GIL_DISABLED))]
pub(super) use stop_plainly as stop;

/// Raises `StopIteration` with a value that is ours to give away. `None` raises nothing, which means the same to the interpreter.
///
/// # Safety
/// A live object; the thread is attached.
pub(super) unsafe fn stop_plainly(result: *mut ffi::PyObject) {
    // SAFETY: `result` is alive until the end.
    unsafe {
        if result != ffi::Py_None() {
            if ffi::PyTuple_Check(result) != 0 || ffi::PyExceptionInstance_Check(result) != 0 {
                // Given as it is, it would be taken apart.
                let wrapped = ffi::PyObject_CallFunctionObjArgs(
                    ffi::PyExc_StopIteration,
                    result,
                    ptr::null_mut::<ffi::PyObject>(),
                );
                if !wrapped.is_null() {
                    ffi::PyErr_SetObject(ffi::PyExc_StopIteration, wrapped);
                    ffi::Py_DECREF(wrapped);
                }
            } else {
                ffi::PyErr_SetObject(ffi::PyExc_StopIteration, result);
            }
        }
        ffi::Py_DECREF(result);
    }
}

/// A `StopIteration` in memory that the thread used for the one before.
///
/// Since 3.12 an exception is an object as soon as it is raised: `PyErr_SetObject` took 683 instructions for each `await` that gave a
/// value. The interpreter takes the value out at once, and forgets the exception. Only without the GIL: the stable interface
/// for the other builds does not tell how an exception is laid out.
#[cfg(Py_GIL_DISABLED)]
mod recycled {
    use std::ffi::{CStr, c_char, c_int, c_void};
    use std::ptr;
    use std::sync::atomic::{AtomicPtr, Ordering};

    use pyo3::ffi;
    use pyo3::prelude::*;
    use pyo3::types::PyTuple;

    use crate::recycled::{free, object};

    use ffi::PyStopIterationObject as Stop;

    const NAME: &CStr = c"aerolane._StopIteration";

    /// The type object, made when the module is.
    static TYPE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(ptr::null_mut());
    /// `()`: what such an exception was made with.
    static ARGS: AtomicPtr<ffi::PyObject> = AtomicPtr::new(ptr::null_mut());

    /// Raises `StopIteration` with a value that is ours to give away. `None` raises nothing, which means the same to the
    /// interpreter.
    ///
    /// # Safety
    /// A live object; the thread is attached.
    pub(in crate::host) unsafe fn stop(result: *mut ffi::PyObject) {
        // SAFETY: `result` is alive until it is the exception's. What is allocated has room for an exception, whose header is
        // filled in: all else is set before the garbage collector is told of it.
        unsafe {
            if result == ffi::Py_None() {
                ffi::Py_DECREF(result);
                return;
            }
            let stop = object::<Stop, true>(TYPE.load(Ordering::Relaxed)).cast::<Stop>();
            if stop.is_null() {
                ffi::Py_DECREF(result);
                return;
            }
            (*stop).dict = ptr::null_mut();
            (*stop).args = ffi::Py_NewRef(ARGS.load(Ordering::Relaxed));
            (*stop).notes = ptr::null_mut();
            (*stop).traceback = ptr::null_mut();
            (*stop).context = ptr::null_mut();
            (*stop).cause = ptr::null_mut();
            (*stop).suppress_context = '\0';
            (*stop).value = result;
            ffi::PyObject_GC_Track(stop.cast());
            ffi::PyErr_SetRaisedException(stop.cast());
        }
    }

    unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
        // SAFETY: the interpreter gives up an object of our type, which it knows no more; its base clears what it has. Mostly that
        // is what it was made with.
        unsafe {
            ffi::PyObject_GC_UnTrack(object.cast());
            let kind = ffi::Py_TYPE(object);
            let Stop { dict, args, notes, traceback, context, cause, value, .. } = *object.cast::<Stop>();
            if [dict, notes, traceback, context, cause].iter().all(|more| more.is_null()) {
                ffi::Py_XDECREF(args);
                ffi::Py_XDECREF(value);
            } else if let Some(clear) = (*ffi::PyExc_StopIteration.cast::<ffi::PyTypeObject>()).tp_clear {
                clear(object);
            }
            free::<Stop, true>(object.cast());
            ffi::Py_DECREF(kind.cast());
        }
    }

    unsafe extern "C" fn traverse(object: *mut ffi::PyObject, visit: ffi::visitproc, arg: *mut c_void) -> c_int {
        // SAFETY: the garbage collector looks into an object of our type: into its type, and what its base has.
        unsafe {
            let seen = visit(ffi::Py_TYPE(object).cast(), arg);
            match (*ffi::PyExc_StopIteration.cast::<ffi::PyTypeObject>()).tp_traverse {
                Some(traverse) if seen == 0 => traverse(object, visit, arg),
                _ => seen,
            }
        }
    }

    /// Makes the type. Its tables live as long as the process.
    pub(in crate::host) fn register(py: Python<'_>) -> PyResult<()> {
        let slot = |slot: c_int, pfunc: *mut c_void| ffi::PyType_Slot { slot, pfunc };
        let mut table = [
            slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
            slot(ffi::Py_tp_traverse, traverse as *mut c_void),
            slot(0, ptr::null_mut()),
        ];
        let mut spec = ffi::PyType_Spec {
            name: NAME.as_ptr().cast::<c_char>(),
            basicsize: size_of::<Stop>() as c_int,
            itemsize: 0,
            flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_HAVE_GC | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION) as u32,
            slots: table.as_mut_ptr(),
        };
        // SAFETY: the table ends with a zero; the base is alive.
        let kind = unsafe {
            Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpecWithBases(&raw mut spec, ffi::PyExc_StopIteration))
        }?;
        TYPE.store(kind.into_ptr().cast(), Ordering::Release);
        ARGS.store(PyTuple::empty(py).into_ptr(), Ordering::Release);
        Ok(())
    }
}
