//! Objects of our classes that are made for each call.
//!
//! `Py::new` has `object.__new__` make an object: it looks up how the class allocates, fills the memory with zeros and tells the
//! garbage collector of it; then the value, which was made elsewhere, is moved in. Here an object is a header and the value:
//! allocated without a detour, not told of, and the value is made where it stays.

use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;
use pyo3::{PyClass, ffi};

use crate::recycled;

/// A class whose objects are made by [`instance`]: [`prepare`] has to be called before there is one.
///
/// When they are made they have nothing to tell the garbage collector, which does not hear of them.
pub(crate) trait Instance: PyClass<Frozen = True> {
    /// Whether an object can become part of a cycle later. It is tracked from then on.
    #[cfg(Py_GIL_DISABLED)]
    const MAY_BE_TRACKED: bool = false;

    /// Lets go of what the object mostly has of Python's. False: there may be more, for which `PyO3` is to be told that the thread
    /// is attached when the object is dropped.
    #[cfg(Py_GIL_DISABLED)]
    fn let_go(&mut self, py: Python<'_>) -> bool;
}

/// How an object of such a class is laid out.
#[repr(C)]
pub(crate) struct Object<T> {
    header: ffi::PyObject,
    pub(crate) value: T,
}

/// Prepares a class. Panics if its objects are not a header and the value alone, or the class breaks cycles itself.
pub(crate) fn prepare<T: Instance>(py: Python<'_>) -> PyResult<()> {
    let kind = py.get_type::<T>();
    let size: usize = kind.getattr("__basicsize__")?.extract()?;
    let bases: usize = kind.getattr("__mro__")?.len()?;
    // SAFETY: the type is alive.
    let is_known = unsafe { ffi::PyType_HasFeature(kind.as_type_ptr(), ffi::Py_TPFLAGS_HAVE_GC) } != 0;
    // Whatever else `PyO3` can put into an object takes room behind the value; a base class, before it.
    assert!(size == size_of::<Object<T>>() && bases == 2 && is_known, "{kind} is not made of its value alone");
    #[cfg(Py_GIL_DISABLED)]
    recycled::recycle::<T>(py);
    Ok(())
}

/// A new object of a class that has been prepared.
#[inline]
pub(crate) fn instance<T: Instance>(py: Python<'_>, value: impl FnOnce() -> T) -> PyResult<Py<T>> {
    let kind = T::type_object_raw(py);
    // SAFETY: the class is alive; `prepare` has seen that its objects are laid out so. What is allocated has room for one, and its
    // header is filled in; nobody sees it before its value is there. (Should `value` panic, the memory is lost.)
    unsafe {
        let object = recycled::object::<Object<T>, true>(kind);
        if object.is_null() {
            return Err(PyErr::fetch(py));
        }
        (&raw mut (*object.cast::<Object<T>>()).value).write(value());
        Ok(Bound::from_owned_ptr(py, object).cast_into_unchecked().unbind())
    }
}
