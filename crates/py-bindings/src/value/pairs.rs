//! The pairs of a mapping, in its order.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyDict, PyList, PyTuple};
use pyo3::{ffi, intern};

use super::Refused;

/// Gives each pair of a mapping to `each`; says how many there were.
///
/// `each` may run Python code, which may change the mapping: that is safe, and an error if its size has changed.
#[inline]
pub(crate) fn each_pair<'py, E: From<Refused> + From<PyErr>>(
    mapping: &Bound<'py, PyAny>,
    each: impl FnMut(&Bound<'py, PyAny>, &Bound<'py, PyAny>) -> Result<(), E>,
) -> Result<usize, E> {
    match mapping.cast_exact::<PyDict>() {
        Ok(dict) => of_dict(dict, each),
        Err(_) => of_items(&items(mapping)?, each),
    }
}

/// The pairs of a mapping that is no exact dict, as it gives them out: an `OrderedDict` has an order of its own.
pub(super) fn items<'py>(mapping: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let py = mapping.py();
    if !mapping.is_instance_of::<PyDict>() && !mapping.hasattr(intern!(py, "items"))? {
        let kind = mapping.get_type().name()?;
        return Err(PyTypeError::new_err(format!("a dict or another mapping was expected, not {kind}")));
    }
    // SAFETY: the object is alive, and the thread is attached. A new reference comes back, or null with an exception.
    let items = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyMapping_Items(mapping.as_ptr()))? };
    Ok(items.cast_into::<PyList>()?)
}

pub(super) fn of_items<'py, E: From<Refused> + From<PyErr>>(
    items: &Bound<'py, PyList>,
    mut each: impl FnMut(&Bound<'py, PyAny>, &Bound<'py, PyAny>) -> Result<(), E>,
) -> Result<usize, E> {
    for pair in items {
        let pair = pair.cast_into::<PyTuple>().map_err(PyErr::from)?;
        each(&pair.get_item(0)?, &pair.get_item(1)?)?;
    }
    Ok(items.len())
}

#[inline]
fn of_dict<'py, E: From<Refused>>(
    dict: &Bound<'py, PyDict>,
    mut each: impl FnMut(&Bound<'py, PyAny>, &Bound<'py, PyAny>) -> Result<(), E>,
) -> Result<usize, E> {
    let py = dict.py();
    let len = dict.len();
    let mut seen = 0;
    with_critical_section(dict, || {
        let mut position = 0;
        let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the dict is alive, the thread attached. `PyDict_Next` takes any position that it has set itself, also
        // after a change of the dict; without the GIL it is called inside of the dict's critical section. What it gives
        // are borrowed references, which are made owned before anything else runs.
        while unsafe { ffi::PyDict_Next(dict.as_ptr(), &raw mut position, &raw mut key, &raw mut value) } != 0 {
            // SAFETY: as above; both are set when there was a pair.
            let (key, value) = unsafe { (Bound::from_borrowed_ptr(py, key), Bound::from_borrowed_ptr(py, value)) };
            if seen == len {
                return Err(Refused::changed("dict").into());
            }
            seen += 1;
            each(&key, &value)?;
        }
        if seen == len { Ok(len) } else { Err(Refused::changed("dict").into()) }
    })
}
