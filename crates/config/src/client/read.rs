//! A file's tree to what it says: the tables of its keys.

use std::time::Duration;

use aerospike_core::policy::{QueryDuration, TEND_INTERVAL_MIN_MS};

use super::patch::{BatchPatch, MetricsPatch, QueryPatch, ReadPatch, RowPatch, WritePatch};
use super::{ClientFile, ClientPatch, LEAST_INTERVAL};
use crate::problem::Problem;
use crate::read::{
    MOST_CONNECTIONS, READ_MODES_AP, READ_MODES_SC, REPLICAS, Reader, Setter, below, labels, named, number, put,
    switch, text,
};
use crate::system::LatencyUnit;
use crate::yaml::{self, Key, Node, Value};

/// Reads a file's text.
///
/// # Errors
/// What is wrong, at least one thing, in the order of the file: text that is no YAML or beyond the limits, a section that is no
/// mapping, a key that is listed twice, a value that is wrong, no `version`. Nothing of the file is to be used then.
pub fn parse(text: &str) -> Result<ClientFile, Vec<Problem>> {
    let tree = yaml::tree(text).map_err(|problem| vec![problem])?;
    let Some(root) = tree else { return Err(vec![Problem::new(1, "version", "is missing: the file is empty")]) };
    if !matches!(root.value, Value::Mapping(_)) {
        return Err(vec![Problem::new(root.line, "", format!("the file is no mapping but {}", root.describe()))]);
    }
    let mut walk = Walk::default();
    let mut has_version = false;
    for (key, node) in walk.reader.mapping(&root, "") {
        match key.text.as_str() {
            "version" => match crate::read::text(&node) {
                Ok(_) => has_version = true,
                Err(message) => walk.reader.problem(node.line, "version", message),
            },
            "static" => walk.fixed(&node),
            "dynamic" => walk.dynamic(&node),
            _ => walk.unknown(&key, "", &["version", "static", "dynamic"]),
        }
    }
    if !has_version && walk.reader.problems.iter().all(|problem| problem.key != "version") {
        walk.reader.problem(root.line, "version", "is missing: the file is not used without it (write version: 1.0.0)");
    }
    let mut problems = walk.reader.problems;
    if problems.is_empty() {
        walk.file.ignored.sort_by_key(|problem| problem.line);
        return Ok(walk.file);
    }
    problems.sort_by_key(|problem| problem.line);
    Err(problems)
}

/// One or more tables, one behind the other.
type Tables<'t, T> = &'t [&'t [(&'static str, Setter<T>)]];

const MOST: u32 = u32::MAX;
/// So that milliseconds of it are still 32 bits.
const MOST_SECONDS: u32 = MOST / 1000;
/// As many as a policy may have.
const MOST_RACK: u32 = 1_000_000;

const STATIC: &[(&str, Setter<ClientPatch>)] = &[
    ("config_interval", |to, node| {
        let seconds = number(node, 0, MOST_SECONDS)?;
        to.config_interval = Some(Duration::from_secs(u64::from(seconds)).max(LEAST_INTERVAL));
        Ok(())
    }),
    ("min_connections_per_node", |to, node| put(&mut to.min_connections_per_node, number(node, 0, MOST_CONNECTIONS))),
    ("max_connections_per_node", |to, node| put(&mut to.max_connections_per_node, number(node, 0, MOST_CONNECTIONS))),
];

const CLIENT: &[(&str, Setter<ClientPatch>)] = &[
    ("timeout", |to, node| put(&mut to.timeout, number(node, 0, MOST))),
    ("login_timeout", |to, node| put(&mut to.login_timeout, number(node, 0, MOST))),
    ("max_socket_idle", |to, node| put(&mut to.max_socket_idle, number(node, 0, MOST_SECONDS).map(|s| s * 1000))),
    ("tend_interval", |to, node| put(&mut to.tend_interval, number(node, TEND_INTERVAL_MIN_MS, MOST))),
    ("use_service_alternate", |to, node| put(&mut to.use_service_alternate, switch(node))),
    ("rack_ids", |to, node| put(&mut to.rack_ids, racks(node))),
    ("app_id", |to, node| put(&mut to.app_id, text(node).map(str::to_owned))),
    ("max_error_rate", |to, node| put(&mut to.max_error_rate, number(node, 0, MOST))),
    ("error_rate_window", |to, node| put(&mut to.error_rate_window, number(node, 0, MOST))),
];

