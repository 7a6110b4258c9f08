"""One line per second while a run goes on, on stderr; a progress bar when that is a terminal."""

import sys
import time

from aerolane.bench.measure import Board, Totals, latencies, percentile
from aerolane.bench.spec import RunSpec

BAR = 24


class Ticker:
    """Reports the progress of a run."""

    def __init__(self, spec: RunSpec, board: Board) -> None:
        self.measured: list[float] = []
        """Records per second since the last clear, one per full second."""
        self._spec = spec
        self._board = board
        self._bar = sys.stderr.isatty()
        self._total = spec.warmup + spec.duration + spec.cooldown
        self._began: float | None = None
        self._phase = ""
        self._seconds = 0
        self._last = Totals()
        self._last_time = 0.0
        self._last_ns = 0
        self.due = 0.0
        """When the next line is due, on the clock of `time.perf_counter`."""

    def phase(self, name: str) -> None:
        """A new phase begins: its first second starts now."""
        now = time.perf_counter()
        if self._began is None:
            self._began = now
        self._phase = name
        self._last, self._last_time, self._last_ns = self._board.totals(), now, time.perf_counter_ns()
        self.due = now + 1

    def tick(self) -> None:
        """Writes a line if it is time for one."""
        now = time.perf_counter()
        if now < self.due:
            return
        totals = self._board.totals()
        new = totals.since(self._last)
        rate = new.records / (now - self._last_time)
        self.measured.append(rate)
        self._seconds += 1
        if self._spec.ticker:
            text = f"{rate:>9.0f} ops/s  errors {new.errors}  timeouts {new.timeouts}"
            if self._spec.telemetry:
                text += self._latency()
            self._show(text, now)
        self._last, self._last_time, self._last_ns = totals, now, time.perf_counter_ns()
        self.due = max(self.due + 1, now)

    def _latency(self) -> str:
        begin, end = self._last_ns, time.perf_counter_ns()
        recent: list[int] = []
        for worker in self._board.workers:
            for samples in (worker.reads, worker.writes):
                # Enough for a second of one worker; whole runs would be sorted again and again.
                recent += latencies(samples[-20_000:], begin, end)
        recent.sort()
        return f"  p50 {percentile(recent, 0.5) / 1e3:.0f}  p99 {percentile(recent, 0.99) / 1e3:.0f} µs"

    def _show(self, text: str, now: float) -> None:
        name = self._spec.mode
        if not self._bar:
            print(f"{name:>20} {self._seconds:>4} s {self._phase:<9} {text}", file=sys.stderr, flush=True)
            return
        share = min(1.0, (now - (self._began or now)) / self._total) if self._total else 1.0
        filled = int(share * BAR)
        bar = "█" * filled + "░" * (BAR - filled)
        print(f"\r\x1b[K{name:>20} {bar} {self._phase:<9} {text}", end="", file=sys.stderr, flush=True)

    def finish(self) -> None:
        """Removes the progress bar."""
        if self._bar and self._spec.ticker:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
