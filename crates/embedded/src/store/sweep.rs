//! Removing records that have expired, and those that are evicted before.

use super::{Namespace, Record, Slot};
use parking_lot::MutexGuard;
use smallvec::SmallVec;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::Instant;

/// Records that go while a partition stays locked.
const RECORDS_PER_TURN: u64 = 1000;

/// Which records have to go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SweepLimits {
    /// Those with a void time before this one (seconds since 2010).
    pub(crate) now: u32,
    /// Those with a void time before this one, too; 0 = no others.
    pub(crate) evict: u32,
}

impl SweepLimits {
    /// Records with void times before this one go.
    pub(super) fn end(self) -> u32 {
        self.now.max(self.evict)
    }

    /// Whether the record has to go.
    pub(super) fn strike(self, record: &Record) -> bool {
        record.void_time() != 0 && record.void_time() < self.end()
    }
}

/// What is to be evicted from a namespace. Times are void times, seconds since 2010; 0 = none.
#[derive(Debug, Default)]
pub(crate) struct Eviction {
    /// The void time before which records have to go.
    pub(crate) wanted: AtomicU32,
    /// The one before which they have gone.
    pub(crate) done: AtomicU32,
    /// How far ahead the last one lay when it was carried out, in seconds.
    pub(crate) ttl: AtomicI64,
}

impl Eviction {
    /// Records that expire before this time go with the next sweep; 0 ends that.
    pub(crate) fn set(&self, void_time: u32) {
        self.wanted.store(void_time, Ordering::Relaxed);
        if void_time == 0 {
            self.done.store(0, Ordering::Relaxed);
        }
    }

    /// Whether something is to be evicted.
    pub(crate) fn is_due(&self) -> bool {
        self.done.load(Ordering::Relaxed) < self.wanted.load(Ordering::Relaxed)
    }

    /// The time for a sweep that begins now; 0 if there is nothing to be evicted.
    pub(crate) fn take(&self, now: u32) -> u32 {
        if !self.is_due() {
            return 0;
        }
        let wanted = self.wanted.load(Ordering::Relaxed);
        self.done.store(wanted, Ordering::Relaxed);
        self.ttl.store(i64::from(wanted) - i64::from(now), Ordering::Relaxed);
        // A time in the past is not carried out.
        if now > wanted { 0 } else { wanted }
    }
}

/// What a sweep has found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Swept {
    /// Records that have gone.
    pub(crate) removed: u64,
    /// Records that are left.
    pub(crate) left: u64,
    /// Those of them that never expire.
    pub(crate) lasting: u64,
}

impl AddAssign for Swept {
    fn add_assign(&mut self, other: Self) {
        self.removed += other.removed;
        self.left += other.left;
        self.lasting += other.lasting;
    }
}

impl Namespace {
    /// Sweeps one partition on all nodes, each by its own clock (`limits`), with a pause for others after every thousand
    /// records; gives what was found on each, the master first.
    pub(crate) fn sweep(
        &self,
        partition: u16,
        limits: impl Fn(Slot) -> SweepLimits,
        now: Instant,
    ) -> SmallVec<[(Slot, Swept); 2]> {
        let mut found: SmallVec<[(Slot, Swept); 2]> = SmallVec::new();
        loop {
            let mut sides = self.sides(partition);
            sides.iter_mut().for_each(|copies| copies.settle(&self.sets, &self.links, now));
            let mut goes_on = false;
            for copy in sides.iter_mut().flat_map(|copies| &mut copies.list) {
                let node = copy.node();
                let removed = copy.records.sweep(&self.sets, limits(node), RECORDS_PER_TURN);
                goes_on |= removed == RECORDS_PER_TURN;
                let before = found.iter().find(|(slot, _)| *slot == node).map_or(0, |(_, swept)| swept.removed);
                found.retain(|(slot, _)| *slot != node);
                let (left, lasting) = (copy.records.len() as u64, copy.records.lasting());
                found.push((node, Swept { removed: before + removed, left, lasting }));
            }
            if !goes_on {
                return found;
            }
            // Whoever waits goes first.
            MutexGuard::unlock_fair(sides);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Definition, Index, Origin, Part, ValueKind};
    use crate::store::{RecordParts, SetId};
    use std::sync::Arc;

    fn put(namespace: &Namespace, n: u32, set: SetId, void_time: u32) -> [u8; 20] {
        let mut digest = [7; 20];
        digest[4..8].copy_from_slice(&n.to_be_bytes());
        let parts = RecordParts {
            digest: &digest,
            generation: 1,
            set_id: set,
            void_time,
            last_update_ms: 0,
            key: &[],
            n_bins: 1,
        };
        let mut bytes = Vec::new();
        Record::encode(&parts, &mut bytes);
        crate::record::append_bin(b"n", 1, &i64::from(n).to_be_bytes(), &mut bytes);
        on(namespace).put(&namespace.sets, &digest, &bytes);
        digest
    }

    fn on(namespace: &Namespace) -> parking_lot::MappedMutexGuard<'_, crate::store::Partition> {
        namespace.answering(Slot(0), 0x707, Instant::now()).unwrap()
    }

