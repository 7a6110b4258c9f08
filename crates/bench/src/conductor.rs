//! Leads a run: starts the workers, moves them through the phases, takes the figures, collects the workers.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::measure::{Phase, Recorder, Shared, WorkerStats};
use crate::process::{CpuTime, peak_rss_bytes};
use crate::report::Report;
use crate::spec::RunSpec;
use crate::ticker::Ticker;
use crate::workload::{RequestSource, Workload};

/// Everything the workers of one run need.
#[derive(Debug)]
pub struct Stage {
    spec: RunSpec,
    shared: Arc<Shared>,
    stopped: watch::Receiver<bool>,
    results: mpsc::Sender<WorkerStats>,
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
            Part { source, recorder: Recorder::new(self.shared.clone(), index, offset), results: self.results.clone() }
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
/// # Errors
/// What `start` returns. Workers that fail or hang are no error here but are counted in the report.
pub fn conduct<G, E>(spec: &RunSpec, start: impl FnOnce(&Stage) -> Result<G, E>) -> Result<Report, E> {
    let shared = Shared::new(spec.concurrency(), spec.lat_sample_every);
    let (stop, stopped) = watch::channel(false);
    let (results, collected) = mpsc::channel();
    let stage = Stage { spec: spec.clone(), shared: shared.clone(), stopped, results };
    let guard = start(&stage)?;
    drop(stage);

    let mut ticker = Ticker::new(spec, &shared);
    ticker.run_until(Instant::now() + spec.warmup());

    let cpu_before = CpuTime::now();
    let started = Instant::now();
    shared.set_phase(Phase::Measure);
    ticker.run_until(started + spec.duration());
    shared.set_phase(Phase::Stop);
    let elapsed = started.elapsed();
    let cpu = CpuTime::now().since(cpu_before);
    ticker.finish();

    // Only the busy workers' last operations are waited for before the idle tasks go: the peak is then complete.
    let _ = stop.send(true);
    let (stats, missing) = collect(&collected, spec.concurrency() + spec.idle_tasks, spec.stop_limit());
    let report = Report::new(spec, stats, missing, &shared.latencies(), elapsed, cpu, peak_rss_bytes());
    if missing == 0 {
        drop(guard);
    } else {
        // Waiting for a runtime with a worker that hangs would hang as well; the process ends soon anyway.
        std::mem::forget(guard);
    }
    Ok(report)
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
                    let stats = drive_thread(part.source, part.recorder, |_| Ok(Done { records: 1, not_found: 0 }));
                    let _ = part.results.send(stats);
                });
            }
            Ok::<(), ()>(())
        })
        .unwrap();
        assert_eq!(report.errors, 1);
        assert!(report.error_samples[0].message.contains("did not end"), "{:?}", report.error_samples);
        assert!(report.tps > 1000.0);
    }
}
