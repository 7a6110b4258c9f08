"""Competing Python work (`--busy-loop MS`): how much does a client delay what else the process has to do?

Every four times MS milliseconds, a piece of pure Python code is due that takes MS milliseconds when it has the
interpreter for itself. Its delay is the time from when it was due until it was done, less the CPU time that it took:
waiting for its turn on the loop, for the GIL and for a core. How fast a core is changes on a shared machine by more
than what is measured here; that is in the CPU time, and thus left out.
"""

import asyncio
import os
import subprocess
import sys
import time
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path

PERIOD = 4
# Figures of a sample: when it was due, how long it waited for its turn, its delay, the CPU time that it took.
DUE, WAIT, DELAY, CPU, SAMPLE = range(5)


def spin(rounds: int) -> None:
    """Pure Python work."""
    for _ in range(rounds):
        pass


class Busy:
    """The competing work of a run. Once it is made, work is due."""

    def __init__(self, work_ms: float, stop: list[bool]) -> None:
        self.period_ns = int(PERIOD * work_ms * 1e6)
        self.samples = array("q")
        """The figures of one piece of work after the other, nanoseconds."""
        self._stop = stop
        self._rounds = _rounds_in(int(work_ms * 1e6))
        self._metronome = _Metronome(self.period_ns)

    def _run_once(self, due: int) -> None:
        began, running = time.perf_counter_ns(), time.thread_time_ns()
        spin(self._rounds)
        running, done = time.thread_time_ns() - running, time.perf_counter_ns()
        self.samples.extend((due, began - due, done - due - running, running))

    def on_thread(self) -> None:
        """Runs until the end on the calling thread."""
        with self._metronome as metronome:
            while not self._stop:
                self._run_once(metronome.read())

    async def on_loop(self) -> None:
        """Runs until the end on the running loop, as one of its tasks."""
        loop = asyncio.get_running_loop()
        with self._metronome as metronome:
            ticked = asyncio.Event()
            loop.add_reader(metronome.ticks, ticked.set)
            try:
                while not self._stop:
                    await ticked.wait()
                    ticked.clear()
                    # One that is left in the pipe wakes this task again.
                    self._run_once(metronome.read())
            finally:
                loop.remove_reader(metronome.ticks)

    def waits(self, begin: int, end: int) -> list[int]:
        """How long the work that was due between two times waited for its turn, sorted, nanoseconds."""
        return sorted(self._between(begin, end, WAIT))

    def delays(self, begin: int, end: int) -> list[int]:
        """The delays of the work that was due between two times, sorted, nanoseconds."""
        return sorted(self._between(begin, end, DELAY))

    def cpu(self, begin: int, end: int) -> int:
        """The CPU time that the work took which was due between two times, nanoseconds."""
        return sum(self._between(begin, end, CPU))

    def _between(self, begin: int, end: int, which: int) -> Iterator[int]:
        figures = zip(self.samples[DUE::SAMPLE], self.samples[which::SAMPLE], strict=False)
        return (figure for due, figure in figures if begin <= due <= end)


class _Metronome:
    """The process that says when work is due, until the end of a `with` block."""

    def __init__(self, period_ns: int) -> None:
        program = str(Path(__file__).with_name("metronome.py"))
        self._process = subprocess.Popen([sys.executable, "-I", "-S", program, str(period_ns)], stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        self.ticks = self._process.stdout.fileno()
        try:
            # Once it ticks, a run has its competition from the beginning.
            self.read()
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> "_Metronome":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def read(self) -> int:
        """When the next piece of work was due; waits for it where it is not yet."""
        tick = os.read(self.ticks, 8)
        if len(tick) != 8:
            raise RuntimeError("the process that says when competing work is due has ended")
        return int.from_bytes(tick, sys.byteorder)


def _rounds_in(work_ns: int, work: Callable[[int], None] = spin) -> int:
    """How many rounds take `work_ns` on a machine that does nothing else: the best of several tries."""
    probe = 20_000
    best = float("inf")
    for _ in range(20):
        began = time.perf_counter_ns()
        work(probe)
        best = min(best, (time.perf_counter_ns() - began) / probe)
    return max(1, int(work_ns / best))
