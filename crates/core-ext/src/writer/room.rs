//! Room for records that are outstanding.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};

use super::options::WriterOptions;

/// Room for records, with a reserve that is there only while a node holds up the others.
///
/// More outstanding records than a healthy cluster needs make a writer slower, because they no longer fit the processor's caches. A
/// slow node needs more: its share is outstanding for longer.
pub(super) struct RecordRoom {
    records: Semaphore,
    usual: usize,
    reserve: usize,
    /// The permits beyond the usual ones. Changes are exact; a reader may see a value that is about to change.
    lent: AtomicUsize,
    is_open: AtomicBool,
}

impl RecordRoom {
    pub(super) fn new(options: &WriterOptions) -> Self {
        let (usual, most) = options.outstanding_records();
        Self {
            records: Semaphore::new(usual),
            usual,
            reserve: most - usual,
            lent: AtomicUsize::new(0),
            is_open: AtomicBool::new(false),
        }
    }

    /// Opens the reserve, or closes it: then what is lent is kept as it comes back. One thread at a time.
    pub(super) fn open_reserve(&self, open: bool) {
        if self.reserve == 0 {
            return;
        }
        if self.is_open.load(Ordering::Relaxed) != open {
            self.is_open.store(open, Ordering::Relaxed);
        }
        let lent = self.lent.load(Ordering::Relaxed);
        if open && lent < self.reserve {
            let lent = self.lent.swap(self.reserve, Ordering::Relaxed);
            self.records.add_permits(self.reserve - lent);
        } else if !open && lent > 0 {
            let lent = self.lent.swap(0, Ordering::Relaxed);
            let free = self.records.forget_permits(lent);
            self.lent.fetch_add(lent - free, Ordering::Relaxed);
        }
    }

    /// Gives back the room of records that have their outcomes.
    pub(super) fn give_back(&self, records: usize) {
        let mut paid = 0;
        if self.lent.load(Ordering::Relaxed) > 0 && !self.is_open.load(Ordering::Relaxed) {
            let pay = |lent: usize| Some(lent - lent.min(records));
            paid = self.lent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, pay).unwrap_or(0).min(records);
        }
        self.records.add_permits(records - paid);
    }

    /// Whether no record has room. Then none is outstanding.
    pub(super) fn is_all_free(&self) -> bool {
        self.records.available_permits() >= self.usual + self.lent.load(Ordering::Relaxed)
    }

    /// How much room there is at the moment.
    pub(super) fn free(&self) -> usize {
        self.records.available_permits()
    }

    pub(super) const fn semaphore(&self) -> &Semaphore {
        &self.records
    }
}

/// Room for some records.
pub(super) struct Room<'a> {
    pub(super) records: SemaphorePermit<'a>,
    pub(super) bytes: SemaphorePermit<'a>,
}

impl Room<'_> {
    /// It is taken until the records have their outcomes.
    pub(super) fn keep(self) {
        self.records.forget();
        self.bytes.forget();
    }

    /// The part of one of them is taken until it has its outcome.
    pub(super) fn keep_for(&mut self, bytes: usize) {
        for (of, count) in [(&mut self.records, 1), (&mut self.bytes, bytes)] {
            // There is as much.
            if let Some(part) = of.split(count) {
                part.forget();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(room: &RecordRoom) -> usize {
        let mut taken = 0;
        while let Ok(permit) = room.records.try_acquire() {
            permit.forget();
            taken += 1;
        }
        taken
    }

    #[test]
    fn the_reserve_is_there_only_while_it_is_open() {
        let room = RecordRoom::new(&WriterOptions::default());
        assert!(room.is_all_free());
        room.open_reserve(false);
        assert_eq!(take(&room), 10_000);
        room.open_reserve(true);
        room.open_reserve(true);
        assert_eq!(take(&room), 10_000);
        room.give_back(1000);
        assert_eq!(take(&room), 1000);
        // Closed, it comes back before anybody else gets room.
        room.open_reserve(false);
        room.give_back(9000);
        room.open_reserve(false);
        assert_eq!(take(&room), 0);
        room.give_back(1500);
        assert_eq!(take(&room), 500);
        // What has not come back need not be lent again.
        room.open_reserve(true);
        assert_eq!(take(&room), 10_000);
        room.give_back(20_000);
        assert!(room.is_all_free());
        room.open_reserve(false);
        assert!(room.is_all_free());
        assert_eq!(take(&room), 10_000);
        room.give_back(10_000);
        assert!(room.is_all_free());
    }

    #[test]
    fn a_bound_that_was_asked_for_has_no_reserve() {
        let room = RecordRoom::new(&WriterOptions { max_outstanding_records: Some(7), ..WriterOptions::default() });
        room.open_reserve(true);
        assert_eq!(take(&room), 7);
        room.open_reserve(false);
        room.give_back(7);
        assert!(room.is_all_free());
        assert_eq!(take(&room), 7);
    }
}
