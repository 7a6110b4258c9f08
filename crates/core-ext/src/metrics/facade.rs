//! The exporter for the crate `metrics`: whatever recorder the program has installed gets the figures.

use std::collections::HashMap;

use metrics::{Label, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};

use super::figures::{self, CLUSTER, DISTRIBUTIONS, Figure, NODE, PREFIX, unit_seconds};
use super::{ClusterMetrics, ExportError, Histogram, MetricsExporter};

/// Hands snapshots to the recorder of the crate [`metrics`](https://docs.rs/metrics), under the names of
/// [`ClusterMetrics::to_prometheus`].
///
/// A writer's snapshots, too ([`export_metrics`](crate::Writer::export_metrics)), under the names of
/// [`WriterMetrics::to_prometheus`](crate::writer::WriterMetrics::to_prometheus).
///
/// Counters are set to their absolute value. Histograms are recorded value by value, each as the upper end of the bucket that
/// it was counted in, since that is all a snapshot knows of it.
///
/// ```no_run
/// # use std::time::Duration;
/// # use aerolane::*;
/// # use aerolane::metrics::{FacadeExporter, MetricsPolicy};
/// # fn demo(client: &SyncClient) -> Result<()> {
/// // For example: metrics_exporter_prometheus::PrometheusBuilder::new().install()?;
/// client.enable_metrics(MetricsPolicy::micros().with_operational(true));
/// let export = client.export_metrics(Duration::from_secs(10), FacadeExporter::new(&[("client", "orders")]))?;
/// # drop(export);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct FacadeExporter {
    labels: Vec<Label>,
    /// How many values each bucket had, by name and labels, when it was recorded last.
    recorded: HashMap<(String, Vec<Label>), Vec<u64>>,
    described: bool,
}

impl FacadeExporter {
    /// `labels` are on all figures; they tell one client from another.
    #[must_use]
    pub fn new(labels: &[(&str, &str)]) -> Self {
        let labels = labels.iter().map(|(name, value)| label(name, value)).collect();
        Self { labels, ..Self::default() }
    }

    /// The labels of a figure: those of all, and its own.
    pub(crate) fn labels<const N: usize>(&self, own: [(&'static str, &str); N]) -> Vec<Label> {
        self.labels.iter().cloned().chain(own.map(|(name, value)| label(name, value))).collect()
    }

    /// True the first time: then the figures are described.
    pub(crate) const fn begins(&mut self) -> bool {
        !std::mem::replace(&mut self.described, true)
    }

    fn figure<M>(prefix: &str, figure: &Figure<M>, labels: Vec<Label>, of: &M) {
        let (name, value) = (named(prefix, figure), (figure.value)(of));
        if figure.is_counter {
            counter!(name, labels).absolute(value);
        } else {
            gauge!(name, labels).set(value as f64);
        }
    }

    /// Records what has been added since the last snapshot. `unit`: of times, in seconds.
    fn histogram(&mut self, name: String, labels: Vec<Label>, of: &Histogram, unit: Option<f64>) {
        let scale = unit.unwrap_or(1.0);
        let mut ends: Vec<_> =
            figures::buckets(of, unit.is_some()).map(|(end, count)| (end as f64 * scale, count)).collect();
        if let Some(&last) = of.buckets().get(ends.len()) {
            // The last bucket has no end but the greatest value.
            ends.push((of.max() as f64 * scale, last));
        }
        let recorder = histogram!(name.clone(), labels.clone());
        let before = self.recorded.entry((name, labels)).or_default();
        // Metrics were switched to another unit or layout: it counts from 0 again.
        if before.len() != ends.len() || before.iter().zip(&ends).any(|(before, (_, now))| before > now) {
            *before = vec![0; ends.len()];
        }
        for (before, (value, now)) in before.iter_mut().zip(ends) {
            recorder.record_many(value, usize::try_from(now - *before).unwrap_or(usize::MAX));
            *before = now;
        }
    }

    fn describe() {
        fn figures<M>(prefix: &str, figures: &[Figure<M>]) {
            for figure in figures {
                let name = named(prefix, figure);
                if figure.is_counter {
                    describe_counter!(name, figure.help);
                } else {
                    describe_gauge!(name, figure.help);
                }
            }
        }
        figures(PREFIX, CLUSTER);
        figures(&format!("{PREFIX}node_"), NODE);
        for distribution in DISTRIBUTIONS {
            describe_histogram!(format!("{PREFIX}{}", distribution.name), distribution.help);
        }
        describe_histogram!(format!("{PREFIX}connection_opening_seconds"), "How long it took to open connections.");
        describe_counter!(format!("{PREFIX}results"), "Answers by their result code.");
    }
}

impl MetricsExporter for FacadeExporter {
    fn export(&mut self, metrics: &ClusterMetrics) -> Result<(), ExportError> {
        if self.begins() {
            Self::describe();
        }
        for figure in CLUSTER {
            Self::figure(PREFIX, figure, self.labels([]), metrics);
        }
        for (address, node) in &metrics.nodes {
            for figure in NODE {
                Self::figure(&format!("{PREFIX}node_"), figure, self.labels([("node", address)]), node);
            }
        }
        let unit = unit_seconds(metrics.cluster_aggregated.latency_unit);
        let opening = &metrics.cluster_aggregated.connection_opening;
        self.histogram(format!("{PREFIX}connection_opening_seconds"), self.labels([]), opening, Some(unit));
        for of in figures::measured(metrics) {
            for distribution in DISTRIBUTIONS {
                let labels = self.labels([("namespace", of.namespace), ("command", &of.command)]);
                let unit = distribution.is_time.then_some(unit);
                self.histogram(format!("{PREFIX}{}", distribution.name), labels, (distribution.of)(of.metric), unit);
            }
            for (code, count) in &of.results {
                let labels = self.labels([("namespace", of.namespace), ("command", &of.command), ("code", code)]);
                counter!(format!("{PREFIX}results"), labels).absolute(*count);
            }
        }
        Ok(())
    }
}

/// Exporters of Prometheus put `_total` behind the names of counters.
fn named<M>(prefix: &str, figure: &Figure<M>) -> String {
    format!("{prefix}{}", figure.name.trim_end_matches("_total"))
}

fn label(name: &str, value: &str) -> Label {
    Label::new(name.to_owned(), value.to_owned())
}
