"""Clients that are made with the addresses of a cluster, for asyncio and (`Sync..`) for code without it."""

from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Generic, Literal, Self, TypeVar, final

from ._ael import IndexesMonitor
from ._awaitable import Awaitable
from ._behavior import Behavior
from ._builders import QueryBuilder, SyncQueryBuilder
from ._client_policy import ClientPolicy
from ._dataset import DataSet
from ._index import IndexBuilder, SyncIndexBuilder
from ._modules import _RegistersModules
from ._native import NativeClient
from ._query import RegisterTask, UdfRemoveTask
from ._session import Session, SyncSession, SyncTransactionalSession, TransactionalSession, _Begins

_Query = TypeVar("_Query", covariant=True)
_Index = TypeVar("_Index", covariant=True)
_Session = TypeVar("_Session", covariant=True)
_Transactional = TypeVar("_Transactional", covariant=True)

class _Client(_Begins[_Query, _Index], Generic[_Query, _Index, _Session, _Transactional]):
    """What both kinds of client have."""

    def transaction(self, behavior: Behavior | None = None) -> _Transactional:
        """A session whose calls belong to a new transaction, with the policies of a behavior (`None`:
        `Behavior.DEFAULT`): a context manager, which commits at its end.

        Raises `RuntimeError` before the client has connected, and `ClientClosedError` after it was closed.
        """
    @property
    def is_connected(self) -> bool:
        """Whether the client is connected and knows an active node."""
    def supports_server_compiled_ael(self) -> bool:
        """Whether all nodes compile expression text themselves (8.2)."""
    def supports_query_selection(self) -> bool:
        """Whether all nodes select the index of a query themselves (8.2)."""
    def create_session(self, behavior: Behavior | None = None) -> _Session:
        """A session with the policies of a behavior; `None`: `Behavior.DEFAULT`.

        Raises `RuntimeError` before the client has connected, and `ClientClosedError` after it was closed.
        """
    @property
    def native(self) -> NativeClient:
        """The native client, on the same connections. Closing one closes both.

        Raises `RuntimeError` before the client has connected.
        """
    @property
    def underlying_client(self) -> NativeClient:
        """As `native`, for code written for the SDK of Aerospike."""

@final
class Client(
    _Client[QueryBuilder, IndexBuilder, Session, TransactionalSession],
    _RegistersModules[Awaitable[RegisterTask], Awaitable[UdfRemoveTask]],
):
    """A client for asyncio: `async with Client("localhost:3000") as client`.

    In a forked child it is not connected: connect it there anew. With `after_fork="reconnect"` (default `"error"`), a
    client that was connected at the fork does so by itself: its first `create_session()`, or other use, blocks until it
    has. Sessions of the parent process do not work there.

    `seeds`: one or several addresses, `"host:port,host:port"`; 3000 is the default port. `policy`: a `ClientPolicy`.
    `max_error_rate`, `error_rate_window`: go before what the policy says. `index_refresh_interval` is accepted for code
    written for the first versions of the SDK of Aerospike: here the indexes of a cluster are asked for when a query
    needs them. `indexes_monitor`: an `IndexesMonitor` of `aerolane.ael`, which begins with the connection.

    Raises `InvalidArgumentError` for seeds that are no addresses, and another `after_fork`.
    """

    def __new__(
        cls,
        seeds: str,
        policy: ClientPolicy | None = None,
        index_refresh_interval: float | None = None,
        *,
        max_error_rate: int | None = None,
        error_rate_window: int | None = None,
        indexes_monitor: IndexesMonitor | None = None,
        after_fork: Literal["error", "reconnect"] = "error",
    ) -> Self: ...
    def close(self) -> Coroutine[Any, Any, None]:
        """Closes all connections. Operations under way fail with `ClientClosedError`. A second call does nothing.
        Awaitable.
        """
    def connect_blocking(self) -> None:
        """As `connect`, on this thread: for code written for the first versions of the SDK of Aerospike."""
    def close_blocking(self) -> None:
        """As `close`, on this thread."""
    def connect(self) -> Coroutine[Any, Any, None]:
        """Connects, unless the client is connected already in this process. Awaitable of `None`.

        Raises `ConnectionError` when no seed can be used, with the reason of each.
        """
    def transaction_session(self, behavior: Behavior | None = None) -> TransactionalSession:
        """A session whose calls belong to a new transaction: a context manager, which commits at its end."""
    def __aenter__(self) -> Coroutine[Any, Any, Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Coroutine[Any, Any, None]: ...

@final
class SyncClient(
    _Client[SyncQueryBuilder, SyncIndexBuilder, SyncSession, SyncTransactionalSession],
    _RegistersModules[RegisterTask, UdfRemoveTask],
):
    """A client for code without async: `with SyncClient("localhost:3000") as client`. Any number of threads may use it.

    Arguments are those of `Client`. `current_thread_runtime` is accepted for code written for the SDK, where it gives
    each thread a runtime of its own, with a cluster tend and a pool of its own as the price. Here the calling thread
    does its I/O itself in any case, on one shared cluster and one bounded pool: it changes nothing.
    """

    def __new__(
        cls,
        seeds: str,
        policy: ClientPolicy | None = None,
        index_refresh_interval: float | None = None,
        *,
        max_error_rate: int | None = None,
        error_rate_window: int | None = None,
        current_thread_runtime: bool = False,
        indexes_monitor: IndexesMonitor | None = None,
        after_fork: Literal["error", "reconnect"] = "error",
    ) -> Self: ...
    def connect(self) -> None:
        """Connects, unless the client is connected already in this process.

        Raises `ConnectionError` when no seed can be used, with the reason of each.
        """
    def close(self) -> None:
        """Closes all connections. Operations under way fail with `ClientClosedError`. A second call does nothing."""
    def create_transactional_session(self, behavior: Behavior | None = None) -> SyncTransactionalSession:
        """A session whose calls belong to a new transaction: a context manager, which commits at its end."""
    def truncate(self, dataset: DataSet, before_nanos: int | None = None) -> None:
        """Removes all records of a set: as `truncate` of a session."""
    @property
    def current_thread_runtime(self) -> bool:
        """As it was given."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...
