//! `MetricsWriter`: snapshots as lines of a file.

use aerolane::metrics as core;
use aerolane::sync::Mutex;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use super::snapshot::ClusterMetrics;
use crate::errors;
use crate::lock::LockAttached;

/// An exporter that appends a line for each snapshot of metrics to a file `metrics-<time>.log` in a directory, which it
/// creates if necessary. The setting `report_dir` installs one.
///
/// The format is that of Aerospike's clients: the first line of each file names the fields, and the unit, columns and
/// shift of the latencies. Times are local. `report_size_limit`: the size in bytes after which a new file is started,
/// at least 1,000,000; 0: never. A new file is also started if the shape of the histograms changes, and after an error.
///
/// Raises `InvalidArgumentError` (a `ValueError`) for a size limit that is out of range and for an empty directory
/// name.
#[pyclass(frozen, subclass, weakref, module = "aerolane.metrics")]
pub(crate) struct MetricsWriter(Mutex<core::MetricsWriter>);

#[pymethods]
impl MetricsWriter {
    #[new]
    #[pyo3(signature = (report_dir, report_size_limit=0))]
    fn new(py: Python<'_>, report_dir: std::path::PathBuf, report_size_limit: i64) -> PyResult<Self> {
        let limit = u64::try_from(report_size_limit).map_err(|_| {
            errors::invalid_argument(py, format!("report_size_limit is {report_size_limit}, it must not be negative"))
        })?;
        let writer = core::MetricsWriter::new(report_dir, limit).map_err(|error| errors::to_py(py, &error))?;
        Ok(Self(Mutex::new(writer)))
    }

    /// Appends a line for `snapshot`, a `MetricsSnapshot`.
    ///
    /// Raises `OSError` if the line cannot be written.
    fn export(&self, py: Python<'_>, snapshot: &Bound<'_, ClusterMetrics>) -> PyResult<()> {
        let snapshot = snapshot.get();
        py.detach(|| self.0.lock().write(snapshot.measured())).map_err(|error| match error.kind() {
            std::io::ErrorKind::Other => PyOSError::new_err(error.to_string()),
            _ => error.into(),
        })
    }

    /// Closes the file. The next export starts a new one.
    fn close(&self, py: Python<'_>) {
        self.0.lock_py_attached(py).close();
    }
}
