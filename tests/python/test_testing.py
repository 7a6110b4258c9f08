"""Embedded clusters as Python has them, and the fixtures for pytest."""

import concurrent.futures
import gc
import json
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from conftest import eventually
from hangs import end_child_if_hung

from aerolane import Key, SyncClient, native
from aerolane.exceptions import AerospikeError, RecordNotFoundError
from aerolane.testing import EmbeddedCluster, EmbeddedNode, after, control, program


def info(address, command):
    """Asks a node by the info protocol: protocol version 2, type 1, 48 bits of length, text."""
    host, _, port = address.rpartition(":")
    text = command.encode() + b"\n"
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.settimeout(10)
        connection.sendall(bytes([2, 1]) + len(text).to_bytes(6, "big") + text)
        answer = b""
        while len(answer) < 8 or len(answer) < 8 + int.from_bytes(answer[2:8], "big"):
            more = connection.recv(65536)
            if not more:
                raise ConnectionResetError("closed")
            answer += more
    return answer[8:].decode().strip().partition("\t")[2]


def test_nodes_come_and_go():
    with EmbeddedCluster(nodes=2) as cluster:
        first, second = cluster.nodes
        assert isinstance(first, EmbeddedNode)
        assert cluster.seeds == f"{first.address},{second.address}"
        assert (first.host, first.live, first.tls_address) == ("127.0.0.1", True, None)
        assert info(first.address, "node") == first.id
        cluster.stop_node(first)
        assert cluster.seeds == second.address
        with pytest.raises(OSError):
            info(first.address, "node")
        assert {cluster.master(partition) for partition in range(4096)} == {second.id}
        cluster.start_node(first.id)
        assert info(first.address, "node") == first.id
        assert cluster.nodes == [first, second]
        third = cluster.add_node()
        assert third.live and len(cluster.nodes) == 3
        cluster.stop_nodes([first, second.id])
        assert [node.live for node in cluster.nodes] == [False, False, True]
        cluster.set_master(7, third)
        assert cluster.master(7) == third.id
        cluster.set_master(7, None)
        assert cluster.stats(first)["infos"] == 2


def test_settings_are_taken():
    cluster = EmbeddedCluster(
        1, 1, ["test", "other"], cluster_name="lab", users={"admin": "secret"}, tls_name="lab.example"
    )
    node = cluster.nodes[0]
    assert cluster.record_count("other") == 0
    assert cluster.tls_seeds == node.tls_address
    assert "BEGIN CERTIFICATE" in cluster.certificate_pem
    cluster.close()
    assert cluster.is_closed
    cluster.close()
    with pytest.raises(RuntimeError, match="closed"):
        _ = cluster.seeds


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        ({"nodes": 0}, ValueError, "0 nodes: 1 to 128"),
        ({"replication_factor": 0}, ValueError, "replication factor 0"),
        ({"namespace": ""}, ValueError, "namespace name"),
        ({"namespace": []}, ValueError, "at least one name"),
        ({"namespace": 3}, TypeError, "a name or a sequence"),
        ({"default_ttl": 400_000_000}, ValueError, "default TTL"),
        ({"host": "localhost"}, ValueError, "an IP address"),
        ({"port": 65_535}, ValueError, "do not fit"),
        ({"threads": 0}, ValueError, "at least 1"),
    ],
)
def test_bad_settings_are_told(settings, error, text):
    with pytest.raises(error, match=text):
        EmbeddedCluster(**settings)


def test_records_expire_when_the_clock_is_put_forward():
    with EmbeddedCluster(1, nsup_period=0, default_ttl=60) as cluster:
        with SyncClient(cluster.seeds) as client:
            session = client.create_session()
            key = Key("test", "s", 1)
            session.put(key, {"a": 1})
            cluster.advance_clock(59)
            assert session.get(key).bins == {"a": 1}
            cluster.advance_clock(2.5)
            with pytest.raises(RecordNotFoundError):
                session.get(key)
        assert cluster.record_count() == 1
        assert (cluster.sweep(), cluster.sweep()) == (1, 0)
        assert cluster.record_count() == 0
        for seconds in (-1e12, float("nan"), 1e12):
            with pytest.raises(ValueError, match="ten years"):
                cluster.advance_clock(seconds)


