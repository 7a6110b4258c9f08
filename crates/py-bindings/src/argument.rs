//! Arguments of async methods, looked at when it is their turn: `PyO3` would raise at the call what does not fit, and an async
//! call tells it where it is awaited ([`host::at_await`](crate::host::at_await)).

use std::path::PathBuf;

use pyo3::PyTypeCheck;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::admin::Privilege;
use crate::cdt::Flags;

/// What an argument can be taken as.
pub(crate) trait Argument<'a, 'py>: Sized {
    /// # Errors
    /// It does not fit.
    fn of(object: &'a Bound<'py, PyAny>) -> PyResult<Self>;
}

impl<'a, 'py, T: PyTypeCheck> Argument<'a, 'py> for &'a Bound<'py, T> {
    #[inline]
    fn of(object: &'a Bound<'py, PyAny>) -> PyResult<Self> {
        Ok(object.cast()?)
    }
}

impl<'a, 'py, T: Argument<'a, 'py>> Argument<'a, 'py> for Option<T> {
    #[inline]
    fn of(object: &'a Bound<'py, PyAny>) -> PyResult<Self> {
        if object.is_none() { Ok(None) } else { T::of(object).map(Some) }
    }
}

impl<'a> Argument<'a, '_> for &'a str {
    fn of(object: &'a Bound<'_, PyAny>) -> PyResult<Self> {
        object.cast::<PyString>()?.to_str()
    }
}

/// As `PyO3` takes them.
macro_rules! extracted {
    ($($kind:ty),* $(,)?) => {
        $(
            impl<'py> Argument<'_, 'py> for $kind {
                fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
                    object.extract().map_err(PyErr::from)
                }
            }
        )*
    };
}

extracted!(bool, u32, i64, usize, String, PathBuf, Flags, Vec<String>, Vec<PyRef<'py, Privilege>>);

/// The argument of this name.
///
/// # Errors
/// It does not fit: what `PyO3` would raise, with the same note.
#[inline]
pub(crate) fn argument<'a, 'py, T: Argument<'a, 'py>>(name: &str, object: &'a Bound<'py, PyAny>) -> PyResult<T> {
    T::of(object).map_err(|error| noted(object.py(), name, error))
}

/// [`argument`] that is `None` where there is none.
#[inline]
pub(crate) fn optional<'a, 'py, T: Argument<'a, 'py>>(
    name: &str,
    object: Option<&'a Bound<'py, PyAny>>,
) -> PyResult<Option<T>> {
    object.map(|object| argument(name, object)).transpose()
}

#[cold]
fn noted(py: Python<'_>, name: &str, error: PyErr) -> PyErr {
    // Only helps to find it.
    let _ = error.value(py).call_method1("add_note", (format!("while processing '{name}'"),));
    error
}
