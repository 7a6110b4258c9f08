//! A file's tree to what it says: the tables of its keys.

use std::time::Duration;

use aerospike_core::policy::{ReadModeAp, ReadModeSc, ReadTouchTtl, Replica, TEND_INTERVAL_MIN_MS};

use crate::config::{BehaviorChanges, Config};
use crate::problem::Problem;
use crate::scope::Scope;
use crate::settings::Settings;
use crate::system::{Exporter, LatencyUnit, Metrics, System, Transactions};
use crate::value;
use crate::yaml::{self, Key, Node, Value};

/// The settings of all clusters, and the behavior that all come from.
pub const DEFAULT: &str = "DEFAULT";

/// Reads a file's text.
///
/// What cannot be used is left out, and is one of the [problems](Config::problems) of the result.
///
/// # Errors
/// The first thing that is not YAML or beyond the limits, or that the file is no mapping: nothing of it is used then.
pub fn parse(text: &str) -> Result<Config, Problem> {
    let mut reader = Reader::default();
    let mut config = Config::default();
    if let Some(root) = yaml::tree(text)? {
        if !matches!(root.value, Value::Mapping(_)) {
            return Err(Problem::new(root.line, "", format!("the file is no mapping but {}", root.describe())));
        }
        for (key, node) in reader.mapping(&root, "") {
            match key.text.as_str() {
                "system" => config.systems = reader.systems(&node),
                "behaviors" => config.behaviors = reader.behaviors(&node),
                _ => reader.unknown(&key, "", &["system", "behaviors"]),
            }
        }
    }
    config.problems = reader.problems;
    Ok(config)
}

