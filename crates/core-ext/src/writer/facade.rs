//! What a writer has counted, for the crate `metrics`.

use metrics::{Label, counter, describe_counter, describe_gauge, gauge};

use super::counts::WriterMetrics;
use super::figures::{FIGURES, Figure, FigureKind, NODE_FIGURES, NODE_PREFIX, PREFIX};
use crate::metrics::{ExportError, FacadeExporter, MetricsExporter};

impl MetricsExporter<WriterMetrics> for FacadeExporter {
    fn export(&mut self, metrics: &WriterMetrics) -> Result<(), ExportError> {
        if self.begins() {
            describe(PREFIX, FIGURES);
            describe(NODE_PREFIX, NODE_FIGURES);
        }
        for figure in FIGURES {
            record(PREFIX, figure, self.labels([]), metrics);
        }
        for node in &metrics.nodes {
            for figure in NODE_FIGURES {
                record(NODE_PREFIX, figure, self.labels([("node", &node.node)]), node);
            }
        }
        Ok(())
    }
}

fn record<M>(prefix: &str, figure: &Figure<M>, labels: Vec<Label>, of: &M) {
    let (name, value) = (format!("{prefix}{}", figure.name), (figure.value)(of));
    match figure.kind {
        // Counts are whole numbers up to 2^53.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        FigureKind::Counter => counter!(name, labels).absolute(value.unwrap_or_default() as u64),
        // A limit that there is not: not 0, which would be the lowest.
        FigureKind::Gauge => gauge!(name, labels).set(value.unwrap_or(f64::NAN)),
    }
}

fn describe<M>(prefix: &str, figures: &[Figure<M>]) {
    for figure in figures {
        let name = format!("{prefix}{}", figure.name);
        match figure.kind {
            FigureKind::Counter => describe_counter!(name, figure.help),
            FigureKind::Gauge => describe_gauge!(name, figure.help),
        }
    }
}
