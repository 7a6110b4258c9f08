"""No client and no I/O: what the interpreter and the harness themselves cost."""

import asyncio
import operator
from typing import Any

from aerolane._aerolane import Key
from aerolane.bench.clients.calls import Calls
from aerolane.bench.spec import RunSpec


def _calls(get: Any, put: Any, prefix: str) -> Calls:
    return Calls(
        names={"make_key": Key.from_int_user_key, "get": get, "put": put},
        read=prefix + "get({key})",
        write=prefix + "put({key}, {bins})",
        read_many=prefix + "get({keys})",
        write_many=prefix + "put({keys}, {rows})",
        touch="record",
        touch_many="record",
    )


class FloorSync:
    """Calls of builtin functions that take the same arguments and do nothing."""

    def connect(self, spec: RunSpec) -> None:
        """Nothing to do."""

    def calls(self) -> Calls:
        """The calls."""
        return _calls(operator.truth, operator.is_, "")

    def close(self) -> None:
        """Nothing to do."""


class FloorAsync:
    """Futures of the running loop, all completed at the loop's next turn: a client whose answers are always there.

    So each operation suspends its task once and wakes it once, as a real one does.
    """

    def __init__(self) -> None:
        self._waiting: list[asyncio.Future[None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    async def connect(self, spec: RunSpec) -> None:
        """Takes the running loop."""
        self._loop = asyncio.get_running_loop()

    def _complete(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            future.set_result(None)

    def _call(self, *_arguments: object) -> "asyncio.Future[None]":
        assert self._loop is not None
        if not self._waiting:
            self._loop.call_soon(self._complete)
        future = self._loop.create_future()
        self._waiting.append(future)
        return future

    def calls(self) -> Calls:
        """The calls."""
        return _calls(self._call, self._call, "await ")

    async def close(self) -> None:
        """Nothing to do."""
