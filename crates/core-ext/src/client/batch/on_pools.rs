//! A batch over blocking connections: all requests are written, then all answers read, by the calling thread. Of a large
//! batch, some parts are written; the others follow as answers are read.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use aerospike_core::{BatchPolicy, Concurrency};

use super::call::{AfterFailure, BatchCall, NodeGroup};
use super::parts::{Line, PARTS_IN_FLIGHT};
use super::rows::Rows;
use crate::batch::Progress;
use crate::client::attempts::Next;
use crate::clock;
use crate::cluster::Cluster;
use crate::driver::blocking::{Free, Interrupt, Job, Pools, Sent};
use crate::driver::tasks::ExchangeError;
use crate::error::Result;
use crate::lane::{Class, Failure, FailureKind};
use crate::topology::NodeId;

/// Hears of a row's place, and of all rows; says whether to go on.
type OnRow<'r, R> = &'r mut dyn FnMut(usize, &R) -> bool;

/// Executes a batch. `on_row` is told of each outcome; `false` ends the call.
pub(in crate::client) fn run<R: Rows + ?Sized>(
    cluster: &Cluster,
    pools: &Pools,
    policy: &BatchPolicy,
    rows: &mut R,
    interrupt: Interrupt<'_>,
    mut on_row: Option<OnRow<'_, R>>,
) -> Result<()> {
    let overlaid = cluster.overlay().batch(policy);
    let policy = overlaid.as_deref().unwrap_or(policy);
    #[cfg(feature = "tracing")]
    let _span = super::on_lane::span_of(cluster, rows).map(tracing::Span::entered);
    let mut now = clock::now();
    let (mut call, mut groups) = BatchCall::start(cluster, policy, rows, on_row.is_some(), now)?;
    let at_once = if policy.concurrency == Concurrency::Sequential { 1 } else { usize::MAX };
    loop {
        let mut retries = Retries::default();
        // In the order of their ids: threads that hold connections to some nodes and wait for one to another never
        // wait for each other.
        groups.sort_by_key(|group| group.node.id());
        if call.is_cut() && at_once > 1 {
            let mut parts = PartsInFlight { pools, interrupt, line: Line::default(), sent: VecDeque::new() };
            for group in std::mem::take(&mut groups) {
                parts.line.join(group);
            }
            if !parts.carry_out(&mut call, &mut retries, &mut on_row) {
                return Ok(());
            }
        }
        while !groups.is_empty() {
            let rest = groups.split_off(at_once.min(groups.len()));
            let sent: Vec<_> = std::mem::replace(&mut groups, rest)
                .into_iter()
                .filter_map(|group| {
                    send(pools, call.encode_again(group, now)?, (now, interrupt), &mut call, &mut retries)
                })
                .collect();
            let mut late = false;
            for (group, mut sent) in sent {
                if late {
                    sent.wait_from(clock::now());
                }
                late |= !receive(group, sent, interrupt, &mut call, &mut retries);
                if !tell(&mut call, &mut on_row) {
                    return Ok(());
                }
            }
            if at_once == 1 {
                now = clock::now();
            }
        }
        if retries.groups.is_empty() {
            call.tell_rest();
            return if tell(&mut call, &mut on_row) { call.finish() } else { Ok(()) };
        }
        if !retries.interrupted {
            // Without a pause it has waited already, for a connection.
            let pause = retries.pause;
            retries.interrupted = if pause.is_zero() { interrupt.came() } else { interrupt.sleep(pause) };
        }
        if retries.interrupted {
            for group in std::mem::take(&mut retries.groups) {
                retries.interrupt(&mut call, group, false);
            }
            continue;
        }
        now = clock::now();
        groups = retries.groups.into_iter().flat_map(|group| call.reroute(group)).collect();
    }
}

/// The parts of a large batch: some are sent, the others stand in line.
struct PartsInFlight<'a, 'p, 'i> {
    pools: &'p Pools,
    interrupt: Interrupt<'i>,
    line: Line<'a>,
    /// In the order in which they were sent.
    sent: VecDeque<(NodeGroup<'a>, Sent<'p>)>,
}

impl<'a> PartsInFlight<'a, '_, '_> {
    /// False: `on_row` has ended the call.
    fn carry_out<R: Rows + ?Sized>(
        &mut self,
        call: &mut BatchCall<'a, R>,
        retries: &mut Retries<'a>,
        on_row: &mut Option<OnRow<'_, R>>,
    ) -> bool {
        while !self.line.is_empty() {
            // Nothing is on its way. This waits for connections, in the order of the nodes' ids; everything behind takes
            // only those that are free.
            for node in self.line.nodes() {
                let Some(group) = self.line.next(node) else { continue };
                let now = clock::now();
                let Some(group) = call.encode_again(group, now) else { continue };
                self.sent.extend(send(self.pools, group, (now, self.interrupt), call, retries));
            }
            for node in self.line.nodes() {
                self.send_free(node, call, retries);
            }
            while let Some((group, mut sent)) = self.sent.pop_front() {
                let node = group.node.id();
                sent.wait_from(clock::now());
                receive(group, sent, self.interrupt, call, retries);
                self.send_free(node, call, retries);
                if !tell(call, on_row) {
                    return false;
                }
            }
        }
        true
    }

