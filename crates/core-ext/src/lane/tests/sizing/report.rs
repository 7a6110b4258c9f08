//! An adaptive lane in a scenario, compared with the best fixed number of connections.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::measure::{Figures, Reached, reached, widths};
use super::oracle::{self, Best};
use super::params::{Change, Load, MS, Params};
use super::scenarios::Scenario;
use super::world::{Extent, World};
use crate::lane::LaneSizing;

/// How long a part of a run between two changes takes.
const PART: u64 = 200 * MS;
/// The measurement of such a part starts so long after the change.
const SETTLED: u64 = 100 * MS;

/// A part of a run without changes.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) params: Params,
    /// When it starts; after a pause of the client, when that ends.
    from: u64,
}

/// How an adaptive lane compares in a part of a run.
#[derive(Debug, Clone)]
pub(super) struct Verdict {
    pub(super) name: String,
    pub(super) best: Best,
    pub(super) figures: Figures,
    /// Throughput in a closed loop and inverse mean latency in an open loop, relative to the best.
    pub(super) score: f64,
    pub(super) throughput: f64,
    pub(super) mean: f64,
    /// Relative to the best, but not to less than the service time of the few slow requests: whether p99 meets one of
    /// them is chance where they are one percent.
    pub(super) p99: f64,
    pub(super) cpu: f64,
    /// Connections in use on all nodes: median, and share of the time near it.
    pub(super) width: f64,
    pub(super) steady: f64,
    /// When 90 % of the best throughput was reached (closed loop only).
    pub(super) reached: Option<Reached>,
    pub(super) open_loop: bool,
    /// Connections opened in the whole run.
    pub(super) opened: usize,
    /// Age of the oldest request without an answer, and the longest latency of all, in nanoseconds.
    pub(super) longest: u64,
}

impl Verdict {
    /// Whether 90 % of the best throughput was reached within 200 answers or 100 ms.
    pub(super) fn is_quick(&self) -> bool {
        self.open_loop || self.reached.is_some_and(|r| r.answers <= 200 || r.after <= 100 * MS)
    }
}

impl Scenario {
    /// With the rate of an open loop found out.
    fn resolved(&self) -> Params {
        let mut params = self.params.clone();
        if let Some(percent) = self.percent {
            let closed = self.name.replace(&format!(",load={percent}%"), "");
            let most = oracle::best(&closed, &params).throughput;
            params.load = Load::Open((most * f64::from(percent) / 100.0).round());
        }
        params
    }

    /// Its parts, each with what is in force there.
    pub(super) fn parts(&self) -> Vec<Part> {
        let resolved = self.resolved();
        let mut params = Params { changes: Vec::new(), ..resolved.clone() };
        let mut parts: Vec<Part> = vec![Part { name: self.name.clone(), params: params.clone(), from: 0 }];
        for (at, change) in &resolved.changes {
            let mut from = *at;
            match *change {
                Change::Service(node, read, write) => {
                    (params.servers[node].read, params.servers[node].write) = (read, write);
                }
                Change::Callers(callers) => params.load = Load::Closed(callers),
                Change::Pause(time) => from += time,
            }
            // What was in force before has the same best number of connections as then.
            let name = parts.iter().find(|part| part.params == params).map(|part| part.name.clone());
            let name = name.unwrap_or_else(|| format!("{}@{}", self.name, parts.len()));
            parts.push(Part { name, params: params.clone(), from });
        }
        parts
    }

    /// Runs an adaptive lane.
    pub(super) fn run(&self) -> Vec<Verdict> {
        self.run_with(super::adaptive(), false)
    }

    /// Whether one fixed number of connections is the best for all of the run.
    pub(super) fn has_one_best(&self) -> bool {
        self.params.changes.is_empty()
    }

    /// Runs the best fixed number of connections in its place, with all of them open at the start, as when it was found.
    pub(super) fn run_best(&self) -> Vec<Verdict> {
        let params = self.resolved();
        let width = oracle::best(&self.name, &params).width;
        self.run_with(oracle::fixed(width, params.servers.len()), true)
    }

