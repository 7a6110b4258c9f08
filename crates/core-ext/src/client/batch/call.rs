//! What a batch call does, without I/O.

use std::sync::Arc;
use std::time::Instant;

use aerospike_core::metrics::CommandType;
use aerospike_core::{BatchPolicy, ResultCode};

use super::on_lane::kind_of;
use super::parts::{self, KEPT_BYTES, PART_BYTES, PROBE, PROBE_FROM, parts_of};
use super::request::Request;
use super::rows::{Rows, Target};
use crate::batch::{Answers, Progress, RowPatches};
use crate::client::attempts::{Attempts, Next, Subject, spread};
use crate::client::watch::Ended;
use crate::clock;
use crate::cluster::Cluster;
use crate::command::compress::is_compressed_request;
use crate::driver::tasks::ExchangeError;
use crate::error::{Error, ErrorKind, Result};
use crate::lane::{Class, Failure, FailureKind};
use crate::metrics::{MetricKey, Stamp};
use crate::names::same;
use crate::topology::{NamespaceMap, NodeInfo, Route, Topology};

/// The state of one batch call.
pub(super) struct BatchCall<'a, R: ?Sized> {
    cluster: &'a Cluster,
    policy: &'a BatchPolicy,
    /// What goes over the policies of the rows.
    patches: RowPatches,
    rows: &'a mut R,
    /// The first failure of a whole request.
    first_error: Option<Error>,
    /// Rows that got their outcome and that nobody was told of yet; `None` when nobody wants to be told.
    news: Option<Vec<u32>>,
    /// Several parts may go to one node.
    is_cut: bool,
    started: Instant,
    /// Who answered last, at which attempt; only if the end of the batch is told of.
    answered: Option<(Arc<NodeInfo>, u32)>,
}

/// Rows that go to one node together.
pub(super) struct NodeGroup<'a> {
    pub(super) node: Arc<NodeInfo>,
    /// Places in the call's list of rows.
    rows: Vec<u32>,
    attempts: Attempts<'a>,
    /// Per earlier attempt: whether it ended in a timeout of the client.
    history: Vec<bool>,
    /// A row alone on its node goes as a plain command.
    alone: bool,
    /// The request is compressed.
    compressed: bool,
    pub(super) deadline: Option<Instant>,
    /// For the answer of this attempt, if it is measured.
    pub(super) stamp: Stamp,
    /// The encoded request; empty: not encoded yet.
    pub(super) request: Request,
}

/// What to do with a group whose request failed.
#[allow(clippy::large_enum_variant)] // lives for a moment, after a failure
pub(super) enum AfterFailure<'a> {
    /// After the pause, [`BatchCall::reroute`].
    Retry(std::time::Duration, NodeGroup<'a>),
    Over,
}

impl NodeGroup<'_> {
    /// So many parts of its rows, not encoded, in order.
    fn cut(self, count: usize) -> Vec<Self> {
        let Self { node, rows, attempts, history, compressed, deadline, stamp, .. } = self;
        let mut rows = rows.into_iter();
        let cut = parts::even(rows.len(), count).map(|len| Self {
            node: Arc::clone(&node),
            rows: rows.by_ref().take(len).collect(),
            attempts: attempts.clone(),
            history: history.clone(),
            alone: false,
            compressed,
            deadline,
            stamp,
            request: Request::default(),
        });
        cut.collect()
    }

    /// Whether its request has to be encoded before it can be sent.
    pub(super) fn is_bare(&self) -> bool {
        self.request.is_empty()
    }

    pub(super) fn class(&self) -> Class {
        if self.alone { Class::Single } else { Class::Batch }
    }

    /// What its answer is counted as, if it is measured.
    pub(super) fn metric_key(&self) -> MetricKey {
        self.attempts.metric_key()
    }

    /// Begins the next attempt.
    pub(super) fn begin(&mut self, now: Instant) -> std::result::Result<(), Next> {
        match self.attempts.next_at(&self.node, now) {
            Ok(deadline) => self.deadline = deadline,
            Err(next) => {
                // Its rows go on to other replicas.
                self.history.push(false);
                return Err(next);
            }
        }
        self.stamp = self.attempts.stamp(now);
        Ok(())
    }

    /// What [`begin`](Self::begin) began is put off.
    pub(super) fn take_back(&mut self) {
        self.attempts.take_back();
        self.request.clear();
    }

    /// Whether none of its rows can change anything.
    pub(super) fn reads(&self) -> bool {
        !self.attempts.writes()
    }

    pub(super) fn answers(&self) -> Answers {
        Answers::new(self.rows.len()).to_compressed(self.compressed)
    }

    /// The failure of an attempt that got no answer.
    pub(super) fn lost(&mut self, failure: Failure, now: Instant) -> Next {
        self.history.push(matches!(failure.kind, FailureKind::Expired));
        self.attempts.lost(&self.node, failure, now)
    }

    /// The caller was interrupted: before the group's attempt, or after its request was sent.
    pub(super) fn interrupted(&mut self, sent: bool, now: Instant) -> Next {
        if sent {
            return self.lost(Failure::new(FailureKind::Interrupted, !self.reads()), now);
        }
        Next::GiveUp(self.attempts.interrupted(now))
    }

    /// The request as a whole was answered with a failure.
    pub(super) fn answered(&mut self, error: Error, now: Instant) -> Next {
        self.history.push(false);
        self.attempts.answered(&self.node, error, now)
    }

    /// The request was not taken, or no answer came.
    pub(super) fn unanswered(&mut self, error: ExchangeError, now: Instant) -> Next {
        match error {
            ExchangeError::Failed(failure) => self.lost(failure, now),
            error => self.attempts.unanswered(&self.node, error, now),
        }
    }
}

