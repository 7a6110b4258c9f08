//! What the interpreter calls of an operation.

use std::ffi::{CStr, c_int, c_void};
use std::fmt::Write;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::Ordering;

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;

use super::{Object, Op, Owned, Status, not_mine, op_of};
use crate::host::asyncio;
use crate::host::stop::{stop, stop_plainly};

/// Runs a slot: no panic crosses, an error is raised.
pub(crate) fn slot<R>(failed: R, body: impl FnOnce(Python<'_>) -> PyResult<R>) -> R {
    // SAFETY: the interpreter calls slots with the thread attached.
    let py = unsafe { Python::assume_attached() };
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body(py))) {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => {
            error.restore(py);
            failed
        }
        Err(_) => {
            PyRuntimeError::new_err("an operation panicked; this is a bug of the client").restore(py);
            failed
        }
    }
}

/// As [`slot`], for bodies that may drop what holds `Py`s: those count on being told that the thread is attached.
pub(crate) fn attached<R>(failed: R, body: impl FnOnce(Python<'_>) -> PyResult<R>) -> R {
    // SAFETY: as in `slot`. At the interpreter's end, too, when `attach` would refuse.
    unsafe { Python::attach_unchecked(|_| slot(failed, body)) }
}

/// An entry of a type's table of methods.
pub(crate) const fn method(name: &'static CStr, meth: ffi::PyMethodDefPointer, flags: c_int) -> ffi::PyMethodDef {
    ffi::PyMethodDef { ml_name: name.as_ptr(), ml_meth: meth, ml_flags: flags, ml_doc: ptr::null() }
}

/// `PySendResult`.
pub(in crate::host) const RETURN: c_int = 0;
const ERROR: c_int = -1;
const NEXT: c_int = 1;

/// One step of the coroutine: the outcome, or itself to wait for.
unsafe fn step(object: *mut ffi::PyObject, result: &mut *mut ffi::PyObject) -> c_int {
    // SAFETY: the slot of our type is called with an object of it.
    let op = unsafe { op_of(object) };
    if !op.is_mine() {
        return slot(ERROR, |_| Err(not_mine()));
    }
    op.awaited.store(true, Ordering::Relaxed);
    match op.status.get() {
        Status::Done => {
            *result = op.outcome_ref();
            if (*result).is_null() { slot(ERROR, |_| Err(not_mine())) } else { RETURN }
        }
        Status::Pending => {
            // Another thread may have started it since it was looked at.
            if !op.claim() {
                return slot(ERROR, |_| Err(not_mine()));
            }
            op.blocking.store(true, Ordering::Relaxed);
            // SAFETY: alive.
            unsafe { ffi::Py_INCREF(object) };
            *result = object;
            NEXT
        }
        Status::Lazy => {
            let started = attached(ERROR, |py| op.start(py, object).map(|()| NEXT));
            if started == ERROR {
                return ERROR;
            }
            // SAFETY: as above.
            unsafe { step(object, result) }
        }
        Status::Failed | Status::Cancelled => attached(ERROR, |py| match op.poll(py) {
            Some(Err(error)) => Err(error),
            _ => Ok(ERROR),
        }),
    }
}

pub(super) unsafe extern "C" fn am_send(
    object: *mut ffi::PyObject,
    _value: *mut ffi::PyObject,
    result: *mut *mut ffi::PyObject,
) -> c_int {
    // SAFETY: the interpreter gives a place for the result.
    unsafe { step(object, &mut *result) }
}

pub(super) unsafe extern "C" fn iternext(object: *mut ffi::PyObject) -> *mut ffi::PyObject {
    let mut result = ptr::null_mut();
    // SAFETY: called with an object of our type.
    match unsafe { step(object, &mut result) } {
        NEXT => result,
        RETURN => {
            // SAFETY: `result` is ours; "no exception set" means StopIteration(None).
            unsafe { stop(result) };
            ptr::null_mut()
        }
        _ => ptr::null_mut(),
    }
}

pub(super) unsafe extern "C" fn send(object: *mut ffi::PyObject, _value: *mut ffi::PyObject) -> *mut ffi::PyObject {
    let mut result = ptr::null_mut();
    // SAFETY: called with an object of our type.
    match unsafe { step(object, &mut result) } {
        NEXT => result,
        RETURN => {
            // SAFETY: `result` is ours.
            unsafe {
                if result == ffi::Py_None() {
                    ffi::PyErr_SetNone(ffi::PyExc_StopIteration);
                }
                stop_plainly(result);
            }
            ptr::null_mut()
        }
        _ => ptr::null_mut(),
    }
}

pub(in crate::host) unsafe extern "C" fn itself(object: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: alive.
    unsafe { ffi::Py_INCREF(object) };
    object
}

/// `throw(type_or_exception, value=None, traceback=None)`: the caller has given up; the exception goes back.
pub(super) unsafe extern "C" fn throw(
    object: *mut ffi::PyObject,
    args: *mut *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
) -> *mut ffi::PyObject {
    attached(ptr::null_mut(), |py| {
        // SAFETY: `count` arguments are given.
        let args = unsafe { arguments(py, args, count) };
        // SAFETY: an object of our type.
        let op = unsafe { op_of(object) };
        if !op.is_mine() {
            return Err(not_mine());
        }
        op.awaited.store(true, Ordering::Relaxed);
        op.cancel(py, object, None);
        let error = asyncio::thrown(&args);
        op.tell(py, &error);
        Err(error)
    })
}

pub(super) unsafe extern "C" fn close(object: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    attached(ptr::null_mut(), |py| {
        // SAFETY: an object of our type.
        let op = unsafe { op_of(object) };
        op.awaited.store(true, Ordering::Relaxed);
        // The garbage collector closes abandoned coroutines on any thread; then the answer comes, and is dropped.
        if op.is_mine() {
            op.cancel(py, object, None);
        }
        Ok(py.None().into_ptr())
    })
}

/// `cancel(msg=None)`.
pub(super) unsafe extern "C" fn cancel(
    object: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    attached(ptr::null_mut(), |py| {
        // SAFETY: an object of our type; names is null or a tuple.
        let (op, named) = unsafe { (op_of(object), if names.is_null() { 0 } else { ffi::PyTuple_Size(names) }) };
        if !op.is_mine() {
            return Err(not_mine());
        }
        if count + named > 1 || (named == 1 && !is_named(py, names, "msg")) {
            return Err(pyo3::exceptions::PyTypeError::new_err("cancel(msg=None)"));
        }
        // SAFETY: as many arguments are given, alive for the call.
        let message = (count + named == 1).then(|| unsafe { *args }).filter(|&message| message != none());
        // SAFETY: alive.
        let message = message.map(|message| unsafe { Owned::from_borrowed(message) });
        op.awaited.store(true, Ordering::Relaxed);
        Ok(bool_ref(op.cancel(py, object, message)))
    })
}

/// Whether the first of the names is this one.
fn is_named(py: Python<'_>, names: *mut ffi::PyObject, expected: &str) -> bool {
    // SAFETY: a tuple with one name at least, alive for the call.
    let name = unsafe { Bound::from_borrowed_ptr(py, ffi::PyTuple_GetItem(names, 0)) };
    name.extract::<std::borrow::Cow<'_, str>>().is_ok_and(|name| name == expected)
}

fn none() -> *mut ffi::PyObject {
    // SAFETY: it always exists.
    unsafe { ffi::Py_None() }
}

fn bool_ref(value: bool) -> *mut ffi::PyObject {
    // SAFETY: the two are immortal or counted; the thread is attached in all slots.
    unsafe {
        let object = if value { ffi::Py_True() } else { ffi::Py_False() };
        ffi::Py_INCREF(object);
        object
    }
}

/// # Safety
/// `count` arguments stand at `args`.
pub(in crate::host) unsafe fn arguments(
    py: Python<'_>,
    args: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
) -> Vec<Bound<'_, PyAny>> {
    // SAFETY: as the caller says; borrowed for the call.
    (0..count as usize).map(|i| unsafe { Bound::from_borrowed_ptr(py, *args.add(i)) }).collect()
}