/// What a key does with its value.
pub(crate) type Setter<T> = fn(&mut T, &Node) -> Result<(), String>;
/// The keys of a mapping.
pub(crate) type Table<T> = [(&'static str, Setter<T>)];

const CONNECTIONS: &Table<System> = &[
    ("minimum_connections_per_node", |to, node| {
        put(&mut to.min_connections_per_node, number(node, 0, MOST_CONNECTIONS))
    }),
    ("maximum_connections_per_node", |to, node| {
        put(&mut to.max_connections_per_node, number(node, 0, MOST_CONNECTIONS))
    }),
    ("maximum_socket_idle_time", |to, node| put(&mut to.max_socket_idle_time, span(node, Duration::ZERO))),
    ("wait_for_connection_to_complete", |to, node| {
        put(&mut to.wait_for_connection_to_complete, span(node, Duration::ZERO))
    }),
];

const CIRCUIT_BREAKER: &Table<System> = &[
    ("num_tend_intervals_in_error_window", |to, node| {
        put(&mut to.num_tend_intervals_in_error_window, number(node, 0, u32::MAX))
    }),
    ("maximum_errors_in_error_window", |to, node| put(&mut to.max_errors_in_error_window, number(node, 0, u32::MAX))),
];

const REFRESH: &Table<System> = &[("tend_interval", |to, node| put(&mut to.tend_interval, span(node, LEAST_TEND)))];

const TRANSACTIONS: &Table<Transactions> = &[
    ("implicit_batch_write_transactions", |to, node| put(&mut to.implicit_batch_write_transactions, switch(node))),
    ("sleep_between_attempts", |to, node| put(&mut to.sleep_between_attempts, span(node, Duration::ZERO))),
    ("number_of_attempts", |to, node| put(&mut to.number_of_attempts, number(node, 1, u32::MAX))),
];

const METRICS: &Table<Metrics> = &[
    ("enabled", |to, node| put(&mut to.enabled, switch(node))),
    ("export_interval", |to, node| put(&mut to.export_interval, span(node, Duration::from_millis(1)))),
    ("exporter", |to, node| put(&mut to.exporter, named(node, EXPORTERS))),
    ("report_dir", |to, node| put(&mut to.report_dir, text(node).map(str::to_owned))),
    ("report_size_limit", |to, node| put(&mut to.report_size_limit, report_size(node))),
    ("labels", |to, node| put(&mut to.labels, labels(node))),
];

const OPERATIONAL: &Table<Metrics> = &[
    ("enabled", |to, node| put(&mut to.operational_enabled, switch(node))),
    ("latency_unit", |to, node| put(&mut to.latency_unit, named(node, LATENCY_UNITS))),
    ("latency_columns", |to, node| put(&mut to.latency_columns, number(node, 1, 64))),
    ("latency_shift", |to, node| put(&mut to.latency_shift, number(node, 1, 63))),
];

const SAMPLER: &Table<Metrics> = &[
    ("range", |to, node| put(&mut to.sampler_range, number(node, 1, u32::MAX))),
    ("threshold", |to, node| put(&mut to.sampler_threshold, number(node, 0, u32::MAX))),
];

const USAGE: &Table<Metrics> = &[("enabled", |to, node| put(&mut to.usage_enabled, switch(node)))];

/// Which calls the settings within a block are for.
const SELECTORS: &[(&str, Scope)] = &[
    ("all_operations", Scope::All),
    ("retryable_writes", Scope::WritesRetryable),
    ("non_retryable_writes", Scope::WritesNonRetryable),
    ("consistency_mode_reads", Scope::ReadsSc),
    ("availability_mode_reads", Scope::ReadsAp),
    ("batch_reads", Scope::ReadsBatch),
    ("batch_writes", Scope::WritesBatch),
    ("query", Scope::ReadsQuery),
    ("system_txn_verify", Scope::SystemTxnVerify),
    ("system_txn_roll", Scope::SystemTxnRoll),
];

/// The first ones are those of [`Scope::SystemTxnRoll`], and some more those of [`Scope::SystemTxnVerify`].
const SETTINGS: &Table<Settings> = &[
    ("abandon_call_after", |to, node| put(&mut to.total_timeout, span(node, Duration::ZERO))),
    ("wait_for_call_to_complete", |to, node| put(&mut to.socket_timeout, span(node, Duration::ZERO))),
    ("delay_between_retries", |to, node| put(&mut to.retry_delay, span(node, Duration::ZERO))),
    // The first call counts as an attempt here.
    ("maximum_number_of_call_attempts", |to, node| put(&mut to.max_retries, number(node, 1, u32::MAX).map(|n| n - 1))),
    ("replica_order", |to, node| put(&mut to.replica, named(node, REPLICAS))),
    ("read_consistency", |to, node| put(&mut to.read_mode_sc, named(node, READ_MODES_SC))),
    ("consistency", |to, node| put(&mut to.read_mode_sc, named(node, READ_MODES_SC))),
    ("wait_for_socket_response_after_call_fails", |to, node| put(&mut to.timeout_delay, span(node, Duration::ZERO))),
    ("send_key", |to, node| put(&mut to.send_key, switch(node))),
    ("use_compression", |to, node| put(&mut to.use_compression, switch(node))),
    ("reset_ttl_on_read_at_percent", |to, node| put(&mut to.read_touch_ttl_percent, touch(node))),
    ("migration_read_consistency", |to, node| put(&mut to.read_mode_ap, named(node, READ_MODES_AP))),
    ("use_durable_delete", |to, node| put(&mut to.durable_delete, switch(node))),
    ("max_concurrent_servers", |to, node| put(&mut to.max_concurrent_nodes, number(node, 0, u32::MAX))),
    ("allow_inline_memory_access", |to, node| put(&mut to.allow_inline, switch(node))),
    ("allow_inline_ssd_access", |to, node| put(&mut to.allow_inline_ssd, switch(node))),
    ("record_queue_size", |to, node| put(&mut to.record_queue_size, number(node, 0, u32::MAX))),
    ("allow_scans_with_where", |to, node| put(&mut to.allow_scans_with_where, switch(node))),
    ("error_detail_verbosity", |to, node| put(&mut to.error_detail_verbosity, number(node, 0, 3).map(|n| n as u8))),
];
/// How many of [`SETTINGS`] the steps of transactions have.
const OF_ROLL: usize = 5;
const OF_VERIFY: usize = 7;

pub(crate) const REPLICAS: &[(&str, Replica)] = &[
    ("MASTER", Replica::Master),
    ("MASTER_PROLES", Replica::MasterProles),
    ("RANDOM", Replica::Random),
    ("SEQUENCE", Replica::Sequence),
    ("PREFER_RACK", Replica::PreferRack),
];
pub(crate) const READ_MODES_AP: &[(&str, ReadModeAp)] = &[("ONE", ReadModeAp::One), ("ALL", ReadModeAp::All)];
pub(crate) const READ_MODES_SC: &[(&str, ReadModeSc)] = &[
    ("SESSION", ReadModeSc::Session),
    ("LINEARIZE", ReadModeSc::Linearize),
    ("ALLOW_REPLICA", ReadModeSc::AllowReplica),
    ("ALLOW_UNAVAILABLE", ReadModeSc::AllowUnavailable),
];
const EXPORTERS: &[(&str, Exporter)] =
    &[("file", Exporter::File), ("custom", Exporter::Custom), ("none", Exporter::None)];
const LATENCY_UNITS: &[(&str, LatencyUnit)] =
    &[("milliseconds", LatencyUnit::Milliseconds), ("microseconds", LatencyUnit::Microseconds)];

pub(crate) const MOST_CONNECTIONS: u32 = 65_535;
const LEAST_TEND: Duration = Duration::from_millis(TEND_INTERVAL_MIN_MS as u64);
/// A file of metrics is at least this large before another one begins.
const LEAST_REPORT: u64 = 1_000_000;
/// Where a setting is that other files have among those of calls.
const OF_THE_CLUSTER: &str = "wait_for_connection_to_complete";

pub(crate) fn put<T>(field: &mut Option<T>, value: Result<T, String>) -> Result<(), String> {
    *field = Some(value?);
    Ok(())
}

/// A value that is a text, and whether it was written without quotes.
fn scalar(node: &Node) -> Result<(&str, bool), String> {
    match &node.value {
        _ if node.is_nothing() => Err("has no value: give it one, or leave the key out".into()),
        Value::Scalar { text, plain } => Ok((text, *plain)),
        Value::List(_) | Value::Mapping(_) => Err(format!("{} is no single value", node.describe())),
    }
}

pub(crate) fn text(node: &Node) -> Result<&str, String> {
    scalar(node).map(|(text, _)| text)
}

pub(crate) fn switch(node: &Node) -> Result<bool, String> {
    let (text, plain) = scalar(node)?;
    let value = if plain { value::switch(text) } else { None };
    value.ok_or_else(|| format!("not a bool: {} (write true or false)", node.describe()))
}

fn integer(node: &Node, least: i64, most: i64) -> Result<i64, String> {
    let (text, plain) = scalar(node)?;
    let number = if plain { value::whole(text) } else { None };
    match number {
        None => Err(format!("not a whole number: {}", node.describe())),
        Some(number) if (least..=most).contains(&number) => Ok(number),
        Some(number) => Err(format!("{number} is out of bounds: it must be {least} to {most}")),
    }
}

pub(crate) fn number(node: &Node, least: u32, most: u32) -> Result<u32, String> {
    integer(node, i64::from(least), i64::from(most)).map(|number| number as u32)
}

fn span(node: &Node, least: Duration) -> Result<Duration, String> {
    let span = value::duration(text(node)?)?;
    let most = Duration::from_millis(u64::from(u32::MAX));
    if (least..=most).contains(&span) {
        return Ok(span);
    }
    Err(format!("{} is out of bounds: it must be {least:?} to {most:?}", node.describe()))
}

pub(crate) fn named<T: Copy>(node: &Node, names: &[(&str, T)]) -> Result<T, String> {
    let text = text(node)?;
    let found = names.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<_> = names.iter().map(|(name, _)| *name).collect();
        format!("{} is none of {}", node.describe(), names.join(", "))
    })
}

