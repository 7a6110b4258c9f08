//! The object that an async call gives: awaitable, Future-like and Coroutine-like at once.
//!
//! Its type is made of raw slots: the loop calls six of them for each operation, and a slot of our own costs a fraction
//! of a generated method. All state is touched on one thread only, that of the event loop which the operation belongs
//! to ([`Op::claim`]); each entry point checks that.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicUsize, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::asyncio;
use super::lane::Lane;
use super::running::thread_token;
use super::work::Work;
use crate::call::Becomes;

/// Where an operation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Status {
    /// Not started: it was called outside of a loop.
    Lazy,
    Pending,
    /// `outcome` is its result.
    Done,
    /// `outcome` is its exception.
    Failed,
    /// `outcome` is the message that was given, if any.
    Cancelled,
}

/// A status that any thread may look at; it is set on the thread of the loop.
struct StatusCell(AtomicU8);

impl StatusCell {
    fn get(&self) -> Status {
        const ALL: [Status; 5] = [Status::Lazy, Status::Pending, Status::Done, Status::Failed, Status::Cancelled];
        ALL[usize::from(self.0.load(Ordering::Relaxed))]
    }

    fn set(&self, status: Status) {
        self.0.store(status as u8, Ordering::Relaxed);
    }
}

/// What is behind the object's header.
pub(super) struct Op {
    /// The thread of its loop ([`thread_token`]); 0 before it is started.
    owner: AtomicUsize,
    status: StatusCell,
    /// What it is called where it is named.
    name: &'static str,
    /// `_asyncio_future_blocking`.
    blocking: AtomicBool,
    /// Somebody has asked for the outcome.
    awaited: AtomicBool,
    outcome: Cell<Option<Owned>>,
    callback: Cell<Option<(Owned, Owned)>>,
    more: RefCell<Vec<(Owned, Owned)>>,
    /// Whether `lane` is there, for any thread.
    has_lane: AtomicBool,
    pub(super) lane: RefCell<Option<Py<Lane>>>,
    pub(super) work: RefCell<Work>,
}

#[repr(C)]
struct Object {
    header: ffi::PyObject,
    op: ManuallyDrop<Op>,
}

/// An owned reference whose drop is a plain decrement: the thread is attached wherever an `Op` is touched.
pub(super) struct Owned(ptr::NonNull<ffi::PyObject>);

impl From<Py<PyAny>> for Owned {
    fn from(object: Py<PyAny>) -> Self {
        // SAFETY: never null.
        unsafe { Self(ptr::NonNull::new_unchecked(object.into_ptr())) }
    }
}

impl Owned {
    /// # Safety
    /// A live object; the thread is attached.
    unsafe fn from_borrowed(object: *mut ffi::PyObject) -> Self {
        // SAFETY: as the caller says.
        unsafe {
            ffi::Py_INCREF(object);
            Self(ptr::NonNull::new_unchecked(object))
        }
    }

    fn as_ptr(&self) -> *mut ffi::PyObject {
        self.0.as_ptr()
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the reference is ours; `Op`s are touched and dropped by attached threads only.
        unsafe { ffi::Py_DECREF(self.0.as_ptr()) }
    }
}

// SAFETY: a reference may be held anywhere; counts are changed by attached threads only (see `Drop`).
unsafe impl Send for Owned {}

/// The type object, made when the module is.
static TYPE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(ptr::null_mut());

/// A reference to an operation.
pub(crate) struct OpRef(Py<PyAny>);

