//! The figures of one run, their JSON form, and what several rounds give together.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::background::BackgroundFigures;
use crate::conditions::Conditions;
use crate::latency::{Latencies, LatencyFigures, Pairs};
use crate::measure::{ErrorSamples, WorkerStats};
use crate::process::Usage;
use crate::schedule::OpenLoopFigures;
use crate::spec::RunSpec;

/// The version of the form of [`Report`] as JSON. The Python harness has the same number for the same names and units.
pub const SCHEMA: u32 = 1;

/// The figures of one client. Printed as one JSON object; "ops" are records, so batches count each of their records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The version of this form: [`SCHEMA`].
    pub schema: u32,
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
    /// Latency of the sampled calls, those of all rounds together. A batch is one call. In an open loop a latency counts
    /// from when the call was due.
    #[serde(flatten)]
    pub latency: LatencyFigures,
    /// Latency of the calls that read.
    pub reads: LatencyFigures,
    /// Latency of the calls that write.
    pub writes: LatencyFigures,
    /// User and system CPU time of the client process per record, µs.
    pub client_cpu_us_per_op: f64,
    /// Share of the CPU time spent in the kernel, 0 to 1.
    pub client_cpu_system_share: f64,
    /// Context switches of the client process per record because a thread waited for something.
    pub voluntary_switches_per_op: f64,
    /// Context switches of the client process per record because another thread was to run.
    pub involuntary_switches_per_op: f64,
    /// Peak resident set of the client process.
    pub peak_rss_bytes: u64,
    /// The seeds, or `none` for the floors.
    pub host: String,
    /// Whether over TLS.
    pub tls: bool,
    /// How slow the embedded cluster was.
    pub conditions: Conditions,
    /// The workload.
    pub workload: String,
    /// Tasks that held a client but did nothing in the measured phase.
    pub idle_tasks: usize,
    /// Measured time of one round in seconds.
    pub duration_s: f64,
    /// Records that were asked for and did not exist (successful reads).
    pub not_found: u64,
    /// What became of the schedule of an open loop. Counts are summed over rounds, figures are medians.
    pub open_loop: Option<OpenLoopFigures>,
    /// Reads of large records beside the workload.
    pub background_large: Option<BackgroundFigures>,
    /// All samples, by kind of call, as pairs of nanoseconds and a count. Of all rounds together; not of each one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub histograms: BTreeMap<String, Pairs>,
    /// The most frequent error messages.
    pub error_samples: Vec<ErrorSample>,
    /// How many rounds there were. Figures that are neither latencies nor sums are the medians of them.
    pub rounds: usize,
    /// Smallest, middle and largest figure of the rounds, by the name of the figure.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spread: BTreeMap<String, Spread>,
    /// The figures of each round, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub each_round: Vec<Report>,
}

/// An error message and how often it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorSample {
    /// The client's words.
    pub message: String,
    /// How often.
    pub count: u64,
}

/// How far the rounds are apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The smallest.
    pub min: f64,
    /// The median.
    pub median: f64,
    /// The largest.
    pub max: f64,
}

/// The figures whose spread is reported.
type Figure = fn(&Report) -> f64;
const SPREAD: [(&str, Figure); 7] = [
    ("tps", |r| r.tps),
    ("client_cpu_us_per_op", |r| r.client_cpu_us_per_op),
    ("p50_us", |r| r.latency.p50_us),
    ("p99_us", |r| r.latency.p99_us),
    ("p999_us", |r| r.latency.p999_us),
    ("reads_p999_us", |r| r.reads.p999_us),
    ("writes_p999_us", |r| r.writes.p999_us),
];

/// What was measured in one run.
#[derive(Debug)]
pub struct Measured {
    /// Records read or written in the measured time.
    pub records: u64,
    /// Sums over the workers.
    pub stats: WorkerStats,
    /// Sums over the tasks that read large records.
    pub background: WorkerStats,
    /// Workers that never handed in theirs; each counts as an error.
    pub missing: usize,
    /// What became of the schedule of an open loop.
    pub open_loop: Option<OpenLoopFigures>,
    /// The measured time.
    pub elapsed: Duration,
    /// What the process used in it.
    pub usage: Usage,
    /// Peak resident set of the process.
    pub peak_rss_bytes: u64,
}

