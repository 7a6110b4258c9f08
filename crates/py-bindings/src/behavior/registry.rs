//! All behaviors by name. What is not predefined, or from a configuration file, is known while somebody uses it.

use std::collections::HashMap;

use aerolane::sync::Mutex;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyWeakrefMethods, PyWeakrefReference};

use super::{Behavior, predefined};

static BEHAVIORS: PyOnceLock<Names> = PyOnceLock::new();
static PREDEFINED: PyOnceLock<Vec<(&'static str, Py<Behavior>)>> = PyOnceLock::new();

/// Behaviors by name, without keeping them. Never locked while Python code can run.
#[derive(Default)]
pub(super) struct Names(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    by_name: HashMap<String, Entry>,
    /// How many have been put here.
    count: u64,
    /// With more than so many, it is time to look for those that are gone.
    room: usize,
}

struct Entry {
    /// Which one of all that were put here, or the one in whose place it is.
    number: u64,
    behavior: Py<PyWeakrefReference>,
}

impl Names {
    /// Puts a behavior here, in the place of one with its name.
    pub(super) fn put(&self, behavior: &Bound<'_, Behavior>) -> PyResult<()> {
        let py = behavior.py();
        let weak = PyWeakrefReference::new(behavior)?.unbind();
        let mut gone = Vec::new();
        let mut entries = self.0.lock();
        entries.count += 1;
        let count = entries.count;
        let name = behavior.get().name.clone();
        let number = entries.by_name.get(&name).map_or(count, |entry| entry.number);
        gone.extend(entries.by_name.insert(name, Entry { number, behavior: weak }));
        if entries.by_name.len() > entries.room {
            let is_gone = |_: &String, entry: &mut Entry| entry.behavior.bind(py).upgrade().is_none();
            gone.extend(entries.by_name.extract_if(is_gone).map(|(_, entry)| entry));
            entries.room = entries.by_name.len() * 2 + 16;
        }
        drop(entries);
        drop(gone);
        Ok(())
    }

    fn get(&self, py: Python<'_>, name: &str) -> Option<Py<Behavior>> {
        let weak = self.0.lock().by_name.get(name).map(|entry| entry.behavior.clone_ref(py))?;
        upgraded(py, &weak)
    }

    /// All that are still in use, in the order in which they came.
    pub(super) fn all(&self, py: Python<'_>) -> Vec<Py<Behavior>> {
        let mut found: Vec<_> =
            self.0.lock().by_name.values().map(|entry| (entry.number, entry.behavior.clone_ref(py))).collect();
        found.sort_by_key(|(number, _)| *number);
        found.iter().filter_map(|(_, weak)| upgraded(py, weak)).collect()
    }
}

fn upgraded(py: Python<'_>, weak: &Py<PyWeakrefReference>) -> Option<Py<Behavior>> {
    Some(weak.bind(py).upgrade()?.cast_into::<Behavior>().ok()?.unbind())
}

fn behaviors(py: Python<'_>) -> &'static Names {
    BEHAVIORS.get_or_init(py, Names::default)
}

/// The behavior that is in force when none is named.
pub(super) fn default_behavior(py: Python<'_>) -> PyResult<Py<Behavior>> {
    // The table's first one.
    Ok(predefined(py)?[0].1.clone_ref(py))
}

/// Whether a predefined behavior has this name.
pub(super) fn is_predefined(py: Python<'_>, name: &str) -> PyResult<bool> {
    Ok(predefined(py)?.iter().any(|(taken, _)| *taken == name))
}

/// The behaviors that stand ready.
pub(super) fn predefined(py: Python<'_>) -> PyResult<&'static [(&'static str, Py<Behavior>)]> {
    let made = PREDEFINED.get_or_try_init(py, || {
        let mut made: Vec<(&'static str, Py<Behavior>)> = Vec::new();
        for one in predefined::all() {
            let parent = made.iter().find(|(name, _)| Some(*name) == one.parent).map(|(_, parent)| parent);
            let behavior = Behavior::of(py, one.name, parent, one.patches)?;
            made.push((one.name, behavior));
        }
        Ok::<_, PyErr>(made)
    })?;
    Ok(made)
}

/// Adds a behavior; one of the same name is replaced.
pub(super) fn add(behavior: &Bound<'_, Behavior>) -> PyResult<()> {
    behaviors(behavior.py()).put(behavior)
}

/// The behavior of this name, or None. A behavior that is neither predefined nor from a configuration file can be found
/// for as long as the program, a session or a behavior derived from it uses it.
#[pyfunction]
pub(super) fn get_behavior(py: Python<'_>, name: &str) -> Option<Py<Behavior>> {
    behaviors(py).get(py, name)
}

/// The behavior of this name, or `Behavior.DEFAULT`.
#[pyfunction]
fn get_behavior_or_default(py: Python<'_>, name: &str) -> PyResult<Py<Behavior>> {
    get_behavior(py, name).map_or_else(|| default_behavior(py), Ok)
}

/// All behaviors in use by name, in the order in which they were created.
#[pyfunction]
fn get_all_behaviors(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for behavior in behaviors(py).all(py) {
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
