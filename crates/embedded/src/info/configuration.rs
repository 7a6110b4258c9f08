//! Settings of namespaces, shown and changed.

use super::no_namespace;
use super::statistics::overlay;
use crate::cluster::Node;
use crate::command_line::{self, CommandLine, error};
use crate::store::{ConflictResolution, Namespace};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// All names of a namespace's configuration, with their defaults.
const NAMESPACE: &str = include_str!("namespace_config.txt");
/// Longest TTL, in seconds.
const MAX_TTL: u64 = 315_360_000;

/// Answers a command about settings; `None` if it is none.
pub(super) fn answer(node: &Arc<Node>, command: &CommandLine<'_>) -> Option<String> {
    match command.name {
        "get-config" => Some(get(node, command)),
        "set-config" => Some(set(node, command)),
        _ => None,
    }
}

/// The settings of a namespace as `name=value;..`.
pub(super) fn of_namespace(node: &Node, namespace: &Namespace) -> String {
    let config = &namespace.config;
    let get = |value: &AtomicU32| value.load(Ordering::Relaxed).to_string();
    let values = HashMap::from([
        ("default-ttl", get(&config.default_ttl)),
        ("nsup-period", get(&config.nsup_period)),
        ("allow-ttl-without-nsup", config.allow_ttl_without_nsup.load(Ordering::Relaxed).to_string()),
        ("default-read-touch-ttl-pct", get(&config.default_read_touch_ttl_pct)),
        ("max-record-size", get(&config.max_record_size)),
        ("conflict-resolution-policy", namespace.conflict.load().to_string()),
        ("strong-consistency", namespace.strong_consistency.to_string()),
        ("replication-factor", node.cluster.replication_factor(namespace, usize::MAX).to_string()),
    ]);
    overlay(NAMESPACE, &values)
}

fn get(node: &Node, command: &CommandLine<'_>) -> String {
    match command.get("context") {
        Err(e) => e.answer("context"),
        Ok("namespace") => match command.namespace() {
            Err(e) => error(20, &e.text("namespace")),
            Ok(name) => match node.cluster.namespace(name.as_bytes()) {
                None => no_namespace(),
                Some(namespace) => of_namespace(node, namespace),
            },
        },
        Ok(_) => error(4, "invalid context"),
    }
}

fn set(node: &Node, command: &CommandLine<'_>) -> String {
    match command.get("context") {
        Err(e) => return e.answer("context"),
        Ok("namespace") => {}
        Ok(_) => return error(4, "invalid context"),
    }
    let namespace = match command.namespace() {
        Err(e) => return error(20, &e.text("namespace")),
        Ok(name) => match node.cluster.namespace(name.as_bytes()) {
            None => return no_namespace(),
            Some(namespace) => namespace,
        },
    };
    let changes: Option<Vec<_>> = command
        .pairs()
        .filter(|(name, _)| !matches!(*name, "context" | "namespace" | "ns" | "id"))
        .map(|(name, value)| change(namespace, name, value))
        .collect();
    match changes {
        // Nothing is changed unless everything can be.
        Some(changes) if !changes.is_empty() => {
            for change in changes {
                match change {
                    Change::Number(setting, value) => setting.store(value, Ordering::Relaxed),
                    Change::Flag(setting, value) => setting.store(value, Ordering::Relaxed),
                    Change::Conflict(value) => namespace.conflict.store(value),
                }
            }
            "ok".to_owned()
        }
        _ => error(4, "invalid set-config parameter"),
    }
}

/// Which setting becomes what.
enum Change<'a> {
    Number(&'a AtomicU32, u32),
    Flag(&'a AtomicBool, bool),
    Conflict(ConflictResolution),
}

/// The change to a setting; `None` if there is no such setting, or it cannot be changed to this.
fn change<'a>(namespace: &'a Namespace, name: &str, value: &str) -> Option<Change<'a>> {
    let config = &namespace.config;
    let (setting, max) = match name {
        "default-ttl" => (&config.default_ttl, MAX_TTL),
        "nsup-period" => (&config.nsup_period, u64::from(u32::MAX)),
        "default-read-touch-ttl-pct" => (&config.default_read_touch_ttl_pct, 100),
        "max-record-size" => (&config.max_record_size, 8 * 1024 * 1024),
        "allow-ttl-without-nsup" => {
            return value.parse().ok().map(|value| Change::Flag(&config.allow_ttl_without_nsup, value));
        }
        // In strong-consistency mode there is no choice.
        "conflict-resolution-policy" if !namespace.strong_consistency => {
            return value.parse().ok().map(Change::Conflict);
        }
        _ => return None,
    };
    let value = command_line::seconds(value).filter(|value| *value <= max)?;
    // Records would expire, and nothing would remove them.
    if name == "default-ttl" && value != 0 && config.refuses_ttls() {
        return None;
    }
    Some(Change::Number(setting, value as u32))
}
