"""Bounded concurrency for code without async: threads, as many as have something to do."""

import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future
from functools import partial
from typing import Any, Literal, overload

from aerolane._aerolane import Client, Cluster, InvalidArgumentError, Session, TransactionalSession
from aerolane.concurrent._calls import begin, check, is_a, method_of, with_args

_AHEAD = 2


@overload
def execute_concurrent(
    session: Any,
    calls: Iterable[Any],
    *,
    concurrency: int = ...,
    raise_on_first_error: bool = ...,
    results: Literal["list"] = ...,
) -> list[Any]: ...
@overload
def execute_concurrent(
    session: Any,
    calls: Iterable[Any],
    *,
    concurrency: int = ...,
    raise_on_first_error: bool = ...,
    results: Literal["iterator"],
) -> Generator[Any, None, None]: ...
def execute_concurrent(
    session: Any,
    calls: Iterable[Any],
    *,
    concurrency: int = 16,
    raise_on_first_error: bool = True,
    results: Literal["list", "iterator"] = "list",
) -> list[Any] | Generator[Any, None, None]:
    """Makes many calls in threads, at most `concurrency` of them at a time. Results come in the order of the calls.

    Works as `aerolane.execute_concurrent`, but returns a list or a plain iterator (`close()` leaves it early).
    `calls` is read in the calling thread; a thread starts when there is a call for it. A call in a thread cannot be
    cancelled: after an error, or when you leave the iterator, it waits for the calls that have started.

    Raises `InvalidArgumentError` for a concurrency below 1, and for a session for asyncio: for that, see
    `aerolane.execute_concurrent`.
    """
    check(concurrency, results, raise_on_first_error)
    _refuse_async(session)
    return _run(partial(begin, session, True), calls, concurrency, raise_on_first_error, results)


@overload
def execute_concurrent_with_args(
    session: Any,
    method: str | Callable[..., Any],
    args: Iterable[Any],
    *,
    concurrency: int = ...,
    raise_on_first_error: bool = ...,
    results: Literal["list"] = ...,
) -> list[Any]: ...
@overload
def execute_concurrent_with_args(
    session: Any,
    method: str | Callable[..., Any],
    args: Iterable[Any],
    *,
    concurrency: int = ...,
    raise_on_first_error: bool = ...,
    results: Literal["iterator"],
) -> Generator[Any, None, None]: ...
def execute_concurrent_with_args(
    session: Any,
    method: str | Callable[..., Any],
    args: Iterable[Any],
    *,
    concurrency: int = 16,
    raise_on_first_error: bool = True,
    results: Literal["list", "iterator"] = "list",
) -> list[Any] | Generator[Any, None, None]:
    """Calls a method of the session (a name or a callable) once for each item of `args`, in threads.

    An item of `args` is a tuple of the arguments, a dict of keyword arguments, or the only argument. Everything else
    works as in `execute_concurrent`.

    Also raises `InvalidArgumentError` if the session has no such method.
    """
    check(concurrency, results, raise_on_first_error)
    _refuse_async(session)
    return _run(partial(with_args, method_of(session, method, True)), args, concurrency, raise_on_first_error, results)


def _refuse_async(session: object) -> None:
    if isinstance(session, Client | Cluster | Session | TransactionalSession):
        name = type(session).__name__
        raise InvalidArgumentError(f"this {name} is one of asyncio: use execute_concurrent of aerolane")


def _run(
    call: Callable[[Any], Any], inputs: Any, concurrency: int, raises: bool, results: str
) -> list[Any] | Generator[Any, None, None]:
    if is_a(inputs, (str, bytes)) or not is_a(inputs, Iterable):
        raise TypeError(f"the calls must be an iterable, not {type(inputs).__name__}")
    running = _Calls(call, inputs, concurrency, raises)
    return list(running.iterate(0)) if results == "list" else running.iterate(concurrency * _AHEAD)


class _Calls:
    """The calls of one `execute_concurrent`."""

    def __init__(self, call: Callable[[Any], Any], inputs: Iterable[Any], concurrency: int, raises: bool) -> None:
        self._call, self._inputs, self._concurrency, self._raises = call, inputs, concurrency, raises
        self._calls: deque[Future[Any]] = deque()
        self._jobs: queue.SimpleQueue[tuple[Any, Future[Any]] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._changed = threading.Condition()
        self._in_flight = 0
        self._first_error: BaseException | None = None

    def iterate(self, most_ahead: int) -> Generator[Any, None, None]:
        """The results. `most_ahead`: how many calls there may be whose results were not taken; 0: any number."""
        items = iter(self._inputs)
        ended, failed = False, None
        try:
            while True:
                while not ended and self._has_room(most_ahead):
                    try:
                        item = next(items)
                    except StopIteration:
                        ended = True
                    except BaseException as error:
                        ended, failed = True, error
                    else:
                        self._start(item)
                if failed is not None and (not most_ahead or not self._calls):
                    raise failed
                if self._first_error is not None and not most_ahead:
                    raise self._first_error
                if not self._calls:
                    return
                if self._calls[0].done():
                    call = self._calls.popleft()
                    if (failure := call.exception()) is None:
                        yield call.result()
                    elif self._raises:
                        raise failure
                    else:
                        yield failure
                    continue
                self._wait(ended, most_ahead)
        finally:
            self._leave()
            if callable(close := getattr(items, "close", None)):
                close()

    def _has_room(self, most_ahead: int) -> bool:
        if self._first_error is not None or self._in_flight >= self._concurrency:
            return False
        return not most_ahead or len(self._calls) < most_ahead

    def _wait(self, ended: bool, most_ahead: int) -> None:
        """Until the oldest call is over, or there is room for another."""
        head = self._calls[0]
        with self._changed:
            while not head.done() and (ended or not self._has_room(most_ahead)):
                if self._first_error is not None and not most_ahead:
                    return
                self._changed.wait()

    def _start(self, item: Any) -> None:
        call: Future[Any] = Future()
        self._calls.append(call)
        with self._changed:
            self._in_flight += 1
            idle = len(self._threads) >= self._in_flight
        if not idle:
            thread = threading.Thread(target=self._work, name="aerolane-concurrent", daemon=True)
            thread.start()
            self._threads.append(thread)
        self._jobs.put((item, call))

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            item, call = job
            if not call.set_running_or_notify_cancel():
                continue
            try:
                result = self._call(item)
            except BaseException as error:
                call.set_exception(error)
                with self._changed:
                    self._in_flight -= 1
                    if self._raises and self._first_error is None:
                        self._first_error = error
                    self._changed.notify()
            else:
                call.set_result(result)
                with self._changed:
                    self._in_flight -= 1
                    self._changed.notify()
            del job, item, call

    def _leave(self) -> None:
        """Nothing that has not begun begins; what has is waited for."""
        for call in self._calls:
            call.cancel()
        self._calls.clear()
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()
