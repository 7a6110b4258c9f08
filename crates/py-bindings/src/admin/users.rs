//! Users, roles and privileges as Python sees them.

use aerospike_core as core;
use pyo3::prelude::*;

use crate::errors;
use crate::policy::enums::{Named, python_enum};

/// What a privilege allows. `aerospike_core::PrivilegeCode` as a plain number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Code {
    UserAdmin,
    SysAdmin,
    DataAdmin,
    UDFAdmin,
    SIndexAdmin,
    Read,
    ReadWrite,
    ReadWriteUDF,
    Write,
    Truncate,
    MaskingAdmin,
    ReadMasked,
    WriteMasked,
    Unknown,
}

python_enum! {
    /// What a privilege allows.
    ///
    /// For the whole cluster: UserAdmin (users and roles), SysAdmin (configuration), DataAdmin (indexes and UDF
    /// modules), UDFAdmin, SIndexAdmin, MaskingAdmin. For the cluster, a namespace or a set: Read, ReadWrite,
    /// ReadWriteUDF, Write, Truncate, ReadMasked, WriteMasked. Unknown: a privilege that this version does not know.
    "PrivilegeCode": Code {
        UserAdmin = 0 => Self::UserAdmin, SysAdmin = 1 => Self::SysAdmin, DataAdmin = 2 => Self::DataAdmin,
        UDFAdmin = 3 => Self::UDFAdmin, SIndexAdmin = 4 => Self::SIndexAdmin, Read = 10 => Self::Read,
        ReadWrite = 11 => Self::ReadWrite, ReadWriteUDF = 12 => Self::ReadWriteUDF, Write = 13 => Self::Write,
        Truncate = 14 => Self::Truncate, MaskingAdmin = 15 => Self::MaskingAdmin, ReadMasked = 16 => Self::ReadMasked,
        WriteMasked = 17 => Self::WriteMasked, Unknown = 255 => Self::Unknown,
    }
}

impl Code {
    /// Each with aerospike-core's, and its name in the server's language.
    const ALL: [(Self, core::PrivilegeCode, &str); 13] = [
        (Self::UserAdmin, core::PrivilegeCode::UserAdmin, "user-admin"),
        (Self::SysAdmin, core::PrivilegeCode::SysAdmin, "sys-admin"),
        (Self::DataAdmin, core::PrivilegeCode::DataAdmin, "data-admin"),
        (Self::UDFAdmin, core::PrivilegeCode::UdfAdmin, "udf-admin"),
        (Self::SIndexAdmin, core::PrivilegeCode::SindexAdmin, "sindex-admin"),
        (Self::Read, core::PrivilegeCode::Read, "read"),
        (Self::ReadWrite, core::PrivilegeCode::ReadWrite, "read-write"),
        (Self::ReadWriteUDF, core::PrivilegeCode::ReadWriteUdf, "read-write-udf"),
        (Self::Write, core::PrivilegeCode::Write, "write"),
        (Self::Truncate, core::PrivilegeCode::Truncate, "truncate"),
        (Self::MaskingAdmin, core::PrivilegeCode::MaskingAdmin, "masking-admin"),
        (Self::ReadMasked, core::PrivilegeCode::ReadMasked, "read-masked"),
        (Self::WriteMasked, core::PrivilegeCode::WriteMasked, "write-masked"),
    ];

    fn of(code: &core::PrivilegeCode) -> Self {
        Self::ALL.iter().find(|(_, core, _)| core == code).map_or(Self::Unknown, |(mine, ..)| *mine)
    }

    /// Whether it may be for one namespace or set only.
    fn has_scope(self) -> bool {
        use Code::{Read, ReadMasked, ReadWrite, ReadWriteUDF, Truncate, Unknown, Write, WriteMasked};
        matches!(self, Read | ReadWrite | ReadWriteUDF | Write | Truncate | ReadMasked | WriteMasked | Unknown)
    }
}

/// A privilege of a role: `Privilege(code, namespace=None, set_name=None)`.
///
/// `namespace`, `set_name`: where it applies; without them, everywhere. Raises `InvalidArgumentError` (a `ValueError`)
/// for a set without a namespace, and for either with a privilege that applies to the whole cluster.
#[pyclass(frozen, module = "aerolane.native", eq, hash)]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Privilege {
    code: Code,
    namespace: Option<String>,
    set_name: Option<String>,
}

