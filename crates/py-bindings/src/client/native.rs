//! The commands with the arguments that the native client's methods take.

use std::sync::Arc;

use aerolane::command::encode::WriteKind;
use aerospike_core::BasePolicy;
use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;

use super::single::{self, Overrides};
use super::twin::Twin;
use crate::core::ClientCore;
use crate::key::Key;
use crate::policy::kinds::{Filter, Kind};
use crate::policy::{ReadPolicy, WritePolicy};

type Object<'a, 'py> = &'a Bound<'py, PyAny>;

/// The policy of the call: `sc` where the namespace is strongly consistent and there is one.
fn by_mode<'a, P>(core: &ClientCore, key: &Bound<'_, Key>, policy: Option<P>, sc: Option<P>) -> Option<P>
where
    P: Copy + 'a,
{
    if sc.is_some() && mode(core, key.get().namespace()) == Some(true) { sc } else { policy }
}

/// Whether a namespace is in strong-consistency mode, by the partition map; `None`: there is no such namespace.
pub(crate) fn mode(core: &ClientCore, namespace: &str) -> Option<bool> {
    core.raw.cluster().strong_consistency(namespace)
}

/// What a call says beside its policy. Transactions come with a later version: `None` only.
#[derive(Default)]
pub(super) struct Later<'a, 'py> {
    pub(super) filter_expression: Option<Object<'a, 'py>>,
    pub(super) txn: Option<Object<'a, 'py>>,
}

impl Later<'_, '_> {
    fn refuse(&self) -> PyResult<()> {
        match self.txn {
            None => Ok(()),
            Some(_) => {
                Err(PyNotImplementedError::new_err("txn: transactions are not supported by this version; pass None"))
            }
        }
    }

    /// The policy with the filter that is given here, which goes before its own.
    fn apply<P: Clone>(&self, policy: Arc<P>, base: fn(&mut P) -> &mut BasePolicy) -> PyResult<Arc<P>> {
        self.refuse()?;
        let Some(filter) = self.filter_expression else { return Ok(policy) };
        let filter = Filter::set(filter, "filter_expression")?;
        let mut policy = Arc::unwrap_or_clone(policy);
        base(&mut policy).filter_expression = filter;
        Ok(Arc::new(policy))
    }
}

pub(super) fn get<'a>(
    _py: Python<'_>,
    core: &ClientCore,
    key: &'a Bound<'_, Key>,
    bins: Option<Object<'a, '_>>,
    policy: Option<&Bound<'_, ReadPolicy>>,
    policy_sc: Option<&Bound<'_, ReadPolicy>>,
    later: Later<'_, '_>,
) -> PyResult<impl Twin> {
    let policy = ReadPolicy::in_force(by_mode(core, key, policy, policy_sc));
    Ok(single::get(key, bins, later.apply(policy, |policy| &mut policy.base_policy)?))
}

pub(super) fn put<'a>(
    _py: Python<'_>,
    core: &ClientCore,
    key: &'a Bound<'_, Key>,
    bins: Object<'a, '_>,
    policy: Option<&Bound<'_, WritePolicy>>,
    policy_sc: Option<&Bound<'_, WritePolicy>>,
    later: Later<'_, '_>,
) -> PyResult<impl Twin> {
    later.refuse()?;
    Ok(single::write(WriteKind::Put, key, bins, WritePolicy::in_force(by_mode(core, key, policy, policy_sc))))
}

pub(super) fn write<'a>(
    _py: Python<'_>,
    _core: &ClientCore,
    kind: WriteKind,
    key: &'a Bound<'_, Key>,
    bins: Object<'a, '_>,
    policy: Option<&Bound<'_, WritePolicy>>,
) -> PyResult<impl Twin> {
    Ok(single::write(kind, key, bins, WritePolicy::in_force(policy)))
}

pub(super) fn delete(
    _py: Python<'_>,
    _core: &ClientCore,
    key: &Bound<'_, Key>,
    policy: Option<&Bound<'_, WritePolicy>>,
) -> PyResult<impl Twin> {
    Ok(single::delete(key, WritePolicy::in_force(policy)))
}

pub(super) fn touch(
    _py: Python<'_>,
    _core: &ClientCore,
    key: &Bound<'_, Key>,
    policy: Option<&Bound<'_, WritePolicy>>,
) -> PyResult<impl Twin> {
    Ok(single::touch(key, WritePolicy::in_force(policy)))
}

pub(super) fn exists(
    _py: Python<'_>,
    _core: &ClientCore,
    key: &Bound<'_, Key>,
    policy: Option<&Bound<'_, ReadPolicy>>,
) -> PyResult<impl Twin> {
    Ok(single::exists(key, ReadPolicy::in_force(policy)))
}

pub(super) fn exists_legacy(
    _py: Python<'_>,
    _core: &ClientCore,
    key: &Bound<'_, Key>,
    policy: Option<&Bound<'_, ReadPolicy>>,
) -> PyResult<impl Twin> {
    Ok(single::metadata(key, ReadPolicy::in_force(policy)))
}

#[allow(clippy::too_many_arguments)] // the arguments of the Python method
pub(super) fn operate<'a>(
    _py: Python<'_>,
    core: &Arc<ClientCore>,
    key: &'a Bound<'_, Key>,
    operations: Object<'a, '_>,
    policy: Option<&Bound<'_, WritePolicy>>,
    policy_sc: Option<&Bound<'_, WritePolicy>>,
    overrides: Overrides<'_, '_>,
    later: Later<'_, '_>,
) -> PyResult<impl Twin> {
    let policy = WritePolicy::in_force(by_mode(core, key, policy, policy_sc));
    let policy = later.apply(overrides.apply(policy)?, |policy| &mut policy.base_policy)?;
    single::operate(key, operations, policy)
}
