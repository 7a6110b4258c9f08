//! Leads a run: starts the workers, moves them through the phases, takes the figures, collects the workers.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::client_kind::Mode;
use crate::latency::Latencies;
use crate::measure::{CallKind, Phase, Recorder, Shared, WorkerStats};
use crate::process::{Usage, peak_rss_bytes};
use crate::report::{Measured, RunResult};
use crate::schedule::Schedule;
use crate::spec::RunSpec;
use crate::ticker::Ticker;
use crate::workload::{RequestSource, Workload};

/// Everything the workers of one run need.
#[derive(Debug)]
pub struct Stage {
    spec: RunSpec,
    shared: Arc<Shared>,
    background: Arc<Shared>,
    schedule: Option<Arc<Schedule>>,
    stopped: watch::Receiver<bool>,
    results: mpsc::Sender<WorkerStats>,
    background_results: mpsc::Sender<WorkerStats>,
}

/// What one busy worker needs. Moves into its task or thread.
#[derive(Debug)]
pub struct Part {
    /// Draws its requests.
    pub source: RequestSource,
    /// Takes its measurements.
    pub recorder: Recorder,
    /// Where it hands in its figures at the end.
    pub results: mpsc::Sender<WorkerStats>,
    /// When its operations are due. `None`: whenever the last one has ended.
    pub schedule: Option<Arc<Schedule>>,
}

/// What one idle task needs.
#[derive(Debug)]
pub struct IdlePart {
    /// Draws its one request.
    pub source: RequestSource,
    /// Becomes true at the end of the run.
    pub stopped: watch::Receiver<bool>,
    /// Where it hands in its figures at the end.
    pub results: mpsc::Sender<WorkerStats>,
}

impl Stage {
    /// The run's parameters.
    #[must_use]
    pub fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// The parts of all busy workers, in order.
    pub fn parts(&self) -> impl Iterator<Item = Part> + '_ {
        let RunSpec { workload, ref space, batch, seed, .. } = self.spec;
        let workers = self.spec.concurrency();
        let prebuilt = self.spec.prebuilt_keys.then(|| space.all_keys());
        (0..workers).map(move |index| {
            let source = RequestSource::new(workload, space, batch, seed, index, workers);
            let mut source = source.with_keys_by(self.spec.client.key_maker()).with_prebuilt(prebuilt);
            let offset = source.below(u64::MAX);
            Part {
                source,
                recorder: Recorder::new(self.shared.clone(), index, offset),
                results: self.results.clone(),
                schedule: self.schedule.clone(),
            }
        })
    }

    /// The parts of the tasks that read large records beside the workload. They time each call.
    pub fn background_parts(&self) -> impl Iterator<Item = Part> + '_ {
        let large = self.spec.background;
        let reads = Workload::ReadUpdate { read_pct: 100 };
        large.into_iter().flat_map(move |large| {
            (0..large.tasks).map(move |index| {
                let source =
                    RequestSource::new(reads, &large.space(&self.spec.space), 1, self.spec.seed, index, large.tasks);
                Part {
                    source: source.with_keys_by(self.spec.client.key_maker()),
                    recorder: Recorder::new(self.background.clone(), index, 0),
                    results: self.background_results.clone(),
                    schedule: None,
                }
            })
        })
    }

    /// A source beside those of the workers, which builds its keys.
    pub(crate) fn fresh_source(&self) -> RequestSource {
        let RunSpec { workload, ref space, batch, seed, .. } = self.spec;
        let workers = self.spec.concurrency();
        RequestSource::new(workload, space, batch, seed, workers, workers + 1)
    }

    /// The parts of all idle tasks, in order. They read one record, whatever the workload.
    pub fn idle_parts(&self) -> impl Iterator<Item = IdlePart> + '_ {
        let first = self.spec.concurrency();
        let idle = self.spec.idle_tasks;
        let read = Workload::ReadUpdate { read_pct: 100 };
        (0..idle).map(move |index| IdlePart {
            source: RequestSource::new(read, &self.spec.space, 1, self.spec.seed, first + index, first + idle),
            stopped: self.stopped.clone(),
            results: self.results.clone(),
        })
    }
}

