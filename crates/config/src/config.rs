//! What a file says.

use crate::problem::Problem;
use crate::read::DEFAULT;
use crate::scope::Scope;
use crate::settings::Settings;
use crate::system::System;

/// What a file says, and what in it is not applied.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// By the name of the cluster, or [`DEFAULT`].
    pub systems: Vec<(String, System)>,
    /// In the order of the file, one for each name.
    pub behaviors: Vec<BehaviorChanges>,
    /// In the order of the file.
    pub problems: Vec<Problem>,
}

/// A behavior as the file has it.
#[derive(Debug, Clone, PartialEq)]
pub struct BehaviorChanges {
    /// Its name. `default` is [`DEFAULT`].
    pub name: String,
    /// The name of the behavior that it changes; `None`: [`DEFAULT`].
    pub parent: Option<String>,
    /// One for each scope at most.
    pub changes: Vec<(Scope, Settings)>,
    /// Where it begins.
    pub line: usize,
}

impl Config {
    /// What the file says for a cluster: what it says for its name, over what it says for [`DEFAULT`].
    #[must_use]
    pub fn system(&self, cluster: Option<&str>) -> System {
        let of = |name: &str| self.systems.iter().find(|(other, _)| other == name).map(|(_, system)| system);
        let default = of(DEFAULT).cloned().unwrap_or_default();
        match cluster.filter(|name| *name != DEFAULT).and_then(of) {
            Some(named) => default.merge(named),
            None => default,
        }
    }

    /// The behaviors, each after its parent if that is in the file, too; and the problems of those that are left out, as
    /// their parents lead in a circle.
    #[must_use]
    pub fn behaviors_in_order(&self) -> (Vec<&BehaviorChanges>, Vec<Problem>) {
        let mut left: Vec<_> = self.behaviors.iter().collect();
        let mut ordered = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let names: Vec<_> = left.iter().map(|behavior| behavior.name.as_str()).collect();
            let waits = |of: &&BehaviorChanges| of.parent.as_deref().is_some_and(|parent| names.contains(&parent));
            let (waiting, ready): (Vec<_>, Vec<_>) = left.iter().copied().partition(waits);
            if ready.is_empty() {
                let text = "its parents lead back to it: a behavior must come from a predefined one in the end";
                let circle =
                    waiting.iter().map(|of| Problem::new(of.line, format!("behaviors.{}.parent", of.name), text));
                return (ordered, circle.collect());
            }
            ordered.extend(ready);
            left = waiting;
        }
        (ordered, Vec::new())
    }
}
