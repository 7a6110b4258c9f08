"""What is no loop of single calls: writers, and the concurrency patterns that people write by hand.

A program runs in a process of its own, as the loops do. It goes on for warm-up and measured time, and its figures have
the names of `aerolane.bench.report`.
"""

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from aerolane.bench.clients.calls import Unsupported
from aerolane.bench.histogram import Histogram
from aerolane.bench.modes import MODES
from aerolane.bench.process import Usage, gil_enabled, peak_rss_bytes, python_name
from aerolane.bench.report import Report
from aerolane.bench.runner import loop_factory, settle, uses_uvloop
from aerolane.bench.spec import RunSpec

# Keys are spread over the set by a step that has no divisor in common with a number of keys that people give.
STEP = 1_000_003


@dataclass
class Meter:
    """Counts what has been done, and takes the figures between the end of the warm-up and the end of the run."""

    spec: RunSpec
    done: int = 0
    errors: int = 0
    latencies: list[int] = field(default_factory=list)
    """Nanoseconds, of operations that ended in the measured time."""
    count: Callable[[], int] | None = None
    """Asks for what has been done, where somebody else counts."""

    def __post_init__(self) -> None:
        now = time.perf_counter()
        self.measure_from, self.end = now + self.spec.warmup, now + self.spec.warmup + self.spec.duration
        self._begin: tuple[float, int, Usage] | None = None

    def goes_on(self) -> bool:
        """To be called between operations: whether there is time left. Begins the measurement once it is due."""
        now = time.perf_counter()
        if self._begin is None and now >= self.measure_from:
            self.latencies.clear()
            self._begin = now, self._counted(), Usage.now()
        return now < self.end

    def figures(self) -> Report:
        """Ends the measurement. To be called before what is outstanding is waited for."""
        begun, before, cpu = self._begin or (self.end, self._counted(), Usage.now())
        seconds, records, used = time.perf_counter() - begun, self._counted() - before, Usage.now().since(cpu)
        mode, histogram = MODES[self.spec.mode], Histogram(self.latencies)
        return {
            "client": mode.name,
            "program": self.spec.program,
            "mode": "async" if mode.asynchronous else "sync",
            "tasks": self.spec.tasks,
            "tps": records / seconds if seconds > 0 else 0.0,
            "client_cpu_us_per_op": used.total * 1e6 / records if records else 0.0,
            "voluntary_switches_per_op": used.voluntary_switches / records if records else 0.0,
            "duration_s": seconds,
            "errors": self.errors,
            "timeouts": 0,
            "peak_rss_bytes": peak_rss_bytes(),
            "python": python_name(),
            "gil": gil_enabled(),
            "loop": ("uvloop" if uses_uvloop(self.spec) else "asyncio") if mode.asynchronous else None,
            **histogram.figures(),
            "histograms": {"all": histogram.to_pairs()},
        }

    def _counted(self) -> int:
        return self.count() if self.count else self.done


def run(spec: RunSpec) -> Report:
    """Runs the program that `spec` names. Raises `Unsupported` where the client does not have what it needs."""
    blocking, waiting = BLOCKING.get(spec.program), WAITING.get(spec.program)
    if MODES[spec.mode].asynchronous and waiting:
        with asyncio.Runner(loop_factory=loop_factory(spec)) as runner:
            return runner.run(_on_loop(spec, waiting))
    if not MODES[spec.mode].asynchronous and blocking:
        client = MODES[spec.mode].open()
        client.connect(spec)
        settle()
        figures = blocking(spec, client)
        client.close()
        return figures
    raise Unsupported(f"there is no program {spec.program!r} for {spec.mode}")


async def _on_loop(spec: RunSpec, program: "Waiting") -> Report:
    client = MODES[spec.mode].open()
    await client.connect(spec)
    settle()
    figures = await program(spec, client)
    await client.close()
    return figures


# Writers.


def _keys(spec: RunSpec) -> Iterator[Any]:
    from aerolane.native import Key

    return (
        Key.from_int_user_key(spec.namespace, spec.set_name, number * STEP % spec.keys) for number in itertools.count()
    )


def _counted(writer: Any) -> Report:
    """What became of all records, warm-up included. To be called after a flush."""
    counted = writer.metrics()
    return {"errors": counted["failed"], "retries": counted["retries"]}


def _confirmed(writer: Any) -> Callable[[], int]:
    return lambda: int(writer.progress().ok)


async def _writer(spec: RunSpec, client: Any, failures_only: bool = False) -> Report:
    """Each outcome is looked at once it is there, as a program does that has to know."""
    bins = spec.payload().bins(0)
    outstanding: deque[Any] = deque()
    async with client.native().writer(failures_only=failures_only) as writer:
        meter = Meter(spec, count=_confirmed(writer))
        for number, key in enumerate(_keys(spec)):
            outcome = await writer.put(key, bins)
            if not failures_only:
                outstanding.append(outcome)
                _look(outstanding)
            if number % 64 == 0 and not meter.goes_on():
                break
        figures = meter.figures()
        await writer.flush()
    return figures | _counted(writer)


