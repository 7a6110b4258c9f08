"""Metrics of clients as Prometheus and OpenTelemetry show them."""

import importlib
import json
import re
from pathlib import Path

import pytest

import aerolane
from aerolane import exceptions, native, sync
from aerolane.metrics import LatencyUnit, MetricsPolicy
from aerolane.observability import OpenTelemetryInstruments, PrometheusCollector, source

DASHBOARD = Path(__file__).parents[2] / "docs/grafana/aerolane.json"


@pytest.fixture
def measured(connect, key):
    """A native client that has measured two reads, one of them in vain, and a write."""
    client = connect()
    client.enable_metrics(MetricsPolicy(latency_unit=LatencyUnit.MICROSECONDS, latency_columns=24, operational=True))
    client.put_blocking(key, {"a": 1})
    client.get_blocking(key)
    with pytest.raises(exceptions.RecordNotFoundError):
        client.get_blocking(aerolane.Key(key.namespace, key.set_name, "another"))
    return client


@pytest.fixture
def registry():
    return pytest.importorskip("prometheus_client").CollectorRegistry()


def test_prometheus_shows_commands_nodes_and_the_cluster(measured, registry):
    PrometheusCollector(measured, registry, labels={"app": "shop"})
    gets = {"app": "shop", "namespace": "test", "command": "get"}
    duration = "aerolane_client_command_duration_seconds"
    assert registry.get_sample_value(f"{duration}_count", gets) == 2
    assert registry.get_sample_value(f"{duration}_bucket", {**gets, "le": "+Inf"}) == 2
    latency = measured.metrics().cluster_aggregated.command_histogram(native.CommandType.GET)
    assert registry.get_sample_value(f"{duration}_sum", gets) == pytest.approx(latency.sum / 1e6)
    results = [
        registry.get_sample_value("aerolane_client_results_total", {**gets, "code": code})
        for code in ("OK", "KEY_NOT_FOUND_ERROR", "TIMEOUT")
    ]
    assert results == [1, 1, None]
    nodes = measured.metrics().nodes
    for address, node in nodes.items():
        labels = {"app": "shop", "node": address}
        shown = registry.get_sample_value("aerolane_client_node_connections_successful_total", labels)
        assert shown == node.connections_successful
    assert registry.get_sample_value("aerolane_client_total_nodes", {"app": "shop"}) == len(nodes)
    assert registry.get_sample_value("aerolane_client_request_size_bytes_sum", gets) > 100


def test_buckets_of_prometheus_hold_what_their_names_say(measured, registry):
    """Times are cut off to whole microseconds, so a bucket ends where the next microsecond begins."""
    PrometheusCollector(measured, registry)
    histogram = measured.metrics().cluster_aggregated.command_histogram(native.CommandType.PUT)
    (family,) = (one for one in registry.collect() if one.name == "aerolane_client_command_duration_seconds")
    puts = [one for one in family.samples if one.labels.get("command") == "put" and one.name.endswith("_bucket")]
    ends = [float(one.labels["le"]) for one in puts]
    assert ends[:-1] == pytest.approx([(bound + 1) / 1e6 for bound in histogram.bounds]) and ends[-1] == float("inf")
    counts = [one.value for one in puts]
    assert counts == sorted(counts) and counts[-1] == 1
    assert counts[0] == histogram.buckets[0]


def test_each_metric_says_what_it_is(measured, registry):
    PrometheusCollector(measured, registry)
    families = list(registry.collect())
    assert len(families) == len({one.name for one in families}) > 40
    assert all(one.documentation and not one.documentation.startswith("Gauge") for one in families)
    text = pytest.importorskip("prometheus_client").generate_latest(registry).decode()
    assert "# TYPE aerolane_client_node_tends_total counter" in text
    assert "# TYPE aerolane_client_node_connections_in_use gauge" in text


def test_a_collector_can_be_taken_out_of_its_registry(measured, registry):
    collector = PrometheusCollector(measured, registry)
    collector.close()
    assert list(registry.collect()) == []
    with pytest.raises(KeyError):
        collector.close()


def test_a_cluster_is_a_source_as_well_until_it_is_closed(seeds, registry):
    host, _, port = seeds.split(",")[0].rpartition(":")
    with sync.ClusterDefinition(host, int(port)).connect() as cluster:
        PrometheusCollector(cluster, registry)
        assert registry.get_sample_value("aerolane_client_total_nodes") >= 1
    assert list(registry.collect()) == []


def test_opentelemetry_shows_the_same(measured):
    export = pytest.importorskip("opentelemetry.sdk.metrics.export")
    from opentelemetry.sdk.metrics import MeterProvider

    reader = export.InMemoryMetricReader()
    provider = MeterProvider([reader])
    OpenTelemetryInstruments(measured, provider, attributes={"app": "shop"})
    (resource,) = reader.get_metrics_data().resource_metrics
    shown = {metric.name: metric for scope in resource.scope_metrics for metric in scope.metrics}
    commands = {
        point.attributes["db.operation.name"]: point for point in shown["aerolane.client.commands"].data.data_points
    }
    assert {name: point.value for name, point in commands.items()} == {"get": 2, "put": 1}
    assert dict(commands["put"].attributes) == {
        "app": "shop",
        "db.system.name": "aerospike",
        "db.namespace": "test",
        "db.operation.name": "put",
    }
    spent = shown["aerolane.client.command.time"]
    assert spent.unit == "s" and all(0 < point.value < 60 for point in spent.data.data_points)
    codes = {point.attributes["db.response.status_code"] for point in shown["aerolane.client.results"].data.data_points}
    assert codes == {"OK", "KEY_NOT_FOUND_ERROR"}
    ports = {point.attributes["server.port"] for point in shown["aerolane.client.node.requests"].data.data_points}
    assert ports == {int(address.rpartition(":")[2]) for address in measured.metrics().nodes}
    assert all(metric.description for metric in shown.values())
    provider.shutdown()


@pytest.mark.parametrize("make", [PrometheusCollector, OpenTelemetryInstruments])
def test_what_has_no_metrics_is_refused(make, registry):
    with pytest.raises(TypeError, match="has no metrics"):
        make("localhost:3000", registry)


@pytest.mark.parametrize(
    ("make", "package"),
    [(PrometheusCollector, "prometheus_client.core"), (OpenTelemetryInstruments, "opentelemetry.metrics")],
)
def test_a_package_that_is_missing_is_named(make, package, measured, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ImportError, match=r"pip install (prometheus-client|opentelemetry-api)"):
        make(measured)


def test_every_figure_has_a_text():
    for figure in (*source.CLUSTER_FIGURES, *source.NODE_FIGURES):
        assert figure.help, figure.name
    assert len(source.COMMANDS) == 12 and len(source.CODES) > 60


def test_the_dashboard_shows_metrics_that_exist(measured, registry):
    PrometheusCollector(measured, registry)
    names = {sample.name for family in registry.collect() for sample in family.samples}
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    asked = {
        name for panel in panels for target in panel["targets"] for name in re.findall(r"aerolane_\w+", target["expr"])
    }
    assert len(panels) >= 8 and asked <= names
