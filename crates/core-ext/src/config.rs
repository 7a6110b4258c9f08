//! How a client is set up: aerospike-core's `ClientPolicy`, the size of the connection pools, and the lanes.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use aerospike_core::ClientPolicy;

use crate::error::{Error, Result};

/// What a caller gets when every place on every connection to a node is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum WhenFull {
    /// Wait, first come first served, until the operation's own deadline. The default.
    #[default]
    Wait,
    /// Fail at once with [`ErrorKind::PoolExhausted`](crate::ErrorKind::PoolExhausted).
    Fail,
}

/// The connections to one node, over all lanes together.
///
/// A request is sent on a connection that may already carry others (up to [`depth`](Self::depth)), so a node takes
/// `max * depth` single-record requests at once. Batches have connections of their own ([`batch_max`](Self::batch_max)),
/// one request at a time on each.
///
/// How many connections carry single-record requests is decided at run time, from what the client measures: a few for a
/// server that answers in microseconds, up to one for each request in flight for a server whose requests take long. `min`,
/// `max` and `depth` are bounds of this, not something to tune to the speed of a server. Set `min` and `max` to the same
/// number to fix the number of connections. `client.stats()` shows how many are in use, and what was measured.
///
/// Three kinds of callers have connections of their own, each kind with these limits: async code on tokio runtimes, all
/// runtimes of a client together; threads that block ([`SyncClient`](crate::SyncClient)); and foreign event loops
/// ([`RawClient::host_driver`](crate::client::RawClient::host_driver)), all of them together. A client that is used in two
/// of these ways at the same time may so open twice as many. (What is idle for long is closed: a kind that is not used any
/// more gives its connections back, down to `min`.) Connections for queries and those of aerospike-core are not counted
/// here.
///
/// ```
/// use aerolane::{PoolSizing, WhenFull};
///
/// let pool = PoolSizing::default().with_max(64).with_when_full(WhenFull::Fail);
/// # pool.validate().unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolSizing {
    /// Connections per node and lane that are opened at start and kept open. Default 1. The number in use never goes below
    /// it.
    pub min: u32,
    /// Most connections per node for single-record requests: an upper bound. Default 256, as
    /// `ClientPolicy::max_conns_per_node`.
    pub max: u32,
    /// The number of connections, over all nodes, for servers that answer in microseconds; the search for a better number
    /// starts from it. Default 3 (see decision 0002).
    ///
    /// Deprecated: leave it at its default. The client opens more connections by itself where that makes it faster, so that
    /// there is nothing left to tune here.
    ///
    /// Each node always gets at least one connection, so in a cluster of three nodes 3 means one each. A connection is added
    /// for each 64 requests in flight, on an event loop for each 8. 1: starts with one connection per node.
    pub spread: u32,
    /// Most requests in flight on one connection: an upper bound. Default 128 (see decision 0002); always 1 on TLS
    /// connections. At most [`MAX_DEPTH`].
    ///
    /// The client puts fewer requests on a connection where each takes long: about one millisecond of work, and at least 4.
    /// (Up to `depth` with [`WhenFull::Fail`], or when `min` equals `max`.) The number of connections adapts to the server with
    /// any depth, also with 1.
    ///
    /// Blocking threads share connections only while at least 10 calls to a node are in flight and sharing is not slower, never
    /// more than 32 threads to one connection (see decision 0014), and not at all when this is below 10.
    pub depth: u32,
    /// Most bytes of requests that are written to one connection and not yet answered. Default 1 MiB. A single
    /// request larger than this is still sent, alone.
    pub max_bytes_in_flight: usize,
    /// Most connections per node for batches. Default 64.
    pub batch_max: u32,
    /// Most callers that wait for a place, per node and lane; further ones fail at once with
    /// [`ErrorKind::PoolExhausted`](crate::ErrorKind::PoolExhausted). Default 1,048,576.
    pub max_waiting: usize,
    /// Most bytes of requests that wait for a place, per node and lane; further ones fail at once with
    /// [`ErrorKind::PoolExhausted`](crate::ErrorKind::PoolExhausted). Default 256 MiB. A larger request still waits, where no
    /// other does. (Requests of blocking threads do not count: each of them waits in its own thread.)
    pub max_waiting_bytes: usize,
    /// Most bytes of a node's answer to one batch, which async clients gather before they decode it. A larger one fails with
    /// [`ErrorKind::AnswerTooLarge`](crate::ErrorKind::AnswerTooLarge), for this node's rows. Default 1 GiB. (Blocking clients
    /// decode row by row, without this limit.)
    pub max_batch_answer_bytes: usize,
    /// What callers get when all places are taken. Default [`WhenFull::Wait`].
    pub when_full: WhenFull,
}

