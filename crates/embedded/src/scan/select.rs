//! Which records of a partition a query is about, and in which order.

use super::index_query::IndexQuery;
use super::request::{QueryRequest, Resume};
use crate::clock::Now;
use crate::index::Index;
use crate::store::{Namespace, Record, SetId, Slot};
use std::collections::HashSet;
use std::sync::Arc;

/// A record that a query will look at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Picked {
    pub(super) digest: [u8; 20],
    /// Where it stands in the index of the query; 0 without one.
    pub(super) place: i64,
}

/// Which records are wanted.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    All,
    Set(SetId),
    /// The set was unknown when the query began; nothing can be in it.
    Nothing,
}

/// What decides whether a record is part of a query, filters apart.
#[derive(Debug)]
pub(super) struct Selector {
    namespace: Arc<Namespace>,
    /// The node whose copies are looked at.
    node: Slot,
    set: Wanted,
    index: Option<IndexQuery>,
    ranges: Vec<(i64, i64)>,
}

impl Selector {
    pub(super) fn new(node: Slot, query: &QueryRequest) -> Self {
        let set = match &query.set {
            None => Wanted::All,
            Some(name) => query.namespace.sets.find(name).map_or(Wanted::Nothing, Wanted::Set),
        };
        let ranges = query.index.as_ref().map(|index| Index::ranges(&index.sought)).unwrap_or_default();
        Self { namespace: Arc::clone(&query.namespace), node, set, index: query.index.clone(), ranges }
    }

    /// Whether records are answered with their place in the index.
    pub(super) fn has_index(&self) -> bool {
        self.index.is_some()
    }

    /// The records of a partition, the first one last: by falling digest, or in the order of the index. Each comes once,
    /// where it stands first. Also answers how many were looked at. `None`: the node does not answer for the partition.
    pub(super) fn pick(&self, pid: u16, after: Option<&Resume>, now: Now) -> Option<(Vec<Picked>, usize)> {
        let partition = self.namespace.answering(self.node, pid, now.instant)?;
        let Some(query) = &self.index else {
            let after = after.map(|resume| resume.digest);
            let wanted = |r: &&Record| {
                self.takes_set(r)
                    && !r.is_expired(now.seconds())
                    && after.as_ref().is_none_or(|after| r.digest() < after)
            };
            let mut picked: Vec<Picked> =
                partition.iter().filter(wanted).map(|r| Picked { digest: *r.digest(), place: 0 }).collect();
            let looked_at = partition.len();
            drop(partition);
            picked.sort_unstable_by_key(|picked| picked.digest);
            return Some((picked, looked_at));
        };
        let after = after.map(|resume| (resume.place, resume.digest));
        let mut found = Vec::new();
        for range in &self.ranges {
            partition.entries.between(&query.index, *range, after, &mut found);
        }
        drop(partition);
        let looked_at = found.len();
        let mut seen = HashSet::new();
        let mut picked: Vec<Picked> = found
            .into_iter()
            .filter(|(_, digest)| seen.insert(*digest))
            .map(|(place, digest)| Picked { digest, place })
            .collect();
        picked.reverse();
        Some((picked, looked_at))
    }

    fn takes_set(&self, record: &Record) -> bool {
        match self.set {
            Wanted::All => true,
            Wanted::Set(set) => record.set_id() == set,
            Wanted::Nothing => false,
        }
    }

    /// Whether a record that was picked is still part of the query.
    pub(super) fn takes(&self, record: &Record, now: u32) -> bool {
        self.takes_set(record)
            && !record.is_expired(now)
            && self.index.as_ref().is_none_or(|q| q.index.confirms(&self.namespace.sets, record, &q.sought))
    }
}
