//! Exporters of what a writer has counted. The mechanism that calls them is that of a client's metrics.

use std::io::Write;
use std::sync::Arc;

use super::counts::WriterMetrics;
use crate::metrics::{ExportError, MetricsExporter, sealed};
use crate::sync::Mutex;

impl sealed::Snapshot for WriterMetrics {}

/// An exporter that keeps the last snapshot; its clones have the same.
///
/// ```no_run
/// # use std::time::Duration;
/// # use aerolane::*;
/// # use aerolane::writer::LatestMetrics;
/// # fn demo(writer: &SyncWriter) -> Result<()> {
/// let latest = LatestMetrics::default();
/// let export = writer.export_metrics(Duration::from_secs(1), latest.clone())?;
/// // ... records, and somewhere else: ...
/// if let Some(metrics) = latest.get() {
///     println!("{} records a moment ago", metrics.progress.ok);
/// }
/// # drop(export);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct LatestMetrics(Arc<Mutex<Option<WriterMetrics>>>);

impl LatestMetrics {
    /// The last snapshot; `None`: there was none yet.
    #[must_use]
    pub fn get(&self) -> Option<WriterMetrics> {
        self.0.lock().clone()
    }
}

impl MetricsExporter<WriterMetrics> for LatestMetrics {
    fn export(&mut self, metrics: &WriterMetrics) -> Result<(), ExportError> {
        *self.0.lock() = Some(metrics.clone());
        Ok(())
    }
}

/// An exporter that logs a line for each snapshot, at level `info`.
#[derive(Debug, Clone, Default)]
pub struct LogExporter {
    name: String,
}

impl LogExporter {
    /// `name` tells one writer from another.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into() }
    }
}

impl MetricsExporter<WriterMetrics> for LogExporter {
    fn export(&mut self, metrics: &WriterMetrics) -> Result<(), ExportError> {
        let progress = &metrics.progress;
        crate::logging::info!(
            "writer {}: {} records handed over, {} ok, {} failed ({} in doubt), {} outstanding; {} requests, {} retries, {} throttled",
            self.name,
            progress.handed_over,
            progress.ok,
            progress.failed,
            metrics.in_doubt,
            progress.outstanding,
            metrics.requests,
            metrics.retries,
            metrics.throttled,
        );
        Ok(())
    }
}

/// An exporter that writes a line of JSON for each snapshot: [`WriterMetrics::to_json`].
#[derive(Debug)]
pub struct JsonLines<W>(W);

impl<W: Write + Send + 'static> JsonLines<W> {
    /// `to` is written to and flushed once for each snapshot.
    pub const fn new(to: W) -> Self {
        Self(to)
    }
}

impl<W: Write + Send + 'static> MetricsExporter<WriterMetrics> for JsonLines<W> {
    fn export(&mut self, metrics: &WriterMetrics) -> Result<(), ExportError> {
        let mut line = metrics.to_json();
        line.push('\n');
        self.0.write_all(line.as_bytes())?;
        self.0.flush()?;
        Ok(())
    }
}
