//! Policies: aerospike-core's, as Python objects with mutable properties.
//!
//! A policy is read by many threads while one changes it, so each holds an immutable snapshot that a setter replaces.
//! A call keeps the snapshot that it began with.

use std::sync::{Arc, LazyLock};

use arc_swap::ArcSwap;
use pyo3::prelude::*;

/// How reads behave.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct ReadPolicy(ArcSwap<aerospike_core::ReadPolicy>);

/// How writes behave.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct WritePolicy(ArcSwap<aerospike_core::WritePolicy>);

static READ: LazyLock<Arc<aerospike_core::ReadPolicy>> = LazyLock::new(Arc::default);
static WRITE: LazyLock<Arc<aerospike_core::WritePolicy>> = LazyLock::new(Arc::default);

impl ReadPolicy {
    /// The policy in force: the given one, or the default.
    pub(crate) fn in_force(policy: Option<&Bound<'_, Self>>) -> Arc<aerospike_core::ReadPolicy> {
        policy.map_or_else(|| Arc::clone(&READ), |policy| policy.get().0.load_full())
    }
}

impl WritePolicy {
    /// The policy in force: the given one, or the default.
    pub(crate) fn in_force(policy: Option<&Bound<'_, Self>>) -> Arc<aerospike_core::WritePolicy> {
        policy.map_or_else(|| Arc::clone(&WRITE), |policy| policy.get().0.load_full())
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ReadPolicy>()?;
    module.add_class::<WritePolicy>()
}
