//! What is needed of Python's asyncio, looked up once.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyType};
use pyo3::{ffi, intern};

use super::guarded;

static RUNNING_LOOP: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static CANCELLED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static INVALID_STATE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static CONTEXT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static COPY_CONTEXT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The running event loop of this thread, or `None`.
pub(super) fn running_loop(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let function = RUNNING_LOOP.get_or_try_init(py, || {
        let module = py.import("asyncio.events")?;
        module.getattr("_get_running_loop").map(Bound::unbind)
    })?;
    function.bind(py).call0()
}

/// Whether tasks may run this loop from within: not if asyncio or uvloop runs it. Loops of GUI toolkits are run by dialogs, too,
/// and `nest_asyncio` makes any loop of Python's such a one.
pub(super) fn may_nest(event_loop: &Bound<'_, PyAny>) -> bool {
    let py = event_loop.py();
    let runs = event_loop.get_type().getattr(intern!(py, "run_forever"));
    let module = runs.and_then(|runs| runs.getattr(intern!(py, "__module__"))?.extract::<String>());
    !module.is_ok_and(|module| matches!(module.split('.').next(), Some("asyncio" | "uvloop")))
}

/// A context without variables, for callbacks that the loop keeps: in a copy of the current one, which is what it takes by
/// itself, they would hold the variables of the task that happens to run for as long.
pub(super) fn empty_context(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let kind = CONTEXT.get_or_try_init(py, || py.import("contextvars")?.getattr("Context").map(Bound::unbind))?;
    kind.bind(py).call0()
}

/// `event_loop.name(fd, callback, *argument)`, in an empty context.
pub(super) fn watch(
    event_loop: &Bound<'_, PyAny>,
    name: &Bound<'_, PyString>,
    fd: i32,
    callback: &Bound<'_, PyAny>,
    argument: Option<i32>,
) -> PyResult<()> {
    let py = event_loop.py();
    let (context, method) = (empty_context(py)?, event_loop.getattr(name)?);
    let run = intern!(py, "run");
    match argument {
        Some(argument) => guarded::call_method(&context, run, (method, fd, callback, argument), None),
        None => guarded::call_method(&context, run, (method, fd, callback), None),
    }
    .map(drop)
}

/// `event_loop.call_later(delay, callback, context=...)`, in an empty context.
pub(super) fn call_later(
    event_loop: &Bound<'_, PyAny>,
    delay: f64,
    callback: &Bound<'_, PyAny>,
) -> PyResult<Py<PyAny>> {
    let py = event_loop.py();
    let named = PyDict::new(py);
    named.set_item(intern!(py, "context"), empty_context(py)?)?;
    guarded::call_method(event_loop, intern!(py, "call_later"), (delay, callback), Some(&named)).map(Bound::unbind)
}

/// A copy of the current context.
pub(super) fn copy_context(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let function =
        COPY_CONTEXT.get_or_try_init(py, || py.import("contextvars")?.getattr("copy_context").map(Bound::unbind))?;
    function.call0(py)
}

fn exception<'py>(py: Python<'py>, cell: &'static PyOnceLock<Py<PyType>>, name: &str) -> PyResult<Bound<'py, PyType>> {
    let kind = cell
        .get_or_try_init(py, || Ok::<_, PyErr>(py.import("asyncio")?.getattr(name)?.cast_into::<PyType>()?.unbind()))?;
    Ok(kind.bind(py).clone())
}

/// `asyncio.CancelledError`.
pub(super) fn cancelled_error(py: Python<'_>, message: Option<Bound<'_, PyAny>>) -> PyErr {
    match exception(py, &CANCELLED, "CancelledError") {
        Ok(kind) => match message {
            Some(message) => PyErr::from_type(kind, (message.unbind(),)),
            None => PyErr::from_type(kind, ()),
        },
        Err(error) => error,
    }
}

/// `asyncio.InvalidStateError`.
pub(super) fn invalid_state(py: Python<'_>, message: &'static str) -> PyErr {
    match exception(py, &INVALID_STATE, "InvalidStateError") {
        Ok(kind) => PyErr::from_type(kind, message),
        Err(error) => error,
    }
}

