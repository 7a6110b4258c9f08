//! The columns of a result.

use pyo3::prelude::*;

use super::column::Filling;
use super::types::{Field, KNOWN};

/// Columns, most of them of bins.
#[derive(Debug, Clone)]
pub(crate) struct Schema {
    pub(super) bins: Vec<Bin>,
    /// A value that does not fit its column is an error; otherwise it is null.
    pub(super) strict: bool,
    /// A bin without a column is an error, and a key without a field of its struct; otherwise they are left out.
    pub(super) closed: bool,
}

/// A column.
#[derive(Debug, Clone)]
pub(super) struct Bin {
    pub(super) field: Field,
    pub(super) from: ColumnSource,
}

/// Where the values of a column come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnSource {
    Bin,
    /// The user key, if it is known.
    Key,
    Digest,
    Generation,
    /// The seconds that are left.
    Ttl,
    /// The moment at which the record expires.
    Expiration,
}

impl Bin {
    pub(super) fn name(&self) -> std::borrow::Cow<'_, str> {
        self.field.name.to_string_lossy()
    }
}

impl Schema {
    /// Of pairs of names and names of types.
    pub(crate) fn named(columns: &[(&str, &str)]) -> PyResult<Self> {
        let bins = columns.iter().map(|(name, kind)| {
            let field = Field::of_type(name, kind).ok_or_else(|| not_a_column(name, &format!("'{kind}'")));
            Ok(Bin { field: field?, from: ColumnSource::Bin })
        });
        Ok(Self { bins: bins.collect::<PyResult<_>>()?, strict: false, closed: false })
    }

    /// How many columns.
    pub(crate) const fn len(&self) -> usize {
        self.bins.len()
    }

    pub(super) const fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn filling(&self) -> Filling {
        Filling::new(self.strict, self.closed)
    }
}

/// The error of a column that no bin can become.
pub(super) fn not_a_column(name: &str, what: &str) -> PyErr {
    pyo3::exceptions::PyTypeError::new_err(format!("the column '{name}' is {what}: {KNOWN}"))
}
