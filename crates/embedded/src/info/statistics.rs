//! Counts: of the node, of namespaces, of sets.
//!
//! The names are those of the server; what an embedded cluster has no notion of (memory of devices, migrations, rates)
//! is shown as in an idle server.

use super::members::cluster_key;
use super::no_namespace;
use crate::clock::Now;
use crate::cluster::{Node, PARTITIONS};
use crate::command_line::{CommandLine, error};
use crate::store::Namespace;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// All names of `statistics`, with what an idle node shows.
const NODE: &str = include_str!("node_stats.txt");
/// All names of `namespace/..` in front of the configuration, with what an empty namespace shows.
const NAMESPACE: &str = include_str!("namespace_stats.txt");
/// Index bytes that the server needs per record.
const INDEX_ENTRY: u64 = 64;

/// Answers a command about counts; `None` if it is none.
pub(super) fn answer(node: &Arc<Node>, command: &CommandLine<'_>, now: Now) -> Option<String> {
    Some(match command.name {
        "statistics" => of_node(node, now),
        "namespaces" => node.cluster.namespaces.iter().map(|ns| ns.name.as_str()).collect::<Vec<_>>().join(";"),
        "namespace" => match command.path().next().and_then(|name| node.cluster.namespace(name.as_bytes())) {
            Some(namespace) => of_namespace(node, namespace, now),
            None => "type=unknown".to_owned(),
        },
        "sets" => sets(node, command),
        "objects" => node.cluster.namespaces.iter().map(|ns| Held::count(node, ns).masters).sum::<u64>().to_string(),
        "get-stats" => error(4, "unknown context"),
        "latencies" => latencies(node, command),
        "histogram" => histogram(node, command),
        "health-stats" | "health-outliers" => String::new(),
        "index-pressure" => {
            let rows = node.cluster.namespaces.iter().map(|ns| format!("{}:0:0", ns.name));
            rows.collect::<Vec<_>>().join(";")
        }
        _ => return None,
    })
}

/// Replaces values of a list of `name=value` lines and joins it with `;`.
pub(super) fn overlay(template: &str, values: &HashMap<&str, String>) -> String {
    let lines = template.lines().map(|line| {
        let name = line.split_once('=').map_or(line, |(name, _)| name);
        values.get(name).map_or_else(|| line.to_owned(), |value| format!("{name}={value}"))
    });
    lines.collect::<Vec<_>>().join(";")
}

/// How many records of a namespace a node holds.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    masters: u64,
    replicas: u64,
    bytes: u64,
}

impl Held {
    fn count(node: &Node, namespace: &Namespace) -> Self {
        let mut held = Self::default();
        for pid in 0..PARTITIONS as u16 {
            let mut copies = namespace.copies(node.slot, pid);
            let Some((copy, master)) = copies.held(node.slot) else { continue };
            held.bytes += copy.bytes();
            *if master { &mut held.masters } else { &mut held.replicas } += copy.len() as u64;
        }
        held
    }

    const fn records(self) -> u64 {
        self.masters + self.replicas
    }
}

fn of_node(node: &Node, now: Now) -> String {
    let view = node.view();
    let objects: u64 = node.cluster.namespaces.iter().map(|ns| Held::count(node, ns).records()).sum();
    let migrating: usize = node.cluster.namespaces.iter().map(|ns| ns.unfinished(Some(node.slot)).0).sum();
    let counters = &node.counters;
    let opened = counters.connections_opened.load(Ordering::Relaxed);
    let closed = counters.connections_closed.load(Ordering::Relaxed);
    let principal = view.principal().map_or_else(|| "0".to_owned(), |id| id.to_string());
    let values = HashMap::from([
        ("cluster_size", view.size().to_string()),
        ("migrate_partitions_remaining", (2 * migrating).to_string()),
        ("cluster_key", cluster_key(&view)),
        ("cluster_clock_skew_ms", node.cluster.links.skew_ms(node.slot).to_string()),
        ("cluster_generation", node.generations.cluster().to_string()),
        ("cluster_principal", principal.clone()),
        ("paxos_principal", principal),
        ("uptime", node.uptime(now.instant).to_string()),
        ("time_since_rebalance", now.instant.saturating_duration_since(view.rebalanced).as_secs().to_string()),
        ("objects", objects.to_string()),
        ("client_connections", opened.saturating_sub(closed).to_string()),
        ("client_connections_opened", opened.to_string()),
        ("client_connections_closed", closed.to_string()),
        ("info_complete", counters.infos.load(Ordering::Relaxed).to_string()),
        ("batch_index_initiate", counters.batches.load(Ordering::Relaxed).to_string()),
        ("batch_index_complete", counters.batches.load(Ordering::Relaxed).to_string()),
        ("long_queries_active", node.cluster.queries.active(node.id).to_string()),
    ]);
    overlay(NODE, &values)
}

