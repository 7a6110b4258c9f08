//! What open transactions have written: versions of records that only their own requests see.
//!
//! They lie beside the table, which always has what is committed: indexes, counts and everyone else's reads know nothing
//! of them until they are rolled forward.

use super::{Partition, Record, Sets};
use crate::request::TxnId;
use std::collections::HashMap;

/// The provisional versions of a partition.
#[expect(clippy::box_collection, reason = "mostly there are none, and requests look at all of a partition")]
#[derive(Debug, Clone, Default)]
pub(super) struct Provisional(Option<Box<HashMap<[u8; 20], Held>>>);

/// A record that a transaction holds.
#[derive(Debug, Clone)]
struct Held {
    by: TxnId,
    /// `None`: deleted.
    record: Option<Record>,
}

impl Provisional {
    #[inline]
    fn get(&self, digest: &[u8; 20]) -> Option<&Held> {
        // Asked for each record of namespaces with transactions.
        self.0.as_ref()?.get(digest)
    }

    fn insert(&mut self, digest: &[u8; 20], held: Held) {
        self.0.get_or_insert_default().insert(*digest, held);
    }

    fn remove(&mut self, digest: &[u8; 20]) -> Option<Held> {
        let held = self.0.as_mut()?.remove(digest);
        self.0.take_if(|versions| versions.is_empty());
        held
    }
}

impl Partition {
    /// Number of records that transactions hold.
    pub(crate) fn provisional_count(&self) -> usize {
        self.provisional.0.as_ref().map_or(0, |versions| versions.len())
    }

    /// The transaction that holds a record.
    #[inline]
    pub(crate) fn holder(&self, digest: &[u8; 20]) -> Option<TxnId> {
        self.provisional.get(digest).map(|held| held.by)
    }

    /// A record as a transaction sees it, or (`None`) everyone else.
    #[inline]
    pub(crate) fn view(&self, digest: &[u8; 20], txn: Option<TxnId>) -> Option<&Record> {
        match txn.and_then(|txn| self.provisional.get(digest).filter(|held| held.by == txn)) {
            Some(held) => held.record.as_ref(),
            None => self.find(digest),
        }
    }

    /// [`put`](Self::put) for everyone, or for a transaction alone.
    #[inline]
    pub(crate) fn put_for(&mut self, sets: &Sets, digest: &[u8; 20], bytes: &[u8], txn: Option<TxnId>) {
        match txn {
            None => self.put(sets, digest, bytes),
            Some(by) => {
                let record = Some(Record::from_bytes(bytes));
                self.provisional.insert(digest, Held { by, record });
            }
        }
    }

    /// [`remove`](Self::remove) for everyone, or for a transaction alone.
    pub(crate) fn remove_for(&mut self, sets: &Sets, digest: &[u8; 20], txn: Option<TxnId>) {
        match txn {
            None => {
                self.remove(sets, digest);
            }
            Some(by) => {
                self.provisional.insert(digest, Held { by, record: None });
            }
        }
    }

    /// Makes what a transaction has written to a record the record (`forward`), or forgets it. Does nothing to records
    /// that it does not hold.
    pub(crate) fn roll(&mut self, sets: &Sets, digest: &[u8; 20], txn: TxnId, forward: bool) {
        if self.holder(digest) != Some(txn) {
            return;
        }
        let Some(held) = self.provisional.remove(digest) else { return };
        match held.record {
            _ if !forward => {}
            Some(record) => self.put(sets, digest, record.as_bytes()),
            None => {
                self.remove(sets, digest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{RecordParts, SetId};

    const DIGEST: [u8; 20] = [7; 20];

    fn bytes(generation: u16) -> Vec<u8> {
        let mut bytes = Vec::new();
        let parts = RecordParts {
            digest: &DIGEST,
            generation,
            set_id: SetId::NONE,
            void_time: 0,
            last_update_ms: 1,
            key: &[],
            n_bins: 0,
        };
        Record::encode(&parts, &mut bytes);
        bytes
    }

    #[test]
    fn a_transaction_alone_sees_what_it_has_written() {
        let (sets, mut partition) = (Sets::default(), Partition::default());
        let seen = |partition: &Partition, txn| partition.view(&DIGEST, txn).map(Record::generation);
        partition.put_for(&sets, &DIGEST, &bytes(1), None);
        partition.put_for(&sets, &DIGEST, &bytes(2), Some(5));
        assert_eq!([None, Some(5), Some(6)].map(|txn| seen(&partition, txn)), [Some(1), Some(2), Some(1)]);
        assert_eq!((partition.holder(&DIGEST), partition.len(), partition.provisional_count()), (Some(5), 1, 1));
        partition.remove_for(&sets, &DIGEST, Some(5));
        assert_eq!([None, Some(5)].map(|txn| seen(&partition, txn)), [Some(1), None]);
        partition.roll(&sets, &DIGEST, 6, true);
        assert_eq!(partition.holder(&DIGEST), Some(5), "another's");
        partition.roll(&sets, &DIGEST, 5, true);
        assert_eq!((partition.holder(&DIGEST), seen(&partition, None), partition.len()), (None, None, 0));
        partition.put_for(&sets, &DIGEST, &bytes(3), Some(5));
        partition.roll(&sets, &DIGEST, 5, false);
        assert_eq!(seen(&partition, Some(5)), None);
        partition.put_for(&sets, &DIGEST, &bytes(4), Some(5));
        partition.roll(&sets, &DIGEST, 5, true);
        assert_eq!(seen(&partition, None), Some(4));
    }
}