/// The deepest pipeline that [`PoolSizing::depth`] may ask for.
pub const MAX_DEPTH: u32 = 1024;
/// The most connections per node that [`PoolSizing`] may ask for.
pub const MAX_CONNECTIONS: u32 = 65_535;
/// The most bytes that [`PoolSizing::max_waiting_bytes`] and [`PoolSizing::max_batch_answer_bytes`] may be: 1 TiB.
pub const MAX_BYTES: u64 = 1 << 40;
/// The most lanes that a client may have.
pub const MAX_LANES: u32 = 1024;

impl Default for PoolSizing {
    fn default() -> Self {
        Self {
            min: 1,
            max: 256,
            spread: 3,
            depth: 128,
            max_bytes_in_flight: 1 << 20,
            batch_max: 64,
            max_waiting: 1 << 20,
            max_waiting_bytes: 256 << 20,
            max_batch_answer_bytes: 1 << 30,
            when_full: WhenFull::Wait,
        }
    }
}

/// Setters, for code that makes a sizing in one expression.
macro_rules! setters {
    ($($with:ident: $field:ident, $ty:ty;)*) => {
        impl PoolSizing {$(
            #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
            #[must_use]
            pub fn $with(self, $field: $ty) -> Self {
                Self { $field, ..self }
            }
        )*}
    };
}

setters! {
    with_min: min, u32;
    with_max: max, u32;
    with_spread: spread, u32;
    with_depth: depth, u32;
    with_max_bytes_in_flight: max_bytes_in_flight, usize;
    with_batch_max: batch_max, u32;
    with_max_waiting: max_waiting, usize;
    with_max_waiting_bytes: max_waiting_bytes, usize;
    with_max_batch_answer_bytes: max_batch_answer_bytes, usize;
    with_when_full: when_full, WhenFull;
}

impl PoolSizing {
    /// The defaults, with the limits that the policy sets (`min_conns_per_node`, `max_conns_per_node`).
    #[must_use]
    pub fn from_policy(policy: &ClientPolicy) -> Self {
        let default = Self::default();
        let max = match policy.max_conns_per_node {
            // aerospike-core takes 0 as "no limit".
            0 => MAX_CONNECTIONS,
            n => u32::try_from(n).unwrap_or(MAX_CONNECTIONS).min(MAX_CONNECTIONS),
        };
        let min = u32::try_from(policy.min_conns_per_node).unwrap_or(u32::MAX).max(default.min).min(max);
        Self { min, max, batch_max: default.batch_max.min(max), ..default }
    }

    /// Sized for a number of callers that work at the same time (tasks or threads), so that none of them has to wait
    /// for a place: enough connections at `depth`, and never fewer than the default minimum.
    ///
    /// # Errors
    /// `InvalidArgument` when `callers` is 0.
    pub fn for_concurrency(callers: u32) -> Result<Self> {
        let Some(callers) = NonZeroU32::new(callers) else {
            return Err(Error::invalid_argument("PoolSizing::for_concurrency: the number of callers must not be 0"));
        };
        let default = Self::default();
        Ok(Self { max: callers.get().div_ceil(default.depth).clamp(4, MAX_CONNECTIONS), ..default })
    }

    /// Checks that the numbers can work together.
    ///
    /// # Errors
    /// `InvalidArgument` naming the field, its value and what it should be.
    pub fn validate(&self) -> Result<()> {
        check("max", u64::from(self.max), 1, u64::from(MAX_CONNECTIONS))?;
        check("spread", u64::from(self.spread), 1, u64::from(MAX_CONNECTIONS))?;
        check("depth", u64::from(self.depth), 1, u64::from(MAX_DEPTH))?;
        check("batch_max", u64::from(self.batch_max), 1, u64::from(MAX_CONNECTIONS))?;
        check("max_bytes_in_flight", self.max_bytes_in_flight as u64, 1024, 1 << 30)?;
        check("max_waiting_bytes", self.max_waiting_bytes as u64, 1024, MAX_BYTES)?;
        check("max_batch_answer_bytes", self.max_batch_answer_bytes as u64, 1024, MAX_BYTES)?;
        if self.min > self.max {
            return Err(Error::invalid_argument(format!(
                "PoolSizing: min ({}) is larger than max ({})",
                self.min, self.max
            )));
        }
        Ok(())
    }

