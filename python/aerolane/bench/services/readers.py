"""Batch reads of each client, each made and looked at as its documentation does it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from aerolane.bench.modes import MODES
from aerolane.bench.services.features import EMPTY, SETS, bins
from aerolane.bench.spec import RunSpec

# A record's bins, or that there is none.
Row = dict[str, Any] | None

# Threads of an executor around a blocking client: as many as FastAPI gives to endpoints that are no coroutines.
EXECUTOR_THREADS = 40


class Reader:
    """One client's batch reads. Their answer is one thing, `rows` makes bins of it: some clients do that late."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.asynchronous = MODES[mode].asynchronous
        self._client: Any = MODES[mode].open()
        self._names: dict[str, Any] = {}
        self._tuples = mode.startswith(("peer-apy-", "legacy-"))
        self._executor: ThreadPoolExecutor | None = None

    async def connect(self, spec: RunSpec) -> None:
        """Connects; a blocking client gets an executor around it.

        Raises `RuntimeError` if it does not read what is there.
        """
        if not self.asynchronous:
            self.connect_blocking(spec)
            self._executor = ThreadPoolExecutor(EXECUTOR_THREADS)
            return
        await self._client.connect(spec)
        self._names = self._client.calls().names
        self._check(self.rows(await self.read(self._first(spec))))

    def connect_blocking(self, spec: RunSpec) -> None:
        """Connects a blocking client for use from threads."""
        self._client.connect(spec)
        self._names = self._client.calls().names
        self._check(self.rows(self.read_blocking(self._first(spec))))

    def _first(self, spec: RunSpec) -> list[Any]:
        return [*self.keys(spec.namespace, SETS[0], (0, 1)), *self.keys(spec.namespace, EMPTY, (0,))]

    def _check(self, rows: list[Row]) -> None:
        """Records that are not found are read faster: it would pass for a result."""
        if rows != [bins(0), bins(1), None]:
            raise RuntimeError(f"self-test: read {rows!r:.300}")

    def keys(self, namespace: str, set_name: str, numbers: Sequence[int]) -> list[Any]:
        """The keys of records."""
        if self._tuples:
            # The other clients' keys are the digits, too: it is the same record.
            return [(namespace, set_name, str(number)) for number in numbers]
        make: Callable[[str, str, int], Any] = self._names["make_key"]
        return [make(namespace, set_name, number) for number in numbers]

    async def read(self, keys: list[Any]) -> Any:
        """A batch read."""
        read: Callable[[list[Any]], Awaitable[Any]] = self._names["batch_read"]
        if self._executor is None:
            return await read(keys)
        return await asyncio.get_running_loop().run_in_executor(self._executor, self.read_blocking, keys)

    def read_blocking(self, keys: list[Any]) -> Any:
        """A batch read, on the calling thread."""
        return self._names["batch_read"](keys)

    def rows(self, answer: Any) -> list[Row]:
        """The bins of all rows of an answer, in the order of the keys."""
        if self.mode.startswith("peer-apy-"):
            found: list[Row] = answer.to_list()
            return found
        if self.mode == "legacy-sync":
            return [row.record[2] if row.record else None for row in answer.batch_records]
        return [row.record.bins if row.record else None for row in answer]

    async def close(self) -> None:
        """Ends the client."""
        if self.asynchronous:
            await self._client.close()
        else:
            self.close_blocking()

    def close_blocking(self) -> None:
        """Ends a blocking client."""
        if self._executor:
            self._executor.shutdown()
        self._client.close()
