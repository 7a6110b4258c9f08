//! What is measured, and how it is shown.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use aerolane::metrics as core;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use pyo3::{IntoPyObjectExt, PyAny};

use crate::errors;
use crate::policy::define::{in_force, policy};
use crate::policy::enums::{add, python_enum};
use crate::policy::kinds::{Kind, Member, Switch, Within, whole_number, wrong_type};

python_enum! {
    /// The unit of the times in histograms. MILLISECONDS is the default.
    "LatencyUnit": core::LatencyUnit { MICROSECONDS = 0 => Self::Microseconds, MILLISECONDS = 1 => Self::Milliseconds }
}
python_enum! {
    /// The kind of a call in metrics.
    ///
    /// GET: reads bins of a record. GET_HEADER: reads none of them. EXISTS. PUT: writes of bins, and touch. DELETE.
    /// OPERATE: several operations on one record. QUERY: with a secondary index. SCAN: without one. UDF: a function on
    /// one record. BATCH_READ: the request of a batch to one node. BATCH_WRITE: the same with rows that write. NONE: no
    /// call.
    "CommandType": core::CommandType {
        NONE = 0 => Self::None, GET = 1 => Self::Get, GET_HEADER = 2 => Self::GetHeader, EXISTS = 3 => Self::Exists,
        PUT = 4 => Self::Put, DELETE = 5 => Self::Delete, OPERATE = 6 => Self::Operate, QUERY = 7 => Self::Query,
        SCAN = 8 => Self::Scan, UDF = 9 => Self::Udf, BATCH_READ = 10 => Self::BatchRead,
        BATCH_WRITE = 11 => Self::BatchWrite,
    }
}

python_enum! {
    /// Groups of calls whose latencies are shown together.
    ///
    /// READ: GET, GET_HEADER and EXISTS. WRITE: PUT, DELETE, OPERATE and UDF. BATCH: BATCH_READ and BATCH_WRITE. QUERY:
    /// QUERY and SCAN. CONN: how long calls of all kinds waited for room on a connection.
    "LatencyType": core::LatencyType {
        CONN = "conn" => Self::Conn, WRITE = "write" => Self::Write, READ = "read" => Self::Read,
        BATCH = "batch" => Self::Batch, QUERY = "query" => Self::Query,
    }
}

/// Which calls are measured: `threshold` out of every `range`, picked at random.
#[pyclass(frozen, eq, hash, from_py_object, module = "aerolane.policy")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sampler(core::Sampler);

impl Hash for Sampler {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0.range(), self.0.threshold()).hash(state);
    }
}

#[pymethods]
impl Sampler {
    /// `threshold` out of every `range` calls; a `threshold` above `range` is taken as `range`, a `range` of 0 as 1. Raises
    /// `TypeError` for what is no int, `InvalidArgumentError` for one below 0.
    #[new]
    fn new(range: &Bound<'_, PyAny>, threshold: &Bound<'_, PyAny>) -> PyResult<Self> {
        let number = |value, what| whole_number(value, what, 0, i64::MAX).map(|n| n as u64);
        Ok(Self(core::Sampler::new(number(range, "range")?, number(threshold, "threshold")?)))
    }

    /// All calls (the default).
    #[staticmethod]
    fn all() -> Self {
        Self(core::Sampler::all())
    }

    /// No calls; connections and the tend thread are still counted.
    #[staticmethod]
    fn never() -> Self {
        Self(core::Sampler::never())
    }

    /// Each call with this probability, clamped to 0 to 1. Raises `InvalidArgumentError` for NaN.
    #[staticmethod]
    fn probability(py: Python<'_>, p: f64) -> PyResult<Self> {
        if p.is_nan() {
            return Err(errors::invalid_argument(py, "p is NaN, it must be 0 to 1".to_owned()));
        }
        Ok(Self(core::Sampler::probability(p)))
    }

    /// The number of calls of which `threshold` are measured.
    #[getter]
    fn range(&self) -> u64 {
        self.0.range()
    }

    /// How many out of `range` calls are measured.
    #[getter]
    fn threshold(&self) -> u64 {
        self.0.threshold()
    }

    fn __getnewargs__(&self) -> (u64, u64) {
        (self.0.range(), self.0.threshold())
    }

    fn __repr__(&self) -> String {
        format!("Sampler({}, {})", self.0.range(), self.0.threshold())
    }
}

/// A `Sampler`.
struct Samples;

