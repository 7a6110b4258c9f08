"""Counts what a program does, and takes its figures over the measured time."""

import resource
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from aerolane.bench.histogram import Histogram
from aerolane.bench.measure import MESSAGE_CHARS, MESSAGES, is_timeout
from aerolane.bench.modes import MODES
from aerolane.bench.process import Usage, gil_enabled, peak_rss_bytes, python_name
from aerolane.bench.report import SCHEMA, Report
from aerolane.bench.runner import uses_uvloop
from aerolane.bench.spec import RunSpec


@dataclass
class Meter:
    """Counts what has been done, and takes the figures between the end of the warm-up and the end of the run."""

    spec: RunSpec
    done: int = 0
    errors: int = 0
    timeouts: int = 0
    latencies: list[int] = field(default_factory=list)
    """Nanoseconds, of operations that ended in the measured time."""
    count: Callable[[], int] | None = None
    """Asks for what has been done, where somebody else counts."""
    messages: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        now = time.perf_counter()
        self.measure_from, self.end = now + self.spec.warmup, now + self.spec.warmup + self.spec.duration
        self._begin: tuple[float, int, Usage] | None = None

    @property
    def measures(self) -> bool:
        """Whether the warm-up is over."""
        return self._begin is not None

    def goes_on(self) -> bool:
        """To be called between operations: whether there is time left. Begins the measurement once it is due."""
        now = time.perf_counter()
        if self._begin is None and now >= self.measure_from:
            self.latencies.clear()
            self._begin = now, self._counted(), Usage.now()
        return now < self.end

    def failed(self, error: BaseException) -> None:
        """Counts an operation that failed: it is an error and nothing else, and may well be faster than an answer."""
        if is_timeout(error):
            self.timeouts += 1
        else:
            self.errors += 1
        text = f"{type(error).__name__}: {error}"[:MESSAGE_CHARS]
        if text in self.messages or len(self.messages) < MESSAGES:
            self.messages[text] += 1

    def figures(self) -> Report:
        """Ends the measurement. To be called before what is outstanding is waited for."""
        begun, before, cpu = self._begin or (self.end, self._counted(), Usage.now())
        seconds, records, used = time.perf_counter() - begun, self._counted() - before, Usage.now().since(cpu)
        mode, histogram = MODES[self.spec.mode], Histogram(self.latencies)
        return {
            "schema": SCHEMA,
            "client": mode.name,
            "program": self.spec.program,
            "mode": "async" if mode.asynchronous else "sync",
            "tasks": self.spec.tasks,
            "records": records,
            "tps": records / seconds if seconds > 0 else 0.0,
            "client_cpu_us_per_op": used.total * 1e6 / records if records else 0.0,
            "voluntary_switches_per_op": used.voluntary_switches / records if records else 0.0,
            "involuntary_switches_per_op": used.involuntary_switches / records if records else 0.0,
            "duration_s": seconds,
            "errors": self.errors,
            "timeouts": self.timeouts,
            "error_samples": [{"message": text, "count": count} for text, count in self.messages.most_common()],
            "peak_rss_bytes": peak_rss_bytes(),
            "python": python_name(),
            "gil": gil_enabled(),
            "loop": ("uvloop" if uses_uvloop(self.spec) else "asyncio") if mode.asynchronous else None,
            **histogram.figures(),
            "histograms": {"all": histogram.to_pairs()},
        }

    def _counted(self) -> int:
        return self.count() if self.count else self.done


class Memory:
    """The resident set of this process over time, looked at by a thread of its own."""

    # Seconds between two looks, and most of them that are kept.
    INTERVAL, MOST = 0.02, 2_000

    def __init__(self) -> None:
        self.samples: list[tuple[float, int]] = []
        """Seconds since the beginning, and bytes."""
        self._page = resource.getpagesize()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory", daemon=True)

    def __enter__(self) -> "Memory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        began = time.perf_counter()
        try:
            with open("/proc/self/statm", encoding="ascii") as file:
                while len(self.samples) < self.MOST:
                    file.seek(0)
                    resident = int(file.read().split()[1]) * self._page
                    self.samples.append((round(time.perf_counter() - began, 3), resident))
                    if self._over.wait(self.INTERVAL):
                        return
        except OSError:
            # Only Linux tells: elsewhere there is no course, and the peak has to do.
            return