    /// Sends parts to a node, as long as it has connections that nobody uses.
    fn send_free<R: Rows + ?Sized>(&mut self, node: NodeId, call: &mut BatchCall<'a, R>, retries: &mut Retries<'a>) {
        let on_its_way =
            |sent: &VecDeque<(NodeGroup<'a>, _)>| sent.iter().filter(|(group, _)| group.node.id() == node).count();
        while !retries.interrupted && on_its_way(&self.sent) < PARTS_IN_FLIGHT {
            let Some(group) = self.line.next(node) else { return };
            let Some(free) = self.pools.free(&group.node, Class::Batch, clock::now()) else {
                return self.line.join_first(group);
            };
            let now = clock::now();
            let Some(group) = call.encode_again(group, now) else { continue };
            self.sent.extend(send_on(self.pools, group, Some(free), (now, self.interrupt), call, retries));
        }
    }
}

/// Groups to be tried again, after the longest of their pauses.
#[derive(Default)]
struct Retries<'a> {
    groups: Vec<NodeGroup<'a>>,
    pause: Duration,
    /// The caller was interrupted, and is not asked again: what is left ends.
    interrupted: bool,
}

impl<'a> Retries<'a> {
    fn take<R: Rows + ?Sized>(&mut self, call: &mut BatchCall<'a, R>, group: NodeGroup<'a>, next: Next) {
        if let AfterFailure::Retry(pause, group) = call.after_failure(group, next) {
            self.pause = self.pause.max(pause);
            self.groups.push(group);
        }
    }

    /// A group's attempt has got no answer.
    fn lost(&mut self, group: &mut NodeGroup<'a>, failure: Failure) -> Next {
        self.interrupted |= matches!(failure.kind, FailureKind::Interrupted);
        group.lost(failure, clock::now())
    }

    /// A group ends because its caller was interrupted.
    fn interrupt<R: Rows + ?Sized>(&mut self, call: &mut BatchCall<'a, R>, mut group: NodeGroup<'a>, sent: bool) {
        let next = group.interrupted(sent, clock::now());
        self.take(call, group, next);
    }
}

fn send<'a, 'p, R: Rows + ?Sized>(
    pools: &'p Pools,
    group: NodeGroup<'a>,
    when: (Instant, Interrupt<'_>),
    call: &mut BatchCall<'a, R>,
    retries: &mut Retries<'a>,
) -> Option<(NodeGroup<'a>, Sent<'p>)> {
    send_on(pools, group, None, when, call, retries)
}

/// Sends a group's request: over a connection that was found, or the next one that is free.
fn send_on<'a, 'p, R: Rows + ?Sized>(
    pools: &'p Pools,
    mut group: NodeGroup<'a>,
    free: Option<Free<'p>>,
    (now, interrupt): (Instant, Interrupt<'_>),
    call: &mut BatchCall<'a, R>,
    retries: &mut Retries<'a>,
) -> Option<(NodeGroup<'a>, Sent<'p>)> {
    if retries.interrupted {
        retries.interrupt(call, group, false);
        return None;
    }
    let next = if let Err(next) = group.begin(now) {
        next
    } else {
        let (request, deadline, reads, metric_key) =
            (&group.request, group.deadline, group.reads(), group.metric_key());
        let job = Job { request, now, deadline, reads, metric_key, interrupt };
        let sent = match free {
            Some(free) => pools.send_over(&group.node, free, job),
            None => pools.send(&group.node, group.class(), job),
        };
        match sent {
            Ok(sent) => return Some((group, sent)),
            Err(ExchangeError::Failed(failure)) => retries.lost(&mut group, failure),
            Err(error) => group.unanswered(error, clock::now()),
        }
    };
    retries.take(call, group, next);
    None
}

/// Reads the answer to a group; false: it did not come, and may have taken all the time there was.
fn receive<'a, R: Rows + ?Sized>(
    mut group: NodeGroup<'a>,
    sent: Sent<'_>,
    interrupt: Interrupt<'_>,
    call: &mut BatchCall<'a, R>,
    retries: &mut Retries<'a>,
) -> bool {
    if retries.interrupted {
        // Its answer is not waited for: it costs the connection.
        drop(sent);
        retries.interrupt(call, group, true);
        return true;
    }
    let mut answers = group.answers();
    let mut failed = None;
    let outcome = sent.receive_parts(interrupt, |body| match call.answer(&group, &mut answers, body)? {
        Progress::More => Ok(false),
        Progress::Done(error) => {
            failed = error;
            Ok(true)
        }
    });
    let next = match (outcome, failed) {
        (Ok(Ok(())), None) => return true,
        (Ok(Ok(())), Some(error)) | (Ok(Err(error)), _) => group.answered(error, clock::now()),
        (Err(failure), _) => retries.lost(&mut group, failure),
    };
    retries.take(call, group, next);
    false
}

fn tell<R: Rows + ?Sized>(call: &mut BatchCall<'_, R>, on_row: &mut Option<OnRow<'_, R>>) -> bool {
    let Some(on_row) = on_row else { return true };
    while let Some((index, rows)) = call.news() {
        if !on_row(index, rows) {
            return false;
        }
    }
    true
}
