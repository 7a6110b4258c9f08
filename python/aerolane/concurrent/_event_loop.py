"""Bounded concurrency on the event loop: no task for a call of ours, which is a future itself."""

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import Any, Literal, overload

from aerolane._aerolane import InvalidArgumentError, Key
from aerolane.concurrent._calls import BLOCKING, begin, check, is_a, method_of, with_args

Inputs = Iterable[Any] | AsyncIterable[Any]
# Results that nobody has taken may wait behind one that is not there yet: as many as this for each call in flight.
_AHEAD = 2


@overload
def execute_concurrent(
    session: Any,
    calls: Inputs,
    *,
    concurrency: int = ...,
    raise_on_first_error: bool = ...,
    results: Literal["list"] = ...,
) -> Awaitable[list[Any]]: ...
@overload
def execute_concurrent(
    session: Any,
    calls: Inputs,
    *,
    concurrency: int = ...,
    raise_on_first_error: bool = ...,
    results: Literal["iterator"],
) -> AsyncGenerator[Any, None]: ...
def execute_concurrent(
    session: Any,
    calls: Inputs,
    *,
    concurrency: int = 100,
    raise_on_first_error: bool = True,
    results: Literal["list", "iterator"] = "list",
) -> Awaitable[list[Any]] | AsyncGenerator[Any, None]:
    """Makes many calls, at most `concurrency` of them at a time. Results come in the order of the calls.

    Each of `calls` is one of these:

    * `(method, arguments)` or `(method, arguments, keywords)`, such as `("put", (key, {"n": 1}))`. The method is a
      name or a callable
    * a builder: `session.query(key)`
    * a callable that takes the session: `lambda session: session.get(key)`

    `calls` is an iterable or an async iterable. It is read only as fast as calls finish, so it can be endless.

    `results="list"` returns an awaitable of a list. `results="iterator"` returns an async iterator, which holds at most
    twice `concurrency` results that you have not taken.

    `raise_on_first_error=True` raises the first error and cancels the calls in flight: a list at once, an iterator when
    it reaches that call. With False, exceptions take the place of results.

    If you cancel it, or leave the iterator early (`aclose()`), the calls in flight are cancelled. Writes that were
    already sent may still take effect. If `calls` raises, everything ends and the error is raised.

    Raises `InvalidArgumentError` for a concurrency below 1, and for a blocking session: for that, see `aerolane.sync`.
    """
    check(concurrency, results, raise_on_first_error)
    _refuse_blocking(session)
    return _run(partial(begin, session, False), calls, concurrency, raise_on_first_error, results)


@overload
def execute_concurrent_with_args(
    session: Any,
    method: str | Callable[..., Any],
    args: Inputs,
    *,
    concurrency: int = ...,
    raise_on_first_error: bool = ...,
    results: Literal["list"] = ...,
) -> Awaitable[list[Any]]: ...
@overload
def execute_concurrent_with_args(
    session: Any,
    method: str | Callable[..., Any],
    args: Inputs,
    *,
    concurrency: int = ...,
    raise_on_first_error: bool = ...,
    results: Literal["iterator"],
) -> AsyncGenerator[Any, None]: ...
def execute_concurrent_with_args(
    session: Any,
    method: str | Callable[..., Any],
    args: Inputs,
    *,
    concurrency: int = 100,
    raise_on_first_error: bool = True,
    results: Literal["list", "iterator"] = "list",
) -> Awaitable[list[Any]] | AsyncGenerator[Any, None]:
    """Calls a method of the session (a name or a callable) once for each item of `args`.

    An item of `args` is a tuple of the arguments, a dict of keyword arguments, or the only argument: `[key, key]` for
    `"get"`, `[(key, {"n": 1}), ..]` for `"put"`. Everything else works as in `execute_concurrent`.

    Also raises `InvalidArgumentError` if the session has no such method.
    """
    check(concurrency, results, raise_on_first_error)
    _refuse_blocking(session)
    return _run(partial(with_args, method_of(session, method, False)), args, concurrency, raise_on_first_error, results)


async def with_each_key(keys: AsyncIterable[Any], bins: Any) -> AsyncGenerator[tuple[Key, Any], None]:
    """The arguments of `get_many` and `put_many` of an async iterable: each key as it comes, and `bins`.

    Raises `TypeError` at what is no key.
    """
    place, items = 0, aiter(keys)
    try:
        async for key in items:
            if not isinstance(key, Key):
                raise TypeError(f"keys[{place}] must be a Key, not {type(key)}")
            yield key, bins
            place += 1
    finally:
        aclose: Any = getattr(items, "aclose", None)
        if aclose is not None:
            await aclose()


def _refuse_blocking(session: object) -> None:
    if isinstance(session, BLOCKING):
        name = type(session).__name__
        raise InvalidArgumentError(f"this {name} blocks: use execute_concurrent of aerolane.sync")


def _run(
    call: Callable[[Any], Any], inputs: Any, concurrency: int, raises: bool, results: str
) -> Awaitable[list[Any]] | AsyncGenerator[Any, None]:
    if is_a(inputs, (str, bytes)) or not is_a(inputs, (Iterable, AsyncIterable)):
        raise TypeError(f"the calls must be an iterable or an async iterable, not {type(inputs).__name__}")
    running = _Calls(call, inputs, concurrency, raises)
    return running.collect() if results == "list" else running.iterate()


