//! A partition while the nodes of the cluster do not all see each other: what each side of the split has of it.
//!
//! Most of the time there is one side with all nodes. A split deals the copies out; each side then chooses a master and
//! replicas of its own among them. When the cluster is healed the copies come together again, and the versions that
//! each side has given them meanwhile tell the rebalance that follows which of them conflict.

use super::Slot;
use super::copies::{Copies, Copy};
use super::partition::Partition;

/// A partition on the nodes of each side.
#[derive(Debug, Default)]
pub(crate) struct Sides {
    first: Copies,
    /// Empty unless the cluster is split.
    others: Box<[Copies]>,
}

impl Sides {
    /// The copies of a side. A side that is not there yet, or not any more, is the first one.
    #[inline]
    pub(crate) fn of(&mut self, side: usize) -> &mut Copies {
        let Self { first, others } = self;
        match side.checked_sub(1).and_then(|at| others.get_mut(at)) {
            Some(copies) => copies,
            None => first,
        }
    }

    /// The copies of all sides.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Copies> {
        std::iter::once(&mut self.first).chain(&mut self.others)
    }

    /// The same to look at.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Copies> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// Whether the cluster is split.
    pub(crate) fn are_several(&self) -> bool {
        !self.others.is_empty()
    }

    /// Puts the sides together and divides them anew: `nodes` are those of each new side. `rank` is the place of a node in
    /// the order in which the partition wants them: of the masters of before, the one in front stays. `strict`: the side
    /// with the latest version stays.
    ///
    /// Every side has to be given its owners after that.
    pub(crate) fn divide(&mut self, nodes: &[Vec<Slot>], strict: bool, rank: impl Fn(Slot) -> usize) {
        let others = std::mem::take(&mut self.others);
        if !others.is_empty() {
            let mut all: Vec<Copies> = std::iter::once(std::mem::take(&mut self.first)).chain(others).collect();
            all.sort_by_key(|side| {
                let master = side.acting_master().map_or(usize::MAX, &rank);
                (if strict { u32::MAX - side.version } else { 0 }, master)
            });
            let mut sides = all.into_iter();
            self.first = sides.next().unwrap_or_default();
            for side in sides {
                self.first.list.extend(side.list);
            }
        }
        if nodes.len() > 1 {
            let all = std::mem::take(&mut self.first);
            let mut sides = all.dealt_to(nodes).into_iter();
            self.first = sides.next().unwrap_or_default();
            self.others = sides.collect();
        }
    }
}

impl Copies {
    /// The node that answers as master, if one does and is there.
    fn acting_master(&self) -> Option<Slot> {
        self.list.first().filter(|copy| self.members > 0 && copy.live).map(Copy::node)
    }

    /// Deals the copies out to the sides on which their nodes are. Writes that are on their way to another side are lost.
    fn dealt_to(self, nodes: &[Vec<Slot>]) -> Vec<Self> {
        let Self { list, members, version, unavailable, migration: _ } = self;
        let template = list.first().map(|copy| Partition::beside(Some(&copy.records), copy.node()));
        let mut sides: Vec<Self> = nodes.iter().map(|_| Self { version, unavailable, ..Self::default() }).collect();
        for (at, mut copy) in list.into_iter().enumerate() {
            let node = copy.node();
            let Some(side) = nodes.iter().position(|side| side.contains(&node)) else { continue };
            copy.lose_unless_from(&nodes[side]);
            let side = &mut sides[side];
            // The acting master and the members with it stay together; the other sides choose anew.
            let stays = at == 0 || (at < members && side.members > 0);
            side.members += usize::from(members > 0 && stays);
            side.list.push(copy);
        }
        for (side, nodes) in sides.iter_mut().zip(nodes) {
            // Somewhere the namespace's indexes have to be known.
            if let (true, Some(node)) = (side.list.is_empty(), nodes.first()) {
                let records = Partition::beside(template.as_ref(), *node);
                side.list.push(Copy::new(records, 0, false));
            }
        }
        sides
    }
}
