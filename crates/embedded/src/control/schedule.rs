//! Schedules, as requests have them.

use super::answer::Refusal;
use super::command::Command;
use super::fault::kind_of;
use super::{Running, node_id, settings};
use crate::schedule::{RunningSchedule, Schedule, Trigger};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{Arc, Weak};

/// Most steps of a schedule.
const MAX_STEPS: usize = 10_000;
/// Most schedules of a cluster.
const MAX_SCHEDULES: usize = 1_000;

/// What is to be done, and when.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    after: After,
    run: Command,
}

/// What a step waits for: so many requests, or so many seconds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct After {
    #[serde(default)]
    requests: Option<u64>,
    #[serde(default)]
    on: Option<Vec<String>>,
    #[serde(default)]
    node: Option<String>,
    #[serde(default)]
    seconds: Option<f64>,
}

impl After {
    fn trigger(&self) -> Result<Trigger, Refusal> {
        match (self.requests, self.seconds) {
            (Some(requests), None) => {
                let mut trigger = Trigger::requests(requests);
                for name in self.on.iter().flatten() {
                    trigger = trigger.on(kind_of(name)?);
                }
                if let Some(node) = &self.node {
                    trigger = trigger.node(node_id(node)?);
                }
                Ok(trigger)
            }
            (None, Some(seconds)) if self.on.is_none() && self.node.is_none() => {
                settings::pause(seconds).map(Trigger::time)
            }
            (None, Some(_)) => Err(Refusal::setting("after: on and node go with requests, not with seconds")),
            _ => Err(Refusal::setting("after: either requests or seconds expected")),
        }
    }
}

/// The schedules of a cluster, by number.
#[derive(Debug, Default)]
pub(super) struct Schedules(Vec<RunningSchedule>);

impl Schedules {
    fn get(&self, number: u64) -> Result<&RunningSchedule, Refusal> {
        let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let found = at.and_then(|at| self.0.get(at));
        found.ok_or_else(|| Refusal::unknown(format!("there is no schedule {number}")))
    }

    /// How far one has come.
    pub(super) fn show(&self, number: u64) -> Result<Value, Refusal> {
        let schedule = self.get(number)?;
        // In this order: one that is over has done all that it ever will.
        let over = schedule.is_over();
        Ok(json!({ "over": over, "steps_done": schedule.steps_done(), "error": schedule.error() }))
    }

    pub(super) fn cancel(&self, number: u64) -> Result<Value, Refusal> {
        self.get(number)?.cancel();
        Ok(Value::Null)
    }
}

/// Begins a schedule whose steps are carried out as requests are.
pub(super) fn begin(running: &Arc<Mutex<Running>>, steps: Vec<Step>) -> Result<Value, Refusal> {
    if steps.is_empty() || steps.len() > MAX_STEPS {
        return Err(Refusal::setting(format!("{} steps: 1 to {MAX_STEPS} expected", steps.len())));
    }
    let mut schedule = Schedule::new();
    for Step { after, run } in steps {
        if let Command::Start(_) | Command::Stop {} | Command::Schedule { .. } = run {
            return Err(Refusal::setting("a step cannot start or stop the cluster, or begin a schedule"));
        }
        let running: Weak<Mutex<Running>> = Arc::downgrade(running);
        schedule = schedule.then(after.trigger()?, move |_| {
            let Some(running) = running.upgrade() else { return Ok(()) };
            running.lock().carry_out(run).map(drop).map_err(|refusal| refusal.text().to_owned())
        });
    }
    let mut running = running.lock();
    if running.schedules.0.len() >= MAX_SCHEDULES {
        return Err(Refusal::setting(format!("a cluster has at most {MAX_SCHEDULES} schedules")));
    }
    let begun = running.cluster.run(schedule)?;
    running.schedules.0.push(begun);
    Ok(json!({ "schedule": running.schedules.0.len() }))
}
