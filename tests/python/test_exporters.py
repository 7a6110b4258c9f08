"""Exporters of metrics: who is called when, what happens to those that fail, and what is written to files."""

import asyncio
import gc
import logging
import os
import re
import subprocess
import sys
import threading
import time
import weakref
from datetime import timedelta

import pytest
from conftest import eventually, logged
from hangs import end_child_if_hung

from aerolane import ClusterDefinition, Key, sync
from aerolane.exceptions import ClientClosedError, InvalidArgumentError
from aerolane.metrics import AsyncMetricsExporter, MetricsExporter, MetricsPolicy, MetricsSnapshot, MetricsWriter
from aerolane.policy import MetricsSettings, SystemSettings
from aerolane.testing import EmbeddedCluster

SHORT = timedelta(milliseconds=20)
LONG = timedelta(hours=1)


class Kept:
    """Keeps what it gets."""

    def __init__(self):
        self.got, self.threads = [], set()

    def export(self, snapshot):
        self.threads.add(threading.current_thread())
        self.got.append(snapshot)


class KeptAsync:
    def __init__(self):
        self.got, self.loops = [], set()

    async def export(self, snapshot):
        await asyncio.sleep(0)
        self.loops.add(asyncio.get_running_loop())
        self.got.append(snapshot)


class Failing:
    """Raises what it is told to at each call; `None`: it works."""

    def __init__(self, *errors):
        self.errors, self.calls = list(errors), 0

    def export(self, _snapshot):
        self.calls += 1
        error = self.errors.pop(0) if len(self.errors) > 1 else self.errors[0]
        if error is not None:
            raise error


@pytest.fixture
def where(seeds):
    host, _, port = seeds.split(",")[0].rpartition(":")
    return host, int(port)


@pytest.fixture
def connect(where):
    """`connect(**settings)`: a cluster for code without async, whose metrics are on."""
    clusters = []

    def connected(**settings):
        metrics = MetricsSettings(**{"enabled": True, "export_interval": SHORT} | settings)
        definition = sync.ClusterDefinition(*where).with_system_settings(SystemSettings(metrics=metrics))
        clusters.append(definition.connect())
        return clusters[-1]

    yield connected
    for cluster in clusters:
        cluster.close()


def definition_of(where, **settings):
    metrics = MetricsSettings(**{"enabled": True, "export_interval": SHORT} | settings)
    return ClusterDefinition(*where).with_system_settings(SystemSettings(metrics=metrics))


@pytest.fixture
def heard():
    """What is logged of metrics."""
    with logged("aerolane.metrics", level=logging.WARNING) as lines:
        yield lines


def test_snapshots_come_regularly_on_a_thread_of_its_own(connect, set_name):
    cluster, kept = connect(operational_enabled=True), Kept()
    assert cluster.exporters == ()
    cluster.add_exporter(kept)
    assert cluster.exporters == (kept,)
    cluster.create_session().put(Key("test", set_name, 1), {"a": 1})
    eventually(lambda: len(kept.got) >= 3 and kept.got[-1].command_count == 1)
    assert all(type(snapshot) is MetricsSnapshot and snapshot.metrics_enabled for snapshot in kept.got)
    assert [thread.daemon for thread in kept.threads] == [True]
    nodes = kept.got[-1].to_canonical_dict()["nodes"]
    assert sorted(node["name"] for node in nodes) == sorted(cluster.node_names())
    assert cluster.remove_exporter(kept) is True
    assert cluster.remove_exporter(kept) is False and cluster.exporters == ()
    # One that is under way comes to its end.
    eventually(lambda: not any(thread.is_alive() for thread in kept.threads))


