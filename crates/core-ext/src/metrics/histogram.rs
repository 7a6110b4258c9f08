//! Histograms: as they are filled, and as they are shown.
//!
//! The layout is that of Aerospike's tools and of aerospike-core: the first bucket holds values up to 1, each further one
//! those up to the next power of two, or of 2^shift, and the last one all the rest. Filled are the powers of two, each
//! with a bucket; columns and shift are a matter of how they are shown.

use std::sync::atomic::{AtomicU64, Ordering};

use aerospike_core::metrics::SyncHistogram;

/// Buckets that are filled. The last one is for values above 2^46: more than two years in microseconds.
const FINE: usize = 48;
/// The most that a shift can be: 2^63 is the greatest power of two of a value.
const MAX_SHIFT: u32 = 63;
/// More columns than values have bits would be empty.
const MAX_COLUMNS: usize = 65;

/// Adds to a cell that nobody else writes to: without the cost of a locked instruction.
#[inline]
pub(super) fn bump(cell: &AtomicU64, by: u64) {
    cell.store(cell.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
}

/// A histogram that one writer fills while others read.
#[derive(Debug)]
pub(super) struct Filling {
    buckets: [AtomicU64; FINE],
    sum: AtomicU64,
    min: AtomicU64,
    max: AtomicU64,
}

impl Filling {
    pub(super) const fn new() -> Self {
        Self {
            buckets: [const { AtomicU64::new(0) }; FINE],
            sum: AtomicU64::new(0),
            min: AtomicU64::new(u64::MAX),
            max: AtomicU64::new(0),
        }
    }

    /// Counts a value. By one writer at a time.
    #[inline]
    pub(super) fn add(&self, value: u64) {
        bump(&self.buckets[fine(value)], 1);
        bump(&self.sum, value);
        if value < self.min.load(Ordering::Relaxed) {
            self.min.store(value, Ordering::Relaxed);
        }
        if value > self.max.load(Ordering::Relaxed) {
            self.max.store(value, Ordering::Relaxed);
        }
    }
}

/// The bucket of a value: the number of the power of two that it does not exceed.
#[inline]
fn fine(value: u64) -> usize {
    let power = 64 - value.saturating_sub(1).leading_zeros();
    // `saturating_sub` takes 0 and 1 to 0, whose power is 0.
    (power as usize).min(FINE - 1)
}

/// How values are spread over powers of two.
///
/// Bucket 0 counts values up to 1; bucket `i` those above `m^(i-1)` and up to `m^i`, where `m` is 2 to the power of
/// [`shift`](Self::shift); the last bucket everything above. Values are whole units, cut off: with
/// [`LatencyUnit::Milliseconds`](super::LatencyUnit) what took 1.9 ms counts as 1. Sizes are in bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    shift: u32,
    buckets: Vec<u64>,
    count: u64,
    min: u64,
    max: u64,
    sum: f64,
}

impl Histogram {
    /// An empty one. A shift below 1 is taken as 1, no columns as one, more than 65 as 65 (values have 64 bits).
    #[must_use]
    pub fn new(shift: u32, columns: usize) -> Self {
        let (shift, columns) = (shift.clamp(1, MAX_SHIFT), columns.clamp(1, MAX_COLUMNS));
        Self { shift, buckets: vec![0; columns], count: 0, min: 0, max: 0, sum: 0.0 }
    }

    /// How many values are in each bucket.
    #[must_use]
    pub fn buckets(&self) -> &[u64] {
        &self.buckets
    }

    /// How many values there are.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The least value; 0 if there is none.
    #[must_use]
    pub const fn min(&self) -> u64 {
        self.min
    }

    /// The greatest value; 0 if there is none.
    #[must_use]
    pub const fn max(&self) -> u64 {
        self.max
    }

    /// All values together.
    #[must_use]
    pub const fn sum(&self) -> f64 {
        self.sum
    }

