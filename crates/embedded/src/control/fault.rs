//! Faults, as requests have them.

use super::answer::Refusal;
use super::node_id;
use crate::faults::{FaultAction, FaultRule, MAX_DELAY, RequestKind, RuleId, digest, hex};
use crate::{EmbeddedCluster, NodeId};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Most garbage, in bytes.
const MAX_GARBAGE: usize = 1024 * 1024;

/// What `inject` takes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Injection {
    action: String,
    #[serde(default)]
    value: Option<Value>,
    /// `None`: all kinds.
    #[serde(default)]
    on: Option<Vec<String>>,
    /// `None`: all that there are.
    #[serde(default)]
    node: Option<String>,
    #[serde(default)]
    set: Option<String>,
    #[serde(default)]
    key_prefix: Option<String>,
    #[serde(default)]
    digest: Option<String>,
    #[serde(default)]
    connection: Option<u64>,
    #[serde(default)]
    skip: u64,
    #[serde(default)]
    times: Option<u64>,
    #[serde(default = "always")]
    probability: f64,
}

const fn always() -> f64 {
    1.0
}

/// The faults that were injected, by number.
#[derive(Debug, Default)]
pub(super) struct Faults {
    injected: BTreeMap<u64, Vec<(NodeId, RuleId)>>,
    last: u64,
}

impl Faults {
    /// Installs a fault on all of its nodes, or on none.
    pub(super) fn inject(&mut self, cluster: &EmbeddedCluster, injection: &Injection) -> Result<Value, Refusal> {
        let rule = injection.rule()?;
        let nodes = match &injection.node {
            Some(node) => vec![node_id(node)?],
            None => cluster.nodes().iter().map(|node| node.id).collect(),
        };
        let mut installed = Vec::with_capacity(nodes.len());
        for node in nodes {
            match cluster.set_fault(Some(node), &rule) {
                Ok(ids) => installed.extend(ids.into_iter().map(|id| (node, id))),
                Err(error) => {
                    for (node, id) in installed {
                        cluster.remove_fault(node, id)?;
                    }
                    return Err(error.into());
                }
            }
        }
        self.last += 1;
        self.injected.insert(self.last, installed);
        Ok(json!({ "fault": self.last, "rule": rule.to_string() }))
    }

    pub(super) fn remove(&mut self, cluster: &EmbeddedCluster, fault: u64) -> Result<(), Refusal> {
        for (node, id) in self.injected.remove(&fault).unwrap_or_default() {
            cluster.remove_fault(node, id)?;
        }
        Ok(())
    }

    /// How many requests it has struck, on all nodes together.
    pub(super) fn struck(&self, cluster: &EmbeddedCluster, fault: u64) -> Result<u64, Refusal> {
        let mut sum = 0;
        for (node, id) in self.injected.get(&fault).into_iter().flatten() {
            sum += cluster.fault_struck(*node, *id)?.unwrap_or(0);
        }
        Ok(sum)
    }

    /// All of them were taken back.
    pub(super) fn forget(&mut self) {
        self.injected.clear();
    }
}

/// A kind of request by its name.
pub(super) fn kind_of(name: &str) -> Result<RequestKind, Refusal> {
    RequestKind::from_name(name).ok_or_else(|| {
        let text = "info, admin, read, write, batch, batch-row, query or other expected";
        Refusal::setting(format!("unknown kind {name:?}: {text}"))
    })
}

impl Injection {
    fn rule(&self) -> Result<FaultRule, Refusal> {
        if !(0.0..=1.0).contains(&self.probability) {
            return Err(Refusal::setting(format!("probability {}: 0 to 1 expected", self.probability)));
        }
        let mut rule = FaultRule::new(self.action()?).skip(self.skip).probability(self.probability);
        if let Some(times) = self.times {
            rule = rule.times(times);
        }
        if self.on.as_ref().is_some_and(Vec::is_empty) {
            return Err(Refusal::setting("on: at least one kind of request expected"));
        }
        for name in self.on.iter().flatten() {
            rule = rule.on(kind_of(name)?);
        }
        if let Some(set) = &self.set {
            rule = rule.set(set.as_str());
        }
        if let Some(prefix) = &self.key_prefix {
            rule = rule.key_prefix(prefix.as_str());
        }
        if let Some(text) = &self.digest {
            let digest = digest(text).ok_or_else(|| Refusal::setting("digest: 40 hexadecimal digits expected"))?;
            rule = rule.digest(digest);
        }
        if let Some(number) = self.connection {
            rule = rule.connection(number);
        }
        Ok(rule)
    }

    fn action(&self) -> Result<FaultAction, Refusal> {
        let action = match self.action.as_str() {
            "delay" => return self.delay().map(FaultAction::Delay),
            "answer-delay" => return self.delay().map(FaultAction::AnswerDelay),
            "connect-delay" => return self.delay().map(FaultAction::ConnectDelay),
            "truncate" => {
                return self
                    .number("a number of bytes", u64::from(u32::MAX))
                    .map(|n| FaultAction::Truncate(n as usize));
            }
            "result" => {
                return self.number("a result code", u64::from(u8::MAX)).map(|code| FaultAction::Result(code as u8));
            }
            "garbage" => return self.garbage().map(FaultAction::Garbage),
            name => FaultAction::without_value(name).ok_or_else(|| {
                Refusal::setting(format!(
                    "unknown fault {name:?}: delay, answer-delay, connect-delay, stall, drop-before, drop-after, truncate, \
                     split, result, garbage, refuse, black-hole, black-hole-requests, black-hole-answers, black-hole-connects or reject-unowned \
                     expected"
                ))
            })?,
        };
        if self.value.is_some() {
            return Err(Refusal::of_type(format!("the fault {:?} takes no value", self.action)));
        }
        Ok(action)
    }

    fn needed(&self, what: &str) -> Result<&Value, Refusal> {
        let text = || format!("the fault {:?} needs a value: {what}", self.action);
        self.value.as_ref().ok_or_else(|| Refusal::of_type(text()))
    }

    fn delay(&self) -> Result<Duration, Refusal> {
        let seconds = self.needed("seconds")?;
        let text = || format!("the fault {:?} takes seconds, not {seconds}", self.action);
        let seconds = seconds.as_f64().ok_or_else(|| Refusal::of_type(text()))?;
        let most = MAX_DELAY.as_secs_f64();
        if (0.0..=most).contains(&seconds) {
            Ok(Duration::from_secs_f64(seconds))
        } else {
            Err(Refusal::setting(format!("a delay of {seconds} s: 0 to {most} expected")))
        }
    }

    fn number(&self, what: &str, most: u64) -> Result<u64, Refusal> {
        let value = self.needed(what)?;
        if !value.is_number() {
            return Err(Refusal::of_type(format!("the fault {:?} takes {what}, not {value}", self.action)));
        }
        let out_of_range = || Refusal::setting(format!("the fault {:?} takes 0 to {most}, not {value}", self.action));
        value.as_u64().filter(|number| *number <= most).ok_or_else(out_of_range)
    }

    fn garbage(&self) -> Result<Vec<u8>, Refusal> {
        let value = self.needed("bytes in hexadecimal")?;
        let wrong = || Refusal::of_type("garbage is given as bytes in hexadecimal, such as \"00ff\"");
        let bytes = value.as_str().and_then(hex).ok_or_else(wrong)?;
        if bytes.len() > MAX_GARBAGE {
            return Err(Refusal::setting(format!("{} bytes of garbage: at most {MAX_GARBAGE} expected", bytes.len())));
        }
        Ok(bytes)
    }
}
