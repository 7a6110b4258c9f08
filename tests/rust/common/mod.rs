//! What the integration tests run on: the embedded cluster, or a real one when `AEROSPIKE_HOST` is set.

#![allow(dead_code, unused_imports)] // each test file uses a part of it

mod patient;

use std::sync::atomic::{AtomicU32, Ordering};

use aerolane::{ClientPolicy, Key, Value};
use aerolane_embedded::{EmbeddedCluster, NamespaceOptions};
pub(crate) use patient::{PATIENCE_MS, Patient, patient_writes, reading, writing};

/// A cluster for one test, with sets that nobody else uses.
pub(crate) struct Target {
    embedded: Option<EmbeddedCluster>,
    seeds: String,
    namespace: String,
    set: String,
}

impl Target {
    /// The host of `AEROSPIKE_HOST` (namespace of `NAMESPACE`, else `test`), or an embedded cluster of 3 nodes.
    pub(crate) fn start() -> Self {
        match std::env::var("AEROSPIKE_HOST") {
            Ok(seeds) if !seeds.is_empty() => {
                let namespace = std::env::var("NAMESPACE").unwrap_or_else(|_| "test".to_owned());
                Self { embedded: None, seeds, namespace, set: unique_set() }
            }
            _ => Self::embedded(3),
        }
    }

    /// An embedded cluster, for tests that inject faults.
    pub(crate) fn embedded(nodes: usize) -> Self {
        let embedded = EmbeddedCluster::builder().nodes(nodes).start().expect("the embedded cluster starts");
        Self { seeds: embedded.seeds(), embedded: Some(embedded), namespace: "test".to_owned(), set: unique_set() }
    }

    /// An embedded cluster in strong-consistency mode, for transactions.
    pub(crate) fn consistent(nodes: usize) -> Self {
        let namespace = NamespaceOptions::new("test").strong_consistency(true);
        let embedded = EmbeddedCluster::builder().nodes(nodes).namespace_with(namespace).start();
        let embedded = embedded.expect("the embedded cluster starts");
        Self { seeds: embedded.seeds(), embedded: Some(embedded), namespace: "test".to_owned(), set: unique_set() }
    }

    pub(crate) fn seeds(&self) -> &String {
        &self.seeds
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    pub(crate) fn set(&self) -> &str {
        &self.set
    }

    /// The embedded cluster of [`Target::embedded`].
    pub(crate) fn faults(&self) -> &EmbeddedCluster {
        self.embedded.as_ref().expect("a test that injects faults runs on an embedded cluster")
    }

    /// Whether this is an embedded cluster.
    pub(crate) fn is_embedded(&self) -> bool {
        self.embedded.is_some()
    }

    pub(crate) fn key(&self, user_key: impl Into<Value>) -> Key {
        Key::new(self.namespace.as_str(), self.set.as_str(), user_key.into()).expect("a usable key")
    }
}

/// A policy that follows changes quickly, and waits long for those who are to tell of them.
pub(crate) fn policy() -> ClientPolicy {
    ClientPolicy { tend_interval: 250, timeout: 20_000, login_timeout: 20_000, ..ClientPolicy::default() }
}

fn unique_set() -> String {
    static SETS: AtomicU32 = AtomicU32::new(0);
    let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |t| t.as_secs());
    format!("t{:x}-{:x}-{}", seconds, std::process::id(), SETS.fetch_add(1, Ordering::Relaxed))
}

/// How many control threads this process has.
pub(crate) fn control_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok())
        .filter(|name| name.trim() == "aerolane-ctl")
        .count()
}