    /// The part of this sizing that one of `lanes` lanes gets. Every lane gets at least one connection of each kind, so
    /// the sum over all lanes exceeds the limits when there are more lanes than connections; otherwise it does not.
    #[must_use]
    pub fn per_lane(&self, lanes: NonZeroU32) -> Self {
        let max = (self.max / lanes).max(1);
        Self {
            min: self.min.min(max),
            max,
            spread: (self.spread / lanes).max(1),
            batch_max: (self.batch_max / lanes).max(1),
            ..self.clone()
        }
    }

    /// Most single-record requests in flight to one node.
    #[must_use]
    pub fn places(&self) -> usize {
        self.max as usize * self.depth as usize
    }
}

fn check(field: &str, value: u64, least: u64, most: u64) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::invalid_argument(format!("PoolSizing: {field} is {value}, it must be {least} to {most}")))
}

/// Everything that a client is built from, beside the seeds.
///
/// ```
/// use aerolane::{ClientConfig, ClientPolicy, PoolSizing};
/// use std::time::Duration;
///
/// let config = ClientConfig::from(ClientPolicy::default())
///     .with_pool(PoolSizing::default().with_max(64))
///     .with_slow_operation_threshold(Duration::from_millis(20));
/// # config.validate().unwrap();
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ClientConfig {
    /// Timeouts, login, TLS, racks, tend: as aerospike-core takes them.
    pub policy: ClientPolicy,
    /// Connections per node; `None`: [`PoolSizing::from_policy`].
    pub pool: Option<PoolSizing>,
    /// Lanes per multi-thread runtime, at most one for each of its worker threads; `None`: one for every four.
    /// A current-thread runtime always has one.
    pub lanes: Option<NonZeroUsize>,
    /// Operations that take at least this long are logged at level `warn`: command, namespace, set, node, attempts, phase and
    /// time, and nothing of keys or bins. `None`, the default: none are. See [the manual](crate::manual::observability).
    pub slow_operation_threshold: Option<Duration>,
    /// Whether operations are `tracing` spans (level `info`, target `aerolane::operation`), with the names of OpenTelemetry's
    /// conventions for databases. Default `false`. See [the manual](crate::manual::observability).
    #[cfg(feature = "tracing")]
    pub spans: bool,
    /// A file with settings that go over the policies of calls, see [`dynamic`](crate::dynamic); `None`: the one that the
    /// environment variable `AEROSPIKE_CLIENT_CONFIG_URL` names, if there is one.
    #[cfg(feature = "dynamic-config")]
    pub config_file: Option<std::path::PathBuf>,
}

impl From<ClientPolicy> for ClientConfig {
    fn from(policy: ClientPolicy) -> Self {
        Self { policy, ..Self::default() }
    }
}

impl ClientConfig {
    /// Sets [`policy`](Self::policy).
    #[must_use]
    pub fn with_policy(self, policy: ClientPolicy) -> Self {
        Self { policy, ..self }
    }

    /// Sets [`pool`](Self::pool).
    #[must_use]
    pub fn with_pool(self, pool: impl Into<Option<PoolSizing>>) -> Self {
        Self { pool: pool.into(), ..self }
    }

    /// Sets [`lanes`](Self::lanes).
    #[must_use]
    pub fn with_lanes(self, lanes: impl Into<Option<NonZeroUsize>>) -> Self {
        Self { lanes: lanes.into(), ..self }
    }

    /// Sets [`slow_operation_threshold`](Self::slow_operation_threshold).
    #[must_use]
    pub fn with_slow_operation_threshold(self, threshold: impl Into<Option<Duration>>) -> Self {
        Self { slow_operation_threshold: threshold.into(), ..self }
    }

    /// Sets [`spans`](Self::spans).
    #[cfg(feature = "tracing")]
    #[must_use]
    pub fn with_spans(self, spans: bool) -> Self {
        Self { spans, ..self }
    }

