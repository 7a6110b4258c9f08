//! The attempts of one call: where each goes, how long it may take, and what a failure means for the call.
//!
//! The same rules for the async and the blocking side. A request of which nothing was sent may always be tried again
//! (until the deadline); one that was sent only as often as `max_retries` says. Each clock reading is passed in.

use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use aerospike_core::metrics::CommandType;
use aerospike_core::{BasePolicy, ResultCode};

use crate::clock;
use crate::cluster::Cluster;
use crate::command::policy::{self, RetryPauses};
use crate::driver::tasks::ExchangeError;
use crate::error::{Error, ErrorKind, Phase};
use crate::lane::{Failure, FailureKind};
use crate::logging::event;
use crate::metrics::{MetricKey, Stamp};
use crate::topology::{Breaker, NodeId, NodeInfo, Route, Topology};

use super::watch::Ended;

/// Pauses between attempts that a node did not take or answer with a loss of the connection: the topology needs a moment
/// to follow a node that went down, and one that resets every connection must not be hammered.
const FIRST_OWN_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_OWN_PAUSE: Duration = Duration::from_millis(50);
/// Without a deadline, a call of which nothing could be sent for so long ends.
const LONGEST_UNSENT: Duration = Duration::from_secs(5);

/// A number that differs from call to call of a thread: replica policies take turns by it.
pub(crate) fn spread() -> u32 {
    thread_local! {
        static CALLS: Cell<u32> = const { Cell::new(0) };
    }
    CALLS.with(|calls| {
        let n = calls.get().wrapping_add(1);
        calls.set(n);
        n
    })
}

/// What a call is about.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Subject<'a> {
    /// Empty: a batch, whose rows have each their own.
    pub(crate) namespace: &'a str,
    /// Empty: the null set. For logs only.
    pub(crate) set: &'a str,
}

/// What to do after a failed attempt.
#[derive(Debug)]
pub(crate) enum Next {
    /// Try again after this pause.
    Retry(Duration),
    /// The call has failed.
    GiveUp(Error),
}

/// The state of one call between its attempts. Cloned when a batch's rows part ways.
#[derive(Clone)]
pub(crate) struct Attempts<'a> {
    cluster: &'a Cluster,
    policy: &'a BasePolicy,
    subject: Subject<'a>,
    started: Instant,
    deadline: Option<Instant>,
    /// Most milliseconds for the whole call, where it is not the policy that says so; else 0.
    limit_ms: u32,
    kind: CommandType,
    /// What it is counted as, if it is measured: known from the first attempt on.
    metric_key: MetricKey,
    writes: bool,
    /// Known from the first attempt on.
    route: Option<Route>,
    made: u32,
    sent: u32,
    /// Attempts that count against `max_retries`.
    counted: u64,
    unsent_in_a_row: u32,
    /// When the first of these ended, and when the present attempt began: milliseconds after `started`.
    unsent_since: u32,
    began: u32,
    /// It has been sent away from a node that is down.
    diverted: bool,
    /// Attempts in a row behind which the connection was lost, or whose partition was unavailable.
    lost_in_a_row: u32,
    pauses: Option<RetryPauses>,
    failures: Vec<Error>,
    /// See [`Error::loop_busy`].
    loop_busy: Duration,
    /// The failure that is taken in has counted against its node already.
    repeated: bool,
    /// See [`set_paced`](Self::set_paced).
    paced: bool,
}

/// One attempt: which node, and until when.
///
/// Borrowed from a snapshot, not counted: threads that count references to one node all the time hold each other up.
#[derive(Clone, Copy)]
pub(crate) struct Attempt<'t> {
    pub(crate) node: &'t Arc<NodeInfo>,
    pub(crate) deadline: Option<Instant>,
    /// What it is counted as, if it is measured; see [`Attempts::stamp`].
    pub(crate) metric_key: MetricKey,
}

