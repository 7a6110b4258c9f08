//! Keys and data sets that are given by name, as in the first versions of the SDK of Aerospike: `upsert(key=key)`,
//! `query(namespace="test", set_name="users")`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::behavior::Behavior;
use crate::dataset::DataSet;
use crate::key::Key;

/// What a call is about.
pub(super) struct Named<'py> {
    /// A key, a list of keys, or a data set.
    pub(super) keys: Bound<'py, PyAny>,
    /// Only of queries.
    pub(super) behavior: Option<Py<Behavior>>,
}

impl<'py> Named<'py> {
    /// What the arguments of a verb say. `query`: it is a query, which takes more.
    ///
    /// # Errors
    /// `TypeError`: they say nothing, or too much.
    pub(super) fn of(
        py: Python<'py>,
        verb: &str,
        keys: Option<&Bound<'py, PyAny>>,
        more: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
        query: bool,
    ) -> PyResult<Self> {
        let (mut key, mut list, mut dataset, mut namespace) = (None, None, None, None);
        let (mut set_name, mut value, mut behavior) = (None, None, None);
        for (name, given) in named.into_iter().flatten() {
            let name = name.cast_into::<PyString>()?;
            let place = match name.to_str()? {
                "key" => &mut key,
                "dataset" => &mut dataset,
                "namespace" => &mut namespace,
                "set_name" => &mut set_name,
                "key_value" => &mut value,
                "keys_list" | "keys" if query => &mut list,
                "behavior" if query => &mut behavior,
                other => {
                    let text = format!("{verb}() got an unexpected keyword argument '{other}'");
                    return Err(PyTypeError::new_err(text));
                }
            };
            *place = Some(given).filter(|given| !given.is_none());
        }
        let behavior =
            behavior.map(|behavior| Ok::<_, PyErr>(behavior.cast_into::<Behavior>()?.unbind())).transpose()?;
        let of_names = namespace.is_some() || set_name.is_some();
        let ways = [keys.is_some(), key.is_some(), list.is_some(), dataset.is_some(), of_names];
        if ways.into_iter().filter(|way| *way).count() != 1 || (keys.is_none() && !more.is_empty()) {
            let text = format!(
                "{verb}() takes keys or a data set, once: {verb}(key), {verb}([key, key]), {verb}(dataset), {verb}(key=key), or \
                 {verb}(dataset=dataset, key_value=..)"
            );
            return Err(PyTypeError::new_err(text));
        }
        let found = if let Some(keys) = keys {
            keys.clone()
        } else if let Some(key) = key {
            key.cast_into::<Key>()?.into_any()
        } else if let Some(list) = list {
            list
        } else {
            let dataset = if let Some(dataset) = dataset {
                dataset.cast_into::<DataSet>()?.into_any()
            } else {
                let Some(namespace) = namespace else {
                    return Err(PyTypeError::new_err(format!("{verb}(set_name=..) goes with namespace=..")));
                };
                py.get_type::<DataSet>().call1((namespace, set_name))?
            };
            match value.take() {
                Some(value) => dataset.call_method1("id", (value,))?,
                None => dataset,
            }
        };
        if value.is_some() {
            let text = format!("{verb}(key_value=..) goes with dataset=.., or with namespace=.. and set_name=..");
            return Err(PyTypeError::new_err(text));
        }
        Ok(Self { keys: found, behavior })
    }
}

/// The data set of an argument, or that of the names of a namespace and a set.
///
/// # Errors
/// `TypeError`: the arguments say none, or two.
pub(super) fn dataset_of<'py>(
    py: Python<'py>,
    method: &str,
    dataset: Option<&Bound<'py, PyAny>>,
    set_name: Option<&Bound<'py, PyAny>>,
    namespace: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, DataSet>> {
    let of_names = |namespace: &Bound<'py, PyAny>| {
        Ok(py.get_type::<DataSet>().call1((namespace, set_name))?.cast_into::<DataSet>()?)
    };
    match (dataset, set_name, namespace) {
        (Some(dataset), None, None) if !dataset.is_instance_of::<PyString>() => {
            let kind = dataset.get_type();
            let dataset = dataset.cast::<DataSet>().map_err(|_| {
                let name = kind.name().map_or_else(|_| "another object".to_owned(), |name| name.to_string());
                PyTypeError::new_err(format!("{method}() takes a DataSet, not {name}: DataSet.of(\"test\", \"users\")"))
            })?;
            Ok(dataset.clone())
        }
        // One name alone is more likely a slip than a namespace without a set.
        (Some(name), Some(_), None) if name.is_instance_of::<PyString>() => of_names(name),
        (None, _, Some(name)) => of_names(name),
        _ => {
            let text = format!(
                "{method}() takes a DataSet, or the names of a namespace and a set, once: {method}(dataset), or \
                 {method}(\"test\", \"users\")"
            );
            Err(PyTypeError::new_err(text))
        }
    }
}
