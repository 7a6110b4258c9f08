"""Leads a run from a thread of its own: warm-up, measured time, cool-down, end."""

import threading
import time
from dataclasses import dataclass

from aerolane.bench.measure import Board, Totals
from aerolane.bench.process import CpuTime, peak_rss_bytes
from aerolane.bench.spec import RunSpec
from aerolane.bench.ticker import Ticker

# How often the number of operations is looked at when there is a limit.
LIMIT_POLL = 0.01


@dataclass(frozen=True)
class Window:
    """The measured time and what was counted in it."""

    begin: int
    end: int
    totals: Totals
    cpu: CpuTime
    peak_rss: int
    per_second: list[float]
    """Records per second, of each full second."""

    @property
    def seconds(self) -> float:
        """How long it was."""
        return (self.end - self.begin) / 1e9


class Conductor:
    """Waits for `ready` calls of `loop_ready`, leads the workers through the run and keeps the figures."""

    def __init__(self, spec: RunSpec, board: Board, stop: list[bool], parties: int) -> None:
        self.window: Window | None = None
        self._spec = spec
        self._board = board
        self._stop = stop
        self._ready = threading.Semaphore(0)
        self._parties = parties
        self._complete = threading.Event()
        self._aborted = threading.Event()
        self._ticker = Ticker(spec, board)
        self._thread = threading.Thread(target=self._lead, name="conductor", daemon=True)
        self._thread.start()

    def loop_ready(self) -> None:
        """One of the parties has started its workers."""
        self._ready.release()

    def wait_for_all(self) -> None:
        """Returns once all parties are ready. Threads that work already would hold up the start of the others, by
        many seconds where no lock has them take turns and the cores are few."""
        self._complete.wait()

    def abort(self) -> None:
        """Ends everything: a party could not start."""
        self._aborted.set()
        self._stop.append(True)
        for _ in range(self._parties):
            self._ready.release()

    def join(self) -> Window | None:
        """The figures, once the run is over; `None` after an abort."""
        self._thread.join()
        return self.window

    def _lead(self) -> None:
        for _ in range(self._parties):
            self._ready.acquire()
        self._complete.set()
        try:
            self._wait(self._spec.warmup, "warm-up", None)
            cpu, totals, begin = CpuTime.now(), self._board.totals(), time.perf_counter_ns()
            self._ticker.measured.clear()
            self._wait(self._spec.duration, "measure", totals)
            end, after = time.perf_counter_ns(), self._board.totals()
            used = CpuTime.now().since(cpu)
            per_second = list(self._ticker.measured)
            self._wait(self._spec.cooldown, "cool-down", None)
        finally:
            self._stop.append(True)
            self._ticker.finish()
        if not self._aborted.is_set():
            self.window = Window(begin, end, after.since(totals), used, peak_rss_bytes(), per_second)

    def _wait(self, seconds: float, phase: str, since: Totals | None) -> None:
        limit = self._spec.max_ops if since is not None else 0
        end = time.perf_counter() + seconds
        self._ticker.phase(phase)
        while not self._stop:
            now = time.perf_counter()
            if now >= end:
                return
            if since is not None and limit and self._board.totals().since(since).records >= limit:
                return
            pause = min(end, self._ticker.due) - now
            time.sleep(max(0.0, min(pause, LIMIT_POLL) if limit else pause))
            self._ticker.tick()