/// One run: its figures, and the histograms that merge with those of other rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// The figures.
    pub report: Report,
    /// The histograms behind them.
    pub latencies: Latencies,
}

impl RunResult {
    /// Puts the figures of one run together.
    #[must_use]
    pub fn new(spec: &RunSpec, measured: Measured, latencies: Latencies) -> Self {
        let Measured { records, stats, missing, elapsed, usage, .. } = measured;
        let mut error_samples = sorted(stats.messages);
        error_samples.extend(sorted(measured.background.messages));
        if missing > 0 {
            let message = format!("{missing} workers did not end within {:?} after the run", spec.stop_limit());
            error_samples.insert(0, ErrorSample { message, count: missing as u64 });
        }
        let mode = spec.client.mode();
        let asynchronous = mode == crate::client_kind::Mode::Async;
        let per_record = |figure: f64| ratio(figure, records as f64);
        let background_large = spec.background.map(|large| {
            let tps = measured.background.records as f64 / elapsed.as_secs_f64();
            BackgroundFigures {
                tasks: large.tasks,
                bytes: large.bytes,
                tps,
                megabytes_per_s: tps * large.bytes as f64 / 1e6,
                errors: measured.background.errors + measured.background.timeouts,
                latency: LatencyFigures::of(&latencies.background),
            }
        });
        let report = Report {
            schema: SCHEMA,
            client: spec.client.name().to_owned(),
            mode: mode.to_string(),
            tasks: if asynchronous { spec.tasks } else { 0 },
            threads: if asynchronous { spec.runtime_threads() } else { spec.threads },
            batch: spec.batch,
            tps: records as f64 / elapsed.as_secs_f64(),
            errors: stats.errors + missing as u64,
            timeouts: stats.timeouts,
            latency: LatencyFigures::of(&latencies.all()),
            reads: LatencyFigures::of(&latencies.reads),
            writes: LatencyFigures::of(&latencies.writes),
            client_cpu_us_per_op: per_record(usage.cpu.total().as_secs_f64() * 1e6),
            client_cpu_system_share: ratio(usage.cpu.system.as_secs_f64(), usage.cpu.total().as_secs_f64()),
            voluntary_switches_per_op: per_record(usage.voluntary_switches as f64),
            involuntary_switches_per_op: per_record(usage.involuntary_switches as f64),
            peak_rss_bytes: measured.peak_rss_bytes,
            host: if spec.seeds.is_empty() { "none".to_owned() } else { spec.seeds.clone() },
            tls: spec.tls_certificate.is_some(),
            conditions: spec.conditions.clone(),
            workload: spec.workload.to_string(),
            idle_tasks: spec.idle_tasks,
            duration_s: elapsed.as_secs_f64(),
            not_found: stats.not_found,
            open_loop: measured.open_loop,
            background_large,
            histograms: BTreeMap::new(),
            error_samples,
            rounds: 1,
            spread: BTreeMap::new(),
            each_round: Vec::new(),
        };
        Self { report, latencies }
    }
}