pub(super) unsafe extern "C" fn done(object: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: an object of our type.
    let op = unsafe { op_of(object) };
    if !op.is_mine() {
        return slot(ptr::null_mut(), |_| Err(not_mine()));
    }
    bool_ref(op.is_over())
}

pub(super) unsafe extern "C" fn cancelled(object: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: an object of our type.
    let op = unsafe { op_of(object) };
    if !op.is_mine() {
        return slot(ptr::null_mut(), |_| Err(not_mine()));
    }
    bool_ref(op.status.get() == Status::Cancelled)
}

pub(super) unsafe extern "C" fn result(object: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: an object of our type.
    let op = unsafe { op_of(object) };
    if op.status.get() == Status::Done && op.claim() {
        op.awaited.store(true, Ordering::Relaxed);
        return op.outcome_ref();
    }
    attached(ptr::null_mut(), |py| {
        if !op.is_mine() {
            return Err(not_mine());
        }
        op.awaited.store(true, Ordering::Relaxed);
        op.poll(py).unwrap_or_else(|| Err(asyncio::invalid_state(py, "Result is not set.")))
    })
}

pub(super) unsafe extern "C" fn exception(object: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: an object of our type.
    let op = unsafe { op_of(object) };
    attached(ptr::null_mut(), |py| {
        if !op.is_mine() {
            return Err(not_mine());
        }
        op.awaited.store(true, Ordering::Relaxed);
        match op.status.get() {
            Status::Lazy | Status::Pending => Err(asyncio::invalid_state(py, "Exception is not set.")),
            Status::Cancelled => Err(op.cancelled_error(py)),
            Status::Done => Ok(py.None().into_ptr()),
            Status::Failed => Ok(op.outcome_ref()).and_then(|exception| {
                if exception.is_null() {
                    return Err(PyRuntimeError::new_err("the exception of this operation is gone"));
                }
                Ok(exception)
            }),
        }
    })
}

