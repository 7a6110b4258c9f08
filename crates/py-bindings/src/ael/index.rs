//! Which secondary index serves a text.

use aerolane::ael::listed::Listed;
use aerolane::ael::select::{self, Bounds, Collection, Hint, IndexKind};
use aerolane::ael::{Level, Param};
use aerolane_wire::msgpack::{Element, Reader};
use aerolane_wire::operation::context;
use aerolane_wire::particle::particle_type;
use aerospike_core::CollectionIndexType;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::{error, param};
use crate::cdt::{Choice, Context, Ctx};
use crate::client;
use crate::errors;
use crate::expression::FilterExpression;
use crate::policy::enums::Named;
use crate::query::Filter;
use crate::query::enums::Indexed;

/// A secondary index that `parse_ael_with_index` can choose.
///
/// `bin` and `index_type` (an `IndexType`) say what the index covers. `namespace`: None means any. `set_name`: None
/// means that the index covers all sets. `name`: its name. `collection_index_type`: a `CollectionIndexType`. `ctx`: the
/// path to the indexed value inside the bin. `bin_values_ratio`: the number of distinct values, in any unit; of two
/// indexes that fit equally well, the one with more distinct values is chosen.
#[pyclass(frozen, module = "aerolane.ael", name = "Index")]
pub(super) struct Index {
    #[pyo3(get)]
    namespace: Option<String>,
    #[pyo3(get)]
    set_name: Option<String>,
    kind: Indexed,
    cit: Option<CollectionIndexType>,
    /// The levels as one list, which can be compared.
    ctx: Py<PyAny>,
    definition: select::Index,
}

#[pymethods]
impl Index {
    #[new]
    #[pyo3(signature = (
        bin, index_type, namespace=None, name=None, bin_values_ratio=None, collection_index_type=None, ctx=None,
        set_name=None,
    ))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        py: Python<'_>,
        bin: String,
        index_type: Choice<Indexed>,
        namespace: Option<String>,
        name: Option<String>,
        bin_values_ratio: Option<f64>,
        collection_index_type: Option<Choice<CollectionIndexType>>,
        ctx: Option<Py<PyAny>>,
        set_name: Option<String>,
    ) -> PyResult<Self> {
        let kind = match index_type.0 {
            Indexed::String => IndexKind::String,
            Indexed::Geo2DSphere => IndexKind::Geo,
            Indexed::Blob => IndexKind::Blob,
            Indexed::Numeric | Indexed::Integer => IndexKind::Numeric,
        };
        let cit = collection_index_type.map(|cit| cit.0);
        let collection = match cit {
            None | Some(CollectionIndexType::Default) => Collection::Default,
            Some(CollectionIndexType::List) => Collection::List,
            Some(CollectionIndexType::MapKeys) => Collection::MapKeys,
            Some(CollectionIndexType::MapValues) => Collection::MapValues,
            Some(_) => {
                return Err(errors::invalid_argument(
                    py,
                    "an index on a set cannot serve a condition as text: it has no bin",
                ));
            }
        };
        if bin_values_ratio.is_some_and(|ratio| !ratio.is_finite() || ratio < 0.0) {
            return Err(errors::invalid_argument(py, "bin_values_ratio is not a number from 0 on"));
        }
        let levels: Ctx = match &ctx {
            Some(ctx) => ctx.bind(py).extract()?,
            None => Ctx::default(),
        };
        let context = levels.levels().map(|(id, value)| Level { id, value: value.to_vec() }).collect();
        let definition = select::Index { name, bin, kind, collection, context, selectivity: bin_values_ratio };
        let set_name = set_name.filter(|name| !name.trim().is_empty());
        Ok(Self { namespace, set_name, kind: index_type.0, cit, ctx: ctx.unwrap_or_else(|| py.None()), definition })
    }

    #[getter]
    fn bin(&self) -> &str {
        &self.definition.bin
    }

    #[getter]
    fn name(&self) -> Option<&str> {
        self.definition.name.as_deref()
    }

    #[getter]
    fn bin_values_ratio(&self) -> Option<f64> {
        self.definition.selectivity
    }

    #[getter]
    fn index_type(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.kind.to_python(py)
    }

    #[getter]
    fn collection_index_type(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.cit.map(|cit| cit.to_python(py)).transpose()
    }

    #[getter]
    fn ctx(&self, py: Python<'_>) -> Py<PyAny> {
        self.ctx.clone_ref(py)
    }

    fn __repr__(&self) -> String {
        let name = self.definition.name.as_deref().unwrap_or("without a name");
        format!("<Index {name} on bin {:?}>", self.definition.bin)
    }
}

