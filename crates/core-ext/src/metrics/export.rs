//! Exporting metrics: a snapshot every so often, to whoever wants to store or send it.
//!
//! Each exporter has a thread and a clock of its own, so that one which is slow or stuck delays no other, and no call.
//! [`MetricsExport`] is the handle of its owner, [`Exports`] what its thread works on.

use std::any::Any;
use std::collections::BTreeSet;
use std::error::Error as StdError;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use super::snapshot::ClusterMetrics;
use crate::error::{Error, Result};
use crate::sync::{Condvar, Mutex};

/// After this many failures in a row an exporter is suspended.
const FAILURES: u32 = 3;
/// While it is suspended, it is tried again each time after this many intervals.
const RETRY_EVERY: u32 = 10;

/// Why an export failed: for the log.
pub type ExportError = Box<dyn StdError + Send + Sync>;

/// What is exported: [`ClusterMetrics`] of a client, or [`WriterMetrics`](crate::writer::WriterMetrics) of a writer.
pub trait Snapshot: sealed::Snapshot {}

impl<M: sealed::Snapshot> Snapshot for M {}

pub(crate) mod sealed {
    use std::collections::BTreeSet;

    pub trait Snapshot: Send + 'static {
        /// Takes its place behind the snapshots that an exporter has had. `departed`: the nodes that these said have left.
        fn follow(&mut self, _departed: &mut BTreeSet<String>) {}
    }
}

/// Takes snapshots of metrics: stores them, or sends them somewhere. See [`Client::export_metrics`](crate::Client::export_metrics)
/// and [`Writer::export_metrics`](crate::Writer::export_metrics).
///
/// ```
/// use aerolane::metrics::{ClusterMetrics, ExportError, MetricsExporter};
///
/// struct Retries;
///
/// impl MetricsExporter for Retries {
///     fn export(&mut self, metrics: &ClusterMetrics) -> Result<(), ExportError> {
///         println!("{} retries", metrics.cluster_aggregated.counters.transaction_retry_count);
///         Ok(())
///     }
/// }
/// ```
pub trait MetricsExporter<M: Snapshot = ClusterMetrics>: Send + 'static {
    /// Takes a snapshot. Runs on the exporter's own thread, so it may block.
    ///
    /// # Errors
    /// Why it could not. That is logged; after three failures in a row the exporter is suspended and tried again at every
    /// tenth interval, until it succeeds. A panic counts as a failure.
    fn export(&mut self, metrics: &M) -> std::result::Result<(), ExportError>;
}

type Source<M> = dyn Fn() -> Option<M> + Send + Sync;

/// An exporter at work. It gets no more snapshots once this is dropped; a snapshot that it is working on it may finish.
#[derive(Debug)]
pub struct MetricsExport<M: Snapshot = ClusterMetrics>(Arc<Shared<M>>);

/// The snapshots of one exporter, for its thread: [`next`](Self::next) and [`exported`](Self::exported) by turns. What
/// bindings to other languages stand on.
#[derive(Debug)]
pub struct Exports<M: Snapshot = ClusterMetrics> {
    shared: Arc<Shared<M>>,
    /// The nodes that are known to have left.
    departed: BTreeSet<String>,
}

struct Shared<M> {
    name: String,
    source: Box<Source<M>>,
    state: Mutex<State<M>>,
    changed: Condvar,
}

struct State<M> {
    /// When the next snapshot is due, and the interval; `None` while paused.
    due: Option<(Instant, Duration)>,
    /// One that is due at once.
    pushed: Option<Box<M>>,
    exporting: bool,
    ended: bool,
    health: Health,
    /// The thread that exports.
    thread: Option<ThreadId>,
}

/// Whether an exporter is asked at all.
#[derive(Debug, Default)]
struct Health {
    failures: u32,
    skipped: u32,
}

impl Health {
    const fn is_suspended(&self) -> bool {
        self.failures >= FAILURES
    }

    /// Whether the exporter is to be asked this time.
    const fn allows(&mut self) -> bool {
        if !self.is_suspended() {
            return true;
        }
        self.skipped += 1;
        if self.skipped < RETRY_EVERY {
            return false;
        }
        self.skipped = 0;
        true
    }
}

