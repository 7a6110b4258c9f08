//! Rosters of namespaces in strong-consistency mode: `roster`, `roster-set`, `recluster`, `revive`.

use super::{enterprise_only, no_namespace};
use crate::clock::Now;
use crate::cluster::{Node, NodeId};
use crate::command_line::{CommandLine, error};
use std::sync::Arc;

/// Answers a command about rosters; `None` if it is none.
pub(super) fn answer(node: &Arc<Node>, command: &CommandLine<'_>, now: Now) -> Option<String> {
    let cluster = &node.cluster;
    match command.name {
        "recluster" => Some(recluster(node, now)),
        "roster" | "roster-set" | "revive" => {
            // As in the Community Edition, which has no such namespaces.
            if !cluster.namespaces.iter().any(|namespace| namespace.strong_consistency) {
                return Some(enterprise_only());
            }
            Some(of_namespace(node, command))
        }
        _ => None,
    }
}

/// Only the principal carries it out; without rosters there is nothing to carry out.
fn recluster(node: &Node, now: Now) -> String {
    let view = node.view();
    if view.principal() != Some(node.id) && node.cluster.has_roster() {
        return "ignored-by-non-principal".to_owned();
    }
    node.cluster.recluster(now.instant);
    "ok".to_owned()
}

fn of_namespace(node: &Node, command: &CommandLine<'_>) -> String {
    let namespace = match command.namespace() {
        Err(e) => return error(20, &e.text("namespace")),
        Ok(name) => match node.cluster.namespace(name.as_bytes()) {
            None => return no_namespace(),
            Some(namespace) if !namespace.strong_consistency => return enterprise_only(),
            Some(namespace) => namespace,
        },
    };
    let mut roster = node.cluster.roster(namespace);
    match command.name {
        "roster-set" => {
            let nodes = match command.get("nodes") {
                Err(e) => return e.answer("nodes"),
                Ok(text) => text.split(',').map(str::parse).collect::<Result<Vec<NodeId>, _>>(),
            };
            match nodes {
                Ok(nodes) => roster.pending = nodes,
                Err(_) => return error(4, "bad 'nodes'"),
            }
            "ok".to_owned()
        }
        "revive" => {
            roster.revive = true;
            "ok".to_owned()
        }
        _ => {
            let shown = |nodes: &[NodeId]| match nodes {
                [] => "null".to_owned(),
                nodes => nodes.iter().map(NodeId::to_string).collect::<Vec<_>>().join(","),
            };
            let (nodes, pending) = (shown(&roster.nodes), shown(&roster.pending));
            drop(roster);
            let observed: Vec<NodeId> = node.view().members().map(|member| member.id).collect();
            format!("roster={nodes}:pending_roster={pending}:observed_nodes={}", shown(&observed))
        }
    }
}
