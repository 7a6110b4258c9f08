"""Exporters of what a writer counts: when they are called, what it costs if they fail or block, the five that ship."""

import asyncio
import io
import json
import logging
import re
import sys
import threading

import pytest
from conftest import eventually, logged

from aerolane import InvalidArgumentError, Key, WriterClosedError
from aerolane.exporters import InMemory, JsonLines, Logging, OpenTelemetry, Prometheus, WriterExporter
from aerolane.exporters.exporter import FIGURES, NODE_FIGURES

LONG = {"attempt_timeout": 60, "record_ttl": 60}
NEVER = 3600.0


@pytest.fixture
def writer(either, session):
    """A writer with time enough for a busy machine."""
    bulk = session.writer(**LONG)
    yield bulk
    either.run(bulk.close(60))


@pytest.fixture
def write(either, writer, set_name):
    """`write(count)`: so many records, confirmed."""

    def put(count):
        outcomes = [either.run(writer.put(Key("test", set_name, n), {"n": n})) for n in range(count)]
        either.run(writer.flush())
        assert all(outcome.ok for outcome in outcomes)

    return put


@pytest.fixture
def heard():
    """What is logged of exporters."""
    with logged("aerolane.metrics", level=logging.WARNING) as lines:
        yield lines


class Failing:
    def __init__(self):
        self.calls = 0

    def export(self, _snapshot):
        self.calls += 1
        raise ValueError("on purpose")


class Blocking:
    def __init__(self):
        self.began, self.released = threading.Event(), threading.Event()

    def export(self, _snapshot):
        self.began.set()
        self.released.wait()


def test_snapshots_come_after_each_interval_and_once_more_at_the_end(either, writer, write):
    kept = InMemory(keep=1000)
    assert isinstance(kept, WriterExporter) and kept.last is None
    writer.add_exporter(kept, 0.01)
    eventually(lambda: len(kept.snapshots) >= 3)
    write(100)
    eventually(lambda: kept.last["ok"] == 100)
    rarely = InMemory()
    writer.add_exporter(rarely, NEVER)
    assert either.run(writer.close()) == []
    assert rarely.last == kept.last
    final = writer.metrics()
    assert {name: value for name, value in rarely.last.items() if name != "elapsed"} == {
        name: value for name, value in final.items() if name != "elapsed"
    }


def test_the_end_comes_once(either, writer):
    kept = InMemory(keep=10)
    writer.add_exporter(kept, NEVER)
    either.run(writer.close())
    either.run(writer.close())
    assert len(kept.snapshots) == 1
    with pytest.raises(WriterClosedError):
        writer.add_exporter(kept)


def test_one_that_is_removed_gets_no_more(writer, write):
    kept = InMemory()
    writer.add_exporter(kept, 0.01)
    eventually(lambda: kept.last is not None)
    assert writer.remove_exporter(kept) is True
    assert writer.remove_exporter(kept) is False
    threads = [thread for thread in threading.enumerate() if thread.name == "aerolane-export"]
    eventually(lambda: not any(thread.is_alive() for thread in threads))


def test_one_that_fails_costs_no_record(writer, write, heard):
    failing = Failing()
    writer.add_exporter(failing, 0.01)
    eventually(lambda: failing.calls >= 4, lambda: str(failing.calls))
    write(500)
    assert writer.progress().ok == 500
    eventually(lambda: any("suspended" in line for line in heard), lambda: str(heard))
    assert any("on purpose" in line for line in heard)


def test_one_that_blocks_costs_no_record(either, writer, write, heard):
    blocking, kept = Blocking(), InMemory()
    writer.add_exporter(blocking, 0.01)
    assert blocking.began.wait(60)
    writer.add_exporter(kept, 0.01)
    write(500)
    eventually(lambda: kept.last is not None and kept.last["ok"] == 500)
    try:
        # This waits for some seconds, and then no longer.
        assert either.run(writer.close()) == []
        assert writer.closed and writer.progress().ok == 500
        eventually(lambda: any("not done with the last snapshot" in line for line in heard), lambda: str(heard))
    finally:
        blocking.released.set()


def test_what_is_no_exporter_is_refused(either, writer):
    with pytest.raises(TypeError, match=r"no method export\(\)"):
        writer.add_exporter(object())
    with pytest.raises(InvalidArgumentError):
        writer.add_exporter(InMemory(), 0)
    with pytest.raises(InvalidArgumentError):
        writer.add_exporter(InMemory(), -1)
    with pytest.raises(InvalidArgumentError):
        writer.add_exporter(InMemory(), float("nan"))
    with pytest.raises(ValueError):
        InMemory(0)

    class Async:
        async def export(self, _snapshot):
            pass

    with pytest.raises(TypeError if either.kind == "sync" else RuntimeError):
        writer.add_exporter(Async())


