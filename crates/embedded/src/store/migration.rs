//! Moving records between nodes until everyone has what it is to have.
//!
//! First what duplicates have goes to the acting master, where conflicts are resolved as the namespace says; then what the
//! master has goes to the owners that lack something. Requests are answered meanwhile: writes reach all members, the
//! master answers for those that are not complete, and it asks the duplicates for a record before it writes it.

use super::copies::{Copies, Copy};
use super::{Links, Record, Sets, Slot};
use ConflictResolution as Conflict;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Which of two versions of a record is kept that nodes have of it after they did not see each other (the server's
/// `conflict-resolution-policy`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ConflictResolution {
    /// The one with the higher generation; of equal ones that which was written last.
    #[default]
    Generation,
    /// The one that was written last; of equal ones that with the higher generation.
    LastUpdateTime,
}

/// A [`ConflictResolution`] that can be changed.
#[derive(Debug, Default)]
pub(crate) struct AtomicConflict(AtomicBool);

impl AtomicConflict {
    pub(crate) fn load(&self) -> Conflict {
        if self.0.load(Ordering::Relaxed) { Conflict::LastUpdateTime } else { Conflict::Generation }
    }

    pub(crate) fn store(&self, conflict: Conflict) {
        self.0.store(conflict == Conflict::LastUpdateTime, Ordering::Relaxed);
    }
}

/// Generations count up to 65,535 and begin again: half of that apart, the lower one is the later one.
const HALF: u16 = 0x8000;

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Generation => "generation",
            Self::LastUpdateTime => "last-update-time",
        })
    }
}

impl FromStr for Conflict {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = [Self::Generation, Self::LastUpdateTime].into_iter().find(|policy| policy.to_string() == text);
        known.ok_or_else(|| format!("conflict resolution {text:?}: generation or last-update-time expected"))
    }
}

impl Conflict {
    /// Whether a record that comes from elsewhere takes the place of the one that is here.
    fn is_won_by(self, came: &Record, here: &Record) -> bool {
        let newer = came.last_update_ms().cmp(&here.last_update_ms());
        let ahead = came.generation().wrapping_sub(here.generation());
        let higher = match ahead {
            0 => std::cmp::Ordering::Equal,
            ahead if ahead < HALF => std::cmp::Ordering::Greater,
            _ => std::cmp::Ordering::Less,
        };
        match self {
            Self::Generation => higher.then(newer).is_gt(),
            Self::LastUpdateTime => newer.then(higher).is_gt(),
        }
    }
}

/// What of a partition is still to be moved.
#[derive(Debug)]
pub(super) struct Migration {
    pub(super) owners: Vec<Slot>,
    /// Nodes with other versions, the next one last.
    pub(super) duplicates: Vec<Slot>,
    /// What of the present source is still to go to the present target.
    todo: Option<Vec<[u8; 20]>>,
}

impl Migration {
    pub(super) fn new(owners: Vec<Slot>, duplicates: Vec<Slot>) -> Self {
        Self { owners, duplicates, todo: None }
    }
}

fn digests(copy: &Copy) -> Vec<[u8; 20]> {
    copy.records.iter().map(|record| *record.digest()).collect()
}

impl Copies {
    /// Whether something is still to be moved.
    pub(crate) fn is_migrating(&self) -> bool {
        self.migration.is_some()
    }

    /// Moves at most so many records on; says how many those were. `true`: owners have changed, or become complete.
    pub(crate) fn migrate(
        &mut self,
        sets: &Sets,
        links: &Links,
        policy: Conflict,
        most: usize,
        now: Instant,
    ) -> (usize, bool) {
        let (mut moved, mut changed) = (0, false);
        // A partition whose master is down waits for it.
        while self.list.first().is_some_and(|master| master.live) {
            let Some(mut migration) = self.migration.take() else { break };
            let Some((from, to)) = self.next_leg(&migration) else {
                if self.list[..self.members].iter().all(|copy| copy.complete) {
                    self.hand_over(sets, &migration.owners);
                    changed = true;
                } else {
                    // What is left is on its way to a node that is down.
                    self.migration = Some(migration);
                }
                break;
            };
            let mut todo = migration.todo.take().unwrap_or_else(|| digests(&self.list[from]));
            while moved < most {
                let Some(digest) = todo.pop() else { break };
                moved += 1;
                match to {
                    0 => self.take_over(sets, links, policy, from, &digest, now),
                    to => self.fill(sets, to, &digest, now),
                }
            }
            if !todo.is_empty() {
                migration.todo = Some(todo);
                self.migration = Some(migration);
                break;
            }
            if to == 0 {
                migration.duplicates.pop();
            } else {
                self.list[to].records.provisional = self.list[0].records.provisional.clone();
                (self.list[to].complete, self.list[to].version) = (true, self.version);
                changed = true;
            }
            self.migration = Some(migration);
        }
        (moved, changed)
    }

    /// What comes next: from which copy to which. To the master from duplicates, then from it to members that lack
    /// something.
    fn next_leg(&self, migration: &Migration) -> Option<(usize, usize)> {
        if let Some(node) = migration.duplicates.last() {
            return self.list.iter().position(|copy| copy.node() == *node).map(|from| (from, 0));
        }
        let lacks = |copy: &Copy| !copy.complete && copy.live;
        self.list[..self.members].iter().position(lacks).map(|to| (0, to))
    }

    /// Everyone has everything: the first owner becomes master, and what is on other nodes goes.
    fn hand_over(&mut self, sets: &Sets, owners: &[Slot]) {
        if let Some(copy) = owners.first().and_then(|first| self.of(*first)) {
            copy.settle_all(sets);
        }
        self.list.sort_by_key(|copy| owners.iter().position(|owner| *owner == copy.node()).unwrap_or(owners.len()));
        self.members = owners.len();
        self.list.retain(|copy| {
            let needed = owners.contains(&copy.node()) || !copy.live;
            if !needed {
                copy.records.clear(sets);
            }
            needed
        });
    }

    /// Takes a record over from a duplicate, if it wins.
    fn take_over(&mut self, sets: &Sets, links: &Links, policy: Conflict, at: usize, digest: &[u8; 20], now: Instant) {
        let Some(came) = self.list[at].records.find(digest) else { return };
        let here = self.list[0].records.find(digest);
        if here.is_none_or(|here| policy.is_won_by(came, here)) {
            let came = came.clone();
            self.put_everywhere(sets, links, &came, now);
        }
    }

    /// Copies a record of the master to a member that lacks something.
    fn fill(&mut self, sets: &Sets, at: usize, digest: &[u8; 20], now: Instant) {
        let (master, rest) = self.list.split_at_mut(1);
        let Some(target) = rest.get_mut(at.saturating_sub(1)) else { return };
        if let Some(record) = master[0].records.find(digest) {
            target.receive(sets, master[0].node(), record, now);
        }
    }

    /// Looks for a record on the nodes with other versions before it is written.
    #[cold]
    pub(super) fn resolve(&mut self, sets: &Sets, links: &Links, policy: Conflict, digest: &[u8; 20], now: Instant) {
        let Some(duplicates) = self.migration.as_ref().map(|migration| migration.duplicates.clone()) else { return };
        for node in duplicates {
            if let Some(at) = self.list.iter().position(|copy| copy.node() == node && copy.live) {
                self.take_over(sets, links, policy, at, digest, now);
            }
        }
    }
}
