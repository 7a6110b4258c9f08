"""The load harness: operations that are due on a schedule, and rounds that are put together."""

import asyncio
import contextlib
import itertools
import json
import math
import os
import statistics
import subprocess
import sys
import threading
import time
from array import array
from shlex import split

import pytest

from aerolane.bench import cores, session
from aerolane.bench.arrivals import DRAIN, LoopSchedule, ThreadSchedule, arrivals, between
from aerolane.bench.cli import parser, plan
from aerolane.bench.histogram import Histogram
from aerolane.bench.loops import source
from aerolane.bench.measure import latencies
from aerolane.bench.report import middle
from aerolane.bench.spec import RunSpec
from aerolane.bench.timer import LoopTimer
from aerolane.testing import EmbeddedCluster

MS = 1_000_000
OURS = "sync,async,pac-blocking,pac-async"


def bench(modes, options, *more):
    """The reports of a run.

    Clients have their usual timeout of a second. A machine that stands still for longer makes calls fail, which is for
    the tests to allow.
    """
    command = [sys.executable, "-m", "aerolane.bench", "--mode", modes, "--json", *split(options), *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=os.environ)
    assert done.returncode == 0, done.stderr
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["client"] for report in reports] == modes.split(",")
    return reports


def answered_or_failed(report):
    """The operations of an open loop that have a latency, and those that failed."""
    return report["samples"] + report["errors"] + report["timeouts"]


# The schedule.


def first(count, *which):
    return list(itertools.islice(arrivals(*which), count))


def test_poisson_arrivals_have_the_mean_and_the_spread_of_the_process():
    times = first(50_000, "poisson", 2000.0, 7)
    gaps = [(later - earlier) / 1e9 for earlier, later in itertools.pairwise(times)]
    mean = statistics.mean(gaps)
    assert mean * 2000 == pytest.approx(1, abs=0.02)
    # The standard deviation of exponential gaps is their mean, and e^-1 of them are longer.
    assert statistics.stdev(gaps) / mean == pytest.approx(1, abs=0.03)
    assert sum(gap > mean for gap in gaps) / len(gaps) == pytest.approx(math.exp(-1), abs=0.015)


def test_constant_arrivals_do_not_drift_and_those_of_several_loops_interleave():
    times = first(300_000, "constant", 3000.0, 1)
    assert times[0] == 333_333 and abs(times[-1] - 100_000_000_000) < 1000
    parts = [first(3, "constant", 1000.0, 1, part, 2) for part in range(2)]
    assert sorted(parts[0] + parts[1]) == [1 * MS, 2 * MS, 3 * MS, 4 * MS, 5 * MS, 6 * MS]


def test_the_same_seed_gives_the_same_arrivals():
    assert first(100, "poisson", 1000.0, 1) == first(100, "poisson", 1000.0, 1)
    assert first(100, "poisson", 1000.0, 1) != first(100, "poisson", 1000.0, 2)
    assert first(100, "poisson", 1000.0, 1, 0, 2) != first(100, "poisson", 1000.0, 1, 1, 2)


def test_threads_take_each_operation_once_and_not_before_it_is_due():
    schedule = ThreadSchedule(arrivals("poisson", 1000.0, 3), 0.3)
    taken = []

    def work():
        while due := schedule.take():
            assert time.perf_counter_ns() >= due
            taken.append(due)

    origin = time.perf_counter_ns()
    schedule.begin(origin)
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [origin + due for due in first(1000, "poisson", 1000.0, 3) if due < 0.3e9]
    # What is not taken within a second after the end is given up.
    given_up = schedule.not_begun(origin, origin + 300 * MS)
    assert sorted(taken) == expected[: len(taken)] and len(taken) + len(given_up) == len(expected)
    assert len(schedule.pacer) // 2 + len(schedule.late) == len(schedule.delays) // 2 == len(taken)