impl OpRef {
    /// A new operation. Without a lane it starts when it is first awaited.
    pub(super) fn new(py: Python<'_>, lane: Option<&Bound<'_, Lane>>, work: Work) -> PyResult<Self> {
        let status = if lane.is_some() { Status::Pending } else { Status::Lazy };
        let op = Op {
            owner: AtomicUsize::new(if lane.is_some() { thread_token() } else { 0 }),
            status: StatusCell(AtomicU8::new(status as u8)),
            name: name_of(&work),
            blocking: AtomicBool::new(false),
            awaited: AtomicBool::new(false),
            outcome: Cell::new(None),
            callback: Cell::new(None),
            more: RefCell::new(Vec::new()),
            has_lane: AtomicBool::new(lane.is_some()),
            lane: RefCell::new(lane.map(|lane| lane.clone().unbind())),
            work: RefCell::new(work),
        };
        let kind = TYPE.load(Ordering::Relaxed);
        debug_assert!(!kind.is_null(), "registered with the module");
        // SAFETY: `kind` is our type; what is allocated has room for an `Object`, whose header is filled in. The garbage
        // collector does not know of it before `track`.
        unsafe {
            let object = ffi::PyObject_GC_New::<ffi::PyObject>(kind);
            if object.is_null() {
                return Err(PyErr::fetch(py));
            }
            (&raw mut (*object.cast::<Object>()).op).write(ManuallyDrop::new(op));
            Ok(Self(Bound::from_owned_ptr(py, object).unbind()))
        }
    }

    pub(super) fn clone_ref(&self, py: Python<'_>) -> Self {
        Self(self.0.clone_ref(py))
    }

    pub(crate) fn into_any(self) -> Py<PyAny> {
        self.0
    }

    pub(super) fn as_any(&self) -> &Py<PyAny> {
        &self.0
    }

    pub(super) fn get(&self) -> &Op {
        // SAFETY: only `new` makes an `OpRef`, of an object of our type.
        unsafe { op_of(self.0.as_ptr()) }
    }

    /// Sets the exception. Nothing happens if there is an outcome already.
    pub(super) fn reject(&self, py: Python<'_>, error: PyErr) {
        if self.get().end(Status::Failed, Some(Owned::from(error.into_value(py).into_any()))) {
            // From here on there may be a cycle: an exception knows the frames that it was raised in, and those the
            // operation. All else that an operation refers to is given up with its outcome.
            // SAFETY: allocated by `PyObject_GC_New`, whole, and not tracked before: an operation ends once.
            unsafe { ffi::PyObject_GC_Track(self.0.as_ptr().cast()) }
        }
    }

    /// Whom to wake: its callbacks.
    pub(super) fn take_callbacks(&self) -> Option<(Owned, Owned)> {
        self.get().callback.take()
    }
}

/// # Safety
/// `object` is of our type and alive for `'a`.
unsafe fn op_of<'a>(object: *mut ffi::PyObject) -> &'a Op {
    // SAFETY: as the caller says; `op` is written right after the object is allocated.
    unsafe { &(*object.cast::<Object>()).op }
}

impl Op {
    pub(super) fn status(&self) -> Status {
        self.status.get()
    }

    /// Whether it has an outcome.
    pub(super) fn is_over(&self) -> bool {
        !matches!(self.status.get(), Status::Lazy | Status::Pending)
    }

    /// Sets the result. Nothing happens if there is an outcome already.
    pub(super) fn resolve(&self, result: Py<PyAny>) {
        self.end(Status::Done, Some(Owned::from(result)));
    }

    fn end(&self, status: Status, outcome: Option<Owned>) -> bool {
        let ends = !self.is_over();
        if ends {
            self.status.set(status);
            self.outcome.set(outcome);
        }
        ends
    }

    /// Callbacks beyond the first.
    pub(super) fn take_more(&self) -> Vec<(Owned, Owned)> {
        self.more.take()
    }

    /// The thread may touch the operation: it is that of its loop, or the operation has no loop yet.
    fn is_mine(&self) -> bool {
        let owner = self.owner.load(Ordering::Relaxed);
        owner == thread_token() || owner == 0
    }

    /// Whether it belongs to an event loop: it was called in one, or has been started.
    fn has_loop(&self) -> bool {
        self.has_lane.load(Ordering::Relaxed)
    }

    /// Makes the operation one of this thread's. False: another thread was faster.
    fn claim(&self) -> bool {
        let token = thread_token();
        match self.owner.compare_exchange(0, token, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => true,
            Err(owner) => owner == token,
        }
    }