impl Kind<core::Sampler> for Samples {
    fn get(py: Python<'_>, value: &core::Sampler) -> PyResult<Py<PyAny>> {
        Sampler(*value).into_py_any(py)
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<core::Sampler> {
        let value = value.cast::<Sampler>().map_err(|_| wrong_type(value, what, "a Sampler"))?;
        Ok(value.get().0)
    }
}

/// A list of dicts of str to str, or one such dict.
struct LabelSets;

impl Kind<core::Labels> for LabelSets {
    fn get(py: Python<'_>, value: &core::Labels) -> PyResult<Py<PyAny>> {
        value.entries().to_vec().into_py_any(py)
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<core::Labels> {
        let wrong = || wrong_type(value, what, "a list of dicts of str to str");
        let labels = |dict: &Bound<'_, PyAny>| {
            let dict = dict.cast::<PyDict>().map_err(|_| wrong())?;
            dict.extract::<HashMap<String, String>>().map_err(|_| {
                PyTypeError::new_err(format!("{what} must be dicts of str to str: {dict} has other keys or values"))
            })
        };
        if value.is_instance_of::<PyDict>() {
            return Ok(core::Labels::with_pairs(vec![labels(value)?]));
        }
        let sets = value.cast::<PyList>().map_err(|_| wrong())?;
        Ok(core::Labels::with_pairs(sets.iter().map(|set| labels(&set)).collect::<PyResult<_>>()?))
    }
}

policy! {
    /// What is measured, and how histograms are built.
    ///
    /// `MetricsPolicy.millis()` has histograms in milliseconds with 7 columns (the default), `MetricsPolicy.micros()`
    /// has histograms in microseconds with 24. Both measure single calls only if `operational` is set.
    MetricsPolicy(core::MetricsPolicy) extends PyAny also [operational_enabled sets operational, usage_enabled sets operational] {
        /// Whether calls are measured: latencies, sizes, result codes. Default False: only connections, retries and
        /// bytes are counted.
        operational / set_operational: Switch = operational;
        /// The unit of times. Default `LatencyUnit.MILLISECONDS`. Changing it discards what was measured.
        latency_unit / set_latency_unit: Member = latency_unit;
        /// The number of buckets of each histogram, 1 to 64. Default 7.
        latency_columns / set_latency_columns: Within<1, 64> = latency_columns;
        /// Each bucket ends at 2**`latency_shift` times the end of the one before: 1 to 63. Default 1.
        latency_shift / set_latency_shift: Within<1, 63> = latency_shift;
        /// Labels that identify this client's metrics: a list of dicts of names and values. They are part of the
        /// snapshot of all nodes. Default: none.
        labels / set_labels: LabelSets = labels;
        /// Which calls are measured. Default `Sampler.all()`.
        sampler / set_sampler: Samples = sampler;
    }

    /// The same as `operational`, for code written for Aerospike's SDK.
    #[getter]
    fn operational_enabled(&self) -> bool {
        self.snapshot().operational
    }

    #[setter(operational_enabled)]
    fn set_operational_enabled(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_operational(value)
    }

    /// Whether the use of features is counted, which happens for all measured calls. The same setting as `operational`.
    #[getter]
    fn usage_enabled(&self) -> bool {
        self.snapshot().operational
    }

    #[setter(usage_enabled)]
    fn set_usage_enabled(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_operational(value)
    }

    /// Microseconds in 24 columns.
    #[staticmethod]
    fn micros(py: pyo3::Python<'_>) -> pyo3::PyResult<pyo3::Py<Self>> {
        Self::from_snapshot(py, std::sync::Arc::new(core::MetricsPolicy::micros()))
    }

    /// Milliseconds in 7 columns.
    #[staticmethod]
    fn millis(py: pyo3::Python<'_>) -> pyo3::PyResult<pyo3::Py<Self>> {
        Self::from_snapshot(py, std::sync::Arc::new(core::MetricsPolicy::millis()))
    }

    /// The factor between the ends of two adjacent buckets: 2 to the power of `latency_shift`.
    #[getter]
    fn latency_base(&self) -> u64 {
        1_u64.checked_shl(self.snapshot().latency_shift).unwrap_or(u64::MAX)
    }
}

in_force!(MetricsPolicy(core::MetricsPolicy));

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add::<core::LatencyUnit>(module)?;
    add::<core::CommandType>(module)?;
    add::<core::LatencyType>(module)?;
    module.add_class::<Sampler>()?;
    module.add_class::<MetricsPolicy>()
}
