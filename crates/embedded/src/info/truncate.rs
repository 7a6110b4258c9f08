//! Truncation of sets and namespaces.

use crate::clock::{self, Now};
use crate::cluster::Node;
use crate::command_line::{CommandLine, ParameterError, error};

const MAX_SET_NAME: usize = 63;

/// `truncate:namespace=..;set=..[;lut=..]`
pub(super) fn set(node: &Node, command: &CommandLine<'_>, now: Now) -> String {
    let namespace = match command.namespace() {
        Ok(namespace) => namespace,
        Err(e) => return error(20, &e.text("namespace")),
    };
    let set = match command.get_bounded("set", MAX_SET_NAME) {
        Ok(set) => set,
        Err(e) => return e.answer("set"),
    };
    let before_ms = match bound(command, now) {
        Ok(before_ms) => before_ms,
        Err(answer) => return answer,
    };
    // An unknown namespace or set has nothing to lose: "ok", as in the server.
    if let Some(namespace) = node.cluster.namespace(namespace.as_bytes())
        && let Some(id) = namespace.sets.find(set.as_bytes())
    {
        namespace.truncate(Some(id), before_ms);
    }
    "ok".to_owned()
}

/// `truncate-namespace:namespace=..[;lut=..]`
pub(super) fn namespace(node: &Node, command: &CommandLine<'_>, now: Now) -> String {
    let namespace = match command.namespace() {
        Ok(namespace) => namespace,
        Err(e) => return error(20, &e.text("namespace")),
    };
    match bound(command, now) {
        Err(answer) => answer,
        Ok(before_ms) => {
            if let Some(namespace) = node.cluster.namespace(namespace.as_bytes()) {
                namespace.truncate(None, before_ms);
            }
            "ok".to_owned()
        }
    }
}

/// The undo commands: what was truncated is gone already, so there is only the parameter to check.
pub(super) fn undo(command: &CommandLine<'_>) -> String {
    match command.namespace() {
        Ok(_) => "ok".to_owned(),
        Err(e) => error(20, &e.text("namespace")),
    }
}

/// Records last updated before this time go, in milliseconds since 2010. `lut` is in nanoseconds since 1970; without it,
/// everything that is there now goes.
fn bound(command: &CommandLine<'_>, now: Now) -> Result<u64, String> {
    // What the client knows to be written has to go, even if this request was received together with one before that.
    let now = now.after_work();
    let text = match command.get("lut") {
        // This millisecond's writes are there, too.
        Err(ParameterError::Missing) => return Ok(now.ms + 1),
        Err(e) => return Err(e.answer("lut")),
        Ok(text) => text,
    };
    // As C reads numbers: no digits are 0, a minus wraps around.
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let number = digits[..end].parse::<u64>().unwrap_or(if end == 0 { 0 } else { u64::MAX });
    let nanoseconds = if negative { number.wrapping_neg() } else { number };
    let before_ms = (nanoseconds / 1_000_000).saturating_sub(clock::EPOCH_2010 * 1000);
    if before_ms == 0 {
        return Err(error(4, "would truncate to 0"));
    }
    if before_ms > now.ms {
        return Err(error(4, "would truncate in the future"));
    }
    Ok(before_ms)
}
