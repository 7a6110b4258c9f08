//! A fast path for methods that programs call for each operation.
//!
//! `PyO3` has the interpreter make a tuple for each call of a method that takes `**named`, and looks for arguments by name in any
//! case. A fast call takes the place of such a method in its class, with its signature and its docstring. It carries out a call
//! with at most one argument (`upsert(key)`, `execute()`), by the convention `METH_FASTCALL`, and passes any other call to the
//! method itself.

use std::ffi::CString;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::host::{method, slot};

/// The fast path of a method.
pub(crate) trait FastCall: 'static {
    type Class: pyo3::PyClass;

    const NAME: &'static str;

    /// The method itself, once the fast call has taken its place.
    fn method() -> &'static AtomicPtr<ffi::PyObject>;

    /// A call with one argument, or none; `None`: it is for the method itself.
    ///
    /// `PyO3` has not been told that the thread is attached: a `Py` that is dropped here is given back later.
    fn call_fast(slf: &Bound<'_, Self::Class>, argument: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Py<PyAny>>>;
}

/// Puts a fast call in the place of a method of a class. Its table lives as long as the process.
pub(crate) fn install<D: FastCall>(py: Python<'_>) -> PyResult<()> {
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
        ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: call_fast::<D> },
        ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
    );
    definition.ml_doc = CString::new(doc)?.into_raw();
    // One reference is never given back: calls may outlive the module.
    D::method().store(itself.into_ptr(), Ordering::Release);
    // SAFETY: the definition is whole, and lives for ever.
    let descriptor = unsafe {
        let descriptor = ffi::PyDescr_NewMethod(class.as_type_ptr(), Box::leak(Box::new(definition)));
        Bound::from_owned_ptr_or_err(py, descriptor)?
    };
    class.setattr(D::NAME, descriptor)
}

/// What the interpreter calls: with an object of the class, which it has checked.
unsafe extern "C" fn call_fast<D: FastCall>(
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
            if let Some(result) = D::call_fast(slf, argument)? {
                return Ok(result.into_ptr());
            }
        }
        // SAFETY: `count` arguments, and behind them one for each name; names is null or a tuple.
        unsafe { call_method::<D>(py, slf, arguments, count, names) }
    })
}

/// Calls the method itself.
///
/// # Safety
/// As the interpreter calls a method.
#[cold]
unsafe fn call_method<D: FastCall>(
    py: Python<'_>,
    slf: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> PyResult<*mut ffi::PyObject> {
    // SAFETY: as the caller says; the method was stored before the fast call took its place.
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

/// Defines and installs a fast call: `fast_call!(py, Session::upsert, |slf, argument| ..)`.
macro_rules! fast_call {
    ($py:expr, $class:ident :: $name:ident, |$slf:ident, $argument:ident| $way:expr) => {{
        struct Target;
        impl $crate::fast_call::FastCall for Target {
            type Class = $class;

            const NAME: &'static str = stringify!($name);

            fn method() -> &'static std::sync::atomic::AtomicPtr<pyo3::ffi::PyObject> {
                static METHOD: std::sync::atomic::AtomicPtr<pyo3::ffi::PyObject> =
                    std::sync::atomic::AtomicPtr::new(std::ptr::null_mut());
                &METHOD
            }

            #[inline]
            fn call_fast(
                $slf: &pyo3::Bound<'_, $class>,
                $argument: Option<&pyo3::Bound<'_, pyo3::PyAny>>,
            ) -> pyo3::PyResult<Option<pyo3::Py<pyo3::PyAny>>> {
                $way
            }
        }
        $crate::fast_call::install::<Target>($py)
    }};
}
pub(crate) use fast_call;
