//! Metrics: how long requests take, by node, namespace and kind, how large they are, and what is answered.
//!
//! Switched on and off at run time with `client.enable_metrics(policy)` and `client.disable_metrics()`; read as a
//! snapshot with `client.metrics()`. They cover all that the client sends: its lanes (of runtimes and of event loops), the
//! connections of its threads, its queries, and what aerospike-core carries out for it.
//!
//! Policy, names and layout are those of aerospike-core. Two groups of figures:
//!
//! * gauges and counters of connections, retries and bytes are there at any time, also while metrics are off. Those of
//!   the tend thread come from aerospike-core, and move while metrics are on
//! * histograms and result codes are filled while metrics are on with [`MetricsPolicy::operational`], for the calls that
//!   [`MetricsPolicy::sampler`] picks (all, unless it is set)
//!
//! ```no_run
//! # use aerolane::*;
//! # use aerolane::metrics::{CommandType, MetricsPolicy};
//! # async fn demo(client: &Client) {
//! client.enable_metrics(MetricsPolicy::micros().with_operational(true));
//! // ... calls ...
//! let metrics = client.metrics();
//! let get = metrics.cluster_aggregated.command_histogram(CommandType::Get).unwrap();
//! println!("{} reads, {:.0} µs on average, 99 % within {:?} µs", get.count(), get.average(), get.quantile(0.99));
//! # }
//! ```
//!
//! Snapshots can be exported at regular intervals: [`MetricsExporter`], with [`MetricsWriter`] for files. The feature `metrics` adds
//! `FacadeExporter` for the crate `metrics`, the feature `opentelemetry` adds `OpenTelemetryExporter`.
//! [`ClusterMetrics::to_prometheus`] is the text for a scrape; the feature `prometheus` has an endpoint that serves it,
//! `PrometheusEndpoint`.
//!
//! How it is done: a request that is to be measured carries a [`Stamp`] with it (one that is not carries 0), and whoever
//! owns the connection notes its answer in a recorder of its own. There is no lock and no cache line that two lanes share;
//! the clock is read once for all answers of a burst. Also while nothing is measured, lanes count answers where the others can
//! read them (`answers`), once for all answers of a burst, on cache lines of their own up to the eighth lane.

mod answers;
mod busy;
#[cfg(feature = "prometheus")]
mod endpoint;
mod export;
#[cfg(feature = "metrics")]
mod facade;
mod figures;
mod histogram;
mod local_time;
mod measured;
mod opening;
#[cfg(feature = "opentelemetry")]
mod otel;
mod process;
mod prometheus;
mod recorder;
mod snapshot;
mod stamp;
mod summary;
#[cfg(test)]
mod tests;
mod writer;

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::sync::Mutex;
pub use aerospike_core::Sampler;
pub use aerospike_core::metrics::node_metrics::Counters;
pub use aerospike_core::metrics::{
    COMMAND_TYPE_COUNT, CommandType, DEFAULT_LATENCY_COLUMNS, DEFAULT_LATENCY_SHIFT, Labels, LatencyUnit,
    MICROS_LATENCY_COLUMNS, MILLIS_LATENCY_COLUMNS, MetricsPolicy, PoolGauges,
};

use answers::Answers;
pub(crate) use answers::{AnswerCounter, AnswerCounts, KINDS};
pub use busy::LoopBusy;
pub(crate) use busy::{BusyLoops, warning as busy_warning};
#[cfg(feature = "prometheus")]
pub use endpoint::PrometheusEndpoint;
pub(crate) use export::sealed;
pub use export::{ExportError, Exports, MetricsExport, MetricsExporter, Snapshot};
#[cfg(feature = "metrics")]
pub use facade::FacadeExporter;
pub use histogram::Histogram;
use measured::Measured;
pub(crate) use opening::{OpenFailure, Openings};
#[cfg(feature = "opentelemetry")]
pub use otel::OpenTelemetryExporter;
#[cfg(feature = "opentelemetry")]
pub(crate) use otel::{Instrument, unit_of};
pub(crate) use process::{ProcessUsage, memory_bytes};
pub(crate) use recorder::{Answered, Meter, end_code, is_compressed, last_result_code, result_code};
use recorder::{MOST_NAMESPACES, Recorder};
pub use snapshot::{ClusterMetrics, CommandMetric, LatencyType, NodeMetricsSnapshot};
pub(crate) use stamp::MetricKey;
pub use stamp::Stamp;
pub use summary::NamespaceSummary;
pub use writer::MetricsWriter;

use crate::clock;

/// The types of snapshots, under the name of aerospike-core's module.
#[doc(hidden)]
pub mod node_metrics {
    pub use super::{COMMAND_TYPE_COUNT, CommandMetric, CommandType, Counters, NodeMetricsSnapshot, PoolGauges};
}

