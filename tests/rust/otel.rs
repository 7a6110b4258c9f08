//! Metrics through OpenTelemetry's SDK.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use aerolane::metrics::{MetricsExporter, MetricsPolicy, OpenTelemetryExporter};
use aerolane::writer::{FIGURES, NODE_FIGURES};
use aerolane::{SyncClient, WritePolicy, WriterOptions, as_bin};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Meter, MeterProvider};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData, ResourceMetrics, ScopeMetrics};
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider, Temporality};

use crate::common::{Patient, Target, policy};
use crate::measured;

/// Values by kind, name, unit and attributes.
type Values = BTreeMap<String, String>;

/// Keeps what was collected last.
#[derive(Clone, Default)]
struct Collected(Arc<Mutex<Values>>);

impl PushMetricExporter for Collected {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        let all = metrics.scope_metrics().flat_map(ScopeMetrics::metrics);
        *self.0.lock().unwrap() = all.flat_map(|metric| points(metric.name(), metric.unit(), metric.data())).collect();
        Ok(())
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }

    fn temporality(&self) -> Temporality {
        Temporality::Cumulative
    }
}

fn points(name: &str, unit: &str, data: &AggregatedMetrics) -> Vec<(String, String)> {
    let AggregatedMetrics::F64(data) = data else { panic!("{name}: {data:?}") };
    let named = |kind: &str, attributes: Vec<&KeyValue>, value: f64| {
        let mut attributes: Vec<_> = attributes.iter().map(|of| format!("{}={}", of.key, of.value)).collect();
        attributes.sort();
        (format!("{kind} {name} {unit} {}", attributes.join(",")), value.to_string())
    };
    match data {
        MetricData::Sum(sum) => {
            assert!(sum.is_monotonic(), "{name}");
            sum.data_points().map(|point| named("counter", point.attributes().collect(), point.value())).collect()
        }
        MetricData::Gauge(gauge) => {
            gauge.data_points().map(|point| named("gauge", point.attributes().collect(), point.value())).collect()
        }
        other => panic!("{name}: {other:?}"),
    }
}

/// What is collected from a meter when it is asked for.
struct Collector(SdkMeterProvider, Collected);

impl Collector {
    fn new() -> Self {
        let kept = Collected::default();
        let reader = PeriodicReader::builder(kept.clone()).with_interval(Duration::from_secs(3600)).build();
        Self(SdkMeterProvider::builder().with_reader(reader).build(), kept)
    }

    fn meter(&self) -> Meter {
        self.0.meter("test")
    }

    fn collect(&self) -> Values {
        self.0.force_flush().unwrap();
        self.1.0.lock().unwrap().clone()
    }
}

#[test]
fn opentelemetry_gets_the_figures_of_a_client() {
    let (target, client) = measured();
    let collector = Collector::new();
    let mut exporter = OpenTelemetryExporter::new(collector.meter(), [KeyValue::new("client", "a")]);
    exporter.export(&client.metrics()).unwrap();
    let first = collector.collect();
    let of = "client=a,db.namespace=test,db.operation.name";
    let put = format!("counter aerolane.client.commands 1 {of}=put,db.system.name=aerospike");
    let time = format!("counter aerolane.client.command.time s {of}=put,db.system.name=aerospike");
    let missing = format!(
        "counter aerolane.client.results 1 {of}=get,db.response.status_code=KEY_NOT_FOUND_ERROR,db.system.name=aerospike"
    );
    assert_eq!((&*first[&put], &*first[&missing]), ("2", "1"), "{first:?}");
    assert!((1e-6..120.0).contains(&number(&first[&time])), "{first:?}");
    assert_eq!(first["gauge aerolane.client.total_nodes 1 client=a,db.system.name=aerospike"], "1");
    let metrics = client.metrics();
    let (host, port) = metrics.nodes.keys().next().unwrap().rsplit_once(':').unwrap();
    let node = format!("client=a,db.system.name=aerospike,server.address={host},server.port={port}");
    assert!(number(&first[&format!("gauge aerolane.client.node.open_connections 1 {node}")]) >= 1.0, "{first:?}");
    assert!(number(&first[&format!("counter aerolane.client.node.bytes_sent By {node}")]) > 100.0, "{first:?}");

    client.put(&WritePolicy::patient(), &target.key(1), &[as_bin!("v", 1)]).unwrap();
    exporter.export(&client.metrics()).unwrap();
    exporter.export(&client.metrics()).unwrap();
    let second = collector.collect();
    assert_eq!((&*second[&put], &*second[&missing]), ("3", "1"), "what is new, once: {second:?}");

    // A second client with the same attributes, and metrics that count anew.
    let (_target, other) = measured();
    OpenTelemetryExporter::new(collector.meter(), [KeyValue::new("client", "a")]).export(&other.metrics()).unwrap();
    assert_eq!(collector.collect()[&put], "5", "two clients add up");
    client.disable_metrics();
    client.enable_metrics(MetricsPolicy::millis().with_operational(true));
    client.put(&WritePolicy::patient(), &target.key(1), &[as_bin!("v", 2)]).unwrap();
    exporter.export(&client.metrics()).unwrap();
    let last = collector.collect();
    assert_eq!((&*last[&put], &*last[&missing]), ("6", "2"), "one put more, and nothing is taken off: {last:?}");
}

