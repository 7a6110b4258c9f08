//! Server versions.

use pyo3::prelude::*;

/// The version of a server: `major.minor.patch.build`. Comparable and hashable.
#[pyclass(frozen, hash, eq, ord, module = "aerolane.native")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Version {
    /// First number.
    #[pyo3(get)]
    major: u64,
    /// Second number.
    #[pyo3(get)]
    minor: u64,
    /// Third number.
    #[pyo3(get)]
    patch: u64,
    /// Fourth number.
    #[pyo3(get)]
    build: u64,
}

impl Version {
    pub(crate) fn of(node: &aerospike_core::Node) -> Self {
        let version = node.version();
        Self { major: version.major, minor: version.minor, patch: version.patch, build: version.build }
    }

    /// As the compiler of expressions takes it.
    pub(crate) fn for_ael(self) -> aerolane::ael::Version {
        aerolane::ael::version(&aerospike_core::Version::new(self.major, self.minor, self.patch, self.build))
    }

    const fn at_least(self, major: u64, minor: u64, patch: u64) -> bool {
        let (a, b, c) = (self.major, self.minor, self.patch);
        a > major || (a == major && (b > minor || (b == minor && c >= patch)))
    }
}

#[pymethods]
impl Version {
    /// Whether the server supports transactions over several records (8.0).
    pub(crate) fn supports_mrt(&self) -> bool {
        self.at_least(8, 0, 0)
    }

    /// Whether the server compiles expression text itself (8.2).
    pub(crate) fn supports_server_compiled_ael(&self) -> bool {
        self.at_least(8, 2, 0)
    }

    /// Whether the server selects the index of a query itself (8.2).
    pub(crate) fn supports_query_selection(&self) -> bool {
        self.at_least(8, 2, 0)
    }

    /// Whether the server supports string operations (8.2).
    pub(crate) fn supports_string_operations(&self) -> bool {
        self.at_least(8, 2, 0)
    }

    /// Whether queries may carry operations of all kinds that read (8.1.2).
    pub(crate) fn supports_query_ops_projection_ext(&self) -> bool {
        self.at_least(8, 1, 2)
    }

    fn __str__(&self) -> String {
        let Self { major, minor, patch, build } = self;
        format!("{major}.{minor}.{patch}.{build}")
    }

    fn __repr__(&self) -> String {
        format!("Version({})", self.__str__())
    }
}
