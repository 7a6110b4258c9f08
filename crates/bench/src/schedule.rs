//! When the operations of an open loop are due, and who takes which one.
//!
//! The sequence of due times depends on the rate, the process and the seed alone, so every client sees the same one.
//! Operations that no worker is free for stay in the sequence, with their due times; nothing is stored for them.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use crate::latency::{LatencyFigures, histogram};
use crate::pacer;

/// How long after the end of a run the workers may still begin operations that were due before it.
pub const DRAIN: Duration = Duration::from_secs(1);

/// How the gaps between two arrivals are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalProcess {
    /// Exponentially distributed gaps: callers that know nothing of each other.
    Poisson,
    /// Equal gaps.
    Constant,
}

impl fmt::Display for ArrivalProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Poisson => "poisson",
            Self::Constant => "constant",
        })
    }
}

/// An open loop: operations arrive on a schedule that does not wait for answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenLoop {
    /// Calls per second.
    pub rate: f64,
    /// Distribution of the gaps.
    pub arrivals: ArrivalProcess,
}

/// The due times of one run, as nanoseconds after its begin, in order and without end.
#[derive(Clone, Debug)]
pub struct Arrivals {
    process: ArrivalProcess,
    gap_ns: f64,
    at_ns: f64,
    rng: Xoshiro256PlusPlus,
}

impl Arrivals {
    /// The sequence of one open loop. Equal seeds give equal sequences.
    #[must_use]
    pub fn new(open_loop: OpenLoop, seed: u64) -> Self {
        Self {
            process: open_loop.arrivals,
            gap_ns: 1e9 / open_loop.rate,
            at_ns: 0.0,
            // Another stream than the requests have, which are drawn from the seed as well.
            rng: Xoshiro256PlusPlus::seed_from_u64(!seed),
        }
    }
}

impl Iterator for Arrivals {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let factor = match self.process {
            ArrivalProcess::Constant => 1.0,
            // 53 random bits are a number from 0 to just below 1, so the logarithm is finite.
            ArrivalProcess::Poisson => -(1.0 - (self.rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64).ln(),
        };
        self.at_ns += self.gap_ns * factor;
        Some(self.at_ns as u64)
    }
}

/// One operation that a worker is to do.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Its number in the sequence; decides which request it is.
    pub index: u64,
    /// When it is due.
    pub due: Instant,
    /// Whether it is due in the measured phase.
    pub counted: bool,
}

/// What became of the schedule in the measured phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenLoopFigures {
    /// Calls per second that were asked for.
    pub rate: f64,
    /// Distribution of the gaps.
    pub arrivals: ArrivalProcess,
    /// Most calls in flight: the number of workers.
    pub max_outstanding: usize,
    /// Calls that were due.
    pub offered: u64,
    /// Calls that were due when every worker was busy: they waited for a worker first.
    pub late: u64,
    /// Calls that no worker had begun one second after the end. Their age at that time counts as their latency.
    pub not_started: u64,
    /// How late the harness's timer was: from the due time until workers were woken.
    pub pacer_lateness: LatencyFigures,
    /// From the due time until the call began: the pacer's lateness, the runtime's, and waiting for a worker.
    pub start_delay: LatencyFigures,
}

impl OpenLoopFigures {
    /// Sums of the counts and medians of the figures; `None` without rounds.
    #[must_use]
    pub fn of_rounds(rounds: &[&Self]) -> Option<Self> {
        let first = *rounds.first()?;
        let sum = |count: fn(&Self) -> u64| rounds.iter().map(|round| count(round)).sum();
        Some(Self {
            offered: sum(|round| round.offered),
            late: sum(|round| round.late),
            not_started: sum(|round| round.not_started),
            pacer_lateness: LatencyFigures::medians(rounds.iter().map(|round| &round.pacer_lateness)),
            start_delay: LatencyFigures::medians(rounds.iter().map(|round| &round.start_delay)),
            ..first.clone()
        })
    }
}