impl Index {
    /// As a node lists it.
    pub(super) fn of_listed(py: Python<'_>, listed: &Listed) -> PyResult<Self> {
        let definition = listed.index.clone();
        let kind = match definition.kind {
            IndexKind::Numeric => Indexed::Numeric,
            IndexKind::String => Indexed::String,
            IndexKind::Blob => Indexed::Blob,
            IndexKind::Geo => Indexed::Geo2DSphere,
        };
        let cit = match definition.collection {
            Collection::Default => CollectionIndexType::Default,
            Collection::List => CollectionIndexType::List,
            Collection::MapKeys => CollectionIndexType::MapKeys,
            Collection::MapValues => CollectionIndexType::MapValues,
        };
        let levels = definition.context.iter().map(|level| Context::from_level(level.id, &level.value));
        let ctx = match levels.collect::<Vec<_>>() {
            levels if levels.is_empty() => py.None(),
            levels => levels.into_pyobject(py)?.into_any().unbind(),
        };
        let namespace = Some(listed.namespace.clone());
        Ok(Self { namespace, set_name: listed.set.clone(), kind, cit: Some(cit), ctx, definition })
    }
}

/// The indexes that a query on a namespace can use. With `query_set`, indexes on other sets are left out.
#[pyclass(frozen, module = "aerolane.ael", name = "IndexContext")]
pub(crate) struct IndexContext {
    #[pyo3(get)]
    pub(crate) namespace: String,
    indexes: Vec<Py<Index>>,
    #[pyo3(get)]
    query_set: Option<String>,
}

#[pymethods]
impl IndexContext {
    #[new]
    #[pyo3(signature = (namespace, indexes=None, query_set=None))]
    fn new(namespace: String, indexes: Option<Vec<Py<Index>>>, query_set: Option<String>) -> Self {
        let query_set = query_set.filter(|name| !name.trim().is_empty());
        Self { namespace, indexes: indexes.unwrap_or_default(), query_set }
    }

    /// The same as the constructor, with namespace and indexes.
    #[staticmethod]
    pub(super) fn of(namespace: String, indexes: Vec<Py<Index>>) -> Self {
        Self::new(namespace, Some(indexes), None)
    }

    /// The same as the constructor, for a query on a set.
    #[staticmethod]
    fn with_query_set(namespace: String, query_set: Option<String>, indexes: Vec<Py<Index>>) -> Self {
        Self::new(namespace, Some(indexes), query_set)
    }

    #[getter]
    fn indexes(&self, py: Python<'_>) -> Vec<Py<Index>> {
        self.indexes.iter().map(|index| index.clone_ref(py)).collect()
    }
}

impl IndexContext {
    /// The indexes that a query can use.
    pub(crate) fn usable(&self) -> Vec<select::Index> {
        let fits = |index: &&Index| {
            index.namespace.as_ref().is_none_or(|namespace| *namespace == self.namespace)
                && (self.query_set.is_none() || index.set_name.is_none() || index.set_name == self.query_set)
        };
        self.indexes.iter().map(Py::get).filter(fits).map(|index| index.definition.clone()).collect()
    }
}

/// How a query finds the records that match a condition: the index filter, and an expression for the rest of the
/// condition.
#[pyclass(frozen, module = "aerolane.ael", name = "ParseResult")]
pub(super) struct ParseResult {
    filter: Option<Py<Filter>>,
    exp: Option<Py<FilterExpression>>,
    explanation: String,
}

#[pymethods]
impl ParseResult {
    /// The index filter, for `Statement.filters`. None if no index fits the condition.
    #[getter]
    fn filter(&self, py: Python<'_>) -> Option<Py<Filter>> {
        self.filter.as_ref().map(|filter| filter.clone_ref(py))
    }

    /// The rest of the condition, for `filter_expression` of a policy. None if the index covers the whole condition.
    #[getter]
    fn exp(&self, py: Python<'_>) -> Option<Py<FilterExpression>> {
        self.exp.as_ref().map(|exp| exp.clone_ref(py))
    }

    /// Explains the choice: which index is used for which part, what is filtered, and why other indexes are not used.
    fn explain(&self) -> &str {
        &self.explanation
    }

