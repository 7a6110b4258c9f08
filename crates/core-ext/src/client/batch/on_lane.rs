//! A batch over a lane: all nodes at the same time, in the one future of the caller.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use aerospike_core::{BatchPolicy, CommandType, Concurrency};

use super::call::{AfterFailure, BatchCall, NodeGroup};
use super::parts::{Line, PARTS_IN_FLIGHT};
use super::rows::Rows;
#[cfg(feature = "tracing")]
use super::rows::Target;
use crate::batch::Progress;
use crate::client::attempts::Next;
use crate::client::execute::wait;
#[cfg(feature = "tracing")]
use crate::client::{attempts::Subject, span};
use crate::clock;
use crate::cluster::Cluster;
use crate::command::compress::with_plain_body;
use crate::driver::lane_ref::{LaneExchange, LaneRef};
use crate::driver::tasks::ExchangeError;
use crate::error::{Error, Result};
use crate::topology::NodeId;

/// Executes a batch. `on_row` is told of each outcome (a row's place, and all rows); `false` ends the call.
pub(in crate::client) async fn run<R, F, Fut>(
    cluster: &Cluster,
    lane: LaneRef<'_>,
    policy: &BatchPolicy,
    rows: &mut R,
    on_row: Option<F>,
) -> Result<()>
where
    R: Rows + ?Sized,
    F: Fn(usize, &R) -> Fut,
    Fut: Future<Output = bool>,
{
    let overlaid = cluster.overlay().batch(policy);
    let policy = overlaid.as_deref().unwrap_or(policy);
    #[cfg(feature = "tracing")]
    if let Some(span) = span_of(cluster, rows) {
        return Box::pin(tracing::Instrument::instrument(run_by(cluster, lane, policy, rows, on_row), span)).await;
    }
    run_by(cluster, lane, policy, rows, on_row).await
}

/// The span of a batch, if operations have spans: named by its first row.
#[cfg(feature = "tracing")]
#[inline]
pub(super) fn span_of<R: Rows + ?Sized>(cluster: &Cluster, rows: &R) -> Option<tracing::Span> {
    if !cluster.watch().has_spans() || rows.count() == 0 {
        return None;
    }
    let set = rows.set_of(0);
    let subject = |target: Target<'_>| {
        span::of(kind_of(rows), Subject { namespace: target.namespace, set: &set }, Some(rows.count()))
    };
    Some(rows.target(0, subject))
}

/// What a batch is in logs and spans.
pub(super) fn kind_of<R: Rows + ?Sized>(rows: &R) -> CommandType {
    if (0..rows.count() as u32).any(|row| rows.has_write(row)) {
        CommandType::BatchWrite
    } else {
        CommandType::BatchRead
    }
}

/// [`run`] by exactly this policy, whatever a configuration file says.
pub(super) async fn run_by<R, F, Fut>(
    cluster: &Cluster,
    lane: LaneRef<'_>,
    policy: &BatchPolicy,
    rows: &mut R,
    on_row: Option<F>,
) -> Result<()>
where
    R: Rows + ?Sized,
    F: Fn(usize, &R) -> Fut,
    Fut: Future<Output = bool>,
{
    let now = clock::now();
    let (mut call, groups) = BatchCall::start(cluster, policy, rows, on_row.is_some(), now)?;
    let mut running = Running {
        cluster,
        lane,
        sequential: policy.concurrency == Concurrency::Sequential,
        now: Some(now),
        groups: Vec::new(),
        line: Line::default(),
    };
    if call.is_cut() {
        for group in groups {
            running.admit_last(group, now, &mut call);
        }
    } else {
        running.groups = groups.into_iter().map(|group| (group, State::Ready)).collect();
    }
    loop {
        let over = poll_fn(|cx| running.poll(cx, &mut call)).await;
        if over {
            call.tell_rest();
        }
        if let Some(on_row) = &on_row {
            while let Some((index, rows)) = call.news() {
                if !on_row(index, rows).await {
                    return Ok(());
                }
            }
        }
        if over {
            return call.finish();
        }
    }
}

type Encode = Box<dyn FnOnce(&mut Vec<u8>) -> Result<()> + Send>;

struct Running<'a, 'l> {
    cluster: &'l Cluster,
    lane: LaneRef<'l>,
    sequential: bool,
    /// The reading of the clock for the first attempts.
    now: Option<Instant>,
    groups: Vec<(NodeGroup<'a>, State<'l>)>,
    /// Parts of a large batch that wait for their turn.
    line: Line<'a>,
}

