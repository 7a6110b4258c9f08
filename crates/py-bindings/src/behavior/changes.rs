//! What a configuration file makes of behaviors: new ones, and changes of those that there are.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use aerolane::sync::Mutex;
use aerolane_config::{BehaviorChanges, DEFAULT, Problem, Settings as Values};
use pyo3::prelude::*;

use super::resolved::{Patch, Resolved};
use super::{Behavior, predefined, registry};
use crate::lock::LockAttached;

/// Taken to change what behaviors come to. No Python code runs under it.
static CHANGING: Mutex<()> = Mutex::new(());
/// What files have defined: kept, whoever uses them, with what was last said of each.
static DEFINED: Mutex<Vec<(Py<Behavior>, BehaviorChanges)>> = Mutex::new(Vec::new());

/// Works a new behavior out again if its parent has changed since it was looked at.
pub(super) fn catch_up(py: Python<'_>, behavior: &Py<Behavior>, seen: Option<&Arc<Resolved>>) {
    let this = behavior.get();
    let Some(parent) = &this.parent else { return };
    let _changing = CHANGING.lock_py_attached(py);
    let now = parent.get().resolved.load_full();
    if seen.is_none_or(|seen| !Arc::ptr_eq(seen, &now)) {
        this.set(Some(&now), this.policies().patches.clone());
    }
}

impl Behavior {
    fn set(&self, parent: Option<&Resolved>, patches: Vec<Patch>) {
        self.resolved.store(Arc::new(Resolved::new(parent, patches)));
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Gives a behavior other settings of its own, and works out anew what those come to that were made from it.
    fn change(behavior: &Py<Self>, py: Python<'_>, patches: Vec<Patch>) {
        // Kept until the lock is free: the last reference may run code of Python's.
        let mut family = vec![behavior.clone_ref(py)];
        let _changing = CHANGING.lock_py_attached(py);
        let above = behavior.get().parent.as_ref().map(|parent| parent.get().resolved.load_full());
        behavior.get().set(above.as_deref(), patches);
        let mut next = 0;
        while next < family.len() {
            let this = family[next].clone_ref(py);
            let now = this.get().resolved.load_full();
            for child in this.get().children.all(py) {
                child.get().set(Some(&now), child.get().policies().patches.clone());
                family.push(child);
            }
            next += 1;
        }
    }
}

/// The changes of a predefined behavior, as if there were no file.
fn factory(name: &str) -> Option<Vec<Patch>> {
    predefined::all().into_iter().find(|one| one.name == name).map(|one| one.patches)
}

/// What is said within each scope, over what was said before.
fn layered(mut patches: Vec<Patch>, over: &[Patch]) -> Vec<Patch> {
    for (scope, values) in over {
        match patches.iter_mut().find(|(of, _)| of == scope) {
            Some((_, below)) => *below = Values::merge(below, values),
            None => patches.push((*scope, *values)),
        }
    }
    patches
}

/// What cannot be done as a file's behaviors say. `specs`: parents first.
pub(crate) fn problems(py: Python<'_>, specs: &[&BehaviorChanges]) -> PyResult<Vec<Problem>> {
    let mut problems = Vec::new();
    for (place, spec) in specs.iter().enumerate() {
        let Some(wanted) = spec.parent.as_deref() else { continue };
        let message = if !parent_of_predefined(py, spec)? {
            format!("the predefined behavior {} keeps its parent: leave this out", spec.name)
        } else if specs[..place].iter().all(|other| other.name != wanted)
            && registry::get_behavior(py, wanted).is_none()
        {
            format!("there is no behavior {wanted:?}: {DEFAULT} takes its place")
        } else {
            continue;
        };
        let key = format!("behaviors.{}.parent", spec.name);
        problems.push(Problem { line: spec.line, key, message, harmless: false });
    }
    Ok(problems)
}

/// Whether a predefined behavior is said to have the parent that it has; true for others.
fn parent_of_predefined(py: Python<'_>, spec: &BehaviorChanges) -> PyResult<bool> {
    let own = registry::predefined(py)?.iter().find(|(name, _)| *name == spec.name);
    let Some((_, behavior)) = own else { return Ok(true) };
    let parent = behavior.get().parent.as_ref().map(|parent| parent.get().name.as_str());
    Ok(spec.parent.is_none() || spec.parent.as_deref() == parent)
}

/// Applies a file's behaviors, parents first: those that there are get its settings in place of the ones that they had,
/// also for sessions that use them; predefined ones keep their own beneath. What has not changed since the last time is
/// left alone. Gives the names of the others.
pub(crate) fn apply(py: Python<'_>, specs: &[&BehaviorChanges]) -> PyResult<Vec<String>> {
    let mut applied = Vec::new();
    for spec in specs {
        let parent = match spec.parent.as_deref().and_then(|name| registry::get_behavior(py, name)) {
            Some(parent) => parent,
            None => registry::default_behavior(py)?,
        };
        let is_child = |of: &Py<Behavior>| of.get().parent.as_ref().is_some_and(|other| other.is(&parent));
        let own = factory(&spec.name);
        let unchanged = |(behavior, last): &(Py<Behavior>, BehaviorChanges)| {
            let same = last.name == spec.name && last.parent == spec.parent && last.changes == spec.changes;
            same && (own.is_some() || is_child(behavior))
        };
        if DEFINED.lock_py_attached(py).iter().any(unchanged) {
            continue;
        }
        let behavior = match registry::get_behavior(py, &spec.name) {
            Some(behavior) if own.is_some() || is_child(&behavior) => {
                Behavior::change(&behavior, py, layered(own.unwrap_or_default(), &spec.changes));
                behavior
            }
            // A new one, or one that has another parent now.
            _ => Behavior::of(py, &spec.name, Some(&parent), spec.changes.clone())?,
        };
        applied.push(spec.name.clone());
        let entry = (behavior, BehaviorChanges::clone(spec));
        let replaced = {
            let mut defined = DEFINED.lock_py_attached(py);
            if let Some(place) = defined.iter_mut().find(|(_, last)| last.name == spec.name) {
                Some(std::mem::replace(place, entry))
            } else {
                defined.push(entry);
                None
            }
        };
        drop(replaced);
    }
    Ok(applied)
}