def test_tasks_take_each_operation_once_and_not_before_it_is_due():
    async def run():
        schedule = LoopSchedule(arrivals("poisson", 1000.0, 3), 0.3)
        taken = []

        async def work():
            while due := schedule.take() or await schedule.wait():
                assert time.perf_counter_ns() >= due
                taken.append(due)
                await asyncio.sleep(0)

        tasks = [asyncio.create_task(work()) for _ in range(3)]
        await asyncio.sleep(0)
        origin = time.perf_counter_ns()
        await asyncio.to_thread(schedule.begin, origin)
        await asyncio.gather(*tasks)
        schedule.close()
        return origin, schedule, taken

    origin, schedule, taken = asyncio.run(run())
    expected = [origin + due for due in first(1000, "poisson", 1000.0, 3) if due < 0.3e9]
    given_up = schedule.not_begun(origin, origin + 300 * MS)
    assert sorted(taken) == expected[: len(taken)] and len(taken) + len(given_up) == len(expected)
    assert len(schedule.delays) // 2 == len(taken)


def test_a_loop_schedule_that_is_ended_early_lets_its_tasks_go():
    async def run():
        schedule = LoopSchedule(arrivals("constant", 0.001, 3), 1e6)
        task = asyncio.create_task(schedule.wait())
        await asyncio.sleep(0)
        await asyncio.to_thread(schedule.begin, time.perf_counter_ns())
        await asyncio.to_thread(schedule.finish, time.perf_counter_ns())
        assert await asyncio.wait_for(task, 60) == 0
        schedule.close()

    asyncio.run(run())


def test_what_no_worker_begins_is_told_with_its_age():
    schedule = ThreadSchedule(arrivals("constant", 1000.0, 3), 0.1)
    origin = time.perf_counter_ns()
    schedule.begin(origin)
    ages = schedule.not_begun(origin + 50 * MS, origin + 100 * MS)
    assert len(ages) == 50 and ages[0] == DRAIN + 50 * MS and ages[-1] == DRAIN + MS


def test_timers_of_loops_are_never_early_and_the_last_order_counts():
    async def run():
        loop = asyncio.get_running_loop()
        fired = loop.create_future()
        timer = LoopTimer(loop, lambda: fired.set_result(time.perf_counter_ns()))
        at = time.perf_counter_ns() + 3 * MS
        timer.arm(at + 3600 * 1000 * MS)
        timer.arm(at)
        assert await asyncio.wait_for(fired, 60) >= at
        timer.close()

    asyncio.run(run())


def test_the_latency_of_an_operation_counts_from_when_it_was_due():
    text, _ = source(RunSpec(mode="sync", seeds="", rate=5.0, sample_every=1), False, calls())
    assert "began = take()" in text and "clock()" not in text.split("began = take()")[0]
    text, _ = source(RunSpec(mode="async", seeds="", rate=5.0), True, calls())
    assert text.count("began = take() or await wait()") == 2
    samples = array("q", [5, 9, 10, 300, 49, 60, 50, 51])
    assert latencies(samples, 10, 50, open_loop=True) == [11, 290]
    assert between(samples, 10, 50) == [300, 60]


def calls():
    from aerolane.bench.clients.calls import Calls

    return Calls({}, read="get({key})", write="put({key}, {bins})")


# Rounds.


def test_histograms_survive_the_way_to_the_parent_and_are_merged():
    histogram = Histogram(range(1000, 1_000_001, 1000))
    pairs = json.loads(json.dumps(histogram.to_pairs()))
    merged = Histogram.from_pairs(pairs)
    assert merged.figures() == histogram.figures()
    assert merged.figures()["p50_us"] == pytest.approx(500, rel=0.001)
    merged.merge(Histogram([10_000] * 9000))
    figures = merged.figures()
    assert figures["samples"] == 10_000 and figures["p50_us"] == pytest.approx(10, rel=0.001)
    # The slowest tenth is that of the first; a median of percentiles would not show it.
    assert figures["p99_us"] == pytest.approx(900, rel=0.002)
    assert figures["max_us"] == pytest.approx(1000, rel=0.001)
    assert list(Histogram().figures().values()) == [0] * 9


