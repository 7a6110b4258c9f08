//! How many answers each node, and all nodes together, have given to all lanes of a client.
//!
//! A lane that uses more connections gets more of a busy node's time, and takes it from the other lanes. Only what all of them get
//! together tells a gain from that. What all nodes answer is what the client's processors have to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::sync::Mutex;

/// Lanes that count on a cache line of their own; further ones share those.
const SHARDS: usize = 8;

/// Kinds of requests whose answers are counted apart: those that have connections apart.
pub(crate) const KINDS: usize = 3;

/// A number that several lanes count up together.
#[derive(Debug, Default)]
struct Shards {
    shards: [Shard; SHARDS],
    /// How many lanes have begun to count.
    lanes: AtomicUsize,
}

impl Shards {
    fn sum(&self) -> u64 {
        let lanes = self.lanes.load(Ordering::Relaxed).min(SHARDS);
        self.shards[..lanes].iter().map(|shard| shard.0.load(Ordering::Relaxed)).sum()
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
}

impl Answers {
    /// Where one more lane counts the answers of a node to requests of one kind.
    pub(crate) fn counter(&self, node: usize, kind: usize) -> AnswerCounter {
        let mut by_node = self.by_node.lock();
        if by_node.len() <= node {
            by_node.resize_with(node + 1, Default::default);
        }
        let of_node = Arc::clone(&by_node[node][kind]);
        let shard = of_node.lanes.fetch_add(1, Ordering::Relaxed) % SHARDS;
        // The same cache line for all nodes of a lane: no other lane writes there, up to `SHARDS` of them.
        self.of_client.lanes.fetch_max(shard + 1, Ordering::Relaxed);
        AnswerCounter { of: Some((of_node, Arc::clone(&self.of_client))), shard }
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
    /// Those of all nodes, to requests of all kinds that are counted.
    pub(crate) client: u64,
}

impl AnswerCounter {
    #[inline]
    pub(crate) fn add(&self, answers: u32) {
        if let Some((node, client)) = &self.of {
            for of in [node, client] {
                of.shards[self.shard].0.fetch_add(u64::from(answers), Ordering::Relaxed);
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
        // Each lane also counts the answers of other nodes, as many as there are cache lines.
        let lane = || (0..SHARDS).map(|node| answers.counter(node, 2)).nth(1).unwrap();
        let lanes: Vec<_> = std::iter::repeat_with(lane).take(2 * SHARDS).collect();
        for lane in &lanes {
            lane.add(3);
        }
        answers.counter(0, 2).add(100);
        answers.counter(1, 0).add(10);
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
