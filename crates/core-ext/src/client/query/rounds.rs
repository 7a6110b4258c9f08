//! What a query does, without I/O: which node is asked for which partitions, what has come, and what is asked again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aerolane_wire::digest::partition_id;
use aerolane_wire::message::{Message, MessageHeader, info3};
use aerospike_core::{QueryPolicy, ResultCode};

use super::cursor::{Cursor, PartitionPlace};
use super::frame::Part;
use crate::command::decode::{bad, failure};
use crate::command::policy::{self, RetryPauses};
use crate::error::{Error, ErrorKind, Phase, Result};
use crate::topology::{NodeInfo, Route, Topology};

/// The state of a query between the messages that come.
pub(super) struct Rounds {
    policy: QueryPolicy,
    namespace: String,
    pub(super) cursor: Cursor,
    /// What comes are results of a function: without a digest, and not to be asked for twice.
    results: bool,
    /// The last record's partition, and its place before.
    before: Option<(u16, PartitionPlace)>,
    /// Partitions that are to be asked for in the next round.
    left: Vec<u16>,
    /// How many records may still be handed out; `None`: no limit.
    budget: Option<u64>,
    /// The nodes of this round.
    pub(super) asked: Vec<NodeRequest>,
    running: usize,
    made: u32,
    /// How many rounds have left something to ask for again.
    failed: u32,
    route: Option<Route>,
    started: Instant,
    pauses: RetryPauses,
    /// Failures of the rounds before.
    failures: Vec<Error>,
}

/// What one node is asked for in this round.
pub(super) struct NodeRequest {
    pub(super) node: Arc<NodeInfo>,
    pub(super) partitions: Vec<u16>,
    /// The most records that it is to send; 0: no limit.
    pub(super) limit: u64,
    came: u64,
    /// The partition of the record before.
    current: Option<u16>,
    /// Partitions that it could not serve.
    unavailable: Vec<u16>,
    failure: Option<Error>,
}

/// What a message of an answer is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MessageKind {
    /// A record, to be handed out.
    Record,
    /// Something else, or a record beyond the limit.
    Nothing,
}

/// How a round has ended, and so what comes next.
#[derive(Debug)]
pub(super) enum RoundEnd {
    /// Everything has come.
    Complete,
    /// Another round for what had failed, after a pause.
    Retry(Duration),
    /// Another round at once: some nodes had fewer records than their shares of the limit, others may have more.
    More,
}

/// The topology needs a moment to follow a node that is gone.
const OWN_PAUSE: Duration = Duration::from_millis(10);
/// Earlier failures that an error carries along.
const KEPT: usize = 10;

impl Rounds {
    pub(super) fn new(namespace: &str, results: bool, policy: QueryPolicy, mut cursor: Cursor, now: Instant) -> Self {
        let budget = (policy.max_records > 0).then_some(policy.max_records);
        if budget.is_none() {
            cursor.reopen();
        }
        Self {
            left: cursor.open().collect(),
            pauses: RetryPauses::new(&policy.base_policy),
            policy,
            namespace: namespace.to_owned(),
            cursor,
            results,
            before: None,
            budget,
            asked: Vec::new(),
            running: 0,
            made: 0,
            failed: 0,
            route: None,
            started: now,
            failures: Vec::new(),
        }
    }

    pub(super) fn policy(&self) -> &QueryPolicy {
        &self.policy
    }

    /// Which round this is, from 1 on.
    pub(super) fn round(&self) -> u32 {
        self.made
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        policy::deadline(&self.policy.base_policy, self.started)
    }

