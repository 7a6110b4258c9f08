"""Connected clusters, for asyncio and (`Sync..`) for code without it."""

from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, final

from aerolane.metrics import AsyncMetricsExporter, MetricsExporter
from aerolane.system_settings import TransactionSettings

from ._awaitable import Awaitable
from ._behavior import Behavior
from ._metrics import ClusterMetrics, MetricsPolicy, MetricsWriter
from ._modules import _Modules
from ._node import Node, SyncNode, Version
from ._query import RegisterTask, UdfRemoveTask
from ._session import Session, SyncSession, SyncTransactionalSession, TransactionalSession

_Session = TypeVar("_Session", covariant=True)
_Transactional = TypeVar("_Transactional", covariant=True)
_N = TypeVar("_N", covariant=True)

class _Connected(Generic[_Session, _Transactional, _N]):
    """What both kinds of cluster have."""

    def transaction(self, behavior: Behavior | None = None) -> _Transactional:
        """A session whose calls belong to a new transaction, with the policies of a behavior (`None`:
        `Behavior.DEFAULT`): a context manager, which commits at its end.
        """
    @property
    def cluster_name(self) -> str | None:
        """The cluster's name as its nodes report it, or `None`."""
    def enable_metrics(self, policy: MetricsPolicy | None = None) -> None:
        """Switches metrics on, or changes their policy (`None`: the default one). See
        `aerolane.native.MetricsPolicy`.
        """
    def metrics_enabled(self) -> bool:
        """Whether metrics are on."""
    @property
    def is_connected(self) -> bool:
        """Whether the cluster is open and an active node is known."""
    def nodes(self) -> list[_N]:
        """The active nodes."""
    def node_names(self) -> list[str]:
        """The names of the active nodes."""
    def get_node(self, name: str) -> _N:
        """The active node of this name. Raises `InvalidNodeError` when there is none."""
    def supports_query_selection(self) -> bool:
        """Whether all nodes select the index of a query themselves (8.2)."""
    def supports_string_operations(self) -> bool:
        """Whether all nodes have string operations (8.2)."""
    def create_transactional_session(self, behavior: Behavior | None = None) -> _Transactional:
        """As `transaction`, for code written for the first versions of the SDK of Aerospike."""
    def create_session(self, behavior: Behavior | None = None) -> _Session:
        """A session with the policies of a behavior; `None`: `Behavior.DEFAULT`."""
    def server_version(self) -> Version | None:
        """The oldest version of the active nodes; `None` when there are none."""
    def supports_ael(self) -> bool:
        """Whether all nodes compile expression text themselves (8.2)."""
    def supports_query_operations(self) -> bool:
        """Whether queries may carry operations of all kinds that read (8.1.2)."""
    def remove_exporter(self, exporter: object) -> bool:
        """Removes an exporter of metrics, one entry of it if it was added several times. An export that is under way
        comes to its end. `False`: there is no such exporter.
        """
    def metrics_snapshot(self) -> ClusterMetrics:
        """The metrics at this moment: a `ClusterMetrics`. Takes some hundred microseconds; not to be called for
        every operation.
        """
    @property
    def transaction_settings(self) -> TransactionSettings:
        """The `TransactionSettings` in force: what was given, and the defaults for the rest."""

@final
class Cluster(
    _Connected[Session, TransactionalSession, Node],
    _Modules[Awaitable[RegisterTask], Awaitable[UdfRemoveTask], Awaitable[list[dict[str, str]]]],
):
    """A connected cluster, for asyncio. Made by `ClusterDefinition.connect()`. One serves any number of event loops."""

    def close(self) -> Coroutine[Any, Any, None]:
        """Closes all connections. Operations under way fail with `ClientClosedError`. A second call does nothing.
        While metrics are on, exporters are given a last snapshot before, for which this waits 5 s at most.
        Awaitable.
        """
    def disable_metrics(self) -> None:
        """Switches metrics off. What was measured stays. Exporters are given a last snapshot; this does not wait
        until they have it.
        """
    @property
    def exporters(self) -> tuple[AsyncMetricsExporter | MetricsWriter, ...]:
        """The exporters of metrics that were added, in that order: a tuple."""
    def add_exporter(self, exporter: AsyncMetricsExporter | MetricsWriter) -> None:
        """Adds an exporter of metrics: an object with `async def export(self, snapshot)`, or a `MetricsWriter`. While
        metrics are on, it is given a `MetricsSnapshot` after each `MetricsSettings.export_interval` (30 s unless set),
        and one more by `disable_metrics()` and `close()`. It runs on the event loop that runs now.

        What it raises is logged. After three failures in a row it is suspended, and tried again every ten intervals. It
        is called only if `MetricsSettings.exporter` is CUSTOM or not set.

        Raises `TypeError` for an object without such a method, `RuntimeError` outside of an event loop.
        """
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Coroutine[Any, Any, None]: ...

@final
class SyncCluster(
    _Connected[SyncSession, SyncTransactionalSession, SyncNode],
    _Modules[RegisterTask, UdfRemoveTask, list[dict[str, str]]],
):
    """A connected cluster, for code without async. Made by `aerolane.sync.ClusterDefinition.connect()`. One serves
    any number of threads.
    """

    def close(self) -> None:
        """Closes all connections. Operations under way fail with `ClientClosedError`. A second call does nothing.
        While metrics are on, exporters are given a last snapshot before, for which this waits 5 s at most.
        """
    def disable_metrics(self) -> None:
        """Switches metrics off. What was measured stays. Exporters are given a last snapshot; this waits until they
        have exported it, for 5 s at most.
        """
    @property
    def exporters(self) -> tuple[MetricsExporter, ...]:
        """The exporters of metrics that were added, in that order: a tuple."""
    def add_exporter(self, exporter: MetricsExporter) -> None:
        """Adds an exporter of metrics: an object with a method `export(snapshot)`. While metrics are on, it is given a
        `MetricsSnapshot` after each `MetricsSettings.export_interval` (30 s unless set), and one more by
        `disable_metrics()` and `close()`. Each exporter is called on a thread of its own, so it may block.

        What it raises is logged. After three failures in a row it is suspended, and tried again every ten intervals. It
        is called only if `MetricsSettings.exporter` is CUSTOM or not set.

        Raises `TypeError` for an object without such a method, and for one whose `export` is async.
        """
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...
