//! Which index the servers choose for a condition.

use aerolane::QueryPlan as Plan;
use aerospike_core as core;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::filter::Filter;
use crate::errors;
use crate::policy::enums::Named;

/// The servers' choice for a condition, as returned by `Client.query_explain` for `Client.query_with_plan`: a range of
/// an index, all records, or none. Immutable.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct QueryPlan {
    pub(super) plan: Plan,
    pub(super) where_flags: u8,
}

#[pymethods]
impl QueryPlan {
    /// How the records are found: a `QuerySelection`.
    #[getter]
    fn selection(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.plan.selection().to_python(py)
    }

    /// The namespace.
    #[getter]
    fn namespace(&self) -> &str {
        self.plan.namespace()
    }

    /// The set; `None`: all sets.
    #[getter]
    fn set_name(&self) -> Option<&str> {
        self.plan.set_name().filter(|name| !name.is_empty())
    }

    /// The condition, as it was given.
    #[getter]
    fn ael(&self, py: Python<'_>) -> PyResult<String> {
        self.plan.ael().map_err(|error| errors::to_py(py, &error.into()))
    }

    /// The name of the secondary index; `None` if none is used.
    #[getter]
    fn index_name(&self) -> Option<&str> {
        self.plan.index_name()
    }

    /// The range of the secondary index, as sent by the server; `None` if no index is used.
    #[getter]
    fn index_range_bytes<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.plan.index_range_bytes().map(|range| PyBytes::new(py, range))
    }

    /// Which part of a bin the secondary index covers: a `CollectionIndexType`; DEFAULT if no index is used.
    #[getter]
    fn index_type(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.plan.index_type().to_python(py)
    }

    /// Whether all records are read because no secondary index fits the condition.
    #[getter]
    fn is_primary_index(&self) -> bool {
        self.plan.is_primary_index()
    }

    /// Whether a secondary index is used.
    #[getter]
    fn is_secondary_index(&self) -> bool {
        self.plan.is_secondary_index()
    }

    /// Whether no record can match. `query_with_plan` then raises `FilteredOutError`.
    #[getter]
    fn is_filtered_out(&self) -> bool {
        self.plan.is_filtered_out()
    }

    /// The flags that were sent, bits of `QueryWhereFlags`.
    #[getter]
    fn where_flags(&self) -> u8 {
        self.where_flags
    }

    /// The range of the secondary index as a `Filter`, for inspection; `None` if no index is used. `query_with_plan`
    /// needs no filter.
    ///
    /// Raises `BadResponseError` if the range cannot be written as a filter.
    fn filter_for_execute(&self, py: Python<'_>) -> PyResult<Option<Filter>> {
        let (Some(name), Some(range)) = (self.plan.index_name(), self.plan.index_range_bytes()) else {
            return Ok(None);
        };
        let filter = Filter::of_range(*self.plan.index_type(), name, range);
        let strange = || aerolane::Error::bad_response("the plan's index range cannot be written as a filter");
        filter.map(Some).ok_or_else(|| errors::to_py(py, &strange()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let ael = self.ael(py)?.into_pyobject(py)?.repr()?.to_string();
        Ok(match (self.plan.selection(), self.plan.index_name()) {
            (core::QuerySelection::FilteredOut, _) => format!("<QueryPlan for {ael}: no record can match>"),
            (_, Some(name)) => format!("<QueryPlan for {ael}: secondary index {}>", name.into_pyobject(py)?.repr()?),
            (_, None) => format!("<QueryPlan for {ael}: all records>"),
        })
    }
}
