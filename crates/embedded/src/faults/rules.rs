//! The rules behind [`Faults`](super::Faults) that are installed on a node, and what they strike.

use super::rule::{Direction, FaultAction, FaultRule};
use super::target::{RecordTarget, Target};
use super::{RequestFault, RequestKind};
use crate::random::{Seed, fraction};
use parking_lot::Mutex;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt;
use std::time::Duration;

/// Most rules of one node.
const MAX_RULES: usize = 64;

/// Names a rule of one node, to remove it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId(pub(crate) u64);

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What happens to a connection that a node has accepted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct AcceptFault {
    /// It is reset.
    pub(crate) refused: bool,
    /// It is served after that.
    pub(crate) delay: Option<Duration>,
}

/// What does not get through on a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct BlackHole {
    pub(crate) requests: bool,
    pub(crate) answers: bool,
}

/// Installed rules of one node.
#[derive(Debug)]
pub(super) struct Rules {
    seed: Seed,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    rules: Vec<Installed>,
    last_id: u64,
}

#[derive(Debug)]
struct Installed {
    id: RuleId,
    rule: FaultRule,
    /// Requests that the rule is about.
    seen: u64,
    /// Requests that it struck.
    struck: u64,
    /// Of its own, so that rules do not change what others draw.
    generator: Xoshiro256PlusPlus,
}

impl Installed {
    /// Counts a request that the rule is about, and says whether it strikes.
    fn strikes(&mut self) -> bool {
        self.seen += 1;
        let over = self.rule.times.is_some_and(|times| self.struck >= times);
        if over || self.seen <= self.rule.skip || fraction(&mut self.generator) >= self.rule.probability {
            return false;
        }
        self.struck += 1;
        true
    }
}

