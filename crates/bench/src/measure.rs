//! The measurement shared by all workers: phases, counters, latency histograms, error samples.
//!
//! On the hot path a worker reads one shared word (the phase) and writes one counter of its own; nothing is shared
//! for writing. One call in `lat_sample_every` reads the clock twice and takes the lock of one of a few histograms.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;

use crate::latency::{add, histogram, record};
use crate::schedule::Arrival;

/// Histograms of each kind that the workers share out among themselves. One per worker would cost more memory than the
/// clients.
const HISTOGRAMS: usize = 16;
/// Different error messages kept per worker and per run.
const SAMPLED_MESSAGES: usize = 8;
/// Characters kept of one message.
const MESSAGE_CHARS: usize = 400;

/// What the workers are doing now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Working, not counted.
    Warmup = 0,
    /// Working and counted.
    Measure = 1,
    /// End after the current operation.
    Stop = 2,
}

/// How a call failed.
#[derive(Debug)]
pub struct Failure {
    /// Whether a deadline passed, at the client or at the server.
    pub timeout: bool,
    /// What the client said.
    pub message: String,
}

/// Outcome of one call that the client carried through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Records that were read or written; a record that does not exist counts as read.
    pub records: u64,
    /// How many of them did not exist.
    pub not_found: u64,
}

/// Whether a call reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// It reads.
    Read,
    /// It writes.
    Write,
}

/// Counters of one worker, read by the ticker while the worker runs. One cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct WorkerCell {
    records: AtomicU64,
    errors: AtomicU64,
    timeouts: AtomicU64,
}

/// State shared by all workers of a run.
#[derive(Debug)]
pub struct Shared {
    phase: AtomicU8,
    cells: Vec<WorkerCell>,
    reads: Vec<Mutex<Histogram<u64>>>,
    writes: Vec<Mutex<Histogram<u64>>>,
    sample_every: u64,
}

impl Shared {
    /// State for `workers` workers that time one call in `sample_every`.
    #[must_use]
    pub fn new(workers: usize, sample_every: u64) -> Arc<Self> {
        let histograms = || (0..HISTOGRAMS.min(workers.max(1))).map(|_| Mutex::new(histogram())).collect();
        Arc::new(Self {
            phase: AtomicU8::new(Phase::Warmup as u8),
            cells: (0..workers).map(|_| WorkerCell::default()).collect(),
            reads: histograms(),
            writes: histograms(),
            sample_every: sample_every.max(1),
        })
    }

    /// Moves every worker to `phase`.
    pub fn set_phase(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Release);
    }

    /// The phase now.
    pub fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Relaxed) {
            0 => Phase::Warmup,
            1 => Phase::Measure,
            _ => Phase::Stop,
        }
    }

    /// Sums of all workers since the start, warm-up included.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for cell in &self.cells {
            totals.records += cell.records.load(Ordering::Relaxed);
            totals.errors += cell.errors.load(Ordering::Relaxed);
            totals.timeouts += cell.timeouts.load(Ordering::Relaxed);
        }
        totals
    }

    fn histograms(&self, kind: CallKind) -> &[Mutex<Histogram<u64>>] {
        match kind {
            CallKind::Read => &self.reads,
            CallKind::Write => &self.writes,
        }
    }

    /// All sampled latencies of one kind, nanoseconds.
    #[must_use]
    pub fn latencies(&self, kind: CallKind) -> Histogram<u64> {
        let mut merged = histogram();
        for part in self.histograms(kind) {
            add(&mut merged, &part.lock().unwrap_or_else(PoisonError::into_inner));
        }
        merged
    }
}

/// Sums over all workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Records read or written without an error.
    pub records: u64,
    /// Failed calls that were not timeouts.
    pub errors: u64,
    /// Calls that ran out of time.
    pub timeouts: u64,
}

/// What one worker counted in the measured phase.
#[derive(Debug, Default)]
pub struct WorkerStats {
    /// Calls that succeeded.
    pub calls: u64,
    /// Records of those calls.
    pub records: u64,
    /// Records that did not exist.
    pub not_found: u64,
    /// Failed calls that were not timeouts.
    pub errors: u64,
    /// Calls that ran out of time.
    pub timeouts: u64,
    /// Error messages with their counts; those beyond the first few kinds are counted but not kept.
    pub messages: ErrorSamples,
}

