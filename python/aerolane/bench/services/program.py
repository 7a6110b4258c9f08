"""One round of a service: it is started in a process of its own, users come, and both sides' figures are taken."""

import asyncio
import importlib.util
import subprocess
import sys
import time
from collections.abc import Callable

from aerolane.bench.histogram import Histogram
from aerolane.bench.modes import MODES, Missing
from aerolane.bench.process import gil_enabled, python_name
from aerolane.bench.report import SCHEMA, Report
from aerolane.bench.services.features import SETS
from aerolane.bench.services.users import Connection, HttpError, Tally, Working, use
from aerolane.bench.spec import RunSpec

# `features`: without a model. `ramp`: the number of users grows from none to a first and then to a second number.
PROGRAMS = ("features-gather", "predict-single", "predict-gather", "predict-merge", "predict-ramp-single")
# Users at the end of the first half of a ramp, as a share of those at its end.
FIRST = 0.4
# How long a service may take to start: a model's library is large.
STARTING = 40.0
NEEDED = {"fastapi": "fastapi", "uvicorn": "uvicorn", "prometheus_client": "prometheus-client"}
EXTRA = "pip install 'aerolane[report-services,report-model]'"


def run(spec: RunSpec) -> Report:
    """Raises `Missing` where a package is not installed, and `RuntimeError` where the service does not start."""
    needed = NEEDED | ({"torch": "torch"} if spec.program.startswith("predict-") else {})
    missing = [package for module, package in needed.items() if importlib.util.find_spec(module) is None]
    if missing:
        raise Missing(f"{', '.join(missing)} not installed ({EXTRA})")
    # It says that its client is missing before a process is started for nothing.
    MODES[spec.mode].open()
    command = [sys.executable, "-m", "aerolane.bench.services.app"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdin and service.stdout
        try:
            service.stdin.write(spec.to_json() + "\n")
            service.stdin.flush()
            port = service.stdout.readline()
            if not port:
                raise RuntimeError(f"the service did not start: it ended with status {service.wait(STARTING)}")
            return asyncio.run(_measure(spec, int(port), lambda: service.poll() is None))
        finally:
            service.stdin.close()
            try:
                service.wait(10)
            except subprocess.TimeoutExpired:
                service.kill()


async def _measure(spec: RunSpec, port: int, runs: Callable[[], bool]) -> Report:
    connection = Connection(port)
    await _until_ready(connection, runs)
    path = "/predict?user=" if spec.program.startswith("predict-") else "/features?user="
    await use(port, path, spec.tasks, time.perf_counter() + spec.warmup, lambda _: True, Tally())
    before = metrics(await connection.get("/metrics"))
    tally, begun = Tally(), time.perf_counter()
    await use(port, path, spec.tasks, begun + spec.duration, _working(spec, begun), tally)
    seconds = time.perf_counter() - begun
    after = metrics(await connection.get("/metrics"))
    connection.close()
    return _figures(spec, tally, seconds, before, after)


def _working(spec: RunSpec, begun: float) -> Working:
    """Which users work: all of them, or more and more."""
    if "ramp" not in spec.program:
        return lambda _: True

    def working(index: int) -> bool:
        part = (time.perf_counter() - begun) / spec.duration
        share = 2 * part * FIRST if part < 0.5 else FIRST + (2 * part - 1) * (1 - FIRST)
        return index < share * spec.tasks

    return working


async def _until_ready(connection: Connection, runs: Callable[[], bool]) -> None:
    """The socket is there before the service is: it answers once its client is connected."""
    end = time.perf_counter() + STARTING
    while True:
        try:
            await connection.get("/metrics")
            return
        except (HttpError, OSError, TimeoutError) as error:
            if not runs() or time.perf_counter() > end:
                raise RuntimeError(f"the service did not answer: {error}") from None
            await asyncio.sleep(0.05)


Metrics = dict[str, float]


def metrics(text: bytes) -> Metrics:
    """Prometheus metrics by name and labels, as they stand in the text."""
    lines = (line.rpartition(" ") for line in text.decode().splitlines() if line and not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


def _figures(spec: RunSpec, tally: Tally, seconds: float, before: Metrics, after: Metrics) -> Report:
    grown = {name: value - before.get(name, 0.0) for name, value in after.items()}
    histogram, requests = Histogram(tally.latencies), tally.done
    failed = tally.failures.total()

    def per_request(name: str, factor: float = 1.0) -> float:
        return grown[name] * factor / requests if requests else 0.0

    return {
        "schema": SCHEMA,
        "client": spec.mode,
        "program": spec.program,
        "mode": "async" if MODES[spec.mode].asynchronous else "sync",
        "tasks": spec.tasks,
        "records": requests,
        "records_per_request": spec.batch * len(SETS),
        "tps": requests / seconds,
        "client_cpu_us_per_op": per_request("service_cpu_seconds", 1e6),
        "voluntary_switches_per_op": per_request("service_voluntary_switches"),
        "involuntary_switches_per_op": per_request("service_involuntary_switches"),
        "duration_s": seconds,
        "errors": failed,
        "timeouts": 0,
        "error_samples": [{"message": text, "count": count} for text, count in tally.failures.most_common(8)],
        "peak_rss_bytes": int(after["service_peak_rss_bytes"]),
        "stages": stages(grown),
        "python": python_name(),
        "gil": gil_enabled(),
        **histogram.figures(),
        "histograms": {"all": histogram.to_pairs()},
    }


def stages(grown: Metrics) -> dict[str, Metrics]:
    """Of what histograms have grown by: count, mean, median and 95th percentile of each stage, milliseconds."""
    from aerolane.bench.services.app import STAGE_METRIC, STAGES

    found = {}
    for stage in STAGES:
        label = f'stage="{stage}"'
        count = grown.get(f"{STAGE_METRIC}_count{{{label}}}", 0.0)
        if count:
            prefix = f'{STAGE_METRIC}_bucket{{le="'
            buckets = sorted(
                (float(name[len(prefix) :].partition('"')[0]), value)
                for name, value in grown.items()
                if name.startswith(prefix) and name.endswith(f"{label}}}")
            )
            found[stage] = {
                "count": count,
                "mean_ms": grown[f"{STAGE_METRIC}_sum{{{label}}}"] / count * 1e3,
                "p50_ms": quantile(buckets, 0.5) * 1e3,
                "p95_ms": quantile(buckets, 0.95) * 1e3,
            }
    return found


def quantile(buckets: list[tuple[float, float]], share: float) -> float:
    """A quantile of cumulative buckets, as Prometheus reckons it: evenly spread within a bucket."""
    wanted = share * buckets[-1][1]
    low, below = 0.0, 0.0
    for high, count in buckets:
        if count >= wanted:
            if high == float("inf"):
                return low
            return low + (high - low) * (wanted - below) / (count - below) if count > below else high
        low, below = high, count
    return low
