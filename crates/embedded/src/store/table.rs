//! The hash table of a partition: records by digest.
//!
//! Open addressing with linear probing. Beside each record stand 32 bits of the hash of its digest, so a search looks at
//! one cache line to know where the record is, and at no other record. The hash alone tells which line that is: it can
//! be fetched before anything of the table has been read ([`Table::fetch_slot`], then [`Table::fetch_record`]).

use super::Record;
use super::fetch::fetch;

/// Slots of the smallest table that has any.
const LEAST: usize = 4;
/// A table of `n` slots takes `n / 4 * 3` records.
const FULL: (usize, usize) = (3, 4);

/// A table of records.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// A power of two of them, or none.
    slots: Box<[Slot]>,
    len: usize,
}

#[derive(Debug, Default)]
struct Slot {
    hash: Hash,
    record: Option<Record>,
}

/// Bits of the hash of a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Hash(u32);

impl Hash {
    /// The partition is chosen by the first bytes of the digest, so this looks at the others. Clients may send any digest,
    /// so the words are mixed.
    #[inline]
    pub(super) fn of(digest: &[u8; 20]) -> Self {
        // A pattern, as the compiler makes two loads of it, and of an array made byte by byte a loop.
        let [_, _, _, _, words @ ..] = *digest;
        let words = u128::from_le_bytes(words);
        let mixed = (words as u64 ^ ((words >> 64) as u64).rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self((mixed >> 32) as u32)
    }
}

fn is_full(len: usize, slots: usize) -> bool {
    len * FULL.1 >= slots * FULL.0
}

impl Table {
    /// Number of records.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Where the search for a hash begins: by its upper bits, which depend on all of the digest.
    #[inline]
    fn home(&self, hash: Hash) -> usize {
        ((u64::from(hash.0) * self.slots.len() as u64) >> u32::BITS) as usize
    }

    /// The slot of the record, if there is one.
    #[inline]
    fn place(&self, hash: Hash, digest: &[u8; 20]) -> Option<usize> {
        let last = self.slots.len().checked_sub(1)?;
        let mut at = self.home(hash);
        // It ends: a table is never full.
        while let Some(record) = &self.slots[at & last].record {
            if self.slots[at & last].hash == hash && record.digest() == digest {
                return Some(at & last);
            }
            at += 1;
        }
        None
    }

    /// The record with this digest.
    #[inline]
    pub(super) fn find(&self, hash: Hash, digest: &[u8; 20]) -> Option<&Record> {
        self.slots[self.place(hash, digest)?].record.as_ref()
    }

    /// The same to be changed. Its digest has to stay.
    #[inline]
    pub(super) fn find_mut(&mut self, hash: Hash, digest: &[u8; 20]) -> Option<&mut Record> {
        let at = self.place(hash, digest)?;
        self.slots[at].record.as_mut()
    }

    /// Fetches the slot where the search for a record begins into the cache.
    #[inline]
    pub(super) fn fetch_slot(&self, hash: Hash) {
        if let Some(slot) = self.slots.get(self.home(hash)) {
            fetch(slot);
        }
    }

    /// Fetches the record that is most likely the one with this hash into the cache.
    #[inline]
    pub(super) fn fetch_record(&self, hash: Hash) {
        let Some(last) = self.slots.len().checked_sub(1) else { return };
        let mut at = self.home(hash);
        while let Some(record) = &self.slots[at & last].record {
            if self.slots[at & last].hash == hash {
                record.fetch();
                return;
            }
            at += 1;
        }
    }

    /// Puts in a record of which there is no other version.
    pub(super) fn insert(&mut self, hash: Hash, record: Record) {
        if is_full(self.len, self.slots.len()) {
            self.resize((self.slots.len() * 2).max(LEAST));
        }
        self.put(Slot { hash, record: Some(record) });
        self.len += 1;
    }

    /// Puts a slot's content into the first free slot from its home on.
    fn put(&mut self, slot: Slot) {
        let Some(last) = self.slots.len().checked_sub(1) else { return };
        let mut at = self.home(slot.hash);
        while self.slots[at & last].record.is_some() {
            at += 1;
        }
        self.slots[at & last] = slot;
    }

    fn resize(&mut self, slots: usize) {
        let new = (0..slots).map(|_| Slot::default()).collect();
        for slot in std::mem::replace(&mut self.slots, new) {
            if slot.record.is_some() {
                self.put(slot);
            }
        }
    }

    /// Takes a record out.
    pub(super) fn remove(&mut self, hash: Hash, digest: &[u8; 20]) -> Option<Record> {
        let at = self.place(hash, digest)?;
        let record = self.slots[at].record.take();
        self.len -= 1;
        self.close_gap(at);
        record
    }