/// The keys that every section about calls has.
macro_rules! base {
    () => {
        &[
            ("read_mode_ap", |to, node| put(&mut to.base.read_mode_ap, named(node, READ_MODES_AP))),
            ("read_mode_sc", |to, node| put(&mut to.base.read_mode_sc, named(node, READ_MODES_SC))),
            ("replica", |to, node| put(&mut to.base.replica, named(node, REPLICAS))),
            ("socket_timeout", |to, node| put(&mut to.base.socket_timeout, number(node, 0, MOST))),
            ("total_timeout", |to, node| put(&mut to.base.total_timeout, number(node, 0, MOST))),
            ("timeout_delay", |to, node| put(&mut to.base.timeout_delay, number(node, 0, MOST))),
            ("max_retries", |to, node| put(&mut to.base.max_retries, number(node, 0, MOST))),
            ("sleep_between_retries", |to, node| put(&mut to.base.sleep_between_retries, number(node, 0, MOST))),
            ("sleep_multiplier", |to, node| put(&mut to.base.sleep_multiplier, factor(node))),
            ("populate_positional_results", |to, node| put(&mut to.base.populate_positional_results, switch(node))),
            ("error_detail_verbosity", |to, node| {
                put(&mut to.base.error_detail_verbosity, number(node, 0, 3).map(|n| n as u8))
            }),
        ]
    };
}

const READ: &[(&str, Setter<ReadPatch>)] = base!();
const WRITE_BASE: &[(&str, Setter<WritePatch>)] = base!();
const WRITE: &[(&str, Setter<WritePatch>)] = &[
    ("send_key", |to, node| put(&mut to.send_key, switch(node))),
    ("durable_delete", |to, node| put(&mut to.durable_delete, switch(node))),
    ("xdr", |to, node| put(&mut to.xdr, switch(node))),
];
const QUERY_BASE: &[(&str, Setter<QueryPatch>)] = base!();
const QUERY: &[(&str, Setter<QueryPatch>)] = &[
    ("record_queue_size", |to, node| put(&mut to.record_queue_size, number(node, 0, MOST))),
    ("expected_duration", |to, node| put(&mut to.expected_duration, named(node, DURATIONS))),
    ("include_bin_data", |to, node| put(&mut to.include_bin_data, switch(node))),
];
const BATCH_BASE: &[(&str, Setter<BatchPatch>)] = base!();
const BATCH: &[(&str, Setter<BatchPatch>)] = &[
    ("allow_inline", |to, node| put(&mut to.allow_inline, switch(node))),
    ("allow_inline_ssd", |to, node| put(&mut to.allow_inline_ssd, switch(node))),
    ("respond_all_keys", |to, node| put(&mut to.respond_all_keys, switch(node))),
];
/// Rows that read have the read modes of [`BATCH_BASE`]; the rest of that is the batch's as a whole.
const READ_MODES: usize = 2;
const ROWS: &[(&str, Setter<RowPatch>)] = &[
    ("send_key", |to, node| put(&mut to.send_key, switch(node))),
    ("durable_delete", |to, node| put(&mut to.durable_delete, switch(node))),
];
const METRICS: &[(&str, Setter<MetricsPatch>)] = &[
    ("enabled", |to, node| put(&mut to.enabled, switch(node))),
    ("labels", |to, node| put(&mut to.labels, labels(node))),
];
const OPERATIONAL: &[(&str, Setter<MetricsPatch>)] = &[
    ("enabled", |to, node| put(&mut to.operational, switch(node))),
    ("latency_unit", |to, node| put(&mut to.latency_unit, named(node, LATENCY_UNITS))),
    ("latency_columns", |to, node| put(&mut to.latency_columns, number(node, 1, 64))),
    ("latency_shift", |to, node| put(&mut to.latency_shift, number(node, 1, 63))),
];

