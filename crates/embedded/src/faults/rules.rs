//! The rules behind [`Faults`](super::Faults): what is to happen, to which requests, how often.

use super::{RequestFault, RequestKind};
use parking_lot::Mutex;
use std::fmt;
use std::time::Duration;

/// Most rules of one node.
const MAX_RULES: usize = 64;

/// Longest delay that can be asked for from outside.
pub(crate) const MAX_DELAY: Duration = Duration::from_secs(600);

/// What a rule does to a request.
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
    /// Answer with this result code instead of executing.
    Result(u8),
    /// Execute, and send these bytes in place of the answer.
    Garbage(Vec<u8>),
    /// Reset new connections as soon as they are accepted. Looks at no request.
    Refuse,
    /// Answer requests for partitions that the node does not own with result 11 (partition unavailable), instead of
    /// executing them for the owner. Batch rows are answered one by one; other requests are not changed.
    RejectUnowned,
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
            "reject-unowned" => Self::RejectUnowned,
            _ => return None,
        })
    }
}

/// A fault: an action, and which requests it strikes.
///
/// ```
/// use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
/// use std::time::Duration;
///
/// // The third to seventh write of the node is executed and never answered.
/// let lost = FaultRule::new(FaultAction::DropAfter).on(RequestKind::Write).skip(2).times(5);
/// // One request in ten takes 50 ms longer.
/// let slow = FaultRule::new(FaultAction::Delay(Duration::from_millis(50))).probability(0.1);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct FaultRule {
    action: FaultAction,
    /// Empty: all kinds.
    kinds: Vec<RequestKind>,
    skip: u64,
    times: Option<u64>,
    probability: f64,
}

impl FaultRule {
    /// A rule that strikes every request.
    pub const fn new(action: FaultAction) -> Self {
        Self { action, kinds: Vec::new(), skip: 0, times: None, probability: 1.0 }
    }

    /// Restricts the rule to requests of this kind; more calls add more kinds.
    pub fn on(mut self, kind: RequestKind) -> Self {
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
        self
    }

    /// Lets the first `requests` (of the rule's kinds) pass.
    pub const fn skip(mut self, requests: u64) -> Self {
        self.skip = requests;
        self
    }

    /// Ends the rule when it has struck that often. Default: never.
    pub const fn times(mut self, times: u64) -> Self {
        self.times = Some(times);
        self
    }

    /// Strikes with this probability, 0 to 1 (other values are brought there). Default 1.
    pub fn probability(mut self, probability: f64) -> Self {
        self.probability = if probability.is_nan() { 0.0 } else { probability.clamp(0.0, 1.0) };
        self
    }

    fn looks_at(&self, kind: RequestKind) -> bool {
        kind != RequestKind::Control && (self.kinds.is_empty() || self.kinds.contains(&kind))
    }

    /// What the rule is about beside its action, as the admin command writes it.
    fn write_conditions(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.kinds.is_empty() {
            let names: Vec<_> = self.kinds.iter().map(|kind| kind.name()).collect();
            write!(f, ";on={}", names.join(","))?;
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
            FaultAction::RejectUnowned => f.write_str("reject-unowned"),
        }?;
        self.write_conditions(f)
    }
}

/// Names a rule of one node, to remove it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId(pub(crate) u64);

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Installed rules of one node.
#[derive(Debug, Default)]
pub(super) struct Rules {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    rules: Vec<Installed>,
    last_id: u64,
    random: u64,
}

#[derive(Debug)]
struct Installed {
    id: RuleId,
    rule: FaultRule,
    /// Requests that the rule looked at.
    seen: u64,
    /// Requests that it struck.
    struck: u64,
}

impl Installed {
    /// Counts a request that the rule looks at, and says whether it strikes.
    fn strikes(&mut self, random: &mut u64) -> bool {
        self.seen += 1;
        let over = self.rule.times.is_some_and(|times| self.struck >= times);
        if over || self.seen <= self.rule.skip || next_random(random) >= self.rule.probability {
            return false;
        }
        self.struck += 1;
        true
    }
}

/// xorshift64*: a number from 0 to below 1. The same seed every time, so that a test can be repeated.
fn next_random(state: &mut u64) -> f64 {
    if *state == 0 {
        *state = 0x9e37_79b9_7f4a_7c15;
    }
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
}

impl Rules {
    /// Adds a rule; `None` if there are too many.
    pub(super) fn install(&self, rule: FaultRule) -> Option<RuleId> {
        let mut inner = self.inner.lock();
        if inner.rules.len() >= MAX_RULES {
            return None;
        }
        inner.last_id += 1;
        let id = RuleId(inner.last_id);
        inner.rules.push(Installed { id, rule, seen: 0, struck: 0 });
        Some(id)
    }

