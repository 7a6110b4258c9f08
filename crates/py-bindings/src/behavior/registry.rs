//! All behaviors by name.

use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use super::predefined;
use super::{Behavior, Resolved};

/// In the order in which they were made. Never locked while Python code can run.
static BEHAVIORS: Mutex<Vec<Py<Behavior>>> = Mutex::new(Vec::new());
static PREDEFINED: PyOnceLock<Vec<(&'static str, Py<Behavior>)>> = PyOnceLock::new();

/// The behavior that is in force when none is named.
pub(super) fn default_behavior(py: Python<'_>) -> PyResult<Py<Behavior>> {
    // The table's first one.
    Ok(predefined(py)?[0].1.clone_ref(py))
}

/// The behaviors that stand ready.
pub(super) fn predefined(py: Python<'_>) -> PyResult<&'static [(&'static str, Py<Behavior>)]> {
    let made = PREDEFINED.get_or_try_init(py, || {
        let mut made: Vec<(&'static str, Py<Behavior>)> = Vec::new();
        for one in predefined::all() {
            let parent = made.iter().find(|(name, _)| Some(*name) == one.parent).map(|(_, parent)| parent);
            let behavior = Py::new(
                py,
                Behavior {
                    name: one.name.into(),
                    parent: parent.map(|parent| parent.clone_ref(py)),
                    resolved: Resolved::new(parent.map(|parent| &parent.get().resolved), &one.patches),
                    patches: one.patches,
                    children: Mutex::default(),
                },
            )?;
            if let Some(parent) = parent {
                parent.get().children.lock().push(behavior.clone_ref(py));
            }
            made.push((one.name, behavior));
        }
        BEHAVIORS.lock().extend(made.iter().map(|(_, behavior)| behavior.clone_ref(py)));
        Ok::<_, PyErr>(made)
    })?;
    Ok(made)
}

/// Adds a behavior; one of the same name is replaced.
pub(super) fn add(py: Python<'_>, behavior: &Py<Behavior>) {
    put(py, &BEHAVIORS, behavior);
}

/// Puts a behavior into a list, in the place of one with its name.
pub(super) fn put(py: Python<'_>, list: &Mutex<Vec<Py<Behavior>>>, behavior: &Py<Behavior>) {
    let mut list = list.lock();
    let place = list.iter_mut().find(|other| other.get().name == behavior.get().name);
    let replaced = place.map(|place| std::mem::replace(place, behavior.clone_ref(py)));
    if replaced.is_none() {
        list.push(behavior.clone_ref(py));
    }
    drop(list);
    drop(replaced);
}

/// The behavior of this name, or None.
#[pyfunction]
pub(super) fn get_behavior(py: Python<'_>, name: &str) -> Option<Py<Behavior>> {
    let list = BEHAVIORS.lock();
    list.iter().find(|behavior| behavior.get().name == name).map(|behavior| behavior.clone_ref(py))
}

/// The behavior of this name, or `Behavior.DEFAULT`.
#[pyfunction]
fn get_behavior_or_default(py: Python<'_>, name: &str) -> PyResult<Py<Behavior>> {
    get_behavior(py, name).map_or_else(|| default_behavior(py), Ok)
}

/// All behaviors by name, in the order in which they were made.
#[pyfunction]
fn get_all_behaviors(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all: Vec<_> = BEHAVIORS.lock().iter().map(|behavior| behavior.clone_ref(py)).collect();
    let dict = PyDict::new(py);
    for behavior in all {
        dict.set_item(behavior.get().name.as_str(), &behavior)?;
    }
    Ok(dict)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let class = module.getattr("Behavior")?;
    for (name, behavior) in predefined(module.py())? {
        class.setattr(*name, behavior)?;
    }
    module.add_function(wrap_pyfunction!(get_behavior, module)?)?;
    module.add_function(wrap_pyfunction!(get_behavior_or_default, module)?)?;
    module.add_function(wrap_pyfunction!(get_all_behaviors, module)?)
}
