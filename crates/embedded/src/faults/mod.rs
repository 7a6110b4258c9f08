//! Faults on demand, per node.
//!
//! Where the hooks fire (all in `service`):
//! * **connect**: `Faults::loses_connects` says whether a listener lets connects vanish.
//! * **accept**: `Faults::next_connection` after a connection was accepted: it is reset at once, or served later.
//! * **turn of a connection**: `Faults::black_hole` says whether requests are taken in, and answers sent.
//! * **request**: `Faults::next_request` once per whole frame, before it is executed, in the order of the connection. The
//!   [`RequestFault`] that comes back says what happens to this request; its members are applied in this order:
//!   `stall`, `delay`, `drop_before`, then `result_code` (instead of executing) or the execution, then
//!   `drop_after`, `answer_delay`, `garbage`, `truncate`, `split`.
//! * **row of a batch**: `Faults::next_row`, which gives a result code in place of executing the row.
//! * **answer**: `Faults::count` when a request has been answered; a schedule goes on when there were enough.
//!
//! When no rule is installed, the hooks cost one relaxed atomic load.

mod command;
mod rule;
mod rules;
mod target;
mod watch;

#[cfg(feature = "control")]
pub(crate) use command::{digest, hex};
pub(crate) use command::{handle as handle_command, targets};
#[cfg(feature = "control")]
pub(crate) use rule::MAX_DELAY;
pub use rule::{Direction, FaultAction, FaultRule};
pub use rules::RuleId;
pub(crate) use rules::{AcceptFault, BlackHole};
pub(crate) use target::{RecordTarget, Target};
pub(crate) use watch::Watch;

use crate::random::Seed;
use parking_lot::Mutex;

use std::fmt;
use std::sync::Arc;
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
    /// A row of a batch. Only result codes strike rows, and only those of rules that are [`on`](FaultRule::on) them.
    BatchRow,
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
            Self::BatchRow => "batch-row",
            Self::Query => "query",
            Self::Other => "other",
            Self::Control => "control",
        }
    }

    /// The kind with this name; the admin command itself is none.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Info, Self::Admin, Self::Read, Self::Write, Self::Batch, Self::BatchRow, Self::Query, Self::Other]
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

/// A thread that is told of changes.
struct Subscriber {
    number: usize,
    changed: Box<dyn Fn() + Send>,
}

impl fmt::Debug for Subscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number.fmt(f)
    }
}

/// The faults of one node.
#[derive(Debug)]
pub(crate) struct Faults {
    armed: AtomicBool,
    /// How often the rules were cleared: ends stalls. Whoever clears the rules counts it up.
    clears: AtomicU64,
    rules: rules::Rules,
    watches: Mutex<Vec<Arc<Watch>>>,
    /// Who is told when rules change.
    told: Mutex<Vec<Subscriber>>,
    /// Connections that were accepted.
    connections: AtomicU64,
}

impl Faults {
    /// None so far.
    pub(crate) fn new(seed: Seed) -> Self {
        Self {
            armed: AtomicBool::new(false),
            clears: AtomicU64::new(0),
            rules: rules::Rules::new(seed),
            watches: Mutex::default(),
            told: Mutex::default(),
            connections: AtomicU64::new(0),
        }
    }

    /// Whether any rule is installed, or a schedule counts: the only thing that the normal path looks at.
    #[inline]
    pub(crate) fn armed(&self) -> bool {
        self.armed.load(Ordering::Relaxed)
    }

    /// How often the rules of this node were cleared. A stalled connection goes on when this changes.
    pub(crate) fn clears(&self) -> u64 {
        self.clears.load(Ordering::Relaxed)
    }

    /// What to do with the next request (counts down rules that apply a limited number of times).
    pub(crate) fn next_request(&self, target: &Target<'_>) -> Option<RequestFault> {
        self.armed().then(|| self.rules.next_request(target)).flatten()
    }