    /// Moves records into a slot that has become free, and into those that become free by that, so that all are found.
    fn close_gap(&mut self, mut gap: usize) {
        let last = self.slots.len() - 1;
        let mut at = gap;
        loop {
            at = (at + 1) & last;
            if self.slots[at].record.is_none() {
                return;
            }
            // How far the record is from its home, and from the gap.
            let strayed = at.wrapping_sub(self.home(self.slots[at].hash)) & last;
            if strayed >= at.wrapping_sub(gap) & last {
                self.slots[gap] = std::mem::take(&mut self.slots[at]);
                gap = at;
            }
        }
    }

    /// All records, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Record> {
        self.slots.iter().filter_map(|slot| slot.record.as_ref())
    }

    /// Keeps the records for which `keep` says so.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&Record) -> bool) {
        let before = self.len;
        for slot in &mut self.slots {
            if slot.record.as_ref().is_some_and(|record| !keep(record)) {
                slot.record = None;
                self.len -= 1;
            }
        }
        if self.len == before {
            return;
        }
        // Records that were in the way of others have gone.
        let mut slots = self.slots.len();
        while slots > 0 && self.len * 4 < slots {
            slots /= 2;
        }
        let needed = if self.len == 0 { 0 } else { slots.max(LEAST) };
        self.resize(needed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{RecordParts, SetId};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn record(digest: &[u8; 20], generation: u16) -> Record {
        let mut bytes = Vec::new();
        let parts = RecordParts {
            digest,
            generation,
            set_id: SetId::NONE,
            void_time: 0,
            last_update_ms: 1,
            key: &[],
            n_bins: 0,
        };
        Record::encode(&parts, &mut bytes);
        Record::from_bytes(&bytes)
    }

    /// Digests of which many have the same hash, or hashes that end at the last slot.
    fn digest(key: u8) -> [u8; 20] {
        let mut digest = [0; 20];
        digest[0] = key;
        digest[4] = key % 8;
        if key >= 128 {
            // Found by trying: the upper bits of the hash are set.
            digest[4] = 0;
            digest[19] = key % 4;
        }
        digest
    }

    proptest! {
        /// Whatever is done to it, it has what a map has to which the same is done.
        #[test]
        fn it_has_what_a_map_has(steps in prop::collection::vec((0..6_u8, any::<u8>()), 1..400)) {
            let (mut table, mut map) = (Table::default(), BTreeMap::new());
            for (number, (step, key)) in steps.iter().enumerate() {
                let (digest, generation) = (digest(*key), number as u16 + 1);
                let hash = Hash::of(&digest);
                match step {
                    0..=2 => {
                        let is_new = map.insert(digest, generation).is_none();
                        if let Some(found) = table.find_mut(hash, &digest) {
                            prop_assert!(!is_new);
                            *found = record(&digest, generation);
                        } else {
                            prop_assert!(is_new);
                            table.insert(hash, record(&digest, generation));
                        }
                    }
                    3 | 4 => {
                        let removed = table.remove(hash, &digest).map(|record| record.generation());
                        prop_assert_eq!(removed, map.remove(&digest));
                    }
                    _ => {
                        table.retain(|record| record.generation() % 3 != u16::from(*key) % 3);
                        map.retain(|_, generation| *generation % 3 != u16::from(*key) % 3);
                    }
                }
                prop_assert_eq!(table.len(), map.len());
                table.fetch_slot(hash);
                table.fetch_record(hash);
            }
            let found: BTreeMap<_, _> = table.iter().map(|r| (*r.digest(), r.generation())).collect();
            prop_assert_eq!(&found, &map);
            for key in 0..=u8::MAX {
                let digest = digest(key);
                let found = table.find(Hash::of(&digest), &digest).map(Record::generation);
                prop_assert_eq!(found, map.get(&digest).copied());
            }
            prop_assert!(table.len() <= table.slots.len() / FULL.1 * FULL.0);
        }
    }

    #[test]
    fn what_has_become_empty_gives_its_memory_back() {
        let mut table = Table::default();
        let digests: Vec<[u8; 20]> = (0..10_000_u32)
            .map(|n| {
                let mut digest = [0; 20];
                digest[8..12].copy_from_slice(&n.to_le_bytes());
                digest
            })
            .collect();
        for digest in &digests {
            table.insert(Hash::of(digest), record(digest, 1));
        }
        assert!(digests.iter().all(|digest| table.find(Hash::of(digest), digest).is_some()));
        assert_eq!(table.slots.len(), 16_384);
        let mut kept = 0;
        table.retain(|_| {
            kept += 1;
            kept <= 1000
        });
        assert_eq!((table.len(), table.slots.len()), (1000, 2048));
        table.retain(|_| false);
        assert_eq!((table.len(), table.slots.len()), (0, 0));
    }
}
