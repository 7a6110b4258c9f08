//! Administration: users and roles, replication filters.
//!
//! * [`users`]: users, roles and privileges as Python sees them
//! * [`commands`]: the calls

pub(crate) mod commands;
mod users;

use pyo3::prelude::*;

pub(crate) use users::Privilege;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    users::register(module)
}
