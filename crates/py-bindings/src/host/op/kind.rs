//! The type of operations, made of slots.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::Ordering;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::slots::{self, method};
use super::{Object, TYPE};

const NAME: &CStr = c"aerolane.Awaitable";
const DOC: &CStr = c"An operation in flight: await it, or pass it to asyncio like a coroutine.\n\n\
The request is sent when the method is called (outside of a running event loop: when it is first awaited). Cancelling \
it, or a timeout around it, stops waiting at once; a write that was sent may still be executed.";

/// Makes the type. Its tables live as long as the process.
fn make_type(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    use ffi::PyMethodDefPointer as P;
    let plain = |name, f| method(name, P { PyCFunction: f }, ffi::METH_NOARGS);
    let methods = vec![
        method(c"send", P { PyCFunction: slots::send }, ffi::METH_O),
        method(c"throw", P { PyCFunctionFast: slots::throw }, ffi::METH_FASTCALL),
        plain(c"close", slots::close as ffi::PyCFunction),
        plain(c"done", slots::done),
        plain(c"cancelled", slots::cancelled),
        plain(c"result", slots::result),
        plain(c"exception", slots::exception),
        plain(c"get_loop", slots::get_loop),
        plain(c"_make_cancelled_error", slots::make_cancelled_error),
        method(c"cancel", P { PyCFunctionFastWithKeywords: slots::cancel }, ffi::METH_FASTCALL | ffi::METH_KEYWORDS),
        method(
            c"add_done_callback",
            P { PyCFunctionFastWithKeywords: slots::add_done_callback },
            ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
        ),
        method(c"remove_done_callback", P { PyCFunction: slots::remove_done_callback }, ffi::METH_O),
        ffi::PyMethodDef::zeroed(),
    ];
    let attributes = vec![
        ffi::PyGetSetDef {
            name: c"_asyncio_future_blocking".as_ptr(),
            get: Some(slots::blocking_get),
            set: Some(slots::blocking_set),
            doc: ptr::null(),
            closure: ptr::null_mut(),
        },
        ffi::PyGetSetDef {
            name: c"_cancel_message".as_ptr(),
            get: Some(slots::cancel_message),
            set: None,
            doc: ptr::null(),
            closure: ptr::null_mut(),
        },
        ffi::PyGetSetDef::default(),
    ];
    let slot = |slot: c_int, pfunc: *mut c_void| ffi::PyType_Slot { slot, pfunc };
    let mut table = vec![
        slot(ffi::Py_tp_dealloc, slots::dealloc as *mut c_void),
        slot(ffi::Py_tp_traverse, slots::traverse as *mut c_void),
        slot(ffi::Py_tp_clear, slots::clear as *mut c_void),
        slot(ffi::Py_tp_repr, slots::repr as *mut c_void),
        slot(ffi::Py_tp_iter, slots::itself as *mut c_void),
        slot(ffi::Py_tp_iternext, slots::iternext as *mut c_void),
        slot(ffi::Py_am_await, slots::itself as *mut c_void),
        slot(ffi::Py_am_send, slots::am_send as *mut c_void),
        slot(ffi::Py_tp_methods, Vec::leak(methods).as_mut_ptr().cast()),
        slot(ffi::Py_tp_getset, Vec::leak(attributes).as_mut_ptr().cast()),
        slot(ffi::Py_tp_doc, DOC.as_ptr() as *mut c_void),
        slot(0, ptr::null_mut()),
    ];
    let mut spec = ffi::PyType_Spec {
        name: NAME.as_ptr().cast::<c_char>(),
        basicsize: size_of::<Object>() as c_int,
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_HAVE_GC | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION) as u32,
        slots: table.as_mut_ptr(),
    };
    // SAFETY: the spec and all it points to are well formed; methods, attributes and texts live for ever.
    unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&raw mut spec)).map(|kind| kind.cast_into_unchecked())
    }
}

pub(in crate::host) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let kind = make_type(module.py())?;
    module.add("Awaitable", &kind)?;
    // One reference is never given back: operations may outlive the module.
    TYPE.store(kind.into_ptr().cast(), Ordering::Release);
    Ok(())
}
