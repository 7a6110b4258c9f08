//! Locks that are taken while the thread is attached to the interpreter.

use std::sync::PoisonError;

use aerolane::sync::{Mutex, MutexGuard};
use pyo3::Python;
use pyo3::sync::MutexExt;

/// [`MutexExt`] for our mutex.
pub(crate) trait LockAttached<T> {
    /// Takes the lock; detaches from the interpreter while it has to wait.
    fn lock_py_attached(&self, py: Python<'_>) -> MutexGuard<'_, T>;
}

impl<T> LockAttached<T> for Mutex<T> {
    fn lock_py_attached(&self, py: Python<'_>) -> MutexGuard<'_, T> {
        self.as_std().lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}
