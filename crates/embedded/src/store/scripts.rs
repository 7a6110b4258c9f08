//! Whose turn it is of the scripts that work on one record.

use parking_lot::{Condvar, Mutex};
use std::collections::HashSet;

/// The records that scripts work on.
#[derive(Debug, Default)]
pub(crate) struct Scripts {
    busy: Mutex<HashSet<[u8; 20]>>,
    done: Condvar,
}

/// A script's turn on a record, until it is dropped.
pub(crate) struct Turn<'a> {
    scripts: &'a Scripts,
    digest: [u8; 20],
}

impl Scripts {
    /// Waits until no other script works on the record.
    pub(crate) fn turn(&self, digest: &[u8; 20]) -> Turn<'_> {
        let mut busy = self.busy.lock();
        while !busy.insert(*digest) {
            self.done.wait(&mut busy);
        }
        Turn { scripts: self, digest: *digest }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.scripts.busy.lock().remove(&self.digest);
        self.scripts.done.notify_all();
    }
}
