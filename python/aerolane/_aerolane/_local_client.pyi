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
    """A blocking client, to be used by the thread that made it or by any other.

    Other clients give each thread a runtime, a cluster tend and a pool of its own under this name. Here the calling
    thread does its I/O itself in any case; clients that are made with equal policies and seeds share one tend and one
    bounded pool, however many threads make one.
    """

    def __new__(cls, policy: ClientPolicy, seeds: str) -> Self: ...
    @property
    def cluster_name(self) -> str | None:
        """The cluster's name as the policy asks for it."""
    @property
    def server_cluster_name(self) -> str | None:
        """The cluster's name as its nodes report it."""
    def is_strong_consistency(self, namespace: str) -> bool | None:
        """Whether a namespace is in strong-consistency mode; `None` for one that the cluster does not have."""
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
    def info_blocking(self, command: str) -> dict[str, str]:
        """As `Client.info_blocking`."""
    def enable_metrics(self, policy: MetricsPolicy | None = None) -> None:
        """Switches metrics on, or changes their policy (`None`: the default one). Calls that are under way are not
        measured. Another `latency_unit` drops what was measured.
        """
    def disable_metrics(self) -> None:
        """Switches metrics off. What was measured stays."""
    def metrics_enabled(self) -> bool:
        """Whether metrics are on."""
    def metrics(self) -> ClusterMetrics:
        """The metrics at this moment: a `ClusterMetrics`. Takes some hundred microseconds; not to be called for
        every operation.
        """
