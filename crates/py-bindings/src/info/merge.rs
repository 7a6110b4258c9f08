//! One view of what several nodes say.

use std::collections::{BTreeMap, BTreeSet};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet};

use super::answer::{AnswerText, field, fields, fill, rows};
use super::views::View;

/// The fields of an index: the name that it has in the answer, and the one that it gets.
const OF_INDEX: [(&str, &str); 9] = [
    ("ns", "namespace"),
    ("set", "set"),
    ("bin", "bin"),
    ("indexname", "name"),
    ("type", "type"),
    ("indextype", "index_type"),
    ("context", "context"),
    ("exp", "exp"),
    ("state", "state"),
];

/// What nodes say: each text once, without those that are empty.
pub(super) fn texts(py: Python<'_>, all: &[AnswerText], separator: Option<char>) -> PyResult<Py<PyAny>> {
    let texts = all.iter().filter_map(|said| said.text.as_deref());
    let items: BTreeSet<&str> = match separator {
        None => texts.collect(),
        Some(separator) => texts.flat_map(|text| text.split(separator)).collect(),
    };
    Ok(PySet::new(py, items.into_iter().filter(|item| !item.is_empty()))?.into_any().unbind())
}

/// The view of a text of fields.
pub(super) fn detail(py: Python<'_>, view: View, text: &str) -> PyResult<Py<PyAny>> {
    let dict = PyDict::new(py);
    fill(&dict, fields(text, ';'))?;
    view.of(&dict)
}

/// The view of each node that has what it was asked for, by its name.
pub(super) fn details(py: Python<'_>, view: View, all: &[AnswerText]) -> PyResult<Py<PyAny>> {
    let dict = PyDict::new(py);
    for said in all {
        if let Some(text) = &said.text {
            dict.set_item(&said.node, detail(py, view, text)?)?;
        }
    }
    Ok(dict.into_any().unbind())
}

/// The sets of a text, ordered by name. Rows without a name are none.
fn sets_of(text: Option<&str>) -> BTreeMap<(&str, &str), &str> {
    let row = |row| Some(((field(row, "set")?, field(row, "ns").unwrap_or_default()), row));
    rows(text.unwrap_or_default()).filter_map(row).collect()
}

fn set(py: Python<'_>, row: &str) -> PyResult<Py<PyAny>> {
    let dict = PyDict::new(py);
    fill(&dict, fields(row, ':'))?;
    View::SetDetail.of(&dict)
}

/// All sets, ordered by name. What nodes count is that of the first one that has the set. `only`: the one of this name, or
/// `None`.
pub(super) fn sets(py: Python<'_>, all: &[AnswerText], only: Option<&str>) -> PyResult<Py<PyAny>> {
    let mut merged = BTreeMap::new();
    for said in all {
        for (name, row) in sets_of(said.text.as_deref()) {
            merged.entry(name).or_insert(row);
        }
    }
    if let Some(only) = only {
        let found = merged.iter().find(|((name, _), _)| *name == only);
        return found.map_or_else(|| Ok(py.None()), |(_, row)| set(py, row));
    }
    let list = PyList::empty(py);
    for row in merged.values() {
        list.append(set(py, row)?)?;
    }
    Ok(list.into_any().unbind())
}

/// The sets of each node, by its name.
pub(super) fn sets_per_node(py: Python<'_>, all: &[AnswerText]) -> PyResult<Py<PyAny>> {
    per_node(py, all, sets)
}

/// The indexes of each node, by its name.
pub(super) fn indexes_per_node(py: Python<'_>, all: &[AnswerText], namespace: Option<&str>) -> PyResult<Py<PyAny>> {
    per_node(py, all, |py, one, _| indexes(py, one, namespace, Some(View::Sindex)))
}

fn per_node(
    py: Python<'_>,
    all: &[AnswerText],
    list: impl Fn(Python<'_>, &[AnswerText], Option<&str>) -> PyResult<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let dict = PyDict::new(py);
    for one in all {
        dict.set_item(&one.node, list(py, std::slice::from_ref(one), None)?)?;
    }
    Ok(dict.into_any().unbind())
}

/// The indexes, each once, in the order in which nodes name them. `namespace`: only those of this one. `view`: what each of
/// them becomes; `None`: a plain dict.
pub(super) fn indexes(
    py: Python<'_>,
    all: &[AnswerText],
    namespace: Option<&str>,
    view: Option<View>,
) -> PyResult<Py<PyAny>> {
    let (list, mut seen) = (PyList::empty(py), BTreeSet::new());
    for row in all.iter().filter_map(|said| said.text.as_deref()).flat_map(rows) {
        let (Some(of), Some(name)) = (field(row, "ns"), field(row, "indexname")) else { continue };
        if namespace.is_some_and(|only| only != of) || !seen.insert((of, name)) {
            continue;
        }
        let dict = PyDict::new(py);
        // An index of a set has no bin.
        for (theirs, ours) in OF_INDEX {
            match field(row, theirs) {
                Some("null") if theirs == "exp" => {}
                // As servers from 8.2 on call it.
                Some("numeric") if theirs == "type" => dict.set_item(ours, "integer")?,
                Some(value) => dict.set_item(ours, value)?,
                None if matches!(theirs, "set" | "bin") => dict.set_item(ours, "")?,
                None => {}
            }
        }
        match view {
            Some(view) => list.append(view.of(&dict)?)?,
            None => list.append(dict)?,
        }
    }
    Ok(list.into_any().unbind())
}