def test_a_last_snapshot_comes_at_the_end(connect, set_name):
    cluster, kept = connect(export_interval=LONG, operational_enabled=True, exporter="custom"), Kept()
    cluster.add_exporter(kept)
    session = cluster.create_session()
    session.put(Key("test", set_name, 1), {"a": 1})
    cluster.disable_metrics()
    assert [snapshot.command_count for snapshot in kept.got] == [1], "and at once"
    assert kept.got[0].metrics_enabled
    cluster.disable_metrics()
    assert len(kept.got) == 1
    cluster.enable_metrics(MetricsPolicy(operational=True))
    cluster.close()
    assert len(kept.got) == 2
    cluster.close()
    assert len(kept.got) == 2 and cluster.exporters == ()
    with pytest.raises(ClientClosedError):
        cluster.add_exporter(kept)


def test_nothing_is_exported_while_metrics_are_off(where):
    kept = Kept()
    settings = SystemSettings(metrics=MetricsSettings(export_interval=SHORT))
    with sync.ClusterDefinition(*where).with_system_settings(settings).connect() as cluster:
        cluster.add_exporter(kept)
        time.sleep(0.1)
        assert kept.got == []
        cluster.enable_metrics()
        eventually(lambda: kept.got)
        cluster.disable_metrics()
        count = len(kept.got)
        time.sleep(0.1)
        assert len(kept.got) == count
    assert len(kept.got) == count


@pytest.mark.parametrize("exporter", ["file", "none"])
def test_other_settings_leave_exporters_of_the_program_out(connect, heard, tmp_path, exporter):
    cluster, kept = connect(exporter=exporter, report_dir=str(tmp_path)), Kept()
    cluster.add_exporter(kept)
    eventually(lambda: any("Kept gets no snapshots" in line for line in heard))
    time.sleep(0.1)
    cluster.close()
    assert kept.got == [] and bool(list(tmp_path.iterdir())) == (exporter == "file")


def test_failures_are_logged_and_suspend(connect, heard):
    cluster = connect()
    failing, kept = (
        Failing(RuntimeError("first"), SystemExit(3), KeyboardInterrupt(), ValueError("again"), None),
        Kept(),
    )
    cluster.add_exporter(failing)
    cluster.add_exporter(kept)
    eventually(lambda: failing.calls == 3)
    seen = len(kept.got)
    # The next try is after ten intervals, and it fails; ten intervals later it works.
    eventually(lambda: failing.calls == 4)
    assert len(kept.got) > seen
    eventually(lambda: failing.calls >= 8)
    eventually(lambda: len(heard) >= 4)
    assert "Failing failed: Traceback" in heard[0] and heard[0].endswith("RuntimeError: first")
    assert "SystemExit: 3" in heard[1]
    assert "Failing failed 3 times in a row and is suspended" in heard[2] and "KeyboardInterrupt" in heard[2]
    assert "Failing failed again and stays suspended" in heard[3]


def test_one_that_is_stuck_harms_nobody(connect, set_name, heard):
    cluster, kept, gate = connect(), Kept(), threading.Event()

    class Stuck(Kept):
        def export(self, snapshot):
            super().export(snapshot)
            gate.wait()

    stuck = Stuck()
    cluster.add_exporter(stuck)
    cluster.add_exporter(kept)
    eventually(lambda: stuck.got)
    session, seen = cluster.create_session(), len(kept.got)
    for n in range(5):
        session.put(Key("test", set_name, n), {"a": n})
    eventually(lambda: len(kept.got) > seen + 2)
    begun = time.monotonic()
    cluster.close()
    assert 4 < time.monotonic() - begun < 60, "it waits for some seconds, and then no more"
    assert len(stuck.got) == 1, "never two at once"
    eventually(lambda: any("not done with the last snapshot within 5s: 1" in line for line in heard))
    gate.set()
    eventually(lambda: not any(thread.is_alive() for thread in stuck.threads))