fn of_namespace(node: &Node, namespace: &Namespace, now: Now) -> String {
    let view = node.view();
    let held = Held::count(node, namespace);
    let factor = node.cluster.replication_factor(namespace, view.size());
    let (migrating, unavailable) = namespace.unfinished(Some(node.slot));
    let mut values = HashMap::from([
        ("clock_skew_stop_writes", namespace.stops_for_skew(node.slot).to_string()),
        ("stop_writes", namespace.stops_writes(node.slot).to_string()),
        ("unavailable_partitions", unavailable.to_string()),
        ("migrate_tx_partitions_remaining", migrating.to_string()),
        ("migrate_rx_partitions_remaining", migrating.to_string()),
        ("ns_cluster_size", view.size().to_string()),
        ("effective_replication_factor", factor.to_string()),
        ("objects", held.records().to_string()),
        ("master_objects", held.masters.to_string()),
        ("prole_objects", held.replicas.to_string()),
        ("current_time", now.seconds().to_string()),
        ("index_used_bytes", (held.records() * INDEX_ENTRY).to_string()),
        ("data_used_bytes", held.bytes.to_string()),
        ("migrate_fresh_partitions", PARTITIONS.to_string()),
        ("mrt_provisionals", namespace.provisional_count().to_string()),
        ("mrt_monitors", namespace.monitors.len().to_string()),
        ("mrt_monitors_active", "0".to_owned()),
        ("evict_ttl", namespace.eviction.ttl.load(Ordering::Relaxed).to_string()),
        ("evict_void_time", namespace.eviction.done.load(Ordering::Relaxed).to_string()),
        ("smd_evict_void_time", namespace.eviction.wanted.load(Ordering::Relaxed).to_string()),
    ]);
    if let Some(counts) = node.sweep_counts(namespace) {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let share = get(&counts.removed_share);
        values.extend([
            ("non_expirable_objects", get(&counts.lasting).to_string()),
            ("expired_objects", get(&counts.expired).to_string()),
            ("evicted_objects", get(&counts.evicted).to_string()),
            ("nsup_cycle_duration", get(&counts.seconds).to_string()),
            ("nsup_cycle_deleted_pct", format!("{}.{:02}", share / 100, share % 100)),
        ]);
    }
    let stats = overlay(NAMESPACE, &values);
    format!("{stats};{}", super::configuration::of_namespace(node, namespace))
}

fn sets(node: &Node, command: &CommandLine<'_>) -> String {
    let mut path = command.path();
    let namespaces: Vec<_> = match path.next() {
        // The server takes what stands behind a colon for the name of a namespace.
        None if command.pairs().next().is_some() => return "ns_type=unknown".to_owned(),
        None => node.cluster.namespaces.iter().collect(),
        Some(name) => match node.cluster.namespace(name.as_bytes()) {
            Some(namespace) => vec![namespace],
            None => return "ns_type=unknown".to_owned(),
        },
    };
    let wanted = path.next();
    let mut text = String::new();
    for namespace in namespaces {
        for set in namespace.sets.iter() {
            let name = String::from_utf8_lossy(&set.name);
            match wanted {
                Some(wanted) if wanted != name => continue,
                Some(_) => {}
                None => text.extend(["ns=", &namespace.name, ":set=", &name, ":"]),
            }
            let (objects, bytes) = namespace.sets.held(node.slot, set);
            let indexes = node.cluster.indexes.count(&namespace.name, Some(&name));
            let written = write!(
                text,
                "objects={objects}:tombstones=0:data_used_bytes={bytes}:truncate_lut=0:sindexes={indexes}:\
                 index_populating=false:truncating=false:default-read-touch-ttl-pct=0:default-ttl=0:\
                 disable-eviction=false:enable-index=false:stop-writes-count=0:stop-writes-size=0;"
            );
            debug_assert!(written.is_ok(), "writing to a string does not fail");
        }
    }
    text
}

const HISTOGRAMS: &[&str] =
    &["read", "write", "udf", "batch-sub-read", "batch-sub-write", "batch-sub-udf", "pi-query", "si-query"];

/// No latencies are measured: the histograms are there and empty.
fn latencies(node: &Node, command: &CommandLine<'_>) -> String {
    let mut names = vec!["batch-index".to_owned()];
    for namespace in &node.cluster.namespaces {
        names.extend(HISTOGRAMS.iter().map(|kind| format!("{{{}}}-{kind}", namespace.name)));
    }
    if let Ok(wanted) = command.get("hist") {
        names.retain(|name| name == wanted);
        if names.is_empty() {
            return error(4, "bad hist name");
        }
    }
    names.iter().map(|name| format!("{name}:")).collect::<Vec<_>>().join(";")
}

fn histogram(node: &Node, command: &CommandLine<'_>) -> String {
    match command.namespace() {
        Err(e) => return error(20, &e.text("namespace")),
        Ok(name) if node.cluster.namespace(name.as_bytes()).is_none() => return no_namespace(),
        Ok(_) => {}
    }
    match command.get("type") {
        Err(e) => e.answer("type"),
        Ok("ttl" | "object-size" | "object-size-linear") if command.get("set").is_ok() => "hist-unavailable".to_owned(),
        Ok("ttl" | "object-size" | "object-size-linear") => String::new(),
        Ok(_) => error(4, "unknown hist name"),
    }
}