/// The schedule of one run, shared by its workers.
#[derive(Debug)]
pub struct Schedule {
    open_loop: OpenLoop,
    seed: u64,
    workers: usize,
    measured_ns: std::ops::Range<u64>,
    origin: OnceLock<Instant>,
    /// One permit for each operation that is due; the workers of asynchronous clients wait for it.
    due: Semaphore,
    /// Workers of asynchronous clients that wait, less those that were woken.
    idle: AtomicUsize,
    upcoming: Mutex<Upcoming>,
    delays: Mutex<Delays>,
}

#[derive(Debug)]
struct Upcoming {
    arrivals: Arrivals,
    index: u64,
    due_ns: u64,
}

#[derive(Debug)]
struct Delays {
    late: u64,
    /// Whether the pacer counts what is late, or else the threads.
    paced: bool,
    pacer: hdrhistogram::Histogram<u64>,
    start: hdrhistogram::Histogram<u64>,
}

impl Schedule {
    /// A schedule that has not begun, for `workers` workers and the two phases of a run.
    #[must_use]
    pub fn new(open_loop: OpenLoop, seed: u64, workers: usize, warmup: Duration, measured: Duration) -> Self {
        let mut arrivals = Arrivals::new(open_loop, seed);
        let due_ns = arrivals.next().unwrap_or(u64::MAX);
        Self {
            open_loop,
            seed,
            workers,
            measured_ns: nanos(warmup)..nanos(warmup + measured),
            origin: OnceLock::new(),
            due: Semaphore::new(0),
            idle: AtomicUsize::new(0),
            upcoming: Mutex::new(Upcoming { arrivals, index: 0, due_ns }),
            delays: Mutex::new(Delays { late: 0, paced: false, pacer: histogram(), start: histogram() }),
        }
    }

    /// The first phase begins now.
    pub fn begin(&self, origin: Instant) {
        let _ = self.origin.set(origin);
    }

    fn origin(&self) -> Instant {
        *self.origin.wait()
    }

    /// Wakes the workers of asynchronous clients whenever operations are due, until the end of the run. Needs a thread
    /// of its own.
    pub fn pace(&self) {
        let origin = self.origin();
        let pause = pacer::coalescing(self.open_loop.rate);
        // The workers take the same sequence from `upcoming`, in the same order.
        let mut arrivals = Arrivals::new(self.open_loop, self.seed);
        let mut due_ns = arrivals.next().unwrap_or(u64::MAX);
        let mut woken_ns = 0;
        self.delays.lock().unwrap_or_else(PoisonError::into_inner).paced = true;
        while due_ns < self.measured_ns.end {
            pacer::sleep_until(origin + Duration::from_nanos(due_ns.max(woken_ns + nanos(pause))));
            woken_ns = nanos(origin.elapsed());
            let mut permits = 0;
            {
                let idle = self.idle.load(Ordering::Acquire);
                let mut delays = self.delays.lock().unwrap_or_else(PoisonError::into_inner);
                while due_ns <= woken_ns && due_ns < self.measured_ns.end {
                    if self.measured_ns.contains(&due_ns) {
                        delays.pacer.saturating_record(woken_ns - due_ns);
                        delays.late += u64::from(permits >= idle);
                    }
                    permits += 1;
                    due_ns = arrivals.next().unwrap_or(u64::MAX);
                }
            }
            let woken = |idle: usize| Some(idle.saturating_sub(permits));
            let _ = self.idle.fetch_update(Ordering::AcqRel, Ordering::Acquire, woken);
            self.due.add_permits(permits);
        }
        // One more for each worker, so that all of them find that the sequence is over.
        self.due.add_permits(self.workers);
    }

    /// The next operation, once it is due; `None` when the worker is to end. [`pace`](Self::pace) must run beside.
    pub async fn next(&self) -> Option<Arrival> {
        let permit = if let Ok(permit) = self.due.try_acquire() {
            permit
        } else {
            self.idle.fetch_add(1, Ordering::AcqRel);
            self.due.acquire().await.ok()?
        };
        permit.forget();
        let arrival = self.take()?;
        self.note_start(&arrival, None);
        Some(arrival)
    }