impl WorkerStats {
    /// Counts a failed call.
    pub fn count_failure(&mut self, failure: &Failure) {
        self.timeouts += u64::from(failure.timeout);
        self.errors += u64::from(!failure.timeout);
        self.messages.add(&failure.message, 1);
    }

    /// Adds the figures of another worker.
    pub fn merge(&mut self, other: Self) {
        self.calls += other.calls;
        self.records += other.records;
        self.not_found += other.not_found;
        self.errors += other.errors;
        self.timeouts += other.timeouts;
        self.messages.merge(other.messages);
    }
}

/// The first few different error messages, each with its count. Messages that differ only in their digits (times,
/// counts, record ids) are one; the first of them is kept.
#[derive(Clone, Debug, Default)]
pub struct ErrorSamples(BTreeMap<String, (String, u64)>);

impl ErrorSamples {
    /// Counts a message `count` times.
    pub fn add(&mut self, message: &str, count: u64) {
        let message: String = message.chars().take(MESSAGE_CHARS).collect();
        let mut kind = String::with_capacity(message.len());
        for character in message.chars() {
            if !character.is_ascii_digit() {
                kind.push(character);
            } else if !kind.ends_with('#') {
                kind.push('#');
            }
        }
        if self.0.len() < SAMPLED_MESSAGES || self.0.contains_key(&kind) {
            self.0.entry(kind).or_insert((message, 0)).1 += count;
        }
    }

    fn merge(&mut self, other: Self) {
        for (message, count) in other.0.into_values() {
            self.add(&message, count);
        }
    }

    /// Messages with their counts, the most frequent first.
    #[must_use]
    pub fn into_sorted(self) -> Vec<(String, u64)> {
        let mut all: Vec<_> = self.0.into_values().collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        all
    }
}

/// The recorder of one worker.
#[derive(Debug)]
pub struct Recorder {
    shared: Arc<Shared>,
    index: usize,
    until_sample: u64,
    all: Totals,
    stats: WorkerStats,
}

/// One call being made: whether it counts and when it began, if it is timed.
#[derive(Debug)]
pub struct Call {
    counted: bool,
    started: Option<std::time::Instant>,
}

impl Recorder {
    /// The recorder of worker `index`. `offset` (any number) spreads the timed calls of the workers.
    #[must_use]
    pub fn new(shared: Arc<Shared>, index: usize, offset: u64) -> Self {
        let until_sample = offset % shared.sample_every;
        Self { shared, index, until_sample, all: Totals::default(), stats: WorkerStats::default() }
    }

    /// Begins a call; `None` when the worker is to end.
    #[inline]
    pub fn begin(&mut self) -> Option<Call> {
        let counted = match self.shared.phase() {
            Phase::Warmup => false,
            Phase::Measure => true,
            Phase::Stop => return None,
        };
        let timed = counted && self.is_sampled();
        Some(Call { counted, started: timed.then(std::time::Instant::now) })
    }

    /// Begins a call of an open loop. Its latency counts from when it was due.
    #[inline]
    pub fn begin_arrival(&mut self, arrival: &Arrival) -> Call {
        let timed = arrival.counted && self.is_sampled();
        Call { counted: arrival.counted, started: timed.then_some(arrival.due) }
    }

    fn is_sampled(&mut self) -> bool {
        let due = self.until_sample == 0;
        self.until_sample = if due { self.shared.sample_every - 1 } else { self.until_sample - 1 };
        due
    }

    /// Ends a call. Only calls that succeeded enter the latency histogram of their kind.
    #[inline]
    pub fn end(&mut self, call: &Call, kind: CallKind, outcome: Result<Done, Failure>) {
        let live = &self.shared.cells[self.index];
        match outcome {
            Ok(done) => {
                if let Some(started) = call.started {
                    self.sample(kind, started.elapsed());
                }
                self.all.records += done.records;
                live.records.store(self.all.records, Ordering::Relaxed);
                if call.counted {
                    self.stats.calls += 1;
                    self.stats.records += done.records;
                    self.stats.not_found += done.not_found;
                }
            }
            Err(failure) => {
                if failure.timeout {
                    self.all.timeouts += 1;
                    live.timeouts.store(self.all.timeouts, Ordering::Relaxed);
                } else {
                    self.all.errors += 1;
                    live.errors.store(self.all.errors, Ordering::Relaxed);
                }
                if call.counted {
                    self.stats.count_failure(&failure);
                }
            }
        }
    }