    fn run_with(&self, sizing: LaneSizing, warm: bool) -> Vec<Verdict> {
        let parts = self.parts();
        let bests: Vec<Best> = parts.iter().map(|part| oracle::best(&part.name, &part.params)).collect();
        let slowest = bests.iter().map(|best| best.throughput).fold(f64::MAX, f64::min);
        let mut params = self.resolved();
        params.changes = self.params.changes.clone();
        let nanos = |answers: f64| (answers / slowest * 1e9) as u64;
        let warm_time = super::warm_time(&params, true).max(nanos(1000.0));
        let callers = parts.iter().map(|part| part.params.callers()).max().unwrap_or(0);
        let window = MS.max(((400 + 2 * callers) as f64 / bests[0].throughput * 1e9) as u64);
        let end = match parts.last() {
            Some(last) if parts.len() > 1 => last.from + PART,
            _ => warm_time + nanos(super::answers(&params) as f64),
        };
        let extent = Extent { warm_time, warm_answers: 0, answers: usize::MAX, end, window };
        let run = World::new(&params, sizing, warm, extent).run();
        let longest = run.done.iter().map(|d| d.latency).max().unwrap_or(0).max(run.oldest);
        parts
            .iter()
            .zip(bests)
            .enumerate()
            .map(|(index, (part, best))| {
                let to = run.checkpoints[index + 1];
                let from = if parts.len() > 1 {
                    run.windows
                        .iter()
                        .map(|&(_, checkpoint)| checkpoint)
                        .find(|checkpoint| checkpoint.at >= part.from + SETTLED)
                        .unwrap_or(to)
                } else {
                    run.warm.unwrap()
                };
                let figures = Figures::between(&run, from, to);
                let open_loop = matches!(part.params.load, Load::Open(_));
                let (width, steady) = widths(&run, (from.at, to.at));
                let mean = figures.all.mean / best.mean;
                let throughput = figures.throughput / best.throughput;
                Verdict {
                    name: if index == 0 { self.name.clone() } else { format!("{}@{index}", self.name) },
                    best,
                    figures,
                    score: if open_loop { 1.0 / mean } else { throughput },
                    throughput,
                    mean,
                    p99: figures.all.p99 / best.p99.max(part.params.slowest_service()),
                    cpu: figures.client_cpu / best.cpu,
                    width,
                    steady,
                    reached: reached(&run, (part.from, to.at), 0.9 * best.throughput, part.params.callers()),
                    open_loop,
                    opened: run.opened,
                    longest,
                }
            })
            .collect()
    }
}

/// Calls `work` for each item on as many threads as there are processors; the results in the order of the items.
pub(super) fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let one = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return done };
            done.push((index, work(item)));
        }
    };
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    all.sort_by_key(|&(index, _)| index);
    all.into_iter().map(|(_, result)| result).collect()
}

/// One line for a verdict: relative to the best fixed number of connections, then as measured.
pub(super) fn line(verdict: &Verdict) -> String {
    let Verdict { name, best, figures, throughput, mean, p99, cpu, width, steady, .. } = verdict;
    let reached =
        verdict.reached.map_or("never".to_owned(), |r| format!("{:.1}ms/{}", r.after as f64 / 1e6, r.answers));
    let mut line = format!(
        "{name:55} x={throughput:.2} mean={mean:.2} p99={p99:.2} cpu={cpu:.2} w={width:.0}/{} steady={steady:.2} \
         90%={reached} | {:.1}k/s {} us, cpu={:.2}us server={:.2}us opened={}",
        best.width,
        figures.throughput / 1e3,
        figures.all,
        figures.client_cpu,
        figures.server_cpu,
        verdict.opened,
    );
    if figures.writes.mean > 0.0 {
        write!(line, " | reads {} writes {}", figures.reads, figures.writes).unwrap();
    }
    line
}

/// What a set of verdicts amounts to.
pub(super) fn summary(verdicts: &[Verdict]) -> String {
    let share = |what: &dyn Fn(&Verdict) -> bool| {
        let count = verdicts.iter().filter(|v| what(v)).count();
        format!("{:.1}%", 100.0 * count as f64 / verdicts.len().max(1) as f64)
    };
    let mut worst: Vec<&Verdict> = verdicts.iter().collect();
    worst.sort_by(|a, b| a.score.total_cmp(&b.score));
    let mut text = format!(
        "{} runs: score >= 0.95 {}, >= 0.85 {}, least {:.2}; p99 <= 1.3 {}; cpu <= 1.15 {}; steady >= 0.9 {}; \
         90% within 100 ms or 200 answers {}\nworst:",
        verdicts.len(),
        share(&|v| v.score >= 0.95),
        share(&|v| v.score >= 0.85),
        worst.first().map_or(0.0, |v| v.score),
        share(&|v| v.p99 <= 1.3),
        share(&|v| v.cpu <= 1.15),
        share(&|v| v.steady >= 0.9),
        share(&Verdict::is_quick),
    );
    for verdict in worst.iter().take(10) {
        text.push_str("\n  ");
        text.push_str(&line(verdict));
    }
    text
}
