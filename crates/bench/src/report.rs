//! The figures of one run, their JSON form, and the median over several rounds.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::measure::{ErrorSamples, WorkerStats};
use crate::process::CpuTime;
use crate::spec::RunSpec;

/// The figures of one client. Printed as one JSON object; "ops" are records, so batches count each of their records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Name of the client.
    pub client: String,
    /// `async` or `sync`.
    pub mode: String,
    /// Busy tasks; 0 for blocking clients.
    pub tasks: usize,
    /// Threads: of the workers for blocking clients, of the runtime for asynchronous ones.
    pub threads: usize,
    /// Records per call.
    pub batch: usize,
    /// Records read or written per second, errors and timeouts not counted.
    pub tps: f64,
    /// Failed calls that were not timeouts, summed over rounds.
    pub errors: u64,
    /// Calls that ran out of time, summed over rounds.
    pub timeouts: u64,
    /// Median latency of the sampled calls, µs. A batch is one call.
    pub p50_us: f64,
    /// 99th percentile, µs.
    pub p99_us: f64,
    /// 99.9th percentile, µs.
    pub p999_us: f64,
    /// Longest sampled call, µs.
    pub max_us: f64,
    /// User and system CPU time of the client process per record, µs.
    pub client_cpu_us_per_op: f64,
    /// Peak resident set of the client process.
    pub peak_rss_bytes: u64,
    /// The seeds, or `none` for the floors.
    pub host: String,
    /// The workload.
    pub workload: String,
    /// Tasks that held a client but did nothing in the measured phase.
    pub idle_tasks: usize,
    /// Measured time of one round in seconds.
    pub duration_s: f64,
    /// Rounds that these figures are the medians of.
    pub rounds: usize,
    /// Records that were asked for and did not exist (successful reads).
    pub not_found: u64,
    /// Share of the CPU time spent in the kernel, 0 to 1.
    pub client_cpu_system_share: f64,
    /// The most frequent error messages.
    pub error_samples: Vec<ErrorSample>,
}

/// An error message and how often it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorSample {
    /// The client's words.
    pub message: String,
    /// How often.
    pub count: u64,
}

impl Report {
    /// Puts the figures of one run together. `missing` workers never handed in theirs; each counts as an error.
    #[must_use]
    pub fn new(
        spec: &RunSpec,
        stats: WorkerStats,
        missing: usize,
        latencies: &Histogram<u64>,
        elapsed: Duration,
        cpu: CpuTime,
        peak_rss_bytes: u64,
    ) -> Self {
        let percentile = |share: f64| micros(latencies.value_at_quantile(share));
        let mut error_samples = sorted(stats.messages);
        if missing > 0 {
            let message = format!("{missing} workers did not end within {:?} after the run", spec.stop_limit());
            error_samples.insert(0, ErrorSample { message, count: missing as u64 });
        }
        let mode = spec.client.mode();
        let asynchronous = mode == crate::client_kind::Mode::Async;
        Self {
            client: spec.client.name().to_owned(),
            mode: mode.to_string(),
            tasks: if asynchronous { spec.tasks } else { 0 },
            threads: if asynchronous { spec.runtime_threads() } else { spec.threads },
            batch: spec.batch,
            tps: stats.records as f64 / elapsed.as_secs_f64(),
            errors: stats.errors + missing as u64,
            timeouts: stats.timeouts,
            p50_us: percentile(0.5),
            p99_us: percentile(0.99),
            p999_us: percentile(0.999),
            max_us: micros(latencies.max()),
            client_cpu_us_per_op: ratio(cpu.total().as_secs_f64() * 1e6, stats.records as f64),
            peak_rss_bytes,
            host: if spec.seeds.is_empty() { "none".to_owned() } else { spec.seeds.clone() },
            workload: spec.workload.to_string(),
            idle_tasks: spec.idle_tasks,
            duration_s: elapsed.as_secs_f64(),
            rounds: 1,
            not_found: stats.not_found,
            client_cpu_system_share: ratio(cpu.system.as_secs_f64(), cpu.total().as_secs_f64()),
            error_samples,
        }
    }

    /// The median of every figure over `rounds` of the same run; errors, timeouts and not-found are summed.
    /// `None` without rounds.
    #[must_use]
    pub fn median(rounds: &[Self]) -> Option<Self> {
        let mut report = rounds.first()?.clone();
        let middle = |figure: fn(&Self) -> f64| median(rounds.iter().map(figure).collect());
        report.tps = middle(|r| r.tps);
        report.p50_us = middle(|r| r.p50_us);
        report.p99_us = middle(|r| r.p99_us);
        report.p999_us = middle(|r| r.p999_us);
        report.max_us = middle(|r| r.max_us);
        report.client_cpu_us_per_op = middle(|r| r.client_cpu_us_per_op);
        report.client_cpu_system_share = middle(|r| r.client_cpu_system_share);
        report.duration_s = middle(|r| r.duration_s);
        report.peak_rss_bytes = middle(|r| r.peak_rss_bytes as f64) as u64;
        report.errors = rounds.iter().map(|r| r.errors).sum();
        report.timeouts = rounds.iter().map(|r| r.timeouts).sum();
        report.not_found = rounds.iter().map(|r| r.not_found).sum();
        report.rounds = rounds.len();
        let mut samples = ErrorSamples::default();
        for sample in rounds.iter().flat_map(|round| &round.error_samples) {
            samples.add(&sample.message, sample.count);
        }
        report.error_samples = sorted(samples);
        Some(report)
    }
}

