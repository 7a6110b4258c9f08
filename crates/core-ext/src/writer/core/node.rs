//! What a writer keeps for each node.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::slots::SlotRef;
use crate::writer::counts::NodeCounts;
use crate::writer::options::WriterOptions;
use crate::writer::pace::Pace;
use crate::writer::rate::Limiter;
use crate::writer::width::Width;

/// A node that is sent nothing is looked at again after so long.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct NodeQueue {
    /// Some of them may be gone.
    pub(super) queue: VecDeque<SlotRef>,
    pub(super) records: usize,
    pub(super) bytes: usize,
    /// The blocks in its queue, and how many rows they have.
    pub(super) blocks: VecDeque<u64>,
    pub(super) block_rows: usize,
    /// The blocks that rows are added to, and how many these have.
    pub(super) open: Vec<u64>,
    pub(super) open_rows: usize,
    /// How many rows the block had that was closed last.
    pub(super) last_filled: usize,
    /// Senders, and how many of them have not taken their rows.
    pub(super) in_flight: usize,
    pub(super) starting: usize,
    pub(super) width: Width,
    /// When a sender has taken rows last.
    pub(super) sent: Option<Instant>,
    pub(super) limiter: Limiter,
    pub(super) pace: Pace,
    pub(super) counts: NodeCounts,
    /// Until when it is sent nothing.
    pub(super) refused_until: Option<Instant>,
}

impl NodeQueue {
    pub(super) fn new(options: &WriterOptions, now: Instant) -> Self {
        let (records, bytes) = (options.max_records_per_second_per_node, options.max_bytes_per_second_per_node);
        Self {
            queue: VecDeque::new(),
            records: 0,
            bytes: 0,
            blocks: VecDeque::new(),
            block_rows: 0,
            open: Vec::new(),
            open_rows: 0,
            last_filled: 0,
            in_flight: 0,
            starting: 0,
            width: Width::default(),
            sent: None,
            limiter: Limiter::new(records, bytes, now),
            pace: Pace::new(records, now),
            counts: NodeCounts::default(),
            refused_until: None,
        }
    }

    /// The cluster says that the node is to be sent nothing.
    pub(super) fn refuse(&mut self, now: Instant) {
        self.refused_until = Some(now + LOOK_AGAIN);
    }

    pub(super) fn is_refused(&self, now: Instant) -> bool {
        self.refused_until.is_some_and(|until| now < until)
    }
}
