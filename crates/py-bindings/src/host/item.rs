//! What `__anext__` gives where the next item is there: an awaitable, and a coroutine to asyncio, that is over.
//!
//! An [`op`](super::op) would do, and was used before: it has room for a request, and is made and freed for each row. The methods
//! that an operation has and that hardly anyone calls on an item (`cancel`, `add_done_callback`) are those of such an operation,
//! made when one is asked for.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::exceptions::PyAttributeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::asyncio;
use super::op::OpRef;
use super::op::slots::{RETURN, arguments, attached, itself, method};
use super::stop::{stop, stop_plainly};
use super::work::Work;
use crate::recycled::object;

const NAME: &CStr = c"aerolane._Item";
const DOC: &CStr = c"The next item of a stream, which is there already: await it.";

#[repr(C)]
struct Item {
    header: ffi::PyObject,
    /// What awaiting it gives; its own reference.
    value: *mut ffi::PyObject,
}

/// The type object, made when the module is.
static TYPE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(ptr::null_mut());

/// The item as what `__anext__` gives.
pub(super) fn item(py: Python<'_>, value: Py<PyAny>) -> PyResult<Py<PyAny>> {
    let kind = TYPE.load(Ordering::Relaxed);
    debug_assert!(!kind.is_null(), "registered with the module");
    // SAFETY: `kind` is our type; what is allocated has room for an `Item`, whose header is filled in.
    unsafe {
        let item = object::<Item, false>(kind).cast::<Item>();
        if item.is_null() {
            return Err(PyErr::fetch(py));
        }
        (&raw mut (*item).value).write(value.into_ptr());
        Ok(Bound::from_owned_ptr(py, item.cast()).unbind())
    }
}

/// A new reference to the value.
///
/// # Safety
/// An object of our type, alive.
unsafe fn value_of(object: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: as the caller says; the value is set once, when the object is made.
    unsafe { ffi::Py_NewRef((*object.cast::<Item>()).value) }
}

unsafe extern "C" fn am_send(
    object: *mut ffi::PyObject,
    _value: *mut ffi::PyObject,
    result: *mut *mut ffi::PyObject,
) -> c_int {
    // SAFETY: the slot of our type is called with an object of it, and a place for the result.
    unsafe { *result = value_of(object) };
    RETURN
}

unsafe extern "C" fn iternext(object: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: called with an object of our type.
    unsafe { stop(value_of(object)) };
    ptr::null_mut()
}

unsafe extern "C" fn send(object: *mut ffi::PyObject, _value: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: called with an object of our type.
    unsafe { stop_plainly(value_of(object)) };
    ptr::null_mut()
}

/// `throw(type_or_exception, value=None, traceback=None)`: the exception goes back.
unsafe extern "C" fn throw(
    _object: *mut ffi::PyObject,
    args: *mut *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
) -> *mut ffi::PyObject {
    // SAFETY: `count` arguments are given.
    attached(ptr::null_mut(), |py| Err(asyncio::thrown(&unsafe { arguments(py, args, count) })))
}

unsafe extern "C" fn close(_object: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: attached.
    unsafe { ffi::Py_NewRef(ffi::Py_None()) }
}

/// The attributes of the item and, for what it lacks, those of an operation that is over with its value.
unsafe extern "C" fn getattr(object: *mut ffi::PyObject, name: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: called with an object of our type, and a string.
    let own = unsafe { ffi::PyObject_GenericGetAttr(object, name) };
    if !own.is_null() {
        return own;
    }
    attached(ptr::null_mut(), |py| {
        let error = PyErr::fetch(py);
        // SAFETY: alive for the call.
        let name = unsafe { Bound::from_borrowed_ptr(py, name).cast_into_unchecked::<PyString>() };
        // What begins with an underscore is how asyncio tells a future of its own: an item is none.
        if !error.is_instance_of::<PyAttributeError>(py) || name.to_cow().is_ok_and(|name| name.starts_with('_')) {
            return Err(error);
        }
        // SAFETY: the reference is new.
        let value = unsafe { Bound::from_owned_ptr(py, value_of(object)) };
        let over = OpRef::named(py, None, Work::None, "__anext__")?;
        over.resolve(value.unbind());
        over.need_not_be_awaited();
        over.into_any().bind(py).getattr(name).map(Bound::into_ptr)
    })
}

unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
    // SAFETY: the last reference is gone; the object is freed as it was allocated, and its heap type loses the reference of this
    // instance.
    unsafe {
        let kind = ffi::Py_TYPE(object);
        ffi::Py_DECREF((*object.cast::<Item>()).value);
        #[cfg(Py_GIL_DISABLED)]
        crate::recycled::free::<Item, false>(object.cast());
        #[cfg(not(Py_GIL_DISABLED))]
        ffi::PyObject_Free(object.cast());
        ffi::Py_DECREF(kind.cast());
    }
}

/// Makes the type. Its tables live as long as the process.
pub(super) fn register(py: Python<'_>) -> PyResult<()> {
    use ffi::PyMethodDefPointer as P;
    let methods = vec![
        method(c"send", P { PyCFunction: send }, ffi::METH_O),
        method(c"throw", P { PyCFunctionFast: throw }, ffi::METH_FASTCALL),
        method(c"close", P { PyCFunction: close }, ffi::METH_NOARGS),
        ffi::PyMethodDef::zeroed(),
    ];
    let slot = |slot: c_int, pfunc: *mut c_void| ffi::PyType_Slot { slot, pfunc };
    let mut table = vec![
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_getattro, getattr as *mut c_void),
        slot(ffi::Py_tp_iter, itself as *mut c_void),
        slot(ffi::Py_tp_iternext, iternext as *mut c_void),
        slot(ffi::Py_am_await, itself as *mut c_void),
        slot(ffi::Py_am_send, am_send as *mut c_void),
        slot(ffi::Py_tp_methods, Vec::leak(methods).as_mut_ptr().cast()),
        slot(ffi::Py_tp_doc, DOC.as_ptr() as *mut c_void),
        slot(0, ptr::null_mut()),
    ];
    let mut spec = ffi::PyType_Spec {
        name: NAME.as_ptr().cast::<c_char>(),
        basicsize: size_of::<Item>() as c_int,
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION) as u32,
        slots: table.as_mut_ptr(),
    };
    // SAFETY: the spec and all it points to are well formed; methods and texts live for ever.
    let kind = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&raw mut spec)) }?;
    // One reference is never given back: items may outlive the module.
    TYPE.store(kind.into_ptr().cast(), Ordering::Release);
    Ok(())
}