    #[cold]
    fn sample(&self, kind: CallKind, latency: Duration) {
        let histograms = self.shared.histograms(kind);
        let histogram = &histograms[self.index % histograms.len()];
        record(&mut histogram.lock().unwrap_or_else(PoisonError::into_inner), latency);
    }

    /// The figures of the measured phase.
    #[must_use]
    pub fn finish(self) -> WorkerStats {
        self.stats
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(timeout: bool, message: &str) -> Failure {
        Failure { timeout, message: message.into() }
    }

    #[test]
    fn counts_only_the_measured_phase_and_ends() {
        let shared = Shared::new(1, 1);
        let mut recorder = Recorder::new(shared.clone(), 0, 0);
        let done = Done { records: 3, not_found: 1 };
        let call = recorder.begin().unwrap();
        recorder.end(&call, CallKind::Read, Ok(done));
        shared.set_phase(Phase::Measure);
        for outcome in [Ok(done), Err(failure(true, "late")), Err(failure(false, "bad")), Err(failure(false, "bad"))] {
            let call = recorder.begin().unwrap();
            recorder.end(&call, CallKind::Write, outcome);
        }
        shared.set_phase(Phase::Stop);
        assert!(recorder.begin().is_none());
        assert_eq!(shared.totals(), Totals { records: 6, errors: 2, timeouts: 1 });
        let stats = recorder.finish();
        assert_eq!((stats.calls, stats.records, stats.not_found), (1, 3, 1));
        assert_eq!((stats.errors, stats.timeouts), (2, 1));
        assert_eq!(stats.messages.into_sorted(), vec![("bad".to_owned(), 2), ("late".to_owned(), 1)]);
        let samples = [CallKind::Read, CallKind::Write].map(|kind| shared.latencies(kind).len());
        assert_eq!(samples, [0, 1], "failures and warm-up are not timed");
    }

    #[test]
    fn samples_one_call_in_n() {
        let shared = Shared::new(2, 10);
        shared.set_phase(Phase::Measure);
        for (index, offset) in [(0, 0), (1, 7)] {
            let mut recorder = Recorder::new(shared.clone(), index, offset);
            for _ in 0..100 {
                let call = recorder.begin().unwrap();
                recorder.end(&call, CallKind::Read, Ok(Done { records: 1, not_found: 0 }));
            }
        }
        assert_eq!(shared.latencies(CallKind::Read).len(), 20);
    }

    #[test]
    fn the_latency_of_an_arrival_counts_from_when_it_was_due() {
        let shared = Shared::new(1, 1);
        let mut recorder = Recorder::new(shared.clone(), 0, 0);
        let due = std::time::Instant::now();
        std::thread::sleep(Duration::from_millis(20));
        for counted in [false, true] {
            let call = recorder.begin_arrival(&Arrival { index: 0, due, counted });
            recorder.end(&call, CallKind::Read, Ok(Done { records: 1, not_found: 0 }));
        }
        let latencies = shared.latencies(CallKind::Read);
        assert!(latencies.len() == 1 && latencies.min() >= 19_900_000, "{latencies:?}");
        assert_eq!(recorder.finish().calls, 1);
    }

    #[test]
    fn error_samples_are_bounded_and_digits_make_no_difference() {
        let mut samples = ErrorSamples::default();
        for letter in 'a'..='z' {
            samples.add(&format!("{letter} {}", "x".repeat(1000)), 1);
        }
        let kept = samples.clone().into_sorted();
        assert_eq!(kept.len(), SAMPLED_MESSAGES);
        assert!(kept.iter().all(|(message, _)| message.len() <= MESSAGE_CHARS));

        let mut samples = ErrorSamples::default();
        samples.add("late after 17 ms", 2);
        samples.add("late after 1234 ms", 3);
        assert_eq!(samples.into_sorted(), vec![("late after 17 ms".to_owned(), 5)]);
    }
}
