//! Outcomes of records that were handed over together.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::driver::WriterKey;
use super::outcome::{CellRef, Outcome};

/// Outcomes that the sinks of their records are to be told of. Those of one sink mostly come together.
pub(super) struct SinkQueue<K: WriterKey>(Vec<Outcome<K>>);

impl<K: WriterKey> Default for SinkQueue<K> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: WriterKey> SinkQueue<K> {
    pub(super) fn push(&mut self, tag: CellRef<K>) {
        let same = |last: &Outcome<K>| match (last.sink(), tag.sink()) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        if self.0.last().is_some_and(|last| !same(last)) {
            self.tell();
        }
        self.0.push(Outcome::new(tag));
    }

    pub(super) fn tell(&mut self) {
        if let Some(sink) = self.0.first().and_then(Outcome::sink)
            && catch_unwind(AssertUnwindSafe(|| sink(&self.0))).is_err()
        {
            crate::logging::error!("a sink for the outcomes of a writer panicked");
        }
        self.0.clear();
    }
}
