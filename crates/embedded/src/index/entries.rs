//! The entries of one partition, of all indexes of the namespace.

use super::Index;
use crate::store::{Record, Sets, Slot};
use std::collections::BTreeSet;
use std::sync::Arc;

/// An entry: place in the order of its index, and digest.
type Entry = (u64, [u8; 20]);

/// The entries of one partition.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    trees: Vec<(Arc<Index>, BTreeSet<Entry>)>,
}

impl Entries {
    /// The same indexes without an entry.
    pub(crate) fn emptied(&self) -> Self {
        Self { trees: self.trees.iter().map(|(index, _)| (Arc::clone(index), BTreeSet::new())).collect() }
    }

    /// Whether there is nothing to follow.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    /// A record has taken the place of another one, or of none.
    #[cold]
    pub(crate) fn changed(&mut self, sets: &Sets, node: Slot, old: Option<&Record>, new: Option<&Record>) {
        for (index, tree) in &mut self.trees {
            let before = old.map(|record| (record.digest(), index.places(sets, record)));
            let after = new.map(|record| (record.digest(), index.places(sets, record)));
            let mut change = 0;
            if let Some((digest, places)) = &before {
                let kept = after.as_ref().map(|(_, places)| &places[..]).unwrap_or_default();
                for place in places.iter().filter(|place| kept.binary_search(place).is_err()) {
                    change -= i64::from(tree.remove(&(index.order(*place), **digest)));
                }
            }
            if let Some((digest, places)) = &after {
                let there = before.as_ref().map(|(_, places)| &places[..]).unwrap_or_default();
                for place in places.iter().filter(|place| there.binary_search(place).is_err()) {
                    change += i64::from(tree.insert((index.order(*place), **digest)));
                }
            }
            if change != 0 {
                index.count(node, change);
            }
        }
    }

    /// Adds an index and its entries.
    pub(crate) fn add<'r>(
        &mut self,
        sets: &Sets,
        node: Slot,
        index: &Arc<Index>,
        records: impl Iterator<Item = &'r Record>,
    ) {
        if self.trees.iter().any(|(known, _)| Arc::ptr_eq(known, index)) {
            return;
        }
        let mut tree = BTreeSet::new();
        for record in records {
            let places = index.places(sets, record);
            tree.extend(places.iter().map(|place| (index.order(*place), *record.digest())));
        }
        index.count(node, tree.len() as i64);
        self.trees.push((Arc::clone(index), tree));
    }

    /// Forgets an index.
    pub(crate) fn remove(&mut self, index: &Arc<Index>) {
        self.trees.retain(|(known, _)| !Arc::ptr_eq(known, index));
        self.trees.shrink_to_fit();
    }

    /// Digests and places of the records between two places (both included), in rising order; `after` is the last one
    /// that is known already.
    pub(crate) fn between(
        &self,
        index: &Arc<Index>,
        (begin, end): (i64, i64),
        after: Option<(i64, [u8; 20])>,
        out: &mut Vec<(i64, [u8; 20])>,
    ) {
        let Some((_, tree)) = self.trees.iter().find(|(known, _)| Arc::ptr_eq(known, index)) else { return };
        let (begin, end) = ((index.order(begin), [0; 20]), (index.order(end), [0xff; 20]));
        if begin > end {
            return;
        }
        let after = after.map(|(place, digest)| (index.order(place), digest));
        let entries = tree.range(begin..=end).filter(|entry| after.is_none_or(|after| **entry > after));
        out.extend(entries.map(|(order, digest)| (index.place(*order), *digest)));
    }
}
