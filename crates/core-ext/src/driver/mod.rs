//! Drivers: what moves a lane's bytes. The lane decides, a driver does.
//!
//! * `tasks`: tokio tasks on the runtime of the callers, one per connection (async clients)
//! * `blocking`: the calling thread itself (sync clients)
//! * [`host`]: a foreign event loop that says "readable", "writable", "tick"
//!
//! Futures reach the first and the last of them through `lane_ref`. All three own their sockets; plain or TLS is decided by
//! a `layer` that does no I/O of its own.

pub(crate) mod blocking;
pub(crate) mod fork;
pub mod host;
pub(crate) mod lane_ref;
pub(crate) mod layer;
pub(crate) mod low_water_mark;
pub(crate) mod slots;
pub(crate) mod tasks;
pub(crate) mod thread;
#[cfg(feature = "tls")]
pub(crate) mod tls;

use std::borrow::Cow;

use crate::lane::FailureKind;
use crate::logging::event;

/// Logs that a connection was closed, and why.
#[cold]
pub(crate) fn log_closed(node: &str, reason: &str) {
    event!(debug, "connection closed", node = node, reason = reason);
}

/// Why a connection is closed, in words for the log.
pub(crate) fn close_reason(why: &FailureKind) -> Cow<'static, str> {
    match why {
        FailureKind::ConnectionLost(kind) => format!("lost: {kind}").into(),
        FailureKind::Garbage(error) => format!("not the protocol: {error}").into(),
        FailureKind::Closed => "closed by the client".into(),
        FailureKind::NodeGone => "the node has left the cluster".into(),
        FailureKind::Expired => "an answer that nobody waits for may still come".into(),
        FailureKind::Interrupted => "the call was interrupted".into(),
        other => format!("{other:?}").into(),
    }
}

/// Empties a buffer that is kept for its next use; what it has beyond `keep` bytes is given back.
pub(crate) fn empty(buffer: &mut Vec<u8>, keep: usize) {
    // Only an empty one shrinks that far.
    buffer.clear();
    buffer.shrink_to(keep);
}
