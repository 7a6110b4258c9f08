//! Commands whose answers say the same all the time.

use super::{EDITION, enterprise_only};
use crate::cluster::Node;
use crate::command_line::{CommandLine, error};

const FEATURES: &str = "batch-any;batch-index;blob-bits;cdt-index;cdt-list;cdt-map;cluster-stable;float;geo;\
                        sindex-exists;peers;pipelining;pquery;pscans;query-show;relaxed-sc;replicas;replicas-all;\
                        replicas-master;replicas-max;truncate-namespace;udf";

const COMMANDS: &str = "features;node;compatibility-id;edition;build_ee_sha;build_sha;build_arch;build_time;build_os;\
                        build;version;statistics;services-alumni;services;partition-generation;best-practices;\
                        cluster-name;cluster-stable;get-config;get-sl;get-stats;health-outliers;health-stats;help;\
                        histogram;index-pressure;latencies;log;mesh;namespace;namespaces;objects;peers-clear-alt;\
                        peers-clear-std;peers-generation;query-abort;query-abort-all;query-show;rebalance-generation;\
                        replicas;service;service-clear-alt;service-clear-std;set-config;sets;sindex;sindex-create;\
                        sindex-delete;sindex-exists;sindex-list;sindex-stat;statistics;status;truncate;\
                        truncate-namespace;truncate-namespace-undo;truncate-undo;udf-get;udf-list;udf-put;udf-remove;\
                        user-agent-set;aerolane-conditions;aerolane-fault";

const LOG_CONTEXTS: &[&str] = &["misc", "socket", "tls", "as", "batch", "config", "info", "query", "rw", "security"];

/// Answers a command whose answer is fixed; `None` if it is none.
pub(super) fn answer(node: &Node, command: &CommandLine<'_>) -> Option<String> {
    let text = match command.name {
        "features" => FEATURES,
        "help" => COMMANDS,
        "build" => &node.cluster.build,
        "build_ee_sha" | "build_sha" | "build_time" => "",
        "build_arch" => std::env::consts::ARCH,
        "build_os" => std::env::consts::OS,
        "edition" => EDITION,
        "compatibility-id" => "15",
        "partitions" => "4096",
        "status" | "jem-stats" | "udf-clear-cache" => "ok",
        "digests" => "RIPEMD160",
        "connection" => "admin=false",
        "best-practices" => "failed_best_practices=none",
        _ => return special(node, command),
    };
    Some(text.to_owned())
}

fn special(node: &Node, command: &CommandLine<'_>) -> Option<String> {
    Some(match command.name {
        "version" => format!("{EDITION} build {}", node.cluster.build),
        "release" => {
            let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
            format!("edition={EDITION};version={};os={os};arch={arch};sha=", node.cluster.build)
        }
        "rack-ids" => rack_ids(node),
        "racks" | "feature-key" | "quiesce" | "quiesce-undo" | "xdr-dc-state" | "xdr-get-filter" | "xdr-set-filter"
        | "masking-show" | "masking" => enterprise_only(),
        "endpoints" => endpoints(node),
        "log" => match command.path().next() {
            Some("0") | None => LOG_CONTEXTS.iter().map(|name| format!("{name}:INFO")).collect::<Vec<_>>().join(";"),
            Some(_) => "ERROR::bad-id".to_owned(),
        },
        "logs" => "0:stderr".to_owned(),
        "log-set" => error(4, "bad parameter"),
        "physical-devices" => missing(command, "path"),
        "debug-record" | "debug-record-meta" => match command.namespace() {
            Err(e) => error(20, &e.text("namespace")),
            Ok(_) => unsupported(),
        },
        "tip" => missing(command, "port"),
        "tip-clear" => missing(command, "host-port-list"),
        "smd-show" => error(4, "unknown 'module'"),
        _ => return None,
    })
}

/// The node's rack, for each namespace.
fn rack_ids(node: &Node) -> String {
    let Some(rack) = node.cluster.racks.of(node.id) else { return enterprise_only() };
    let namespaces = node.cluster.namespaces.iter().map(|namespace| format!("{}:{rack}", namespace.name));
    namespaces.collect::<Vec<_>>().join(";")
}

fn unsupported() -> String {
    error(16, "not supported by the embedded cluster")
}

/// The error for a missing parameter; with it, the command is still not supported.
fn missing(command: &CommandLine<'_>, name: &str) -> String {
    match command.get(name) {
        Err(e) => e.answer(name),
        Ok(_) => unsupported(),
    }
}

/// Where the node listens. Ports of what an embedded cluster does not have are 0.
fn endpoints(node: &Node) -> String {
    let (ip, port) = (node.address.ip(), node.address.port());
    let tls_ip = node.tls_address.map_or_else(|| "null".to_owned(), |a| a.ip().to_string());
    let access = node.cluster.access.standard(node.address).ip();
    let alternate = node.cluster.access.alternate(node.address).ip();
    let or_null = |ip: std::net::IpAddr| if node.tls_address.is_some() { ip.to_string() } else { "null".to_owned() };
    let (tls_access, tls_alternate) = (or_null(access), or_null(alternate));
    let tls_port = node.tls_address.map_or(0, |a| a.port());
    format!(
        "service.port={port};service.addresses={ip};service.access-port={port};service.access-addresses={access};\
         service.alternate-access-port={port};service.alternate-access-addresses={alternate};service.tls-port={tls_port};\
         service.tls-addresses={tls_ip};service.tls-access-port={tls_port};service.tls-access-addresses={tls_access};\
         service.tls-alternate-access-port={tls_port};service.tls-alternate-access-addresses={tls_alternate};admin.port=0;\
         admin.addresses=null;admin.tls-port=0;admin.tls-addresses=null;heartbeat.port=0;heartbeat.addresses=null;\
         heartbeat.tls-port=0;heartbeat.tls-addresses=null;fabric.port=0;fabric.addresses=null;fabric.tls-port=0;\
         fabric.tls-addresses=null"
    )
}
