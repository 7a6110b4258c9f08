//! The settings of a cluster that may change while it is open.

use std::time::Duration;

use aerospike_core::ClientPolicy;

/// Limits of a node's time to answer, whatever `ClientPolicy::timeout` says, and its value when that is 0 (no limit).
const LEAST_TIMEOUT: Duration = Duration::from_millis(100);
const MOST_TIMEOUT: Duration = Duration::from_secs(60);
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(3);

/// What of a policy may change while the cluster is open, beside the time limits of the
/// [`Connector`](crate::connect::Connector).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tunable {
    /// How long a node may take to tell what it owns.
    pub(super) answer_timeout: Duration,
    /// In ms; 0: what is usual.
    pub(super) idle_timeout: u32,
    pub(super) rack_ids: Option<Vec<usize>>,
    pub(super) max_error_rate: usize,
    pub(super) error_rate_window: usize,
}

impl From<&ClientPolicy> for Tunable {
    fn from(policy: &ClientPolicy) -> Self {
        let answer_timeout = match policy.timeout {
            0 => DEFAULT_TIMEOUT,
            millis => Duration::from_millis(u64::from(millis)).clamp(LEAST_TIMEOUT, MOST_TIMEOUT),
        };
        Self {
            answer_timeout,
            idle_timeout: policy.idle_timeout,
            rack_ids: policy.rack_ids.clone(),
            max_error_rate: policy.max_error_rate,
            error_rate_window: policy.error_rate_window,
        }
    }
}
