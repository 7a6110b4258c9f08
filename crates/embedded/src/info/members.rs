//! What clients ask to find the nodes and the owners of partitions.

use super::{enterprise_only, no_namespace};
use crate::cluster::{BITMAP_BYTES, Node, PARTITIONS, View};
use crate::command_line::{CommandLine, ParameterError, error};
use crate::store::Namespace;
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The port that the lists name as the default; every address in them names its own.
const DEFAULT_PORT: u16 = 3000;

/// Answers a command about the members of the cluster; `None` if it is none.
pub(super) fn answer(node: &Arc<Node>, command: &CommandLine<'_>) -> Option<String> {
    let access = &node.cluster.access;
    let standard = |n: &Node| access.standard(n.address);
    let alternate = |n: &Node| access.alternate(n.address);
    Some(match command.name {
        "node" | "name" | "get-sl" => node.name.clone(),
        "cluster-name" => node.cluster.cluster_name.clone(),
        "partition-generation" => node.generations.partition().to_string(),
        "rebalance-generation" => node.generations.rebalance().to_string(),
        "peers-generation" => node.generations.peers().to_string(),
        "service" | "service-clear-std" => standard(node).to_string(),
        "service-clear-alt" => alternate(node).to_string(),
        "service-tls-std" | "service-tls-alt" => {
            let told = |a| if command.name.ends_with("alt") { access.alternate(a) } else { access.standard(a) };
            node.tls_address.map_or_else(enterprise_only, |address| told(address).to_string())
        }
        "peers-clear-std" | "alumni-clear-std" => peers(node, "", |n| Some(standard(n))),
        "peers-clear-alt" | "alumni-clear-alt" => peers(node, "", |n| Some(alternate(n))),
        "peers-tls-std" | "peers-tls-alt" if node.tls_address.is_some() => {
            let told = |a| if command.name.ends_with("alt") { access.alternate(a) } else { access.standard(a) };
            let name = node.cluster.tls_name.as_deref().unwrap_or_default();
            peers(node, name, |n| n.tls_address.map(told))
        }
        "peers-tls-std" | "peers-tls-alt" | "alumni-tls-std" | "alumni-tls-alt" => enterprise_only(),
        "services" | "services-alumni" => join(&others(node), standard),
        "services-alternate" => join(&others(node), alternate),
        "services-alumni-reset" => "ok".to_owned(),
        "mesh" => {
            let view = node.view();
            view.members().map(|member| member.address.to_string()).collect::<Vec<_>>().join(";")
        }
        "mcast" => error(4, "heartbeat is in multicast mode"),
        "replicas" => replicas(node, command),
        "replicas-all" => maps(node, |_, factor, bitmaps| format!("{factor},{}", bitmaps.join(","))),
        "replicas-master" => maps(node, |_, _, bitmaps| bitmaps.first().cloned().unwrap_or_default()),
        "cluster-stable" => cluster_stable(node, command),
        "smd-info" => metadata(node),
        _ => return None,
    })
}

fn join(nodes: &[Arc<Node>], address: impl Fn(&Node) -> SocketAddr) -> String {
    nodes.iter().map(|node| address(node).to_string()).collect::<Vec<_>>().join(";")
}

/// The other live nodes, by rising id.
fn others(node: &Node) -> Vec<Arc<Node>> {
    let mut list: Vec<_> = node.view().members().filter(|member| member.id != node.id).collect();
    list.reverse();
    list
}

/// `generation,default port,[[node,tls name,[address]],...]`
fn peers(node: &Node, tls_name: &str, address: impl Fn(&Node) -> Option<SocketAddr>) -> String {
    // The generation first: a change in between makes clients ask again, not miss it.
    let generation = node.generations.peers();
    let mut text = format!("{generation},{DEFAULT_PORT},[");
    for (at, peer) in others(node).iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let addresses = address(peer).map(|a| a.to_string()).unwrap_or_default();
        let written = write!(text, "{comma}[{},{tls_name},[{addresses}]]", peer.name);
        debug_assert!(written.is_ok(), "writing to a string does not fail");
    }
    text.push(']');
    text
}

