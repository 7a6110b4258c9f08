"""Leads a run from a thread of its own: warm-up, measured time, cool-down, end."""

import threading
import time
from dataclasses import dataclass

from aerolane.bench.arrivals import Schedule
from aerolane.bench.measure import Board, Totals
from aerolane.bench.process import Usage, peak_rss_bytes
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
    cpu: Usage
    peak_rss: int
    per_second: list[float]
    """Records per second, of each full second."""
    due: tuple[int, int] = (0, 0)
    """Begin and end of the measured time of an open loop by its schedule: the same operations for every client."""

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
        self._schedules: list[Schedule] = []
        self._ready = threading.Semaphore(0)
        self._parties = parties
        self._complete = threading.Event()
        self._aborted = threading.Event()
        self._ticker = Ticker(spec, board)
        self._thread = threading.Thread(target=self._lead, name="conductor", daemon=True)
        self._thread.start()

    def lead(self, schedule: Schedule) -> None:
        """Begins and ends this schedule with the run, too. To be called before `loop_ready`."""
        self._schedules.append(schedule)

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
        self._end()
        for _ in range(self._parties):
            self._ready.release()

    def join(self) -> Window | None:
        """The figures, once the run is over; `None` after an abort."""
        self._thread.join()
        return self.window

    def _lead(self) -> None:
        for _ in range(self._parties):
            self._ready.acquire()
        origin = time.perf_counter_ns()
        for schedule in self._schedules:
            schedule.begin(origin)
        self._complete.set()
        due = origin + int(self._spec.warmup * 1e9), origin + int((self._spec.warmup + self._spec.duration) * 1e9)
        try:
            self._wait(self._spec.warmup, "warm-up", None)
            cpu, totals, begin = Usage.now(), self._board.totals(), time.perf_counter_ns()
            self._ticker.measured.clear()
            self._wait(self._spec.duration, "measure", totals)
            end, after = time.perf_counter_ns(), self._board.totals()
            used = Usage.now().since(cpu)
            per_second = list(self._ticker.measured)
            self._wait(self._spec.cooldown, "cool-down", None)
        finally:
            self._end()
            self._ticker.finish()
        if not self._aborted.is_set():
            # A limit of operations ends it early.
            due = (due[0], min(due[1], max(end, due[0]))) if self._spec.max_ops else due
            self.window = Window(begin, end, after.since(totals), used, peak_rss_bytes(), per_second, due)

    def _end(self) -> None:
        self._stop.append(True)
        now = time.perf_counter_ns()
        for schedule in self._schedules:
            schedule.finish(now)

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