fn touch(node: &Node) -> Result<ReadTouchTtl, String> {
    Ok(match integer(node, -1, 100)? {
        -1 => ReadTouchTtl::DontReset,
        0 => ReadTouchTtl::ServerDefault,
        percent => ReadTouchTtl::Percent(percent as u8),
    })
}

fn report_size(node: &Node) -> Result<u64, String> {
    let (text, plain) = scalar(node)?;
    let bytes = match value::whole(text).filter(|_| plain) {
        Some(number) => u64::try_from(number).map_err(|_| format!("{number} is negative"))?,
        None => value::size(text)?,
    };
    if bytes > 0 && bytes < LEAST_REPORT {
        return Err(format!("{bytes} bytes are too few: 0 (no limit) or at least {LEAST_REPORT}"));
    }
    Ok(bytes)
}

pub(crate) fn labels(node: &Node) -> Result<Vec<(String, String)>, String> {
    let Value::Mapping(entries) = &node.value else {
        return Err(format!("{} is no mapping of names to texts", node.describe()));
    };
    entries.iter().map(|(key, node)| Ok((key.text.clone(), text(node)?.to_owned()))).collect()
}

pub(crate) fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

#[derive(Default)]
pub(crate) struct Reader {
    pub(crate) problems: Vec<Problem>,
}