def test_rounds_are_kept_one_by_one():
    def round_(tps, latencies):
        reads = Histogram(latencies)
        empty = Histogram()
        names = {"reads": reads, "writes": empty, "background_large": empty}
        return {
            "tps": tps,
            "client_cpu_us_per_op": 1.0,
            **reads.figures(),
            "reads": reads.figures(),
            "writes": empty.figures(),
            "background_large": None,
            "open_loop": {"rate": 5.0, "offered": 7, "pacer_lateness": {"p99_us": tps}},
            "error_samples": [],
            "histograms": {name: histogram.to_pairs() for name, histogram in names.items()},
        }

    answer = middle([round_(1.0, [1000]), round_(5.0, [2000] * 10), round_(2.0, [3000] * 100)])
    assert (answer["tps"], answer["samples"], answer["reads"]["samples"]) == (2.0, 111, 111)
    assert answer["p50_us"] == pytest.approx(3, rel=0.001)
    assert answer["spread"]["tps"] == {"min": 1.0, "median": 2.0, "max": 5.0}
    assert [each["tps"] for each in answer["each_round"]] == [1.0, 5.0, 2.0]
    # Those of all rounds together, and not once more for each.
    assert Histogram.from_pairs(answer["histograms"]["reads"]).samples == 111
    assert "histograms" not in answer["each_round"][0]
    assert answer["open_loop"] == {"rate": 5.0, "offered": 21, "pacer_lateness": {"p99_us": 2.0}}


# Options.


def planned(*arguments):
    return plan(parser().parse_args(arguments))


def test_what_an_open_loop_changes():
    spec = planned(*split("--rate 2500 --arrivals constant --background-large 4:900000 --mode async")).spec
    assert (spec.rate, spec.arrivals, spec.tasks, spec.sample_every) == (2500.0, "constant", 1024, 1)
    assert RunSpec.from_json(spec.to_json()) == spec
    large = spec.large()
    assert (large.tasks, large.bins, large.keys, large.rate) == (4, "B900000", 16, 0.0)
    assert large.set_name != spec.set_name and large.large() is None
    spec = planned(*split("--rate 2500 -z 8 --lat-sample-every 5")).spec
    assert (spec.tasks, spec.sample_every) == (8, 5)


@pytest.mark.parametrize("text", ["7,1", "7,1,us", "ycsb"])
def test_the_vendors_option_for_columns_is_understood(text):
    spec = planned("--latency", text).spec
    assert spec.latency == text and not spec.conditions.options()
    assert planned("--latency-columns", text).spec == spec


def test_conditions_are_passed_to_the_cluster_that_is_started(monkeypatch):
    told = {}

    def start(*arguments, **settings):
        told.update(settings)
        raise RuntimeError("no cluster today")

    monkeypatch.setattr(session, "EmbeddedCluster", start)
    given = split("--service-time read=80us,write=99%:300us+1%:20ms --in-service 64 --latency 150us~30us")
    with pytest.raises(session.ClusterError, match="no cluster today"):
        session.run(planned(*given), print)
    assert told == {
        "service_time": "read=80us,write=99%:300us+1%:20ms",
        "in_service": 64,
        "latency": "150us~30us",
        "tls_name": None,
    }


