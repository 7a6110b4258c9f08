//! Which columns become what.

use std::sync::Arc;

use aerolane::raw::RawShape;
use aerolane::raw::command::check;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::super::key::Names;
use crate::columns::{Input, KeyKind};
use crate::dataset::DataSet;
use crate::errors;
use crate::operation::checked_name;

type Object<'a, 'py> = &'a Bound<'py, PyAny>;

/// What `write_table` was asked for, beside the table and the policy.
pub(in crate::writer) struct Arguments<'a, 'py> {
    pub(in crate::writer) dataset: &'a Bound<'py, DataSet>,
    pub(in crate::writer) key: &'a str,
    pub(in crate::writer) bins: Option<Object<'a, 'py>>,
    pub(in crate::writer) nulls: &'a str,
    pub(in crate::writer) keep_failures: usize,
}

/// Which columns become what, and what is alike in all records.
pub(in crate::writer) struct Plan {
    pub(super) names: Arc<Names>,
    /// The column of the keys.
    pub(super) key: usize,
    pub(super) key_name: Box<str>,
    /// The columns of the bins, and these bins' names.
    pub(super) bins: Vec<(usize, Box<str>)>,
    /// Nulls remove their bins.
    pub(super) delete_nulls: bool,
    /// Values are Python objects.
    pub(super) objects: bool,
    /// A record without operations.
    pub(super) template: RawShape,
    /// Failed rows that are kept.
    pub(super) keep: usize,
}

impl Plan {
    /// # Errors
    /// The table does not have these columns, or their values cannot be written.
    pub(in crate::writer) fn new(input: &Input, arguments: &Arguments<'_, '_>, template: RawShape) -> PyResult<Self> {
        let py = arguments.dataset.py();
        let delete_nulls = match arguments.nulls {
            "omit" => false,
            "delete" => true,
            other => {
                let text =
                    format!("nulls is '{other}', it must be 'omit' (leave the bin as it is) or 'delete' (remove it)");
                return Err(errors::invalid_argument(py, text));
            }
        };
        let columns = &input.columns;
        for (place, column) in columns.iter().enumerate() {
            if columns[..place].iter().any(|other| other.name == column.name) {
                return Err(errors::invalid_argument(py, format!("two columns are named '{}'", column.name)));
            }
        }
        let find =
            |name: &str| columns.iter().position(|column| *column.name == *name).ok_or_else(|| missing(name, input));
        let key = find(arguments.key)?;
        if let (KeyKind::None, column) = (columns[key].key, &columns[key]) {
            let text =
                format!("the key column '{}' is {}: keys are ints, texts or blobs", column.name, column.type_name);
            return Err(PyTypeError::new_err(text));
        }
        let mut bins = Vec::new();
        for (column, bin) in selected(py, columns.iter().map(|column| &*column.name), arguments)? {
            let place = find(&column)?;
            check::bin_name(&bin).map_err(|error| errors::to_py(py, &error))?;
            if bin.is_empty() {
                return Err(errors::invalid_argument(py, format!("the bin of the column '{column}' has no name")));
            }
            if bins.iter().any(|(_, other)| *other == bin) {
                return Err(errors::invalid_argument(py, format!("two columns become the bin '{bin}'")));
            }
            if let Some(why) = &columns[place].refused {
                return Err(PyTypeError::new_err(format!("the column '{column}' cannot be written: {why}")));
            }
            bins.push((place, bin));
        }
        check::count(bins.len(), "bins").map_err(|error| errors::to_py(py, &error))?;
        if bins.is_empty() {
            return Err(errors::invalid_argument(py, "there are no columns to write"));
        }
        let objects = columns[key].objects || bins.iter().any(|(place, _)| columns[*place].objects);
        let (namespace, set) = arguments.dataset.get().names();
        let (names, key_name) = (Names::new(namespace, set), columns[key].name.clone());
        let keep = arguments.keep_failures;
        Ok(Self { names, key, key_name, bins, delete_nulls, objects, template, keep })
    }
}

fn missing(name: &str, input: &Input) -> PyErr {
    /// Names that are listed.
    const LISTED: usize = 10;
    let names: Vec<_> = input.columns.iter().take(LISTED).map(|column| format!("'{}'", column.name)).collect();
    let more = if input.columns.len() > LISTED { ", ..." } else { "" };
    PyKeyError::new_err(format!("the table has no column '{name}': it has {}{more}", names.join(", ")))
}

/// The columns that become bins, and these bins' names.
fn selected<'a>(
    py: Python<'_>,
    all: impl Iterator<Item = &'a str>,
    arguments: &Arguments<'_, '_>,
) -> PyResult<Vec<(Box<str>, Box<str>)>> {
    let text = |name: &Bound<'_, PyAny>| -> PyResult<Box<str>> {
        match name.cast::<PyString>() {
            Ok(name) => Ok(name.to_str()?.into()),
            Err(_) => Err(PyTypeError::new_err(
                "bins must be a list of column names, or a dict from column names to bin names",
            )),
        }
    };
    let Some(bins) = arguments.bins else {
        return Ok(all.filter(|name| *name != arguments.key).map(|name| (name.into(), name.into())).collect());
    };
    if bins.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("bins must be a list of column names, not one name"));
    }
    if bins.is_instance_of::<PyDict>() || bins.hasattr(intern!(py, "items"))? {
        let pairs = bins.call_method0(intern!(py, "items"))?;
        return pairs
            .try_iter()?
            .map(|pair| {
                let (column, bin): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
                checked_name(bin.cast::<PyString>()?)?;
                Ok((text(&column)?, text(&bin)?))
            })
            .collect();
    }
    bins.try_iter()?.map(|name| text(&name?).map(|name| (name.clone(), name))).collect()
}
