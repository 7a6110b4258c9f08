//! The admin command `aerolane-conditions`, an info command that only embedded clusters know.
//!
//! * `aerolane-conditions:set[;service-time=..][;in-service=..][;latency=..][;seed=..][;node=..]` replaces all conditions:
//!   a setting that is not given has its default
//! * `aerolane-conditions:show[;node=..]`, rows separated by `|`
//! * `aerolane-conditions:clear[;node=..]`
//!
//! `node` is a node id or `all`; without it, the node that is asked is meant.

use super::Conditions;
use crate::cluster::Node;
use crate::faults::targets;
use std::sync::Arc;

/// Answers the command; `parameters` is what stands behind the first `:`.
pub(crate) fn handle(node: &Arc<Node>, parameters: &str) -> String {
    run(node, parameters).unwrap_or_else(|text| format!("ERROR:4:{text}"))
}

fn run(node: &Arc<Node>, parameters: &str) -> Result<String, String> {
    let (verb, rest) = parameters.split_once(';').unwrap_or((parameters, ""));
    let pairs = rest.split(';').filter(|part| !part.is_empty()).map(|part| part.split_once('=').unwrap_or((part, "")));
    let (node_names, settings): (Vec<_>, Vec<_>) = pairs.partition(|(name, _)| *name == "node");
    let name = node_names.first().map(|(_, name)| *name);
    let conditions = Conditions::from_settings(settings.iter().copied()).map_err(|error| error.to_string())?;
    let nodes = targets(node, name)?;
    match verb {
        "clear" | "show" if !settings.is_empty() => return Err(format!("unknown parameter '{}'", settings[0].0)),
        "set" | "clear" => {}
        "show" => {
            let rows = nodes.iter().map(|target| format!("node={};{}", target.name, target.conditions.current()));
            return Ok(rows.collect::<Vec<_>>().join("|"));
        }
        _ => return Err("expected set, show or clear".to_owned()),
    }
    if name == Some("all") {
        node.cluster.set_default_conditions(&conditions);
    }
    for target in nodes {
        target.conditions.set(&conditions);
    }
    Ok("ok".to_owned())
}