pub(super) unsafe extern "C" fn make_cancelled_error(
    object: *mut ffi::PyObject,
    _: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    attached(ptr::null_mut(), |py| {
        // SAFETY: an object of our type.
        let op = unsafe { op_of(object) };
        if !op.is_mine() {
            return Err(not_mine());
        }
        let error = match op.status.get() {
            Status::Cancelled => op.cancelled_error(py),
            _ => asyncio::cancelled_error(py, None),
        };
        Ok(error.into_value(py).into_ptr())
    })
}

pub(super) unsafe extern "C" fn get_loop(object: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: an object of our type.
    let op = unsafe { op_of(object) };
    if !op.is_mine() {
        return slot(ptr::null_mut(), |_| Err(not_mine()));
    }
    if !op.has_loop() {
        return slot(ptr::null_mut(), |py| {
            // One that was over when it was made has none of its own.
            let running = if op.is_over() { asyncio::running_loop(py)? } else { py.None().into_bound(py) };
            if running.is_none() {
                let text = "the operation has no event loop yet: it was called outside of one";
                return Err(PyRuntimeError::new_err(text));
            }
            Ok(running.into_ptr())
        });
    }
    // Another thread may have started it since.
    if !op.claim() {
        return slot(ptr::null_mut(), |_| Err(not_mine()));
    }
    match &*op.lane.borrow() {
        Some(lane) => {
            let event_loop = lane.get().event_loop().as_ptr();
            // SAFETY: the lane holds it.
            unsafe { ffi::Py_INCREF(event_loop) };
            event_loop
        }
        None => slot(ptr::null_mut(), |_| Err(not_mine())),
    }
}

