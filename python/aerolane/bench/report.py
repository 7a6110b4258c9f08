"""The figures of one mode as one JSON object, and the median over several rounds."""

import importlib.metadata
from statistics import median
from typing import Any

from aerolane.bench import latency
from aerolane.bench.conductor import Window
from aerolane.bench.measure import latencies, percentile
from aerolane.bench.process import gil_enabled, python_name
from aerolane.bench.runner import Run

Report = dict[str, Any]

# Summed over rounds; other figures become medians.
SUMMED = ("errors", "timeouts", "not_found", "samples")


def report(run: Run, window: Window) -> Report:
    """Puts the figures of a run together."""
    spec, mode = run.spec, run.mode
    reads: list[int] = []
    writes: list[int] = []
    for worker in run.board.workers:
        reads += latencies(worker.reads, window.begin, window.end)
        writes += latencies(worker.writes, window.begin, window.end)
    ordered = sorted(reads + writes)
    totals, seconds = window.totals, window.seconds
    records = totals.records
    waits = sorted(wait for busy in run.busy for wait in busy.waits(window.begin, window.end))
    delays = sorted(delay for busy in run.busy for delay in busy.delays(window.begin, window.end))
    # The competing work is no work of the client.
    competing = sum(busy.cpu(window.begin, window.end) for busy in run.busy) / 1e9
    cpu = max(0.0, window.cpu.total - competing)
    answer: Report = {
        "client": mode.name,
        "mode": "async" if mode.asynchronous else "sync",
        "tasks": run.workers if mode.asynchronous else 0,
        "threads": run.loops if mode.asynchronous else run.workers,
        "batch": spec.batch,
        "tps": records / seconds,
        "errors": totals.errors + run.hung,
        "timeouts": totals.timeouts,
        "p50_us": percentile(ordered, 0.5) / 1e3,
        "p99_us": percentile(ordered, 0.99) / 1e3,
        "p999_us": percentile(ordered, 0.999) / 1e3,
        "max_us": ordered[-1] / 1e3 if ordered else 0.0,
        "client_cpu_us_per_op": cpu * 1e6 / records if records else 0.0,
        "peak_rss_bytes": window.peak_rss,
        "host": "none" if mode.floor else spec.seeds,
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
        "version": _version(mode.distribution),
        "read_tps": totals.reads / seconds,
        "write_tps": totals.writes / seconds,
        "median_tps": median(window.per_second) if window.per_second else records / seconds,
        "p90_us": percentile(ordered, 0.9) / 1e3,
        "samples": len(ordered),
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


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        # Run from a checkout.
        import aerolane

        return aerolane.__version__ if distribution == "aerolane" else ""


def middle(rounds: list[Report]) -> Report:
    """The median of every figure over the rounds of one mode; errors, timeouts and not-found are summed."""
    answer = dict(rounds[0])
    for name, value in rounds[0].items():
        if isinstance(value, float) or name == "peak_rss_bytes":
            answer[name] = type(value)(median(round_[name] for round_ in rounds))
        elif name in SUMMED:
            answer[name] = sum(round_[name] for round_ in rounds)
    if "busy" in answer:
        answer["busy"] = {name: median(round_["busy"][name] for round_ in rounds) for name in answer["busy"]}
    answer["error_samples"] = [sample for round_ in rounds for sample in round_["error_samples"]][:8]
    answer["rounds"] = len(rounds)
    return answer
