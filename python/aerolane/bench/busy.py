"""Competing Python work (`--busy-loop MS`): how much does a client delay what else the process has to do?

Every four times MS milliseconds, a piece of pure Python code is due that takes MS milliseconds when it has the
interpreter for itself. Its delay is the time from when it was due until it was done, less those MS milliseconds:
waiting for its turn on the loop or for the GIL, and being slowed down while it runs.
"""

import asyncio
import time
from array import array
from collections.abc import Callable

PERIOD = 4


def spin(rounds: int) -> None:
    """Pure Python work."""
    for _ in range(rounds):
        pass


class Busy:
    """The competing work of a run."""

    def __init__(self, work_ms: float, stop: list[bool]) -> None:
        self.work_ns = int(work_ms * 1e6)
        self.period_ns = PERIOD * self.work_ns
        self.samples = array("q")
        """When it was due and its delay, nanoseconds, one after the other."""
        self._stop = stop
        self._rounds = _rounds_in(self.work_ns)

    def _run_once(self, due: int) -> int:
        """Does the work that was due at `due`; returns when it is due again."""
        spin(self._rounds)
        done = time.perf_counter_ns()
        self.samples.extend((due, max(0, done - due - self.work_ns)))
        return max(due + self.period_ns, done)

    def on_thread(self) -> None:
        """Runs until the end on the calling thread."""
        due = time.perf_counter_ns() + self.period_ns
        while not self._stop:
            time.sleep(max(0, due - time.perf_counter_ns()) / 1e9)
            due = self._run_once(due)

    async def on_loop(self) -> None:
        """Runs until the end on the running loop."""
        due = time.perf_counter_ns() + self.period_ns
        while not self._stop:
            await asyncio.sleep(max(0, due - time.perf_counter_ns()) / 1e9)
            due = self._run_once(due)

    def delays(self, begin: int, end: int) -> list[int]:
        """The delays of the work that was due between two times, sorted, nanoseconds."""
        pairs = zip(self.samples[::2], self.samples[1::2], strict=False)
        return sorted(delay for due, delay in pairs if begin <= due <= end)


def _rounds_in(work_ns: int, work: Callable[[int], None] = spin) -> int:
    """How many rounds take `work_ns` on a machine that does nothing else: the best of several tries."""
    probe = 20_000
    best = float("inf")
    for _ in range(20):
        began = time.perf_counter_ns()
        work(probe)
        best = min(best, (time.perf_counter_ns() - began) / probe)
    return max(1, int(work_ns / best))