    /// Sets [`config_file`](Self::config_file).
    #[cfg(feature = "dynamic-config")]
    #[must_use]
    pub fn with_config_file(self, file: impl Into<std::path::PathBuf>) -> Self {
        Self { config_file: Some(file.into()), ..self }
    }

    /// Whether operations have spans.
    pub(crate) fn wants_spans(&self) -> bool {
        #[cfg(feature = "tracing")]
        return self.spans;
        #[cfg(not(feature = "tracing"))]
        false
    }

    /// The sizing in force. Over TLS the depth is 1: there the server reads one request per TLS record. The number of
    /// connections adapts to the server as it does without TLS.
    #[must_use]
    pub fn pool_sizing(&self) -> PoolSizing {
        let sizing = self.wanted_sizing();
        if crate::connect::data_is_encrypted(&self.policy) { PoolSizing { depth: 1, ..sizing } } else { sizing }
    }

    fn wanted_sizing(&self) -> PoolSizing {
        self.pool.clone().unwrap_or_else(|| PoolSizing::from_policy(&self.policy))
    }

    /// The number of lanes on a runtime with so many worker threads.
    #[must_use]
    pub fn lane_count(&self, workers: usize) -> usize {
        /// One lane keeps several workers busy; more of them only spread a burst over more flushes.
        const WORKERS_PER_LANE: usize = 4;
        match self.lanes {
            Some(lanes) => lanes.get().min(workers.max(1)),
            None => workers.max(1).div_ceil(WORKERS_PER_LANE),
        }
    }

    /// Checks everything that can be checked without the network.
    ///
    /// # Errors
    /// `InvalidArgument` naming the field. (aerospike-core checks the rest of its policy when it starts.)
    pub fn validate(&self) -> Result<()> {
        self.wanted_sizing().validate()?;
        if let Some(lanes) = self.lanes
            && lanes.get() > MAX_LANES as usize
        {
            return Err(Error::invalid_argument(format!("lanes is {lanes}, it must be 1 to {MAX_LANES}")));
        }
        validate_policy(&self.policy)
    }
}

/// The checks of a `ClientPolicy` whose failures would otherwise show late or unclear.
fn validate_policy(policy: &ClientPolicy) -> Result<()> {
    use aerospike_core::AuthMode;
    use aerospike_core::policy::TEND_INTERVAL_MIN_MS;

    let invalid = |text: String| Err(Error::invalid_argument(format!("ClientPolicy: {text}")));
    if policy.timeout == 0 && policy.connect_timeout == 0 {
        return invalid("timeout and connect_timeout are both 0: opening a connection would never end".into());
    }
    if policy.max_conns_per_node > 0 && policy.min_conns_per_node > policy.max_conns_per_node {
        return invalid(format!(
            "min_conns_per_node ({}) is larger than max_conns_per_node ({})",
            policy.min_conns_per_node, policy.max_conns_per_node
        ));
    }
    if policy.tend_interval < TEND_INTERVAL_MIN_MS {
        return invalid(format!(
            "tend_interval is {} ms, it must be at least {TEND_INTERVAL_MIN_MS} ms",
            policy.tend_interval
        ));
    }
    if policy.rack_ids.as_ref().is_some_and(Vec::is_empty) {
        return invalid("rack_ids is an empty list: use None for no rack preference".into());
    }
    let tls = crate::connect::tls_configured(policy);
    match &policy.auth_mode {
        AuthMode::External(..) if !tls => {
            invalid("AuthMode::External sends the password itself, so it needs TLS (tls_policy)".into())
        }
        AuthMode::Pki if !tls => invalid("AuthMode::Pki needs TLS with a client certificate (tls_policy)".into()),
        AuthMode::Internal(user, _) | AuthMode::External(user, _) | AuthMode::ExternalInsecure(user, _)
            if user.is_empty() || user.len() > MAX_USER_LEN =>
        {
            invalid(format!("the user name has {} bytes, it must have 1 to {MAX_USER_LEN}", user.len()))
        }
        _ => Ok(()),
    }
}

/// The longest user name that the server takes (its field of 64 bytes ends with a NUL).
const MAX_USER_LEN: usize = 63;

#[cfg(test)]
mod tests {
    use aerospike_core::AuthMode;

    use super::*;
    use crate::error::ErrorKind;