def test_async_exporters_run_on_the_loop(either, session, set_name):
    if either.kind == "sync":
        pytest.skip("of writers for asyncio")

    class OnLoop:
        def __init__(self):
            self.got, self.loops = [], set()

        async def export(self, snapshot):
            self.loops.add(asyncio.get_running_loop())
            self.got.append(snapshot)

    async def run():
        kept = OnLoop()
        async with session.writer(**LONG) as bulk:
            bulk.add_exporter(kept, NEVER)
            for n in range(100):
                await bulk.put(Key("test", set_name, n), {"n": n})
        assert kept.loops == {asyncio.get_running_loop()}
        return kept.got

    (last,) = either.run(run())
    assert last["ok"] == 100


def test_figures_are_those_of_the_snapshots(writer, write):
    write(50)
    metrics = writer.metrics()
    assert {figure.name for figure in FIGURES} == metrics.keys() - {"elapsed", "nodes"}
    assert {figure.name for figure in NODE_FIGURES} == metrics["nodes"][0].keys() - {"node"}


def test_logging(writer, write):
    with logged("aerolane.writer", level=logging.INFO, kept=lambda record: record) as records:
        writer.add_exporter(Logging(), 0.01)
        write(20)
        eventually(lambda: any(record.aerolane_writer["ok"] == 20 for record in records))
    assert re.search(r"handed_over 20, ok 20, failed 0", records[-1].getMessage())


def test_json_lines(either, writer, write, tmp_path):
    path = tmp_path / "metrics.jsonl"
    with JsonLines(path, fields={"job": "load"}) as exporter:
        writer.add_exporter(exporter, NEVER)
        write(20)
        either.run(writer.close())
    (line,) = map(json.loads, path.read_text().splitlines())
    assert (line["ok"], line["job"]) == (20, "load") and line["time"] > 1e9
    assert sum(node["records"] for node in line["nodes"]) == 20
    with pytest.raises(ValueError, match="ok is the name of a figure"):
        JsonLines(io.StringIO(), fields={"ok": "1"})


def test_json_lines_in_the_embedded_metric_format(writer, write):
    stream = io.StringIO()
    write(20)
    JsonLines(stream, fields={"job": "load"}, cloudwatch_namespace="Bulk").export(writer.metrics())
    line = json.loads(stream.getvalue())
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "Bulk" and directive["Dimensions"] == [["job"]]
    assert line["_aws"]["Timestamp"] == pytest.approx(line["time"] * 1000, abs=1)
    assert len(directive["Metrics"]) == len(FIGURES) <= 100, "CloudWatch takes no more in one directive"
    for metric in directive["Metrics"]:
        assert isinstance(line[metric["Name"]], (int, float))


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
def test_a_full_disk_costs_no_record(either, writer, write, heard):
    with JsonLines("/dev/full") as exporter:
        writer.add_exporter(exporter, 0.01)
        eventually(lambda: any("No space left" in line for line in heard), lambda: str(heard))
        write(100)
        either.run(writer.close())
    assert writer.progress().ok == 100


def test_prometheus(writer, write):
    client = pytest.importorskip("prometheus_client")
    registry = client.CollectorRegistry()
    exporter = Prometheus(registry, labels={"job": "load"})
    other = Prometheus(registry, labels={"job": "other"})
    assert client.generate_latest(registry) == b""
    write(30)
    for one in (exporter, other):
        one.export(writer.metrics())
    assert registry.get_sample_value("aerolane_writer_ok_total", {"job": "load"}) == 30
    assert registry.get_sample_value("aerolane_writer_outstanding", {"job": "other"}) == 0
    nodes = writer.metrics()["nodes"]
    for node in nodes:
        labels = {"job": "load", "node": node["node"]}
        assert registry.get_sample_value("aerolane_writer_node_records_total", labels) == node["records"]
        assert registry.get_sample_value("aerolane_writer_node_records_per_second_limit", labels) is None
    other.close()
    assert registry.get_sample_value("aerolane_writer_ok_total", {"job": "other"}) is None


def test_opentelemetry(writer, write):
    export = pytest.importorskip("opentelemetry.sdk.metrics.export")
    from opentelemetry.sdk.metrics import MeterProvider

    reader = export.InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    exporter = OpenTelemetry(provider, attributes={"job": "load"})
    write(30)
    exporter.export(writer.metrics())
    (resource,) = reader.get_metrics_data().resource_metrics
    found = {metric.name: metric.data.data_points for scope in resource.scope_metrics for metric in scope.metrics}
    (ok,) = found["aerolane.writer.ok"]
    assert ok.value == 30 and dict(ok.attributes) == {"job": "load"}
    assert sum(point.value for point in found["aerolane.writer.node.records"]) == 30
    assert "aerolane.writer.outstanding" in found
    provider.shutdown()


@pytest.mark.parametrize(
    ("make", "package"), [(Prometheus, "prometheus_client.core"), (OpenTelemetry, "opentelemetry.metrics")]
)
def test_packages_are_asked_for_by_name(make, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match="pip install"):
        make()
