//! Commands about records that expire: the server's, and two that only embedded clusters know.

use crate::clock::{self, Now};
use crate::cluster::Node;
use crate::command_line::{self, CommandLine, ParameterError, error};

/// Longest TTL, in seconds.
const MAX_TTL: u64 = 315_360_000;

/// `eviction-reset:namespace=..[;ttl=..]`: records that have no more than this TTL left go with the next sweep; without it
/// no more records go. An unknown namespace is "ok", as in the server, which hands the command to its metadata service.
pub(super) fn evict(node: &Node, command: &CommandLine<'_>, now: Now) -> String {
    let namespace = match command.namespace() {
        Ok(name) => node.cluster.namespace(name.as_bytes()),
        Err(e) => return error(20, &e.text("namespace")),
    };
    let void_time = match command.get_bounded("ttl", 11) {
        Err(ParameterError::Missing) => 0,
        Err(e) => return e.answer("ttl"),
        Ok(ttl) => match number(ttl) {
            ttl if ttl > MAX_TTL => return error(4, "ttl too big"),
            ttl => clock::seconds(now.ms + ttl * 1000),
        },
    };
    if let Some(namespace) = namespace {
        namespace.eviction.set(void_time);
    }
    "ok".to_owned()
}

/// A number as C reads it: decimal, hexadecimal or octal; no digits are 0.
fn number(text: &str) -> u64 {
    let (digits, radix) = match text.strip_prefix('0') {
        Some(rest) => match rest.strip_prefix(['x', 'X']) {
            Some(hex) => (hex, 16),
            None => (rest, 8),
        },
        None => (text, 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    u64::from_str_radix(&digits[..end], radix).unwrap_or(0)
}

/// `aerolane-clock[:advance=<time>]` or `[:back=<time>]`, with `;node=..` for the clock of one node: moves the cluster's clock;
/// answers how many seconds that of the node that is asked is ahead.
pub(super) fn clock(node: &Node, command: &CommandLine<'_>) -> String {
    let moved = match command.get("node") {
        Err(ParameterError::Missing) => None,
        Err(e) => return e.answer("node"),
        Ok(name) => match node.cluster.members().into_iter().find(|member| member.name == name) {
            Some(node) => Some(node),
            None => return error(4, "bad 'node'"),
        },
    };
    for (name, sign) in [("advance", 1), ("back", -1)] {
        match command.get(name) {
            Err(ParameterError::Missing) => {}
            Err(e) => return e.answer(name),
            Ok(time) => {
                let by_ms =
                    command_line::seconds(time).and_then(|seconds| i64::try_from(seconds.checked_mul(1000)?).ok());
                if !by_ms.is_some_and(|by| node.cluster.shift_clock(moved.as_deref(), sign * by)) {
                    let wanted = "seconds, with a unit if need be, up to ten years in all";
                    return error(4, &format!("bad '{name}' - {wanted}"));
                }
            }
        }
    }
    format!("ahead={}", node.ahead_ms() / 1000)
}

/// `aerolane-sweep`: removes what has expired from all namespaces; answers how many records those were.
pub(super) fn sweep(node: &Node, now: Now) -> String {
    let removed: u64 = node.cluster.namespaces.iter().map(|namespace| node.cluster.sweep(namespace, now)).sum();
    format!("removed={removed}")
}
