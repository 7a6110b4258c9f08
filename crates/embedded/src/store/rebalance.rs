//! Who holds a partition after nodes have come or gone.
//!
//! As in the server in AP mode: the acting master is the one of before, if it is there; a full copy of the same version that
//! stands further in front takes its place. Copies of other versions are duplicates: what they have is taken over record by
//! record. Owners that lack something are filled, and the node that is to be master becomes it when it has everything.

use super::copies::{Copies, Copy};
use super::migration::Migration;
use super::{Links, Partition, Sets, Slot};
use std::time::Instant;

/// What owners of a partition are to be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan<'a> {
    /// All nodes that are there, in the order in which the partition wants them.
    pub(crate) succession: &'a [Slot],
    /// How many of them are to hold it.
    pub(crate) factor: usize,
    /// Whether its owners have to be known to have everything: strong consistency with a roster.
    pub(crate) strict: bool,
    /// Whether the nodes that are there are enough for that.
    pub(crate) quorum: bool,
    /// Whether partitions that have lost all copies may begin anew.
    pub(crate) revive: bool,
    /// What copies are marked with that take part: higher than all before, and not given to another side of a split.
    pub(crate) version: u32,
}

impl Plan<'_> {
    /// The nodes that are to hold the partition.
    pub(super) fn owners(&self) -> &[Slot] {
        &self.succession[..self.factor.min(self.succession.len())]
    }
}

impl Copies {
    /// A node has gone. What it had not copied is lost with it, and what was on its way to it. `keeps`: it has its records
    /// when it comes back.
    pub(crate) fn node_gone(&mut self, sets: &Sets, links: &Links, node: Slot, keeps: bool, now: Instant) {
        self.settle(sets, links, now);
        for copy in &mut self.list {
            copy.lose_from(node);
            if copy.node() == node {
                copy.live = false;
                copy.lose_all();
                if !keeps {
                    copy.records.clear(sets);
                    copy.version = 0;
                }
            }
        }
    }

    /// A node is there again, or for the first time. If its place was held, it has to be filled again.
    pub(crate) fn node_back(&mut self, sets: &Sets, node: Slot) {
        let owners = || self.list[..self.members].iter().map(Copy::node).collect::<Vec<_>>();
        let behind = self.list.iter().any(|copy| copy.node() == node && copy.behind);
        let migration = (behind && self.migration.is_none()).then(|| Box::new(Migration::new(owners(), Vec::new())));
        let Some(copy) = self.of(node) else { return };
        copy.live = true;
        if std::mem::take(&mut copy.behind) {
            copy.records.clear(sets);
            copy.complete = false;
        }
        if migration.is_some() {
            self.migration = migration;
        }
    }

    /// Gives the partition its owners. What has to be moved for it is left to the migration that this sets up.
    pub(crate) fn rebalance(&mut self, sets: &Sets, plan: &Plan<'_>) {
        if plan.succession.is_empty() {
            (self.members, self.migration) = (0, None);
            return;
        }
        let strict = plan.strict;
        // In strong-consistency mode only a copy counts that has seen the last writes, and nobody takes over what others have.
        let known = |copy: &&Copy| copy.has_data() && (!strict || plan.revive || copy.version == self.version);
        let lost = strict && self.version != 0 && !plan.revive && !self.list.iter().any(|copy| known(&copy));
        self.unavailable = lost || strict && !plan.quorum;
        if self.unavailable {
            return;
        }
        let rank = |node: Slot| plan.succession.iter().position(|slot| *slot == node).unwrap_or(usize::MAX);
        let previous = self.list.first().filter(|copy| self.members > 0 && known(copy));
        let master = previous.or_else(|| {
            let order = |copy: &&Copy| (!copy.complete, std::cmp::Reverse(copy.version), rank(copy.node()));
            self.list.iter().filter(known).min_by_key(order)
        });
        self.migration = None;
        let Some(master) = master else {
            self.begin_anew(sets, plan);
            return;
        };
        // A full copy of the same version takes over that stands in front of it.
        let (version, complete) = (master.version, master.complete);
        let same = |copy: &&Copy| complete && copy.live && copy.complete && copy.version == version;
        let master =
            self.list.iter().filter(same).map(Copy::node).min_by_key(|node| rank(*node)).unwrap_or(master.node());
        self.settle_to(sets, master);

        self.version = plan.version;
        let mut duplicates = Vec::new();
        for copy in self.list.iter_mut().filter(|copy| copy.has_data()) {
            if copy.version == version {
                copy.version = self.version;
            } else if strict {
                copy.records.clear(sets);
                copy.lose_all();
                (copy.version, copy.complete) = (self.version, false);
            } else {
                duplicates.push(copy.node());
            }
        }
        self.add_owners(plan);
        self.arrange(sets, plan, master, &duplicates);
        let handed_over = self.list[0].node() == plan.succession[0];
        if !duplicates.is_empty() || !handed_over || !self.list[..self.members].iter().all(|copy| copy.complete) {
            self.migration = Some(Box::new(Migration::new(plan.owners().to_vec(), duplicates)));
        }
    }

    /// No copy is there: the owners begin without records.
    fn begin_anew(&mut self, sets: &Sets, plan: &Plan<'_>) {
        self.version = plan.version;
        self.add_owners(plan);
        for copy in self.list.iter_mut().filter(|copy| plan.owners().contains(&copy.node())) {
            copy.complete = true;
            copy.version = self.version;
        }
        self.arrange(sets, plan, plan.succession[0], &[]);
    }

    /// What is on its way to the next master arrives: its source is there, and hands over.
    fn settle_to(&mut self, sets: &Sets, master: Slot) {
        if let Some(copy) = self.of(master).filter(|copy| copy.is_waiting()) {
            copy.settle_all(sets);
        }
    }

    /// Makes room on owners that have nothing yet.
    fn add_owners(&mut self, plan: &Plan<'_>) {
        for owner in plan.owners() {
            let (version, template) = (self.version, self.list.first().map(|copy| &copy.records));
            if !self.list.iter().any(|copy| copy.node() == *owner) {
                let records = Partition::beside(template, *owner);
                self.list.push(Copy::new(records, version, false));
            } else if let Some(copy) = self.of(*owner).filter(|copy| copy.version == 0) {
                (copy.version, copy.complete) = (version, false);
            }
        }
    }

    /// Sorts the copies: the master, the other owners, the rest. Of the rest goes what nobody needs any more.
    fn arrange(&mut self, sets: &Sets, plan: &Plan<'_>, master: Slot, duplicates: &[Slot]) {
        let owners = plan.owners();
        for copy in &mut self.list {
            if copy.node() == master {
                // The best that there is.
                copy.complete = true;
            } else if !duplicates.is_empty() {
                // Nobody has everything but the master, which asks the duplicates.
                copy.complete = false;
            }
        }
        self.list.sort_by_key(|copy| {
            let at = owners.iter().position(|owner| *owner == copy.node());
            (copy.node() != master, at.is_none(), at)
        });
        self.members = owners.len() + usize::from(!owners.contains(&master));
        let members = self.members;
        let mut at = 0;
        self.list.retain(|copy| {
            at += 1;
            let needed = at <= members || !copy.live || duplicates.contains(&copy.node());
            if !needed {
                copy.records.clear(sets);
            }
            needed
        });
    }
}