    /// The outcome, to be raised or returned; `None` while there is none.
    fn poll(&self, py: Python<'_>) -> Option<PyResult<*mut ffi::PyObject>> {
        match self.status.get() {
            Status::Lazy | Status::Pending => None,
            Status::Cancelled => Some(Err(self.cancelled_error(py))),
            Status::Done => Some(Ok(self.outcome_ref())),
            Status::Failed => {
                // SAFETY: null after the garbage collector has cleared it, or an exception, alive in its cell.
                let exception = unsafe { Bound::from_owned_ptr_or_opt(py, self.outcome_ref()) };
                let Some(exception) = exception else {
                    return Some(Err(PyRuntimeError::new_err("the exception of this operation is gone")));
                };
                // Otherwise it would grow with each time it is raised.
                // SAFETY: an exception; no traceback is what it was born with.
                unsafe { ffi::PyException_SetTraceback(exception.as_ptr(), ffi::Py_None()) };
                Some(Err(PyErr::from_value(exception)))
            }
        }
    }

    /// `CancelledError`, with the message that was given.
    fn cancelled_error(&self, py: Python<'_>) -> PyErr {
        // SAFETY: null, or alive in its cell.
        let message = unsafe { Bound::from_owned_ptr_or_opt(py, self.outcome_ref()) };
        asyncio::cancelled_error(py, message)
    }

    /// A new reference to the outcome.
    fn outcome_ref(&self) -> *mut ffi::PyObject {
        let outcome = self.outcome.take();
        let pointer = outcome.as_ref().map_or(ptr::null_mut(), Owned::as_ptr);
        self.outcome.set(outcome);
        // SAFETY: null, or alive: the cell holds a reference.
        unsafe { ffi::Py_XINCREF(pointer) };
        pointer
    }

    /// Starts an operation that was called outside of a loop.
    #[cold]
    fn start(&self, py: Python<'_>, object: *mut ffi::PyObject) -> PyResult<()> {
        if !self.claim() {
            return Err(not_mine());
        }
        // SAFETY: the caller's reference is alive.
        let me = OpRef(unsafe { Bound::from_borrowed_ptr(py, object) }.unbind());
        self.status.set(Status::Pending);
        let started = super::start(py, &me);
        if started.is_err() {
            self.status.set(Status::Lazy);
            self.owner.store(0, Ordering::Release);
        } else {
            self.has_lane.store(true, Ordering::Release);
        }
        started
    }

    /// The caller gives up. False: it is over already.
    fn cancel(&self, py: Python<'_>, object: *mut ffi::PyObject, message: Option<Owned>) -> bool {
        // One that was not started may be in the hands of several threads.
        if self.is_over() || !self.claim() {
            return false;
        }
        self.end(Status::Cancelled, message);
        let work = self.work.take();
        let lane = self.lane.borrow().as_ref().map(|lane| lane.clone_ref(py));
        if let Some(lane) = lane {
            let lane = lane.bind(py);
            work.abandon(lane);
            // SAFETY: the caller's reference is alive.
            let me = OpRef(unsafe { Bound::from_borrowed_ptr(py, object) }.unbind());
            // Not at once: this runs inside of another task.
            lane.get().wake_later(py, &me);
        }
        true
    }
}

#[cold]
fn not_mine() -> PyErr {
    PyRuntimeError::new_err(
        "this operation belongs to the event loop of another thread; call the client from a coroutine on the loop that \
         is to run it (for example `async def main(): return await client.get(key)`)",
    )
}

/// What an operation is called where it is named.
fn name_of(work: &Work) -> &'static str {
    match work {
        Work::Entry(entry) => match (entry.call.becomes, entry.call.writes) {
            (Becomes::Record, _) => "get",
            (Becomes::Results, _) => "operate",
            (Becomes::Exists, false) => "exists",
            (Becomes::Exists, true) => "delete",
            (Becomes::Metadata, _) => "exists_legacy",
            (Becomes::Nothing, _) => "put",
        },
        Work::Many(_) | Work::None => "many",
        Work::Task(_) | Work::Later(..) => "call",
    }
}

