"""`AsyncPool`: several event loops, each on a thread of its own. For Python without the GIL."""

import asyncio
import contextlib
import inspect
import itertools
import os
import threading
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import Future
from functools import partial
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar, cast

T = TypeVar("T")
X = TypeVar("X")
C = TypeVar("C")
C_co = TypeVar("C_co", covariant=True)


class Definition(Protocol[C_co]):
    """What a `ClusterDefinition` is to a pool."""

    def connect(self) -> Awaitable[C_co]:
        """Connects; gives something with `close()`. A client gives `None`: it is itself connected then."""
        ...


class AsyncPool(Generic[C]):
    """`AsyncPool(factory_or_definition, loop_count=None, per_client_runtime=None, use_uvloop=True)`.

    Runs coroutine functions on `loop_count` event loops (default: one per core), each in a thread of its own. Without
    the GIL they run in parallel. With the GIL, use one loop and `asyncio.gather` instead.

        async with AsyncPool(lambda: Client("localhost:3000"), loop_count=4) as pool:
            results = await pool.map(work, range(4))  # work(client, number)

    * A callable is a factory: the pool calls it once on every loop. It returns a client (an async context manager, or
      an awaitable of one), which belongs to that loop.
    * Something with `connect()`, such as a `ClusterDefinition` or a `Client`, is connected once. All loops share the
      cluster and its limits on connections. If the client was not connected before, the pool also closes it.
      `cluster_definition=` is another name for the first argument.
    * `per_client_runtime`: accepted for existing code, and ignored. A loop always has a lane of its own.
    * `use_uvloop`: uses uvloop's loops if it is installed, otherwise asyncio's.

    You can call the methods from any event loop, including one of the pool's.
    """

    def __init__(
        self,
        factory_or_definition: Callable[[], Any] | Definition[C] | None = None,
        loop_count: int | None = None,
        per_client_runtime: bool | None = None,
        use_uvloop: bool | None = True,
        *,
        cluster_definition: Definition[C] | None = None,
    ) -> None:
        if cluster_definition is not None:
            if factory_or_definition is not None:
                raise TypeError("AsyncPool takes one factory or definition, not two")
            factory_or_definition = cluster_definition
        if hasattr(factory_or_definition, "connect") and not isinstance(factory_or_definition, type):
            self._definition: Definition[C] | None = cast("Definition[C]", factory_or_definition)
            self._factory: Callable[[], Any] | None = None
        elif callable(factory_or_definition):
            self._definition, self._factory = None, factory_or_definition
        else:
            kind = type(factory_or_definition).__name__
            raise TypeError(f"AsyncPool takes a ClusterDefinition or a callable that gives a client, not {kind}")
        if loop_count is not None and loop_count < 1:
            raise ValueError(f"loop_count is {loop_count}: at least 1 expected")
        self._count = loop_count or os.cpu_count() or 1
        self._new_loop = _loop_factory(use_uvloop is not False)
        self._turns = itertools.count()
        self._lanes: list[_LoopThread[C]] = []
        self._shared: C | None = None
        self._lent = False
        self._state = "new"

    @property
    def loop_count(self) -> int:
        """How many event loops the pool has."""
        return self._count

    @property
    def is_started(self) -> bool:
        """Whether the pool is started and not closed."""
        return self._state == "started"

    @property
    def is_closed(self) -> bool:
        """Whether the pool was closed."""
        return self._state == "closed"

    async def start(self) -> None:
        """Starts the loops and connects. If the factory or the definition raises, the pool closes and the error is
        raised.

        Raises `RuntimeError` if it was started before.
        """
        if self._state != "new":
            raise RuntimeError(f"the AsyncPool is {self._state} already: make a new one")
        self._state = "starting"
        try:
            if self._definition is not None:
                # A client that someone else has connected is not the pool's to close.
                self._lent = getattr(self._definition, "is_connected", False) is True
                connected = await self._definition.connect()
                self._shared = cast("C", self._definition) if connected is None else connected
            # Not a method: the threads must not keep the pool from being collected.
            opener = partial(_open, self._factory, self._shared)
            self._lanes = [_LoopThread(f"aerolane-pool-{n}", opener, self._new_loop) for n in range(self._count)]
            for lane in self._lanes:
                await asyncio.shield(asyncio.wrap_future(lane.ready))
        except BaseException:
            self._state = "started"
            with contextlib.suppress(Exception):  # The first error is the one to tell of.
                await self.aclose()
            raise
        self._state = "started"

    async def aclose(self) -> None:
        """Cancels running calls, closes the clients, stops the loops and waits for their threads. A second call does
        nothing.

        Calls that it cancels raise `RuntimeError`. If closing a client fails, that error is raised.
        """
        self._state = "closed"
        lanes, self._lanes = self._lanes, []
        shared, self._shared = self._shared, None
        for lane in lanes:
            lane.stop()
        errors: list[BaseException] = []
        for lane in lanes:
            error = await lane.ended()
            if error is not None:
                errors.append(error)
        if shared is not None and not self._lent:
            await _close(shared)
        if errors:
            raise errors[0]

    async def run(self, fn: Callable[[C], Coroutine[Any, Any, T]], pick: int | None = None) -> T:
        """Runs `fn(client)` on one of the loops. Returns its result or raises its exception.

        `pick` selects the loop (modulo `loop_count`); by default the loops take turns. If you cancel this call, the
        function is cancelled as well.

        Raises `RuntimeError` if the pool is not started or is closed, or if the loop has died. The reason is its
        `__cause__`.
        """
        lane = self._lane(pick)
        return await lane.call(fn)

    async def map(self, fn: Callable[[C, X], Coroutine[Any, Any, T]], inputs: Iterable[X]) -> list[T]:
        """Runs `fn(client, input)` for all inputs at once; the loops take turns. Returns the results in order.

        The first exception cancels the rest and is raised, including one that `inputs` raises.
        """

        def begin(item: X) -> asyncio.Task[T]:
            return asyncio.ensure_future(self._lane(None).call(lambda client: fn(client, item)))

        calls: list[asyncio.Task[T]] = []
        try:
            calls.extend(map(begin, inputs))
            return await asyncio.gather(*calls)
        except BaseException:
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
            raise

    def _lane(self, pick: int | None) -> "_LoopThread[C]":
        if self._state != "started":
            hint = "make a new one" if self.is_closed else "use `async with`, or `await pool.start()` first"
            raise RuntimeError(f"the AsyncPool is {'closed' if self.is_closed else 'not started'}: {hint}")
        return self._lanes[(next(self._turns) if pick is None else pick) % self._count]

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        lanes: list[_LoopThread[C]] = getattr(self, "_lanes", [])
        if lanes:
            warnings.warn("an AsyncPool was not closed: use `async with`, or `await pool.aclose()`", ResourceWarning, 2)
            for lane in lanes:
                lane.stop()

    def __repr__(self) -> str:
        return f"<AsyncPool of {self._count} loops, {self._state}>"


