//! Short ways into methods that programs call for each operation.
//!
//! `PyO3` has the interpreter make a tuple for each call of a method that takes `**named`, and looks for arguments by name in any
//! case. A door stands in the place of such a method in its class, with its signature and its docstring: it carries a call with
//! at most one argument out (`upsert(key)`, `execute()`), and hands any other on to the method itself.

use std::ffi::CString;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::host::{method, slot};

/// A method with a short way.
pub(crate) trait Door: 'static {
    type Class: pyo3::PyClass;

    const NAME: &'static str;

    /// The method itself, once there is a door before it.
    fn method() -> &'static AtomicPtr<ffi::PyObject>;

    /// A call with one argument, or none; `None`: it is for the method itself.
    ///
    /// `PyO3` has not been told that the thread is attached: a `Py` that is dropped here is given back later.
    fn enter(slf: &Bound<'_, Self::Class>, argument: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Py<PyAny>>>;
}

/// Puts a door before a method of a class. Its table lives as long as the process.
pub(crate) fn install<D: Door>(py: Python<'_>) -> PyResult<()> {
    if !D::method().load(Ordering::Acquire).is_null() {
        return Ok(());
    }
    let class = py.get_type::<D::Class>();
    let itself = class.getattr(D::NAME)?;
    let text = |of: &str| itself.getattr(of)?.extract::<String>();
    // So is the signature told to the interpreter.
    let doc = format!("{}{}\n--\n\n{}", D::NAME, text("__text_signature__")?, text("__doc__")?);
    let mut definition = method(
        Box::leak(CString::new(D::NAME)?.into_boxed_c_str()),
        ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: enter::<D> },
        ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
    );
    definition.ml_doc = CString::new(doc)?.into_raw();
    // One reference is never given back: calls may outlive the module.
    D::method().store(itself.into_ptr(), Ordering::Release);
    // SAFETY: the definition is whole, and lives for ever.
    let door = unsafe {
        let door = ffi::PyDescr_NewMethod(class.as_type_ptr(), Box::leak(Box::new(definition)));
        Bound::from_owned_ptr_or_err(py, door)?
    };
    class.setattr(D::NAME, door)
}

/// What the interpreter calls: with an object of the class, which it has checked.
unsafe extern "C" fn enter<D: Door>(
    slf: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    slot(ptr::null_mut(), |py| {
        if count <= 1 && names.is_null() {
            // SAFETY: so many arguments are given, alive for the call.
            let argument = (count == 1).then(|| unsafe { Bound::ref_from_ptr(py, &*arguments) });
            // SAFETY: an object of the class, alive for the call.
            let slf = unsafe { Bound::ref_from_ptr(py, &slf).cast_unchecked() };
            if let Some(result) = D::enter(slf, argument)? {
                return Ok(result.into_ptr());
            }
        }
        // SAFETY: `count` arguments, and behind them one for each name; names is null or a tuple.
        unsafe { hand_on::<D>(py, slf, arguments, count, names) }
    })
}

/// Calls the method itself.
///
/// # Safety
/// As the interpreter calls a method.
#[cold]
unsafe fn hand_on<D: Door>(
    py: Python<'_>,
    slf: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> PyResult<*mut ffi::PyObject> {
    // SAFETY: as the caller says; the method was stored before the door was there.
    let (itself, slf, names) = unsafe {
        (
            Bound::from_borrowed_ptr(py, D::method().load(Ordering::Acquire)),
            Bound::from_borrowed_ptr(py, slf),
            Bound::from_borrowed_ptr_or_opt(py, names).map(|names| names.cast_into_unchecked::<PyTuple>()),
        )
    };
    // SAFETY: as the caller says.
    let argument = |place: usize| unsafe { Bound::from_borrowed_ptr(py, *arguments.add(place)) };
    let count = count as usize;
    let named = PyDict::new(py);
    for (place, name) in names.iter().flatten().enumerate() {
        named.set_item(name, argument(count + place))?;
    }
    let plain = PyTuple::new(py, std::iter::once(slf).chain((0..count).map(argument)).collect::<Vec<_>>())?;
    itself.call(plain, Some(&named)).map(Bound::into_ptr)
}

/// Puts a door before a method: `door!(py, Session::upsert, |slf, argument| ..)`.
macro_rules! door {
    ($py:expr, $class:ident :: $name:ident, |$slf:ident, $argument:ident| $way:expr) => {{
        struct This;
        impl $crate::door::Door for This {
            type Class = $class;

            const NAME: &'static str = stringify!($name);

            fn method() -> &'static std::sync::atomic::AtomicPtr<pyo3::ffi::PyObject> {
                static METHOD: std::sync::atomic::AtomicPtr<pyo3::ffi::PyObject> =
                    std::sync::atomic::AtomicPtr::new(std::ptr::null_mut());
                &METHOD
            }

            #[inline]
            fn enter(
                $slf: &pyo3::Bound<'_, $class>,
                $argument: Option<&pyo3::Bound<'_, pyo3::PyAny>>,
            ) -> pyo3::PyResult<Option<pyo3::Py<pyo3::PyAny>>> {
                $way
            }
        }
        $crate::door::install::<This>($py)
    }};
}
pub(crate) use door;
