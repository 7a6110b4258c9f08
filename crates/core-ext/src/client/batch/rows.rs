//! The rows of a batch, as far as [`BatchCall`](super::call::BatchCall) has to know them.

use std::sync::Arc;

use aerolane_wire::digest::{Digest, partition_id};
use aerospike_core::BatchPolicy;

use crate::batch::{self, BatchOperation, RowAnswer, RowPatches};
use crate::error::{Error, Result};

/// Where a row goes.
pub(in crate::client) struct Target<'r> {
    pub(in crate::client) namespace: &'r str,
    pub(in crate::client) digest: &'r Digest,
    pub(in crate::client) writes: bool,
}

/// The rows of one call, each with its outcome. Rows are named by their places.
pub(in crate::client) trait Rows {
    fn count(&self) -> usize;

    /// Where a row goes; `take` is given it.
    fn target<R>(&self, row: u32, take: impl FnOnce(Target<'_>) -> R) -> R;

    fn has_write(&self, row: u32) -> bool;

    /// The set of a row, for logs; empty: the null set.
    fn set_of(&self, row: u32) -> String;

    /// Whether a row has no outcome yet.
    fn is_pending(&self, row: u32) -> bool;

    /// A call begins: lets go of what is kept for all rows together.
    fn begin(&mut self);

    /// A row back to pending.
    fn clear(&mut self, row: u32);

    /// A row has failed by itself.
    fn fail(&mut self, row: u32, error: Error);

    /// The request with this row failed; not called for rows with an outcome. Reads are never in doubt.
    fn stamp_unanswered(&mut self, row: u32, cause: &Error);

    /// Appends one frame with these rows; the wire's index of a row is its place in `rows`. `how`: the policy, and what
    /// goes over those of the rows.
    fn encode(&self, how: (&BatchPolicy, RowPatches), rows: &[u32], timeout_ms: u32, out: &mut Vec<u8>) -> Result<()>;

    /// Takes in a row's answer. `sent` counts the requests that held the row, for "in doubt".
    fn answer(&mut self, policy: &BatchPolicy, row: u32, answer: &mut RowAnswer<'_, '_>, sent: u32) -> Result<()>;

    /// Whether the caller sends less by itself to a node that has too much to do.
    fn are_paced(&self) -> bool {
        false
    }

    /// Whether a row that is alone on its node can go as a plain command.
    fn fits_single(&self, row: u32) -> bool;

    /// Appends the frame of that command.
    fn encode_single(
        &self,
        how: (&BatchPolicy, RowPatches),
        row: u32,
        timeout_ms: u32,
        out: &mut Vec<u8>,
    ) -> Result<()>;

    /// Takes in the answer to that command. The inner failure is the server's: the row is pending then.
    fn answer_single(&mut self, policy: &BatchPolicy, row: u32, body: &[u8], node: &Arc<str>) -> Result<Option<Error>>;
}

/// Defines the methods that rows which stand over others leave to those, their field `rows`.
macro_rules! left_to_rows {
    () => {
        fn count(&self) -> usize {
            self.rows.count()
        }

        #[inline]
        fn target<T>(&self, row: u32, take: impl FnOnce(Target<'_>) -> T) -> T {
            self.rows.target(row, take)
        }

        #[inline]
        fn has_write(&self, row: u32) -> bool {
            self.rows.has_write(row)
        }

        fn set_of(&self, row: u32) -> String {
            self.rows.set_of(row)
        }

        #[inline]
        fn is_pending(&self, row: u32) -> bool {
            self.rows.is_pending(row)
        }

        fn begin(&mut self) {
            self.rows.begin();
        }

        fn clear(&mut self, row: u32) {
            self.rows.clear(row);
        }

        fn fail(&mut self, row: u32, error: Error) {
            self.rows.fail(row, error);
        }
    };
}

pub(in crate::client) use left_to_rows;

impl Target<'_> {
    pub(super) fn partition(&self) -> u16 {
        partition_id(self.digest)
    }
}

impl Rows for [BatchOperation] {
    fn count(&self) -> usize {
        self.len()
    }

    #[inline]
    fn target<R>(&self, row: u32, take: impl FnOnce(Target<'_>) -> R) -> R {
        let row = &self[row as usize];
        let key = row.key();
        take(Target { namespace: key.namespace(), digest: &key.digest(), writes: row.has_write() })
    }

    #[inline]
    fn has_write(&self, row: u32) -> bool {
        self[row as usize].has_write()
    }

    fn set_of(&self, row: u32) -> String {
        self[row as usize].key().set_name().to_owned()
    }

    #[inline]
    fn is_pending(&self, row: u32) -> bool {
        self[row as usize].is_pending()
    }

    fn begin(&mut self) {}

    #[inline]
    fn clear(&mut self, row: u32) {
        self[row as usize].clear();
    }

    fn fail(&mut self, row: u32, error: Error) {
        self[row as usize].fail(error);
    }

    fn stamp_unanswered(&mut self, row: u32, cause: &Error) {
        self[row as usize].stamp_unanswered(cause);
    }

    fn encode(&self, how: (&BatchPolicy, RowPatches), rows: &[u32], timeout_ms: u32, out: &mut Vec<u8>) -> Result<()> {
        batch::encode_patched(how, self, rows, timeout_ms, out)
    }

    #[inline]
    fn answer(&mut self, policy: &BatchPolicy, row: u32, answer: &mut RowAnswer<'_, '_>, sent: u32) -> Result<()> {
        self[row as usize].answer(answer, policy.base_policy.populate_positional_results, sent)
    }

    fn fits_single(&self, row: u32) -> bool {
        batch::fits_single(&self[row as usize])
    }

    fn encode_single(
        &self,
        how: (&BatchPolicy, RowPatches),
        row: u32,
        timeout_ms: u32,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        batch::encode_single_patched(how, &self[row as usize], timeout_ms, out)
    }

    fn answer_single(&mut self, policy: &BatchPolicy, row: u32, body: &[u8], node: &Arc<str>) -> Result<Option<Error>> {
        let row = &mut self[row as usize];
        match batch::decode_single(policy, row, body, node)? {
            Err(error) => Ok(Some(error)),
            Ok(record) => {
                row.succeed(record);
                Ok(None)
            }
        }
    }
}