def test_an_exporter_may_close_its_cluster(connect):
    cluster, took = connect(), []

    class Closing(Kept):
        def export(self, snapshot):
            super().export(snapshot)
            begun = time.monotonic()
            cluster.close()
            took.append(time.monotonic() - begun)

    closing = Closing()
    cluster.add_exporter(closing)
    # The second one is the last snapshot.
    eventually(lambda: len(took) == 2)
    eventually(lambda: not any(thread.is_alive() for thread in closing.threads))
    assert took[0] < 4, "it does not wait for itself"


def test_what_is_added_twice_is_called_twice_but_never_at_once(connect):
    cluster, inside, most = connect(), [], []

    class Twice(Kept):
        def export(self, snapshot):
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.03)
            inside.pop()
            super().export(snapshot)

    twice = Twice()
    cluster.add_exporter(twice)
    cluster.add_exporter(twice)
    assert cluster.exporters == (twice, twice)
    eventually(lambda: len(twice.threads) == 2 and len(twice.got) > 6)
    assert set(most) == {1}
    assert cluster.remove_exporter(twice) and cluster.exporters == (twice,)


def test_what_is_no_exporter(connect):
    cluster = connect()
    for wrong in (object(), None, lambda snapshot: None, 5, type("Odd", (), {"export": 5})()):
        with pytest.raises(TypeError, match="has no method export"):
            cluster.add_exporter(wrong)
    with pytest.raises(TypeError, match=r"KeptAsync\.export\(\) is async"):
        cluster.add_exporter(KeptAsync())
    assert cluster.exporters == ()
    assert isinstance(Kept(), MetricsExporter) and isinstance(KeptAsync(), AsyncMetricsExporter)
    assert isinstance(MetricsWriter("x"), MetricsExporter) and not isinstance(object(), MetricsExporter)


def test_settings_are_checked():
    for interval in (timedelta(0), timedelta(microseconds=999)):
        with pytest.raises(InvalidArgumentError, match="export_interval"):
            MetricsSettings(export_interval=interval)
    with pytest.raises(InvalidArgumentError, match="report_size_limit"):
        MetricsSettings(report_size_limit=999_999)
    with pytest.raises(TypeError, match="report_dir"):
        MetricsSettings(report_dir=5)


async def test_async_exporters_run_on_the_loop(where, tmp_path):
    kept = KeptAsync()
    async with definition_of(where).connect() as cluster:
        with pytest.raises(TypeError, match=r"Kept\.export\(\) is not async"):
            cluster.add_exporter(Kept())
        cluster.add_exporter(kept)
        writer = MetricsWriter(tmp_path)
        cluster.add_exporter(writer)
        assert cluster.exporters == (kept, writer)
        while len(kept.got) < 3 or not list(tmp_path.iterdir()):
            await asyncio.sleep(0.01)
        cluster.disable_metrics()
        count = len(kept.got)
        await asyncio.sleep(0.2)
        assert 0 <= len(kept.got) - count <= 2, "the last one, and one that was under way"
        cluster.enable_metrics()
        count = len(kept.got)
    assert len(kept.got) > count, "closing waits for the last one"
    assert kept.loops == {asyncio.get_running_loop()}


async def test_a_slow_async_exporter_delays_no_call(where, set_name, heard):
    class Slow:
        cancelled = False

        async def export(self, _snapshot):
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                Slow.cancelled = True
                raise

    cluster = await definition_of(where).connect()
    cluster.add_exporter(Slow())
    session = cluster.create_session()
    await asyncio.sleep(0.05)
    for n in range(5):
        await asyncio.wait_for(session.put(Key("test", set_name, n), {"a": n}), 60)
    async with asyncio.timeout(60):
        await cluster.close()
    (slow,) = [task for task in asyncio.all_tasks() if "export" in repr(task.get_coro())]
    slow.cancel()
    while not Slow.cancelled:
        await asyncio.sleep(0.01)