    /// The next operation; sleeps until it is due. `None` when the worker is to end.
    #[must_use]
    pub fn next_blocking(&self) -> Option<Arrival> {
        let arrival = self.take()?;
        // Threads that are idle hold the next arrivals and sleep. So one whose time is over had no thread.
        let late = arrival.due <= Instant::now();
        if !late {
            pacer::sleep_until(arrival.due);
        }
        if late && arrival.counted {
            self.delays.lock().unwrap_or_else(PoisonError::into_inner).late += 1;
        }
        self.note_start(&arrival, (!late).then(|| arrival.due.elapsed()));
        Some(arrival)
    }

    fn take(&self) -> Option<Arrival> {
        let origin = self.origin();
        let end_ns = self.measured_ns.end;
        let mut upcoming = self.upcoming.lock().unwrap_or_else(PoisonError::into_inner);
        let Upcoming { index, due_ns, .. } = *upcoming;
        if due_ns >= end_ns || nanos(origin.elapsed()) > end_ns + nanos(DRAIN) {
            return None;
        }
        upcoming.index += 1;
        upcoming.due_ns = upcoming.arrivals.next().unwrap_or(u64::MAX);
        let counted = due_ns >= self.measured_ns.start;
        Some(Arrival { index, due: origin + Duration::from_nanos(due_ns), counted })
    }

    fn note_start(&self, arrival: &Arrival, pacer: Option<Duration>) {
        if !arrival.counted {
            return;
        }
        let delay = nanos(arrival.due.elapsed());
        let mut delays = self.delays.lock().unwrap_or_else(PoisonError::into_inner);
        delays.start.saturating_record(delay);
        if let Some(lateness) = pacer {
            delays.pacer.saturating_record(nanos(lateness));
        }
    }

    /// What was due and never begun: calls `each` with the number of each operation and its age. To be called when the
    /// workers have ended.
    pub fn not_started(&self, mut each: impl FnMut(u64, Duration)) -> u64 {
        let mut upcoming = self.upcoming.lock().unwrap_or_else(PoisonError::into_inner);
        let given_up = self.measured_ns.end + nanos(DRAIN);
        let mut count = 0;
        while upcoming.due_ns < self.measured_ns.end {
            if upcoming.due_ns >= self.measured_ns.start {
                count += 1;
                each(upcoming.index, Duration::from_nanos(given_up - upcoming.due_ns));
            }
            upcoming.index += 1;
            upcoming.due_ns = upcoming.arrivals.next().unwrap_or(u64::MAX);
        }
        count
    }

    /// The figures of the measured phase.
    #[must_use]
    pub fn figures(&self, not_started: u64) -> OpenLoopFigures {
        let delays = self.delays.lock().unwrap_or_else(PoisonError::into_inner);
        OpenLoopFigures {
            rate: self.open_loop.rate,
            arrivals: self.open_loop.arrivals,
            max_outstanding: self.workers,
            offered: delays.start.len() + not_started,
            // What no thread takes, no thread counts.
            late: delays.late + if delays.paced { 0 } else { not_started },
            not_started,
            pacer_lateness: LatencyFigures::of(&delays.pacer),
            start_delay: LatencyFigures::of(&delays.start),
        }
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn arrivals(arrivals: ArrivalProcess, rate: f64, seed: u64) -> Arrivals {
        Arrivals::new(OpenLoop { rate, arrivals }, seed)
    }

    #[test]
    fn poisson_arrivals_have_the_mean_and_the_spread_of_the_process() {
        let count = 100_000;
        let times: Vec<f64> =
            arrivals(ArrivalProcess::Poisson, 2_000.0, 7).take(count).map(|due| due as f64 / 1e9).collect();
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        assert!((mean * 2_000.0 - 1.0).abs() < 0.02, "{mean}");
        // The standard deviation of exponential gaps is their mean.
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.03, "{variance}");
        // e^-1 of the gaps are longer than the mean.
        let longer = gaps.iter().filter(|gap| **gap > mean).count() as f64 / gaps.len() as f64;
        assert!((longer - (-1.0_f64).exp()).abs() < 0.01, "{longer}");
    }