impl<'a, R: Rows + ?Sized> BatchCall<'a, R> {
    /// Splits the rows by node and encodes the requests.
    ///
    /// # Errors
    /// No row can be routed, or an argument cannot be sent. Nothing has been sent then.
    pub(super) fn start(
        cluster: &'a Cluster,
        policy: &'a BatchPolicy,
        rows: &'a mut R,
        tells: bool,
        now: Instant,
    ) -> Result<(Self, Vec<NodeGroup<'a>>)> {
        rows.begin();
        let patches = cluster.overlay().rows();
        let news = tells.then(Vec::new);
        let mut call = Self {
            cluster,
            policy,
            patches,
            rows,
            first_error: None,
            news,
            is_cut: false,
            started: now,
            answered: None,
        };
        let count = call.rows.count();
        let mut attempts =
            Attempts::new(cluster, &policy.base_policy, Subject::default(), (CommandType::BatchRead, false), now);
        attempts.set_paced(call.rows.are_paced());
        if let Some(limit) = parts::limit_ms(&policy.base_policy, count, 0) {
            attempts.set_limit(limit);
        }
        let (mut groups, unroutable) = call.split(0..count as u32, &attempts, &[], now);
        if let (true, Some(error)) = (groups.is_empty(), unroutable) {
            return Err(error);
        }
        if let Err(error) = call.encode_all(&mut groups) {
            (0..count as u32).for_each(|row| call.rows.fail(row, error.clone()));
            return Err(error);
        }
        Ok((call, groups))
    }

    /// Encodes groups before anything is sent; those that are too large become several.
    fn encode_all(&mut self, groups: &mut Vec<NodeGroup<'a>>) -> Result<()> {
        let mut bytes = 0;
        for at in 0..groups.len() {
            // Encoded here rather than in `encode_parts`: most batches need no more than this.
            let group = &mut groups[at];
            let encoded = if group.rows.len() > PROBE_FROM { None } else { Some(self.encode(group)) };
            match encoded {
                Some(Ok(())) if group.request.len() <= PART_BYTES => bytes += group.request.len(),
                Some(Err(error)) if !can_be_cut(&error, group) => return Err(error),
                _ => {
                    bytes = self.encode_parts(groups, at, bytes)?;
                    break;
                }
            }
        }
        if let Some(limit) = parts::limit_ms(&self.policy.base_policy, self.rows.count(), bytes) {
            for group in groups.iter_mut() {
                group.attempts.set_limit(limit);
            }
        }
        Ok(())
    }

