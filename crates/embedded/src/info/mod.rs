//! Answers to info text.
//!
//! Every command of the golden groups `info` and `connect` is here; commands of the Enterprise Edition answer as in the
//! Community Edition, unknown ones with "unrecognized command".

mod configuration;
mod expiry;
mod fixed;
mod members;
mod roster;
mod sindex;
mod statistics;
mod truncate;

pub(crate) use sindex::{SecondaryIndexes, TypeNames};

use crate::admin::{self, Permission};
use crate::cluster::{Counters, Node};
use crate::command_line::{CommandLine, error};
use crate::conditions;
use crate::faults;
use crate::request::{Answered, Request, Session};
use crate::udf::registry as udf;
use aerolane_wire::info::Lines;
use aerolane_wire::proto::{FrameType, begin_frame, end_frame};

/// The version that the cluster passes itself off as: the one that its behaviour was recorded from.
pub(crate) const BUILD: &str = "8.1.2.0";
/// What the server shows for edition.
const EDITION: &str = "Aerospike Community Edition";
/// What an empty request asks for.
const SUMMARY: &[&str] = &[
    "features",
    "node",
    "compatibility-id",
    "edition",
    "build_ee_sha",
    "build_sha",
    "build_arch",
    "build_time",
    "build_os",
    "build",
    "version",
    "statistics",
    "services-alumni",
    "services",
    "partition-generation",
];

/// The release of a build, which is four numbers: major and minor.
pub(crate) fn release(build: &str) -> (u16, u16) {
    let mut numbers = build.split('.').map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// The answer for a namespace that is not there.
fn no_namespace() -> String {
    error(20, "namespace not found on node")
}

/// The answer for what only the Enterprise Edition has.
fn enterprise_only() -> String {
    error(25, "enterprise only")
}

/// Appends the answer to the frame in `request`.
pub(crate) fn handle(request: &mut Request<'_>, out: &mut Vec<u8>) -> Answered {
    Counters::add(&request.node.counters.infos, 1);
    let start = begin_frame(out, FrameType::Info);
    if request.body.is_empty() {
        for command in SUMMARY {
            line(request, command.as_bytes(), out);
        }
    }
    for command in Lines::new(request.body) {
        // The server sees a C string: it ends at the first zero byte, in the echo, too.
        let end = command.iter().position(|b| *b == 0).unwrap_or(command.len());
        line(request, &command[..end], out);
        if out.len() - start > MAX_ANSWER {
            break;
        }
    }
    if end_frame(out, start).is_err() {
        out.truncate(start);
        return Answered::Close;
    }
    Answered::Done
}

/// Above this many bytes the rest of a request's commands is not answered, so that no request keeps a thread for long.
const MAX_ANSWER: usize = 8 * 1024 * 1024;

/// Appends one command and its answer.
fn line(request: &mut Request<'_>, command: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(command);
    out.push(b'\t');
    let answer = match std::str::from_utf8(command) {
        Ok(text) => answer(request, text),
        Err(_) => unrecognized(),
    };
    out.extend_from_slice(answer.as_bytes());
    out.push(b'\n');
}

fn unrecognized() -> String {
    error(4, "unrecognized command")
}

/// Answers one command.
fn answer(request: &mut Request<'_>, text: &str) -> String {
    let node = request.node;
    // The command before this one may have moved the clock.
    let now = node.time(request.now);
    let session = &mut *request.session;
    let command = CommandLine::parse(text);
    let find = |name: &str| node.cluster.namespace(name.as_bytes());
    let known = |name: &str| find(name).is_some();
    let indexes = &node.cluster.indexes;
    if let Err(code) = permit(node, session, &command) {
        return error(code, "role violation");
    }
    match command.name {
        "sindex-create" => indexes.create(&command, find, now),
        "sindex-delete" => indexes.delete(&command, find),
        "sindex-list" => indexes.list(&command, known),
        "sindex-exists" => indexes.exists_command(&command, known),
        "sindex" if command.path().next().is_none() => indexes.list(&command, known),
        "sindex" | "sindex-stat" => indexes.stat(node.slot, &command, find),
        "udf-put" => udf::put(&node.cluster.modules, &command),
        "udf-get" => udf::get(&node.cluster.modules, &command),
        "udf-list" => udf::list(&node.cluster.modules),
        "udf-remove" => udf::remove(&node.cluster.modules, &command),
        "truncate" => truncate::set(node, &command, now),
        "truncate-namespace" => truncate::namespace(node, &command, now),
        "truncate-undo" | "truncate-namespace-undo" => truncate::undo(&command),
        "query-show" | "query-abort" | "query-abort-all" => crate::scan::command(node, &command, now),
        "eviction-reset" => expiry::evict(node, &command, now),
        "aerolane-clock" => expiry::clock(node, &command),
        "aerolane-sweep" => expiry::sweep(node, now),
        "user-agent-set" => user_agent(session, &command),
        "aerolane-fault" => faults::handle_command(node, behind_name(text)),
        "aerolane-conditions" => conditions::handle_command(node, behind_name(text)),
        _ => members::answer(node, &command)
            .or_else(|| roster::answer(node, &command, now))
            .or_else(|| statistics::answer(node, &command, now))
            .or_else(|| configuration::answer(node, &command))
            .or_else(|| fixed::answer(node, &command))
            .unwrap_or_else(unrecognized),
    }
}

/// What stands behind the name of a command.
fn behind_name(text: &str) -> &str {
    text.split_once(':').map_or("", |(_, rest)| rest)
}

/// Whether the user may give this command. Looking is free.
fn permit(node: &Node, session: &mut Session, command: &CommandLine<'_>) -> Result<(), u8> {
    let Some(grants) = admin::grants(node, session)? else { return Ok(()) };
    let permission = match command.name {
        "sindex-create" | "sindex-delete" => Permission::IndexAdmin,
        "udf-put" | "udf-remove" => Permission::UdfAdmin,
        "truncate" | "truncate-namespace" | "truncate-undo" | "truncate-namespace-undo" => Permission::Truncate,
        "query-abort" | "query-abort-all" => Permission::QueryAdmin,
        "set-config"
        | "log-set"
        | "recluster"
        | "roster-set"
        | "revive"
        | "eviction-reset"
        | "aerolane-fault"
        | "aerolane-conditions"
        | "aerolane-clock"
        | "aerolane-sweep" => Permission::SysAdmin,
        _ => return Ok(()),
    };
    let namespace = command.namespace().unwrap_or_default();
    let set = command.get("set").unwrap_or_default();
    grants.check(permission, namespace.as_bytes(), set.as_bytes()).map_err(|code| code.0)
}

/// The client says what it is, once per connection: base64 of `1,<client>-<version>,<application>`.
fn user_agent(session: &mut Session, command: &CommandLine<'_>) -> String {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    if session.user_agent_set {
        return error(4, "already set");
    }
    match command.get_bounded("value", 1024) {
        Err(e) => e.answer("value"),
        Ok(value) if STANDARD.decode(value).is_err() => error(4, "bad 'value'"),
        Ok(_) => {
            session.user_agent_set = true;
            "ok".to_owned()
        }
    }
}