impl Report {
    /// What several rounds of the same run give together: latencies of all their samples, medians of other figures, sums
    /// of errors, timeouts and not-found. `None` without rounds.
    #[must_use]
    pub fn of_rounds(rounds: &[RunResult]) -> Option<Self> {
        let reports: Vec<&Self> = rounds.iter().map(|round| &round.report).collect();
        let mut report = (*reports.first()?).clone();
        let middle = |figure: Figure| median(reports.iter().map(|report| figure(report)).collect());
        let mut latencies = Latencies::default();
        for round in rounds {
            latencies.merge(&round.latencies);
        }
        report.latency = LatencyFigures::of(&latencies.all());
        report.reads = LatencyFigures::of(&latencies.reads);
        report.writes = LatencyFigures::of(&latencies.writes);
        report.histograms = latencies.pairs();
        report.tps = middle(|r| r.tps);
        report.client_cpu_us_per_op = middle(|r| r.client_cpu_us_per_op);
        report.client_cpu_system_share = middle(|r| r.client_cpu_system_share);
        report.voluntary_switches_per_op = middle(|r| r.voluntary_switches_per_op);
        report.involuntary_switches_per_op = middle(|r| r.involuntary_switches_per_op);
        report.duration_s = middle(|r| r.duration_s);
        report.peak_rss_bytes = middle(|r| r.peak_rss_bytes as f64) as u64;
        report.errors = reports.iter().map(|r| r.errors).sum();
        report.timeouts = reports.iter().map(|r| r.timeouts).sum();
        report.not_found = reports.iter().map(|r| r.not_found).sum();
        let open_loops: Vec<_> = reports.iter().filter_map(|r| r.open_loop.as_ref()).collect();
        report.open_loop = OpenLoopFigures::of_rounds(&open_loops);
        if let Some(large) = &mut report.background_large {
            let each: Vec<_> = reports.iter().filter_map(|r| r.background_large.as_ref()).collect();
            large.tps = median(each.iter().map(|large| large.tps).collect());
            large.megabytes_per_s = median(each.iter().map(|large| large.megabytes_per_s).collect());
            large.errors = each.iter().map(|large| large.errors).sum();
            large.latency = LatencyFigures::of(&latencies.background);
        }
        let mut samples = ErrorSamples::default();
        for sample in reports.iter().flat_map(|report| &report.error_samples) {
            samples.add(&sample.message, sample.count);
        }
        report.error_samples = sorted(samples);
        report.rounds = rounds.len();
        report.spread = SPREAD
            .iter()
            .map(|(name, figure)| {
                let values = || reports.iter().map(|report| figure(report));
                let min = values().fold(f64::INFINITY, f64::min);
                let max = values().fold(0.0, f64::max);
                ((*name).to_owned(), Spread { min, median: middle(*figure), max })
            })
            .collect();
        report.each_round = reports.into_iter().cloned().collect();
        Some(report)
    }
}

fn sorted(samples: ErrorSamples) -> Vec<ErrorSample> {
    samples.into_sorted().into_iter().map(|(message, count)| ErrorSample { message, count }).collect()
}