fn number(value: &str) -> f64 {
    value.parse().unwrap()
}

#[test]
fn opentelemetry_gets_the_figures_of_a_writer_until_its_exporter_is_gone() {
    let target = Target::embedded(1);
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let writer = client.writer(WriterOptions::default()).unwrap();
    let collector = Collector::new();
    let exporter = OpenTelemetryExporter::new(collector.meter(), [KeyValue::new("job", "load")]);
    let export = writer.export_metrics(Duration::from_secs(3600), exporter).unwrap();
    for n in 0..10 {
        writer.put(&WritePolicy::patient(), &target.key(n), &[as_bin!("v", n)]).unwrap();
    }
    writer.flush().unwrap();
    let metrics = writer.metrics();

    let mut exporter = OpenTelemetryExporter::new(collector.meter(), [KeyValue::new("job", "other")]);
    exporter.export(&metrics).unwrap();
    let told: Values = collector.collect().into_iter().filter(|(name, _)| name.contains("job=other")).collect();
    let node = &metrics.nodes[0].node;
    assert_eq!(told.len(), FIGURES.len() + NODE_FIGURES.len() - 1, "all but the limit that there is not: {told:?}");
    assert!(!told.keys().any(|name| name.contains("records_per_second_limit")), "{told:?}");
    assert_eq!(told["counter aerolane.writer.ok 1 job=other"], "10");
    assert!(number(&told["counter aerolane.writer.bytes By job=other"]) > 100.0);
    assert_eq!(told["gauge aerolane.writer.outstanding 1 job=other"], "0");
    assert_eq!(told[&format!("counter aerolane.writer.node.records 1 job=other,node={node}")], "10");

    // A node that is not in a snapshot any more: its gauges go, what it has counted stays.
    let mut left = metrics.clone();
    left.nodes.clear();
    exporter.export(&left).unwrap();
    let told = collector.collect();
    assert!(!told.contains_key(&format!("gauge aerolane.writer.node.queued 1 job=other,node={node}")), "{told:?}");
    assert_eq!(told[&format!("counter aerolane.writer.node.records 1 job=other,node={node}")], "10");

    // Through the thread of exports, which drops the exporter at its end: the last snapshot counts, gauges have no value any more.
    assert!(writer.close(None).unwrap().is_empty());
    assert!(export.finish(Duration::from_secs(60)));
    assert_eq!(collector.collect()["counter aerolane.writer.ok 1 job=load"], "10");
    let deadline = Instant::now() + Duration::from_secs(60);
    while collector.collect().contains_key("gauge aerolane.writer.outstanding 1 job=load") {
        assert!(Instant::now() < deadline, "it still has a value");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(collector.collect().contains_key("gauge aerolane.writer.outstanding 1 job=other"));
}