    /// Takes a rule away; says whether there was one, and how many are left.
    pub(super) fn remove(&self, id: RuleId) -> (bool, usize) {
        let mut inner = self.inner.lock();
        let before = inner.rules.len();
        inner.rules.retain(|installed| installed.id != id);
        (inner.rules.len() < before, inner.rules.len())
    }

    pub(super) fn clear(&self) {
        self.inner.lock().rules.clear();
    }

    /// How many requests a rule has struck.
    pub(super) fn struck(&self, id: RuleId) -> Option<u64> {
        self.inner.lock().rules.iter().find(|installed| installed.id == id).map(|installed| installed.struck)
    }

    /// The rules as text: `id=1;delay=50;on=read;struck=7`.
    pub(super) fn list(&self) -> Vec<String> {
        let inner = self.inner.lock();
        inner.rules.iter().map(|i| format!("id={};{};struck={}", i.id, i.rule, i.struck)).collect()
    }

    pub(super) fn next_request(&self, kind: RequestKind) -> Option<RequestFault> {
        let mut inner = self.inner.lock();
        let Inner { rules, random, .. } = &mut *inner;
        let mut fault: Option<RequestFault> = None;
        for installed in rules {
            let other = matches!(installed.rule.action, FaultAction::Refuse | FaultAction::RejectUnowned);
            if !other && installed.rule.looks_at(kind) && installed.strikes(random) {
                apply(&installed.rule.action, fault.get_or_insert_default());
            }
        }
        fault
    }

    pub(super) fn refuses_connections(&self) -> bool {
        self.any_strikes(|rule| rule.action == FaultAction::Refuse)
    }

    pub(super) fn rejects_unowned(&self, kind: RequestKind) -> bool {
        self.any_strikes(|rule| rule.action == FaultAction::RejectUnowned && rule.looks_at(kind))
    }

    fn any_strikes(&self, looks: impl Fn(&FaultRule) -> bool) -> bool {
        let mut inner = self.inner.lock();
        let Inner { rules, random, .. } = &mut *inner;
        // No short cut: every rule that looks has to count.
        rules.iter_mut().filter(|i| looks(&i.rule)).fold(false, |any, i| i.strikes(random) | any)
    }
}

/// Adds what an action does to what is to happen; of two actions of one kind the later rule wins.
fn apply(action: &FaultAction, fault: &mut RequestFault) {
    match action {
        FaultAction::Delay(delay) => fault.delay = Some(*delay),
        FaultAction::AnswerDelay(delay) => fault.answer_delay = Some(*delay),
        FaultAction::Stall => fault.stall = true,
        FaultAction::DropBefore => fault.drop_before = true,
        FaultAction::DropAfter => fault.drop_after = true,
        FaultAction::Truncate(bytes) => fault.truncate = Some(*bytes),
        FaultAction::Split => fault.split = true,
        FaultAction::Result(code) => fault.result_code = Some(*code),
        FaultAction::Garbage(bytes) => fault.garbage = Some(bytes.clone()),
        FaultAction::Refuse | FaultAction::RejectUnowned => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_strike_their_kinds_as_often_as_they_say() {
        let rules = Rules::default();
        rules.install(FaultRule::new(FaultAction::DropAfter).on(RequestKind::Write).skip(1).times(2)).unwrap();
        rules.install(FaultRule::new(FaultAction::Split)).unwrap();
        let struck: Vec<bool> = (0..5)
            .map(|_| {
                let read = rules.next_request(RequestKind::Read).unwrap();
                assert!(read.split && !read.drop_after);
                rules.next_request(RequestKind::Write).unwrap().drop_after
            })
            .collect();
        assert_eq!(struck, [false, true, true, false, false]);
        assert_eq!(rules.next_request(RequestKind::Control), None);
        assert!(!rules.refuses_connections());
        assert_eq!(rules.list()[0], "id=1;drop-after;on=write;skip=1;times=2;struck=2");
        assert_eq!(rules.remove(RuleId(2)), (true, 1));
        assert_eq!(rules.next_request(RequestKind::Read), None);
    }

    #[test]
    fn probabilities_hold_and_rules_are_bounded() {
        let rules = Rules::default();
        for _ in 0..MAX_RULES {
            rules.install(FaultRule::new(FaultAction::Refuse).probability(0.0)).unwrap();
        }
        assert_eq!(rules.install(FaultRule::new(FaultAction::Refuse)), None);
        assert!(!rules.refuses_connections());
        rules.clear();
        rules.install(FaultRule::new(FaultAction::Result(9)).probability(0.25)).unwrap();
        let hits = (0..4000).filter(|_| rules.next_request(RequestKind::Read).is_some()).count();
        assert!((800..1200).contains(&hits), "{hits}");
    }
}
