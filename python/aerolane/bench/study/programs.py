"""What is no loop of single calls: writers, services, and the concurrency patterns that people write by hand.

A program runs in a process of its own, as the loops do. It goes on for warm-up and measured time, and its figures have
the names of `aerolane.bench.report`.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from aerolane.bench.clients.calls import Unsupported
from aerolane.bench.modes import MODES
from aerolane.bench.report import Report
from aerolane.bench.runner import loop_factory, settle
from aerolane.bench.services import features, loops
from aerolane.bench.services import program as service
from aerolane.bench.spec import RunSpec
from aerolane.bench.study import patterns, processes, writers

Waiting = Callable[[RunSpec, Any], Awaitable[Report]]
Blocking = Callable[[RunSpec, Any], Report]

WAITING: dict[str, Waiting] = {
    "writer": writers.writer,
    "writer-forget": writers.forgetting,
    "writer-many": writers.many,
    "paced-writer": writers.paced_writer,
    "paced-puts": writers.paced_puts,
    "paced-batches": writers.paced_batches,
    "gather": patterns.gather,
    "unthrottled": patterns.unthrottled,
    "queue": patterns.queue,
    "chains": patterns.chains,
    "execute_concurrent": patterns.execute_concurrent,
    "execute_concurrent_with_args": patterns.execute_concurrent_with_args,
}
BLOCKING: dict[str, Blocking] = {
    "writer": writers.blocking_writer,
    "writer-forget": writers.blocking_forgetting,
    "paced-writer": writers.blocking_paced_writer,
    "paced-puts": writers.blocking_paced_puts,
}
# These open their clients themselves.
SERVICES = service.PROGRAMS
FEATURES = ("nine-sets", "nine-sets-executor", *SERVICES)


def run(spec: RunSpec, before: Callable[[], object] = lambda: None) -> Report:
    """Runs the program that `spec` names. `before` is called when the client is connected.

    Raises `Unsupported` where the client does not have what it needs.
    """
    if spec.program in service.PROGRAMS:
        return service.run(spec)
    if spec.program == "processes":
        return processes.run(spec)
    asynchronous = MODES[spec.mode].asynchronous
    if spec.program in FEATURES:
        if not asynchronous and spec.program == "nine-sets":
            return loops.on_threads(spec)
        with asyncio.Runner(loop_factory=loop_factory(spec)) as runner:
            return runner.run(loops.on_loop(spec))
    blocking, waiting = BLOCKING.get(spec.program), WAITING.get(spec.program)
    if asynchronous and waiting:
        with asyncio.Runner(loop_factory=loop_factory(spec)) as runner:
            return runner.run(_on_loop(spec, waiting, before))
    if not asynchronous and blocking:
        client = MODES[spec.mode].open()
        client.connect(spec)
        settle()
        before()
        figures = blocking(spec, client)
        client.close()
        return figures
    raise Unsupported(f"there is no program {spec.program!r} for {spec.mode}")


def load(spec: RunSpec) -> Report:
    """Writes the records of the programs that do not read those of the loops."""
    return {"records": features.load(spec)}


async def _on_loop(spec: RunSpec, program: Waiting, before: Callable[[], object]) -> Report:
    client = MODES[spec.mode].open()
    await client.connect(spec)
    settle()
    before()
    figures = await program(spec, client)
    await client.close()
    return figures