const DURATIONS: &[(&str, QueryDuration)] =
    &[("LONG", QueryDuration::Long), ("SHORT", QueryDuration::Short), ("LONG_RELAX_AP", QueryDuration::LongRelaxAp)];
const LATENCY_UNITS: &[(&str, LatencyUnit)] = &[("ms", LatencyUnit::Milliseconds), ("us", LatencyUnit::Microseconds)];
const SECTIONS: [&str; 12] = [
    "client",
    "read",
    "write",
    "query",
    "batch",
    "batch_read",
    "batch_write",
    "batch_delete",
    "batch_udf",
    "txn_verify",
    "txn_roll",
    "metrics",
];

/// A number that multiplies: 0 or more.
fn factor(node: &Node) -> Result<f64, String> {
    let wrong = || format!("not a number: {}", node.describe());
    let number = match &node.value {
        // Not `inf` and its like, which Rust takes for numbers, too.
        Value::Scalar { text, plain: true } if text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
            text.parse::<f64>().map_err(|_| wrong())?
        }
        _ => return Err(wrong()),
    };
    if number.is_finite() && number >= 0.0 { Ok(number) } else { Err(format!("{number} is out of bounds: 0 or more")) }
}

fn racks(node: &Node) -> Result<Vec<usize>, String> {
    let Value::List(items) = &node.value else {
        return Err(format!("not a list of rack numbers: {}", node.describe()));
    };
    if items.is_empty() {
        return Err("is an empty list: leave the key out for no preference".into());
    }
    items.iter().map(|item| number(item, 0, MOST_RACK).map(|rack| rack as usize)).collect()
}

