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
        #[serde(default)]
        namespace: Option<String>,
        #[serde(default)]
        seen_by: Option<String>,
    },
    SetMaster {
        partition: u16,
        #[serde(default)]
        node: Option<String>,
    },
    HoldPartitions {
        hold: bool,
    },
    Split {
        groups: Vec<Vec<String>>,
    },
    Heal {},
    Stats {
        node: String,
    },
    RecordCount {
        namespace: String,
    },
    UdfLog {},
    AdvanceClock {
        seconds: f64,
        #[serde(default)]
        node: Option<String>,
    },
    ResetClocks {},
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
    SetDeviceLimit {
        write_cache: Option<u64>,
        #[serde(default)]
        flush_rate: u64,
        #[serde(default)]
        node: Option<String>,
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
