//! What a run, or a part of it, amounts to.

use std::fmt;

use super::world::{Checkpoint, Done, Run};

/// Figures of a part of a run. Times in microseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Figures {
    /// Operations per second.
    pub(super) throughput: f64,
    pub(super) all: Latency,
    pub(super) reads: Latency,
    pub(super) writes: Latency,
    /// Processor time of the client and of the servers per operation.
    pub(super) client_cpu: f64,
    pub(super) server_cpu: f64,
}

/// Latencies in microseconds; zeros where there is nothing to measure.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Latency {
    pub(super) mean: f64,
    pub(super) p50: f64,
    pub(super) p99: f64,
    pub(super) p999: f64,
}

impl Latency {
    fn of(done: impl Iterator<Item = Done>) -> Self {
        let mut nanos: Vec<u64> = done.map(|d| d.latency).collect();
        if nanos.is_empty() {
            return Self::default();
        }
        let mean = nanos.iter().sum::<u64>() as f64 / nanos.len() as f64 / 1e3;
        let mut at = |share: f64| {
            let index = ((nanos.len() - 1) as f64 * share) as usize;
            *nanos.select_nth_unstable(index).1 as f64 / 1e3
        };
        Self { mean, p50: at(0.5), p99: at(0.99), p999: at(0.999) }
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mean={:.0} p50/99/99.9={:.0}/{:.0}/{:.0}", self.mean, self.p50, self.p99, self.p999)
    }
}

impl Figures {
    /// Of the part of a run between two marks.
    pub(super) fn between(run: &Run, from: Checkpoint, to: Checkpoint) -> Self {
        let done = &run.done[from.answers..to.answers];
        let (answers, nanos) = (done.len(), (to.at - from.at).max(1));
        let per_op = |spent: u64| spent as f64 / 1e3 / answers.max(1) as f64;
        let all = Latency::of(done.iter().copied());
        let mixed = done.iter().any(|d| d.write) && done.iter().any(|d| !d.write);
        let of = |write| Latency::of(done.iter().copied().filter(|d| d.write == write && mixed));
        let all = if run.overloaded { Latency { mean: f64::INFINITY, ..all } } else { all };
        Self {
            throughput: rate(done, nanos),
            all,
            reads: of(false),
            writes: of(true),
            client_cpu: per_op(to.client_cpu - from.client_cpu),
            server_cpu: per_op(to.server_cpu - from.server_cpu),
        }
    }
}

/// Operations per second. Answers come many at a time, so the time that counts is that from one read to another.
fn rate(done: &[Done], nanos: u64) -> f64 {
    let (Some(first), Some(last)) = (done.first(), done.last()) else { return 0.0 };
    let first_read = done.partition_point(|d| d.at == first.at);
    let (between, count) = (last.at - first.at, done.len() - first_read);
    let (nanos, count) = if between * 10 > nanos * 8 { (between, count) } else { (nanos, done.len()) };
    count as f64 / nanos as f64 * 1e9
}

/// When the throughput reached a goal (operations per second) for five windows on average, and stayed near it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reached {
    /// Nanoseconds and answers until then.
    pub(super) after: u64,
    pub(super) answers: usize,
}

/// When, between two moments, the throughput reaches `goal`. Windows have about 50 answers at that rate, at least 0.25 ms,
/// and five of them an answer for each of `callers`. From then on to the end the mean throughput must not be more than
/// 5 % below the goal: what is left of the time before a change does not count.
pub(super) fn reached(run: &Run, (from, to): (u64, u64), goal: f64, callers: usize) -> Option<Reached> {
    const SPAN: u64 = 5;
    let answers = (callers as f64 / SPAN as f64).max(50.0);
    let window = ((answers / goal * 1e9) as u64).max(250_000);
    let index = |at: u64| run.done.partition_point(|d| d.at < at);
    let start = index(from);
    (0..).map(|n| n * window).take_while(|after| from + after + SPAN * window <= to).find_map(|after| {
        let first = index(from + after);
        let answers = index(from + after + SPAN * window) - first;
        let rate = answers as f64 / (SPAN * window) as f64 * 1e9;
        let left = (run.done.partition_point(|d| d.at < to) - first) as f64 / (to - from - after) as f64 * 1e9;
        (rate >= goal && left >= 0.95 * goal).then_some(Reached { after, answers: first - start })
    })
}

/// The median of the connections in use, and the share of the windows in which it is within a quarter of the median.
pub(super) fn widths(run: &Run, (from, to): (u64, u64)) -> (f64, f64) {
    let mut widths: Vec<f64> = run
        .windows
        .iter()
        .filter(|(_, checkpoint)| checkpoint.at > from && checkpoint.at <= to)
        .map(|&(width, _)| width as f64)
        .collect();
    if widths.is_empty() {
        return (0.0, 1.0);
    }
    widths.sort_by(f64::total_cmp);
    let median = widths[widths.len() / 2];
    let near = widths.iter().filter(|&&width| (width - median).abs() <= (median / 4.0).max(1.0)).count();
    (median, near as f64 / widths.len() as f64)
}
