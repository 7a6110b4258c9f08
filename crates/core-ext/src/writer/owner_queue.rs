//! Outcomes of rows that were handed over in blocks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::driver::WriterKey;
use super::outcome::{CellRef, Outcome};

/// Outcomes that the owners of their rows are to be told of. Those of one owner mostly come together.
pub(super) struct OwnerQueue<K: WriterKey>(Vec<Outcome<K>>);

impl<K: WriterKey> Default for OwnerQueue<K> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: WriterKey> OwnerQueue<K> {
    pub(super) fn push(&mut self, tag: CellRef<K>) {
        let same = |last: &Outcome<K>| match (last.owner(), tag.owner()) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        if self.0.last().is_some_and(|last| !same(last)) {
            self.tell();
        }
        self.0.push(Outcome::new(tag));
    }

    pub(super) fn tell(&mut self) {
        if let Some(owner) = self.0.first().and_then(Outcome::owner)
            && catch_unwind(AssertUnwindSafe(|| owner.told(&self.0))).is_err()
        {
            crate::logging::error!("the owner of the rows of a writer panicked");
        }
        self.0.clear();
    }
}