/// The middle value, or the mean of the two middle ones.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::client_kind::ClientKind;
    use crate::measure::{CallKind, Done, Failure, Phase, Recorder, Shared};
    use crate::process::CpuTime;
    use crate::spec::{ClientSettings, RuntimeKind};
    use crate::workload::{KeyKind, KeySpace, Workload};

    pub(crate) fn spec(client: ClientKind) -> RunSpec {
        RunSpec {
            client,
            seeds: if client.needs_cluster() { "127.0.0.1:3000".into() } else { String::new() },
            tls_certificate: None,
            conditions: Conditions::default(),
            open_loop: None,
            background: None,
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
            lanes: 0,
            settings: ClientSettings { timeout_ms: Some(0), ..ClientSettings::default() },
            seed: 1,
            ticker: false,
        }
    }

    pub(crate) fn report(client: ClientKind, tps: f64, cpu_us: f64) -> Report {
        let cpu = CpuTime { user: Duration::from_secs_f64(cpu_us * tps / 1e6), system: Duration::ZERO };
        let stats = WorkerStats { calls: tps as u64, records: tps as u64, ..WorkerStats::default() };
        let measured = Measured { peak_rss_bytes: 10 << 20, ..measured(stats, cpu, Duration::from_secs(1)) };
        RunResult::new(&spec(client), measured, Latencies::default()).report
    }

    fn measured(stats: WorkerStats, cpu: CpuTime, elapsed: Duration) -> Measured {
        Measured {
            records: stats.records,
            stats,
            background: WorkerStats::default(),
            missing: 0,
            open_loop: None,
            elapsed,
            usage: Usage { cpu, voluntary_switches: 256, involuntary_switches: 0 },
            peak_rss_bytes: 7,
        }
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
            "samples",
            "reads",
            "writes",
            "conditions",
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
        recorder.end(&call, CallKind::Read, Err(Failure { timeout: true, message: "late".into() }));
        let call = recorder.begin().unwrap();
        std::thread::sleep(Duration::from_millis(2));
        recorder.end(&call, CallKind::Read, Ok(Done { records: 128, not_found: 2 }));
        let cpu = CpuTime { user: Duration::from_micros(96), system: Duration::from_micros(32) };
        let spec = spec(ClientKind::CoreSync);
        let latencies = Latencies { reads: shared.latencies(CallKind::Read), ..Latencies::default() };
        let report = RunResult::new(&spec, measured(recorder.finish(), cpu, Duration::from_secs(2)), latencies).report;
        assert_eq!((report.tps, report.client_cpu_us_per_op), (64.0, 1.0));
        assert_eq!((report.timeouts, report.errors, report.not_found), (1, 0, 2));
        assert!((report.client_cpu_system_share - 0.25).abs() < 1e-9);
        assert!(report.latency.p50_us >= 2000.0 && report.latency.max_us >= report.latency.p50_us, "{report:?}");
        assert_eq!((&report.latency, report.writes.samples), (&report.reads, 0));
        assert!((report.voluntary_switches_per_op - 2.0).abs() < 1e-9);
        assert_eq!((report.tasks, report.threads), (0, 2));
        assert_eq!(report.error_samples, vec![ErrorSample { message: "late".into(), count: 1 }]);
    }

    #[test]
    fn nothing_done_gives_zeros_not_nan() {
        let report = report(ClientKind::CoreAsync, 0.0, 0.0);
        assert_eq!((report.tps, report.client_cpu_us_per_op, report.latency.p50_us), (0.0, 0.0, 0.0));
        assert!(serde_json::to_string(&report).is_ok());
    }

    #[test]
    fn several_rounds_together() {
        let mut rounds: Vec<_> = [300.0, 100.0, 200.0].map(|tps| report(ClientKind::CoreAsync, tps, 1.0)).into();
        rounds[1].errors = 2;
        rounds[2].errors = 3;
        for (round, message) in rounds.iter_mut().zip(["late by 1 ms", "late by 20 ms", "bad"]) {
            round.error_samples.push(ErrorSample { message: message.into(), count: 2 });
        }
        let rounds: Vec<_> = rounds
            .into_iter()
            .zip([1, 10, 100])
            .map(|(report, samples)| {
                let mut latencies = Latencies::default();
                for _ in 0..samples {
                    crate::latency::record(&mut latencies.writes, Duration::from_micros(samples));
                }
                RunResult { report, latencies }
            })
            .collect();
        let median = Report::of_rounds(&rounds).unwrap();
        let samples: Vec<_> = median.error_samples.iter().map(|s| (s.message.as_str(), s.count)).collect();
        assert_eq!(samples, [("late by 1 ms", 4), ("bad", 2)]);
        assert_eq!((median.tps, median.errors, median.rounds), (200.0, 5, 3));
        assert_eq!((median.latency.samples, median.writes.samples, median.reads.samples), (111, 111, 0));
        assert!((99.0..101.0).contains(&median.latency.p50_us), "most samples are those of the last round: {median:?}");
        assert_eq!(median.spread["tps"], Spread { min: 100.0, median: 200.0, max: 300.0 });
        let each: Vec<_> = median.each_round.iter().map(|round| (round.tps, round.errors)).collect();
        assert_eq!(each, [(300.0, 0), (100.0, 2), (200.0, 3)]);
        assert!((Report::of_rounds(&rounds[..2]).unwrap().tps - 200.0).abs() < 1e-9);
        assert_eq!(Report::of_rounds(&[]), None);
    }
}