impl<M> fmt::Debug for Shared<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("name", &self.name).finish_non_exhaustive()
    }
}

fn checked(interval: Duration) -> Result<Duration> {
    if interval < MetricsExport::LEAST_INTERVAL {
        let least = MetricsExport::LEAST_INTERVAL;
        return Err(Error::invalid_argument(format!(
            "the export interval is {interval:?}: it must be at least {least:?}"
        )));
    }
    Ok(interval)
}

impl MetricsExport {
    /// The shortest interval.
    pub const LEAST_INTERVAL: Duration = Duration::from_millis(1);
    /// How often Aerospike's clients export unless something else is said.
    pub const DEFAULT_INTERVAL: Duration = Duration::from_secs(30);
}

impl<M: Snapshot> MetricsExport<M> {
    /// Makes an export that is paused, and the side of its thread. `name` is for the log; `source` gives snapshots, and `None`
    /// once there will be none any more.
    #[must_use]
    pub fn paused(name: String, source: impl Fn() -> Option<M> + Send + Sync + 'static) -> (Self, Exports<M>) {
        let health = Health::default();
        let state = State { due: None, pushed: None, exporting: false, ended: false, health, thread: None };
        let (state, changed) = (Mutex::new(state), Condvar::new());
        let shared = Arc::new(Shared { name, source: Box::new(source), state, changed });
        (Self(Arc::clone(&shared)), Exports { shared, departed: BTreeSet::new() })
    }

    /// Has an exporter called on a thread of its own, paused at first.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn on_thread(
        mut exporter: impl MetricsExporter<M>,
        source: impl Fn() -> Option<M> + Send + Sync + 'static,
    ) -> Result<Self> {
        let (export, mut exports) = Self::paused(std::any::type_name_of_val(&exporter).to_owned(), source);
        let work = move || {
            while let Some(metrics) = exports.next() {
                let outcome = catch_unwind(AssertUnwindSafe(|| exporter.export(&metrics)));
                exports.exported(
                    outcome.unwrap_or_else(|panic| Err(panic_text(&*panic).into())).map_err(|e| e.to_string()),
                );
            }
        };
        let started = thread::Builder::new().name("aerolane-export".to_owned()).spawn(work);
        started.map_err(|error| Error::client_error(format!("no thread for an exporter of metrics: {error}")))?;
        Ok(export)
    }

    /// Exports from now on after each interval, also when the export was paused or suspended.
    ///
    /// # Errors
    /// `InvalidArgument` for less than [`LEAST_INTERVAL`](MetricsExport::LEAST_INTERVAL).
    pub fn restart(&self, interval: Duration) -> Result<()> {
        let interval = checked(interval)?;
        self.change(|state| {
            state.due = Some((later(Instant::now(), interval), interval));
            state.health = Health::default();
        });
        Ok(())
    }

    /// Exports nothing until [`restart`](Self::restart) is called.
    pub fn pause(&self) {
        self.change(|state| state.due = None);
    }

    /// Exports this snapshot as soon as the exporter has time, unless the exporter is suspended. A later one takes its place.
    pub fn push(&self, metrics: M) {
        self.change(|state| state.pushed = Some(Box::new(metrics)));
    }

    /// Whether the exporter is suspended, because it failed three times in a row.
    #[must_use]
    pub fn is_suspended(&self) -> bool {
        self.0.state.lock().health.is_suspended()
    }

    /// Waits until the exporter has nothing to do. False: it had until `deadline`. An exporter does not wait for itself: called
    /// on its thread, this returns at once.
    #[must_use]
    pub fn wait_until(&self, deadline: Instant) -> bool {
        let mut state = self.0.state.lock();
        if state.thread == Some(thread::current().id()) {
            return true;
        }
        while state.exporting || state.pushed.is_some() {
            let timed_out;
            (state, timed_out) = self.0.changed.wait_until(state, deadline);
            if timed_out {
                return false;
            }
        }
        true
    }

    /// Exports one last snapshot and waits until that is done, for at most `timeout`. To be called before the client is closed.
    /// False: it took longer, or there was no snapshot to be had.
    // Programs that end do not all care.
    #[allow(clippy::must_use_candidate)]
    pub fn finish(self, timeout: Duration) -> bool {
        let deadline = later(Instant::now(), timeout);
        self.pause();
        let Some(last) = (self.0.source)() else { return false };
        self.push(last);
        self.wait_until(deadline)
    }

    /// Exports what was pushed before, and nothing any more. What dropping the handle does, too.
    pub fn end(&self) {
        self.change(|state| state.ended = true);
    }

    fn change(&self, change: impl FnOnce(&mut State<M>)) {
        change(&mut self.0.state.lock());
        self.0.changed.notify_all();
    }
}

