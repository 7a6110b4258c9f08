//! Which secondary index serves the text of a query, of those that the cluster has.

use std::fmt::Write as _;
use std::sync::Arc;

use aerolane::ael::listed::Listed;
use aerolane::ael::select::{self, Hint, Index};
use aerolane::ael::{Compiled, Version};
use aerolane::raw::RawClient;
use aerolane::{Error, Result};
use aerospike_core::QueryPolicy;
use aerospike_core::expressions::from_packed_bytes;
use pyo3::prelude::*;

use super::chain::{Shared, Target};
use super::hint::QueryHint;
use super::surface::Surface;
use crate::ael::{self, Text};
use crate::command::Control;
use crate::core::ClientCore;
use crate::errors;
use crate::expression::FilterExpression;
use crate::query::filter::Filter;
use crate::query::statement::QuerySpec;

/// What a query says that an index may serve.
#[derive(Clone)]
pub(super) struct Wanted {
    pub(super) text: Arc<Text>,
    /// Namespace and set.
    pub(super) names: (String, String),
    pub(super) hint: Option<QueryHint>,
    /// Whether all records of the set may be read.
    pub(super) allow_scans: bool,
    /// The oldest server of the cluster.
    pub(super) server: Option<Version>,
    /// The indexes to choose of; `None`: those that the cluster has.
    pub(super) given: Option<Vec<Index>>,
}

/// What was chosen.
struct Choice {
    index: Option<String>,
    filter: Option<Filter>,
    rest: Option<Compiled>,
    explanation: String,
}

impl Wanted {
    /// Chooses, of the indexes that were given, or of those that the cluster has.
    async fn choice(&self, core: &ClientCore) -> Result<Choice> {
        if let Some(given) = &self.given {
            return self.choose(given);
        }
        let listed = core.indexes.list(&RawClient::clone(&core.raw)).await?;
        // Servers find an index by exactly this set.
        let set = Some(&self.names.1).filter(|set| !set.is_empty());
        let fits = |one: &&Listed| one.readable && one.namespace == self.names.0 && one.set.as_ref() == set;
        self.choose(&listed.iter().filter(fits).map(|one| one.index.clone()).collect::<Vec<_>>())
    }

    /// Chooses, of these indexes.
    fn choose(&self, indexes: &[Index]) -> Result<Choice> {
        let named = self.hint.as_ref().and_then(|hint| hint.index_name.as_deref());
        let hint = Hint { index: named, bin: self.hint.as_ref().and_then(|hint| hint.bin_name.as_deref()) };
        let selection = select::select(&self.text.text, &self.text.params, indexes, hint, self.server);
        let selection = selection.map_err(|error| Error::invalid_argument(error.to_string()))?;
        let explanation = selection.explain().to_owned();
        let (index, filter) = match selection.filter {
            None => (None, None),
            Some(found) => {
                let index = &indexes[found.index];
                // One that was asked for by its name is named, others are found by their bin.
                let by_name = index.name.as_deref().filter(|name| Some(*name) == named);
                (index.name.clone(), Some(ael::index_filter(index, by_name, &found.bounds)))
            }
        };
        Ok(Choice { index, filter, rest: selection.rest, explanation })
    }

    /// Why the query would fail, or `None`.
    fn refusal(&self, choice: &Choice) -> Option<String> {
        let hint = self.hint.as_ref();
        if let Some(QueryHint { index_name: Some(name), hard_hint: true, .. }) = hint
            && choice.index.as_ref() != Some(name)
        {
            return Some(format!(
                "the hint requires the index {name:?}, which does not serve the text (or does not exist): explain() shows the \
                 choice, and a hint without hard_hint=True leaves it"
            ));
        }
        if choice.filter.is_none() && !self.allow_scans {
            let text = "no secondary index serves the text, and allow_scans_with_where is off: create an index, or allow scans \
                        with QueryHint(allow_scans_with_where=True)";
            return Some(text.to_owned());
        }
        None
    }

    /// What the query asks for once the choice is made.
    pub(super) async fn plan(
        self,
        core: Arc<ClientCore>,
        asked: QuerySpec,
        policy: Arc<QueryPolicy>,
    ) -> Result<(QuerySpec, Arc<QueryPolicy>)> {
        let choice = self.choice(&core).await?;
        if let Some(refusal) = self.refusal(&choice) {
            return Err(Error::invalid_argument(refusal));
        }
        let Some(filter) = choice.filter else { return Ok((asked, policy)) };
        let QuerySpec { query, operate, names } = asked;
        let mut policy = policy;
        let rest = choice.rest.map(|rest| from_packed_bytes(rest.into_bytes().into()));
        Arc::make_mut(&mut policy).base_policy.filter_expression = rest;
        Ok((QuerySpec { query: filter.add(query), operate, names }, policy))
    }
}

