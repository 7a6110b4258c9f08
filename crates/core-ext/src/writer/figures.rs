//! What a writer counts, by name and kind: the one list that exporters go by.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::counts::{WriterMetrics, WriterNodeMetrics};

/// Whether a figure only grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureKind {
    /// It counts since the writer was made.
    Counter,
    /// It is what there is now.
    Gauge,
}

/// A figure of [`WriterMetrics`], or ([`NODE_FIGURES`]) of [`WriterNodeMetrics`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Figure<M: 'static> {
    /// Its name: that of the field.
    pub name: &'static str,
    /// Whether it only grows.
    pub kind: FigureKind,
    /// What it is, in one line.
    pub help: &'static str,
    /// Its value; `None`: there is none at present.
    pub value: fn(&M) -> Option<f64>,
}

macro_rules! figures {
    ($($kind:ident $name:literal $help:literal = |$of:ident| $value:expr;)*) => {
        &[$(Figure { name: $name, kind: FigureKind::$kind, help: $help, value: |$of| $value },)*]
    };
}

/// Whole numbers up to 2^53 keep their value.
#[allow(clippy::cast_precision_loss, clippy::unnecessary_wraps)]
const fn count(value: u64) -> Option<f64> {
    Some(value as f64)
}

/// What the names of a writer's figures begin with where those of other things are beside them, and of its figures for a node.
pub(super) const PREFIX: &str = "aerolane_writer_";
pub(super) const NODE_PREFIX: &str = "aerolane_writer_node_";

/// The figures of a writer.
pub const FIGURES: &[Figure<WriterMetrics>] = figures! {
    Counter "handed_over" "Records that were handed over." = |of| count(of.progress.handed_over);
    Counter "ok" "Records that the server has confirmed." = |of| count(of.progress.ok);
    Counter "failed" "Records that have failed." = |of| count(of.progress.failed);
    Counter "in_doubt" "Failed records that may have been written all the same." = |of| count(of.in_doubt);
    Counter "expired" "Failed records whose time to live was over." = |of| count(of.expired);
    Gauge "outstanding" "Records without an outcome." = |of| count(of.progress.outstanding as u64);
    Gauge "outstanding_bytes" "Bytes of the records without an outcome, encoded." = |of| count(of.progress.outstanding_bytes as u64);
    Counter "bytes" "Bytes of all records that were handed over, encoded." = |of| count(of.bytes);
    Counter "requests" "Requests that were sent: batches and single commands." = |of| count(of.requests);
    Counter "single_requests" "Requests with one record." = |of| count(of.single_requests);
    Counter "attempts" "Attempts of records." = |of| count(of.attempts);
    Counter "retries" "Retries that count." = |of| count(of.retries);
    Counter "moved" "Attempts that met a moved partition." = |of| count(of.moved);
    Counter "throttled" "Attempts that were throttled." = |of| count(of.throttled);
    Counter "transient" "Attempts that ended in a transient failure." = |of| count(of.transient);
    Counter "permanent" "Attempts that ended in a permanent failure." = |of| count(of.permanent);
};

/// The figures of a writer for one node.
pub const NODE_FIGURES: &[Figure<WriterNodeMetrics>] = figures! {
    Counter "requests" "Requests that were sent to the node." = |of| count(of.requests);
    Counter "records" "Records that these requests held." = |of| count(of.records);
    Gauge "queued" "Records that wait to be sent to the node." = |of| count(of.queued as u64);
    Gauge "in_flight" "Requests in flight to the node." = |of| count(of.in_flight as u64);
    Gauge "records_per_second_limit" "The present limit of records a second, while there is one." = |of| of.records_per_second_limit;
    Counter "throttled" "Records that the node refused because it had too much to do." = |of| count(of.throttled);
};

impl WriterMetrics {
    /// The figures as a JSON object: their names and values, `elapsed` in seconds, and `nodes`, a list with an object for each node.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut all = object(FIGURES, self);
        all.insert("elapsed".to_owned(), json!(self.progress.elapsed.as_secs_f64()));
        let nodes = self.nodes.iter().map(|node| {
            let mut of = object(NODE_FIGURES, node);
            of.insert("node".to_owned(), json!(&*node.node));
            Value::Object(of)
        });
        all.insert("nodes".to_owned(), nodes.collect());
        Value::Object(all).to_string()
    }

    /// The figures in Prometheus's text format: `aerolane_writer_ok_total`, `aerolane_writer_outstanding`,
    /// `aerolane_writer_node_records_total{node="..."}`. `labels` are on each line; they tell one writer from another.
    #[must_use]
    pub fn to_prometheus(&self, labels: &[(&str, &str)]) -> String {
        let mut text = String::new();
        for figure in FIGURES {
            lines(&mut text, PREFIX, figure, [(self, String::new())].into_iter(), labels);
        }
        for figure in NODE_FIGURES {
            let nodes = self.nodes.iter().map(|node| (node, label("node", &node.node)));
            lines(&mut text, NODE_PREFIX, figure, nodes, labels);
        }
        text
    }
}

