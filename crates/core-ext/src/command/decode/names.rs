//! The bin names of an answer, and their hashes.

use std::hash::{BuildHasher, RandomState};
use std::str::Utf8Error;

use crate::names::same_bytes;

/// So many names are remembered, by their place in the record.
const KEPT: usize = 8;

/// Remembers the names of the record before: the rows of a batch mostly have the same ones, and hashing a name (with
/// the hasher that [`aerospike_core::Record`] asks for) costs more than all else about a bin.
///
/// The maps of one answer share a hasher for that; its keys are random, as those of every map are.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    hasher: RandomState,
    known: [(&'a str, u64); KEPT],
}

impl<'a> Names<'a> {
    pub(crate) fn new() -> Self {
        // No bin has an empty name: nothing is known of any place.
        Self { hasher: RandomState::new(), known: [("", 0); KEPT] }
    }

    /// The hasher that the hashes are of.
    pub(super) fn hasher(&self) -> RandomState {
        self.hasher.clone()
    }

    /// The name (not empty) of the operation at this place, checked, and its hash.
    #[inline]
    pub(super) fn look_up(&mut self, place: usize, name: &'a [u8]) -> Result<(&'a str, u64), Utf8Error> {
        debug_assert!(!name.is_empty(), "what has no name is no bin");
        if let Some(known) = self.known.get(place).filter(|(known, _)| same_bytes(known.as_bytes(), name)) {
            return Ok(*known);
        }
        self.learn(place, name)
    }

    fn learn(&mut self, place: usize, name: &'a [u8]) -> Result<(&'a str, u64), Utf8Error> {
        let name = std::str::from_utf8(name)?;
        let learnt = (name, self.hasher.hash_one(name));
        if let Some(known) = self.known.get_mut(place) {
            *known = learnt;
        }
        Ok(learnt)
    }
}