    /// Encodes groups from `first` on, cut where they are too large. `bytes`: what those before have; gives what all have.
    #[cold]
    fn encode_parts(&mut self, groups: &mut Vec<NodeGroup<'a>>, first: usize, mut bytes: usize) -> Result<usize> {
        let mut left = groups.split_off(first);
        left.reverse();
        while let Some(mut group) = left.pop() {
            let rows = group.rows.len();
            let mut parts = parts_of(rows, self.estimate(&group)?);
            if parts == 1 {
                match self.encode(&mut group) {
                    Ok(()) => parts = if group.compressed { 1 } else { parts_of(rows, group.request.len()) },
                    Err(error) if can_be_cut(&error, &group) => parts = 2,
                    Err(error) => return Err(error),
                }
            }
            if parts > 1 {
                self.is_cut = true;
                left.extend(group.cut(parts).into_iter().rev());
                continue;
            }
            bytes += group.request.len();
            if bytes > KEPT_BYTES {
                group.request = Request::default();
            }
            groups.push(group);
        }
        Ok(bytes)
    }

    /// About how many bytes the request of a group has: as if all rows were like the first ones. 0: not looked at.
    fn estimate(&self, group: &NodeGroup<'a>) -> Result<usize> {
        let rows = group.rows.len();
        if rows <= PROBE_FROM {
            return Ok(0);
        }
        let mut some = Request::new();
        let timeout_ms = group.attempts.server_timeout_ms();
        match self.rows.encode((self.policy, self.patches), &group.rows[..PROBE], timeout_ms, &mut some) {
            Ok(()) => {}
            Err(error) if can_be_cut(&error, group) => return Ok(rows * PART_BYTES),
            Err(error) => return Err(error),
        }
        Ok(if is_compressed_request(&some) { 0 } else { some.len() / PROBE * rows })
    }

    /// Encodes a part that comes to its turn, unless that is done.
    pub(super) fn encode_again(&mut self, mut group: NodeGroup<'a>, now: Instant) -> Option<NodeGroup<'a>> {
        if !group.is_bare() {
            return Some(group);
        }
        match self.encode(&mut group) {
            Ok(()) => Some(group),
            Err(error) => {
                // Not to be expected: these rows have been encoded before.
                let error = group.attempts.refused(error, now);
                self.give_up(&group, error);
                None
            }
        }
    }

    /// Whether several groups may be for one node.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Groups rows by the node of their next attempt. All become pending. Rows that cannot be routed fail, in doubt if
    /// they are writes that have been sent; the first such failure is given.
    fn split(
        &mut self,
        rows: impl Iterator<Item = u32>,
        attempts: &Attempts<'a>,
        history: &[bool],
        now: Instant,
    ) -> (Vec<NodeGroup<'a>>, Option<Error>) {
        let topology = self.cluster.snapshot();
        // One growth less for most batches, without much room for each of many nodes.
        let room = rows.size_hint().1.unwrap_or(0).min(256);
        // Not the four that a list of this kind begins with: there is mostly one node, or many.
        let mut groups: Vec<NodeGroup<'a>> = Vec::with_capacity(1);
        let (mut first_error, mut refresh) = (None, false);
        let mut last = 0;
        let mut router = Router { topology: &topology, policy: self.policy, history, spread: spread(), last: None };
        for row in rows {
            // Each row is looked at once: they do not fit into the nearest cache.
            self.rows.clear(row);
            let (node, writes) = match self.rows.target(row, |target| (router.node(&target), target.writes)) {
                (Ok(node), writes) => (node, writes),
                (Err(error), _) => {
                    let code = match error.kind() {
                        ErrorKind::InvalidNamespace => ResultCode::InvalidNamespace,
                        _ => ResultCode::PartitionUnavailable,
                    };
                    refresh |= matches!(error.kind(), ErrorKind::InvalidNode);
                    let failure = Error::server_bare(code).with_cause(error.clone());
                    self.rows.stamp_unanswered(row, &attempts.unroutable(failure, now));
                    push(&mut self.news, row);
                    first_error.get_or_insert_with(|| attempts.unroutable(error, now));
                    continue;
                }
            };
            // Rows of a node often stand together, and there are few nodes.
            if groups.get(last).is_none_or(|group| group.node.id() != node.id()) {
                last = groups.iter().position(|group| group.node.id() == node.id()).unwrap_or_else(|| {
                    let mut attempts = attempts.clone();
                    attempts.set_writes(false);
                    groups.push(NodeGroup {
                        node: Arc::clone(node),
                        rows: Vec::with_capacity(room),
                        attempts,
                        history: history.to_vec(),
                        alone: false,
                        compressed: false,
                        deadline: None,
                        stamp: Stamp::NONE,
                        request: Request::default(),
                    });
                    groups.len() - 1
                });
            }
            let group = &mut groups[last];
            group.rows.push(row);
            if writes {
                group.attempts.set_writes(true);
            }
        }
        if refresh {
            self.cluster.request_refresh();
        }
        if groups.iter().any(|group| group.rows.len() > parts::PART_ROWS) {
            self.is_cut = true;
            let cut = |group: NodeGroup<'a>| {
                let parts = parts_of(group.rows.len(), 0);
                group.cut(parts)
            };
            groups = groups.into_iter().flat_map(cut).collect();
        }
        for group in &mut groups {
            if history.is_empty() {
                // Rows of several namespaces in one request count for that of the first.
                let kind = if group.attempts.writes() { CommandType::BatchWrite } else { CommandType::BatchRead };
                let metrics = self.cluster.metrics();
                group
                    .attempts
                    .set_metric_key(self.rows.target(group.rows[0], |row| metrics.metric_key(kind, row.namespace)));
            }
            group.alone = group.rows.len() == 1 && self.rows.fits_single(group.rows[0]);
        }
        (groups, first_error)
    }

