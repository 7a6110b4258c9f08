//! The object that an async call gives: awaitable, a coroutine to asyncio, and a future to the task that awaits it.
//!
//! Its type is made of raw slots: the loop calls six of them for each operation, and a slot of our own costs a fraction
//! of a generated method. All state is touched on one thread only, that of the event loop which the operation belongs
//! to ([`Op::claim`]); each entry point checks that.

mod kind;
pub(super) mod slots;

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicUsize, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;

use super::asyncio;
use super::lane::Lane;
use super::origin;
use super::running::thread_token;
use super::work::Work;
use crate::call::AnswerKind;
pub(super) use kind::register;

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
    /// The stack at the call, as text, where the program asks for that ([`origin`](super::origin)).
    origin: Cell<Option<Owned>>,
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
        let name = name_of(&work);
        let op = Self::named(py, lane, work, name)?;
        if lane.is_none_or(|lane| lane.get().notes_origins) {
            op.note_origin(py);
        }
        Ok(op)
    }

    /// Remembers where the operation was called, if the program asks for that: for the warning that it was never awaited.
    #[cold]
    pub(super) fn note_origin(&self, py: Python<'_>) {
        self.get().origin.set(origin::here(py).map(Owned::from));
    }

    /// [`new`](Self::new), under another name than that of its work.
    pub(super) fn named(
        py: Python<'_>,
        lane: Option<&Bound<'_, Lane>>,
        work: Work,
        name: &'static str,
    ) -> PyResult<Self> {
        let status = if lane.is_some() { Status::Pending } else { Status::Lazy };
        let owner = if lane.is_some() { thread_token() } else { 0 };
        let kind = TYPE.load(Ordering::Relaxed);
        debug_assert!(!kind.is_null(), "registered with the module");
        // SAFETY: `kind` is our type; what is allocated has room for an `Object`, whose header is filled in. The garbage
        // collector does not know of it before `track`.
        unsafe {
            let object = ffi::PyObject_GC_New::<ffi::PyObject>(kind);
            if object.is_null() {
                return Err(PyErr::fetch(py));
            }
            // Made where it stands, as it is large.
            (&raw mut (*object.cast::<Object>()).op).write(ManuallyDrop::new(Op {
                owner: AtomicUsize::new(owner),
                status: StatusCell(AtomicU8::new(status as u8)),
                name,
                blocking: AtomicBool::new(false),
                awaited: AtomicBool::new(false),
                outcome: Cell::new(None),
                origin: Cell::new(None),
                callback: Cell::new(None),
                more: RefCell::new(Vec::new()),
                has_lane: AtomicBool::new(lane.is_some()),
                lane: RefCell::new(lane.map(|lane| lane.clone().unbind())),
                work: RefCell::new(work),
            }));
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

    /// Nobody has to await it: it is dropped without a warning.
    pub(super) fn need_not_be_awaited(&self) {
        self.get().awaited.store(true, Ordering::Relaxed);
    }

    /// Sets the result. Nothing happens if there is an outcome already.
    pub(super) fn resolve(&self, result: Py<PyAny>) {
        // SAFETY: alive; so is its type.
        let flags = unsafe { ffi::PyType_GetFlags(ffi::Py_TYPE(result.as_ptr())) };
        if self.get().end(Status::Done, Some(Owned::from(result))) && flags & ffi::Py_TPFLAGS_HAVE_GC != 0 {
            // As below, through the rows of a list.
            self.track();
        }
    }

    /// [`resolve`](Self::resolve), with an object that tells the garbage collector nothing.
    pub(super) fn resolve_untold(&self, result: Py<PyAny>) {
        self.get().end(Status::Done, Some(Owned::from(result)));
    }

    /// Sets the exception. Nothing happens if there is an outcome already.
    pub(super) fn reject(&self, py: Python<'_>, error: PyErr) {
        if self.get().end(Status::Failed, Some(Owned::from(error.into_value(py).into_any()))) {
            self.track();
        }
    }

    /// From here on there may be a cycle: an exception knows the frames that it was raised in, and those the operation.
    /// All else that an operation refers to is given up with its outcome.
    fn track(&self) {
        // SAFETY: allocated by `PyObject_GC_New`, whole, and not tracked before: an operation ends once.
        unsafe { ffi::PyObject_GC_Track(self.0.as_ptr().cast()) }
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
    /// Whether it has an outcome.
    pub(super) fn is_over(&self) -> bool {
        !matches!(self.status.get(), Status::Lazy | Status::Pending)
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
        if self.owner.load(Ordering::Relaxed) == token {
            return true;
        }
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
            Status::Done => {
                let result = self.outcome_ref();
                Some(if result.is_null() { Err(not_mine()) } else { Ok(result) })
            }
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

    /// The error of an operation that has failed, taken out.
    fn take_failure(&self, py: Python<'_>) -> Option<PyErr> {
        let outcome = self.outcome.take().filter(|_| self.status.get() == Status::Failed)?;
        Some(PyErr::from_value(outcome.bind(py)))
    }

    /// `CancelledError`, with the message that was given.
    fn cancelled_error(&self, py: Python<'_>) -> PyErr {
        // SAFETY: null, or alive in its cell.
        let message = unsafe { Bound::from_owned_ptr_or_opt(py, self.outcome_ref()) };
        let error = asyncio::cancelled_error(py, message);
        self.tell(py, &error);
        error
    }

    /// The first exception that is raised where a cancelled operation was awaited hears what the call had done. (Asyncio raises it
    /// twice: out of the result, and where the coroutine stands.)
    fn tell(&self, py: Python<'_>, error: &PyErr) {
        if self.status.get() == Status::Cancelled
            && self.claim()
            && let Work::Cancelled(tell) = self.work.take()
        {
            tell(py, error);
        }
    }

    /// A new reference to the outcome. Null if there is none, or if it is another thread's: an operation without a loop
    /// may have been started there since it was asked whose it is.
    fn outcome_ref(&self) -> *mut ffi::PyObject {
        if !self.claim() {
            return ptr::null_mut();
        }
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
            *self.work.borrow_mut() = work.abandon(lane);
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
            (AnswerKind::Record, _) => "get",
            (AnswerKind::Results, _) => "operate",
            (AnswerKind::Exists, false) => "exists",
            (AnswerKind::Exists, true) => "delete",
            (AnswerKind::Metadata, _) => "exists_legacy",
            (AnswerKind::Nothing, _) => "put",
        },
        Work::Many(_) | Work::None => "many",
        Work::Task(_) | Work::Later(..) | Work::Cancelled(_) => "call",
    }
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
