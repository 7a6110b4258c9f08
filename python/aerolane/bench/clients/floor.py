"""No client and no I/O: what the interpreter and the harness themselves cost."""

import operator
from typing import Any

from aerolane._aerolane import Key, _Floor
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
    """The client's own awaitables, complete without I/O: a client whose answers are always there.

    So each operation suspends its task once and is woken once, at the loop's next turn, as a real one is.
    """

    def __init__(self) -> None:
        self._floor: _Floor | None = None

    async def connect(self, spec: RunSpec) -> None:
        """Takes the running loop."""
        self._floor = _Floor()

    def calls(self) -> Calls:
        """The calls."""
        assert self._floor is not None
        return _calls(self._floor.call, self._floor.call, "await ")

    async def close(self) -> None:
        """Nothing to do."""
