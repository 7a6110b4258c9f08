//! `Expiration`.

use std::hash::{Hash, Hasher};

use aerospike_core::Expiration as Core;
use pyo3::prelude::*;

use super::kinds::whole_number;

/// When a record expires: `Expiration.seconds(n)`, `NAMESPACE_DEFAULT`, `NEVER_EXPIRE`, or `DONT_UPDATE` (a write
/// leaves the record's expiration as it is).
#[pyclass(frozen, eq, module = "aerolane.policy")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Expiration(pub(crate) Core);

impl Expiration {
    fn rank(self) -> u32 {
        u32::from(self.0)
    }
}

#[pymethods]
#[allow(clippy::trivially_copy_pass_by_ref)] // Python calls methods by reference
impl Expiration {
    /// The time that the namespace's configuration gives (`default-ttl`).
    #[classattr]
    const NAMESPACE_DEFAULT: Self = Self(Core::NamespaceDefault);
    /// Never.
    #[classattr]
    const NEVER_EXPIRE: Self = Self(Core::Never);
    /// As before the write.
    #[classattr]
    const DONT_UPDATE: Self = Self(Core::DontUpdate);

    /// Expires after a number of seconds: 1 to 315,360,000 (ten years, the server's maximum).
    ///
    /// Raises `InvalidArgumentError` for other numbers, `TypeError` for anything but an int.
    #[staticmethod]
    fn seconds(s: &Bound<'_, PyAny>) -> PyResult<Self> {
        const TEN_YEARS: i64 = 315_360_000;
        Ok(Self(Core::Seconds(whole_number(s, "seconds", 1, TEN_YEARS)? as u32)))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = std::hash::DefaultHasher::new();
        self.rank().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        match self.0 {
            Core::Seconds(seconds) => format!("Expiration.seconds({seconds})"),
            Core::NamespaceDefault => "Expiration.NAMESPACE_DEFAULT".into(),
            Core::Never => "Expiration.NEVER_EXPIRE".into(),
            Core::DontUpdate => "Expiration.DONT_UPDATE".into(),
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let class = py.get_type::<Self>();
        let constant = match self.0 {
            Core::Seconds(seconds) => {
                return Ok((class.getattr("seconds")?, (seconds,).into_pyobject(py)?.into_any()));
            }
            Core::NamespaceDefault => "NAMESPACE_DEFAULT",
            Core::Never => "NEVER_EXPIRE",
            Core::DontUpdate => "DONT_UPDATE",
        };
        let getattr = py.import("builtins")?.getattr("getattr")?;
        Ok((getattr, (class, constant).into_pyobject(py)?.into_any()))
    }
}