impl<'a> Attempts<'a> {
    pub(crate) fn new(
        cluster: &'a Cluster,
        policy: &'a BasePolicy,
        subject: Subject<'a>,
        (kind, writes): (CommandType, bool),
        now: Instant,
    ) -> Self {
        Self {
            cluster,
            policy,
            subject,
            started: now,
            deadline: policy::deadline(policy, now),
            limit_ms: 0,
            kind,
            metric_key: MetricKey::NONE,
            writes,
            route: None,
            made: 0,
            sent: 0,
            counted: 0,
            unsent_in_a_row: 0,
            unsent_since: 0,
            began: 0,
            diverted: false,
            lost_in_a_row: 0,
            pauses: None,
            failures: Vec::new(),
            loop_busy: Duration::ZERO,
            repeated: false,
            paced: false,
        }
    }

    /// Takes up a call whose first attempt was made elsewhere, on this route.
    pub(crate) fn resume(
        cluster: &'a Cluster,
        policy: &'a BasePolicy,
        subject: Subject<'a>,
        what: (CommandType, bool),
        started: Instant,
        (route, metric_key): (Route, MetricKey),
    ) -> Self {
        Self { route: Some(route), metric_key, made: 1, ..Self::new(cluster, policy, subject, what, started) }
    }

    /// Where the attempts have been; known once there was one.
    pub(crate) fn route(&self) -> Option<Route> {
        self.route
    }

    /// What the call is counted as.
    pub(crate) fn metric_key(&self) -> MetricKey {
        self.metric_key
    }

    /// Decides, before the first attempt of a call that picks its nodes itself, whether it is measured.
    pub(crate) fn set_metric_key(&mut self, metric_key: MetricKey) {
        self.metric_key = metric_key;
    }

    /// The stamp of an attempt that begins now.
    #[inline]
    pub(crate) fn stamp(&self, now: Instant) -> Stamp {
        self.cluster.metrics().stamp(self.metric_key, now)
    }

