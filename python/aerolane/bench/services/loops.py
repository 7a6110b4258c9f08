"""Batch reads in a loop: no HTTP and no model around them. The client is nearly all there is."""

import asyncio
import itertools
import threading
import time

from aerolane.bench.histogram import Histogram
from aerolane.bench.meter import Meter
from aerolane.bench.report import Report
from aerolane.bench.services.features import SETS, numbers, records
from aerolane.bench.services.readers import Reader, Row
from aerolane.bench.spec import RunSpec


class _Batches:
    """The batches of a run, one after the other over the sets, and what became of them."""

    def __init__(self, spec: RunSpec, reader: Reader) -> None:
        self.spec = spec
        self.reader = reader
        self.meter = Meter(spec)
        self._numbers = itertools.count()
        self._among = records(spec)
        self._each: dict[str, list[int]] = {name: [] for name in SETS}
        self._found = dict.fromkeys(SETS, 0)
        self._read = dict.fromkeys(SETS, 0)

    def next(self) -> tuple[str, list[int]]:
        """Which set is next, and which records of it."""
        number = next(self._numbers)
        return SETS[number % len(SETS)], numbers(number, self.spec.batch, self._among)

    def keys(self, name: str, asked: list[int]) -> list[object]:
        """Their keys."""
        return self.reader.keys(self.spec.namespace, name, asked)

    def ended(self, name: str, took: int, rows: list[Row]) -> None:
        """Counts an answer whose bins have been looked at."""
        found = sum(row is not None for row in rows)
        self.meter.done += len(rows)
        self._found[name] += found
        self._read[name] += len(rows)
        if self.meter.measures:
            self.meter.latencies.append(took)
            self._each[name].append(took)

    def figures(self) -> Report:
        """Of all sets together, and of each."""
        sets = {
            name: Histogram(took).figures() | {"found": self._found[name] / max(1, self._read[name])}
            for name, took in self._each.items()
        }
        return self.meter.figures() | {"batch": self.spec.batch, "sets": sets}


async def on_loop(spec: RunSpec) -> Report:
    """So many tasks on an event loop; a blocking client is called in an executor."""
    reader = Reader(spec.mode)
    await reader.connect(spec)
    batches = _Batches(spec, reader)

    async def work() -> None:
        while batches.meter.goes_on():
            name, asked = batches.next()
            began = time.perf_counter_ns()
            try:
                answer = await reader.read(batches.keys(name, asked))
            except Exception as error:
                batches.meter.failed(error)
                continue
            rows = reader.rows(answer)
            batches.ended(name, time.perf_counter_ns() - began, rows)

    await asyncio.gather(*(work() for _ in range(spec.tasks)))
    figures = batches.figures()
    await reader.close()
    return figures


def on_threads(spec: RunSpec) -> Report:
    """So many threads."""
    reader = Reader(spec.mode)
    reader.connect_blocking(spec)
    batches = _Batches(spec, reader)
    # What a batch adds to the counts is more than one step.
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                if not batches.meter.goes_on():
                    return
                name, asked = batches.next()
            began = time.perf_counter_ns()
            try:
                answer = reader.read_blocking(batches.keys(name, asked))
            except Exception as error:
                with lock:
                    batches.meter.failed(error)
                continue
            rows = reader.rows(answer)
            took = time.perf_counter_ns() - began
            with lock:
                batches.ended(name, took, rows)

    threads = [threading.Thread(target=work) for _ in range(spec.threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    figures = batches.figures()
    reader.close_blocking()
    return figures
