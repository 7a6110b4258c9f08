//! Control of clusters by lines of JSON, so that tests in any language can start clusters, change them and have them fail. The
//! program `aerolane-embedded` speaks it on its standard input and output (`--control`), or to whoever connects to a port
//! (`--control-port`).
//!
//! A request is an object in one line, and so is its answer. `do` names what is to be done, `id` (any value; optional) comes
//! back with the answer:
//!
//! ```text
//! > {"id":1,"do":"start","nodes":3}
//! < {"id":1,"ok":{"certificate":null,"nodes":[{..},{..},{..}],"pid":4711,"seed":0,"seeds":"127.0.0.1:40001,..",..}}
//! > {"id":2,"do":"inject","action":"delay","value":0.05,"on":["read"],"node":"A0AE000000000001"}
//! < {"id":2,"ok":{"fault":1,"rule":"delay=50;on=read"}}
//! > {"id":3,"do":"stop_nodes","nodes":["ABC"]}
//! < {"error":{"kind":"unknown","text":"the cluster has no node \"ABC\""},"id":3}
//! ```
//!
//! | `do` | with | gives |
//! |---|---|---|
//! | `start` | settings, all optional: see below | as `show` |
//! | `show` | | `seeds`, `tls_seeds`, `certificate` (PEM or null), `pid`, `seed`, `nodes`: a list of nodes |
//! | `stop` | | null; the cluster and its records are gone, and another one can be started |
//! | `stop_nodes` | `nodes`: a list of ids | null |
//! | `start_node` | `node` | null |
//! | `add_node` | | a node: `id`, `address`, `tls_address` (or null), `live` |
//! | `master` | `partition`; `namespace` (default: the first), `seen_by` (a node; default: one of the first group) | the id of its node, or null |
//! | `set_master` | `partition`, `node` (null: gives it back) | null |
//! | `hold_partitions` | `hold` | null |
//! | `split` | `groups`: lists of nodes that see each other; all others are one more group | null |
//! | `heal` | | null, also if it is not split |
//! | `stats` | `node` | the counts of [`NodeStats`](crate::NodeStats) |
//! | `record_count` | `namespace` | a number |
//! | `udf_log` | | a list of lines |
//! | `advance_clock` | `seconds` (negative: back); `node` (default: all) | null |
//! | `reset_clocks` | | null |
//! | `sweep` | | how many records have expired |
//! | `set_replication_lag` | `lag` (a time); `node` (default: all) | null |
//! | `set_migration_rate` | `rate`: records a second, null for all at once | null |
//! | `migrate` | `records` | how many were moved |
//! | `migrating` | `namespace` | how many partitions have records still to be moved |
//! | `set_data_limit` | `namespace`, `bytes` (0: no limit) | null |
//! | `set_device_limit` | `write_cache`: bytes, null for no limit; `flush_rate` 0: bytes a second; `node` (default: all) | null |
//! | `set_conditions` | `service_time`, `in_service`, `latency`, `seed`; `node` (default: all) | null |
//! | `conditions` | `node` | the same four |
//! | `inject` | `action`, `value`, `on`, `set`, `key_prefix`, `digest`, `connection`, `skip`, `times`, `probability`; `node` (default: all) | `fault`: its number, `rule` |
//! | `remove_fault` | `fault` | null, also if it is gone |
//! | `struck` | `fault` | how many requests it has struck; 0 if it is gone |
//! | `clear_faults` | | null |
//! | `schedule` | `steps`: a list of objects with `after` and `run`, see below | `schedule`: its number |
//! | `schedule_state` | `schedule` | `over`, `steps_done`, `error` (a text, or null) |
//! | `cancel_schedule` | `schedule` | null |
//!
//! Settings of `start`, with their defaults: `nodes` 3, `replication_factor` 2, `namespaces` `["test"]`,
//! `strong_consistency` false, `default_ttl` 0, `nsup_period` 1, `host` `"127.0.0.1"`, `advertise`, `advertise_alternate`, `port` 0 (any free ones),
//! `cluster_name`, `build`, `users` (passwords by name, or objects with `password` and `roles`), `racks` (a list of numbers),
//! `tls_name`, `tls_port` 0, `tls_client_ca` (PEM), `threads`, `replication_lag` (a time), `migration_rate`, `connection_limit` 0,
//! of all namespaces `roster` false, `keep_records` false, `conflict_resolution` `"generation"` and `data_limit` 0, and the conditions `service_time`, `in_service` 64, `latency`
//! and `seed` (0, or what the environment variable `AEROLANE_SEED` says). What they mean is said at [`Builder`](crate::Builder) and [`Conditions`](crate::conditions::Conditions).
//!
//! A time is a text such as `"80us"`, in the grammar of the command line, or a number of seconds. A service time can also be
//! an object with times for kinds of requests (`"all"`: for those not named). Actions of faults, with their values: `delay` and
//! `answer-delay`, `connect-delay` (seconds), `truncate` (bytes), `result` (a result code), `garbage` (bytes in hexadecimal), `stall`,
//! `drop-before`, `drop-after`, `split`, `refuse`, `black-hole`, `black-hole-requests`, `black-hole-answers`, `black-hole-connects`, `reject-unowned`; see
//! [`FaultAction`](crate::faults::FaultAction). `digest` has 40 hexadecimal digits.
//!
//! The steps of a [schedule](crate::schedule) happen one after the other. `run` is a request; `after` is `{"requests":200}`, with `on`
//! (kinds of requests) and `node` to count only some of them, or `{"seconds":3}`. This one has a node leave for three seconds:
//!
//! ```text
//! > {"do":"schedule","steps":[{"after":{"requests":200,"on":["write"]},"run":{"do":"stop_nodes","nodes":["A0AE000000000002"]}},
//!    {"after":{"seconds":3},"run":{"do":"start_node","node":"A0AE000000000002"}}]}
//! < {"ok":{"schedule":1}}
//! ```
//!
//! The `kind` of an error is one of `request` (it cannot be read, or is none of these), `type` (a value is of the wrong type, or
//! missing), `setting` (a value is out of range), `unknown` (there is no such node or namespace), `os` (the system refuses, with
//! its `errno`), `state` (no cluster runs, or one runs already) and `other`.