/// How a query of a data set finds its records: what `explain()` of its builder returns. `str()` of it is meant for
/// people.
#[pyclass(frozen, module = "aerolane")]
pub(crate) struct QueryExplanation {
    /// The secondary index that the query uses. `None` if it uses none, or one that `filter()` names by its bin.
    #[pyo3(get)]
    index_name: Option<String>,
    filter: Option<Py<Filter>>,
    expression: Option<Py<FilterExpression>>,
    /// Why the query would fail, or `None`.
    #[pyo3(get)]
    refusal: Option<String>,
    text: String,
}

#[pymethods]
impl QueryExplanation {
    /// What the query asks the index for, a `Filter`. `None` if it uses no index.
    #[getter]
    fn filter(&self, py: Python<'_>) -> Option<Py<Filter>> {
        self.filter.as_ref().map(|filter| filter.clone_ref(py))
    }

    /// What the server filters the records by, a `FilterExpression`. `None` if it does not filter.
    #[getter]
    fn expression(&self, py: Python<'_>) -> Option<Py<FilterExpression>> {
        self.expression.as_ref().map(|expression| expression.clone_ref(py))
    }

    /// Whether the query uses a secondary index.
    #[getter]
    fn uses_index(&self) -> bool {
        self.filter.is_some()
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(match (&self.index_name, &self.filter) {
            (Some(name), _) => format!("<QueryExplanation: secondary index {}>", name.into_pyobject(py)?.repr()?),
            (None, Some(_)) => "<QueryExplanation: a secondary index>".to_owned(),
            (None, None) => "<QueryExplanation: all records>".to_owned(),
        })
    }
}

/// Explains the query of a builder, which stays as it is.
pub(super) fn explain(py: Python<'_>, shared: &Shared, surface: Surface) -> PyResult<Py<PyAny>> {
    surface.guard(py, "explain", || {
        let (core, wanted, index, expression) = {
            let chain = shared.lock_py_attached(py);
            chain.check(py)?;
            let Target::DataSet(query) = &chain.target else {
                let text = "explain() is for queries of a data set: session.query(dataset); this one reads records by their keys";
                return Err(errors::invalid_argument(py, text));
            };
            let expression = query.filter_expression.as_deref().cloned().or_else(|| chain.whole.default_filter());
            (Arc::clone(&shared.context.core), query.wanted(&shared.context), query.index.clone(), expression)
        };
        let expression = expression.map(|expression| FilterExpression::from_core(py, &expression)).transpose()?;
        let of_core = Arc::clone(&core);
        let future = async move {
            let Some(wanted) = wanted else { return Ok(None) };
            let choice = wanted.choice(&of_core).await?;
            let refusal = wanted.refusal(&choice);
            Ok(Some((choice, refusal)))
        };
        let convert = move |py: Python<'_>, chosen: Option<(Choice, Option<String>)>| {
            let explanation = if let Some((choice, refusal)) = chosen {
                let mut text = choice.explanation;
                if let Some(refusal) = &refusal {
                    // Writing into a String cannot fail.
                    let _ = write!(text, "\nis not carried out: {refusal}");
                }
                let rest = choice.rest.map(|rest| Py::new(py, FilterExpression::compiled(rest))).transpose()?;
                let filter = choice.filter.map(|filter| Py::new(py, filter)).transpose()?;
                QueryExplanation { index_name: choice.index, filter, expression: rest, refusal, text }
            } else {
                let found = if index.is_some() { "by the index of filter()" } else { "the whole set" };
                let filtered = if expression.is_some() { "the expression of where()" } else { "nothing" };
                let text = format!("reads {found}\nfilters what it reads by {filtered}");
                let filter = index.map(|filter| Py::new(py, filter)).transpose()?;
                let expression = expression.map(|expression| Py::new(py, expression)).transpose()?;
                QueryExplanation { index_name: None, filter, expression, refusal: None, text }
            };
            Ok(Py::new(py, explanation)?.into_any())
        };
        surface.carry_out(py, &core, Control { future, convert })
    })
}