def test_a_port_in_use_is_told():
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="cannot listen on"):
        EmbeddedCluster(1, port=taken.getsockname()[1])


def test_unknown_nodes_are_told():
    with EmbeddedCluster(1) as cluster:
        for bad in ("ABC", "no hex"):
            with pytest.raises(LookupError, match="no node"):
                cluster.stop_node(bad)
        with pytest.raises(TypeError, match="not int"):
            cluster.stop_node(1)
        with pytest.raises(LookupError, match="no namespace"):
            cluster.record_count("missing")
        with pytest.raises(ValueError, match="0 to 4095"):
            cluster.master(4096)


def test_faults_strike_and_are_taken_back():
    with EmbeddedCluster(1) as cluster:
        address = cluster.nodes[0].address
        with cluster.inject("delay", 0.2, on="info", times=1) as fault:
            begun = time.monotonic()
            info(address, "node")
            assert time.monotonic() - begun >= 0.2
            assert fault.struck == 1
        with cluster.inject("drop-before", on=["info", "read"]), pytest.raises(ConnectionError):
            info(address, "node")
        with cluster.inject("drop-before", on="read"):
            assert info(address, "node")
        with cluster.inject("split"):
            assert info(address, "node")
        with cluster.inject("truncate", 4), pytest.raises(ConnectionError):
            info(address, "node")
        with cluster.inject("refuse", node=cluster.nodes[0]), pytest.raises(ConnectionError):
            info(address, "node")
        fault = cluster.inject("stall", skip=1)
        assert info(address, "node")
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(info(address, "node")))
        waiting.start()
        eventually(lambda: fault.struck == 1)
        waiting.join(0.1)
        assert not answers
        cluster.clear_faults()
        waiting.join(60)
        assert len(answers) == 1
        assert fault.struck == 0
        fault.remove()


@pytest.mark.parametrize(
    ("arguments", "options", "error", "text"),
    [
        (("explode",), {}, ValueError, 'unknown fault "explode": expected delay, .* or reject-unowned'),
        (("dealy", 0.1), {}, ValueError, r'unknown fault "dealy" \(did you mean "delay"\?\)'),
        (("drop",), {}, ValueError, r'did you mean "drop-before" or "drop-after"\?'),
        (("delay",), {}, TypeError, "needs a value: seconds"),
        (("delay", -1.0), {}, ValueError, "0 to 600"),
        (("delay", float("nan")), {}, ValueError, "0 to 600"),
        (("result", 256), {}, ValueError, "0 to 255"),
        (("garbage", "text"), {}, TypeError, "as bytes"),
        (("stall", 1), {}, TypeError, "takes no value"),
        (("stall",), {"on": "writes"}, ValueError, r'unknown kind of request "writes" \(did you mean "write"\?\)'),
        (
            ("stall",),
            {"on": ["read", "Puts"]},
            ValueError,
            r'"Puts" \(did you mean "write"\?\): expected info, .* or other',
        ),
        (("stall",), {"on": "nothing"}, ValueError, 'unknown kind of request "nothing": expected info'),
        (("stall",), {"on": []}, ValueError, "at least one"),
        (("stall",), {"probability": 1.5}, ValueError, "0 to 1"),
        (("stall",), {"node": "ABC"}, LookupError, "no node"),
    ],
)
def test_bad_faults_are_told(arguments, options, error, text):
    with EmbeddedCluster(1) as cluster, pytest.raises(error, match=text):
        cluster.inject(*arguments, **options)


def taken(address, command="status"):
    """How long an info request takes, with its connection."""
    begun = time.monotonic()
    assert info(address, command)
    return time.monotonic() - begun


