//! Batches that aerospike-core carries out: with operations that were made there.

use crate::batch::{BatchOperation, RowPatches};
use crate::error::Result;

/// Rows and their copies for aerospike-core.
pub(in crate::client) struct Delegated<'a> {
    rows: &'a mut [BatchOperation],
    core: Vec<aerospike_core::BatchOperation>,
}

impl<'a> Delegated<'a> {
    /// # Errors
    /// A row cannot be sent.
    pub(in crate::client) fn new(rows: &'a mut [BatchOperation], patches: RowPatches) -> Result<Self> {
        rows.iter_mut().for_each(BatchOperation::clear);
        let core = rows.iter().map(|row| row.to_core(patches)).collect::<Result<_>>()?;
        Ok(Self { rows, core })
    }

    pub(in crate::client) fn core_rows(&mut self) -> &mut [aerospike_core::BatchOperation] {
        &mut self.core
    }

    /// Takes over the outcomes; `result` is that of the call.
    pub(in crate::client) fn finish(self, result: Result<()>) -> Result<()> {
        for (row, core) in self.rows.iter_mut().zip(self.core) {
            row.absorb(core);
        }
        if let Err(error) = &result {
            self.rows.iter_mut().for_each(|row| row.stamp_unanswered(error));
        }
        result
    }
}
