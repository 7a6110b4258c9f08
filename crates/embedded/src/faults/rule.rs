//! A fault: an action, and what it strikes.

use super::target::{RecordTarget, Target};
use super::{RequestFault, RequestKind};
use std::fmt;
use std::time::Duration;

/// Longest delay that can be asked for from outside.
pub(crate) const MAX_DELAY: Duration = Duration::from_secs(600);
/// Longest name of a set, in bytes, as in the server.
const MAX_SET: usize = 63;

/// What a rule does to a request, or to a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultAction {
    /// Wait that long before executing. Other connections are served meanwhile.
    Delay(Duration),
    /// Wait that long between executing and answering.
    AnswerDelay(Duration),
    /// Never execute nor answer, and read nothing more from this connection, until the rules are cleared.
    Stall,
    /// Reset the connection instead of executing.
    DropBefore,
    /// Execute, then reset the connection instead of answering.
    DropAfter,
    /// Send only that many bytes of the answer, then close the connection.
    Truncate(usize),
    /// Send the answer in pieces of one byte.
    Split,
    /// Answer with this result code instead of executing. The only action for rows of batches
    /// ([`RequestKind::BatchRow`]).
    Result(u8),
    /// Execute, and send these bytes in place of the answer.
    Garbage(Vec<u8>),
    /// Reset new connections as soon as they are accepted. Looks at no request.
    Refuse,
    /// Serve nothing on a new connection for that long. The system still completes the connect itself, so a client sees a
    /// connection whose first answer takes its time. Looks at no request.
    ConnectDelay(Duration),
    /// All that is sent this way vanishes on open connections and on new ones, until the rule goes. Then it arrives, as TCP sends it
    /// again. Looks at no request: it also hides that a client has closed a connection.
    BlackHole(Direction),
    /// Answer requests for partitions that the node does not own with result 11 (partition unavailable), instead of
    /// executing them for the owner. Batch rows are answered one by one; other requests are not changed.
    RejectUnowned,
}

/// Which way nothing gets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Direction {
    /// From clients and to them.
    Both,
    /// From clients to the node: requests are not executed. What was executed before is answered.
    Requests,
    /// From the node to clients: requests are executed, and their answers do not arrive.
    Answers,
    /// What opens a connection: a client's connect hangs, until the rule goes and its system tries again (after 1, 3, 7, .. seconds).
    /// Open connections are served. Only on Linux; it is not counted how many it strikes.
    Connects,
}

impl FaultAction {
    /// The action of this name; `None`: there is none, or it has a value.
    pub(crate) fn without_value(name: &str) -> Option<Self> {
        Some(match name {
            "stall" => Self::Stall,
            "drop-before" => Self::DropBefore,
            "drop-after" => Self::DropAfter,
            "split" => Self::Split,
            "refuse" => Self::Refuse,
            "black-hole" => Self::BlackHole(Direction::Both),
            "black-hole-requests" => Self::BlackHole(Direction::Requests),
            "black-hole-answers" => Self::BlackHole(Direction::Answers),
            "black-hole-connects" => Self::BlackHole(Direction::Connects),
            "reject-unowned" => Self::RejectUnowned,
            _ => return None,
        })
    }

    /// Whether it is about single requests, and not about connections or partitions.
    fn strikes_requests(&self) -> bool {
        !matches!(self, Self::Refuse | Self::ConnectDelay(_) | Self::BlackHole(_) | Self::RejectUnowned)
    }

    /// Adds what the action does to what is to happen; of two actions of one kind the later one wins.
    pub(super) fn apply(&self, fault: &mut RequestFault) {
        match self {
            Self::Delay(delay) => fault.delay = Some(*delay),
            Self::AnswerDelay(delay) => fault.answer_delay = Some(*delay),
            Self::Stall => fault.stall = true,
            Self::DropBefore => fault.drop_before = true,
            Self::DropAfter => fault.drop_after = true,
            Self::Truncate(bytes) => fault.truncate = Some(*bytes),
            Self::Split => fault.split = true,
            Self::Result(code) => fault.result_code = Some(*code),
            Self::Garbage(bytes) => fault.garbage = Some(bytes.clone()),
            Self::Refuse | Self::ConnectDelay(_) | Self::BlackHole(_) | Self::RejectUnowned => {}
        }
    }
}

/// A fault: an action, and which requests it strikes. All conditions have to hold.
///
/// ```
/// use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
/// use std::time::Duration;
///
/// // The third to seventh write of the node is executed and never answered.
/// let lost = FaultRule::new(FaultAction::DropAfter).on(RequestKind::Write).skip(2).times(5);
/// // One request in ten takes 50 ms longer.
/// let slow = FaultRule::new(FaultAction::Delay(Duration::from_millis(50))).probability(0.1);
/// // Rows of batches that are about the set "users" are answered with "key busy".
/// let busy = FaultRule::new(FaultAction::Result(14)).on(RequestKind::BatchRow).set("users");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct FaultRule {
    pub(super) action: FaultAction,
    /// Empty: all kinds of requests, but no rows.
    kinds: Vec<RequestKind>,
    set: Option<Vec<u8>>,
    key_prefix: Option<Vec<u8>>,
    digest: Option<[u8; 20]>,
    connection: Option<u64>,
    pub(super) skip: u64,
    pub(super) times: Option<u64>,
    pub(super) probability: f64,
}