    /// Splits what is left over the nodes. None: there is nothing left to ask for.
    ///
    /// # Errors
    /// An unknown namespace. What has no node at present is left for another round.
    pub(super) fn next_round(&mut self, topology: &Topology) -> Result<()> {
        self.made += 1;
        self.asked.clear();
        let base = &self.policy.base_policy;
        let map = topology.namespace(&self.namespace)?;
        let route = *self.route.get_or_insert_with(|| Route::read(map, base.replica, base.read_mode_sc));
        let mut unrouted = None;
        for partition in std::mem::take(&mut self.left) {
            let mut route = route;
            let node = map.route(partition, &mut route, self.made);
            let node = node.and_then(|id| {
                let node = topology.node(id).ok_or_else(|| Error::invalid_node("the node has left the cluster"))?;
                if node.breaker().is_open() { Err(Error::max_error_rate(node.label())) } else { Ok(node) }
            });
            let node = match node {
                Ok(node) => node,
                Err(error) if matches!(error.kind(), ErrorKind::InvalidNode | ErrorKind::MaxErrorRate) => {
                    unrouted.get_or_insert(error);
                    self.left.push(partition);
                    continue;
                }
                Err(error) => return Err(error),
            };
            match self.asked.iter_mut().find(|asked| asked.node.id() == node.id()) {
                Some(asked) => asked.partitions.push(partition),
                None => self.asked.push(NodeRequest {
                    node: Arc::clone(node),
                    partitions: vec![partition],
                    limit: 0,
                    came: 0,
                    current: None,
                    unavailable: Vec::new(),
                    failure: None,
                }),
            }
        }
        if let Some(budget) = self.budget {
            // Evenly; a node is asked for one at least, and what is too much is not handed out.
            let nodes = self.asked.len() as u64;
            for (asked, place) in self.asked.iter_mut().zip(0_u64..) {
                asked.limit = (budget / nodes + u64::from(place < budget % nodes)).max(1);
            }
        }
        self.running = self.asked.len();
        if let Some(error) = unrouted {
            self.note(error);
        }
        Ok(())
    }

    /// How many nodes' answers are not over.
    pub(super) fn running(&self) -> usize {
        self.running
    }

    /// Takes in the next message of a node.
    ///
    /// # Errors
    /// It cannot be understood, or has come without being asked for.
    pub(super) fn take(&mut self, from: usize, part: Part<'_>) -> Result<MessageKind> {
        let NodeRequest { node, partitions, limit, came, current, unavailable, failure: failed } =
            &mut self.asked[from];
        let label = node.label();
        let malformed = |error| bad(format!("a message of a query's answer is malformed: {error}"), label);
        if part.flags() & info3::PARTITION_DONE != 0 {
            let number = MessageHeader::decode(part.message).map_err(malformed)?.generation;
            let partition = u16::try_from(number).ok();
            let Some(partition) = partition.filter(|partition| partitions.binary_search(partition).is_ok()) else {
                return Err(bad(format!("the end of partition {number}, which was not asked for"), label));
            };
            if part.result_code() != 0 {
                unavailable.push(partition);
            } else if *limit == 0 {
                // With a limit it may have ended before the partition.
                self.cursor.close(partition);
            }
            return Ok(MessageKind::Nothing);
        }
        if part.flags() & info3::LAST != 0 || part.result_code() != 0 {
            if !is_end(ResultCode::from(part.result_code())) {
                *failed = Some(failure(&Message::decode(part.message).map_err(malformed)?, label));
            }
            return Ok(MessageKind::Nothing);
        }
        let Some(&digest) = part.digest() else {
            return if self.results {
                Ok(MessageKind::Record)
            } else {
                Err(bad("a record of a query has no digest".to_owned(), label))
            };
        };
        let partition = partition_id(&digest);
        // Records come partition by partition, or nearly so.
        let asked_for = *current == Some(partition) || partitions.binary_search(&partition).is_ok();
        let place = self.cursor.place_mut(partition).filter(|place| place.open && asked_for);
        let Some(place) = place else {
            return Err(bad(format!("a record of partition {partition}, which was not asked for"), label));
        };
        *current = Some(partition);
        *came += 1;
        match &mut self.budget {
            Some(0) => return Ok(MessageKind::Nothing),
            Some(budget) => *budget -= 1,
            None => {}
        }
        self.before = Some((partition, *place));
        *place = PartitionPlace { last: Some(digest), index_value: part.index_value(), open: true };
        Ok(MessageKind::Record)
    }

    /// See [`RawRecords::swap_last`](super::RawRecords::swap_last).
    pub(super) fn swap_last(&mut self) {
        if let Some((partition, before)) = &mut self.before
            && let Some(place) = self.cursor.place_mut(*partition)
        {
            std::mem::swap(place, before);
        }
    }