    /// Picks the node of the next attempt, by the present snapshot of the topology.
    ///
    /// # Errors
    /// Whether to pick again later, or the failure of the call (unknown namespace, deadline).
    pub(crate) fn next<'t>(
        &mut self,
        topology: &'t Topology,
        partition: u16,
        now: Instant,
    ) -> Result<Attempt<'t>, Next> {
        let namespace = self.subject.namespace;
        self.begin(now)?;
        if self.made == 1 {
            self.metric_key = self.cluster.metrics().metric_key(self.kind, namespace);
        }
        let routed = topology.namespace(namespace).and_then(|map| {
            let policy = self.policy;
            let route = self.route.get_or_insert_with(|| {
                if self.writes {
                    Route::write(policy.replica)
                } else {
                    Route::read(map, policy.replica, policy.read_mode_sc)
                }
            });
            map.route(partition, route, spread())
        });
        let node = match routed {
            Ok(id) => topology.node(id),
            Err(error) if matches!(error.kind(), ErrorKind::InvalidNode) => return Err(self.failed_unsent(error, now)),
            Err(error) => return Err(Next::GiveUp(self.finish(error, now))),
        };
        let Some(node) = node else {
            return Err(self.failed_unsent(Error::invalid_node("the node has left the cluster"), now));
        };
        let deadline = self.towards(node, now)?;
        Ok(Attempt { node, deadline, metric_key: self.metric_key })
    }

    /// Begins an attempt at a node that the caller has chosen; gives the attempt's deadline.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub(crate) fn next_at(&mut self, node: &NodeInfo, now: Instant) -> Result<Option<Instant>, Next> {
        self.begin(now)?;
        self.towards(node, now)
    }

    fn begin(&mut self, now: Instant) -> Result<(), Next> {
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            return Err(Next::GiveUp(self.timed_out(None, Phase::Queued, now)));
        }
        self.made += 1;
        if self.made > 1 {
            self.began = self.millis(now);
        }
        Ok(())
    }

    /// Milliseconds after the call began.
    fn millis(&self, now: Instant) -> u32 {
        now.saturating_duration_since(self.started).as_millis() as u32
    }

    fn towards(&mut self, node: &NodeInfo, now: Instant) -> Result<Option<Instant>, Next> {
        // The connections may not have heard of it yet, and would take the request.
        if self.cluster.is_closed() {
            return Err(Next::GiveUp(self.finish(Error::client_closed(), now)));
        }
        if node.breaker().warns() {
            self.heed(node, now)?;
        }
        if self.made > 1 {
            node.breaker().record_retry();
        }
        let socket = self.socket_timeout().map(|timeout| now + timeout);
        Ok(match (socket, self.deadline) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        })
    }

    /// Something speaks against sending to the node.
    #[cold]
    fn heed(&mut self, node: &NodeInfo, now: Instant) -> Result<(), Next> {
        let breaker = node.breaker();
        if breaker.is_down(now) {
            if !self.diverted
                && let Some(error) = breaker.outage().error(node.label(), now)
            {
                // Another replica may do. If it does not, the call waits for a connection the next time.
                self.diverted = true;
                self.cluster.look_for(node.id());
                self.advance(false);
                return Err(self.failed_unsent_after(Duration::ZERO, error, now));
            }
        } else if breaker.is_open() {
            breaker.record_refusal();
            let error = Error::max_error_rate(node.label());
            self.advance(false);
            return Err(self.failed(error, now));
        }
        Ok(())
    }

    /// The attempt that was begun is not made after all.
    pub(crate) fn take_back(&mut self) {
        self.made -= 1;
    }

    /// How many requests have been sent, the one under way included: for "in doubt".
    pub(crate) fn sent_with_this(&self) -> u32 {
        self.sent + 1
    }

    /// How many attempts were begun.
    pub(crate) fn made(&self) -> u32 {
        self.made
    }

    pub(crate) fn writes(&self) -> bool {
        self.writes
    }

    /// Whether the call has writes: decides whether it can be in doubt.
    pub(crate) fn set_writes(&mut self, writes: bool) {
        self.writes = writes;
    }

    /// Gives the whole call this limit in place of its policy's.
    pub(crate) fn set_limit(&mut self, ms: u32) {
        self.limit_ms = ms;
        self.deadline = Some(self.started + Duration::from_millis(ms.into()));
    }

    /// Time that one attempt may wait for its answer.
    #[inline]
    fn socket_timeout(&self) -> Option<Duration> {
        match self.limit_ms {
            0 => policy::socket_timeout(self.policy),
            limit => Some(Duration::from_millis(policy::socket_timeout_within(self.policy, limit).into())),
        }
    }

    /// The timeout word of the request.
    pub(crate) fn server_timeout_ms(&self) -> u32 {
        match self.limit_ms {
            0 => policy::server_timeout_ms(self.policy),
            limit => policy::socket_timeout_within(self.policy, limit),
        }
    }

    /// Whether the failure that is taken in next has counted against its node already.
    pub(crate) fn set_repeated(&mut self, repeated: bool) {
        self.repeated = repeated;
    }

    /// Whether the caller slows down by itself when a node answers that it has too much to do: such answers do not count against
    /// the node then, whose circuit breaker would stop the caller altogether.
    pub(crate) const fn set_paced(&mut self, paced: bool) {
        self.paced = paced;
    }

    fn count_against(&self, node: &NodeInfo) {
        if !self.repeated {
            node.record_error();
        }
    }

    /// Counts the call if it has failed for good.
    fn counted(&self, node: &NodeInfo, next: Next) -> Next {
        if matches!(next, Next::GiveUp(_)) && self.cluster.metrics().is_measuring() {
            node.breaker().record_failed_call();
        }
        next
    }

    /// The server answered, and the answer is a failure.
    pub(crate) fn answered(&mut self, node: &NodeInfo, error: Error, now: Instant) -> Next {
        let next = self.after_answer(node, error, now);
        self.counted(node, next)
    }

    fn after_answer(&mut self, node: &NodeInfo, error: Error, now: Instant) -> Next {
        self.sent += 1;
        self.unsent_in_a_row = 0;
        let Some(code) = error.server_result_code() else {
            return Next::GiveUp(self.finish(error, now));
        };
        self.lost_in_a_row = if code == ResultCode::PartitionUnavailable { self.lost_in_a_row + 1 } else { 0 };
        match code {
            code if Breaker::counts(code) => {
                if !self.paced || code == ResultCode::Timeout {
                    self.count_against(node);
                }
                self.advance(false);
                self.failed(error, now)
            }
            ResultCode::PartitionUnavailable => {
                self.cluster.request_refresh();
                self.advance(false);
                self.failed(error, now)
            }
            _ => Next::GiveUp(self.finish(error, now)),
        }
    }

    /// No answer came.
    pub(crate) fn lost(&mut self, node: &NodeInfo, failure: Failure, now: Instant) -> Next {
        let next = self.after_loss(node, failure, now);
        self.counted(node, next)
    }

    fn after_loss(&mut self, node: &NodeInfo, failure: Failure, now: Instant) -> Next {
        if matches!(failure.kind, FailureKind::Interrupted) {
            // Says nothing of the node.
            self.sent += u32::from(failure.sent);
            let error = Error::interrupted().with_phase(failure.phase()).with_node(Arc::clone(node.label()));
            return Next::GiveUp(self.finish(error, now));
        }
        let expired = matches!(failure.kind, FailureKind::Expired);
        self.loop_busy += Duration::from_millis(failure.loop_busy.into());
        if failure.sent {
            self.sent += 1;
            self.unsent_in_a_row = 0;
        }
        // What was not sent says nothing of the node: the connection that could not be opened has been counted. The end of
        // the client, or of a runtime, is nothing that a node has done.
        match failure.kind {
            FailureKind::ConnectionLost(_) | FailureKind::Garbage(_) if failure.sent && !self.repeated => {
                let began = self.started + Duration::from_millis(self.began.into());
                if node.breaker().record_loss(began, now) {
                    node.log_breaker_opened();
                }
            }
            FailureKind::Expired if failure.sent => self.count_against(node),
            _ => {}
        }
        if expired && self.deadline.is_some_and(|deadline| now >= deadline) {
            return Next::GiveUp(self.timed_out(Some(node), failure.phase(), now));
        }
        self.advance(expired);
        self.lost_in_a_row = if expired { 0 } else { self.lost_in_a_row + 1 };
        let phase = failure.phase();
        let error = match failure.kind {
            FailureKind::Expired => Error::timeout("no answer within the socket timeout"),
            FailureKind::Interrupted => Error::interrupted(),
            // Without TLS, what cannot be understood is `Garbage`.
            FailureKind::ConnectionLost(io::ErrorKind::InvalidData) => Error::connection(
                "the TLS session has failed: a damaged record, or an alert of the node (the log says which)",
            ),
            FailureKind::ConnectionLost(kind) => Error::connection_io("use the connection", kind.into()),
            FailureKind::OpenFailed(error) => error,
            FailureKind::Garbage(error) => Error::bad_response(format!("the answer is malformed: {error}")),
            FailureKind::AnswerTooLarge(limit) => {
                // The next one would be as large.
                let error = Error::answer_too_large(limit).with_node(Arc::clone(node.label()));
                return Next::GiveUp(self.finish(error, now));
            }
            FailureKind::NodeGone => Error::invalid_node("the node has left the cluster"),
            FailureKind::Closed if self.cluster.is_closed() => {
                let error = Error::client_closed().with_phase(phase);
                return Next::GiveUp(self.finish(error.with_node(Arc::clone(node.label())), now));
            }
            FailureKind::Closed => Error::connection("the runtime that drove the connection has ended"),
        };
        if failure.sent {
            return self.failed(error.with_node(Arc::clone(node.label())).with_phase(phase), now);
        }
        // While the node cannot be reached, the wait for the next attempt to connect is pause enough.
        let down = if node.breaker().is_down(now) { node.breaker().outage().error(node.label(), now) } else { None };
        match down {
            Some(error) => self.failed_unsent_after(Duration::ZERO, error, now),
            None => self.failed_unsent(error.with_node(Arc::clone(node.label())), now),
        }
    }

    /// The request was not taken, or no answer came.
    pub(crate) fn unanswered(&mut self, node: &NodeInfo, error: ExchangeError, now: Instant) -> Next {
        match error {
            ExchangeError::Encode(error) => Next::GiveUp(self.refused(error, now)),
            ExchangeError::Full(full) => {
                let error = self.refused(full.error(node.label()), now);
                event!(
                    debug,
                    "no room for the request on any connection",
                    node = node.label(),
                    namespace = self.subject.namespace,
                    set = self.subject.set,
                    attempt = self.made,
                    elapsed_ms = self.millis(now),
                    error = error.base_message()
                );
                self.counted(node, Next::GiveUp(error))
            }
            ExchangeError::Failed(failure) => self.lost(node, failure, now),
        }
    }

    /// The request was not taken, and will not be (it cannot be encoded, or the pool is full and not to wait).
    pub(crate) fn refused(&mut self, error: Error, now: Instant) -> Error {
        self.finish(error, now)
    }

    /// The failure of rows of a batch that cannot be routed (any more). Others may go on.
    pub(crate) fn unroutable(&self, error: Error, now: Instant) -> Error {
        if self.made == 0 { error } else { self.clone().finish(error, now) }
    }

    /// The caller was interrupted between two attempts.
    pub(crate) fn interrupted(&mut self, now: Instant) -> Error {
        self.finish(Error::interrupted(), now)
    }

    fn advance(&mut self, client_timeout: bool) {
        if let Some(route) = &mut self.route {
            route.next_attempt(client_timeout);
        }
    }

    /// A failed attempt that counts against `max_retries`.
    fn failed(&mut self, error: Error, now: Instant) -> Next {
        self.counted += 1;
        if self.counted < policy::max_attempts(self.policy) {
            let pause = self.pauses.get_or_insert_with(|| RetryPauses::new(self.policy)).take();
            // The first loss says nothing of the next connection. Partitions that are unavailable take longer than that: the
            // nodes agree on their owners, or the topology follows them.
            let own = match self.lost_in_a_row {
                0 | 1 => Duration::ZERO,
                _ if error.server_result_code().is_some() => LONGEST_OWN_PAUSE,
                lost => own_pause(lost - 1),
            };
            // Never the reason to give up: at most half of the time that is left.
            let left = self.deadline.map_or(own, |deadline| deadline.saturating_duration_since(now) / 2);
            return self.retry_after(pause.max(own.min(left)), error, now);
        }
        if self.counted == 1 {
            return Next::GiveUp(self.finish(error, now));
        }
        self.cluster.metrics().exceeded_max_retries.fetch_add(1, Ordering::Relaxed);
        let text = format!("gave up after {} attempts", self.made);
        Next::GiveUp(self.finish(Error::ended_by(error, &text, true), now))
    }

    /// A failed attempt of which nothing was sent: it does not count, but must not spin.
    fn failed_unsent(&mut self, error: Error, now: Instant) -> Next {
        self.failed_unsent_after(own_pause(self.unsent_in_a_row + 1), error, now)
    }

    fn failed_unsent_after(&mut self, pause: Duration, error: Error, now: Instant) -> Next {
        self.unsent_in_a_row += 1;
        if self.unsent_in_a_row == 1 {
            self.unsent_since = self.millis(now);
        }
        let unsent = Duration::from_millis(self.millis(now).saturating_sub(self.unsent_since).into());
        if self.deadline.is_none() && unsent >= LONGEST_UNSENT {
            return Next::GiveUp(self.finish(error, now));
        }
        self.cluster.request_refresh();
        // Of a node that is down for long, one such failure says it all.
        if self.unsent_in_a_row > 1
            && self.failures.last().is_some_and(|last| is_unsent(last) && last.node() == error.node())
        {
            self.failures.pop();
        }
        // Never the reason to give up before the time is over.
        let pause = self.deadline.map_or(pause, |deadline| pause.min(deadline.saturating_duration_since(now)));
        self.log_retry(&error, pause, now);
        self.keep(error);
        Next::Retry(pause)
    }

    fn retry_after(&mut self, pause: Duration, error: Error, now: Instant) -> Next {
        if self.deadline.is_some_and(|deadline| now + pause >= deadline) {
            self.cluster.metrics().exceeded_total_timeout.fetch_add(1, Ordering::Relaxed);
            let text = "the deadline would pass in the pause before the next attempt";
            return Next::GiveUp(self.finish(Error::ended_by(error, text, false), now));
        }
        self.log_retry(&error, pause, now);
        self.keep(error);
        Next::Retry(pause)
    }

    /// Logs that the call makes another attempt: what failed, where and when. Nothing of keys or bins. That of a batch is
    /// logged by who knows its rows.
    #[cold]
    fn log_retry(&self, error: &Error, pause: Duration, now: Instant) {
        if !self.subject.namespace.is_empty() {
            self.log_retry_of(self.subject, self.kind, error, pause, now);
        }
    }

    /// [`log_retry`](Self::log_retry) of rows of a batch, which are about this.
    #[cold]
    pub(crate) fn log_batch_retry(&self, subject: Subject<'_>, pause: Duration, now: Instant) {
        let kind = if self.writes { CommandType::BatchWrite } else { CommandType::BatchRead };
        if let Some(error) = self.failures.last() {
            self.log_retry_of(subject, kind, error, pause, now);
        }
    }

    fn log_retry_of(&self, subject: Subject<'_>, kind: CommandType, error: &Error, pause: Duration, now: Instant) {
        event!(
            debug,
            "call is retried",
            node = error.node().unwrap_or("-"),
            namespace = subject.namespace,
            set = subject.set,
            command = format_args!("{kind:?}"),
            attempt = self.made,
            phase = error.phase(),
            elapsed_ms = self.millis(now),
            pause_ms = pause.as_millis(),
            error = error.base_message()
        );
    }

    /// The call has succeeded, at this node.
    #[inline]
    pub(crate) fn succeeded(&self, node: NodeId) {
        if self.cluster.watch().is_on() {
            self.tell(self.cluster.snapshot().node(node), None);
        }
    }

    /// The call has failed for good.
    #[inline]
    pub(crate) fn given_up(&self, error: Error) -> Error {
        if self.cluster.watch().is_on() {
            self.tell(None, Some(&error));
        }
        error
    }

    #[cold]
    fn tell(&self, node: Option<&Arc<NodeInfo>>, error: Option<&Error>) {
        let Subject { namespace, set } = self.subject;
        let node = node.map(|node| &**node.label());
        let (command, attempts, elapsed) = (self.kind, self.made, clock::now().duration_since(self.started));
        self.cluster.watch().ended(&Ended { command, namespace, set, rows: None, node, attempts, elapsed, error });
    }

    fn keep(&mut self, error: Error) {
        /// Earlier failures that an error carries along.
        const KEPT: usize = 10;
        if self.failures.len() == KEPT {
            // The latest says what is the case.
            self.failures.pop();
        }
        self.failures.push(error);
    }

    /// The time is over: in this phase of an attempt at a node, or between two attempts. If no connection could be had, the
    /// error says so, and why.
    fn timed_out(&mut self, node: Option<&NodeInfo>, phase: Phase, now: Instant) -> Error {
        self.cluster.metrics().exceeded_total_timeout.fetch_add(1, Ordering::Relaxed);
        let down = node.filter(|node| phase <= Phase::Connecting && node.breaker().is_down(now));
        let error = match (down.and_then(|node| node.breaker().outage().error(node.label(), now)), node) {
            (Some(error), _) => Some(error),
            (None, Some(_)) => None,
            (None, None) => self.failures.pop().map(|last| match last.phase() {
                Phase::Queued | Phase::Connecting => last,
                _ => Error::ended_by(last, "the deadline passed before the next attempt", false),
            }),
        };
        let error = error.unwrap_or_else(|| Error::deadline(phase, now.duration_since(self.started)));
        let error = match node {
            Some(node) => error.with_node(Arc::clone(node.label())),
            None => error,
        };
        self.finish(error, now)
    }

    fn finish(&mut self, error: Error, now: Instant) -> Error {
        error
            .with_attempts(self.made)
            .with_elapsed(now.duration_since(self.started))
            .with_sub_errors(std::mem::take(&mut self.failures))
            .with_loop_busy(self.loop_busy)
            .set_in_doubt(self.writes, self.sent)
    }
}

/// Whether nothing was sent in this attempt.
fn is_unsent(error: &Error) -> bool {
    error.phase() <= Phase::Connecting
}

/// The pause after so many attempts of a kind in a row: none, then twice as long each time.
fn own_pause(in_a_row: u32) -> Duration {
    match in_a_row {
        0 => Duration::ZERO,
        n => (FIRST_OWN_PAUSE * (1 << (n - 1).min(6))).min(LONGEST_OWN_PAUSE),
    }
}
