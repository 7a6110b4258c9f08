"""The client of one thread, and of its event loop."""

from collections.abc import Mapping, Sequence
from typing import Any, Self, final

from ._call_policies import ReadPolicy, WritePolicy
from ._client_policy import ClientPolicy
from ._enums import RecordExistsAction
from ._expiration import Expiration
from ._expression import FilterExpression
from ._metrics import ClusterMetrics, MetricsPolicy
from ._operations import BaseOperation
from ._txn import Txn
from ._values import Key, Record

@final
class _LocalClient:
    """A blocking client for the thread that created it or any other.

    In other clients, a client of this name gives each thread its own runtime, cluster tend and pool. Here, the calling
    thread always does its own I/O; clients with equal policies and seeds share one tend and one bounded pool, however
    many threads create one.
    """

    def __new__(cls, policy: ClientPolicy, seeds: str) -> Self: ...
    @property
    def cluster_name(self) -> str | None:
        """The cluster name that the policy requires."""
    @property
    def server_cluster_name(self) -> str | None:
        """The cluster name that the nodes report."""
    def is_strong_consistency(self, namespace: str) -> bool | None:
        """Whether a namespace is in strong-consistency mode; `None` if the cluster does not have the namespace."""
    def put_blocking(
        self,
        key: Key,
        bins: Mapping[str, Any],
        *,
        policy: WritePolicy | None = None,
        policy_sc: WritePolicy | None = None,
        txn: Txn | None = None,
    ) -> None:
        """As `Client.put_blocking`."""
    def delete_blocking(self, key: Key, *, policy: WritePolicy | None = None) -> bool:
        """As `Client.delete_blocking`."""
    def touch_blocking(self, key: Key, *, policy: WritePolicy | None = None) -> None:
        """As `Client.touch_blocking`."""
    def exists_blocking(self, key: Key, *, policy: ReadPolicy | None = None) -> bool:
        """As `Client.exists_blocking`."""
    def enable_metrics(self, policy: MetricsPolicy | None = None) -> None:
        """Enables metrics, or changes their policy (`None`: the default policy). Calls in flight are not measured.
        Changing `latency_unit` discards what was measured.
        """
    def disable_metrics(self) -> None:
        """Disables metrics. What was measured is kept."""
    def metrics_enabled(self) -> bool:
        """Whether metrics are on."""
    def metrics(self) -> ClusterMetrics:
        """A snapshot of the metrics: a `ClusterMetrics`. Takes a few hundred microseconds, so do not call it for
        every operation.
        """
    def info_blocking(self, command: str) -> dict[str, str]:
        """As `Client.info_blocking`."""
    def get_blocking(
        self,
        key: Key,
        bins: Sequence[str] | None = None,
        *,
        policy: ReadPolicy | None = None,
        policy_sc: ReadPolicy | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
    ) -> Record:
        """As `Client.get_blocking`."""
    def operate_blocking(
        self,
        key: Key,
        operations: Sequence[BaseOperation],
        *,
        policy: WritePolicy | None = None,
        policy_sc: WritePolicy | None = None,
        record_exists_action: RecordExistsAction | None = None,
        expiration: Expiration | None = None,
        generation: int | None = None,
        durable_delete: bool | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
    ) -> Record:
        """As `Client.operate_blocking`."""