impl Rules {
    pub(super) fn new(seed: Seed) -> Self {
        Self { seed, inner: Mutex::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.inner.lock().rules.is_empty()
    }

    /// Adds a rule; `None` if there are too many.
    pub(super) fn install(&self, rule: FaultRule) -> Option<RuleId> {
        let mut inner = self.inner.lock();
        if inner.rules.len() >= MAX_RULES {
            return None;
        }
        inner.last_id += 1;
        let id = RuleId(inner.last_id);
        // Counted from the end, where no other purpose of the node is.
        let generator = self.seed.generator(0, u64::MAX - id.0);
        inner.rules.push(Installed { id, rule, seen: 0, struck: 0, generator });
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

    pub(super) fn next_request(&self, target: &Target<'_>) -> Option<RequestFault> {
        let mut fault: Option<RequestFault> = None;
        self.each_that_strikes(|rule| rule.is_about(target), |action| action.apply(fault.get_or_insert_default()));
        fault
    }

    /// The result code for a row of a batch, if a rule has one for it.
    pub(super) fn next_row(&self, row: &RecordTarget<'_>, connection: u64) -> Option<u8> {
        let mut result = None;
        self.each_that_strikes(
            |rule| rule.is_about_row(row, connection),
            |action| {
                if let FaultAction::Result(code) = action {
                    result = Some(*code);
                }
            },
        );
        result
    }

    pub(super) fn next_connection(&self, number: u64) -> AcceptFault {
        let mut accept_fault = AcceptFault::default();
        let is_about = |rule: &FaultRule| {
            matches!(rule.action, FaultAction::Refuse | FaultAction::ConnectDelay(_))
                && rule.is_about_connection(number)
        };
        self.each_that_strikes(is_about, |action| match action {
            FaultAction::ConnectDelay(delay) => accept_fault.delay = Some(*delay),
            _ => accept_fault.refused = true,
        });
        accept_fault
    }

    /// What does not get through on a connection. `first`: it is asked for the first time since something did not, and counts.
    pub(super) fn black_hole(&self, connection: u64, first: bool) -> BlackHole {
        let mut hole = BlackHole::default();
        let mut inner = self.inner.lock();
        for installed in &mut inner.rules {
            let FaultAction::BlackHole(direction) = installed.rule.action else { continue };
            if direction != Direction::Connects && installed.rule.is_about_connection(connection) {
                installed.struck += u64::from(first);
                hole.requests |= matches!(direction, Direction::Both | Direction::Requests);
                hole.answers |= matches!(direction, Direction::Both | Direction::Answers);
            }
        }
        hole
    }

    pub(super) fn lose_connects(&self) -> bool {
        let is_one = |i: &Installed| i.rule.action == FaultAction::BlackHole(Direction::Connects);
        self.inner.lock().rules.iter().any(is_one)
    }

    pub(super) fn rejects_unowned(&self, kind: RequestKind) -> bool {
        let mut rejects = false;
        self.each_that_strikes(
            |rule| rule.action == FaultAction::RejectUnowned && rule.is_about_kind(kind),
            |_| rejects = true,
        );
        rejects
    }

    /// Does something for each rule that strikes. No short cut: every rule that is about it has to count.
    fn each_that_strikes(&self, is_about: impl Fn(&FaultRule) -> bool, mut strike: impl FnMut(&FaultAction)) {
        for installed in &mut self.inner.lock().rules {
            if is_about(&installed.rule) && installed.strikes() {
                strike(&installed.rule.action);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: RequestKind) -> Target<'static> {
        Target { kind, connection: 1, message: &[] }
    }

    #[test]
    fn rules_strike_their_kinds_as_often_as_they_say() {
        let rules = Rules::new(Seed::default());
        rules.install(FaultRule::new(FaultAction::DropAfter).on(RequestKind::Write).skip(1).times(2)).unwrap();
        rules.install(FaultRule::new(FaultAction::Split)).unwrap();
        let struck: Vec<bool> = (0..5)
            .map(|_| {
                let read = rules.next_request(&of(RequestKind::Read)).unwrap();
                assert!(read.split && !read.drop_after);
                rules.next_request(&of(RequestKind::Write)).unwrap().drop_after
            })
            .collect();
        assert_eq!(struck, [false, true, true, false, false]);
        assert_eq!(rules.next_request(&of(RequestKind::Control)), None);
        assert!(!rules.next_connection(1).refused);
        assert_eq!(rules.list()[0], "id=1;drop-after;on=write;skip=1;times=2;struck=2");
        assert_eq!(rules.remove(RuleId(2)), (true, 1));
        assert_eq!(rules.next_request(&of(RequestKind::Read)), None);
    }

    #[test]
    fn probabilities_hold_and_rules_are_bounded() {
        let rules = Rules::new(Seed::default());
        for _ in 0..MAX_RULES {
            rules.install(FaultRule::new(FaultAction::Refuse).probability(0.0)).unwrap();
        }
        assert_eq!(rules.install(FaultRule::new(FaultAction::Refuse)), None);
        assert!(!rules.next_connection(1).refused);
        rules.clear();
        rules.install(FaultRule::new(FaultAction::Result(9)).probability(0.25)).unwrap();
        let hits = (0..4000).filter(|_| rules.next_request(&of(RequestKind::Read)).is_some()).count();
        assert!((800..1200).contains(&hits), "{hits}");
    }

    #[test]
    fn what_is_drawn_depends_on_the_seed_alone() {
        let struck = |cluster, earlier: usize| -> Vec<bool> {
            let rules = Rules::new(Seed { cluster, node: 7 });
            rules.install(FaultRule::new(FaultAction::Split).probability(0.5)).unwrap();
            rules.install(FaultRule::new(FaultAction::Stall).on(RequestKind::Write).probability(0.5)).unwrap();
            // Other rules draw numbers of their own.
            (0..earlier).for_each(|_| drop(rules.next_request(&of(RequestKind::Read))));
            (0..64).map(|_| rules.next_request(&of(RequestKind::Write)).is_some_and(|fault| fault.stall)).collect()
        };
        assert_eq!(struck(3, 0), struck(3, 5));
        assert_ne!(struck(3, 0), struck(4, 0));
    }

    #[test]
    fn connections_have_rules_of_their_own() {
        let rules = Rules::new(Seed::default());
        rules.install(FaultRule::new(FaultAction::Refuse).connection(2)).unwrap();
        let delay = Duration::from_millis(5);
        rules.install(FaultRule::new(FaultAction::ConnectDelay(delay)).skip(1)).unwrap();
        let welcomes: Vec<_> = (1..=3).map(|number| rules.next_connection(number)).collect();
        assert_eq!(welcomes[0], AcceptFault::default());
        assert_eq!(welcomes[1], AcceptFault { refused: true, delay: Some(delay) });
        assert_eq!(welcomes[2], AcceptFault { refused: false, delay: Some(delay) });
        rules.install(FaultRule::new(FaultAction::BlackHole(Direction::Answers)).connection(3)).unwrap();
        assert_eq!(rules.black_hole(2, true), BlackHole::default());
        assert_eq!(rules.black_hole(3, true), BlackHole { requests: false, answers: true });
        rules.install(FaultRule::new(FaultAction::BlackHole(Direction::Requests))).unwrap();
        assert_eq!(rules.black_hole(3, false), BlackHole { requests: true, answers: true });
        assert_eq!(rules.struck(RuleId(3)), Some(1));
        // None of them is about requests.
        assert_eq!(rules.next_request(&of(RequestKind::Read)), None);
    }

    #[test]
    fn rows_are_struck_by_rules_for_rows() {
        let rules = Rules::new(Seed::default());
        rules.install(FaultRule::new(FaultAction::Result(9))).unwrap();
        let users = RecordTarget { set: Some(b"users"), key: Some(b"\x03ann"), digest: Some(&[1; 20]) };
        assert_eq!(rules.next_row(&users, 1), None);
        let row = |code| FaultRule::new(FaultAction::Result(code)).on(RequestKind::BatchRow);
        rules.install(row(14).set("users").times(1)).unwrap();
        rules.install(row(18).key_prefix("an").digest([1; 20]).skip(1)).unwrap();
        assert_eq!(rules.next_row(&RecordTarget { set: None, key: Some(b"\x01an"), ..users }, 1), None);
        assert_eq!(rules.next_row(&users, 1), Some(14));
        assert_eq!(rules.next_row(&users, 1), Some(18));
        assert_eq!(rules.next_row(&RecordTarget { digest: Some(&[2; 20]), ..users }, 1), None);
    }
}
