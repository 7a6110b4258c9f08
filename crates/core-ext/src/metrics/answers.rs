//! How many answers each node, and all nodes together, have given to all lanes of a client.
//!
//! A lane that uses more connections gets more of a busy node's time, and takes it from the other lanes. Only what all of them get
//! together tells a gain from that. What all nodes answer says how much the client's processors have to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::sync::Mutex;

/// Lanes that count on a cache line of their own; further ones share those.
const SHARDS: usize = 8;

/// Kinds of requests whose answers are counted apart: those that have connections apart.
pub(crate) const KINDS: usize = 3;

/// A number that several lanes count up together.
#[derive(Debug, Default)]
struct Shards([Shard; SHARDS]);

impl Shards {
    fn sum(&self) -> u64 {
        self.0.iter().map(|shard| shard.0.load(Ordering::Relaxed)).sum()
    }
}

#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard(AtomicU64);

/// The answers of all nodes.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    by_node: Mutex<Vec<[Arc<Shards>; KINDS]>>,
    of_client: Arc<Shards>,
    /// How many lanes have begun to count.
    lanes: AtomicUsize,
}

impl Answers {
    /// The shard in which one more lane counts, the same for all nodes.
    pub(crate) fn shard(&self) -> usize {
        self.lanes.fetch_add(1, Ordering::Relaxed) % SHARDS
    }

    /// Where the lane with this shard counts the answers of a node to requests of one kind.
    pub(crate) fn counter(&self, node: usize, kind: usize, shard: usize) -> AnswerCounter {
        let mut by_node = self.by_node.lock();
        if by_node.len() <= node {
            by_node.resize_with(node + 1, Default::default);
        }
        AnswerCounter { of: Some((Arc::clone(&by_node[node][kind]), Arc::clone(&self.of_client))), shard }
    }
}

/// Counts the answers that a node gives to a lane. The default counts nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnswerCounter {
    of: Option<(Arc<Shards>, Arc<Shards>)>,
    shard: usize,
}

/// Answers to all lanes of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AnswerCounts {
    /// Those of one node, to requests of one kind.
    pub(crate) node: u64,
    /// Those of all nodes, to requests of all kinds but batches.
    pub(crate) client: u64,
}

impl AnswerCounter {
    #[inline]
    pub(crate) fn add(&self, answers: u32) {
        if let Some((node, client)) = &self.of {
            for of in [node, client] {
                of.0[self.shard].0.fetch_add(u64::from(answers), Ordering::Relaxed);
            }
        }
    }

    /// How many answers all lanes have had; `None`: nobody counts them.
    pub(crate) fn of_all_lanes(&self) -> Option<AnswerCounts> {
        self.of.as_ref().map(|(node, client)| AnswerCounts { node: node.sum(), client: client.sum() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lanes_are_counted_together() {
        let answers = Answers::default();
        let lanes: Vec<_> = (0..2 * SHARDS).map(|_| answers.counter(1, 2, answers.shard())).collect();
        for lane in &lanes {
            lane.add(3);
        }
        answers.counter(0, 2, 0).add(100);
        answers.counter(1, 0, 0).add(10);
        let node = 6 * SHARDS as u64;
        for lane in &lanes {
            assert_eq!(lane.of_all_lanes(), Some(AnswerCounts { node, client: node + 110 }));
        }
        let own_lines: std::collections::BTreeSet<_> = lanes[..SHARDS].iter().map(|lane| lane.shard).collect();
        assert_eq!(own_lines.len(), SHARDS);
        let alone = AnswerCounter::default();
        alone.add(1);
        assert_eq!(alone.of_all_lanes(), None);
    }
}
