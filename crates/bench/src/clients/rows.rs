//! Batch rows built before the run, for `--prebuilt-keys`: a row owns its key, so whoever builds no keys builds no rows.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use aerospike_core::{Bin, Key};

use crate::conductor::Stage;
use crate::workload::Request;

/// Batches per worker: enough that a batch's records are not those of the call before.
const PER_WORKER: usize = 16;

/// Lists of rows that the calls of all workers take turns with. Empty unless the run asks for prebuilt keys.
#[derive(Debug)]
pub(crate) struct PrebuiltRows<R> {
    reads: Mutex<VecDeque<Vec<R>>>,
    writes: Mutex<VecDeque<Vec<R>>>,
}

impl<R> PrebuiltRows<R> {
    /// Builds the rows with `read` and `write`; they stay for as long as the process lives.
    pub(crate) fn leak(stage: &Stage, read: impl Fn(Key) -> R, write: impl Fn(Key, Bin) -> R) -> &'static Self {
        let (mut reads, mut writes) = (VecDeque::new(), VecDeque::new());
        let lists = if stage.spec().prebuilt_keys { stage.spec().concurrency() * PER_WORKER } else { 0 };
        let mut source = stage.fresh_source();
        while reads.len() + writes.len() < lists {
            match source.next_request() {
                Request::BatchRead(keys) => reads.push_back(keys.into_iter().map(&read).collect()),
                Request::BatchWrite(rows) => {
                    writes.push_back(rows.into_iter().map(|(key, bin)| write(key, bin)).collect());
                }
                _ => break,
            }
        }
        Box::leak(Box::new(Self { reads: Mutex::new(reads), writes: Mutex::new(writes) }))
    }

    fn list(&self, read: bool) -> &Mutex<VecDeque<Vec<R>>> {
        if read { &self.reads } else { &self.writes }
    }

    /// The rows whose turn it is. `None`: all are in use.
    pub(crate) fn take(&self, read: bool) -> Option<Vec<R>> {
        self.list(read).lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    pub(crate) fn give_back(&self, read: bool, rows: Vec<R>) {
        self.list(read).lock().unwrap_or_else(PoisonError::into_inner).push_back(rows);
    }
}