def test_service_times_occupy_a_connection():
    with (
        EmbeddedCluster(1, service_time={"read": "40ms", "write": 0.08}) as cluster,
        SyncClient(cluster.seeds) as client,
    ):
        session = client.create_session()
        key = Key("test", "s", 1)
        begun = time.monotonic()
        session.put(key, {"a": 1})
        assert time.monotonic() - begun >= 0.08
        begun = time.monotonic()
        for _ in range(3):
            assert session.get(key).bins == {"a": 1}
        assert time.monotonic() - begun >= 0.12


def test_no_more_requests_than_the_limit_are_in_service():
    with (
        EmbeddedCluster(1, service_time={"read": "100ms"}, in_service=2) as cluster,
        SyncClient(cluster.seeds) as client,
    ):
        session = client.create_session()
        key = Key("test", "s", 1)
        session.put(key, {"a": 1})
        readers = [threading.Thread(target=session.get, args=(key,)) for _ in range(6)]
        begun = time.monotonic()
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        assert time.monotonic() - begun >= 0.3


def test_latency_is_paid_each_way_while_it_is_set():
    with EmbeddedCluster(2) as cluster:
        first, second = cluster.nodes
        cluster.set_conditions(latency="50ms", node=second)
        # A round trip to connect, another one to ask.
        assert taken(second.address) >= 0.2
        assert cluster.conditions(second) == {
            "service_time": "0s",
            "in_service": 64,
            "latency": "50ms",
            "seed": 0,
        }
        assert cluster.conditions(first.id)["latency"] == "0s"
        cluster.set_conditions(latency=0.04)
        assert min(taken(first.address), taken(second.address), taken(cluster.add_node().address)) >= 0.16
        # Service times are not for info requests.
        cluster.set_conditions(service_time="600s")
        assert info(first.address, "status") == "ok"
        cluster.set_conditions(service_time="read=exp:80us,write=99%:300us+1%:20ms", latency="150us~30us", seed=7)
        settings = cluster.conditions(first)
        cluster.set_conditions()
        assert cluster.conditions(first)["service_time"] == "0s"
        cluster.set_conditions(**settings)
        assert cluster.conditions(second) == settings
        assert settings["service_time"] == "read=exp:80us,write=99%:300us+1%:20ms"


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        ({"service_time": "80"}, ValueError, 'service_time: "80" is not a duration'),
        ({"service_time": {"scan": "80us"}}, ValueError, 'unknown kind of request "scan"'),
        ({"service_time": {"read": "99%:1us"}}, ValueError, "add up to 99%"),
        ({"service_time": {"read": []}}, TypeError, "not list"),
        ({"service_time": -1.0}, ValueError, "-1 s is not a duration"),
        ({"service_time": 601}, ValueError, "601s is too long"),
        ({"in_service": 0}, ValueError, "is 0: expected 1 to 65536"),
        ({"latency": "30us~40us"}, ValueError, "the jitter of 40us is larger"),
        ({"latency": b"1ms"}, TypeError, "not bytes"),
        ({"seed": -1}, ValueError, "seed is -1: it cannot be negative"),
    ],
)
def test_bad_conditions_are_told(settings, error, text):
    with pytest.raises(error, match=text):
        EmbeddedCluster(1, **settings)
    with EmbeddedCluster(1) as cluster:
        with pytest.raises(error, match=text):
            cluster.set_conditions(**settings)
        assert cluster.conditions(cluster.nodes[0])["latency"] == "0s"
        with pytest.raises(LookupError, match="no node"):
            cluster.set_conditions(node="ABC")


def test_conditions_reach_the_nodes():
    times = {"read": 0.001, "all": "exp:2ms"}
    with EmbeddedCluster(1, service_time=times, in_service=7, latency=0.05, seed=3) as cluster:
        assert taken(cluster.seeds) >= 0.2
        shown = info(cluster.seeds, "aerolane-conditions:show").partition(";")[2]
        times = "read=1ms,write=exp:2ms,batch=exp:2ms,query=exp:2ms,udf=exp:2ms"
        assert shown == f"service-time={times};in-service=7;latency=50ms;seed=3"


def test_too_many_faults_leave_none_behind():
    with EmbeddedCluster(2) as cluster:
        faults = [cluster.inject("split", node=cluster.nodes[1]) for _ in range(64)]
        with pytest.raises(ValueError, match="too many"):
            cluster.inject("drop-before")
        assert info(cluster.nodes[0].address, "node")
        for fault in faults:
            fault.remove()


