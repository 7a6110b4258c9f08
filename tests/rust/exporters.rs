//! Metrics as Prometheus's text, at its endpoint, and through the crates `metrics` and `opentelemetry`.

#[path = "common/mod.rs"]
mod common;
mod otel;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use aerolane::metrics::{ClusterMetrics, FacadeExporter, MetricsExporter, MetricsPolicy, PrometheusEndpoint};
use aerolane::writer::{FIGURES, NODE_FIGURES};
use aerolane::{Bins, ReadPolicy, SyncClient, WritePolicy, WriterOptions, as_bin};
use common::{Patient, Target, policy};
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit,
};

/// A client that has written two records, read one, and asked for one that is missing.
fn measured() -> (Target, SyncClient) {
    let target = Target::embedded(1);
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    client.enable_metrics(MetricsPolicy::micros().with_operational(true));
    for n in 0..2 {
        client.put(&WritePolicy::patient(), &target.key(n), &[as_bin!("v", n)]).unwrap();
    }
    client.get(&ReadPolicy::patient(), &target.key(0), Bins::All).unwrap();
    client.get(&ReadPolicy::patient(), &target.key(404), Bins::All).unwrap_err();
    (target, client)
}

#[test]
fn text_has_a_type_for_each_family_and_labels_on_each_line() {
    let (_target, client) = measured();
    let text = client.metrics().to_prometheus(&[("client", "a \"b\"")]);
    let mut families = BTreeSet::new();
    for line in text.lines() {
        if let Some(family) = line.strip_prefix("# TYPE ") {
            assert!(families.insert(family.split(' ').next().unwrap()), "{family} comes twice");
        } else if !line.starts_with('#') {
            let name = line.split(['{', ' ']).next().unwrap();
            let of = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
            assert!(families.contains(of) || families.contains(name), "{line}");
            assert!(line.contains(r#"{client="a \"b\"""#), "{line}");
            line.rsplit(' ').next().unwrap().parse::<f64>().unwrap();
        }
    }
    let has = |line: &str| assert!(text.contains(line), "{line}\n{text}");
    has(r#"aerolane_client_command_duration_seconds_count{client="a \"b\"",namespace="test",command="put"} 2"#);
    has(r#"command="put",le="+Inf"} 2"#);
    has(r#"command="get",code="KEY_NOT_FOUND_ERROR"} 1"#);
    has(r#"command="get",code="OK"} 1"#);
    has("# TYPE aerolane_client_node_tends_total counter\n");
    has(r#"aerolane_client_total_nodes{client="a \"b\""} 1"#);
}

#[test]
fn the_dashboard_has_only_names_of_the_text() {
    let (_target, client) = measured();
    let text = client.metrics().to_prometheus(&[]);
    let dashboard = include_str!("../../docs/grafana/aerolane.json");
    let names = dashboard.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let names: BTreeSet<_> = names.filter(|name| name.starts_with("aerolane_client_")).collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        assert!(text.lines().any(|line| line.split(['{', ' ']).next() == Some(name)), "{name}");
    }
}

fn ask(endpoint: &PrometheusEndpoint, request: &str) -> String {
    let mut stream = TcpStream::connect(endpoint.local_addr()).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_endpoint_answers_scrapes_and_ends() {
    let (_target, client) = measured();
    let endpoint = PrometheusEndpoint::bind("127.0.0.1:0", move || client.metrics().to_prometheus(&[])).unwrap();
    let answer = ask(&endpoint, "GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n");
    let (head, text) = answer.split_once("\r\n\r\n").unwrap();
    assert!(
        head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains(ClusterMetrics::PROMETHEUS_CONTENT_TYPE),
        "{head}"
    );
    assert!(head.contains(&format!("Content-Length: {}", text.len())) && text.contains("command=\"put\""), "{head}");
    assert!(ask(&endpoint, "HEAD /metrics?x=1 HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n"));
    assert!(ask(&endpoint, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert!(ask(&endpoint, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
    assert!(ask(&endpoint, "\r\n\r\n").starts_with("HTTP/1.1 405 "));
    // A connection that says nothing holds up none that comes later for long, and none is left behind.
    drop(TcpStream::connect(endpoint.local_addr()).unwrap());
    assert!(ask(&endpoint, "GET /metrics HTTP/1.0\r\n\r\n").contains("200 OK"));
    let at = endpoint.local_addr();
    drop(endpoint);
    assert!(TcpStream::connect(at).is_err(), "it still listens");
}

/// Keeps what it is told, by name and labels.
#[derive(Default)]
struct Kept(Arc<Mutex<BTreeMap<String, Vec<f64>>>>);

struct Cell(Arc<Mutex<BTreeMap<String, Vec<f64>>>>, String);

impl Cell {
    fn with(&self, change: impl FnOnce(&mut Vec<f64>)) {
        change(self.0.lock().unwrap().entry(self.1.clone()).or_default());
    }
}

impl CounterFn for Cell {
    fn increment(&self, _: u64) {
        panic!("counters are set to their absolute value");
    }

    fn absolute(&self, value: u64) {
        self.with(|values| *values = vec![value as f64]);
    }
}

impl GaugeFn for Cell {
    fn increment(&self, _: f64) {}

    fn decrement(&self, _: f64) {}

    fn set(&self, value: f64) {
        self.with(|values| *values = vec![value]);
    }
}

impl HistogramFn for Cell {
    fn record(&self, value: f64) {
        self.with(|values| values.push(value));
    }
}

impl Kept {
    fn cell(&self, key: &Key) -> Arc<Cell> {
        let labels: Vec<_> = key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        Arc::new(Cell(Arc::clone(&self.0), format!("{} {}", key.name(), labels.join(","))))
    }
}

impl Recorder for Kept {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.cell(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.cell(key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.cell(key))
    }
}

#[test]
fn a_recorder_of_the_facade_gets_each_value_once() {
    let (target, client) = measured();
    let (recorder, mut exporter) = (Kept::default(), FacadeExporter::new(&[("client", "a")]));
    let mut export = || {
        metrics::with_local_recorder(&recorder, || exporter.export(&client.metrics()).unwrap());
        recorder.0.lock().unwrap().clone()
    };
    let first = export();
    let puts = "aerolane_client_command_duration_seconds client=a,namespace=test,command=put";
    let results = "aerolane_client_results client=a,namespace=test,command=put,code=OK";
    assert_eq!((first[puts].len(), &*first[results]), (2, &[2.0][..]), "{first:?}");
    assert!(first[puts].iter().all(|seconds| (1e-6..60.0).contains(seconds)), "{first:?}");
    assert_eq!(first["aerolane_client_total_nodes client=a"], [1.0]);

    client.put(&WritePolicy::patient(), &target.key(1), &[as_bin!("v", 1)]).unwrap();
    let second = export();
    assert_eq!((second[puts].len(), &*second[results]), (3, &[3.0][..]));
    assert_eq!(export()[puts].len(), 3);
}

#[test]
fn a_recorder_of_the_facade_gets_the_figures_of_a_writer() {
    let target = Target::embedded(1);
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let writer = client.writer(WriterOptions::default()).unwrap();
    for n in 0..10 {
        writer.put(&WritePolicy::patient(), &target.key(n), &[as_bin!("v", n)]).unwrap();
    }
    writer.flush().unwrap();
    let (recorder, mut exporter) = (Kept::default(), FacadeExporter::new(&[("job", "load")]));
    let metrics = writer.metrics();
    metrics::with_local_recorder(&recorder, || exporter.export(&metrics).unwrap());
    let told = recorder.0.lock().unwrap().clone();
    assert_eq!(told.len(), FIGURES.len() + NODE_FIGURES.len(), "{told:?}");
    assert_eq!(told["aerolane_writer_ok job=load"], [10.0]);
    assert_eq!(told["aerolane_writer_outstanding job=load"], [0.0]);
    let of_node = |name: &str| &told[&format!("aerolane_writer_node_{name} job=load,node={}", metrics.nodes[0].node)];
    assert_eq!(of_node("records"), &[10.0]);
    assert!(of_node("records_per_second_limit")[0].is_nan(), "there is no limit");
}