impl FaultRule {
    /// A rule that strikes every request.
    pub const fn new(action: FaultAction) -> Self {
        Self {
            action,
            kinds: Vec::new(),
            set: None,
            key_prefix: None,
            digest: None,
            connection: None,
            skip: 0,
            times: None,
            probability: 1.0,
        }
    }

    /// Restricts the rule to requests of this kind; more calls add more kinds.
    pub fn on(mut self, kind: RequestKind) -> Self {
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
        self
    }

    /// Restricts the rule to requests about records of this set; a batch is struck if any of its rows is about one. An empty name
    /// is that of records without a set. Requests that the client has compressed have no set for this.
    pub fn set(mut self, set: impl Into<Vec<u8>>) -> Self {
        self.set = Some(set.into());
        self
    }

    /// Restricts the rule to requests whose user key is a string that begins like this. Only requests that carry the key have one
    /// (`send_key`): the others name a record by its digest.
    pub fn key_prefix(mut self, prefix: impl Into<Vec<u8>>) -> Self {
        self.key_prefix = Some(prefix.into());
        self
    }

    /// Restricts the rule to requests about the record with this digest.
    pub const fn digest(mut self, digest: [u8; 20]) -> Self {
        self.digest = Some(digest);
        self
    }

    /// Restricts the rule to one connection of each node, by its number: 1 is the first one that the node has accepted since the
    /// cluster was started. Those that were refused count, too. The program's `--log info` shows the numbers.
    pub const fn connection(mut self, number: u64) -> Self {
        self.connection = Some(number);
        self
    }

    /// Lets the first `requests` (that the rule is about) pass.
    pub const fn skip(mut self, requests: u64) -> Self {
        self.skip = requests;
        self
    }

    /// Ends the rule when it has struck that often. Default: never.
    pub const fn times(mut self, times: u64) -> Self {
        self.times = Some(times);
        self
    }

    /// Strikes with this probability, 0 to 1 (other values are brought there). Default 1. What is drawn depends on
    /// [`Builder::seed`](crate::Builder::seed).
    pub fn probability(mut self, probability: f64) -> Self {
        self.probability = if probability.is_nan() { 0.0 } else { probability.clamp(0.0, 1.0) };
        self
    }

    /// Why the rule makes no sense; its text says what does.
    pub(crate) fn check(&self) -> Result<(), String> {
        let about_records = self.set.is_some() || self.key_prefix.is_some() || self.digest.is_some();
        let rows = self.kinds.contains(&RequestKind::BatchRow);
        if rows && !matches!(self.action, FaultAction::Result(_)) {
            return Err("rows of batches can only be answered with a result code: use the action \"result\"".to_owned());
        }
        if rows && self.kinds.len() > 1 {
            return Err("a rule is about rows of batches or about requests, not both: install two".to_owned());
        }
        match &self.action {
            FaultAction::Refuse | FaultAction::ConnectDelay(_) | FaultAction::BlackHole(_)
                if about_records || !self.kinds.is_empty() =>
            {
                return Err(format!("\"{self}\" is about connections: it cannot be restricted to requests"));
            }
            FaultAction::BlackHole(_) if self.skip > 0 || self.times.is_some() || self.probability < 1.0 => {
                return Err(
                    "a black hole holds until it is taken back: skip, times and probability do not apply".to_owned()
                );
            }
            FaultAction::BlackHole(Direction::Connects) if self.connection.is_some() => {
                return Err("\"black-hole-connects\" is about all connects: they have no numbers yet".to_owned());
            }
            FaultAction::BlackHole(Direction::Connects) if !cfg!(target_os = "linux") => {
                return Err("\"black-hole-connects\" works on Linux only".to_owned());
            }
            FaultAction::RejectUnowned if about_records || self.connection.is_some() => {
                return Err("\"reject-unowned\" can only be restricted to kinds of requests".to_owned());
            }
            _ => {}
        }
        if self.set.as_ref().is_some_and(|set| set.len() > MAX_SET) {
            return Err(format!("the name of a set has at most {MAX_SET} bytes"));
        }
        if self.connection == Some(0) {
            return Err("connections are numbered from 1".to_owned());
        }
        Ok(())
    }

    /// Whether the rule is about this request, as far as the request itself tells.
    pub(super) fn is_about(&self, target: &Target<'_>) -> bool {
        self.action.strikes_requests()
            && self.is_about_kind(target.kind)
            && self.is_about_connection(target.connection)
            && (!self.names_records() || target.any_record(|record| self.is_about_record(&record)))
    }

    /// Whether the rule is about this row of a batch.
    pub(super) fn is_about_row(&self, row: &RecordTarget<'_>, connection: u64) -> bool {
        self.kinds.contains(&RequestKind::BatchRow) && self.is_about_connection(connection) && self.is_about_record(row)
    }