/// A value as text, for lines about changes.
fn shown(node: &Node) -> String {
    match &node.value {
        Value::Scalar { text, .. } => text.chars().take(60).collect(),
        Value::List(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(", ")),
        Value::Mapping(entries) => {
            let entries: Vec<_> = entries.iter().map(|(key, node)| format!("{}: {}", key.text, shown(node))).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

#[derive(Default)]
struct Walk {
    reader: Reader,
    file: ClientFile,
}

impl Walk {
    fn ignore(&mut self, line: usize, key: String, message: String) {
        self.file.ignored.push(Problem { line, key, message, harmless: true });
    }

    fn unknown(&mut self, key: &Key, path: &str, known: &[&str]) {
        self.ignore(
            key.line,
            below(path, &key.text),
            format!("not a key of this client (it has {})", known.join(", ")),
        );
    }

    /// Takes a key of a mapping.
    fn entry<T>(&mut self, to: &mut T, tables: Tables<'_, T>, path: &str, (key, node): (&Key, &Node)) {
        let place = below(path, &key.text);
        let all = || tables.iter().flat_map(|table| table.iter());
        let Some((_, setter)) = all().find(|(name, _)| *name == key.text) else {
            let known: Vec<_> = all().map(|(name, _)| *name).collect();
            return self.unknown(key, path, &known);
        };
        if node.is_nothing() {
            return self.ignore(key.line, place, "has no value".into());
        }
        match setter(to, node) {
            Ok(()) => drop(self.file.settings.insert(place, shown(node))),
            Err(message) => self.reader.problem(node.line, place, message),
        }
    }

    fn section<T: Default>(&mut self, tables: Tables<'_, T>, node: &Node, path: &str) -> T {
        let mut section = T::default();
        for (key, node) in self.reader.mapping(node, path) {
            self.entry(&mut section, tables, path, (&key, &node));
        }
        section
    }

    /// A section with keys that another client uses for it, and that are of no effect here.
    fn without(&mut self, node: &Node, path: &str, (keys, why): (&[&str], &str)) -> Node {
        let mut rest = node.clone();
        if let Value::Mapping(entries) = &mut rest.value {
            entries.retain(|(key, _)| {
                let has = keys.contains(&key.text.as_str());
                if has {
                    self.ignore(key.line, below(path, &key.text), why.into());
                }
                !has
            });
        }
        rest
    }

    /// `static.client` and `dynamic.client`: one patch, with its keys at two places.
    fn client(
        &mut self,
        node: &Node,
        path: &str,
        table: &[(&'static str, Setter<ClientPatch>)],
        elsewhere: (&[&str], &str),
    ) {
        let node = self.without(node, path, elsewhere);
        let mut client = std::mem::take(&mut self.file.client);
        for (key, node) in self.reader.mapping(&node, path) {
            self.entry(&mut client, &[table], path, (&key, &node));
        }
        self.file.client = client;
    }

    fn fixed(&mut self, node: &Node) {
        for (key, node) in self.reader.mapping(node, "static") {
            if key.text == "client" {
                let dynamic: Vec<_> = CLIENT.iter().map(|(name, _)| *name).collect();
                self.client(&node, "static.client", STATIC, (&dynamic, "has its place below dynamic.client"));
            } else {
                self.unknown(&key, "static", &["client"]);
            }
        }
    }

    fn dynamic(&mut self, node: &Node) {
        for (key, node) in self.reader.mapping(node, "dynamic") {
            let path = &below("dynamic", &key.text);
            match key.text.as_str() {
                "client" => {
                    let fixed: Vec<_> = STATIC.iter().map(|(name, _)| *name).collect();
                    self.client(&node, path, CLIENT, (&fixed, "has its place below static.client"));
                }
                "read" => self.file.dynamic.read = self.section(&[READ], &node, path),
                "write" => self.file.dynamic.write = self.section(&[WRITE_BASE, WRITE], &node, path),
                "query" => self.file.dynamic.query = self.section(&[QUERY_BASE, QUERY], &node, path),
                "batch" => self.file.dynamic.batch = self.section(&[BATCH_BASE, BATCH], &node, path),
                "batch_read" => {
                    let node = self.without_base(&node, path, READ_MODES);
                    self.file.dynamic.batch_read = self.section(&[&BATCH_BASE[..READ_MODES], BATCH], &node, path);
                }
                "batch_write" => {
                    let node = self.without_base(&node, path, 0);
                    self.file.dynamic.batch_write = self.section(&[ROWS], &node, path);
                }
                "batch_delete" => self.file.dynamic.batch_delete = self.section(&[ROWS], &node, path),
                "batch_udf" => self.file.dynamic.batch_udf = self.section(&[ROWS], &node, path),
                "txn_verify" => self.file.dynamic.txn_verify = self.section(&[BATCH_BASE, BATCH], &node, path),
                "txn_roll" => self.file.dynamic.txn_roll = self.section(&[BATCH_BASE, BATCH], &node, path),
                "metrics" => self.metrics(&node, path),
                _ => self.unknown(&key, "dynamic", &SECTIONS),
            }
        }
    }

    /// A section about rows without what is the batch's as a whole: all keys of [`BATCH_BASE`] but the first ones.
    fn without_base(&mut self, node: &Node, path: &str, first: usize) -> Node {
        let keys: Vec<_> = BATCH_BASE[first..].iter().map(|(name, _)| *name).collect();
        self.without(node, path, (&keys, "is not used for single rows: write it below dynamic.batch"))
    }

    fn metrics(&mut self, node: &Node, path: &str) {
        let mut metrics = MetricsPatch::default();
        for (key, node) in self.reader.mapping(node, path) {
            if key.text != "extended" {
                self.entry(&mut metrics, &[METRICS], path, (&key, &node));
                continue;
            }
            let path = &below(path, "extended");
            for (key, node) in self.reader.mapping(&node, path) {
                if key.text != "operational" {
                    self.unknown(&key, path, &["operational"]);
                    continue;
                }
                let path = &below(path, "operational");
                for (key, node) in self.reader.mapping(&node, path) {
                    self.entry(&mut metrics, &[OPERATIONAL], path, (&key, &node));
                }
            }
        }
        self.file.dynamic.metrics = metrics;
    }
}