/// `namespace:regime,factor,bitmap of masters,bitmap of first replicas...`, with at most `max` bitmaps if `max` says so.
fn replicas(node: &Node, command: &CommandLine<'_>) -> String {
    let max = command.get("max").ok().and_then(|text| text.parse::<usize>().ok()).filter(|max| *max > 0);
    maps(node, |namespace, factor, bitmaps| {
        let shown = max.unwrap_or(factor).min(factor);
        // By a regime of 0 clients know a namespace without strong consistency.
        let regime = if namespace.strong_consistency { namespace.regime.load(Ordering::Acquire) } else { 0 };
        format!("{regime},{shown},{}", bitmaps[..shown].join(","))
    })
}

/// One item per namespace, from its replication factor and that many bitmaps.
fn maps(node: &Node, item: impl Fn(&Namespace, usize, &[String]) -> String) -> String {
    let nodes = node.view().size();
    let items = node.cluster.namespaces.iter().map(|namespace| {
        let factor = node.cluster.replication_factor(namespace, nodes);
        let bitmaps: Vec<String> = bitmaps(node, namespace, factor).iter().map(|bits| BASE64.encode(bits)).collect();
        format!("{}:{}", namespace.name, item(namespace, factor, &bitmaps))
    });
    items.collect::<Vec<_>>().join(";")
}

/// The partitions that the node holds as master and as each replica: partition 0 is the highest bit of byte 0.
fn bitmaps(node: &Node, namespace: &Namespace, factor: usize) -> Vec<[u8; BITMAP_BYTES]> {
    let mut maps = vec![[0; BITMAP_BYTES]; factor];
    for pid in 0..PARTITIONS as u16 {
        let copies = namespace.copies(node.slot, pid);
        for (map, owner) in maps.iter_mut().zip(copies.columns(factor)) {
            if owner == Some(node.slot) {
                map[usize::from(pid) / 8] |= 0x80 >> (pid % 8);
            }
        }
    }
    maps
}

/// The cluster key as the server shows it.
pub(super) fn cluster_key(view: &View) -> String {
    format!("{:X}", view.cluster_key)
}

/// The modules of the server's metadata service. Nothing is ever pending here, and nothing is kept by key.
fn metadata(node: &Node) -> String {
    let view = node.view();
    let principal = view.principal().map_or_else(|| "0".to_owned(), |id| id.to_string());
    let key = cluster_key(&view);
    let nodes = view.size();
    let mut text = format!("smd:n_pending_sets=0,n_events=0,n_nodes={nodes},principal={principal},cluster_key={key};");
    for module in ["evict", "sindex", "truncate", "UDF"] {
        text.extend([module, ":committed_key=", &key, ",committed_tid=0,n_keys=0,state=pr;"]);
    }
    text
}

fn cluster_stable(node: &Node, command: &CommandLine<'_>) -> String {
    let view = node.view();
    match command.get("size") {
        Err(ParameterError::Missing) => {}
        Err(e) => return e.answer("size"),
        Ok(text) => match text.parse::<usize>() {
            Err(_) => return error(4, "bad size"),
            Ok(size) if size != view.size() => return error(7, "cluster not specified size"),
            Ok(_) => {}
        },
    }
    let ignores = match command.get("ignore-migrations") {
        Err(ParameterError::Missing) | Ok("false") => false,
        Ok("true") => true,
        Err(e) => return e.answer("ignore-migrations"),
        Ok(_) => return error(4, "bad ignore migrations"),
    };
    let wanted = match command.namespace() {
        Err(ParameterError::Missing) => None,
        Err(e) => return e.answer("namespace"),
        Ok(name) if node.cluster.namespace(name.as_bytes()).is_none() => return no_namespace(),
        Ok(name) => Some(name),
    };
    let mut looked_at =
        node.cluster.namespaces.iter().filter(|namespace| wanted.is_none_or(|name| namespace.name == name));
    if !ignores && looked_at.any(|namespace| namespace.unfinished(Some(node.slot)) != (0, 0)) {
        return error(7, "unstable cluster");
    }
    cluster_key(&view)
}
