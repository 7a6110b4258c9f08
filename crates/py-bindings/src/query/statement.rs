//! What a query asks for.

use aerolane::raw::RawQuery;
use aerolane::raw::command::check::{MAX_NAMESPACE, MAX_SET};
use aerolane::sync::Mutex;
use aerolane_wire::message::{field, info1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::filter::Filter;
use crate::batch::shape::{self, Reads};
use crate::{errors, value};

/// What a query selects: `Statement(namespace, set_name=None, bins=None)`.
///
/// `set_name`: only records of this set; `None` or `""`: of all sets. `bins`: only these bins (a list of names);
/// `None`: all bins; an empty list: none, only keys, generations and expirations. Without a filter (`filters`), the
/// query reads all records, which is called a scan.
///
/// Raises `TypeError` if `bins` is not a list of str, `InvalidArgumentError` (a `ValueError`) if the namespace is empty
/// or too long, a set name has more than 63 bytes, or a bin name more than 15.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct Statement {
    namespace: String,
    bins: Reads,
    changing: Mutex<StatementState>,
}

#[derive(Default)]
struct StatementState {
    set_name: String,
    filter: Option<Filter>,
    /// What the operations read, the operations, and whether one of them writes.
    operations: Option<(Reads, bool)>,
    aggregate: Option<Function>,
}

pub(crate) fn check_set(py: Python<'_>, set_name: &str) -> PyResult<()> {
    if set_name.len() > MAX_SET {
        let size = set_name.len();
        return Err(errors::invalid_argument(
            py,
            format!("the set name has {size} bytes, it must have at most {MAX_SET}"),
        ));
    }
    Ok(())
}

pub(crate) fn check_namespace(py: Python<'_>, namespace: &str) -> PyResult<()> {
    if namespace.is_empty() || namespace.len() > MAX_NAMESPACE {
        let size = namespace.len();
        let text = format!("the namespace has {size} bytes, it must have 1 to {MAX_NAMESPACE}");
        return Err(errors::invalid_argument(py, text));
    }
    Ok(())
}

/// What a query does, and how its records are read.
#[derive(Clone)]
pub(crate) struct QuerySpec {
    pub(crate) query: RawQuery,
    /// Its records are results of operations.
    pub(crate) operate: bool,
    /// Namespace and set.
    pub(crate) names: (String, String),
}

/// A function of a UDF module.
#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) package: String,
    pub(crate) name: String,
    /// The arguments: a packed list.
    pub(crate) arguments: Vec<u8>,
}

/// How the servers run a function.
#[derive(Clone, Copy)]
pub(crate) enum FunctionMode {
    /// Over all that a node finds; results come back.
    Stream = 1,
    /// On each record, in the background.
    Background = 2,
}

impl Function {
    pub(crate) fn add(&self, query: RawQuery, runs: FunctionMode) -> RawQuery {
        query
            .field(field::UDF_OPERATION, &[runs as u8])
            .field(field::UDF_PACKAGE, self.package.as_bytes())
            .field(field::UDF_FUNCTION, self.name.as_bytes())
            .field(field::UDF_ARGUMENTS, &self.arguments)
    }
}

impl Statement {
    /// The query for records.
    pub(crate) fn reads(&self, py: Python<'_>) -> PyResult<QuerySpec> {
        let state = self.changing.lock();
        self.asks(py, &state, Self::selects(&self.namespace, &state))
    }

    /// The query for the records that a plan finds.
    pub(crate) fn reads_by(&self, py: Python<'_>, plan: &aerolane::QueryPlan) -> PyResult<QuerySpec> {
        let state = self.changing.lock();
        let (of_plan, mine) =
            ((plan.namespace(), plan.set_name().unwrap_or_default()), (&*self.namespace, &*state.set_name));
        if of_plan != mine {
            let text = format!("the plan is for {of_plan:?} (namespace and set), the statement for {mine:?}");
            return Err(errors::invalid_argument(py, text));
        }
        if state.filter.is_some() {
            return Err(errors::invalid_argument(py, "a query with a plan takes no filter: the plan has the index"));
        }
        let query = RawQuery::of_plan(plan).map_err(|error| errors::to_py(py, &error))?;
        self.asks(py, &state, query)
    }

    /// What `query` selects, with what is to come of it.
    fn asks(&self, py: Python<'_>, state: &StatementState, query: RawQuery) -> PyResult<QuerySpec> {
        let (operate, (what, ops)) = match &state.operations {
            Some((reads, false)) => (true, reads.clone()),
            Some((_, true)) => {
                let text = "the operations of a query only read; query_operate carries out those that write";
                return Err(errors::invalid_argument(py, text));
            }
            None => (false, self.bins.clone()),
        };
        let mut query = query.ops(ops);
        if what & info1::NO_BIN_DATA != 0 {
            query = query.without_bins();
        }
        if let Some(function) = &state.aggregate {
            query = function.add(query, FunctionMode::Stream);
        }
        Ok(QuerySpec { query, operate, names: (self.namespace.clone(), state.set_name.clone()) })
    }