// ---- slots -----------------------------------------------------------------------------------------------------------

/// Runs a slot: no panic crosses, an error is raised.
fn slot<R>(failed: R, body: impl FnOnce(Python<'_>) -> PyResult<R>) -> R {
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
fn attached<R>(failed: R, body: impl FnOnce(Python<'_>) -> PyResult<R>) -> R {
    // SAFETY: as in `slot`. At the interpreter's end, too, when `attach` would refuse.
    unsafe { Python::attach_unchecked(|_| slot(failed, body)) }
}

/// `PySendResult`.
const RETURN: c_int = 0;
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
            RETURN
        }
        Status::Pending => {
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

unsafe extern "C" fn am_send(
    object: *mut ffi::PyObject,
    _value: *mut ffi::PyObject,
    result: *mut *mut ffi::PyObject,
) -> c_int {
    // SAFETY: the interpreter gives a place for the result.
    unsafe { step(object, &mut *result) }
}

unsafe extern "C" fn iternext(object: *mut ffi::PyObject) -> *mut ffi::PyObject {
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

/// Raises StopIteration with a value that is ours to give away.
unsafe fn stop(result: *mut ffi::PyObject) {
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

unsafe extern "C" fn send(object: *mut ffi::PyObject, _value: *mut ffi::PyObject) -> *mut ffi::PyObject {
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
                stop(result);
            }
            ptr::null_mut()
        }
        _ => ptr::null_mut(),
    }
}

unsafe extern "C" fn itself(object: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: alive.
    unsafe { ffi::Py_INCREF(object) };
    object
}

/// `throw(type_or_exception, value=None, traceback=None)`: the caller has given up; the exception goes back.
unsafe extern "C" fn throw(
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
        Err(asyncio::thrown(&args))
    })
}

unsafe extern "C" fn close(object: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
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
unsafe extern "C" fn cancel(
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
unsafe fn arguments<'py>(
    py: Python<'py>,
    args: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
) -> Vec<Bound<'py, PyAny>> {
    // SAFETY: as the caller says; borrowed for the call.
    (0..count as usize).map(|i| unsafe { Bound::from_borrowed_ptr(py, *args.add(i)) }).collect()
}

unsafe extern "C" fn done(object: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: an object of our type.
    let op = unsafe { op_of(object) };
    if !op.is_mine() {
        return slot(ptr::null_mut(), |_| Err(not_mine()));
    }
    bool_ref(op.is_over())
}

unsafe extern "C" fn cancelled(object: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: an object of our type.
    let op = unsafe { op_of(object) };
    if !op.is_mine() {
        return slot(ptr::null_mut(), |_| Err(not_mine()));
    }
    bool_ref(op.status.get() == Status::Cancelled)
}