/// `add_done_callback(callback, *, context=None)`.
pub(super) unsafe extern "C" fn add_done_callback(
    object: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: an object of our type; names is null or a tuple.
    let (op, named) = unsafe { (op_of(object), if names.is_null() { 0 } else { ffi::PyTuple_Size(names) }) };
    let failed = ptr::null_mut();
    if !op.is_mine() {
        return slot(failed, |_| Err(not_mine()));
    }
    if count != 1 || named > 1 {
        return slot(failed, |_| {
            Err(pyo3::exceptions::PyTypeError::new_err("add_done_callback(callback, *, context=None)"))
        });
    }
    if named == 1 && !attached(false, |py| Ok(is_named(py, names, "context"))) {
        return slot(failed, |_| {
            Err(pyo3::exceptions::PyTypeError::new_err("add_done_callback(callback, *, context=None)"))
        });
    }
    if op.status.get() == Status::Lazy && attached(-1, |py| op.start(py, object).map(|()| 0)) != 0 {
        return failed;
    }
    if !op.claim() {
        return slot(failed, |_| Err(not_mine()));
    }
    op.awaited.store(true, Ordering::Relaxed);
    // SAFETY: one positional argument, and at most one named one, are there, alive for the call.
    let (callback, context) = unsafe {
        let callback = Owned::from_borrowed(*args);
        let given = if named == 1 { *args.add(1) } else { ptr::null_mut() };
        let context = if given.is_null() || given == ffi::Py_None() {
            match slot(None, |py| asyncio::copy_context(py).map(|context| Some(Owned::from(context)))) {
                Some(context) => context,
                None => return failed,
            }
        } else {
            Owned::from_borrowed(given)
        };
        (callback, context)
    };
    if op.is_over() {
        return attached(failed, |py| {
            let lane = op.lane.borrow().as_ref().map(|lane| lane.clone_ref(py));
            let event_loop = match &lane {
                Some(lane) => lane.get().event_loop().bind(py).clone(),
                // It was over before it had a loop.
                None => asyncio::running_loop(py)?,
            };
            if event_loop.is_none() {
                return Err(PyRuntimeError::new_err("no running event loop"));
            }
            // SAFETY: alive.
            let me = unsafe { Bound::from_borrowed_ptr(py, object) };
            asyncio::call_soon(py, &event_loop, &callback.bind(py), &me, &context.bind(py))?;
            Ok(py.None().into_ptr())
        });
    }
    match op.callback.take() {
        None => op.callback.set(Some((callback, context))),
        first => {
            op.callback.set(first);
            op.more.borrow_mut().push((callback, context));
        }
    }
    // SAFETY: attached.
    unsafe {
        let none = ffi::Py_None();
        ffi::Py_INCREF(none);
        none
    }
}

/// `remove_done_callback(callback)`: how many were removed.
pub(super) unsafe extern "C" fn remove_done_callback(
    object: *mut ffi::PyObject,
    callback: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: an object of our type.
    let op = unsafe { op_of(object) };
    attached(ptr::null_mut(), |py| {
        if !op.is_mine() {
            return Err(not_mine());
        }
        if op.status.get() == Status::Lazy {
            // No callback is taken before it is started.
            return Ok(0_usize.into_pyobject(py)?.into_any().into_ptr());
        }
        if !op.claim() {
            return Err(not_mine());
        }
        // SAFETY: alive for the call.
        let wanted = unsafe { Bound::from_borrowed_ptr(py, callback) };
        let mut kept = Vec::new();
        let mut removed: usize = 0;
        let mut failed = None;
        // Comparing runs foreign code: nothing of ours is borrowed meanwhile.
        for entry in op.callback.take().into_iter().chain(op.take_more()) {
            // SAFETY: the entry holds it.
            let registered = unsafe { Bound::from_borrowed_ptr(py, entry.0.as_ptr()) };
            match if failed.is_none() { registered.eq(&wanted) } else { Ok(false) } {
                Ok(true) => removed += 1,
                Ok(false) => kept.push(entry),
                Err(error) => {
                    failed = Some(error);
                    kept.push(entry);
                }
            }
        }
        // Behind them those that it has added.
        let mut all = kept.into_iter().chain(op.callback.take()).chain(op.take_more());
        op.callback.set(all.next());
        *op.more.borrow_mut() = all.collect();
        if let Some(error) = failed {
            return Err(error);
        }
        Ok(removed.into_pyobject(py)?.into_ptr())
    })
}

/// `_asyncio_future_blocking`: true for the task that the operation was just given to, which takes it for a future then. For all
/// else asyncio is to take it for a coroutine, which `ensure_future` makes a task of: `asyncio.wait` takes no object that is
/// both.
pub(super) unsafe extern "C" fn blocking_get(object: *mut ffi::PyObject, _: *mut c_void) -> *mut ffi::PyObject {
    // SAFETY: an object of our type.
    let op = unsafe { op_of(object) };
    if op.blocking.load(Ordering::Relaxed) {
        return bool_ref(true);
    }
    // SAFETY: attached.
    unsafe { ffi::Py_NewRef(ffi::Py_None()) }
}

pub(super) unsafe extern "C" fn blocking_set(
    object: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
    _: *mut c_void,
) -> c_int {
    // SAFETY: an object of our type; the value is null (del) or alive.
    unsafe {
        let op = op_of(object);
        if !op.is_mine() {
            return slot(-1, |_| Err(not_mine()));
        }
        op.blocking.store(value == ffi::Py_True(), Ordering::Relaxed);
    }
    0
}