/// The bit of a period that says that its unit is the microsecond.
const IN_MICROS: u32 = 1;

/// The metrics of one client.
#[derive(Debug)]
pub(crate) struct Metrics {
    /// 0 while nothing is measured. Otherwise what recorders are made for: it changes when what they hold is of no use
    /// any more, because the unit has changed.
    period: AtomicU32,
    /// The sampler: `threshold` of `range` calls are measured.
    range: AtomicU64,
    threshold: AtomicU64,
    /// The names of namespaces, in the order in which they were met.
    namespaces: [OnceLock<Box<str>>; MOST_NAMESPACES - 1],
    settings: Mutex<Settings>,
    recorders: Mutex<Recorders>,
    /// Those that several tasks fill, one at a time: by node and period.
    shared: Mutex<Vec<(u16, u32, Arc<Recorder>)>>,
    /// Counted at any time: lanes decide by them.
    pub(crate) answers: Answers,
    pub(crate) openings: Openings,
    pub(crate) busy_loops: BusyLoops,
    pub(crate) process: ProcessUsage,
    /// Calls that failed because they were tried too often, or took too long as a whole.
    pub(crate) exceeded_max_retries: AtomicU64,
    pub(crate) exceeded_total_timeout: AtomicU64,
    /// What moments are counted from.
    epoch: Instant,
}

#[derive(Debug, Default)]
struct Settings {
    enabled: bool,
    policy: MetricsPolicy,
    /// The last period.
    last: u32,
}

/// All recorders of a period.
#[derive(Debug, Default)]
struct Recorders {
    period: u32,
    /// With the node of each. One that nobody else holds is of an owner that is gone: nothing is added to it any more.
    all: Vec<(u16, Arc<Recorder>)>,
    /// What those that are gone have left, by node.
    left: Vec<Measured>,
    /// How many recorders there may be before those that are gone are put together.
    tidy_at: usize,
}

/// Recorders that are kept apart whether their owners are gone or not.
const TIDY_FROM: usize = 64;