    /// The result code that the next row of a batch gets in place of being executed.
    pub(crate) fn next_row(&self, row: &RecordTarget<'_>, connection: u64) -> Option<u8> {
        self.armed().then(|| self.rules.next_row(row, connection)).flatten()
    }

    /// The number of a connection that was just accepted, and what happens to it.
    pub(crate) fn next_connection(&self) -> (u64, AcceptFault) {
        let number = self.connections.fetch_add(1, Ordering::Relaxed) + 1;
        let accept_fault = if self.armed() { self.rules.next_connection(number) } else { AcceptFault::default() };
        (number, accept_fault)
    }

    /// What does not get through on a connection now. `before`: what did not when it was last asked.
    #[cold]
    pub(crate) fn black_hole(&self, connection: u64, before: BlackHole) -> BlackHole {
        self.rules.black_hole(connection, before == BlackHole::default())
    }

    /// Whether a request of this kind, for a partition that the node does not own, is to be answered with "partition
    /// unavailable".
    pub(crate) fn rejects_unowned(&self, kind: RequestKind) -> bool {
        self.armed() && self.rules.rejects_unowned(kind)
    }

    /// Adds a rule.
    ///
    /// # Errors
    /// Why not: it makes no sense, or there are too many.
    pub(crate) fn install(&self, rule: FaultRule) -> Result<RuleId, String> {
        rule.check()?;
        // With this list locked, as by `rearm`.
        let _watches = self.watches.lock();
        let id = self.rules.install(rule).ok_or("the node has too many fault rules")?;
        self.armed.store(true, Ordering::Relaxed);
        self.tell_all();
        Ok(id)
    }

    /// Has a thread told of changes. It has a number of its own, and is listed once.
    pub(crate) fn tell(&self, number: usize, changed: impl Fn() + Send + 'static) {
        let mut told = self.told.lock();
        if !told.iter().any(|told| told.number == number) {
            told.push(Subscriber { number, changed: Box::new(changed) });
        }
    }

    fn tell_all(&self) {
        self.told.lock().iter().for_each(|told| (told.changed)());
    }

    /// Whether connects to the node vanish.
    pub(crate) fn loses_connects(&self) -> bool {
        self.armed() && self.rules.lose_connects()
    }

    /// Takes a rule away; `false` if there is none with this id. Stalled connections go on when the last one goes.
    pub(crate) fn remove(&self, id: RuleId) -> bool {
        let (removed, left) = self.rules.remove(id);
        if left == 0 {
            self.clear();
        } else {
            self.tell_all();
        }
        removed
    }

    /// How many requests a rule has struck; `None` if there is none with this id.
    pub(crate) fn struck(&self, id: RuleId) -> Option<u64> {
        self.rules.struck(id)
    }

    /// Removes all rules. Schedules go on.
    pub(crate) fn clear(&self) {
        self.rules.clear();
        self.clears.fetch_add(1, Ordering::Relaxed);
        self.rearm();
        self.tell_all();
    }

    /// Lets a schedule count requests from now on.
    pub(crate) fn watch(&self, watch: Arc<Watch>) {
        let mut watches = self.watches.lock();
        watches.push(watch);
        self.armed.store(true, Ordering::Relaxed);
    }

    /// Ends that.
    pub(crate) fn unwatch(&self, watch: &Arc<Watch>) {
        self.watches.lock().retain(|other| !Arc::ptr_eq(other, watch));
        self.rearm();
    }

    fn rearm(&self) {
        // With the list locked, so that two who end something agree.
        let watches = self.watches.lock();
        self.armed.store(!watches.is_empty() || !self.rules.is_empty(), Ordering::Relaxed);
    }

    /// Counts a request that was answered; gives what has waited for it.
    pub(crate) fn count(&self, kind: RequestKind) -> Vec<Arc<Watch>> {
        self.watches.lock().iter().filter(|watch| watch.counts(kind)).map(Arc::clone).collect()
    }

    /// The rules, as the admin command shows them.
    pub(crate) fn list(&self) -> Vec<String> {
        self.rules.list()
    }
}
