//! Latency histograms: recorded per kind of operation, carried from a child process to its parent, merged over rounds.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::report::median;

/// Smallest latency told apart, in nanoseconds.
const FLOOR_NS: u64 = 64;
/// Largest latency that is recorded as itself; longer ones count as this one.
const CEILING_NS: u64 = 600_000_000_000;

/// An empty histogram of nanoseconds, three significant digits.
///
/// # Panics
/// Never: the bounds are constants that the library takes.
#[must_use]
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(FLOOR_NS, CEILING_NS, 3).expect("constant bounds are in order")
}

/// Records a duration.
pub fn record(histogram: &mut Histogram<u64>, latency: Duration) {
    histogram.saturating_record(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
}

/// The sampled latencies of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies {
    /// Calls that read.
    pub reads: Histogram<u64>,
    /// Calls that write.
    pub writes: Histogram<u64>,
    /// Reads of large records beside the workload.
    pub background: Histogram<u64>,
}

impl Default for Latencies {
    fn default() -> Self {
        Self { reads: histogram(), writes: histogram(), background: histogram() }
    }
}

impl Latencies {
    /// Adds those of another run.
    pub fn merge(&mut self, other: &Self) {
        add(&mut self.reads, &other.reads);
        add(&mut self.writes, &other.writes);
        add(&mut self.background, &other.background);
    }

    /// The samples by kind of call, for JSON: those of several runs can be merged.
    #[must_use]
    pub fn pairs(&self) -> BTreeMap<String, Pairs> {
        [("reads", &self.reads), ("writes", &self.writes), ("background_large", &self.background)]
            .map(|(kind, histogram)| (kind.to_owned(), buckets(histogram)))
            .into()
    }

    /// All calls of the workload.
    #[must_use]
    pub fn all(&self) -> Histogram<u64> {
        let mut all = self.reads.clone();
        add(&mut all, &self.writes);
        all
    }
}

/// Adds the samples of `other`.
///
/// # Panics
/// Never: all histograms have the same bounds.
pub(crate) fn add(sum: &mut Histogram<u64>, other: &Histogram<u64>) {
    sum.add(other).expect("equal bounds");
}

/// Buckets that are not empty: pairs of a value in nanoseconds and a count.
pub type Pairs = Vec<(u64, u64)>;

/// The buckets of each histogram that are not empty, as pairs of a value and a count.
#[derive(Serialize, Deserialize)]
struct Buckets {
    reads: Pairs,
    writes: Pairs,
    background: Pairs,
}

fn buckets(histogram: &Histogram<u64>) -> Pairs {
    histogram.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
}

fn filled(buckets: Pairs) -> Histogram<u64> {
    let mut histogram = histogram();
    for (value, count) in buckets {
        histogram.saturating_record_n(value, count);
    }
    histogram
}

impl Serialize for Latencies {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [reads, writes, background] = [&self.reads, &self.writes, &self.background].map(buckets);
        Buckets { reads, writes, background }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Latencies {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Buckets { reads, writes, background } = Buckets::deserialize(deserializer)?;
        Ok(Self { reads: filled(reads), writes: filled(writes), background: filled(background) })
    }
}

/// The percentiles of a histogram in microseconds; zeros without samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyFigures {
    /// How many latencies stand behind these figures.
    pub samples: u64,
    /// Mean.
    pub mean_us: f64,
    /// Median.
    pub p50_us: f64,
    /// 90th percentile.
    pub p90_us: f64,
    /// 95th percentile.
    pub p95_us: f64,
    /// 98th percentile.
    pub p98_us: f64,
    /// 99th percentile.
    pub p99_us: f64,
    /// 99.9th percentile.
    pub p999_us: f64,
    /// Longest.
    pub max_us: f64,
}

impl LatencyFigures {
    /// The figures of a histogram of nanoseconds.
    #[must_use]
    pub fn of(histogram: &Histogram<u64>) -> Self {
        let percentile = |share: f64| histogram.value_at_quantile(share) as f64 / 1000.0;
        Self {
            samples: histogram.len(),
            mean_us: histogram.mean() / 1000.0,
            p50_us: percentile(0.5),
            p90_us: percentile(0.9),
            p95_us: percentile(0.95),
            p98_us: percentile(0.98),
            p99_us: percentile(0.99),
            p999_us: percentile(0.999),
            max_us: histogram.max() as f64 / 1000.0,
        }
    }

    /// The median of each figure; the samples are summed.
    #[must_use]
    pub fn medians<'a>(each: impl Iterator<Item = &'a Self>) -> Self {
        let each: Vec<_> = each.collect();
        let middle = |figure: fn(&Self) -> f64| median(each.iter().map(|figures| figure(figures)).collect());
        Self {
            samples: each.iter().map(|figures| figures.samples).sum(),
            mean_us: middle(|figures| figures.mean_us),
            p50_us: middle(|figures| figures.p50_us),
            p90_us: middle(|figures| figures.p90_us),
            p95_us: middle(|figures| figures.p95_us),
            p98_us: middle(|figures| figures.p98_us),
            p99_us: middle(|figures| figures.p99_us),
            p999_us: middle(|figures| figures.p999_us),
            max_us: middle(|figures| figures.max_us),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_survive_the_way_to_the_parent_and_are_merged() {
        let mut first = Latencies::default();
        for micros in 1..=1000_u64 {
            record(&mut first.reads, Duration::from_micros(micros));
        }
        record(&mut first.writes, Duration::from_secs(3600));
        record(&mut first.background, Duration::from_millis(1));
        let text = serde_json::to_string(&first).unwrap();
        let mut merged: Latencies = serde_json::from_str(&text).unwrap();
        assert_eq!(merged, first);

        let mut second = Latencies::default();
        for _ in 0..9000 {
            record(&mut second.reads, Duration::from_micros(10));
        }
        merged.merge(&second);
        let figures = LatencyFigures::of(&merged.reads);
        assert_eq!(figures.samples, 10_000);
        // The slowest tenth is the first run's: a median of percentiles would not show its tail at the right place.
        assert!((9.9..10.1).contains(&figures.p50_us) && (895.0..905.0).contains(&figures.p99_us), "{figures:?}");
        assert_eq!(merged.all().len(), 10_001);
        assert_eq!(merged.background.len(), 1);
    }

    #[test]
    fn no_samples_are_zeros() {
        assert_eq!(LatencyFigures::of(&histogram()), LatencyFigures::default());
    }
}