class _Ready:
    """A call that is over as it begins."""

    __slots__ = ("error", "value")

    def __init__(self, value: Any, error: BaseException | None) -> None:
        self.value, self.error = value, error

    def done(self) -> bool:
        return True

    def cancelled(self) -> bool:
        return False

    def exception(self) -> BaseException | None:
        return self.error

    def result(self) -> Any:
        return self.value


class _Calls:
    """The calls of one `execute_concurrent`."""

    def __init__(self, call: Callable[[Any], Any], inputs: Any, concurrency: int, raises: bool) -> None:
        self._call, self._concurrency, self._raises = call, concurrency, raises
        self._inputs = inputs
        self._items: Iterator[Any] | None = None
        self._async_items: AsyncIterator[Any] | None = None
        self._feeder: asyncio.Task[None] | None = None
        # In the order of the calls: those whose results were not taken.
        self._calls: deque[Any] = deque()
        self._in_flight = 0
        self._most_ahead = concurrency * _AHEAD
        self._ended = False
        self._failed: BaseException | None = None
        self._first_error: BaseException | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._room: asyncio.Future[None] | None = None

    async def collect(self) -> list[Any]:
        self._most_ahead = 0  # The list has them all in any case.
        made: list[Any] = []
        try:
            self._begin()
            while True:
                while self._calls and self._calls[0].done():
                    made.append(self._take())
                if self._raises and self._first_error is not None:
                    raise self._first_error
                if self._failed is not None:
                    raise self._failed
                if self._ended and not self._calls:
                    return made
                await self._wait()
        finally:
            await self._leave()

    async def iterate(self) -> AsyncGenerator[Any, None]:
        try:
            self._begin()
            while True:
                if self._calls and self._calls[0].done():
                    result = self._take()
                    if self._raises and isinstance(result, _Raised):
                        raise result.error
                    self._refill()
                    yield result
                elif self._failed is not None and not self._calls:
                    raise self._failed
                elif self._ended and not self._calls:
                    return
                else:
                    await self._wait()
        finally:
            await self._leave()

    def _take(self) -> Any:
        call = self._calls.popleft()
        if call.cancelled():
            error: BaseException | None = asyncio.CancelledError("the call was cancelled")
        else:
            error = call.exception()
        if error is None:
            return call.result()
        return _Raised(error) if self._raises else error

    def _begin(self) -> None:
        if is_a(self._inputs, AsyncIterable):
            self._async_items = aiter(self._inputs)
            self._feeder = asyncio.get_running_loop().create_task(self._feed())
        else:
            self._items = iter(self._inputs)
            self._refill()

    def _has_room(self) -> bool:
        if self._in_flight >= self._concurrency or self._ended:
            return False
        return not self._most_ahead or len(self._calls) < self._most_ahead

    def _refill(self) -> None:
        """Begins calls while there is room."""
        if self._room is not None:
            if self._has_room() and not self._room.done():
                self._room.set_result(None)
            return
        while self._items is not None and self._has_room():
            try:
                item = next(self._items)
            except StopIteration:
                self._ended = True
            except BaseException as error:
                self._end(error)
            else:
                self._start(item)

    async def _feed(self) -> None:
        assert self._async_items is not None
        try:
            while not self._ended:
                while not self._has_room():
                    self._room = asyncio.get_running_loop().create_future()
                    try:
                        await self._room
                    finally:
                        self._room = None
                try:
                    item = await anext(self._async_items)
                except StopAsyncIteration:
                    self._ended = True
                else:
                    self._start(item)
        except BaseException as error:
            self._end(error)
            if isinstance(error, asyncio.CancelledError):
                raise
        finally:
            self._wake()

    def _end(self, error: BaseException) -> None:
        self._ended, self._failed = True, error

    def _start(self, item: Any) -> None:
        try:
            made = self._call(item)
            call: Any = made
            if not inspect.isawaitable(made):
                call = _Ready(made, None)
            elif not hasattr(made, "add_done_callback"):
                call = asyncio.ensure_future(made)
        except Exception as error:
            call = _Ready(None, error)
        self._calls.append(call)
        if call.done():
            self._note(call)
            self._wake()
            return
        self._in_flight += 1
        call.add_done_callback(self._done)

    def _note(self, call: Any) -> None:
        if self._raises and self._first_error is None:
            if call.cancelled():
                self._first_error = asyncio.CancelledError("the call was cancelled")
            else:
                self._first_error = call.exception()
            if self._first_error is not None:
                self._ended = True

    def _done(self, call: Any) -> None:
        self._in_flight -= 1
        self._note(call)
        if not self._ended:
            self._refill()
        if self._first_error is not None or self._failed is not None or not self._calls or self._calls[0].done():
            self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def _wait(self) -> None:
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    async def _leave(self) -> None:
        """Cancels what is in flight, and waits until it is over."""
        self._ended = True
        left = [call for call in self._calls if not isinstance(call, _Ready)]
        self._calls.clear()
        if self._feeder is not None:
            left.append(self._feeder)
        pending = [call for call in left if not call.done()]
        for call in pending:
            call.cancel()
        if pending:
            await asyncio.gather(*(_over(call) for call in pending))
        for call in left:
            if not call.cancelled():
                call.exception()  # Looked at: it is not to be logged as an exception that nobody has seen.
        if self._async_items is not None:
            aclose: Any = getattr(self._async_items, "aclose", None)
            if aclose is not None:
                await aclose()
        elif self._items is not None and callable(close := getattr(self._items, "close", None)):
            close()


class _Raised:
    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


async def _over(call: Any) -> None:
    over = asyncio.Event()

    def end(_: Any) -> None:
        over.set()

    call.add_done_callback(end)
    await over.wait()
