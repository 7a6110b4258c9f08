//! Policies: aerospike-core's, as Python objects with mutable properties.
//!
//! * [`define`]: how the classes are defined; [`kinds`], [`enums`], [`expiration`]: what their properties are
//! * [`point`], [`batch`], [`control`]: the policies of calls
//! * [`client`], [`tls`]: the policy of a client

mod batch;
mod client;
mod control;
pub(crate) mod define;
pub(crate) mod enums;
mod expiration;
pub(crate) mod kinds;
mod point;
mod tls;

use pyo3::prelude::*;

pub(crate) use batch::{BatchDeletePolicy, BatchPolicy, BatchReadPolicy, BatchUDFPolicy, BatchWritePolicy};
pub(crate) use client::{ClientPolicy, Settings as ClientSettings};
pub(crate) use control::{AdminPolicy, QueryPolicy, TxnRollPolicy, TxnVerifyPolicy};
pub(crate) use expiration::Expiration;
pub(crate) use point::{ReadPolicy, WritePolicy};
pub(crate) use tls::TlsConfig;

/// The settings that all policies share: timeouts, retries, and which copies are read.
///
/// It cannot be instantiated: use `ReadPolicy`, `WritePolicy`, `BatchPolicy` or `QueryPolicy`.
#[pyclass(frozen, subclass, module = "aerolane.policy")]
pub(crate) struct BasePolicy;

impl BasePolicy {
    /// What a policy has in common with others.
    ///
    /// # Errors
    /// It is of a class whose policies have nothing in common with others.
    pub(crate) fn shared_part(policy: &Bound<'_, Self>) -> PyResult<aerospike_core::BasePolicy> {
        let policy = policy.as_any();
        if let Ok(policy) = policy.cast::<ReadPolicy>() {
            Ok(policy.get().snapshot().base_policy.clone())
        } else if let Ok(policy) = policy.cast::<WritePolicy>() {
            Ok(policy.get().snapshot().base_policy.clone())
        } else if let Ok(policy) = policy.cast::<BatchPolicy>() {
            Ok(policy.get().snapshot().base_policy.clone())
        } else {
            Ok(policy.cast::<QueryPolicy>()?.get().snapshot().base_policy.clone())
        }
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    enums::register(module)?;
    module.add_class::<Expiration>()?;
    module.add_class::<BasePolicy>()?;
    module.add_class::<ReadPolicy>()?;
    module.add_class::<WritePolicy>()?;
    module.add_class::<BatchPolicy>()?;
    module.add_class::<BatchReadPolicy>()?;
    module.add_class::<BatchWritePolicy>()?;
    module.add_class::<BatchDeletePolicy>()?;
    module.add_class::<BatchUDFPolicy>()?;
    module.add_class::<QueryPolicy>()?;
    module.add_class::<AdminPolicy>()?;
    module.add_class::<TxnVerifyPolicy>()?;
    module.add_class::<TxnRollPolicy>()?;
    module.add_class::<ClientPolicy>()?;
    module.add_class::<TlsConfig>()
}