    /// The query for work in the background, without operations or function.
    pub(crate) fn background(&self) -> RawQuery {
        Self::selects(&self.namespace, &self.changing.lock())
    }

    /// Which records.
    fn selects(namespace: &str, state: &StatementState) -> RawQuery {
        let mut query = RawQuery::new(namespace);
        if !state.set_name.is_empty() {
            query = query.field(field::SET, state.set_name.as_bytes());
        }
        match &state.filter {
            None => query,
            Some(filter) => filter.add(query),
        }
    }
}

/// A function of a UDF module, with its arguments (a sequence, or `None`).
pub(crate) fn function(
    py: Python<'_>,
    package: &str,
    name: &str,
    arguments: Option<&Bound<'_, PyAny>>,
) -> PyResult<Function> {
    for (what, text) in [("package", package), ("function", name)] {
        if text.is_empty() || text.len() > 255 {
            let text = format!("the {what} name of a UDF has {} bytes, it must have 1 to 255", text.len());
            return Err(errors::invalid_argument(py, text));
        }
    }
    let list = match arguments {
        None => PyList::empty(py),
        Some(list) if list.is_instance_of::<PyList>() || list.is_instance_of::<PyTuple>() => {
            PyList::new(py, list.try_iter()?.collect::<PyResult<Vec<_>>>()?)?
        }
        Some(other) => {
            let kind = other.get_type();
            return Err(PyTypeError::new_err(format!("the arguments of a UDF are a list, not {}", kind.name()?)));
        }
    };
    let mut packed = Vec::new();
    value::encode_value(list.as_any(), &mut packed).map_err(|refused| refused.into_py(py, "UDF arguments"))?;
    Ok(Function { package: package.to_owned(), name: name.to_owned(), arguments: packed })
}

#[pymethods]
impl Statement {
    #[new]
    #[pyo3(signature = (namespace, set_name=None, bins=None))]
    fn new(py: Python<'_>, namespace: &str, set_name: Option<&str>, bins: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let set_name = set_name.unwrap_or_default();
        check_namespace(py, namespace)?;
        check_set(py, set_name)?;
        Ok(Self {
            namespace: namespace.to_owned(),
            bins: shape::bins_to_read(bins)?,
            changing: Mutex::new(StatementState { set_name: set_name.to_owned(), ..StatementState::default() }),
        })
    }

    /// The namespace.
    #[getter]
    fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The set; `None`: all sets.
    #[getter]
    fn set_name(&self) -> Option<String> {
        Some(self.changing.lock().set_name.clone()).filter(|name| !name.is_empty())
    }

    #[setter(set_name)]
    fn set_set_name(&self, py: Python<'_>, set_name: Option<&str>) -> PyResult<()> {
        let set_name = set_name.unwrap_or_default();
        check_set(py, set_name)?;
        set_name.clone_into(&mut self.changing.lock().set_name);
        Ok(())
    }

    /// The filter on a secondary index, as a list of one filter, since servers accept only one. `None`: no filter.
    ///
    /// Setting more than one filter raises `InvalidArgumentError` (a `ValueError`).
    #[getter]
    fn filters(&self) -> Option<Vec<Filter>> {
        self.changing.lock().filter.clone().map(|filter| vec![filter])
    }

    #[setter(filters)]
    fn set_filters(&self, py: Python<'_>, filters: Option<Vec<PyRef<'_, Filter>>>) -> PyResult<()> {
        let filters = filters.unwrap_or_default();
        if filters.len() > 1 {
            let text = format!("a statement takes one filter, not {}: use a filter expression for more", filters.len());
            return Err(errors::invalid_argument(py, text));
        }
        self.changing.lock().filter = filters.first().map(|filter| Filter::clone(filter));
        Ok(())
    }

    /// Runs a stream function of a UDF module over the records on each node. Each result is returned as the bin
    /// `"SUCCESS"` of a record without a key. The caller has to combine the results of several nodes.
    ///
    /// Raises what `Client.execute_udf` raises for arguments that cannot be sent.
    #[pyo3(signature = (package_name, function_name, function_args=None))]
    fn set_aggregate_function(
        &self,
        py: Python<'_>,
        package_name: &str,
        function_name: &str,
        function_args: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let function = function(py, package_name, function_name, function_args)?;
        self.changing.lock().aggregate = Some(function);
        Ok(())
    }

    /// Executes read operations on each record, instead of reading bins: a list of `Operation`. Their results are in
    /// `Record.bins`. Servers before 8.1.2 only support `Operation.get_bin`.
    ///
    /// Raises `TypeError` for anything that is not an operation, `InvalidArgumentError` (a `ValueError`) for an empty
    /// list.
    fn set_operations(&self, ops: &Bound<'_, PyAny>) -> PyResult<()> {
        let operations = shape::operations(ops)?;
        self.changing.lock().operations = Some(operations);
        Ok(())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let namespace = self.namespace.as_str().into_pyobject(py)?.repr()?.to_string();
        let set = self.set_name().into_pyobject(py)?.repr()?.to_string();
        Ok(format!("Statement({namespace}, {set})"))
    }
}