/// The exception that was given to `throw(type_or_exception, value=None, traceback=None)`.
pub(super) fn thrown(args: &[Bound<'_, PyAny>]) -> PyErr {
    let is_exception = |object: &Bound<'_, PyAny>| object.is_instance_of::<pyo3::exceptions::PyBaseException>();
    match args {
        [exception, ..] if is_exception(exception) => PyErr::from_value(exception.clone()),
        [_, value, ..] if is_exception(value) => PyErr::from_value(value.clone()),
        [kind, rest @ ..] => match kind.cast::<PyType>() {
            Ok(kind) => match rest.first().filter(|value| !value.is_none()) {
                Some(value) => PyErr::from_type(kind.clone(), value.clone().unbind()),
                None => PyErr::from_type(kind.clone(), ()),
            },
            Err(_) => pyo3::exceptions::PyTypeError::new_err("throw() takes an exception"),
        },
        [] => pyo3::exceptions::PyTypeError::new_err("throw() takes an exception"),
    }
}

/// `event_loop.call_soon(callback, argument, context=context)`.
pub(super) fn call_soon(
    py: Python<'_>,
    event_loop: &Bound<'_, PyAny>,
    callback: &Bound<'_, PyAny>,
    argument: &Bound<'_, PyAny>,
    context: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let named = PyDict::new(py);
    named.set_item(intern!(py, "context"), context)?;
    guarded::call_method(event_loop, intern!(py, "call_soon"), (callback, argument), Some(&named)).map(drop)
}

/// Tells a loop of an exception that nobody else hears of.
pub(super) fn report(py: Python<'_>, event_loop: &Bound<'_, PyAny>, error: &PyErr) {
    let told = (|| {
        let context = PyDict::new(py);
        context.set_item("message", "an exception in a task that an aerolane operation woke")?;
        context.set_item("exception", error.value(py))?;
        guarded::call_method(event_loop, intern!(py, "call_exception_handler"), (context,), None)
    })();
    if let Err(error) = told {
        error.write_unraisable(py, Some(event_loop));
    }
}

/// `PyContext_Enter` and `PyContext_Exit`. They are not in the limited API, but have been exported unchanged by every
/// Python since 3.7; found at run time, so that a Python without them still works.
#[derive(Clone, Copy)]
pub(super) struct ContextApi {
    enter: unsafe extern "C" fn(*mut ffi::PyObject) -> i32,
    exit: unsafe extern "C" fn(*mut ffi::PyObject) -> i32,
}

impl ContextApi {
    /// Looks the two up; `None` where they are not exported.
    pub(super) fn find() -> Option<Self> {
        static FOUND: std::sync::OnceLock<Option<ContextApi>> = std::sync::OnceLock::new();
        *FOUND.get_or_init(|| {
            // SAFETY: names are C strings; what is found has the signature that CPython documents.
            unsafe {
                let enter = libc::dlsym(libc::RTLD_DEFAULT, c"PyContext_Enter".as_ptr());
                let exit = libc::dlsym(libc::RTLD_DEFAULT, c"PyContext_Exit".as_ptr());
                if enter.is_null() || exit.is_null() {
                    return None;
                }
                Some(Self {
                    enter: std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn(*mut ffi::PyObject) -> i32>(
                        enter,
                    ),
                    exit: std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn(*mut ffi::PyObject) -> i32>(
                        exit,
                    ),
                })
            }
        })
    }

    /// Runs `body` inside of a context; `None` if the context has been entered already.
    pub(super) fn run<R>(self, py: Python<'_>, context: &Bound<'_, PyAny>, body: impl FnOnce() -> R) -> Option<R> {
        // SAFETY: a context object, alive, the thread is attached; left again below.
        if unsafe { (self.enter)(context.as_ptr()) } != 0 {
            drop(PyErr::take(py));
            return None;
        }
        let result = body();
        // What `body` raised is kept by its result; leaving the context it entered cannot fail.
        // SAFETY: as above.
        unsafe { (self.exit)(context.as_ptr()) };
        Some(result)
    }
}
