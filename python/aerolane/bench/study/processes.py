"""A concurrency pattern in several processes, each with a client of its own."""

import multiprocessing
from dataclasses import replace
from typing import Any

from aerolane.bench.histogram import Histogram
from aerolane.bench.report import Report
from aerolane.bench.spec import RunSpec

# What each process runs.
PATTERN = "queue"
# What a process may take to start, and to end after its time, seconds.
PATIENCE = 30.0

# Figures that are sums over the processes; those that cost something for each record are means over all records.
SUMMED = ("records", "tps", "errors", "timeouts", "peak_rss_bytes")
PER_RECORD = ("client_cpu_us_per_op", "voluntary_switches_per_op", "involuntary_switches_per_op")


def run(spec: RunSpec) -> Report:
    """`spec.threads` processes, each with `spec.tasks` reads in flight. They begin together.

    Raises `RuntimeError` where one of them fails.
    """
    # A fork would copy a client's threads and connections half: each process starts from nothing.
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(spec.threads)
    answers = context.Queue()
    processes = [
        context.Process(target=_process, args=(spec, ready, answers), daemon=True) for _ in range(spec.threads)
    ]
    for process in processes:
        process.start()
    try:
        limit = PATIENCE * 2 + spec.warmup + spec.duration
        found: list[Report] = [answers.get(timeout=limit) for _ in processes]
    finally:
        for process in processes:
            process.join(PATIENCE)
            process.kill()
    for figures in found:
        if "failure" in figures:
            raise RuntimeError(figures["failure"])
    return together(spec, found)


def together(spec: RunSpec, found: list[Report]) -> Report:
    """The figures of all processes as those of one run."""
    histogram = Histogram()
    for figures in found:
        histogram.merge(Histogram.from_pairs(figures["histograms"]["all"]))
    records = sum(figures["records"] for figures in found)
    answer = dict(found[0]) | {"program": spec.program, "processes": len(found)}
    answer |= {name: sum(figures[name] for figures in found) for name in SUMMED}
    answer |= {
        name: sum(figures[name] * figures["records"] for figures in found) / records if records else 0.0
        for name in PER_RECORD
    }
    return answer | histogram.figures() | {"histograms": {"all": histogram.to_pairs()}}


def _process(spec: RunSpec, ready: Any, answers: Any) -> None:
    """One of the processes."""
    from aerolane.bench.study import programs

    try:
        figures = programs.run(replace(spec, program=PATTERN), before=lambda: ready.wait(PATIENCE))
    except Exception as error:
        ready.abort()
        figures = {"failure": f"{type(error).__name__}: {error}"}
    answers.put(figures)
