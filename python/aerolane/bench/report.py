"""The figures of one mode as one JSON object, and what several rounds give together."""

import importlib.metadata
from collections.abc import Iterable
from dataclasses import asdict
from statistics import median
from typing import Any

from aerolane.bench import latency
from aerolane.bench.arrivals import between
from aerolane.bench.conductor import Window
from aerolane.bench.histogram import Histogram
from aerolane.bench.measure import Worker, latencies, percentile
from aerolane.bench.process import gil_enabled, python_name
from aerolane.bench.runner import Run
from aerolane.bench.spec import BackgroundLarge

Report = dict[str, Any]

# The version of the form of a run's figures: the same number in `aerolane-bench` means the same names and units.
SCHEMA = 1

# Summed over rounds. Latencies are those of the samples of all rounds together, other figures become medians.
SUMMED = ("errors", "timeouts", "not_found")
# Whose smallest, middle and largest figures over the rounds are reported.
SPREAD = ("tps", "client_cpu_us_per_op", "p50_us", "p99_us", "p999_us")


def report(run: Run, window: Window) -> Report:
    """Puts the figures of a run together."""
    spec, mode = run.spec, run.mode
    paced = bool(spec.rate)
    reads, writes = _latencies(run.board.workers, window, paced)
    not_begun = _not_begun(run, window, reads, writes)
    large, _ = _latencies(run.large_board.workers, window, False)
    histograms = {"reads": Histogram(reads), "writes": Histogram(writes), "background_large": Histogram(large)}
    totals, seconds = window.totals, window.seconds
    records = totals.records
    waits = sorted(wait for busy in run.busy for wait in busy.waits(window.begin, window.end))
    delays = sorted(delay for busy in run.busy for delay in busy.delays(window.begin, window.end))
    # The competing work is no work of the client.
    competing = sum(busy.cpu(window.begin, window.end) for busy in run.busy) / 1e9
    cpu = max(0.0, window.cpu.total - competing)
    answer: Report = {
        "schema": SCHEMA,
        "client": mode.name,
        "mode": "async" if mode.asynchronous else "sync",
        "tasks": run.workers if mode.asynchronous else 0,
        "threads": run.loops if mode.asynchronous else run.workers,
        "batch": spec.batch,
        "tps": records / seconds,
        "errors": totals.errors + run.hung,
        "timeouts": totals.timeouts,
        **_all(histograms).figures(),
        "reads": histograms["reads"].figures(),
        "writes": histograms["writes"].figures(),
        "client_cpu_us_per_op": cpu * 1e6 / records if records else 0.0,
        "voluntary_switches_per_op": window.cpu.voluntary_switches / records if records else 0.0,
        "involuntary_switches_per_op": window.cpu.involuntary_switches / records if records else 0.0,
        "peak_rss_bytes": window.peak_rss,
        "host": "none" if mode.floor else spec.seeds,
        "tls": spec.security.tls and not mode.floor,
        "conditions": asdict(spec.conditions),
        "workload": spec.workload,
        "keys": spec.keys,
        "bins": spec.bins,
        "columns": "numpy" if spec.as_numpy else None,
        "idle_tasks": 0,
        "duration_s": seconds,
        "rounds": 1,
        "not_found": totals.missed,
        "client_cpu_system_share": window.cpu.system / window.cpu.total if window.cpu.total else 0.0,
        "error_samples": [{"message": text, "count": count} for text, count in run.board.messages.most_common()],
        "python": python_name(),
        "gil": gil_enabled(),
        "loop": ("uvloop" if run.uses_uvloop() else "asyncio") if mode.asynchronous else None,
        "loops": run.loops if mode.asynchronous else 0,
        "version": version(mode.distribution),
        "read_tps": totals.reads / seconds,
        "write_tps": totals.writes / seconds,
        "median_tps": median(window.per_second) if window.per_second else records / seconds,
        "open_loop": _open_loop(run, window, not_begun) if paced else None,
        "background_large": _background(run, window, histograms["background_large"], seconds),
        "histograms": {name: histogram.to_pairs() for name, histogram in histograms.items()},
    }
    if spec.latency:
        answer["latency"] = latency.lines(spec.latency, sorted(reads), sorted(writes))
    if run.busy:
        answer["busy"] = {
            "work_ms": spec.busy_ms,
            "runs": len(delays),
            "cpu_mean_us": competing * 1e6 / len(delays) if delays else 0.0,
            "wait_mean_us": sum(waits) / len(waits) / 1e3 if waits else 0.0,
            "wait_p50_us": percentile(waits, 0.5) / 1e3,
            "wait_p99_us": percentile(waits, 0.99) / 1e3,
            "delay_mean_us": sum(delays) / len(delays) / 1e3 if delays else 0.0,
            "delay_p50_us": percentile(delays, 0.5) / 1e3,
            "delay_p99_us": percentile(delays, 0.99) / 1e3,
            "delay_max_us": delays[-1] / 1e3 if delays else 0.0,
        }
    return answer


