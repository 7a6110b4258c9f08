//! What a writer has counted, for OpenTelemetry.

use opentelemetry::KeyValue;

use super::counts::WriterMetrics;
use super::figures::{FIGURES, Figure, FigureKind, NODE_FIGURES};
use crate::metrics::{ExportError, Instrument, MetricsExporter, OpenTelemetryExporter, unit_of};

impl MetricsExporter<WriterMetrics> for OpenTelemetryExporter {
    fn export(&mut self, metrics: &WriterMetrics) -> Result<(), ExportError> {
        for figure in FIGURES {
            note(self, "writer.", figure, &[], metrics);
        }
        for node in &metrics.nodes {
            for figure in NODE_FIGURES {
                note(self, "writer.node.", figure, &[KeyValue::new("node", node.node.to_string())], node);
            }
        }
        self.show();
        Ok(())
    }
}

fn note<M>(exporter: &mut OpenTelemetryExporter, prefix: &str, figure: &Figure<M>, own: &[KeyValue], of: &M) {
    // A limit that there is not is no value, not 0.
    let Some(value) = (figure.value)(of) else { return };
    let is_counter = figure.kind == FigureKind::Counter;
    let name = format!("{prefix}{}", figure.name);
    exporter.note(&Instrument { name, unit: unit_of(figure.name), help: figure.help, is_counter }, own, value);
}