def test_a_loop_that_is_gone(where, heard):
    kept = KeptAsync()

    async def connected():
        cluster = await definition_of(where).connect()
        cluster.add_exporter(kept)
        while not kept.got:
            await asyncio.sleep(0.01)
        return cluster

    cluster = asyncio.run(connected())
    with pytest.raises(RuntimeError, match="no event loop is running"):
        cluster.add_exporter(kept)
    # No warning of a coroutine that nobody awaits: those are errors in these tests.
    eventually(lambda: any("suspended" in line and "loop is closed" in line for line in heard))
    gc.collect()
    asyncio.run(asyncio.wait_for(close(cluster), 60))


async def close(cluster):
    await cluster.close()


def test_files_of_settings(connect, tmp_path, set_name):
    directory = tmp_path / "below" / "it"
    cluster = connect(report_dir=str(directory), operational_enabled=True, labels={"zone": "a"})
    cluster.create_session().put(Key("test", set_name, 1), {"a": 1})
    eventually(directory.exists)
    assert cluster.exporters == ()
    cluster.close()
    (file,) = directory.iterdir()
    assert file.name.startswith("metrics-2") and file.suffix == ".log"
    header, *lines = file.read_text().splitlines()
    assert " header(5) cluster[cluster_name," in header and "latency(MILLISECONDS,7,1)" in header
    # Of a cluster with a name or without.
    assert all(re.search(r" cluster\[\w*,aerolane,", line) and ",not-set,[[zone,a]]," in line for line in lines)
    writes = [int(count) for counts in re.findall(r"write\[([\d,]+)\]", lines[-1]) for count in counts.split(",")]
    assert len(writes) % 7 == 0 and sum(writes) == 1, "the last line has everything"


def test_a_file_without_a_directory(connect, heard):
    connect(exporter="file")
    eventually(lambda: any("there is no report_dir: nothing is exported" in line for line in heard))


def test_a_directory_that_cannot_be_made(connect, heard, tmp_path):
    (tmp_path / "file").write_text("")
    connect(report_dir=str(tmp_path / "file"))
    eventually(lambda: any("MetricsWriter failed: cannot write metrics to" in line for line in heard))


def test_the_writer(connect, tmp_path):
    writer, snapshot = MetricsWriter(tmp_path), connect().metrics_snapshot()
    writer.export(snapshot)
    writer.export(snapshot)
    writer.close()
    writer.close()
    writer.export(snapshot)
    counts = sorted(len(file.read_text().splitlines()) for file in tmp_path.iterdir())
    assert counts == [2, 3]
    with pytest.raises(TypeError):
        writer.export(5)
    for wrong in (("x", 999_999), ("x", -1), ("",)):
        with pytest.raises(InvalidArgumentError):
            MetricsWriter(*wrong)
    for wrong in ((None,), (5,), ("x", "y"), ()):
        with pytest.raises(TypeError):
            MetricsWriter(*wrong)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="cannot write metrics to"):
        MetricsWriter(tmp_path / "file").export(snapshot)


def test_a_configuration_file_says_where_metrics_go(where, tmp_path, monkeypatch):
    file, reports, kept = tmp_path / "aerospike.yaml", tmp_path / "reports", Kept()
    text = "system: {DEFAULT: {metrics: {enabled: true, export_interval: 20ms, exporter: EXPORTER, report_dir: DIR}}}"
    text = text.replace("DIR", str(reports))
    file.write_text(text.replace("EXPORTER", "file"))
    monkeypatch.setenv("AEROSPIKE_SDK_CONFIG_URL", str(file))
    with sync.ClusterDefinition(*where).with_strict_config().connect() as cluster:
        cluster.add_exporter(kept)
        eventually(reports.exists)
        assert kept.got == []
        (tmp_path / "new").write_text(text.replace("EXPORTER", "custom"))
        (tmp_path / "new").rename(file)
        eventually(lambda: kept.got)
        (written,) = reports.iterdir()
        size = written.stat().st_size
        count = len(kept.got)
        eventually(lambda: len(kept.got) > count + 3)
        assert written.stat().st_size == size


