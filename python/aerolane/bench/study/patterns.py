"""The concurrency patterns that people write by hand.

Each reads one record per call, and does it as somebody would write it with `asyncio` alone.
"""

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from aerolane.bench.meter import Memory, Meter
from aerolane.bench.report import Report
from aerolane.bench.spec import RunSpec
from aerolane.bench.study.writers import STEP


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
        """The next read, counted."""
        began = time.perf_counter_ns()
        try:
            await self._get(self.key())
        except Exception as error:
            self.meter.failed(error)
            return
        self.meter.latencies.append(time.perf_counter_ns() - began)
        self.meter.done += 1


async def gather(spec: RunSpec, client: Any) -> Report:
    """So many at once, then the next so many once all of them are there."""
    reads = _Reads(spec, client)
    while reads.meter.goes_on():
        await asyncio.gather(*(reads.timed() for _ in range(spec.tasks)))
    return reads.meter.figures()


async def unthrottled(spec: RunSpec, client: Any) -> Report:
    """The same with far more at once than is good; what it does to memory is in the figures."""
    with Memory() as memory:
        figures = await gather(spec, client)
    return figures | {"memory": memory.samples}


async def queue(spec: RunSpec, client: Any) -> Report:
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


async def chains(spec: RunSpec, client: Any) -> Report:
    """Each answer's callback begins the next read."""
    reads = _Reads(spec, client)
    running = spec.tasks
    over = asyncio.get_running_loop().create_future()

    def begin() -> None:
        asyncio.ensure_future(reads.begin()).add_done_callback(answered)

    def answered(read: "asyncio.Future[Any]") -> None:
        nonlocal running
        error = read.exception()
        if error is None:
            reads.meter.done += 1
        else:
            reads.meter.failed(error)
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


async def execute_concurrent(spec: RunSpec, client: Any) -> Report:
    """What Aerolane has for calls of all kinds."""
    from aerolane.concurrent import execute_concurrent

    reads = _Reads(spec, client)
    native = client.native()

    def calls() -> Iterator[tuple[str, tuple[Any]]]:
        while reads.meter.goes_on():
            yield "get", (reads.key(),)

    results = execute_concurrent(
        native, calls(), concurrency=spec.tasks, results="iterator", raise_on_first_error=False
    )
    return await _count(results, reads.meter)


async def execute_concurrent_with_args(spec: RunSpec, client: Any) -> Report:
    """What Aerolane has for one call with many arguments."""
    from aerolane.concurrent import execute_concurrent_with_args

    reads = _Reads(spec, client)
    native = client.native()

    def arguments() -> Iterator[tuple[Any]]:
        while reads.meter.goes_on():
            yield (reads.key(),)

    results = execute_concurrent_with_args(
        native, native.get, arguments(), concurrency=spec.tasks, results="iterator", raise_on_first_error=False
    )
    return await _count(results, reads.meter)


async def _count(results: Any, meter: Meter) -> Report:
    async for result in results:
        if isinstance(result, BaseException):
            meter.failed(result)
        else:
            meter.done += 1
    return meter.figures()