    /// The mean of the values; 0 if there is none.
    #[must_use]
    pub fn average(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / self.count as f64 }
    }

    /// By how many powers of two a bucket differs from the one before.
    #[must_use]
    pub const fn shift(&self) -> u32 {
        self.shift
    }

    /// The greatest value that bucket `index` counts; `None` for the last one, which counts all above.
    #[must_use]
    pub fn upper_bound(&self, index: usize) -> Option<u64> {
        if index + 1 >= self.buckets.len() {
            return None;
        }
        1_u64.checked_shl(u32::try_from(index).ok()?.saturating_mul(self.shift))
    }

    /// The bound that so many of the values (0.99: 99 % of them) do not exceed, as far as the buckets tell, and never
    /// more than [`max`](Self::max). `None` if there are no values, or `part` is not within 0 and 1.
    #[must_use]
    pub fn quantile(&self, part: f64) -> Option<u64> {
        if self.count == 0 || !(0.0..=1.0).contains(&part) {
            return None;
        }
        let wanted = ((self.count as f64 * part).ceil() as u64).max(1);
        let mut seen = 0;
        let index = self.buckets.iter().position(|bucket| {
            seen += bucket;
            seen >= wanted
        });
        Some(index.and_then(|index| self.upper_bound(index)).map_or(self.max, |bound| bound.min(self.max)))
    }

    /// Adds the values of another one of the same shape.
    pub(crate) fn merge(&mut self, other: &Self) {
        if (self.shift, self.buckets.len()) != (other.shift, other.buckets.len()) {
            // Only for an instant while the policy changes: what has the former shape is about to go.
            return;
        }
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(sum, n)| *sum += n);
        self.add_summary((other.count, other.min, other.max), other.sum);
    }

    /// An empty one, as finely divided as they are filled.
    pub(super) fn fine() -> Self {
        Self::new(1, FINE)
    }

    /// A [`fine`](Self::fine) one in another shape.
    pub(super) fn shaped(&self, shift: u32, columns: usize) -> Self {
        let mut shaped = Self::new(shift, columns);
        let last = shaped.buckets.len() - 1;
        for (power, n) in (0_u32..).zip(&self.buckets) {
            shaped.buckets[(power.div_ceil(shaped.shift) as usize).min(last)] += n;
        }
        Self { shift: shaped.shift, buckets: shaped.buckets, ..*self }
    }

    /// Adds what one writer has filled so far. For a [`fine`](Self::fine) one.
    pub(super) fn add_filled(&mut self, filling: &Filling) {
        let mut count = 0;
        for (sum, bucket) in self.buckets.iter_mut().zip(&filling.buckets) {
            let n = bucket.load(Ordering::Relaxed);
            *sum += n;
            count += n;
        }
        let load = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        self.add_summary((count, load(&filling.min), load(&filling.max)), load(&filling.sum) as f64);
    }

    /// Counts zeros.
    pub(super) fn add_zeros(&mut self, count: u64) {
        self.buckets[0] += count;
        self.add_summary((count, 0, 0), 0.0);
    }

    fn add_summary(&mut self, (count, min, max): (u64, u64, u64), sum: f64) {
        if count > 0 {
            self.min = if self.count == 0 { min } else { self.min.min(min) };
            self.max = self.max.max(max);
            self.count += count;
            self.sum += sum;
        }
    }
}

impl From<&SyncHistogram> for Histogram {
    fn from(core: &SyncHistogram) -> Self {
        Self {
            shift: core.shift(),
            buckets: core.buckets(),
            count: core.count(),
            min: core.min(),
            max: core.max(),
            sum: core.sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filled(values: &[u64]) -> Filling {
        let filling = Filling::new();
        for value in values {
            filling.add(*value);
        }
        filling
    }

    fn shown(values: &[u64], shift: u32, columns: usize) -> Histogram {
        let mut histogram = Histogram::fine();
        histogram.add_filled(&filled(values));
        histogram.shaped(shift, columns)
    }

    proptest! {
        /// Whatever the shape: as aerospike-core counts them.
        #[test]
        fn buckets_are_those_of_aerospike_core(
            values in prop::collection::vec(prop_oneof![0_u64..100, 0_u64..1 << 46], 0..50),
            shift in 0_u32..9,
            columns in 0_usize..40,
        ) {
            let core = SyncHistogram::new(shift, columns);
            for value in &values {
                core.add(*value);
            }
            prop_assert_eq!(shown(&values, shift, columns), Histogram::from(&core));
        }
    }

    #[test]
    fn the_greatest_values_are_counted_in_the_last_bucket() {
        let histogram = shown(&[u64::MAX, 1 << 50, 0], 1, 24);
        assert_eq!((histogram.buckets()[0], histogram.buckets()[23]), (1, 2));
        assert_eq!((histogram.min(), histogram.max(), histogram.count()), (0, u64::MAX, 3));
    }

    #[test]
    fn merging_adds_and_keeps_the_extremes() {
        let mut all = shown(&[], 1, 7);
        all.merge(&shown(&[5, 9], 1, 7));
        all.merge(&shown(&[2], 1, 7));
        all.merge(&shown(&[], 1, 7));
        assert_eq!(all, shown(&[5, 9, 2], 1, 7));
        assert_eq!((all.min(), all.max(), all.sum(), all.average()), (2, 9, 16.0, 16.0 / 3.0));
        all.merge(&shown(&[1], 2, 7));
        assert_eq!(all.count(), 3, "another shape is left out");
        all.add_zeros(2);
        assert_eq!((all.count(), all.min(), all.buckets()[0]), (5, 0, 2));
    }

    #[test]
    fn bounds_and_quantiles() {
        let histogram = shown(&[1, 2, 3, 100], 1, 7);
        let bounds: Vec<_> = (0..7).map(|index| histogram.upper_bound(index)).collect();
        assert_eq!(bounds, [Some(1), Some(2), Some(4), Some(8), Some(16), Some(32), None]);
        assert_eq!(shown(&[], 3, 4).upper_bound(2), Some(64));
        let quantiles = [0.0, 0.25, 0.5, 0.75, 1.0].map(|part| histogram.quantile(part));
        assert_eq!(quantiles, [Some(1), Some(1), Some(2), Some(4), Some(100)]);
        assert_eq!((histogram.quantile(1.5), Histogram::new(1, 7).quantile(0.5)), (None, None));
        assert_eq!(shown(&[3], 1, 7).quantile(0.5), Some(3), "no bucket's bound is more than the greatest value");
    }
}