    pub(super) fn is_about_kind(&self, kind: RequestKind) -> bool {
        kind != RequestKind::Control && (self.kinds.is_empty() || self.kinds.contains(&kind))
    }

    pub(super) fn is_about_connection(&self, number: u64) -> bool {
        self.connection.is_none_or(|only| only == number)
    }

    fn names_records(&self) -> bool {
        self.set.is_some() || self.key_prefix.is_some() || self.digest.is_some()
    }

    fn is_about_record(&self, record: &RecordTarget<'_>) -> bool {
        self.set.as_ref().is_none_or(|set| record.set.unwrap_or_default() == set)
            && self.key_prefix.as_ref().is_none_or(|prefix| record.has_key_prefix(prefix))
            && self.digest.as_ref().is_none_or(|digest| record.digest == Some(&digest[..]))
    }

    /// What the rule is about beside its action, as the admin command writes it.
    fn write_conditions(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.kinds.is_empty() {
            let names: Vec<_> = self.kinds.iter().map(|kind| kind.name()).collect();
            write!(f, ";on={}", names.join(","))?;
        }
        if let Some(set) = &self.set {
            write!(f, ";set={}", String::from_utf8_lossy(set))?;
        }
        if let Some(prefix) = &self.key_prefix {
            write!(f, ";key-prefix={}", String::from_utf8_lossy(prefix))?;
        }
        if let Some(digest) = &self.digest {
            f.write_str(";digest=")?;
            digest.iter().try_for_each(|b| write!(f, "{b:02x}"))?;
        }
        if let Some(number) = self.connection {
            write!(f, ";connection={number}")?;
        }
        if self.skip > 0 {
            write!(f, ";skip={}", self.skip)?;
        }
        if let Some(times) = self.times {
            write!(f, ";times={times}")?;
        }
        if self.probability < 1.0 {
            write!(f, ";probability={}", self.probability)?;
        }
        Ok(())
    }
}

impl fmt::Display for FaultRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |d: &Duration| d.as_millis();
        match &self.action {
            FaultAction::Delay(d) => write!(f, "delay={}", ms(d)),
            FaultAction::AnswerDelay(d) => write!(f, "answer-delay={}", ms(d)),
            FaultAction::ConnectDelay(d) => write!(f, "connect-delay={}", ms(d)),
            FaultAction::Stall => f.write_str("stall"),
            FaultAction::DropBefore => f.write_str("drop-before"),
            FaultAction::DropAfter => f.write_str("drop-after"),
            FaultAction::Truncate(n) => write!(f, "truncate={n}"),
            FaultAction::Split => f.write_str("split"),
            FaultAction::Result(code) => write!(f, "result={code}"),
            FaultAction::Garbage(bytes) => {
                f.write_str("garbage=")?;
                bytes.iter().try_for_each(|b| write!(f, "{b:02x}"))
            }
            FaultAction::Refuse => f.write_str("refuse"),
            FaultAction::BlackHole(Direction::Both) => f.write_str("black-hole"),
            FaultAction::BlackHole(Direction::Requests) => f.write_str("black-hole-requests"),
            FaultAction::BlackHole(Direction::Answers) => f.write_str("black-hole-answers"),
            FaultAction::BlackHole(Direction::Connects) => f.write_str("black-hole-connects"),
            FaultAction::RejectUnowned => f.write_str("reject-unowned"),
        }?;
        self.write_conditions(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_make_no_sense_say_why() {
        let rule = FaultRule::new;
        let row = RequestKind::BatchRow;
        for (wrong, why) in [
            (rule(FaultAction::Stall).on(row), "rows of batches can only be answered"),
            (rule(FaultAction::Result(9)).on(row).on(RequestKind::Read), "not both"),
            (rule(FaultAction::Refuse).on(RequestKind::Read), "\"refuse;on=read\" is about connections"),
            (rule(FaultAction::ConnectDelay(Duration::ZERO)).set("a"), "is about connections"),
            (rule(FaultAction::BlackHole(Direction::Both)).times(1), "do not apply"),
            (rule(FaultAction::BlackHole(Direction::Connects)).connection(1), "about all connects"),
            (rule(FaultAction::RejectUnowned).digest([0; 20]), "kinds of requests"),
            (rule(FaultAction::Stall).set([b'x'; 64]), "at most 63 bytes"),
            (rule(FaultAction::Stall).connection(0), "from 1"),
        ] {
            let said = wrong.check().unwrap_err();
            assert!(said.contains(why), "{wrong}: {said}");
        }
        for fine in [
            rule(FaultAction::Result(9)).on(row).set("").key_prefix("a").digest([1; 20]).connection(3).skip(1).times(2),
            rule(FaultAction::Refuse).times(3).probability(0.5).connection(2),
            rule(FaultAction::BlackHole(Direction::Answers)).connection(2),
            rule(FaultAction::RejectUnowned).on(RequestKind::Read).times(1),
        ] {
            assert_eq!(fine.check(), Ok(()), "{fine}");
        }
    }
}