def test_faults_of_some_records_and_connections():
    with EmbeddedCluster(nodes=1) as cluster, SyncClient(cluster.seeds) as client:
        session = client.create_session()
        ann, bob, eve = (Key("test", who, 1) for who in ("ann", "bob", "eve"))
        for key in (ann, bob, eve):
            session.put(key, {"a": 1})
        busy = cluster.inject("result", 14, on="read", set="ann", times=1)
        assert repr(busy) == "<Fault result=14;on=read;set=ann;times=1>"
        with cluster.inject("result", 18, on="read", digest=eve.digest), pytest.raises(AerospikeError) as refused:
            session.get(eve)
        assert refused.value.result_code == 18
        assert session.get(bob).bins == {"a": 1} and busy.struck == 0
        with cluster.inject("result", 22, on="batch-row", set="bob"):
            rows = session.query([ann, bob, eve]).execute()
            assert [row.result_code for row in rows] == [0, 22, 0]
        with cluster.inject("black-hole-answers", connection=10**6):
            assert session.get(bob).bins == {"a": 1}


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"on": "batch-row"}, ValueError, 'use the action "result"'),
        ({"digest": 7}, TypeError, "digest: 20 bytes"),
        ({"digest": "ab"}, ValueError, "40 hexadecimal digits"),
        ({"digest": b"ab"}, ValueError, "40 hexadecimal digits"),
        ({"connection": 0}, ValueError, "numbered from 1"),
        ({"set": "x" * 64}, ValueError, "at most 63 bytes"),
    ],
)
def test_faults_that_make_no_sense(arguments, error, text):
    with EmbeddedCluster(nodes=1) as cluster, pytest.raises(error, match=re.escape(text)):
        cluster.inject("stall", **arguments)


def test_the_seed_is_told(monkeypatch):
    monkeypatch.setenv("AEROLANE_SEED", "11")
    with EmbeddedCluster(nodes=1) as cluster:
        assert cluster.seed == 11
    with EmbeddedCluster(nodes=1, seed=5) as cluster:
        assert cluster.seed == 5
    monkeypatch.setenv("AEROLANE_SEED", "eleven")
    with pytest.raises(ValueError, match="AEROLANE_SEED=eleven"):
        EmbeddedCluster(nodes=1)


def test_a_schedule_has_a_node_leave_and_come_back():
    with EmbeddedCluster(nodes=2) as cluster, SyncClient(cluster.seeds) as client:
        session = client.create_session()
        node = cluster.nodes[1]
        schedule = cluster.schedule(
            after(requests=20, on="write").stop_node(node),
            after(requests=10, on="read").inject("result", 14, on="read", times=1),
            after(seconds=0).start_node(node),
        )
        keys = [Key("test", "schedule", n) for n in range(20)]
        for key in keys:
            assert schedule.steps_done == 0 and cluster.nodes[1].live
            session.put(key, {"a": 1})
        eventually(lambda: not cluster.nodes[1].live)
        assert "1 steps done" in repr(schedule)
        for key in keys:
            assert session.get(key).bins == {"a": 1}
        schedule.wait()
        assert schedule.is_over and schedule.steps_done == 3 and cluster.nodes[1].live