mod answer;
mod command;
mod fault;
mod schedule;
mod settings;

use crate::{ClusterError, DeviceLimit, EmbeddedCluster, NodeId};
use answer::{Refusal, node_json};
use command::Command;
use fault::Faults;
use parking_lot::Mutex;
use schedule::Schedules;
use serde_json::{Value, json};
use std::sync::Arc;

/// Longest request, in bytes: what is longer is not read on.
pub const MAX_LINE: usize = 4 * 1024 * 1024;

/// A cluster under control, or none so far. [The module](self) has the protocol.
///
/// ```
/// let mut controller = aerolane_embedded::control::Controller::new();
/// let answer = controller.answer(r#"{"id":1,"do":"start","nodes":1}"#);
/// assert!(answer.starts_with(r#"{"id":1,"ok":{"#), "{answer}");
/// assert_eq!(controller.answer(r#"{"do":"record_count","namespace":"test"}"#), r#"{"ok":0}"#);
/// ```
#[derive(Debug, Default)]
pub struct Controller {
    /// Shared with the schedules of the cluster.
    running: Option<Arc<Mutex<Running>>>,
}

#[derive(Debug)]
struct Running {
    cluster: Arc<EmbeddedCluster>,
    faults: Faults,
    schedules: Schedules,
}

impl Controller {
    /// One that has no cluster yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One of a cluster that runs already.
    #[must_use]
    pub fn of(cluster: EmbeddedCluster) -> Self {
        let (cluster, faults, schedules) = (Arc::new(cluster), Faults::default(), Schedules::default());
        Self { running: Some(Arc::new(Mutex::new(Running { cluster, faults, schedules }))) }
    }

    /// Carries out a request, and gives its answer: both without the end of their line.
    pub fn answer(&mut self, line: &str) -> String {
        let mut id = None;
        let answered = self.carry_out(line, &mut id);
        let (name, value) = match answered {
            Ok(value) => ("ok", value),
            Err(refusal) => ("error", refusal.json()),
        };
        let mut answer = serde_json::Map::new();
        if let Some(id) = id {
            answer.insert("id".to_owned(), id);
        }
        answer.insert(name.to_owned(), value);
        Value::Object(answer).to_string()
    }

    fn carry_out(&mut self, line: &str, id: &mut Option<Value>) -> Result<Value, Refusal> {
        let mut request: serde_json::Map<String, Value> =
            serde_json::from_str(line).map_err(|error| Refusal::unread(&error))?;
        *id = request.remove("id");
        let command: Command =
            serde_json::from_value(Value::Object(request)).map_err(|error| Refusal::unread(&error))?;
        match (command, &mut self.running) {
            (Command::Start(settings), None) => {
                let cluster = settings.builder()?.start()?;
                let shown = show(&cluster);
                *self = Self::of(cluster);
                Ok(shown)
            }
            (Command::Start(_), Some(_)) => Err(Refusal::state("a cluster runs already: stop it first")),
            (_, None) => Err(Refusal::state("no cluster runs: start one first")),
            (Command::Stop {}, running) => {
                *running = None;
                Ok(Value::Null)
            }
            (Command::Schedule { steps }, Some(running)) => schedule::begin(running, steps),
            (command, Some(running)) => running.lock().carry_out(command),
        }
    }
}

