"""What the flags of the load harness bring about, on an embedded cluster of this process."""

import contextlib
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from shlex import split

import pytest
from conftest import overheard

from aerolane import Key, native
from aerolane.testing import EmbeddedCluster

OURS = "sync,async,pac-blocking,pac-async"
BLOCKING, ASYNC = "sync,pac-blocking", "async,pac-async"
TLS = Path(__file__).parent / "tls"


@pytest.fixture(scope="module")
def lab():
    with EmbeddedCluster(2, namespace=["test", "other"]) as cluster:
        yield cluster


def bench(modes, seeds, options, *more, **environment):
    """Runs the harness; gives the process and its reports."""
    command = [sys.executable, "-m", "aerolane.bench", "--mode", modes, "--json", *split(options), *more]
    if seeds:
        command += ["-H", seeds]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ | environment)
    return done, [json.loads(line) for line in done.stdout.splitlines()]


def reports(modes, seeds, options, *more, **environment):
    """The reports of a run in which nothing went wrong."""
    done, found = bench(modes, seeds, options, *more, **environment)
    assert done.returncode == 0, done.stderr
    assert [report["client"] for report in found] == modes.split(",")
    assert all(report["errors"] == report["timeouts"] == 0 for report in found), found
    return found


def written(cluster, set_name, namespace="test"):
    """The first bins of the records of a set."""
    with native.new_client_blocking(native.ClientPolicy(), cluster.seeds) as client:
        return sorted(record.bins["b0"] for record in client.query_blocking(native.Statement(namespace, set_name)))


def test_where_and_what_is_written(lab):
    """-H -n -s -k -o -w -d --warmup --cooldown --threads -z --load"""
    common = "-n other -k 50 -o S3,B2,I8 -w RU,0 -d 0.3 --warmup 0.1 --cooldown 0.1 --threads 3 -z 5"
    for mode in OURS.split(","):
        (report,) = reports(mode, lab.seeds, common, "-s", mode)
        assert report["host"] == lab.seeds and report["workload"] == "RU,0"
        assert 0.3 <= report["duration_s"] < 30 and report["read_tps"] == 0 < report["write_tps"]
        workers = ("tasks", 5) if "async" in mode else ("threads", 3)
        assert report[workers[0]] == workers[1]
        with native.new_client_blocking(native.ClientPolicy(), lab.seeds) as client:
            records = [client.get_blocking(Key.from_int_user_key("other", mode, number)) for number in range(50)]
        assert [record.bins for record in records] == [{"b0": "xxx", "b1": b"xx", "b2": number} for number in range(50)]
    assert lab.record_count("other") == 200


@pytest.mark.parametrize("mode", OURS.split(","))
def test_truncate(lab, mode):
    """--truncate --truncate-after --no-load"""
    name = f"truncate_{mode}"
    common = f"-k 40 -s {name} -w RU,100 -d 0.2 --warmup 0 --threads 2 -z 2"
    with native.new_client_blocking(native.ClientPolicy(), lab.seeds) as client:
        for number in range(40):
            client.put_blocking(Key.from_int_user_key("test", name, number), {"b0": number})
    (report,) = reports(mode, lab.seeds, f"--truncate-after --no-load {common}")
    assert report["not_found"] == 0 and written(lab, name) == []
    (report,) = reports(mode, lab.seeds, common)
    assert report["not_found"] == 0 and len(written(lab, name)) == 40
    (report,) = reports(mode, lab.seeds, f"--truncate {common}")
    # The test of the client before the run writes record 0.
    assert report["not_found"] > 0 and written(lab, name) == [0]


def test_keys_that_are_built_before(lab):
    """--prebuilt-keys"""
    for mode in OURS.split(","):
        reports(mode, lab.seeds, f"--prebuilt-keys 7 -k 100 -w I -s pre_{mode} -d 0.3 --warmup 0 --threads 2 -z 2")
        assert written(lab, f"pre_{mode}") == list(range(7))


def test_seeds_of_the_random_numbers(lab):
    """--seed --rate"""
    drawn = {}
    for name, seed in (("one", 5), ("same", 5), ("other", 6)):
        options = f"--seed {seed} -s seed_{name} --no-load -k 1000000 -w RU,0 --rate 200 --threads 1 -d 0.5 --warmup 0"
        (report,) = reports("pac-blocking", lab.seeds, options)
        assert 0 < report["tps"] <= 220
        drawn[name] = set(written(lab, f"seed_{name}")) - {0}
        assert len(drawn[name]) > 5
    # As far as both have come.
    assert drawn["one"] <= drawn["same"] or drawn["same"] <= drawn["one"]
    assert not drawn["one"] & drawn["other"]


def test_how_long_and_how_often(lab):
    """--max-ops --rounds"""
    (report,) = reports("pac-blocking", lab.seeds, "-c 500 -d 50 --warmup 0 -k 100 --threads 2 -s ends")
    assert report["duration_s"] < 50 and report["tps"] * report["duration_s"] >= 500
    (report,) = reports("floor-sync", None, "--rounds 3 -d 0.2 --warmup 0")
    assert report["rounds"] == 3


