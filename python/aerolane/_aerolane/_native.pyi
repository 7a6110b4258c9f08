"""The native client."""

from collections.abc import Coroutine, Iterable, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, Literal, Self, Unpack, final

from ._awaitable import Awaitable
from ._call_policies import QueryPolicy, ReadPolicy, WritePolicy
from ._client_policy import ClientPolicy
from ._dataset import DataSet
from ._enums import RecordExistsAction
from ._expiration import Expiration
from ._expression import FilterExpression
from ._metrics import ClusterMetrics, MetricsPolicy
from ._native_admin import _Administration
from ._native_batch import _Batches
from ._node import NativeNode
from ._operations import BaseOperation
from ._query import ExecuteTask, PartitionFilter, QueryPlan, Recordset, Statement
from ._step_policies import TxnRollPolicy, TxnVerifyPolicy
from ._txn import AbortStatus, CommitStatus, Txn
from ._values import Key, Record
from ._writer import SyncWriter, TableSummary, Writer, _Settings, _Table

@final
class NativeClient(_Batches, _Administration):
    """A client for a cluster, for any number of threads and event loops. Created by `new_client` or
    `new_client_blocking`.

    Each method that talks to the cluster returns an awaitable; the method of the same name with the suffix `_blocking`
    does the same on the calling thread, without the GIL. Without a policy, the default policy is used. Closing the
    client, leaving its context manager or dropping the last reference to it closes all connections; later calls raise
    `ClientClosedError`.
    """

    def get(
        self,
        key: Key,
        bins: Sequence[str] | None = None,
        *,
        policy: ReadPolicy | None = None,
        policy_sc: ReadPolicy | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
    ) -> Awaitable[Record]:
        """Reads a record: all its bins, only `bins` (a list of names), or none if it is an empty list.

        In strong-consistency namespaces, `policy_sc` is used instead of `policy`. Returns a `Record`; raises
        `RecordNotFoundError` if it does not exist.
        """
    def add(self, key: Key, bins: Mapping[str, int | float], *, policy: WritePolicy | None = None) -> Awaitable[None]:
        """Adds numbers to bins. A missing bin or record counts as 0."""
    def append(
        self, key: Key, bins: Mapping[str, str | bytes], *, policy: WritePolicy | None = None
    ) -> Awaitable[None]:
        """Appends strings or bytes to bins."""
    def prepend(
        self, key: Key, bins: Mapping[str, str | bytes], *, policy: WritePolicy | None = None
    ) -> Awaitable[None]:
        """Prepends strings or bytes to bins."""
    def operate(
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
    ) -> Awaitable[Record]:
        """Executes several operations on one record, in order and atomically. Returns a `Record` with their results.

        In strong-consistency namespaces, `policy_sc` is used instead of `policy`. `record_exists_action`, `expiration`,
        `generation` (which the record must have) and `durable_delete` override the policy.
        """
    def delete(self, key: Key, *, policy: WritePolicy | None = None) -> Awaitable[bool]:
        """Deletes a record. Returns whether it existed."""
    def exists(self, key: Key, *, policy: ReadPolicy | None = None) -> Awaitable[bool]:
        """Whether a record exists."""
    def close(self) -> Coroutine[Any, Any, None]:
        """Closes all connections. Operations in flight fail with `ClientClosedError`. A second call does nothing.
        Awaitable.
        """
    def put(
        self,
        key: Key,
        bins: Mapping[str, Any],
        *,
        policy: WritePolicy | None = None,
        policy_sc: WritePolicy | None = None,
        txn: Txn | None = None,
    ) -> Awaitable[None]:
        """Writes bins, a dict of values by name; a value of `None` removes the bin. Other bins of the record do not
        change, unless `policy.record_exists_action` says otherwise.

        In strong-consistency namespaces, `policy_sc` is used instead of `policy`.
        """
    def query(
        self,
        statement: Statement,
        partition_filter: PartitionFilter | None = None,
        *,
        policy: QueryPolicy | None = None,
    ) -> Awaitable[Recordset]:
        """Starts a query. Returns a `Recordset`; iterate over it to get the records.

        `statement`: which records and bins. `partition_filter`: which partitions to read, and from which position
        (`None`: all partitions); the query advances it, so the next query with it continues there. An unknown namespace
        raises at once; errors of the servers are raised by the iteration.
        """
    def touch(self, key: Key, *, policy: WritePolicy | None = None) -> Awaitable[None]:
        """Resets the TTL of a record (to the policy's expiration) and increments its generation.

        Raises `RecordNotFoundError` if the record does not exist.
        """
    def execute_udf(
        self,
        key: Key,
        server_path: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        policy: WritePolicy | None = None,
    ) -> Awaitable[Any]:
        """Applies a function of a UDF module to one record and returns its result. `server_path`: the module's name
        without `.lua`. `args`: a list.

        Raises `UdfError` if the function fails, with the server's message: file, line and what was wrong.
        """
    def close_blocking(self) -> None:
        """Closes all connections. Operations in flight fail with `ClientClosedError`. A second call does nothing."""
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
        """Writes bins, a dict of values by name; a value of `None` removes the bin. Other bins of the record do not
        change, unless `policy.record_exists_action` says otherwise.

        In strong-consistency namespaces, `policy_sc` is used instead of `policy`.
        """
    def delete_blocking(self, key: Key, *, policy: WritePolicy | None = None) -> bool:
        """Deletes a record. Returns whether it existed."""
    def touch_blocking(self, key: Key, *, policy: WritePolicy | None = None) -> None:
        """Resets the TTL of a record (to the policy's expiration) and increments its generation.

        Raises `RecordNotFoundError` if the record does not exist.
        """
    def exists_blocking(self, key: Key, *, policy: ReadPolicy | None = None) -> bool:
        """Whether a record exists."""
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
    def seeds(self) -> str:
        """The addresses that the client was created with."""
    @staticmethod
    def client_version() -> str:
        """The version of Aerolane."""
    @staticmethod
    def core_version() -> str:
        """The version of aerospike-core, which carries out rare commands."""
    def is_connected(self) -> bool:
        """Whether the client is open and knows an active node."""
    def nodes(self) -> list[NativeNode]:
        """The active nodes."""
    def node_names(self) -> list[str]:
        """The names of the active nodes."""
    def get_node(self, name: str) -> NativeNode:
        """The active node of this name. Raises `InvalidNodeError` if there is none."""
    def stats(self) -> dict[str, Any]:
        """Returns counts of connections and requests as a dict: `nodes` (a list with a dict for each node), `total`,
        `loop_busy` and `topology_version`.

        Gauges: connections `open`, `idle`, `busy`, `opening`; requests `in_flight`, `queued`, `orphans` (in flight, but
        the caller has given up); and, for calls from asyncio, how the client adapts to the speed of a node:

        * `in_use`: the number of connections over which requests are spread. At most `open`.
        * `service_time_us`: how long the node works on one single-record request, during which the connection
          answers no other. A mean in microseconds; None until it has been measured.
        * `round_trip_us`: how long a single-record request takes if no other request is ahead of it on its
          connection. A mean in microseconds; None until it has been measured.

        The two times of `total` are means, weighted by `in_use`. The other counts only grow. Blocking calls are not
        included in `in_use` and the times. The counts of event loops are up to 0.1 s old.

        `loop_busy` tells how often the program kept an event loop busy for 0.1 s or more while requests were in flight
        (`count`), and for how many seconds (`total`, `longest`).
        """
    def writer(self, **settings: Unpack[_Settings]) -> Writer:
        """A writer for many records that reports the outcome of each one, for asyncio. Its settings are those of
        `Session.writer`; records without a policy of their own use the default policy.
        """
    def writer_blocking(self, **settings: Unpack[_Settings]) -> SyncWriter:
        """The same as `writer`, for code without asyncio."""
    def exists_legacy(
        self, key: Key, *, policy: ReadPolicy | None = None
    ) -> Awaitable[tuple[Key, dict[str, int] | None]]:
        """Whether a record exists, as older clients return it: an awaitable of `(key, {"gen": .., "ttl": ..})`, with
        `None` instead of the metadata if the record does not exist.
        """
    def query_explain(
        self,
        namespace: str,
        ael: str,
        *,
        set_name: str | None = None,
        index_name_hint: str | None = None,
        explain_where_flags: int | None = None,
        policy: QueryPolicy | None = None,
    ) -> Awaitable[QueryPlan]:
        """Asks the servers how they would find the records for which `ael`, an expression as text, is true. Returns a
        `QueryPlan`. Server 8.2 and later (`Version.supports_query_selection`).

        `set_name`: only records of this set; `None`: of all sets. `index_name_hint`: an index to prefer.
        `explain_where_flags`: bits of `QueryWhereFlags`; `None`: only `EXPLAIN`.

        Raises `AerospikeError` with the result code `UNSUPPORTED_FEATURE` if a node is older (nothing is sent then),
        `InvalidArgumentError` (a `ValueError`) for a blank condition, unknown flags, flags without `EXPLAIN`, and
        `HARD_HINT` without a hint, and the server's error for an invalid condition or an index that it cannot use.
        """
    def query_with_plan(
        self,
        statement: Statement,
        partition_filter: PartitionFilter | None,
        plan: QueryPlan,
        *,
        policy: QueryPolicy | None = None,
    ) -> Awaitable[Recordset]:
        """Starts a query with a plan from `query_explain`. Returns a `Recordset`, as `query` does. The plan determines
        the condition and the index; `statement` determines which bins are returned, or which operations are executed.

        Raises `InvalidArgumentError` (a `ValueError`) if the statement has a filter or a different namespace or set
        than the plan, or if the policy has a filter expression; `FilteredOutError` if the plan says that no record can
        match; and what `query` raises.
        """
    def query_operate(
        self, statement: Statement, operations: Sequence[BaseOperation], *, write_policy: WritePolicy | None = None
    ) -> Awaitable[ExecuteTask]:
        """Executes write operations on all records that a query finds, in the background on the servers. Returns an
        `ExecuteTask` to wait for.

        `write_policy.records_per_second` limits the rate. Raises the error of the first node that refuses the task;
        other nodes may still execute it (`in_doubt`).
        """
    def query_execute_udf(
        self,
        statement: Statement,
        package_name: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        write_policy: WritePolicy | None = None,
    ) -> Awaitable[ExecuteTask]:
        """Applies a function of a UDF module to all records that a query finds, in the background on the servers.
        Returns an `ExecuteTask` to wait for. `package_name`: the module's name without `.lua`.
        """
    def commit(
        self, txn: Txn, *, verify_policy: TxnVerifyPolicy | None = None, roll_policy: TxnRollPolicy | None = None
    ) -> Awaitable[CommitStatus]:
        """Commits a transaction: verifies that the records it read have not changed, and makes its writes visible.
        Returns a `CommitStatus`.

        Raises `CommitFailedError` if the transaction could not be committed, with the stage as `commit_error_type`.
        Once `txn.state` is `COMMIT_FAILED`, only another commit can find out what happened. Raises `TransactionError`
        if the transaction was aborted.
        """
    def abort(self, txn: Txn, *, roll_policy: TxnRollPolicy | None = None) -> Awaitable[AbortStatus]:
        """Aborts a transaction and reverts its writes. Returns an `AbortStatus`.

        Raises `TransactionError` if the transaction was committed, or if its commit failed in doubt.
        """
    def abort_blocking(self, txn: Txn, *, roll_policy: TxnRollPolicy | None = None) -> AbortStatus:
        """Aborts a transaction and reverts its writes. Returns an `AbortStatus`.

        Raises `TransactionError` if the transaction was committed, or if its commit failed in doubt.
        """
    def add_blocking(self, key: Key, bins: Mapping[str, int | float], *, policy: WritePolicy | None = None) -> None:
        """Adds numbers to bins. A missing bin or record counts as 0."""
    def append_blocking(self, key: Key, bins: Mapping[str, str | bytes], *, policy: WritePolicy | None = None) -> None:
        """Appends strings or bytes to bins."""
    def commit_blocking(
        self, txn: Txn, *, verify_policy: TxnVerifyPolicy | None = None, roll_policy: TxnRollPolicy | None = None
    ) -> CommitStatus:
        """Commits a transaction: verifies that the records it read have not changed, and makes its writes visible.
        Returns a `CommitStatus`.

        Raises `CommitFailedError` if the transaction could not be committed, with the stage as `commit_error_type`.
        Once `txn.state` is `COMMIT_FAILED`, only another commit can find out what happened. Raises `TransactionError`
        if the transaction was aborted.
        """
    def execute_udf_blocking(
        self,
        key: Key,
        server_path: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        policy: WritePolicy | None = None,
    ) -> Any:
        """Applies a function of a UDF module to one record and returns its result. `server_path`: the module's name
        without `.lua`. `args`: a list.

        Raises `UdfError` if the function fails, with the server's message: file, line and what was wrong.
        """
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
        """Reads a record: all its bins, only `bins` (a list of names), or none if it is an empty list.

        In strong-consistency namespaces, `policy_sc` is used instead of `policy`. Returns a `Record`; raises
        `RecordNotFoundError` if it does not exist.
        """
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
        """Executes several operations on one record, in order and atomically. Returns a `Record` with their results.

        In strong-consistency namespaces, `policy_sc` is used instead of `policy`. `record_exists_action`, `expiration`,
        `generation` (which the record must have) and `durable_delete` override the policy.
        """
    def prepend_blocking(self, key: Key, bins: Mapping[str, str | bytes], *, policy: WritePolicy | None = None) -> None:
        """Prepends strings or bytes to bins."""
    def query_blocking(
        self,
        statement: Statement,
        partition_filter: PartitionFilter | None = None,
        *,
        policy: QueryPolicy | None = None,
    ) -> Recordset:
        """Starts a query. Returns a `Recordset`; iterate over it to get the records.

        `statement`: which records and bins. `partition_filter`: which partitions to read, and from which position
        (`None`: all partitions); the query advances it, so the next query with it continues there. An unknown namespace
        raises at once; errors of the servers are raised by the iteration.
        """
    def query_execute_udf_blocking(
        self,
        statement: Statement,
        package_name: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        write_policy: WritePolicy | None = None,
    ) -> ExecuteTask:
        """Applies a function of a UDF module to all records that a query finds, in the background on the servers.
        Returns an `ExecuteTask` to wait for. `package_name`: the module's name without `.lua`.
        """
    def query_explain_blocking(
        self,
        namespace: str,
        ael: str,
        *,
        set_name: str | None = None,
        index_name_hint: str | None = None,
        explain_where_flags: int | None = None,
        policy: QueryPolicy | None = None,
    ) -> QueryPlan:
        """Asks the servers how they would find the records for which `ael`, an expression as text, is true. Returns a
        `QueryPlan`. Server 8.2 and later (`Version.supports_query_selection`).

        `set_name`: only records of this set; `None`: of all sets. `index_name_hint`: an index to prefer.
        `explain_where_flags`: bits of `QueryWhereFlags`; `None`: only `EXPLAIN`.

        Raises `AerospikeError` with the result code `UNSUPPORTED_FEATURE` if a node is older (nothing is sent then),
        `InvalidArgumentError` (a `ValueError`) for a blank condition, unknown flags, flags without `EXPLAIN`, and
        `HARD_HINT` without a hint, and the server's error for an invalid condition or an index that it cannot use.
        """
    def query_operate_blocking(
        self, statement: Statement, operations: Sequence[BaseOperation], *, write_policy: WritePolicy | None = None
    ) -> ExecuteTask:
        """Executes write operations on all records that a query finds, in the background on the servers. Returns an
        `ExecuteTask` to wait for.

        `write_policy.records_per_second` limits the rate. Raises the error of the first node that refuses the task;
        other nodes may still execute it (`in_doubt`).
        """
    def query_with_plan_blocking(
        self,
        statement: Statement,
        partition_filter: PartitionFilter | None,
        plan: QueryPlan,
        *,
        policy: QueryPolicy | None = None,
    ) -> Recordset:
        """Starts a query with a plan from `query_explain`. Returns a `Recordset`, as `query` does. The plan determines
        the condition and the index; `statement` determines which bins are returned, or which operations are executed.

        Raises `InvalidArgumentError` (a `ValueError`) if the statement has a filter or a different namespace or set
        than the plan, or if the policy has a filter expression; `FilteredOutError` if the plan says that no record can
        match; and what `query` raises.
        """
    def write_table(
        self,
        table: _Table,
        dataset: DataSet,
        *,
        key: str,
        bins: Iterable[str] | Mapping[str, str] | None = None,
        nulls: Literal["omit", "delete"] | None = None,
        ttl: int | timedelta | Expiration | None = None,
        policy: WritePolicy | None = None,
        record_exists_action: RecordExistsAction | None = None,
        durable_delete: bool | None = None,
        keep_failures: int | None = None,
        **settings: Unpack[_Settings],
    ) -> Awaitable[TableSummary]:
        """Writes a table with a writer of its own; the other arguments are the writer's settings. See `write_table`
        of writers. Awaitable of a `TableSummary`.
        """
    def write_table_blocking(
        self,
        table: _Table,
        dataset: DataSet,
        *,
        key: str,
        bins: Iterable[str] | Mapping[str, str] | None = None,
        nulls: Literal["omit", "delete"] | None = None,
        ttl: int | timedelta | Expiration | None = None,
        policy: WritePolicy | None = None,
        record_exists_action: RecordExistsAction | None = None,
        durable_delete: bool | None = None,
        keep_failures: int | None = None,
        **settings: Unpack[_Settings],
    ) -> TableSummary:
        """The same as `write_table`, on the calling thread. Returns a `TableSummary`."""
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Coroutine[Any, Any, None]: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...

def new_client(policy: ClientPolicy, seeds: str) -> Coroutine[Any, Any, NativeClient]:
    """Connects to the cluster that the seeds belong to. Returns a coroutine of a `Client`.

    `seeds` is one or several addresses, `"host:port,host:port"`; 3000 is the default port.

    Raises `ConnectionError` if no seed can be reached, with the reason for each; `ValueError` for invalid seeds or
    policies.
    """

def new_client_blocking(policy: ClientPolicy, seeds: str) -> NativeClient:
    """Connects to the cluster that the seeds belong to and returns a `Client`. The same as `new_client`, for code
    without async.
    """