impl Privilege {
    fn of(privilege: core::Privilege) -> Self {
        let core::Privilege { code, namespace, set_name } = privilege;
        let named = |name: Option<String>| name.filter(|name| !name.is_empty());
        Self { code: Code::of(&code), namespace: named(namespace), set_name: named(set_name) }
    }

    pub(crate) fn to_core(&self, py: Python<'_>) -> PyResult<core::Privilege> {
        let Some((_, code, _)) = Code::ALL.iter().find(|(mine, ..)| *mine == self.code) else {
            return Err(errors::invalid_argument(py, "PrivilegeCode.Unknown cannot be sent"));
        };
        Ok(core::Privilege::new(code.clone(), self.namespace.clone(), self.set_name.clone()))
    }

    fn text(&self) -> String {
        let name = Code::ALL.iter().find(|(mine, ..)| *mine == self.code).map_or("unknown", |(.., name)| *name);
        match (&self.namespace, &self.set_name) {
            (Some(namespace), Some(set_name)) => format!("{name}:{namespace}.{set_name}"),
            (Some(namespace), None) => format!("{name}:{namespace}"),
            _ => name.to_owned(),
        }
    }
}

#[pymethods]
impl Privilege {
    #[new]
    #[pyo3(signature = (code, namespace=None, set_name=None))]
    fn new(
        py: Python<'_>,
        code: &Bound<'_, PyAny>,
        namespace: Option<String>,
        set_name: Option<String>,
    ) -> PyResult<Self> {
        let code = Code::from_python(code, "code")?;
        if set_name.is_some() && namespace.is_none() {
            return Err(errors::invalid_argument(py, "a privilege for a set requires its namespace"));
        }
        if namespace.is_some() && !code.has_scope() {
            return Err(errors::invalid_argument(
                py,
                format!("{code:?} is of the whole cluster: it takes no namespace"),
            ));
        }
        Ok(Self { code, namespace, set_name })
    }

    /// What is allowed.
    #[getter]
    fn code(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.code.to_python(py)
    }

    /// The namespace in which it applies; `None`: all namespaces.
    #[getter]
    fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The set in which it applies; `None`: all sets.
    #[getter]
    fn set_name(&self) -> Option<&str> {
        self.set_name.as_deref()
    }

    /// The privilege as text: `"read-write:test.users"`.
    fn as_string(&self) -> String {
        self.text()
    }

    fn __str__(&self) -> String {
        self.text()
    }

    fn __repr__(&self) -> String {
        format!("Privilege({})", self.text())
    }
}

/// A role, as returned by `Client.query_roles`.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct Role(pub(super) core::Role);

#[pymethods]
impl Role {
    /// The role's name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// What it allows.
    #[getter]
    fn privileges(&self) -> Vec<Privilege> {
        self.0.privileges.iter().cloned().map(Privilege::of).collect()
    }

    /// The addresses from which it can be used; empty: any.
    #[getter]
    fn allowlist(&self) -> Vec<String> {
        self.0.allowlist.clone()
    }

    /// Reads per second; 0: no limit.
    #[getter]
    fn read_quota(&self) -> u32 {
        self.0.read_quota
    }

    /// Writes per second; 0: no limit.
    #[getter]
    fn write_quota(&self) -> u32 {
        self.0.write_quota
    }

    fn __repr__(&self) -> String {
        format!("<Role {:?}>", self.0.name)
    }
}

/// A user, as returned by `Client.query_users`.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct User(pub(super) core::User);

#[pymethods]
impl User {
    /// The user's name.
    #[getter]
    fn user(&self) -> &str {
        &self.0.user
    }

    /// The names of the user's roles.
    #[getter]
    fn roles(&self) -> Vec<String> {
        self.0.roles.clone()
    }

    /// Statistics of the user's reads: quota, single-record reads per second, queries per second, queries without a
    /// limit. May be empty.
    #[getter]
    fn read_info(&self) -> Vec<u32> {
        self.0.read_info.clone()
    }

    /// The same statistics for the user's writes.
    #[getter]
    fn write_info(&self) -> Vec<u32> {
        self.0.write_info.clone()
    }

    /// The number of open connections of the user.
    #[getter]
    fn conns_in_user(&self) -> u32 {
        self.0.conns_in_use
    }

    fn __repr__(&self) -> String {
        format!("<User {:?}>", self.0.user)
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add(Code::NAME, Code::class(module.py())?)?;
    module.add_class::<Privilege>()?;
    module.add_class::<Role>()?;
    module.add_class::<User>()
}