@pytest.mark.parametrize("every", [1, 7])
def test_how_many_calls_are_timed(lab, every):
    """--lat-sample-every"""
    for report in reports(OURS, lab.seeds, f"--lat-sample-every {every} -d 0.8 --warmup 0 -k 100 --threads 2 -z 4"):
        calls, workers = report["tps"] * report["duration_s"], report["tasks"] or report["threads"]
        # Timed are calls that were whole between two looks at the clock. Counted are those that ended between the looks
        # at the counters before and after: never fewer, and on a busy machine more.
        timed, edge = report["samples"] * every, workers * every + 1
        assert calls / 2 - edge <= timed <= calls + edge, report


def test_latencies_in_columns(lab):
    """--latency --with-telemetry"""
    for form, words in (("4,1", "<=1ms"), ("ycsb", "AverageLatency(us)")):
        for report in reports(f"{BLOCKING},{ASYNC}", lab.seeds, f"--latency {form} -d 0.2 --warmup 0 -k 50 -z 2"):
            assert any(words in line for line in report["latency"]), report
    command = [*split("--mode pac-async --with-telemetry -d 1.2 --warmup 0 -k 50 -z 2 -H"), lab.seeds]
    done = subprocess.run(
        [sys.executable, "-m", "aerolane.bench", *command], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and "p99" in done.stderr, done.stderr


def test_event_loops(lab):
    """--pool-loops --loop"""
    pytest.importorskip("uvloop")
    for loop in ("asyncio", "uvloop"):
        for report in reports(ASYNC, lab.seeds, f"--pool-loops 2 -z 3 --loop {loop} -d 0.4 --warmup 0.1 -k 50"):
            assert (report["loop"], report["loops"], report["tasks"]) == (loop, 2, 6)


def test_clients_of_threads(lab):
    """--current-thread-runtime --batch-size --fast-path"""
    reports(BLOCKING, lab.seeds, "--current-thread-runtime --threads 3 -d 0.3 --warmup 0 -k 50 --fast-path")
    for report in reports(
        "pac-blocking,pac-async", lab.seeds, "--batch-size 8 --threads 2 -z 2 -d 0.3 --warmup 0 -k 50"
    ):
        assert report["batch"] == 8


@pytest.mark.parametrize("mode", OURS.split(","))
def test_alternate_addresses(lab, mode):
    """--services-alternate"""
    host, _, port = lab.nodes[0].address.rpartition(":")
    for flag, expected in (("--services-alternate", True), ("--no-services-alternate", False)):
        with overheard((host, int(port))) as (address, said):
            options = f"{flag} -d 0.2 --warmup 0 -k 20 --threads 1 -z 1"
            reports(mode, f"{address[0]}:{address[1]}", options)
        assert (b"-clear-alt\n" in said) is expected, said


@pytest.mark.parametrize("mode", OURS.split(","))
def test_competing_work(lab, mode):
    """--busy-loop"""
    (report,) = reports(mode, lab.seeds, "--busy-loop 2 -d 2 --warmup 0 -k 50 --threads 2 -z 4")
    busy = report["busy"]
    assert busy["work_ms"] == 2 and busy["runs"] > 0
    assert 0 <= busy["delay_p50_us"] <= busy["delay_p99_us"] <= busy["delay_max_us"]


def test_logins():
    """-U -P --auth-mode"""
    options = "-d 0.2 --warmup 0 -k 20 --threads 1 -z 1"
    with EmbeddedCluster(1, users={"me": "secret"}) as cluster:
        reports(OURS, cluster.seeds, options, *split("-U me -P secret --auth-mode internal"))
        reports(OURS, cluster.seeds, options, *split("-U me -P secret --auth-mode external_insecure"))
        for mode in OURS.split(","):
            done, found = bench(mode, cluster.seeds, options, *split("-U me -P wrong"))
            assert done.returncode == 1 and not found and "INVALID_CREDENTIAL" in done.stderr, done.stderr


def test_tls_with_a_certificate_of_the_client(tmp_path):
    """--tls-ca-file --tls-name --tls-cert-file --tls-key-file"""
    options = "-d 0.2 --warmup 0 -k 20 --threads 1 -z 1"
    authority = (TLS / "client.pem").read_text()
    with EmbeddedCluster(1, tls_name="lab.example", tls_client_ca=authority) as cluster:
        trusted = tmp_path / "ca.pem"
        trusted.write_text(cluster.certificate_pem)
        server = ["--tls-ca-file", str(trusted), "--tls-name", "lab.example"]
        mine = ["--tls-cert-file", str(TLS / "client.pem"), "--tls-key-file", str(TLS / "client-key.pem")]
        reports(OURS, cluster.tls_seeds, options, *server, *mine)
        done, found = bench(OURS, cluster.tls_seeds, options, *server)
        assert done.returncode == 1 and not found
        # Without the authority of the nodes, their certificate is not trusted.
        done, found = bench(OURS, cluster.tls_seeds, options, *server[2:], *mine)
        assert done.returncode == 1 and not found and "ertificate" in done.stderr, done.stderr


def test_a_progress_bar_on_a_terminal():
    mine, theirs = pty.openpty()
    command = [sys.executable, "-m", "aerolane.bench", *split("--mode floor-sync -d 3.2 --warmup 0")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        # The other end is closed: an error on Linux, the end elsewhere.
        with contextlib.suppress(OSError):
            while more := os.read(mine, 4096):
                shown += more
    os.close(mine)
    assert process.returncode == 0
    assert "█" in shown.decode() and "░" in shown.decode() and b"ops/s" in shown
    assert shown.endswith(b"\r\x1b[K")
