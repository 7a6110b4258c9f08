//! The settings that are one of a few names: Python enumerations, made from these tables.

use aerolane::WhenFull;
use aerospike_core::policy as core;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors;

/// A Rust enum with a Python enumeration of the same members.
pub(crate) trait Named: Copy + PartialEq + 'static {
    /// The name of the Python class.
    const NAME: &'static str;
    /// The Python enumeration's members.
    fn members(py: Python<'_>) -> PyResult<&'static [(Self, Py<PyAny>)]>;
    /// The Python class.
    fn class(py: Python<'_>) -> PyResult<Bound<'_, PyAny>>;

    /// The member of the Python class.
    fn to_python(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let member = Self::members(py)?.iter().find(|(value, _)| *value == self);
        member
            .map(|(_, member)| member.clone_ref(py))
            .ok_or_else(|| PyTypeError::new_err(format!("a value of {} that this version does not know", Self::NAME)))
    }

    /// From a member of the Python class.
    fn from_python(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        let py = value.py();
        match Self::members(py)?.iter().find(|(_, member)| member.is(value)) {
            Some((found, _)) => Ok(*found),
            None => Err(PyTypeError::new_err(format!(
                "{what} must be a member of {}, not {}",
                Self::NAME,
                value.get_type().name()?
            ))),
        }
    }
}

macro_rules! python_enum {
    ($(#[doc = $doc:literal])* $name:literal: $rust:ty { $($member:ident = $value:expr => $variant:expr),* $(,)? }) => {
        impl $crate::policy::enums::Named for $rust {
            const NAME: &'static str = $name;

            fn members(py: pyo3::Python<'_>) -> pyo3::PyResult<&'static [(Self, pyo3::Py<pyo3::PyAny>)]> {
                static MEMBERS: pyo3::sync::PyOnceLock<Vec<($rust, pyo3::Py<pyo3::PyAny>)>> =
                    pyo3::sync::PyOnceLock::new();
                let members = MEMBERS.get_or_try_init(py, || {
                    let class = Self::class(py)?;
                    Ok::<_, pyo3::PyErr>(vec![$(($variant, class.getattr(stringify!($member))?.unbind())),*])
                })?;
                Ok(members)
            }

            fn class(py: pyo3::Python<'_>) -> pyo3::PyResult<pyo3::Bound<'_, pyo3::PyAny>> {
                static CLASS: pyo3::sync::PyOnceLock<pyo3::Py<pyo3::PyAny>> = pyo3::sync::PyOnceLock::new();
                let class = CLASS.get_or_try_init(py, || {
                    use pyo3::IntoPyObjectExt as _;
                    let members = vec![$((stringify!($member), ($value).into_bound_py_any(py)?)),*];
                    let doc = concat!($($doc, "\n"),*).trim();
                    $crate::policy::enums::make(py, $name, doc, members).map(pyo3::Bound::unbind)
                })?;
                Ok(class.bind(py).clone())
            }
        }
    };
}
pub(crate) use python_enum;

/// Makes the Python class; members with numbers are `int()`-able.
pub(crate) fn make<'py>(
    py: Python<'py>,
    name: &str,
    doc: &str,
    members: Vec<(&str, Bound<'py, PyAny>)>,
) -> PyResult<Bound<'py, PyAny>> {
    let numbered = members.iter().all(|(_, value)| value.is_instance_of::<pyo3::types::PyInt>());
    errors::make_enum(py, name, doc, members, numbered)
}

python_enum! {
    /// Which node a read is sent to.
    ///
    /// MASTER: the node with the record's master copy. MASTER_PROLES: the nodes with any copy in turn. RANDOM: all
    /// nodes in turn. SEQUENCE (the default): the master, and if it fails, the nodes with replicas. PREFER_RACK: a node
    /// on one of the client's racks (`ClientPolicy.rack_ids`), otherwise as SEQUENCE. Writes go to the master first.
    "Replica": core::Replica {
        MASTER = 0 => Self::Master, MASTER_PROLES = 1 => Self::MasterProles, RANDOM = 2 => Self::Random,
        SEQUENCE = 3 => Self::Sequence, PREFER_RACK = 4 => Self::PreferRack,
    }
}
python_enum! {
    /// How many copies a read consults in a namespace in AP mode while partitions move. ONE is the default.
    "ReadModeAP": core::ReadModeAp { ONE = 0 => Self::One, ALL = 1 => Self::All }
}
python_enum! {
    /// How consistent a read is in a namespace in SC (strong consistency) mode. SESSION is the default.
    "ReadModeSC": core::ReadModeSc {
        SESSION = 0 => Self::Session, LINEARIZE = 1 => Self::Linearize, ALLOW_REPLICA = 2 => Self::AllowReplica,
        ALLOW_UNAVAILABLE = 3 => Self::AllowUnavailable,
    }
}
python_enum! {
    /// When a write has succeeded: once all copies are written (COMMIT_ALL, the default), or once the master is
    /// (COMMIT_MASTER).
    "CommitLevel": core::CommitLevel { COMMIT_ALL = 0 => Self::CommitAll, COMMIT_MASTER = 1 => Self::CommitMaster }
}
python_enum! {
    /// Whether a write checks the record's generation.
    ///
    /// NONE (the default): no. EXPECT_GEN_EQUAL: the write fails unless the record has the policy's generation.
    /// EXPECT_GEN_GREATER: it fails unless the policy's generation is greater than the record's.
    "GenerationPolicy": core::GenerationPolicy {
        NONE = 0 => Self::None, EXPECT_GEN_EQUAL = 1 => Self::ExpectGenEqual,
        EXPECT_GEN_GREATER = 2 => Self::ExpectGenGreater,
    }
}
python_enum! {
    /// What a write does if the record exists or does not exist.
    ///
    /// UPDATE (the default): creates the record, or changes the given bins. UPDATE_ONLY: the same, but fails if the
    /// record does not exist. REPLACE: creates the record, or replaces all its bins. REPLACE_ONLY: the same, but fails
    /// if the record does not exist. CREATE_ONLY: fails if the record exists.
    "RecordExistsAction": core::RecordExistsAction {
        UPDATE = 0 => Self::Update, UPDATE_ONLY = 1 => Self::UpdateOnly, REPLACE = 2 => Self::Replace,
        REPLACE_ONLY = 3 => Self::ReplaceOnly, CREATE_ONLY = 4 => Self::CreateOnly,
    }
}
python_enum! {
    /// Whether the nodes of a batch are asked one after the other or all at once (PARALLEL, the default).
    "Concurrency": core::Concurrency { SEQUENTIAL = 0 => Self::Sequential, PARALLEL = 1 => Self::Parallel }
}
python_enum! {
    /// How long a query is expected to take. LONG is the default. SHORT: under a second, on one server thread.
    /// LONG_RELAX_AP: as LONG, and in a namespace in AP mode it may read from replicas.
    "QueryDuration": core::QueryDuration {
        LONG = 0 => Self::Long, SHORT = 1 => Self::Short, LONG_RELAX_AP = 2 => Self::LongRelaxAp,
    }
}
python_enum! {
    /// What happens if all connections to a node are full. WAIT (the default): calls wait in order until their own
    /// deadline. FAIL: they raise `PoolExhaustedError` at once.
    "WhenFull": WhenFull { WAIT = 0 => Self::Wait, FAIL = 1 => Self::Fail }
}

/// How a client logs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AuthKind {
    None,
    Internal,
    External,
    ExternalInsecure,
    Pki,
}

python_enum! {
    /// How a client logs in.
    ///
    /// NONE (the default): no login. INTERNAL: with a user and a password that the cluster stores. EXTERNAL: with those
    /// of an external directory (LDAP); requires TLS. EXTERNAL_INSECURE: the same without TLS, for tests. PKI: with the
    /// client's TLS certificate.
    "AuthMode": AuthKind {
        NONE = 0 => Self::None, INTERNAL = 1 => Self::Internal, EXTERNAL = 2 => Self::External,
        EXTERNAL_INSECURE = 3 => Self::ExternalInsecure, PKI = 4 => Self::Pki,
    }
}

/// Adds the Python class to the module.
pub(crate) fn add<T: Named>(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add(T::NAME, T::class(module.py())?)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add::<core::Replica>(module)?;
    add::<core::ReadModeAp>(module)?;
    add::<core::ReadModeSc>(module)?;
    add::<core::CommitLevel>(module)?;
    add::<core::GenerationPolicy>(module)?;
    add::<core::RecordExistsAction>(module)?;
    add::<core::Concurrency>(module)?;
    add::<core::QueryDuration>(module)?;
    add::<WhenFull>(module)?;
    add::<AuthKind>(module)
}
