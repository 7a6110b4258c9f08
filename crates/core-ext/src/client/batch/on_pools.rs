//! A batch over blocking connections: all requests are written, then all answers read, by the calling thread.

use std::time::{Duration, Instant};

use aerospike_core::{BatchPolicy, Concurrency};

use super::course::{Course, Group, Onward};
use crate::batch::{BatchOperation, BatchRecord, Progress};
use crate::client::attempts::Next;
use crate::clock;
use crate::cluster::Cluster;
use crate::driver::blocking::{Interrupt, Job, Pools, Sent};
use crate::driver::tasks::ExchangeError;
use crate::error::{Error, Result};

/// Hears of a row's place and outcome; says whether to go on.
type OnRow<'r> = &'r mut dyn FnMut(usize, &BatchRecord) -> bool;

/// Executes a batch. `on_row` is told of each outcome; `false` ends the call.
pub(in crate::client) fn run(
    cluster: &Cluster,
    pools: &Pools,
    policy: &BatchPolicy,
    rows: &mut [BatchOperation],
    mut on_row: Option<OnRow<'_>>,
) -> Result<()> {
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
                .filter_map(|group| send(pools, group, now, &mut course, &mut retries))
                .collect();
            for (group, sent) in sent {
                receive(group, sent, &mut course, &mut retries);
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
        if !retries.pause.is_zero() {
            std::thread::sleep(retries.pause);
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
}

impl<'a> Retries<'a> {
    fn take(&mut self, course: &mut Course<'a>, group: Group<'a>, next: Next) {
        if let Onward::Retry(pause, group) = course.onward(group, next) {
            self.pause = self.pause.max(pause);
            self.groups.push(group);
        }
    }
}

fn send<'a, 'p>(
    pools: &'p Pools,
    mut group: Group<'a>,
    now: Instant,
    course: &mut Course<'a>,
    retries: &mut Retries<'a>,
) -> Option<(Group<'a>, Sent<'p>)> {
    let next = if let Err(next) = group.begin(now) {
        next
    } else {
        let (request, deadline, reads) = (&group.request, group.deadline, group.reads());
        let job = Job { request, now, deadline, reads, interrupt: Interrupt::default() };
        match pools.send(&group.node, group.class(), job) {
            Ok(sent) => return Some((group, sent)),
            Err(ExchangeError::Encode(error)) => group.refused(error, clock::now()),
            Err(ExchangeError::Full(full)) => {
                let error = Error::pool_exhausted(full.limit, full.size, full.waiting, group.node.label());
                group.refused(error, clock::now())
            }
            Err(ExchangeError::Failed(failure)) => group.lost(failure, clock::now()),
        }
    };
    retries.take(course, group, next);
    None
}

fn receive<'a>(mut group: Group<'a>, sent: Sent<'_>, course: &mut Course<'a>, retries: &mut Retries<'a>) {
    let mut answers = group.answers();
    let mut failed = None;
    let outcome = sent.receive_parts(|body| match course.answer(&group, &mut answers, body)? {
        Progress::More => Ok(false),
        Progress::Done(error) => {
            failed = error;
            Ok(true)
        }
    });
    let next = match (outcome, failed) {
        (Ok(Ok(())), None) => return,
        (Ok(Ok(())), Some(error)) | (Ok(Err(error)), _) => group.answered(error, clock::now()),
        (Err(failure), _) => group.lost(failure, clock::now()),
    };
    retries.take(course, group, next);
}

fn tell(course: &mut Course<'_>, on_row: &mut Option<OnRow<'_>>) -> bool {
    let Some(on_row) = on_row else { return true };
    while let Some((index, row)) = course.news() {
        if !on_row(index, row.batch_record()) {
            return false;
        }
    }
    true
}
