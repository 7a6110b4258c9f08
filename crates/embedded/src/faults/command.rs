//! The admin command `aerolane-fault`, an info command that only embedded clusters know.
//!
//! * `aerolane-fault:add;<action>[;node=..][;on=..][;set=..][;key-prefix=..][;digest=..][;connection=..][;skip=..][;times=..][;probability=..]`
//! * `aerolane-fault:list`, `aerolane-fault:clear`, `aerolane-fault:remove;id=..[;node=..]`
//! * `aerolane-fault:master;partition=..;node=..` and the same without a node, to give the partition back
//!
//! `node` is a node id or `all`; without it, the node that is asked is meant.

use super::rule::MAX_DELAY;
use super::{FaultAction, FaultRule, RequestKind, RuleId};
use crate::cluster::{Node, NodeId, PARTITIONS};
use std::sync::Arc;
use std::time::Duration;

/// Most garbage that the command takes, in bytes.
const MAX_GARBAGE: usize = 4096;

/// Answers the command; `parameters` is what stands behind the first `:`.
pub(crate) fn handle(node: &Arc<Node>, parameters: &str) -> String {
    run(node, parameters).unwrap_or_else(|text| format!("ERROR:4:{text}"))
}

fn run(node: &Arc<Node>, parameters: &str) -> Result<String, String> {
    let mut parts = parameters.split(';').map(|part| part.split_once('=').unwrap_or((part, "")));
    let (verb, _) = parts.next().unwrap_or_default();
    let rest: Vec<(&str, &str)> = parts.filter(|(name, _)| !name.is_empty()).collect();
    let get = |name: &str| rest.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
    match verb {
        "add" => {
            let rule = parse_rule(&rest)?;
            let mut rows = Vec::new();
            for target in targets(node, get("node"))? {
                let id = target.faults.install(rule.clone())?;
                rows.push(format!("node={};id={id}", target.name));
            }
            Ok(rows.join(":"))
        }
        "list" => {
            let mut rows = Vec::new();
            for target in targets(node, get("node").or(Some("all")))? {
                rows.extend(target.faults.list().into_iter().map(|row| format!("node={};{row}", target.name)));
            }
            let forced = node.cluster.forced_masters();
            rows.extend(forced.iter().map(|(pid, id)| format!("node={id};master;partition={pid}")));
            Ok(rows.join(":"))
        }
        "clear" => {
            for target in targets(node, get("node").or(Some("all")))? {
                target.faults.clear();
            }
            if get("node").is_none_or(|name| name == "all") {
                node.cluster.unforce_masters();
            }
            Ok("ok".to_owned())
        }
        "remove" => {
            let id = RuleId(number(get("id").ok_or("missing 'id'")?, "id", u64::MAX)?);
            let removed = targets(node, get("node"))?.iter().filter(|target| target.faults.remove(id)).count();
            if removed == 0 { Err("no such rule".to_owned()) } else { Ok("ok".to_owned()) }
        }
        "master" => {
            let pid = number(get("partition").ok_or("missing 'partition'")?, "partition", PARTITIONS as u64 - 1)?;
            let master = match get("node") {
                None => None,
                Some(_) => targets(node, get("node"))?.first().map(|target| target.id),
            };
            node.cluster.force_master(pid as u16, master);
            Ok("ok".to_owned())
        }
        _ => Err("expected add, list, clear, remove or master".to_owned()),
    }
}

/// The nodes that a `node` parameter means.
pub(crate) fn targets(node: &Arc<Node>, name: Option<&str>) -> Result<Vec<Arc<Node>>, String> {
    let Some(name) = name else {
        return Ok(vec![Arc::clone(node)]);
    };
    let members = node.cluster.members();
    if name == "all" {
        return Ok(members);
    }
    let id: NodeId = name.parse().map_err(|_| format!("bad 'node' {name:?}"))?;
    let found = members.into_iter().find(|member| member.id == id);
    found.map(|node| vec![node]).ok_or_else(|| format!("no live node {name}"))
}

fn number(text: &str, name: &str, max: u64) -> Result<u64, String> {
    text.parse().ok().filter(|n| *n <= max).ok_or_else(|| format!("bad '{name}': a number up to {max} expected"))
}