def test_a_schedule_that_fails_or_is_too_long():
    with EmbeddedCluster(nodes=1) as cluster:
        with pytest.raises(RuntimeError, match=r"step 2 of the schedule has failed: the cluster has no node ABC"):
            cluster.schedule(after(seconds=0).clear_faults(), after(requests=0).stop_node("ABC")).wait()
        schedule = cluster.schedule(after(seconds=1e6).add_node())
        with pytest.raises(TimeoutError, match="0 steps"):
            schedule.wait(0.01)
        schedule.cancel()
        schedule.wait()
        assert len(cluster.nodes) == 1
        with pytest.raises(ValueError, match="1 to 10000"):
            cluster.schedule()
        with pytest.raises(ValueError, match="unknown kind"):
            cluster.schedule(after(requests=1, on="writes").add_node())
        with pytest.raises(LookupError, match="no node"):
            cluster.schedule(after(requests=1, node="ABC").add_node())
    assert repr(schedule) == "<Schedule of a closed cluster>"
    for arguments in ({}, {"requests": 1, "seconds": 1}, {"seconds": 1, "on": "read"}, {"seconds": float("nan")}):
        with pytest.raises(ValueError, match=r"after|seconds"):
            after(**arguments)
    with pytest.raises(TypeError, match="seconds: a number"):
        after(seconds="3")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_lets_go_of_the_cluster():
    with EmbeddedCluster(1) as cluster:
        child = os.fork()
        if child == 0:
            end_child_if_hung()
            try:
                code = 1
                try:
                    _ = cluster.seeds
                except RuntimeError as error:
                    code = 0 if "forked" in str(error) else 2
                cluster.close()
                os._exit(code)
            finally:
                os._exit(3)
        assert os.waitpid(child, 0)[1] == 0
        assert info(cluster.nodes[0].address, "node")


def test_a_process_of_its_own():
    with EmbeddedCluster(nodes=2, namespace=["test", "other"]) as cluster:
        addresses = cluster.seeds.split(",")
        assert len(addresses) == 2 and cluster.pid != os.getpid()
        assert info(addresses[0], "namespaces") == "test;other"
        assert not cluster.is_closed
    assert cluster.is_closed
    with pytest.raises(OSError):
        info(addresses[0], "node")
    cluster.close()


def is_gone(seeds):
    try:
        return not info(seeds, "node")
    except OSError:
        return True


def test_a_cluster_that_nobody_holds_ends():
    cluster = EmbeddedCluster(nodes=1)
    seeds = cluster.seeds
    del cluster
    gc.collect()
    eventually(lambda: is_gone(seeds), lambda: "the cluster is still there")


@pytest.mark.parametrize("last", ["os.kill(os.getpid(), signal.SIGKILL)", "pass"])
def test_a_cluster_ends_with_its_process(last):
    program = f"""
import os, signal
from aerolane.testing import EmbeddedCluster
cluster = EmbeddedCluster(nodes=1)
print(cluster.seeds, flush=True)
{last}
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert run.returncode == (-signal.SIGKILL if "KILL" in last else 0), run.stderr
    eventually(lambda: is_gone(run.stdout.strip()), lambda: "the cluster is still there")


def test_a_program_that_dies_is_told():
    with EmbeddedCluster(nodes=1) as cluster:
        os.kill(cluster.pid, signal.SIGKILL)
        with pytest.raises(RuntimeError, match=r"has ended|does not answer"):
            _ = cluster.seeds


def test_an_answer_that_nobody_has_read_is_not_the_next_one():
    """As after a Ctrl-C in the middle of a request."""
    with EmbeddedCluster(nodes=1) as cluster:
        requests = cluster._control._process.stdin
        requests.write(b'{"id":0,"do":"sweep"}\n{"do":"fly"}\n')
        requests.flush()
        assert cluster.seeds == cluster.nodes[0].address
        assert cluster.record_count() == 0


def test_closing_ends_a_wait_for_a_program_that_hangs(monkeypatch):
    monkeypatch.setattr(control, "_END_TIMEOUT", 0.2)
    cluster = EmbeddedCluster(nodes=1)
    # It neither answers nor ends when it is asked to.
    os.kill(cluster.pid, signal.SIGSTOP)
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(cluster.sweep)
        eventually(cluster._control._lock.locked)
        cluster.close()
        assert isinstance(waiting.exception(60), RuntimeError)
    assert cluster.is_closed


def test_the_environment_asks_for_a_log():
    source = """
import contextlib
from aerolane import AerospikeError, native
from aerolane.testing import EmbeddedCluster
with EmbeddedCluster(2, users={"me": "secret"}) as cluster:
    for password in ("secret", "wrong"):
        policy = native.ClientPolicy(user="me", password=password)
        with contextlib.suppress(AerospikeError):
            native.new_client_blocking(policy, cluster.seeds).close_blocking()
