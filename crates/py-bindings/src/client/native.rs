//! The commands with the arguments that the native client's methods take.

use std::sync::Arc;

use aerolane::raw::command::encode::WriteKind;
use aerospike_core::BasePolicy;
use pyo3::prelude::*;

use crate::command::Executable;
use crate::command::single::{self, Overrides};
use crate::core::ClientCore;
use crate::key::Key;
use crate::policy::kinds::{Filter, Kind};
use crate::policy::{ReadPolicy, WritePolicy};
use crate::txn::Txn;

type Object<'a, 'py> = &'a Bound<'py, PyAny>;

/// The policy of the call: `sc` where the namespace is strongly consistent and there is one.
fn by_mode<'a, P>(core: &ClientCore, key: &Bound<'_, Key>, policy: Option<P>, sc: Option<P>) -> Option<P>
where
    P: Copy + 'a,
{
    if sc.is_some() && core.mode(key.get().namespace()) == Some(true) { sc } else { policy }
}

/// Arguments of a call that override its policy.
#[derive(Default)]
pub(super) struct CallOptions<'a, 'py> {
    pub(super) filter_expression: Option<Object<'a, 'py>>,
    pub(super) txn: Option<Object<'a, 'py>>,
}

impl CallOptions<'_, '_> {
    /// The policy with the filter and the transaction that are given here.
    fn apply<P: Clone>(&self, policy: Arc<P>, base: fn(&mut P) -> &mut BasePolicy) -> PyResult<Arc<P>> {
        if self.filter_expression.is_none() && self.txn.is_none() {
            return Ok(policy);
        }
        let mut policy = Arc::unwrap_or_clone(policy);
        let base = base(&mut policy);
        if let Some(filter) = self.filter_expression {
            base.filter_expression = Filter::set(filter, "filter_expression")?;
        }
        if let Some(txn) = self.txn {
            base.txn = Some(Txn::from_python(txn, "txn")?);
        }
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
    options: CallOptions<'_, '_>,
) -> PyResult<impl Executable> {
    let policy = ReadPolicy::in_force(by_mode(core, key, policy, policy_sc));
    Ok(single::get(core, key, bins, options.apply(policy, |policy| &mut policy.base_policy)?))
}

pub(super) fn put<'a>(
    _py: Python<'_>,
    core: &ClientCore,
    key: &'a Bound<'_, Key>,
    bins: Object<'a, '_>,
    policy: Option<&Bound<'_, WritePolicy>>,
    policy_sc: Option<&Bound<'_, WritePolicy>>,
    options: CallOptions<'_, '_>,
) -> PyResult<impl Executable> {
    let policy = WritePolicy::in_force(by_mode(core, key, policy, policy_sc));
    Ok(single::write(core, WriteKind::Put, key, bins, options.apply(policy, |policy| &mut policy.base_policy)?))
}

pub(super) fn write<'a>(
    _py: Python<'_>,
    core: &ClientCore,
    kind: WriteKind,
    key: &'a Bound<'_, Key>,
    bins: Object<'a, '_>,
    policy: Option<&Bound<'_, WritePolicy>>,
) -> PyResult<impl Executable> {
    Ok(single::write(core, kind, key, bins, WritePolicy::in_force(policy)))
}

pub(super) fn delete(
    _py: Python<'_>,
    core: &ClientCore,
    key: &Bound<'_, Key>,
    policy: Option<&Bound<'_, WritePolicy>>,
) -> PyResult<impl Executable> {
    Ok(single::delete(core, key, WritePolicy::in_force(policy)))
}

pub(super) fn touch(
    _py: Python<'_>,
    core: &ClientCore,
    key: &Bound<'_, Key>,
    policy: Option<&Bound<'_, WritePolicy>>,
) -> PyResult<impl Executable> {
    Ok(single::touch(core, key, WritePolicy::in_force(policy)))
}

pub(super) fn exists(
    _py: Python<'_>,
    core: &ClientCore,
    key: &Bound<'_, Key>,
    policy: Option<&Bound<'_, ReadPolicy>>,
) -> PyResult<impl Executable> {
    Ok(single::exists(core, key, ReadPolicy::in_force(policy)))
}

pub(super) fn exists_legacy(
    _py: Python<'_>,
    core: &ClientCore,
    key: &Bound<'_, Key>,
    policy: Option<&Bound<'_, ReadPolicy>>,
) -> PyResult<impl Executable> {
    Ok(single::metadata(core, key, ReadPolicy::in_force(policy)))
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
    options: CallOptions<'_, '_>,
) -> PyResult<impl Executable> {
    let policy = WritePolicy::in_force(by_mode(core, key, policy, policy_sc));
    let policy = options.apply(overrides.apply(policy)?, |policy| &mut policy.base_policy)?;
    single::operate(core, key, operations, policy)
}