    fn encode(&self, group: &mut NodeGroup<'_>) -> Result<()> {
        let timeout_ms = group.attempts.server_timeout_ms();
        if group.request.capacity() == 0 {
            group.request = Request::new();
        }
        group.request.clear();
        if group.alone {
            return self.rows.encode_single((self.policy, self.patches), group.rows[0], timeout_ms, &mut group.request);
        }
        // What rows like the one before take, and some more for the first.
        group.request.reserve(512 + group.rows.len() * 25);
        self.rows.encode((self.policy, self.patches), &group.rows, timeout_ms, &mut group.request)?;
        group.compressed = is_compressed_request(&group.request);
        Ok(())
    }

    /// Takes in the body of a frame of the answer to a group. The inner failure is one of the whole request.
    pub(super) fn answer(&mut self, group: &NodeGroup<'_>, answers: &mut Answers, body: &[u8]) -> Result<Progress> {
        if self.cluster.watch().is_on() {
            self.answered = Some((Arc::clone(&group.node), group.attempts.made()));
        }
        let node = group.node.label();
        let sent = group.attempts.sent_with_this();
        let (policy, rows, news) = (self.policy, &mut *self.rows, &mut self.news);
        if !group.alone {
            return answers.frame(body, node, |place, answer| {
                // `Answers` has checked the place.
                let row = group.rows[place as usize];
                rows.answer(policy, row, answer, sent)?;
                push(news, row);
                Ok(())
            });
        }
        let row = group.rows[0];
        let failed = rows.answer_single(policy, row, body, node)?;
        if failed.is_none() {
            push(news, row);
        }
        // Some codes are worth a retry: the attempts decide.
        Ok(Progress::Done(failed))
    }

