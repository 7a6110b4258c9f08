//! Rows that a writer sends: each with a shape of its own, and with the node that answered.

use std::sync::Arc;

use aerospike_core::BatchPolicy;

use super::on_lane::run_by;
use super::raw_rows::{RawBatch, RawKey, RawOutcome, RawShape};
use super::rows::{Rows, Target, left_to_rows};
use crate::batch::{RowAnswer, RowPatches};
use crate::client::asynchronous::Shared;
use crate::driver::way::Way;
use crate::error::{Error, Result};

/// The rows of one request of a writer.
pub(crate) struct WrittenRows<K> {
    rows: RawBatch<K>,
    /// Who answered each row.
    nodes: Vec<Option<Arc<str>>>,
    /// What the rows take in a request, about.
    bytes: usize,
}

impl<K: RawKey> WrittenRows<K> {
    pub(crate) fn with_capacity(rows: usize) -> Self {
        let mut batch = RawBatch::with_capacity(rows);
        batch.reserve_shapes();
        Self { rows: batch, nodes: Vec::with_capacity(rows), bytes: 0 }
    }

    pub(crate) fn push(&mut self, key: K, shape: RawShape) {
        self.bytes += shape.row_size(&key);
        self.rows.shape(shape);
        self.rows.push(key);
        self.nodes.push(None);
    }

    /// Carries the rows out on the calling task's lane, by exactly this policy.
    pub(crate) async fn write(&mut self, shared: &Shared, policy: &BatchPolicy) -> Result<()>
    where
        K: Send + Sync,
    {
        let lane = shared.lanes.mine()?;
        let nobody = None::<fn(usize, &Self) -> std::future::Ready<bool>>;
        run_by(&shared.cluster, Way::Tasks(&lane), policy, self, nobody).await
    }

    /// The keys, what their rows do, their outcomes, and who answered, in order.
    pub(crate) fn into_parts(self, mut each: impl FnMut(K, RawShape, RawOutcome<'_>, Option<Arc<str>>)) {
        let mut nodes = self.nodes.into_iter();
        self.rows.into_parts(|key, shape, outcome| each(key, shape, outcome, nodes.next().flatten()));
    }
}

impl<K: RawKey> Rows for WrittenRows<K> {
    left_to_rows!();

    fn stamp_unanswered(&mut self, row: u32, cause: &Error) {
        self.rows.stamp_unanswered(row, cause);
    }

    fn encode(&self, how: (&BatchPolicy, RowPatches), rows: &[u32], timeout_ms: u32, out: &mut Vec<u8>) -> Result<()> {
        // In one go: a request of a full batch would be moved a dozen times while it grows.
        if rows.len() == self.nodes.len() {
            out.reserve(self.bytes);
        }
        self.rows.encode(how, rows, timeout_ms, out)
    }

    fn answer(&mut self, policy: &BatchPolicy, row: u32, answer: &mut RowAnswer<'_, '_>, sent: u32) -> Result<()> {
        self.nodes[row as usize] = Some(Arc::clone(answer.node()));
        self.rows.answer(policy, row, answer, sent)
    }

    fn fits_single(&self, row: u32) -> bool {
        self.rows.fits_single(row)
    }

    fn encode_single(
        &self,
        how: (&BatchPolicy, RowPatches),
        row: u32,
        timeout_ms: u32,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.rows.encode_single(how, row, timeout_ms, out)
    }

    fn answer_single(&mut self, policy: &BatchPolicy, row: u32, body: &[u8], node: &Arc<str>) -> Result<Option<Error>> {
        self.nodes[row as usize] = Some(Arc::clone(node));
        self.rows.answer_single(policy, row, body, node)
    }
}
