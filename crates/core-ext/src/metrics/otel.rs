//! The exporter for OpenTelemetry: instruments of a meter that the program provides.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Meter};

use super::figures::{self, CLUSTER, Figure, NODE, unit_seconds};
use super::{ClusterMetrics, ExportError, MetricsExporter};
use crate::sync::Mutex;

/// The values of each gauge, with their attributes.
type Gauges = HashMap<String, Vec<(f64, Vec<KeyValue>)>>;

/// Hands snapshots to the instruments of an OpenTelemetry [`Meter`].
///
/// For clients and for writers ([`export_metrics`](crate::Writer::export_metrics)), under the names that Python's
/// `OpenTelemetryInstruments` and `OpenTelemetry` have:
///
/// * `aerolane.client.commands`, `aerolane.client.command.time` (their sum, in seconds) and `aerolane.client.results`, with the
///   attributes `db.namespace`, `db.operation.name` and `db.response.status_code`; figures of nodes such as
///   `aerolane.client.node.connections_in_use`, with `server.address` and `server.port`; those of the cluster, such as
///   `aerolane.client.total_nodes`. All have `db.system.name`
/// * `aerolane.writer.ok`, `aerolane.writer.outstanding` and the others of [`FIGURES`](crate::writer::FIGURES);
///   `aerolane.writer.node.records` and the others of [`NODE_FIGURES`](crate::writer::NODE_FIGURES), with the attribute `node`
///
/// Counters grow by what is new in each snapshot, so several clients or writers with the same attributes add up. A gauge shows
/// the last snapshot until the exporter is dropped. How long commands take is a sum and a count: OpenTelemetry cannot take a
/// histogram that was made elsewhere.
///
/// A meter cannot remove an instrument: it keeps a callback for each gauge when the exporter is gone. Make one exporter for each
/// client, and for writers that live long.
///
/// ```no_run
/// # use std::time::Duration;
/// # use aerolane::*;
/// # use aerolane::metrics::{MetricsPolicy, OpenTelemetryExporter};
/// # fn demo(client: &SyncClient) -> Result<()> {
/// use opentelemetry::{KeyValue, global};
///
/// client.enable_metrics(MetricsPolicy::micros().with_operational(true));
/// let exporter = OpenTelemetryExporter::new(global::meter("orders"), [KeyValue::new("client", "orders")]);
/// let export = client.export_metrics(Duration::from_secs(10), exporter)?;
/// # drop(export);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct OpenTelemetryExporter {
    meter: Meter,
    attributes: Vec<KeyValue>,
    counters: HashMap<String, Counter<f64>>,
    /// What has been counted, by name and the values of the attributes.
    counted: HashMap<(String, Vec<String>), f64>,
    /// The names of the gauges that the meter has.
    gauges: HashSet<String>,
    /// What the gauges show: callbacks of the meter have no more than a weak reference.
    shown: Arc<Mutex<Gauges>>,
    /// What they will show after this snapshot.
    next: Gauges,
}

/// A figure as an instrument.
pub(crate) struct Instrument<'a> {
    /// What its name has behind `aerolane.`.
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    pub(crate) help: &'a str,
    pub(crate) is_counter: bool,
}

impl OpenTelemetryExporter {
    /// `attributes` are on all values; they tell one client or writer from another.
    #[must_use]
    pub fn new(meter: Meter, attributes: impl IntoIterator<Item = KeyValue>) -> Self {
        Self {
            meter,
            attributes: attributes.into_iter().collect(),
            counters: HashMap::new(),
            counted: HashMap::new(),
            gauges: HashSet::new(),
            shown: Arc::default(),
            next: HashMap::new(),
        }
    }

    /// Notes the value of a figure. `own`: its attributes beside those of all.
    pub(crate) fn note(&mut self, of: &Instrument<'_>, own: &[KeyValue], value: f64) {
        let name = format!("aerolane.{}", of.name);
        let attributes: Vec<_> = self.attributes.iter().chain(own).cloned().collect();
        if of.is_counter {
            let counter = self.counters.entry(name.clone()).or_insert_with(|| {
                self.meter.f64_counter(name.clone()).with_unit(of.unit).with_description(of.help.to_owned()).build()
            });
            let own = own.iter().map(|own| own.value.to_string()).collect();
            let before = self.counted.entry((name, own)).or_default();
            // What is less than before counts from 0 again: a node that left and came back, metrics in another unit. If it has
            // caught up since the last snapshot, that does not show.
            counter.add(if value < *before { value } else { value - *before }, &attributes);
            *before = value;
        } else {
            if self.gauges.insert(name.clone()) {
                self.add_gauge(name.clone(), of);
            }
            self.next.entry(name).or_default().push((value, attributes));
        }
    }

    /// All figures of a snapshot are noted.
    pub(crate) fn show(&mut self) {
        *self.shown.lock() = std::mem::take(&mut self.next);
    }

    fn add_gauge(&self, name: String, of: &Instrument<'_>) {
        let shown = Arc::downgrade(&self.shown);
        let gauge = self.meter.f64_observable_gauge(name.clone()).with_unit(of.unit);
        let gauge = gauge.with_description(of.help.to_owned()).with_callback(move |observer| {
            let Some(shown) = shown.upgrade() else { return };
            for (value, attributes) in shown.lock().get(&name).into_iter().flatten() {
                observer.observe(*value, attributes);
            }
        });
        // The meter keeps the callback.
        gauge.build();
    }

    fn figure<M>(&mut self, prefix: &str, figure: &Figure<M>, own: &[KeyValue], of: &M) {
        let name = format!("{prefix}{}", figure.name);
        let instrument =
            Instrument { name, unit: unit_of(figure.name), help: figure.help, is_counter: figure.is_counter };
        self.note(&instrument, own, (figure.value)(of) as f64);
    }
}

impl MetricsExporter for OpenTelemetryExporter {
    fn export(&mut self, metrics: &ClusterMetrics) -> Result<(), ExportError> {
        let system = [KeyValue::new("db.system.name", "aerospike")];
        for figure in CLUSTER {
            self.figure("client.", figure, &system, metrics);
        }
        for (address, node) in &metrics.nodes {
            let (host, port) = address.rsplit_once(':').unwrap_or((address, ""));
            let mut own = system.to_vec();
            own.push(KeyValue::new("server.address", host.to_owned()));
            own.extend(port.parse().ok().map(|port: i64| KeyValue::new("server.port", port)));
            for figure in NODE {
                self.figure("client.node.", figure, &own, node);
            }
        }
        let unit = unit_seconds(metrics.cluster_aggregated.latency_unit);
        for of in figures::measured(metrics) {
            let mut own = system.to_vec();
            own.push(KeyValue::new("db.namespace", of.namespace.to_owned()));
            own.push(KeyValue::new("db.operation.name", of.command));
            let counter =
                |name: &str, unit, help| Instrument { name: format!("client.{name}"), unit, help, is_counter: true };
            let latency = &of.metric.latency;
            self.note(&counter("commands", "1", "Answers, failures included."), &own, latency.count() as f64);
            let time = counter("command.time", "s", "How long all answers took together.");
            self.note(&time, &own, latency.sum() * unit);
            for (code, count) in of.results {
                let mut own = own.clone();
                own.push(KeyValue::new("db.response.status_code", code));
                self.note(&counter("results", "1", "Answers by their result code."), &own, count as f64);
            }
        }
        self.show();
        Ok(())
    }
}

/// The unit of a figure with this name.
pub(crate) fn unit_of(name: &str) -> &'static str {
    if name.contains("bytes") { "By" } else { "1" }
}
