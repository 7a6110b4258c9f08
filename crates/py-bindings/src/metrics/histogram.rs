//! Histograms.

use aerolane::metrics as core;
use pyo3::prelude::*;

/// A histogram with exponential buckets: of times in the unit of the snapshot (`latency_unit`), rounded down, or of
/// sizes in bytes.
///
/// The first bucket counts values up to 1. Each further bucket ends at `latency_base` times the end of the one before;
/// the last one counts all larger values.
#[pyclass(frozen, eq, module = "aerolane.native")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Histogram(pub(super) core::Histogram);

#[pymethods]
impl Histogram {
    /// The number of values in each bucket, as a list.
    #[getter]
    fn buckets(&self) -> &[u64] {
        self.0.buckets()
    }

    /// The upper bound of each bucket, as a list. It is one shorter than `buckets`, since the last bucket has no upper
    /// bound.
    #[getter]
    fn bounds(&self) -> Vec<u64> {
        (0..self.0.buckets().len()).map_while(|index| self.0.upper_bound(index)).collect()
    }

    /// The number of values.
    #[getter]
    fn count(&self) -> u64 {
        self.0.count()
    }

    /// The smallest value; 0 if there are none.
    #[getter]
    fn min(&self) -> u64 {
        self.0.min()
    }

    /// The largest value; 0 if there are none.
    #[getter]
    fn max(&self) -> u64 {
        self.0.max()
    }

    /// The sum of the values.
    #[getter]
    fn sum(&self) -> f64 {
        self.0.sum()
    }

    /// The mean of the values; 0.0 if there are none.
    #[getter]
    fn average(&self) -> f64 {
        self.0.average()
    }

    /// The quantile of the values (0.99: 99 % of them are not larger), as exactly as the buckets allow: the end of a
    /// bucket, or the largest value. `None` if there are no values, or if `part` is not between 0 and 1.
    fn quantile(&self, part: f64) -> Option<u64> {
        self.0.quantile(part)
    }

    fn __repr__(&self) -> String {
        let (count, min, max) = (self.0.count(), self.0.min(), self.0.max());
        format!("Histogram(count={count}, min={min}, max={max}, average={:.2})", self.0.average())
    }
}