/// Runs the workers that `start` starts, through warm-up and measured phase, and returns the figures.
///
/// `start` returns a guard that keeps the workers' runtime and client alive; it is dropped at the end.
///
/// # Panics
/// When the system gives no thread for the pacer of an open loop.
///
/// # Errors
/// What `start` returns. Workers that fail or hang are no error here but are counted in the report.
pub fn conduct<G, E>(spec: &RunSpec, start: impl FnOnce(&Stage) -> Result<G, E>) -> Result<RunResult, E> {
    let workers = spec.concurrency();
    let shared = Shared::new(workers, spec.lat_sample_every);
    let large_tasks = spec.background.map_or(0, |large| large.tasks);
    let background = Shared::new(large_tasks, 1);
    let schedule = spec
        .open_loop
        .map(|open_loop| Arc::new(Schedule::new(open_loop, spec.seed, workers, spec.warmup(), spec.duration())));
    let (stop, stopped) = watch::channel(false);
    let (results, collected) = mpsc::channel();
    let (background_results, background_collected) = mpsc::channel();
    let stage = Stage {
        spec: spec.clone(),
        shared: shared.clone(),
        background: background.clone(),
        schedule: schedule.clone(),
        stopped,
        results,
        background_results,
    };
    let guard = start(&stage)?;
    drop(stage);

    let origin = Instant::now();
    if let Some(schedule) = &schedule {
        begin(schedule, spec.client.mode(), origin);
    }
    let mut ticker = Ticker::new(spec, &shared);
    ticker.run_until(origin + spec.warmup());

    let (usage_before, records_before) = (Usage::now(), shared.totals().records);
    let started = Instant::now();
    shared.set_phase(Phase::Measure);
    background.set_phase(Phase::Measure);
    ticker.run_until(if schedule.is_some() { origin + spec.warmup() } else { started } + spec.duration());
    shared.set_phase(Phase::Stop);
    background.set_phase(Phase::Stop);
    let elapsed = started.elapsed();
    let usage = Usage::now().since(usage_before);
    let records_in_time = shared.totals().records - records_before;
    ticker.finish();

    // Only the busy workers' last operations are waited for before the idle tasks go: the peak is then complete.
    let _ = stop.send(true);
    let (stats, missing) = collect(&collected, workers + spec.idle_tasks, spec.stop_limit());
    let (large_stats, large_missing) = collect(&background_collected, large_tasks, spec.stop_limit());
    let mut latencies = Latencies {
        reads: shared.latencies(CallKind::Read),
        writes: shared.latencies(CallKind::Write),
        background: background.latencies(CallKind::Read),
    };
    let open_loop = schedule.map(|schedule| schedule.figures(abandon(&schedule, spec, &mut latencies)));
    let missing = missing + large_missing;
    let measured = Measured {
        // In an open loop, calls that were due before the end may be answered after it.
        records: if open_loop.is_some() { records_in_time } else { stats.records },
        stats,
        background: large_stats,
        missing,
        open_loop,
        elapsed,
        usage,
        peak_rss_bytes: peak_rss_bytes(),
    };
    let result = RunResult::new(spec, measured, latencies);
    if missing == 0 {
        drop(guard);
    } else {
        // Waiting for a runtime with a worker that hangs would hang as well; the process ends soon anyway.
        std::mem::forget(guard);
    }
    Ok(result)
}

/// Lets operations become due from `origin` on.
fn begin(schedule: &Arc<Schedule>, mode: Mode, origin: Instant) {
    schedule.begin(origin);
    // Threads sleep until their operations are due; tasks are woken by a thread that does.
    if mode == Mode::Async {
        let schedule = schedule.clone();
        let pacer = std::thread::Builder::new().name("pacer".to_owned()).spawn(move || schedule.pace());
        pacer.expect("the system gives a thread");
    }
}

/// Enters what no worker has begun into the latencies, with its age when it was given up; returns how many these are.
fn abandon(schedule: &Schedule, spec: &RunSpec, latencies: &mut Latencies) -> u64 {
    let mut source = RequestSource::new(spec.workload, &spec.space, spec.batch, spec.seed, 0, 1);
    schedule.not_started(|number, age| {
        if number % spec.lat_sample_every == 0 {
            let histogram = match source.request(number).kind() {
                CallKind::Read => &mut latencies.reads,
                CallKind::Write => &mut latencies.writes,
            };
            crate::latency::record(histogram, age);
        }
    })
}

/// Waits for `workers` figures, at most `limit`; returns their sum and how many are missing.
fn collect(from: &mpsc::Receiver<WorkerStats>, workers: usize, limit: Duration) -> (WorkerStats, usize) {
    let deadline = Instant::now() + limit;
    let mut sum = WorkerStats::default();
    for arrived in 0..workers {
        match from.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(stats) => sum.merge(stats),
            Err(_) => return (sum, workers - arrived),
        }
    }
    (sum, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_kind::ClientKind;
    use crate::measure::Done;
    use crate::report::tests::spec;
    use crate::worker::drive_thread;

    #[test]
    fn workers_that_hang_or_die_are_counted_as_errors() {
        let mut spec = spec(ClientKind::FloorSync);
        spec.threads = 3;
        spec.duration_ms = 300;
        spec.warmup_ms = 0;
        let report = conduct(&spec, |stage| {
            for part in stage.parts().skip(1) {
                std::thread::spawn(move || {
                    drive_thread(part, |_| Ok(Done { records: 1, not_found: 0 }));
                });
            }
            Ok::<(), ()>(())
        })
        .unwrap()
        .report;
        assert_eq!(report.errors, 1);
        assert!(report.error_samples[0].message.contains("did not end"), "{:?}", report.error_samples);
        assert!(report.tps > 1000.0);
    }
}