impl Running {
    fn carry_out(&mut self, command: Command) -> Result<Value, Refusal> {
        let Self { cluster, faults, schedules } = self;
        let done = |result: Result<(), ClusterError>| result.map(|()| Value::Null).map_err(Refusal::from);
        match command {
            // The controller carries the first three out.
            Command::Start(_) | Command::Stop {} | Command::Schedule { .. } | Command::Show {} => Ok(show(cluster)),
            Command::ScheduleState { schedule } => schedules.show(schedule),
            Command::CancelSchedule { schedule } => schedules.cancel(schedule),
            Command::StopNodes { nodes } => {
                let ids = nodes.iter().map(|node| node_id(node)).collect::<Result<Vec<_>, _>>()?;
                done(cluster.stop_nodes(&ids))
            }
            Command::StartNode { node } => done(cluster.start_node(node_id(&node)?)),
            Command::AddNode {} => Ok(node_json(&cluster.add_node()?)),
            Command::Master { partition, namespace, seen_by } => {
                let seen_by = seen_by.as_deref().map(node_id).transpose()?;
                let namespace = namespace.unwrap_or_else(|| cluster.first_namespace().to_owned());
                let master = cluster.master_of(&namespace, partition, seen_by)?;
                Ok(master.map_or(Value::Null, |id| id.to_string().into()))
            }
            Command::SetMaster { partition, node } => {
                done(cluster.set_master(partition, node.as_deref().map(node_id).transpose()?))
            }
            Command::HoldPartitions { hold } => {
                cluster.hold_partitions(hold);
                Ok(Value::Null)
            }
            Command::Split { groups } => {
                let ids = |group: &Vec<String>| group.iter().map(|node| node_id(node)).collect::<Result<Vec<_>, _>>();
                done(cluster.split(&groups.iter().map(ids).collect::<Result<Vec<_>, _>>()?))
            }
            Command::Heal {} => {
                cluster.heal();
                Ok(Value::Null)
            }
            Command::Stats { node } => {
                let id = node_id(&node)?;
                cluster
                    .stats(id)
                    .map(|stats| answer::stats_json(&stats))
                    .ok_or_else(|| ClusterError::UnknownNode(id).into())
            }
            Command::RecordCount { namespace } => {
                let unknown = || Refusal::unknown(format!("the cluster has no namespace {namespace:?}"));
                cluster.record_count(&namespace).map(Value::from).ok_or_else(unknown)
            }
            Command::UdfLog {} => Ok(cluster.udf_log().into()),
            Command::AdvanceClock { seconds, node } => {
                let node = node.as_deref().map(node_id).transpose()?;
                done(cluster.shift_clock(node, settings::clock(seconds)?))
            }
            Command::ResetClocks {} => {
                cluster.reset_clocks();
                Ok(Value::Null)
            }
            Command::Sweep {} => Ok(cluster.sweep().into()),
            Command::SetReplicationLag { lag, node } => {
                let node = node.as_deref().map(node_id).transpose()?;
                done(cluster.set_replication_lag(node, settings::duration("lag", &lag)?))
            }
            Command::SetMigrationRate { rate } => {
                cluster.set_migration_rate(rate);
                Ok(Value::Null)
            }
            Command::Migrate { records } => Ok(cluster.migrate(records).into()),
            Command::Migrating { namespace } => {
                let unknown = || ClusterError::UnknownNamespace(namespace.clone()).into();
                cluster.migrating(&namespace).map(Value::from).ok_or_else(unknown)
            }
            Command::SetDataLimit { namespace, bytes } => done(cluster.set_data_limit(&namespace, bytes)),
            Command::SetDeviceLimit { write_cache, flush_rate, node } => {
                let node = node.as_deref().map(node_id).transpose()?;
                let limit = write_cache.map(|bytes| DeviceLimit::new(bytes).flush_rate(flush_rate));
                done(cluster.set_device_limit(node, limit))
            }
            Command::SetConditions(conditions) => {
                let read = conditions.read()?;
                let node = conditions.node.as_deref().map(node_id).transpose()?;
                done(cluster.set_conditions(node, &read))
            }
            Command::Conditions { node } => Ok(answer::conditions_json(&cluster.conditions(node_id(&node)?)?)),
            Command::Inject(injection) => faults.inject(cluster, &injection),
            Command::RemoveFault { fault } => {
                faults.remove(cluster, fault)?;
                Ok(Value::Null)
            }
            Command::Struck { fault } => Ok(faults.struck(cluster, fault)?.into()),
            Command::ClearFaults {} => {
                cluster.clear_faults();
                faults.forget();
                Ok(Value::Null)
            }
        }
    }
}

/// What `show` gives: where the cluster is.
#[must_use]
pub fn show(cluster: &EmbeddedCluster) -> Value {
    #[cfg(feature = "tls")]
    let certificate = cluster.certificate_pem();
    #[cfg(not(feature = "tls"))]
    let certificate = None::<&str>;
    json!({
        "seeds": cluster.seeds(),
        "tls_seeds": cluster.tls_seeds(),
        "certificate": certificate,
        "pid": std::process::id(),
        "seed": cluster.seed(),
        "nodes": cluster.nodes().iter().map(node_json).collect::<Vec<_>>(),
    })
}

/// What cannot be the id of a node is that of none.
fn node_id(text: &str) -> Result<NodeId, Refusal> {
    text.parse().map_err(|_| Refusal::unknown(format!("the cluster has no node {text:?}")))
}
