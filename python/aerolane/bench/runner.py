"""Runs the workers of one mode in this process: threads, or tasks on one or several event loops."""

import asyncio
import gc
import importlib.util
import itertools
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from aerolane._aerolane import FastRng
from aerolane.bench import loops
from aerolane.bench.arrivals import LoopSchedule, Schedule, ThreadSchedule, arrivals
from aerolane.bench.busy import Busy
from aerolane.bench.clients.calls import Calls, Unsupported
from aerolane.bench.conductor import Conductor, Window
from aerolane.bench.measure import Board
from aerolane.bench.modes import Mode
from aerolane.bench.spec import RunSpec

# What connecting and the self-test may take, and how long workers may need for their last operation, seconds.
PATIENCE = 15.0
# Workers of a load.
LOAD_THREADS = 16
LOAD_TASKS = 64


class Run:
    """One run: the workers' common state. `run` returns when all workers have ended."""

    def __init__(self, mode: Mode, spec: RunSpec, loading: bool = False) -> None:
        self.mode = mode
        self.spec = spec
        self.board = Board()
        self.large_board = Board()
        """Of the tasks that read large records beside the workload."""
        self.schedules: list[Schedule] = []
        """Of an open loop: one for all threads, or one for each event loop."""
        self.busy: list[Busy] = []
        self.hung = 0
        """Workers that did not end."""
        self._loading = loading
        self._stop: list[bool] = []
        self._indexes = itertools.count()
        self._prebuilt: list[Any] | None = None
        self._lock = threading.Lock()
        self._conductor: Conductor | None = None
        self._shown = False
        self._failure: BaseException | None = None

    @property
    def loops(self) -> int:
        """Event loops."""
        return max(1, self.spec.pool_loops)

    @property
    def workers(self) -> int:
        """Threads, or tasks of all loops together."""
        if self._loading:
            # No two of them write the same record.
            return min(LOAD_TASKS if self.mode.asynchronous else LOAD_THREADS, self.spec.keys)
        return self.spec.tasks * self.loops if self.mode.asynchronous else self.spec.threads

    def run(self) -> Window | None:
        """Does it. `None` for a load. Raises what the client raises when it cannot connect or fails the self-test."""
        if not self._loading:
            parties = self.loops if self.mode.asynchronous else self.spec.threads
            self._conductor = Conductor(self.spec, self.board, self._stop, parties)
        try:
            (self._run_async if self.mode.asynchronous else self._run_sync)()
        except BaseException:
            if self._conductor:
                self._conductor.abort()
            raise
        return self._conductor.join() if self._conductor else None

    def uses_uvloop(self) -> bool:
        """Whether the event loops are uvloop's. Raises `Unsupported` if it is asked for and not installed."""
        return uses_uvloop(self.spec)

    # What both sides share.

    def _work(self, calls: Calls, schedule: Schedule | None, below: Callable[[int], int] | None) -> Callable[[], Any]:
        """A function that starts one more worker on these calls. It draws from `below`, or from a stream of its own."""
        spec = self.spec
        work = loops.build(spec, self.mode.asynchronous, calls, self._loading)
        with self._lock:
            if spec.print_loop and not self._loading and not self._shown:
                self._shown = True
                print(loops.source(spec, self.mode.asynchronous, calls)[0], file=sys.stderr)
        prebuilt = self._prebuilt_keys(calls)
        keys = len(prebuilt) if prebuilt else spec.keys

        def start() -> Any:
            with self._lock:
                index = next(self._indexes)
                worker = self.board.worker()
            # Streams of neighbouring seeds are unrelated: the generator runs its seed through SplitMix64.
            rng = FastRng((spec.seed * 1_000_003 + index) % 2**63)
            return work(
                below=below or rng.gen_below,
                stop=self._stop,
                cell=worker.cell,
                failed=worker.failed,
                clock=time.perf_counter_ns,
                nap=asyncio.sleep if self.mode.asynchronous else time.sleep,
                note_read=worker.reads.append,
                note_write=worker.writes.append,
                namespace=spec.namespace,
                set_name=spec.set_name,
                keys=keys,
                first_id=index % keys,
                stride=self.workers,
                untimed=range(rng.gen_below(spec.sample_every)),
                untimed_later=range(spec.sample_every - 1),
                take=getattr(schedule, "take", None),
                wait=getattr(schedule, "wait", None),
                prebuilt=prebuilt,
            )

        return start

    def _large_work(self, calls: Calls) -> list[Any]:
        """The coroutines of one loop that read large records."""
        spec = self.spec.large()
        if spec is None or self._loading:
            return []
        work = loops.build(spec, True, calls)
        coroutines = []
        for index in range(spec.tasks):
            with self._lock:
                worker = self.large_board.worker()
            rng = FastRng((spec.seed * 1_000_003 + index) % 2**63)
            coroutines.append(
                work(
                    below=rng.gen_below,
                    stop=self._stop,
                    cell=worker.cell,
                    failed=worker.failed,
                    clock=time.perf_counter_ns,
                    nap=asyncio.sleep,
                    note_read=worker.reads.append,
                    note_write=worker.writes.append,
                    namespace=spec.namespace,
                    set_name=spec.set_name,
                    keys=spec.keys,
                    first_id=0,
                    stride=1,
                    untimed=range(0),
                    untimed_later=range(0),
                    take=None,
                    wait=None,
                    prebuilt=None,
                )
            )
        return coroutines

    @property
    def _length(self) -> float:
        return self.spec.warmup + self.spec.duration + self.spec.cooldown

    def _lead(self, schedule: Schedule) -> None:
        with self._lock:
            self.schedules.append(schedule)
        if self._conductor:
            self._conductor.lead(schedule)

    @property
    def _paced(self) -> bool:
        return bool(self.spec.rate) and not self._loading

    def _prebuilt_keys(self, calls: Calls) -> list[Any] | None:
        if not self.spec.prebuilt_keys or self._loading:
            return None
        with self._lock:
            if self._prebuilt is None:
                scope: dict[str, Any] = {"namespace": self.spec.namespace, "set_name": self.spec.set_name}
                make = eval(f"lambda kid: {calls.key}", calls.names | scope)  # an expression of this package
                self._prebuilt = [make(kid) for kid in range(min(self.spec.prebuilt_keys, self.spec.keys))]
            return self._prebuilt

    def _self_test(self, calls: Calls) -> Any:
        """A put and a get of one key, as the loop will do them; a coroutine for asynchronous clients."""
        spec = self.spec
        bins = spec.payload().bins(0)
        head = "async def test():" if self.mode.asynchronous else "def test():"
        key, write = calls.key, calls.write.replace("{bins}", "bins")
        steps = (f"key = {key}", write.replace("{key}", "key"), f"return {calls.read.replace('{key}', 'key')}")
        text = "\n    ".join((head, *steps))
        scope: dict[str, Any] = {**calls.names, "kid": 0, "bins": bins}
        scope |= {"namespace": spec.namespace, "set_name": spec.set_name}
        exec(text, scope)  # its parts come from this package only, never from the command line
        return scope["test"]()

    def _check(self, calls: Calls, record: Any) -> None:
        if self.mode.floor:
            return
        expected, got = self.spec.payload().bins(0), dict(calls.bins_of(record))
        if any(got.get(name) != value for name, value in expected.items()):
            raise RuntimeError(f"self-test: wrote {expected!r:.200}, read {got!r:.200}")

    @property
    def _limit(self) -> float:
        """How long the workers may take, all in all."""
        if self._loading:
            return PATIENCE + self.spec.keys / 500
        return self._length + PATIENCE

    def _missing(self, count: int) -> None:
        if count:
            self.hung += count
            self.board.note_error(f"{count} workers did not end within {PATIENCE:.0f} s after the run")

    # Threads.

    def _run_sync(self) -> None:
        client = self.mode.open()
        client.connect(self.spec)
        if not self.spec.current_thread_runtime:
            calls = client.calls()
            self._check(calls, self._self_test(calls))
        settle()
        if self._paced:
            self._lead(ThreadSchedule(arrivals(self.spec.arrivals, self.spec.rate, self.spec.seed), self._length))
        if self.spec.busy_ms and not self._loading:
            busy = Busy(self.spec.busy_ms, self._stop)
            self.busy.append(busy)
            threading.Thread(target=self._thread, args=(busy.on_thread,), name="busy", daemon=True).start()
        threads = [
            threading.Thread(target=self._thread, args=(self._on_thread, client), name=f"worker-{i}", daemon=True)
            for i in range(self.workers)
        ]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + self._limit
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        if self._failure is not None:
            raise self._failure
        missing = sum(thread.is_alive() for thread in threads)
        self._missing(missing)
        if not missing:
            client.close()

    def _thread(self, work: Callable[..., None], *args: Any) -> None:
        """What a thread of the run does: the run fails with it."""
        try:
            work(*args)
        except BaseException as error:
            self._fail(error)

    def _on_thread(self, client: Any) -> None:
        # On this thread, because some clients have calls that belong to a thread.
        calls = client.calls()
        if self.spec.current_thread_runtime:
            self._check(calls, self._self_test(calls))
        start = self._work(calls, self.schedules[0] if self.schedules else None, None)
        if self._conductor:
            self._conductor.loop_ready()
            self._conductor.wait_for_all()
        start()

    def _fail(self, error: BaseException) -> None:
        with self._lock:
            self._failure = self._failure or error
        if self._conductor:
            self._conductor.abort()

    # Tasks.

    def _run_async(self) -> None:
        make_loop = loop_factory(self.spec)
        client = self.mode.open()
        pooled = self.spec.pool_loops > 0 and not self._loading
        if pooled and hasattr(client, "run_pool"):
            with asyncio.Runner(loop_factory=make_loop) as runner:
                runner.run(client.run_pool(self.spec, self.uses_uvloop(), self._pool_loop))
        elif pooled:
            # A client that knows no pool: a loop with a client of its own on each of several threads.
            threads = [
                threading.Thread(
                    target=self._thread, args=(self._loop_thread, make_loop, i), name=f"loop-{i}", daemon=True
                )
                for i in range(self.spec.pool_loops)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        else:
            with asyncio.Runner(loop_factory=make_loop) as runner:
                runner.run(self._one_loop(client))
        if self._failure is not None:
            raise self._failure

    def _loop_thread(self, make_loop: Callable[[], asyncio.AbstractEventLoop], part: int) -> None:
        with asyncio.Runner(loop_factory=make_loop) as runner:
            runner.run(self._one_loop(self.mode.open(), part))

    async def _pool_loop(self, client: Any, part: int) -> None:
        try:
            await self._on_loop(client, part)
        except BaseException as error:
            self._fail(error)
            raise

    async def _one_loop(self, client: Any, part: int = 0) -> None:
        await asyncio.wait_for(client.connect(self.spec), PATIENCE)
        await self._on_loop(client, part)
        await client.close()

    async def _on_loop(self, client: Any, part: int) -> None:
        calls = client.calls()
        self._check(calls, await asyncio.wait_for(self._self_test(calls), PATIENCE))
        schedule: LoopSchedule | None = None
        below: Callable[[int], int] | None = None
        spec = self.spec
        if self._paced:
            schedule = LoopSchedule(arrivals(spec.arrivals, spec.rate, spec.seed, part, self.loops), self._length)
            self._lead(schedule)
            # One stream for all tasks: so each operation is the same with every client, whichever task does it.
            below = FastRng((spec.seed * 1_000_003 + part) % 2**63).gen_below
        start = self._work(calls, schedule, below)
        settle()
        count = self.workers // (1 if self._loading else self.loops)
        tasks = [asyncio.create_task(start()) for _ in range(count)]
        tasks += map(asyncio.create_task, self._large_work(calls))
        competing = None
        if self.spec.busy_ms and not self._loading:
            busy = Busy(self.spec.busy_ms, self._stop)
            self.busy.append(busy)
            competing = asyncio.create_task(busy.on_loop())
        if self._conductor:
            self._conductor.loop_ready()
        _, pending = await asyncio.wait(tasks, timeout=self._limit)
        self._missing(len(pending))
        for task in pending:
            task.cancel()
        if competing:
            await competing
        if schedule:
            schedule.close()
        for task in tasks:
            if task.done() and not task.cancelled() and task.exception():
                raise task.exception() or RuntimeError


def uses_uvloop(spec: RunSpec) -> bool:
    """Whether the event loops of a run are uvloop's. Raises `Unsupported` if it is asked for and not installed."""
    installed = importlib.util.find_spec("uvloop") is not None
    if spec.loop == "uvloop" and not installed:
        raise Unsupported("uvloop is not installed (pip install uvloop)")
    return installed and spec.loop != "asyncio"


def loop_factory(spec: RunSpec) -> Callable[[], asyncio.AbstractEventLoop]:
    """What makes the event loops of a run. Raises `Unsupported` as `uses_uvloop` does."""
    if not uses_uvloop(spec):
        return asyncio.SelectorEventLoop
    import uvloop

    make: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return make


def settle() -> None:
    """Collects garbage, and takes what exists now out of later collections. The collector itself stays on."""
    gc.collect()
    gc.freeze()


def truncate(mode: Mode, spec: RunSpec) -> None:
    """Empties the set."""
    client = mode.open()
    if not mode.asynchronous:
        client.connect(spec)
        client.truncate(spec)
        client.close()
        return

    async def empty() -> None:
        await client.connect(spec)
        await client.truncate(spec)
        await client.close()

    asyncio.run(empty())