fn object<M>(figures: &[Figure<M>], of: &M) -> Map<String, Value> {
    let value = |figure: &Figure<M>| {
        // Counts are whole numbers in JSON, too.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        (figure.value)(of)
            .map_or(Value::Null, |value| if value.fract() == 0.0 { json!(value as u64) } else { json!(value) })
    };
    figures.iter().map(|figure| (figure.name.to_owned(), value(figure))).collect()
}

/// A figure of all that it is of, with its help and its type.
fn lines<'a, M: 'a>(
    text: &mut String,
    prefix: &str,
    figure: &Figure<M>,
    of: impl Iterator<Item = (&'a M, String)>,
    labels: &[(&str, &str)],
) {
    let (kind, suffix) = match figure.kind {
        FigureKind::Counter => ("counter", "_total"),
        FigureKind::Gauge => ("gauge", ""),
    };
    let name = format!("{prefix}{}{suffix}", figure.name);
    // Writing to a string does not fail.
    let _ = writeln!(text, "# HELP {name} {}\n# TYPE {name} {kind}", figure.help);
    for (metrics, own) in of {
        let Some(value) = (figure.value)(metrics) else { continue };
        let all = labels.iter().map(|(name, value)| label(name, value)).chain(Some(own).filter(|own| !own.is_empty()));
        let all = all.collect::<Vec<_>>().join(",");
        let _ =
            if all.is_empty() { writeln!(text, "{name} {value}") } else { writeln!(text, "{name}{{{all}}} {value}") };
    }
}

fn label(name: &str, value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("{name}=\"{value}\"")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::counts::Progress;
    use super::*;

    fn sample() -> WriterMetrics {
        let node = WriterNodeMetrics {
            node: "A1: \"one\":3000".into(),
            requests: 3,
            records: 40,
            queued: 1,
            in_flight: 2,
            records_per_second_limit: Some(12.5),
            throttled: 0,
        };
        let free = WriterNodeMetrics { node: "B2: two:3000".into(), records_per_second_limit: None, ..node.clone() };
        let elapsed = Duration::from_millis(1500);
        let progress = Progress { handed_over: 90, ok: 80, failed: 4, outstanding: 6, outstanding_bytes: 600, elapsed };
        WriterMetrics {
            progress,
            bytes: 1 << 53,
            in_doubt: 1,
            expired: 2,
            requests: 6,
            single_requests: 0,
            attempts: 81,
            retries: 5,
            moved: 1,
            throttled: 2,
            transient: 3,
            permanent: 4,
            nodes: vec![node, free],
        }
    }

    #[test]
    fn json_has_all_figures() {
        let text = sample().to_json();
        assert!(!text.contains('\n'));
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value.as_object().unwrap().len(), FIGURES.len() + 2);
        assert_eq!(value["bytes"], json!(1_u64 << 53));
        assert_eq!((&value["ok"], &value["elapsed"]), (&json!(80), &json!(1.5)));
        assert_eq!(value["nodes"][0]["node"], json!("A1: \"one\":3000"));
        assert_eq!(value["nodes"][0]["records_per_second_limit"], json!(12.5));
        assert_eq!(value["nodes"][1]["records_per_second_limit"], Value::Null);
    }

    #[test]
    fn prometheus_has_a_type_for_each_figure_and_labels_on_each_line() {
        let text = sample().to_prometheus(&[("job", "load")]);
        assert!(text.contains("# TYPE aerolane_writer_ok_total counter\naerolane_writer_ok_total{job=\"load\"} 80\n"));
        assert!(
            text.contains("# TYPE aerolane_writer_outstanding gauge\naerolane_writer_outstanding{job=\"load\"} 6\n")
        );
        assert!(text.contains("aerolane_writer_node_records_total{job=\"load\",node=\"A1: \\\"one\\\":3000\"} 40\n"));
        assert_eq!(text.matches("# TYPE").count(), FIGURES.len() + NODE_FIGURES.len());
        assert_eq!(text.matches("aerolane_writer_node_records_per_second_limit{").count(), 1);
        assert!(sample().to_prometheus(&[]).contains("\naerolane_writer_bytes_total 9007199254740992\n"));
    }
}