/// `_cancel_message`: gather asks for it.
pub(super) unsafe extern "C" fn cancel_message(object: *mut ffi::PyObject, _: *mut c_void) -> *mut ffi::PyObject {
    attached(ptr::null_mut(), |py| {
        // SAFETY: an object of our type.
        let op = unsafe { op_of(object) };
        if !op.is_mine() {
            return Err(not_mine());
        }
        let message = if op.status.get() == Status::Cancelled { op.outcome_ref() } else { ptr::null_mut() };
        Ok(if message.is_null() { py.None().into_ptr() } else { message })
    })
}

pub(super) unsafe extern "C" fn repr(object: *mut ffi::PyObject) -> *mut ffi::PyObject {
    attached(ptr::null_mut(), |py| {
        // SAFETY: an object of our type.
        let op = unsafe { op_of(object) };
        let state = if op.is_mine() {
            match op.status.get() {
                Status::Lazy => "not started",
                Status::Pending => "pending",
                Status::Done => "done",
                Status::Failed => "failed",
                Status::Cancelled => "cancelled",
            }
        } else {
            "of another thread"
        };
        Ok(format!("<aerolane operation '{}', {state}>", op.name).into_pyobject(py)?.into_any().into_ptr())
    })
}

/// What the garbage collector is to know of.
pub(super) unsafe extern "C" fn traverse(object: *mut ffi::PyObject, visit: ffi::visitproc, arg: *mut c_void) -> c_int {
    // SAFETY: an object of our type, whole: it is tracked when it has its outcome. No thread touches objects while they are
    // traversed: without the GIL, too, others are stopped where the interpreter says so, and nowhere in here do they let go of it
    // while a cell is taken. Nothing is counted or freed.
    unsafe {
        let op = op_of(object);
        let kind: *mut ffi::PyObject = ffi::Py_TYPE(object).cast();
        let outcome = (*op.outcome.as_ptr()).as_ref().map(Owned::as_ptr);
        for seen in [Some(kind), outcome].into_iter().flatten() {
            let stop = visit(seen, arg);
            if stop != 0 {
                return stop;
            }
        }
    }
    0
}

/// Breaks cycles. Only operations with an outcome are tracked: it is that which closes one.
pub(super) unsafe extern "C" fn clear(object: *mut ffi::PyObject) -> c_int {
    // SAFETY: an object of our type, that nobody can reach any more.
    drop(unsafe { op_of(object) }.outcome.take());
    0
}

pub(super) unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
    // SAFETY: the interpreter frees objects on attached threads; at its own end, too, when `attach` refuses.
    unsafe {
        Python::attach_unchecked(|py| {
            // The last reference is gone, so this thread has the object for itself; it is freed as it was allocated, and
            // its heap type loses the reference of this instance. Untracking what is not tracked does nothing.
            ffi::PyObject_GC_UnTrack(object.cast());
            let kind = ffi::Py_TYPE(object);
            let op = &mut (*object.cast::<Object>()).op;
            if !op.awaited.load(Ordering::Relaxed) && op.status.get() != Status::Cancelled {
                warn_never_awaited(py, op);
            }
            // Where it stands: it is large, and moved for nothing otherwise.
            ManuallyDrop::drop(op);
            ffi::PyObject_GC_Del(object.cast());
            ffi::Py_DECREF(kind.cast());
        });
    }
}

#[cold]
fn warn_never_awaited(py: Python<'_>, op: &Op) {
    // Whatever is being raised goes on afterwards.
    let raised = PyErr::take(py);
    let mut text = format!("aerolane operation '{}' was never awaited", op.name);
    if let Some(error) = op.take_failure(py) {
        // Nobody else hears of it.
        let _ = write!(text, ": {error}");
    }
    if let Some(origin) = op.origin.take() {
        let _ = write!(text, "\nOperation created at (most recent call last)\n{}", origin.bind(py));
    }
    let warned = std::ffi::CString::new(text)
        .map_or(Ok(()), |text| PyErr::warn(py, &py.get_type::<pyo3::exceptions::PyRuntimeWarning>(), &text, 1));
    if let Err(error) = warned {
        error.write_unraisable(py, None);
    }
    if let Some(raised) = raised {
        raised.restore(py);
    }
}
