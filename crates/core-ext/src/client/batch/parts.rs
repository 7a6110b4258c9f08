//! How large batches are cut, and how long they may take.
//!
//! A node works on one request at a time per connection, and holds its whole answer in memory, as the client does. Servers
//! can be set to refuse requests of many rows (`batch-max-requests`). So the rows that go to one node are cut into parts:
//! requests of at most [`PART_ROWS`] rows and about [`PART_BYTES`]. [`PARTS_IN_FLIGHT`] of them are on their way to a node
//! at the same time; the others wait in its [`Line`], and are sent as answers arrive. A batch that fits into one part per
//! node knows nothing of this.

use std::collections::VecDeque;

use aerospike_core::BasePolicy;

use super::call::NodeGroup;
use crate::topology::NodeId;

/// Most rows of a part. Chosen, not measured: many enough that what a request costs by itself is nothing per row, and well below
/// the 5,000 that servers were long set to refuse.
pub(super) const PART_ROWS: usize = 1000;
/// Most bytes of a part's request, unless a single row has more.
pub(super) const PART_BYTES: usize = 1024 * 1024;
/// Parts of one batch that are sent to a node before the first of them is answered: one that the node works on, and
/// others that are on their way or being decoded meanwhile.
pub(super) const PARTS_IN_FLIGHT: usize = 4;
/// Bytes of encoded requests that a batch keeps for parts in line. Later ones are encoded once more when their turn comes:
/// all are encoded before the first is sent, so that an argument that cannot be sent fails the call as a whole.
pub(super) const KEPT_BYTES: usize = 16 * 1024 * 1024;
/// Rows that are encoded first, to estimate the size of the rest, where there are more than [`PROBE_FROM`].
pub(super) const PROBE: usize = 16;
pub(super) const PROBE_FROM: usize = 256;

/// The total timeout of a policy that does not set one, in milliseconds.
const DEFAULT_TIMEOUT_MS: u32 = 1000;
/// A batch has the default timeout once for each so many rows,
const ROWS_PER_TIMEOUT: usize = 5000;
/// or once for each so many bytes of its requests, whichever is longer.
const BYTES_PER_TIMEOUT: usize = 8 * 1024 * 1024;

/// The time limit of a batch of this size, in milliseconds, where it is not that of its policy: the default of 1 s grows by
/// 1 s for each further 5,000 rows or 8 MiB. Any other timeout is the caller's, and holds exactly.
pub(super) fn limit_ms(policy: &BasePolicy, rows: usize, bytes: usize) -> Option<u32> {
    if policy.total_timeout != DEFAULT_TIMEOUT_MS {
        return None;
    }
    let times = rows.div_ceil(ROWS_PER_TIMEOUT).max(bytes.div_ceil(BYTES_PER_TIMEOUT));
    (times > 1).then(|| u32::try_from(times).map_or(u32::MAX, |times| times.saturating_mul(DEFAULT_TIMEOUT_MS)))
}

/// Into how many parts rows of this size are cut, if they are.
pub(super) fn parts_of(rows: usize, bytes: usize) -> usize {
    rows.div_ceil(PART_ROWS).max(bytes.div_ceil(PART_BYTES)).min(rows)
}

/// Lengths of so many parts of about the same size.
pub(super) fn even(rows: usize, parts: usize) -> impl Iterator<Item = usize> {
    let (least, more) = (rows / parts, rows % parts);
    (0..parts).map(move |part| least + usize::from(part < more))
}

/// Parts that wait for their turn, by node.
#[derive(Default)]
pub(super) struct Line<'a>(Vec<(NodeId, VecDeque<NodeGroup<'a>>)>);

impl<'a> Line<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn of(&mut self, node: NodeId) -> &mut VecDeque<NodeGroup<'a>> {
        let at = self.0.iter().position(|(id, _)| *id == node).unwrap_or_else(|| {
            self.0.push((node, VecDeque::new()));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }

    pub(super) fn join(&mut self, group: NodeGroup<'a>) {
        self.of(group.node.id()).push_back(group);
    }

    /// To the front: it has had its turn before.
    pub(super) fn join_first(&mut self, group: NodeGroup<'a>) {
        self.of(group.node.id()).push_front(group);
    }

    /// The next part for a node.
    pub(super) fn next(&mut self, node: NodeId) -> Option<NodeGroup<'a>> {
        let at = self.0.iter().position(|(id, _)| *id == node)?;
        let next = self.0[at].1.pop_front();
        if self.0[at].1.is_empty() {
            self.0.swap_remove(at);
        }
        next
    }

    /// The nodes that parts wait for.
    pub(super) fn nodes(&self) -> Vec<NodeId> {
        let mut nodes: Vec<_> = self.0.iter().map(|(id, _)| *id).collect();
        nodes.sort();
        nodes
    }
}

#[cfg(test)]
mod tests {
    use aerospike_core::BatchPolicy;

    use super::*;

    #[test]
    fn the_default_limit_grows_and_others_hold() {
        let mut policy = BatchPolicy::default().base_policy;
        assert_eq!(policy.total_timeout, DEFAULT_TIMEOUT_MS, "aerospike-core has another default");
        let cases = [
            ((0, 0), None),
            ((5000, 8 << 20), None),
            ((5001, 0), Some(2000)),
            ((200_000, 20 << 20), Some(40_000)),
            ((10, 100 << 20), Some(13_000)),
            ((usize::MAX, 0), Some(u32::MAX)),
        ];
        for ((rows, bytes), expected) in cases {
            assert_eq!(limit_ms(&policy, rows, bytes), expected, "{rows} rows of {bytes} bytes");
        }
        for exact in [0, 999, 1001, 30_000] {
            policy.total_timeout = exact;
            assert_eq!(limit_ms(&policy, 1_000_000, 1 << 30), None);
        }
    }

    #[test]
    fn parts_are_even_and_whole() {
        assert_eq!(parts_of(128, 4096), 1);
        assert_eq!(parts_of(PART_ROWS, PART_BYTES), 1);
        assert_eq!(parts_of(PART_ROWS + 1, 0), 2);
        assert_eq!(parts_of(10, 5 * PART_BYTES), 5);
        assert_eq!(parts_of(2, 50 * PART_BYTES), 2, "a row is never cut");
        assert_eq!(even(10, 3).collect::<Vec<_>>(), [4, 3, 3]);
        assert_eq!(even(200_001, 201).sum::<usize>(), 200_001);
    }
}
