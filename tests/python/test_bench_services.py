"""The services of the study: what they read, what their users see, and how both sides' figures are put together."""

import asyncio
import importlib.util
import time
from collections import Counter

import pytest

from aerolane.bench import child
from aerolane.bench.modes import Missing
from aerolane.bench.services import features, program, users
from aerolane.bench.spec import RunSpec
from aerolane.testing import EmbeddedCluster

SPEC = RunSpec("pac-async", "", keys=600, batch=20, tasks=3, threads=3, duration=0.3, warmup=0.1, ticker=False)
NEEDED = ("fastapi", "uvicorn", "prometheus_client")


def spec(seeds, **changes):
    return RunSpec(**{**vars(SPEC), "seeds": seeds, **changes})


@pytest.fixture(scope="module")
def seeds():
    with EmbeddedCluster(1, 1, "test") as cluster:
        assert features.load(spec(cluster.seeds)) == 8 * 600
        yield cluster.seeds


def test_every_client_gets_the_same_requests():
    assert features.numbers(7, 5, 600) == features.numbers(7, 5, 600) != features.numbers(8, 5, 600)
    assert all(0 <= number < 600 for number in features.numbers(1, 1_000, 600))
    assert features.bins(3) == features.bins(3) != features.bins(4)


@pytest.mark.parametrize("mode", ["pac-async", "pac-blocking", "legacy-sync", "peer-apy-async", "peer-native-async"])
@pytest.mark.parametrize("name", ["nine-sets", "nine-sets-executor"])
def test_nine_sets(seeds, mode, name):
    answer = child.ask("run", spec(seeds, mode=mode, program=name))
    if answer.missing:
        pytest.skip(answer.missing)
    figures = answer.figures
    assert figures and figures["tps"] > 0 and figures["errors"] == figures["timeouts"] == 0, answer
    assert {name: of_set["found"] for name, of_set in figures["sets"].items()} == {
        name: float(name != features.EMPTY) for name in features.SETS
    }
    assert sum(of_set["samples"] for of_set in figures["sets"].values()) == figures["samples"] > 0


def test_a_client_that_finds_nothing_is_not_fast_but_wrong():
    with EmbeddedCluster(1, 1, "test") as cluster:
        answer = child.ask("run", spec(cluster.seeds, program="nine-sets"))
    assert answer.figures is None and "self-test" in answer.failure


@pytest.mark.parametrize("name", program.PROGRAMS)
def test_a_service_and_its_users(seeds, name):
    for module in (*NEEDED, *(("torch",) if name.startswith("predict-") else ())):
        pytest.importorskip(module)
    answer = child.ask("run", spec(seeds, program=name))
    figures = answer.figures
    assert figures and figures["tps"] > 0 and figures["errors"] == 0, answer
    expected = {"keys", "read", "features", "request"} | ({"inference"} if name.startswith("predict-") else set())
    assert figures["stages"].keys() == expected
    # What users have got, the service has made; those of the last moment may not have been counted by the users.
    assert figures["samples"] <= figures["stages"]["request"]["count"] <= figures["samples"] + SPEC.tasks
    assert figures["stages"]["read"]["mean_ms"] < figures["stages"]["request"]["mean_ms"]
    assert figures["client_cpu_us_per_op"] > 0 and figures["peak_rss_bytes"] > 1 << 20


def test_a_service_that_does_not_start_is_told():
    for module in NEEDED:
        pytest.importorskip(module)
    # Its client finds no records, and says so.
    with EmbeddedCluster(1, 1, "test") as cluster:
        began = time.perf_counter()
        answer = child.ask("run", spec(cluster.seeds, program="features-gather"))
    assert answer.figures is None and "the service did not answer" in answer.failure
    # Whoever asks a service that has ended need not be patient.
    assert time.perf_counter() - began < program.STARTING


def test_what_a_service_needs_is_said(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in ("torch", "uvicorn") else found(name))
    with pytest.raises(Missing, match=r"uvicorn, torch not installed \(pip install 'aerolane\[report-services"):
        program.run(spec("", program="predict-single"))
    with pytest.raises(Missing, match=r"^uvicorn not installed"):
        program.run(spec("", program="features-gather"))


