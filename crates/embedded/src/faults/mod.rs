//! Faults on demand, per node.
//!
//! Where the hooks fire (all in `service`):
//! * **accept**: `Faults::refuses_connections` after a connection was accepted; `true` resets it at once.
//! * **request**: `Faults::next_request` once per whole frame, before it is executed, in the order of the connection. The
//!   [`RequestFault`] that comes back says what happens to this request; its members are applied in this order:
//!   `stall`, `delay`, `drop_before`, then `result_code` (instead of executing) or the execution, then
//!   `drop_after`, `answer_delay`, `garbage`, `truncate`, `split`.
//!
//! When no rule is installed, the hooks cost one relaxed atomic load.

mod command;
mod rules;

#[cfg(feature = "control")]
pub(crate) use command::hex;
pub(crate) use command::{handle as handle_command, targets};
#[cfg(feature = "control")]
pub(crate) use rules::MAX_DELAY;
pub use rules::{FaultAction, FaultRule, RuleId};

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Kinds of requests that a rule can single out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RequestKind {
    /// Info text.
    Info,
    /// Login and user administration.
    Admin,
    /// Single-record read.
    Read,
    /// Single-record write, delete, touch, operate with writes.
    Write,
    /// Batch.
    Batch,
    /// Query over a primary or secondary index, and what is like it.
    Query,
    /// Anything else.
    Other,
    /// The admin command for faults. No rule strikes it, so that rules can always be taken back.
    Control,
}

impl RequestKind {
    /// The name that the admin command uses.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Admin => "admin",
            Self::Read => "read",
            Self::Write => "write",
            Self::Batch => "batch",
            Self::Query => "query",
            Self::Other => "other",
            Self::Control => "control",
        }
    }

    /// The kind with this name; the admin command itself is none.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Info, Self::Admin, Self::Read, Self::Write, Self::Batch, Self::Query, Self::Other]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// What is to happen to one request. The default is: nothing unusual.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestFault {
    /// Never go on with this connection (nothing is executed, nothing answered) until the client closes it or the
    /// rules of the node are cleared.
    pub stall: bool,
    /// Wait before executing. Other connections are served meanwhile.
    pub delay: Option<Duration>,
    /// Reset the connection without executing.
    pub drop_before: bool,
    /// Do not execute; answer with this result code.
    pub result_code: Option<u8>,
    /// Reset the connection after executing, without an answer.
    pub drop_after: bool,
    /// Wait between executing and answering.
    pub answer_delay: Option<Duration>,
    /// Send these bytes in place of the answer.
    pub garbage: Option<Vec<u8>>,
    /// Send only that many bytes of the answer, then close the connection.
    pub truncate: Option<usize>,
    /// Send the answer in pieces of one byte.
    pub split: bool,
}

impl fmt::Display for RequestFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stall, delay, drop_before, result_code, drop_after, answer_delay, garbage, truncate, split } = self;
        let parts = [
            stall.then(|| "stall".to_owned()),
            delay.map(|time| format!("delay of {time:?}")),
            drop_before.then(|| "drop before".to_owned()),
            result_code.map(|code| format!("result {code}")),
            drop_after.then(|| "drop after".to_owned()),
            answer_delay.map(|time| format!("answer delay of {time:?}")),
            garbage.as_ref().map(|bytes| format!("{} bytes of garbage", bytes.len())),
            truncate.map(|bytes| format!("truncated to {bytes} bytes")),
            split.then(|| "split".to_owned()),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

/// The faults of one node.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    armed: AtomicBool,
    /// How often the rules were cleared: ends stalls. Whoever clears the rules counts it up.
    clears: AtomicU64,
    rules: rules::Rules,
}

impl Faults {
    /// Whether any rule is installed: the only thing that the normal path looks at.
    #[inline]
    pub(crate) fn armed(&self) -> bool {
        self.armed.load(Ordering::Relaxed)
    }

    /// How often the rules of this node were cleared. A stalled connection goes on when this changes.
    pub(crate) fn clears(&self) -> u64 {
        self.clears.load(Ordering::Relaxed)
    }

    /// What to do with the next request of this kind (counts down rules that apply a limited number of times).
    pub(crate) fn next_request(&self, kind: RequestKind) -> Option<RequestFault> {
        self.armed().then(|| self.rules.next_request(kind)).flatten()
    }

    /// Whether a connection that was just accepted is to be reset.
    pub(crate) fn refuses_connections(&self) -> bool {
        self.armed() && self.rules.refuses_connections()
    }

    /// Whether a request of this kind, for a partition that the node does not own, is to be answered with "partition
    /// unavailable".
    pub(crate) fn rejects_unowned(&self, kind: RequestKind) -> bool {
        self.armed() && self.rules.rejects_unowned(kind)
    }

    /// Adds a rule; `None` if there are too many.
    pub(crate) fn install(&self, rule: FaultRule) -> Option<RuleId> {
        let id = self.rules.install(rule)?;
        self.armed.store(true, Ordering::Relaxed);
        Some(id)
    }

    /// Takes a rule away; `false` if there is none with this id. Stalled connections go on when the last one goes.
    pub(crate) fn remove(&self, id: RuleId) -> bool {
        match self.rules.remove(id) {
            (removed, 0) => {
                self.clear();
                removed
            }
            (removed, _) => removed,
        }
    }

    /// How many requests a rule has struck; `None` if there is none with this id.
    pub(crate) fn struck(&self, id: RuleId) -> Option<u64> {
        self.rules.struck(id)
    }

    /// Removes all rules.
    pub(crate) fn clear(&self) {
        self.armed.store(false, Ordering::Relaxed);
        self.rules.clear();
        self.clears.fetch_add(1, Ordering::Relaxed);
    }

    /// The rules, as the admin command shows them.
    pub(crate) fn list(&self) -> Vec<String> {
        self.rules.list()
    }
}
