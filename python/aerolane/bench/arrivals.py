"""When the operations of an open loop are due, and which worker takes which one.

The due times depend on the rate, the process and the seed alone, so every client sees the same ones. Operations that no
worker is free for stay in the sequence, with their due times; nothing is stored for them. Times are nanoseconds of
`time.perf_counter_ns`.
"""

import asyncio
import contextlib
import math
import sys
import threading
import time
from array import array
from collections import deque
from collections.abc import Callable, Iterator

from aerolane._aerolane import FastRng
from aerolane.bench.timer import LoopTimer, remove_timer_slack

PROCESSES = ("poisson", "constant")
# How long after the end of a run the workers may still begin operations that were due before it.
DRAIN = 1_000_000_000
NEVER = sys.maxsize


def arrivals(process: str, rate: float, seed: int, part: int = 0, parts: int = 1) -> Iterator[int]:
    """Due times after the begin of a run, in order and without end. Equal seeds give equal times.

    `parts` event loops share a rate; each one has a sequence of its own, number `part`.
    """
    gap = 1e9 * parts / rate
    # Constant sequences of several loops interleave; the sum of Poisson processes is one.
    at = -gap * part / parts
    random = FastRng((seed * 2_000_003 + part) % 2**63).random
    while True:
        at += gap if process == "constant" else -gap * math.log(1.0 - random())
        yield int(at)


class Schedule:
    """What threads and event loops have in common: the sequence, and what became of it."""

    def __init__(self, due_times: Iterator[int], length: float) -> None:
        self.delays = array("q")
        """When an operation was due, and how long after that it was begun; one after the other."""
        self.pacer = array("q")
        """When an operation was due that a worker was free for, and how late the timer was."""
        self.late = array("q")
        """When an operation was due that no worker was free for."""
        self._times = due_times
        self._length = int(length * 1e9)
        self._origin = 0
        self._due = NEVER
        self._end = NEVER + 1

    def begin(self, origin: int) -> None:
        """Operations become due from `origin` on, for the length of the run."""
        self._origin = origin
        self._end = origin + self._length
        self._advance()

    def finish(self, now: int) -> None:
        """Nothing becomes due after `now`."""
        self._end = min(self._end, now)

    def _advance(self) -> None:
        self._due = self._origin + next(self._times)

    def _over(self, now: int) -> bool:
        return self._due >= self._end or now > self._end + DRAIN

    def not_begun(self, begin: int, end: int) -> list[int]:
        """The ages of the operations due between two times that no worker has begun, when they were given up.

        To be called when the workers have ended.
        """
        ages = []
        given_up = min(self._end, end) + DRAIN
        while self._due < min(self._end, end):
            if self._due >= begin:
                ages.append(given_up - self._due)
            self._advance()
        return ages


class ThreadSchedule(Schedule):
    """The schedule of the threads of a run: an idle one holds the next operation and sleeps until it is due."""

    def __init__(self, due_times: Iterator[int], length: float) -> None:
        super().__init__(due_times, length)
        self._lock = threading.Lock()
        self._precise = threading.local()

    def take(self) -> int:
        """Sleeps until the next operation is due, and gives that time; 0 when the worker is to end."""
        clock = time.perf_counter_ns
        with self._lock:
            due, now = self._due, clock()
            if self._over(now):
                return 0
            self._advance()
            # All threads that are idle hold an operation that is not due yet. So there was none.
            late = due <= now
        if not late:
            if not hasattr(self._precise, "done"):
                remove_timer_slack()
                self._precise.done = True
            time.sleep((due - now) / 1e9)
        begun = clock()
        with self._lock:
            if due >= self._end:
                return 0
            self.delays.extend((due, begun - due))
            if late:
                self.late.append(due)
            else:
                self.pacer.extend((due, begun - due))
        return due


class LoopSchedule(Schedule):
    """The schedule of the tasks of one event loop, which its timer wakes."""

    def __init__(self, due_times: Iterator[int], length: float) -> None:
        super().__init__(due_times, length)
        self._loop = asyncio.get_running_loop()
        self._timer = LoopTimer(self._loop, self._tick)
        self._idle: deque[asyncio.Future[int]] = deque()

    def begin(self, origin: int) -> None:
        """Operations become due from `origin` on. To be called from another thread."""
        self._on_loop(self._begin, origin)

    def _begin(self, origin: int) -> None:
        super().begin(origin)
        self._tick()

    def finish(self, now: int) -> None:
        """Nothing becomes due after `now`. To be called from another thread."""
        self._on_loop(self._finish, now)

    def _finish(self, now: int) -> None:
        super().finish(now)
        self._tick()

    def _on_loop(self, call: Callable[[int], None], time_: int) -> None:
        # A loop that is closed has no workers that wait.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call, time_)

    def take(self) -> int:
        """An operation that is due already; 0 if there is none."""
        due, now = self._due, time.perf_counter_ns()
        if due > now or self._over(now):
            return 0
        self._advance()
        self.delays.extend((due, now - due))
        # Where others are idle, it is the loop that had no time yet to wake them.
        if self._idle:
            self.pacer.extend((due, now - due))
        else:
            self.late.append(due)
        return due

    async def wait(self) -> int:
        """Waits until an operation is due for this worker, and gives that time; 0 when the worker is to end."""
        now = time.perf_counter_ns()
        if self._over(now):
            return 0
        future: asyncio.Future[int] = self._loop.create_future()
        self._idle.append(future)
        if self._due != NEVER:
            self._timer.arm(self._due)
        due = await future
        if due:
            self.delays.extend((due, time.perf_counter_ns() - due))
        return due

    def _tick(self) -> None:
        """Wakes a worker for each operation that is due."""
        now = time.perf_counter_ns()
        idle = self._idle
        while idle and self._due <= now and not self._over(now):
            future = idle.pop()
            if not future.done():
                self.pacer.extend((self._due, now - self._due))
                future.set_result(self._due)
                self._advance()
        if self._over(now):
            for future in idle:
                if not future.done():
                    future.set_result(0)
            idle.clear()
        elif idle and self._due != NEVER:
            self._timer.arm(self._due)

    def close(self) -> None:
        """Gives the timer back."""
        self._timer.close()


def between(samples: "array[int]", begin: int, end: int) -> list[int]:
    """The second figures of pairs whose first ones are times between two times."""
    pairs = zip(samples[::2], samples[1::2], strict=False)
    return [figure for due, figure in pairs if begin <= due < end]