async def answers_in_turn(answers, then):
    """A server of HTTP that gives one answer after the other, whoever asks; `then(port)` is awaited meanwhile."""
    asked = Counter()

    async def serve(reader, writer):
        while await reader.readuntil(b"\r\n\r\n"):
            asked["all"] += 1
            writer.write(answers[asked["all"] % len(answers)])
            await writer.drain()

    async def quietly(reader, writer):
        try:
            await serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async with await asyncio.start_server(quietly, "127.0.0.1", 0) as server:
        await then(server.sockets[0].getsockname()[1])
    return asked["all"]


GOOD = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy"


def use(answers, **changes):
    tally = users.Tally()

    async def then(port):
        arguments = {"users": 2, "working": lambda index: True, "until": time.perf_counter() + 0.2} | changes
        await users.use(port, "/x?user=", tally=tally, **arguments)

    return asyncio.run(answers_in_turn(answers, then)), tally


def test_refusals_are_errors_and_no_answers():
    asked, tally = use([GOOD, BUSY])
    assert tally.done == len(tally.latencies) > 0 and sum(tally.failures.values()) > 0
    assert tally.done + sum(tally.failures.values()) == asked
    assert set(tally.failures) == {"HttpError: HTTP/1.1 503 Service Unavailable: busy"}


@pytest.mark.parametrize("answer", [b"HTTP/1.1 200 OK\r\n\r\n{}", b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n"])
def test_answers_that_are_none(answer):
    _, tally = use([answer])
    assert tally.done == 0 and sum(tally.failures.values()) > 0


def test_users_who_do_not_work_yet_ask_for_nothing():
    asked, tally = use([GOOD], working=lambda index: False)
    assert asked == tally.done == 0


def test_a_ramp_grows(monkeypatch):
    ramp = RunSpec("pac-async", "", tasks=50, duration=10.0, program="predict-ramp-single")
    working = program._working(ramp, 100.0)

    def at(seconds):
        monkeypatch.setattr(program.time, "perf_counter", lambda: 100.0 + seconds)
        return sum(working(index) for index in range(50))

    assert [at(seconds) for seconds in (0, 2.5, 5, 7.5, 10)] == [0, 10, 20, 35, 50]


METRICS = b"""# HELP stage_duration_seconds Time of a stage of a request.
stage_duration_seconds_bucket{le="0.001",stage="read"} 2.0
stage_duration_seconds_bucket{le="0.002",stage="read"} 10.0
stage_duration_seconds_bucket{le="+Inf",stage="read"} 10.0
stage_duration_seconds_count{stage="read"} 10.0
stage_duration_seconds_sum{stage="read"} 0.0125
service_cpu_seconds 4.5
"""


def test_stages_of_prometheus_metrics():
    found = program.metrics(METRICS)
    assert found["service_cpu_seconds"] == 4.5
    stages = program.stages(found)
    assert stages.keys() == {"read"}
    read = stages["read"]
    # Three of the eight that are between 1 and 2 ms come before the middle one.
    assert (read["count"], read["mean_ms"], read["p50_ms"]) == (10, pytest.approx(1.25), pytest.approx(1.375))
    # Above the last bucket there is nothing but its lower end.
    assert program.quantile([(1.0, 5.0), (float("inf"), 10.0)], 0.9) == 1.0


def test_the_model_gives_each_candidate_its_score():
    pytest.importorskip("torch")
    from aerolane.bench.services.model import Model

    rows = [features.bins(number) for number in range(5)]
    sets = [rows for _ in features.SETS]
    scores = Model().scores(*Model().features(sets))
    assert len(scores) == 5 and all(0 <= score <= 1 for score in scores) and len(set(scores)) == 5
    # Its weights come from a seed, and a record that is missing is one of zeros.
    assert Model().scores(*Model().features(sets)) == scores
    assert len(Model().scores(*Model().features([[None] * 5 for _ in features.SETS]))) == 5
