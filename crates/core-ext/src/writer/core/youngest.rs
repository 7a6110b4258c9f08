//! Which record of each key was handed over last, among those without an outcome.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

use aerolane_wire::digest::Digest;

/// Where a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    Slot(u32),
    /// The number of the first row of its block.
    Block(u64),
}

/// A holder in eight bytes: there is one for each outstanding record.
#[derive(Debug, Clone, Copy)]
struct Packed(u64);

impl Packed {
    const BLOCK: u64 = 1 << 63;

    const fn of(holder: Holder) -> Self {
        match holder {
            Holder::Slot(slot) => Self(slot as u64),
            Holder::Block(first) => Self(first | Self::BLOCK),
        }
    }

    const fn holder(self) -> Holder {
        match self.0 & Self::BLOCK {
            0 => Holder::Slot(self.0 as u32),
            _ => Holder::Block(self.0 & !Self::BLOCK),
        }
    }
}

/// A digest is a hash.
#[derive(Default)]
struct DigestHasher(u64);

impl Hasher for DigestHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut first = [0; 8];
        let len = bytes.len().min(8);
        first[..len].copy_from_slice(&bytes[..len]);
        self.0 ^= u64::from_le_bytes(first);
    }

    fn write_usize(&mut self, _len: usize) {}
}

/// The youngest record of each key.
#[derive(Debug, Default)]
pub(super) struct Youngest(HashMap<Digest, Packed, BuildHasherDefault<DigestHasher>>);

impl Youngest {
    /// Names a record; gives the one that was the youngest.
    pub(super) fn insert(&mut self, digest: Digest, holder: Holder) -> Option<Holder> {
        self.0.insert(digest, Packed::of(holder)).map(Packed::holder)
    }

    /// Names a record if the key has none.
    pub(super) fn insert_first(&mut self, digest: &Digest, holder: Holder) -> bool {
        match self.0.entry(*digest) {
            Entry::Vacant(entry) => {
                entry.insert(Packed::of(holder));
                true
            }
            Entry::Occupied(_) => false,
        }
    }

    pub(super) fn remove(&mut self, digest: &Digest) {
        self.0.remove(digest);
    }
}
