//! Fetching what requests are going to need into the processor's caches, before they are carried out.
//!
//! A request waits for one load after the other: the partition tells where its table is, the slot of the table where the
//! record is; a write waits for those of each copy. The waits of several requests overlap if each of these steps is done for
//! all of them before the next one. Nothing is changed by it, and nothing depends on it.

use super::table::Hash;
use super::{Namespace, Partition, Slot};
use aerolane_wire::digest::partition_id;

/// A record that a request is going to ask for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected<'a> {
    namespace: &'a Namespace,
    node: Slot,
    partition: u16,
    hash: Hash,
    writes: bool,
}

impl<'a> Expected<'a> {
    /// `node` is the one that the request came to.
    #[inline]
    pub(crate) fn new(namespace: &'a Namespace, node: Slot, digest: &[u8; 20], writes: bool) -> Self {
        Self { namespace, node, partition: partition_id(digest), hash: Hash::of(digest), writes }
    }

    /// First step: the partition.
    #[inline]
    pub(crate) fn fetch_partition(&self) {
        self.namespace.partition(self.partition).fetch();
    }

    /// Second step: where the tables have the record.
    #[inline]
    pub(crate) fn fetch_slots(&self) {
        self.each_copy(|partition| partition.fetch_slot(self.hash));
    }

    /// Third step: the record.
    #[inline]
    pub(crate) fn fetch_records(&self) {
        self.each_copy(|partition| partition.fetch_record(self.hash));
    }

    /// What the request is going to look at. Nothing, if others have the partition locked: it is not worth waiting for.
    #[inline]
    fn each_copy(&self, step: impl Fn(&Partition)) {
        let Some(mut sides) = self.namespace.partition(self.partition).0.try_lock() else { return };
        sides.of(self.namespace.links.side(self.node)).needed(self.node, self.writes).for_each(step);
    }
}