def test_a_node_that_leaves_is_among_the_departed_once():
    documents = []

    class Documents:
        def export(self, snapshot):
            documents.append(snapshot.to_canonical_dict())

    def names(document, field):
        return [node["name"] for node in document[field]]

    metrics = MetricsSettings(enabled=True, export_interval=SHORT)
    with EmbeddedCluster(nodes=3) as embedded:
        host, _, port = embedded.seeds.split(",")[0].rpartition(":")
        definition = sync.ClusterDefinition(host, int(port))
        settings = SystemSettings(metrics=metrics, tend_interval=timedelta(milliseconds=250))
        with definition.with_system_settings(settings).connect() as cluster:
            cluster.add_exporter(Documents())
            eventually(lambda: documents and len(names(documents[-1], "nodes")) == 3)
            gone = embedded.nodes[2]
            embedded.stop_node(gone)
            eventually(lambda: any(names(document, "nodes_departed") for document in documents))
            seen = len(documents)
            eventually(lambda: len(documents) > seen + 3)
            (departed,) = [found for document in documents if (found := names(document, "nodes_departed"))]
            (left,) = set(names(documents[0], "nodes")) - set(names(documents[-1], "nodes"))
            assert departed == [left]
            assert cluster.metrics_snapshot().to_canonical_dict()["nodes_departed"] == []


def test_a_closed_cluster_lets_go_of_its_exporters(where):
    kept = Kept()
    with sync.ClusterDefinition(*where).connect() as cluster:
        kept.cluster = cluster
        cluster.add_exporter(kept)
    gone = weakref.ref(kept)
    del kept, cluster
    eventually(lambda: gc.collect() is not None and gone() is None)


PROGRAM = """
import sys, threading
from datetime import timedelta
from aerolane import sync
from aerolane.policy import MetricsSettings, SystemSettings
from aerolane.testing import EmbeddedCluster

class Busy:
    def export(self, snapshot):
        started.set()
        while MODE == "busy":
            pass
        threading.Event().wait()

MODE = sys.argv[3]
started = threading.Event()
settings = SystemSettings(metrics=MetricsSettings(enabled=True, export_interval=timedelta(milliseconds=1)))
cluster = sync.ClusterDefinition(sys.argv[1], int(sys.argv[2])).with_system_settings(settings).connect()
if MODE != "idle":
    cluster.add_exporter(Busy())
    started.wait()
else:
    cluster.add_exporter(type("Idle", (), {"export": lambda self, snapshot: None})())
print("done")
"""


@pytest.mark.parametrize("mode", ["idle", "stuck", "busy"])
def test_a_program_can_end_without_closing(where, mode):
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, *map(str, where), mode]
    for _ in range(3):
        ended = subprocess.run(command, capture_output=True, text=True, timeout=100)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_exports_nothing(connect, where):
    cluster, kept = connect(export_interval=timedelta(milliseconds=1)), Kept()
    cluster.add_exporter(kept)
    # Many, so that some of their threads are taking or releasing a lock when the process is forked.
    for _ in range(20):
        cluster.add_exporter(Failing(None))
    eventually(lambda: kept.got)
    for _ in range(20):
        child = os.fork()
        if child == 0:
            status = 1
            end_child_if_hung()
            try:
                before = len(kept.got)
                for refused in (lambda: cluster.exporters, lambda: cluster.add_exporter(kept)):
                    try:
                        refused()
                    except Exception as error:
                        assert "forked" in str(error)
                    else:
                        raise AssertionError("the parent's cluster is used")
                cluster.close()
                del cluster
                gc.collect()
                time.sleep(0.02)
                assert len(kept.got) == before
                # A cluster of its own works.
                with sync.ClusterDefinition(*where).connect() as own:
                    own.add_exporter(mine := Kept())
                    own.enable_metrics()
                assert len(mine.got) == 1
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
    seen = len(kept.got)
    eventually(lambda: len(kept.got) > seen)
