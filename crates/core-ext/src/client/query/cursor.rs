//! Where a query stands: what has been taken out of it, by partition.

use aerolane_wire::digest::{Digest, PARTITIONS, partition_id};

use crate::error::{Error, Result};

/// Where a query stands in one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartitionPlace {
    /// The last record that was taken out: the next ones come behind it. `None`: from the beginning.
    pub last: Option<Digest>,
    /// The value of that record in the index that the query goes by; 0 without an index.
    pub index_value: u64,
    /// Whether there may be more.
    pub open: bool,
}

impl PartitionPlace {
    const START: Self = Self { last: None, index_value: 0, open: true };
}

/// Where a query stands in each partition of a range. A later query of the same records with the same cursor goes on
/// behind those that were taken out of this one.
///
/// With [`QueryPolicy::max_records`](aerospike_core::QueryPolicy) it goes on in the partitions that were not read to
/// their ends. Without, it asks all partitions for what lies behind their places: after a query that was read to its end
/// these are records which are new since, as far as their digests come later in the partition's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    begin: u16,
    places: Vec<PartitionPlace>,
}

impl Cursor {
    /// All partitions, from their beginnings.
    #[must_use]
    pub fn all() -> Self {
        Self { begin: 0, places: vec![PartitionPlace::START; PARTITIONS] }
    }

    /// `count` partitions from partition `begin` on.
    ///
    /// # Errors
    /// `InvalidArgument`: none, or some that do not exist (there are 4096).
    pub fn range(begin: usize, count: usize) -> Result<Self> {
        Self::with_places(begin, vec![PartitionPlace::START; count.min(PARTITIONS + 1)])
    }

    /// What lies behind this digest in its partition. For queries without an index.
    #[must_use]
    pub fn behind(digest: Digest) -> Self {
        let place = PartitionPlace { last: Some(digest), ..PartitionPlace::START };
        Self { begin: partition_id(&digest), places: vec![place] }
    }

    /// Partitions from `begin` on, each at its place, as [`places`](Self::places) has given them.
    ///
    /// # Errors
    /// As [`range`](Self::range).
    pub fn with_places(begin: usize, places: Vec<PartitionPlace>) -> Result<Self> {
        if places.is_empty() || begin >= PARTITIONS || places.len() > PARTITIONS - begin {
            return Err(Error::invalid_argument(format!(
                "{} partitions from {begin} on: there are {PARTITIONS}, from 0 on",
                places.len()
            )));
        }
        Ok(Self { begin: begin as u16, places })
    }

    /// The first partition.
    #[must_use]
    pub const fn begin(&self) -> u16 {
        self.begin
    }

    /// The places, in the order of the partitions.
    #[must_use]
    pub fn places(&self) -> &[PartitionPlace] {
        &self.places
    }

    /// Whether all partitions were read to their ends.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.places.iter().all(|place| !place.open)
    }

    /// Opens all partitions.
    pub(super) fn reopen(&mut self) {
        self.places.iter_mut().for_each(|place| place.open = true);
    }

    pub(super) fn place(&self, partition: u16) -> Option<&PartitionPlace> {
        self.places.get(usize::from(partition.checked_sub(self.begin)?))
    }

    pub(super) fn place_mut(&mut self, partition: u16) -> Option<&mut PartitionPlace> {
        self.places.get_mut(usize::from(partition.checked_sub(self.begin)?))
    }

    /// A partition was read to its end.
    pub(super) fn close(&mut self, partition: u16) {
        if let Some(place) = self.place_mut(partition) {
            place.open = false;
        }
    }

    /// The partitions that are open.
    pub(super) fn open(&self) -> impl Iterator<Item = u16> {
        (self.begin..).zip(&self.places).filter(|(_, place)| place.open).map(|(partition, _)| partition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_lie_within_the_partitions() {
        assert_eq!(Cursor::range(0, 4096).unwrap(), Cursor::all());
        assert_eq!(Cursor::range(4095, 1).unwrap().open().collect::<Vec<_>>(), [4095]);
        for (begin, count) in [(0, 0), (4096, 1), (4095, 2), (0, 4097), (usize::MAX, 1), (1, usize::MAX)] {
            assert!(Cursor::range(begin, count).is_err(), "{begin} {count}");
        }
    }

    #[test]
    fn behind_a_digest_is_one_partition() {
        let mut digest = [7; 20];
        digest[..2].copy_from_slice(&[0x34, 0xf2]);
        let cursor = Cursor::behind(digest);
        assert_eq!((cursor.begin(), cursor.places().len()), (0x234, 1));
        assert_eq!(cursor.place(0x234).unwrap().last, Some(digest));
        assert_eq!((cursor.place(0x233), cursor.place(0x235)), (None, None));
        assert!(!cursor.is_done());
    }
}
