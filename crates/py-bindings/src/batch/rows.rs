//! Keys of Python as rows of a batch.

use aerolane::raw::{RawBatch, RawKey};
use aerolane_wire::digest::Digest;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use crate::key::Key;

/// A key object: its bytes are read without the GIL.
pub(crate) struct RowKey {
    pub(crate) key: Py<Key>,
    /// The row's record is an answer to `operate`.
    pub(crate) operate: bool,
}

impl RawKey for RowKey {
    #[inline]
    fn namespace(&self) -> &str {
        self.key.get().namespace()
    }

    #[inline]
    fn digest(&self) -> &Digest {
        self.key.get().digest()
    }

    #[inline]
    fn names(&self) -> (&[u8], u32) {
        self.key.get().names()
    }

    fn user_key(&self) -> &[u8] {
        self.key.get().user_key_field()
    }
}

pub(crate) type Rows = RawBatch<RowKey>;

/// The items of a sequence, each one given to `each` with its place.
pub(crate) fn each_item<'py>(
    items: &Bound<'py, PyAny>,
    mut each: impl FnMut(usize, Bound<'py, PyAny>) -> PyResult<()>,
) -> PyResult<()> {
    if let Ok(list) = items.cast_exact::<PyList>() {
        return list.iter().enumerate().try_for_each(|(place, item)| each(place, item));
    }
    if let Ok(tuple) = items.cast_exact::<PyTuple>() {
        return tuple.iter().enumerate().try_for_each(|(place, item)| each(place, item));
    }
    items.try_iter()?.enumerate().try_for_each(|(place, item)| each(place, item?))
}

/// Refuses what is a sequence but certainly not one of keys.
pub(crate) fn check_keys(keys: &Bound<'_, PyAny>) -> PyResult<()> {
    if keys.is_instance_of::<PyString>() || keys.is_instance_of::<Key>() {
        let kind = keys.get_type();
        return Err(PyTypeError::new_err(format!("keys must be a list of Key, not {}", kind.name()?)));
    }
    Ok(())
}

/// How many items there may be, to make room for them.
pub(crate) fn room(items: &Bound<'_, PyAny>) -> usize {
    /// Whatever an object says about its length.
    const MOST: usize = 1 << 16;
    items.len().unwrap_or(0).min(MOST)
}

/// A key of a sequence.
#[inline]
pub(super) fn key(place: usize, item: Bound<'_, PyAny>, operate: bool) -> PyResult<RowKey> {
    Ok(RowKey { key: checked_key(place, item)?.unbind(), operate })
}

/// An item of a sequence of keys.
#[inline]
pub(crate) fn checked_key(place: usize, item: Bound<'_, PyAny>) -> PyResult<Bound<'_, Key>> {
    item.cast_into::<Key>().map_err(|error| no_key(place, &error.into_inner()))
}

#[cold]
fn no_key(place: usize, item: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("keys[{place}] must be a Key, not {}", item.get_type()))
}
