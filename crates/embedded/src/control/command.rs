//! What can be asked for.

use super::fault::Injection;
use super::schedule::Step;
use super::settings::{ConditionSettings, Settings};
use serde::Deserialize;
use serde_json::Value;

/// A request. The variants are the names in `do`; what has no fields takes none.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Command {
    Start(Box<Settings>),
    Show {},
    Stop {},
    StopNodes {
        nodes: Vec<String>,
    },
    StartNode {
        node: String,
    },
    AddNode {},
    Master {
        partition: u16,
    },
    SetMaster {
        partition: u16,
        #[serde(default)]
        node: Option<String>,
    },
    HoldPartitions {
        hold: bool,
    },
    Stats {
        node: String,
    },
    RecordCount {
        namespace: String,
    },
    UdfLog {},
    AdvanceClock {
        seconds: f64,
    },
    Sweep {},
    SetReplicationLag {
        lag: Value,
        #[serde(default)]
        node: Option<String>,
    },
    SetMigrationRate {
        rate: Option<u32>,
    },
    Migrate {
        records: usize,
    },
    Migrating {
        namespace: String,
    },
    SetDataLimit {
        namespace: String,
        bytes: u64,
    },
    SetConditions(ConditionSettings),
    Conditions {
        node: String,
    },
    Inject(Injection),
    RemoveFault {
        fault: u64,
    },
    Struck {
        fault: u64,
    },
    ClearFaults {},
    Schedule {
        steps: Vec<Step>,
    },
    ScheduleState {
        schedule: u64,
    },
    CancelSchedule {
        schedule: u64,
    },
}