impl<M: Snapshot> Drop for MetricsExport<M> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<M: Snapshot> Exports<M> {
    /// Waits for the next snapshot that is due, and gives it. `None`: there will be no more.
    // Not an iterator: each one wants to know how the export of the one before went.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<M> {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.state.lock();
        state.thread = Some(thread::current().id());
        loop {
            if let Some(pushed) = state.pushed.take() {
                if state.health.allows() {
                    state.exporting = true;
                    drop(state);
                    return Some(self.marked(*pushed));
                }
                shared.changed.notify_all();
            }
            if state.ended {
                return None;
            }
            match state.due {
                None => state = shared.changed.wait(state),
                Some((at, interval)) if at <= Instant::now() => {
                    // From now on, and not from when it was due: what was missed is not made up for.
                    state.due = Some((later(Instant::now(), interval), interval));
                    if state.health.allows() {
                        state.exporting = true;
                        drop(state);
                        let Some(metrics) = (shared.source)() else {
                            shared.state.lock().exporting = false;
                            shared.changed.notify_all();
                            return None;
                        };
                        return Some(self.marked(metrics));
                    }
                }
                Some((at, _)) => (state, _) = shared.changed.wait_until(state, at),
            }
        }
    }

    /// Tells how the export of the last snapshot went. An error is logged.
    pub fn exported(&mut self, outcome: std::result::Result<(), String>) {
        let name = &self.shared.name;
        let (before, failures) = {
            let mut state = self.shared.state.lock();
            let before = state.health.failures;
            state.health.failures = if outcome.is_ok() { 0 } else { before.saturating_add(1) };
            if outcome.is_ok() {
                state.health.skipped = 0;
            }
            state.exporting = false;
            (before, state.health.failures)
        };
        match outcome {
            Ok(()) if before >= FAILURES => crate::logging::info!("metrics exporter {name} works again"),
            Ok(()) => {}
            Err(error) if failures < FAILURES => crate::logging::warn!("metrics exporter {name} failed: {error}"),
            Err(error) if failures == FAILURES => crate::logging::warn!(
                "metrics exporter {name} failed {FAILURES} times in a row and is suspended; it is tried again every \
                 {RETRY_EVERY} intervals: {error}"
            ),
            Err(error) => crate::logging::warn!("metrics exporter {name} failed again and stays suspended: {error}"),
        }
        self.shared.changed.notify_all();
    }

    fn marked(&mut self, mut metrics: M) -> M {
        metrics.follow(&mut self.departed);
        metrics
    }
}

impl sealed::Snapshot for ClusterMetrics {
    /// Names the nodes that have left since the snapshot before.
    fn follow(&mut self, known: &mut BTreeSet<String>) {
        let gone = |(address, _): &(&String, &super::NodeMetricsSnapshot)| !known.contains(*address);
        let inactive = self.nodes.iter().filter(|(_, node)| !node.is_active);
        let mut departed: Vec<_> = inactive.filter(gone).map(|(address, _)| address.clone()).collect();
        departed.sort_unstable();
        known.extend(departed.iter().cloned());
        // A node that has come back may leave again.
        known.retain(|address| self.nodes.get(address).is_some_and(|node| !node.is_active));
        self.departed = departed;
    }
}

impl<M: Snapshot> Drop for Exports<M> {
    fn drop(&mut self) {
        // Its thread is gone: nobody is to wait for it.
        let mut state = self.shared.state.lock();
        (state.exporting, state.pushed, state.thread) = (false, None, None);
        drop(state);
        self.shared.changed.notify_all();
    }
}

/// A moment; far away rather than one that clocks do not have.
fn later(now: Instant, after: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(365 * 24 * 3600);
    now + after.min(FAR)
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    format!("it panicked: {text}")
}