class _LoopThread(Generic[C]):
    """One event loop on a thread of its own, and its client."""

    def __init__(
        self,
        name: str,
        open_client: Callable[[], contextlib.AbstractAsyncContextManager[C]],
        new_loop: Callable[[], asyncio.AbstractEventLoop],
    ) -> None:
        self.ready: Future[None] = Future()
        self._done: Future[None] = Future()
        self._lock = threading.Lock()
        self._calls: set[Future[Any]] = set()
        self._error: BaseException | None = None
        self._died = False
        self._told = False
        self._stopping = False
        self._alive = True
        self._loop: asyncio.AbstractEventLoop | None = None
        self._main: asyncio.Task[None] | None = None
        self._client: C | None = None
        # A daemon, so that a pool that was never closed does not keep the interpreter from ending.
        self._thread = threading.Thread(target=self._run, args=(open_client, new_loop), name=name, daemon=True)
        self._thread.start()

    def _run(
        self,
        open_client: Callable[[], contextlib.AbstractAsyncContextManager[C]],
        new_loop: Callable[[], asyncio.AbstractEventLoop],
    ) -> None:
        try:
            with asyncio.Runner(loop_factory=new_loop) as runner:
                try:
                    runner.run(self._serve(open_client))
                except asyncio.CancelledError:
                    self._over(None)
                except (
                    BaseException
                ) as error:  # Also SystemExit of a task: it ends this loop, and those who wait are told.
                    self._over(error)
        except BaseException as error:
            self._over(error)
        finally:
            self._over(None)
            with self._lock:
                calls, self._calls = self._calls, set()
            self._loop = self._main = self._client = None
            for future in (self.ready, *calls):
                _fail(future, self._gone())
            self._done.set_result(None)

    def _over(self, error: BaseException | None) -> None:
        """Takes no more calls. The first reason stays."""
        with self._lock:
            if self._alive:
                self._alive = False
                self._error = error
                self._died = not self._stopping

    async def _serve(self, open_client: Callable[[], contextlib.AbstractAsyncContextManager[C]]) -> None:
        with self._lock:
            self._loop = asyncio.get_running_loop()
            self._main = asyncio.current_task()
            stopping = self._stopping
        if stopping:
            return
        try:
            async with open_client() as client:
                self._client = client
                self.ready.set_result(None)
                try:
                    await self._loop.create_future()  # Until `stop` cancels this task.
                finally:
                    others = asyncio.all_tasks() - {asyncio.current_task()}
                    for task in others:
                        task.cancel()
                    await asyncio.gather(*others, return_exceptions=True)
        except BaseException as error:
            if self.ready.done():
                raise
            if isinstance(error, asyncio.CancelledError):
                self.ready.cancel()  # Nobody waits for it any more: an exception would be logged as never retrieved.
            else:
                self.ready.set_exception(error)

    def _gone(self) -> RuntimeError:
        if not self._died:
            return RuntimeError("the AsyncPool is closed")
        self._told = True
        gone = RuntimeError(f"the event loop of {self._thread.name} has died: {self._error!r}")
        gone.__cause__ = self._error
        return gone

    def stop(self) -> None:
        """Tells the loop to end."""
        with self._lock:
            self._stopping = True
            if self._loop is not None and self._main is not None:
                with contextlib.suppress(RuntimeError):  # It is closed already.
                    self._loop.call_soon_threadsafe(self._main.cancel)

    async def ended(self) -> BaseException | None:
        """Waits for the end; gives the error of closing the client, or that of a death which no call was told of."""
        await asyncio.shield(asyncio.wrap_future(self._done))
        self._thread.join()
        if self._died:
            return None if self._told else self._gone()
        return self._error

    async def call(self, fn: Callable[[C], Coroutine[Any, Any, T]]) -> T:
        """Carries out a call on this loop, for a task of any loop."""

        async def called() -> T:
            return await fn(cast("C", self._client))

        coroutine = called()
        try:
            with self._lock:
                if not self._alive or self._stopping or self._loop is None:
                    raise self._gone()
                future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
                self._calls.add(future)
        except BaseException:
            coroutine.close()
            raise
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if (self._stopping or not self._alive) and not (task is not None and task.cancelling()):
                gone = self._gone()
                raise gone from gone.__cause__
            raise
        finally:
            with self._lock:
                self._calls.discard(future)


def _fail(future: Future[Any], error: BaseException) -> None:
    with contextlib.suppress(Exception):  # It may be done already.
        future.set_exception(error)


@contextlib.asynccontextmanager
async def _open(factory: Callable[[], Any] | None, shared: Any) -> AsyncGenerator[Any, None]:
    """The client of one loop, on that loop: its own, or the one that all share."""
    if factory is None:
        yield shared
        return
    client: Any = factory()
    if not hasattr(client, "__aenter__") and inspect.isawaitable(client):
        client = await client
    if hasattr(client, "__aenter__"):
        async with client as entered:
            yield entered
    else:
        try:
            yield client
        finally:
            await _close(client)


async def _close(client: Any) -> None:
    """Closes a client, whether its `close` is a coroutine function or not."""
    closing = client.close()
    if inspect.isawaitable(closing):
        await closing


def _loop_factory(use_uvloop: bool) -> Callable[[], asyncio.AbstractEventLoop]:
    if use_uvloop:
        try:
            import uvloop
        except ImportError:
            pass
        else:
            return uvloop.new_event_loop
    return asyncio.SelectorEventLoop
