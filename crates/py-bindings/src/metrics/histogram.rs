//! Histograms.

use aerolane::metrics as core;
use pyo3::prelude::*;

/// How values are spread over powers of two: times in the unit of the snapshot (`latency_unit`), cut off to whole ones, or
/// sizes in bytes.
///
/// The first bucket counts values up to 1, each further one those up to `latency_base` times the end of the one before,
/// the last one all above.
#[pyclass(frozen, eq, module = "aerolane.native")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Histogram(pub(super) core::Histogram);

#[pymethods]
impl Histogram {
    /// How many values are in each bucket: a list.
    #[getter]
    fn buckets(&self) -> &[u64] {
        self.0.buckets()
    }

    /// The greatest value of each bucket: a list, one shorter than `buckets`, whose last one has no end.
    #[getter]
    fn bounds(&self) -> Vec<u64> {
        (0..self.0.buckets().len()).map_while(|index| self.0.upper_bound(index)).collect()
    }

    /// How many values there are.
    #[getter]
    fn count(&self) -> u64 {
        self.0.count()
    }

    /// The least value; 0 if there is none.
    #[getter]
    fn min(&self) -> u64 {
        self.0.min()
    }

    /// The greatest value; 0 if there is none.
    #[getter]
    fn max(&self) -> u64 {
        self.0.max()
    }

    /// All values together.
    #[getter]
    fn sum(&self) -> f64 {
        self.0.sum()
    }

    /// The mean of the values; 0.0 if there is none.
    #[getter]
    fn average(&self) -> f64 {
        self.0.average()
    }

    /// What so many of the values (0.99: 99 % of them) do not exceed, as far as the buckets tell: the end of a bucket, or
    /// the greatest value. `None` if there are no values, or `part` is not within 0 and 1.
    fn quantile(&self, part: f64) -> Option<u64> {
        self.0.quantile(part)
    }

    fn __repr__(&self) -> String {
        let (count, min, max) = (self.0.count(), self.0.min(), self.0.max());
        format!("Histogram(count={count}, min={min}, max={max}, average={:.2})", self.0.average())
    }
}
