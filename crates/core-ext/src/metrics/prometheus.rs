//! Snapshots in Prometheus's text format.

use std::fmt::Write as _;

use super::figures::{self, CLUSTER, DISTRIBUTIONS, Figure, NODE, PREFIX, unit_seconds};
use super::{ClusterMetrics, Histogram};

impl ClusterMetrics {
    /// The snapshot in Prometheus's text format, for a scrape. `labels` are on each line; they tell one client from another.
    ///
    /// * `aerolane_client_command_duration_seconds{namespace="..",command=".."}` and three more histograms, and
    ///   `aerolane_client_results_total{..,code=".."}`: of what was measured, so only while metrics are on with
    ///   [`MetricsPolicy::operational`](super::MetricsPolicy::operational)
    /// * `aerolane_client_node_connections_in_use{node=".."}` and the other figures of nodes and of the cluster: always
    ///
    /// The names are those of the Python package, and of the Grafana dashboard in `docs/grafana`. Serve it with
    /// [`PROMETHEUS_CONTENT_TYPE`](Self::PROMETHEUS_CONTENT_TYPE).
    #[must_use]
    pub fn to_prometheus(&self, labels: &[(&str, &str)]) -> String {
        let mut text = Text { out: String::new(), labels };
        for figure in CLUSTER {
            let name = text.family(figure, PREFIX);
            text.line(&name, &[], (figure.value)(self));
        }
        let mut nodes: Vec<_> = self.nodes.iter().collect();
        nodes.sort_by_key(|(address, _)| *address);
        for figure in NODE {
            let name = text.family(figure, &format!("{PREFIX}node_"));
            for (address, node) in &nodes {
                text.line(&name, &[("node", address)], (figure.value)(node));
            }
        }
        let unit = unit_seconds(self.cluster_aggregated.latency_unit);
        let name = format!("{PREFIX}connection_opening_seconds");
        text.header(&name, "How long it took to open connections.", "histogram");
        text.histogram(&name, &[], &self.cluster_aggregated.connection_opening, Some(unit));
        let measured = figures::measured(self);
        for distribution in DISTRIBUTIONS {
            let name = format!("{PREFIX}{}", distribution.name);
            text.header(&name, distribution.help, "histogram");
            for of in &measured {
                let own = [("namespace", of.namespace), ("command", &of.command)];
                text.histogram(&name, &own, (distribution.of)(of.metric), distribution.is_time.then_some(unit));
            }
        }
        let name = format!("{PREFIX}results_total");
        text.header(&name, "Answers by their result code.", "counter");
        for of in &measured {
            for (code, count) in &of.results {
                text.line(&name, &[("namespace", of.namespace), ("command", &of.command), ("code", code)], *count);
            }
        }
        text.out
    }

    /// The content type of [`to_prometheus`](Self::to_prometheus).
    pub const PROMETHEUS_CONTENT_TYPE: &'static str = "text/plain; version=0.0.4; charset=utf-8";
}

struct Text<'a> {
    out: String,
    labels: &'a [(&'a str, &'a str)],
}

// Writing to a string does not fail.
impl Text<'_> {
    fn header(&mut self, name: &str, help: &str, kind: &str) {
        let _ = writeln!(self.out, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn family<M>(&mut self, figure: &Figure<M>, prefix: &str) -> String {
        // `tends_total` has it already.
        let suffix = if figure.is_counter && !figure.name.ends_with("_total") { "_total" } else { "" };
        let name = format!("{prefix}{}{suffix}", figure.name);
        self.header(&name, figure.help, if figure.is_counter { "counter" } else { "gauge" });
        name
    }

    fn line(&mut self, name: &str, own: &[(&str, &str)], value: impl std::fmt::Display) {
        self.out.push_str(name);
        let all = self.labels.iter().chain(own);
        for (index, (label, value)) in all.enumerate() {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.out, "{}{label}=\"{value}\"", if index == 0 { '{' } else { ',' });
        }
        let end = if self.labels.is_empty() && own.is_empty() { "" } else { "}" };
        let _ = writeln!(self.out, "{end} {value}");
    }

    /// `unit`: of times, in seconds.
    fn histogram(&mut self, name: &str, own: &[(&str, &str)], histogram: &Histogram, unit: Option<f64>) {
        let bucket = format!("{name}_bucket");
        let scale = unit.unwrap_or(1.0);
        let mut total = 0;
        for (end, count) in figures::buckets(histogram, unit.is_some()) {
            total += count;
            let end = rounded(end as f64 * scale);
            self.line(&bucket, &[own, &[("le", &end)]].concat(), total);
        }
        self.line(&bucket, &[own, &[("le", "+Inf")]].concat(), histogram.count());
        self.line(&format!("{name}_sum"), own, histogram.sum() * scale);
        self.line(&format!("{name}_count"), own, histogram.count());
    }
}

/// With nine digits, so that `3 * 1e-6` is `0.000003`.
fn rounded(value: f64) -> String {
    let digits = 8 - value.log10().floor().max(-12.0) as i32;
    let text = format!("{value:.*}", digits.max(0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn bounds_have_no_noise() {
        let shown = [3.0 * 1e-6, 16.0 * 1e-3, 1.0, 65_536.0, 0.1 + 0.2, 4_294_967_296.0].map(rounded);
        assert_eq!(shown, ["0.000003", "0.016", "1", "65536", "0.3", "4294967296"]);
    }
}