    /// What comes after a failed attempt.
    pub(super) fn after_failure(&mut self, group: NodeGroup<'a>, next: Next) -> AfterFailure<'a> {
        let error = match next {
            Next::Retry(pause) => {
                self.log_retry(&group, pause);
                return AfterFailure::Retry(pause, group);
            }
            Next::GiveUp(error) => error,
        };
        self.give_up(&group, error);
        AfterFailure::Over
    }

    /// Rows of several sets are logged with that of the first.
    #[cold]
    fn log_retry(&self, group: &NodeGroup<'_>, pause: std::time::Duration) {
        let Some(&row) = group.rows.iter().find(|row| self.rows.is_pending(**row)) else { return };
        let set = self.rows.set_of(row);
        self.rows.target(row, |Target { namespace, .. }| {
            group.attempts.log_batch_retry(Subject { namespace, set: &set }, pause, clock::now());
        });
    }

    /// Tells of the end of the batch.
    #[cold]
    fn tell(&self) {
        let (set, command) = (self.rows.set_of(0), kind_of(&*self.rows));
        let answered = self.answered.as_ref();
        self.rows.target(0, |Target { namespace, .. }| {
            self.cluster.watch().ended(&Ended {
                command,
                namespace,
                set: &set,
                rows: Some(self.rows.count()),
                node: answered.map(|(node, _)| &**node.label()),
                attempts: answered
                    .map_or_else(|| self.first_error.as_ref().map_or(0, Error::attempts), |(_, attempts)| *attempts),
                elapsed: clock::now().duration_since(self.started),
                error: self.first_error.as_ref(),
            });
        });
    }

    /// The group's unanswered rows fail.
    fn give_up(&mut self, group: &NodeGroup<'_>, error: Error) {
        for &row in &group.rows {
            if self.rows.is_pending(row) {
                self.rows.stamp_unanswered(row, &error);
                push(&mut self.news, row);
            }
        }
        // What the server says about a row that went alone is the row's own outcome.
        if !(group.alone && matches!(error.kind(), ErrorKind::Server { .. })) {
            self.first_error.get_or_insert(error);
        }
    }

    /// The groups for the next attempt of a group's unanswered rows, encoded.
    pub(super) fn reroute(&mut self, group: NodeGroup<'a>) -> Vec<NodeGroup<'a>> {
        let NodeGroup { mut rows, attempts, history, request, .. } = group;
        rows.retain(|row| self.rows.is_pending(*row));
        let now = clock::now();
        let (mut groups, unroutable) = self.split(rows.into_iter(), &attempts, &history, now);
        if let (true, Some(error)) = (groups.is_empty(), unroutable) {
            self.first_error.get_or_insert(error);
        }
        if let Some(first) = groups.first_mut() {
            first.request = request;
            first.request.clear();
        }
        groups.into_iter().filter_map(|group| self.encode_again(group, now)).collect()
    }

    /// The place of the next row with an outcome that nobody was told of, and all rows.
    pub(super) fn news(&mut self) -> Option<(usize, &R)> {
        let row = self.news.as_mut()?.pop()? as usize;
        Some((row, self.rows))
    }

    pub(super) fn has_news(&self) -> bool {
        self.news.as_ref().is_some_and(|news| !news.is_empty())
    }

    /// Rows that were left without an outcome (the server may leave rows out): to be told of last.
    pub(super) fn tell_rest(&mut self) {
        if let Some(news) = &mut self.news {
            news.extend((0..self.rows.count() as u32).filter(|row| self.rows.is_pending(*row)));
        }
    }

    pub(super) fn finish(self) -> Result<()> {
        if self.cluster.watch().is_on() && self.rows.count() > 0 {
            self.tell();
        }
        self.first_error.map_or(Ok(()), Err)
    }
}

/// Whether a group cannot be sent only because it is too large as a whole.
#[cold]
fn can_be_cut(error: &Error, group: &NodeGroup<'_>) -> bool {
    matches!(error.kind(), ErrorKind::RecordTooBig { .. }) && group.rows.len() > 1
}

fn push(news: &mut Option<Vec<u32>>, row: u32) {
    if let Some(news) = news {
        news.push(row);
    }
}

/// Finds the nodes of rows. Rows of one namespace mostly stand together: what they have in common is kept.
struct Router<'t, 'p> {
    topology: &'t Topology,
    policy: &'p BatchPolicy,
    /// Of the earlier attempts of these rows; see [`NodeGroup::history`].
    history: &'p [bool],
    spread: u32,
    /// For the row before: its namespace, whether it writes, its route before the first attempt.
    last: Option<(&'t NamespaceMap, bool, Route)>,
}

impl<'t> Router<'t, '_> {
    /// The node of a row's next attempt: goes the way of its earlier ones again, which are few.
    #[inline]
    fn node(&mut self, row: &Target<'_>) -> Result<&'t Arc<NodeInfo>> {
        let (map, mut route) = match self.last {
            Some((map, writes, route)) if writes == row.writes && same(map.name(), row.namespace) => (map, route),
            _ => self.begin(row)?,
        };
        let partition = row.partition();
        for &timed_out in self.history {
            // Only for its effect on the route: the node of an earlier attempt may be gone.
            let _ = map.route(partition, &mut route, self.spread);
            route.next_attempt(timed_out);
        }
        let id = map.route(partition, &mut route, self.spread)?;
        self.topology.node(id).ok_or_else(|| Error::invalid_node("the node has left the cluster"))
    }

    fn begin(&mut self, row: &Target<'_>) -> Result<(&'t NamespaceMap, Route)> {
        let base = &self.policy.base_policy;
        let map = self.topology.namespace(row.namespace)?;
        let route =
            if row.writes { Route::write(base.replica) } else { Route::read(map, base.replica, base.read_mode_sc) };
        self.last = Some((map, row.writes, route));
        Ok((map, route))
    }
}
