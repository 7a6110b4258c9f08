//! A batch over blocking connections: all requests are written, then all answers read, by the calling thread.

use std::time::{Duration, Instant};

use aerospike_core::{BatchPolicy, Concurrency};

use super::course::{Course, Group, Onward};
use super::rows::Rows;
use crate::batch::Progress;
use crate::client::attempts::Next;
use crate::clock;
use crate::cluster::Cluster;
use crate::driver::blocking::{Interrupt, Job, Pools, Sent};
use crate::driver::tasks::ExchangeError;
use crate::error::Result;
use crate::lane::{Failure, FailureKind};

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
    let mut now = clock::now();
    let (mut course, mut groups) = Course::start(cluster, policy, rows, on_row.is_some(), now)?;
    let at_once = if policy.concurrency == Concurrency::Sequential { 1 } else { usize::MAX };
    loop {
        let mut retries = Retries::default();
        // In the order of their ids: threads that hold connections to some nodes and wait for one to another never
        // wait for each other.
        groups.sort_by_key(|group| group.node.id());
        while !groups.is_empty() {
            let rest = groups.split_off(at_once.min(groups.len()));
            let sent: Vec<_> = std::mem::replace(&mut groups, rest)
                .into_iter()
                .filter_map(|group| send(pools, group, (now, interrupt), &mut course, &mut retries))
                .collect();
            for (group, sent) in sent {
                if retries.interrupted {
                    // Its answer is not waited for: it costs the connection.
                    drop(sent);
                    retries.interrupt(&mut course, group, true);
                    continue;
                }
                receive(group, sent, interrupt, &mut course, &mut retries);
                if !tell(&mut course, &mut on_row) {
                    return Ok(());
                }
            }
            if at_once == 1 {
                now = clock::now();
            }
        }
        if retries.groups.is_empty() {
            course.tell_rest();
            return if tell(&mut course, &mut on_row) { course.finish() } else { Ok(()) };
        }
        if !retries.interrupted {
            // Without a pause it has waited already, for a connection.
            let pause = retries.pause;
            retries.interrupted = if pause.is_zero() { interrupt.came() } else { interrupt.sleep(pause) };
        }
        if retries.interrupted {
            for group in std::mem::take(&mut retries.groups) {
                retries.interrupt(&mut course, group, false);
            }
            continue;
        }
        now = clock::now();
        groups = retries.groups.into_iter().flat_map(|group| course.reroute(group)).collect();
    }
}

/// Groups to be tried again, after the longest of their pauses.
#[derive(Default)]
struct Retries<'a> {
    groups: Vec<Group<'a>>,
    pause: Duration,
    /// The caller was interrupted, and is not asked again: what is left ends.
    interrupted: bool,
}

impl<'a> Retries<'a> {
    fn take<R: Rows + ?Sized>(&mut self, course: &mut Course<'a, R>, group: Group<'a>, next: Next) {
        if let Onward::Retry(pause, group) = course.onward(group, next) {
            self.pause = self.pause.max(pause);
            self.groups.push(group);
        }
    }

    /// A group's attempt has got no answer.
    fn lost(&mut self, group: &mut Group<'a>, failure: Failure) -> Next {
        self.interrupted |= matches!(failure.kind, FailureKind::Interrupted);
        group.lost(failure, clock::now())
    }

    /// A group ends because its caller was interrupted.
    fn interrupt<R: Rows + ?Sized>(&mut self, course: &mut Course<'a, R>, mut group: Group<'a>, sent: bool) {
        let next = group.interrupted(sent, clock::now());
        self.take(course, group, next);
    }
}

fn send<'a, 'p, R: Rows + ?Sized>(
    pools: &'p Pools,
    mut group: Group<'a>,
    (now, interrupt): (Instant, Interrupt<'_>),
    course: &mut Course<'a, R>,
    retries: &mut Retries<'a>,
) -> Option<(Group<'a>, Sent<'p>)> {
    if retries.interrupted {
        retries.interrupt(course, group, false);
        return None;
    }
    let next = if let Err(next) = group.begin(now) {
        next
    } else {
        let (request, deadline, reads, stamp) = (&group.request, group.deadline, group.reads(), group.stamp);
        match pools.send(&group.node, group.class(), Job { request, now, deadline, reads, stamp, interrupt }) {
            Ok(sent) => return Some((group, sent)),
            Err(ExchangeError::Failed(failure)) => retries.lost(&mut group, failure),
            Err(error) => group.unanswered(error, clock::now()),
        }
    };
    retries.take(course, group, next);
    None
}

fn receive<'a, R: Rows + ?Sized>(
    mut group: Group<'a>,
    sent: Sent<'_>,
    interrupt: Interrupt<'_>,
    course: &mut Course<'a, R>,
    retries: &mut Retries<'a>,
) {
    let mut answers = group.answers();
    let mut failed = None;
    let outcome = sent.receive_parts(interrupt, |body| match course.answer(&group, &mut answers, body)? {
        Progress::More => Ok(false),
        Progress::Done(error) => {
            failed = error;
            Ok(true)
        }
    });
    let next = match (outcome, failed) {
        (Ok(Ok(())), None) => return,
        (Ok(Ok(())), Some(error)) | (Ok(Err(error)), _) => group.answered(error, clock::now()),
        (Err(failure), _) => retries.lost(&mut group, failure),
    };
    retries.take(course, group, next);
}

fn tell<R: Rows + ?Sized>(course: &mut Course<'_, R>, on_row: &mut Option<OnRow<'_, R>>) -> bool {
    let Some(on_row) = on_row else { return true };
    while let Some((index, rows)) = course.news() {
        if !on_row(index, rows) {
            return false;
        }
    }
    true
}