impl Reader {
    pub(crate) fn problem(&mut self, line: usize, key: impl Into<String>, message: impl Into<String>) {
        self.problems.push(Problem::new(line, key, message));
    }

    fn unknown<'a>(&mut self, key: &Key, path: &str, known: impl IntoIterator<Item = &'a &'a str>) {
        let known: Vec<_> = known.into_iter().copied().collect();
        self.problem(key.line, below(path, &key.text), format!("unknown key (known are {})", known.join(", ")));
    }

    /// The entries of a mapping, with those that it merges. Of keys that are listed twice the later one counts.
    pub(crate) fn mapping(&mut self, node: &Node, path: &str) -> Vec<(Key, Node)> {
        let entries = match &node.value {
            Value::Mapping(entries) => entries,
            _ if node.is_nothing() => return Vec::new(),
            _ => {
                self.problem(node.line, path, format!("no mapping but {}", node.describe()));
                return Vec::new();
            }
        };
        let mut all: Vec<(Key, Node)> = Vec::with_capacity(entries.len());
        for (key, node) in entries.iter().filter(|(key, _)| key.text != "<<") {
            match all.iter_mut().find(|(other, _)| other.text == key.text) {
                None => all.push((key.clone(), node.clone())),
                Some(place) => {
                    self.problem(key.line, below(path, &key.text), "is listed twice: this one counts");
                    *place = (key.clone(), node.clone());
                }
            }
        }
        for (key, merged) in entries.iter().filter(|(key, _)| key.text == "<<") {
            let parts = match &merged.value {
                Value::List(parts) => parts.as_slice(),
                _ => std::slice::from_ref(merged),
            };
            for part in parts {
                for (key, node) in self.mapping(part, &below(path, &key.text)) {
                    if all.iter().all(|(other, _)| other.text != key.text) {
                        all.push((key, node));
                    }
                }
            }
        }
        all
    }

    /// Takes a key that a table has.
    fn entry<T>(&mut self, to: &mut T, table: &Table<T>, path: &str, key: &Key, node: &Node) {
        match table.iter().find(|(name, _)| *name == key.text) {
            None => self.unknown(key, path, table.iter().map(|(name, _)| name)),
            Some((_, set)) => {
                if let Err(message) = set(to, node) {
                    self.problem(node.line, below(path, &key.text), message);
                }
            }
        }
    }

    fn table<T>(&mut self, to: &mut T, table: &Table<T>, node: &Node, path: &str) {
        for (key, node) in self.mapping(node, path) {
            self.entry(to, table, path, &key, &node);
        }
    }

    fn systems(&mut self, node: &Node) -> Vec<(String, System)> {
        let systems = self.mapping(node, "system");
        systems
            .into_iter()
            .map(|(key, node)| (key.text.clone(), self.system(&node, &below("system", &key.text))))
            .collect()
    }

    fn system(&mut self, node: &Node, path: &str) -> System {
        const GROUPS: [&str; 5] = ["connections", "circuit_breaker", "refresh", "transactions", "metrics"];
        let mut system = System::default();
        for (key, node) in self.mapping(node, path) {
            let within = below(path, &key.text);
            match key.text.as_str() {
                "connections" => self.table(&mut system, CONNECTIONS, &node, &within),
                "circuit_breaker" => self.table(&mut system, CIRCUIT_BREAKER, &node, &within),
                "refresh" => self.table(&mut system, REFRESH, &node, &within),
                "transactions" => self.table(&mut system.transactions, TRANSACTIONS, &node, &within),
                "metrics" => self.metrics(&mut system.metrics, &node, &within),
                _ => self.unknown(&key, path, &GROUPS),
            }
        }
        system
    }

    fn metrics(&mut self, metrics: &mut Metrics, node: &Node, path: &str) {
        for (key, node) in self.mapping(node, path) {
            if key.text != "extended" {
                self.entry(metrics, METRICS, path, &key, &node);
                continue;
            }
            let path = below(path, "extended");
            for (key, node) in self.mapping(&node, &path) {
                let within = below(&path, &key.text);
                match key.text.as_str() {
                    "usage" => self.table(metrics, USAGE, &node, &within),
                    "operational" => {
                        for (key, node) in self.mapping(&node, &within) {
                            if key.text == "sampler" {
                                self.table(metrics, SAMPLER, &node, &below(&within, "sampler"));
                            } else {
                                self.entry(metrics, OPERATIONAL, &within, &key, &node);
                            }
                        }
                    }
                    _ => self.unknown(&key, &path, &["operational", "usage"]),
                }
            }
        }
    }

    fn behaviors(&mut self, node: &Node) -> Vec<BehaviorChanges> {
        let mut behaviors: Vec<BehaviorChanges> = Vec::new();
        for (key, node) in self.mapping(node, "behaviors") {
            let path = below("behaviors", &key.text);
            if key.text.is_empty() {
                self.problem(key.line, &path, "a behavior needs a name");
                continue;
            }
            let behavior = self.behavior(&key, &node, &path);
            match behaviors.iter_mut().find(|other| other.name == behavior.name) {
                None => behaviors.push(behavior),
                Some(place) => {
                    self.problem(key.line, path, format!("{DEFAULT} is listed twice: this one counts"));
                    *place = behavior;
                }
            }
        }
        behaviors
    }

    fn behavior(&mut self, key: &Key, node: &Node, path: &str) -> BehaviorChanges {
        // The root may be written in small letters.
        let canonical = |name: &str| if name == "default" { DEFAULT.to_owned() } else { name.to_owned() };
        let name = canonical(&key.text);
        let (mut parent, mut changes) = (None, Vec::new());
        for (key, node) in self.mapping(node, path) {
            let within = below(path, &key.text);
            match (key.text.as_str(), SELECTORS.iter().find(|(name, _)| *name == key.text)) {
                // What it is called is the key above.
                ("name", _) => {}
                ("parent", _) if name == DEFAULT => {
                    self.problem(node.line, within, format!("{DEFAULT} comes from no other behavior"));
                }
                ("parent", _) => match text(&node) {
                    Ok(text) => parent = Some(canonical(text)),
                    Err(message) => self.problem(node.line, within, message),
                },
                (_, Some((_, scope))) => {
                    let settings = self.settings(*scope, &node, &within);
                    if settings != Settings::default() {
                        changes.push((*scope, settings));
                    }
                }
                _ => self.unknown(&key, path, ["parent"].iter().chain(SELECTORS.iter().map(|(name, _)| name))),
            }
        }
        BehaviorChanges { name, parent, changes, line: key.line }
    }

    fn settings(&mut self, scope: Scope, node: &Node, path: &str) -> Settings {
        let table = match scope {
            Scope::SystemTxnRoll => &SETTINGS[..OF_ROLL],
            Scope::SystemTxnVerify => &SETTINGS[..OF_VERIFY],
            _ => SETTINGS,
        };
        let mut settings = Settings::default();
        for (key, node) in self.mapping(node, path) {
            if key.text == OF_THE_CLUSTER {
                let message = "is a setting of the cluster: write it below system.<cluster>.connections";
                let problem = Problem::new(key.line, below(path, &key.text), message);
                self.problems.push(Problem { harmless: true, ..problem });
            } else {
                self.entry(&mut settings, table, path, &key, &node);
            }
        }
        settings
    }
}
