//! `QueryHint`.

use std::hash::{Hash, Hasher};
use std::mem::{Discriminant, discriminant};

use aerospike_core::QueryDuration;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::errors;
use crate::policy::enums::Named;
use crate::policy::kinds::{Kind, Maybe, Member, Switch, Text};
use crate::query::filter::MAX_INDEX_NAME;

/// Preferences of a query of a data set:
/// `session.query(dataset).where("$.age > 30").with_hint(QueryHint(index_name="age_idx"))`. Immutable.
///
/// `index_name` is the secondary index to use for the text of `where()`, if it fits; with `hard_hint`, the query fails
/// if it does not. `bin_name` names the bin whose indexes are preferred instead. `query_duration` says whether the
/// query is expected to be `LONG` or `SHORT` (`QueryDuration`). `allow_scans_with_where` says whether the query may
/// read all records of the set if no index serves the text; `None` leaves that to the behavior.
///
/// Raises `InvalidArgumentError` (a `ValueError`) for `hard_hint` without `index_name` and for both names, and
/// `TypeError` for a value of a wrong type.
#[pyclass(frozen, eq, hash, module = "aerolane")]
#[derive(Debug, Clone)]
pub(crate) struct QueryHint {
    #[pyo3(get)]
    pub(super) index_name: Option<String>,
    #[pyo3(get)]
    pub(super) bin_name: Option<String>,
    duration: Option<QueryDuration>,
    #[pyo3(get)]
    pub(super) allow_scans_with_where: Option<bool>,
    #[pyo3(get)]
    pub(super) hard_hint: bool,
}

/// The names, the duration, and both switches.
type Identity<'a> = ([Option<&'a str>; 2], Option<Discriminant<QueryDuration>>, Option<bool>, bool);

impl QueryHint {
    /// How long the query is expected to take.
    pub(super) fn duration(&self) -> Option<QueryDuration> {
        self.duration
    }

    /// What hints are compared by: durations are no `Eq`.
    fn identity(&self) -> Identity<'_> {
        let names = [self.index_name.as_deref(), self.bin_name.as_deref()];
        (names, self.duration.as_ref().map(discriminant), self.allow_scans_with_where, self.hard_hint)
    }
}

impl PartialEq for QueryHint {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for QueryHint {}

impl Hash for QueryHint {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

#[pymethods]
impl QueryHint {
    #[new]
    #[pyo3(signature = (*, index_name=None, query_duration=None, allow_scans_with_where=None, hard_hint=false, bin_name=None))]
    fn new(
        py: Python<'_>,
        index_name: Option<&Bound<'_, PyAny>>,
        query_duration: Option<&Bound<'_, PyAny>>,
        allow_scans_with_where: Option<&Bound<'_, PyAny>>,
        hard_hint: bool,
        bin_name: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let none = py.None().into_bound(py);
        let index_name = <Text as Kind<Option<String>>>::set(index_name.unwrap_or(&none), "index_name")?;
        let bin_name = <Text as Kind<Option<String>>>::set(bin_name.unwrap_or(&none), "bin_name")?;
        if bin_name.is_some() && index_name.is_some() {
            let text = "index_name and bin_name are mutually exclusive: a hint names an index, or a bin that has some";
            return Err(errors::invalid_argument(py, text));
        }
        let duration: Option<QueryDuration> = Maybe::<Member>::set(query_duration.unwrap_or(&none), "query_duration")?;
        let allow_scans_with_where =
            Maybe::<Switch>::set(allow_scans_with_where.unwrap_or(&none), "allow_scans_with_where")?;
        if let Some(name) = &index_name
            && (name.is_empty() || name.len() > MAX_INDEX_NAME)
        {
            let text = format!("index_name has {} bytes, it must have 1 to {MAX_INDEX_NAME}", name.len());
            return Err(errors::invalid_argument(py, text));
        }
        if hard_hint && index_name.is_none() {
            let text = "hard_hint requires index_name: it says which index the query must use";
            return Err(errors::invalid_argument(py, text));
        }
        Ok(Self { index_name, bin_name, duration, allow_scans_with_where, hard_hint })
    }

    /// How long the query is expected to take, a `QueryDuration`. `None` leaves that to the policy.
    #[getter]
    fn query_duration(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.duration().map(|duration| duration.to_python(py)).transpose()
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let fields = PyDict::new(py);
        fields.set_item("index_name", &self.index_name)?;
        fields.set_item("query_duration", self.query_duration(py)?)?;
        fields.set_item("allow_scans_with_where", self.allow_scans_with_where)?;
        fields.set_item("hard_hint", self.hard_hint)?;
        fields.set_item("bin_name", &self.bin_name)?;
        Ok((PyTuple::empty(py), fields))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = |value: Bound<'_, PyAny>| value.repr().map(|text| text.to_string());
        let name = repr(self.index_name.clone().into_pyobject(py)?)?;
        let duration = match self.query_duration(py)? {
            Some(duration) => format!("QueryDuration.{}", duration.bind(py).getattr("name")?),
            None => "None".to_owned(),
        };
        let allow = repr(self.allow_scans_with_where.into_pyobject(py)?)?;
        let hard = if self.hard_hint { "True" } else { "False" };
        let bin = match &self.bin_name {
            Some(name) => format!(", bin_name={}", repr(name.into_pyobject(py)?.into_any())?),
            None => String::new(),
        };
        Ok(format!(
            "QueryHint(index_name={name}, query_duration={duration}, allow_scans_with_where={allow}, hard_hint={hard}{bin})"
        ))
    }
}