    fn sweep(namespace: &Namespace, id: u16, limits: SweepLimits) -> Swept {
        let found = namespace.sweep(id, |_| limits, Instant::now());
        assert_eq!((found.len(), found[0].0), (1, Slot(0)));
        found[0].1
    }

    const AT: fn(u32) -> SweepLimits = |now| SweepLimits { now, evict: 0 };

    #[test]
    fn what_has_expired_goes_with_its_counts_and_index_entries() {
        let namespace = Namespace::on_one_node("test");
        let set = namespace.sets.find_or_add(b"s").unwrap();
        let index = Arc::new(Index::new(Definition {
            set: None,
            origin: Origin::Bin { name: b"n".to_vec(), context: None },
            part: Part::Whole,
            kind: ValueKind::Numeric,
        }));
        namespace.build_index(&index, crate::clock::Now::read());
        // More than are removed at a time, and some that stay.
        for n in 0..3500 {
            put(&namespace, n, set, if n < 2600 { 100 + n % 10 } else { 0 });
        }
        put(&namespace, 9999, set, 500);
        let objects = || namespace.sets.held(Slot(0), namespace.sets.get(set).unwrap()).0;
        assert_eq!((objects(), index.entries(Slot(0)), on(&namespace).lasting()), (3501, 3501, 900));

        // A record lives through the second of its void time.
        assert_eq!(sweep(&namespace, 0x707, AT(100)), Swept { removed: 0, left: 3501, lasting: 900 });
        assert_eq!(sweep(&namespace, 0x707, AT(105)), Swept { removed: 1300, left: 2201, lasting: 900 });
        assert_eq!((objects(), index.entries(Slot(0))), (2201, 2201));
        assert_eq!(sweep(&namespace, 0x707, AT(400)), Swept { removed: 1300, left: 901, lasting: 900 });
        assert_eq!((objects(), index.entries(Slot(0))), (901, 901));
        assert_eq!(on(&namespace).bytes(), namespace.sets.held(Slot(0), namespace.sets.get(set).unwrap()).1);
        assert_eq!(sweep(&namespace, 0x707, SweepLimits { now: 400, evict: 501 }).removed, 1);
        assert_eq!(
            (objects(), index.entries(Slot(0)), sweep(&namespace, 3, AT(u32::MAX))),
            (900, 900, Swept::default())
        );
    }

    #[test]
    fn entries_of_expressions_about_time_go_with_their_records() {
        let namespace = Namespace::on_one_node("test");
        let index = Arc::new(Index::new(Definition {
            set: None,
            // Milliseconds since the last update.
            origin: Origin::Expression(vec![0x91, 67]),
            part: Part::Whole,
            kind: ValueKind::Numeric,
        }));
        namespace.build_index(&index, crate::clock::Now::read());
        put(&namespace, 1, SetId::NONE, 100);
        let places = || {
            let mut found = Vec::new();
            on(&namespace).entries.between(&index, (i64::MIN, i64::MAX), None, &mut found);
            found.len()
        };
        assert_eq!((places(), index.entries(Slot(0))), (1, 1));
        // Were they evaluated anew, they would now be others.
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert_eq!(sweep(&namespace, 0x707, AT(101)).removed, 1);
        assert_eq!((places(), index.entries(Slot(0))), (0, 0));
    }

    #[test]
    fn a_record_that_is_written_or_touched_again_counts_as_what_it_is_now() {
        let namespace = Namespace::on_one_node("test");
        put(&namespace, 1, SetId::NONE, 100);
        let digest = put(&namespace, 2, SetId::NONE, 100);
        put(&namespace, 1, SetId::NONE, 0);
        assert_eq!(on(&namespace).lasting(), 1);
        on(&namespace).touch(&digest, 200, 0);
        assert_eq!(sweep(&namespace, 0x707, AT(150)), Swept { removed: 0, left: 2, lasting: 1 });
        assert_eq!(sweep(&namespace, 0x707, AT(201)), Swept { removed: 1, left: 1, lasting: 1 });
        put(&namespace, 1, SetId::NONE, 300);
        assert_eq!(on(&namespace).lasting(), 0);
        assert_eq!(sweep(&namespace, 0x707, AT(301)), Swept { removed: 1, left: 0, lasting: 0 });
        put(&namespace, 3, SetId::NONE, 0);
        on(&namespace).clear(&namespace.sets);
        assert_eq!(on(&namespace).lasting(), 0);
    }
}
