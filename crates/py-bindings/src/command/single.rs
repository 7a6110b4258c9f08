//! The commands about one record.

use std::sync::Arc;

use aerolane::raw::command::encode::WriteKind;
use aerolane::raw::{RawClient, RecordId};
use aerospike_core::{GenerationPolicy, ReadPolicy as CoreRead, RecordExistsAction, WritePolicy as CoreWrite};
use pyo3::prelude::*;

use super::{Control, Executable, timed};
use crate::call::{AnswerKind, Call, PolicyRef};
use crate::core::ClientCore;
use crate::key::Key;
use crate::operation::Operations;
use crate::policy::Expiration;
use crate::policy::enums::Named;
use crate::{blocking, host, request};

type Object<'a, 'py> = &'a Bound<'py, PyAny>;

/// A command about one record.
pub(crate) struct Single<E> {
    pub(crate) call: Call,
    /// Writes the request of the call.
    pub(crate) encode: E,
}

impl<E: FnOnce(&Call, &mut Vec<u8>) -> PyResult<()>> Executable for Single<E> {
    #[inline]
    fn start(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
        if self.call.policy.base().txn.is_some() {
            core.check_open(py)?;
            return in_transaction(core, self.call, self.encode)?.start(py, core);
        }
        host::submit(py, core, self.call, self.encode)
    }

    #[inline]
    fn block(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
        core.check(py)?;
        if self.call.policy.base().txn.is_some() {
            return in_transaction(core, self.call, self.encode)?.block(py, core);
        }
        let result = blocking::run(py, &core.raw, &self.call, self.encode);
        // Here, where it is known that the thread is attached, if `PyO3` has not been told (`fast_call`).
        drop(self.call.key.into_bound(py));
        result
    }
}

/// The call as one of the transaction that its policy names. The request is encoded as always, so that arguments are
/// checked as always.
#[cold]
fn in_transaction<E: FnOnce(&Call, &mut Vec<u8>) -> PyResult<()>>(
    core: &Arc<ClientCore>,
    call: Call,
    encode: E,
) -> PyResult<impl Executable + use<E>> {
    let mut request = Vec::new();
    encode(&call, &mut request)?;
    let (client, policy, owned) = (RawClient::clone(&core.raw), call.policy.clone(), call.owned());
    let key = call.key.get();
    let (set, digest) = (Box::<str>::from(key.set()), *key.digest());
    let answer = async move {
        let raw = owned.raw();
        let record = RecordId { namespace: raw.namespace, set: &set, digest: &digest };
        client.call_in_txn(policy.base(), raw, record, &request).await
    };
    Ok(Control {
        // What became of it is for the call to say, also of a failure.
        future: async move { Ok(timed(answer).await) },
        convert: move |py: Python<'_>, answer: aerolane::Result<Vec<u8>>| match answer {
            Ok(body) => call.result(py, body.into()),
            Err(error) => call.failed(py, &error),
        },
    })
}

/// Reads bins: all (`None`) or some.
pub(crate) fn get<'a>(
    core: &ClientCore,
    key: &'a Bound<'_, Key>,
    bins: Option<Object<'a, '_>>,
    policy: Arc<CoreRead>,
) -> Single<impl FnOnce(&Call, &mut Vec<u8>) -> PyResult<()>> {
    let policy = core.reads_by(policy);
    let call = read(key, &policy, AnswerKind::Record);
    let timeout = call.policy.server_timeout_ms();
    Single { call, encode: move |_: &Call, out: &mut Vec<u8>| request::get(&policy, key.get(), bins, timeout, out) }
}

/// Writes, adds to, appends to or prepends to bins.
pub(crate) fn write<'a>(
    core: &ClientCore,
    kind: WriteKind,
    key: &'a Bound<'_, Key>,
    bins: Object<'a, '_>,
    policy: Arc<CoreWrite>,
) -> Single<impl FnOnce(&Call, &mut Vec<u8>) -> PyResult<()>> {
    let policy = core.writes_by(policy);
    let call = change(key, &policy, AnswerKind::Nothing);
    let timeout = call.policy.server_timeout_ms();
    Single {
        call,
        encode: move |_: &Call, out: &mut Vec<u8>| request::write(&policy, key.get(), kind, bins, timeout, out),
    }
}

/// Deletes the record; the result says whether there was one.
pub(crate) fn delete<'a>(
    core: &ClientCore,
    key: &'a Bound<'_, Key>,
    policy: Arc<CoreWrite>,
) -> Single<impl FnOnce(&Call, &mut Vec<u8>) -> PyResult<()>> {
    let policy = core.writes_by(policy);
    let call = change(key, &policy, AnswerKind::Exists);
    let timeout = call.policy.server_timeout_ms();
    Single { call, encode: move |_: &Call, out: &mut Vec<u8>| request::delete(&policy, key.get(), timeout, out) }
}