enum State<'l> {
    Ready,
    Waiting(LaneExchange<'l, Encode>),
    Pausing(Pin<Box<dyn Future<Output = ()> + Send + 'l>>),
}

/// What became of a group for now.
enum Step {
    Pending,
    Done,
    Failed(Next),
    /// The lane has no room for one more part of a batch that has others on their way to the node.
    Later,
    /// The pause is over.
    Reroute,
}

impl<'a> Running<'a, '_> {
    /// Ready when all groups are over (true) or there are news of rows (false).
    fn poll<R: Rows + ?Sized>(&mut self, cx: &mut Context<'_>, call: &mut BatchCall<'a, R>) -> Poll<bool> {
        let mut index = 0;
        while index < self.groups.len() {
            match self.step(index, cx, call) {
                Step::Pending if self.sequential => break,
                Step::Pending => index += 1,
                Step::Done => {
                    let (group, _) = self.groups.remove(index);
                    self.follow(index, group.node.id(), call);
                }
                Step::Later => {
                    let (group, _) = self.groups.remove(index);
                    self.line.join_first(group);
                }
                Step::Failed(next) => {
                    let (group, _) = self.groups.remove(index);
                    let node = group.node.id();
                    match call.after_failure(group, next) {
                        // Not zero: a pause is the place where the rows are routed anew.
                        AfterFailure::Retry(pause, group) => {
                            let pause = Box::pin(wait(self.cluster, pause.max(Duration::from_micros(1))));
                            self.groups.insert(index, (group, State::Pausing(pause)));
                        }
                        AfterFailure::Over => self.follow(index, node, call),
                    }
                }
                Step::Reroute => {
                    let (group, _) = self.groups.remove(index);
                    let node = group.node.id();
                    let rerouted = call.reroute(group);
                    if !call.is_cut() {
                        let rerouted = rerouted.into_iter().map(|group| (group, State::Ready));
                        self.groups.splice(index..index, rerouted);
                        continue;
                    }
                    for group in rerouted {
                        if self.has_room(group.node.id()) {
                            self.groups.insert(index, (group, State::Ready));
                        } else {
                            self.line.join_first(group);
                        }
                    }
                    self.follow(index, node, call);
                }
            }
        }
        self.now = None;
        match (self.groups.is_empty(), call.has_news()) {
            (true, _) => Poll::Ready(true),
            (false, true) => Poll::Ready(false),
            (false, false) => Poll::Pending,
        }
    }

    /// A part goes with the others, or stands in line.
    fn admit_last<R: Rows + ?Sized>(&mut self, group: NodeGroup<'a>, now: Instant, call: &mut BatchCall<'a, R>) {
        if !self.has_room(group.node.id()) {
            self.line.join(group);
        } else if let Some(group) = call.encode_again(group, now) {
            self.groups.push((group, State::Ready));
        }
    }

    /// How many parts a node has before it, those that pause included.
    fn in_flight(&self, node: NodeId) -> usize {
        self.groups.iter().filter(|(group, _)| group.node.id() == node).count()
    }

    fn has_room(&self, node: NodeId) -> bool {
        self.in_flight(node) < if self.sequential { 1 } else { PARTS_IN_FLIGHT }
    }

    /// Another part takes the place of one that is over.
    #[inline]
    fn follow<R: Rows + ?Sized>(&mut self, index: usize, node: NodeId, call: &mut BatchCall<'a, R>) {
        if !self.line.is_empty() {
            self.take_next(index, node, call);
        }
    }

    #[cold]
    fn take_next<R: Rows + ?Sized>(&mut self, index: usize, node: NodeId, call: &mut BatchCall<'a, R>) {
        while self.has_room(node)
            && let Some(group) = self.line.next(node)
        {
            if let Some(group) = call.encode_again(group, clock::now()) {
                self.groups.insert(index, (group, State::Ready));
            }
        }
    }

    fn step<R: Rows + ?Sized>(&mut self, index: usize, cx: &mut Context<'_>, call: &mut BatchCall<'a, R>) -> Step {
        let others = call.is_cut() && self.in_flight(self.groups[index].0.node.id()) > 1;
        let (group, state) = &mut self.groups[index];
        loop {
            match state {
                State::Ready => {
                    let now = self.now.unwrap_or_else(clock::now);
                    if let Err(next) = group.begin(now) {
                        return Step::Failed(next);
                    }
                    debug_assert!(!group.is_bare(), "a request without bytes would never be answered");
                    let mut request = std::mem::take(&mut group.request);
                    let encode: Encode = Box::new(move |out| {
                        std::mem::swap(out, &mut *request);
                        Ok(())
                    });
                    let node = group.node.id().index() as u16;
                    let when = (now, group.deadline, group.stamp);
                    *state = State::Waiting(self.lane.exchange(node, group.class(), when, encode));
                }
                State::Waiting(exchange) => {
                    let polled = exchange.poll_with(cx, |body| {
                        let mut answers = group.answers();
                        with_plain_body(body, |body| call.answer(group, &mut answers, body))
                    });
                    let Poll::Ready(outcome) = polled else { return Step::Pending };
                    let next = match outcome {
                        Ok(Ok(Progress::Done(None))) => return Step::Done,
                        Ok(Ok(Progress::Done(Some(error))) | Err(error)) => group.answered(error, clock::now()),
                        Ok(Ok(Progress::More)) => {
                            group.answered(Error::bad_response("a batch answer without its end"), clock::now())
                        }
                        Err(ExchangeError::Full(_)) if others => {
                            group.take_back();
                            return Step::Later;
                        }
                        Err(error) => group.unanswered(error, clock::now()),
                    };
                    return Step::Failed(next);
                }
                State::Pausing(sleep) => {
                    if sleep.as_mut().poll(cx).is_pending() {
                        return Step::Pending;
                    }
                    return Step::Reroute;
                }
            }
        }
    }
}