"""
    run = subprocess.run(
        [sys.executable, "-c", source],
        env={**os.environ, "AEROLANE_EMBEDDED_LOG": "info"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    for text in ("the cluster has 2 nodes", 'has logged in as "me"', 'cannot log in as "me"'):
        assert text in run.stderr, run.stderr


def test_threads_share_a_cluster():
    with EmbeddedCluster(nodes=1) as cluster, concurrent.futures.ThreadPoolExecutor(8) as threads:
        node = cluster.nodes[0]
        assert set(threads.map(cluster.master, range(400))) == {node.id}
        assert all(threads.map(lambda _: cluster.stats(node)["records"] == 0, range(100)))


def test_the_program_has_to_be_installed(monkeypatch):
    monkeypatch.setenv("AEROLANE_EMBEDDED", "/nowhere/aerolane-embedded")
    with pytest.raises(FileNotFoundError, match="AEROLANE_EMBEDDED names '/nowhere"):
        EmbeddedCluster(nodes=1)
    monkeypatch.delenv("AEROLANE_EMBEDDED")
    monkeypatch.setattr(program.sysconfig, "get_path", lambda *_, **__: "/nowhere")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(FileNotFoundError, match=r"pip install 'aerolane\[testing\]'"):
        EmbeddedCluster(nodes=1)


def test_racks_and_logs_of_udfs_are_told():
    with EmbeddedCluster(2, racks=[1, 2]) as cluster:
        racks = info(cluster.nodes[0].address, "rack-ids")
        assert racks == "test:1", racks
        assert cluster.udf_log() == []


def requests(*lines):
    """What the program answers to these lines."""
    said = "".join(f"{line}\n" for line in lines)
    run = subprocess.run(
        [program.find(), "--control"], input=said, capture_output=True, text=True, timeout=60, check=True
    )
    assert not run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_the_protocol_is_for_every_language():
    started, stopped, again, shown = requests(
        '{"id":1,"do":"start","nodes":2}',
        '{"id":"two","do":"stop"}',
        '{"do":"start","nodes":1,"users":{"a":{"password":"p","roles":["read"]}}}',
        '{"id":null,"do":"show"}',
    )
    assert started["id"] == 1 and len(started["ok"]["nodes"]) == 2
    assert stopped == {"id": "two", "ok": None}
    assert again["ok"]["seeds"] == again["ok"]["nodes"][0]["address"]
    assert shown["ok"] == again["ok"] and shown["id"] is None


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("{", "request"),
        ("[1]", "type"),
        ("\xff", "request"),
        ("{}", "request"),
        ('{"do":"fly"}', "request"),
        ('{"do":"show","more":1}', "request"),
        ('{"do":"start"}', "state"),
        ('{"do":"record_count"}', "request"),
        ('{"do":"record_count","namespace":7}', "type"),
        ('{"do":"record_count","namespace":"other"}', "unknown"),
        ('{"do":"start_node","node":"ABC"}', "unknown"),
        ('{"do":"master","partition":4096}', "setting"),
        ('{"do":"advance_clock","seconds":-1e12}', "setting"),
        ('{"do":"set_conditions","latency":[]}', "type"),
        ('{"do":"set_conditions","service_time":{"scan":"1ms"}}', "setting"),
        ('{"do":"inject","action":"garbage","value":"0"}', "type"),
        ('{"do":"inject","action":"truncate","value":-1}', "setting"),
    ],
)
def test_bad_requests_are_refused(line, kind):
    _, refused, shown = requests('{"do":"start","nodes":1}', line, '{"do":"show"}')
    assert refused["error"]["kind"] == kind and refused["error"]["text"], refused
    assert "ok" in shown


def test_nothing_goes_without_a_cluster():
    (refused,) = requests('{"do":"show"}')
    assert refused == {"error": {"kind": "state", "text": "no cluster runs: start one first"}}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_program_ends_on_signals(number):
    command = [sys.executable, "-m", "aerolane.testing", "--nodes", "2", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        said = json.loads(program.stdout.readline())
        assert said["pid"] == program.pid and len(said["nodes"]) == 2
        program.send_signal(number)
        assert program.wait(60) == 0


def run_pytest(tmp_path, source, *options, **environment):
    (tmp_path / "test_it.py").write_text(textwrap.dedent(source))
    # Where aerolane is installed pytest finds the plugin itself.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "pytest_aerolane", "-p", "no:cacheprovider", "test_it.py"]
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.run(
        [*command, "--strict-markers", *options],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths, "AEROSPIKE_HOST": "", **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def passed(run, count):
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{count} passed" in run.stdout


def test_fixtures_of_the_plugin(tmp_path):
    source = """
        import asyncio
        import aerolane

        def test_sync(aerolane_client):
            key = aerolane.Key("test", "plugin", 1)
            aerolane_client.put_blocking(key, {"a": 1})
            assert aerolane_client.get_blocking(key).bins == {"a": 1}

        def test_async(aerolane_client):
            key = aerolane.Key("test", "plugin", 2)

            async def work():
                await aerolane_client.put(key, {"a": 2})
                return (await aerolane_client.get(key)).bins

            assert asyncio.run(work()) == {"a": 2}

        def test_cluster(aerolane_cluster, aerolane_seeds, aerolane_shared_cluster):
            assert aerolane_seeds == aerolane_cluster.seeds != aerolane_shared_cluster.seeds
            assert len(aerolane_cluster.nodes) == len(aerolane_shared_cluster.nodes) == 3

        def test_sessions(aerolane_session, aerolane_sync_session, aerolane_set):
            key = aerolane.Key("test", aerolane_set, 1)
            aerolane_sync_session.put(key, {"a": 1})

            async def work():
                return (await aerolane_session.get(key)).bins

            assert asyncio.run(work()) == {"a": 1}
        """
    passed(run_pytest(tmp_path, source), 4)
    if os.environ.get("AEROSPIKE_HOST"):
        real = source.replace("assert aerolane_seeds == aerolane_cluster.seeds !=", "assert aerolane_cluster.seeds !=")
        passed(run_pytest(tmp_path, real, AEROSPIKE_HOST=os.environ["AEROSPIKE_HOST"]), 4)


def test_a_namespace_is_emptied_between_tests(tmp_path, new_cluster):
    """On a real cluster, and only if somebody asks for it."""
    source = """
        import aerolane
        import pytest

        @pytest.mark.parametrize("time", range(2))
        def test_it_is_empty(aerolane_sync_session, time):
            everything = aerolane_sync_session.query(aerolane.DataSet.of("test", "plugin")).execute()
            assert list(everything) == []
            aerolane_sync_session.put(aerolane.Key("test", "plugin", 1), {"a": time})
        """
    theirs, settings = Key("test", "theirs", 1), native.ClientPolicy()
    with (
        new_cluster(namespace=["test", "other"]) as cluster,
        native.new_client_blocking(settings, cluster.seeds) as client,
    ):
        environment = {"AEROSPIKE_HOST": cluster.seeds}
        client.put_blocking(theirs, {"a": 1})
        client.put_blocking(Key("other", "theirs", 1), {"a": 1})
        run = run_pytest(tmp_path, source, **environment)
        assert "1 failed, 1 passed" in run.stdout, run.stdout + run.stderr
        assert client.exists_blocking(theirs)
        passed(run_pytest(tmp_path, source, "--aerolane-truncate", "test", **environment), 2)
        assert not client.exists_blocking(theirs)
        assert client.exists_blocking(Key("other", "theirs", 1))
        client.put_blocking(theirs, {"a": 1})
        passed(run_pytest(tmp_path, source, "-o", "aerolane_truncate=test", **environment), 2)
        assert not client.exists_blocking(theirs)


def test_workers_of_xdist_do_not_empty_a_namespace(tmp_path):
    """One would remove the records of the others."""
    pytest.importorskip("xdist")
    options = ("-n", "2", "-p", "xdist", "--aerolane-truncate", "test")
    run = run_pytest(tmp_path, "def test_nothing(): pass", *options, AEROSPIKE_HOST="db.example:3000")
    assert run.returncode == pytest.ExitCode.USAGE_ERROR, run.stdout + run.stderr
    assert "--aerolane-truncate cannot be used with several workers" in run.stdout + run.stderr


def test_tests_leave_each_other_nothing(tmp_path):
    source = """
        import aerolane, pytest
        from aerolane import Key

        @pytest.mark.parametrize("time", range(2))
        def test_records_and_faults(aerolane_cluster, aerolane_sync_session, time):
            assert aerolane_cluster.record_count() == 0
            aerolane_sync_session.put(Key("test", "s", 1), {"a": 1})
            aerolane_cluster.inject("drop-before", on="read")
            aerolane_cluster.stop_node(aerolane_cluster.nodes[0])

        @pytest.mark.aerolane_cluster(nodes=1, strong_consistency=True)
        @pytest.mark.aerolane_fault("result", 18, on="write", times=1)
        def test_markers(aerolane_cluster, aerolane_sync_session):
            assert len(aerolane_cluster.nodes) == 1
            with pytest.raises(aerolane.AerospikeError) as raised:
                aerolane_sync_session.put(Key("test", "s", 1), {"a": 1})
            assert raised.value.result_code == 18
            with aerolane_sync_session.client.transaction() as session:
                session.put(Key("test", "s", 1), {"a": 2})
        """
    passed(run_pytest(tmp_path, source), 3)
    run = run_pytest(tmp_path, source, "-rs", AEROSPIKE_HOST="db.example:3000")
    assert "the marker aerolane_cluster is for embedded clusters" in run.stdout, run.stdout + run.stderr


ASYNC = """
        import aerolane, pytest

        pytestmark = pytest.mark.MARK

        async def test_one(aerolane_session):
            key = aerolane.Key("test", "s", 1)
            await aerolane_session.put(key, {"a": 1})
            assert (await aerolane_session.get(key)).bins == {"a": 1}

        async def test_another(aerolane_session, aerolane_cluster):
            assert aerolane_cluster.record_count() == 0
            async for result in await aerolane_session.query(aerolane.DataSet.of("test", "s")).execute():
                raise AssertionError(result)
        """


@pytest.mark.parametrize(("plugin", "runs"), [("anyio", 4), ("asyncio", 2)])
def test_plugins_that_run_coroutines_take_the_sessions(tmp_path, plugin, runs):
    pytest.importorskip(f"pytest_{plugin}" if plugin == "asyncio" else plugin)
    # Trio's loop is not for asyncio's sockets, and says so.
    options = ["-k", "not trio"] if plugin == "anyio" else []
    source = ASYNC.replace("MARK", plugin)
    if plugin == "anyio":
        source += """
        @pytest.fixture(params=["asyncio", ("asyncio", {"use_uvloop": True})], ids=["asyncio", "uvloop"])
        def anyio_backend(request):
            return request.param
        """
    passed(run_pytest(tmp_path, source, *options), runs)


def test_workers_of_xdist_have_clusters_of_their_own(tmp_path):
    pytest.importorskip("xdist")
    source = """
        import pytest

        @pytest.mark.parametrize("number", range(12))
        def test_it(aerolane_client, aerolane_cluster, aerolane_shared_cluster, number):
            import aerolane
            key = aerolane.Key("test", "s", 1)
            aerolane_client.put_blocking(key, {"n": number})
            assert aerolane_client.get_blocking(key).bins == {"n": number}
        """
    passed(run_pytest(tmp_path, source, "-n", "3"), 12)


def test_the_plugin_loads_nothing_unless_asked(tmp_path):
    run = run_pytest(
        tmp_path,
        """
        import sys

        def test_nothing():
            assert not [name for name in sys.modules if name.split(".")[0] == "aerolane"]

        def test_real(aerolane_seeds):
            assert aerolane_seeds == "db.example:3000"
            assert not [name for name in sys.modules if name.split(".")[0] == "aerolane"]
        """,
        AEROSPIKE_HOST="db.example:3000",
    )
    passed(run, 2)
