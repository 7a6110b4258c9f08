//! The sets of a namespace: names to ids, and counts.
//!
//! Looking a name up takes no lock: names are only ever added, into slots that are written once.

use super::Slot;
use parking_lot::Mutex;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicU16, Ordering};

/// Most sets that a namespace can have, as in the server.
pub(crate) const MAX_SETS: usize = 4095;
const SLOTS: usize = 8192;

/// Id of a set; 0 is "no set".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SetId(pub(crate) u16);

impl SetId {
    /// Records without a set name.
    pub(crate) const NONE: Self = Self(0);
}

/// One set.
#[derive(Debug)]
pub(crate) struct Set {
    /// Name, 1 to 63 bytes.
    pub(crate) name: Box<[u8]>,
    id: SetId,
}

/// What one node has of a set.
#[derive(Debug, Default)]
struct Count {
    objects: AtomicI64,
    bytes: AtomicI64,
}

/// All sets of a namespace.
#[derive(Debug)]
pub(crate) struct Sets {
    /// Open addressing: ids by hash of the name, 0 = free.
    slots: Box<[AtomicU16]>,
    /// At id - 1.
    by_id: Box<[OnceLock<Set>]>,
    /// By node: what it has of each set, at id - 1.
    counts: Box<[OnceLock<Box<[Count]>>]>,
    /// By node: bytes of all its records.
    bytes: Box<[AtomicI64]>,
    /// How many there are; the lock is for adding.
    count: Mutex<usize>,
}

impl Default for Sets {
    fn default() -> Self {
        Self {
            slots: (0..SLOTS).map(|_| AtomicU16::new(0)).collect(),
            by_id: (0..MAX_SETS).map(|_| OnceLock::new()).collect(),
            counts: (0..=usize::from(u8::MAX)).map(|_| OnceLock::new()).collect(),
            bytes: (0..=usize::from(u8::MAX)).map(|_| AtomicI64::new(0)).collect(),
            count: Mutex::new(0),
        }
    }
}

/// FNV-1a.
#[inline]
fn hash(name: &[u8]) -> usize {
    let hashed = name.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3));
    (hashed ^ (hashed >> 32)) as usize
}

impl Sets {
    /// The set with this id.
    #[inline]
    pub(crate) fn get(&self, id: SetId) -> Option<&Set> {
        self.by_id.get(usize::from(id.0).checked_sub(1)?)?.get()
    }

    /// Name of the set with this id; empty for "no set".
    #[inline]
    pub(crate) fn name(&self, id: SetId) -> &[u8] {
        self.get(id).map_or(&[], |set| &set.name)
    }

    /// The id of a set that exists; an empty name is "no set".
    #[inline]
    pub(crate) fn find(&self, name: &[u8]) -> Option<SetId> {
        if name.is_empty() { Some(SetId::NONE) } else { self.probe(name).ok() }
    }

    /// The id of a set, which is added if there is none with this name. `None`: there are too many.
    #[inline]
    pub(crate) fn find_or_add(&self, name: &[u8]) -> Option<SetId> {
        if let Some(id) = self.find(name) {
            return Some(id);
        }
        let mut count = self.count.lock();
        let slot = match self.probe(name) {
            Ok(id) => return Some(id),
            Err(slot) => slot,
        };
        let cell = self.by_id.get(*count)?;
        let id = SetId(*count as u16 + 1);
        cell.get_or_init(|| Set { name: name.into(), id });
        *count += 1;
        self.slots[slot].store(id.0, Ordering::Release);
        Some(id)
    }

    /// Either the id, or the free slot where the search ended.
    fn probe(&self, name: &[u8]) -> Result<SetId, usize> {
        let mut slot = hash(name) % SLOTS;
        loop {
            let id = SetId(self.slots[slot].load(Ordering::Acquire));
            if id == SetId::NONE {
                return Err(slot);
            }
            if self.name(id) == name {
                return Ok(id);
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    /// Counts a change of the records that a node has of a set.
    #[inline]
    pub(crate) fn count(&self, node: Slot, id: SetId, objects: i64, bytes: i64) {
        // Most writes leave a record as large as it was.
        if objects == 0 && bytes == 0 {
            return;
        }
        if bytes != 0 {
            self.bytes[usize::from(node.0)].fetch_add(bytes, Ordering::Relaxed);
        }
        let Some(at) = usize::from(id.0).checked_sub(1) else { return };
        let counts = self.counts[usize::from(node.0)].get_or_init(|| (0..MAX_SETS).map(|_| Count::default()).collect());
        let Some(count) = counts.get(at) else { return };
        if objects != 0 {
            count.objects.fetch_add(objects, Ordering::Relaxed);
        }
        if bytes != 0 {
            count.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Bytes of all records of a node.
    pub(crate) fn bytes(&self, node: Slot) -> u64 {
        self.bytes[usize::from(node.0)].load(Ordering::Relaxed).max(0) as u64
    }

    /// How many records of a set a node has, and how many bytes those take.
    pub(crate) fn held(&self, node: Slot, set: &Set) -> (u64, u64) {
        let counts = self.counts[usize::from(node.0)].get();
        let count = counts.and_then(|counts| counts.get(usize::from(set.id.0).checked_sub(1)?));
        let shown = |count: &AtomicI64| count.load(Ordering::Relaxed).max(0) as u64;
        count.map_or((0, 0), |count| (shown(&count.objects), shown(&count.bytes)))
    }

    /// All sets, in the order they were first used.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Set> {
        self.by_id.iter().map_while(OnceLock::get)
    }
}
