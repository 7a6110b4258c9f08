//! What one node has of a partition: a hash table of records, keyed by digest.

use super::provisional::Provisional;
use super::sweep::SweepLimits;
use super::table::{Hash, Table};
use super::{Record, Sets, Slot};
use crate::index::{Entries, Index};
use std::sync::Arc;

/// The records of one partition on one node. Counts of sets and bytes follow every change.
#[derive(Debug, Default)]
pub(crate) struct Partition {
    node: Slot,
    table: Table,
    bytes: u64,
    /// No record has a void time before this one; 0 = none expires.
    earliest_void: u32,
    /// What open transactions have written.
    pub(super) provisional: Provisional,
    /// Records that never expire.
    lasting: u64,
    /// What secondary indexes have of the records.
    pub(crate) entries: Entries,
}

impl Partition {
    /// An empty one on a node, with the indexes of another one.
    pub(super) fn beside(other: Option<&Self>, node: Slot) -> Self {
        let entries = other.map(|other| other.entries.emptied()).unwrap_or_default();
        Self { node, entries, ..Self::default() }
    }

    /// The node that this is on.
    #[inline]
    pub(super) fn node(&self) -> Slot {
        self.node
    }

    /// Number of records.
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    /// Bytes that the records take.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many records never expire.
    pub(crate) fn lasting(&self) -> u64 {
        self.lasting
    }

    /// The record with this digest.
    #[inline]
    pub(crate) fn find(&self, digest: &[u8; 20]) -> Option<&Record> {
        self.table.find(Hash::of(digest), digest)
    }

    /// Fetches the place where a record stands into the cache, as far as that is known without looking.
    #[inline]
    pub(super) fn fetch_slot(&self, hash: Hash) {
        self.table.fetch_slot(hash);
    }

    /// Fetches a record into the cache.
    #[inline]
    pub(super) fn fetch_record(&self, hash: Hash) {
        self.table.fetch_record(hash);
    }

    /// Puts a record in (the bytes of [`Record::encode`] and the bins), in place of the one with the same digest.
    pub(crate) fn put(&mut self, sets: &Sets, digest: &[u8; 20], bytes: &[u8]) {
        let hash = Hash::of(digest);
        let void_time = Record::void_time_of(bytes);
        self.note_void_time(void_time);
        self.lasting += u64::from(void_time == 0);
        if let Some(record) = self.table.find_mut(hash, digest) {
            let (old_set, old_size) = (record.set_id(), record.size());
            self.lasting -= u64::from(record.void_time() == 0);
            if !self.entries.is_empty() {
                self.entries.changed(sets, self.node, Some(record), Some(&Record::from_bytes(bytes)));
            }
            if !record.overwrite(bytes) {
                *record = Record::from_bytes(bytes);
            }
            self.bytes = self.bytes - old_size as u64 + bytes.len() as u64;
            if old_set == record.set_id() {
                sets.count(self.node, old_set, 0, bytes.len() as i64 - old_size as i64);
            } else {
                sets.count(self.node, old_set, -1, -(old_size as i64));
                sets.count(self.node, record.set_id(), 1, bytes.len() as i64);
            }
        } else {
            let record = Record::from_bytes(bytes);
            self.bytes += bytes.len() as u64;
            sets.count(self.node, record.set_id(), 1, bytes.len() as i64);
            if !self.entries.is_empty() {
                self.entries.changed(sets, self.node, None, Some(&record));
            }
            self.table.insert(hash, record);
        }
    }

    /// Gives a record a new void time (a read that touches); its generation stays.
    pub(crate) fn touch(&mut self, digest: &[u8; 20], void_time: u32, now_ms: u64) {
        self.note_void_time(void_time);
        if let Some(record) = self.table.find_mut(Hash::of(digest), digest) {
            self.lasting -= u64::from(record.void_time() == 0);
            self.lasting += u64::from(void_time == 0);
            record.touch(void_time, now_ms);
        }
    }

    #[inline]
    fn note_void_time(&mut self, void_time: u32) {
        if void_time != 0 && (self.earliest_void == 0 || void_time < self.earliest_void) {
            self.earliest_void = void_time;
        }
    }

    /// Removes records that are struck by the limits, at most so many; says how many.
    pub(crate) fn sweep(&mut self, sets: &Sets, limits: SweepLimits, most: u64) -> u64 {
        if self.earliest_void == 0 || self.earliest_void >= limits.end() {
            return 0;
        }
        let (mut earliest, mut removed) = (u32::MAX, 0);
        self.retain(sets, |record| {
            let kept = removed == most || !limits.strike(record);
            removed += u64::from(!kept);
            if kept && record.void_time() != 0 {
                earliest = earliest.min(record.void_time());
            }
            kept
        });
        self.earliest_void = if earliest == u32::MAX { 0 } else { earliest };
        removed
    }

    /// Takes a record out.
    pub(crate) fn remove(&mut self, sets: &Sets, digest: &[u8; 20]) -> Option<Record> {
        let record = self.table.remove(Hash::of(digest), digest)?;
        if !self.entries.is_empty() {
            self.entries.changed(sets, self.node, Some(&record), None);
        }
        self.bytes -= record.size() as u64;
        self.lasting -= u64::from(record.void_time() == 0);
        sets.count(self.node, record.set_id(), -1, -(record.size() as i64));
        Some(record)
    }

    /// Takes an index and what it has of the records in.
    pub(super) fn index(&mut self, sets: &Sets, index: &Arc<Index>) {
        let Self { node, table, entries, .. } = self;
        entries.add(sets, *node, index, table.iter());
    }

    /// All records, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Record> {
        self.table.iter()
    }

    /// Keeps the records for which `keep` says so.
    pub(crate) fn retain(&mut self, sets: &Sets, mut keep: impl FnMut(&Record) -> bool) {
        let Self { node, table, bytes, lasting, entries, .. } = self;
        let node = *node;
        table.retain(|r| {
            let kept = keep(r);
            if !kept {
                if !entries.is_empty() {
                    entries.changed(sets, node, Some(r), None);
                }
                *bytes -= r.size() as u64;
                *lasting -= u64::from(r.void_time() == 0);
                sets.count(node, r.set_id(), -1, -(r.size() as i64));
            }
            kept
        });
    }

    /// Removes everything.
    pub(crate) fn clear(&mut self, sets: &Sets) {
        self.provisional = Provisional::default();
        self.retain(sets, |_| false);
    }
}