    #[test]
    fn constant_arrivals_do_not_drift() {
        let times: Vec<u64> = arrivals(ArrivalProcess::Constant, 3_000.0, 1).take(3_000_000).collect();
        assert_eq!(times[0], 333_333);
        assert!(times[2_999_999].abs_diff(1_000_000_000_000) < 1_000, "{}", times[2_999_999]);
    }

    #[test]
    fn the_same_seed_gives_the_same_arrivals() {
        let draw = |seed| arrivals(ArrivalProcess::Poisson, 1_000.0, seed).take(100).collect::<Vec<_>>();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert!(draw(1).is_sorted());
    }

    fn schedule(rate: f64, measured: Duration) -> Arc<Schedule> {
        let open_loop = OpenLoop { rate, arrivals: ArrivalProcess::Poisson };
        Arc::new(Schedule::new(open_loop, 5, 2, Duration::from_millis(20), measured))
    }

    #[test]
    fn threads_take_each_arrival_once_and_not_before_it_is_due() {
        let schedule = schedule(2_000.0, Duration::from_millis(200));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let schedule = schedule.clone();
                std::thread::spawn(move || {
                    let mut taken = Vec::new();
                    while let Some(arrival) = schedule.next_blocking() {
                        assert!(Instant::now() >= arrival.due);
                        taken.push((arrival.index, arrival.counted));
                    }
                    taken
                })
            })
            .collect();
        schedule.begin(Instant::now());
        let mut taken: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        taken.sort_unstable();
        assert!(taken.iter().enumerate().all(|(index, (taken, _))| index as u64 == *taken));
        let figures = schedule.figures(schedule.not_started(|_, _| ()));
        let counted = taken.iter().filter(|(_, counted)| *counted).count() as u64;
        assert_eq!(figures.offered, counted + figures.not_started);
        assert!((300..500).contains(&figures.offered), "{figures:?}");
        assert_eq!(figures.start_delay.samples, counted);
        assert!(figures.pacer_lateness.samples + figures.late >= counted, "{figures:?}");
    }

    #[test]
    fn tasks_take_the_same_arrivals() {
        let schedule = schedule(2_000.0, Duration::from_millis(200));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        schedule.begin(Instant::now());
        let pacer = std::thread::spawn({
            let schedule = schedule.clone();
            move || schedule.pace()
        });
        let worker = || async {
            let mut taken = Vec::new();
            while let Some(arrival) = schedule.next().await {
                assert!(Instant::now() >= arrival.due);
                taken.push(arrival.index);
                tokio::task::yield_now().await;
            }
            taken
        };
        let (mut taken, others) = runtime.block_on(async { tokio::join!(worker(), worker()) });
        pacer.join().unwrap();
        taken.extend(others);
        taken.sort_unstable();
        assert!(taken.iter().enumerate().all(|(index, taken)| index as u64 == *taken));
        let figures = schedule.figures(schedule.not_started(|_, _| ()));
        assert!((300..500).contains(&figures.offered), "{figures:?}");
        assert_eq!(figures.pacer_lateness.samples, figures.offered);
    }

    #[test]
    fn what_no_worker_begins_is_counted_with_its_age() {
        let schedule = schedule(1_000.0, Duration::from_millis(100));
        let mut ages = Vec::new();
        let count = schedule.not_started(|_, age| ages.push(age));
        assert_eq!(count, ages.len() as u64);
        assert!(ages.iter().all(|age| (DRAIN..=DRAIN + Duration::from_millis(100)).contains(age)), "{ages:?}");
        let figures = schedule.figures(count);
        assert_eq!((figures.offered, figures.late, figures.not_started), (count, count, count));
    }
}