    /// A node's answer is over: whole, or why not.
    pub(super) fn ended(&mut self, from: usize, outcome: Result<()>) {
        self.running = self.running.saturating_sub(1);
        let asked = &mut self.asked[from];
        let failed = outcome.err().or_else(|| asked.failure.take());
        let unavailable = std::mem::take(&mut asked.unavailable);
        let partitions = std::mem::take(&mut asked.partitions);
        let at_limit = asked.limit > 0 && asked.came >= asked.limit;
        if let Some(error) = failed {
            let open = |partition: &u16| self.cursor.place(*partition).is_some_and(|place| place.open);
            self.left.extend(partitions.into_iter().filter(open));
            self.note(error);
            return;
        }
        if !at_limit {
            let served = partitions.iter().filter(|partition| !unavailable.contains(partition));
            served.for_each(|partition| self.cursor.close(*partition));
        }
        if !unavailable.is_empty() {
            let error = Error::server(ResultCode::PartitionUnavailable, self.asked[from].node.label());
            self.note(error);
            self.left.extend(unavailable);
        }
    }

    fn note(&mut self, error: Error) {
        if self.failures.len() < KEPT {
            self.failures.push(error);
        }
    }

    /// All nodes of the round have ended.
    ///
    /// # Errors
    /// Something failed that is not worth another round, or there were enough.
    pub(super) fn after_round(&mut self) -> Result<RoundEnd> {
        if self.budget == Some(0) {
            return Ok(RoundEnd::Complete);
        }
        if self.left.is_empty() {
            if self.budget.is_none() || self.results || self.cursor.is_done() {
                return Ok(RoundEnd::Complete);
            }
            self.left = self.cursor.open().collect();
            return Ok(RoundEnd::More);
        }
        self.failed += 1;
        self.left.sort_unstable();
        let last = |error: &Error| self.results || !is_passing(error);
        if let Some(at) = self.failures.iter().position(last) {
            return Err(self.failures.remove(at));
        }
        if u64::from(self.failed) >= policy::max_attempts(&self.policy.base_policy) {
            return Err(match self.failures.pop() {
                Some(only) if self.failed == 1 => only,
                Some(last) => Error::ended_by(last, &gave_up(self.failed), true),
                None => Error::max_retries_exceeded(gave_up(self.failed)),
            });
        }
        if let Some(route) = &mut self.route {
            route.next_attempt(false);
        }
        Ok(RoundEnd::Retry(self.pauses.take().max(OWN_PAUSE)))
    }

    /// The error of a query whose time is over. It names a node whose answer was not.
    pub(super) fn late(&self) -> Error {
        let phase = if self.before.is_some() { Phase::Receiving } else { Phase::Sent };
        let error = Error::timeout("the query took longer than its total timeout").with_phase(phase);
        match self.asked.iter().find(|asked| !asked.partitions.is_empty()) {
            Some(asked) => error.with_node(Arc::clone(asked.node.label())),
            None => error,
        }
    }

    /// The error of the query as a whole.
    pub(super) fn stamp(&mut self, error: Error, now: Instant) -> Error {
        let failures = std::mem::take(&mut self.failures);
        error
            .with_attempts(self.made)
            .with_elapsed(now.saturating_duration_since(self.started))
            .with_sub_errors(failures)
    }
}

fn gave_up(rounds: u32) -> String {
    format!("gave up after {rounds} rounds")
}

/// Ends of an answer that are no failures.
fn is_end(code: ResultCode) -> bool {
    matches!(code, ResultCode::Ok | ResultCode::KeyNotFoundError | ResultCode::QueryEnd)
}

/// Whether another round can be of use.
fn is_passing(error: &Error) -> bool {
    match error.server_result_code() {
        Some(code) => matches!(
            code,
            ResultCode::Timeout | ResultCode::DeviceOverload | ResultCode::KeyBusy | ResultCode::PartitionUnavailable
        ),
        None => !matches!(
            error.kind(),
            ErrorKind::ClientClosed
                | ErrorKind::CredentialsRefused { .. }
                | ErrorKind::InvalidArgument
                | ErrorKind::InvalidNamespace
                | ErrorKind::BadResponse
        ),
    }
}