unsafe extern "C" fn result(object: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: an object of our type.
    let op = unsafe { op_of(object) };
    if op.status.get() == Status::Done && op.is_mine() {
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

unsafe extern "C" fn exception(object: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
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

unsafe extern "C" fn make_cancelled_error(object: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
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

unsafe extern "C" fn get_loop(object: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: an object of our type.
    let op = unsafe { op_of(object) };
    if !op.is_mine() {
        return slot(ptr::null_mut(), |_| Err(not_mine()));
    }
    match &*op.lane.borrow() {
        Some(lane) => {
            let event_loop = lane.get().event_loop().as_ptr();
            // SAFETY: the lane holds it.
            unsafe { ffi::Py_INCREF(event_loop) };
            event_loop
        }
        None => slot(ptr::null_mut(), |_| {
            Err(PyRuntimeError::new_err("the operation has no event loop yet: it was called outside of one"))
        }),
    }
}

/// `add_done_callback(callback, *, context=None)`.
unsafe extern "C" fn add_done_callback(
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
unsafe extern "C" fn remove_done_callback(
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
        // SAFETY: alive for the call.
        let wanted = unsafe { Bound::from_borrowed_ptr(py, callback) };
        let mut kept = Vec::new();
        let mut removed: usize = 0;
        // Comparing runs foreign code: nothing of ours is borrowed meanwhile.
        for entry in op.callback.take().into_iter().chain(op.take_more()) {
            // SAFETY: the entry holds it.
            let registered = unsafe { Bound::from_borrowed_ptr(py, entry.0.as_ptr()) };
            if registered.eq(&wanted)? {
                removed += 1;
            } else {
                kept.push(entry);
            }
        }
        let mut kept = kept.into_iter();
        op.callback.set(kept.next());
        op.more.borrow_mut().splice(..0, kept);
        Ok(removed.into_pyobject(py)?.into_ptr())
    })
}

unsafe extern "C" fn blocking_get(object: *mut ffi::PyObject, _: *mut c_void) -> *mut ffi::PyObject {
    // SAFETY: an object of our type.
    let op = unsafe { op_of(object) };
    if op.has_loop() {
        return bool_ref(op.blocking.load(Ordering::Relaxed));
    }
    // asyncio takes it for a coroutine then, which any loop may run, and not for a future, which would need one.
    // SAFETY: attached.
    unsafe { ffi::Py_NewRef(ffi::Py_None()) }
}

unsafe extern "C" fn blocking_set(object: *mut ffi::PyObject, value: *mut ffi::PyObject, _: *mut c_void) -> c_int {
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
unsafe extern "C" fn cancel_message(object: *mut ffi::PyObject, _: *mut c_void) -> *mut ffi::PyObject {
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

unsafe extern "C" fn repr(object: *mut ffi::PyObject) -> *mut ffi::PyObject {
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
unsafe extern "C" fn traverse(object: *mut ffi::PyObject, visit: ffi::visitproc, arg: *mut c_void) -> c_int {
    // SAFETY: an object of our type. No thread touches objects while they are traversed; nothing is counted or freed.
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

/// Breaks cycles. Only failed operations are tracked: of them, it is the exception that closes one.
unsafe extern "C" fn clear(object: *mut ffi::PyObject) -> c_int {
    // SAFETY: an object of our type, that nobody can reach any more.
    drop(unsafe { op_of(object) }.outcome.take());
    0
}

unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
    // SAFETY: the interpreter frees objects on attached threads; at its own end, too, when `attach` refuses.
    unsafe {
        Python::attach_unchecked(|py| {
            // The last reference is gone, so this thread has the object for itself; it is freed as it was allocated, and
            // its heap type loses the reference of this instance. Untracking what is not tracked does nothing.
            ffi::PyObject_GC_UnTrack(object.cast());
            let kind = ffi::Py_TYPE(object);
            let op = ManuallyDrop::take(&mut (*object.cast::<Object>()).op);
            if !op.awaited.load(Ordering::Relaxed) && op.status.get() != Status::Cancelled {
                warn_never_awaited(py, op.name);
            }
            drop(op);
            ffi::PyObject_GC_Del(object.cast());
            ffi::Py_DECREF(kind.cast());
        });
    }
}

#[cold]
fn warn_never_awaited(py: Python<'_>, name: &str) {
    // Whatever is being raised goes on afterwards.
    let raised = PyErr::take(py);
    let text = format!("aerolane operation '{name}' was never awaited");
    let warned = std::ffi::CString::new(text)
        .map_or(Ok(()), |text| PyErr::warn(py, &py.get_type::<pyo3::exceptions::PyRuntimeWarning>(), &text, 1));
    if let Err(error) = warned {
        error.write_unraisable(py, None);
    }
    if let Some(raised) = raised {
        raised.restore(py);
    }
}

// ---- the type --------------------------------------------------------------------------------------------------------

const DOC: &CStr = c"An operation that is under way: await it, or hand it to asyncio as a future or a coroutine.\n\n\
It was sent when it was called (outside of a running loop: when it is first awaited). Cancelling it, or a timeout around \
it, gives its place up at once; a write that was sent may still be executed.";

const fn method(name: &'static CStr, meth: ffi::PyMethodDefPointer, flags: c_int) -> ffi::PyMethodDef {
    ffi::PyMethodDef { ml_name: name.as_ptr(), ml_meth: meth, ml_flags: flags, ml_doc: ptr::null() }
}

/// Makes the type. Its tables live as long as the process.
fn make_type(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    use ffi::PyMethodDefPointer as P;
    let plain = |name, f| method(name, P { PyCFunction: f }, ffi::METH_NOARGS);
    let methods = vec![
        method(c"send", P { PyCFunction: send }, ffi::METH_O),
        method(c"throw", P { PyCFunctionFast: throw }, ffi::METH_FASTCALL),
        plain(c"close", close as ffi::PyCFunction),
        plain(c"done", done),
        plain(c"cancelled", cancelled),
        plain(c"result", result),
        plain(c"exception", exception),
        plain(c"get_loop", get_loop),
        plain(c"_make_cancelled_error", make_cancelled_error),
        method(c"cancel", P { PyCFunctionFastWithKeywords: cancel }, ffi::METH_FASTCALL | ffi::METH_KEYWORDS),
        method(
            c"add_done_callback",
            P { PyCFunctionFastWithKeywords: add_done_callback },
            ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
        ),
        method(c"remove_done_callback", P { PyCFunction: remove_done_callback }, ffi::METH_O),
        ffi::PyMethodDef::zeroed(),
    ];
    let attributes = vec![
        ffi::PyGetSetDef {
            name: c"_asyncio_future_blocking".as_ptr(),
            get: Some(blocking_get),
            set: Some(blocking_set),
            doc: ptr::null(),
            closure: ptr::null_mut(),
        },
        ffi::PyGetSetDef {
            name: c"_cancel_message".as_ptr(),
            get: Some(cancel_message),
            set: None,
            doc: ptr::null(),
            closure: ptr::null_mut(),
        },
        ffi::PyGetSetDef::default(),
    ];
    let slot = |slot: c_int, pfunc: *mut c_void| ffi::PyType_Slot { slot, pfunc };
    let mut slots = vec![
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_traverse, traverse as *mut c_void),
        slot(ffi::Py_tp_clear, clear as *mut c_void),
        slot(ffi::Py_tp_repr, repr as *mut c_void),
        slot(ffi::Py_tp_iter, itself as *mut c_void),
        slot(ffi::Py_tp_iternext, iternext as *mut c_void),
        slot(ffi::Py_am_await, itself as *mut c_void),
        slot(ffi::Py_am_send, am_send as *mut c_void),
        slot(ffi::Py_tp_methods, Vec::leak(methods).as_mut_ptr().cast()),
        slot(ffi::Py_tp_getset, Vec::leak(attributes).as_mut_ptr().cast()),
        slot(ffi::Py_tp_doc, DOC.as_ptr() as *mut c_void),
        slot(0, ptr::null_mut()),
    ];
    const NAME: &CStr = c"aerolane.Awaitable";
    let mut spec = ffi::PyType_Spec {
        name: NAME.as_ptr().cast::<c_char>(),
        basicsize: size_of::<Object>() as c_int,
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_HAVE_GC | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION) as u32,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the spec and all it points to are well formed; methods, attributes and texts live for ever.
    unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&raw mut spec)).map(|kind| kind.cast_into_unchecked())
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let kind = make_type(module.py())?;
    module.add("Awaitable", &kind)?;
    // One reference is never given back: operations may outlive the module.
    TYPE.store(kind.into_ptr().cast(), Ordering::Release);
    Ok(())
}

impl Owned {
    pub(super) fn bind<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        // SAFETY: alive, this holds a reference.
        unsafe { Bound::from_borrowed_ptr(py, self.as_ptr()) }
    }

    pub(super) fn raw(&self) -> *mut ffi::PyObject {
        self.as_ptr()
    }
}