def _latencies(workers: Iterable[Worker], window: Window, paced: bool) -> tuple[list[int], list[int]]:
    """Of reads and of writes, nanoseconds."""
    reads: list[int] = []
    writes: list[int] = []
    begin, end = window.due if paced else (window.begin, window.end)
    for worker in workers:
        reads += latencies(worker.reads, begin, end, paced)
        writes += latencies(worker.writes, begin, end, paced)
    return reads, writes


def _not_begun(run: Run, window: Window, reads: list[int], writes: list[int]) -> int:
    """Enters what no worker has begun into the latencies, with its age when it was given up; returns how many."""
    workload = run.spec.parsed_workload()
    count = 0
    for schedule in run.schedules:
        for age in schedule.not_begun(*window.due):
            count += 1
            # Which of them would have been reads is not drawn, so they come in the share of the workload.
            if count % run.spec.sample_every == 0:
                (reads if count % 100 < workload.shown_read_pct else writes).append(age)
    return count


def _open_loop(run: Run, window: Window, not_begun: int) -> dict[str, Any]:
    """What became of the schedule of an open loop."""
    spec = run.spec
    delays = [delay for schedule in run.schedules for delay in between(schedule.delays, *window.due)]
    pacer = [late for schedule in run.schedules for late in between(schedule.pacer, *window.due)]
    late = sum(window.due[0] <= due < window.due[1] for schedule in run.schedules for due in schedule.late)
    return {
        "rate": spec.rate,
        "arrivals": spec.arrivals,
        "max_outstanding": run.workers,
        "offered": len(delays) + not_begun,
        "late": late + not_begun,
        "not_started": not_begun,
        "pacer_lateness": Histogram(pacer).figures(),
        "start_delay": Histogram(delays).figures(),
    }


def _background(run: Run, window: Window, histogram: Histogram, seconds: float) -> dict[str, Any] | None:
    """The figures of the tasks that read large records beside the workload."""
    if not run.spec.background_large:
        return None
    large, totals = BackgroundLarge.parse(run.spec.background_large), run.large_board.totals()
    return {
        "tasks": large.tasks * run.loops,
        "bytes": large.size,
        "tps": histogram.samples / seconds,
        "megabytes_per_s": histogram.samples * large.size / seconds / 1e6,
        "errors": totals.errors + totals.timeouts,
        "latency": histogram.figures(),
    }


def _all(histograms: dict[str, Histogram]) -> Histogram:
    """All operations of the workload."""
    merged = Histogram()
    for name in ("reads", "writes"):
        merged.merge(histograms[name])
    return merged


def version(distribution: str) -> str:
    """The installed version of a package; empty if it is not installed."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        # Run from a checkout.
        import aerolane

        return aerolane.__version__ if distribution == "aerolane" else ""


def middle(rounds: list[Report]) -> Report:
    """What several rounds of one mode give together.

    Latencies are those of all samples together; errors, timeouts and not-found are summed; other figures are medians.
    """
    answer = dict(rounds[0])
    for name, value in rounds[0].items():
        if isinstance(value, float) or name == "peak_rss_bytes":
            answer[name] = type(value)(median(round_[name] for round_ in rounds))
        elif name in SUMMED:
            answer[name] = sum(round_[name] for round_ in rounds)
    if "busy" in answer:
        answer["busy"] = _medians([round_["busy"] for round_ in rounds])
    if answer.get("open_loop"):
        answer["open_loop"] = _medians([round_["open_loop"] for round_ in rounds])
    if answer.get("background_large"):
        answer["background_large"] = _medians([round_["background_large"] for round_ in rounds])
    if "histograms" in answer:
        merged = {name: Histogram() for name in rounds[0]["histograms"]}
        for round_ in rounds:
            for name, pairs in round_["histograms"].items():
                merged[name].merge(Histogram.from_pairs(pairs))
        answer |= _all(merged).figures()
        answer["reads"], answer["writes"] = merged["reads"].figures(), merged["writes"].figures()
        answer["histograms"] = {name: histogram.to_pairs() for name, histogram in merged.items()}
        if answer["background_large"]:
            answer["background_large"]["latency"] = merged["background_large"].figures()
    answer["error_samples"] = [sample for round_ in rounds for sample in round_["error_samples"]][:8]
    answer["rounds"] = len(rounds)
    answer["spread"] = {name: _spread([round_[name] for round_ in rounds]) for name in SPREAD}
    answer["each_round"] = [
        {name: value for name, value in round_.items() if name != "histograms"} for round_ in rounds
    ]
    return answer


def _medians(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """The median of each figure, also of those within; counts are summed."""
    answer = dict(rounds[0])
    for name, value in rounds[0].items():
        if isinstance(value, dict):
            answer[name] = _medians([round_[name] for round_ in rounds])
        elif name in ("offered", "late", "not_started", "samples", "errors"):
            answer[name] = sum(round_[name] for round_ in rounds)
        elif isinstance(value, float) or (isinstance(value, int) and any(round_[name] != value for round_ in rounds)):
            answer[name] = median(round_[name] for round_ in rounds)
    return answer


def _spread(figures: list[float]) -> dict[str, float]:
    return {"min": min(figures), "median": median(figures), "max": max(figures)}
