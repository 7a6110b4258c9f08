//! A call as the async and the sync side carry it out alike: its policy, its key, its request, and what its answer
//! becomes.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use aerolane::Error;
use aerolane::metrics::CommandType;
use aerolane::raw::RawCall;
use aerolane::raw::command::policy::server_timeout_ms;
use aerolane_wire::message::MessageHeader;
use aerospike_core::{BasePolicy, ReadPolicy, WritePolicy};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;
use crate::key::Key;
use crate::record::{Record, seconds_left};

/// The policy of a call, as it was when the call began.
#[derive(Clone)]
pub(crate) enum PolicyRef {
    Read(Arc<ReadPolicy>),
    Write(Arc<WritePolicy>),
}

impl PolicyRef {
    pub(crate) fn base(&self) -> &BasePolicy {
        match self {
            Self::Read(policy) => &policy.base_policy,
            Self::Write(policy) => &policy.base_policy,
        }
    }

    /// The timeout word of the request, in milliseconds.
    pub(crate) fn server_timeout_ms(&self) -> u32 {
        server_timeout_ms(self.base())
    }
}

/// Which Python object an answer becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerKind {
    /// `None`.
    Nothing,
    /// Whether the record exists (`exists`, `delete`).
    Exists,
    /// `(key, {"gen": .., "ttl": ..})`, or `(key, None)` when the record does not exist.
    Metadata,
    /// A `Record`.
    Record,
    /// A `Record` of `operate`: nil values stay, several results of one bin make a list.
    Results,
}

/// What the Rust client has to know of a call, for a thread that does not attach to Python.
pub(crate) struct OwnedCall {
    namespace: Box<str>,
    set: Box<str>,
    partition: u16,
    kind: CommandType,
    writes: bool,
    may_be_missing: bool,
}

impl OwnedCall {
    pub(crate) fn raw(&self) -> RawCall<'_> {
        let Self { namespace, set, partition, kind, writes, may_be_missing } = self;
        let (partition, kind, writes, may_be_missing) = (*partition, *kind, *writes, *may_be_missing);
        RawCall { namespace, set, partition, kind, writes, may_be_missing }
    }
}

/// Makes the result of a call out of its answer, and perhaps of a failure. The results tell the garbage collector nothing: their
/// classes have no `__traverse__`.
pub(crate) trait AnswerHandler: Send + Sync {
    /// The result of an answer that was accepted: the body of a message.
    fn answered(&self, py: Python<'_>, key: &Py<Key>, body: Cow<'_, [u8]>) -> PyResult<Py<PyAny>>;

    /// The result of a failure, or what it raises.
    fn failed(&self, py: Python<'_>, key: &Py<Key>, error: &Error) -> PyResult<Py<PyAny>>;
}

/// A handler that many calls share, or a call's own.
pub(crate) enum HandlerRef {
    Shared(&'static dyn AnswerHandler),
    Own(Box<dyn AnswerHandler>),
}

impl Deref for HandlerRef {
    type Target = dyn AnswerHandler;

    #[inline]
    fn deref(&self) -> &Self::Target {
        match self {
            Self::Shared(outcome) => *outcome,
            Self::Own(outcome) => &**outcome,
        }
    }
}

/// A call that has been encoded.
pub(crate) struct Call {
    pub(crate) key: Py<Key>,
    pub(crate) policy: PolicyRef,
    pub(crate) writes: bool,
    pub(crate) becomes: AnswerKind,
    /// Goes before `becomes`.
    pub(crate) outcome: Option<HandlerRef>,
}

impl Call {
    /// What the Rust client has to know of it.
    pub(crate) fn raw(&self) -> RawCall<'_> {
        let key = self.key.get();
        RawCall {
            namespace: key.namespace(),
            set: key.set(),
            partition: key.partition(),
            kind: self.kind(),
            writes: self.writes,
            // An outcome tells it apart from the error.
            may_be_missing: self.outcome.is_none() && matches!(self.becomes, AnswerKind::Exists | AnswerKind::Metadata),
        }
    }

    /// What the metrics count it as.
    const fn kind(&self) -> CommandType {
        match (self.becomes, &self.policy) {
            (AnswerKind::Results, _) => CommandType::Operate,
            (AnswerKind::Record, _) => CommandType::Get,
            (AnswerKind::Metadata, _) | (AnswerKind::Exists, PolicyRef::Read(_)) => CommandType::Exists,
            (AnswerKind::Exists, PolicyRef::Write(_)) => CommandType::Delete,
            (AnswerKind::Nothing, _) => CommandType::Put,
        }
    }

    /// [`raw`](Self::raw), to be kept.
    pub(crate) fn owned(&self) -> OwnedCall {
        let RawCall { namespace, set, partition, kind, writes, may_be_missing } = self.raw();
        OwnedCall { namespace: namespace.into(), set: set.into(), partition, kind, writes, may_be_missing }
    }

    /// The result of an answer that was accepted: the body of a message.
    pub(crate) fn result(&self, py: Python<'_>, body: Cow<'_, [u8]>) -> PyResult<Py<PyAny>> {
        /// Where the result code stands in a message.
        const RESULT_CODE: usize = 5;
        if let Some(outcome) = &self.outcome {
            return outcome.answered(py, &self.key, body);
        }
        Ok(match self.becomes {
            AnswerKind::Nothing => py.None(),
            AnswerKind::Exists => (body.get(RESULT_CODE) == Some(&0)).into_pyobject(py)?.to_owned().into_any().unbind(),
            AnswerKind::Metadata => {
                (self.key.clone_ref(py), metadata(py, &body)?).into_pyobject(py)?.into_any().unbind()
            }
            AnswerKind::Record | AnswerKind::Results => {
                let operate = self.becomes == AnswerKind::Results;
                Record::new(py, Some(self.key.clone_ref(py)), body.into(), operate)?.into_any()
            }
        })
    }
}

impl Call {
    /// The result of a failure: most raise it.
    #[cold]
    pub(crate) fn failed(&self, py: Python<'_>, error: &Error) -> PyResult<Py<PyAny>> {
        match &self.outcome {
            Some(outcome) => outcome.failed(py, &self.key, error),
            None => Err(errors::of_record(py, error, &self.key)),
        }
    }
}

/// The metadata in an answer, as older clients give it: `{"gen": .., "ttl": ..}`, with a `ttl` of `None` for a record that
/// never expires. `None` when there is no record.
fn metadata<'py>(py: Python<'py>, body: &[u8]) -> PyResult<Option<Bound<'py, PyDict>>> {
    let header = MessageHeader::decode(body).map_err(|e| errors::malformed(py, &e))?;
    if header.result_code != 0 {
        return Ok(None);
    }
    let dict = PyDict::new(py);
    dict.set_item("gen", header.generation)?;
    dict.set_item("ttl", (header.record_ttl != 0).then(|| seconds_left(header.record_ttl)))?;
    Ok(Some(dict))
}