    fn __repr__(&self) -> String {
        let used = |there: bool| if there { ".." } else { "None" };
        format!("<ParseResult filter={} exp={}>", used(self.filter.is_some()), used(self.exp.is_some()))
    }
}

/// Compiles the text of a query's condition to an index filter and an expression for the rest.
///
/// It chooses the index in `index_context` that probably finds the fewest records: a single value before a range with
/// two ends, before a range with one end; then the index with more distinct values. `hint_index_name` or
/// `hint_bin_name` names an index to prefer; a hint that does not fit the text is ignored. `placeholder_values` are the
/// values of `?0`, `?1`, ..; `server` is the same as for `parse_ael`.
///
/// Raises `AelParseException` as `parse_ael` does, and for text whose value is not a boolean.
#[pyfunction]
#[pyo3(signature = (
    expression, index_context=None, placeholder_values=None, *, hint_index_name=None, hint_bin_name=None, server=None
))]
fn parse_ael_with_index(
    py: Python<'_>,
    expression: &str,
    index_context: Option<&Bound<'_, IndexContext>>,
    placeholder_values: Option<&Bound<'_, PyAny>>,
    hint_index_name: Option<&str>,
    hint_bin_name: Option<&str>,
    server: Option<&Bound<'_, client::Version>>,
) -> PyResult<ParseResult> {
    let params = match placeholder_values {
        Some(values) => {
            let values: Vec<Bound<'_, PyAny>> = values.try_iter()?.collect::<PyResult<_>>()?;
            param::params(&PyTuple::new(py, values)?)?
        }
        None => Vec::new(),
    };
    let indexes = index_context.map_or_else(Vec::new, |context| context.get().usable());
    let hint = Hint { index: hint_index_name, bin: hint_bin_name };
    let selection = select::select(expression, &params, &indexes, hint, server.map(|server| server.get().for_ael()));
    let selection = selection.map_err(|error| error::to_py(py, &error))?;
    let explanation = selection.explain().to_owned();
    let filter = selection.filter.map(|found| {
        let index = &indexes[found.index];
        // An index that was asked for by its name is named in the query, others are found by their bin.
        let by_name = index.name.as_deref().filter(|name| Some(*name) == hint_index_name);
        Py::new(py, filter(index, by_name, &found.bounds))
    });
    let exp = selection.rest.map(|rest| Py::new(py, FilterExpression::compiled(rest)));
    Ok(ParseResult { filter: filter.transpose()?, exp: exp.transpose()?, explanation })
}

/// The filter of a query, for what an index is asked for.
pub(crate) fn filter(index: &select::Index, by_name: Option<&str>, bounds: &Bounds) -> Filter {
    let (kind, begin, end) = match bounds {
        Bounds::Range(begin, end) => (particle_type::INTEGER, begin.to_be_bytes().to_vec(), end.to_be_bytes().to_vec()),
        Bounds::Equal(value) => {
            let (kind, bytes) = bin_value(value);
            (kind, bytes.clone(), bytes)
        }
        Bounds::WithinRegion(json) | Bounds::AroundPoint(json) => {
            (particle_type::GEOJSON, json.as_bytes().to_vec(), json.as_bytes().to_vec())
        }
    };
    let mut ctx = Vec::new();
    if !index.context.is_empty() {
        context::list(&mut ctx, index.context.iter().map(|level| (level.id, &*level.value)));
    }
    let collection = match index.collection {
        Collection::Default => CollectionIndexType::Default,
        Collection::List => CollectionIndexType::List,
        Collection::MapKeys => CollectionIndexType::MapKeys,
        Collection::MapValues => CollectionIndexType::MapValues,
    };
    Filter::of_values(collection, &index.bin, by_name, kind, (begin, end), ctx)
}

/// A constant as a bin has it: its particle type, and the bytes.
fn bin_value(value: &Param) -> (u8, Vec<u8>) {
    match Reader::new(value.bytes()).read() {
        Ok(Element::Int(int)) => (particle_type::INTEGER, int.to_be_bytes().to_vec()),
        Ok(Element::Bytes([kind, bytes @ ..])) => (*kind, bytes.to_vec()),
        // Indexes are asked for integers, strings and bytes only.
        _ => (particle_type::NIL, Vec::new()),
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("AelIndex", module.py().get_type::<Index>())?;
    module.add("AelIndexContext", module.py().get_type::<IndexContext>())?;
    module.add("AelParseResult", module.py().get_type::<ParseResult>())?;
    module.add_function(wrap_pyfunction!(parse_ael_with_index, module)?)
}