fn sorted(samples: ErrorSamples) -> Vec<ErrorSample> {
    samples.into_sorted().into_iter().map(|(message, count)| ErrorSample { message, count }).collect()
}

/// The middle value, or the mean of the two middle ones.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

/// `a / b`, and 0 where there is nothing to divide by: JSON has no NaN.
fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1000.0
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::client_kind::ClientKind;
    use crate::measure::{Failure, Phase, Recorder, Shared};
    use crate::spec::{ClientSettings, RuntimeKind};
    use crate::workload::{KeyKind, KeySpace, Workload};

    pub(crate) fn spec(client: ClientKind) -> RunSpec {
        RunSpec {
            client,
            seeds: if client.needs_cluster() { "127.0.0.1:3000".into() } else { String::new() },
            workload: Workload::ReadUpdate { read_pct: 50 },
            space: KeySpace { namespace: "test".into(), set: "bench".into(), keys: 1000, kind: KeyKind::Int },
            prebuilt_keys: false,
            batch: 1,
            tasks: 4,
            threads: 2,
            idle_tasks: 0,
            warmup_ms: 10,
            duration_ms: 50,
            lat_sample_every: 1,
            runtime: RuntimeKind::Multi,
            workers: 2,
            settings: ClientSettings { timeout_ms: Some(0), ..ClientSettings::default() },
            seed: 1,
            ticker: false,
        }
    }

    pub(crate) fn report(client: ClientKind, tps: f64, cpu_us: f64) -> Report {
        let shared = Shared::new(1, 1);
        let spec = spec(client);
        let cpu = CpuTime { user: Duration::from_secs_f64(cpu_us * tps / 1e6), system: Duration::ZERO };
        let stats = WorkerStats { calls: tps as u64, records: tps as u64, ..WorkerStats::default() };
        Report::new(&spec, stats, 0, &shared.latencies(), Duration::from_secs(1), cpu, 10 << 20)
    }

    #[test]
    fn the_json_object_has_the_promised_keys() {
        let value = serde_json::to_value(report(ClientKind::CoreAsync, 1000.0, 10.0)).unwrap();
        for key in [
            "client",
            "mode",
            "tasks",
            "threads",
            "batch",
            "tps",
            "errors",
            "timeouts",
            "p50_us",
            "p99_us",
            "p999_us",
            "max_us",
            "client_cpu_us_per_op",
            "peak_rss_bytes",
            "host",
        ] {
            assert!(value.get(key).is_some(), "{key} is missing in {value}");
        }
        assert_eq!(value["client"], "core-async");
        assert_eq!(value["mode"], "async");
        assert_eq!((value["tasks"].as_u64(), value["threads"].as_u64()), (Some(4), Some(2)));
        assert!((value["client_cpu_us_per_op"].as_f64().unwrap() - 10.0).abs() < 0.01);
    }

    #[test]
    fn figures_come_from_the_samples_and_counters() {
        let shared = Shared::new(1, 1);
        shared.set_phase(Phase::Measure);
        let mut recorder = Recorder::new(shared.clone(), 0, 0);
        let call = recorder.begin().unwrap();
        recorder.end(&call, Err(Failure { timeout: true, message: "late".into() }));
        let call = recorder.begin().unwrap();
        std::thread::sleep(Duration::from_millis(2));
        recorder.end(&call, Ok(crate::measure::Done { records: 128, not_found: 2 }));
        let cpu = CpuTime { user: Duration::from_micros(96), system: Duration::from_micros(32) };
        let spec = spec(ClientKind::CoreSync);
        let elapsed = Duration::from_secs(2);
        let report = Report::new(&spec, recorder.finish(), 0, &shared.latencies(), elapsed, cpu, 7);
        assert_eq!((report.tps, report.client_cpu_us_per_op), (64.0, 1.0));
        assert_eq!((report.timeouts, report.errors, report.not_found), (1, 0, 2));
        assert!((report.client_cpu_system_share - 0.25).abs() < 1e-9);
        assert!(report.p50_us >= 2000.0 && report.max_us >= report.p50_us, "{report:?}");
        assert_eq!((report.tasks, report.threads), (0, 2));
        assert_eq!(report.error_samples, vec![ErrorSample { message: "late".into(), count: 1 }]);
    }

    #[test]
    fn nothing_done_gives_zeros_not_nan() {
        let report = report(ClientKind::CoreAsync, 0.0, 0.0);
        assert_eq!((report.tps, report.client_cpu_us_per_op, report.p50_us), (0.0, 0.0, 0.0));
        assert!(serde_json::to_string(&report).is_ok());
    }

    #[test]
    fn median_over_rounds() {
        let mut rounds: Vec<_> = [300.0, 100.0, 200.0].map(|tps| report(ClientKind::CoreAsync, tps, 1.0)).into();
        rounds[1].errors = 2;
        rounds[2].errors = 3;
        for (round, message) in rounds.iter_mut().zip(["late by 1 ms", "late by 20 ms", "bad"]) {
            round.error_samples.push(ErrorSample { message: message.into(), count: 2 });
        }
        let median = Report::median(&rounds).unwrap();
        let samples: Vec<_> = median.error_samples.iter().map(|s| (s.message.as_str(), s.count)).collect();
        assert_eq!(samples, [("late by 1 ms", 4), ("bad", 2)]);
        assert_eq!((median.tps, median.errors, median.rounds), (200.0, 5, 3));
        assert!((Report::median(&rounds[..2]).unwrap().tps - 200.0).abs() < 1e-9);
        assert_eq!(Report::median(&[]), None);
    }
}