    fn refused(result: Result<()>, part: &str) {
        let error = result.expect_err(part);
        assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "{error:?}");
        assert!(error.to_string().contains(part), "{part:?} in {error}");
    }

    #[test]
    fn defaults_are_valid() {
        ClientConfig::default().validate().unwrap();
        assert_eq!(PoolSizing::default().places(), 32_768);
    }

    #[test]
    fn impossible_pools_are_refused() {
        let d = PoolSizing::default;
        refused(PoolSizing { max: 0, min: 0, ..d() }.validate(), "max is 0");
        refused(PoolSizing { depth: 0, ..d() }.validate(), "depth is 0");
        refused(PoolSizing { depth: MAX_DEPTH + 1, ..d() }.validate(), "depth is 1025");
        refused(PoolSizing { batch_max: 0, ..d() }.validate(), "batch_max is 0");
        refused(PoolSizing { max_bytes_in_flight: 0, ..d() }.validate(), "max_bytes_in_flight is 0");
        refused(PoolSizing { max_waiting_bytes: 1023, ..d() }.validate(), "max_waiting_bytes is 1023");
        refused(PoolSizing { max_batch_answer_bytes: 0, ..d() }.validate(), "max_batch_answer_bytes is 0");
        refused(PoolSizing { min: 9, max: 8, ..d() }.validate(), "min (9) is larger than max (8)");
        refused(PoolSizing { max: u32::MAX, ..d() }.validate(), "max is 4294967295");
        refused(PoolSizing::for_concurrency(0).map(drop), "must not be 0");
    }

    #[test]
    fn impossible_policies_are_refused() {
        let with = |change: fn(&mut ClientPolicy)| {
            let mut config = ClientConfig::default();
            change(&mut config.policy);
            config.validate()
        };
        refused(with(|p| p.timeout = 0), "never end");
        refused(with(|p| p.tend_interval = 1), "tend_interval is 1 ms");
        refused(with(|p| p.rack_ids = Some(vec![])), "rack_ids");
        refused(with(|p| (p.min_conns_per_node, p.max_conns_per_node) = (3, 2)), "min_conns_per_node (3)");
        refused(with(|p| p.auth_mode = AuthMode::External("u".into(), "p".into())), "needs TLS");
        refused(with(|p| p.auth_mode = AuthMode::Pki), "needs TLS");
        refused(with(|p| p.auth_mode = AuthMode::Internal(String::new(), "p".into())), "user name has 0 bytes");
    }

    #[test]
    fn policy_limits_are_taken() {
        let policy = ClientPolicy { min_conns_per_node: 4, max_conns_per_node: 8, ..ClientPolicy::default() };
        let sizing = PoolSizing::from_policy(&policy);
        assert_eq!((sizing.min, sizing.max, sizing.batch_max), (4, 8, 8));
        let unlimited = ClientPolicy { max_conns_per_node: 0, ..ClientPolicy::default() };
        assert_eq!(PoolSizing::from_policy(&unlimited).max, MAX_CONNECTIONS);
        PoolSizing::from_policy(&unlimited).validate().unwrap();
    }

    #[test]
    fn lanes_share_the_limits() {
        let sizing = PoolSizing { max: 10, min: 3, batch_max: 2, ..PoolSizing::default() };
        let lane = sizing.per_lane(NonZeroU32::new(4).unwrap());
        assert_eq!((lane.max, lane.min, lane.batch_max), (2, 2, 1));
        let lane = sizing.per_lane(NonZeroU32::new(100).unwrap());
        assert_eq!((lane.max, lane.min, lane.batch_max), (1, 1, 1));
        lane.validate().unwrap();
    }

    #[test]
    fn lanes_by_workers() {
        let with = |lanes| ClientConfig { lanes: NonZeroUsize::new(lanes), ..ClientConfig::default() };
        assert_eq!([0, 1, 4, 5, 16].map(|workers| with(0).lane_count(workers)), [1, 1, 1, 2, 4]);
        assert_eq!([1, 2, 8].map(|workers| with(3).lane_count(workers)), [1, 2, 3]);
    }

    #[test]
    fn sized_for_callers() {
        assert_eq!(PoolSizing::for_concurrency(1).unwrap().max, 4);
        assert_eq!(PoolSizing::for_concurrency(5000).unwrap().max, 40);
        assert_eq!(PoolSizing::for_concurrency(u32::MAX).unwrap().max, MAX_CONNECTIONS);
    }
}