fn parse_rule(parts: &[(&str, &str)]) -> Result<FaultRule, String> {
    let mut rule: Option<FaultRule> = None;
    for (name, value) in parts {
        let delay = || number(value, name, MAX_DELAY.as_millis() as u64).map(Duration::from_millis);
        let action = match *name {
            "delay" => FaultAction::Delay(delay()?),
            "answer-delay" => FaultAction::AnswerDelay(delay()?),
            "connect-delay" => FaultAction::ConnectDelay(delay()?),
            "truncate" => FaultAction::Truncate(number(value, name, 1 << 30)? as usize),
            "result" => FaultAction::Result(number(value, name, 255)? as u8),
            "garbage" => FaultAction::Garbage(garbage(value).ok_or("bad 'garbage': hexadecimal bytes expected")?),
            _ => match FaultAction::without_value(name) {
                Some(action) => action,
                None => continue,
            },
        };
        if rule.replace(FaultRule::new(action)).is_some() {
            return Err("one action per rule".to_owned());
        }
    }
    let mut rule = rule.ok_or("missing action")?;
    for (name, value) in parts {
        rule = match *name {
            "on" => value.split(',').try_fold(rule, |rule, kind| {
                RequestKind::from_name(kind).map(|kind| rule.on(kind)).ok_or_else(|| format!("bad 'on': {kind:?}"))
            })?,
            "set" => rule.set(*value),
            "key-prefix" => rule.key_prefix(*value),
            "digest" => rule.digest(digest(value).ok_or("bad 'digest': 40 hexadecimal digits expected")?),
            "connection" => rule.connection(number(value, name, u64::MAX)?),
            "skip" => rule.skip(number(value, name, u64::MAX)?),
            "times" => rule.times(number(value, name, u64::MAX)?),
            "probability" => match value.parse::<f64>() {
                Ok(p) if (0.0..=1.0).contains(&p) => rule.probability(p),
                _ => return Err("bad 'probability': 0 to 1 expected".to_owned()),
            },
            "node" | "delay" | "answer-delay" | "connect-delay" | "truncate" | "result" | "garbage" => rule,
            _ if FaultAction::without_value(name).is_some() => rule,
            _ => return Err(format!("unknown parameter '{name}'")),
        };
    }
    rule.check()?;
    Ok(rule)
}

/// A digest from its hexadecimal digits.
pub(crate) fn digest(text: &str) -> Option<[u8; 20]> {
    hex(text)?.try_into().ok()
}

fn garbage(text: &str) -> Option<Vec<u8>> {
    hex(text).filter(|bytes| bytes.len() <= MAX_GARBAGE)
}

/// Bytes from their hexadecimal digits.
pub(crate) fn hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<String, String> {
        let parts: Vec<_> = text.split(';').map(|part| part.split_once('=').unwrap_or((part, ""))).collect();
        parse_rule(&parts).map(|rule| rule.to_string())
    }

    #[test]
    fn rules_are_shown_as_they_are_written() {
        for text in [
            "delay=50;on=read,write;times=3",
            "stall",
            "drop-after;on=write;skip=2;probability=0.5",
            "garbage=00ff10",
            "result=11;on=batch",
            "result=14;on=batch-row;set=users;key-prefix=a;digest=000102030405060708090a0b0c0d0e0f10111213;connection=3",
            "connect-delay=50;connection=2",
            "black-hole-answers",
        ] {
            assert_eq!(parse(text).as_deref(), Ok(text));
        }
        for (text, error) in [
            ("on=read", "missing action"),
            ("stall;split", "one action per rule"),
            ("delay=x", "bad 'delay'"),
            ("delay=99999999", "bad 'delay'"),
            ("result=256", "bad 'result'"),
            ("garbage=0", "bad 'garbage'"),
            ("garbage=zz", "bad 'garbage'"),
            ("garbage=+f", "bad 'garbage'"),
            ("stall;on=all", "bad 'on'"),
            ("stall;on=batch-row", "rows of batches can only be answered"),
            ("stall;digest=00", "bad 'digest'"),
            ("black-hole;times=1", "a black hole holds until"),
            ("stall;probability=2", "bad 'probability'"),
            ("stall;speed=2", "unknown parameter 'speed'"),
        ] {
            assert!(parse(text).unwrap_err().starts_with(error), "{text}");
        }
    }
}