impl Metrics {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            period: AtomicU32::new(0),
            range: AtomicU64::new(1),
            threshold: AtomicU64::new(1),
            namespaces: [const { OnceLock::new() }; MOST_NAMESPACES - 1],
            settings: Mutex::default(),
            recorders: Mutex::default(),
            shared: Mutex::default(),
            answers: Answers::default(),
            openings: Openings::default(),
            busy_loops: BusyLoops::default(),
            process: ProcessUsage::new(),
            exceeded_max_retries: AtomicU64::new(0),
            exceeded_total_timeout: AtomicU64::new(0),
            epoch: Instant::now(),
        })
    }

    /// Begins to measure, or goes on with another policy. What was measured in another unit is dropped.
    pub(crate) fn enable(&self, policy: MetricsPolicy) {
        let mut settings = self.settings.lock();
        let micros = u32::from(policy.latency_unit == LatencyUnit::Microseconds);
        if settings.last == 0 || settings.last & IN_MICROS != micros {
            // Wraps after 2^31 changes: then recorders of the very first period would be taken for present ones.
            settings.last = ((settings.last | IN_MICROS).wrapping_add(1) | micros).max(2 | micros);
            let mut recorders = self.recorders.lock();
            *recorders = Recorders { period: settings.last, tidy_at: TIDY_FROM, ..Recorders::default() };
        }
        self.range.store(policy.sampler.range().max(1), Ordering::Relaxed);
        self.threshold.store(policy.sampler.threshold(), Ordering::Relaxed);
        let measures = policy.operational && policy.sampler.threshold() > 0;
        (settings.enabled, settings.policy) = (true, policy);
        self.period.store(if measures { settings.last } else { 0 }, Ordering::Relaxed);
    }

    /// Measures no more. What was measured stays.
    pub(crate) fn disable(&self) {
        let mut settings = self.settings.lock();
        settings.enabled = false;
        self.period.store(0, Ordering::Relaxed);
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.settings.lock().enabled
    }

    pub(crate) fn policy(&self) -> MetricsPolicy {
        self.settings.lock().policy.clone()
    }

    /// Whether requests are measured. One relaxed load.
    #[inline]
    pub(crate) fn is_measuring(&self) -> bool {
        self.period() != 0
    }

    #[inline]
    fn period(&self) -> u32 {
        self.period.load(Ordering::Relaxed)
    }

    /// What a call is counted as, if it is measured at all. One relaxed load as long as nothing is.
    #[inline]
    pub(crate) fn metric_key(&self, kind: CommandType, namespace: &str) -> MetricKey {
        if self.is_measuring() { self.measured_mark(kind, namespace) } else { MetricKey::NONE }
    }

    fn measured_mark(&self, kind: CommandType, namespace: &str) -> MetricKey {
        let (range, threshold) = (self.range.load(Ordering::Relaxed), self.threshold.load(Ordering::Relaxed));
        if threshold < range && draw() % range >= threshold {
            return MetricKey::NONE;
        }
        let known = self.namespaces.iter().position(|name| name.get_or_init(|| namespace.into()).as_ref() == namespace);
        MetricKey::new(kind, known.unwrap_or(MOST_NAMESPACES - 1) as u8)
    }

    /// The stamp of a request that begins now.
    #[inline]
    pub(crate) fn stamp(&self, metric_key: MetricKey, now: Instant) -> Stamp {
        if metric_key.is_none() { Stamp::NONE } else { Stamp::new(metric_key, self.micros(now)) }
    }

    /// This moment; 0, without a look at the clock, if nothing is measured.
    #[inline]
    pub(crate) fn moment(&self) -> u64 {
        if self.is_measuring() { self.micros(clock::now()) } else { 0 }
    }

    /// A moment, in microseconds since the client was made, but never 0.
    pub(crate) fn micros(&self, at: Instant) -> u64 {
        whole_micros(at.saturating_duration_since(self.epoch)).max(1)
    }

    /// A time in the unit of a period, cut off.
    #[inline]
    const fn in_unit(period: u32, micros: u64) -> u64 {
        if period & IN_MICROS == 0 { micros / 1000 } else { micros }
    }

    /// A recorder for the connections of one owner to a node; `None` if the period has just ended.
    fn recorder(&self, node: u16, period: u32) -> Option<Arc<Recorder>> {
        let mut recorders = self.recorders.lock();
        if recorders.period != period {
            return None;
        }
        recorders.tidy();
        let recorder = Arc::new(Recorder::new());
        recorders.all.push((node, Arc::clone(&recorder)));
        Some(recorder)
    }

    /// Notes an answer that has just come to one of several tasks. For what is rare: it takes a lock.
    pub(crate) fn answered(&self, node: u16, stamp: Stamp, answered: Answered) {
        let period = self.period();
        if stamp.is_none() || period == 0 {
            return;
        }
        let micros = self.micros(clock::now()).saturating_sub(stamp.began());
        let mut shared = self.shared.lock();
        shared.retain(|(.., of, _)| *of == period);
        let known = shared.iter().position(|(of, ..)| *of == node);
        let index = known.or_else(|| {
            shared.push((node, period, self.recorder(node, period)?));
            Some(shared.len() - 1)
        });
        if let Some(index) = index {
            shared[index].2.answered(stamp, Self::in_unit(period, micros), answered);
        }
    }

    /// What was measured, by node.
    pub(crate) fn measured(&self) -> Vec<Measured> {
        let mut recorders = self.recorders.lock();
        recorders.tidy();
        let mut by_node = recorders.left.clone();
        for (node, recorder) in &recorders.all {
            of_node(&mut by_node, *node).add(recorder);
        }
        by_node
    }

    /// The name of a namespace by its number.
    pub(crate) fn namespace(&self, number: usize) -> &str {
        // Beyond the table: those that were too many to be told apart.
        self.namespaces.get(number).and_then(OnceLock::get).map_or("", |name| name)
    }
}

/// `Duration::as_micros` in 64 bits, which takes half of its instructions. Enough for half a million years.
#[inline]
fn whole_micros(time: Duration) -> u64 {
    time.as_secs().wrapping_mul(1_000_000).wrapping_add(time.subsec_micros().into())
}

fn of_node(by_node: &mut Vec<Measured>, node: u16) -> &mut Measured {
    let node = usize::from(node);
    if by_node.len() <= node {
        by_node.resize_with(node + 1, Measured::default);
    }
    &mut by_node[node]
}

impl Recorders {
    /// Puts together what recorders have left that nobody adds to any more: connections come and go.
    fn tidy(&mut self) {
        if self.all.len() < self.tidy_at {
            return;
        }
        let left = &mut self.left;
        self.all.retain(|(node, recorder)| {
            if Arc::strong_count(recorder) > 1 {
                return true;
            }
            // What its owner wrote before it let go of it is to be seen.
            std::sync::atomic::fence(Ordering::Acquire);
            of_node(left, *node).add(recorder);
            false
        });
        self.tidy_at = (self.all.len() * 2).max(TIDY_FROM);
    }
}

/// A number to be sampled by; differs from call to call.
fn draw() -> u64 {
    thread_local! {
        static STATE: Cell<u64> = const { Cell::new(0) };
    }
    STATE.with(|state| {
        let mut x = state.get();
        if x == 0 {
            use std::hash::{BuildHasher, RandomState};
            x = RandomState::new().hash_one(1) | 1;
        }
        // xorshift64 by Marsaglia.
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        state.set(x);
        x
    })
}