async def _writer_forget(spec: RunSpec, client: Any) -> Report:
    """Only failures have outcomes."""
    return await _writer(spec, client, failures_only=True)


def _blocking_writer(spec: RunSpec, client: Any) -> Report:
    bins = spec.payload().bins(0)
    outstanding: deque[Any] = deque()
    with client.native().writer_blocking() as writer:
        meter = Meter(spec, count=_confirmed(writer))
        for number, key in enumerate(_keys(spec)):
            outstanding.append(writer.put(key, bins))
            _look(outstanding)
            if number % 64 == 0 and not meter.goes_on():
                break
        figures = meter.figures()
        writer.flush()
        figures |= _counted(writer)
    return figures


def _look(outstanding: deque[Any]) -> None:
    while outstanding and outstanding[0].done():
        outstanding.popleft().exception()


# Patterns. Each reads one record per call, and does it as somebody would write it with `asyncio` alone.


class _Reads:
    """Reads of one client, one after the other over the set."""

    def __init__(self, spec: RunSpec, client: Any) -> None:
        names = client.calls().names
        self._get: Callable[[Any], Awaitable[Any]] = names["get"]
        self._make_key: Callable[[str, str, int], Any] = names["make_key"]
        self._spec = spec
        self._numbers = itertools.count()
        self.meter = Meter(spec)

    def key(self) -> Any:
        """The key of the next record."""
        spec = self._spec
        return self._make_key(spec.namespace, spec.set_name, next(self._numbers) * STEP % spec.keys)

    def begin(self) -> Awaitable[Any]:
        """Begins the next read."""
        return self._get(self.key())

    async def timed(self) -> None:
        """The next read, counted. One that fails is an error and nothing else: it may well be faster than an answer."""
        began = time.perf_counter_ns()
        try:
            await self._get(self.key())
        except Exception:
            self.meter.errors += 1
            return
        self.meter.latencies.append(time.perf_counter_ns() - began)
        self.meter.done += 1


async def _gather(spec: RunSpec, client: Any) -> Report:
    """So many at once, then the next so many once all of them are there."""
    reads = _Reads(spec, client)
    while reads.meter.goes_on():
        await asyncio.gather(*(reads.timed() for _ in range(spec.tasks)))
    return reads.meter.figures()


async def _queue(spec: RunSpec, client: Any) -> Report:
    """A semaphore keeps so many in flight."""
    reads = _Reads(spec, client)
    room = asyncio.Semaphore(spec.tasks)
    running: set[asyncio.Task[None]] = set()

    async def one() -> None:
        try:
            await reads.timed()
        finally:
            room.release()

    while reads.meter.goes_on():
        await room.acquire()
        task = asyncio.create_task(one())
        running.add(task)
        task.add_done_callback(running.discard)
    figures = reads.meter.figures()
    await asyncio.gather(*running)
    return figures


async def _chains(spec: RunSpec, client: Any) -> Report:
    """Each answer's callback begins the next read."""
    reads = _Reads(spec, client)
    running = spec.tasks
    over = asyncio.get_running_loop().create_future()

    def begin() -> None:
        asyncio.ensure_future(reads.begin()).add_done_callback(answered)

    def answered(read: "asyncio.Future[Any]") -> None:
        nonlocal running
        if read.exception() is None:
            reads.meter.done += 1
        else:
            reads.meter.errors += 1
        if reads.meter.goes_on():
            begin()
            return
        running -= 1
        if not running:
            over.set_result(None)

    for _ in range(spec.tasks):
        begin()
    await over
    return reads.meter.figures()


async def _execute_concurrent(spec: RunSpec, client: Any) -> Report:
    """What Aerolane has for it."""
    from aerolane.concurrent import execute_concurrent_with_args

    reads = _Reads(spec, client)
    meter = reads.meter

    def arguments() -> Iterator[tuple[Any]]:
        while meter.goes_on():
            yield (reads.key(),)

    native = client.native()
    results = execute_concurrent_with_args(
        native, native.get, arguments(), concurrency=spec.tasks, results="iterator", raise_on_first_error=False
    )
    async for result in results:
        if isinstance(result, BaseException):
            meter.errors += 1
        else:
            meter.done += 1
    return meter.figures()


Waiting = Callable[[RunSpec, Any], Awaitable[Report]]
Blocking = Callable[[RunSpec, Any], Report]

WAITING: dict[str, Waiting] = {
    "writer": _writer,
    "writer-forget": _writer_forget,
    "gather": _gather,
    # The same, with far more at once than is good.
    "unthrottled": _gather,
    "queue": _queue,
    "chains": _chains,
    "execute_concurrent": _execute_concurrent,
}
BLOCKING: dict[str, Blocking] = {"writer": _blocking_writer}