@pytest.mark.skipif(not cores.can_be_parted(), reason="needs two cores and Linux")
def test_the_cluster_and_the_clients_have_cores_of_their_own(monkeypatch):
    def shown():
        program = "import os; print(*os.sched_getaffinity(0))"
        return [int(core) for core in subprocess.check_output([sys.executable, "-c", program]).split()]

    before = os.sched_getaffinity(0)
    first, *others = sorted(before)
    with cores.of_cluster(True):
        assert shown() == [first]
    with cores.of_clients(True):
        assert shown() == others
    with cores.of_cluster(False), cores.of_clients(False):
        assert set(shown()) == before
    assert os.sched_getaffinity(0) == before

    started = []

    def noted(who):
        @contextlib.contextmanager
        def note(parted):
            started.append((who, parted))
            yield

        return note

    monkeypatch.setattr(cores, "of_cluster", noted("cluster"))
    monkeypatch.setattr(cores, "of_clients", noted("clients"))
    session.run(
        planned(*split("--mode pac-async -k 100 -d 0.2 --warmup 0 --own-core --nodes 1 --json")), lambda *_: None
    )
    assert started == [("cluster", True), ("clients", True), ("clients", True)], "the load and the run"


# Runs.


@pytest.mark.parametrize("mode", OURS.split(","))
def test_an_open_loop_shows_a_stall_to_all_that_were_due_in_it(mode):
    """One worker meets a stall of 600 ms in a run of 2 s: about a third of all operations are due in it and wait for
    it, but just one is being made. Whoever times calls from when they are made sees that one only."""
    with EmbeddedCluster(1) as cluster:
        cluster.inject("delay", 0.6, on="read", skip=150, times=1)
        options = "-w RU,100 --rate 400 -z 1 --threads 1 -d 2 --warmup 0 -k 100"
        (report,) = bench(mode, options, "-H", cluster.seeds)
    # A tenth of all were due in the first 200 ms of the stall.
    assert report["p90_us"] > 100_000 and report["max_us"] > 300_000, report
    found = report["open_loop"]
    assert 600 < found["offered"] < 1000 and answered_or_failed(report) >= found["offered"], report
    assert found["late"] > 100 and found["start_delay"]["max_us"] > 500_000, report


def test_all_clients_are_offered_the_same_operations():
    """--rate --arrivals --rounds"""
    options = "--rate 500 --arrivals constant --threads 4 -d 0.4 --warmup 0.1 -k 100 --rounds 2"
    for report in bench(f"{OURS},floor-sync,floor-async", options):
        found = report["open_loop"]
        assert abs(found["offered"] - 400) <= 2 and found["arrivals"] == "constant", report
        assert found["max_outstanding"] == (1024 if report["mode"] == "async" else 4)
        assert answered_or_failed(report) >= found["offered"], report
        assert report["reads"]["samples"] + report["writes"]["samples"] == report["samples"]
        assert sum(each["samples"] for each in report["each_round"]) == report["samples"]
        assert report["spread"]["tps"]["min"] <= report["tps"] <= report["spread"]["tps"]["max"]
        assert report["voluntary_switches_per_op"] > 0


def test_several_loops_share_the_rate():
    (report,) = bench("async", "--rate 500 --pool-loops 2 -d 1 --warmup 0 -k 100")
    assert 350 < report["open_loop"]["offered"] < 650, report
    assert answered_or_failed(report) >= report["open_loop"]["offered"]


def test_large_reads_beside_the_workload_are_reported_apart():
    """--background-large"""
    with EmbeddedCluster(1) as cluster:
        options = "--background-large 2:300000 -w RU,100 -z 3 -d 1 --warmup 0.2 -k 100 --lat-sample-every 1 -H"
        for report in bench("async,pac-async", options, cluster.seeds):
            large = report["background_large"]
            assert (large["tasks"], large["bytes"]) == (2, 300_000)
            assert large["tps"] > 0 and large["latency"]["samples"] > 0, report
            assert report["samples"] > 0 and report["not_found"] == 0, report
        assert cluster.record_count() == 108


def test_a_cluster_of_its_own_over_tls():
    """--tls"""
    for report in bench(OURS, "--tls --nodes 1 -d 0.3 --warmup 0 -k 50 --threads 2 -z 2"):
        assert report["tls"] is True and report["tps"] > 0, report
