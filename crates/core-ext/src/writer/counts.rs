//! What a writer counts, and what it tells of that.

use std::sync::Arc;
use std::time::Duration;

use super::retry::RetryClass;

/// What is counted of all records.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    pub(super) handed_over: u64,
    pub(super) bytes: u64,
    pub(super) ok: u64,
    pub(super) failed: u64,
    pub(super) in_doubt: u64,
    pub(super) expired: u64,
    pub(super) retries: u64,
    pub(super) requests: u64,
    pub(super) singles: u64,
    pub(super) attempts: u64,
    /// By class.
    pub(super) failed_attempts: [u64; 4],
}

/// What is known of one node.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NodeCounts {
    pub(super) requests: u64,
    pub(super) records: u64,
    pub(super) queued: usize,
    pub(super) in_flight: usize,
    pub(super) records_per_second_limit: Option<f64>,
    pub(super) throttled: u64,
}

/// How far a writer has come: cheap to ask for, as often as one likes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Records that were handed over.
    pub handed_over: u64,
    /// Of these, confirmed by the server.
    pub ok: u64,
    /// Of these, failed.
    pub failed: u64,
    /// Of these, without an outcome.
    pub outstanding: usize,
    /// Bytes of the records without an outcome, encoded.
    pub outstanding_bytes: usize,
    /// Since the writer was made.
    pub elapsed: Duration,
}

impl Progress {
    /// Records that have their outcome.
    #[must_use]
    pub const fn done(&self) -> u64 {
        self.ok + self.failed
    }
}

/// What a writer has counted since it was made.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WriterMetrics {
    /// Records handed over, confirmed, failed, outstanding.
    pub progress: Progress,
    /// Bytes of all records that were handed over, encoded.
    pub bytes: u64,
    /// Failed records that may have been written all the same.
    pub in_doubt: u64,
    /// Failed records whose time to live was over.
    pub expired: u64,
    /// Requests that were sent: batches and single commands.
    pub requests: u64,
    /// Of these, with one record.
    pub single_requests: u64,
    /// Attempts of records: how many records all requests held.
    pub attempts: u64,
    /// Retries that count, as of [`WriterOptions::max_retries`](crate::WriterOptions::max_retries).
    pub retries: u64,
    /// Attempts that met a moved partition.
    pub moved: u64,
    /// Attempts that were throttled.
    pub throttled: u64,
    /// Attempts that ended in a transient failure.
    pub transient: u64,
    /// Attempts that ended in a permanent failure.
    pub permanent: u64,
    /// By node.
    pub nodes: Vec<WriterNodeMetrics>,
}

/// What a writer knows of one node.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WriterNodeMetrics {
    /// The node, as `NAME: host:port`.
    pub node: Arc<str>,
    /// Requests that were sent to it.
    pub requests: u64,
    /// How many records they held.
    pub records: u64,
    /// Records that wait to be sent.
    pub queued: usize,
    /// Requests in flight.
    pub in_flight: usize,
    /// The present limit of records a second; `None`: there is none.
    pub records_per_second_limit: Option<f64>,
    /// Records that it refused because it had too much to do.
    pub throttled: u64,
}

impl Counts {
    pub(super) fn progress(&self, (outstanding, outstanding_bytes): (usize, usize), elapsed: Duration) -> Progress {
        let (handed_over, ok, failed) = (self.handed_over, self.ok, self.failed);
        Progress { handed_over, ok, failed, outstanding, outstanding_bytes, elapsed }
    }

    pub(super) fn metrics(&self, progress: Progress, nodes: Vec<WriterNodeMetrics>) -> WriterMetrics {
        let of = |class: RetryClass| self.failed_attempts[class as usize];
        WriterMetrics {
            progress,
            bytes: self.bytes,
            in_doubt: self.in_doubt,
            expired: self.expired,
            requests: self.requests,
            single_requests: self.singles,
            attempts: self.attempts,
            retries: self.retries,
            moved: of(RetryClass::Moved),
            throttled: of(RetryClass::Throttled),
            transient: of(RetryClass::Transient),
            permanent: of(RetryClass::Permanent),
            nodes,
        }
    }
}

impl NodeCounts {
    pub(super) const fn metrics(self, node: Arc<str>) -> WriterNodeMetrics {
        let Self { requests, records, queued, in_flight, records_per_second_limit, throttled } = self;
        WriterNodeMetrics { node, requests, records, queued, in_flight, records_per_second_limit, throttled }
    }
}
