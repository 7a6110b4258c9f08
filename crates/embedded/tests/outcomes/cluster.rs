//! A cluster whose nodes die and come back: an embedded one, or three real nodes.

use super::schedules::{Policy, Storage};
use crate::live::nodes::Nodes;
use aerolane_embedded::{ConflictResolution, EmbeddedCluster, NamespaceOptions};
use std::process::Command;
use std::time::{Duration, Instant};

/// How long nodes may take to agree and to move their records.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) trait Cluster {
    fn nodes(&mut self) -> &mut Nodes;
    /// Nodes die, and the others do not know it yet.
    fn down(&mut self, nodes: &[usize]);
    /// Waits until these, the ones that live, have moved the partitions.
    fn noticed(&mut self, live: &[usize]);
    /// Nodes come back; these live then.
    fn up(&mut self, nodes: &[usize], live: &[usize]);
}

pub(crate) struct Embedded {
    cluster: EmbeddedCluster,
    nodes: Nodes,
}

impl Embedded {
    pub(crate) fn start(storage: Storage, policy: Policy) -> Self {
        let policy = match policy {
            Policy::Generation => ConflictResolution::Generation,
            Policy::LastUpdateTime => ConflictResolution::LastUpdateTime,
        };
        let keeps = storage == Storage::Device;
        let namespace = NamespaceOptions::new("test").keep_records(keeps).conflict_resolution(policy);
        let builder = EmbeddedCluster::builder().nodes(3).replication_factor(2).namespace_with(namespace);
        let cluster = builder.service_threads(1).start().unwrap();
        let nodes = Nodes::find(&cluster.seeds());
        Self { cluster, nodes }
    }

    fn id(&self, node: usize) -> aerolane_embedded::NodeId {
        let address = self.nodes.address(node);
        self.cluster.nodes().iter().find(|info| info.address == address).unwrap().id
    }
}

impl Cluster for Embedded {
    fn nodes(&mut self) -> &mut Nodes {
        &mut self.nodes
    }

    fn down(&mut self, nodes: &[usize]) {
        let ids: Vec<_> = nodes.iter().map(|node| self.id(*node)).collect();
        self.cluster.hold_partitions(true);
        self.cluster.stop_nodes(&ids).unwrap();
    }

    fn noticed(&mut self, _live: &[usize]) {
        self.cluster.hold_partitions(false);
        self.nodes.learn_owners();
    }

    fn up(&mut self, nodes: &[usize], live: &[usize]) {
        for node in nodes {
            self.cluster.start_node(self.id(*node)).unwrap();
        }
        self.noticed(live);
    }
}

/// Three real nodes, and the commands that stop and start them.
pub(crate) struct Real {
    nodes: Nodes,
    stop: String,
    start: String,
    policy: Policy,
}

impl Real {
    /// `None` without `AEROSPIKE_HOST`, `NODE_STOP` and `NODE_START`.
    pub(crate) fn from_environment() -> Option<Self> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let (seeds, stop, start) = (variable("AEROSPIKE_HOST")?, variable("NODE_STOP")?, variable("NODE_START")?);
        let mut real = Self { nodes: Nodes::find(&seeds), stop, start, policy: Policy::Generation };
        assert_eq!(real.nodes.len(), 3, "three nodes are needed");
        real.agree(&[0, 1, 2]);
        Some(real)
    }

    /// What its namespace keeps.
    pub(crate) fn storage(&mut self) -> Storage {
        let about = self.nodes.info(0, "namespace/test").unwrap();
        if about.contains("storage-engine=memory") { Storage::Memory } else { Storage::Device }
    }

    pub(crate) fn set_policy(&mut self, policy: Policy) {
        self.policy = policy;
        for node in 0..self.nodes.len() {
            self.tell_policy(node);
        }
    }

    /// Nodes that have been started have what their files say, and are told again.
    fn tell_policy(&mut self, node: usize) {
        let policy = match self.policy {
            Policy::Generation => "generation",
            Policy::LastUpdateTime => "last-update-time",
        };
        let command = format!("set-config:context=namespace;id=test;conflict-resolution-policy={policy}");
        let begun = Instant::now();
        while self.nodes.info(node, &command).as_deref() != Some("ok") {
            assert!(begun.elapsed() < PATIENCE, "node {node} does not take {command}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn command(template: &str, nodes: &[usize]) {
        let start = |node: &usize| {
            let command = template.replace("{}", &node.to_string());
            (Command::new("sh").args(["-c", &command]).spawn().unwrap(), command)
        };
        let running: Vec<_> = nodes.iter().map(start).collect();
        for (mut child, command) in running {
            assert!(child.wait().unwrap().success(), "{command}");
        }
    }

    /// Waits until nodes agree on who is there, and have no records left to move.
    fn agree(&mut self, live: &[usize]) {
        let command = format!("cluster-stable:size={};ignore-migrations=false", live.len());
        let begun = Instant::now();
        loop {
            let keys: Vec<_> = live.iter().map(|node| self.nodes.info(*node, &command)).collect();
            let key = keys[0].clone().filter(|key| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_hexdigit()));
            if key.is_some() && keys.iter().all(|other| *other == key) {
                break;
            }
            assert!(begun.elapsed() < PATIENCE, "{live:?} do not agree: {keys:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
        self.nodes.learn_owners();
    }
}

impl Cluster for Real {
    fn nodes(&mut self) -> &mut Nodes {
        &mut self.nodes
    }

    fn down(&mut self, nodes: &[usize]) {
        Self::command(&self.stop, nodes);
    }

    fn noticed(&mut self, live: &[usize]) {
        self.agree(live);
    }

    fn up(&mut self, nodes: &[usize], live: &[usize]) {
        Self::command(&self.start, nodes);
        for node in nodes {
            self.tell_policy(*node);
        }
        self.agree(live);
    }
}