/// Resets the TTL and increments the generation.
pub(crate) fn touch<'a>(
    core: &ClientCore,
    key: &'a Bound<'_, Key>,
    policy: Arc<CoreWrite>,
) -> Single<impl FnOnce(&Call, &mut Vec<u8>) -> PyResult<()>> {
    let policy = core.writes_by(policy);
    let call = change(key, &policy, AnswerKind::Nothing);
    let timeout = call.policy.server_timeout_ms();
    Single { call, encode: move |_: &Call, out: &mut Vec<u8>| request::touch(&policy, key.get(), timeout, out) }
}

/// Whether the record exists.
pub(crate) fn exists<'a>(
    core: &ClientCore,
    key: &'a Bound<'_, Key>,
    policy: Arc<CoreRead>,
) -> Single<impl FnOnce(&Call, &mut Vec<u8>) -> PyResult<()>> {
    header(core, key, policy, AnswerKind::Exists)
}

fn header<'a>(
    core: &ClientCore,
    key: &'a Bound<'_, Key>,
    policy: Arc<CoreRead>,
    becomes: AnswerKind,
) -> Single<impl FnOnce(&Call, &mut Vec<u8>) -> PyResult<()>> {
    let policy = core.reads_by(policy);
    let call = read(key, &policy, becomes);
    let timeout = call.policy.server_timeout_ms();
    Single { call, encode: move |_: &Call, out: &mut Vec<u8>| request::exists(&policy, key.get(), timeout, out) }
}

fn read(key: &Bound<'_, Key>, policy: &Arc<CoreRead>, becomes: AnswerKind) -> Call {
    Call {
        key: key.clone().unbind(),
        policy: PolicyRef::Read(Arc::clone(policy)),
        writes: false,
        becomes,
        outcome: None,
    }
}

fn change(key: &Bound<'_, Key>, policy: &Arc<CoreWrite>, becomes: AnswerKind) -> Call {
    Call {
        key: key.clone().unbind(),
        policy: PolicyRef::Write(Arc::clone(policy)),
        writes: true,
        becomes,
        outcome: None,
    }
}

/// The metadata of a record as a tuple `(key, {"gen": .., "ttl": ..} or None)`.
pub(crate) fn metadata<'a>(
    core: &ClientCore,
    key: &'a Bound<'_, Key>,
    policy: Arc<CoreRead>,
) -> Single<impl FnOnce(&Call, &mut Vec<u8>) -> PyResult<()>> {
    header(core, key, policy, AnswerKind::Metadata)
}

/// Carries out several operations as one.
#[allow(clippy::type_complexity)] // what a closure is cannot be named
pub(crate) fn operate<'a>(
    core: &ClientCore,
    key: &'a Bound<'_, Key>,
    operations: Object<'a, '_>,
    policy: Arc<CoreWrite>,
) -> PyResult<Single<impl FnOnce(&Call, &mut Vec<u8>) -> PyResult<()>>> {
    let operations = Operations::of(operations)?;
    let policy = core.writes_by(policy);
    let call = Call { writes: operations.write(), ..change(key, &policy, AnswerKind::Results) };
    let timeout = call.policy.server_timeout_ms();
    Ok(Single {
        call,
        encode: move |_: &Call, out: &mut Vec<u8>| request::operate(&policy, key.get(), &operations, timeout, out),
    })
}

/// What a call of `operate` says otherwise than its policy.
#[derive(Default)]
pub(crate) struct Overrides<'a, 'py> {
    pub(crate) record_exists_action: Option<Object<'a, 'py>>,
    pub(crate) expiration: Option<&'a Bound<'py, Expiration>>,
    pub(crate) generation: Option<u32>,
    pub(crate) durable_delete: Option<bool>,
}

impl Overrides<'_, '_> {
    /// The policy with what is said here. A generation is expected to be equal.
    pub(crate) fn apply(&self, policy: Arc<CoreWrite>) -> PyResult<Arc<CoreWrite>> {
        let Self { record_exists_action, expiration, generation, durable_delete } = self;
        if record_exists_action.is_none() && expiration.is_none() && generation.is_none() && durable_delete.is_none() {
            return Ok(policy);
        }
        let mut policy = Arc::unwrap_or_clone(policy);
        if let Some(action) = record_exists_action {
            policy.record_exists_action = RecordExistsAction::from_python(action, "record_exists_action")?;
        }
        if let Some(expiration) = expiration {
            policy.expiration = expiration.get().0;
        }
        if let Some(generation) = *generation {
            policy.generation = generation;
            policy.generation_policy = GenerationPolicy::ExpectGenEqual;
        }
        if let Some(durable_delete) = *durable_delete {
            policy.durable_delete = durable_delete;
        }
        Ok(Arc::new(policy))
    }
}
